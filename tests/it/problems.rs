//! Every code of the table of problems is met over HTTP, in its full shape, and leaves everything as it was.

use crate::charges::{charge, correct, correction};
use crate::closing::{close, start};
use crate::harness::{Answer, App, PATIENCE, Person, id_of, settings};
use crate::logs;
use crate::webhooks::{self, named};
use crate::wire::{connect, head, post_text, read_answer, refused, send_bytes, with_token};
use reqwest::Method;
use ringi::http::problem::Code;
use serde_json::{Value, json};
use std::collections::BTreeSet;
use std::time::Duration;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;
use uuid::Uuid;

/// Met where faults are injected, and where a third export is asked for (`exports.rs`).
const NOT_HERE: [Code; 3] = [Code::Internal, Code::OutcomeUnknown, Code::RateLimited];

/// The codes that were met, each checked.
struct Met<'a> {
    app: &'a App,
    codes: BTreeSet<&'static str>,
}

impl Met<'_> {
    async fn meet(&mut self, code: Code, call: impl Future<Output = Answer>) -> Answer {
        let answer = refused(self.app, code.as_str(), call, (code.status(), code.as_str())).await;
        self.codes.insert(code.as_str());
        let body = answer.body.as_object().unwrap();
        assert_eq!(body["type"], format!("urn:ringi:problem:{}", code.as_str()));
        assert_eq!(body["title"], code.title());
        assert_eq!(answer.header("cache-control"), "private, no-cache", "{code:?}");
        assert_eq!(answer.header("x-content-type-options"), "nosniff", "{code:?}");
        let current =
            matches!(code, Code::RequestChanged | Code::InvalidTransition | Code::MemberChanged | Code::ChargeChanged)
                || code == Code::WebhookChanged;
        assert_eq!(body.contains_key("current"), current, "{code:?}");
        let errors = matches!(code, Code::ValidationFailed | Code::UnknownField);
        assert_eq!(body.contains_key("errors"), errors, "{code:?}");
        for error in answer.body["errors"].as_array().into_iter().flatten() {
            assert!(error["pointer"].as_str().unwrap().starts_with('/'), "{}", answer.text);
            assert!(error["code"].is_string() && error["detail"].is_string(), "{}", answer.text);
        }
        let retry = matches!(code, Code::Busy | Code::IdempotencyInProgress);
        assert_eq!(answer.header("retry-after").parse::<u32>().is_ok(), retry, "{code:?}");
        assert_eq!(answer.header("www-authenticate").starts_with("Bearer "), code == Code::Unauthenticated, "{code:?}");
        assert_eq!(!answer.header("allow").is_empty(), code == Code::MethodNotAllowed, "{code:?}");
        let known = BTreeSet::from(["type", "title", "status", "detail", "code", "request_id", "errors", "current"]);
        assert!(body.keys().all(|member| known.contains(member.as_str())), "{}", answer.text);
        answer
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn every_code_is_met_in_full_shape() {
    let mut settings = settings();
    settings.http.body_timeout = Duration::from_secs(1);
    settings.database.lock_timeout = Duration::from_millis(500);
    let app = App::with(settings).await;
    let (applicant, approver) = (app.applicant().await, app.approver().await);
    let pending = applicant.submitted("A printer").await;
    let mut met = Met { app: &app, codes: BTreeSet::new() };

    meet_by_shape(&mut met, &applicant, &pending).await;
    meet_by_rights(&mut met, &applicant, &approver, &pending).await;
    meet_by_versions(&mut met, &applicant, &approver, &pending).await;
    meet_among_members(&mut met, &applicant).await;
    meet_among_charges(&mut met).await;
    meet_by_waiting(&mut met, &applicant, &approver, &pending).await;
    let met = meet_among_webhooks(met).await;

    let all: BTreeSet<_> = Code::ALL.iter().filter(|code| !NOT_HERE.contains(code)).map(|code| code.as_str()).collect();
    assert_eq!(met, all, "a new code needs a test");
    app.check_invariants().await;
    app.stop().await;
}

async fn meet_by_shape(met: &mut Met<'_>, applicant: &Person, pending: &Value) {
    let path = format!("requests/{}", id_of(pending));
    met.meet(Code::MalformedJson, post_text(applicant, "requests", "{")).await;
    met.meet(Code::InvalidQuery, applicant.read("requests?limit=0")).await;
    met.meet(Code::InvalidPath, applicant.read("requests/1")).await;
    let body = json!({"title": "A printer"});
    met.meet(Code::InvalidIdempotencyKey, applicant.post_with_key("a b", "requests", body.clone())).await;
    let allowed = met.meet(Code::MethodNotAllowed, Answer::of(applicant.request(Method::DELETE, &path))).await;
    assert_eq!(allowed.header("allow"), "GET, HEAD, PUT");
    let large = " ".repeat(2 << 20);
    met.meet(Code::PayloadTooLarge, post_text(applicant, "requests", large)).await;
    let text = applicant.request(Method::POST, "requests").header("content-type", "text/plain").body("{}");
    met.meet(Code::UnsupportedMediaType, Answer::of(text)).await;
    met.meet(Code::ValidationFailed, applicant.post("requests", json!({"title": ""}))).await;
    met.meet(Code::UnknownField, applicant.post("requests", json!({"title": "x", "colour": "red"}))).await;
    met.meet(Code::VersionRequired, applicant.post(&format!("{path}/withdraw"), json!({}))).await;
}

async fn meet_by_rights(met: &mut Met<'_>, applicant: &Person, approver: &Person, pending: &Value) {
    let stranger = with_token(applicant, "no token");
    met.meet(Code::Unauthenticated, stranger.read("requests")).await;
    met.meet(Code::NotAMember, met.app.outsider().read("requests")).await;
    // The administrator sees it, but decides nothing.
    met.meet(Code::Forbidden, met.app.admin.approve(pending)).await;
    let own = approver.submitted("My own chair").await;
    met.meet(Code::SelfApprovalForbidden, approver.approve(&own)).await;
    met.meet(Code::NotFound, approver.read(&format!("requests/{}", Uuid::new_v4()))).await;
}

async fn meet_by_versions(met: &mut Met<'_>, applicant: &Person, approver: &Person, pending: &Value) {
    let old = json!({"id": pending["id"], "version": 1});
    let changed = met.meet(Code::RequestChanged, approver.approve(&old)).await;
    let draft = applicant.create("A draft").await;
    let impossible = met.meet(Code::InvalidTransition, applicant.approve(&draft)).await;
    for (answer, of, action) in [(changed, pending, "submit"), (impossible, &draft, "create")] {
        let current = json!({"version": of["version"], "status": of["status"], "last_action": action,
                             "last_actor_id": applicant.id, "last_actor_name": applicant.name,
                             "last_at": of["updated_at"]});
        assert_eq!(answer.body["current"], current);
    }
    let ready = applicant.submitted("A lamp").await;
    let approved = approver.approve(&ready).await.expect_status(200).body;
    let processing = format!("requests/{}/processing", id_of(&approved));
    met.meet(Code::MailNotConfigured, applicant.post("me/mail/confirmation", json!({}))).await;
    met.meet(Code::ProcessingNotConfigured, applicant.post(&processing, json!({}))).await;
    let (one, two) = (json!({"title": "one"}), json!({"title": "two"}));
    applicant.post_with_key("printer", "requests", one).await.expect_status(201);
    met.meet(Code::IdempotencyKeyReused, applicant.post_with_key("printer", "requests", two)).await;
}

async fn meet_among_members(met: &mut Met<'_>, applicant: &Person) {
    let admin = &met.app.admin;
    let offer = json!({"display_name": "Emi", "can_approve": false, "is_admin": false});
    let offered = admin.post("invitations", offer).await.expect_status(201).body;
    let revoke = format!("invitations/{}/revoke", offered["id"].as_str().unwrap());
    admin.post(&revoke, json!({})).await.expect_status(200);
    met.meet(Code::InvitationNotOpen, admin.post(&revoke, json!({}))).await;
    let page = admin.request(Method::GET, "history").header("accept", "text/html");
    met.meet(Code::NotAcceptable, Answer::of(page)).await;
    met.meet(Code::LastAdmin, admin.change_member(admin.id, json!({"is_admin": false}))).await;
    let known = json!({"user_id": applicant.id, "display_name": "Again", "is_active": true,
                       "can_approve": false, "is_admin": false});
    met.meet(Code::AlreadyAMember, admin.post("members", known)).await;
    let stale = admin.change_member(applicant.id, json!({"version": 7}));
    let changed = met.meet(Code::MemberChanged, stale).await;
    assert_eq!(changed.body["current"], admin.member(applicant.id).await);
}

async fn meet_among_charges(met: &mut Met<'_>) {
    let admin = &met.app.admin;
    let id = Uuid::new_v4();
    admin.post("charges", charge(id, "2024-10-15T03:00:00Z", 1_200)).await.expect_status(201);
    let seen = correct(admin, id, json!({"amount": 1_300})).await.expect_status(200).body;
    let path = format!("charges/{id}");
    let stale = admin.put(&path, correction(&seen, json!({"version": 1})));
    let changed = met.meet(Code::ChargeChanged, stale).await;
    assert_eq!(changed.body["current"], seen);
    close(admin, "2024-10").await;
    met.meet(Code::PeriodNotOver, start(admin, "2199-12")).await;
    met.meet(Code::PeriodClosed, admin.put(&path, correction(&seen, json!({"amount": 1})))).await;
}

/// One installation has no key for webhooks, another has.
async fn meet_among_webhooks(mut met: Met<'_>) -> BTreeSet<&'static str> {
    met.meet(Code::WebhooksNotConfigured, met.app.admin.post("webhooks", named("http://192.0.2.1/"))).await;
    let app = App::answering(webhooks::hooked()).await;
    let mut there = Met { app: &app, codes: met.codes };
    let seen = webhooks::add(&app, "http://127.0.0.1:9/", &[]).await;
    let stale = webhooks::post(&app, &seen, "disable", json!({"version": 7}));
    let changed = there.meet(Code::WebhookChanged, stale).await;
    assert_eq!(changed.body["current"], webhooks::look(&app, &seen).await);
    for _ in 1..20 {
        webhooks::add(&app, "http://127.0.0.1:9/", &[]).await;
    }
    there.meet(Code::TooManyWebhooks, app.admin.post("webhooks", named("http://127.0.0.1:9/"))).await;
    let codes = there.codes;
    app.stop().await;
    codes
}

async fn meet_by_waiting(met: &mut Met<'_>, applicant: &Person, approver: &Person, pending: &Value) {
    let lines = "Content-Type: application/json\r\nContent-Length: 20\r\n";
    let slow = head(applicant, "POST", "requests", lines) + "{\"title\":";
    met.meet(Code::RequestTimeout, send_bytes(met.app, slow.as_bytes())).await;

    let row = format!("SELECT FROM approval_request WHERE id = '{}' FOR UPDATE", id_of(pending));
    let held = met.app.hold(&row).await;
    met.meet(Code::Busy, approver.approve(pending)).await;
    held.release().await;

    let first = format!(
        "INSERT INTO idempotency_key (organization_id, user_id, key, fingerprint)
         VALUES ('{}', '{}', 'still-running', sha256('first'))",
        applicant.organization, applicant.id
    );
    let held = met.app.hold(&first).await;
    let again = applicant.post_with_key("still-running", "requests", json!({"title": "x"}));
    met.meet(Code::IdempotencyInProgress, again).await;
    held.release().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_lock_held_too_long_is_busy_saves_nothing_and_is_told_in_one_line() {
    logs::listen();
    let app = App::start().await;
    let (applicant, approver) = (app.applicant().await, app.approver().await);
    let pending = applicant.submitted("A printer").await;
    let held = app.hold(&format!("SELECT FROM approval_request WHERE id = '{}' FOR UPDATE", id_of(&pending))).await;

    let trying = {
        let (approver, pending) = (approver.clone(), pending.clone());
        tokio::spawn(async move {
            approver.post_with_key("once", &path_of(&pending, "approve"), json!({"version": 2})).await
        })
    };
    app.until_waiting(1).await;
    let busy = refused(&app, "busy", async { trying.await.unwrap() }, (503, "busy")).await;
    assert_eq!(busy.header("retry-after"), "1");
    let id = busy.header("x-request-id");
    let lines: Vec<_> = logs::of_request(id).into_iter().filter(|line| line["level"] != "INFO").collect();
    assert_eq!(lines.len(), 1, "{lines:?}");
    assert_eq!(lines[0]["reason"], "lock_timeout", "{lines:?}");
    held.release().await;

    let retried = approver.post_with_key("once", &path_of(&pending, "approve"), json!({"version": 2})).await;
    assert_eq!(retried.expect_status(200).body["status"], "approved", "the refused call left its key free");
    app.check_invariants().await;
    app.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_slow_body_is_told_and_loses_its_connection() {
    let mut settings = settings();
    settings.http.body_timeout = Duration::from_millis(300);
    let app = App::with(settings).await;
    let applicant = app.applicant().await;
    let mut open = Vec::new();
    for (what, lines, part) in [
        ("nothing of the body", "Content-Type: application/json\r\nContent-Length: 20\r\n", ""),
        ("half of the body", "Content-Type: application/json\r\nContent-Length: 20\r\n", "{\"title\":"),
        ("a chunk and no end", "Content-Type: application/json\r\nTransfer-Encoding: chunked\r\n", "2\r\n{}\r\n"),
    ] {
        let mut stream = connect(&app).await;
        stream.write_all((head(&applicant, "POST", "requests", lines) + part).as_bytes()).await.unwrap();
        refused(&app, what, read_answer(&mut stream), (408, "request_timeout")).await;
        open.push((what, stream));
    }
    are_closed(open).await;
    app.stop().await;
}

/// The server ends all of these connections by itself.
async fn are_closed(connections: Vec<(&str, TcpStream)>) {
    for (what, mut stream) in connections {
        let mut rest = Vec::new();
        let ended = tokio::time::timeout(PATIENCE, stream.read_to_end(&mut rest)).await;
        assert!(ended.is_ok() && rest.is_empty(), "{what}: the connection stays: {rest:?}");
    }
}

/// Who was refused at once can't hold the connection by a body that he never ends.
#[tokio::test(flavor = "multi_thread")]
async fn a_refused_call_is_not_waited_for() {
    let app = App::start().await;
    let applicant = app.applicant().await;
    let stranger = with_token(&applicant, "no token");
    let chunked = "Content-Type: application/json\r\nTransfer-Encoding: chunked\r\n";
    let packed = format!("{chunked}Content-Encoding: gzip\r\n");
    let mut open = Vec::new();
    for (what, person, method, path, lines, problem) in [
        ("no token", &stranger, "POST", "requests", chunked, (401, "unauthenticated")),
        ("packed", &applicant, "POST", "requests", &packed, (415, "unsupported_media_type")),
        ("nowhere", &applicant, "POST", "nothing", chunked, (404, "not_found")),
        ("no such method", &applicant, "POST", "requests/counts", chunked, (405, "method_not_allowed")),
        ("a query", &applicant, "GET", "requests?limit=0", chunked, (400, "invalid_query")),
    ] {
        let mut stream = connect(&app).await;
        stream.write_all((head(person, method, path, lines) + "2\r\n{}\r\n").as_bytes()).await.unwrap();
        let answer = refused(&app, what, read_answer(&mut stream), problem).await;
        assert_eq!(answer.header("connection"), "close", "{what}");
        open.push((what, stream));
    }
    are_closed(open).await;
    app.stop().await;
}

fn path_of(request: &Value, action: &str) -> String {
    format!("requests/{}/{action}", id_of(request))
}
