//! Exports of the history: the whole selection as one stream. However a stream ends, its end records the export.

use super::inspection::{COLUMNS, RowDto};
use super::problem::Problem;
use super::state::State;
use super::streaming::{self, Broken, Source, csv_line, disarmed, json_line};
use crate::app::Inspections;
use crate::domain::Instant;
use crate::inspection::service::{EXPORTED_AT_ONCE, start as beginning};
use crate::inspection::view::{Access, Filters, Format, Row, RowPlace};
use crate::lifecycle::Runner;
use crate::transaction::Viewer;
use actix_web::{HttpRequest, HttpResponse};
use std::borrow::Cow;

/// Begins an export.
pub(super) async fn start(
    request: &HttpRequest,
    state: &State,
    viewer: Viewer,
    filters: Filters,
    to: Option<Instant>,
    format: Format,
) -> Result<HttpResponse, Problem> {
    let inspections = state.inspections.clone();
    let access = state.run(async move { inspections.begin(viewer, filters, to, format).await }).await?;
    let organization = viewer.organization_id;
    let name = format!("ringi-history-{organization}-{}", access.selection.to.format("%Y%m%dT%H%M%SZ"));
    let export = Export {
        after: beginning(&access.selection),
        access: Some(access),
        inspections: state.inspections.clone(),
        runner: state.runner.clone(),
        is_begun: false,
    };
    streaming::start(request, state, organization, format, &name, export).await
}

struct Export {
    /// To be recorded when this is dropped.
    access: Option<Access>,
    inspections: Inspections,
    runner: Runner,
    after: RowPlace,
    /// Something was handed out.
    is_begun: bool,
}

impl Source for Export {
    type Row = Row;
    const AT_ONCE: i64 = EXPORTED_AT_ONCE;

    async fn read(&mut self) -> Result<Vec<Row>, Problem> {
        let Some(access) = &self.access else { return Ok(Vec::new()) };
        let (viewer, selection) = (access.viewer, access.selection.clone());
        let (inspections, after) = (self.inspections.clone(), self.after.clone());
        let read = self.runner.run(async move { inspections.export(viewer, &selection, &after).await });
        let rows = read.await.ok_or_else(Problem::internal)?.map_err(Problem::from)?;
        if let Some(last) = rows.last() {
            self.after = RowPlace::of(last);
        }
        Ok(rows)
    }

    fn head(&mut self, out: &mut Vec<u8>) -> Result<(), Broken> {
        self.is_begun = true;
        match &self.access {
            Some(access) if access.format == Format::Csv => csv_line(out, COLUMNS.map(Cow::from)),
            _ => Ok(()),
        }
    }

    fn write(&mut self, row: &Row, out: &mut Vec<u8>) -> Result<(), Broken> {
        let Some(access) = &mut self.access else { return Err(Broken) };
        let row = RowDto::from(row);
        match access.format {
            Format::Csv => csv_row(out, &row)?,
            Format::Ndjson | Format::Json => json_line(out, &row)?,
        }
        access.rows += 1;
        Ok(())
    }

    fn complete(&mut self) {
        if let Some(access) = &mut self.access {
            access.complete = true;
        }
    }
}

impl Drop for Export {
    fn drop(&mut self) {
        // Nothing was handed out before the first chunk.
        let Some(access) = self.access.take().filter(|_| self.is_begun) else { return };
        let inspections = self.inspections.clone();
        self.runner.detach(async move { inspections.record(access).await });
    }
}

fn csv_row(out: &mut Vec<u8>, row: &RowDto) -> Result<(), Broken> {
    let id = |id: Option<uuid::Uuid>| id.map(|id| id.to_string()).unwrap_or_default();
    let cells: [&str; 13] = [
        &id(row.request_id),
        &row.version.to_string(),
        &id(row.actor_id),
        &row.actor_name,
        &row.action,
        text(row.from_status.as_ref()),
        text(row.to_status.as_ref()),
        text(row.reason.as_ref()),
        text(row.content_hash.as_ref()),
        &row.occurred_at,
        row.kind,
        text(row.subject_id.as_ref()),
        &row.detail.as_ref().map(ToString::to_string).unwrap_or_default(),
    ];
    csv_line(out, cells.map(disarmed))
}

fn text(text: Option<&String>) -> &str {
    text.map_or("", String::as_str)
}
