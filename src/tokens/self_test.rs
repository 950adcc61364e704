//! Tokens that must be refused, tried at every start: a library's update, a wrong feature or a careless change must
//! not open a door.

use super::issuer::Issuer;
use super::local::LocalKey;
use super::{Algorithm, LOCAL_ISSUER, PublicKey, now};
use aws_lc_rs::encoding::{AsDer, Pkcs8V1Der};
use aws_lc_rs::rand::SystemRandom;
use aws_lc_rs::signature::{ECDSA_P256_SHA256_FIXED_SIGNING, EcdsaKeyPair, Ed25519KeyPair, RsaKeyPair};
use base64::Engine;
use base64::engine::general_purpose::{STANDARD, URL_SAFE_NO_PAD};
use jsonwebtoken::jwk::Jwk;
use jsonwebtoken::{EncodingKey, Header, encode};
use serde_json::{Value, json};
use uuid::Uuid;

type Sign = jsonwebtoken::Algorithm;

fn verdict(whose: &str, what: &str, good: bool, accepted: bool) -> Result<(), String> {
    if good == accepted {
        return Ok(());
    }
    Err(format!("the token check of {whose} failed its self-test with {what}: this build must not be used"))
}

fn signed(algorithm: Sign, key: &EncodingKey, claims: &Value) -> Result<String, String> {
    encode(&Header::new(algorithm), claims, key).map_err(|error| format!("self-test: {error}"))
}

/// `claims` with a header that asks for no signature, and none.
fn unsigned(claims: &Value) -> String {
    let part = |json: String| URL_SAFE_NO_PAD.encode(json);
    format!("{}.{}.", part(json!({"alg": "none", "typ": "JWT"}).to_string()), part(claims.to_string()))
}

fn secret(bytes: &[u8]) -> Result<EncodingKey, String> {
    EncodingKey::from_secret(bytes).map_err(|error| format!("self-test: {error}"))
}

fn with(claims: &Value, changes: &[(&str, Value)]) -> Value {
    let mut claims = claims.clone();
    for (name, value) in changes {
        let Some(object) = claims.as_object_mut() else { continue };
        match value {
            Value::Null => drop(object.remove(*name)),
            value => drop(object.insert((*name).to_owned(), value.clone())),
        }
    }
    claims
}

/// The local key.
pub(super) fn local(key: &LocalKey, bytes: &[u8]) -> Result<(), String> {
    let good = json!({"sub": Uuid::nil().to_string(), "exp": now() + 60});
    let (own, other) = (secret(bytes)?, secret(b"another key of thirty-two bytes!")?);
    let cases = [
        ("a good token", signed(Sign::HS256, &own, &good)?, true),
        ("an unsigned token", unsigned(&good), false),
        ("an expired token", signed(Sign::HS256, &own, &with(&good, &[("exp", json!(now() - 3600))]))?, false),
        ("a token without end", signed(Sign::HS256, &own, &with(&good, &[("exp", Value::Null)]))?, false),
        ("another algorithm", signed(Sign::HS512, &own, &good)?, false),
        ("another key", signed(Sign::HS256, &other, &good)?, false),
        ("another issuer", signed(Sign::HS256, &own, &with(&good, &[("iss", json!("https://id.example"))]))?, false),
    ];
    for (what, token, good) in cases {
        verdict(LOCAL_ISSUER, what, good, key.check(&token).is_ok())?;
    }
    Ok(())
}

/// One issuer: all that its own key can't sign here is signed with a key made for the moment.
pub(super) fn issuer(issuer: &Issuer) -> Result<(), String> {
    let algorithm = issuer.algorithm();
    let pair = Pair::new(algorithm)?;
    let sign = |claims: &Value| signed(algorithm.signature(), &pair.private, claims);
    let good = json!({"iss": issuer.name(), "aud": issuer.audience(), "sub": "self-test", "exp": now() + 60});
    let changed = |name: &str, value: Value| sign(&with(&good, &[(name, value)]));
    // The classic confusion: the public key, which everybody knows, taken for a secret.
    let confused = signed(Sign::HS256, &secret(&pair.public_bytes)?, &good)?;
    let cases = [
        ("a good token", sign(&good)?, true),
        ("an unsigned token", unsigned(&good), false),
        ("an expired token", changed("exp", json!(now() - 3600))?, false),
        ("a token from the future", changed("nbf", json!(now() + 3600))?, false),
        ("a token without end", changed("exp", Value::Null)?, false),
        ("a token without audience", changed("aud", Value::Null)?, false),
        ("a token for another audience", changed("aud", json!("self-test of another"))?, false),
        ("a token without issuer", changed("iss", Value::Null)?, false),
        ("a token of another issuer", changed("iss", json!("https://other.invalid"))?, false),
        ("a token without subject", changed("sub", Value::Null)?, false),
        ("a token of another family", confused, false),
    ];
    for (what, token, good) in cases {
        verdict(issuer.name(), what, good, issuer.judge(&token, &pair.public).is_ok())?;
    }
    if let Some(key) = issuer.fixed_key() {
        verdict(issuer.name(), "another key", false, issuer.judge(&sign(&good)?, key).is_ok())?;
    }
    Ok(())
}

/// A key pair for the moment.
pub(super) struct Pair {
    pub(super) private: EncodingKey,
    pub(super) public: PublicKey,
    /// The public key as its JWK, for whoever takes it for a secret.
    public_bytes: Vec<u8>,
    #[cfg(test)]
    pub(super) jwk: Jwk,
}

impl Pair {
    pub(super) fn new(algorithm: Algorithm) -> Result<Self, String> {
        let failed = |_| "self-test: no random numbers to make a key of".to_owned();
        let random = SystemRandom::new();
        let private = match algorithm {
            Algorithm::Rs256 => {
                let pair = RsaKeyPair::generate(aws_lc_rs::rsa::KeySize::Rsa2048).map_err(failed)?;
                let der: Pkcs8V1Der<'_> = pair.as_der().map_err(failed)?;
                // By way of a PEM: the library takes PKCS#8 from there alone.
                let pem = format!(
                    "-----BEGIN PRIVATE KEY-----\n{}\n-----END PRIVATE KEY-----\n",
                    STANDARD.encode(der.as_ref())
                );
                EncodingKey::from_rsa_pem(pem.as_bytes()).map_err(|error| format!("self-test: {error}"))?
            }
            Algorithm::Es256 => EncodingKey::from_ec_der(
                EcdsaKeyPair::generate_pkcs8(&ECDSA_P256_SHA256_FIXED_SIGNING, &random).map_err(failed)?.as_ref(),
            ),
            Algorithm::EdDsa => {
                EncodingKey::from_ed_der(Ed25519KeyPair::generate_pkcs8v1(&random).map_err(failed)?.as_ref())
            }
        };
        let jwk =
            Jwk::from_encoding_key(&private, algorithm.signature()).map_err(|error| format!("self-test: {error}"))?;
        let public = PublicKey::from_jwk(&jwk, algorithm).ok_or("self-test: a fit key was found unfit")?;
        let public_bytes = serde_json::to_vec(&jwk).map_err(|error| format!("self-test: {error}"))?;
        Ok(Self {
            private,
            public,
            public_bytes,
            #[cfg(test)]
            jwk,
        })
    }
}
