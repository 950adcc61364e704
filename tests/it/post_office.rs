//! A real mail server, in a process of its own, that takes mails apart with a parser of its own: `tests/peers/mail.mjs`.

use crate::harness::{App, PATIENCE, Person, SECRET, settings};
use crate::key_server::until;
use crate::ringi::{Serving, command};
use ringi::config::{Secret, Settings};
use serde_json::{Value, json};
use std::io::{BufRead as _, BufReader, Write as _};
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStdin, Command, Stdio};
use std::sync::{Arc, Mutex, OnceLock};
use std::time::Duration;

/// Where the links of mails lead. The tests follow them at the server that they have.
pub const PUBLIC: &str = "https://ringi.example";

pub fn peers() -> PathBuf {
    static INSTALLED: OnceLock<()> = OnceLock::new();
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    INSTALLED.get_or_init(|| {
        let done = Command::new(root.join("scripts/peers.sh")).status().unwrap();
        assert!(done.success(), "scripts/peers.sh installs what these tests speak with: it needs Node.js and npm");
    });
    root.join("tests/peers")
}

pub struct PostOffice {
    child: Child,
    input: Mutex<ChildStdin>,
    saw: Arc<Mutex<Vec<Value>>>,
    pub port: u64,
}

impl PostOffice {
    pub async fn open() -> Self {
        Self::at(0, &[]).await
    }

    /// On a port that was another's, who is gone.
    pub async fn at(port: u64, certificate: &[&Path]) -> Self {
        let mut command = Command::new("node");
        command.arg(peers().join("mail.mjs")).arg(port.to_string()).args(certificate);
        let mut child = command.stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().unwrap();
        let input = Mutex::new(child.stdin.take().unwrap());
        let saw = Arc::<Mutex<Vec<Value>>>::default();
        let lines = BufReader::new(child.stdout.take().unwrap()).lines();
        std::thread::spawn({
            let saw = Arc::clone(&saw);
            move || {
                for line in lines.map_while(Result::ok) {
                    saw.lock().unwrap().push(serde_json::from_str(&line).unwrap());
                }
            }
        });
        let mut office = Self { child, input, saw, port: 0 };
        until("the mail server is there", async || office.saw().iter().any(|one| one["saw"] == "start")).await;
        office.port = office.saw()[0]["port"].as_u64().unwrap();
        office
    }

    fn saw(&self) -> Vec<Value> {
        self.saw.lock().unwrap().clone()
    }

    fn all(&self, what: &str) -> Vec<Value> {
        self.saw().into_iter().filter(|one| one["saw"] == what).collect()
    }

    /// Every mail that was taken, or that is held.
    pub fn mails(&self) -> Vec<Value> {
        self.all("mail")
    }

    pub fn connections(&self) -> usize {
        self.all("connection").len()
    }

    pub fn refusals(&self) -> usize {
        self.all("refusal").len()
    }

    /// The mails to an address.
    pub fn to(&self, person: &Person) -> Vec<Value> {
        self.mails().into_iter().filter(|mail| mail["envelope"]["to"] == json!([address(person)])).collect()
    }

    /// Waits for so many mails to an address, and says the last.
    pub async fn until_mail(&self, person: &Person, count: usize) -> Value {
        until(&format!("mail {count} to {}", person.name), async || self.to(person).len() >= count).await;
        self.to(person).pop().unwrap()
    }

    /// Says how it behaves from now on, and waits until it does.
    pub async fn mood(&self, mood: Value) {
        let before = self.all("mood").len();
        writeln!(self.input.lock().unwrap(), "{mood}").unwrap();
        until("the mood has changed", async || self.all("mood").len() > before).await;
    }

    /// It is gone, and so are its connections.
    pub fn close(self) -> u64 {
        self.port
    }

    /// Quick settings with this as the mail server. Digests wait for an hour: a test lets them go.
    pub fn settings(&self) -> Settings {
        sending_to(&format!("smtp://127.0.0.1:{}?tls=none", self.port))
    }

    /// The same, for another process.
    pub fn variables(&self) -> Vec<(&'static str, String)> {
        let settings = self.settings().mail;
        vec![
            ("RINGI__MAIL__SMTP_URL", settings.smtp_url.reveal().to_owned()),
            ("RINGI__MAIL__FROM", settings.from),
            ("RINGI__MAIL__PUBLIC_URL", settings.public_url),
            ("RINGI__MAIL__SWEEP_INTERVAL_MS", "50".to_owned()),
            ("RINGI__MAIL__RETRY_MIN_MS", "20".to_owned()),
            ("RINGI__MAIL__RETRY_MAX_MS", "100".to_owned()),
            ("RINGI__MAIL__TIMEOUT_MS", "1000".to_owned()),
            ("RINGI__MAIL__QUIET_MS", "0".to_owned()),
        ]
    }
}

impl Drop for PostOffice {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// A process that is the relay, soon after another was, and that looks often.
pub fn worker(app: &App, variables: &[(&'static str, String)]) -> Serving {
    let mut command = command(&["serve", "--role", "worker"], &[("RINGI__AUTH__HS256_SECRET", SECRET)]);
    command.env("DATABASE_URL", app.database.url()).env("PORT", "0").env("RINGI__HTTP__DRAIN_MS", "0");
    command.env("RINGI__EVENTS__HEARTBEAT_INTERVAL_MS", "200").env("RINGI__EVENTS__LEASE_TIMEOUT_MS", "1500");
    command.env("RINGI__EVENTS__POLL_INTERVAL_MS", "50");
    command.envs(variables.iter().map(|(name, value)| (*name, value)));
    Serving::start(command)
}

pub fn sending_to(url: &str) -> Settings {
    let mut settings = settings();
    let mail = &mut settings.mail;
    mail.smtp_url = Secret::new(url.to_owned());
    "稟議 <ringi@kumo.example>".clone_into(&mut mail.from);
    mail.public_url = format!("{PUBLIC}/");
    mail.quiet = Duration::from_secs(3600);
    mail.longest_wait = Duration::from_secs(7200);
    mail.timeout = PATIENCE / 4;
    mail.retry_min = Duration::from_millis(20);
    mail.retry_max = Duration::from_millis(200);
    mail.sweep_interval = Duration::from_millis(50);
    settings
}

/// A person's own address in these tests.
pub fn address(person: &Person) -> String {
    format!("{}@people.example", person.id.simple())
}

/// What a person asks for when he wants everything.
pub fn wish(person: &Person, language: &str) -> Value {
    json!({"address": address(person), "language": language, "decisions": true, "submissions": true, "closings": true,
           "jobs": true})
}

/// The path of a link in a mail, as this installation's public address has it.
pub fn link(mail: &Value, door: &str) -> String {
    let text = mail["text"].as_str().unwrap();
    let start = format!("{PUBLIC}/mail/{door}?token=");
    let found = text.split_whitespace().find(|word| word.starts_with(&start));
    found.unwrap_or_else(|| panic!("{door}: {text}"))[PUBLIC.len()..].to_owned()
}

/// Asks for everything, and says yes in the mailbox.
pub async fn subscribed(app: &App, office: &PostOffice, person: &Person, language: &str) {
    let before = office.to(person).len();
    person.put("me/mail", wish(person, language)).await.expect_status(200);
    let mail = office.until_mail(person, before + 1).await;
    let yes = app.http.post(format!("{}{}", app.address, link(&mail, "confirm"))).send().await.unwrap();
    assert_eq!(yes.status(), 200);
    let now = person.read("me/mail").await.expect_status(200).body;
    assert_eq!(now["confirmed"], true, "{now}");
}

/// Digests that wait for more are sent now.
pub async fn let_digests_go(app: &App) {
    until_sorted(app).await;
    app.execute("UPDATE mail_message SET due_at = now() WHERE kind = 'submissions' AND attempts = 0").await;
}

/// Waits until every event has become the mails that it becomes.
pub async fn until_sorted(app: &App) {
    let behind = "SELECT (SELECT count(*) FROM outbox_event)
                  + (SELECT count(*) FROM event_stream s LEFT JOIN mail_cursor c USING (organization_id)
                     WHERE s.last_position > coalesce(c.position, 0))";
    until("all events are sorted", async || app.count(behind).await == 0).await;
}

/// Waits until nothing is left to be sent, so that what did not come by now never will.
pub async fn until_all_sent(app: &App) {
    let_digests_go(app).await;
    until("everything is sent", async || app.count("SELECT count(*) FROM mail_message").await == 0).await;
}
