//! Keeps the log from growing for ever.

use super::store::{Outbox, OutboxSession as _};
use super::{Consumer, Term};
use crate::domain::ids::OrganizationId;
use crate::lease::{Hold, LeaseSession as _};
use crate::transaction::{Session as _, StoreError};
use std::future::Future;
use std::pin::Pin;
use std::time::Duration;
use tokio::time::sleep;

/// How often it looks for logs that have grown too old.
const EVERY: Duration = Duration::from_mins(10);
/// How many events one transaction deletes at most.
const STEP: i64 = 1_000;
/// Between two steps, so that whoever works hardly notices.
const PAUSE: Duration = Duration::from_millis(50);
/// How many organizations are looked for at once.
const ORGANIZATIONS: i64 = 100;

/// Deletes old events, in small steps.
#[derive(Clone, Debug)]
pub struct Cleaner<S> {
    store: S,
    /// How old an event has to be.
    age: Duration,
}

impl<S: Outbox> Cleaner<S> {
    /// Deletes what is older than `age`.
    #[must_use]
    pub const fn new(store: S, age: Duration) -> Self {
        Self { store, age }
    }

    /// Looks through all organizations once. Ends early when the term does.
    ///
    /// # Errors
    /// [`StoreError`]; what was deleted stays deleted.
    pub async fn clean(&self, term: &Term) -> Result<(), StoreError> {
        let mut after = None;
        loop {
            let organizations = self.store.overgrown(self.age, after, ORGANIZATIONS).await?;
            let Some(last) = organizations.last() else { return Ok(()) };
            after = Some(*last);
            for organization in organizations {
                while !term.over.is_cancelled() && self.step(term, organization).await? {
                    sleep(PAUSE).await;
                }
            }
            if term.over.is_cancelled() {
                return Ok(());
            }
        }
    }

    /// False: there is nothing more to do in this organization, or the lease is another's.
    async fn step(&self, term: &Term, organization: OrganizationId) -> Result<bool, StoreError> {
        let mut session = self.store.open_step().await?;
        let work = async {
            let Some(held) = session.hold_lease(&term.ticket, Hold::Shared).await? else { return Ok(None) };
            session.trim(&held, organization, self.age, STEP).await.map(Some)
        };
        match work.await {
            Ok(Some(more)) => session.commit().await.map(|()| more),
            Ok(None) => {
                session.rollback().await;
                Ok(false)
            }
            Err(error) => {
                session.rollback().await;
                Err(error)
            }
        }
    }
}

impl<S: Outbox> Consumer for Cleaner<S> {
    fn run(&self, term: Term) -> Pin<Box<dyn Future<Output = ()> + Send + '_>> {
        Box::pin(async move {
            loop {
                if let Err(error) = self.clean(&term).await {
                    tracing::warn!(%error, "old events could not be deleted, which is tried again");
                }
                tokio::select! {
                    () = term.over.cancelled() => return,
                    () = sleep(EVERY) => {}
                }
            }
        })
    }
}
