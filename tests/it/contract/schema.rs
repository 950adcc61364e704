//! As much of JSON Schema as the document uses, to hold the answers of a real server against it.

use serde_json::Value;

/// Every place where `value` is not as `schema` says. Members that the schema does not name are told, too.
pub fn breaks(document: &Value, schema: &Value, value: &Value) -> Vec<String> {
    let mut found = Vec::new();
    Check { document, found: &mut found }.value(schema, value, "", true);
    found
}

struct Check<'a> {
    document: &'a Value,
    found: &'a mut Vec<String>,
}

impl Check<'_> {
    fn fails(&mut self, at: &str, what: &str) {
        self.found.push(format!("{at}: {what}"));
    }

    /// `closed`: members that are not named are told. Where schemas are combined, only the whole knows all names.
    fn value(&mut self, schema: &Value, value: &Value, at: &str, closed: bool) {
        if let Some(reference) = schema["$ref"].as_str() {
            let target = self.document.pointer(reference.trim_start_matches('#'));
            self.value(&target.unwrap_or_else(|| panic!("{reference} leads nowhere")).clone(), value, at, closed);
        }
        if let Some(parts) = schema["allOf"].as_array() {
            for part in parts {
                self.value(part, value, at, closed);
            }
        }
        if let Some(choices) = schema["oneOf"].as_array() {
            let fit = choices.iter().filter(|choice| breaks(self.document, choice, value).is_empty()).count();
            if fit != 1 {
                self.fails(at, &format!("{fit} alternatives fit {value}"));
            }
        }
        if !schema["const"].is_null() && schema["const"] != *value {
            self.fails(at, &format!("{value} is not {}", schema["const"]));
        }
        if let Some(values) = schema["enum"].as_array()
            && !values.contains(value)
        {
            self.fails(at, &format!("{value} is none of {values:?}"));
        }
        self.kind(schema, value, at);
        self.bounds(schema, value, at);
        if let (Some(items), Some(item_schema)) = (value.as_array(), schema.get("items")) {
            for (n, item) in items.iter().enumerate() {
                self.value(item_schema, item, &format!("{at}/{n}"), true);
            }
        }
        if let Some(members) = value.as_object() {
            for name in schema["required"].as_array().into_iter().flatten().filter_map(Value::as_str) {
                if !members.contains_key(name) {
                    self.fails(at, &format!("{name} is missing"));
                }
            }
            let combined = schema.get("allOf").is_some();
            if let Some(properties) = schema["properties"].as_object() {
                for (name, member) in members {
                    match properties.get(name) {
                        Some(schema) => self.value(schema, member, &format!("{at}/{name}"), true),
                        None if closed && !combined => self.fails(at, &format!("{name} is not documented")),
                        None => {}
                    }
                }
            }
        }
    }

    fn kind(&mut self, schema: &Value, value: &Value, at: &str) {
        let is = |kind: &str| match kind {
            "null" => value.is_null(),
            "boolean" => value.is_boolean(),
            "integer" => value.is_i64() || value.is_u64(),
            "string" => value.is_string(),
            "array" => value.is_array(),
            "object" => value.is_object(),
            other => panic!("the type {other} is not known here"),
        };
        let fits = match &schema["type"] {
            Value::Null => true,
            Value::String(kind) => is(kind),
            Value::Array(kinds) => kinds.iter().any(|kind| is(kind.as_str().unwrap())),
            other => panic!("{other}"),
        };
        if !fits {
            self.fails(at, &format!("{value} is not of type {}", schema["type"]));
        }
    }

    fn bounds(&mut self, schema: &Value, value: &Value, at: &str) {
        let bound = |name: &str| schema[name].as_i64();
        let size = |n: usize| i64::try_from(n).unwrap();
        let mut sizes = Vec::new();
        if let Some(number) = value.as_i64() {
            sizes.push((number, bound("minimum"), bound("maximum")));
        }
        if let Some(text) = value.as_str() {
            sizes.push((size(text.chars().count()), bound("minLength"), bound("maxLength")));
            let fits = match schema["format"].as_str() {
                Some("uuid") => text.len() == 36 && uuid::Uuid::try_parse(text).is_ok(),
                Some("date-time") => text.ends_with('Z') && chrono::DateTime::parse_from_rfc3339(text).is_ok(),
                _ => true,
            };
            if !fits {
                self.fails(at, &format!("{text} is no {}", schema["format"]));
            }
        }
        if let Some(items) = value.as_array() {
            sizes.push((size(items.len()), bound("minItems"), bound("maxItems")));
        }
        for (size, least, most) in sizes {
            if least.is_some_and(|least| size < least) || most.is_some_and(|most| size > most) {
                self.fails(at, &format!("{size} is out of bounds"));
            }
        }
    }
}
