//! Who wins, who is told, and what is saved when two people act at once: the rows of the table in two-person form.
//!
//! Each test holds somebody at a lock on a real connection, sees the next one waiting there, and only then lets go.

use crate::at_once::{
    Begun, begin, begin_change, begin_edit, begin_with_key, changed, deadlocks, lock_chain_of, lock_request,
    names_the_winner, one_winner, rows_of, take_next_event,
};
use crate::harness::{Answer, App, Person, id_of, moment, settings, version_of};
use crate::logs;
use reqwest::Method;
use serde_json::{Value, json};
use std::time::{Duration, Instant};

#[tokio::test(flavor = "multi_thread")]
async fn approve_and_reject_at_once() {
    let app = App::start().await;
    let (applicant, ben) = (app.applicant().await, app.approver().await);
    let cleo = app.member("Cleo Approver", true, false).await;
    let pending = applicant.submitted("two minds").await;

    let held = app.hold(&lock_request(&pending)).await;
    let approve = begin(&ben, &pending, "approve", None);
    let reject = begin(&cleo, &pending, "reject", Some("too much"));
    app.until_waiting(2).await;
    held.release().await;

    let (place, won, lost) = one_winner(approve.answer().await, reject.answer().await);
    let (winner, action, status) = [(&ben, "approve", "approved"), (&cleo, "reject", "rejected")][place];
    assert_eq!((&won.body["status"], version_of(&won.body)), (&json!(status), 3));
    names_the_winner(&lost, winner, action, status, 3);
    let history = applicant.history(&pending).await;
    assert_eq!(history.len(), 3, "one decision row");
    assert_eq!((&history[2]["actor_name"], &history[2]["action"]), (&json!(winner.name), &json!(action)));
    assert_eq!(rows_of(&app, &pending).await, (3, 3), "one event");
    app.check_invariants().await;
    app.stop().await;
}

/// The first one has the row, has written, and has not committed: only the lock can make the second one wait.
#[tokio::test(flavor = "multi_thread")]
async fn approve_and_reject_at_once_when_the_first_is_already_writing() {
    let app = App::start().await;
    let (applicant, ben) = (app.applicant().await, app.approver().await);
    let cleo = app.member("Cleo Approver", true, false).await;
    let pending = applicant.submitted("two minds").await;

    let held = app.hold(&take_next_event(&pending)).await;
    let approve = begin(&ben, &pending, "approve", None);
    app.until_waiting(1).await;
    let reject = begin(&cleo, &pending, "reject", Some("too much"));
    app.until_waiting(2).await;
    held.release().await;

    approve.answer().await.expect_status(200);
    let lost = reject.answer().await.expect_problem(409, "request_changed");
    names_the_winner(&lost, &ben, "approve", "approved", 3);
    assert_eq!(rows_of(&app, &pending).await, (3, 3));
    app.check_invariants().await;
    app.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn withdraw_against_approve() {
    let app = App::start().await;
    let (applicant, ben) = (app.applicant().await, app.approver().await);
    let pending = applicant.submitted("never mind").await;

    let held = app.hold(&lock_request(&pending)).await;
    let withdraw = begin(&applicant, &pending, "withdraw", None);
    let approve = begin(&ben, &pending, "approve", None);
    app.until_waiting(2).await;
    held.release().await;

    let (place, _, lost) = one_winner(withdraw.answer().await, approve.answer().await);
    let (winner, action, status) = [(&applicant, "withdraw", "withdrawn"), (&ben, "approve", "approved")][place];
    names_the_winner(&lost, winner, action, status, 3);
    assert_eq!(app.status(&pending).await, (status.to_owned(), 3));
    assert_eq!(rows_of(&app, &pending).await, (3, 3));
    app.check_invariants().await;
    app.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn edit_against_submit() {
    let app = App::start().await;
    let applicant = app.applicant().await;
    let draft = applicant.create("first thought").await;

    let held = app.hold(&lock_request(&draft)).await;
    let edit = begin_edit(&applicant, &draft, "second thought");
    let submit = begin(&applicant, &draft, "submit", None);
    app.until_waiting(2).await;
    held.release().await;

    let (place, won, lost) = one_winner(edit.answer().await, submit.answer().await);
    let (action, status, title) = [("edit", "draft", "second thought"), ("submit", "pending", "first thought")][place];
    names_the_winner(&lost, &applicant, action, status, 2);
    assert_eq!(won.body["title"], title, "what was submitted is what was seen");
    assert_eq!(rows_of(&app, &draft).await, (2, 2));
    app.check_invariants().await;
    app.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn submit_against_submit() {
    let app = App::start().await;
    let applicant = app.applicant().await;
    let draft = applicant.create("twice").await;

    let held = app.hold(&lock_request(&draft)).await;
    let (one, other) = (begin(&applicant, &draft, "submit", None), begin(&applicant, &draft, "submit", None));
    app.until_waiting(2).await;
    held.release().await;

    let (_, _, lost) = one_winner(one.answer().await, other.answer().await);
    names_the_winner(&lost, &applicant, "submit", "pending", 2);
    assert_eq!(rows_of(&app, &draft).await, (2, 2));
    app.check_invariants().await;
    app.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn the_history_insert_fails_and_the_status_is_unchanged_too() {
    let app = App::start().await;
    let (applicant, ben) = (app.applicant().await, app.approver().await);
    let (draft, pending) = (applicant.create("a draft").await, applicant.submitted("no trace, no change").await);
    app.execute(
        "CREATE FUNCTION fail() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN RAISE EXCEPTION 'injected'; END $$;
         CREATE TRIGGER fail BEFORE INSERT ON approval_history FOR EACH ROW EXECUTE FUNCTION fail();",
    )
    .await;
    let before = app.everything().await;

    ben.approve(&pending).await.expect_problem(500, "internal");
    ben.act(&pending, "reject", Some("no")).await.expect_problem(500, "internal");
    applicant.edit(&draft, "another title").await.expect_problem(500, "internal");
    let body = json!({"title": "new", "description": "", "amount": null, "currency": null});
    let create = applicant.post("requests", body).await.expect_problem(500, "internal");
    assert!(!create.text.contains("injected"), "the cause is only in the log");
    assert_eq!(app.everything().await, before);

    app.execute("DROP TRIGGER fail ON approval_history").await;
    ben.approve(&pending).await.expect_status(200);
    app.check_invariants().await;
    app.stop().await;
}

/// An approve waits behind a revocation that has its locks; what is it told when the revocation is committed?
async fn approve_behind(app: &App, ben: &Person, seen: &Value, change: Value) -> Answer {
    let held = app.hold(&lock_chain_of(ben.id)).await;
    let revoke = begin_change(&app.admin, ben.id, change).await;
    app.until_waiting(1).await;
    let approve = begin(ben, seen, "approve", None);
    app.until_waiting(2).await;
    held.release().await;
    revoke.answer().await.expect_status(200);
    approve.answer().await
}

#[tokio::test(flavor = "multi_thread")]
async fn revocation_committed_first_then_approve() {
    let app = App::start().await;
    let (applicant, ben) = (app.applicant().await, app.approver().await);
    let acted_on = applicant.submitted("seen once before").await;
    let returned = ben.act(&acted_on, "send-back", Some("which hotel?")).await.expect_status(200).body;
    let acted_on = applicant.act(&returned, "submit", None).await.expect_status(200).body;
    let never_seen = applicant.submitted("never acted on").await;

    let told = approve_behind(&app, &ben, &never_seen, json!({"can_approve": false})).await;
    told.expect_problem(404, "not_found");
    app.admin.change_member(ben.id, json!({"can_approve": true})).await.expect_status(200);
    let told = approve_behind(&app, &ben, &acted_on, json!({"can_approve": false})).await;
    told.expect_problem(403, "forbidden");
    app.admin.change_member(ben.id, json!({"can_approve": true})).await.expect_status(200);
    let told = approve_behind(&app, &ben, &acted_on, json!({"is_active": false})).await;
    told.expect_problem(403, "not_a_member");

    assert_eq!(app.status(&never_seen).await, ("pending".to_owned(), 2));
    assert_eq!(app.status(&acted_on).await, ("pending".to_owned(), 4));
    assert_eq!(rows_of(&app, &never_seen).await, (2, 2), "no history row");
    assert_eq!(rows_of(&app, &acted_on).await, (4, 4), "no history row");
    app.check_invariants().await;
    app.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn approve_holds_the_membership_then_revocation() {
    let app = App::start().await;
    let (applicant, ben) = (app.applicant().await, app.approver().await);
    let pending = applicant.submitted("just in time").await;

    let held = app.hold(&lock_request(&pending)).await;
    let approve = begin(&ben, &pending, "approve", None);
    app.until_waiting(1).await;
    let revoke = begin_change(&app.admin, ben.id, json!({"can_approve": false})).await;
    app.until_waiting(2).await;
    held.release().await;

    let approved = approve.answer().await.expect_status(200).body;
    let revoked = revoke.answer().await.expect_status(200).body;
    assert_eq!((&revoked["can_approve"], version_of(&revoked)), (&json!(false), 2));
    let in_that_order = format!(
        "SELECT count(*) FROM approval_history a, organization_history r
         WHERE a.request_id = '{}' AND a.action = 'approve' AND r.subject_id = '{}' AND r.action = 'change'
           AND a.occurred_at < r.occurred_at",
        id_of(&pending),
        ben.id
    );
    assert_eq!(app.count(&in_that_order).await, 1);
    assert!(moment(&approved["decided_at"]) <= moment(&approved["updated_at"]));
    app.check_invariants().await;
    app.stop().await;
}

/// One statement takes both locks where there is no key between them. Its order is in its data, whatever the plan.
#[tokio::test(flavor = "multi_thread")]
async fn who_waits_for_the_membership_does_not_hold_the_request() {
    let app = App::start().await;
    let (applicant, ben) = (app.applicant().await, app.approver().await);
    let pending = applicant.submitted("in this order").await;

    let held = app.hold(&format!("SELECT FROM organization_member WHERE user_id = '{}' FOR UPDATE", ben.id)).await;
    let approve = begin(&ben, &pending, "approve", None);
    app.until_waiting(1).await;
    app.hold(&format!("{} NOWAIT", lock_request(&pending))).await.release().await;
    held.release().await;

    approve.answer().await.expect_status(200);
    app.check_invariants().await;
    app.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_lock_held_longer_than_lock_timeout() {
    logs::listen();
    let mut settings = settings();
    settings.database.lock_timeout = Duration::from_millis(1_200);
    let app = App::with(settings).await;
    let (applicant, ben) = (app.applicant().await, app.approver().await);
    let pending = applicant.submitted("somebody sits on it").await;
    let before = app.everything().await;

    let held = app.hold(&lock_request(&pending)).await;
    let path = format!("requests/{}/approve", id_of(&pending));
    let call = ben.request(Method::POST, &path).header("X-Request-Id", "sat-on").json(&json!({"version": 2}));
    let told = Answer::of(call.header("Idempotency-Key", "sat-on")).await.expect_problem(503, "busy");
    assert!(told.header("retry-after").parse::<u32>().unwrap() >= 1);
    held.release().await;
    assert_eq!(app.everything().await, before, "nothing saved, and the key is free");

    let warnings: Vec<_> = logs::of_request("sat-on").into_iter().filter(|line| line["level"] != "INFO").collect();
    assert_eq!(warnings.len(), 1, "one log line: {warnings:#?}");
    assert_eq!((&warnings[0]["level"], &warnings[0]["reason"]), (&json!("WARN"), &json!("lock_timeout")));

    ben.approve(&pending).await.expect_status(200);
    app.check_invariants().await;
    app.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_call_that_will_be_refused_while_another_holds_the_row() {
    let app = App::start().await;
    let (applicant, ben) = (app.applicant().await, app.approver().await);

    // Refused for good, and still judged on the row as it is: it waits, and then the reason is its own.
    let pending = applicant.submitted("mine").await;
    let held = app.hold(&lock_request(&pending)).await;
    let own = begin(&applicant, &pending, "approve", None);
    app.until_waiting(1).await;
    held.release().await;
    own.answer().await.expect_problem(403, "self_approval_forbidden");

    // Meanwhile the row changed: the same call is told that, since the version comes before the right.
    let held = app.hold(&take_next_event(&pending)).await;
    let approve = begin(&ben, &pending, "approve", None);
    app.until_waiting(1).await;
    let own = begin(&applicant, &pending, "approve", None);
    app.until_waiting(2).await;
    held.release().await;
    approve.answer().await.expect_status(200);
    let told = own.answer().await.expect_problem(409, "request_changed");
    names_the_winner(&told, &ben, "approve", "approved", 3);

    // An id that nobody has locks nothing and waits for nobody.
    let unknown = json!({"id": uuid::Uuid::new_v4(), "version": 1});
    let held = app.hold(&lock_request(&pending)).await;
    ben.approve(&unknown).await.expect_problem(404, "not_found");
    held.release().await;
    app.check_invariants().await;
    app.stop().await;
}

/// A decision's foreign keys look at its actor's row: that must go with a change of that row which waits, and with
/// changes of others which are under way.
#[tokio::test(flavor = "multi_thread")]
async fn a_change_of_membership_against_a_decisions_foreign_key_checks() {
    let app = App::answering(settings()).await;
    let (applicant, ben) = (app.applicant().await, app.approver().await);
    let cleo = app.member("Cleo Approver", true, false).await;
    let (first, second) = (applicant.submitted("first").await, applicant.submitted("second").await);

    // Ben is held in the middle of his write, whose checks are still to come, and his change waits for him.
    let held = app.hold(&take_next_event(&first)).await;
    let path = format!("requests/{}/approve", id_of(&first));
    let approve = begin_with_key(&ben, Method::POST, "approve", &path, &json!({"version": 2}));
    app.until_waiting(1).await;
    let rename = begin_change(&app.admin, ben.id, json!({"display_name": "Ben Renamed"})).await;
    app.until_waiting(2).await;
    held.release().await;
    approve.answer().await.expect_status(200);
    rename.answer().await.expect_status(200);

    // What a foreign key's check holds (of a decision, of a new member) is in no administrator's way.
    let held = app.hold("SELECT FROM organization FOR KEY SHARE; SELECT FROM organization_member FOR KEY SHARE").await;
    app.admin.change_member(ben.id, json!({"display_name": "Ben Again"})).await.expect_status(200);
    held.release().await;

    // The administrator is held with the organization, himself and the applicant locked: nobody else waits for that.
    let held = app.hold(&lock_chain_of(applicant.id)).await;
    let rename = begin_change(&app.admin, applicant.id, json!({"display_name": "Aiko Renamed"})).await;
    app.until_waiting(1).await;
    cleo.approve(&second).await.expect_status(200);
    cleo.create("meanwhile").await;
    app.admin.create("the administrator's own, meanwhile").await;
    app.until_waiting(1).await;
    held.release().await;
    rename.answer().await.expect_status(200);

    app.check_invariants().await;
    assert_eq!(deadlocks(&app).await, 0);
    app.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_member_editing_his_own_row_under_one_key_twice() {
    let app = App::answering(settings()).await;
    let admin = app.admin.clone();
    let body = changed(&admin, admin.id, json!({"display_name": "Dara Renamed"})).await;
    let path = format!("members/{}", admin.id);

    let held = app.hold(&lock_chain_of(admin.id)).await;
    let one = begin_with_key(&admin, Method::PUT, "rename", &path, &body);
    let other = begin_with_key(&admin, Method::PUT, "rename", &path, &body);
    app.until_waiting(2).await;
    held.release().await;

    let (one, other) = (one.answer().await.expect_status(200), other.answer().await.expect_status(200));
    assert_eq!(one.text, other.text);
    let replays = [&one, &other].iter().filter(|answer| answer.header("idempotency-replayed") == "true").count();
    assert_eq!(replays, 1);
    assert_eq!(version_of(&one.body), 2, "done once");

    // The same key in a decision of his: the key's row comes after his own in both paths, so nobody waits in a circle.
    let draft = admin.create("mine").await;
    let submit = format!("requests/{}/submit", id_of(&draft));
    let body = changed(&admin, admin.id, json!({"display_name": "Dara Again"})).await;
    let held = app.hold(&lock_request(&draft)).await;
    let first = begin_with_key(&admin, Method::POST, "both", &submit, &json!({"version": 1}));
    app.until_waiting(1).await;
    let second = begin_with_key(&admin, Method::PUT, "both", &path, &body);
    app.until_waiting(2).await;
    held.release().await;
    first.answer().await.expect_status(200);
    second.answer().await.expect_problem(422, "idempotency_key_reused");

    app.check_invariants().await;
    assert_eq!(deadlocks(&app).await, 0);
    app.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn looking_never_waits_for_a_writer() {
    let app = App::start().await;
    let (applicant, ben) = (app.applicant().await, app.approver().await);
    let pending = applicant.submitted("being decided").await;
    let everybody = format!(
        "SELECT FROM organization FOR UPDATE; SELECT FROM organization_member FOR UPDATE;
         SELECT FROM history_head FOR UPDATE; {}",
        lock_request(&pending)
    );
    let held = app.hold(&everybody).await;

    let id = id_of(&pending);
    let start = Instant::now();
    for path in ["requests", "requests?view=inbox", "requests?q=decided", "requests/counts", "/api/v1/me"] {
        ben.read(path).await.expect_status(200);
    }
    for path in [format!("requests/{id}"), format!("requests/{id}/history"), format!("requests/{id}/versions/1")] {
        ben.read(&path).await.expect_status(200);
    }
    for path in ["members".to_owned(), format!("members/{}", ben.id)] {
        app.admin.read(&path).await.expect_status(200);
    }
    assert!(start.elapsed() < app.settings.database.lock_timeout, "a read waited: {:?}", start.elapsed());

    // And while everybody looks, a writer waits for the holder alone.
    let approve = Begun::new({
        let (ben, pending) = (ben.clone(), pending.clone());
        async move { ben.approve(&pending).await }
    });
    app.until_waiting(1).await;
    held.release().await;
    approve.answer().await.expect_status(200);
    app.stop().await;
}
