//! Around every request: its id, its span, its log line and figures, and the last word on failures and panics.

use super::problem::{Code, Problem};
use super::sending;
use super::state::State;
use super::unread::Unread;
use actix_web::body::{BoxBody, MessageBody};
use actix_web::dev::{ServiceRequest, ServiceResponse};
use actix_web::http::header::{self, HeaderName, HeaderValue};
use actix_web::middleware::Next;
use actix_web::web::Data;
use actix_web::{Error, HttpResponse};
use futures_util::FutureExt;
use std::panic::AssertUnwindSafe;
use std::time::Instant;
use tracing::Instrument;
use uuid::Uuid;

const REQUEST_ID: HeaderName = HeaderName::from_static("x-request-id");

pub(super) async fn scope(
    mut request: ServiceRequest,
    next: Next<impl MessageBody + 'static>,
) -> Result<ServiceResponse<BoxBody>, Error> {
    let start = Instant::now();
    let request_id = request_id(&request);
    let trace_id = trace_id(&request).unwrap_or_default();
    let span = tracing::info_span!("request", request_id, trace_id, method = %request.method(), path = request.path());
    let unread = Unread::share(&mut request);
    // A panic in a handler would close the connection without an answer.
    let answered = AssertUnwindSafe(next.call(request)).catch_unwind().instrument(span.clone()).await;
    let Ok(answered) = answered else {
        metrics::counter!("ringi_panics_total").increment(1);
        return Err(Problem::internal().of_request(&request_id).into());
    };
    let mut response = answered?.map_into_boxed_body();
    if let Some(mut written) = problem(&response, &request_id) {
        // What the layers within have said of their own, such as CORS, stays.
        for (name, value) in response.headers() {
            if !written.headers().contains_key(name) {
                written.headers_mut().append(name.clone(), value.clone());
            }
        }
        response = response.into_response(written);
    }
    if let Some(within) = response.request().app_data::<Data<State>>().map(|state| state.answer_timeout) {
        response = response.map_body(|_, body| sending::bounded(body, within));
    }
    if let Some(unread) = unread {
        response = response.map_body(|_, body| unread.until(body));
    }
    let headers = response.headers_mut();
    if let Ok(value) = HeaderValue::from_str(&request_id) {
        headers.insert(REQUEST_ID, value);
    }
    if !headers.contains_key(header::CACHE_CONTROL) {
        headers.insert(header::CACHE_CONTROL, HeaderValue::from_static("private, no-cache"));
    }
    // Where no origin is let in, there is nothing to say about what it may read.
    if !headers.contains_key(header::ACCESS_CONTROL_ALLOW_ORIGIN) {
        headers.remove(header::ACCESS_CONTROL_EXPOSE_HEADERS);
    }
    headers.insert(header::X_CONTENT_TYPE_OPTIONS, HeaderValue::from_static("nosniff"));
    span.in_scope(|| record(&response, start));
    Ok(response)
}

/// Writes a failure with the request's id in it. The failures of the parts become one of ours.
fn problem(response: &ServiceResponse, request_id: &str) -> Option<HttpResponse> {
    let error = response.response().error()?;
    let foreign;
    let problem = if let Some(problem) = error.as_error::<Problem>() {
        problem
    } else {
        foreign = if error.as_error::<actix_cors::CorsError>().is_some() {
            Problem::new(Code::Forbidden, "This origin, method or header is not let in: see http.allowed_origins.")
        } else {
            tracing::error!(%error, "an error without a code of ours");
            Problem::internal()
        };
        &foreign
    };
    metrics::counter!("ringi_problems_total", "code" => problem.code().as_str()).increment(1);
    Some(problem.respond(request_id))
}

fn record(response: &ServiceResponse, start: Instant) {
    let elapsed = start.elapsed();
    let status = response.status().as_u16();
    let request = response.request();
    // The pattern, not the path: one series a route.
    let route = request.match_pattern().unwrap_or_else(|| "unmatched".to_owned());
    metrics::counter!("ringi_http_requests_total", "route" => route.clone(), "method" => method(request), "status" => status.to_string()).increment(1);
    metrics::histogram!("ringi_http_request_duration_seconds", "route" => route).record(elapsed.as_secs_f64());
    tracing::info!(status, ms = elapsed.as_secs_f64() * 1000.0, "answered");
}

/// Any client can invent methods: only the known ones make a series.
fn method(request: &actix_web::HttpRequest) -> &'static str {
    match request.method().as_str() {
        "GET" => "GET",
        "HEAD" => "HEAD",
        "POST" => "POST",
        "PUT" => "PUT",
        "OPTIONS" => "OPTIONS",
        _ => "other",
    }
}

/// The client's id when it is sane, else one of ours.
#[expect(clippy::disallowed_methods, reason = "the one home of new request ids of the log")]
fn request_id(request: &ServiceRequest) -> String {
    let sent = request.headers().get(REQUEST_ID).and_then(|value| value.to_str().ok());
    let sane = |id: &&str| {
        (1..=128).contains(&id.len())
            && id.bytes().all(|b| b.is_ascii_alphanumeric() || matches!(b, b'.' | b'_' | b':' | b'-'))
    };
    sent.filter(sane).map_or_else(|| Uuid::now_v7().to_string(), str::to_owned)
}

/// The trace that this request belongs to: the second part of a W3C `traceparent`.
fn trace_id(request: &ServiceRequest) -> Option<String> {
    let traceparent = request.headers().get("traceparent")?.to_str().ok()?;
    let trace_id = traceparent.split('-').nth(1)?;
    let hex = trace_id.len() == 32 && trace_id.bytes().all(|b| b.is_ascii_digit() || (b'a'..=b'f').contains(&b));
    (hex && trace_id.bytes().any(|b| b != b'0')).then(|| trace_id.to_owned())
}
