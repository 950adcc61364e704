//! The statements of member administration, and the reads of members.

use super::error::{corrupt, within};
use super::idempotency::KeptColumns;
use super::reads::{PgReads, reading};
use super::session::{PgSession, PgStore, stored_payload};
use crate::domain::history::{HASH_FORMAT, Hash};
use crate::domain::ids::{OrganizationId, UserId};
use crate::domain::member::Member;
use crate::members::store::{
    Administration, ChainHead, MemberChange, MemberPlace, MemberReads, MemberSession, MemberStore, Membership,
};
use crate::transaction::idempotency::Kept;
use crate::transaction::{Guarded, Locked, StoreError, Viewer};
use sqlx::query;
use std::cmp::Ordering;

/// Builds a [`Member`] from a row with its columns.
macro_rules! member {
    ($organization:expr, $row:expr) => {
        Member {
            organization_id: $organization,
            user_id: UserId($row.user_id),
            display_name: $row.display_name,
            is_active: $row.is_active,
            can_approve: $row.can_approve,
            is_admin: $row.is_admin,
            version: $row.version,
            created_at: $row.created_at,
        }
    };
}

impl PgSession {
    /// Fence and row of a member who acts: both shared.
    pub(super) async fn share_member(
        &mut self,
        organization: OrganizationId,
        user: UserId,
    ) -> Result<Option<Locked<Member>>, StoreError> {
        let row = within(
            self.answer_limit,
            query!(
                r#"WITH locked AS MATERIALIZED (
                 SELECT user_id, display_name, is_active, can_approve, is_admin, version, created_at,
                        pg_advisory_xact_lock_shared(member_fence(organization_id, user_id))::text AS fence
                 FROM organization_member
                 WHERE organization_id = $1 AND user_id = $2
                 FOR SHARE
               )
               SELECT user_id, display_name, is_active, can_approve, is_admin, version, created_at,
                      clock_timestamp() AS "at!"
               FROM locked"#,
                organization.0,
                user.0,
            )
            .fetch_optional(self.connection()?),
        )
        .await;
        Ok(self.note(row)?.map(|row| Locked::taken(member!(organization, row), row.at)))
    }

    /// Fence and row of a member who is to be changed: both alone.
    async fn seize_member(
        &mut self,
        organization: OrganizationId,
        user: UserId,
    ) -> Result<Option<Locked<Member>>, StoreError> {
        let row = within(
            self.answer_limit,
            query!(
                r#"WITH locked AS MATERIALIZED (
                 SELECT user_id, display_name, is_active, can_approve, is_admin, version, created_at,
                        pg_advisory_xact_lock(member_fence(organization_id, user_id))::text AS fence
                 FROM organization_member
                 WHERE organization_id = $1 AND user_id = $2
                 FOR NO KEY UPDATE
               )
               SELECT user_id, display_name, is_active, can_approve, is_admin, version, created_at,
                      clock_timestamp() AS "at!"
               FROM locked"#,
                organization.0,
                user.0,
            )
            .fetch_optional(self.connection()?),
        )
        .await;
        Ok(self.note(row)?.map(|row| Locked::taken(member!(organization, row), row.at)))
    }
}

impl MemberStore for PgStore {
    type Session = PgSession;

    async fn open(&self) -> Result<PgSession, StoreError> {
        self.begin().await
    }
}

impl MemberSession for PgSession {
    async fn lock_administration(&mut self, viewer: Viewer, target: UserId) -> Result<Administration, StoreError> {
        let organization = viewer.organization_id;
        let locked = within(
            self.answer_limit,
            query!("SELECT id FROM organization WHERE id = $1 FOR NO KEY UPDATE", organization.0)
                .fetch_optional(self.connection()?),
        )
        .await;
        self.note(locked)?;

        // Ascending, and one who changes himself is locked once, in the stronger mode.
        let (actor, target_row) = match viewer.user_id.cmp(&target) {
            Ordering::Equal => {
                let own = self.seize_member(organization, target).await?;
                (own.as_ref().map(|own| Locked::taken((**own).clone(), own.at())), own)
            }
            Ordering::Less => {
                let actor = self.share_member(organization, viewer.user_id).await?;
                (actor, self.seize_member(organization, target).await?)
            }
            Ordering::Greater => {
                let target_row = self.seize_member(organization, target).await?;
                (self.share_member(organization, viewer.user_id).await?, target_row)
            }
        };

        // Nobody else can change an administrator of this organization while we hold its row.
        let others = within(
            self.answer_limit,
            query!(
                r#"SELECT count(*) AS "n!" FROM organization_member
               WHERE organization_id = $1 AND user_id <> $2 AND is_active AND is_admin"#,
                organization.0,
                target.0,
            )
            .fetch_one(self.connection()?),
        )
        .await;
        let other_admins = self.note(others)?.n;
        Ok(Administration { actor, target: target_row, other_admins })
    }

    async fn lock_chain(&mut self, organization: OrganizationId, target: UserId) -> Result<ChainHead, StoreError> {
        let subject = target.to_string();
        let made = within(
            self.answer_limit,
            query!(
                "INSERT INTO history_head (organization_id, kind, subject_id, seq, chain_hash)
             VALUES ($1, 'member', $2, 0, $3) ON CONFLICT DO NOTHING",
                organization.0,
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
                 WHERE organization_id = $1 AND kind = 'member' AND subject_id = $2
                 FOR UPDATE
               )
               SELECT seq, chain_hash, clock_timestamp() AS "at!" FROM locked"#,
                organization.0,
                subject,
            )
            .fetch_one(self.connection()?),
        )
        .await;
        let row = self.note(row)?;
        let hash = Hash::from_bytes(&row.chain_hash).ok_or_else(|| corrupt("history_head.chain_hash"))?;
        Ok(ChainHead { seq: row.seq, hash, at: row.at })
    }

    async fn insert_member(&mut self, change: &MemberChange, kept: Option<Kept<'_>>) -> Result<(), StoreError> {
        let member = &change.after;
        let done = within(self.answer_limit, query!(
            "INSERT INTO organization_member
               (organization_id, user_id, display_name, is_active, can_approve, is_admin, version, created_at, updated_at)
             VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $8)",
            member.organization_id.0,
            member.user_id.0,
            member.display_name,
            member.is_active,
            member.can_approve,
            member.is_admin,
            member.version,
            member.created_at,
        ).execute(self.connection()?)).await;
        self.note(done)?;
        self.append(change, kept).await
    }

    async fn update_member(
        &mut self,
        before: &Locked<Member>,
        change: &MemberChange,
        kept: Option<Kept<'_>>,
    ) -> Result<Guarded, StoreError> {
        let member = &change.after;
        let done = within(self.answer_limit, query!(
            "UPDATE organization_member
             SET display_name = $4, is_active = $5, can_approve = $6, is_admin = $7, version = version + 1, updated_at = $8
             WHERE organization_id = $1 AND user_id = $2 AND version = $3",
            member.organization_id.0,
            member.user_id.0,
            before.version,
            member.display_name,
            member.is_active,
            member.can_approve,
            member.is_admin,
            change.entry.occurred_at,
        ).execute(self.connection()?)).await;
        if self.note(done)?.rows_affected() != 1 {
            return Ok(Guarded::Stale);
        }
        self.append(change, kept).await?;
        Ok(Guarded::Applied)
    }
}

impl PgSession {
    /// The history row, its chain's head, the event and the kept answer, in one statement.
    async fn append(&mut self, change: &MemberChange, kept: Option<Kept<'_>>) -> Result<(), StoreError> {
        let (entry, event) = (&change.entry, &change.event);
        let caller = kept.map(|kept| kept.call.user_id.0);
        let kept = KeptColumns::from(kept);
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
               VALUES ($1, $13, $3, $4, $14, $15, $11)
             )
             UPDATE idempotency_key SET status = $18, location = $19, body = $20
             WHERE organization_id = $1 AND user_id = $16 AND key = $17",
                entry.organization_id.0,
                entry.kind,
                entry.subject_id,
                entry.seq,
                &change.entry_hash.0[..],
                entry.actor_id.map(|id| id.0),
                entry.actor_name,
                entry.action,
                entry.reason,
                sqlx::types::Json(&entry.detail) as _,
                entry.occurred_at,
                HASH_FORMAT,
                event.subject_kind,
                event.event_type,
                stored_payload(event) as _,
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

impl MemberReads for PgReads {
    async fn membership(&self, viewer: Viewer) -> Result<Option<Member>, StoreError> {
        let row = reading!(self, connection => query!(
            "SELECT user_id, display_name, is_active, can_approve, is_admin, version, created_at
             FROM organization_member WHERE organization_id = $1 AND user_id = $2",
            viewer.organization_id.0,
            viewer.user_id.0,
        ).fetch_optional(connection));
        Ok(row.map(|row| member!(viewer.organization_id, row)))
    }

    async fn memberships(&self, user: UserId) -> Result<Vec<Membership>, StoreError> {
        // The one question that crosses organizations.
        let rows = reading!(self, connection => query!(
            "SELECT m.organization_id, m.user_id, m.display_name, m.is_active, m.can_approve, m.is_admin, m.version,
                    m.created_at, o.name AS organization_name, o.time_zone
             FROM organization_member m JOIN organization o ON o.id = m.organization_id
             WHERE m.user_id = $1
             ORDER BY o.name, m.organization_id",
            user.0,
        ).fetch_all(connection));
        Ok(rows
            .into_iter()
            .map(|row| Membership {
                member: member!(OrganizationId(row.organization_id), row),
                organization_name: row.organization_name,
                time_zone: row.time_zone,
            })
            .collect())
    }

    async fn member(&self, viewer: Viewer, user: UserId) -> Result<Option<Member>, StoreError> {
        let row = reading!(self, connection => query!(
            "SELECT m.user_id, m.display_name, m.is_active, m.can_approve, m.is_admin, m.version, m.created_at
             FROM organization_member me JOIN organization_member m ON m.organization_id = me.organization_id
             WHERE me.organization_id = $1 AND me.user_id = $2 AND me.is_active AND me.is_admin AND m.user_id = $3",
            viewer.organization_id.0,
            viewer.user_id.0,
            user.0,
        ).fetch_optional(connection));
        Ok(row.map(|row| member!(viewer.organization_id, row)))
    }

    async fn members(&self, viewer: Viewer, after: Option<MemberPlace>, limit: i64) -> Result<Vec<Member>, StoreError> {
        let rows = reading!(self, connection => query!(
            "SELECT m.user_id, m.display_name, m.is_active, m.can_approve, m.is_admin, m.version, m.created_at
             FROM organization_member me JOIN organization_member m ON m.organization_id = me.organization_id
             WHERE me.organization_id = $1 AND me.user_id = $2 AND me.is_active AND me.is_admin
               AND ($3::timestamptz IS NULL OR (m.created_at, m.user_id) > ($3, $4::uuid))
             ORDER BY m.created_at, m.user_id
             LIMIT $5",
            viewer.organization_id.0,
            viewer.user_id.0,
            after.map(|place| place.0),
            after.map(|place| place.1),
            limit,
        ).fetch_all(connection));
        Ok(rows.into_iter().map(|row| member!(viewer.organization_id, row)).collect())
    }
}
