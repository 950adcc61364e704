//! What goes over the wire out about processing: as [`super::dto`].

use crate::domain::job::JobState;
use crate::domain::rfc3339;
use crate::processing::service::{Processed, Started};
use serde::Serialize;
use serde_json::value::RawValue;
use utoipa::ToSchema;

/// How a request's processing stands.
#[derive(Debug, Serialize, ToSchema)]
#[schema(as = Processing)]
pub(super) struct ProcessingDto {
    #[schema(value_type = JobStateDto)]
    state: &'static str,
    /// How often the outside system was asked, or was about to be.
    #[schema(minimum = 0)]
    attempts: i32,
    /// While it is `running`: who is at it, as host, process and a number. For people only.
    #[schema(required = true)]
    holder: Option<String>,
    /// Since when.
    #[schema(required = true, value_type = Option<String>, format = DateTime)]
    acquired_at: Option<String>,
    /// The holder's last sign of life.
    #[schema(required = true, value_type = Option<String>, format = DateTime)]
    heartbeat_at: Option<String>,
    /// When another process takes over, unless the holder is heard of again.
    #[schema(required = true, value_type = Option<String>, format = DateTime)]
    expires_at: Option<String>,
    /// While it is `waiting`: when it is due.
    #[schema(required = true, value_type = Option<String>, format = DateTime)]
    next_attempt_at: Option<String>,
    /// What went wrong last, since it was last started.
    #[schema(required = true)]
    last_error: Option<String>,
    /// What the outside system answered: any JSON.
    #[schema(required = true, value_type = Option<Value>)]
    result: Option<Box<RawValue>>,
}

/// How a request's processing stands.
#[derive(Debug, Serialize, ToSchema)]
#[schema(as = JobState)]
#[serde(rename_all = "snake_case")]
#[expect(dead_code, reason = "for the document")]
enum JobStateDto {
    /// Nobody has asked for it.
    NotStarted,
    /// It will be done: nobody is at it yet, or its last attempt failed and the next one is due later.
    Waiting,
    /// Somebody is at it.
    Running,
    /// Done; its result is kept.
    Succeeded,
    /// Given up or cancelled. A person can start it again.
    Failed,
}

impl From<&Processed> for ProcessingDto {
    fn from(processed: &Processed) -> Self {
        let Processed { view, state, expires_at } = processed;
        let (job, lease) = (view.job.as_ref(), view.lease.as_ref());
        Self {
            state: state.as_str(),
            attempts: job.map_or(0, |job| job.attempts),
            holder: lease.map(|lease| lease.holder.clone()),
            acquired_at: lease.map(|lease| rfc3339(lease.acquired_at)),
            heartbeat_at: lease.map(|lease| rfc3339(lease.heartbeat_at)),
            expires_at: expires_at.map(rfc3339),
            next_attempt_at: view.next_try_at.filter(|_| *state == JobState::Waiting).map(rfc3339),
            last_error: job.and_then(|job| job.last_error.clone()),
            result: view.result.clone(),
        }
    }
}

/// What a start answers.
#[derive(Debug, Serialize, ToSchema)]
#[schema(as = Started)]
pub(super) struct StartedDto {
    /// True for the one call that moved it out of `not_started` or `failed`.
    started: bool,
    #[schema(value_type = JobStateDto)]
    state: &'static str,
    /// How often the outside system was asked before.
    #[schema(minimum = 0)]
    attempts: i32,
}

impl From<&Started> for StartedDto {
    fn from(started: &Started) -> Self {
        Self { started: started.started, state: started.state.as_str(), attempts: started.attempts }
    }
}
