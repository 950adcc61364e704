//! How often may be called: who pays, who doesn't, and that what is said about when to come back is true.

use crate::harness::{Answer, App, settings};
use crate::wire::{refused, with_token};
use reqwest::Method;
use ringi::config::Settings;
use serde_json::json;
use std::time::Duration;
use uuid::Uuid;

const LIMITED: (u16, &str) = (429, "rate_limited");

fn limited(change: impl FnOnce(&mut Settings)) -> Settings {
    let mut settings = settings();
    change(&mut settings);
    settings
}

/// How long the answer says to wait.
fn retry_after(answer: &Answer) -> Duration {
    Duration::from_secs(answer.header("retry-after").parse().unwrap())
}

#[tokio::test(flavor = "multi_thread")]
async fn a_person_has_a_burst_and_is_served_again_when_he_was_told() {
    let app = App::with(limited(|s| (s.limits.user_per_s, s.limits.user_burst) = (1, 3))).await;
    let (aiko, ben) = (app.applicant().await, app.outsider());
    for _ in 0..3 {
        aiko.read("requests").await.expect_status(200);
    }
    let body = json!({"title": "Too quick"});
    let told = refused(&app, "the fourth", aiko.post("requests", body.clone()), LIMITED).await;
    let wait = retry_after(&told);
    assert_eq!(wait, Duration::from_secs(1));
    // Another has his own; whose token is no good takes nothing from anybody.
    ben.read("/api/v1/me").await.expect_status(200);
    for _ in 0..5 {
        with_token(&aiko, format!("{}x", aiko.token)).read("requests").await.expect_problem(401, "unauthenticated");
    }
    tokio::time::sleep(wait).await;
    aiko.post("requests", body).await.expect_status(201);
    app.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn an_organization_pays_for_its_members_and_not_for_who_only_names_it() {
    let app = App::with(limited(|s| (s.limits.organization_per_s, s.limits.organization_burst) = (1, 20))).await;
    let (aiko, ben) = (app.applicant().await, app.approver().await);
    let elsewhere = Uuid::new_v4();
    app.create_organization(elsewhere, aiko.id).await;
    let outsider = app.outsider();
    for _ in 0..100 {
        outsider.read("requests").await.expect_problem(403, "not_a_member");
    }
    let mut served = 0;
    let told = loop {
        let by = if served % 2 == 0 { &aiko } else { &ben };
        let answer = by.read("requests").await;
        if answer.status == 429 {
            break answer;
        }
        answer.expect_status(200);
        served += 1;
        assert!(served < 1_000, "no limit");
    };
    // Two members were made before, one call is found to be too many only afterwards, and some seconds may have passed.
    assert!((17..=40).contains(&served), "{served}");
    refused(&app, "a write", aiko.post("requests", json!({"title": "x"})), LIMITED).await;
    aiko.in_organization(elsewhere).read("requests").await.expect_status(200);
    outsider.read("/api/v1/me").await.expect_status(200);
    tokio::time::sleep(retry_after(&told)).await;
    ben.read("requests").await.expect_status(200);
    app.stop().await;
}

/// A call without a token, as a proxy in front would send it for somebody.
async fn nobody(app: &App, path: &str, forwarded_for: &str) -> Answer {
    let request = app.http.request(Method::GET, format!("{}{path}", app.address));
    Answer::of(if forwarded_for.is_empty() { request } else { request.header("x-forwarded-for", forwarded_for) }).await
}

#[tokio::test(flavor = "multi_thread")]
async fn an_address_pays_for_calls_that_prove_nobody() {
    let app = App::with(limited(|s| (s.limits.address_per_s, s.limits.address_burst) = (1, 4))).await;
    let aiko = app.applicant().await;
    for path in ["/openapi.json", "/docs", "/api/v1/sign-in", "/metrics"] {
        nobody(&app, path, "").await.expect_status(200);
    }
    let told = nobody(&app, "/openapi.json", "").await.expect_problem(429, "rate_limited");
    for path in ["/", "/metrics", "/invitation", "/no/such/page"] {
        // Nobody is believed who says that he is somebody else.
        nobody(&app, path, "198.51.100.1").await.expect_problem(429, "rate_limited");
    }
    // Guessing tokens is no way around it.
    with_token(&aiko, "guess").read("requests").await.expect_problem(429, "rate_limited");
    // Balancers and people with a token are served, whatever their neighbours do.
    for _ in 0..10 {
        nobody(&app, "/health/live", "").await.expect_status(200);
        nobody(&app, "/health/ready", "").await.expect_status(200);
        aiko.read("requests").await.expect_status(200);
    }
    tokio::time::sleep(retry_after(&told)).await;
    nobody(&app, "/openapi.json", "").await.expect_status(200);
    app.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn behind_a_known_proxy_each_has_his_own_address() {
    let settings = limited(|s| {
        (s.limits.address_per_s, s.limits.address_burst) = (1, 2);
        s.limits.trusted_proxies = vec!["127.0.0.0/8".to_owned()];
    });
    let app = App::with(settings).await;
    for _ in 0..2 {
        nobody(&app, "/docs", "198.51.100.1").await.expect_status(200);
    }
    nobody(&app, "/docs", "198.51.100.1").await.expect_problem(429, "rate_limited");
    // What he writes himself stands before what the proxy adds.
    nobody(&app, "/docs", "203.0.113.9, 198.51.100.1").await.expect_problem(429, "rate_limited");
    nobody(&app, "/docs", "198.51.100.2").await.expect_status(200);
    app.stop().await;
}

/// Pages of other origins can read why they were refused.
#[tokio::test(flavor = "multi_thread")]
async fn a_page_of_another_origin_can_read_the_refusal() {
    let origin = "https://ringi.example";
    let settings = limited(|s| {
        (s.limits.address_per_s, s.limits.address_burst) = (1, 1);
        s.http.allowed_origins = vec![origin.to_owned()];
    });
    let app = App::with(settings).await;
    let call = async || {
        let request = app.http.request(Method::GET, format!("{}/api/v1/sign-in", app.address));
        Answer::of(request.header("origin", origin)).await
    };
    call().await.expect_status(200);
    let told = call().await.expect_problem(429, "rate_limited");
    assert_eq!(told.header("access-control-allow-origin"), origin);
    assert!(told.header("access-control-expose-headers").contains("retry-after"));
    app.stop().await;
}

/// People, as the program comes.
#[test]
fn the_defaults_are_on_and_name_what_is_served_at_least() {
    let limits = Settings::defaults().limits;
    assert!(limits.user_per_s >= 10 && limits.organization_per_s > limits.user_per_s && limits.address_per_s >= 10);
    assert!(limits.trusted_proxies.is_empty());
}
