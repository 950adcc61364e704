//! A backup is worth what a restore makes of it: a dump of a database in use, back in an empty one, with everything that worked.

use crate::harness::{App, Database, Person, id_of};
use crate::ringi::{Serving, run};
use sqlx::{AssertSqlSafe, PgConnection};
use std::path::PathBuf;
use std::process::Command;

/// PostgreSQL's own program, as new as its server.
fn program(name: &str) -> PathBuf {
    let bin = Command::new("pg_config").arg("--bindir").output().ok();
    let bin = bin.and_then(|said| String::from_utf8(said.stdout).ok()).map(|path| PathBuf::from(path.trim()));
    let mut installed: Vec<PathBuf> = std::fs::read_dir("/usr/lib/postgresql")
        .into_iter()
        .flatten()
        .flatten()
        .map(|e| e.path().join("bin"))
        .collect();
    installed.sort();
    let found = installed.into_iter().rev().chain(bin).map(|bin| bin.join(name)).find(|path| path.exists());
    found.unwrap_or_else(|| PathBuf::from(name))
}

/// Runs it as who may enter the server's private folder: root, or who started it.
fn succeed(command: &mut Command) {
    let said = command.output().unwrap();
    assert!(said.status.success(), "{command:?}: {}", String::from_utf8_lossy(&said.stderr));
}

async fn everything(db: &mut PgConnection) -> Vec<(String, i64, Option<String>)> {
    let tables: Vec<String> =
        sqlx::query_scalar("SELECT tablename::text FROM pg_tables WHERE schemaname = 'public' ORDER BY 1")
            .fetch_all(&mut *db)
            .await
            .unwrap();
    let mut found = Vec::new();
    for table in tables {
        let sql = format!("SELECT count(*), md5(string_agg(t::text, '|' ORDER BY t::text)) FROM {table} t");
        let (rows, digest) = sqlx::query_as(AssertSqlSafe(sql)).fetch_one(&mut *db).await.unwrap();
        found.push((table, rows, digest));
    }
    found
}

#[tokio::test(flavor = "multi_thread")]
async fn a_dump_goes_back_into_an_empty_database_and_works() {
    let app = App::start().await;
    let url = app.database.url();
    // People in every state, with charges of two months; and what this test's own have done.
    run(&["demo"], &[("DATABASE_URL", &url)]).success();
    let (applicant, approver) = (app.applicant().await, app.approver().await);
    approver.approve(&applicant.submitted("Before the backup").await).await.expect_status(200);
    let pending = applicant.submitted("Under way").await;

    let folder = crate::ringi::Folder::new("backup");
    let dump = folder.0.join("dump");
    succeed(Command::new(program("pg_dump")).args(["--format=custom", "--file"]).arg(&dump).arg(&url));
    let restored = Database::empty().await;
    // Roles belong to the cluster: here they are.
    succeed(Command::new(program("pg_restore")).args(["--exit-on-error", "--dbname", &restored.url()]).arg(&dump));
    let before = everything(&mut app.database.connect().await).await;
    assert_eq!(everything(&mut restored.connect().await).await, before);

    let there = [("DATABASE_URL", restored.url())];
    let there = [(there[0].0, there[0].1.as_str())];
    run(&["migrate"], &there).success();
    run(&["history", "verify"], &there).success();
    let server = Serving::on(&restored.url(), &[]);
    let at = |person: &Person| Person::with_id(&app.http, &server.address, app.organization, &person.name, person.id);
    at(&approver).approve(&pending).await.expect_status(200);
    assert_eq!(at(&applicant).history(&pending).await.len(), 3, "{}", id_of(&pending));
    assert_eq!(server.stop().code, 0);
    run(&["history", "verify"], &there).success();
    app.stop().await;
}
