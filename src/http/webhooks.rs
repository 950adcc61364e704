//! Webhooks over HTTP.

use super::body::Fields;
use super::dto::PageDto;
use super::dto_webhooks::{DeliveryDto, WebhookDto};
use super::extract::{Query, path_uuid};
use super::problem::{Code, Problem};
use super::state::{State, Write, answer, read, read_one, written};
use crate::approvals::view::Page;
use crate::domain::ids::EndpointId;
use crate::domain::webhook::{Endpoint, EndpointInput, OVERLAP_HOURS, Stream};
use crate::webhooks::secret::SigningSecret;
use crate::webhooks::service::Change;
use actix_web::http::StatusCode;
use actix_web::web::{Data, Payload};
use actix_web::{HttpRequest, HttpResponse};

type Response = Result<HttpResponse, Problem>;

fn endpoint_id(request: &HttpRequest) -> Result<EndpointId, Problem> {
    Ok(EndpointId(path_uuid(request, "webhook")?))
}

fn input(fields: &mut Fields) -> EndpointInput {
    EndpointInput { url: fields.text("url"), event_types: fields.texts("event_types") }
}

pub(super) async fn add(request: HttpRequest, payload: Payload, state: Data<State>) -> Response {
    let Write { call, mut fields } = Write::read(&request, payload, &state).await?;
    let input = input(&mut fields);
    fields.finish()?;
    let webhooks = state.webhooks.clone();
    let added = |endpoint: &Endpoint, stream: Stream, secret: Option<&SigningSecret>| {
        let (organization, id) = (endpoint.organization_id, endpoint.id);
        let location = format!("/api/v1/organizations/{organization}/webhooks/{id}");
        answer(StatusCode::CREATED, Some(location), &WebhookDto::new(endpoint, stream, secret))
    };
    written(state.run(async move { webhooks.add(&call, &input, &added).await }).await?)
}

pub(super) async fn list(request: HttpRequest, state: Data<State>) -> Response {
    let viewer = state.viewer(&request).await?;
    let query = Query::parse(&request, &["limit", "cursor"])?;
    let limit = query.limit()?;
    let name = format!("webhooks/{}", viewer.organization_id);
    let after = query.cursor(&name)?;
    let webhooks = state.webhooks.clone();
    let found = state.look(viewer, async move { webhooks.list(viewer, after, i64::from(limit) + 1).await }).await?;
    let page = Page::cut(found, usize::from(limit), |(endpoint, _)| (endpoint.created_at, endpoint.id.0));
    Ok(read(&PageDto {
        items: page.items.iter().map(|(endpoint, stream)| WebhookDto::new(endpoint, *stream, None)).collect(),
        next_cursor: page.next.map(|place| query.cursor_at(&name, &place)),
    }))
}

pub(super) async fn get(request: HttpRequest, state: Data<State>) -> Response {
    let (viewer, id) = (state.viewer(&request).await?, endpoint_id(&request)?);
    Query::parse(&request, &[])?;
    let webhooks = state.webhooks.clone();
    let (endpoint, stream) = state.look(viewer, async move { webhooks.get(viewer, id).await }).await?;
    Ok(read_one(&request, &WebhookDto::new(&endpoint, stream, None)))
}

/// A write to an endpoint that its author saw: `wish` takes its members from the body.
async fn change(
    request: HttpRequest,
    payload: Payload,
    state: Data<State>,
    wish: impl FnOnce(&mut Fields) -> Change,
) -> Response {
    let Write { call, mut fields } = Write::read(&request, payload, &state).await?;
    let id = endpoint_id(&request)?;
    let change = wish(&mut fields);
    let seen = fields.version();
    fields.finish()?;
    let webhooks = state.webhooks.clone();
    let changed = |endpoint: &Endpoint, stream: Stream, secret: Option<&SigningSecret>| {
        answer(StatusCode::OK, None, &WebhookDto::new(endpoint, stream, secret))
    };
    written(state.run(async move { webhooks.change(&call, id, seen, &change, &changed).await }).await?)
}

pub(super) async fn put(request: HttpRequest, payload: Payload, state: Data<State>) -> Response {
    change(request, payload, state, |fields| {
        fields.require(&["event_types"]);
        Change::Content(input(fields))
    })
    .await
}

pub(super) async fn enable(request: HttpRequest, payload: Payload, state: Data<State>) -> Response {
    change(request, payload, state, |_| Change::Enable).await
}

pub(super) async fn disable(request: HttpRequest, payload: Payload, state: Data<State>) -> Response {
    change(request, payload, state, |_| Change::Disable).await
}

pub(super) async fn replay(request: HttpRequest, payload: Payload, state: Data<State>) -> Response {
    change(request, payload, state, |fields| Change::Replay(fields.integer("from_position"))).await
}

pub(super) async fn rotate_secret(request: HttpRequest, payload: Payload, state: Data<State>) -> Response {
    let hours = |fields: &mut Fields| fields.optional_integer("overlap_hours").unwrap_or(OVERLAP_HOURS);
    change(request, payload, state, |fields| Change::RotateSecret(hours(fields))).await
}

pub(super) async fn delete(request: HttpRequest, state: Data<State>) -> Response {
    let (viewer, id) = (state.viewer(&request).await?, endpoint_id(&request)?);
    let query = Query::parse(&request, &["version"])?;
    let seen = query
        .version()?
        .ok_or_else(|| Problem::new(Code::VersionRequired, "Send the `version` that you saw, as in `?version=3`."))?;
    let webhooks = state.webhooks.clone();
    state.run(async move { webhooks.delete(viewer, id, seen).await }).await?;
    Ok(HttpResponse::NoContent().finish())
}

pub(super) async fn deliveries(request: HttpRequest, state: Data<State>) -> Response {
    let (viewer, id) = (state.viewer(&request).await?, endpoint_id(&request)?);
    let query = Query::parse(&request, &["limit", "cursor"])?;
    let limit = query.limit()?;
    let name = format!("webhooks/{}/{id}/deliveries", viewer.organization_id);
    let before = query.cursor(&name)?;
    let webhooks = state.webhooks.clone();
    let look = async move { webhooks.deliveries(viewer, id, before, i64::from(limit) + 1).await };
    let found = state.look(viewer, look).await?;
    let page = Page::cut(found, usize::from(limit), |logged| logged.number);
    Ok(read(&PageDto {
        items: page.items.iter().map(DeliveryDto::from).collect(),
        next_cursor: page.next.map(|place| query.cursor_at(&name, &place)),
    }))
}
