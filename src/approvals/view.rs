//! What a reader is shown, and what he may ask for.

use crate::domain::Instant;
use crate::domain::content::Content;
use crate::domain::history::{Hash, RequestEntry};
use crate::domain::ids::{UserId, Version};
use crate::domain::member::Member;
use crate::domain::request::{Action, Request, Status, allowed_actions};
use uuid::Uuid;

/// How many of those who could decide are named.
pub const DECIDERS_SHOWN: usize = 20;

/// A request as one member sees it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RequestView {
    /// As it stands.
    pub request: Request,
    /// The applicant's present name.
    pub applicant_name: String,
    /// What this very member could do now: what a POST would accept.
    pub allowed_actions: Vec<Action>,
    /// Who could decide, while it is pending.
    pub waiting_for: Option<WaitingFor>,
}

impl RequestView {
    /// The view of `request` for `member`.
    #[must_use]
    pub fn new(request: Request, applicant_name: String, member: &Member, waiting_for: Option<WaitingFor>) -> Self {
        let allowed_actions = allowed_actions(member, &request);
        Self { request, applicant_name, allowed_actions, waiting_for }
    }
}

/// Those who could decide on a pending request now.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct WaitingFor {
    /// How many. Zero: the organization has nobody else who may approve.
    pub count: i64,
    /// The first of them by name, at most [`DECIDERS_SHOWN`].
    pub members: Vec<(UserId, String)>,
}

/// Which requests a list shows, before the filters.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum View {
    /// Those that the member wrote.
    Mine,
    /// Exactly those that the member could decide now.
    Inbox,
    /// All that the member may see.
    #[default]
    All,
}

impl View {
    /// The name in the API.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Mine => "mine",
            Self::Inbox => "inbox",
            Self::All => "all",
        }
    }
}

/// A place in a list's order, which never changes: newest first by creation, then by id.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Place {
    /// When the row was made.
    pub created_at: Instant,
    /// Its id.
    pub id: Uuid,
}

/// Which requests to list.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ListQuery {
    /// See [`View`].
    pub view: View,
    /// Only this status.
    pub status: Option<Status>,
    /// Only this applicant's.
    pub applicant_id: Option<UserId>,
    /// Only those whose title or description contains this text, whatever its case.
    pub text: Option<String>,
    /// Only those changed at this instant or later.
    pub updated_since: Option<Instant>,
}

/// A page of a list.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Page<T, P> {
    /// In order.
    pub items: Vec<T>,
    /// Where the next page begins, if there is one.
    pub next: Option<P>,
}

impl<T, P> Page<T, P> {
    /// Makes a page of `rows`, of which one more than `limit` was asked for, to see whether there are more.
    #[must_use]
    pub fn cut(mut rows: Vec<T>, limit: usize, place: impl Fn(&T) -> P) -> Self {
        let more = rows.len() > limit;
        rows.truncate(limit);
        let next = if more { rows.last().map(place) } else { None };
        Self { items: rows, next }
    }
}

/// How many requests there are, per view and status.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Counts {
    /// In [`View::Mine`], per status.
    pub mine: Vec<(Status, i64)>,
    /// In [`View::Inbox`].
    pub inbox: i64,
    /// In [`View::All`], per status.
    pub all: Vec<(Status, i64)>,
}

/// The content of a request as it stood at a version.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct VersionView {
    /// The version asked for.
    pub version: Version,
    /// Its content.
    pub content: Content,
    /// Names this content.
    pub content_hash: Hash,
    /// Who made the version.
    pub actor_id: UserId,
    /// The name as of then.
    pub actor_name: String,
    /// When the version was made.
    pub created_at: Instant,
}

/// A page of a request's history, by version.
pub type HistoryPage = Page<RequestEntry, Version>;
