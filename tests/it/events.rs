//! Events in order: whoever is killed, frozen or deaf meanwhile, the log is the history, each event in it once.

use crate::harness::{App, PATIENCE, SECRET, settings};
use crate::key_server::until;
use crate::outside::{Mood, Outside, approved, until_state};
use crate::ringi::{Serving, command};
use ringi::app::leases;
use ringi::config::Settings;
use ringi::lease::{Acquired, Hold, LeaseSession as _};
use ringi::outbox::store::{Outbox as _, OutboxSession as _, Place};
use ringi::outbox::{Cleaner, Relay, Term};
use ringi::pg::{PgOutbox, PgReads, PgStore};
use ringi::transaction::Session as _;
use rustix::process::Signal;
use serde_json::json;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;
use tokio::sync::watch;
use tokio_util::sync::CancellationToken;

/// Longer than any test takes: nobody finds anything by looking.
const NEVER: Duration = Duration::from_hours(1);

/// Without a relay of its own.
async fn answering() -> App {
    App::answering(settings()).await
}

/// A process that relays, or waits for its turn.
pub fn relay(app: &App, more: &[(&str, &str)]) -> Serving {
    let mut command = command(&["serve", "--role", "worker"], &[("RINGI__AUTH__HS256_SECRET", SECRET)]);
    command.env("DATABASE_URL", app.database.url()).env("PORT", "0").envs([
        ("RINGI__EVENTS__POLL_INTERVAL_MS", "50"),
        ("RINGI__EVENTS__HEARTBEAT_INTERVAL_MS", "250"),
        ("RINGI__EVENTS__LEASE_TIMEOUT_MS", "1500"),
        ("RINGI__PROCESSING__SAVE_TIMEOUT_MS", "1000"),
    ]);
    command.envs(more.iter().copied());
    Serving::start(command)
}

/// The process that holds the lease.
async fn holder(app: &App) -> Option<String> {
    let mut db = app.database.connect().await;
    let holder: Option<String> =
        sqlx::query_scalar("SELECT holder FROM job_lease WHERE kind = 'relay'").fetch_optional(&mut db).await.unwrap();
    holder.map(|holder| holder.split('/').nth(1).unwrap().to_owned())
}

async fn is_relay(app: &App, process: &Serving) -> bool {
    holder(app).await == Some(process.pid().as_raw_nonzero().to_string())
}

/// Which of these processes holds it, if any does.
pub async fn place_of_relay(app: &App, processes: &[Serving]) -> Option<usize> {
    let holder = holder(app).await?;
    processes.iter().position(|process| process.pid().as_raw_nonzero().to_string() == holder)
}

async fn logged(app: &App) -> i64 {
    app.count("SELECT count(*) FROM event_log").await
}

pub async fn until_relayed(app: &App) {
    until("everything is relayed", async || app.count("SELECT count(*) FROM outbox_event").await == 0).await;
    app.check_invariants().await;
}

/// An event of a subject that nothing else is about, left in the outbox by nobody who rings.
fn stray(app: &App, subject: &str, seq: i64) -> String {
    stray_of(app, "closing.start", subject, seq, &json!({}))
}

pub fn stray_of(app: &App, event_type: &str, subject: &str, seq: i64, payload: &serde_json::Value) -> String {
    format!(
        "INSERT INTO outbox_event (organization_id, subject_kind, subject_id, seq, event_type, payload, occurred_at)
         VALUES ('{}', 'closing', '{subject}', {seq}, '{event_type}', '{payload}', clock_timestamp() - interval '1 minute')",
        app.organization
    )
}

#[tokio::test(flavor = "multi_thread")]
async fn of_several_processes_one_relays_and_another_follows() {
    let app = answering().await;
    let mut processes: Vec<Serving> = (0..3).map(|_| relay(&app, &[])).collect();
    until("one of them relays", async || holder(&app).await.is_some()).await;
    let (applicant, approver) = (app.applicant().await, app.approver().await);
    for title in ["A", "B", "C"] {
        let pending = applicant.submitted(title).await;
        approver.approve(&pending).await.expect_status(200);
    }
    until_relayed(&app).await;
    let mut relaying = 0;
    for process in &processes {
        let text = app.http.get(format!("{}/metrics", process.address)).send().await.unwrap().text().await.unwrap();
        relaying += text.lines().filter(|line| *line == "ringi_relaying 1").count();
        let numbered = text.lines().find_map(|line| line.strip_prefix("ringi_events_numbered_total "));
        assert_eq!(numbered.is_some(), is_relay(&app, process).await, "{numbered:?}");
    }
    assert_eq!(relaying, 1);

    // Asked to stop, it gives the lease back, and the next one need not wait for the timeout.
    let first = holder(&app).await.unwrap();
    let place = place_of_relay(&app, &processes).await.unwrap();
    let stopped = processes.remove(place).stop();
    assert_eq!(stopped.code, 0, "{stopped:?}");
    until("another follows", async || holder(&app).await.is_some_and(|holder| holder != first)).await;
    let takeovers = app.count("SELECT takeovers::bigint FROM job_lease WHERE kind = 'relay'").await;
    assert_eq!(takeovers, 0, "it was given back, not taken over");
    applicant.submitted("D").await;
    until_relayed(&app).await;
    app.stop().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn relays_that_are_killed_lose_double_and_disorder_nothing() {
    const KILLS: usize = 10;
    const DECISIONS: usize = 500;
    let app = answering().await;
    let (applicant, approver) = (app.applicant().await, app.approver().await);
    let decided = Arc::new(AtomicUsize::new(0));
    let over = CancellationToken::new();
    let people: Vec<_> = (0..3)
        .map(|_| {
            let (applicant, approver) = (applicant.clone(), approver.clone());
            let (decided, over) = (Arc::clone(&decided), over.clone());
            tokio::spawn(async move {
                while !over.is_cancelled() || decided.load(Ordering::SeqCst) < DECISIONS {
                    let pending = applicant.submitted("Under fire").await;
                    approver.approve(&pending).await.expect_status(200);
                    decided.fetch_add(1, Ordering::SeqCst);
                }
            })
        })
        .collect();
    let mut processes = vec![relay(&app, &[]), relay(&app, &[])];
    for _ in 0..KILLS {
        let before = logged(&app).await;
        // Somebody who is at work, in the middle of it.
        until("a living process is at work", async || {
            logged(&app).await > before + 20 && place_of_relay(&app, &processes).await.is_some()
        })
        .await;
        if let Some(victim) = place_of_relay(&app, &processes).await {
            processes.remove(victim).kill();
        }
        processes.push(relay(&app, &[]));
    }
    over.cancel();
    for person in people {
        person.await.unwrap();
    }
    until_relayed(&app).await;
    let events = logged(&app).await;
    let history = app.count("SELECT count(*) FROM approval_history").await;
    let members = app.count("SELECT count(*) FROM organization_history").await;
    println!("{} decisions, {events} events", decided.load(Ordering::SeqCst));
    assert!(decided.load(Ordering::SeqCst) >= DECISIONS);
    // `check_invariants` has compared row by row.
    assert_eq!(events, history + members);
    app.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn what_is_committed_late_is_not_missed() {
    let app = answering().await;
    let process = relay(&app, &[]);
    let applicant = app.applicant().await;
    until_relayed(&app).await;
    // Earlier in time and in the key than all that follows, and not yet committed.
    let late = app.hold(&stray(&app, "2020-01", 1)).await;
    applicant.submitted("Faster").await;
    until("the faster ones are relayed", async || {
        app.count("SELECT count(*) FROM event_log WHERE event_type = 'request.submit'").await == 1
    })
    .await;
    assert_eq!(app.count("SELECT count(*) FROM event_log WHERE subject_id = '2020-01'").await, 0);
    let last = app.count("SELECT last_position FROM event_stream").await;
    late.commit().await;
    until("the late one is relayed", async || app.count("SELECT count(*) FROM outbox_event").await == 0).await;
    let position = app.count("SELECT position FROM event_log WHERE subject_id = '2020-01'").await;
    assert_eq!(position, last + 1, "after everything that somebody may have read already");
    drop(process);
    app.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_relay_that_froze_in_a_step_writes_nothing_when_it_goes_on() {
    let app = answering().await;
    let frozen = relay(&app, &[]);
    until("it relays", async || is_relay(&app, &frozen).await).await;
    let applicant = app.applicant().await;
    until_relayed(&app).await;
    let before = logged(&app).await;

    // It stands in the middle of its step, at the row of the organization's last position ...
    let held = app.hold("SELECT FROM event_stream FOR UPDATE").await;
    applicant.create("Nobody hears of it for a while").await;
    app.until_waiting(1).await;
    // ... and freezes there. Whoever takes over has to wait for the step, but not for ever.
    frozen.signal(Signal::STOP);
    let next = relay(&app, &[]);
    held.release().await;
    until("another relays", async || is_relay(&app, &next).await).await;
    until_relayed(&app).await;
    assert_eq!(logged(&app).await, before + 1);

    frozen.signal(Signal::CONT);
    until("it knows that it was replaced", async || {
        let said = frozen.stderr();
        said.contains("its work is stopped") || said.contains("nothing is saved")
    })
    .await;
    applicant.submitted("The next one goes on").await;
    until_relayed(&app).await;
    assert!(is_relay(&app, &next).await);
    assert_eq!(logged(&app).await, before + 3, "each event once");
    assert_eq!(frozen.stop().code, 0);
    app.stop().await;
}

/// The lease of the relay, taken by hand, and the outbox.
async fn by_hand(app: &App) -> (ringi::lease::Lease, PgOutbox) {
    let Acquired::Held(lease) = leases(&app.pools, &app.settings).unwrap().acquire(&Relay::target()).await.unwrap()
    else {
        panic!("nobody has it")
    };
    let reads = PgReads::new(app.pools.write.clone(), PATIENCE, PATIENCE);
    let store = PgStore::new(app.pools.write.clone(), PATIENCE).saving_within(Duration::from_secs(2));
    (lease, PgOutbox::new(reads, store))
}

#[tokio::test(flavor = "multi_thread")]
async fn who_was_replaced_writes_nothing_and_a_step_is_waited_for() {
    let app = answering().await;
    let (lease, outbox) = by_hand(&app).await;
    app.applicant().await;
    let mut step = outbox.open_step().await.unwrap();
    let held = step.hold_lease(lease.ticket(), Hold::Shared).await.unwrap().expect("it is ours");
    let numbered = step.number(&held, &Place::default(), 1_000).await.unwrap();
    assert_eq!(numbered.events, 2, "the administrator and the applicant");
    // Whoever takes the lease away waits for the step that is under way.
    let away = tokio::spawn({
        let options = app.database.options();
        async move {
            let mut db = sqlx::ConnectOptions::connect(&options).await.unwrap();
            sqlx::query("UPDATE job_lease SET lease_token = gen_random_uuid()").execute(&mut db).await.unwrap();
        }
    });
    app.until_waiting(1).await;
    step.commit().await.unwrap();
    away.await.unwrap();
    app.check_invariants().await;
    assert_eq!(logged(&app).await, 2);

    app.approver().await;
    let mut step = outbox.open_step().await.unwrap();
    assert!(step.hold_lease(lease.ticket(), Hold::Shared).await.unwrap().is_none(), "it is another's");
    step.rollback().await;
    assert_eq!(logged(&app).await, 2);
    app.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn small_steps_go_round_and_keep_the_order_of_each_subject() {
    let app = answering().await;
    let (applicant, approver) = (app.applicant().await, app.approver().await);
    for title in ["A", "B", "C"] {
        let pending = applicant.submitted(title).await;
        approver.approve(&pending).await.expect_status(200);
    }
    // The clock went back in the middle of a request, and forward in another one.
    app.execute(
        "UPDATE outbox_event SET occurred_at = occurred_at + CASE seq WHEN 1 THEN interval '1 hour' ELSE interval '-1 hour' END
         WHERE subject_kind = 'request'",
    )
    .await;
    let (lease, outbox) = by_hand(&app).await;
    let mut place = Place::default();
    let mut steps = 0;
    loop {
        let mut step = outbox.open_step().await.unwrap();
        let held = step.hold_lease(lease.ticket(), Hold::Shared).await.unwrap().unwrap();
        let numbered = step.number(&held, &place, 2).await.unwrap();
        step.commit().await.unwrap();
        app.check_invariants().await;
        assert!(numbered.events <= 2);
        steps += 1;
        let Some(last) = numbered.last else { break };
        assert!(numbered.waited > Duration::ZERO || numbered.events > 0);
        place = last;
    }
    assert_eq!(app.count("SELECT count(*) FROM outbox_event").await, 0);
    assert_eq!(logged(&app).await, 12);
    assert_eq!(steps, 7);
    app.stop().await;
}

/// One process that relays and answers, and looks by itself never, or often.
async fn app_that_looks_every(interval: Duration) -> App {
    let mut settings = settings();
    settings.events.poll_interval = interval;
    App::with(settings).await
}

#[tokio::test(flavor = "multi_thread")]
async fn whatever_writes_an_event_rings_the_bell() {
    let outside = Outside::start(Mood::Good).await;
    let mut settings: Settings = outside.settings();
    settings.events.poll_interval = NEVER;
    let app = App::with(settings).await;
    let ben = app.approver().await;
    until_relayed(&app).await;
    app.admin.change_member(ben.id, json!({"display_name": "Ben B."})).await.expect_status(200);
    until_relayed(&app).await;
    // Of the request each action, and what follows the approval.
    let (applicant, request) = approved(&app, "A printer").await;
    until_state(&applicant, &request, "succeeded").await;
    until_relayed(&app).await;
    let jobs = app.count("SELECT count(*) FROM event_log WHERE event_type = 'job.succeed'").await;
    assert_eq!(jobs, 1);
    let draft = applicant.create("Never mind").await;
    until_relayed(&app).await;
    applicant.act(&draft, "withdraw", None).await.expect_status(200);
    until_relayed(&app).await;
    app.admin.post("closings/2024-10", json!({})).await.expect_status(202);
    until("the month is closed", async || {
        app.count("SELECT count(*) FROM event_log WHERE event_type = 'closing.close'").await == 1
    })
    .await;
    until_relayed(&app).await;
    app.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn what_nobody_rang_for_is_found_by_looking() {
    let app = app_that_looks_every(Duration::from_millis(50)).await;
    until_relayed(&app).await;
    app.execute(&stray(&app, "2020-01", 1)).await;
    until("it is found", async || app.count("SELECT count(*) FROM event_log WHERE subject_id = '2020-01'").await == 1)
        .await;
    app.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn another_process_is_woken_also_after_its_ear_was_cut_off() {
    // Only the bell between the processes can wake it.
    let app = answering().await;
    let deaf = relay(&app, &[("RINGI__EVENTS__POLL_INTERVAL_MS", "3600000")]);
    until("it relays", async || is_relay(&app, &deaf).await).await;
    app.applicant().await;
    until_relayed(&app).await;
    let listening = "SELECT count(*) FROM pg_stat_activity WHERE datname = current_database()
                     AND application_name = 'ringi signals' AND query LIKE 'LISTEN%'";
    assert_eq!(app.count(listening).await, 2, "one connection of each process listens");
    app.count(&format!("SELECT count(pg_terminate_backend(pid)) FROM ({}) a", listening.replace("count(*)", "pid")))
        .await;
    app.member("Chie", true, false).await;
    until_relayed(&app).await;
    app.member("Emi", true, false).await;
    until_relayed(&app).await;
    drop(deaf);
    app.stop().await;
}

fn term(lease: &ringi::lease::Lease) -> Term {
    Term { ticket: lease.ticket().clone(), over: CancellationToken::new(), news: watch::channel(0).1 }
}

#[tokio::test(flavor = "multi_thread")]
async fn old_events_are_cleaned_away_and_drafts_are_kept() {
    let app = answering().await;
    let (applicant, approver) = (app.applicant().await, app.approver().await);
    let draft = applicant.create("Still a draft").await;
    let pending = applicant.submitted("Decided long ago").await;
    approver.approve(&pending).await.expect_status(200);
    let withdrawn = applicant.create("Withdrawn").await;
    applicant.act(&withdrawn, "withdraw", None).await.expect_status(200);
    let (lease, outbox) = by_hand(&app).await;
    let number = async || {
        let mut step = outbox.open_step().await.unwrap();
        let held = step.hold_lease(lease.ticket(), Hold::Shared).await.unwrap().unwrap();
        step.number(&held, &Place::default(), 1_000).await.unwrap();
        step.commit().await.unwrap();
    };
    number().await;
    app.execute(
        "SET session_replication_role = replica;
         UPDATE event_log SET occurred_at = occurred_at - interval '40 days';
         UPDATE approval_request SET updated_at = updated_at - interval '40 days', created_at = created_at - interval '40 days'",
    )
    .await;
    let old = logged(&app).await;
    // Submitted again just now: what came before must wait for whoever is to be told.
    let other = applicant.create("Young").await;
    number().await;

    let cleaner = Cleaner::new(outbox.clone(), Duration::from_hours(24 * 30));
    cleaner.clean(&term(&lease)).await.unwrap();
    let left: Vec<(i64, String)> = sqlx::query_as("SELECT position, subject_id FROM event_log ORDER BY position")
        .fetch_all(&mut app.database.connect().await)
        .await
        .unwrap();
    let subjects: Vec<_> = left.iter().map(|(_, subject)| subject.as_str()).collect();
    assert_eq!(subjects, [draft["id"].as_str().unwrap(), other["id"].as_str().unwrap()]);
    assert_eq!(app.count("SELECT trimmed FROM event_stream").await, old);
    assert_eq!(app.count("SELECT last_position FROM event_stream").await, old + 1);

    // When the draft is submitted it stays until those who are to be told have had as long as for anything else.
    applicant.act(&draft, "submit", None).await.expect_status(200);
    cleaner.clean(&term(&lease)).await.unwrap();
    assert_eq!(logged(&app).await, 2);
    number().await;
    app.execute(
        "SET session_replication_role = replica;
         UPDATE event_log SET occurred_at = occurred_at - interval '40 days' WHERE subject_id <> '2020-01';
         UPDATE approval_request SET updated_at = updated_at - interval '40 days' WHERE status = 'pending'",
    )
    .await;
    cleaner.clean(&term(&lease)).await.unwrap();
    let left: Vec<String> = sqlx::query_scalar("SELECT subject_id FROM event_log ORDER BY position")
        .fetch_all(&mut app.database.connect().await)
        .await
        .unwrap();
    assert_eq!(left, [other["id"].as_str().unwrap()], "a draft's, however old");
    app.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_cleaner_that_was_replaced_deletes_nothing() {
    let app = answering().await;
    let (lease, outbox) = by_hand(&app).await;
    let mut step = outbox.open_step().await.unwrap();
    let held = step.hold_lease(lease.ticket(), Hold::Shared).await.unwrap().unwrap();
    step.number(&held, &Place::default(), 1_000).await.unwrap();
    step.commit().await.unwrap();
    app.execute(
        "UPDATE event_log SET occurred_at = occurred_at - interval '40 days';
         UPDATE job_lease SET lease_token = gen_random_uuid()",
    )
    .await;
    Cleaner::new(outbox, Duration::from_hours(24)).clean(&term(&lease)).await.unwrap();
    assert_eq!(logged(&app).await, 1);
    app.stop().await;
}
