//! Who begins to close a month, who is told how far it is, and who moves a row that stands in the way.

use super::ClosingError;
use super::charges::{administrator, begin};
use super::run::{Actor, Ended, Run, RunSettings};
use super::run_store::{RunReads, RunSession, RunStore};
use super::store::ClosingReads;
use super::view::{BLOCKED_SHOWN, ClosingView, Month, Progress};
use crate::domain::charge::{ClosingRefusal, ClosingState, check_exclusion};
use crate::domain::event::Event;
use crate::domain::ids::{ChargeId, OrganizationId};
use crate::domain::lease::{Target, TargetKind};
use crate::domain::period::Period;
use crate::lease::{Acquired, Hold, Lease, LeaseStore, Leases};
use crate::transaction::admission::Admission;
use crate::transaction::idempotency::{Answer, Kept, Reply};
use crate::transaction::{Call, End, StoreError, UseCaseError, Viewer, retrying, settle};
use serde_json::json;
use std::time::{Duration, Instant};
use tokio::sync::watch;
use tokio_util::sync::CancellationToken;

/// How many interrupted runs are looked for at once.
const RESUMED_AT_ONCE: i64 = 16;
/// For how long a start by a call is tried again while somebody holds a lock that it needs.
const STARTED_WITHIN: Duration = Duration::from_secs(2);
/// How long it waits between two tries, about.
const START_PAUSE: Duration = Duration::from_millis(100);

/// The use cases on closings: a store for the run, one for reads, and the leases of this process.
#[derive(Clone, Debug)]
pub struct Closer<S, R, L> {
    store: S,
    reads: R,
    leases: Leases<L>,
    admission: Admission,
    settings: RunSettings,
    stop: CancellationToken,
}

/// A month that is begun to be closed, with the right to go on.
#[derive(Debug)]
pub struct Begun {
    lease: Lease,
    organization_id: OrganizationId,
    period: Period,
    actor: Actor,
}

/// What came of asking for a month to be closed, without anybody who is told by HTTP.
#[derive(Debug)]
pub enum Asked {
    /// It is this process's to do.
    Begun(Begun),
    /// It is closed.
    Closed,
    /// Somebody else is at it, or was faster.
    Busy,
    /// It has not ended yet.
    NotOver,
    /// There is no such organization.
    Unknown,
}

/// Writes the answer of a start: the view, and whether a run was started.
pub trait RenderStart: Fn(&ClosingView, bool) -> Answer + Send + Sync {}
impl<F: Fn(&ClosingView, bool) -> Answer + Send + Sync> RenderStart for F {}

/// Writes the answer for a closing.
pub trait RenderClosing: Fn(&ClosingView) -> Answer + Send + Sync {}
impl<F: Fn(&ClosingView) -> Answer + Send + Sync> RenderClosing for F {}

impl<S: RunStore, R: RunReads + ClosingReads, L: LeaseStore> Closer<S, R, L> {
    /// The use cases. Runs under way end soon after `stop` is cancelled, and can be gone on with by anybody.
    #[must_use]
    pub const fn new(
        store: S,
        reads: R,
        leases: Leases<L>,
        admission: Admission,
        settings: RunSettings,
        stop: CancellationToken,
    ) -> Self {
        Self { store, reads, leases, admission, settings, stop }
    }

    /// How far a month is. For administrators.
    ///
    /// # Errors
    /// [`ClosingError`].
    pub async fn look(&self, viewer: Viewer, period: Period) -> Result<ClosingView, ClosingError> {
        administrator(&self.reads, viewer).await?;
        self.view(viewer.organization_id, period).await?.ok_or(ClosingError::NotAMember)
    }

    /// How far a month is, for whoever runs this program. `None`: there is no such organization.
    ///
    /// # Errors
    /// [`StoreError`].
    pub async fn view(&self, organization: OrganizationId, period: Period) -> Result<Option<ClosingView>, StoreError> {
        let Some(mut view) = self.reads.closing(organization, period, self.leases.timing().timeout).await? else {
            return Ok(None);
        };
        if view.blocked_count > 0 {
            view.blocked = self.reads.blocked_rows(organization, period, BLOCKED_SHOWN).await?;
        }
        Ok(Some(view))
    }

    /// Begins to close a month, or goes on with it. The second value is the run to be done, unless somebody else is at it
    /// or the month is closed. For administrators.
    ///
    /// # Errors
    /// [`ClosingError`]; nothing was changed.
    pub async fn start(
        &self,
        call: &Call,
        period: Period,
        render: &impl RenderStart,
    ) -> Result<(Reply, Option<Begun>), ClosingError> {
        let organization = call.viewer.organization_id;
        // Looked at before the lease is taken, and judged again on locked rows.
        let view = self.look(call.viewer, period).await?;
        if !view.is_over {
            return Err(ClosingRefusal::PeriodNotOver(period).into());
        }
        let _place = self.admission.enter(organization, None).await?;
        let lease = if view.state == ClosingState::Closed { None } else { self.acquire(organization, period).await? };
        // Who is at it may have begun since.
        let view = if lease.is_none() { self.look(call.viewer, period).await? } else { view };
        match (self.try_start(call, &view, lease.as_ref(), render).await, lease) {
            (Ok((reply, Started::Begun(actor))), Some(lease)) => {
                Ok((reply, Some(Begun { lease, organization_id: organization, period, actor })))
            }
            (done, lease) => {
                if let Some(lease) = lease {
                    self.give_back(lease).await;
                }
                let (reply, started) = done?;
                if !matches!(started, Started::Lost) {
                    return Ok((reply, None));
                }
                // Whoever has taken over is told of.
                let view = self.look(call.viewer, period).await?;
                self.try_start(call, &view, None, render).await.map(|(reply, _)| (reply, None))
            }
        }
    }

    async fn try_start(
        &self,
        call: &Call,
        view: &ClosingView,
        lease: Option<&Lease>,
        render: &impl RenderStart,
    ) -> Result<(Reply, Started), ClosingError> {
        let begun = Instant::now();
        self.insisting(
            |error| matches!(error, StoreError::LockTimeout) && begun.elapsed() < STARTED_WITHIN,
            || async {
                let mut session = self.store.open_lasting().await?;
                let work = self.start_in(&mut session, call, view, lease, render).await;
                settle(session, work).await
            },
        )
        .await
    }

    /// Tries a start again for as long as `passes` says so of what it failed by, with pauses in which those who wait behind
    /// it go first.
    async fn insisting<T, F>(
        &self,
        passes: impl Fn(&StoreError) -> bool + Send + Sync,
        attempt: impl Fn() -> F + Send + Sync,
    ) -> Result<T, ClosingError>
    where
        F: Future<Output = Result<T, ClosingError>> + Send,
    {
        loop {
            match retrying(&attempt).await {
                Err(UseCaseError::Store(error)) if passes(&error) && !self.stop.is_cancelled() => {
                    // Jittered, so that those who begin months together do not meet again.
                    tokio::time::sleep(START_PAUSE.mul_f64(0.5 + fastrand::f64())).await;
                }
                done => return done,
            }
        }
    }

    async fn start_in(
        &self,
        session: &mut S::Session,
        call: &Call,
        view: &ClosingView,
        lease: Option<&Lease>,
        render: &impl RenderStart,
    ) -> Result<End<(Reply, Started)>, ClosingError> {
        let (member, answered) = begin(session, call).await?;
        if let Some(answer) = answered {
            return Ok(End::Rollback((Reply::replay(answer), Started::Told)));
        }
        let mut view = view.clone();
        let mut started = Started::Told;
        if let Some(lease) = lease {
            let actor = Actor::member(&member);
            match begin_month(session, lease, view.period, &actor, &mut view).await? {
                Beginning::Begun => {
                    view.state = ClosingState::Running;
                    view.holder = Some(self.leases.holder().to_owned());
                    view.heartbeat_at = Some(lease.acquired_at());
                    view.finished_at = None;
                    started = Started::Begun(actor);
                }
                Beginning::Closed => {}
                Beginning::Lost => return Ok(End::Rollback((Reply::first(render(&view, false)), Started::Lost))),
            }
        }
        let has_begun = matches!(started, Started::Begun(_));
        let answer = render(&view, has_begun);
        match Kept::of(call.key.as_ref(), &answer) {
            Some(kept) => crate::transaction::Session::keep_answer(session, kept).await?,
            None if !has_begun => return Ok(End::Rollback((Reply::first(answer), started))),
            None => {}
        }
        Ok(End::Commit((Reply::first(answer), started)))
    }

    /// Asks for a month to be closed without a call. What passes by itself, such as a held lock or a connection that was
    /// cut, is waited out for as long as the lease lives.
    ///
    /// # Errors
    /// [`StoreError`]; nothing was changed, or it is not known.
    pub async fn ask(&self, organization: OrganizationId, period: Period, actor: Actor) -> Result<Asked, StoreError> {
        let Some(view) = self.view(organization, period).await? else { return Ok(Asked::Unknown) };
        if view.state == ClosingState::Closed {
            return Ok(Asked::Closed);
        }
        if !view.is_over {
            return Ok(Asked::NotOver);
        }
        let Some(lease) = self.acquire(organization, period).await? else { return Ok(Asked::Busy) };
        let begun = self.insisting(
            |error| error.passes() && !lease.lost().is_cancelled(),
            || async {
                let mut session = self.store.open_lasting().await?;
                let work = begin_month(&mut session, &lease, period, &actor, &mut view.clone()).await;
                let work = work.map(|begun| match begun {
                    Beginning::Lost => End::Rollback(begun),
                    _ => End::Commit(begun),
                });
                settle(session, work.map_err(UseCaseError::from)).await
            },
        );
        match begun.await {
            Ok(Beginning::Begun) => Ok(Asked::Begun(Begun { lease, organization_id: organization, period, actor })),
            done => {
                let is_lost = lease.lost().is_cancelled();
                self.give_back(lease).await;
                match done {
                    Ok(Beginning::Lost) => Ok(Asked::Busy),
                    // The last error before the loss was that of a connection which the database had cut, perhaps, while this
                    // process was frozen: what counts is that the month is somebody else's to close.
                    Err(UseCaseError::Store(error)) if error.passes() && is_lost => Ok(Asked::Busy),
                    Err(UseCaseError::Store(error)) => Err(error),
                    Err(error) => Err(StoreError::Internal(error.into())),
                    Ok(Beginning::Begun | Beginning::Closed) => Ok(Asked::Closed),
                }
            }
        }
    }

    /// The last month that has ended in an organization's time zone. `None`: there is no such organization.
    ///
    /// # Errors
    /// [`StoreError`].
    pub async fn last_month(&self, organization: OrganizationId) -> Result<Option<Period>, StoreError> {
        Ok(self.reads.present_month(organization).await?.and_then(Period::previous))
    }

    /// What a closed month sums to. `None`: it is not closed.
    ///
    /// # Errors
    /// [`StoreError`].
    pub async fn closed_month(
        &self,
        organization: OrganizationId,
        period: Period,
    ) -> Result<Option<Month>, StoreError> {
        self.reads.closed_month(organization, period).await
    }

    /// Runs what was begun, and tells how far it is.
    ///
    /// # Errors
    /// [`StoreError`]: a fault of ours; what was confirmed stays.
    pub async fn run(&self, begun: Begun, progress: watch::Sender<Progress>) -> Result<Ended, StoreError> {
        let Begun { lease, organization_id, period, actor } = begun;
        let (settings, stop) = (self.settings, self.stop.clone());
        let run = Run { store: &self.store, settings, lease, organization_id, period, actor, stop, progress };
        let ended = run.run().await;
        if !matches!(ended, Ok(Ended::Closed | Ended::Blocked(_))) {
            // Given back, so that nobody has to wait for the timeout.
            self.give_back(run.lease).await;
        }
        ended
    }

    /// Goes on with runs that were interrupted, one after the other. Says how many it was.
    ///
    /// # Errors
    /// [`StoreError`].
    pub async fn resume(&self) -> Result<usize, StoreError> {
        let found = self.reads.interrupted(self.leases.timing().timeout, RESUMED_AT_ONCE).await?;
        let mut resumed = 0;
        for (organization_id, period) in found {
            if self.stop.is_cancelled() {
                break;
            }
            match self.resume_one(organization_id, period).await {
                Ok(done) => resumed += usize::from(done),
                // Of this month only: the others are gone on with.
                Err(error) => {
                    tracing::warn!(%organization_id, %period, %error, "closing: an interrupted run could not be gone on with");
                }
            }
        }
        Ok(resumed)
    }

    async fn resume_one(&self, organization: OrganizationId, period: Period) -> Result<bool, StoreError> {
        // Since it was found, somebody may have gone on with it, to its end or to rows that are blocked.
        let view = self.view(organization, period).await?;
        if !view.is_some_and(|view| view.state == ClosingState::Running && view.holder.is_none()) {
            return Ok(false);
        }
        let Asked::Begun(begun) = self.ask(organization, period, Actor::process()).await? else { return Ok(false) };
        tracing::info!(organization_id = %organization, %period, "closing: going on with an interrupted run");
        self.run(begun, watch::Sender::new(Progress::default())).await?;
        Ok(true)
    }

    /// Moves a blocked charge into the next open month, with a reason. For administrators.
    ///
    /// # Errors
    /// [`ClosingError`]; nothing was changed.
    pub async fn exclude(
        &self,
        call: &Call,
        period: Period,
        id: ChargeId,
        reason: Option<&str>,
        render: &impl RenderClosing,
    ) -> Result<Reply, ClosingError> {
        let view = self.look(call.viewer, period).await?;
        let _place = self.admission.enter(call.viewer.organization_id, None).await?;
        retrying(|| async {
            let mut session = RunStore::open_call(&self.store).await?;
            let work = exclude_in(&mut session, call, &view, id, reason, render).await;
            settle(session, work).await
        })
        .await
    }

    async fn acquire(&self, organization: OrganizationId, period: Period) -> Result<Option<Lease>, StoreError> {
        let target = Target::of(organization, TargetKind::Closing, period);
        Ok(match self.leases.acquire(&target).await? {
            Acquired::Held(lease) => Some(lease),
            Acquired::Busy(_) => None,
        })
    }

    async fn give_back(&self, lease: Lease) {
        if let Err(error) = self.leases.release(lease).await {
            tracing::warn!(%error, "a lease was not given back, and is free after the timeout");
        }
    }
}

/// What came of a start.
enum Started {
    /// A run is to be done, for this actor.
    Begun(Actor),
    /// The answer says how it stands.
    Told,
    /// Somebody took the lease over.
    Lost,
}

/// What came of beginning a month.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Beginning {
    /// It is closing, and this process's to do.
    Begun,
    /// It is closed.
    Closed,
    /// The lease is somebody else's, and nothing may be written.
    Lost,
}

/// Makes sure that the month is closing and that no earlier end stands there.
async fn begin_month<S: RunSession>(
    session: &mut S,
    lease: &Lease,
    period: Period,
    actor: &Actor,
    view: &mut ClosingView,
) -> Result<Beginning, StoreError> {
    let organization = lease.ticket().target.organization_id;
    let (begun, row) = session.begin_period(organization, period).await?;
    if row.is_closed {
        view.state = ClosingState::Closed;
        return Ok(Beginning::Closed);
    }
    // After the month's row, as at a run's end; and who waited for the fence may have been taken for dead.
    if session.hold_lease(lease.ticket(), Hold::Shared).await?.is_none() {
        return Ok(Beginning::Lost);
    }
    if row.is_blocked {
        session.mark_blocked(organization, period, None).await?;
    }
    if begun {
        view.started_at = Some(row.at());
        let head = session.lock_closing_head(organization, &period.to_string()).await?;
        let entry = actor.entry(organization, period, "start", json!({}), head);
        session.append_closing(&entry, entry.hash(head.hash), Some(&Event::of_closing(&entry)), None).await?;
    }
    Ok(Beginning::Begun)
}

async fn exclude_in<S: RunSession>(
    session: &mut S,
    call: &Call,
    view: &ClosingView,
    id: ChargeId,
    reason: Option<&str>,
    render: &impl RenderClosing,
) -> Result<End<Reply>, ClosingError> {
    let (member, answered) = begin(session, call).await?;
    if let Some(answer) = answered {
        return Ok(End::Rollback(Reply::replay(answer)));
    }
    let (organization, period) = (member.organization_id, view.period);
    let to = session.exclude(organization, period, id).await?.ok_or(ClosingRefusal::NotBlocked)?;
    check_exclusion(reason)?;
    let head = session.lock_closing_head(organization, &period.to_string()).await?;
    let detail = json!({"charge_id": id, "to": to.to_string()});
    let mut entry = Actor::member(&member).entry(organization, period, "exclude", detail, head);
    entry.reason = reason.map(str::to_owned);
    let mut view = view.clone();
    view.blocked.retain(|row| row.charge_id != id);
    view.blocked_count -= 1;
    view.total -= 1;
    let answer = render(&view);
    let kept = Kept::of(call.key.as_ref(), &answer);
    session.append_closing(&entry, entry.hash(head.hash), Some(&Event::of_closing(&entry)), kept).await?;
    Ok(End::Commit(Reply::first(answer)))
}
