//! What a mail says: who is written to, and what that person may read at this moment.

use crate::domain::ids::{OrganizationId, RequestId, UserId};
use crate::domain::mail::{Language, LinkKey, MailKind, MailLink, Purpose};
use crate::domain::request::Action;
use uuid::Uuid;

/// How many requests a digest names. The rest are counted.
pub const NAMED: usize = 20;

/// A mail that is about to be sent.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Letter {
    /// Names it over all attempts.
    pub id: Uuid,
    /// Whose.
    pub organization_id: OrganizationId,
    /// The organization's name.
    pub organization_name: String,
    /// Who is written to.
    pub receiver: UserId,
    /// The receiver's name.
    pub receiver_name: String,
    /// Where to.
    pub address: String,
    /// In which language.
    pub language: Language,
    /// Signs the links in it.
    pub key: LinkKey,
    /// How often it was tried, this time included.
    pub attempts: u32,
    /// What it says.
    pub content: Content,
}

/// What it says.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Content {
    /// Asks whether mails may be sent here; the link works until then, in seconds since 1970.
    Confirmation {
        /// See [`Purpose::Confirm`].
        until: i64,
    },
    /// Somebody decided on the receiver's request.
    Decision {
        /// Which.
        request_id: RequestId,
        /// As it reads now.
        title: String,
        /// What was decided.
        action: Action,
        /// By whom, as of then.
        actor_name: String,
        /// Why.
        reason: Option<String>,
    },
    /// Requests that the receiver could decide on now.
    Submissions {
        /// How many.
        count: u64,
        /// The first [`NAMED`] of them.
        named: Vec<Waiting>,
    },
    /// A month was closed, or its closing stopped.
    Closing {
        /// Such as `2026-10`.
        period: String,
        /// How many rows are in the way; `None` when the month is closed.
        blocked: Option<i64>,
    },
    /// What follows an approval failed.
    Job {
        /// Of which request.
        request_id: RequestId,
        /// As it reads now.
        title: String,
    },
}

/// A request in a digest.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Waiting {
    /// Which.
    pub request_id: RequestId,
    /// As it reads now.
    pub title: String,
    /// Who asks.
    pub applicant_name: String,
    /// In the currency's minor unit.
    pub amount: Option<i64>,
    /// An ISO 4217 code.
    pub currency: Option<String>,
}

impl Content {
    /// The kind of mail that says it.
    #[must_use]
    pub const fn kind(&self) -> MailKind {
        match self {
            Self::Confirmation { .. } => MailKind::Confirmation,
            Self::Decision { .. } => MailKind::Decisions,
            Self::Submissions { .. } => MailKind::Submissions,
            Self::Closing { .. } => MailKind::Closings,
            Self::Job { .. } => MailKind::Jobs,
        }
    }
}

impl Letter {
    /// The signed link that this letter carries: yes to mails in a confirmation, no more of these in any other.
    #[must_use]
    pub fn link(&self) -> String {
        let purpose = match self.content {
            Content::Confirmation { until } => Purpose::Confirm(until),
            _ => Purpose::Unsubscribe(self.content.kind()),
        };
        let link = MailLink { organization_id: self.organization_id, user_id: self.receiver, purpose };
        link.sign(&self.key)
    }
}
