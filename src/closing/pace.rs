//! How large the steps of a closing are: bounded by the time for which they hold their locks, not by a guess of rows.

use std::time::Duration;

/// The first step is small: nothing is known yet.
const FIRST: i64 = 64;

/// The size of the next step, measured and adapted.
#[derive(Clone, Copy, Debug)]
pub struct Pace {
    target: Duration,
    most: i64,
    size: i64,
}

impl Pace {
    /// Steps of about `target`, and at most `most` rows. With `most` of 1 each charge is a step of its own.
    #[must_use]
    pub fn new(target: Duration, most: u32) -> Self {
        let most = i64::from(most.max(1));
        Self { target, most, size: FIRST.min(most) }
    }

    /// How many rows to look at next.
    #[must_use]
    pub const fn size(&self) -> i64 {
        self.size
    }

    /// A step was done: the next one is as large as its time allows, at most twice as large and at least a quarter.
    pub fn took(&mut self, elapsed: Duration) {
        let micros = |time: Duration| i64::try_from(time.as_micros()).unwrap_or(i64::MAX).max(1);
        let allowed = self.size.saturating_mul(micros(self.target)) / micros(elapsed);
        self.size = allowed.clamp(self.size / 4, self.size * 2).clamp(1, self.most);
    }

    /// A step was refused for one of its rows: look at half as many. False: it was one row already, which is the one.
    pub fn narrow(&mut self) -> bool {
        let narrower = self.size > 1;
        self.size = (self.size / 2).max(1);
        narrower
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const TARGET: Duration = Duration::from_millis(25);

    #[test]
    fn steps_grow_to_their_time_and_stay_there() {
        let mut pace = Pace::new(TARGET, 5_000);
        // 40 µs a row: 625 rows in the time.
        for _ in 0..40 {
            pace.took(Duration::from_micros(40 * u64::try_from(pace.size()).expect("positive")));
        }
        assert!((400..=800).contains(&pace.size()), "{}", pace.size());
        // The database is ten times as slow.
        for _ in 0..10 {
            pace.took(Duration::from_micros(400 * u64::try_from(pace.size()).expect("positive")));
        }
        assert!((30..=80).contains(&pace.size()), "{}", pace.size());
    }

    #[test]
    fn a_refused_step_is_halved_down_to_its_row() {
        let mut pace = Pace::new(TARGET, 8);
        let mut halves = 0;
        while pace.narrow() {
            halves += 1;
        }
        assert_eq!((halves, pace.size()), (3, 1));
    }

    #[test]
    fn steps_of_one_stay_steps_of_one() {
        let mut pace = Pace::new(TARGET, 1);
        pace.took(Duration::from_micros(1));
        assert_eq!(pace.size(), 1);
        assert_eq!(Pace::new(TARGET, 0).size(), 1);
    }
}
