//! The settings: typed, layered, checked. All of them, with units and reasons, stand in `config/default.toml`.

mod events;
mod issuers;
mod limits;
mod mail;
mod processing;
mod webhooks;

pub use events::Events;
pub use issuers::{Issuer, read as read_issuers};
pub use limits::Limits;
pub use mail::Mail;
pub use processing::Processing;
pub use webhooks::Webhooks;

use crate::tokens::SECRET_MIN_BYTES;
use config::{Config, ConfigError, Environment, File, FileFormat};
use serde::{Deserialize, Deserializer};
use std::net::{SocketAddr, ToSocketAddrs};
use std::time::Duration;

const DEFAULTS: &str = include_str!("../config/default.toml");

/// A value that must not be seen: it has no way to be printed.
#[derive(Clone, Default, Deserialize)]
#[serde(transparent)]
pub struct Secret(String);

impl Secret {
    /// Hides a value.
    #[must_use]
    pub const fn new(value: String) -> Self {
        Self(value)
    }

    /// The value, for the one who uses it.
    #[must_use]
    pub fn reveal(&self) -> &str {
        &self.0
    }
}

impl std::fmt::Debug for Secret {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(if self.0.is_empty() { "unset" } else { "set" })
    }
}

/// All settings.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Settings {
    /// `[database]`
    pub database: Database,
    /// `[http]`
    pub http: Http,
    /// `[limits]`
    pub limits: Limits,
    /// `[auth]`
    pub auth: Auth,
    /// `[processing]`
    pub processing: Processing,
    /// `[webhooks]`
    pub webhooks: Webhooks,
    /// `[events]`
    pub events: Events,
    /// `[mail]`
    pub mail: Mail,
    /// `[page]`
    pub page: Page,
    /// `[closing]`
    pub closing: Closing,
    /// `[retention]`
    pub retention: Retention,
    /// `[log]`
    pub log: Log,
}

/// `[database]`: see `config/default.toml` for each.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
#[expect(missing_docs, reason = "config/default.toml documents each of them")]
pub struct Database {
    pub url: Secret,
    pub max_connections: u32,
    pub read_connections: u32,
    pub max_queued_writes: u32,
    #[serde(rename = "queue_timeout_ms", deserialize_with = "milliseconds")]
    pub queue_timeout: Duration,
    #[serde(rename = "lock_timeout_ms", deserialize_with = "milliseconds")]
    pub lock_timeout: Duration,
    #[serde(rename = "statement_timeout_ms", deserialize_with = "milliseconds")]
    pub statement_timeout: Duration,
    #[serde(rename = "idle_in_transaction_timeout_ms", deserialize_with = "milliseconds")]
    pub idle_in_transaction_timeout: Duration,
    #[serde(rename = "acquire_timeout_ms", deserialize_with = "milliseconds")]
    pub acquire_timeout: Duration,
    pub embedded_dir: String,
    pub embedded_bin_dir: String,
    pub embedded_user: String,
    pub embedded_durable: bool,
}

/// `[http]`: see `config/default.toml` for each.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
#[expect(missing_docs, reason = "config/default.toml documents each of them")]
pub struct Http {
    pub listen: String,
    #[serde(deserialize_with = "list")]
    pub allowed_origins: Vec<String>,
    pub workers: usize,
    pub body_limit_bytes: usize,
    #[serde(rename = "body_timeout_ms", deserialize_with = "milliseconds")]
    pub body_timeout: Duration,
    #[serde(rename = "head_timeout_ms", deserialize_with = "milliseconds")]
    pub head_timeout: Duration,
    #[serde(rename = "keep_alive_ms", deserialize_with = "milliseconds")]
    pub keep_alive: Duration,
    #[serde(rename = "unread_timeout_ms", deserialize_with = "milliseconds")]
    pub unread_timeout: Duration,
    #[serde(rename = "answer_timeout_ms", deserialize_with = "milliseconds")]
    pub answer_timeout: Duration,
    pub max_connections: usize,
    #[serde(rename = "drain_ms", deserialize_with = "milliseconds")]
    pub drain: Duration,
    #[serde(rename = "shutdown_grace_ms", deserialize_with = "milliseconds")]
    pub shutdown_grace: Duration,
}

/// `[auth]`: see `config/default.toml` for each.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
#[expect(missing_docs, reason = "config/default.toml documents each of them")]
pub struct Auth {
    pub hs256_secret: Secret,
    #[serde(rename = "leeway_s", deserialize_with = "seconds")]
    pub leeway: Duration,
    #[serde(rename = "max_token_lifetime_s", deserialize_with = "seconds")]
    pub max_token_lifetime: Duration,
    #[serde(deserialize_with = "issuers::list")]
    pub issuers: Vec<Issuer>,
    #[serde(rename = "jwks_refresh_s", deserialize_with = "seconds")]
    pub jwks_refresh: Duration,
    #[serde(rename = "jwks_cooldown_s", deserialize_with = "seconds")]
    pub jwks_cooldown: Duration,
    #[serde(rename = "jwks_connect_timeout_ms", deserialize_with = "milliseconds")]
    pub jwks_connect_timeout: Duration,
    #[serde(rename = "jwks_timeout_ms", deserialize_with = "milliseconds")]
    pub jwks_timeout: Duration,
}

/// `[page]`: see `config/default.toml` for each.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
#[expect(missing_docs, reason = "config/default.toml documents each of them")]
pub struct Page {
    pub issuer: String,
    pub client_id: String,
    pub scope: String,
    pub resource: String,
    #[serde(deserialize_with = "list")]
    pub origins: Vec<String>,
}

/// `[closing]`: see `config/default.toml` for each.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
#[expect(missing_docs, reason = "config/default.toml documents each of them")]
pub struct Closing {
    #[serde(rename = "chunk_target_ms", deserialize_with = "milliseconds")]
    pub chunk_target: Duration,
    pub chunk_max_rows: u32,
    #[serde(rename = "resume_interval_ms", deserialize_with = "milliseconds")]
    pub resume_interval: Duration,
}

/// `[retention]`: see `config/default.toml` for each.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
#[expect(missing_docs, reason = "config/default.toml documents each of them")]
pub struct Retention {
    #[serde(rename = "idempotency_keys_h", deserialize_with = "hours")]
    pub idempotency_keys: Duration,
    #[serde(rename = "sweep_interval_ms", deserialize_with = "milliseconds")]
    pub sweep_interval: Duration,
}

/// `[log]`: see `config/default.toml` for each.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
#[expect(missing_docs, reason = "config/default.toml documents each of them")]
pub struct Log {
    pub format: LogFormat,
    pub filter: String,
}

/// How log lines look.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum LogFormat {
    /// Pretty on a terminal, else JSON.
    Auto,
    /// One object a line.
    Json,
    /// For people.
    Pretty,
}

/// Why the settings can't be used. The sentence says what to do.
#[derive(Debug, thiserror::Error)]
pub enum SettingsError {
    /// A value is missing, of the wrong type, or of no known name.
    #[error("settings: {0} (all settings, with units, are in config/default.toml)")]
    Unreadable(#[from] ConfigError),
    /// Values that do not go together.
    #[error("settings: {0}")]
    Refused(String),
}

impl Settings {
    /// Reads the defaults, the file named by `RINGI_CONFIG`, and the environment.
    ///
    /// # Errors
    /// [`SettingsError`].
    pub fn load() -> Result<Self, SettingsError> {
        let mut builder = Config::builder().add_source(File::from_str(DEFAULTS, FileFormat::Toml));
        let non_empty = |name: &str| std::env::var(name).ok().filter(|value| !value.is_empty());
        if let Some(file) = non_empty("RINGI_CONFIG") {
            builder = builder.add_source(File::new(&file, FileFormat::Toml));
        }
        builder = builder.add_source(
            // Values stay text until their type is known: a secret of digits must not become a number.
            Environment::with_prefix("RINGI").prefix_separator("__").separator("__").ignore_empty(true),
        );
        builder = builder.set_override_option("database.url", non_empty("DATABASE_URL"))?;
        let mut settings: Self = builder.build()?.try_deserialize()?;
        if let Some(port) = non_empty("PORT") {
            let port: u16 =
                port.parse().map_err(|_| SettingsError::Refused("PORT must be a number from 0 to 65535".to_owned()))?;
            let host = settings.http.listen.rsplit_once(':').map_or("127.0.0.1", |(host, _)| host);
            settings.http.listen = format!("{host}:{port}");
        }
        settings.check()?;
        Ok(settings)
    }

    /// The defaults, whatever the environment says.
    ///
    /// # Panics
    /// Never: a test reads them.
    #[must_use]
    #[expect(clippy::expect_used, reason = "the file is part of the binary, and a test reads it")]
    pub fn defaults() -> Self {
        Config::builder()
            .add_source(File::from_str(DEFAULTS, FileFormat::Toml))
            .build()
            .and_then(Config::try_deserialize)
            .expect("config/default.toml is complete")
    }

    fn check(&self) -> Result<(), SettingsError> {
        let refuse = |sentence: String| Err(SettingsError::Refused(sentence));
        let database = &self.database;
        if database.max_connections == 0 || database.read_connections == 0 {
            return refuse("database.max_connections and database.read_connections must be 1 or more".to_owned());
        }
        if database.statement_timeout <= database.lock_timeout {
            return refuse(format!(
                "database.statement_timeout_ms ({}) must be longer than database.lock_timeout_ms ({}): it includes that wait",
                database.statement_timeout.as_millis(),
                database.lock_timeout.as_millis()
            ));
        }
        for (name, value) in [
            ("lock_timeout_ms", database.lock_timeout),
            ("idle_in_transaction_timeout_ms", database.idle_in_transaction_timeout),
            ("acquire_timeout_ms", database.acquire_timeout),
            ("queue_timeout_ms", database.queue_timeout),
        ] {
            if value.is_zero() {
                return refuse(format!(
                    "database.{name} must be 1 or more: without a limit a call could wait for ever"
                ));
            }
        }
        if self.auth.leeway > Duration::from_secs(30) {
            return refuse("auth.leeway_s must be at most 30: mend the clocks instead".to_owned());
        }
        let secret = self.auth.hs256_secret.reveal().len();
        if secret > 0 && secret < SECRET_MIN_BYTES {
            return refuse(format!(
                "auth.hs256_secret has {secret} bytes: it needs {SECRET_MIN_BYTES} or more; make one with `openssl rand -hex 32`"
            ));
        }
        if self.auth.jwks_refresh < Duration::from_secs(10) || self.auth.jwks_cooldown.is_zero() {
            return refuse(
                "auth.jwks_refresh_s must be 10 or more and auth.jwks_cooldown_s 1 or more: providers are not to be flooded"
                    .to_owned(),
            );
        }
        if self.auth.jwks_timeout.is_zero() || self.auth.jwks_connect_timeout.is_zero() {
            return refuse(
                "auth.jwks_timeout_ms and auth.jwks_connect_timeout_ms must be 1 or more: without a limit sign-in could wait for ever"
                    .to_owned(),
            );
        }
        read_issuers(&self.auth.issuers).map_err(SettingsError::Refused)?;
        self.limits.check().map_err(SettingsError::Refused)?;
        let http = &self.http;
        if http.unread_timeout.is_zero() || http.answer_timeout.is_zero() || http.max_connections == 0 {
            return refuse(
                "http.unread_timeout_ms, http.answer_timeout_ms and http.max_connections must be 1 or more: without a limit clients could take all memory"
                    .to_owned(),
            );
        }
        self.processing.check().map_err(SettingsError::Refused)?;
        self.webhooks.check().map_err(SettingsError::Refused)?;
        self.events.check().map_err(SettingsError::Refused)?;
        self.mail.check().map_err(SettingsError::Refused)?;
        let closing = &self.closing;
        if closing.chunk_target.is_zero() || closing.chunk_max_rows == 0 || closing.resume_interval.is_zero() {
            return refuse(
                "closing.chunk_target_ms, closing.chunk_max_rows and closing.resume_interval_ms must be 1 or more"
                    .to_owned(),
            );
        }
        let retention = &self.retention;
        if retention.idempotency_keys < Duration::from_hours(24) || retention.sweep_interval.is_zero() {
            return refuse(
                "retention.idempotency_keys_h must be 24 or more, which clients rely on, and retention.sweep_interval_ms 1 or more"
                    .to_owned(),
            );
        }
        let page = &self.page;
        if !page.issuer.is_empty() && !self.auth.issuers.iter().any(|issuer| issuer.issuer == page.issuer) {
            return refuse(format!(
                "page.issuer: {:?} must be one of auth.issuers, exactly: the server would refuse its tokens",
                page.issuer
            ));
        }
        if page.issuer.is_empty() != page.client_id.is_empty() {
            return refuse("page.issuer and page.client_id belong together: give both or neither".to_owned());
        }
        let lists = [("http.allowed_origins", &self.http.allowed_origins), ("page.origins", &page.origins)];
        for (name, origin) in lists.iter().flat_map(|(name, list)| list.iter().map(move |origin| (name, origin))) {
            // What stands in the page's policy must not be able to say more than an origin.
            let exact = (origin.starts_with("http://") || origin.starts_with("https://"))
                && origin.matches('/').count() == 2
                && !origin.contains(['*', ';', ',', ' ', '\'']);
            if !exact {
                return refuse(format!("{name}: {origin:?} must be an exact origin, such as https://ringi.example"));
            }
        }
        self.listen_address()?;
        Ok(())
    }

    /// The address to listen on.
    ///
    /// # Errors
    /// When it is not an address with a port.
    pub fn listen_address(&self) -> Result<SocketAddr, SettingsError> {
        let listen = &self.http.listen;
        listen.to_socket_addrs().ok().and_then(|mut found| found.next()).ok_or_else(|| {
            SettingsError::Refused(format!(
                "http.listen: {listen:?} must be an address and a port, such as 127.0.0.1:8080"
            ))
        })
    }
}

fn milliseconds<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Duration, D::Error> {
    u32::deserialize(deserializer).map(|n| Duration::from_millis(n.into()))
}

fn hours<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Duration, D::Error> {
    u32::deserialize(deserializer).map(|n| Duration::from_secs(u64::from(n) * 3_600))
}

fn seconds<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Duration, D::Error> {
    u32::deserialize(deserializer).map(|n| Duration::from_secs(n.into()))
}

/// A list in a file; in the environment, values separated by commas.
fn list<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Vec<String>, D::Error> {
    #[derive(Deserialize)]
    #[serde(untagged)]
    enum ListOrText {
        List(Vec<String>),
        Text(String),
    }
    Ok(match ListOrText::deserialize(deserializer)? {
        ListOrText::List(list) => list,
        ListOrText::Text(text) => {
            text.split(',').map(str::trim).filter(|part| !part.is_empty()).map(str::to_owned).collect()
        }
    })
}

/// The same, of values that must not be seen.
fn secrets<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Vec<Secret>, D::Error> {
    Ok(list(deserializer)?.into_iter().map(Secret::new).collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_defaults_are_complete_and_go_together() {
        Settings::defaults().check().expect("the defaults go together");
    }

    #[test]
    fn risky_combinations_are_refused_with_a_sentence() {
        let refused = |change: fn(&mut Settings)| {
            let mut settings = Settings::defaults();
            change(&mut settings);
            settings.check().expect_err("must be refused").to_string()
        };
        assert!(refused(|s| s.database.statement_timeout = s.database.lock_timeout).contains("includes that wait"));
        assert!(refused(|s| s.database.max_connections = 0).contains("1 or more"));
        assert!(refused(|s| s.database.lock_timeout = Duration::ZERO).contains("for ever"));
        assert!(refused(|s| s.auth.hs256_secret = Secret("short".into())).contains("openssl rand"));
        assert!(refused(|s| s.auth.leeway = Duration::from_secs(31)).contains("at most 30"));
        assert!(refused(|s| s.http.allowed_origins = vec!["*".into()]).contains("exact origin"));
        assert!(
            refused(|s| s.processing.lease_timeout = Duration::from_secs(90)).contains("processing: lease_timeout_ms")
        );
        assert!(refused(|s| s.processing.connector_url = Secret("ftp://erp".into())).contains("http or https"));
        assert!(refused(|s| s.processing.connector_url = Secret("erp".into())).contains("can't be read"));
        assert!(refused(|s| s.webhooks.secret_key = Secret("s3cret".into())).contains("openssl rand -hex 32"));
        assert!(refused(|s| s.webhooks.allow_private = vec!["10.0.0.0/33".into()]).contains("10.1.0.0/16"));
        assert!(refused(|s| s.webhooks.give_up_after_hours = 23).contains("24 or more"));
        assert!(refused(|s| s.processing.connector_url = Secret("http://a:b@erp".into())).contains("connector_token"));
        assert!(refused(|s| s.processing.call_timeout = Duration::from_mins(2)).contains("part of the attempt"));
        assert!(refused(|s| s.processing.connector_token = Secret("token\n".into())).contains("line break"));
        assert!(refused(|s| s.processing.answer_limit_bytes = 0).contains("answer_limit_bytes must be 1 or more"));
        assert!(refused(|s| s.processing.concurrency = 0).contains("concurrency"));
        assert!(refused(|s| s.processing.save_timeout = Duration::from_mins(2)).contains("save_timeout_ms (120000)"));
        assert!(refused(|s| s.events.lease_timeout = Duration::from_secs(5)).contains("events: lease_timeout_ms"));
        assert!(refused(|s| s.events.poll_interval = Duration::ZERO).contains("poll_interval_ms must be 1 or more"));
        assert!(refused(|s| s.events.listener_queue = 1000).contains("events.listener_queue (1000)"));
        assert!(refused(|s| s.events.max_listeners = 0).contains("events.max_listeners must be 1 or more"));
        assert!(refused(|s| s.events.retention_days = 0).contains("retention_days must be 1 or more"));
        assert!(refused(|s| s.page.origins = vec!["https://a; script-src *".into()]).contains("exact origin"));
        assert!(refused(|s| s.page.issuer = "https://id.example".into()).contains("one of auth.issuers"));
        assert!(refused(|s| s.page.client_id = "ringi".into()).contains("both or neither"));
        assert!(refused(|s| s.mail.smtp_url = Secret("ftp://mail".into())).contains("smtps://"));
        assert!(refused(|s| s.mail.longest_wait = Duration::ZERO).contains("includes that wait"));
        assert!(refused(|s| s.mail.lanes = 0).contains("mail.lanes"));
        assert!(refused(|s| s.retention.idempotency_keys = Duration::from_hours(23)).contains("24 or more"));
        assert!(refused(|s| s.http.unread_timeout = Duration::ZERO).contains("all memory"));
        assert!(refused(|s| s.limits.user_burst = 0).contains("limits.user_burst"));
        assert!(refused(|s| s.limits.trusted_proxies = vec!["10.0.0.0/33".into()]).contains("10.0.0.0/8"));
        assert!(refused(|s| s.closing.chunk_max_rows = 0).contains("closing.chunk_max_rows"));
        assert!(refused(|s| s.http.listen = "nowhere".into()).contains("127.0.0.1:8080"));
    }

    #[test]
    fn secrets_are_not_printed() {
        let mut settings = Settings::defaults();
        settings.auth.hs256_secret = Secret("0123456789abcdef0123456789abcdef".into());
        assert!(!format!("{settings:?}").contains("0123456789"));
    }
}
