//! Webhooks' administration: the calls, what they refuse, and the trail that they leave.

use crate::harness::{Answer, App, Person, settings, version_of};
use crate::wire::{refused, violations};
use reqwest::Method;
use ringi::config::{Secret, Settings};
use serde_json::{Value, json};
use sqlx::Row;
use std::time::Duration;
use uuid::Uuid;

pub const KEY: &str = "000102030405060708090a0b0c0d0e0f101112131415161718191a1b1c1d1e1f";

/// With a key for secrets, endpoints on this machine, and short pauses.
pub fn hooked() -> Settings {
    let mut settings = settings();
    settings.webhooks.secret_key = Secret::new(KEY.to_owned());
    settings.webhooks.allow_private = vec!["127.0.0.0/8".to_owned()];
    settings.webhooks.retry_min = Duration::from_millis(50);
    settings
}

pub fn named(url: &str) -> Value {
    json!({"url": url, "event_types": []})
}

pub async fn add(app: &App, url: &str, event_types: &[&str]) -> Value {
    let body = json!({"url": url, "event_types": event_types});
    app.admin.post("webhooks", body).await.expect_status(201).body
}

pub fn path(endpoint: &Value, rest: &str) -> String {
    format!("webhooks/{}{rest}", endpoint["id"].as_str().unwrap())
}

/// As it stands.
pub async fn look(app: &App, endpoint: &Value) -> Value {
    app.admin.read(&path(endpoint, "")).await.expect_status(200).body
}

pub async fn post(app: &App, endpoint: &Value, action: &str, body: Value) -> Answer {
    app.admin.post(&path(endpoint, &format!("/{action}")), body).await
}

/// The same from how it stands now.
pub async fn wish(app: &App, endpoint: &Value, action: &str, mut body: Value) -> Value {
    body["version"] = look(app, endpoint).await["version"].clone();
    post(app, endpoint, action, body).await.expect_status(200).body
}

async fn delete(person: &Person, endpoint: &Value, version: i64) -> Answer {
    let path = path(endpoint, &format!("?version={version}"));
    Answer::of(person.request(Method::DELETE, &path)).await
}

/// The rows of the endpoint's history, oldest first: action, actor.
pub async fn history(app: &App, endpoint: &Value) -> Vec<(String, String)> {
    let rows = app.admin.read("history?kind=webhook&limit=200").await.expect_status(200).body;
    let text = |value: &Value| value.as_str().unwrap().to_owned();
    let rows = rows["items"].as_array().unwrap().iter().filter(|row| row["subject_id"] == endpoint["id"]);
    rows.map(|row| (text(&row["action"]), text(&row["actor_name"]))).collect()
}

#[tokio::test(flavor = "multi_thread")]
async fn an_administrator_names_changes_and_deletes_an_endpoint() {
    let app = App::answering(hooked()).await;
    let added = app.admin.post("webhooks", json!({"url": "http://127.0.0.1:9", "event_types": ["request.approve"]}));
    let added = added.await.expect_status(201);
    let place = format!("/api/v1/organizations/{}/{}", app.organization, path(&added.body, ""));
    assert_eq!(added.header("location"), place);
    let made = added.body;
    assert_eq!(
        (&made["url"], &made["state"], version_of(&made)),
        (&json!("http://127.0.0.1:9/"), &json!("enabled"), 1)
    );
    assert!(made["secret"].as_str().unwrap().starts_with("whsec_"), "{made}");
    let seen = look(&app, &made).await;
    assert_eq!((&seen["secret"], &seen["event_types"]), (&json!(null), &json!(["request.approve"])));

    let content = json!({"url": "http://127.0.0.1:9/new", "event_types": [], "version": 1});
    let changed = app.admin.put(&path(&made, ""), content.clone()).await.expect_status(200).body;
    assert_eq!((&changed["url"], version_of(&changed)), (&json!("http://127.0.0.1:9/new"), 2));
    let again = app.admin.put(&path(&made, ""), json!({"url": content["url"], "event_types": [], "version": 2})).await;
    assert_eq!(version_of(&again.expect_status(200).body), 2, "what is so already is no new version");
    let disabled = wish(&app, &made, "disable", json!({})).await;
    assert_eq!(disabled["state"], "disabled");
    assert_eq!(wish(&app, &made, "enable", json!({})).await["state"], "enabled");
    let rotated = wish(&app, &made, "rotate-secret", json!({"overlap_hours": 2})).await;
    assert_ne!(rotated["secret"], made["secret"]);
    assert!(rotated["old_secret_until"].is_string(), "{rotated}");
    let rotated = wish(&app, &made, "rotate-secret", json!({"overlap_hours": 0})).await;
    assert_eq!(rotated["old_secret_until"], json!(null));

    let second = add(&app, "http://127.0.0.1:9/2", &[]).await;
    let page = app.admin.read("webhooks?limit=1").await.expect_status(200).body;
    assert_eq!(page["items"][0]["id"], made["id"]);
    let next = format!("webhooks?limit=1&cursor={}", page["next_cursor"].as_str().unwrap());
    assert_eq!(app.admin.read(&next).await.expect_status(200).body["items"][0]["id"], second["id"]);

    let gone = delete(&app.admin, &made, 6).await;
    assert_eq!((gone.status.as_u16(), gone.text.as_str()), (204, ""));
    app.admin.read(&path(&made, "")).await.expect_problem(404, "not_found");
    delete(&app.admin, &made, 6).await.expect_problem(404, "not_found");
    let actions = ["add", "change", "disable", "enable", "rotate_secret", "rotate_secret", "delete"];
    let expected: Vec<_> = actions.iter().map(|action| ((*action).to_owned(), "Dara Admin".to_owned())).collect();
    assert_eq!(history(&app, &made).await, expected);
    let whole = app.admin.read("history/verify").await.expect_status(200).body;
    assert_eq!(whole["whole"], json!(true), "{whole}");
    app.check_invariants().await;
    app.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_secret_is_shown_once_and_kept_nowhere_in_plain() {
    let app = App::answering(hooked()).await;
    let body = named("http://127.0.0.1:9/in?token=s3cret-of-the-receiver");
    let first = app.admin.post_with_key("once", "webhooks", body.clone()).await.expect_status(201);
    let again = app.admin.post_with_key("once", "webhooks", body).await.expect_status(201);
    assert_eq!(again.header("idempotency-replayed"), "true");
    assert_eq!((&again.body["secret"], &again.body["id"]), (&json!(null), &first.body["id"]));
    let rotate = path(&first.body, "/rotate-secret");
    let new = app.admin.post_with_key("twice", &rotate, json!({"version": 1})).await.expect_status(200);
    let same = app.admin.post_with_key("twice", &rotate, json!({"version": 1})).await.expect_status(200);
    assert_eq!((same.header("idempotency-replayed"), &same.body["secret"]), ("true", &json!(null)));
    wish(&app, &first.body, "disable", json!({})).await;

    for secret in [&first.body["secret"], &new.body["secret"]] {
        let text = secret.as_str().unwrap().trim_start_matches("whsec_");
        let bytes = base64::Engine::decode(&base64::engine::general_purpose::STANDARD, text).unwrap();
        for form in [text.to_owned(), hex::encode(bytes)] {
            assert_eq!(everywhere(&app, &form).await, Vec::<String>::new(), "in the database in plain");
        }
    }
    // The address may hold a secret of the receiver's: it stands in its own row and nowhere else.
    assert_eq!(everywhere(&app, "s3cret-of-the-receiver").await, ["idempotency_key", "webhook_endpoint"]);
    app.stop().await;
}

/// The tables that hold a text, as text or as the bytes of one.
async fn everywhere(app: &App, text: &str) -> Vec<String> {
    let mut db = app.database.connect().await;
    let names = "SELECT tablename::text FROM pg_tables WHERE schemaname = 'public' ORDER BY 1";
    let mut found = Vec::new();
    for table in sqlx::query(names).fetch_all(&mut db).await.unwrap() {
        let table: String = table.get(0);
        let sql =
            format!("SELECT EXISTS (SELECT FROM {table} t WHERE strpos(t::text, $1) > 0 OR strpos(t::text, $2) > 0)");
        let there: bool = sqlx::query_scalar(sqlx::AssertSqlSafe(sql))
            .bind(text)
            .bind(hex::encode(text))
            .fetch_one(&mut db)
            .await
            .unwrap();
        if there {
            found.push(table);
        }
    }
    found
}

/// The one list over both histories has kinds before `request` and one after it: rows of one instant come once each.
#[tokio::test(flavor = "multi_thread")]
async fn a_walk_meets_what_happened_in_one_instant_once_whatever_it_is_of() {
    let app = App::answering(hooked()).await;
    let applicant = app.applicant().await;
    for title in ["A", "B"] {
        applicant.submitted(title).await;
    }
    add(&app, "http://127.0.0.1:9/", &[]).await;
    add(&app, "http://127.0.0.1:9/", &[]).await;
    // One instant for all of it, as the superuser, whom no trigger stops.
    app.execute(
        "SET session_replication_role = replica;
         UPDATE approval_history SET occurred_at = '2026-01-01Z';
         UPDATE organization_history SET occurred_at = '2026-01-01Z'",
    )
    .await;
    let (mut walked, mut path) = (Vec::new(), "history?to=2026-01-02T00:00:00Z&limit=1".to_owned());
    loop {
        let page = app.admin.read(&path).await.expect_status(200).body;
        walked.extend(page["items"].as_array().unwrap().clone());
        let Some(cursor) = page["next_cursor"].as_str() else { break };
        path = format!("history?to=2026-01-02T00:00:00Z&limit=1&cursor={cursor}");
    }
    let kinds: Vec<_> = walked.iter().map(|row| row["kind"].as_str().unwrap()).collect();
    assert_eq!(kinds, ["member", "member", "request", "request", "request", "request", "webhook", "webhook"]);
    let mut names: Vec<_> =
        walked.iter().map(|row| format!("{} {} {}", row["kind"], row["subject_id"], row["request_id"])).collect();
    names.sort();
    names.dedup();
    assert_eq!(names.len(), 6, "{walked:#?}");
    app.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn only_administrators_and_only_what_they_saw() {
    let app = App::answering(hooked()).await;
    let endpoint = add(&app, "http://127.0.0.1:9/", &[]).await;
    let (member, outsider) = (app.applicant().await, app.outsider());
    for (who, problem) in [(&member, (403, "forbidden")), (&outsider, (403, "not_a_member"))] {
        for read in ["webhooks".to_owned(), path(&endpoint, ""), path(&endpoint, "/deliveries")] {
            who.read(&read).await.expect_problem(problem.0, problem.1);
        }
        refused(&app, "add", who.post("webhooks", named("http://127.0.0.1:9/")), problem).await;
        refused(&app, "delete", delete(who, &endpoint, 1), problem).await;
        for (action, body) in [
            ("enable", json!({"version": 1})),
            ("disable", json!({"version": 1})),
            ("replay", json!({"version": 1, "from_position": 1})),
            ("rotate-secret", json!({"version": 1})),
        ] {
            refused(&app, action, who.post(&path(&endpoint, &format!("/{action}")), body), problem).await;
        }
    }
    // Another organization's administrator is nobody here.
    let elsewhere = Uuid::new_v4();
    app.create_organization(elsewhere, app.admin.id).await;
    let there = app.admin.in_organization(elsewhere);
    there.read(&path(&endpoint, "")).await.expect_problem(404, "not_found");
    there.read(&path(&endpoint, "/deliveries")).await.expect_problem(404, "not_found");
    refused(&app, "elsewhere", delete(&there, &endpoint, 1), (404, "not_found")).await;

    refused(&app, "stale", delete(&app.admin, &endpoint, 2), (409, "webhook_changed")).await;
    let stale = post(&app, &endpoint, "disable", json!({"version": 2}));
    let told = refused(&app, "stale", stale, (409, "webhook_changed")).await;
    assert_eq!(told.body["current"], look(&app, &endpoint).await);
    let unversioned = Answer::of(app.admin.request(Method::DELETE, &path(&endpoint, "")));
    refused(&app, "no version", unversioned, (422, "version_required")).await;
    refused(&app, "no version", post(&app, &endpoint, "enable", json!({})), (422, "version_required")).await;
    app.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn addresses_that_must_not_be_reached_are_refused_with_their_reason() {
    let mut settings = hooked();
    settings.webhooks.allow_private = vec!["127.0.0.5".to_owned()];
    let app = App::answering(settings).await;
    for (url, code) in [
        ("ftp://erp.example/", "url_invalid"),
        ("erp.example/in", "url_invalid"),
        ("https://dara:pw@erp.example/", "url_invalid"),
        ("https://erp.example/#part", "url_invalid"),
        ("https://erp.example/\n", "url_invalid"),
        ("http://127.0.0.1/", "address_private"),
        ("http://[::1]/", "address_private"),
        ("http://2130706433/", "address_private"),
        ("http://169.254.169.254/latest/meta-data", "address_private"),
        ("http://localhost:8080/", "address_private"),
        ("https://no-such-name.invalid/", "name_unknown"),
    ] {
        let answer = refused(&app, url, app.admin.post("webhooks", named(url)), (422, "validation_failed")).await;
        assert_eq!(violations(&answer), [("/url".to_owned(), code.to_owned())], "{url}");
        assert!(!answer.text.contains("pw@"), "{}", answer.text);
    }
    let endpoint = add(&app, "http://127.0.0.5/", &[]).await;
    let change = json!({"url": "http://10.0.0.1/", "event_types": [], "version": 1});
    refused(&app, "changed to", app.admin.put(&path(&endpoint, ""), change), (422, "validation_failed")).await;
    let types = json!({"url": "http://127.0.0.5/", "event_types": ["request.approve", "nothing", "request.approve"]});
    let told = refused(&app, "types", app.admin.post("webhooks", types), (422, "validation_failed")).await;
    let expected = [("/event_types/1", "unknown_event_type"), ("/event_types/2", "duplicate")];
    assert_eq!(violations(&told), expected.map(|(at, code)| (at.to_owned(), code.to_owned())));
    for (what, body) in [
        ("no list", json!({"url": "http://127.0.0.5/", "event_types": "all"})),
        ("no texts", json!({"url": "http://127.0.0.5/", "event_types": [1]})),
        ("no address", json!({"event_types": []})),
        ("NUL", json!({"url": "http://127.0.0.5/\u{0}", "event_types": []})),
    ] {
        refused(&app, what, app.admin.post("webhooks", body), (422, "validation_failed")).await;
    }
    for from in [-1, 0, i64::MAX] {
        let body = json!({"version": 1, "from_position": from});
        refused(&app, "replay", post(&app, &endpoint, "replay", body), (422, "validation_failed")).await;
    }
    for hours in [-1, 169] {
        let body = json!({"version": 1, "overlap_hours": hours});
        refused(&app, "rotate", post(&app, &endpoint, "rotate-secret", body), (422, "validation_failed")).await;
    }
    app.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn of_those_who_add_at_once_no_more_are_let_in_than_there_is_room_for() {
    let app = App::answering(hooked()).await;
    for _ in 0..18 {
        add(&app, "http://127.0.0.1:9/", &[]).await;
    }
    let held = app.hold(&format!("SELECT FROM organization WHERE id = '{}' FOR UPDATE", app.organization)).await;
    let adding: Vec<_> = (0..4)
        .map(|_| {
            let admin = app.admin.clone();
            tokio::spawn(async move { admin.post("webhooks", named("http://127.0.0.1:9/")).await.status.as_u16() })
        })
        .collect();
    app.until_waiting(4).await;
    held.release().await;
    let mut told = Vec::new();
    for one in adding {
        told.push(one.await.unwrap());
    }
    told.sort_unstable();
    assert_eq!(told, [201, 201, 409, 409]);
    assert_eq!(app.count("SELECT count(*) FROM webhook_endpoint").await, 20);
    app.stop().await;
}
