//! What reads bytes of strangers, against any bytes: nothing panics, nothing is read in two ways, and what was written is read back.

use super::body::{RowBody, json_rows, ndjson_rows};
use super::extract::{Query, idempotency_key, parse_instant, parse_moment, parse_uuid, path_period};
use super::negotiate::accepted;
use super::streaming::{csv_line, disarmed};
use crate::domain::period::Period;
use actix_web::HttpRequest;
use actix_web::http::header::{HeaderName, HeaderValue};
use actix_web::test::TestRequest;
use proptest::collection::vec;
use proptest::prelude::*;
use serde_json::{Map, Value, json};
use std::borrow::Cow;
use uuid::Uuid;

/// A request with this query, where a client could send it.
fn with_query(query: &str) -> Option<HttpRequest> {
    let uri: actix_web::http::Uri = format!("/x?{query}").parse().ok()?;
    Some(TestRequest::default().uri(&uri.to_string()).to_http_request())
}

fn with_header(name: &'static str, value: &[u8]) -> Option<HttpRequest> {
    let value = HeaderValue::from_bytes(value).ok()?;
    Some(TestRequest::default().insert_header((HeaderName::from_static(name), value)).to_http_request())
}

fn any_json() -> impl Strategy<Value = Value> {
    let leaf = prop_oneof![
        Just(Value::Null),
        any::<bool>().prop_map(Value::from),
        any::<i64>().prop_map(Value::from),
        any::<String>().prop_map(Value::from),
    ];
    leaf.prop_recursive(4, 32, 6, |inner| {
        prop_oneof![
            vec(inner.clone(), 0..6).prop_map(Value::from),
            vec((any::<String>(), inner), 0..6).prop_map(|members| Value::Object(members.into_iter().collect())),
        ]
    })
}

fn any_object() -> impl Strategy<Value = Map<String, Value>> {
    vec((any::<String>(), any_json()), 0..6).prop_map(|members| members.into_iter().collect())
}

/// The rows, where all of them are objects.
fn objects(rows: Vec<RowBody>) -> Option<Vec<Map<String, Value>>> {
    let object = |row| if let RowBody::Object(object) = row { Some(object) } else { None };
    rows.into_iter().map(object).collect()
}

proptest! {
    #[test]
    fn no_query_makes_a_panic(query in "[ -~]{0,60}", text in any::<String>()) {
        for query in [query, format!("cursor={text}"), format!("limit={text}&cursor={text}")] {
            let Some(request) = with_query(&query) else { continue };
            if let Ok(query) = Query::parse(&request, &["cursor", "limit", "q", "from", "period"]) {
                let _ = query.cursor::<i64>("a");
                let _ = query.cursor::<(crate::domain::Instant, Uuid)>("a");
                let _ = (query.limit(), query.uuid("q"), query.moment("from"), query.period("period"));
            }
        }
    }

    /// A cursor is good for its own list and filters alone.
    #[test]
    fn a_cursor_is_good_where_it_came_from(place in any::<i64>(), filter in "[a-z0-9]{1,9}", other in "[a-z0-9]{1,9}") {
        let parse = |query: &str| Query::parse(&with_query(query).expect("a query"), &["q", "limit", "cursor"]).expect("fits");
        let cursor = parse(&format!("q={filter}")).cursor_at("list", &place);
        let again = parse(&format!("limit=7&q={filter}&cursor={cursor}"));
        prop_assert_eq!(again.cursor::<i64>("list").expect("its own"), Some(place));
        prop_assert!(again.cursor::<i64>("another list").is_err());
        prop_assert!(again.cursor::<Uuid>("list").is_err());
        let elsewhere = parse(&format!("q={other}&cursor={cursor}"));
        prop_assert_eq!(elsewhere.cursor::<i64>("list").is_ok(), other == filter);
    }

    #[test]
    fn a_key_is_taken_as_it_is_or_refused(bytes in vec(any::<u8>(), 0..300)) {
        let Some(request) = with_header("idempotency-key", &bytes) else { return Ok(()) };
        let unquoted = bytes.strip_prefix(b"\"").and_then(|rest| rest.strip_suffix(b"\"")).unwrap_or(&bytes);
        let good = (1..=255).contains(&unquoted.len()) && unquoted.iter().all(u8::is_ascii_graphic);
        match idempotency_key(&request) {
            Ok(key) => prop_assert!(good && key.as_deref().map(str::as_bytes) == Some(unquoted)),
            Err(_) => prop_assert!(!good),
        }
    }

    #[test]
    fn no_accept_header_makes_a_panic(value in "[ -~]{0,60}", types in vec("(text/csv|\\*/\\*|a/b)(;q=[01](\\.[0-9]{0,4})?)?", 0..4)) {
        for value in [value, types.join(",")] {
            let Some(request) = with_header("accept", value.as_bytes()) else { continue };
            let _ = accepted(&request, &[("application/json", 1), ("text/csv", 2)]);
        }
    }

    #[test]
    fn a_month_is_read_as_it_is_written_or_not_at_all(text in "\\PC{0,9}", number in 0_u32..30_000, month in 0_u32..20) {
        for text in [text, format!("{number:04}-{month:02}"), format!("{number}-{month}")] {
            if let Some(period) = Period::parse(&text) {
                prop_assert_eq!(period.to_string(), text.clone());
            }
            let request = TestRequest::default().param("period", text.clone()).to_http_request();
            prop_assert_eq!(path_period(&request).is_ok(), Period::parse(&text).is_some());
        }
    }

    #[test]
    fn moments_and_ids_are_read_or_not(text in "\\PC{0,40}", near in "[0-9]{4}-[0-9]{2}-[0-9]{2}T[0-9]{2}:[0-9]{2}:[0-9]{2}(\\.[0-9]{0,12})?(Z|[+-][0-9]{2}:[0-9]{2})?") {
        for text in [text, near] {
            let (bound, kept) = (parse_moment(&text), parse_instant(&text));
            // PostgreSQL keeps microseconds: what is read must survive it.
            for moment in [bound, kept].into_iter().flatten() {
                prop_assert_eq!(moment.timestamp_subsec_nanos() % 1_000, 0);
            }
            if let (Some(bound), Some(kept)) = (bound, kept) {
                prop_assert!(kept <= bound && bound - kept <= chrono::Duration::microseconds(1));
            }
            if let Some(id) = parse_uuid(&text) {
                prop_assert_eq!(id.to_string(), text.to_lowercase());
            }
        }
    }

    #[test]
    fn no_rows_make_a_panic(bytes in vec(any::<u8>(), 0..200), text in "[\\[\\]{}\",:0-9a-z\\\\\n ]{0,80}") {
        for bytes in [bytes, text.into_bytes()] {
            let _ = json_rows(&bytes);
            let _ = ndjson_rows(&bytes, 10);
        }
    }

    #[test]
    fn rows_are_read_as_they_were_written(rows in vec(any_object(), 1..8)) {
        let list = serde_json::to_vec(&rows).expect("JSON");
        prop_assert_eq!(json_rows(&list).ok().and_then(objects), Some(rows.clone()));
        let lines = rows.iter().map(|row| json!(row).to_string()).collect::<Vec<_>>();
        for between in ["\n", "\r\n", "\n \n"] {
            let read = ndjson_rows(lines.join(between).as_bytes(), 8).ok().and_then(objects);
            prop_assert_eq!(read, Some(rows.clone()));
        }
    }

    /// Whatever people have written into a cell, a program reads it back, and no spreadsheet runs it.
    #[test]
    fn cells_are_read_back_and_none_is_a_formula(rows in vec(vec("(=|\\+|-|@|\t|\r|\"|,|\n|'|[a-z稟]){0,12}", 3), 1..5)) {
        let mut written = Vec::new();
        for row in &rows {
            csv_line(&mut written, row.iter().map(|cell| disarmed(cell))).expect("written");
        }
        let mut reader = csv::ReaderBuilder::new().has_headers(false).from_reader(&written[..]);
        let read: Vec<Vec<String>> =
            reader.records().map(|record| record.expect("CSV").iter().map(str::to_owned).collect()).collect();
        prop_assert_eq!(read.len(), rows.len());
        for (cell, original) in read.iter().flatten().zip(rows.iter().flatten()) {
            prop_assert!(!cell.starts_with(['=', '+', '-', '@', '\t', '\r']), "{cell:?}");
            let armed: Cow<'_, str> = if cell == original { cell.into() } else { cell[1..].into() };
            prop_assert_eq!(&*armed, original.as_str());
        }
    }
}
