//! The run that closes a month, step by step.
//!
//! ```text
//! walk ──► some rows are blocked ──► blocked
//!   ▲  └─► none ──► prove ──► flip ──► closed
//!   └──── something was repaired or moved meanwhile
//! ```
//!
//! The walk confirms the month's charges in the order of their keys, in transactions that hold their locks for some
//! milliseconds. A step that the database refuses is halved until the row is found that it refuses; that one is
//! recorded, and the walk goes on behind it. The proof compares both sides by statements that the walk does not use and
//! without any lock. The flip makes the month show, in one short transaction that compares the generation which the
//! proof was made for.
//!
//! Every step holds the lease's row shared, so a run that was taken for dead writes nothing any more. A run that is
//! killed leaves what it confirmed; the next one confirms the rest.

use super::pace::Pace;
use super::run_store::{Copied, RunSession, RunStore, Seen, Sums, Window};
use super::store::ChargeSession;
use super::view::{Progress, RowPlace};
use crate::domain::event::Event;
use crate::domain::history::{ChainHead, Kind, SubjectEntry};
use crate::domain::ids::{OrganizationId, UserId};
use crate::domain::lease::Ticket;
use crate::domain::member::Member;
use crate::domain::period::Period;
use crate::lease::{Hold, Lease, LeaseSession};
use crate::transaction::{End, Locked, StoreError, UseCaseError, settle};
use chrono::DateTime;
use serde_json::{Value, json};
use std::time::{Duration, Instant};
use tokio::sync::watch;
use tokio_util::sync::CancellationToken;
use uuid::Uuid;

/// How many rows the proof looks at in one statement.
const PROVED_AT_ONCE: i64 = 10_000;
/// How often the figures are written for those who watch.
const NOTED_EVERY: Duration = Duration::from_millis(500);
/// How often a log line says how far the run is.
const LOGGED_EVERY: Duration = Duration::from_secs(5);
/// How long a failed step waits before it is tried again, at first and at most.
const RETRIED_AFTER: (Duration, Duration) = (Duration::from_millis(20), Duration::from_secs(2));

/// The same where somebody held a lock: those who queued behind this run go first.
const AFTER_A_LOCK: Duration = Duration::from_millis(100);

/// How a run works.
#[derive(Clone, Copy, Debug)]
pub struct RunSettings {
    /// How long a step may hold its locks.
    pub chunk_target: Duration,
    /// How many charges a step has at most.
    pub chunk_max_rows: u32,
}

/// Who closes a month, for its history.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Actor {
    /// `None`: no member of the organization.
    pub user_id: Option<UserId>,
    /// As of now.
    pub name: String,
}

impl Actor {
    /// An administrator.
    #[must_use]
    pub fn member(member: &Member) -> Self {
        Self { user_id: Some(member.user_id), name: member.display_name.clone() }
    }

    /// The command line.
    #[must_use]
    pub fn command_line() -> Self {
        Self { user_id: None, name: "command line".to_owned() }
    }

    /// A process that goes on with what another had begun.
    #[must_use]
    pub fn process() -> Self {
        Self { user_id: None, name: "ringi".to_owned() }
    }

    /// A row of a month's history.
    #[must_use]
    pub fn entry(
        &self,
        organization: OrganizationId,
        period: Period,
        action: &'static str,
        detail: Value,
        head: ChainHead,
    ) -> SubjectEntry {
        SubjectEntry {
            organization_id: organization,
            kind: Kind::Closing,
            subject_id: period.to_string(),
            seq: head.seq + 1,
            actor_id: self.user_id,
            actor_name: self.name.clone(),
            action,
            reason: None,
            detail,
            occurred_at: head.at,
        }
    }
}

/// How a run ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Ended {
    /// The month is closed.
    Closed,
    /// So many rows stand in the way.
    Blocked(i64),
    /// This process is to stop. Somebody else can go on.
    Stopped,
    /// Somebody else has the lease.
    Lost,
}

/// A run under its lease.
#[derive(Debug)]
pub struct Run<'a, S> {
    /// Where it works.
    pub store: &'a S,
    /// How it works.
    pub settings: RunSettings,
    /// The right to.
    pub lease: Lease,
    /// Whose month.
    pub organization_id: OrganizationId,
    /// Which month.
    pub period: Period,
    /// Who closes it.
    pub actor: Actor,
    /// Cancelled when this process is to stop.
    pub stop: CancellationToken,
    /// Told how far it is.
    pub progress: watch::Sender<Progress>,
}

/// Why a run gives up before its end.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Halt {
    Stopped,
    Lost,
}

type Break = UseCaseError<Halt>;

const STOPPED: Break = UseCaseError::Refused(Halt::Stopped);
const LOST: Break = UseCaseError::Refused(Halt::Lost);

/// What the last transaction of a run does.
#[derive(Clone, Copy)]
enum Last<'a> {
    /// Makes the month show.
    Close(&'a Sums),
    /// Says that so many rows stand in the way.
    Block(i64),
}

impl Last<'_> {
    const fn action(self) -> &'static str {
        match self {
            Self::Close(_) => "close",
            Self::Block(_) => "block",
        }
    }

    fn detail(self) -> Value {
        match self {
            Self::Block(blocked) => json!({ "blocked": blocked }),
            Self::Close(sums) => {
                let totals = sums.iter().map(|(currency, (total, count))| {
                    json!({"currency": currency, "total": total.to_string(), "count": count})
                });
                json!({ "totals": totals.collect::<Vec<_>>() })
            }
        }
    }
}

impl<S: RunStore> Run<'_, S> {
    /// Runs to an end. The lease is given back, but for a loss.
    ///
    /// # Errors
    /// [`StoreError::Internal`]: a fault of ours; what was confirmed stays. Whatever passes by itself is waited out for as
    /// long as the lease lives.
    pub async fn run(&self) -> Result<Ended, StoreError> {
        let (organization_id, period) = (self.organization_id, self.period);
        tracing::info!(%organization_id, %period, "closing: begun");
        let begun = Instant::now();
        let ended = match self.phases().await {
            Ok(ended) => Ok(ended),
            Err(UseCaseError::Refused(Halt::Stopped)) => Ok(Ended::Stopped),
            Err(UseCaseError::Refused(Halt::Lost)) => Ok(Ended::Lost),
            Err(UseCaseError::Store(error)) => Err(error),
            Err(error) => Err(StoreError::Internal(error.into())),
        };
        let Progress { total, confirmed, .. } = self.so_far();
        let seconds = begun.elapsed().as_secs_f64();
        match &ended {
            Ok(ended) => tracing::info!(%organization_id, %period, ?ended, total, confirmed, seconds, "closing: ended"),
            Err(error) => tracing::error!(%organization_id, %period, %error, total, confirmed, "closing: failed"),
        }
        let result = match &ended {
            Ok(Ended::Closed) => "closed",
            Ok(Ended::Blocked(_)) => "blocked",
            Ok(Ended::Stopped) => "stopped",
            Ok(Ended::Lost) => "lost",
            Err(_) => "failed",
        };
        metrics::counter!("ringi_closings_total", "result" => result).increment(1);
        ended
    }

    fn so_far(&self) -> Progress {
        *self.progress.borrow()
    }

    async fn phases(&self) -> Result<Ended, Break> {
        let (total, confirmed) = self.patiently(|| self.survey()).await?;
        self.progress.send_modify(|progress| (progress.total, progress.confirmed) = (total, confirmed));
        self.note(&mut Watch::new(self.so_far())).await;
        let mut looked_in_vain = false;
        loop {
            let confirmed = self.walk().await?;
            // Read before what it is to vouch for.
            let generation = self.patiently(|| self.generation()).await?;
            let blocked = self.patiently(|| self.count_blocked()).await?;
            if blocked > 0 {
                if self.patiently(|| self.end(Last::Block(blocked), generation)).await? {
                    return Ok(Ended::Blocked(blocked));
                }
                continue;
            }
            match self.prove().await? {
                Some(sums) => {
                    if self.patiently(|| self.end(Last::Close(&sums), generation)).await? {
                        return Ok(Ended::Closed);
                    }
                    looked_in_vain = false;
                }
                // What was repaired behind the walk is confirmed by the next one; what no walk confirms is a fault.
                None if looked_in_vain && confirmed == 0 => {
                    let fault = "the proof finds what no walk mends: see the log";
                    return Err(StoreError::Internal(fault.into()).into());
                }
                None => looked_in_vain = true,
            }
        }
    }

    /// Does something again for as long as the lease lives, when it failed by what passes: a lock that somebody holds, a
    /// deadlock, a database that is away.
    async fn patiently<T, F>(&self, work: impl Fn() -> F + Send + Sync) -> Result<T, Break>
    where
        F: Future<Output = Result<T, Break>> + Send,
    {
        let (mut pause, longest) = RETRIED_AFTER;
        loop {
            if self.lease.lost().is_cancelled() {
                return Err(LOST);
            }
            if self.stop.is_cancelled() {
                return Err(STOPPED);
            }
            match work().await {
                Err(UseCaseError::Store(error)) if error.passes() => {
                    if matches!(error, StoreError::LockTimeout) {
                        // Whoever holds the lock is a person's call, which is short.
                        pause = pause.min(AFTER_A_LOCK);
                    }
                    metrics::counter!("ringi_closing_retries_total").increment(1);
                    tracing::warn!(%error, period = %self.period, "closing: a step is tried again");
                }
                done => return done,
            }
            tokio::select! {
                () = tokio::time::sleep(pause) => pause = (pause * 2).min(longest),
                () = self.lease.lost().cancelled() => {}
                () = self.stop.cancelled() => {}
            }
        }
    }

    async fn hold(&self, session: &mut S::Session, how: Hold) -> Result<Locked<Ticket>, Break> {
        session.hold_lease(self.lease.ticket(), how).await?.ok_or(LOST)
    }

    const fn window(&self, from: Uuid, limit: i64) -> Window {
        Window { organization_id: self.organization_id, period: self.period, from, to: Uuid::max(), limit }
    }

    async fn survey(&self) -> Result<(i64, i64), Break> {
        let mut session = self.store.open_lasting().await?;
        let found = session.survey(self.organization_id, self.period).await;
        match looked(session, found).await {
            // Too many to be counted in time. They are figures for those who watch: the run goes on without.
            Err(UseCaseError::Store(StoreError::Unavailable(why))) => {
                tracing::warn!(period = %self.period, why, "closing: the charges could not be counted");
                Ok((0, 0))
            }
            counted => counted,
        }
    }

    /// Confirms what can be confirmed. Says how many rows it was.
    async fn walk(&self) -> Result<i64, Break> {
        let mut pace = Pace::new(self.settings.chunk_target, self.settings.chunk_max_rows);
        let mut watch = Watch::new(self.so_far());
        let (mut from, mut all) = (Uuid::nil(), 0);
        loop {
            let window = self.window(from, pace.size());
            let step = || async {
                match self.copy(window).await {
                    // More than the database does in the time of a statement, perhaps: then less is tried.
                    Err(UseCaseError::Store(StoreError::Unavailable(_))) if window.limit > 1 => Ok(None),
                    done => done.map(Some),
                }
            };
            let Some((copied, elapsed)) = self.patiently(step).await? else {
                pace.narrow();
                continue;
            };
            let last = match copied {
                Copied::Done { confirmed, last } => {
                    pace.took(elapsed);
                    all += confirmed;
                    self.progress.send_modify(|progress| progress.confirmed += confirmed);
                    last
                }
                Copied::Refused(_) if pace.narrow() => continue,
                Copied::Refused(_) => match self.patiently(|| self.isolate(from)).await? {
                    Some(blocked) => Some(blocked),
                    // It was corrected or moved meanwhile.
                    None => continue,
                },
            };
            if let Some(rate) = watch.tick(self.so_far()) {
                self.progress.send_modify(|progress| progress.rows_per_second = rate);
                self.note(&mut watch).await;
            }
            // Keys end with the last one that there is.
            let Some(next) = last.and_then(|last| last.as_u128().checked_add(1)) else { break };
            from = Uuid::from_u128(next);
        }
        self.note(&mut watch).await;
        Ok(all)
    }

    async fn copy(&self, window: Window) -> Result<(Copied, Duration), Break> {
        let mut session = self.store.open_step().await?;
        let begun = Instant::now();
        let work = async {
            let held = self.hold(&mut session, Hold::Shared).await?;
            Ok(match session.copy(&held, &window).await? {
                done @ Copied::Done { .. } => End::Commit(done),
                refused @ Copied::Refused(_) => End::Rollback(refused),
            })
        };
        let work = work.await;
        let copied = settle(session, work).await?;
        metrics::histogram!("ringi_closing_step_seconds").record(begun.elapsed().as_secs_f64());
        Ok((copied, begun.elapsed()))
    }

    /// Tries the first charge from a key on by itself, and records it as blocked when it is refused in the very version
    /// that was tried. `None`: it was not.
    async fn isolate(&self, from: Uuid) -> Result<Option<Uuid>, Break> {
        let mut session = self.store.open_step().await?;
        let window = self.window(from, 1);
        let found = session.first(&window).await;
        let Some((id, version)) = looked(session, found).await? else { return Ok(None) };
        let (copied, _) = self.copy(Window { from: id, to: id, ..window }).await?;
        let Copied::Refused(refusal) = copied else { return Ok(None) };
        let mut session = self.store.open_step().await?;
        let work = async {
            let held = self.hold(&mut session, Hold::Shared).await?;
            Ok(End::Commit(session.block(&held, self.period, (id, version), &refusal).await?))
        };
        let work = work.await;
        let blocked = settle(session, work).await?;
        if blocked {
            let (code, detail) = (&refusal.code, &refusal.detail);
            tracing::warn!(period = %self.period, charge = %id, code, detail, "closing: a row is blocked");
            self.progress.send_modify(|progress| progress.blocked += 1);
        }
        Ok(blocked.then_some(id))
    }

    /// Writes the figures for those who watch. Nobody waits for them: a failure costs nothing.
    async fn note(&self, watch: &mut Watch) {
        let progress = self.so_far();
        if let Err(error) = self.write_figures(&progress).await {
            tracing::debug!(%error, "closing: the figures were not written");
        }
        if watch.logs() {
            let Progress { total, confirmed, blocked, rows_per_second } = progress;
            let organization_id = self.organization_id;
            tracing::info!(%organization_id, period = %self.period, confirmed, total, blocked, rows_per_second, "closing: under way");
        }
    }

    async fn write_figures(&self, progress: &Progress) -> Result<(), Break> {
        let mut session = self.store.open_step().await?;
        let written = session.note_progress(self.lease.ticket(), self.period, progress).await;
        settle(session, written.map(End::Commit).map_err(Break::from)).await
    }

    async fn generation(&self) -> Result<i64, Break> {
        let mut session = self.store.open_lasting().await?;
        let row = session.lock_period(self.organization_id, self.period).await;
        Ok(looked(session, row).await?.map_or(0, |row| row.generation))
    }

    async fn count_blocked(&self) -> Result<i64, Break> {
        let mut session = self.store.open_lasting().await?;
        let blocked = session.blocked(self.organization_id, self.period).await;
        looked(session, blocked).await
    }

    /// Compares both sides without a lock, in parts: since the month is closing, only what makes a new generation can
    /// change it meanwhile. `None`: it is not whole.
    async fn prove(&self) -> Result<Option<Sums>, Break> {
        let (mut charges, mut confirmed) = (Seen::default(), Seen::default());
        let mut from = Some(Uuid::nil());
        while let Some(key) = from {
            let seen = self.patiently(|| self.prove_charges(key)).await?;
            from = seen.last.and_then(|last| last.as_u128().checked_add(1)).map(Uuid::from_u128);
            add(&mut charges, seen);
        }
        // Nothing occurs before the epoch.
        let mut after = Some((DateTime::UNIX_EPOCH - chrono::Duration::days(1), Uuid::nil()));
        while let Some(place) = after {
            let seen = self.patiently(|| self.prove_confirmed(place)).await?;
            after = seen.last;
            add(&mut confirmed, seen);
        }
        let (missing, differing, stray) = (charges.alone, charges.differing, confirmed.alone);
        let whole = missing == 0 && differing == 0 && stray == 0 && charges.sums == confirmed.sums;
        if !whole {
            tracing::warn!(period = %self.period, missing, differing, stray, "closing: the proof is not whole");
        }
        Ok(whole.then_some(charges.sums))
    }

    async fn prove_charges(&self, from: Uuid) -> Result<Seen<Uuid>, Break> {
        let mut session = self.store.open_step().await?;
        let seen = session.prove_charges(&self.window(from, PROVED_AT_ONCE)).await;
        looked(session, seen).await
    }

    async fn prove_confirmed(&self, after: RowPlace) -> Result<Seen<RowPlace>, Break> {
        let mut session = self.store.open_step().await?;
        let seen = session.prove_confirmed(self.organization_id, self.period, after, PROVED_AT_ONCE).await;
        looked(session, seen).await
    }

    /// The last transaction: the month's row, the lease, history, event, and the lease given back. False: the month changed
    /// since `generation`.
    async fn end(&self, last: Last<'_>, generation: i64) -> Result<bool, Break> {
        let Some(_paused) = self.lease.pause().await else { return Err(LOST) };
        let mut session = self.store.open_lasting().await?;
        let work = self.end_in(&mut session, last, generation).await;
        settle(session, work).await
    }

    async fn end_in(&self, session: &mut S::Session, last: Last<'_>, generation: i64) -> Result<End<bool>, Break> {
        let (organization, period) = (self.organization_id, self.period);
        let row = session.lock_period(organization, period).await?.ok_or(LOST)?;
        if row.is_closed || row.is_blocked {
            // By this very transaction, whose answer was lost, or by somebody who took over.
            return Ok(End::Rollback(true));
        }
        if row.generation != generation {
            return Ok(End::Rollback(false));
        }
        let lease = self.hold(session, Hold::Alone).await?;
        let head = session.lock_closing_head(organization, &period.to_string()).await?;
        match last {
            Last::Close(sums) => session.close_period(organization, period, sums, head.at).await?,
            Last::Block(blocked) => {
                // What is neither confirmed nor blocked was moved out meanwhile.
                let now = self.so_far();
                let figures = Progress { total: now.confirmed + blocked, ..now };
                session.mark_blocked(organization, period, Some((head.at, figures))).await?;
            }
        }
        let entry = self.actor.entry(organization, period, last.action(), last.detail(), head);
        session.append_closing(&entry, entry.hash(head.hash), Some(&Event::of_closing(&entry)), None).await?;
        session.release_lease(&lease).await?;
        Ok(End::Commit(true))
    }
}

/// Ends a transaction that only looked.
async fn looked<S: RunSession, T>(session: S, found: Result<T, StoreError>) -> Result<T, Break> {
    settle(session, found.map(End::Rollback).map_err(Break::from)).await
}

fn add<P>(all: &mut Seen<P>, part: Seen<P>) {
    for (currency, (sum, count)) in part.sums {
        let entry = all.sums.entry(currency).or_default();
        *entry = (entry.0 + sum, entry.1 + count);
    }
    all.alone += part.alone;
    all.differing += part.differing;
}

/// When the figures are due, and how fast the run is.
struct Watch {
    noted: (Instant, i64),
    logged: Instant,
    rate: i64,
}

impl Watch {
    fn new(progress: Progress) -> Self {
        let now = Instant::now();
        Self { noted: (now, progress.confirmed), logged: now, rate: progress.rows_per_second }
    }

    /// The rate, when the figures are due.
    fn tick(&mut self, progress: Progress) -> Option<i64> {
        let (since, before) = self.noted;
        let elapsed = since.elapsed();
        if elapsed < NOTED_EVERY {
            return None;
        }
        self.noted = (Instant::now(), progress.confirmed);
        let milliseconds = i64::try_from(elapsed.as_millis()).unwrap_or(i64::MAX).max(1);
        let lately = (progress.confirmed - before) * 1_000 / milliseconds;
        // Smoothed, so that the time left does not jump.
        self.rate = if self.rate > 0 { (self.rate * 7 + lately * 3) / 10 } else { lately };
        Some(self.rate)
    }

    fn logs(&mut self) -> bool {
        let due = self.logged.elapsed() >= LOGGED_EVERY;
        if due {
            self.logged = Instant::now();
        }
        due
    }
}
