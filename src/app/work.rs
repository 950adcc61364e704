//! What a process does besides answering: the heartbeat, the worker, and the signals between processes.

use super::{AppError, Leases, UseCases, leases};
use crate::config::Settings;
use crate::pg::{PgJobs, PgReads, PgStore, PoolSettings, Pools, Signals};
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

/// How long work that was dropped may take to be given back.
const GIVING_BACK: Duration = Duration::from_secs(5);

/// The slow work of a process, running. Nothing of it runs where no outside system is configured.
#[derive(Debug)]
pub struct Work {
    signals: Option<Signals>,
    /// End when this is dropped.
    signalling: JoinSet<()>,
    worker: Option<(Worker, Leases, Pools)>,
}

impl Work {
    /// Starts what the role asks for, on the runtime that this is called on.
    ///
    /// # Errors
    /// When the connector can't be used, or the operating system gives no thread.
    pub fn start(pools: &Pools, settings: &Settings, role: Role) -> Result<Self, AppError> {
        let processing = &settings.processing;
        let Some(url) = processing.connector().map_err(AppError::Other)? else {
            if role == Role::Worker {
                tracing::warn!("processing.connector_url is empty: there is nothing for a worker to do");
            }
            return Ok(Self { signals: None, signalling: JoinSet::new(), worker: None });
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
            let leases = leases(&pools, settings)?;
            let worker_settings = WorkerSettings {
                concurrency: processing.concurrency,
                sweep_interval: processing.sweep_interval,
                deadline: processing.job_deadline,
                patience: processing.patience(),
            };
            let gateway = gateway.map_err(AppError::Other)?;
            let queue = queue(&pools, settings, signals.clone());
            let worker = Worker::start(queue, leases.clone(), gateway, worker_settings, signals.bell());
            Some((worker, leases, pools))
        } else {
            None
        };
        Ok(Self { signals: Some(signals), signalling, worker })
    }

    /// The use cases of this process: with a connector, each approval starts a job.
    #[must_use]
    pub fn use_cases(&self, pools: &Pools, settings: &Settings) -> UseCases {
        UseCases::build(pools, &settings.database, self.signals.clone(), settings.processing.lease_timeout)
    }

    /// Takes no job any more; what is under way goes on, and so does its heartbeat.
    pub fn close(&self) {
        if let Some((worker, ..)) = &self.worker {
            worker.close();
        }
    }

    /// Cancelled when nothing can be worked on any more, since the heartbeat has ended. `None`: nothing is worked on here.
    #[must_use]
    pub fn stopped(&self) -> Option<CancellationToken> {
        self.worker.as_ref().map(|(_, leases, _)| leases.stopped().clone())
    }

    /// Waits for what is under way, saves it or, so early that this ends before `deadline`, gives it back, and only then
    /// stops the heartbeat and closes the connections.
    pub async fn finish(&mut self, deadline: Instant) {
        let Some((worker, leases, pools)) = self.worker.take() else { return };
        let left = deadline.saturating_duration_since(Instant::now());
        if !worker.finish(deadline - GIVING_BACK.min(left / 4), GIVING_BACK).await {
            tracing::warn!("some work could not be given back: it is taken over after the timeout");
        }
        leases.stop(GIVING_BACK).await;
        pools.write.close();
    }

    /// The last word to other processes, when nobody here wakes them any more.
    pub async fn hush(self) {
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
