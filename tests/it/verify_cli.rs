//! `ringi history`: exit codes, keys and checkpoints, and what only a checkpoint finds.

use crate::harness::{App, id_of};
use crate::verify::{history, keep, tamper, verified};
use ringi::domain::history::{Hash, RequestEntry};
use ringi::domain::ids::{OrganizationId, RequestId, UserId};
use ringi::domain::request::{Action, Status};
use serde_json::{Value, json};
use sqlx::Row;
use std::os::unix::fs::PermissionsExt;
use std::path::PathBuf;
use uuid::Uuid;

/// A folder of the test's own.
fn folder() -> PathBuf {
    let folder = PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join(format!("checkpoints-{}", Uuid::new_v4()));
    std::fs::create_dir(&folder).unwrap();
    folder
}

#[tokio::test(flavor = "multi_thread")]
async fn a_checkpoint_finds_what_the_chains_alone_can_not() {
    let app = App::start().await;
    let (applicant, approver) = (app.applicant().await, app.approver().await);
    let request = applicant.submitted("first").await;
    approver.act(&request, "reject", Some("no")).await.expect_status(200);
    let other = applicant.submitted("second").await;
    let folder = folder();
    let path = |name: &str| folder.join(name).to_str().unwrap().to_owned();
    let (org, key, public, file) = (app.organization.to_string(), path("key"), path("key.pub"), path("checkpoint"));

    assert_eq!(history(&app, &["keygen", "--out", &key]).status.code(), Some(0));
    assert_eq!(std::fs::metadata(&key).unwrap().permissions().mode() & 0o777, 0o600);
    assert_eq!(history(&app, &["keygen", "--out", &key]).status.code(), Some(1), "a key is never replaced");
    let written = history(&app, &["checkpoint", "--org", &org, "--key", &key, "--out", &file]);
    assert_eq!(written.status.code(), Some(0), "{written:?}");
    let again = history(&app, &["checkpoint", "--org", &org, "--key", &key, "--out", &file]);
    assert_eq!(again.status.code(), Some(1), "a checkpoint is never replaced");
    let text = std::fs::read_to_string(&file).unwrap();
    let lines: Vec<Value> = text.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    assert_eq!(lines.len(), 1 + 2 + 3 + 1, "first line, two requests, three members, last line");
    assert_eq!(lines[0]["organization_id"], json!(org));
    assert!(lines.iter().any(|line| line["subject"] == request["id"] && line["version"] == 3));
    let printed = history(&app, &["checkpoint", "--org", &org, "--key", &key]);
    assert_eq!(String::from_utf8(printed.stdout).unwrap().lines().count(), lines.len(), "to standard output");

    let against = ["--against", &*file, "--public-key", &public];
    let (code, line) = verified(&app, &against);
    assert_eq!((code, &line["whole"], &line["checkpoint"]["heads"]), (Some(0), &json!(true), &json!(5)), "{line}");
    // People go on working; nothing of that is a break.
    approver.approve(&other).await.expect_status(200);
    applicant.submitted("third").await;
    app.admin.change_member(applicant.id, json!({"can_approve": true})).await.expect_status(200);
    assert_eq!(verified(&app, &against).0, Some(0));
    keep(&app).await;

    let id = id_of(&request);
    let found = |version: i64, why: &str| {
        assert_eq!(verified(&app, &["--org", &org]).0, Some(0), "the chains alone are whole");
        let (code, line) = verified(&app, &against);
        let expected = json!({"kind": "request", "request_id": id, "version": version, "why": why});
        assert_eq!((code, &line["first_broken"]), (Some(5), &expected), "{line}");
    };

    // The request with all its rows is gone.
    let everywhere = "DELETE FROM approval_history WHERE request_id = '{id}'; DELETE FROM approval_version WHERE request_id = '{id}'; DELETE FROM approval_request WHERE id = '{id}';";
    tamper(&app, &everywhere.replace("{id}", &id.to_string())).await;
    found(3, "checkpoint_missing");
    let back = "INSERT INTO approval_request SELECT * FROM kept_approval_request WHERE id = '{id}'; INSERT INTO approval_version SELECT * FROM kept_approval_version WHERE request_id = '{id}'; INSERT INTO approval_history SELECT * FROM kept_approval_history WHERE request_id = '{id}';";
    tamper(&app, &back.replace("{id}", &id.to_string())).await;
    assert_eq!(verified(&app, &against).0, Some(0));

    // The decision is taken back, and the request stands as it did before it.
    let cut = format!(
        "DELETE FROM approval_history WHERE request_id = '{id}' AND version = 3;
         UPDATE approval_request r SET version = 2, status = 'pending', decision_reason = NULL, decided_at = NULL,
           updated_at = h.occurred_at, last_action = h.action, last_actor_id = h.actor_id,
           last_actor_name = h.actor_name, chain_hash = h.entry_hash
         FROM approval_history h WHERE h.request_id = '{id}' AND h.version = 2 AND r.id = '{id}'"
    );
    tamper(&app, &cut).await;
    found(3, "checkpoint_missing");
    let rows = "DELETE FROM approval_history WHERE request_id = '{id}'; DELETE FROM approval_version WHERE request_id = '{id}'; DELETE FROM approval_request WHERE id = '{id}';";
    tamper(&app, &format!("{rows}{back}").replace("{id}", &id.to_string())).await;

    // The whole chain is written anew, with right hashes and another reason.
    rewrite(&app, id, "yes, but later").await;
    found(3, "checkpoint_differs");

    // Files that can't be believed, and files of others.
    let bent = path("bent");
    std::fs::write(&bent, text.replacen("\"version\":3", "\"version\":2", 1)).unwrap();
    let output = history(&app, &["verify", "--against", &bent, "--public-key", &public]);
    assert_eq!(output.status.code(), Some(1));
    assert!(String::from_utf8_lossy(&output.stderr).contains("do not believe it"), "{output:?}");
    let stranger = path("stranger");
    history(&app, &["keygen", "--out", &stranger]);
    let output = history(&app, &["verify", "--against", &file, "--public-key", &format!("{stranger}.pub")]);
    assert_eq!(output.status.code(), Some(1));
    let elsewhere = Uuid::new_v4().to_string();
    let output = history(&app, &["verify", "--org", &elsewhere, "--against", &file, "--public-key", &public]);
    assert_eq!(output.status.code(), Some(1), "another organization's");
    std::fs::remove_dir_all(folder).unwrap();
    app.stop().await;
}

/// What a tamperer with all rights and this program's source would do.
async fn rewrite(app: &App, id: Uuid, reason: &str) {
    let mut db = app.database.connect().await;
    let rows = sqlx::query("SELECT * FROM approval_history WHERE request_id = $1 ORDER BY version")
        .bind(id)
        .fetch_all(&mut db)
        .await
        .unwrap();
    let (mut hash, mut sql) = (Hash::START, String::new());
    for row in rows {
        let action = Action::parse(row.get("action")).unwrap();
        let entry = RequestEntry {
            organization_id: OrganizationId(row.get("organization_id")),
            request_id: RequestId(id),
            version: row.get("version"),
            actor_id: UserId(row.get("actor_id")),
            actor_name: row.get("actor_name"),
            action,
            from_status: row.get::<Option<&str>, _>("from_status").and_then(Status::parse),
            to_status: Status::parse(row.get("to_status")).unwrap(),
            reason: (action == Action::Reject).then(|| reason.to_owned()),
            content_hash: Hash::from_bytes(row.get("content_hash")).unwrap(),
            occurred_at: row.get("occurred_at"),
        };
        hash = entry.hash(hash);
        sql += &format!(
            "UPDATE approval_history SET reason = {}, entry_hash = '\\x{hash}' WHERE request_id = '{id}' AND version = {};",
            entry.reason.map_or("NULL".to_owned(), |reason| format!("'{reason}'")),
            entry.version
        );
    }
    sql += &format!(
        "UPDATE approval_request SET chain_hash = '\\x{hash}', decision_reason = '{reason}' WHERE id = '{id}';"
    );
    tamper(app, &sql).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn all_organizations_are_verified_and_each_says_how_it_stands() {
    let app = App::start().await;
    let applicant = app.applicant().await;
    let request = applicant.submitted("first").await;
    let (elsewhere, other_admin) = (Uuid::new_v4(), app.outsider());
    app.create_organization(elsewhere, other_admin.id).await;
    let output = history(&app, &["verify"]);
    assert_eq!(output.status.code(), Some(0));
    let text = String::from_utf8(output.stdout).unwrap();
    assert_eq!(text.lines().filter(|line| line.contains(": whole (")).count(), 2, "{text}");

    tamper(&app, &format!("UPDATE approval_history SET actor_name = 'x' WHERE request_id = '{}'", id_of(&request)))
        .await;
    let output = history(&app, &["verify"]);
    assert_eq!(output.status.code(), Some(5));
    let text = String::from_utf8(output.stdout).unwrap();
    assert!(text.contains(&format!("{elsewhere}: whole (1 rows)")), "{text}");
    let named = format!("{}: BROKEN at request {} version 1: entry_hash", app.organization, id_of(&request));
    assert!(text.contains(&named), "{text}");
    let output = history(&app, &["verify", "--json"]);
    let lines: Vec<Value> =
        String::from_utf8(output.stdout).unwrap().lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    assert_eq!(lines.len(), 2);
    assert_eq!(lines.iter().filter(|line| line["whole"] == true).count(), 1);

    for (arguments, code) in [
        (vec!["verify", "--org", "00000000-0000-4000-8000-000000000009"], 1),
        (vec!["verify", "--org", "me"], 2),
        (vec!["verify", "--against", "x"], 2),
        (vec!["verify", "--against", "/nowhere", "--public-key", "/nowhere"], 1),
        (vec!["checkpoint"], 2),
    ] {
        assert_eq!(history(&app, &arguments).status.code(), Some(code), "{arguments:?}");
    }
    app.stop().await;
}
