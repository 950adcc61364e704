//! The local key: HS256 tokens for development, for scripts, and where there is no identity provider.

use super::{Claims, NumericDate, Times, TokenRefusal, now};
use crate::domain::ids::UserId;
use jsonwebtoken::{DecodingKey, EncodingKey, Header, Validation, decode, encode};
use std::time::Duration;
use uuid::Uuid;

/// The shortest HS256 key, in bytes: as long as the hash (RFC 7518, 3.2).
pub const SECRET_MIN_BYTES: usize = 32;
/// The issuer of the local key's tokens, where they name one.
pub const LOCAL_ISSUER: &str = "ringi";

/// Checks tokens signed with the local secret.
pub(super) struct LocalKey {
    key: DecodingKey,
    validation: Validation,
    times: Times,
}

impl LocalKey {
    pub(super) fn new(secret: &[u8], times: Times) -> Result<Self, String> {
        if secret.len() < SECRET_MIN_BYTES {
            return Err(format!(
                "auth.hs256_secret has {} bytes: it needs {SECRET_MIN_BYTES} or more; make one with `openssl rand -hex 32`",
                secret.len()
            ));
        }
        let mut validation = Validation::new(jsonwebtoken::Algorithm::HS256);
        validation.leeway = times.leeway.as_secs();
        validation.validate_exp = true;
        validation.validate_nbf = true;
        // The local key has one purpose, so its tokens need no audience, and one that names one is not refused.
        validation.validate_aud = false;
        validation.set_required_spec_claims(&["exp", "sub"]);
        // Not required, but where it stands it is this one: `Tokens::check` sees to that first.
        validation.set_issuer(&[LOCAL_ISSUER]);
        let key = DecodingKey::from_secret(secret).map_err(|error| format!("auth.hs256_secret: {error}"))?;
        Ok(Self { key, validation, times })
    }

    pub(super) fn check(&self, token: &str) -> Result<UserId, TokenRefusal> {
        let claims = decode::<Claims>(token, &self.key, &self.validation)?.claims;
        claims.check(self.times)?;
        // As everywhere in the contract: hyphenated, nothing around it.
        let sub = (claims.sub.len() == 36).then_some(&*claims.sub).ok_or(TokenRefusal::Subject)?;
        Uuid::try_parse(sub).map(UserId).map_err(|_| TokenRefusal::Subject)
    }
}

/// Signs a token for `user` with the local key: for development, the demo and tests.
///
/// # Errors
/// When the library can't sign.
pub fn sign(secret: &[u8], user: UserId, lifetime: Duration) -> Result<String, jsonwebtoken::errors::Error> {
    let now = now();
    let exp = now.saturating_add(i64::try_from(lifetime.as_secs()).unwrap_or(i64::MAX));
    let claims = Claims { sub: user.to_string(), exp: NumericDate(exp), iat: Some(NumericDate(now)) };
    encode(&Header::new(jsonwebtoken::Algorithm::HS256), &claims, &EncodingKey::from_secret(secret)?)
}
