//! `[mail]`: mail to people.

use super::{Secret, milliseconds};
use crate::domain::backoff::Backoff;
use crate::mail::compose::Writer;
use crate::mail::post::Sending;
use crate::mail::smtp::{Encryption, MailServer, Sender};
use crate::mail::store::Gathering;
use percent_encoding::percent_decode_str;
use serde::Deserialize;
use std::time::Duration;

/// `[mail]`: see `config/default.toml` for each.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
#[expect(missing_docs, reason = "config/default.toml documents each of them")]
pub struct Mail {
    pub smtp_url: Secret,
    pub from: String,
    pub public_url: String,
    #[serde(rename = "quiet_ms", deserialize_with = "milliseconds")]
    pub quiet: Duration,
    #[serde(rename = "longest_wait_ms", deserialize_with = "milliseconds")]
    pub longest_wait: Duration,
    #[serde(rename = "timeout_ms", deserialize_with = "milliseconds")]
    pub timeout: Duration,
    pub lanes: u32,
    #[serde(rename = "retry_min_ms", deserialize_with = "milliseconds")]
    pub retry_min: Duration,
    #[serde(rename = "retry_max_ms", deserialize_with = "milliseconds")]
    pub retry_max: Duration,
    #[serde(rename = "sweep_interval_ms", deserialize_with = "milliseconds")]
    pub sweep_interval: Duration,
    pub confirmations_per_hour: u32,
}

impl Mail {
    /// Whether mail is sent at all.
    #[must_use]
    pub fn is_on(&self) -> bool {
        !self.smtp_url.reveal().is_empty()
    }

    /// What the post needs; `None` where mail is off.
    ///
    /// # Errors
    /// A sentence. It does not repeat the mail server's address, which may hold a password.
    pub fn sending(&self) -> Result<Option<Sending>, String> {
        if !self.is_on() {
            return Ok(None);
        }
        let server = self.server()?;
        let sender = Sender::parse(&self.from)
            .map_err(|why| format!("mail.from: {:?} ({why}): write Ringi <ringi@example.com>", self.from))?;
        let public: reqwest::Url = self.public_url.parse().map_err(|error| {
            format!(
                "mail.public_url: {:?} ({error}): write https://ringi.example, where people open the page",
                self.public_url
            )
        })?;
        if !matches!(public.scheme(), "http" | "https") || public.query().is_some() || public.fragment().is_some() {
            return Err(format!(
                "mail.public_url: {:?} must be an address such as https://ringi.example",
                self.public_url
            ));
        }
        Ok(Some(Sending {
            server,
            sender,
            writer: Writer::new(public.as_str()),
            gathering: Gathering { quiet: self.quiet, longest: self.longest_wait },
            backoff: Backoff { min_pause: self.retry_min, max_pause: self.retry_max },
            lanes: self.lanes,
            sweep: self.sweep_interval,
        }))
    }

    fn server(&self) -> Result<MailServer, String> {
        let refused = |why: &str| format!("mail.smtp_url {why}: write smtps://user:password@mail.example:465");
        let url: reqwest::Url =
            self.smtp_url.reveal().parse().map_err(|error| refused(&format!("can't be read ({error})")))?;
        let host = url.host_str().filter(|host| !host.is_empty()).ok_or_else(|| refused("names no host"))?;
        let tls = match url.query() {
            None => None,
            Some(query) => Some(query.strip_prefix("tls=").ok_or_else(|| refused("knows no parameter but tls"))?),
        };
        let (encryption, port) = match (url.scheme(), tls) {
            ("smtps", None) => (Encryption::Implicit, 465),
            ("smtp", None | Some("required")) => (Encryption::StartTls, 587),
            ("smtp", Some("none")) => (Encryption::None, 25),
            _ => return Err(refused("must be smtps://…, smtp://… (STARTTLS), or smtp://…?tls=none")),
        };
        let decoded = |text: &str| {
            let text = percent_decode_str(text).decode_utf8();
            text.map(std::borrow::Cow::into_owned).map_err(|_| refused("has a user or password that is not UTF-8"))
        };
        let credentials = match (url.username(), url.password()) {
            ("", None) => None,
            (user, Some(password)) if !user.is_empty() => Some((decoded(user)?, decoded(password)?)),
            _ => return Err(refused("must have both user and password, or neither")),
        };
        if credentials.is_some() && encryption == Encryption::None {
            return Err(refused("must not send a password without encryption"));
        }
        let hello = url.path().trim_matches('/');
        if !hello.bytes().all(|byte| byte.is_ascii_alphanumeric() || b".-".contains(&byte)) {
            return Err(refused("may have nothing but this machine's name as its path"));
        }
        Ok(MailServer {
            host: host.to_owned(),
            port: url.port().unwrap_or(port),
            encryption,
            credentials,
            hello: (!hello.is_empty()).then(|| hello.to_owned()),
            timeout: self.timeout,
        })
    }

    /// Whether the values go together.
    pub(super) fn check(&self) -> Result<(), String> {
        self.sending()?;
        for (name, value) in
            [("timeout_ms", self.timeout), ("retry_min_ms", self.retry_min), ("sweep_interval_ms", self.sweep_interval)]
        {
            if value.is_zero() {
                return Err(format!("mail.{name} must be 1 or more"));
            }
        }
        for (name, value) in [("lanes", self.lanes), ("confirmations_per_hour", self.confirmations_per_hour)] {
            if value == 0 {
                return Err(format!("mail.{name} must be 1 or more"));
            }
        }
        if self.longest_wait < self.quiet {
            return Err(format!(
                "mail.longest_wait_ms ({}) must not be shorter than mail.quiet_ms ({}): it includes that wait",
                self.longest_wait.as_millis(),
                self.quiet.as_millis(),
            ));
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use crate::config::{Secret, Settings};
    use crate::mail::smtp::Encryption;

    fn with(url: &str) -> super::Mail {
        let mut mail = Settings::defaults().mail;
        mail.smtp_url = Secret::new(url.to_owned());
        mail.from = "Ringi <ringi@kumo.example>".to_owned();
        mail.public_url = "https://ringi.example/".to_owned();
        mail
    }

    #[test]
    fn encryption_is_what_is_left_out_only_by_name() {
        let read = |url: &str| with(url).server().map(|server| (server.host, server.port, server.encryption));
        let at = |host: &str, port, encryption| Ok((host.to_owned(), port, encryption));
        assert_eq!(read("smtps://mail.example"), at("mail.example", 465, Encryption::Implicit));
        assert_eq!(read("smtp://mail.example"), at("mail.example", 587, Encryption::StartTls));
        assert_eq!(read("smtp://127.0.0.1:2525?tls=none"), at("127.0.0.1", 2525, Encryption::None));
        let with_password = with("smtps://a%40b.example:p%2Fq@mail.example/ringi.example").server().expect("good");
        assert_eq!(with_password.credentials, Some(("a@b.example".to_owned(), "p/q".to_owned())));
        assert_eq!(with_password.hello.as_deref(), Some("ringi.example"));
        assert!(!format!("{with_password:?}").contains("p/q"));
    }

    #[test]
    fn what_can_not_be_used_is_refused_without_its_password() {
        for url in [
            "mail.example",
            "http://mail.example",
            "smtp://",
            "smtps://mail.example?tls=none",
            "smtps://mail.example?x=y",
            "smtp://user:secret@mail.example?tls=none",
            "smtps://user@mail.example",
            "smtps://:secret@mail.example",
            "smtps://mail.example/a b",
            "smtp://mail.example?tls=opportunistic",
        ] {
            let refused = with(url).sending().expect_err(url);
            assert!(refused.contains("mail.smtp_url") && !refused.contains("secret"), "{refused}");
        }
        for (from, public) in
            [("", "https://a.example"), ("x", "https://a.example"), ("a@b.example", ""), ("a@b.example", "ftp://a")]
        {
            let mail =
                super::Mail { from: from.to_owned(), public_url: public.to_owned(), ..with("smtps://mail.example") };
            assert!(mail.sending().is_err(), "{from} {public}");
        }
    }
}
