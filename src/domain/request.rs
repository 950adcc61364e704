//! A request's life: the statuses, the actions, the state machine, and the one function that judges a write.

use super::Instant;
use super::content::Content;
use super::history::{Hash, RequestEntry};
use super::ids::{OrganizationId, RequestId, UserId, Version};
use super::member::Member;
use super::text::{self, Violation};
use validator::Validate;

macro_rules! names {
    ($(#[$doc:meta])* $name:ident { $($(#[$variant_doc:meta])* $variant:ident = $text:literal),+ $(,)? }) => {
        $(#[$doc])*
        #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
        pub enum $name { $($(#[$variant_doc])* $variant),+ }

        impl $name {
            /// All of them, in the order in which they are listed to people.
            pub const ALL: &'static [Self] = &[$(Self::$variant),+];

            /// The name in the API, the database, the history and the events alike.
            #[must_use]
            pub const fn as_str(self) -> &'static str {
                match self { $(Self::$variant => $text),+ }
            }

            /// The reverse of [`Self::as_str`].
            #[must_use]
            pub fn parse(text: &str) -> Option<Self> {
                Self::ALL.iter().copied().find(|known| known.as_str() == text)
            }
        }
    };
}
pub(super) use names;

names! {
    /// Where a request stands.
    Status {
        /// Being written; only its applicant sees it.
        Draft = "draft",
        /// Submitted, waiting for a decision.
        Pending = "pending",
        /// Decided: yes. Final.
        Approved = "approved",
        /// Decided: no. Final.
        Rejected = "rejected",
        /// Sent back to the applicant, who may edit and submit it again.
        Returned = "returned",
        /// Taken back by its applicant. Final.
        Withdrawn = "withdrawn",
    }
}

names! {
    /// What can be done to a request.
    Action {
        /// Begin a draft.
        Create = "create",
        /// Change the content.
        Edit = "edit",
        /// Ask for a decision.
        Submit = "submit",
        /// Decide: yes.
        Approve = "approve",
        /// Decide: no.
        Reject = "reject",
        /// Ask the applicant to change something.
        SendBack = "send_back",
        /// Take the request back.
        Withdraw = "withdraw",
    }
}

/// **The state machine.** `None`: there is no such action from this status. Approved, rejected and withdrawn are
/// final: nothing leads out of them.
#[must_use]
#[expect(clippy::match_same_arms, reason = "one line for each arrow of the state machine")]
pub const fn transition(from: Status, action: Action) -> Option<Status> {
    match (from, action) {
        (Status::Draft, Action::Edit) => Some(Status::Draft),
        (Status::Returned, Action::Edit) => Some(Status::Returned),
        (Status::Draft | Status::Returned, Action::Submit) => Some(Status::Pending),
        (Status::Pending, Action::Approve) => Some(Status::Approved),
        (Status::Pending, Action::Reject) => Some(Status::Rejected),
        (Status::Pending, Action::SendBack) => Some(Status::Returned),
        (Status::Draft | Status::Returned | Status::Pending, Action::Withdraw) => Some(Status::Withdrawn),
        _ => None,
    }
}

/// A request as it stands.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Request {
    /// Whose.
    pub organization_id: OrganizationId,
    /// Which.
    pub id: RequestId,
    /// Who wrote it and submits it.
    pub applicant_id: UserId,
    /// What is judged.
    pub content: Content,
    /// Names exactly this content.
    pub content_hash: Hash,
    /// The version that wrote the content.
    pub content_version: Version,
    /// Where it stands.
    pub status: Status,
    /// Counts its changes, from 1. The history has exactly as many rows.
    pub version: Version,
    /// The reason of the last decision; cleared by a submit.
    pub decision_reason: Option<String>,
    /// When it was begun.
    pub created_at: Instant,
    /// When it last changed: the time of its last history row.
    pub updated_at: Instant,
    /// The last submission. Present from the first on, also after a withdrawal: others may see it since then.
    pub submitted_at: Option<Instant>,
    /// The last approval or rejection.
    pub decided_at: Option<Instant>,
    /// What was done last, and by whom: what the loser of a race is told.
    pub last: LastChange,
    /// The hash of the last history row.
    pub chain_hash: Hash,
}

/// The last change of a request.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LastChange {
    /// What.
    pub action: Action,
    /// Who.
    pub actor_id: UserId,
    /// The actor's name as of then.
    pub actor_name: String,
}

/// What somebody asks for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Command {
    /// Replace the whole content.
    Edit(Content),
    /// Ask for a decision.
    Submit,
    /// Decide: yes, with or without a reason.
    Approve(Option<String>),
    /// Decide: no. A reason is required.
    Reject(Option<String>),
    /// Ask for changes. A reason is required.
    SendBack(Option<String>),
    /// Take it back, with or without a reason.
    Withdraw(Option<String>),
}

impl Command {
    /// The action that the history will name.
    #[must_use]
    pub const fn action(&self) -> Action {
        match self {
            Self::Edit(_) => Action::Edit,
            Self::Submit => Action::Submit,
            Self::Approve(_) => Action::Approve,
            Self::Reject(_) => Action::Reject,
            Self::SendBack(_) => Action::SendBack,
            Self::Withdraw(_) => Action::Withdraw,
        }
    }

    fn reason(&self) -> Option<&String> {
        match self {
            Self::Edit(_) | Self::Submit => None,
            Self::Approve(reason) | Self::Reject(reason) | Self::SendBack(reason) | Self::Withdraw(reason) => {
                reason.as_ref()
            }
        }
    }

    /// The content rules, which are judged last.
    fn check(&self) -> Result<(), Refusal> {
        let found = match self {
            Self::Edit(content) => content.check().err().unwrap_or_default(),
            Self::Reject(None) | Self::SendBack(None) => {
                vec![Violation::new("reason", "required", "say why, in 1 to 2,000 characters")]
            }
            _ => self.reason().map_or_else(Vec::new, |reason| check_reason(reason)),
        };
        if found.is_empty() { Ok(()) } else { Err(Refusal::Invalid(found)) }
    }
}

#[derive(Validate)]
struct Reason<'a> {
    #[validate(length(min = 1, max = "text::REASON_MAX", message = "must have 1 to 2,000 characters"))]
    #[validate(custom(function = "text::reason"))]
    reason: &'a str,
}

/// Every rule of a reason that is broken.
pub(super) fn check_reason(reason: &str) -> Vec<Violation> {
    Reason { reason }.validate().err().map(|errors| text::violations(&errors)).unwrap_or_default()
}

/// Why a write was refused. Nothing was changed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Refusal {
    /// There is nothing that this member may see.
    NotFound,
    /// Somebody else was faster; this is how it stands.
    Changed(Box<Request>),
    /// The version is right, but the action does not exist from this status.
    InvalidTransition(Box<Request>),
    /// The action exists, but not for this member.
    Forbidden,
    /// Nobody decides on what he wrote.
    SelfApproval,
    /// The input breaks these rules.
    Invalid(Vec<Violation>),
}

/// A change that was judged right: the request after it, and the history row that goes with it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Change {
    /// The request as it will stand.
    pub after: Request,
    /// The history row, whose hash is `after.chain_hash`.
    pub entry: RequestEntry,
}

impl Change {
    /// True when this change writes a content of its own.
    #[must_use]
    pub const fn writes_content(&self) -> bool {
        self.after.content_version == self.after.version
    }
}

/// Begins a draft.
///
/// # Errors
/// [`Refusal::Invalid`] when the content breaks a rule.
pub fn create(member: &Member, id: RequestId, content: Content, at: Instant) -> Result<Change, Refusal> {
    content.check().map_err(Refusal::Invalid)?;
    let content_hash = content.hash();
    let entry = RequestEntry {
        organization_id: member.organization_id,
        request_id: id,
        version: 1,
        actor_id: member.user_id,
        actor_name: member.display_name.clone(),
        action: Action::Create,
        from_status: None,
        to_status: Status::Draft,
        reason: None,
        content_hash,
        occurred_at: at,
    };
    let after = Request {
        organization_id: member.organization_id,
        id,
        applicant_id: member.user_id,
        content,
        content_hash,
        content_version: 1,
        status: Status::Draft,
        version: 1,
        decision_reason: None,
        created_at: at,
        updated_at: at,
        submitted_at: None,
        decided_at: None,
        last: LastChange { action: Action::Create, actor_id: member.user_id, actor_name: member.display_name.clone() },
        chain_hash: entry.hash(Hash::START),
    };
    Ok(Change { after, entry })
}

/// **Judges a write** on locked rows, in the order that the API promises: may he see it, did he see its present
/// version, does the action exist from here, is it his to do, is the input acceptable. `None`: an edit that changes
/// nothing, which is no new version.
///
/// `at` is the database's clock, read after the lock. `has_acted` counts only for members who see no more than their own.
///
/// # Errors
/// The first check that fails.
pub fn decide(
    member: &Member,
    has_acted: bool,
    request: &Request,
    seen: Version,
    command: &Command,
    at: Instant,
) -> Result<Option<Change>, Refusal> {
    if !member.may_see(request, has_acted) {
        return Err(Refusal::NotFound);
    }
    if request.version != seen {
        return Err(Refusal::Changed(Box::new(request.clone())));
    }
    let to_status = possible(member, request, command.action())?;
    command.check()?;
    if matches!(command, Command::Edit(content) if *content == request.content) {
        return Ok(None);
    }
    Ok(Some(change(member, request, command, to_status, at)))
}

/// Whether an action is possible from here for somebody who sees the request: the status that it would lead to. The
/// one rule that [`decide`], [`allowed_actions`] and the eligibility call share.
///
/// # Errors
/// [`Refusal::InvalidTransition`], then whose action it is: self-approval before a missing right.
pub fn possible(member: &Member, request: &Request, action: Action) -> Result<Status, Refusal> {
    let to_status =
        transition(request.status, action).ok_or_else(|| Refusal::InvalidTransition(Box::new(request.clone())))?;
    check_right(member, request, action)?;
    Ok(to_status)
}

/// Whose action it is: the applicant writes, submits and withdraws; who may approve decides, but never on what he
/// wrote himself.
///
/// # Errors
/// [`Refusal::SelfApproval`] before [`Refusal::Forbidden`]: the reason that no right will ever change comes first.
fn check_right(member: &Member, request: &Request, action: Action) -> Result<(), Refusal> {
    match action {
        Action::Approve | Action::Reject | Action::SendBack => {
            if member.wrote(request) {
                Err(Refusal::SelfApproval)
            } else if member.can_approve {
                Ok(())
            } else {
                Err(Refusal::Forbidden)
            }
        }
        Action::Create | Action::Edit | Action::Submit | Action::Withdraw => {
            if member.user_id == request.applicant_id {
                Ok(())
            } else {
                Err(Refusal::Forbidden)
            }
        }
    }
}

/// The actions that [`decide`] would accept from this member now, with the present version and good input.
#[must_use]
pub fn allowed_actions(member: &Member, request: &Request) -> Vec<Action> {
    Action::ALL.iter().copied().filter(|action| possible(member, request, *action).is_ok()).collect()
}

fn change(member: &Member, request: &Request, command: &Command, to_status: Status, at: Instant) -> Change {
    let action = command.action();
    let mut after = Request {
        status: to_status,
        version: request.version + 1,
        updated_at: at,
        last: LastChange { action, actor_id: member.user_id, actor_name: member.display_name.clone() },
        ..request.clone()
    };
    match command {
        Command::Edit(content) => {
            after.content = content.clone();
            after.content_hash = content.hash();
            after.content_version = after.version;
        }
        Command::Submit => {
            after.submitted_at = Some(at);
            after.decision_reason = None;
        }
        Command::Approve(reason) | Command::Reject(reason) => {
            after.decided_at = Some(at);
            after.decision_reason.clone_from(reason);
        }
        Command::SendBack(reason) => after.decision_reason.clone_from(reason),
        Command::Withdraw(_) => {}
    }
    let entry = RequestEntry {
        organization_id: request.organization_id,
        request_id: request.id,
        version: after.version,
        actor_id: member.user_id,
        actor_name: member.display_name.clone(),
        action,
        from_status: Some(request.status),
        to_status,
        reason: command.reason().cloned(),
        content_hash: after.content_hash,
        occurred_at: at,
    };
    after.chain_hash = entry.hash(request.chain_hash);
    Change { after, entry }
}
