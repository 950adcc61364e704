//! Reads for verification and checkpoints: everything as its column holds it, each call one statement.
//!
//! Times are written by the statements themselves, in the canonical form that the hashes cover, so that no time that
//! somebody planted (infinity, the year 300000) meets a decoder. The statements join by lateral subqueries with a
//! limit: however old the statistics are, the plan stays a walk along the primary key.

use super::reads::{PgReads, reading};
use crate::domain::Instant;
use crate::domain::content::Content;
use crate::domain::history::Kind;
use crate::domain::ids::{OrganizationId, RequestId, UserId, Version};
use crate::domain::verify::{RequestRow, StoredContent, StoredRequest, SubjectRow};
use crate::inspection::store::{Head, VerificationReads};
use crate::transaction::StoreError;
use sqlx::query;
use uuid::Uuid;

impl VerificationReads for PgReads {
    async fn entries(
        &self,
        organization: OrganizationId,
        scope: Option<RequestId>,
        from: Option<(RequestId, Version)>,
        limit: i64,
    ) -> Result<Vec<RequestRow>, StoreError> {
        let (from_id, from_version) = from.map_or((Uuid::nil(), i64::MIN), |(id, version)| (id.0, version));
        let rows = reading!(self, connection => query!(
            r#"SELECT h.request_id, h.version, h.actor_id, h.actor_name, h.action, h.from_status, h.to_status, h.reason,
                      h.content_hash, h.hash_format, h.entry_hash,
                      coalesce(to_char(h.occurred_at AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"'),
                               h.occurred_at::text) AS "occurred_at!",
                      c.title AS "c_title?", c.description AS "c_description?", c.amount AS "c_amount?",
                      c.currency AS "c_currency?", c.content_hash AS "c_content_hash?",
                      v.version AS "request_version?",
                      r.applicant_id AS "r_applicant_id?", r.title AS "r_title?", r.description AS "r_description?",
                      r.amount AS "r_amount?", r.currency AS "r_currency?", r.content_hash AS "r_content_hash?",
                      r.content_version AS "r_content_version?", r.status AS "r_status?",
                      r.decision_reason AS "r_decision_reason?", r.last_action AS "r_last_action?",
                      r.last_actor_id AS "r_last_actor_id?", r.last_actor_name AS "r_last_actor_name?",
                      r.chain_hash AS "r_chain_hash?",
                      r.created_at AS "r_created_at?", r.updated_at AS "r_updated_at?",
                      r.submitted_at AS "r_submitted_at?", r.decided_at AS "r_decided_at?"
               FROM approval_history h
               LEFT JOIN LATERAL (
                 SELECT * FROM approval_version c
                 WHERE c.organization_id = h.organization_id AND c.request_id = h.request_id AND c.version = h.version
                 LIMIT 1) c ON true
               LEFT JOIN LATERAL (
                 SELECT version FROM approval_request v
                 WHERE v.organization_id = h.organization_id AND v.id = h.request_id
                 LIMIT 1) v ON true
               LEFT JOIN LATERAL (
                 SELECT r.applicant_id, r.title, r.description, r.amount, r.currency, r.content_hash,
                        r.content_version, r.status, r.decision_reason, r.last_action, r.last_actor_id,
                        r.last_actor_name, r.chain_hash,
                        coalesce(to_char(r.created_at AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"'),
                                 r.created_at::text) AS created_at,
                        coalesce(to_char(r.updated_at AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"'),
                                 r.updated_at::text) AS updated_at,
                        coalesce(to_char(r.submitted_at AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"'),
                                 r.submitted_at::text) AS submitted_at,
                        coalesce(to_char(r.decided_at AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"'),
                                 r.decided_at::text) AS decided_at
                 FROM approval_request r
                 WHERE r.organization_id = h.organization_id AND r.id = h.request_id AND v.version <= h.version
                 LIMIT 1) r ON true
               WHERE h.organization_id = $1 AND (h.request_id, h.version) >= ($2::uuid, $3::bigint)
                 AND ($4::uuid IS NULL OR h.request_id = $4)
               ORDER BY h.request_id, h.version
               LIMIT $5"#,
            organization.0,
            from_id,
            from_version,
            scope.map(|id| id.0),
            limit,
        ).fetch_all(connection));
        Ok(rows
            .into_iter()
            .map(|row| {
                let content = (|| {
                    let (title, description) = (row.c_title?, row.c_description?);
                    let content = Content { title, description, amount: row.c_amount, currency: row.c_currency };
                    Some(StoredContent { content, content_hash: row.c_content_hash? })
                })();
                let request = (|| {
                    let (title, description) = (row.r_title?, row.r_description?);
                    let content = Content { title, description, amount: row.r_amount, currency: row.r_currency };
                    Some(StoredRequest {
                        applicant_id: UserId(row.r_applicant_id?),
                        status: row.r_status?,
                        content_version: row.r_content_version?,
                        content: StoredContent { content, content_hash: row.r_content_hash? },
                        decision_reason: row.r_decision_reason,
                        created_at: row.r_created_at?,
                        updated_at: row.r_updated_at?,
                        submitted_at: row.r_submitted_at,
                        decided_at: row.r_decided_at,
                        last_action: row.r_last_action?,
                        last_actor_id: UserId(row.r_last_actor_id?),
                        last_actor_name: row.r_last_actor_name?,
                        chain_hash: row.r_chain_hash?,
                    })
                })();
                RequestRow {
                    request_id: RequestId(row.request_id),
                    version: row.version,
                    actor_id: UserId(row.actor_id),
                    actor_name: row.actor_name,
                    action: row.action,
                    from_status: row.from_status,
                    to_status: row.to_status,
                    reason: row.reason,
                    content_hash: row.content_hash,
                    occurred_at: row.occurred_at,
                    hash_format: row.hash_format,
                    entry_hash: row.entry_hash,
                    content,
                    request_version: row.request_version,
                    request,
                }
            })
            .collect())
    }

    async fn requests(
        &self,
        organization: OrganizationId,
        scope: Option<RequestId>,
        after: Option<RequestId>,
        limit: i64,
    ) -> Result<Vec<(RequestId, bool)>, StoreError> {
        let rows = reading!(self, connection => query!(
            r#"SELECT r.id, (SELECT true FROM approval_history h
                             WHERE h.organization_id = r.organization_id AND h.request_id = r.id
                             LIMIT 1) IS NOT NULL AS "has_history!"
               FROM approval_request r
               WHERE r.organization_id = $1 AND ($2::uuid IS NULL OR r.id > $2) AND ($3::uuid IS NULL OR r.id = $3)
               ORDER BY r.id
               LIMIT $4"#,
            organization.0,
            after.map(|id| id.0),
            scope.map(|id| id.0),
            limit,
        ).fetch_all(connection));
        Ok(rows.into_iter().map(|row| (RequestId(row.id), row.has_history)).collect())
    }

    async fn contents(
        &self,
        organization: OrganizationId,
        scope: Option<RequestId>,
        after: Option<(RequestId, Version)>,
        limit: i64,
    ) -> Result<Vec<(RequestId, Version, bool)>, StoreError> {
        let rows = reading!(self, connection => query!(
            r#"SELECT c.request_id, c.version,
                      (SELECT true FROM approval_history h
                       WHERE h.organization_id = c.organization_id AND h.request_id = c.request_id
                         AND h.version = c.version
                       LIMIT 1) IS NOT NULL AS "has_entry!"
               FROM approval_version c
               WHERE c.organization_id = $1 AND ($2::uuid IS NULL OR (c.request_id, c.version) > ($2, $3::bigint))
                 AND ($4::uuid IS NULL OR c.request_id = $4)
               ORDER BY c.request_id, c.version
               LIMIT $5"#,
            organization.0,
            after.map(|(id, _)| id.0),
            after.map(|(_, version)| version),
            scope.map(|id| id.0),
            limit,
        ).fetch_all(connection));
        Ok(rows.into_iter().map(|row| (RequestId(row.request_id), row.version, row.has_entry)).collect())
    }

    async fn subject_entries(
        &self,
        organization: OrganizationId,
        from: Option<(&str, &str, i64)>,
        limit: i64,
    ) -> Result<Vec<SubjectRow>, StoreError> {
        let (kind, subject, seq) = from.unwrap_or(("", "", i64::MIN));
        let rows = reading!(self, connection => query!(
            r#"SELECT o.kind, o.subject_id, o.seq, o.actor_id, o.actor_name, o.action, o.reason,
                      o.detail::text AS "detail!",
                      coalesce(to_char(o.occurred_at AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"'),
                               o.occurred_at::text) AS "occurred_at!",
                      o.hash_format, o.entry_hash, d.seq AS "head_seq?", d.chain_hash AS "head_hash?"
               FROM organization_history o
               LEFT JOIN LATERAL (
                 SELECT seq, chain_hash FROM history_head d
                 WHERE d.organization_id = o.organization_id AND d.kind = o.kind AND d.subject_id = o.subject_id
                 LIMIT 1) d ON true
               WHERE o.organization_id = $1 AND (o.kind, o.subject_id, o.seq) >= ($2, $3, $4)
               ORDER BY o.kind, o.subject_id, o.seq
               LIMIT $5"#,
            organization.0,
            kind,
            subject,
            seq,
            limit,
        ).fetch_all(connection));
        Ok(rows
            .into_iter()
            .map(|row| SubjectRow {
                kind: row.kind,
                subject_id: row.subject_id,
                seq: row.seq,
                actor_id: row.actor_id.map(UserId),
                actor_name: row.actor_name,
                action: row.action,
                reason: row.reason,
                detail: row.detail,
                occurred_at: row.occurred_at,
                hash_format: row.hash_format,
                entry_hash: row.entry_hash,
                head: row.head_seq.zip(row.head_hash),
            })
            .collect())
    }

    async fn heads(
        &self,
        organization: OrganizationId,
        after: Option<(&str, &str)>,
        limit: i64,
    ) -> Result<Vec<(String, String, bool)>, StoreError> {
        let rows = reading!(self, connection => query!(
            r#"SELECT d.kind, d.subject_id,
                      (d.seq = 0
                       OR (SELECT true FROM organization_history o
                           WHERE o.organization_id = d.organization_id AND o.kind = d.kind
                             AND o.subject_id = d.subject_id
                           LIMIT 1) IS NOT NULL) AS "agrees!"
               FROM history_head d
               WHERE d.organization_id = $1 AND ($2::text IS NULL OR (d.kind, d.subject_id) > ($2, $3::text))
               ORDER BY d.kind, d.subject_id
               LIMIT $4"#,
            organization.0,
            after.map(|(kind, _)| kind),
            after.map(|(_, subject)| subject),
            limit,
        ).fetch_all(connection));
        Ok(rows.into_iter().map(|row| (row.kind, row.subject_id, row.agrees)).collect())
    }

    async fn request_heads(
        &self,
        organization: OrganizationId,
        after: Option<RequestId>,
        limit: i64,
    ) -> Result<Vec<Head>, StoreError> {
        let rows = reading!(self, connection => query!(
            "SELECT id, version, chain_hash FROM approval_request
             WHERE organization_id = $1 AND ($2::uuid IS NULL OR id > $2)
             ORDER BY id
             LIMIT $3",
            organization.0,
            after.map(|id| id.0),
            limit,
        ).fetch_all(connection));
        Ok(rows
            .into_iter()
            .map(|row| Head {
                kind: Kind::Request.as_str().to_owned(),
                subject: row.id.to_string(),
                version: row.version,
                chain_hash: hex::encode(row.chain_hash),
            })
            .collect())
    }

    async fn subject_heads(
        &self,
        organization: OrganizationId,
        after: Option<(&str, &str)>,
        limit: i64,
    ) -> Result<Vec<Head>, StoreError> {
        let rows = reading!(self, connection => query!(
            "SELECT kind, subject_id, seq, chain_hash FROM history_head
             WHERE organization_id = $1 AND seq > 0 AND ($2::text IS NULL OR (kind, subject_id) > ($2, $3::text))
             ORDER BY kind, subject_id
             LIMIT $4",
            organization.0,
            after.map(|(kind, _)| kind),
            after.map(|(_, subject)| subject),
            limit,
        ).fetch_all(connection));
        Ok(rows
            .into_iter()
            .map(|row| Head {
                kind: row.kind,
                subject: row.subject_id,
                version: row.seq,
                chain_hash: hex::encode(row.chain_hash),
            })
            .collect())
    }

    async fn hashes_now(
        &self,
        organization: OrganizationId,
        heads: &[Head],
    ) -> Result<Vec<Option<String>>, StoreError> {
        let kinds: Vec<_> = heads.iter().map(|head| head.kind.clone()).collect();
        let subjects: Vec<_> = heads.iter().map(|head| head.subject.clone()).collect();
        // What is no UUID is no request of ours: nothing is found for it.
        let ids: Vec<_> = heads.iter().map(|head| Uuid::try_parse(&head.subject).unwrap_or_default()).collect();
        let versions: Vec<_> = heads.iter().map(|head| head.version).collect();
        let rows = reading!(self, connection => query!(
            r#"SELECT CASE WHEN w.kind = 'request'
                      THEN (SELECT h.entry_hash FROM approval_history h
                            WHERE h.organization_id = $1 AND h.request_id = w.id AND h.version = w.version)
                      ELSE (SELECT o.entry_hash FROM organization_history o
                            WHERE o.organization_id = $1 AND o.kind = w.kind AND o.subject_id = w.subject
                              AND o.seq = w.version) END AS hash
               FROM unnest($2::text[], $3::text[], $4::uuid[], $5::bigint[])
                    WITH ORDINALITY AS w (kind, subject, id, version, place)
               ORDER BY place"#,
            organization.0,
            &kinds,
            &subjects,
            &ids,
            &versions,
        ).fetch_all(connection));
        Ok(rows.into_iter().map(|row| row.hash.map(hex::encode)).collect())
    }

    async fn organizations(
        &self,
        after: Option<OrganizationId>,
        limit: i64,
    ) -> Result<Vec<OrganizationId>, StoreError> {
        let rows = reading!(self, connection => query!(
            "SELECT id FROM organization WHERE $1::uuid IS NULL OR id > $1 ORDER BY id LIMIT $2",
            after.map(|id| id.0),
            limit,
        ).fetch_all(connection));
        Ok(rows.into_iter().map(|row| OrganizationId(row.id)).collect())
    }

    async fn extent(&self, organization: OrganizationId) -> Result<Option<(i64, Instant)>, StoreError> {
        let row = reading!(self, connection => query!(
            r#"SELECT (SELECT count(*) FROM approval_history WHERE organization_id = $1)
                      + (SELECT count(*) FROM organization_history WHERE organization_id = $1) AS "rows!",
                      clock_timestamp() AS "now!"
               FROM organization o WHERE id = $1"#,
            organization.0,
        ).fetch_optional(connection));
        Ok(row.map(|row| (row.rows, row.now)))
    }
}
