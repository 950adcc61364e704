//! Invitations over HTTP.

use super::body::{Fields, read_object};
use super::dto::PageDto;
use super::dto_people::{InvitationDto, MemberDto};
use super::extract::{Query, idempotency_key, path_uuid};
use super::problem::Problem;
use super::state::{State, Write, answer, keyed, read, read_one, written};
use crate::approvals::view::Page;
use crate::domain::ids::UserId;
use crate::domain::invitation::{Invitation, InvitationInput, InvitationState, InvitationToken, VALID_HOURS};
use crate::domain::member::Member;
use actix_web::http::StatusCode;
use actix_web::web::{Data, Payload};
use actix_web::{HttpRequest, HttpResponse};

type Response = Result<HttpResponse, Problem>;

pub(super) async fn invite(request: HttpRequest, payload: Payload, state: Data<State>) -> Response {
    let Write { call, mut fields } = Write::read(&request, payload, &state).await?;
    let input = InvitationInput {
        display_name: fields.text("display_name"),
        can_approve: fields.flag("can_approve"),
        is_admin: fields.flag("is_admin"),
        valid_hours: fields.optional_integer("valid_hours").unwrap_or(VALID_HOURS),
    };
    fields.finish()?;
    let members = state.members.clone();
    let invited = |invitation: &Invitation, state: InvitationState, token: Option<&InvitationToken>| {
        let (organization, id) = (invitation.organization_id, invitation.id);
        let location = format!("/api/v1/organizations/{organization}/invitations/{id}");
        answer(StatusCode::CREATED, Some(location), &InvitationDto::new(invitation, state, token))
    };
    written(state.run(async move { members.invite(&call, &input, &invited).await }).await?)
}

pub(super) async fn list(request: HttpRequest, state: Data<State>) -> Response {
    let viewer = state.viewer(&request).await?;
    let query = Query::parse(&request, &["limit", "cursor"])?;
    let limit = query.limit()?;
    let name = format!("invitations/{}", viewer.organization_id);
    let after = query.cursor(&name)?;
    let members = state.members.clone();
    let found =
        state.look(viewer, async move { members.invitations(viewer, after, i64::from(limit) + 1).await }).await?;
    let page = Page::cut(found, usize::from(limit), |row| (row.invitation.created_at, row.invitation.id));
    Ok(read(&PageDto {
        items: page.items.iter().map(|row| InvitationDto::new(&row.invitation, row.state, None)).collect(),
        next_cursor: page.next.map(|place| query.cursor_at(&name, &place)),
    }))
}

pub(super) async fn get(request: HttpRequest, state: Data<State>) -> Response {
    let (viewer, id) = (state.viewer(&request).await?, path_uuid(&request, "invitation")?);
    Query::parse(&request, &[])?;
    let members = state.members.clone();
    let row = state.look(viewer, async move { members.invitation(viewer, id).await }).await?;
    Ok(read_one(&request, &InvitationDto::new(&row.invitation, row.state, None)))
}

pub(super) async fn revoke(request: HttpRequest, payload: Payload, state: Data<State>) -> Response {
    let Write { call, fields } = Write::read(&request, payload, &state).await?;
    let id = path_uuid(&request, "invitation")?;
    fields.finish()?;
    let members = state.members.clone();
    let revoked = |invitation: &Invitation, state: InvitationState, _: Option<&InvitationToken>| {
        answer(StatusCode::OK, None, &InvitationDto::new(invitation, state, None))
    };
    written(state.run(async move { members.revoke_invitation(&call, id, &revoked).await }).await?)
}

pub(super) async fn accept(request: HttpRequest, payload: Payload, state: Data<State>) -> Response {
    let user = state.user(&request).await?;
    Query::parse(&request, &[])?;
    let key = idempotency_key(&request)?;
    let object = read_object(&request, payload, state.body_limits).await?;
    let mut fields = Fields::new(object.clone());
    let token = fields.text("token");
    fields.finish()?;
    // The token names the organization; one that can't be read is one that nobody was given.
    let token = InvitationToken::parse(&token).ok_or_else(Problem::not_found)?;
    let key = key.map(|key| keyed(&request, token.organization_id, user, key, &object));
    let members = state.members.clone();
    let accepted = move |member: &Member| {
        let location = format!("/api/v1/organizations/{}/members/{}", member.organization_id, member.user_id);
        answer(StatusCode::CREATED, Some(location), &MemberDto::from(member))
    };
    let done = async move { members.accept_invitation(user, key, &token, &accepted).await };
    written(state.run(done).await?)
}

pub(super) async fn pseudonymize(request: HttpRequest, payload: Payload, state: Data<State>) -> Response {
    let Write { call, mut fields } = Write::read(&request, payload, &state).await?;
    let target = UserId(path_uuid(&request, "user")?);
    let seen = fields.version();
    fields.finish()?;
    let members = state.members.clone();
    let done = |member: &Member| answer(StatusCode::OK, None, &MemberDto::from(member));
    written(state.run(async move { members.pseudonymize(&call, target, seen, &done).await }).await?)
}
