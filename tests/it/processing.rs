//! What follows an approval: people start, watch and cancel it; an outside system is asked, in all its moods.

use crate::harness::{App, EVENTS, PATIENCE, id_of};
use crate::key_server::until;
use crate::outside::{Mood, Outside, approved, connected_to, history, path, standing, until_state};
use ringi::domain::ids::{OrganizationId, RequestId};
use ringi::domain::lease::Ticket;
use ringi::pg::{PgJobs, PgReads, PgStore};
use ringi::processing::gateway::{Gateway, GatewaySettings};
use ringi::processing::store::{Due, JobQueue as _, SaveSession as _};
use ringi::processing::worker::{Worker, WorkerSettings};
use ringi::transaction::Session as _;
use serde_json::{Value, json};
use std::sync::Arc;
use std::time::{Duration, Instant};

#[tokio::test(flavor = "multi_thread")]
async fn an_approval_starts_it_and_its_result_is_kept() {
    let outside = Outside::start(Mood::Held).await;
    let mut settings = outside.settings();
    settings.processing.connector_token = ringi::config::Secret::new("erp-token".to_owned());
    let app = App::with(settings).await;
    let (applicant, request) = approved(&app, "A printer").await;
    outside.until_asked(1).await;

    let running = until_state(&applicant, &request, "running").await;
    assert!(running["holder"].as_str().unwrap().contains(&format!("/{}/", std::process::id())), "{running}");
    assert_eq!((&running["attempts"], &running["result"]), (&json!(1), &Value::Null));
    for time in ["acquired_at", "heartbeat_at", "expires_at"] {
        assert!(running[time].as_str().unwrap().ends_with('Z'), "{running}");
    }
    let again = applicant.post(&path(&request), json!({})).await.expect_status(200).body;
    assert_eq!(again, json!({"started": false, "state": "running", "attempts": 1}));

    outside.mood(Mood::Good);
    let done = until_state(&applicant, &request, "succeeded").await;
    let calls = outside.calls();
    assert_eq!(calls.len(), 1);
    let call = &calls[0];
    assert_eq!(done["result"], json!({"fence": call.fence}));
    assert_eq!(
        (&done["holder"], &done["last_error"], &done["next_attempt_at"]),
        (&Value::Null, &Value::Null, &Value::Null)
    );
    assert_eq!(call.key, format!("ringi-job-{}", id_of(&request)));
    assert!(call.head.starts_with("POST /orders HTTP/1.1\r\n"), "{}", call.head);
    assert!(call.head.contains("authorization: Bearer erp-token\r\n"), "{}", call.head);
    let approver = app.count("SELECT count(*) FROM approval_request WHERE last_action = 'approve'").await;
    assert_eq!(approver, 1);
    let last = applicant.history(&request).await.pop().unwrap();
    let expected = json!({
        "organization_id": request["organization_id"], "request_id": request["id"], "version": 3,
        "content_hash": request["content_hash"], "fence": call.fence, "title": "A printer", "amount": 12_000,
        "currency": "JPY", "applicant_id": applicant.id, "approved_by": last["actor_id"],
        "approved_at": request["decided_at"],
    });
    assert_eq!(call.body, expected);

    assert_eq!(history(&app).await, [("succeed".to_owned(), Value::Null)], "the approval's own row tells of the start");
    let events = format!(
        "SELECT count(*) FROM {EVENTS} e WHERE subject_kind = 'job' AND event_type = 'job.succeed'
         AND seq = 1 AND payload->>'state' = 'succeeded'"
    );
    assert_eq!(app.count(&events).await, 1);
    assert_eq!(app.count("SELECT count(*) FROM job_lease WHERE kind <> 'relay'").await, 0, "it was given back");
    assert_eq!(app.count("SELECT count(*) FROM job_attempt WHERE ended_at IS NOT NULL AND error IS NULL").await, 1);
    let verified = app.admin.read("history/verify").await.expect_status(200).body;
    assert_eq!(verified["whole"], true, "{verified}");
    app.check_invariants().await;
    app.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_person_starts_it_where_there_was_no_connector() {
    let unconnected = App::start().await;
    let (applicant, request) = approved(&unconnected, "A printer").await;
    let nothing = json!({"state": "not_started", "attempts": 0, "holder": null, "acquired_at": null, "heartbeat_at": null,
                         "expires_at": null, "next_attempt_at": null, "last_error": null, "result": null});
    assert_eq!(standing(&applicant, &request).await, nothing);
    applicant.post(&path(&request), json!({})).await.expect_problem(409, "processing_not_configured");
    assert_eq!(standing(&applicant, &request).await, nothing);

    // Whoever may see it may start it; nobody else learns that it is there.
    unconnected.outsider().post(&path(&request), json!({})).await.expect_problem(403, "not_a_member");
    let other = unconnected.member("Emi", false, false).await;
    other.post(&path(&request), json!({})).await.expect_problem(404, "not_found");
    other.read(&path(&request)).await.expect_problem(404, "not_found");
    other.post(&format!("{}/cancel", path(&request)), json!({})).await.expect_problem(404, "not_found");

    // Only what is approved.
    let pending = applicant.submitted("A chair").await;
    let refused = applicant.post(&path(&pending), json!({})).await.expect_problem(409, "invalid_transition");
    assert_eq!(refused.body["current"]["status"], "pending");
    applicant.post(&path(&pending), json!({"version": 2})).await.expect_problem(422, "unknown_field");
    assert_eq!(unconnected.count("SELECT count(*) FROM job").await, 0);
    unconnected.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_key_replays_the_start() {
    let outside = Outside::start(Mood::Says(400, "", "no")).await;
    let app = App::with(outside.settings()).await;
    let (applicant, request) = approved(&app, "A printer").await;
    until_state(&applicant, &request, "failed").await;
    outside.mood(Mood::Held);
    let first = applicant.post_with_key("start", &path(&request), json!({})).await.expect_status(202);
    assert_eq!(first.body, json!({"started": true, "state": "waiting", "attempts": 1}));
    let again = applicant.post_with_key("start", &path(&request), json!({})).await.expect_status(202);
    assert_eq!((again.header("idempotency-replayed"), &again.body), ("true", &first.body));
    outside.mood(Mood::Good);
    let done = until_state(&applicant, &request, "succeeded").await;
    assert_eq!(done["attempts"], 2);
    let keys: Vec<_> = outside.calls().into_iter().map(|call| call.key).collect();
    assert_eq!(keys[0], keys[1], "the same key over all attempts");
    assert!(outside.calls()[0].fence < outside.calls()[1].fence);
    let actor = json!(applicant.id);
    assert_eq!(
        history(&app).await,
        [("fail".to_owned(), Value::Null), ("start".to_owned(), actor), ("succeed".to_owned(), Value::Null)]
    );
    app.stop().await;
}

/// Each mood, and what becomes of the job: its state, a part of what is told, and whether it is tried again.
#[tokio::test(flavor = "multi_thread")]
async fn every_mood_of_the_outside_system_is_bounded_and_told() {
    let outside = Outside::start(Mood::Good).await;
    let mut settings = outside.settings();
    settings.processing.call_timeout = Duration::from_millis(400);
    settings.processing.answer_limit_bytes = 100_000;
    settings.processing.max_attempts = 2;
    let app = App::with(settings).await;
    let (applicant, approver) = (app.applicant().await, app.approver().await);
    let elsewhere = Outside::start(Mood::Good).await;
    let to: &'static str = Box::leak(format!("location: {}\r\n", elsewhere.url()).into_boxed_str());
    for (mood, words, attempts) in [
        (Mood::Says(500, "", "{\"error\": \"down\"}"), "500 Internal Server Error: {\"error\": \"down\"}", 2),
        (Mood::Says(429, "", ""), "429", 2),
        (Mood::Says(503, "retry-after: 0\r\n", ""), "503", 2),
        (Mood::Held, "did not answer within 400 ms", 2),
        (Mood::Half, "broke off", 2),
        (Mood::Garbage, "broke off", 2),
        (Mood::Says(400, "", "unknown currency"), "400 Bad Request: unknown currency", 1),
        (Mood::Says(200, "", "<html>"), "no JSON", 1),
        (Mood::Says(200, "", ""), "no JSON", 1),
        (Mood::Says(204, "", ""), "no JSON", 1),
        (Mood::Says(200, "", "{\"a\": \"\\u0000\"}"), "U+0000", 1),
        (Mood::Says(200, "", "[1e400]"), "no JSON", 1),
        (Mood::Endless, "larger than processing.answer_limit_bytes (100000)", 1),
        (Mood::Says(302, to, ""), "a redirect", 1),
        (Mood::Says(307, to, ""), "a redirect", 1),
    ] {
        let what = format!("{mood:?}");
        outside.mood(mood);
        let pending =
            applicant.submitted(&what.chars().filter(|c| !c.is_control()).take(150).collect::<String>()).await;
        let request = approver.approve(&pending).await.expect_status(200).body;
        let failed = until_state(&applicant, &request, "failed").await;
        let error = failed["last_error"].as_str().unwrap();
        assert!(error.contains(words), "{what}: {error}");
        assert_eq!(error.contains("given up after 2"), attempts == 2, "{what}: {error}");
        assert_eq!(failed["attempts"], attempts, "{what}: {error}");
        assert_eq!(failed["result"], Value::Null);
        let kept = format!("SELECT count(error) FROM job_attempt WHERE request_id = '{}'", id_of(&request));
        assert_eq!(app.count(&kept).await, attempts, "{what}: each attempt's error is kept");
    }
    assert!(elsewhere.calls().is_empty(), "no redirect is followed");
    assert!(outside.overlaps().is_empty());

    // What was down and came back.
    outside.mood(Mood::Says(500, "", ""));
    let pending = applicant.submitted("It comes back").await;
    let before = outside.calls().len();
    let request = approver.approve(&pending).await.expect_status(200).body;
    outside.until_asked(before + 1).await;
    outside.mood(Mood::Good);
    assert_eq!(until_state(&applicant, &request, "succeeded").await["last_error"], Value::Null);
    app.check_invariants().await;
    app.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_refused_connection_is_tried_again() {
    let outside = Outside::start(Mood::Good).await;
    let settings = outside.settings();
    outside.stop().await;
    let app = App::with(settings).await;
    let (applicant, request) = approved(&app, "A printer").await;
    until("it was tried twice", async || standing(&applicant, &request).await["attempts"].as_i64().unwrap() >= 2).await;
    let waiting = standing(&applicant, &request).await;
    assert!(waiting["last_error"].as_str().unwrap().contains("can't connect"), "{waiting}");
    assert!(!waiting["last_error"].as_str().unwrap().contains("orders"), "no address is told: {waiting}");
    app.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_long_retry_after_gives_the_lease_back_meanwhile() {
    let outside = Outside::start(Mood::Says(429, "retry-after: 3600\r\n", "")).await;
    let app = App::with(outside.settings()).await;
    let (applicant, request) = approved(&app, "A printer").await;
    until("it was tried", async || !standing(&applicant, &request).await["last_error"].is_null()).await;
    let waiting = standing(&applicant, &request).await;
    assert_eq!((&waiting["state"], &waiting["holder"]), (&json!("waiting"), &Value::Null), "{waiting}");
    assert_eq!(app.count("SELECT count(*) FROM job_lease WHERE kind <> 'relay'").await, 0);
    let pause = "SELECT extract(epoch FROM next_try_at - clock_timestamp())::bigint FROM job";
    assert!((3_500..=3_600).contains(&app.count(pause).await));
    app.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn who_cancels_takes_it_away_at_once_and_it_can_be_started_again() {
    let outside = Outside::start(Mood::Held).await;
    let app = App::with(outside.settings()).await;
    let (applicant, request) = approved(&app, "A printer").await;
    outside.until_asked(1).await;
    let cancel = format!("{}/cancel", path(&request));
    applicant.post(&cancel, json!({})).await.expect_problem(403, "forbidden");
    let cancelled = app.admin.post(&cancel, json!({})).await.expect_status(200).body;
    assert_eq!(cancelled["state"], "failed");
    assert_eq!(cancelled["last_error"], "cancelled by Dara Admin");
    assert_eq!(standing(&applicant, &request).await, cancelled);
    let begun = Instant::now();
    until("the outside call is dropped", async || outside.calls()[0].hung_up).await;
    assert!(begun.elapsed() < Duration::from_secs(2), "by the next heartbeat");
    app.admin.post(&cancel, json!({})).await.expect_problem(409, "invalid_transition");
    assert_eq!(standing(&applicant, &request).await, cancelled, "nothing was saved by who lost it");

    outside.mood(Mood::Good);
    applicant.post(&path(&request), json!({})).await.expect_status(202);
    until_state(&applicant, &request, "succeeded").await;
    app.admin.post(&cancel, json!({})).await.expect_problem(409, "invalid_transition");
    let actions: Vec<_> = history(&app).await.into_iter().map(|(action, _)| action).collect();
    assert_eq!(actions, ["cancel", "start", "succeed"]);
    app.check_invariants().await;
    app.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn who_takes_over_in_the_middle_of_the_save_waits_and_finds_the_work_done() {
    let outside = Outside::start(Mood::Held).await;
    let mut settings = outside.settings();
    settings.processing.save_timeout = Duration::from_millis(1_400);
    let app = App::with(settings.clone()).await;
    let (applicant, request) = approved(&app, "A printer").await;
    outside.until_asked(1).await;
    // The save gets as far as the head of the history, with the lease's row locked.
    let holding = app.hold("SELECT FROM history_head WHERE kind = 'job' FOR UPDATE").await;
    outside.mood(Mood::Good);
    app.until_waiting(1).await;
    let taking = tokio::spawn({
        let mut db = app.database.connect().await;
        let age = "UPDATE job_lease SET updated_at = clock_timestamp() - interval '1 hour' WHERE kind = 'job'";
        async move { sqlx::raw_sql(age).execute(&mut db).await.unwrap().rows_affected() }
    });
    app.until_waiting(2).await;
    holding.release().await;
    assert_eq!(taking.await.unwrap(), 0, "the row was gone when its turn came");
    let done = until_state(&applicant, &request, "succeeded").await;
    assert_eq!((&done["attempts"], outside.calls().len()), (&json!(1), 1));
    app.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn an_address_that_nobody_answers_at_is_given_up_within_its_limits() {
    // A listener that accepts and says nothing.
    let silent = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let mut settings = connected_to(&format!("http://{}/", silent.local_addr().unwrap()));
    settings.processing.call_timeout = Duration::from_millis(200);
    settings.processing.max_attempts = 1;
    let app = App::with(settings).await;
    let (applicant, request) = approved(&app, "A printer").await;
    let begun = Instant::now();
    let failed = until_state(&applicant, &request, "failed").await;
    assert!(failed["last_error"].as_str().unwrap().contains("did not answer within 200 ms"), "{failed}");
    assert!(begun.elapsed() < Duration::from_secs(5));
    app.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_result_that_cannot_be_saved_fails_the_job_and_holds_nothing() {
    let outside = Outside::start(Mood::Good).await;
    let app = App::with(outside.settings()).await;
    app.execute("ALTER TABLE job_result ADD CONSTRAINT injected CHECK (data ->> 'fence' IS NULL)").await;
    let (applicant, request) = approved(&app, "A printer").await;
    let failed = until_state(&applicant, &request, "failed").await;
    assert!(failed["last_error"].as_str().unwrap().contains("could not be saved"), "{failed}");
    assert_eq!(
        (outside.calls().len(), app.count("SELECT count(*) FROM job_lease WHERE kind <> 'relay'").await),
        (1, 0)
    );
    app.execute("ALTER TABLE job_result DROP CONSTRAINT injected").await;
    applicant.post(&path(&request), json!({})).await.expect_status(202);
    until_state(&applicant, &request, "succeeded").await;
    app.stop().await;
}

/// A job that was finished while its lease was waited for, as two workers that look at the same time can have it.
#[tokio::test(flavor = "multi_thread")]
async fn a_lease_that_comes_too_late_is_given_back() {
    let outside = Outside::start(Mood::Good).await;
    let app = App::with(outside.settings()).await;
    let (applicant, request) = approved(&app, "A printer").await;
    until_state(&applicant, &request, "succeeded").await;
    // Due again, and held in a transaction that has not ended.
    let id = id_of(&request);
    let again = "SET state = 'waiting', next_try_at = clock_timestamp(), ended_at = NULL";
    let lease = format!(
        "INSERT INTO job_lease SELECT organization_id, 'job', request_id::text, gen_random_uuid(), nextval('lease_fence'), 'x', 0,
           clock_timestamp(), clock_timestamp() FROM job WHERE request_id = '{id}'"
    );
    let holding = app.hold(&lease).await;
    app.execute(&format!("UPDATE job {again} WHERE request_id = '{id}'")).await;
    app.until_waiting(1).await;
    app.execute(&format!(
        "UPDATE job SET state = 'succeeded', next_try_at = NULL, ended_at = clock_timestamp() WHERE request_id = '{id}'"
    ))
    .await;
    holding.release().await;
    until("the lease was taken and given back", async || {
        app.count("SELECT last_value FROM lease_fence").await > 2
            && app.count("SELECT count(*) FROM job_lease WHERE kind <> 'relay'").await == 0
    })
    .await;
    assert_eq!((outside.calls().len(), standing(&applicant, &request).await["attempts"].clone()), (1, json!(1)));
    app.stop().await;
}

fn queue(app: &App) -> PgJobs {
    let store = PgStore::new(app.pools.write.clone(), PATIENCE);
    PgJobs::new(PgReads::new(app.pools.write.clone(), PATIENCE, PATIENCE), store)
}

#[tokio::test(flavor = "multi_thread")]
async fn a_result_is_kept_as_it_came() {
    let outside = Outside::start(Mood::Says(
        200,
        "",
        "{\"order\": 12345678901234567890123, \"rate\": 0.12345678901234567890123, \"total\": 1.10}",
    ))
    .await;
    let app = App::with(outside.settings()).await;
    let (applicant, request) = approved(&app, "A printer").await;
    until_state(&applicant, &request, "succeeded").await;
    let said = applicant.read(&path(&request)).await.expect_status(200).text;
    for number in ["12345678901234567890123,", "0.12345678901234567890123,", "1.10}"] {
        assert!(said.contains(number), "{said}");
    }
    app.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn of_a_redirect_only_scheme_and_host_are_told() {
    let location = format!("location: https://elsewhere.example/{}?token=hush\r\n", "x".repeat(3_000));
    let outside = Outside::start(Mood::Says(302, Box::leak(location.into_boxed_str()), "")).await;
    let app = App::with(outside.settings()).await;
    let (applicant, request) = approved(&app, "A printer").await;
    let failed = until_state(&applicant, &request, "failed").await;
    let error = failed["last_error"].as_str().unwrap();
    assert!(error.contains("a redirect to https://elsewhere.example, which"), "{error}");
    assert!(!error.contains("xxx") && !error.contains("hush"), "{error}");
    app.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_call_that_cannot_be_made_is_not_tried_again() {
    let outside = Outside::start(Mood::Good).await;
    let mut settings = outside.settings();
    settings.processing.connector_token = ringi::config::Secret::new("erp-token\n".to_owned());
    let app = App::with(settings).await;
    let (applicant, request) = approved(&app, "A printer").await;
    let failed = until_state(&applicant, &request, "failed").await;
    assert!(failed["last_error"].as_str().unwrap().starts_with("the call can't be made"), "{failed}");
    assert_eq!((&failed["attempts"], outside.calls().len()), (&json!(1), 0));
    app.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn who_cancels_has_the_lease_before_the_job() {
    let app = App::answering(connected_to("http://127.0.0.1:9/")).await;
    let (applicant, request) = approved(&app, "A printer").await;
    let (queue, id) = (queue(&app), RequestId(id_of(&request)));
    let organization = OrganizationId(app.organization);
    let claiming = app
        .hold(
            "INSERT INTO job_lease SELECT organization_id, 'job', request_id::text, gen_random_uuid(), nextval('lease_fence'),
               'x', 0, clock_timestamp(), clock_timestamp() FROM job",
        )
        .await;
    let cancelling = tokio::spawn({
        let (admin, cancel) = (app.admin.clone(), format!("{}/cancel", path(&request)));
        async move { admin.post(&cancel, json!({})).await }
    });
    app.until_waiting(1).await;
    let at = "SELECT count(*) FROM pg_stat_activity WHERE wait_event_type = 'Lock' AND query LIKE '%INTO job_lease%'";
    assert_eq!(app.count(at).await, 1, "it waits for the lease that appears, with no lock on the job");
    // And while it has the job, no lease appears.
    let holding = app.hold("SELECT FROM job FOR UPDATE").await;
    claiming.release().await;
    until("it waits for the job", async || {
        app.count("SELECT count(*) FROM pg_stat_activity WHERE wait_event_type = 'Lock' AND query LIKE '%FROM job%'")
            .await
            == 1
    })
    .await;
    let claim = tokio::spawn(async move { queue.claim(organization, &[id], "late", PATIENCE).await.unwrap() });
    app.until_waiting(2).await;
    holding.release().await;
    assert_eq!(cancelling.await.unwrap().expect_status(200).body["state"], "failed");
    let late = claim.await.unwrap();
    assert!(late.iter().all(|claimed| claimed.work.is_none()), "{late:?}");
    assert_eq!(standing(&applicant, &request).await["attempts"], 0);
    app.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_lease_that_somebody_has_locked_is_passed_over() {
    let app = App::answering(connected_to("http://127.0.0.1:9/")).await;
    let (_, stuck) = approved(&app, "A printer").await;
    let (_, free) = approved(&app, "A chair").await;
    let (queue, organization) = (queue(&app), OrganizationId(app.organization));
    let ids = [&stuck, &free].map(|request| RequestId(id_of(request)));
    assert_eq!(queue.claim(organization, &ids, "frozen", PATIENCE).await.unwrap().len(), 2);
    let saving = app.hold(&format!("SELECT FROM job_lease WHERE target_id = '{}' FOR UPDATE", ids[0])).await;
    // No silence is too short. It would wait for longer than the test, if it waited.
    let taken = queue.claim(organization, &ids, "next", Duration::ZERO).await.unwrap();
    assert_eq!(taken.iter().map(|claimed| claimed.target.id.clone()).collect::<Vec<_>>(), [ids[1].to_string()]);
    saving.release().await;
    assert_eq!(queue.claim(organization, &ids[..1], "next", Duration::ZERO).await.unwrap().len(), 1);
    app.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn only_jobs_that_wait_say_when_to_look_again() {
    let app = App::answering(connected_to("http://127.0.0.1:9/")).await;
    let (_, request) = approved(&app, "A printer").await;
    let (queue, id, hour) = (queue(&app), RequestId(id_of(&request)), Duration::from_hours(1));
    let soon = queue.next_due(hour).await.unwrap().expect("it waits");
    assert!(soon < Duration::from_secs(1), "it is due by now, whoever looked before: {soon:?}");
    app.execute("UPDATE job SET next_try_at = clock_timestamp() + interval '2 hours'").await;
    let later = queue.next_due(hour).await.unwrap().expect("it waits");
    assert!(later > hour, "{later:?}");
    app.execute("UPDATE job SET next_try_at = clock_timestamp()").await;
    assert_eq!(queue.claim(OrganizationId(app.organization), &[id], "x", hour).await.unwrap().len(), 1);
    let expiry = queue.next_due(hour).await.unwrap().expect("its holder may go silent");
    assert!(expiry > hour / 2 && expiry <= hour + Duration::from_secs(1), "{expiry:?}");
    assert_eq!(queue.drop_stray(Duration::ZERO).await.unwrap(), 0, "a job that waits");
    // Done by another, and whoever had its lease then has died.
    app.execute("UPDATE job SET state = 'succeeded', next_try_at = NULL, ended_at = clock_timestamp()").await;
    assert_eq!(queue.next_due(Duration::ZERO).await.unwrap(), None);
    assert_eq!(queue.drop_stray(hour).await.unwrap(), 0, "its holder may be about to give it back");
    assert_eq!(queue.drop_stray(Duration::ZERO).await.unwrap(), 1);
    assert_eq!(app.count("SELECT count(*) FROM job_lease WHERE kind <> 'relay'").await, 0);
    app.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_worker_whose_heart_has_stopped_takes_no_job() {
    let outside = Outside::start(Mood::Good).await;
    let app = App::answering(outside.settings()).await;
    let (applicant, request) = approved(&app, "A printer").await;
    let leases = ringi::app::leases(&app.pools, &app.settings).unwrap();
    assert!(leases.stop(PATIENCE).await);
    let processing = &app.settings.processing;
    let gateway = Gateway::new(GatewaySettings {
        url: processing.connector().unwrap().unwrap(),
        token: String::new(),
        connect_timeout: processing.connect_timeout,
        timeout: processing.call_timeout,
        answer_limit: processing.answer_limit_bytes,
    });
    let settings = WorkerSettings {
        concurrency: 1,
        sweep_interval: Duration::from_millis(20),
        deadline: processing.job_deadline,
        patience: processing.patience(),
    };
    let _worker = Worker::start(queue(&app), leases, gateway.unwrap(), settings, Arc::default());
    // Long enough for many looks.
    tokio::time::sleep(Duration::from_millis(500)).await;
    assert_eq!(standing(&applicant, &request).await["attempts"], 0);
    app.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn only_the_newest_holder_locks_its_work_for_the_save() {
    let app = App::answering(connected_to("http://127.0.0.1:9/")).await;
    let (applicant, request) = approved(&app, "A printer").await;
    let queue = queue(&app);
    let (organization, id) = (OrganizationId(app.organization), RequestId(id_of(&request)));
    let due = Due { organization_id: organization, request_id: id };
    let claim = async |holder: &str, timeout| queue.claim(organization, &[id], holder, timeout).await.unwrap();
    let old = claim("old", PATIENCE).await.pop().expect("it is free");
    assert_eq!(standing(&applicant, &request).await["holder"], "old");
    assert!(claim("too early", PATIENCE).await.is_empty());
    // No silence is too short.
    let new = claim("new", Duration::ZERO).await.pop().expect("taken over");
    assert_eq!((new.grant.takeovers, new.work.as_ref().unwrap().attempt), (1, 2));
    assert!(new.grant.fence > old.grant.fence);
    for (claimed, holds) in [(old, false), (new, true)] {
        let mut save = queue.open_save().await.unwrap();
        let ticket = Ticket { target: claimed.target, token: claimed.grant.token };
        assert_eq!(save.lock_work(&ticket, due).await.unwrap().is_some(), holds);
        save.rollback().await;
    }
    app.stop().await;
}
