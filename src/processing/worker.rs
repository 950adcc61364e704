//! The worker: finds jobs that are due or whose holder has gone silent, does several at once, each under a lease, and
//! saves what came of it only if the lease is still its own.

use super::gateway::Gateway;
use super::store::{Claimed, Due, Finished, JobEntry, JobQueue, LockedWork, SaveSession, Work};
use crate::domain::ids::{OrganizationId, RequestId};
use crate::domain::job::{self, Outcome, Patience};
use crate::domain::lease::MAX_TAKEOVERS;
use crate::lease::{Lease, LeaseStore, Leases};
use crate::transaction::{Session as _, StoreError};
use futures_util::stream::{FuturesUnordered, StreamExt as _};
use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;
use tokio::sync::{Notify, OwnedSemaphorePermit, Semaphore};
use tokio::time::{Instant, sleep, timeout};
use tokio_util::sync::CancellationToken;
use tokio_util::task::TaskTracker;
use tracing::Instrument;

/// How soon it is looked again where others were faster, something failed, or something is due by now.
const AGAIN: Duration = Duration::from_millis(20);

/// How a worker works.
#[derive(Clone, Copy, Debug)]
pub struct WorkerSettings {
    /// How many jobs at once.
    pub concurrency: u32,
    /// How often due and abandoned jobs are looked for when nobody rings.
    pub sweep_interval: Duration,
    /// The longest that one attempt may take, whatever its heartbeat says.
    pub deadline: Duration,
    /// How often and how patiently a job is tried.
    pub patience: Patience,
}

/// A running worker.
#[derive(Debug)]
pub struct Worker {
    /// No job is taken any more.
    closing: CancellationToken,
    /// What is under way is dropped, and given back.
    stopping: CancellationToken,
    jobs: TaskTracker,
}

struct Shared<Q, L> {
    queue: Q,
    leases: Leases<L>,
    gateway: Gateway,
    settings: WorkerSettings,
    stopping: CancellationToken,
    /// Rung when there may be something to do.
    bell: Arc<Notify>,
}

impl Worker {
    /// Begins to work, on the runtime that this is called on. `bell` is rung by whoever knows of a new job.
    #[must_use]
    pub fn start<Q: JobQueue, L: LeaseStore>(
        queue: Q,
        leases: Leases<L>,
        gateway: Gateway,
        settings: WorkerSettings,
        bell: Arc<Notify>,
    ) -> Self {
        let worker =
            Self { closing: CancellationToken::new(), stopping: CancellationToken::new(), jobs: TaskTracker::new() };
        let shared = Arc::new(Shared { queue, leases, gateway, settings, stopping: worker.stopping.clone(), bell });
        let (closing, jobs) = (worker.closing.clone(), worker.jobs.clone());
        worker.jobs.spawn(sweep(shared, closing, jobs));
        worker
    }

    /// Takes no job any more. What is under way goes on.
    pub fn close(&self) {
        self.closing.cancel();
        self.jobs.close();
    }

    /// Waits until nothing is under way, at most until `deadline`; then drops what still is and gives it back, for
    /// which it may take `patience` more. False: something was not given back and is taken over after the timeout.
    pub async fn finish(&self, deadline: Instant, patience: Duration) -> bool {
        self.close();
        if tokio::time::timeout_at(deadline, self.jobs.wait()).await.is_ok() {
            return true;
        }
        self.stopping.cancel();
        timeout(patience, self.jobs.wait()).await.is_ok()
    }
}

/// Takes jobs as long as there are free slots, then sleeps until one is free, the bell rings, or something is due.
async fn sweep<Q: JobQueue, L: LeaseStore>(work: Arc<Shared<Q, L>>, closing: CancellationToken, jobs: TaskTracker) {
    let slots = usize::try_from(work.settings.concurrency).unwrap_or(usize::MAX).min(Semaphore::MAX_PERMITS);
    let (slots, freed) = (Arc::new(Semaphore::new(slots)), Arc::new(Notify::new()));
    let mut counted: Option<Instant> = None;
    let stopped = work.leases.stopped();
    while !closing.is_cancelled() {
        if stopped.is_cancelled() {
            // Without it every lease is lost at once, and its job rests until the timeout.
            tracing::error!("the heartbeat has ended: no job is taken any more; start the process anew");
            return;
        }
        if counted.is_none_or(|at| at.elapsed() >= work.settings.sweep_interval) {
            counted = Some(Instant::now());
            work.count().await;
            work.drop_stray().await;
        }
        let pause = match work.take(&slots, &jobs, &freed, &closing).await {
            Ok(pause) => pause,
            Err(error) => {
                tracing::warn!(%error, "looking for jobs failed and is repeated");
                Some(work.settings.sweep_interval)
            }
        };
        tokio::select! {
            () = closing.cancelled() => {}
            () = stopped.cancelled() => {}
            () = freed.notified(), if slots.available_permits() == 0 || pause.is_none() => {}
            () = work.bell.notified(), if slots.available_permits() > 0 => {}
            () = sleep(pause.unwrap_or(work.settings.sweep_interval)) => {}
        }
    }
}

/// A place for one job; says so when it is free again.
struct Slot {
    permit: Option<OwnedSemaphorePermit>,
    freed: Arc<Notify>,
}

impl Drop for Slot {
    fn drop(&mut self) {
        // First the place, then the word.
        drop(self.permit.take());
        self.freed.notify_one();
    }
}

impl<Q: JobQueue, L: LeaseStore> Shared<Q, L> {
    /// Fills the free slots. How long to sleep then; `None`: there is more to do than there are slots.
    async fn take(
        self: &Arc<Self>,
        slots: &Arc<Semaphore>,
        jobs: &TaskTracker,
        freed: &Arc<Notify>,
        closing: &CancellationToken,
    ) -> Result<Option<Duration>, StoreError> {
        let silence = self.leases.timing().timeout;
        let free = slots.available_permits();
        if free == 0 {
            return Ok(None);
        }
        // More than are needed, and some of them: processes that look at the same time shall not all want the same.
        let wanted = i64::try_from(free).unwrap_or(i64::MAX);
        let mut due = self.queue.due(silence, wanted.saturating_mul(8)).await?;
        if due.is_empty() {
            let next = self.queue.next_due(silence).await?.unwrap_or(self.settings.sweep_interval);
            return Ok(Some(next.max(AGAIN).min(self.settings.sweep_interval)));
        }
        let all = due.len();
        fastrand::shuffle(&mut due);
        due.truncate(free);
        let mut of_organizations: BTreeMap<OrganizationId, Vec<RequestId>> = BTreeMap::new();
        for job in due {
            of_organizations.entry(job.organization_id).or_default().push(job.request_id);
        }
        if closing.is_cancelled() {
            return Ok(None);
        }
        // A claim is one organization's; those of several are made at once, so that they share their commits.
        let claims = of_organizations.iter().map(|(organization, requests)| async move {
            let asked = Instant::now();
            let claimed = self.queue.claim(*organization, requests, self.leases.holder(), silence).await;
            (organization, asked, claimed)
        });
        let (mut claims, mut taken, mut failed) = (claims.collect::<FuturesUnordered<_>>(), 0, false);
        // Each one's jobs begin when its claim has ended: none waits for another organization's.
        while let Some((organization, asked, claims)) = claims.next().await {
            let claims = claims.unwrap_or_else(|error| {
                tracing::warn!(%error, %organization, "taking jobs failed and is repeated");
                failed = true;
                Vec::new()
            });
            for claimed in claims {
                // At once: no more were asked for than there are slots.
                let Ok(permit) = Arc::clone(slots).acquire_owned().await else { break };
                let slot = Slot { permit: Some(permit), freed: Arc::clone(freed) };
                let worker = Arc::clone(self);
                let (organization, request) = (claimed.target.organization_id, &claimed.target.id);
                let span = tracing::info_span!("job", %organization, %request);
                taken += 1;
                jobs.spawn(async move { worker.run(claimed, asked, slot).await }.instrument(span));
            }
        }
        if failed && taken == 0 {
            return Ok(Some(self.settings.sweep_interval));
        }
        // Somebody else was faster with all of them: let him go on a little.
        if failed || taken == 0 {
            return Ok(Some(AGAIN));
        }
        Ok(if all > taken { None } else { Some(Duration::ZERO) })
    }

    async fn run(&self, claimed: Claimed, asked: Instant, slot: Slot) {
        let due = claimed.target.clone();
        let lease = self.leases.adopt(claimed.target, claimed.grant, asked);
        let Some(work) = claimed.work else {
            // Who waited out the holder's save gets the lease the moment the work is done.
            if let Err(error) = self.leases.release(lease).await {
                tracing::warn!(%error, lease = %due, "a lease without work could not be given back");
            }
            return;
        };
        if let Some(outcome) = self.attempt(&lease, &work).await {
            self.save(&lease, &work, outcome).await;
        } else {
            tracing::warn!(fence = lease.fence(), attempt = work.attempt, "the lease was lost: the work is dropped");
            metrics::counter!("ringi_jobs_attempts_total", "outcome" => "lost").increment(1);
            drop(slot);
            // Where it was given up and is nobody else's: spares them the wait. Else it does nothing.
            if let Err(error) = self.leases.release(lease).await {
                tracing::debug!(%error, lease = %due, "a lost lease could not be given back");
            }
        }
    }

    /// Asks the outside system. `None`: the lease was lost meanwhile.
    async fn attempt(&self, lease: &Lease, work: &Work) -> Option<Outcome> {
        if lease.takeovers() >= MAX_TAKEOVERS {
            let takeovers = lease.takeovers();
            return Some(Outcome::Refused(format!(
                "parked: {takeovers} processes in a row died or froze while they were at it; see what it does to them, then start it again"
            )));
        }
        tracing::info!(fence = lease.fence(), attempt = work.attempt, "asking the outside system");
        let begun = Instant::now();
        let asking = timeout(self.settings.deadline, self.gateway.ask(&work.order, lease.fence()));
        let outcome = tokio::select! {
            biased;
            () = lease.lost().cancelled() => return None,
            () = self.stopping.cancelled() => Outcome::Stopped,
            outcome = asking => outcome.unwrap_or_else(|_| {
                let limit = self.settings.deadline.as_millis();
                Outcome::Failed(format!("the attempt took longer than processing.job_deadline_ms ({limit})"), None)
            }),
        };
        let name = match &outcome {
            Outcome::Succeeded(_) => "succeeded",
            Outcome::Failed(..) => "failed",
            Outcome::Refused(_) => "refused",
            Outcome::Stopped => "stopped",
        };
        metrics::counter!("ringi_jobs_attempts_total", "outcome" => name).increment(1);
        metrics::histogram!("ringi_job_call_seconds").record(begun.elapsed().as_secs_f64());
        Some(outcome)
    }

    /// Saves what came of an attempt, as often as it takes while the lease is ours. The work is not done again.
    async fn save(&self, lease: &Lease, work: &Work, mut outcome: Outcome) {
        let mut unfit = false;
        let due = Due { organization_id: work.order.organization_id, request_id: work.order.request_id };
        loop {
            let Some(paused) = lease.pause().await else {
                tracing::warn!(fence = lease.fence(), "the lease was lost: what came of the attempt is thrown away");
                return;
            };
            match self.save_once(lease, work, due, &outcome).await {
                Ok(()) => return,
                Err(StoreError::OutcomeUnknown(why)) => {
                    tracing::warn!(why, "the answer to a save was lost: looking whether it was saved");
                    if self.queue.is_saved(due, lease.fence()).await.unwrap_or(false) {
                        return;
                    }
                }
                Err(StoreError::Internal(cause)) if unfit => {
                    tracing::error!(%cause, "nothing can be saved: the work is left to whoever takes over");
                    return;
                }
                // It would be the same again: that it can't be saved is what came of it.
                Err(StoreError::Internal(cause)) => {
                    tracing::error!(%cause, "a result can't be saved");
                    unfit = true;
                    outcome = Outcome::Refused("the result could not be saved; the log says why".to_owned());
                }
                Err(error) => tracing::warn!(%error, "a save failed and is repeated"),
            }
            drop(paused);
            sleep(Duration::from_millis(fastrand::u64(100..500))).await;
        }
    }

    async fn save_once(&self, lease: &Lease, work: &Work, due: Due, outcome: &Outcome) -> Result<(), StoreError> {
        let mut session = self.queue.open_save().await?;
        match self.save_in(&mut session, lease, work, due, outcome).await {
            Ok(true) => session.commit().await,
            Ok(false) => {
                session.rollback().await;
                Ok(())
            }
            Err(error) => {
                session.rollback().await;
                Err(error)
            }
        }
    }

    /// False: the lease is another's, and nothing was written.
    async fn save_in(
        &self,
        session: &mut Q::Session,
        lease: &Lease,
        work: &Work,
        due: Due,
        outcome: &Outcome,
    ) -> Result<bool, StoreError> {
        let Some(LockedWork { job, head, at }) = session.lock_work(lease.ticket(), due).await? else {
            return Ok(false);
        };
        let verdict = job::judge(&job, outcome, &self.settings.patience, at, fastrand::f64());
        let entry = verdict.action.map(|action| {
            let entry = job::entry(due.organization_id, due.request_id, None, action, &verdict.job, head);
            JobEntry::new(entry, head, verdict.job.state)
        });
        let result = match outcome {
            Outcome::Succeeded(data) => Some(&**data),
            _ => None,
        };
        let finished = Finished {
            ticket: lease.ticket(),
            fence: lease.fence(),
            due,
            attempt: work.attempt,
            verdict: &verdict,
            result,
            entry: entry.as_ref(),
            at,
        };
        session.finish(&finished).await?;
        if let Some(error) = &verdict.error {
            tracing::warn!(attempt = work.attempt, error, next_try_at = ?verdict.next_try_at, "an attempt failed");
        }
        Ok(true)
    }

    async fn drop_stray(&self) {
        match self.queue.drop_stray(self.leases.timing().timeout).await {
            Ok(0) => {}
            Ok(leases) => tracing::info!(leases, "leases of silent holders on jobs that do not wait were dropped"),
            Err(error) => tracing::debug!(%error, "stray leases could not be dropped"),
        }
    }

    /// Shows how much there is to do.
    async fn count(&self) {
        match self.queue.backlog(self.leases.timing().timeout).await {
            Ok(backlog) => {
                for (state, number, oldest) in backlog.states {
                    metrics::gauge!("ringi_jobs", "state" => state.as_str()).set(f64::from(number));
                    metrics::gauge!("ringi_jobs_oldest_seconds", "state" => state.as_str()).set(oldest);
                }
            }
            Err(error) => tracing::debug!(%error, "jobs could not be counted"),
        }
    }
}
