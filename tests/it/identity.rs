//! Identity providers: whose tokens are accepted, and who their people are here.

use crate::harness::{App, Database, PATIENCE, Person, settings};
use crate::key_server::{
    AUDIENCE, KeyServer, Mood, SigningKey, Trusting, claims, issuer_settings, me, metric, new_issuer, now, set, until,
};
use futures_util::future::join_all;
use jsonwebtoken::{Algorithm, EncodingKey, Header, encode};
use ringi::app::UseCases;
use ringi::config::Issuer;
use ringi::domain::identity::Identity;
use ringi::domain::ids::UserId;
use ringi::pg::{APPLICATION_ROLE, PoolSettings};
use ringi::tokens::sign;
use serde_json::{Value, json};
use std::time::Duration;
use uuid::Uuid;

const ALGORITHMS: [Algorithm; 3] = [Algorithm::RS256, Algorithm::ES256, Algorithm::EdDSA];

/// The settings of an app that trusts these issuers, each with one key in its settings.
async fn trusting(issuers: &[(&str, &SigningKey)]) -> App {
    let mut settings = settings();
    settings.auth.issuers = issuers
        .iter()
        .map(|(issuer, key)| Issuer { public_key: Some(key.public_pem()), ..issuer_settings(issuer, key.algorithm) })
        .collect();
    App::with(settings).await
}

#[tokio::test(flavor = "multi_thread")]
async fn a_provider_s_person_signs_in_becomes_a_member_and_works() {
    for algorithm in ALGORITHMS {
        let (issuer, key) = (new_issuer(), SigningKey::new(algorithm));
        let app = trusting(&[(&issuer, &key)]).await;
        let token = key.token(&issuer, "auth0|aiko");
        let first = me(&app, &token).await.expect_status(200).body;
        assert_eq!(first["memberships"], json!([]), "a member of nothing knows who he is");
        let id: Uuid = first["user_id"].as_str().unwrap().parse().unwrap();

        let input = json!({"user_id": id, "display_name": "Aiko", "is_active": true, "can_approve": false,
                           "is_admin": false});
        app.admin.post("members", input).await.expect_status(201);
        let mut aiko = Person::with_id(&app.http, &app.address, app.organization, "Aiko", id);
        aiko.token = token;
        let request = aiko.submitted("出張費").await;
        assert_eq!(request["applicant_id"], json!(id));

        // Another token of the same person, and another person.
        let again = me(&app, &key.token(&issuer, "auth0|aiko")).await.expect_status(200).body;
        assert_eq!(again["user_id"], json!(id));
        assert_eq!(again["memberships"][0]["display_name"], "Aiko");
        let other = me(&app, &key.token(&issuer, "auth0|Aiko")).await.expect_status(200).body;
        assert_ne!(other["user_id"], json!(id), "subjects are told apart by every byte");
        app.check_invariants().await;
        app.stop().await;
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn the_same_subject_of_two_issuers_is_two_people() {
    let (a, b) = (SigningKey::new(Algorithm::EdDSA), SigningKey::new(Algorithm::ES256));
    let (of_a, of_b) = (new_issuer(), new_issuer());
    let app = trusting(&[(&of_a, &a), (&of_b, &b)]).await;
    let id = async |token: String| me(&app, &token).await.expect_status(200).body["user_id"].clone();
    let subject = app.admin.id.to_string();
    let (in_a, in_b) = (id(a.token(&of_a, &subject)).await, id(b.token(&of_b, &subject)).await);
    assert_ne!(in_a, in_b);
    // A subject that is an administrator's user id is still only a subject.
    assert_ne!(in_a, json!(app.admin.id));
    assert_eq!(id(app.admin.token.clone()).await, json!(app.admin.id), "the local key's `sub` is the user id");
    assert_eq!(app.count("SELECT count(*) FROM user_identity").await, 2, "and has no row");
    // An issuer's key speaks for its own issuer alone.
    me(&app, &a.token(&of_b, &subject)).await.expect_problem(401, "unauthenticated");
    app.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn two_processes_give_a_new_person_one_id() {
    let app = App::start().await;
    let pool_settings = PoolSettings::from(&app.settings.database);
    let pools = ringi::pg::connect(&app.database.options(), &pool_settings, Some(APPLICATION_ROLE)).await.unwrap();
    let other = UseCases::new(&pools, &app.settings.database);
    for round in 0..20 {
        let identity =
            Identity::new(&"https://id.example".into(), format!("person {round}").replace(' ', "-")).unwrap();
        // Both have looked and found nobody.
        let held = app.hold("LOCK TABLE user_identity IN SHARE ROW EXCLUSIVE MODE").await;
        let tasks: Vec<_> = [&app.use_cases, &other, &app.use_cases, &other]
            .map(|process| {
                let (identities, identity) = (process.identities.clone(), identity.clone());
                tokio::spawn(async move { identities.user(&identity).await.unwrap() })
            })
            .into();
        app.until_waiting(4).await;
        held.release().await;
        let ids: Vec<UserId> = join_all(tasks).await.into_iter().map(Result::unwrap).collect();
        assert!(ids.iter().all(|id| *id == ids[0]), "{ids:?}");
        assert_eq!(app.use_cases.identities.known(&identity), Some(ids[0]));
    }
    assert_eq!(app.count("SELECT count(*) FROM user_identity").await, 20);
    pools.close();
    app.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn who_was_met_needs_no_database_and_who_was_not_is_told_busy() {
    let (issuer, key) = (new_issuer(), SigningKey::new(Algorithm::EdDSA));
    let mut settings = settings();
    settings.auth.issuers =
        vec![Issuer { public_key: Some(key.public_pem()), ..issuer_settings(&issuer, key.algorithm) }];
    settings.database.acquire_timeout = Duration::from_millis(300);
    settings.database.statement_timeout = Duration::from_millis(600);
    settings.database.lock_timeout = Duration::from_millis(300);
    let app = App::with(settings).await;
    let known = key.token(&issuer, "known");
    me(&app, &known).await.expect_status(200);
    let held = app.hold("LOCK TABLE user_identity IN ACCESS EXCLUSIVE MODE").await;
    me(&app, &known).await.expect_status(200);
    let answer = me(&app, &key.token(&issuer, "new")).await.expect_problem(503, "busy");
    assert!(!answer.header("retry-after").is_empty());
    held.release().await;
    me(&app, &key.token(&issuer, "new")).await.expect_status(200);
    app.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn the_application_s_role_can_add_identities_and_nothing_else() {
    let database = Database::new().await;
    let mut db = database.connect().await;
    let mut run = async |sql: &str| sqlx::raw_sql(sqlx::AssertSqlSafe(sql.to_owned())).execute(&mut db).await;
    run("SET ROLE ringi_app").await.unwrap();
    run("INSERT INTO user_identity (issuer, subject, user_id) VALUES ('i', 's', gen_random_uuid())").await.unwrap();
    for sql in [
        "UPDATE user_identity SET user_id = gen_random_uuid()",
        "DELETE FROM user_identity",
        "TRUNCATE user_identity",
        "SELECT * FROM user_identity FOR UPDATE",
    ] {
        let refused = run(sql).await.unwrap_err();
        assert_eq!(refused.as_database_error().unwrap().code().as_deref(), Some("42501"), "{sql}");
    }
    // One person's id is nobody else's.
    let stolen = "INSERT INTO user_identity SELECT 'i', 'other', user_id, now() FROM user_identity";
    assert_eq!(run(stolen).await.unwrap_err().as_database_error().unwrap().code().as_deref(), Some("23505"));
}

#[tokio::test(flavor = "multi_thread")]
async fn every_refusal_looks_the_same_from_outside() {
    let key = SigningKey::new(Algorithm::RS256);
    let server = KeyServer::start(Mood::Body(set(&[&key]))).await;
    let trusting = Trusting::start(&server, Algorithm::RS256, |_| {}).await;
    let issuer = trusting.issuer.as_str();
    assert_eq!(trusting.status(&trusting.token(&key)).await, 200);

    let good = claims(issuer, "somebody");
    let with = |changes: Value| {
        let mut claims = good.clone();
        for (name, value) in changes.as_object().unwrap() {
            claims[name] = value.clone();
        }
        key.sign(&key.header(), &claims)
    };
    let without = |name: &str| {
        let mut claims = good.clone();
        claims.as_object_mut().unwrap().remove(name);
        key.sign(&key.header(), &claims)
    };
    let hs256 = |secret: &[u8]| {
        let header = Header { kid: Some(key.id.clone()), ..Header::new(Algorithm::HS256) };
        encode(&header, &good, &EncodingKey::from_secret(secret).unwrap()).unwrap()
    };
    let other = SigningKey::new(Algorithm::RS256);
    let signed = key.token(issuer, "somebody");
    let (head, rest) = signed.split_once('.').unwrap();
    let another = key.token(issuer, "somebody else");
    let changed = format!("{}.{}", another.rsplit_once('.').unwrap().0, signed.rsplit_once('.').unwrap().1);
    let none = "eyJhbGciOiJub25lIiwidHlwIjoiSldUIn0";
    let refused = [
        ("malformed", "nonsense".to_owned()),
        ("malformed", without("exp")),
        ("malformed", without("aud")),
        ("malformed", without("sub")),
        ("issuer", with(json!({"iss": "https://elsewhere.example"}))),
        ("malformed", with(json!({"iss": [issuer]}))),
        ("audience", with(json!({"aud": "another application"}))),
        ("audience", with(json!({"aud": []}))),
        ("time", with(json!({"exp": now() - 60}))),
        ("time", with(json!({"nbf": now() + 60}))),
        ("time", with(json!({"iat": now() + 60}))),
        ("lifetime", with(json!({"exp": now() + 400_000}))),
        ("subject", with(json!({"sub": ""}))),
        ("subject", with(json!({"sub": "a b"}))),
        ("signature", other.sign(&key.header(), &good)),
        ("signature", changed),
        ("malformed", format!("{head}.{}", rest.replacen('.', "A.", 1))),
        ("unknown_key", other.token(issuer, "somebody")),
        // Algorithm confusion: the public key, as everybody can have it, for a secret.
        ("algorithm", hs256(key.public_pem().as_bytes())),
        ("algorithm", hs256(key.public_pem().trim().as_bytes())),
        ("algorithm", hs256(crate::harness::SECRET.as_bytes())),
        ("algorithm", format!("{none}.{rest}")),
        ("algorithm", format!("{none}.{}.", rest.split('.').next().unwrap())),
        ("malformed", key.sign(&Header { typ: Some("logout+jwt".into()), ..key.header() }, &good)),
        ("malformed", key.sign(&Header { crit: Some(vec!["exp".into()]), ..key.header() }, &good)),
        ("too_large", with(json!({"name": "x".repeat(8_192)}))),
    ];
    let mut first: Option<Value> = None;
    for (reason, token) in refused {
        let before = metric(&trusting.app, "ringi_token_refusals_total", &[&format!("\"{reason}\"")]).await;
        let answer = trusting.me(&token).await.expect_problem(401, "unauthenticated");
        assert!(!answer.header("www-authenticate").is_empty());
        let after = metric(&trusting.app, "ringi_token_refusals_total", &[&format!("\"{reason}\"")]).await;
        assert!(after > before, "{reason}: {token}");
        let mut body = answer.body;
        body.as_object_mut().unwrap().remove("request_id");
        assert_eq!(first.get_or_insert_with(|| body.clone()), &body, "{reason}");
    }
    // An ID token's audience is the client; an audience list that names us is fine.
    assert_eq!(trusting.status(&with(json!({"aud": ["other", AUDIENCE]}))).await, 200);
    trusting.app.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn an_issuer_alone_is_enough_and_the_local_key_is_then_nobody() {
    let (issuer, key) = (new_issuer(), SigningKey::new(Algorithm::EdDSA));
    let mut settings = settings();
    settings.auth.hs256_secret = ringi::config::Secret::default();
    settings.auth.issuers =
        vec![Issuer { public_key: Some(key.public_pem()), ..issuer_settings(&issuer, key.algorithm) }];
    let app = App::with(settings).await;
    me(&app, &key.token(&issuer, "x")).await.expect_status(200);
    me(&app, &app.admin.token).await.expect_problem(401, "unauthenticated");
    let empty = sign(&[0; 32], UserId(app.admin.id), PATIENCE).unwrap();
    me(&app, &empty).await.expect_problem(401, "unauthenticated");
    until("the first look", || async { app.count("SELECT count(*) FROM user_identity").await == 1 }).await;
    app.stop().await;
}

/// What the program says to a file of settings.
fn told(toml: &str, environment: &[(&str, &str)], command: &str) -> (bool, String) {
    let file = std::env::temp_dir().join(format!("ringi-{}.toml", Uuid::new_v4()));
    std::fs::write(&file, toml).unwrap();
    let output = std::process::Command::new(env!("CARGO_BIN_EXE_ringi"))
        .arg(command)
        .env_remove("DATABASE_URL")
        .env("RINGI_CONFIG", &file)
        .envs(environment.iter().copied())
        .current_dir(env!("CARGO_MANIFEST_DIR"))
        .output()
        .unwrap();
    std::fs::remove_file(&file).unwrap();
    (output.status.success(), String::from_utf8(output.stderr).unwrap())
}

fn entry(fields: &str) -> String {
    format!("[[auth.issuers]]\nissuer = \"https://id.example/\"\naudience = \"ringi\"\n{fields}\n")
}

#[test]
fn good_settings_of_each_kind_are_taken() {
    let inline = |name: &str| std::fs::read_to_string(format!("tests/it/keys/{name}.pem")).unwrap();
    for fields in [
        "algorithm = \"RS256\"\njwks_url = \"https://id.example/keys\"".to_owned(),
        "algorithm = \"RS256\"\npublic_key_file = \"tests/it/keys/rsa-2048.pem\"".to_owned(),
        format!("algorithm = \"ES256\"\npublic_key = \"\"\"{}\"\"\"", inline("ec-p256")),
        format!("algorithm = \"EdDSA\"\npublic_key = \"\"\"{}\"\"\"", inline("ed25519")),
    ] {
        let (fine, said) = told(&entry(&fields), &[], "openapi");
        assert!(fine, "{fields}: {said}");
    }
    let json = r#"[{"issuer": "https://id.example", "audience": ["a", "b"], "algorithm": "EdDSA",
                    "public_key_file": "tests/it/keys/ed25519.pem"}]"#;
    let (fine, said) = told("", &[("RINGI__AUTH__ISSUERS", json)], "openapi");
    assert!(fine, "{said}");
}

#[test]
fn unfit_settings_are_refused_with_a_sentence_that_says_what_to_do() {
    let url = "jwks_url = \"https://id.example/keys\"";
    let key = |algorithm: &str, file: &str| {
        entry(&format!("algorithm = \"{algorithm}\"\npublic_key_file = \"tests/it/keys/{file}.pem\""))
    };
    let rs256 = entry(&format!("algorithm = \"RS256\"\n{url}"));
    let private = "-----BEGIN PRIVATE KEY-----\nAAAA\n-----END PRIVATE KEY-----";
    for (toml, says) in [
        (entry(&format!("algorithm = \"HS256\"\n{url}")), "exactly one of RS256, ES256, EdDSA"),
        (entry(&format!("algorithm = \"none\"\n{url}")), "exactly one of"),
        (entry(&format!("algorithm = \"rs256\"\n{url}")), "exactly one of"),
        (entry(url), "exactly one of"),
        (entry("algorithm = \"RS256\""), "exactly one of jwks_url"),
        (entry(&format!("algorithm = \"RS256\"\n{url}\npublic_key_file = \"x\"")), "exactly one of jwks_url"),
        (entry("algorithm = \"RS256\"\njwks_url = \"http://id.example/keys\""), "must be https"),
        (entry("algorithm = \"RS256\"\njwks_url = \"id.example\""), "jwks_uri"),
        (entry("algorithm = \"RS256\"\npublic_key_file = \"/nowhere.pem\""), "can't be read"),
        (entry(&format!("algorithm = \"EdDSA\"\npublic_key = \"\"\"{private}\"\"\"")), "is a private key"),
        (entry("algorithm = \"RS256\"\npublic_key = \"MIIB\""), "BEGIN PUBLIC KEY"),
        (key("RS256", "ec-p256"), "not fit for RS256"),
        (key("RS256", "rsa-1024"), "not fit for RS256"),
        (key("ES256", "rsa-2048"), "not fit for ES256"),
        (key("ES256", "ec-p384"), "not fit for ES256"),
        (key("EdDSA", "ec-p256"), "not fit for EdDSA"),
        (format!("{rs256}{rs256}"), "stands there twice"),
        (rs256.replace("\"ringi\"", "[]"), "audience must name"),
        (rs256.replace("\"ringi\"", "\" \""), "audience must name"),
        (rs256.replace("https://id.example/\"", "ringi\""), "name of the local key"),
        (rs256.replace("https://id.example/\"", "\""), "issuer must be"),
        (rs256.replace("audience", "audiance"), "audiance"),
        ("[auth]\njwks_cooldown_s = 0".to_owned(), "jwks_cooldown_s"),
        ("[auth]\njwks_timeout_ms = 0".to_owned(), "jwks_timeout_ms"),
        ("[auth]\nissuers = \"https://id.example\"".to_owned(), "must be JSON"),
    ] {
        let (fine, said) = told(&toml, &[], "openapi");
        assert!(!fine && said.contains(says), "{toml}\n{says}\n{said}");
    }
    let (fine, said) = told("", &[("RINGI__AUTH__HS256_SECRET", "")], "serve");
    assert!(!fine && said.contains("nobody could sign in") && said.contains("auth.issuers"), "{said}");
}
