//! `[processing]`: leases, and what is done under them.

use super::milliseconds;
use crate::domain::lease::Timing;
use serde::Deserialize;
use std::time::Duration;

/// `[processing]`: see `config/default.toml` for each.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
#[expect(missing_docs, reason = "config/default.toml documents each of them")]
pub struct Processing {
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

    /// Whether the values go together.
    pub(super) fn check(&self) -> Result<(), String> {
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
