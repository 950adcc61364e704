//! A provider's published keys: rotated, away, hanging, hostile, and asked no more often than is decent.

use crate::harness::PATIENCE;
use crate::key_server::{KeyServer, Mood, SigningKey, Trusting, set, until};
use futures_util::future::join_all;
use jsonwebtoken::{Algorithm, Header};
use ringi::config::Settings;
use serde_json::json;
use std::time::{Duration, Instant};

const HOUR: Duration = Duration::from_secs(3600);

/// Asked for every unknown id, and never of itself.
fn eager(settings: &mut Settings) {
    settings.auth.jwks_cooldown = Duration::ZERO;
    settings.auth.jwks_refresh = HOUR;
}

/// Asked once, and never again.
fn patient(settings: &mut Settings) {
    settings.auth.jwks_cooldown = HOUR;
    settings.auth.jwks_refresh = HOUR;
}

#[tokio::test(flavor = "multi_thread")]
async fn keys_rotate_without_anybody_noticing() {
    for algorithm in [Algorithm::RS256, Algorithm::ES256, Algorithm::EdDSA] {
        let keys = [0, 1, 2].map(|_| SigningKey::new(algorithm));
        let server = KeyServer::start(Mood::Body(set(&[&keys[0]]))).await;
        let trusting = Trusting::start(&server, algorithm, eager).await;
        assert_eq!(trusting.status(&trusting.token(&keys[0])).await, 200, "the first token waits for the first fetch");
        assert_eq!(server.asked(), 1);
        server.mood(Mood::Body(set(&[&keys[0], &keys[1]])));
        assert_eq!(trusting.status(&trusting.token(&keys[1])).await, 200, "an unknown id asks");
        assert_eq!(trusting.status(&trusting.token(&keys[0])).await, 200, "both are good meanwhile");
        assert_eq!(server.asked(), 2);
        server.mood(Mood::Body(set(&[&keys[1], &keys[2]])));
        assert_eq!(trusting.status(&trusting.token(&keys[2])).await, 200);
        assert_eq!(trusting.status(&trusting.token(&keys[0])).await, 401, "a key that was withdrawn is gone");
        trusting.app.stop().await;
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn the_first_tokens_wait_for_the_first_fetch() {
    let key = SigningKey::new(Algorithm::EdDSA);
    let server = KeyServer::start(Mood::Held).await;
    let trusting = Trusting::start(&server, Algorithm::EdDSA, |settings| {
        patient(settings);
        settings.auth.jwks_timeout = PATIENCE;
    })
    .await;
    let token = trusting.token(&key);
    let meanwhile = async {
        until("it waits", || async { trusting.metric("ringi_jwks_waiting", "").await >= 1 }).await;
        server.mood(Mood::Body(set(&[&key])));
    };
    let (status, ()) = tokio::join!(trusting.status(&token), meanwhile);
    assert_eq!((status, server.asked()), (200, 1));
    trusting.app.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_withdrawn_key_is_gone_with_the_next_refresh_that_nobody_asked_for() {
    let keys = [0, 1].map(|_| SigningKey::new(Algorithm::EdDSA));
    let server = KeyServer::start(Mood::Body(set(&[&keys[0]]))).await;
    let trusting = Trusting::start(&server, Algorithm::EdDSA, |settings| {
        settings.auth.jwks_refresh = Duration::from_millis(50);
        settings.auth.jwks_cooldown = HOUR;
    })
    .await;
    let token = trusting.token(&keys[0]);
    assert_eq!(trusting.status(&token).await, 200);
    server.mood(Mood::Body(set(&[&keys[1]])));
    until("the refresh", || async { trusting.status(&token).await == 401 }).await;
    assert_eq!(trusting.status(&trusting.token(&keys[1])).await, 200);
    trusting.app.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_flood_of_invented_ids_does_not_reach_the_provider() {
    let key = SigningKey::new(Algorithm::EdDSA);
    let server = KeyServer::start(Mood::Body(set(&[&key]))).await;
    let trusting = Trusting::start(&server, Algorithm::EdDSA, |settings| {
        settings.auth.jwks_cooldown = Duration::from_secs(10);
        settings.auth.jwks_refresh = HOUR;
    })
    .await;
    assert_eq!(trusting.status(&trusting.token(&key)).await, 200);
    let start = Instant::now();
    let claims = crate::key_server::claims(&trusting.issuer, "somebody");
    let flood = (0..500).map(|n| {
        let header = Header { kid: Some(format!("invented {n}")), ..Header::new(Algorithm::EdDSA) };
        let (token, trusting) = (key.sign(&header, &claims), &trusting);
        async move { trusting.status(&token).await }
    });
    assert!(join_all(flood).await.iter().all(|status| *status == 401));
    let fair = 1 + usize::try_from(start.elapsed().as_secs() / 10).unwrap();
    assert!(server.asked() <= fair, "{} fetches", server.asked());
    assert_eq!(trusting.status(&trusting.token(&key)).await, 200);
    trusting.app.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn after_the_cooldown_an_unknown_id_asks_again() {
    let keys = [0, 1].map(|_| SigningKey::new(Algorithm::EdDSA));
    let server = KeyServer::start(Mood::Body(set(&[&keys[0]]))).await;
    let trusting = Trusting::start(&server, Algorithm::EdDSA, |settings| {
        settings.auth.jwks_cooldown = Duration::from_millis(400);
        settings.auth.jwks_refresh = HOUR;
    })
    .await;
    assert_eq!(trusting.status(&trusting.token(&keys[0])).await, 200);
    let start = Instant::now();
    server.mood(Mood::Body(set(&keys.each_ref())));
    let token = trusting.token(&keys[1]);
    until("the cooldown's end", || async { trusting.status(&token).await == 200 }).await;
    assert_eq!(server.asked(), 2, "polled all the while, asked once, {:?}", start.elapsed());
    trusting.app.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn all_who_wait_share_one_fetch_and_who_has_a_known_key_does_not_wait() {
    let keys = [0, 1].map(|_| SigningKey::new(Algorithm::EdDSA));
    let server = KeyServer::start(Mood::Body(set(&[&keys[0]]))).await;
    let trusting = Trusting::start(&server, Algorithm::EdDSA, |settings| {
        eager(settings);
        settings.auth.jwks_timeout = PATIENCE;
    })
    .await;
    let known = trusting.token(&keys[0]);
    assert_eq!(trusting.status(&known).await, 200);
    server.mood(Mood::Held);
    let token = trusting.token(&keys[1]);
    let waiting = join_all((0..50).map(|_| trusting.status(&token)));
    let meanwhile = async {
        until("fifty wait", || async { trusting.metric("ringi_jwks_waiting", "").await >= 50 }).await;
        assert_eq!(trusting.status(&known).await, 200, "while the provider says nothing");
        assert_eq!(server.asked(), 2, "one fetch for fifty");
        server.mood(Mood::Body(set(&keys.each_ref())));
    };
    let (statuses, ()) = tokio::join!(waiting, meanwhile);
    assert!(statuses.iter().all(|status| *status == 200), "{statuses:?}");
    assert_eq!(server.asked(), 2);
    until("nobody waits", || async { trusting.metric("ringi_jwks_waiting", "").await == 0 }).await;
    trusting.app.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn whoever_hangs_up_while_waiting_does_not_stop_the_fetch() {
    let keys = [0, 1].map(|_| SigningKey::new(Algorithm::EdDSA));
    let server = KeyServer::start(Mood::Body(set(&[&keys[0]]))).await;
    let trusting = Trusting::start(&server, Algorithm::EdDSA, |settings| {
        patient(settings);
        settings.auth.jwks_cooldown = Duration::from_millis(1);
        settings.auth.jwks_timeout = PATIENCE;
    })
    .await;
    assert_eq!(trusting.status(&trusting.token(&keys[0])).await, 200);
    server.mood(Mood::Held);
    let token = trusting.token(&keys[1]);
    tokio::select! {
        status = trusting.status(&token) => panic!("answered {status}"),
        () = until("the fetch", || async { server.asked() == 2 }) => {}
    }
    server.mood(Mood::Body(set(&keys.each_ref())));
    assert_eq!(trusting.status(&token).await, 200);
    assert_eq!(server.asked(), 2, "the fetch that the first one caused");
    trusting.app.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_hostile_answer_takes_no_key_away_and_brings_none_in() {
    let (good, evil) = (SigningKey::new(Algorithm::ES256), SigningKey::new(Algorithm::ES256));
    let other = KeyServer::start(Mood::Body(set(&[&evil]))).await;
    let both = set(&[&good, &evil]);
    let with = |changes: serde_json::Value| {
        let mut jwk = evil.jwk();
        for (name, value) in changes.as_object().unwrap() {
            jwk[name] = value.clone();
        }
        json!({"keys": [jwk]}).to_string()
    };
    let padded = |bytes: usize| format!("{}{}", set(&[&evil]), " ".repeat(bytes - set(&[&evil]).len()));
    let oct = json!({"keys": [{"kty": "oct", "kid": evil.id, "alg": "ES256", "k": "c2VjcmV0"}]}).to_string();
    let strange = SigningKey::new(Algorithm::RS256);
    let moods = [
        ("status", Mood::Status(500, both.clone())),
        ("status", Mood::Status(404, both.clone())),
        ("status", Mood::Status(201, both.clone())),
        ("status", Mood::Redirect(other.url(), both.clone())),
        ("too_large", Mood::Body(padded(256 * 1024 + 1))),
        ("too_large", Mood::Endless),
        ("malformed", Mood::Body("<html>Sign in</html>".to_owned())),
        ("malformed", Mood::Body(String::new())),
        ("malformed", Mood::Body("[".repeat(200_000))),
        ("malformed", Mood::Body(json!([evil.jwk()]).to_string())),
        ("no_usable_key", Mood::Body(json!({"keys": []}).to_string())),
        ("no_usable_key", Mood::Body(oct)),
        ("no_usable_key", Mood::Body(set(&[&strange]))),
        ("no_usable_key", Mood::Body(with(json!({"use": "enc"})))),
        ("no_usable_key", Mood::Body(with(json!({"alg": "ES384"})))),
        ("no_usable_key", Mood::Body(with(json!({"crv": "P-384"})))),
        ("no_usable_key", Mood::Body(with(json!({"d": "AAAA"})))),
        ("unreachable", Mood::Garbage),
        ("unreachable", Mood::Half),
        ("unreachable", Mood::Held),
    ];
    let server = KeyServer::start(Mood::Body(set(&[&good]))).await;
    let trusting = Trusting::start(&server, Algorithm::ES256, |settings| {
        eager(settings);
        settings.auth.jwks_timeout = Duration::from_millis(500);
    })
    .await;
    assert_eq!(trusting.status(&trusting.token(&good)).await, 200);
    for (n, (result, mood)) in moods.into_iter().enumerate() {
        let (asked, label) = (server.asked(), format!("\"{result}\""));
        let before = trusting.metric("ringi_jwks_refreshes_total", &label).await;
        server.mood(mood);
        assert_eq!(trusting.status(&trusting.token(&evil)).await, 401, "{n} {result}");
        // One's own, or a retry's of the background that came first.
        assert!(server.asked() > asked, "{n} {result}");
        assert!(trusting.metric("ringi_jwks_refreshes_total", &label).await > before, "{n} {result}");
        assert_eq!(trusting.status(&trusting.token(&good)).await, 200, "{n} {result}: the old keys stay");
    }
    assert_eq!(other.asked(), 0, "redirects are not followed");
    until("the endless answer is left", || async { server.hung_up() > 0 }).await;
    // Exactly as large as may be.
    server.mood(Mood::Body(padded(256 * 1024)));
    assert_eq!(trusting.status(&trusting.token(&evil)).await, 200);
    trusting.app.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_provider_that_is_away_takes_no_key_away_and_one_that_returns_is_found() {
    let keys = [0, 1].map(|_| SigningKey::new(Algorithm::EdDSA));
    let server = KeyServer::start(Mood::Body(set(&[&keys[0]]))).await;
    let trusting = Trusting::start(&server, Algorithm::EdDSA, eager).await;
    assert_eq!(trusting.status(&trusting.token(&keys[0])).await, 200);
    let address = server.stop().await;
    assert_eq!(trusting.status(&trusting.token(&keys[1])).await, 401);
    assert!(trusting.metric("ringi_jwks_refreshes_total", "unreachable").await >= 1);
    assert_eq!(trusting.status(&trusting.token(&keys[0])).await, 200);
    let _server = KeyServer::start_again(address, Mood::Body(set(&[&keys[1]]))).await;
    assert_eq!(trusting.status(&trusting.token(&keys[1])).await, 200);
    trusting.app.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_provider_that_is_away_at_the_start_stops_nobody_and_is_asked_again() {
    let key = SigningKey::new(Algorithm::EdDSA);
    let away = KeyServer::start(Mood::Garbage).await;
    let trusting = Trusting::start(&away, Algorithm::EdDSA, patient).await;
    let admin = trusting.app.admin.token.clone();
    assert_eq!(trusting.status(&admin).await, 200, "the local key works meanwhile");
    let token = trusting.token(&key);
    let before = crate::key_server::metric(&trusting.app, "ringi_token_refusals_total", &["keys_unavailable"]).await;
    trusting.me(&token).await.expect_problem(401, "unauthenticated");
    let after = crate::key_server::metric(&trusting.app, "ringi_token_refusals_total", &["keys_unavailable"]).await;
    assert!(after > before);
    trusting.app.stop().await;

    // Without any token, it is asked again all the same.
    let trusting = Trusting::start(&away, Algorithm::EdDSA, |settings| {
        settings.auth.jwks_cooldown = Duration::from_millis(1);
        settings.auth.jwks_refresh = Duration::from_millis(50);
    })
    .await;
    let asked = away.asked();
    until("a retry", || async { away.asked() > asked + 1 }).await;
    away.mood(Mood::Body(set(&[&key])));
    let token = trusting.token(&key);
    until("the keys", || async { trusting.status(&token).await == 200 }).await;
    assert_eq!(trusting.metric("ringi_jwks_keys", "").await, 1);
    trusting.app.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_token_without_key_id_needs_a_set_of_one() {
    let keys = [0, 1].map(|_| SigningKey::new(Algorithm::EdDSA));
    let server = KeyServer::start(Mood::Body(set(&[&keys[0]]))).await;
    let trusting = Trusting::start(&server, Algorithm::EdDSA, eager).await;
    let claims = crate::key_server::claims(&trusting.issuer, "somebody");
    let nameless = keys[0].sign(&Header::new(Algorithm::EdDSA), &claims);
    assert_eq!(trusting.status(&nameless).await, 200);
    server.mood(Mood::Body(set(&keys.each_ref())));
    assert_eq!(trusting.status(&trusting.token(&keys[1])).await, 200);
    assert_eq!(trusting.status(&nameless).await, 401, "which of the two?");
    assert_eq!(server.asked(), 2, "asking again makes that no better");
    // An id that names two keys names none.
    let mut twin = keys[1].jwk();
    twin["kid"] = json!(keys[0].id);
    let third = SigningKey::new(Algorithm::EdDSA);
    server.mood(Mood::Body(json!({"keys": [keys[0].jwk(), twin, third.jwk()]}).to_string()));
    assert_eq!(trusting.status(&trusting.token(&third)).await, 200);
    assert_eq!(trusting.status(&trusting.token(&keys[0])).await, 401);
    trusting.app.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_token_of_another_algorithm_asks_nobody() {
    let (key, rsa) = (SigningKey::new(Algorithm::EdDSA), SigningKey::new(Algorithm::ES256));
    let server = KeyServer::start(Mood::Body(set(&[&key, &rsa]))).await;
    let trusting = Trusting::start(&server, Algorithm::EdDSA, eager).await;
    assert_eq!(trusting.status(&trusting.token(&key)).await, 200);
    assert_eq!(trusting.status(&trusting.token(&rsa)).await, 401, "its key stands there, but it is not the algorithm");
    assert_eq!(server.asked(), 1);
    trusting.app.stop().await;
}
