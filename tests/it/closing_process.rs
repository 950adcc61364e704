//! Closings by processes: what the command answers, and what becomes of a run whose process is killed, frozen, or stopped.

use crate::closing::{bulk, check_closings, ended, look, planted, start};
use crate::harness::{App, PATIENCE, SECRET, settings};
use crate::ringi::{Serving, command, run, said};
use ringi::tokens::sign;
use rustix::process::{Pid, Signal, kill_process};
use serde_json::{Value, json};
use std::process::Child;
use std::time::{Duration, Instant};
use uuid::Uuid;

/// A quick rhythm of leases, so that a takeover does not take minutes.
const QUICK: [(&str, &str); 4] = [
    ("RINGI__PROCESSING__HEARTBEAT_INTERVAL_MS", "100"),
    ("RINGI__PROCESSING__LEASE_TIMEOUT_MS", "600"),
    ("RINGI__PROCESSING__SAVE_TIMEOUT_MS", "400"),
    ("RINGI__CLOSING__RESUME_INTERVAL_MS", "200"),
];

fn quick<'a>(url: &'a str, more: &[(&'a str, &'a str)]) -> Vec<(&'a str, &'a str)> {
    [&[("DATABASE_URL", url)], &QUICK[..], more].concat()
}

/// An app whose own process closes nothing by itself.
async fn app() -> App {
    let mut settings = settings();
    settings.closing.resume_interval = Duration::from_secs(3_600);
    App::with(settings).await
}

fn close(app: &App, period: &str, more: &[(&str, &str)]) -> crate::ringi::Said {
    let (url, org) = (app.database.url(), app.organization.to_string());
    run(&["close", "--org", &org, "--period", period, "--json"], &quick(&url, more))
}

/// A run of its own process.
fn spawned(app: &App, period: &str, more: &[(&str, &str)]) -> Child {
    let (url, org) = (app.database.url(), app.organization.to_string());
    command(&["close", "--org", &org, "--period", period, "--json"], &quick(&url, more)).spawn().unwrap()
}

/// Closes it, waiting for leases of the dead.
fn closed_at_last(app: &App, period: &str) {
    let begun = Instant::now();
    loop {
        let said = tokio::task::block_in_place(|| close(app, period, &[]));
        if said.code == 0 {
            return;
        }
        assert_eq!(said.code, 4, "{said:?}");
        assert!(begun.elapsed() < PATIENCE, "{said:?}");
    }
}

async fn until(app: &App, what: &str, sql: &str) {
    let begun = Instant::now();
    while app.count(sql).await == 0 {
        assert!(begun.elapsed() < PATIENCE, "{what}");
        tokio::time::sleep(Duration::from_millis(5)).await;
    }
}

const NOBODY: &str = "SELECT count(*) FROM (SELECT) always
     WHERE NOT EXISTS (SELECT FROM job_lease WHERE kind = 'closing' AND updated_at > clock_timestamp() - interval '600 ms')";

#[tokio::test(flavor = "multi_thread")]
async fn the_command_says_how_it_ended() {
    let app = app().await;
    let (url, org) = (app.database.url(), app.organization.to_string());
    let said = |arguments: &[&str]| tokio::task::block_in_place(|| run(arguments, &quick(&url, &[])));
    for (arguments, word) in [
        (vec!["close"], "--org"),
        (vec!["close", "--org", &org], "--period"),
        (vec!["close", "--period", "2024-10"], "--org"),
        (vec!["close", "--org", &org, "--period", "2024-13"], "2026-10"),
        (vec!["close", "--org", &org, "--period", "10/2024"], "2026-10"),
        (vec!["close", "--org", "me", "--period", "2024-10"], "--org"),
        (vec!["close", "--all", "--org", &org, "--period", "2024-10"], "--all"),
    ] {
        said(&arguments).refused(2, &[word]);
    }
    let nobody = Uuid::nil().to_string();
    said(&["close", "--org", &nobody, "--period", "2024-10"]).refused(2, &["no organization"]);
    let early = said(&["close", "--org", &org, "--period", "2199-12"]);
    assert!(early.code == 1 && early.stdout.contains("not over yet"), "{early:?}");

    bulk(&app, "2024-10", 200).await;
    let open = planted(&app, "2024-11", 50, "JPY", None).await;
    let bad = planted(&app, "2024-10", -50, "JPY", Some(open)).await;
    let blocked = said(&["close", "--org", &org, "--period", "2024-10"]);
    assert_eq!(blocked.code, 3, "{blocked:?}");
    for word in ["blocked by 1 of 201", &bad.to_string(), "reversal_invalid", "exclude"] {
        assert!(blocked.stdout.contains(word), "{word}: {blocked:?}");
    }
    let blocked = said(&["close", "--org", &org, "--period", "2024-10", "--json"]);
    assert_eq!(blocked.code, 3, "{blocked:?}");
    let line: Value = serde_json::from_str(&blocked.stdout).unwrap();
    assert_eq!((&line["state"], &line["confirmed"]), (&json!("blocked"), &json!(200)));
    assert_eq!(line["blocked"][0]["charge_id"], json!(bad));

    let body = json!({"charge_id": bad, "reason": "of November"});
    app.admin.post("closings/2024-10/exclude", body).await.expect_status(200);
    // Somebody else is at it: this process, whose run waits in its last step for as long as it must.
    let held = app.hold("SELECT FROM history_head WHERE kind = 'closing' AND subject_id = '2024-10' FOR UPDATE").await;
    start(&app.admin, "2024-10").await.expect_status(202);
    app.until_waiting(1).await;
    // In the usual rhythm of leases: by a quick one, this process, which keeps the usual one, looks dead.
    let busy = tokio::task::block_in_place(|| {
        run(&["close", "--org", &org, "--period", "2024-10"], &[("DATABASE_URL", &url)])
    });
    assert!(busy.code == 4 && busy.stdout.contains("somebody else is at it ("), "{busy:?}");
    held.release().await;
    ended(&app.admin, "2024-10").await;
    let done = said(&["close", "--org", &org, "--period", "2024-10"]);
    assert!(done.code == 0 && done.stdout.contains("closed. JPY 20100 (200)"), "{done:?}");
    let rows = app.admin.read("history?kind=closing&action=block").await.body["items"].as_array().unwrap().clone();
    assert_eq!((&rows[0]["actor_id"], &rows[0]["actor_name"]), (&Value::Null, &json!("command line")));
    check_closings(&app).await;
    app.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn all_closes_the_last_month_of_every_organization_and_answers_the_worst() {
    let app = app().await;
    let url = app.database.url();
    let said = || tokio::task::block_in_place(|| run(&["close", "--all", "--json"], &quick(&url, &[])));
    let last: String = sqlx::query_scalar(
        "SELECT to_char(date_trunc('month', now() AT TIME ZONE 'Asia/Tokyo') - interval '1 month', 'YYYY-MM')",
    )
    .fetch_one(&mut app.database.connect().await)
    .await
    .unwrap();
    bulk(&app, &last, 20).await;
    let other = Uuid::new_v4();
    app.create_organization(other, app.admin.id).await;
    let all = said();
    assert_eq!(all.code, 0, "{all:?}");
    let lines: Vec<Value> = all.stdout.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    assert_eq!(lines.len(), 2, "{all:?}");
    for line in &lines {
        assert_eq!((&line["period"], &line["state"]), (&json!(last), &json!("closed")));
    }
    // One that is blocked keeps no other from being closed.
    let third = Uuid::new_v4();
    app.create_organization(third, app.admin.id).await;
    let in_third = |id: Uuid, period: &str, amount: i64, reverses: &str| {
        format!(
            "INSERT INTO charge (organization_id, id, period, occurred_at, amount, currency, reverses, created_by, created_at)
             VALUES ('{third}', '{id}', '{period}-01', '{period}-20T00:00:00Z', {amount}, 'JPY', {reverses}, '{}', now());",
            app.admin.id
        )
    };
    let (spent, back) = (Uuid::new_v4(), Uuid::new_v4());
    app.execute(&in_third(spent, "2199-01", 9, "NULL")).await;
    app.execute(&in_third(back, &last, -9, &format!("'{spent}'"))).await;
    assert_eq!(said().code, 3);
    assert_eq!(look(&app.admin.in_organization(third), &last).await["state"], "blocked");
    app.stop().await;
}

/// kill -9 at random moments: the next run finishes, rows and sums as if nothing had been. `RINGI_TEST_KILLS` sets how
/// many.
#[tokio::test(flavor = "multi_thread")]
async fn a_run_that_is_killed_again_and_again_is_finished_by_the_next() {
    let kills: u32 = std::env::var("RINGI_TEST_KILLS").ok().and_then(|n| n.parse().ok()).unwrap_or(8);
    let app = app().await;
    bulk(&app, "2024-10", 5_000).await;
    let mut within = 0;
    for _ in 0..kills {
        // Each charge a step of its own, so that there are many moments, and rows are left for the last kill.
        let mut child = spawned(&app, "2024-10", &[("RINGI__CLOSING__CHUNK_MAX_ROWS", "1")]);
        let before = app.count("SELECT count(*) FROM confirmed_charge").await;
        let works = format!("SELECT count(*) FROM (SELECT FROM confirmed_charge OFFSET {before} LIMIT 1) more");
        until(&app, "it works", &works).await;
        tokio::time::sleep(Duration::from_micros(u64::from(fastrand::u32(0..150_000)))).await;
        child.kill().unwrap();
        let status = child.wait().unwrap();
        let after = app.count("SELECT count(*) FROM confirmed_charge").await;
        within += u32::from(status.code().is_none() && after > before && after < 5_000);
        until(&app, "the dead are silent", NOBODY).await;
    }
    println!("{within} of {kills} kills were within the walk");
    assert!(within > 0, "no kill met the run at work");
    closed_at_last(&app, "2024-10");
    let statement = app.admin.read("statements/2024-10?limit=1").await.expect_status(200).body;
    assert_eq!(statement["totals"], json!([{"currency": "JPY", "total": "12502500", "count": 5_000}]));
    assert_eq!(app.count("SELECT count(*) FROM confirmed_charge").await, 5_000);
    let starts = "SELECT count(*) FROM organization_history WHERE kind = 'closing' AND action IN ('start', 'close')";
    assert_eq!(app.count(starts).await, 2, "begun once, closed once");
    check_closings(&app).await;
    app.stop().await;
}

/// A holder that is frozen for longer than the timeout writes nothing any more when it goes on, and tells what became of
/// the month: its connections were cut meanwhile, which is nobody's fault. `row` is what it waits for when it is frozen,
/// and `released` when that is let go.
async fn frozen_and_replaced(app: &App, row: &str, released: Released) {
    let held = app.hold(row).await;
    let frozen = spawned(app, "2024-10", &[]);
    app.until_waiting(1).await;
    let pid = Pid::from_child(&frozen);
    kill_process(pid, Signal::STOP).unwrap();
    if matches!(released, Released::AfterItsTimeout) {
        app.until_waiting(0).await;
    }
    held.release().await;
    // It sits inside a transaction: PostgreSQL ends that, and another takes over.
    closed_at_last(app, "2024-10");
    let stored = app.everything().await;
    kill_process(pid, Signal::CONT).unwrap();
    let said = tokio::task::block_in_place(|| said(frozen));
    assert_eq!(said.code, 0, "it sees that the month is closed: {said:?}");
    let line: Value = serde_json::from_str(&said.stdout).unwrap();
    assert_eq!((&line["state"], &line["totals"][0]["count"]), (&json!("closed"), &json!(300)));
    assert_eq!(app.everything().await, stored);
    check_closings(app).await;
}

#[derive(Clone, Copy)]
enum Released {
    /// The frozen process has its lock, and is silent in its transaction.
    AtOnce,
    /// The server has refused it the lock before.
    AfterItsTimeout,
}

#[tokio::test(flavor = "multi_thread")]
async fn a_run_that_was_taken_for_dead_writes_nothing_any_more() {
    let row = "SELECT FROM charge WHERE id = (SELECT id FROM charge ORDER BY id DESC LIMIT 1) FOR UPDATE";
    for released in [Released::AtOnce, Released::AfterItsTimeout] {
        let app = app().await;
        bulk(&app, "2024-10", 300).await;
        frozen_and_replaced(&app, row, released).await;
        app.stop().await;
    }
}

/// The same before it has begun, at the month's fence.
#[tokio::test(flavor = "multi_thread")]
async fn a_start_that_was_taken_for_dead_begins_nothing_any_more() {
    for released in [Released::AtOnce, Released::AfterItsTimeout] {
        let app = app().await;
        bulk(&app, "2024-10", 300).await;
        let fence = format!("SELECT pg_advisory_xact_lock_shared(period_fence('{}', '2024-10-01'))", app.organization);
        frozen_and_replaced(&app, &fence, released).await;
        app.stop().await;
    }
}

/// A holder that has lost its lease while nobody wants it goes on by itself.
#[tokio::test(flavor = "multi_thread")]
async fn a_run_that_lost_its_lease_to_nobody_goes_on() {
    let app = app().await;
    bulk(&app, "2024-10", 300).await;
    let row = "SELECT FROM charge WHERE id = (SELECT id FROM charge ORDER BY id DESC LIMIT 1) FOR UPDATE";
    let held = app.hold(row).await;
    let run = spawned(&app, "2024-10", &[]);
    app.until_waiting(1).await;
    app.execute("DELETE FROM job_lease WHERE kind = 'closing'").await;
    until(&app, "it has another lease", "SELECT count(*) FROM job_lease WHERE kind = 'closing'").await;
    held.release().await;
    let said = tokio::task::block_in_place(|| said(run));
    assert_eq!(said.code, 0, "{said:?}");
    assert!(said.stderr.contains("the lease is another's"), "{said:?}");
    check_closings(&app).await;
    app.stop().await;
}

/// A server that is killed in the middle: another server goes on without anybody asking.
#[tokio::test(flavor = "multi_thread")]
async fn a_servers_run_is_gone_on_with_by_another_server() {
    let app = app().await;
    bulk(&app, "2024-10", 300).await;
    let url = app.database.url();
    let first = tokio::task::block_in_place(|| Serving::on(&url, &QUICK));
    let row = "SELECT FROM charge WHERE id = (SELECT id FROM charge ORDER BY id DESC LIMIT 1) FOR UPDATE";
    let held = app.hold(row).await;
    let token = sign(SECRET.as_bytes(), ringi::domain::ids::UserId(app.admin.id), Duration::from_secs(60)).unwrap();
    let start = format!("{}/api/v1/organizations/{}/closings/2024-10", first.address, app.organization);
    let answer = app.http.post(start).bearer_auth(token).json(&json!({})).send().await.unwrap();
    assert_eq!(answer.status(), 202);
    app.until_waiting(1).await;
    first.kill();
    let running = look(&app.admin, "2024-10").await;
    assert_eq!(running["state"], "running", "{running}");
    let second = tokio::task::block_in_place(|| Serving::on(&url, &QUICK));
    held.release().await;
    assert_eq!(ended(&app.admin, "2024-10").await["state"], "closed");
    let rows = app.admin.read("history?kind=closing").await.body["items"].as_array().unwrap().clone();
    let by: Vec<_> =
        rows.iter().map(|row| (row["action"].as_str().unwrap(), row["actor_name"].as_str().unwrap())).collect();
    assert_eq!(by, [("start", "Dara Admin"), ("close", "ringi")]);
    drop(tokio::task::block_in_place(|| second.stop()));
    check_closings(&app).await;
    app.stop().await;
}

/// A server that is asked to stop ends its step, gives the lease back, and whoever comes next goes on at once.
#[tokio::test(flavor = "multi_thread")]
async fn a_stop_ends_the_step_and_gives_the_lease_back() {
    let app = app().await;
    bulk(&app, "2024-10", 3_000).await;
    let mut child = spawned(&app, "2024-10", &[("RINGI__CLOSING__CHUNK_MAX_ROWS", "2")]);
    until(&app, "it works", "SELECT count(*) FROM confirmed_charge").await;
    kill_process(Pid::from_child(&child), Signal::TERM).unwrap();
    let status = tokio::task::block_in_place(|| child.wait().unwrap());
    assert_eq!(status.code(), Some(1));
    let confirmed = app.count("SELECT count(*) FROM confirmed_charge").await;
    assert!(confirmed > 0 && confirmed < 3_000, "{confirmed}");
    assert_eq!(app.count("SELECT count(*) FROM job_lease WHERE kind <> 'relay'").await, 0);
    let interrupted = look(&app.admin, "2024-10").await;
    assert_eq!((&interrupted["state"], &interrupted["holder"]), (&json!("running"), &Value::Null));
    assert_eq!(tokio::task::block_in_place(|| close(&app, "2024-10", &[])).code, 0, "at once, without a timeout");
    check_closings(&app).await;
    app.stop().await;
}
