//! `[events]`: how changes reach those who are to be told.

use super::milliseconds;
use crate::domain::lease::Timing;
use serde::Deserialize;
use std::time::Duration;

/// `[events]`: see `config/default.toml` for each.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
#[expect(missing_docs, reason = "config/default.toml documents each of them")]
pub struct Events {
    #[serde(rename = "poll_interval_ms", deserialize_with = "milliseconds")]
    pub poll_interval: Duration,
    #[serde(rename = "heartbeat_interval_ms", deserialize_with = "milliseconds")]
    pub heartbeat_interval: Duration,
    #[serde(rename = "lease_timeout_ms", deserialize_with = "milliseconds")]
    pub lease_timeout: Duration,
    pub retention_days: u32,
}

impl Events {
    /// The rhythm of the relay's lease.
    #[must_use]
    pub fn timing(&self) -> Timing {
        Timing::new(self.heartbeat_interval, self.lease_timeout, Duration::ZERO)
    }

    /// How old an event has to be to be deleted.
    #[must_use]
    pub fn retention(&self) -> Duration {
        Duration::from_hours(24) * self.retention_days
    }

    /// Whether the values go together.
    pub(super) fn check(&self) -> Result<(), String> {
        if self.poll_interval.is_zero() {
            return Err("events.poll_interval_ms must be 1 or more".to_owned());
        }
        if self.retention_days == 0 {
            return Err("events.retention_days must be 1 or more: receivers need time to be told".to_owned());
        }
        self.timing().check().map_err(|sentence| format!("events: {sentence}"))
    }
}
