//! The statements of the write transaction on requests, in the order in which they run.

use super::error::{corrupt, within};
use super::idempotency::KeptColumns;
use super::session::{PgSession, PgStore};
use crate::approvals::store::{ApprovalSession, ApprovalStore, Found};
use crate::approvals::view::WaitingFor;
use crate::domain::content::Content;
use crate::domain::event::Event;
use crate::domain::history::{HASH_FORMAT, Hash};
use crate::domain::ids::{OrganizationId, RequestId, UserId};
use crate::domain::member::Member;
use crate::domain::request::{Action, Change, LastChange, Request, Status};
use crate::transaction::idempotency::Kept;
use crate::transaction::{Guarded, Locked, StoreError};
use sqlx::query;
use std::time::Instant;

/// Builds a [`Request`] from a row with the columns of `approval_request`.
macro_rules! request {
    ($organization:expr, $row:expr) => {
        Request {
            organization_id: $organization,
            id: RequestId($row.id),
            applicant_id: UserId($row.applicant_id),
            content: Content {
                title: $row.title,
                description: $row.description,
                amount: $row.amount,
                currency: $row.currency,
            },
            content_hash: Hash::from_bytes(&$row.content_hash).ok_or_else(|| corrupt("content_hash"))?,
            content_version: $row.content_version,
            status: Status::parse(&$row.status).ok_or_else(|| corrupt("status"))?,
            version: $row.version,
            decision_reason: $row.decision_reason,
            created_at: $row.created_at,
            updated_at: $row.updated_at,
            submitted_at: $row.submitted_at,
            decided_at: $row.decided_at,
            last: LastChange {
                action: Action::parse(&$row.last_action).ok_or_else(|| corrupt("last_action"))?,
                actor_id: UserId($row.last_actor_id),
                actor_name: $row.last_actor_name,
            },
            chain_hash: Hash::from_bytes(&$row.chain_hash).ok_or_else(|| corrupt("chain_hash"))?,
        }
    };
}
pub(super) use request;

impl ApprovalStore for PgStore {
    type Session = PgSession;

    async fn open(&self) -> Result<PgSession, StoreError> {
        self.begin().await
    }
}

impl ApprovalSession for PgSession {
    async fn lock_member(
        &mut self,
        organization: OrganizationId,
        user: UserId,
    ) -> Result<Option<Locked<Member>>, StoreError> {
        self.share_member(organization, user).await
    }

    async fn lock_both(
        &mut self,
        organization: OrganizationId,
        user: UserId,
        id: RequestId,
    ) -> Result<Option<(Locked<Member>, Found)>, StoreError> {
        // The order is in the data: the request is looked for in the organization that the locked member's row names,
        // so no plan can come to it before that row is locked. Each part locks one table, whose row is read anew after
        // a wait.
        let asked = Instant::now();
        let row = within(
            self.answer_limit,
            query!(
                r#"WITH member AS MATERIALIZED (
                 SELECT organization_id, display_name, is_active, can_approve, is_admin, version, created_at,
                        pg_advisory_xact_lock_shared(member_fence(organization_id, user_id))::text AS fence
                 FROM organization_member
                 WHERE organization_id = $1 AND user_id = $2
                 FOR SHARE
               ), request AS MATERIALIZED (
                 SELECT id, applicant_id, title, description, amount, currency, status, version, content_version,
                        content_hash, decision_reason, created_at, updated_at, submitted_at, decided_at,
                        last_action, last_actor_id, last_actor_name, chain_hash
                 FROM approval_request
                 WHERE organization_id = (SELECT organization_id FROM member WHERE is_active) AND id = $3
                 FOR UPDATE
               )
               SELECT request.*, member.display_name, member.can_approve, member.is_admin,
                      member.version AS member_version, member.created_at AS member_since,
                      clock_timestamp() AS "at!",
                      (SELECT display_name FROM organization_member m
                       WHERE m.organization_id = $1 AND m.user_id = request.applicant_id) AS "applicant_name!"
               FROM member CROSS JOIN request"#,
                organization.0,
                user.0,
                id.0,
            )
            .fetch_optional(self.connection()?),
        )
        .await;
        let Some(row) = self.note_lock("both", asked, row)? else { return Ok(None) };
        let member = Member {
            organization_id: organization,
            user_id: user,
            display_name: row.display_name,
            is_active: true,
            can_approve: row.can_approve,
            is_admin: row.is_admin,
            version: row.member_version,
            created_at: row.member_since,
        };
        let (at, applicant_name) = (row.at, row.applicant_name);
        let found = Found { request: Locked::taken(request!(organization, row), at), applicant_name };
        Ok(Some((Locked::taken(member, at), found)))
    }

    async fn lock_request(&mut self, by: &Locked<Member>, id: RequestId) -> Result<Option<Found>, StoreError> {
        // The locked part reads approval_request alone: after a wait only that row is read anew. The name beside it is
        // for the answer only, is not judged, and may be as old as the wait.
        let asked = Instant::now();
        let row = within(
            self.answer_limit,
            query!(
                r#"WITH locked AS MATERIALIZED (
                 SELECT id, applicant_id, title, description, amount, currency, status, version, content_version,
                        content_hash, decision_reason, created_at, updated_at, submitted_at, decided_at,
                        last_action, last_actor_id, last_actor_name, chain_hash
                 FROM approval_request
                 WHERE organization_id = $1 AND id = $2
                 FOR UPDATE
               )
               SELECT locked.*, clock_timestamp() AS "at!",
                      (SELECT display_name FROM organization_member m
                       WHERE m.organization_id = $1 AND m.user_id = locked.applicant_id) AS "applicant_name!"
               FROM locked"#,
                by.organization_id.0,
                id.0,
            )
            .fetch_optional(self.connection()?),
        )
        .await;
        let Some(row) = self.note_lock("request", asked, row)? else { return Ok(None) };
        let applicant_name = row.applicant_name;
        let at = row.at;
        let request = request!(by.organization_id, row);
        Ok(Some(Found { request: Locked::taken(request, at), applicant_name }))
    }

    async fn has_acted(&mut self, by: &Locked<Member>, request: &Locked<Request>) -> Result<bool, StoreError> {
        let found = within(
            self.answer_limit,
            query!(
                r#"SELECT EXISTS (SELECT FROM approval_history
                              WHERE organization_id = $1 AND actor_id = $2 AND request_id = $3) AS "acted!""#,
                request.organization_id.0,
                by.user_id.0,
                request.id.0,
            )
            .fetch_one(self.connection()?),
        )
        .await;
        Ok(self.note(found)?.acted)
    }

    async fn waiting_for(&mut self, organization: OrganizationId, applicant: UserId) -> Result<WaitingFor, StoreError> {
        let found =
            within(self.answer_limit, super::reads::waiting_for(self.connection()?, organization, applicant)).await;
        self.note(found)
    }

    async fn insert(&mut self, by: &Locked<Member>, change: &Change, kept: Option<Kept<'_>>) -> Result<(), StoreError> {
        let (after, entry) = (&change.after, &change.entry);
        let event = Event::of_request(entry);
        let kept = KeptColumns::from(kept);
        let payload = self.outgoing(&event);
        let done = within(
            self.answer_limit,
            query!(
                "WITH made AS (
               INSERT INTO approval_request
                 (organization_id, id, applicant_id, title, description, amount, currency, status, version,
                  content_version, content_hash, created_at, updated_at, last_action, last_actor_id, last_actor_name,
                  chain_hash)
               VALUES ($1, $2, $3, $4, $5, $6, $7, $8, 1, 1, $9, $10, $10, $11, $3, $12, $13)
             ), content AS (
               INSERT INTO approval_version
                 (organization_id, request_id, version, title, description, amount, currency, content_hash)
               VALUES ($1, $2, 1, $4, $5, $6, $7, $9)
             ), history AS (
               INSERT INTO approval_history
                 (organization_id, request_id, version, actor_id, actor_name, action, from_status, to_status, reason,
                  content_hash, occurred_at, hash_format, entry_hash)
               VALUES ($1, $2, 1, $3, $12, $11, NULL, $8, NULL, $9, $10, $14, $13)
             ), event AS (
               INSERT INTO outbox_event
                 (organization_id, subject_kind, subject_id, seq, event_type, payload, occurred_at)
               VALUES ($1, 'request', $15, 1, $16, $17, $10)
             )
             UPDATE idempotency_key SET status = $19, location = $20, body = $21
             WHERE organization_id = $1 AND user_id = $3 AND key = $18",
                after.organization_id.0,
                after.id.0,
                by.user_id.0,
                after.content.title,
                after.content.description,
                after.content.amount,
                after.content.currency,
                after.status.as_str(),
                &after.content_hash.0[..],
                entry.occurred_at,
                entry.action.as_str(),
                entry.actor_name,
                &after.chain_hash.0[..],
                HASH_FORMAT,
                event.subject_id,
                event.event_type,
                payload as _,
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

    async fn apply(
        &mut self,
        before: &Locked<Request>,
        change: &Change,
        kept: Option<Kept<'_>>,
    ) -> Result<Guarded, StoreError> {
        let (after, entry) = (&change.after, &change.entry);
        if after.version != before.version + 1 || entry.version != after.version || after.id != before.id {
            return Err(StoreError::Internal("a change must make the next version of the locked request".into()));
        }
        if change.writes_content() {
            self.write_with_content(before, change, kept).await
        } else {
            self.write_decision(before, change, kept).await
        }
    }
}

/// The guarded UPDATE with all that comes with it, in one statement.
impl PgSession {
    async fn write_with_content(
        &mut self,
        before: &Locked<Request>,
        change: &Change,
        kept: Option<Kept<'_>>,
    ) -> Result<Guarded, StoreError> {
        let (after, entry) = (&change.after, &change.entry);
        let (event, kept) = (Event::of_request(entry), KeptColumns::from(kept));
        let payload = self.outgoing(&event);
        let content = &after.content;
        let changed = within(
            self.answer_limit,
            query!(
                r#"WITH changed AS (
                 UPDATE approval_request r SET
                   status = $5, version = r.version + 1, decision_reason = $6, updated_at = $7, submitted_at = $8,
                   decided_at = $9, last_action = $10, last_actor_id = $11, last_actor_name = $12, chain_hash = $13,
                   content_hash = $14, content_version = $15, title = $16, description = $17, amount = $18,
                   currency = $19
                 WHERE r.organization_id = $1 AND r.id = $2 AND r.version = $3 AND r.status = $4
                 RETURNING r.organization_id, r.id, r.version
               ), content AS (
                 INSERT INTO approval_version
                   (organization_id, request_id, version, title, description, amount, currency, content_hash)
                 SELECT organization_id, id, version, $16, $17, $18, $19, $14 FROM changed
               ), history AS (
                 INSERT INTO approval_history
                   (organization_id, request_id, version, actor_id, actor_name, action, from_status, to_status,
                    reason, content_hash, occurred_at, hash_format, entry_hash)
                 SELECT organization_id, id, version, $11, $12, $10, $4, $5, $20, $14, $7, $21, $13 FROM changed
               ), event AS (
                 INSERT INTO outbox_event
                   (organization_id, subject_kind, subject_id, seq, event_type, payload, occurred_at)
                 SELECT organization_id, 'request', $22, version, $23, $24, $7 FROM changed
               ), kept AS (
                 UPDATE idempotency_key k SET status = $26, location = $27, body = $28
                 WHERE k.organization_id = $1 AND k.user_id = $11 AND k.key = $25 AND EXISTS (SELECT FROM changed)
               )
               SELECT count(*) AS "changed!" FROM changed"#,
                after.organization_id.0,
                after.id.0,
                before.version,
                before.status.as_str(),
                after.status.as_str(),
                after.decision_reason,
                after.updated_at,
                after.submitted_at,
                after.decided_at,
                entry.action.as_str(),
                entry.actor_id.0,
                entry.actor_name,
                &after.chain_hash.0[..],
                &after.content_hash.0[..],
                after.content_version,
                content.title,
                content.description,
                content.amount,
                content.currency,
                entry.reason,
                HASH_FORMAT,
                event.subject_id,
                event.event_type,
                payload as _,
                kept.key,
                kept.status,
                kept.location,
                kept.body,
            )
            .fetch_one(self.connection()?),
        )
        .await;
        Ok(guarded(self.note(changed)?.changed))
    }

    /// Without the content, which is neither sent, nor written, nor paid for: it stays as it was. An approval with an amount
    /// is a charge: the table makes it, in this statement. What else only some decisions write is written by functions
    /// (migration 0024): a table that the statement itself names costs also those that leave it alone.
    async fn write_decision(
        &mut self,
        before: &Locked<Request>,
        change: &Change,
        kept: Option<Kept<'_>>,
    ) -> Result<Guarded, StoreError> {
        let (after, entry) = (&change.after, &change.entry);
        let (event, kept) = (Event::of_request(entry), KeptColumns::from(kept));
        let payload = self.outgoing(&event);
        let starts_job = self.starts_jobs && entry.action == Action::Approve;
        let changed = within(
            self.answer_limit,
            query!(
                r#"WITH changed AS (
                 UPDATE approval_request r SET
                   status = $5, version = r.version + 1, decision_reason = $6, updated_at = $7, submitted_at = $8,
                   decided_at = $9, last_action = $10, last_actor_id = $11, last_actor_name = $12, chain_hash = $13
                 WHERE r.organization_id = $1 AND r.id = $2 AND r.version = $3 AND r.status = $4
                 RETURNING r.organization_id, r.id, r.version
               ), history AS (
                 INSERT INTO approval_history
                   (organization_id, request_id, version, actor_id, actor_name, action, from_status, to_status,
                    reason, content_hash, occurred_at, hash_format, entry_hash)
                 SELECT organization_id, id, version, $11, $12, $10, $4, $5, $14, $15, $7, $16, $13 FROM changed
               ), event AS (
                 INSERT INTO outbox_event
                   (organization_id, subject_kind, subject_id, seq, event_type, payload, occurred_at)
                 SELECT organization_id, 'request', $17, version, $18, $19, $7 FROM changed
               ), also AS MATERIALIZED (
                 SELECT CASE WHEN $24::bool THEN start_job(organization_id, id, $7) END,
                        CASE WHEN $20::text IS NOT NULL THEN keep_answer($1, $11, $20, $21, $22, $23) END
                 FROM changed
               )
               SELECT count(*) AS "changed!", (SELECT count(*) FROM also) AS also FROM changed"#,
                after.organization_id.0,
                after.id.0,
                before.version,
                before.status.as_str(),
                after.status.as_str(),
                after.decision_reason,
                after.updated_at,
                after.submitted_at,
                after.decided_at,
                entry.action.as_str(),
                entry.actor_id.0,
                entry.actor_name,
                &after.chain_hash.0[..],
                entry.reason,
                &after.content_hash.0[..],
                HASH_FORMAT,
                event.subject_id,
                event.event_type,
                payload as _,
                kept.key,
                kept.status,
                kept.location,
                kept.body,
                starts_job,
            )
            .fetch_one(self.connection()?),
        )
        .await;
        if starts_job {
            self.wake_workers();
        }
        Ok(guarded(self.note(changed)?.changed))
    }
}

/// The second wall: exactly one row was as it had been read.
const fn guarded(changed: i64) -> Guarded {
    if changed == 1 { Guarded::Applied } else { Guarded::Stale }
}
