//! Leases: the rows of `job_lease`.
//!
//! Times are the database's clock, read after the row was locked. `now()` is the start of the transaction, and even
//! `clock_timestamp()` in a plain UPDATE is computed before the wait for a row that another only locked: so a heartbeat
//! locks first and stamps then. In ON CONFLICT DO UPDATE the row is locked first, too; `excluded` is older. An interval
//! is made of a bound number: a placeholder inside a literal would be read as its digits.

use super::error::{store_error, within};
use super::reads::{PgReads, reading};
use super::session::{PgSession, PgStore};
use crate::domain::Instant;
use crate::domain::lease::{Standing, Target, Ticket};
use crate::lease::{Beat, Grant, Hold, LeaseSession, LeaseStore, Pulse};
use crate::transaction::{Locked, StoreError};
use sqlx::postgres::PgConnectOptions;
use sqlx::{ConnectOptions, Connection, PgConnection, query, query_scalar};
use std::collections::HashSet;
use std::time::Duration;
use uuid::Uuid;

/// Leases, a statement at a time.
#[derive(Clone, Debug)]
pub struct PgLeases {
    on: PgReads,
}

impl PgLeases {
    /// On a pool that may write, with the patience of a read: a statement that met a dead connection is made again. If
    /// it had done its work after all, the lease that it took is nobody's until the timeout.
    #[must_use]
    pub const fn new(on: PgReads) -> Self {
        Self { on }
    }
}

impl PgStore {
    /// Begins a transaction under a lease: its first statement is [`LeaseSession::hold_lease`].
    ///
    /// # Errors
    /// [`StoreError::Unavailable`] when no connection is to be had in time.
    pub async fn open_save(&self) -> Result<PgSession, StoreError> {
        self.begin().await
    }
}

impl LeaseStore for PgLeases {
    async fn look(&self, target: &Target) -> Result<(Option<Standing>, Instant), StoreError> {
        let row = reading!(self.on, connection => query!(
            r#"SELECT l.holder AS "holder?", l.fence AS "fence?", l.takeovers AS "takeovers?",
                      l.acquired_at AS "acquired_at?", l.updated_at AS "updated_at?",
                      pg_postmaster_start_time() AS "database_since!", clock_timestamp() AS "at!"
               FROM (VALUES (1)) AS always (n)
               LEFT JOIN job_lease l ON l.organization_id = $1 AND l.kind = $2 AND l.target_id = $3"#,
            target.organization_id.0,
            target.kind.as_str(),
            target.id,
        ).fetch_one(connection));
        let standing = match (row.holder, row.fence, row.takeovers, row.acquired_at, row.updated_at) {
            (Some(holder), Some(fence), Some(takeovers), Some(acquired_at), Some(heartbeat_at)) => {
                let database_since = row.database_since;
                Some(Standing { holder, fence, takeovers, acquired_at, heartbeat_at, database_since })
            }
            _ => None,
        };
        Ok((standing, row.at))
    }

    async fn take(&self, target: &Target, holder: &str, timeout: Duration) -> Result<Option<Grant>, StoreError> {
        // The fence is drawn in DO UPDATE itself: that of the refused insert may be older than the holder's.
        let row = reading!(self.on, connection => query!(
            "INSERT INTO job_lease (organization_id, kind, target_id, lease_token, fence, holder, takeovers, acquired_at,
                                    updated_at)
             VALUES ($1, $2, $3, gen_random_uuid(), nextval('lease_fence'), $4, 0, clock_timestamp(), clock_timestamp())
             ON CONFLICT (organization_id, kind, target_id) DO UPDATE SET
               lease_token = gen_random_uuid(), fence = nextval('lease_fence'), holder = $4,
               takeovers = job_lease.takeovers + 1, acquired_at = clock_timestamp(), updated_at = clock_timestamp()
             WHERE greatest(job_lease.updated_at, pg_postmaster_start_time())
                   < clock_timestamp() - make_interval(secs => $5::float8)
             RETURNING lease_token, fence, takeovers, acquired_at",
            target.organization_id.0,
            target.kind.as_str(),
            target.id,
            holder,
            timeout.as_secs_f64(),
        ).fetch_optional(connection));
        Ok(row.map(|row| Grant {
            token: row.lease_token,
            fence: row.fence,
            takeovers: row.takeovers,
            acquired_at: row.acquired_at,
        }))
    }

    async fn release(&self, ticket: &Ticket) -> Result<bool, StoreError> {
        let deleted = reading!(self.on, connection => query!(
            "DELETE FROM job_lease WHERE organization_id = $1 AND kind = $2 AND target_id = $3 AND lease_token = $4",
            ticket.target.organization_id.0,
            ticket.target.kind.as_str(),
            ticket.target.id,
            ticket.token,
        ).execute(connection));
        Ok(deleted.rows_affected() == 1)
    }
}

/// Says that a save was refused, its lease being another's.
pub(super) fn refused(ticket: &Ticket) {
    metrics::counter!("ringi_lease_saves_refused_total", "kind" => ticket.target.kind.as_str()).increment(1);
    tracing::warn!(lease = %ticket.target, "the lease is another's: nothing is saved");
}

impl LeaseSession for PgSession {
    async fn hold_lease(&mut self, ticket: &Ticket, how: Hold) -> Result<Option<Locked<Ticket>>, StoreError> {
        let asked = std::time::Instant::now();
        let (organization, kind) = (ticket.target.organization_id.0, ticket.target.kind.as_str());
        let limit = self.answer_limit;
        let connection = self.connection()?;
        let at = match how {
            Hold::Alone => {
                let found = query_scalar!(
                    r#"WITH held AS MATERIALIZED (
                         SELECT fence FROM job_lease
                         WHERE organization_id = $1 AND kind = $2 AND target_id = $3 AND lease_token = $4
                         FOR UPDATE
                       )
                       SELECT clock_timestamp() AS "at!" FROM held"#,
                    organization,
                    kind,
                    ticket.target.id,
                    ticket.token,
                );
                within(limit, found.fetch_optional(connection)).await
            }
            Hold::Shared => {
                let found = query_scalar!(
                    r#"WITH held AS MATERIALIZED (
                         SELECT fence FROM job_lease
                         WHERE organization_id = $1 AND kind = $2 AND target_id = $3 AND lease_token = $4
                         FOR SHARE
                       )
                       SELECT clock_timestamp() AS "at!" FROM held"#,
                    organization,
                    kind,
                    ticket.target.id,
                    ticket.token,
                );
                within(limit, found.fetch_optional(connection)).await
            }
        };
        let at = self.note_lock("lease", asked, at)?;
        if at.is_none() {
            refused(ticket);
        }
        Ok(at.map(|at| Locked::taken(ticket.clone(), at)))
    }

    async fn release_lease(&mut self, held: &Locked<Ticket>) -> Result<(), StoreError> {
        let deleted = within(
            self.answer_limit,
            query!(
                "DELETE FROM job_lease WHERE organization_id = $1 AND kind = $2 AND target_id = $3 AND lease_token = $4",
                held.target.organization_id.0,
                held.target.kind.as_str(),
                held.target.id,
                held.token,
            )
            .execute(self.connection()?),
        )
        .await;
        match self.note(deleted)?.rows_affected() {
            1 => Ok(()),
            _ => Err(StoreError::Internal("a held lease vanished".into())),
        }
    }
}

/// The heartbeat's own connection.
#[derive(Debug)]
pub struct PgPulse {
    options: PgConnectOptions,
    /// `None` until the first heartbeat, and after a failed one.
    connection: Option<PgConnection>,
    /// How long one statement's answer is waited for.
    limit: Duration,
}

impl PgPulse {
    /// Connects when it is first needed, and anew after each failure. No heartbeat takes longer than `interval`.
    #[must_use]
    pub fn new(options: PgConnectOptions, interval: Duration) -> Self {
        let limit = interval / 3;
        let milliseconds = |duration: Duration| duration.as_millis().max(1).to_string();
        let options = options.application_name("ringi heartbeat").options([
            // Shorter than the other, so that the error says which row was waited for.
            ("lock_timeout", milliseconds(limit / 2)),
            ("statement_timeout", milliseconds(limit)),
        ]);
        Self { options, connection: None, limit }
    }
}

impl Pulse for PgPulse {
    async fn beat(&mut self, tickets: &[Ticket]) -> Result<Beat, StoreError> {
        // Taken out: whoever drops this future in the middle of a statement drops the connection with it.
        let mut connection = match self.connection.take() {
            Some(connection) => connection,
            None => within(self.limit, self.options.connect()).await.map_err(store_error)?,
        };
        let all = Columns::of(tickets);
        let mut fresh = within(self.limit, all.beat_free(&mut connection)).await.map_err(store_error)?;
        let known: HashSet<Uuid> = fresh.iter().copied().collect();
        let silent: Vec<Ticket> = tickets.iter().filter(|ticket| !known.contains(&ticket.token)).cloned().collect();
        let mut gone = Vec::new();
        if !silent.is_empty() {
            // Gone, or locked by somebody. Only these wait, so that one row keeps no other from beating.
            match within(self.limit, Columns::of(&silent).beat_waiting(&mut connection)).await.map_err(store_error) {
                Ok(late) => {
                    gone = silent.iter().map(|ticket| ticket.token).filter(|token| !late.contains(token)).collect();
                    fresh.extend(late);
                }
                Err(StoreError::LockTimeout) => {}
                Err(error) if fresh.is_empty() => return Err(error),
                // What was said of the others stands.
                Err(error) => {
                    tracing::warn!(%error, leases = silent.len(), "some heartbeats failed and are retried");
                    drop(connection.close_hard().await);
                    return Ok(Beat { fresh, gone });
                }
            }
        }
        self.connection = Some(connection);
        Ok(Beat { fresh, gone })
    }
}

/// Tickets, a column at a time.
struct Columns {
    organizations: Vec<Uuid>,
    kinds: Vec<String>,
    ids: Vec<String>,
    tokens: Vec<Uuid>,
}

impl Columns {
    fn of(tickets: &[Ticket]) -> Self {
        Self {
            organizations: tickets.iter().map(|ticket| ticket.target.organization_id.0).collect(),
            kinds: tickets.iter().map(|ticket| ticket.target.kind.as_str().to_owned()).collect(),
            ids: tickets.iter().map(|ticket| ticket.target.id.clone()).collect(),
            tokens: tickets.iter().map(|ticket| ticket.token).collect(),
        }
    }

    /// Those whose rows nobody holds.
    async fn beat_free(&self, connection: &mut PgConnection) -> Result<Vec<Uuid>, sqlx::Error> {
        query_scalar!(
            "WITH held AS MATERIALIZED (
               SELECT l.organization_id, l.kind, l.target_id
               FROM unnest($1::uuid[], $2::text[], $3::text[], $4::uuid[])
                      AS mine (organization_id, kind, target_id, lease_token)
               JOIN job_lease l USING (organization_id, kind, target_id, lease_token)
               ORDER BY l.organization_id, l.kind, l.target_id
               FOR NO KEY UPDATE OF l SKIP LOCKED
             )
             UPDATE job_lease l SET updated_at = clock_timestamp()
             FROM held
             WHERE (l.organization_id, l.kind, l.target_id) = (held.organization_id, held.kind, held.target_id)
             RETURNING l.lease_token",
            &self.organizations,
            &self.kinds,
            &self.ids,
            &self.tokens,
        )
        .fetch_all(connection)
        .await
    }

    /// The same, waiting for those who hold a row.
    async fn beat_waiting(&self, connection: &mut PgConnection) -> Result<Vec<Uuid>, sqlx::Error> {
        query_scalar!(
            "WITH held AS MATERIALIZED (
               SELECT l.organization_id, l.kind, l.target_id
               FROM unnest($1::uuid[], $2::text[], $3::text[], $4::uuid[])
                      AS mine (organization_id, kind, target_id, lease_token)
               JOIN job_lease l USING (organization_id, kind, target_id, lease_token)
               ORDER BY l.organization_id, l.kind, l.target_id
               FOR NO KEY UPDATE OF l
             )
             UPDATE job_lease l SET updated_at = clock_timestamp()
             FROM held
             WHERE (l.organization_id, l.kind, l.target_id) = (held.organization_id, held.kind, held.target_id)
             RETURNING l.lease_token",
            &self.organizations,
            &self.kinds,
            &self.ids,
            &self.tokens,
        )
        .fetch_all(connection)
        .await
    }
}
