//! What signs deliveries, and how it is kept: sealed with a key that the database doesn't have.

use crate::domain::ids::{EndpointId, OrganizationId};
use aws_lc_rs::aead::{AES_256_GCM, Aad, NONCE_LEN, Nonce, RandomizedNonceKey};
use aws_lc_rs::error::Unspecified;
use aws_lc_rs::{hmac, rand};
use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use sha2::{Digest, Sha256};
use std::sync::Arc;

/// The bytes of a signing secret: Standard Webhooks asks for 24 to 64.
const SECRET_BYTES: usize = 32;
/// What names a key in what it sealed.
const KEY_NAME_BYTES: usize = 4;

/// The secret of an endpoint. It has no way to be printed but [`SigningSecret::text`].
#[derive(Clone, PartialEq, Eq)]
pub struct SigningSecret([u8; SECRET_BYTES]);

impl SigningSecret {
    /// A new one, from the system's generator.
    ///
    /// # Errors
    /// When the system has no randomness.
    pub fn new() -> Result<Self, Unspecified> {
        let mut bytes = [0; SECRET_BYTES];
        rand::fill(&mut bytes)?;
        Ok(Self(bytes))
    }

    /// The form in which its receiver is given it, once.
    #[must_use]
    pub fn text(&self) -> String {
        format!("whsec_{}", STANDARD.encode(self.0))
    }

    /// Signs a delivery as Standard Webhooks says: over id, the attempt's Unix time, and the body as it is sent.
    #[must_use]
    pub fn sign(&self, id: &str, timestamp: i64, body: &str) -> String {
        let key = hmac::Key::new(hmac::HMAC_SHA256, &self.0);
        let tag = hmac::sign(&key, format!("{id}.{timestamp}.{body}").as_bytes());
        format!("v1,{}", STANDARD.encode(tag))
    }
}

impl std::fmt::Debug for SigningSecret {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("set")
    }
}

/// The keys that secrets are sealed with: `webhooks.secret_key`, and older ones that still open what they sealed.
#[derive(Clone)]
pub struct Keys(Arc<[Key]>);

struct Key {
    name: [u8; KEY_NAME_BYTES],
    cipher: RandomizedNonceKey,
}

/// Why a sealed secret can't be used. The sentence says what to do.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum CannotOpen {
    /// None of the keys sealed it.
    #[error(
        "the secret was sealed with another key: put that one into webhooks.old_secret_keys, or rotate the endpoint's secret"
    )]
    UnknownKey,
    /// It was changed, or belongs to another endpoint.
    #[error("the secret in the database is damaged: rotate the endpoint's secret")]
    Damaged,
}

impl Keys {
    /// Reads keys of 64 hexadecimal digits, the first one of which seals. `None` where there is none.
    ///
    /// # Errors
    /// A sentence that does not repeat the key.
    pub fn read<'a>(key: &'a str, old: impl IntoIterator<Item = &'a str>) -> Result<Option<Self>, String> {
        let old: Vec<&str> = old.into_iter().collect();
        if key.is_empty() {
            return match old.as_slice() {
                [] => Ok(None),
                _ => Err("webhooks.old_secret_keys are only of use beside a webhooks.secret_key".to_owned()),
            };
        }
        let keys = [("webhooks.secret_key", key)]
            .into_iter()
            .chain(old.into_iter().map(|old| ("webhooks.old_secret_keys", old)))
            .map(|(name, text)| {
                Key::read(text).ok_or_else(|| {
                    format!("{name} must have 64 hexadecimal digits: make one with `openssl rand -hex 32`")
                })
            });
        Ok(Some(Self(keys.collect::<Result<_, _>>()?)))
    }

    /// Seals a secret for one endpoint: put into another's row it can't be opened.
    ///
    /// # Errors
    /// When the system has no randomness.
    pub fn seal(&self, of: (OrganizationId, EndpointId), secret: &SigningSecret) -> Result<Vec<u8>, Unspecified> {
        let key = self.0.first().ok_or(Unspecified)?;
        let mut text = secret.0.to_vec();
        let nonce = key.cipher.seal_in_place_append_tag(Aad::from(bound_to(of)), &mut text)?;
        Ok([&key.name[..], nonce.as_ref(), &text].concat())
    }

    /// Opens what [`Keys::seal`] made.
    ///
    /// # Errors
    /// [`CannotOpen`].
    pub fn open(&self, of: (OrganizationId, EndpointId), sealed: &[u8]) -> Result<SigningSecret, CannotOpen> {
        let (name, rest) = sealed.split_first_chunk::<KEY_NAME_BYTES>().ok_or(CannotOpen::Damaged)?;
        let (nonce, text) = rest.split_first_chunk::<NONCE_LEN>().ok_or(CannotOpen::Damaged)?;
        let key = self.0.iter().find(|key| key.name == *name).ok_or(CannotOpen::UnknownKey)?;
        let mut text = text.to_vec();
        let opened = key.cipher.open_in_place(Nonce::assume_unique_for_key(*nonce), Aad::from(bound_to(of)), &mut text);
        let secret = opened.ok().and_then(|bytes| <[u8; SECRET_BYTES]>::try_from(&*bytes).ok());
        secret.map(SigningSecret).ok_or(CannotOpen::Damaged)
    }
}

impl Key {
    fn read(text: &str) -> Option<Self> {
        let bytes: [u8; 32] = hex::decode(text).ok()?.try_into().ok()?;
        // A name, so that a secret of another key is told from a damaged one. Of a hash, it says nothing of the key.
        let name = *Sha256::digest([&b"ringi/webhooks/key"[..], &bytes].concat()).first_chunk()?;
        Some(Self { name, cipher: RandomizedNonceKey::new(&AES_256_GCM, &bytes).ok()? })
    }
}

fn bound_to((organization, endpoint): (OrganizationId, EndpointId)) -> Vec<u8> {
    [organization.0.as_bytes().as_slice(), endpoint.0.as_bytes()].concat()
}

impl std::fmt::Debug for Keys {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{} keys", self.0.len())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use uuid::Uuid;

    const KEY: &str = "000102030405060708090a0b0c0d0e0f101112131415161718191a1b1c1d1e1f";
    const OTHER: &str = "ff0102030405060708090a0b0c0d0e0f101112131415161718191a1b1c1d1e1f";

    fn endpoint(n: u128) -> (OrganizationId, EndpointId) {
        (OrganizationId(Uuid::from_u128(1)), EndpointId(Uuid::from_u128(n)))
    }

    fn keys(key: &str, old: &[&str]) -> Keys {
        Keys::read(key, old.iter().copied()).expect("good keys").expect("a key")
    }

    #[test]
    fn the_signature_is_that_of_the_specification() {
        // The example of the Standard Webhooks specification, with a secret of 24 bytes in place of ours.
        let key = STANDARD.decode("MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw").expect("base64");
        let key = hmac::Key::new(hmac::HMAC_SHA256, &key);
        let signed = r#"msg_p5jXN8AQM9LWM0D4loKWxJek.1614265330.{"test": 2432232314}"#;
        assert_eq!(
            STANDARD.encode(hmac::sign(&key, signed.as_bytes())),
            "g0hM9SsE+OTPJTGt/tmIKtSyZlE3uFJELVlNIOLJ1OE="
        );
        let ours = SigningSecret([7; 32]);
        let key = hmac::Key::new(hmac::HMAC_SHA256, &[7; 32]);
        let expected = STANDARD.encode(hmac::sign(&key, b"evt_1.1614265330.{}"));
        assert_eq!(ours.sign("evt_1", 1_614_265_330, "{}"), format!("v1,{expected}"));
        assert_eq!(ours.text(), format!("whsec_{}", STANDARD.encode([7; 32])));
    }

    #[test]
    fn what_was_sealed_is_opened_for_its_endpoint_alone() {
        let keys = keys(KEY, &[]);
        let secret = SigningSecret::new().expect("randomness");
        let sealed = keys.seal(endpoint(1), &secret).expect("sealed");
        assert_eq!(keys.open(endpoint(1), &sealed), Ok(secret.clone()));
        assert_eq!(keys.open(endpoint(2), &sealed), Err(CannotOpen::Damaged));
        assert_ne!(keys.seal(endpoint(1), &secret).expect("sealed"), sealed, "never twice the same");
        for at in 0..sealed.len() {
            let mut bent = sealed.clone();
            bent[at] ^= 1;
            assert!(keys.open(endpoint(1), &bent).is_err(), "byte {at}");
        }
        assert_eq!(keys.open(endpoint(1), &sealed[..7]), Err(CannotOpen::Damaged));
        assert!(!sealed.windows(8).any(|part| part == &secret.0[..8]), "it is not there in plain");
    }

    #[test]
    fn an_older_key_opens_and_the_present_one_seals() {
        let (before, after) = (keys(OTHER, &[]), keys(KEY, &[OTHER]));
        let secret = SigningSecret::new().expect("randomness");
        let old = before.seal(endpoint(1), &secret).expect("sealed");
        assert_eq!(after.open(endpoint(1), &old), Ok(secret.clone()));
        let new = after.seal(endpoint(1), &secret).expect("sealed");
        assert_eq!(before.open(endpoint(1), &new), Err(CannotOpen::UnknownKey));
    }

    #[test]
    fn keys_that_are_none_are_refused_without_being_repeated() {
        assert!(Keys::read("", []).expect("none").is_none());
        for (key, old) in [("short", vec![]), ("", vec![KEY]), (KEY, vec!["short"]), (&KEY[1..], vec![])] {
            let sentence = Keys::read(key, old).expect_err("refused");
            assert!(sentence.contains("webhooks.") && !sentence.contains("0102"), "{sentence}");
        }
    }
}
