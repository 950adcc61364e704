//! What goes over the wire out about people: as [`super::dto`].

use crate::domain::invitation::{Invitation, InvitationState, InvitationToken};
use crate::domain::member::Member;
use crate::domain::rfc3339;
use crate::members::store::Membership;
use serde::Serialize;
use utoipa::ToSchema;
use uuid::Uuid;

/// A member of an organization.
#[derive(Debug, Serialize, ToSchema)]
#[schema(as = Member)]
pub(super) struct MemberDto {
    /// The `sub` of the person's tokens.
    pub(super) user_id: Uuid,
    /// One line, 1 to 200 Unicode scalar values.
    #[schema(min_length = 1, max_length = 200)]
    pub(super) display_name: String,
    /// A member who is not active may do nothing and sees nothing.
    pub(super) is_active: bool,
    /// May decide on other people's requests.
    pub(super) can_approve: bool,
    /// May administer members, and sees every request that was ever submitted.
    pub(super) is_admin: bool,
    /// Counts the changes of this member, from 1.
    #[schema(minimum = 1)]
    pub(super) version: i64,
}

impl From<&Member> for MemberDto {
    fn from(member: &Member) -> Self {
        Self {
            user_id: member.user_id.0,
            display_name: member.display_name.clone(),
            is_active: member.is_active,
            can_approve: member.can_approve,
            is_admin: member.is_admin,
            version: member.version,
        }
    }
}

/// An invitation to become a member.
#[derive(Debug, Serialize, ToSchema)]
#[schema(as = Invitation)]
pub(super) struct InvitationDto {
    pub(super) id: Uuid,
    /// The name that the new member will have.
    pub(super) display_name: String,
    pub(super) can_approve: bool,
    pub(super) is_admin: bool,
    #[schema(value_type = InvitationStateDto)]
    pub(super) state: &'static str,
    /// The administrator who invited.
    pub(super) invited_by: Uuid,
    #[schema(value_type = String, format = DateTime)]
    pub(super) created_at: String,
    #[schema(value_type = String, format = DateTime)]
    pub(super) expires_at: String,
    /// Who became a member by it.
    pub(super) accepted_by: Option<Uuid>,
    /// What the invited person sends to accept. Only in the first answer to the one who invites; null ever after.
    pub(super) token: Option<String>,
    /// The path of a page that says what to do with the token, which stands behind `#` and so in no log.
    pub(super) link: Option<String>,
}

/// What became of an invitation.
#[derive(Debug, Serialize, ToSchema)]
#[schema(as = InvitationState)]
#[serde(rename_all = "snake_case")]
#[expect(dead_code, reason = "the schema of a string, which `InvitationState::as_str` writes")]
pub(super) enum InvitationStateDto {
    Open,
    Expired,
    Accepted,
    Revoked,
    /// Who invited is no active administrator any more.
    Withdrawn,
}

impl InvitationDto {
    pub(super) fn new(invitation: &Invitation, state: InvitationState, token: Option<&InvitationToken>) -> Self {
        let token = token.map(InvitationToken::text);
        Self {
            id: invitation.id,
            display_name: invitation.display_name.clone(),
            can_approve: invitation.can_approve,
            is_admin: invitation.is_admin,
            state: state.as_str(),
            invited_by: invitation.invited_by.0,
            created_at: rfc3339(invitation.created_at),
            expires_at: rfc3339(invitation.expires_at),
            accepted_by: invitation.accepted_by.map(|id| id.0),
            link: token.as_ref().map(|token| format!("/invitation#{token}")),
            token,
        }
    }
}

/// The caller.
#[derive(Debug, Serialize, ToSchema)]
#[schema(as = Me)]
pub(super) struct MeDto {
    /// The token's `sub`.
    pub(super) user_id: Uuid,
    /// Every organization that the caller is or was a member of; empty for an unknown person.
    pub(super) memberships: Vec<MembershipDto>,
}

/// One of the caller's memberships.
#[derive(Debug, Serialize, ToSchema)]
#[schema(as = Membership)]
pub(super) struct MembershipDto {
    pub(super) organization_id: Uuid,
    pub(super) organization_name: String,
    /// An IANA name, such as `Asia/Tokyo`.
    pub(super) time_zone: String,
    /// The caller's name there.
    pub(super) display_name: String,
    /// False: every other call in this organization answers `not_a_member`.
    pub(super) is_active: bool,
    /// May decide on other people's requests.
    pub(super) can_approve: bool,
    /// May administer members, and sees every request that was ever submitted.
    pub(super) is_admin: bool,
}

impl From<&Membership> for MembershipDto {
    fn from(membership: &Membership) -> Self {
        let member = &membership.member;
        Self {
            organization_id: member.organization_id.0,
            organization_name: membership.organization_name.clone(),
            time_zone: membership.time_zone.clone(),
            display_name: member.display_name.clone(),
            is_active: member.is_active,
            can_approve: member.can_approve,
            is_admin: member.is_admin,
        }
    }
}
