//! Members: what somebody is in an organization, and the rules for changing that.

use super::Instant;
use super::ids::{OrganizationId, UserId, Version};
use super::request::Request;
use super::text::{self, Violation};
use validator::Validate;

/// A membership row. Rights come from here and nowhere else.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Member {
    /// Where.
    pub organization_id: OrganizationId,
    /// Who.
    pub user_id: UserId,
    /// The name that others see, and that history keeps as of its time.
    pub display_name: String,
    /// Deactivated members may do nothing and see nothing. Nobody is ever deleted.
    pub is_active: bool,
    /// May decide on other people's requests.
    pub can_approve: bool,
    /// May administer members and read everything that was submitted.
    pub is_admin: bool,
    /// Counts the changes of this row, from 1.
    pub version: Version,
    /// When the membership began.
    pub created_at: Instant,
}

impl Member {
    /// Sees every request that was ever submitted, without having acted on it.
    #[must_use]
    pub const fn sees_all_submitted(&self) -> bool {
        self.can_approve || self.is_admin
    }

    /// Who may see a request: the applicant always; once it was submitted, those who decide and those who
    /// administer, and whoever has acted on it.
    #[must_use]
    pub fn may_see(&self, request: &Request, has_acted: bool) -> bool {
        self.may_see_one_of(request.applicant_id, request.submitted_at.is_some(), has_acted)
    }

    /// The same of a request of which only this is known.
    #[must_use]
    pub fn may_see_one_of(&self, applicant: UserId, was_submitted: bool, has_acted: bool) -> bool {
        applicant == self.user_id || (was_submitted && (self.sees_all_submitted() || has_acted))
    }

    /// Separation of duties: nobody decides on what he wrote himself, whatever rights he gets later. Only the
    /// applicant edits, so the applicant is every editor of the judged content.
    #[must_use]
    pub fn wrote(&self, request: &Request) -> bool {
        request.applicant_id == self.user_id
    }
}

/// What an administrator sets of a member.
#[derive(Clone, Debug, PartialEq, Eq, Validate)]
pub struct MemberInput {
    /// One line, 1 to 200 characters.
    #[validate(length(min = 1, max = "text::LINE_MAX", message = "must have 1 to 200 characters"))]
    #[validate(custom(function = "text::line"))]
    pub display_name: String,
    /// See [`Member::is_active`].
    pub is_active: bool,
    /// See [`Member::can_approve`].
    pub can_approve: bool,
    /// See [`Member::is_admin`].
    pub is_admin: bool,
}

impl MemberInput {
    /// Checks every rule at once.
    ///
    /// # Errors
    /// All violations, in a stable order.
    pub fn check(&self) -> Result<(), Vec<Violation>> {
        self.validate().map_err(|errors| text::violations(&errors))
    }
}

/// Why a change of a member was refused.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum MemberRefusal {
    /// The actor is not an administrator.
    Forbidden,
    /// There is no such member.
    NotFound,
    /// The new member is one already.
    AlreadyAMember,
    /// The member was changed since the administrator looked; this is how it stands.
    Changed(Box<Member>),
    /// Nobody could administer the organization any more.
    LastAdmin,
    /// The invitation can't be accepted or revoked any more.
    InvitationNotOpen(super::invitation::InvitationState),
    /// The input breaks these rules.
    Invalid(Vec<Violation>),
}

/// Judges an administrator's wish to replace a member's name by a pseudonym and end the membership, on locked rows.
///
/// # Errors
/// The refusal, in the order of checks.
pub fn decide_pseudonym(
    actor: &Member,
    target_id: UserId,
    target: Option<&Member>,
    seen: Version,
    other_admins: i64,
) -> Result<Option<Member>, MemberRefusal> {
    // By the id, so that two who left can still be told apart.
    let id = target_id.0.simple().to_string();
    let display_name = format!("Former member {}", id.get(24..).unwrap_or_default());
    let input = MemberInput { display_name, is_active: false, can_approve: false, is_admin: false };
    decide_member_change(actor, target, seen, &input, other_admins)
}

/// Judges an administrator's wish to add somebody, on locked rows.
///
/// # Errors
/// The refusal, in the order of checks.
pub fn decide_new_member(
    actor: &Member,
    target: UserId,
    existing: Option<&Member>,
    input: &MemberInput,
    at: Instant,
) -> Result<Member, MemberRefusal> {
    if !actor.is_admin {
        return Err(MemberRefusal::Forbidden);
    }
    if existing.is_some() {
        return Err(MemberRefusal::AlreadyAMember);
    }
    input.check().map_err(MemberRefusal::Invalid)?;
    Ok(Member {
        organization_id: actor.organization_id,
        user_id: target,
        display_name: input.display_name.clone(),
        is_active: input.is_active,
        can_approve: input.can_approve,
        is_admin: input.is_admin,
        version: 1,
        created_at: at,
    })
}

/// Judges an administrator's wish to change a member, on locked rows. `other_admins` counts the active
/// administrators besides the target. `None`: the wish is how it stands already, which is no new version.
///
/// # Errors
/// The refusal, in the order of checks.
pub fn decide_member_change(
    actor: &Member,
    target: Option<&Member>,
    seen: Version,
    input: &MemberInput,
    other_admins: i64,
) -> Result<Option<Member>, MemberRefusal> {
    if !actor.is_admin {
        return Err(MemberRefusal::Forbidden);
    }
    let target = target.ok_or(MemberRefusal::NotFound)?;
    if target.version != seen {
        return Err(MemberRefusal::Changed(Box::new(target.clone())));
    }
    let stays_admin = input.is_admin && input.is_active;
    if target.is_admin && target.is_active && !stays_admin && other_admins == 0 {
        return Err(MemberRefusal::LastAdmin);
    }
    input.check().map_err(MemberRefusal::Invalid)?;
    let after = Member {
        display_name: input.display_name.clone(),
        is_active: input.is_active,
        can_approve: input.can_approve,
        is_admin: input.is_admin,
        ..target.clone()
    };
    if after == *target {
        return Ok(None);
    }
    Ok(Some(Member { version: target.version + 1, ..after }))
}
