//! What a server says of itself, for `ringi doctor`.

use super::migrate;
use crate::domain::Instant;
use sqlx::postgres::PgConnectOptions;
use sqlx::{ConnectOptions, query};

/// What matters of a server and its database.
#[derive(Clone, Debug)]
pub struct ServerFacts {
    /// Such as `150018`.
    pub version_number: i32,
    /// Migrations of this program that are not applied.
    pub missing_migrations: usize,
    /// The less able role, where this login may take it.
    pub role: Option<&'static str>,
    /// In milliseconds.
    pub deadlock_timeout_ms: i32,
    /// The server's limit.
    pub max_connections: i32,
    /// Letters beyond ASCII are known: `ILIKE` needs it.
    pub knows_letters: bool,
    /// Encoding of the database.
    pub encoding: String,
    /// A confirmed commit survives a crash.
    pub durable: bool,
    /// The database's clock.
    pub now: Instant,
}

/// Asks.
///
/// # Errors
/// When the database does not answer.
pub async fn server_facts(options: &PgConnectOptions) -> Result<ServerFacts, sqlx::migrate::MigrateError> {
    let mut connection = options.connect().await?;
    let row = query!(
        r#"SELECT current_setting('server_version_num')::int AS "version_number!",
                  (SELECT setting::int FROM pg_settings WHERE name = 'deadlock_timeout') AS "deadlock_timeout_ms!",
                  current_setting('max_connections')::int AS "max_connections!",
                  lower('É') = 'é' AS "knows_letters!",
                  current_setting('server_encoding') AS "encoding!",
                  current_setting('fsync') = 'on' AND current_setting('synchronous_commit') <> 'off'
                    AND current_setting('full_page_writes') = 'on' AS "durable!",
                  clock_timestamp() AS "now!""#
    )
    .fetch_one(&mut connection)
    .await?;
    Ok(ServerFacts {
        version_number: row.version_number,
        missing_migrations: migrate::missing(&mut connection).await?,
        role: migrate::application_role(&mut connection).await?,
        deadlock_timeout_ms: row.deadlock_timeout_ms,
        max_connections: row.max_connections,
        knows_letters: row.knows_letters,
        encoding: row.encoding,
        durable: row.durable,
        now: row.now,
    })
}
