//! What an inspector may ask for, and what he is shown.

use crate::domain::history::{Hash, Kind};
use crate::domain::ids::{RequestId, UserId, Version};
use crate::domain::{Instant, rfc3339};
use crate::transaction::Viewer;
use serde_json::{Value, json};
use uuid::Uuid;

/// Which rows of the history.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Filters {
    /// Only this request's.
    pub request_id: Option<RequestId>,
    /// Only what this person did.
    pub actor_id: Option<UserId>,
    /// Only this action: one of [`Kind::actions`].
    pub action: Option<&'static str>,
    /// Only this kind.
    pub kind: Option<Kind>,
    /// Only what occurred at this instant or later.
    pub from: Option<Instant>,
}

/// The filters with the end that was fixed when the walk began.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Selection {
    /// See [`Filters`].
    pub filters: Filters,
    /// Only what occurred before this instant. Never later than the walk's own beginning, so that no walk meets its
    /// own trace.
    pub to: Instant,
}

impl Filters {
    /// As an object, null where there is no filter.
    #[must_use]
    pub fn to_json(&self) -> Value {
        json!({
            "request_id": self.request_id,
            "actor_id": self.actor_id,
            "action": self.action,
            "kind": self.kind.map(Kind::as_str),
            "from": self.from.map(rfc3339),
        })
    }
}

/// A row of the list: of a request's history, or of the other one.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Row {
    /// What it is of.
    pub kind: Kind,
    /// Which one: a request's id, or the other subject's.
    pub subject: String,
    /// Its number in its chain.
    pub version: Version,
    /// `None`: the command line.
    pub actor_id: Option<UserId>,
    /// As of then.
    pub actor_name: String,
    /// What was done.
    pub action: String,
    /// A request's status before.
    pub from_status: Option<String>,
    /// A request's status after.
    pub to_status: Option<String>,
    /// Why, where a reason was given.
    pub reason: Option<String>,
    /// The content of a request that was judged.
    pub content_hash: Option<Hash>,
    /// What changed, of the other kinds.
    pub detail: Option<Value>,
    /// When.
    pub occurred_at: Instant,
}

/// A place in the list's order, which is total and never changes: by time, then by kind, subject and number.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RowPlace {
    /// When.
    pub at: Instant,
    /// `None`: before all rows of that instant.
    pub kind: Option<Kind>,
    /// Which subject.
    pub subject: String,
    /// Which of its rows.
    pub version: Version,
}

impl RowPlace {
    /// Before all rows of `at`.
    #[must_use]
    pub const fn before(at: Instant) -> Self {
        Self { at, kind: None, subject: String::new(), version: 0 }
    }

    /// Where `row` stands.
    #[must_use]
    pub fn of(row: &Row) -> Self {
        Self { at: row.occurred_at, kind: Some(row.kind), subject: row.subject.clone(), version: row.version }
    }
}

/// Where a walk goes on.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct WalkPlace {
    /// Names the walk, and finds its record.
    pub walk: Uuid,
    /// The end that was fixed at its beginning.
    pub to: Instant,
    /// The last row that was shown.
    pub after: RowPlace,
}

/// How the rows are written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Format {
    /// Pages of a list.
    Json,
    /// One stream.
    Csv,
    /// One stream, an object a line.
    Ndjson,
}

impl Format {
    /// The name in the record.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Json => "json",
            Self::Csv => "csv",
            Self::Ndjson => "ndjson",
        }
    }
}

/// Somebody's walk through the history or export of it, to be recorded in it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Access {
    /// Who looked, and where.
    pub viewer: Viewer,
    /// Names the walk: it is recorded once.
    pub walk: Uuid,
    /// What he was shown it as.
    pub format: Format,
    /// What he asked for.
    pub selection: Selection,
    /// How many rows he got: of a walk, those of its first page.
    pub rows: u64,
    /// Whether those were all.
    pub complete: bool,
}

impl Access {
    /// The record's action: one of [`Kind::actions`].
    #[must_use]
    pub const fn action(&self) -> &'static str {
        match self.format {
            Format::Json => "walk",
            Format::Csv | Format::Ndjson => "export",
        }
    }

    /// The record's detail.
    #[must_use]
    pub fn detail(&self) -> Value {
        json!({
            "walk": self.walk,
            "format": self.format.as_str(),
            "filters": self.selection.filters.to_json(),
            "to": rfc3339(self.selection.to),
            "rows": self.rows,
            "complete": self.complete,
        })
    }

    /// True when `recorded` is the record of a walk through the same rows.
    #[must_use]
    pub fn goes_on(&self, recorded: &Value) -> bool {
        let own = self.detail();
        ["walk", "format", "filters", "to"].iter().all(|name| own.get(name) == recorded.get(name))
    }
}
