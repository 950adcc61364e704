//! People over HTTP.

use super::dto::PageDto;
use super::dto_people::{MeDto, MemberDto, MembershipDto};
use super::extract::Query;
use super::problem::Problem;
use super::state::{State, Write, answer, path_user, read, read_one, written};
use crate::approvals::view::Page;
use crate::domain::ids::UserId;
use crate::domain::member::{Member, MemberInput};
use actix_web::http::StatusCode;
use actix_web::web::{Data, Payload};
use actix_web::{HttpRequest, HttpResponse};

type Response = Result<HttpResponse, Problem>;

pub(super) async fn me(request: HttpRequest, state: Data<State>) -> Response {
    let user = state.user(&request).await?;
    Query::parse(&request, &[])?;
    let members = state.members.clone();
    let memberships = state.run(async move { members.memberships(user).await }).await?;
    let memberships = memberships.iter().map(MembershipDto::from).collect();
    Ok(read_one(&request, &MeDto { user_id: user.0, memberships }))
}

pub(super) async fn list(request: HttpRequest, state: Data<State>) -> Response {
    let viewer = state.viewer(&request).await?;
    let query = Query::parse(&request, &["limit", "cursor"])?;
    let limit = query.limit()?;
    let name = format!("members/{}", viewer.organization_id);
    let after = query.cursor(&name)?;
    let members = state.members.clone();
    let found = state.look(viewer, async move { members.list(viewer, after, i64::from(limit) + 1).await }).await?;
    let page = Page::cut(found, usize::from(limit), |member| (member.created_at, member.user_id.0));
    Ok(read(&PageDto {
        items: page.items.iter().map(MemberDto::from).collect(),
        next_cursor: page.next.map(|place| query.cursor_at(&name, &place)),
    }))
}

pub(super) async fn get(request: HttpRequest, state: Data<State>) -> Response {
    let (viewer, user) = (state.viewer(&request).await?, path_user(&request)?);
    Query::parse(&request, &[])?;
    let members = state.members.clone();
    let member = state.look(viewer, async move { members.get(viewer, user).await }).await?;
    Ok(read_one(&request, &MemberDto::from(&member)))
}

pub(super) async fn add(request: HttpRequest, payload: Payload, state: Data<State>) -> Response {
    let Write { call, mut fields } = Write::read(&request, payload, &state).await?;
    let target = UserId(fields.uuid("user_id"));
    let input = input(&mut fields);
    fields.finish()?;
    let members = state.members.clone();
    let organization = call.viewer.organization_id;
    let added = move |member: &Member| {
        let location = format!("/api/v1/organizations/{organization}/members/{}", member.user_id);
        answer(StatusCode::CREATED, Some(location), &MemberDto::from(member))
    };
    written(state.run(async move { members.add(&call, target, &input, &added).await }).await?)
}

pub(super) async fn change(request: HttpRequest, payload: Payload, state: Data<State>) -> Response {
    let Write { call, mut fields } = Write::read(&request, payload, &state).await?;
    let target = path_user(&request)?;
    let input = input(&mut fields);
    let seen = fields.version();
    fields.finish()?;
    let members = state.members.clone();
    let changed = |member: &Member| answer(StatusCode::OK, None, &MemberDto::from(member));
    written(state.run(async move { members.change(&call, target, seen, &input, &changed).await }).await?)
}

fn input(fields: &mut super::body::Fields) -> MemberInput {
    MemberInput {
        display_name: fields.text("display_name"),
        is_active: fields.flag("is_active"),
        can_approve: fields.flag("can_approve"),
        is_admin: fields.flag("is_admin"),
    }
}
