//! The statements that write charges, in the order in which they run.

use super::error::{corrupt, within};
use super::session::{PgSession, PgStore};
use crate::closing::store::{Backfilled, ChargeSession, ClosingStore, Correction, FoundCharge, Reversible};
use crate::closing::view::Placement;
use crate::domain::charge::{Charge, ChargeContent, MonthState, NewCharge};
use crate::domain::event::Event;
use crate::domain::history::{ChainHead, Hash, Kind, SubjectEntry};
use crate::domain::ids::{ChargeId, OrganizationId, RequestId};
use crate::domain::member::Member;
use crate::domain::period::Period;
use crate::transaction::idempotency::Kept;
use crate::transaction::{Guarded, Locked, StoreError, Viewer};
use chrono::NaiveDate;
use sqlx::query;
use std::time::Instant;
use uuid::Uuid;

/// A month as its column holds it.
pub(super) fn month(first: NaiveDate) -> Result<Period, StoreError> {
    Period::beginning(first).ok_or_else(|| corrupt("period"))
}

/// Builds a [`Charge`] from a row with the columns of `charge`, and whether it is processed.
macro_rules! charge {
    ($organization:expr, $row:expr) => {{
        let row = $row;
        Charge {
            organization_id: $organization,
            id: ChargeId(row.id),
            content: ChargeContent {
                occurred_at: row.occurred_at,
                amount: row.amount,
                currency: row.currency,
                description: row.description,
            },
            reverses: row.reverses.map(ChargeId),
            request_id: row.request_id.map(RequestId),
            period: $crate::pg::charges::month(row.period)?,
            late_of: row.late_of.map($crate::pg::charges::month).transpose()?,
            version: row.version,
            processed: row.processed,
        }
    }};
}
pub(super) use charge;

fn uuids(ids: &[ChargeId]) -> Vec<Uuid> {
    ids.iter().map(|id| id.0).collect()
}

impl ClosingStore for PgStore {
    type Session = PgSession;

    async fn open(&self) -> Result<PgSession, StoreError> {
        self.begin().await
    }
}

impl ChargeSession for PgSession {
    async fn lock_actor(&mut self, viewer: Viewer) -> Result<Option<Locked<Member>>, StoreError> {
        self.share_member(viewer.organization_id, viewer.user_id).await
    }

    async fn place(
        &mut self,
        organization: OrganizationId,
        moments: &[crate::domain::Instant],
    ) -> Result<Vec<Placement>, StoreError> {
        let asked = Instant::now();
        let rows = within(
            self.answer_limit,
            query!(
                r#"SELECT home AS "home!", period AS "period!" FROM place_charges($1, $2) ORDER BY place"#,
                organization.0,
                moments,
            )
            .fetch_all(self.connection()?),
        )
        .await;
        let rows = self.note_lock("period", asked, rows)?;
        rows.into_iter().map(|row| Ok(Placement::new(month(row.home)?, month(row.period)?))).collect()
    }

    async fn reversible(
        &mut self,
        organization: OrganizationId,
        ids: &[ChargeId],
    ) -> Result<Vec<Reversible>, StoreError> {
        let rows = within(
            self.answer_limit,
            query!(
                r#"SELECT f.charge_id, f.amount, f.currency, r.id AS "reversed_by?"
                   FROM confirmed_charge f
                   LEFT JOIN charge r ON r.organization_id = f.organization_id AND r.reverses = f.charge_id
                   WHERE f.organization_id = $1 AND f.charge_id = ANY ($2)"#,
                organization.0,
                &uuids(ids),
            )
            .fetch_all(self.connection()?),
        )
        .await;
        let rows = self.note(rows)?.into_iter();
        Ok(rows
            .map(|row| Reversible {
                id: ChargeId(row.charge_id),
                amount: row.amount,
                currency: row.currency,
                reversed_by: row.reversed_by.map(ChargeId),
            })
            .collect())
    }

    async fn insert_charges(
        &mut self,
        by: &Locked<Member>,
        charges: &[(NewCharge, Placement)],
    ) -> Result<Vec<ChargeId>, StoreError> {
        let ids: Vec<Uuid> = charges.iter().map(|(charge, _)| charge.id.0).collect();
        let periods: Vec<NaiveDate> = charges.iter().map(|(_, at)| at.period.first_day()).collect();
        let late_of: Vec<Option<NaiveDate>> = charges.iter().map(|(_, at)| at.late_of.map(Period::first_day)).collect();
        let moments: Vec<_> = charges.iter().map(|(charge, _)| charge.content.occurred_at).collect();
        let amounts: Vec<i64> = charges.iter().map(|(charge, _)| charge.content.amount).collect();
        let currencies: Vec<&str> = charges.iter().map(|(charge, _)| charge.content.currency.as_str()).collect();
        let descriptions: Vec<Option<&str>> =
            charges.iter().map(|(charge, _)| charge.content.description.as_deref()).collect();
        let reverses: Vec<Option<Uuid>> = charges.iter().map(|(charge, _)| charge.reverses.map(|id| id.0)).collect();
        let rows = within(
            self.answer_limit,
            query!(
                "INSERT INTO charge (organization_id, id, period, late_of, occurred_at, amount, currency, description,
                                     reverses, created_by, created_at)
                 SELECT $1, n.id, n.period, n.late_of, n.occurred_at, n.amount, n.currency, n.description, n.reverses, $10, $11
                 FROM unnest($2::uuid[], $3::date[], $4::date[], $5::timestamptz[], $6::bigint[], $7::text[], $8::text[],
                             $9::uuid[])
                      AS n (id, period, late_of, occurred_at, amount, currency, description, reverses)
                 ON CONFLICT DO NOTHING
                 RETURNING id",
                by.organization_id.0,
                &ids,
                &periods,
                &late_of as _,
                &moments,
                &amounts,
                &currencies as _,
                &descriptions as _,
                &reverses as _,
                by.user_id.0,
                by.at(),
            )
            .fetch_all(self.connection()?),
        )
        .await;
        Ok(self.note(rows)?.into_iter().map(|row| ChargeId(row.id)).collect())
    }

    async fn want_backfill(&mut self, only: Option<OrganizationId>) -> Result<(), StoreError> {
        let done = within(
            self.answer_limit,
            query!(
                "INSERT INTO charge_backfill (organization_id, from_request)
                 SELECT o.id, $2 FROM organization o WHERE $1::uuid IS NULL OR o.id = $1
                 ON CONFLICT (organization_id) DO UPDATE SET from_request = $2",
                only.map(|only| only.0),
                Uuid::nil(),
            )
            .execute(self.connection()?),
        )
        .await;
        self.note(done)?;
        Ok(())
    }

    async fn backfill(&mut self, only: Option<OrganizationId>, limit: i64) -> Result<Backfilled, StoreError> {
        // Across organizations: what older programs left is looked for by the process, not by a person.
        let wanted = within(
            self.answer_limit,
            query!(
                "SELECT b.organization_id, b.from_request FROM charge_backfill b
                 WHERE $1::uuid IS NULL OR b.organization_id = $1
                 LIMIT 1
                 FOR UPDATE SKIP LOCKED",
                only.map(|only| only.0),
            )
            .fetch_optional(self.connection()?),
        )
        .await;
        let Some(wanted) = self.note(wanted)? else {
            let left = within(
                self.answer_limit,
                query!(
                    r#"SELECT EXISTS (SELECT FROM charge_backfill b
                                      WHERE $1::uuid IS NULL OR b.organization_id = $1) AS "left!""#,
                    only.map(|only| only.0),
                )
                .fetch_one(self.connection()?),
            )
            .await;
            return Ok(if self.note(left)?.left { Backfilled::Busy } else { Backfilled::Done });
        };
        let asked = Instant::now();
        // In the order of time, so that months are entered ascending.
        let row = within(
            self.answer_limit,
            query!(
                r#"WITH looked_at AS MATERIALIZED (
                     SELECT id, status, amount, currency, title, decided_at, last_actor_id FROM approval_request
                     WHERE organization_id = $1 AND id >= $2
                     ORDER BY id LIMIT $3
                   ), made AS MATERIALIZED (
                     SELECT charge_approval($1, r.id, r.amount, r.currency, r.title, r.decided_at,
                                            r.last_actor_id) AS period
                     FROM (SELECT * FROM looked_at l
                           WHERE l.status = 'approved' AND l.amount IS NOT NULL
                             AND (SELECT c.id FROM charge c
                                  WHERE c.organization_id = $1 AND c.request_id = l.id) IS NULL
                           ORDER BY l.decided_at) r
                   )
                   SELECT (SELECT count(period) FROM made) AS "made!",
                          (SELECT id FROM looked_at ORDER BY id DESC LIMIT 1) AS last"#,
                wanted.organization_id,
                wanted.from_request,
                limit,
            )
            .fetch_one(self.connection()?),
        )
        .await;
        let row = self.note_lock("period", asked, row)?;
        let next = row.last.and_then(|last| last.as_u128().checked_add(1)).map(Uuid::from_u128);
        let connection = self.connection()?;
        let noted = match next {
            Some(next) => {
                query!(
                    "UPDATE charge_backfill SET from_request = $2 WHERE organization_id = $1",
                    wanted.organization_id,
                    next,
                )
                .execute(connection)
                .await
            }
            None => {
                query!("DELETE FROM charge_backfill WHERE organization_id = $1", wanted.organization_id)
                    .execute(connection)
                    .await
            }
        };
        self.note(noted)?;
        Ok(Backfilled::Made(row.made))
    }

    async fn find_charges(
        &mut self,
        organization: OrganizationId,
        ids: &[ChargeId],
    ) -> Result<Vec<Charge>, StoreError> {
        let rows = within(
            self.answer_limit,
            query!(
                r#"SELECT c.id, c.occurred_at, c.amount, c.currency, c.description, c.reverses, c.request_id, c.period,
                          c.late_of, c.version, f.charge_id IS NOT NULL AS "processed!"
                   FROM charge c
                   LEFT JOIN confirmed_charge f ON f.organization_id = c.organization_id AND f.charge_id = c.id
                   WHERE c.organization_id = $1 AND c.id = ANY ($2)"#,
                organization.0,
                &uuids(ids),
            )
            .fetch_all(self.connection()?),
        )
        .await;
        self.note(rows)?.into_iter().map(|row| Ok(charge!(organization, row))).collect()
    }

    async fn lock_charge(
        &mut self,
        organization: OrganizationId,
        id: ChargeId,
        moment: crate::domain::Instant,
    ) -> Result<Option<FoundCharge>, StoreError> {
        let asked = Instant::now();
        let entered = within(
            self.answer_limit,
            query!(
                "SELECT period, target, late_of, holds_period FROM enter_correction($1, $2, $3)",
                organization.0,
                id.0,
                moment,
            )
            .fetch_one(self.connection()?),
        )
        .await;
        let entered = self.note_lock("period", asked, entered)?;
        let (Some(period), Some(target)) = (entered.period, entered.target) else { return Ok(None) };

        let asked = Instant::now();
        let row = within(
            self.answer_limit,
            query!(
                r#"WITH locked AS MATERIALIZED (
                     SELECT id, occurred_at, amount, currency, description, reverses, request_id, period, late_of, version
                     FROM charge WHERE organization_id = $1 AND id = $2
                     FOR UPDATE
                   )
                   SELECT locked.*, false AS "processed!", clock_timestamp() AS "at!" FROM locked"#,
                organization.0,
                id.0,
            )
            .fetch_optional(self.connection()?),
        )
        .await;
        let Some(row) = self.note_lock("charge", asked, row)? else { return Ok(None) };
        let at = row.at;
        let mut charge = charge!(organization, row);

        // After the lock, in a snapshot of its own: a run may have confirmed or blocked it meanwhile.
        let state = within(
            self.answer_limit,
            query!(
                r#"SELECT EXISTS (SELECT FROM confirmed_charge
                                  WHERE organization_id = $1 AND charge_id = $2) AS "processed!",
                          EXISTS (SELECT FROM blocked_charge
                                  WHERE organization_id = $1 AND charge_id = $2) AS "blocked!",
                          (SELECT status FROM billing_period WHERE organization_id = $1 AND period = $3) AS status"#,
                organization.0,
                id.0,
                period,
            )
            .fetch_one(self.connection()?),
        )
        .await;
        let state = self.note(state)?;
        charge.processed = state.processed;
        let blocked = state.blocked && !state.processed;
        let holds_period = entered.holds_period.unwrap_or(false);
        if charge.period.first_day() != period || (blocked && !holds_period) {
            // It went into another month, or was blocked, before it was locked: the locks are those of another case.
            return Err(StoreError::Deadlock);
        }
        let month_state = match state.status.as_deref() {
            None => MonthState::Open,
            Some("closing") => MonthState::Closing { blocked },
            Some(_) => MonthState::Closed,
        };
        let placement = Placement { period: month(target)?, late_of: entered.late_of.map(month).transpose()? };
        Ok(Some(FoundCharge { charge: Locked::taken(charge, at), month: month_state, placement }))
    }

    async fn lock_closing_head(
        &mut self,
        organization: OrganizationId,
        subject: &str,
    ) -> Result<ChainHead, StoreError> {
        self.lock_head(organization, Kind::Closing, subject).await
    }

    async fn correct_charge(
        &mut self,
        before: &Locked<Charge>,
        correction: &Correction,
    ) -> Result<Guarded, StoreError> {
        let after = &correction.after;
        let changed = within(
            self.answer_limit,
            query!(
                r#"WITH changed AS (
                     UPDATE charge SET occurred_at = $4, amount = $5, currency = $6, description = $7, period = $8,
                                       late_of = $9, version = version + 1
                     WHERE organization_id = $1 AND id = $2 AND version = $3
                     RETURNING id
                   ), unblocked AS (
                     DELETE FROM blocked_charge b USING changed
                     WHERE $10 AND b.organization_id = $1 AND b.charge_id = changed.id
                   ), generation AS (
                     UPDATE billing_period p
                     SET generation = p.generation + 1,
                         total = CASE WHEN $8 = $11 THEN p.total ELSE greatest(p.total - 1, 0) END
                     FROM changed
                     WHERE $10 AND p.organization_id = $1 AND p.period = $11
                   )
                   SELECT count(*) AS "changed!" FROM changed"#,
                after.organization_id.0,
                after.id.0,
                before.version,
                after.content.occurred_at,
                after.content.amount,
                after.content.currency,
                after.content.description,
                after.period.first_day(),
                after.late_of.map(Period::first_day),
                correction.unblocks,
                before.period.first_day(),
            )
            .fetch_one(self.connection()?),
        )
        .await;
        Ok(if self.note(changed)?.changed == 1 { Guarded::Applied } else { Guarded::Stale })
    }

    async fn append_closing(
        &mut self,
        entry: &SubjectEntry,
        entry_hash: Hash,
        event: Option<&Event>,
        kept: Option<Kept<'_>>,
    ) -> Result<(), StoreError> {
        self.append(entry, entry_hash, event, kept).await
    }
}
