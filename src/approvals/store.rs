//! What the use cases on requests need of a database: one unit of work, and reads without locks.

use super::view::{Counts, HistoryPage, ListQuery, Page, Place, RequestView, VersionView, WaitingFor};
use crate::domain::ids::{OrganizationId, RequestId, UserId, Version};
use crate::domain::member::Member;
use crate::domain::request::{Change, Request};
use crate::transaction::idempotency::Kept;
use crate::transaction::{Guarded, Locked, Session, StoreError, Viewer};
use std::future::Future;

/// Opens sessions, and answers reads. One session is one Read Committed transaction.
pub trait ApprovalStore: Clone + Send + Sync + 'static {
    /// See [`ApprovalSession`].
    type Session: ApprovalSession;

    /// Begins a transaction on a connection of its own.
    ///
    /// # Errors
    /// [`StoreError::Unavailable`] when no connection is to be had in time.
    fn open(&self) -> impl Future<Output = Result<Self::Session, StoreError>> + Send;
}

/// A request that was found and locked.
#[derive(Debug)]
pub struct Found {
    /// The locked row.
    pub request: Locked<Request>,
    /// The applicant's name, for the answer.
    pub applicant_name: String,
}

/// One open transaction on requests.
pub trait ApprovalSession: Session {
    /// Takes the membership FOR SHARE, behind everybody who waits to change it. Comes first, always.
    ///
    /// # Errors
    /// [`StoreError`].
    fn lock_member(
        &mut self,
        organization: OrganizationId,
        user: UserId,
    ) -> impl Future<Output = Result<Option<Locked<Member>>, StoreError>> + Send;

    /// Both locks in one trip and in the same order: the membership FOR SHARE, then the request FOR UPDATE. For calls
    /// without an idempotency key, whose row would stand between the two. `None` when there is no active member or no
    /// such request: which of them, the two single locks tell.
    ///
    /// # Errors
    /// [`StoreError`].
    fn lock_both(
        &mut self,
        organization: OrganizationId,
        user: UserId,
        id: RequestId,
    ) -> impl Future<Output = Result<Option<(Locked<Member>, Found)>, StoreError>> + Send;

    /// Takes the request FOR UPDATE, in the locked member's organization.
    ///
    /// # Errors
    /// [`StoreError`].
    fn lock_request(
        &mut self,
        by: &Locked<Member>,
        id: RequestId,
    ) -> impl Future<Output = Result<Option<Found>, StoreError>> + Send;

    /// True when the member has a row in the request's history.
    ///
    /// # Errors
    /// [`StoreError`].
    fn has_acted(
        &mut self,
        by: &Locked<Member>,
        request: &Locked<Request>,
    ) -> impl Future<Output = Result<bool, StoreError>> + Send;

    /// Who could decide on a request of this applicant.
    ///
    /// # Errors
    /// [`StoreError`].
    fn waiting_for(
        &mut self,
        organization: OrganizationId,
        applicant: UserId,
    ) -> impl Future<Output = Result<WaitingFor, StoreError>> + Send;

    /// Writes a new request, its content, its first history row and its event, and keeps the answer.
    ///
    /// # Errors
    /// [`StoreError`].
    fn insert(
        &mut self,
        by: &Locked<Member>,
        change: &Change,
        kept: Option<Kept<'_>>,
    ) -> impl Future<Output = Result<(), StoreError>> + Send;

    /// Writes a change of the locked request, guarded by version and status, with its content if it has a new one,
    /// its history row and its event, and keeps the answer: all in one statement, so all or nothing.
    ///
    /// # Errors
    /// [`StoreError`].
    fn apply(
        &mut self,
        before: &Locked<Request>,
        change: &Change,
        kept: Option<Kept<'_>>,
    ) -> impl Future<Output = Result<Guarded, StoreError>> + Send;
}

/// How somebody stands to a request.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Standing {
    /// The membership, active or not.
    pub member: Member,
    /// Has a row in the request's history.
    pub has_acted: bool,
}

/// Reads. They join membership and visibility in the same statement and take no lock, so that looking never makes a
/// writer wait. `None` and empty pages say nothing about membership: ask [`ApprovalReads::is_active_member`].
pub trait ApprovalReads: Clone + Send + Sync + 'static {
    /// True when the viewer is an active member.
    ///
    /// # Errors
    /// [`StoreError`], as everywhere below.
    fn is_active_member(&self, viewer: Viewer) -> impl Future<Output = Result<bool, StoreError>> + Send;

    /// One request.
    ///
    /// # Errors
    /// [`StoreError`].
    fn request(
        &self,
        viewer: Viewer,
        id: RequestId,
    ) -> impl Future<Output = Result<Option<RequestView>, StoreError>> + Send;

    /// A page of requests, newest first.
    ///
    /// # Errors
    /// [`StoreError`].
    fn list(
        &self,
        viewer: Viewer,
        query: &ListQuery,
        after: Option<Place>,
        limit: u16,
    ) -> impl Future<Output = Result<Page<RequestView, Place>, StoreError>> + Send;

    /// How many there are, by the predicate of the list.
    ///
    /// # Errors
    /// [`StoreError`].
    fn counts(&self, viewer: Viewer) -> impl Future<Output = Result<Counts, StoreError>> + Send;

    /// A page of a request's history, oldest first. Empty: not there, or not to be seen.
    ///
    /// # Errors
    /// [`StoreError`].
    fn history(
        &self,
        viewer: Viewer,
        id: RequestId,
        after: Version,
        limit: u16,
    ) -> impl Future<Output = Result<HistoryPage, StoreError>> + Send;

    /// Somebody's membership, active or not, and whether he has acted on the request. `None`: no member.
    ///
    /// # Errors
    /// [`StoreError`].
    fn standing(&self, of: Viewer, id: RequestId) -> impl Future<Output = Result<Option<Standing>, StoreError>> + Send;

    /// The content as it stood at a version.
    ///
    /// # Errors
    /// [`StoreError`].
    fn version(
        &self,
        viewer: Viewer,
        id: RequestId,
        version: Version,
    ) -> impl Future<Output = Result<Option<VersionView>, StoreError>> + Send;
}
