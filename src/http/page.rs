//! The page for people, which is embedded in the program, and the document of the API.
//!
//! The files come from `web/` (`scripts/web.sh` builds them); a program that was built without them says at `/` how to
//! get them. Each stands there three times: as it is, and compressed with brotli and gzip, since nothing is compressed
//! on the fly. What is below `assets/` carries a hash of its content in its name and is kept by browsers for ever;
//! everything else is asked for again each time.

use super::openapi;
use super::problem::Problem;
use super::state::State;
use actix_web::http::header::{self, AcceptEncoding, ContentEncoding, Encoding, Header as _};
use actix_web::http::{Method, StatusCode};
use actix_web::web::Data;
use actix_web::{HttpRequest, HttpResponse};
use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use rust_embed::{Embed, EmbeddedFile};
use sha2::{Digest, Sha256};
use std::sync::LazyLock;

/// The files of the page, where they were there when the program was built.
#[derive(Embed)]
#[folder = "web/dist/page"]
#[allow_missing = true]
struct Files;

/// The document that begins the page, whatever path below it was asked for.
const INDEX: &str = "index.html";
/// Below this, a file's name holds a hash of its content.
const HASHED: &str = "assets/";
/// A year, in seconds: as long as a cache keeps anything.
const FOR_EVER: &str = "public, max-age=31536000, immutable";

/// The OpenAPI document.
pub(super) async fn openapi() -> HttpResponse {
    HttpResponse::Ok().content_type("application/json").body(openapi::json())
}

/// The same for people. One file, no script, nothing from elsewhere.
pub(super) async fn docs() -> HttpResponse {
    static POLICY: LazyLock<String> = LazyLock::new(|| policy(openapi::html()));
    html(openapi::html(), &POLICY)
}

/// The page; in a program without it, what this is and where to go.
pub(super) async fn index(request: HttpRequest, state: Data<State>) -> HttpResponse {
    const WITHOUT: &str = include_str!("index.html");
    static POLICY: LazyLock<String> = LazyLock::new(|| policy(WITHOUT));
    begin(&request, &state).unwrap_or_else(|| html(WITHOUT, &POLICY))
}

/// What a person sees who follows an invitation: the page, where there is one.
pub(super) async fn invitation(request: HttpRequest, state: Data<State>) -> HttpResponse {
    const WITHOUT: &str = include_str!("invitation.html");
    static POLICY: LazyLock<String> = LazyLock::new(|| policy(WITHOUT));
    begin(&request, &state).unwrap_or_else(|| html(WITHOUT, &POLICY))
}

/// Everything that is no route: a file of the page, or one of the page's own addresses, which begin it, too, so that
/// they can be kept and sent around.
pub(super) async fn elsewhere(request: HttpRequest, state: Data<State>) -> Result<HttpResponse, Problem> {
    if !matches!(*request.method(), Method::GET | Method::HEAD) {
        return Err(Problem::not_found());
    }
    let name = request.path().trim_start_matches('/');
    if name != INDEX
        && is_plain(name)
        && let Some(response) = file(&request, name)
    {
        return Ok(response);
    }
    let answer = if is_address(&request) { begin(&request, &state) } else { None };
    answer.ok_or_else(Problem::not_found)
}

/// The compressed forms are not files of their own.
fn is_plain(name: &str) -> bool {
    !FORMS.iter().any(|(_, suffix)| !suffix.is_empty() && name.ends_with(suffix))
}

/// True for an address that a person opens: not a call, not a file that is missing, and asked for as a document.
fn is_address(request: &HttpRequest) -> bool {
    let path = request.path();
    let document = request.headers().get_all(header::ACCEPT).filter_map(|value| value.to_str().ok());
    let last = path.rsplit('/').next().unwrap_or_default();
    !path.starts_with("/api/")
        && path != "/api"
        && !path.starts_with("/assets/")
        && !last.is_empty()
        && !last.contains('.')
        && document.into_iter().any(|accepted| accepted.contains("text/html"))
}

fn begin(request: &HttpRequest, state: &State) -> Option<HttpResponse> {
    let mut response = file(request, INDEX)?;
    let policy = header::HeaderValue::from_str(state.sign_in.policy()).ok()?;
    let headers = response.headers_mut();
    headers.insert(header::CONTENT_SECURITY_POLICY, policy);
    headers.insert(header::REFERRER_POLICY, header::HeaderValue::from_static("no-referrer"));
    // A provider's window must be able to close itself; nothing else shares a window with this page.
    headers.insert(
        header::HeaderName::from_static("cross-origin-opener-policy"),
        header::HeaderValue::from_static("same-origin-allow-popups"),
    );
    Some(response)
}

/// The forms of a file, the best first, each with what its name ends in.
static FORMS: LazyLock<[(Encoding, &str); 3]> =
    LazyLock::new(|| [(Encoding::brotli(), ".br"), (Encoding::gzip(), ".gz"), (Encoding::identity(), "")]);

/// A file in the best form that the client takes.
fn file(request: &HttpRequest, name: &str) -> Option<HttpResponse> {
    let plain = Files::get(name)?;
    let accepts = AcceptEncoding::parse(request).ok();
    let here: Vec<(&Encoding, EmbeddedFile)> = FORMS
        .iter()
        .filter_map(|(encoding, suffix)| Some((encoding, Files::get(&format!("{name}{suffix}"))?)))
        .collect();
    let wanted = accepts.filter(|accepts| !accepts.is_empty()).and_then(|accepts| {
        let mine: Vec<Encoding> = here.iter().map(|(encoding, _)| (*encoding).clone()).collect();
        accepts.negotiate(mine.iter())
    });
    let chosen = here.into_iter().find(|(encoding, _)| Some(*encoding) == wanted.as_ref());
    let (encoding, data) = chosen.map_or((None, plain.data.clone()), |(encoding, form)| (Some(encoding), form.data));
    let form = encoding.map(ToString::to_string).filter(|form| form != "identity");
    let etag = format!("\"{}-{}\"", hex::encode(&plain.metadata.sha256_hash()[..12]), form.as_deref().unwrap_or("id"));
    let known = request.headers().get_all(header::IF_NONE_MATCH).filter_map(|value| value.to_str().ok());
    let known = known.flat_map(|value| value.split(',').map(str::trim)).any(|tag| tag.trim_start_matches("W/") == etag);
    let mut response = HttpResponse::build(if known { StatusCode::NOT_MODIFIED } else { StatusCode::OK });
    response
        .insert_header((header::ETAG, etag))
        .insert_header((header::VARY, "Accept-Encoding"))
        .insert_header((header::CACHE_CONTROL, if name.starts_with(HASHED) { FOR_EVER } else { "no-cache" }));
    if known {
        return Some(response.finish());
    }
    if form.is_some()
        && let Some(Encoding::Known(known)) = encoding
    {
        response.insert_header(*known);
    } else {
        response.insert_header(ContentEncoding::Identity);
    }
    let mime = plain.metadata.mimetype();
    let text = mime.starts_with("text/") && !mime.contains("charset");
    response.content_type(if text { format!("{mime}; charset=utf-8") } else { mime.to_owned() });
    Some(response.body(data.into_owned()))
}

fn html(page: &'static str, policy: &str) -> HttpResponse {
    HttpResponse::Ok()
        .content_type("text/html; charset=utf-8")
        .insert_header((header::CONTENT_SECURITY_POLICY, policy))
        .body(page)
}

/// Nothing is let in but the page's own style, named by its hash, and the empty icon.
pub(super) fn policy(page: &str) -> String {
    let style =
        page.split_once("<style>").and_then(|(_, rest)| rest.split_once("</style>")).map_or("", |(style, _)| style);
    let hash = STANDARD.encode(Sha256::digest(style));
    format!(
        "default-src 'none'; style-src 'sha256-{hash}'; img-src data:; frame-ancestors 'none'; base-uri 'none'; form-action 'none'"
    )
}
