//! Idempotency keys: the same call again gives the same answer, and does nothing twice.

use crate::domain::history::{Hash, canonical};
use crate::domain::ids::{OrganizationId, UserId};
use sha2::{Digest, Sha256};

/// An answer as it went out: the first time and at every replay.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Answer {
    /// The status, 200 to 299: only what had an effect is kept.
    pub status: u16,
    /// The path of what was made.
    pub location: Option<String>,
    /// The body's bytes.
    pub body: Vec<u8>,
}

/// A call that carries a key.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct KeyedCall {
    /// Keys are a user's own, per organization.
    pub organization_id: OrganizationId,
    /// Who calls.
    pub user_id: UserId,
    /// 1 to 255 visible ASCII characters.
    pub key: String,
    /// What the call asks for: see [`fingerprint`].
    pub fingerprint: Hash,
}

/// The answer to keep, under which key.
#[derive(Clone, Copy, Debug)]
pub struct Kept<'a> {
    /// The call.
    pub call: &'a KeyedCall,
    /// What it was told.
    pub answer: &'a Answer,
}

impl<'a> Kept<'a> {
    /// The answer with its key, where the call has one.
    #[must_use]
    pub fn of(call: Option<&'a KeyedCall>, answer: &'a Answer) -> Option<Self> {
        call.map(|call| Self { call, answer })
    }
}

/// What was found under a key.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum KeyClaim {
    /// Nothing: the key is this transaction's now.
    Fresh,
    /// The same call was answered before.
    Replay(Answer),
    /// Another call was answered under this key.
    Reused,
    /// The first call is still under way after the lock timeout.
    InProgress,
}

/// Names a call: SHA-256 over method, path and the body as parsed, so that white space and the order of keys make
/// no other call.
#[must_use]
pub fn fingerprint(method: &str, path: &str, body: &serde_json::Map<String, serde_json::Value>) -> Hash {
    let body = serde_json::Value::Object(body.clone());
    Hash(Sha256::digest(format!("{method}\n{path}\n{}", canonical(&body))).into())
}

/// A reply to the caller: what happened, or what had happened before.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Reply {
    /// The answer.
    pub answer: Answer,
    /// True when it was kept from the first time.
    pub replayed: bool,
}

impl Reply {
    /// What happened now.
    #[must_use]
    pub const fn first(answer: Answer) -> Self {
        Self { answer, replayed: false }
    }

    /// What had happened before.
    #[must_use]
    pub const fn replay(answer: Answer) -> Self {
        Self { answer, replayed: true }
    }
}
