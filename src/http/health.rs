//! For balancers and for Prometheus.

use super::state::State;
use actix_web::HttpResponse;
use actix_web::web::Data;
use serde_json::json;

/// The process runs. Never asks the database: a restart would not mend that.
pub(super) async fn live() -> HttpResponse {
    HttpResponse::Ok().json(json!({"status": "live"}))
}

/// Requests should be sent here: the database answers, and its schema is as new as this program.
pub(super) async fn ready(state: Data<State>) -> HttpResponse {
    if state.health.ask(&state.runner).await {
        HttpResponse::Ok().json(json!({"status": "ready"}))
    } else {
        HttpResponse::ServiceUnavailable().json(json!({"status": "not_ready"}))
    }
}

/// Prometheus' text format.
pub(super) async fn metrics(state: Data<State>) -> HttpResponse {
    HttpResponse::Ok().content_type("text/plain; version=0.0.4").body(state.metrics.render())
}
