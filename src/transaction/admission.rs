//! The queue in front of the write connections: bounded, fair, and no hot row can hold the whole pool.
//!
//! Writers of one request wait for each other in the database anyway. If each of them held a connection meanwhile,
//! sixteen people on one request would stop everybody else. So at most a quarter of the slots go to one request and
//! half to one organization; the others wait here, in order, and are let in as the queue moves.

use crate::domain::ids::{OrganizationId, RequestId};
use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError, Weak};
use std::time::Duration;
use tokio::sync::{OwnedSemaphorePermit, Semaphore, TryAcquireError};

/// Lets writers in, in order.
#[derive(Clone, Debug)]
pub struct Admission(Arc<Inner>);

#[derive(Debug)]
struct Inner {
    slots: Arc<Semaphore>,
    /// Everybody inside or waiting holds one of these: the bound on the queue itself.
    queue: Arc<Semaphore>,
    /// At most half of the queue is one organization's.
    crowds: Shares<OrganizationId>,
    organizations: Shares<OrganizationId>,
    requests: Shares<(OrganizationId, RequestId)>,
    capacity: usize,
    patience: Duration,
}

/// The right to open a write session. Give it back by dropping it, after the session.
#[derive(Debug)]
pub struct Permit {
    _parts: [Option<OwnedSemaphorePermit>; 5],
}

/// The queue is full, or did not move in time. Nothing was begun.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("too many writes are waiting")]
pub struct Full;

impl Admission {
    /// `slots`: the number of write connections. `queue`: how many may wait besides. `patience`: how long at most
    /// for each part of the way.
    #[must_use]
    pub fn new(slots: usize, queue: usize, patience: Duration) -> Self {
        let capacity = slots.saturating_add(queue);
        Self(Arc::new(Inner {
            slots: Arc::new(Semaphore::new(slots)),
            queue: Arc::new(Semaphore::new(capacity)),
            capacity,
            crowds: Shares::new((capacity / 2).max(1)),
            organizations: Shares::new((slots / 2).max(1)),
            requests: Shares::new((slots / 4).max(1)),
            patience,
        }))
    }

    /// Waits for a slot, first behind the writers of the same request, then of the same organization, then of all.
    ///
    /// # Errors
    /// [`Full`] at once when too many wait already, or when the last part of the way, where only the database's
    /// speed decides, takes longer than the patience.
    pub async fn enter(&self, organization: OrganizationId, request: Option<RequestId>) -> Result<Permit, Full> {
        let inner = &self.0;
        let full = |_: TryAcquireError| Full;
        let crowd = inner.crowds.of(organization).try_acquire_owned().map_err(full)?;
        let queue = Arc::clone(&inner.queue).try_acquire_owned().map_err(full)?;
        let request = match request {
            Some(id) => Some(self.wait(inner.requests.of((organization, id))).await?),
            None => None,
        };
        let organization = self.wait(inner.organizations.of(organization)).await?;
        let slot = self.wait(Arc::clone(&inner.slots)).await?;
        // Dropped in this order: the slot first, so that the next one in line finds it free.
        Ok(Permit { _parts: [Some(slot), Some(organization), request, Some(queue), Some(crowd)] })
    }

    async fn wait(&self, share: Arc<Semaphore>) -> Result<OwnedSemaphorePermit, Full> {
        match tokio::time::timeout(self.0.patience, share.acquire_owned()).await {
            Ok(Ok(permit)) => Ok(permit),
            Ok(Err(_)) | Err(_) => Err(Full),
        }
    }

    /// How many are inside or waiting, for the metrics.
    #[must_use]
    pub fn present(&self) -> usize {
        self.0.capacity.saturating_sub(self.0.queue.available_permits())
    }
}

/// A semaphore for each key that somebody uses at the moment.
#[derive(Debug)]
struct Shares<K> {
    size: usize,
    in_use: Mutex<HashMap<K, Weak<Semaphore>>>,
}

impl<K: std::hash::Hash + Eq> Shares<K> {
    fn new(size: usize) -> Self {
        Self { size, in_use: Mutex::new(HashMap::new()) }
    }

    fn of(&self, key: K) -> Arc<Semaphore> {
        // A map of counters stays right whatever panicked while holding it.
        let mut in_use = self.in_use.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(share) = in_use.get(&key).and_then(Weak::upgrade) {
            return share;
        }
        // Swept when it has grown to twice what lives: each sweep is paid for by the inserts since the last one.
        if in_use.len() == in_use.capacity() {
            in_use.retain(|_, share| share.strong_count() > 0);
        }
        let share = Arc::new(Semaphore::new(self.size));
        in_use.insert(key, Arc::downgrade(&share));
        share
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use uuid::Uuid;

    fn organization(n: u128) -> OrganizationId {
        OrganizationId(Uuid::from_u128(n))
    }

    fn request(n: u128) -> RequestId {
        RequestId(Uuid::from_u128(n))
    }

    #[tokio::test]
    async fn one_request_gets_a_quarter_and_one_organization_half() {
        let admission = Admission::new(8, 100, Duration::from_millis(20));
        let _a = admission.enter(organization(1), Some(request(1))).await.expect("first of the request");
        let _b = admission.enter(organization(1), Some(request(1))).await.expect("second of the request");
        assert_eq!(admission.enter(organization(1), Some(request(1))).await.expect_err("a quarter is taken"), Full);
        let _c = admission.enter(organization(1), Some(request(2))).await.expect("another request");
        let _d = admission.enter(organization(1), None).await.expect("a new request");
        assert_eq!(admission.enter(organization(1), None).await.expect_err("half is taken"), Full);
        let _e = admission.enter(organization(2), None).await.expect("another organization");
    }

    #[tokio::test]
    async fn a_full_queue_answers_at_once() {
        let admission = Admission::new(1, 1, Duration::from_mins(1));
        let inside = admission.enter(organization(1), None).await.expect("inside");
        let waiting = tokio::spawn({
            let admission = admission.clone();
            async move { admission.enter(organization(2), None).await.map(drop) }
        });
        while admission.present() < 2 {
            tokio::task::yield_now().await;
        }
        assert_eq!(admission.enter(organization(3), None).await.expect_err("the queue is full"), Full);
        drop(inside);
        waiting.await.expect("joined").expect("let in when the slot came free");
    }

    #[tokio::test]
    async fn one_organization_gets_half_of_the_queue() {
        let admission = Admission::new(2, 2, Duration::from_mins(1));
        let _inside = admission.enter(organization(1), None).await.expect("inside");
        let waiting = tokio::spawn({
            let admission = admission.clone();
            async move { admission.enter(organization(1), None).await.map(drop) }
        });
        while admission.present() < 2 {
            tokio::task::yield_now().await;
        }
        assert_eq!(admission.enter(organization(1), None).await.expect_err("its half is full"), Full);
        drop(admission.enter(organization(2), None).await.expect("the other half is not its"));
        waiting.abort();
    }

    #[tokio::test]
    async fn shares_nobody_uses_are_forgotten() {
        let admission = Admission::new(8, 100, Duration::from_secs(1));
        for n in 0..10_000 {
            drop(admission.enter(organization(n), Some(request(n))).await.expect("free"));
        }
        let kept = admission.0.requests.in_use.lock().expect("not poisoned").len();
        assert!(kept < 100, "{kept} shares are still kept");
    }
}
