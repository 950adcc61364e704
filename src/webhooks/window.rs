//! What an endpoint is told next: some events after its position, those of each subject one after the other.

use crate::domain::event::LoggedEvent;
use crate::domain::webhook::Endpoint;
use std::collections::HashMap;

/// Events after an endpoint's position.
#[derive(Clone, Debug, Default)]
pub struct Window {
    /// How far it goes: everything up to here is in it, or none of the endpoint's business.
    pub end: i64,
    /// The events, each with the position that counts for the endpoint's progress: its own, or, of what came before a
    /// first submission, the submission's. In the order of those, and of one subject in the order of `seq`.
    pub events: Vec<(i64, LoggedEvent)>,
}

/// The events of one subject, in order: none is sent before the one before it was received.
#[derive(Clone, Debug)]
pub struct Lane {
    /// See [`Window::events`].
    pub events: Vec<(i64, LoggedEvent)>,
}

impl Window {
    /// The first event alone, for an endpoint that failed: one attempt shows whether it is back.
    #[must_use]
    pub fn first(self, endpoint: &Endpoint) -> Self {
        let mut events = self.events.into_iter().filter(|(_, event)| endpoint.wants(&event.event_type));
        let Some((position, event)) = events.next() else { return Self { end: self.end, events: Vec::new() } };
        // There may be more for the same position: it is done when they are.
        let more = events.next().is_some_and(|(next, _)| next == position);
        Self { end: if more { position - 1 } else { position }, events: vec![(position, event)] }
    }

    /// What the endpoint wants of it, a lane for each subject, in the order of their first events.
    #[must_use]
    pub fn lanes(self, endpoint: &Endpoint) -> Vec<Lane> {
        let mut lanes: Vec<Lane> = Vec::new();
        let mut of_subject: HashMap<(String, String), usize> = HashMap::new();
        for (position, event) in self.events {
            if !endpoint.wants(&event.event_type) {
                continue;
            }
            let subject = (event.subject_kind.clone(), event.subject_id.clone());
            let at = *of_subject.entry(subject).or_insert_with(|| {
                lanes.push(Lane { events: Vec::new() });
                lanes.len() - 1
            });
            if let Some(lane) = lanes.get_mut(at) {
                lane.events.push((position, event));
            }
        }
        lanes
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::domain::Instant;
    use crate::domain::ids::{EndpointId, OrganizationId};
    use crate::domain::webhook::{EndpointState, Progress, SealedSecrets};
    use serde_json::value::RawValue;
    use uuid::Uuid;

    fn endpoint(event_types: &[&str]) -> Endpoint {
        Endpoint {
            organization_id: OrganizationId(Uuid::nil()),
            id: EndpointId(Uuid::nil()),
            url: "https://erp.example/".to_owned(),
            event_types: event_types.iter().map(|name| (*name).to_owned()).collect(),
            state: EndpointState::Enabled,
            secrets: SealedSecrets { current: Vec::new(), old: None },
            version: 1,
            created_at: Instant::UNIX_EPOCH,
            updated_at: Instant::UNIX_EPOCH,
            progress: Progress::default(),
        }
    }

    fn event(subject: &str, seq: i64, action: &str) -> LoggedEvent {
        LoggedEvent {
            organization_id: OrganizationId(Uuid::nil()),
            position: 1,
            subject_kind: "request".to_owned(),
            subject_id: subject.to_owned(),
            seq,
            event_type: format!("request.{action}"),
            payload: RawValue::from_string("{}".to_owned()).expect("JSON"),
            occurred_at: Instant::UNIX_EPOCH,
            private: false,
        }
    }

    fn window() -> Window {
        Window {
            end: 9,
            events: vec![
                (4, event("a", 1, "create")),
                (4, event("a", 2, "submit")),
                (5, event("b", 7, "approve")),
                (8, event("a", 3, "approve")),
            ],
        }
    }

    fn shown(lanes: &[Lane]) -> Vec<Vec<(i64, i64)>> {
        lanes.iter().map(|lane| lane.events.iter().map(|(position, event)| (*position, event.seq)).collect()).collect()
    }

    #[test]
    fn each_subject_has_a_lane_and_is_in_order() {
        let all = window().lanes(&endpoint(&[]));
        assert_eq!(shown(&all), [vec![(4, 1), (4, 2), (8, 3)], vec![(5, 7)]]);
        let some = window().lanes(&endpoint(&["request.approve"]));
        assert_eq!(shown(&some), [vec![(5, 7)], vec![(8, 3)]]);
    }

    #[test]
    fn a_probe_is_one_event_and_passes_only_what_it_has_passed() {
        let first = window().first(&endpoint(&[]));
        assert_eq!((first.end, first.events.len()), (3, 1), "the submission itself is still to come");
        let first = window().first(&endpoint(&["request.submit"]));
        assert_eq!((first.end, first.events[0].1.seq), (4, 2));
        let first = window().first(&endpoint(&["member.add"]));
        assert_eq!((first.end, first.events.len()), (9, 0));
    }
}
