//! What goes wrong between the steps of a write: deadlocks are run again as a whole, everything else is told, and
//! nothing is ever half saved.

use crate::at_once::{begin, lock_request, nothing_is_open, rows_of, take_next_event};
use crate::faulty_store::{Fault, FaultyStore, Step};
use crate::harness::{App, PATIENCE, Person, id_of, settings, version_of};
use actix_web::ResponseError;
use actix_web::http::header::RETRY_AFTER;
use ringi::approvals::ApprovalError;
use ringi::approvals::service::Approvals;
use ringi::approvals::store::{ApprovalSession, ApprovalStore};
use ringi::approvals::view::RequestView;
use ringi::domain::content::Content;
use ringi::domain::history::Hash;
use ringi::domain::ids::{OrganizationId, RequestId, UserId};
use ringi::domain::request::{Command, Refusal, decide};
use ringi::http::problem::Problem;
use ringi::pg::{PgReads, PgStore};
use ringi::transaction::idempotency::{Answer, KeyedCall, Reply};
use ringi::transaction::{Call, Guarded, Session, StoreError, Viewer};
use serde_json::Value;
use std::sync::Arc;
use std::time::Duration;
use tokio::sync::Notify;

/// The use cases of an app, on a store around which things go wrong.
struct Faulty {
    store: FaultyStore,
    approvals: Approvals<FaultyStore, PgReads>,
}

impl Faulty {
    fn new(app: &App, faults: impl FnOnce(FaultyStore) -> FaultyStore) -> Self {
        let store = faults(FaultyStore::new(PgStore::new(app.pools.write.clone(), PATIENCE)));
        let reads = PgReads::new(app.pools.read.clone(), PATIENCE, PATIENCE);
        Self { store: store.clone(), approvals: Approvals::new(store, reads, app.use_cases.admission.clone()) }
    }

    async fn approve(&self, who: &Person, seen: &Value, key: Option<&str>) -> Result<Reply, ApprovalError> {
        let id = RequestId(id_of(seen));
        self.approvals.act(&call(who, key), id, version_of(seen), &Command::Approve(None), &render).await
    }

    async fn create(&self, who: &Person) -> Result<Reply, ApprovalError> {
        let content = Content { title: "new".to_owned(), description: String::new(), amount: None, currency: None };
        self.approvals.create(&call(who, None), &content, &render).await
    }
}

fn call(who: &Person, key: Option<&str>) -> Call {
    let viewer = Viewer { organization_id: OrganizationId(who.organization), user_id: UserId(who.id) };
    let key = key.map(|key| KeyedCall {
        organization_id: viewer.organization_id,
        user_id: viewer.user_id,
        key: key.to_owned(),
        fingerprint: Hash([7; 32]),
    });
    Call { viewer, key }
}

fn render(view: &RequestView) -> Answer {
    Answer { status: 200, location: None, body: view.request.status.as_str().into() }
}

/// Status, code, and whether there is a `Retry-After`: what a client is told.
fn told(error: ApprovalError) -> (u16, &'static str, bool) {
    let problem = Problem::from(error);
    let answer = problem.respond("id");
    (problem.status_code().as_u16(), problem.code().as_str(), answer.headers().contains_key(RETRY_AFTER))
}

fn deadlock() -> StoreError {
    StoreError::Deadlock
}

#[tokio::test(flavor = "multi_thread")]
async fn a_deadlocked_transaction_is_run_again_as_a_whole_and_succeeds() {
    let app = App::start().await;
    let (applicant, ben) = (app.applicant().await, app.approver().await);
    for step in Step::BEFORE_COMMIT {
        let pending = applicant.submitted("again").await;
        let faulty = Faulty::new(&app, |store| store.fault(step, 2, Fault::Fail(deadlock)));
        let again = faulty.approve(&ben, &pending, Some(&format!("{step:?}"))).await;
        let reply = again.unwrap();
        assert!(!reply.replayed, "{step:?}: nothing was left of the first two times");
        assert_eq!((faulty.store.opens(), reply.answer.body.as_slice()), (3, b"approved".as_slice()), "{step:?}");
        assert_eq!(rows_of(&app, &pending).await, (3, 3), "{step:?}: done once");
    }
    let faulty = Faulty::new(&app, |store| store.fault(Step::Write, 2, Fault::Fail(deadlock)));
    faulty.create(&applicant).await.unwrap();
    assert_eq!(faulty.store.opens(), 3);
    app.check_invariants().await;
    app.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_transaction_that_deadlocks_time_and_again_is_busy() {
    let app = App::start().await;
    let (applicant, ben) = (app.applicant().await, app.approver().await);
    let pending = applicant.submitted("again and again").await;
    let before = app.everything().await;
    let faulty = Faulty::new(&app, |store| store.fault(Step::Write, usize::MAX, Fault::Fail(deadlock)));
    let error = faulty.approve(&ben, &pending, Some("key")).await.unwrap_err();
    assert_eq!(told(error), (503, "busy", true));
    assert_eq!(faulty.store.opens(), 6, "the first time and five more");
    assert_eq!(app.everything().await, before);
    app.stop().await;
}

/// The real thing: the database breaks a circle by ending our transaction, and its client never hears of it.
#[tokio::test(flavor = "multi_thread")]
async fn a_real_deadlock_does_not_reach_the_client() {
    let mut settings = settings();
    settings.database.lock_timeout = Duration::from_secs(6);
    let app = App::with(settings).await;
    let (applicant, ben) = (app.applicant().await, app.approver().await);
    let pending = applicant.submitted("a circle").await;
    // Somebody in the database's own shell, in the wrong order. He never looks for deadlocks, so ours is ended.
    let mut wrong = app.hold(&format!("SET LOCAL deadlock_timeout = '1min'; {}", lock_request(&pending))).await;
    let approve = begin(&ben, &pending, "approve", None);
    app.until_waiting(1).await;
    wrong.execute(&format!("SELECT FROM organization_member WHERE user_id = '{}' FOR UPDATE", ben.id)).await;
    app.until_waiting(1).await;
    wrong.release().await;
    approve.answer().await.expect_status(200);
    assert_eq!(rows_of(&app, &pending).await, (3, 3));
    app.check_invariants().await;
    app.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_waiter_gets_409_though_the_database_defaults_to_repeatable_read() {
    let app = App::start().await;
    let (applicant, ben) = (app.applicant().await, app.approver().await);
    let cleo = app.member("Cleo Approver", true, false).await;
    let pending = applicant.submitted("another default").await;
    let name = &app.database.name;
    app.execute(&format!("ALTER DATABASE {name} SET default_transaction_isolation = 'repeatable read'")).await;
    // The connections opened before that are cut, so that every one of them begins under the new default.
    app.execute(
        "SELECT pg_terminate_backend(pid) FROM pg_stat_activity
         WHERE datname = current_database() AND application_name = 'ringi'",
    )
    .await;
    assert_eq!(default_isolation(&app).await, "repeatable read", "else this test shows nothing");

    let held = app.hold(&take_next_event(&pending)).await;
    let approve = begin(&ben, &pending, "approve", None);
    app.until_waiting(1).await;
    let faulty = Faulty::new(&app, |store| store);
    let (store, seen) = (faulty.store.clone(), pending.clone());
    let second = tokio::spawn(async move { faulty.approve(&cleo, &seen, None).await });
    app.until_waiting(2).await;
    held.release().await;

    approve.answer().await.expect_status(200);
    assert_eq!(told(second.await.unwrap().unwrap_err()), (409, "request_changed", false));
    assert_eq!(store.opens(), 1, "judged on the row as it is, not run again after a 40001");
    app.check_invariants().await;
    app.stop().await;
}

async fn default_isolation(app: &App) -> String {
    loop {
        let mut connection = app.pools.write.lend().await.unwrap();
        // One of those that were cut is closed when it is dropped.
        if let Ok(level) = sqlx::query_scalar("SHOW default_transaction_isolation").fetch_one(&mut *connection).await {
            connection.give_back();
            return level;
        }
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn conflicts_and_timeouts_are_never_retried() {
    let app = App::start().await;
    let (applicant, ben) = (app.applicant().await, app.approver().await);
    let pending = applicant.submitted("once").await;
    let stale = applicant.create("stale").await;
    applicant.act(&stale, "submit", None).await.expect_status(200);
    let before = app.everything().await;

    let faulty = Faulty::new(&app, |store| store);
    let error = faulty.approve(&ben, &stale, None).await.unwrap_err();
    assert!(matches!(error, ApprovalError::Refused(Refusal::Changed(_))), "{error:?}");
    assert_eq!(told(error), (409, "request_changed", false));
    assert_eq!(faulty.store.opens(), 1, "the person has not seen that state");

    let others: [(fn() -> StoreError, _); 3] = [
        (|| StoreError::LockTimeout, (503, "busy", true)),
        (|| StoreError::Unavailable("gone".to_owned()), (503, "busy", true)),
        (|| StoreError::Internal("a bug".into()), (500, "internal", false)),
    ];
    for (fault, answer) in others {
        for step in [Step::LockMember, Step::LockRequest, Step::Write] {
            let faulty = Faulty::new(&app, |store| store.fault(step, usize::MAX, Fault::Fail(fault)));
            let error = faulty.approve(&ben, &pending, Some("key")).await.unwrap_err();
            assert_eq!((told(error), faulty.store.opens()), (answer, 1), "{step:?}");
        }
    }
    assert_eq!(app.everything().await, before, "nothing saved, and the key is free");
    app.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn an_answer_lost_during_commit_is_an_unknown_outcome_and_the_key_tells_it() {
    let app = App::start().await;
    let (applicant, ben) = (app.applicant().await, app.approver().await);
    let pending = applicant.submitted("lost").await;
    let faulty = Faulty::new(&app, |store| {
        store.fault(Step::Commit, 1, Fault::Fail(|| StoreError::OutcomeUnknown("cut".to_owned())))
    });
    let error = faulty.approve(&ben, &pending, Some("key")).await.unwrap_err();
    assert_eq!(told(error), (503, "outcome_unknown", true));
    assert_eq!(faulty.store.opens(), 1, "never retried by the server");
    assert!(faulty.approve(&ben, &pending, Some("key")).await.unwrap().replayed, "it had been saved");
    assert_eq!(rows_of(&app, &pending).await, (3, 3));
    app.check_invariants().await;
    app.stop().await;
}

/// The same over HTTP, with a connection that is really cut while the database commits.
#[tokio::test(flavor = "multi_thread")]
async fn a_connection_cut_during_commit_is_an_unknown_outcome() {
    let app = App::start().await;
    let (applicant, ben) = (app.applicant().await, app.approver().await);
    let pending = applicant.submitted("cut").await;
    app.execute(
        "CREATE FUNCTION wait() RETURNS trigger LANGUAGE plpgsql AS $$
         BEGIN PERFORM pg_advisory_xact_lock(4711); RETURN NULL; END $$;
         CREATE CONSTRAINT TRIGGER wait AFTER INSERT ON approval_history DEFERRABLE INITIALLY DEFERRED
         FOR EACH ROW EXECUTE FUNCTION wait();",
    )
    .await;
    let held = app.hold("SELECT pg_advisory_xact_lock(4711)").await;
    let approve = begin(&ben, &pending, "approve", None);
    app.until_waiting(1).await;
    app.execute(
        "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE query = 'COMMIT' AND wait_event_type = 'Lock'",
    )
    .await;
    let answer = approve.answer().await.expect_problem(503, "outcome_unknown");
    assert!(answer.header("retry-after").parse::<u32>().unwrap() >= 1);
    held.release().await;
    // GET tells: here the database had not come to keeping it.
    assert_eq!(ben.get(&pending).await.body["status"], "pending");
    ben.approve(&pending).await.expect_status(200);
    app.check_invariants().await;
    app.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn the_history_insert_fails_after_all_was_written() {
    let app = App::start().await;
    let (applicant, ben) = (app.applicant().await, app.approver().await);
    let pending = applicant.submitted("nearly").await;
    let before = app.everything().await;
    let faulty = Faulty::new(&app, |store| {
        store.fault(Step::Write, usize::MAX, Fault::Fail(|| StoreError::Internal("injected".into())))
    });
    assert_eq!(told(faulty.approve(&ben, &pending, Some("key")).await.unwrap_err()), (500, "internal", false));
    assert_eq!(told(faulty.create(&applicant).await.unwrap_err()), (500, "internal", false));
    assert_eq!(app.everything().await, before);
    app.stop().await;
}

/// The second wall: should a row ever be written that was not locked, its version guards it.
#[tokio::test(flavor = "multi_thread")]
async fn a_write_on_a_row_that_somebody_changed_since_writes_nothing() {
    let app = App::start().await;
    let (applicant, ben) = (app.applicant().await, app.approver().await);
    let pending = applicant.submitted("no longer so").await;
    let store = PgStore::new(app.pools.write.clone(), PATIENCE);
    let mut session = ApprovalStore::open(&store).await.unwrap();
    let (organization, user) = (OrganizationId(ben.organization), UserId(ben.id));
    let member = session.lock_member(organization, user).await.unwrap().unwrap();
    let seen = session.lock_request(&member, RequestId(id_of(&pending))).await.unwrap().unwrap().request;
    let change = decide(&member, false, &seen, 2, &Command::Approve(None), seen.at()).unwrap().unwrap();
    session.rollback().await;
    ben.act(&pending, "reject", Some("meanwhile")).await.expect_status(200);
    let before = app.everything().await;

    let mut session = ApprovalStore::open(&store).await.unwrap();
    assert_eq!(session.apply(&seen, &change, None).await.unwrap(), Guarded::Stale);
    session.commit().await.unwrap();
    assert_eq!(app.everything().await, before, "no history row without its change");
    app.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_panic_between_any_two_steps_leaves_nothing_behind() {
    let app = App::start().await;
    let (applicant, ben) = (app.applicant().await, app.approver().await);
    let pending = applicant.submitted("a bug").await;
    let before = app.everything().await;
    for step in Step::BEFORE_COMMIT {
        let faulty = Faulty::new(&app, |store| store.fault(step, 1, Fault::Panic));
        let (ben, seen) = (ben.clone(), pending.clone());
        let ended = tokio::spawn(async move { faulty.approve(&ben, &seen, Some("key")).await }).await;
        assert!(ended.unwrap_err().is_panic(), "{step:?}");
        nothing_is_open(&app).await;
        assert_eq!(app.everything().await, before, "{step:?}");
    }
    ben.approve(&pending).await.expect_status(200);
    app.check_invariants().await;
    app.stop().await;
}

/// Over HTTP: a stored time that nobody can read is a panic in the driver, so a bug in a use case.
#[tokio::test(flavor = "multi_thread")]
async fn a_panic_in_a_use_case_is_one_500_and_the_process_goes_on() {
    let app = App::start().await;
    let (applicant, ben) = (app.applicant().await, app.approver().await);
    let (broken, whole) = (applicant.submitted("unreadable").await, applicant.submitted("readable").await);
    app.execute(&format!(
        "ALTER TABLE approval_request DISABLE TRIGGER USER;
         ALTER TABLE approval_request DROP CONSTRAINT approval_request_is_sound;
         UPDATE approval_request SET submitted_at = 'infinity' WHERE id = '{}';",
        id_of(&broken)
    ))
    .await;
    // More often than there are connections: none of them is lost or left inside a transaction.
    for _ in 0..=app.settings.database.max_connections {
        ben.approve(&broken).await.expect_problem(500, "internal");
    }
    ben.get(&broken).await.expect_problem(500, "internal");
    nothing_is_open(&app).await;
    ben.approve(&whole).await.expect_status(200);
    assert_eq!(app.status(&broken).await, ("pending".to_owned(), 2));
    app.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_write_dropped_between_any_two_steps_leaves_nothing_behind() {
    let app = App::start().await;
    let (applicant, ben) = (app.applicant().await, app.approver().await);
    let pending = applicant.submitted("hung up").await;
    let before = app.everything().await;
    for step in Step::BEFORE_COMMIT {
        let reached = Arc::new(Notify::new());
        let faulty = Faulty::new(&app, |store| store.fault(step, 1, Fault::Hang(Arc::clone(&reached))));
        let (ben, seen) = (ben.clone(), pending.clone());
        let write = tokio::spawn(async move { faulty.approve(&ben, &seen, Some("key")).await });
        reached.notified().await;
        write.abort();
        assert!(write.await.unwrap_err().is_cancelled());
        nothing_is_open(&app).await;
        assert_eq!(app.everything().await, before, "{step:?}");
    }
    ben.approve(&pending).await.expect_status(200);
    app.check_invariants().await;
    app.stop().await;
}
