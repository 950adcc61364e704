//! Entity tags, caches, browsers of other origins, and the ids by which a call is found again in the log.

use crate::harness::{Answer, App, Person, id_of, settings};
use crate::wire::{head, send_bytes, with_token};
use reqwest::Method;
use serde_json::{Value, json};
use uuid::Uuid;

const ORIGIN: &str = "https://ringi.example";

async fn if_none_match(person: &Person, method: Method, path: &str, tags: &[&str]) -> Answer {
    let request = person.request(method, path);
    Answer::of(tags.iter().fold(request, |request, tag| request.header("if-none-match", *tag))).await
}

#[tokio::test(flavor = "multi_thread")]
async fn who_has_it_already_is_told_so_and_nothing_more() {
    let app = App::start().await;
    let applicant = app.applicant().await;
    let draft = applicant.create("A printer").await;
    for path in [
        "/api/v1/me".to_owned(),
        format!("requests/{}", id_of(&draft)),
        format!("requests/{}/versions/1", id_of(&draft)),
        format!("members/{}", applicant.id),
    ] {
        let person = if path.starts_with("members") { &app.admin } else { &applicant };
        let first = person.read(&path).await.expect_status(200);
        let tag = first.header("etag").to_owned();
        assert!(tag.starts_with('"') && tag.ends_with('"') && tag.len() > 20, "{tag}");
        let weak = format!("W/{tag}");
        let list = format!("\"other\", W/\"another\" ,{tag}");
        for known in [&[tag.as_str()][..], &[&weak], &[&list], &["*"], &["\"other\"", &tag]] {
            for method in [Method::GET, Method::HEAD] {
                let answer = if_none_match(person, method, &path, known).await.expect_status(304);
                assert_eq!((answer.text.as_str(), answer.header("etag")), ("", tag.as_str()), "{path} {known:?}");
                assert_eq!(answer.header("cache-control"), "private, no-cache");
                assert!(!answer.header("x-request-id").is_empty());
            }
        }
        let unquoted = tag.trim_matches('"');
        for other in [&["\"other\""][..], &[unquoted], &[""], &["W/*"]] {
            let answer = if_none_match(person, Method::GET, &path, other).await.expect_status(200);
            assert_eq!(answer.text, first.text, "{path} {other:?}");
        }
    }
    app.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn the_tag_changes_with_all_that_the_caller_is_shown() {
    let app = App::start().await;
    let (applicant, approver) = (app.applicant().await, app.approver().await);
    let pending = applicant.submitted("A printer").await;
    let path = format!("requests/{}", id_of(&pending));
    let tag = |answer: &Answer| answer.header("etag").to_owned();
    let seen = approver.read(&path).await;
    assert_ne!(tag(&seen), tag(&applicant.read(&path).await), "two callers may do different things");

    app.admin.change_member(approver.id, json!({"can_approve": false, "is_admin": true})).await.expect_status(200);
    let now = if_none_match(&approver, Method::GET, &path, &[&tag(&seen)]).await.expect_status(200);
    assert_eq!((&now.body["version"], &now.body["allowed_actions"]), (&seen.body["version"], &json!([])));
    app.admin.change_member(approver.id, json!({"can_approve": true})).await.expect_status(200);

    app.admin.change_member(applicant.id, json!({"display_name": "Aiko Renamed"})).await.expect_status(200);
    let renamed = if_none_match(&approver, Method::GET, &path, &[&tag(&seen)]).await.expect_status(200);
    assert_eq!(renamed.body["applicant_name"], "Aiko Renamed");
    let decided = approver.approve(&pending).await.expect_status(200);
    assert_ne!(tag(&decided), tag(&renamed));
    if_none_match(&approver, Method::GET, &path, &[&tag(&decided)]).await.expect_status(304);
    // A tag gives nobody what he may not see.
    if_none_match(&app.outsider(), Method::GET, &path, &["*"]).await.expect_problem(403, "not_a_member");
    let nothing = format!("requests/{}", Uuid::new_v4());
    if_none_match(&approver, Method::GET, &nothing, &["*"]).await.expect_problem(404, "not_found");
    app.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn no_cache_shares_an_answer() {
    let app = App::start().await;
    let applicant = app.applicant().await;
    let draft = applicant.create("A printer").await;
    let mut answers = vec![
        applicant.edit(&draft, "Two printers").await.expect_status(200),
        applicant.post("requests", json!({})).await.expect_status(422),
        app.outsider().get(&draft).await.expect_status(403),
        applicant.read("/nothing").await.expect_status(404),
    ];
    for path in ["/api/v1/me", "requests", "requests/counts"] {
        answers.push(applicant.read(path).await.expect_status(200));
    }
    for answer in answers {
        assert_eq!(answer.header("cache-control"), "private, no-cache", "{}", answer.text);
        assert_eq!(answer.header("x-content-type-options"), "nosniff");
    }
    app.stop().await;
}

async fn from_origin(person: &Person, method: Method, path: &str, origin: &str, body: Option<Value>) -> Answer {
    let request = person.request(method, path).header("origin", origin);
    Answer::of(match body {
        Some(body) => request.json(&body),
        None => request,
    })
    .await
}

async fn preflight(app: &App, origin: &str, method: &str, headers: &str) -> Answer {
    let url = format!("{}/api/v1/organizations/{}/requests", app.address, app.organization);
    let request = app.http.request(Method::OPTIONS, url).header("origin", origin);
    let request = request.header("access-control-request-method", method);
    Answer::of(request.header("access-control-request-headers", headers)).await
}

#[tokio::test(flavor = "multi_thread")]
async fn pages_of_a_known_origin_may_call_and_read_errors_too() {
    let mut settings = settings();
    settings.http.allowed_origins = vec![ORIGIN.to_owned()];
    let app = App::with(settings).await;
    let applicant = app.applicant().await;
    let draft = applicant.create("A printer").await;
    let unauthenticated = with_token(&applicant, "x");
    let path = format!("requests/{}", id_of(&draft));
    let answers = [
        from_origin(&applicant, Method::GET, &path, ORIGIN, None).await.expect_status(200),
        from_origin(&applicant, Method::POST, "requests", ORIGIN, Some(json!({"title": "x"}))).await.expect_status(201),
        from_origin(&applicant, Method::POST, "requests", ORIGIN, Some(json!({})))
            .await
            .expect_problem(422, "validation_failed"),
        from_origin(&unauthenticated, Method::GET, "requests", ORIGIN, None)
            .await
            .expect_problem(401, "unauthenticated"),
        from_origin(&app.outsider(), Method::GET, "requests", ORIGIN, None).await.expect_problem(403, "not_a_member"),
        from_origin(&applicant, Method::GET, "/nothing", ORIGIN, None).await.expect_problem(404, "not_found"),
        from_origin(&applicant, Method::DELETE, &path, ORIGIN, None).await.expect_problem(405, "method_not_allowed"),
    ];
    for answer in answers {
        assert_eq!(answer.header("access-control-allow-origin"), ORIGIN, "{}", answer.text);
        let exposed = answer.header("access-control-expose-headers").to_lowercase();
        for header in ["etag", "location", "retry-after", "idempotency-replayed", "x-request-id"] {
            assert!(
                exposed.split(", ").flat_map(|part| part.split(',')).any(|name| name == header),
                "{header}: {exposed}"
            );
        }
        assert!(answer.header("vary").to_lowercase().contains("origin"), "{}", answer.header("vary"));
    }
    let wanted = "authorization,content-type,idempotency-key,if-none-match,x-request-id,traceparent";
    for method in ["GET", "POST", "PUT", "DELETE"] {
        let allowed = preflight(&app, ORIGIN, method, wanted).await;
        assert!(allowed.status.is_success(), "{}", allowed.text);
        assert_eq!(allowed.header("access-control-allow-origin"), ORIGIN);
        assert!(allowed.header("access-control-allow-methods").contains(method));
        let headers = allowed.header("access-control-allow-headers").to_lowercase();
        assert!(wanted.split(',').all(|name| headers.contains(name)), "{headers}");
    }
    for (origin, method, headers) in [
        ("https://evil.example", "GET", "authorization"),
        (ORIGIN, "PATCH", "authorization"),
        (ORIGIN, "GET", "x-evil"),
    ] {
        let refused = preflight(&app, origin, method, headers).await.expect_problem(403, "forbidden");
        assert_eq!(refused.header("access-control-allow-headers"), "", "{origin} {method} {headers}");
    }
    app.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn pages_of_other_origins_are_told_nothing() {
    for allowed in [vec![], vec![ORIGIN.to_owned()]] {
        let mut settings = settings();
        settings.http.allowed_origins = allowed;
        let app = App::with(settings).await;
        let applicant = app.applicant().await;
        for origin in ["https://evil.example", "https://ringi.example.evil.example", "http://ringi.example", "null"] {
            // The browser keeps it from the page, since nothing allows the page to read it.
            let read = from_origin(&applicant, Method::GET, "requests", origin, None).await;
            let refused = preflight(&app, origin, "POST", "authorization").await.expect_problem(403, "forbidden");
            let failed = from_origin(&applicant, Method::GET, "requests?limit=0", origin, None).await;
            for answer in [read, refused, failed.expect_problem(400, "invalid_query")] {
                assert!(
                    answer.headers.keys().all(|name| !name.as_str().starts_with("access-control-")),
                    "{origin}: {answer:?}"
                );
            }
        }
        app.stop().await;
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_sane_request_id_is_taken_over_and_any_other_is_replaced() {
    let app = App::start().await;
    let applicant = app.applicant().await;
    let longest = "x".repeat(128);
    for sane in ["a", "order-42:step_1.retry", &longest] {
        for path in ["/api/v1/me", "/nothing", "requests?limit=0"] {
            let answer = Answer::of(applicant.request(Method::GET, path).header("x-request-id", sane)).await;
            assert_eq!(answer.header("x-request-id"), sane);
            if !answer.status.is_success() {
                assert_eq!(answer.body["request_id"], sane);
            }
        }
    }
    let mut made = std::collections::BTreeSet::new();
    for odd in ["", "a b", "a/b", "<script>", "{}", "稟議", &"x".repeat(129)] {
        let value = reqwest::header::HeaderValue::from_bytes(odd.as_bytes()).unwrap();
        let answer = Answer::of(applicant.request(Method::GET, "/nothing").header("x-request-id", value)).await;
        let id = answer.expect_problem(404, "not_found").header("x-request-id").to_owned();
        assert!(id.parse::<Uuid>().is_ok(), "{odd} became {id}");
        made.insert(id);
    }
    assert_eq!(made.len(), 7, "each call has an id of its own");
    app.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_traceparent_is_accepted_and_a_broken_one_does_no_harm() {
    let app = App::start().await;
    let applicant = app.applicant().await;
    for traceparent in [
        "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01",
        "00-00000000000000000000000000000000-0000000000000000-00",
        "garbage",
        "",
        "---",
        "\u{ff}",
    ] {
        let lines = format!("traceparent: {traceparent}\r\ntracestate: a=1\r\n");
        send_bytes(&app, head(&applicant, "GET", "requests", &lines).as_bytes()).await.expect_status(200);
    }
    app.stop().await;
}
