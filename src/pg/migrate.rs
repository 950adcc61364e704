//! Migrations, and the roles: who owns the tables and who may work on them.
//!
//! The owner (`ringi_owner`) and the application (`ringi_app`) are roles that can't log in. The program works as the
//! application, which owns nothing and can neither change nor delete history. Where the login may not make roles,
//! the triggers alone stand; [`Report::roles`] says so.

use super::APPLICATION_ROLE;
use sqlx::migrate::{Migrate, MigrateError, Migrator};
use sqlx::postgres::{PgConnectOptions, PgConnection};
use sqlx::{AssertSqlSafe, ConnectOptions, Connection, query_scalar};
use std::time::Duration;

/// The migrations, in the binary.
static MIGRATIONS: Migrator = Migrator {
    // An older program beside a newer schema must be allowed to start: migrations only go forward and only add.
    ignore_missing: true,
    ..sqlx::migrate!("./migrations")
};

/// How long a step of a migration waits for a lock, in milliseconds. While it waits, everybody else who wants the table
/// waits behind it: so it waits shorter than they do (`database.lock_timeout_ms`), gives way, and tries again.
const LOCK_TIMEOUT_MS: u32 = 1_000;
/// How often it tries, with a pause of a second to three between: some minutes, longer than any sane transaction.
const TRIES: usize = 60;

/// What `migrate` did.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Report {
    /// How many migrations were applied now.
    pub applied: usize,
    /// How many this program knows.
    pub known: usize,
    /// True when the program will work as the less able role.
    pub roles: bool,
    /// True when requests are left that were approved before the table made charges of them, and not looked at yet.
    pub owes_charges: bool,
}

/// Applies what is missing, and makes role and grants sure, every time: a restored dump has neither.
///
/// # Errors
/// When the database can't be reached, or a migration fails or was changed after it had been applied.
pub async fn migrate(options: &PgConnectOptions) -> Result<Report, MigrateError> {
    apply(&MIGRATIONS, options).await
}

/// [`migrate`], with these migrations: those of a program.
///
/// # Errors
/// As [`migrate`].
pub async fn apply(migrations: &Migrator, options: &PgConnectOptions) -> Result<Report, MigrateError> {
    let mut connection = options.connect().await?;
    // One migrator at a time, over roles as well, which belong to the whole cluster.
    sqlx::raw_sql("SELECT pg_advisory_lock(hashtextextended('ringi/migrate', 0))").execute(&mut connection).await?;
    let roles = make_roles(&mut connection).await?;
    let before = applied(migrations, &mut connection).await?;
    if roles {
        sqlx::raw_sql("SET ROLE ringi_owner").execute(&mut connection).await?;
    }
    sqlx::raw_sql(AssertSqlSafe(format!("SET lock_timeout = {LOCK_TIMEOUT_MS}"))).execute(&mut connection).await?;
    let mut tries = 1;
    loop {
        let done = async {
            migrations.run(&mut connection).await?;
            if roles {
                sqlx::raw_sql(GRANTS).execute(&mut connection).await?;
            }
            Ok(())
        };
        match done.await {
            Ok(()) => break,
            Err(error) if gave_way(&error) && tries < TRIES => {
                tracing::info!(%error, tries, "people are at work where a migration wants to go: it gives way, and tries again");
                tokio::time::sleep(Duration::from_millis(1_000 + fastrand::u64(..2_000))).await;
                tries += 1;
            }
            Err(error) => return Err(error),
        }
    }
    let owes_charges = query_scalar!(r#"SELECT EXISTS (SELECT FROM charge_backfill) AS "owes!""#);
    let owes_charges = owes_charges.fetch_one(&mut connection).await?;
    connection.close().await?;
    let known = migrations.iter().count();
    Ok(Report { applied: known.saturating_sub(before), known, roles, owes_charges })
}

/// How many of this program's migrations are still missing.
///
/// # Errors
/// When the database does not answer.
pub async fn missing(connection: &mut PgConnection) -> Result<usize, MigrateError> {
    Ok(MIGRATIONS.iter().count().saturating_sub(applied(&MIGRATIONS, connection).await?))
}

/// True when the schema is as new as this program, or newer.
pub(super) async fn is_current(connection: &mut PgConnection) -> Result<bool, MigrateError> {
    Ok(missing(connection).await? == 0)
}

/// The role to work as, where there is one that this login may take.
///
/// # Errors
/// When the database does not answer.
pub async fn application_role(connection: &mut PgConnection) -> Result<Option<&'static str>, sqlx::Error> {
    let may: Option<bool> = query_scalar!(
        // A member of the role in another database of the cluster may find that it was given nothing here.
        r#"SELECT pg_has_role(rolname, 'MEMBER')
                 AND (to_regclass('public.approval_request') IS NULL
                      OR has_table_privilege(rolname, to_regclass('public.approval_request'), 'UPDATE'))
               FROM pg_roles WHERE rolname = $1"#,
        APPLICATION_ROLE
    )
    .fetch_optional(connection)
    .await?
    .flatten();
    Ok(may.unwrap_or(false).then_some(APPLICATION_ROLE))
}

/// Whether a migration ended because others had the lock: nothing of it was saved.
fn gave_way(error: &MigrateError) -> bool {
    let (MigrateError::Execute(error) | MigrateError::ExecuteMigration(error, _)) = error else { return false };
    let code = error.as_database_error().and_then(|error| error.code().map(std::borrow::Cow::into_owned));
    // lock_not_available, deadlock_detected
    matches!(code.as_deref(), Some("55P03" | "40P01"))
}

async fn applied(migrations: &Migrator, connection: &mut PgConnection) -> Result<usize, MigrateError> {
    // Not the migrator's own list, which would make its table: looking changes nothing.
    let exists = query_scalar!(r#"SELECT to_regclass('public._sqlx_migrations') IS NOT NULL AS "exists!""#)
        .fetch_one(&mut *connection)
        .await?;
    if !exists {
        return Ok(0);
    }
    let done = connection.list_applied_migrations(&migrations.table_name).await?;
    Ok(migrations.iter().filter(|known| done.iter().any(|done| done.version == known.version)).count())
}

/// False where the login may not make roles, or where the tables belong to somebody who is not the owner role.
async fn make_roles(connection: &mut PgConnection) -> Result<bool, sqlx::Error> {
    let able =
        query_scalar!(r#"SELECT (rolsuper OR rolcreaterole) AS "able!" FROM pg_roles WHERE rolname = current_user"#)
            .fetch_one(&mut *connection)
            .await?;
    if able {
        sqlx::raw_sql(ROLES).execute(&mut *connection).await?;
    }
    let usable = query_scalar!(
        r#"SELECT (EXISTS (SELECT FROM pg_roles WHERE rolname = 'ringi_owner' AND pg_has_role(rolname, 'MEMBER'))
             AND has_schema_privilege('ringi_owner', 'public', 'CREATE')
             AND NOT EXISTS (SELECT FROM pg_tables WHERE schemaname = 'public' AND tablename = 'approval_request'
                             AND tableowner <> 'ringi_owner')) AS "usable!""#
    )
    .fetch_one(&mut *connection)
    .await;
    match usable {
        Ok(usable) => Ok(usable),
        // has_schema_privilege fails for a role that does not exist (undefined_object).
        Err(sqlx::Error::Database(error)) if error.code().as_deref() == Some("42704") => Ok(false),
        Err(error) => Err(error),
    }
}

/// Two databases of one cluster may be migrated at once: a role that somebody else just made is fine.
const ROLES: &str = "
DO $$
DECLARE wanted text;
BEGIN
    FOREACH wanted IN ARRAY ARRAY['ringi_owner', 'ringi_app'] LOOP
        BEGIN
            EXECUTE format('CREATE ROLE %I NOLOGIN', wanted);
        EXCEPTION WHEN duplicate_object OR unique_violation THEN
            NULL;
        END;
        IF NOT pg_has_role(current_user, wanted, 'MEMBER') THEN
            EXECUTE format('GRANT %I TO %I', wanted, current_user);
        END IF;
    END LOOP;
    IF NOT has_schema_privilege('ringi_owner', 'public', 'CREATE') THEN
        GRANT USAGE, CREATE ON SCHEMA public TO ringi_owner;
    END IF;
    IF NOT has_schema_privilege('ringi_app', 'public', 'USAGE') THEN
        GRANT USAGE ON SCHEMA public TO ringi_app;
    END IF;
EXCEPTION WHEN insufficient_privilege THEN
    RAISE NOTICE 'ringi: this login may not make the roles ringi_owner and ringi_app';
END $$";

/// What the application may do, and nothing else. One simple-protocol batch is one transaction: there is no instant
/// without rights. FOR SHARE and FOR UPDATE need the UPDATE privilege on some column.
const GRANTS: &str = "
REVOKE ALL ON ALL TABLES IN SCHEMA public FROM ringi_app;
GRANT SELECT ON ALL TABLES IN SCHEMA public TO ringi_app;
GRANT UPDATE (name) ON organization TO ringi_app;
GRANT INSERT ON organization TO ringi_app;
GRANT INSERT, UPDATE ON organization_member, approval_request, history_head TO ringi_app;
GRANT INSERT, UPDATE ON invitation TO ringi_app;
GRANT INSERT, UPDATE ON charge, billing_period TO ringi_app;
GRANT INSERT ON confirmed_charge, billing_total TO ringi_app;
GRANT INSERT, UPDATE, DELETE ON blocked_charge, charge_backfill TO ringi_app;
GRANT INSERT ON approval_version, approval_history, organization_history, outbox_event, user_identity TO ringi_app;
GRANT INSERT, UPDATE, DELETE ON idempotency_key, job_lease TO ringi_app;
GRANT INSERT, DELETE ON open_request TO ringi_app;
GRANT INSERT, UPDATE ON job, job_attempt, job_result TO ringi_app;
GRANT INSERT, UPDATE, DELETE ON webhook_endpoint, webhook_delivery TO ringi_app;
GRANT DELETE ON outbox_event TO ringi_app;
GRANT INSERT, DELETE ON event_log TO ringi_app;
GRANT INSERT, UPDATE ON event_stream TO ringi_app;
GRANT INSERT, UPDATE, DELETE ON mail_address, mail_confirmation, mail_cursor, mail_message TO ringi_app;
GRANT USAGE ON SEQUENCE lease_fence TO ringi_app;";
