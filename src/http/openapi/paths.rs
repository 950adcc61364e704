//! From the table of operations to `paths`, and to the problem answers that they share.

use super::operations::{Answer, OPERATIONS, Operation};
use crate::http::problem::Code;
use serde_json::{Map, Value, json};

fn reference(kind: &str, name: &str) -> Value {
    json!({"$ref": format!("#/components/{kind}/{name}")})
}

/// The object of a name and a value that is known only at run time.
fn one(name: impl Into<String>, value: Value) -> Map<String, Value> {
    Map::from_iter([(name.into(), value)])
}

/// `paths`.
pub(super) fn paths() -> Value {
    let mut paths = Map::new();
    for operation in OPERATIONS {
        let path = paths.entry(operation.path).or_insert_with(|| json!({}));
        if let Some(methods) = path.as_object_mut() {
            methods.insert(operation.method.to_owned(), describe(operation));
        }
    }
    Value::Object(paths)
}

fn describe(operation: &Operation) -> Value {
    let mut members = Map::from_iter([
        ("operationId".to_owned(), json!(operation.id)),
        ("tags".to_owned(), json!([operation.tag])),
        ("summary".to_owned(), json!(operation.summary)),
        ("parameters".to_owned(), parameters(operation)),
        ("responses".to_owned(), responses(operation)),
    ]);
    if !operation.detail.is_empty() {
        members.insert("description".to_owned(), json!(operation.detail));
    }
    if operation.is_public() {
        members.insert("security".to_owned(), json!([]));
    }
    if let Some(schema) = operation.body {
        let mut content = json!({"application/json": {"schema": reference("schemas", schema)}});
        if matches!(operation.answer, Answer::Imported(_)) {
            let rows = json!({"schema": {"type": "string", "description": "One object a line."}});
            content.as_object_mut().map(|content| content.insert("application/x-ndjson".to_owned(), rows));
        }
        members.insert("requestBody".to_owned(), json!({"required": true, "content": content}));
    }
    Value::Object(members)
}

/// The names in a path's braces, in order.
fn path_parameters(path: &str) -> impl Iterator<Item = &str> {
    path.split('{').skip(1).filter_map(|rest| rest.split('}').next())
}

fn parameters(operation: &Operation) -> Value {
    let page: &[&str] =
        if matches!(operation.answer, Answer::Page(_) | Answer::PageOrStream(_)) { &["limit", "cursor"] } else { &[] };
    let headers: &[&str] = match operation.answer {
        Answer::One(_) => &["If-None-Match", "X-Request-Id"],
        Answer::Events => &["Last-Event-ID", "X-Request-Id"],
        Answer::Made(_) | Answer::Imported(_) | Answer::Done(_) | Answer::Begun(_) => {
            &["Idempotency-Key", "X-Request-Id"]
        }
        _ => &["X-Request-Id"],
    };
    let names = path_parameters(operation.path).chain([operation.filters, page, headers].concat());
    names.map(|name| reference("parameters", name)).collect()
}

fn responses(operation: &Operation) -> Value {
    let mut responses = Map::new();
    let json_of = |schema: &str| json!({"application/json": {"schema": reference("schemas", schema)}});
    let text = || json!({"schema": {"type": "string"}});
    let (status, description, headers, content) = match operation.answer {
        Answer::One(schema) => {
            responses.insert("304".to_owned(), reference("responses", "NotModified"));
            ("200", "As it stands now.", &["ETag"][..], json_of(schema))
        }
        Answer::Page(schema) => ("200", "A page.", &[][..], json_of(schema)),
        Answer::PageOrStream(schema) => {
            let page = json!({"schema": reference("schemas", schema)});
            let content = json!({"application/json": page, "text/csv": text(), "application/x-ndjson": text()});
            ("200", "A page, or the whole selection.", &["Content-Disposition"][..], content)
        }
        Answer::Events => ("200", "The stream.", &[][..], Value::Object(one("text/event-stream", text()))),
        Answer::Figures(schema) => ("200", "The figures.", &[][..], json_of(schema)),
        Answer::Made(schema) => ("201", "Made.", &["ETag", "Location", "Idempotency-Replayed"][..], json_of(schema)),
        Answer::Imported(schema) => {
            let headers = ["ETag", "Idempotency-Replayed"];
            responses.insert("207".to_owned(), success("Some rows were refused.", &headers, &json_of(schema)));
            ("201", "All are there now.", &["ETag", "Idempotency-Replayed"][..], json_of(schema))
        }
        Answer::Done(schema) => {
            ("200", "Done; as it stands now.", &["ETag", "Idempotency-Replayed"][..], json_of(schema))
        }
        Answer::Begun(schema) => {
            let (headers, body) = (["ETag", "Idempotency-Replayed"], json_of(schema));
            responses.insert("202".to_owned(), success("Begun by this call.", &headers, &body));
            ("200", "Begun or done before.", &["ETag", "Idempotency-Replayed"][..], body)
        }
        Answer::Deleted => ("204", "It is gone.", &[][..], json!({})),
        Answer::Public("application/json") => {
            ("200", "The document.", &[][..], json!({"application/json": {"schema": {"type": "object"}}}))
        }
        Answer::Public(media) if media.contains('/') => {
            ("200", "The text.", &[][..], Value::Object(one(media, text())))
        }
        Answer::Public("Health") => ("200", "Yes.", &[][..], json_of("Health")),
        Answer::Public(schema) => ("200", "As asked.", &[][..], json_of(schema)),
        Answer::Link => {
            let page = Value::Object(one("text/html", text()));
            responses.insert("404".to_owned(), success("The link does nothing (any more).", &[], &page));
            ("200", "A page.", &[][..], page)
        }
        Answer::Ready => {
            responses.insert("503".to_owned(), success("No: send requests elsewhere.", &[], &json_of("Health")));
            ("200", "Yes.", &[][..], json_of("Health"))
        }
    };
    responses.insert(status.to_owned(), success(description, headers, &content));
    for codes in by_status(operation) {
        if let Some(code) = codes.first() {
            responses.insert(code.status().to_string(), reference("responses", &problem_name(&codes)));
        }
    }
    Value::Object(responses)
}

fn success(description: &str, headers: &[&str], content: &Value) -> Value {
    let headers = header_references(headers);
    if content.as_object().is_some_and(Map::is_empty) {
        return json!({"description": description, "headers": headers});
    }
    json!({"description": description, "headers": headers, "content": content})
}

fn header_references(names: &[&str]) -> Value {
    let names = names.iter().chain(&["X-Request-Id"]);
    Value::Object(names.map(|name| ((*name).to_owned(), reference("headers", name))).collect())
}

/// An operation's codes, those of one status together.
fn by_status(operation: &Operation) -> Vec<Vec<Code>> {
    let codes: Vec<Code> = operation.problems().collect();
    codes.chunk_by(|a, b| a.status() == b.status()).map(<[Code]>::to_vec).collect()
}

/// The codes are the name: whoever answers with the same ones shares the answer.
fn problem_name(codes: &[Code]) -> String {
    codes.iter().map(|code| code.as_str()).collect::<Vec<_>>().join(".")
}

/// `components.responses`: each set of codes of one status that some operation can answer.
pub(super) fn shared_responses() -> Value {
    let mut responses = one("NotModified", not_modified());
    for codes in OPERATIONS.iter().flat_map(by_status) {
        responses.insert(problem_name(&codes), problem(&codes));
    }
    Value::Object(responses)
}

fn not_modified() -> Value {
    json!({"description": "It is what `If-None-Match` names.", "headers": header_references(&["ETag"])})
}

fn problem(codes: &[Code]) -> Value {
    let mut headers = Vec::new();
    for code in codes {
        headers.extend(match code {
            Code::Unauthenticated => Some("WWW-Authenticate"),
            Code::MethodNotAllowed => Some("Allow"),
            Code::Busy | Code::OutcomeUnknown | Code::IdempotencyInProgress | Code::RateLimited => Some("Retry-After"),
            _ => None,
        });
    }
    let current: Vec<Value> = [
        ([Code::RequestChanged, Code::InvalidTransition].as_slice(), "Current"),
        ([Code::MemberChanged].as_slice(), "Member"),
        ([Code::ChargeChanged].as_slice(), "Charge"),
        ([Code::WebhookChanged].as_slice(), "Webhook"),
    ]
    .iter()
    .filter(|(with, _)| with.iter().any(|code| codes.contains(code)))
    .map(|(_, schema)| reference("schemas", schema))
    .collect();
    let names: Vec<&str> = codes.iter().map(|code| code.as_str()).collect();
    let mut properties = one("code", json!({"enum": names}));
    properties.insert("status".to_owned(), json!({"const": codes.first().map(|code| code.status())}));
    if let [schema] = current.as_slice() {
        properties.insert("current".to_owned(), schema.clone());
    }
    let lines: Vec<String> = codes.iter().map(|code| format!("- `{}`: {}", code.as_str(), code.title())).collect();
    let schema = json!({"allOf": [reference("schemas", "Problem")], "properties": properties});
    json!({
        "description": lines.join("\n"),
        "headers": header_references(&headers),
        "content": {"application/problem+json": {"schema": schema}},
    })
}
