//! What mail needs of a database.

use super::letter::Letter;
use crate::domain::ids::{OrganizationId, UserId};
use crate::domain::lease::Ticket;
use crate::domain::mail::{Asked, LinkKey, MailKind, Subscription};
use crate::domain::member::Member;
use crate::transaction::{Locked, Session, StoreError, Viewer};
use std::future::Future;
use std::time::Duration;
use uuid::Uuid;

/// Opens sessions. One session is one Read Committed transaction.
pub trait MailStore: Clone + Send + Sync + 'static {
    /// See [`MailSession`].
    type Session: MailSession;

    /// Begins a transaction on a connection of its own.
    ///
    /// # Errors
    /// [`StoreError::Unavailable`] when no connection is to be had in time.
    fn open(&self) -> impl Future<Output = Result<Self::Session, StoreError>> + Send;
}

/// One open transaction on a person's wishes.
pub trait MailSession: Session {
    /// Takes the membership FOR SHARE.
    ///
    /// # Errors
    /// [`StoreError`], as everywhere below.
    fn lock_reader(&mut self, who: Viewer) -> impl Future<Output = Result<Option<Locked<Member>>, StoreError>> + Send;

    /// Takes a member's wishes FOR UPDATE, with the key of their links; makes the row where there is none.
    ///
    /// # Errors
    /// [`StoreError`].
    fn lock_subscription(
        &mut self,
        who: Viewer,
    ) -> impl Future<Output = Result<Locked<(Subscription, LinkKey)>, StoreError>> + Send;

    /// The confirmations of the last hour, by this person and to this address; nobody else asks that address until this
    /// transaction has ended.
    ///
    /// # Errors
    /// [`StoreError`].
    fn asked(&mut self, who: Viewer, address: &str) -> impl Future<Output = Result<(Asked, Asked), StoreError>> + Send;

    /// Writes locked wishes; with `moved`, under a new key.
    ///
    /// # Errors
    /// [`StoreError`].
    fn save_subscription(
        &mut self,
        who: Viewer,
        after: &Subscription,
        moved: bool,
    ) -> impl Future<Output = Result<(), StoreError>> + Send;

    /// Has the present address asked to confirm: notes it, and posts the mail.
    ///
    /// # Errors
    /// [`StoreError`].
    fn post_confirmation(&mut self, who: Viewer, address: &str) -> impl Future<Output = Result<(), StoreError>> + Send;
}

/// Reads without locks.
pub trait MailReads: Clone + Send + Sync + 'static {
    /// An active member's wishes. `None`: no active member.
    ///
    /// # Errors
    /// [`StoreError`].
    fn subscription(&self, who: Viewer) -> impl Future<Output = Result<Option<Subscription>, StoreError>> + Send;

    /// Anybody's wishes with the key of their links, for who has a link. `None`: no such row.
    ///
    /// # Errors
    /// [`StoreError`].
    fn behind_link(
        &self,
        who: Viewer,
    ) -> impl Future<Output = Result<Option<(Subscription, LinkKey, crate::domain::Instant)>, StoreError>> + Send;
}

/// How long a digest waits for more.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Gathering {
    /// Until nothing was submitted for so long.
    pub quiet: Duration,
    /// But no longer than this in all.
    pub longest: Duration,
}

/// A mail that is due.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Due {
    /// Whose.
    pub organization_id: OrganizationId,
    /// Which.
    pub id: Uuid,
}

/// What became of a mail that was begun.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Begun {
    /// It is to be sent, to this person, saying this.
    Letter(Box<Letter>),
    /// It is wanted no more: its receiver may not see it now, it has nothing left to say, or it is too old. It is gone.
    Dropped(MailKind),
    /// It is not due any more, or not there: somebody was faster.
    Elsewhere,
    /// The lease is another's: nothing was changed.
    Lost,
}

/// What became of an attempt.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Attempt {
    /// A mail server has taken it.
    Sent,
    /// A mail server will never take it to this address, which is told to its person.
    Refused,
    /// Again after this long.
    Later(Duration),
}

/// The post's own rows. Each write is a transaction that first holds the lease of the relay: `false` where it is another's
/// by now, and nothing was changed.
pub trait Mailroom: Send + Sync + 'static {
    /// Notes that mail is on. The first time, everything that has happened by now is passed over.
    ///
    /// # Errors
    /// [`StoreError`], as everywhere below.
    fn switch_on(&self, ticket: &Ticket) -> impl Future<Output = Result<bool, StoreError>> + Send;

    /// Notes that mail is off.
    ///
    /// # Errors
    /// [`StoreError`].
    fn switch_off(&self, ticket: &Ticket) -> impl Future<Output = Result<bool, StoreError>> + Send;

    /// Organizations with events that were not yet turned into mails.
    ///
    /// # Errors
    /// [`StoreError`].
    fn behind(&self, limit: i64) -> impl Future<Output = Result<Vec<OrganizationId>, StoreError>> + Send;

    /// Turns an organization's next events into mails. `None`: the lease is another's; else whether there may be more.
    ///
    /// # Errors
    /// [`StoreError`].
    fn sort(
        &self,
        ticket: &Ticket,
        organization: OrganizationId,
        gathering: Gathering,
    ) -> impl Future<Output = Result<Option<bool>, StoreError>> + Send;

    /// What is due: a few mails of each of many organizations, those first who have waited longest; and for how long
    /// the first has.
    ///
    /// # Errors
    /// [`StoreError`].
    fn due(&self) -> impl Future<Output = Result<(Vec<Due>, Duration), StoreError>> + Send;

    /// Begins an attempt, which counts as lost after `patience`: looks up who the receiver is and what he may read now.
    ///
    /// # Errors
    /// [`StoreError`].
    fn begin(
        &self,
        ticket: &Ticket,
        due: Due,
        patience: Duration,
    ) -> impl Future<Output = Result<Begun, StoreError>> + Send;

    /// Notes what became of an attempt.
    ///
    /// # Errors
    /// [`StoreError`]; then the mail may be sent once more.
    fn end(
        &self,
        ticket: &Ticket,
        due: Due,
        receiver: UserId,
        attempt: &Attempt,
    ) -> impl Future<Output = Result<bool, StoreError>> + Send;
}
