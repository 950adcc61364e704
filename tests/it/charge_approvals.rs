//! The charges of approved requests: made with the approval or not at all, and later for those approved before.

use crate::closing::{check_closings, planted};
use crate::harness::{App, id_of};
use crate::ringi::run;
use serde_json::{Value, json};

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
