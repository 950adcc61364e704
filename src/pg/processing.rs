//! What people do about jobs: the statements of start and cancel, and the look at how one stands.

use super::error::{corrupt, within};
use super::reads::{PgReads, reading};
use super::session::{PgSession, PgStore};
use crate::approvals::store::{ApprovalReads as _, ApprovalSession as _};
use crate::domain::history::{ChainHead, Kind};
use crate::domain::ids::{OrganizationId, RequestId, UserId};
use crate::domain::job::{Job, JobState};
use crate::domain::lease::Standing;
use crate::domain::member::Member;
use crate::domain::request::Request;
use crate::processing::store::{JobEntry, ProcessingReads, ProcessingSession, ProcessingStore, ProcessingView};
use crate::transaction::idempotency::Kept;
use crate::transaction::{Locked, StoreError, Viewer};
use serde_json::value::RawValue;
use sqlx::query;
use sqlx::types::Json;
use std::time::Instant;

/// Builds a [`Job`] from a row with its columns.
macro_rules! job {
    ($row:expr) => {
        Job {
            state: JobState::parse(&$row.state).ok_or_else(|| corrupt("job.state"))?,
            attempts: $row.attempts,
            failures: $row.failures,
            last_error: $row.last_error,
        }
    };
}
pub(super) use job;

impl ProcessingStore for PgStore {
    type Session = PgSession;

    async fn open(&self) -> Result<PgSession, StoreError> {
        self.begin().await
    }
}

impl ProcessingSession for PgSession {
    async fn lock_actor(
        &mut self,
        organization: OrganizationId,
        user: UserId,
    ) -> Result<Option<Locked<Member>>, StoreError> {
        self.share_member(organization, user).await
    }

    async fn lock_approved(
        &mut self,
        by: &Locked<Member>,
        id: RequestId,
    ) -> Result<Option<(Locked<Request>, bool)>, StoreError> {
        let Some(found) = self.lock_request(by, id).await? else { return Ok(None) };
        let has_acted = !by.may_see(&found.request, false) && self.has_acted(by, &found.request).await?;
        Ok(Some((found.request, has_acted)))
    }

    async fn lock_lease(&mut self, request: &Locked<Request>) -> Result<bool, StoreError> {
        let asked = Instant::now();
        let held = within(
            self.answer_limit,
            query!(
                "SELECT fence FROM job_lease WHERE organization_id = $1 AND kind = 'job' AND target_id = $2 FOR UPDATE",
                request.organization_id.0,
                request.id.to_string(),
            )
            .fetch_optional(self.connection()?),
        )
        .await;
        Ok(self.note_lock("lease", asked, held)?.is_some())
    }

    async fn occupy_lease(&mut self, request: &Locked<Request>) -> Result<(), StoreError> {
        let asked = Instant::now();
        let made = within(
            self.answer_limit,
            query!(
                "INSERT INTO job_lease (organization_id, kind, target_id, lease_token, fence, holder, takeovers, acquired_at,
                                        updated_at)
                 VALUES ($1, 'job', $2, gen_random_uuid(), nextval('lease_fence'), 'cancelled', 0, clock_timestamp(),
                         clock_timestamp())
                 ON CONFLICT (organization_id, kind, target_id) DO UPDATE SET holder = job_lease.holder",
                request.organization_id.0,
                request.id.to_string(),
            )
            .execute(self.connection()?),
        )
        .await;
        self.note_lock("lease", asked, made)?;
        Ok(())
    }

    async fn lock_job(&mut self, request: &Locked<Request>) -> Result<Option<Locked<Job>>, StoreError> {
        let row = within(
            self.answer_limit,
            query!(
                r#"WITH locked AS MATERIALIZED (
                     SELECT state, attempts, failures, last_error FROM job
                     WHERE organization_id = $1 AND request_id = $2
                     FOR UPDATE
                   )
                   SELECT state, attempts, failures, last_error, clock_timestamp() AS "at!" FROM locked"#,
                request.organization_id.0,
                request.id.0,
            )
            .fetch_optional(self.connection()?),
        )
        .await;
        let Some(row) = self.note(row)? else { return Ok(None) };
        let at = row.at;
        Ok(Some(Locked::taken(job!(row), at)))
    }

    async fn lock_job_history(&mut self, request: &Locked<Request>) -> Result<ChainHead, StoreError> {
        self.lock_head(request.organization_id, Kind::Job, &request.id.to_string()).await
    }

    async fn start_job(
        &mut self,
        request: &Locked<Request>,
        entry: &JobEntry,
        kept: Option<Kept<'_>>,
    ) -> Result<(), StoreError> {
        let written = within(
            self.answer_limit,
            query!(
                "INSERT INTO job (organization_id, request_id, state, next_try_at, started_at)
                 VALUES ($1, $2, 'waiting', $3, $3)
                 ON CONFLICT (organization_id, request_id) DO UPDATE
                   SET state = 'waiting', failures = 0, last_error = NULL, next_try_at = $3, started_at = $3,
                       ended_at = NULL
                   WHERE job.state = 'failed'",
                request.organization_id.0,
                request.id.0,
                entry.entry.occurred_at,
            )
            .execute(self.connection()?),
        )
        .await;
        if self.note(written)?.rows_affected() != 1 {
            return Err(StoreError::Internal("a locked job changed".into()));
        }
        self.append(&entry.entry, entry.entry_hash, Some(&entry.event), kept).await?;
        self.wake_workers();
        Ok(())
    }

    async fn cancel_job(
        &mut self,
        request: &Locked<Request>,
        after: &Job,
        entry: &JobEntry,
        kept: Option<Kept<'_>>,
    ) -> Result<(), StoreError> {
        let written = within(
            self.answer_limit,
            query!(
                "WITH taken_away AS (
                   DELETE FROM job_lease WHERE organization_id = $1 AND kind = 'job' AND target_id = $5
                 ), attempt AS (
                   UPDATE job_attempt SET ended_at = $4, error = $3
                   WHERE organization_id = $1 AND request_id = $2 AND ended_at IS NULL
                 )
                 UPDATE job SET state = 'failed', last_error = $3, next_try_at = NULL, ended_at = $4
                 WHERE organization_id = $1 AND request_id = $2 AND state = 'waiting'",
                request.organization_id.0,
                request.id.0,
                after.last_error,
                entry.entry.occurred_at,
                request.id.to_string(),
            )
            .execute(self.connection()?),
        )
        .await;
        if self.note(written)?.rows_affected() != 1 {
            return Err(StoreError::Internal("a locked job changed".into()));
        }
        self.append(&entry.entry, entry.entry_hash, Some(&entry.event), kept).await
    }
}

impl ProcessingReads for PgReads {
    async fn processing(&self, viewer: Viewer, id: RequestId) -> Result<Option<ProcessingView>, StoreError> {
        let row = reading!(self, connection => query!(
            r#"SELECT j.state AS "state?", j.attempts AS "attempts?", j.failures AS "failures?", j.last_error,
                      j.next_try_at, l.holder AS "holder?", l.fence AS "fence?", l.takeovers AS "takeovers?",
                      l.acquired_at AS "acquired_at?", l.updated_at AS "updated_at?", d.data AS "data?: Json<Box<RawValue>>",
                      pg_postmaster_start_time() AS "database_since!", clock_timestamp() AS "at!"
               FROM visible_request v
               LEFT JOIN job j ON j.organization_id = v.organization_id AND j.request_id = v.id
               LEFT JOIN job_lease l
                 ON l.organization_id = v.organization_id AND l.kind = 'job' AND l.target_id = v.id::text
               LEFT JOIN job_result d ON d.organization_id = v.organization_id AND d.request_id = v.id
               WHERE v.organization_id = $1 AND v.viewer_id = $2 AND v.id = $3"#,
            viewer.organization_id.0,
            viewer.user_id.0,
            id.0,
        ).fetch_optional(connection));
        let Some(row) = row else { return Ok(None) };
        let job = match (row.state, row.attempts, row.failures) {
            (Some(state), Some(attempts), Some(failures)) => {
                let state = JobState::parse(&state).ok_or_else(|| corrupt("job.state"))?;
                Some(Job { state, attempts, failures, last_error: row.last_error })
            }
            _ => None,
        };
        let lease = match (row.holder, row.fence, row.takeovers, row.acquired_at, row.updated_at) {
            (Some(holder), Some(fence), Some(takeovers), Some(acquired_at), Some(heartbeat_at)) => {
                let database_since = row.database_since;
                Some(Standing { holder, fence, takeovers, acquired_at, heartbeat_at, database_since })
            }
            _ => None,
        };
        Ok(Some(ProcessingView {
            job,
            next_try_at: row.next_try_at,
            lease,
            result: row.data.map(|data| data.0),
            at: row.at,
        }))
    }

    async fn is_member(&self, viewer: Viewer) -> Result<bool, StoreError> {
        self.is_active_member(viewer).await
    }
}
