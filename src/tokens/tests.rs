//! Each trap, against the local key and against an issuer of each algorithm.

use super::self_test::Pair;
use super::*;
use jsonwebtoken::{EncodingKey, Header, encode};
use serde_json::{Value, json};
use uuid::Uuid;

type Sign = jsonwebtoken::Algorithm;

const SECRET: &[u8] = b"0123456789abcdef0123456789abcdef";
const ISSUER: &str = "https://id.example/";
const TIMES: Times = Times { leeway: Duration::from_secs(30), max_lifetime: Duration::from_hours(24) };
const FETCHING: FetchSettings = FetchSettings {
    refresh: Duration::from_mins(10),
    cooldown: Duration::from_secs(10),
    connect_timeout: Duration::from_secs(1),
    timeout: Duration::from_secs(1),
};

fn tokens(secret: Option<&[u8]>, issuers: &[(&str, Algorithm, &Pair)]) -> Tokens {
    let issuers = issuers
        .iter()
        .map(|(issuer, algorithm, pair)| IssuerSettings {
            issuer: (*issuer).into(),
            audience: vec!["ringi".to_owned(), "https://ringi.example".to_owned()],
            algorithm: *algorithm,
            keys: KeySource::Fixed(pair.public.clone()),
        })
        .collect();
    Tokens::new(TIMES, secret, issuers, FETCHING).expect("fit settings")
}

fn secret(bytes: &[u8]) -> EncodingKey {
    EncodingKey::from_secret(bytes).expect("a key")
}

fn changed(claims: &Value, changes: &Value) -> Value {
    let mut claims = claims.clone();
    for (key, value) in changes.as_object().expect("an object") {
        claims[key] = value.clone();
    }
    claims
}

fn without(claims: &Value, name: &str) -> Value {
    let mut claims = claims.clone();
    claims.as_object_mut().expect("an object").remove(name);
    claims
}

#[tokio::test]
async fn each_trap_of_the_local_key_is_refused_for_its_reason() {
    let tokens = tokens(Some(SECRET), &[]);
    let good = json!({"sub": Uuid::from_u128(7).to_string(), "exp": now() + 600, "iat": now()});
    let jwt = Header::new(Sign::HS256);
    let user = Ok(Subject::User(UserId(Uuid::from_u128(7))));
    let check = async |claims: Value| tokens.check(&encode(&jwt, &claims, &secret(SECRET)).expect("signs")).await;
    let with = |changes: Value| changed(&good, &changes);

    assert_eq!(check(good.clone()).await, user);
    assert_eq!(check(with(json!({"iss": "ringi"}))).await, user);
    assert_eq!(check(with(json!({"exp": now() - 20}))).await, user, "within the leeway");
    assert_eq!(check(with(json!({"iat": 1e9 + 0.5, "exp": 1e9 + 1.0}))).await, Err(TokenRefusal::Time));
    assert_eq!(check(with(json!({"exp": now() - 40}))).await, Err(TokenRefusal::Time));
    assert_eq!(check(with(json!({"nbf": now() + 40}))).await, Err(TokenRefusal::Time));
    assert_eq!(check(with(json!({"iat": now() + 40}))).await, Err(TokenRefusal::Time));
    assert_eq!(check(with(json!({"exp": now() + 90_000}))).await, Err(TokenRefusal::Lifetime));
    assert_eq!(check(with(json!({"exp": 1e300}))).await, Err(TokenRefusal::Malformed));
    assert_eq!(check(with(json!({"sub": ""}))).await, Err(TokenRefusal::Subject));
    assert_eq!(check(with(json!({"sub": Uuid::nil().simple().to_string()}))).await, Err(TokenRefusal::Subject));
    assert_eq!(check(with(json!({"sub": ["a"]}))).await, Err(TokenRefusal::Malformed));
    assert_eq!(check(without(&good, "exp")).await, Err(TokenRefusal::Malformed));
    assert_eq!(check(without(&good, "sub")).await, Err(TokenRefusal::Malformed));
    assert_eq!(check(with(json!({"iss": ISSUER}))).await, Err(TokenRefusal::Issuer), "of nobody known here");
    assert_eq!(check(with(json!({"iss": ["ringi"]}))).await, Err(TokenRefusal::Malformed));
    assert_eq!(check(json!([Uuid::nil().to_string(), now() + 60])).await, Err(TokenRefusal::Malformed), "an array");

    let logout = Header { typ: Some("logout+jwt".into()), ..jwt.clone() };
    let token = encode(&logout, &good, &secret(SECRET)).expect("signs");
    assert_eq!(tokens.check(&token).await, Err(TokenRefusal::Malformed));
    assert_eq!(tokens.check(&"a".repeat(2_000_000)).await, Err(TokenRefusal::TooLarge));
    for garbage in ["", ".", "..", "...", "a.b.c", "e30.e30.e30", "e30.e30", "W10.e30.e30"] {
        assert_eq!(tokens.check(garbage).await, Err(TokenRefusal::Malformed), "{garbage}");
    }
    let other = encode(&jwt, &good, &secret(&[b'x'; 32])).expect("signs");
    assert_eq!(tokens.check(&other).await, Err(TokenRefusal::Signature));
}

#[tokio::test]
async fn each_trap_of_an_issuer_is_refused_for_its_reason() {
    for algorithm in Algorithm::ALL {
        let (pair, other) = (Pair::new(algorithm).expect("a pair"), Pair::new(algorithm).expect("a pair"));
        let tokens = tokens(Some(SECRET), &[(ISSUER, algorithm, &pair)]);
        let good = json!({"iss": ISSUER, "aud": "ringi", "sub": "auth0|7", "exp": now() + 600, "iat": now()});
        let jwt = Header::new(algorithm.signature());
        let person = Ok(Subject::Identity(Identity::new(&ISSUER.into(), "auth0|7".to_owned()).expect("a subject")));
        let check = async |claims: Value| tokens.check(&encode(&jwt, &claims, &pair.private).expect("signs")).await;
        let with = |changes: Value| changed(&good, &changes);

        assert_eq!(check(good.clone()).await, person);
        assert_eq!(check(with(json!({"aud": ["other", "https://ringi.example"]}))).await, person);
        assert_eq!(check(with(json!({"iat": 1e9 + 0.5}))).await, Err(TokenRefusal::Lifetime), "a fraction is a time");
        assert_eq!(check(with(json!({"exp": now() - 20}))).await, person, "within the leeway");
        assert_eq!(check(with(json!({"exp": now() - 40}))).await, Err(TokenRefusal::Time));
        assert_eq!(check(with(json!({"nbf": now() + 40}))).await, Err(TokenRefusal::Time));
        assert_eq!(check(with(json!({"nbf": "soon"}))).await, Err(TokenRefusal::Malformed));
        assert_eq!(check(with(json!({"iat": now() + 40}))).await, Err(TokenRefusal::Time));
        assert_eq!(check(with(json!({"exp": now() + 90_000}))).await, Err(TokenRefusal::Lifetime));
        assert_eq!(check(with(json!({"exp": i64::MAX}))).await, Err(TokenRefusal::Lifetime));
        for missing in ["exp", "sub"] {
            assert_eq!(check(without(&good, missing)).await, Err(TokenRefusal::Malformed), "{missing}");
        }
        assert_eq!(check(without(&good, "aud")).await, Err(TokenRefusal::Malformed));
        for audience in [json!("other"), json!([]), json!(["other"]), json!("ringi/"), json!("RINGI")] {
            assert_eq!(check(with(json!({"aud": audience}))).await, Err(TokenRefusal::Audience), "{audience}");
        }
        assert_eq!(check(with(json!({"aud": {"ringi": true}}))).await, Err(TokenRefusal::Malformed));
        // Without an issuer it would be the local key's, which refuses it by its algorithm.
        assert_eq!(check(without(&good, "iss")).await, Err(TokenRefusal::Algorithm));
        for issuer in ["https://id.example", "https://id.example//", "HTTPS://ID.EXAMPLE/", ""] {
            assert_eq!(check(with(json!({"iss": issuer}))).await, Err(TokenRefusal::Issuer), "{issuer}");
        }
        assert_eq!(check(with(json!({"iss": [ISSUER]}))).await, Err(TokenRefusal::Malformed));
        for subject in ["", " ", "a b", "a\u{200b}", "\u{202e}a", "a\0", &"x".repeat(256)] {
            assert_eq!(check(with(json!({"sub": subject}))).await, Err(TokenRefusal::Subject), "{subject:?}");
        }
        assert_eq!(check(with(json!({"sub": 7}))).await, Err(TokenRefusal::Malformed));

        let headed = async |header: Header| tokens.check(&encode(&header, &good, &pair.private).expect("signs")).await;
        let typed = |typ: Option<&str>| Header { typ: typ.map(str::to_owned), ..jwt.clone() };
        for typ in [None, Some("JWT"), Some("at+jwt"), Some("AT+JWT")] {
            assert_eq!(headed(typed(typ)).await, person, "{typ:?}");
        }
        for typ in ["logout+jwt", "secevent+jwt", "application/at+jwt", ""] {
            assert_eq!(headed(typed(Some(typ))).await, Err(TokenRefusal::Malformed), "{typ}");
        }
        // The library takes this one, since it knows what `b64` is.
        let mut critical = Header { crit: Some(vec!["b64".to_owned()]), ..jwt.clone() };
        critical.extras.insert("b64", true);
        assert_eq!(headed(critical).await, Err(TokenRefusal::Malformed));
        // A token that brings its own key.
        let brought = Header { jwk: Some(other.jwk.clone()), ..jwt.clone() };
        let token = encode(&brought, &good, &other.private).expect("signs");
        assert_eq!(tokens.check(&token).await, Err(TokenRefusal::Signature));

        let token = encode(&jwt, &good, &other.private).expect("signs");
        assert_eq!(tokens.check(&token).await, Err(TokenRefusal::Signature));
        // Another of the same family.
        if algorithm == Algorithm::Rs256 {
            for other in [Sign::RS384, Sign::PS256] {
                let token = encode(&Header::new(other), &good, &pair.private).expect("signs");
                assert_eq!(tokens.check(&token).await, Err(TokenRefusal::Algorithm), "{other:?}");
            }
        }
        // The local key can't speak for an issuer.
        let token = encode(&Header::new(Sign::HS256), &good, &secret(SECRET)).expect("signs");
        assert_eq!(tokens.check(&token).await, Err(TokenRefusal::Algorithm));
        let long = "x".repeat(TOKEN_MAX_BYTES);
        assert_eq!(check(with(json!({"name": long}))).await, Err(TokenRefusal::TooLarge));
    }
}

#[tokio::test]
async fn each_issuer_is_judged_by_its_own_keys_alone() {
    let (a, b) = (Pair::new(Algorithm::EdDsa).expect("a pair"), Pair::new(Algorithm::EdDsa).expect("a pair"));
    let tokens =
        tokens(None, &[("https://a.example", Algorithm::EdDsa, &a), ("https://b.example", Algorithm::EdDsa, &b)]);
    let signed = |issuer: &str, pair: &Pair| {
        let claims = json!({"iss": issuer, "aud": "ringi", "sub": "7", "exp": now() + 60});
        encode(&Header::new(Sign::EdDSA), &claims, &pair.private).expect("signs")
    };
    let of_a = tokens.check(&signed("https://a.example", &a)).await;
    let of_b = tokens.check(&signed("https://b.example", &b)).await;
    assert!(of_a.is_ok() && of_b.is_ok() && of_a != of_b, "one subject, two people");
    assert_eq!(tokens.check(&signed("https://a.example", &b)).await, Err(TokenRefusal::Signature));
    // Without a local key nobody is the local issuer.
    let local = sign(SECRET, UserId(Uuid::nil()), Duration::from_mins(1)).expect("signs");
    assert_eq!(tokens.check(&local).await, Err(TokenRefusal::Issuer));
}

#[test]
fn an_array_is_no_object() {
    // Serde would fill a struct from it, in the order of its fields.
    let array = URL_SAFE_NO_PAD.encode(r#"["EdDSA", "JWT", "k"]"#);
    assert_eq!(read_part::<Head>(&array).err(), Some(TokenRefusal::Malformed));
}

#[test]
fn what_can_not_serve_is_refused_with_advice() {
    let refused = |secret| Tokens::new(TIMES, secret, Vec::new(), FETCHING).expect_err("refused");
    assert!(refused(Some(b"short")).contains("openssl rand"));
    let nobody = refused(None);
    assert!(nobody.contains("auth.issuers") && nobody.contains("RINGI__AUTH__HS256_SECRET"), "{nobody}");
}

#[test]
fn only_fit_keys_of_a_jwks_are_used() {
    let jwk = |pair: &Pair, changes: Value| changed(&serde_json::to_value(&pair.jwk).expect("JSON"), &changes);
    let set = |algorithm, keys: Value| {
        keys::KeySet::read(json!({ "keys": keys }).to_string().as_bytes(), algorithm).expect("a JWKS")
    };
    let pairs = Algorithm::ALL.map(|algorithm| Pair::new(algorithm).expect("a pair"));
    let [rsa, ec, ed] = &pairs;
    for (algorithm, own) in Algorithm::ALL.into_iter().zip(&pairs) {
        // All families in one set: the configured one is taken.
        let all = set(
            algorithm,
            json!([jwk(rsa, json!({"kid": "r"})), jwk(ec, json!({"kid": "c"})), jwk(ed, json!({"kid": "d"})),
                   {"kty": "oct", "kid": "o", "k": "c2VjcmV0IHNlY3JldCBzZWNyZXQgc2VjcmV0IHNlY3I"}, 7, {"kty": "AKP"}]),
        );
        assert_eq!(all.len(), 1);
        assert!(all.find(None).is_some() && all.find(Some("o")).is_none());
        let refused = [
            json!({"use": "enc"}),
            json!({"alg": "HS256"}),
            json!({"alg": "RSA-OAEP"}),
            json!({"key_ops": ["encrypt"]}),
            json!({"d": "AAAA"}),
            json!({"kty": "oct", "k": "AAAA"}),
        ];
        for changes in refused {
            assert!(set(algorithm, json!([jwk(own, changes.clone())])).is_empty(), "{algorithm:?} {changes}");
        }
        let fine = json!({"use": "sig", "key_ops": ["verify"], "alg": algorithm.name(), "kid": "k", "x5c": []});
        assert_eq!(set(algorithm, json!([jwk(own, fine)])).len(), 1);
    }
    let weak = |changes: Value| set(Algorithm::Rs256, json!([jwk(rsa, changes)])).is_empty();
    assert!(weak(json!({"e": "AQ"})), "every message would be its own signature");
    assert!(weak(json!({"e": "AAE"})) && weak(json!({"e": "Ag"})) && weak(json!({"e": ""})));
    assert!(weak(json!({"n": "x".repeat(172)})), "1032 bits");
    assert!(set(Algorithm::Es256, json!([jwk(ec, json!({"crv": "P-384"}))])).is_empty());
    assert!(set(Algorithm::EdDsa, json!([jwk(ed, json!({"x": "AAAA"}))])).is_empty());

    // One key twice is one; an id that names two keys names none; several keys need their ids.
    let other = Pair::new(Algorithm::EdDsa).expect("a pair");
    let one = jwk(ed, json!({"kid": "k"}));
    assert!(set(Algorithm::EdDsa, json!([one, one])).find(None).is_some());
    let two = set(Algorithm::EdDsa, json!([one, jwk(&other, json!({"kid": "k"})), jwk(&other, json!({"kid": "m"}))]));
    assert!(two.find(Some("k")).is_none() && two.find(None).is_none() && two.find(Some("m")).is_some());
    assert!(set(Algorithm::EdDsa, json!([jwk(&other, json!({})), jwk(ed, json!({}))])).is_empty(), "nothing to find");

    for garbage in ["", "{}", "[]", "null", "{\"keys\": {}}", "<html>", &"[".repeat(100_000)] {
        assert!(keys::KeySet::read(garbage.as_bytes(), Algorithm::EdDsa).is_err(), "{garbage:.20}");
    }
}

#[test]
fn a_key_address_is_safe_or_refused_with_advice() {
    for fine in ["https://id.example/keys", "http://127.0.0.1:1/k", "http://[::1]:1/k", "http://localhost/k"] {
        assert!(key_url(fine).is_ok(), "{fine}");
    }
    for (wrong, says) in [
        ("http://id.example/keys", "must be https"),
        ("http://127.0.0.1.example/keys", "must be https"),
        ("http://127.0.0.1@id.example/keys", "user or a password"),
        ("https://user:word@id.example/keys", "user or a password"),
        ("ftp://id.example", "must begin with https"),
        ("file:///etc/passwd", "must begin with https"),
        ("id.example/keys", "no URL"),
        ("", "no URL"),
    ] {
        let refused = key_url(wrong).expect_err(wrong);
        assert!(refused.contains(says) && !refused.contains("word@"), "{wrong}: {refused}");
    }
}

mod any_text {
    use super::*;
    use proptest::prelude::*;

    fn good() -> String {
        let claims = json!({"sub": Uuid::from_u128(7).to_string(), "exp": now() + 600, "iat": now()});
        encode(&Header::new(Sign::HS256), &claims, &secret(SECRET)).expect("signs")
    }

    proptest! {
        /// Nothing but the very bytes that were signed is believed, and nothing makes a panic.
        #[test]
        fn no_text_is_a_token_but_the_one_that_was_signed(
            text in "\\PC{0,200}",
            parts in proptest::collection::vec("[A-Za-z0-9_=-]{0,60}", 1..5),
            at in any::<proptest::sample::Index>(),
            with in "[A-Za-z0-9_.-]",
        ) {
            let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().expect("a runtime");
            let tokens = tokens(Some(SECRET), &[]);
            let good = good();
            let at = at.index(good.len());
            let mut changed = good.clone();
            changed.replace_range(at..=at, &with);
            let cut = good.get(..at).unwrap_or_default().to_owned();
            let head = good.split_once('.').expect("a head").0.to_owned();
            runtime.block_on(async {
                for text in [text, parts.join("."), format!("{head}.{}", parts.join(".")), changed, cut] {
                    // Of the last character of the signature only some bits count, so another may be the same token.
                    let same = text.get(..good.len() - 1) == good.get(..good.len() - 1);
                    prop_assert!(same || tokens.check(&text).await.is_err(), "{text}");
                }
                prop_assert!(tokens.check(&good).await.is_ok());
                Ok(())
            })?;
        }
    }
}
