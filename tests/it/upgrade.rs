//! An upgrade while everybody works: the older program goes on while the newer one's migrations are applied, and both work on
//! one database afterwards.

use crate::harness::{App, PATIENCE, id_of};
use crate::process::organization;
use crate::ringi::{Folder, Serving};
use ringi::pg::migrate;
use serde_json::json;
use sqlx::migrate::Migrator;
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Instant;

/// What a later program may do to the tables that every decision touches: only what an older one need not know of.
const LATER: &str = "
ALTER TABLE organization_member ADD COLUMN later text;
ALTER TABLE approval_request ADD COLUMN later bigint NOT NULL DEFAULT 7;
ALTER TABLE approval_history ADD COLUMN later timestamptz;
ALTER TABLE idempotency_key ADD COLUMN later text;
CREATE INDEX later_of_request ON approval_request (organization_id, later);
CREATE TABLE later_thing (
    organization_id uuid NOT NULL REFERENCES organization (id), id uuid NOT NULL, PRIMARY KEY (organization_id, id)
);";

/// The migrations of a later program: ours and one more.
async fn of_a_later_program(folder: &Folder) -> Migrator {
    for entry in std::fs::read_dir(concat!(env!("CARGO_MANIFEST_DIR"), "/migrations")).unwrap() {
        let entry = entry.unwrap();
        std::fs::copy(entry.path(), folder.0.join(entry.file_name())).unwrap();
    }
    folder.write("9999_later.sql", LATER);
    Migrator::new(Path::new(&folder.0)).await.unwrap()
}

#[tokio::test(flavor = "multi_thread")]
async fn people_work_on_while_a_later_program_migrates() {
    let app = App::start().await;
    let (folder, stop) = (Folder::new("upgrade"), Arc::new(AtomicBool::new(false)));
    let mut people = Vec::new();
    for n in 0..4 {
        let applicant = app.member(&format!("Aiko {n}"), false, false).await;
        let approver = app.member(&format!("Ben {n}"), true, false).await;
        let stop = Arc::clone(&stop);
        people.push(tokio::spawn(async move {
            let mut decided = 0;
            while !stop.load(Ordering::Relaxed) {
                let pending = applicant.submitted("As ever").await;
                let path = format!("requests/{}/approve", id_of(&pending));
                let key = format!("k{decided}");
                approver.post_with_key(&key, &path, json!({"version": 2})).await.expect_status(200);
                applicant.read("requests?view=mine&limit=5").await.expect_status(200);
                decided += 1;
            }
            decided
        }));
    }
    // Their statements are prepared on every connection by then: what they answer may not change its form.
    let since = Instant::now();
    while app.count("SELECT count(*) FROM approval_history WHERE action = 'approve'").await < 40 {
        assert!(since.elapsed() < PATIENCE);
    }
    let report = migrate::apply(&of_a_later_program(&folder).await, &app.database.options()).await.unwrap();
    assert_eq!((report.applied, report.roles), (1, true));
    let before = app.count("SELECT count(*) FROM approval_history WHERE action = 'approve'").await;
    while app.count("SELECT count(*) FROM approval_history WHERE action = 'approve'").await < before + 40 {
        assert!(since.elapsed() < PATIENCE * 3);
    }

    // Another process of the older program starts beside it, and both are ready.
    let url = app.database.url();
    let server = tokio::task::spawn_blocking(move || Serving::on(&url, &[])).await.unwrap();
    for address in [&app.address, &server.address] {
        assert_eq!(app.http.get(format!("{address}/health/ready")).send().await.unwrap().status(), 200);
    }
    stop.store(true, Ordering::Relaxed);
    for person in people {
        assert!(person.await.unwrap() > 0, "somebody decided nothing");
    }
    assert_eq!(server.stop().code, 0);
    let (elsewhere, _) = organization(&app.database.url());
    assert_ne!(elsewhere, app.organization, "the command line works, too");
    app.check_invariants().await;
    app.stop().await;
}

/// A migration that waits for a lock would keep everybody waiting who comes after it.
#[tokio::test(flavor = "multi_thread")]
async fn a_migration_gives_way_to_who_is_at_work() {
    let app = App::start().await;
    let folder = Folder::new("upgrade");
    let applicant = app.applicant().await;
    let draft = applicant.create("Under way").await;
    // Somebody's transaction that takes its time.
    let held = app.hold(&format!("SELECT FROM approval_request WHERE id = '{}' FOR UPDATE", id_of(&draft))).await;
    let (later, options) = (of_a_later_program(&folder).await, app.database.options());
    let is_done = AtomicBool::new(false);
    let migrating = async {
        let report = migrate::apply(&later, &options).await.unwrap();
        is_done.store(true, Ordering::Relaxed);
        report
    };
    let working = async {
        app.until_waiting(1).await;
        // Meanwhile others come to the same table, again and again, and all of them are served.
        for n in 0..10 {
            applicant.create(&format!("Another {n}")).await;
            applicant.read("requests").await.expect_status(200);
        }
        assert!(!is_done.load(Ordering::Relaxed), "it waits for nobody");
        held.release().await;
    };
    let (report, ()) = tokio::join!(migrating, working);
    assert_eq!(report.applied, 1);
    app.stop().await;
}
