//! History entries and the hash chain that makes bending them visible.
//!
//! Each entry's hash covers the hash before it and every column of the entry, so a changed, added or removed row
//! breaks the chain at that row. The chain's head stands on the row that every writer locks anyway.

use super::ids::{OrganizationId, RequestId, UserId, Version};
use super::request::{Action, Status};
use super::{Instant, rfc3339};
use serde_json::{Value, json};
use sha2::{Digest, Sha256};

/// The canonical form that [`RequestEntry::hash`] and [`SubjectEntry::hash`] use now. A new column means a new
/// format, never a backfill.
pub const HASH_FORMAT: i16 = 1;

/// A SHA-256 value.
#[derive(Clone, Copy, PartialEq, Eq)]
pub struct Hash(pub [u8; 32]);

impl Hash {
    /// What stands before the first entry of every chain.
    pub const START: Self = Self([0; 32]);

    /// Reads a stored hash. `None` when it hasn't 32 bytes.
    #[must_use]
    pub fn from_bytes(bytes: &[u8]) -> Option<Self> {
        bytes.try_into().ok().map(Self)
    }
}

impl std::fmt::Display for Hash {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(&hex::encode(self.0))
    }
}

impl std::fmt::Debug for Hash {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        std::fmt::Display::fmt(self, f)
    }
}

/// RFC 8785 for the values that we hash: `serde_json` keeps the keys of a map sorted, and writes strings and integers
/// as the RFC does. No value that we hash has a fraction.
#[must_use]
pub fn canonical(value: &Value) -> String {
    value.to_string()
}

fn chained(previous: Hash, value: &Value) -> Hash {
    let mut hasher = Sha256::new();
    hasher.update(previous.0);
    hasher.update(canonical(value));
    Hash(hasher.finalize().into())
}

/// One change of a request: a row of `approval_history`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RequestEntry {
    /// Whose request.
    pub organization_id: OrganizationId,
    /// Which request.
    pub request_id: RequestId,
    /// The version that this change made.
    pub version: Version,
    /// Who did it, by the locked membership row.
    pub actor_id: UserId,
    /// The actor's name as of then.
    pub actor_name: String,
    /// What was done.
    pub action: Action,
    /// `None` for the creation.
    pub from_status: Option<Status>,
    /// The status since then.
    pub to_status: Status,
    /// Why, where a reason was given.
    pub reason: Option<String>,
    /// Names exactly the content that was judged.
    pub content_hash: Hash,
    /// The database's clock, read after the lock.
    pub occurred_at: Instant,
}

impl RequestEntry {
    /// The entry's hash in the chain: SHA-256 over the previous hash and the canonical form of every column.
    #[must_use]
    pub fn hash(&self, previous: Hash) -> Hash {
        chained(
            previous,
            &json!({
                "hash_format": HASH_FORMAT,
                "organization_id": self.organization_id,
                "request_id": self.request_id,
                "version": self.version,
                "actor_id": self.actor_id,
                "actor_name": self.actor_name,
                "action": self.action.as_str(),
                "from_status": self.from_status.map(Status::as_str),
                "to_status": self.to_status.as_str(),
                "reason": self.reason,
                "content_hash": self.content_hash.to_string(),
                "occurred_at": rfc3339(self.occurred_at),
            }),
        )
    }
}

/// One change of something else: a row of `organization_history`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SubjectEntry {
    /// Whose history.
    pub organization_id: OrganizationId,
    /// `member`; jobs, closings and inspections have their own.
    pub kind: &'static str,
    /// Which one of the kind, as text.
    pub subject_id: String,
    /// Counts the entries of this subject, from 1.
    pub seq: i64,
    /// `None`: the command line.
    pub actor_id: Option<UserId>,
    /// The actor's name as of then.
    pub actor_name: String,
    /// What was done.
    pub action: &'static str,
    /// Why, where a reason was given.
    pub reason: Option<String>,
    /// What changed, as an object of strings, integers and booleans.
    pub detail: Value,
    /// The database's clock, read after the lock.
    pub occurred_at: Instant,
}

impl SubjectEntry {
    /// As [`RequestEntry::hash`].
    #[must_use]
    pub fn hash(&self, previous: Hash) -> Hash {
        chained(
            previous,
            &json!({
                "hash_format": HASH_FORMAT,
                "organization_id": self.organization_id,
                "kind": self.kind,
                "subject_id": self.subject_id,
                "seq": self.seq,
                "actor_id": self.actor_id,
                "actor_name": self.actor_name,
                "action": self.action,
                "reason": self.reason,
                "detail": self.detail,
                "occurred_at": rfc3339(self.occurred_at),
            }),
        )
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn keys_are_sorted_and_strings_escaped_as_rfc_8785_does() {
        let value = json!({"b": 1, "a": "\u{1}\n\"\\稟é\u{7f}", "c": null});
        assert_eq!(canonical(&value), "{\"a\":\"\\u0001\\n\\\"\\\\稟é\u{7f}\",\"b\":1,\"c\":null}");
    }
}
