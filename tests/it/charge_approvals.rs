//! The charges of approved requests: made with the approval or not at all, and later for those approved before.

use crate::closing::{check_closings, planted};
use crate::harness::{App, id_of, settings};
use crate::key_server::until;
use crate::ringi::run;
use serde_json::{Value, json};
use std::time::Duration;

async fn charges(app: &App) -> Vec<Value> {
    app.admin.read("charges?limit=200").await.expect_status(200).body["items"].as_array().unwrap().clone()
}

/// The present month by the organization's clocks, and the next one.
async fn months(app: &App) -> (String, String) {
    sqlx::query_as(
        "SELECT to_char(m, 'YYYY-MM'), to_char(m + interval '1 month', 'YYYY-MM')
         FROM date_trunc('month', now() AT TIME ZONE 'Asia/Tokyo') m",
    )
    .fetch_one(&mut app.database.connect().await)
    .await
    .unwrap()
}

#[tokio::test(flavor = "multi_thread")]
async fn an_approval_with_an_amount_is_a_charge_of_its_month() {
    let app = App::start().await;
    let (aiko, ben) = (app.applicant().await, app.approver().await);
    let (month, next) = months(&app).await;
    let taxi = aiko.submitted("Taxi").await;
    let approved = ben.approve(&taxi).await.expect_status(200).body;
    let free = json!({"title": "A day off", "description": "Rest"});
    let free = aiko.post("requests", free).await.expect_status(201).body;
    let free = aiko.act(&free, "submit", None).await.expect_status(200).body;
    ben.approve(&free).await.expect_status(200);
    let rejected = aiko.submitted("Limousine").await;
    ben.act(&rejected, "reject", Some("Take the train.")).await.expect_status(200);

    let made = charges(&app).await;
    assert_eq!(made.len(), 1, "{made:?}");
    let expected = json!({"id": made[0]["id"], "occurred_at": approved["decided_at"], "amount": 12_000, "currency": "JPY",
        "description": "Taxi", "reverses": null, "request_id": taxi["id"], "period": month, "late_of": null,
        "processed": false, "version": 1});
    assert_eq!(made[0], expected);

    // The month is being closed (which none is before it ends): it goes into the next one, and says so.
    let begun = "INSERT INTO billing_period (organization_id, period, status, started_at)
                 SELECT organization_id, period, 'closing', now() FROM charge";
    app.execute(begun).await;
    let late = aiko.submitted("Late taxi").await;
    ben.approve(&late).await.expect_status(200);
    let late = charges(&app).await.into_iter().find(|charge| charge["request_id"] == late["id"]).unwrap();
    assert_eq!((&late["period"], &late["late_of"]), (&json!(next), &json!(month)));
    app.check_invariants().await;
    app.stop().await;
}

/// A charge that can't be written takes the approval with it, and an approval that is refused leaves no charge.
#[tokio::test(flavor = "multi_thread")]
async fn approval_and_charge_are_both_or_neither() {
    let app = App::start().await;
    let (aiko, ben) = (app.applicant().await, app.approver().await);
    let taxi = aiko.submitted("Taxi").await;
    app.execute("ALTER TABLE charge ADD CONSTRAINT no_taxis CHECK (description <> 'Taxi')").await;
    let before = app.everything().await;
    ben.approve(&taxi).await.expect_problem(500, "internal");
    assert_eq!(app.everything().await, before);
    app.execute("ALTER TABLE charge DROP CONSTRAINT no_taxis").await;

    let held = app.hold(&format!("SELECT FROM approval_request WHERE id = '{}' FOR UPDATE", id_of(&taxi))).await;
    let tries: Vec<_> = (0..4)
        .map(|_| {
            let (ben, taxi) = (ben.clone(), taxi.clone());
            tokio::spawn(async move { ben.approve(&taxi).await.status.as_u16() })
        })
        .collect();
    app.until_waiting(2).await;
    held.release().await;
    let mut statuses = Vec::new();
    for one in tries {
        statuses.push(one.await.unwrap());
    }
    statuses.sort_unstable();
    assert_eq!(statuses, [200, 409, 409, 409]);
    assert_eq!(app.count("SELECT count(*) FROM charge").await, 1);
    app.check_invariants().await;
    app.stop().await;
}

/// Requests that were approved before there were charges get theirs, in short steps, and twice is the same as once.
#[tokio::test(flavor = "multi_thread")]
async fn older_approvals_get_their_charges_once() {
    let app = App::start().await;
    let (aiko, ben) = (app.applicant().await, app.approver().await);
    let mut approved = Vec::new();
    for n in 0..3 {
        let pending = aiko.submitted(&format!("Taxi {n}")).await;
        ben.approve(&pending).await.expect_status(200);
        approved.push(id_of(&pending));
    }
    let pending = aiko.submitted("Not decided").await;
    ben.act(&pending, "send-back", Some("Which one?")).await.expect_status(200);
    // As older programs left it: two lack their charge, one of a month that is closed by now.
    app.execute(&format!(
        "SET session_replication_role = replica;
         DELETE FROM charge WHERE request_id IN ('{}', '{}');
         UPDATE approval_request SET decided_at = '2024-10-31T14:59:59Z' WHERE id = '{}'",
        approved[0], approved[1], approved[0]
    ))
    .await;
    planted(&app, "2024-10", 1, "JPY", None).await;
    crate::closing::close(&app.admin, "2024-10").await;
    let (url, nobody) = (app.database.url(), uuid::Uuid::nil().to_string());
    let backfill = |arguments: &[&str]| {
        let arguments = [&["charges", "backfill"], arguments].concat();
        tokio::task::block_in_place(|| run(&arguments, &[("DATABASE_URL", &url)])).success()
    };
    assert_eq!(backfill(&["--org", &nobody]), "0 charge(s) made\n");
    assert_eq!(backfill(&[]), "2 charge(s) made\n");
    assert_eq!(backfill(&[]), "0 charge(s) made\n");
    let made = charges(&app).await;
    let of = |n: usize| made.iter().find(|charge| charge["request_id"] == json!(approved[n])).unwrap();
    assert_eq!((&of(0)["period"], &of(0)["late_of"]), (&json!("2024-11"), &json!("2024-10")));
    assert_eq!((&of(0)["description"], &of(0)["amount"]), (&json!("Taxi 0"), &json!(12_000)));
    assert_eq!(of(1)["late_of"], Value::Null);
    assert_eq!(made.len(), 4);
    check_closings(&app).await;
    app.stop().await;
}

/// The statement with which a program from before there were charges decides: it knows nothing of them.
fn decided_by_an_older_program(request: &Value, status: &str, action: &str) -> String {
    format!(
        "UPDATE approval_request SET status = '{status}', version = version + 1, updated_at = clock_timestamp(),
                decided_at = clock_timestamp(), last_action = '{action}', decision_reason = 'As always.'
         WHERE id = '{}'",
        id_of(request)
    )
}

/// During an upgrade, a program from before there were charges works beside this one.
#[tokio::test(flavor = "multi_thread")]
async fn an_older_programs_approval_is_a_charge_too() {
    let app = App::start().await;
    let aiko = app.applicant().await;
    let (taxi, other) = (aiko.submitted("Taxi").await, aiko.submitted("Bus").await);
    app.execute(&decided_by_an_older_program(&taxi, "approved", "approve")).await;
    let made = charges(&app).await;
    assert_eq!(made.len(), 1, "{made:?}");
    assert_eq!((&made[0]["request_id"], &made[0]["amount"]), (&taxi["id"], &json!(12_000)));
    app.execute(&decided_by_an_older_program(&other, "rejected", "reject")).await;
    assert_eq!(charges(&app).await.len(), 1);
    app.stop().await;
}

/// The fences of the months of now.
const PRESENT_MONTHS: &str = "SELECT pg_advisory_xact_lock(period_fence(id, month_of(id, now()))) FROM organization";

/// What `migrate` was interrupted in, a server goes on with; what was looked at is not looked at again.
#[tokio::test(flavor = "multi_thread")]
async fn what_is_left_of_older_approvals_is_made_by_whoever_comes() {
    let mut settings = settings();
    settings.closing.resume_interval = Duration::from_millis(50);
    let app = App::with(settings).await;
    let (aiko, ben) = (app.applicant().await, app.approver().await);
    for n in 0..3 {
        ben.approve(&aiko.submitted(&format!("Taxi {n}")).await).await.expect_status(200);
    }
    let lost = "SET session_replication_role = replica; DELETE FROM charge";
    let left = "INSERT INTO charge_backfill SELECT id, '00000000-0000-0000-0000-000000000000' FROM organization";
    let migrate =
        || tokio::task::block_in_place(|| run(&["migrate"], &[("DATABASE_URL", &app.database.url())])).success();
    app.execute(lost).await;
    migrate();
    assert_eq!(charges(&app).await.len(), 0, "nothing is left to be looked at, and nothing is walked");

    // Somebody else is at it: passed over, not waited for.
    let held = app.hold(&format!("{left}; SELECT FROM charge_backfill FOR UPDATE")).await;
    migrate();
    held.commit().await;
    until("a server makes them", async || charges(&app).await.len() == 3).await;
    until("and notes that", async || app.count("SELECT count(*) FROM charge_backfill").await == 0).await;

    app.execute(lost).await;
    let held = app.hold(PRESENT_MONTHS).await;
    app.execute(left).await;
    // Whoever is first waits for the month; the others have nothing to do, and wait for nothing.
    app.until_waiting(1).await;
    held.release().await;
    until("it is made", async || charges(&app).await.len() == 3).await;
    app.check_invariants().await;
    app.stop().await;
}
