//! What the database itself refuses, for the day when the program above it is wrong: asked of it directly, past all of
//! our code, as the program's own role and as the superuser.

use crate::harness::{App, id_of};
use ringi::pg::APPLICATION_ROLE;
use serde_json::Value;
use sqlx::{AssertSqlSafe, ConnectOptions, PgConnection};

const NO_PRIVILEGE: &str = "42501";
const GUARD: &str = "23000";
const FOREIGN_KEY: &str = "23503";
const UNIQUE: &str = "23505";
const CHECK: &str = "23514";

/// Runs a statement that must be refused with this SQLSTATE.
#[track_caller]
fn expect(code: &str, sql: &str, done: Result<sqlx::postgres::PgQueryResult, sqlx::Error>) {
    let error = done.map(|done| done.rows_affected()).expect_err(sql);
    let got = error.as_database_error().and_then(sqlx::error::DatabaseError::code).unwrap_or_default();
    assert_eq!(got, code, "{sql}: {error}");
}

async fn refused(db: &mut PgConnection, code: &str, sql: &str) {
    let done = sqlx::raw_sql(AssertSqlSafe(sql.to_owned())).execute(db).await;
    expect(code, sql, done);
}

async fn passes(db: &mut PgConnection, sql: &str) -> u64 {
    sqlx::raw_sql(AssertSqlSafe(sql.to_owned())).execute(db).await.expect(sql).rows_affected()
}

/// An organization in which everything happened once, and a pending request.
async fn lived_in() -> (App, Value, Value) {
    let app = App::start().await;
    let (applicant, ben) = (app.applicant().await, app.approver().await);
    let pending = applicant.submitted("pending").await;
    let approved = applicant.submitted("approved").await;
    let approved = ben.approve(&approved).await.expect_status(200).body;
    app.admin.change_member(ben.id, serde_json::json!({"display_name": "Ben B."})).await.expect_status(200);
    (app, pending, approved)
}

async fn as_application(app: &App) -> PgConnection {
    app.database.options().options([("role", APPLICATION_ROLE)]).connect().await.unwrap()
}

const APPEND_ONLY: [&str; 3] = ["approval_history", "approval_version", "organization_history"];
/// Events are moved to the log and deleted when they are old, but never changed.
const NEVER_CHANGED: [&str; 2] = ["outbox_event", "event_log"];

#[tokio::test(flavor = "multi_thread")]
async fn the_application_can_neither_change_nor_delete_what_was_written() {
    let (app, ..) = lived_in().await;
    let before = app.everything().await;
    let mut db = as_application(&app).await;
    for table in APPEND_ONLY {
        for sql in [
            format!("UPDATE {table} SET organization_id = organization_id"),
            format!("DELETE FROM {table}"),
            format!("TRUNCATE {table}"),
            format!("TRUNCATE {table} CASCADE"),
            format!("ALTER TABLE {table} DISABLE TRIGGER ALL"),
            format!("DROP TABLE {table}"),
        ] {
            refused(&mut db, NO_PRIVILEGE, &sql).await;
        }
    }
    for table in NEVER_CHANGED {
        refused(&mut db, NO_PRIVILEGE, &format!("UPDATE {table} SET organization_id = organization_id")).await;
        refused(&mut db, NO_PRIVILEGE, &format!("TRUNCATE {table}")).await;
        refused(&mut db, NO_PRIVILEGE, &format!("DROP TABLE {table}")).await;
    }
    for sql in [
        "DELETE FROM event_stream",
        "DELETE FROM approval_request",
        "DELETE FROM organization_member",
        "DELETE FROM organization",
        "DELETE FROM history_head",
        "UPDATE organization SET id = id",
        "SET session_replication_role = 'replica'",
        "CREATE TABLE mine (id int)",
        "CREATE OR REPLACE FUNCTION refuse_change() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN RETURN OLD; END $$",
        "DROP TRIGGER approval_history_append_only ON approval_history",
        "DELETE FROM _sqlx_migrations",
    ] {
        refused(&mut db, NO_PRIVILEGE, sql).await;
    }
    // The role comes with the connection, and RESET does not lead out of it.
    passes(&mut db, "RESET ROLE").await;
    let role: String = sqlx::query_scalar("SELECT current_user::text").fetch_one(&mut db).await.unwrap();
    assert_eq!(role, APPLICATION_ROLE);
    assert_eq!(app.everything().await, before);
    app.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn the_program_works_as_a_role_that_owns_nothing() {
    let (app, ..) = lived_in().await;
    let workers =
        "SELECT count(*) FROM pg_stat_activity WHERE application_name = 'ringi' AND datname = current_database()";
    assert!(app.count(workers).await > 0);
    for pool in [&app.pools.write, &app.pools.read] {
        let user: String =
            sqlx::query_scalar("SELECT current_user::text").fetch_one(&mut *pool.lend().await.unwrap()).await.unwrap();
        assert_eq!(user, APPLICATION_ROLE);
    }
    for (what, sql) in [
        ("tables", "SELECT count(*) FROM pg_class WHERE relowner = 'ringi_app'::regrole"),
        ("functions", "SELECT count(*) FROM pg_proc WHERE proowner = 'ringi_app'::regrole"),
        ("schemas", "SELECT count(*) FROM pg_namespace WHERE nspowner = 'ringi_app'::regrole"),
        ("anything", "SELECT count(*) FROM pg_shdepend WHERE refobjid = 'ringi_app'::regrole AND deptype = 'o'"),
        ("membership", "SELECT count(*) FROM pg_auth_members WHERE member = 'ringi_app'::regrole"),
        (
            "powers",
            "SELECT count(*) FROM pg_roles WHERE rolname IN ('ringi_app', 'ringi_owner')
             AND (rolsuper OR rolcreaterole OR rolcreatedb OR rolcanlogin OR rolreplication OR rolbypassrls)",
        ),
        (
            "tables of others than the owner",
            "SELECT count(*) FROM pg_class WHERE relnamespace = 'public'::regnamespace AND relowner <> 'ringi_owner'::regrole",
        ),
    ] {
        assert_eq!(app.count(sql).await, 0, "{what}");
    }
    app.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn even_the_superuser_meets_the_triggers() {
    let (app, ..) = lived_in().await;
    let before = app.everything().await;
    let mut db = app.database.connect().await;
    for table in APPEND_ONLY {
        for sql in [
            format!("UPDATE {table} SET organization_id = organization_id"),
            format!("DELETE FROM {table}"),
            format!("TRUNCATE {table}"),
        ] {
            refused(&mut db, GUARD, &sql).await;
        }
    }
    for sql in ["TRUNCATE approval_request CASCADE", "TRUNCATE organization CASCADE", "TRUNCATE history_head CASCADE"] {
        refused(&mut db, GUARD, sql).await;
    }
    assert_eq!(app.everything().await, before);
    app.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_version_grows_by_one_and_a_final_status_stays() {
    let (app, pending, approved) = lived_in().await;
    let before = app.everything().await;
    let (pending, approved) = (id_of(&pending), id_of(&approved));
    for mut db in [app.database.connect().await, as_application(&app).await] {
        for change in [
            "version = version + 2",
            "version = version - 1",
            "status = 'approved', decided_at = now()",
            "title = 'another'",
            "description = 'another'",
            "amount = 1",
            "amount = NULL, currency = NULL",
            "content_hash = sha256('another')",
            "content_version = 2",
            "decision_reason = 'because'",
            "submitted_at = now()",
            "decided_at = now()",
            "updated_at = now()",
            "last_action = 'edit'",
            "last_actor_id = gen_random_uuid()",
            "last_actor_name = 'Somebody Else'",
            "chain_hash = sha256('another')",
            "id = gen_random_uuid()",
            "organization_id = gen_random_uuid(), version = version + 1",
            "applicant_id = gen_random_uuid(), version = version + 1",
            "created_at = now(), version = version + 1",
        ] {
            let sql = format!("UPDATE approval_request SET {change} WHERE id = '{pending}'");
            refused(&mut db, GUARD, &sql).await;
        }
        for change in ["status = 'pending', version = version + 1", "version = version + 1"] {
            let sql = format!("UPDATE approval_request SET {change} WHERE id = '{approved}'");
            refused(&mut db, GUARD, &sql).await;
        }
    }
    assert_eq!(app.everything().await, before);
    app.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_backfill_that_leaves_what_was_judged_alone_passes() {
    let (app, ..) = lived_in().await;
    let mut db = app.database.connect().await;
    assert_eq!(passes(&mut db, "UPDATE approval_request SET status = status, title = title").await, 2);
    passes(&mut db, "ALTER TABLE approval_request ADD COLUMN later text").await;
    assert_eq!(passes(&mut db, "UPDATE approval_request SET later = 'backfilled'").await, 2);
    app.check_invariants().await;
    app.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_version_has_one_author_and_a_decision_its_reason() {
    let (app, pending, _) = lived_in().await;
    let before = app.everything().await;
    let id = id_of(&pending);
    // A copy of the last row of the pending request, with some columns changed.
    let row = |version: &str, action: &str, from: &str, to: &str, reason: &str| {
        format!(
            "INSERT INTO approval_history SELECT organization_id, request_id, {version}, actor_id, actor_name, {action},
               {from}, {to}, {reason}, content_hash, now(), hash_format, entry_hash
             FROM approval_history WHERE request_id = '{id}' AND version = 2"
        )
    };
    for mut db in [app.database.connect().await, as_application(&app).await] {
        refused(&mut db, UNIQUE, &row("2", "'approve'", "'pending'", "'approved'", "NULL")).await;
        for (code, sql) in [
            (CHECK, row("3", "'reject'", "'pending'", "'rejected'", "NULL")),
            (CHECK, row("3", "'send_back'", "'pending'", "'returned'", "NULL")),
            (CHECK, row("3", "'reject'", "'pending'", "'rejected'", "''")),
            (CHECK, row("3", "'reject'", "'pending'", "'rejected'", "repeat('x', 2001)")),
            (CHECK, row("3", "'abolish'", "'pending'", "'rejected'", "'x'")),
            (CHECK, row("3", "'approve'", "'pending'", "'eternal'", "NULL")),
            (CHECK, row("3", "'create'", "NULL", "'draft'", "NULL")),
            (CHECK, row("3", "'approve'", "NULL", "'approved'", "NULL")),
            (CHECK, row("0", "'approve'", "'pending'", "'approved'", "NULL")),
        ] {
            refused(&mut db, code, &sql).await;
        }
        let stranger =
            row("3", "'approve'", "'pending'", "'approved'", "NULL").replace("actor_id,", "gen_random_uuid(),");
        refused(&mut db, FOREIGN_KEY, &stranger).await;
    }
    assert_eq!(app.everything().await, before);
    app.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn values_that_nobody_may_store() {
    let (app, pending, _) = lived_in().await;
    let before = app.everything().await;
    let id = id_of(&pending);
    for mut db in [app.database.connect().await, as_application(&app).await] {
        for change in [
            "currency = NULL",
            "amount = NULL",
            "amount = -1",
            "amount = 9007199254740992",
            "currency = 'yen'",
            "title = ''",
            "title = repeat('x', 201)",
            "description = repeat('x', 10001)",
            "status = 'eternal'",
            "status = 'approved'",
            "submitted_at = NULL",
            "decision_reason = ''",
            "decided_at = 'infinity'",
            "updated_at = '2200-01-01Z'",
            "content_hash = 'short'",
            "last_action = 'abolish'",
            "content_version = 4",
        ] {
            let sql = format!("UPDATE approval_request SET version = version + 1, {change} WHERE id = '{id}'");
            refused(&mut db, CHECK, &sql).await;
        }
        refused(&mut db, CHECK, "UPDATE organization_member SET display_name = ''").await;
        refused(&mut db, CHECK, "UPDATE organization_member SET version = 0").await;
    }
    assert_eq!(app.everything().await, before);
    app.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn members_and_requests_cannot_be_deleted_by_anyone() {
    let (app, ..) = lived_in().await;
    let draft = app.admin.create("only a draft").await;
    let before = app.everything().await;
    let mut db = app.database.connect().await;
    refused(&mut db, FOREIGN_KEY, &format!("DELETE FROM approval_request WHERE id = '{}'", id_of(&draft))).await;
    refused(&mut db, FOREIGN_KEY, "DELETE FROM approval_request").await;
    refused(&mut db, GUARD, "DELETE FROM organization_member").await;
    refused(&mut db, FOREIGN_KEY, "DELETE FROM organization").await;
    refused(&mut db, FOREIGN_KEY, "DELETE FROM history_head").await;
    // With that trigger off, foreign keys hold whoever has ever acted.
    passes(&mut db, "ALTER TABLE organization_member DISABLE TRIGGER organization_member_never_deleted").await;
    refused(&mut db, FOREIGN_KEY, "DELETE FROM organization_member").await;
    passes(&mut db, "ALTER TABLE organization_member ENABLE TRIGGER organization_member_never_deleted").await;
    assert_eq!(app.everything().await, before);

    // And the trigger holds the one who never did anything.
    let quiet = app.member("Quiet", false, false).await;
    let sql = format!("DELETE FROM organization_member WHERE user_id = '{}'", quiet.id);
    refused(&mut db, GUARD, &sql).await;
    app.stop().await;
}
