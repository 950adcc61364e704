//! The OpenAPI document.

/// The document as JSON.
#[must_use]
pub fn json() -> String {
    "{}".to_owned()
}

/// The document as a page.
#[must_use]
pub fn html() -> String {
    String::new()
}
