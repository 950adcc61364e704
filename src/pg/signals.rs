//! How processes wake each other: LISTEN and NOTIFY, on two connections of the process's own.
//!
//! No decision calls NOTIFY: it takes a lock of the whole cluster at commit, which halved the decisions per second in a
//! trial. After the commit the process notifies, at most once in ten milliseconds. What gets lost is found by whoever
//! looks every so often anyway.

use super::error::within;
use sqlx::postgres::{PgConnectOptions, PgListener, PgPoolOptions};
use sqlx::{ConnectOptions, PgConnection};
use std::sync::Arc;
use std::time::Duration;
use tokio::sync::Notify;
use tokio::task::JoinSet;

/// At most one NOTIFY in this time.
const BURST: Duration = Duration::from_millis(10);
/// After a failure.
const PAUSE: Duration = Duration::from_secs(1);
/// How long one statement's answer is waited for.
const LIMIT: Duration = Duration::from_secs(5);

/// Wakes the workers, of this process at once and of the others soon.
#[derive(Clone, Debug)]
pub struct Signals {
    local: Arc<Notify>,
    others: Arc<Notify>,
}

impl Signals {
    /// Begins to notify and, with `listening`, to listen. Ends when the tasks are dropped.
    #[must_use]
    pub fn start(options: &PgConnectOptions, listening: bool) -> (Self, JoinSet<()>) {
        let signals = Self { local: Arc::default(), others: Arc::default() };
        let options = options.clone().application_name("ringi signals");
        let mut tasks = JoinSet::new();
        tasks.spawn(notify(options.clone(), Arc::clone(&signals.others)));
        if listening {
            tasks.spawn(listen(options, Arc::clone(&signals.local)));
        }
        (signals, tasks)
    }

    /// There may be something to do: say so, after the commit.
    pub fn wake(&self) {
        self.local.notify_one();
        self.others.notify_one();
    }

    /// Rung when there may be something to do.
    #[must_use]
    pub fn bell(&self) -> Arc<Notify> {
        Arc::clone(&self.local)
    }
}

async fn notify(options: PgConnectOptions, asked: Arc<Notify>) {
    let mut connection: Option<PgConnection> = None;
    loop {
        asked.notified().await;
        match within(LIMIT, tell(&options, connection.take())).await {
            Ok(open) => {
                connection = Some(open);
                tokio::time::sleep(BURST).await;
            }
            Err(error) => {
                tracing::debug!(%error, "workers of other processes were not notified: they look by themselves");
                tokio::time::sleep(PAUSE).await;
            }
        }
    }
}

async fn tell(options: &PgConnectOptions, open: Option<PgConnection>) -> Result<PgConnection, sqlx::Error> {
    let mut connection = match open {
        Some(connection) => connection,
        None => options.connect().await?,
    };
    sqlx::raw_sql("NOTIFY ringi_jobs").execute(&mut connection).await?;
    Ok(connection)
}

async fn listen(options: PgConnectOptions, local: Arc<Notify>) {
    loop {
        if let Err(error) = hear(&options, &local).await {
            tracing::debug!(%error, "not listening for a while: workers look by themselves");
        }
        tokio::time::sleep(PAUSE).await;
    }
}

async fn hear(options: &PgConnectOptions, local: &Notify) -> Result<(), sqlx::Error> {
    let pool = PgPoolOptions::new().max_connections(1).acquire_timeout(LIMIT).connect_lazy_with(options.clone());
    let mut listener = PgListener::connect_with(&pool).await?;
    listener.listen("ringi_jobs").await?;
    // What was said before is not heard.
    local.notify_one();
    loop {
        // `None`: the connection was lost and made anew, and something may have been missed.
        drop(listener.try_recv().await?);
        local.notify_one();
    }
}
