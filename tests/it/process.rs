//! The program as people meet it at the terminal: what it refuses and in which words, how it stops, what its commands
//! answer.

use crate::harness::{Answer, Database, EVENTS, PATIENCE, Person, SECRET, id_of, until_waiting};
use crate::ringi::{Folder, Serving, command, run, run_command};
use reqwest::Method;
use rustix::process::Signal;
use serde_json::{Value, json};
use sqlx::{AssertSqlSafe, Connection as _};
use std::time::Instant;
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use uuid::Uuid;

/// A database that can't be reached, for what must be refused before it is asked.
const NOWHERE: (&str, &str) = ("DATABASE_URL", "postgres://ringi@127.0.0.1:1/ringi");
const KEY: (&str, &str) = ("RINGI__AUTH__HS256_SECRET", SECRET);

#[test]
fn serve_refuses_what_it_cannot_run_with_and_says_what_to_do() {
    let serve = |settings: &[(&str, &str)], words: &[&str]| {
        let mut all = vec![NOWHERE, ("PORT", "0")];
        all.extend(settings);
        run(&["serve"], &all).refused(1, words)
    };
    serve(&[], &["set RINGI__AUTH__HS256_SECRET", "openssl rand -hex 32"]);
    let said =
        serve(&[("RINGI__AUTH__HS256_SECRET", "only-thirty-one-bytes-of-secret")], &["has 31 bytes", "32 or more"]);
    assert!(!said.contains("only-thirty-one"), "{said}");

    serve(&[KEY, ("RINGI__DATABASE__LOCK_TIMEOUT_MS", "soon")], &["lock_timeout_ms", "config/default.toml"]);
    serve(&[KEY, ("RINGI__DATABASE__LOCK_TIMEOUT_MS", "-1")], &["lock_timeout_ms"]);
    serve(&[KEY, ("RINGI__DATABASE__LOCK_TIMEOUT_MS", "0")], &["lock_timeout_ms", "1 or more"]);
    serve(&[KEY, ("RINGI__DATABASE__STATEMENT_TIMEOUT_MS", "3000")], &["statement_timeout_ms", "must be longer"]);
    serve(&[KEY, ("RINGI__HTTP__COLOUR", "blue")], &["colour", "config/default.toml"]);
    serve(&[KEY, ("RINGI__HTP__LISTEN", "127.0.0.1:0")], &["htp", "config/default.toml"]);
    serve(&[KEY, ("RINGI__LOG__FILTER", "ringi=loud")], &["log.filter"]);
    serve(&[KEY, ("PORT", "eighty")], &["PORT must be a number"]);
    serve(&[KEY, ("RINGI__HTTP__ALLOWED_ORIGINS", "*")], &["exact origin"]);
    serve(&[KEY, ("RINGI_CONFIG", "/nowhere/ringi.toml")], &["/nowhere/ringi.toml"]);
    serve(&[KEY, ("DATABASE_URL", "mysql://db/ringi")], &["DATABASE_URL", "postgres://user:password@host/database"]);
    serve(&[KEY], &["database", "Connection refused"]);
}

#[test]
fn wrong_usage_is_told_apart_by_its_exit_code() {
    for arguments in [
        &["fly"][..],
        &[],
        &["serve", "--fast"],
        &["token"],
        &["token", "--user", "somebody"],
        &["token", "--user", "0197c0de-0000-7000-8000-000000000101", "--ttl", "8x"],
        &["token", "--user", "0197c0de-0000-7000-8000-000000000101", "--ttl", "0h"],
        &["org", "create", "--name", "Nobody"],
    ] {
        run(arguments, &[KEY]).refused(2, &["help"]);
    }
    assert!(run(&["--help"], &[]).success().contains("serve"));
    assert!(run(&["--version"], &[]).success().starts_with("ringi "));
}

#[test]
fn a_port_in_use_is_told_before_anything_is_begun() {
    let taken = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let port = taken.local_addr().unwrap().port().to_string();
    let said = run(&["serve"], &[KEY, NOWHERE, ("PORT", &port)]);
    said.refused(1, &[&format!("can't listen on 127.0.0.1:{port}"), "RINGI__HTTP__LISTEN or PORT", "in use"]);
}

/// An organization made by the command line, and its administrator.
pub fn organization(url: &str) -> (Uuid, Uuid) {
    let admin = Uuid::new_v4();
    let made = create_org(url, "Kumo Trading", "Asia/Tokyo", admin);
    (id_of(&serde_json::from_str(&made.success()).unwrap()), admin)
}

fn create_org(url: &str, name: &str, time_zone: &str, admin: Uuid) -> crate::ringi::Said {
    let admin = admin.to_string();
    let arguments =
        ["org", "create", "--name", name, "--time-zone", time_zone, "--admin-name", "Dara", "--admin-id", &admin];
    run(&arguments, &[("DATABASE_URL", url)])
}

fn client() -> reqwest::Client {
    reqwest::Client::builder().no_proxy().build().unwrap()
}

#[tokio::test(flavor = "multi_thread")]
async fn a_stop_finishes_the_write_that_is_under_way_and_leaves_nothing_running() {
    let database = Database::new().await;
    let (organization, admin) = organization(&database.url());
    let mut server = Serving::on(&database.url(), &[("RINGI__HTTP__DRAIN_MS", "1500")]);
    let admin = Person::with_id(&client(), &server.address, organization, "Dara", admin);
    let draft = admin.create("Last of the day").await;

    let mut holder = database.connect().await;
    let lock = format!("BEGIN; SELECT 1 FROM approval_request WHERE id = '{}' FOR UPDATE", id_of(&draft));
    sqlx::raw_sql(AssertSqlSafe(lock)).execute(&mut holder).await.unwrap();
    let submitting = tokio::spawn({
        let (admin, draft) = (admin.clone(), draft.clone());
        async move { admin.act(&draft, "submit", None).await }
    });
    let mut looking = database.connect().await;
    until_waiting(&mut looking, 1, "true").await;

    // A balancer's connection, opened before the stop.
    let address = server.address.strip_prefix("http://").unwrap().to_owned();
    let mut probe = Probe::open(&address).await;
    assert_eq!(probe.ready().await, Some(200));
    server.signal(Signal::TERM);
    let since = Instant::now();
    loop {
        match probe.ready().await {
            Some(200) => assert!(since.elapsed() < PATIENCE, "it stays ready"),
            Some(503) => break,
            other => panic!("{other:?}: a balancer must be told before the listener closes"),
        }
    }
    assert!(!server.has_ended(), "a write is still under way");

    sqlx::raw_sql("ROLLBACK").execute(&mut holder).await.unwrap();
    let answer = submitting.await.unwrap().expect_status(200);
    assert_eq!(answer.body["status"], "pending");
    let said = server.end();
    assert_eq!(said.code, 0, "{said:?}");
    assert!(said.stderr.contains("stopped"), "{}", said.stderr);
    let since = Instant::now();
    let left =
        "SELECT count(*) FROM pg_stat_activity WHERE datname = current_database() AND application_name = 'ringi'";
    // The server's side of a closed connection takes a moment to notice.
    while sqlx::query_scalar::<_, i64>(left).fetch_one(&mut looking).await.unwrap() > 0 {
        assert!(since.elapsed() < PATIENCE, "a connection is left");
    }
    let status: String =
        sqlx::query_scalar("SELECT status FROM approval_request").fetch_one(&mut looking).await.unwrap();
    assert_eq!(status, "pending");
    looking.close().await.unwrap();
}

#[tokio::test(flavor = "multi_thread")]
async fn idle_connections_do_not_keep_a_stopping_server() {
    let database = Database::new().await;
    let server = Serving::on(&database.url(), &[]);
    let address = server.address.strip_prefix("http://").unwrap().to_owned();
    let mut probes = Vec::new();
    for _ in 0..5 {
        let mut probe = Probe::open(&address).await;
        assert_eq!(probe.ready().await, Some(200));
        probes.push(probe);
    }
    // The default grace is 25 s; the harness waits 20 s.
    assert_eq!(server.stop().code, 0);
}

/// One kept connection that asks for readiness, again and again.
struct Probe(tokio::net::TcpStream);

impl Probe {
    async fn open(address: &str) -> Self {
        Self(tokio::net::TcpStream::connect(address).await.unwrap())
    }

    /// The answer's status; `None` when the server hung up.
    async fn ready(&mut self) -> Option<u16> {
        self.0.write_all(b"GET /health/ready HTTP/1.1\r\nHost: ringi\r\n\r\n").await.ok()?;
        let mut answer = Vec::new();
        let mut part = [0; 4096];
        // The body is the last thing that comes.
        while !answer.ends_with(b"}") {
            let read = tokio::time::timeout(PATIENCE, self.0.read(&mut part)).await.expect("no answer").ok()?;
            if read == 0 {
                return None;
            }
            answer.extend_from_slice(&part[..read]);
        }
        String::from_utf8_lossy(&answer).split(' ').nth(1)?.parse().ok()
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn org_create_makes_an_organization_whose_administrator_can_begin() {
    let database = Database::new().await;
    let url = database.url();
    let admin = Uuid::new_v4();
    let made: Value = serde_json::from_str(&create_org(&url, "Kumo 雲", "Asia/Tokyo", admin).success()).unwrap();
    let expected = json!({"id": made["id"], "name": "Kumo 雲", "time_zone": "Asia/Tokyo",
                          "admin": {"user_id": admin, "display_name": "Dara"}});
    assert_eq!(made, expected);
    for zone in ["UTC", "Pacific/Kiritimati", "America/Argentina/Ushuaia", "Asia/Kathmandu"] {
        create_org(&url, "Zones", zone, Uuid::new_v4()).success();
    }
    // Names that mean the opposite of what people read, abbreviations, and what is no zone at all.
    for zone in ["UTC+14", "Mars/Olympus", "", "JST", "EST5EDT", "+09:00", "posix/Asia/Tokyo", "asia/tokyo", "Asia"] {
        create_org(&url, "Zones", zone, Uuid::new_v4()).refused(1, &["unknown time zone", "Asia/Tokyo"]);
    }
    create_org(&url, " ", "UTC", Uuid::new_v4()).refused(1, &["org create: name"]);
    let id = made["id"].as_str().unwrap();
    let again =
        ["org", "create", "--id", id, "--name", "Twice", "--admin-name", "Dara", "--admin-id", &admin.to_string()];
    run(&again, &[("DATABASE_URL", &url)]).refused(1, &["exists already"]);

    let server = Serving::on(&url, &[]);
    let user = admin.to_string();
    let token = run(&["token", "--user", &user, "--ttl", "1h"], &[KEY, NOWHERE]).success();
    let mut person = Person::with_id(&client(), &server.address, id_of(&made), "Dara", admin);
    token.trim().clone_into(&mut person.token);
    let me = person.read("/api/v1/me").await.expect_status(200).body;
    assert_eq!(me["memberships"][0]["organization_name"], "Kumo 雲");
    assert_eq!(me["memberships"][0]["is_admin"], true);
    assert_eq!(server.stop().code, 0);
}

#[test]
fn token_refuses_what_the_server_would_not_accept() {
    let user = Uuid::new_v4().to_string();
    let token = |ttl: &str, settings: &[(&str, &str)]| run(&["token", "--user", &user, "--ttl", ttl], settings);
    token("25h", &[KEY]).refused(1, &["--ttl", "86400 s", "auth.max_token_lifetime_s"]);
    token("24h", &[KEY]).success();
    token("2m", &[KEY, ("RINGI__AUTH__MAX_TOKEN_LIFETIME_S", "60")]).refused(1, &["60 s"]);
    token("1h", &[]).refused(1, &["RINGI__AUTH__HS256_SECRET"]);
}

#[tokio::test(flavor = "multi_thread")]
async fn the_demo_twice_is_the_same_as_once() {
    let database = Database::new().await;
    let url = database.url();
    let mut db = database.connect().await;
    let said = run(&["demo"], &[("DATABASE_URL", &url)]).success();
    assert!(said.contains("Aiko Tanaka") && said.contains("ringi token --user"), "{said}");
    let once = all_rows(&mut db).await;
    assert!(once.iter().any(|(table, rows)| table == "approval_request" && rows.len() > 5), "{once:#?}");

    let json = run(&["demo", "--json"], &[("DATABASE_URL", &url)]).success();
    let people: Vec<Value> = json.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    assert_eq!(people.len(), 4);
    assert_eq!(all_rows(&mut db).await, once);

    // And with what `serve --demo` does.
    let mut command = command(&["serve", "--demo"], &[KEY]);
    command.env("DATABASE_URL", &url).env("PORT", "0");
    let server = Serving::start(command);
    assert_eq!(server.stop().code, 0);
    assert_eq!(all_rows(&mut db).await, once);
    crate::harness::check_invariants(&mut db).await;
    db.close().await.unwrap();
}

async fn all_rows(db: &mut sqlx::PgConnection) -> Vec<(String, Vec<String>)> {
    let tables: Vec<String> =
        sqlx::query_scalar("SELECT tablename::text FROM pg_tables WHERE schemaname = 'public' ORDER BY tablename")
            .fetch_all(&mut *db)
            .await
            .unwrap();
    // Events are moved by whoever relays them, wherever they stood.
    let moving = ["outbox_event", "event_log", "event_stream"];
    let others = tables.into_iter().filter(|table| !moving.contains(&table.as_str()));
    let mut all = Vec::new();
    for table in others.chain([EVENTS.to_owned()]) {
        let sql = format!("SELECT t::text FROM {table} t ORDER BY t::text");
        let rows = sqlx::query_scalar(AssertSqlSafe(sql)).fetch_all(&mut *db).await.unwrap();
        all.push((table, rows));
    }
    all
}

#[tokio::test(flavor = "multi_thread")]
async fn a_schema_that_is_behind_is_told_and_mended_only_when_asked() {
    let database = Database::empty().await;
    let url = database.url();
    let settings = [KEY, ("DATABASE_URL", url.as_str()), ("PORT", "0")];
    let check = || run(&["migrate", "--check"], &settings);
    let all = std::fs::read_dir(concat!(env!("CARGO_MANIFEST_DIR"), "/migrations")).unwrap().count();
    let said = check();
    assert_eq!((said.code, said.stdout), (1, format!("{all} migration(s) missing\n")));
    let lacks = format!("lacks {all} migration(s)");
    run(&["serve"], &settings).refused(1, &[&lacks, "ringi migrate", "ringi serve --migrate"]);
    run(&["demo"], &settings).refused(1, &[&lacks]);
    assert_eq!(check().code, 1, "looking changes nothing");

    let server = Serving::start(command(&["serve", "--migrate"], &settings));
    let ready = Answer::of(client().request(Method::GET, format!("{}/health/ready", server.address))).await;
    assert_eq!(ready.expect_status(200).body, json!({"status": "ready"}));
    assert_eq!(server.stop().code, 0);
    assert_eq!(check().success(), "0 migration(s) missing\n");
    assert!(run(&["migrate"], &settings).success().starts_with(&format!("0 migration(s) applied, {all} known")));
    assert_eq!(Serving::start(command(&["serve"], &settings)).stop().code, 0);
}

#[tokio::test(flavor = "multi_thread")]
async fn no_secret_reaches_a_log() {
    const PASSWORD: &str = "hunter2-of-the-database";
    let database = Database::new().await;
    let url = format!("{}&password={PASSWORD}", database.url());
    let (organization, admin) = organization(&url);
    let server = Serving::on(&url, &[("RINGI__LOG__FILTER", "trace")]);
    let admin = Person::with_id(&client(), &server.address, organization, "Dara", admin);
    let draft = admin.create("A secret project").await;
    admin.act(&draft, "submit", None).await.expect_status(200);
    let mut bad = admin.clone();
    bad.token.push('x');
    bad.read("requests").await.expect_problem(401, "unauthenticated");
    let said = server.stop();
    assert_eq!(said.code, 0);
    assert!(said.stderr.contains("\"level\":\"DEBUG\""), "the log is as talkative as it gets");
    // Without their signatures tokens are of no use, but nobody needs their other parts either.
    let parts = admin.token.split('.').skip(1);
    for secret in [SECRET, PASSWORD, &admin.token].into_iter().chain(parts) {
        for text in [&said.stderr, &said.stdout] {
            let line = text.lines().find(|line| line.contains(secret));
            assert_eq!(line, None, "{secret:?} is in the log");
        }
    }

    // Where things fail, as well.
    for wrong in [
        format!("postgres://ringi:{PASSWORD}@127.0.0.1:1/ringi"),
        format!("postgres://ringi:{PASSWORD}@:none/ringi"),
        format!("{url}&sslmode=wrong"),
    ] {
        let said = run(&["serve"], &[KEY, ("PORT", "0"), ("DATABASE_URL", &wrong)]).refused(1, &["ringi: "]);
        assert!(!said.contains(PASSWORD) && !said.contains(SECRET), "{said}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn settings_come_from_the_environment_then_the_file_then_env_file() {
    let database = Database::new().await;
    let folder = Folder::new("settings");
    let text = format!(
        "[database]\nurl = \"{}\"\n[http]\nlisten = \"127.0.0.1:1\"\n[auth]\nhs256_secret = \"{SECRET}\"\n",
        database.url()
    );
    let file = folder.write("ringi.toml", &text);
    // A `.env` in the working folder names the file; the environment has the last word.
    folder.write(".env", &format!("RINGI_CONFIG={}\nPORT=2\nRINGI__HTTP__LISTEN=127.0.0.1:3\n", file.display()));
    let in_folder = |arguments: &[&str], settings: &[(&str, &str)]| {
        let mut command = command(arguments, settings);
        command.current_dir(&folder.0);
        command
    };
    let free = std::net::TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap().port().to_string();
    let server = Serving::start(in_folder(&["serve"], &[("PORT", &free)]));
    assert_eq!(server.address, format!("http://127.0.0.1:{free}"), "PORT is honoured");
    assert_eq!(server.stop().code, 0);

    // The key of the file is the one that signs.
    let user = Uuid::new_v4().to_string();
    assert_eq!(run_command(in_folder(&["token", "--user", &user], &[])).success().split('.').count(), 3);

    folder.write(".env", "this is = not = a file of settings\n\"");
    run_command(in_folder(&["token", "--user", &user], &[KEY])).refused(1, &[".env can't be read"]);
}
