//! What a process does besides answering: the heartbeat, the worker, the relay, and the signals between processes.

use super::hooks::Hooks;
use super::relaying::Relaying;
use super::{AppError, Leases, UseCases};
use crate::config::{Database, Settings};
use crate::domain::lease::Timing;
use crate::pg::{PgJobs, PgLeases, PgPulse, PgReads, PgStore, PoolSettings, Pools, Signals, Topic};
use crate::processing::gateway::{Gateway, GatewaySettings};
use crate::processing::worker::{Worker, WorkerSettings};
use std::time::Duration;
use tokio::task::JoinSet;
use tokio::time::Instant;
use tokio_util::sync::CancellationToken;

/// What a process of an installation does.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, clap::ValueEnum)]
pub enum Role {
    /// Answers calls. Somebody else has to do the slow work.
    Api,
    /// Does the slow work, and answers only health and metrics.
    Worker,
    /// Both.
    #[default]
    All,
}

impl Role {
    /// Whether it answers calls.
    #[must_use]
    pub const fn answers(self) -> bool {
        matches!(self, Self::Api | Self::All)
    }

    /// Whether it does slow work.
    #[must_use]
    pub const fn works(self) -> bool {
        matches!(self, Self::Worker | Self::All)
    }
}

/// Connections on which leases are taken and given back: neither people's writes nor the work itself can use them up.
const LEASE_CONNECTIONS: u32 = 2;
/// How long work that was dropped may take to be given back.
const GIVING_BACK: Duration = Duration::from_secs(5);

/// The slow work of a process: the heartbeat of all its leases, the relay of events, and its jobs, of which nothing runs
/// where no outside system is configured.
#[derive(Debug)]
pub struct Work {
    role: Role,
    pools: Pools,
    leases: Leases,
    /// Where webhooks may lead, and what keeps their secrets.
    hooks: Hooks,
    signals: Signals,
    /// End when this is dropped.
    signalling: JoinSet<()>,
    /// Whether there is an outside system: then each approval starts a job.
    connected: bool,
    worker: Option<(Worker, Pools)>,
    relaying: Option<Relaying>,
}

impl Work {
    /// Starts what the role asks for, on the runtime that this is called on.
    ///
    /// # Errors
    /// When the connector can't be used, or the operating system gives no thread.
    pub fn start(pools: Pools, settings: &Settings, role: Role) -> Result<Self, AppError> {
        let processing = &settings.processing;
        let connector = processing.connector().map_err(AppError::Other)?;
        let hooks = Hooks::of(settings)?;
        let leases = leases(&pools, settings)?;
        let connected = connector.is_some();
        let topics = [
            (Topic::Jobs, role.works() && connected),
            (Topic::Outbox, role.works()),
            (Topic::Vacancy, role.works()),
            (Topic::Events, role.answers()),
        ];
        let topics: Vec<Topic> = topics.into_iter().filter(|(_, listens)| *listens).map(|(topic, _)| topic).collect();
        let (signals, signalling) = Signals::start(pools.write.options(), &topics);
        let relaying = if role.works() {
            let told = hooks.deliveries(&pools, settings, &signals)?;
            Some(Relaying::start(&pools, settings, &signals, told)?)
        } else {
            None
        };
        let worker = if let (Some(url), true) = (connector, role.works()) {
            let gateway = Gateway::new(GatewaySettings {
                url,
                token: processing.connector_token.reveal().to_owned(),
                connect_timeout: processing.connect_timeout,
                timeout: processing.call_timeout,
                answer_limit: processing.answer_limit_bytes,
            });
            let pools = pools.for_work(processing.connections);
            let worker_settings = WorkerSettings {
                concurrency: processing.concurrency,
                sweep_interval: processing.sweep_interval,
                deadline: processing.job_deadline,
                patience: processing.patience(),
            };
            let gateway = gateway.map_err(AppError::Other)?;
            let queue = queue(&pools, settings, signals.clone());
            let worker = Worker::start(queue, leases.clone(), gateway, worker_settings, signals.bell(Topic::Jobs));
            Some((worker, pools))
        } else {
            None
        };
        Ok(Self { role, pools, leases, hooks, signals, signalling, connected, worker, relaying })
    }

    /// The use cases of this process: with a connector, each approval starts a job.
    #[must_use]
    pub fn use_cases(&self, settings: &Settings) -> UseCases {
        let Hooks { guard, keys } = self.hooks.clone();
        let timeout = settings.processing.lease_timeout;
        let signals = Some(self.signals.clone());
        let use_cases = UseCases::build(&self.pools, &settings.database, signals, self.connected, timeout);
        UseCases { webhooks: use_cases.webhooks.clone().configured(guard, keys), ..use_cases }
    }

    /// What the process does.
    #[must_use]
    pub const fn role(&self) -> Role {
        self.role
    }

    /// The connections of the use cases.
    #[must_use]
    pub const fn pools(&self) -> &Pools {
        &self.pools
    }

    /// The leases of this process.
    #[must_use]
    pub const fn leases(&self) -> &Leases {
        &self.leases
    }

    /// How the processes wake each other.
    #[must_use]
    pub const fn signals(&self) -> &Signals {
        &self.signals
    }

    /// Takes no job any more, and ends being the relay; what is under way goes on, and so does its heartbeat.
    pub fn close(&self) {
        if let Some(relaying) = &self.relaying {
            relaying.close();
        }
        if let Some((worker, _)) = &self.worker {
            worker.close();
        }
    }

    /// Each cancelled when something can't be worked on any more, since its heartbeat has ended.
    #[must_use]
    pub fn stopped(&self) -> Vec<CancellationToken> {
        let jobs = self.worker.as_ref().map(|_| self.leases.stopped());
        let events = self.relaying.as_ref().map(Relaying::stopped);
        jobs.into_iter().chain(events).cloned().collect()
    }

    /// Waits for what is under way, saves it or, so early that this ends before `deadline`, gives it back, and closes
    /// the connections.
    pub async fn finish(&mut self, deadline: Instant) {
        let left = deadline.saturating_duration_since(Instant::now());
        let early = deadline - GIVING_BACK.min(left / 4);
        let jobs = async {
            let Some((worker, pools)) = self.worker.take() else { return };
            if !worker.finish(early, GIVING_BACK).await {
                tracing::warn!("some work could not be given back: it is taken over after the timeout");
            }
            pools.write.close();
        };
        let events = async {
            let Some(relaying) = self.relaying.take() else { return };
            relaying.finish(early, GIVING_BACK).await;
        };
        tokio::join!(Box::pin(jobs), Box::pin(events));
    }

    /// Stops the heartbeat, when nothing is under way any more, and says the last word to other processes.
    pub async fn end(self) {
        self.leases.stop(GIVING_BACK).await;
        self.signals.finish(self.signalling).await;
    }
}

fn queue(pools: &Pools, settings: &Settings, signals: Signals) -> PgJobs {
    let database = &settings.database;
    let limit = PoolSettings::from(database).answer_limit();
    let save_timeout = settings.processing.save_timeout;
    let store = PgStore::new(pools.write.clone(), database.acquire_timeout)
        .answered_within(save_timeout + Duration::from_secs(1))
        .saving_within(save_timeout)
        .waking(signals);
    PgJobs::new(PgReads::new(pools.write.clone(), database.acquire_timeout, limit), store)
}

/// Starts the one heartbeat of this process's slow work, on a thread and a connection of its own. Whoever starts it stops
/// it, as the last thing before the pools are closed.
///
/// # Errors
/// When the operating system gives no thread.
pub fn leases(pools: &Pools, settings: &Settings) -> Result<Leases, AppError> {
    leases_with(pools, &settings.database, settings.processing.timing(), "processing")
}

/// The same, in a rhythm of its own, which `section` of the settings says.
pub(super) fn leases_with(
    pools: &Pools,
    database: &Database,
    timing: Timing,
    section: &str,
) -> Result<Leases, AppError> {
    if timing.timeout < timing.recommended_timeout() {
        tracing::warn!(
            lease_timeout_ms = timing.timeout.as_millis(),
            heartbeat_interval_ms = timing.interval.as_millis(),
            "{section}.lease_timeout_ms is shorter than four times {section}.heartbeat_interval_ms: one slow heartbeat \
             may lose the work"
        );
    }
    let limit = PoolSettings::from(database).answer_limit();
    let pool = pools.for_work(LEASE_CONNECTIONS).write;
    let pulse = PgPulse::new(pool.options().clone(), timing.interval);
    let store = PgLeases::new(PgReads::new(pool, database.acquire_timeout, limit));
    Leases::start(store, pulse, timing, &holder()).map_err(|error| AppError::Io("heartbeat".to_owned(), error))
}

/// What people read of this process as the holder of work: host, process, and a number that tells it from one that had
/// the same id before.
fn holder() -> String {
    let host = rustix::system::uname();
    let host: String = host.nodename().to_string_lossy().chars().take(100).collect();
    format!("{host}/{}/{:06x}", std::process::id(), fastrand::u32(..0x0100_0000))
}
