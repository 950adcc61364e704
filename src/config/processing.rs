//! `[processing]`: leases, and what is done under them.

use super::{Secret, milliseconds};
use crate::domain::backoff::Backoff;
use crate::domain::job::Patience;
use crate::domain::lease::Timing;
use reqwest::header::HeaderValue;
use serde::Deserialize;
use std::time::Duration;

/// `[processing]`: see `config/default.toml` for each.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
#[expect(missing_docs, reason = "config/default.toml documents each of them")]
pub struct Processing {
    pub connector_url: Secret,
    pub connector_token: Secret,
    #[serde(rename = "connect_timeout_ms", deserialize_with = "milliseconds")]
    pub connect_timeout: Duration,
    #[serde(rename = "call_timeout_ms", deserialize_with = "milliseconds")]
    pub call_timeout: Duration,
    pub answer_limit_bytes: usize,
    #[serde(rename = "job_deadline_ms", deserialize_with = "milliseconds")]
    pub job_deadline: Duration,
    pub max_attempts: u32,
    #[serde(rename = "retry_min_ms", deserialize_with = "milliseconds")]
    pub retry_min: Duration,
    #[serde(rename = "retry_max_ms", deserialize_with = "milliseconds")]
    pub retry_max: Duration,
    pub concurrency: u32,
    pub connections: u32,
    #[serde(rename = "sweep_interval_ms", deserialize_with = "milliseconds")]
    pub sweep_interval: Duration,
    #[serde(rename = "heartbeat_interval_ms", deserialize_with = "milliseconds")]
    pub heartbeat_interval: Duration,
    #[serde(rename = "lease_timeout_ms", deserialize_with = "milliseconds")]
    pub lease_timeout: Duration,
    #[serde(rename = "safety_margin_ms", deserialize_with = "milliseconds")]
    pub safety_margin: Duration,
    #[serde(rename = "save_timeout_ms", deserialize_with = "milliseconds")]
    pub save_timeout: Duration,
}

impl Processing {
    /// The rhythm of leases.
    #[must_use]
    pub fn timing(&self) -> Timing {
        Timing::new(self.heartbeat_interval, self.lease_timeout, self.safety_margin)
    }

    /// Whether there is an outside system to ask.
    #[must_use]
    pub fn is_connected(&self) -> bool {
        !self.connector_url.reveal().is_empty()
    }

    /// The outside system's address; `None` where there is none.
    ///
    /// # Errors
    /// A sentence, when it is not an address of http or https. It does not repeat the address, which may hold a secret.
    pub fn connector(&self) -> Result<Option<reqwest::Url>, String> {
        if !self.is_connected() {
            return Ok(None);
        }
        let refused = |why: &str| format!("processing.connector_url {why}: write https://erp.example/orders");
        let url: reqwest::Url =
            self.connector_url.reveal().parse().map_err(|error| refused(&format!("can't be read ({error})")))?;
        if !matches!(url.scheme(), "http" | "https") || !url.has_host() {
            return Err(refused("must be an address of http or https"));
        }
        if !url.username().is_empty() || url.password().is_some() {
            return Err("processing.connector_url must not hold a password: use processing.connector_token".to_owned());
        }
        Ok(Some(url))
    }

    /// How often and how patiently a job is tried.
    #[must_use]
    pub const fn patience(&self) -> Patience {
        let backoff = Backoff { min_pause: self.retry_min, max_pause: self.retry_max };
        Patience { max_attempts: self.max_attempts, backoff }
    }

    /// Whether the values go together.
    pub(super) fn check(&self) -> Result<(), String> {
        self.connector()?;
        if HeaderValue::from_str(self.connector_token.reveal()).is_err() {
            return Err(
                "processing.connector_token can't be sent in a header: it holds a line break, another control \
                        character, or a letter outside of ASCII. Does the file that it was read from end with a line \
                        break?"
                    .to_owned(),
            );
        }
        if self.answer_limit_bytes == 0 {
            return Err("processing.answer_limit_bytes must be 1 or more".to_owned());
        }
        for (name, value) in [
            ("connect_timeout_ms", self.connect_timeout),
            ("call_timeout_ms", self.call_timeout),
            ("retry_min_ms", self.retry_min),
            ("sweep_interval_ms", self.sweep_interval),
        ] {
            if value.is_zero() {
                return Err(format!("processing.{name} must be 1 or more"));
            }
        }
        for (name, value) in
            [("max_attempts", self.max_attempts), ("concurrency", self.concurrency), ("connections", self.connections)]
        {
            if value == 0 {
                return Err(format!("processing.{name} must be 1 or more"));
            }
        }
        if self.job_deadline <= self.call_timeout {
            return Err(format!(
                "processing.job_deadline_ms ({}) must be longer than processing.call_timeout_ms ({}): the call is part of \
                 the attempt",
                self.job_deadline.as_millis(),
                self.call_timeout.as_millis(),
            ));
        }
        self.timing().check().map_err(|sentence| format!("processing: {sentence}"))?;
        if self.save_timeout.is_zero() || self.save_timeout >= self.lease_timeout {
            return Err(format!(
                "processing.save_timeout_ms ({}) must be 1 or more and shorter than processing.lease_timeout_ms ({}): \
                 a process that freezes in a save keeps others from taking over for so long",
                self.save_timeout.as_millis(),
                self.lease_timeout.as_millis(),
            ));
        }
        Ok(())
    }
}
