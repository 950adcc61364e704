//! How patiently what failed is tried again: pauses that double, and what the other side asked for.

use super::Instant;
use std::time::Duration;

/// The longest pause that an outside system can ask for.
const RETRY_AFTER_MAX: Duration = Duration::from_hours(24);

/// When something may be repeated, where the outside system said so.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum NotBefore {
    /// After so long.
    After(Duration),
    /// At this time.
    At(Instant),
}

/// Pauses between attempts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Backoff {
    /// The pause after the first failure, which doubles with each.
    pub min_pause: Duration,
    /// The longest of those pauses.
    pub max_pause: Duration,
}

impl Backoff {
    /// The pause after this many failures in a row; `jitter`, from 0 to 1, takes away up to half of it.
    #[must_use]
    pub fn pause(&self, failures: u32, jitter: f64) -> Duration {
        let doubled = self.min_pause.saturating_mul(1 << failures.saturating_sub(1).min(20));
        doubled.min(self.max_pause).mul_f64(1.0 - 0.5 * jitter.clamp(0.0, 1.0))
    }

    /// When to try again after this many failures in a row, the last at `at`: never sooner than our own pause, and not
    /// before what was asked for, up to a day.
    #[must_use]
    pub fn next_try(&self, failures: u32, jitter: f64, not_before: Option<NotBefore>, at: Instant) -> Instant {
        let later = |pause| {
            let pause = chrono::TimeDelta::from_std(pause).ok();
            pause.and_then(|pause| at.checked_add_signed(pause)).unwrap_or(at)
        };
        let own = later(self.pause(failures, jitter));
        let asked = match not_before {
            // The longest first: no number of seconds is too large to be sent.
            Some(NotBefore::After(pause)) => later(pause.min(RETRY_AFTER_MAX)),
            Some(NotBefore::At(time)) => time,
            None => own,
        };
        own.max(asked.min(later(RETRY_AFTER_MAX)))
    }
}
