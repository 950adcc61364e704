//! What follows an approval, over HTTP.

use super::dto_processing::{ProcessingDto, StartedDto};
use super::extract::{Query, path_uuid};
use super::problem::Problem;
use super::state::{State, Write, answer, read, written};
use crate::domain::ids::RequestId;
use crate::processing::service::{Processed, Started};
use actix_web::http::StatusCode;
use actix_web::web::{Data, Payload};
use actix_web::{HttpRequest, HttpResponse};

type Response = Result<HttpResponse, Problem>;

fn request_id(request: &HttpRequest) -> Result<RequestId, Problem> {
    Ok(RequestId(path_uuid(request, "id")?))
}

pub(super) async fn start(request: HttpRequest, payload: Payload, state: Data<State>) -> Response {
    let Write { call, fields } = Write::read(&request, payload, &state).await?;
    fields.finish()?;
    let id = request_id(&request)?;
    let processing = state.processing.clone();
    let started = |started: &Started| {
        let status = if started.started { StatusCode::ACCEPTED } else { StatusCode::OK };
        answer(status, None, &StartedDto::from(started))
    };
    written(state.run(async move { processing.start(&call, id, &started).await }).await?)
}

pub(super) async fn cancel(request: HttpRequest, payload: Payload, state: Data<State>) -> Response {
    let Write { call, fields } = Write::read(&request, payload, &state).await?;
    fields.finish()?;
    let id = request_id(&request)?;
    let processing = state.processing.clone();
    let cancelled = |processed: &Processed| answer(StatusCode::OK, None, &ProcessingDto::from(processed));
    written(state.run(async move { processing.cancel(&call, id, &cancelled).await }).await?)
}

pub(super) async fn get(request: HttpRequest, state: Data<State>) -> Response {
    let (viewer, id) = (state.viewer(&request).await?, request_id(&request)?);
    Query::parse(&request, &[])?;
    let processing = state.processing.clone();
    let processed = state.look(viewer, async move { processing.get(viewer, id).await }).await?;
    Ok(read(&ProcessingDto::from(&processed)))
}
