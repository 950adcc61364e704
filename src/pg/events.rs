//! The outbox and the log of events: how what was committed is put in order, and how the log is kept small.

use super::error::within;
use super::reads::{PgReads, reading};
use super::session::{PgSession, PgStore};
use crate::domain::ids::OrganizationId;
use crate::domain::lease::Ticket;
use crate::outbox::store::{Numbered, Outbox, OutboxSession, Place};
use crate::transaction::{Locked, StoreError};
use sqlx::{query, query_scalar};
use std::time::Duration;

/// Builds a [`crate::domain::event::LoggedEvent`] from a row of the log with its columns, the payload as a text.
macro_rules! logged {
    ($row:expr) => {{
        let payload = serde_json::value::RawValue::from_string($row.payload);
        crate::domain::event::LoggedEvent {
            organization_id: OrganizationId($row.organization_id),
            position: $row.position,
            subject_kind: $row.subject_kind,
            subject_id: $row.subject_id,
            seq: $row.seq,
            event_type: $row.event_type,
            payload: payload.map_err(|_| crate::pg::error::corrupt("event_log.payload"))?,
            occurred_at: $row.occurred_at,
            private: $row.private,
        }
    }};
}
pub(super) use logged;

/// The outbox and the log, on PostgreSQL.
#[derive(Clone, Debug)]
pub struct PgOutbox {
    on: PgReads,
    store: PgStore,
}

impl PgOutbox {
    /// Looks on `on`; works with `store`, whose transactions have short limits.
    #[must_use]
    pub const fn new(on: PgReads, store: PgStore) -> Self {
        Self { on, store }
    }
}

impl Outbox for PgOutbox {
    type Session = PgSession;

    async fn open_step(&self) -> Result<PgSession, StoreError> {
        self.store.begin().await
    }

    async fn waiting(&self) -> Result<Option<Duration>, StoreError> {
        // In the order of the key, so that the first ones are found by it however many there are.
        let seconds = reading!(self.on, connection => query_scalar!(
            r#"SELECT extract(epoch FROM clock_timestamp() - min(occurred_at))::float8 AS seconds
               FROM (SELECT occurred_at FROM outbox_event
                     ORDER BY organization_id, subject_kind, subject_id, seq
                     LIMIT 10000) AS first"#,
        ).fetch_one(connection));
        Ok(seconds.map(age))
    }

    async fn overgrown(
        &self,
        age: Duration,
        after: Option<OrganizationId>,
        limit: i64,
    ) -> Result<Vec<OrganizationId>, StoreError> {
        let found = reading!(self.on, connection => query_scalar!(
            "SELECT s.organization_id
             FROM event_stream s
             CROSS JOIN LATERAL (
               SELECT e.occurred_at FROM event_log e
               WHERE e.organization_id = s.organization_id AND e.position > s.trimmed
               ORDER BY e.position
               LIMIT 1
             ) AS first
             WHERE ($2::uuid IS NULL OR s.organization_id > $2)
               AND first.occurred_at < clock_timestamp() - make_interval(secs => $1::float8)
             ORDER BY s.organization_id
             LIMIT $3",
            age.as_secs_f64(),
            after.map(|id| id.0),
            limit,
        ).fetch_all(connection));
        Ok(found.into_iter().map(OrganizationId).collect())
    }
}

fn age(seconds: f64) -> Duration {
    // Clocks of an earlier life of the database may have been ahead.
    Duration::try_from_secs_f64(seconds).unwrap_or_default()
}

impl OutboxSession for PgSession {
    async fn number(&mut self, _: &Locked<Ticket>, after: &Place, limit: i64) -> Result<Numbered, StoreError> {
        // The window's time never goes back within a subject, so neither does its `seq`. The position is counted down from
        // the last one, which is the row's newest value, whatever this statement's snapshot says. An event is private
        // as long as its request had not been submitted; statuses that only a submission leads to need no look.
        let row = within(
            self.answer_limit,
            query!(
                r#"WITH moved AS (
                     DELETE FROM outbox_event WHERE ctid = ANY (ARRAY(
                       SELECT ctid FROM outbox_event
                       WHERE (organization_id, subject_kind, subject_id, seq) > ($1::uuid, $2::text, $3::text, $4::bigint)
                       ORDER BY organization_id, subject_kind, subject_id, seq
                       LIMIT $5))
                     RETURNING organization_id, subject_kind, subject_id, seq, event_type, payload, occurred_at
                   ), stream AS (
                     INSERT INTO event_stream (organization_id, last_position, updated_at)
                     SELECT organization_id, count(*), clock_timestamp() FROM moved
                     GROUP BY organization_id
                     ORDER BY organization_id
                     ON CONFLICT (organization_id) DO UPDATE SET
                       last_position = event_stream.last_position + excluded.last_position,
                       updated_at = excluded.updated_at
                     RETURNING organization_id, last_position
                   ), timed AS (
                     SELECT moved.*, max(occurred_at) OVER (PARTITION BY organization_id, subject_kind, subject_id
                                                            ORDER BY seq) AS no_earlier
                     FROM moved
                   ), logged AS (
                     INSERT INTO event_log (organization_id, position, subject_kind, subject_id, seq, event_type, payload,
                                            occurred_at, private)
                     SELECT organization_id,
                            last_position + 1 - row_number() OVER (PARTITION BY organization_id
                              ORDER BY no_earlier DESC, subject_kind DESC, subject_id DESC, seq DESC),
                            subject_kind, subject_id, seq, event_type, payload, occurred_at,
                            CASE WHEN subject_kind <> 'request'
                                   OR payload ->> 'status' IN ('pending', 'approved', 'rejected', 'returned') THEN false
                                 ELSE NOT EXISTS (SELECT FROM approval_history h
                                                  WHERE h.organization_id = timed.organization_id
                                                    AND h.request_id = timed.subject_id::uuid
                                                    AND h.version <= timed.seq AND h.action = 'submit')
                            END
                     FROM timed JOIN stream USING (organization_id)
                   )
                   SELECT all_of.events AS "events!", all_of.waited, last.organization_id AS "organization_id?",
                          last.subject_kind AS "subject_kind?", last.subject_id AS "subject_id?", last.seq AS "seq?"
                   FROM (SELECT count(*) AS events,
                                extract(epoch FROM clock_timestamp() - min(occurred_at))::float8 AS waited
                         FROM moved) AS all_of
                   LEFT JOIN (SELECT organization_id, subject_kind, subject_id, seq FROM moved
                              ORDER BY organization_id DESC, subject_kind DESC, subject_id DESC, seq DESC
                              LIMIT 1) AS last ON true"#,
                after.organization_id,
                after.subject_kind,
                after.subject_id,
                after.seq,
                limit,
            )
            .fetch_one(self.connection()?),
        )
        .await;
        let row = self.note(row)?;
        let last = match (row.organization_id, row.subject_kind, row.subject_id, row.seq) {
            (Some(organization_id), Some(subject_kind), Some(subject_id), Some(seq)) => {
                Some(Place { organization_id, subject_kind, subject_id, seq })
            }
            _ => None,
        };
        Ok(Numbered { events: row.events.unsigned_abs(), waited: row.waited.map(age).unwrap_or_default(), last })
    }

    async fn trim(
        &mut self,
        _: &Locked<Ticket>,
        organization: OrganizationId,
        age: Duration,
        limit: i64,
    ) -> Result<bool, StoreError> {
        // From the beginning on, up to the first that is too young: so one number says what is gone. What a draft's
        // submission will make known stays, however old; and so it does for as long after the submission.
        let trimmed = within(
            self.answer_limit,
            query!(
                r#"WITH line AS MATERIALIZED (
                     SELECT clock_timestamp() - make_interval(secs => $2::float8) AS at
                   ), first AS MATERIALIZED (
                     SELECT e.position, e.occurred_at < line.at AS old,
                            CASE WHEN e.private THEN EXISTS (
                              SELECT FROM approval_request r
                              WHERE r.organization_id = $1 AND r.id = e.subject_id::uuid
                                AND (r.status = 'draft' OR r.updated_at >= line.at)) ELSE false END AS kept
                     FROM event_stream s
                     CROSS JOIN line
                     CROSS JOIN LATERAL (
                       SELECT * FROM event_log e
                       WHERE e.organization_id = $1 AND e.position > s.trimmed
                       ORDER BY e.position
                       LIMIT $3
                     ) AS e
                     WHERE s.organization_id = $1
                   ), edge AS MATERIALIZED (
                     SELECT max(position) AS position FROM first
                     WHERE position < coalesce((SELECT min(position) FROM first WHERE NOT old), 9223372036854775807)
                   ), gone AS (
                     DELETE FROM event_log e USING first, edge
                     WHERE e.organization_id = $1 AND e.position = first.position AND first.position <= edge.position
                       AND NOT first.kept
                   ), stream AS (
                     UPDATE event_stream s SET trimmed = edge.position, updated_at = clock_timestamp()
                     FROM edge
                     WHERE s.organization_id = $1 AND edge.position > s.trimmed
                   ), known AS (
                     DELETE FROM event_log WHERE organization_id = $1 AND position IN (
                       SELECT e.position FROM event_stream s, line, event_log e
                       JOIN approval_request r ON r.organization_id = e.organization_id AND r.id = e.subject_id::uuid
                       WHERE s.organization_id = $1 AND e.organization_id = $1 AND e.private
                         AND e.position <= s.trimmed AND r.status <> 'draft' AND r.updated_at < line.at
                       LIMIT $3)
                   )
                   SELECT count(*) = $3 AND bool_and(old) AS "more!" FROM first"#,
                organization.0,
                age.as_secs_f64(),
                limit,
            )
            .fetch_one(self.connection()?),
        )
        .await;
        Ok(self.note(trimmed)?.more)
    }
}
