//! Why a token is refused.

use jsonwebtoken::errors::{Error, ErrorKind};

/// Why a token was refused. For log and metrics; the client learns only that it was.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum TokenRefusal {
    /// No `Authorization: Bearer`, or more than one.
    #[error("missing")]
    Missing,
    /// Larger than any real token.
    #[error("too_large")]
    TooLarge,
    /// Not a token, or of a type that is no access token, or without a claim that it needs.
    #[error("malformed")]
    Malformed,
    /// Of nobody who is trusted here.
    #[error("issuer")]
    Issuer,
    /// Meant for somebody else.
    #[error("audience")]
    Audience,
    /// Another algorithm than the key's.
    #[error("algorithm")]
    Algorithm,
    /// Signed by a key that its issuer does not have.
    #[error("unknown_key")]
    UnknownKey,
    /// Of an issuer whose keys could not be fetched yet.
    #[error("keys_unavailable")]
    KeysUnavailable,
    /// Not signed by the key.
    #[error("signature")]
    Signature,
    /// Outside its time.
    #[error("time")]
    Time,
    /// Valid for longer than any access token should be.
    #[error("lifetime")]
    Lifetime,
    /// `sub` is not a user's UUID, or not a subject that can be kept.
    #[error("subject")]
    Subject,
}

impl TokenRefusal {
    /// The reason as the metrics have it.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Missing => "missing",
            Self::TooLarge => "too_large",
            Self::Malformed => "malformed",
            Self::Issuer => "issuer",
            Self::Audience => "audience",
            Self::Algorithm => "algorithm",
            Self::UnknownKey => "unknown_key",
            Self::KeysUnavailable => "keys_unavailable",
            Self::Signature => "signature",
            Self::Time => "time",
            Self::Lifetime => "lifetime",
            Self::Subject => "subject",
        }
    }
}

impl From<Error> for TokenRefusal {
    fn from(error: Error) -> Self {
        match error.kind() {
            ErrorKind::InvalidSignature => Self::Signature,
            ErrorKind::InvalidAlgorithm | ErrorKind::InvalidAlgorithmName => Self::Algorithm,
            ErrorKind::ExpiredSignature | ErrorKind::ImmatureSignature => Self::Time,
            ErrorKind::InvalidIssuer => Self::Issuer,
            ErrorKind::InvalidAudience => Self::Audience,
            _ => Self::Malformed,
        }
    }
}
