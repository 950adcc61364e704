//! A lean HTTP/1.1 client: one connection, one call at a time, requests that are ready-made bytes. It costs the machine
//! little, since it shares the cores with what it measures.

use std::io;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;

/// One keep-alive connection.
pub struct Connection {
    address: String,
    stream: TcpStream,
    buffer: Vec<u8>,
}

/// An answer; the body stays in the connection's buffer.
pub struct Response<'a> {
    pub status: u16,
    pub body: &'a [u8],
}

impl Connection {
    pub async fn open(address: &str) -> io::Result<Self> {
        let stream = TcpStream::connect(address).await?;
        stream.set_nodelay(true)?;
        Ok(Self { address: address.to_owned(), stream, buffer: Vec::with_capacity(16 * 1024) })
    }

    /// Sends one request and reads its whole answer.
    pub async fn call(&mut self, request: &[u8]) -> io::Result<Response<'_>> {
        self.buffer.clear();
        self.stream.write_all(request).await?;
        let mut searched = 0;
        let head = loop {
            if self.stream.read_buf(&mut self.buffer).await? == 0 {
                return Err(io::ErrorKind::UnexpectedEof.into());
            }
            if let Some(at) = find(&self.buffer[searched..], b"\r\n\r\n") {
                break searched + at + 4;
            }
            searched = self.buffer.len().saturating_sub(3);
        };
        let (status, length, closes) = parse_head(&self.buffer[..head])?;
        while self.buffer.len() < head + length {
            if self.stream.read_buf(&mut self.buffer).await? == 0 {
                return Err(io::ErrorKind::UnexpectedEof.into());
            }
        }
        if closes {
            self.stream = TcpStream::connect(&self.address).await?;
            self.stream.set_nodelay(true)?;
        }
        Ok(Response { status, body: &self.buffer[head..head + length] })
    }
}

fn find(haystack: &[u8], needle: &[u8]) -> Option<usize> {
    haystack.windows(needle.len()).position(|window| window == needle)
}

/// Status, content length, and whether the server closes.
fn parse_head(head: &[u8]) -> io::Result<(u16, usize, bool)> {
    let wrong = |what: &str| io::Error::new(io::ErrorKind::InvalidData, what.to_owned());
    let text = std::str::from_utf8(head).map_err(|_| wrong("a head that is no text"))?;
    let status = text.get(9..12).and_then(|code| code.parse().ok()).ok_or_else(|| wrong("no status"))?;
    let (mut length, mut closes) = (None, false);
    for line in text.split("\r\n").skip(1) {
        let Some((name, value)) = line.split_once(':') else { continue };
        if name.eq_ignore_ascii_case("content-length") {
            length = value.trim().parse().ok();
        } else if name.eq_ignore_ascii_case("connection") {
            closes = value.trim().eq_ignore_ascii_case("close");
        }
    }
    Ok((status, length.ok_or_else(|| wrong("an answer without a length"))?, closes))
}

/// The bytes of a GET.
pub fn get(path: &str, token: Option<&str>) -> Vec<u8> {
    let authorization = token.map(|token| format!("Authorization: Bearer {token}\r\n")).unwrap_or_default();
    format!("GET {path} HTTP/1.1\r\nHost: bench\r\n{authorization}\r\n").into_bytes()
}

/// The bytes of a POST of JSON; `headers` are whole lines.
pub fn post(path: &str, token: &str, headers: &str, body: &str) -> Vec<u8> {
    write("POST", path, token, headers, body)
}

/// The bytes of a PUT of JSON.
pub fn put(path: &str, token: &str, body: &str) -> Vec<u8> {
    write("PUT", path, token, "", body)
}

fn write(method: &str, path: &str, token: &str, headers: &str, body: &str) -> Vec<u8> {
    format!(
        "{method} {path} HTTP/1.1\r\nHost: bench\r\nAuthorization: Bearer {token}\r\n{headers}Content-Type: \
         application/json\r\nContent-Length: {}\r\n\r\n{body}",
        body.len()
    )
    .into_bytes()
}
