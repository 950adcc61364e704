//! What every use case shares about its transaction: the locked value, the errors of a store, the retry of what
//! deadlocked, the place in the queue, and the idempotency key. Knows no SQL and no HTTP.

pub mod admission;
pub mod idempotency;

use crate::domain::Instant;
use backon::{ExponentialBuilder, Retryable};
use idempotency::{Kept, KeyClaim, KeyedCall};
use std::future::Future;
use std::time::Duration;

/// A value whose row is locked by the open transaction. Only a store makes one (a test holds that), so "member
/// first, then request" and "write only what you locked" are types and not habits.
#[derive(Debug)]
pub struct Locked<T> {
    value: T,
    at: Instant,
}

impl<T> Locked<T> {
    /// For stores: `value` as its locked row says it, `at` by the database's clock read after the lock.
    #[must_use]
    pub const fn taken(value: T, at: Instant) -> Self {
        Self { value, at }
    }

    /// The database's clock, read after the lock: the time of what is about to happen.
    #[must_use]
    pub const fn at(&self) -> Instant {
        self.at
    }
}

impl<T> std::ops::Deref for Locked<T> {
    type Target = T;

    fn deref(&self) -> &T {
        &self.value
    }
}

/// What a version-guarded write did.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[must_use = "a stale write changed nothing, and its caller must be told"]
pub enum Guarded {
    /// Exactly one row changed.
    Applied,
    /// The row was not as it had been read. Cannot happen under its lock: the second wall.
    Stale,
}

/// Why a store could not do what it was asked. Every error ends its session.
#[derive(Debug, thiserror::Error)]
pub enum StoreError {
    /// The database broke a deadlock or a serialization conflict by rolling this transaction back. Nothing of it is
    /// left: it may be run again as a whole.
    #[error("the transaction was rolled back by the database to break a conflict of locks")]
    Deadlock,
    /// Somebody held a row for longer than `lock_timeout`. Nothing was saved.
    #[error("a lock was held for longer than the lock timeout")]
    LockTimeout,
    /// No answer in time, no free connection, or no database. Nothing was saved.
    #[error("the database is busy or away: {0}")]
    Unavailable(String),
    /// The connection was lost during COMMIT: saved or not, nobody knows.
    #[error("the connection was lost during COMMIT: {0}")]
    OutcomeUnknown(String),
    /// A fault of ours.
    #[error("unexpected answer of the database: {0}")]
    Internal(#[source] Box<dyn std::error::Error + Send + Sync>),
}

impl StoreError {
    /// Whether it passes by itself, so that whoever has the time, and looks at what is there, can try again.
    #[must_use]
    pub const fn passes(&self) -> bool {
        !matches!(self, Self::Internal(_))
    }
}

/// One open Read Committed transaction. Only `commit` keeps the work; dropping it rolls back.
pub trait Session: Send + 'static {
    /// Takes the idempotency key's row, which must come after the member's and before any other. Waits for a first
    /// call that is still under way.
    ///
    /// # Errors
    /// [`StoreError`].
    fn claim_key(&mut self, call: &KeyedCall) -> impl Future<Output = Result<KeyClaim, StoreError>> + Send;

    /// Keeps an answer under its key, for a call that writes nothing else.
    ///
    /// # Errors
    /// [`StoreError`].
    fn keep_answer(&mut self, kept: Kept<'_>) -> impl Future<Output = Result<(), StoreError>> + Send;

    /// Ends the transaction, keeping its work.
    ///
    /// # Errors
    /// [`StoreError::OutcomeUnknown`] when the connection is lost meanwhile.
    fn commit(self) -> impl Future<Output = Result<(), StoreError>> + Send;

    /// Ends the transaction without a trace and frees its locks now, not when the connection is next used.
    fn rollback(self) -> impl Future<Output = ()> + Send;
}

/// How a transaction's work ends when it did not fail.
#[derive(Debug)]
pub enum End<T> {
    /// Keep it.
    Commit(T),
    /// Nothing was written: give the locks back.
    Rollback(T),
}

/// Ends the session as its work demands: commit, or roll back at once on refusal and error.
///
/// # Errors
/// The work's own error, or that of the commit.
pub async fn settle<S: Session, T, R: std::fmt::Debug>(
    session: S,
    work: Result<End<T>, UseCaseError<R>>,
) -> Result<T, UseCaseError<R>> {
    match work {
        Ok(End::Commit(value)) => {
            session.commit().await?;
            Ok(value)
        }
        Ok(End::Rollback(value)) => {
            session.rollback().await;
            Ok(value)
        }
        Err(error) => {
            session.rollback().await;
            Err(error)
        }
    }
}

/// Runs a whole transaction again when the database rolled it back to break a deadlock: a few times, with jitter. A
/// version conflict is never retried, since the person has not seen the new state; a timeout isn't either, since
/// whoever asked has waited long enough.
///
/// # Errors
/// The last attempt's.
pub async fn retrying<T, R, F, Fut>(attempt: F) -> Result<T, UseCaseError<R>>
where
    R: std::fmt::Debug,
    F: FnMut() -> Fut,
    Fut: Future<Output = Result<T, UseCaseError<R>>>,
{
    attempt
        .retry(
            ExponentialBuilder::default()
                .with_jitter()
                .with_min_delay(Duration::from_millis(5))
                .with_max_delay(Duration::from_millis(200))
                .with_max_times(5),
        )
        .when(UseCaseError::is_deadlock)
        .notify(|_, _| metrics::counter!("ringi_transaction_retries_total").increment(1))
        .await
}

/// Why a use case did not do what it was asked, `R` being what its own rules refuse. Nothing was changed, unless the
/// store does not know.
#[derive(Debug, thiserror::Error)]
pub enum UseCaseError<R: std::fmt::Debug> {
    /// No membership, a deactivated one, or no such organization: all alike.
    #[error("not a member")]
    NotAMember,
    /// Judged and refused.
    #[error("refused: {0:?}")]
    Refused(R),
    /// The idempotency key belongs to another call.
    #[error("the idempotency key was used for another call")]
    KeyReused,
    /// The first call with this key is still under way.
    #[error("the first call with this idempotency key is still under way")]
    KeyInProgress,
    /// Too many writes are waiting.
    #[error(transparent)]
    Full(#[from] admission::Full),
    /// The database did not do it.
    #[error(transparent)]
    Store(#[from] StoreError),
}

impl<R: std::fmt::Debug> UseCaseError<R> {
    /// True when the database undid the whole transaction, which may then be run again.
    #[must_use]
    pub const fn is_deadlock(&self) -> bool {
        matches!(self, Self::Store(StoreError::Deadlock))
    }
}

/// Takes the call's idempotency key, where it has one. `Some`: the answer that was given the first time.
///
/// # Errors
/// [`UseCaseError::KeyReused`], [`UseCaseError::KeyInProgress`], or the store's.
pub async fn claim_key<R: std::fmt::Debug>(
    session: &mut impl Session,
    key: Option<&KeyedCall>,
) -> Result<Option<idempotency::Answer>, UseCaseError<R>> {
    let Some(key) = key else { return Ok(None) };
    match session.claim_key(key).await? {
        KeyClaim::Fresh => Ok(None),
        KeyClaim::Replay(answer) => Ok(Some(answer)),
        KeyClaim::Reused => Err(UseCaseError::KeyReused),
        KeyClaim::InProgress => Err(UseCaseError::KeyInProgress),
    }
}

/// Who calls, and where.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Viewer {
    /// Where.
    pub organization_id: crate::domain::ids::OrganizationId,
    /// Who.
    pub user_id: crate::domain::ids::UserId,
}

/// A write: who asks, and under which key.
#[derive(Clone, Debug)]
pub struct Call {
    /// Who, and where.
    pub viewer: Viewer,
    /// The idempotency key, where the call has one.
    pub key: Option<KeyedCall>,
}
