//! The document against the routes and against what a real server answers.

use super::read;
use super::schema::breaks;
use crate::charges::{charge, correct, correction};
use crate::closing::{close, ended, planted, start};
use crate::harness::{Answer, App, Person, id_of, version_of};
use crate::outside::{Mood, Outside, approved, path, until_state};
use crate::post_office::{sending_to, wish};
use crate::webhooks;
use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use reqwest::Method;
use ringi::domain::ids::{OrganizationId, UserId};
use ringi::domain::mail::{LinkKey, MailKind, MailLink, Purpose};
use ringi::http::problem::Code;
use serde_json::{Value, json};
use sha2::{Digest, Sha256};
use std::collections::BTreeSet;
use uuid::Uuid;

fn document() -> Value {
    serde_json::from_str(ringi::http::openapi::json()).unwrap()
}

/// Every (method, path) with its operation.
fn operations(document: &Value) -> Vec<(String, String, Value)> {
    let paths = document["paths"].as_object().unwrap();
    paths
        .iter()
        .flat_map(|(path, methods)| {
            let methods = methods.as_object().unwrap();
            methods.iter().map(move |(method, operation)| (method.to_uppercase(), path.clone(), operation.clone()))
        })
        .collect()
}

/// What a value refers to.
fn resolve<'a>(document: &'a Value, value: &'a Value) -> &'a Value {
    match value["$ref"].as_str() {
        Some(reference) => document.pointer(&reference[1..]).unwrap_or_else(|| panic!("{reference} leads nowhere")),
        None => value,
    }
}

/// The routes, as the route table is written: resources, and resources within one scope.
fn routes() -> BTreeSet<(String, String)> {
    let source = read("src/http/mod.rs");
    let table = source.split_once("pub fn routes(").unwrap().1.split_once("\n}").unwrap().0;
    let (outer, rest) = table.split_once("web::scope(\"").unwrap();
    let (scope, rest) = rest.split_once('"').unwrap();
    let (inner, after) = rest.split_once("\n        )").unwrap();
    let mut routes = BTreeSet::new();
    for (scope, part) in [("", outer), (scope, inner), ("", after)] {
        for resource in part.split("resource!(\"").skip(1) {
            let (path, methods) = resource.split_once('"').unwrap();
            let methods = methods.split_once(')').unwrap().0.split([',', ' ']);
            for method in methods.filter(|word| !word.is_empty() && word.chars().all(char::is_uppercase)) {
                routes.insert((method.to_owned(), format!("{scope}{path}")));
            }
        }
    }
    let read = table.matches("resource!(").count() + table.matches("web::scope(").count();
    assert_eq!(table.matches(".service(").count(), read, "a service that this reader does not know");
    assert_eq!(table.matches("web::scope(").count(), 1, "this reader knows one scope");
    routes
}

#[test]
fn every_route_is_documented_and_every_documented_operation_is_a_route() {
    let documented: BTreeSet<_> = operations(&document()).into_iter().map(|(method, path, _)| (method, path)).collect();
    let routes = routes();
    assert!(routes.len() > 20, "{routes:?}");
    let undocumented: Vec<_> = routes.difference(&documented).collect();
    let unknown: Vec<_> = documented.difference(&routes).collect();
    assert!(undocumented.is_empty() && unknown.is_empty(), "undocumented: {undocumented:?}, no route: {unknown:?}");
}

#[test]
fn every_code_is_documented_where_it_can_be_met() {
    let document = document();
    let mut used = BTreeSet::new();
    for (method, path, operation) in operations(&document) {
        for (status, response) in operation["responses"].as_object().unwrap() {
            let schema = &resolve(&document, response)["content"]["application/problem+json"]["schema"];
            for code in schema["properties"]["code"]["enum"].as_array().into_iter().flatten() {
                let code = Code::ALL.iter().find(|known| known.as_str() == code).unwrap();
                assert_eq!(code.status().to_string(), *status, "{method} {path} {code:?}");
                used.insert(code.as_str());
            }
        }
    }
    assert_eq!(used, Code::ALL.iter().map(|code| code.as_str()).collect());
}

#[test]
fn operation_ids_are_unique_and_references_lead_somewhere() {
    let document = document();
    let ids: Vec<_> =
        operations(&document).iter().map(|(.., o)| o["operationId"].as_str().unwrap().to_owned()).collect();
    assert_eq!(ids.iter().collect::<BTreeSet<_>>().len(), ids.len(), "{ids:?}");
    let text = ringi::http::openapi::json();
    for (at, _) in text.match_indices("\"#/") {
        let reference = text[at + 2..].split_once('"').unwrap().0;
        assert!(document.pointer(reference).is_some(), "{reference} leads nowhere");
    }
    for (path, _) in document["paths"].as_object().unwrap() {
        let braces = path.matches('{').count();
        for (method, p, operation) in operations(&document).iter().filter(|(_, p, _)| p == path) {
            let named = operation["parameters"].as_array().unwrap().iter().map(|p| resolve(&document, p));
            assert_eq!(named.filter(|p| p["in"] == "path").count(), braces, "{method} {p}");
        }
    }
}

#[test]
fn the_page_names_every_operation_and_needs_nothing_from_elsewhere() {
    let html = ringi::http::openapi::html();
    for (_, path, operation) in operations(&document()) {
        assert!(html.contains(&format!("id=\"{}\"", operation["operationId"].as_str().unwrap())), "{path}");
    }
    for code in Code::ALL {
        assert!(html.contains(code.as_str()), "{code:?}");
    }
    for (at, _) in html.match_indices("href=\"#") {
        let id = html[at + 7..].split_once('"').unwrap().0;
        assert!(html.contains(&format!("id=\"{id}\"")), "#{id} leads nowhere");
    }
    for foreign in ["<script", "src=", "style=\"", "http://", "@import", "url("] {
        assert!(!html.contains(foreign), "{foreign}");
    }
}

/// Without a token, what is known says 401 (or answers, when it is public), and what is not known says 404.
#[tokio::test(flavor = "multi_thread")]
async fn every_documented_operation_is_served_and_asks_for_a_token_unless_it_is_public() {
    let app = App::start().await;
    let (document, id) = (document(), Uuid::nil().to_string());
    let filled = |path: &str| {
        let with_version = path.replace("{version}", "1").replace("{period}", "2024-10");
        with_version
            .split('{')
            .map(|part| part.split_once('}').map_or(part.to_owned(), |(_, rest)| format!("{id}{rest}")))
            .collect::<String>()
    };
    for (method, path, operation) in operations(&document) {
        let url = format!("{}{}", app.address, filled(&path));
        let answer = Answer::of(app.http.request(method.parse().unwrap(), url)).await;
        let public = operation["security"] == json!([]);
        // No demo was asked for here: signing in to it is not there. Of a mail's link without a link there is nothing.
        let expected = if path.ends_with("/sign-in/demo") || path.starts_with("/mail/") {
            404
        } else if public {
            200
        } else {
            401
        };
        assert_eq!(answer.status, expected, "{method} {path}: {}", answer.text);
        held(&document, &method, &path, &answer);
    }
    let nowhere = Answer::of(app.http.get(format!("{}/api/v1/nowhere", app.address))).await;
    nowhere.expect_problem(404, "not_found");
    let answer = Answer::of(app.http.get(format!("{}/docs", app.address))).await.expect_status(200);
    let style = answer.text.split_once("<style>").unwrap().1.split_once("</style>").unwrap().0;
    let hash = STANDARD.encode(Sha256::digest(style));
    let policy = answer.header("content-security-policy");
    assert!(policy.contains(&format!("style-src 'sha256-{hash}'")) && !policy.contains("unsafe"), "{policy}");
    app.stop().await;
}

/// Holds an answer against the operation's document: status, media type, headers and body.
#[track_caller]
fn held(document: &Value, method: &str, path: &str, answer: &Answer) {
    let operation = &document["paths"][path][method.to_lowercase()];
    assert!(operation.is_object(), "{method} {path} is not documented");
    let status = answer.status.as_u16().to_string();
    let response = resolve(document, &operation["responses"][status.as_str()]);
    assert!(response.is_object(), "{method} {path} does not document {status}: {}", answer.text);
    for name in response["headers"].as_object().into_iter().flatten().map(|(name, _)| name) {
        let sometimes = ["Content-Disposition", "Idempotency-Replayed", "Retry-After"].contains(&name.as_str());
        assert!(sometimes || !answer.header(name).is_empty(), "{method} {path} {status}: {name} is missing");
    }
    let media = answer.header("content-type").split(';').next().unwrap();
    let Some(contents) = response["content"].as_object() else {
        assert_eq!((media, answer.text.as_str()), ("", ""), "{method} {path} {status}");
        return;
    };
    let content = contents.get(media).unwrap_or_else(|| panic!("{method} {path} {status}: {media} is not documented"));
    if media.ends_with("json") {
        let broken = breaks(document, &content["schema"], &answer.body);
        assert!(broken.is_empty(), "{method} {path} {status}: {broken:#?}\n{}", answer.text);
    }
}

async fn look_at(admin: &Person, period: &str) -> Answer {
    admin.read(&format!("closings/{period}")).await
}

/// The same about mail, of which only who sends mail says more than no.
#[tokio::test(flavor = "multi_thread")]
async fn what_is_answered_about_mail_is_what_is_documented() {
    let mut settings = sending_to("smtp://127.0.0.1:1?tls=none");
    settings.mail.confirmations_per_hour = 2;
    let (on, off, document) = (App::with(settings).await, App::start().await, document());
    let (own, again) = ("/api/v1/organizations/{org}/me/mail", "/api/v1/organizations/{org}/me/mail/confirmation");
    let (aiko, nobody) = (on.applicant().await, off.applicant().await);
    let mut bad = wish(&aiko, "en");
    bad["address"] = json!("nowhere");
    for (method, path, answer) in [
        ("GET", own, nobody.read("me/mail").await),
        ("PUT", own, nobody.put("me/mail", wish(&nobody, "en")).await),
        ("GET", own, aiko.read("me/mail").await),
        ("POST", again, aiko.post("me/mail/confirmation", json!({})).await.expect_status(409)),
        ("PUT", own, aiko.put("me/mail", bad).await.expect_status(422)),
        ("PUT", own, aiko.put("me/mail", wish(&aiko, "ja")).await.expect_status(200)),
        ("POST", again, aiko.post("me/mail/confirmation", json!({})).await.expect_status(200)),
        ("POST", again, aiko.post("me/mail/confirmation", json!({})).await.expect_status(429)),
        ("GET", own, aiko.read("me/mail").await.expect_status(200)),
    ] {
        held(&document, method, path, &answer);
    }
    let mut db = on.database.connect().await;
    let key: Vec<u8> = sqlx::query_scalar("SELECT link_key FROM mail_address").fetch_one(&mut db).await.unwrap();
    let key = LinkKey(key.try_into().unwrap());
    let (organization_id, user_id) = (OrganizationId(on.organization), UserId(aiko.id));
    for (path, purpose) in [
        ("/mail/confirm", Purpose::Confirm(i64::from(u32::MAX))),
        ("/mail/unsubscribe", Purpose::Unsubscribe(MailKind::Jobs)),
    ] {
        let token = MailLink { organization_id, user_id, purpose }.sign(&key);
        for method in [Method::GET, Method::POST] {
            let url = format!("{}{path}?token={token}", on.address);
            let answer = Answer::of(on.http.request(method.clone(), url)).await.expect_status(200);
            held(&document, method.as_str(), path, &answer);
        }
    }
    let now = aiko.read("me/mail").await.body;
    assert_eq!((&now["confirmed"], &now["jobs"]), (&json!(true), &json!(false)));
    on.stop().await;
    off.stop().await;
}

/// A walk through the calls: each answer, good or bad, is as documented.
#[tokio::test(flavor = "multi_thread")]
#[expect(clippy::too_many_lines, reason = "one call after another")]
async fn what_is_answered_is_what_is_documented() {
    let app = App::with(webhooks::hooked()).await;
    let document = document();
    let (aiko, ben) = (app.applicant().await, app.approver().await);
    let mut told = BTreeSet::new();
    let mut meet = |person: &Person, method: &str, template: &str, answer: Answer| {
        let path = match template.strip_prefix('/') {
            Some(_) => template.to_owned(),
            None => format!("/api/v1/organizations/{{org}}/{template}"),
        };
        held(&document, method, &path, &answer);
        told.insert(format!("{} {}", answer.status.as_u16(), answer.body["code"].as_str().unwrap_or("-")));
        assert!(answer.status != 500, "{}: {}", person.name, answer.text);
        answer.body
    };

    let content = json!({"title": "Desk", "description": "Oak", "amount": 12_000, "currency": "JPY"});
    let made = meet(&aiko, "POST", "requests", aiko.post("requests", content).await);
    let one = format!("requests/{}", id_of(&made));
    meet(&aiko, "GET", "/api/v1/me", aiko.read("/api/v1/me").await);
    for (template, path) in [
        ("requests", "requests?view=mine&status=draft&limit=1&q=oak".to_owned()),
        ("requests/counts", "requests/counts".to_owned()),
        ("requests/{id}", one.clone()),
        ("requests/{id}/history", format!("{one}/history")),
        ("requests/{id}/versions/{version}", format!("{one}/versions/1")),
        ("requests/{id}", format!("requests/{}", Uuid::nil())),
        ("requests/{id}", "requests/x".to_owned()),
        ("requests", "requests?limit=x".to_owned()),
        ("members", "members".to_owned()),
    ] {
        meet(&aiko, "GET", template, aiko.read(&path).await);
    }
    let etag = aiko.get(&made).await.header("etag").to_owned();
    let known = aiko.request(Method::GET, &one).header("If-None-Match", etag);
    meet(&aiko, "GET", "requests/{id}", Answer::of(known).await);

    let edited = meet(&aiko, "PUT", "requests/{id}", aiko.edit(&made, "Standing desk").await);
    meet(&aiko, "PUT", "requests/{id}", aiko.edit(&made, "Too late").await);
    meet(&aiko, "PUT", "requests/{id}", aiko.edit(&edited, "").await);
    meet(&ben, "POST", "requests/{id}/approve", ben.approve(&edited).await);
    meet(&aiko, "POST", "requests/{id}/approve", aiko.approve(&edited).await);
    let pending = meet(&aiko, "POST", "requests/{id}/submit", aiko.act(&edited, "submit", None).await);
    meet(&aiko, "POST", "requests/{id}/approve", aiko.approve(&pending).await);
    let action = |action: &'static str| (format!("requests/{{id}}/{action}"), format!("{one}/{action}"));
    let (template, path) = action("reject");
    for body in [json!({"version": 3}), json!({"reason": "no"}), json!({"version": 3, "x": 1}), json!({"version": "3"})]
    {
        meet(&ben, "POST", &template, ben.post(&path, body).await);
    }
    meet(&ben, "POST", &template, Answer::of(ben.request(Method::POST, &path).body("{}")).await);
    let broken = ben.request(Method::POST, &path).header("content-type", "application/json").body("[]");
    meet(&ben, "POST", &template, Answer::of(broken).await);
    let large = ben.request(Method::POST, &path).json(&json!({"version": 3, "reason": "x".repeat(2_000_000)}));
    meet(&ben, "POST", &template, Answer::of(large).await);
    let bad_key = ben.request(Method::POST, &path).header("Idempotency-Key", "a b").json(&json!({"version": 3}));
    meet(&ben, "POST", &template, Answer::of(bad_key).await);

    let (template, path) = action("send-back");
    let body = json!({"version": version_of(&pending), "reason": "Which one?"});
    let returned = meet(&ben, "POST", &template, ben.post_with_key("k", &path, body.clone()).await);
    let again = ben.post_with_key("k", &path, body).await;
    assert_eq!(again.header("idempotency-replayed"), "true");
    meet(&ben, "POST", &template, again);
    meet(&ben, "POST", &template, ben.post_with_key("k", &path, json!({"version": 9, "reason": "?"})).await);
    let (template, path) = action("withdraw");
    let body = json!({"version": version_of(&returned), "reason": null});
    meet(&ben, "POST", &template, ben.post(&path, body.clone()).await);
    meet(&aiko, "POST", &template, aiko.post(&path, body).await);
    for (decision, reason) in [("approve", None), ("reject", Some("No."))] {
        let request = aiko.submitted("Chair").await;
        meet(&ben, "POST", &format!("requests/{{id}}/{decision}"), ben.act(&request, decision, reason).await);
    }
    let approved = aiko.read("requests?status=approved").await.body["items"][0].clone();
    let processing = format!("requests/{}/processing", id_of(&approved));
    meet(&aiko, "POST", "requests/{id}/processing", aiko.post(&processing, json!({})).await);
    meet(&aiko, "GET", "requests/{id}/processing", aiko.read(&processing).await);
    let confirmation = "me/mail/confirmation";
    meet(&aiko, "POST", confirmation, aiko.post(confirmation, json!({})).await);
    let cancel = aiko.post(&format!("{processing}/cancel"), json!({})).await;
    meet(&aiko, "POST", "requests/{id}/processing/cancel", cancel);
    meet(&aiko, "GET", "requests", aiko.read("requests").await);
    meet(&ben, "GET", "requests/{id}/history", ben.read(&format!("{one}/history?limit=2")).await);

    let admin = &app.admin;
    meet(admin, "GET", "history", admin.read("history?kind=request&limit=3").await);
    meet(admin, "GET", "history", admin.read("history").await);
    meet(&aiko, "GET", "history", aiko.read("history").await);
    meet(
        admin,
        "GET",
        "history",
        Answer::of(admin.request(Method::GET, "history").header("Accept", "text/html")).await,
    );
    meet(admin, "GET", "history/verify", admin.read("history/verify").await);
    let verify = "requests/{id}/history/verify";
    meet(&aiko, "GET", verify, aiko.read(&format!("{one}/history/verify")).await);
    let person = json!({"user_id": Uuid::new_v4(), "display_name": "Chie", "is_active": true, "can_approve": false, "is_admin": false});
    let offer = json!({"display_name": "Emi", "can_approve": false, "is_admin": false});
    let offered = meet(admin, "POST", "invitations", admin.post("invitations", offer).await);
    meet(admin, "GET", "invitations", admin.read("invitations").await);
    let one = format!("invitations/{}", offered["id"].as_str().unwrap());
    meet(admin, "GET", "invitations/{invitation}", admin.read(&one).await);
    let (accept, token) = ("/api/v1/invitations/accept", json!({"token": offered["token"]}));
    for who in [&aiko, &app.outsider(), &app.outsider()] {
        meet(who, "POST", accept, who.post(accept, token.clone()).await);
    }
    let revoke = "invitations/{invitation}/revoke";
    meet(admin, "POST", revoke, admin.post(&format!("{one}/revoke"), json!({})).await);
    let pseudonym = format!("members/{}/pseudonymize", ben.id);
    let ben_now = admin.member(ben.id).await["version"].clone();
    meet(admin, "POST", "members/{user}/pseudonymize", admin.post(&pseudonym, json!({"version": ben_now})).await);

    for who in [admin, admin, &aiko, &app.outsider()] {
        meet(who, "POST", "members", who.post("members", person.clone()).await);
    }
    meet(admin, "GET", "members", admin.read("members?limit=2").await);
    meet(admin, "GET", "members/{user}", admin.read(&format!("members/{}", aiko.id)).await);
    meet(admin, "GET", "members/{user}", admin.read(&format!("members/{}", Uuid::nil())).await);
    let change = "members/{user}";
    meet(admin, "PUT", change, admin.change_member(aiko.id, json!({"display_name": "Aiko T."})).await);
    meet(admin, "PUT", change, admin.change_member(aiko.id, json!({"version": 1})).await);
    meet(admin, "PUT", change, admin.change_member(admin.id, json!({"is_admin": false})).await);

    let id = Uuid::new_v4();
    let new = charge(id, "2024-10-15T03:00:00Z", 1_200);
    for who in [admin, admin, &aiko] {
        meet(who, "POST", "charges", who.post("charges", new.clone()).await);
    }
    let refused = json!([new, charge(Uuid::new_v4(), "never", 1), 7]);
    meet(admin, "POST", "charges", admin.post("charges", refused).await);
    meet(admin, "POST", "charges", admin.post("charges", json!([])).await);
    meet(admin, "GET", "charges", admin.read("charges?period=2024-10&processed=false&limit=1").await);
    let (one, template) = (format!("charges/{id}"), "charges/{charge}");
    let seen = meet(admin, "GET", template, admin.read(&one).await);
    meet(admin, "PUT", template, correct(admin, id, json!({"amount": 5})).await);
    meet(admin, "PUT", template, admin.put(&one, correction(&seen, json!({}))).await);
    meet(&aiko, "GET", "statements", aiko.read("statements").await);
    meet(&aiko, "GET", "statements/{period}", aiko.read("statements/2024-10").await);
    let template = "closings/{period}";
    meet(admin, "GET", template, look_at(admin, "2024-10").await);
    meet(admin, "POST", template, start(admin, "2199-12").await);
    meet(admin, "POST", template, start(admin, "2024-10").await);
    ended(admin, "2024-10").await;
    meet(admin, "POST", template, start(admin, "2024-10").await);
    meet(admin, "GET", template, look_at(admin, "2024-10").await);
    meet(&aiko, "GET", "statements/{period}", aiko.read("statements/2024-10").await);
    meet(&aiko, "GET", "statements", aiko.read("statements").await);
    let spent = planted(&app, "2024-09", 5, "JPY", None).await;
    let bad = planted(&app, "2024-08", -5, "JPY", Some(spent)).await;
    close(admin, "2024-08").await;
    meet(admin, "GET", template, look_at(admin, "2024-08").await);
    let exclusion = json!({"charge_id": bad, "reason": "of September"});
    for _ in 0..2 {
        let excluded = admin.post("closings/2024-08/exclude", exclusion.clone()).await;
        meet(admin, "POST", "closings/{period}/exclude", excluded);
    }
    let template = "charges/{charge}";
    meet(admin, "PUT", template, correct(admin, id, json!({"amount": 6})).await);

    let (one, bare) = ("webhooks/{webhook}", App::start().await);
    meet(&bare.admin, "POST", "webhooks", bare.admin.post("webhooks", webhooks::named("http://192.0.2.1/")).await);
    bare.stop().await;
    for (who, url) in [(admin, "http://127.0.0.1:9/in"), (admin, "ftp://erp"), (&aiko, "http://127.0.0.1:9/in")] {
        meet(who, "POST", "webhooks", who.post("webhooks", webhooks::named(url)).await);
    }
    let hook = webhooks::add(&app, "http://127.0.0.1:9/in", &["request.approve"]).await;
    meet(admin, "GET", "webhooks", admin.read("webhooks?limit=1").await);
    meet(admin, "GET", one, admin.read(&webhooks::path(&hook, "")).await);
    meet(admin, "GET", "webhooks/{webhook}/deliveries", admin.read(&webhooks::path(&hook, "/deliveries")).await);
    let content = json!({"url": "http://127.0.0.1:9/out", "event_types": [], "version": 1});
    for _ in 0..2 {
        meet(admin, "PUT", one, admin.put(&webhooks::path(&hook, ""), content.clone()).await);
    }
    for (action, body) in [
        ("disable", json!({"version": 2})),
        ("enable", json!({"version": 3})),
        ("replay", json!({"version": 4, "from_position": 1})),
        ("replay", json!({"version": 5, "from_position": -1})),
        ("rotate-secret", json!({"version": 5, "overlap_hours": 1})),
        ("rotate-secret", json!({"version": 6, "overlap_hours": 169})),
    ] {
        let template = format!("{one}/{action}");
        meet(admin, "POST", &template, webhooks::post(&app, &hook, action, body).await);
    }
    for version in ["", "?version=x", "?version=1", "?version=6", "?version=6"] {
        let path = webhooks::path(&hook, version);
        meet(admin, "DELETE", one, Answer::of(admin.request(Method::DELETE, &path)).await);
    }
    while let answer = admin.post("webhooks", webhooks::named("http://127.0.0.1:9/in")).await
        && meet(admin, "POST", "webhooks", answer)["code"].is_null()
    {}

    // What this walk can't cause without a fault or a race has tests of its own.
    let elsewhere = [
        "request_timeout",
        "idempotency_in_progress",
        "method_not_allowed",
        "internal",
        "busy",
        "rate_limited",
        "outcome_unknown",
        "unauthenticated",
    ];
    for code in Code::ALL.iter().filter(|code| !elsewhere.contains(&code.as_str())) {
        let line = format!("{} {}", code.status(), code.as_str());
        assert!(told.contains(&line), "not met: {line}; met: {told:#?}");
    }
    app.check_invariants().await;
    app.stop().await;
}

/// The same for what needs an outside system.
#[tokio::test(flavor = "multi_thread")]
async fn what_is_answered_of_processing_is_what_is_documented() {
    let outside = Outside::start(Mood::Held).await;
    let app = App::with(outside.settings()).await;
    let document = document();
    let (aiko, request) = approved(&app, "Desk").await;
    let at = |rest: &str| format!("/api/v1/organizations/{{org}}/requests/{{id}}/processing{rest}");
    outside.until_asked(1).await;
    held(&document, "GET", &at(""), &aiko.read(&path(&request)).await.expect_status(200));
    held(&document, "POST", &at(""), &aiko.post(&path(&request), json!({})).await.expect_status(200));
    let cancel = format!("{}/cancel", path(&request));
    held(&document, "POST", &at("/cancel"), &aiko.post(&cancel, json!({})).await.expect_problem(403, "forbidden"));
    held(&document, "POST", &at("/cancel"), &app.admin.post(&cancel, json!({})).await.expect_status(200));
    outside.mood(Mood::Good);
    held(&document, "POST", &at(""), &aiko.post(&path(&request), json!({})).await.expect_status(202));
    until_state(&aiko, &request, "succeeded").await;
    held(&document, "GET", &at(""), &aiko.read(&path(&request)).await.expect_status(200));
    app.stop().await;
}
