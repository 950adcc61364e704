//! An outside system that answers at once, and writes down when the first byte of each call came.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant, SystemTime};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpListener, TcpStream};
use tokio::task::JoinHandle;

/// One call.
#[derive(Clone)]
pub struct Asked {
    pub at: Instant,
    /// The same by the clock that the database has, too.
    pub time: SystemTime,
    pub body: serde_json::Value,
}

#[derive(Default)]
struct Book {
    calls: Vec<Asked>,
    keys: HashMap<String, usize>,
    /// Calls are not answered.
    holds: bool,
}

pub struct Outside {
    pub url: String,
    book: Arc<Mutex<Book>>,
    serving: JoinHandle<()>,
}

impl Outside {
    /// With `holds`, no call is ever answered.
    pub async fn start(holds: bool) -> Result<Self, String> {
        let listener = TcpListener::bind("127.0.0.1:0").await.map_err(|error| error.to_string())?;
        let url = format!("http://{}/", listener.local_addr().map_err(|error| error.to_string())?);
        let book = Arc::new(Mutex::new(Book { holds, ..Book::default() }));
        let serving = tokio::spawn({
            let book = Arc::clone(&book);
            async move {
                while let Ok((stream, _)) = listener.accept().await {
                    drop(stream.set_nodelay(true));
                    tokio::spawn(serve(stream, Arc::clone(&book)));
                }
            }
        });
        Ok(Self { url, book, serving })
    }

    pub fn calls(&self) -> Vec<Asked> {
        self.book.lock().unwrap_or_else(PoisonError::into_inner).calls.clone()
    }

    pub fn count(&self) -> usize {
        self.book.lock().unwrap_or_else(PoisonError::into_inner).keys.len()
    }

    /// Waits until there were calls under this many keys.
    pub async fn until(&self, keys: usize, patience: Duration) -> Result<(), String> {
        let start = Instant::now();
        while self.count() < keys {
            if start.elapsed() > patience {
                return Err(format!("{} of {keys} calls after {patience:?}", self.count()));
            }
            tokio::time::sleep(Duration::from_millis(5)).await;
        }
        Ok(())
    }
}

impl Drop for Outside {
    fn drop(&mut self) {
        self.serving.abort();
    }
}

async fn serve(mut stream: TcpStream, book: Arc<Mutex<Book>>) {
    let mut buffer = Vec::with_capacity(4 * 1024);
    loop {
        buffer.clear();
        let (mut first, mut whole) = (None, None);
        while whole.is_none_or(|whole| buffer.len() < whole) {
            match stream.read_buf(&mut buffer).await {
                Ok(0) | Err(_) => return,
                Ok(_) => {}
            }
            first.get_or_insert((Instant::now(), SystemTime::now()));
            whole = whole.or_else(|| length(&buffer));
        }
        let (Some((at, time)), Some((head, body))) = (first, parts(&buffer)) else { return };
        let key = header(head, "idempotency-key").or_else(|| header(head, "webhook-id")).unwrap_or_default().to_owned();
        let body = serde_json::from_slice(body).unwrap_or_default();
        let holds = {
            let mut book = book.lock().unwrap_or_else(PoisonError::into_inner);
            *book.keys.entry(key).or_default() += 1;
            book.calls.push(Asked { at, time, body });
            book.holds
        };
        if holds {
            // Until who asked is gone.
            drop(stream.read_buf(&mut buffer).await);
            return;
        }
        let answer =
            b"HTTP/1.1 200 OK\r\ncontent-type: application/json\r\ncontent-length: 16\r\n\r\n{\"order\":\"A-17\"}";
        if stream.write_all(answer).await.is_err() {
            return;
        }
    }
}

fn parts(buffer: &[u8]) -> Option<(&str, &[u8])> {
    let end = buffer.windows(4).position(|window| window == b"\r\n\r\n")?;
    Some((std::str::from_utf8(buffer.get(..end)?).ok()?, buffer.get(end + 4..)?))
}

fn header<'a>(head: &'a str, name: &str) -> Option<&'a str> {
    head.split("\r\n")
        .filter_map(|line| line.split_once(':'))
        .find(|(found, _)| found.eq_ignore_ascii_case(name))
        .map(|(_, value)| value.trim())
}

/// Of head and body, once the head is there.
fn length(buffer: &[u8]) -> Option<usize> {
    let (head, body) = parts(buffer)?;
    let length: usize = header(head, "content-length")?.parse().ok()?;
    Some(buffer.len() - body.len() + length)
}
