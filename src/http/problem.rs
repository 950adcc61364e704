//! Every failure that a client can meet: one table of codes, and the one `ResponseError`.
//!
//! Answers are RFC 9457 problem details with a stable `code`. A code, once released, never changes its meaning.

use super::dto::{CurrentDto, ProblemDto, ViolationDto};
use super::dto_closing::ChargeDto;
use super::dto_people::MemberDto;
use super::dto_webhooks::WebhookDto;
use crate::domain::charge::ClosingRefusal;
use crate::domain::job::JobRefusal;
use crate::domain::mail::MailRefusal;
use crate::domain::member::MemberRefusal;
use crate::domain::request::Refusal;
use crate::domain::text::Violation;
use crate::domain::webhook::{ENDPOINTS_MAX, WebhookRefusal};
use crate::inspection::InspectionRefusal;
use crate::live::LiveRefusal;
use crate::transaction::admission::Full;
use crate::transaction::{StoreError, UseCaseError};
use actix_web::http::StatusCode;
use actix_web::http::header::{self, HeaderValue};
use actix_web::{HttpResponse, HttpResponseBuilder, ResponseError};
use std::fmt;

macro_rules! codes {
    ($($variant:ident $status:literal $name:literal $title:literal),+ $(,)?) => {
        /// The stable codes. Each line below: name, status, code, and the title that says what it means.
        #[derive(Clone, Copy, Debug, PartialEq, Eq)]
        pub enum Code { $(#[doc = $title] $variant),+ }

        impl Code {
            /// All of them, for the OpenAPI document.
            pub const ALL: &'static [Self] = &[$(Self::$variant),+];

            /// The code as clients see it.
            #[must_use]
            pub const fn as_str(self) -> &'static str { match self { $(Self::$variant => $name),+ } }

            /// Its HTTP status.
            #[must_use]
            pub const fn status(self) -> u16 { match self { $(Self::$variant => $status),+ } }

            /// What it means, in a few words.
            #[must_use]
            pub const fn title(self) -> &'static str { match self { $(Self::$variant => $title),+ } }
        }
    };
}

codes! {
    MalformedJson 400 "malformed_json" "The body is not a JSON object.",
    InvalidQuery 400 "invalid_query" "The query is not acceptable.",
    InvalidPath 400 "invalid_path" "The path has a part of the wrong type.",
    InvalidIdempotencyKey 400 "invalid_idempotency_key" "The Idempotency-Key is not 1 to 255 visible ASCII characters.",
    Unauthenticated 401 "unauthenticated" "A valid access token is needed.",
    NotAMember 403 "not_a_member" "You are not an active member of this organization.",
    Forbidden 403 "forbidden" "You may see this, but you may not do that.",
    SelfApprovalForbidden 403 "self_approval_forbidden" "Nobody decides on a request that he wrote.",
    NotFound 404 "not_found" "There is nothing here that you may see.",
    MethodNotAllowed 405 "method_not_allowed" "The resource does not know this method.",
    NotAcceptable 406 "not_acceptable" "The resource has none of the media types that were asked for.",
    RequestTimeout 408 "request_timeout" "The body did not arrive in time.",
    RequestChanged 409 "request_changed" "Somebody changed the request since you looked.",
    InvalidTransition 409 "invalid_transition" "How it stands does not allow this action.",
    IdempotencyInProgress 409 "idempotency_in_progress" "The first call with this key is still under way.",
    LastAdmin 409 "last_admin" "An organization keeps at least one active administrator.",
    InvitationNotOpen 409 "invitation_not_open" "The invitation was used, revoked, or its time is over.",
    AlreadyAMember 409 "already_a_member" "This person is a member already.",
    MemberChanged 409 "member_changed" "Somebody changed the member since you looked.",
    ChargeChanged 409 "charge_changed" "Somebody corrected the charge since you looked.",
    PeriodClosed 409 "period_closed" "The charge's month is closed, or is being closed.",
    ProcessingNotConfigured 409 "processing_not_configured" "There is no outside system to ask.",
    WebhookChanged 409 "webhook_changed" "Somebody changed the webhook since you looked.",
    TooManyWebhooks 409 "too_many_webhooks" "The organization has as many webhooks as it can have.",
    WebhooksNotConfigured 409 "webhooks_not_configured" "There is no key to keep webhooks' secrets with.",
    MailNotConfigured 409 "mail_not_configured" "This installation sends no mail.",
    PeriodNotOver 409 "period_not_over" "The month is not over yet.",
    PayloadTooLarge 413 "payload_too_large" "The body is too large.",
    UnsupportedMediaType 415 "unsupported_media_type" "The body must be uncompressed application/json.",
    ValidationFailed 422 "validation_failed" "Some values are not acceptable.",
    UnknownField 422 "unknown_field" "The body has a member that is not known here.",
    VersionRequired 422 "version_required" "A write carries the version that its author saw.",
    IdempotencyKeyReused 422 "idempotency_key_reused" "This key was used for another call.",
    RateLimited 429 "rate_limited" "Too much at once. Nothing was done.",
    Internal 500 "internal" "A fault of ours. Nothing was saved.",
    Busy 503 "busy" "The service is busy. Nothing was saved.",
    OutcomeUnknown 503 "outcome_unknown" "The connection to the database was lost while saving.",
}

/// A failure on its way to the client.
#[derive(Debug)]
pub struct Problem {
    code: Code,
    detail: String,
    errors: Vec<Violation>,
    extra: Extra,
    /// Seconds.
    retry_after: Option<u32>,
    allow: Option<String>,
    /// The bearer challenge names an error only where a token was sent (RFC 6750, 3.1).
    token_sent: bool,
    request_id: String,
}

/// What some codes carry besides.
#[derive(Debug)]
enum Extra {
    None,
    Current(Box<CurrentDto>),
    Member(Box<MemberDto>),
    Charge(Box<ChargeDto>),
    Webhook(Box<WebhookDto>),
}

impl Problem {
    /// A problem whose `detail` says what to do next.
    #[must_use]
    pub fn new(code: Code, detail: impl Into<String>) -> Self {
        Self {
            code,
            detail: detail.into(),
            errors: Vec::new(),
            extra: Extra::None,
            retry_after: None,
            allow: None,
            token_sent: false,
            request_id: String::new(),
        }
    }

    /// Values that are not acceptable, each named.
    #[must_use]
    pub fn invalid(code: Code, errors: Vec<Violation>) -> Self {
        Self { errors, ..Self::new(code, "Correct the members that `errors` points at, and send it again.") }
    }

    /// A resource that knows other methods.
    #[must_use]
    pub fn method_not_allowed(allow: &str) -> Self {
        Self { allow: Some(allow.to_owned()), ..Self::new(Code::MethodNotAllowed, format!("Use one of: {allow}.")) }
    }

    /// The same words for everything that is not there or may not be seen.
    #[must_use]
    pub fn not_found() -> Self {
        Self::new(Code::NotFound, "Check the address; if it is right, it is not for you to see.")
    }

    /// No token was sent.
    #[must_use]
    pub fn token_missing() -> Self {
        Self::new(Code::Unauthenticated, "Send `Authorization: Bearer <token>`.")
    }

    /// A token is not acceptable. Which rule it broke is in the log, not in the answer.
    #[must_use]
    pub fn token_refused() -> Self {
        let detail = "Sign in again: the token is not acceptable or no longer valid.";
        Self { token_sent: true, ..Self::new(Code::Unauthenticated, detail) }
    }

    /// A fault of ours; the cause is only in the log.
    #[must_use]
    pub fn internal() -> Self {
        Self::new(Code::Internal, "Try again; if it happens again, report the request_id.")
    }

    /// Too much of the caller's own is under way. `seconds`: when to ask again.
    #[must_use]
    pub fn rate_limited(seconds: u32, detail: &str) -> Self {
        Self { retry_after: Some(seconds), ..Self::new(Code::RateLimited, detail) }
    }

    fn busy() -> Self {
        Self { retry_after: Some(1), ..Self::new(Code::Busy, "Wait as long as Retry-After says, and send it again.") }
    }

    /// The same, with the request's id, for where nobody writes it again.
    #[must_use]
    pub fn of_request(self, request_id: &str) -> Self {
        Self { request_id: request_id.to_owned(), ..self }
    }

    /// The code.
    #[must_use]
    pub const fn code(&self) -> Code {
        self.code
    }

    /// The sentence that says what to do next.
    #[must_use]
    pub fn detail(&self) -> &str {
        &self.detail
    }

    /// The whole answer, with the request's id in it.
    #[must_use]
    pub fn respond(&self, request_id: &str) -> HttpResponse {
        let mut response = HttpResponseBuilder::new(self.status_code());
        if self.code == Code::Unauthenticated {
            let (none, bad) = ("Bearer realm=\"ringi\"", "Bearer realm=\"ringi\", error=\"invalid_token\"");
            response.insert_header((header::WWW_AUTHENTICATE, if self.token_sent { bad } else { none }));
        }
        if let Some(seconds) = self.retry_after {
            response.insert_header((header::RETRY_AFTER, HeaderValue::from(seconds)));
        }
        if let Some(allow) = &self.allow {
            response.insert_header((header::ALLOW, allow.as_str()));
        }
        response.content_type("application/problem+json");
        let body = ProblemDto {
            r#type: format!("urn:ringi:problem:{}", self.code.as_str()),
            title: self.code.title().to_owned(),
            status: self.code.status(),
            detail: self.detail.clone(),
            code: self.code.as_str().to_owned(),
            request_id: request_id.to_owned(),
            errors: (!self.errors.is_empty()).then(|| self.errors.iter().map(ViolationDto::from).collect()),
            current: match &self.extra {
                Extra::None => None,
                Extra::Current(current) => serde_json::to_value(current).ok(),
                Extra::Member(member) => serde_json::to_value(member).ok(),
                Extra::Charge(charge) => serde_json::to_value(charge).ok(),
                Extra::Webhook(webhook) => serde_json::to_value(webhook).ok(),
            },
        };
        response.json(body)
    }
}

impl fmt::Display for Problem {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {}", self.code.as_str(), self.detail)
    }
}

impl std::error::Error for Problem {}

impl ResponseError for Problem {
    fn status_code(&self) -> StatusCode {
        StatusCode::from_u16(self.code.status()).unwrap_or(StatusCode::INTERNAL_SERVER_ERROR)
    }

    fn error_response(&self) -> HttpResponse {
        // Where the request's id is not yet known, the middleware writes it again.
        self.respond(&self.request_id)
    }
}

impl From<Refusal> for Problem {
    fn from(refusal: Refusal) -> Self {
        match refusal {
            Refusal::NotFound => Self::not_found(),
            Refusal::Changed(current) => Self {
                extra: Extra::Current(Box::new(CurrentDto::from(&*current))),
                ..Self::new(Code::RequestChanged, "Look at `current`, and decide anew on what is there now.")
            },
            Refusal::InvalidTransition(current) => Self {
                extra: Extra::Current(Box::new(CurrentDto::from(&*current))),
                ..Self::new(
                    Code::InvalidTransition,
                    format!("There is no such action on a request that is {}.", current.status.as_str()),
                )
            },
            Refusal::Forbidden => Self::new(
                Code::Forbidden,
                "Only the applicant edits, submits and withdraws; only who may approve decides.",
            ),
            Refusal::SelfApproval => {
                Self::new(Code::SelfApprovalForbidden, "Somebody else who may approve has to decide on it.")
            }
            Refusal::Invalid(errors) => Self::invalid(Code::ValidationFailed, errors),
        }
    }
}

impl From<MemberRefusal> for Problem {
    fn from(refusal: MemberRefusal) -> Self {
        match refusal {
            MemberRefusal::Forbidden => Self::new(Code::Forbidden, "Only administrators manage members."),
            MemberRefusal::NotFound => Self::not_found(),
            MemberRefusal::AlreadyAMember => {
                Self::new(Code::AlreadyAMember, "Change the member with PUT; a deactivated one can be activated again.")
            }
            MemberRefusal::Changed(current) => Self {
                extra: Extra::Member(Box::new(MemberDto::from(&*current))),
                ..Self::new(Code::MemberChanged, "Look at `current`, and decide anew on what is there now.")
            },
            MemberRefusal::InvitationNotOpen(state) => Self::new(
                Code::InvitationNotOpen,
                format!("It is {}: ask an administrator for a new invitation.", state.as_str()),
            ),
            MemberRefusal::LastAdmin => Self::new(Code::LastAdmin, "Make somebody else an administrator first."),
            MemberRefusal::Invalid(errors) => Self::invalid(Code::ValidationFailed, errors),
        }
    }
}

impl From<ClosingRefusal> for Problem {
    fn from(refusal: ClosingRefusal) -> Self {
        match refusal {
            ClosingRefusal::Forbidden => {
                Self::new(Code::Forbidden, "Only administrators see charges and close months.")
            }
            ClosingRefusal::NotFound => Self::not_found(),
            ClosingRefusal::Changed(current) => Self {
                extra: Extra::Charge(Box::new(ChargeDto::from(&*current))),
                ..Self::new(Code::ChargeChanged, "Look at `current`, and decide anew on what is there now.")
            },
            ClosingRefusal::PeriodClosed(period) => Self::new(
                Code::PeriodClosed,
                format!("{period} does not change any more: take the charge back with one that `reverses` it."),
            ),
            ClosingRefusal::PeriodNotOver(period) => Self::new(
                Code::PeriodNotOver,
                format!("Close {period} when it has ended in the organization's time zone."),
            ),
            ClosingRefusal::NotBlocked => {
                Self::new(Code::InvalidTransition, "Only a blocked row of this month can be excluded from it.")
            }
            ClosingRefusal::Invalid(errors) => Self::invalid(Code::ValidationFailed, errors),
        }
    }
}

impl From<WebhookRefusal> for Problem {
    fn from(refusal: WebhookRefusal) -> Self {
        match refusal {
            WebhookRefusal::Forbidden => Self::new(Code::Forbidden, "Only administrators manage webhooks."),
            WebhookRefusal::NotFound => Self::not_found(),
            WebhookRefusal::NotConfigured => {
                Self::new(Code::WebhooksNotConfigured, "Ask whoever runs this installation to set webhooks.secret_key.")
            }
            WebhookRefusal::TooMany => Self::new(
                Code::TooManyWebhooks,
                format!("Delete one that is not needed any more: an organization has at most {ENDPOINTS_MAX}."),
            ),
            WebhookRefusal::Changed(current) => {
                let (endpoint, stream) = *current;
                Self {
                    extra: Extra::Webhook(Box::new(WebhookDto::new(&endpoint, stream, None))),
                    ..Self::new(Code::WebhookChanged, "Look at `current`, and decide anew on what is there now.")
                }
            }
            WebhookRefusal::Invalid(errors) => Self::invalid(Code::ValidationFailed, errors),
        }
    }
}

impl From<JobRefusal> for Problem {
    fn from(refusal: JobRefusal) -> Self {
        match refusal {
            JobRefusal::NotFound => Self::not_found(),
            JobRefusal::InvalidTransition(current) => Self {
                extra: Extra::Current(Box::new(CurrentDto::from(&*current))),
                ..Self::new(
                    Code::InvalidTransition,
                    "Only an approved request is processed, and only what is waiting or running can be cancelled: look with GET.",
                )
            },
            JobRefusal::NotConfigured => Self::new(
                Code::ProcessingNotConfigured,
                "Ask whoever runs this installation to set processing.connector_url.",
            ),
            JobRefusal::Forbidden => Self::new(Code::Forbidden, "Only administrators cancel."),
        }
    }
}

impl From<MailRefusal> for Problem {
    fn from(refusal: MailRefusal) -> Self {
        match refusal {
            MailRefusal::NotConfigured => {
                Self::new(Code::MailNotConfigured, "Ask whoever runs this installation to set mail.smtp_url.")
            }
            MailRefusal::NothingToConfirm => {
                Self::new(Code::InvalidTransition, "There is no address that waits to be confirmed: look with GET.")
            }
            MailRefusal::TooMany(seconds) => Self::rate_limited(
                seconds,
                "Enough was sent to confirm this address, or for you: look in the mailbox, or wait as long as Retry-After says.",
            ),
            MailRefusal::Invalid(errors) => Self::invalid(Code::ValidationFailed, errors),
        }
    }
}

impl From<LiveRefusal> for Problem {
    fn from(refusal: LiveRefusal) -> Self {
        let reason = match refusal {
            LiveRefusal::TooManyOfTheUser => "user",
            LiveRefusal::TooMany => "process",
        };
        metrics::counter!("ringi_event_listeners_refused_total", "reason" => reason).increment(1);
        match refusal {
            LiveRefusal::TooManyOfTheUser => {
                Self::rate_limited(5, "You listen in too many places at once: close some of your pages.")
            }
            LiveRefusal::TooMany => Self { retry_after: Some(5), ..Self::busy() },
        }
    }
}

impl From<InspectionRefusal> for Problem {
    fn from(refusal: InspectionRefusal) -> Self {
        match refusal {
            InspectionRefusal::Forbidden => Self::new(Code::Forbidden, "Only administrators inspect the history."),
            InspectionRefusal::NotFound => Self::not_found(),
            InspectionRefusal::ForeignCursor => Self::new(
                Code::InvalidQuery,
                "`cursor` must be a `next_cursor` of this list, sent with the same filters by who got it.",
            ),
        }
    }
}

impl<R: fmt::Debug> From<UseCaseError<R>> for Problem
where
    Self: From<R>,
{
    fn from(error: UseCaseError<R>) -> Self {
        match error {
            UseCaseError::NotAMember => {
                Self::new(Code::NotAMember, "Ask an administrator of the organization to add or activate you.")
            }
            UseCaseError::Refused(refusal) => refusal.into(),
            UseCaseError::KeyReused => {
                Self::new(Code::IdempotencyKeyReused, "Use a new Idempotency-Key for every new intent.")
            }
            UseCaseError::KeyInProgress => Self {
                retry_after: Some(1),
                ..Self::new(Code::IdempotencyInProgress, "Send the same call with the same key again a little later.")
            },
            UseCaseError::Full(full) => full.into(),
            UseCaseError::Store(error) => error.into(),
        }
    }
}

impl From<Full> for Problem {
    fn from(_: Full) -> Self {
        metrics::counter!("ringi_busy_total", "reason" => "queue").increment(1);
        Self::busy()
    }
}

impl From<StoreError> for Problem {
    fn from(error: StoreError) -> Self {
        let reason = match &error {
            StoreError::Internal(cause) => {
                tracing::error!(error = %error, cause = %cause, "internal error");
                return Self::internal();
            }
            StoreError::OutcomeUnknown(_) => {
                tracing::error!(%error, "outcome unknown");
                metrics::counter!("ringi_outcome_unknown_total").increment(1);
                return Self {
                    retry_after: Some(1),
                    ..Self::new(
                        Code::OutcomeUnknown,
                        "Perhaps it was saved. Send it again with the same Idempotency-Key, or look with GET first.",
                    )
                };
            }
            StoreError::Deadlock => "deadlock",
            StoreError::LockTimeout => "lock_timeout",
            StoreError::Unavailable(_) => "unavailable",
        };
        tracing::warn!(%error, reason, "busy");
        metrics::counter!("ringi_busy_total", "reason" => reason).increment(1);
        Self::busy()
    }
}
