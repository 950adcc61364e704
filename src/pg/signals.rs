//! How processes wake each other: LISTEN and NOTIFY, on two connections of the process's own.
//!
//! No decision calls NOTIFY: it takes a lock of the whole cluster at commit, which halved the decisions per second in a
//! trial. After the commit the process notifies, at most once in ten milliseconds. What gets lost is found by whoever
//! looks every so often anyway.

use super::error::within;
use crate::outbox::store::Bells;
use sqlx::postgres::{PgConnectOptions, PgListener, PgPoolOptions};
use sqlx::{AssertSqlSafe, ConnectOptions, PgConnection};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
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

/// What processes tell each other.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Topic {
    /// There may be a job to do.
    Jobs,
    /// Something was written to the outbox.
    Outbox,
    /// Events have been numbered.
    Events,
    /// The relay's lease is to be had.
    Vacancy,
}

impl Topic {
    const ALL: [Self; 4] = [Self::Jobs, Self::Outbox, Self::Events, Self::Vacancy];

    const fn channel(self) -> &'static str {
        match self {
            Self::Jobs => "ringi_jobs",
            Self::Outbox => "ringi_outbox",
            Self::Events => "ringi_events",
            Self::Vacancy => "ringi_relay",
        }
    }
}

/// Wakes whoever waits for something: in this process at once, in the others soon.
#[derive(Clone, Debug)]
pub struct Signals {
    bells: Arc<[Bell; 4]>,
    others: Arc<Others>,
}

/// Of one topic.
#[derive(Debug, Default)]
struct Bell {
    local: Arc<Notify>,
    /// How often there was something to say to the others.
    wakes: AtomicU64,
    /// How many of them have been said.
    told: AtomicU64,
}

/// The way to the other processes.
#[derive(Debug)]
struct Others {
    options: PgConnectOptions,
    news: Notify,
    /// The relay is here: nobody else wants to know what was written here.
    relaying: AtomicBool,
}

impl Signals {
    /// Begins to notify, and to listen to what concerns a process that does slow work, or answers calls, or both. Ends
    /// when the tasks are dropped.
    #[must_use]
    pub fn start(options: &PgConnectOptions, topics: &[Topic]) -> (Self, JoinSet<()>) {
        let options = options.clone().application_name("ringi signals");
        let others = Others { options: options.clone(), news: Notify::new(), relaying: AtomicBool::new(false) };
        let signals = Self { bells: Arc::default(), others: Arc::new(others) };
        let mut tasks = JoinSet::new();
        tasks.spawn(signals.clone().notify());
        tasks.spawn(signals.clone().listen(options, topics.to_vec()));
        (signals, tasks)
    }

    fn of(&self, topic: Topic) -> &Bell {
        let [jobs, outbox, events, vacancy] = &*self.bells;
        match topic {
            Topic::Jobs => jobs,
            Topic::Outbox => outbox,
            Topic::Events => events,
            Topic::Vacancy => vacancy,
        }
    }

    /// There may be something new: say so, after the commit.
    pub fn wake(&self, topic: Topic) {
        let bell = self.of(topic);
        bell.local.notify_one();
        if topic == Topic::Outbox && self.others.relaying.load(Ordering::SeqCst) {
            return;
        }
        bell.wakes.fetch_add(1, Ordering::SeqCst);
        self.others.news.notify_one();
    }

    /// Rung when there may be something new.
    #[must_use]
    pub fn bell(&self, topic: Topic) -> Arc<Notify> {
        Arc::clone(&self.of(topic).local)
    }

    /// Ends the tasks, and says what they have not said yet: what a stopping process gave back is of use to others at
    /// once.
    pub async fn finish(self, mut tasks: JoinSet<()>) {
        tasks.shutdown().await;
        if self.untold().is_empty() {
            return;
        }
        if let Err(error) = within(LAST, self.tell(None)).await {
            tracing::debug!(%error, "other processes were not notified: they look by themselves");
        }
    }

    /// The topics that there is something to say about, and how often by now.
    fn untold(&self) -> Vec<(Topic, u64)> {
        let wakes = |topic| (topic, self.of(topic).wakes.load(Ordering::SeqCst));
        let untold = |(topic, wakes): &(Topic, u64)| self.of(*topic).told.load(Ordering::SeqCst) != *wakes;
        Topic::ALL.into_iter().map(wakes).filter(untold).collect()
    }

    async fn notify(self) {
        let mut connection: Option<PgConnection> = None;
        loop {
            self.others.news.notified().await;
            match within(LIMIT, self.tell(connection.take())).await {
                Ok(open) => {
                    connection = open;
                    tokio::time::sleep(BURST).await;
                }
                Err(error) => {
                    tracing::debug!(%error, "other processes were not notified: they look by themselves");
                    tokio::time::sleep(PAUSE).await;
                    self.others.news.notify_one();
                }
            }
        }
    }

    async fn tell(&self, open: Option<PgConnection>) -> Result<Option<PgConnection>, sqlx::Error> {
        let untold = self.untold();
        if untold.is_empty() {
            return Ok(open);
        }
        let mut connection = match open {
            Some(connection) => connection,
            None => self.others.options.connect().await?,
        };
        let channels: Vec<_> = untold.iter().map(|(topic, _)| format!("NOTIFY {}", topic.channel())).collect();
        // Made of constants.
        sqlx::raw_sql(AssertSqlSafe(channels.join("; "))).execute(&mut connection).await?;
        for (topic, wakes) in untold {
            self.of(topic).told.store(wakes, Ordering::SeqCst);
        }
        Ok(Some(connection))
    }

    async fn listen(self, options: PgConnectOptions, topics: Vec<Topic>) {
        loop {
            if let Err(error) = self.hear(&options, &topics).await {
                tracing::debug!(%error, "not listening for a while: who waits looks by himself");
            }
            tokio::time::sleep(PAUSE).await;
        }
    }

    async fn hear(&self, options: &PgConnectOptions, topics: &[Topic]) -> Result<(), sqlx::Error> {
        let pool = PgPoolOptions::new().max_connections(1).acquire_timeout(LIMIT).connect_lazy_with(options.clone());
        let mut listener = PgListener::connect_with(&pool).await?;
        listener.listen_all(topics.iter().map(|topic| topic.channel())).await?;
        // What was said before is not heard.
        let all = || topics.iter().for_each(|topic| self.of(*topic).local.notify_one());
        all();
        loop {
            match listener.try_recv().await? {
                Some(notification) => {
                    for topic in topics.iter().filter(|topic| topic.channel() == notification.channel()) {
                        self.of(*topic).local.notify_one();
                    }
                }
                // The connection was lost and made anew: something may have been missed.
                None => all(),
            }
        }
    }
}

impl Bells for Signals {
    fn written(&self) -> Arc<Notify> {
        self.bell(Topic::Outbox)
    }

    fn vacant(&self) -> Arc<Notify> {
        self.bell(Topic::Vacancy)
    }

    fn relaying(&self, here: bool) {
        self.others.relaying.store(here, Ordering::SeqCst);
        metrics::gauge!("ringi_relaying").set(if here { 1.0 } else { 0.0 });
    }

    fn tell_numbered(&self) {
        self.wake(Topic::Events);
    }

    fn tell_vacant(&self) {
        self.wake(Topic::Vacancy);
    }
}
