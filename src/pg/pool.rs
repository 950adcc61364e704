//! Connections, lent one at a time.
//!
//! Not the driver's own pool: that one sends a ping with every connection that comes back, one more round trip of
//! PostgreSQL for each decision, and returns a connection whose work was dropped in the middle. Here a connection comes
//! back only when its borrower says that its work ended cleanly ([`Lent::give_back`]); any other end closes it, and the
//! server rolls back what was open.

use super::error::store_error;
use crate::transaction::StoreError;
use deadpool::Runtime;
use deadpool::managed::{Manager, Metrics, Object, PoolError, QueueMode, RecycleResult, Timeouts};
use sqlx::postgres::PgConnectOptions;
use sqlx::{ConnectOptions, PgConnection};
use std::ops::{Deref, DerefMut};
use std::time::Duration;

/// A bounded number of connections, all alike.
#[derive(Clone)]
pub struct Pool(deadpool::managed::Pool<Opener>);

/// How many connections there are, and how many of them nobody uses.
#[derive(Clone, Copy, Debug)]
pub struct Sizes {
    /// Open now.
    pub open: usize,
    /// Of those, waiting to be lent.
    pub idle: usize,
    /// Open at most.
    pub most: usize,
}

/// A connection that is lent. Dropping it closes it.
pub struct Lent(Option<Object<Opener>>);

struct Opener(PgConnectOptions);

impl Manager for Opener {
    type Type = PgConnection;
    type Error = sqlx::Error;

    async fn create(&self) -> Result<PgConnection, sqlx::Error> {
        self.0.connect().await
    }

    /// No look at it: that would be a round trip. Who meets a connection that died while idle takes another.
    async fn recycle(&self, _: &mut PgConnection, _: &Metrics) -> RecycleResult<sqlx::Error> {
        Ok(())
    }
}

impl Pool {
    /// At most `size` connections made with `options`; each is waited for, and then opened if need be, no longer than
    /// `patience`. All are opened now, so that the first calls don't pay for it.
    ///
    /// # Errors
    /// [`StoreError::Unavailable`] when the database can't be reached.
    pub(super) async fn open(options: PgConnectOptions, size: u32, patience: Duration) -> Result<Self, StoreError> {
        let pool =
            Self::of(Opener(options), size, Timeouts { wait: Some(patience), create: Some(patience), recycle: None });
        let all = futures_util::future::try_join_all((0..pool.sizes().most).map(|_| pool.lend())).await?;
        all.into_iter().for_each(Lent::give_back);
        Ok(pool)
    }

    /// Another one like this, of another size. Its connections are opened when they are first needed.
    pub(super) fn another(&self, size: u32) -> Self {
        Self::of(Opener(self.options().clone()), size, self.0.timeouts())
    }

    #[expect(clippy::expect_used, reason = "building fails only for timeouts without a runtime, and here is one")]
    fn of(opener: Opener, size: u32, timeouts: Timeouts) -> Self {
        let pool = deadpool::managed::Pool::builder(opener)
            .max_size(usize::try_from(size).unwrap_or(usize::MAX).max(1))
            .timeouts(timeouts)
            .runtime(Runtime::Tokio1)
            // The one that was used last has the warmest caches.
            .queue_mode(QueueMode::Lifo)
            .build();
        Self(pool.expect("a runtime for the timeouts"))
    }

    /// Lends a connection, which may have died while it was idle.
    ///
    /// # Errors
    /// [`StoreError::Unavailable`] when none is free or can be opened in time.
    pub async fn lend(&self) -> Result<Lent, StoreError> {
        // Boxed: to open a connection takes kilobytes of state, which each use case would carry along for the rare case.
        match Box::pin(self.0.get()).await {
            Ok(object) => Ok(Lent(Some(object))),
            Err(PoolError::Backend(error)) => Err(store_error(error)),
            Err(error) => Err(StoreError::Unavailable(error.to_string())),
        }
    }

    /// How each connection is made, for who needs one of its own.
    #[must_use]
    pub fn options(&self) -> &PgConnectOptions {
        &self.0.manager().0
    }

    /// How many connections there are.
    #[must_use]
    pub fn sizes(&self) -> Sizes {
        let status = self.0.status();
        Sizes { open: status.size, idle: status.available, most: status.max_size }
    }

    /// Closes what is idle; what is lent is closed when it comes back. Nothing more is lent.
    pub fn close(&self) {
        self.0.close();
    }
}

impl Lent {
    /// Its work ended cleanly: no open transaction, no answer outstanding.
    pub fn give_back(mut self) {
        drop(self.0.take());
    }
}

impl Drop for Lent {
    fn drop(&mut self) {
        if let Some(object) = self.0.take() {
            drop(Object::take(object));
        }
    }
}

impl Deref for Lent {
    type Target = PgConnection;

    #[expect(clippy::expect_used, reason = "only `give_back` and `drop` take it, and nothing can follow those")]
    fn deref(&self) -> &PgConnection {
        self.0.as_ref().expect("lent")
    }
}

impl DerefMut for Lent {
    #[expect(clippy::expect_used, reason = "only `give_back` and `drop` take it, and nothing can follow those")]
    fn deref_mut(&mut self) -> &mut PgConnection {
        self.0.as_mut().expect("lent")
    }
}

impl std::fmt::Debug for Pool {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        self.sizes().fmt(f)
    }
}

impl std::fmt::Debug for Lent {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Lent")
    }
}
