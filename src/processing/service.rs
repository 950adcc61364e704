//! What people do about a request's processing: start it, look at it, cancel it.

use super::ProcessingError;
use super::store::{JobEntry, ProcessingReads, ProcessingSession, ProcessingStore, ProcessingView};
use crate::domain::ids::RequestId;
use crate::domain::job::{self, Job, JobRefusal, JobState, Start};
use crate::domain::member::Member;
use crate::domain::request::Request;
use crate::transaction::admission::Admission;
use crate::transaction::idempotency::{Answer, Kept, Reply};
use crate::transaction::{Call, End, Locked, Session, Viewer, claim_key, retrying, settle};
use std::time::Duration;

/// The use cases, on a store for writes and one for reads.
#[derive(Clone, Debug)]
pub struct Processing<S, R> {
    store: S,
    reads: R,
    admission: Admission,
    /// Whether there is an outside system to ask.
    connected: bool,
    /// After how much silence a lease is nobody's, for whoever looks.
    timeout: Duration,
}

/// What a start answers.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Started {
    /// True for the one call that moved the job out of not started or failed.
    pub started: bool,
    /// How it stands.
    pub state: JobState,
    /// All attempts so far.
    pub attempts: i32,
}

/// How a request's processing stands, with what follows from it.
#[derive(Clone, Debug)]
pub struct Processed {
    /// The rows.
    pub view: ProcessingView,
    /// See [`JobState`].
    pub state: JobState,
    /// When another takes over, unless the holder is heard of again.
    pub expires_at: Option<crate::domain::Instant>,
}

impl Processed {
    fn new(mut view: ProcessingView, timeout: Duration) -> Self {
        // A lease without a job that waits is one that is about to be given back.
        let waits = view.job.as_ref().is_some_and(|job| job.state == JobState::Waiting);
        let at = view.at;
        view.lease = view.lease.filter(|lease| waits && !lease.is_silent(timeout, at));
        let state = match &view.job {
            None => JobState::NotStarted,
            Some(_) if view.lease.is_some() => JobState::Running,
            Some(job) => job.state,
        };
        let expires_at = view.lease.as_ref().map(|lease| lease.expires_at(timeout));
        Self { view, state, expires_at }
    }
}

/// Writes the answer for a value, so that it can be kept under the key before the commit.
pub trait Render<T>: Fn(&T) -> Answer + Send + Sync {}
impl<T, F: Fn(&T) -> Answer + Send + Sync> Render<T> for F {}

impl<S: ProcessingStore, R: ProcessingReads> Processing<S, R> {
    /// The use cases, with `admission` in front of the store's connections.
    #[must_use]
    pub const fn new(store: S, reads: R, admission: Admission, connected: bool, timeout: Duration) -> Self {
        Self { store, reads, admission, connected, timeout }
    }

    /// Starts a request's processing, for the first time or again after it has failed. Of those who ask at once one
    /// starts it; the others are told how it stands.
    ///
    /// # Errors
    /// [`ProcessingError`]; nothing was changed.
    pub async fn start(
        &self,
        call: &Call,
        id: RequestId,
        render: &impl Render<Started>,
    ) -> Result<Reply, ProcessingError> {
        let _place = self.admission.enter(call.viewer.organization_id, Some(id)).await?;
        retrying(|| async {
            let mut session = self.store.open().await?;
            let work = self.start_in(&mut session, call, id, render).await;
            settle(session, work).await
        })
        .await
    }

    async fn start_in(
        &self,
        session: &mut S::Session,
        call: &Call,
        id: RequestId,
        render: &impl Render<Started>,
    ) -> Result<End<Reply>, ProcessingError> {
        let (member, request) = match begin(session, call, id).await? {
            Begun::Answered(answer) => return Ok(End::Rollback(Reply::replay(answer))),
            Begun::Locked(locked) => *locked,
        };
        let leased = session.lock_lease(&request).await?;
        let found = session.lock_job(&request).await?;
        let state = found.as_ref().map(|job| job.state);
        let attempts = found.as_ref().map_or(0, |job| job.attempts);
        if job::start(&request, state, self.connected)? == Start::Already {
            let state = if leased && state == Some(JobState::Waiting) {
                JobState::Running
            } else {
                state.unwrap_or(JobState::NotStarted)
            };
            let answer = render(&Started { started: false, state, attempts });
            let Some(kept) = Kept::of(call.key.as_ref(), &answer) else {
                return Ok(End::Rollback(Reply::first(answer)));
            };
            session.keep_answer(kept).await?;
            return Ok(End::Commit(Reply::first(answer)));
        }
        let head = session.lock_job_history(&request).await?;
        let after = Job { state: JobState::Waiting, attempts, failures: 0, last_error: None };
        let entry = job::entry(request.organization_id, id, Some(&member), "start", &after, head);
        let answer = render(&Started { started: true, state: JobState::Waiting, attempts });
        let kept = Kept::of(call.key.as_ref(), &answer);
        session.start_job(&request, &JobEntry::new(entry, head, after.state), kept).await?;
        Ok(End::Commit(Reply::first(answer)))
    }

    /// Cancels a request's processing: whoever is at it loses the lease, learns of it by his next heartbeat, and saves
    /// nothing. For administrators.
    ///
    /// # Errors
    /// [`ProcessingError`]; nothing was changed.
    pub async fn cancel(
        &self,
        call: &Call,
        id: RequestId,
        render: &impl Render<Processed>,
    ) -> Result<Reply, ProcessingError> {
        let _place = self.admission.enter(call.viewer.organization_id, Some(id)).await?;
        retrying(|| async {
            let mut session = self.store.open().await?;
            let work = self.cancel_in(&mut session, call, id, render).await;
            settle(session, work).await
        })
        .await
    }

    async fn cancel_in(
        &self,
        session: &mut S::Session,
        call: &Call,
        id: RequestId,
        render: &impl Render<Processed>,
    ) -> Result<End<Reply>, ProcessingError> {
        let (member, request) = match begin(session, call, id).await? {
            Begun::Answered(answer) => return Ok(End::Rollback(Reply::replay(answer))),
            Begun::Locked(locked) => *locked,
        };
        session.occupy_lease(&request).await?;
        let found = session.lock_job(&request).await?;
        job::cancel(&member, &request, found.as_ref().map(|job| job.state))?;
        let Some(before) = found else { return Err(JobRefusal::NotFound.into()) };
        let head = session.lock_job_history(&request).await?;
        let after = job::cancelled(&before, &member);
        let entry = job::entry(request.organization_id, id, Some(&member), "cancel", &after, head);
        let view =
            ProcessingView { job: Some(after.clone()), next_try_at: None, lease: None, result: None, at: head.at };
        let answer = render(&Processed::new(view, self.timeout));
        let kept = Kept::of(call.key.as_ref(), &answer);
        session.cancel_job(&request, &after, &JobEntry::new(entry, head, after.state), kept).await?;
        Ok(End::Commit(Reply::first(answer)))
    }

    /// How a request's processing stands. For whoever may see the request.
    ///
    /// # Errors
    /// [`ProcessingError`].
    pub async fn get(&self, viewer: Viewer, id: RequestId) -> Result<Processed, ProcessingError> {
        if let Some(view) = self.reads.processing(viewer, id).await? {
            return Ok(Processed::new(view, self.timeout));
        }
        let member = self.reads.is_member(viewer).await?;
        Err(if member { JobRefusal::NotFound.into() } else { ProcessingError::NotAMember })
    }
}

enum Begun {
    /// This call was answered before.
    Answered(Answer),
    Locked(Box<(Locked<Member>, Locked<Request>)>),
}

/// The first locks of both writes: membership, key, and the request, which the member must be able to see.
async fn begin(session: &mut impl ProcessingSession, call: &Call, id: RequestId) -> Result<Begun, ProcessingError> {
    let member = session.lock_actor(call.viewer.organization_id, call.viewer.user_id).await?;
    let member = member.filter(|member| member.is_active).ok_or(ProcessingError::NotAMember)?;
    if let Some(answer) = claim_key(session, call.key.as_ref()).await? {
        return Ok(Begun::Answered(answer));
    }
    let found = session.lock_approved(&member, id).await?;
    let seen = found.filter(|(request, has_acted)| member.may_see(request, *has_acted));
    let (request, _) = seen.ok_or(JobRefusal::NotFound)?;
    Ok(Begun::Locked(Box::new((member, request))))
}
