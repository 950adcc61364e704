//! Webhooks: programs that are told of events. Administrators name addresses; the one process that is the relay delivers,
//! by the rules of Standard Webhooks (<https://www.standardwebhooks.com>).
//!
//! - [`service`]: what administrators do;
//! - [`address`]: which addresses may be spoken to, when one is named and at every connection;
//! - [`secret`]: what signs, and how it is kept.

pub mod address;
pub mod secret;
pub mod service;
pub mod store;

use crate::domain::webhook::WebhookRefusal;
use crate::transaction::UseCaseError;

/// Why a use case of this module did not do what it was asked.
pub type WebhookError = UseCaseError<WebhookRefusal>;

impl From<WebhookRefusal> for WebhookError {
    fn from(refusal: WebhookRefusal) -> Self {
        Self::Refused(refusal)
    }
}
