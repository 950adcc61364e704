//! Events: what programs and pages are told about a change. Written in the transaction of the change.

use super::history::RequestEntry;
use super::rfc3339;
use serde_json::{Value, json};

/// One row of the outbox. Subject and `seq` together say which event it is, the same over all deliveries.
#[derive(Clone, Debug, PartialEq)]
pub struct Event {
    /// `request`, `member`, `closing`, `job` or `webhook`.
    pub subject_kind: &'static str,
    /// Which one.
    pub subject_id: String,
    /// Drawn under the subject's lock; a request's is its version.
    pub seq: i64,
    /// Such as `request.approve`.
    pub event_type: String,
    /// What changed. Ids and statuses; no title, reason or name, which not every receiver may see.
    pub payload: Value,
}

impl Event {
    /// The event of a request's change.
    #[must_use]
    pub fn of_request(entry: &RequestEntry) -> Self {
        Self {
            subject_kind: "request",
            subject_id: entry.request_id.to_string(),
            seq: entry.version,
            event_type: format!("request.{}", entry.action.as_str()),
            payload: json!({
                "organization_id": entry.organization_id,
                "request_id": entry.request_id,
                "seq": entry.version,
                "version": entry.version,
                "action": entry.action.as_str(),
                "status": entry.to_status.as_str(),
                "actor_id": entry.actor_id,
                "content_hash": entry.content_hash.to_string(),
                "occurred_at": rfc3339(entry.occurred_at),
            }),
        }
    }

    /// The event of something that happened to a month.
    #[must_use]
    pub fn of_closing(entry: &super::history::SubjectEntry) -> Self {
        Self {
            subject_kind: "closing",
            subject_id: entry.subject_id.clone(),
            seq: entry.seq,
            event_type: format!("closing.{}", entry.action),
            payload: json!({
                "organization_id": entry.organization_id,
                "period": entry.subject_id,
                "seq": entry.seq,
                "action": entry.action,
                "occurred_at": rfc3339(entry.occurred_at),
            }),
        }
    }

    /// The event of a member's change.
    #[must_use]
    pub fn of_member(entry: &super::history::SubjectEntry) -> Self {
        Self {
            subject_kind: "member",
            subject_id: entry.subject_id.clone(),
            seq: entry.seq,
            event_type: format!("member.{}", entry.action),
            payload: json!({
                "organization_id": entry.organization_id,
                "user_id": entry.subject_id,
                "seq": entry.seq,
                "action": entry.action,
                "occurred_at": rfc3339(entry.occurred_at),
            }),
        }
    }

    /// The event of a job's change; `state` is how it stands since then.
    #[must_use]
    pub fn of_job(entry: &super::history::SubjectEntry, state: super::job::JobState) -> Self {
        Self {
            subject_kind: "job",
            subject_id: entry.subject_id.clone(),
            seq: entry.seq,
            event_type: format!("job.{}", entry.action),
            payload: json!({
                "organization_id": entry.organization_id,
                "request_id": entry.subject_id,
                "seq": entry.seq,
                "action": entry.action,
                "state": state.as_str(),
                "occurred_at": rfc3339(entry.occurred_at),
            }),
        }
    }

    /// The event of a webhook's change; `state` is how it stands since then, null when it is gone.
    #[must_use]
    pub fn of_webhook(entry: &super::history::SubjectEntry, state: Option<super::webhook::EndpointState>) -> Self {
        Self {
            subject_kind: "webhook",
            subject_id: entry.subject_id.clone(),
            seq: entry.seq,
            event_type: format!("webhook.{}", entry.action),
            payload: json!({
                "organization_id": entry.organization_id,
                "webhook_id": entry.subject_id,
                "seq": entry.seq,
                "action": entry.action,
                "state": state.map(super::webhook::EndpointState::as_str),
                "occurred_at": rfc3339(entry.occurred_at),
            }),
        }
    }
}
