//! The statements of invitations.

use super::error::{corrupt, within};
use super::reads::{PgReads, reading};
use super::session::PgSession;
use crate::domain::history::Hash;
use crate::domain::ids::{OrganizationId, UserId};
use crate::domain::invitation::Invitation;
use crate::members::store::{FoundInvitation, InvitationRow, MemberPlace};
use crate::transaction::{Guarded, Locked, StoreError, Viewer};
use sqlx::query;
use uuid::Uuid;

/// Builds an [`Invitation`] from a row with its columns.
macro_rules! invitation {
    ($organization:expr, $row:expr) => {
        Invitation {
            organization_id: $organization,
            id: $row.id,
            display_name: $row.display_name,
            can_approve: $row.can_approve,
            is_admin: $row.is_admin,
            invited_by: UserId($row.invited_by),
            created_at: $row.created_at,
            expires_at: $row.expires_at,
            accepted_by: $row.accepted_by.map(UserId),
            revoked_at: $row.revoked_at,
        }
    };
}

impl PgSession {
    pub(super) async fn find_invitation(
        &mut self,
        organization: OrganizationId,
        id: Uuid,
    ) -> Result<Option<Locked<FoundInvitation>>, StoreError> {
        let row = within(
            self.answer_limit,
            query!(
                r#"WITH locked AS MATERIALIZED (
                     SELECT id, secret_hash, display_name, can_approve, is_admin, invited_by, created_at, expires_at,
                            accepted_by, revoked_at
                     FROM invitation WHERE organization_id = $1 AND id = $2
                     FOR UPDATE
                   )
                   SELECT locked.*, clock_timestamp() AS "at!" FROM locked"#,
                organization.0,
                id,
            )
            .fetch_optional(self.connection()?),
        )
        .await;
        let Some(row) = self.note(row)? else { return Ok(None) };
        let secret_hash = Hash::from_bytes(&row.secret_hash).ok_or_else(|| corrupt("invitation.secret_hash"))?;
        let at = row.at;
        Ok(Some(Locked::taken(FoundInvitation { invitation: invitation!(organization, row), secret_hash }, at)))
    }

    pub(super) async fn write_invitation(
        &mut self,
        invitation: &Invitation,
        secret_hash: Hash,
    ) -> Result<(), StoreError> {
        let done = within(
            self.answer_limit,
            query!(
                "INSERT INTO invitation
                   (organization_id, id, secret_hash, display_name, can_approve, is_admin, invited_by, created_at,
                    expires_at)
                 VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9)",
                invitation.organization_id.0,
                invitation.id,
                &secret_hash.0[..],
                invitation.display_name,
                invitation.can_approve,
                invitation.is_admin,
                invitation.invited_by.0,
                invitation.created_at,
                invitation.expires_at,
            )
            .execute(self.connection()?),
        )
        .await;
        self.note(done)?;
        Ok(())
    }

    pub(super) async fn administers(&mut self, who: Viewer) -> Result<bool, StoreError> {
        let row = within(
            self.answer_limit,
            query!(
                r#"SELECT EXISTS (SELECT FROM organization_member
                                  WHERE organization_id = $1 AND user_id = $2 AND is_active AND is_admin) AS "stands!""#,
                who.organization_id.0,
                who.user_id.0,
            )
            .fetch_one(self.connection()?),
        )
        .await;
        Ok(self.note(row)?.stands)
    }

    pub(super) async fn end_invitation(&mut self, invitation: &Invitation) -> Result<Guarded, StoreError> {
        let done = within(
            self.answer_limit,
            query!(
                "UPDATE invitation SET accepted_by = $3, revoked_at = $4
                 WHERE organization_id = $1 AND id = $2 AND accepted_by IS NULL AND revoked_at IS NULL",
                invitation.organization_id.0,
                invitation.id,
                invitation.accepted_by.map(|id| id.0),
                invitation.revoked_at,
            )
            .execute(self.connection()?),
        )
        .await;
        Ok(if self.note(done)?.rows_affected() == 1 { Guarded::Applied } else { Guarded::Stale })
    }
}

/// One invitation or a page of them, for an active administrator; empty for anybody else.
pub(super) async fn invitations(
    reads: &PgReads,
    viewer: Viewer,
    id: Option<Uuid>,
    after: Option<MemberPlace>,
    limit: i64,
) -> Result<Vec<InvitationRow>, StoreError> {
    let rows = reading!(reads, connection => query!(
        r#"SELECT i.id, i.display_name, i.can_approve, i.is_admin, i.invited_by, i.created_at, i.expires_at,
                  i.accepted_by, i.revoked_at, clock_timestamp() AS "at!",
                  by.is_active AND by.is_admin AS "inviter_stands!"
           FROM organization_member me
           JOIN invitation i ON i.organization_id = me.organization_id
           JOIN organization_member by ON by.organization_id = i.organization_id AND by.user_id = i.invited_by
           WHERE me.organization_id = $1 AND me.user_id = $2 AND me.is_active AND me.is_admin
             AND ($3::timestamptz IS NULL OR (i.created_at, i.id) < ($3, $4::uuid))
             AND ($6::uuid IS NULL OR i.id = $6)
           ORDER BY i.created_at DESC, i.id DESC
           LIMIT $5"#,
        viewer.organization_id.0,
        viewer.user_id.0,
        after.map(|place| place.0),
        after.map(|place| place.1),
        limit,
        id,
    )
    .fetch_all(connection));
    Ok(rows
        .into_iter()
        .map(|row| {
            let (at, inviter_stands) = (row.at, row.inviter_stands);
            let invitation = invitation!(viewer.organization_id, row);
            InvitationRow { state: invitation.state(inviter_stands, at), invitation }
        })
        .collect())
}
