//! What the tests of the HTTP contract share: a refusal that leaves no trace, and bytes that no client library sends.

use crate::harness::{Answer, App, PATIENCE, Person};
use reqwest::header::{HeaderMap, HeaderName, HeaderValue};
use reqwest::{Body, Method, StatusCode};
use serde_json::Value;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;

/// A call that must be refused with this status and code, and must leave everything that is stored as it was.
pub async fn refused(app: &App, what: &str, call: impl Future<Output = Answer>, (status, code): (u16, &str)) -> Answer {
    let before = app.everything().await;
    let answer = call.await;
    assert_eq!((answer.status.as_u16(), &answer.body["code"]), (status, &code.into()), "{what}: {}", answer.text);
    let answer = answer.expect_problem(status, code);
    assert_eq!(app.everything().await, before, "{what} was refused and left a trace");
    answer
}

/// The body of an answer without what differs from call to call: its request's id, and the given ids.
pub fn without_ids(answer: &Answer, ids: &[String]) -> (StatusCode, String) {
    let own = answer.header("x-request-id").to_owned();
    let text = ids.iter().chain([&own]).fold(answer.text.clone(), |text, id| text.replace(id.as_str(), "ID"));
    (answer.status, text)
}

/// The same person with another token.
pub fn with_token(person: &Person, token: impl Into<String>) -> Person {
    let mut person = person.clone();
    person.token = token.into();
    person
}

/// Sends this very text, or these very bytes, as JSON.
pub async fn send(person: &Person, method: Method, path: &str, body: impl Into<Body>) -> Answer {
    Answer::of(person.request(method, path).header("content-type", "application/json").body(body)).await
}

pub async fn post_text(person: &Person, path: &str, body: impl Into<Body>) -> Answer {
    send(person, Method::POST, path, body).await
}

/// Where each violation points, and its code.
pub fn violations(answer: &Answer) -> Vec<(String, String)> {
    let errors = answer.body["errors"].as_array().cloned().unwrap_or_default();
    let text = |value: &Value| value.as_str().unwrap().to_owned();
    errors.iter().map(|error| (text(&error["pointer"]), text(&error["code"]))).collect()
}

/// The head of a request, with these further lines, each ended by CRLF.
pub fn head(person: &Person, method: &str, path: &str, lines: &str) -> String {
    format!(
        "{method} /api/v1/organizations/{}/{path} HTTP/1.1\r\nHost: ringi\r\nAuthorization: Bearer {}\r\n{lines}\r\n",
        person.organization, person.token
    )
}

pub async fn connect(app: &App) -> TcpStream {
    TcpStream::connect(app.address.trim_start_matches("http://")).await.unwrap()
}

/// Sends these bytes on a connection of their own.
pub async fn send_bytes(app: &App, bytes: &[u8]) -> Answer {
    let mut stream = connect(app).await;
    stream.write_all(bytes).await.unwrap();
    read_answer(&mut stream).await
}

/// Reads one answer, passing over `100 Continue`.
pub async fn read_answer(stream: &mut TcpStream) -> Answer {
    tokio::time::timeout(PATIENCE, async {
        loop {
            let mut head = Vec::new();
            while !head.ends_with(b"\r\n\r\n") {
                head.push(stream.read_u8().await.unwrap());
            }
            let head = String::from_utf8(head).unwrap();
            let status: u16 = head.split(' ').nth(1).unwrap().parse().unwrap();
            if status == 100 {
                continue;
            }
            let mut headers = HeaderMap::new();
            for line in head.lines().skip(1).filter(|line| !line.is_empty()) {
                let (name, value) = line.split_once(": ").unwrap();
                headers.append(name.parse::<HeaderName>().unwrap(), HeaderValue::from_str(value).unwrap());
            }
            let length = headers.get("content-length").map_or(0, |n| n.to_str().unwrap().parse().unwrap());
            let mut body = vec![0; length];
            stream.read_exact(&mut body).await.unwrap();
            let text = String::from_utf8(body).unwrap();
            let body = serde_json::from_str(&text).unwrap_or(Value::Null);
            return Answer { status: StatusCode::from_u16(status).unwrap(), headers, text, body };
        }
    })
    .await
    .expect("no answer")
}
