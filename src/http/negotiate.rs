//! Which of several media types a client wants (RFC 9110, 12.5.1).

use super::problem::{Code, Problem};
use actix_web::HttpRequest;
use actix_web::http::header;

/// The best of `offers`, which stand in our own order of preference. No header: the first.
///
/// # Errors
/// 406 `not_acceptable`, also for a header that can't be read.
pub(super) fn accepted<T: Copy>(request: &HttpRequest, offers: &[(&'static str, T)]) -> Result<T, Problem> {
    let values: Option<Vec<_>> = request.headers().get_all(header::ACCEPT).map(|value| value.to_str().ok()).collect();
    let wanted = values.map(|values| values.join(","));
    wanted.and_then(|wanted| choose(&wanted, offers)).ok_or_else(|| {
        let names: Vec<_> = offers.iter().map(|(name, _)| *name).collect();
        Problem::new(Code::NotAcceptable, format!("Ask for one of: {}.", names.join(", ")))
    })
}

fn choose<T: Copy>(wanted: &str, offers: &[(&'static str, T)]) -> Option<T> {
    if wanted.trim().is_empty() {
        return offers.first().map(|(_, offer)| *offer);
    }
    let ranges: Vec<_> =
        wanted.split(',').filter(|range| !range.trim().is_empty()).map(range).collect::<Option<_>>()?;
    let mut best: Option<(u16, T)> = None;
    for (name, offer) in offers {
        // The most specific range that fits says how much the type is wanted.
        let fitting = ranges.iter().filter_map(|(range, quality)| Some((fits(range, name)?, *quality)));
        let Some((_, quality)) = fitting.max_by_key(|(specific, _)| *specific) else { continue };
        if quality > 0 && best.is_none_or(|(least, _)| quality > least) {
            best = Some((quality, *offer));
        }
    }
    best.map(|(_, offer)| offer)
}

/// A media range and its quality in thousandths. Other parameters, such as a charset, are not looked at.
fn range(text: &str) -> Option<(String, u16)> {
    let mut parts = text.split(';').map(str::trim);
    let name = parts.next()?.to_ascii_lowercase();
    let (kind, subtype) = name.split_once('/')?;
    if kind.is_empty() || subtype.is_empty() || (kind == "*" && subtype != "*") {
        return None;
    }
    let mut quality = 1000;
    for parameter in parts {
        let (key, value) = parameter.split_once('=')?;
        if key.trim().eq_ignore_ascii_case("q") {
            quality = thousandths(value.trim())?;
        }
    }
    Some((name, quality))
}

fn thousandths(text: &str) -> Option<u16> {
    let (whole, fraction) = text.split_once('.').unwrap_or((text, ""));
    let digits = |text: &str| text.bytes().all(|b| b.is_ascii_digit());
    if !matches!(whole, "0" | "1") || fraction.len() > 3 || !digits(fraction) {
        return None;
    }
    let value: u16 = format!("{whole}{fraction:0<3}").parse().ok()?;
    (value <= 1000).then_some(value)
}

/// How specifically a range names a type. `None`: not at all.
fn fits(range: &str, name: &str) -> Option<u8> {
    match range.split_once('/')? {
        ("*", _) => Some(0),
        (kind, "*") => (name.split_once('/')?.0 == kind).then_some(1),
        _ => (range == name).then_some(2),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_type_that_is_wanted_most() {
        let offers = [("application/json", 'j'), ("text/csv", 'c'), ("application/x-ndjson", 'n')];
        for (wanted, chosen) in [
            ("", Some('j')),
            ("*/*", Some('j')),
            ("application/*", Some('j')),
            ("text/*", Some('c')),
            ("text/csv", Some('c')),
            ("Text/CSV; charset=utf-8", Some('c')),
            ("application/x-ndjson", Some('n')),
            ("text/html, */*;q=0.1", Some('j')),
            ("application/json;q=0.5, text/csv;q=0.9", Some('c')),
            ("application/json;q=0, */*", Some('c')),
            ("text/html,application/xhtml+xml", None),
            ("text/csv;q=0", None),
            ("text/csv;q=2", None),
            ("text", None),
            ("*/csv", None),
        ] {
            assert_eq!(choose(wanted, &offers), chosen, "{wanted}");
        }
    }
}
