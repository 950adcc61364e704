//! Charges over HTTP.

use super::body::{RowBody, read_rows};
use super::dto::PageDto;
use super::dto_closing::{ChargeDto, ImportedDto, ImportedRowDto};
use super::extract::{Query, idempotency_key, parse_instant, parse_uuid, path_uuid};
use super::problem::Problem;
use super::state::{State, Write, answer, keyed, read, read_one, written};
use crate::approvals::view::Page;
use crate::closing::charges::ImportRow;
use crate::closing::view::{ChargeQuery, RowOutcome, RowResult};
use crate::domain::charge::{Charge, ChargeContent, IMPORT_MAX, NewCharge, RowFault};
use crate::domain::ids::ChargeId;
use crate::transaction::Call;
use actix_web::http::StatusCode;
use actix_web::web::{Data, Payload};
use actix_web::{HttpRequest, HttpResponse};
use serde_json::{Map, Value};

type Response = Result<HttpResponse, Problem>;

pub(super) async fn import(request: HttpRequest, payload: Payload, state: Data<State>) -> Response {
    let viewer = state.viewer(&request).await?;
    Query::parse(&request, &[])?;
    let key = idempotency_key(&request)?;
    let bodies = read_rows(&request, payload, state.body_limits, IMPORT_MAX).await?;
    let key = key.map(|key| keyed(&request, viewer.organization_id, viewer.user_id, key, &as_one(&bodies)));
    let rows: Vec<ImportRow> = bodies.into_iter().map(row).collect();
    let imported = |rows: &[RowResult]| {
        let refused = rows.iter().any(|row| matches!(row.outcome, RowOutcome::Refused(_)));
        let status = if refused { StatusCode::MULTI_STATUS } else { StatusCode::CREATED };
        answer(status, None, &ImportedDto { items: rows.iter().map(ImportedRowDto::from).collect() })
    };
    let (closings, call) = (state.closings.clone(), Call { viewer, key });
    written(state.run(async move { closings.import(&call, &rows, &imported).await }).await?)
}

/// The rows as one body, which a key's first use is compared by: a list is the same call as NDJSON.
fn as_one(rows: &[RowBody]) -> Map<String, Value> {
    let values = rows.iter().map(|row| match row {
        RowBody::Object(object) => Value::Object(object.clone()),
        RowBody::Doubled | RowBody::Other => Value::Null,
    });
    Map::from_iter([("charges".to_owned(), values.collect())])
}

/// Reads a row. Of several faults the first is told, in the order id, unknown member, date, amount, currency, description, what it
/// reverses.
fn row(body: RowBody) -> ImportRow {
    let refused = |id, fault| ImportRow { id, charge: Err(fault) };
    let mut object = match body {
        RowBody::Object(object) => object,
        RowBody::Doubled => return refused(None, RowFault::UnknownField),
        RowBody::Other => return refused(None, RowFault::IdInvalid),
    };
    let uuid = |value: &Value| value.as_str().and_then(parse_uuid).map(ChargeId);
    let Some(id) = object.remove("id").as_ref().and_then(uuid) else { return refused(None, RowFault::IdInvalid) };
    let mut take = |name: &str| object.remove(name).filter(|value| !value.is_null());
    let (occurred_at, amount, currency) = (take("occurred_at"), take("amount"), take("currency"));
    let (description, reverses) = (take("description"), take("reverses"));
    if !object.is_empty() {
        return refused(Some(id), RowFault::UnknownField);
    }
    let charge = || {
        let occurred_at = occurred_at.as_ref().and_then(Value::as_str).and_then(parse_instant);
        let occurred_at = occurred_at.ok_or(RowFault::DateInvalid)?;
        let amount = amount.as_ref().and_then(Value::as_i64).ok_or(RowFault::AmountInvalid)?;
        let currency = currency.as_ref().and_then(Value::as_str).ok_or(RowFault::CurrencyUnknown)?.to_owned();
        let description = match description {
            None => None,
            Some(Value::String(text)) => Some(text),
            Some(_) => return Err(RowFault::DescriptionInvalid),
        };
        let reverses = reverses.map(|value| uuid(&value).ok_or(RowFault::ReversalInvalid)).transpose()?;
        let content = ChargeContent { occurred_at, amount, currency, description };
        Ok(NewCharge { id, content, reverses })
    };
    ImportRow { id: Some(id), charge: charge() }
}

pub(super) async fn list(request: HttpRequest, state: Data<State>) -> Response {
    let viewer = state.viewer(&request).await?;
    let query = Query::parse(&request, &["period", "processed", "limit", "cursor"])?;
    let wanted = ChargeQuery {
        period: query.period("period")?,
        processed: query.choice("processed", &[("true", true), ("false", false)])?,
    };
    let limit = query.limit()?;
    let name = format!("charges/{}", viewer.organization_id);
    let before = query.cursor(&name)?.map(ChargeId);
    let closings = state.closings.clone();
    let found =
        state.look(viewer, async move { closings.charges(viewer, wanted, before, i64::from(limit) + 1).await }).await?;
    let page = Page::cut(found, usize::from(limit), |charge| charge.id.0);
    Ok(read(&PageDto {
        items: page.items.iter().map(ChargeDto::from).collect(),
        next_cursor: page.next.map(|place| query.cursor_at(&name, &place)),
    }))
}

pub(super) async fn get(request: HttpRequest, state: Data<State>) -> Response {
    let (viewer, id) = (state.viewer(&request).await?, ChargeId(path_uuid(&request, "charge")?));
    Query::parse(&request, &[])?;
    let closings = state.closings.clone();
    let charge = state.look(viewer, async move { closings.charge(viewer, id).await }).await?;
    Ok(read_one(&request, &ChargeDto::from(&charge)))
}

pub(super) async fn correct(request: HttpRequest, payload: Payload, state: Data<State>) -> Response {
    let Write { call, mut fields } = Write::read(&request, payload, &state).await?;
    let id = ChargeId(path_uuid(&request, "charge")?);
    fields.require(&["description"]);
    let content = ChargeContent {
        occurred_at: fields.instant("occurred_at"),
        amount: fields.integer("amount"),
        currency: fields.text("currency"),
        description: fields.optional_text("description"),
    };
    let seen = fields.version();
    fields.finish()?;
    let closings = state.closings.clone();
    let corrected = |charge: &Charge| answer(StatusCode::OK, None, &ChargeDto::from(charge));
    written(state.run(async move { closings.correct(&call, id, seen, &content, &corrected).await }).await?)
}
