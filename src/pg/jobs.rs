//! The queue of jobs: what a worker looks for, takes and saves.

use super::error::{corrupt, within};
use super::leases::refused;
use super::processing::job;
use super::reads::{PgReads, reading};
use super::session::{PgSession, PgStore};
use crate::domain::history::{ChainHead, HASH_FORMAT, Hash};
use crate::domain::ids::{OrganizationId, RequestId, UserId};
use crate::domain::job::{Job, JobState, Order};
use crate::domain::lease::{Fence, Target, TargetKind, Ticket};
use crate::lease::Grant;
use crate::processing::store::{Backlog, Claimed, Due, Finished, JobQueue, LockedWork, SaveSession, Work};
use crate::transaction::StoreError;
use sqlx::query;
use std::time::{Duration, Instant};
use uuid::Uuid;

/// The queue on PostgreSQL.
#[derive(Clone, Debug)]
pub struct PgJobs {
    on: PgReads,
    store: PgStore,
}

impl PgJobs {
    /// Looks and claims on a pool that may write; saves with `store`, whose transactions have short limits.
    #[must_use]
    pub const fn new(on: PgReads, store: PgStore) -> Self {
        Self { on, store }
    }
}

impl JobQueue for PgJobs {
    type Session = PgSession;

    async fn due(&self, timeout: Duration, limit: i64) -> Result<Vec<Due>, StoreError> {
        let rows = reading!(self.on, connection => query!(
            "SELECT j.organization_id, j.request_id
             FROM job j
             LEFT JOIN job_lease l
               ON l.organization_id = j.organization_id AND l.kind = 'job' AND l.target_id = j.request_id::text
             WHERE j.state <> 'succeeded' AND j.state = 'waiting' AND j.next_try_at <= now()
               AND (l.fence IS NULL
                    OR greatest(l.updated_at, pg_postmaster_start_time()) < now() - make_interval(secs => $1::float8))
             ORDER BY j.next_try_at
             LIMIT $2",
            timeout.as_secs_f64(),
            limit,
        ).fetch_all(connection));
        let due = |organization: Uuid, request: Uuid| Due {
            organization_id: OrganizationId(organization),
            request_id: RequestId(request),
        };
        Ok(rows.into_iter().map(|row| due(row.organization_id, row.request_id)).collect())
    }

    async fn next_due(&self, timeout: Duration) -> Result<Option<Duration>, StoreError> {
        // Also what became due since nothing was found: it must not wait for a whole interval.
        let row = reading!(self.on, connection => query!(
            r#"SELECT extract(epoch FROM least(
                 (SELECT j.next_try_at FROM job j
                  WHERE j.state <> 'succeeded' AND j.state = 'waiting'
                    AND NOT EXISTS (SELECT FROM job_lease l
                                    WHERE l.organization_id = j.organization_id AND l.kind = 'job'
                                      AND l.target_id = j.request_id::text)
                  ORDER BY j.next_try_at
                  LIMIT 1),
                 (SELECT min(greatest(j.next_try_at,
                                      greatest(l.updated_at, pg_postmaster_start_time()) + make_interval(secs => $1::float8)))
                  FROM job_lease l
                  JOIN job j ON j.organization_id = l.organization_id
                            AND j.request_id = CASE l.kind WHEN 'job' THEN l.target_id::uuid END
                  WHERE j.state = 'waiting')
               ) - clock_timestamp())::float8 AS seconds"#,
            timeout.as_secs_f64(),
        ).fetch_one(connection));
        // A little later, so that it is due by then.
        let later = |seconds: f64| Duration::try_from_secs_f64(seconds + 0.002).unwrap_or_default();
        Ok(row.seconds.map(later))
    }

    async fn drop_stray(&self, timeout: Duration) -> Result<u64, StoreError> {
        let deleted = reading!(self.on, connection => query!(
            "WITH stray AS MATERIALIZED (
               SELECT l.organization_id, l.kind, l.target_id FROM job_lease l
               WHERE l.kind = 'job'
                 AND greatest(l.updated_at, pg_postmaster_start_time())
                     < clock_timestamp() - make_interval(secs => $1::float8)
                 AND NOT EXISTS (SELECT FROM job j
                                 WHERE j.organization_id = l.organization_id AND j.state = 'waiting'
                                   AND j.request_id = CASE l.kind WHEN 'job' THEN l.target_id::uuid END)
               ORDER BY l.organization_id, l.kind, l.target_id
               FOR UPDATE OF l SKIP LOCKED
             )
             DELETE FROM job_lease l USING stray s
             WHERE (l.organization_id, l.kind, l.target_id) = (s.organization_id, s.kind, s.target_id)",
            timeout.as_secs_f64(),
        ).execute(connection));
        Ok(deleted.rows_affected())
    }

    async fn claim(
        &self,
        organization: OrganizationId,
        requests: &[RequestId],
        holder: &str,
        timeout: Duration,
    ) -> Result<Vec<Claimed>, StoreError> {
        let ids: Vec<Uuid> = requests.iter().map(|request| request.0).collect();
        // One statement, in the lock order. A lease that somebody has locked is passed over: a process that froze in its
        // save would keep the others of the organization waiting. A job that was finished while its lease was waited for is not what the
        // snapshot says: UPDATE looks at its newest version. The head of the history is made here, where jobs come in
        // numbers, and not in each save.
        let rows = reading!(self.on, connection => query!(
            r#"WITH free AS MATERIALIZED (
                 SELECT target_id FROM job_lease
                 WHERE organization_id = $1 AND kind = 'job' AND target_id = ANY ($2::uuid[]::text[])
                 ORDER BY target_id
                 FOR UPDATE SKIP LOCKED
               ), taken AS (
                 INSERT INTO job_lease (organization_id, kind, target_id, lease_token, fence, holder, takeovers, acquired_at,
                                        updated_at)
                 SELECT $1, 'job', id::text, gen_random_uuid(), nextval('lease_fence'), $3, 0, clock_timestamp(),
                        clock_timestamp()
                 FROM unnest($2::uuid[]) AS wanted (id)
                 WHERE id::text IN (SELECT target_id FROM free)
                    OR NOT EXISTS (SELECT FROM job_lease l
                                   WHERE l.organization_id = $1 AND l.kind = 'job' AND l.target_id = id::text)
                 ORDER BY id::text COLLATE "C"
                 ON CONFLICT (organization_id, kind, target_id) DO UPDATE SET
                   lease_token = gen_random_uuid(), fence = nextval('lease_fence'), holder = $3,
                   takeovers = job_lease.takeovers + 1, acquired_at = clock_timestamp(), updated_at = clock_timestamp()
                 WHERE greatest(job_lease.updated_at, pg_postmaster_start_time())
                       < clock_timestamp() - make_interval(secs => $4::float8)
                 RETURNING target_id, lease_token, fence, takeovers, acquired_at
               ), begun AS (
                 UPDATE job j SET attempts = j.attempts + 1
                 FROM taken t
                 WHERE j.organization_id = $1 AND j.request_id = ANY ($2) AND j.request_id = t.target_id::uuid
                   AND j.state = 'waiting'
                   AND j.next_try_at <= clock_timestamp()
                 RETURNING j.request_id, j.attempts, t.fence, t.acquired_at
               ), intent AS (
                 INSERT INTO job_attempt (organization_id, request_id, attempt, fence, holder, started_at)
                 SELECT $1, request_id, attempts, fence, $3, acquired_at FROM begun
               ), head AS (
                 INSERT INTO history_head (organization_id, kind, subject_id, seq, chain_hash)
                 SELECT $1, 'job', request_id::text, 0, $5 FROM begun
                 ON CONFLICT DO NOTHING
               )
               SELECT t.target_id AS "target_id!", t.lease_token AS "lease_token!", t.fence AS "fence!",
                      t.takeovers AS "takeovers!", t.acquired_at AS "acquired_at!", b.attempts AS "attempts?",
                      r.id AS "id?", r.version AS "version?", r.content_hash AS "content_hash?", r.title AS "title?",
                      r.amount, r.currency, r.applicant_id AS "applicant_id?", r.last_actor_id AS "last_actor_id?",
                      r.decided_at
               FROM taken t
               LEFT JOIN begun b ON b.request_id = t.target_id::uuid
               -- For each one by its key: how many were taken is unknown to a plan made beforehand.
               LEFT JOIN LATERAL (
                 SELECT * FROM approval_request WHERE organization_id = $1 AND id = b.request_id OFFSET 0
               ) r ON true"#,
            organization.0,
            &ids,
            holder,
            timeout.as_secs_f64(),
            &Hash::START.0[..],
        ).fetch_all(connection));
        rows.into_iter()
            .map(|row| {
                let grant = Grant {
                    token: row.lease_token,
                    fence: row.fence,
                    takeovers: row.takeovers,
                    acquired_at: row.acquired_at,
                };
                let work = match row.attempts {
                    None => None,
                    Some(attempt) => Some(Work {
                        attempt,
                        order: Order {
                            organization_id: organization,
                            request_id: RequestId(row.id.ok_or_else(|| corrupt("job without a request"))?),
                            version: row.version.ok_or_else(|| corrupt("version"))?,
                            content_hash: hex(row.content_hash)?,
                            title: row.title.ok_or_else(|| corrupt("title"))?,
                            amount: row.amount,
                            currency: row.currency,
                            applicant_id: UserId(row.applicant_id.ok_or_else(|| corrupt("applicant_id"))?),
                            // An approved request never changes again: its last change is the approval.
                            approved_by: UserId(row.last_actor_id.ok_or_else(|| corrupt("last_actor_id"))?),
                            approved_at: row.decided_at.ok_or_else(|| corrupt("decided_at"))?,
                        },
                    }),
                };
                Ok(Claimed { target: Target::of(organization, TargetKind::Job, row.target_id), grant, work })
            })
            .collect()
    }

    async fn open_save(&self) -> Result<PgSession, StoreError> {
        self.store.begin().await
    }

    async fn is_saved(&self, due: Due, fence: Fence) -> Result<bool, StoreError> {
        let row = reading!(self.on, connection => query!(
            r#"SELECT EXISTS (SELECT FROM job_attempt
                              WHERE organization_id = $1 AND request_id = $2 AND fence = $3 AND ended_at IS NOT NULL)
                      AS "saved!""#,
            due.organization_id.0,
            due.request_id.0,
            fence,
        ).fetch_one(connection));
        Ok(row.saved)
    }

    async fn backlog(&self, timeout: Duration) -> Result<Backlog, StoreError> {
        let row = reading!(self.on, connection => query!(
            r#"SELECT count(*) FILTER (WHERE j.state = 'failed') AS "failed!",
                      count(*) FILTER (WHERE j.state = 'waiting' AND l.fence IS NULL) AS "waiting!",
                      count(*) FILTER (WHERE j.state = 'waiting' AND l.fence IS NOT NULL) AS "running!",
                      extract(epoch FROM now() - min(j.ended_at) FILTER (WHERE j.state = 'failed'))::float8 AS failed_for,
                      extract(epoch FROM now() - min(j.next_try_at)
                              FILTER (WHERE j.state = 'waiting' AND l.fence IS NULL))::float8 AS waiting_for,
                      extract(epoch FROM now() - min(l.acquired_at) FILTER (WHERE j.state = 'waiting'))::float8 AS running_for
               FROM job j
               LEFT JOIN job_lease l
                 ON l.organization_id = j.organization_id AND l.kind = 'job' AND l.target_id = j.request_id::text
                    AND greatest(l.updated_at, pg_postmaster_start_time()) >= now() - make_interval(secs => $1::float8)
               WHERE j.state <> 'succeeded'"#,
            timeout.as_secs_f64(),
        ).fetch_one(connection));
        let number = |n: i64| u32::try_from(n).unwrap_or(u32::MAX);
        let age = |seconds: Option<f64>| seconds.unwrap_or(0.0).max(0.0);
        Ok(Backlog {
            states: vec![
                (JobState::Waiting, number(row.waiting), age(row.waiting_for)),
                (JobState::Running, number(row.running), age(row.running_for)),
                (JobState::Failed, number(row.failed), age(row.failed_for)),
            ],
        })
    }
}

fn hex(bytes: Option<Vec<u8>>) -> Result<String, StoreError> {
    bytes.and_then(|bytes| Hash::from_bytes(&bytes)).map(|hash| hash.to_string()).ok_or_else(|| corrupt("content_hash"))
}

impl SaveSession for PgSession {
    async fn lock_work(&mut self, ticket: &Ticket, due: Due) -> Result<Option<LockedWork>, StoreError> {
        let asked = Instant::now();
        // Each part is asked for by the next, so they are locked in this order.
        let row = within(
            self.answer_limit,
            query!(
                r#"WITH held AS MATERIALIZED (
                     SELECT fence FROM job_lease
                     WHERE organization_id = $1 AND kind = 'job' AND target_id = $2 AND lease_token = $3
                     FOR UPDATE
                   ), wanted AS MATERIALIZED (
                     SELECT j.state, j.attempts, j.failures, j.last_error
                     FROM held, job j
                     WHERE j.organization_id = $1 AND j.request_id = $4
                     FOR UPDATE OF j
                   ), head AS MATERIALIZED (
                     SELECT h.seq, h.chain_hash
                     FROM wanted, history_head h
                     WHERE h.organization_id = $1 AND h.kind = 'job' AND h.subject_id = $2
                     FOR UPDATE OF h
                   )
                   SELECT wanted.state, wanted.attempts, wanted.failures, wanted.last_error, head.seq, head.chain_hash,
                          clock_timestamp() AS "at!"
                   FROM head, wanted"#,
                due.organization_id.0,
                ticket.target.id,
                ticket.token,
                due.request_id.0,
            )
            .fetch_optional(self.connection()?),
        )
        .await;
        let Some(row) = self.note_lock("lease", asked, row)? else {
            refused(ticket);
            return Ok(None);
        };
        let hash = Hash::from_bytes(&row.chain_hash).ok_or_else(|| corrupt("history_head.chain_hash"))?;
        let head = ChainHead { seq: row.seq, hash, at: row.at };
        Ok(Some(LockedWork { job: job!(row), head, at: row.at }))
    }

    async fn finish(&mut self, done: &Finished<'_>) -> Result<(), StoreError> {
        let job = &done.verdict.job;
        let row = done.entry;
        if let Some(row) = row {
            super::chain::check_action(&row.entry)?;
        }
        let (entry, event) = (row.map(|row| &row.entry), row.map(|row| &row.event));
        let payload = event.map(|event| self.outgoing(event));
        let written = within(
            self.answer_limit,
            query!(
                r#"WITH released AS (
                     DELETE FROM job_lease
                     WHERE organization_id = $1 AND kind = 'job' AND target_id = $2 AND lease_token = $3
                   ), attempt AS (
                     UPDATE job_attempt SET ended_at = $5, error = $6
                     WHERE organization_id = $1 AND request_id = $4 AND attempt = $7
                   ), result AS (
                     INSERT INTO job_result (organization_id, request_id, data, lease_fence, saved_at)
                     SELECT $1, $4, $8, $9, $5 WHERE $8::jsonb IS NOT NULL
                     ON CONFLICT (organization_id, request_id) DO UPDATE
                       SET data = excluded.data, lease_fence = excluded.lease_fence, saved_at = excluded.saved_at
                       WHERE job_result.lease_fence < excluded.lease_fence
                   ), head AS (
                     UPDATE history_head SET seq = $14, chain_hash = $15
                     WHERE organization_id = $1 AND kind = 'job' AND subject_id = $2 AND $14::bigint IS NOT NULL
                   ), history AS (
                     INSERT INTO organization_history
                       (organization_id, kind, subject_id, seq, actor_id, actor_name, action, reason, detail, occurred_at,
                        hash_format, entry_hash)
                     SELECT $1, 'job', $2, $14, $16::uuid, $17, $18, $19, $20, $5, $21, $15 WHERE $14::bigint IS NOT NULL
                   ), event AS (
                     INSERT INTO outbox_event
                       (organization_id, subject_kind, subject_id, seq, event_type, payload, occurred_at)
                     SELECT $1, 'job', $2, $14, $22, $23, $5 WHERE $14::bigint IS NOT NULL
                   )
                   UPDATE job SET state = $10, failures = $11, last_error = $12, next_try_at = $13,
                                  ended_at = CASE WHEN $13::timestamptz IS NULL THEN $5::timestamptz END
                   WHERE organization_id = $1 AND request_id = $4 AND state = 'waiting'"#,
                done.due.organization_id.0,
                done.ticket.target.id,
                done.ticket.token,
                done.due.request_id.0,
                done.at,
                done.verdict.error,
                done.attempt,
                done.result.map(sqlx::types::Json) as _,
                done.fence,
                job.state.as_str(),
                job.failures,
                job.last_error,
                done.verdict.next_try_at,
                entry.map(|entry| entry.seq),
                row.map(|row| &row.entry_hash.0[..]),
                entry.and_then(|entry| entry.actor_id).map(|actor| actor.0),
                entry.map(|entry| entry.actor_name.as_str()),
                entry.map(|entry| entry.action),
                entry.and_then(|entry| entry.reason.as_deref()),
                entry.map(|entry| sqlx::types::Json(&entry.detail)) as _,
                HASH_FORMAT,
                event.map(|event| event.event_type.as_str()),
                payload as _,
            )
            .execute(self.connection()?),
        )
        .await;
        if self.note(written)?.rows_affected() != 1 {
            return Err(StoreError::Internal("a job under its lease was not waiting".into()));
        }
        if done.verdict.next_try_at.is_some() {
            self.wake_workers();
        }
        Ok(())
    }
}
