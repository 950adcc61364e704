//! One attempt: a POST, bounded in time and size, told apart by what it means for the endpoint.

use super::address::Guard;
use super::secret::SigningSecret;
use crate::domain::backoff::NotBefore;
use crate::domain::webhook::DeliveryResult;
use crate::outbound;
use reqwest::header;
use reqwest::{Client, Response, StatusCode, Url};
use std::sync::Arc;
use std::time::Duration;
use tokio::time::{Instant, timeout};

/// How much of an answer is read, in bytes. What is left of it costs its connection.
const READ: usize = 4_096;
/// How much of it is kept, in characters.
const KEPT: usize = 500;
/// How long the body of an answer is waited for: its status has said everything by then.
const BODY_PATIENCE: Duration = Duration::from_secs(2);

/// How endpoints are called.
#[derive(Clone, Copy, Debug)]
pub struct SenderSettings {
    /// How long connecting may take.
    pub connect_timeout: Duration,
    /// How long a whole attempt may take.
    pub timeout: Duration,
}

/// Sends.
#[derive(Clone)]
pub struct Sender {
    client: Client,
    guard: Guard,
    timeout: Duration,
}

/// What is sent.
#[derive(Clone, Debug)]
pub struct Message {
    /// The event's, the same over all attempts.
    pub id: String,
    /// The event, as JSON.
    pub body: String,
}

/// What came of an attempt.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Sent {
    /// What it means.
    pub result: DeliveryResult,
    /// What was answered, where anything was.
    pub status: Option<u16>,
    /// The beginning of the answer's body.
    pub answer: Option<String>,
    /// What went wrong, in words that name no address.
    pub error: Option<String>,
    /// When to try again, where the receiver said so.
    pub not_before: Option<NotBefore>,
    /// How long it took.
    pub took: Duration,
}

impl Sender {
    /// Reads what the system trusts, and connects to nobody yet. Every connection goes only to addresses that `guard` has
    /// just permitted.
    ///
    /// # Errors
    /// A sentence, when there is no TLS on this machine.
    pub fn new(guard: Guard, settings: SenderSettings) -> Result<Self, String> {
        let client = outbound::client(settings.connect_timeout, settings.timeout)
            .dns_resolver(Arc::new(guard.clone()))
            .build()
            .map_err(|error| format!("webhooks: no TLS ({error}); install ca-certificates"))?;
        Ok(Self { client, guard, timeout: settings.timeout })
    }

    /// Sends once, signed by each of the secrets. `timestamp`: the attempt's Unix time.
    pub async fn send(&self, url: &Url, secrets: &[SigningSecret], message: &Message, timestamp: i64) -> Sent {
        let begun = Instant::now();
        let sent = match self.guard.check_literal(url) {
            Ok(()) => self.call(url, secrets, message, timestamp).await,
            Err(closed) => failed(closed.to_string()),
        };
        Sent { took: begun.elapsed(), ..sent }
    }

    async fn call(&self, url: &Url, secrets: &[SigningSecret], message: &Message, timestamp: i64) -> Sent {
        let signatures: Vec<String> =
            secrets.iter().map(|secret| secret.sign(&message.id, timestamp, &message.body)).collect();
        let call = self
            .client
            .post(url.clone())
            .header(header::CONTENT_TYPE, "application/json")
            .header("webhook-id", &message.id)
            .header("webhook-timestamp", timestamp)
            .header("webhook-signature", signatures.join(" "))
            .body(message.body.clone());
        match call.send().await {
            Ok(answer) => read(answer).await,
            Err(error) => failed(self.said(error)),
        }
    }

    fn said(&self, error: reqwest::Error) -> String {
        if error.is_timeout() && !error.is_connect() {
            return format!("it did not answer within {} ms", self.timeout.as_millis());
        }
        let what = if error.is_connect() { "can't connect" } else { "the connection broke off" };
        format!("{what}: {}", outbound::causes(error))
    }
}

async fn read(mut answer: Response) -> Sent {
    let (status, not_before) = (answer.status(), outbound::retry_after(answer.headers()));
    let redirect = outbound::redirect_of(&answer);
    let body = timeout(BODY_PATIENCE, outbound::read_up_to(&mut answer, READ)).await;
    // The status counts, whatever became of the body.
    let body = body.ok().and_then(Result::ok).map(|body| body.bytes).unwrap_or_default();
    let text: String = outbound::excerpt(&body, KEPT).replace('\0', "\u{fffd}");
    let result = match status {
        status if status.is_success() => DeliveryResult::Delivered,
        StatusCode::GONE => DeliveryResult::Gone,
        StatusCode::TOO_MANY_REQUESTS | StatusCode::SERVICE_UNAVAILABLE => DeliveryResult::Throttled,
        _ => DeliveryResult::Failed,
    };
    let error = match result {
        DeliveryResult::Delivered => None,
        _ if status.is_redirection() => {
            let to = redirect.map_or_else(String::new, |to| format!(" to {to}"));
            Some(format!("it answered {status}, a redirect{to}, which is not followed: name the address itself"))
        }
        _ => Some(format!("it answered {status}")),
    };
    Sent {
        result,
        status: Some(status.as_u16()),
        answer: (!text.is_empty()).then_some(text),
        error,
        not_before,
        took: Duration::ZERO,
    }
}

fn failed(error: String) -> Sent {
    Sent {
        result: DeliveryResult::Failed,
        status: None,
        answer: None,
        error: Some(error),
        not_before: None,
        took: Duration::ZERO,
    }
}

impl std::fmt::Debug for Sender {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Sender").finish_non_exhaustive()
    }
}
