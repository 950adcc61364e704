//! How processes wake each other: LISTEN and NOTIFY, on two connections of the process's own.
//!
//! No decision calls NOTIFY: it takes a lock of the whole cluster at commit, which halved the decisions per second in a
//! trial. After the commit the process notifies, at most once in ten milliseconds. What gets lost is found by whoever
//! looks every so often anyway.

use super::error::within;
use sqlx::postgres::{PgConnectOptions, PgListener, PgPoolOptions};
use sqlx::{ConnectOptions, PgConnection};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;
use tokio::sync::Notify;
use tokio::task::JoinSet;

/// At most one NOTIFY in this time.
const BURST: Duration = Duration::from_millis(10);
/// After a failure.
const PAUSE: Duration = Duration::from_secs(1);
/// How long one statement's answer is waited for.
const LIMIT: Duration = Duration::from_secs(5);
/// How long a process that stops takes for its last word.
const LAST: Duration = Duration::from_secs(1);

/// Wakes the workers, of this process at once and of the others soon.
#[derive(Clone, Debug)]
pub struct Signals {
    local: Arc<Notify>,
    others: Arc<Others>,
}

/// What the other processes are to be told.
#[derive(Debug)]
struct Others {
    options: PgConnectOptions,
    news: Notify,
    /// How often there was something to say.
    wakes: AtomicU64,
    /// How many of them have been said.
    told: AtomicU64,
}

impl Others {
    fn wakes(&self) -> u64 {
        self.wakes.load(Ordering::SeqCst)
    }
}

impl Signals {
    /// Begins to notify and, with `listening`, to listen. Ends when the tasks are dropped.
    #[must_use]
    pub fn start(options: &PgConnectOptions, listening: bool) -> (Self, JoinSet<()>) {
        let options = options.clone().application_name("ringi signals");
        let others =
            Others { options: options.clone(), news: Notify::new(), wakes: AtomicU64::new(0), told: AtomicU64::new(0) };
        let signals = Self { local: Arc::default(), others: Arc::new(others) };
        let mut tasks = JoinSet::new();
        tasks.spawn(notify(Arc::clone(&signals.others)));
        if listening {
            tasks.spawn(listen(options, Arc::clone(&signals.local)));
        }
        (signals, tasks)
    }

    /// There may be something to do: say so, after the commit.
    pub fn wake(&self) {
        self.local.notify_one();
        self.others.wakes.fetch_add(1, Ordering::SeqCst);
        self.others.news.notify_one();
    }

    /// Ends the tasks, and says what they have not said yet: jobs that a stopping process gave back are of use to others
    /// at once.
    pub async fn finish(self, mut tasks: JoinSet<()>) {
        tasks.shutdown().await;
        if self.others.told.load(Ordering::SeqCst) == self.others.wakes() {
            return;
        }
        if let Err(error) = within(LAST, tell(&self.others.options, None)).await {
            tracing::debug!(%error, "workers of other processes were not notified: they look by themselves");
        }
    }

    /// Rung when there may be something to do.
    #[must_use]
    pub fn bell(&self) -> Arc<Notify> {
        Arc::clone(&self.local)
    }
}

async fn notify(others: Arc<Others>) {
    let mut connection: Option<PgConnection> = None;
    loop {
        others.news.notified().await;
        let wakes = others.wakes();
        match within(LIMIT, tell(&others.options, connection.take())).await {
            Ok(open) => {
                connection = Some(open);
                others.told.store(wakes, Ordering::SeqCst);
                tokio::time::sleep(BURST).await;
            }
            Err(error) => {
                tracing::debug!(%error, "workers of other processes were not notified: they look by themselves");
                tokio::time::sleep(PAUSE).await;
                others.news.notify_one();
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
