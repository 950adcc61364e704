//! The right to do slow work, on a real database: one holder, a heartbeat, and a save that only the holder can make.

use crate::harness::{App, PATIENCE, settings};
use crate::key_server::until;
use crate::proxy::Proxy;
use chrono::{DateTime, Utc};
use ringi::app::{Leases, leases};
use ringi::config::Settings;
use ringi::domain::ids::OrganizationId;
use ringi::domain::lease::{Target, TargetKind, Ticket};
use ringi::lease::{Acquired, Hold, Lease, LeaseSession as _, LeaseStore as _};
use ringi::pg::{PgLeases, PgReads, PgStore};
use ringi::transaction::{Session as _, StoreError};
use std::time::{Duration, Instant};

const SECOND: Duration = Duration::from_secs(1);

fn with_timing(interval: Duration, timeout: Duration) -> Settings {
    let mut settings = settings();
    settings.processing.heartbeat_interval = interval;
    settings.processing.lease_timeout = timeout;
    settings
}

/// An app whose leases beat every 200 ms and end after 2 s of silence. Of its own it holds none.
async fn quick() -> App {
    App::answering(with_timing(Duration::from_millis(200), 2 * SECOND)).await
}

/// As one process of several.
fn process(app: &App) -> Leases {
    leases(&app.pools, &app.settings).unwrap()
}

fn job(app: &App) -> Target {
    Target::of(OrganizationId(app.organization), TargetKind::Job, uuid::Uuid::new_v4())
}

#[track_caller]
fn held(acquired: Acquired) -> Lease {
    match acquired {
        Acquired::Held(lease) => lease,
        Acquired::Busy(standing) => panic!("somebody has it: {standing:?}"),
    }
}

#[track_caller]
fn busy(acquired: Acquired) {
    if let Acquired::Held(lease) = acquired {
        panic!("it was to be had: {lease:?}");
    }
}

/// Lets the holder look silent for this long, behind the back of its heartbeat.
async fn age(app: &App, seconds: f64) {
    app.execute(&format!("UPDATE job_lease SET updated_at = clock_timestamp() - make_interval(secs => {seconds})"))
        .await;
}

async fn stamp(app: &App) -> DateTime<Utc> {
    let mut db = app.database.connect().await;
    sqlx::query_scalar("SELECT updated_at FROM job_lease").fetch_one(&mut db).await.unwrap()
}

async fn clock(app: &App) -> DateTime<Utc> {
    let mut db = app.database.connect().await;
    sqlx::query_scalar("SELECT clock_timestamp()").fetch_one(&mut db).await.unwrap()
}

/// A database that has just started counts as a sign of life of every holder.
async fn until_database_is_up_for(app: &App, age: Duration) {
    let long_enough = format!(
        "SELECT (clock_timestamp() - pg_postmaster_start_time() > make_interval(secs => {}))::int::bigint",
        age.as_secs_f64()
    );
    until("the database is up for long enough", async || app.count(&long_enough).await == 1).await;
}

async fn until_lost(lease: &Lease) {
    tokio::time::timeout(PATIENCE, lease.lost().cancelled()).await.expect("the lease is not lost");
}

#[tokio::test(flavor = "multi_thread")]
async fn of_twenty_who_ask_at_once_one_gets_it() {
    let app = quick().await;
    let target = job(&app);
    let processes = [process(&app), process(&app)];
    let asking: Vec<_> = (0..20)
        .map(|n: usize| {
            let (leases, target) = (processes[n % 2].clone(), target.clone());
            tokio::spawn(async move { leases.acquire(&target).await.unwrap() })
        })
        .collect();
    let mut holders = Vec::new();
    for answer in asking {
        if let Acquired::Held(lease) = answer.await.unwrap() {
            holders.push(lease);
        }
    }
    assert_eq!(holders.len(), 1);
    let standing = processes[0].look(&target).await.unwrap().0.expect("a row");
    assert_eq!((standing.fence, standing.takeovers), (holders[0].fence(), 0));
    let process = format!("/{}/", std::process::id());
    assert!(standing.holder.contains(&process), "{}", standing.holder);
}

#[tokio::test(flavor = "multi_thread")]
async fn silence_is_measured_by_the_databases_clock() {
    // Long, so that a slow machine does not decide.
    let app = App::answering(with_timing(2 * SECOND, 8 * SECOND)).await;
    until_database_is_up_for(&app, 9 * SECOND).await;
    let target = job(&app);
    let (old, new) = (process(&app), process(&app));
    let first = held(old.acquire(&target).await.unwrap());
    // Only its row is left.
    let ticket = first.ticket().clone();
    drop(first);
    let store = PgLeases::new(PgReads::new(app.pools.write.clone(), PATIENCE, PATIENCE));
    age(&app, 0.9 * 8.0).await;
    busy(new.acquire(&target).await.unwrap());
    age(&app, 0.9 * 8.0).await;
    assert_eq!(store.take(&target, "without a look", 8 * SECOND).await.unwrap(), None);
    age(&app, 1.1 * 8.0).await;
    let second = held(new.acquire(&target).await.unwrap());
    assert_eq!(second.takeovers(), 1, "it is counted");
    assert_ne!(second.ticket().token, ticket.token, "with a token of its own");
}

#[tokio::test(flavor = "multi_thread")]
async fn nobody_takes_over_in_the_first_timeout_of_a_database() {
    let hour = Duration::from_hours(1);
    let app = App::answering(with_timing(hour / 4, hour)).await;
    let target = job(&app);
    let leases = process(&app);
    drop(held(leases.acquire(&target).await.unwrap()));
    age(&app, 7_200.0).await;
    busy(leases.acquire(&target).await.unwrap());
    let store = PgLeases::new(PgReads::new(app.pools.write.clone(), PATIENCE, PATIENCE));
    assert_eq!(store.take(&target, "without a look", hour).await.unwrap(), None);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_fence_only_grows() {
    let app = quick().await;
    let target = job(&app);
    let leases = process(&app);
    let mut fences = Vec::new();
    for _ in 0..3 {
        let lease = held(leases.acquire(&target).await.unwrap());
        fences.push(lease.fence());
        assert!(leases.release(lease).await.unwrap());
        // A refused insert draws one, too.
        busy_by_somebody(&app, &leases, &target).await;
    }
    assert!(fences.is_sorted_by(|a, b| a < b), "{fences:?}");
}

async fn busy_by_somebody(app: &App, leases: &Leases, target: &Target) {
    let lease = held(leases.acquire(target).await.unwrap());
    let store = PgLeases::new(PgReads::new(app.pools.write.clone(), PATIENCE, PATIENCE));
    assert_eq!(store.take(target, "another", 2 * SECOND).await.unwrap(), None);
    assert!(leases.release(lease).await.unwrap());
}

#[tokio::test(flavor = "multi_thread")]
async fn the_old_holder_learns_of_the_takeover_and_its_release_leaves_the_new_row() {
    let app = quick().await;
    until_database_is_up_for(&app, 3 * SECOND).await;
    let target = job(&app);
    let (old, new) = (process(&app), process(&app));
    let first = held(old.acquire(&target).await.unwrap());
    let second = loop {
        age(&app, 3.0).await;
        // A heartbeat may have come in between.
        if let Acquired::Held(lease) = new.acquire(&target).await.unwrap() {
            break lease;
        }
    };
    assert!(second.fence() > first.fence());
    until_lost(&first).await;
    assert!(first.pause().await.is_none(), "nothing is saved under a lost lease");
    assert!(!old.release(first).await.unwrap(), "there was nothing of its own to release");
    let standing = new.look(&target).await.unwrap().0.expect("the row of the new holder");
    assert_eq!(standing.fence, second.fence());
    assert!(!second.lost().is_cancelled());
}

#[tokio::test(flavor = "multi_thread")]
async fn who_wants_to_take_over_waits_for_the_save_and_finds_the_work_done() {
    let app = quick().await;
    until_database_is_up_for(&app, 3 * SECOND).await;
    let target = job(&app);
    let (saving, taking) = (process(&app), process(&app));
    let lease = held(saving.acquire(&target).await.unwrap());
    let _paused = lease.pause().await.expect("not lost");
    age(&app, 3.0).await;
    let store = PgStore::new(app.pools.write.clone(), PATIENCE);
    let mut save = store.saving_within(5 * SECOND).open_save().await.unwrap();
    let row = save.hold_lease(lease.ticket(), Hold::Alone).await.unwrap().expect("still ours");
    let taker = tokio::spawn({
        let (taking, target) = (taking.clone(), target.clone());
        async move { taking.acquire(&target).await.unwrap() }
    });
    app.until_waiting(1).await;
    save.release_lease(&row).await.unwrap();
    save.commit().await.unwrap();
    let taken = held(taker.await.unwrap());
    assert_eq!(taken.takeovers(), 0, "the work was done, nobody was silent");
    assert!(taken.fence() > lease.fence());
}

#[tokio::test(flavor = "multi_thread")]
async fn a_save_under_a_lease_that_was_taken_is_refused() {
    let app = quick().await;
    until_database_is_up_for(&app, 3 * SECOND).await;
    let target = job(&app);
    let (old, new) = (process(&app), process(&app));
    let first = held(old.acquire(&target).await.unwrap());
    let paused = first.pause().await.expect("not lost");
    age(&app, 3.0).await;
    let second = held(new.acquire(&target).await.unwrap());
    let store = PgStore::new(app.pools.write.clone(), PATIENCE);
    for how in [Hold::Alone, Hold::Shared] {
        let mut save = store.open_save().await.unwrap();
        assert!(save.hold_lease(first.ticket(), how).await.unwrap().is_none());
        assert!(save.hold_lease(second.ticket(), how).await.unwrap().is_some());
        save.rollback().await;
    }
    assert!(!first.lost().is_cancelled(), "its heartbeat rests");
    drop(paused);
    until_lost(&first).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_step_of_a_long_run_is_waited_for_and_does_not_stop_its_heart() {
    let app = quick().await;
    let target = job(&app);
    let leases = process(&app);
    let lease = held(leases.acquire(&target).await.unwrap());
    let store = PgStore::new(app.pools.write.clone(), PATIENCE);
    for _ in 0..20 {
        let mut step = store.open_save().await.unwrap();
        let row = step.hold_lease(lease.ticket(), Hold::Shared).await.unwrap().expect("ours");
        assert!(row.at() >= lease.acquired_at());
        tokio::time::sleep(Duration::from_millis(100)).await;
        step.commit().await.unwrap();
    }
    assert!(!lease.lost().is_cancelled());
    let standing = leases.look(&target).await.unwrap().0.expect("a row");
    assert!(standing.heartbeat_at > lease.acquired_at());
}

#[tokio::test(flavor = "multi_thread")]
async fn a_frozen_save_ends_by_itself() {
    let app = quick().await;
    let target = job(&app);
    let leases = process(&app);
    let lease = held(leases.acquire(&target).await.unwrap());
    let store = PgStore::new(app.pools.write.clone(), PATIENCE).saving_within(Duration::from_millis(300));
    let mut save = store.open_save().await.unwrap();
    let row = save.hold_lease(lease.ticket(), Hold::Alone).await.unwrap().expect("ours");
    // Silent for longer than the limit: the database ends it.
    until("its connection is ended", async || {
        app.count("SELECT count(*) FROM pg_stat_activity WHERE state = 'idle in transaction' AND datname = current_database()")
            .await
            == 0
    })
    .await;
    let error = save.release_lease(&row).await.expect_err("the transaction is gone");
    assert!(matches!(error, StoreError::Unavailable(_)), "{error:?}");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_heartbeat_that_waited_is_stamped_with_the_time_of_its_writing() {
    // A sixth of the interval is how long it waits for a row.
    let app = App::answering(with_timing(12 * SECOND, 60 * SECOND)).await;
    let leases = process(&app);
    let lease = held(leases.acquire(&job(&app)).await.unwrap());
    // The heartbeat after a pause comes at once.
    let paused = lease.pause().await.expect("not lost");
    let before = stamp(&app).await;
    let holding = app.hold("SELECT FROM job_lease FOR SHARE").await;
    drop(paused);
    app.until_a_heartbeat_waits().await;
    let end_of_wait = clock(&app).await;
    holding.release().await;
    until("it has beaten", async || stamp(&app).await > before).await;
    let written = stamp(&app).await;
    assert!(written >= end_of_wait, "stamped {written}, while it waited until {end_of_wait}");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_row_that_somebody_locks_keeps_no_other_from_beating() {
    let app = quick().await;
    let leases = process(&app);
    let (stuck, free) = (job(&app), job(&app));
    let stuck_lease = held(leases.acquire(&stuck).await.unwrap());
    let free_lease = held(leases.acquire(&free).await.unwrap());
    let holding = app.hold(&format!("SELECT FROM job_lease WHERE target_id = '{}' FOR UPDATE", stuck.id)).await;
    let begun = clock(&app).await;
    // Longer than the whole timeout.
    until("the other goes on", async || {
        let (standing, now) = leases.look(&free).await.unwrap();
        assert!(!standing.unwrap().is_silent(2 * SECOND, now));
        now - begun > chrono::TimeDelta::seconds(3)
    })
    .await;
    assert!(!free_lease.lost().is_cancelled());
    assert!(stuck_lease.lost().is_cancelled(), "it stopped by itself, since nobody answered for it");
    holding.release().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn neither_an_exhausted_pool_nor_a_blocked_executor_stops_the_heart() {
    let app = quick().await;
    let target = job(&app);
    let leases = process(&app);
    let lease = held(leases.acquire(&target).await.unwrap());
    let mut taken = Vec::new();
    for _ in 0..app.settings.database.max_connections {
        taken.push(app.pools.write.lend().await.unwrap());
    }
    let options = app.database.options();
    // An observer that this runtime can't block.
    let observing = std::thread::spawn(move || {
        tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap().block_on(async {
            let mut db = sqlx::ConnectOptions::connect(&options).await.unwrap();
            let mut stamps = Vec::new();
            let begun = Instant::now();
            while begun.elapsed() < Duration::from_millis(2_500) {
                let stamp: DateTime<Utc> =
                    sqlx::query_scalar("SELECT updated_at FROM job_lease").fetch_one(&mut db).await.unwrap();
                stamps.push(stamp);
                tokio::time::sleep(Duration::from_millis(50)).await;
            }
            stamps.dedup();
            stamps.len()
        })
    });
    let workers = tokio::runtime::Handle::current().metrics().num_workers();
    let blocked: Vec<_> =
        (0..workers).map(|_| tokio::spawn(async { std::thread::sleep(Duration::from_secs(3)) })).collect();
    let beats = observing.join().unwrap();
    assert!(beats >= 6, "{beats} heartbeats in 2.5 s");
    for task in blocked {
        task.await.unwrap();
    }
    assert!(!lease.lost().is_cancelled());
    drop(taken);
}

/// An app beside a proxy, over which alone the heart reaches the database.
async fn behind_a_proxy() -> (App, Proxy, Leases) {
    let app = quick().await;
    let proxy = Proxy::before(&app.database.options());
    let pools = ringi::pg::connect(
        proxy.options(),
        &ringi::pg::PoolSettings::from(&app.settings.database),
        Some(ringi::pg::APPLICATION_ROLE),
    )
    .await
    .unwrap();
    let leases = leases(&pools, &app.settings).unwrap();
    (app, proxy, leases)
}

#[tokio::test(flavor = "multi_thread")]
async fn a_database_that_is_away_for_less_than_the_timeout_costs_nothing() {
    let (app, proxy, leases) = behind_a_proxy().await;
    let lease = held(leases.acquire(&job(&app)).await.unwrap());
    for _ in 0..3 {
        let before = stamp(&app).await;
        proxy.cut();
        until("it beats again after a cut", async || stamp(&app).await > before).await;
        proxy.freeze();
        tokio::time::sleep(Duration::from_millis(800)).await;
        let before = stamp(&app).await;
        proxy.thaw();
        until("it beats again after a silence", async || stamp(&app).await > before).await;
    }
    assert!(!lease.lost().is_cancelled());
}

#[tokio::test(flavor = "multi_thread")]
async fn a_holder_that_is_cut_off_stops_by_itself_before_anybody_can_take_over() {
    let (app, proxy, cut_off) = behind_a_proxy().await;
    until_database_is_up_for(&app, 3 * SECOND).await;
    let other = process(&app);
    let target = job(&app);
    let lease = held(cut_off.acquire(&target).await.unwrap());
    proxy.freeze();
    until_lost(&lease).await;
    busy(other.acquire(&target).await.unwrap());
    let begun = Instant::now();
    let second = loop {
        if let Acquired::Held(lease) = other.acquire(&target).await.unwrap() {
            break lease;
        }
        assert!(begun.elapsed() < PATIENCE, "nobody takes over");
        tokio::task::yield_now().await;
    };
    assert_eq!(second.takeovers(), 1);
    proxy.thaw();
}

#[tokio::test(flavor = "multi_thread")]
async fn what_is_still_held_when_the_heart_stops_is_lost() {
    let app = quick().await;
    let leases = process(&app);
    let lease = held(leases.acquire(&job(&app)).await.unwrap());
    assert!(leases.stop(PATIENCE).await);
    assert!(lease.lost().is_cancelled());
    let late = held(leases.acquire(&job(&app)).await.unwrap());
    assert!(late.lost().is_cancelled(), "nobody keeps it");
    let forged = Ticket { token: uuid::Uuid::new_v4(), ..late.ticket().clone() };
    let store = PgLeases::new(PgReads::new(app.pools.write.clone(), PATIENCE, PATIENCE));
    assert!(!store.release(&forged).await.unwrap(), "the target alone proves nothing");
    assert!(store.release(late.ticket()).await.unwrap());
}
