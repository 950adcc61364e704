//! The closings of a process: runs that its calls have started, and those of others that were interrupted.

use super::{Closer, Closings, Leases};
use crate::closing::run::RunSettings;
use crate::closing::store::Backfilled;
use crate::config::Settings;
use crate::lifecycle::Runner;
use crate::pg::{PgReads, PgStore, PoolSettings, Pools, Signals};
use crate::transaction::admission::Admission;
use std::time::Duration;
use tokio_util::sync::CancellationToken;

/// Connections of the runs. A run uses one at a time.
const CONNECTIONS: u32 = 2;

/// What a process needs to close months, with connections of its own: people's writes can't stop a run, nor a run theirs.
#[derive(Debug)]
pub struct ClosingWork {
    closer: Closer,
    charges: Closings,
    pools: Pools,
    stop: CancellationToken,
}

impl ClosingWork {
    /// Under leases of this process. Without `signals`, whoever waits for the events of its runs looks by himself.
    #[must_use]
    pub fn start(
        pools: &Pools,
        leases: &Leases,
        settings: &Settings,
        admission: &Admission,
        signals: Option<&Signals>,
    ) -> Self {
        let pools = pools.for_work(CONNECTIONS);
        let database = &settings.database;
        let limit = PoolSettings::from(database).answer_limit();
        // A run that freezes in a step keeps whoever takes over waiting for no longer than a save may take.
        let store = PgStore::new(pools.write.clone(), database.acquire_timeout)
            .answered_within(limit)
            .saving_within(settings.processing.save_timeout)
            .waking(signals.cloned());
        let reads = PgReads::new(pools.read.clone(), database.acquire_timeout, limit);
        let run = RunSettings {
            chunk_target: settings.closing.chunk_target,
            chunk_max_rows: settings.closing.chunk_max_rows,
        };
        let stop = CancellationToken::new();
        let charges = Closings::new(store.clone(), reads.clone(), admission.clone());
        let closer = Closer::new(store, reads, leases.clone(), admission.clone(), run, stop.clone());
        Self { closer, charges, pools, stop }
    }

    /// The use cases.
    #[must_use]
    pub const fn closer(&self) -> &Closer {
        &self.closer
    }

    /// Goes on with runs that were interrupted, whoever had begun them, and makes the charges that older approvals lack,
    /// until [`Self::close`].
    pub fn go_on(&self, runner: &Runner, every: Duration) {
        let (closer, stop) = (self.closer.clone(), self.stop.clone());
        runner.detach(async move {
            while passed(every, &stop).await {
                if let Err(error) = closer.resume().await {
                    tracing::warn!(%error, "interrupted closings could not be gone on with");
                }
            }
        });
        let (charges, stop) = (self.charges.clone(), self.stop.clone());
        runner.detach(async move {
            while passed(every, &stop).await {
                let mut made = 0;
                let ended = loop {
                    match charges.backfill_step(None).await {
                        Ok(Backfilled::Made(more)) => made += more,
                        Ok(Backfilled::Busy | Backfilled::Done) => break Ok(()),
                        Err(error) => break Err(error),
                    }
                    if stop.is_cancelled() {
                        return;
                    }
                };
                if made > 0 {
                    tracing::info!(made, "charges of requests that were approved before");
                }
                if let Err(error) = ended {
                    tracing::warn!(%error, "charges of older approvals are still to be made");
                }
            }
        });
    }

    /// Runs under way end after their step, and give their leases back; none is begun any more.
    pub fn close(&self) {
        self.stop.cancel();
    }

    /// Cancelled by [`Self::close`].
    #[must_use]
    pub const fn stopping(&self) -> &CancellationToken {
        &self.stop
    }

    /// Closes the connections, when no run is under way any more.
    pub fn finish(self) {
        self.pools.write.close();
    }
}

/// Waits until it is time to look again; false: no more.
async fn passed(every: Duration, stop: &CancellationToken) -> bool {
    // Jittered, so that processes that began together do not look together.
    let pause = every.mul_f64(0.75 + 0.5 * fastrand::f64());
    tokio::select! {
        () = tokio::time::sleep(pause) => true,
        () = stop.cancelled() => false,
    }
}
