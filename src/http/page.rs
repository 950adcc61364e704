//! The document of the API, for machines and for people, and what stands at `/`.

use super::openapi;
use actix_web::HttpResponse;
use actix_web::http::header;

/// The OpenAPI document.
pub(super) async fn openapi() -> HttpResponse {
    HttpResponse::Ok().content_type("application/json").body(openapi::json())
}

/// The same for people. One file, no script, nothing from elsewhere.
pub(super) async fn docs() -> HttpResponse {
    html(openapi::html())
}

/// What this is, and where to go.
pub(super) async fn index() -> HttpResponse {
    html(include_str!("index.html").to_owned())
}

fn html(body: String) -> HttpResponse {
    HttpResponse::Ok()
        .content_type("text/html; charset=utf-8")
        .insert_header((
            header::CONTENT_SECURITY_POLICY,
            "default-src 'none'; style-src 'self' 'unsafe-inline'; frame-ancestors 'none'; base-uri 'none'; form-action 'none'",
        ))
        .body(body)
}
