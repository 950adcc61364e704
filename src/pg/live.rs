//! What open pages are told: reads of the log, and of who may see what.

use super::events::logged;
use super::members::member;
use super::reads::{PgReads, reading};
use crate::domain::event::{About, LoggedEvent, Position};
use crate::domain::ids::{OrganizationId, RequestId, UserId};
use crate::domain::member::Member;
use crate::live::store::{Extent, LiveReads};
use crate::transaction::{StoreError, Viewer};
use sqlx::query;
use std::collections::HashMap;
use uuid::Uuid;

impl LiveReads for PgReads {
    async fn extent(&self, viewer: Viewer) -> Result<Option<Extent>, StoreError> {
        let row = reading!(self, connection => query!(
            r#"SELECT coalesce(s.last_position, 0) AS "last!", coalesce(s.trimmed, 0) AS "trimmed!"
               FROM organization_member m
               LEFT JOIN event_stream s ON s.organization_id = m.organization_id
               WHERE m.organization_id = $1 AND m.user_id = $2 AND m.is_active"#,
            viewer.organization_id.0,
            viewer.user_id.0,
        ).fetch_optional(connection));
        Ok(row.map(|row| Extent { last: row.last, trimmed: row.trimmed }))
    }

    async fn after(&self, heard: &[(OrganizationId, Position)], limit: i64) -> Result<Vec<LoggedEvent>, StoreError> {
        let (organizations, positions): (Vec<Uuid>, Vec<Position>) =
            heard.iter().map(|(organization, position)| (organization.0, *position)).unzip();
        let rows = reading!(self, connection => query!(
            r#"SELECT e.organization_id, e.position, e.subject_kind, e.subject_id, e.seq, e.event_type,
                    e.payload::text AS "payload!",
                    e.occurred_at, e.private
             FROM unnest($1::uuid[], $2::bigint[]) AS heard (organization_id, position)
             CROSS JOIN LATERAL (
               SELECT * FROM event_log l
               WHERE l.organization_id = heard.organization_id AND l.position > heard.position
               ORDER BY l.position
               LIMIT $3
             ) AS e
             ORDER BY e.organization_id, e.position"#,
            &organizations,
            &positions,
            limit,
        ).fetch_all(connection));
        rows.into_iter().map(|row| Ok(logged!(row))).collect()
    }

    async fn active(&self, organization: OrganizationId, users: &[UserId]) -> Result<Vec<Member>, StoreError> {
        let users: Vec<Uuid> = users.iter().map(|user| user.0).collect();
        let rows = reading!(self, connection => query!(
            "SELECT user_id, display_name, is_active, can_approve, is_admin, version, created_at
             FROM organization_member
             WHERE organization_id = $1 AND user_id = ANY ($2) AND is_active",
            organization.0,
            &users,
        ).fetch_all(connection));
        Ok(rows.into_iter().map(|row| member!(organization, row)).collect())
    }

    async fn about(
        &self,
        organization: OrganizationId,
        requests: &[RequestId],
        users: &[UserId],
    ) -> Result<HashMap<RequestId, About>, StoreError> {
        let requests: Vec<Uuid> = requests.iter().map(|request| request.0).collect();
        let users: Vec<Uuid> = users.iter().map(|user| user.0).collect();
        let rows = reading!(self, connection => query!(
            r#"SELECT r.id, r.applicant_id,
                      ARRAY(SELECT DISTINCT h.actor_id FROM approval_history h
                            WHERE h.organization_id = $1 AND h.request_id = r.id AND h.actor_id = ANY ($3)) AS "acted!"
               FROM approval_request r
               WHERE r.organization_id = $1 AND r.id = ANY ($2)"#,
            organization.0,
            &requests,
            &users,
        ).fetch_all(connection));
        let about = |applicant: Uuid, acted: Vec<Uuid>| About {
            applicant_id: UserId(applicant),
            acted: acted.into_iter().map(UserId).collect(),
        };
        Ok(rows.into_iter().map(|row| (RequestId(row.id), about(row.applicant_id, row.acted))).collect())
    }
}
