//! Tamper evidence over HTTP and the command line: a superuser plays the tamperer, and every change of his is named.

use crate::exports::bulk;
use crate::harness::{App, PATIENCE, Person, id_of};
use base64::Engine;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use ringi::domain::ids::OrganizationId;
use ringi::inspection::verify::{Place, verify};
use ringi::pg::PgReads;
use serde_json::{Value, json};
use sha2::{Digest, Sha256};
use sqlx::{AssertSqlSafe, Connection};
use std::process::{Command, Output};

/// Runs `ringi history` on the app's database.
pub fn history(app: &App, arguments: &[&str]) -> Output {
    Command::new(env!("CARGO_BIN_EXE_ringi"))
        .arg("history")
        .args(arguments)
        .env("DATABASE_URL", app.database.url())
        .env("RINGI__AUTH__HS256_SECRET", crate::harness::SECRET)
        .env("RINGI__DATABASE__READ_CONNECTIONS", "1")
        .env("RINGI__DATABASE__MAX_CONNECTIONS", "1")
        .output()
        .unwrap()
}

/// Exit code, and the first line of `--json`.
pub fn verified(app: &App, arguments: &[&str]) -> (Option<i32>, Value) {
    let output = history(app, &[&["verify", "--json"], arguments].concat());
    let text = String::from_utf8(output.stdout).unwrap();
    let line = text.lines().next().unwrap_or_default();
    (
        output.status.code(),
        serde_json::from_str(line).unwrap_or_else(|_| json!(String::from_utf8_lossy(&output.stderr))),
    )
}

const TABLES: [&str; 6] = [
    "organization_member",
    "approval_request",
    "approval_version",
    "approval_history",
    "history_head",
    "organization_history",
];

/// Keeps a copy of everything aside.
pub async fn keep(app: &App) {
    for table in TABLES {
        app.execute(&format!("CREATE TABLE kept_{table} AS SELECT * FROM {table}")).await;
    }
}

/// As the superuser, with every trigger and foreign key off.
pub async fn tamper(app: &App, sql: &str) {
    let mut db = app.database.connect().await;
    let sql = format!("SET session_replication_role = replica; {sql}");
    sqlx::raw_sql(AssertSqlSafe(sql)).execute(&mut db).await.unwrap();
    db.close().await.unwrap();
}

/// Puts back what was kept.
async fn restore(app: &App) {
    let all: Vec<_> = TABLES
        .iter()
        .map(|table| format!("DELETE FROM {table}; INSERT INTO {table} SELECT * FROM kept_{table};"))
        .collect();
    tamper(app, &all.concat()).await;
}

async fn first_broken(admin: &Person, path: &str) -> Value {
    let answer = admin.read(path).await.expect_status(200).body;
    assert_eq!(answer["whole"], answer["first_broken"].is_null());
    assert_eq!(answer["next_cursor"], Value::Null);
    answer["first_broken"].clone()
}

#[tokio::test(flavor = "multi_thread")]
#[expect(clippy::too_many_lines, reason = "a table of all columns")]
async fn every_bent_row_is_named() {
    let app = App::start().await;
    let (applicant, approver) = (app.applicant().await, app.approver().await);
    let draft = applicant.create("a draft").await;
    let request = applicant.submitted("first").await;
    let returned = approver.act(&request, "send-back", Some("which?")).await.body;
    let edited = applicant.edit(&returned, "first, corrected").await.expect_status(200).body;
    let pending = applicant.act(&edited, "submit", None).await.body;
    approver.act(&pending, "reject", Some("no")).await.expect_status(200);
    app.admin.change_member(applicant.id, json!({"can_approve": true})).await.expect_status(200);
    keep(&app).await;
    let (org, id, member) = (app.organization, id_of(&request), applicant.id);
    let own = format!("requests/{id}/history/verify");
    let whole = app.admin.read("history/verify").await.expect_status(200).body;
    assert_eq!(whole, json!({"whole": true, "checked": 11, "first_broken": null, "next_cursor": null}));
    assert_eq!(applicant.read(&own).await.body["checked"], 6);
    let org_text = org.to_string();
    assert_eq!(verified(&app, &["--org", &org_text]).0, Some(0));

    let history = |set: &str, version: i64| {
        format!("UPDATE approval_history SET {set} WHERE request_id = '{id}' AND version = {version}")
    };
    let request_row = |set: &str| format!("UPDATE approval_request SET {set} WHERE id = '{id}'");
    let content = |set: &str| format!("UPDATE approval_version SET {set} WHERE request_id = '{id}' AND version = 4");
    let other = |set: &str| format!("UPDATE organization_history SET {set} WHERE subject_id = '{member}' AND seq = 1");
    let head = |set: &str| format!("UPDATE history_head SET {set} WHERE subject_id = '{member}'");
    let elsewhere = "00000000-0000-4000-8000-000000000001";
    let cases: Vec<(String, i64, &str)> = vec![
        // Every column of a history row.
        (history(&format!("organization_id = '{elsewhere}'"), 3), 3, "entry_missing"),
        (history("request_id = '00000000-0000-7000-8000-000000000002'", 3), -1, "entry_missing"),
        (history("version = 9", 6), 6, "entry_missing"),
        (history("actor_id = gen_random_uuid()", 3), 3, "entry_hash"),
        (history("actor_name = 'Somebody Else'", 3), 3, "entry_hash"),
        (history("action = 'reject'", 3), 3, "entry_hash"),
        (history("from_status = 'draft'", 3), 3, "entry_hash"),
        (history("to_status = 'approved'", 6), 6, "entry_hash"),
        (history("reason = 'yes'", 6), 6, "entry_hash"),
        (history("content_hash = sha256('x')", 3), 3, "entry_hash"),
        (history("occurred_at = occurred_at + interval '1 microsecond'", 3), 3, "entry_hash"),
        (history("hash_format = 2", 3), 3, "hash_format"),
        (history("entry_hash = sha256('x')", 3), 3, "entry_hash"),
        // Rows.
        (format!("DELETE FROM approval_history WHERE request_id = '{id}' AND version = 6"), 6, "entry_missing"),
        (format!("DELETE FROM approval_history WHERE request_id = '{id}' AND version = 3"), 3, "entry_missing"),
        (format!("DELETE FROM approval_history WHERE request_id = '{id}' AND version = 1"), 1, "entry_missing"),
        (format!("DELETE FROM approval_history WHERE request_id = '{id}'"), 1, "entry_missing"),
        (format!("DELETE FROM approval_request WHERE id = '{id}'"), 6, "request_missing"),
        (
            format!(
                "UPDATE approval_history a SET actor_name = b.actor_name, actor_id = b.actor_id FROM approval_history b
                 WHERE a.request_id = '{id}' AND b.request_id = '{id}' AND (a.version, b.version) IN ((2, 3), (3, 2))"
            ),
            2,
            "entry_hash",
        ),
        // The request as it stands.
        (request_row("version = 5"), 6, "request_version"),
        (request_row("version = 7"), 7, "entry_missing"),
        (request_row("status = 'approved'"), 6, "request_status"),
        (request_row("title = 'something else'"), 6, "request_content"),
        (request_row("description = ''"), 6, "request_content"),
        (request_row("amount = 1"), 6, "request_content"),
        (request_row("currency = 'USD'"), 6, "request_content"),
        (request_row("content_hash = sha256('x')"), 6, "request_content"),
        (request_row("content_version = 1"), 6, "request_content"),
        (request_row("chain_hash = sha256('x')"), 6, "request_chain_hash"),
        (request_row("applicant_id = gen_random_uuid()"), 6, "request_origin"),
        (request_row("created_at = created_at - interval '1 s'"), 6, "request_origin"),
        (request_row("updated_at = updated_at - interval '1 s'"), 6, "request_decision"),
        (request_row("submitted_at = submitted_at - interval '1 s'"), 6, "request_decision"),
        (request_row("decided_at = decided_at - interval '1 s'"), 6, "request_decision"),
        (request_row("decision_reason = 'yes'"), 6, "request_decision"),
        (request_row("last_action = 'approve'"), 6, "request_last"),
        (request_row("last_actor_id = gen_random_uuid()"), 6, "request_last"),
        (request_row("last_actor_name = 'x'"), 6, "request_last"),
        // Contents.
        (content("title = 'x'"), 4, "content_hash"),
        (content("description = 'x'"), 4, "content_hash"),
        (content("amount = 13"), 4, "content_hash"),
        (content("currency = 'EUR'"), 4, "content_hash"),
        (content("content_hash = sha256('x')"), 4, "content_hash"),
        (content("version = 5"), 4, "content_missing"),
        (content("version = 99"), 4, "content_missing"),
        (
            format!(
                "INSERT INTO approval_version SELECT organization_id, request_id, 3, title, description, amount, currency, content_hash FROM approval_version WHERE request_id = '{id}' AND version = 4"
            ),
            3,
            "content_unexpected",
        ),
        (
            format!(
                "INSERT INTO approval_version SELECT organization_id, request_id, 77, title, description, amount, currency, content_hash FROM approval_version WHERE request_id = '{id}' AND version = 4"
            ),
            77,
            "content_unexpected",
        ),
        // The other history.
        (other("actor_id = NULL"), 1, "entry_hash"),
        (other("actor_name = 'x'"), 1, "entry_hash"),
        (other("action = 'change'"), 1, "entry_hash"),
        (other("reason = 'x'"), 1, "entry_hash"),
        (other("detail = detail || '{\"x\": 1e400}'"), 1, "entry_hash"),
        (other("detail = '{}'"), 1, "entry_hash"),
        (other("occurred_at = occurred_at + interval '1 s'"), 1, "entry_hash"),
        (other("hash_format = 0"), 1, "hash_format"),
        (other("entry_hash = sha256('x')"), 1, "entry_hash"),
        (format!("DELETE FROM organization_history WHERE subject_id = '{member}' AND seq = 1"), 1, "entry_missing"),
        (format!("DELETE FROM organization_history WHERE subject_id = '{member}' AND seq = 2"), 2, "entry_missing"),
        (format!("DELETE FROM organization_history WHERE subject_id = '{member}'"), 1, "entry_missing"),
        (format!("DELETE FROM history_head WHERE subject_id = '{member}'"), 2, "head_missing"),
        (head("seq = 1"), 2, "head_differs"),
        (head("seq = 3"), 3, "entry_missing"),
        (head("chain_hash = sha256('x')"), 2, "head_differs"),
    ];
    for (n, (sql, version, why)) in cases.iter().enumerate() {
        tamper(&app, sql).await;
        let broken = first_broken(&app.admin, "history/verify").await;
        let of_request = broken["kind"] == "request";
        if *version == -1 {
            assert!(broken["why"].is_string(), "{sql}: {broken}");
        } else {
            let expected = if of_request {
                json!({"kind": "request", "request_id": id, "version": version, "why": why})
            } else {
                json!({"kind": "member", "subject_id": member, "version": version, "why": why})
            };
            assert_eq!(broken, expected, "{sql}");
            if of_request && *why != "request_missing" && !sql.contains("applicant_id") {
                assert_eq!(first_broken(&applicant, &own).await, expected, "its own verification: {sql}");
            }
        }
        // The command line says the same; each group once, since a process takes its time.
        if n % 7 == 0 {
            let (code, line) = verified(&app, &["--org", &org_text]);
            assert_eq!(
                (code, &line["whole"], &line["first_broken"]),
                (Some(5), &json!(false), &broken),
                "{sql}: {line}"
            );
        }
        restore(&app).await;
    }
    assert_eq!(app.admin.read("history/verify").await.body, whole);

    // A draft that nobody ever submitted is walked, too; and a time that no program can read is only a broken row.
    tamper(&app, &format!("UPDATE approval_history SET actor_name = 'x' WHERE request_id = '{}'", id_of(&draft))).await;
    assert_eq!(first_broken(&app.admin, "history/verify").await["request_id"], draft["id"]);
    restore(&app).await;
    app.execute("ALTER TABLE approval_history DROP CONSTRAINT approval_history_is_sound").await;
    tamper(&app, &history("occurred_at = 'infinity'", 3)).await;
    assert_eq!(first_broken(&app.admin, "history/verify").await["why"], "entry_hash");
    app.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn chains_longer_than_a_page_are_followed_across_pages() {
    let app = App::start().await;
    let (applicant, approver) = (app.applicant().await, app.approver().await);
    let mut request = applicant.submitted("long").await;
    for n in 0..4 {
        let returned = approver.act(&request, "send-back", Some(&format!("again {n}"))).await.body;
        let edited = applicant.edit(&returned, &format!("long {n}")).await.body;
        request = applicant.act(&edited, "submit", None).await.expect_status(200).body;
    }
    approver.act(&request, "approve", Some("at last")).await.expect_status(200);
    for n in 0..5 {
        app.admin.change_member(applicant.id, json!({"display_name": format!("Aiko {n}")})).await.expect_status(200);
    }
    applicant.create("another").await;
    let reads = PgReads::new(app.pools.read.clone(), PATIENCE, PATIENCE);
    let organization = OrganizationId(app.organization);
    let walked = async |budget: i64| {
        let (mut checked, mut place) = (0, Place::START);
        loop {
            let part = verify(&reads, organization, None, place, budget).await.unwrap();
            assert!(part.checked <= budget);
            checked += part.checked;
            match part.next {
                // As a client carries it.
                Some(next) => place = serde_json::from_str(&serde_json::to_string(&next).unwrap()).unwrap(),
                None => return (checked, part.first_broken),
            }
        }
    };
    for budget in 1..=9 {
        assert_eq!(walked(budget).await, (15 + 1 + 8, None), "in parts of {budget}");
    }
    keep(&app).await;
    let id = id_of(&request);
    for (version, sql) in [
        (7, format!("UPDATE approval_history SET actor_name = 'x' WHERE request_id = '{id}' AND version = 7")),
        (15, format!("UPDATE approval_request SET decided_at = decided_at + interval '1 s' WHERE id = '{id}'")),
        (15, format!("UPDATE approval_request SET decision_reason = 'x' WHERE id = '{id}'")),
        (11, format!("DELETE FROM approval_history WHERE request_id = '{id}' AND version >= 11")),
    ] {
        tamper(&app, &sql).await;
        for budget in 1..=9 {
            let broken = walked(budget).await.1.unwrap();
            assert_eq!((broken.subject, broken.version), (id.to_string(), version), "in parts of {budget}: {sql}");
        }
        restore(&app).await;
    }
    app.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_large_organization_is_verified_in_pages_while_people_work() {
    let app = App::start().await;
    bulk(&app, app.organization, 5_000).await;
    let (applicant, approver) = (app.applicant().await, app.approver().await);
    let (mut checked, mut pages, mut cursor) = (0, 0, String::new());
    loop {
        let page = app.admin.read(&format!("history/verify{cursor}")).await.expect_status(200).body;
        assert_eq!(page["whole"], true, "{page}");
        assert!(page["checked"].as_i64().unwrap() <= 10_000);
        checked += page["checked"].as_i64().unwrap();
        pages += 1;
        let pending = applicant.submitted("meanwhile").await;
        approver.approve(&pending).await.expect_status(200);
        match page["next_cursor"].as_str() {
            Some(next) => cursor = format!("?cursor={next}"),
            None => break,
        }
    }
    assert!(pages > 2 && checked >= 15_000, "{pages} pages, {checked} rows");
    for wrong in ["?cursor=abc", "?limit=5", "?org=x"] {
        app.admin.read(&format!("history/verify{wrong}")).await.expect_problem(400, "invalid_query");
    }
    // A cursor of this list is none of another.
    let foreign = format!("requests/00000000-0000-7000-8000-000000000001/history/verify{cursor}");
    app.admin.read(&foreign).await.expect_problem(400, "invalid_query");
    app.stop().await;
}

/// A cursor is its sender's word: who may see one request is not led through the rest of the organization by it.
#[tokio::test(flavor = "multi_thread")]
async fn a_forged_cursor_leads_no_walk_out_of_its_request() {
    let app = App::start().await;
    let applicant = app.applicant().await;
    let (own, other) = (applicant.create("mine").await, app.approver().await.create("another's").await);
    let id = id_of(&own);
    let elsewhere = id_of(&other);
    let hash = "00".repeat(32);
    for place in [
        json!({"subjects": null}),
        json!({"subjects": ["member", app.admin.id, 1, hash]}),
        json!({"heads": null}),
        json!({"heads": ["member", app.admin.id]}),
        json!({"requests": elsewhere}),
        json!({"contents": [elsewhere, 1]}),
    ] {
        let mut bytes = Sha256::digest(format!("verify/{id}"))[..8].to_vec();
        bytes.extend(serde_json::to_vec(&place).unwrap());
        let path = format!("requests/{id}/history/verify?cursor={}", URL_SAFE_NO_PAD.encode(bytes));
        let answer = applicant.read(&path).await;
        assert_eq!((answer.status.as_u16(), &answer.body["code"]), (400, &json!("invalid_query")), "{place}");
    }
    app.stop().await;
}
