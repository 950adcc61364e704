//! The right to do slow work: one holder, a heartbeat, and a save that only the holder can make.
//!
//! A lease is a row ([`crate::domain::lease`]) that its holder keeps fresh, under a token that nobody else knows. Any
//! use case with slow work may use this module; it knows none of them.
//!
//! # How to use it
//!
//! 1. [`Leases::acquire`] a [`Target`]. [`Acquired::Busy`]: somebody is at it, do nothing and say so. Else **look again
//!    whether the work is still wanted**: who waited out the holder's save gets the lease the moment the work is done.
//! 2. Do the work, and drop it as soon as [`Lease::lost`] is cancelled.
//! 3. To save, [`Lease::pause`] the heartbeat, open a transaction with short limits, take the row with
//!    [`LeaseSession::hold_lease`] and write only if it is there; release in the same transaction. While a long run
//!    works in steps, each step holds the row with [`Hold::Shared`] in place of a save.
//! 4. Or give it back with [`Leases::release`]. A [`Lease`] that is dropped without that is taken over after the timeout.
//!
//! The lock order has the lease before the rows of the work: see the head of [`crate::pg`].
//!
//! # The heartbeat
//!
//! One for all leases of the process, on a thread, a runtime and a connection of its own: neither an exhausted pool nor a
//! blocked executor can stop it. One statement an interval.
//!
//! A confirmed answer without the row is a loss. An error is not: it is retried until the *local deadline*, the instant
//! before the sending of the last accepted heartbeat, plus the timeout, less a margin. Then the holder stops by itself,
//! before anybody else can start.

mod heart;
mod store;

pub use heart::{Lease, Paused};
pub use store::{Beat, Grant, Hold, LeaseSession, LeaseStore, Pulse};

use crate::domain::Instant as Moment;
use crate::domain::lease::{Standing, Target, Timing};
use crate::transaction::StoreError;
use heart::Heart;
use std::sync::Arc;
use std::time::Duration;
use tokio::time::Instant;
use tokio_util::sync::CancellationToken;

/// The leases of this process.
#[derive(Clone, Debug)]
pub struct Leases<S> {
    store: S,
    heart: Heart,
    holder: Arc<str>,
}

/// What came of asking for a lease.
#[derive(Debug)]
pub enum Acquired {
    /// It is this process's now.
    Held(Lease),
    /// Somebody has it, as he stands; `None` where he was faster in between.
    Busy(Option<Standing>),
}

impl<S: LeaseStore> Leases<S> {
    /// Starts the heartbeat. `holder` is what people read of who holds a lease.
    ///
    /// # Errors
    /// When the operating system gives no thread.
    pub fn start(store: S, pulse: impl Pulse, timing: Timing, holder: &str) -> std::io::Result<Self> {
        Ok(Self { store, heart: Heart::start(pulse, timing)?, holder: holder.into() })
    }

    /// The rhythm.
    #[must_use]
    pub fn timing(&self) -> Timing {
        self.heart.timing()
    }

    /// What people read of this process as a holder.
    #[must_use]
    pub fn holder(&self) -> &str {
        &self.holder
    }

    /// Asks for a lease. Looks first: a refused acquisition locks the row and writes WAL, looking costs a twentieth.
    ///
    /// # Errors
    /// [`StoreError`]. The lease may have been granted and its answer lost; then it is nobody's until the timeout.
    pub async fn acquire(&self, target: &Target) -> Result<Acquired, StoreError> {
        let timeout = self.timing().timeout;
        let (standing, now) = self.store.look(target).await?;
        if standing.as_ref().is_some_and(|standing| !standing.is_silent(timeout, now)) {
            return Ok(Acquired::Busy(standing));
        }
        let asked = Instant::now();
        Ok(match self.store.take(target, &self.holder, timeout).await? {
            Some(grant) => Acquired::Held(self.adopt(target.clone(), grant, asked)),
            None => Acquired::Busy(None),
        })
    }

    /// Begins to keep a lease that a statement of a use case's own has taken, as [`LeaseStore::take`] does; `asked` is
    /// the instant before that statement was sent.
    #[must_use]
    pub fn adopt(&self, target: Target, grant: Grant, asked: Instant) -> Lease {
        if grant.takeovers > 0 {
            metrics::counter!("ringi_lease_takeovers_total", "kind" => target.kind.as_str()).increment(1);
            tracing::warn!(lease = %target, fence = grant.fence, takeovers = grant.takeovers, "took over from a silent holder");
        }
        self.heart.keep(target, grant, asked)
    }

    /// Gives a lease back, by target and token: if another has taken it meanwhile, his stays. True: it was still ours.
    ///
    /// # Errors
    /// [`StoreError`]; then it is taken over after the timeout.
    pub async fn release(&self, lease: Lease) -> Result<bool, StoreError> {
        // Else a heartbeat under way would take the missing row for a loss.
        let _paused = lease.pause().await;
        self.store.release(lease.ticket()).await
    }

    /// How a lease stands, and the database's clock.
    ///
    /// # Errors
    /// [`StoreError`].
    pub async fn look(&self, target: &Target) -> Result<(Option<Standing>, Moment), StoreError> {
        self.store.look(target).await
    }

    /// Cancelled when the heartbeat has ended, asked for or broken: nothing is kept any more, so take nothing.
    #[must_use]
    pub fn stopped(&self) -> &CancellationToken {
        self.heart.stopped()
    }

    /// Stops the heartbeat, as the last thing before the connections are closed: while work is being finished its
    /// heartbeat must go on. What is still held then is lost. False: the thread did not end within `patience`.
    pub async fn stop(&self, patience: Duration) -> bool {
        self.heart.stop(patience).await
    }
}
