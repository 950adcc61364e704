//! The rules, as pure functions over plain values: no I/O, no clock, no SQL, no HTTP.
//!
//! Start with [`request`]: the statuses, the actions, [`request::transition`] (the state machine on one screen) and
//! [`request::decide`] (every check of a write, in order). Who may see and do what is in [`member`]. What makes
//! bending the history visible is [`history`], and [`verify`] looks for it.

pub mod backoff;
pub mod charge;
pub mod content;
pub mod event;
pub mod history;
pub mod identity;
pub mod ids;
pub mod invitation;
pub mod job;
pub mod lease;
pub mod mail;
pub mod member;
pub mod period;
pub mod request;
pub mod text;
pub mod verify;
pub mod webhook;

/// A moment as PostgreSQL keeps it: UTC, to the microsecond. Always the database's clock, never this process's.
pub type Instant = chrono::DateTime<chrono::Utc>;

/// Writes a moment the way every answer, hash and export does: RFC 3339, microseconds, ending in `Z`.
#[must_use]
pub fn rfc3339(at: Instant) -> String {
    at.to_rfc3339_opts(chrono::SecondsFormat::Micros, true)
}
