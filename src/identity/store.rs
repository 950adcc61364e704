//! What the mapping of identities needs of a database.

use crate::domain::identity::Identity;
use crate::domain::ids::UserId;
use crate::transaction::StoreError;
use std::future::Future;

/// Keeps who is who. Rows are only ever added.
pub trait IdentityStore: Clone + Send + Sync + 'static {
    /// The user of this identity, if it was seen before.
    ///
    /// # Errors
    /// [`StoreError`], as below.
    fn find(&self, identity: &Identity) -> impl Future<Output = Result<Option<UserId>, StoreError>> + Send;

    /// Gives the identity the id `new`, unless somebody else was faster. Answers the id that it has now.
    ///
    /// # Errors
    /// [`StoreError`].
    fn add(&self, identity: &Identity, new: UserId) -> impl Future<Output = Result<UserId, StoreError>> + Send;
}
