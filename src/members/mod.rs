//! People and their rights in an organization: member administration, and what a person is a member of.

pub mod invitations;
pub mod service;
pub mod store;

use crate::domain::member::MemberRefusal;
use crate::transaction::UseCaseError;

/// Why a use case of this module did not do what it was asked.
pub type MemberError = UseCaseError<MemberRefusal>;

impl From<MemberRefusal> for MemberError {
    fn from(refusal: MemberRefusal) -> Self {
        Self::Refused(refusal)
    }
}
