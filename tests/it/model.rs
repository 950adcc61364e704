//! Random walks through a request's life, against a model that was written from the rules alone.

use chrono::{DateTime, TimeDelta};
use proptest::prelude::*;
use ringi::domain::Instant;
use ringi::domain::content::Content;
use ringi::domain::history::Hash;
use ringi::domain::ids::{OrganizationId, RequestId, UserId};
use ringi::domain::member::Member;
use ringi::domain::request::{Action, Change, Command, Refusal, Request, Status, allowed_actions, create, decide};
use std::collections::HashSet;
use uuid::Uuid;

/// What the rules say, told without the words of the program: statuses and actions are their names.
struct Model {
    status: &'static str,
    ever_submitted: bool,
    version: i64,
    title: String,
    acted: HashSet<usize>,
}

/// From where each action leads where. Whose it is: the applicant's or a decider's.
const RULES: [(&str, &str, &str, bool); 11] = [
    ("draft", "edit", "draft", true),
    ("returned", "edit", "returned", true),
    ("draft", "submit", "pending", true),
    ("returned", "submit", "pending", true),
    ("draft", "withdraw", "withdrawn", true),
    ("returned", "withdraw", "withdrawn", true),
    ("pending", "withdraw", "withdrawn", true),
    ("pending", "approve", "approved", false),
    ("pending", "reject", "rejected", false),
    ("pending", "send_back", "returned", false),
    // The one that makes it is no walk of an existing request.
    ("", "create", "draft", true),
];

impl Model {
    fn rule(&self, action: &str) -> Option<(&'static str, bool)> {
        RULES.iter().find(|rule| (rule.0, rule.1) == (self.status, action)).map(|rule| (rule.2, rule.3))
    }

    fn sees(&self, who: usize, member: &Member) -> bool {
        who == 0 || (self.ever_submitted && (member.can_approve || member.is_admin || self.acted.contains(&who)))
    }

    /// May he do it now, with the present version and good input?
    fn allows(&self, who: usize, member: &Member, action: &str) -> bool {
        self.rule(action).is_some_and(|(_, own)| if own { who == 0 } else { who != 0 && member.can_approve })
    }

    /// The answer's name, in the order of checks.
    fn judge(&self, who: usize, member: &Member, step: &Step) -> &'static str {
        if !self.sees(who, member) {
            return "not found";
        }
        if step.behind != 0 {
            return "changed";
        }
        let Some((_, own)) = self.rule(step.action.as_str()) else { return "invalid transition" };
        match (own, who) {
            (true, 0) => {}
            (false, 0) => return "self approval",
            (true, _) => return "forbidden",
            (false, _) if !member.can_approve => return "forbidden",
            (false, _) => {}
        }
        let needs_reason = matches!(step.action, Action::Reject | Action::SendBack);
        let has_reason = !matches!(step.action, Action::Edit | Action::Submit);
        if (needs_reason && step.reason.is_none()) || (has_reason && step.reason.as_deref() == Some(" ")) {
            return "invalid";
        }
        if step.action == Action::Edit {
            if step.title.is_empty() {
                return "invalid";
            }
            if step.title == self.title {
                return "nothing";
            }
        }
        "done"
    }
}

/// Somebody tries something, having seen a version that may be behind or ahead.
#[derive(Clone, Debug)]
struct Step {
    who: usize,
    can_approve: bool,
    is_admin: bool,
    action: Action,
    behind: i64,
    title: String,
    reason: Option<String>,
}

fn step() -> impl Strategy<Value = Step> {
    let actions: Vec<Action> = Action::ALL.iter().copied().filter(|action| *action != Action::Create).collect();
    (
        // The applicant and a decider more often than others, and the present version most often: walks go far.
        prop_oneof![4 => Just(0_usize), 4 => Just(1), 1 => Just(2)],
        prop::bool::weighted(0.8),
        prop::bool::weighted(0.2),
        prop::sample::select(actions),
        prop_oneof![8 => Just(0_i64), 1 => Just(1), 1 => Just(-1)],
        prop::sample::select(vec!["first", "second", "third", ""]),
        prop::sample::select(vec![Some("because"), Some("because"), None, Some(" ")]),
    )
        .prop_map(|(who, can_approve, is_admin, action, behind, title, reason)| Step {
            who,
            can_approve,
            is_admin,
            action,
            behind,
            title: title.to_owned(),
            reason: reason.map(str::to_owned),
        })
}

fn content(title: &str) -> Content {
    Content {
        title: title.to_owned(),
        description: "why".to_owned(),
        amount: Some(1),
        currency: Some("JPY".to_owned()),
    }
}

fn member(who: usize, can_approve: bool, is_admin: bool) -> Member {
    Member {
        organization_id: OrganizationId(Uuid::from_u128(1)),
        user_id: UserId(Uuid::from_u128(100 + who as u128)),
        display_name: format!("Member {who}"),
        is_active: true,
        can_approve,
        is_admin,
        version: 1,
        created_at: at(0),
    }
}

fn at(second: i64) -> Instant {
    DateTime::UNIX_EPOCH + TimeDelta::seconds(second)
}

fn command(step: &Step) -> Command {
    let reason = step.reason.clone();
    match step.action {
        Action::Create | Action::Edit => Command::Edit(content(&step.title)),
        Action::Submit => Command::Submit,
        Action::Approve => Command::Approve(reason),
        Action::Reject => Command::Reject(reason),
        Action::SendBack => Command::SendBack(reason),
        Action::Withdraw => Command::Withdraw(reason),
    }
}

fn name(judged: &Result<Option<Change>, Refusal>) -> &'static str {
    match judged {
        Ok(Some(_)) => "done",
        Ok(None) => "nothing",
        Err(Refusal::NotFound) => "not found",
        Err(Refusal::Changed(_)) => "changed",
        Err(Refusal::InvalidTransition(_)) => "invalid transition",
        Err(Refusal::Forbidden) => "forbidden",
        Err(Refusal::SelfApproval) => "self approval",
        Err(Refusal::Invalid(_)) => "invalid",
    }
}

/// `allowed_actions` says yes exactly when `decide` accepts, with the present version and good input; and so does the
/// model.
fn check_allowed(model: &Model, who: usize, member: &Member, request: &Request) {
    let allowed = if model.sees(who, member) { allowed_actions(member, request) } else { Vec::new() };
    for action in Action::ALL.iter().copied().filter(|action| *action != Action::Create) {
        let good = Step {
            who,
            can_approve: member.can_approve,
            is_admin: member.is_admin,
            action,
            behind: 0,
            title: "another one".to_owned(),
            reason: Some("because".to_owned()),
        };
        let judged = decide(member, model.acted.contains(&who), request, request.version, &command(&good), at(1));
        assert_eq!(judged.is_ok(), allowed.contains(&action), "{action:?} on {:?}", request.status);
        assert_eq!(judged.is_ok(), model.sees(who, member) && model.allows(who, member, action.as_str()), "{action:?}");
    }
    assert!(!allowed.contains(&Action::Create));
}

/// What one accepted change must be, whatever it was.
fn check_change(before: &Request, change: &Change, command: &Command, by: &Member) {
    let (after, entry) = (&change.after, &change.entry);
    assert!(!matches!(before.status, Status::Approved | Status::Rejected | Status::Withdrawn), "final is final");
    assert_eq!((after.version, entry.version), (before.version + 1, before.version + 1));
    assert_eq!((entry.from_status, entry.to_status), (Some(before.status), after.status));
    assert_eq!(after.chain_hash, entry.hash(before.chain_hash), "the chain goes on");
    assert_eq!((entry.content_hash, after.content_hash), (after.content.hash(), after.content.hash()));
    assert_eq!((entry.actor_id, after.last.actor_id, after.last.action), (by.user_id, by.user_id, command.action()));
    assert_eq!((after.id, after.applicant_id, after.created_at), (before.id, before.applicant_id, before.created_at));
    assert_eq!((after.updated_at, entry.occurred_at), (at(after.version), at(after.version)));
    if let Command::Edit(content) = command {
        assert_eq!((&after.content, after.content_version), (content, after.version));
    } else {
        assert_eq!((&after.content, after.content_version), (&before.content, before.content_version));
        assert_eq!(entry.content_hash, before.content_hash, "what was judged is what was submitted");
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 2_000, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn a_walk_of_a_request_goes_as_the_model_says(steps in prop::collection::vec(step(), 1..40)) {
        let applicant = member(0, false, false);
        let made = create(&applicant, RequestId(Uuid::from_u128(7)), content("first"), at(1)).unwrap();
        let mut entries = vec![made.entry];
        let mut request = made.after;
        let mut model = Model {
            status: "draft", ever_submitted: false, version: 1, title: "first".to_owned(), acted: HashSet::from([0]),
        };
        for step in steps {
            let by = member(step.who, step.can_approve, step.is_admin);
            check_allowed(&model, step.who, &by, &request);
            let command = command(&step);
            let seen = request.version - step.behind;
            let judged = decide(&by, model.acted.contains(&step.who), &request, seen, &command, at(request.version + 1));
            let expected = model.judge(step.who, &by, &step);
            prop_assert_eq!(name(&judged), expected, "{:?} on {:?}", step, request.status);
            if let Err(Refusal::Changed(current) | Refusal::InvalidTransition(current)) = &judged {
                prop_assert_eq!(&**current, &request, "the loser is shown how it stands");
            }
            let Ok(Some(change)) = judged else { continue };
            check_change(&request, &change, &command, &by);
            (model.status, _) = model.rule(step.action.as_str()).unwrap();
            model.ever_submitted |= model.status == "pending";
            model.version += 1;
            model.acted.insert(step.who);
            if step.action == Action::Edit {
                model.title = step.title;
            }
            entries.push(change.entry);
            request = change.after;
            prop_assert_eq!(
                (request.status.as_str(), request.version, &request.content.title, request.submitted_at.is_some()),
                (model.status, model.version, &model.title, model.ever_submitted)
            );
        }
        // From the first row on, the chain leads to the head that stands on the request; bent anywhere, it does not.
        let walk = |entries: &[ringi::domain::history::RequestEntry]| {
            entries.iter().fold(Hash::START, |previous, entry| entry.hash(previous))
        };
        prop_assert_eq!(i64::try_from(entries.len()).unwrap(), request.version);
        prop_assert_eq!(walk(&entries), request.chain_hash);
        entries[0].actor_name.push('!');
        prop_assert_ne!(walk(&entries), request.chain_hash);
    }
}
