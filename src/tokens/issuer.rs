//! One identity provider: what its tokens must say, and which key judges them.

use super::jwks::{FetchSettings, Jwks};
use super::{Algorithm, Claims, Head, PublicKey, Times, TokenRefusal};
use crate::domain::identity::Identity;
use jsonwebtoken::{Validation, decode};
use std::future::Future;
use std::sync::Arc;

/// A trusted issuer, as configured and found fit.
#[derive(Clone, Debug)]
pub struct IssuerSettings {
    /// Exactly the `iss` of its tokens.
    pub issuer: Arc<str>,
    /// The `aud` of its tokens: one of these.
    pub audience: Vec<String>,
    /// The one algorithm of all its keys.
    pub algorithm: Algorithm,
    /// Where its keys come from.
    pub keys: KeySource,
}

/// Where an issuer's keys come from.
#[derive(Clone, Debug)]
pub enum KeySource {
    /// One key, given by the settings.
    Fixed(PublicKey),
    /// A JWKS, fetched and kept fresh.
    Url(reqwest::Url),
}

enum Keys {
    Fixed(Arc<PublicKey>),
    Fetched(Arc<Jwks>),
}

/// Checks the tokens of one issuer.
pub(super) struct Issuer {
    name: Arc<str>,
    algorithm: Algorithm,
    audience: Vec<String>,
    validation: Validation,
    times: Times,
    keys: Keys,
}

impl Issuer {
    pub(super) fn new(settings: IssuerSettings, times: Times, fetching: FetchSettings) -> Result<Self, String> {
        let IssuerSettings { issuer: name, audience, algorithm, keys } = settings;
        // A validation of its own: the library lets a validation with several families refuse everything.
        let mut validation = Validation::new(algorithm.signature());
        validation.leeway = times.leeway.as_secs();
        validation.validate_exp = true;
        validation.validate_nbf = true;
        validation.validate_aud = true;
        validation.set_audience(&audience);
        validation.set_issuer(&[&*name]);
        // Without this the library would take a token that leaves one out.
        validation.set_required_spec_claims(&["exp", "iss", "aud", "sub"]);
        let keys = match keys {
            KeySource::Fixed(key) => Keys::Fixed(Arc::new(key)),
            KeySource::Url(url) => Keys::Fetched(Arc::new(Jwks::new(Arc::clone(&name), algorithm, url, fetching)?)),
        };
        Ok(Self { name, algorithm, audience, validation, times, keys })
    }

    pub(super) async fn check(&self, token: &str, head: &Head) -> Result<Identity, TokenRefusal> {
        // Before the key is looked for: a token of another algorithm makes nobody ask the provider.
        if head.alg != self.algorithm.name() {
            return Err(TokenRefusal::Algorithm);
        }
        let key = match &self.keys {
            Keys::Fixed(key) => Arc::clone(key),
            Keys::Fetched(jwks) => jwks.key(head.kid.as_deref()).await?,
        };
        self.judge(token, &key)
    }

    /// Every check but which key: so that the self-test can bring a key of its own.
    pub(super) fn judge(&self, token: &str, key: &PublicKey) -> Result<Identity, TokenRefusal> {
        let claims = decode::<Claims>(token, key.decoding(), &self.validation)?.claims;
        claims.check(self.times)?;
        Identity::new(&self.name, claims.sub).ok_or(TokenRefusal::Subject)
    }

    /// The fetching of its keys, if they are fetched.
    pub(super) fn keep_keys_fresh(&self) -> Option<impl Future<Output = ()> + Send + 'static> {
        match &self.keys {
            Keys::Fixed(_) => None,
            Keys::Fetched(jwks) => Some(Arc::clone(jwks).keep_fresh()),
        }
    }

    pub(super) fn name(&self) -> &str {
        &self.name
    }

    pub(super) fn audience(&self) -> &str {
        self.audience.first().map_or("", String::as_str)
    }

    pub(super) const fn algorithm(&self) -> Algorithm {
        self.algorithm
    }

    pub(super) fn fixed_key(&self) -> Option<&PublicKey> {
        match &self.keys {
            Keys::Fixed(key) => Some(key),
            Keys::Fetched(_) => None,
        }
    }
}
