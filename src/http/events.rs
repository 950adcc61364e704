//! Server-Sent Events: what happens in an organization, as it happens, for as long as the client reads.
//!
//! The stream is pulled: actix asks for more when the client has taken what there was. What comes meanwhile waits in the
//! listener's queue; a client whose queue is full is let go by the hub, and comes again with `Last-Event-ID`.

use super::auth::bearer;
use super::extract::{Query, invalid};
use super::negotiate::accepted;
use super::problem::Problem;
use super::state::State;
use crate::domain::event::Position;
use crate::live::{Heard, Listener};
use actix_web::http::Method;
use actix_web::http::header::{self, HeaderValue};
use actix_web::web::{Bytes, Data};
use actix_web::{HttpRequest, HttpResponse};
use futures_util::stream;
use std::convert::Infallible;
use std::time::Duration;
use tokio::time::{Instant, timeout_at};

const MEDIA_TYPE: &str = "text/event-stream";
/// How long a client waits before it comes again, in milliseconds, unless it knows better.
const RETRY_MS: u32 = 1_000;

pub(super) async fn listen(request: HttpRequest, state: Data<State>) -> Result<HttpResponse, Problem> {
    let viewer = state.viewer(&request).await?;
    Query::parse(&request, &[])?;
    accepted(&request, &[(MEDIA_TYPE, ())])?;
    let after = last_event_id(&request)?;
    let ends = Instant::now() + bearer(&request).map_or(Duration::ZERO, |token| state.tokens.time_left(token));
    let hub = state.hub.clone();
    let listener = state.look(viewer, async move { hub.listen(viewer, after).await }).await?;
    let mut response = HttpResponse::Ok();
    // Proxies that gather answers before they pass them on would keep every event back.
    response.content_type(MEDIA_TYPE).insert_header(("x-accel-buffering", "no"));
    response.insert_header((header::CACHE_CONTROL, HeaderValue::from_static("no-store")));
    if request.method() == Method::HEAD {
        return Ok(response.streaming(stream::empty::<Result<Bytes, Infallible>>()));
    }
    let hearing = Hearing { begun: false, listener, ends, sign_of_life: state.hub.sign_of_life() };
    Ok(response.streaming(stream::unfold(hearing, |mut hearing| async move {
        let chunk = hearing.next().await?;
        Some((Ok::<_, Infallible>(chunk), hearing))
    })))
}

/// The position that the client has seen.
fn last_event_id(request: &HttpRequest) -> Result<Option<Position>, Problem> {
    let mut values = request.headers().get_all("last-event-id");
    let Some(value) = values.next() else { return Ok(None) };
    let text = value.to_str().unwrap_or_default();
    if text.is_empty() && value.is_empty() {
        return Ok(None);
    }
    let digits = text.bytes().all(|b| b.is_ascii_digit()) && !text.is_empty() && values.next().is_none();
    if !digits {
        return Err(invalid("`Last-Event-ID` must be the `id` of an event of this organization, or left out."));
    }
    // More digits than a position has: one that has not been yet.
    Ok(Some(text.parse().unwrap_or(Position::MAX)))
}

struct Hearing {
    /// The head of the stream was sent.
    begun: bool,
    listener: Listener,
    /// When the token ends.
    ends: Instant,
    /// After how much silence a comment is sent, so that nobody on the way takes the connection for dead.
    sign_of_life: Duration,
}

impl Hearing {
    async fn next(&mut self) -> Option<Bytes> {
        if !self.begun {
            self.begun = true;
            // At once, so that the client knows that it listens, and from where.
            return Some(format!("retry: {RETRY_MS}\nid: {}\n\n", self.listener.from()).into());
        }
        let now = Instant::now();
        if now >= self.ends {
            return None;
        }
        match timeout_at(self.ends.min(now + self.sign_of_life), self.listener.next()).await {
            Ok(heard) => heard.map(|heard| frame(&heard)),
            Err(_) if Instant::now() >= self.ends => None,
            Err(_) => Some(Bytes::from_static(b":\n\n")),
        }
    }
}

/// As the stream has it. Neither a type nor JSON without white space has a line break in it.
fn frame(heard: &Heard) -> Bytes {
    match heard {
        Heard::Event(told) => {
            format!("id: {}\nevent: {}\ndata: {}\n\n", told.position, told.event_type, told.body).into()
        }
        Heard::Resync(position) => format!(
            "id: {position}\nevent: resync\ndata: {{\"type\":\"resync\",\"data\":{{\"position\":{position}}}}}\n\n"
        )
        .into(),
    }
}
