//! The closings of a process: runs that its calls have started, and those of others that were interrupted.

use super::{AppError, Closer, Leases, UseCases};
use crate::closing::run::RunSettings;
use crate::config::{Database, Settings};
use crate::domain::ids::OrganizationId;
use crate::inspection::store::VerificationReads;
use crate::lifecycle::Runner;
use crate::pg::{PgReads, PgStore, PoolSettings, Pools};
use crate::transaction::admission::Admission;
use std::time::Duration;
use tokio_util::sync::CancellationToken;

/// Connections of the runs. A run uses one at a time.
const CONNECTIONS: u32 = 2;

/// What a process needs to close months, with connections of its own: people's writes can't stop a run, nor a run theirs.
#[derive(Debug)]
pub struct ClosingWork {
    closer: Closer,
    pools: Pools,
    stop: CancellationToken,
}

impl ClosingWork {
    /// Under leases of this process.
    #[must_use]
    pub fn start(pools: &Pools, leases: &Leases, settings: &Settings, admission: &Admission) -> Self {
        let pools = pools.for_work(CONNECTIONS);
        let database = &settings.database;
        let limit = PoolSettings::from(database).answer_limit();
        // A run that freezes in a step keeps whoever takes over waiting for no longer than a save may take.
        let store = PgStore::new(pools.write.clone(), database.acquire_timeout)
            .answered_within(limit)
            .saving_within(settings.processing.save_timeout);
        let reads = PgReads::new(pools.read.clone(), database.acquire_timeout, limit);
        let run = RunSettings {
            chunk_target: settings.closing.chunk_target,
            chunk_max_rows: settings.closing.chunk_max_rows,
        };
        let stop = CancellationToken::new();
        let closer = Closer::new(store, reads, leases.clone(), admission.clone(), run, stop.clone());
        Self { closer, pools, stop }
    }

    /// The use cases.
    #[must_use]
    pub const fn closer(&self) -> &Closer {
        &self.closer
    }

    /// Goes on with runs that were interrupted, whoever had begun them, until [`Self::close`].
    pub fn resume_interrupted(&self, runner: &Runner, every: Duration) {
        let (closer, stop) = (self.closer.clone(), self.stop.clone());
        runner.detach(async move {
            loop {
                // Jittered, so that processes that began together do not look together.
                let pause = every.mul_f64(0.75 + 0.5 * fastrand::f64());
                tokio::select! {
                    () = tokio::time::sleep(pause) => {}
                    () = stop.cancelled() => return,
                }
                if let Err(error) = closer.resume().await {
                    tracing::warn!(%error, "interrupted closings could not be gone on with");
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

/// How many organizations are read at once.
const ORGANIZATIONS: i64 = 1_000;

/// Makes the charges that approved requests lack, in one organization or in all. Says how many.
///
/// # Errors
/// [`AppError`]; what was made stays.
pub async fn charge_approvals(
    pools: &Pools,
    settings: &Database,
    only: Option<OrganizationId>,
) -> Result<i64, AppError> {
    let closings = UseCases::new(pools, settings).closings;
    let charge = async |organization| {
        let made = closings.charge_approvals(organization).await;
        made.map_err(|error| AppError::Other(format!("charges of {organization}: {error}")))
    };
    if let Some(organization) = only {
        return charge(organization).await;
    }
    let reads = PgReads::new(pools.read.clone(), settings.acquire_timeout, PoolSettings::from(settings).answer_limit());
    let (mut made, mut after) = (0, None);
    loop {
        let organizations = reads.organizations(after, ORGANIZATIONS).await?;
        let Some(last) = organizations.last() else { return Ok(made) };
        after = Some(*last);
        for organization in organizations {
            made += charge(organization).await?;
        }
    }
}
