//! Webhooks: programs that are told of events. Administrators name addresses; the one process that is the relay delivers,
//! by the rules of Standard Webhooks (<https://www.standardwebhooks.com>).
//!
//! - [`service`]: what administrators do;
//! - [`address`]: which addresses may be spoken to, when one is named and at every connection;
//! - [`secret`]: what signs, and how it is kept;
//! - [`deliver`]: who is told of what and when, [`window`]: in which order, [`sender`]: one attempt.

pub mod address;
pub mod deliver;
pub mod delivery_store;
pub mod secret;
pub mod sender;
pub mod service;
pub mod store;
pub mod window;

use crate::domain::webhook::WebhookRefusal;
use crate::transaction::UseCaseError;

/// Why a use case of this module did not do what it was asked.
pub type WebhookError = UseCaseError<WebhookRefusal>;

impl From<WebhookRefusal> for WebhookError {
    fn from(refusal: WebhookRefusal) -> Self {
        Self::Refused(refusal)
    }
}
