//! Who signed a token, and what it proves: every check that the library leaves to its user.
//!
//! A token whose `iss` is a configured issuer is judged by that issuer's keys and by nothing else; one without `iss`,
//! or with `iss` "ringi", by the local key where there is one. What its sender may do is not known here: that is
//! read from the locked membership row.
//!
//! [`Tokens::check`] is the whole way of a token; the rules of one issuer are in `issuer`, its keys in `keys`, how
//! they are fetched and kept in `jwks`. The self-test of every start is in `self_test`.

mod issuer;
mod jwks;
mod keys;
mod local;
mod refusal;
mod self_test;

pub use issuer::{IssuerSettings, KeySource};
pub use jwks::{FetchSettings, key_url};
pub use keys::{Algorithm, PublicKey};
pub use local::{LOCAL_ISSUER, SECRET_MIN_BYTES, sign};
pub use refusal::TokenRefusal;

use crate::domain::identity::Identity;
use crate::domain::ids::UserId;
use base64::Engine;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use issuer::Issuer;
use local::LocalKey;
use serde::de::{Deserializer, IgnoredAny, Visitor};
use serde::{Deserialize, Serialize};
use std::collections::HashMap;
use std::sync::Arc;
use std::time::{Duration, SystemTime, UNIX_EPOCH};
use tokio::task::JoinSet;

/// The largest token, in bytes.
const TOKEN_MAX_BYTES: usize = 8 * 1024;

/// What a good token proves.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Subject {
    /// The local key's: its `sub` is a user's id.
    User(UserId),
    /// A provider's: its `sub` is a subject of that issuer.
    Identity(Identity),
}

/// The bounds on a token's times.
#[derive(Clone, Copy, Debug)]
pub struct Times {
    /// How far clocks may differ.
    pub leeway: Duration,
    /// The longest lifetime that is accepted.
    pub max_lifetime: Duration,
}

/// Checks tokens. Cheap to clone.
#[derive(Clone)]
pub struct Tokens {
    local: Option<Arc<LocalKey>>,
    issuers: Arc<HashMap<Arc<str>, Issuer>>,
    leeway: Duration,
}

impl std::fmt::Debug for Tokens {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Tokens")
            .field("local", &self.local.is_some())
            .field("issuers", &self.issuers.keys())
            .finish_non_exhaustive()
    }
}

impl Tokens {
    /// Checks tokens signed with the local `secret`, where there is one, and those of the `issuers`. Tries on itself
    /// what must be refused.
    ///
    /// # Errors
    /// A sentence that says what to do: nobody could sign in, a key is unfit, or the checks do not hold.
    pub fn new(
        times: Times,
        secret: Option<&[u8]>,
        issuers: Vec<IssuerSettings>,
        fetching: FetchSettings,
    ) -> Result<Self, String> {
        if secret.is_none() && issuers.is_empty() {
            return Err("nobody could sign in: list an identity provider under auth.issuers (config/default.toml has \
                        an example), or set RINGI__AUTH__HS256_SECRET, for example to the output of \
                        `openssl rand -hex 32`"
                .to_owned());
        }
        let local = secret.map(|secret| LocalKey::new(secret, times)).transpose()?;
        if let (Some(local), Some(secret)) = (&local, secret) {
            self_test::local(local, secret)?;
        }
        let mut by_name = HashMap::with_capacity(issuers.len());
        for settings in issuers {
            let name = Arc::clone(&settings.issuer);
            let issuer = Issuer::new(settings, times, fetching)?;
            self_test::issuer(&issuer)?;
            if by_name.insert(Arc::clone(&name), issuer).is_some() {
                return Err(format!("auth.issuers: {name:?} stands there twice"));
            }
        }
        Ok(Self { local: local.map(Arc::new), issuers: Arc::new(by_name), leeway: times.leeway })
    }

    /// Begins to fetch the keys of every issuer with a JWKS, at once and then again and again, until the answer is
    /// dropped. The first tokens wait for the first fetch.
    #[must_use]
    pub fn keep_keys_fresh(&self) -> JoinSet<()> {
        let mut tasks = JoinSet::new();
        for issuer in self.issuers.values() {
            if let Some(fetching) = issuer.keep_keys_fresh() {
                tasks.spawn(fetching);
            }
        }
        tasks
    }

    /// Checks a token. Waits only where its issuer's keys must be asked for.
    ///
    /// # Errors
    /// [`TokenRefusal`].
    pub async fn check(&self, token: &str) -> Result<Subject, TokenRefusal> {
        let (head, issuer) = peek(token)?;
        match issuer.as_deref() {
            None | Some(LOCAL_ISSUER) => {
                self.local.as_deref().ok_or(TokenRefusal::Issuer)?.check(token).map(Subject::User)
            }
            Some(name) => {
                let issuer = self.issuers.get(name).ok_or(TokenRefusal::Issuer)?;
                issuer.check(token, &head).await.map(Subject::Identity)
            }
        }
    }

    /// For how long a token that was found good will still be, as clocks may differ. Of any other it says nothing.
    #[must_use]
    pub fn time_left(&self, token: &str) -> Duration {
        #[derive(Deserialize)]
        struct End {
            exp: NumericDate,
        }
        let claims = token.split('.').nth(1).unwrap_or_default();
        let Ok(End { exp }) = read_part(claims) else { return Duration::ZERO };
        let left = u64::try_from(exp.0.saturating_sub(now())).map_or(Duration::ZERO, Duration::from_secs);
        left + self.leeway
    }
}

/// What a header says that decides how its token is checked. `jku`, `jwk` and `x5u` are not read: a token does not
/// choose the key that judges it.
#[derive(Debug, Deserialize)]
struct Head {
    alg: String,
    #[serde(default)]
    typ: Option<String>,
    #[serde(default)]
    kid: Option<String>,
    #[serde(default, deserialize_with = "is_there")]
    crit: bool,
}

/// Reads what decides who judges the token, before anything of it is believed.
fn peek(token: &str) -> Result<(Head, Option<String>), TokenRefusal> {
    #[derive(Deserialize)]
    struct Claims {
        #[serde(default)]
        iss: Option<String>,
    }
    if token.len() > TOKEN_MAX_BYTES {
        return Err(TokenRefusal::TooLarge);
    }
    let mut parts = token.split('.');
    let (Some(header), Some(claims), Some(_), None) = (parts.next(), parts.next(), parts.next(), parts.next()) else {
        return Err(TokenRefusal::Malformed);
    };
    let head: Head = read_part(header)?;
    // A logout token or an ID token of the same key is no access token.
    let access =
        head.typ.as_deref().is_none_or(|typ| typ.eq_ignore_ascii_case("jwt") || typ.eq_ignore_ascii_case("at+jwt"));
    // What is critical must be understood, and there is nothing of the kind that this program understands.
    if !access || head.crit {
        return Err(TokenRefusal::Malformed);
    }
    let claims: Claims = read_part(claims)?;
    Ok((head, claims.iss))
}

/// Reads an object. (An array would do for serde.)
fn read_part<T: serde::de::DeserializeOwned>(part: &str) -> Result<T, TokenRefusal> {
    let json = URL_SAFE_NO_PAD.decode(part).map_err(|_| TokenRefusal::Malformed)?;
    if json.trim_ascii_start().first() != Some(&b'{') {
        return Err(TokenRefusal::Malformed);
    }
    serde_json::from_slice(&json).map_err(|_| TokenRefusal::Malformed)
}

/// True for a member that is there, whatever its value, null included.
fn is_there<'de, D: Deserializer<'de>>(deserializer: D) -> Result<bool, D::Error> {
    IgnoredAny::deserialize(deserializer).map(|_| true)
}

/// The claims that are read once the signature was found good.
#[derive(Debug, Serialize, Deserialize)]
struct Claims {
    sub: String,
    exp: NumericDate,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    iat: Option<NumericDate>,
}

impl Claims {
    /// What the library does not check: `iat`, and how long the token is valid. It has checked `exp` and `nbf`.
    fn check(&self, times: Times) -> Result<(), TokenRefusal> {
        let leeway = i64::try_from(times.leeway.as_secs()).unwrap_or(0);
        let now = now();
        if self.iat.is_some_and(|iat| iat.0 > now.saturating_add(leeway)) {
            return Err(TokenRefusal::Time);
        }
        let lifetime = self.exp.0.saturating_sub(self.iat.map_or(now, |iat| iat.0));
        let longest = i64::try_from(times.max_lifetime.as_secs()).unwrap_or(i64::MAX);
        if lifetime > longest.saturating_add(leeway) {
            return Err(TokenRefusal::Lifetime);
        }
        Ok(())
    }
}

/// Seconds since 1970. Some providers write a fraction (RFC 7519, 2), which is cut off.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(transparent)]
struct NumericDate(i64);

impl<'de> Deserialize<'de> for NumericDate {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Seconds;
        impl Visitor<'_> for Seconds {
            type Value = NumericDate;

            fn expecting(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                f.write_str("seconds since 1970")
            }

            fn visit_i64<E: serde::de::Error>(self, seconds: i64) -> Result<NumericDate, E> {
                Ok(NumericDate(seconds))
            }

            fn visit_u64<E: serde::de::Error>(self, seconds: u64) -> Result<NumericDate, E> {
                i64::try_from(seconds).map(NumericDate).map_err(|_| E::custom("a time out of reach"))
            }

            fn visit_f64<E: serde::de::Error>(self, seconds: f64) -> Result<NumericDate, E> {
                // Up to the year 5138: beyond it is no time that anybody means, and not exact.
                if !(0.0..1e11).contains(&seconds) {
                    return Err(E::custom("a time out of reach"));
                }
                Duration::try_from_secs_f64(seconds)
                    .ok()
                    .and_then(|since| i64::try_from(since.as_secs()).ok())
                    .map(NumericDate)
                    .ok_or_else(|| E::custom("a time out of reach"))
            }
        }
        deserializer.deserialize_any(Seconds)
    }
}

fn now() -> i64 {
    // A clock before 1970 makes every token one from the future, which is refused.
    SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, |d| i64::try_from(d.as_secs()).unwrap_or(i64::MAX))
}

#[cfg(test)]
mod tests;
