//! The statements of deliveries: what is to be delivered to whom, and the saving of what was.

use super::error::{corrupt, within};
use super::reads::{PgReads, reading};
use super::session::{PgSession, PgStore};
use super::webhooks::{endpoint, stored_status};
use crate::domain::Instant;
use crate::domain::event::LoggedEvent;
use crate::domain::ids::{EndpointId, OrganizationId};
use crate::domain::webhook::{Delivery, Endpoint, EndpointState, Progress, SealedSecrets};
use crate::transaction::{Locked, StoreError};
use crate::webhooks::delivery_store::{DeliverySession, DeliveryStore, Due, Figure, Key};
use crate::webhooks::window::Window;
use sqlx::query;
use std::time::Duration;

/// How many rows of the log one step deletes at most.
const STEP: i64 = 1_000;

/// Deliveries on PostgreSQL.
#[derive(Clone, Debug)]
pub struct PgDeliveries {
    reads: PgReads,
    store: PgStore,
}

impl PgDeliveries {
    /// Reads on `reads`, saves on `store`, whose transactions have short limits.
    #[must_use]
    pub const fn new(reads: PgReads, store: PgStore) -> Self {
        Self { reads, store }
    }
}

impl DeliveryStore for PgDeliveries {
    type Session = PgSession;

    async fn open_save(&self) -> Result<PgSession, StoreError> {
        self.store.open_save().await
    }

    async fn due(&self, busy: &[Key], limit: i64) -> Result<Due, StoreError> {
        let busy: Vec<uuid::Uuid> = busy.iter().map(|(_, id)| id.0).collect();
        let (rows, next) = reading!(self.reads, connection => async {
            let rows = query!(
                "SELECT e.organization_id, e.id
                 FROM webhook_endpoint e JOIN event_stream s USING (organization_id)
                 WHERE e.state = 'enabled' AND s.last_position > e.position AND e.id <> ALL ($1)
                   AND (e.next_attempt_at IS NULL OR e.next_attempt_at <= clock_timestamp())
                 LIMIT $2",
                &busy,
                limit,
            )
            .fetch_all(&mut *connection)
            .await?;
            let next = query!(
                r#"SELECT extract(epoch FROM min(e.next_attempt_at) - clock_timestamp())::float8 AS seconds
                   FROM webhook_endpoint e WHERE e.state = 'enabled' AND e.id <> ALL ($1)"#,
                &busy,
            )
            .fetch_one(connection)
            .await?;
            Ok((rows, next.seconds))
        });
        let endpoints = rows.into_iter().map(|row| (OrganizationId(row.organization_id), EndpointId(row.id))).collect();
        Ok(Due { endpoints, next: next.map(|seconds| Duration::try_from_secs_f64(seconds).unwrap_or_default()) })
    }

    async fn window(
        &self,
        (organization, id): Key,
        positions: i64,
    ) -> Result<Option<(Endpoint, Window, Instant)>, StoreError> {
        let found = reading!(self.reads, connection => async {
            let endpoint = query!(
                r#"SELECT id, url, event_types, state, secret, old_secret, old_secret_until, version, created_at,
                          updated_at, position, attempts, failures, failing_since, next_attempt_at, last_attempt_at,
                          last_status, last_error, clock_timestamp() AS "now!",
                          coalesce((SELECT trimmed FROM event_stream WHERE organization_id = $1), 0) AS "trimmed!"
                   FROM webhook_endpoint WHERE organization_id = $1 AND id = $2"#,
                organization.0,
                id.0,
            )
            .fetch_optional(&mut *connection)
            .await?;
            let Some(endpoint) = endpoint else { return Ok(None) };
            // The submission that directly follows a private event is the first one: with it comes what was private. Every
            // position has a row, and those without an event of their own are to be passed.
            let rows = query!(
                r#"WITH taken AS MATERIALIZED (
                     SELECT position, subject_kind, subject_id, seq, event_type, payload, occurred_at, private
                     FROM event_log WHERE organization_id = $1 AND position > $2
                     ORDER BY position
                     LIMIT $3
                   )
                   SELECT t.position AS "place!", e.position AS "position?", e.subject_kind AS "subject_kind?",
                          e.subject_id AS "subject_id?", e.seq AS "seq?", e.event_type AS "event_type?",
                          e.payload AS "payload?: sqlx::types::Json<Box<serde_json::value::RawValue>>",
                          e.occurred_at AS "occurred_at?", e.private AS "private?"
                   FROM taken t
                   LEFT JOIN LATERAL (
                     SELECT t.position, t.subject_kind, t.subject_id, t.seq, t.event_type, t.payload, t.occurred_at,
                            t.private
                     WHERE NOT t.private
                     UNION ALL
                     SELECT p.position, p.subject_kind, p.subject_id, p.seq, p.event_type, p.payload, p.occurred_at,
                            p.private
                     FROM event_log p
                     WHERE NOT t.private AND t.event_type = 'request.submit' AND p.organization_id = $1 AND p.private
                       AND p.subject_kind = t.subject_kind AND p.subject_id = t.subject_id AND p.seq < t.seq
                       AND EXISTS (SELECT FROM event_log q
                                   WHERE q.organization_id = $1 AND q.private AND q.subject_kind = t.subject_kind
                                     AND q.subject_id = t.subject_id AND q.seq = t.seq - 1)
                   ) e ON true
                   ORDER BY t.position, e.seq"#,
                organization.0,
                endpoint.position,
                positions,
            )
            .fetch_all(connection)
            .await?;
            Ok(Some((endpoint, rows)))
        });
        let Some((row, rows)) = found else { return Ok(None) };
        let (now, trimmed) = (row.now, row.trimmed);
        let endpoint = endpoint!(organization, row);
        // What was cleaned away is passed, also where nothing came after it.
        let mut window = Window { end: endpoint.progress.position.max(trimmed), events: Vec::new() };
        for row in rows {
            window.end = window.end.max(row.place);
            let Some(position) = row.position else { continue };
            let missing = || corrupt("event_log");
            let event = LoggedEvent {
                organization_id: organization,
                position,
                subject_kind: row.subject_kind.ok_or_else(missing)?,
                subject_id: row.subject_id.ok_or_else(missing)?,
                seq: row.seq.ok_or_else(missing)?,
                event_type: row.event_type.ok_or_else(missing)?,
                payload: row.payload.ok_or_else(missing)?.0,
                occurred_at: row.occurred_at.ok_or_else(missing)?,
                private: row.private.ok_or_else(missing)?,
            };
            window.events.push((row.place, event));
        }
        Ok(Some((endpoint, window, now)))
    }

    async fn figures(&self) -> Result<Vec<Figure>, StoreError> {
        let rows = reading!(self.reads, connection => query!(
            r#"SELECT e.state, count(*) AS "count!",
                      coalesce(extract(epoch FROM clock_timestamp() - min(w.occurred_at))::float8, 0) AS "oldest!"
               FROM webhook_endpoint e
               LEFT JOIN LATERAL (
                 SELECT l.occurred_at FROM event_log l
                 WHERE l.organization_id = e.organization_id AND l.position > e.position
                 ORDER BY l.position
                 LIMIT 1
               ) w ON true
               GROUP BY e.state"#,
        ).fetch_all(connection));
        rows.into_iter()
            .map(|row| {
                Ok(Figure {
                    state: EndpointState::parse(&row.state).ok_or_else(|| corrupt("webhook_endpoint.state"))?,
                    count: row.count,
                    oldest: Duration::try_from_secs_f64(row.oldest).unwrap_or_default(),
                })
            })
            .collect()
    }
}

impl DeliverySession for PgSession {
    async fn log_deliveries(
        &mut self,
        endpoint: &Locked<Endpoint>,
        deliveries: &[Delivery],
        keep: i64,
    ) -> Result<(), StoreError> {
        if deliveries.is_empty() {
            return Ok(());
        }
        let before = endpoint.progress.attempts;
        let columns = Columns::of(before, deliveries);
        let done = within(
            self.answer_limit,
            query!(
                "INSERT INTO webhook_delivery
                   (organization_id, endpoint_id, number, position, event_id, event_type, result, status, duration_ms,
                    answer, error, attempted_at)
                 SELECT $1, $2, d.*
                 FROM unnest($3::bigint[], $4::bigint[], $5::text[], $6::text[], $7::text[], $8::smallint[],
                             $9::integer[], $10::text[], $11::text[], $12::timestamptz[]) AS d",
                endpoint.organization_id.0,
                endpoint.id.0,
                &columns.numbers,
                &columns.positions,
                &columns.event_ids,
                &columns.event_types,
                &columns.results,
                &columns.statuses as _,
                &columns.durations,
                &columns.answers as _,
                &columns.errors as _,
                &columns.times,
            )
            .execute(self.connection()?),
        )
        .await;
        self.note(done)?;
        let newest = columns.numbers.last().copied().unwrap_or(before);
        let done = within(
            self.answer_limit,
            query!(
                "DELETE FROM webhook_delivery WHERE organization_id = $1 AND endpoint_id = $2 AND number <= $3",
                endpoint.organization_id.0,
                endpoint.id.0,
                newest - keep,
            )
            .execute(self.connection()?),
        )
        .await;
        self.note(done)?;
        Ok(())
    }

    async fn forget_deliveries(&mut self, age: Duration) -> Result<bool, StoreError> {
        // The oldest of each endpoint are its first by number: looked for by the key.
        let done = within(
            self.answer_limit,
            query!(
                "WITH old AS (
                   SELECT d.organization_id, d.endpoint_id, d.number
                   FROM webhook_endpoint e
                   CROSS JOIN LATERAL (
                     SELECT organization_id, endpoint_id, number, attempted_at FROM webhook_delivery
                     WHERE organization_id = e.organization_id AND endpoint_id = e.id
                     ORDER BY number
                     LIMIT $2
                   ) d
                   WHERE d.attempted_at < clock_timestamp() - make_interval(secs => $1::float8)
                   LIMIT $2
                 )
                 DELETE FROM webhook_delivery d USING old
                 WHERE (d.organization_id, d.endpoint_id, d.number)
                       = (old.organization_id, old.endpoint_id, old.number)",
                age.as_secs_f64(),
                STEP,
            )
            .execute(self.connection()?),
        )
        .await;
        Ok(self.note(done)?.rows_affected() >= STEP.unsigned_abs())
    }
}

/// Attempts, a column at a time.
struct Columns {
    numbers: Vec<i64>,
    positions: Vec<i64>,
    event_ids: Vec<String>,
    event_types: Vec<String>,
    results: Vec<String>,
    statuses: Vec<Option<i16>>,
    durations: Vec<i32>,
    answers: Vec<Option<String>>,
    errors: Vec<Option<String>>,
    times: Vec<Instant>,
}

impl Columns {
    fn of(before: i64, deliveries: &[Delivery]) -> Self {
        let texts = |of: fn(&Delivery) -> &str| deliveries.iter().map(|delivery| of(delivery).to_owned()).collect();
        let milliseconds = |took: Duration| i32::try_from(took.as_millis()).unwrap_or(i32::MAX);
        Self {
            numbers: (before + 1..).take(deliveries.len()).collect(),
            positions: deliveries.iter().map(|delivery| delivery.position).collect(),
            event_ids: texts(|delivery| &delivery.event_id),
            event_types: texts(|delivery| &delivery.event_type),
            results: texts(|delivery| delivery.result.as_str()),
            statuses: deliveries.iter().map(|delivery| stored_status(delivery.status)).collect(),
            durations: deliveries.iter().map(|delivery| milliseconds(delivery.took)).collect(),
            answers: deliveries.iter().map(|delivery| delivery.answer.clone()).collect(),
            errors: deliveries.iter().map(|delivery| delivery.error.clone()).collect(),
            times: deliveries.iter().map(|delivery| delivery.attempted_at).collect(),
        }
    }
}
