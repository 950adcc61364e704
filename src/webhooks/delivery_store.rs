//! What deliveries need of a database.

use super::store::WebhookSession;
use super::window::Window;
use crate::domain::Instant;
use crate::domain::ids::{EndpointId, OrganizationId};
use crate::domain::webhook::{Delivery, Endpoint, EndpointState};
use crate::lease::LeaseSession;
use crate::transaction::{Locked, StoreError};
use std::future::Future;
use std::time::Duration;

/// Which endpoint.
pub type Key = (OrganizationId, EndpointId);

/// What is to be delivered.
#[derive(Clone, Debug, Default)]
pub struct Due {
    /// Endpoints with events after their position that may be tried now.
    pub endpoints: Vec<Key>,
    /// When the next of the others may be.
    pub next: Option<Duration>,
}

/// How the endpoints of a state stand, of all organizations.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Figure {
    /// Which state.
    pub state: EndpointState,
    /// How many.
    pub count: i64,
    /// For how long the oldest event has been waiting for one of them.
    pub oldest: Duration,
}

/// What is to be delivered, and the saving of what was.
pub trait DeliveryStore: Clone + Send + Sync + 'static {
    /// A transaction with short limits: a process that freezes in one must not keep others from taking over.
    type Session: DeliverySession;

    /// Begins one.
    ///
    /// # Errors
    /// [`StoreError`], as everywhere below.
    fn open_save(&self) -> impl Future<Output = Result<Self::Session, StoreError>> + Send;

    /// Endpoints that have something to be told, at most `limit`, and none of the `busy` ones.
    ///
    /// # Errors
    /// [`StoreError`].
    fn due(&self, busy: &[Key], limit: i64) -> impl Future<Output = Result<Due, StoreError>> + Send;

    /// An endpoint, what comes after its position (at most so many positions), and the database's clock. Private events are
    /// left out; where a request is submitted for the first time, they come with that.
    ///
    /// # Errors
    /// [`StoreError`].
    fn window(
        &self,
        key: Key,
        positions: i64,
    ) -> impl Future<Output = Result<Option<(Endpoint, Window, Instant)>, StoreError>> + Send;

    /// How the endpoints of each state stand; states without endpoints are left out.
    ///
    /// # Errors
    /// [`StoreError`].
    fn figures(&self) -> impl Future<Output = Result<Vec<Figure>, StoreError>> + Send;
}

/// A transaction of the relay's on endpoints.
pub trait DeliverySession: WebhookSession + LeaseSession {
    /// Writes attempts into the log of a locked endpoint, and deletes those that are too many then.
    ///
    /// # Errors
    /// [`StoreError`], as everywhere below.
    fn log_deliveries(
        &mut self,
        endpoint: &Locked<Endpoint>,
        deliveries: &[Delivery],
        keep: i64,
    ) -> impl Future<Output = Result<(), StoreError>> + Send;

    /// Deletes some attempts older than `age`. Says whether there may be more.
    ///
    /// # Errors
    /// [`StoreError`].
    fn forget_deliveries(&mut self, age: Duration) -> impl Future<Output = Result<bool, StoreError>> + Send;
}
