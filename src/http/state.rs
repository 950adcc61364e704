//! What every handler has at hand, and the few ways in which it answers.

use super::body::{BodyLimits, Fields, read_object};
use super::extract::{idempotency_key, path_period, path_uuid};
use super::limits::Limits;
use super::problem::{Code, Problem};
use super::sign_in::SignIn;
use crate::app::{
    Approvals, Closer, Closings, Hub, Identities, Inspections, MailPreferences, Members, Processing, Webhooks,
};
use crate::domain::ids::{OrganizationId, UserId};
use crate::inspection::exports::Exports;
use crate::lifecycle::Runner;
use crate::tokens::Tokens;
use crate::transaction::admission::Admission;
use crate::transaction::idempotency::{Answer, KeyedCall, Reply, fingerprint};
use crate::transaction::{Call, Viewer};
use actix_web::http::{StatusCode, header};
use actix_web::web::Payload;
use actix_web::{HttpRequest, HttpResponse, HttpResponseBuilder};
use futures_util::FutureExt;
use futures_util::future::{BoxFuture, Shared};
use metrics_exporter_prometheus::PrometheusHandle;
use serde::Serialize;
use serde_json::{Map, Value};
use sha2::{Digest, Sha256};
use std::future::Future;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

/// What every handler has at hand.
#[derive(Clone, Debug)]
pub struct State {
    /// The use cases on requests.
    pub approvals: Approvals,
    /// The use cases on members.
    pub members: Members,
    /// Who is who.
    pub identities: Identities,
    /// The use cases of inspectors.
    pub inspections: Inspections,
    /// The use cases on charges and months.
    pub closings: Closings,
    /// The use cases on what follows an approval.
    pub processing: Processing,
    /// The use cases on webhooks.
    pub webhooks: Webhooks,
    /// What people do about their own mail.
    pub mail: MailPreferences,
    /// The closings of this process.
    pub closer: Closer,
    /// Those who listen to what happens.
    pub hub: Hub,
    /// The exports under way.
    pub exports: Exports,
    /// Checks tokens.
    pub tokens: Tokens,
    /// How people get one at the page.
    pub sign_in: SignIn,
    /// The queue in front of the read connections.
    pub looking: Admission,
    /// Runs use cases detached from their connection.
    pub runner: Runner,
    /// Bounds on bodies.
    pub body_limits: BodyLimits,
    /// How long a client may take for an answer.
    pub answer_timeout: Duration,
    /// How often may be called.
    pub limits: Limits,
    /// Says whether requests should be sent here.
    pub health: Health,
    /// Writes the metrics.
    pub metrics: PrometheusHandle,
}

/// Says whether requests should be sent here.
#[derive(Clone, Debug)]
pub struct Health {
    pools: crate::app::Pools,
    stopping: Arc<AtomicBool>,
    /// The answer that is under way, or the last one.
    asked: Arc<Mutex<Option<Shared<BoxFuture<'static, bool>>>>>,
}

impl Health {
    /// Ready when the database behind `pools` is, until [`Health::stop`].
    #[must_use]
    pub fn new(pools: crate::app::Pools) -> Self {
        Self { pools, stopping: Arc::new(AtomicBool::new(false)), asked: Arc::default() }
    }

    /// [`Health::is_ready`], for all who ask meanwhile at once: however many do, one connection of the pool is asked.
    /// Detached: a probe that hangs up must not leave that connection in the middle of an answer.
    pub(super) fn ask(&self, runner: &Runner) -> impl Future<Output = bool> + use<> {
        let mut asked = self.asked.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(asked) = asked.as_ref().filter(|asked| asked.peek().is_none()) {
            return asked.clone();
        }
        let health = self.clone();
        let answer = runner.run(async move { health.is_ready().await }).map(|ready| ready == Some(true));
        let answer = answer.boxed().shared();
        *asked = Some(answer.clone());
        answer
    }

    /// From now on not ready: balancers look elsewhere before the listener closes.
    pub fn stop(&self) {
        self.stopping.store(true, Ordering::Relaxed);
    }

    /// True when the database answers, its schema is as new as this program, and nobody asked for a stop.
    pub async fn is_ready(&self) -> bool {
        !self.stopping.load(Ordering::Relaxed) && self.pools.is_ready().await
    }
}

impl State {
    /// Who looks, and in which organization.
    pub(super) async fn viewer(&self, request: &HttpRequest) -> Result<Viewer, Problem> {
        let user_id = self.user(request).await?;
        let organization_id = OrganizationId(path_uuid(request, "org")?);
        self.limits.organization(request, organization_id)?;
        Ok(Viewer { organization_id, user_id })
    }

    /// Runs a read of an organization's. At most half of the read connections are one organization's, so that nobody's
    /// heavy searches keep others from looking.
    pub(super) fn look<T, E, F>(&self, viewer: Viewer, use_case: F) -> impl Future<Output = Result<T, Problem>>
    where
        T: Send + 'static,
        E: Send + 'static,
        Problem: From<E>,
        F: Future<Output = Result<T, E>> + Send + 'static,
    {
        let (looking, use_case) = (self.looking.clone(), Box::pin(use_case));
        self.run::<T, Problem, _>(async move {
            let _place = looking.enter(viewer.organization_id, None).await?;
            use_case.await.map_err(Problem::from)
        })
    }

    /// Runs a use case to its end, whether or not its client still waits.
    pub(super) fn run<T, E, F>(&self, use_case: F) -> impl Future<Output = Result<T, Problem>> + use<T, E, F>
    where
        T: Send + 'static,
        E: Send + 'static,
        Problem: From<E>,
        F: Future<Output = Result<T, E>> + Send + 'static,
    {
        self.runner.run(use_case).map(|ended| match ended {
            Some(result) => result.map_err(Problem::from),
            // It panicked; the panic is in the log.
            None => Err(Problem::internal()),
        })
    }
}

/// A write, read from its request: who asks, under which key, and the body's members.
#[derive(Debug)]
pub(super) struct Write {
    pub(super) call: Call,
    pub(super) fields: Fields,
}

impl Write {
    /// Reads in the order of checks: token, path, key, and the shape of the body.
    pub(super) async fn read(request: &HttpRequest, payload: Payload, state: &State) -> Result<Self, Problem> {
        let viewer = state.viewer(request).await?;
        for name in ["id", "user", "invitation", "charge", "webhook"] {
            if request.match_info().get(name).is_some() {
                path_uuid(request, name)?;
            }
        }
        if request.match_info().get("period").is_some() {
            path_period(request)?;
        }
        super::extract::Query::parse(request, &[])?;
        let key = idempotency_key(request)?;
        let object = read_object(request, payload, state.body_limits).await?;
        let key = key.map(|key| keyed(request, viewer.organization_id, viewer.user_id, key, &object));
        Ok(Self { call: Call { viewer, key }, fields: Fields::new(object) })
    }
}

/// A call under its key.
pub(super) fn keyed(
    request: &HttpRequest,
    organization_id: OrganizationId,
    user_id: UserId,
    key: String,
    body: &Map<String, Value>,
) -> KeyedCall {
    // Ids in a path may be written in capitals, which makes no other call.
    let path = request.path().to_ascii_lowercase();
    let fingerprint = fingerprint(request.method().as_str(), &path, body);
    KeyedCall { organization_id, user_id, key, fingerprint }
}

/// The user that a path names.
pub(super) fn path_user(request: &HttpRequest) -> Result<UserId, Problem> {
    Ok(UserId(path_uuid(request, "user")?))
}

/// An answer with a JSON body, ready to be kept.
pub(super) fn answer(status: StatusCode, location: Option<String>, body: &impl Serialize) -> Answer {
    Answer { status: status.as_u16(), location, body: json(body) }
}

#[expect(clippy::expect_used, reason = "our DTOs have string keys and no fallible parts, so writing them can't fail")]
fn json(body: &impl Serialize) -> Vec<u8> {
    serde_json::to_vec(body).expect("a DTO is always JSON")
}

/// Sends what a write answered, now or the first time.
pub(super) fn written(reply: Reply) -> Result<HttpResponse, Problem> {
    let Reply { answer, replayed } = reply;
    let status = StatusCode::from_u16(answer.status).map_err(|_| Problem::new(Code::Internal, "kept status"))?;
    let mut response = HttpResponseBuilder::new(status);
    if let Some(location) = answer.location {
        response.insert_header((header::LOCATION, location));
    }
    if replayed {
        response.insert_header(("idempotency-replayed", "true"));
    }
    response.insert_header((header::ETAG, etag(&answer.body)));
    Ok(response.content_type("application/json").body(answer.body))
}

/// Sends a list or another read without a version of its own.
pub(super) fn read(body: &impl Serialize) -> HttpResponse {
    HttpResponse::Ok().content_type("application/json").body(json(body))
}

/// Sends one thing with its `ETag`, or 304 when the client has it already.
pub(super) fn read_one(request: &HttpRequest, body: &impl Serialize) -> HttpResponse {
    let body = json(body);
    let etag = etag(&body);
    let known = request
        .headers()
        .get_all(header::IF_NONE_MATCH)
        .filter_map(|value| value.to_str().ok())
        .flat_map(|value| value.split(',').map(str::trim))
        // If-None-Match compares weakly (RFC 9110, 13.1.2).
        .any(|tag| tag == "*" || tag.strip_prefix("W/").unwrap_or(tag) == etag);
    if known {
        return HttpResponse::NotModified().insert_header((header::ETAG, etag)).finish();
    }
    HttpResponse::Ok().insert_header((header::ETAG, etag)).content_type("application/json").body(body)
}

/// Opaque: a hash of the whole body, so of the caller's rights, too.
fn etag(body: &[u8]) -> String {
    let digest = Sha256::digest(body);
    format!("\"{}\"", hex::encode(digest.get(..16).unwrap_or_default()))
}
