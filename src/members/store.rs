//! What the use cases on members need of a database.

use crate::domain::Instant;
use crate::domain::event::Event;
pub use crate::domain::history::ChainHead;
use crate::domain::history::{Hash, SubjectEntry};
use crate::domain::ids::{OrganizationId, UserId};
use crate::domain::invitation::{Invitation, InvitationState};
use crate::domain::member::Member;
use crate::transaction::idempotency::Kept;
use crate::transaction::{Guarded, Locked, Session, StoreError, Viewer};
use std::future::Future;
use uuid::Uuid;

/// Opens sessions. One session is one Read Committed transaction.
pub trait MemberStore: Clone + Send + Sync + 'static {
    /// See [`MemberSession`].
    type Session: MemberSession;

    /// Begins a transaction on a connection of its own.
    ///
    /// # Errors
    /// [`StoreError::Unavailable`] when no connection is to be had in time.
    fn open(&self) -> impl Future<Output = Result<Self::Session, StoreError>> + Send;
}

/// The rows that a change of a member needs, locked.
#[derive(Debug)]
pub struct Administration {
    /// Who asks. `None`: no member.
    pub actor: Option<Locked<Member>>,
    /// Who is to be changed. `None`: not a member yet. May be the actor.
    pub target: Option<Locked<Member>>,
    /// Active administrators besides the target.
    pub other_admins: i64,
}

/// A change of a member with everything that goes with it.
#[derive(Clone, Debug)]
pub struct MemberChange {
    /// The member as he will stand.
    pub after: Member,
    /// The row of the organization's history.
    pub entry: SubjectEntry,
    /// The entry's hash in its chain.
    pub entry_hash: Hash,
    /// What others are told.
    pub event: Event,
}

/// One open transaction on members.
pub trait MemberSession: Session {
    /// Takes the organization (which serializes its member administration), then both members in ascending order,
    /// each in its strongest mode at once: the target to be changed, the actor shared.
    ///
    /// # Errors
    /// [`StoreError`], as everywhere below.
    fn lock_administration(
        &mut self,
        viewer: Viewer,
        target: UserId,
    ) -> impl Future<Output = Result<Administration, StoreError>> + Send;

    /// Takes the head of a subject's history chain (a member's or an invitation's id), making it if there is none. Comes after the key.
    ///
    /// # Errors
    /// [`StoreError`].
    fn lock_chain(
        &mut self,
        organization: OrganizationId,
        subject: &str,
    ) -> impl Future<Output = Result<ChainHead, StoreError>> + Send;

    /// Writes a row of a subject's history under its locked head.
    ///
    /// # Errors
    /// [`StoreError`].
    fn append_entry(
        &mut self,
        entry: &SubjectEntry,
        entry_hash: Hash,
        kept: Option<Kept<'_>>,
    ) -> impl Future<Output = Result<(), StoreError>> + Send;

    /// Takes the membership of who asks FOR SHARE, for what changes no member.
    ///
    /// # Errors
    /// [`StoreError`].
    fn share_actor(
        &mut self,
        viewer: Viewer,
    ) -> impl Future<Output = Result<Option<Locked<Member>>, StoreError>> + Send;

    /// Takes an invitation FOR UPDATE.
    ///
    /// # Errors
    /// [`StoreError`].
    fn lock_invitation(
        &mut self,
        organization: OrganizationId,
        id: Uuid,
    ) -> impl Future<Output = Result<Option<Locked<FoundInvitation>>, StoreError>> + Send;

    /// True when somebody is an active administrator. For a session that holds the organization.
    ///
    /// # Errors
    /// [`StoreError`].
    fn is_administrator(&mut self, who: Viewer) -> impl Future<Output = Result<bool, StoreError>> + Send;

    /// Writes a new invitation.
    ///
    /// # Errors
    /// [`StoreError`].
    fn insert_invitation(
        &mut self,
        invitation: &Invitation,
        secret_hash: Hash,
    ) -> impl Future<Output = Result<(), StoreError>> + Send;

    /// Closes a locked invitation, guarded by its being open.
    ///
    /// # Errors
    /// [`StoreError`].
    fn close_invitation(&mut self, invitation: &Invitation)
    -> impl Future<Output = Result<Guarded, StoreError>> + Send;

    /// Writes a new member with its history and event.
    ///
    /// # Errors
    /// [`StoreError`].
    fn insert_member(
        &mut self,
        change: &MemberChange,
        kept: Option<Kept<'_>>,
    ) -> impl Future<Output = Result<(), StoreError>> + Send;

    /// Writes a change of the locked member, guarded by its version, with its history and event.
    ///
    /// # Errors
    /// [`StoreError`].
    fn update_member(
        &mut self,
        before: &Locked<Member>,
        change: &MemberChange,
        kept: Option<Kept<'_>>,
    ) -> impl Future<Output = Result<Guarded, StoreError>> + Send;

    /// Forgets where a person wanted mail, and what was about to be sent there.
    ///
    /// # Errors
    /// [`StoreError`].
    fn forget_mail(
        &mut self,
        organization: OrganizationId,
        user: UserId,
    ) -> impl Future<Output = Result<(), StoreError>> + Send;
}

/// A locked invitation, with the hash of the secret that its token must have.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FoundInvitation {
    /// As its row says it.
    pub invitation: Invitation,
    /// SHA-256 of the secret.
    pub secret_hash: Hash,
}

/// An invitation in a list, with what became of it by the database's clock.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct InvitationRow {
    /// As its row says it.
    pub invitation: Invitation,
    /// What became of it.
    pub state: InvitationState,
}

/// A membership, as its holder sees it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Membership {
    /// Rights and name.
    pub member: Member,
    /// The organization's name.
    pub organization_name: String,
    /// The organization's IANA time zone.
    pub time_zone: String,
}

/// A place in the members' list: by entry, then by id, which never changes.
pub type MemberPlace = (Instant, Uuid);

/// Reads without locks.
pub trait MemberReads: Clone + Send + Sync + 'static {
    /// The viewer's own membership, active or not.
    ///
    /// # Errors
    /// [`StoreError`], as everywhere below.
    fn membership(&self, viewer: Viewer) -> impl Future<Output = Result<Option<Member>, StoreError>> + Send;

    /// Everything that a person is a member of.
    ///
    /// # Errors
    /// [`StoreError`].
    fn memberships(&self, user: UserId) -> impl Future<Output = Result<Vec<Membership>, StoreError>> + Send;

    /// One member, for an active administrator. `None`: not there, or not for this viewer.
    ///
    /// # Errors
    /// [`StoreError`].
    fn member(&self, viewer: Viewer, user: UserId) -> impl Future<Output = Result<Option<Member>, StoreError>> + Send;

    /// A page of members, for an active administrator: up to `limit` after the place. Empty for anybody else.
    ///
    /// # Errors
    /// [`StoreError`].
    fn members(
        &self,
        viewer: Viewer,
        after: Option<MemberPlace>,
        limit: i64,
    ) -> impl Future<Output = Result<Vec<Member>, StoreError>> + Send;

    /// One invitation or a page of them, newest first, for an active administrator. Empty for anybody else.
    ///
    /// # Errors
    /// [`StoreError`].
    fn invitations(
        &self,
        viewer: Viewer,
        id: Option<Uuid>,
        after: Option<MemberPlace>,
        limit: i64,
    ) -> impl Future<Output = Result<Vec<InvitationRow>, StoreError>> + Send;
}
