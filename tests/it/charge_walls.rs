//! What the database itself refuses of charges and closed months, past all of our code, as its superuser.

use crate::charges::charge;
use crate::closing::{bulk, close, planted};
use crate::harness::App;
use serde_json::json;
use sqlx::{AssertSqlSafe, PgConnection};
use uuid::Uuid;

async fn refused(db: &mut PgConnection, code: &str, sql: &str) {
    let done = sqlx::raw_sql(AssertSqlSafe(sql.to_owned())).execute(&mut *db).await;
    let error = done.map(|done| done.rows_affected()).expect_err(sql);
    let got = error.as_database_error().and_then(sqlx::error::DatabaseError::code).unwrap_or_default();
    assert_eq!(got, code, "{sql}: {error}");
}

#[tokio::test(flavor = "multi_thread")]
async fn the_database_refuses_what_no_closing_would_do() {
    let app = App::start().await;
    let (org, by) = (app.organization, app.admin.id);
    bulk(&app, "2024-10", 3).await;
    close(&app.admin, "2024-10").await;
    let open = Uuid::new_v4();
    app.admin.post("charges", charge(open, "2024-11-05T00:00:00Z", 9)).await.expect_status(201);
    let reversed = "(SELECT min(charge_id::text)::uuid FROM confirmed_charge)";
    let mut back = charge(Uuid::new_v4(), "2024-11-05T00:00:00Z", -1);
    let id: Uuid = sqlx::query_scalar("SELECT charge_id FROM confirmed_charge WHERE amount = 1")
        .fetch_one(&mut app.database.connect().await)
        .await
        .unwrap();
    back["reverses"] = json!(id);
    app.admin.post("charges", back).await.expect_status(201);
    let mut db = app.database.connect().await;
    let before = app.everything().await;
    let new = |period: &str, late_of: &str, amount: i64, currency: &str, reverses: &str| {
        format!(
            "INSERT INTO charge (organization_id, id, period, late_of, occurred_at, amount, currency, reverses, created_by, created_at)
             VALUES ('{org}', gen_random_uuid(), '{period}', {late_of}, now(), {amount}, '{currency}', {reverses}, '{by}', now())"
        )
    };
    let confirm = |id: &str, period: &str| {
        format!(
            "INSERT INTO confirmed_charge (organization_id, charge_id, period, occurred_at, amount, currency)
             VALUES ('{org}', {id}, '{period}', now(), 1, 'JPY')"
        )
    };
    let open_id = format!("'{open}'");
    for (code, sql) in [
        // A closed month never changes, and in an open one nothing is confirmed.
        ("55000", confirm(&open_id, "2024-10-01")),
        ("55000", confirm(&open_id, "2024-11-01")),
        ("23505", confirm(reversed, "2024-10-01")),
        ("23503", confirm("gen_random_uuid()", "2024-10-01")),
        ("23000", "UPDATE confirmed_charge SET amount = amount + 1".to_owned()),
        ("23000", "DELETE FROM confirmed_charge".to_owned()),
        ("23000", "TRUNCATE confirmed_charge CASCADE".to_owned()),
        ("23000", "UPDATE billing_total SET total = 0".to_owned()),
        ("23000", "DELETE FROM billing_total".to_owned()),
        ("23000", "TRUNCATE billing_total".to_owned()),
        ("23000", "UPDATE billing_period SET status = 'closing', closed_at = NULL".to_owned()),
        ("23000", "UPDATE billing_period SET generation = generation + 1".to_owned()),
        ("23000", "DELETE FROM billing_period".to_owned()),
        ("23505", "INSERT INTO billing_total SELECT * FROM billing_total".to_owned()),
        // What is confirmed is not corrected, and what is corrected has a new version.
        ("23000", format!("UPDATE charge SET amount = 5, version = version + 1 WHERE id = {reversed}")),
        ("23000", format!("UPDATE charge SET amount = 5 WHERE id = '{open}'")),
        ("23000", format!("UPDATE charge SET version = version + 2 WHERE id = '{open}'")),
        ("23000", format!("UPDATE charge SET created_at = now(), version = version + 1 WHERE id = '{open}'")),
        ("23000", "DELETE FROM charge".to_owned()),
        ("23000", "TRUNCATE charge CASCADE".to_owned()),
        // A charge is what the rules say.
        ("23514", new("2024-11-02", "NULL", 1, "JPY", "NULL")),
        ("23514", new("2024-11-01", "'2024-11-01'", 1, "JPY", "NULL")),
        ("23514", new("2024-11-01", "NULL", -1, "JPY", "NULL")),
        ("23514", new("2024-11-01", "NULL", 9_007_199_254_740_992, "JPY", "NULL")),
        ("23514", new("2024-11-01", "NULL", 1, "jpy", "NULL")),
        ("23503", new("2024-11-01", "NULL", -1, "JPY", "gen_random_uuid()")),
        ("23505", new("2024-11-01", "NULL", -1, "JPY", &format!("'{id}'"))),
    ] {
        refused(&mut db, code, &sql).await;
    }
    assert_eq!(app.everything().await, before);
    planted(&app, "2024-12", 1, "JPY", None).await;
    app.stop().await;
}
