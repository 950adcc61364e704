//! Charges, months, and the closing that nobody notices.
//!
//! [`charges`] writes and corrects charges; [`statements`] shows what is upcoming and what is closed. [`store`] says
//! what they need of a database.

pub mod charges;
pub mod statements;
pub mod store;
pub mod view;

use crate::domain::charge::ClosingRefusal;
use crate::transaction::UseCaseError;

/// Why a use case of this module did not do what it was asked.
pub type ClosingError = UseCaseError<ClosingRefusal>;

impl From<ClosingRefusal> for ClosingError {
    fn from(refusal: ClosingRefusal) -> Self {
        Self::Refused(refusal)
    }
}
