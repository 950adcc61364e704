//! What goes over the wire out; people are in `dto_people`. Names and shapes are the contract; a snapshot of the
//! OpenAPI document holds them.

use super::problem::Problem;
use crate::approvals::service::Eligibility;
use crate::approvals::view::{Counts, RequestView, VersionView};
use crate::domain::history::RequestEntry;
use crate::domain::ids::UserId;
use crate::domain::request::{Action, Request, Status};
use crate::domain::rfc3339;
use crate::domain::text::Violation;
use serde::Serialize;
use std::collections::BTreeMap;
use utoipa::ToSchema;
use uuid::Uuid;

/// A request, as the caller sees it.
#[derive(Debug, Serialize, ToSchema)]
#[schema(as = Request)]
pub(super) struct RequestDto {
    pub(super) id: Uuid,
    pub(super) organization_id: Uuid,
    pub(super) applicant_id: Uuid,
    /// The applicant's present name.
    pub(super) applicant_name: String,
    /// One line, 1 to 200 Unicode scalar values.
    #[schema(min_length = 1, max_length = 200)]
    pub(super) title: String,
    /// Paragraphs, up to 10,000 Unicode scalar values.
    #[schema(max_length = 10_000)]
    pub(super) description: String,
    /// In the currency's minor unit (yen, cents). Null: no money in it, and no currency either.
    #[schema(required = true, minimum = 0, maximum = 9_007_199_254_740_991_i64)]
    pub(super) amount: Option<i64>,
    /// An ISO 4217 code. Null exactly when `amount` is.
    #[schema(required = true, pattern = "^[A-Z]{3}$")]
    pub(super) currency: Option<String>,
    #[schema(value_type = StatusDto)]
    pub(super) status: &'static str,
    /// Counts the changes, from 1. Send it back with every write.
    #[schema(minimum = 1)]
    pub(super) version: i64,
    /// The reason of the last decision (approve, reject or send back); cleared by a submit.
    #[schema(required = true)]
    pub(super) decision_reason: Option<String>,
    /// SHA-256, in hexadecimal, over the RFC 8785 form of title, description, amount and currency.
    #[schema(pattern = "^[0-9a-f]{64}$")]
    pub(super) content_hash: String,
    #[schema(value_type = String, format = DateTime)]
    pub(super) created_at: String,
    /// The last change, of content or status.
    #[schema(value_type = String, format = DateTime)]
    pub(super) updated_at: String,
    /// The last submission. Null: never submitted, so only the applicant sees it.
    #[schema(required = true, value_type = Option<String>, format = DateTime)]
    pub(super) submitted_at: Option<String>,
    /// The last approval or rejection.
    #[schema(required = true, value_type = Option<String>, format = DateTime)]
    pub(super) decided_at: Option<String>,
    /// What this very caller could do now: a write with the present version and good input would be accepted.
    #[schema(value_type = Vec<ActionDto>)]
    pub(super) allowed_actions: Vec<&'static str>,
    /// Who could decide, while the request is pending; else null.
    #[schema(required = true)]
    pub(super) waiting_for: Option<WaitingForDto>,
}

/// The statuses of a request.
#[derive(Debug, Serialize, ToSchema)]
#[schema(as = Status)]
#[serde(rename_all = "snake_case")]
#[expect(dead_code, reason = "the schema of a string, which `Status::as_str` writes")]
pub(super) enum StatusDto {
    Draft,
    Pending,
    Approved,
    Rejected,
    Returned,
    Withdrawn,
}

/// The actions on a request.
#[derive(Debug, Serialize, ToSchema)]
#[schema(as = Action)]
#[serde(rename_all = "snake_case")]
#[expect(dead_code, reason = "the schema of a string, which `Action::as_str` writes")]
pub(super) enum ActionDto {
    Create,
    Edit,
    Submit,
    Approve,
    Reject,
    SendBack,
    Withdraw,
}

/// Those who could decide on a pending request now.
#[derive(Debug, Serialize, ToSchema)]
#[schema(as = WaitingFor)]
pub(super) struct WaitingForDto {
    /// How many. Zero: the organization has nobody who could.
    #[schema(minimum = 0)]
    pub(super) count: i64,
    /// The first 20 of them, by name.
    #[schema(max_items = 20)]
    pub(super) members: Vec<PersonDto>,
}

/// A person, by id and name.
#[derive(Debug, Serialize, ToSchema)]
#[schema(as = Person)]
pub(super) struct PersonDto {
    pub(super) user_id: Uuid,
    pub(super) display_name: String,
}

impl From<&(UserId, String)> for PersonDto {
    fn from((user, name): &(UserId, String)) -> Self {
        Self { user_id: user.0, display_name: name.clone() }
    }
}

impl From<&RequestView> for RequestDto {
    fn from(view: &RequestView) -> Self {
        let request = &view.request;
        Self {
            id: request.id.0,
            organization_id: request.organization_id.0,
            applicant_id: request.applicant_id.0,
            applicant_name: view.applicant_name.clone(),
            title: request.content.title.clone(),
            description: request.content.description.clone(),
            amount: request.content.amount,
            currency: request.content.currency.clone(),
            status: request.status.as_str(),
            version: request.version,
            decision_reason: request.decision_reason.clone(),
            content_hash: request.content_hash.to_string(),
            created_at: rfc3339(request.created_at),
            updated_at: rfc3339(request.updated_at),
            submitted_at: request.submitted_at.map(rfc3339),
            decided_at: request.decided_at.map(rfc3339),
            allowed_actions: view.allowed_actions.iter().map(|action| action.as_str()).collect(),
            waiting_for: view.waiting_for.as_ref().map(|waiting| WaitingForDto {
                count: waiting.count,
                members: waiting.members.iter().map(PersonDto::from).collect(),
            }),
        }
    }
}

/// How a request stands, for the one who was too late.
#[derive(Debug, Serialize, ToSchema)]
#[schema(as = Current)]
pub(super) struct CurrentDto {
    /// The version to send after looking again.
    #[schema(minimum = 1)]
    pub(super) version: i64,
    #[schema(value_type = StatusDto)]
    pub(super) status: &'static str,
    #[schema(value_type = ActionDto)]
    pub(super) last_action: &'static str,
    pub(super) last_actor_id: Uuid,
    /// The name as of then.
    pub(super) last_actor_name: String,
    #[schema(value_type = String, format = DateTime)]
    pub(super) last_at: String,
}

impl From<&Request> for CurrentDto {
    fn from(request: &Request) -> Self {
        Self {
            version: request.version,
            status: request.status.as_str(),
            last_action: request.last.action.as_str(),
            last_actor_id: request.last.actor_id.0,
            last_actor_name: request.last.actor_name.clone(),
            last_at: rfc3339(request.updated_at),
        }
    }
}

/// A row of a request's history.
#[derive(Debug, Serialize, ToSchema)]
#[schema(as = HistoryEntry)]
pub(super) struct HistoryEntryDto {
    pub(super) request_id: Uuid,
    /// The version that this change made.
    #[schema(minimum = 1)]
    pub(super) version: i64,
    pub(super) actor_id: Uuid,
    /// The name as of then.
    pub(super) actor_name: String,
    #[schema(value_type = ActionDto)]
    pub(super) action: &'static str,
    /// Null for the creation.
    #[schema(required = true, value_type = Option<StatusDto>)]
    pub(super) from_status: Option<&'static str>,
    #[schema(value_type = StatusDto)]
    pub(super) to_status: &'static str,
    /// What the actor gave as a reason; always there for `reject` and `send_back`.
    #[schema(required = true)]
    pub(super) reason: Option<String>,
    /// Names exactly the content that was judged: the `content_hash` of `versions/{version}`.
    #[schema(pattern = "^[0-9a-f]{64}$")]
    pub(super) content_hash: String,
    #[schema(value_type = String, format = DateTime)]
    pub(super) occurred_at: String,
}

impl From<&RequestEntry> for HistoryEntryDto {
    fn from(entry: &RequestEntry) -> Self {
        Self {
            request_id: entry.request_id.0,
            version: entry.version,
            actor_id: entry.actor_id.0,
            actor_name: entry.actor_name.clone(),
            action: entry.action.as_str(),
            from_status: entry.from_status.map(Status::as_str),
            to_status: entry.to_status.as_str(),
            reason: entry.reason.clone(),
            content_hash: entry.content_hash.to_string(),
            occurred_at: rfc3339(entry.occurred_at),
        }
    }
}

/// The content of a request as it stood at a version.
#[derive(Debug, Serialize, ToSchema)]
#[schema(as = RequestVersion)]
pub(super) struct VersionDto {
    #[schema(minimum = 1)]
    pub(super) version: i64,
    pub(super) title: String,
    pub(super) description: String,
    /// In the currency's minor unit.
    #[schema(required = true, minimum = 0, maximum = 9_007_199_254_740_991_i64)]
    pub(super) amount: Option<i64>,
    /// An ISO 4217 code. Null exactly when `amount` is.
    #[schema(required = true, pattern = "^[A-Z]{3}$")]
    pub(super) currency: Option<String>,
    #[schema(pattern = "^[0-9a-f]{64}$")]
    pub(super) content_hash: String,
    /// Who made this version.
    pub(super) actor_id: Uuid,
    /// The name as of then.
    pub(super) actor_name: String,
    /// When this version was made.
    #[schema(value_type = String, format = DateTime)]
    pub(super) created_at: String,
}

impl From<&VersionView> for VersionDto {
    fn from(view: &VersionView) -> Self {
        Self {
            version: view.version,
            title: view.content.title.clone(),
            description: view.content.description.clone(),
            amount: view.content.amount,
            currency: view.content.currency.clone(),
            content_hash: view.content_hash.to_string(),
            actor_id: view.actor_id.0,
            actor_name: view.actor_name.clone(),
            created_at: rfc3339(view.created_at),
        }
    }
}

/// What somebody could do to a request now, and what stands in the way of the rest.
#[derive(Debug, Serialize, ToSchema)]
#[schema(as = Eligibility)]
pub(super) struct EligibilityDto {
    pub(super) request_id: Uuid,
    /// About whom.
    pub(super) user_id: Uuid,
    /// The version and status that this was judged on.
    pub(super) version: i64,
    #[schema(value_type = StatusDto)]
    pub(super) status: &'static str,
    pub(super) actions: Vec<EligibleActionDto>,
}

/// One action.
#[derive(Debug, Serialize, ToSchema)]
#[schema(as = EligibleAction)]
pub(super) struct EligibleActionDto {
    #[schema(value_type = ActionDto)]
    pub(super) action: &'static str,
    /// True: a call with this version and good input succeeds.
    pub(super) possible: bool,
    /// The code that a call would be refused with; null when it is possible.
    pub(super) code: Option<&'static str>,
    /// Why, and who could; null when it is possible.
    pub(super) detail: Option<String>,
}

impl From<Eligibility> for EligibilityDto {
    fn from(eligibility: Eligibility) -> Self {
        let Eligibility { user_id, request, obstacles } = eligibility;
        let actions = obstacles.into_iter().map(|(action, obstacle)| {
            let problem = obstacle.map(Problem::from);
            EligibleActionDto {
                action: action.as_str(),
                possible: problem.is_none(),
                code: problem.as_ref().map(|problem| problem.code().as_str()),
                detail: problem.map(|problem| problem.detail().to_owned()),
            }
        });
        Self {
            request_id: request.id.0,
            user_id: user_id.0,
            version: request.version,
            status: request.status.as_str(),
            actions: actions.collect(),
        }
    }
}

/// How many requests there are, per view and status, zeros included: as many as a walk through the list shows.
#[derive(Debug, Serialize, ToSchema)]
#[schema(as = Counts)]
pub(super) struct CountsDto {
    /// Those that the caller applies for.
    #[schema(value_type = CountsByStatusDto)]
    pub(super) mine: BTreeMap<&'static str, i64>,
    /// Those that the caller could decide now.
    #[schema(value_type = InboxCountDto)]
    pub(super) inbox: BTreeMap<&'static str, i64>,
    /// Those that the caller may see.
    #[schema(value_type = CountsByStatusDto)]
    pub(super) all: BTreeMap<&'static str, i64>,
}

/// One number for each status.
#[derive(Debug, ToSchema)]
#[schema(as = CountsByStatus)]
#[expect(dead_code, reason = "the schema of a map whose keys are all that `Status::as_str` writes")]
pub(super) struct CountsByStatusDto {
    #[schema(minimum = 0)]
    pub(super) draft: i64,
    #[schema(minimum = 0)]
    pub(super) pending: i64,
    #[schema(minimum = 0)]
    pub(super) approved: i64,
    #[schema(minimum = 0)]
    pub(super) rejected: i64,
    #[schema(minimum = 0)]
    pub(super) returned: i64,
    #[schema(minimum = 0)]
    pub(super) withdrawn: i64,
}

/// What waits for a decision of the caller: only pending requests do.
#[derive(Debug, ToSchema)]
#[schema(as = InboxCount)]
#[expect(dead_code, reason = "the schema of a map with one key")]
pub(super) struct InboxCountDto {
    #[schema(minimum = 0)]
    pub(super) pending: i64,
}

impl From<&Counts> for CountsDto {
    fn from(counts: &Counts) -> Self {
        let by_status = |counts: &[(Status, i64)]| counts.iter().map(|(s, n)| (s.as_str(), *n)).collect();
        Self {
            mine: by_status(&counts.mine),
            inbox: by_status(&[(Status::Pending, counts.inbox)]),
            all: by_status(&counts.all),
        }
    }
}

/// A page of a list.
#[derive(Debug, Serialize, ToSchema)]
#[schema(as = Page)]
pub(super) struct PageDto<T> {
    pub(super) items: Vec<T>,
    /// Send it as `cursor`, with the same filters, for the next page. Null on the last page.
    #[schema(required = true)]
    pub(super) next_cursor: Option<String>,
}

/// RFC 9457 problem details.
#[derive(Debug, Serialize, ToSchema)]
#[schema(as = Problem)]
pub(super) struct ProblemDto {
    /// `urn:ringi:problem:` and the code.
    pub(super) r#type: String,
    /// What the code means, the same every time.
    pub(super) title: String,
    /// The same as the answer's status.
    #[schema(minimum = 400, maximum = 599)]
    pub(super) status: u16,
    /// What to do next.
    pub(super) detail: String,
    /// What a program decides by. Once released, a code never changes its meaning.
    pub(super) code: String,
    /// The same as in the `X-Request-Id` header and in the log.
    pub(super) request_id: String,
    /// For `validation_failed` and `unknown_field`: what is wrong where.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(value_type = Vec<ViolationDto>, required = false)]
    pub(super) errors: Option<Vec<ViolationDto>>,
    /// For `request_changed` and `invalid_transition`: a `Current`. For `member_changed`: a `Member`.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(value_type = Object, required = false)]
    pub(super) current: Option<serde_json::Value>,
}

/// One rule that the input breaks.
#[derive(Debug, Serialize, ToSchema)]
#[schema(as = Violation)]
pub(super) struct ViolationDto {
    /// A JSON pointer (RFC 6901) into the body, such as `/title`.
    pub(super) pointer: String,
    /// Stable. The conventions list them.
    pub(super) code: String,
    /// What would be right. Never repeats the value.
    pub(super) detail: String,
}

impl From<&Violation> for ViolationDto {
    fn from(violation: &Violation) -> Self {
        Self { pointer: violation.pointer.clone(), code: violation.code.clone(), detail: violation.detail.clone() }
    }
}

/// Kept beside the schema so that the compiler sees a new action or status.
const _: () = {
    assert!(Action::ALL.len() == 7);
    assert!(Status::ALL.len() == 6);
};
