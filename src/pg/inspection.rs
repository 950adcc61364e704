//! The one list over both histories, and the trace of who looked. Plain queries without row locks.

use super::error::{corrupt, within};
use super::reads::{PgReads, reading};
use super::session::{PgSession, PgStore};
use crate::domain::history::{ChainHead, Hash, Kind, SubjectEntry};
use crate::domain::ids::{OrganizationId, RequestId, UserId};
use crate::domain::member::Member;
use crate::inspection::store::{AccessSession, AccessStore, InspectionReads, Inspector};
use crate::inspection::view::{Row, RowPlace, Selection};
use crate::transaction::{Locked, StoreError, Viewer};
use serde_json::Value;
use sqlx::query;
use uuid::Uuid;

impl AccessStore for PgStore {
    type Session = PgSession;

    async fn open(&self) -> Result<PgSession, StoreError> {
        self.begin().await
    }
}

impl AccessSession for PgSession {
    async fn lock_inspector(&mut self, viewer: Viewer) -> Result<Option<Locked<Member>>, StoreError> {
        self.share_member(viewer.organization_id, viewer.user_id).await
    }

    async fn lock_accesses(&mut self, viewer: Viewer) -> Result<ChainHead, StoreError> {
        self.lock_head(viewer.organization_id, Kind::Access, &viewer.user_id.to_string()).await
    }

    async fn is_recorded(&mut self, viewer: Viewer, walk: Uuid) -> Result<bool, StoreError> {
        let found = within(
            self.answer_limit,
            query!(
                r#"SELECT EXISTS (SELECT FROM organization_history
                              WHERE organization_id = $1 AND kind = 'access' AND subject_id = $2
                                AND detail ->> 'walk' = $3) AS "recorded!""#,
                viewer.organization_id.0,
                viewer.user_id.to_string(),
                walk.to_string(),
            )
            .fetch_one(self.connection()?),
        )
        .await;
        Ok(self.note(found)?.recorded)
    }

    async fn record(&mut self, entry: &SubjectEntry, entry_hash: Hash) -> Result<(), StoreError> {
        self.append(entry, entry_hash, None, None).await
    }
}

impl InspectionReads for PgReads {
    async fn inspector(&self, viewer: Viewer) -> Result<Option<Inspector>, StoreError> {
        let row = reading!(self, connection => query!(
            r#"SELECT is_active, is_admin, clock_timestamp() AS "now!"
               FROM organization_member WHERE organization_id = $1 AND user_id = $2"#,
            viewer.organization_id.0,
            viewer.user_id.0,
        ).fetch_optional(connection));
        Ok(row.map(|row| Inspector { is_active: row.is_active, is_admin: row.is_admin, now: row.now }))
    }

    async fn sees(&self, viewer: Viewer, id: RequestId) -> Result<bool, StoreError> {
        let row = reading!(self, connection => query!(
            r#"SELECT EXISTS (SELECT FROM visible_request
                              WHERE organization_id = $1 AND viewer_id = $2 AND id = $3) AS "sees!""#,
            viewer.organization_id.0,
            viewer.user_id.0,
            id.0,
        ).fetch_one(connection));
        Ok(row.sees)
    }

    async fn rows(
        &self,
        organization: OrganizationId,
        selection: &Selection,
        after: &RowPlace,
        limit: i64,
    ) -> Result<Vec<Row>, StoreError> {
        let filters = &selection.filters;
        let wants_requests = filters.kind.is_none_or(|kind| kind == Kind::Request);
        let wants_others = filters.request_id.is_none() && filters.kind != Some(Kind::Request);
        // At the place's instant the requests of kinds before theirs are all still to come, of kinds after theirs none.
        let (request, request_version) = match after.kind {
            Some(Kind::Request) => {
                let id = Uuid::try_parse(&after.subject).map_err(|_| corrupt("a place's request"))?;
                (id, after.version)
            }
            Some(kind) if kind.as_str() > Kind::Request.as_str() => (Uuid::max(), i64::MAX),
            _ => (Uuid::nil(), 0),
        };
        // Each half walks its own index in order and stops at the limit. Whether a request was ever submitted is a
        // subquery for each row, not a join, or a plan could begin with all requests. The plan is made anew with the
        // values, so that the half and the conditions that do not apply cost nothing.
        let rows = reading!(self, connection => query!(
            r#"SELECT kind AS "kind!", subject AS "subject!", version AS "version!", actor_id,
                      actor_name AS "actor_name!", action AS "action!", from_status, to_status, reason, content_hash,
                      detail, occurred_at AS "occurred_at!"
               FROM (
                 (SELECT 'request' AS kind, h.request_id::text AS subject, h.version, h.actor_id, h.actor_name,
                         h.action, h.from_status, h.to_status, h.reason, h.content_hash, NULL AS detail, h.occurred_at
                  FROM approval_history h
                  WHERE $13 AND h.organization_id = $1
                    AND (h.occurred_at, h.request_id, h.version) > ($2, $3::uuid, $4)
                    AND h.occurred_at < $5
                    AND ($6::uuid IS NULL OR h.request_id = $6)
                    AND ($7::uuid IS NULL OR h.actor_id = $7)
                    AND ($8::text IS NULL OR h.action = $8)
                    AND (SELECT r.submitted_at FROM approval_request r
                         WHERE r.organization_id = h.organization_id AND r.id = h.request_id) IS NOT NULL
                  ORDER BY h.occurred_at, h.request_id, h.version
                  LIMIT $15)
                 UNION ALL
                 (SELECT o.kind, o.subject_id, o.seq, o.actor_id, o.actor_name, o.action, NULL, NULL, o.reason, NULL,
                         o.detail::text, o.occurred_at
                  FROM organization_history o
                  WHERE $14 AND o.organization_id = $1
                    AND (o.occurred_at, o.kind COLLATE "C", o.subject_id COLLATE "C", o.seq) > ($2, $9, $10, $11)
                    AND o.occurred_at < $5
                    AND ($7::uuid IS NULL OR o.actor_id = $7)
                    AND ($8::text IS NULL OR o.action = $8)
                    AND ($12::text IS NULL OR o.kind = $12)
                  ORDER BY o.occurred_at, o.kind COLLATE "C", o.subject_id COLLATE "C", o.seq
                  LIMIT $15)
               ) AS both_histories
               ORDER BY occurred_at, kind COLLATE "C", subject COLLATE "C", version
               LIMIT $15"#,
            organization.0,
            after.at,
            request,
            request_version,
            selection.to,
            filters.request_id.map(|id| id.0),
            filters.actor_id.map(|id| id.0),
            filters.action,
            after.kind.map_or("", Kind::as_str),
            after.subject,
            after.version,
            filters.kind.map(Kind::as_str),
            wants_requests,
            wants_others,
            limit,
        ).fetch_all(connection));
        rows.into_iter()
            .map(|row| {
                Ok(Row {
                    kind: Kind::parse(&row.kind).ok_or_else(|| corrupt("kind"))?,
                    subject: row.subject,
                    version: row.version,
                    actor_id: row.actor_id.map(UserId),
                    actor_name: row.actor_name,
                    action: row.action,
                    from_status: row.from_status,
                    to_status: row.to_status,
                    reason: row.reason,
                    content_hash: match row.content_hash {
                        Some(hash) => Some(Hash::from_bytes(&hash).ok_or_else(|| corrupt("content_hash"))?),
                        None => None,
                    },
                    // What is no JSON of ours was bent: it is shown as it stands, and `verify` names it.
                    detail: row.detail.map(|text| serde_json::from_str(&text).unwrap_or(Value::String(text))),
                    occurred_at: row.occurred_at,
                })
            })
            .collect()
    }

    async fn recorded(&self, viewer: Viewer, walk: Uuid) -> Result<Option<Value>, StoreError> {
        let row = reading!(self, connection => query!(
            "SELECT detail FROM organization_history
             WHERE organization_id = $1 AND kind = 'access' AND subject_id = $2 AND detail ->> 'walk' = $3",
            viewer.organization_id.0,
            viewer.user_id.to_string(),
            walk.to_string(),
        ).fetch_optional(connection));
        Ok(row.map(|row| row.detail))
    }
}
