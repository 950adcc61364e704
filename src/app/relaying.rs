//! The relay of events in this process, with connections and a heartbeat of its own.

use super::work::leases_with;
use super::{AppError, Leases};
use crate::config::Settings;
use crate::outbox::{Cleaner, Consumer, Relay, RelaySettings};
use crate::pg::{PgOutbox, PgReads, PgStore, PoolSettings, Pools, Signals};
use std::sync::Arc;
use std::time::Duration;
use tokio::time::Instant;
use tokio_util::sync::CancellationToken;

/// Connections of the relay and of those who are told of events: people's writes can't keep events back, nor these them.
const CONNECTIONS: u32 = 4;

/// A relay, working or waiting for its turn.
#[derive(Debug)]
pub(super) struct Relaying {
    relay: Relay,
    leases: Leases,
    pools: Pools,
}

impl Relaying {
    /// Starts it, on the runtime that this is called on, with those who are `told` of events.
    ///
    /// # Errors
    /// When the operating system gives no thread.
    pub(super) fn start(
        pools: &Pools,
        settings: &Settings,
        signals: &Signals,
        told: impl IntoIterator<Item = Arc<dyn Consumer>>,
    ) -> Result<Self, AppError> {
        // A rhythm of its own: nobody waits for a job as they wait for news.
        let leases = leases_with(pools, &settings.database, settings.events.timing(), "events")?;
        let pools = pools.for_work(CONNECTIONS);
        let database = &settings.database;
        let limit = PoolSettings::from(database).answer_limit();
        let reads = PgReads::new(pools.write.clone(), database.acquire_timeout, limit);
        // Who freezes in a step keeps whoever takes over waiting for no longer than a save may take.
        let save_timeout = settings.processing.save_timeout;
        let store = PgStore::new(pools.write.clone(), database.acquire_timeout)
            .answered_within(save_timeout + Duration::from_secs(1))
            .saving_within(save_timeout)
            .waking(signals.clone());
        let outbox = PgOutbox::new(reads, store);
        let post = super::mail::post(&pools, settings).map_err(AppError::Other)?;
        let cleaner: Arc<dyn Consumer> = Arc::new(Cleaner::new(outbox.clone(), settings.events.retention()));
        let consumers = told.into_iter().chain([cleaner, Arc::new(post)]).collect();
        let relay_settings = RelaySettings { poll_interval: settings.events.poll_interval };
        let relay = Relay::start(outbox, leases.clone(), signals.clone(), relay_settings, consumers);
        Ok(Self { relay, leases, pools })
    }

    /// Begins to end; see [`Relay::close`].
    pub(super) fn close(&self) {
        self.relay.close();
    }

    /// Cancelled when no lease can be kept any more, since the heartbeat has ended.
    pub(super) fn stopped(&self) -> &CancellationToken {
        self.leases.stopped()
    }

    /// Waits for what is under way until `deadline`, gives the lease back, stops its heartbeat and closes the connections.
    pub(super) async fn finish(self, deadline: Instant, patience: Duration) {
        if !self.relay.finish(deadline, patience).await {
            tracing::warn!("the relay's lease could not be given back: it is taken over after the timeout");
        }
        self.leases.stop(patience).await;
        self.pools.write.close();
    }
}
