//! History entries and the hash chain that makes bending them visible.
//!
//! Each entry's hash covers the hash before it and every column of the entry, so a changed, added or removed row
//! breaks the chain at that row. The chain's head stands on the row that every writer locks anyway.

use super::ids::{OrganizationId, RequestId, UserId, Version};
use super::request::{Action, Status, names};
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

/// What a hash of an entry covers, as the columns hold it: text, so that a row that somebody bent can be hashed, too.
#[derive(Clone, Copy, Debug)]
pub struct RequestColumns<'a> {
    /// See [`RequestEntry`] for all of them.
    pub organization_id: OrganizationId,
    /// Which request.
    pub request_id: RequestId,
    /// From 1.
    pub version: Version,
    /// Who.
    pub actor_id: UserId,
    /// As of then.
    pub actor_name: &'a str,
    /// What.
    pub action: &'a str,
    /// Where from.
    pub from_status: Option<&'a str>,
    /// Where to.
    pub to_status: &'a str,
    /// Why.
    pub reason: Option<&'a str>,
    /// In lower-case hexadecimal digits.
    pub content_hash: &'a str,
    /// As [`rfc3339`] writes it.
    pub occurred_at: &'a str,
}

impl RequestColumns<'_> {
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
                "action": self.action,
                "from_status": self.from_status,
                "to_status": self.to_status,
                "reason": self.reason,
                "content_hash": self.content_hash,
                "occurred_at": self.occurred_at,
            }),
        )
    }
}

/// As [`RequestColumns`], for a row of `organization_history`.
#[derive(Clone, Copy, Debug)]
pub struct SubjectColumns<'a> {
    /// See [`SubjectEntry`] for all of them.
    pub organization_id: OrganizationId,
    /// What kind of subject.
    pub kind: &'a str,
    /// Which one.
    pub subject_id: &'a str,
    /// From 1.
    pub seq: i64,
    /// Who.
    pub actor_id: Option<UserId>,
    /// As of then.
    pub actor_name: &'a str,
    /// What.
    pub action: &'a str,
    /// Why.
    pub reason: Option<&'a str>,
    /// What changed.
    pub detail: &'a Value,
    /// As [`rfc3339`] writes it.
    pub occurred_at: &'a str,
}

impl SubjectColumns<'_> {
    /// As [`RequestColumns::hash`].
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
                "occurred_at": self.occurred_at,
            }),
        )
    }
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
    /// See [`RequestColumns::hash`].
    #[must_use]
    pub fn hash(&self, previous: Hash) -> Hash {
        let columns = RequestColumns {
            organization_id: self.organization_id,
            request_id: self.request_id,
            version: self.version,
            actor_id: self.actor_id,
            actor_name: &self.actor_name,
            action: self.action.as_str(),
            from_status: self.from_status.map(Status::as_str),
            to_status: self.to_status.as_str(),
            reason: self.reason.as_deref(),
            content_hash: &self.content_hash.to_string(),
            occurred_at: &rfc3339(self.occurred_at),
        };
        columns.hash(previous)
    }
}

names! {
    /// What a history is of. Requests have a table of their own; the other kinds share `organization_history`.
    Kind {
        /// Walks through and exports of the history itself; the subject is the administrator who looked.
        Access = "access",
        /// Months; the subject is the month, or the charge that was corrected.
        Closing = "closing",
        /// What follows an approval; the subject is the request. A start by the approval itself has no row of its own.
        Job = "job",
        /// People and their rights; the subject is the member.
        Member = "member",
        /// Requests.
        Request = "request",
        /// Webhooks; the subject is the endpoint.
        Webhook = "webhook",
    }
}

impl Kind {
    /// Every action that a row of this kind can have: what the filter `action` knows, and what may be written.
    #[must_use]
    pub const fn actions(self) -> &'static [&'static str] {
        match self {
            Self::Access => &["walk", "export"],
            Self::Closing => &["start", "block", "exclude", "close", "correct"],
            Self::Job => &["start", "succeed", "fail", "cancel"],
            Self::Member => &["add", "change", "pseudonymize", "invite", "revoke_invitation", "accept_invitation"],
            Self::Request => &["create", "edit", "submit", "approve", "reject", "send_back", "withdraw"],
            Self::Webhook => &["add", "change", "enable", "disable", "replay", "rotate_secret", "fail", "delete"],
        }
    }
}

/// The head of a subject's history chain, locked.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ChainHead {
    /// The number of the last entry, 0 when there is none.
    pub seq: i64,
    /// Its hash.
    pub hash: Hash,
    /// The database's clock, read after the lock.
    pub at: Instant,
}

/// One change of something else: a row of `organization_history`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SubjectEntry {
    /// Whose history.
    pub organization_id: OrganizationId,
    /// Any but [`Kind::Request`].
    pub kind: Kind,
    /// Which one of the kind, as text.
    pub subject_id: String,
    /// Counts the entries of this subject, from 1.
    pub seq: i64,
    /// `None`: the command line, or Ringi itself.
    pub actor_id: Option<UserId>,
    /// The actor's name as of then.
    pub actor_name: String,
    /// What was done: one of [`Kind::actions`].
    pub action: &'static str,
    /// Why, where a reason was given.
    pub reason: Option<String>,
    /// What changed, as an object of strings, integers and booleans.
    pub detail: Value,
    /// The database's clock, read after the lock.
    pub occurred_at: Instant,
}

impl SubjectEntry {
    /// See [`SubjectColumns::hash`].
    #[must_use]
    pub fn hash(&self, previous: Hash) -> Hash {
        let columns = SubjectColumns {
            organization_id: self.organization_id,
            kind: self.kind.as_str(),
            subject_id: &self.subject_id,
            seq: self.seq,
            actor_id: self.actor_id,
            actor_name: &self.actor_name,
            action: self.action,
            reason: self.reason.as_deref(),
            detail: &self.detail,
            occurred_at: &rfc3339(self.occurred_at),
        };
        columns.hash(previous)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_actions_of_requests_are_those_of_the_state_machine() {
        let known: Vec<_> = Action::ALL.iter().map(|action| action.as_str()).collect();
        assert_eq!(Kind::Request.actions(), known);
    }

    #[test]
    fn keys_are_sorted_and_strings_escaped_as_rfc_8785_does() {
        let value = json!({"b": 1, "a": "\u{1}\n\"\\稟é\u{7f}", "c": null});
        assert_eq!(canonical(&value), "{\"a\":\"\\u0001\\n\\\"\\\\稟é\u{7f}\",\"b\":1,\"c\":null}");
    }
}
