//! The only test double: the real store, with faults and pauses between its steps where a test asks for them.

use ringi::approvals::store::{ApprovalSession, ApprovalStore, Found};
use ringi::approvals::view::WaitingFor;
use ringi::domain::ids::{OrganizationId, RequestId, UserId};
use ringi::domain::member::Member;
use ringi::domain::request::{Change, Request};
use ringi::pg::{PgSession, PgStore};
use ringi::transaction::idempotency::{Kept, KeyClaim, KeyedCall};
use ringi::transaction::{Guarded, Locked, Session, StoreError};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use tokio::sync::Notify;

/// The steps of a write, each after the real one was done.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Step {
    Open,
    LockMember,
    ClaimKey,
    LockRequest,
    Write,
    Commit,
}

impl Step {
    pub const BEFORE_COMMIT: [Self; 5] = [Self::Open, Self::LockMember, Self::ClaimKey, Self::LockRequest, Self::Write];
}

/// What happens instead of going on.
#[derive(Clone)]
pub enum Fault {
    /// The step was done, and yet fails.
    Fail(fn() -> StoreError),
    /// A bug.
    Panic,
    /// Says that the step was reached, and never goes on.
    Hang(Arc<Notify>),
}

#[derive(Default)]
struct Plan {
    opens: AtomicUsize,
    faults: Mutex<Vec<(Step, usize, Fault)>>,
}

impl Plan {
    async fn after(&self, step: Step) -> Result<(), StoreError> {
        let fault = {
            let mut faults = self.faults.lock().unwrap();
            let due = faults.iter_mut().find(|(at, times, _)| *at == step && *times > 0);
            due.map(|(_, times, fault)| {
                *times -= 1;
                fault.clone()
            })
        };
        match fault {
            None => Ok(()),
            Some(Fault::Fail(error)) => Err(error()),
            Some(Fault::Panic) => panic!("a bug, made on purpose"),
            Some(Fault::Hang(reached)) => {
                reached.notify_one();
                std::future::pending().await
            }
        }
    }
}

/// The real store, around which things go wrong.
#[derive(Clone)]
pub struct FaultyStore {
    real: PgStore,
    plan: Arc<Plan>,
}

impl FaultyStore {
    pub fn new(real: PgStore) -> Self {
        Self { real, plan: Arc::default() }
    }

    /// Lets `step` go wrong so many times.
    pub fn fault(self, step: Step, times: usize, fault: Fault) -> Self {
        self.plan.faults.lock().unwrap().push((step, times, fault));
        self
    }

    /// How many transactions were begun.
    pub fn opens(&self) -> usize {
        self.plan.opens.load(Ordering::Relaxed)
    }
}

impl ApprovalStore for FaultyStore {
    type Session = FaultySession;

    async fn open(&self) -> Result<FaultySession, StoreError> {
        self.plan.opens.fetch_add(1, Ordering::Relaxed);
        let real = ApprovalStore::open(&self.real).await?;
        self.plan.after(Step::Open).await?;
        Ok(FaultySession { real, plan: Arc::clone(&self.plan) })
    }
}

pub struct FaultySession {
    real: PgSession,
    plan: Arc<Plan>,
}

impl Session for FaultySession {
    async fn claim_key(&mut self, call: &KeyedCall) -> Result<KeyClaim, StoreError> {
        let claimed = self.real.claim_key(call).await?;
        self.plan.after(Step::ClaimKey).await?;
        Ok(claimed)
    }

    async fn keep_answer(&mut self, kept: Kept<'_>) -> Result<(), StoreError> {
        self.real.keep_answer(kept).await
    }

    async fn commit(self) -> Result<(), StoreError> {
        self.real.commit().await?;
        self.plan.after(Step::Commit).await
    }

    async fn rollback(self) {
        self.real.rollback().await;
    }
}

impl ApprovalSession for FaultySession {
    async fn lock_member(
        &mut self,
        organization: OrganizationId,
        user: UserId,
    ) -> Result<Option<Locked<Member>>, StoreError> {
        let member = self.real.lock_member(organization, user).await?;
        self.plan.after(Step::LockMember).await?;
        Ok(member)
    }

    async fn lock_both(
        &mut self,
        organization: OrganizationId,
        user: UserId,
        id: RequestId,
    ) -> Result<Option<(Locked<Member>, Found)>, StoreError> {
        let both = self.real.lock_both(organization, user, id).await?;
        self.plan.after(Step::LockMember).await?;
        self.plan.after(Step::LockRequest).await?;
        Ok(both)
    }

    async fn lock_request(&mut self, by: &Locked<Member>, id: RequestId) -> Result<Option<Found>, StoreError> {
        let found = self.real.lock_request(by, id).await?;
        self.plan.after(Step::LockRequest).await?;
        Ok(found)
    }

    async fn has_acted(&mut self, by: &Locked<Member>, request: &Locked<Request>) -> Result<bool, StoreError> {
        self.real.has_acted(by, request).await
    }

    async fn waiting_for(&mut self, organization: OrganizationId, applicant: UserId) -> Result<WaitingFor, StoreError> {
        self.real.waiting_for(organization, applicant).await
    }

    async fn insert(&mut self, by: &Locked<Member>, change: &Change, kept: Option<Kept<'_>>) -> Result<(), StoreError> {
        self.real.insert(by, change, kept).await?;
        self.plan.after(Step::Write).await
    }

    async fn apply(
        &mut self,
        before: &Locked<Request>,
        change: &Change,
        kept: Option<Kept<'_>>,
    ) -> Result<Guarded, StoreError> {
        let guarded = self.real.apply(before, change, kept).await?;
        self.plan.after(Step::Write).await?;
        Ok(guarded)
    }
}
