//! The delivery of webhooks, in the process that is the relay.

use super::AppError;
use crate::config::Settings;
use crate::outbox::Consumer;
use crate::pg::{PgDeliveries, PgReads, PgStore, PoolSettings, Pools, Signals};
use crate::webhooks::address::{Guard, SystemNames};
use crate::webhooks::deliver::{Deliveries, DeliverySettings};
use crate::webhooks::secret::Keys;
use crate::webhooks::sender::{Sender, SenderSettings};
use std::sync::Arc;
use std::time::Duration;

/// Connections for it: however many receivers are slow, the relay has its own.
const CONNECTIONS: u32 = 4;

/// Where webhooks may lead, and what keeps their secrets: nobody is told of anything without a key.
#[derive(Clone, Debug)]
pub struct Hooks {
    /// Which addresses may be spoken to.
    pub guard: Guard,
    /// What seals and opens secrets.
    pub keys: Option<Keys>,
}

impl Hooks {
    /// As the settings say, with the names that the system knows.
    ///
    /// # Errors
    /// When a network or a key can't be read.
    pub fn of(settings: &Settings) -> Result<Self, AppError> {
        let allowed = settings.webhooks.allowed().map_err(AppError::Other)?;
        let keys = settings.webhooks.keys().map_err(AppError::Other)?;
        Ok(Self { guard: Guard::new(Arc::new(SystemNames), allowed), keys })
    }

    /// Who delivers. `None`: there is no key.
    ///
    /// # Errors
    /// When there is no TLS on this machine.
    pub fn deliveries(
        &self,
        pools: &Pools,
        settings: &Settings,
        signals: &Signals,
    ) -> Result<Option<Arc<dyn Consumer>>, AppError> {
        let Some(keys) = self.keys.clone() else { return Ok(None) };
        let hooks = &settings.webhooks;
        let sender_settings = SenderSettings { connect_timeout: hooks.connect_timeout, timeout: hooks.timeout };
        let sender = Sender::new(self.guard.clone(), sender_settings).map_err(AppError::Other)?;
        let size = |n: u32| usize::try_from(n).unwrap_or(usize::MAX);
        let delivery_settings = DeliverySettings {
            endpoints_at_once: size(hooks.endpoints_at_once),
            subjects_at_once: size(hooks.subjects_at_once),
            patience: hooks.patience(),
            log_rows: hooks.log_rows.into(),
            log_age: Duration::from_hours(24) * hooks.log_days,
        };
        let (database, pool) = (&settings.database, pools.for_work(CONNECTIONS).write);
        let limit = PoolSettings::from(database).answer_limit();
        let reads = PgReads::new(pool.clone(), database.acquire_timeout, limit);
        // Who freezes in a save keeps whoever takes over waiting for no longer than one may take.
        let save_timeout = settings.processing.save_timeout;
        let store = PgStore::new(pool, database.acquire_timeout)
            .answered_within(save_timeout + Duration::from_secs(1))
            .saving_within(save_timeout)
            .waking(signals.clone());
        let deliveries = Deliveries::new(PgDeliveries::new(reads, store), sender, keys, delivery_settings);
        Ok(Some(Arc::new(deliveries)))
    }
}
