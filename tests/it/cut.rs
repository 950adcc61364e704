//! What people see when the link to the database is cut, slow or silent, or their own is.

use crate::harness::{App, Database, PATIENCE, Person, id_of, settings, version_of};
use crate::proxy::{Fault, Proxy};
use ringi::config::Settings;
use serde_json::{Value, json};
use std::time::{Duration, Instant};
use tokio::io::AsyncWriteExt as _;

/// A server that reaches its database through a [`Proxy`], and one request to decide on.
struct Rig {
    app: App,
    proxy: Proxy,
    approver: Person,
    pending: Value,
}

impl Rig {
    async fn start() -> Self {
        Self::with(settings()).await
    }

    async fn with(settings: Settings) -> Self {
        let database = Database::new().await;
        let proxy = Proxy::before(&database.options());
        let app = App::reaching(settings, database, proxy.options()).await;
        let (applicant, approver) = (app.applicant().await, app.approver().await);
        let pending = applicant.submitted("Standing desks").await;
        Self { app, proxy, approver, pending }
    }

    /// The approver decides, under a key.
    async fn approve(&self) -> crate::harness::Answer {
        let path = format!("requests/{}/approve", id_of(&self.pending));
        self.approver.post_with_key("decision-1", &path, json!({"version": version_of(&self.pending)})).await
    }

    /// The same, from a task of its own.
    fn approving(&self) -> tokio::task::JoinHandle<crate::harness::Answer> {
        let (approver, pending) = (self.approver.clone(), self.pending.clone());
        tokio::spawn(async move {
            let path = format!("requests/{}/approve", id_of(&pending));
            approver.post_with_key("decision-1", &path, json!({"version": version_of(&pending)})).await
        })
    }

    fn lock(&self) -> String {
        format!("SELECT 1 FROM approval_request WHERE id = '{}' FOR UPDATE", id_of(&self.pending))
    }

    async fn decisions(&self) -> usize {
        let history = self.approver.history(&self.pending).await;
        history.iter().filter(|row| row["action"] == "approve").count()
    }

    /// Exactly one decision came of it, and nothing is broken.
    async fn end_approved_once(self) {
        assert_eq!(self.app.status(&self.pending).await, ("approved".to_owned(), 3));
        assert_eq!(self.decisions().await, 1);
        Box::pin(self.app.check_invariants()).await;
        self.app.stop().await;
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_connection_cut_after_the_commit_leaves_the_decision_and_its_answer() {
    let rig = Rig::start().await;
    rig.proxy.arm(Fault::AfterCommit);
    let lost = rig.approve().await.expect_problem(503, "outcome_unknown");
    assert!(!rig.proxy.is_armed());
    assert_eq!(lost.header("retry-after"), "1");

    let seen = rig.approver.get(&rig.pending).await.expect_status(200);
    assert_eq!(seen.body["status"], "approved", "a GET shows what was committed");
    let retried = rig.approve().await.expect_status(200);
    assert_eq!(retried.header("idempotency-replayed"), "true");
    assert_eq!(retried.text, seen.text, "the first answer, which nobody had got");
    assert_eq!(retried.header("etag"), seen.header("etag"));
    rig.end_approved_once().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_commit_that_never_arrived_is_unknown_too_and_the_retry_does_it() {
    let rig = Rig::start().await;
    let before = rig.app.everything().await;
    rig.proxy.arm(Fault::BeforeCommit);
    rig.approve().await.expect_problem(503, "outcome_unknown");
    assert_eq!(rig.app.everything().await, before, "nothing was saved");

    let retried = rig.approve().await.expect_status(200);
    assert_eq!(retried.header("idempotency-replayed"), "");
    rig.end_approved_once().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_connection_cut_before_the_commit_is_busy_and_saves_nothing() {
    let rig = Rig::start().await;
    let before = rig.app.everything().await;
    let held = rig.app.hold(&rig.lock()).await;
    let call = rig.approving();
    rig.app.until_waiting(1).await;
    rig.proxy.cut();
    let answer = call.await.unwrap().expect_problem(503, "busy");
    assert_eq!(answer.header("retry-after"), "1");
    // The server frees the locks of a statement whose client is gone.
    rig.app.until_waiting(0).await;
    held.release().await;
    assert_eq!(rig.app.everything().await, before, "nothing was saved");

    assert_eq!(rig.approve().await.expect_status(200).header("idempotency-replayed"), "");
    rig.end_approved_once().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_write_whose_client_hangs_up_runs_to_its_end() {
    let rig = Rig::start().await;
    let held = rig.app.hold(&rig.lock()).await;
    let body = json!({"version": version_of(&rig.pending)}).to_string();
    let address = rig.app.address.strip_prefix("http://").unwrap();
    let mut client = tokio::net::TcpStream::connect(address).await.unwrap();
    let request = format!(
        "POST /api/v1/organizations/{}/requests/{}/approve HTTP/1.1\r\nHost: {address}\r\nAuthorization: Bearer {}\r\n\
         Idempotency-Key: decision-1\r\nContent-Type: application/json\r\nContent-Length: {}\r\n\r\n{body}",
        rig.app.organization,
        id_of(&rig.pending),
        rig.approver.token,
        body.len(),
    );
    client.write_all(request.as_bytes()).await.unwrap();
    rig.app.until_waiting(1).await;
    // With a reset, which the server can't overlook.
    client.set_zero_linger().unwrap();
    drop(client);
    // The server noticed: this call comes after the reset on the same machine, and is answered.
    rig.approver.read("/health/live").await.expect_status(200);
    held.release().await;

    let since = Instant::now();
    while rig.approver.get(&rig.pending).await.expect_status(200).body["status"] != "approved" {
        assert!(since.elapsed() < PATIENCE, "the write was dropped with its client");
        tokio::task::yield_now().await;
    }
    assert_eq!(rig.approve().await.expect_status(200).header("idempotency-replayed"), "true");
    rig.end_approved_once().await;
}

/// Settings under which a silent database is given up soon.
fn impatient() -> Settings {
    let mut settings = settings();
    settings.database.lock_timeout = Duration::from_millis(300);
    settings.database.statement_timeout = Duration::from_millis(600);
    settings.database.acquire_timeout = Duration::from_millis(500);
    settings.database.queue_timeout = Duration::from_millis(500);
    settings
}

#[tokio::test(flavor = "multi_thread")]
async fn a_silent_database_is_busy_in_time_and_all_recovers_after_it() {
    let rig = Rig::with(impatient()).await;
    let before = rig.app.everything().await;
    rig.proxy.freeze();
    // More than there are connections of either kind.
    let calls: Vec<_> = (0..12)
        .map(|n| {
            let (person, pending) = (rig.approver.clone(), rig.pending.clone());
            tokio::spawn(async move {
                let since = Instant::now();
                let answer = if n % 2 == 0 { person.approve(&pending).await } else { person.get(&pending).await };
                (answer, since.elapsed())
            })
        })
        .collect();
    for call in calls {
        let (answer, took) = call.await.unwrap();
        answer.expect_problem(503, "busy");
        assert!(took < Duration::from_secs(6), "busy only after {took:?}");
    }
    rig.approver.read("/health/ready").await.expect_status(503);
    rig.approver.read("/health/live").await.expect_status(200);
    rig.proxy.thaw();
    assert_eq!(rig.app.everything().await, before, "nothing was saved");

    recovers(&rig).await;
    rig.approve().await.expect_status(200);
    rig.end_approved_once().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_database_that_falls_silent_in_the_middle_of_a_write_is_busy_and_saves_nothing() {
    let mut settings = impatient();
    settings.database.lock_timeout = Duration::from_secs(8);
    settings.database.statement_timeout = Duration::from_secs(9);
    let rig = Rig::with(settings).await;
    let before = rig.app.everything().await;
    let held = rig.app.hold(&rig.lock()).await;
    let call = rig.approving();
    rig.app.until_waiting(1).await;
    rig.proxy.freeze();
    held.release().await;
    call.await.unwrap().expect_problem(503, "busy");
    rig.proxy.thaw();

    recovers(&rig).await;
    assert_eq!(rig.app.everything().await, before, "nothing was saved");
    assert_eq!(rig.approve().await.expect_status(200).header("idempotency-replayed"), "");
    rig.end_approved_once().await;
}

/// Polls until a call succeeds, and then expects as many as there are connections to succeed at once.
async fn recovers(rig: &Rig) {
    let since = Instant::now();
    while rig.approver.get(&rig.pending).await.status != 200 || rig.approver.read("/health/ready").await.status != 200 {
        assert!(since.elapsed() < PATIENCE, "it does not recover");
    }
    // A write that changes nothing: nobody withdraws a request of somebody else's.
    while rig.approver.act(&rig.pending, "withdraw", None).await.status != 403 {
        assert!(since.elapsed() < PATIENCE, "writes do not recover");
    }
    all_are_answered(rig, 24).await;
}

/// Reads and writes at once, and nobody sees an error.
async fn all_are_answered(rig: &Rig, calls: usize) {
    let calls: Vec<_> = (0..calls)
        .map(|n| {
            let (person, pending) = (rig.approver.clone(), rig.pending.clone());
            tokio::spawn(async move {
                if n % 2 == 0 {
                    person.act(&pending, "withdraw", None).await.expect_problem(403, "forbidden");
                } else {
                    person.get(&pending).await.expect_status(200);
                }
            })
        })
        .collect();
    for call in calls {
        call.await.unwrap();
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn connections_that_died_while_idle_are_replaced_and_nobody_sees_it() {
    let rig = Rig::start().await;
    let pooled = (rig.app.settings.database.max_connections + rig.app.settings.database.read_connections) as usize;
    // All of them are open from the start; later rounds cut those that were opened meanwhile, beside dead ones that
    // nobody has met yet.
    assert!(rig.proxy.connections() >= pooled, "the pools are not filled");
    for round in 0..4 {
        assert!(rig.proxy.connections() > 0, "round {round}: nothing is open");
        rig.proxy.cut();
        match round {
            0 => drop(rig.approver.get(&rig.pending).await.expect_status(200)),
            1 => drop(rig.approver.act(&rig.pending, "withdraw", None).await.expect_problem(403, "forbidden")),
            2 => drop(rig.approver.read("/health/ready").await.expect_status(200)),
            _ => {}
        }
        all_are_answered(&rig, 24).await;
    }
    rig.approve().await.expect_status(200);
    rig.end_approved_once().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_slow_link_is_slow_and_not_broken() {
    let rig = Rig::start().await;
    rig.proxy.delay(Duration::from_millis(50));
    all_are_answered(&rig, 8).await;
    rig.approve().await.expect_status(200);
    rig.proxy.delay(Duration::ZERO);
    rig.end_approved_once().await;
}
