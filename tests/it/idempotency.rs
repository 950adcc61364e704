//! The same call again, under its key, is answered again and done once.

use crate::harness::{Answer, App, PATIENCE, Person, id_of, settings, version_of};
use crate::wire::{post_text, refused, send};
use metrics_exporter_prometheus::PrometheusBuilder;
use reqwest::Method;
use ringi::app::{Role, Service, UseCases, Work, tokens};
use ringi::pg::{APPLICATION_ROLE, PoolSettings};
use serde_json::{Value, json};
use std::net::TcpListener;
use std::time::Duration;
use uuid::Uuid;

fn at(request: &Value, action: &str) -> String {
    format!("requests/{}/{action}", id_of(request))
}

async fn put_with_key(person: &Person, key: &str, path: &str, body: Value) -> Answer {
    Answer::of(person.request(Method::PUT, path).header("Idempotency-Key", key).json(&body)).await
}

/// `again` is `first`, word for word, and says that it was said before.
#[track_caller]
fn is_replay_of(again: &Answer, first: &Answer) {
    assert_eq!((again.status, &again.text), (first.status, &first.text));
    for header in ["location", "etag", "content-type", "cache-control"] {
        assert_eq!(again.header(header), first.header(header), "{header}");
    }
    assert_eq!((first.header("idempotency-replayed"), again.header("idempotency-replayed")), ("", "true"));
}

#[tokio::test(flavor = "multi_thread")]
async fn the_same_call_is_answered_again_and_done_once() {
    let app = App::start().await;
    let (applicant, approver) = (app.applicant().await, app.approver().await);
    let body = json!({"title": "A printer", "description": "why", "amount": 5, "currency": "JPY"});
    let made = applicant.post_with_key("make", "requests", body.clone()).await.expect_status(201);
    let path = format!("/api/v1/organizations/{}/requests/{}", app.organization, id_of(&made.body));
    assert_eq!(made.header("location"), path);
    assert_eq!(applicant.read(made.header("location")).await.expect_status(200).header("etag"), made.header("etag"));

    let mut edited = body.clone();
    edited["version"] = json!(1);
    edited["title"] = json!("Two printers");
    let path = format!("requests/{}", id_of(&made.body));
    let edit = put_with_key(&applicant, "edit", &path, edited.clone()).await.expect_status(200);
    let submit =
        applicant.post_with_key("submit", &at(&made.body, "submit"), json!({"version": 2})).await.expect_status(200);
    let decision = json!({"version": 3, "reason": "yes"});
    let approve =
        approver.post_with_key("approve", &at(&made.body, "approve"), decision.clone()).await.expect_status(200);

    let before = app.everything().await;
    is_replay_of(&applicant.post_with_key("make", "requests", body).await, &made);
    is_replay_of(&put_with_key(&applicant, "edit", &path, edited).await, &edit);
    is_replay_of(&applicant.post_with_key("submit", &at(&made.body, "submit"), json!({"version": 2})).await, &submit);
    is_replay_of(&approver.post_with_key("approve", &at(&made.body, "approve"), decision).await, &approve);
    // White space, the order of names and how a letter is written make no other call, and quotes no other key.
    let other_words = "{ \"reason\" : \"\\u0079es\",\n \"version\":3}";
    let request = approver.request(Method::POST, &at(&made.body, "approve")).header("content-type", "application/json");
    is_replay_of(&Answer::of(request.header("idempotency-key", "\"approve\"").body(other_words)).await, &approve);
    assert_eq!(app.everything().await, before, "a replay does nothing");
    app.check_invariants().await;
    app.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_key_of_one_call_is_refused_for_every_other() {
    let app = App::start().await;
    let (applicant, approver) = (app.applicant().await, app.approver().await);
    let one = applicant.submitted("One").await;
    let other = applicant.submitted("Other").await;
    let body = json!({"version": 2, "reason": "yes"});
    approver.post_with_key("k", &at(&one, "approve"), body.clone()).await.expect_status(200);
    let reused = (422, "idempotency_key_reused");
    for (what, path, body) in [
        ("another request", at(&other, "approve"), body.clone()),
        ("another action", at(&one, "reject"), body.clone()),
        ("another reason", at(&one, "approve"), json!({"version": 2, "reason": "no"})),
        ("no reason", at(&one, "approve"), json!({"version": 2})),
        ("a null reason", at(&one, "approve"), json!({"version": 2, "reason": null})),
        ("another version", at(&one, "approve"), json!({"version": 3, "reason": "yes"})),
        ("a request that is not there", format!("requests/{}/approve", Uuid::new_v4()), body.clone()),
        ("a new request", "requests".to_owned(), json!({"title": "x"})),
    ] {
        refused(&app, what, approver.post_with_key("k", &path, body), reused).await;
    }
    let member = json!({"user_id": Uuid::new_v4(), "display_name": "New", "is_active": true,
                        "can_approve": false, "is_admin": false});
    app.admin.post_with_key("m", "members", member.clone()).await.expect_status(201);
    let path = format!("members/{}", member["user_id"].as_str().unwrap());
    let put = json!({"display_name": "Old", "is_active": true, "can_approve": false, "is_admin": false, "version": 1});
    refused(&app, "another method", put_with_key(&app.admin, "m", &path, put), reused).await;
    app.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_refused_call_leaves_its_key_free() {
    let app = App::start().await;
    let (applicant, approver) = (app.applicant().await, app.approver().await);
    let pending = applicant.submitted("A printer").await;
    let reject = at(&pending, "reject");
    for (body, problem) in [
        (json!({"version": 2}), (422, "validation_failed")),
        (json!({"version": 1, "reason": "no"}), (409, "request_changed")),
        (json!({"version": 2, "reason": "no", "x": 1}), (422, "unknown_field")),
    ] {
        refused(&app, "refused", approver.post_with_key("k", &reject, body), problem).await;
    }
    refused(
        &app,
        "gone",
        approver.post_with_key(
            "k",
            &format!("requests/{}/reject", Uuid::new_v4()),
            json!({"version": 2, "reason": "no"}),
        ),
        (404, "not_found"),
    )
    .await;
    approver.post_with_key("k", &reject, json!({"version": 2, "reason": "no"})).await.expect_status(200);
    app.check_invariants().await;
    app.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn keys_are_a_users_own_in_each_organization() {
    let app = App::start().await;
    let (applicant, approver) = (app.applicant().await, app.approver().await);
    let elsewhere = Uuid::new_v4();
    app.create_organization(elsewhere, applicant.id).await;
    let body = json!({"title": "A printer"});
    let mut made = std::collections::BTreeSet::new();
    for person in [&applicant, &approver, &applicant.in_organization(elsewhere)] {
        let answer = person.post_with_key("k", "requests", body.clone()).await.expect_status(201);
        assert_eq!(answer.header("idempotency-replayed"), "");
        made.insert(id_of(&answer.body));
    }
    assert_eq!(made.len(), 3);
    app.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_key_is_1_to_255_visible_ascii_characters() {
    let app = App::start().await;
    let applicant = app.applicant().await;
    let body = json!({"title": "A printer"});
    let longest = "k".repeat(255);
    for key in ["k", "!~", "0197c0de-0000-7000-8000-000000000000", &longest, "\"quoted\"", "\"", "'"] {
        applicant.post_with_key(key, "requests", body.clone()).await.expect_status(201);
    }
    let again = applicant.post_with_key(&format!("\"{longest}\""), "requests", body.clone()).await;
    assert_eq!(again.header("idempotency-replayed"), "true", "quotes do not count");
    let invalid = (400, "invalid_idempotency_key");
    for bad in ["", "\"\"", "a b", "a\tb", "ключ", "\u{7f}", &"k".repeat(256), &format!("\"{}\"", "k".repeat(256))]
    {
        // As bytes, since the client library knows which text is no header.
        let Ok(value) = reqwest::header::HeaderValue::from_bytes(bad.as_bytes()) else { continue };
        let request = applicant.request(Method::POST, "requests").json(&body).header("idempotency-key", value);
        refused(&app, bad, Answer::of(request), invalid).await;
    }
    let twice = applicant.request(Method::POST, "requests").json(&body);
    let twice = twice.header("idempotency-key", "a").header("idempotency-key", "b");
    refused(&app, "two keys", Answer::of(twice), invalid).await;
    let before_the_body = applicant
        .request(Method::POST, "requests")
        .header("idempotency-key", "")
        .header("content-type", "application/json")
        .body("{");
    refused(&app, "an empty key", Answer::of(before_the_body), invalid).await;
    app.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn the_second_of_two_calls_waits_for_the_first_and_says_the_same() {
    let app = App::start().await;
    let (applicant, approver) = (app.applicant().await, app.approver().await);
    let pending = applicant.submitted("A printer").await;
    let held = app.hold(&format!("SELECT FROM approval_request WHERE id = '{}' FOR UPDATE", id_of(&pending))).await;
    let approve = || {
        let (approver, path) = (approver.clone(), at(&pending, "approve"));
        tokio::spawn(async move { approver.post_with_key("once", &path, json!({"version": 2})).await })
    };
    let first = approve();
    app.until_waiting(1).await;
    let second = approve();
    app.until_waiting(2).await;
    held.release().await;
    let (first, second) = (first.await.unwrap().expect_status(200), second.await.unwrap());
    is_replay_of(&second, &first);
    let history = applicant.history(&pending).await;
    assert_eq!(history.len(), 3, "{history:#?}");
    app.check_invariants().await;
    app.stop().await;
}

/// What is older than a client may rely on is forgotten, in short statements, and nothing else is.
#[tokio::test(flavor = "multi_thread")]
async fn old_keys_are_forgotten_and_young_ones_are_not() {
    let app = App::start().await;
    let applicant = app.applicant().await;
    let elsewhere = Uuid::new_v4();
    app.create_organization(elsewhere, applicant.id).await;
    let (old, young) = (json!({"title": "Old"}), json!({"title": "Young"}));
    let first = applicant.post_with_key("young", "requests", young.clone()).await.expect_status(201);
    applicant.post_with_key("old", "requests", old.clone()).await.expect_status(201);
    app.execute(
        "UPDATE idempotency_key SET created_at = now() - interval '47 hours 59 minutes' WHERE key = 'young';
         UPDATE idempotency_key SET created_at = now() - interval '48 hours 1 minute' WHERE key = 'old'",
    )
    .await;
    // More than one statement's worth, of two organizations.
    app.execute(&format!(
        "INSERT INTO idempotency_key (organization_id, user_id, key, fingerprint, status, body, created_at)
         SELECT o, '{user}', 'k' || n, sha256('x'), 200, '{{}}', now() - interval '3 days'
         FROM unnest('{{{here}, {elsewhere}}}'::uuid[]) o, generate_series(1, 1200) n",
        user = applicant.id,
        here = app.organization,
    ))
    .await;
    let age = app.settings.retention.idempotency_keys;
    let forget = async |stop: bool| {
        let asked = tokio_util::sync::CancellationToken::new();
        if stop {
            asked.cancel();
        }
        ringi::app::forget_old_keys(&app.pools, &app.settings.database, age, &asked).await.unwrap()
    };
    assert_eq!(forget(true).await, 0, "a process that stops begins nothing");
    assert_eq!(forget(false).await, 2_401);
    assert_eq!(forget(false).await, 0);
    let left = app.count("SELECT count(*) FROM idempotency_key WHERE key IN ('young', 'old') OR key LIKE 'k%'").await;
    assert_eq!(left, 1);
    is_replay_of(&applicant.post_with_key("young", "requests", young).await, &first);
    let again = applicant.post_with_key("old", "requests", old).await.expect_status(201);
    assert_eq!(again.header("idempotency-replayed"), "", "a key that was forgotten is free");
    app.stop().await;
}

/// A server forgets by itself.
#[tokio::test(flavor = "multi_thread")]
async fn a_server_forgets_old_keys_by_itself() {
    let mut settings = settings();
    settings.retention.sweep_interval = Duration::from_millis(50);
    let app = App::with(settings).await;
    app.applicant().await.post_with_key("old", "requests", json!({"title": "Old"})).await.expect_status(201);
    app.execute("UPDATE idempotency_key SET created_at = now() - interval '3 days'").await;
    let since = std::time::Instant::now();
    while app.count("SELECT count(*) FROM idempotency_key").await > 0 {
        assert!(since.elapsed() < PATIENCE, "nobody forgets");
        tokio::time::sleep(Duration::from_millis(10)).await;
    }
    app.stop().await;
}

/// Another process on the same database, whose patience is short.
async fn hasty(app: &App) -> (Service, String) {
    let mut settings = app.settings.clone();
    settings.database.lock_timeout = Duration::from_millis(200);
    let options = app.database.options();
    let pools =
        ringi::pg::connect(&options, &PoolSettings::from(&settings.database), Some(APPLICATION_ROLE)).await.unwrap();
    let use_cases = UseCases::new(&pools, &settings.database);
    let tokens = tokens(&settings.auth).unwrap();
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = format!("http://{}", listener.local_addr().unwrap());
    let metrics = PrometheusBuilder::new().build_recorder().handle();
    let work = Work::start(pools, &settings, Role::Api).unwrap();
    (Service::start(work, false, use_cases, &settings, tokens, metrics, listener).unwrap(), address)
}

#[tokio::test(flavor = "multi_thread")]
async fn who_waited_too_long_for_the_first_call_is_told_that_it_still_runs() {
    let app = App::start().await;
    let (applicant, approver) = (app.applicant().await, app.approver().await);
    let (service, address) = hasty(&app).await;
    let pending = applicant.submitted("A printer").await;
    let path = at(&pending, "approve");
    let held = app.hold(&format!("SELECT FROM approval_request WHERE id = '{}' FOR UPDATE", id_of(&pending))).await;
    let first = {
        let (approver, path) = (approver.clone(), path.clone());
        tokio::spawn(async move { approver.post_with_key("once", &path, json!({"version": 2})).await })
    };
    app.until_waiting(1).await;
    let there = Person::with_id(&app.http, &address, app.organization, &approver.name, approver.id);
    let again = there.post_with_key("once", &path, json!({"version": 2}));
    let again = refused(&app, "the first runs", again, (409, "idempotency_in_progress")).await;
    assert_eq!(again.header("retry-after"), "1");
    held.release().await;
    let first = first.await.unwrap().expect_status(200);
    is_replay_of(&there.post_with_key("once", &path, json!({"version": 2})).await, &first);
    service.stop().await;
    app.check_invariants().await;
    app.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn membership_is_checked_before_an_answer_is_handed_out_again() {
    let app = App::start().await;
    let (applicant, approver) = (app.applicant().await, app.approver().await);
    let pending = applicant.submitted("A printer").await;
    let path = at(&pending, "approve");
    let approve = || approver.post_with_key("k", &path, json!({"version": 2}));
    let first = approve().await.expect_status(200);
    app.admin.change_member(approver.id, json!({"is_active": false})).await.expect_status(200);
    refused(&app, "deactivated", approve(), (403, "not_a_member")).await;
    app.admin.change_member(approver.id, json!({"is_active": true, "can_approve": false})).await.expect_status(200);
    is_replay_of(&approve().await, &first);
    app.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn what_changes_nothing_is_kept_under_its_key_all_the_same() {
    let app = App::start().await;
    let applicant = app.applicant().await;
    let draft = applicant.create("A printer").await;
    let path = format!("requests/{}", id_of(&draft));
    let body = |title: &str, version: i64| {
        json!({"version": version, "title": title, "description": draft["description"],
               "amount": draft["amount"], "currency": draft["currency"]})
    };
    let without_key = app.everything().await;
    assert_eq!(applicant.put(&path, body("A printer", 1)).await.expect_status(200).body, draft);
    assert_eq!(app.everything().await, without_key, "identical content is no new version");

    let first = put_with_key(&applicant, "same", &path, body("A printer", 1)).await.expect_status(200);
    assert_eq!(version_of(&first.body), 1);
    applicant.put(&path, body("Another printer", 1)).await.expect_status(200);
    is_replay_of(&put_with_key(&applicant, "same", &path, body("A printer", 1)).await, &first);
    refused(
        &app,
        "reused",
        put_with_key(&applicant, "same", &path, body("A printer", 2)),
        (422, "idempotency_key_reused"),
    )
    .await;
    assert_eq!(applicant.history(&draft).await.len(), 2);
    app.check_invariants().await;
    app.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn members_are_made_and_changed_once_under_a_key() {
    let app = App::start().await;
    let id = Uuid::new_v4();
    let fields = json!({"display_name": "Nia New", "is_active": true, "can_approve": true, "is_admin": false});
    let with = |name: &str, value: Value| {
        let mut body = fields.clone();
        body[name] = value;
        body
    };
    let (add, path) = (with("user_id", json!(id)), format!("members/{id}"));
    let added = app.admin.post_with_key("add", "members", add.clone()).await.expect_status(201);
    assert_eq!(added.header("location"), format!("/api/v1/organizations/{}/{path}", app.organization));
    assert_eq!(app.admin.read(&path).await.header("etag"), added.header("etag"));
    is_replay_of(&app.admin.post_with_key("add", "members", add.clone()).await, &added);
    refused(&app, "without the key", app.admin.post("members", add), (409, "already_a_member")).await;

    let mut change = with("version", json!(1));
    change["can_approve"] = json!(false);
    let changed = put_with_key(&app.admin, "change", &path, change.clone()).await.expect_status(200);
    assert_eq!(version_of(&changed.body), 2);
    is_replay_of(&put_with_key(&app.admin, "change", &path, change.clone()).await, &changed);
    refused(&app, "without the key", app.admin.put(&path, change), (409, "member_changed")).await;

    // The administrator's own row, which is locked for the change and shared by the key.
    let own = format!("members/{}", app.admin.id);
    let rename =
        json!({"display_name": "Dara", "is_active": true, "can_approve": false, "is_admin": true, "version": 1});
    let renamed = put_with_key(&app.admin, "own", &own, rename.clone()).await.expect_status(200);
    is_replay_of(&put_with_key(&app.admin, "own", &own, rename.clone()).await, &renamed);
    // A change that changes nothing.
    let mut same = rename;
    same["version"] = json!(2);
    let first = put_with_key(&app.admin, "same", &own, same.clone()).await.expect_status(200);
    is_replay_of(&put_with_key(&app.admin, "same", &own, same).await, &first);
    assert_eq!(app.count("SELECT count(*) FROM organization_history WHERE action = 'change'").await, 2);

    let last =
        json!({"display_name": "Dara", "is_active": true, "can_approve": false, "is_admin": false, "version": 2});
    refused(&app, "last", put_with_key(&app.admin, "last", &own, last), (409, "last_admin")).await;
    assert_eq!(app.count("SELECT count(*) FROM idempotency_key WHERE key = 'last'").await, 0);
    let bad = send(&app.admin, Method::PUT, &own, "{").await;
    bad.expect_problem(400, "malformed_json");
    post_text(&app.admin, "members", "[]").await.expect_problem(400, "malformed_json");
    app.check_invariants().await;
    app.stop().await;
}
