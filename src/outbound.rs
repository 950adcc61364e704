//! What all calls to outside systems have in common: how the client is set up, when an answer may be asked for again, and
//! what of it is fit to be kept. Each use case has its own client, limits and rules.

use crate::domain::Instant;
use crate::domain::backoff::NotBefore;
use reqwest::header::{self, HeaderMap};
use reqwest::redirect::Policy;
use reqwest::{Client, ClientBuilder, Response, Url};
use std::time::Duration;

/// A client that speaks to no address that nobody named: it follows no redirect and no proxy of the environment's.
pub fn client(connect_timeout: Duration, timeout: Duration) -> ClientBuilder {
    Client::builder()
        .user_agent(concat!("ringi/", env!("CARGO_PKG_VERSION")))
        .redirect(Policy::none())
        .no_proxy()
        .connect_timeout(connect_timeout)
        .timeout(timeout)
}

/// `Retry-After`: seconds, or a date.
#[must_use]
pub fn retry_after(headers: &HeaderMap) -> Option<NotBefore> {
    let value = headers.get(header::RETRY_AFTER)?.to_str().ok()?.trim();
    if let Ok(seconds) = value.parse() {
        return Some(NotBefore::After(Duration::from_secs(seconds)));
    }
    chrono::DateTime::parse_from_rfc2822(value).ok().map(|at| NotBefore::At(Instant::from(at)))
}

/// Scheme and host of where an answer redirects to: all who may look read it, and the rest may hold a secret.
#[must_use]
pub fn redirect_of(answer: &Response) -> Option<String> {
    let url: Url = answer.headers().get(header::LOCATION)?.to_str().ok()?.parse().ok()?;
    Some(format!("{}://{}", url.scheme(), url.host_str()?))
}

/// The body of an answer, or its beginning.
#[derive(Debug)]
pub struct Body {
    /// At most as many bytes as were asked for.
    pub bytes: Vec<u8>,
    /// Whether there was more.
    pub is_cut: bool,
}

/// Reads a body piece by piece up to a limit: what is announced need not be what comes.
///
/// # Errors
/// When it broke off.
pub async fn read_up_to(answer: &mut Response, limit: usize) -> reqwest::Result<Body> {
    let mut bytes = Vec::new();
    while let Some(chunk) = answer.chunk().await? {
        let room = limit.saturating_sub(bytes.len());
        bytes.extend(chunk.iter().take(room));
        if chunk.len() > room {
            return Ok(Body { bytes, is_cut: true });
        }
    }
    Ok(Body { bytes, is_cut: false })
}

/// The beginning of a body as text, at most so many characters.
#[must_use]
pub fn excerpt(body: &[u8], characters: usize) -> String {
    String::from_utf8_lossy(body).trim().chars().take(characters).collect()
}

/// An error and all that caused it, in words that name no address: it may hold a secret.
#[must_use]
pub fn causes(error: reqwest::Error) -> String {
    let error = error.without_url();
    let mut text = error.to_string();
    let mut cause = std::error::Error::source(&error);
    while let Some(error) = cause {
        text = format!("{text}: {error}");
        cause = error.source();
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn retry_after_is_seconds_or_a_date() {
        let read = |value: &'static str| {
            retry_after(&HeaderMap::from_iter([(header::RETRY_AFTER, header::HeaderValue::from_static(value))]))
        };
        assert_eq!(read("120"), Some(NotBefore::After(Duration::from_mins(2))));
        let at = Instant::from_timestamp(1_445_412_480, 0).expect("in range");
        assert_eq!(read("Wed, 21 Oct 2015 07:28:00 GMT"), Some(NotBefore::At(at)));
        for nonsense in ["", "soon", "-1", "1.5", "99999999999999999999"] {
            assert_eq!(read(nonsense), None, "{nonsense}");
        }
    }
}
