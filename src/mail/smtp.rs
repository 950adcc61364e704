//! How a mail is handed to a mail server: one conversation at a time, each step with its own meaning. What a server says
//! to the sender is about this installation, what it says to a receiver is about that address alone.

use super::compose::Words;
use super::letter::{Content, Letter};
use crate::domain::text::one_line;
use lettre::Message;
use lettre::message::header::{HeaderName, HeaderValue};
use lettre::message::{Mailbox, MultiPart};
use lettre::transport::smtp::Error;
use lettre::transport::smtp::authentication::{Credentials, Mechanism};
use lettre::transport::smtp::client::{AsyncSmtpConnection, TlsParameters};
use lettre::transport::smtp::commands::{Data, Mail, Rcpt};
use lettre::transport::smtp::extension::ClientId;
use std::time::Duration;
use tokio::time::timeout;

/// How a connection is encrypted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Encryption {
    /// From its first byte.
    Implicit,
    /// Upgraded before anything is said; a server that can't is not used.
    StartTls,
    /// Not at all.
    None,
}

/// The mail server that takes what is sent.
#[derive(Clone)]
pub struct MailServer {
    /// A name, which its certificate must have, or an address.
    pub host: String,
    /// Its port.
    pub port: u16,
    /// How the connection is encrypted.
    pub encryption: Encryption,
    /// User and password, where it wants some.
    pub credentials: Option<(String, String)>,
    /// What this machine calls itself there (EHLO); its address where nothing is said.
    pub hello: Option<String>,
    /// How long connecting may take, and then how long one mail may.
    pub timeout: Duration,
}

impl std::fmt::Debug for MailServer {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("MailServer").field("host", &self.host).field("port", &self.port).finish_non_exhaustive()
    }
}

/// Why a mail was not taken.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Failure {
    /// No mail would be taken now: the server is away, does not let this installation in, or asks for peace.
    Server(String),
    /// Not this mail, not now.
    Later(String),
    /// Never this mail to this address.
    Refused(String),
}

/// A connection that may be used again for the next mail.
pub type Line = Option<AsyncSmtpConnection>;

impl MailServer {
    async fn connect(&self) -> Result<AsyncSmtpConnection, Error> {
        let hello = self.hello.clone().map_or_else(ClientId::default, ClientId::Domain);
        let tls = || TlsParameters::new(self.host.clone());
        let implicit = match self.encryption {
            Encryption::Implicit => Some(tls()?),
            Encryption::StartTls | Encryption::None => None,
        };
        // Brackets belong to the address in a URL, not to the address itself.
        let host = self.host.trim_start_matches('[').trim_end_matches(']');
        let at = (host, self.port);
        let mut line = AsyncSmtpConnection::connect_tokio1(at, Some(self.timeout), &hello, implicit, None).await?;
        if self.encryption == Encryption::StartTls {
            line.starttls(tls()?, &hello).await?;
        }
        if let Some((user, password)) = self.credentials.clone() {
            line.auth(&[Mechanism::Plain, Mechanism::Login], &Credentials::new(user, password)).await?;
        }
        Ok(line)
    }

    /// Sends a mail, on `line` where it still stands; leaves it there for the next one.
    ///
    /// # Errors
    /// [`Failure`]. One that is [`Failure::Later`] may have been taken all the same, when its answer was lost.
    pub async fn send(&self, line: &mut Line, message: &Message) -> Result<(), Failure> {
        // Who stops waiting in the middle of a conversation leaves nothing that could be spoken into again.
        let mut known = line.take();
        if let Some(open) = &mut known
            && !timeout(self.timeout, open.test_connected()).await.unwrap_or(false)
        {
            // A server hangs up on whoever is silent for long.
            known = None;
        }
        let mut open = if let Some(open) = known {
            open
        } else {
            let connected = timeout(self.timeout, self.connect()).await;
            let silent = || Failure::Server(format!("no mail server within {} ms", self.timeout.as_millis()));
            connected.map_err(|_| silent())?.map_err(|error| Failure::Server(said(&error)))?
        };
        let talked = timeout(self.timeout, talk(&mut open, message)).await;
        talked.map_err(|_| Failure::Later(format!("no answer within {} ms", self.timeout.as_millis())))??;
        *line = Some(open);
        Ok(())
    }

    /// Takes leave, where there is somebody.
    pub async fn hang_up(&self, line: Line) {
        if let Some(mut line) = line {
            drop(timeout(self.timeout.min(Duration::from_secs(2)), line.abort()).await);
        }
    }
}

async fn talk(line: &mut AsyncSmtpConnection, message: &Message) -> Result<(), Failure> {
    let envelope = message.envelope();
    let from = Mail::new(envelope.from().cloned(), Vec::new());
    line.command(from).await.map_err(|error| Failure::Server(said(&error)))?;
    for receiver in envelope.to() {
        line.command(Rcpt::new(receiver.clone(), Vec::new())).await.map_err(|error| of_mail(&error))?;
    }
    line.command(Data).await.map_err(|error| of_mail(&error))?;
    line.message(&message.formatted()).await.map_err(|error| of_mail(&error))?;
    Ok(())
}

fn of_mail(error: &Error) -> Failure {
    // 421: the server closes, whomever the mail is for (RFC 5321, 3.8).
    let closes = error.status().is_some_and(|code| u16::from(code) == 421);
    if closes {
        Failure::Server(said(error))
    } else if error.is_permanent() {
        Failure::Refused(said(error))
    } else {
        Failure::Later(said(error))
    }
}

/// What went wrong, on one line, with its causes: what a server says may have many.
fn said(error: &Error) -> String {
    let mut text = one_line(&error.to_string());
    let mut cause = std::error::Error::source(error);
    while let Some(next) = cause {
        let next_text = one_line(&next.to_string());
        if !text.contains(&next_text) {
            text = format!("{text}: {next_text}");
        }
        cause = next.source();
    }
    text.chars().take(500).collect()
}

/// Who mails are from.
#[derive(Clone, Debug)]
pub struct Sender(Mailbox);

impl Sender {
    /// Reads `Ringi <ringi@example.com>` or an address alone.
    ///
    /// # Errors
    /// A sentence.
    pub fn parse(text: &str) -> Result<Self, String> {
        let mailbox: Mailbox = text.parse().map_err(|error| format!("{error}"))?;
        if !mailbox.email.to_string().is_ascii() {
            return Err("the address must be in ASCII".to_owned());
        }
        Ok(Self(mailbox))
    }

    /// A letter as a mail. Everything in its head is encoded by the library; nothing in it can begin another line.
    ///
    /// # Errors
    /// A sentence, when the letter's address is none.
    pub fn message(&self, letter: &Letter, words: &Words) -> Result<Message, String> {
        let address = letter.address.parse().map_err(|error| format!("{error}"))?;
        let confirms = matches!(letter.content, Content::Confirmation { .. });
        let name = (!confirms).then(|| one_line(&letter.receiver_name));
        let raw = |name: &'static str, value: String| HeaderValue::new(HeaderName::new_from_ascii_str(name), value);
        let mut builder = Message::builder()
            .from(self.0.clone())
            .to(Mailbox::new(name, address))
            .subject(words.subject.clone())
            // The same at every attempt: who gets it twice can tell.
            .message_id(Some(format!("<{}@{}>", letter.id, self.0.email.domain())))
            .date_now()
            // RFC 3834: no answering machine answers.
            .raw_header(raw("Auto-Submitted", "auto-generated".to_owned()));
        if let Some(url) = &words.unsubscribe {
            // RFC 8058.
            builder = builder
                .raw_header(raw("List-Unsubscribe", format!("<{url}>")))
                .raw_header(raw("List-Unsubscribe-Post", "List-Unsubscribe=One-Click".to_owned()));
        }
        let both = MultiPart::alternative_plain_html(words.text.clone(), words.html.clone());
        builder.multipart(both).map_err(|error| format!("{error}"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::domain::ids::{OrganizationId, UserId};
    use crate::domain::mail::{Language, LinkKey};
    use crate::mail::compose::Writer;
    use uuid::Uuid;

    #[test]
    fn a_head_has_only_the_lines_that_we_wrote() {
        let sender = Sender::parse("稟議 <ringi@kumo.example>").expect("good");
        let letter = Letter {
            id: Uuid::from_u128(5),
            organization_id: OrganizationId(Uuid::from_u128(1)),
            organization_name: "Kumo".to_owned(),
            receiver: UserId(Uuid::from_u128(2)),
            receiver_name: "Aiko\r\nBcc: x@y.example\r\n\r\nboo".to_owned(),
            address: "aiko@kumo.example".to_owned(),
            language: Language::Ja,
            key: LinkKey([7; 32]),
            attempts: 1,
            content: Content::Closing { period: "2026-10\r\nBcc: z@y.example".to_owned(), blocked: None },
        };
        let words = Writer::new("https://ringi.example").write(&letter);
        // Were the words not careful, the head would be all the same.
        let words = Words { subject: "a\r\nBcc: x@y.example\r\n\r\nboo".to_owned(), ..words };
        let message = sender.message(&letter, &words).expect("good");
        let text = String::from_utf8(message.formatted()).expect("ASCII");
        assert!(text.is_ascii(), "so that every server takes it");
        let head = text.split("\r\n\r\n").next().expect("a head");
        let mut names: Vec<&str> = head
            .split("\r\n")
            .filter(|line| !line.starts_with([' ', '\t']))
            .map(|line| line.split_once(": ").expect("a head line").0)
            .collect();
        names.sort_unstable();
        assert_eq!(
            names,
            [
                "Auto-Submitted",
                "Content-Type",
                "Date",
                "From",
                "List-Unsubscribe",
                "List-Unsubscribe-Post",
                "MIME-Version",
                "Message-ID",
                "Subject",
                "To"
            ]
        );
        assert_eq!(message.envelope().to().len(), 1);
        assert!(head.contains("Message-ID: <00000000-0000-0000-0000-000000000005@kumo.example>"), "{head}");
        assert!(text.lines().all(|line| line.len() <= 998), "RFC 5322, 2.1.1");
    }
}
