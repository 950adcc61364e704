//! The way to the outside system: one POST, bounded in time and size, told apart by what may be tried again.

use crate::domain::job::{Order, Outcome};
use crate::domain::lease::Fence;
use crate::domain::rfc3339;
use crate::outbound;
use reqwest::header;
use reqwest::{Client, Response, StatusCode, Url};
use serde_json::value::RawValue;
use serde_json::{Value, json};
use std::time::Duration;

/// How the outside system is reached.
#[derive(Clone)]
pub struct GatewaySettings {
    /// Its address. Naming it permits it, private or not.
    pub url: Url,
    /// Sent as a bearer token, where it is not empty.
    pub token: String,
    /// How long connecting may take.
    pub connect_timeout: Duration,
    /// How long a whole call may take.
    pub timeout: Duration,
    /// The largest answer, in bytes.
    pub answer_limit: usize,
}

/// The outside system.
pub struct Gateway {
    client: Client,
    settings: GatewaySettings,
}

/// How much of an answer that is no result is quoted, in characters.
const QUOTED: usize = 300;

impl Gateway {
    /// Reads what the system trusts, and connects to nobody yet.
    ///
    /// # Errors
    /// A sentence, when there is no TLS on this machine.
    pub fn new(settings: GatewaySettings) -> Result<Self, String> {
        let client = outbound::client(settings.connect_timeout, settings.timeout)
            .https_only(settings.url.scheme() == "https")
            .build()
            .map_err(|error| format!("processing.connector_url: no TLS ({error}); install ca-certificates"))?;
        Ok(Self { client, settings })
    }

    /// Asks once. The key is the same at every attempt, the fence grows with each: the outside system can tell a
    /// repetition, and refuse whoever was replaced.
    pub async fn ask(&self, order: &Order, fence: Fence) -> Outcome {
        let body = json!({
            "organization_id": order.organization_id,
            "request_id": order.request_id,
            "version": order.version,
            "content_hash": order.content_hash,
            "fence": fence,
            "title": order.title,
            "amount": order.amount,
            "currency": order.currency,
            "applicant_id": order.applicant_id,
            "approved_by": order.approved_by,
            "approved_at": rfc3339(order.approved_at),
        });
        let mut call = self
            .client
            .post(self.settings.url.clone())
            .header(header::CONTENT_TYPE, "application/json")
            .header(header::ACCEPT, "application/json")
            .header("idempotency-key", order.idempotency_key())
            .header("ringi-fence", fence)
            .body(body.to_string());
        if !self.settings.token.is_empty() {
            call = call.bearer_auth(&self.settings.token);
        }
        match call.send().await {
            Ok(answer) => self.read(answer).await,
            // It would be the same again.
            Err(error) if error.is_builder() => {
                Outcome::Refused(format!("the call can't be made: {}", error.without_url()))
            }
            Err(error) => Outcome::Failed(self.said(error), None),
        }
    }

    async fn read(&self, mut answer: Response) -> Outcome {
        let (status, not_before) = (answer.status(), outbound::retry_after(answer.headers()));
        let redirect = outbound::redirect_of(&answer);
        let limit = self.settings.answer_limit;
        let body = match outbound::read_up_to(&mut answer, limit).await {
            Ok(body) if body.is_cut => {
                return Outcome::Refused(format!(
                    "the outside system's answer ({status}) is larger than processing.answer_limit_bytes ({limit})"
                ));
            }
            Ok(body) => body.bytes,
            Err(error) => return Outcome::Failed(self.said(error), not_before),
        };
        let quote = quoted(&body);
        if status.is_success() {
            return match read_json(&body) {
                Ok((data, _)) if holds_nul(&data) => Outcome::Refused(
                    "the outside system's answer holds the character U+0000, which can't be kept".to_owned(),
                ),
                Ok((_, text)) => Outcome::Succeeded(text),
                Err(error) => {
                    Outcome::Refused(format!("the outside system answered {status} with no JSON ({error}){quote}"))
                }
            };
        }
        let passes = [StatusCode::REQUEST_TIMEOUT, StatusCode::TOO_EARLY, StatusCode::TOO_MANY_REQUESTS];
        if status.is_server_error() || passes.contains(&status) {
            return Outcome::Failed(format!("the outside system answered {status}{quote}"), not_before);
        }
        if status.is_redirection() {
            let to = redirect.map_or_else(String::new, |to| format!(" to {to}"));
            return Outcome::Refused(format!(
                "the outside system answered {status}, a redirect{to}, which is not followed: name the address itself in \
                 processing.connector_url"
            ));
        }
        Outcome::Refused(format!("the outside system answered {status}{quote}"))
    }

    /// What went wrong on the way, in words that name no address: it may hold a secret.
    fn said(&self, error: reqwest::Error) -> String {
        if error.is_timeout() && !error.is_connect() {
            return format!("the outside system did not answer within {} ms", self.settings.timeout.as_millis());
        }
        let what = if error.is_connect() {
            "can't connect to the outside system"
        } else {
            "the outside system's answer broke off"
        };
        format!("{what}: {}", outbound::causes(error))
    }
}

/// What it says, to be looked at, and as it came, to be kept: a [`Value`] rounds long numbers.
fn read_json(body: &[u8]) -> serde_json::Result<(Value, Box<RawValue>)> {
    Ok((serde_json::from_slice(body)?, serde_json::from_slice(body)?))
}

fn quoted(body: &[u8]) -> String {
    let text = outbound::excerpt(body, QUOTED);
    if text.is_empty() { text } else { format!(": {text}") }
}

/// PostgreSQL keeps no text with this character in it.
fn holds_nul(value: &Value) -> bool {
    match value {
        Value::String(text) => text.contains('\0'),
        Value::Array(items) => items.iter().any(holds_nul),
        Value::Object(members) => members.iter().any(|(name, value)| name.contains('\0') || holds_nul(value)),
        Value::Null | Value::Bool(_) | Value::Number(_) => false,
    }
}

impl std::fmt::Debug for Gateway {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        // Neither the address nor the token: both may be secrets.
        f.debug_struct("Gateway").finish_non_exhaustive()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nul_is_found_wherever_it_hides() {
        assert!(holds_nul(&json!({"a": [{"b\0": 1}]})));
        assert!(holds_nul(&json!(["x", "\0"])));
        assert!(!holds_nul(&json!({"a": ["\u{1}", null, 0]})));
    }
}
