//! What the relay needs of a database, and of the bells between processes.

use crate::domain::ids::OrganizationId;
use crate::domain::lease::Ticket;
use crate::lease::LeaseSession;
use crate::transaction::{Locked, StoreError};
use std::future::Future;
use std::sync::Arc;
use std::time::Duration;
use tokio::sync::Notify;

/// A place in the outbox, in the order of its key: everything up to here has been looked at.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Place {
    /// Whose event; the nil UUID at the beginning.
    pub organization_id: uuid::Uuid,
    /// Of which kind its subject is.
    pub subject_kind: String,
    /// Which one.
    pub subject_id: String,
    /// Its number.
    pub seq: i64,
}

/// What one step has numbered.
#[derive(Clone, Debug)]
pub struct Numbered {
    /// How many events.
    pub events: u64,
    /// For how long the oldest of them had been waiting.
    pub waited: Duration,
    /// The last of them in the order of the outbox; `None`: there were none.
    pub last: Option<Place>,
}

/// The outbox and the log.
pub trait Outbox: Clone + Send + Sync + 'static {
    /// A transaction with short limits: a process that freezes in one must not keep others from taking over.
    type Session: OutboxSession;

    /// Begins one.
    ///
    /// # Errors
    /// [`StoreError`], as everywhere below.
    fn open_step(&self) -> impl Future<Output = Result<Self::Session, StoreError>> + Send;

    /// For how long the oldest event of the outbox has been waiting; `None`: nothing waits. Of a large outbox only a part
    /// is looked at.
    ///
    /// # Errors
    /// [`StoreError`].
    fn waiting(&self) -> impl Future<Output = Result<Option<Duration>, StoreError>> + Send;

    /// Organizations whose log begins with events older than `age`, by id, after `after`.
    ///
    /// # Errors
    /// [`StoreError`].
    fn overgrown(
        &self,
        age: Duration,
        after: Option<OrganizationId>,
        limit: i64,
    ) -> impl Future<Output = Result<Vec<OrganizationId>, StoreError>> + Send;
}

/// One step of the relay.
pub trait OutboxSession: LeaseSession {
    /// Moves at most `limit` events that stand after `after` from the outbox to the log, each to the next position of its
    /// organization. In the order of the key: so of one subject the older ones are never left behind.
    ///
    /// # Errors
    /// [`StoreError`], as everywhere below.
    fn number(
        &mut self,
        held: &Locked<Ticket>,
        after: &Place,
        limit: i64,
    ) -> impl Future<Output = Result<Numbered, StoreError>> + Send;

    /// Deletes at most `limit` events from the beginning of an organization's log that are older than `age`, and keeps
    /// of a draft what its submission will make known. Says whether there is more to do.
    ///
    /// # Errors
    /// [`StoreError`].
    fn trim(
        &mut self,
        held: &Locked<Ticket>,
        organization: OrganizationId,
        age: Duration,
        limit: i64,
    ) -> impl Future<Output = Result<bool, StoreError>> + Send;
}

/// How the relay is woken, and wakes. What gets lost is found by whoever looks every so often anyway.
pub trait Bells: Clone + Send + Sync + 'static {
    /// Rung when something was written to the outbox.
    fn written(&self) -> Arc<Notify>;

    /// Rung when a relay has given its lease back.
    fn vacant(&self) -> Arc<Notify>;

    /// This process is the relay now, or is it no longer: then other processes need not be woken for what this one writes.
    fn relaying(&self, here: bool);

    /// Tells all processes that events have been numbered.
    fn tell_numbered(&self);

    /// Tells other processes that the lease is to be had.
    fn tell_vacant(&self);
}
