//! What inspections need of a database: reads without locks, and one small transaction for the trace.

use super::view::{Row, RowPlace, Selection};
use crate::domain::Instant;
use crate::domain::history::{ChainHead, Hash, SubjectEntry};
use crate::domain::ids::{OrganizationId, RequestId, Version};
use crate::domain::member::Member;
use crate::domain::verify::{RequestRow, SubjectRow};
use crate::transaction::{Locked, Session, StoreError, Viewer};
use serde_json::Value;
use std::future::Future;
use uuid::Uuid;

/// Opens sessions. One session is one Read Committed transaction.
pub trait AccessStore: Clone + Send + Sync + 'static {
    /// See [`AccessSession`].
    type Session: AccessSession;

    /// Begins a transaction on a connection of its own.
    ///
    /// # Errors
    /// [`StoreError::Unavailable`] when no connection is to be had in time.
    fn open(&self) -> impl Future<Output = Result<Self::Session, StoreError>> + Send;
}

/// One open transaction that records an access.
pub trait AccessSession: Session {
    /// Takes the membership of who looked, shared, whether or not he is active by now.
    ///
    /// # Errors
    /// [`StoreError`], as everywhere below.
    fn lock_inspector(
        &mut self,
        viewer: Viewer,
    ) -> impl Future<Output = Result<Option<Locked<Member>>, StoreError>> + Send;

    /// Takes the head of his chain of accesses, making it if there is none.
    ///
    /// # Errors
    /// [`StoreError`].
    fn lock_accesses(&mut self, viewer: Viewer) -> impl Future<Output = Result<ChainHead, StoreError>> + Send;

    /// Under that lock: has the walk been recorded?
    ///
    /// # Errors
    /// [`StoreError`].
    fn is_recorded(&mut self, viewer: Viewer, walk: Uuid) -> impl Future<Output = Result<bool, StoreError>> + Send;

    /// Writes the record under that lock.
    ///
    /// # Errors
    /// [`StoreError`].
    fn record(&mut self, entry: &SubjectEntry, entry_hash: Hash)
    -> impl Future<Output = Result<(), StoreError>> + Send;
}

/// Somebody who wants to look.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Inspector {
    /// May he do anything at all?
    pub is_active: bool,
    /// May he inspect?
    pub is_admin: bool,
    /// The database's clock.
    pub now: Instant,
}

/// Reads for the list.
pub trait InspectionReads: Clone + Send + Sync + 'static {
    /// The viewer's standing. `None`: not a member.
    ///
    /// # Errors
    /// [`StoreError`], as everywhere below.
    fn inspector(&self, viewer: Viewer) -> impl Future<Output = Result<Option<Inspector>, StoreError>> + Send;

    /// May the viewer see this request?
    ///
    /// # Errors
    /// [`StoreError`].
    fn sees(&self, viewer: Viewer, id: RequestId) -> impl Future<Output = Result<bool, StoreError>> + Send;

    /// Up to `limit` rows after the place, in order. Those of requests that were never submitted are left out.
    ///
    /// # Errors
    /// [`StoreError`].
    fn rows(
        &self,
        organization: OrganizationId,
        selection: &Selection,
        after: &RowPlace,
        limit: i64,
    ) -> impl Future<Output = Result<Vec<Row>, StoreError>> + Send;

    /// The detail of the record of the viewer's walk, if it has been recorded.
    ///
    /// # Errors
    /// [`StoreError`].
    fn recorded(&self, viewer: Viewer, walk: Uuid) -> impl Future<Output = Result<Option<Value>, StoreError>> + Send;
}

/// The head of a chain, as a checkpoint names it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Head {
    /// `request` or another kind.
    pub kind: String,
    /// Which request or subject.
    pub subject: String,
    /// The number of its last row.
    pub version: Version,
    /// The hash of its last row, in hexadecimal digits.
    pub chain_hash: String,
}

/// Reads of everything that is stored, bent or not. Each call is one statement, so it sees one moment.
pub trait VerificationReads: Clone + Send + Sync + 'static {
    /// Rows of requests' histories from a place on (included), by request and version.
    ///
    /// # Errors
    /// [`StoreError`], as everywhere below.
    fn entries(
        &self,
        organization: OrganizationId,
        scope: Option<RequestId>,
        from: Option<(RequestId, Version)>,
        limit: i64,
    ) -> impl Future<Output = Result<Vec<RequestRow>, StoreError>> + Send;

    /// Requests after a place, and whether each has a history.
    ///
    /// # Errors
    /// [`StoreError`].
    fn requests(
        &self,
        organization: OrganizationId,
        scope: Option<RequestId>,
        after: Option<RequestId>,
        limit: i64,
    ) -> impl Future<Output = Result<Vec<(RequestId, bool)>, StoreError>> + Send;

    /// Contents after a place, and whether each has its row of history.
    ///
    /// # Errors
    /// [`StoreError`].
    fn contents(
        &self,
        organization: OrganizationId,
        scope: Option<RequestId>,
        after: Option<(RequestId, Version)>,
        limit: i64,
    ) -> impl Future<Output = Result<Vec<(RequestId, Version, bool)>, StoreError>> + Send;

    /// Rows of the other history from a place on (included), by kind, subject and number.
    ///
    /// # Errors
    /// [`StoreError`].
    fn subject_entries(
        &self,
        organization: OrganizationId,
        from: Option<(&str, &str, i64)>,
        limit: i64,
    ) -> impl Future<Output = Result<Vec<SubjectRow>, StoreError>> + Send;

    /// Heads of the other history after a place, and whether each agrees with there being rows.
    ///
    /// # Errors
    /// [`StoreError`].
    fn heads(
        &self,
        organization: OrganizationId,
        after: Option<(&str, &str)>,
        limit: i64,
    ) -> impl Future<Output = Result<Vec<(String, String, bool)>, StoreError>> + Send;

    /// The chains' heads of requests after a place.
    ///
    /// # Errors
    /// [`StoreError`].
    fn request_heads(
        &self,
        organization: OrganizationId,
        after: Option<RequestId>,
        limit: i64,
    ) -> impl Future<Output = Result<Vec<Head>, StoreError>> + Send;

    /// The chains' heads of the other history after a place.
    ///
    /// # Errors
    /// [`StoreError`].
    fn subject_heads(
        &self,
        organization: OrganizationId,
        after: Option<(&str, &str)>,
        limit: i64,
    ) -> impl Future<Output = Result<Vec<Head>, StoreError>> + Send;

    /// For each head, in order: the hash that its row has now, in hexadecimal digits.
    ///
    /// # Errors
    /// [`StoreError`].
    fn hashes_now(
        &self,
        organization: OrganizationId,
        heads: &[Head],
    ) -> impl Future<Output = Result<Vec<Option<String>>, StoreError>> + Send;

    /// Organizations after a place.
    ///
    /// # Errors
    /// [`StoreError`].
    fn organizations(
        &self,
        after: Option<OrganizationId>,
        limit: i64,
    ) -> impl Future<Output = Result<Vec<OrganizationId>, StoreError>> + Send;

    /// How many rows of history an organization has, and the database's clock. `None`: no such organization.
    ///
    /// # Errors
    /// [`StoreError`].
    fn extent(
        &self,
        organization: OrganizationId,
    ) -> impl Future<Output = Result<Option<(i64, Instant)>, StoreError>> + Send;
}
