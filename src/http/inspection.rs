//! The history for inspectors over HTTP.

use super::dto::PageDto;
use super::export;
use super::extract::{CursorPlace, Query, invalid, path_uuid};
use super::negotiate::accepted;
use super::problem::Problem;
use super::state::{State, read};
use crate::domain::history::Kind;
use crate::domain::ids::{RequestId, UserId};
use crate::domain::verify::Why;
use crate::domain::{Instant, rfc3339};
use crate::inspection::verify::{Place, Verified};
use crate::inspection::view::{Filters, Format, Row, RowPlace, WalkPlace};
use actix_web::web::Data;
use actix_web::{HttpRequest, HttpResponse};
use serde::Serialize;
use serde_json::Value;
use utoipa::ToSchema;
use uuid::Uuid;

type Response = Result<HttpResponse, Problem>;

/// What a list that can be streamed is offered as.
pub(super) const OFFERS: [(&str, Format); 3] =
    [("application/json", Format::Json), ("text/csv", Format::Csv), ("application/x-ndjson", Format::Ndjson)];

/// A row of an organization's history: of a request, or of what belongs to no request.
#[derive(Debug, Serialize, ToSchema)]
#[schema(as = OrganizationHistoryEntry)]
pub(super) struct RowDto {
    /// Of kind `request` only.
    pub(super) request_id: Option<Uuid>,
    /// The row's number in the history of its request or subject, from 1.
    pub(super) version: i64,
    /// Null: the command line.
    pub(super) actor_id: Option<Uuid>,
    /// The name as of then.
    pub(super) actor_name: String,
    pub(super) action: String,
    pub(super) from_status: Option<String>,
    pub(super) to_status: Option<String>,
    pub(super) reason: Option<String>,
    /// Names exactly the content that was judged.
    pub(super) content_hash: Option<String>,
    #[schema(value_type = String, format = DateTime)]
    pub(super) occurred_at: String,
    /// `request`, `member`, `job`, `closing` or `access`.
    pub(super) kind: &'static str,
    /// Of the other kinds: which member, job, month, or who looked.
    pub(super) subject_id: Option<String>,
    /// Of the other kinds: what changed.
    #[schema(value_type = Option<Object>)]
    pub(super) detail: Option<Value>,
}

/// The members of [`RowDto`], in order: the header of a CSV.
pub(super) const COLUMNS: [&str; 13] = [
    "request_id",
    "version",
    "actor_id",
    "actor_name",
    "action",
    "from_status",
    "to_status",
    "reason",
    "content_hash",
    "occurred_at",
    "kind",
    "subject_id",
    "detail",
];

impl From<&Row> for RowDto {
    fn from(row: &Row) -> Self {
        let is_request = row.kind == Kind::Request;
        Self {
            request_id: if is_request { row.subject.parse().ok() } else { None },
            version: row.version,
            actor_id: row.actor_id.map(|id| id.0),
            actor_name: row.actor_name.clone(),
            action: row.action.clone(),
            from_status: row.from_status.clone(),
            to_status: row.to_status.clone(),
            reason: row.reason.clone(),
            content_hash: row.content_hash.map(|hash| hash.to_string()),
            occurred_at: rfc3339(row.occurred_at),
            kind: row.kind.as_str(),
            subject_id: (!is_request).then(|| row.subject.clone()),
            detail: row.detail.clone(),
        }
    }
}

/// A page of a walk, or the whole selection as a stream.
pub(super) async fn list(request: HttpRequest, state: Data<State>) -> Response {
    let viewer = state.viewer(&request).await?;
    let known = ["request_id", "actor_id", "action", "kind", "from", "to", "limit", "cursor"];
    let query = Query::parse(&request, &known)?;
    let format = accepted(&request, &OFFERS)?;
    let kinds: Vec<_> = Kind::ALL.iter().map(|kind| (kind.as_str(), *kind)).collect();
    let actions: Vec<_> = Kind::ALL.iter().flat_map(|kind| kind.actions()).map(|action| (*action, *action)).collect();
    let filters = Filters {
        request_id: query.uuid("request_id")?.map(RequestId),
        actor_id: query.uuid("actor_id")?.map(UserId),
        action: query.choice("action", &actions)?,
        kind: query.choice("kind", &kinds)?,
        from: query.moment("from")?,
    };
    let to = query.moment("to")?;
    if format != Format::Json {
        if query.get("limit").or(query.get("cursor")).is_some() {
            return Err(invalid("An export is the whole selection: leave `limit` and `cursor` out."));
        }
        return export::start(&request, &state, viewer, filters, to, format).await;
    }
    let limit = query.limit()?;
    let name = format!("history/{}", viewer.organization_id);
    let place = query.cursor(&name)?;
    let inspections = state.inspections.clone();
    let page = state.look(viewer, async move { inspections.walk(viewer, filters, to, place, limit).await }).await?;
    let answer = read(&PageDto {
        items: page.rows.iter().map(RowDto::from).collect(),
        next_cursor: page.next.map(|place| query.cursor_at(&name, &place)),
    });
    if let Some(access) = page.access {
        let inspections = state.inspections.clone();
        state.runner.detach(async move { inspections.record(access).await });
    }
    Ok(answer)
}

/// What a verification has found.
#[derive(Debug, Serialize, ToSchema)]
#[schema(as = Verified)]
pub(super) struct VerifiedDto {
    /// True: no broken row was met in this part.
    pub(super) whole: bool,
    /// How many rows of history this part checked.
    pub(super) checked: i64,
    /// Null: none in this part.
    pub(super) first_broken: Option<BreakDto>,
    /// Send it as `cursor` for the next part. Null: that was all, or a broken row was met.
    pub(super) next_cursor: Option<String>,
}

/// The first broken row.
#[derive(Debug, Serialize, ToSchema)]
#[schema(as = Break)]
pub(super) struct BreakDto {
    pub(super) kind: String,
    /// Of kind `request` only.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) request_id: Option<String>,
    /// Of the other kinds.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) subject_id: Option<String>,
    pub(super) version: i64,
    /// Stable.
    #[schema(schema_with = whys)]
    pub(super) why: &'static str,
}

fn whys() -> utoipa::openapi::Object {
    utoipa::openapi::Object::builder()
        .schema_type(utoipa::openapi::schema::Type::String)
        .enum_values(Some(Why::ALL.iter().map(|why| why.as_str())))
        .build()
}

/// A part of the verification of everything.
pub(super) async fn verify_all(request: HttpRequest, state: Data<State>) -> Response {
    let viewer = state.viewer(&request).await?;
    let query = Query::parse(&request, &["cursor"])?;
    let name = format!("verify/{}", viewer.organization_id);
    let place = query.cursor(&name)?;
    let inspections = state.inspections.clone();
    let verified = state.look(viewer, async move { inspections.verify_all(viewer, place).await }).await?;
    Ok(found(&query, &name, verified))
}

/// A part of the verification of one request.
pub(super) async fn verify_request(request: HttpRequest, state: Data<State>) -> Response {
    let viewer = state.viewer(&request).await?;
    let id = RequestId(path_uuid(&request, "id")?);
    let query = Query::parse(&request, &["cursor"])?;
    let name = format!("verify/{id}");
    let place = query.cursor(&name)?;
    let inspections = state.inspections.clone();
    let verified = state.look(viewer, async move { inspections.verify_request(viewer, id, place).await }).await?;
    Ok(found(&query, &name, verified))
}

fn found(query: &Query, name: &str, verified: Verified) -> HttpResponse {
    read(&VerifiedDto {
        whole: verified.first_broken.is_none(),
        checked: verified.checked,
        first_broken: verified.first_broken.map(|broken| {
            let is_request = broken.kind == Kind::Request.as_str();
            let (request_id, subject_id) =
                if is_request { (Some(broken.subject), None) } else { (None, Some(broken.subject)) };
            BreakDto { kind: broken.kind, request_id, subject_id, version: broken.version, why: broken.why.as_str() }
        }),
        next_cursor: verified.next.map(|place| query.cursor_at(name, &place)),
    })
}

impl CursorPlace for WalkPlace {
    fn to_bytes(&self) -> Vec<u8> {
        let mut bytes = self.walk.as_bytes().to_vec();
        bytes.extend((self.to, Uuid::nil()).to_bytes());
        bytes.extend((self.after.at, Uuid::nil()).to_bytes());
        bytes.extend(self.after.version.to_be_bytes());
        let kind = self.after.kind.and_then(|kind| Kind::ALL.iter().position(|known| *known == kind));
        bytes.push(kind.and_then(|kind| u8::try_from(kind).ok()).unwrap_or(u8::MAX));
        bytes.extend(self.after.subject.as_bytes());
        bytes
    }

    fn from_bytes(bytes: &[u8]) -> Option<Self> {
        let (walk, bytes) = bytes.split_first_chunk::<16>()?;
        let (to, bytes) = bytes.split_first_chunk::<24>()?;
        let (at, bytes) = bytes.split_first_chunk::<24>()?;
        let (version, bytes) = bytes.split_first_chunk::<8>()?;
        let (kind, subject) = bytes.split_first()?;
        let moment = |bytes| Some(<(Instant, Uuid)>::from_bytes(bytes)?.0);
        let kind = *Kind::ALL.get(usize::from(*kind))?;
        let subject = std::str::from_utf8(subject).ok().filter(|text| text.len() <= 400 && !text.contains('\0'))?;
        if kind == Kind::Request {
            Uuid::try_parse(subject).ok()?;
        }
        Some(Self {
            walk: Uuid::from_bytes(*walk),
            to: moment(to)?,
            after: RowPlace {
                at: moment(at)?,
                kind: Some(kind),
                subject: subject.to_owned(),
                version: i64::from_be_bytes(*version),
            },
        })
    }
}

impl CursorPlace for Place {
    fn to_bytes(&self) -> Vec<u8> {
        serde_json::to_vec(self).unwrap_or_default()
    }

    fn from_bytes(bytes: &[u8]) -> Option<Self> {
        serde_json::from_slice(bytes).ok().filter(Self::is_sane)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use chrono::DateTime;
    use proptest::prelude::*;

    #[test]
    fn the_columns_are_the_members_in_order() {
        let row = Row {
            kind: Kind::Member,
            subject: "x".into(),
            version: 1,
            actor_id: None,
            actor_name: String::new(),
            action: String::new(),
            from_status: None,
            to_status: None,
            reason: None,
            content_hash: None,
            detail: None,
            occurred_at: DateTime::UNIX_EPOCH,
        };
        let written = serde_json::to_string(&RowDto::from(&row)).expect("JSON");
        let places: Vec<_> = COLUMNS.iter().map(|name| written.find(&format!("\"{name}\":")).expect(name)).collect();
        assert!(places.is_sorted(), "{written}");
        assert_eq!(written.matches("\":").count(), COLUMNS.len());
    }

    proptest! {
        #[test]
        fn no_bytes_of_a_cursor_panic(bytes in proptest::collection::vec(any::<u8>(), 0..120)) {
            let _ = WalkPlace::from_bytes(&bytes);
            let _ = Place::from_bytes(&bytes);
        }

        #[test]
        fn places_survive_their_cursor(micros in 0_i64..7_000_000_000_000_000, walk in any::<u128>(), version in any::<i64>()) {
            let at = DateTime::from_timestamp_micros(micros).expect("in range");
            for (kind, subject) in [(Kind::Request, Uuid::from_u128(walk).to_string()), (Kind::Closing, "2026-11".to_owned())] {
                let after = RowPlace { at, kind: Some(kind), subject, version };
                let place = WalkPlace { walk: Uuid::from_u128(walk), to: at, after };
                prop_assert_eq!(WalkPlace::from_bytes(&place.to_bytes()), Some(place));
            }
        }
    }
}
