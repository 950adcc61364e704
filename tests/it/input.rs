//! What clients send by mistake or on purpose: each is refused with its code, none is a fault of ours, and a refused
//! write leaves everything as it was.

use crate::harness::{Answer, App, PATIENCE, id_of, version_of};
use crate::wire::{connect, head, post_text, read_answer, refused, send, send_bytes, violations, with_token};
use reqwest::Method;
use serde_json::{Value, json};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use uuid::Uuid;

const JSON: &str = "Content-Type: application/json\r\n";

fn content(changes: &Value) -> Value {
    with(json!({"title": "A printer", "description": "why", "amount": 12_000, "currency": "JPY"}), changes)
}

fn with(mut body: Value, changes: &Value) -> Value {
    for (name, value) in changes.as_object().unwrap() {
        body[name] = value.clone();
    }
    body
}

#[tokio::test(flavor = "multi_thread")]
async fn what_is_no_json_object_is_malformed() {
    let app = App::start().await;
    let applicant = app.applicant().await;
    let draft = applicant.create("A printer").await;
    let nested = |open: &str, close: &str| format!("{{\"title\":{}{}}}", open.repeat(10_000), close.repeat(10_000));
    let mut bodies: Vec<Vec<u8>> = [
        "",
        " \n",
        "null",
        "5",
        "\"hunter2\"",
        "[\"hunter2\"]",
        "[1, \"x\", \"\", null, null]",
        "{",
        "{} {}",
        "{\"title\"}",
        "{\"title\":}",
        "{\"title\":\"x\",}",
        "{'title':'x'}",
        "{\"title\":\"a\nb\"}",
        "{\"title\":NaN}",
        "{\"title\":\"x\",\"amount\":1e400,\"currency\":\"JPY\"}",
        "{\"title\":\"x\",\"amount\":-1e400,\"currency\":\"JPY\"}",
        "{\"title\":\"x\",\"amount\":01,\"currency\":\"JPY\"}",
        "{\"title\":\"\\ud800\"}",
        "{\"title\":\"\\udc00\"}",
        "{\"title\":\"\\ud83d\\ud83d\"}",
        "{\"\\ud800\":\"x\"}",
        "{\"title\":\"one\",\"title\":\"two\"}",
        "{\"title\":\"one\",\"t\\u0069tle\":\"two\"}",
        "{\"version\":1,\"version\":2}",
        "\u{feff}{\"title\":\"x\"}",
    ]
    .map(Into::into)
    .into();
    bodies.extend([nested("[", "]").into(), nested("{\"a\":", "}").into()]);
    bodies
        .extend([&b"{\"title\":\"a\xffb\"}"[..], b"{\"title\":\"\xc0\x80\"}", b"{\"\xed\xa0\x80\":1}"].map(Vec::from));
    for body in bodies {
        let what = String::from_utf8_lossy(&body[..body.len().min(60)]).into_owned();
        let answer =
            refused(&app, &what, post_text(&applicant, "requests", body.clone()), (400, "malformed_json")).await;
        assert!(!answer.text.contains("hunter2"), "the answer reflects what was sent: {}", answer.text);
        let submit = format!("requests/{}/submit", id_of(&draft));
        refused(&app, &what, post_text(&applicant, &submit, body.clone()), (400, "malformed_json")).await;
        refused(&app, &what, post_text(&app.admin, "members", body), (400, "malformed_json")).await;
    }
    app.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_value_of_the_wrong_type_is_named_where_it_stands() {
    let app = App::start().await;
    let applicant = app.applicant().await;
    let draft = applicant.create("A printer").await;
    for (field, values) in [
        ("title", &["1", "null", "true", "[]", "{}", "[\"x\"]"][..]),
        ("description", &["1", "false", "[]", "{}"]),
        (
            "amount",
            &[
                "\"5\"",
                "true",
                "[]",
                "{}",
                "1.0",
                "1e2",
                "0.5",
                "1e300",
                "9223372036854775808",
                "-9223372036854775809",
                "18446744073709551616",
            ],
        ),
        ("currency", &["1", "true", "[]", "{\"$serde_json::private::Number\":\"5\"}"]),
    ] {
        for value in values {
            let other = content(&json!({}));
            let others = other.as_object().unwrap().iter().filter(|(name, _)| *name != field);
            let members: Vec<_> = others.map(|(name, value)| format!("\"{name}\":{value}")).collect();
            let body = format!("{{{},\"{field}\":{value}}}", members.join(","));
            let answer =
                refused(&app, &body, post_text(&applicant, "requests", body.clone()), (422, "validation_failed")).await;
            assert_eq!(violations(&answer), [(format!("/{field}"), "wrong_type".to_owned())], "{body}");
        }
    }
    let submit = format!("requests/{}/submit", id_of(&draft));
    for version in ["\"1\"", "true", "[]", "{}", "1.0", "1e0", "9223372036854775808", "-9223372036854775809"] {
        let body = format!("{{\"version\":{version}}}");
        let answer =
            refused(&app, &body, post_text(&applicant, &submit, body.clone()), (422, "validation_failed")).await;
        assert_eq!(violations(&answer), [("/version".to_owned(), "wrong_type".to_owned())], "{body}");
    }
    for body in ["{}", "{\"version\":null}"] {
        refused(&app, body, post_text(&applicant, &submit, body), (422, "version_required")).await;
    }
    // Integers all, but of no version that anybody has seen.
    for version in ["0", "-1", "2", "9007199254740993", "9223372036854775807", "-9223372036854775808"] {
        let body = format!("{{\"version\":{version}}}");
        refused(&app, &body, post_text(&applicant, &submit, body.clone()), (409, "request_changed")).await;
    }
    let reject = format!("requests/{}/reject", id_of(&draft));
    let answer = refused(
        &app,
        "reason",
        applicant.post(&reject, json!({"version": 1, "reason": 5})),
        (422, "validation_failed"),
    )
    .await;
    assert_eq!(violations(&answer), [("/reason".to_owned(), "wrong_type".to_owned())]);
    app.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn every_mistake_of_a_body_is_told_at_once_and_unknown_names_first() {
    let app = App::start().await;
    let applicant = app.applicant().await;
    let draft = applicant.create("A printer").await;
    let path = format!("requests/{}", id_of(&draft));

    let wrong = json!({"title": 1, "description": 2, "amount": "3", "currency": 4});
    let answer = refused(&app, "all wrong", applicant.post("requests", wrong), (422, "validation_failed")).await;
    let pointers: Vec<_> = violations(&answer).into_iter().map(|(pointer, _)| pointer).collect();
    assert_eq!(pointers, ["/title", "/description", "/amount", "/currency"]);

    let unknown = json!({"title": 1, "a/b~c": 1, "colour": "red"});
    let answer = refused(&app, "unknown", applicant.post("requests", unknown), (422, "unknown_field")).await;
    let expected = ["/a~1b~0c", "/colour"].map(|pointer| (pointer.to_owned(), "unknown_field".to_owned()));
    assert_eq!(violations(&answer), expected);

    // A megabyte of unknown names is not answered with ten.
    let many: serde_json::Map<_, _> = (0..20_000).map(|n| (format!("n{n}"), json!(0))).collect();
    let answer = refused(&app, "many", applicant.post("requests", Value::Object(many)), (422, "unknown_field")).await;
    assert!(answer.text.len() < 10_000, "{} bytes", answer.text.len());

    for (call, body) in [
        ("submit", json!({"version": 1, "reason": "because"})),
        ("withdraw", json!({"version": 1, "title": "x"})),
        ("approve", json!({"version": 1, "force": true})),
    ] {
        refused(&app, call, applicant.post(&format!("{path}/{call}"), body), (422, "unknown_field")).await;
    }
    let create = content(&json!({"version": 1}));
    refused(&app, "version of a new one", applicant.post("requests", create), (422, "unknown_field")).await;

    let whole = content(&json!({"version": 1}));
    for member in ["title", "description", "amount", "currency"] {
        let mut part = whole.clone();
        part.as_object_mut().unwrap().remove(member);
        let answer = refused(&app, member, applicant.put(&path, part), (422, "validation_failed")).await;
        assert_eq!(violations(&answer), [(format!("/{member}"), "required".to_owned())]);
    }
    let mut part = whole;
    part.as_object_mut().unwrap().remove("version");
    refused(&app, "version", applicant.put(&path, part), (422, "version_required")).await;

    let member = format!("members/{}", applicant.id);
    let whole =
        json!({"display_name": "Aiko", "is_active": true, "can_approve": true, "is_admin": false, "version": 1});
    for (name, code) in [
        ("display_name", "validation_failed"),
        ("is_active", "validation_failed"),
        ("can_approve", "validation_failed"),
        ("is_admin", "validation_failed"),
        ("version", "version_required"),
    ] {
        let mut part = whole.clone();
        part.as_object_mut().unwrap().remove(name);
        refused(&app, name, app.admin.put(&member, part), (422, code)).await;
        let wrong = with(whole.clone(), &json!({name: [1]}));
        refused(&app, name, app.admin.put(&member, wrong), (422, "validation_failed")).await;
    }
    let renamed = with(whole, &json!({"user_id": Uuid::new_v4()}));
    refused(&app, "user_id", app.admin.put(&member, renamed), (422, "unknown_field")).await;
    for id in [
        json!("x"),
        json!(1),
        json!("0197c0de000070008000000000000000"),
        json!("{0197c0de-0000-7000-8000-000000000000}"),
    ] {
        let body =
            json!({"user_id": id, "display_name": "X", "is_active": true, "can_approve": true, "is_admin": false});
        let answer = refused(&app, "user_id", app.admin.post("members", body), (422, "validation_failed")).await;
        assert_eq!(violations(&answer), [("/user_id".to_owned(), "wrong_type".to_owned())]);
    }
    app.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn amounts_are_what_javascript_reads_exactly() {
    let app = App::start().await;
    let applicant = app.applicant().await;
    for amount in [0, 1, 9_007_199_254_740_991_i64] {
        let made = applicant.post("requests", content(&json!({"amount": amount}))).await.expect_status(201).body;
        assert_eq!(applicant.get(&made).await.body["amount"], amount);
    }
    for amount in [-1, 9_007_199_254_740_992, 9_007_199_254_740_993, i64::MAX, i64::MIN] {
        let body = content(&json!({"amount": amount}));
        let answer =
            refused(&app, &amount.to_string(), applicant.post("requests", body), (422, "validation_failed")).await;
        assert_eq!(violations(&answer), [("/amount".to_owned(), "range".to_owned())]);
    }
    for currency in ["", "jpy", "JP", "YEN", "XYZ", "DEM", "J\u{0}Y", "ＪＰＹ", "JPY "] {
        let body = content(&json!({"currency": currency}));
        let answer = refused(&app, currency, applicant.post("requests", body), (422, "validation_failed")).await;
        assert_eq!(violations(&answer), [("/currency".to_owned(), "currency_unknown".to_owned())]);
    }
    for (one, other) in [("amount", "currency"), ("currency", "amount")] {
        let body = content(&json!({one: null}));
        let answer = refused(&app, one, applicant.post("requests", body), (422, "validation_failed")).await;
        assert_eq!(violations(&answer), [(format!("/{one}"), "amount_and_currency".to_owned())], "without {other}");
    }
    let neither = applicant.post("requests", json!({"title": "Neither"})).await.expect_status(201).body;
    assert_eq!(
        (&neither["amount"], &neither["currency"], &neither["description"]),
        (&Value::Null, &Value::Null, &json!(""))
    );
    app.stop().await;
}

/// One character for a person may be many bytes and several UTF-16 units: counted are Unicode scalar values.
#[tokio::test(flavor = "multi_thread")]
async fn lengths_are_counted_in_scalar_values_up_to_the_limit_and_not_one_over() {
    let app = App::start().await;
    let (applicant, approver) = (app.applicant().await, app.approver().await);
    for character in ["x", "稟", "😀", "𠮷"] {
        let text = |n: usize| character.repeat(n);
        let body = content(&json!({"title": text(200), "description": text(10_000)}));
        let made = applicant.post("requests", body.clone()).await.expect_status(201).body;
        let seen = applicant.get(&made).await.body;
        assert_eq!((&seen["title"], &seen["description"]), (&body["title"], &body["description"]));
        for (field, over) in [("title", text(201)), ("description", text(10_001))] {
            let body = content(&json!({field: over}));
            let answer = refused(&app, field, applicant.post("requests", body), (422, "validation_failed")).await;
            assert_eq!(violations(&answer), [(format!("/{field}"), "length".to_owned())]);
            assert!(!answer.text.contains(&text(2)), "the value is reflected: {}", answer.text);
        }

        let pending = applicant.submitted("A printer").await;
        let over =
            refused(&app, "reason", approver.act(&pending, "reject", Some(&text(2_001))), (422, "validation_failed"))
                .await;
        assert_eq!(violations(&over), [("/reason".to_owned(), "length".to_owned())]);
        let rejected = approver.act(&pending, "reject", Some(&text(2_000))).await.expect_status(200).body;
        assert_eq!(rejected["decision_reason"], text(2_000));

        let member = |name: String| {
            json!({"user_id": Uuid::new_v4(), "display_name": name, "is_active": true,
                                           "can_approve": false, "is_admin": false})
        };
        let named = app.admin.post("members", member(text(200))).await.expect_status(201).body;
        assert_eq!(named["display_name"], text(200));
        refused(&app, "name", app.admin.post("members", member(text(201))), (422, "validation_failed")).await;
    }
    let spaced = applicant.post("requests", json!({"title": "  a  "})).await.expect_status(201).body;
    assert_eq!(spaced["title"], "  a  ", "nothing is trimmed");
    app.check_invariants().await;
    app.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn what_nobody_can_read_is_no_title_no_name_and_no_reason() {
    let app = App::start().await;
    let (applicant, approver) = (app.applicant().await, app.approver().await);
    let pending = applicant.submitted("A printer").await;
    let member = format!("members/{}", applicant.id);
    let name = |name: &str| json!({"display_name": name, "is_active": true, "can_approve": false, "is_admin": false, "version": 1});
    for (blank, code) in [
        ("", "length"),
        (" ", "blank"),
        ("\u{3000}\u{a0}", "blank"),
        ("\u{200b}", "blank"),
        ("\u{200b}\u{200d}\u{feff}\u{2060}", "blank"),
        ("\u{202e}", "blank"),
        ("\u{3164}", "blank"),
    ] {
        let what = format!("{blank:?}");
        let title = refused(
            &app,
            &what,
            applicant.post("requests", content(&json!({"title": blank}))),
            (422, "validation_failed"),
        )
        .await;
        assert_eq!(violations(&title), [("/title".to_owned(), code.to_owned())], "{what}");
        let named = refused(&app, &what, app.admin.put(&member, name(blank)), (422, "validation_failed")).await;
        assert_eq!(violations(&named), [("/display_name".to_owned(), code.to_owned())], "{what}");
        for action in ["reject", "send-back", "approve"] {
            let reason =
                refused(&app, &what, approver.act(&pending, action, Some(blank)), (422, "validation_failed")).await;
            assert_eq!(violations(&reason), [("/reason".to_owned(), code.to_owned())], "{action} {what}");
        }
    }
    for action in ["reject", "send-back"] {
        let missing = refused(&app, action, approver.act(&pending, action, None), (422, "validation_failed")).await;
        assert_eq!(violations(&missing), [("/reason".to_owned(), "required".to_owned())]);
    }
    // Letters of many writings need joiners and marks, and so does this family; they are text like any other.
    for joined in ["می\u{200c}خواهم", "👩\u{200d}👩\u{200d}👧", "e\u{301}", "שלום\u{200f}!", "Be\u{200b}n", "\u{202e}x"]
    {
        let made = applicant.post("requests", content(&json!({"title": joined}))).await.expect_status(201).body;
        assert_eq!(made["title"], joined);
    }
    app.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn control_characters_are_refused_and_paragraphs_are_not() {
    let app = App::start().await;
    let (applicant, approver) = (app.applicant().await, app.approver().await);
    let pending = applicant.submitted("A printer").await;
    let member = format!("members/{}", applicant.id);
    for control in ["a\u{0}b", "a\u{1}b", "a\u{8}b", "a\rb", "a\u{1b}b", "a\u{7f}b", "a\u{85}b"] {
        let what = format!("{control:?}");
        let expected = |pointer: &str| [(pointer.to_owned(), "control_character".to_owned())];
        for field in ["title", "description"] {
            let body = content(&json!({field: control}));
            let answer = refused(&app, &what, applicant.post("requests", body), (422, "validation_failed")).await;
            assert_eq!(violations(&answer), expected(&format!("/{field}")), "{what}");
        }
        for action in ["approve", "reject", "send-back"] {
            let answer =
                refused(&app, &what, approver.act(&pending, action, Some(control)), (422, "validation_failed")).await;
            assert_eq!(violations(&answer), expected("/reason"), "{what}");
        }
        let answer =
            refused(&app, &what, applicant.act(&pending, "withdraw", Some(control)), (422, "validation_failed")).await;
        assert_eq!(violations(&answer), expected("/reason"), "{what}");
        let name =
            json!({"display_name": control, "is_active": true, "can_approve": false, "is_admin": false, "version": 1});
        let answer = refused(&app, &what, app.admin.put(&member, name), (422, "validation_failed")).await;
        assert_eq!(violations(&answer), expected("/display_name"), "{what}");
    }
    for one_line in ["a\tb", "a\nb"] {
        let body = content(&json!({"title": one_line}));
        refused(&app, one_line, applicant.post("requests", body), (422, "validation_failed")).await;
    }
    let unknown = json!({"title": "x", "a\u{0}": 1});
    refused(&app, "NUL in a name", applicant.post("requests", unknown), (422, "unknown_field")).await;

    let paragraphs = "one\n\n\ttwo\u{fffe}";
    let made = applicant.post("requests", content(&json!({"description": paragraphs}))).await.expect_status(201).body;
    assert_eq!(made["description"], paragraphs);
    let sent_back = approver.act(&pending, "send-back", Some(paragraphs)).await.expect_status(200).body;
    assert_eq!(sent_back["decision_reason"], paragraphs);
    app.check_invariants().await;
    app.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn only_plain_utf_8_json_is_read_and_nothing_else_is_unpacked() {
    let app = App::start().await;
    let applicant = app.applicant().await;
    let body = content(&json!({})).to_string();
    let call = |headers: &'static [(&'static str, &'static str)]| {
        let request = applicant.request(Method::POST, "requests").body(body.clone());
        Answer::of(headers.iter().fold(request, |request, (name, value)| request.header(*name, *value)))
    };
    for headers in [
        &[][..],
        &[("content-type", "")],
        &[("content-type", "text/plain")],
        &[("content-type", "application/x-www-form-urlencoded")],
        &[("content-type", "application/jsonp")],
        &[("content-type", "application/problem+json")],
        &[("content-type", "application/json; charset=utf-16")],
        &[("content-type", "application/json; charset=iso-8859-1")],
        &[("content-type", "application/json; charset=")],
    ] {
        refused(&app, &format!("{headers:?}"), call(headers), (415, "unsupported_media_type")).await;
    }
    for good in [
        &[("content-type", "application/json")][..],
        &[("content-type", "Application/JSON;charset=UTF-8")],
        &[("content-type", "application/json; charset=\"utf-8\"")],
    ] {
        call(good).await.expect_status(201);
    }
    // Judged by the head alone: not a byte of the body was sent, and 30 kB could be a gigabyte of zeros.
    for coding in ["gzip", "zstd", "br", "deflate", "identity", "x-unknown", ""] {
        let lines = format!("{JSON}Content-Encoding: {coding}\r\nContent-Length: 30000\r\n");
        let bytes = head(&applicant, "POST", "requests", &lines);
        refused(&app, coding, send_bytes(&app, bytes.as_bytes()), (415, "unsupported_media_type")).await;
    }
    let packed = applicant.request(Method::POST, "requests").header("content-type", "application/json");
    let packed = packed.header("content-encoding", "gzip").body(gzip_bomb());
    refused(&app, "gzip", Answer::of(packed), (415, "unsupported_media_type")).await;
    app.stop().await;
}

/// One zero, repeated 258 times by each 13 bits that follow: 10 MB in 65 kB, written as RFC 1951 says.
fn gzip_bomb() -> Vec<u8> {
    let repeat = "1100010100000";
    // The last block, with fixed codes; the literal zero; the repetitions; the end.
    let bits = format!("110{}{}0000000", "00110000", repeat.repeat(40_000)).into_bytes();
    let packed = bits.chunks(8).map(|byte| byte.iter().rev().fold(0, |byte, bit| byte << 1 | (bit - b'0')));
    [0x1f, 0x8b, 8, 0, 0, 0, 0, 0, 0, 3].into_iter().chain(packed).collect()
}

#[tokio::test(flavor = "multi_thread")]
async fn a_body_has_at_most_a_mebibyte_however_it_is_sent() {
    let app = App::start().await;
    let applicant = app.applicant().await;
    let limit = 1 << 20;
    let padded = |length: usize| {
        let body = content(&json!({})).to_string();
        " ".repeat(length - body.len()) + &body
    };
    post_text(&applicant, "requests", padded(limit)).await.expect_status(201);
    refused(&app, "one over", post_text(&applicant, "requests", padded(limit + 1)), (413, "payload_too_large")).await;
    let title = content(&json!({"title": "x".repeat(10 << 20)})).to_string();
    refused(&app, "a title of 10 MB", post_text(&applicant, "requests", title), (413, "payload_too_large")).await;

    let announced = head(&applicant, "POST", "requests", &format!("{JSON}Content-Length: 99999999999\r\n"));
    refused(&app, "announced", send_bytes(&app, announced.as_bytes()), (413, "payload_too_large")).await;

    let mut stream = connect(&app).await;
    let chunked = head(&applicant, "POST", "requests", &format!("{JSON}Transfer-Encoding: chunked\r\n"));
    stream.write_all(chunked.as_bytes()).await.unwrap();
    let chunk = format!("10000\r\n{}\r\n", " ".repeat(0x10000));
    for _ in 0..17 {
        // The answer may come, and the connection end, before the last of them.
        let _ = stream.write_all(chunk.as_bytes()).await;
    }
    refused(&app, "in chunks", read_answer(&mut stream), (413, "payload_too_large")).await;
    app.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn bodies_come_in_every_way_that_http_knows() {
    let app = App::start().await;
    let applicant = app.applicant().await;
    let body = content(&json!({})).to_string();

    let none = head(&applicant, "POST", "requests", JSON);
    refused(&app, "no body at all", send_bytes(&app, none.as_bytes()), (400, "malformed_json")).await;
    let nothing = head(&applicant, "POST", "requests", "");
    refused(&app, "nothing at all", send_bytes(&app, nothing.as_bytes()), (415, "unsupported_media_type")).await;

    let (start, end) = body.split_at(20);
    let chunks = format!("{:x}\r\n{start}\r\n{:x}\r\n{end}\r\n0\r\n\r\n", start.len(), end.len());
    let chunked = head(&applicant, "POST", "requests", &format!("{JSON}Transfer-Encoding: chunked\r\n")) + &chunks;
    send_bytes(&app, chunked.as_bytes()).await.expect_status(201);
    let broken = chunked.replace("\r\n0\r\n\r\n", "\r\nzz\r\n\r\n");
    refused(&app, "a broken chunk", send_bytes(&app, broken.as_bytes()), (400, "malformed_json")).await;

    let mut stream = connect(&app).await;
    let lines = format!("{JSON}Content-Length: {}\r\nExpect: 100-continue\r\n", body.len());
    stream.write_all(head(&applicant, "POST", "requests", &lines).as_bytes()).await.unwrap();
    let mut told = [0; 25];
    stream.read_exact(&mut told).await.unwrap();
    assert_eq!(&told, b"HTTP/1.1 100 Continue\r\n\r\n");
    stream.write_all(body.as_bytes()).await.unwrap();
    read_answer(&mut stream).await.expect_status(201);
    // The connection serves on, also after a refusal that left a body unread.
    let refusal =
        head(&applicant, "POST", "requests?x=1", &format!("{JSON}Content-Length: {}\r\n", body.len())) + &body;
    stream.write_all(refusal.as_bytes()).await.unwrap();
    read_answer(&mut stream).await.expect_problem(400, "invalid_query");
    app.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_path_is_known_to_the_letter() {
    let app = App::start().await;
    let applicant = app.applicant().await;
    let draft = applicant.create("A printer").await;
    let (organization, id) = (app.organization, id_of(&draft));
    let base = format!("/api/v1/organizations/{organization}");
    for missing in [
        "/nothing".to_owned(),
        "//".to_owned(),
        "//api/v1/me".to_owned(),
        "/api/v1/me/".to_owned(),
        "/api/v1".to_owned(),
        "/api/v2/me".to_owned(),
        "/API/v1/me".to_owned(),
        "/api/v1/%00".to_owned(),
        "/api/v1/%ff".to_owned(),
        base.clone(),
        format!("{base}/"),
        format!("{base}/requests/"),
        format!("{base}//requests"),
        format!("{base}/requests/{id}/"),
        format!("{base}/requests/{id}/history/"),
        format!("{base}/requests/{id}/nothing"),
        format!("{base}/requests/{id}%2fhistory/x"),
        format!("{base}/members/"),
    ] {
        for method in [Method::GET, Method::POST] {
            refused(&app, &missing, send(&applicant, method, &missing, "{}"), (404, "not_found")).await;
        }
    }
    for wrong in [
        "1",
        "x",
        "%00",
        "%ff",
        "%f0%9f%98%80",
        "a%2fb",
        "%2e%2e%2f",
        "{id}",
        "0197c0de000070008000000000000000",
        "urn:uuid:0197c0de-0000-7000-8000-000000000000",
        "0197c0de-0000-7000-8000-00000000000g",
    ] {
        for (method, path) in [
            (Method::GET, format!("requests/{wrong}")),
            (Method::PUT, format!("requests/{wrong}")),
            (Method::POST, format!("requests/{wrong}/approve")),
            (Method::GET, format!("requests/{wrong}/history")),
            (Method::GET, format!("requests/{wrong}/versions/1")),
            (Method::GET, format!("members/{wrong}")),
            (Method::PUT, format!("members/{wrong}")),
            (Method::GET, format!("/api/v1/organizations/{wrong}/requests")),
            (Method::POST, format!("/api/v1/organizations/{wrong}/requests")),
        ] {
            refused(&app, &path, send(&applicant, method, &path, "{}"), (400, "invalid_path")).await;
        }
    }
    for wrong in ["x", "-1", "+1", "1.0", "1e0", "%00", "%ff", "１", "0x1"] {
        let path = format!("requests/{id}/versions/{wrong}");
        refused(&app, &path, applicant.read(&path), (400, "invalid_path")).await;
    }
    // The same id in other letters.
    let upper = id.to_string().to_uppercase();
    assert_eq!(applicant.read(&format!("requests/{upper}")).await.expect_status(200).body, draft);
    // Bytes that no client library sends.
    for raw in [&b"requests/\xff"[..], b"requests?q=\xff", b"requests?q=\xe7\xa8\x9f"] {
        let mut bytes = format!("GET {base}/").into_bytes();
        bytes.extend(raw);
        bytes.extend(format!(" HTTP/1.1\r\nHost: ringi\r\nAuthorization: Bearer {}\r\n\r\n", applicant.token).bytes());
        let status = send_bytes(&app, &bytes).await.status;
        assert!(!status.is_server_error(), "{raw:?}: {status}");
    }
    app.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_resource_knows_its_methods_and_head_is_get_without_the_body() {
    let app = App::start().await;
    let applicant = app.applicant().await;
    let id = id_of(&applicant.create("A printer").await);
    for (path, allow) in [
        ("/api/v1/me".to_owned(), "GET, HEAD"),
        ("/health/live".to_owned(), "GET, HEAD"),
        ("/openapi.json".to_owned(), "GET, HEAD"),
        ("requests".to_owned(), "GET, HEAD, POST"),
        ("requests/counts".to_owned(), "GET, HEAD"),
        (format!("requests/{id}"), "GET, HEAD, PUT"),
        (format!("requests/{id}/approve"), "POST"),
        (format!("requests/{id}/send-back"), "POST"),
        (format!("requests/{id}/history"), "GET, HEAD"),
        (format!("requests/{id}/versions/1"), "GET, HEAD"),
        ("members".to_owned(), "GET, HEAD, POST"),
        (format!("members/{}", applicant.id), "GET, HEAD, PUT"),
    ] {
        for method in ["GET", "POST", "PUT", "PATCH", "DELETE", "OPTIONS", "BREW"] {
            if allow.split(", ").any(|known| known == method) {
                continue;
            }
            let call = send(&applicant, method.parse().unwrap(), &path, "{}");
            let answer = refused(&app, &format!("{method} {path}"), call, (405, "method_not_allowed")).await;
            assert_eq!(answer.header("allow"), allow);
        }
        let person = if path.starts_with("members") { &app.admin } else { &applicant };
        let head = Answer::of(person.request(Method::HEAD, &path)).await;
        if !allow.starts_with("GET") {
            assert_eq!(head.status.as_u16(), 405);
            continue;
        }
        let get = person.read(&path).await.expect_status(200);
        assert_eq!((head.status, head.text.as_str()), (get.status, ""), "{path}");
        for header in ["content-type", "content-length", "etag", "cache-control"] {
            assert_eq!(head.header(header), get.header(header), "{path}: {header}");
        }
    }
    let missing = Answer::of(applicant.request(Method::HEAD, &format!("requests/{}", Uuid::new_v4()))).await;
    assert_eq!((missing.status.as_u16(), missing.text.as_str()), (404, ""));
    app.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_query_is_known_to_the_letter() {
    let app = App::start().await;
    let applicant = app.applicant().await;
    for _ in 0..3 {
        applicant.create("A printer").await;
    }
    let other_list = app.admin.read("members?limit=1").await.body["next_cursor"].as_str().unwrap().to_owned();
    let cursor = applicant.read("requests?limit=1&view=mine").await.body["next_cursor"].as_str().unwrap().to_owned();
    let bad = [
        "unknown=1",
        "Limit=1",
        "limit=1&limit=1",
        "view=mine&view=mine",
        "limit=0",
        "limit=201",
        "limit=-1",
        "limit=x",
        "limit=",
        "limit=1.0",
        "limit=%2b1",
        "limit=99999999999999999999",
        "view=",
        "view=everything",
        "view=MINE",
        "status=",
        "status=done",
        "status=draft,pending",
        "applicant_id=",
        "applicant_id=x",
        "applicant_id=%00",
        "q=",
        "q",
        "q=%00",
        "q=a%00b",
        "q=%ff",
        "q=%ed%a0%80",
        "%00=1",
        "%ff=1",
        "cursor=",
        "cursor=x",
        "cursor=AAAA",
        "cursor=%00",
        "cursor=....",
        "updated_since=",
        "updated_since=yesterday",
        "updated_since=2026-11-30",
        "updated_since=2026-11-30T09:00:00",
        "updated_since=2026-11-30%2009:00:00Z",
        "updated_since=2026-11-30T09:00:00+09:00",
        "updated_since=-5000-01-01T00:00:00Z",
        "updated_since=%2b12026-01-01T00:00:00Z",
        "updated_since=0000-01-01T00:00:00Z",
        "updated_since=9999-12-31T23:59:59Z",
        "updated_since=2026-06-30T23:59:60Z",
        "updated_since=2026-02-30T00:00:00Z",
        "updated_since=2026-11-30T24:00:00Z",
        "updated_since=1764493200",
        "updated_since=infinity",
        "updated_since=%20%202026-11-30T09:00:00Z",
    ]
    .map(str::to_owned);
    let cursors = [
        format!("cursor={cursor}"),
        format!("view=all&cursor={cursor}"),
        format!("view=mine&status=draft&cursor={cursor}"),
        format!("view=mine&cursor={other_list}"),
        format!("view=mine&cursor={cursor}A"),
        format!("view=mine&cursor={cursor}="),
        format!("view=mine&cursor={}", &cursor[..cursor.len() - 4]),
        format!("q={}", "x".repeat(201)),
    ];
    for query in bad.into_iter().chain(cursors) {
        refused(&app, &query, applicant.read(&format!("requests?{query}")), (400, "invalid_query")).await;
    }
    let good = applicant.read(&format!("requests?view=mine&limit=2&cursor={cursor}")).await.expect_status(200);
    assert_eq!(good.body["items"].as_array().unwrap().len(), 2, "another limit goes on from the same place");
    for fine in [
        "updated_since=2026-11-30T09:00:00%2B09:00",
        "updated_since=1970-01-01T00:00:00.000000Z",
        "limit=200",
        "limit=1&",
    ] {
        applicant.read(&format!("requests?{fine}")).await.expect_status(200);
    }
    app.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn each_call_has_its_own_parameters_and_a_write_none() {
    let app = App::start().await;
    let applicant = app.applicant().await;
    let path = format!("requests/{}", id_of(&applicant.create("A printer").await));
    applicant.create("Another printer").await;
    let cursor = applicant.read("requests?limit=1").await.body["next_cursor"].as_str().unwrap().to_owned();
    for (path, query) in [
        ("/api/v1/me".to_owned(), "x=1"),
        ("requests/counts".to_owned(), "view=mine"),
        (path.clone(), "limit=1"),
        (format!("{path}/history"), "view=mine"),
        (format!("{path}/history"), "cursor=x"),
        (format!("{path}/history"), "limit=0"),
        (format!("{path}/versions/1"), "x"),
        ("members".to_owned(), "q=x"),
    ] {
        refused(&app, &path, app.admin.read(&format!("{path}?{query}")), (400, "invalid_query")).await;
    }
    let list = format!("members?cursor={cursor}");
    refused(&app, &list, app.admin.read(&list), (400, "invalid_query")).await;
    let write = applicant.post("requests?dry_run=true", content(&json!({})));
    refused(&app, "a query on a write", write, (400, "invalid_query")).await;
    app.stop().await;
}

/// What is no HTTP ends before any of our words: the server's own 400 or 431, and the connection.
#[tokio::test(flavor = "multi_thread")]
async fn a_head_that_is_no_http_is_no_fault_of_ours() {
    let app = App::start().await;
    let applicant = app.applicant().await;
    let twice = format!("{JSON}Content-Length: 2\r\nContent-Length: 3\r\n");
    let both = format!("{JSON}Content-Length: 2\r\nTransfer-Encoding: chunked\r\n");
    let long = format!("X-Long: {}\r\n", "x".repeat(1 << 20));
    for (what, bytes) in [
        ("garbage", "\u{0}\u{1}\u{2}\r\n\r\n".to_owned()),
        ("NUL in a key", head(&applicant, "POST", "requests", "Idempotency-Key: a\u{0}b\r\n")),
        ("two lengths", head(&applicant, "POST", "requests", &twice) + "{}"),
        ("length and chunks", head(&applicant, "POST", "requests", &both) + "0\r\n\r\n"),
        ("no length", head(&applicant, "POST", "requests", "Content-Length: -1\r\n")),
        ("a long head", head(&applicant, "GET", "requests", &long)),
        ("a long path", head(&applicant, "GET", &"x".repeat(1 << 20), "")),
        ("a space in the path", head(&applicant, "GET", "requests?q=a b", "")),
    ] {
        let before = app.everything().await;
        let mut stream = connect(&app).await;
        // The server may end the connection before it has read all of it.
        let _ = stream.write_all(bytes.as_bytes()).await;
        let mut answer = Vec::new();
        let _ = tokio::time::timeout(PATIENCE, stream.read_to_end(&mut answer)).await.expect(what);
        let status = String::from_utf8_lossy(&answer[..answer.len().min(12)]).into_owned();
        assert!(status.is_empty() || status.starts_with("HTTP/1.1 4"), "{what}: {status}");
        assert_eq!(app.everything().await, before, "{what}");
    }
    app.stop().await;
}

/// Each call breaks two neighbouring rules, and must be told of the first.
#[tokio::test(flavor = "multi_thread")]
async fn checks_come_in_the_promised_order() {
    let app = App::start().await;
    let (applicant, approver, plain) =
        (app.applicant().await, app.approver().await, app.member("Emi Plain", false, false).await);
    let stranger = with_token(&applicant, "x");
    let outsider = app.outsider();
    let pending = applicant.submitted("A printer").await;
    let draft = applicant.create("A draft").await;
    let own = approver.submitted("My own chair").await;
    let own_draft = approver.create("My own draft").await;
    let returned = applicant.submitted("To be returned").await;
    let returned = approver.act(&returned, "send-back", Some("Which one?")).await.expect_status(200).body;
    let at = |request: &Value, action: &str| format!("requests/{}/{action}", id_of(request));
    let old = json!({"version": 1});
    let now = json!({"version": 2});

    let anybody = at(&pending, "approve");
    refused(&app, "no token, no body", post_text(&stranger, &anybody, "{"), (401, "unauthenticated")).await;
    refused(&app, "no token, bad path", stranger.read("requests/1?x=1"), (401, "unauthenticated")).await;
    refused(&app, "bad body, no member", post_text(&outsider, &anybody, "{"), (400, "malformed_json")).await;
    refused(&app, "unknown name, no member", outsider.post(&anybody, json!({"x": 1})), (422, "unknown_field")).await;
    refused(&app, "no version, no member", outsider.post(&anybody, json!({})), (422, "version_required")).await;
    refused(
        &app,
        "unknown name, wrong type",
        applicant.post(&anybody, json!({"x": 1, "version": "1"})),
        (422, "unknown_field"),
    )
    .await;
    refused(&app, "wrong type, no version", applicant.post(&anybody, json!({"reason": 1})), (422, "validation_failed"))
        .await;

    applicant.post_with_key("k", "requests", json!({"title": "x"})).await.expect_status(201);
    let path = at(&pending, "submit");
    let reused = outsider.post_with_key("k", &path, old.clone());
    refused(&app, "no member, key reused", reused, (403, "not_a_member")).await;
    let nowhere = format!("requests/{}/submit", Uuid::new_v4());
    let reused = applicant.post_with_key("k", &nowhere, old.clone());
    refused(&app, "key reused, not there", reused, (422, "idempotency_key_reused")).await;

    refused(&app, "not to be seen, old version", plain.post(&anybody, old.clone()), (404, "not_found")).await;
    refused(
        &app,
        "old version, no such action",
        approver.post(&at(&pending, "submit"), old.clone()),
        (409, "request_changed"),
    )
    .await;
    refused(
        &app,
        "old version, self approval",
        approver.post(&at(&own, "approve"), old.clone()),
        (409, "request_changed"),
    )
    .await;
    refused(
        &app,
        "no such action, not his",
        approver.post(&at(&pending, "submit"), now.clone()),
        (409, "invalid_transition"),
    )
    .await;
    refused(&app, "no such action, self approval", approver.approve(&own_draft), (409, "invalid_transition")).await;
    refused(&app, "not his, bad reason", app.admin.act(&pending, "reject", Some("")), (403, "forbidden")).await;
    refused(&app, "self approval, no reason", approver.act(&own, "reject", None), (403, "self_approval_forbidden"))
        .await;
    refused(&app, "self approval, no right", applicant.approve(&pending), (403, "self_approval_forbidden")).await;
    refused(&app, "not his, bad reason", approver.act(&pending, "withdraw", Some("")), (403, "forbidden")).await;
    let edit = |version: i64| content(&json!({"version": version, "title": ""}));
    let path = |request: &Value| format!("requests/{}", id_of(request));
    refused(&app, "old version, bad content", applicant.put(&path(&draft), edit(7)), (409, "request_changed")).await;
    refused(&app, "no such action, bad content", applicant.put(&path(&pending), edit(2)), (409, "invalid_transition"))
        .await;
    refused(&app, "not his, bad content", approver.put(&path(&returned), edit(3)), (403, "forbidden")).await;
    refused(&app, "content last", applicant.put(&path(&draft), edit(version_of(&draft))), (422, "validation_failed"))
        .await;
    app.check_invariants().await;
    app.stop().await;
}

/// Bytes changed at random: refused or understood, but never a fault of ours.
#[tokio::test(flavor = "multi_thread")]
async fn no_bytes_make_a_fault_of_ours() {
    let app = App::start().await;
    let (applicant, approver) = (app.applicant().await, app.approver().await);
    let pending = applicant.submitted("A printer").await;
    let (mut state, mut met) = (0x2545_f491_4f6c_dd1d_u64, std::collections::BTreeMap::new());
    let mut random = move |below: usize| {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        usize::try_from(state >> 33).unwrap() % below
    };
    let interesting = b"\x00\xff\xed{}[]\",:\\u0e-9.\x80\xf0 \n";
    for round in 0..300 {
        let (person, path, body) = match round % 3 {
            0 => (&applicant, "requests".to_owned(), content(&json!({"title": "\u{1F600}稟\\\u{0}"}))),
            1 => (&approver, format!("requests/{}/reject", id_of(&pending)), json!({"version": 1, "reason": "no\n"})),
            _ => (
                &app.admin,
                "members".to_owned(),
                json!({"user_id": Uuid::new_v4(), "display_name": "x",
                   "is_active": true, "can_approve": false, "is_admin": false}),
            ),
        };
        let mut bytes = body.to_string().into_bytes();
        for _ in 0..=random(3) {
            let at = random(bytes.len());
            match random(3) {
                0 => bytes[at] = interesting[random(interesting.len())],
                1 => bytes.insert(at, interesting[random(interesting.len())]),
                _ => drop(bytes.remove(at)),
            }
        }
        let answer = post_text(person, &path, bytes.clone()).await;
        assert!(!answer.status.is_server_error(), "{}: {}", String::from_utf8_lossy(&bytes), answer.text);
        *met.entry(answer.status.as_u16()).or_insert(0) += 1;
    }
    assert!(met.len() > 2, "the changes are of many kinds: {met:?}");
    app.check_invariants().await;
    app.stop().await;
}
