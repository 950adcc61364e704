//! What processing needs of a database.

use crate::domain::Instant;
use crate::domain::event::Event;
use crate::domain::history::{ChainHead, Hash, SubjectEntry};
use crate::domain::ids::{OrganizationId, RequestId, UserId};
use crate::domain::job::{Job, JobState, Order, Verdict};
use crate::domain::lease::{Fence, Standing, Target, Ticket};
use crate::domain::member::Member;
use crate::domain::request::Request;
use crate::lease::Grant;
use crate::transaction::idempotency::Kept;
use crate::transaction::{Locked, Session, StoreError, Viewer};
use serde_json::value::RawValue;
use std::future::Future;
use std::time::Duration;

/// Opens sessions for what people do. One session is one Read Committed transaction.
pub trait ProcessingStore: Clone + Send + Sync + 'static {
    /// See [`ProcessingSession`].
    type Session: ProcessingSession;

    /// Begins a transaction on a connection of its own.
    ///
    /// # Errors
    /// [`StoreError::Unavailable`] when no connection is to be had in time.
    fn open(&self) -> impl Future<Output = Result<Self::Session, StoreError>> + Send;
}

/// A row of the history with its hash and its event.
#[derive(Clone, Debug)]
pub struct JobEntry {
    /// The row.
    pub entry: SubjectEntry,
    /// Its hash in its chain.
    pub entry_hash: Hash,
    /// What others are told.
    pub event: Event,
}

impl JobEntry {
    /// Hashes the row, and makes its event; `state` is how the job stands since then.
    #[must_use]
    pub fn new(entry: SubjectEntry, head: ChainHead, state: JobState) -> Self {
        Self { entry_hash: entry.hash(head.hash), event: Event::of_job(&entry, state), entry }
    }
}

/// One open transaction on a job.
pub trait ProcessingSession: Session {
    /// Takes the membership FOR SHARE. Comes first, always.
    ///
    /// # Errors
    /// [`StoreError`], as everywhere below.
    fn lock_actor(
        &mut self,
        organization: OrganizationId,
        user: UserId,
    ) -> impl Future<Output = Result<Option<Locked<Member>>, StoreError>> + Send;

    /// Takes the request FOR UPDATE, and says whether the member has acted on it.
    ///
    /// # Errors
    /// [`StoreError`].
    fn lock_approved(
        &mut self,
        by: &Locked<Member>,
        id: RequestId,
    ) -> impl Future<Output = Result<Option<(Locked<Request>, bool)>, StoreError>> + Send;

    /// Takes the lease's row, whoever's it is. True: there is one.
    ///
    /// # Errors
    /// [`StoreError`].
    fn lock_lease(&mut self, request: &Locked<Request>) -> impl Future<Output = Result<bool, StoreError>> + Send;

    /// Takes the lease's row, making it if there is none, so that none can appear once the job is locked: whoever
    /// claims the job waits, and then finds what was done to it. The holder's token and fence stay as they are.
    ///
    /// # Errors
    /// [`StoreError`].
    fn occupy_lease(&mut self, request: &Locked<Request>) -> impl Future<Output = Result<(), StoreError>> + Send;

    /// Takes the job's row. Comes after the lease's.
    ///
    /// # Errors
    /// [`StoreError`].
    fn lock_job(
        &mut self,
        request: &Locked<Request>,
    ) -> impl Future<Output = Result<Option<Locked<Job>>, StoreError>> + Send;

    /// Takes the head of the job's history, making it if there is none.
    ///
    /// # Errors
    /// [`StoreError`].
    fn lock_job_history(
        &mut self,
        request: &Locked<Request>,
    ) -> impl Future<Output = Result<ChainHead, StoreError>> + Send;

    /// Writes a job that starts, for the first time or again, with its history, and keeps the answer.
    ///
    /// # Errors
    /// [`StoreError`].
    fn start_job(
        &mut self,
        request: &Locked<Request>,
        entry: &JobEntry,
        kept: Option<Kept<'_>>,
    ) -> impl Future<Output = Result<(), StoreError>> + Send;

    /// Writes a job that was cancelled, with its history, takes the lease away from whoever has it, and keeps the
    /// answer.
    ///
    /// # Errors
    /// [`StoreError`].
    fn cancel_job(
        &mut self,
        request: &Locked<Request>,
        after: &Job,
        entry: &JobEntry,
        kept: Option<Kept<'_>>,
    ) -> impl Future<Output = Result<(), StoreError>> + Send;
}

/// How a request's processing stands, for whoever looks.
#[derive(Clone, Debug)]
pub struct ProcessingView {
    /// The job; `None` where nobody has asked for it.
    pub job: Option<Job>,
    /// When it is due again, where it waits.
    pub next_try_at: Option<Instant>,
    /// Who is at it.
    pub lease: Option<Standing>,
    /// What the outside system answered.
    pub result: Option<Box<RawValue>>,
    /// The database's clock.
    pub at: Instant,
}

/// Reads, without locks.
pub trait ProcessingReads: Clone + Send + Sync + 'static {
    /// How a request's processing stands; `None` where the viewer sees no such request.
    ///
    /// # Errors
    /// [`StoreError`], as everywhere below.
    fn processing(
        &self,
        viewer: Viewer,
        id: RequestId,
    ) -> impl Future<Output = Result<Option<ProcessingView>, StoreError>> + Send;

    /// Whether the viewer is an active member.
    ///
    /// # Errors
    /// [`StoreError`].
    fn is_member(&self, viewer: Viewer) -> impl Future<Output = Result<bool, StoreError>> + Send;
}

/// A job that may be done now.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Due {
    /// Whose.
    pub organization_id: OrganizationId,
    /// Which request's.
    pub request_id: RequestId,
}

/// A lease that a claim has taken.
#[derive(Clone, Debug)]
pub struct Claimed {
    /// On what.
    pub target: Target,
    /// The lease.
    pub grant: Grant,
    /// What is to be done; `None` where the work was done or taken away while the lease was waited for.
    pub work: Option<Work>,
}

/// An attempt that has been written down.
#[derive(Clone, Debug)]
pub struct Work {
    /// Its number, from 1.
    pub attempt: i32,
    /// What the outside system is told.
    pub order: Order,
}

/// How many jobs there are, and for how long the oldest of each kind has been so.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Backlog {
    /// State, number, and age of the oldest in seconds.
    pub states: Vec<(JobState, u32, f64)>,
}

/// The queue that a worker works off.
pub trait JobQueue: Clone + Send + Sync + 'static {
    /// See [`SaveSession`].
    type Session: SaveSession;

    /// Jobs of all organizations that are due and that nobody has been at for `timeout`, the longest due first.
    ///
    /// # Errors
    /// [`StoreError`], as everywhere below.
    fn due(&self, timeout: Duration, limit: i64) -> impl Future<Output = Result<Vec<Due>, StoreError>> + Send;

    /// How long until the next job that waits is due, and its holder's silence, where it has one, is long enough. Zero:
    /// one is due by now; `None`: not foreseeable.
    ///
    /// # Errors
    /// [`StoreError`].
    fn next_due(&self, timeout: Duration) -> impl Future<Output = Result<Option<Duration>, StoreError>> + Send;

    /// Gives back the leases of silent holders on jobs that do not wait: nobody will take those over.
    ///
    /// # Errors
    /// [`StoreError`].
    fn drop_stray(&self, timeout: Duration) -> impl Future<Output = Result<u64, StoreError>> + Send;

    /// Takes the leases of these jobs of one organization, but those whose rows somebody has locked, and writes down the attempt at each that is still wanted.
    ///
    /// # Errors
    /// [`StoreError`].
    fn claim(
        &self,
        organization: OrganizationId,
        requests: &[RequestId],
        holder: &str,
        timeout: Duration,
    ) -> impl Future<Output = Result<Vec<Claimed>, StoreError>> + Send;

    /// Begins the transaction of a save, with short limits.
    ///
    /// # Errors
    /// [`StoreError`].
    fn open_save(&self) -> impl Future<Output = Result<Self::Session, StoreError>> + Send;

    /// Whether the attempt of this fence has been completed: what to ask after COMMIT's answer was lost.
    ///
    /// # Errors
    /// [`StoreError`].
    fn is_saved(&self, due: Due, fence: Fence) -> impl Future<Output = Result<bool, StoreError>> + Send;

    /// How much there is to do, over all organizations.
    ///
    /// # Errors
    /// [`StoreError`].
    fn backlog(&self, timeout: Duration) -> impl Future<Output = Result<Backlog, StoreError>> + Send;
}

/// A job with its lease and the head of its history, all three locked.
#[derive(Debug)]
pub struct LockedWork {
    /// The job.
    pub job: Job,
    /// The head of its history.
    pub head: ChainHead,
    /// The database's clock, after the locks.
    pub at: Instant,
}

/// The transaction of a save.
pub trait SaveSession: Session {
    /// Takes the lease by target and token, the job, and the head of its history, in this order. `None`: the lease is
    /// another's, and nothing may be written.
    ///
    /// # Errors
    /// [`StoreError`], as everywhere below.
    fn lock_work(
        &mut self,
        ticket: &Ticket,
        due: Due,
    ) -> impl Future<Output = Result<Option<LockedWork>, StoreError>> + Send;

    /// Writes what became of an attempt: the job, the attempt, the result where there is one, the history where it has
    /// ended; and gives the lease back.
    ///
    /// # Errors
    /// [`StoreError`].
    fn finish(&mut self, done: &Finished<'_>) -> impl Future<Output = Result<(), StoreError>> + Send;
}

/// What [`SaveSession::finish`] writes.
#[derive(Debug)]
pub struct Finished<'a> {
    /// The lease.
    pub ticket: &'a Ticket,
    /// Its fence.
    pub fence: Fence,
    /// Which job.
    pub due: Due,
    /// Which attempt.
    pub attempt: i32,
    /// How the job stands now.
    pub verdict: &'a Verdict,
    /// What the outside system answered.
    pub result: Option<&'a RawValue>,
    /// The history's row, where it has ended.
    pub entry: Option<&'a JobEntry>,
    /// The database's clock, after the locks.
    pub at: Instant,
}
