//! Months. Which month a moment belongs to depends on the organization's time zone, and PostgreSQL says it (see
//! `migrations/0017_charges.sql`): here a month is only a name with an order.

use chrono::{Datelike, Months, NaiveDate};

/// A calendar month, from 1970-01 to 2199-12.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Period(NaiveDate);

impl Period {
    /// Reads `YYYY-MM`, and nothing else.
    #[must_use]
    pub fn parse(text: &str) -> Option<Self> {
        let digits = |part: &str, n: usize| part.len() == n && part.bytes().all(|b| b.is_ascii_digit());
        let (year, month) = text.split_once('-').filter(|(year, month)| digits(year, 4) && digits(month, 2))?;
        NaiveDate::from_ymd_opt(year.parse().ok()?, month.parse().ok()?, 1).and_then(Self::beginning)
    }

    /// The month that begins on this day. `None`: no month does, or it is out of range.
    #[must_use]
    pub fn beginning(first: NaiveDate) -> Option<Self> {
        (first.day() == 1 && (1970..2200).contains(&first.year())).then_some(Self(first))
    }

    /// Its first day.
    #[must_use]
    pub const fn first_day(self) -> NaiveDate {
        self.0
    }

    /// Its year and month as one number: `202610`.
    #[must_use]
    pub fn number(self) -> u32 {
        self.0.year().unsigned_abs() * 100 + self.0.month()
    }

    /// The month before. `None` before the first that there is.
    #[must_use]
    pub fn previous(self) -> Option<Self> {
        self.0.checked_sub_months(Months::new(1)).and_then(Self::beginning)
    }
}

impl std::fmt::Display for Period {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{:04}-{:02}", self.0.year(), self.0.month())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_month_is_read_to_the_letter_and_written_as_it_was_read() {
        for good in ["1970-01", "2026-10", "2199-12"] {
            assert_eq!(Period::parse(good).map(|period| period.to_string()).as_deref(), Some(good));
        }
        for bad in [
            "",
            "2026",
            "2026-1",
            "2026-13",
            "2026-00",
            "2026-10-01",
            "1969-12",
            "2200-01",
            "+026-10",
            "2026-1１",
            "２０２６-10",
        ] {
            assert_eq!(Period::parse(bad), None, "{bad}");
        }
    }

    #[test]
    fn months_follow_each_other() {
        let january = Period::parse("2026-01").expect("a month");
        assert_eq!(january.previous(), Period::parse("2025-12"));
        assert!(january > Period::parse("2025-12").expect("a month"));
        assert_eq!(Period::parse("1970-01").and_then(Period::previous), None);
    }
}
