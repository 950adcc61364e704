//! Clients that are slow, silent, many or malicious, over sockets of their own: what they can hold and for how long, and that
//! nobody's bytes are read as somebody else's call.

use crate::harness::{App, Database, PATIENCE, Person, settings};
use crate::process::organization;
use crate::ringi::Serving;
use crate::wire::{connect, head, read_answer, send_bytes};
use serde_json::json;
use std::net::SocketAddr;
use std::time::{Duration, Instant};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpSocket, TcpStream};

const JSON: &str = "Content-Type: application/json\r\n";

fn address(app: &App) -> SocketAddr {
    app.address.trim_start_matches("http://").parse().unwrap()
}

/// A connection that takes little at once.
async fn narrow(app: &App) -> TcpStream {
    let socket = TcpSocket::new_v4().unwrap();
    socket.set_recv_buffer_size(4096).unwrap();
    socket.connect(address(app)).await.unwrap()
}

/// Whether the server still has its end of this connection, as the operating system knows it.
fn is_held(app: &App, client: SocketAddr) -> bool {
    let (server, client) = (format!(":{:04X}", address(app).port()), format!(":{:04X}", client.port()));
    let table = std::fs::read_to_string("/proc/net/tcp").unwrap();
    table.lines().skip(1).any(|line| {
        let cells: Vec<&str> = line.split_whitespace().collect();
        // 01: established.
        cells[1].ends_with(&server) && cells[2].ends_with(&client) && cells[3] == "01"
    })
}

async fn until(what: &str, mut is_so: impl FnMut() -> bool) {
    let start = Instant::now();
    while !is_so() {
        assert!(start.elapsed() < PATIENCE, "{what}");
        tokio::time::sleep(Duration::from_millis(10)).await;
    }
}

/// Requests whose list is longer than what the two ends' buffers hold.
async fn much_to_read(app: &App) -> Person {
    let applicant = app.applicant().await;
    let description = "稟".repeat(10_000);
    for _ in 0..200 {
        applicant.post("requests", json!({"title": "Long", "description": description})).await.expect_status(201);
    }
    applicant
}

const LONG_LIST: &str = "requests?limit=200";

#[tokio::test(flavor = "multi_thread")]
async fn a_client_that_takes_nothing_of_its_answer_loses_the_connection() {
    let mut settings = settings();
    settings.http.unread_timeout = Duration::from_secs(1);
    let app = App::with(settings).await;
    let applicant = much_to_read(&app).await;
    let mut idle = connect(&app).await;
    idle.write_all(head(&applicant, "GET", "requests/counts", "").as_bytes()).await.unwrap();
    read_answer(&mut idle).await.expect_status(200);

    let mut silent = Vec::new();
    for _ in 0..5 {
        let mut stream = narrow(&app).await;
        stream.write_all(head(&applicant, "GET", LONG_LIST, "").as_bytes()).await.unwrap();
        // The answer is there; nothing of it is taken but its first byte.
        stream.read_u8().await.unwrap();
        let client = stream.local_addr().unwrap();
        assert!(is_held(&app, client));
        silent.push((stream, client));
    }
    until("the server holds answers that nobody takes", || !silent.iter().any(|(_, client)| is_held(&app, *client)))
        .await;
    // Who has nothing to take may be silent, and who takes gets all.
    idle.write_all(head(&applicant, "GET", "requests/counts", "").as_bytes()).await.unwrap();
    read_answer(&mut idle).await.expect_status(200);
    assert_eq!(applicant.read(LONG_LIST).await.expect_status(200).body["items"].as_array().unwrap().len(), 200);
    app.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_client_that_takes_its_answer_drop_by_drop_is_broken_off() {
    let mut settings = settings();
    settings.http.answer_timeout = Duration::from_millis(1_500);
    let app = App::with(settings).await;
    let applicant = much_to_read(&app).await;
    assert_eq!(applicant.read(LONG_LIST).await.expect_status(200).body["items"].as_array().unwrap().len(), 200);

    let mut stream = narrow(&app).await;
    stream.write_all(head(&applicant, "GET", LONG_LIST, "").as_bytes()).await.unwrap();
    let (mut taken, mut drops) = (0, [0; 8 * 1024]);
    let start = Instant::now();
    // 400 kB/s: all of it would take 15 s.
    while let Ok(n @ 1..) = stream.read(&mut drops).await {
        taken += n;
        assert!(taken < 6_000_000 && start.elapsed() < PATIENCE, "{taken} bytes in {:?}", start.elapsed());
        tokio::time::sleep(Duration::from_millis(20)).await;
    }
    assert!(taken > 100_000, "{taken}: it was served until then");
    app.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_head_that_comes_drop_by_drop_is_not_waited_for() {
    let mut settings = settings();
    settings.http.head_timeout = Duration::from_millis(500);
    let app = App::with(settings).await;
    let mut silent = connect(&app).await;
    let mut slow = connect(&app).await;
    let sent = "GET /health/live HTTP/1.1\r\nHost: ringi\r\nX-Slow: ".to_owned() + &"x".repeat(5_000);
    let start = Instant::now();
    for byte in sent.as_bytes() {
        if slow.write_all(&[*byte]).await.is_err() {
            break;
        }
        assert!(start.elapsed() < PATIENCE, "it goes on for ever");
        tokio::time::sleep(Duration::from_millis(10)).await;
    }
    for stream in [&mut slow, &mut silent] {
        let mut said = Vec::new();
        let ended = tokio::time::timeout(PATIENCE, stream.read_to_end(&mut said)).await;
        assert!(ended.is_ok(), "the connection stays");
        let said = String::from_utf8_lossy(&said);
        assert!(said.is_empty() || said.starts_with("HTTP/1.1 408"), "{said}");
    }
    app.stop().await;
}

/// A call, or a whole series of them, sent inside another: `{}` is where the lines about its length stand.
fn smuggling(applicant: &Person) -> Vec<(String, Vec<u8>)> {
    let inner_body = r#"{"title": "smuggled"}"#;
    let lines = format!("{JSON}Connection: close\r\nContent-Length: {}\r\n", inner_body.len());
    let inner = head(applicant, "POST", "requests", &lines) + inner_body;
    let n = inner.len() + 5;
    let mut tries = Vec::new();
    for lines in [
        // Two lengths, or a length and chunks, in either order.
        format!("Content-Length: 5\r\nContent-Length: {n}\r\n"),
        format!("Content-Length: {n}\r\nContent-Length: 5\r\n"),
        "Content-Length: 5, 5\r\n".to_owned(),
        format!("Content-Length: {n}\r\nTransfer-Encoding: chunked\r\n"),
        format!("Transfer-Encoding: chunked\r\nContent-Length: {n}\r\n"),
        // Lengths that others read otherwise.
        "Content-Length: +5\r\n".to_owned(),
        "Content-Length: 0x5\r\n".to_owned(),
        "Content-Length: 5 5\r\n".to_owned(),
        "Content-Length: 5.0\r\n".to_owned(),
        "Content-Length: -5\r\n".to_owned(),
        "Content-Length: 18446744073709551621\r\n".to_owned(),
        // Codings that others read otherwise, or overlook.
        "Transfer-Encoding: xchunked\r\n".to_owned(),
        "Transfer-Encoding: chunked, identity\r\n".to_owned(),
        "Transfer-Encoding: chunked, chunked\r\n".to_owned(),
        "Transfer-Encoding: chunked\r\nTransfer-Encoding: identity\r\n".to_owned(),
        "Transfer-Encoding: identity\r\nTransfer-Encoding: chunked\r\n".to_owned(),
        format!("Transfer-Encoding: \u{b}chunked\r\nContent-Length: {n}\r\n"),
        format!("Transfer-Encoding : chunked\r\nContent-Length: {n}\r\n"),
        format!(" Transfer-Encoding: chunked\r\nContent-Length: {n}\r\n"),
        // Lines that others split or join otherwise.
        format!("X-Folded: a\r\n Transfer-Encoding: chunked\r\nContent-Length: {n}\r\n"),
        format!("X-Folded: a\r\n\tb\r\nContent-Length: {n}\r\n"),
        format!("X-Split: a\rTransfer-Encoding: chunked\r\nContent-Length: {n}\r\n"),
        format!("X-Split: a\nTransfer-Encoding: chunked\r\nContent-Length: {n}\r\n"),
        format!("X\u{0}Y: a\r\nContent-Length: {n}\r\n"),
        format!("X Y: a\r\nContent-Length: {n}\r\n"),
        format!(": a\r\nContent-Length: {n}\r\n"),
        // Chunks whose sizes others read otherwise.
        "Transfer-Encoding: chunked\r\n\r\n-1\r\n".to_owned(),
        "Transfer-Encoding: chunked\r\n\r\n0x0\r\n".to_owned(),
        "Transfer-Encoding: chunked\r\n\r\n10000000000000000\r\n".to_owned(),
        "Transfer-Encoding: chunked\r\n\r\n;x\r\n".to_owned(),
        "Transfer-Encoding: chunked\r\n\r\n0\n\r\n".to_owned(),
        "Transfer-Encoding: chunked\r\n\r\n2\r\n{}0\r\n\r\n".to_owned(),
    ] {
        let outer = head(applicant, "POST", "requests", &format!("{JSON}{lines}"));
        tries.push((lines, (outer + "0\r\n\r\n" + &inner).into_bytes()));
    }
    let old = head(applicant, "POST", "requests", &format!("{JSON}Transfer-Encoding: chunked\r\n"));
    tries.push(("chunks in HTTP/1.0".to_owned(), (old.replace("HTTP/1.1", "HTTP/1.0") + "0\r\n\r\n" + &inner).into()));
    tries
}

/// Where two readers could disagree on where a call ends, there is one answer, a refusal, and the end of the connection: what
/// follows is not read as another call.
#[tokio::test(flavor = "multi_thread")]
async fn a_call_inside_a_call_is_not_served() {
    let app = App::start().await;
    let applicant = app.applicant().await;
    let mut served = Vec::new();
    for (what, bytes) in smuggling(&applicant) {
        let before = app.everything().await;
        let mut stream = connect(&app).await;
        // The server may end the connection before it has read all of it.
        let _ = stream.write_all(&bytes).await;
        let mut said = Vec::new();
        let ended = tokio::time::timeout(PATIENCE, stream.read_to_end(&mut said)).await;
        let said = String::from_utf8_lossy(&said).into_owned();
        let statuses: Vec<&str> = said.split("HTTP/1.1 ").skip(1).map(|rest| &rest[..3]).collect();
        let refused = ended.is_ok() && (statuses.is_empty() || (statuses.len() == 1 && statuses[0].starts_with('4')));
        if !refused || app.everything().await != before {
            served.push((what, statuses.join(" ")));
        }
    }
    assert!(served.is_empty(), "{served:#?}");
    app.stop().await;
}

/// What no limit of a body counts: the parts of a call that are thrown away.
#[tokio::test(flavor = "multi_thread")]
async fn endless_heads_chunk_extensions_and_trailers_end() {
    let mut settings = settings();
    settings.http.body_timeout = Duration::from_millis(500);
    let app = App::with(settings).await;
    let applicant = app.applicant().await;
    let chunked = head(&applicant, "POST", "requests", &format!("{JSON}Transfer-Encoding: chunked\r\n"));
    let many = "X-Header: x\r\n".repeat(10_000);
    for (what, start, more) in [
        ("headers", head(&applicant, "GET", "requests", &many), String::new()),
        ("a chunk's extension", chunked.clone() + "2;", "x".repeat(64 * 1024)),
        ("trailers", chunked + "2\r\n{}\r\n0\r\n", "X-Trailer: x\r\n".repeat(4_000)),
    ] {
        let before = app.everything().await;
        let mut stream = connect(&app).await;
        let _ = stream.write_all(start.as_bytes()).await;
        let begun = Instant::now();
        // Until the server has had enough.
        while !more.is_empty() && stream.write_all(more.as_bytes()).await.is_ok() {
            assert!(begun.elapsed() < PATIENCE, "{what}: it goes on for ever");
        }
        let mut said = Vec::new();
        let _ = tokio::time::timeout(PATIENCE, stream.read_to_end(&mut said)).await.expect(what);
        let said = String::from_utf8_lossy(&said);
        assert!(said.is_empty() || said.starts_with("HTTP/1.1 4"), "{what}: {said}");
        assert_eq!(app.everything().await, before, "{what}");
    }
    send_bytes(&app, b"GET /health/live HTTP/1.1\r\nHost: ringi\r\n\r\n").await.expect_status(200);
    app.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn connections_are_bounded_and_who_comes_next_waits() {
    let mut settings = settings();
    settings.http.workers = 1;
    settings.http.max_connections = 4;
    let app = App::with(settings).await;
    let live = b"GET /health/live HTTP/1.1\r\nHost: ringi\r\n\r\n";
    let mut open = Vec::new();
    for _ in 0..4 {
        let mut stream = connect(&app).await;
        stream.write_all(live).await.unwrap();
        read_answer(&mut stream).await.expect_status(200);
        open.push(stream);
    }
    let mut next = connect(&app).await;
    next.write_all(live).await.unwrap();
    let early = tokio::time::timeout(Duration::from_millis(300), next.read_u8()).await;
    assert!(early.is_err(), "a fifth connection is served: {early:?}");
    drop(open.pop());
    read_answer(&mut next).await.expect_status(200);
    drop((open, next));
    app.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn ten_thousand_idle_connections_are_held_and_others_are_served() {
    ringi::lifecycle::allow_files(0);
    let files = rustix::process::getrlimit(rustix::process::Resource::Nofile).current;
    let many = files.map_or(10_000, |files| usize::try_from(files).unwrap().saturating_sub(2_000).min(10_000));
    assert!(many >= 1_000, "raise the limit of open files (ulimit -n) for this test");
    let database = Database::new().await;
    let server = Serving::on(&database.url(), &[]);
    let kilobytes = || {
        let status = std::fs::read_to_string(format!("/proc/{}/status", server.pid().as_raw_nonzero())).unwrap();
        let line = status.lines().find_map(|line| line.strip_prefix("VmRSS:")).unwrap();
        line.trim().split(' ').next().unwrap().parse::<usize>().unwrap()
    };
    let before = kilobytes();
    let address: SocketAddr = server.address.trim_start_matches("http://").parse().unwrap();
    let live = b"GET /health/live HTTP/1.1\r\nHost: ringi\r\n\r\n";
    let open = async || {
        let mut stream = TcpStream::connect(address).await.unwrap();
        stream.write_all(live).await.unwrap();
        read_answer(&mut stream).await.expect_status(200);
        stream
    };
    let mut idle = Vec::with_capacity(many);
    while idle.len() < many {
        idle.extend(futures_util::future::join_all((0..100).map(|_| open())).await);
    }
    let each = kilobytes().saturating_sub(before) * 1024 / many;
    println!("{many} idle connections, {each} bytes each");
    assert!(each < 64 * 1024, "{each} bytes for an idle connection");

    // Somebody works as if nobody were there, and the idle ones are still connections.
    let (organization, admin) = organization(&database.url());
    let http = reqwest::Client::builder().no_proxy().build().unwrap();
    let dara = Person::with_id(&http, &server.address, organization, "Dara", admin);
    dara.create("A desk").await;
    for stream in idle.iter_mut().step_by(1_000) {
        stream.write_all(live).await.unwrap();
        read_answer(stream).await.expect_status(200);
    }
    assert_eq!(server.stop().code, 0);
}

/// Whoever sends what is no HTTP can't fill the log with it.
#[tokio::test(flavor = "multi_thread")]
async fn garbage_makes_no_lines_of_log() {
    let database = Database::new().await;
    // So few that the limit of open files is no reason to warn.
    let server = Serving::on(&database.url(), &[("RINGI__HTTP__MAX_CONNECTIONS", "100")]);
    let address: SocketAddr = server.address.trim_start_matches("http://").parse().unwrap();
    for garbage in
        [&b"GET / HTTP/1.1\r\nA\0B: c\r\n\r\n"[..], b"\x16\x03\x01", b"GET /\r\n\r\n", b"PRI * HTTP/2.0\r\n\r\n"]
    {
        let mut stream = TcpStream::connect(address).await.unwrap();
        stream.write_all(garbage).await.unwrap();
        stream.shutdown().await.unwrap();
        let _ = stream.read_to_end(&mut Vec::new()).await;
    }
    let said = server.stop();
    assert_eq!(said.code, 0);
    let bad = said.stderr.lines().find(|line| line.contains("\"ERROR\"") || line.contains("\"WARN\""));
    assert_eq!(bad, None);
}

/// However many ask whether the process is ready, one connection of the pool asks the database.
#[tokio::test(flavor = "multi_thread")]
async fn probes_share_one_look_at_the_database() {
    let app = App::start().await;
    let applicant = app.applicant().await;
    let held = app.hold("LOCK TABLE _sqlx_migrations IN ACCESS EXCLUSIVE MODE").await;
    let mut probes = Vec::new();
    for _ in 0..50 {
        let mut stream = connect(&app).await;
        stream.write_all(b"GET /health/ready HTTP/1.1\r\nHost: ringi\r\n\r\n").await.unwrap();
        probes.push(stream);
    }
    // Time for them to arrive, made of calls that are answered meanwhile.
    for _ in 0..20 {
        applicant.read("requests/counts").await.expect_status(200);
    }
    app.until_waiting(1).await;
    held.release().await;
    for mut probe in probes {
        read_answer(&mut probe).await.expect_status(200);
    }
    app.stop().await;
}
