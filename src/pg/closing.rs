//! The statements of the run that closes a month.

use super::charges::month;
use super::error::within;
use super::session::{PgSession, PgStore};
use crate::closing::run_store::{Copied, PeriodRow, RowRefusal, RunSession, RunStore, Seen, Sums, Window};
use crate::closing::view::Progress;
use crate::domain::Instant;
use crate::domain::ids::{ChargeId, OrganizationId, Version};
use crate::domain::lease::Ticket;
use crate::domain::period::Period;
use crate::transaction::{Locked, StoreError};
use sqlx::query;
use uuid::Uuid;

/// The longest text that is stored of why a row was refused.
const DETAIL_MAX: usize = 1_000;

impl RunStore for PgStore {
    type Session = PgSession;

    async fn open_step(&self) -> Result<PgSession, StoreError> {
        self.begin_with(STEP).await
    }

    async fn open_lasting(&self) -> Result<PgSession, StoreError> {
        self.begin_with(BRIEFLY).await
    }

    async fn open_call(&self) -> Result<PgSession, StoreError> {
        self.begin().await
    }
}

/// A step that is lost with the database's last moments is done again, so its commit waits for no disk. And it walks by
/// keys, by plans made for the tables as they are: statistics are as old as the last ANALYZE, a plan that was kept is as
/// old as its connection, and one for an empty month reads a whole table, or half of an index, for each row of a full one.
const STEP: &str = "SET LOCAL lock_timeout = 250; SET LOCAL synchronous_commit = off; SET LOCAL plan_cache_mode = force_custom_plan; \
                    SET LOCAL enable_seqscan = off; SET LOCAL enable_hashjoin = off; SET LOCAL enable_mergejoin = off";

/// Whoever writes into a month queues behind the one who begins to close it, and whoever corrects a charge behind the step
/// that has locked it: they must not time out there because the run waits for a third.
const BRIEFLY: &str = "SET LOCAL lock_timeout = 250";

impl RunSession for PgSession {
    async fn begin_period(
        &mut self,
        organization: OrganizationId,
        period: Period,
    ) -> Result<(bool, Locked<PeriodRow>), StoreError> {
        if let Some(row) = self.lock_period(organization, period).await? {
            return Ok((false, row));
        }
        let asked = std::time::Instant::now();
        let fence = within(
            self.answer_limit,
            query!(
                "SELECT pg_advisory_xact_lock(period_fence($1, $2))::text AS fence",
                organization.0,
                period.first_day()
            )
            .fetch_one(self.connection()?),
        )
        .await;
        self.note_lock("period", asked, fence)?;
        let begun = within(
            self.answer_limit,
            query!(
                "INSERT INTO billing_period (organization_id, period, status, started_at)
                 VALUES ($1, $2, 'closing', clock_timestamp()) ON CONFLICT DO NOTHING",
                organization.0,
                period.first_day(),
            )
            .execute(self.connection()?),
        )
        .await;
        let begun = self.note(begun)?.rows_affected() == 1;
        let row = self.lock_period(organization, period).await?;
        Ok((begun, row.ok_or_else(|| StoreError::Internal("the month that was begun is not there".into()))?))
    }

    async fn lock_period(
        &mut self,
        organization: OrganizationId,
        period: Period,
    ) -> Result<Option<Locked<PeriodRow>>, StoreError> {
        let asked = std::time::Instant::now();
        let row = within(
            self.answer_limit,
            query!(
                r#"WITH locked AS MATERIALIZED (
                     SELECT status, generation, blocked_at FROM billing_period
                     WHERE organization_id = $1 AND period = $2
                     FOR NO KEY UPDATE
                   )
                   SELECT status, generation, blocked_at IS NOT NULL AS "is_blocked!", clock_timestamp() AS "at!" FROM locked"#,
                organization.0,
                period.first_day(),
            )
            .fetch_optional(self.connection()?),
        )
        .await;
        Ok(self.note_lock("period", asked, row)?.map(|row| {
            let is_closed = row.status == "closed";
            let period = PeriodRow { is_closed, is_blocked: row.is_blocked, generation: row.generation };
            Locked::taken(period, row.at)
        }))
    }

    async fn survey(&mut self, organization: OrganizationId, period: Period) -> Result<(i64, i64), StoreError> {
        let row = within(
            self.answer_limit,
            query!(
                r#"SELECT (SELECT count(*) FROM charge WHERE organization_id = $1 AND period = $2) AS "total!",
                          (SELECT count(*) FROM confirmed_charge WHERE organization_id = $1 AND period = $2) AS "confirmed!""#,
                organization.0,
                period.first_day(),
            )
            .fetch_one(self.connection()?),
        )
        .await;
        let row = self.note(row)?;
        Ok((row.total, row.confirmed))
    }

    async fn copy(&mut self, held: &Locked<Ticket>, window: &Window) -> Result<Copied, StoreError> {
        // The charges first, in the order of their keys and in the mode that keeps them as they are: who corrects one is
        // waited for, and its row is then read anew. Copy and lock are one statement, so what is locked is what is copied.
        // The counterpart is looked up row by row: a join would read all of them where statistics are not there yet.
        let row = within(
            self.answer_limit,
            query!(
                r#"WITH looked_at AS MATERIALIZED (
                     SELECT id FROM charge
                     WHERE organization_id = $1 AND period = $2 AND id >= $3 AND id <= $4
                     ORDER BY id LIMIT $5
                   ), last AS MATERIALIZED (
                     SELECT id FROM looked_at ORDER BY id DESC LIMIT 1
                   ), locked AS MATERIALIZED (
                     SELECT c.id, c.period, c.occurred_at, c.amount, c.currency, c.description, c.reverses, c.request_id
                     FROM charge c
                     WHERE c.organization_id = $1 AND c.period = $2 AND c.id >= $3 AND c.id <= (SELECT id FROM last)
                       AND (SELECT f.charge_id FROM confirmed_charge f
                            WHERE f.organization_id = $1 AND f.charge_id = c.id) IS NULL
                     ORDER BY c.id
                     FOR SHARE OF c
                   ), confirmed AS (
                     INSERT INTO confirmed_charge (organization_id, charge_id, period, occurred_at, amount, currency,
                                                   description, reverses, request_id)
                     SELECT $1, l.id, l.period, l.occurred_at, l.amount, l.currency, l.description, l.reverses, l.request_id
                     FROM locked l
                     ORDER BY l.id
                     ON CONFLICT DO NOTHING
                     RETURNING charge_id
                   ), unblocked AS (
                     DELETE FROM blocked_charge b
                     WHERE b.organization_id = $1 AND b.charge_id = ANY (ARRAY(SELECT charge_id FROM confirmed))
                   )
                   SELECT (SELECT count(*) FROM confirmed) AS "confirmed!", (SELECT id FROM last) AS last"#,
                held.target.organization_id.0,
                window.period.first_day(),
                window.from,
                window.to,
                window.limit,
            )
            .fetch_one(self.connection()?),
        )
        .await;
        let row = match row {
            Err(error) => match refusal(&error) {
                Some(refusal) => {
                    self.note::<()>(Err(error)).ok();
                    return Ok(Copied::Refused(refusal));
                }
                None => self.note(Err(error))?,
            },
            found => self.note(found)?,
        };
        Ok(Copied::Done { confirmed: row.confirmed, last: row.last })
    }

    async fn first(&mut self, window: &Window) -> Result<Option<(Uuid, Version)>, StoreError> {
        let row = within(
            self.answer_limit,
            query!(
                "SELECT id, version FROM charge
                 WHERE organization_id = $1 AND period = $2 AND id >= $3 ORDER BY id LIMIT 1",
                window.organization_id.0,
                window.period.first_day(),
                window.from,
            )
            .fetch_optional(self.connection()?),
        )
        .await;
        Ok(self.note(row)?.map(|row| (row.id, row.version)))
    }

    async fn block(
        &mut self,
        held: &Locked<Ticket>,
        period: Period,
        (id, version): (Uuid, Version),
        refusal: &RowRefusal,
    ) -> Result<bool, StoreError> {
        let done = within(
            self.answer_limit,
            query!(
                "INSERT INTO blocked_charge (organization_id, charge_id, period, code, detail, blocked_at)
                 SELECT organization_id, id, period, $5, $6, clock_timestamp() FROM charge
                 WHERE organization_id = $1 AND period = $2 AND id = $3 AND version = $4
                 FOR SHARE
                 ON CONFLICT (organization_id, charge_id)
                 DO UPDATE SET code = excluded.code, detail = excluded.detail, blocked_at = excluded.blocked_at",
                held.target.organization_id.0,
                period.first_day(),
                id,
                version,
                refusal.code,
                refusal.detail,
            )
            .execute(self.connection()?),
        )
        .await;
        Ok(self.note(done)?.rows_affected() == 1)
    }

    async fn note_progress(&mut self, ticket: &Ticket, period: Period, progress: &Progress) -> Result<(), StoreError> {
        let done = within(
            self.answer_limit,
            query!(
                "UPDATE billing_period SET total = $3, confirmed = $4, rows_per_second = $5
                 WHERE organization_id = $1 AND period = $2 AND status = 'closing'
                   AND EXISTS (SELECT FROM job_lease
                               WHERE organization_id = $1 AND kind = $6 AND target_id = $7 AND lease_token = $8)",
                ticket.target.organization_id.0,
                period.first_day(),
                progress.total,
                progress.confirmed,
                progress.rows_per_second,
                ticket.target.kind.as_str(),
                ticket.target.id,
                ticket.token,
            )
            .execute(self.connection()?),
        )
        .await;
        self.note(done)?;
        Ok(())
    }

    async fn blocked(&mut self, organization: OrganizationId, period: Period) -> Result<i64, StoreError> {
        let row = within(
            self.answer_limit,
            query!(
                r#"SELECT count(*) AS "n!" FROM blocked_charge WHERE organization_id = $1 AND period = $2"#,
                organization.0,
                period.first_day(),
            )
            .fetch_one(self.connection()?),
        )
        .await;
        Ok(self.note(row)?.n)
    }

    async fn prove_charges(&mut self, window: &Window) -> Result<Seen<Uuid>, StoreError> {
        let rows = within(
            self.answer_limit,
            query!(
                r#"WITH part AS MATERIALIZED (
                     SELECT id, occurred_at, amount, currency FROM charge
                     WHERE organization_id = $1 AND period = $2 AND id >= $3
                     ORDER BY id LIMIT $4
                   )
                   SELECT p.currency, sum(p.amount)::text AS "sum!", count(*) AS "n!",
                          count(*) FILTER (WHERE f.charge_id IS NULL) AS "alone!",
                          count(*) FILTER (WHERE (f.period, f.occurred_at, f.amount, f.currency)
                                                 <> ($2, p.occurred_at, p.amount, p.currency)) AS "differing!",
                          (SELECT id FROM part ORDER BY id DESC LIMIT 1) AS last
                   FROM part p
                   LEFT JOIN LATERAL (
                     SELECT * FROM confirmed_charge c WHERE c.organization_id = $1 AND c.charge_id = p.id LIMIT 1
                   ) f ON true
                   GROUP BY p.currency"#,
                window.organization_id.0,
                window.period.first_day(),
                window.from,
                window.limit,
            )
            .fetch_all(self.connection()?),
        )
        .await;
        let mut seen = Seen::default();
        for row in self.note(rows)? {
            add(&mut seen, row.currency, &row.sum, row.n)?;
            seen.alone += row.alone;
            seen.differing += row.differing;
            seen.last = row.last;
        }
        Ok(seen)
    }

    async fn prove_confirmed(
        &mut self,
        organization: OrganizationId,
        period: Period,
        after: (Instant, Uuid),
        limit: i64,
    ) -> Result<Seen<(Instant, Uuid)>, StoreError> {
        let rows = within(
            self.answer_limit,
            query!(
                r#"WITH part AS MATERIALIZED (
                     SELECT charge_id, occurred_at, amount, currency FROM confirmed_charge
                     WHERE organization_id = $1 AND period = $2 AND (occurred_at, charge_id) > ($3, $4)
                     ORDER BY occurred_at, charge_id LIMIT $5
                   ), last AS MATERIALIZED (
                     SELECT occurred_at, charge_id FROM part ORDER BY occurred_at DESC, charge_id DESC LIMIT 1
                   )
                   SELECT p.currency, sum(p.amount)::text AS "sum!", count(*) AS "n!",
                          count(*) FILTER (WHERE (
                            SELECT c.id FROM charge c
                            WHERE c.organization_id = $1 AND c.id = p.charge_id AND c.period = $2) IS NULL) AS "alone!",
                          (SELECT occurred_at FROM last) AS last_at, (SELECT charge_id FROM last) AS last_id
                   FROM part p
                   GROUP BY p.currency"#,
                organization.0,
                period.first_day(),
                after.0,
                after.1,
                limit,
            )
            .fetch_all(self.connection()?),
        )
        .await;
        let mut seen = Seen::default();
        for row in self.note(rows)? {
            add(&mut seen, row.currency, &row.sum, row.n)?;
            seen.alone += row.alone;
            seen.last = row.last_at.zip(row.last_id);
        }
        Ok(seen)
    }

    async fn close_period(
        &mut self,
        organization: OrganizationId,
        period: Period,
        sums: &Sums,
        at: Instant,
    ) -> Result<(), StoreError> {
        let currencies: Vec<String> = sums.keys().cloned().collect();
        let totals: Vec<String> = sums.values().map(|(total, _)| total.to_string()).collect();
        let counts: Vec<i64> = sums.values().map(|(_, count)| *count).collect();
        let done = within(
            self.answer_limit,
            query!(
                "WITH totals AS (
                   INSERT INTO billing_total (organization_id, period, currency, total, count)
                   SELECT $1, $2, t.currency, t.total::numeric, t.count
                   FROM unnest($3::text[], $4::text[], $5::bigint[]) AS t (currency, total, count)
                 )
                 UPDATE billing_period SET status = 'closed', closed_at = $6, blocked_at = NULL, rows_per_second = 0,
                        total = (SELECT coalesce(sum(n), 0) FROM unnest($5::bigint[]) n),
                        confirmed = (SELECT coalesce(sum(n), 0) FROM unnest($5::bigint[]) n)
                 WHERE organization_id = $1 AND period = $2 AND status = 'closing'",
                organization.0,
                period.first_day(),
                &currencies,
                &totals,
                &counts,
                at,
            )
            .execute(self.connection()?),
        )
        .await;
        one(self.note(done)?.rows_affected())
    }

    async fn mark_blocked(
        &mut self,
        organization: OrganizationId,
        period: Period,
        end: Option<(Instant, Progress)>,
    ) -> Result<(), StoreError> {
        let done = within(
            self.answer_limit,
            query!(
                "UPDATE billing_period SET blocked_at = $3, rows_per_second = 0,
                        total = coalesce($4, total), confirmed = coalesce($5, confirmed)
                 WHERE organization_id = $1 AND period = $2 AND status = 'closing'",
                organization.0,
                period.first_day(),
                end.map(|(at, _)| at),
                end.map(|(_, figures)| figures.total),
                end.map(|(_, figures)| figures.confirmed),
            )
            .execute(self.connection()?),
        )
        .await;
        one(self.note(done)?.rows_affected())
    }

    async fn exclude(
        &mut self,
        organization: OrganizationId,
        period: Period,
        id: ChargeId,
    ) -> Result<Option<Period>, StoreError> {
        let asked = std::time::Instant::now();
        let row = within(
            self.answer_limit,
            query!("SELECT exclude_charge($1, $2, $3) AS target", organization.0, period.first_day(), id.0)
                .fetch_one(self.connection()?),
        )
        .await;
        self.note_lock("charge", asked, row)?.target.map(month).transpose()
    }
}

fn one(rows: u64) -> Result<(), StoreError> {
    if rows == 1 { Ok(()) } else { Err(StoreError::Internal("a locked month was not as it was read".into())) }
}

fn add<P>(seen: &mut Seen<P>, currency: String, sum: &str, count: i64) -> Result<(), StoreError> {
    let sum: i128 = sum.parse().map_err(|_| super::error::corrupt("a sum"))?;
    let entry = seen.sums.entry(currency).or_default();
    *entry = (entry.0 + sum, entry.1 + count);
    Ok(())
}

/// What the database has against a row, when that is what it says: the classes of bad data, of constraints, of limits,
/// and what triggers raise. `None`: the row is not to blame.
fn refusal(error: &sqlx::Error) -> Option<RowRefusal> {
    let database = error.as_database_error()?;
    let sqlstate = database.code()?;
    if !["22", "23", "44", "54", "P0"].iter().any(|class| sqlstate.starts_with(class)) {
        return None;
    }
    let code = if database.constraint() == Some("reversal_invalid") { "reversal_invalid" } else { "refused" };
    let detail: String = database.message().chars().take(DETAIL_MAX).collect();
    Some(RowRefusal { code: code.to_owned(), detail })
}
