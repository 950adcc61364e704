//! **Every operation, on one screen.** What all operations of a kind have in common (parameters, headers, codes) is
//! added by rule; a row says only what is its own.

use crate::http::problem::Code;

/// What an operation answers when it succeeds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Answer {
    /// 200 with one thing and its `ETag`, or 304.
    One(&'static str),
    /// 200 with a page of things.
    Page(&'static str),
    /// 200 with a page of things, or with all of them as CSV or NDJSON.
    PageOrStream(&'static str),
    /// 200 with events, as they happen.
    Events,
    /// 200 with figures, which have no `ETag`.
    Figures(&'static str),
    /// 201 with a new thing, its place and its `ETag`.
    Made(&'static str),
    /// 201 or 207 with what became of each row.
    Imported(&'static str),
    /// 200 with the thing as it stands after a write.
    Done(&'static str),
    /// 204: it is not there any more.
    Deleted,
    /// 202 for who began something that goes on, 200 for who found it begun or done.
    Begun(&'static str),
    /// 200 without a token, in this media type or schema.
    Public(&'static str),
    /// 200 or 404 without a token, as a page: what a link in a mail does, or that it does nothing (any more).
    Link,
    /// 200 or 503 without a token: a yes or no for balancers.
    Ready,
}

/// One row of the table.
#[derive(Clone, Copy, Debug)]
pub(super) struct Operation {
    pub(super) method: &'static str,
    pub(super) path: &'static str,
    pub(super) id: &'static str,
    pub(super) tag: &'static str,
    pub(super) summary: &'static str,
    pub(super) detail: &'static str,
    /// Query parameters besides those of every page.
    pub(super) filters: &'static [&'static str],
    /// The schema of the body.
    pub(super) body: Option<&'static str>,
    pub(super) answer: Answer,
    /// The codes that no rule adds.
    codes: &'static [Code],
}

const fn read(path: &'static str, id: &'static str, tag: &'static str, answer: Answer) -> Operation {
    let (summary, detail, filters, codes) = ("", "", &[], &[]);
    Operation { method: "get", path, id, tag, summary, detail, filters, body: None, answer, codes }
}

const fn post(
    path: &'static str,
    id: &'static str,
    tag: &'static str,
    body: &'static str,
    answer: Answer,
) -> Operation {
    Operation { method: "post", body: Some(body), ..read(path, id, tag, answer) }
}

const fn put(path: &'static str, id: &'static str, tag: &'static str, body: &'static str, answer: Answer) -> Operation {
    Operation { method: "put", ..post(path, id, tag, body, answer) }
}

const fn delete(path: &'static str, id: &'static str, tag: &'static str) -> Operation {
    Operation { method: "delete", filters: &["version_filter"], ..read(path, id, tag, Answer::Deleted) }
}

impl Operation {
    const fn says(self, summary: &'static str, detail: &'static str) -> Self {
        Self { summary, detail, ..self }
    }

    const fn filtered(self, filters: &'static [&'static str]) -> Self {
        Self { filters, ..self }
    }

    const fn codes(self, codes: &'static [Code]) -> Self {
        Self { codes, ..self }
    }

    pub(super) const fn is_public(&self) -> bool {
        matches!(self.answer, Answer::Public(_) | Answer::Link | Answer::Ready)
    }

    /// A write to a thing that exists: it needs the version that its author saw.
    fn changes(&self) -> bool {
        let done =
            matches!(self.answer, Answer::Done(_)) && !matches!(self.body, Some("Nothing" | "Exclusion" | "MailWish"));
        done || self.answer == Answer::Deleted
    }

    /// Every problem that this operation can answer, in the order of the table of codes.
    pub(super) fn problems(&self) -> impl Iterator<Item = Code> {
        let (operation, private) = (*self, !self.is_public());
        let one_thing =
            ["{id}", "{user}", "{invitation}", "{charge}", "{webhook}"].iter().any(|part| self.path.contains(part));
        Code::ALL.iter().copied().filter(move |code| match code {
            // The path answers to the methods that it does not list.
            Code::MethodNotAllowed | Code::Internal => true,
            Code::Unauthenticated | Code::InvalidQuery | Code::Busy => private,
            Code::NotAMember | Code::InvalidPath => operation.path.contains("{org}"),
            Code::NotFound => one_thing || operation.codes.contains(code),
            Code::MalformedJson
            | Code::RequestTimeout
            | Code::PayloadTooLarge
            | Code::UnsupportedMediaType
            | Code::ValidationFailed
            | Code::UnknownField => operation.body.is_some(),
            Code::InvalidIdempotencyKey | Code::IdempotencyInProgress | Code::IdempotencyKeyReused => {
                private && operation.body.is_some()
            }
            Code::OutcomeUnknown => private && (operation.body.is_some() || operation.answer == Answer::Deleted),
            Code::VersionRequired => operation.changes(),
            Code::NotAcceptable => matches!(operation.answer, Answer::PageOrStream(_) | Answer::Events),
            Code::RateLimited => !operation.path.starts_with("/health/"),
            Code::Forbidden
            | Code::SelfApprovalForbidden
            | Code::RequestChanged
            | Code::InvalidTransition
            | Code::ProcessingNotConfigured
            | Code::MailNotConfigured
            | Code::LastAdmin
            | Code::InvitationNotOpen
            | Code::AlreadyAMember
            | Code::MemberChanged
            | Code::ChargeChanged
            | Code::PeriodClosed
            | Code::WebhookChanged
            | Code::TooManyWebhooks
            | Code::WebhooksNotConfigured
            | Code::PeriodNotOver => operation.codes.contains(code),
        })
    }
}

/// The groups, in the order in which a reader meets them.
pub(super) const TAGS: &[(&str, &str)] = &[
    (ME, "How people sign in, who a token belongs to, and where this person is a member."),
    (REQUESTS, "Writing, submitting, deciding, and looking at requests."),
    (
        CLOSING,
        "Charges, and the months that they are closed in. Charges and closings are for administrators, statements for members.",
    ),
    (
        PROCESSING,
        "What follows an approval: an outside system is asked, by one process at a time, and its answer is kept.",
    ),
    (EVENTS, "What happens, told as it happens."),
    (MEMBERS, "People and their rights in an organization. For administrators."),
    (WEBHOOKS, "Programs that are told of events, by the rules of Standard Webhooks. For administrators."),
    (
        INSPECTION,
        "What happened in an organization, who looked at it, and the proof that nobody bent it. For auditors.",
    ),
    (OPERATIONS_TAG, "For balancers, Prometheus and readers. Without a token."),
];
const ME: &str = "Me";
const REQUESTS: &str = "Requests";
const CLOSING: &str = "Charges and months";
const PROCESSING: &str = "Processing";
const EVENTS: &str = "Events";
const MEMBERS: &str = "Members";
const WEBHOOKS: &str = "Webhooks";
const INSPECTION: &str = "Inspection";
const OPERATIONS_TAG: &str = "Operations";

const FILTERS: &[&str] = &["view", "status", "applicant_id", "q", "updated_since"];
const INSPECTED: &[&str] = &["request_id", "actor_id", "action", "kind", "from", "to"];
const OWN: &[Code] = &[Code::Forbidden, Code::RequestChanged, Code::InvalidTransition];
const WEBHOOK: &[Code] = &[Code::Forbidden, Code::WebhookChanged, Code::WebhooksNotConfigured];
const DECISION: &[Code] =
    &[Code::Forbidden, Code::SelfApprovalForbidden, Code::RequestChanged, Code::InvalidTransition];

macro_rules! org {
    ($path:literal) => {
        concat!("/api/v1/organizations/{org}", $path)
    };
}

/// The table. A test compares its methods and paths with `http::routes`.
#[rustfmt::skip]
pub(super) const OPERATIONS: &[Operation] = &[
    read("/api/v1/sign-in", "getSignIn", ME, Answer::Public("SignIn"))
        .says("How people can sign in here", "For pages: the identity provider that this installation's own page uses, if any."),
    post("/api/v1/sign-in/demo", "signInToDemo", ME, "DemoPerson", Answer::Public("DemoToken")).codes(&[Code::NotFound])
        .says("A token for somebody of the demo", "Only at `ringi serve --demo` with a local key on a loopback address, called from that machine without a proxy and by no other page; everywhere else it is not there."),
    read("/api/v1/me", "getMe", ME, Answer::One("Me"))
        .says("The caller and his memberships", "Memberships that were deactivated are listed, too: `is_active` says so."),
    read(org!("/me/mail"), "getOwnMail", ME, Answer::One("OwnMail"))
        .says("What the caller is sent by mail", "In this organization. Off by default."),
    put(org!("/me/mail"), "setOwnMail", ME, "MailWish", Answer::Done("OwnMail")).codes(&[Code::MailNotConfigured, Code::RateLimited])
        .says("Set what the caller is sent by mail", "All of it at once. A new address is sent a link to say yes with, within a day; until then it gets nothing else. Each mail has a link that switches its kind off, without sign-in."),
    post(org!("/me/mail/confirmation"), "askAgain", ME, "Nothing", Answer::Done("OwnMail"))
        .codes(&[Code::MailNotConfigured, Code::InvalidTransition, Code::RateLimited])
        .says("Send the link to say yes once more", "For an address that is not confirmed yet."),
    post(org!("/requests"), "createRequest", REQUESTS, "NewRequest", Answer::Made("Request"))
        .says("Begin a draft", "Any active member may. The answer is a `draft` in version 1, which only its applicant sees."),
    read(org!("/requests"), "listRequests", REQUESTS, Answer::Page("RequestPage")).filtered(FILTERS)
        .says("A page of requests", "Newest first by creation, which never changes, so a walk is stable while people work. What the caller may not see is not there."),
    read(org!("/requests/counts"), "countRequests", REQUESTS, Answer::Figures("Counts"))
        .says("How many requests there are", "Per view and status, from the same rule as the list."),
    read(org!("/requests/{id}"), "getRequest", REQUESTS, Answer::One("Request"))
        .says("One request", "`allowed_actions` says what this very caller could do to it now."),
    put(org!("/requests/{id}"), "editRequest", REQUESTS, "RequestContent", Answer::Done("Request")).codes(OWN)
        .says("Replace the content", "The applicant, while it is `draft` or `returned`. Content that is what it was already makes no new version."),
    post(org!("/requests/{id}/submit"), "submitRequest", REQUESTS, "Seen", Answer::Done("Request")).codes(OWN)
        .says("Ask for a decision", "The applicant, from `draft` or `returned`. It is `pending` then, and clears `decision_reason`."),
    post(org!("/requests/{id}/approve"), "approveRequest", REQUESTS, "SeenAndReason", Answer::Done("Request")).codes(DECISION)
        .says("Decide: yes", "Who has `can_approve` and did not write it, from `pending`. Final."),
    post(org!("/requests/{id}/reject"), "rejectRequest", REQUESTS, "SeenAndNeededReason", Answer::Done("Request")).codes(DECISION)
        .says("Decide: no", "As approve, but with a reason. Final."),
    post(org!("/requests/{id}/send-back"), "sendBackRequest", REQUESTS, "SeenAndNeededReason", Answer::Done("Request")).codes(DECISION)
        .says("Ask the applicant to change something", "As approve, but with a reason. It is `returned` then, and the applicant may edit and submit it again."),
    post(org!("/requests/{id}/withdraw"), "withdrawRequest", REQUESTS, "SeenAndReason", Answer::Done("Request")).codes(OWN)
        .says("Take the request back", "The applicant, from `draft`, `returned` or `pending`. Final."),
    read(org!("/requests/{id}/history"), "getRequestHistory", REQUESTS, Answer::Page("HistoryPage"))
        .says("What happened to a request", "One row for each version, oldest first. Rows are never changed or deleted."),
    read(org!("/requests/{id}/eligibility"), "getEligibility", REQUESTS, Answer::Figures("Eligibility")).filtered(&["user_id"]).codes(&[Code::Forbidden])
        .says("What the caller could do to it, and why not the rest", "For each action whether a call would succeed now, and if not, the code and sentence that it would be refused with. Administrators may ask for any member with `user_id`."),
    read(org!("/requests/{id}/versions/{version}"), "getRequestVersion", REQUESTS, Answer::One("RequestVersion"))
        .says("The content as it stood at a version", "For every version from 1 to the present one; a submit or a decision leaves the content as it was."),
    post(org!("/charges"), "importCharges", CLOSING, "NewCharges", Answer::Imported("Imported")).codes(&[Code::Forbidden])
        .says("Import charges", "One, or up to 1,000 as a JSON list or as NDJSON (`application/x-ndjson`), in one transaction. Each row has an answer of its own: a refused row keeps no other from being written, and an id that is known with the same content is not made twice. What is no JSON, one line of NDJSON included, refuses the whole. A charge of a month that is closed or closing goes into the next open one, and says so in `late_of`."),
    read(org!("/charges"), "listCharges", CLOSING, Answer::Page("ChargePage")).filtered(&["period_filter", "processed"]).codes(&[Code::Forbidden])
        .says("A page of charges", "In descending order of their ids, which never change: of UUIDv7, newest first."),
    read(org!("/charges/{charge}"), "getCharge", CLOSING, Answer::One("Charge")).codes(&[Code::Forbidden])
        .says("One charge", ""),
    put(org!("/charges/{charge}"), "correctCharge", CLOSING, "ChargeContent", Answer::Done("Charge"))
        .codes(&[Code::Forbidden, Code::ChargeChanged, Code::PeriodClosed])
        .says("Correct a charge", "As a whole, while its month is open or while it is one of the blocked rows of a closing. It may move into another open month. What is confirmed never changes: take it back with a charge that `reverses` it."),
    read(org!("/statements"), "listStatements", CLOSING, Answer::One("Statements"))
        .says("Every month's totals", "As of one moment: a month is upcoming with all of its charges, and then closed with all of them."),
    read(org!("/statements/{period}"), "getStatement", CLOSING, Answer::PageOrStream("Statement")).codes(&[Code::NotFound])
        .says("A closed month", "Its totals and a page of its rows, which never change. `Accept: text/csv` or `application/x-ndjson` streams all of them (without `limit` and `cursor`); in CSV one `'` stands before a description that begins like a formula. Not found while the month is not closed."),
    post(org!("/requests/{id}/processing"), "startProcessing", PROCESSING, "Nothing", Answer::Begun("Started"))
        .codes(&[Code::InvalidTransition, Code::ProcessingNotConfigured])
        .says("Start what follows the approval", "With a connector configured each approval starts it by itself; a person starts it where there was none, or again after it has failed. Of those who ask at once one starts it. Whoever may see the request may ask."),
    read(org!("/requests/{id}/processing"), "getProcessing", PROCESSING, Answer::Figures("Processing"))
        .says("How it stands", "Who is at it, since when, his last sign of life, and when another takes over."),
    post(org!("/requests/{id}/processing/cancel"), "cancelProcessing", PROCESSING, "Nothing", Answer::Done("Processing"))
        .codes(&[Code::Forbidden, Code::InvalidTransition])
        .says("Take it away from whoever is at it", "For administrators. The holder learns of it by his next heartbeat and saves nothing; what the outside system has done by then is done. It is `failed`, and can be started again."),
    post(org!("/closings/{period}"), "startClosing", CLOSING, "Nothing", Answer::Begun("Closing")).codes(&[Code::Forbidden, Code::PeriodNotOver])
        .says("Close a month", "Begins to close it, or goes on with what was blocked or interrupted: 202. Where somebody else is at it, or it is closed: 200, and how far it is. From now on no charge comes into the month, and nobody waits for the closing. Rows that can't be confirmed stop themselves alone, and are named in `blocked`: correct or exclude them, and start again."),
    read(org!("/closings/{period}"), "getClosing", CLOSING, Answer::Figures("Closing")).codes(&[Code::Forbidden])
        .says("How far the closing of a month is", "A month that nobody has begun to close is `open`."),
    post(org!("/closings/{period}/exclude"), "excludeCharge", CLOSING, "Exclusion", Answer::Done("Closing")).codes(&[Code::Forbidden, Code::InvalidTransition])
        .says("Move a blocked row into the next open month", "With a reason, which is history. Only a row that is named as blocked can be moved."),
    read(org!("/events"), "listenToEvents", EVENTS, Answer::Events)
        .says("What happens, as it happens", "Server-Sent Events: `id` is the event's position in the organization's log, `event` its type such as `request.approve`, and `data` a JSON object `{type, timestamp, data}` without titles, names or reasons: look at what changed with the other calls. Each listener hears what he may see at that moment. Send the last `id` as `Last-Event-ID` to hear what came after it; where that is too long ago, or has not been yet, an event `resync` says to look at everything anew, and goes on from its `id`. A comment comes at least every 15 s. The stream ends when the token or the membership does, when the server is stopped, and when the client reads too slowly: come again with the last `id`. An id of another organization is a number like any other."),
    read(org!("/members"), "listMembers", MEMBERS, Answer::Page("MemberPage")).codes(&[Code::Forbidden])
        .says("A page of members", "By the time of joining, which never changes. Deactivated members stay on the list."),
    post(org!("/members"), "addMember", MEMBERS, "NewMember", Answer::Made("Member")).codes(&[Code::Forbidden, Code::AlreadyAMember])
        .says("Add a member", "A person by the `user_id` that `GET /api/v1/me` answers to him."),
    read(org!("/members/{user}"), "getMember", MEMBERS, Answer::One("Member")).codes(&[Code::Forbidden])
        .says("One member", ""),
    put(org!("/members/{user}"), "changeMember", MEMBERS, "MemberChange", Answer::Done("Member"))
        .codes(&[Code::Forbidden, Code::MemberChanged, Code::LastAdmin])
        .says("Change a member's name and rights", "Nobody is ever deleted: deactivate with `is_active: false`. The last active administrator stays one."),
    post(org!("/members/{user}/pseudonymize"), "pseudonymizeMember", MEMBERS, "Seen", Answer::Done("Member"))
        .codes(&[Code::Forbidden, Code::MemberChanged, Code::LastAdmin])
        .says("Replace a member's name by a pseudonym", "For somebody who asks to be forgotten: ends the membership and its rights. Rows of history that were written already keep the name as of then."),
    post(org!("/invitations"), "invite", MEMBERS, "NewInvitation", Answer::Made("Invitation")).codes(&[Code::Forbidden])
        .says("Invite somebody", "`token` and `link` are in this one answer only, and never in a replay. Who has them can accept once, until `expires_at`."),
    read(org!("/invitations"), "listInvitations", MEMBERS, Answer::Page("InvitationPage")).codes(&[Code::Forbidden])
        .says("A page of invitations", "Newest first. Invitations are never deleted: they say how somebody became a member."),
    read(org!("/invitations/{invitation}"), "getInvitation", MEMBERS, Answer::One("Invitation")).codes(&[Code::Forbidden])
        .says("One invitation", ""),
    post(org!("/invitations/{invitation}/revoke"), "revokeInvitation", MEMBERS, "Nothing", Answer::Done("Invitation"))
        .codes(&[Code::Forbidden, Code::InvitationNotOpen])
        .says("Take an open invitation back", ""),
    post("/api/v1/invitations/accept", "acceptInvitation", MEMBERS, "InvitationToken", Answer::Made("Member"))
        .codes(&[Code::NotFound, Code::AlreadyAMember, Code::InvitationNotOpen])
        .says("Become a member by an invitation", "Anybody with a token of his own and the invitation's. The organization is named by the invitation."),
    post(org!("/webhooks"), "addWebhook", WEBHOOKS, "NewWebhook", Answer::Made("Webhook"))
        .codes(&[Code::Forbidden, Code::TooManyWebhooks, Code::WebhooksNotConfigured])
        .says("Name an address that is to be told of events", "From now on it is sent every event that it wants: `POST` with `{type, timestamp, data}`, the headers `webhook-id` (the same over all attempts), `webhook-timestamp` and `webhook-signature` of Standard Webhooks. `secret` is in this one answer only, and never in a replay. At least once, and of one request, member, job or month in order; nothing of a request that was never submitted. A 2xx is a receipt. 410 turns the endpoint off, 429 and 503 make it rest for as long as `Retry-After` says; after any other answer, a redirect included, it is tried again with growing pauses, and given up after days."),
    read(org!("/webhooks"), "listWebhooks", WEBHOOKS, Answer::Page("WebhookPage")).codes(&[Code::Forbidden])
        .says("A page of webhooks", "Oldest first, which never changes."),
    read(org!("/webhooks/{webhook}"), "getWebhook", WEBHOOKS, Answer::One("Webhook")).codes(&[Code::Forbidden])
        .says("One webhook", "Also how far it has been told, and why it fails."),
    put(org!("/webhooks/{webhook}"), "changeWebhook", WEBHOOKS, "WebhookContent", Answer::Done("Webhook")).codes(WEBHOOK)
        .says("Change address and events", "As a whole. With another address it is tried at once. What is under way to the old one still arrives there."),
    delete(org!("/webhooks/{webhook}"), "deleteWebhook", WEBHOOKS).codes(&[Code::Forbidden, Code::WebhookChanged])
        .says("Delete a webhook", "With its secrets and its log. Its history stays."),
    post(org!("/webhooks/{webhook}/enable"), "enableWebhook", WEBHOOKS, "Seen", Answer::Done("Webhook")).codes(WEBHOOK)
        .says("Go on where it stopped", "Also tries one at once that waits for its next attempt."),
    post(org!("/webhooks/{webhook}/disable"), "disableWebhook", WEBHOOKS, "Seen", Answer::Done("Webhook")).codes(WEBHOOK)
        .says("Send nothing any more", "What comes meanwhile is sent when it is enabled again, unless it is older than the installation keeps events."),
    post(org!("/webhooks/{webhook}/replay"), "replayWebhook", WEBHOOKS, "Replay", Answer::Done("Webhook")).codes(WEBHOOK)
        .says("Send again, or skip", "Goes on with `from_position`, earlier or later than where it stands, and enables it. Events keep their `webhook-id`."),
    post(org!("/webhooks/{webhook}/rotate-secret"), "rotateWebhookSecret", WEBHOOKS, "Rotation", Answer::Done("Webhook")).codes(WEBHOOK)
        .says("Sign with a new secret", "`secret` is in this one answer only. For `overlap_hours` the secret before it signs, too, so that a receiver can change over when it likes; 0 ends that at once."),
    read(org!("/webhooks/{webhook}/deliveries"), "listWebhookDeliveries", WEBHOOKS, Answer::Page("WebhookDeliveryPage")).codes(&[Code::Forbidden])
        .says("The latest attempts", "Newest first. The log is kept short: see the settings `webhooks.log_rows` and `webhooks.log_days`."),
    read(org!("/history"), "inspectHistory", INSPECTION, Answer::PageOrStream("OrganizationHistoryPage")).filtered(INSPECTED).codes(&[Code::Forbidden])
        .says("The organization's history", "For administrators. Oldest first, in an order that never changes; requests that were never submitted are left out. `Accept: text/csv` or `application/x-ndjson` streams the whole selection (without `limit` and `cursor`), two at once per organization; in CSV one `'` stands before a cell that begins with `=`, `+`, `-`, `@`, TAB or CR. A transfer that does not end properly is not whole. Each walk, at its first page, and each export is itself recorded as a row of kind `access`, after the answer."),
    read(org!("/history/verify"), "verifyHistory", INSPECTION, Answer::Figures("Verified")).filtered(&["cursor"]).codes(&[Code::Forbidden])
        .says("Was anything bent?", "For administrators. Recomputes every hash, at most 10,000 stored rows a call: go on with `next_cursor`. Ends at the first broken row."),
    read(org!("/requests/{id}/history/verify"), "verifyRequestHistory", INSPECTION, Answer::Figures("Verified")).filtered(&["cursor"])
        .says("Was this request's history bent?", "For whoever may see the request."),
    read("/", "getIndex", OPERATIONS_TAG, Answer::Public("text/html"))
        .says("What this is, and where to go", ""),
    read("/invitation", "getInvitationPage", OPERATIONS_TAG, Answer::Public("text/html"))
        .says("What a person sees who follows an invitation's link", "The token stands behind `#`, so no server and no log sees it."),
    read("/mail/confirm", "getMailConfirmation", OPERATIONS_TAG, Answer::Link)
        .says("What a person sees who follows a mail's link to say yes", "With `?token=`, as the mail has it. Looking does nothing."),
    Operation { method: "post", ..read("/mail/confirm", "confirmMail", OPERATIONS_TAG, Answer::Link) }
        .says("Say yes to mails at this address", "The form of the page above. The link is the proof; the body is not read."),
    read("/mail/unsubscribe", "getMailUnsubscription", OPERATIONS_TAG, Answer::Link)
        .says("What a person sees who follows a mail's link to get no more of these", "With `?token=`, as the mail has it. Looking does nothing."),
    Operation { method: "post", ..read("/mail/unsubscribe", "unsubscribeFromMail", OPERATIONS_TAG, Answer::Link) }
        .says("Get no more mails of this kind", "One click, as mail programs do it (RFC 8058), or the form of the page above. The link is the proof; the body is not read."),
    read("/docs", "getDocs", OPERATIONS_TAG, Answer::Public("text/html"))
        .says("This document as a page", ""),
    read("/openapi.json", "getOpenApi", OPERATIONS_TAG, Answer::Public("application/json"))
        .says("This document", "OpenAPI 3.1. `ringi openapi` prints the same."),
    read("/health/live", "getLiveness", OPERATIONS_TAG, Answer::Public("Health"))
        .says("Does the process run?", "Never asks the database: a restart would not mend that."),
    read("/health/ready", "getReadiness", OPERATIONS_TAG, Answer::Ready)
        .says("Should requests be sent here?", "Yes while the database answers, its schema is as new as this program, and nobody asked for a stop."),
    read("/metrics", "getMetrics", OPERATIONS_TAG, Answer::Public("text/plain"))
        .says("Figures for Prometheus", "Keep this path from the outside at the proxy."),
];
