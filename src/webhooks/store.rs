//! What the use cases on webhooks need of a database.

use crate::domain::event::Event;
use crate::domain::history::{ChainHead, Hash, SubjectEntry};
use crate::domain::ids::{EndpointId, OrganizationId};
use crate::domain::member::Member;
use crate::domain::webhook::{Delivery, Endpoint, Stream};
use crate::domain::{Instant, webhook};
use crate::transaction::idempotency::Kept;
use crate::transaction::{Guarded, Locked, Session, StoreError, Viewer};
use std::future::Future;

/// Opens sessions. One session is one Read Committed transaction.
pub trait WebhookStore: Clone + Send + Sync + 'static {
    /// See [`WebhookSession`].
    type Session: WebhookSession;

    /// Begins a transaction on a connection of its own.
    ///
    /// # Errors
    /// [`StoreError::Unavailable`] when no connection is to be had in time.
    fn open(&self) -> impl Future<Output = Result<Self::Session, StoreError>> + Send;
}

/// A row of an endpoint's history with what goes with it.
#[derive(Clone, Debug)]
pub struct EndpointEntry {
    /// The row.
    pub entry: SubjectEntry,
    /// Its hash in its chain.
    pub entry_hash: Hash,
    /// What others are told.
    pub event: Event,
}

impl EndpointEntry {
    /// The row of what became of an endpoint. `None`: it neither was nor is.
    #[must_use]
    pub fn of(
        actor: Option<&Member>,
        action: &'static str,
        before: Option<&Endpoint>,
        after: Option<&Endpoint>,
        head: ChainHead,
    ) -> Option<Self> {
        let entry = webhook::entry(actor, action, before, after, head)?;
        let event = Event::of_webhook(&entry, after.map(|after| after.state));
        Some(Self { entry_hash: entry.hash(head.hash), event, entry })
    }
}

/// One open transaction on endpoints.
pub trait WebhookSession: Session {
    /// Takes the organization FOR NO KEY UPDATE, by whoever adds an endpoint: the count that was read stays right.
    ///
    /// # Errors
    /// [`StoreError`], as everywhere below.
    fn lock_organization(
        &mut self,
        organization: OrganizationId,
    ) -> impl Future<Output = Result<(), StoreError>> + Send;

    /// Takes the membership of who asks, shared.
    ///
    /// # Errors
    /// [`StoreError`].
    fn share_actor(
        &mut self,
        viewer: Viewer,
    ) -> impl Future<Output = Result<Option<Locked<Member>>, StoreError>> + Send;

    /// How many endpoints an organization has, and where its log begins and ends.
    ///
    /// # Errors
    /// [`StoreError`].
    fn count_endpoints(
        &mut self,
        organization: OrganizationId,
    ) -> impl Future<Output = Result<(i64, Stream), StoreError>> + Send;

    /// Takes an endpoint FOR UPDATE, and reads where the organization's log begins and ends.
    ///
    /// # Errors
    /// [`StoreError`].
    fn lock_endpoint(
        &mut self,
        organization: OrganizationId,
        id: EndpointId,
    ) -> impl Future<Output = Result<(Option<Locked<Endpoint>>, Stream), StoreError>> + Send;

    /// Takes the head of an endpoint's history, making it if there is none. Comes after the endpoint.
    ///
    /// # Errors
    /// [`StoreError`].
    fn lock_endpoint_chain(
        &mut self,
        organization: OrganizationId,
        id: EndpointId,
    ) -> impl Future<Output = Result<ChainHead, StoreError>> + Send;

    /// Writes a new endpoint.
    ///
    /// # Errors
    /// [`StoreError`].
    fn insert_endpoint(&mut self, endpoint: &Endpoint) -> impl Future<Output = Result<(), StoreError>> + Send;

    /// Writes a locked endpoint as it will stand, guarded by its version.
    ///
    /// # Errors
    /// [`StoreError`].
    fn update_endpoint(
        &mut self,
        before: &Locked<Endpoint>,
        after: &Endpoint,
    ) -> impl Future<Output = Result<Guarded, StoreError>> + Send;

    /// Deletes a locked endpoint with its secrets and its log.
    ///
    /// # Errors
    /// [`StoreError`].
    fn delete_endpoint(&mut self, endpoint: &Locked<Endpoint>) -> impl Future<Output = Result<(), StoreError>> + Send;

    /// Writes a row of an endpoint's history under its locked head, with its event and the kept answer.
    ///
    /// # Errors
    /// [`StoreError`].
    fn append_endpoint(
        &mut self,
        entry: &EndpointEntry,
        kept: Option<Kept<'_>>,
    ) -> impl Future<Output = Result<(), StoreError>> + Send;
}

/// An attempt in the log, with its number.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LoggedDelivery {
    /// From 1, of its endpoint.
    pub number: i64,
    /// The attempt. When it may be tried again is not kept.
    pub delivery: Delivery,
}

/// A place in the list of endpoints: by their making, then by id, which never changes.
pub type EndpointPlace = (Instant, uuid::Uuid);

/// Reads without locks.
pub trait WebhookReads: Clone + Send + Sync + 'static {
    /// The viewer's own membership, active or not.
    ///
    /// # Errors
    /// [`StoreError`], as everywhere below.
    fn administrator(&self, viewer: Viewer) -> impl Future<Output = Result<Option<Member>, StoreError>> + Send;

    /// One endpoint or a page of them, oldest first, for an active administrator. Empty for anybody else.
    ///
    /// # Errors
    /// [`StoreError`].
    fn endpoints(
        &self,
        viewer: Viewer,
        id: Option<EndpointId>,
        after: Option<EndpointPlace>,
        limit: i64,
    ) -> impl Future<Output = Result<Vec<(Endpoint, Stream)>, StoreError>> + Send;

    /// An endpoint's attempts before a number, newest first, for an active administrator. Empty for anybody else.
    ///
    /// # Errors
    /// [`StoreError`].
    fn deliveries(
        &self,
        viewer: Viewer,
        id: EndpointId,
        before: Option<i64>,
        limit: i64,
    ) -> impl Future<Output = Result<Vec<LoggedDelivery>, StoreError>> + Send;
}
