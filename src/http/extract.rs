//! What a request carries besides its body: path, query, cursor, idempotency key.

use super::problem::{Code, Problem};
use crate::domain::Instant;
use crate::domain::period::Period;
use actix_web::HttpRequest;
use base64::Engine;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use chrono::{DateTime, Datelike, Timelike};
use percent_encoding::percent_decode_str;
use sha2::{Digest, Sha256};
use std::collections::BTreeMap;
use uuid::Uuid;

/// A UUID in its one canonical form, with hyphens.
pub(super) fn parse_uuid(text: &str) -> Option<Uuid> {
    (text.len() == 36).then(|| Uuid::try_parse(text).ok()).flatten()
}

/// A path segment that is a UUID.
pub(super) fn path_uuid(request: &HttpRequest, name: &str) -> Result<Uuid, Problem> {
    parse_uuid(request.match_info().query(name)).ok_or_else(|| {
        Problem::new(
            Code::InvalidPath,
            format!("`{name}` must be a UUID, such as 0197c0de-0000-7000-8000-000000000000."),
        )
    })
}

/// A path segment that is a version.
pub(super) fn path_version(request: &HttpRequest, name: &str) -> Result<i64, Problem> {
    let text = request.match_info().query(name);
    let digits = !text.is_empty() && text.bytes().all(|b| b.is_ascii_digit());
    // More digits than an i64 holds are a version that does not exist, not a path of the wrong type.
    if digits {
        Ok(text.parse().unwrap_or(i64::MAX))
    } else {
        Err(Problem::new(Code::InvalidPath, format!("`{name}` must be an integer.")))
    }
}

/// A path segment that is a month.
pub(super) fn path_period(request: &HttpRequest) -> Result<Period, Problem> {
    Period::parse(request.match_info().query("period")).ok_or_else(|| {
        Problem::new(Code::InvalidPath, "`period` must be a month such as 2026-10, from 1970-01 to 2199-12.")
    })
}

/// Checks the key of an `Idempotency-Key` header: 1 to 255 visible ASCII characters, with or without quotes.
pub(super) fn idempotency_key(request: &HttpRequest) -> Result<Option<String>, Problem> {
    let mut values = request.headers().get_all("idempotency-key");
    let Some(value) = values.next() else { return Ok(None) };
    let text = value.to_str().unwrap_or_default();
    let key = text.strip_prefix('"').and_then(|rest| rest.strip_suffix('"')).unwrap_or(text);
    let valid = (1..=255).contains(&key.len()) && key.bytes().all(|b| b.is_ascii_graphic());
    if valid && values.next().is_none() {
        return Ok(Some(key.to_owned()));
    }
    Err(Problem::new(Code::InvalidIdempotencyKey, "Send one key of 1 to 255 visible ASCII characters, such as a UUID."))
}

/// The parameters of a query, each known and given once.
#[derive(Debug)]
pub(super) struct Query(BTreeMap<String, String>);

impl Query {
    pub(super) fn parse(request: &HttpRequest, known: &[&str]) -> Result<Self, Problem> {
        let mut parameters = BTreeMap::new();
        for pair in request.query_string().split('&').filter(|pair| !pair.is_empty()) {
            let (name, value) = pair.split_once('=').unwrap_or((pair, ""));
            let (Some(name), Some(value)) = (decode(name), decode(value)) else {
                return Err(invalid("The query must be percent-encoded UTF-8 without NUL."));
            };
            if !known.contains(&name.as_str()) {
                return Err(invalid(if known.is_empty() {
                    "This call has no parameters.".to_owned()
                } else {
                    format!("Unknown parameter. Known are: {}.", known.join(", "))
                }));
            }
            if parameters.insert(name.clone(), value).is_some() {
                return Err(invalid(format!("`{name}` is given twice.")));
            }
        }
        Ok(Self(parameters))
    }

    pub(super) fn get(&self, name: &str) -> Option<&str> {
        self.0.get(name).map(String::as_str)
    }

    /// A parameter with one of several meanings.
    pub(super) fn choice<T: Copy>(&self, name: &str, known: &[(&str, T)]) -> Result<Option<T>, Problem> {
        let Some(text) = self.get(name) else { return Ok(None) };
        let found = known.iter().find(|(known, _)| *known == text).map(|(_, meaning)| *meaning);
        found.map(Some).ok_or_else(|| {
            let names: Vec<_> = known.iter().map(|(name, _)| *name).collect();
            invalid(format!("`{name}` must be one of: {}.", names.join(", ")))
        })
    }

    pub(super) fn uuid(&self, name: &str) -> Result<Option<Uuid>, Problem> {
        let Some(text) = self.get(name) else { return Ok(None) };
        parse_uuid(text).map(Some).ok_or_else(|| invalid(format!("`{name}` must be a UUID.")))
    }

    pub(super) fn moment(&self, name: &str) -> Result<Option<Instant>, Problem> {
        let Some(text) = self.get(name) else { return Ok(None) };
        parse_moment(text)
            .map(Some)
            .ok_or_else(|| invalid(format!("`{name}` must be a time such as 2026-11-30T09:00:00Z, from 1970 to 2199.")))
    }

    pub(super) fn period(&self, name: &str) -> Result<Option<Period>, Problem> {
        let Some(text) = self.get(name) else { return Ok(None) };
        let period = Period::parse(text).map(Some);
        period.ok_or_else(|| invalid(format!("`{name}` must be a month such as 2026-10, from 1970-01 to 2199-12.")))
    }

    /// The version that the author of a write without a body saw.
    pub(super) fn version(&self) -> Result<Option<i64>, Problem> {
        let Some(text) = self.get("version") else { return Ok(None) };
        let digits = !text.is_empty() && text.bytes().all(|b| b.is_ascii_digit());
        match text.parse() {
            Ok(version) if digits => Ok(Some(version)),
            _ => Err(invalid("`version` must be an integer.")),
        }
    }

    /// 1 to 200, 50 when left out.
    pub(super) fn limit(&self) -> Result<u16, Problem> {
        let Some(text) = self.get("limit") else { return Ok(50) };
        let digits = !text.is_empty() && text.bytes().all(|b| b.is_ascii_digit());
        match text.parse() {
            Ok(limit @ 1..=200) if digits => Ok(limit),
            _ => Err(invalid("`limit` must be from 1 to 200.")),
        }
    }

    /// Names the list and its filters, so that a cursor can't be used under others. `limit` may change on the way.
    fn filters(&self, list: &str) -> [u8; 8] {
        let mut hasher = Sha256::new();
        hasher.update(list);
        for (name, value) in self.0.iter().filter(|(name, _)| !matches!(name.as_str(), "limit" | "cursor")) {
            hasher.update([0]);
            hasher.update(name);
            hasher.update([1]);
            hasher.update(value);
        }
        let mut short = [0; 8];
        for (to, from) in short.iter_mut().zip(hasher.finalize()) {
            *to = from;
        }
        short
    }

    /// The place after which a page begins.
    pub(super) fn cursor<P: CursorPlace>(&self, list: &str) -> Result<Option<P>, Problem> {
        let Some(text) = self.get("cursor") else { return Ok(None) };
        let place = URL_SAFE_NO_PAD.decode(text).ok().and_then(|bytes| {
            let (filters, place) = bytes.split_first_chunk::<8>()?;
            (*filters == self.filters(list)).then(|| P::from_bytes(place)).flatten()
        });
        place
            .map(Some)
            .ok_or_else(|| invalid("`cursor` must be a `next_cursor` of this list, sent with the same filters."))
    }

    /// The cursor of a place.
    pub(super) fn cursor_at<P: CursorPlace>(&self, list: &str, place: &P) -> String {
        let mut bytes = self.filters(list).to_vec();
        bytes.extend(place.to_bytes());
        URL_SAFE_NO_PAD.encode(bytes)
    }
}

pub(super) fn invalid(detail: impl Into<String>) -> Problem {
    Problem::new(Code::InvalidQuery, detail)
}

/// Form decoding, but strict: bad UTF-8 and NUL are refused, where the usual decoders replace or pass them.
fn decode(text: &str) -> Option<String> {
    let text = text.replace('+', " ");
    let decoded = percent_decode_str(&text).decode_utf8().ok()?;
    (!decoded.contains('\0')).then(|| decoded.into_owned())
}

/// A moment that bounds a selection. PostgreSQL keeps microseconds, and what is finer would move a bound: the next whole
/// one is the same bound.
pub(super) fn parse_moment(text: &str) -> Option<Instant> {
    let moment = parse_exactly(text)?;
    let beyond = i64::from(moment.nanosecond() % 1_000);
    let moment = if beyond == 0 { moment } else { moment + chrono::Duration::nanoseconds(1_000 - beyond) };
    in_range(moment).then_some(moment)
}

/// A moment to be kept: what is finer than a microsecond is left out, so that the last moment of a month stays in it.
pub(super) fn parse_instant(text: &str) -> Option<Instant> {
    let moment = parse_exactly(text)?;
    let moment = moment - chrono::Duration::nanoseconds(i64::from(moment.nanosecond() % 1_000));
    in_range(moment).then_some(moment)
}

/// RFC 3339 to the letter: chrono also takes spaces, leap seconds and years that PostgreSQL refuses.
fn parse_exactly(text: &str) -> Option<Instant> {
    let shape = text.bytes().zip(*b"dddd-dd-ddTdd:dd:dd").all(|(byte, form)| match form {
        b'd' => byte.is_ascii_digit(),
        other => byte == other,
    });
    if !shape || text.len() < 20 {
        return None;
    }
    let moment = DateTime::parse_from_rfc3339(text).ok()?;
    // chrono keeps a leap second as 59 s and more than a second of nanoseconds.
    (moment.nanosecond() < 1_000_000_000).then(|| moment.to_utc())
}

fn in_range(moment: Instant) -> bool {
    (1970..2200).contains(&moment.year())
}

/// A place in a list's order, as the bytes of a cursor.
pub(super) trait CursorPlace: Sized {
    fn to_bytes(&self) -> Vec<u8>;
    fn from_bytes(bytes: &[u8]) -> Option<Self>;
}

impl CursorPlace for i64 {
    fn to_bytes(&self) -> Vec<u8> {
        self.to_be_bytes().to_vec()
    }

    fn from_bytes(bytes: &[u8]) -> Option<Self> {
        Some(Self::from_be_bytes(bytes.try_into().ok()?))
    }
}

impl CursorPlace for Uuid {
    fn to_bytes(&self) -> Vec<u8> {
        self.as_bytes().to_vec()
    }

    fn from_bytes(bytes: &[u8]) -> Option<Self> {
        Self::from_slice(bytes).ok()
    }
}

impl CursorPlace for (Instant, Uuid) {
    fn to_bytes(&self) -> Vec<u8> {
        let mut bytes = self.0.timestamp_micros().to_be_bytes().to_vec();
        bytes.extend(self.1.as_bytes());
        bytes
    }

    fn from_bytes(bytes: &[u8]) -> Option<Self> {
        let (at, id) = bytes.split_first_chunk::<8>()?;
        let at = DateTime::from_timestamp_micros(i64::from_be_bytes(*at))?;
        in_range(at).then_some((at, Uuid::from_slice(id).ok()?))
    }
}

impl CursorPlace for crate::approvals::view::Place {
    fn to_bytes(&self) -> Vec<u8> {
        (self.created_at, self.id).to_bytes()
    }

    fn from_bytes(bytes: &[u8]) -> Option<Self> {
        let (created_at, id) = CursorPlace::from_bytes(bytes)?;
        Some(Self { created_at, id })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn moments_are_rfc_3339_to_the_letter() {
        for good in ["2026-11-30T09:00:00Z", "2026-11-30T18:00:00.123456+09:00"] {
            assert!(parse_moment(good).is_some(), "{good}");
        }
        for bad in [
            "",
            "2026-11-30",
            "2026-11-30 09:00:00Z",
            "2026-11-30T09:00:60Z",
            "-5000-01-01T00:00:00Z",
            "+12026-01-01T00:00:00Z",
            "1969-12-31T23:59:59Z",
            "2200-01-01T00:00:00Z",
            "2026-13-01T00:00:00Z",
            "2026-11-30T09:00:00",
            "2026-11-30t09:00:00Z",
        ] {
            assert!(parse_moment(bad).is_none(), "{bad}");
        }
    }

    #[test]
    fn a_moment_to_be_kept_stays_in_its_month() {
        let last = parse_instant("2026-11-30T23:59:59.999999Z");
        assert_eq!(parse_instant("2026-11-30T23:59:59.999999999Z"), last);
        assert_ne!(parse_moment("2026-11-30T23:59:59.999999999Z"), last);
    }

    #[test]
    fn a_moment_between_two_microseconds_is_the_later_one() {
        let whole = parse_moment("2026-11-30T09:00:00.077415Z");
        assert_eq!(parse_moment("2026-11-30T09:00:00.077414999Z"), whole);
        assert_eq!(parse_moment("2026-11-30T09:00:00.077415000Z"), whole);
    }

    proptest! {
        #[test]
        fn no_bytes_of_a_cursor_panic(bytes in proptest::collection::vec(any::<u8>(), 0..40)) {
            let _ = i64::from_bytes(&bytes);
            let _ = <(Instant, Uuid)>::from_bytes(&bytes);
        }

        #[test]
        fn places_survive_their_cursor(micros in 0_i64..7_000_000_000_000_000, id in any::<u128>()) {
            let place = (DateTime::from_timestamp_micros(micros).expect("in range"), Uuid::from_u128(id));
            prop_assert_eq!(<(Instant, Uuid)>::from_bytes(&place.to_bytes()), Some(place));
        }
    }
}
