//! Migrating: twice is once, with or without the right to make roles, older programs beside newer schemas.

use crate::harness::{App, Database, PATIENCE, settings};
use ringi::domain::ids::{OrganizationId, UserId};
use ringi::domain::member::MemberInput;
use ringi::pg::migrate::{self, migrate};
use ringi::pg::{APPLICATION_ROLE, NewOrganization, PgStore, PoolSettings, Pools, create_organization};
use sqlx::postgres::PgConnectOptions;
use sqlx::{AssertSqlSafe, ConnectOptions};
use uuid::Uuid;

async fn pools(options: &PgConnectOptions, role: Option<&str>) -> Pools {
    ringi::pg::connect(options, &PoolSettings::from(&settings().database), role).await.unwrap()
}

/// Everything that migrations make: relations, columns, constraints, triggers, functions, grants.
async fn schema(database: &Database) -> Vec<String> {
    let mut db = database.connect().await;
    sqlx::query_scalar(
        "SELECT concat_ws(' ', 'relation', relname, relkind, relowner::regrole, relacl)
         FROM pg_class WHERE relnamespace = 'public'::regnamespace
         UNION ALL SELECT concat_ws(' ', 'column', attrelid::regclass, attname, attacl)
         FROM pg_attribute JOIN pg_class c ON c.oid = attrelid WHERE relnamespace = 'public'::regnamespace
         UNION ALL SELECT 'constraint ' || conname || ' ' || pg_get_constraintdef(oid)
         FROM pg_constraint WHERE connamespace = 'public'::regnamespace
         UNION ALL SELECT 'trigger ' || pg_get_triggerdef(oid) FROM pg_trigger WHERE NOT tgisinternal
         UNION ALL SELECT 'function ' || pg_get_functiondef(oid) FROM pg_proc WHERE pronamespace = 'public'::regnamespace
         UNION ALL SELECT 'migration ' || m::text FROM _sqlx_migrations m
         ORDER BY 1",
    )
    .fetch_all(&mut db)
    .await
    .unwrap()
}

#[tokio::test(flavor = "multi_thread")]
async fn migrating_twice_is_the_same_as_once() {
    let database = Database::empty().await;
    let first = migrate(&database.options()).await.unwrap();
    assert_eq!((first.applied, first.roles), (first.known, true));
    let once = schema(&database).await;
    let second = migrate(&database.options()).await.unwrap();
    assert_eq!((second.applied, second.known, second.roles), (0, first.known, true));
    assert_eq!(schema(&database).await, once);
    // Grants that were lost, as from a restored dump, are given again.
    let sql = "REVOKE ALL ON ALL TABLES IN SCHEMA public FROM ringi_app; GRANT DELETE ON approval_history TO ringi_app";
    sqlx::raw_sql(sql).execute(&mut database.connect().await).await.unwrap();
    migrate(&database.options()).await.unwrap();
    assert_eq!(schema(&database).await, once);
}

#[tokio::test(flavor = "multi_thread")]
async fn migrating_two_at_once_is_the_same_as_once() {
    let database = Database::empty().await;
    let options = database.options();
    let (one, other) = tokio::join!(migrate(&options), migrate(&options));
    let (one, other) = (one.unwrap(), other.unwrap());
    assert_eq!(one.applied + other.applied, one.known);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_login_that_may_not_make_roles_migrates_and_works_all_the_same() {
    let database = Database::empty().await;
    let login = format!("plain_{}", Uuid::new_v4().simple());
    let mut admin = database.connect().await;
    let sql = format!("CREATE ROLE {login} LOGIN; ALTER DATABASE {} OWNER TO {login}", database.name);
    sqlx::raw_sql(AssertSqlSafe(sql)).execute(&mut admin).await.unwrap();

    let options = database.options().username(&login);
    let report = migrate(&options).await.unwrap();
    assert_eq!((report.applied, report.roles), (report.known, false));
    assert_eq!(migrate(&options).await.unwrap().applied, 0);
    let mut connection = options.connect().await.unwrap();
    assert_eq!(migrate::application_role(&mut connection).await.unwrap(), None);

    let pools = pools(&options, None).await;
    assert!(pools.is_ready().await);
    let store = PgStore::new(pools.write.clone(), PATIENCE);
    let input = MemberInput { display_name: "Dara".to_owned(), is_active: true, can_approve: false, is_admin: true };
    let new = NewOrganization {
        id: OrganizationId(Uuid::new_v4()),
        name: "Plain".to_owned(),
        time_zone: "UTC".to_owned(),
        admin_id: UserId(Uuid::new_v4()),
        admin: input,
    };
    create_organization(&store, &new).await.unwrap();
    // The triggers alone stand, and they do.
    let bent = sqlx::raw_sql("UPDATE organization_history SET actor_name = 'x'")
        .execute(&mut *pools.write.lend().await.unwrap())
        .await;
    assert_eq!(bent.unwrap_err().as_database_error().unwrap().code().unwrap(), "23000");

    // Made a member of the role elsewhere in the cluster, it finds that the role was given nothing here.
    let sql = format!("GRANT ringi_app TO {login}");
    sqlx::raw_sql(AssertSqlSafe(sql)).execute(&mut admin).await.unwrap();
    assert_eq!(migrate::application_role(&mut connection).await.unwrap(), None);
    // What doctor and migrate advise mends it.
    let sql = format!("REASSIGN OWNED BY {login} TO ringi_owner");
    sqlx::raw_sql(AssertSqlSafe(sql)).execute(&mut admin).await.unwrap();
    assert!(migrate(&database.options()).await.unwrap().roles);
    assert_eq!(migrate::application_role(&mut connection).await.unwrap(), Some("ringi_app"));

    pools.close();
    drop(connection);
    let sql = format!("REASSIGN OWNED BY {login} TO CURRENT_USER; DROP OWNED BY {login}; DROP ROLE {login}");
    sqlx::raw_sql(AssertSqlSafe(sql)).execute(&mut admin).await.unwrap();
}

#[tokio::test(flavor = "multi_thread")]
async fn an_older_program_beside_a_newer_schema_starts() {
    let app = App::start().await;
    app.execute(
        "INSERT INTO _sqlx_migrations (version, description, installed_on, success, checksum, execution_time)
         VALUES (99990101, 'made by a later program', now(), true, sha256('later'), 1)",
    )
    .await;
    let report = migrate(&app.database.options()).await.unwrap();
    assert_eq!(report.applied, 0);
    let pools = pools(&app.database.options(), Some(APPLICATION_ROLE)).await;
    assert!(pools.is_ready().await);
    pools.close();
    let ready = reqwest::get(format!("{}/health/ready", app.address)).await.unwrap();
    assert_eq!(ready.status(), 200);
    app.admin.create("as ever").await;
    app.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_schema_that_is_behind_is_not_ready() {
    let empty = Database::empty().await;
    let pools_of_empty = pools(&empty.options(), None).await;
    assert!(!pools_of_empty.is_ready().await);
    let mut looking = empty.connect().await;
    assert!(migrate::missing(&mut looking).await.unwrap() > 0);
    let tables: i64 = sqlx::query_scalar("SELECT count(*) FROM pg_tables WHERE schemaname = 'public'")
        .fetch_one(&mut looking)
        .await
        .unwrap();
    assert_eq!(tables, 0, "looking changes nothing");
    pools_of_empty.close();

    let app = App::start().await;
    assert!(app.pools.is_ready().await);
    app.execute("DELETE FROM _sqlx_migrations WHERE version = (SELECT max(version) FROM _sqlx_migrations)").await;
    assert!(!app.pools.is_ready().await);
    let ready = reqwest::get(format!("{}/health/ready", app.address)).await.unwrap();
    assert_eq!(ready.status(), 503);
    app.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_migration_that_was_changed_after_it_was_applied_is_refused() {
    let database = Database::new().await;
    sqlx::raw_sql("UPDATE _sqlx_migrations SET checksum = sha256('changed') WHERE version = 1")
        .execute(&mut database.connect().await)
        .await
        .unwrap();
    let error = migrate(&database.options()).await.unwrap_err();
    assert!(error.to_string().contains("migration 1"), "{error}");
}
