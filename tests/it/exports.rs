//! Exports: whole, harmless in a spreadsheet, at nobody's cost, and broken off for everybody to see.

use crate::harness::{Answer, App, PATIENCE, Person, settings};
use crate::inspection::{accesses, walk};
use serde_json::{Value, json};
use std::time::Instant;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;
use uuid::Uuid;

async fn export(admin: &Person, query: &str, accept: &str) -> Answer {
    Answer::of(admin.request(reqwest::Method::GET, &format!("history?{query}")).header("Accept", accept)).await
}

/// RFC 4180 to the letter, on its own: not the writer's library.
pub fn parse_csv(text: &str) -> Vec<Vec<String>> {
    let (mut rows, mut row, mut cell) = (Vec::new(), Vec::new(), String::new());
    let mut characters = text.chars().peekable();
    while let Some(c) = characters.next() {
        match c {
            '"' if cell.is_empty() => loop {
                match characters.next().expect("a quoted cell ends") {
                    '"' if characters.peek() == Some(&'"') => {
                        cell.push('"');
                        characters.next();
                    }
                    '"' => break,
                    other => cell.push(other),
                }
            },
            ',' => row.push(std::mem::take(&mut cell)),
            '\r' => {
                assert_eq!(characters.next(), Some('\n'), "lines end with CR LF");
                row.push(std::mem::take(&mut cell));
                rows.push(std::mem::take(&mut row));
            }
            '\n' => panic!("a bare line feed outside quotes"),
            other => cell.push(other),
        }
    }
    assert!(row.is_empty() && cell.is_empty(), "the last line is ended");
    rows
}

/// Thousands of whole requests in the app's organization, made by the database.
pub async fn bulk(app: &App, organization: Uuid, requests: u32) {
    let person = |name: &str| Person::new(&app.http, &app.address, organization, name).id;
    let (applicant, approver) = (person("Aiko Applicant"), person("Ben Approver"));
    let mut sql = String::new();
    for (id, name) in [(applicant, "Aiko Applicant"), (approver, "Ben Approver")] {
        sql += &format!(
            "INSERT INTO organization_member (organization_id, user_id, display_name, created_at, updated_at)
             VALUES ('{organization}', '{id}', '{name}', '2025-01-01Z', '2025-01-01Z');"
        );
    }
    sql += &include_str!("bulk_history.sql")
        .replace("{organization}", &organization.to_string())
        .replace("{applicant}", &applicant.to_string())
        .replace("{approver}", &approver.to_string())
        .replace("{requests}", &requests.to_string());
    app.execute(&sql).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_csv_is_what_the_list_says_and_no_cell_is_a_formula() {
    let app = App::start().await;
    let approver = app.approver().await;
    let names = [
        "=HYPERLINK(\"http://evil\",\"x\")",
        "+1",
        "-1",
        "@SUM(A1)",
        "a, \"b\"",
        "\u{202e}=dessam\u{202c}",
        "\u{200b}=1",
        "\u{200f}=1",
        "佐藤\u{200d}千恵",
    ];
    let reasons =
        ["\t=1", "=1\n2", "-2+3", "plain", "two\n\nparagraphs, \"quoted\"", "\u{200b}=x", "+", "@", "\u{202e}=y"];
    for (name, reason) in names.iter().zip(reasons) {
        let applicant = app.member("Placeholder", false, false).await;
        // Not by the API: rows may be older than the rules for names.
        let quoted = name.replace('\'', "''");
        app.execute(&format!(
            "UPDATE organization_member SET display_name = '{quoted}' WHERE user_id = '{}'",
            applicant.id
        ))
        .await;
        let pending = applicant.submitted("bait").await;
        approver.act(&pending, "reject", Some(reason)).await.expect_status(200);
    }
    let list = walk(&app.admin, "to=2100-01-01T00:00:00Z", 200).await;
    accesses(&app, 1).await;
    let answer = export(&app.admin, "kind=request", "text/csv").await.expect_status(200);
    assert_eq!(answer.header("content-type"), "text/csv; charset=utf-8; header=present");
    let disposition = answer.header("content-disposition");
    assert!(disposition.starts_with(&format!("attachment; filename=\"ringi-history-{}-", app.organization)));
    assert!(disposition.ends_with("Z.csv\""), "{disposition}");
    let rows = parse_csv(&answer.text);
    assert_eq!(
        rows[0].join(","),
        "request_id,version,actor_id,actor_name,action,from_status,to_status,reason,content_hash,occurred_at,kind,subject_id,detail"
    );
    let all = parse_csv(&export(&app.admin, "", "text/csv").await.text);
    for parsed in [&rows[1..], &all[1..]] {
        for row in parsed {
            assert_eq!(row.len(), rows[0].len());
            for cell in row {
                assert!(!cell.starts_with(['=', '+', '-', '@', '\t', '\r']), "armed: {cell}");
            }
        }
    }
    let listed: Vec<_> = list.iter().filter(|row| row["kind"] == "request").collect();
    assert_eq!(rows.len() - 1, listed.len());
    for (row, listed) in rows[1..].iter().zip(&listed) {
        for (name, cell) in rows[0].iter().zip(row) {
            let expected = match &listed[name] {
                Value::Null => String::new(),
                Value::String(text) => text.clone(),
                other => other.to_string(),
            };
            // One apostrophe where it is needed, and nowhere else.
            let armed = expected.starts_with(['=', '+', '-', '@', '\t', '\r']);
            assert_eq!(*cell, format!("{}{expected}", if armed { "'" } else { "" }), "{name}");
        }
    }
    app.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn ndjson_is_the_list_a_row_a_line_in_pages_that_nobody_sees() {
    let app = App::start().await;
    bulk(&app, app.organization, 1_000).await;
    let answer = export(&app.admin, "kind=request", "application/x-ndjson").await.expect_status(200);
    assert_eq!(answer.header("content-type"), "application/x-ndjson");
    let lines: Vec<Value> = answer.text.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    assert_eq!(lines.len(), 3_000, "exactly three pages");
    let listed = walk(&app.admin, "kind=request", 200).await;
    assert_eq!(lines, listed);
    assert_eq!(export(&app.admin, "action=walk&kind=member", "text/csv").await.text.lines().count(), 1, "a header");
    let recorded = accesses(&app, 3).await;
    assert_eq!((&recorded[0]["action"], &recorded[0]["format"]), (&json!("export"), &json!("ndjson")));
    assert_eq!((&recorded[0]["rows"], &recorded[0]["complete"]), (&json!(3_000), &json!(true)));
    app.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn other_media_types_are_406_and_parameters_of_pages_400() {
    let app = App::start().await;
    for accept in ["application/xml", "text/html", "text/csv;q=0", "nonsense", "application/problem+json"] {
        export(&app.admin, "", accept).await.expect_problem(406, "not_acceptable");
    }
    for accept in ["*/*", "application/*", "text/html, */*;q=0.1", "application/json"] {
        let answer = export(&app.admin, "", accept).await.expect_status(200);
        assert_eq!(answer.header("content-type"), "application/json", "{accept}");
    }
    for query in ["limit=5", "cursor=abc"] {
        export(&app.admin, query, "text/csv").await.expect_problem(400, "invalid_query");
    }
    app.applicant().await;
    let member = app.member("Gen Member", false, false).await;
    export(&member, "", "text/csv").await.expect_problem(403, "forbidden");
    export(&app.outsider(), "", "text/csv").await.expect_problem(403, "not_a_member");
    accesses(&app, 4).await;
    let head = app.admin.request(reqwest::Method::HEAD, "history").header("Accept", "text/csv");
    let answer = Answer::of(head).await.expect_status(200);
    assert!(answer.header("content-type").starts_with("text/csv"));
    walk(&app.admin, "", 200).await;
    accesses(&app, 5).await;
    app.stop().await;
}

/// An export whose client reads only what it is told to.
struct Slow {
    stream: TcpStream,
    text: Vec<u8>,
}

impl Slow {
    /// Asks, and reads no more than the beginning.
    async fn start(admin: &Person, address: &str) -> Self {
        let mut stream = TcpStream::connect(address.trim_start_matches("http://")).await.unwrap();
        let head = format!(
            "GET /api/v1/organizations/{}/history?kind=request HTTP/1.1\r\nHost: x\r\nAccept: text/csv\r\nAuthorization: Bearer {}\r\n\r\n",
            admin.organization, admin.token
        );
        stream.write_all(head.as_bytes()).await.unwrap();
        let mut text = vec![0; 64];
        stream.read_exact(&mut text).await.unwrap();
        Self { stream, text }
    }

    /// Reads until a chunk of length zero or the end of the connection. True: the body was whole.
    async fn read_to_end(&mut self) -> bool {
        let mut buffer = vec![0; 1 << 16];
        loop {
            if self.text.ends_with(b"\r\n0\r\n\r\n") {
                return true;
            }
            match self.stream.read(&mut buffer).await {
                Ok(0) | Err(_) => return false,
                Ok(n) => self.text.extend(&buffer[..n]),
            }
        }
    }
}

/// Returns when no export reads any more, as long as nobody reads from its client: seen at the database, over hundreds
/// of requests that the server answers meanwhile.
async fn until_stalled(app: &App) {
    let mut db = app.database.connect().await;
    let start = Instant::now();
    let (mut unchanged, mut before) = (0, None);
    while unchanged < 300 {
        let now: (Option<String>, bool) = sqlx::query_as(
            "SELECT max(query_start)::text, coalesce(bool_or(state <> 'idle'), false) FROM pg_stat_activity
             WHERE datname = current_database() AND query LIKE '%both_histories%' AND pid <> pg_backend_pid()",
        )
        .fetch_one(&mut db)
        .await
        .unwrap();
        app.admin.read("/health/live").await.expect_status(200);
        let quiet = !now.1 && before.as_ref() == Some(&now);
        unchanged = if quiet { unchanged + 1 } else { 0 };
        before = Some(now);
        assert!(start.elapsed() < PATIENCE, "the exports do not stop reading");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn slow_readers_hold_no_connection_and_two_are_enough() {
    let mut settings = settings();
    settings.database.read_connections = 2;
    let app = App::with(settings).await;
    let (elsewhere, other_admin) = (Uuid::new_v4(), app.outsider());
    app.create_organization(elsewhere, other_admin.id).await;
    let other_admin = other_admin.in_organization(elsewhere);
    bulk(&app, app.organization, 15_000).await;
    bulk(&app, elsewhere, 15_000).await;

    let mut first = Slow::start(&app.admin, &app.address).await;
    let mut second = Slow::start(&app.admin, &app.address).await;
    let mut third = Slow::start(&other_admin, &app.address).await;
    until_stalled(&app).await;
    assert_eq!(
        (app.pools.read.sizes().open, app.pools.read.sizes().idle),
        (2, 2),
        "three exports hold none of two connections"
    );
    let open = app.count("SELECT count(*) FROM pg_stat_activity WHERE datname = current_database() AND application_name = 'ringi' AND state <> 'idle'");
    assert_eq!(open.await, 0, "no transaction is open either");
    for _ in 0..20 {
        app.admin.read("requests").await.expect_status(200);
    }

    let refused = export(&app.admin, "", "text/csv").await.expect_problem(429, "rate_limited");
    assert!(refused.header("retry-after").parse::<u32>().is_ok());
    export(&app.admin, "", "application/json").await.expect_status(200);

    for slow in [&mut first, &mut second, &mut third] {
        assert!(slow.read_to_end().await, "the transfer is whole");
        let text = String::from_utf8(std::mem::take(&mut slow.text)).unwrap();
        assert_eq!(text.matches(",request,,").count(), 45_000);
    }
    export(&app.admin, "kind=member", "text/csv").await.expect_status(200);
    accesses(&app, 5).await;
    app.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_client_that_hangs_up_ends_the_reading_and_is_recorded() {
    let app = App::start().await;
    bulk(&app, app.organization, 15_000).await;
    let first = Slow::start(&app.admin, &app.address).await;
    let second = Slow::start(&app.admin, &app.address).await;
    until_stalled(&app).await;
    drop((first, second));
    let recorded = accesses(&app, 2).await;
    for access in &recorded {
        let rows = access["rows"].as_u64().unwrap();
        assert!((1..45_000).contains(&rows), "{rows} rows were written into the dark");
        assert_eq!(access["complete"], false);
    }
    // Both places are free again.
    let third = export(&app.admin, "kind=member", "text/csv").await;
    third.expect_status(200);
    let whole = export(&app.admin, "kind=request", "text/csv").await.expect_status(200);
    assert_eq!(whole.text.lines().count(), 45_001);
    accesses(&app, 4).await;
    app.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn an_export_that_fails_or_loses_its_right_is_broken_off_visibly() {
    let app = App::start().await;
    bulk(&app, app.organization, 15_000).await;
    let second_admin = app.member("Emi Admin", false, true).await;
    let mut deprived = Slow::start(&second_admin, &app.address).await;
    until_stalled(&app).await;
    app.admin.change_member(second_admin.id, json!({"is_admin": false})).await.expect_status(200);
    assert!(!deprived.read_to_end().await, "the rest is not for him any more");

    let mut failing = Slow::start(&app.admin, &app.address).await;
    until_stalled(&app).await;
    app.execute("ALTER TABLE approval_history RENAME COLUMN reason TO because").await;
    assert!(!failing.read_to_end().await, "a fault is not a shorter history");
    let recorded = accesses(&app, 2).await;
    assert!(recorded.iter().all(|access| access["complete"] == false && access["rows"].as_u64().unwrap() > 0));
    app.stop().await;
}
