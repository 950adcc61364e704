//! `ringi doctor`: what is wrong with settings, database, clock and keys, and how to mend it.

use crate::app::{Db, tokens};
use crate::config::Settings;
use crate::pg::facts::{ServerFacts, server_facts};
use std::time::{Duration, SystemTime};

/// How bad it is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Verdict {
    /// As it should be.
    Ok,
    /// It works, but somebody should know.
    Warning,
    /// It does not work, or must not be used.
    Failure,
}

impl Verdict {
    /// The word for people and machines.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Ok => "ok",
            Self::Warning => "warning",
            Self::Failure => "failure",
        }
    }
}

/// One thing that was looked at.
#[derive(Clone, Debug)]
pub struct Finding {
    /// What, in a word.
    pub subject: &'static str,
    /// How bad.
    pub verdict: Verdict,
    /// What was found, and for what is wrong, how to mend it. Never a secret.
    pub sentence: String,
}

fn finding(subject: &'static str, verdict: Verdict, sentence: impl Into<String>) -> Finding {
    Finding { subject, verdict, sentence: sentence.into() }
}

fn check(subject: &'static str, good: bool, otherwise: Verdict, well: &str, mend: impl Into<String>) -> Finding {
    if good { finding(subject, Verdict::Ok, well) } else { finding(subject, otherwise, mend) }
}

/// Looks at everything. The settings were read already: that they can be read is the first finding.
pub async fn examine(settings: &Settings) -> Vec<Finding> {
    let mut findings = vec![finding("settings", Verdict::Ok, "can be read and go together")];
    findings.push(keys(settings));
    match Db::open(&settings.database).await {
        Err(error) => findings.push(finding("database", Verdict::Failure, error.to_string())),
        Ok(db) => {
            findings.extend(database(&db, settings).await);
            db.leave().await;
        }
    }
    findings
}

fn keys(settings: &Settings) -> Finding {
    // With everything that `ringi serve` would refuse: nobody who could sign in, an unfit key, a failed self-test.
    if let Err(error) = tokens(&settings.auth) {
        return finding("key", Verdict::Failure, error.to_string());
    }
    let issuers = settings.auth.issuers.len();
    let secret = settings.auth.hs256_secret.reveal();
    if secret.is_empty() {
        return finding("key", Verdict::Ok, format!("{issuers} identity provider(s) pass the self-test; no local key"));
    }
    let mut seen: Vec<u8> = secret.bytes().collect();
    seen.sort_unstable();
    seen.dedup();
    check(
        "key",
        seen.len() >= 8,
        Verdict::Warning,
        "the local key is long enough and passes its self-test",
        "the local key is long enough but has few different bytes: make one with `openssl rand -hex 32`",
    )
}

async fn database(db: &Db, settings: &Settings) -> Vec<Finding> {
    match tokio::time::timeout(Duration::from_secs(10), server_facts(&db.options)).await {
        Err(_) => vec![finding("database", Verdict::Failure, "does not answer within 10 s: look at its log and load")],
        Ok(Err(error)) => {
            vec![finding("database", Verdict::Failure, format!("{error}: check DATABASE_URL and the server"))]
        }
        Ok(Ok(facts)) => judge(&facts, settings, db.embedded.is_some()),
    }
}

fn judge(facts: &ServerFacts, settings: &Settings, embedded: bool) -> Vec<Finding> {
    let database = &settings.database;
    let major = facts.version_number / 10_000;
    let wanted = database.max_connections.saturating_add(database.read_connections);
    let offset = chrono::DateTime::<chrono::Utc>::from(SystemTime::now()).signed_duration_since(facts.now).abs();
    let lock_timeout = i32::try_from(database.lock_timeout.as_millis()).unwrap_or(i32::MAX);
    vec![
        check(
            "version",
            major >= 14,
            Verdict::Failure,
            &format!("PostgreSQL {major}"),
            format!("PostgreSQL {major} is too old: 14 or newer is needed"),
        ),
        check(
            "migrations",
            facts.missing_migrations == 0,
            if embedded { Verdict::Ok } else { Verdict::Failure },
            "the schema is as new as this program, or newer",
            format!(
                "{} missing: run `ringi migrate`{}",
                facts.missing_migrations,
                if embedded { " (`ringi serve` does it by itself here)" } else { "" }
            ),
        ),
        check(
            "rights",
            facts.role.is_some(),
            Verdict::Warning,
            "the program works as ringi_app, which can't change history",
            "the program works as the login itself, so only triggers keep history from being changed: \
             run `ringi migrate` as a login with CREATEROLE, and where the tables belong to another role already, first \
             REASSIGN OWNED BY that role TO ringi_owner; then GRANT ringi_app to this login",
        ),
        check(
            "encoding",
            facts.encoding == "UTF8",
            Verdict::Failure,
            "UTF8",
            format!("the database's encoding is {}: create it with ENCODING 'UTF8'", facts.encoding),
        ),
        check(
            "letters",
            facts.knows_letters,
            Verdict::Warning,
            "the database knows letters beyond ASCII",
            "searching without regard to case knows ASCII only: create the database with locale C.UTF-8 or another UTF-8 one",
        ),
        check(
            "durability",
            facts.durable,
            Verdict::Failure,
            "a confirmed decision survives a crash",
            "fsync, synchronous_commit or full_page_writes is off: a crash can lose confirmed decisions; switch them on",
        ),
        check(
            "connections",
            i64::from(wanted) + 5 <= i64::from(facts.max_connections),
            Verdict::Warning,
            "the server has room for the pools",
            format!(
                "the pools want {wanted} connections of the server's {}: lower database.max_connections or raise the server's",
                facts.max_connections
            ),
        ),
        check(
            "lock timeout",
            lock_timeout > facts.deadlock_timeout_ms,
            Verdict::Warning,
            "deadlocks are found before lock timeouts",
            format!(
                "database.lock_timeout_ms ({lock_timeout}) should be above the server's deadlock_timeout ({} ms), or deadlocks come as lock timeouts",
                facts.deadlock_timeout_ms
            ),
        ),
        check(
            "clock",
            offset.num_seconds() < 5,
            Verdict::Warning,
            "this machine's clock and the database's agree",
            format!(
                "the clocks differ by {} s: tokens are judged by this one, history by the database's; use NTP",
                offset.num_seconds()
            ),
        ),
    ]
}

#[cfg(test)]
mod tests {
    use super::*;

    fn healthy() -> ServerFacts {
        ServerFacts {
            version_number: 150_018,
            missing_migrations: 0,
            role: Some("ringi_app"),
            deadlock_timeout_ms: 1000,
            max_connections: 100,
            knows_letters: true,
            encoding: "UTF8".to_owned(),
            durable: true,
            now: SystemTime::now().into(),
        }
    }

    #[test]
    fn a_healthy_server_has_nothing_to_mend() {
        let findings = judge(&healthy(), &Settings::defaults(), false);
        assert!(findings.iter().all(|finding| finding.verdict == Verdict::Ok), "{findings:?}");
    }

    #[test]
    fn each_illness_is_found_and_told_how_to_mend() {
        type Ill = fn(&mut ServerFacts);
        let cases: [(&str, Verdict, Ill); 9] = [
            ("version", Verdict::Failure, |f| f.version_number = 130_000),
            ("migrations", Verdict::Failure, |f| f.missing_migrations = 2),
            ("rights", Verdict::Warning, |f| f.role = None),
            ("encoding", Verdict::Failure, |f| f.encoding = "SQL_ASCII".to_owned()),
            ("letters", Verdict::Warning, |f| f.knows_letters = false),
            ("durability", Verdict::Failure, |f| f.durable = false),
            ("connections", Verdict::Warning, |f| f.max_connections = 20),
            ("lock timeout", Verdict::Warning, |f| f.deadlock_timeout_ms = 3000),
            ("clock", Verdict::Warning, |f| f.now -= chrono::TimeDelta::minutes(5)),
        ];
        for (subject, verdict, make_ill) in cases {
            let mut facts = healthy();
            make_ill(&mut facts);
            let findings = judge(&facts, &Settings::defaults(), false);
            let ill: Vec<_> = findings.iter().filter(|finding| finding.verdict != Verdict::Ok).collect();
            assert_eq!(ill.len(), 1, "{subject}: {ill:?}");
            assert_eq!((ill[0].subject, ill[0].verdict), (subject, verdict));
        }
    }
}
