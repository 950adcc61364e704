//! What operators look at (`ops/`), against what the program counts.

use super::{read, root};
use ringi::http::problem::Code;
use serde_json::Value;
use std::collections::{BTreeMap, BTreeSet};

/// A figure: how it is counted, and by which labels.
#[derive(Debug, Default)]
struct Figure {
    kind: String,
    labels: BTreeSet<String>,
}

fn source() -> String {
    fn below(folder: &std::path::Path, text: &mut String) {
        for entry in std::fs::read_dir(folder).unwrap() {
            let path = entry.unwrap().path();
            if path.is_dir() {
                below(&path, text);
            } else if path.extension().is_some_and(|extension| extension == "rs") {
                text.push_str(&std::fs::read_to_string(path).unwrap());
            }
        }
    }
    let mut text = String::new();
    below(&root("src"), &mut text);
    text
}

/// The texts in the parentheses that `code` begins with, each with what follows it.
fn texts(code: &str) -> Vec<(String, &str)> {
    let (mut depth, mut at, mut found) = (0, 0, Vec::new());
    while let Some(c) = code[at..].chars().next() {
        match c {
            '(' => depth += 1,
            ')' if depth == 1 => break,
            ')' => depth -= 1,
            '"' => {
                let end = at + 1 + code[at + 1..].find('"').unwrap();
                found.push((code[at + 1..end].to_owned(), code[end + 1..].trim_start()));
                at = end;
            }
            _ => {}
        }
        at += c.len_utf8();
    }
    found
}

/// What the code counts, and what is said of it to who reads `/metrics`.
fn counted(source: &str) -> (BTreeMap<String, Figure>, BTreeSet<String>) {
    let (mut counted, mut described) = (BTreeMap::<String, Figure>::new(), BTreeSet::new());
    for kind in ["counter", "gauge", "histogram"] {
        for (at, found) in source.match_indices(&format!("metrics::{kind}!")) {
            let texts = texts(&source[at + found.len()..]);
            let figure = counted.entry(texts[0].0.clone()).or_default();
            kind.clone_into(&mut figure.kind);
            figure
                .labels
                .extend(texts[1..].iter().filter(|(_, after)| after.starts_with("=>")).map(|(t, _)| t.clone()));
        }
        for (at, found) in source.match_indices(&format!("metrics::describe_{kind}!")) {
            described.insert(texts(&source[at + found.len()..])[0].0.clone());
        }
    }
    (counted, described)
}

#[test]
fn every_figure_is_described_and_every_description_has_its_figure() {
    let (counted, described) = counted(&source());
    assert!(counted.len() > 20, "{counted:?}");
    assert_eq!(counted.into_keys().collect::<BTreeSet<_>>(), described);
}

/// The expressions of the dashboard and of the rules.
fn expressions() -> Vec<String> {
    fn of(value: &Value, found: &mut Vec<String>) {
        match value {
            Value::Object(members) => {
                found.extend(members.get("expr").and_then(Value::as_str).map(str::to_owned));
                members.values().for_each(|value| of(value, found));
            }
            Value::Array(items) => items.iter().for_each(|value| of(value, found)),
            _ => {}
        }
    }
    let dashboard: Value = serde_json::from_str(&read("ops/grafana-dashboard.json")).unwrap();
    let mut found = Vec::new();
    of(&dashboard, &mut found);
    let panels = found.len();
    found.extend(
        read("ops/alerts.yaml").lines().filter_map(|line| line.trim().strip_prefix("expr: ")).map(str::to_owned),
    );
    assert!(panels > 10 && found.len() > panels + 10, "{found:#?}");
    found
}

/// A figure's name, and what is asked of its labels: label, operator, value.
type Named = (String, Vec<[String; 3]>);

/// What an expression names: figures, each with its matchers (label, operator, value), and the labels that it groups by.
fn named(expression: &str) -> (Vec<Named>, Vec<String>) {
    let word = |c: char| c.is_ascii_alphanumeric() || c == '_';
    let mut figures = Vec::new();
    for (at, _) in expression.match_indices("ringi_") {
        let name: String = expression[at..].chars().take_while(|c| word(*c)).collect();
        let rest = &expression[at + name.len()..];
        let inside = rest.strip_prefix('{').map_or("", |rest| rest.split_once('}').unwrap().0);
        let matchers = inside.split(',').filter(|part| !part.is_empty()).map(|part| {
            let label: String = part.chars().take_while(|c| word(*c)).collect();
            let (operator, value) = part[label.len()..].split_once('"').unwrap();
            [label, operator.to_owned(), value.trim_end_matches('"').to_owned()]
        });
        figures.push((name, matchers.collect()));
    }
    let groups = expression.split("by (").skip(1).flat_map(|rest| rest.split_once(')').unwrap().0.split(", "));
    (figures, groups.map(str::to_owned).collect())
}

#[test]
fn dashboard_and_alerts_name_what_there_is() {
    let source = source();
    let (counted, _) = counted(&source);
    let mut wrong = Vec::new();
    for expression in expressions() {
        let (figures, groups) = named(&expression);
        let mut labels: BTreeSet<&str> = ["le", "instance", "job"].into();
        for (name, matchers) in &figures {
            let parts = ["_bucket", "_sum", "_count"].iter().find_map(|suffix| name.strip_suffix(suffix));
            let figure = counted.get(name).filter(|figure| figure.kind != "histogram");
            let figure = figure.or_else(|| counted.get(parts?).filter(|figure| figure.kind == "histogram"));
            let Some(figure) = figure else {
                wrong.push(format!("no figure {name}: {expression}"));
                continue;
            };
            // A counter alone says nothing but how old the process is.
            let is_rate = expression.contains("rate(") || expression.contains("increase(");
            if name.ends_with("_total") && !is_rate {
                wrong.push(format!("a counter without rate: {expression}"));
            }
            labels.extend(figure.labels.iter().map(String::as_str));
            for [label, operator, value] in matchers {
                let known = figure.labels.contains(label) || ["instance", "job"].contains(&label.as_str());
                let exact = ["=", "!="].contains(&operator.as_str());
                let meant = source.contains(&format!("\"{value}\"")) || Code::ALL.iter().any(|c| c.as_str() == value);
                if !known || (exact && !meant) {
                    wrong.push(format!("{label}{operator}{value:?} of {name}: {expression}"));
                }
            }
        }
        let unknown = groups.iter().filter(|group| !labels.contains(group.as_str()));
        wrong.extend(unknown.map(|group| format!("by ({group}): {expression}")));
    }
    assert!(wrong.is_empty(), "{wrong:#?}");
}
