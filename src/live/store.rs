//! What the hub needs of a database: plain reads.

use crate::domain::event::{About, LoggedEvent, Position};
use crate::domain::ids::{OrganizationId, RequestId, UserId};
use crate::domain::member::Member;
use crate::transaction::{StoreError, Viewer};
use std::collections::HashMap;
use std::future::Future;

/// Where an organization's log begins and ends.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Extent {
    /// The newest position; 0: nothing has happened yet.
    pub last: Position,
    /// Everything up to here has been cleaned away.
    pub trimmed: Position,
}

/// Reads of the log, and of who may see what.
pub trait LiveReads: Clone + Send + Sync + 'static {
    /// Where the log of the viewer's organization begins and ends; `None`: he is no active member.
    ///
    /// # Errors
    /// [`StoreError`], as everywhere below.
    fn extent(&self, viewer: Viewer) -> impl Future<Output = Result<Option<Extent>, StoreError>> + Send;

    /// The next events of each of these organizations after a position, at most `limit` of each, in their order.
    ///
    /// # Errors
    /// [`StoreError`].
    fn after(
        &self,
        heard: &[(OrganizationId, Position)],
        limit: i64,
    ) -> impl Future<Output = Result<Vec<LoggedEvent>, StoreError>> + Send;

    /// Those of these users who are active members of an organization.
    ///
    /// # Errors
    /// [`StoreError`].
    fn active(
        &self,
        organization: OrganizationId,
        users: &[UserId],
    ) -> impl Future<Output = Result<Vec<Member>, StoreError>> + Send;

    /// What decides who may see these requests, as far as these users go.
    ///
    /// # Errors
    /// [`StoreError`].
    fn about(
        &self,
        organization: OrganizationId,
        requests: &[RequestId],
        users: &[UserId],
    ) -> impl Future<Output = Result<HashMap<RequestId, About>, StoreError>> + Send;
}
