//! Writing, submitting, deciding, and looking at requests.
//!
//! [`service`] is the write transaction on one screen: open, lock, decide, apply, commit. [`store`] says what it
//! needs of a database.

pub mod service;
pub mod store;
pub mod view;

use crate::domain::request::Refusal;
use crate::transaction::UseCaseError;

/// Why a use case of this module did not do what it was asked.
pub type ApprovalError = UseCaseError<Refusal>;

impl From<Refusal> for ApprovalError {
    fn from(refusal: Refusal) -> Self {
        Self::Refused(refusal)
    }
}
