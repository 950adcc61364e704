//! The keys of the tables, as the database's catalog knows them.

use crate::harness::Database;
use sqlx::PgConnection;
use std::collections::BTreeSet;

async fn names(db: &mut PgConnection, sql: &'static str) -> BTreeSet<String> {
    sqlx::query_scalar::<_, String>(sql).fetch_all(db).await.unwrap().into_iter().collect()
}

const WITH_ORGANIZATION: &str = "SELECT table_name::text FROM information_schema.columns
     WHERE table_schema = 'public' AND column_name = 'organization_id'";

/// The tables and views whose rows belong to an organization.
pub async fn with_organization() -> BTreeSet<String> {
    let database = Database::new().await;
    names(&mut database.connect().await, WITH_ORGANIZATION).await
}

/// Table, key, its first column, the table that it refers to, and its first column there.
type Key = (String, String, String, Option<String>, Option<String>);

/// Every key begins with the organization: rows of two can't be mixed up, and the tables could be spread over machines
/// by it. The exceptions are the organizations themselves, and who is who, which is so before and beyond them.
#[tokio::test(flavor = "multi_thread")]
async fn every_key_begins_with_the_organization() {
    let database = Database::new().await;
    let mut db = database.connect().await;
    let others = names(
        &mut db,
        "SELECT relname::text FROM pg_class t
         WHERE relnamespace = 'public'::regnamespace AND relkind = 'r' AND NOT EXISTS
           (SELECT FROM pg_attribute WHERE attrelid = t.oid AND attname = 'organization_id' AND NOT attisdropped)",
    )
    .await;
    let expected = ["_sqlx_migrations", "organization", "user_identity"].map(str::to_owned).into();
    assert_eq!(others, expected, "only these belong to no organization");

    let keys: Vec<Key> = sqlx::query_as(
        "SELECT t.relname::text, c.conname::text, a.attname::text, r.relname::text, f.attname::text
         FROM pg_constraint c
         JOIN pg_class t ON t.oid = c.conrelid
         JOIN pg_attribute a ON a.attrelid = t.oid AND a.attnum = c.conkey[1]
         LEFT JOIN pg_class r ON r.oid = c.confrelid AND c.contype = 'f'
         LEFT JOIN pg_attribute f ON f.attrelid = r.oid AND f.attnum = c.confkey[1]
         WHERE t.relnamespace = 'public'::regnamespace AND c.contype IN ('p', 'u', 'f', 'x')
           AND t.relname NOT IN ('_sqlx_migrations', 'organization', 'user_identity')",
    )
    .fetch_all(&mut db)
    .await
    .unwrap();
    assert!(keys.len() > 10, "{keys:?}");
    for (table, key, first, target, target_first) in &keys {
        assert_eq!(first, "organization_id", "{table}.{key}");
        let of_target = if target.as_deref() == Some("organization") { "id" } else { "organization_id" };
        assert!(target.is_none() || target_first.as_deref() == Some(of_target), "{table}.{key} refers to {target:?}");
    }
    let with_primary_key: BTreeSet<_> = keys.iter().filter(|key| key.1.ends_with("_pkey")).map(|key| &key.0).collect();
    let tables = names(&mut db, "SELECT tablename::text FROM pg_tables WHERE schemaname = 'public'").await;
    assert_eq!(with_primary_key, tables.difference(&others).collect(), "a table without a primary key");

    let unique = names(
        &mut db,
        "SELECT i.indexrelid::regclass::text FROM pg_index i
         JOIN pg_class t ON t.oid = i.indrelid
         LEFT JOIN pg_attribute a ON a.attrelid = t.oid AND a.attnum = i.indkey[0]
         WHERE t.relnamespace = 'public'::regnamespace AND i.indisunique
           AND t.relname NOT IN ('_sqlx_migrations', 'organization', 'user_identity')
           AND a.attname IS DISTINCT FROM 'organization_id'",
    )
    .await;
    assert!(unique.is_empty(), "unique over organizations: {unique:?}");
}
