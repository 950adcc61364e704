//! A receiver of webhooks in a process of its own, that verifies what comes by somebody else's implementation:
//! `tests/peers/receiver.mjs`.

use crate::harness::App;
use crate::key_server::until;
use crate::post_office::peers;
use crate::ringi::Serving;
use crate::webhooks::{KEY, add};
use serde_json::{Value, json};
use std::collections::BTreeMap;
use std::io::{BufRead as _, BufReader, Write as _};
use std::process::{Child, ChildStdin, Command, Stdio};
use std::sync::{Arc, Mutex};

pub struct Receiver {
    child: Child,
    input: Mutex<ChildStdin>,
    saw: Arc<Mutex<Vec<Value>>>,
    port: u64,
}

impl Receiver {
    pub async fn start() -> Self {
        let script = tokio::task::spawn_blocking(|| peers().join("receiver.mjs")).await.unwrap();
        let mut child = Command::new("node").arg(script).stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().unwrap();
        let saw = Arc::<Mutex<Vec<Value>>>::default();
        let (lines, into) = (BufReader::new(child.stdout.take().unwrap()), Arc::clone(&saw));
        std::thread::spawn(move || {
            for line in lines.lines().map_while(Result::ok) {
                into.lock().unwrap().push(serde_json::from_str(&line).unwrap());
            }
        });
        let input = Mutex::new(child.stdin.take().unwrap());
        let mut receiver = Self { child, input, saw, port: 0 };
        until("the receiver listens", async || !receiver.saw.lock().unwrap().is_empty()).await;
        receiver.port = receiver.saw.lock().unwrap()[0]["port"].as_u64().unwrap();
        receiver
    }

    pub fn url(&self, path: &str) -> String {
        format!("http://127.0.0.1:{}{path}", self.port)
    }

    /// Tells a path how to answer, and waits until it knows.
    pub async fn tell(&self, path: &str, mut mood: Value) {
        let told = || self.saw.lock().unwrap().iter().filter(|line| line["told"] == path).count();
        let before = told();
        mood["path"] = json!(path);
        writeln!(self.input.lock().unwrap(), "{mood}").unwrap();
        until("the receiver was told", async || told() > before).await;
    }

    /// What came to a path, in order.
    pub fn at(&self, path: &str) -> Vec<Value> {
        self.saw.lock().unwrap().iter().filter(|line| line["path"] == path).cloned().collect()
    }

    /// The same, of which each event counts once, when it was first received.
    pub fn received(&self, path: &str) -> Vec<Value> {
        let mut known = std::collections::HashSet::new();
        let mut events = Vec::new();
        for line in self.at(path).iter().filter(|line| line["status"].as_u64().is_some_and(|status| status < 300)) {
            if known.insert(line["id"].as_str().unwrap().to_owned()) {
                events.push(serde_json::from_str(line["body"].as_str().unwrap()).unwrap());
            }
        }
        events
    }

    /// Of each request, the actions that were received, in order.
    pub fn requests(&self, path: &str) -> BTreeMap<String, Vec<(i64, String)>> {
        let mut found: BTreeMap<_, Vec<_>> = BTreeMap::new();
        for event in self.received(path) {
            if event["type"].as_str().unwrap().starts_with("request.") {
                let data = &event["data"];
                let of = data["request_id"].as_str().unwrap().to_owned();
                let action = data["action"].as_str().unwrap().to_owned();
                found.entry(of).or_default().push((data["version"].as_i64().unwrap(), action));
            }
        }
        found
    }

    /// Waits until so many attempts came to a path.
    pub async fn until_asked(&self, path: &str, times: usize) {
        until(&format!("{path} is told {times} times"), async || self.at(path).len() >= times).await;
    }

    pub async fn until_received(&self, path: &str, events: usize) {
        until(&format!("{path} receives {events} events"), async || self.received(path).len() >= events).await;
    }
}

impl Drop for Receiver {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// An endpoint at a path, whose secret the receiver knows; the receiver answers with `mood`.
pub async fn endpoint_at(app: &App, receiver: &Receiver, path: &str, event_types: &[&str], mut mood: Value) -> Value {
    let endpoint = add(app, &receiver.url(path), event_types).await;
    mood["secrets"] = json!([endpoint["secret"]]);
    receiver.tell(path, mood).await;
    endpoint
}

/// The history of every request that was ever submitted: what a receiver of everything must have.
pub async fn submitted_histories(app: &App) -> BTreeMap<String, Vec<(i64, String)>> {
    let mut db = app.database.connect().await;
    let rows: Vec<(String, i64, String)> = sqlx::query_as(
        "SELECT h.request_id::text, h.version, h.action FROM approval_history h
         JOIN approval_request r ON (r.organization_id, r.id) = (h.organization_id, h.request_id)
         WHERE r.submitted_at IS NOT NULL ORDER BY h.request_id, h.version",
    )
    .fetch_all(&mut db)
    .await
    .unwrap();
    let mut found: BTreeMap<_, Vec<_>> = BTreeMap::new();
    for (request, version, action) in rows {
        found.entry(request).or_default().push((version, action));
    }
    found
}

/// A process that relays and delivers, or waits for its turn.
pub fn relay(app: &App) -> Serving {
    let hooks = [
        ("RINGI__WEBHOOKS__SECRET_KEY", KEY),
        ("RINGI__WEBHOOKS__ALLOW_PRIVATE", "127.0.0.0/8"),
        ("RINGI__WEBHOOKS__RETRY_MIN_MS", "50"),
    ];
    crate::events::relay(app, &hooks)
}
