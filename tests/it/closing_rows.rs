//! The rows of a closing that are not as they should be: blocked, corrected, moved, taken back.

use crate::charges::{charge, correct, correction, results};
use crate::closing::{bulk, check_closings, close, ended, look, planted, start, totals};
use crate::harness::App;
use serde_json::json;
use uuid::Uuid;

/// 3 bad rows among 10,000: each stops itself alone, is named, and once repaired a new run takes only what is left.
#[tokio::test(flavor = "multi_thread")]
async fn a_bad_row_stops_itself_and_not_the_month() {
    let app = App::start().await;
    let admin = &app.admin;
    let mut bought = Vec::new();
    for _ in 0..2 {
        bought.push(planted(&app, "2024-09", 700, "JPY", None).await);
    }
    close(admin, "2024-09").await;
    bulk(&app, "2024-10", 9_997).await;
    let in_dollars = planted(&app, "2024-10", -700, "USD", Some(bought[0])).await;
    let too_little = planted(&app, "2024-10", -699, "JPY", Some(bought[1])).await;
    let refused = planted(&app, "2024-10", 666, "EUR", None).await;
    // A row that the database refuses, whatever its reason.
    app.execute(
        "ALTER TABLE confirmed_charge ADD CONSTRAINT no_evil CHECK (NOT (amount = 666 AND currency = 'EUR')) NOT VALID",
    )
    .await;

    let blocked = close(admin, "2024-10").await;
    assert_eq!(
        (&blocked["state"], &blocked["total"], &blocked["confirmed"]),
        (&json!("blocked"), &json!(10_000), &json!(9_997))
    );
    assert_eq!(blocked["blocked_count"], 3);
    let mut named: Vec<(String, String, String)> = blocked["blocked"]
        .as_array()
        .unwrap()
        .iter()
        .map(|row| {
            let text = |name: &str| row[name].as_str().unwrap().to_owned();
            (text("charge_id"), text("code"), text("detail"))
        })
        .collect();
    named.sort_by_key(|(id, ..)| [in_dollars, too_little, refused].iter().position(|known| known.to_string() == *id));
    let codes: Vec<_> = named.iter().map(|(id, code, _)| (id.as_str(), code.as_str())).collect();
    let ids = [in_dollars.to_string(), too_little.to_string(), refused.to_string()];
    assert_eq!(codes, [(&*ids[0], "reversal_invalid"), (&*ids[1], "reversal_invalid"), (&*ids[2], "refused")]);
    assert!(named[0].2.contains("another currency") && named[1].2.contains("opposite amount"), "{named:?}");
    assert!(named[2].2.contains("no_evil"), "{named:?}");
    admin.read("statements/2024-10").await.expect_problem(404, "not_found");
    let upcoming = admin.read("statements").await.body;
    assert_eq!(totals(&upcoming, "upcoming", "2024-10"), ["EUR 666 (1)", "JPY 49974304 (9998)", "USD -700 (1)"]);

    // A good row of the month can't be corrected any more; the blocked ones can, and only to what is right.
    let good = app.count("SELECT count(*) FROM confirmed_charge WHERE period = '2024-10-01'").await;
    assert_eq!(good, 9_997);
    let other = admin.read("charges?period=2024-10&processed=true&limit=1").await.body["items"][0]["id"].clone();
    correct(admin, other.as_str().unwrap().parse().unwrap(), json!({"amount": 1}))
        .await
        .expect_problem(409, "period_closed");
    let still = correct(admin, in_dollars, json!({"currency": "EUR"})).await.expect_problem(422, "validation_failed");
    assert_eq!(still.body["errors"][0]["code"], "reversal_invalid");
    correct(admin, in_dollars, json!({"currency": "JPY"})).await.expect_status(200);
    correct(admin, too_little, json!({"amount": -700})).await.expect_status(200);
    correct(admin, refused, json!({"amount": 667})).await.expect_status(200);
    assert_eq!(look(admin, "2024-10").await["blocked"], json!([]));

    let confirmed = "SELECT max(xmin::text::bigint) FROM confirmed_charge WHERE period = '2024-10-01'";
    let before = app.count(confirmed).await;
    let closed = close(admin, "2024-10").await;
    assert_eq!((&closed["state"], &closed["confirmed"]), (&json!("closed"), &json!(10_000)));
    let new = format!("SELECT count(*) FROM confirmed_charge WHERE xmin::text::bigint > {before}");
    assert_eq!(app.count(&new).await, 3, "only what was left");
    let rows = admin.read("history?kind=closing&action=block").await.body["items"].as_array().unwrap().clone();
    assert_eq!((rows.len(), &rows[0]["detail"]), (1, &json!({"blocked": 3})));
    check_closings(&app).await;
    app.stop().await;
}

/// Nothing is closed over a bad row unless an administrator moves it out, with a reason, which is history.
#[tokio::test(flavor = "multi_thread")]
async fn a_blocked_row_can_be_moved_into_the_next_month_with_a_reason() {
    let app = App::start().await;
    let (admin, aiko) = (&app.admin, app.applicant().await);
    bulk(&app, "2024-10", 10).await;
    let open = planted(&app, "2024-11", 50, "JPY", None).await;
    let early = planted(&app, "2024-10", -50, "JPY", Some(open)).await;
    let path = "closings/2024-10/exclude";
    let body = json!({"charge_id": early, "reason": "What it takes back is of November."});
    admin.post(path, body.clone()).await.expect_problem(409, "invalid_transition");
    assert_eq!(close(admin, "2024-10").await["blocked"][0]["charge_id"], json!(early));
    // Run again with nothing repaired: blocked again, and the same row.
    assert_eq!(close(admin, "2024-10").await["blocked_count"], 1);

    aiko.post(path, body.clone()).await.expect_problem(403, "forbidden");
    let good = admin.read("charges?period=2024-10&processed=true&limit=1").await.body["items"][0]["id"].clone();
    for id in [json!(Uuid::new_v4()), json!(open), good] {
        let body = json!({"charge_id": id, "reason": "why not"});
        admin.post(path, body).await.expect_problem(409, "invalid_transition");
    }
    let elsewhere = admin.post("closings/2024-11/exclude", body.clone()).await;
    elsewhere.expect_problem(409, "invalid_transition");
    for reason in [json!(null), json!(""), json!("\u{200b}"), json!("x".repeat(2_001))] {
        let told = admin.post(path, json!({"charge_id": early, "reason": reason})).await;
        assert_eq!(told.expect_problem(422, "validation_failed").body["errors"][0]["pointer"], "/reason");
    }
    let unknown = json!({"charge_id": early, "reason": "x", "force": true});
    admin.post(path, unknown).await.expect_problem(422, "unknown_field");
    let told = admin.post_with_key("k", path, body.clone()).await.expect_status(200).body;
    assert_eq!((&told["blocked"], &told["blocked_count"], &told["total"]), (&json!([]), &json!(0), &json!(10)));
    let replayed = admin.post_with_key("k", path, body.clone()).await.expect_status(200);
    assert_eq!((replayed.header("idempotency-replayed"), &replayed.body), ("true", &told));
    admin.post(path, body).await.expect_problem(409, "invalid_transition");

    let moved = admin.read(&format!("charges/{early}")).await.body;
    assert_eq!(
        (&moved["period"], &moved["late_of"], &moved["version"]),
        (&json!("2024-11"), &json!("2024-10"), &json!(2))
    );
    let now = look(admin, "2024-10").await;
    assert_eq!((&now["total"], &now["confirmed"]), (&json!(10), &json!(10)), "it counts for its new month only");
    assert_eq!(close(admin, "2024-10").await["confirmed"], 10);
    let rows = admin.read("history?kind=closing&action=exclude").await.body["items"].as_array().unwrap().clone();
    assert_eq!((rows.len(), &rows[0]["reason"]), (1, &json!("What it takes back is of November.")));
    assert_eq!(rows[0]["detail"], json!({"charge_id": early, "to": "2024-11"}));
    // In November both are there, and what is taken back may be met after what takes it back.
    let mut november = close(admin, "2024-11").await;
    if november["state"] == "blocked" {
        november = close(admin, "2024-11").await;
    }
    assert_eq!(november["state"], "closed");
    check_closings(&app).await;
    app.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_reversal_takes_exactly_one_confirmed_charge_back_once() {
    let app = App::start().await;
    let admin = &app.admin;
    let spent = planted(&app, "2024-09", 700, "JPY", None).await;
    let open = planted(&app, "2024-10", 700, "JPY", None).await;
    let reversal = |of: Uuid, amount: i64, currency: &str| {
        let mut row = charge(Uuid::new_v4(), "2024-10-20T00:00:00Z", amount);
        (row["reverses"], row["currency"]) = (json!(of), json!(currency));
        row
    };
    let refused = "refused reversal_invalid";
    let early = admin.post("charges", reversal(spent, -700, "JPY")).await.expect_status(207);
    assert_eq!(results(&early), [refused], "what it takes back is not confirmed");
    close(admin, "2024-09").await;
    let right = reversal(spent, -700, "JPY");
    let rows = json!([
        reversal(open, -700, "JPY"),
        reversal(Uuid::new_v4(), -700, "JPY"),
        reversal(spent, -699, "JPY"),
        reversal(spent, 700, "JPY"),
        reversal(spent, -700, "USD"),
        right,
        reversal(spent, -700, "JPY"),
        right,
    ]);
    let answer = admin.post("charges", rows).await.expect_status(207);
    assert_eq!(results(&answer), [refused, refused, refused, refused, refused, "created", refused, "exists"]);
    let again = admin.post("charges", json!([right, reversal(spent, -700, "JPY")])).await.expect_status(207);
    assert_eq!(results(&again), ["exists", refused]);

    // Two at once, each in a transaction of its own: one takes it back.
    let other = planted(&app, "2024-08", 900, "JPY", None).await;
    close(admin, "2024-08").await;
    let (one, two) = (reversal(other, -900, "JPY"), reversal(other, -900, "JPY"));
    let (one, two) = tokio::join!(admin.post("charges", one), admin.post("charges", two));
    let mut both = [results(&one).remove(0), results(&two).remove(0)];
    both.sort();
    assert_eq!(both, ["created", refused]);
    let closed = close(admin, "2024-10").await;
    assert_eq!(closed["state"], "closed");
    let statements = admin.read("statements").await.body;
    assert_eq!(totals(&statements, "months", "2024-10"), ["JPY -900 (3)"]);
    check_closings(&app).await;
    app.stop().await;
}

/// A correction of a blocked row and the run that retries it meet at the charge: what is copied is what was locked.
#[tokio::test(flavor = "multi_thread")]
async fn a_repair_and_a_run_at_once_agree_on_the_row() {
    let app = App::start().await;
    let admin = &app.admin;
    let bought = planted(&app, "2024-09", 700, "JPY", None).await;
    close(admin, "2024-09").await;
    let bad = planted(&app, "2024-10", -7, "JPY", Some(bought)).await;
    bulk(&app, "2024-10", 100).await;
    assert_eq!(close(admin, "2024-10").await["blocked_count"], 1);
    let seen = admin.read(&format!("charges/{bad}")).await.body;
    // The repair is held at the history of the charge, after it has written it.
    let held = app
        .hold(&format!(
            "INSERT INTO history_head (organization_id, kind, subject_id, seq, chain_hash)
             VALUES ('{}', 'closing', '{bad}', 0, decode(repeat('00', 32), 'hex'))",
            app.organization
        ))
        .await;
    let repairing = {
        let (admin, body) = (admin.clone(), correction(&seen, json!({"amount": -700})));
        tokio::spawn(async move { admin.put(&format!("charges/{bad}"), body).await })
    };
    app.until_waiting(1).await;
    let running = {
        let admin = admin.clone();
        tokio::spawn(async move { start(&admin, "2024-10").await })
    };
    app.until_waiting(2).await;
    held.release().await;
    repairing.await.unwrap().expect_status(200);
    running.await.unwrap().expect_status(202);
    let closed = ended(admin, "2024-10").await;
    assert_eq!(closed["state"], "closed", "{closed}");
    let amount = format!("SELECT amount FROM confirmed_charge WHERE charge_id = '{bad}'");
    assert_eq!(app.count(&amount).await, -700);
    check_closings(&app).await;
    app.stop().await;
}

/// A step that comes to a row whose correction is under way waits for it, and copies what it became.
#[tokio::test(flavor = "multi_thread")]
async fn a_step_waits_for_the_correction_of_its_row() {
    let app = App::start().await;
    let admin = &app.admin;
    app.execute("ALTER TABLE confirmed_charge ADD CONSTRAINT no_evil CHECK (amount <> 666) NOT VALID").await;
    let bad = planted(&app, "2024-10", 666, "JPY", None).await;
    assert_eq!(close(admin, "2024-10").await["blocked_count"], 1);
    app.execute("ALTER TABLE confirmed_charge DROP CONSTRAINT no_evil").await;
    // A correction, held before its commit: what it does, by hand.
    let held = app.hold(&format!("UPDATE charge SET amount = 667, version = version + 1 WHERE id = '{bad}'")).await;
    start(admin, "2024-10").await.expect_status(202);
    app.until_waiting(1).await;
    held.commit().await;
    assert_eq!(ended(admin, "2024-10").await["state"], "closed");
    let amount = format!("SELECT amount FROM confirmed_charge WHERE charge_id = '{bad}'");
    assert_eq!(app.count(&amount).await, 667);
    check_closings(&app).await;
    app.stop().await;
}

/// A step that waits for somebody's row does not keep those who want the rows that it has locked already: they are told soon,
/// while the row that it waits for is still held.
#[tokio::test(flavor = "multi_thread")]
async fn a_step_that_waits_lets_go_of_what_it_holds() {
    let app = App::start().await;
    let admin = &app.admin;
    bulk(&app, "2024-10", 60).await;
    let mut db = app.database.connect().await;
    let ids: Vec<Uuid> = sqlx::query_scalar("SELECT id FROM charge ORDER BY id").fetch_all(&mut db).await.unwrap();
    // The last row of the first step.
    let held = app.hold(&format!("SELECT FROM charge WHERE id = '{}' FOR UPDATE", ids[59])).await;
    start(admin, "2024-10").await.expect_status(202);
    app.until_waiting(1).await;
    for id in &ids[..10] {
        correct(admin, *id, json!({"amount": 4})).await.expect_problem(409, "period_closed");
    }
    held.release().await;
    assert_eq!(ended(admin, "2024-10").await["confirmed"], 60);
    check_closings(&app).await;
    app.stop().await;
}

/// A look at a month that nobody has begun to close costs no more the larger the month is.
#[tokio::test(flavor = "multi_thread")]
async fn a_look_counts_no_more_than_it_must() {
    let app = App::start().await;
    bulk(&app, "2024-10", 99_999).await;
    assert_eq!(look(&app.admin, "2024-10").await["total"], 99_999);
    bulk(&app, "2024-10", 500).await;
    assert_eq!(look(&app.admin, "2024-10").await["total"], 100_000, "as many or more");
    app.stop().await;
}
