//! The administrator gives rights and takes them away, and what nobody may do after that was answered.

use super::audit::Broken;
use super::people::World;
use super::random::Random;
use super::record::{Call, Entries, Who};
use reqwest::Method;
use serde_json::{Value, json};
use std::sync::atomic::Ordering;
use std::time::{Duration, Instant};
use uuid::Uuid;

pub(super) const REVOKED: &str = "nobody decides by a right whose end had been answered before he asked";

/// How long a change of rights may take before the test fails.
const PATIENCE: Duration = Duration::from_mins(1);

/// A right that was given or taken, from the first try to the answer.
#[derive(Clone, Copy, Debug)]
pub(super) struct RoleChange {
    pub(super) user: Uuid,
    pub(super) right: Right,
    pub(super) given: bool,
    pub(super) began: Instant,
    pub(super) ended: Instant,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Right {
    Decides,
    Works,
}

impl Right {
    const fn member(self) -> &'static str {
        match self {
            Self::Decides => "can_approve",
            Self::Works => "is_active",
        }
    }

    /// Whether a call needs it.
    fn is_needed_by(self, call: &Call) -> bool {
        self == Self::Works || matches!(call.action, "approve" | "reject" | "send_back")
    }
}

/// Takes a right from somebody now and then, for a while. What was taken is given back at the end.
pub(super) async fn administer(world: &World, admin: &Who, people: &[Who], mut random: Random) {
    while !world.over.load(Ordering::Relaxed) {
        tokio::time::sleep(Duration::from_millis(40 + random.next() % 200)).await;
        let who = &people[random.below(people.len())];
        let right = if who.can_approve && random.percent(60) { Right::Decides } else { Right::Works };
        set(world, admin, who, right, false).await;
        tokio::time::sleep(Duration::from_millis(random.next() % 300)).await;
        set(world, admin, who, right, true).await;
    }
}

async fn set(world: &World, admin: &Who, who: &Who, right: Right, given: bool) {
    let (began, path) = (Instant::now(), format!("members/{}", who.id));
    loop {
        let seen = world.ask(admin, Method::GET, &path, None).await.filter(super::record::Told::is_success);
        if let Some(seen) = seen {
            let mut body = seen.body;
            if body[right.member()] == given {
                // By a try whose answer was lost.
                break;
            }
            body.as_object_mut().unwrap().remove("user_id");
            body[right.member()] = json!(given);
            let key = Uuid::new_v4().to_string();
            let told = world.ask(admin, Method::PUT, &path, Some((&key, &body))).await;
            if told.is_some_and(|told| told.is_success()) {
                break;
            }
        }
        assert!(began.elapsed() < PATIENCE, "a right can't be changed: {who:?}");
        tokio::time::sleep(Duration::from_millis(10)).await;
    }
    let change = RoleChange { user: who.id, right, given, began, ended: Instant::now() };
    world.record.with(|record| record.roles.push(change));
}

/// A call that was begun after the end of a right had been answered, and answered before anybody began to give it back.
pub(super) fn check(entries: &Entries) -> Vec<Broken> {
    let mut broken = Vec::new();
    for (place, taken) in entries.roles.iter().enumerate().filter(|(_, change)| !change.given) {
        let later = &entries.roles[place + 1..];
        let back =
            later.iter().find(|change| (change.user, change.right, change.given) == (taken.user, taken.right, true));
        for call in entries.calls.iter().filter(|call| call.by == taken.user && call.succeeded()) {
            let first = call.attempts.first().map(|attempt| attempt.began);
            let definite = |attempt: &&super::record::Attempt| {
                attempt.answer.as_ref().is_some_and(super::record::Told::is_definite)
            };
            let answered = call.attempts.iter().find(definite).map(|attempt| attempt.ended);
            let after = first.is_some_and(|first| first > taken.ended);
            let before = answered.is_some_and(|answered| back.is_none_or(|back| answered < back.began));
            if after && before && taken.right.is_needed_by(call) {
                broken.push(Broken::new(REVOKED, format!("{} {} without {:?}", call.tag, call.action, taken.right)));
            }
        }
    }
    broken
}

/// The body of a member, as the administrator makes one.
pub(super) fn member(who: &Who) -> Value {
    json!({"user_id": who.id, "display_name": who.name, "is_active": true, "can_approve": who.can_approve, "is_admin": false})
}
