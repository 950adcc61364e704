//! The right to do slow work, as a row with a heartbeat: who holds it, and when another may take it.

use super::Instant;
use super::ids::OrganizationId;
use super::request::names;
use std::time::Duration;
use uuid::Uuid;

names! {
    /// What is worked on under a lease.
    TargetKind {
        /// A request's processing; the target's id is the request's.
        Job = "job",
        /// A month's closing; the target's id is the period, such as `2026-05`.
        Closing = "closing",
        /// The relay of events, which serves all organizations; the target's id is its name.
        Relay = "relay",
    }
}

/// What a lease is on.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Target {
    /// Whose work it is; the nil UUID where it serves all organizations.
    pub organization_id: OrganizationId,
    /// Of which kind.
    pub kind: TargetKind,
    /// Which one of its kind: 1 to 100 characters.
    pub id: String,
}

impl Target {
    /// Work of one organization.
    #[must_use]
    pub fn of(organization_id: OrganizationId, kind: TargetKind, id: impl std::fmt::Display) -> Self {
        Self { organization_id, kind, id: id.to_string() }
    }

    /// Work that serves all organizations.
    #[must_use]
    pub fn of_all(kind: TargetKind, id: impl std::fmt::Display) -> Self {
        Self::of(OrganizationId(Uuid::nil()), kind, id)
    }
}

impl std::fmt::Display for Target {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{}/{}/{}", self.organization_id, self.kind.as_str(), self.id)
    }
}

/// Numbers the holders of all leases. It only grows, also across release and new acquisition: whoever has seen a newer
/// one can refuse an older.
pub type Fence = i64;

/// After so many takeovers in a row the work itself is suspected of killing whoever does it.
pub const MAX_TAKEOVERS: i32 = 3;

/// What proves that a lease is one's own.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Ticket {
    /// What it is on.
    pub target: Target,
    /// Fresh at every acquisition, and told to its holder alone.
    pub token: Uuid,
}

/// A lease as its row says it, for whoever looks.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Standing {
    /// Host, process and a nonce. For people only.
    pub holder: String,
    /// The holder's number.
    pub fence: Fence,
    /// How often in a row it was taken from a silent holder.
    pub takeovers: i32,
    /// Since when the holder has it.
    pub acquired_at: Instant,
    /// The last heartbeat.
    pub heartbeat_at: Instant,
    /// Since when the database is up. While it was away every holder looked silent.
    pub database_since: Instant,
}

impl Standing {
    /// When another may take it, unless the holder is heard of again. A database that has just restarted counts as
    /// the last sign of life of everybody.
    #[must_use]
    pub fn expires_at(&self, timeout: Duration) -> Instant {
        let timeout = chrono::TimeDelta::from_std(timeout).unwrap_or(chrono::TimeDelta::MAX);
        let silent_since = self.heartbeat_at.max(self.database_since);
        silent_since.checked_add_signed(timeout).unwrap_or(Instant::MAX_UTC)
    }

    /// Whether another may take it at `now`, which is the database's clock.
    #[must_use]
    pub fn is_silent(&self, timeout: Duration, now: Instant) -> bool {
        now > self.expires_at(timeout)
    }
}

/// The rhythm of a lease.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Timing {
    /// How often a holder gives a sign of life.
    pub interval: Duration,
    /// After how much silence another may take the work.
    pub timeout: Duration,
    /// How long before that a holder that can't reach the database stops by itself.
    pub margin: Duration,
}

impl Timing {
    /// The longest margin that is taken where none is set.
    pub const MARGIN_MAX: Duration = Duration::from_secs(15);

    /// With `margin`, or half an interval and at most [`Self::MARGIN_MAX`] where it is zero.
    #[must_use]
    pub fn new(interval: Duration, timeout: Duration, margin: Duration) -> Self {
        let margin = if margin.is_zero() { (interval / 2).min(Self::MARGIN_MAX) } else { margin };
        Self { interval, timeout, margin }
    }

    /// The shortest timeout that goes with this interval and margin: one beat may be lost and the next one late.
    #[must_use]
    pub fn shortest_timeout(&self) -> Duration {
        self.interval.saturating_mul(3).saturating_add(self.margin)
    }

    /// The timeout that leaves room for a slow day.
    #[must_use]
    pub const fn recommended_timeout(&self) -> Duration {
        self.interval.saturating_mul(4)
    }

    /// How long after the sending of an accepted heartbeat a holder may trust in its lease.
    #[must_use]
    pub const fn trusted_for(&self) -> Duration {
        self.timeout.saturating_sub(self.margin)
    }

    /// Whether the values go together.
    ///
    /// # Errors
    /// A sentence that names the values and what to do.
    pub fn check(&self) -> Result<(), String> {
        let ms = |duration: Duration| duration.as_millis();
        if self.interval.is_zero() {
            return Err("heartbeat_interval_ms must be 1 or more".to_owned());
        }
        let least = self.shortest_timeout();
        if self.timeout < least {
            return Err(format!(
                "lease_timeout_ms ({}) must be at least {}: three times heartbeat_interval_ms ({}) and the safety margin ({}), \
                 or one lost heartbeat makes two holders; {} is recommended",
                ms(self.timeout),
                ms(least),
                ms(self.interval),
                ms(self.margin),
                ms(self.recommended_timeout().max(least)),
            ));
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const fn seconds(n: u64) -> Duration {
        Duration::from_secs(n)
    }

    fn at(second: i64) -> Instant {
        Instant::from_timestamp(1_700_000_000 + second, 0).expect("in range")
    }

    fn standing(heartbeat_at: i64, database_since: i64) -> Standing {
        Standing {
            holder: "host/1/a".to_owned(),
            fence: 1,
            takeovers: 0,
            acquired_at: at(0),
            heartbeat_at: at(heartbeat_at),
            database_since: at(database_since),
        }
    }

    #[test]
    fn silence_counts_from_the_last_heartbeat() {
        let lease = standing(100, -10_000);
        assert!(!lease.is_silent(seconds(120), at(100 + 119)));
        assert!(!lease.is_silent(seconds(120), at(100 + 120)));
        assert!(lease.is_silent(seconds(120), at(100 + 121)));
    }

    #[test]
    fn a_database_that_has_just_restarted_counts_as_a_sign_of_life() {
        let lease = standing(100, 500);
        assert!(!lease.is_silent(seconds(120), at(500 + 119)));
        assert!(lease.is_silent(seconds(120), at(500 + 121)));
    }

    #[test]
    fn a_timeout_too_near_to_its_interval_is_refused_with_the_values() {
        let timing =
            |interval, timeout, margin| Timing::new(seconds(interval), seconds(timeout), seconds(margin)).check();
        timing(30, 120, 0).expect("the defaults");
        timing(30, 105, 0).expect("three intervals and half an interval");
        let refusal = timing(30, 104, 0).expect_err("too near");
        for value in ["104000", "105000", "30000", "15000", "120000"] {
            assert!(refusal.contains(value), "{value} in {refusal}");
        }
        timing(10, 50, 20).expect("three intervals and the margin");
        timing(10, 49, 20).expect_err("a longer margin needs a longer timeout");
        timing(0, 120, 1).expect_err("no rhythm");
    }

    #[test]
    fn the_margin_is_half_an_interval_unless_set() {
        let margin = |interval, set| Timing::new(seconds(interval), seconds(1_000), seconds(set)).margin;
        assert_eq!(margin(10, 0), seconds(5));
        assert_eq!(margin(60, 0), seconds(15));
        assert_eq!(margin(10, 7), seconds(7));
        assert_eq!(Timing::new(seconds(30), seconds(120), seconds(0)).trusted_for(), seconds(105));
    }
}
