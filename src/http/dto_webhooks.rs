//! What goes over the wire out about webhooks: as [`super::dto`].

use crate::domain::rfc3339;
use crate::domain::webhook::{EVENT_TYPES, Endpoint, Stream};
use crate::webhooks::secret::SigningSecret;
use crate::webhooks::store::LoggedDelivery;
use serde::Serialize;
use utoipa::ToSchema;
use utoipa::openapi::RefOr;
use utoipa::openapi::schema::{ObjectBuilder, Schema, Type};
use uuid::Uuid;

/// An address that is told of events.
#[derive(Debug, Serialize, ToSchema)]
#[schema(as = Webhook)]
pub(super) struct WebhookDto {
    pub(super) id: Uuid,
    /// Where deliveries are sent.
    #[schema(max_length = 2_000)]
    pub(super) url: String,
    /// Which events; empty: all of them.
    #[schema(schema_with = event_types)]
    pub(super) event_types: Vec<String>,
    #[schema(value_type = EndpointStateDto)]
    pub(super) state: &'static str,
    /// Counts the changes by people, and by Ringi where it turned the endpoint off, from 1. Send it back with every
    /// write.
    #[schema(minimum = 1)]
    pub(super) version: i64,
    /// What signs: `whsec_` and Base64. Only in the first answer to the one who made it or rotated it; null ever after.
    #[schema(required = true)]
    pub(super) secret: Option<String>,
    /// After a rotation the secret before it signs, too, until then.
    #[schema(required = true, value_type = Option<String>, format = DateTime)]
    pub(super) old_secret_until: Option<String>,
    /// Everything up to this position is delivered, or none of its business.
    #[schema(minimum = 0)]
    pub(super) position: i64,
    /// The oldest event that a replay can begin with.
    #[schema(minimum = 1)]
    pub(super) oldest_position: i64,
    /// The newest event of the organization; 0 when there is none.
    #[schema(minimum = 0)]
    pub(super) newest_position: i64,
    /// Attempts that failed in a row.
    #[schema(minimum = 0)]
    pub(super) failures: i32,
    /// Since when it fails.
    #[schema(required = true, value_type = Option<String>, format = DateTime)]
    pub(super) failing_since: Option<String>,
    /// When it is tried again.
    #[schema(required = true, value_type = Option<String>, format = DateTime)]
    pub(super) next_attempt_at: Option<String>,
    #[schema(required = true, value_type = Option<String>, format = DateTime)]
    pub(super) last_attempt_at: Option<String>,
    /// What the last attempt was answered; null when there was no answer.
    #[schema(required = true)]
    pub(super) last_status: Option<u16>,
    /// What went wrong in it.
    #[schema(required = true)]
    pub(super) last_error: Option<String>,
    #[schema(value_type = String, format = DateTime)]
    pub(super) created_at: String,
    /// The last change. Deliveries change nothing.
    #[schema(value_type = String, format = DateTime)]
    pub(super) updated_at: String,
}

/// How an endpoint stands.
#[derive(Debug, Serialize, ToSchema)]
#[schema(as = WebhookState)]
#[serde(rename_all = "snake_case")]
#[expect(dead_code, reason = "the schema of a string, which `EndpointState::as_str` writes")]
pub(super) enum EndpointStateDto {
    /// It is told of events; after a failure, again and again.
    Enabled,
    /// Given up after failing for days. Enable it, or replay, when its receiver is back.
    Failing,
    /// Turned off by an administrator, or by its own answer 410.
    Disabled,
}

fn event_types() -> RefOr<Schema> {
    let one = ObjectBuilder::new().schema_type(Type::String).enum_values(Some(EVENT_TYPES.iter().copied()));
    utoipa::openapi::ArrayBuilder::new().items(one).description(Some("Which events; empty: all of them.")).into()
}

impl WebhookDto {
    pub(super) fn new(endpoint: &Endpoint, stream: Stream, secret: Option<&SigningSecret>) -> Self {
        let progress = &endpoint.progress;
        Self {
            id: endpoint.id.0,
            url: endpoint.url.clone(),
            event_types: endpoint.event_types.clone(),
            state: endpoint.state.as_str(),
            version: endpoint.version,
            secret: secret.map(SigningSecret::text),
            old_secret_until: endpoint.secrets.old.as_ref().map(|(_, until)| rfc3339(*until)),
            position: progress.position,
            oldest_position: stream.trimmed + 1,
            newest_position: stream.last,
            failures: progress.failures,
            failing_since: progress.failing_since.map(rfc3339),
            next_attempt_at: progress.next_attempt_at.map(rfc3339),
            last_attempt_at: progress.last_attempt_at.map(rfc3339),
            last_status: progress.last_status,
            last_error: progress.last_error.clone(),
            created_at: rfc3339(endpoint.created_at),
            updated_at: rfc3339(endpoint.updated_at),
        }
    }
}

/// An attempt to deliver an event.
#[derive(Debug, Serialize, ToSchema)]
#[schema(as = WebhookDelivery)]
pub(super) struct DeliveryDto {
    /// Counts the attempts of this endpoint, from 1.
    #[schema(minimum = 1)]
    pub(super) number: i64,
    /// Where the event stands; of what came before a first submission, where the submission stands.
    #[schema(minimum = 1)]
    pub(super) position: i64,
    /// `webhook-id` of the delivery, the same over all attempts.
    pub(super) event_id: String,
    pub(super) event_type: String,
    #[schema(value_type = DeliveryResultDto)]
    pub(super) result: &'static str,
    /// What was answered; null when there was no answer.
    #[schema(required = true)]
    pub(super) status: Option<u16>,
    #[schema(minimum = 0)]
    pub(super) duration_ms: u64,
    /// The beginning of the answer's body.
    #[schema(required = true, max_length = 1_000)]
    pub(super) answer: Option<String>,
    /// What went wrong.
    #[schema(required = true)]
    pub(super) error: Option<String>,
    #[schema(value_type = String, format = DateTime)]
    pub(super) attempted_at: String,
}

/// What became of an attempt.
#[derive(Debug, Serialize, ToSchema)]
#[schema(as = WebhookDeliveryResult)]
#[serde(rename_all = "snake_case")]
#[expect(dead_code, reason = "the schema of a string, which `DeliveryResult::as_str` writes")]
pub(super) enum DeliveryResultDto {
    /// Answered with a 2xx.
    Delivered,
    /// Not reached, not answered in time, or answered with something else.
    Failed,
    /// The receiver asked for less: 429 or 503.
    Throttled,
    /// The receiver wants nothing any more: 410.
    Gone,
}

impl From<&LoggedDelivery> for DeliveryDto {
    fn from(logged: &LoggedDelivery) -> Self {
        let delivery = &logged.delivery;
        Self {
            number: logged.number,
            position: delivery.position,
            event_id: delivery.event_id.clone(),
            event_type: delivery.event_type.clone(),
            result: delivery.result.as_str(),
            status: delivery.status,
            duration_ms: u64::try_from(delivery.took.as_millis()).unwrap_or(u64::MAX),
            answer: delivery.answer.clone(),
            error: delivery.error.clone(),
            attempted_at: rfc3339(delivery.attempted_at),
        }
    }
}
