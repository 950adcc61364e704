//! What a reader is shown of charges and months.

use crate::domain::Instant;
use crate::domain::charge::{Charge, RowFault};
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
