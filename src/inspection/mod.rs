//! An inspector's view of what happened: one list over both histories, exports of any size, a trace of whoever
//! looked, and the proof that nothing was bent.

pub mod checkpoint;
pub mod exports;
pub mod service;
pub mod store;
pub mod verify;
pub mod view;

use crate::transaction::UseCaseError;

/// Why an inspection was refused.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum InspectionRefusal {
    /// Only administrators inspect the history.
    Forbidden,
    /// The request is not there, or not for this viewer.
    NotFound,
    /// The cursor belongs to another walk, or to none.
    ForeignCursor,
}

/// Why a use case of this module did not do what it was asked.
pub type InspectionError = UseCaseError<InspectionRefusal>;

impl From<InspectionRefusal> for InspectionError {
    fn from(refusal: InspectionRefusal) -> Self {
        Self::Refused(refusal)
    }
}
