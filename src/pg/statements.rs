//! Reads of charges and months. Plain queries without row locks.

use super::charges::{charge, month};
use super::reads::{PgReads, reading};
use crate::closing::store::ClosingReads;
use crate::closing::view::{ChargeQuery, ConfirmedRow, Month, RowPlace, Statements, Total};
use crate::domain::charge::{Charge, ChargeContent};
use crate::domain::ids::{ChargeId, OrganizationId, RequestId};
use crate::domain::member::Member;
use crate::domain::period::Period;
use crate::members::store::MemberReads;
use crate::transaction::{StoreError, Viewer};
use sqlx::query;

impl ClosingReads for PgReads {
    async fn member_of(&self, viewer: Viewer) -> Result<Option<Member>, StoreError> {
        self.membership(viewer).await
    }

    async fn present_month(&self, organization: OrganizationId) -> Result<Option<Period>, StoreError> {
        let row = reading!(self, connection => query!(
            "SELECT month_of($1, clock_timestamp()) AS month",
            organization.0,
        ).fetch_one(connection));
        row.month.map(month).transpose()
    }

    async fn charges(
        &self,
        organization: OrganizationId,
        wanted: ChargeQuery,
        before: Option<ChargeId>,
        limit: i64,
    ) -> Result<Vec<Charge>, StoreError> {
        if wanted.processed == Some(false) {
            return self.unprocessed(organization, wanted.period, before, limit).await;
        }
        let rows = reading!(self, connection => query!(
            r#"SELECT c.id, c.occurred_at, c.amount, c.currency, c.description, c.reverses, c.request_id, c.period,
                      c.late_of, c.version, f.charge_id IS NOT NULL AS "processed!"
               FROM charge c
               LEFT JOIN confirmed_charge f ON f.organization_id = c.organization_id AND f.charge_id = c.id
               WHERE c.organization_id = $1
                 AND ($2::date IS NULL OR c.period = $2)
                 AND ($3::boolean IS NULL OR (f.charge_id IS NOT NULL) = $3)
                 AND ($4::uuid IS NULL OR c.id < $4)
               ORDER BY c.id DESC
               LIMIT $5"#,
            organization.0,
            wanted.period.map(Period::first_day),
            wanted.processed,
            before.map(|id| id.0),
            limit,
        ).fetch_all(connection));
        rows.into_iter().map(|row| Ok(charge!(organization, row))).collect()
    }

    async fn charge(&self, organization: OrganizationId, id: ChargeId) -> Result<Option<Charge>, StoreError> {
        let row = reading!(self, connection => query!(
            r#"SELECT c.id, c.occurred_at, c.amount, c.currency, c.description, c.reverses, c.request_id, c.period,
                      c.late_of, c.version, f.charge_id IS NOT NULL AS "processed!"
               FROM charge c
               LEFT JOIN confirmed_charge f ON f.organization_id = c.organization_id AND f.charge_id = c.id
               WHERE c.organization_id = $1 AND c.id = $2"#,
            organization.0,
            id.0,
        ).fetch_optional(connection));
        row.map(|row| Ok(charge!(organization, row))).transpose()
    }

    async fn statements(&self, organization: OrganizationId) -> Result<Statements, StoreError> {
        // One statement, so one snapshot: in the instant in which a month closes, its charges stop being upcoming.
        let rows = reading!(self, connection => query!(
            r#"SELECT m.period AS "period!", NULL::timestamptz AS closed_at, s.currency, s.total::text AS total, s.count
               FROM unclosed_months($1) AS m (period)
               CROSS JOIN LATERAL (
                 SELECT c.currency, sum(c.amount) AS total, count(*) AS count
                 FROM charge c WHERE c.organization_id = $1 AND c.period = m.period
                 GROUP BY c.currency
               ) s
               UNION ALL
               SELECT p.period, p.closed_at, t.currency, t.total::text, t.count
               FROM billing_period p
               LEFT JOIN billing_total t ON t.organization_id = p.organization_id AND t.period = p.period
               WHERE p.organization_id = $1 AND p.status = 'closed'
               ORDER BY 1 DESC, 3"#,
            organization.0,
        ).fetch_all(connection));
        let mut found = Statements::default();
        for row in rows {
            let period = month(row.period)?;
            let months = if row.closed_at.is_some() { &mut found.months } else { &mut found.upcoming };
            if months.last().is_none_or(|last| last.period != period) {
                months.push(Month { period, closed_at: row.closed_at, totals: Vec::new() });
            }
            if let (Some(last), Some(total)) = (months.last_mut(), total(row.currency, row.total, row.count)) {
                last.totals.push(total);
            }
        }
        Ok(found)
    }

    async fn closed_month(&self, organization: OrganizationId, period: Period) -> Result<Option<Month>, StoreError> {
        let rows = reading!(self, connection => query!(
            r#"SELECT p.closed_at AS "closed_at!", t.currency AS "currency?", t.total::text AS total, t.count AS "count?"
               FROM billing_period p
               LEFT JOIN billing_total t ON t.organization_id = p.organization_id AND t.period = p.period
               WHERE p.organization_id = $1 AND p.period = $2 AND p.status = 'closed'
               ORDER BY t.currency"#,
            organization.0,
            period.first_day(),
        ).fetch_all(connection));
        let Some(closed_at) = rows.first().map(|row| row.closed_at) else { return Ok(None) };
        let totals = rows.into_iter().filter_map(|row| total(row.currency, row.total, row.count)).collect();
        Ok(Some(Month { period, closed_at: Some(closed_at), totals }))
    }

    async fn confirmed_rows(
        &self,
        organization: OrganizationId,
        period: Period,
        after: Option<RowPlace>,
        limit: i64,
    ) -> Result<Vec<ConfirmedRow>, StoreError> {
        let rows = reading!(self, connection => query!(
            "SELECT charge_id, occurred_at, amount, currency, description, request_id
             FROM confirmed_charge
             WHERE organization_id = $1 AND period = $2
               AND ($3::timestamptz IS NULL OR (occurred_at, charge_id) > ($3, $4::uuid))
             ORDER BY occurred_at, charge_id
             LIMIT $5",
            organization.0,
            period.first_day(),
            after.map(|place| place.0),
            after.map(|place| place.1),
            limit,
        ).fetch_all(connection));
        Ok(rows
            .into_iter()
            .map(|row| ConfirmedRow {
                charge_id: ChargeId(row.charge_id),
                occurred_at: row.occurred_at,
                amount: row.amount,
                currency: row.currency,
                description: row.description,
                request_id: row.request_id.map(RequestId),
            })
            .collect())
    }
}

impl PgReads {
    /// Charges without a confirmed row. They are looked for month by month in those that are not closed, since nearly
    /// all charges of an old organization are processed.
    async fn unprocessed(
        &self,
        organization: OrganizationId,
        period: Option<Period>,
        before: Option<ChargeId>,
        limit: i64,
    ) -> Result<Vec<Charge>, StoreError> {
        let rows = reading!(self, connection => query!(
            r#"SELECT c.id, c.occurred_at, c.amount, c.currency, c.description, c.reverses, c.request_id, c.period,
                      c.late_of, c.version, false AS "processed!"
               FROM unclosed_months($1) AS m (period)
               CROSS JOIN LATERAL (
                 SELECT * FROM charge c
                 WHERE c.organization_id = $1 AND c.period = m.period AND ($3::uuid IS NULL OR c.id < $3)
                   AND NOT EXISTS (SELECT FROM confirmed_charge f
                                   WHERE f.organization_id = $1 AND f.charge_id = c.id)
                 ORDER BY c.id DESC
                 LIMIT $4
               ) c
               WHERE $2::date IS NULL OR m.period = $2
               ORDER BY c.id DESC
               LIMIT $4"#,
            organization.0,
            period.map(Period::first_day),
            before.map(|id| id.0),
            limit,
        ).fetch_all(connection));
        rows.into_iter().map(|row| Ok(charge!(organization, row))).collect()
    }
}

/// `None`: a month in which nothing was spent.
fn total(currency: Option<String>, total: Option<String>, count: Option<i64>) -> Option<Total> {
    Some(Total { currency: currency?, total: total?, count: count? })
}
