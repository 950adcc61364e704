//! Events: what programs and pages are told about a change. Written in the transaction of the change, and put in order
//! afterwards, when the changes around it have been committed, too.

use super::history::RequestEntry;
use super::ids::{OrganizationId, RequestId, UserId};
use super::member::Member;
use super::{Instant, rfc3339};
use serde::Serialize;
use serde_json::value::RawValue;
use serde_json::{Value, json};
use sha2::{Digest, Sha256};

/// One row of the outbox. Subject and `seq` together say which event it is, the same over all deliveries.
#[derive(Clone, Debug, PartialEq)]
pub struct Event {
    /// `request`, `member`, `closing`, `job` or `webhook`.
    pub subject_kind: &'static str,
    /// Which one.
    pub subject_id: String,
    /// Drawn under the subject's lock; a request's is its version.
    pub seq: i64,
    /// Such as `request.approve`.
    pub event_type: String,
    /// What changed. Ids and statuses; no title, reason or name, which not every receiver may see.
    pub payload: Value,
}

impl Event {
    /// The event of a request's change.
    #[must_use]
    pub fn of_request(entry: &RequestEntry) -> Self {
        Self {
            subject_kind: "request",
            subject_id: entry.request_id.to_string(),
            seq: entry.version,
            event_type: format!("request.{}", entry.action.as_str()),
            payload: json!({
                "organization_id": entry.organization_id,
                "request_id": entry.request_id,
                "seq": entry.version,
                "version": entry.version,
                "action": entry.action.as_str(),
                "status": entry.to_status.as_str(),
                "actor_id": entry.actor_id,
                "content_hash": entry.content_hash.to_string(),
                "occurred_at": rfc3339(entry.occurred_at),
            }),
        }
    }

    /// The event of something that happened to a month.
    #[must_use]
    pub fn of_closing(entry: &super::history::SubjectEntry) -> Self {
        Self {
            subject_kind: "closing",
            subject_id: entry.subject_id.clone(),
            seq: entry.seq,
            event_type: format!("closing.{}", entry.action),
            payload: json!({
                "organization_id": entry.organization_id,
                "period": entry.subject_id,
                "seq": entry.seq,
                "action": entry.action,
                "occurred_at": rfc3339(entry.occurred_at),
            }),
        }
    }

    /// The event of a member's change.
    #[must_use]
    pub fn of_member(entry: &super::history::SubjectEntry) -> Self {
        Self {
            subject_kind: "member",
            subject_id: entry.subject_id.clone(),
            seq: entry.seq,
            event_type: format!("member.{}", entry.action),
            payload: json!({
                "organization_id": entry.organization_id,
                "user_id": entry.subject_id,
                "seq": entry.seq,
                "action": entry.action,
                "occurred_at": rfc3339(entry.occurred_at),
            }),
        }
    }

    /// The event of a job's change; `state` is how it stands since then.
    #[must_use]
    pub fn of_job(entry: &super::history::SubjectEntry, state: super::job::JobState) -> Self {
        Self {
            subject_kind: "job",
            subject_id: entry.subject_id.clone(),
            seq: entry.seq,
            event_type: format!("job.{}", entry.action),
            payload: json!({
                "organization_id": entry.organization_id,
                "request_id": entry.subject_id,
                "seq": entry.seq,
                "action": entry.action,
                "state": state.as_str(),
                "occurred_at": rfc3339(entry.occurred_at),
            }),
        }
    }

    /// The event of a webhook's change; `state` is how it stands since then, null when it is gone.
    #[must_use]
    pub fn of_webhook(entry: &super::history::SubjectEntry, state: Option<super::webhook::EndpointState>) -> Self {
        Self {
            subject_kind: "webhook",
            subject_id: entry.subject_id.clone(),
            seq: entry.seq,
            event_type: format!("webhook.{}", entry.action),
            payload: json!({
                "organization_id": entry.organization_id,
                "webhook_id": entry.subject_id,
                "seq": entry.seq,
                "action": entry.action,
                "state": state.map(super::webhook::EndpointState::as_str),
                "occurred_at": rfc3339(entry.occurred_at),
            }),
        }
    }
}

/// The number of an event in its organization's log: 1, 2, 3 and so on, without gaps.
pub type Position = i64;

/// An event in its place: everybody who is told of events is told of them in this order.
#[derive(Clone, Debug)]
pub struct LoggedEvent {
    /// Whose.
    pub organization_id: OrganizationId,
    /// Its place in the organization's log.
    pub position: Position,
    /// See [`Event::subject_kind`]. A text, since a newer program beside this one may know more of them.
    pub subject_kind: String,
    /// See [`Event::subject_id`].
    pub subject_id: String,
    /// See [`Event::seq`]. Of one subject, events stand in the log in this order.
    pub seq: i64,
    /// See [`Event::event_type`].
    pub event_type: String,
    /// See [`Event::payload`]: a JSON object.
    pub payload: Box<RawValue>,
    /// When it happened.
    pub occurred_at: Instant,
    /// Of a request, from before it was first submitted: for its applicant's eyes only.
    pub private: bool,
}

/// What decides who may see a request, of which nothing else is known.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct About {
    /// Whose it is.
    pub applicant_id: UserId,
    /// Those who have acted on it, of those who were asked about.
    pub acted: Vec<UserId>,
}

/// What receivers are sent, be they programs or pages.
#[derive(Serialize)]
struct Body<'a> {
    #[serde(rename = "type")]
    event_type: &'a str,
    timestamp: String,
    data: &'a RawValue,
}

impl LoggedEvent {
    /// What receivers know the event by: the same over all retries and replays, and no other event's.
    #[must_use]
    pub fn id(&self) -> String {
        // An organization's id has one length, a kind no slash, and the number comes last: no two events read alike.
        let name = format!("{}/{}/{}/{}", self.organization_id, self.subject_kind, self.subject_id, self.seq);
        let mut digits = hex::encode(Sha256::digest(name));
        digits.truncate(32);
        format!("evt_{digits}")
    }

    /// `{"type": ..., "timestamp": ..., "data": ...}`, as receivers are sent it: the timestamp is when it happened.
    #[must_use]
    pub fn body(&self) -> String {
        let body = Body { event_type: &self.event_type, timestamp: rfc3339(self.occurred_at), data: &self.payload };
        // Texts and a value that is JSON already: there is nothing in it that could not be written.
        serde_json::to_string(&body).unwrap_or_default()
    }

    /// The request that it is about, of which who may see it depends; `None` for what belongs to no request.
    #[must_use]
    pub fn request_id(&self) -> Option<RequestId> {
        match self.subject_kind.as_str() {
            "request" | "job" => self.subject_id.parse().ok().map(RequestId),
            _ => None,
        }
    }

    /// Whether a member may be told of it, by the same rights as he may look at what it is about. `about`: of its
    /// request, where it is about one.
    #[must_use]
    pub fn is_for(&self, member: &Member, about: Option<&About>) -> bool {
        match self.subject_kind.as_str() {
            "request" | "job" => about.is_some_and(|about| {
                member.may_see_one_of(about.applicant_id, !self.private, about.acted.contains(&member.user_id))
            }),
            // Everybody knows of himself.
            "member" => member.is_admin || self.subject_id == member.user_id.to_string(),
            // A closed month is in everybody's statements; how it came to that is for administrators.
            "closing" => member.is_admin || self.event_type == "closing.close",
            _ => member.is_admin,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use uuid::Uuid;

    fn event() -> LoggedEvent {
        LoggedEvent {
            organization_id: OrganizationId(Uuid::from_u128(1)),
            position: 7,
            subject_kind: "request".to_owned(),
            subject_id: Uuid::from_u128(2).to_string(),
            seq: 3,
            event_type: "request.approve".to_owned(),
            payload: RawValue::from_string(r#"{"seq":3}"#.to_owned()).expect("JSON"),
            occurred_at: Instant::from_timestamp(1_700_000_000, 5_000).expect("in range"),
            private: false,
        }
    }

    #[test]
    fn an_events_id_depends_on_nothing_but_which_event_it_is() {
        let id = event().id();
        // Receivers have kept it: it never changes.
        assert_eq!(id, "evt_8dde78d2ae5184eb62b70d0478dcbb65");
        assert_eq!(LoggedEvent { position: 8, private: true, event_type: "x".to_owned(), ..event() }.id(), id);
        let others = [
            LoggedEvent { organization_id: OrganizationId(Uuid::from_u128(9)), ..event() },
            LoggedEvent { subject_kind: "job".to_owned(), ..event() },
            LoggedEvent { subject_id: "2026-05".to_owned(), ..event() },
            LoggedEvent { seq: 4, ..event() },
        ];
        assert!(others.iter().all(|other| other.id() != id));
    }

    #[test]
    fn what_is_sent_tells_type_time_and_data() {
        assert_eq!(
            event().body(),
            r#"{"type":"request.approve","timestamp":"2023-11-14T22:13:20.000005Z","data":{"seq":3}}"#
        );
    }

    fn member(id: u128, can_approve: bool, is_admin: bool) -> Member {
        Member {
            organization_id: OrganizationId(Uuid::from_u128(1)),
            user_id: UserId(Uuid::from_u128(id)),
            display_name: "M".to_owned(),
            is_active: true,
            can_approve,
            is_admin,
            version: 1,
            created_at: Instant::UNIX_EPOCH,
        }
    }

    #[test]
    fn events_are_for_those_who_may_see_what_they_are_about() {
        let (applicant, approver, admin) = (member(10, false, false), member(11, true, false), member(12, false, true));
        let (acted, nobody) = (member(13, false, false), member(14, false, false));
        let all = [&applicant, &approver, &admin, &acted, &nobody];
        let about = About { applicant_id: applicant.user_id, acted: vec![acted.user_id] };
        let hears = |event: &LoggedEvent| all.map(|member| event.is_for(member, Some(&about)));
        let job = LoggedEvent { subject_kind: "job".to_owned(), ..event() };
        assert_eq!(hears(&event()), [true, true, true, true, false]);
        assert_eq!(hears(&job), [true, true, true, true, false]);
        assert_eq!(hears(&LoggedEvent { private: true, ..event() }), [true, false, false, false, false]);
        assert!(!event().is_for(&admin, None), "of a request that nobody knows nobody is told");

        let of = |kind: &str, subject: &str, event_type: &str| LoggedEvent {
            subject_kind: kind.to_owned(),
            subject_id: subject.to_owned(),
            event_type: event_type.to_owned(),
            ..event()
        };
        let of_nobody = of("member", &nobody.user_id.to_string(), "member.change");
        assert_eq!(hears(&of_nobody), [false, false, true, false, true]);
        assert_eq!(hears(&of("closing", "2026-05", "closing.start")), [false, false, true, false, false]);
        assert_eq!(hears(&of("closing", "2026-05", "closing.close")), [true; 5]);
        assert_eq!(hears(&of("what a newer program knows", "x", "x.y")), [false, false, true, false, false]);
    }

    #[test]
    fn requests_and_their_jobs_are_about_a_request() {
        let request = Some(RequestId(Uuid::from_u128(2)));
        assert_eq!(event().request_id(), request);
        assert_eq!(LoggedEvent { subject_kind: "job".to_owned(), ..event() }.request_id(), request);
        assert_eq!(LoggedEvent { subject_kind: "member".to_owned(), ..event() }.request_id(), None);
    }
}
