//! The keys of a provider that publishes them at an address: fetched, kept, and never thrown away for a bad answer.
//!
//! One task per issuer does all the fetching, so there is never more than one fetch under way, and nobody's
//! disappearing client stops it. A token with a known key id costs a read lock that is held for a lookup. One with an
//! unknown id asks that task, at most once in a while, and whoever else wants to know meanwhile waits for the same
//! answer: a flood of invented ids neither reaches the provider nor delays anybody else.

use super::keys::KeySet;
use super::{Algorithm, PublicKey, TokenRefusal};
use reqwest::{Client, StatusCode, Url, header};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, RwLock};
use std::time::Duration;
use tokio::sync::{Notify, watch};
use tokio::time::Instant;

/// The largest answer, in bytes. A set of ten keys has some 5 kB.
const ANSWER_MAX_BYTES: usize = 256 * 1024;
/// The shortest pause before a failed fetch is tried again.
const RETRY_MIN: Duration = Duration::from_secs(1);

/// How keys are fetched.
#[derive(Clone, Copy, Debug)]
pub struct FetchSettings {
    /// How often, without being asked.
    pub refresh: Duration,
    /// How long after a fetch unknown key ids make nobody ask again.
    pub cooldown: Duration,
    /// How long connecting may take.
    pub connect_timeout: Duration,
    /// How long a whole fetch may take.
    pub timeout: Duration,
}

/// Reads the address of a JWKS: https, or http on this machine.
///
/// # Errors
/// A sentence that says what to do.
pub fn key_url(text: &str) -> Result<Url, String> {
    let wrong = |why: &str| Err(format!("{text:?} {why}"));
    let Ok(url) = text.parse::<Url>() else {
        return wrong("is no URL: write the provider's jwks_uri, such as https://id.example/jwks.json");
    };
    if !url.username().is_empty() || url.password().is_some() {
        // Not echoed: it holds a password.
        return Err("must not hold a user or a password: a JWKS is public, and the URL stands in logs".to_owned());
    }
    match url.scheme() {
        "https" => Ok(url),
        "http" if matches!(url.host_str(), Some("localhost" | "127.0.0.1" | "[::1]")) => Ok(url),
        "http" => wrong("must be https: whoever can change the answer on its way can sign in as anybody"),
        _ => wrong("must begin with https://"),
    }
}

/// Why there are no new keys.
#[derive(Debug, thiserror::Error)]
enum FetchError {
    #[error("no answer: {0}")]
    Unreachable(String),
    #[error("the answer has status {0}, not 200; redirects are not followed")]
    Status(u16),
    #[error("the answer is larger than {ANSWER_MAX_BYTES} bytes")]
    TooLarge,
    #[error("the answer is no JWKS: {0}")]
    Malformed(String),
    #[error("the answer has no key that is fit for the configured algorithm")]
    NoUsableKey,
}

impl FetchError {
    const fn result(&self) -> &'static str {
        match self {
            Self::Unreachable(_) => "unreachable",
            Self::Status(_) => "status",
            Self::TooLarge => "too_large",
            Self::Malformed(_) => "malformed",
            Self::NoUsableKey => "no_usable_key",
        }
    }
}

impl From<reqwest::Error> for FetchError {
    fn from(error: reqwest::Error) -> Self {
        // The cause says more than "error sending request for url".
        let mut text = error.to_string();
        let mut cause = std::error::Error::source(&error);
        while let Some(error) = cause {
            text = format!("{text}: {error}");
            cause = error.source();
        }
        Self::Unreachable(text)
    }
}

/// The keys of one issuer.
pub(super) struct Jwks {
    issuer: Arc<str>,
    algorithm: Algorithm,
    url: Url,
    client: Client,
    settings: FetchSettings,
    keys: RwLock<Arc<KeySet>>,
    asking: Mutex<Asking>,
    /// Wakes the task that fetches.
    asked: Notify,
    /// Counts the fetches that ended.
    fetched: watch::Sender<u64>,
}

struct Asking {
    /// A fetch is under way, or about to be.
    under_way: bool,
    /// Until then nobody may ask.
    not_before: Option<Instant>,
}

impl Jwks {
    pub(super) fn new(
        issuer: Arc<str>,
        algorithm: Algorithm,
        url: Url,
        settings: FetchSettings,
    ) -> Result<Self, String> {
        let client = crate::outbound::client(settings.connect_timeout, settings.timeout)
            .https_only(url.scheme() == "https")
            .pool_max_idle_per_host(0)
            .build()
            .map_err(|error| format!("auth.issuers: {issuer:?}: no TLS ({error}); install ca-certificates"))?;
        Ok(Self {
            issuer,
            algorithm,
            url,
            client,
            settings,
            keys: RwLock::default(),
            // The first fetch is about to be: the first tokens wait for it.
            asking: Mutex::new(Asking { under_way: true, not_before: None }),
            asked: Notify::new(),
            fetched: watch::Sender::new(0),
        })
    }

    /// The key with this id; without an id, the only one there is.
    pub(super) async fn key(&self, id: Option<&str>) -> Result<Arc<PublicKey>, TokenRefusal> {
        let known = self.known();
        if let Some(key) = known.find(id) {
            return Ok(key);
        }
        let unknown = |known: &KeySet| {
            if known.is_empty() { TokenRefusal::KeysUnavailable } else { TokenRefusal::UnknownKey }
        };
        // Among several keys one must be named: asking again makes that no better.
        let hopeless = id.is_none() && !known.is_empty();
        let Some(mut fetched) = (if hopeless { None } else { self.ask() }) else { return Err(unknown(&known)) };
        let _waiting = Waiting::new(&self.issuer);
        // Longer than a fetch can take: for the day when the task that fetches is gone.
        let patience = self.settings.timeout.saturating_add(Duration::from_secs(1));
        drop(tokio::time::timeout(patience, fetched.changed()).await);
        let known = self.known();
        known.find(id).ok_or_else(|| unknown(&known))
    }

    fn known(&self) -> Arc<KeySet> {
        Arc::clone(&self.keys.read().unwrap_or_else(PoisonError::into_inner))
    }

    fn asking(&self) -> MutexGuard<'_, Asking> {
        self.asking.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Joins the fetch under way, or causes one. `None`: the last one is too recent.
    fn ask(&self) -> Option<watch::Receiver<u64>> {
        let mut asking = self.asking();
        if !asking.under_way {
            if asking.not_before.is_some_and(|time| Instant::now() < time) {
                return None;
            }
            asking.under_way = true;
            self.asked.notify_one();
        }
        // Inside the lock: a fetch that ends now would be missed otherwise.
        Some(self.fetched.subscribe())
    }

    /// Fetches now, whenever somebody asks, and every so often.
    pub(super) async fn keep_fresh(self: Arc<Self>) {
        let mut failures = 0;
        loop {
            self.begin();
            match self.fetch().await {
                Ok(keys) => {
                    failures = 0;
                    self.replace(keys);
                }
                Err(error) => {
                    failures += 1;
                    self.count(error.result());
                    let kept = self.known().len();
                    tracing::warn!(issuer = &*self.issuer, %error, kept, "the keys of an issuer could not be refreshed");
                }
            }
            self.end();
            self.until_due(failures).await;
        }
    }

    fn begin(&self) {
        let mut asking = self.asking();
        asking.under_way = true;
        asking.not_before = Some(Instant::now() + self.settings.cooldown);
    }

    fn end(&self) {
        self.asking().under_way = false;
        self.fetched.send_modify(|count| *count += 1);
    }

    /// Until the next fetch: the refresh after a success, less after a failure, and less when somebody asks.
    async fn until_due(&self, failures: u32) {
        let retry = self.settings.cooldown.max(RETRY_MIN).saturating_mul(1 << failures.saturating_sub(1).min(10));
        let pause = if failures == 0 { self.settings.refresh } else { retry.min(self.settings.refresh) };
        let due = Instant::now() + pause;
        loop {
            tokio::select! {
                () = tokio::time::sleep_until(due) => return,
                // A wake-up may be left over from somebody who asked as the pause ended anyway.
                () = self.asked.notified() => if self.asking().under_way { return },
            }
        }
    }

    fn replace(&self, keys: KeySet) {
        self.count("ok");
        let usable = keys.len();
        metrics::gauge!("ringi_jwks_keys", "issuer" => self.issuer.to_string())
            .set(f64::from(u32::try_from(usable).unwrap_or(u32::MAX)));
        let before = std::mem::replace(&mut *self.keys.write().unwrap_or_else(PoisonError::into_inner), Arc::new(keys));
        if before.is_empty() {
            tracing::info!(issuer = &*self.issuer, usable, "the keys of an issuer were fetched");
        }
    }

    fn count(&self, result: &'static str) {
        metrics::counter!("ringi_jwks_refreshes_total", "issuer" => self.issuer.to_string(), "result" => result)
            .increment(1);
    }

    async fn fetch(&self) -> Result<KeySet, FetchError> {
        let accept = "application/jwk-set+json, application/json";
        let mut answer = self.client.get(self.url.clone()).header(header::ACCEPT, accept).send().await?;
        if answer.status() != StatusCode::OK {
            return Err(FetchError::Status(answer.status().as_u16()));
        }
        if answer.content_length().is_some_and(|length| usize::try_from(length).is_ok_and(|n| n > ANSWER_MAX_BYTES)) {
            return Err(FetchError::TooLarge);
        }
        // Piece by piece: what is announced need not be what comes.
        let mut json = Vec::new();
        while let Some(chunk) = answer.chunk().await? {
            if json.len() + chunk.len() > ANSWER_MAX_BYTES {
                return Err(FetchError::TooLarge);
            }
            json.extend_from_slice(&chunk);
        }
        let keys = KeySet::read(&json, self.algorithm).map_err(FetchError::Malformed)?;
        if keys.is_empty() { Err(FetchError::NoUsableKey) } else { Ok(keys) }
    }
}

/// Counts a request that waits for a provider, as long as it does.
struct Waiting(metrics::Gauge);

impl Waiting {
    fn new(issuer: &str) -> Self {
        let gauge = metrics::gauge!("ringi_jwks_waiting", "issuer" => issuer.to_owned());
        gauge.increment(1.0);
        Self(gauge)
    }
}

impl Drop for Waiting {
    fn drop(&mut self) {
        self.0.decrement(1.0);
    }
}
