//! The page as the server gives it out: its files, its addresses, its policy, and how people sign in at it. What people
//! see and do there is tested in a browser: see `web/e2e`.

use crate::harness::{Answer, App, Database, SECRET, settings};
use crate::ringi::{Serving, command};
use reqwest::{Method, RequestBuilder};
use serde_json::{Value, json};
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

fn web(path: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("web").join(path)
}

/// What `scripts/web.sh` built, if it did before this program was built.
fn built() -> Option<String> {
    std::fs::read_to_string(web("dist/page/index.html")).ok()
}

/// The decimals of each currency that the server accepts: the page reads and writes amounts by them.
#[test]
fn the_page_knows_the_currencies_that_the_server_knows() {
    let letters = || b'A'..=b'Z';
    let codes = letters().flat_map(|a| letters().flat_map(move |b| letters().map(move |c| [a, b, c])));
    let known: BTreeMap<String, u16> = codes
        .filter_map(|code| {
            let code = String::from_utf8(code.to_vec()).unwrap();
            let currency = iso_currency::Currency::from_code(&code)?;
            currency.is_superseded().is_none().then(|| (code, currency.exponent().unwrap_or(0)))
        })
        .collect();
    let text = format!("{}\n", serde_json::to_string_pretty(&known).unwrap());
    let file = web("generated/currencies.json");
    if std::env::var("INSTA_UPDATE").is_ok_and(|update| update == "always") {
        std::fs::write(&file, &text).unwrap();
    }
    let written = std::fs::read_to_string(&file).unwrap_or_default();
    assert!(written == text, "{} is old: run `make page-types`", file.display());
}

fn ask(app: &App, path: &str) -> RequestBuilder {
    app.http.get(format!("{}{path}", app.address))
}

#[tokio::test(flavor = "multi_thread")]
async fn without_its_files_the_program_says_how_to_get_the_page() {
    let app = App::start().await;
    let answer = Answer::of(ask(&app, "/")).await.expect_status(200);
    assert!(answer.header("content-type").starts_with("text/html"));
    assert!(!answer.header("content-security-policy").contains("unsafe"));
    assert_eq!(answer.text.contains("make run"), built().is_none(), "{}", answer.text);
    app.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn files_come_compressed_and_are_kept_by_their_hash() {
    let Some(index) = built() else { return };
    let app = App::start().await;
    let script = index.split("src=\"/").find(|part| part.starts_with("assets/")).unwrap();
    let script = format!("/{}", script.split('"').next().unwrap());
    let plain = Answer::of(ask(&app, &script)).await.expect_status(200);
    assert_eq!(plain.header("content-type"), "text/javascript; charset=utf-8");
    assert_eq!(plain.header("cache-control"), "public, max-age=31536000, immutable");
    assert_eq!(plain.text, std::fs::read_to_string(web("dist/page").join(&script[1..])).unwrap());
    let mut tags = vec![plain.header("etag").to_owned()];
    for (accepts, encoding) in [("gzip, deflate, br, zstd", "br"), ("gzip", "gzip"), ("br;q=0, gzip;q=0.1", "gzip")] {
        let answer = ask(&app, &script).header("accept-encoding", accepts).send().await.unwrap();
        assert_eq!(answer.headers()["content-encoding"], encoding, "{accepts}");
        assert!(answer.headers()["vary"].to_str().unwrap().starts_with("Accept-Encoding"));
        tags.push(answer.headers()["etag"].to_str().unwrap().to_owned());
        let bytes = answer.bytes().await.unwrap();
        assert!(bytes.len() * 2 < plain.text.len(), "{accepts}: {} bytes", bytes.len());
        let suffix = if encoding == "br" { "br" } else { "gz" };
        let file = web("dist/page").join(format!("{}.{suffix}", &script[1..]));
        assert_eq!(bytes, std::fs::read(file).unwrap());
    }
    let identity = Answer::of(ask(&app, &script).header("accept-encoding", "identity")).await;
    assert_eq!(identity.text, plain.text);
    // Another form is another thing to a cache.
    assert!(tags[0] != tags[1] && tags[1] != tags[2], "{tags:?}");
    let again = ask(&app, &script).header("if-none-match", &tags[1]).header("accept-encoding", "br");
    let again = Answer::of(again).await.expect_status(304);
    assert_eq!(again.text, "");
    // The compressed forms have no address of their own.
    for missing in [format!("{script}.br"), "/assets/none.js".to_owned(), "/none.txt".to_owned()] {
        let answer = Answer::of(ask(&app, &missing).header("accept", "text/html")).await;
        answer.expect_problem(404, "not_found");
    }
    app.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn every_address_of_the_page_begins_it_and_no_call_does() {
    let Some(index) = built() else { return };
    let app = App::start().await;
    for address in ["/", "/o/0197c0de-0000-7000-8000-000000000001/inbox", "/callback?code=x", "/invitation", "/index"] {
        let answer = Answer::of(ask(&app, address).header("accept", "text/html,*/*")).await.expect_status(200);
        assert_eq!(answer.text, index, "{address}");
        assert_eq!(answer.header("cache-control"), "no-cache");
        assert_eq!(answer.header("referrer-policy"), "no-referrer");
        let policy = answer.header("content-security-policy");
        assert!(policy.contains("script-src 'self'; style-src 'self'"), "{policy}");
        assert!(policy.contains("connect-src 'self';") && !policy.contains("unsafe"), "{policy}");
    }
    // A program that asks for something else is told that it is not there.
    for (method, path, accept) in [
        (Method::GET, "/o/x/inbox", "*/*"),
        (Method::GET, "/o/x/inbox/", "text/html"),
        (Method::POST, "/o/x/inbox", "text/html"),
        (Method::GET, "/api/v1/nowhere", "text/html"),
        (Method::GET, "/api", "text/html"),
        (Method::GET, "/assets/", "text/html"),
        (Method::GET, "/..%2fCargo.toml", "text/html"),
    ] {
        let call = app.http.request(method.clone(), format!("{}{path}", app.address)).header("accept", accept);
        Answer::of(call).await.expect_problem(404, "not_found");
    }
    app.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn without_the_demo_nobody_chooses_who_he_is() {
    let app = App::start().await;
    let ways = Answer::of(ask(&app, "/api/v1/sign-in")).await.expect_status(200);
    assert_eq!(ways.body, json!({"provider": null, "demo": null}));
    let body = json!({"user_id": "0197c0de-0000-7000-8000-000000000102"});
    let call = app.http.post(format!("{}/api/v1/sign-in/demo", app.address)).json(&body);
    Answer::of(call).await.expect_problem(404, "not_found");
    app.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn the_page_is_told_which_provider_it_signs_in_at() {
    let mut settings = settings();
    settings.page.issuer = "https://id.example/realms/main".to_owned();
    settings.page.client_id = "ringi-page".to_owned();
    settings.page.resource = "https://ringi.example".to_owned();
    settings.page.origins = vec!["https://tokens.example".to_owned()];
    let app = App::with(settings).await;
    let ways = Answer::of(ask(&app, "/api/v1/sign-in")).await.expect_status(200);
    let provider = json!({"issuer": "https://id.example/realms/main", "client_id": "ringi-page", "scope": "openid",
                          "resource": "https://ringi.example"});
    assert_eq!(ways.body, json!({"provider": provider, "demo": null}));
    if built().is_some() {
        let index = Answer::of(ask(&app, "/")).await;
        let policy = index.header("content-security-policy");
        assert!(policy.contains("connect-src 'self' https://id.example https://tokens.example;"), "{policy}");
    }
    app.stop().await;
}

/// The demo's tokens are for whoever sits at this machine, and for nobody who only reaches it.
#[tokio::test(flavor = "multi_thread")]
async fn the_demos_tokens_are_for_this_machine_alone() {
    let database = Database::new().await;
    let (url, origins) = (database.url(), "https://elsewhere.example");
    let serve = command(
        &["serve", "--demo"],
        &[
            ("DATABASE_URL", &url),
            ("RINGI__AUTH__HS256_SECRET", SECRET),
            ("RINGI__HTTP__ALLOWED_ORIGINS", origins),
            ("PORT", "0"),
        ],
    );
    let serving = Serving::start(serve);
    let http = reqwest::Client::builder().no_proxy().build().unwrap();
    let url = |path: &str| format!("{}{path}", serving.address);
    let ben = json!({"user_id": "0197c0de-0000-7000-8000-000000000102"});
    let ask = |headers: &[(&str, &str)], body: &Value| {
        headers
            .iter()
            .fold(http.post(url("/api/v1/sign-in/demo")).json(body), |call, (name, value)| call.header(*name, *value))
    };
    let ways = Answer::of(http.get(url("/api/v1/sign-in"))).await.expect_status(200);
    let names: Vec<_> = ways.body["demo"].as_array().unwrap().iter().map(|person| &person["display_name"]).collect();
    assert_eq!(names.len(), 4, "{names:?}");

    let origin = serving.address.clone();
    let own: [(&str, &str); 2] = [("sec-fetch-site", "same-origin"), ("origin", &origin)];
    for headers in [&[][..], &own] {
        let granted = Answer::of(ask(headers, &ben)).await.expect_status(200);
        assert_eq!(granted.header("cache-control"), "no-store");
        let token = granted.body["token"].as_str().unwrap();
        let me = Answer::of(http.get(url("/api/v1/me")).bearer_auth(token)).await.expect_status(200);
        assert_eq!(me.body["user_id"], ben["user_id"]);
    }
    // Whoever comes by another name, through a proxy, or from another page, finds nothing here.
    for (name, value) in [
        ("host", "ringi.attacker.example"),
        ("host", "127.0.0.1.nip.io"),
        ("forwarded", "for=203.0.113.7"),
        ("x-forwarded-for", "203.0.113.7"),
        ("x-real-ip", "127.0.0.1"),
        ("via", "1.1 proxy"),
        ("sec-fetch-site", "cross-site"),
        ("sec-fetch-site", "same-site"),
        ("origin", "https://elsewhere.example"),
        ("origin", "null"),
    ] {
        let answer = Answer::of(ask(&[(name, value)], &ben)).await;
        assert_eq!((answer.status.as_u16(), &answer.body["token"]), (404, &Value::Null), "{name}: {value}");
        let ways = Answer::of(http.get(url("/api/v1/sign-in")).header(name, value)).await.expect_status(200);
        assert_eq!(ways.body["demo"], Value::Null, "{name}: {value}");
    }
    // Only the people of the demo.
    for (body, code) in [
        (json!({"user_id": "0197c0de-0000-7000-8000-000000000999"}), "validation_failed"),
        (json!({"user_id": "ben"}), "validation_failed"),
        (json!({"user_id": ben["user_id"], "ttl": 9}), "unknown_field"),
        (json!({}), "validation_failed"),
    ] {
        Answer::of(ask(&[], &body)).await.expect_problem(422, code);
    }
    Answer::of(http.post(url("/api/v1/sign-in/demo")).body("{}")).await.expect_problem(415, "unsupported_media_type");
    serving.stop();
}
