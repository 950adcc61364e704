//! Who is asking, over HTTP: a token says who, and only an active membership lets anybody in.

use crate::harness::{Answer, App, SECRET, id_of};
use crate::wire::{refused, with_token, without_ids};
use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use chrono::Utc;
use jsonwebtoken::{Algorithm, EncodingKey, Header, encode};
use reqwest::Method;
use serde_json::{Value, json};
use uuid::Uuid;

fn signed(algorithm: Algorithm, key: &[u8], claims: &Value) -> String {
    encode(&Header::new(algorithm), claims, &EncodingKey::from_secret(key).unwrap()).unwrap()
}

fn unsigned(claims: &Value, algorithm: &str) -> String {
    let part = |value: &Value| URL_SAFE_NO_PAD.encode(value.to_string());
    format!("{}.{}.", part(&json!({"alg": algorithm, "typ": "JWT"})), part(claims))
}

#[tokio::test(flavor = "multi_thread")]
async fn a_token_that_is_not_good_lets_nobody_in() {
    let app = App::start().await;
    let applicant = app.applicant().await;
    let draft = applicant.create("A printer").await;
    let now = Utc::now().timestamp();
    let claims = |changes: Value| {
        let mut claims = json!({"sub": applicant.id, "iat": now, "exp": now + 600});
        for (name, value) in changes.as_object().unwrap() {
            claims[name] = value.clone();
        }
        claims
    };
    let hs256 = |changes: Value| signed(Algorithm::HS256, SECRET.as_bytes(), &claims(changes));
    let good = hs256(json!({}));
    let cut = &good[..good.len() - 4];
    for (what, token) in [
        ("garbage", "garbage".to_owned()),
        ("a cut signature", cut.to_owned()),
        ("expired", hs256(json!({"iat": now - 600, "exp": now - 60}))),
        ("not yet", hs256(json!({"nbf": now + 60}))),
        ("from the future", hs256(json!({"iat": now + 60}))),
        ("no end", signed(Algorithm::HS256, SECRET.as_bytes(), &json!({"sub": applicant.id, "iat": now}))),
        ("an end far away", hs256(json!({"exp": now + 100 * 86_400}))),
        ("another key", signed(Algorithm::HS256, b"another key of thirty-two bytes!!", &claims(json!({})))),
        ("another algorithm", signed(Algorithm::HS512, SECRET.as_bytes(), &claims(json!({})))),
        ("none", unsigned(&claims(json!({})), "none")),
        ("None", unsigned(&claims(json!({})), "None")),
        ("HS256 without a signature", unsigned(&claims(json!({})), "HS256")),
        ("nobody", hs256(json!({"sub": ""}))),
        ("a name", hs256(json!({"sub": "aiko"}))),
        ("a number", hs256(json!({"sub": 7}))),
        ("very long", hs256(json!({"padding": "x".repeat(9_000)}))),
    ] {
        let person = with_token(&applicant, token);
        for answer in [
            refused(&app, what, person.get(&draft), (401, "unauthenticated")).await,
            refused(&app, what, person.act(&draft, "submit", None), (401, "unauthenticated")).await,
            refused(&app, what, person.read("/api/v1/me"), (401, "unauthenticated")).await,
            refused(&app, what, person.read("members"), (401, "unauthenticated")).await,
        ] {
            assert_eq!(answer.header("www-authenticate"), "Bearer realm=\"ringi\", error=\"invalid_token\"", "{what}");
            assert!(
                !answer.text.contains("signature") && !answer.text.contains("expired"),
                "it tells too much: {}",
                answer.text
            );
        }
    }
    for fine in [
        good.clone(),
        hs256(json!({"iat": now - 600, "exp": now - 10})),
        hs256(json!({"aud": "somebody", "roles": ["admin"]})),
    ] {
        with_token(&applicant, fine).get(&draft).await.expect_status(200);
    }
    app.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_token_is_one_bearer_header_and_nothing_else() {
    let app = App::start().await;
    let applicant = app.applicant().await;
    let url = format!("{}/api/v1/me", app.address);
    let call = |headers: Vec<String>| {
        let request = app.http.request(Method::GET, &url);
        Answer::of(headers.iter().fold(request, |request, value| request.header("authorization", value)))
    };
    let token = &applicant.token;
    for headers in [
        vec![],
        vec![String::new()],
        vec![token.clone()],
        vec!["Bearer".to_owned()],
        vec![format!("Basic {token}")],
        vec![format!("Bearer {token}"), format!("Bearer {token}")],
    ] {
        let answer = refused(&app, &format!("{headers:?}"), call(headers.clone()), (401, "unauthenticated")).await;
        // Who sent no token made no mistake with one (RFC 6750, 3.1).
        assert_eq!(answer.header("www-authenticate"), "Bearer realm=\"ringi\"");
    }
    let by_query = Answer::of(app.http.get(format!("{url}?access_token={token}"))).await;
    by_query.expect_problem(401, "unauthenticated");
    for scheme in ["Bearer", "bearer", "BEARER"] {
        call(vec![format!("{scheme} {token}")]).await.expect_status(200);
    }
    app.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn who_is_no_active_member_is_told_the_same_words_whatever_the_reason() {
    let app = App::start().await;
    let applicant = app.applicant().await;
    let pending = applicant.submitted("A printer").await;
    let deactivated = app.member("Dai Deactivated", true, true).await;
    app.admin.change_member(deactivated.id, json!({"is_active": false})).await.expect_status(200);
    let elsewhere = Uuid::new_v4();
    app.create_organization(elsewhere, deactivated.id).await;

    let nobody = [
        app.outsider(),
        deactivated.clone(),
        applicant.in_organization(Uuid::new_v4()),
        applicant.in_organization(elsewhere),
    ];
    let id = id_of(&pending);
    let member = json!({"display_name": "X", "is_active": true, "can_approve": true, "is_admin": true, "version": 1});
    let mut new_member = member.clone();
    new_member.as_object_mut().unwrap().remove("version");
    new_member["user_id"] = json!(Uuid::new_v4());
    let edit = json!({"version": 2, "title": "x", "description": "", "amount": null, "currency": null});
    for (method, path, body) in [
        (Method::GET, "requests".to_owned(), Value::Null),
        (Method::GET, "requests/counts".to_owned(), Value::Null),
        (Method::GET, format!("requests/{id}"), Value::Null),
        (Method::GET, format!("requests/{id}/history"), Value::Null),
        (Method::GET, format!("requests/{id}/versions/1"), Value::Null),
        (Method::GET, "members".to_owned(), Value::Null),
        (Method::GET, format!("members/{}", applicant.id), Value::Null),
        (Method::POST, "requests".to_owned(), json!({"title": "x"})),
        (Method::POST, "requests".to_owned(), json!({"title": ""})),
        (Method::PUT, format!("requests/{id}"), edit),
        (Method::POST, format!("requests/{id}/submit"), json!({"version": 2})),
        (Method::POST, format!("requests/{id}/approve"), json!({"version": 2})),
        (Method::POST, format!("requests/{id}/reject"), json!({"version": 2, "reason": "no"})),
        (Method::POST, format!("requests/{id}/send-back"), json!({"version": 2, "reason": "no"})),
        (Method::POST, format!("requests/{id}/withdraw"), json!({"version": 2})),
        (Method::POST, "members".to_owned(), new_member),
        (Method::PUT, format!("members/{}", applicant.id), member),
    ] {
        let mut told = Vec::new();
        for person in &nobody {
            let request = person.request(method.clone(), &path);
            let request = if body.is_null() { request } else { request.json(&body).header("idempotency-key", "k") };
            let answer = refused(&app, &format!("{method} {path}"), Answer::of(request), (403, "not_a_member")).await;
            told.push(without_ids(&answer, &[]));
        }
        assert!(told.iter().all(|answer| *answer == told[0]), "{method} {path}: {told:#?}");
    }
    // He is told so himself, and may ask who he is.
    let me = deactivated.read("/api/v1/me").await.expect_status(200).body;
    let here = me["memberships"].as_array().unwrap().iter().find(|m| m["organization_id"] == json!(app.organization));
    assert_eq!(here.unwrap()["is_active"], false);
    assert_eq!(app.outsider().read("/api/v1/me").await.expect_status(200).body["memberships"], json!([]));
    app.check_invariants().await;
    app.stop().await;
}
