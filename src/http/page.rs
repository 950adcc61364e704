//! The document of the API, for machines and for people, and what stands at `/`.

use super::openapi;
use actix_web::HttpResponse;
use actix_web::http::header;
use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use sha2::{Digest, Sha256};
use std::sync::LazyLock;

/// The OpenAPI document.
pub(super) async fn openapi() -> HttpResponse {
    HttpResponse::Ok().content_type("application/json").body(openapi::json())
}

/// The same for people. One file, no script, nothing from elsewhere.
pub(super) async fn docs() -> HttpResponse {
    static POLICY: LazyLock<String> = LazyLock::new(|| policy(openapi::html()));
    html(openapi::html(), &POLICY)
}

/// What this is, and where to go.
pub(super) async fn index() -> HttpResponse {
    const INDEX: &str = include_str!("index.html");
    static POLICY: LazyLock<String> = LazyLock::new(|| policy(INDEX));
    html(INDEX, &POLICY)
}

/// What a person sees who follows an invitation.
pub(super) async fn invitation() -> HttpResponse {
    const INVITATION: &str = include_str!("invitation.html");
    static POLICY: LazyLock<String> = LazyLock::new(|| policy(INVITATION));
    html(INVITATION, &POLICY)
}

fn html(page: &'static str, policy: &str) -> HttpResponse {
    HttpResponse::Ok()
        .content_type("text/html; charset=utf-8")
        .insert_header((header::CONTENT_SECURITY_POLICY, policy))
        .body(page)
}

/// Nothing is let in but the page's own style, named by its hash, and the empty icon.
fn policy(page: &str) -> String {
    let style =
        page.split_once("<style>").and_then(|(_, rest)| rest.split_once("</style>")).map_or("", |(style, _)| style);
    let hash = STANDARD.encode(Sha256::digest(style));
    format!(
        "default-src 'none'; style-src 'sha256-{hash}'; img-src data:; frame-ancestors 'none'; base-uri 'none'; form-action 'none'"
    )
}
