//! What a process does besides answering: the heartbeat, the worker, and the signals between processes.

use super::{AppError, Leases, UseCases};
use crate::config::Settings;
use crate::pg::{PgJobs, PgLeases, PgPulse, PgReads, PgStore, PoolSettings, Pools, Signals};
use crate::processing::gateway::{Gateway, GatewaySettings};
use crate::processing::worker::{Worker, WorkerSettings};
use crate::webhooks::address::{Guard, SystemNames};
use crate::webhooks::secret::Keys;
use std::sync::Arc;
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

/// The slow work of a process: the heartbeat of all its leases, and its jobs, of which nothing runs where no outside
/// system is configured.
#[derive(Debug)]
pub struct Work {
    role: Role,
    pools: Pools,
    leases: Leases,
    /// Where webhooks may lead, and what keeps their secrets.
    hooks: (Guard, Option<Keys>),
    signals: Option<Signals>,
    /// End when this is dropped.
    signalling: JoinSet<()>,
    worker: Option<(Worker, Pools)>,
}

impl Work {
    /// Starts what the role asks for, on the runtime that this is called on.
    ///
    /// # Errors
    /// When the connector can't be used, or the operating system gives no thread.
    pub fn start(pools: Pools, settings: &Settings, role: Role) -> Result<Self, AppError> {
        let processing = &settings.processing;
        let connector = processing.connector().map_err(AppError::Other)?;
        let guard = Guard::new(Arc::new(SystemNames), settings.webhooks.allowed().map_err(AppError::Other)?);
        let hooks = (guard, settings.webhooks.keys().map_err(AppError::Other)?);
        let leases = leases(&pools, settings)?;
        let Some(url) = connector else {
            if role == Role::Worker {
                tracing::warn!("processing.connector_url is empty: there is nothing for a worker to do");
            }
            return Ok(Self { role, pools, leases, hooks, signals: None, signalling: JoinSet::new(), worker: None });
        };
        let (signals, signalling) = Signals::start(pools.write.options(), role.works());
        let worker = if role.works() {
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
            let worker = Worker::start(queue, leases.clone(), gateway, worker_settings, signals.bell());
            Some((worker, pools))
        } else {
            None
        };
        Ok(Self { role, pools, leases, hooks, signals: Some(signals), signalling, worker })
    }

    /// The use cases of this process: with a connector, each approval starts a job.
    #[must_use]
    pub fn use_cases(&self, settings: &Settings) -> UseCases {
        let (guard, keys) = self.hooks.clone();
        let use_cases =
            UseCases::build(&self.pools, &settings.database, self.signals.clone(), settings.processing.lease_timeout);
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

    /// Takes no job any more; what is under way goes on, and so does its heartbeat.
    pub fn close(&self) {
        if let Some((worker, _)) = &self.worker {
            worker.close();
        }
    }

    /// Cancelled when nothing can be worked on any more, since the heartbeat has ended. `None`: nothing is worked on here.
    #[must_use]
    pub fn stopped(&self) -> Option<CancellationToken> {
        self.worker.as_ref().map(|_| self.leases.stopped().clone())
    }

    /// Waits for jobs under way, saves them or, so early that this ends before `deadline`, gives them back, and closes
    /// their connections.
    pub async fn finish(&mut self, deadline: Instant) {
        let Some((worker, pools)) = self.worker.take() else { return };
        let left = deadline.saturating_duration_since(Instant::now());
        if !worker.finish(deadline - GIVING_BACK.min(left / 4), GIVING_BACK).await {
            tracing::warn!("some work could not be given back: it is taken over after the timeout");
        }
        pools.write.close();
    }

    /// Stops the heartbeat, when nothing is under way any more, and says the last word to other processes.
    pub async fn end(self) {
        self.leases.stop(GIVING_BACK).await;
        if let Some(signals) = self.signals {
            signals.finish(self.signalling).await;
        }
    }
}

fn queue(pools: &Pools, settings: &Settings, signals: Signals) -> PgJobs {
    let database = &settings.database;
    let limit = PoolSettings::from(database).answer_limit();
    let save_timeout = settings.processing.save_timeout;
    let store = PgStore::new(pools.write.clone(), database.acquire_timeout)
        .answered_within(save_timeout + Duration::from_secs(1))
        .saving_within(save_timeout)
        .starting_jobs(signals);
    PgJobs::new(PgReads::new(pools.write.clone(), database.acquire_timeout, limit), store)
}

/// Starts the one heartbeat of this process's slow work, on a thread and a connection of its own. Whoever starts it stops
/// it, as the last thing before the pools are closed.
///
/// # Errors
/// When the operating system gives no thread.
pub fn leases(pools: &Pools, settings: &Settings) -> Result<Leases, AppError> {
    let database = &settings.database;
    let timing = settings.processing.timing();
    if timing.timeout < timing.recommended_timeout() {
        tracing::warn!(
            lease_timeout_ms = timing.timeout.as_millis(),
            heartbeat_interval_ms = timing.interval.as_millis(),
            "processing.lease_timeout_ms is shorter than four times processing.heartbeat_interval_ms: one slow heartbeat \
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
