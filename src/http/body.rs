//! Bodies: read within bounds, parsed strictly, and taken apart member by member, so that every mistake is told at
//! once and with its place.

use super::problem::{Code, Problem};
use crate::domain::Instant;
use crate::domain::ids::Version;
use crate::domain::text::Violation;
use actix_web::HttpRequest;
use actix_web::http::header;
use actix_web::web::Payload;
use futures_util::StreamExt;
use serde::de::{self, Deserializer, MapAccess, Visitor};
use serde_json::{Map, Value};
use std::time::Duration;

/// Bounds on a body.
#[derive(Clone, Copy, Debug)]
pub struct BodyLimits {
    /// The most bytes.
    pub bytes: usize,
    /// The longest time until the last of them, since actix only limits the head.
    pub time: Duration,
}

/// How many unknown members are told of.
const UNKNOWN_TOLD: usize = 20;

/// Reads the body of a write: uncompressed JSON, an object, without duplicate keys.
pub(super) async fn read_object(
    request: &HttpRequest,
    payload: Payload,
    limits: BodyLimits,
) -> Result<Map<String, Value>, Problem> {
    check_media_type(request, &["application/json"])?;
    let bytes = read(request, payload, limits).await?;
    // Looked at first, since serde_json's sentence about a value of another type repeats the value, which may be a
    // secret pasted into the wrong place.
    if bytes.iter().find(|byte| !byte.is_ascii_whitespace()) != Some(&b'{') {
        return Err(Problem::new(Code::MalformedJson, "Send one JSON object: the body must begin with `{`."));
    }
    serde_json::from_slice::<StrictObject>(&bytes).map(|object| object.0).map_err(|error| {
        // serde_json's own sentence names line and column, and of what stands in an object never a value.
        Problem::new(Code::MalformedJson, format!("Send one JSON object: {error}."))
    })
}

/// Which of these types, our own names for them, the body is.
fn check_media_type(request: &HttpRequest, known: &[&'static str]) -> Result<&'static str, Problem> {
    let unsupported = |detail: &str| Err(Problem::new(Code::UnsupportedMediaType, detail));
    // Before a byte is read: 30 kB of zstd can be a gigabyte of zeros.
    if request.headers().contains_key(header::CONTENT_ENCODING) {
        return unsupported("Send the body without Content-Encoding.");
    }
    let content_type = request.headers().get(header::CONTENT_TYPE).and_then(|value| value.to_str().ok());
    let mut parts = content_type.unwrap_or_default().split(';').map(str::trim);
    let named = parts.next().unwrap_or_default();
    let mime = known.iter().find(|known| named.eq_ignore_ascii_case(known));
    let utf8 = parts.all(|parameter| {
        let (name, value) = parameter.split_once('=').unwrap_or((parameter, ""));
        !name.eq_ignore_ascii_case("charset") || value.trim_matches('"').eq_ignore_ascii_case("utf-8")
    });
    match mime {
        Some(mime) if utf8 => Ok(mime),
        _ => unsupported(&format!("Send `Content-Type: {}`, in UTF-8.", known.join("` or `"))),
    }
}

async fn read(request: &HttpRequest, mut payload: Payload, limits: BodyLimits) -> Result<Vec<u8>, Problem> {
    let too_large = || Problem::new(Code::PayloadTooLarge, format!("A body has at most {} bytes.", limits.bytes));
    let announced = request.headers().get(header::CONTENT_LENGTH).and_then(|value| value.to_str().ok());
    if announced.and_then(|length| length.parse::<usize>().ok()).is_some_and(|length| length > limits.bytes) {
        return Err(too_large());
    }
    let whole = async {
        let mut bytes = Vec::new();
        while let Some(chunk) = payload.next().await {
            let chunk =
                chunk.map_err(|error| Problem::new(Code::MalformedJson, format!("The body broke off: {error}.")))?;
            if bytes.len() + chunk.len() > limits.bytes {
                return Err(too_large());
            }
            bytes.extend_from_slice(&chunk);
        }
        Ok(bytes)
    };
    tokio::time::timeout(limits.time, whole).await.unwrap_or_else(|_| {
        let detail = format!("Send the whole body within {} s.", limits.time.as_secs());
        Err(Problem::new(Code::RequestTimeout, detail))
    })
}

/// One row of a body that has many.
#[derive(Clone, Debug)]
pub(super) enum RowBody {
    /// An object.
    Object(Map<String, Value>),
    /// An object in which a key stands twice.
    Doubled,
    /// Something else.
    Other,
}

/// Reads one or many rows: a JSON object, a JSON list, or NDJSON, whose empty lines count for nothing. What is no JSON
/// anywhere refuses the whole.
pub(super) async fn read_rows(
    request: &HttpRequest,
    payload: Payload,
    limits: BodyLimits,
    most: usize,
) -> Result<Vec<RowBody>, Problem> {
    let mime = check_media_type(request, &["application/json", "application/x-ndjson"])?;
    let bytes = read(request, payload, limits).await?;
    let rows = if mime == "application/json" { json_rows(&bytes) } else { ndjson_rows(&bytes, most) }?;
    if (1..=most).contains(&rows.len()) {
        return Ok(rows);
    }
    // Where there are too many, the first of those is pointed at.
    let field = if rows.is_empty() { String::new() } else { most.to_string() };
    Err(Problem::invalid(
        Code::ValidationFailed,
        vec![Violation::new(&field, "length", format!("send 1 to {most} rows at once"))],
    ))
}

pub(super) fn json_rows(bytes: &[u8]) -> Result<Vec<RowBody>, Problem> {
    let first = bytes.iter().find(|byte| !byte.is_ascii_whitespace());
    let rows = match first {
        Some(b'{') => serde_json::from_slice::<RowBody>(bytes).map(|row| vec![row]),
        Some(b'[') => serde_json::from_slice::<Vec<RowBody>>(bytes),
        _ => return Err(Problem::new(Code::MalformedJson, "Send a JSON object or a list of objects.")),
    };
    rows.map_err(|error| {
        Problem::new(
            Code::MalformedJson,
            format!("Send a JSON object or a list of objects: {error}. Nothing was saved."),
        )
    })
}

pub(super) fn ndjson_rows(bytes: &[u8], most: usize) -> Result<Vec<RowBody>, Problem> {
    let lines = bytes.split(|byte| *byte == b'\n').enumerate();
    let lines = lines.filter(|(_, line)| !line.iter().all(u8::is_ascii_whitespace));
    let mut rows = Vec::new();
    for (n, line) in lines.take(most + 1) {
        let row = serde_json::from_slice(line).map_err(|error| {
            // Of a line alone, serde_json knows the column.
            let (line, column) = (n + 1, error.column());
            Problem::new(
                Code::MalformedJson,
                format!(
                    "Line {line} is no JSON (column {column}). Correct it, and send all lines again: nothing was saved."
                ),
            )
        })?;
        rows.push(row);
    }
    Ok(rows)
}

impl<'de> de::Deserialize<'de> for RowBody {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct RowVisitor;
        impl<'de> Visitor<'de> for RowVisitor {
            type Value = RowBody;

            fn expecting(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                f.write_str("JSON")
            }

            fn visit_map<A: MapAccess<'de>>(self, mut members: A) -> Result<RowBody, A::Error> {
                let (mut object, mut doubled) = (Map::new(), false);
                while let Some(key) = members.next_key::<String>()? {
                    doubled |= object.insert(key, members.next_value()?).is_some();
                }
                Ok(if doubled { RowBody::Doubled } else { RowBody::Object(object) })
            }

            fn visit_seq<A: de::SeqAccess<'de>>(self, mut items: A) -> Result<RowBody, A::Error> {
                while items.next_element::<de::IgnoredAny>()?.is_some() {}
                Ok(RowBody::Other)
            }

            fn visit_bool<E>(self, _: bool) -> Result<RowBody, E> {
                Ok(RowBody::Other)
            }

            fn visit_i64<E>(self, _: i64) -> Result<RowBody, E> {
                Ok(RowBody::Other)
            }

            fn visit_u64<E>(self, _: u64) -> Result<RowBody, E> {
                Ok(RowBody::Other)
            }

            fn visit_f64<E>(self, _: f64) -> Result<RowBody, E> {
                Ok(RowBody::Other)
            }

            fn visit_str<E>(self, _: &str) -> Result<RowBody, E> {
                Ok(RowBody::Other)
            }

            fn visit_unit<E>(self) -> Result<RowBody, E> {
                Ok(RowBody::Other)
            }
        }
        deserializer.deserialize_any(RowVisitor)
    }
}

/// A JSON object without duplicate keys. serde would take an array for a struct, and a map would keep the last of
/// two equal keys: who sends `{"version": 1, "version": 2}` must be told, not guessed at.
struct StrictObject(Map<String, Value>);

impl<'de> de::Deserialize<'de> for StrictObject {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct ObjectVisitor;
        impl<'de> Visitor<'de> for ObjectVisitor {
            type Value = StrictObject;

            fn expecting(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                f.write_str("a JSON object")
            }

            fn visit_map<A: MapAccess<'de>>(self, mut members: A) -> Result<StrictObject, A::Error> {
                let mut object = Map::new();
                while let Some(key) = members.next_key::<String>()? {
                    if object.contains_key(&key) {
                        return Err(de::Error::custom("a key stands twice in the object"));
                    }
                    let value = members.next_value()?;
                    object.insert(key, value);
                }
                Ok(StrictObject(object))
            }
        }
        deserializer.deserialize_map(ObjectVisitor)
    }
}

/// Takes the members of a body one after the other, and remembers every mistake of shape.
#[derive(Debug)]
pub(super) struct Fields {
    object: Map<String, Value>,
    wrong: Vec<Violation>,
    version_missing: bool,
}

impl Fields {
    pub(super) const fn new(object: Map<String, Value>) -> Self {
        Self { object, wrong: Vec::new(), version_missing: false }
    }

    fn wrong(&mut self, field: &str, code: &str, detail: &str) {
        self.wrong.push(Violation::new(field, code, detail));
    }

    /// The version that the author saw.
    pub(super) fn version(&mut self) -> Version {
        match self.object.remove("version") {
            None | Some(Value::Null) => {
                self.version_missing = true;
                0
            }
            Some(value) => value.as_i64().unwrap_or_else(|| {
                self.wrong("version", "wrong_type", "must be an integer");
                0
            }),
        }
    }

    /// A text that must be there.
    pub(super) fn text(&mut self, field: &str) -> String {
        match self.object.remove(field) {
            Some(Value::String(text)) => text,
            Some(_) => {
                self.wrong(field, "wrong_type", "must be a string");
                String::new()
            }
            None => {
                self.wrong(field, "required", "must be there");
                String::new()
            }
        }
    }

    /// A text that may be left out or null.
    pub(super) fn optional_text(&mut self, field: &str) -> Option<String> {
        match self.object.remove(field) {
            None | Some(Value::Null) => None,
            Some(Value::String(text)) => Some(text),
            Some(_) => {
                self.wrong(field, "wrong_type", "must be a string or null");
                None
            }
        }
    }

    /// A list of texts that may be left out or null: then it is empty.
    pub(super) fn texts(&mut self, field: &str) -> Vec<String> {
        let items = match self.object.remove(field) {
            None | Some(Value::Null) => return Vec::new(),
            Some(Value::Array(items)) => items,
            Some(_) => {
                self.wrong(field, "wrong_type", "must be a list of strings");
                return Vec::new();
            }
        };
        let texts: Option<Vec<String>> = items.iter().map(|item| item.as_str().map(str::to_owned)).collect();
        texts.unwrap_or_else(|| {
            self.wrong(field, "wrong_type", "must be a list of strings");
            Vec::new()
        })
    }

    /// An integer that may be left out or null. `1.0` and `1e2` are no integers.
    pub(super) fn optional_integer(&mut self, field: &str) -> Option<i64> {
        match self.object.remove(field) {
            None | Some(Value::Null) => None,
            Some(value) => {
                let integer = value.as_i64();
                if integer.is_none() {
                    self.wrong(field, "wrong_type", "must be an integer or null, written without fraction or exponent");
                }
                integer
            }
        }
    }

    /// An integer that must be there. `1.0` and `1e2` are no integers.
    pub(super) fn integer(&mut self, field: &str) -> i64 {
        let Some(value) = self.object.remove(field) else {
            self.wrong(field, "required", "must be there");
            return 0;
        };
        value.as_i64().unwrap_or_else(|| {
            self.wrong(field, "wrong_type", "must be an integer, written without fraction or exponent");
            0
        })
    }

    /// A moment that must be there.
    pub(super) fn instant(&mut self, field: &str) -> Instant {
        let text = self.text(field);
        if self.wrong.iter().any(|wrong| wrong.pointer == format!("/{field}")) {
            return Instant::UNIX_EPOCH;
        }
        super::extract::parse_instant(&text).unwrap_or_else(|| {
            self.wrong(field, "wrong_type", "must be a time such as 2026-11-30T09:00:00Z, from 1970 to 2199");
            Instant::UNIX_EPOCH
        })
    }

    /// A yes or no that must be there.
    pub(super) fn flag(&mut self, field: &str) -> bool {
        match self.object.remove(field) {
            Some(Value::Bool(flag)) => flag,
            Some(_) => {
                self.wrong(field, "wrong_type", "must be true or false");
                false
            }
            None => {
                self.wrong(field, "required", "must be there");
                false
            }
        }
    }

    /// A UUID that must be there.
    pub(super) fn uuid(&mut self, field: &str) -> uuid::Uuid {
        let text = self.text(field);
        if self.wrong.iter().any(|wrong| wrong.pointer == format!("/{field}")) {
            return uuid::Uuid::nil();
        }
        super::extract::parse_uuid(&text).unwrap_or_else(|| {
            self.wrong(field, "wrong_type", "must be a UUID");
            uuid::Uuid::nil()
        })
    }

    /// Notes members that must be present, null or not: a body that replaces a whole must name the whole.
    pub(super) fn require(&mut self, fields: &[&str]) {
        for field in fields {
            if !self.object.contains_key(*field) {
                self.wrong(field, "required", "must be there, null or not: this call replaces the whole");
            }
        }
    }

    /// Ends with every mistake of shape: unknown members, then wrong types, then a missing version.
    pub(super) fn finish(self) -> Result<(), Problem> {
        if !self.object.is_empty() {
            // Some of them will do: an answer must not be many times as long as the call.
            let unknown = self.object.keys().take(UNKNOWN_TOLD).map(|key| Violation {
                // RFC 6901
                pointer: format!("/{}", key.replace('~', "~0").replace('/', "~1")),
                code: "unknown_field".to_owned(),
                detail: "is not known here".to_owned(),
            });
            return Err(Problem::invalid(Code::UnknownField, unknown.collect()));
        }
        if !self.wrong.is_empty() {
            return Err(Problem::invalid(Code::ValidationFailed, self.wrong));
        }
        if self.version_missing {
            return Err(Problem::new(Code::VersionRequired, "Send the `version` that you saw."));
        }
        Ok(())
    }
}
