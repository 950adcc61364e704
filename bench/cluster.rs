//! A PostgreSQL of the bench's own, durable, with its data kept between runs; each measurement gets a fresh copy.

use ringi::pg::embedded::{self, EmbeddedConfig, EmbeddedPg};
use ringi::pg::migrate;
use sqlx::postgres::PgConnectOptions;
use sqlx::{AssertSqlSafe, ConnectOptions, PgConnection};
use std::hash::{DefaultHasher, Hash, Hasher};
use std::path::{Path, PathBuf};
use std::time::Duration;

/// The session of the product, for programs that stand in its place.
pub const SESSION: &str = "-c role=ringi_app -c lock_timeout=3000 -c statement_timeout=10000 \
    -c idle_in_transaction_session_timeout=10000 -c client_connection_check_interval=500 -c timezone=UTC";

pub struct Cluster {
    pub postgres: EmbeddedPg,
    /// Where results, logs and the peers are.
    pub dir: PathBuf,
    version: i32,
    /// Of the migrations: data of another schema is made anew.
    schema: String,
}

impl Cluster {
    pub async fn start(dir: &Path, durable: bool) -> Result<Self, String> {
        std::fs::create_dir_all(dir).map_err(|error| error.to_string())?;
        let mut config = EmbeddedConfig::new(dir.join("postgres"));
        config.supervisor = Some(env!("CARGO_BIN_EXE_ringi").into());
        config.durable = durable;
        config.max_connections = 200;
        config.start_timeout = Duration::from_secs(120);
        // No checkpoint in the middle of a measurement: there is one before each.
        config.extra_settings = [("max_wal_size", "4GB"), ("checkpoint_timeout", "15min")]
            .map(|(name, value)| (name.to_owned(), value.to_owned()))
            .to_vec();
        let postgres = embedded::start(config).await.map_err(|error| error.to_string())?;
        let mut cluster = Self { postgres, dir: dir.to_owned(), version: 0, schema: schema()? };
        let version = cluster.show("postgres", "SELECT current_setting('server_version_num')").await?;
        cluster.version = version.parse().unwrap_or(0);
        Ok(cluster)
    }

    /// As the superuser.
    pub fn options(&self, database: &str) -> PgConnectOptions {
        self.postgres.connect_options(database)
    }

    pub async fn connect(&self, database: &str) -> Result<PgConnection, String> {
        self.options(database).connect().await.map_err(|error| format!("{database}: {error}"))
    }

    pub async fn execute(&self, database: &str, sql: &str) -> Result<(), String> {
        let mut connection = self.connect(database).await?;
        let done = sqlx::raw_sql(AssertSqlSafe(sql.to_owned())).execute(&mut connection).await;
        done.map(drop).map_err(|error| format!("{sql}: {error}"))
    }

    /// One value as text.
    pub async fn show(&self, database: &str, sql: &str) -> Result<String, String> {
        let mut connection = self.connect(database).await?;
        let sql = format!("SELECT ({sql})::text");
        let value = sqlx::query_scalar(AssertSqlSafe(sql.clone())).fetch_one(&mut connection).await;
        value.map_err(|error| format!("{sql}: {error}"))
    }

    /// The settings that decide about speed.
    pub async fn settings(&self) -> Result<String, String> {
        let names =
            ["server_version", "fsync", "synchronous_commit", "shared_buffers", "max_connections", "max_wal_size"];
        let mut all = Vec::new();
        for name in names {
            let value = self.show("postgres", &format!("SELECT current_setting('{name}')")).await?;
            all.push(format!("{name} {value}"));
        }
        Ok(all.join(", "))
    }

    /// The database of this name and schema: `Ok(None)` when it is there already, else its options, empty and migrated.
    /// It counts as there only after [`Self::finish`].
    pub async fn begin(&self, name: &str) -> Result<Option<PgConnectOptions>, String> {
        let exists = format!("SELECT EXISTS (SELECT FROM pg_database WHERE datname = '{}')", self.name(name));
        if self.show("postgres", &exists).await? == "true" {
            return Ok(None);
        }
        // Those of an older schema, and one half made.
        let stale =
            format!("SELECT coalesce(string_agg(datname, ' '), '') FROM pg_database WHERE datname LIKE '{name}\\_%'");
        for database in self.show("postgres", &stale).await?.split_whitespace() {
            self.drop_database(database).await?;
        }
        let unfinished = format!("{name}_unfinished");
        self.postgres.ensure_database(&unfinished).await.map_err(|error| error.to_string())?;
        let options = self.options(&unfinished);
        migrate::migrate(&options).await.map_err(|error| error.to_string())?;
        Ok(Some(options))
    }

    pub async fn finish(&self, name: &str) -> Result<(), String> {
        self.execute(&format!("{name}_unfinished"), "VACUUM ANALYZE").await?;
        self.execute("postgres", &format!("ALTER DATABASE {name}_unfinished RENAME TO {}", self.name(name))).await
    }

    pub fn name(&self, name: &str) -> String {
        format!("{name}_{}", self.schema)
    }

    async fn drop_database(&self, database: &str) -> Result<(), String> {
        self.execute("postgres", &format!("DROP DATABASE IF EXISTS {database} WITH (FORCE)")).await
    }

    /// A fresh copy of a finished database, under a fixed name, read once and with nothing left to write back.
    pub async fn copy(&self, of: &str, to: &str) -> Result<(), String> {
        self.drop_database(to).await?;
        let strategy = if self.version >= 150_000 { " STRATEGY file_copy" } else { "" };
        self.execute("postgres", &format!("CREATE DATABASE {to} TEMPLATE {}{strategy}", self.name(of))).await?;
        for table in ["organization_member", "approval_request", "approval_history", "event_log"] {
            self.show(to, &format!("SELECT count(*) FROM {table}")).await?;
        }
        self.execute("postgres", "CHECKPOINT").await
    }

    pub async fn drop_copy(&self, name: &str) -> Result<(), String> {
        self.drop_database(name).await
    }

    pub async fn stop(self) {
        drop(self.postgres.leave_and_wait(Duration::from_secs(30)).await);
    }
}

/// Names the schema by its migrations.
fn schema() -> Result<String, String> {
    let dir = Path::new(env!("CARGO_MANIFEST_DIR")).join("migrations");
    let files = std::fs::read_dir(&dir).map_err(|error| format!("{}: {error}", dir.display()))?;
    let mut paths: Vec<_> = files.flatten().map(|file| file.path()).collect();
    paths.sort();
    let mut hasher = DefaultHasher::new();
    for path in paths {
        std::fs::read(path).map_err(|error| error.to_string())?.hash(&mut hasher);
    }
    Ok(format!("{:016x}", hasher.finish()))
}
