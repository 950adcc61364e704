//! The statements of member administration, and the reads of members.

use super::error::within;
use super::reads::{PgReads, reading};
use super::session::{PgSession, PgStore};
use crate::domain::history::{Hash, Kind, SubjectEntry};
use crate::domain::ids::{OrganizationId, UserId};
use crate::domain::invitation::Invitation;
use crate::domain::member::Member;
use crate::members::store::{
    Administration, ChainHead, FoundInvitation, InvitationRow, MemberChange, MemberPlace, MemberReads, MemberSession,
    MemberStore, Membership,
};
use crate::transaction::idempotency::Kept;
use crate::transaction::{Guarded, Locked, StoreError, Viewer};
use sqlx::query;
use std::cmp::Ordering;
use std::time::Instant;
use uuid::Uuid;

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
pub(super) use member;

impl PgSession {
    /// The organization's row, which serializes what is counted over all of its members or endpoints.
    pub(super) async fn take_organization(&mut self, organization: OrganizationId) -> Result<(), StoreError> {
        let locked = within(
            self.answer_limit,
            query!("SELECT id FROM organization WHERE id = $1 FOR NO KEY UPDATE", organization.0)
                .fetch_optional(self.connection()?),
        )
        .await;
        self.note(locked)?;
        Ok(())
    }

    /// Fence and row of a member who acts: both shared.
    pub(super) async fn share_member(
        &mut self,
        organization: OrganizationId,
        user: UserId,
    ) -> Result<Option<Locked<Member>>, StoreError> {
        let asked = Instant::now();
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
        Ok(self.note_lock("member", asked, row)?.map(|row| Locked::taken(member!(organization, row), row.at)))
    }

    /// Fence and row of a member who is to be changed: both alone.
    async fn seize_member(
        &mut self,
        organization: OrganizationId,
        user: UserId,
    ) -> Result<Option<Locked<Member>>, StoreError> {
        let asked = Instant::now();
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
        Ok(self.note_lock("member", asked, row)?.map(|row| Locked::taken(member!(organization, row), row.at)))
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
        self.take_organization(organization).await?;

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

    async fn lock_chain(&mut self, organization: OrganizationId, subject: &str) -> Result<ChainHead, StoreError> {
        self.lock_head(organization, Kind::Member, subject).await
    }

    async fn append_entry(
        &mut self,
        entry: &SubjectEntry,
        entry_hash: Hash,
        kept: Option<Kept<'_>>,
    ) -> Result<(), StoreError> {
        self.append(entry, entry_hash, None, kept).await
    }

    async fn share_actor(&mut self, viewer: Viewer) -> Result<Option<Locked<Member>>, StoreError> {
        self.share_member(viewer.organization_id, viewer.user_id).await
    }

    async fn lock_invitation(
        &mut self,
        organization: OrganizationId,
        id: Uuid,
    ) -> Result<Option<Locked<FoundInvitation>>, StoreError> {
        self.find_invitation(organization, id).await
    }

    async fn is_administrator(&mut self, who: Viewer) -> Result<bool, StoreError> {
        self.administers(who).await
    }

    async fn insert_invitation(&mut self, invitation: &Invitation, secret_hash: Hash) -> Result<(), StoreError> {
        self.write_invitation(invitation, secret_hash).await
    }

    async fn close_invitation(&mut self, invitation: &Invitation) -> Result<Guarded, StoreError> {
        self.end_invitation(invitation).await
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
        self.append(&change.entry, change.entry_hash, Some(&change.event), kept).await
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
        self.append(&change.entry, change.entry_hash, Some(&change.event), kept).await?;
        Ok(Guarded::Applied)
    }

    async fn forget_mail(&mut self, organization: OrganizationId, user: UserId) -> Result<(), StoreError> {
        self.delete_mail_of(organization, user).await
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

    async fn invitations(
        &self,
        viewer: Viewer,
        id: Option<Uuid>,
        after: Option<MemberPlace>,
        limit: i64,
    ) -> Result<Vec<InvitationRow>, StoreError> {
        super::invitations::invitations(self, viewer, id, after, limit).await
    }
}
