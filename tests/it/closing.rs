//! The closing of a month: it shows whole or not at all, whoever runs it, however often, and whatever stands in its way.

use crate::charges::{charge, correct};
use crate::harness::{Answer, App, EVENTS, PATIENCE, Person};
use reqwest::Method;
use serde_json::{Value, json};
use sqlx::AssertSqlSafe;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};
use uuid::Uuid;

/// Many good charges of a month, made by the database: `n` of 1, 2, 3, ... yen.
pub async fn bulk(app: &App, period: &str, n: u32) {
    app.execute(&format!(
        "INSERT INTO charge (organization_id, id, period, occurred_at, amount, currency, description, created_by, created_at)
         SELECT '{}', gen_random_uuid(), '{period}-01', '{period}-10T00:00:00Z'::timestamptz + n * interval '1 second', n,
                'JPY', 'bulk ' || n, '{}', now()
         FROM generate_series(1, {n}) n",
        app.organization, app.admin.id
    ))
    .await;
}

/// A charge past all of the API's checks, as older data may be.
pub async fn planted(app: &App, period: &str, amount: i64, currency: &str, reverses: Option<Uuid>) -> Uuid {
    let id = Uuid::new_v4();
    let reverses = reverses.map_or("NULL".to_owned(), |id| format!("'{id}'"));
    app.execute(&format!(
        "INSERT INTO charge (organization_id, id, period, occurred_at, amount, currency, reverses, created_by, created_at)
         VALUES ('{}', '{id}', '{period}-01', '{period}-20T00:00:00Z', {amount}, '{currency}', {reverses}, '{}', now())",
        app.organization, app.admin.id
    ))
    .await;
    id
}

pub async fn start(admin: &Person, period: &str) -> Answer {
    admin.post(&format!("closings/{period}"), json!({})).await
}

pub async fn look(admin: &Person, period: &str) -> Value {
    admin.read(&format!("closings/{period}")).await.expect_status(200).body
}

/// Waits until nobody is at it any more.
pub async fn ended(admin: &Person, period: &str) -> Value {
    let begun = Instant::now();
    loop {
        let now = look(admin, period).await;
        if now["state"] == "closed" || now["state"] == "blocked" {
            return now;
        }
        assert!(begun.elapsed() < PATIENCE, "{now}");
        tokio::time::sleep(Duration::from_millis(10)).await;
    }
}

pub async fn close(admin: &Person, period: &str) -> Value {
    start(admin, period).await.expect_status(202);
    ended(admin, period).await
}

/// The totals of a month, upcoming or closed: `JPY 6 (3)`.
pub fn totals(statements: &Value, list: &str, period: &str) -> Vec<String> {
    let months = statements[list].as_array().unwrap();
    let month = months.iter().find(|month| month["period"] == period);
    let totals = month.map(|month| month["totals"].as_array().unwrap().clone()).unwrap_or_default();
    let text = |total: &Value| {
        format!("{} {} ({})", total["currency"].as_str().unwrap(), total["total"].as_str().unwrap(), total["count"])
    };
    totals.iter().map(text).collect()
}

/// What must hold of closings, whatever happened.
pub async fn check_closings(app: &App) {
    for (rule, sql) in [
        (
            "a closed month is whole",
            "SELECT count(*) FROM charge c JOIN billing_period p USING (organization_id, period)
             LEFT JOIN confirmed_charge f ON (f.organization_id, f.charge_id) = (c.organization_id, c.id)
             WHERE p.status = 'closed' AND (f.period, f.amount, f.currency, f.occurred_at)
                   IS DISTINCT FROM (c.period, c.amount, c.currency, c.occurred_at)",
        ),
        (
            "its totals are those of its rows",
            "SELECT count(*) FROM (SELECT organization_id, period, currency, sum(amount) AS total, count(*) AS count
                                   FROM confirmed_charge GROUP BY 1, 2, 3) f
             FULL JOIN billing_total t USING (organization_id, period, currency)
             JOIN billing_period p USING (organization_id, period)
             WHERE p.status = 'closed' AND (f.total, f.count) IS DISTINCT FROM (t.total, t.count)",
        ),
        (
            "nothing is confirmed in a month that nobody closes, and no charge is nowhere",
            "SELECT (SELECT count(*) FROM confirmed_charge f WHERE NOT EXISTS
                       (SELECT FROM billing_period p WHERE (p.organization_id, p.period) = (f.organization_id, f.period)))
                  + (SELECT count(*) FROM charge WHERE period IS NULL)",
        ),
        (
            "a closed month has its row of history, and its event",
            "SELECT count(*) FROM billing_period p WHERE p.status = 'closed' AND 1 <>
               (SELECT count(*) FROM organization_history h
                JOIN @events e ON (e.organization_id, e.subject_kind, e.subject_id, e.seq)
                                     = (h.organization_id, h.kind, h.subject_id, h.seq)
                WHERE h.organization_id = p.organization_id AND h.kind = 'closing' AND h.action = 'close'
                  AND h.subject_id = to_char(p.period, 'YYYY-MM'))",
        ),
    ] {
        assert_eq!(app.count(&sql.replace("@events", EVENTS)).await, 0, "{rule}");
    }
    app.check_invariants().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_month_is_upcoming_then_closed_and_never_changes_again() {
    let app = App::start().await;
    let (admin, aiko) = (&app.admin, app.applicant().await);
    let rows: Vec<Value> = [(3, "JPY"), (2, "USD"), (9_007_199_254_740_991, "JPY"), (9_007_199_254_740_991, "JPY")]
        .iter()
        .enumerate()
        .map(|(n, (amount, currency))| {
            let mut row = charge(Uuid::new_v4(), &format!("2024-10-1{n}T03:00:00Z"), *amount);
            row["currency"] = json!(currency);
            row
        })
        .collect();
    admin.post("charges", json!(rows)).await.expect_status(201);
    admin.post("charges", charge(Uuid::new_v4(), "2024-11-02T03:00:00Z", 5)).await.expect_status(201);
    let expected = ["JPY 18014398509481985 (3)", "USD 2 (1)"];
    let before = aiko.read("statements").await.expect_status(200).body;
    assert_eq!(totals(&before, "upcoming", "2024-10"), expected);
    assert_eq!(before["months"], json!([]));
    assert_eq!(before["upcoming"][0]["period"], "2024-11", "newest first");
    aiko.read("statements/2024-10").await.expect_problem(404, "not_found");
    assert_eq!(look(admin, "2024-10").await["state"], "open");
    assert_eq!(look(admin, "2024-10").await["total"], 4);

    let closed = close(admin, "2024-10").await;
    assert_eq!((&closed["state"], &closed["total"], &closed["confirmed"]), (&json!("closed"), &json!(4), &json!(4)));
    assert_eq!((&closed["blocked"], &closed["holder"]), (&json!([]), &Value::Null));
    let after = aiko.read("statements").await.expect_status(200).body;
    assert_eq!(totals(&after, "months", "2024-10"), expected);
    assert_eq!(totals(&after, "upcoming", "2024-10"), [""; 0]);
    assert_eq!(totals(&after, "upcoming", "2024-11"), ["JPY 5 (1)"]);

    let statement = aiko.read("statements/2024-10?limit=3").await.expect_status(200).body;
    assert_eq!(statement["totals"], after["months"][0]["totals"]);
    let ids =
        |page: &Value| page["items"].as_array().unwrap().iter().map(|row| row["charge_id"].clone()).collect::<Vec<_>>();
    assert_eq!(ids(&statement), rows[..3].iter().map(|row| row["id"].clone()).collect::<Vec<_>>(), "in order of time");
    let cursor = statement["next_cursor"].as_str().unwrap();
    let rest = aiko.read(&format!("statements/2024-10?limit=3&cursor={cursor}")).await.expect_status(200).body;
    assert_eq!((ids(&rest), &rest["next_cursor"]), (vec![rows[3]["id"].clone()], &Value::Null));

    // Again, by anybody: it is closed, and nothing is done.
    let stored = app.everything().await;
    assert_eq!(start(admin, "2024-10").await.expect_status(200).body["state"], "closed");
    assert_eq!(app.everything().await, stored);

    // What comes late goes into the next open month and says so; what is confirmed is not corrected.
    let late = Uuid::new_v4();
    let told = admin.post("charges", charge(late, "2024-10-31T03:00:00Z", 7)).await.expect_status(201).body;
    assert_eq!((&told["items"][0]["period"], &told["items"][0]["late_of"]), (&json!("2024-11"), &json!("2024-10")));
    let id: Uuid = rows[0]["id"].as_str().unwrap().parse().unwrap();
    correct(admin, id, json!({"amount": 4})).await.expect_problem(409, "period_closed");
    let processed = admin.read(&format!("charges/{id}")).await.body;
    assert_eq!((&processed["processed"], &processed["version"]), (&json!(true), &json!(1)));
    let listed = admin.read("charges?processed=true&limit=200").await.body["items"].as_array().unwrap().len();
    let unlisted = admin.read("charges?processed=false&limit=200").await.body["items"].as_array().unwrap().len();
    assert_eq!((listed, unlisted), (4, 2));
    // Late charges can be corrected where they are now, and stay there.
    let moved = correct(admin, late, json!({"amount": 8})).await.expect_status(200).body;
    assert_eq!((&moved["period"], &moved["late_of"]), (&json!("2024-11"), &json!("2024-10")));

    let rows = admin.read("history?kind=closing").await.body["items"].as_array().unwrap().clone();
    let said: Vec<_> =
        rows.iter().map(|row| (row["subject_id"].as_str().unwrap(), row["action"].as_str().unwrap())).collect();
    let late = late.to_string();
    assert_eq!(said, [("2024-10", "start"), ("2024-10", "close"), (&late, "correct")]);
    assert_eq!(rows[1]["actor_name"], "Dara Admin");
    assert_eq!(rows[1]["detail"]["totals"][0], json!({"currency": "JPY", "total": "18014398509481985", "count": 3}));
    let events = format!("SELECT event_type FROM {EVENTS} e WHERE subject_kind = 'closing' ORDER BY seq");
    let events: Vec<String> =
        sqlx::query_scalar(AssertSqlSafe(events)).fetch_all(&mut app.database.connect().await).await.unwrap();
    assert_eq!(events, ["closing.start", "closing.close"]);
    check_closings(&app).await;
    app.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_closed_month_as_a_stream_is_its_pages() {
    let app = App::start().await;
    let admin = &app.admin;
    bulk(&app, "2024-10", 2_500).await;
    let odd = [("=HYPERLINK(\"http://evil\")", 1), ("two\nlines, \"quoted\"", 2)];
    for (text, amount) in odd {
        let mut row = charge(Uuid::new_v4(), "2024-10-05T00:00:00Z", amount);
        row["description"] = json!(text);
        admin.post("charges", row).await.expect_status(201);
    }
    let back = planted(&app, "2024-09", 500, "JPY", None).await;
    close(admin, "2024-09").await;
    let mut reversal = charge(Uuid::new_v4(), "2024-10-06T00:00:00Z", -500);
    reversal["reverses"] = json!(back);
    admin.post("charges", reversal).await.expect_status(201);
    close(admin, "2024-10").await;
    let get =
        |accept: &'static str| Answer::of(admin.request(Method::GET, "statements/2024-10").header("Accept", accept));
    let csv = get("text/csv").await.expect_status(200);
    assert_eq!(csv.header("content-type"), "text/csv; charset=utf-8; header=present");
    assert!(csv.header("content-disposition").contains("ringi-statement-"), "{}", csv.header("content-disposition"));
    let rows = crate::exports::parse_csv(&csv.text);
    assert_eq!(rows[0].join(","), "charge_id,occurred_at,amount,currency,description,request_id");
    assert_eq!(rows.len(), 2_504);
    let ndjson = get("application/x-ndjson").await.expect_status(200).text;
    let lines: Vec<Value> = ndjson.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    assert_eq!(lines.len(), 2_503);
    for (row, line) in rows[1..].iter().zip(&lines) {
        assert_eq!((row[0].as_str(), &row[2]), (line["charge_id"].as_str().unwrap(), &line["amount"].to_string()));
    }
    let text = |amount: &str| rows.iter().find(|row| row[2] == amount && *row[1] < *"2024-10-07").unwrap()[4].clone();
    assert_eq!(text("1"), format!("'{}", odd[0].0), "a formula is made text");
    assert_eq!(text("2"), odd[1].0);
    assert!(rows.iter().any(|row| row[2] == "-500"), "an amount is a number, also below zero");
    get("text/html").await.expect_problem(406, "not_acceptable");
    // HEAD tells what GET would: rights and existence are judged though nobody reads a row.
    let head = async |person: &Person, month: &str| {
        let request = person.request(Method::HEAD, &format!("statements/{month}")).header("Accept", "text/csv");
        Answer::of(request).await.status.as_u16()
    };
    assert_eq!([head(admin, "2024-10").await, head(admin, "2024-11").await], [200, 404]);
    assert_eq!(head(&app.outsider(), "2024-10").await, 403);
    let request = admin.request(Method::GET, "statements/2024-10?limit=3").header("Accept", "text/csv");
    Answer::of(request).await.expect_problem(400, "invalid_query");
    app.stop().await;
}

/// A reader who polls sees the month's total as upcoming, then as closed, and never a third figure.
#[tokio::test(flavor = "multi_thread")]
async fn a_reader_never_sees_half_a_month() {
    let app = App::start().await;
    bulk(&app, "2024-10", 6_000).await;
    let total = "JPY 18003000 (6000)";
    let done = Arc::new(AtomicBool::new(false));
    let reading = {
        let (aiko, done) = (app.applicant().await, Arc::clone(&done));
        tokio::spawn(async move {
            let mut seen = Vec::new();
            loop {
                // Asked before the look: the last one begins when the month is closed.
                let last = done.load(Ordering::Relaxed);
                let now = aiko.read("statements").await.expect_status(200).body;
                let state = (totals(&now, "upcoming", "2024-10"), totals(&now, "months", "2024-10"));
                if seen.last() != Some(&state) {
                    seen.push(state);
                }
                if last {
                    return seen;
                }
            }
        })
    };
    close(&app.admin, "2024-10").await;
    app.admin.read("statements").await.expect_status(200);
    done.store(true, Ordering::Relaxed);
    let seen = reading.await.unwrap();
    let (upcoming, closed) = ((vec![total.to_owned()], vec![]), (vec![], vec![total.to_owned()]));
    assert_eq!(seen, [upcoming, closed]);
    check_closings(&app).await;
    app.stop().await;
}

/// A charge written while the run starts, held open on a second connection: in this month if it came first, in the next
/// if not, and never in none. Whoever writes meanwhile does not wait until the one who holds it open has ended.
#[tokio::test(flavor = "multi_thread")]
async fn who_writes_into_a_month_while_it_is_begun_to_close_is_in_it_or_in_the_next() {
    let app = App::start().await;
    let admin = &app.admin;
    let first = Uuid::new_v4();
    // What an import does, held before its commit.
    let held = app
        .hold(&format!(
            "INSERT INTO charge (organization_id, id, period, occurred_at, amount, currency, created_by, created_at)
             SELECT '{org}', '{first}', period, '2024-10-15T00:00:00Z', 10, 'JPY', '{by}', now()
             FROM place_charges('{org}', ARRAY['2024-10-15T00:00:00Z'::timestamptz])",
            org = app.organization,
            by = admin.id
        ))
        .await;
    let starting = {
        let admin = admin.clone();
        tokio::spawn(async move { start(&admin, "2024-10").await })
    };
    app.until_waiting(1).await;
    // Behind the one who waits to begin, who lets it go first before long.
    let second = Uuid::new_v4();
    let told = admin.post("charges", charge(second, "2024-10-16T00:00:00Z", 20)).await.expect_status(201).body;
    assert_eq!(told["items"][0]["period"], "2024-10");
    held.commit().await;
    let answer = starting.await.unwrap();
    if answer.status != 202 {
        // It gave up just before.
        answer.expect_problem(503, "busy");
        start(admin, "2024-10").await.expect_status(202);
    }
    let told = admin.post("charges", charge(Uuid::new_v4(), "2024-10-16T00:00:00Z", 30)).await.expect_status(201).body;
    assert_eq!((&told["items"][0]["period"], &told["items"][0]["late_of"]), (&json!("2024-11"), &json!("2024-10")));
    ended(admin, "2024-10").await;
    let statement = admin.read("statements/2024-10").await.expect_status(200).body;
    let ids: Vec<_> = statement["items"].as_array().unwrap().iter().map(|row| row["charge_id"].clone()).collect();
    assert_eq!(ids, [json!(first), json!(second)]);
    check_closings(&app).await;
    app.stop().await;
}

/// Those who write into the month take turns for ever; the one who wants to close it gets his, within two seconds.
#[tokio::test(flavor = "multi_thread")]
async fn endless_writes_do_not_keep_a_run_from_starting() {
    let app = App::start().await;
    let done = Arc::new(AtomicBool::new(false));
    let writers: Vec<_> = (0..4)
        .map(|_| {
            let (database, org, by, done) = (app.database.options(), app.organization, app.admin.id, Arc::clone(&done));
            tokio::spawn(async move {
                use sqlx::ConnectOptions;
                let mut db = database.connect().await.unwrap();
                let mut written = 0;
                while !done.load(Ordering::Relaxed) {
                    // Each holds its fence for a while, and they overlap: there is always one inside.
                    sqlx::raw_sql(sqlx::AssertSqlSafe(format!(
                        "BEGIN;
                         INSERT INTO charge (organization_id, id, period, late_of, occurred_at, amount, currency, created_by, created_at)
                         SELECT '{org}', gen_random_uuid(), period, nullif(home, period), '2024-10-15T00:00:00Z', 1, 'JPY', '{by}', now()
                         FROM place_charges('{org}', ARRAY['2024-10-15T00:00:00Z'::timestamptz]);
                         SELECT pg_sleep(0.05);
                         COMMIT"
                    )))
                    .execute(&mut db)
                    .await
                    .unwrap();
                    written += 1;
                }
                written
            })
        })
        .collect();
    while app.count("SELECT count(*) FROM charge").await < 20 {
        tokio::task::yield_now().await;
    }
    let begun = Instant::now();
    start(&app.admin, "2024-10").await.expect_status(202);
    let after = begun.elapsed();
    done.store(true, Ordering::Relaxed);
    for writer in writers {
        assert!(writer.await.unwrap() > 0);
    }
    assert!(after < Duration::from_secs(2), "it waited {after:?}");
    ended(&app.admin, "2024-10").await;
    check_closings(&app).await;
    app.stop().await;
}

/// Two at once: one works, one is told who is at it and how far; no row twice.
#[tokio::test(flavor = "multi_thread")]
async fn the_second_operator_is_told_who_is_at_it_and_how_far() {
    let app = App::start().await;
    let admin = &app.admin;
    let chie = app.member("Chie Admin", false, true).await;
    bulk(&app, "2024-10", 500).await;
    // The last charge in the order of keys, held by somebody: the run waits for it.
    let last = "SELECT FROM charge WHERE id = (SELECT id FROM charge ORDER BY id DESC LIMIT 1) FOR UPDATE";
    let held = app.hold(last).await;
    let first = start(admin, "2024-10").await.expect_status(202).body;
    assert_eq!((&first["state"], &first["total"]), (&json!("running"), &json!(500)));
    app.until_waiting(1).await;
    let told = start(&chie, "2024-10").await.expect_status(200).body;
    assert_eq!((&told["state"], &told["total"]), (&json!("running"), &json!(500)));
    assert!(told["holder"].as_str().unwrap().contains(&std::process::id().to_string()), "{told}");
    assert!(
        told["heartbeat_at"].is_string() && told["started_at"].is_string() && told["finished_at"].is_null(),
        "{told}"
    );
    held.release().await;
    ended(admin, "2024-10").await;
    assert_eq!(app.count("SELECT count(*) FROM confirmed_charge").await, 500);

    bulk(&app, "2024-11", 3_000).await;
    let starts: Vec<_> = (0..20)
        .map(|n| {
            let who = if n % 2 == 0 { admin.clone() } else { chie.clone() };
            tokio::spawn(async move { start(&who, "2024-11").await })
        })
        .collect();
    let mut accepted = 0;
    for answer in starts {
        let answer = answer.await.unwrap();
        assert!([200, 202].contains(&answer.status.as_u16()), "{}", answer.text);
        accepted += i32::from(answer.status == 202);
    }
    assert!(accepted >= 1, "somebody works");
    ended(admin, "2024-11").await;
    let starts = "SELECT count(*) FROM organization_history WHERE kind = 'closing' AND subject_id = '2024-11' AND action = 'start'";
    assert_eq!(app.count(starts).await, 1);
    check_closings(&app).await;
    app.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn what_is_no_month_that_can_be_closed_is_told_so() {
    let app = App::start().await;
    let (admin, aiko) = (&app.admin, app.applicant().await);
    for period in ["2024-13", "2024-1", "202410", "1969-12", "2200-01", "last", "2024-10-01", "%00"] {
        for path in [format!("closings/{period}"), format!("statements/{period}")] {
            admin.read(&path).await.expect_problem(400, "invalid_path");
        }
        admin.post(&format!("closings/{period}"), json!({})).await.expect_problem(400, "invalid_path");
    }
    let present: String = sqlx::query_scalar("SELECT to_char(now() AT TIME ZONE 'Asia/Tokyo', 'YYYY-MM')")
        .fetch_one(&mut app.database.connect().await)
        .await
        .unwrap();
    let before = app.everything().await;
    for period in [present.as_str(), "2199-12"] {
        start(admin, period).await.expect_problem(409, "period_not_over");
        assert_eq!(look(admin, period).await["state"], "open");
        admin.read(&format!("statements/{period}")).await.expect_problem(404, "not_found");
    }
    start(&aiko, "2024-10").await.expect_problem(403, "forbidden");
    aiko.read("closings/2024-10").await.expect_problem(403, "forbidden");
    start(&app.outsider(), "2024-10").await.expect_problem(403, "not_a_member");
    app.outsider().read("statements").await.expect_problem(403, "not_a_member");
    admin.post("closings/2024-10", json!({"version": 1})).await.expect_problem(422, "unknown_field");
    assert_eq!(app.everything().await, before);

    // A month that never had a charge, and an earlier one that was forgotten.
    let never = look(admin, "1999-01").await;
    assert_eq!((&never["state"], &never["total"], &never["confirmed"]), (&json!("open"), &json!(0), &json!(0)));
    assert_eq!(never["warnings"], json!([]));
    planted(&app, "2024-08", 1, "JPY", None).await;
    planted(&app, "2024-09", 1, "JPY", None).await;
    let told = start(admin, "2024-10").await.expect_status(202).body;
    assert_eq!(
        (&told["warnings"][0]["code"], &told["warnings"][0]["period"]),
        (&json!("earlier_month_open"), &json!("2024-08"))
    );
    assert_eq!(ended(admin, "2024-10").await["state"], "closed");
    let empty = admin.read("statements/2024-10").await.expect_status(200).body;
    assert_eq!((&empty["totals"], &empty["items"]), (&json!([]), &json!([])));
    check_closings(&app).await;
    app.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_start_under_a_key_is_one_start() {
    let app = App::start().await;
    let admin = &app.admin;
    bulk(&app, "2024-10", 50).await;
    let first = admin.post_with_key("close", "closings/2024-10", json!({})).await.expect_status(202);
    ended(admin, "2024-10").await;
    let again = admin.post_with_key("close", "closings/2024-10", json!({})).await.expect_status(202);
    assert_eq!((again.header("idempotency-replayed"), &again.text), ("true", &first.text));
    let other = admin.post_with_key("close", "closings/2024-09", json!({})).await;
    other.expect_problem(422, "idempotency_key_reused");
    assert_eq!(app.count("SELECT count(*) FROM job_lease WHERE kind <> 'relay'").await, 0, "no lease is left behind");
    app.stop().await;
}

/// The last step compares what the proof was made for: a charge that came into the month meanwhile (by whatever way) is
/// not left out.
#[tokio::test(flavor = "multi_thread")]
async fn what_changes_during_the_proof_is_not_closed_over() {
    let app = App::start().await;
    bulk(&app, "2024-10", 40_000).await;
    let mut db = app.database.connect().await;
    start(&app.admin, "2024-10").await.expect_status(202);
    let begun = Instant::now();
    loop {
        let proving: bool = sqlx::query_scalar(
            "SELECT EXISTS (SELECT FROM pg_stat_activity WHERE datname = current_database() AND state = 'active'
                            AND pid <> pg_backend_pid() AND query LIKE '%part AS MATERIALIZED%')",
        )
        .fetch_one(&mut db)
        .await
        .unwrap();
        if proving {
            break;
        }
        assert!(begun.elapsed() < PATIENCE, "it does not prove anything");
        tokio::task::yield_now().await;
    }
    let held = app
        .hold(&format!(
            "UPDATE billing_period SET generation = generation + 1 WHERE status = 'closing';
             INSERT INTO charge (organization_id, id, period, occurred_at, amount, currency, created_by, created_at)
             SELECT '{}', '00000000-0000-0000-0000-000000000001', '2024-10-01', '2024-10-15T00:00:00Z', 7, 'EUR', '{}', now()
             FROM billing_period WHERE status = 'closing'",
            app.organization, app.admin.id
        ))
        .await;
    // At the month's row: the proof is done, and of the old generation.
    app.until_waiting(1).await;
    held.commit().await;
    let closed = ended(&app.admin, "2024-10").await;
    assert_eq!((&closed["state"], &closed["confirmed"]), (&json!("closed"), &json!(40_001)));
    let statements = app.admin.read("statements").await.body;
    assert_eq!(totals(&statements, "months", "2024-10"), ["EUR 7 (1)", "JPY 800020000 (40000)"]);
    check_closings(&app).await;
    app.stop().await;
}

/// The proof is independent of the walk: a confirmed row that somebody bent keeps the month from closing.
#[tokio::test(flavor = "multi_thread")]
async fn a_month_that_the_proof_finds_bent_is_not_closed() {
    for bend in [
        "UPDATE confirmed_charge SET amount = amount + 1 WHERE charge_id = (SELECT min(charge_id::text)::uuid FROM confirmed_charge)",
        "UPDATE confirmed_charge SET currency = 'USD' WHERE charge_id = (SELECT min(charge_id::text)::uuid FROM confirmed_charge)",
        "UPDATE charge SET period = '2024-11-01' WHERE id = (SELECT min(charge_id::text)::uuid FROM confirmed_charge)",
    ] {
        let app = App::start().await;
        bulk(&app, "2024-10", 20).await;
        let bad = planted(&app, "2024-11", 5, "JPY", None).await;
        let bad = planted(&app, "2024-10", -5, "JPY", Some(bad)).await;
        assert_eq!(close(&app.admin, "2024-10").await["state"], "blocked");
        app.execute(&format!("SET session_replication_role = replica; {bend}")).await;
        let body = json!({"charge_id": bad, "reason": "of November"});
        app.admin.post("closings/2024-10/exclude", body).await.expect_status(200);
        start(&app.admin, "2024-10").await.expect_status(202);
        // The run ends without a close: its lease is given back.
        let begun = Instant::now();
        while app.count("SELECT count(*) FROM job_lease WHERE kind <> 'relay'").await > 0 {
            assert!(begun.elapsed() < PATIENCE, "it does not end");
            tokio::time::sleep(Duration::from_millis(10)).await;
        }
        assert_ne!(look(&app.admin, "2024-10").await["state"], "closed", "{bend}");
        app.admin.read("statements/2024-10").await.expect_problem(404, "not_found");
        app.stop().await;
    }
}
