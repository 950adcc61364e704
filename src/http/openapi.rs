//! The OpenAPI document: put together once, from the table of operations, the types that are written, and the
//! conventions in prose.

mod markdown;
mod operations;
mod page;
mod paths;
mod schemas;

use super::problem::Code;
use serde::Serialize;
use serde_json::{Value, json};
use std::sync::LazyLock;

/// The members in the order in which a reader wants them.
#[derive(Serialize)]
struct Document {
    openapi: &'static str,
    info: Value,
    servers: Value,
    security: Value,
    tags: Value,
    paths: Value,
    components: Value,
}

fn document() -> Document {
    let tag = |(name, description): &(&str, &str)| json!({"name": name, "description": description});
    let bearer = json!({"type": "http", "scheme": "bearer", "bearerFormat": "JWT",
        "description": "A signed token whose `sub` is the user's UUID. It says who is asking; what that person may do is read from the membership."});
    Document {
        openapi: "3.1.0",
        info: json!({
            "title": "Ringi",
            "version": env!("CARGO_PKG_VERSION"),
            "summary": "An approval workflow whose decisions hold when two people decide at once.",
            "description": description(),
            "license": {"name": "Apache License 2.0", "identifier": env!("CARGO_PKG_LICENSE")},
        }),
        servers: json!([{"url": "/"}]),
        security: json!([{"bearer": []}]),
        tags: operations::TAGS.iter().map(tag).collect(),
        paths: paths::paths(),
        components: json!({
            "securitySchemes": {"bearer": bearer},
            "schemas": schemas::schemas(),
            "parameters": schemas::parameters(),
            "headers": schemas::headers(),
            "responses": paths::shared_responses(),
        }),
    }
}

/// The conventions, with the table of codes as it is.
fn description() -> String {
    let line = |code: &Code| format!("- {} `{}`: {}\n", code.status(), code.as_str(), code.title());
    let codes: String = Code::ALL.iter().map(line).collect();
    include_str!("openapi/conventions.md").replace("{codes}\n", &codes)
}

/// The document as JSON.
#[must_use]
pub fn json() -> &'static str {
    #[expect(clippy::expect_used, reason = "values with string keys can't fail to be written, and a test writes them")]
    static JSON: LazyLock<String> =
        LazyLock::new(|| serde_json::to_string_pretty(&document()).expect("a document is always JSON"));
    &JSON
}

/// The document as a page for people.
#[must_use]
pub fn html() -> &'static str {
    static HTML: LazyLock<String> = LazyLock::new(|| page::render(&json!(document())));
    &HTML
}
