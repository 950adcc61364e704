//! The outside system that is asked after an approval: a real HTTP server that can hang, fail, stream without end and
//! redirect, and that writes down who asked what, when, and under which key and fence.

use crate::harness::{App, Person, settings};
use crate::key_server::until;
use ringi::config::{Secret, Settings};
use serde_json::{Value, json};
use std::collections::HashMap;
use std::net::SocketAddr;
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::watch;
use tokio::task::JoinHandle;

/// How it answers.
#[derive(Clone, Debug)]
pub enum Mood {
    /// 200 with the fence that asked.
    Good,
    /// This status, with these head lines and this body.
    Says(u16, &'static str, &'static str),
    /// 200 with the fence that asked, after a while.
    Slow(Duration),
    /// 200 and a body without an end.
    Endless,
    /// Bytes that are not HTTP.
    Garbage,
    /// A head and the beginning of a body, and then the end.
    Half,
    /// Says nothing until the mood changes, and then answers by the new one.
    Held,
}

/// One call, as it came in.
#[derive(Clone, Debug)]
pub struct Asked {
    pub key: String,
    pub fence: i64,
    pub body: Value,
    pub head: String,
    pub begun: Instant,
    /// When it was answered, or who asked was gone.
    pub ended: Option<Instant>,
    pub hung_up: bool,
}

#[derive(Default)]
struct Book {
    calls: Vec<Asked>,
    open: HashMap<String, usize>,
    /// Two calls under one key at the same time.
    overlaps: Vec<String>,
}

pub struct Outside {
    pub address: SocketAddr,
    mood: watch::Sender<Mood>,
    book: Arc<Mutex<Book>>,
    serving: JoinHandle<()>,
}

impl Outside {
    pub async fn start(mood: Mood) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let address = listener.local_addr().unwrap();
        let (mood, book) = (watch::Sender::new(mood), Arc::<Mutex<Book>>::default());
        let serving = tokio::spawn({
            let (mood, book) = (mood.clone(), Arc::clone(&book));
            async move {
                while let Ok((stream, _)) = listener.accept().await {
                    let (mood, book) = (mood.subscribe(), Arc::clone(&book));
                    tokio::spawn(async move { drop(serve(stream, mood, book).await) });
                }
            }
        });
        Self { address, mood, book, serving }
    }

    pub fn url(&self) -> String {
        format!("http://{}/orders", self.address)
    }

    pub fn mood(&self, mood: Mood) {
        self.mood.send_replace(mood);
    }

    pub fn calls(&self) -> Vec<Asked> {
        self.book.lock().unwrap().calls.clone()
    }

    pub fn overlaps(&self) -> Vec<String> {
        self.book.lock().unwrap().overlaps.clone()
    }

    /// Waits until it was asked this often.
    pub async fn until_asked(&self, times: usize) {
        until(&format!("it is asked {times} times"), async || self.calls().len() >= times).await;
    }

    /// Nobody listens any more: connections are refused.
    pub async fn stop(mut self) {
        self.serving.abort();
        let _ = (&mut self.serving).await;
    }

    /// The quick settings of the tests, with this as the connector: a heartbeat every 200 ms, a takeover after 1.5 s.
    pub fn settings(&self) -> Settings {
        connected_to(&self.url())
    }

    /// The same, for another process.
    pub fn variables(&self) -> Vec<(&'static str, String)> {
        vec![
            ("RINGI__PROCESSING__CONNECTOR_URL", self.url()),
            ("RINGI__PROCESSING__HEARTBEAT_INTERVAL_MS", "200".to_owned()),
            ("RINGI__PROCESSING__LEASE_TIMEOUT_MS", "1500".to_owned()),
            ("RINGI__PROCESSING__SAVE_TIMEOUT_MS", "1000".to_owned()),
            ("RINGI__PROCESSING__SWEEP_INTERVAL_MS", "500".to_owned()),
            ("RINGI__PROCESSING__RETRY_MIN_MS", "50".to_owned()),
            ("RINGI__HTTP__DRAIN_MS", "0".to_owned()),
        ]
    }
}

pub fn connected_to(url: &str) -> Settings {
    let mut settings = settings();
    let processing = &mut settings.processing;
    processing.connector_url = Secret::new(url.to_owned());
    processing.heartbeat_interval = Duration::from_millis(200);
    processing.lease_timeout = Duration::from_millis(1_500);
    processing.save_timeout = Duration::from_secs(1);
    processing.sweep_interval = Duration::from_millis(500);
    processing.retry_min = Duration::from_millis(50);
    settings
}

impl Drop for Outside {
    fn drop(&mut self) {
        self.serving.abort();
    }
}

async fn serve(mut stream: TcpStream, mut mood: watch::Receiver<Mood>, book: Arc<Mutex<Book>>) -> std::io::Result<()> {
    loop {
        let Some((head, body)) = read(&mut stream).await? else { return Ok(()) };
        let header = |name: &str| {
            head.lines()
                .filter_map(|line| line.split_once(": "))
                .find(|(found, _)| found.eq_ignore_ascii_case(name))
                .map(|(_, value)| value.to_owned())
                .unwrap_or_default()
        };
        let (key, fence) = (header("idempotency-key"), header("ringi-fence").parse().unwrap_or(-1));
        let number = {
            let mut book = book.lock().unwrap();
            let open = book.open.entry(key.clone()).or_default();
            *open += 1;
            if *open > 1 {
                book.overlaps.push(key.clone());
            }
            let body = serde_json::from_slice(&body).unwrap_or_default();
            book.calls.push(Asked {
                key: key.clone(),
                fence,
                body,
                head: head.clone(),
                begun: Instant::now(),
                ended: None,
                hung_up: false,
            });
            book.calls.len() - 1
        };
        let answered = tokio::select! {
            answered = answer(&mut mood, fence) => Some(answered),
            // Nothing more is sent before the answer: this is the end of who asked.
            () = gone(&stream) => None,
        };
        {
            let mut book = book.lock().unwrap();
            *book.open.get_mut(&key).unwrap() -= 1;
            book.calls[number].ended = Some(Instant::now());
            book.calls[number].hung_up = answered.is_none();
        }
        let Some((bytes, end)) = answered else { return Ok(()) };
        stream.write_all(&bytes).await?;
        match end {
            End::KeepOpen => {}
            End::Close => return stream.shutdown().await,
            End::Never => loop {
                stream.write_all(&[b' '; 4_096]).await?;
            },
        }
    }
}

async fn gone(stream: &TcpStream) {
    let mut byte = [0];
    loop {
        match stream.peek(&mut byte).await {
            Ok(0) | Err(_) => return,
            Ok(_) => tokio::task::yield_now().await,
        }
    }
}

enum End {
    KeepOpen,
    Close,
    Never,
}

async fn answer(mood: &mut watch::Receiver<Mood>, fence: i64) -> (Vec<u8>, End) {
    let now = mood.wait_for(|mood| !matches!(mood, Mood::Held)).await.unwrap().clone();
    let good = json!({"fence": fence}).to_string();
    let whole = |status: u16, lines: &str, body: &str| {
        format!("HTTP/1.1 {status} X\r\ncontent-length: {}\r\n{lines}\r\n{body}", body.len()).into_bytes()
    };
    match now {
        Mood::Good => (whole(200, "", &good), End::KeepOpen),
        Mood::Slow(pause) => {
            tokio::time::sleep(pause).await;
            (whole(200, "", &good), End::KeepOpen)
        }
        Mood::Says(status, lines, body) => (whole(status, lines, body), End::KeepOpen),
        Mood::Endless => (b"HTTP/1.1 200 OK\r\nconnection: close\r\n\r\n{".to_vec(), End::Never),
        Mood::Garbage => (b"\x15\x03\x01 what?\r\n\r\n".to_vec(), End::Close),
        Mood::Half => (b"HTTP/1.1 200 OK\r\ncontent-length: 100\r\n\r\n{\"fen".to_vec(), End::Close),
        Mood::Held => unreachable!(),
    }
}

/// The head and the body of the next request.
async fn read(stream: &mut TcpStream) -> std::io::Result<Option<(String, Vec<u8>)>> {
    let mut head = Vec::new();
    while !head.ends_with(b"\r\n\r\n") {
        match stream.read_u8().await {
            Ok(byte) => head.push(byte),
            Err(_) if head.is_empty() => return Ok(None),
            Err(error) => return Err(error),
        }
    }
    let head = String::from_utf8(head).unwrap();
    let length = head
        .lines()
        .find_map(|line| {
            line.to_ascii_lowercase().strip_prefix("content-length: ").map(|n| n.parse::<usize>().unwrap())
        })
        .unwrap_or(0);
    let mut body = vec![0; length];
    stream.read_exact(&mut body).await?;
    Ok(Some((head, body)))
}

/// A request that was approved.
pub async fn approved(app: &App, title: &str) -> (Person, Value) {
    let (applicant, approver) = (app.applicant().await, app.approver().await);
    let pending = applicant.submitted(title).await;
    let approved = approver.approve(&pending).await.expect_status(200).body;
    (applicant, approved)
}

pub fn path(request: &Value) -> String {
    format!("requests/{}/processing", request["id"].as_str().unwrap())
}

/// How its processing stands.
pub async fn standing(person: &Person, request: &Value) -> Value {
    person.read(&path(request)).await.expect_status(200).body
}

/// Waits until its processing has come to this state.
pub async fn until_state(person: &Person, request: &Value, state: &str) -> Value {
    until(&format!("it is {state}"), async || standing(person, request).await["state"] == state).await;
    standing(person, request).await
}

/// The rows of the job's history, oldest first: action, actor.
pub async fn history(app: &App) -> Vec<(String, Value)> {
    let rows = app.admin.read("history?kind=job&limit=200").await.expect_status(200).body;
    let rows = rows["items"].as_array().unwrap().clone();
    rows.iter().map(|row| (row["action"].as_str().unwrap().to_owned(), row["actor_id"].clone())).collect()
}
