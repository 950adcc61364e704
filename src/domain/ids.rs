//! Identifiers. Types of their own, so that a user's id can't be passed where a request's is meant.

use serde::{Deserialize, Serialize};
use uuid::Uuid;

macro_rules! id {
    ($(#[$doc:meta])* $name:ident) => {
        $(#[$doc])*
        #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
        #[serde(transparent)]
        pub struct $name(pub Uuid);

        impl std::fmt::Display for $name {
            fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                self.0.fmt(f)
            }
        }
    };
}

id! {
    /// An organization: the wall between customers. Every key in the database begins with it.
    OrganizationId
}
id! {
    /// A person, the same in every organization: the `sub` of the local key's tokens, or made for a provider's
    /// subject at first sight.
    UserId
}
id! {
    /// An approval request. `UUIDv7`, made by the server.
    RequestId
}

id! {
    /// A charge. Made by the client that imports it, or by the database for an approved request.
    ChargeId
}

id! {
    /// An endpoint of webhooks. `UUIDv7`, made by the server.
    EndpointId
}

impl EndpointId {
    /// Makes a new id.
    #[must_use]
    #[expect(clippy::disallowed_methods, reason = "the one home of new endpoint ids")]
    pub fn new() -> Self {
        Self(Uuid::now_v7())
    }
}

impl Default for EndpointId {
    fn default() -> Self {
        Self::new()
    }
}

impl RequestId {
    /// Makes a new id. Time-ordered, so that new rows land side by side in the index.
    #[must_use]
    #[expect(clippy::disallowed_methods, reason = "the one home of new request ids")]
    pub fn new() -> Self {
        Self(Uuid::now_v7())
    }
}

impl Default for RequestId {
    fn default() -> Self {
        Self::new()
    }
}

impl UserId {
    /// Makes a new id, for a person whom an identity provider names for the first time.
    #[must_use]
    #[expect(clippy::disallowed_methods, reason = "the one home of new user ids")]
    pub fn new() -> Self {
        Self(Uuid::now_v7())
    }
}

impl Default for UserId {
    fn default() -> Self {
        Self::new()
    }
}

/// Counts the changes of a request or a member, from 1. A write carries the version that its author saw.
pub type Version = i64;
