//! Many at once: what must hold under overlap that no single pair of people makes.

use crate::at_once::{Begun, begin, begin_change, deadlocks, lock_request, names_the_winner, nothing_is_open, rows_of};
use crate::harness::{Answer, App, PATIENCE, Person, id_of, settings};
use ringi::domain::content::Content;
use ringi::domain::ids::{OrganizationId, UserId};
use ringi::transaction::idempotency::Answer as Kept;
use ringi::transaction::{Call, Viewer};
use serde_json::{Value, json};
use std::collections::BTreeMap;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

#[tokio::test(flavor = "multi_thread")]
async fn fifty_approves_of_one_version_at_once() {
    let app = App::start().await;
    let (applicant, ben) = (app.applicant().await, app.approver().await);
    let cleo = app.member("Cleo Approver", true, false).await;
    let pending = applicant.submitted("everybody wants it").await;

    let held = app.hold(&lock_request(&pending)).await;
    let approves: Vec<Begun> =
        (0..25).flat_map(|_| [&ben, &cleo]).map(|by| begin(by, &pending, "approve", None)).collect();
    // All of them are there: two at the row, the others in the queue in front of the connections.
    until(async || app.use_cases.admission.present() == 50).await;
    app.until_waiting(2).await;
    held.release().await;

    let mut answers: BTreeMap<u16, Vec<Answer>> = BTreeMap::new();
    for approve in approves {
        let answer = approve.answer().await;
        answers.entry(answer.status.as_u16()).or_default().push(answer);
    }
    let counted: Vec<_> = answers.iter().map(|(status, answers)| (*status, answers.len())).collect();
    assert_eq!(counted, [(200, 1), (409, 49)]);
    let history = applicant.history(&pending).await;
    let winner = if history[2]["actor_id"] == json!(ben.id) { &ben } else { &cleo };
    for lost in answers.remove(&409).unwrap() {
        names_the_winner(&lost.expect_problem(409, "request_changed"), winner, "approve", "approved", 3);
    }
    assert_eq!((history.len(), rows_of(&app, &pending).await), (3, (3, 3)), "one row, one event");
    app.check_invariants().await;
    app.stop().await;
}

/// Two people decide on each other's requests and send them in again, while an administrator gives and takes their
/// rights and changes his own row.
#[tokio::test(flavor = "multi_thread")]
async fn two_members_deciding_crosswise_while_roles_change_in_a_loop() {
    let app = App::answering(settings()).await;
    let ann = app.member("Ann Both", true, false).await;
    let bob = app.member("Bob Both", true, false).await;
    let mut requests = Vec::new();
    for n in 0..4 {
        requests.push((ann.clone(), bob.clone(), ann.submitted(&format!("Ann's {n}")).await));
        requests.push((bob.clone(), ann.clone(), bob.submitted(&format!("Bob's {n}")).await));
    }
    let until = Instant::now() + Duration::from_secs(4);
    let mut walks = Vec::new();
    for (applicant, decider, seen) in requests {
        walks.push(tokio::spawn(async move {
            let mut decided = 0;
            while Instant::now() < until {
                let now = applicant.get(&seen).await.expect_status(200).body;
                let (back, again) = tokio::join!(
                    decider.act(&now, "send-back", Some("once more")),
                    applicant.act(&now, "submit", None)
                );
                for answer in [&back, &again] {
                    assert!(answer.status.as_u16() < 500, "{}", answer.text);
                }
                decided += i32::from(back.status == 200);
            }
            decided
        }));
    }
    let mut round = 0;
    while Instant::now() < until {
        round += 1;
        for person in [&ann, &bob] {
            let answer = app.admin.change_member(person.id, json!({"can_approve": round % 2 == 0})).await;
            answer.expect_status(200);
        }
        let name = format!("Dara {round}");
        app.admin.change_member(app.admin.id, json!({"display_name": name})).await.expect_status(200);
    }
    let mut decided = 0;
    for walk in walks {
        decided += walk.await.unwrap();
    }
    assert!(decided > 20 && round > 5, "{decided} decisions and {round} rounds prove nothing");
    app.check_invariants().await;
    assert_eq!(deadlocks(&app).await, 0, "not even one that a retry would hide");
    app.stop().await;
}

/// How long a revocation takes while the approver's decisions overlap without end. Each of them lasts 0.1 s, by a
/// trigger: a slow disk, a large payload.
async fn revocation_among_endless_decisions(fence: bool) -> Duration {
    let mut settings = settings();
    settings.database.max_connections = 16;
    let app = App::with(settings).await;
    let (applicant, ben) = (app.applicant().await, app.approver().await);
    let mut lanes: [Vec<Value>; 6] = Default::default();
    for n in 0..162 {
        lanes[n % 6].push(applicant.submitted(&format!("number {n}")).await);
    }
    app.execute(
        "CREATE FUNCTION slow() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN PERFORM pg_sleep(0.1); RETURN NEW; END $$;
         CREATE TRIGGER slow BEFORE INSERT ON approval_history FOR EACH ROW EXECUTE FUNCTION slow();",
    )
    .await;
    if !fence {
        // Nobody meets anybody at a fence that stands somewhere else each time.
        app.execute(
            "CREATE OR REPLACE FUNCTION member_fence(organization_id uuid, user_id uuid) RETURNS bigint LANGUAGE sql
             RETURN hashtextextended(gen_random_uuid()::text, 0)",
        )
        .await;
    }
    let revoked = Arc::new(AtomicBool::new(false));
    let mut walks = Vec::new();
    for (n, lane) in lanes.into_iter().enumerate() {
        let (ben, revoked) = (ben.clone(), Arc::clone(&revoked));
        walks.push(tokio::spawn(async move {
            // The lanes are apart by a sixth, so that some always hold the membership when another lets it go.
            tokio::time::sleep(Duration::from_millis(17) * u32::try_from(n).unwrap()).await;
            for pending in lane {
                let status = ben.approve(&pending).await.status.as_u16();
                if revoked.load(Ordering::Relaxed) {
                    return true;
                }
                assert!(status == 200 || status == 404, "{status}");
            }
            false
        }));
    }
    until(async || app.count("SELECT count(*) FROM approval_request WHERE status = 'approved'").await >= 3).await;
    let start = Instant::now();
    let revoke = begin_change(&app.admin, ben.id, json!({"can_approve": false})).await.answer().await;
    let took = start.elapsed();
    revoked.store(true, Ordering::Relaxed);
    let mut outlasted = true;
    for walk in walks {
        outlasted &= walk.await.unwrap();
    }
    if fence {
        revoke.expect_status(200);
        assert!(outlasted, "the decisions must go on until the revocation is through");
        app.check_invariants().await;
    }
    app.stop().await;
    took
}

#[tokio::test(flavor = "multi_thread")]
async fn endless_overlapping_decisions_by_one_approver_then_a_revocation() {
    let took = revocation_among_endless_decisions(true).await;
    assert!(took < Duration::from_secs(2), "the revocation took {took:?}");
    // And it is the fence that does it: with the row lock alone, those who share it overtake for as long as they come.
    let took = revocation_among_endless_decisions(false).await;
    assert!(took > Duration::from_secs(2), "fair without the fence ({took:?}): then it could go");
}

#[tokio::test(flavor = "multi_thread")]
async fn two_admins_demote_each_other_200_rounds() {
    let app = App::answering(settings()).await;
    let ann = app.member("Ann Admin", false, true).await;
    let bob = app.member("Bob Admin", false, true).await;
    app.admin.change_member(app.admin.id, json!({"is_admin": false})).await.expect_status(200);
    let mut refused = 0;
    for round in 0..200 {
        let (of_ann, of_bob) = (ann.member(ann.id).await, ann.member(bob.id).await);
        let without = |member: &Value| {
            json!({"version": member["version"], "display_name": member["display_name"], "is_active": round % 2 == 0,
                   "can_approve": member["can_approve"], "is_admin": false})
        };
        let (bobs_path, anns_path) = (format!("members/{}", bob.id), format!("members/{}", ann.id));
        let (one, other) = tokio::join!(ann.put(&bobs_path, without(&of_bob)), bob.put(&anns_path, without(&of_ann)));
        let admins = "SELECT count(*) FROM organization_member WHERE is_admin AND is_active";
        assert_eq!(app.count(admins).await, 1, "round {round}: {} {}", one.text, other.text);
        let (winner, lost, down) = if one.status == 200 { (&ann, other, &bob) } else { (&bob, one, &ann) };
        // Who lost his right before his turn came is told so.
        let code = if round % 2 == 0 { "forbidden" } else { "not_a_member" };
        lost.expect_problem(403, code);
        refused += 1;
        let back = json!({"is_admin": true, "is_active": true});
        winner.change_member(down.id, back).await.expect_status(200);
    }
    assert_eq!(refused, 200);
    app.check_invariants().await;
    assert_eq!(deadlocks(&app).await, 0);
    app.stop().await;
}

/// The same once more, seen: both wait for the organization's row, so one judges after the other.
#[tokio::test(flavor = "multi_thread")]
async fn two_admins_demote_each_other_at_the_same_instant() {
    let app = App::start().await;
    let bob = app.member("Bob Admin", false, true).await;
    let held = app.hold("SELECT FROM organization FOR NO KEY UPDATE").await;
    let one = begin_change(&app.admin, bob.id, json!({"is_admin": false})).await;
    let other = begin_change(&bob, app.admin.id, json!({"is_admin": false})).await;
    app.until_waiting(2).await;
    held.release().await;
    let (one, other) = (one.answer().await, other.answer().await);
    let (left, lost) = if one.status == 200 { (app.admin.clone(), other) } else { (bob.clone(), one) };
    lost.expect_problem(403, "forbidden");
    app.check_invariants().await;

    // Each takes his own right away: the second one is the last, and stays.
    let other = if left.id == bob.id { app.admin.clone() } else { bob.clone() };
    left.change_member(other.id, json!({"is_admin": true})).await.expect_status(200);
    let held = app.hold("SELECT FROM organization FOR NO KEY UPDATE").await;
    let one = begin_change(&left, left.id, json!({"is_admin": false})).await;
    let other = begin_change(&other, other.id, json!({"is_active": false})).await;
    app.until_waiting(2).await;
    held.release().await;
    let (one, other) = (one.answer().await, other.answer().await);
    let lost = if one.status == 200 { other } else { one };
    lost.expect_problem(409, "last_admin");
    app.check_invariants().await;
    app.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_hot_request_does_not_keep_another_organization_waiting() {
    let app = App::start().await;
    let (applicant, ben) = (app.applicant().await, app.approver().await);
    let hot = applicant.submitted("hot").await;
    let beside = applicant.submitted("beside it").await;
    let elsewhere = uuid::Uuid::new_v4();
    app.create_organization(elsewhere, app.admin.id).await;
    let admin = app.admin.in_organization(elsewhere);
    let body =
        json!({"user_id": ben.id, "display_name": "Ben", "is_active": true, "can_approve": true, "is_admin": false});
    admin.post("members", body).await.expect_status(201);
    let theirs = admin.submitted("somewhere else").await;

    let held = app.hold(&lock_request(&hot)).await;
    let crowd: Vec<Begun> = (0..40).map(|_| begin(&ben, &hot, "approve", None)).collect();
    until(async || app.use_cases.admission.present() == 40).await;
    // A quarter of the connections, not all of them.
    app.until_waiting(2).await;
    let start = Instant::now();
    ben.in_organization(elsewhere).approve(&theirs).await.expect_status(200);
    ben.approve(&beside).await.expect_status(200);
    assert!(start.elapsed() < Duration::from_secs(1), "kept waiting for {:?}", start.elapsed());
    app.until_waiting(2).await;
    held.release().await;
    for one in crowd {
        let status = one.answer().await.status.as_u16();
        assert!(status == 200 || status == 409, "{status}");
    }
    app.check_invariants().await;
    app.stop().await;
}

/// Numbers that look random and are the same in every run.
fn numbers(mut seed: u64) -> impl Iterator<Item = u64> {
    std::iter::repeat_with(move || {
        seed = seed.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        seed >> 33
    })
}

#[tokio::test(flavor = "multi_thread")]
async fn two_hundred_clients_hang_up_at_any_moment_and_no_connection_is_spoilt() {
    let app = App::start().await;
    let (applicant, ben) = (app.applicant().await, app.approver().await);
    let shared = applicant.submitted("torn at").await;
    let mut moments = numbers(1);
    let mut hung_up = 0;
    for n in 0..50 {
        let calls = (0..4).map(|kind| {
            let patience = Duration::from_micros(moments.next().unwrap() % 6_000);
            let (applicant, ben, shared) = (applicant.clone(), ben.clone(), shared.clone());
            tokio::spawn(async move {
                let call = async {
                    match kind {
                        0 => drop(applicant.create(&format!("torn {n}")).await),
                        1 => drop(applicant.edit(&shared, "torn").await),
                        2 => drop(ben.act(&shared, "send-back", Some("torn")).await),
                        _ => drop(applicant.act(&shared, "submit", None).await),
                    }
                };
                tokio::time::timeout(patience, call).await.is_err()
            })
        });
        for call in calls.collect::<Vec<_>>() {
            hung_up += i32::from(call.await.unwrap());
        }
    }
    assert!(hung_up > 50, "only {hung_up} hung up: that proves nothing");
    // The same one layer below, where nothing runs on in a task of its own. Looked at every time, before the next write
    // could end what the last one left open.
    for round in 0..20 {
        let writes = (0..10).map(|n| {
            let viewer = Viewer { organization_id: OrganizationId(app.organization), user_id: UserId(applicant.id) };
            let title = format!("dropped {round} {n}");
            let content = Content { title, description: String::new(), amount: None, currency: None };
            let patience = Duration::from_micros(moments.next().unwrap() % 12_000);
            let approvals = app.use_cases.approvals.clone();
            tokio::spawn(async move {
                let render = |_: &_| Kept { status: 201, location: None, body: vec![] };
                let call = Call { viewer, key: None };
                drop(tokio::time::timeout(patience, approvals.create(&call, &content, &render)).await);
            })
        });
        for write in writes.collect::<Vec<_>>() {
            write.await.unwrap();
        }
        nothing_is_open(&app).await;
    }
    clean(&app, &applicant).await;
    app.stop().await;
}

/// All connections are outside of transactions, and what is written over each of them is there for others.
async fn clean(app: &App, applicant: &Person) {
    until(async || app.use_cases.admission.present() == 0).await;
    nothing_is_open(app).await;
    for n in 0..40 {
        let made = applicant.create(&format!("after {n}")).await;
        let sql = format!("SELECT count(*) FROM approval_request WHERE id = '{}'", id_of(&made));
        assert_eq!(app.count(&sql).await, 1, "a write that was answered is not there");
    }
    app.check_invariants().await;
    let sizes = app.pools.write.sizes();
    assert!(sizes.open <= sizes.most, "{sizes:?}");
}

/// Returns when it is so.
async fn until(so: impl AsyncFn() -> bool) {
    let start = Instant::now();
    while !so().await {
        assert!(start.elapsed() < PATIENCE, "it does not come to pass");
        tokio::task::yield_now().await;
    }
}
