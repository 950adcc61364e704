//! Statements over HTTP: every month's totals, and a closed month's rows as pages or as one stream.

use super::dto_closing::{ClosedMonthDto, ConfirmedChargeDto, STATEMENT_COLUMNS, StatementDto, StatementsDto};
use super::extract::{Query, invalid, path_period};
use super::inspection::OFFERS;
use super::negotiate::accepted;
use super::problem::Problem;
use super::state::{State, read, read_one};
use super::streaming::{self, Broken, Source, csv_line, disarmed, json_line};
use crate::app::Closings;
use crate::approvals::view::Page;
use crate::closing::view::{ConfirmedRow, RowPlace};
use crate::domain::period::Period;
use crate::inspection::view::Format;
use crate::lifecycle::Runner;
use crate::transaction::Viewer;
use actix_web::web::Data;
use actix_web::{HttpRequest, HttpResponse};
use std::borrow::Cow;

type Response = Result<HttpResponse, Problem>;

pub(super) async fn list(request: HttpRequest, state: Data<State>) -> Response {
    let viewer = state.viewer(&request).await?;
    Query::parse(&request, &[])?;
    let closings = state.closings.clone();
    let found = state.look(viewer, async move { closings.statements(viewer).await }).await?;
    Ok(read_one(&request, &StatementsDto::from(&found)))
}

pub(super) async fn get(request: HttpRequest, state: Data<State>) -> Response {
    let (viewer, period) = (state.viewer(&request).await?, path_period(&request)?);
    let query = Query::parse(&request, &["limit", "cursor"])?;
    let format = accepted(&request, &OFFERS)?;
    let closings = state.closings.clone();
    if format != Format::Json {
        if query.get("limit").or(query.get("cursor")).is_some() {
            return Err(invalid("A stream is the whole month: leave `limit` and `cursor` out."));
        }
        // Also where nobody reads a row: HEAD tells what GET would.
        let statement = closings.clone();
        state.look(viewer, async move { statement.statement(viewer, period).await }).await?;
        let name = format!("ringi-statement-{}-{period}", viewer.organization_id);
        let rows = Rows { closings, runner: state.runner.clone(), viewer, period, after: None, format };
        return streaming::start(&request, &state, viewer.organization_id, format, &name, rows).await;
    }
    let limit = query.limit()?;
    let name = format!("statements/{}/{period}", viewer.organization_id);
    let after: Option<RowPlace> = query.cursor(&name)?;
    let (month, rows) = state
        .look(viewer, async move {
            let month = closings.statement(viewer, period).await?;
            let rows = closings.statement_rows(viewer, period, after, i64::from(limit) + 1).await?;
            Ok::<_, crate::closing::ClosingError>((month, rows))
        })
        .await?;
    let page = Page::cut(rows, usize::from(limit), place);
    let ClosedMonthDto { period, closed_at, totals } = ClosedMonthDto::from(&month);
    Ok(read(&StatementDto {
        period,
        closed_at,
        totals,
        items: page.items.iter().map(ConfirmedChargeDto::from).collect(),
        next_cursor: page.next.map(|place| query.cursor_at(&name, &place)),
    }))
}

fn place(row: &ConfirmedRow) -> RowPlace {
    (row.occurred_at, row.charge_id.0)
}

struct Rows {
    closings: Closings,
    runner: Runner,
    viewer: Viewer,
    period: Period,
    after: Option<RowPlace>,
    format: Format,
}

impl Source for Rows {
    type Row = ConfirmedRow;
    const AT_ONCE: i64 = 1_000;

    async fn read(&mut self) -> Result<Vec<ConfirmedRow>, Problem> {
        let (closings, viewer, period, after) = (self.closings.clone(), self.viewer, self.period, self.after);
        let rows =
            self.runner.run(async move { closings.statement_rows(viewer, period, after, Self::AT_ONCE).await }).await;
        let rows = rows.ok_or_else(Problem::internal)?.map_err(Problem::from)?;
        if let Some(last) = rows.last() {
            self.after = Some(place(last));
        }
        Ok(rows)
    }

    fn head(&mut self, out: &mut Vec<u8>) -> Result<(), Broken> {
        if self.format == Format::Csv { csv_line(out, STATEMENT_COLUMNS.map(Cow::from)) } else { Ok(()) }
    }

    fn write(&mut self, row: &ConfirmedRow, out: &mut Vec<u8>) -> Result<(), Broken> {
        let row = ConfirmedChargeDto::from(row);
        if self.format != Format::Csv {
            return json_line(out, &row);
        }
        // An amount is a number also below zero; only what people wrote could be a formula.
        let cells: [Cow<'_, str>; 6] = [
            row.charge_id.to_string().into(),
            row.occurred_at.into(),
            row.amount.to_string().into(),
            row.currency.into(),
            row.description.as_deref().map(disarmed).unwrap_or_default(),
            row.request_id.map(|id| id.to_string()).unwrap_or_default().into(),
        ];
        csv_line(out, cells)
    }
}
