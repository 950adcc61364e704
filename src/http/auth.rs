//! Who is asking: the bearer token, checked in every way that its library leaves to its user.
//!
//! The token says who. What that person may do is read from the locked membership row, never from here.

use super::problem::Problem;
use crate::domain::ids::UserId;
use actix_web::HttpRequest;
use actix_web::http::header;
use jsonwebtoken::{Algorithm, DecodingKey, EncodingKey, Header, Validation, decode, decode_header, encode};
use serde::{Deserialize, Serialize};
use std::time::{Duration, SystemTime, UNIX_EPOCH};
use uuid::Uuid;

/// The shortest HS256 key, in bytes: as long as the hash (RFC 7518, 3.2).
pub const SECRET_MIN_BYTES: usize = 32;
/// The largest token, in bytes.
const TOKEN_MAX_BYTES: usize = 8 * 1024;

/// How tokens are checked.
#[derive(Clone)]
pub struct Auth {
    key: DecodingKey,
    validation: Validation,
    leeway: Duration,
    max_lifetime: Duration,
}

impl std::fmt::Debug for Auth {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Auth").field("max_lifetime", &self.max_lifetime).finish_non_exhaustive()
    }
}

/// Why a token was refused. For log and metrics; the client learns only that it was.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum TokenRefusal {
    /// No `Authorization: Bearer`, or more than one.
    #[error("missing")]
    Missing,
    /// Larger than any real token.
    #[error("too_large")]
    TooLarge,
    /// Not a token, or of a type that is no access token.
    #[error("malformed")]
    Malformed,
    /// Another algorithm than the key's.
    #[error("algorithm")]
    Algorithm,
    /// Not signed by the key.
    #[error("signature")]
    Signature,
    /// Outside its time.
    #[error("time")]
    Time,
    /// Valid for longer than any access token should be.
    #[error("lifetime")]
    Lifetime,
    /// `sub` is not a user's UUID.
    #[error("subject")]
    Subject,
}

impl TokenRefusal {
    const fn name(self) -> &'static str {
        match self {
            Self::Missing => "missing",
            Self::TooLarge => "too_large",
            Self::Malformed => "malformed",
            Self::Algorithm => "algorithm",
            Self::Signature => "signature",
            Self::Time => "time",
            Self::Lifetime => "lifetime",
            Self::Subject => "subject",
        }
    }
}

#[derive(Debug, Serialize, Deserialize)]
struct Claims {
    sub: String,
    exp: i64,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    iat: Option<i64>,
}

impl Auth {
    /// Checks tokens signed with the local HS256 `secret`.
    ///
    /// # Errors
    /// A sentence that says what to do, when the secret is too short or the checks do not hold.
    pub fn local(secret: &[u8], leeway: Duration, max_lifetime: Duration) -> Result<Self, String> {
        if secret.len() < SECRET_MIN_BYTES {
            return Err(format!(
                "auth.hs256_secret has {} bytes: it needs {SECRET_MIN_BYTES} or more; make one with `openssl rand -hex 32`",
                secret.len()
            ));
        }
        let mut validation = Validation::new(Algorithm::HS256);
        validation.leeway = leeway.as_secs();
        validation.validate_exp = true;
        validation.validate_nbf = true;
        // The local key has one purpose, so its tokens need no audience, and one that names one is not refused.
        validation.validate_aud = false;
        validation.set_required_spec_claims(&["exp", "sub"]);
        let key = DecodingKey::from_secret(secret).map_err(|error| format!("auth.hs256_secret: {error}"))?;
        let auth = Self { key, validation, leeway, max_lifetime };
        auth.self_test(secret)?;
        Ok(auth)
    }

    /// Tokens that must be refused, tried at every start: a library's update or a wrong feature must not open a door.
    fn self_test(&self, secret: &[u8]) -> Result<(), String> {
        let user = UserId(Uuid::from_u128(1));
        let sign = |algorithm, key: &[u8], exp: i64| {
            let claims = Claims { sub: user.to_string(), exp, iat: None };
            EncodingKey::from_secret(key)
                .and_then(|key| encode(&Header::new(algorithm), &claims, &key))
                .map_err(|error| error.to_string())
        };
        let soon = now() + 60;
        let unsigned =
            "eyJhbGciOiJub25lIn0.eyJzdWIiOiIwMDAwMDAwMC0wMDAwLTAwMDAtMDAwMC0wMDAwMDAwMDAwMDEiLCJleHAiOjQwMDAwMDAwMDB9.";
        let cases = [
            ("a good token", sign(Algorithm::HS256, secret, soon)?, true),
            ("an unsigned token", unsigned.to_owned(), false),
            ("an expired token", sign(Algorithm::HS256, secret, now() - 3600)?, false),
            ("another algorithm", sign(Algorithm::HS512, secret, soon)?, false),
            ("another key", sign(Algorithm::HS256, b"another key of thirty-two bytes!", soon)?, false),
        ];
        for (what, token, good) in cases {
            if self.check(&token).is_ok() != good {
                return Err(format!("the token check failed its self-test with {what}: this build must not be used"));
            }
        }
        Ok(())
    }

    /// Who sends this request.
    ///
    /// # Errors
    /// 401 `unauthenticated`; the reason goes to log and metrics only.
    pub fn user(&self, request: &HttpRequest) -> Result<UserId, Problem> {
        bearer(request).and_then(|token| self.check(token)).map_err(|refusal| {
            metrics::counter!("ringi_token_refusals_total", "reason" => refusal.name()).increment(1);
            tracing::debug!(%refusal, "token refused");
            match refusal {
                TokenRefusal::Missing => Problem::token_missing(),
                _ => Problem::token_refused(),
            }
        })
    }

    fn check(&self, token: &str) -> Result<UserId, TokenRefusal> {
        use jsonwebtoken::errors::ErrorKind;
        if token.len() > TOKEN_MAX_BYTES {
            return Err(TokenRefusal::TooLarge);
        }
        let header = decode_header(token).map_err(|_| TokenRefusal::Malformed)?;
        // A logout token or an ID token of the same key is no access token.
        let access = header
            .typ
            .as_deref()
            .is_none_or(|typ| typ.eq_ignore_ascii_case("jwt") || typ.eq_ignore_ascii_case("at+jwt"));
        if !access {
            return Err(TokenRefusal::Malformed);
        }
        let token = decode::<Claims>(token, &self.key, &self.validation).map_err(|error| match error.kind() {
            ErrorKind::InvalidSignature => TokenRefusal::Signature,
            ErrorKind::InvalidAlgorithm | ErrorKind::InvalidAlgorithmName => TokenRefusal::Algorithm,
            ErrorKind::ExpiredSignature | ErrorKind::ImmatureSignature => TokenRefusal::Time,
            _ => TokenRefusal::Malformed,
        })?;
        let claims = token.claims;
        let leeway = i64::try_from(self.leeway.as_secs()).unwrap_or(0);
        if claims.iat.is_some_and(|iat| iat > now() + leeway) {
            return Err(TokenRefusal::Time);
        }
        let lifetime = claims.exp.saturating_sub(claims.iat.unwrap_or_else(now));
        let longest = i64::try_from(self.max_lifetime.as_secs()).unwrap_or(i64::MAX);
        if lifetime > longest.saturating_add(leeway) {
            return Err(TokenRefusal::Lifetime);
        }
        super::extract::parse_uuid(&claims.sub).map(UserId).ok_or(TokenRefusal::Subject)
    }
}

fn bearer(request: &HttpRequest) -> Result<&str, TokenRefusal> {
    let mut values = request.headers().get_all(header::AUTHORIZATION);
    let (Some(value), None) = (values.next(), values.next()) else { return Err(TokenRefusal::Missing) };
    let (scheme, token) = value.to_str().ok().and_then(|text| text.split_once(' ')).ok_or(TokenRefusal::Missing)?;
    if scheme.eq_ignore_ascii_case("bearer") { Ok(token.trim()) } else { Err(TokenRefusal::Missing) }
}

/// Signs a token for `user` with the local key: for development, the demo and tests.
///
/// # Errors
/// When the library can't sign.
pub fn sign(secret: &[u8], user: UserId, lifetime: Duration) -> Result<String, jsonwebtoken::errors::Error> {
    let now = now();
    let exp = now.saturating_add(i64::try_from(lifetime.as_secs()).unwrap_or(i64::MAX));
    let claims = Claims { sub: user.to_string(), exp, iat: Some(now) };
    encode(&Header::new(Algorithm::HS256), &claims, &EncodingKey::from_secret(secret)?)
}

fn now() -> i64 {
    // A clock before 1970 makes every token one from the future, which is refused.
    SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, |d| i64::try_from(d.as_secs()).unwrap_or(i64::MAX))
}

#[cfg(test)]
mod tests {
    use super::*;
    use actix_web::test::TestRequest;
    use serde_json::{Value, json};

    const SECRET: &[u8] = b"0123456789abcdef0123456789abcdef";

    fn auth() -> Auth {
        Auth::local(SECRET, Duration::from_secs(30), Duration::from_hours(24)).expect("a good key")
    }

    fn token(header: &Header, claims: &Value) -> String {
        encode(header, claims, &EncodingKey::from_secret(SECRET).expect("a key")).expect("signs")
    }

    fn with(changes: &Value) -> Value {
        let mut claims = json!({"sub": Uuid::from_u128(7).to_string(), "exp": now() + 600, "iat": now()});
        for (key, value) in changes.as_object().expect("an object") {
            claims[key] = value.clone();
        }
        claims
    }

    #[test]
    fn each_trap_is_refused_for_its_reason() {
        let jwt = Header::new(Algorithm::HS256);
        let check = |claims: Value| auth().check(&token(&jwt, &claims));
        assert_eq!(check(with(&json!({}))), Ok(UserId(Uuid::from_u128(7))));
        assert_eq!(check(with(&json!({"exp": now() - 20}))), Ok(UserId(Uuid::from_u128(7))), "within the leeway");
        assert_eq!(check(with(&json!({"exp": now() - 40}))), Err(TokenRefusal::Time));
        assert_eq!(check(with(&json!({"nbf": now() + 40}))), Err(TokenRefusal::Time));
        assert_eq!(check(with(&json!({"iat": now() + 40}))), Err(TokenRefusal::Time));
        assert_eq!(check(with(&json!({"exp": now() + 90_000}))), Err(TokenRefusal::Lifetime));
        assert_eq!(check(with(&json!({"exp": 1e300}))), Err(TokenRefusal::Malformed));
        assert_eq!(check(with(&json!({"sub": ""}))), Err(TokenRefusal::Subject));
        assert_eq!(check(with(&json!({"sub": ["a"]}))), Err(TokenRefusal::Malformed));
        assert_eq!(check(json!({"sub": Uuid::nil().to_string()})), Err(TokenRefusal::Malformed), "no exp");
        assert_eq!(check(json!({"exp": now() + 60})), Err(TokenRefusal::Malformed), "no sub");
        let logout = Header { typ: Some("logout+jwt".into()), ..jwt.clone() };
        assert_eq!(auth().check(&token(&logout, &with(&json!({})))), Err(TokenRefusal::Malformed));
        assert_eq!(auth().check(&"a".repeat(2_000_000)), Err(TokenRefusal::TooLarge));
        for garbage in ["", ".", "..", "a.b.c", "e30.e30.e30"] {
            assert_eq!(auth().check(garbage), Err(TokenRefusal::Malformed), "{garbage}");
        }
        let other =
            encode(&jwt, &with(&json!({})), &EncodingKey::from_secret(&[b'x'; 32]).expect("a key")).expect("signs");
        assert_eq!(auth().check(&other), Err(TokenRefusal::Signature));
    }

    #[test]
    fn a_short_secret_is_refused_with_advice() {
        let refused = Auth::local(b"short", Duration::ZERO, Duration::ZERO).expect_err("too short");
        assert!(refused.contains("openssl rand"), "{refused}");
    }

    #[test]
    fn one_bearer_header_is_needed() {
        let request = |headers: &[(&str, &str)]| {
            headers.iter().fold(TestRequest::default(), |r, h| r.append_header(*h)).to_http_request()
        };
        assert_eq!(bearer(&request(&[])), Err(TokenRefusal::Missing));
        assert_eq!(bearer(&request(&[("authorization", "Basic abc")])), Err(TokenRefusal::Missing));
        assert_eq!(bearer(&request(&[("authorization", "bearer abc")])), Ok("abc"));
        let twice = [("authorization", "Bearer a"), ("authorization", "Bearer b")];
        assert_eq!(bearer(&request(&twice)), Err(TokenRefusal::Missing));
    }
}
