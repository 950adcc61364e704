//! What goes over the wire out about charges and months: as [`super::dto`].

use crate::closing::view::{BlockedRow, ClosingView, ConfirmedRow, Month, RowOutcome, RowResult, Statements, Total};
use crate::domain::charge::{Charge, RowFault};
use crate::domain::rfc3339;
use serde::Serialize;
use utoipa::ToSchema;
use uuid::Uuid;

/// A charge.
#[derive(Debug, Serialize, ToSchema)]
#[schema(as = Charge)]
pub(super) struct ChargeDto {
    pub(super) id: Uuid,
    #[schema(value_type = String, format = DateTime)]
    pub(super) occurred_at: String,
    /// In the currency's minor unit. Below zero only when it reverses another charge.
    #[schema(minimum = -9_007_199_254_740_991_i64, maximum = 9_007_199_254_740_991_i64)]
    pub(super) amount: i64,
    #[schema(pattern = "^[A-Z]{3}$")]
    pub(super) currency: String,
    pub(super) description: Option<String>,
    /// The charge that it takes back.
    pub(super) reverses: Option<Uuid>,
    /// The approved request that it comes from.
    pub(super) request_id: Option<Uuid>,
    /// The month that it belongs to, such as `2026-10`.
    #[schema(pattern = "^[0-9]{4}-[0-9]{2}$")]
    pub(super) period: String,
    /// The month that it would have belonged to, had that not been closed or closing.
    #[schema(pattern = "^[0-9]{4}-[0-9]{2}$")]
    pub(super) late_of: Option<String>,
    /// It stands in its month's statement, or will in the instant in which that is closed.
    pub(super) processed: bool,
    /// Counts the changes, from 1. Send it back with a correction.
    #[schema(minimum = 1)]
    pub(super) version: i64,
}

impl From<&Charge> for ChargeDto {
    fn from(charge: &Charge) -> Self {
        Self {
            id: charge.id.0,
            occurred_at: rfc3339(charge.content.occurred_at),
            amount: charge.content.amount,
            currency: charge.content.currency.clone(),
            description: charge.content.description.clone(),
            reverses: charge.reverses.map(|id| id.0),
            request_id: charge.request_id.map(|id| id.0),
            period: charge.period.to_string(),
            late_of: charge.late_of.map(|period| period.to_string()),
            processed: charge.processed,
            version: charge.version,
        }
    }
}

/// What became of an import: one item for each row, in order.
#[derive(Debug, Serialize, ToSchema)]
#[schema(as = Imported)]
pub(super) struct ImportedDto {
    pub(super) items: Vec<ImportedRowDto>,
}

/// What became of one row.
#[derive(Debug, Serialize, ToSchema)]
#[schema(as = ImportedRow)]
pub(super) struct ImportedRowDto {
    /// Null: the row has none that could be read.
    pub(super) id: Option<Uuid>,
    #[schema(value_type = ImportResultDto)]
    pub(super) result: &'static str,
    /// The month that the charge belongs to; null when it was refused.
    pub(super) period: Option<String>,
    /// The month that it would have belonged to, had that not been closed or closing.
    pub(super) late_of: Option<String>,
    /// Why the row was refused.
    #[schema(value_type = Option<RowFaultDto>)]
    pub(super) code: Option<&'static str>,
}

/// `created`: a new charge. `exists`: the very charge was there already. `refused`: nothing was done.
#[derive(Debug, Serialize, ToSchema)]
#[schema(as = ImportResult)]
#[serde(rename_all = "snake_case")]
#[expect(dead_code, reason = "the schema of a string")]
pub(super) enum ImportResultDto {
    Created,
    Exists,
    Refused,
}

/// Why a row of an import was refused.
#[derive(Debug, Serialize, ToSchema)]
#[schema(as = RowFault)]
#[serde(rename_all = "snake_case")]
#[expect(dead_code, reason = "the schema of a string, which `RowFault::as_str` writes")]
pub(super) enum RowFaultDto {
    AmountInvalid,
    ChargeConflict,
    CurrencyUnknown,
    DateInvalid,
    DescriptionInvalid,
    IdInvalid,
    ReversalInvalid,
    UnknownField,
}

/// Kept beside the schema so that the compiler sees a new fault.
const _: () = assert!(RowFault::ALL.len() == 8);

impl From<&RowResult> for ImportedRowDto {
    fn from(row: &RowResult) -> Self {
        let (result, placement, code) = match row.outcome {
            RowOutcome::Created(placement) => ("created", Some(placement), None),
            RowOutcome::Exists(placement) => ("exists", Some(placement), None),
            RowOutcome::Refused(fault) => ("refused", None, Some(fault.as_str())),
        };
        Self {
            id: row.id.map(|id| id.0),
            result,
            period: placement.map(|placement| placement.period.to_string()),
            late_of: placement.and_then(|placement| placement.late_of).map(|period| period.to_string()),
            code,
        }
    }
}

/// The sum of one currency.
#[derive(Debug, Serialize, ToSchema)]
#[schema(as = Total)]
pub(super) struct TotalDto {
    pub(super) currency: String,
    /// A decimal integer in the currency's minor unit. Text, since a sum can be larger than a number in JavaScript.
    #[schema(pattern = "^-?[0-9]+$")]
    pub(super) total: String,
    /// How many charges it is of.
    #[schema(minimum = 0)]
    pub(super) count: i64,
}

impl From<&Total> for TotalDto {
    fn from(total: &Total) -> Self {
        Self { currency: total.currency.clone(), total: total.total.clone(), count: total.count }
    }
}

fn totals(month: &Month) -> Vec<TotalDto> {
    month.totals.iter().map(TotalDto::from).collect()
}

/// Every month, newest first, as of one moment.
#[derive(Debug, Serialize, ToSchema)]
#[schema(as = Statements)]
pub(super) struct StatementsDto {
    /// Months with charges that are not closed.
    pub(super) upcoming: Vec<UpcomingDto>,
    /// Closed months.
    pub(super) months: Vec<ClosedMonthDto>,
}

/// A month that is not closed.
#[derive(Debug, Serialize, ToSchema)]
#[schema(as = Upcoming)]
pub(super) struct UpcomingDto {
    pub(super) period: String,
    pub(super) totals: Vec<TotalDto>,
}

/// A closed month.
#[derive(Debug, Serialize, ToSchema)]
#[schema(as = ClosedMonth)]
pub(super) struct ClosedMonthDto {
    pub(super) period: String,
    #[schema(value_type = String, format = DateTime)]
    pub(super) closed_at: String,
    pub(super) totals: Vec<TotalDto>,
}

impl From<&Month> for ClosedMonthDto {
    fn from(month: &Month) -> Self {
        Self {
            period: month.period.to_string(),
            closed_at: month.closed_at.map(rfc3339).unwrap_or_default(),
            totals: totals(month),
        }
    }
}

impl From<&Statements> for StatementsDto {
    fn from(found: &Statements) -> Self {
        let upcoming =
            found.upcoming.iter().map(|month| UpcomingDto { period: month.period.to_string(), totals: totals(month) });
        Self { upcoming: upcoming.collect(), months: found.months.iter().map(ClosedMonthDto::from).collect() }
    }
}

/// A page of a closed month's statement.
#[derive(Debug, Serialize, ToSchema)]
#[schema(as = Statement)]
pub(super) struct StatementDto {
    pub(super) period: String,
    #[schema(value_type = String, format = DateTime)]
    pub(super) closed_at: String,
    /// Of the whole month.
    pub(super) totals: Vec<TotalDto>,
    /// In the order of what happened.
    pub(super) items: Vec<ConfirmedChargeDto>,
    /// Send it as `cursor` for the next page. Null on the last page.
    #[schema(required = true)]
    pub(super) next_cursor: Option<String>,
}

/// A confirmed row of a closed month. It never changes.
#[derive(Debug, Serialize, ToSchema)]
#[schema(as = ConfirmedCharge)]
pub(super) struct ConfirmedChargeDto {
    pub(super) charge_id: Uuid,
    #[schema(value_type = String, format = DateTime)]
    pub(super) occurred_at: String,
    pub(super) amount: i64,
    pub(super) currency: String,
    pub(super) description: Option<String>,
    /// The approved request that it comes from.
    pub(super) request_id: Option<Uuid>,
}

/// The members of [`ConfirmedChargeDto`], in order: the header of a CSV.
pub(super) const STATEMENT_COLUMNS: [&str; 6] =
    ["charge_id", "occurred_at", "amount", "currency", "description", "request_id"];

impl From<&ConfirmedRow> for ConfirmedChargeDto {
    fn from(row: &ConfirmedRow) -> Self {
        Self {
            charge_id: row.charge_id.0,
            occurred_at: rfc3339(row.occurred_at),
            amount: row.amount,
            currency: row.currency.clone(),
            description: row.description.clone(),
            request_id: row.request_id.map(|id| id.0),
        }
    }
}

/// How far the closing of a month is.
#[derive(Debug, Serialize, ToSchema)]
#[schema(as = Closing)]
pub(super) struct ClosingDto {
    pub(super) period: String,
    #[schema(value_type = ClosingStateDto)]
    pub(super) state: &'static str,
    /// The month's charges; while it is `open`, 100000 says that there are as many or more.
    #[schema(minimum = 0)]
    pub(super) total: i64,
    /// Those that are confirmed. They show when all are.
    #[schema(minimum = 0)]
    pub(super) confirmed: i64,
    /// The rows that stand in the way, by id; at most 100 are named.
    #[schema(max_items = 100)]
    pub(super) blocked: Vec<BlockedDto>,
    /// How many there are.
    #[schema(minimum = 0)]
    pub(super) blocked_count: i64,
    /// How fast the run under way is.
    #[schema(minimum = 0)]
    pub(super) rows_per_second: i64,
    /// What the run under way needs, as far as one can tell.
    pub(super) seconds_left: Option<i64>,
    /// Who is at it: host, process and a number. Null while it is `running`: the run was interrupted, and is gone on with by
    /// a server soon, or by whoever starts it again.
    pub(super) holder: Option<String>,
    #[schema(value_type = Option<String>, format = DateTime)]
    pub(super) started_at: Option<String>,
    /// The last sign of life of who is at it.
    #[schema(value_type = Option<String>, format = DateTime)]
    pub(super) heartbeat_at: Option<String>,
    /// When the last run ended, with the month closed or with blocked rows.
    #[schema(value_type = Option<String>, format = DateTime)]
    pub(super) finished_at: Option<String>,
    /// What an administrator may have overlooked.
    pub(super) warnings: Vec<WarningDto>,
}

/// `open`: nobody has begun to close it. `running`: somebody is at it. `blocked`: the last run could not confirm some
/// rows. `closed`: it shows in its statement, and never changes again.
#[derive(Debug, Serialize, ToSchema)]
#[schema(as = ClosingState)]
#[serde(rename_all = "snake_case")]
#[expect(dead_code, reason = "the schema of a string, which `ClosingState::as_str` writes")]
pub(super) enum ClosingStateDto {
    Open,
    Running,
    Blocked,
    Closed,
}

/// A row that a run could not confirm.
#[derive(Debug, Serialize, ToSchema)]
#[schema(as = Blocked)]
pub(super) struct BlockedDto {
    pub(super) charge_id: Uuid,
    /// Stable: `reversal_invalid`, or `refused` by the database.
    pub(super) code: String,
    /// What the database said.
    pub(super) detail: String,
}

impl From<&BlockedRow> for BlockedDto {
    fn from(row: &BlockedRow) -> Self {
        Self { charge_id: row.charge_id.0, code: row.code.clone(), detail: row.detail.clone() }
    }
}

/// Something that an administrator may have overlooked.
#[derive(Debug, Serialize, ToSchema)]
#[schema(as = Warning)]
pub(super) struct WarningDto {
    /// Stable: `earlier_month_open`.
    pub(super) code: &'static str,
    /// Which month it is about.
    pub(super) period: String,
    pub(super) detail: String,
}

impl From<&ClosingView> for ClosingDto {
    fn from(view: &ClosingView) -> Self {
        let warnings = view.earlier_open.map(|period| WarningDto {
            code: "earlier_month_open",
            period: period.to_string(),
            detail: format!("{period} has charges, too, and is not closed."),
        });
        Self {
            period: view.period.to_string(),
            state: view.state.as_str(),
            total: view.total,
            confirmed: view.confirmed,
            blocked: view.blocked.iter().map(BlockedDto::from).collect(),
            blocked_count: view.blocked_count,
            rows_per_second: view.rows_per_second,
            seconds_left: view.seconds_left(),
            holder: view.holder.clone(),
            started_at: view.started_at.map(rfc3339),
            heartbeat_at: view.heartbeat_at.map(rfc3339),
            finished_at: view.finished_at.map(rfc3339),
            warnings: warnings.into_iter().collect(),
        }
    }
}
