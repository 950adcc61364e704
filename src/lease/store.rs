//! What a lease needs of a database.

use crate::domain::Instant;
use crate::domain::lease::{Fence, Standing, Target, Ticket};
use crate::transaction::{Locked, Session, StoreError};
use std::future::Future;
use std::time::Duration;
use uuid::Uuid;

/// A lease that was just taken.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Grant {
    /// Proves that it is one's own.
    pub token: Uuid,
    /// The number of this holder.
    pub fence: Fence,
    /// How often in a row it was taken from a silent holder, this time included.
    pub takeovers: i32,
    /// Since when, by the database's clock.
    pub acquired_at: Instant,
}

/// Leases, each statement a transaction of its own.
pub trait LeaseStore: Clone + Send + Sync + 'static {
    /// How a lease stands, without a lock, and the database's clock.
    ///
    /// # Errors
    /// [`StoreError`], as everywhere below.
    fn look(&self, target: &Target) -> impl Future<Output = Result<(Option<Standing>, Instant), StoreError>> + Send;

    /// Takes a lease that is free or whose holder has been silent for longer than `timeout`, judged on the locked row.
    /// `None`: somebody has it.
    ///
    /// # Errors
    /// [`StoreError`].
    fn take(
        &self,
        target: &Target,
        holder: &str,
        timeout: Duration,
    ) -> impl Future<Output = Result<Option<Grant>, StoreError>> + Send;

    /// Deletes a lease, by target and token. True: it was there.
    ///
    /// # Errors
    /// [`StoreError`].
    fn release(&self, ticket: &Ticket) -> impl Future<Output = Result<bool, StoreError>> + Send;
}

/// How a lease's row is locked.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Hold {
    /// FOR UPDATE: for the save, which ends the work. Who wants to take the lease waits, and then finds the work done.
    Alone,
    /// FOR SHARE: for one step of work that goes on. Who wants to take the lease waits for the step.
    Shared,
}

/// A transaction that writes only what the holder of a lease may write.
pub trait LeaseSession: Session {
    /// Locks a lease by target and token. `None`: it is somebody else's, and nothing may be written.
    ///
    /// # Errors
    /// [`StoreError`], as everywhere below.
    fn hold_lease(
        &mut self,
        ticket: &Ticket,
        how: Hold,
    ) -> impl Future<Output = Result<Option<Locked<Ticket>>, StoreError>> + Send;

    /// Gives the lease back with this transaction. Needs [`Hold::Alone`].
    ///
    /// # Errors
    /// [`StoreError`].
    fn release_lease(&mut self, held: &Locked<Ticket>) -> impl Future<Output = Result<(), StoreError>> + Send;
}

/// What the database said to a heartbeat. Of tickets that stand in neither list it said nothing: their rows were
/// locked for too long.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Beat {
    /// The tokens of the leases that are fresh now.
    pub fresh: Vec<Uuid>,
    /// The tokens of the leases that are not there any more.
    pub gone: Vec<Uuid>,
}

/// The heartbeat's own way to the database.
pub trait Pulse: Send + 'static {
    /// Freshens these leases, by target and token, in key order, each stamped with the database's clock after its
    /// row was locked. Must not take longer than an interval.
    ///
    /// # Errors
    /// [`StoreError`]: nothing is known of any of them. The next call connects anew.
    fn beat(&mut self, tickets: &[Ticket]) -> impl Future<Output = Result<Beat, StoreError>> + Send;
}
