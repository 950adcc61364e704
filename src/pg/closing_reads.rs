//! Reads of closings. Plain queries without row locks.

use super::charges::month;
use super::reads::{PgReads, reading};
use crate::closing::run_store::RunReads;
use crate::closing::view::{BlockedRow, COUNTED_AT_MOST, ClosingView};
use crate::domain::charge::ClosingState;
use crate::domain::ids::{ChargeId, OrganizationId};
use crate::domain::lease::Standing;
use crate::domain::period::Period;
use crate::transaction::StoreError;
use sqlx::query;
use std::time::Duration;

impl RunReads for PgReads {
    async fn closing(
        &self,
        organization: OrganizationId,
        period: Period,
        timeout: Duration,
    ) -> Result<Option<ClosingView>, StoreError> {
        let row = reading!(self, connection => query!(
            r#"SELECT p.status AS "status?", p.started_at AS "started_at?", p.blocked_at, p.closed_at,
                      p.confirmed AS "confirmed?", p.rows_per_second AS "rows_per_second?",
                      CASE WHEN p.period IS NULL
                           THEN (SELECT count(*) FROM (SELECT FROM charge c WHERE c.organization_id = $1 AND c.period = $2
                                                       LIMIT $4) counted)
                           ELSE p.total END AS total,
                      (SELECT count(*) FROM blocked_charge b
                       WHERE b.organization_id = $1 AND b.period = $2) AS "blocked!",
                      (SELECT min(m) FROM unclosed_months($1) m WHERE m < $2) AS earlier_open,
                      month_of($1, clock_timestamp()) AS "present!",
                      l.holder AS "holder?", l.fence AS "fence?", l.takeovers AS "takeovers?",
                      l.acquired_at AS "acquired_at?", l.updated_at AS "updated_at?",
                      pg_postmaster_start_time() AS "database_since!", clock_timestamp() AS "now!"
               FROM organization o
               LEFT JOIN billing_period p ON p.organization_id = o.id AND p.period = $2
               LEFT JOIN job_lease l ON l.organization_id = $1 AND l.kind = 'closing' AND l.target_id = $3
               WHERE o.id = $1"#,
            organization.0,
            period.first_day(),
            period.to_string(),
            COUNTED_AT_MOST,
        ).fetch_optional(connection));
        let Some(row) = row else { return Ok(None) };
        let standing = match (row.holder, row.fence, row.takeovers, row.acquired_at, row.updated_at) {
            (Some(holder), Some(fence), Some(takeovers), Some(acquired_at), Some(heartbeat_at)) => {
                let database_since = row.database_since;
                Some(Standing { holder, fence, takeovers, acquired_at, heartbeat_at, database_since })
            }
            _ => None,
        };
        let living = standing.filter(|standing| !standing.is_silent(timeout, row.now));
        let state = match (row.status.as_deref(), row.blocked_at) {
            // Somebody has the right to, and is about to begin.
            (None, _) if living.is_some() => ClosingState::Running,
            (None, _) => ClosingState::Open,
            (Some("closed"), _) => ClosingState::Closed,
            (Some(_), Some(_)) if living.is_none() => ClosingState::Blocked,
            (Some(_), _) => ClosingState::Running,
        };
        let at_it = living.filter(|_| state == ClosingState::Running);
        let present = month(row.present)?;
        Ok(Some(ClosingView {
            period,
            state,
            total: row.total.unwrap_or(0),
            confirmed: row.confirmed.unwrap_or(0),
            blocked_count: row.blocked,
            blocked: Vec::new(),
            rows_per_second: at_it.as_ref().and(row.rows_per_second).unwrap_or(0),
            holder: at_it.as_ref().map(|standing| standing.holder.clone()),
            started_at: row.started_at,
            heartbeat_at: at_it.map(|standing| standing.heartbeat_at),
            finished_at: if state == ClosingState::Running { None } else { row.closed_at.or(row.blocked_at) },
            earlier_open: row.earlier_open.map(month).transpose()?,
            is_over: period < present,
        }))
    }

    async fn blocked_rows(
        &self,
        organization: OrganizationId,
        period: Period,
        limit: i64,
    ) -> Result<Vec<BlockedRow>, StoreError> {
        let rows = reading!(self, connection => query!(
            "SELECT charge_id, code, detail FROM blocked_charge
             WHERE organization_id = $1 AND period = $2
             ORDER BY charge_id LIMIT $3",
            organization.0,
            period.first_day(),
            limit,
        ).fetch_all(connection));
        Ok(rows
            .into_iter()
            .map(|row| BlockedRow { charge_id: ChargeId(row.charge_id), code: row.code, detail: row.detail })
            .collect())
    }

    async fn interrupted(&self, timeout: Duration, limit: i64) -> Result<Vec<(OrganizationId, Period)>, StoreError> {
        // Across organizations: what was interrupted is looked for by the process, not by a person. In any order, so that
        // months that can't be gone on with keep no others from it.
        let rows = reading!(self, connection => query!(
            "SELECT p.organization_id, p.period FROM billing_period p
             WHERE p.status = 'closing' AND p.blocked_at IS NULL
               AND NOT EXISTS (SELECT FROM job_lease l
                               WHERE l.organization_id = p.organization_id AND l.kind = 'closing'
                                 AND l.target_id = to_char(p.period, 'YYYY-MM')
                                 AND greatest(l.updated_at, pg_postmaster_start_time())
                                     >= clock_timestamp() - make_interval(secs => $1::float8))
             ORDER BY random()
             LIMIT $2",
            timeout.as_secs_f64(),
            limit,
        ).fetch_all(connection));
        rows.into_iter().map(|row| Ok((OrganizationId(row.organization_id), month(row.period)?))).collect()
    }
}
