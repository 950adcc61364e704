//! The lists in `docs` against what they list.

use super::{read, root};
use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

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

/// The pages for people: in `docs`, and those that stand at the top.
fn pages() -> Vec<String> {
    let mut pages: Vec<String> = ["README.md", "CONTRIBUTING.md"].map(str::to_owned).into();
    for folder in ["docs", "docs/decisions"] {
        let files =
            std::fs::read_dir(root(folder)).unwrap().map(|file| file.unwrap().file_name().into_string().unwrap());
        let pages_of = files.filter(|name| Path::new(name).extension().is_some_and(|extension| extension == "md"));
        pages.extend(pages_of.map(|name| format!("{folder}/{name}")));
    }
    assert!(pages.len() > 20, "{pages:?}");
    pages
}

#[test]
fn every_link_and_every_named_file_is_there() {
    let mut wrong = Vec::new();
    for page in pages() {
        let text = read(&page);
        let folder = page.rsplit_once('/').map_or("", |(folder, _)| folder);
        for target in text.split("](").skip(1).map(|rest| rest.split([')', ' ']).next().unwrap()) {
            let file = target.split('#').next().unwrap();
            if !target.contains("://") && !file.is_empty() && !root(folder).join(file).exists() {
                wrong.push(format!("{page}: {target}"));
            }
        }
        // What stands between backquotes and begins as our files do.
        let ours = ["src/", "tests/", "scripts/", "ops/", "migrations/", "docs/", "config/"];
        for named in
            text.split('`').skip(1).step_by(2).filter(|named| ours.iter().any(|start| named.starts_with(start)))
        {
            let plain = named.bytes().all(|b| b.is_ascii_alphanumeric() || b"/._-".contains(&b));
            if plain && !root(named).exists() {
                wrong.push(format!("{page}: `{named}`"));
            }
        }
    }
    assert!(wrong.is_empty(), "{wrong:#?}");
}

/// A page that says which test proves something must be right about that.
#[test]
fn every_named_test_is_there() {
    let mut tests = String::new();
    for folder in ["tests/it", "tests/it/contract", "tests/it/torture"] {
        for file in std::fs::read_dir(root(folder)).unwrap() {
            let path = file.unwrap().path();
            if path.extension().is_some_and(|extension| extension == "rs") {
                tests.push_str(&std::fs::read_to_string(path).unwrap());
            }
        }
    }
    let page = read("docs/security.md") + &read("docs/scaling.md");
    let words =
        page.split('`').filter(|name| name.bytes().all(|b| b.is_ascii_lowercase() || b == b'_' || b.is_ascii_digit()));
    let named: BTreeSet<_> = words.filter(|name| name.matches('_').count() >= 4).collect();
    assert!(named.len() >= 5, "{named:?}");
    let missing: Vec<_> = named.iter().filter(|name| !tests.contains(&format!("fn {name}("))).collect();
    assert!(missing.is_empty(), "{missing:?}");
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
