//! Invitations: how somebody becomes a member without an administrator knowing his user id.

use super::Instant;
use super::history::Hash;
use super::ids::{OrganizationId, UserId};
use super::member::{Member, MemberRefusal};
use super::text;
use sha2::{Digest, Sha256};
use uuid::Uuid;
use validator::Validate;

/// The longest that an invitation can be open, in hours: 30 days.
pub const VALID_HOURS_MAX: i64 = 720;
/// How long it is open when nobody says, in hours: 7 days.
pub const VALID_HOURS: i64 = 168;

/// What an administrator offers.
#[derive(Clone, Debug, PartialEq, Eq, Validate)]
pub struct InvitationInput {
    /// The name that the new member will have. One line, 1 to 200 characters.
    #[validate(length(min = 1, max = "text::LINE_MAX", message = "must have 1 to 200 characters"))]
    #[validate(custom(function = "text::line"))]
    pub display_name: String,
    /// The right to decide.
    pub can_approve: bool,
    /// The right to administer.
    pub is_admin: bool,
    /// For how many hours the invitation is open.
    #[validate(range(min = 1, max = "VALID_HOURS_MAX", message = "must be from 1 to 720 hours"))]
    pub valid_hours: i64,
}

/// What became of an invitation.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum InvitationState {
    /// It can be accepted.
    Open,
    /// Its time is over.
    Expired,
    /// Somebody accepted it.
    Accepted,
    /// An administrator took it back.
    Revoked,
    /// Who invited is no active administrator any more.
    Withdrawn,
}

impl InvitationState {
    /// The name in the API.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Open => "open",
            Self::Expired => "expired",
            Self::Accepted => "accepted",
            Self::Revoked => "revoked",
            Self::Withdrawn => "withdrawn",
        }
    }
}

/// An invitation. Never deleted: it says how somebody became a member.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Invitation {
    /// Where to.
    pub organization_id: OrganizationId,
    /// Which.
    pub id: Uuid,
    /// See [`InvitationInput`].
    pub display_name: String,
    /// See [`InvitationInput`].
    pub can_approve: bool,
    /// See [`InvitationInput`].
    pub is_admin: bool,
    /// Who offers.
    pub invited_by: UserId,
    /// Since when.
    pub created_at: Instant,
    /// Until when, not included.
    pub expires_at: Instant,
    /// Who accepted it.
    pub accepted_by: Option<UserId>,
    /// When it was revoked.
    pub revoked_at: Option<Instant>,
}

impl Invitation {
    /// What became of it by `now`; `inviter_stands` while who invited is an active administrator.
    #[must_use]
    pub fn state(&self, inviter_stands: bool, now: Instant) -> InvitationState {
        if self.accepted_by.is_some() {
            InvitationState::Accepted
        } else if self.revoked_at.is_some() {
            InvitationState::Revoked
        } else if now >= self.expires_at {
            InvitationState::Expired
        } else if !inviter_stands {
            InvitationState::Withdrawn
        } else {
            InvitationState::Open
        }
    }

    fn check_open(&self, now: Instant) -> Result<(), MemberRefusal> {
        match self.state(true, now) {
            InvitationState::Open => Ok(()),
            closed => Err(MemberRefusal::InvitationNotOpen(closed)),
        }
    }
}

/// What the invited person is given, once: it names the invitation and proves that one was given it. Only its hash is
/// stored.
#[derive(Clone, PartialEq, Eq)]
pub struct InvitationToken {
    /// Where to.
    pub organization_id: OrganizationId,
    /// Which invitation.
    pub id: Uuid,
    secret: [u8; 32],
}

impl InvitationToken {
    /// A new secret for an invitation.
    #[must_use]
    #[expect(clippy::disallowed_methods, reason = "the one home of invitations' ids and secrets")]
    pub fn new(organization_id: OrganizationId) -> Self {
        // Two random UUIDs are 244 bits from the system's generator.
        let mut secret = [0; 32];
        let random = Uuid::new_v4().into_bytes().into_iter().chain(Uuid::new_v4().into_bytes());
        for (to, from) in secret.iter_mut().zip(random) {
            *to = from;
        }
        Self { organization_id, id: Uuid::now_v7(), secret }
    }

    /// Reads what [`InvitationToken::text`] wrote.
    #[must_use]
    pub fn parse(text: &str) -> Option<Self> {
        let bytes: [u8; 64] = hex::decode(text).ok()?.try_into().ok()?;
        let (organization, rest) = bytes.split_first_chunk::<16>()?;
        let (id, secret) = rest.split_first_chunk::<16>()?;
        Some(Self {
            organization_id: OrganizationId(Uuid::from_bytes(*organization)),
            id: Uuid::from_bytes(*id),
            secret: secret.try_into().ok()?,
        })
    }

    /// What the invited person is given: 128 hexadecimal digits.
    #[must_use]
    pub fn text(&self) -> String {
        let (organization, id) = (self.organization_id.0.as_bytes(), self.id.as_bytes());
        [hex::encode(organization), hex::encode(id), hex::encode(self.secret)].concat()
    }

    /// What is stored. A fast hash does: the secret can't be guessed.
    #[must_use]
    pub fn hash(&self) -> Hash {
        Hash(Sha256::digest(self.secret).into())
    }
}

impl std::fmt::Debug for InvitationToken {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("InvitationToken").field("id", &self.id).finish_non_exhaustive()
    }
}

/// Judges an administrator's wish to invite somebody.
///
/// # Errors
/// The refusal, in the order of checks.
pub fn decide_invitation(
    actor: &Member,
    id: Uuid,
    input: &InvitationInput,
    now: Instant,
) -> Result<Invitation, MemberRefusal> {
    if !actor.is_admin {
        return Err(MemberRefusal::Forbidden);
    }
    input.validate().map_err(|errors| MemberRefusal::Invalid(text::violations(&errors)))?;
    let expires_at = now + chrono::TimeDelta::hours(input.valid_hours);
    Ok(Invitation {
        organization_id: actor.organization_id,
        id,
        display_name: input.display_name.clone(),
        can_approve: input.can_approve,
        is_admin: input.is_admin,
        invited_by: actor.user_id,
        created_at: now,
        expires_at,
        accepted_by: None,
        revoked_at: None,
    })
}

/// Judges an administrator's wish to take an invitation back, on its locked row.
///
/// # Errors
/// The refusal, in the order of checks.
pub fn decide_revocation(
    actor: &Member,
    invitation: Option<&Invitation>,
    now: Instant,
) -> Result<Invitation, MemberRefusal> {
    if !actor.is_admin {
        return Err(MemberRefusal::Forbidden);
    }
    let invitation = invitation.ok_or(MemberRefusal::NotFound)?;
    invitation.check_open(now)?;
    Ok(Invitation { revoked_at: Some(now), ..invitation.clone() })
}

/// Judges somebody's wish to accept an invitation, on its locked row. `existing` is his membership, if he has one. What
/// an administrator offered ends with his own right to offer it (`inviter_stands`): else he would keep a back door.
///
/// # Errors
/// The refusal, in the order of checks.
pub fn decide_acceptance(
    user: UserId,
    existing: Option<&Member>,
    invitation: &Invitation,
    inviter_stands: bool,
    now: Instant,
) -> Result<(Invitation, Member), MemberRefusal> {
    if existing.is_some() {
        return Err(MemberRefusal::AlreadyAMember);
    }
    invitation.check_open(now)?;
    if !inviter_stands {
        return Err(MemberRefusal::InvitationNotOpen(InvitationState::Withdrawn));
    }
    let member = Member {
        organization_id: invitation.organization_id,
        user_id: user,
        display_name: invitation.display_name.clone(),
        is_active: true,
        can_approve: invitation.can_approve,
        is_admin: invitation.is_admin,
        version: 1,
        created_at: now,
    };
    Ok((Invitation { accepted_by: Some(user), ..invitation.clone() }, member))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_token_survives_its_text_and_shows_nothing_of_its_secret() {
        let token = InvitationToken::new(OrganizationId(Uuid::from_u128(7)));
        let text = token.text();
        assert_eq!(text.len(), 128);
        assert_eq!(InvitationToken::parse(&text), Some(token.clone()));
        assert!(!format!("{token:?}").contains(&text[64..]));
        assert_ne!(InvitationToken::new(token.organization_id).hash(), token.hash());
        for garbage in ["", "x", &text[1..], &format!("{text}00"), &"zz".repeat(64)] {
            assert_eq!(InvitationToken::parse(garbage), None, "{garbage}");
        }
    }
}
