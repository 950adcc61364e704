//! Processes that do slow work are killed, frozen, cut off and stopped: there is one holder at a time, and one result.

use crate::harness::{App, PATIENCE, Person, id_of, moment};
use crate::key_server::until;
use crate::outside::{Mood, Outside, approved, path, standing, until_state};
use crate::proxy::Proxy;
use crate::ringi::{Folder, Serving, command, run};
use ringi::pg::embedded::{self, EmbeddedConfig, EmbeddedPg};
use rustix::process::{Pid, Signal, kill_process};
use serde_json::{Value, json};
use sqlx::{ConnectOptions as _, Connection as _};
use std::collections::BTreeSet;
use std::io::BufRead as _;
use std::time::{Duration, Instant};

/// After how much silence others take over, in these tests.
const TIMEOUT: Duration = Duration::from_millis(1_500);

/// A process that does the slow work of the app's database.
fn worker(app: &App, outside: &Outside, settings: &[(&str, &str)]) -> Serving {
    let mut command = command(&["serve", "--role", "worker"], &[("RINGI__AUTH__HS256_SECRET", crate::harness::SECRET)]);
    command.env("DATABASE_URL", app.database.url()).env("PORT", "0").envs(outside.variables());
    command.envs(settings.iter().copied());
    Serving::start(command)
}

/// An app that leaves its work to others, and the database up for long enough for takeovers.
async fn rig(mood: Mood) -> (App, Outside) {
    let outside = Outside::start(mood).await;
    let app = App::answering(outside.settings()).await;
    let up = "SELECT (clock_timestamp() - pg_postmaster_start_time() > interval '2 seconds')::int::bigint";
    until("the database is up for longer than the timeout", async || app.count(up).await == 1).await;
    (app, outside)
}

/// A worker in the middle of its call: nothing is answered yet.
async fn at_work() -> (App, Outside, Person, Value, Serving) {
    let (app, outside) = Box::pin(rig(Mood::Held)).await;
    let (applicant, request) = Box::pin(approved(&app, "A printer")).await;
    let first = worker(&app, &outside, &[]);
    outside.until_asked(1).await;
    (app, outside, applicant, request, first)
}

/// The same, reaching its database through a proxy.
async fn at_work_behind_a_proxy() -> (App, Outside, Person, Value, Serving, Proxy) {
    let (app, outside) = rig(Mood::Held).await;
    let proxy = Proxy::before(&app.database.options());
    // The margin between its own deadline and the others' is wide enough for a busy machine.
    let settings = [("DATABASE_URL", &*proxied(&app, &proxy)), ("RINGI__PROCESSING__SAFETY_MARGIN_MS", "500")];
    let first = worker(&app, &outside, &settings);
    let (applicant, request) = approved(&app, "A printer").await;
    outside.until_asked(1).await;
    (app, outside, applicant, request, first, proxy)
}

async fn one_result(app: &App) -> Value {
    let mut db = app.database.connect().await;
    let rows: Vec<(Value, i64)> =
        sqlx::query_as("SELECT data, lease_fence FROM job_result").fetch_all(&mut db).await.unwrap();
    assert_eq!(rows.len(), 1, "{rows:?}");
    assert_eq!(rows[0].0["fence"], rows[0].1, "the result is of who saved it");
    assert_eq!(app.count("SELECT count(*) FROM job_lease WHERE kind <> 'relay'").await, 0);
    let ends = "SELECT count(*) FROM organization_history WHERE kind = 'job' AND action = 'succeed'";
    assert_eq!(app.count(ends).await, 1);
    app.check_invariants().await;
    rows[0].0.clone()
}

#[tokio::test(flavor = "multi_thread")]
async fn of_twenty_starts_from_two_processes_one_starts_it() {
    let (app, outside) = rig(Mood::Held).await;
    let (applicant, request) = approved(&app, "A printer").await;
    // As a request that was approved before there was a connector.
    app.execute("DELETE FROM job").await;
    let address = |serving: &Serving| serving.address.clone();
    let both = |app: &App| {
        let mut command = command(&["serve"], &[("RINGI__AUTH__HS256_SECRET", crate::harness::SECRET)]);
        command.env("DATABASE_URL", app.database.url()).env("PORT", "0").envs(outside.variables());
        Serving::start(command)
    };
    let processes = [both(&app), both(&app)];
    for from in ["not_started", "failed"] {
        assert_eq!(standing(&applicant, &request).await["state"], from);
        let calls = outside.calls().len();
        let asking: Vec<_> = (0..20)
            .map(|n: usize| {
                let who = Person::with_id(
                    &app.http,
                    &address(&processes[n % 2]),
                    app.organization,
                    &applicant.name,
                    applicant.id,
                );
                let path = path(&request);
                tokio::spawn(async move { who.post(&path, json!({})).await })
            })
            .collect();
        let mut started = 0;
        for answer in asking {
            let answer = answer.await.unwrap();
            assert_eq!(
                answer.status.as_u16(),
                if answer.body["started"] == true { 202 } else { 200 },
                "{}",
                answer.text
            );
            started += i32::from(answer.body["started"] == true);
        }
        assert_eq!(started, 1);
        outside.until_asked(calls + 1).await;
        // Long enough for whoever else would start it: two sweeps.
        tokio::time::sleep(Duration::from_secs(1)).await;
        assert_eq!(outside.calls().len(), calls + 1, "one outside call");
        outside.mood(Mood::Says(400, "", "no"));
        until_state(&applicant, &request, "failed").await;
        outside.mood(Mood::Held);
    }
    app.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_holder_that_is_killed_is_replaced_after_the_timeout() {
    let (app, outside, applicant, request, first) = Box::pin(at_work()).await;
    let second = worker(&app, &outside, &[]);
    first.kill();
    let before = standing(&applicant, &request).await;
    outside.until_asked(2).await;
    let now = standing(&applicant, &request).await;
    // By the database's clock: from the dead one's last sign of life to the new holder's first.
    let mut db = app.database.connect().await;
    let taken: chrono::DateTime<chrono::Utc> =
        sqlx::query_scalar("SELECT acquired_at FROM job_lease WHERE kind = 'job'").fetch_one(&mut db).await.unwrap();
    let silence = (taken - moment(&before["heartbeat_at"])).to_std().unwrap();
    assert!(silence >= TIMEOUT, "not before its silence is long enough: {silence:?}");
    // A sweep later at most, and what a busy machine takes.
    assert!(silence < TIMEOUT + Duration::from_secs(4), "without anybody asking, and soon: {silence:?}");
    assert_ne!(now["holder"], before["holder"]);
    outside.mood(Mood::Good);
    until_state(&applicant, &request, "succeeded").await;
    let calls = outside.calls();
    assert_eq!(one_result(&app).await["fence"], calls[1].fence);
    assert!(calls[0].fence < calls[1].fence && calls[0].key == calls[1].key);
    assert!(outside.overlaps().is_empty());
    drop(second);
    app.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_holder_that_was_frozen_saves_nothing_when_it_wakes() {
    let (app, outside, applicant, request, first) = Box::pin(at_work()).await;
    first.signal(Signal::STOP);
    let second = worker(&app, &outside, &[]);
    outside.until_asked(2).await;
    // Both are answered: the frozen one will find its answer when it wakes.
    outside.mood(Mood::Good);
    until_state(&applicant, &request, "succeeded").await;
    let result = one_result(&app).await;
    first.signal(Signal::CONT);
    until("the first one has noticed", async || {
        let said = first.stderr();
        said.contains("its work is stopped") || said.contains("nothing is saved") || said.contains("thrown away")
    })
    .await;
    assert_eq!(one_result(&app).await, result, "the new holder's result stands");
    assert_eq!(result["fence"], outside.calls()[1].fence);
    drop(second);
    app.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_holder_that_froze_inside_the_save_is_replaced_within_the_idle_timeout() {
    let (app, outside, applicant, request, first) = Box::pin(at_work()).await;
    // The save waits for the head of the history, in its transaction, with the lease's row locked.
    let holding = app.hold("SELECT FROM history_head WHERE kind = 'job' FOR UPDATE").await;
    outside.mood(Mood::Good);
    app.until_waiting(1).await;
    first.signal(Signal::STOP);
    holding.release().await;
    let idle =
        "SELECT count(*) FROM pg_stat_activity WHERE datname = current_database() AND state = 'idle in transaction'";
    until("its transaction is open, and silent", async || app.count(idle).await == 1).await;
    let frozen = Instant::now();
    let second = worker(&app, &outside, &[]);
    until_state(&applicant, &request, "succeeded").await;
    // By itself the database would end it after ten seconds.
    assert!(frozen.elapsed() < Duration::from_secs(9), "{:?}", frozen.elapsed());
    let result = one_result(&app).await;
    assert_eq!(result["fence"], outside.calls()[1].fence);
    first.signal(Signal::CONT);
    let said = ["failed and is repeated", "can't be saved", "thrown away"];
    until("the first one has noticed", async || said.iter().any(|words| first.stderr().contains(words))).await;
    assert_eq!(one_result(&app).await, result);
    drop(second);
    app.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_database_that_is_cut_off_for_less_than_the_timeout_costs_nothing() {
    let (app, outside, applicant, request, first, proxy) = Box::pin(at_work_behind_a_proxy()).await;
    proxy.freeze();
    tokio::time::sleep(Duration::from_millis(600)).await;
    proxy.cut();
    let heard = async || standing(&applicant, &request).await["heartbeat_at"].clone();
    let before = heard().await;
    proxy.thaw();
    until("it is heard of again", async || heard().await != before).await;
    // Answered while it is cut off once more: saved when it is back.
    proxy.freeze();
    outside.mood(Mood::Good);
    until("it has its answer", async || outside.calls()[0].ended.is_some()).await;
    proxy.cut();
    proxy.thaw();
    until_state(&applicant, &request, "succeeded").await;
    assert_eq!(outside.calls().len(), 1, "the work was done once");
    one_result(&app).await;
    drop(first);
    app.stop().await;
}

/// The app's database, by way of the proxy.
fn proxied(app: &App, proxy: &Proxy) -> String {
    let direct = crate::harness::Database::socket_dir();
    let socket = proxy.options().get_socket().unwrap();
    let encode = |path: &std::path::Path| path.to_str().unwrap().replace('/', "%2F");
    let url = app.database.url();
    let (direct, socket) = (encode(&direct), encode(socket));
    assert!(url.contains(&direct), "{url}");
    url.replace(&direct, &socket)
}

#[tokio::test(flavor = "multi_thread")]
async fn a_holder_that_is_cut_off_stops_before_another_starts() {
    let (app, outside, applicant, request, first, proxy) = Box::pin(at_work_behind_a_proxy()).await;
    proxy.freeze();
    let second = worker(&app, &outside, &[]);
    outside.until_asked(2).await;
    let calls = outside.calls();
    assert!(calls[0].hung_up, "it has dropped its call by itself");
    assert!(calls[0].ended.unwrap() < calls[1].begun, "before another began");
    assert!(outside.overlaps().is_empty());
    proxy.thaw();
    outside.mood(Mood::Good);
    until_state(&applicant, &request, "succeeded").await;
    assert_eq!(one_result(&app).await["fence"], calls[1].fence);
    drop((first, second));
    app.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn the_answer_of_a_commit_that_is_lost_does_not_repeat_the_work() {
    let (app, outside, applicant, request, first, proxy) = Box::pin(at_work_behind_a_proxy()).await;
    // The next commit is that of the save, and not the relay's.
    until("it has relayed everything", async || app.count("SELECT count(*) FROM outbox_event").await == 0).await;
    proxy.arm(crate::proxy::Fault::AfterCommit);
    outside.mood(Mood::Good);
    until_state(&applicant, &request, "succeeded").await;
    assert!(!proxy.is_armed());
    until("it has looked", async || first.stderr().contains("looking whether it was saved")).await;
    one_result(&app).await;
    assert_eq!(outside.calls().len(), 1);
    // And it goes on with the next one.
    let (_, next) = approved(&app, "A chair").await;
    until_state(&applicant_of(&app, &next), &next, "succeeded").await;
    drop(first);
    app.stop().await;
}

fn applicant_of(app: &App, request: &Value) -> Person {
    let id = request["applicant_id"].as_str().unwrap().parse().unwrap();
    Person::with_id(&app.http, &app.address, app.organization, "Aiko Applicant", id)
}

#[tokio::test(flavor = "multi_thread")]
async fn a_stop_with_time_enough_lets_the_work_finish_under_its_heartbeat() {
    let (app, outside, applicant, request, first) = Box::pin(at_work()).await;
    let second = worker(&app, &outside, &[]);
    first.signal(Signal::TERM);
    // Longer than the timeout: without its heartbeat it would be taken over.
    tokio::time::sleep(TIMEOUT + Duration::from_millis(700)).await;
    assert_eq!(outside.calls().len(), 1, "nobody took over from who is stopping");
    outside.mood(Mood::Good);
    let said = first.end();
    assert_eq!(said.code, 0, "{said:?}");
    assert_eq!(standing(&applicant, &request).await["state"], "succeeded");
    assert_eq!(outside.calls().len(), 1);
    one_result(&app).await;
    drop(second);
    app.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_stop_without_time_gives_the_work_back_at_once() {
    let (app, outside) = rig(Mood::Held).await;
    let (applicant, request) = approved(&app, "A printer").await;
    // The other one learns of it by a word alone.
    let long = [("RINGI__PROCESSING__LEASE_TIMEOUT_MS", "60000"), ("RINGI__PROCESSING__SWEEP_INTERVAL_MS", "60000")];
    let first = worker(&app, &outside, &[long[0], long[1], ("RINGI__HTTP__SHUTDOWN_GRACE_MS", "300")]);
    outside.until_asked(1).await;
    let second = worker(&app, &outside, &long);
    // It has looked, and sleeps.
    let listening =
        "SELECT count(*) FROM pg_stat_activity WHERE datname = current_database() AND query LIKE 'LISTEN%ringi_jobs%'";
    until("both listen", async || app.count(listening).await == 2).await;
    let asked = Instant::now();
    let said = first.stop();
    assert_eq!(said.code, 0, "{said:?}");
    outside.until_asked(2).await;
    assert!(asked.elapsed() < Duration::from_secs(10), "without waiting for the timeout: {:?}", asked.elapsed());
    let now = standing(&applicant, &request).await;
    assert_eq!(now["attempts"], 2);
    assert!(outside.calls()[0].hung_up && outside.overlaps().is_empty());
    outside.mood(Mood::Good);
    until_state(&applicant, &request, "succeeded").await;
    assert_eq!(app.count("SELECT failures::bigint FROM job").await, 0, "a stop is nobody's fault");
    one_result(&app).await;
    drop(second);
    app.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn jobs_begin_while_another_organizations_wait_for_a_lock() {
    let (app, outside) = rig(Mood::Good).await;
    let (applicant, request) = approved(&app, "A printer").await;
    let other = uuid::Uuid::new_v4();
    app.create_organization(other, app.admin.id).await;
    app.execute(&format!(
        "INSERT INTO organization_member
         SELECT '{other}', user_id, display_name, is_active, can_approve, is_admin, version, created_at, updated_at
         FROM organization_member ON CONFLICT DO NOTHING;
         INSERT INTO approval_request
         SELECT '{other}', gen_random_uuid(), applicant_id, title, description, amount, currency, status, version,
                content_version, content_hash, decision_reason, created_at, updated_at, submitted_at, decided_at,
                last_action, last_actor_id, last_actor_name, chain_hash
         FROM approval_request;
         INSERT INTO job (organization_id, request_id, state, next_try_at, started_at)
         SELECT organization_id, id, 'waiting', clock_timestamp(), clock_timestamp() FROM approval_request
         WHERE organization_id = '{other}'"
    ))
    .await;
    let locked = app.hold(&format!("SELECT FROM job WHERE request_id = '{}' FOR UPDATE", id_of(&request))).await;
    let limits = [("RINGI__DATABASE__LOCK_TIMEOUT_MS", "60000"), ("RINGI__DATABASE__STATEMENT_TIMEOUT_MS", "90000")];
    let process = worker(&app, &outside, &limits);
    app.until_waiting(1).await;
    outside.until_asked(1).await;
    assert_eq!(outside.calls()[0].body["organization_id"], other.to_string());
    locked.release().await;
    until_state(&applicant, &request, "succeeded").await;
    drop(process);
    app.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_job_that_kills_its_process_each_time_is_parked() {
    let (app, outside) = rig(Mood::Held).await;
    let (applicant, request) = approved(&app, "A printer").await;
    for death in 1..=3 {
        let process = worker(&app, &outside, &[]);
        outside.until_asked(death).await;
        process.kill();
    }
    let process = worker(&app, &outside, &[]);
    let parked = until_state(&applicant, &request, "failed").await;
    assert!(parked["last_error"].as_str().unwrap().starts_with("parked: 3 processes in a row"), "{parked}");
    assert_eq!(outside.calls().len(), 3, "it was not asked again");
    outside.mood(Mood::Good);
    applicant.post(&path(&request), json!({})).await.expect_status(202);
    until_state(&applicant, &request, "succeeded").await;
    one_result(&app).await;
    drop(process);
    app.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_worker_serves_health_and_metrics_and_nothing_else() {
    let (app, outside) = rig(Mood::Good).await;
    let process = worker(&app, &outside, &[]);
    let get = async |path: &str| app.http.get(format!("{}{path}", process.address)).send().await.unwrap();
    assert_eq!(get("/health/ready").await.status().as_u16(), 200);
    assert_eq!(get("/api/v1/me").await.status().as_u16(), 404);
    let (applicant, request) = approved(&app, "A printer").await;
    until_state(&applicant, &request, "succeeded").await;
    let text = get("/metrics").await.text().await.unwrap();
    for line in
        // The one is the relay's.
        [
            "ringi_jobs_attempts_total{outcome=\"succeeded\"} 1",
            "ringi_leases_held 1",
            "ringi_jobs{state=\"waiting\"}",
        ]
    {
        assert!(text.contains(line), "{line} in {text}");
    }
    let threads = std::fs::read_dir(format!("/proc/{}/task", process.pid().as_raw_nonzero())).unwrap();
    let names = threads.map(|thread| std::fs::read_to_string(thread.unwrap().path().join("comm")).unwrap());
    // The kernel keeps fifteen characters of a name.
    let hearts = names.filter(|name| name.trim() == "ringi-heartbeat").count();
    assert_eq!(hearts, 2, "one for all work, and the relay's own");
    drop(process);
    app.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn nobody_takes_over_in_the_first_timeout_after_a_restart_of_the_database() {
    let folder = Folder::in_memory("lease-restart");
    let mut config = EmbeddedConfig::new(folder.0.join("pg"));
    config.supervisor = Some(env!("CARGO_BIN_EXE_ringi").into());
    let postgres = embedded::start(config).await.unwrap();
    postgres.ensure_database("ringi").await.unwrap();
    let url = postgres.url("ringi");
    run(&["migrate"], &[("DATABASE_URL", &url)]).success();
    run(&["demo"], &[("DATABASE_URL", &url)]).success();
    let outside = Outside::start(Mood::Held).await;
    let start = || {
        let mut command = command(&["serve"], &[("RINGI__AUTH__HS256_SECRET", crate::harness::SECRET)]);
        command.env("DATABASE_URL", &url).env("PORT", "0").envs(outside.variables());
        // Long enough that a restart fits into it, also on a busy machine.
        command.env("RINGI__PROCESSING__LEASE_TIMEOUT_MS", "8000");
        Serving::start(command)
    };
    let first = start();
    let http = reqwest::Client::builder().no_proxy().build().unwrap();
    let person = |who: usize, address: &str| {
        let demo = &ringi::demo::PEOPLE[who];
        Person::with_id(&http, address, ringi::demo::ORGANIZATION.0, demo.name, demo.id.0)
    };
    let (aiko, ben) = (person(0, &first.address), person(1, &first.address));
    let pending = aiko.submitted("A booth").await;
    let request = ben.approve(&pending).await.expect_status(200).body;
    outside.until_asked(1).await;

    // A restart that is shorter than the timeout costs the holder nothing.
    let mut db = postgres.connect_options("ringi").connect().await.unwrap();
    let started = "SELECT pg_postmaster_start_time()";
    let before: chrono::DateTime<chrono::Utc> = sqlx::query_scalar(started).fetch_one(&mut db).await.unwrap();
    restart(&postgres).await;
    until("it works again", async || aiko.read("/health/ready").await.status == 200).await;
    outside.mood(Mood::Good);
    until_state(&aiko, &request, "succeeded").await;
    assert_eq!(outside.calls().len(), 1, "the work was done once");

    // The holder dies, and then the database is restarted: everybody looks silent.
    outside.mood(Mood::Held);
    let pending = aiko.submitted("Another booth").await;
    let request = ben.approve(&pending).await.expect_status(200).body;
    outside.until_asked(2).await;
    let second = start();
    let aiko = person(0, &second.address);
    first.kill();
    tokio::time::sleep(Duration::from_millis(1_500)).await;
    restart(&postgres).await;
    outside.until_asked(3).await;
    let mut db = postgres.connect_options("ringi").connect().await.unwrap();
    let up = "SELECT extract(epoch FROM clock_timestamp() - pg_postmaster_start_time())::float8";
    let up: f64 = sqlx::query_scalar(up).fetch_one(&mut db).await.unwrap();
    assert!(up >= 8.0, "taken over {up} s after the restart");
    let after: chrono::DateTime<chrono::Utc> = sqlx::query_scalar(started).fetch_one(&mut db).await.unwrap();
    assert!(after > before);
    outside.mood(Mood::Good);
    until_state(&aiko, &request, "succeeded").await;
    db.close().await.unwrap();
    drop(second);
    postgres.leave_and_wait(PATIENCE).await.unwrap();
}

/// Kills the postmaster and waits until its supervisor has brought it back.
async fn restart(postgres: &EmbeddedPg) {
    // It is read while it is written.
    let pid = |text: String| text.lines().next().unwrap_or_default().trim().to_owned();
    let file = postgres.data_dir().join("postmaster.pid");
    let old = pid(std::fs::read_to_string(&file).unwrap());
    kill_process(Pid::from_raw(old.parse().unwrap()).unwrap(), Signal::KILL).unwrap();
    until("the database is back", async || {
        let new = std::fs::read_to_string(&file).map(pid).unwrap_or_default();
        !new.is_empty() && new != old && postgres.connect_options("ringi").connect().await.is_ok()
    })
    .await;
}

#[test]
fn a_timeout_too_near_to_its_interval_is_refused_at_the_start() {
    let near = [
        ("RINGI__PROCESSING__HEARTBEAT_INTERVAL_MS", "10000"),
        ("RINGI__PROCESSING__LEASE_TIMEOUT_MS", "34000"),
        ("RINGI__AUTH__HS256_SECRET", crate::harness::SECRET),
    ];
    let words = ["lease_timeout_ms (34000)", "35000", "heartbeat_interval_ms (10000)", "(5000)", "40000"];
    run(&["serve"], &near).refused(1, &words);
}

#[tokio::test(flavor = "multi_thread")]
async fn the_demos_outside_system_knows_repetitions_and_refuses_who_was_replaced() {
    let mut command = command(&["demo", "--connector", "--listen", "127.0.0.1:0", "--delay", "1s"], &[]);
    let mut child = command.spawn().unwrap();
    let mut line = String::new();
    std::io::BufReader::new(child.stdout.take().unwrap()).read_line(&mut line).unwrap();
    let url = line.split('=').nth(1).unwrap().split_whitespace().next().unwrap().to_owned();
    let app = App::with(crate::outside::connected_to(&url)).await;
    let (applicant, request) = approved(&app, "A printer").await;
    let done = until_state(&applicant, &request, "succeeded").await;
    assert_eq!((&done["result"]["order"], &done["result"]["asked"]), (&json!("STAND-IN-1"), &json!(1)));
    let ask = async |fence: &str| {
        let key = format!("ringi-job-{}", id_of(&request));
        let call = app.http.post(&url).header("idempotency-key", key).header("ringi-fence", fence).body("{}");
        crate::harness::Answer::of(call).await
    };
    ask("0").await.expect_status(409);
    let again = ask("999999").await.expect_status(200).body;
    assert_eq!((&again["order"], &again["asked"]), (&json!("STAND-IN-1"), &json!(2)), "the same order");
    app.http.post(&url).send().await.unwrap().error_for_status().expect_err("without a key");
    child.kill().unwrap();
    child.wait().unwrap();
    app.stop().await;
}

/// As many as the environment says, or few enough for every day.
fn jobs() -> usize {
    std::env::var("RINGI_JOBS").ok().and_then(|jobs| jobs.parse().ok()).unwrap_or(1_000)
}

#[tokio::test(flavor = "multi_thread")]
async fn jobs_whose_workers_are_killed_at_random_have_one_result_each() {
    let (app, outside) = rig(Mood::Slow(Duration::from_millis(5))).await;
    let (applicant, first) = approved(&app, "The first of many").await;
    let jobs = jobs();
    many(&app, id_of(&first), jobs).await;
    let mut workers = vec![worker(&app, &outside, &[]), worker(&app, &outside, &[])];
    let mut kills = 0;
    let begun = Instant::now();
    let left = "SELECT count(*) FROM job WHERE state = 'waiting'";
    while app.count(left).await > 0 {
        assert!(begun.elapsed() < 6 * PATIENCE, "{} jobs are left", app.count(left).await);
        tokio::time::sleep(Duration::from_millis(fastrand::u64(100..400))).await;
        if kills < 8 {
            workers.remove(fastrand::usize(..workers.len())).kill();
            workers.push(worker(&app, &outside, &[]));
            kills += 1;
        }
    }
    assert!(kills >= 3, "the killer was too slow to prove anything");
    // Chance may have killed three in a row over one job: somebody looks at it and starts it again.
    let mut db = app.database.connect().await;
    let parked: Vec<(uuid::Uuid, String)> =
        sqlx::query_as("SELECT request_id, last_error FROM job WHERE state = 'failed'")
            .fetch_all(&mut db)
            .await
            .unwrap();
    for (id, error) in parked {
        assert!(error.starts_with("parked: 3 processes"), "{error}");
        applicant.post(&path(&json!({"id": id})), json!({})).await.expect_status(202);
    }
    until("all are done", async || app.count(left).await == 0).await;
    let all = i64::try_from(jobs).unwrap() + 1;
    assert_eq!(app.count("SELECT count(*) FROM job WHERE state = 'succeeded'").await, all);
    assert_eq!(app.count("SELECT count(*) FROM job_result").await, all);
    let ends = "SELECT count(*) FROM organization_history WHERE kind = 'job' AND action = 'succeed'";
    assert_eq!(app.count(ends).await, all, "each ended once");
    let stray = "SELECT count(*) FROM job_result r WHERE (r.data->>'fence')::bigint <> r.lease_fence";
    assert_eq!(app.count(stray).await, 0);
    assert!(outside.overlaps().is_empty(), "two live calls for one job: {:?}", outside.overlaps());
    let keys: BTreeSet<_> = outside.calls().into_iter().map(|call| call.key).collect();
    assert_eq!(i64::try_from(keys.len()).unwrap(), all);
    let mut newest = std::collections::BTreeMap::new();
    for call in outside.calls() {
        let before = newest.insert(call.key.clone(), call.fence);
        assert!(before.is_none_or(|before| before < call.fence), "a fence that did not grow for {}", call.key);
    }
    assert_eq!(standing(&applicant, &first).await["state"], "succeeded");
    drop(workers);
    app.stop().await;
}

/// Copies an approved request, and wants a job for each.
async fn many(app: &App, of: uuid::Uuid, count: usize) {
    app.execute(&format!(
        "INSERT INTO approval_request
         SELECT organization_id, gen_random_uuid(), applicant_id, title, description, amount, currency, status, version,
                content_version, content_hash, decision_reason, created_at, updated_at, submitted_at, decided_at,
                last_action, last_actor_id, last_actor_name, chain_hash
         FROM approval_request, generate_series(1, {count}) WHERE id = '{of}';
         INSERT INTO job (organization_id, request_id, state, next_try_at, started_at)
         SELECT organization_id, id, 'waiting', clock_timestamp(), clock_timestamp() FROM approval_request
         WHERE status = 'approved' ON CONFLICT DO NOTHING"
    ))
    .await;
}
