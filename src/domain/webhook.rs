//! Webhooks: the addresses of programs that are told of events, what administrators may do about them, and what a run of
//! deliveries makes of one.

use super::Instant;
use super::backoff::{Backoff, NotBefore};
use super::history::{ChainHead, Kind, SubjectEntry};
use super::ids::{EndpointId, OrganizationId, Version};
use super::job::kept_error;
use super::member::Member;
use super::request::names;
use super::text::Violation;
use serde_json::{Value, json};
use sha2::{Digest, Sha256};
use std::time::Duration;

/// So many endpoints an organization can have.
pub const ENDPOINTS_MAX: i64 = 20;
/// The longest address, in characters.
pub const URL_MAX: usize = 2_000;
/// How long both secrets sign after a rotation, in hours, when nobody says.
pub const OVERLAP_HOURS: i64 = 24;
/// The longest that they can, in hours: a week.
pub const OVERLAP_HOURS_MAX: i64 = 168;

/// Every type of event that there is, in the order in which they are listed to people.
pub const EVENT_TYPES: &[&str] = &[
    "request.create",
    "request.edit",
    "request.submit",
    "request.approve",
    "request.reject",
    "request.send_back",
    "request.withdraw",
    "job.start",
    "job.succeed",
    "job.fail",
    "job.cancel",
    "closing.start",
    "closing.block",
    "closing.exclude",
    "closing.close",
    "member.add",
    "member.change",
    "member.pseudonymize",
    "webhook.add",
    "webhook.change",
    "webhook.enable",
    "webhook.disable",
    "webhook.replay",
    "webhook.rotate_secret",
    "webhook.fail",
    "webhook.delete",
];

names! {
    /// How an endpoint stands.
    EndpointState {
        /// It is told of events; after a failure, again and again.
        Enabled = "enabled",
        /// Given up: it failed for too long. A person enables it again.
        Failing = "failing",
        /// Turned off by an administrator, or by its own answer 410.
        Disabled = "disabled",
    }
}

names! {
    /// What became of an attempt.
    DeliveryResult {
        /// Answered with a 2xx.
        Delivered = "delivered",
        /// Not reached, not answered in time, or answered with something else.
        Failed = "failed",
        /// It asked for less: 429 or 503.
        Throttled = "throttled",
        /// It wants nothing any more: 410.
        Gone = "gone",
    }
}

/// How far an endpoint has been told.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Progress {
    /// Everything up to this position is delivered, or none of its business.
    pub position: i64,
    /// Attempts of all time.
    pub attempts: i64,
    /// Failed ones in a row.
    pub failures: i32,
    /// When the first of those failed.
    pub failing_since: Option<Instant>,
    /// Not before this.
    pub next_attempt_at: Option<Instant>,
    /// The last attempt.
    pub last_attempt_at: Option<Instant>,
    /// What it was answered.
    pub last_status: Option<u16>,
    /// What went wrong in it.
    pub last_error: Option<String>,
}

impl Progress {
    /// The same place, as if nothing had failed.
    fn afresh(&self) -> Self {
        Self { failures: 0, failing_since: None, next_attempt_at: None, ..self.clone() }
    }
}

/// Secrets as they are kept: sealed.
#[derive(Clone, PartialEq, Eq)]
pub struct SealedSecrets {
    /// The one that signs.
    pub current: Vec<u8>,
    /// The one before it, and until when it signs, too.
    pub old: Option<(Vec<u8>, Instant)>,
}

impl std::fmt::Debug for SealedSecrets {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("sealed")
    }
}

/// An endpoint as its row says it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Endpoint {
    /// Whose events.
    pub organization_id: OrganizationId,
    /// Which one.
    pub id: EndpointId,
    /// Where to. It may hold a secret of the receiver's, so no history and no log has it.
    pub url: String,
    /// Which events; empty: all.
    pub event_types: Vec<String>,
    /// How it stands.
    pub state: EndpointState,
    /// What signs.
    pub secrets: SealedSecrets,
    /// Counts the changes of this row, from 1.
    pub version: Version,
    /// When it was made.
    pub created_at: Instant,
    /// The last change. Deliveries change nothing.
    pub updated_at: Instant,
    /// How far it has been told.
    pub progress: Progress,
}

impl Endpoint {
    /// Whether it is told of events of this type.
    #[must_use]
    pub fn wants(&self, event_type: &str) -> bool {
        self.event_types.is_empty() || self.event_types.iter().any(|wanted| wanted == event_type)
    }
}

/// Where an organization's log begins and ends.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Stream {
    /// Everything up to here has been cleaned away.
    pub trimmed: i64,
    /// The newest position.
    pub last: i64,
}

/// What an administrator sets of an endpoint. The address has been read and looked at by then: that takes the network.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct EndpointInput {
    /// An absolute address of http or https.
    pub url: String,
    /// Which events; empty: all.
    pub event_types: Vec<String>,
}

impl EndpointInput {
    /// Checks what can be checked without the network.
    #[must_use]
    pub fn violations(&self) -> Vec<Violation> {
        let mut found = Vec::new();
        for (n, wanted) in self.event_types.iter().enumerate() {
            let at = format!("event_types/{n}");
            if !EVENT_TYPES.contains(&wanted.as_str()) {
                found.push(Violation::new(&at, "unknown_event_type", "is no type of event: the document lists them"));
            } else if self.event_types.iter().take(n).any(|before| before == wanted) {
                found.push(Violation::new(&at, "duplicate", "stands there twice"));
            }
        }
        found
    }
}

/// Why a wish about an endpoint was refused. Nothing was changed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum WebhookRefusal {
    /// The actor is not an administrator.
    Forbidden,
    /// There is no such endpoint.
    NotFound,
    /// There is no key that secrets could be sealed with.
    NotConfigured,
    /// The organization has as many as it can have.
    TooMany,
    /// It was changed since the administrator looked; this is how it stands.
    Changed(Box<(Endpoint, Stream)>),
    /// The input breaks these rules.
    Invalid(Vec<Violation>),
}

/// What an administrator wants of an endpoint that is there.
#[derive(Clone, Debug)]
pub enum Wish<'a> {
    /// Another address or other events.
    Change(&'a EndpointInput),
    /// Go on, or try again now.
    Enable,
    /// Send nothing any more.
    Disable,
    /// Send again, or skip: from this position on.
    Replay(i64),
    /// Sign with a new secret, and for so many hours with the present one, too.
    Rotate(i64, Vec<u8>),
}

impl Wish<'_> {
    /// What the history calls it.
    #[must_use]
    pub const fn action(&self) -> &'static str {
        match self {
            Self::Change(_) => "change",
            Self::Enable => "enable",
            Self::Disable => "disable",
            Self::Replay(_) => "replay",
            Self::Rotate(..) => "rotate_secret",
        }
    }
}

/// Judges an administrator's wish for a new endpoint, on the locked row of the organization, which has `existing` of
/// them. It is told of what happens from now on.
///
/// # Errors
/// The refusal, in the order of checks.
pub fn decide_new(
    actor: &Member,
    id: EndpointId,
    existing: i64,
    input: &EndpointInput,
    found: &[Violation],
    sealed: Vec<u8>,
    (stream, at): (Stream, Instant),
) -> Result<Endpoint, WebhookRefusal> {
    if !actor.is_admin {
        return Err(WebhookRefusal::Forbidden);
    }
    if existing >= ENDPOINTS_MAX {
        return Err(WebhookRefusal::TooMany);
    }
    check(input, found)?;
    Ok(Endpoint {
        organization_id: actor.organization_id,
        id,
        url: input.url.clone(),
        event_types: input.event_types.clone(),
        state: EndpointState::Enabled,
        secrets: SealedSecrets { current: sealed, old: None },
        version: 1,
        created_at: at,
        updated_at: at,
        progress: Progress { position: stream.last, ..Progress::default() },
    })
}

/// The right and the version: what comes first for every wish about an endpoint that may be there.
///
/// # Errors
/// The refusal, in the order of checks.
pub fn seen<'a>(
    actor: &Member,
    target: Option<&'a Endpoint>,
    seen: Version,
    stream: Stream,
) -> Result<&'a Endpoint, WebhookRefusal> {
    if !actor.is_admin {
        return Err(WebhookRefusal::Forbidden);
    }
    let target = target.ok_or(WebhookRefusal::NotFound)?;
    if target.version != seen {
        return Err(WebhookRefusal::Changed(Box::new((target.clone(), stream))));
    }
    Ok(target)
}

/// Judges what an administrator, who saw this endpoint, wants of it, on its locked row. `found`: what is wrong with the
/// address. `None`: it is so already, which is no new version.
///
/// # Errors
/// What breaks a rule.
pub fn decide(
    endpoint: &Endpoint,
    wish: Wish<'_>,
    found: &[Violation],
    stream: Stream,
    at: Instant,
) -> Result<Option<Endpoint>, WebhookRefusal> {
    let mut after = endpoint.clone();
    match wish {
        Wish::Change(input) => {
            check(input, found)?;
            if input.url != endpoint.url {
                // What the old address did is not the new one's fault.
                after.progress = endpoint.progress.afresh();
            }
            after.url.clone_from(&input.url);
            after.event_types.clone_from(&input.event_types);
        }
        Wish::Enable => {
            after.state = EndpointState::Enabled;
            after.progress = endpoint.progress.afresh();
        }
        Wish::Disable => after.state = EndpointState::Disabled,
        Wish::Replay(from) => {
            if !(stream.trimmed + 1..=stream.last + 1).contains(&from) {
                return Err(WebhookRefusal::Invalid(vec![Violation::new(
                    "from_position",
                    "range",
                    format!(
                        "must be from {} (the oldest event that is kept) to {} (the next one)",
                        stream.trimmed + 1,
                        stream.last + 1
                    ),
                )]));
            }
            after.state = EndpointState::Enabled;
            after.progress = Progress { position: from - 1, ..endpoint.progress.afresh() };
        }
        Wish::Rotate(hours, sealed) => {
            let old = std::mem::replace(&mut after.secrets.current, sealed);
            let until = at.checked_add_signed(chrono::TimeDelta::hours(hours)).unwrap_or(at);
            after.secrets.old = (hours > 0).then_some((old, until));
        }
    }
    if after == *endpoint {
        return Ok(None);
    }
    Ok(Some(Endpoint { version: endpoint.version + 1, updated_at: at, ..after }))
}

fn check(input: &EndpointInput, found: &[Violation]) -> Result<(), WebhookRefusal> {
    let all: Vec<Violation> = found.iter().cloned().chain(input.violations()).collect();
    if all.is_empty() { Ok(()) } else { Err(WebhookRefusal::Invalid(all)) }
}

/// What the history says of an endpoint. Of the address, which may hold a secret, the part that names the machine, and a
/// hash, by which an auditor can tell whether it was the same.
fn said(endpoint: &Endpoint) -> Value {
    let (scheme, rest) = endpoint.url.split_once("://").unwrap_or_default();
    let host = rest.split(['/', '?', '#']).next().unwrap_or_default();
    json!({
        "origin": format!("{scheme}://{host}"),
        "url_sha256": hex::encode(Sha256::digest(&endpoint.url)),
        "event_types": endpoint.event_types,
        "state": endpoint.state.as_str(),
        "position": endpoint.progress.position,
        "version": endpoint.version,
    })
}

/// A row of an endpoint's history. `actor` is `None` where Ringi itself did it.
#[must_use]
pub fn entry(
    actor: Option<&Member>,
    action: &'static str,
    before: Option<&Endpoint>,
    after: Option<&Endpoint>,
    head: ChainHead,
) -> Option<SubjectEntry> {
    let endpoint = after.or(before)?;
    let (before, after) = (before.map(said), after.map(said));
    // Ringi turns an endpoint off for what it answered; a person has reasons of his own.
    let detail = match (actor, &endpoint.progress.last_error) {
        (None, Some(error)) => json!({ "before": before, "after": after, "error": error }),
        _ => json!({ "before": before, "after": after }),
    };
    Some(SubjectEntry {
        organization_id: endpoint.organization_id,
        kind: Kind::Webhook,
        subject_id: endpoint.id.to_string(),
        seq: head.seq + 1,
        actor_id: actor.map(|actor| actor.user_id),
        actor_name: actor.map_or_else(|| "Ringi".to_owned(), |actor| actor.display_name.clone()),
        action,
        reason: None,
        detail,
        occurred_at: head.at,
    })
}

/// How patiently an endpoint is tried.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct EndpointPatience {
    /// The pauses between attempts.
    pub backoff: Backoff,
    /// After failing for so long, a day at least, it is given up.
    pub give_up_after: Duration,
}

/// One attempt, as the log keeps it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Delivery {
    /// The place that its event has for the endpoint's progress.
    pub position: i64,
    /// The event's, the same over all attempts.
    pub event_id: String,
    /// Its type.
    pub event_type: String,
    /// What became of it.
    pub result: DeliveryResult,
    /// What was answered, where anything was.
    pub status: Option<u16>,
    /// How long it took.
    pub took: Duration,
    /// The beginning of the answer's body.
    pub answer: Option<String>,
    /// What went wrong.
    pub error: Option<String>,
    /// When it began, by the database's clock.
    pub attempted_at: Instant,
    /// When to try again, where the receiver said so.
    pub not_before: Option<NotBefore>,
}

/// What a run of deliveries comes to: everything up to `position` is done, and these attempts were made, in order.
#[derive(Clone, Debug, Default)]
pub struct Run {
    /// See [`Progress::position`].
    pub position: i64,
    /// The attempts, the last one last.
    pub deliveries: Vec<Delivery>,
}

/// An endpoint after a run.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Verdict {
    /// As it stands.
    pub after: Endpoint,
    /// What the history says, where Ringi turned it off.
    pub action: Option<&'static str>,
}

/// Judges an endpoint after a run, on its locked row. `at` is the database's clock, read after the lock. The worst
/// attempt decides: who answers 410 once wants nothing any more, and one failure makes the endpoint rest, since what comes after
/// it must not overtake it.
#[must_use]
pub fn judge(endpoint: &Endpoint, run: &Run, patience: &EndpointPatience, at: Instant, jitter: f64) -> Verdict {
    let mut after = endpoint.clone();
    after.progress = endpoint.progress.afresh();
    after.progress.position = run.position.max(endpoint.progress.position);
    let made = i64::try_from(run.deliveries.len()).unwrap_or(i64::MAX);
    after.progress.attempts = endpoint.progress.attempts.saturating_add(made);
    let bad = |delivery: &&Delivery| delivery.result != DeliveryResult::Delivered;
    let gone = run.deliveries.iter().find(|delivery| delivery.result == DeliveryResult::Gone);
    let telling = gone.or_else(|| run.deliveries.iter().rfind(bad)).or(run.deliveries.last());
    let Some(telling) = telling else {
        // Nothing was sent: there was nothing for it among what it was asked to pass.
        return Verdict { after: with_failures_of(after, endpoint), action: None };
    };
    after.progress.last_attempt_at = Some(telling.attempted_at);
    after.progress.last_status = telling.status;
    after.progress.last_error = telling.error.as_deref().map(kept_error);
    match telling.result {
        DeliveryResult::Delivered => Verdict { after, action: None },
        DeliveryResult::Gone => turned_off(after, EndpointState::Disabled, "disable", at),
        DeliveryResult::Failed | DeliveryResult::Throttled => {
            let failures = endpoint.progress.failures.saturating_add(1);
            let since = endpoint.progress.failing_since.unwrap_or(at);
            after.progress.failures = failures;
            after.progress.failing_since = Some(since);
            let given_up = (at - since).to_std().is_ok_and(|failing| failing >= patience.give_up_after);
            if given_up {
                return turned_off(after, EndpointState::Failing, "fail", at);
            }
            let count = u32::try_from(failures).unwrap_or(u32::MAX);
            let asked = run.deliveries.iter().filter(bad).filter_map(|delivery| delivery.not_before);
            let next = asked.map(Some).chain([None]).map(|asked| patience.backoff.next_try(count, jitter, asked, at));
            after.progress.next_attempt_at = next.max();
            Verdict { after, action: None }
        }
    }
}

fn with_failures_of(after: Endpoint, endpoint: &Endpoint) -> Endpoint {
    let Progress { failures, failing_since, next_attempt_at, .. } = endpoint.progress;
    Endpoint { progress: Progress { failures, failing_since, next_attempt_at, ..after.progress }, ..after }
}

fn turned_off(after: Endpoint, state: EndpointState, action: &'static str, at: Instant) -> Verdict {
    let progress = Progress { next_attempt_at: None, ..after.progress };
    let after = Endpoint { state, progress, version: after.version + 1, updated_at: at, ..after };
    Verdict { after, action: Some(action) }
}

#[cfg(test)]
mod tests {
    use super::*;
    use uuid::Uuid;

    const PATIENCE: EndpointPatience = EndpointPatience {
        backoff: Backoff { min_pause: Duration::from_secs(1), max_pause: Duration::from_hours(1) },
        give_up_after: Duration::from_hours(72),
    };

    fn at(second: i64) -> Instant {
        Instant::from_timestamp(1_700_000_000 + second, 0).expect("in range")
    }

    fn endpoint() -> Endpoint {
        Endpoint {
            organization_id: OrganizationId(Uuid::nil()),
            id: EndpointId(Uuid::nil()),
            url: "https://hooks.example:8443/in?token=s3cret".to_owned(),
            event_types: Vec::new(),
            state: EndpointState::Enabled,
            secrets: SealedSecrets { current: vec![1; 60], old: None },
            version: 3,
            created_at: at(-100),
            updated_at: at(-100),
            progress: Progress { position: 10, attempts: 7, ..Progress::default() },
        }
    }

    fn delivery(result: DeliveryResult) -> Delivery {
        Delivery {
            position: 11,
            event_id: "evt_1".to_owned(),
            event_type: "request.approve".to_owned(),
            result,
            status: Some(if result == DeliveryResult::Delivered { 204 } else { 500 }),
            took: Duration::from_millis(3),
            answer: None,
            error: (result != DeliveryResult::Delivered).then(|| "it answered 500".to_owned()),
            attempted_at: at(0),
            not_before: None,
        }
    }

    fn after(endpoint: &Endpoint, results: &[DeliveryResult], now: Instant) -> Verdict {
        let deliveries = results.iter().map(|result| delivery(*result)).collect();
        judge(endpoint, &Run { position: 10, deliveries }, &PATIENCE, now, 0.0)
    }

    #[test]
    fn the_pauses_double_until_it_is_given_up_after_days() {
        let (mut endpoint, mut now, mut pauses) = (endpoint(), at(0), Vec::new());
        loop {
            let verdict = after(&endpoint, &[DeliveryResult::Failed], now);
            endpoint = verdict.after;
            let Some(next) = endpoint.progress.next_attempt_at else {
                assert_eq!((verdict.action, endpoint.state), (Some("fail"), EndpointState::Failing));
                assert_eq!(endpoint.version, 4, "what Ringi did is seen as what people do");
                break;
            };
            assert_eq!((verdict.action, endpoint.version), (None, 3));
            pauses.push((next - now).num_seconds());
            now = next;
        }
        assert_eq!(pauses[..5], [1, 2, 4, 8, 16]);
        assert_eq!(pauses.iter().max(), Some(&3_600));
        assert!((now - at(0)).num_hours() >= 72, "{pauses:?}");
    }

    #[test]
    fn one_success_forgets_the_failures_and_one_failure_among_many_makes_it_rest() {
        let failed = after(&endpoint(), &[DeliveryResult::Failed], at(0)).after;
        assert_eq!((failed.progress.failures, failed.progress.failing_since), (1, Some(at(0))));
        let well = after(&failed, &[DeliveryResult::Delivered], at(9)).after.progress;
        assert_eq!((well.failures, well.failing_since, well.next_attempt_at, well.attempts), (0, None, None, 9));
        let mixed = [DeliveryResult::Delivered, DeliveryResult::Failed, DeliveryResult::Delivered];
        let mixed = after(&endpoint(), &mixed, at(0)).after.progress;
        assert_eq!((mixed.failures, mixed.last_status, mixed.attempts), (1, Some(500), 10));
    }

    #[test]
    fn a_410_turns_it_off_at_once_and_what_was_asked_for_is_waited_for() {
        let verdict = after(&endpoint(), &[DeliveryResult::Gone, DeliveryResult::Failed], at(0));
        assert_eq!((verdict.action, verdict.after.state), (Some("disable"), EndpointState::Disabled));
        let mut throttled = delivery(DeliveryResult::Throttled);
        throttled.not_before = Some(NotBefore::After(Duration::from_mins(5)));
        let run = Run { position: 10, deliveries: vec![throttled, delivery(DeliveryResult::Failed)] };
        let verdict = judge(&endpoint(), &run, &PATIENCE, at(0), 0.0);
        assert_eq!(verdict.after.progress.next_attempt_at, Some(at(300)));
    }

    #[test]
    fn nothing_sent_is_no_success() {
        let failing = after(&endpoint(), &[DeliveryResult::Failed], at(0)).after;
        let run = Run { position: 50, deliveries: Vec::new() };
        let passed = judge(&failing, &run, &PATIENCE, at(1), 0.0).after.progress;
        assert_eq!((passed.position, passed.failures), (50, 1));
    }

    #[test]
    fn the_history_names_the_machine_and_never_the_address() {
        let said = said(&endpoint()).to_string();
        assert!(said.contains("https://hooks.example:8443\"") && !said.contains("s3cret"), "{said}");
    }

    #[test]
    fn types_that_there_are_not_and_doubles_are_pointed_at() {
        let wanted = ["request.approve", "request.aprove", "request.approve"].map(str::to_owned).to_vec();
        let input = EndpointInput { url: String::new(), event_types: wanted };
        let found: Vec<_> = input.violations().iter().map(|v| (v.pointer.clone(), v.code.clone())).collect();
        let expected = [("/event_types/1", "unknown_event_type"), ("/event_types/2", "duplicate")];
        assert_eq!(found, expected.map(|(at, code)| (at.to_owned(), code.to_owned())));
    }

    #[test]
    fn every_type_is_an_action_of_its_kind() {
        for name in EVENT_TYPES {
            let (kind, action) = name.split_once('.').expect("kind and action");
            let kind = Kind::parse(kind).expect("a kind");
            assert!(kind.actions().contains(&action), "{name}");
        }
    }
}
