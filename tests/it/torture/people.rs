//! Simulated people: they look, they act on what they saw (or on what they remember), and they do not let go of a
//! call before there is a definite answer.

use super::random::Random;
use super::record::{Attempt, Call, Look, Record, Told, Who};
use reqwest::Method;
use serde_json::{Value, json};
use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::time::{Duration, Instant};
use tokio::sync::watch;
use uuid::Uuid;

/// How long somebody goes on asking before the test fails: far more than any restart takes.
const PATIENCE: Duration = Duration::from_mins(2);
/// How many requests people have on their desks at once: few, so that they meet.
const ON_THE_DESK: usize = 5;

/// A request as somebody saw it last.
#[derive(Clone, Debug)]
struct Known {
    id: Uuid,
    applicant: Uuid,
    version: i64,
    status: String,
}

/// Where people work.
pub(super) struct World {
    /// Of each server.
    addresses: Vec<String>,
    asked: AtomicUsize,
    pub(super) organization: Uuid,
    pub(super) record: Record,
    /// How many calls have been answered for good.
    pub(super) answered: watch::Sender<usize>,
    /// Set when nobody needs to begin anything more.
    pub(super) over: AtomicBool,
    http: reqwest::Client,
    desk: Mutex<Vec<Known>>,
}

impl World {
    pub(super) fn new(addresses: Vec<String>, organization: Uuid) -> Self {
        Self {
            addresses,
            asked: AtomicUsize::new(0),
            organization,
            record: Record::default(),
            answered: watch::channel(0).0,
            over: AtomicBool::new(false),
            http: reqwest::Client::builder().no_proxy().timeout(Duration::from_secs(10)).build().unwrap(),
            desk: Mutex::default(),
        }
    }

    /// At one server after the other.
    fn url(&self, path: &str) -> String {
        let address = &self.addresses[self.asked.fetch_add(1, Ordering::Relaxed) % self.addresses.len()];
        format!("{address}/api/v1/organizations/{}/{path}", self.organization)
    }

    /// One try. Nothing when the connection was lost, or never made.
    pub(super) async fn ask(
        &self,
        who: &Who,
        method: Method,
        path: &str,
        write: Option<(&str, &Value)>,
    ) -> Option<Told> {
        let mut request = self.http.request(method, self.url(path)).bearer_auth(&who.token);
        if let Some((key, body)) = write {
            request = request.header("Idempotency-Key", key).json(body);
        }
        let response = request.send().await.ok()?;
        let status = response.status().as_u16();
        let replayed = response.headers().contains_key("idempotency-replayed");
        let text = response.text().await.ok()?;
        let body = serde_json::from_str(&text).unwrap_or(Value::Null);
        let told = Told { status, replayed, text, body };
        if status >= 500 && told.is_definite() {
            self.record.with(|record| record.faults.push(format!("{path}: {}", told.text)));
        }
        Some(told)
    }

    /// Makes the call, again and again under the same key, until there is a definite answer.
    pub(super) async fn call(&self, who: &Who, mut call: Call, random: &mut Random) -> Call {
        let since = Instant::now();
        while call.told().is_none() {
            assert!(since.elapsed() < PATIENCE, "no definite answer to {call:?}");
            let attempt = self.attempt(who, &call).await;
            let again = attempt.answer.is_none();
            call.attempts.push(attempt);
            if again || call.told().is_none() {
                // As a client does: not at once, and not all in step.
                tokio::time::sleep(Duration::from_millis(5 + random.next() % 40)).await;
            }
        }
        // Some clients lose an answer on their own side, and ask once more.
        if call.succeeded() && random.percent(15) {
            let attempt = self.attempt(who, &call).await;
            call.attempts.push(attempt);
        }
        call
    }

    /// One try of a call.
    pub(super) async fn attempt(&self, who: &Who, call: &Call) -> Attempt {
        let method = if call.put { Method::PUT } else { Method::POST };
        let began = Instant::now();
        let answer = self.ask(who, method, &call.path, Some((&call.key, &call.body))).await;
        Attempt { began, ended: Instant::now(), answer }
    }

    async fn look(&self, who: &Who, id: Uuid) -> Option<Known> {
        let began = Instant::now();
        let told = self.ask(who, Method::GET, &format!("requests/{id}"), None).await?;
        let (version, status) = told.version_and_status().filter(|_| told.is_success())?;
        let (version, status) = (version, status.to_owned());
        let look = Look { request: id, began, ended: Instant::now(), version, status: status.clone() };
        self.record.with(|record| record.looks.push(look));
        let applicant = told.body["applicant_id"].as_str()?.parse().ok()?;
        Some(Known { id, applicant, version, status })
    }

    fn remember(&self, known: Known) {
        let mut desk = self.desk.lock().unwrap();
        desk.retain(|other| other.id != known.id);
        // What is decided stays for a while: some people come late.
        desk.push(known);
        while desk.len() > ON_THE_DESK {
            let oldest_final = desk.iter().position(|known| is_final(&known.status)).unwrap_or(0);
            desk.remove(oldest_final);
        }
    }

    /// Lives until it is over.
    pub(super) async fn live(&self, who: Who, mut random: Random) {
        let mut calls = 0;
        while !self.over.load(Ordering::Relaxed) {
            calls += 1;
            let tag = format!("{} {calls}", who.name);
            let open = self.desk.lock().unwrap().iter().filter(|known| !is_final(&known.status)).count();
            let call = if open < 3 || (random.percent(15) && open < ON_THE_DESK) {
                create(&who, tag, &mut random)
            } else {
                match self.next_act(&who, tag, &mut random).await {
                    Some(call) => call,
                    None => continue,
                }
            };
            let call = self.call(&who, call, &mut random).await;
            self.learn(&who, &call);
            self.record.with(|record| record.calls.push(call));
            self.answered.send_modify(|answered| *answered += 1);
        }
    }

    async fn next_act(&self, who: &Who, tag: String, random: &mut Random) -> Option<Call> {
        let desk = self.desk.lock().unwrap().clone();
        let remembered = random.pick(&desk)?.clone();
        // What is not to be seen, and what is decided for good, is seldom worth a try.
        let unsubmitted = matches!(remembered.status.as_str(), "draft" | "withdrawn");
        let hidden = remembered.applicant != who.id && (unsubmitted || !who.can_approve);
        if (hidden && random.percent(95)) || (is_final(&remembered.status) && random.percent(70)) {
            tokio::task::yield_now().await;
            return None;
        }
        let mut seen = if random.percent(60) {
            match self.look(who, remembered.id).await {
                Some(seen) => seen,
                // Not for this person, or nobody answers just now.
                None if random.percent(70) => return None,
                None => remembered,
            }
        } else {
            remembered
        };
        let action = choose(who, &seen, random);
        if random.percent(8) {
            seen.version += if random.percent(50) { 1 } else { -1 };
        }
        Some(act(who, &seen, action, tag, random))
    }

    fn learn(&self, who: &Who, call: &Call) {
        let Some(told) = call.told() else { return };
        let Some((version, status)) = told.version_and_status() else { return };
        let id = call.request.or_else(|| told.body["id"].as_str()?.parse().ok());
        let Some(id) = id else { return };
        let known = self.desk.lock().unwrap().iter().find(|known| known.id == id).cloned();
        let applicant = known.map_or(who.id, |known| known.applicant);
        self.remember(Known { id, applicant, version, status: status.to_owned() });
    }
}

fn is_final(status: &str) -> bool {
    matches!(status, "approved" | "rejected" | "withdrawn")
}

fn choose(who: &Who, seen: &Known, random: &mut Random) -> &'static str {
    // Now and then somebody tries what he may not, or what there is not.
    if random.percent(12) {
        return random.pick(&["edit", "submit", "approve", "reject", "send_back", "withdraw"]).unwrap();
    }
    let own = seen.applicant == who.id;
    match (own, seen.status.as_str()) {
        (true, "draft" | "returned") if random.percent(70) => "submit",
        (true, "draft" | "returned") => "edit",
        (true, _) if random.percent(25) => "withdraw",
        // Who may approve tries it on his own request, too.
        (true, _) if who.can_approve => "approve",
        (true, _) => "submit",
        (false, "returned") => "approve",
        (false, _) if random.percent(45) => "send_back",
        (false, _) if random.percent(60) => "approve",
        (false, _) => "reject",
    }
}

fn new_key(who: &Who, tag: &str) -> String {
    format!("{}/{}", who.id, tag.rsplit(' ').next().unwrap_or_default())
}

fn content(tag: &str, random: &mut Random) -> Value {
    let amount = i64::try_from(random.next() >> 20).unwrap();
    json!({"title": tag, "description": "稟議\n\t\"why\" \\ é", "amount": amount, "currency": "JPY"})
}

fn create(who: &Who, tag: String, random: &mut Random) -> Call {
    Call {
        by: who.id,
        key: new_key(who, &tag),
        action: "create",
        request: None,
        seen: 0,
        put: false,
        path: "requests".to_owned(),
        body: content(&tag, random),
        tag,
        attempts: Vec::new(),
    }
}

fn act(who: &Who, seen: &Known, action: &'static str, tag: String, random: &mut Random) -> Call {
    let mut body = if action == "edit" { content(&tag, random) } else { json!({}) };
    if !matches!(action, "edit" | "submit") {
        body["reason"] = json!(tag);
    }
    body["version"] = json!(seen.version);
    let path = match action {
        "edit" => format!("requests/{}", seen.id),
        _ => format!("requests/{}/{}", seen.id, action.replace('_', "-")),
    };
    let (by, key) = (who.id, new_key(who, &tag));
    let (request, put) = (Some(seen.id), action == "edit");
    Call { by, key, action, request, seen: seen.version, tag, put, path, body, attempts: Vec::new() }
}
