//! Deliveries: signed, in order, at least once, and to nobody who must not be reached.

use crate::events::place_of_relay;
use crate::harness::{App, id_of, version_of};
use crate::key_server::until;
use crate::logs;
use crate::receiver::{Receiver, endpoint_at, relay, submitted_histories};
use crate::webhooks::{add, history, hooked, look, path, post, wish};
use reqwest::Method;
use serde_json::{Value, json};
use std::time::{Duration, Instant};

/// Everything that the endpoint was told so far is saved.
async fn until_caught_up(app: &App, endpoint: &Value) -> Value {
    until("the endpoint has been told everything", async || {
        // In this order: what was numbered between the two looks is seen by the second.
        app.count("SELECT count(*) FROM outbox_event").await == 0 && {
            let seen = look(app, endpoint).await;
            seen["position"] == seen["newest_position"]
        }
    })
    .await;
    look(app, endpoint).await
}

async fn deliveries(app: &App, endpoint: &Value) -> Vec<Value> {
    let page = app.admin.read(&path(endpoint, "/deliveries?limit=200")).await.expect_status(200).body;
    page["items"].as_array().unwrap().clone()
}

#[tokio::test(flavor = "multi_thread")]
async fn an_independent_implementation_verifies_what_comes() {
    let app = App::with(hooked()).await;
    let receiver = Receiver::start().await;
    let endpoint = endpoint_at(&app, &receiver, "/in", &[], json!({"body": "thanks"})).await;
    let (applicant, approver) = (app.applicant().await, app.approver().await);
    let pending = applicant.submitted("Desk").await;
    let approved = approver.approve(&pending).await.expect_status(200).body;
    let last = until_caught_up(&app, &endpoint).await;

    let came = receiver.at("/in");
    for line in &came {
        assert_eq!((&line["verified"], &line["signatures"]), (&json!([true]), &json!(1)), "{line}");
        assert_eq!((&line["method"], &line["type"]), (&json!("POST"), &json!("application/json")));
        assert!(line["id"].as_str().unwrap().starts_with("evt_"), "{line}");
    }
    let events = receiver.received("/in");
    let told: Vec<_> = events.iter().map(|event| event["type"].as_str().unwrap()).collect();
    assert_eq!(
        told.iter().filter(|name| name.starts_with("request.")).collect::<Vec<_>>(),
        [&"request.create", &"request.submit", &"request.approve"]
    );
    assert!(told.contains(&"member.add") && told.contains(&"webhook.add"), "{told:?}");
    let decision = events.iter().find(|event| event["type"] == "request.approve").unwrap();
    assert_eq!(decision["timestamp"], approved["updated_at"]);
    let expected = json!({"organization_id": app.organization, "request_id": id_of(&approved), "seq": 3, "version": 3,
                          "action": "approve", "status": "approved", "actor_id": approver.id,
                          "content_hash": approved["content_hash"], "occurred_at": approved["updated_at"]});
    assert_eq!(decision["data"], expected);

    // The log says the same, newest first.
    assert_eq!((&last["failures"], &last["last_status"], &last["last_error"]), (&json!(0), &json!(204), &json!(null)));
    let logged = deliveries(&app, &endpoint).await;
    assert_eq!(logged.len(), came.len());
    assert_eq!(logged[0]["number"], came.len());
    assert!(logged.iter().all(|row| row["result"] == "delivered" && row["error"].is_null()), "{logged:?}");
    let first = format!("{}?limit=1", path(&endpoint, "/deliveries"));
    let page = app.admin.read(&first).await.expect_status(200).body;
    let next = format!("{first}&cursor={}", page["next_cursor"].as_str().unwrap());
    assert_eq!(app.admin.read(&next).await.expect_status(200).body["items"][0], logged[1]);

    // While two secrets overlap, a receiver that knows either of them can verify; after that, only the new one.
    let rotated = wish(&app, &endpoint, "rotate-secret", json!({"overlap_hours": 1})).await;
    receiver.tell("/in", json!({"secrets": [endpoint["secret"], rotated["secret"]]})).await;
    let before = receiver.at("/in").len();
    applicant.submitted("Chair").await;
    until_caught_up(&app, &endpoint).await;
    for line in &receiver.at("/in")[before..] {
        assert_eq!((&line["verified"], &line["signatures"]), (&json!([true, true]), &json!(2)), "{line}");
    }
    app.execute("UPDATE webhook_endpoint SET old_secret_until = clock_timestamp()").await;
    let before = receiver.at("/in").len();
    applicant.submitted("Lamp").await;
    until_caught_up(&app, &endpoint).await;
    for line in &receiver.at("/in")[before..] {
        assert_eq!(line["verified"], json!([false, true]), "{line}");
    }
    app.check_invariants().await;
    app.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_request_is_told_of_from_its_first_submission_on_with_all_that_came_before() {
    let app = App::with(hooked()).await;
    let receiver = Receiver::start().await;
    let endpoint = endpoint_at(&app, &receiver, "/in", &[], json!({})).await;
    let (applicant, approver) = (app.applicant().await, app.approver().await);
    let never = applicant.create("Never submitted").await;
    let withdrawn = applicant.create("Withdrawn as a draft").await;
    applicant.act(&withdrawn, "withdraw", None).await.expect_status(200);
    let mut request = applicant.create("Desk").await;
    for title in ["Oak desk", "Large oak desk"] {
        request = applicant.edit(&request, title).await.expect_status(200).body;
    }
    until_caught_up(&app, &endpoint).await;
    assert_eq!(receiver.requests("/in"), submitted_histories(&app).await, "nothing of drafts");
    request = applicant.act(&request, "submit", None).await.expect_status(200).body;
    until_caught_up(&app, &endpoint).await;
    assert_eq!(receiver.requests("/in"), submitted_histories(&app).await);
    request = approver.act(&request, "send-back", Some("Smaller.")).await.expect_status(200).body;
    request = applicant.edit(&request, "Oak desk").await.expect_status(200).body;
    request = applicant.act(&request, "submit", None).await.expect_status(200).body;
    approver.approve(&request).await.expect_status(200);
    until_caught_up(&app, &endpoint).await;
    let told = receiver.requests("/in");
    assert_eq!(told, submitted_histories(&app).await);
    assert_eq!(told[&id_of(&request).to_string()].len(), 8);
    assert!(!receiver.at("/in").iter().any(|line| line["body"].as_str().unwrap().contains(&id_of(&never).to_string())));
    let events = receiver.at("/in").len();
    assert_eq!(events, receiver.received("/in").len(), "nothing was sent twice, also not by the second submission");
    app.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_filter_takes_what_it_names_and_a_replay_sends_the_same_again() {
    let app = App::with(hooked()).await;
    let receiver = Receiver::start().await;
    let all = endpoint_at(&app, &receiver, "/all", &[], json!({})).await;
    let some = endpoint_at(&app, &receiver, "/some", &["request.approve", "request.create"], json!({})).await;
    let (applicant, approver) = (app.applicant().await, app.approver().await);
    for title in ["A", "B", "C"] {
        let pending = applicant.submitted(title).await;
        approver.approve(&pending).await.expect_status(200);
    }
    until_caught_up(&app, &all).await;
    until_caught_up(&app, &some).await;
    let kinds: Vec<_> = receiver.received("/some").iter().map(|event| event["type"].clone()).collect();
    assert_eq!(kinds.len(), 6);
    assert!(kinds.iter().all(|kind| kind == "request.approve" || kind == "request.create"), "{kinds:?}");

    let ids = |path: &str| {
        let mut ids: Vec<_> = receiver.at(path).iter().map(|line| line["id"].as_str().unwrap().to_owned()).collect();
        ids.sort();
        ids
    };
    let first = ids("/some");
    wish(&app, &some, "replay", json!({"from_position": 1})).await;
    until_caught_up(&app, &some).await;
    let twice: Vec<_> = first.iter().flat_map(|id| [id.clone(), id.clone()]).collect();
    assert_eq!(ids("/some"), twice, "the same ids, each once more");

    // Forwards it skips: what a receiver can't take keeps nothing else from coming.
    receiver.tell("/some", json!({"status": 500})).await;
    let pending = applicant.submitted("Poison").await;
    until("it fails", async || look(&app, &some).await["failures"].as_i64() > Some(1)).await;
    receiver.tell("/some", json!({})).await;
    let newest = until_caught_up(&app, &all).await["newest_position"].as_i64().unwrap();
    wish(&app, &some, "replay", json!({"from_position": newest + 1})).await;
    let before = receiver.at("/some").len();
    approver.approve(&pending).await.expect_status(200);
    until_caught_up(&app, &some).await;
    let after: Vec<_> = receiver.received("/some").iter().map(|event| event["type"].clone()).collect();
    assert!(receiver.at("/some").len() > before && after.last() == Some(&json!("request.approve")), "{after:?}");
    app.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn failures_are_tried_again_until_they_end_and_nothing_overtakes() {
    let app = App::with(hooked()).await;
    let receiver = Receiver::start().await;
    let endpoint = endpoint_at(&app, &receiver, "/in", &[], json!({"status": 500, "body": "no\u{0}pe"})).await;
    let (applicant, approver) = (app.applicant().await, app.approver().await);
    let pending = applicant.submitted("Desk").await;
    approver.approve(&pending).await.expect_status(200);
    until("it has failed some times", async || look(&app, &endpoint).await["failures"].as_i64() > Some(2)).await;
    let failing = look(&app, &endpoint).await;
    assert_eq!((&failing["state"], &failing["last_status"]), (&json!("enabled"), &json!(500)));
    assert!(failing["failing_since"].is_string() && failing["next_attempt_at"].is_string(), "{failing}");
    assert!(failing["last_error"].as_str().unwrap().contains("500"), "{failing}");
    let row = deliveries(&app, &endpoint).await[0].clone();
    assert_eq!(
        (&row["result"], &row["status"], &row["answer"]),
        (&json!("failed"), &json!(500), &json!("no\u{fffd}pe"))
    );

    // Redirects are not followed, and their target is told nothing.
    let elsewhere = receiver.url("/elsewhere?token=s3cret");
    receiver.tell("/in", json!({"status": 302, "headers": {"location": elsewhere}})).await;
    until("it is redirected", async || look(&app, &endpoint).await["last_status"] == 302).await;
    let told = look(&app, &endpoint).await["last_error"].as_str().unwrap().to_owned();
    assert!(told.contains("redirect to http://127.0.0.1") && !told.contains("s3cret"), "{told}");
    assert_eq!(receiver.at("/elsewhere").len(), 0);

    // A gigabyte is not read.
    receiver.tell("/in", json!({"status": 500, "endless": true})).await;
    until("it is flooded", async || look(&app, &endpoint).await["last_status"] == 500).await;
    let begun = Instant::now();
    receiver.tell("/in", json!({"secrets": [endpoint["secret"]], "endless": true, "status": 200})).await;
    until_caught_up(&app, &endpoint).await;
    assert!(begun.elapsed() < Duration::from_secs(15), "{:?}", begun.elapsed());
    assert_eq!(receiver.requests("/in"), submitted_histories(&app).await);
    let row = deliveries(&app, &endpoint).await[0].clone();
    assert_eq!((&row["result"], row["answer"].as_str().unwrap().len()), (&json!("delivered"), 500));
    app.check_invariants().await;
    app.stop().await;
}

/// Every third event fails at its first attempt: what comes after it in its request must wait for it.
#[tokio::test(flavor = "multi_thread")]
async fn what_failed_is_overtaken_by_nothing_of_its_request() {
    let app = App::answering(hooked()).await;
    let receiver = Receiver::start().await;
    let endpoint = endpoint_at(&app, &receiver, "/in", &[], json!({"flaky": 3})).await;
    let (applicant, approver) = (app.applicant().await, app.approver().await);
    for n in 0..8 {
        let request = applicant.submitted(&format!("Desk {n}")).await;
        let request = approver.act(&request, "send-back", Some("Why?")).await.expect_status(200).body;
        applicant.act(&request, "submit", None).await.expect_status(200);
    }
    // All of it is there when it begins: windows are full of requests with several events each.
    let relaying = relay(&app);
    until_caught_up(&app, &endpoint).await;
    assert_eq!(receiver.requests("/in"), submitted_histories(&app).await);
    assert!(receiver.at("/in").iter().any(|line| line["status"] == 500), "some failed");
    relaying.stop();
    app.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_410_turns_it_off_and_a_person_turns_it_on_again() {
    let app = App::with(hooked()).await;
    let receiver = Receiver::start().await;
    let endpoint = endpoint_at(&app, &receiver, "/in", &["request.submit"], json!({"status": 410})).await;
    let applicant = app.applicant().await;
    applicant.submitted("Desk").await;
    until("it is off", async || look(&app, &endpoint).await["state"] == "disabled").await;
    let off = look(&app, &endpoint).await;
    assert_eq!((&off["last_status"], version_of(&off)), (&json!(410), 2));
    assert_eq!(history(&app, &endpoint).await[1], ("disable".to_owned(), "Ringi".to_owned()));
    applicant.submitted("Chair").await;
    assert_eq!(receiver.at("/in").len(), 1, "410 was the last word");

    receiver.tell("/in", json!({"secrets": [endpoint["secret"]]})).await;
    wish(&app, &endpoint, "enable", json!({})).await;
    until_caught_up(&app, &endpoint).await;
    assert_eq!(receiver.received("/in").len(), 2, "what came meanwhile is not lost");
    let whole = app.admin.read("history/verify").await.expect_status(200).body;
    assert_eq!(whole["whole"], json!(true), "{whole}");
    app.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn who_asks_for_less_is_left_alone_for_so_long() {
    let app = App::with(hooked()).await;
    let receiver = Receiver::start().await;
    for status in [429, 503] {
        let at = format!("/{status}");
        let mood = json!({"status": status, "headers": {"retry-after": "3600"}});
        let endpoint = endpoint_at(&app, &receiver, &at, &[], mood).await;
        app.applicant().await;
        until("it is throttled", async || look(&app, &endpoint).await["failures"] == 1).await;
        let seen = look(&app, &endpoint).await;
        let pause = crate::harness::moment(&seen["next_attempt_at"]) - crate::harness::moment(&seen["last_attempt_at"]);
        assert!((3_590..3_660).contains(&pause.num_seconds()), "{seen}");
        let row = deliveries(&app, &endpoint).await[0].clone();
        assert_eq!((&row["result"], &row["status"]), (&json!("throttled"), &json!(status)));
        // Its own address, enabled by a person, is tried at once.
        receiver.tell(&at, json!({"secrets": [endpoint["secret"]]})).await;
        wish(&app, &endpoint, "enable", json!({})).await;
        until_caught_up(&app, &endpoint).await;
    }
    app.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn after_failing_for_days_it_is_given_up_and_said_so() {
    let app = App::with(hooked()).await;
    let receiver = Receiver::start().await;
    let endpoint = endpoint_at(&app, &receiver, "/in", &["member.add"], json!({"status": 500})).await;
    let witness = endpoint_at(&app, &receiver, "/witness", &["webhook.fail"], json!({})).await;
    let applicant = app.applicant().await;
    until("it fails", async || look(&app, &endpoint).await["failures"].as_i64() > Some(0)).await;
    // Three days pass.
    app.execute("UPDATE webhook_endpoint SET failing_since = failing_since - interval '72 hours' WHERE failures > 0")
        .await;
    until("it is given up", async || look(&app, &endpoint).await["state"] == "failing").await;
    assert_eq!(history(&app, &endpoint).await[1], ("fail".to_owned(), "Ringi".to_owned()));
    until_caught_up(&app, &witness).await;
    let told = receiver.received("/witness");
    assert_eq!((told.len(), &told[0]["data"]["webhook_id"]), (1, &endpoint["id"]), "{told:?}");
    assert_eq!(told[0]["data"]["state"], "failing");
    receiver.tell("/in", json!({"secrets": [endpoint["secret"]]})).await;
    wish(&app, &endpoint, "enable", json!({})).await;
    until_caught_up(&app, &endpoint).await;
    let told = receiver.received("/in");
    assert!(told.iter().any(|event| event["data"]["user_id"] == json!(applicant.id)), "{told:?}");
    app.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn one_that_hangs_costs_only_itself() {
    let mut settings = hooked();
    settings.webhooks.timeout = Duration::from_secs(4);
    let app = App::with(settings).await;
    let receiver = Receiver::start().await;
    let hung = endpoint_at(&app, &receiver, "/hung", &[], json!({"hang": true})).await;
    let well = endpoint_at(&app, &receiver, "/well", &[], json!({})).await;
    let applicant = app.applicant().await;
    receiver.until_asked("/hung", 1).await;
    let begun = Instant::now();
    for n in 0..20 {
        applicant.submitted(&format!("Desk {n}")).await;
    }
    until_caught_up(&app, &well).await;
    assert!(begun.elapsed() < Duration::from_secs(4), "others waited for it: {:?}", begun.elapsed());
    assert_eq!(receiver.requests("/well"), submitted_histories(&app).await);
    until("it is given time, and no more", async || look(&app, &hung).await["failures"].as_i64() > Some(0)).await;
    let seen = look(&app, &hung).await;
    assert!(seen["last_error"].as_str().unwrap().contains("did not answer within 4000 ms"), "{seen}");
    app.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn what_a_person_did_meanwhile_wins_over_what_was_under_way() {
    let app = App::with(hooked()).await;
    let receiver = Receiver::start().await;
    let endpoint = endpoint_at(&app, &receiver, "/in", &["request.submit", "request.create"], json!({})).await;
    let applicant = app.applicant().await;
    for n in 0..3 {
        applicant.submitted(&format!("Desk {n}")).await;
    }
    let before = until_caught_up(&app, &endpoint).await;
    let came = receiver.at("/in").len();
    // A person replays: his transaction has the row, and the save of a delivery waits for it.
    let mut held = app.hold("SELECT FROM webhook_endpoint FOR UPDATE").await;
    applicant.submitted("Desk 3").await;
    receiver.until_asked("/in", came + 1).await;
    app.until_waiting(1).await;
    held.execute("UPDATE webhook_endpoint SET position = 0, version = version + 1").await;
    held.commit().await;
    let after = until_caught_up(&app, &endpoint).await;
    assert!(after["position"].as_i64() > before["position"].as_i64(), "{after}");
    let twice = receiver.at("/in").len();
    assert!(twice >= came * 2 + 2, "everything came again from the beginning: {came} before, {twice} after");
    assert_eq!(receiver.requests("/in"), submitted_histories(&app).await);
    app.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn the_save_of_a_relay_that_was_replaced_is_refused() {
    let mut settings = hooked();
    settings.events.heartbeat_interval = Duration::from_secs(3);
    settings.events.lease_timeout = Duration::from_secs(12);
    let app = App::with(settings).await;
    let receiver = Receiver::start().await;
    let endpoint = endpoint_at(&app, &receiver, "/in", &["request.submit"], json!({"hold": true})).await;
    app.applicant().await.submitted("Desk").await;
    receiver.until_asked("/in", 1).await;
    let before = look(&app, &endpoint).await;
    // As if it had been frozen in the middle of the call, just after a heartbeat: another has the lease since.
    let beats = "SELECT (extract(epoch FROM updated_at) * 1000000)::bigint FROM job_lease WHERE kind = 'relay'";
    let last = app.count(beats).await;
    until("its heart beats", async || app.count(beats).await > last).await;
    app.execute("UPDATE job_lease SET lease_token = gen_random_uuid(), holder = 'another' WHERE kind = 'relay'").await;
    receiver.tell("/in", json!({"secrets": [endpoint["secret"]]})).await;
    let refused = "ringi_webhook_saves_refused_total";
    until("its save is refused", async || {
        let text = app.http.get(format!("{}/metrics", app.address)).send().await.unwrap().text().await.unwrap();
        text.lines().any(|line| line.starts_with(refused))
    })
    .await;
    assert_eq!(receiver.received("/in").len(), 1, "it was received");
    assert_eq!(look(&app, &endpoint).await["position"], before["position"], "and yet nothing was saved");
    assert_eq!(deliveries(&app, &endpoint).await, Vec::<Value>::new(), "not even in the log");
    // The other gives it back, and whoever has it next sends it again, under the same id.
    app.execute("DELETE FROM job_lease WHERE kind = 'relay'").await;
    until_caught_up(&app, &endpoint).await;
    let ids: Vec<_> = receiver.at("/in").iter().map(|line| line["id"].clone()).collect();
    assert_eq!((ids.len(), &ids[0]), (2, &ids[1]));
    assert_eq!(deliveries(&app, &endpoint).await.len(), 1);
    app.stop().await;
}

/// However often the relay is killed: the receiver's record, each event once, is the history of all submitted requests.
async fn under_fire(decisions: usize, kills: usize) {
    let app = App::answering(hooked()).await;
    let receiver = Receiver::start().await;
    let endpoint = endpoint_at(&app, &receiver, "/in", &[], json!({})).await;
    let mut relays = vec![relay(&app), relay(&app)];
    let (applicant, approver) = (app.applicant().await, app.approver().await);
    let deciding: Vec<_> = (0..4)
        .map(|n: usize| {
            let (applicant, approver) = (applicant.clone(), approver.clone());
            tokio::spawn(async move {
                for decision in (n..decisions).step_by(4) {
                    let draft = applicant.create(&format!("Desk {decision}")).await;
                    if decision % 5 == 0 {
                        applicant.create("Never submitted").await;
                    }
                    let pending = applicant.act(&draft, "submit", None).await.expect_status(200).body;
                    let (action, reason) =
                        [("approve", None), ("reject", Some("No.")), ("send-back", Some("Why?"))][decision % 3];
                    approver.act(&pending, action, reason).await.expect_status(200);
                }
            })
        })
        .collect();
    for _ in 0..kills {
        let before = receiver.at("/in").len();
        // In the middle of deliveries, as long as there are any to come.
        until("deliveries go on", async || {
            receiver.at("/in").len() > before + decisions / (2 * kills)
                || deciding.iter().all(tokio::task::JoinHandle::is_finished)
        })
        .await;
        let place = place_of_relay(&app, &relays).await;
        relays.remove(place.unwrap_or(0)).kill();
        let app = &app;
        relays.push(tokio::task::block_in_place(|| relay(app)));
    }
    for one in deciding {
        one.await.unwrap();
    }
    let patience = Instant::now();
    loop {
        let numbered = app.count("SELECT count(*) FROM outbox_event").await == 0;
        let seen = look(&app, &endpoint).await;
        if numbered && seen["position"] == seen["newest_position"] {
            break;
        }
        assert!(patience.elapsed() < Duration::from_mins(2), "{seen}");
        tokio::task::yield_now().await;
    }
    let expected = submitted_histories(&app).await;
    assert_eq!(expected.len(), decisions);
    assert_eq!(receiver.requests("/in"), expected);
    assert!(receiver.at("/in").iter().all(|line| line["verified"] == json!([true])));
    let (came, once) = (receiver.at("/in").len(), receiver.received("/in").len());
    println!("{decisions} decisions, {kills} kills: {once} events, {} of them sent again", came - once);
    app.check_invariants().await;
    drop(relays);
    app.stop().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn killed_again_and_again_the_relay_leaves_nothing_out_and_disorders_nothing() {
    let number = |name: &str, otherwise| std::env::var(name).ok().map_or(otherwise, |text| text.parse().unwrap());
    under_fire(number("RINGI_HOOKS_DECISIONS", 150), number("RINGI_HOOKS_KILLS", 3)).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_secret_signs_for_its_own_endpoint_alone_and_stands_in_no_line_of_the_log() {
    logs::listen();
    let app = App::with(hooked()).await;
    let receiver = Receiver::start().await;
    let first = endpoint_at(&app, &receiver, "/first", &[], json!({"status": 500})).await;
    let second = endpoint_at(&app, &receiver, "/second", &[], json!({})).await;
    until_caught_up(&app, &second).await;
    app.execute(&format!(
        "UPDATE webhook_endpoint e SET secret = o.secret FROM webhook_endpoint o
         WHERE e.id = '{}' AND o.id = '{}'",
        second["id"].as_str().unwrap(),
        first["id"].as_str().unwrap()
    ))
    .await;
    let before = receiver.at("/second").len();
    app.applicant().await;
    until("it can't be signed", async || look(&app, &second).await["failures"].as_i64() > Some(0)).await;
    let seen = look(&app, &second).await;
    assert!(seen["last_error"].as_str().unwrap().contains("rotate the endpoint's secret"), "{seen}");
    assert_eq!(receiver.at("/second").len(), before, "nothing goes out unsigned");
    let rotated = wish(&app, &second, "rotate-secret", json!({"overlap_hours": 0})).await;
    receiver.tell("/second", json!({"secrets": [rotated["secret"]]})).await;
    wish(&app, &second, "enable", json!({})).await;
    until_caught_up(&app, &second).await;
    assert_eq!(receiver.at("/second").last().unwrap()["verified"], json!([true]));
    for endpoint in [&first, &second, &rotated] {
        let secret = endpoint["secret"].as_str().unwrap().trim_start_matches("whsec_");
        assert_eq!(logs::that_hold(secret), Vec::<Value>::new());
    }
    assert!(!logs::that_hold(second["id"].as_str().unwrap()).is_empty(), "the log was heard, and names the endpoint");
    app.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn one_that_was_off_for_longer_than_events_are_kept_goes_on_with_what_is_left() {
    let app = App::with(hooked()).await;
    let receiver = Receiver::start().await;
    let endpoint = endpoint_at(&app, &receiver, "/in", &["request.submit"], json!({})).await;
    let witness = endpoint_at(&app, &receiver, "/witness", &[], json!({})).await;
    let applicant = app.applicant().await;
    applicant.submitted("Before").await;
    until_caught_up(&app, &endpoint).await;
    wish(&app, &endpoint, "disable", json!({})).await;
    applicant.submitted("Lost").await;
    let line = until_caught_up(&app, &witness).await["position"].as_i64().unwrap();
    let kept = applicant.submitted("Kept").await;
    until_caught_up(&app, &witness).await;
    // As the cleaner does with what has grown old.
    app.execute(&format!("DELETE FROM event_log WHERE position <= {line}; UPDATE event_stream SET trimmed = {line}"))
        .await;
    wish(&app, &endpoint, "enable", json!({})).await;
    let seen = until_caught_up(&app, &endpoint).await;
    assert_eq!(seen["oldest_position"], line + 1);
    let told = receiver.received("/in");
    assert_eq!((told.len(), &told[1]["data"]["request_id"]), (2, &kept["id"]), "{told:?}");
    let early = json!({"version": seen["version"], "from_position": line});
    post(&app, &endpoint, "replay", early).await.expect_problem(422, "validation_failed");
    // Where everything is gone there is nothing to wait for.
    app.execute("DELETE FROM event_log; UPDATE event_stream SET trimmed = last_position").await;
    app.execute("UPDATE webhook_endpoint SET position = 0").await;
    until_caught_up(&app, &endpoint).await;
    let text = app.http.get(format!("{}/metrics", app.address)).send().await.unwrap().text().await.unwrap();
    for line in ["ringi_webhook_deliveries_total{result=\"delivered\"}", "ringi_webhook_endpoints{state=\"enabled\"}"] {
        assert!(text.contains(line), "{line}");
    }
    app.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn the_log_is_kept_short_and_a_deleted_endpoint_is_told_nothing() {
    let mut settings = hooked();
    settings.webhooks.log_rows = 5;
    let app = App::with(settings).await;
    let receiver = Receiver::start().await;
    let endpoint = endpoint_at(&app, &receiver, "/in", &[], json!({})).await;
    let applicant = app.applicant().await;
    for n in 0..6 {
        applicant.submitted(&format!("Desk {n}")).await;
    }
    until_caught_up(&app, &endpoint).await;
    let rows = deliveries(&app, &endpoint).await;
    assert_eq!(rows.len(), 5);
    assert_eq!(rows[0]["number"], receiver.at("/in").len(), "the newest are kept");
    let version = version_of(&look(&app, &endpoint).await);
    let gone =
        app.admin.request(Method::DELETE, &path(&endpoint, &format!("?version={version}"))).send().await.unwrap();
    assert_eq!(gone.status(), 204);
    let other = add(&app, &receiver.url("/other"), &[]).await;
    let before = receiver.at("/in").len();
    applicant.submitted("After").await;
    until_caught_up(&app, &other).await;
    assert_eq!(receiver.at("/in").len(), before);
    assert_eq!(deliveries(&app, &other).await.len(), receiver.at("/other").len().min(5));
    let left =
        format!("SELECT count(*) FROM webhook_delivery WHERE endpoint_id = '{}'", endpoint["id"].as_str().unwrap());
    assert_eq!(app.count(&left).await, 0);
    app.stop().await;
}
