//! Public keys: from a PEM or from a provider's JWKS, each found fit for exactly one algorithm.

use base64::Engine;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use jsonwebtoken::jwk::{AlgorithmParameters, EllipticCurve, Jwk, KeyAlgorithm, KeyOperations, PublicKeyUse};
use jsonwebtoken::{AlgorithmFamily, DecodingKey};
use std::collections::HashMap;
use std::collections::hash_map::Entry;
use std::sync::Arc;

/// How a provider signs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Algorithm {
    /// RSA, PKCS#1 v1.5, SHA-256.
    Rs256,
    /// ECDSA on P-256, SHA-256.
    Es256,
    /// Ed25519.
    EdDsa,
}

impl Algorithm {
    /// All that are accepted.
    pub const ALL: [Self; 3] = [Self::Rs256, Self::Es256, Self::EdDsa];

    /// As a header's `alg` says it.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Rs256 => "RS256",
            Self::Es256 => "ES256",
            Self::EdDsa => "EdDSA",
        }
    }

    pub(super) const fn signature(self) -> jsonwebtoken::Algorithm {
        match self {
            Self::Rs256 => jsonwebtoken::Algorithm::RS256,
            Self::Es256 => jsonwebtoken::Algorithm::ES256,
            Self::EdDsa => jsonwebtoken::Algorithm::EdDSA,
        }
    }

    const fn family(self) -> AlgorithmFamily {
        match self {
            Self::Rs256 => AlgorithmFamily::Rsa,
            Self::Es256 => AlgorithmFamily::Ec,
            Self::EdDsa => AlgorithmFamily::Ed,
        }
    }

    const fn needs(self) -> &'static str {
        match self {
            Self::Rs256 => "an RSA key of 2048 to 8192 bits",
            Self::Es256 => "an EC key on P-256",
            Self::EdDsa => "an Ed25519 key",
        }
    }
}

/// A public key that is fit for one algorithm.
#[derive(Clone, Debug)]
pub struct PublicKey {
    decoding: DecodingKey,
    /// What tells two keys apart.
    components: Components,
}

#[derive(Clone, Debug, PartialEq, Eq)]
struct Components(Vec<u8>, Vec<u8>);

impl PublicKey {
    /// Reads a PEM: `BEGIN PUBLIC KEY`, or `BEGIN RSA PUBLIC KEY`.
    ///
    /// # Errors
    /// A sentence that says what to do.
    pub fn from_pem(pem: &str, algorithm: Algorithm) -> Result<Self, String> {
        if pem.contains("PRIVATE KEY") {
            return Err("is a private key, which must not leave its owner: give the public one \
                        (`openssl pkey -in private.pem -pubout`)"
                .to_owned());
        }
        // The library also reads certificates, and takes the first bits that it finds in one.
        if !pem.contains("-----BEGIN PUBLIC KEY-----") && !pem.contains("-----BEGIN RSA PUBLIC KEY-----") {
            return Err("is not a PEM that begins with -----BEGIN PUBLIC KEY----- (from a certificate: \
                        `openssl x509 -in cert.pem -pubkey -noout`)"
                .to_owned());
        }
        let pem = pem.as_bytes();
        let read = [DecodingKey::from_rsa_pem, DecodingKey::from_ec_pem, DecodingKey::from_ed_pem]
            .into_iter()
            .find_map(|read| read(pem).ok())
            .ok_or_else(|| format!("can't be read: {} needs {}", algorithm.name(), algorithm.needs()))?;
        let unfit = || format!("is not fit for {}, which needs {}", algorithm.name(), algorithm.needs());
        if read.family() != algorithm.family() {
            return Err(unfit());
        }
        // By way of the JWK, so that one function says what is fit.
        Jwk::from_decoding_key(&read, None).ok().and_then(|jwk| Self::from_jwk(&jwk, algorithm)).ok_or_else(unfit)
    }

    /// `None`: not for signatures, of another family, algorithm or curve, too short, or too weak.
    pub(super) fn from_jwk(jwk: &Jwk, algorithm: Algorithm) -> Option<Self> {
        let common = &jwk.common;
        let meant = matches!(common.public_key_use, None | Some(PublicKeyUse::Signature))
            && common.key_operations.as_ref().is_none_or(|all| all.contains(&KeyOperations::Verify))
            && common.key_algorithm.is_none_or(|named| named == KeyAlgorithm::from(algorithm.signature()));
        let bytes = |text: &str| URL_SAFE_NO_PAD.decode(text).ok();
        let components = match (&jwk.algorithm, algorithm) {
            (AlgorithmParameters::RSA(rsa), Algorithm::Rs256) => {
                let (n, e) = (positive(bytes(&rsa.n)?), positive(bytes(&rsa.e)?));
                // An exponent of 1 would make every message its own signature.
                let sound = (256..=1024).contains(&n.len()) && e.last()? & 1 == 1 && e.len() <= 8 && *e != [1];
                sound.then_some(Components(n, e))?
            }
            (AlgorithmParameters::EllipticCurve(ec), Algorithm::Es256) if ec.curve == EllipticCurve::P256 => {
                let (x, y) = (bytes(&ec.x)?, bytes(&ec.y)?);
                (x.len() == 32 && y.len() == 32).then_some(Components(x, y))?
            }
            (AlgorithmParameters::OctetKeyPair(ed), Algorithm::EdDsa) if ed.curve == EllipticCurve::Ed25519 => {
                let x = bytes(&ed.x)?;
                (x.len() == 32).then_some(Components(x, Vec::new()))?
            }
            _ => return None,
        };
        meant.then_some(Self { decoding: DecodingKey::from_jwk(jwk).ok()?, components })
    }

    pub(super) const fn decoding(&self) -> &DecodingKey {
        &self.decoding
    }
}

/// A number's bytes without leading zeros.
fn positive(bytes: Vec<u8>) -> Vec<u8> {
    let zeros = bytes.iter().take_while(|byte| **byte == 0).count();
    bytes.into_iter().skip(zeros).collect()
}

/// The usable keys of one JWKS.
#[derive(Debug, Default)]
pub(super) struct KeySet {
    by_id: HashMap<String, Arc<PublicKey>>,
    /// The one usable key, if there is exactly one: it also judges tokens that name none.
    only: Option<Arc<PublicKey>>,
    usable: usize,
}

impl KeySet {
    /// Reads a JWKS, leaving out what is of no use here: an unfit key says nothing about the others.
    ///
    /// # Errors
    /// What is wrong, when it is no JWKS at all.
    pub(super) fn read(json: &[u8], algorithm: Algorithm) -> Result<Self, String> {
        #[derive(serde::Deserialize)]
        struct Document {
            keys: Vec<serde_json::Value>,
        }
        let document: Document = serde_json::from_slice(json).map_err(|error| error.to_string())?;
        let mut all: Vec<(Option<String>, Arc<PublicKey>)> = Vec::new();
        for value in document.keys {
            // A private key that stands in public is anybody's.
            if value.get("d").is_some() {
                continue;
            }
            let Ok(jwk) = serde_json::from_value::<Jwk>(value) else { continue };
            let Some(key) = PublicKey::from_jwk(&jwk, algorithm) else { continue };
            let id = jwk.common.key_id;
            if !all.iter().any(|(other, known)| *other == id && known.components == key.components) {
                all.push((id, Arc::new(key)));
            }
        }
        let only = match all.as_slice() {
            [(_, key)] => Some(Arc::clone(key)),
            _ => None,
        };
        let usable = all.len();
        let mut by_id = HashMap::with_capacity(usable);
        let mut ambiguous = Vec::new();
        for (id, key) in all {
            let Some(id) = id else { continue };
            match by_id.entry(id) {
                Entry::Vacant(place) => drop(place.insert(key)),
                Entry::Occupied(place) => ambiguous.push(place.key().clone()),
            }
        }
        // An id that names two keys names none.
        for id in ambiguous {
            by_id.remove(&id);
        }
        let found = usize::from(only.is_some()).max(by_id.len());
        Ok(Self { by_id, only, usable: found })
    }

    pub(super) fn find(&self, id: Option<&str>) -> Option<Arc<PublicKey>> {
        match id {
            Some(id) => self.by_id.get(id).map(Arc::clone),
            None => self.only.as_ref().map(Arc::clone),
        }
    }

    /// How many tokens' keys can be found.
    pub(super) const fn len(&self) -> usize {
        self.usable
    }

    pub(super) const fn is_empty(&self) -> bool {
        self.usable == 0
    }
}
