//! Exports: the whole selection as one stream, at constant memory.
//!
//! The stream is pulled: actix asks for more when the client has taken what there was. Only then a page is read, on a
//! connection that is back in its pool before the first of its rows is written. A client that reads nothing holds
//! some kilobytes and a place among its organization's exports, and nothing of the database.
//!
//! An error in the middle ends the connection without the last chunk of the body: the transfer is broken for everybody
//! to see, not silently short. However a stream ends, its end records the export: it is dropped.

use super::inspection::{COLUMNS, RowDto};
use super::problem::Problem;
use super::state::State;
use crate::app::Inspections;
use crate::domain::Instant;
use crate::inspection::exports::Place;
use crate::inspection::service::{EXPORTED_AT_ONCE, start as beginning};
use crate::inspection::view::{Access, Filters, Format, Row, RowPlace};
use crate::lifecycle::Runner;
use crate::transaction::Viewer;
use actix_web::http::{Method, header};
use actix_web::web::Bytes;
use actix_web::{HttpRequest, HttpResponse};
use futures_util::stream;
use std::borrow::Cow;

/// How much is written at once.
const CHUNK: usize = 64 * 1024;
/// What a client is told who comes third.
const RETRY_AFTER_S: u32 = 5;

/// Begins an export. What is wrong with it is told as a problem until its first rows are there.
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
    let (media_type, extension) = match format {
        Format::Csv => ("text/csv; charset=utf-8; header=present", "csv"),
        Format::Ndjson | Format::Json => ("application/x-ndjson", "ndjson"),
    };
    let to = access.selection.to.format("%Y%m%dT%H%M%SZ");
    let disposition = format!("attachment; filename=\"ringi-history-{}-{to}.{extension}\"", viewer.organization_id);
    let mut response = HttpResponse::Ok();
    response.content_type(media_type).insert_header((header::CONTENT_DISPOSITION, disposition));
    if request.method() == Method::HEAD {
        // Nobody would read it, and nothing of the history is handed out.
        return Ok(response.streaming(stream::empty::<Result<Bytes, Broken>>()));
    }
    let place = state.exports.enter(viewer.organization_id).ok_or_else(|| {
        metrics::counter!("ringi_exports_refused_total").increment(1);
        Problem::rate_limited(
            RETRY_AFTER_S,
            "Two exports of this organization are under way: wait until one has ended.",
        )
    })?;
    let mut export = Export {
        after: beginning(&access.selection),
        access: Some(access),
        inspections: state.inspections.clone(),
        runner: state.runner.clone(),
        place,
        rows: Vec::new().into_iter(),
        at_end: false,
        is_begun: false,
        has_failed: false,
    };
    export.read().await?;
    Ok(response.streaming(stream::unfold(export, |mut export| async move {
        let chunk = export.next().await?;
        Some((chunk, export))
    })))
}

/// Why a stream was broken off. The cause is in the log.
#[derive(Debug, thiserror::Error)]
#[error("the export was broken off")]
struct Broken;

struct Export {
    /// To be recorded when this is dropped.
    access: Option<Access>,
    inspections: Inspections,
    runner: Runner,
    place: Place,
    /// Read, and not yet written.
    rows: std::vec::IntoIter<Row>,
    after: RowPlace,
    /// Nothing more is to be read.
    at_end: bool,
    /// The header was written.
    is_begun: bool,
    has_failed: bool,
}

impl Export {
    /// Reads the next page, as a use case of its own that ends whatever becomes of this stream.
    async fn read(&mut self) -> Result<(), Problem> {
        let Some(access) = &self.access else { return Ok(()) };
        let (viewer, selection) = (access.viewer, access.selection.clone());
        let (inspections, after) = (self.inspections.clone(), self.after.clone());
        let read = self.runner.run(async move { inspections.export(viewer, &selection, &after).await });
        let rows = read.await.ok_or_else(Problem::internal)?.map_err(Problem::from)?;
        self.at_end = i64::try_from(rows.len()).is_ok_and(|read| read < EXPORTED_AT_ONCE);
        if let Some(last) = rows.last() {
            self.after = RowPlace::of(last);
        }
        self.rows = rows.into_iter();
        Ok(())
    }

    async fn next(&mut self) -> Option<Result<Bytes, Broken>> {
        if self.has_failed {
            return None;
        }
        let chunk = self.chunk().await;
        if let Err(Broken) = chunk {
            self.has_failed = true;
            metrics::counter!("ringi_exports_broken_total").increment(1);
        }
        chunk.transpose()
    }

    async fn chunk(&mut self) -> Result<Option<Bytes>, Broken> {
        if !self.place.touch() {
            tracing::warn!("an export's client read nothing for too long, and somebody else has its place");
            return Err(Broken);
        }
        if self.rows.len() == 0 && !self.at_end {
            self.read().await.map_err(|problem| {
                tracing::warn!(%problem, "an export was broken off");
                Broken
            })?;
        }
        let Some(access) = &mut self.access else { return Ok(None) };
        let mut bytes = Vec::with_capacity(CHUNK + CHUNK / 4);
        if access.format == Format::Csv && !self.is_begun {
            csv_line(&mut bytes, &COLUMNS)?;
        }
        self.is_begun = true;
        while bytes.len() < CHUNK {
            let Some(row) = self.rows.next() else { break };
            let row = RowDto::from(&row);
            match access.format {
                Format::Csv => csv_row(&mut bytes, &row)?,
                Format::Ndjson | Format::Json => {
                    serde_json::to_writer(&mut bytes, &row).map_err(|_| Broken)?;
                    bytes.push(b'\n');
                }
            }
            access.rows += 1;
        }
        if bytes.is_empty() {
            access.complete = true;
            return Ok(None);
        }
        Ok(Some(Bytes::from(bytes)))
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
    csv_line(
        out,
        &[
            &*id(row.request_id),
            &*row.version.to_string(),
            &*id(row.actor_id),
            &*row.actor_name,
            &*row.action,
            text(row.from_status.as_ref()),
            text(row.to_status.as_ref()),
            text(row.reason.as_ref()),
            text(row.content_hash.as_ref()),
            &*row.occurred_at,
            row.kind,
            text(row.subject_id.as_ref()),
            &*row.detail.as_ref().map(ToString::to_string).unwrap_or_default(),
        ],
    )
}

fn text(text: Option<&String>) -> &str {
    text.map_or("", String::as_str)
}

fn csv_line(out: &mut Vec<u8>, cells: &[&str; 13]) -> Result<(), Broken> {
    let mut writer = csv::WriterBuilder::new().terminator(csv::Terminator::CRLF).from_writer(out);
    writer.write_record(cells.iter().map(|cell| disarmed(cell).into_owned())).map_err(|_| Broken)?;
    writer.flush().map_err(|_| Broken)
}

/// Spreadsheets run a cell that begins like a formula. One `'` before it makes it text.
fn disarmed(cell: &str) -> Cow<'_, str> {
    if cell.starts_with(['=', '+', '-', '@', '\t', '\r']) { format!("'{cell}").into() } else { cell.into() }
}
