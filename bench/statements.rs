//! The statements of one approval as the product sends them, taken from PostgreSQL's own log, as a script for pgbench.

use crate::cluster::Cluster;
use crate::data::{self, APPROVER, ORGANIZATION, REQUEST, Shape};
use crate::http::Connection;
use crate::parts::approvals;
use crate::serve;
use sqlx::{AssertSqlSafe, Row};
use std::fmt::Write;

/// One statement of the log, with its parameters where it had any.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Logged {
    pid: String,
    sql: String,
    parameters: Vec<Option<String>>,
}

/// A script and the values of its variables.
pub struct Script {
    pub name: &'static str,
    pub text: String,
    pub variables: Vec<(String, String)>,
    /// Each one is a round trip.
    pub statements: usize,
}

/// Lets the product approve one request on a copy whose statements are logged.
pub async fn capture(cluster: &Cluster, shape: Shape) -> Result<Script, String> {
    cluster.copy("pending", "bench_capture").await?;
    cluster.execute("postgres", "ALTER DATABASE bench_capture SET log_min_duration_statement = 0").await?;
    let log = cluster.postgres.log_file();
    let server = serve::ringi(cluster, "bench_capture", 1).await?;
    let before = std::fs::metadata(&log).map_or(0, |log| log.len());
    let mut connection = Connection::open(&server.address).await.map_err(|error| error.to_string())?;
    let request = approvals(shape)(0).ok_or("no request to approve")?;
    let answer = connection.call(&request).await.map_err(|error| error.to_string())?;
    if answer.status != 200 {
        return Err(format!("the approval to be logged was answered {}", answer.status));
    }
    server.stop().await;
    let bytes = std::fs::read(&log).map_err(|error| format!("{}: {error}", log.display()))?;
    let text =
        String::from_utf8_lossy(bytes.get(usize::try_from(before).unwrap_or(0)..).unwrap_or_default()).into_owned();
    let statements = transaction(&parse(&text)).ok_or("no whole transaction in the statement log")?;
    let script = script(cluster, &statements, shape).await;
    cluster.drop_copy("bench_capture").await?;
    script
}

/// From the last BEGIN to the COMMIT of the one session that wrote.
fn transaction(logged: &[Logged]) -> Option<Vec<Logged>> {
    let is = |statement: &Logged, word: &str| statement.sql.trim_start().to_ascii_uppercase().starts_with(word);
    let end = logged.iter().rposition(|statement| is(statement, "COMMIT"))?;
    let pid = &logged.get(end)?.pid;
    let own: Vec<_> = logged.get(..=end)?.iter().filter(|statement| statement.pid == *pid).cloned().collect();
    let begin = own.iter().rposition(|statement| is(statement, "BEGIN"))?;
    own.get(begin..).map(<[Logged]>::to_vec)
}

/// Reads lines such as `2026-01-01 00:00:00.000 UTC [12] LOG:  duration: 0.1 ms  execute sqlx_s_1: SELECT ...`, whose
/// further lines begin with a TAB, and the parameters in the DETAIL that follows. What was only parsed or bound is not
/// a statement of its own.
fn parse(text: &str) -> Vec<Logged> {
    let mut entries: Vec<(String, String, String)> = Vec::new();
    for line in text.lines() {
        if let Some(more) = line.strip_prefix('\t') {
            if let Some((_, _, message)) = entries.last_mut() {
                message.push('\n');
                message.push_str(more);
            }
        } else if let Some((pid, kind, message)) = head(line) {
            entries.push((pid.to_owned(), kind.to_owned(), message.to_owned()));
        }
    }
    let mut logged: Vec<Logged> = Vec::new();
    let mut takes_parameters = false;
    for (pid, kind, message) in entries {
        if kind == "DETAIL" {
            let values = message.strip_prefix("parameters: ").or_else(|| message.strip_prefix("Parameters: "));
            if let (true, Some(values), Some(last)) = (takes_parameters, values, logged.last_mut()) {
                last.parameters = parameters(values);
            }
            continue;
        }
        let what = message.split_once(" ms  ").map_or("", |(_, what)| what);
        let sql = match what.split_once(": ") {
            Some((how, sql)) if how == "statement" || how.starts_with("execute ") => sql,
            _ => "",
        };
        takes_parameters = !sql.is_empty();
        if takes_parameters {
            logged.push(Logged { pid, sql: sql.to_owned(), parameters: Vec::new() });
        }
    }
    logged
}

/// Process, kind and message of a line that begins an entry.
fn head(line: &str) -> Option<(&str, &str, &str)> {
    let (before, rest) = line.split_once("] ")?;
    let pid = before.rsplit_once('[')?.1;
    let (kind, message) = rest.split_once(":  ")?;
    pid.bytes().all(|b| b.is_ascii_digit()).then_some((pid, kind, message))
}

/// `$1 = 'it''s', $2 = NULL`.
fn parameters(mut text: &str) -> Vec<Option<String>> {
    let mut values = Vec::new();
    while let Some((_, rest)) = text.split_once(" = ") {
        if let Some(quoted) = rest.strip_prefix('\'') {
            let (mut value, mut at) = (String::new(), 0);
            let bytes = quoted.as_bytes();
            while let Some(end) = quoted.get(at..).and_then(|tail| tail.find('\'')) {
                value.push_str(&quoted[at..at + end]);
                at += end + 1;
                if bytes.get(at) != Some(&b'\'') {
                    break;
                }
                value.push('\'');
                at += 1;
            }
            values.push(Some(value));
            text = quoted.get(at..).unwrap_or_default();
        } else {
            values.push(None);
            text = rest;
        }
    }
    values
}

/// An id as pgbench can compute it, from a number to a UUID.
fn uuid(variable: &str) -> String {
    format!("lpad(to_hex(:{variable}::bigint), 32, '0')::uuid")
}

/// What stands before the statements of every script: the next request of this client, as the generator picks them.
pub fn next_request(shape: Shape) -> String {
    format!(
        "\\set nth :nth + 1\n\
         \\set k :first + :client_id + :nth * :clients\n\
         \\set request {REQUEST} + :k\n\
         \\set organization {ORGANIZATION} + :k % {organizations}\n\
         \\set approver {APPROVER} + :k % {organizations}\n",
        organizations = shape.organizations
    )
}

/// The statements with each parameter in its place: ids computed, everything else handed over as the product does, with
/// the type that PostgreSQL gives the product's parameter, so that the plans are the same.
async fn script(cluster: &Cluster, statements: &[Logged], shape: Shape) -> Result<Script, String> {
    let ids = [
        ("request", data::id(REQUEST, 0)),
        ("organization", data::id(ORGANIZATION, 0)),
        ("approver", data::id(APPROVER, 0)),
    ]
    .map(|(name, id)| (name, id.to_string()));
    let mut connection = cluster.connect("bench_capture").await?;
    let mut variables: Vec<(String, String)> = Vec::new();
    let mut text = next_request(shape);
    for statement in statements {
        let types = types(&mut connection, statement).await?;
        let mut places = Vec::new();
        for (value, kind) in statement.parameters.iter().zip(types) {
            places.push(match value {
                None => format!("NULL::{kind}"),
                Some(value) => match ids.iter().find(|(_, id)| id == value) {
                    Some((name, _)) if kind == "uuid" => uuid(name),
                    Some((name, _)) => format!("{}::{kind}", uuid(name)),
                    None => {
                        let name = format!("v{}", variables.len());
                        variables.push((name.clone(), value.clone()));
                        format!(":{name}::{kind}")
                    }
                },
            });
        }
        writeln!(text, "{};", fill(&statement.sql, &places)).map_err(|error| error.to_string())?;
    }
    Ok(Script { name: "same_sql", text, variables, statements: statements.len() })
}

async fn types(connection: &mut sqlx::PgConnection, statement: &Logged) -> Result<Vec<String>, String> {
    if statement.parameters.is_empty() {
        return Ok(Vec::new());
    }
    let failed = |error: sqlx::Error| format!("{}: {error}", statement.sql);
    let prepare = format!("PREPARE captured AS {}", statement.sql);
    sqlx::raw_sql(AssertSqlSafe(prepare)).execute(&mut *connection).await.map_err(failed)?;
    let types = sqlx::query("SELECT parameter_types::text[] FROM pg_prepared_statements WHERE name = 'captured'")
        .fetch_one(&mut *connection)
        .await
        .map_err(failed)?
        .get(0);
    sqlx::raw_sql("DEALLOCATE captured").execute(connection).await.map_err(failed)?;
    Ok(types)
}

/// Puts `places` where `$1`, `$2` ... stand.
fn fill(sql: &str, places: &[String]) -> String {
    let mut filled = String::with_capacity(2 * sql.len());
    let mut rest = sql;
    while let Some(at) = rest.find('$') {
        let after = &rest[at + 1..];
        let digits = after.bytes().take_while(u8::is_ascii_digit).count();
        filled.push_str(&rest[..at]);
        match after[..digits].parse::<usize>().ok().and_then(|n| places.get(n.wrapping_sub(1))) {
            Some(place) => filled.push_str(place),
            None => filled.push_str(&rest[at..=at + digits]),
        }
        rest = &after[digits..];
    }
    filled.push_str(rest);
    filled
}

/// What one would write without thinking of round trips: seven of them, on the same tables.
pub fn textbook(shape: Shape) -> Script {
    let (request, organization, approver) = (uuid("request"), uuid("organization"), uuid("approver"));
    let key = format!("organization_id = {organization}");
    let text = format!(
        "{next}BEGIN;
SELECT display_name, is_active, can_approve FROM organization_member WHERE {key} AND user_id = {approver} FOR SHARE;
SELECT applicant_id, title, description, amount, currency, status, version, content_hash, created_at, submitted_at
 FROM approval_request WHERE {key} AND id = {request} FOR UPDATE;
UPDATE approval_request SET status = 'approved', version = version + 1, updated_at = clock_timestamp(),
 decided_at = clock_timestamp(), last_action = 'approve', last_actor_id = {approver}, last_actor_name = :name,
 chain_hash = :hash WHERE {key} AND id = {request} AND version = 2;
INSERT INTO approval_history (organization_id, request_id, version, actor_id, actor_name, action, from_status, to_status,
 content_hash, occurred_at, hash_format, entry_hash)
 VALUES ({organization}, {request}, 3, {approver}, :name, 'approve', 'pending', 'approved', :hash, clock_timestamp(), 1, :hash);
INSERT INTO outbox_event (organization_id, subject_kind, subject_id, seq, event_type, payload, occurred_at)
 VALUES ({organization}, 'request', {request}::text, 3, 'request.approve', :payload, clock_timestamp());
COMMIT;
",
        next = next_request(shape)
    );
    let payload = format!(
        r#"{{"organization_id":"{0}","request_id":"{0}","version":3,"action":"approve","status":"approved","actor_id":"{0}","content_hash":"{1}","occurred_at":"2026-01-01T00:00:00.000000Z"}}"#,
        data::id(REQUEST, 0),
        "0".repeat(64)
    );
    let variables = [("name", "Approver".to_owned()), ("hash", format!("\\x{}", "0".repeat(64))), ("payload", payload)];
    Script {
        name: "textbook",
        text,
        variables: variables.map(|(name, value)| (name.to_owned(), value)).to_vec(),
        statements: 7,
    }
}

/// Reads the log of a server as it writes it, and places parameters as it means them; said at every start, since a
/// wrong script would only be fast.
pub fn self_test() -> Result<(), String> {
    let log = "2026-01-01 00:00:00.000 UTC [7] LOG:  duration: 0.1 ms  parse s1: SELECT $1\n\
               2026-01-01 00:00:00.000 UTC [7] LOG:  duration: 0.1 ms  statement: BEGIN\n\
               2026-01-01 00:00:00.000 UTC [7] LOG:  duration: 0.1 ms  bind s1: SELECT $1\n\
               2026-01-01 00:00:00.000 UTC [7] DETAIL:  parameters: $1 = 'x'\n\
               2026-01-01 00:00:00.000 UTC [7] LOG:  duration: 0.1 ms  execute s1: SELECT $1,\n\
               \t$2, $10\n\
               2026-01-01 00:00:00.000 UTC [7] DETAIL:  parameters: $1 = 'it''s = a, b', $2 = NULL\n\
               2026-01-01 00:00:00.000 UTC [8] LOG:  duration: 0.1 ms  statement: BEGIN\n\
               2026-01-01 00:00:00.000 UTC [7] LOG:  duration: 0.1 ms  statement: COMMIT\n";
    let found = transaction(&parse(log)).unwrap_or_default();
    let sql: Vec<_> = found.iter().map(|statement| statement.sql.as_str()).collect();
    let parameters = found.get(1).map(|statement| statement.parameters.clone()).unwrap_or_default();
    let filled = fill("$1, $12 $x", &["a".to_owned()]);
    if sql == ["BEGIN", "SELECT $1,\n$2, $10", "COMMIT"]
        && parameters == [Some("it's = a, b".to_owned()), None]
        && filled == "a, $12 $x"
    {
        return Ok(());
    }
    Err(format!("the statement log is not read as it is written: {found:?}, {filled}"))
}
