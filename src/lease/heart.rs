//! The heartbeat of all leases of the process.

use super::store::{Beat, Grant, Pulse};
use crate::domain::Instant as Moment;
use crate::domain::lease::{Fence, Target, Ticket, Timing};
use crate::transaction::StoreError;
use std::collections::HashMap;
use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;
use tokio::sync::{Notify, watch};
use tokio::time::{Instant, sleep_until, timeout};
use tokio_util::sync::CancellationToken;
use uuid::Uuid;

/// Nothing is due: look again after this.
const IDLE: Duration = Duration::from_hours(1);

/// A lease that this process holds. Dropping it stops its heartbeat; the row stays until somebody takes it over, which
/// [`super::Leases::release`] and [`super::LeaseSession::release_lease`] spare him the wait for.
#[derive(Debug)]
pub struct Lease {
    ticket: Ticket,
    grant: Grant,
    lost: CancellationToken,
    beating: Arc<Shared>,
}

impl Lease {
    /// Target and token.
    #[must_use]
    pub const fn ticket(&self) -> &Ticket {
        &self.ticket
    }

    /// What it is on.
    #[must_use]
    pub const fn target(&self) -> &Target {
        &self.ticket.target
    }

    /// The number of this holder.
    #[must_use]
    pub const fn fence(&self) -> Fence {
        self.grant.fence
    }

    /// How often in a row it was taken from a silent holder, this time included.
    #[must_use]
    pub const fn takeovers(&self) -> i32 {
        self.grant.takeovers
    }

    /// Since when, by the database's clock.
    #[must_use]
    pub const fn acquired_at(&self) -> Moment {
        self.grant.acquired_at
    }

    /// Cancelled when the lease is another's, or may be soon: drop the work, save nothing.
    #[must_use]
    pub const fn lost(&self) -> &CancellationToken {
        &self.lost
    }

    /// Stops this lease's heartbeat and awaits the one under way, so that the transaction that ends the work is not
    /// taken for a loss and nobody of this process waits for its row. `None`: the lease is lost, save nothing. It beats
    /// again when what is returned is dropped.
    pub async fn pause(&self) -> Option<Paused<'_>> {
        let mut beats = self.beating.beats.subscribe();
        let paused = {
            let mut kept = self.beating.kept();
            let entry = kept.get_mut(&self.ticket.token)?;
            entry.paused = true;
            Paused { lease: self }
        };
        while self.beating.kept().get(&self.ticket.token)?.under_way {
            beats.changed().await.ok()?;
        }
        Some(paused)
    }
}

impl Drop for Lease {
    fn drop(&mut self) {
        self.beating.forget(self.ticket.token);
    }
}

/// A lease whose heartbeat rests, until this is dropped.
#[derive(Debug)]
#[must_use = "the heartbeat goes on when this is dropped"]
pub struct Paused<'a> {
    lease: &'a Lease,
}

impl Drop for Paused<'_> {
    fn drop(&mut self) {
        let shared = &self.lease.beating;
        if let Some(entry) = shared.kept().get_mut(&self.lease.ticket.token) {
            entry.paused = false;
            // It tells soon whether the lease is still there.
            entry.first_due.get_or_insert(Instant::now() + shared.soon());
            shared.wake.notify_one();
        }
    }
}

/// The heartbeat, running.
#[derive(Clone, Debug)]
pub(super) struct Heart {
    shared: Arc<Shared>,
    ended: watch::Receiver<bool>,
}

#[derive(Debug)]
struct Shared {
    timing: Timing,
    kept: Mutex<HashMap<Uuid, Entry>>,
    /// How many of them the figures show.
    counted: AtomicU32,
    /// Something new is to be beaten.
    wake: Notify,
    /// Counts the heartbeats that have ended, well or not.
    beats: watch::Sender<u64>,
    stop: CancellationToken,
}

#[derive(Debug)]
struct Entry {
    ticket: Ticket,
    /// The instant before the sending of the last accepted heartbeat.
    heard: Instant,
    /// The first heartbeat, or the one after a pause, does not wait for the interval.
    first_due: Option<Instant>,
    /// A heartbeat with this lease in it has been sent, and not been answered yet.
    under_way: bool,
    /// A save is under way.
    paused: bool,
    lost: CancellationToken,
}

impl Heart {
    /// Starts the thread.
    pub(super) fn start(pulse: impl Pulse, timing: Timing) -> std::io::Result<Self> {
        let shared = Arc::new(Shared {
            timing,
            kept: Mutex::default(),
            counted: AtomicU32::new(0),
            wake: Notify::new(),
            beats: watch::Sender::new(0),
            stop: CancellationToken::new(),
        });
        let (end, ended) = watch::channel(false);
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
        let beating = Arc::clone(&shared);
        std::thread::Builder::new().name("ringi-heartbeat".to_owned()).spawn(move || {
            let _end = End { shared: Arc::clone(&beating), end };
            runtime.block_on(beating.run(pulse));
        })?;
        Ok(Self { shared, ended })
    }

    pub(super) fn timing(&self) -> Timing {
        self.shared.timing
    }

    pub(super) fn stopped(&self) -> &CancellationToken {
        &self.shared.stop
    }

    /// Keeps a lease that was just granted, asked for at `asked`.
    pub(super) fn keep(&self, target: Target, grant: Grant, asked: Instant) -> Lease {
        let lease = Lease {
            ticket: Ticket { target, token: grant.token },
            grant,
            lost: CancellationToken::new(),
            beating: Arc::clone(&self.shared),
        };
        let entry = Entry {
            ticket: lease.ticket.clone(),
            heard: asked,
            first_due: Some(Instant::now() + self.shared.soon()),
            under_way: false,
            paused: false,
            lost: lease.lost.clone(),
        };
        // In the order in which the thread looks: what it misses here is there when it looks next.
        self.shared.kept().insert(grant.token, entry);
        if self.shared.stop.is_cancelled() {
            lease.lost.cancel();
        }
        self.shared.count_held();
        self.shared.wake.notify_one();
        lease
    }

    pub(super) async fn stop(&self, patience: Duration) -> bool {
        self.shared.stop.cancel();
        let mut ended = self.ended.clone();
        timeout(patience, ended.wait_for(|ended| *ended)).await.is_ok()
    }
}

/// Whatever ends the thread, a panic too: nobody keeps these leases any more.
struct End {
    shared: Arc<Shared>,
    end: watch::Sender<bool>,
}

impl Drop for End {
    fn drop(&mut self) {
        self.shared.stop.cancel();
        for (_, entry) in self.shared.kept().drain() {
            entry.lost.cancel();
        }
        self.shared.count_held();
        self.shared.beats.send_modify(|ended| *ended += 1);
        self.end.send_replace(true);
    }
}

/// Which leases beat now.
#[derive(Clone, Copy)]
enum Round {
    All,
    New,
}

impl Shared {
    fn kept(&self) -> MutexGuard<'_, HashMap<Uuid, Entry>> {
        self.kept.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn count_held(&self) {
        let kept = self.kept();
        let held = u32::try_from(kept.len()).unwrap_or(u32::MAX);
        let before = self.counted.swap(held, Ordering::SeqCst);
        // A process may have two rhythms.
        metrics::gauge!("ringi_leases_held").increment(f64::from(held) - f64::from(before));
    }

    fn forget(&self, token: Uuid) {
        self.kept().remove(&token);
        self.count_held();
    }

    async fn run(&self, mut pulse: impl Pulse) {
        let mut next = Instant::now() + self.pause_between();
        loop {
            let now = Instant::now();
            self.stop_overdue(now);
            let (first, deadline) = self.due();
            let round = if now >= next {
                // From now, not from when it was due: missed heartbeats are late, not bunched.
                next = now + self.pause_between();
                Some(Round::All)
            } else {
                (now >= first).then_some(Round::New)
            };
            if let Some(round) = round {
                let tickets = self.begin(round);
                if !tickets.is_empty() && !self.beat(&mut pulse, &tickets).await {
                    next = next.min(Instant::now() + self.pause_after_failure());
                }
                if self.stop.is_cancelled() {
                    return;
                }
                continue;
            }
            tokio::select! {
                () = self.stop.cancelled() => return,
                () = self.wake.notified() => {}
                () = sleep_until(next.min(first).min(deadline)) => {}
            }
        }
    }

    /// Jittered, so that processes that began together do not beat together; never longer than the interval.
    fn pause_between(&self) -> Duration {
        self.timing.interval.mul_f64(0.9 + 0.1 * fastrand::f64())
    }

    /// After which time a new lease beats first. Not at once: its row was stamped after its lock was had, the local
    /// deadline counts from before that, and most work is done sooner.
    fn soon(&self) -> Duration {
        self.timing.interval / 10
    }

    /// An error is not a loss: there is time for many tries before the local deadline.
    fn pause_after_failure(&self) -> Duration {
        self.pause_between() / 8
    }

    /// When the next new lease is to beat, and when the next lease can't be trusted any more.
    fn due(&self) -> (Instant, Instant) {
        let later = Instant::now() + IDLE;
        let kept = self.kept();
        let active = || kept.values().filter(|entry| !entry.paused);
        let first = active().filter_map(|entry| entry.first_due).min().unwrap_or(later);
        let deadline = active().map(|entry| entry.heard + self.timing.trusted_for()).min().unwrap_or(later);
        (first, deadline)
    }

    /// Gives up the leases whose local deadline has passed, before anybody else can take them.
    fn stop_overdue(&self, now: Instant) {
        let trusted_for = self.timing.trusted_for();
        let mut lost = 0;
        self.kept().retain(|_, entry| {
            let overdue = !entry.paused && now >= entry.heard + trusted_for;
            if overdue {
                tracing::error!(lease = %entry.ticket.target, "no heartbeat was accepted in time: its work is stopped");
                entry.lost.cancel();
                lost += 1;
            }
            !overdue
        });
        self.count_lost("silence", lost);
    }

    fn count_lost(&self, reason: &'static str, lost: u64) {
        if lost > 0 {
            metrics::counter!("ringi_leases_lost_total", "reason" => reason).increment(lost);
            self.count_held();
            // Whoever waits to pause one of them is told.
            self.beats.send_modify(|ended| *ended += 1);
        }
    }

    /// The leases of this round, marked as under way.
    fn begin(&self, round: Round) -> Vec<Ticket> {
        let mut kept = self.kept();
        let chosen = kept
            .values_mut()
            .filter(|entry| !entry.paused && (matches!(round, Round::All) || entry.first_due.is_some()));
        chosen
            .map(|entry| {
                entry.under_way = true;
                entry.ticket.clone()
            })
            .collect()
    }

    /// One heartbeat of these leases. False: it failed. Deadlines are watched meanwhile, since no answer may come.
    async fn beat(&self, pulse: &mut impl Pulse, tickets: &[Ticket]) -> bool {
        let sent = Instant::now();
        let answer = {
            let beat = pulse.beat(tickets);
            tokio::pin!(beat);
            loop {
                let (_, deadline) = self.due();
                tokio::select! {
                    answer = &mut beat => break Some(answer),
                    () = self.stop.cancelled() => break None,
                    () = sleep_until(deadline) => self.stop_overdue(Instant::now()),
                }
            }
        };
        let good = matches!(answer, Some(Ok(_)));
        self.note(tickets, sent, answer);
        self.beats.send_modify(|ended| *ended += 1);
        good
    }

    fn note(&self, tickets: &[Ticket], sent: Instant, answer: Option<Result<Beat, StoreError>>) {
        let mut kept = self.kept();
        let again = Instant::now() + self.pause_after_failure();
        for ticket in tickets {
            if let Some(entry) = kept.get_mut(&ticket.token) {
                entry.under_way = false;
                entry.first_due = entry.first_due.map(|_| again);
            }
        }
        let beat = match answer {
            Some(Ok(beat)) => beat,
            Some(Err(error)) => {
                drop(kept);
                metrics::counter!("ringi_lease_beats_failed_total").increment(1);
                tracing::warn!(%error, leases = tickets.len(), "a heartbeat failed and is retried");
                return;
            }
            None => return,
        };
        let late_after = self.timing.interval.mul_f64(1.5);
        let mut late = 0;
        for token in beat.fresh {
            let Some(entry) = kept.get_mut(&token) else { continue };
            late += u64::from(sent.saturating_duration_since(entry.heard) > late_after);
            entry.heard = sent;
            entry.first_due = None;
        }
        let mut lost = 0;
        for token in beat.gone {
            // While a save is under way the row may be gone because the work is done.
            if kept.get(&token).is_none_or(|entry| entry.paused) {
                continue;
            }
            if let Some(entry) = kept.remove(&token) {
                tracing::warn!(lease = %entry.ticket.target, "the lease is another's: its work is stopped");
                entry.lost.cancel();
                lost += 1;
            }
        }
        drop(kept);
        if late > 0 {
            metrics::counter!("ringi_lease_beats_late_total").increment(late);
        }
        self.count_lost("taken", lost);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::domain::lease::TargetKind;
    use std::sync::atomic::AtomicUsize;

    const TIMING: Timing = Timing {
        interval: Duration::from_millis(40),
        timeout: Duration::from_millis(400),
        margin: Duration::from_millis(100),
    };
    const PATIENCE: Duration = Duration::from_secs(10);

    /// How the database behaves.
    #[derive(Clone, Copy, Debug, PartialEq)]
    enum Mood {
        Fresh,
        Gone,
        Fails,
        Silent,
        Panics,
    }

    struct Fake {
        mood: watch::Receiver<Mood>,
        asked: Arc<AtomicUsize>,
    }

    impl Pulse for Fake {
        async fn beat(&mut self, tickets: &[Ticket]) -> Result<Beat, StoreError> {
            self.asked.fetch_add(1, Ordering::SeqCst);
            let tokens = tickets.iter().map(|ticket| ticket.token).collect();
            if *self.mood.borrow() == Mood::Silent {
                drop(self.mood.wait_for(|mood| *mood != Mood::Silent).await);
            }
            let mood = *self.mood.borrow();
            match mood {
                Mood::Fresh => Ok(Beat { fresh: tokens, gone: Vec::new() }),
                Mood::Gone => Ok(Beat { fresh: Vec::new(), gone: tokens }),
                Mood::Fails | Mood::Silent => Err(StoreError::Unavailable("away".to_owned())),
                Mood::Panics => panic!("a fault of ours"),
            }
        }
    }

    struct Scene {
        heart: Heart,
        mood: watch::Sender<Mood>,
        asked: Arc<AtomicUsize>,
    }

    impl Scene {
        fn new(mood: Mood) -> Self {
            let mood = watch::Sender::new(mood);
            let asked = Arc::new(AtomicUsize::new(0));
            let pulse = Fake { mood: mood.subscribe(), asked: Arc::clone(&asked) };
            Self { heart: Heart::start(pulse, TIMING).expect("a thread"), mood, asked }
        }

        fn lease(&self) -> Lease {
            let target = Target::of_all(TargetKind::Relay, "test");
            let grant = Grant {
                token: Uuid::from_u128(fastrand::u128(..)),
                fence: 1,
                takeovers: 0,
                acquired_at: Moment::MIN_UTC,
            };
            self.heart.keep(target, grant, Instant::now())
        }

        async fn beats(&self, more: usize) {
            let goal = self.asked.load(Ordering::SeqCst) + more;
            let begun = Instant::now();
            while self.asked.load(Ordering::SeqCst) < goal {
                assert!(begun.elapsed() < PATIENCE, "it does not beat");
                tokio::time::sleep(Duration::from_millis(1)).await;
            }
        }
    }

    async fn is_lost(lease: &Lease) {
        timeout(PATIENCE, lease.lost().cancelled()).await.expect("lost");
    }

    #[tokio::test]
    async fn an_accepted_heartbeat_keeps_the_lease() {
        let scene = Scene::new(Mood::Fresh);
        let lease = scene.lease();
        scene.beats(15).await;
        assert!(!lease.lost().is_cancelled());
    }

    #[tokio::test]
    async fn a_confirmed_answer_without_the_row_is_a_loss() {
        let scene = Scene::new(Mood::Gone);
        is_lost(&scene.lease()).await;
    }

    #[tokio::test]
    async fn an_error_is_no_loss_until_the_local_deadline() {
        for mood in [Mood::Fails, Mood::Silent] {
            let scene = Scene::new(mood);
            let begun = Instant::now();
            let lease = scene.lease();
            is_lost(&lease).await;
            let after = begun.elapsed();
            assert!(after >= TIMING.trusted_for(), "{mood:?}: an error is not a loss, after {after:?}");
            // Before anybody else may start; wide, for a busy machine.
            assert!(after < TIMING.timeout + Duration::from_millis(300), "{mood:?}: {after:?}");
        }
    }

    #[tokio::test]
    async fn errors_that_pass_cost_nothing() {
        let scene = Scene::new(Mood::Fails);
        let lease = scene.lease();
        scene.beats(3).await;
        scene.mood.send_replace(Mood::Fresh);
        scene.beats(15).await;
        assert!(!lease.lost().is_cancelled());
    }

    #[tokio::test]
    async fn a_pause_awaits_the_heartbeat_under_way_and_is_no_loss() {
        let scene = Scene::new(Mood::Silent);
        let lease = scene.lease();
        scene.beats(1).await;
        let mut pausing = Box::pin(lease.pause());
        assert!(timeout(Duration::from_millis(50), &mut pausing).await.is_err(), "a heartbeat is under way");
        // The save was faster than the answer.
        scene.mood.send_replace(Mood::Gone);
        let paused = pausing.await.expect("a row that is gone during a save is no loss");
        let asked = scene.asked.load(Ordering::SeqCst);
        tokio::time::sleep(TIMING.timeout).await;
        assert_eq!(scene.asked.load(Ordering::SeqCst), asked, "it rests");
        assert!(!lease.lost().is_cancelled());
        drop(paused);
        is_lost(&lease).await;
    }

    #[tokio::test]
    async fn a_lease_that_is_dropped_beats_no_more() {
        let scene = Scene::new(Mood::Fresh);
        drop(scene.lease());
        scene.beats(0).await;
        tokio::time::sleep(TIMING.interval).await;
        let asked = scene.asked.load(Ordering::SeqCst);
        tokio::time::sleep(3 * TIMING.interval).await;
        assert_eq!(scene.asked.load(Ordering::SeqCst), asked);
    }

    #[tokio::test]
    async fn a_heart_that_breaks_loses_all_leases() {
        let scene = Scene::new(Mood::Panics);
        is_lost(&scene.lease()).await;
        is_lost(&scene.lease()).await;
        assert!(scene.heart.stopped().is_cancelled());
        assert!(scene.heart.stop(PATIENCE).await);
    }
}
