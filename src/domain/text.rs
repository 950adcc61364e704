//! What counts as text that a person can read. Lengths are counted in Unicode scalar values, here, in the database
//! (`char_length`) and in the page alike; nothing is ever trimmed.

use icu_properties::CodePointSetData;
use icu_properties::props::DefaultIgnorableCodePoint;
use std::borrow::Cow;
use validator::ValidationError;

/// The longest display name or title, in Unicode scalar values.
pub const LINE_MAX: u64 = 200;
/// The longest description, in Unicode scalar values.
pub const DESCRIPTION_MAX: u64 = 10_000;
/// The longest reason, in Unicode scalar values.
pub const REASON_MAX: u64 = 2_000;

/// One rule that the input breaks: where (a JSON pointer), a stable code, and a sentence for a person.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Violation {
    /// A JSON pointer into the body, such as `/title`.
    pub pointer: String,
    /// Stable, `snake_case`.
    pub code: String,
    /// What is wrong and what would be right. Never echoes the value.
    pub detail: String,
}

impl Violation {
    /// A violation at the body's member `field`.
    #[must_use]
    pub fn new(field: &str, code: &str, detail: impl Into<String>) -> Self {
        Self { pointer: format!("/{field}"), code: code.to_owned(), detail: detail.into() }
    }
}

/// True when a person would see nothing: only white space, zero-width and other invisible characters.
#[must_use]
pub fn is_blank(text: &str) -> bool {
    let invisible = CodePointSetData::new::<DefaultIgnorableCodePoint>();
    text.chars().all(|c| c.is_whitespace() || c.is_control() || invisible.contains(c))
}

/// True when a person would see every character: no white space, no control, no zero-width or other invisible one.
/// Two such texts that differ in their bytes can be told apart in a log.
#[must_use]
pub fn is_all_visible(text: &str) -> bool {
    let invisible = CodePointSetData::new::<DefaultIgnorableCodePoint>();
    !text.chars().any(|c| c.is_whitespace() || c.is_control() || invisible.contains(c))
}

/// A single line: not blank, no control characters. For titles and names.
///
/// # Errors
/// `blank` or `control_character`.
pub fn line(text: &str) -> Result<(), ValidationError> {
    not_blank(text)?;
    no_control(text, &[])
}

/// Paragraphs: no control characters but TAB and LF. May be empty.
///
/// # Errors
/// `control_character`.
pub fn paragraphs(text: &str) -> Result<(), ValidationError> {
    no_control(text, &['\t', '\n'])
}

/// A reason: paragraphs that are not blank.
///
/// # Errors
/// `blank` or `control_character`.
pub fn reason(text: &str) -> Result<(), ValidationError> {
    not_blank(text)?;
    paragraphs(text)
}

fn not_blank(text: &str) -> Result<(), ValidationError> {
    // An empty text is told by the rule of length alone: one mistake, one message.
    if !text.is_empty() && is_blank(text) {
        return Err(violation("blank", "must contain something that can be read"));
    }
    Ok(())
}

fn no_control(text: &str, allowed: &[char]) -> Result<(), ValidationError> {
    if text.chars().any(|c| c.is_control() && !allowed.contains(&c)) {
        return Err(violation("control_character", "must not contain control characters"));
    }
    Ok(())
}

/// The same on one line: control characters, line breaks among them, become single spaces. For where a text that people
/// wrote stands inside a line of ours.
#[must_use]
pub fn one_line(text: &str) -> String {
    let mut line = String::with_capacity(text.len());
    for word in text.split(char::is_control).filter(|word| !word.is_empty()) {
        if !line.is_empty() {
            line.push(' ');
        }
        line.push_str(word);
    }
    line
}

/// Text as HTML text, also inside an attribute in double quotes.
#[must_use]
pub fn escape_html(text: &str) -> String {
    let mut escaped = String::with_capacity(text.len());
    for c in text.chars() {
        match c {
            '&' => escaped.push_str("&amp;"),
            '<' => escaped.push_str("&lt;"),
            '>' => escaped.push_str("&gt;"),
            '"' => escaped.push_str("&quot;"),
            '\'' => escaped.push_str("&#39;"),
            other => escaped.push(other),
        }
    }
    escaped
}

pub(crate) fn violation(code: &'static str, message: &'static str) -> ValidationError {
    ValidationError::new(code).with_message(Cow::Borrowed(message))
}

/// Turns the findings of the `validator` rules into violations, in a stable order. The values themselves are
/// dropped: an answer must not reflect what may be a secret pasted into the wrong field.
#[must_use]
pub fn violations(errors: &validator::ValidationErrors) -> Vec<Violation> {
    let mut found: Vec<Violation> = errors
        .field_errors()
        .iter()
        .flat_map(|(field, errors)| {
            errors.iter().map(move |error| {
                Violation::new(field, &error.code, error.message.as_deref().unwrap_or("is not acceptable"))
            })
        })
        .collect();
    found.sort_by(|a, b| (&a.pointer, &a.code).cmp(&(&b.pointer, &b.code)));
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_nobody_can_see_is_blank() {
        for blank in ["", " ", "\u{3000}", "\u{200b}\u{200d}\u{feff}", "\u{2060}\t\n", "\u{00ad}", "\u{3164}"] {
            assert!(is_blank(blank), "{blank:?}");
        }
        for visible in ["a", " a ", "稟議", "\u{200b}x", "👩‍👩‍👧"] {
            assert!(!is_blank(visible), "{visible:?}");
        }
    }

    #[test]
    fn a_line_has_no_line_breaks_and_paragraphs_do() {
        assert!(line("出張費").is_ok());
        assert!(line("a\nb").is_err());
        assert!(line("a\u{0}b").is_err());
        assert!(paragraphs("a\n\tb").is_ok());
        assert!(paragraphs("a\rb").is_err());
        assert!(paragraphs("").is_ok());
    }
}
