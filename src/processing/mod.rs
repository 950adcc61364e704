//! What follows an approval: an outside system is asked, for seconds or minutes, and its answer is kept.
//!
//! [`service`] is what people do: start, look, cancel. [`worker`] does the work, under a lease ([`crate::lease`]), so
//! that it is done by one process at a time whatever happens to the others. [`gateway`] asks the outside system.
//! [`store`] says what they need of a database. The rules are in [`crate::domain::job`].

pub mod gateway;
pub mod service;
pub mod store;
pub mod worker;

use crate::domain::job::JobRefusal;
use crate::transaction::UseCaseError;

/// Why a use case of this module did not do what it was asked.
pub type ProcessingError = UseCaseError<JobRefusal>;

impl From<JobRefusal> for ProcessingError {
    fn from(refusal: JobRefusal) -> Self {
        Self::Refused(refusal)
    }
}
