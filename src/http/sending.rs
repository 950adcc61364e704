//! Answers of a known length go out piece by piece, and within a time.
//!
//! Given a whole answer, actix puts all of it into its buffer and never asks again: a client that takes a few bytes now
//! and then could hold megabytes for hours without ever being silent for long (see `connection` for the silent ones).
//! In pieces, the next one is asked for when the last one has gone, and then the time can be looked at.

use actix_web::body::{BodySize, BoxBody, MessageBody};
use actix_web::web::Bytes;
use std::pin::Pin;
use std::task::{Context, Poll};
use std::time::{Duration, Instant};

/// How much is given to the connection at once. Shorter answers go as they are.
const PIECE: usize = 32 * 1024;

/// The client took too long.
#[derive(Debug, thiserror::Error)]
#[error("the client took longer than http.answer_timeout_ms for its answer")]
struct TooSlow;

/// Lets a client take at most `within` for an answer of a known length. Streams have bounds of their own.
pub(super) fn bounded(answer: BoxBody, within: Duration) -> BoxBody {
    match answer.try_into_bytes() {
        Ok(bytes) if bytes.len() > PIECE => BoxBody::new(Pieces { rest: bytes, until: Instant::now() + within }),
        Ok(bytes) => BoxBody::new(bytes),
        Err(stream) => stream,
    }
}

struct Pieces {
    rest: Bytes,
    until: Instant,
}

impl MessageBody for Pieces {
    type Error = actix_web::Error;

    fn size(&self) -> BodySize {
        BodySize::Sized(u64::try_from(self.rest.len()).unwrap_or(u64::MAX))
    }

    fn poll_next(mut self: Pin<&mut Self>, _: &mut Context<'_>) -> Poll<Option<Result<Bytes, actix_web::Error>>> {
        if self.rest.is_empty() {
            return Poll::Ready(None);
        }
        if Instant::now() > self.until {
            metrics::counter!("ringi_answers_broken_off_total").increment(1);
            tracing::warn!(left = self.rest.len(), "an answer was broken off: its client is too slow");
            return Poll::Ready(Some(Err(actix_web::error::ErrorInternalServerError(TooSlow))));
        }
        let next = self.rest.len().min(PIECE);
        Poll::Ready(Some(Ok(self.rest.split_to(next))))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use actix_web::body::to_bytes;
    use futures_util::future;

    #[tokio::test]
    async fn every_byte_goes_out_in_order_and_with_its_length() {
        for length in [0, 1, PIECE, PIECE + 1, 3 * PIECE, 3 * PIECE + 7] {
            let bytes: Bytes = (0..length).map(|n| u8::try_from(n % 251).unwrap_or(0)).collect::<Vec<_>>().into();
            let body = bounded(BoxBody::new(bytes.clone()), Duration::from_mins(1));
            assert_eq!(body.size(), BodySize::Sized(u64::try_from(length).unwrap_or(u64::MAX)));
            assert_eq!(to_bytes(body).await.ok(), Some(bytes));
        }
    }

    #[tokio::test]
    async fn what_is_asked_for_too_late_is_broken_off() {
        let mut body = Box::pin(bounded(BoxBody::new(Bytes::from(vec![0; 2 * PIECE])), Duration::ZERO));
        std::thread::sleep(Duration::from_millis(1));
        let next = future::poll_fn(|context| body.as_mut().poll_next(context)).await;
        assert!(matches!(next, Some(Err(_))), "{next:?}");
    }
}
