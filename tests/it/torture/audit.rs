//! The proof afterwards: from the record of the calls and from SQL, by rules of its own.

use super::record::{Call, Entries, Told};
use super::{chain, events, jobs, months, roles};
use crate::harness;
use sqlx::{AssertSqlSafe, FromRow, PgConnection};
use std::collections::{HashMap, HashSet};
use std::time::Instant;
use uuid::Uuid;

pub(super) const COUNT: &str = "as many history rows as the version says, without gaps";
pub(super) const TABLE: &str = "only transitions of the table, each from where the last one ended";
pub(super) const EVENTS: &str = "every history row has its event, and every event its row";
pub(super) const PROMISED: &str = "every 2xx is in the history, once, as it was answered";
pub(super) const REFUSED: &str = "a refused call had no effect";
pub(super) const RIGHTS: &str = "nobody decides on his own request, and only who may does anything";
pub(super) const WINNER: &str = "a version has one winner";
pub(super) const CHAIN: &str = "the hash chain is whole";
pub(super) const SAME: &str = "the same key gives the same answer";
pub(super) const ASKED: &str = "nothing happened that nobody asked for";
pub(super) const BACK: &str = "nobody looks back in time";
pub(super) const FAULT: &str = "no answer is a fault of the server's";
pub(super) const KEYS: &str = "a key is kept with its effect, and only then";

/// A rule that does not hold, and where.
#[derive(Debug)]
pub(super) struct Broken {
    pub(super) rule: &'static str,
    pub(super) what: String,
}

impl Broken {
    pub(super) fn new(rule: &'static str, what: String) -> Self {
        Self { rule, what }
    }
}

#[derive(Debug, FromRow)]
struct Request {
    id: Uuid,
    applicant_id: Uuid,
    status: String,
    version: i64,
    content_hash: Vec<u8>,
}

#[derive(Debug, FromRow)]
struct Row {
    request_id: Uuid,
    version: i64,
    actor_id: Uuid,
    action: String,
    from_status: Option<String>,
    to_status: String,
    reason: Option<String>,
    content_hash: Vec<u8>,
    /// Of the content that this version wrote.
    title: Option<String>,
}

#[derive(Debug, FromRow)]
struct Event {
    subject_id: String,
    seq: i64,
    #[sqlx(rename = "event_type")]
    kind: String,
    payload: serde_json::Value,
}

/// The state machine, as the contract says it.
const TRANSITIONS: [(&str, &str, &str); 11] = [
    ("", "create", "draft"),
    ("draft", "edit", "draft"),
    ("returned", "edit", "returned"),
    ("draft", "submit", "pending"),
    ("returned", "submit", "pending"),
    ("pending", "approve", "approved"),
    ("pending", "reject", "rejected"),
    ("pending", "send_back", "returned"),
    ("draft", "withdraw", "withdrawn"),
    ("returned", "withdraw", "withdrawn"),
    ("pending", "withdraw", "withdrawn"),
];

struct Audit<'a> {
    entries: &'a Entries,
    requests: HashMap<Uuid, Request>,
    /// Of each request, by version.
    history: HashMap<Uuid, Vec<Row>>,
    broken: Vec<Broken>,
}

/// All rules that do not hold.
pub(super) async fn audit(entries: &Entries, db: &mut PgConnection) -> Vec<Broken> {
    let requests: Vec<Request> =
        sqlx::query_as("SELECT id, applicant_id, status, version, content_hash FROM approval_request")
            .fetch_all(&mut *db)
            .await
            .unwrap();
    let rows: Vec<Row> = sqlx::query_as(
        "SELECT h.request_id, h.version, h.actor_id, h.action, h.from_status, h.to_status, h.reason, h.content_hash, v.title
         FROM approval_history h LEFT JOIN approval_version v
           ON (v.organization_id, v.request_id, v.version) = (h.organization_id, h.request_id, h.version)
         ORDER BY h.request_id, h.version",
    )
    .fetch_all(&mut *db)
    .await
    .unwrap();
    let events: Vec<Event> =
        sqlx::query_as(AssertSqlSafe(format!("SELECT * FROM {} e WHERE subject_kind = 'request'", harness::EVENTS)))
            .fetch_all(&mut *db)
            .await
            .unwrap();
    let keys: Vec<(Uuid, String)> =
        sqlx::query_as("SELECT user_id, key FROM idempotency_key").fetch_all(&mut *db).await.unwrap();
    let mut history: HashMap<Uuid, Vec<Row>> = HashMap::new();
    for row in rows {
        history.entry(row.request_id).or_default().push(row);
    }
    let requests = requests.into_iter().map(|request| (request.id, request)).collect();
    let mut audit = Audit { entries, requests, history, broken: Vec::new() };
    audit.rows();
    audit.events(&events);
    audit.calls();
    audit.keys(&keys);
    audit.looks();
    for fault in &entries.faults {
        audit.broken.push(Broken::new(FAULT, fault.clone()));
    }
    audit.broken.extend(roles::check(entries));
    audit.broken.extend(months::check(entries, db).await);
    audit.broken.extend(jobs::check(db).await);
    audit.broken.extend(events::check(db).await);
    audit.broken.extend(chain::check(CHAIN, db).await);
    audit.broken
}

impl Audit<'_> {
    fn broken(&mut self, rule: &'static str, what: String) {
        self.broken.push(Broken::new(rule, what));
    }

    /// What must hold of requests and their rows, whoever asked for them.
    fn rows(&mut self) {
        let mut broken = Vec::new();
        for request in self.requests.values() {
            let rows = self.history.get(&request.id).map(Vec::as_slice).unwrap_or_default();
            let versions: Vec<i64> = rows.iter().map(|row| row.version).collect();
            if versions != (1..=request.version).collect::<Vec<_>>() {
                broken.push((
                    COUNT,
                    format!("{} is at version {}, its rows are {versions:?}", request.id, request.version),
                ));
            }
            let mut before = "";
            for row in rows {
                let from = row.from_status.as_deref().unwrap_or_default();
                if !TRANSITIONS.contains(&(from, &row.action, &row.to_status)) || from != before {
                    broken.push((TABLE, format!("{row:?} after {before:?}")));
                }
                before = &row.to_status;
                let decides = matches!(row.action.as_str(), "approve" | "reject" | "send_back");
                let own = row.actor_id == request.applicant_id;
                let may = self.entries.people.iter().any(|who| who.id == row.actor_id && who.can_approve);
                if decides == own || (decides && !may) {
                    broken.push((RIGHTS, format!("{row:?}")));
                }
            }
            if rows
                .last()
                .is_some_and(|row| row.to_status != request.status || row.content_hash != request.content_hash)
            {
                broken.push((TABLE, format!("{} is {}, which its last row is not", request.id, request.status)));
            }
        }
        broken
            .extend(self.history.keys().filter(|id| !self.requests.contains_key(id)).map(|id| (COUNT, id.to_string())));
        for (rule, what) in broken {
            self.broken(rule, what);
        }
    }

    fn events(&mut self, events: &[Event]) {
        let mut told: HashSet<(String, i64)> = HashSet::new();
        for event in events {
            let id: Option<Uuid> = event.subject_id.parse().ok();
            let rows = id.and_then(|id| self.history.get(&id));
            let row = rows.and_then(|rows| rows.iter().find(|row| row.version == event.seq));
            let fits = row.is_some_and(|row| {
                event.kind == format!("request.{}", row.action)
                    && event.payload["version"] == row.version
                    && event.payload["status"] == row.to_status.as_str()
                    && event.payload["actor_id"] == row.actor_id.to_string().as_str()
            });
            if !fits || !told.insert((event.subject_id.clone(), event.seq)) {
                self.broken(EVENTS, format!("{event:?} belongs to no row"));
            }
        }
        let silent: Vec<_> = self
            .history
            .values()
            .flatten()
            .filter(|row| !told.contains(&(row.request_id.to_string(), row.version)))
            .map(|row| format!("{row:?} has no event"))
            .collect();
        for what in silent {
            self.broken(EVENTS, what);
        }
    }

    /// Whether this row is what the call would have done.
    fn is_effect(call: &Call, row: &Row) -> bool {
        let tagged = match call.action {
            "create" | "edit" => row.title.as_ref() == Some(&call.tag),
            // A submit carries no text: the version says which it was.
            "submit" => row.version == call.seen + 1,
            _ => row.reason.as_ref() == Some(&call.tag),
        };
        tagged
            && row.action == call.action
            && row.actor_id == call.by
            && call.request.is_none_or(|id| id == row.request_id)
    }

    fn calls(&mut self) {
        let mut broken = Vec::new();
        let mut explained: HashMap<(Uuid, i64), usize> = HashMap::new();
        let mut winners: HashMap<(Uuid, i64), Vec<&Call>> = HashMap::new();
        for call in &self.entries.calls {
            let Some(told) = call.told() else {
                broken.push((PROMISED, format!("never answered: {call:?}")));
                continue;
            };
            let effects: Vec<&Row> = self.history.values().flatten().filter(|row| Self::is_effect(call, row)).collect();
            if !told.is_success() {
                // Another submit of the same person's, from the same version, may have been the one.
                let twin = call.action == "submit"
                    && self.entries.calls.iter().any(|other| {
                        other.succeeded()
                            && (other.by, other.request, other.seen, other.action)
                                == (call.by, call.request, call.seen, call.action)
                    });
                if !effects.is_empty() && !twin {
                    broken.push((REFUSED, format!("{} was told {}, yet {effects:?}", call.tag, told.text)));
                }
                continue;
            }
            let promised = told.version_and_status();
            let id: Option<Uuid> = told.body["id"].as_str().and_then(|id| id.parse().ok());
            let kept = |row: &Row| {
                Some((row.version, row.to_status.as_str())) == promised
                    && Some(row.request_id) == id
                    && row.version == call.seen + 1
            };
            if effects.len() != 1 || !effects.iter().all(|row| kept(row)) {
                broken
                    .push((PROMISED, format!("{} was told {}, but the history has {effects:?}", call.tag, told.text)));
            }
            for row in effects {
                *explained.entry((row.request_id, row.version)).or_default() += 1;
            }
            if let (Some(id), Some((version, _))) = (id, promised) {
                winners.entry((id, version)).or_default().push(call);
            }
            let answers = call.attempts.iter().filter_map(|attempt| attempt.answer.as_ref());
            let mut answers = answers.filter(|answer| answer.is_definite());
            let first = answers.next();
            if let Some(other) = answers.find(|other| !other.replayed || !same(told, other)) {
                broken.push((SAME, format!("{}: {first:?}, then {other:?}", call.tag)));
            }
        }
        for ((id, version), calls) in winners {
            if calls.len() > 1 {
                let who: Vec<_> = calls.iter().map(|call| &call.tag).collect();
                broken.push((WINNER, format!("version {version} of {id}: {who:?}")));
            }
        }
        for row in self.history.values().flatten() {
            if explained.get(&(row.request_id, row.version)) != Some(&1) {
                broken.push((ASKED, format!("{row:?}")));
            }
        }
        for (rule, what) in broken {
            self.broken(rule, what);
        }
    }

    fn keys(&mut self, keys: &[(Uuid, String)]) {
        let kept: HashSet<(Uuid, &str)> = keys.iter().map(|(user, key)| (*user, key.as_str())).collect();
        for call in &self.entries.calls {
            if kept.contains(&(call.by, call.key.as_str())) != call.succeeded() {
                self.broken.push(Broken::new(KEYS, format!("{} was told {:?}", call.tag, call.told())));
            }
        }
    }

    /// Whoever asks after an answer sees at least what that answer told of, and what he sees has been.
    fn looks(&mut self) {
        let mut seen: Vec<(Uuid, Instant, Instant, i64, String)> = Vec::new();
        for look in &self.entries.looks {
            seen.push((look.request, look.began, look.ended, look.version, look.status.clone()));
        }
        for call in &self.entries.calls {
            for attempt in &call.attempts {
                let Some(told) = attempt.answer.as_ref().filter(|told| !told.replayed) else { continue };
                let id = call.request.or_else(|| told.body["id"].as_str()?.parse().ok());
                if let (Some(id), Some((version, status))) = (id, told.version_and_status()) {
                    seen.push((id, attempt.began, attempt.ended, version, status.to_owned()));
                }
            }
        }
        for (id, began, _, version, status) in &seen {
            let row = self.history.get(id).and_then(|rows| rows.iter().find(|row| row.version == *version));
            let before = seen.iter().filter(|other| other.0 == *id && other.2 < *began).map(|other| other.3).max();
            if before.is_some_and(|before| before > *version) || row.is_none_or(|row| row.to_status != *status) {
                let what = format!("{id} was seen {status} at version {version}, after version {before:?}; {row:?}");
                self.broken.push(Broken::new(BACK, what));
            }
        }
    }
}

fn same(one: &Told, other: &Told) -> bool {
    (one.status, &one.text) == (other.status, &other.text)
}
