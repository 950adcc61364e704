//! What others rely on, held: the document of the API, the directions of the code, the keys of the tables, and the
//! lists in `docs`.

mod catalog;
mod document;
mod figures;
mod lists;
mod schema;
mod sources;

use std::path::{Path, PathBuf};

/// A path of the repository.
fn root(path: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join(path)
}

/// A file of the repository.
fn read(path: &str) -> String {
    std::fs::read_to_string(root(path)).unwrap_or_else(|error| panic!("{path}: {error}"))
}

/// The document is the contract: whoever changes it must see what he changes.
#[test]
fn the_openapi_document_is_as_it_was_agreed() {
    let version = format!("\"version\": \"{}\"", env!("CARGO_PKG_VERSION"));
    let document = ringi::http::openapi::json().replace(&version, "\"version\": \"[of the package]\"");
    insta::assert_snapshot!("openapi", document);
}
