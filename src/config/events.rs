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
    pub max_listeners: usize,
    pub max_listeners_per_user: usize,
    pub listener_queue: usize,
    pub catch_up: u32,
    #[serde(rename = "sign_of_life_ms", deserialize_with = "milliseconds")]
    pub sign_of_life: Duration,
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
        if self.sign_of_life.is_zero() {
            return Err("events.sign_of_life_ms must be 1 or more".to_owned());
        }
        if usize::try_from(self.catch_up).is_ok_and(|catch_up| catch_up >= self.listener_queue) {
            return Err(format!(
                "events.listener_queue ({}) must be larger than events.catch_up ({}): what somebody missed has to fit into it",
                self.listener_queue, self.catch_up
            ));
        }
        for (name, value) in [
            ("max_listeners", self.max_listeners),
            ("max_listeners_per_user", self.max_listeners_per_user),
            ("listener_queue", self.listener_queue),
        ] {
            if value == 0 {
                return Err(format!("events.{name} must be 1 or more"));
            }
        }
        self.timing().check().map_err(|sentence| format!("events: {sentence}"))
    }
}
