//! Requests over HTTP.

use super::dto::{CountsDto, EligibilityDto, HistoryEntryDto, PageDto, RequestDto, VersionDto};
use super::extract::{Query, invalid, path_uuid, path_version};
use super::problem::Problem;
use super::state::{State, Write, answer, read, read_one, written};
use crate::approvals::view::{ListQuery, RequestView, View};
use crate::domain::content::Content;
use crate::domain::ids::{RequestId, UserId};
use crate::domain::request::{Command, Status};
use actix_web::http::StatusCode;
use actix_web::web::{Data, Payload};
use actix_web::{HttpRequest, HttpResponse};

type Response = Result<HttpResponse, Problem>;

fn request_id(request: &HttpRequest) -> Result<RequestId, Problem> {
    Ok(RequestId(path_uuid(request, "id")?))
}

pub(super) async fn create(request: HttpRequest, payload: Payload, state: Data<State>) -> Response {
    let Write { call, mut fields } = Write::read(&request, payload, &state).await?;
    let content = Content {
        title: fields.text("title"),
        description: fields.optional_text("description").unwrap_or_default(),
        amount: fields.optional_integer("amount"),
        currency: fields.optional_text("currency"),
    };
    fields.finish()?;
    let approvals = state.approvals.clone();
    let created = |view: &RequestView| {
        let request = &view.request;
        let location = format!("/api/v1/organizations/{}/requests/{}", request.organization_id, request.id);
        answer(StatusCode::CREATED, Some(location), &RequestDto::from(view))
    };
    written(state.run(async move { approvals.create(&call, &content, &created).await }).await?)
}

pub(super) async fn edit(request: HttpRequest, payload: Payload, state: Data<State>) -> Response {
    let mut write = Write::read(&request, payload, &state).await?;
    let fields = &mut write.fields;
    fields.require(&["amount", "currency"]);
    let content = Content {
        title: fields.text("title"),
        description: fields.text("description"),
        amount: fields.optional_integer("amount"),
        currency: fields.optional_text("currency"),
    };
    act(&request, write, &state, Command::Edit(content)).await
}

pub(super) async fn submit(request: HttpRequest, payload: Payload, state: Data<State>) -> Response {
    let write = Write::read(&request, payload, &state).await?;
    act(&request, write, &state, Command::Submit).await
}

pub(super) async fn approve(request: HttpRequest, payload: Payload, state: Data<State>) -> Response {
    with_reason(request, payload, state, Command::Approve).await
}

pub(super) async fn reject(request: HttpRequest, payload: Payload, state: Data<State>) -> Response {
    with_reason(request, payload, state, Command::Reject).await
}

pub(super) async fn send_back(request: HttpRequest, payload: Payload, state: Data<State>) -> Response {
    with_reason(request, payload, state, Command::SendBack).await
}

pub(super) async fn withdraw(request: HttpRequest, payload: Payload, state: Data<State>) -> Response {
    with_reason(request, payload, state, Command::Withdraw).await
}

async fn with_reason(
    request: HttpRequest,
    payload: Payload,
    state: Data<State>,
    command: fn(Option<String>) -> Command,
) -> Response {
    let mut write = Write::read(&request, payload, &state).await?;
    let reason = write.fields.optional_text("reason");
    act(&request, write, &state, command(reason)).await
}

async fn act(request: &HttpRequest, write: Write, state: &State, command: Command) -> Response {
    let Write { call, mut fields } = write;
    let seen = fields.version();
    fields.finish()?;
    let id = request_id(request)?;
    let approvals = state.approvals.clone();
    let done = |view: &RequestView| answer(StatusCode::OK, None, &RequestDto::from(view));
    written(state.run(async move { approvals.act(&call, id, seen, &command, &done).await }).await?)
}

pub(super) async fn get(request: HttpRequest, state: Data<State>) -> Response {
    let (viewer, id) = (state.viewer(&request).await?, request_id(&request)?);
    Query::parse(&request, &[])?;
    let approvals = state.approvals.clone();
    let view = state.look(viewer, async move { approvals.get(viewer, id).await }).await?;
    Ok(read_one(&request, &RequestDto::from(&view)))
}

pub(super) async fn list(request: HttpRequest, state: Data<State>) -> Response {
    let viewer = state.viewer(&request).await?;
    let known = ["view", "status", "applicant_id", "q", "updated_since", "limit", "cursor"];
    let query = Query::parse(&request, &known)?;
    let text = query.get("q").map(str::to_owned);
    if text.as_deref() == Some("") {
        return Err(invalid("`q` must not be empty: leave it out to list everything."));
    }
    if text.as_deref().is_some_and(|text| text.chars().count() > 200) {
        return Err(invalid("`q` has at most 200 characters."));
    }
    let views = [View::Mine, View::Inbox, View::All].map(|view| (view.as_str(), view));
    let statuses: Vec<_> = Status::ALL.iter().map(|status| (status.as_str(), *status)).collect();
    let list = ListQuery {
        view: query.choice("view", &views)?.unwrap_or_default(),
        status: query.choice("status", &statuses)?,
        applicant_id: query.uuid("applicant_id")?.map(UserId),
        text,
        updated_since: query.moment("updated_since")?,
    };
    let limit = query.limit()?;
    let name = format!("requests/{}", viewer.organization_id);
    let after = query.cursor(&name)?;
    let approvals = state.approvals.clone();
    let page = state.look(viewer, async move { approvals.list(viewer, &list, after, limit).await }).await?;
    Ok(read(&PageDto {
        items: page.items.iter().map(RequestDto::from).collect(),
        next_cursor: page.next.map(|place| query.cursor_at(&name, &place)),
    }))
}

pub(super) async fn counts(request: HttpRequest, state: Data<State>) -> Response {
    let viewer = state.viewer(&request).await?;
    Query::parse(&request, &[])?;
    let approvals = state.approvals.clone();
    let counts = state.look(viewer, async move { approvals.counts(viewer).await }).await?;
    Ok(read(&CountsDto::from(&counts)))
}

pub(super) async fn history(request: HttpRequest, state: Data<State>) -> Response {
    let (viewer, id) = (state.viewer(&request).await?, request_id(&request)?);
    let query = Query::parse(&request, &["limit", "cursor"])?;
    let limit = query.limit()?;
    let name = format!("history/{id}");
    let after = query.cursor(&name)?.unwrap_or(0);
    let approvals = state.approvals.clone();
    let page = state.look(viewer, async move { approvals.history(viewer, id, after, limit).await }).await?;
    Ok(read(&PageDto {
        items: page.items.iter().map(HistoryEntryDto::from).collect(),
        next_cursor: page.next.map(|version| query.cursor_at(&name, &version)),
    }))
}

pub(super) async fn eligibility(request: HttpRequest, state: Data<State>) -> Response {
    let (viewer, id) = (state.viewer(&request).await?, request_id(&request)?);
    let query = Query::parse(&request, &["user_id"])?;
    let of = query.uuid("user_id")?.map(UserId);
    let approvals = state.approvals.clone();
    let eligibility = state.look(viewer, async move { approvals.eligibility(viewer, id, of).await }).await?;
    Ok(read(&EligibilityDto::from(eligibility)))
}

pub(super) async fn version(request: HttpRequest, state: Data<State>) -> Response {
    let (viewer, id) = (state.viewer(&request).await?, request_id(&request)?);
    let version = path_version(&request, "version")?;
    Query::parse(&request, &[])?;
    let approvals = state.approvals.clone();
    let view = state.look(viewer, async move { approvals.version(viewer, id, version).await }).await?;
    Ok(read_one(&request, &VersionDto::from(&view)))
}
