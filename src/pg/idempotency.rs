//! The key's row: inserted empty before the work, filled with the answer in the statement of the effect.

use super::reads::{PgReads, reading};
use crate::domain::history::Hash;
use crate::domain::ids::OrganizationId;
use crate::transaction::StoreError;
use crate::transaction::idempotency::{Answer, Kept, KeyClaim, KeyedCall};
use sqlx::{PgConnection, query};
use std::time::Duration;

/// Takes the key. Waits for a transaction that holds it; a timeout of that wait is an answer, not an error, but ends
/// the session all the same.
pub(super) async fn claim(connection: &mut PgConnection, call: &KeyedCall) -> Result<KeyClaim, sqlx::Error> {
    let inserted = query!(
        "INSERT INTO idempotency_key (organization_id, user_id, key, fingerprint) VALUES ($1, $2, $3, $4)
         ON CONFLICT DO NOTHING",
        call.organization_id.0,
        call.user_id.0,
        call.key,
        &call.fingerprint.0[..],
    )
    .execute(&mut *connection)
    .await;
    match inserted {
        Ok(done) if done.rows_affected() == 1 => return Ok(KeyClaim::Fresh),
        Ok(_) => {}
        Err(sqlx::Error::Database(error)) if error.code().as_deref() == Some("55P03") => {
            return Ok(KeyClaim::InProgress);
        }
        Err(error) => return Err(error),
    }
    // A statement of its own: the row was committed after the first one's snapshot.
    let row = query!(
        "SELECT fingerprint, status, location, body FROM idempotency_key
         WHERE organization_id = $1 AND user_id = $2 AND key = $3",
        call.organization_id.0,
        call.user_id.0,
        call.key,
    )
    .fetch_optional(connection)
    .await?;
    Ok(match row {
        Some(row) if Hash::from_bytes(&row.fingerprint) != Some(call.fingerprint) => KeyClaim::Reused,
        Some(row) => match (row.status.and_then(|status| u16::try_from(status).ok()), row.body) {
            (Some(status), Some(body)) => KeyClaim::Replay(Answer { status, location: row.location, body }),
            _ => KeyClaim::InProgress,
        },
        // Swept between the two statements: as good as still going on, and the next try finds the key free.
        None => KeyClaim::InProgress,
    })
}

/// The columns of a kept answer, for the statements that write an effect.
pub(super) struct KeptColumns<'a> {
    pub(super) key: Option<&'a str>,
    pub(super) status: Option<i16>,
    pub(super) location: Option<&'a str>,
    pub(super) body: Option<&'a [u8]>,
}

impl<'a> From<Option<Kept<'a>>> for KeptColumns<'a> {
    fn from(kept: Option<Kept<'a>>) -> Self {
        Self {
            key: kept.map(|kept| kept.call.key.as_str()),
            status: kept.and_then(|kept| i16::try_from(kept.answer.status).ok()),
            location: kept.and_then(|kept| kept.answer.location.as_deref()),
            body: kept.map(|kept| kept.answer.body.as_slice()),
        }
    }
}

/// Keeps the answer of a call that writes nothing else.
pub(super) async fn keep(connection: &mut PgConnection, kept: Kept<'_>) -> Result<(), sqlx::Error> {
    let columns = KeptColumns::from(Some(kept));
    query!(
        "UPDATE idempotency_key SET status = $4, location = $5, body = $6
         WHERE organization_id = $1 AND user_id = $2 AND key = $3",
        kept.call.organization_id.0,
        kept.call.user_id.0,
        columns.key,
        columns.status,
        columns.location,
        columns.body,
    )
    .execute(connection)
    .await?;
    Ok(())
}

/// The keys of all organizations, for whoever forgets the old ones.
#[derive(Clone, Debug)]
pub struct PgKeys {
    looking: PgReads,
    forgetting: PgReads,
}

impl PgKeys {
    /// Looks on the pool for reads, forgets on the pool for writes, each with the patience of a read: to forget twice is as
    /// harmless as to look twice.
    #[must_use]
    pub const fn new(looking: PgReads, forgetting: PgReads) -> Self {
        Self { looking, forgetting }
    }

    /// The next organizations, in the order of their ids, that have keys older than this.
    ///
    /// # Errors
    /// [`StoreError`].
    pub async fn organizations_with_old(
        &self,
        age: Duration,
        after: Option<OrganizationId>,
        limit: i64,
    ) -> Result<Vec<OrganizationId>, StoreError> {
        let rows = reading!(self.looking, connection => query!(
            // LATERAL: one look into each organization's part of the index, and never through all keys.
            "SELECT o.id FROM organization o
             CROSS JOIN LATERAL (SELECT FROM idempotency_key k
                                 WHERE k.organization_id = o.id AND k.created_at < now() - make_interval(secs => $1)
                                 LIMIT 1) old
             WHERE $2::uuid IS NULL OR o.id > $2
             ORDER BY o.id LIMIT $3",
            age.as_secs_f64(),
            after.map(|id| id.0),
            limit,
        ).fetch_all(connection));
        Ok(rows.into_iter().map(|row| OrganizationId(row.id)).collect())
    }

    /// Forgets the oldest keys of an organization, of those older than this, and at most so many. Says how many.
    ///
    /// # Errors
    /// [`StoreError`]; nothing was forgotten.
    pub async fn forget(&self, organization: OrganizationId, age: Duration, limit: i64) -> Result<u64, StoreError> {
        let done = reading!(self.forgetting, connection => query!(
            "DELETE FROM idempotency_key k
             WHERE k.organization_id = $1 AND (k.user_id, k.key) IN
               (SELECT old.user_id, old.key FROM idempotency_key old
                WHERE old.organization_id = $1 AND old.created_at < now() - make_interval(secs => $2)
                ORDER BY old.created_at LIMIT $3)",
            organization.0,
            age.as_secs_f64(),
            limit,
        ).execute(connection));
        Ok(done.rows_affected())
    }
}
