//! How many exports an organization has under way, in this process.
//!
//! An export holds no connection while its client is slow, so the bound is not for the database's sake alone: it keeps
//! one organization's machines from taking all the reading. A client that reads nothing for a while loses its place
//! as soon as somebody else asks for it.

use crate::domain::ids::OrganizationId;
use std::collections::HashMap;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError, Weak};
use std::time::{Duration, Instant};

/// How many exports of an organization at once.
pub const AT_ONCE: usize = 2;
/// How long a client may read nothing before its place can be taken.
pub const STALLED_AFTER: Duration = Duration::from_mins(1);

/// The exports under way.
#[derive(Clone, Debug)]
pub struct Exports {
    under_way: Arc<Mutex<HashMap<OrganizationId, Vec<Weak<State>>>>>,
    stalled_after: Duration,
}

#[derive(Debug)]
struct State {
    touched: Mutex<Instant>,
    taken: AtomicBool,
}

/// A place among the exports of an organization. Given back by dropping it.
#[derive(Debug)]
pub struct Place(Arc<State>);

impl Default for Exports {
    fn default() -> Self {
        Self::new(STALLED_AFTER)
    }
}

impl Exports {
    /// None under way. A place can be taken from who reads nothing for `stalled_after`.
    #[must_use]
    pub fn new(stalled_after: Duration) -> Self {
        Self { under_way: Arc::default(), stalled_after }
    }

    /// A place, if there is one.
    #[must_use]
    pub fn enter(&self, organization: OrganizationId) -> Option<Place> {
        // A map of places stays right whatever panicked while holding it.
        let mut under_way = self.under_way.lock().unwrap_or_else(PoisonError::into_inner);
        under_way.retain(|_, places| places.iter().any(|place| place.strong_count() > 0));
        let places = under_way.entry(organization).or_default();
        places.retain(|place| place.upgrade().is_some_and(|state| !state.give_up(self.stalled_after)));
        if places.len() >= AT_ONCE {
            return None;
        }
        let state = Arc::new(State { touched: Mutex::new(Instant::now()), taken: AtomicBool::new(false) });
        places.push(Arc::downgrade(&state));
        Some(Place(state))
    }
}

impl State {
    fn give_up(&self, stalled_after: Duration) -> bool {
        let touched = *self.touched.lock().unwrap_or_else(PoisonError::into_inner);
        let stalled = touched.elapsed() >= stalled_after;
        if stalled {
            self.taken.store(true, Ordering::Relaxed);
        }
        stalled
    }
}

impl Place {
    /// The client reads. False: it had read nothing for so long that the place went to somebody else.
    #[must_use]
    pub fn touch(&self) -> bool {
        *self.0.touched.lock().unwrap_or_else(PoisonError::into_inner) = Instant::now();
        !self.0.taken.load(Ordering::Relaxed)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use uuid::Uuid;

    fn organization(n: u128) -> OrganizationId {
        OrganizationId(Uuid::from_u128(n))
    }

    #[test]
    fn two_at_once_for_each_organization() {
        let exports = Exports::default();
        let _a = exports.enter(organization(1)).expect("the first");
        let b = exports.enter(organization(1)).expect("the second");
        assert!(exports.enter(organization(1)).is_none(), "a third");
        let _other = exports.enter(organization(2)).expect("another organization");
        drop(b);
        let _c = exports.enter(organization(1)).expect("after one has ended");
    }

    #[test]
    fn who_reads_nothing_loses_the_place() {
        let exports = Exports::new(Duration::ZERO);
        let (a, b) = (exports.enter(organization(1)).expect("a"), exports.enter(organization(1)).expect("b"));
        let c = exports.enter(organization(1)).expect("a stalled place is taken");
        assert!(!a.touch() && !b.touch());
        assert!(c.touch());
    }
}
