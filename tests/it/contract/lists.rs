//! The lists in `docs` against what they list.

use super::read;
use std::collections::{BTreeMap, BTreeSet};

/// The (section, key, value) of a TOML file in which every value stands on the line of its key.
fn toml(text: &str) -> Vec<(String, String, String)> {
    let mut section = String::new();
    let mut found = Vec::new();
    for row in text.lines().filter(|row| !row.starts_with('#')) {
        if let Some(name) = row.strip_prefix('[').and_then(|rest| rest.strip_suffix(']')) {
            name.clone_into(&mut section);
        } else if let Some((key, value)) = row.split_once(" = ") {
            found.push((section.clone(), key.to_owned(), value.to_owned()));
        }
    }
    found
}

/// The rows of the tables of a page: their cells, without the heads.
fn rows(page: &str) -> Vec<Vec<String>> {
    let cells = |row: &str| row.trim_matches('|').split(" | ").map(|cell| cell.trim().to_owned()).collect();
    page.lines().filter(|row| row.starts_with("| `")).map(cells).collect()
}

#[test]
fn every_dependency_has_its_reason_and_every_reason_its_dependency() {
    let page = read("docs/dependencies.md");
    let mut listed = BTreeSet::new();
    for row in rows(&page) {
        let [name, reason] = row.as_slice() else { panic!("two cells: {row:?}") };
        assert!(reason.len() > 20, "{name}: a reason, please");
        assert!(listed.insert(name.trim_matches('`').to_owned()), "{name} stands there twice");
    }
    let manifest = toml(&read("Cargo.toml"));
    let sections = ["dependencies", "dev-dependencies"];
    let used: BTreeSet<_> = manifest
        .into_iter()
        .filter(|(section, ..)| sections.contains(&section.as_str()))
        .map(|(_, name, _)| name)
        .collect();
    assert!(used.len() > 20, "{used:?}");
    assert_eq!(listed, used);
}

#[test]
fn every_setting_is_described_with_its_default() {
    let page = read("docs/configuration.md");
    let mut described = BTreeMap::new();
    for row in rows(&page).into_iter().filter(|row| row[0].contains('.')) {
        let [key, variable, default, meaning] = row.as_slice() else { panic!("four cells: {row:?}") };
        let key = key.trim_matches('`').to_owned();
        let (section, name) = key.split_once('.').unwrap();
        assert_eq!(*variable, format!("`RINGI__{}__{}`", section.to_uppercase(), name.to_uppercase()));
        assert!(meaning.len() > 20, "{key}: a meaning, please");
        assert!(
            described.insert(key.clone(), default.trim_matches('`').to_owned()).is_none(),
            "{key} stands there twice"
        );
    }
    let settings: BTreeMap<_, _> = toml(&read("config/default.toml"))
        .into_iter()
        .map(|(section, key, value)| (format!("{section}.{key}"), value))
        .collect();
    assert!(settings.len() > 20, "{settings:?}");
    assert_eq!(described, settings);
}
