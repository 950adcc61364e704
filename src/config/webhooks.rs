//! `[webhooks]`: how programs are told of events.

use super::{Secret, milliseconds, secrets};
use crate::domain::backoff::Backoff;
use crate::domain::webhook::EndpointPatience;
use crate::webhooks::secret::Keys;
use ipnet::IpNet;
use serde::Deserialize;
use std::time::Duration;

/// `[webhooks]`: see `config/default.toml` for each.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
#[expect(missing_docs, reason = "config/default.toml documents each of them")]
pub struct Webhooks {
    pub secret_key: Secret,
    #[serde(deserialize_with = "secrets")]
    pub old_secret_keys: Vec<Secret>,
    #[serde(deserialize_with = "super::list")]
    pub allow_private: Vec<String>,
    #[serde(rename = "connect_timeout_ms", deserialize_with = "milliseconds")]
    pub connect_timeout: Duration,
    #[serde(rename = "timeout_ms", deserialize_with = "milliseconds")]
    pub timeout: Duration,
    #[serde(rename = "retry_min_ms", deserialize_with = "milliseconds")]
    pub retry_min: Duration,
    #[serde(rename = "retry_max_ms", deserialize_with = "milliseconds")]
    pub retry_max: Duration,
    pub give_up_after_hours: u32,
    pub endpoints_at_once: u32,
    pub subjects_at_once: u32,
    pub log_rows: u32,
    pub log_days: u32,
}

impl Webhooks {
    /// What secrets are sealed with; `None` where nothing is configured.
    ///
    /// # Errors
    /// A sentence that repeats no key.
    pub fn keys(&self) -> Result<Option<Keys>, String> {
        Keys::read(self.secret_key.reveal(), self.old_secret_keys.iter().map(Secret::reveal))
    }

    /// The private networks that may be reached.
    ///
    /// # Errors
    /// A sentence that names the one that can't be read.
    pub fn allowed(&self) -> Result<Vec<IpNet>, String> {
        let network = |text: &String| {
            let alone = || text.parse().map(|address: std::net::IpAddr| IpNet::from(address));
            text.parse().or_else(|_| alone()).map_err(|_| {
                format!("webhooks.allow_private: {text:?} must be a network such as 10.1.0.0/16, or an address")
            })
        };
        self.allow_private.iter().map(network).collect()
    }

    /// How patiently an endpoint is tried.
    #[must_use]
    pub fn patience(&self) -> EndpointPatience {
        EndpointPatience {
            backoff: Backoff { min_pause: self.retry_min, max_pause: self.retry_max },
            give_up_after: Duration::from_hours(self.give_up_after_hours.into()),
        }
    }

    /// Whether the values go together.
    pub(super) fn check(&self) -> Result<(), String> {
        self.keys()?;
        self.allowed()?;
        for (name, value) in [
            ("connect_timeout_ms", self.connect_timeout),
            ("timeout_ms", self.timeout),
            ("retry_min_ms", self.retry_min),
        ] {
            if value.is_zero() {
                return Err(format!("webhooks.{name} must be 1 or more"));
            }
        }
        for (name, value) in [
            ("endpoints_at_once", self.endpoints_at_once),
            ("subjects_at_once", self.subjects_at_once),
            ("log_rows", self.log_rows),
            ("log_days", self.log_days),
        ] {
            if value == 0 {
                return Err(format!("webhooks.{name} must be 1 or more"));
            }
        }
        if self.give_up_after_hours < 24 {
            return Err("webhooks.give_up_after_hours must be 24 or more: a receiver may be away for a day".to_owned());
        }
        if self.retry_max < self.retry_min {
            return Err("webhooks.retry_max_ms must not be shorter than webhooks.retry_min_ms".to_owned());
        }
        Ok(())
    }
}
