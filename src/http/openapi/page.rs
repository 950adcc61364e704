//! The document as a page: no script, nothing from elsewhere, one column that also fits a phone.

use super::markdown::{blocks, escape, line, put};
use super::operations::{OPERATIONS, Operation, TAGS};
use serde_json::{Map, Value};

/// The page of a document.
pub(super) fn render(document: &Value) -> String {
    let page = Page(document);
    let mut content = String::new();
    put!(
        content,
        "<h1>{} <span class=\"kind\">{}</span></h1>\n<p>{} The same for machines: <a href=\"/openapi.json\">openapi.json</a>.</p>\n",
        escape(text(document, "/info/title")),
        escape(text(document, "/info/version")),
        line(text(document, "/info/summary")),
    );
    content.push_str(&navigation());
    content.push_str(&blocks(text(document, "/info/description")));
    for (tag, description) in TAGS {
        put!(content, "<h2>{}</h2>\n{}", escape(tag), blocks(description));
        for operation in of_tag(tag) {
            content.push_str(&page.operation(operation));
        }
    }
    content.push_str("<h2>Schemas</h2>\n");
    for (name, value) in members(document, "/components/schemas") {
        content.push_str(&schema(name, value));
    }
    include_str!("page.html").replace("{{content}}", &content)
}

fn of_tag(tag: &str) -> impl Iterator<Item = &'static Operation> {
    OPERATIONS.iter().filter(move |operation| operation.tag == tag)
}

fn navigation() -> String {
    let mut html = String::from("<nav>\n");
    for (tag, _) in TAGS {
        put!(html, "<h4>{}</h4>\n<ul>\n", escape(tag));
        for Operation { id, summary, .. } in of_tag(tag) {
            put!(html, "<li><a href=\"#{id}\">{}</a></li>\n", escape(summary));
        }
        html.push_str("</ul>\n");
    }
    html + "</nav>\n"
}

/// The text at a pointer, or nothing.
fn text<'a>(value: &'a Value, pointer: &str) -> &'a str {
    value.pointer(pointer).and_then(Value::as_str).unwrap_or_default()
}

/// The members of the object at a pointer, if any.
fn members<'a>(value: &'a Value, pointer: &str) -> impl Iterator<Item = (&'a String, &'a Value)> {
    value.pointer(pointer).and_then(Value::as_object).into_iter().flat_map(Map::iter)
}

fn items<'a>(value: &'a Value, pointer: &str) -> impl Iterator<Item = &'a Value> {
    value.pointer(pointer).and_then(Value::as_array).into_iter().flatten()
}

struct Page<'a>(&'a Value);

impl<'a> Page<'a> {
    /// What a value refers to, or the value itself.
    fn resolve(&self, value: &'a Value) -> &'a Value {
        let target = text(value, "/$ref").strip_prefix('#').and_then(|pointer| self.0.pointer(pointer));
        target.unwrap_or(value)
    }

    fn operation(&self, operation: &Operation) -> String {
        let pointer = format!("/paths/{}/{}", operation.path.replace('/', "~1"), operation.method);
        let Some(value) = self.0.pointer(&pointer) else { return String::new() };
        let mut html = format!(
            "<h3 id=\"{id}\">{}</h3>\n<p><span class=\"method\">{}</span><span class=\"path\">{}</span></p>\n{}",
            line(text(value, "/summary")),
            operation.method.to_uppercase(),
            escape(operation.path),
            blocks(text(value, "/description")),
            id = operation.id,
        );
        html.push_str("<h4>Parameters</h4>\n<dl>\n");
        for parameter in items(value, "/parameters").map(|parameter| self.resolve(parameter)) {
            put!(
                html,
                "<dt><code>{}</code> <span class=\"kind\">{}; {}</span></dt>\n<dd>{}</dd>\n",
                escape(text(parameter, "/name")),
                escape(text(parameter, "/in")),
                parameter.get("schema").map(kind).unwrap_or_default(),
                line(text(parameter, "/description")),
            );
        }
        html.push_str("</dl>\n");
        if let Some(schema) = value.pointer("/requestBody/content/application~1json/schema") {
            put!(html, "<h4>Body: {}</h4>\n{}", kind(schema), fields(self.resolve(schema)));
        }
        let (problems, answers): (Vec<_>, Vec<_>) = members(value, "/responses")
            .map(|(status, response)| (answer(status, self.resolve(response)), self.is_problem(response)))
            .partition(|(_, is_problem)| *is_problem);
        let joined = |answers: Vec<(String, bool)>| answers.into_iter().map(|(html, _)| html).collect::<String>();
        html + &format!(
            "<h4>Answers</h4>\n<dl>\n{}</dl>\n<details><summary>Problems</summary>\n<dl>\n{}</dl>\n</details>\n",
            joined(answers),
            joined(problems),
        )
    }

    fn is_problem(&self, response: &'a Value) -> bool {
        self.resolve(response).pointer("/content/application~1problem+json").is_some()
    }
}

fn answer(status: &str, response: &Value) -> String {
    let headers: Vec<String> =
        members(response, "/headers").map(|(name, _)| format!("<code>{}</code>", escape(name))).collect();
    let mut html = format!("<dt><strong>{}</strong>", escape(status));
    for (media, content) in members(response, "/content") {
        let schema = content.get("schema").filter(|schema| schema.get("$ref").is_some());
        let schema = match (schema, media.as_str()) {
            (Some(schema), _) => kind(schema),
            (None, "application/problem+json") => "<a href=\"#schema-Problem\">Problem</a>".to_owned(),
            (None, media) => escape(media),
        };
        put!(html, " <span class=\"kind\">{schema}</span>");
    }
    put!(
        html,
        "</dt>\n<dd>{}<p class=\"kind\">Headers: {}</p></dd>\n",
        blocks(text(response, "/description")),
        headers.join(", "),
    );
    html
}

fn schema(name: &str, schema: &Value) -> String {
    let mut html = format!("<h3 id=\"schema-{0}\">{0}</h3>\n{1}", escape(name), blocks(text(schema, "/description")));
    if schema.get("properties").is_none() {
        put!(html, "<p class=\"kind\">{}</p>\n", kind(schema));
    }
    html.push_str(&fields(schema));
    html
}

fn fields(schema: &Value) -> String {
    let mut html = String::from("<dl>\n");
    for (name, field) in members(schema, "/properties") {
        let required = items(schema, "/required").any(|required| required == name);
        put!(
            html,
            "<dt><code>{}</code> <span class=\"kind\">{}{}</span></dt>\n<dd>{}</dd>\n",
            escape(name),
            if required { "" } else { "may be left out; " },
            kind(field),
            line(&[text(field, "/description"), text(field, "/oneOf/0/description")].concat()),
        );
    }
    html.push_str("</dl>\n");
    for example in items(schema, "/examples") {
        put!(html, "<pre><code>{}</code></pre>\n", escape(&example.to_string()));
    }
    html
}

/// What values a schema takes, in a few words, as HTML.
fn kind(schema: &Value) -> String {
    if let Some(name) = text(schema, "/$ref").strip_prefix("#/components/schemas/") {
        return format!("<a href=\"#schema-{0}\">{0}</a>", escape(name));
    }
    let alternatives: Vec<String> = items(schema, "/oneOf").map(kind).collect();
    if !alternatives.is_empty() {
        return alternatives.join(" or ");
    }
    let values: Vec<String> = items(schema, "/enum")
        .map(|value| format!("<code>{}</code>", escape(value.as_str().unwrap_or_default())))
        .collect();
    if !values.is_empty() {
        return values.join(", ");
    }
    let mut words = match schema.get("type") {
        Some(Value::Array(types)) => types.iter().filter_map(Value::as_str).collect::<Vec<_>>().join(" or "),
        Some(Value::String(one)) if one == "array" => {
            format!("array of {}", schema.get("items").map(kind).unwrap_or_default())
        }
        Some(Value::String(one)) => escape(one),
        _ => String::new(),
    };
    for (key, before) in [
        ("format", ""),
        ("minLength", "at least "),
        ("maxLength", "at most "),
        ("minimum", "from "),
        ("maximum", "to "),
        ("default", "default "),
        ("pattern", ""),
    ] {
        if let Some(value) = schema.get(key) {
            let value = value.as_str().map_or_else(|| value.to_string(), str::to_owned);
            let after = if key.ends_with("Length") { " characters" } else { "" };
            let shown = if key == "pattern" { format!("<code>{}</code>", escape(&value)) } else { escape(&value) };
            put!(words, ", {before}{shown}{after}");
        }
    }
    words
}
