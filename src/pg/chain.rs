//! The chains of `organization_history`: whatever a row is of, it is written under its subject's head.

use super::error::{corrupt, within};
use super::idempotency::KeptColumns;
use super::session::PgSession;
use crate::domain::event::Event;
use crate::domain::history::{ChainHead, HASH_FORMAT, Hash, Kind, SubjectEntry};
use crate::domain::ids::OrganizationId;
use crate::transaction::StoreError;
use crate::transaction::idempotency::Kept;
use sqlx::query;

impl PgSession {
    /// Takes the head of a subject's chain, making it if there is none.
    pub(super) async fn lock_head(
        &mut self,
        organization: OrganizationId,
        kind: Kind,
        subject: &str,
    ) -> Result<ChainHead, StoreError> {
        let made = within(
            self.answer_limit,
            query!(
                "INSERT INTO history_head (organization_id, kind, subject_id, seq, chain_hash)
             VALUES ($1, $2, $3, 0, $4) ON CONFLICT DO NOTHING",
                organization.0,
                kind.as_str(),
                subject,
                &Hash::START.0[..],
            )
            .execute(self.connection()?),
        )
        .await;
        self.note(made)?;
        let row = within(
            self.answer_limit,
            query!(
                r#"WITH locked AS MATERIALIZED (
                 SELECT seq, chain_hash FROM history_head
                 WHERE organization_id = $1 AND kind = $2 AND subject_id = $3
                 FOR UPDATE
               )
               SELECT seq, chain_hash, clock_timestamp() AS "at!" FROM locked"#,
                organization.0,
                kind.as_str(),
                subject,
            )
            .fetch_one(self.connection()?),
        )
        .await;
        let row = self.note(row)?;
        let hash = Hash::from_bytes(&row.chain_hash).ok_or_else(|| corrupt("history_head.chain_hash"))?;
        Ok(ChainHead { seq: row.seq, hash, at: row.at })
    }

    /// The history row, its chain's head, the event and the kept answer, where there are any, in one statement.
    pub(super) async fn append(
        &mut self,
        entry: &SubjectEntry,
        entry_hash: Hash,
        event: Option<&Event>,
        kept: Option<Kept<'_>>,
    ) -> Result<(), StoreError> {
        check_action(entry)?;
        let caller = kept.map(|kept| kept.call.user_id.0);
        let kept = KeptColumns::from(kept);
        let payload = event.map(|event| self.outgoing(event));
        let done = within(
            self.answer_limit,
            query!(
                "WITH head AS (
               UPDATE history_head SET seq = $4, chain_hash = $5
               WHERE organization_id = $1 AND kind = $2 AND subject_id = $3
             ), history AS (
               INSERT INTO organization_history
                 (organization_id, kind, subject_id, seq, actor_id, actor_name, action, reason, detail, occurred_at,
                  hash_format, entry_hash)
               VALUES ($1, $2, $3, $4, $6, $7, $8, $9, $10, $11, $12, $5)
             ), event AS (
               INSERT INTO outbox_event
                 (organization_id, subject_kind, subject_id, seq, event_type, payload, occurred_at)
               SELECT $1, $13, $3, $4, $14, $15, $11 WHERE $13::text IS NOT NULL
             )
             UPDATE idempotency_key SET status = $18, location = $19, body = $20
             WHERE organization_id = $1 AND user_id = $16 AND key = $17",
                entry.organization_id.0,
                entry.kind.as_str(),
                entry.subject_id,
                entry.seq,
                &entry_hash.0[..],
                entry.actor_id.map(|id| id.0),
                entry.actor_name,
                entry.action,
                entry.reason,
                sqlx::types::Json(&entry.detail) as _,
                entry.occurred_at,
                HASH_FORMAT,
                event.map(|event| event.subject_kind),
                event.map(|event| event.event_type.as_str()),
                payload as _,
                caller,
                kept.key,
                kept.status,
                kept.location,
                kept.body,
            )
            .execute(self.connection()?),
        )
        .await;
        self.note(done)?;
        Ok(())
    }
}

/// Refuses an action that is not listed: the filter knows exactly the listed ones, so nobody could ask for it.
pub(super) fn check_action(entry: &SubjectEntry) -> Result<(), StoreError> {
    if entry.kind.actions().contains(&entry.action) {
        return Ok(());
    }
    Err(StoreError::Internal(format!("`{}` is not listed in Kind::actions", entry.action).into()))
}
