//! What the operations refer to: bodies in, things out, parameters and headers.
//!
//! Things out are derived from the types that are written. Bodies in have no types, since they are taken apart member
//! by member (see `body`); they stand here.

use crate::domain::charge::{CHARGE_DESCRIPTION_MAX, IMPORT_MAX};
use crate::domain::content::AMOUNT_MAX;
use crate::domain::history::Kind;
use crate::domain::invitation::{VALID_HOURS, VALID_HOURS_MAX};
use crate::domain::request::Status;
use crate::domain::text::{DESCRIPTION_MAX, LINE_MAX, REASON_MAX};
use crate::domain::webhook::{EVENT_TYPES, OVERLAP_HOURS, OVERLAP_HOURS_MAX, URL_MAX};
use crate::http::dto::{CountsDto, CurrentDto, EligibilityDto, HistoryEntryDto, PageDto, ProblemDto};
use crate::http::dto::{RequestDto, VersionDto, ViolationDto};
use crate::http::dto_closing::{ChargeDto, ClosingDto, ImportedDto, StatementDto, StatementsDto};
use crate::http::dto_people::{InvitationDto, MeDto, MemberDto};
use crate::http::dto_processing::{ProcessingDto, StartedDto};
use crate::http::dto_webhooks::{DeliveryDto, WebhookDto};
use crate::http::inspection::{RowDto, VerifiedDto};
use crate::http::mail::OwnMailDto;
use crate::http::sign_in::{DemoTokenDto, SignInDto};
use serde_json::{Map, Value, json};
use utoipa::openapi::{RefOr, Schema};
use utoipa::{PartialSchema, ToSchema};

/// `components.schemas`.
pub(super) fn schemas() -> Value {
    let mut found = Vec::new();
    derived::<RequestDto>(&mut found);
    derived::<CurrentDto>(&mut found);
    derived::<HistoryEntryDto>(&mut found);
    derived::<VersionDto>(&mut found);
    derived::<CountsDto>(&mut found);
    derived::<EligibilityDto>(&mut found);
    derived::<ChargeDto>(&mut found);
    derived::<ImportedDto>(&mut found);
    derived::<StatementsDto>(&mut found);
    derived::<StatementDto>(&mut found);
    derived::<ClosingDto>(&mut found);
    derived::<MemberDto>(&mut found);
    derived::<InvitationDto>(&mut found);
    derived::<MeDto>(&mut found);
    derived::<OwnMailDto>(&mut found);
    derived::<ProcessingDto>(&mut found);
    derived::<StartedDto>(&mut found);
    derived::<WebhookDto>(&mut found);
    derived::<DeliveryDto>(&mut found);
    derived::<SignInDto>(&mut found);
    derived::<DemoTokenDto>(&mut found);
    derived::<RowDto>(&mut found);
    derived::<VerifiedDto>(&mut found);
    derived::<ViolationDto>(&mut found);
    derived::<ProblemDto>(&mut found);
    found.push(("RequestPage".to_owned(), PageDto::<RequestDto>::schema()));
    found.push(("HistoryPage".to_owned(), PageDto::<HistoryEntryDto>::schema()));
    found.push(("ChargePage".to_owned(), PageDto::<ChargeDto>::schema()));
    found.push(("InvitationPage".to_owned(), PageDto::<InvitationDto>::schema()));
    found.push(("WebhookPage".to_owned(), PageDto::<WebhookDto>::schema()));
    found.push(("WebhookDeliveryPage".to_owned(), PageDto::<DeliveryDto>::schema()));
    found.push(("MemberPage".to_owned(), PageDto::<MemberDto>::schema()));
    found.push(("OrganizationHistoryPage".to_owned(), PageDto::<RowDto>::schema()));
    let mut schemas: Map<String, Value> = found.into_iter().map(|(name, schema)| (name, json!(schema))).collect();
    schemas.extend(bodies());
    schemas.extend(charges());
    schemas.extend(webhooks());
    let health = json!({"type": "object", "required": ["status"],
        "properties": {"status": {"type": "string", "enum": ["live", "ready", "not_ready"]}}});
    schemas.insert("Health".to_owned(), health);
    Value::Object(schemas)
}

/// A type's schema with those that it refers to.
fn derived<T: ToSchema>(found: &mut Vec<(String, RefOr<Schema>)>) {
    T::schemas(found);
    found.push((T::name().into_owned(), T::schema()));
}

/// A body: an object with these members and no others.
fn body(description: &str, required: &[&str], properties: &[(&str, Value)], example: &Value) -> Value {
    let properties: Map<String, Value> =
        properties.iter().map(|(name, schema)| ((*name).to_owned(), schema.clone())).collect();
    json!({"type": "object", "description": description, "required": required, "properties": properties,
           "additionalProperties": false, "examples": [example]})
}

fn reason(or_null: bool) -> Value {
    json!({"type": if or_null { json!(["string", "null"]) } else { json!("string") },
        "minLength": 1, "maxLength": REASON_MAX,
        "description": "Paragraphs: no control characters but TAB and LF, not blank."})
}

#[expect(clippy::too_many_lines, reason = "one body after another")]
fn bodies() -> impl Iterator<Item = (String, Value)> {
    let version = json!({"type": "integer", "format": "int64", "minimum": 1,
        "description": "The version that the author saw."});
    let title = json!({"type": "string", "minLength": 1, "maxLength": LINE_MAX,
        "description": "One line: no control characters, not blank. Nothing is trimmed."});
    let description = |or_null: bool| {
        json!({"type": if or_null { json!(["string", "null"]) } else { json!("string") }, "maxLength": DESCRIPTION_MAX,
            "description": "Paragraphs: no control characters but TAB and LF."})
    };
    let amount = json!({"type": ["integer", "null"], "format": "int64", "minimum": 0, "maximum": AMOUNT_MAX,
        "description": "In the currency's minor unit, written without fraction or exponent. Both amount and currency, or neither."});
    let currency = json!({"type": ["string", "null"], "pattern": "^[A-Z]{3}$",
        "description": "An active ISO 4217 code in capitals."});
    let user = json!({"type": "string", "format": "uuid", "description": "The person, as `GET /api/v1/me` names him."});
    let flag = |description: &str| json!({"type": "boolean", "description": description});
    let rights = [
        ("display_name", title.clone()),
        ("is_active", flag("A member who is not active may do nothing and sees nothing.")),
        ("can_approve", flag("May decide on other people's requests.")),
        ("is_admin", flag("May administer members, and sees every request that was ever submitted.")),
    ];
    let valid_hours = json!({"type": ["integer", "null"], "minimum": 1, "maximum": VALID_HOURS_MAX, "default": VALID_HOURS,
        "description": "For how many hours the invitation is open."});
    let token = json!({"type": "string", "description": "What the administrator was given, 128 hexadecimal digits."});
    let rights_needed = ["display_name", "is_active", "can_approve", "is_admin"];

    let content =
        json!({"title": "大阪出張費", "description": "Two days, one night.", "amount": 48_600, "currency": "JPY"});
    let with = |base: &Value, name: &str, value: Value| {
        let mut example = base.as_object().cloned().unwrap_or_default();
        example.insert(name.to_owned(), value);
        Value::Object(example)
    };
    let person = json!({"display_name": "Aiko Tanaka", "is_active": true, "can_approve": false, "is_admin": false});
    let user_example = json!("0197c0de-0000-7000-8000-000000000101");
    let seen = json!({"version": 2});

    let mut money = vec![("amount", amount), ("currency", currency)];
    let mut new_request = vec![("title", title.clone()), ("description", description(true))];
    new_request.extend(money.clone());
    let mut new_content = vec![("version", version.clone()), ("title", title), ("description", description(false))];
    new_content.append(&mut money);

    [
        ("NewRequest", body("A request to begin.", &["title"], &new_request, &content)),
        (
            "RequestContent",
            body(
                "The whole content anew.",
                &["version", "title", "description", "amount", "currency"],
                &new_content,
                &with(&content, "version", json!(1)),
            ),
        ),
        (
            "DemoPerson",
            body(
                "Somebody of the demo.",
                &["user_id"],
                &[("user_id", user.clone())],
                &json!({"user_id": user_example}),
            ),
        ),
        ("Seen", body("Which version the author saw.", &["version"], &[("version", version.clone())], &seen)),
        (
            "SeenAndReason",
            body(
                "Which version the author saw, and why, if he likes.",
                &["version"],
                &[("version", version.clone()), ("reason", reason(true))],
                &with(&seen, "reason", json!("Within the budget.")),
            ),
        ),
        (
            "SeenAndNeededReason",
            body(
                "Which version the author saw, and why.",
                &["version", "reason"],
                &[("version", version.clone()), ("reason", reason(false))],
                &with(&seen, "reason", json!("Which hotel?")),
            ),
        ),
        (
            "NewMember",
            body(
                "A person with rights.",
                &[&["user_id"], &rights_needed[..]].concat(),
                &[&[("user_id", user)], &rights[..]].concat(),
                &with(&person, "user_id", user_example),
            ),
        ),
        (
            "MemberChange",
            body(
                "The whole member anew.",
                &[&["version"], &rights_needed[..]].concat(),
                &[&[("version", version)], &rights[..]].concat(),
                &with(&person, "version", json!(1)),
            ),
        ),
        (
            "NewInvitation",
            body(
                "The membership that is offered.",
                &["display_name", "can_approve", "is_admin"],
                &[&rights[..1], &rights[2..], &[("valid_hours", valid_hours)]].concat(),
                &json!({"display_name": "Aiko Tanaka", "can_approve": true, "is_admin": false, "valid_hours": 48}),
            ),
        ),
        ("Nothing", body("Nothing has to be said.", &[], &[], &json!({}))),
        mail_wish(),
        (
            "InvitationToken",
            body("The token of an invitation.", &["token"], &[("token", token)], &json!({"token": "ab".repeat(64)})),
        ),
    ]
    .into_iter()
    .map(|(name, schema)| (name.to_owned(), schema))
}

fn mail_wish() -> (&'static str, Value) {
    let address = json!({"type": ["string", "null"], "format": "email", "maxLength": 254,
        "description": "In ASCII. Another one than before has to be confirmed. Null: no mail."});
    let flag = |description: &str| json!({"type": "boolean", "description": description});
    let properties = [
        ("address", address),
        ("language", json!({"type": "string", "enum": ["en", "ja"], "description": "Of the mails."})),
        ("decisions", flag("To applicants: somebody decided on the request.")),
        ("submissions", flag("To those who decide: requests wait for them.")),
        ("closings", flag("To administrators: a month was closed, or its closing stopped.")),
        ("jobs", flag("To administrators: what follows an approval failed, and needs a person.")),
    ];
    let required = properties.each_ref().map(|(name, _)| *name);
    let example = json!({"address": "aiko@example.com", "language": "ja", "decisions": true, "submissions": true,
        "closings": false, "jobs": true});
    ("MailWish", body("What the caller wants to be sent.", &required, &properties, &example))
}

/// The bodies about charges and months.
fn charges() -> impl Iterator<Item = (String, Value)> {
    let uuid = |description: &str| json!({"type": "string", "format": "uuid", "description": description});
    let occurred_at = json!({"type": "string", "format": "date-time",
        "description": "When the money was spent: it decides the month. At most a day in the future."});
    let amount = json!({"type": "integer", "format": "int64", "minimum": -AMOUNT_MAX, "maximum": AMOUNT_MAX,
        "description": "In the currency's minor unit. Below zero only when it reverses another charge."});
    let currency =
        json!({"type": "string", "pattern": "^[A-Z]{3}$", "description": "An active ISO 4217 code in capitals."});
    let description = json!({"type": ["string", "null"], "maxLength": CHARGE_DESCRIPTION_MAX,
        "description": "Paragraphs: no control characters but TAB and LF."});
    let content =
        [("occurred_at", occurred_at), ("amount", amount), ("currency", currency), ("description", description)];
    let version = (
        "version",
        json!({"type": "integer", "format": "int64", "minimum": 1,
        "description": "The version that the author saw."}),
    );
    let new = [
        ("id", uuid("Made by the client: the same charge sent again is not made twice.")),
        (
            "reverses",
            json!({"type": ["string", "null"], "format": "uuid",
            "description": "A confirmed charge that this one takes back: the same currency, exactly the opposite amount, once."}),
        ),
    ];
    let example = json!({"id": "0197c0de-0000-7000-8000-00000000c001", "occurred_at": "2026-10-31T14:59:59Z",
        "amount": 48_600, "currency": "JPY", "description": "大阪出張"});
    let corrected = json!({"occurred_at": "2026-10-31T14:59:59Z", "amount": 46_800, "currency": "JPY",
        "description": "大阪出張", "version": 1});
    [
        (
            "NewCharge",
            body("A charge.", &["id", "occurred_at", "amount", "currency"], &[&new[..1], &content[..], &new[1..]].concat(), &example),
        ),
        (
            "NewCharges",
            json!({"description": "One charge, or a list of them.", "oneOf": [
                {"$ref": "#/components/schemas/NewCharge"},
                {"type": "array", "minItems": 1, "maxItems": IMPORT_MAX, "items": {"$ref": "#/components/schemas/NewCharge"}},
            ]}),
        ),
        (
            "ChargeContent",
            body(
                "The whole charge anew.",
                &["occurred_at", "amount", "currency", "description", "version"],
                &[&content[..], &[version]].concat(),
                &corrected,
            ),
        ),
        (
            "Exclusion",
            body(
                "A blocked row, and why it is moved.",
                &["charge_id", "reason"],
                &[("charge_id", uuid("One of the month's blocked rows.")), ("reason", reason(false))],
                &json!({"charge_id": "0197c0de-0000-7000-8000-00000000c001", "reason": "What it reverses is not confirmed."}),
            ),
        ),
    ]
    .into_iter()
    .map(|(name, schema)| (name.to_owned(), schema))
}

/// The bodies about webhooks.
fn webhooks() -> impl Iterator<Item = (String, Value)> {
    let version = json!({"type": "integer", "format": "int64", "minimum": 1,
        "description": "The version that the author saw."});
    let content = [
        (
            "url",
            json!({"type": "string", "format": "uri", "minLength": 1, "maxLength": URL_MAX,
            "description": "An absolute address of https or http, without name, password or fragment, on the public network unless the installation permits others."}),
        ),
        (
            "event_types",
            json!({"type": ["array", "null"], "items": {"type": "string", "enum": EVENT_TYPES},
            "description": "Which events; empty or left out: all of them."}),
        ),
    ];
    let from = json!({"type": "integer", "format": "int64", "minimum": 1,
        "description": "The first event to be sent, from the webhook's `oldest_position` to one after its `newest_position`."});
    let overlap = json!({"type": ["integer", "null"], "minimum": 0, "maximum": OVERLAP_HOURS_MAX, "default": OVERLAP_HOURS,
        "description": "For how many hours the present secret signs, too."});
    let example = json!({"url": "https://erp.example/ringi", "event_types": ["request.approve", "request.reject"]});
    let seen = ("version", version);
    [
        ("NewWebhook", body("An address, and what it is told of.", &["url"], &content, &example)),
        (
            "WebhookContent",
            body(
                "Address and events anew, and the version that the author saw.",
                &["url", "event_types", "version"],
                &[&content[..], std::slice::from_ref(&seen)].concat(),
                &json!({"url": "https://erp.example/ringi", "event_types": [], "version": 1}),
            ),
        ),
        (
            "Replay",
            body(
                "Where to go on.",
                &["from_position", "version"],
                &[("from_position", from), seen.clone()],
                &json!({"from_position": 1, "version": 1}),
            ),
        ),
        (
            "Rotation",
            body(
                "A new secret, and how long the present one stays.",
                &["version"],
                &[("overlap_hours", overlap), seen],
                &json!({"overlap_hours": 24, "version": 1}),
            ),
        ),
    ]
    .into_iter()
    .map(|(name, schema)| (name.to_owned(), schema))
}

/// `components.parameters`, named as they are sent.
#[expect(clippy::too_many_lines, reason = "one row after another")]
pub(super) fn parameters() -> Value {
    let uuid = json!({"type": "string", "format": "uuid"});
    let kinds: Vec<&str> = Kind::ALL.iter().map(|kind| kind.as_str()).collect();
    // Several kinds may have an action of one name.
    let mut actions: Vec<&str> = Vec::new();
    for action in Kind::ALL.iter().flat_map(|kind| kind.actions()) {
        if !actions.contains(action) {
            actions.push(action);
        }
    }
    let moment = json!({"type": "string", "format": "date-time"});
    let month = json!({"type": "string", "pattern": "^[0-9]{4}-[0-9]{2}$"});
    let statuses: Vec<&str> = Status::ALL.iter().map(|status| status.as_str()).collect();
    let rows: &[(&str, &str, Value, &str)] = &[
        ("path", "org", uuid.clone(), "The organization."),
        ("path", "id", uuid.clone(), "The request."),
        ("path", "user", uuid.clone(), "The member's user id."),
        ("path", "invitation", uuid.clone(), "The invitation."),
        ("path", "charge", uuid.clone(), "The charge."),
        ("path", "webhook", uuid.clone(), "The webhook."),
        ("path", "period", month.clone(), "The month, such as `2026-10`."),
        (
            "query",
            "version_filter",
            json!({"type": "integer", "format": "int64", "minimum": 1}),
            "The version that the author saw.",
        ),
        ("query", "period_filter", month, "Only this month's."),
        (
            "query",
            "processed",
            json!({"type": "boolean"}),
            "Only those that stand in their month's statement, or will in the instant in which it is closed; or only the others.",
        ),
        ("path", "version", json!({"type": "integer", "format": "int64", "minimum": 1}), "A version of the request."),
        (
            "query",
            "limit",
            json!({"type": "integer", "minimum": 1, "maximum": 200, "default": 50}),
            "How many items at most.",
        ),
        ("query", "cursor", json!({"type": "string"}), "The `next_cursor` of the page before, under the same filters."),
        (
            "query",
            "view",
            json!({"type": "string", "enum": ["mine", "inbox", "all"], "default": "all"}),
            "`mine`: those that the caller applies for. `inbox`: exactly those that the caller could decide now. `all`: those that the caller may see.",
        ),
        ("query", "status", json!({"type": "string", "enum": statuses}), "Only those in this status."),
        ("query", "applicant_id", uuid.clone(), "Only those of this applicant."),
        ("query", "request_id", uuid.clone(), "Only what happened to this request."),
        ("query", "actor_id", uuid.clone(), "Only what this person did."),
        ("query", "action", json!({"type": "string", "enum": actions}), "Only this action."),
        ("query", "kind", json!({"type": "string", "enum": kinds}), "Only what is of this kind."),
        ("query", "from", moment.clone(), "Only what occurred at this time or later; from 1970 to 2199."),
        (
            "query",
            "to",
            moment,
            "Only what occurred before this time. Fixed when a walk or export begins, and never later than then, so that none meets its own trace.",
        ),
        ("query", "user_id", uuid, "The member that an administrator asks about; the caller when left out."),
        (
            "query",
            "q",
            json!({"type": "string", "minLength": 1, "maxLength": 200}),
            "Only those with this text in title or description, without regard to case. Literal: `%` and `_` are characters.",
        ),
        (
            "query",
            "updated_since",
            json!({"type": "string", "format": "date-time"}),
            "Only those whose last change was at this time or later; from 1970 to 2199. A `+` in it must be percent-encoded.",
        ),
        (
            "header",
            "Idempotency-Key",
            json!({"type": "string", "minLength": 1, "maxLength": 255, "pattern": "^[!-~]+$"}),
            "Names this intent, so that it can be sent again safely: see Idempotency. 1 to 255 visible ASCII characters, with or without quotes.",
        ),
        (
            "header",
            "If-None-Match",
            json!({"type": "string"}),
            "An `ETag` that the caller has: 304 when it is still the same.",
        ),
        (
            "header",
            "Last-Event-ID",
            json!({"type": "string", "pattern": "^[0-9]+$"}),
            "The last `id` that the caller has heard: what came after it is told first. Without it, what happens from now on.",
        ),
        (
            "header",
            "X-Request-Id",
            // No pattern: nothing is refused for it, and who checks the document against the answers must not expect it.
            json!({"type": "string"}),
            "The caller's id for this call, of the form `[A-Za-z0-9._:-]{1,128}`. Any other is replaced, not refused.",
        ),
    ];
    let parameter = |(place, name, schema, description): &(&str, &str, Value, &str)| {
        // A path and a query may have a parameter of one name.
        let value = json!({"name": name.trim_end_matches("_filter"), "in": place, "required": *place == "path" || *name == "version_filter", "description": description, "schema": schema});
        ((*name).to_owned(), value)
    };
    Value::Object(rows.iter().map(parameter).collect())
}

/// `components.headers`.
pub(super) fn headers() -> Value {
    let text = json!({"type": "string"});
    let rows = [
        (
            "ETag",
            text.clone(),
            "Opaque: names this very answer, the caller's rights included. For `If-None-Match`; a write takes the `version`, not this.",
        ),
        ("Content-Disposition", text.clone(), "Of a stream: the name to save it under."),
        ("Location", json!({"type": "string", "format": "uri-reference"}), "The path of what was made."),
        (
            "Idempotency-Replayed",
            json!({"type": "string", "const": "true"}),
            "There when this is the first call's answer again, and nothing was done now.",
        ),
        (
            "X-Request-Id",
            text.clone(),
            "The id of this call, the caller's or a new one; the same as `request_id` in a problem and in the log.",
        ),
        ("Retry-After", json!({"type": "integer", "minimum": 1}), "Seconds to wait before sending it again."),
        ("WWW-Authenticate", text.clone(), "`Bearer`, and what is wrong (RFC 6750)."),
        ("Allow", text, "The methods that the path knows."),
    ];
    let header = |(name, schema, description): (&str, Value, &str)| {
        (name.to_owned(), json!({"description": description, "schema": schema}))
    };
    Value::Object(rows.into_iter().map(header).collect())
}
