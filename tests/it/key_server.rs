//! An identity provider: keys that sign, and a real HTTP server that publishes them, rotates them and misbehaves.

use crate::harness::{Answer, App, PATIENCE};
use aws_lc_rs::encoding::{AsDer, Pkcs8V1Der, PublicKeyX509Der};
use aws_lc_rs::signature::{ECDSA_P256_SHA256_FIXED_SIGNING, EcdsaKeyPair, Ed25519KeyPair, KeyPair, RsaKeyPair};
use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use jsonwebtoken::jwk::Jwk;
use jsonwebtoken::{Algorithm, EncodingKey, Header, encode};
use ringi::config::{Issuer, Settings};
use serde_json::{Value, json};
use std::future::Future;
use std::net::SocketAddr;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::{Instant, SystemTime, UNIX_EPOCH};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::watch;
use tokio::task::JoinHandle;
use uuid::Uuid;

pub const AUDIENCE: &str = "ringi-tests";

pub fn now() -> i64 {
    SystemTime::now().duration_since(UNIX_EPOCH).unwrap().as_secs().cast_signed()
}

/// Asks again and again until the answer is yes: what is waited for is seen, never slept for.
pub async fn until<F: Future<Output = bool>>(what: &str, mut ask: impl FnMut() -> F) {
    let start = Instant::now();
    while !ask().await {
        assert!(start.elapsed() < PATIENCE, "in vain: {what}");
        tokio::task::yield_now().await;
    }
}

/// A key pair that was made for one test.
pub struct SigningKey {
    pub id: String,
    pub algorithm: Algorithm,
    private: EncodingKey,
    public: Vec<u8>,
}

impl SigningKey {
    pub fn new(algorithm: Algorithm) -> Self {
        let pem = |what: &str, der: &[u8]| {
            format!("-----BEGIN {what}-----\n{}\n-----END {what}-----\n", STANDARD.encode(der))
        };
        let (private, public): (_, PublicKeyX509Der<'static>) = match algorithm {
            Algorithm::RS256 => {
                let pair = RsaKeyPair::generate(aws_lc_rs::rsa::KeySize::Rsa2048).unwrap();
                let der: Pkcs8V1Der<'_> = pair.as_der().unwrap();
                let private = EncodingKey::from_rsa_pem(pem("PRIVATE KEY", der.as_ref()).as_bytes()).unwrap();
                (private, pair.public_key().as_der().unwrap())
            }
            Algorithm::ES256 => {
                let pair = EcdsaKeyPair::generate(&ECDSA_P256_SHA256_FIXED_SIGNING).unwrap();
                let der = pair.to_pkcs8v1().unwrap();
                (EncodingKey::from_ec_der(der.as_ref()), pair.public_key().as_der().unwrap())
            }
            Algorithm::EdDSA => {
                let pair = Ed25519KeyPair::generate().unwrap();
                let der = pair.to_pkcs8v1().unwrap();
                (EncodingKey::from_ed_der(der.as_ref()), pair.public_key().as_der().unwrap())
            }
            other => panic!("no keys for {other:?}"),
        };
        Self { id: Uuid::new_v4().to_string(), algorithm, private, public: public.as_ref().to_vec() }
    }

    pub fn jwk(&self) -> Value {
        let mut jwk = serde_json::to_value(Jwk::from_encoding_key(&self.private, self.algorithm).unwrap()).unwrap();
        jwk["kid"] = json!(self.id);
        jwk["use"] = json!("sig");
        jwk
    }

    pub fn public_pem(&self) -> String {
        format!("-----BEGIN PUBLIC KEY-----\n{}\n-----END PUBLIC KEY-----\n", STANDARD.encode(&self.public))
    }

    pub fn header(&self) -> Header {
        Header { kid: Some(self.id.clone()), ..Header::new(self.algorithm) }
    }

    pub fn sign(&self, header: &Header, claims: &Value) -> String {
        encode(header, claims, &self.private).unwrap()
    }

    /// A good token of this key's provider.
    pub fn token(&self, issuer: &str, subject: &str) -> String {
        self.sign(&self.header(), &claims(issuer, subject))
    }
}

pub fn claims(issuer: &str, subject: &str) -> Value {
    json!({"iss": issuer, "aud": AUDIENCE, "sub": subject, "iat": now(), "exp": now() + 600})
}

pub fn set(keys: &[&SigningKey]) -> String {
    json!({"keys": keys.iter().map(|key| key.jwk()).collect::<Vec<_>>()}).to_string()
}

/// How the server answers.
#[derive(Clone)]
pub enum Mood {
    /// 200 with this body.
    Body(String),
    /// This status, with a good set as its body, for whoever does not look at the status.
    Status(u16, String),
    /// A redirect to the address, with a good set as its body.
    Redirect(String, String),
    /// 200 and a body without an end, of white space and then never a set.
    Endless,
    /// Bytes that are not HTTP.
    Garbage,
    /// A head and the beginning of a body, and then nothing.
    Half,
    /// Reads the request and says nothing until the mood changes, when it answers by the new one.
    Held,
}

/// A server that counts how often it is asked.
pub struct KeyServer {
    pub address: SocketAddr,
    mood: watch::Sender<Mood>,
    asked: Arc<AtomicUsize>,
    hung_up: Arc<AtomicUsize>,
    serving: JoinHandle<()>,
}

impl KeyServer {
    pub async fn start(mood: Mood) -> Self {
        Self::on(TcpListener::bind("127.0.0.1:0").await.unwrap(), mood)
    }

    fn on(listener: TcpListener, mood: Mood) -> Self {
        let (asked, hung_up) = (Arc::new(AtomicUsize::new(0)), Arc::new(AtomicUsize::new(0)));
        let mood = watch::Sender::new(mood);
        let address = listener.local_addr().unwrap();
        let serving = {
            let (mood, asked, hung_up) = (mood.clone(), asked.clone(), hung_up.clone());
            tokio::spawn(async move {
                while let Ok((stream, _)) = listener.accept().await {
                    let (mood, asked, hung_up) = (mood.subscribe(), asked.clone(), hung_up.clone());
                    tokio::spawn(async move {
                        if answer(stream, mood, &asked).await.is_err() {
                            hung_up.fetch_add(1, Ordering::SeqCst);
                        }
                    });
                }
            })
        };
        Self { address, mood, asked, hung_up, serving }
    }

    pub fn url(&self) -> String {
        format!("http://{}/keys", self.address)
    }

    pub fn mood(&self, mood: Mood) {
        self.mood.send_replace(mood);
    }

    /// How many requests came.
    pub fn asked(&self) -> usize {
        self.asked.load(Ordering::SeqCst)
    }

    /// How many connections the other side left before it had the whole answer.
    pub fn hung_up(&self) -> usize {
        self.hung_up.load(Ordering::SeqCst)
    }

    /// Nobody listens any more: connections are refused.
    pub async fn stop(self) -> SocketAddr {
        self.serving.abort();
        let _ = self.serving.await;
        self.address
    }

    pub async fn start_again(address: SocketAddr, mood: Mood) -> Self {
        Self::on(TcpListener::bind(address).await.unwrap(), mood)
    }
}

async fn answer(mut stream: TcpStream, mut mood: watch::Receiver<Mood>, asked: &AtomicUsize) -> std::io::Result<()> {
    let mut head = Vec::new();
    while !head.ends_with(b"\r\n\r\n") {
        head.push(stream.read_u8().await?);
    }
    asked.fetch_add(1, Ordering::SeqCst);
    let now = mood.wait_for(|mood| !matches!(mood, Mood::Held)).await.map_err(std::io::Error::other)?.clone();
    let with_body = |status: u16, headers: &str, body: &str| {
        format!("HTTP/1.1 {status} X\r\ncontent-length: {}\r\nconnection: close\r\n{headers}\r\n{body}", body.len())
    };
    match now {
        Mood::Body(body) => stream.write_all(with_body(200, "", &body).as_bytes()).await?,
        Mood::Status(status, body) => stream.write_all(with_body(status, "", &body).as_bytes()).await?,
        Mood::Redirect(to, body) => {
            stream.write_all(with_body(302, &format!("location: {to}\r\n"), &body).as_bytes()).await?;
        }
        Mood::Garbage => stream.write_all(b"\x15\x03\x01 what?\r\n\r\n").await?,
        Mood::Half => {
            stream.write_all(b"HTTP/1.1 200 OK\r\ncontent-length: 100\r\n\r\n{\"keys\"").await?;
            stream.read_u8().await?;
        }
        Mood::Endless => {
            stream.write_all(b"HTTP/1.1 200 OK\r\nconnection: close\r\n\r\n{").await?;
            loop {
                stream.write_all(&[b' '; 4096]).await?;
            }
        }
        Mood::Held => {}
    }
    stream.shutdown().await
}

/// An app that trusts one provider, whose name no other test has: metrics belong to the process.
pub struct Trusting {
    pub app: App,
    pub issuer: String,
}

pub fn issuer_settings(issuer: &str, algorithm: Algorithm) -> Issuer {
    Issuer {
        issuer: issuer.to_owned(),
        audience: vec![AUDIENCE.to_owned()],
        algorithm: format!("{algorithm:?}"),
        ..Issuer::default()
    }
}

pub fn new_issuer() -> String {
    format!("https://{}.example/", Uuid::new_v4().simple())
}

impl Trusting {
    pub async fn start(server: &KeyServer, algorithm: Algorithm, change: impl FnOnce(&mut Settings)) -> Self {
        let issuer = new_issuer();
        let mut settings = crate::harness::settings();
        settings.auth.issuers = vec![Issuer { jwks_url: Some(server.url()), ..issuer_settings(&issuer, algorithm) }];
        change(&mut settings);
        Self { app: App::with(settings).await, issuer }
    }

    pub async fn me(&self, token: &str) -> Answer {
        me(&self.app, token).await
    }

    pub async fn status(&self, token: &str) -> u16 {
        self.me(token).await.status.as_u16()
    }

    /// A good token of `key`, for somebody or other.
    pub fn token(&self, key: &SigningKey) -> String {
        key.token(&self.issuer, "somebody")
    }

    /// A number that the process counts for this issuer.
    pub async fn metric(&self, name: &str, label: &str) -> u64 {
        metric(&self.app, name, &[&self.issuer, label]).await
    }
}

pub async fn me(app: &App, token: &str) -> Answer {
    Answer::of(app.http.get(format!("{}/api/v1/me", app.address)).bearer_auth(token)).await
}

/// The value of a line of `/metrics`, 0 where there is none.
pub async fn metric(app: &App, name: &str, labels: &[&str]) -> u64 {
    let text = app.http.get(format!("{}/metrics", app.address)).send().await.unwrap().text().await.unwrap();
    text.lines()
        .find(|line| line.starts_with(&format!("{name}{{")) && labels.iter().all(|label| line.contains(label)))
        .map_or(0, |line| line.rsplit(' ').next().unwrap().parse().unwrap())
}
