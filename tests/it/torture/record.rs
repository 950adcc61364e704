//! What people asked for and what they were told: all that the audit knows besides the database.

use super::months::{Charged, MonthLook};
use super::roles::RoleChange;
use serde_json::Value;
use std::sync::Mutex;
use std::time::Instant;
use uuid::Uuid;

/// Somebody. The secret of who he is lies in the token.
#[derive(Clone, Debug)]
pub(super) struct Who {
    pub(super) id: Uuid,
    pub(super) name: String,
    pub(super) token: String,
    pub(super) can_approve: bool,
}

/// A write that somebody asked for, under one key, until there was a definite answer.
#[derive(Clone, Debug)]
pub(super) struct Call {
    pub(super) by: Uuid,
    pub(super) key: String,
    /// As the history calls it.
    pub(super) action: &'static str,
    /// `None` for a create.
    pub(super) request: Option<Uuid>,
    /// The version that was sent; 0 for a create.
    pub(super) seen: i64,
    /// Stands in the title or the reason, and nowhere else.
    pub(super) tag: String,
    pub(super) put: bool,
    pub(super) path: String,
    pub(super) body: Value,
    pub(super) attempts: Vec<Attempt>,
}

#[derive(Clone, Debug)]
pub(super) struct Attempt {
    pub(super) began: Instant,
    pub(super) ended: Instant,
    /// Nothing when the connection was lost.
    pub(super) answer: Option<Told>,
}

/// An answer.
#[derive(Clone, Debug)]
pub(super) struct Told {
    pub(super) status: u16,
    pub(super) replayed: bool,
    pub(super) text: String,
    pub(super) body: Value,
}

impl Told {
    pub(super) fn code(&self) -> &str {
        self.body["code"].as_str().unwrap_or_default()
    }

    pub(super) fn is_success(&self) -> bool {
        (200..300).contains(&self.status)
    }

    /// Whether the caller now knows what became of the call. Who is no member for a while is not told what became of what
    /// he asked for before, and asks again when he is one.
    pub(super) fn is_definite(&self) -> bool {
        !matches!(
            (self.status, self.code()),
            (503, "busy" | "outcome_unknown") | (409, "idempotency_in_progress") | (403, "not_a_member")
        )
    }

    /// The version and the status that it tells of: those after the call, or those that stood against it.
    pub(super) fn version_and_status(&self) -> Option<(i64, &str)> {
        let of = |value: &'_ Value| value["version"].as_i64().is_some() && value["status"].as_str().is_some();
        let place = if self.is_success() { &self.body } else { &self.body["current"] };
        if !of(place) {
            return None;
        }
        Some((place["version"].as_i64()?, place["status"].as_str()?))
    }
}

impl Call {
    /// The first definite answer.
    pub(super) fn told(&self) -> Option<&Told> {
        self.attempts.iter().filter_map(|attempt| attempt.answer.as_ref()).find(|told| told.is_definite())
    }

    pub(super) fn succeeded(&self) -> bool {
        self.told().is_some_and(Told::is_success)
    }
}

/// Somebody looked, and saw this.
#[derive(Clone, Debug)]
pub(super) struct Look {
    pub(super) request: Uuid,
    pub(super) began: Instant,
    pub(super) ended: Instant,
    pub(super) version: i64,
    pub(super) status: String,
}

#[derive(Clone, Debug, Default)]
pub(super) struct Entries {
    pub(super) people: Vec<Who>,
    pub(super) calls: Vec<Call>,
    pub(super) looks: Vec<Look>,
    pub(super) roles: Vec<RoleChange>,
    pub(super) months: Vec<MonthLook>,
    pub(super) charges: Vec<Charged>,
    /// What no client may ever be told, whoever asked.
    pub(super) faults: Vec<String>,
}

/// The whole record, shared by all people.
#[derive(Debug, Default)]
pub(super) struct Record(Mutex<Entries>);

impl Record {
    pub(super) fn with<T>(&self, f: impl FnOnce(&mut Entries) -> T) -> T {
        f(&mut self.0.lock().unwrap())
    }

    pub(super) fn entries(&self) -> Entries {
        self.with(|entries| entries.clone())
    }
}
