//! The directions of the code, as `src/lib.rs` promises them, and what every SQL statement must name.

use super::{read, root};
use std::collections::BTreeSet;
use std::path::Path;

/// A source file without its comments, its texts apart.
#[derive(Default)]
pub struct Source {
    /// Below the repository, such as `src/pg/mod.rs`.
    pub path: String,
    /// The code, texts left out.
    pub code: String,
    /// The texts, each with the code just before it.
    pub texts: Vec<(String, String)>,
}

pub fn file(path: &str) -> Source {
    let mut source = Source { path: path.to_owned(), ..Source::default() };
    let text: Vec<char> = read(path).chars().collect();
    let starts = |at: usize, what: &str| what.chars().enumerate().all(|(n, c)| text.get(at + n) == Some(&c));
    let mut at = 0;
    while at < text.len() {
        if starts(at, "//") {
            at += text[at..].iter().take_while(|c| **c != '\n').count();
        } else if starts(at, "/*") {
            panic!("{path}: a block comment, which this reader does not know");
        } else if starts(at, "r\"") || starts(at, "r#\"") {
            let hash = text[at + 1] == '#';
            let (begin, end) = (at + 2 + usize::from(hash), if hash { "\"#" } else { "\"" });
            at = (begin..text.len()).find(|n| starts(*n, end)).unwrap();
            source.push(text[begin..at].iter().collect());
            at += end.len();
        } else if text[at] == '"' {
            let mut literal = String::new();
            at += 1;
            while text[at] != '"' {
                if text[at] == '\\' {
                    literal.push(if text[at + 1] == '\n' { ' ' } else { text[at + 1] });
                    at += 1;
                } else {
                    literal.push(text[at]);
                }
                at += 1;
            }
            source.push(literal);
            at += 1;
        } else if text[at] == '\'' && text.get(at + 1) == Some(&'\\') {
            at = (at + 3..text.len()).find(|n| text[*n] == '\'').unwrap() + 1;
        } else if text[at] == '\'' && text.get(at + 2) == Some(&'\'') {
            at += 3;
        } else {
            source.code.push(text[at]);
            at += 1;
        }
    }
    source
}

impl Source {
    fn push(&mut self, literal: String) {
        let before = self.code.trim_end().chars().rev().take(40).collect::<Vec<_>>().into_iter().rev().collect();
        self.texts.push((before, literal));
        self.code.push_str("\"\"");
    }

    /// Every name in the code.
    fn words(&self) -> BTreeSet<&str> {
        self.code.split(|c: char| !c.is_alphanumeric() && c != '_').collect()
    }

    fn is_below(&self, folder: &str) -> bool {
        self.path.starts_with(&format!("src/{folder}/")) || self.path == format!("src/{folder}.rs")
    }

    /// The modules of the crate that it names: `crate::a::b` and `crate::{a, b::c}`.
    fn imports(&self) -> BTreeSet<String> {
        let name =
            |text: &str| text.trim().chars().take_while(|c| c.is_alphanumeric() || *c == '_').collect::<String>();
        let mut found = BTreeSet::new();
        for (at, path) in self.code.match_indices("crate::") {
            let rest = &self.code[at + path.len()..];
            let Some(group) = rest.strip_prefix('{') else {
                found.insert(name(rest));
                continue;
            };
            let mut depth = 1;
            let mut parts = String::new();
            for c in group.chars() {
                depth += i32::from(c == '{') - i32::from(c == '}');
                match depth {
                    0 => break,
                    1 => parts.push(c),
                    _ => {}
                }
            }
            found.extend(parts.split(',').map(name).filter(|name| !name.is_empty()));
        }
        found
    }
}

fn files_below(folder: &Path, found: &mut Vec<String>) {
    for entry in std::fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            files_below(&path, found);
        } else if path.extension().is_some_and(|extension| extension == "rs") {
            found.push(path.strip_prefix(root("")).unwrap().to_str().unwrap().to_owned());
        }
    }
}

fn all() -> Vec<Source> {
    let mut paths = Vec::new();
    files_below(&root("src"), &mut paths);
    paths.sort();
    assert!(paths.len() > 40, "{paths:?}");
    paths.iter().map(|path| file(path)).collect()
}

/// Who may import whom. `app`, `cli` and `demo` put the parts together and may know everything.
const MAY_IMPORT: &[(&str, &[&str])] = &[
    ("domain", &["domain"]),
    ("transaction", &["domain", "transaction"]),
    ("lease", &["domain", "lease", "transaction"]),
    ("approvals", &["approvals", "domain", "transaction"]),
    ("members", &["members", "domain", "transaction"]),
    ("identity", &["identity", "domain", "transaction"]),
    ("outbound", &["domain", "outbound"]),
    ("tokens", &["domain", "outbound", "tokens"]),
    ("inspection", &["inspection", "domain", "transaction"]),
    ("closing", &["closing", "domain", "lease", "transaction"]),
    ("processing", &["domain", "lease", "outbound", "processing", "transaction"]),
    ("webhooks", &["domain", "lease", "outbound", "outbox", "transaction", "webhooks"]),
    ("outbox", &["domain", "lease", "outbox", "transaction"]),
    ("mail", &["domain", "mail", "outbox", "transaction"]),
    ("live", &["domain", "live", "transaction"]),
    (
        "pg",
        &[
            "approvals",
            "closing",
            "domain",
            "identity",
            "inspection",
            "lease",
            "mail",
            "live",
            "members",
            "outbox",
            "pg",
            "processing",
            "transaction",
            "webhooks",
        ],
    ),
    // `app` only for the names of the use cases on their store, and of the pools that readiness asks.
    (
        "http",
        &[
            "app",
            "approvals",
            "closing",
            "domain",
            "http",
            "inspection",
            "lifecycle",
            "mail",
            "live",
            "members",
            "processing",
            "tokens",
            "transaction",
            "webhooks",
        ],
    ),
];

#[test]
fn imports_go_in_the_directions_of_the_map() {
    let mut broken = Vec::new();
    for source in all() {
        let rule = MAY_IMPORT.iter().find(|(folder, _)| source.is_below(folder));
        for import in source.imports() {
            if rule.is_some_and(|(_, may)| !may.contains(&import.as_str())) {
                broken.push(format!("{} imports crate::{import}", source.path));
            }
        }
        // The way around: no module of a use case or of the rules climbs out of its folder.
        let climbs = [
            "domain",
            "transaction",
            "lease",
            "approvals",
            "members",
            "identity",
            "inspection",
            "closing",
            "mail",
            "processing",
            "webhooks",
            "outbox",
            "live",
        ]
        .iter()
        .any(|folder| source.is_below(folder));
        if climbs && source.code.contains("super::super") {
            broken.push(format!("{} climbs with super::super", source.path));
        }
    }
    assert!(broken.is_empty(), "{broken:#?}");
}

#[test]
fn frameworks_stay_where_they_live() {
    let mut broken = Vec::new();
    for source in all() {
        let words = source.words();
        let composes = ["src/app.rs", "src/cli.rs"].contains(&source.path.as_str());
        if words.contains("sqlx") && !source.is_below("pg") && !composes {
            broken.push(format!("{}: SQL belongs below src/pg", source.path));
        }
        let http = words.iter().any(|word| word.starts_with("actix"));
        if http && !source.is_below("http") && source.path != "src/app.rs" {
            broken.push(format!("{}: HTTP belongs below src/http", source.path));
        }
        let asynchronous = ["async", "await", "tokio", "futures_util", "Future", "std::fs", "std::net"];
        if source.is_below("domain")
            && asynchronous.iter().any(|word| words.contains(word) || source.code.contains(&format!("{word}::")))
        {
            broken.push(format!("{}: the rules do no I/O and never wait", source.path));
        }
        let takes = source.code.matches("taken(").count();
        let defines = usize::from(source.path == "src/transaction/mod.rs");
        if takes > defines && !source.is_below("pg") {
            broken.push(format!("{}: only a store makes a Locked", source.path));
        }
    }
    assert!(broken.is_empty(), "{broken:#?}");
}

/// A statement with white space made one, so that it can be compared and searched.
fn plain(sql: &str) -> String {
    sql.split_whitespace().collect::<Vec<_>>().join(" ")
}

/// The statements of `query!` and `query_scalar!`.
fn checked_statements() -> BTreeSet<String> {
    let macros = ["query!(", "query_scalar!(", "query_as!("];
    all()
        .into_iter()
        .flat_map(|source| source.texts)
        .filter(|(before, _)| macros.iter().any(|name| before.ends_with(name)))
        .map(|(_, sql)| plain(&sql))
        .collect()
}

#[test]
fn the_sqlx_folder_holds_exactly_the_statements_of_the_code() {
    let described: BTreeSet<String> = std::fs::read_dir(root(".sqlx"))
        .unwrap()
        .map(|entry| std::fs::read_to_string(entry.unwrap().path()).unwrap())
        .map(|text| serde_json::from_str::<serde_json::Value>(&text).unwrap())
        .map(|description| plain(description["query"].as_str().unwrap()))
        .collect();
    let written = checked_statements();
    assert!(written.len() > 20, "{written:#?}");
    let missing: Vec<_> = written.difference(&described).collect();
    let stale: Vec<_> = described.difference(&written).collect();
    assert!(missing.is_empty() && stale.is_empty(), "run `make sqlx`. missing: {missing:#?}, stale: {stale:#?}");
}

/// Statements that read across organizations, each with its reason.
const ACROSS: &[(&str, &str)] = &[
    (
        "WHERE m.user_id = $1 ORDER BY o.name",
        "`/me` asks where a person is a member; nothing but the person's own rows",
    ),
    (
        "AS mine (organization_id, kind, target_id, lease_token)",
        "the heartbeat of all leases of the process is one statement; nothing but rows whose token it has",
    ),
    (
        "SELECT j.organization_id, j.request_id FROM job j",
        "the sweeper looks for due jobs; it claims within one organization",
    ),
    (
        "SELECT p.organization_id, p.period FROM billing_period p",
        "a server looks for closings that were interrupted; each is gone on with within its organization",
    ),
    ("SELECT EXISTS (SELECT FROM charge_backfill", "whether any are left; no row leaves the database"),
    (
        "SELECT extract(epoch FROM least( (SELECT j.next_try_at FROM job j",
        "the sweeper asks when to look again; no row leaves the database",
    ),
    (
        "FROM mail_confirmation WHERE address = $3",
        "how often a mailbox was asked to confirm, whoever named it; nothing but a count and a time",
    ),
    (
        "SELECT organization_id, last_position, clock_timestamp() FROM event_stream",
        "when mail is switched on, the past of all organizations is passed over; no row leaves the database",
    ),
    (
        "SELECT s.organization_id FROM event_stream s LEFT JOIN mail_cursor c",
        "the post looks for organizations with news; it sorts within one organization",
    ),
    ("SELECT o.organization_id, m.id", "the post looks for mails that are due; it begins each within its organization"),
    (
        "DELETE FROM job_lease l USING stray s",
        "leases that nobody keeps and nobody will take; no row leaves the database",
    ),
    (
        "SELECT e.organization_id, e.id FROM webhook_endpoint e",
        "the relay looks for webhooks that have something to be told; each is told within its organization",
    ),
    (
        "SELECT extract(epoch FROM min(e.next_attempt_at)",
        "the relay asks when to look for webhooks again; no row leaves the database",
    ),
    ("SELECT e.state, count(*) AS \"count!\"", "the figures of an operator; no row leaves the database"),
    (
        "WITH old AS ( SELECT d.organization_id, d.endpoint_id",
        "attempts to deliver that have grown old are deleted; no row leaves the database",
    ),
    (
        "CROSS JOIN LATERAL (SELECT FROM idempotency_key k",
        "the organizations that have keys to be forgotten; each forgets its own",
    ),
    ("count(*) FILTER (WHERE j.state = 'failed')", "the figures of an operator; no row leaves the database"),
    (
        "WITH moved AS ( DELETE FROM outbox_event",
        "the relay puts the events of all organizations in order, each into its own log; no row leaves the database",
    ),
    (
        "min(occurred_at))::float8 AS seconds FROM (SELECT occurred_at FROM outbox_event",
        "the relay asks whether anything waits, and how long; no row leaves the database",
    ),
    (
        "AS heard (organization_id, position)",
        "what is new for all who listen is read at once, each organization's after its own position; each hears of his own",
    ),
    (
        "SELECT s.organization_id FROM event_stream s",
        "the cleaner looks for logs that have grown too old; each is trimmed within its organization",
    ),
];

/// The tables that a statement reads or writes, of those that are asked for.
fn tables_of<'a>(sql: &str, known: &'a BTreeSet<String>) -> BTreeSet<&'a str> {
    let words: Vec<&str> = sql.split([' ', '(', ')', ',', ';']).filter(|word| !word.is_empty()).collect();
    let named = words.windows(2).filter(|pair| ["FROM", "JOIN", "INTO", "UPDATE"].contains(&pair[0]));
    named.filter_map(|pair| known.get(pair[1])).map(String::as_str).collect()
}

/// Every statement on an organization's rows says which organization, so that none can reach into another, and the
/// tables could be spread over machines by it.
#[tokio::test(flavor = "multi_thread")]
async fn every_statement_on_an_organizations_rows_names_the_organization() {
    let known = super::catalog::with_organization().await;
    let (mut seen, mut broken, mut excused) = (BTreeSet::new(), Vec::new(), BTreeSet::new());
    for source in all().into_iter().filter(|source| source.is_below("pg")) {
        for (_, text) in &source.texts {
            let sql = plain(text);
            let tables = tables_of(&sql, &known);
            if tables.is_empty() {
                continue;
            }
            seen.extend(tables.iter().map(|table| (*table).to_owned()));
            if let Some((part, _)) = ACROSS.iter().find(|(part, _)| sql.contains(part)) {
                excused.insert(*part);
                continue;
            }
            let inserts = tables.iter().any(|table| sql.contains(&format!("INSERT INTO {table} (organization_id,")));
            if !inserts && !sql.contains("organization_id = $") {
                broken.push(format!("{}: {sql}", source.path));
            }
        }
    }
    assert!(broken.is_empty(), "{broken:#?}");
    assert_eq!(excused.len(), ACROSS.len(), "an exception that nobody needs any more");
    assert_eq!(seen, known, "a table that no statement was found for: does this test still read them?");
}
