//! Streams of rows: a whole selection as CSV or NDJSON, at constant memory.
//!
//! The stream is pulled: actix asks for more when the client has taken what there was. Only then a page is read, on a
//! connection that is back in its pool before the first of its rows is written. A client that reads nothing holds
//! some kilobytes and a place among its organization's exports, and nothing of the database.
//!
//! An error in the middle ends the connection without the last chunk of the body: the transfer is broken for everybody
//! to see, not silently short.

use super::problem::Problem;
use super::state::State;
use crate::domain::ids::OrganizationId;
use crate::inspection::exports::Place;
use crate::inspection::view::Format;
use actix_web::http::{Method, header};
use actix_web::web::Bytes;
use actix_web::{HttpRequest, HttpResponse};
use futures_util::stream;
use serde::Serialize;
use std::borrow::Cow;

/// How much is written at once.
const CHUNK: usize = 64 * 1024;
/// What a client is told who comes third.
const RETRY_AFTER_S: u32 = 5;

/// Why a stream was broken off. The cause is in the log.
#[derive(Debug, thiserror::Error)]
#[error("the stream was broken off")]
pub(super) struct Broken;

/// Where a stream's rows come from. However the stream ends, its source is dropped.
pub(super) trait Source: 'static {
    /// A row.
    type Row;
    /// How many rows are read at once; fewer are the last.
    const AT_ONCE: i64;

    /// The next rows. A use case of its own, which ends whatever becomes of the stream.
    fn read(&mut self) -> impl Future<Output = Result<Vec<Self::Row>, Problem>>;

    /// Writes the line above all rows, where the format has one.
    fn head(&mut self, out: &mut Vec<u8>) -> Result<(), Broken>;

    /// Writes a row as a line.
    fn write(&mut self, row: &Self::Row, out: &mut Vec<u8>) -> Result<(), Broken>;

    /// Every row was written.
    fn complete(&mut self) {}
}

/// Begins a stream, to be saved as `name` with the format's extension. What is wrong with it is told as a problem until
/// its first rows are there.
pub(super) async fn start<S: Source>(
    request: &HttpRequest,
    state: &State,
    organization: OrganizationId,
    format: Format,
    name: &str,
    source: S,
) -> Result<HttpResponse, Problem> {
    let (media_type, extension) = match format {
        Format::Csv => ("text/csv; charset=utf-8; header=present", "csv"),
        Format::Ndjson | Format::Json => ("application/x-ndjson", "ndjson"),
    };
    let disposition = format!("attachment; filename=\"{name}.{extension}\"");
    let mut response = HttpResponse::Ok();
    response.content_type(media_type).insert_header((header::CONTENT_DISPOSITION, disposition));
    if request.method() == Method::HEAD {
        // Nobody would read it, and nothing is handed out.
        return Ok(response.streaming(stream::empty::<Result<Bytes, Broken>>()));
    }
    let place = state.exports.enter(organization).ok_or_else(|| {
        metrics::counter!("ringi_exports_refused_total").increment(1);
        Problem::rate_limited(
            RETRY_AFTER_S,
            "Two exports of this organization are under way: wait until one has ended.",
        )
    })?;
    let mut rows = Rows { source, place, read: Vec::new().into_iter(), at_end: false, is_begun: false, is_over: false };
    rows.fill().await?;
    Ok(response.streaming(stream::unfold(rows, |mut rows| async move {
        let chunk = rows.next().await?;
        Some((chunk, rows))
    })))
}

struct Rows<S: Source> {
    source: S,
    place: Place,
    /// Read, and not yet written.
    read: std::vec::IntoIter<S::Row>,
    /// Nothing more is to be read.
    at_end: bool,
    /// The head was written.
    is_begun: bool,
    /// The end was told, or the stream was broken off.
    is_over: bool,
}

impl<S: Source> Rows<S> {
    async fn fill(&mut self) -> Result<(), Problem> {
        let rows = self.source.read().await?;
        self.at_end = i64::try_from(rows.len()).is_ok_and(|read| read < S::AT_ONCE);
        self.read = rows.into_iter();
        Ok(())
    }

    async fn next(&mut self) -> Option<Result<Bytes, Broken>> {
        if self.is_over {
            return None;
        }
        let chunk = self.chunk().await;
        if let Err(Broken) = chunk {
            self.is_over = true;
            metrics::counter!("ringi_exports_broken_total").increment(1);
        }
        chunk.transpose()
    }

    async fn chunk(&mut self) -> Result<Option<Bytes>, Broken> {
        if !self.place.touch() {
            tracing::warn!("a stream's client read nothing for too long, and somebody else has its place");
            return Err(Broken);
        }
        if self.read.len() == 0 && !self.at_end {
            self.fill().await.map_err(|problem| {
                tracing::warn!(%problem, "a stream was broken off");
                Broken
            })?;
        }
        let mut bytes = Vec::with_capacity(CHUNK + CHUNK / 4);
        if !self.is_begun {
            self.source.head(&mut bytes)?;
            self.is_begun = true;
        }
        while bytes.len() < CHUNK {
            let Some(row) = self.read.next() else { break };
            self.source.write(&row, &mut bytes)?;
        }
        if bytes.is_empty() {
            self.is_over = true;
            self.source.complete();
            return Ok(None);
        }
        Ok(Some(Bytes::from(bytes)))
    }
}

/// Writes a value as a line of NDJSON.
pub(super) fn json_line(out: &mut Vec<u8>, value: &impl Serialize) -> Result<(), Broken> {
    serde_json::to_writer(&mut *out, value).map_err(|_| Broken)?;
    out.push(b'\n');
    Ok(())
}

/// Writes a line of CSV. Cells that people wrote must be [`disarmed`].
pub(super) fn csv_line<'a>(out: &mut Vec<u8>, cells: impl IntoIterator<Item = Cow<'a, str>>) -> Result<(), Broken> {
    let mut writer = csv::WriterBuilder::new().terminator(csv::Terminator::CRLF).from_writer(out);
    writer.write_record(cells.into_iter().map(Cow::into_owned)).map_err(|_| Broken)?;
    writer.flush().map_err(|_| Broken)
}

/// Spreadsheets run a cell that begins like a formula. One `'` before it makes it text.
pub(super) fn disarmed(cell: &str) -> Cow<'_, str> {
    if cell.starts_with(['=', '+', '-', '@', '\t', '\r']) { format!("'{cell}").into() } else { cell.into() }
}
