//! The one list over both histories: filters, pages, who may look, and that looking is recorded once.

use crate::harness::{App, PATIENCE, Person, id_of};
use base64::Engine;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use serde_json::{Value, json};
use std::time::Instant;
use uuid::Uuid;

/// A walk to its end.
pub async fn walk(admin: &Person, query: &str, limit: usize) -> Vec<Value> {
    let (mut rows, mut cursor) = (Vec::new(), String::new());
    loop {
        let page = admin.read(&format!("history?{query}&limit={limit}{cursor}")).await.expect_status(200).body;
        let items = page["items"].as_array().unwrap();
        assert!(items.len() <= limit);
        rows.extend(items.iter().cloned());
        assert!(rows.len() < 100_000, "the walk does not end");
        match page["next_cursor"].as_str() {
            Some(next) => cursor = format!("&cursor={next}"),
            None => return rows,
        }
    }
}

/// The records of accesses, once there are this many: seen, not slept for.
pub async fn accesses(app: &App, expected: usize) -> Vec<Value> {
    let mut db = app.database.connect().await;
    let start = Instant::now();
    loop {
        let found: Vec<Value> = sqlx::query_scalar(
            "SELECT detail || jsonb_build_object('action', action, 'subject', subject_id, 'name', actor_name)
             FROM organization_history WHERE kind = 'access' ORDER BY occurred_at, subject_id, seq",
        )
        .fetch_all(&mut db)
        .await
        .unwrap();
        if found.len() >= expected {
            assert_eq!(found.len(), expected, "{found:#?}");
            return found;
        }
        assert!(start.elapsed() < PATIENCE, "{} accesses are recorded, not {expected}", found.len());
        tokio::task::yield_now().await;
    }
}

fn place(row: &Value) -> (String, String, String, i64) {
    let text = |name: &str| row[name].as_str().unwrap_or_default().to_owned();
    let subject = text("request_id") + &text("subject_id");
    (text("occurred_at"), text("kind"), subject, row["version"].as_i64().unwrap())
}

/// Two submitted requests, one decided, and a draft.
async fn story(app: &App) -> (Person, Person, Value, Value, Value) {
    let (applicant, approver) = (app.applicant().await, app.approver().await);
    let first = applicant.submitted("first").await;
    let draft = applicant.create("never submitted").await;
    let second = applicant.submitted("second").await;
    approver.act(&first, "reject", Some("=too much")).await.expect_status(200);
    (applicant, approver, first, second, draft)
}

#[tokio::test(flavor = "multi_thread")]
async fn one_list_over_both_histories_in_one_order() {
    let app = App::start().await;
    let (applicant, approver, first, _, draft) = story(&app).await;
    let rows = walk(&app.admin, "", 200).await;
    let told: Vec<_> = rows.iter().map(|row| format!("{} {}", row["kind"], row["action"]).replace('"', "")).collect();
    assert_eq!(
        told,
        [
            "member add",
            "member add",
            "member add",
            "request create",
            "request submit",
            "request create",
            "request submit",
            "request reject",
        ]
    );
    let places: Vec<_> = rows.iter().map(place).collect();
    assert!(places.is_sorted(), "{places:#?}");
    assert!(rows.iter().all(|row| row["request_id"] != draft["id"]), "a request that was never submitted is not shown");

    let rejected = &rows[7];
    assert_eq!(rejected["request_id"], first["id"]);
    assert_eq!(rejected["actor_name"], "Ben Approver");
    assert_eq!((&rejected["from_status"], &rejected["to_status"]), (&json!("pending"), &json!("rejected")));
    assert_eq!((&rejected["reason"], &rejected["version"]), (&json!("=too much"), &json!(3)));
    assert_eq!((&rejected["subject_id"], &rejected["detail"]), (&Value::Null, &Value::Null));
    let added = &rows[2];
    assert_eq!((&added["request_id"], &added["content_hash"]), (&Value::Null, &Value::Null));
    assert_eq!(added["subject_id"], json!(approver.id));
    assert_eq!(added["actor_id"], json!(app.admin.id));
    assert_eq!(added["detail"]["after"]["display_name"], "Ben Approver");
    assert_eq!(rows[0]["actor_id"], Value::Null, "the command line");
    let own = applicant.history(&first).await;
    for name in own[0].as_object().unwrap().keys() {
        assert_eq!(own[2][name], rejected[name], "{name} is as in the request's own history");
    }

    // Once it is submitted, its whole life is shown.
    applicant.act(&draft, "submit", None).await.expect_status(200);
    let shown = walk(&app.admin, &format!("request_id={}", id_of(&draft)), 200).await;
    assert_eq!(shown.len(), 2);
    app.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn filters_take_what_they_say_and_bounds_meet_without_gap_or_overlap() {
    let app = App::start().await;
    let (applicant, approver, first, ..) = story(&app).await;
    let all = walk(&app.admin, "to=2100-01-01T00:00:00Z", 200).await;
    for (query, expected) in [
        (format!("request_id={}", id_of(&first)), 3),
        (format!("request_id={}&action=reject", id_of(&first)), 1),
        (format!("request_id={}&kind=member", id_of(&first)), 0),
        (format!("request_id={}", Uuid::new_v4()), 0),
        (format!("actor_id={}", applicant.id), 4),
        (format!("actor_id={}&kind=request", approver.id), 1),
        (format!("actor_id={}&kind=member", app.admin.id), 2),
        ("kind=request".to_owned(), 5),
        ("kind=member".to_owned(), 3),
        ("kind=job".to_owned(), 0),
        ("action=submit".to_owned(), 2),
        ("action=add".to_owned(), 3),
        ("action=add&kind=request".to_owned(), 0),
    ] {
        assert_eq!(walk(&app.admin, &query, 200).await.len(), expected, "{query}");
    }
    for row in &all {
        let at = row["occurred_at"].as_str().unwrap();
        let before = walk(&app.admin, &format!("to={at}"), 2).await;
        let after = walk(&app.admin, &format!("from={at}&to=2100-01-01T00:00:00Z&kind=request"), 2).await;
        let after_others = walk(&app.admin, &format!("from={at}&kind=member"), 200).await;
        assert!(before.iter().all(|other| other["occurred_at"].as_str().unwrap() < at), "`to` is not included");
        assert_eq!(before.len() + after.len() + after_others.len(), all.len(), "at {at}");
        let finer = at.replace('Z', "400Z");
        let later = walk(&app.admin, &format!("from={finer}&kind=request"), 200).await;
        assert!(later.iter().all(|other| other["occurred_at"].as_str().unwrap() > at), "a bound finer than the clock");
    }
    for wrong in [
        "colour=red",
        "kind=visit",
        "action=forget",
        "action=send-back",
        "actor_id=me",
        "request_id=1",
        "from=yesterday",
        "to=2026-13-01T00:00:00Z",
        "limit=0",
        "limit=201",
        "cursor=abc",
        "kind=member&kind=job",
        "from=%00",
    ] {
        app.admin.read(&format!("history?{wrong}")).await.expect_problem(400, "invalid_query");
    }
    app.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn only_active_administrators_of_the_organization_look() {
    let app = App::start().await;
    let (applicant, approver, first, ..) = story(&app).await;
    let second_admin = app.member("Emi Admin", false, true).await;
    second_admin.read("history").await.expect_status(200);
    app.admin.change_member(second_admin.id, json!({"is_active": false})).await.expect_status(200);
    let (elsewhere, other_admin) = (Uuid::new_v4(), app.outsider());
    app.create_organization(elsewhere, other_admin.id).await;
    for path in ["history", "history/verify"] {
        applicant.read(path).await.expect_problem(403, "forbidden");
        approver.read(path).await.expect_problem(403, "forbidden");
        app.outsider().read(path).await.expect_problem(403, "not_a_member");
        // A valid token of somebody who was deactivated.
        second_admin.read(path).await.expect_problem(403, "not_a_member");
        other_admin.read(path).await.expect_problem(403, "not_a_member");
        app.admin.in_organization(Uuid::new_v4()).read(path).await.expect_problem(403, "not_a_member");
        app.admin.post(path, json!({})).await.expect_problem(405, "method_not_allowed");
    }
    // In his own organization he finds nothing of this one.
    let own = other_admin.in_organization(elsewhere);
    assert_eq!(walk(&own, &format!("request_id={}", id_of(&first)), 200).await.len(), 0);
    let mut request = app.admin.request(reqwest::Method::GET, "history");
    request = request.header("Authorization", "");
    assert_eq!(request.send().await.unwrap().status(), 401);
    let path = format!("requests/{}/history/verify", id_of(&first));
    for sees in [&applicant, &approver, &app.admin] {
        sees.read(&path).await.expect_status(200);
    }
    app.member("Fumi Bystander", false, false).await.read(&path).await.expect_problem(404, "not_found");
    own.read(&path).await.expect_problem(404, "not_found");
    app.outsider().read(&path).await.expect_problem(403, "not_a_member");
    second_admin.read(&path).await.expect_problem(403, "not_a_member");
    app.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_walk_while_people_work_shows_each_row_that_there_was_exactly_once() {
    let app = App::start().await;
    let (applicant, approver, ..) = story(&app).await;
    let before: Vec<_> = walk(&app.admin, "", 200).await.iter().map(place).collect();
    accesses(&app, 1).await;
    for limit in [1, 2, 3] {
        let known = walk(&app.admin, "", 200).await;
        let (mut seen, mut cursor) = (Vec::new(), String::new());
        loop {
            let page = app.admin.read(&format!("history?limit={limit}{cursor}")).await.expect_status(200).body;
            seen.extend(page["items"].as_array().unwrap().iter().cloned());
            assert!(seen.len() < 1_000, "the walk does not end");
            let pending = applicant.submitted("meanwhile").await;
            approver.approve(&pending).await.expect_status(200);
            match page["next_cursor"].as_str() {
                Some(next) => cursor = format!("&cursor={next}"),
                None => break,
            }
        }
        let of = |rows: &[Value]| rows.iter().map(place).filter(|place| place.1 != "access").collect::<Vec<_>>();
        assert_eq!(of(&seen), of(&known), "with pages of {limit}");
        assert!(of(&seen).starts_with(&before));
    }
    app.check_invariants().await;
    app.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn each_walk_is_recorded_once_and_none_meets_its_own_trace() {
    let app = App::start().await;
    story(&app).await;
    let rows = walk(&app.admin, "kind=request", 2).await;
    assert_eq!(rows.len(), 5);
    let recorded = accesses(&app, 1).await;
    assert_eq!((&recorded[0]["action"], &recorded[0]["format"]), (&json!("walk"), &json!("json")));
    assert_eq!((&recorded[0]["rows"], &recorded[0]["complete"]), (&json!(2), &json!(false)), "of its first page");
    assert_eq!((&recorded[0]["subject"], &recorded[0]["name"]), (&json!(app.admin.id), &json!("Dara Admin")));
    assert_eq!(recorded[0]["filters"]["kind"], "request");
    assert_eq!(recorded[0]["filters"]["actor_id"], Value::Null);

    // The next walk meets the trace of the first, not its own; one that asks for the future neither.
    for n in 1..4 {
        let seen = walk(&app.admin, "kind=access&to=2199-01-01T00:00:00Z", 2).await;
        assert_eq!(seen.len(), n);
        assert_eq!(seen[0]["detail"]["walk"], recorded[0]["walk"]);
        accesses(&app, n + 1).await;
    }

    // Refusals are no accesses.
    app.admin.read("history?kind=nothing").await.expect_problem(400, "invalid_query");
    app.outsider().read("history").await.expect_problem(403, "not_a_member");
    walk(&app.admin, "action=walk", 200).await;
    accesses(&app, 5).await;
    app.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_cursor_belongs_to_its_walk_and_a_forged_one_leaves_a_trace() {
    let app = App::start().await;
    story(&app).await;
    let second_admin = app.member("Emi Admin", false, true).await;
    let page = app.admin.read("history?limit=2").await.expect_status(200).body;
    let cursor = page["next_cursor"].as_str().unwrap();
    let recorded = accesses(&app, 1).await;
    for other in ["kind=request", "from=2026-01-01T00:00:00Z", "action=add"] {
        let path = format!("history?limit=2&{other}&cursor={cursor}");
        app.admin.read(&path).await.expect_problem(400, "invalid_query");
    }

    // The same filters, but an end of the forger's own: not the walk that was recorded.
    let forge = |at: usize, bytes: &[u8]| {
        let mut forged = URL_SAFE_NO_PAD.decode(cursor).unwrap();
        forged[at..at + bytes.len()].copy_from_slice(bytes);
        URL_SAFE_NO_PAD.encode(forged)
    };
    let earlier = 1_700_000_000_000_000_i64.to_be_bytes();
    let path = format!("history?limit=2&cursor={}", forge(24, &earlier));
    app.admin.read(&path).await.expect_problem(400, "invalid_query");

    // A walk that nobody began: it is answered, and recorded as what it is.
    let made_up = Uuid::new_v4();
    let path = format!("history?limit=2&cursor={}", forge(8, made_up.as_bytes()));
    app.admin.read(&path).await.expect_status(200);
    app.admin.read(&path).await.expect_status(200);
    let all = accesses(&app, 2).await;
    assert!(all.iter().any(|access| access["walk"] == json!(made_up)));

    // Another administrator who was handed the cursor looks on his own account.
    second_admin.read(&format!("history?limit=2&cursor={cursor}")).await.expect_status(200);
    let all = accesses(&app, 3).await;
    let own = all.iter().find(|access| access["subject"] == json!(second_admin.id)).unwrap();
    assert_eq!(own["walk"], recorded[0]["walk"]);
    app.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn the_answer_does_not_wait_for_its_trace_nor_fail_with_it() {
    let app = App::start().await;
    story(&app).await;
    let held = app.hold("LOCK TABLE history_head IN EXCLUSIVE MODE").await;
    let rows = walk(&app.admin, "", 3).await;
    assert_eq!(rows.len(), 8, "answered while the trace waits");
    app.until_waiting(3).await;
    held.release().await;
    accesses(&app, 1).await;

    app.execute("REVOKE INSERT ON organization_history FROM ringi_app").await;
    assert!(!walk(&app.admin, "", 200).await.is_empty());
    let start = Instant::now();
    loop {
        let metrics = app.admin.read("/metrics").await.text;
        if metrics.contains("ringi_history_accesses_total{result=\"failed\"}") {
            break;
        }
        assert!(start.elapsed() < PATIENCE, "the failure is counted");
        tokio::task::yield_now().await;
    }
    app.stop().await;
}
