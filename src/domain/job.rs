//! What is to be done after an approval: when it starts, when it is tried again, and when it has failed.

use super::Instant;
use super::backoff::{Backoff, NotBefore};
use super::history::{ChainHead, Kind, SubjectEntry};
use super::ids::{OrganizationId, RequestId, UserId, Version};
use super::member::Member;
use super::request::{Request, Status, names};
use serde_json::json;
use serde_json::value::RawValue;

names! {
    /// How a request's processing stands.
    JobState {
        /// Nobody has asked for it.
        NotStarted = "not_started",
        /// It will be done: nobody is at it yet, or its last attempt failed and the next one is due later.
        Waiting = "waiting",
        /// Somebody is at it.
        Running = "running",
        /// Done; its result is kept.
        Succeeded = "succeeded",
        /// Given up or cancelled. A person can start it again.
        Failed = "failed",
    }
}

/// The longest text of an error that is kept, in characters.
pub const ERROR_MAX: usize = 2_000;

/// A job as its row says it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Job {
    /// Waiting, succeeded or failed: whether somebody is at it is said by its lease.
    pub state: JobState,
    /// All attempts.
    pub attempts: i32,
    /// Failed attempts since it was last started.
    pub failures: i32,
    /// What went wrong last.
    pub last_error: Option<String>,
}

/// Why a wish about a job was refused. Nothing was changed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum JobRefusal {
    /// There is nothing that this member may see.
    NotFound,
    /// The request, or its job, is not in a state for that.
    InvalidTransition(Box<Request>),
    /// It would start, but there is nobody to ask.
    NotConfigured,
    /// Only administrators cancel.
    Forbidden,
}

/// What a start does.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Start {
    /// It begins, for the first time or again.
    Begin,
    /// Somebody was faster, or it is done.
    Already,
}

/// Judges the start of a job, on locked rows, by somebody who sees the request.
///
/// # Errors
/// The first check that fails: the request's status before the configuration.
pub fn start(request: &Request, job: Option<JobState>, connected: bool) -> Result<Start, JobRefusal> {
    if request.status != Status::Approved {
        return Err(JobRefusal::InvalidTransition(Box::new(request.clone())));
    }
    match job {
        None | Some(JobState::NotStarted | JobState::Failed) if connected => Ok(Start::Begin),
        None | Some(JobState::NotStarted | JobState::Failed) => Err(JobRefusal::NotConfigured),
        Some(JobState::Waiting | JobState::Running | JobState::Succeeded) => Ok(Start::Already),
    }
}

/// Judges the cancellation of a job, on locked rows, by somebody who sees the request.
///
/// # Errors
/// The first check that fails: the job's state before the right.
pub fn cancel(member: &Member, request: &Request, job: Option<JobState>) -> Result<(), JobRefusal> {
    match job {
        Some(JobState::Waiting | JobState::Running) if member.is_admin => Ok(()),
        Some(JobState::Waiting | JobState::Running) => Err(JobRefusal::Forbidden),
        _ => Err(JobRefusal::InvalidTransition(Box::new(request.clone()))),
    }
}

/// What the outside system is told: the approved request.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Order {
    /// Whose.
    pub organization_id: OrganizationId,
    /// Which request.
    pub request_id: RequestId,
    /// Its version since the approval.
    pub version: Version,
    /// Names the content that was approved, in hexadecimal.
    pub content_hash: String,
    /// One line.
    pub title: String,
    /// In the currency's minor unit.
    pub amount: Option<i64>,
    /// An ISO 4217 code.
    pub currency: Option<String>,
    /// Who asked.
    pub applicant_id: UserId,
    /// Who approved.
    pub approved_by: UserId,
    /// When.
    pub approved_at: Instant,
}

impl Order {
    /// The same for every attempt, so that the outside system can tell a repetition from a new order.
    #[must_use]
    pub fn idempotency_key(&self) -> String {
        format!("ringi-job-{}", self.request_id)
    }
}

/// What became of an attempt.
#[derive(Clone, Debug)]
pub enum Outcome {
    /// The outside system answered with this JSON: kept as it came, since a number may be longer than any of ours.
    Succeeded(Box<RawValue>),
    /// It may go better next time.
    Failed(String, Option<NotBefore>),
    /// It will not.
    Refused(String),
    /// This process stops; it is nobody's fault.
    Stopped,
}

/// How often and how patiently a job is tried.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Patience {
    /// So many failed attempts in a row, and it has failed.
    pub max_attempts: u32,
    /// The pauses between them.
    pub backoff: Backoff,
}

/// A job after an attempt.
#[derive(Clone, Debug, PartialEq)]
pub struct Verdict {
    /// How it stands.
    pub job: Job,
    /// When it is due again; `None` when it has ended.
    pub next_try_at: Option<Instant>,
    /// What the attempt says of itself.
    pub error: Option<String>,
    /// What the history says, where it has ended.
    pub action: Option<&'static str>,
}

/// Judges a job after an attempt, which `job` counts already. `at` is the database's clock, read after the lock.
#[must_use]
pub fn judge(job: &Job, outcome: &Outcome, patience: &Patience, at: Instant, jitter: f64) -> Verdict {
    let ended = |state, failures, error: Option<&str>, action| Verdict {
        job: Job { state, failures, last_error: error.map(kept_error), ..job.clone() },
        next_try_at: None,
        error: error.map(kept_error),
        action: Some(action),
    };
    match outcome {
        Outcome::Succeeded(_) => ended(JobState::Succeeded, job.failures, None, "succeed"),
        Outcome::Refused(error) => ended(JobState::Failed, job.failures + 1, Some(error), "fail"),
        Outcome::Stopped => Verdict {
            job: job.clone(),
            next_try_at: Some(at),
            error: Some("the process stopped before an answer came".to_owned()),
            action: None,
        },
        Outcome::Failed(error, not_before) => {
            let failures = job.failures + 1;
            let count = u32::try_from(failures).unwrap_or(u32::MAX);
            if count >= patience.max_attempts {
                let error = format!("given up after {failures} failed attempts; the last one: {error}");
                return ended(JobState::Failed, failures, Some(&error), "fail");
            }
            let error = kept_error(error);
            Verdict {
                job: Job { failures, last_error: Some(error.clone()), ..job.clone() },
                next_try_at: Some(patience.backoff.next_try(count, jitter, *not_before, at)),
                error: Some(error),
                action: None,
            }
        }
    }
}

/// A job that a person took away from whoever is at it.
#[must_use]
pub fn cancelled(job: &Job, by: &Member) -> Job {
    Job { state: JobState::Failed, last_error: Some(format!("cancelled by {}", by.display_name)), ..job.clone() }
}

/// A row of a job's history. `actor` is `None` where Ringi itself did it.
#[must_use]
pub fn entry(
    organization_id: OrganizationId,
    request_id: RequestId,
    actor: Option<&Member>,
    action: &'static str,
    job: &Job,
    head: ChainHead,
) -> SubjectEntry {
    let detail = match &job.last_error {
        Some(error) => json!({ "attempts": job.attempts, "error": error }),
        None => json!({ "attempts": job.attempts }),
    };
    SubjectEntry {
        organization_id,
        kind: Kind::Job,
        subject_id: request_id.to_string(),
        seq: head.seq + 1,
        actor_id: actor.map(|actor| actor.user_id),
        actor_name: actor.map_or_else(|| "Ringi".to_owned(), |actor| actor.display_name.clone()),
        action,
        reason: None,
        detail,
        occurred_at: head.at,
    }
}

/// A text that may hold words from outside, fit to be kept: one line, no more than [`ERROR_MAX`] characters.
#[must_use]
pub fn kept_error(text: &str) -> String {
    let line: String = text.chars().map(|c| if c.is_control() { ' ' } else { c }).take(ERROR_MAX).collect();
    if line.trim().is_empty() { "an error without words".to_owned() } else { line }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::time::Duration;

    const PATIENCE: Patience = Patience {
        max_attempts: 4,
        backoff: Backoff { min_pause: Duration::from_secs(10), max_pause: Duration::from_secs(30) },
    };

    fn job(failures: i32) -> Job {
        Job { state: JobState::Waiting, attempts: failures + 1, failures, last_error: None }
    }

    fn at(second: i64) -> Instant {
        Instant::from_timestamp(1_700_000_000 + second, 0).expect("in range")
    }

    fn next(failures: i32, not_before: Option<NotBefore>, jitter: f64) -> Option<Instant> {
        let failed = Outcome::Failed("500".to_owned(), not_before);
        judge(&job(failures), &failed, &PATIENCE, at(0), jitter).next_try_at
    }

    #[test]
    fn pauses_double_up_to_the_longest_and_are_jittered() {
        assert_eq!([0, 1, 2].map(|failures| next(failures, None, 0.0)), [Some(at(10)), Some(at(20)), Some(at(30))]);
        assert_eq!(next(0, None, 1.0), Some(at(5)));
    }

    #[test]
    fn what_the_outside_system_asks_for_counts_up_to_a_day() {
        let after = |seconds| Some(NotBefore::After(Duration::from_secs(seconds)));
        assert_eq!(next(0, after(100), 0.0), Some(at(100)));
        assert_eq!(next(0, after(1), 0.0), Some(at(10)), "never sooner than our own pause");
        for seconds in [1_000_000, 10_000_000_000_000, u64::MAX] {
            assert_eq!(next(0, after(seconds), 0.0), Some(at(86_400)), "{seconds}");
        }
        assert_eq!(next(0, Some(NotBefore::At(at(77))), 0.0), Some(at(77)));
        assert_eq!(next(0, Some(NotBefore::At(at(-77))), 0.0), Some(at(10)));
    }

    #[test]
    fn too_many_failures_in_a_row_are_the_end() {
        let failed = Outcome::Failed("500".to_owned(), None);
        let verdict = judge(&job(3), &failed, &PATIENCE, at(0), 0.0);
        assert_eq!((verdict.job.state, verdict.next_try_at, verdict.action), (JobState::Failed, None, Some("fail")));
        assert!(verdict.job.last_error.expect("an error").contains("given up after 4"));
    }

    #[test]
    fn a_refusal_ends_it_at_once_and_a_stop_costs_nothing() {
        let verdict = judge(&job(0), &Outcome::Refused("400".to_owned()), &PATIENCE, at(0), 0.0);
        assert_eq!((verdict.job.state, verdict.next_try_at), (JobState::Failed, None));
        let verdict = judge(&job(2), &Outcome::Stopped, &PATIENCE, at(0), 0.0);
        assert_eq!((verdict.job.failures, verdict.next_try_at), (2, Some(at(0))));
    }

    #[test]
    fn errors_from_outside_are_made_fit_to_be_kept() {
        assert_eq!(kept_error("a\0b\nc"), "a b c");
        assert_eq!(kept_error(&"x".repeat(9_999)).chars().count(), ERROR_MAX);
        assert_eq!(kept_error(""), "an error without words");
        let long = "x".repeat(ERROR_MAX);
        for (failures, outcome) in [
            (0, Outcome::Failed(format!("{long}y"), None)),
            (3, Outcome::Failed(long.clone(), None)),
            (0, Outcome::Refused(format!("{long}y"))),
        ] {
            let verdict = judge(&job(failures), &outcome, &PATIENCE, at(0), 0.0);
            for text in [verdict.error, verdict.job.last_error] {
                assert_eq!(text.expect("an error").chars().count(), ERROR_MAX, "{outcome:?}");
            }
        }
    }
}
