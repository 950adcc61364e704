//! Who somebody is to an identity provider.

use super::text::is_all_visible;
use std::sync::Arc;

/// The longest subject and the longest issuer, in Unicode scalar values (`OpenID` Connect Core, 2).
pub const IDENTITY_PART_MAX: usize = 255;

/// A person as a provider names him. The same subject of two issuers is two people.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Identity {
    issuer: Arc<str>,
    subject: String,
}

impl Identity {
    /// `None`: the subject is empty, longer than 255 characters, or has one that nobody can see. Nothing is trimmed
    /// or folded, since a provider may tell people apart by any byte.
    #[must_use]
    pub fn new(issuer: &Arc<str>, subject: String) -> Option<Self> {
        is_identity_part(&subject).then(|| Self { issuer: Arc::clone(issuer), subject })
    }

    /// The issuer, exactly as configured.
    #[must_use]
    pub fn issuer(&self) -> &str {
        &self.issuer
    }

    /// The subject, exactly as the token says it.
    #[must_use]
    pub fn subject(&self) -> &str {
        &self.subject
    }
}

/// True for an issuer or a subject that can be kept: 1 to 255 characters, each of them visible.
#[must_use]
pub fn is_identity_part(text: &str) -> bool {
    !text.is_empty() && text.chars().count() <= IDENTITY_PART_MAX && is_all_visible(text)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_subject_is_visible_and_bounded() {
        let issuer: Arc<str> = "https://id.example".into();
        let fine = |subject: &str| Identity::new(&issuer, subject.to_owned()).is_some();
        for subject in ["a", "auth0|5f7c8ec7c33c6c004bbafe82", "愛子", &"x".repeat(255), &"愛".repeat(255)] {
            assert!(fine(subject), "{subject}");
        }
        for subject in ["", " ", "a b", "a\n", "a\0", "\u{200b}a", "a\u{202e}", "\u{feff}", &"x".repeat(256)] {
            assert!(!fine(subject), "{subject:?}");
        }
    }
}
