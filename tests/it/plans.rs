//! No statement of the product reads a big table from end to end: each one in `.sqlx` is planned over data of some size,
//! once without its values (as a connection plans it after a while) and with values of each kind.

use crate::harness::Database;
use serde_json::Value;
use sqlx::{AssertSqlSafe, PgConnection};
use std::fmt::Write;
use std::path::Path;

/// The tables that grow with every request.
const BIG: [&str; 9] = [
    "approval_request",
    "open_request",
    "approval_history",
    "approval_version",
    "outbox_event",
    "event_log",
    "job",
    "job_attempt",
    "job_result",
];

/// 100 organizations of 200 requests, mixed as in life. Plans need sizes and distributions, not valid chains.
const DATA: &str = r"
SET session_replication_role = replica;
INSERT INTO organization (id, name) SELECT lpad(to_hex(o), 32, '0')::uuid, 'o' || o FROM generate_series(0, 99) o;
INSERT INTO organization_member (organization_id, user_id, display_name, can_approve, created_at, updated_at)
SELECT lpad(to_hex(o), 32, '0')::uuid, lpad(to_hex(1000 + u), 32, '0')::uuid, 'm' || u, u < 5, now(), now()
FROM generate_series(0, 99) o, generate_series(0, 39) u;
INSERT INTO approval_request (organization_id, id, applicant_id, title, description, status, version, content_version,
  content_hash, created_at, updated_at, submitted_at, decided_at, last_action, last_actor_id, last_actor_name, chain_hash)
SELECT lpad(to_hex(k % 100), 32, '0')::uuid, lpad(to_hex(100000 + k), 32, '0')::uuid,
  lpad(to_hex(1005 + k / 100 % 30), 32, '0')::uuid, 'title ' || k, repeat('words ' || k || ' ', 30),
  CASE WHEN k % 7 = 0 THEN 'pending' ELSE 'approved' END, 3, 1, decode(repeat('00', 32), 'hex'),
  '2026-01-01Z'::timestamptz + k * interval '1 second', '2026-01-02Z'::timestamptz + k * interval '1 second', now(), now(),
  'approve', lpad(to_hex(1000), 32, '0')::uuid, 'm0', decode(repeat('00', 32), 'hex')
FROM generate_series(0, 19999) k;
INSERT INTO open_request SELECT organization_id, id FROM approval_request WHERE status = 'pending';
INSERT INTO approval_version SELECT organization_id, id, 1, title, description, amount, currency, content_hash
FROM approval_request;
INSERT INTO approval_history SELECT organization_id, id, v, CASE v WHEN 3 THEN last_actor_id ELSE applicant_id END, 'm',
  (ARRAY['create', 'submit', 'approve'])[v], (ARRAY[NULL, 'draft', 'pending'])[v], (ARRAY['draft', 'pending', 'approved'])[v],
  NULL, content_hash, created_at, 1, chain_hash FROM approval_request, generate_series(1, 3) v;
INSERT INTO outbox_event SELECT organization_id, 'request', id::text, v, 'request.x', '{}', created_at
FROM approval_request, generate_series(1, 3) v;
INSERT INTO event_log SELECT organization_id, row_number() OVER (PARTITION BY organization_id ORDER BY occurred_at),
  subject_kind, subject_id, seq, event_type, payload, occurred_at, seq = 1 AND subject_id LIKE '%0' FROM outbox_event;
INSERT INTO event_stream SELECT organization_id, max(position), 0, now() FROM event_log GROUP BY 1;
INSERT INTO job (organization_id, request_id, state, attempts, next_try_at, started_at, ended_at)
SELECT organization_id, id, CASE WHEN n % 500 = 0 THEN 'waiting' ELSE 'succeeded' END, 1,
  CASE WHEN n % 500 = 0 THEN decided_at END, decided_at, CASE WHEN n % 500 <> 0 THEN decided_at END
FROM (SELECT *, row_number() OVER () AS n FROM approval_request WHERE status = 'approved') r;
INSERT INTO job_attempt SELECT organization_id, request_id, 1, 1, 'h', started_at, started_at, NULL FROM job;
INSERT INTO job_result SELECT organization_id, request_id, '{}', 1, started_at FROM job WHERE state = 'succeeded';
INSERT INTO job_lease SELECT organization_id, 'job', request_id::text, gen_random_uuid(), 1, 'h', 0, now(), now()
FROM job WHERE state = 'waiting';
SET session_replication_role = DEFAULT;
ANALYZE;";

const ORGANIZATION: &str = "'00000000-0000-0000-0000-000000000007'";
/// Approvers, and a member with a few requests of his own.
const PEOPLE: [&str; 2] = ["'00000000-0000-0000-0000-0000000003e8'", "'00000000-0000-0000-0000-0000000003ee'"];
/// One of organization 7.
const REQUEST: &str = "'00000000-0000-0000-0000-0000000186a7'";

/// A statement of the product.
struct Statement {
    sql: String,
    types: Vec<String>,
}

/// What a parameter is, by how the statement uses it.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Role {
    /// `$3 <> 'mine'`
    View,
    /// `$4::text IS NULL OR ...`: a filter that is on or off.
    Filter,
    /// Anything else.
    Value,
}

impl Statement {
    /// All of them that name a big table or a view over one.
    fn all() -> Vec<Self> {
        let dir = Path::new(env!("CARGO_MANIFEST_DIR")).join(".sqlx");
        let mut paths: Vec<_> = std::fs::read_dir(dir).unwrap().map(|file| file.unwrap().path()).collect();
        paths.sort();
        // Whole words: `job` is no part of `job_lease`.
        let big = |sql: &str| {
            let mut words = sql.split(|c: char| !(c.is_ascii_alphanumeric() || c == '_'));
            words.any(|word| BIG.contains(&word) || word == "visible_request")
        };
        let read = |path| serde_json::from_slice::<Value>(&std::fs::read(path).unwrap()).unwrap();
        let statements = paths.into_iter().map(read).map(|json| Self {
            sql: json["query"].as_str().unwrap().to_owned(),
            types: json["describe"]["parameters"]["Left"].as_array().unwrap().iter().map(type_name).collect(),
        });
        statements.filter(|statement| big(&statement.sql)).collect()
    }

    fn role(&self, n: usize) -> Role {
        if self.sql.contains(&format!("${n} <> 'mine'")) {
            Role::View
        } else if self.sql.contains(&format!("(${n}::{} IS NULL OR ", self.types[n - 1])) {
            Role::Filter
        } else {
            Role::Value
        }
    }

    /// A value for a parameter, by the column that it is compared with, else by its type.
    fn value(&self, n: usize, person: &str) -> String {
        let at = self.sql.find(&format!(" = ${n}")).filter(|at| {
            let end = at + format!(" = ${n}").len();
            !self.sql[end..].starts_with(|c: char| c.is_ascii_digit())
        });
        let column = at.map_or("", |at| {
            let before = &self.sql[..at];
            before.rsplit(|c: char| !(c.is_ascii_lowercase() || c == '_')).next().unwrap_or("")
        });
        match (column, self.types[n - 1].as_str()) {
            ("organization_id", _) => ORGANIZATION.to_owned(),
            ("viewer_id" | "user_id" | "actor_id" | "applicant_id", _) => person.to_owned(),
            ("status", "text") => "'pending'".to_owned(),
            ("subject_kind", _) => "'request'".to_owned(),
            ("subject_id", "text") | (_, "uuid") => REQUEST.to_owned(),
            (_, "text") if self.sql.contains(&format!("ILIKE ${n}")) => "'%words 12%'".to_owned(),
            (_, "text" | "name") => "'x'".to_owned(),
            (_, "date") => "'2026-01-01'".to_owned(),
            (_, "timestamptz") => "'2026-01-01 01:00Z'".to_owned(),
            (_, "bytea") => "decode(repeat('00', 32), 'hex')".to_owned(),
            (_, "jsonb") => "'{}'".to_owned(),
            (_, "bool") => "true".to_owned(),
            (_, "int8" | "int4" | "int2") => {
                if self.sql.contains(&format!("LIMIT ${n}")) { "51" } else { "2" }.to_owned()
            }
            (_, "float8") => "60".to_owned(),
            (_, other) if other.ends_with("[]") => "'{}'".to_owned(),
            (column, other) => panic!("no value for ${n} ({column} {other}) of {}", self.sql),
        }
    }

    /// The values to plan with: every view, both kinds of people, no filter and each filter alone.
    fn values(&self) -> Vec<Vec<String>> {
        let numbers: Vec<usize> = (1..=self.types.len()).collect();
        let filters = numbers.iter().copied().filter(|n| self.role(*n) == Role::Filter);
        let filters: Vec<Option<usize>> = std::iter::once(None).chain(filters.map(Some)).collect();
        let views: &[&str] =
            if numbers.iter().any(|n| self.role(*n) == Role::View) { &["all", "mine", "inbox"] } else { &[""] };
        let mut all = Vec::new();
        for (person, view, on) in PEOPLE.iter().flat_map(|person| {
            views.iter().flat_map(|view| filters.iter().map(|on| (*person, *view, *on)).collect::<Vec<_>>())
        }) {
            let value = |n: &usize| match self.role(*n) {
                Role::View => format!("'{view}'"),
                Role::Filter if on != Some(*n) => "NULL".to_owned(),
                _ => self.value(*n, person),
            };
            all.push(numbers.iter().map(value).collect());
        }
        all
    }
}

/// The type's name in SQL, from sqlx's.
fn type_name(name: &Value) -> String {
    let name = name.as_str().unwrap().to_lowercase();
    name.strip_suffix("array").map_or(name.clone(), |element| format!("{element}[]"))
}

async fn plan(db: &mut PgConnection, statement: &Statement, mode: &str, values: &[String]) -> String {
    let values = if values.is_empty() { String::new() } else { format!("({})", values.join(", ")) };
    run(db, &format!("SET plan_cache_mode = {mode}")).await;
    let types = if statement.types.is_empty() { String::new() } else { format!("({})", statement.types.join(", ")) };
    run(db, &format!("PREPARE planned{types} AS {}", statement.sql)).await;
    let lines: Vec<String> = sqlx::query_scalar(AssertSqlSafe(format!("EXPLAIN (COSTS OFF) EXECUTE planned{values}")))
        .fetch_all(&mut *db)
        .await
        .unwrap_or_else(|error| panic!("{error}: {values} for {}", statement.sql));
    run(db, "DEALLOCATE planned").await;
    lines.join("\n")
}

async fn run(db: &mut PgConnection, sql: &str) {
    sqlx::raw_sql(AssertSqlSafe(sql.to_owned())).execute(db).await.unwrap_or_else(|error| panic!("{error}: {sql}"));
}

#[tokio::test(flavor = "multi_thread")]
async fn no_statement_reads_a_big_table_from_end_to_end() {
    let database = Database::new().await;
    let mut db = database.connect().await;
    run(&mut db, DATA).await;
    let statements = Statement::all();
    assert!(statements.len() >= 8, "only {} statements: is .sqlx where it was?", statements.len());
    let (mut told, mut broken) = (String::new(), Vec::new());
    for statement in &statements {
        let mut plans = vec![("force_generic_plan", vec!["NULL".to_owned(); statement.types.len()])];
        plans.extend(statement.values().into_iter().map(|values| ("force_custom_plan", values)));
        for (mode, values) in plans {
            let plan = plan(&mut db, statement, mode, &values).await;
            let head = format!("{}\n-- {mode} {}", statement.sql, values.join(", "));
            writeln!(told, "{head}\n{plan}\n").unwrap();
            if BIG.iter().any(|table| {
                plan.lines().any(|line| {
                    let scanned = line.split_once("Seq Scan on ").map(|(_, rest)| rest.split(' ').next().unwrap_or(""));
                    scanned == Some(*table)
                })
            }) {
                broken.push(format!("{head}\n{plan}"));
            }
        }
    }
    // For whoever looks at a plan, or compares two.
    std::fs::write(Path::new(env!("CARGO_TARGET_TMPDIR")).join("plans.txt"), told).unwrap();
    assert!(broken.is_empty(), "these read a big table from end to end:\n\n{}", broken.join("\n\n"));
}
