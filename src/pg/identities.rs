//! The identities of people: one small table, two statements.

use super::reads::{PgReads, reading};
use crate::domain::identity::Identity;
use crate::domain::ids::UserId;
use crate::identity::store::IdentityStore;
use crate::transaction::StoreError;
use sqlx::query_scalar;

/// Identities on both pools: almost every look finds, and looking must not wait behind writers.
#[derive(Clone, Debug)]
pub struct PgIdentities {
    looking: PgReads,
    adding: PgReads,
}

impl PgIdentities {
    /// Looks on the pool for reads, adds on the pool for writes, each with the patience of a read: adding twice is as
    /// harmless as looking twice.
    #[must_use]
    pub const fn new(looking: PgReads, adding: PgReads) -> Self {
        Self { looking, adding }
    }
}

impl IdentityStore for PgIdentities {
    async fn find(&self, identity: &Identity) -> Result<Option<UserId>, StoreError> {
        find_on(&self.looking, identity).await
    }

    /// One statement, so its own transaction: outside the admission queue, since it takes no lock that anybody waits
    /// for longer than another's insert of the same person, once in that person's life.
    async fn add(&self, identity: &Identity, new: UserId) -> Result<UserId, StoreError> {
        let added = reading!(self.adding, connection => query_scalar!(
            "INSERT INTO user_identity (issuer, subject, user_id) VALUES ($1, $2, $3)
             ON CONFLICT (issuer, subject) DO NOTHING RETURNING user_id",
            identity.issuer(),
            identity.subject(),
            new.0,
        ).fetch_optional(connection));
        if let Some(user) = added {
            return Ok(UserId(user));
        }
        // Somebody else was faster. A statement of its own, which sees what was committed after the first one's
        // snapshot, and where it was committed: not on a replica.
        find_on(&self.adding, identity).await?.ok_or_else(|| StoreError::Internal("an identity vanished".into()))
    }
}

async fn find_on(reads: &PgReads, identity: &Identity) -> Result<Option<UserId>, StoreError> {
    let found = reading!(reads, connection => query_scalar!(
        "SELECT user_id FROM user_identity WHERE issuer = $1 AND subject = $2",
        identity.issuer(),
        identity.subject(),
    ).fetch_optional(connection));
    Ok(found.map(UserId))
}
