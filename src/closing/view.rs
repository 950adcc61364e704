//! What a reader is shown of charges and months.

use crate::domain::Instant;
use crate::domain::charge::{Charge, ClosingState, RowFault};
use crate::domain::ids::{ChargeId, RequestId};
use crate::domain::period::Period;
use uuid::Uuid;

/// What became of one row of an import.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RowResult {
    /// As the row named it, where it named one.
    pub id: Option<ChargeId>,
    /// See [`RowOutcome`].
    pub outcome: RowOutcome,
}

/// What became of one row.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RowOutcome {
    /// A new charge.
    Created(Placement),
    /// The very charge was there already.
    Exists(Placement),
    /// Nothing was done.
    Refused(RowFault),
}

/// Where a charge stands.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Placement {
    /// The month that it belongs to.
    pub period: Period,
    /// The month that it would have belonged to, had that not been closed or closing.
    pub late_of: Option<Period>,
}

impl Placement {
    /// Where a charge of the month `home` goes when the first open month from there on is `period`.
    #[must_use]
    pub fn new(home: Period, period: Period) -> Self {
        Self { period, late_of: (period > home).then_some(home) }
    }

    /// Where this charge stands.
    #[must_use]
    pub const fn of(charge: &Charge) -> Self {
        Self { period: charge.period, late_of: charge.late_of }
    }
}

/// Which charges to list.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct ChargeQuery {
    /// Only this month's.
    pub period: Option<Period>,
    /// Only those that were processed, or only the others.
    pub processed: Option<bool>,
}

/// The sum of one currency. Sums are text: a month can pass 2^63.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Total {
    /// An ISO 4217 code.
    pub currency: String,
    /// A decimal integer in the currency's minor unit.
    pub total: String,
    /// How many charges it is of.
    pub count: i64,
}

/// A month with its sums.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Month {
    /// Which one.
    pub period: Period,
    /// When it was closed. `None`: it is upcoming.
    pub closed_at: Option<Instant>,
    /// By currency.
    pub totals: Vec<Total>,
}

/// Every month, newest first, as of one moment.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Statements {
    /// Months that are not closed.
    pub upcoming: Vec<Month>,
    /// Closed months.
    pub months: Vec<Month>,
}

/// A confirmed row of a closed month.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ConfirmedRow {
    /// The charge.
    pub charge_id: ChargeId,
    /// When the money was spent.
    pub occurred_at: Instant,
    /// In the currency's minor unit.
    pub amount: i64,
    /// An ISO 4217 code.
    pub currency: String,
    /// What for.
    pub description: Option<String>,
    /// The approved request that it comes from.
    pub request_id: Option<RequestId>,
}

/// A place among a month's confirmed rows, which are in the order of what happened.
pub type RowPlace = (Instant, Uuid);

/// How many blocked rows are named at once.
pub const BLOCKED_SHOWN: i64 = 100;

/// How many charges of a month that nobody has begun to close are counted for who looks: a look must not cost more, however
/// large the month is. The run counts them all.
pub const COUNTED_AT_MOST: i64 = 100_000;

/// A row that a run could not confirm.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct BlockedRow {
    /// The charge.
    pub charge_id: ChargeId,
    /// Stable: `reversal_invalid`, or `refused` by the database.
    pub code: String,
    /// What the database said.
    pub detail: String,
}

/// How far the closing of a month is.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ClosingView {
    /// Which month.
    pub period: Period,
    /// See [`ClosingState`].
    pub state: ClosingState,
    /// The month's charges; while nobody has begun to close it, at most [`COUNTED_AT_MOST`].
    pub total: i64,
    /// Those that are confirmed.
    pub confirmed: i64,
    /// Those that stand in the way.
    pub blocked_count: i64,
    /// The first of them by id, at most [`BLOCKED_SHOWN`].
    pub blocked: Vec<BlockedRow>,
    /// How fast the run under way is.
    pub rows_per_second: i64,
    /// Who is at it.
    pub holder: Option<String>,
    /// When the month was begun to be closed.
    pub started_at: Option<Instant>,
    /// The last sign of life of who is at it.
    pub heartbeat_at: Option<Instant>,
    /// When the last run ended: with the month closed, or with blocked rows.
    pub finished_at: Option<Instant>,
    /// An earlier month that has charges and is not closed.
    pub earlier_open: Option<Period>,
    /// The month has ended in the organization's time zone.
    pub is_over: bool,
}

impl ClosingView {
    /// How many seconds the run under way needs, as far as one can tell.
    #[must_use]
    pub fn seconds_left(&self) -> Option<i64> {
        let left = (self.total - self.confirmed - self.blocked_count).max(0);
        let known = self.state == ClosingState::Running && self.rows_per_second > 0;
        known.then(|| (left + self.rows_per_second - 1) / self.rows_per_second)
    }
}

/// How far a run is, as it goes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Progress {
    /// The month's charges.
    pub total: i64,
    /// Those that are confirmed.
    pub confirmed: i64,
    /// Those that this run could not confirm.
    pub blocked: i64,
    /// Lately.
    pub rows_per_second: i64,
}
