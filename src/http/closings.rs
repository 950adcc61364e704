//! Closings over HTTP. The run itself goes on in this process when the answer is out.

use super::dto_closing::ClosingDto;
use super::extract::{Query, path_period};
use super::problem::Problem;
use super::state::{State, Write, answer, read, written};
use crate::closing::view::{ClosingView, Progress};
use crate::domain::ids::ChargeId;
use actix_web::http::StatusCode;
use actix_web::web::{Data, Payload};
use actix_web::{HttpRequest, HttpResponse};
use tokio::sync::watch;

type Response = Result<HttpResponse, Problem>;

pub(super) async fn start(request: HttpRequest, payload: Payload, state: Data<State>) -> Response {
    let Write { call, fields } = Write::read(&request, payload, &state).await?;
    let period = path_period(&request)?;
    fields.finish()?;
    let closer = state.closer.clone();
    let told = |view: &ClosingView, started: bool| {
        answer(if started { StatusCode::ACCEPTED } else { StatusCode::OK }, None, &ClosingDto::from(view))
    };
    let runner = state.runner.clone();
    let started = async move {
        let (reply, begun) = closer.start(&call, period, &told).await?;
        if let Some(begun) = begun {
            // Its end is in the log, in the history, and in what GET shows.
            runner.detach(async move { drop(closer.run(begun, watch::Sender::new(Progress::default())).await) });
        }
        Ok::<_, crate::closing::ClosingError>(reply)
    };
    written(state.run(started).await?)
}

pub(super) async fn get(request: HttpRequest, state: Data<State>) -> Response {
    let (viewer, period) = (state.viewer(&request).await?, path_period(&request)?);
    Query::parse(&request, &[])?;
    let closer = state.closer.clone();
    let view = state.look(viewer, async move { closer.look(viewer, period).await }).await?;
    Ok(read(&ClosingDto::from(&view)))
}

pub(super) async fn exclude(request: HttpRequest, payload: Payload, state: Data<State>) -> Response {
    let Write { call, mut fields } = Write::read(&request, payload, &state).await?;
    let period = path_period(&request)?;
    let id = ChargeId(fields.uuid("charge_id"));
    let reason = fields.optional_text("reason");
    fields.finish()?;
    let closer = state.closer.clone();
    let excluded = |view: &ClosingView| answer(StatusCode::OK, None, &ClosingDto::from(view));
    let done = async move { closer.exclude(&call, period, id, reason.as_deref(), &excluded).await };
    written(state.run(done).await?)
}
