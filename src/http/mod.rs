//! The only HTTP of the project. Handlers read what was sent, call a use case, and write what it says; they hold no
//! rule. [`routes`] is the whole surface on one screen.

pub mod openapi;
pub mod problem;
pub mod stand_in;

mod approvals;
mod auth;
mod body;
mod charges;
mod closings;
mod connection;
mod dto;
mod dto_closing;
mod dto_people;
mod dto_processing;
mod dto_webhooks;
mod events;
mod export;
mod extract;
mod health;
mod inspection;
mod invitations;
mod limits;
mod mail;
mod members;
mod negotiate;
mod page;
mod processing;
#[cfg(test)]
mod properties;
mod request_scope;
mod sending;
mod sign_in;
mod state;
mod statements;
mod streaming;
mod unread;
mod webhooks;

pub use body::BodyLimits;
pub use limits::{LimitSettings, Limits, Rate};
pub use sign_in::{DemoPerson, DemoSignIn, ProviderSettings, SignIn};
pub use state::{Health, State};

use actix_cors::Cors;
use actix_web::dev::Server;
use actix_web::http::header;
use actix_web::middleware::from_fn;
use actix_web::web::{self, Data, ServiceConfig};
use actix_web::{App, HttpResponse, HttpServer, guard};
use problem::Problem;
use std::net::TcpListener;
use std::time::Duration;

/// A path with its methods. HEAD is as GET; any other method is told 405, where actix alone would say 404.
macro_rules! resource {
    ($path:literal, $($method:ident $handler:path),+) => {
        web::resource($path)
            $(.route(resource!(@route $method).to($handler)))+
            .default_service(web::to(async || {
                Err::<HttpResponse, _>(Problem::method_not_allowed(&[$(resource!(@allow $method)),+].join(", ")))
            }))
    };
    (@route GET) => { web::route().guard(guard::Any(guard::Get()).or(guard::Head())) };
    (@route POST) => { web::post() };
    (@route PUT) => { web::put() };
    (@route DELETE) => { web::delete() };
    (@allow GET) => { "GET, HEAD" };
    (@allow POST) => { "POST" };
    (@allow PUT) => { "PUT" };
    (@allow DELETE) => { "DELETE" };
}

/// The route table.
pub fn routes(config: &mut ServiceConfig) {
    config
        .service(resource!("/", GET page::index))
        .service(resource!("/docs", GET page::docs))
        .service(resource!("/openapi.json", GET page::openapi))
        .service(resource!("/health/live", GET health::live))
        .service(resource!("/health/ready", GET health::ready))
        .service(resource!("/metrics", GET health::metrics))
        .service(resource!("/invitation", GET page::invitation))
        .service(resource!("/mail/confirm", GET mail::confirmation, POST mail::confirm))
        .service(resource!("/mail/unsubscribe", GET mail::unsubscription, POST mail::unsubscribe))
        .service(resource!("/api/v1/sign-in", GET sign_in::ways))
        .service(resource!("/api/v1/sign-in/demo", POST sign_in::demo))
        .service(resource!("/api/v1/me", GET members::me))
        .service(resource!("/api/v1/invitations/accept", POST invitations::accept))
        .service(
            web::scope("/api/v1/organizations/{org}")
                .service(resource!("/me/mail", GET mail::get, PUT mail::set))
                .service(resource!("/me/mail/confirmation", POST mail::ask_again))
                .service(resource!("/events", GET events::listen))
                .service(resource!("/members", GET members::list, POST members::add))
                .service(resource!("/members/{user}", GET members::get, PUT members::change))
                .service(resource!("/history", GET inspection::list))
                .service(resource!("/history/verify", GET inspection::verify_all))
                .service(resource!("/members/{user}/pseudonymize", POST invitations::pseudonymize))
                .service(resource!("/invitations", GET invitations::list, POST invitations::invite))
                .service(resource!("/invitations/{invitation}", GET invitations::get))
                .service(resource!("/invitations/{invitation}/revoke", POST invitations::revoke))
                .service(resource!("/webhooks", GET webhooks::list, POST webhooks::add))
                .service(
                    resource!("/webhooks/{webhook}", GET webhooks::get, PUT webhooks::put, DELETE webhooks::delete),
                )
                .service(resource!("/webhooks/{webhook}/enable", POST webhooks::enable))
                .service(resource!("/webhooks/{webhook}/disable", POST webhooks::disable))
                .service(resource!("/webhooks/{webhook}/replay", POST webhooks::replay))
                .service(resource!("/webhooks/{webhook}/rotate-secret", POST webhooks::rotate_secret))
                .service(resource!("/webhooks/{webhook}/deliveries", GET webhooks::deliveries))
                .service(resource!("/charges", GET charges::list, POST charges::import))
                .service(resource!("/charges/{charge}", GET charges::get, PUT charges::correct))
                .service(resource!("/closings/{period}", GET closings::get, POST closings::start))
                .service(resource!("/closings/{period}/exclude", POST closings::exclude))
                .service(resource!("/statements", GET statements::list))
                .service(resource!("/statements/{period}", GET statements::get))
                .service(resource!("/requests", GET approvals::list, POST approvals::create))
                .service(resource!("/requests/counts", GET approvals::counts))
                .service(resource!("/requests/{id}", GET approvals::get, PUT approvals::edit))
                .service(resource!("/requests/{id}/submit", POST approvals::submit))
                .service(resource!("/requests/{id}/approve", POST approvals::approve))
                .service(resource!("/requests/{id}/reject", POST approvals::reject))
                .service(resource!("/requests/{id}/send-back", POST approvals::send_back))
                .service(resource!("/requests/{id}/withdraw", POST approvals::withdraw))
                .service(resource!("/requests/{id}/history", GET approvals::history))
                .service(resource!("/requests/{id}/eligibility", GET approvals::eligibility))
                .service(resource!("/requests/{id}/history/verify", GET inspection::verify_request))
                .service(resource!("/requests/{id}/processing", GET processing::get, POST processing::start))
                .service(resource!("/requests/{id}/processing/cancel", POST processing::cancel))
                .service(resource!("/requests/{id}/versions/{version}", GET approvals::version)),
        )
        .default_service(web::to(page::elsewhere));
}

/// What a process answers that does slow work and no calls.
pub fn worker_routes(config: &mut ServiceConfig) {
    config
        .service(resource!("/health/live", GET health::live))
        .service(resource!("/health/ready", GET health::ready))
        .service(resource!("/metrics", GET health::metrics))
        .default_service(web::to(async || Err::<HttpResponse, _>(Problem::not_found())));
}

/// How the server listens.
#[derive(Clone, Debug)]
pub struct ServerSettings {
    /// Exact origins of browsers' pages that may call, such as `https://ringi.example`.
    pub allowed_origins: Vec<String>,
    /// Threads that read and write HTTP.
    pub workers: usize,
    /// How long a request's head may take.
    pub head_timeout: Duration,
    /// How long an idle connection is kept.
    pub keep_alive: Duration,
    /// The most connections at once.
    pub max_connections: usize,
    /// How long a client may take nothing of an answer that is there.
    pub unread_timeout: Duration,
    /// How long requests under way may take after a stop was asked for.
    pub shutdown_grace: Duration,
    /// What is answered: [`routes`] or [`worker_routes`].
    pub routes: fn(&mut ServiceConfig),
}

/// Serves on a listener until it is stopped.
///
/// # Errors
/// When the listener can't be used.
pub fn serve(listener: TcpListener, state: State, settings: &ServerSettings) -> std::io::Result<Server> {
    let state = Data::new(state);
    let origins = settings.allowed_origins.clone();
    let routes = settings.routes;
    let server = HttpServer::new(move || {
        App::new()
            .app_data(Data::clone(&state))
            .wrap(from_fn(limits::around))
            .wrap(cors(&origins))
            // Outermost: the last word on every failure, with what CORS has said kept.
            .wrap(from_fn(request_scope::scope))
            .configure(routes)
    })
    .workers(settings.workers)
    .client_request_timeout(settings.head_timeout)
    .keep_alive(settings.keep_alive)
    .on_connect(connection::end_unread(settings.unread_timeout))
    // Of each thread.
    .max_connections(settings.max_connections.div_ceil(settings.workers.max(1)))
    .shutdown_timeout(settings.shutdown_grace.as_secs())
    // The process has its own order of stopping.
    .disable_signals()
    .listen(listener)?;
    Ok(server.run())
}

fn cors(origins: &[String]) -> Cors {
    origins
        .iter()
        .fold(Cors::default(), |cors, origin| cors.allowed_origin(origin))
        .allowed_methods(["GET", "HEAD", "POST", "PUT", "DELETE"])
        .allowed_headers([header::AUTHORIZATION, header::CONTENT_TYPE, header::IF_NONE_MATCH])
        .allowed_header("idempotency-key")
        .allowed_header("x-request-id")
        .allowed_header("last-event-id")
        .allowed_header("traceparent")
        .expose_headers(["etag", "location", "retry-after", "idempotency-replayed", "x-request-id"])
        .max_age(600)
}
