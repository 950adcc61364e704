//! What is kept for a while, and then forgotten: the answers under idempotency keys.

use crate::config::{Database, Settings};
use crate::lifecycle::Runner;
use crate::pg::{PgKeys, PgReads, PoolSettings, Pools};
use crate::transaction::StoreError;
use std::time::Duration;
use tokio_util::sync::CancellationToken;

/// How many keys one statement forgets: some milliseconds of work.
const KEYS_AT_ONCE: u16 = 500;
/// How many organizations are looked for at once.
const ORGANIZATIONS: i64 = 1_000;

/// Forgets keys older than `age`, in short statements, until there are none or `stop` is asked for. Says how many.
///
/// # Errors
/// [`StoreError`]; what was forgotten stays forgotten.
pub async fn forget_old_keys(
    pools: &Pools,
    database: &Database,
    age: Duration,
    stop: &CancellationToken,
) -> Result<u64, StoreError> {
    let limit = PoolSettings::from(database).answer_limit();
    let on = |pool: &crate::pg::Pool| PgReads::new(pool.clone(), database.acquire_timeout, limit);
    let keys = PgKeys::new(on(&pools.read), on(&pools.write));
    let (mut forgotten, mut after) = (0, None);
    loop {
        let organizations = keys.organizations_with_old(age, after, ORGANIZATIONS).await?;
        let Some(last) = organizations.last() else { return Ok(forgotten) };
        after = Some(*last);
        for organization in organizations {
            loop {
                if stop.is_cancelled() {
                    return Ok(forgotten);
                }
                let done = keys.forget(organization, age, KEYS_AT_ONCE.into()).await?;
                metrics::counter!("ringi_idempotency_keys_forgotten_total").increment(done);
                forgotten += done;
                if done < KEYS_AT_ONCE.into() {
                    break;
                }
            }
        }
    }
}

/// Forgets every so often, on connections that nobody waits for, until `stop` is asked for.
pub(super) fn forget_every_so_often(runner: &Runner, pools: &Pools, settings: &Settings, stop: CancellationToken) {
    let (pools, database, retention) = (pools.for_work(1), settings.database.clone(), settings.retention.clone());
    runner.detach(async move {
        loop {
            // Jittered, so that processes that began together do not all find the same.
            let pause = retention.sweep_interval.mul_f64(0.75 + 0.5 * fastrand::f64());
            tokio::select! {
                () = tokio::time::sleep(pause) => {}
                () = stop.cancelled() => break,
            }
            match forget_old_keys(&pools, &database, retention.idempotency_keys, &stop).await {
                Ok(0) => {}
                Ok(forgotten) => tracing::info!(forgotten, "old idempotency keys forgotten"),
                Err(error) => tracing::warn!(%error, "old idempotency keys could not be forgotten; tried again later"),
            }
        }
        // The reads are shared.
        pools.write.close();
    });
}
