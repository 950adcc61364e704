//! Two things at once: calls that are begun now and answered later, and what must be true of the one who came second.

use crate::harness::{Answer, App, EVENTS, PATIENCE, Person, id_of, version_of};
use reqwest::Method;
use serde_json::{Value, json};
use std::future::Future;
use std::time::{Duration, Instant};
use tokio::task::JoinHandle;

/// A call that is under way.
pub struct Begun(JoinHandle<Answer>);

impl Begun {
    pub fn new(call: impl Future<Output = Answer> + Send + 'static) -> Self {
        Self(tokio::spawn(call))
    }

    pub async fn answer(self) -> Answer {
        tokio::time::timeout(PATIENCE, self.0).await.expect("an answer, in the end").unwrap()
    }
}

/// Begins an action. `action` is the path's last part; `reason` belongs to it.
pub fn begin(person: &Person, seen: &Value, action: &'static str, reason: Option<&'static str>) -> Begun {
    let (person, seen) = (person.clone(), seen.clone());
    Begun::new(async move { person.act(&seen, action, reason).await })
}

pub fn begin_edit(person: &Person, seen: &Value, title: &'static str) -> Begun {
    let (person, seen) = (person.clone(), seen.clone());
    Begun::new(async move { person.edit(&seen, title).await })
}

/// Begins a change of a member, from how he stands now.
pub async fn begin_change(admin: &Person, user: uuid::Uuid, changes: Value) -> Begun {
    let body = changed(admin, user, changes).await;
    let (admin, path) = (admin.clone(), format!("members/{user}"));
    Begun::new(async move { admin.put(&path, body).await })
}

/// The body of a PUT that changes some of a member's fields.
pub async fn changed(admin: &Person, user: uuid::Uuid, changes: Value) -> Value {
    let mut body = admin.member(user).await;
    body.as_object_mut().unwrap().remove("user_id");
    for (key, value) in changes.as_object().unwrap() {
        body[key] = value.clone();
    }
    body
}

/// The same call under an idempotency key, begun now.
pub fn begin_with_key(person: &Person, method: Method, key: &'static str, path: &str, body: &Value) -> Begun {
    let request = person.request(method, path).header("Idempotency-Key", key).json(body);
    Begun::new(Answer::of(request))
}

/// Holds the row of a request, as somebody in the middle of a decision does.
pub fn lock_request(request: &Value) -> String {
    format!("SELECT FROM approval_request WHERE id = '{}' FOR UPDATE", id_of(request))
}

/// Stops whoever changes this member after he has locked everybody: the chain's head comes last.
pub fn lock_chain_of(user: uuid::Uuid) -> String {
    format!("SELECT FROM history_head WHERE kind = 'member' AND subject_id = '{user}' FOR UPDATE")
}

/// Stops whoever makes the next version of a request in the middle of his write: its event is already being inserted.
pub fn take_next_event(request: &Value) -> String {
    format!(
        "INSERT INTO outbox_event (organization_id, subject_kind, subject_id, seq, event_type, payload, occurred_at)
         VALUES ('{}', 'request', '{}', {}, 'request.test', '{{}}', now())",
        request["organization_id"].as_str().unwrap(),
        id_of(request),
        version_of(request) + 1,
    )
}

/// The loser of a race was told who won, and with what.
#[track_caller]
pub fn names_the_winner(loser: &Answer, winner: &Person, action: &str, status: &str, version: i64) {
    let current = &loser.body["current"];
    assert_eq!(
        (&current["last_actor_id"], &current["last_actor_name"], &current["last_action"], &current["status"]),
        (&json!(winner.id), &json!(winner.name), &json!(action), &json!(status)),
        "{}",
        loser.text
    );
    assert_eq!(current["version"], version, "{}", loser.text);
    assert!(current["last_at"].as_str().is_some_and(|at| at.ends_with('Z')), "{}", loser.text);
}

/// One of two succeeded and the other was told 409 `request_changed`: who won, and the loser's answer.
#[track_caller]
pub fn one_winner(first: Answer, second: Answer) -> (usize, Answer, Answer) {
    let (place, winner, loser) = if first.status == 200 { (0, first, second) } else { (1, second, first) };
    (place, winner.expect_status(200), loser.expect_problem(409, "request_changed"))
}

/// How many history rows and events a request has.
pub async fn rows_of(app: &App, request: &Value) -> (i64, i64) {
    let id = id_of(request);
    (
        app.count(&format!("SELECT count(*) FROM approval_history WHERE request_id = '{id}'")).await,
        app.count(&format!("SELECT count(*) FROM {EVENTS} e WHERE subject_id = '{id}'")).await,
    )
}

/// Closes the product's connections, since only then has each told its deadlocks, and counts those of this database. Of a
/// server that relays nothing: the relay goes on.
pub async fn deadlocks(app: &App) -> i64 {
    app.pools.close();
    let start = Instant::now();
    while app
        .count(
            "SELECT count(*) FROM pg_stat_activity WHERE datname = current_database() AND application_name = 'ringi'",
        )
        .await
        > 0
    {
        assert!(start.elapsed() < PATIENCE, "closed connections are still there");
        tokio::time::sleep(Duration::from_millis(5)).await;
    }
    app.count("SELECT deadlocks FROM pg_stat_database WHERE datname = current_database()").await
}

/// Returns when no connection of the product is inside a transaction: soon, and not when
/// `idle_in_transaction_session_timeout` has ended it.
pub async fn nothing_is_open(app: &App) {
    let start = Instant::now();
    let open = "SELECT count(*) FROM pg_stat_activity WHERE datname = current_database() AND application_name = 'ringi'
                AND (state LIKE 'idle in transaction%' OR xact_start IS NOT NULL)";
    while app.count(open).await > 0 {
        assert!(start.elapsed() < Duration::from_secs(5), "a connection stays inside a transaction");
        tokio::task::yield_now().await;
    }
}
