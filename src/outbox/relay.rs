//! The relay: holds the lease, puts events in order, and runs the consumers meanwhile.

use super::store::{Bells, Numbered, Outbox, OutboxSession as _, Place};
use super::{Consumer, Term};
use crate::domain::lease::{Target, TargetKind, Ticket};
use crate::lease::{Acquired, Hold, Lease, LeaseSession as _, LeaseStore, Leases};
use crate::transaction::{Session as _, StoreError};
use futures_util::FutureExt;
use std::panic::AssertUnwindSafe;
use std::sync::Arc;
use std::time::Duration;
use tokio::sync::watch;
use tokio::task::JoinSet;
use tokio::time::{Instant, sleep, timeout, timeout_at};
use tokio_util::sync::CancellationToken;
use tokio_util::task::TaskTracker;

/// How many events one step takes: few enough to be done in some milliseconds, many enough that a backlog melts.
const STEP: i64 = 1_000;
/// How soon a step that failed is tried again.
const AGAIN: Duration = Duration::from_millis(200);
/// After how long a consumer that ended by itself is run again.
const ANEW: Duration = Duration::from_secs(1);

/// How a relay works.
#[derive(Clone, Copy, Debug)]
pub struct RelaySettings {
    /// How often it looks when nobody rings: for events, or for the lease.
    pub poll_interval: Duration,
}

/// A relay, working or waiting for its turn.
#[derive(Debug)]
pub struct Relay {
    /// The term ends, when what is under way has been done.
    closing: CancellationToken,
    /// What is still under way is dropped.
    stopping: CancellationToken,
    task: TaskTracker,
}

struct Shared<S, L, B> {
    store: S,
    leases: Leases<L>,
    bells: B,
    settings: RelaySettings,
    consumers: Vec<Arc<dyn Consumer>>,
    closing: CancellationToken,
    stopping: CancellationToken,
}

impl Relay {
    /// What the lease is on.
    #[must_use]
    pub fn target() -> Target {
        Target::of_all(TargetKind::Relay, "events")
    }

    /// Begins to work, or to wait for the lease, on the runtime that this is called on.
    #[must_use]
    pub fn start<S: Outbox, L: LeaseStore, B: Bells>(
        store: S,
        leases: Leases<L>,
        bells: B,
        settings: RelaySettings,
        consumers: Vec<Arc<dyn Consumer>>,
    ) -> Self {
        let relay =
            Self { closing: CancellationToken::new(), stopping: CancellationToken::new(), task: TaskTracker::new() };
        let (closing, stopping) = (relay.closing.clone(), relay.stopping.clone());
        let shared = Shared { store, leases, bells, settings, consumers, closing, stopping };
        relay.task.spawn(async move { shared.run().await });
        relay
    }

    /// Begins to end: what was written so far is still numbered, and consumers finish what is under way.
    pub fn close(&self) {
        self.closing.cancel();
        self.task.close();
    }

    /// Waits for that, at most until `deadline`; then drops what is still under way and gives the lease back, for which
    /// it may take `patience` more. False: the lease was not given back, and is taken over after the timeout.
    pub async fn finish(&self, deadline: Instant, patience: Duration) -> bool {
        self.close();
        if timeout_at(deadline, self.task.wait()).await.is_ok() {
            return true;
        }
        self.stopping.cancel();
        timeout(patience, self.task.wait()).await.is_ok()
    }
}

/// How a term ended.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Ended {
    /// It was asked to.
    Closing,
    /// The lease is another's, or may be soon.
    Lost,
}

impl<S: Outbox, L: LeaseStore, B: Bells> Shared<S, L, B> {
    async fn run(&self) {
        let vacant = self.bells.vacant();
        while !self.closing.is_cancelled() {
            if self.leases.stopped().is_cancelled() {
                tracing::error!("the heartbeat has ended: no events are relayed here any more; start the process anew");
                return;
            }
            match self.leases.acquire(&Relay::target()).await {
                Ok(Acquired::Held(lease)) => self.serve(lease).await,
                Ok(Acquired::Busy(_)) => {
                    self.look().await;
                }
                Err(error) => tracing::debug!(%error, "asking for the relay's lease failed and is repeated"),
            }
            // Jittered, so that processes that began together do not ask together.
            let pause = self.settings.poll_interval.mul_f64(0.75 + 0.5 * fastrand::f64());
            tokio::select! {
                () = self.closing.cancelled() => {}
                () = vacant.notified() => {}
                () = sleep(pause) => {}
            }
        }
    }

    /// One term, from the lease that was just taken until it is given back.
    async fn serve(&self, lease: Lease) {
        tracing::info!(fence = lease.fence(), "this process relays events now");
        let over = CancellationToken::new();
        let (tell, news) = watch::channel(0);
        let mut consumers = JoinSet::new();
        for consumer in &self.consumers {
            let term = Term { ticket: lease.ticket().clone(), over: over.clone(), news: news.clone() };
            consumers.spawn(keep(Arc::clone(consumer), term));
        }
        self.bells.relaying(true);
        let ended = self.relay(&lease, &tell).await;
        self.bells.relaying(false);
        over.cancel();
        if ended == Ended::Closing {
            let all = async { while consumers.join_next().await.is_some() {} };
            tokio::select! {
                () = all => {}
                () = lease.lost().cancelled() => {}
                () = self.stopping.cancelled() => {}
            }
        }
        consumers.shutdown().await;
        // Of a lost one, too, which may be nobody's yet: spares them the wait. Else it does nothing.
        match self.leases.release(lease).await {
            Ok(true) => self.bells.tell_vacant(),
            Ok(false) => {}
            Err(error) => tracing::warn!(%error, "the relay's lease could not be given back"),
        }
    }

    /// Numbers what comes until the term ends.
    async fn relay(&self, lease: &Lease, tell: &watch::Sender<u64>) -> Ended {
        let written = self.bells.written();
        let mut place = Place::default();
        loop {
            let closing = self.closing.is_cancelled();
            let step = tokio::select! {
                biased;
                () = lease.lost().cancelled() => return Ended::Lost,
                step = self.number_all(lease.ticket(), &mut place, tell) => step,
            };
            let pause = match step {
                Ok(true) => self.settings.poll_interval,
                Ok(false) => return Ended::Lost,
                Err(error) => {
                    tracing::warn!(%error, "events could not be numbered, which is tried again");
                    AGAIN
                }
            };
            if closing {
                return Ended::Closing;
            }
            tokio::select! {
                () = lease.lost().cancelled() => return Ended::Lost,
                () = self.closing.cancelled() => {}
                () = written.notified() => {}
                () = self.until_waiting(pause) => {}
            }
        }
    }

    /// Numbers until there is nothing more. False: the lease is another's, and nothing was written.
    ///
    /// Goes round in the order of the key: whatever one organization writes meanwhile, all others have their turn.
    async fn number_all(
        &self,
        ticket: &Ticket,
        place: &mut Place,
        tell: &watch::Sender<u64>,
    ) -> Result<bool, StoreError> {
        loop {
            let from_the_beginning = *place == Place::default();
            let Some(numbered) = self.number(ticket, place).await? else { return Ok(false) };
            if numbered.events > 0 {
                self.bells.tell_numbered();
                tell.send_modify(|steps| *steps += 1);
                metrics::counter!("ringi_events_numbered_total").increment(numbered.events);
                metrics::histogram!("ringi_event_waited_seconds").record(numbered.waited.as_secs_f64());
            }
            let all = numbered.events < STEP.unsigned_abs();
            *place = if all { Place::default() } else { numbered.last.unwrap_or_default() };
            if (all && from_the_beginning) || self.stopping.is_cancelled() {
                metrics::gauge!("ringi_events_oldest_seconds").set(0.0);
                return Ok(true);
            }
        }
    }

    async fn number(&self, ticket: &Ticket, after: &Place) -> Result<Option<Numbered>, StoreError> {
        let mut session = self.store.open_step().await?;
        let work = async {
            let Some(held) = session.hold_lease(ticket, Hold::Shared).await? else { return Ok(None) };
            session.number(&held, after, STEP).await.map(Some)
        };
        match work.await {
            Ok(Some(numbered)) => {
                session.commit().await?;
                Ok(Some(numbered))
            }
            other => {
                session.rollback().await;
                other
            }
        }
    }

    /// Returns when something waits, seen without a lock. Somebody may have written whose bell was not heard.
    async fn until_waiting(&self, pause: Duration) {
        loop {
            sleep(pause).await;
            if self.look().await {
                return;
            }
        }
    }

    /// Whether something waits. Whoever looks shows for how long, so that a relay that has frozen is seen, too.
    async fn look(&self) -> bool {
        match self.store.waiting().await {
            Ok(waiting) => {
                metrics::gauge!("ringi_events_oldest_seconds").set(waiting.unwrap_or_default().as_secs_f64());
                waiting.is_some()
            }
            Err(error) => {
                tracing::debug!(%error, "looking for events failed and is repeated");
                false
            }
        }
    }
}

/// Runs a consumer until the term is over, whatever becomes of it.
async fn keep(consumer: Arc<dyn Consumer>, term: Term) {
    loop {
        let ended = AssertUnwindSafe(consumer.run(term.clone())).catch_unwind().await;
        if term.over.is_cancelled() {
            return;
        }
        if ended.is_err() {
            metrics::counter!("ringi_panics_total").increment(1);
        }
        tracing::error!(panicked = ended.is_err(), "a consumer of events ended before its time and is run again");
        tokio::select! {
            () = sleep(ANEW) => {}
            () = term.over.cancelled() => return,
        }
    }
}
