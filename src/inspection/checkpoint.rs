//! Checkpoints: a signed file of all chain heads of an organization, to be kept where nobody can reach it who can
//! reach the database.
//!
//! # The format
//!
//! JSON lines, each in the canonical form of RFC 8785 and ended by one line feed, so that a file of any size is
//! written and checked line by line:
//!
//! ```text
//! {"created_at":"…","organization_id":"…","ringi_checkpoint":1}
//! {"chain_hash":"…","kind":"request","subject":"…","version":3}
//! …
//! {"heads":2,"public_key":"…","sha256":"…","signature":"…"}
//! ```
//!
//! `sha256` is over every byte before the last line. The signature is Ed25519 over `ringi-checkpoint-1`, one line
//! feed, and the 32 bytes of that hash; the number of heads is in the lines that it covers. `public_key` says which
//! key signed, and is never trusted: whoever checks brings the key.

use super::store::Head;
use crate::domain::history::{Hash, canonical};
use crate::domain::ids::OrganizationId;
use crate::domain::{Instant, rfc3339};
use aws_lc_rs::signature::{ED25519, Ed25519KeyPair, KeyPair, UnparsedPublicKey};
use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use serde_json::{Value, json};
use sha2::{Digest, Sha256};
use std::io::{BufRead, Write};

/// What is signed before the hash: a signature for one purpose must not serve for another.
const CONTEXT: &[u8] = b"ringi-checkpoint-1\n";
/// The longest line that can be one of ours.
const LINE_MAX: u64 = 4_096;
/// RFC 8410: what stands before the 32 bytes of an Ed25519 public key.
const SPKI_PREFIX: [u8; 12] = [0x30, 0x2a, 0x30, 0x05, 0x06, 0x03, 0x2b, 0x65, 0x70, 0x03, 0x21, 0x00];

/// Why a checkpoint can't be written or believed. The sentence says what to do.
#[derive(Debug, thiserror::Error)]
pub enum CheckpointError {
    /// The file itself.
    #[error("{0}")]
    Io(#[from] std::io::Error),
    /// The private key.
    #[error("this is no Ed25519 private key in PEM form (PKCS #8): make one with `ringi history keygen --out FILE`")]
    PrivateKey,
    /// The public key.
    #[error("this is no Ed25519 public key in PEM form: give the FILE.pub that `ringi history keygen` wrote")]
    PublicKey,
    /// The library.
    #[error("the key could not be made")]
    Generate,
    /// A line that no checkpoint has.
    #[error("line {0} is no line of a checkpoint: the file is damaged, or is none")]
    Malformed(u64),
    /// No last line.
    #[error("the checkpoint has no end: the file was cut off")]
    Unended,
    /// Signature or hash.
    #[error("the checkpoint was not signed by this key, or was changed since: do not believe it")]
    Signature,
}

/// A new key pair: the private key as PKCS #8 and the public key, both as PEM.
///
/// # Errors
/// [`CheckpointError::Generate`].
pub fn generate() -> Result<(String, String), CheckpointError> {
    let pair = Ed25519KeyPair::generate().map_err(|_| CheckpointError::Generate)?;
    let private = pair.to_pkcs8v1().map_err(|_| CheckpointError::Generate)?;
    let public = [&SPKI_PREFIX[..], pair.public_key().as_ref()].concat();
    Ok((pem("PRIVATE KEY", private.as_ref()), pem("PUBLIC KEY", &public)))
}

fn pem(label: &str, der: &[u8]) -> String {
    let encoded = STANDARD.encode(der);
    let mut text = format!("-----BEGIN {label}-----\n");
    for (n, character) in encoded.chars().enumerate() {
        if n > 0 && n % 64 == 0 {
            text.push('\n');
        }
        text.push(character);
    }
    text + &format!("\n-----END {label}-----\n")
}

fn unpem(label: &str, text: &str) -> Option<Vec<u8>> {
    let (_, rest) = text.split_once(&format!("-----BEGIN {label}-----"))?;
    let (body, _) = rest.split_once(&format!("-----END {label}-----"))?;
    STANDARD.decode(body.split_ascii_whitespace().collect::<String>()).ok()
}

/// Writes a checkpoint, head by head.
pub struct Writer<W> {
    out: W,
    hasher: Sha256,
    heads: u64,
    key: Ed25519KeyPair,
}

impl<W> std::fmt::Debug for Writer<W> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Writer").field("heads", &self.heads).finish_non_exhaustive()
    }
}

impl<W: Write> Writer<W> {
    /// Begins with the first line. `key`: PEM.
    ///
    /// # Errors
    /// [`CheckpointError`].
    pub fn begin(out: W, key: &str, organization: OrganizationId, at: Instant) -> Result<Self, CheckpointError> {
        let der = unpem("PRIVATE KEY", key).ok_or(CheckpointError::PrivateKey)?;
        let key = Ed25519KeyPair::from_pkcs8(&der).map_err(|_| CheckpointError::PrivateKey)?;
        let mut writer = Self { out, hasher: Sha256::new(), heads: 0, key };
        let first = json!({"ringi_checkpoint": 1, "organization_id": organization, "created_at": rfc3339(at)});
        writer.line(&first)?;
        Ok(writer)
    }

    /// One head.
    ///
    /// # Errors
    /// When it can't be written.
    pub fn head(&mut self, head: &Head) -> Result<(), CheckpointError> {
        self.heads += 1;
        self.line(&json!({
            "kind": head.kind,
            "subject": head.subject,
            "version": head.version,
            "chain_hash": head.chain_hash,
        }))
    }

    /// The last line, with the signature. Says how many heads there are.
    ///
    /// # Errors
    /// When it can't be written.
    pub fn finish(mut self) -> Result<(u64, W), CheckpointError> {
        let hash = self.hasher.finalize_reset();
        let signature = self.key.sign(&[CONTEXT, &hash[..]].concat());
        let last = json!({
            "heads": self.heads,
            "sha256": hex::encode(hash),
            "public_key": hex::encode(self.key.public_key().as_ref()),
            "signature": STANDARD.encode(signature.as_ref()),
        });
        self.line(&last)?;
        self.out.flush()?;
        Ok((self.heads, self.out))
    }

    fn line(&mut self, value: &Value) -> Result<(), CheckpointError> {
        let line = canonical(value) + "\n";
        self.hasher.update(&line);
        self.out.write_all(line.as_bytes())?;
        Ok(())
    }
}

/// What the first line of a checkpoint says.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Header {
    /// Whose chains.
    pub organization_id: OrganizationId,
    /// The database's clock when it was begun.
    pub created_at: String,
}

/// Reads a checkpoint head by head, and says at the end whether it was signed by the key that the reader brought.
/// Believe no head before that.
pub struct Reader<R> {
    input: R,
    hasher: Sha256,
    heads: u64,
    lines: u64,
    header: Header,
    key: Vec<u8>,
}

impl<R> std::fmt::Debug for Reader<R> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Reader").field("header", &self.header).finish_non_exhaustive()
    }
}

impl<R: BufRead> Reader<R> {
    /// Reads the first line. `public_key`: PEM.
    ///
    /// # Errors
    /// [`CheckpointError`].
    pub fn begin(input: R, public_key: &str) -> Result<Self, CheckpointError> {
        let der = unpem("PUBLIC KEY", public_key).ok_or(CheckpointError::PublicKey)?;
        let key = der.strip_prefix(&SPKI_PREFIX[..]).filter(|key| key.len() == 32).ok_or(CheckpointError::PublicKey)?;
        let header = Header { organization_id: OrganizationId(uuid::Uuid::nil()), created_at: String::new() };
        let mut reader = Self { input, hasher: Sha256::new(), heads: 0, lines: 0, header, key: key.to_vec() };
        let (line, first) = reader.line()?;
        reader.hasher.update(&line);
        let malformed = || CheckpointError::Malformed(1);
        if first.get("ringi_checkpoint") != Some(&json!(1)) {
            return Err(malformed());
        }
        let text = |name| first.get(name).and_then(Value::as_str);
        let organization = text("organization_id").and_then(|id| id.parse().ok()).ok_or_else(malformed)?;
        reader.header.organization_id = OrganizationId(organization);
        text("created_at").ok_or_else(malformed)?.clone_into(&mut reader.header.created_at);
        Ok(reader)
    }

    /// What the first line says.
    #[must_use]
    pub const fn header(&self) -> &Header {
        &self.header
    }

    /// The next head. `None`: that was all, and the signature holds.
    ///
    /// # Errors
    /// [`CheckpointError`].
    pub fn next_head(&mut self) -> Result<Option<Head>, CheckpointError> {
        let (line, value) = self.line()?;
        if value.get("signature").is_some() {
            return self.check(&value).map(|()| None);
        }
        self.hasher.update(&line);
        self.heads += 1;
        let text = |name| value.get(name).and_then(Value::as_str).map(str::to_owned);
        let head = (|| {
            Some(Head {
                kind: text("kind")?,
                subject: text("subject")?,
                version: value.get("version")?.as_i64()?,
                chain_hash: text("chain_hash")?,
            })
        })();
        head.filter(|head| !head.subject.contains('\0') && !head.kind.contains('\0'))
            .map(Some)
            .ok_or(CheckpointError::Malformed(self.lines))
    }

    fn check(&mut self, last: &Value) -> Result<(), CheckpointError> {
        let text = |name| last.get(name).and_then(Value::as_str).unwrap_or_default();
        let hash = Hash(self.hasher.finalize_reset().into());
        let signature = STANDARD.decode(text("signature")).map_err(|_| CheckpointError::Signature)?;
        let signed = UnparsedPublicKey::new(&ED25519, &self.key).verify(&[CONTEXT, &hash.0].concat(), &signature);
        let agrees = text("sha256") == hash.to_string() && last.get("heads") == Some(&json!(self.heads));
        let ended = self.input.fill_buf()?.is_empty();
        if signed.is_err() || !agrees || !ended {
            return Err(CheckpointError::Signature);
        }
        Ok(())
    }

    fn line(&mut self) -> Result<(Vec<u8>, Value), CheckpointError> {
        use std::io::Read;
        let mut line = Vec::new();
        self.input.by_ref().take(LINE_MAX).read_until(b'\n', &mut line)?;
        self.lines += 1;
        if line.is_empty() {
            return Err(CheckpointError::Unended);
        }
        let value = serde_json::from_slice(&line).map_err(|_| CheckpointError::Malformed(self.lines))?;
        Ok((line, value))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use chrono::DateTime;
    use uuid::Uuid;

    fn head(n: u128) -> Head {
        Head {
            kind: "request".into(),
            subject: Uuid::from_u128(n).to_string(),
            version: 3,
            chain_hash: Hash([7; 32]).to_string(),
        }
    }

    fn written(key: &str) -> Vec<u8> {
        let organization = OrganizationId(Uuid::from_u128(9));
        let mut writer = Writer::begin(Vec::new(), key, organization, DateTime::UNIX_EPOCH).expect("a good key");
        writer.head(&head(1)).expect("written");
        writer.head(&head(2)).expect("written");
        writer.finish().expect("written").1
    }

    fn read(file: &[u8], key: &str) -> Result<Vec<Head>, CheckpointError> {
        let mut reader = Reader::begin(file, key)?;
        let mut heads = Vec::new();
        while let Some(head) = reader.next_head()? {
            heads.push(head);
        }
        Ok(heads)
    }

    #[test]
    fn what_was_written_is_read_again() {
        let (private, public) = generate().expect("a key");
        assert_eq!(read(&written(&private), &public).expect("whole"), [head(1), head(2)]);
    }

    #[test]
    fn every_changed_cut_or_added_byte_is_seen() {
        let (private, public) = generate().expect("a key");
        let file = written(&private);
        for at in 0..file.len() {
            let mut bent = file.clone();
            bent[at] ^= 1;
            let same = read(&bent, &public).is_ok();
            // The last line names the key for people; nothing is believed for it.
            let text = String::from_utf8_lossy(&file);
            let key = text.find("\"public_key\"").expect("named")..text.find("\"sha256\"").expect("named");
            assert!(!same || key.contains(&at) || at + 1 == file.len(), "byte {at}");
        }
        for length in 0..file.len() - 1 {
            assert!(read(&file[..length], &public).is_err(), "cut to {length}");
        }
        assert!(read(&[&file[..], b"{}\n"].concat(), &public).is_err(), "added");
    }

    #[test]
    fn another_key_is_told_apart() {
        let ((private, _), (_, other)) = (generate().expect("a key"), generate().expect("a key"));
        assert!(matches!(read(&written(&private), &other), Err(CheckpointError::Signature)));
        assert!(matches!(read(&written(&private), "nonsense"), Err(CheckpointError::PublicKey)));
    }

    #[test]
    fn a_key_of_openssl_serves() {
        // openssl genpkey -algorithm ed25519
        let private = "-----BEGIN PRIVATE KEY-----\nMC4CAQAwBQYDK2VwBCIEILBYS2F7OkpjJuD9lqDxT/6xMqLLQuJZzz+Aasy3c6Cd\n-----END PRIVATE KEY-----\n";
        let public = "-----BEGIN PUBLIC KEY-----\nMCowBQYDK2VwAyEAR8juSoE5RFiw5olKlAPGY7IqjhnJN3ApcMM0oWBOaoI=\n-----END PUBLIC KEY-----\n";
        assert_eq!(read(&written(private), public).expect("whole").len(), 2);
    }
}
