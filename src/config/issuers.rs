//! `auth.issuers`: the identity providers, read and judged.

use crate::domain::identity::is_identity_part;
use crate::tokens::{Algorithm, IssuerSettings, KeySource, LOCAL_ISSUER, PublicKey, key_url};
use serde::de::value::SeqAccessDeserializer;
use serde::de::{SeqAccess, Visitor};
use serde::{Deserialize, Deserializer};

/// One identity provider: see `config/default.toml` for each.
#[derive(Clone, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields, default)]
#[expect(missing_docs, reason = "config/default.toml documents each of them")]
pub struct Issuer {
    pub issuer: String,
    #[serde(deserialize_with = "one_or_more")]
    pub audience: Vec<String>,
    pub algorithm: String,
    pub jwks_url: Option<String>,
    pub public_key: Option<String>,
    pub public_key_file: Option<String>,
}

/// Reads the issuers and what they name, such as key files.
///
/// # Errors
/// A sentence that says what to do.
pub fn read(issuers: &[Issuer]) -> Result<Vec<IssuerSettings>, String> {
    for (n, issuer) in issuers.iter().enumerate() {
        if issuers.iter().take(n).any(|other| other.issuer == issuer.issuer) {
            return Err(format!(
                "auth.issuers: {:?} stands there twice; one issuer has one entry, and its JWKS holds all its keys",
                issuer.issuer
            ));
        }
    }
    issuers
        .iter()
        .map(|issuer| issuer.read().map_err(|sentence| format!("auth.issuers: {:?}: {sentence}", issuer.issuer)))
        .collect()
}

impl Issuer {
    fn read(&self) -> Result<IssuerSettings, String> {
        if !is_identity_part(&self.issuer) {
            return Err("issuer must be the exact `iss` of the tokens: 1 to 255 visible characters".to_owned());
        }
        if self.issuer == LOCAL_ISSUER {
            return Err("issuer is the name of the local key: a provider has one of its own".to_owned());
        }
        if self.audience.is_empty() || self.audience.iter().any(|audience| audience.trim().is_empty()) {
            return Err("audience must name what its tokens for Ringi carry as `aud`: without it, a token meant for \
                        another application would be accepted"
                .to_owned());
        }
        let algorithm = Algorithm::ALL
            .into_iter()
            .find(|known| known.name() == self.algorithm)
            .ok_or_else(|| format!("algorithm {:?} must be exactly one of RS256, ES256, EdDSA", self.algorithm))?;
        let keys = match (&self.jwks_url, &self.public_key, &self.public_key_file) {
            (Some(url), None, None) => KeySource::Url(key_url(url).map_err(|sentence| format!("jwks_url {sentence}"))?),
            (None, Some(pem), None) => KeySource::Fixed(
                PublicKey::from_pem(pem, algorithm).map_err(|sentence| format!("public_key {sentence}"))?,
            ),
            (None, None, Some(file)) => {
                let pem = std::fs::read_to_string(file)
                    .map_err(|error| format!("public_key_file {file:?} can't be read: {error}"))?;
                let key = PublicKey::from_pem(&pem, algorithm);
                KeySource::Fixed(key.map_err(|sentence| format!("public_key_file {file:?} {sentence}"))?)
            }
            _ => return Err("exactly one of jwks_url, public_key and public_key_file must be given".to_owned()),
        };
        Ok(IssuerSettings { issuer: self.issuer.as_str().into(), audience: self.audience.clone(), algorithm, keys })
    }
}

fn one_or_more<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Vec<String>, D::Error> {
    struct OneOrMore;
    impl<'de> Visitor<'de> for OneOrMore {
        type Value = Vec<String>;

        fn expecting(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
            f.write_str("a text or a list of texts")
        }

        fn visit_str<E: serde::de::Error>(self, text: &str) -> Result<Self::Value, E> {
            Ok(vec![text.to_owned()])
        }

        fn visit_seq<A: SeqAccess<'de>>(self, list: A) -> Result<Self::Value, A::Error> {
            Vec::deserialize(SeqAccessDeserializer::new(list))
        }
    }
    deserializer.deserialize_any(OneOrMore)
}

/// A list in a file; in the environment, the same list as JSON.
pub(super) fn list<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Vec<Issuer>, D::Error> {
    struct ListOrJson;
    impl<'de> Visitor<'de> for ListOrJson {
        type Value = Vec<Issuer>;

        fn expecting(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
            f.write_str("a list of issuers, or the same as JSON")
        }

        fn visit_str<E: serde::de::Error>(self, json: &str) -> Result<Self::Value, E> {
            serde_json::from_str(json).map_err(|error| {
                E::custom(format!(
                    "auth.issuers, given as text, must be JSON such as [{{\"issuer\": \"https://id.example\", …}}]: {error}"
                ))
            })
        }

        fn visit_seq<A: SeqAccess<'de>>(self, list: A) -> Result<Self::Value, A::Error> {
            Vec::deserialize(SeqAccessDeserializer::new(list))
        }
    }
    deserializer.deserialize_any(ListOrJson)
}
