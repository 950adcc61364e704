//! Charges: what was spent, which month it belongs to, and who may still correct it.

use super::Instant;
use super::content::{AMOUNT_MAX, currency_code};
use super::ids::{ChargeId, OrganizationId, RequestId, Version};
use super::member::Member;
use super::period::Period;
use super::request::{check_reason, names};
use super::text::{self, Violation};
use chrono::{DateTime, Duration};
use validator::Validate;

/// The longest description of a charge, in Unicode scalar values.
pub const CHARGE_DESCRIPTION_MAX: u64 = 1_000;
/// How many charges one import has at most.
pub const IMPORT_MAX: usize = 1_000;

/// The first and the last moment of a charge: whatever the time zone, their months are from 1970-01 to 2199-12.
fn occurrences() -> (Instant, Instant) {
    // Days from the epoch to 2199-12-30.
    (DateTime::UNIX_EPOCH + Duration::days(1), DateTime::UNIX_EPOCH + Duration::days(84_004))
}

/// What of a charge can be corrected.
#[derive(Clone, Debug, PartialEq, Eq, Validate)]
pub struct ChargeContent {
    /// When the money was spent: it decides the month.
    pub occurred_at: Instant,
    /// In the currency's minor unit. Below zero only when it takes another charge back.
    #[validate(range(
        min = "-AMOUNT_MAX",
        max = "AMOUNT_MAX",
        message = "must be an integer of at most 9007199254740991 in the currency's minor unit"
    ))]
    pub amount: i64,
    /// An active ISO 4217 code in capitals.
    #[validate(custom(function = "currency_code"))]
    pub currency: String,
    /// Paragraphs, up to 1,000 characters.
    #[validate(length(max = "CHARGE_DESCRIPTION_MAX", message = "must have at most 1,000 characters"))]
    #[validate(custom(function = "text::paragraphs"))]
    pub description: Option<String>,
}

impl ChargeContent {
    /// Checks every rule at once. `now` is the database's clock.
    ///
    /// # Errors
    /// All violations, in a stable order.
    pub fn check(&self, is_reversal: bool, now: Instant) -> Result<(), Vec<Violation>> {
        let mut found = self.validate().err().map(|errors| text::violations(&errors)).unwrap_or_default();
        if self.amount < 0 && !is_reversal {
            found.push(Violation::new("amount", "range", "must be 0 or more, unless the charge reverses another one"));
        }
        if self.occurred_at != self.placed_at() {
            found.push(Violation::new("occurred_at", "range", "must be a time from 1970-01-02 to 2199-12-29, in UTC"));
        } else if self.occurred_at > now + Duration::days(1) {
            found.push(Violation::new("occurred_at", "range", "must be at most a day in the future"));
        }
        if found.is_empty() { Ok(()) } else { Err(found) }
    }

    /// The moment to look for a month at: its own, or the nearest one that has a month in every time zone, since the
    /// locks are taken before the content is judged.
    #[must_use]
    pub fn placed_at(&self) -> Instant {
        let (first, last) = occurrences();
        self.occurred_at.clamp(first, last)
    }
}

names! {
    /// Why a row of an import was refused.
    RowFault {
        /// Below zero without a charge that it reverses, or beyond 2^53 - 1, or no integer.
        AmountInvalid = "amount_invalid",
        /// The id is known, with other content.
        ChargeConflict = "charge_conflict",
        /// Not an active ISO 4217 code.
        CurrencyUnknown = "currency_unknown",
        /// Not a time from 1970-01-02 to 2199-12-29, or more than a day in the future.
        DateInvalid = "date_invalid",
        /// Too long, or with control characters.
        DescriptionInvalid = "description_invalid",
        /// Not a UUID, or the row is no object.
        IdInvalid = "id_invalid",
        /// What it reverses is not confirmed, was reversed already, or differs in currency or amount.
        ReversalInvalid = "reversal_invalid",
        /// A member that is not known, or one that stands twice.
        UnknownField = "unknown_field",
    }
}

impl RowFault {
    /// The fault that a violation of the content's rules is, in an import.
    fn of(violation: &Violation) -> Self {
        match violation.pointer.as_str() {
            "/occurred_at" => Self::DateInvalid,
            "/currency" => Self::CurrencyUnknown,
            "/description" => Self::DescriptionInvalid,
            _ => Self::AmountInvalid,
        }
    }
}

/// A charge as a client sends it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NewCharge {
    /// Made by the client, so that sending it again makes no second one.
    pub id: ChargeId,
    /// See [`ChargeContent`].
    pub content: ChargeContent,
    /// The confirmed charge that it takes back.
    pub reverses: Option<ChargeId>,
}

impl NewCharge {
    /// Checks what can be said without looking at other charges.
    ///
    /// # Errors
    /// The first fault, in the order date, amount, currency, description.
    pub fn check(&self, now: Instant) -> Result<(), RowFault> {
        let found = self.content.check(self.reverses.is_some(), now).err().unwrap_or_default();
        let order =
            [RowFault::DateInvalid, RowFault::AmountInvalid, RowFault::CurrencyUnknown, RowFault::DescriptionInvalid];
        let faults: Vec<RowFault> = found.iter().map(RowFault::of).collect();
        order.into_iter().find(|fault| faults.contains(fault)).map_or(Ok(()), Err)
    }

    /// True when it takes exactly this confirmed charge back.
    #[must_use]
    pub fn reverses_exactly(&self, amount: i64, currency: &str) -> bool {
        self.content.currency == currency && amount.checked_neg() == Some(self.content.amount)
    }
}

/// A charge as it stands.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Charge {
    /// Whose.
    pub organization_id: OrganizationId,
    /// Which.
    pub id: ChargeId,
    /// See [`ChargeContent`].
    pub content: ChargeContent,
    /// The confirmed charge that it takes back.
    pub reverses: Option<ChargeId>,
    /// The approved request that it comes from.
    pub request_id: Option<RequestId>,
    /// The month that it belongs to.
    pub period: Period,
    /// The month that it would have belonged to, had that not been closed or closing.
    pub late_of: Option<Period>,
    /// Counts its changes, from 1.
    pub version: Version,
    /// Copied into its month's confirmed rows.
    pub processed: bool,
}

/// How far the closing of a charge's month is, for who wants to correct the charge.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum MonthState {
    /// Nobody has begun to close it.
    Open,
    /// Being closed; and whether this very charge stands in the way.
    Closing {
        /// The charge is one of the blocked rows.
        blocked: bool,
    },
    /// Closed.
    Closed,
}

names! {
    /// How far a month is.
    ClosingState {
        /// Nobody has begun to close it.
        Open = "open",
        /// Somebody is at it; or was, and somebody else will go on.
        Running = "running",
        /// The last run could not confirm some rows.
        Blocked = "blocked",
        /// It shows in its statement, and never changes again.
        Closed = "closed",
    }
}

/// Why a use case on charges and months was refused. Nothing was changed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ClosingRefusal {
    /// Only administrators.
    Forbidden,
    /// There is no such charge, or no such closed month.
    NotFound,
    /// The charge was corrected since its author looked; this is how it stands.
    Changed(Box<Charge>),
    /// The charge's month is closed or being closed.
    PeriodClosed(Period),
    /// The month is not over yet.
    PeriodNotOver(Period),
    /// The charge is not one of the month's blocked rows.
    NotBlocked,
    /// The input breaks these rules.
    Invalid(Vec<Violation>),
}

/// Judges an administrator's correction, on locked rows. `None`: it says what stands there already. Where the corrected
/// charge goes is the store's to say, since it depends on time zone and fence.
///
/// # Errors
/// The refusal, in the order of checks.
pub fn decide_correction(
    member: &Member,
    charge: Option<&Charge>,
    month: MonthState,
    seen: Version,
    content: &ChargeContent,
    now: Instant,
) -> Result<Option<ChargeContent>, ClosingRefusal> {
    if !member.is_admin {
        return Err(ClosingRefusal::Forbidden);
    }
    let charge = charge.ok_or(ClosingRefusal::NotFound)?;
    if charge.version != seen {
        return Err(ClosingRefusal::Changed(Box::new(charge.clone())));
    }
    if charge.processed || !matches!(month, MonthState::Open | MonthState::Closing { blocked: true }) {
        return Err(ClosingRefusal::PeriodClosed(charge.period));
    }
    content.check(charge.reverses.is_some(), now).map_err(ClosingRefusal::Invalid)?;
    Ok((*content != charge.content).then(|| content.clone()))
}

/// Checks the reason of an exclusion, which there must be.
///
/// # Errors
/// [`ClosingRefusal::Invalid`].
pub fn check_exclusion(reason: Option<&str>) -> Result<(), ClosingRefusal> {
    let found = match reason {
        None => vec![Violation::new("reason", "required", "say why, in 1 to 2,000 characters")],
        Some(reason) => check_reason(reason),
    };
    if found.is_empty() { Ok(()) } else { Err(ClosingRefusal::Invalid(found)) }
}

#[cfg(test)]
mod tests {
    use super::*;
    use chrono::DateTime;
    use uuid::Uuid;

    fn now() -> Instant {
        DateTime::from_timestamp(1_790_000_000, 0).expect("a time")
    }

    fn charge() -> NewCharge {
        let content = ChargeContent { occurred_at: now(), amount: 1_200, currency: "JPY".into(), description: None };
        NewCharge { id: ChargeId(Uuid::from_u128(1)), content, reverses: None }
    }

    #[test]
    fn every_fault_of_a_row_is_told_by_its_code() {
        let fault = |change: fn(&mut NewCharge)| {
            let mut broken = charge();
            change(&mut broken);
            broken.check(now()).expect_err("must be refused").as_str()
        };
        assert_eq!(charge().check(now()), Ok(()));
        assert_eq!(fault(|c| c.content.amount = -1), "amount_invalid");
        assert_eq!(fault(|c| c.content.amount = AMOUNT_MAX + 1), "amount_invalid");
        assert_eq!(fault(|c| c.content.currency = "DEM".into()), "currency_unknown");
        assert_eq!(fault(|c| c.content.occurred_at += Duration::hours(25)), "date_invalid");
        assert_eq!(fault(|c| c.content.description = Some("a\u{7}".into())), "description_invalid");
        assert_eq!(fault(|c| c.content.description = Some("x".repeat(1_001))), "description_invalid");
        let both = |c: &mut NewCharge| {
            c.content.currency = "?".into();
            c.content.amount = -5;
        };
        assert_eq!(fault(both), "amount_invalid", "the first in the order is told");
    }

    #[test]
    fn a_reversal_may_be_negative_and_must_be_exact() {
        let mut back = charge();
        (back.content.amount, back.reverses) = (-1_200, Some(ChargeId(Uuid::from_u128(2))));
        assert_eq!(back.check(now()), Ok(()));
        assert!(back.reverses_exactly(1_200, "JPY"));
        assert!(!back.reverses_exactly(1_201, "JPY"));
        assert!(!back.reverses_exactly(1_200, "USD"));
        assert!(!back.reverses_exactly(i64::MIN, "JPY"));
    }
}
