//! Telling of what happens: how soon somebody else's open page hears of a decision, and what a listener costs.

use super::{organization_path, request_path, token};
use crate::Options;
use crate::cluster::Cluster;
use crate::data::{self, ADMIN};
use crate::http::{Connection, post};
use crate::load::{Latencies, number};
use crate::serve::{self, Server};
use crate::summary::Summary;
use ringi::domain::ids::UserId;
use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};
use std::time::{Duration, Instant};
use tokio::io::{AsyncBufReadExt as _, AsyncReadExt as _, AsyncWriteExt as _, BufReader};
use tokio::net::TcpStream;
use tokio::sync::mpsc;

const COPY: &str = "bench_events";
const PATIENCE: Duration = Duration::from_secs(20);
/// Files that a process has open besides its listeners.
const OTHER_FILES: u64 = 500;

pub async fn run(options: &Options, cluster: &Cluster, summary: &mut Summary) -> Result<(), String> {
    raise_open_files();
    heard(options, cluster, summary).await?;
    listeners(options, cluster, summary).await?;
    cluster.drop_copy(COPY).await
}

fn said(error: impl std::fmt::Display) -> String {
    error.to_string()
}

/// As many as the system lets this process open, and its servers with it.
fn raise_open_files() {
    let Rlimit { maximum, .. } = getrlimit(Resource::Nofile);
    let _ = setrlimit(Resource::Nofile, Rlimit { current: maximum, maximum });
}

fn admin(organization: u64) -> String {
    token(UserId(data::id(ADMIN, organization)))
}

async fn server(cluster: &Cluster, settings: &[(&str, String)]) -> Result<Server, String> {
    cluster.copy("pending", COPY).await?;
    serve::ringi_with(cluster, &cluster.postgres.url(COPY), 8, &["serve"], settings).await
}

/// Begins to listen; returns when the stream has begun.
async fn listen(address: &str, token: &str, organization: u64) -> Result<TcpStream, String> {
    let mut stream = TcpStream::connect(address).await.map_err(said)?;
    let path = format!("{}/events", organization_path(organization));
    let head = format!("GET {path} HTTP/1.1\r\nHost: bench\r\nAuthorization: Bearer {token}\r\n\r\n");
    stream.write_all(head.as_bytes()).await.map_err(said)?;
    let mut begun = Vec::new();
    while !begun.windows(6).any(|part| part == b"retry:") {
        if begun.starts_with(b"HTTP/1.1 ") && begun.len() > 12 && !begun.starts_with(b"HTTP/1.1 200") {
            return Err(format!("listening was answered {}", String::from_utf8_lossy(&begun[9..12])));
        }
        if stream.read_buf(&mut begun).await.map_err(said)? == 0 {
            return Err("a stream ended before it began".to_owned());
        }
    }
    Ok(stream)
}

/// When which request's approval was heard of.
fn approvals_heard(stream: TcpStream) -> mpsc::UnboundedReceiver<(String, Instant)> {
    let (tell, heard) = mpsc::unbounded_channel();
    tokio::spawn(async move {
        let mut lines = BufReader::new(stream).lines();
        while let Ok(Some(line)) = lines.next_line().await {
            let at = Instant::now();
            let Some(body) = line.strip_prefix("data: ") else { continue };
            let body: serde_json::Value = serde_json::from_str(body).unwrap_or_default();
            if let (Some("request.approve"), Some(id)) = (body["type"].as_str(), body["data"]["request_id"].as_str()) {
                drop(tell.send((id.to_owned(), at)));
            }
        }
    });
    heard
}

/// From the sending of a decision to the line on another person's page, one at a time.
async fn heard(options: &Options, cluster: &Cluster, summary: &mut Summary) -> Result<(), String> {
    let server = server(cluster, &[]).await?;
    let shape = options.pending;
    let mut heard = approvals_heard(listen(&server.address, &admin(0), 0).await?);
    let approver = token(data::approver(0));
    let mut connection = Connection::open(&server.address).await.map_err(said)?;
    let calls: u64 = if options.smoke { 20 } else { 300 };
    let mut took = Vec::new();
    for n in 0..calls {
        let k = n * shape.organizations;
        let path = format!("{}/approve", request_path(shape, k));
        let begun = Instant::now();
        let status = connection.call(&post(&path, &approver, "", r#"{"version":2}"#)).await.map_err(said)?.status;
        if status != 200 {
            return Err(format!("an approval was answered {status}"));
        }
        let next = tokio::time::timeout(PATIENCE, heard.recv()).await;
        let (id, at) = next.ok().flatten().ok_or_else(|| "a decision was not heard of".to_owned())?;
        if id != data::id(data::REQUEST, k).to_string() {
            return Err(format!("{id} was heard of, which was not approved now"));
        }
        // The first ones connect and prepare.
        if n >= 10 {
            took.push(at.saturating_duration_since(begun));
        }
        tokio::time::sleep(Duration::from_millis(20)).await;
    }
    server.stop().await;
    let latencies = Latencies::of(took.into_iter());
    summary.set("events.sse_p50_ms", latencies.ms(0.5), "from the sending of a decision to another person's line")?;
    summary.set("events.sse_p99_ms", latencies.ms(0.99), "100 or less")
}

/// What a process grows by with each listener, of whom each has heard something.
async fn listeners(options: &Options, cluster: &Cluster, summary: &mut Summary) -> Result<(), String> {
    let wanted: u64 = if options.smoke { 200 } else { 10_000 };
    let files = getrlimit(Resource::Nofile).current.unwrap_or(u64::MAX);
    let many = wanted.min(files.saturating_sub(OTHER_FILES));
    if many < wanted {
        println!("  {many} listeners in place of {wanted}: the system allows {files} open files");
    }
    let settings = [("RINGI__EVENTS__MAX_LISTENERS_PER_USER", wanted.to_string())];
    let server = server(cluster, &settings).await?;
    let organizations = options.pending.organizations;
    let tokens: Vec<String> = (0..organizations).map(admin).collect();
    // The parts that the first ones bring along.
    let mut open = Vec::new();
    for n in 0..many / 20 {
        open.push(
            listen(&server.address, &tokens[usize::try_from(n % organizations).unwrap_or(0)], n % organizations)
                .await?,
        );
    }
    tokio::time::sleep(Duration::from_millis(500)).await;
    let before = server.rss_mib().ok_or("no figure of memory")?;
    let first = open.len();
    for n in 0..many {
        open.push(
            listen(&server.address, &tokens[usize::try_from(n % organizations).unwrap_or(0)], n % organizations)
                .await?,
        );
    }
    // Everybody of the first organization hears of something.
    let mut connection = Connection::open(&server.address).await.map_err(said)?;
    let path = format!("{}/approve", request_path(options.pending, 0));
    let approval = post(&path, &token(data::approver(0)), "", r#"{"version":2}"#);
    let status = connection.call(&approval).await.map_err(said)?.status;
    if status != 200 {
        return Err(format!("an approval was answered {status}"));
    }
    for stream in open.iter_mut().step_by(usize::try_from(organizations).unwrap_or(1)).take(50) {
        let mut buffer = Vec::new();
        while !buffer.windows(15).any(|part| part == b"request.approve") {
            let read = tokio::time::timeout(PATIENCE, stream.read_buf(&mut buffer)).await;
            if read.map_err(|_| "a listener heard nothing")?.map_err(said)? == 0 {
                return Err("a stream ended".to_owned());
            }
        }
    }
    let after = server.rss_mib().ok_or("no figure of memory")?;
    let each = (after - before) * 1024.0 / number(open.len() - first);
    drop(open);
    server.stop().await;
    summary.set("events.kib_per_listener", each, &format!("at {many} listeners: 30 or less"))
}
