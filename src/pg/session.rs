//! One transaction on one connection.

use super::error::{commit_error, is_lost_connection, store_error, within};
use super::pool::{Lent, Pool};
use super::signals::{Signals, Topic};
use crate::domain::event::Event;
use crate::transaction::idempotency::{Kept, KeyClaim, KeyedCall};
use crate::transaction::{Session, StoreError};
use serde_json::Value;
use sqlx::types::Json;
use sqlx::{AssertSqlSafe, PgConnection};
use std::sync::Arc;
use std::time::{Duration, Instant};

/// Opens sessions on the pool for writes.
#[derive(Clone, Debug)]
pub struct PgStore {
    pool: Pool,
    patience: Duration,
    answer_limit: Duration,
    begin: Arc<str>,
    signals: Option<Signals>,
    starts_jobs: bool,
}

/// Said aloud: under another default level a waiter would get 40001 in place of the new row.
const BEGIN: &str = "BEGIN ISOLATION LEVEL READ COMMITTED";

impl PgStore {
    /// Sessions on `pool`, looking for a living connection no longer than `patience`.
    #[must_use]
    pub fn new(pool: Pool, patience: Duration) -> Self {
        Self {
            pool,
            patience,
            answer_limit: super::DEFAULT_ANSWER_LIMIT,
            begin: BEGIN.into(),
            signals: None,
            starts_jobs: false,
        }
    }

    /// The same, waiting no longer than `limit` for the answer to one statement.
    #[must_use]
    pub fn answered_within(self, limit: Duration) -> Self {
        Self { answer_limit: limit, ..self }
    }

    /// The same, with transactions in which neither a lock nor a statement nor this process may take longer than
    /// `limit`: for the save under a lease, which a frozen process must not keep from others.
    #[must_use]
    pub fn saving_within(self, limit: Duration) -> Self {
        let ms = limit.as_millis();
        let begin = format!(
            "{BEGIN}; SET LOCAL lock_timeout = {ms}; SET LOCAL statement_timeout = {ms}; \
             SET LOCAL idle_in_transaction_session_timeout = {ms}"
        );
        Self { begin: begin.into(), ..self }
    }

    /// The same, waking whoever waits for it after the commit of an event or a job. Without, they look by themselves.
    #[must_use]
    pub fn waking(self, signals: impl Into<Option<Signals>>) -> Self {
        Self { signals: signals.into(), ..self }
    }

    /// The same, starting a job with each approval, if `starts`.
    #[must_use]
    pub fn starting_jobs(self, starts: bool) -> Self {
        Self { starts_jobs: starts, ..self }
    }

    /// Begins a transaction. Connections that died while idle are met here, before anything was asked of them: they
    /// are dropped and another one is taken, until the patience ends.
    pub(super) async fn begin(&self) -> Result<PgSession, StoreError> {
        self.begin_by(Arc::clone(&self.begin)).await
    }

    /// The same, with settings for this transaction.
    pub(super) async fn begin_with(&self, settings: &'static str) -> Result<PgSession, StoreError> {
        self.begin_by(format!("{}; {settings}", self.begin).into()).await
    }

    async fn begin_by(&self, statements: Arc<str>) -> Result<PgSession, StoreError> {
        let start = Instant::now();
        loop {
            let connection = self.pool.lend().await?;
            let mut session = PgSession {
                connection: Some(connection),
                answer_limit: self.answer_limit,
                failed: false,
                lost: false,
                signals: self.signals.clone(),
                starts_jobs: self.starts_jobs,
                wakes: Wakes::default(),
            };
            // Made of constants and a number.
            let begin = sqlx::raw_sql(AssertSqlSafe(Arc::clone(&statements))).execute(session.connection()?);
            match within(self.patience, begin).await {
                Ok(_) => return Ok(session),
                Err(error) if is_lost_connection(&error) && start.elapsed() < self.patience => drop(session),
                Err(error) => return Err(store_error(error)),
            }
        }
    }
}

/// An open Read Committed transaction.
///
/// Not sqlx's own: a `begin` that is dropped in the wrong instant returns its connection to the pool inside an open
/// transaction (sqlx 0.9.0, #4393). Here a connection that was not ended by `commit` or `rollback` is closed, as
/// every [`Lent`] is that nobody gave back.
#[derive(Debug)]
pub struct PgSession {
    /// `None` once it was ended.
    connection: Option<Lent>,
    /// How long the answer to one statement is waited for.
    pub(super) answer_limit: Duration,
    /// After an error PostgreSQL answers COMMIT with a silent rollback.
    failed: bool,
    /// Nobody is at the other end any more: there is nothing to roll back.
    lost: bool,
    /// How others are woken, after the commit.
    signals: Option<Signals>,
    /// Each approval starts a job.
    pub(super) starts_jobs: bool,
    wakes: Wakes,
}

/// Who is to be woken once a transaction is committed.
#[derive(Clone, Copy, Debug, Default)]
struct Wakes {
    /// There is work for workers.
    workers: bool,
    /// There is an event in the outbox.
    relay: bool,
}

impl PgSession {
    fn give_back(&mut self) {
        if let Some(connection) = self.connection.take() {
            connection.give_back();
        }
    }

    /// There is something for a worker to do once this is committed.
    pub(super) fn wake_workers(&mut self) {
        self.wakes.workers = true;
    }

    /// What the outbox stores of an event. Whoever writes one asks here, so the relay is woken after the commit.
    pub(super) fn outgoing<'e>(&mut self, event: &'e Event) -> Json<&'e Value> {
        self.wakes.relay = true;
        Json(&event.payload)
    }

    pub(super) fn connection(&mut self) -> Result<&mut PgConnection, StoreError> {
        match &mut self.connection {
            Some(connection) => Ok(connection),
            None => Err(StoreError::Internal("the session has ended".into())),
        }
    }

    /// Notes the answer of a statement that took a lock, and how long that was waited for.
    pub(super) fn note_lock<T>(
        &mut self,
        lock: &'static str,
        asked: Instant,
        result: Result<T, sqlx::Error>,
    ) -> Result<T, StoreError> {
        metrics::histogram!("ringi_lock_wait_seconds", "lock" => lock).record(asked.elapsed().as_secs_f64());
        self.note(result)
    }

    /// Notes a failed statement, after which this session can only be rolled back.
    pub(super) fn note<T>(&mut self, result: Result<T, sqlx::Error>) -> Result<T, StoreError> {
        result.map_err(|error| {
            self.failed = true;
            self.lost |= is_lost_connection(&error);
            store_error(error)
        })
    }
}

impl Session for PgSession {
    async fn claim_key(&mut self, call: &KeyedCall) -> Result<KeyClaim, StoreError> {
        let claimed = within(self.answer_limit, super::idempotency::claim(self.connection()?, call)).await;
        self.note(claimed)
    }

    async fn keep_answer(&mut self, kept: Kept<'_>) -> Result<(), StoreError> {
        let done = within(self.answer_limit, super::idempotency::keep(self.connection()?, kept)).await;
        self.note(done)
    }

    async fn commit(mut self) -> Result<(), StoreError> {
        if self.failed {
            return Err(StoreError::Internal("a failed session was to be committed".into()));
        }
        let commit = within(self.answer_limit, sqlx::raw_sql("COMMIT").execute(self.connection()?));
        commit.await.map_err(commit_error)?;
        self.give_back();
        if let Some(signals) = &self.signals {
            for (topic, _) in [(Topic::Jobs, self.wakes.workers), (Topic::Outbox, self.wakes.relay)]
                .into_iter()
                .filter(|(_, wakes)| *wakes)
            {
                signals.wake(topic);
            }
        }
        Ok(())
    }

    async fn rollback(mut self) {
        let (limit, lost) = (self.answer_limit, self.lost);
        let Ok(connection) = self.connection() else { return };
        if lost {
            // Dropping it closes it.
            return;
        }
        match within(limit, sqlx::raw_sql("ROLLBACK").execute(connection)).await {
            Ok(_) => self.give_back(),
            // Closing the connection rolls back, too.
            Err(error) => tracing::debug!(%error, "a rollback failed, its connection is closed"),
        }
    }
}
