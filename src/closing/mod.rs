//! Charges, months, and the closing that nobody notices.
//!
//! [`charges`] writes and corrects charges; [`statements`] shows what is upcoming and what is closed; [`closer`] begins
//! to close a month, and [`run`] does it. [`store`] and [`run_store`] say what they need of a database.

pub mod charges;
pub mod closer;
pub mod pace;
pub mod run;
pub mod run_store;
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
