//! Open pages learn of events as they happen, each of what its user may see at that moment.
//!
//! One [`Hub`] a process: whoever listens has a queue, and one task reads what is new for all of them, asks for the rights
//! of their users, and hands each event to those whom it is for. A listener costs no connection to the database and no
//! question of his own. Nobody is waited for: a listener whose queue is full is let go, and comes again with the last
//! position that he has seen.

mod hub;
pub mod store;

pub use hub::{Heard, Hub, HubSettings, Listener};

use crate::transaction::UseCaseError;

/// Why somebody can't listen now.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LiveRefusal {
    /// The user listens too often already.
    TooManyOfTheUser,
    /// The process has as many listeners as it may have, or is being stopped.
    TooMany,
}

/// Why a use case of this module did not do what it was asked.
pub type LiveError = UseCaseError<LiveRefusal>;

impl From<LiveRefusal> for LiveError {
    fn from(refusal: LiveRefusal) -> Self {
        Self::Refused(refusal)
    }
}
