//! Many people, many kills, and a proof afterwards.
//!
//! This knows nothing of the code: it starts the program, speaks HTTP, and looks into the database with SQL. People
//! create, edit, submit, decide and withdraw under idempotency keys, with versions that are sometimes old, and ask
//! again until they know; an administrator gives and takes rights, and closes two months with charges; approvals are
//! followed by calls of an outside system. They ask one server after the other of several on one database; meanwhile
//! servers, the postmaster and single backends are killed with -9, servers are stopped until others have taken their
//! work over and then go on, and links to the database are cut, frozen and slow. Every call and every answer is recorded,
//! and then compared with what the database says.
//!
//! `RINGI_TORTURE_SEED`, `RINGI_TORTURE_SECONDS`, `RINGI_TORTURE_WRITES`, `RINGI_TORTURE_KILLS` and `RINGI_TORTURE_PEOPLE`
//! make it longer.

mod audit;
mod chain;
mod events;
mod jobs;
mod killer;
mod months;
mod people;
mod random;
mod record;
mod roles;

use crate::harness::{Database, check_invariants};
use crate::outside::{Mood, Outside};
use crate::ringi::{Serving, command};
use audit::{Broken, audit};
use killer::{System, create_organization, token};
use people::World;
use random::Random;
use record::{Entries, Who};
use reqwest::Method;
use roles::RoleChange;
use sqlx::{AssertSqlSafe, PgConnection};
use std::collections::BTreeMap;
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::{Duration, Instant};
use uuid::Uuid;

const SECRET: &str = "the torture's own secret, long enough for it";

/// How long, how many, and which chances.
#[derive(Clone, Copy, Debug)]
struct Plan {
    seed: u64,
    /// Calls with a definite answer, at least.
    writes: usize,
    /// Of each kind of victim.
    kills: usize,
    people: usize,
    /// At least.
    time: Duration,
}

impl Plan {
    fn from_environment() -> Self {
        let number = |name: &str| std::env::var(name).ok().map(|text| text.parse::<u64>().expect("a number"));
        let size = |name: &str, default| number(name).map_or(default, |n| usize::try_from(n).unwrap());
        let plan = Self {
            seed: number("RINGI_TORTURE_SEED").unwrap_or_else(|| Uuid::new_v4().as_u64_pair().0),
            writes: size("RINGI_TORTURE_WRITES", 200),
            kills: size("RINGI_TORTURE_KILLS", 2),
            people: size("RINGI_TORTURE_PEOPLE", 12),
            time: Duration::from_secs(number("RINGI_TORTURE_SECONDS").unwrap_or(0)),
        };
        println!("to have this run again: RINGI_TORTURE_SEED={} ({plan:?})", plan.seed);
        plan
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn every_promise_holds_while_everything_is_killed() {
    let plan = Plan::from_environment();
    let mut random = Random::new(plan.seed, 0);
    let mut system = System::start(SECRET).await;
    let admin = administrator();
    let organization = system.organization(admin.id);
    let world = Arc::new(World::new(system.addresses(), organization));
    let begun = Instant::now();
    hire(&world, SECRET, &admin, plan.people).await;

    let lives = begin(&world, &admin, plan.seed).await;
    system.kill_all(&world, plan, &mut random).await;
    end(&world, lives).await;
    let mut db = system.connect().await;
    jobs::finish(&world, &world.record.entries().people, &mut db).await;
    months::finish(&world, &admin).await;
    replay(&world).await;
    events::finish(&mut db).await;

    let entries = world.record.entries();
    println!("{} in {:.0?}", summary(&entries), begun.elapsed());
    let broken = audit(&entries, &mut db).await;
    expect_whole(&broken, plan);
    check_invariants(&mut db).await;
    expect_worth(&entries, plan);
    drop(db);
    system.stop().await;
}

/// A checker that never fails proves nothing: each rule is broken once, in a transaction that is then forgotten.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn the_checker_names_every_rule_that_is_broken() {
    let plan = Plan { seed: 4, writes: 150, kills: 0, people: 8, time: Duration::ZERO };
    let database = Database::new().await;
    let url = database.url();
    let admin = administrator();
    let organization = create_organization(&[("DATABASE_URL", &url)], admin.id);
    let outside = Outside::start(Mood::Good).await;
    let mut command =
        command(&["serve"], &[("RINGI__AUTH__HS256_SECRET", SECRET), ("DATABASE_URL", &url), ("PORT", "0")]);
    command.envs(outside.variables());
    let server = tokio::task::block_in_place(|| Serving::start(command));
    let world = Arc::new(World::new(vec![server.address.clone()], organization));
    hire(&world, SECRET, &admin, plan.people).await;
    let lives = begin(&world, &admin, plan.seed).await;
    world.answered.subscribe().wait_for(|answered| *answered >= plan.writes).await.unwrap();
    end(&world, lives).await;
    let mut db = database.connect().await;
    jobs::finish(&world, &world.record.entries().people, &mut db).await;
    months::finish(&world, &admin).await;
    replay(&world).await;
    events::finish(&mut db).await;

    let entries = world.record.entries();
    println!("{}", summary(&entries));
    expect_whole(&audit(&entries, &mut db).await, plan);
    broken_in_the_database(&entries, &mut db).await;
    broken_in_the_record(&entries, &mut db).await;
    assert_eq!(server.stop().code, 0);
}

async fn broken_in_the_database(entries: &Entries, db: &mut PgConnection) {
    // Wherever the event is by now.
    let in_both = |sql: &str| ["outbox_event", "event_log"].map(|table| sql.replace('@', table)).join("; ");
    let decided = "(SELECT request_id FROM approval_history WHERE action = 'approve' LIMIT 1)";
    let last = format!("request_id = {decided} AND action = 'approve'");
    let kept = &entries.calls.iter().find(|call| call.succeeded()).unwrap().key;
    for (rule, sql) in [
        (audit::COUNT, format!("DELETE FROM approval_history WHERE {last}")),
        (audit::PROMISED, format!("DELETE FROM approval_history WHERE {last}")),
        (audit::COUNT, format!("UPDATE approval_request SET version = version + 1 WHERE id = {decided}")),
        (audit::TABLE, format!("UPDATE approval_request SET status = 'rejected' WHERE id = {decided}")),
        (audit::TABLE, format!("UPDATE approval_history SET from_status = 'returned' WHERE {last}")),
        (audit::EVENTS, in_both(&format!("DELETE FROM @ WHERE subject_id = {decided}::text AND seq = 2"))),
        (
            audit::EVENTS,
            in_both(&format!("UPDATE @ SET event_type = 'request.edit' WHERE subject_id = {decided}::text")),
        ),
        (audit::PROMISED, format!("UPDATE approval_history SET reason = 'another' WHERE {last}")),
        (audit::RIGHTS, format!("UPDATE approval_request SET applicant_id = last_actor_id WHERE id = {decided}")),
        (audit::CHAIN, format!("UPDATE approval_history SET occurred_at = occurred_at + interval '1 us' WHERE {last}")),
        (audit::CHAIN, format!("UPDATE approval_request SET chain_hash = sha256('') WHERE id = {decided}")),
        (audit::CHAIN, format!("UPDATE approval_version SET amount = amount + 1 WHERE request_id = {decided}")),
        (audit::CHAIN, "UPDATE organization_history SET actor_name = 'Nobody'".to_owned()),
        (
            audit::ASKED,
            format!(
                "UPDATE approval_history SET actor_id = (SELECT applicant_id FROM approval_request WHERE id = {decided}) WHERE {last}"
            ),
        ),
        (audit::BACK, format!("UPDATE approval_history SET to_status = 'rejected' WHERE {last}")),
        (events::LOGGED, "DELETE FROM event_log WHERE position = 2".to_owned()),
        (
            events::LOGGED,
            format!(
                "UPDATE event_log SET position = position + 1000000
                 WHERE subject_kind = 'request' AND subject_id = {decided}::text AND seq IN (1, 2);
                 UPDATE event_log e SET position = o.position - 1000000 FROM event_log o
                 WHERE e.subject_kind = 'request' AND e.subject_id = {decided}::text
                   AND (o.subject_kind, o.subject_id) = (e.subject_kind, e.subject_id) AND e.seq + o.seq = 3"
            ),
        ),
        (
            events::LOGGED,
            "WITH moved AS (DELETE FROM event_log WHERE position = (SELECT max(position) FROM event_log) RETURNING *)
             INSERT INTO outbox_event (organization_id, subject_kind, subject_id, seq, event_type, payload, occurred_at)
             SELECT organization_id, subject_kind, subject_id, seq, event_type, payload, occurred_at FROM moved"
                .to_owned(),
        ),
        (jobs::ONE_RESULT, "DELETE FROM job_result WHERE ctid = (SELECT min(ctid) FROM job_result)".to_owned()),
        (jobs::ONE_RESULT, format!("DELETE FROM job WHERE request_id = {decided}")),
        (jobs::FENCE, "UPDATE job_result SET lease_fence = lease_fence + 1".to_owned()),
        (
            months::ONE_MONTH,
            "DELETE FROM charge WHERE id = (SELECT id FROM charge WHERE request_id IS NULL LIMIT 1)".to_owned(),
        ),
        (
            months::ONE_MONTH,
            "UPDATE charge SET period = '2024-09-01' WHERE amount = 3 AND period = '2024-10-01'".to_owned(),
        ),
        (months::CLOSED, "DELETE FROM confirmed_charge WHERE amount = 3".to_owned()),
        (months::CLOSED, "UPDATE confirmed_charge SET amount = 4 WHERE amount = 3".to_owned()),
        (audit::KEYS, format!("DELETE FROM idempotency_key WHERE key = '{kept}'")),
    ] {
        // No trigger and no foreign key stands in the way of this session.
        let planted = format!("BEGIN; SET LOCAL session_replication_role = 'replica'; {sql}");
        sqlx::raw_sql(AssertSqlSafe(planted)).execute(&mut *db).await.unwrap();
        let broken = audit(entries, db).await;
        assert!(broken.iter().any(|broken| broken.rule == rule), "{rule:?} is not named after {sql}: {broken:?}");
        sqlx::raw_sql("ROLLBACK").execute(&mut *db).await.unwrap();
    }
}

async fn broken_in_the_record(entries: &Entries, db: &mut PgConnection) {
    let won = entries.calls.iter().position(|call| call.succeeded() && call.action == "send_back").unwrap();
    let lost = entries.calls.iter().find(|call| call.told().unwrap().code() == "request_changed").unwrap();
    let with = |change: &dyn Fn(&mut Entries)| {
        let mut changed = entries.clone();
        change(&mut changed);
        changed
    };
    let lost = lost.told().unwrap().clone();
    for (rule, changed) in [
        (
            audit::REFUSED,
            with(&|entries| {
                for attempt in &mut entries.calls[won].attempts {
                    attempt.answer = Some(lost.clone());
                }
            }),
        ),
        (
            audit::WINNER,
            with(&|entries| {
                let mut twin = entries.calls[won].clone();
                twin.tag.push_str(" and somebody else");
                entries.calls.push(twin);
            }),
        ),
        (
            audit::SAME,
            with(&|entries| {
                let attempts = &mut entries.calls[won].attempts;
                attempts.last_mut().unwrap().answer.as_mut().unwrap().text.push(' ');
            }),
        ),
        (
            audit::SAME,
            with(&|entries| {
                entries.calls[won].attempts.last_mut().unwrap().answer.as_mut().unwrap().replayed = false;
            }),
        ),
        (audit::ASKED, with(&|entries| drop(entries.calls.remove(won)))),
        (
            audit::BACK,
            with(&|entries| {
                let mut look = entries.looks.iter().find(|look| look.version > 2).unwrap().clone();
                look.began = Instant::now();
                (look.ended, look.version, look.status) = (look.began, 1, "draft".to_owned());
                entries.looks.push(look);
            }),
        ),
        (audit::FAULT, with(&|entries| entries.faults.push("500".to_owned()))),
        (
            roles::REVOKED,
            with(&|entries| {
                let (user, at) = (
                    entries.calls[won].by,
                    entries.calls[won].attempts[0].began.checked_sub(Duration::from_millis(1)).unwrap(),
                );
                let taken = RoleChange { user, right: roles::Right::Decides, given: false, began: at, ended: at };
                entries.roles.push(taken);
            }),
        ),
        (
            months::WHOLE,
            with(&|entries| {
                let mut half = entries.months.iter().find(|look| look.is_closed).unwrap().clone();
                half.total -= 1;
                entries.months.push(half);
            }),
        ),
        (
            months::WHOLE,
            with(&|entries| {
                let mut again = entries.months.last().unwrap().clone();
                (again.began, again.is_closed) = (Instant::now(), false);
                entries.months.push(again);
            }),
        ),
    ] {
        let broken = audit(&changed, db).await;
        assert!(broken.iter().any(|broken| broken.rule == rule), "{rule:?} is not named: {broken:?}");
    }
}

/// The administrator makes the members: half of them may approve.
async fn hire(world: &World, secret: &str, admin: &Who, people: usize) {
    for number in 0..people {
        let (id, can_approve) = (Uuid::new_v4(), number % 2 == 0);
        let name = format!("Person {number}");
        let who = Who { id, name, token: token(secret, id), can_approve };
        let key = Uuid::new_v4().to_string();
        let made = world.ask(admin, Method::POST, "members", Some((&key, &roles::member(&who)))).await;
        assert_eq!(made.map(|told| told.status), Some(201));
        world.record.with(|record| record.people.push(who));
    }
}

fn administrator() -> Who {
    let id = Uuid::new_v4();
    Who { id, name: "Dara".to_owned(), token: token(SECRET, id), can_approve: false }
}

type Lives = Vec<tokio::task::JoinHandle<()>>;

async fn begin(world: &Arc<World>, admin: &Who, seed: u64) -> Lives {
    months::import(world, admin).await;
    let people = world.record.entries().people;
    let everybody = people.clone();
    let lives = people.into_iter().zip(3..).map(|(who, stream)| {
        let world = Arc::clone(world);
        tokio::spawn(async move { world.live(who, Random::new(seed, stream)).await })
    });
    let mut lives: Lives = lives.collect();
    let (here, who) = (Arc::clone(world), admin.clone());
    lives.push(tokio::spawn(async move { roles::administer(&here, &who, &everybody, Random::new(seed, 1)).await }));
    let (here, who) = (Arc::clone(world), admin.clone());
    lives.push(tokio::spawn(async move { months::account(&here, &who, Random::new(seed, 2)).await }));
    lives
}

/// Nobody begins anything more, and everybody gets his last answer.
async fn end(world: &World, lives: Lives) {
    world.over.store(true, Ordering::Relaxed);
    for life in lives {
        life.await.unwrap();
    }
}

/// Everybody asks once more for what he was promised; the audit sees what came of it.
async fn replay(world: &World) {
    let entries = world.record.entries();
    for (index, call) in entries.calls.iter().enumerate().filter(|(_, call)| call.succeeded()) {
        let who = entries.people.iter().find(|who| who.id == call.by).unwrap();
        let attempt = world.attempt(who, call).await;
        assert!(attempt.answer.is_some(), "nothing is killed any more: {call:?}");
        world.record.with(|record| record.calls[index].attempts.push(attempt));
    }
}

fn summary(entries: &Entries) -> String {
    let mut told: BTreeMap<String, usize> = BTreeMap::new();
    for attempt in entries.calls.iter().flat_map(|call| &call.attempts) {
        let what = match &attempt.answer {
            None => "lost".to_owned(),
            Some(told) if told.is_success() => {
                format!("{}{}", told.status, if told.replayed { " replayed" } else { "" })
            }
            Some(told) => format!("{} {}", told.status, told.code()),
        };
        *told.entry(what).or_default() += 1;
    }
    format!("{} calls, {} looks: {told:?}", entries.calls.len(), entries.looks.len())
}

fn expect_whole(broken: &[Broken], plan: Plan) {
    let mut times: BTreeMap<&str, usize> = BTreeMap::new();
    for one in broken {
        let times = times.entry(one.rule).or_default();
        *times += 1;
        if *times <= 3 {
            println!("broken: {}: {}", one.rule, one.what);
        }
    }
    assert!(broken.is_empty(), "with {plan:?}, broken so many times: {times:#?}");
}

/// A run in which nobody won, lost or waited proves nothing.
fn expect_worth(entries: &Entries, plan: Plan) {
    let won = entries.calls.iter().filter(|call| call.succeeded()).count();
    assert!(won * 5 > plan.writes, "only {won} calls succeeded");
    let lost = entries.calls.iter().flat_map(|call| &call.attempts).filter(|attempt| attempt.answer.is_none()).count();
    assert!(plan.kills == 0 || lost > 0, "no call met a kill");
    assert!(months::was_watched(entries), "no month was seen before and after it closed");
    assert!(entries.roles.iter().any(|change| !change.given), "nobody lost a right");
    let rare: &[_] = if plan.writes < 1_000 { &[] } else { &["self_approval_forbidden", "forbidden"] };
    for code in ["request_changed", "invalid_transition"].iter().chain(rare) {
        let met = entries.calls.iter().any(|call| call.told().is_some_and(|told| told.code() == *code));
        assert!(met, "nobody was told {code}");
    }
}
