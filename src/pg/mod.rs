//! The only SQL of the project.
//!
//! # The lock order
//!
//! The same in every path, so that no two transactions can wait for each other in a circle. A path that needs
//! another order is designed wrong; no lock is ever upgraded.
//!
//! 1. `organization` — FOR NO KEY UPDATE, by member administration, which it serializes, and by who adds a webhook (FOR
//!    UPDATE would deadlock with the foreign keys' checks)
//! 2. `organization_member` — each member's fence and then its row, members ascending, each in its strongest mode at
//!    once: FOR SHARE by who acts, FOR NO KEY UPDATE by who changes a member
//! 3. `idempotency_key` — by INSERT: a second call waits for the first
//! 4. `approval_request`, `invitation` — FOR UPDATE, by organization and id; `charge_backfill` — FOR UPDATE SKIP LOCKED; no
//!    path takes two of them
//! 5. `billing_period` — the fences of months, ascending: shared by who writes a charge into a month, alone by who
//!    begins to close it; and then the month's row
//! 6. `job_lease` — FOR UPDATE by the save that ends the work, FOR SHARE by a step of work that goes on; by INSERT where
//!    the lease is taken, in a transaction of its own, and by who cancels, so that none appears behind the job's lock
//! 7. `job` — FOR UPDATE, under its lease or after looking for one
//! 8. `charge` — ascending: FOR UPDATE by who corrects it, FOR SHARE by a closing
//! 9. `webhook_endpoint` — FOR UPDATE, by who changes it, and under the relay's lease by who has delivered to it
//! 10. `history_head` — FOR UPDATE
//! 11. `mail_address` — FOR UPDATE by its person, or by the post; and then `mail_message`: below the relay's lease where the
//!     post works, which is the only one to change rows that it has begun
//! 12. inserts
//! 13. `event_stream` — by the relay alone, below its lease: organizations ascending, and then what it moves from
//!     `outbox_event` to `event_log`. Nobody else locks any of these; a decision only inserts
//!
//! # The fence of a member
//!
//! Row locks are not fair: those who share a row overtake one who waits to change it, for as long as they overlap.
//! So who acts takes an advisory lock on the member shared, and who changes the member takes it alone; those queue.
//! It is taken in the statement of the row lock, below it in the plan: fence first, then the row.
//!
//! A month has such a fence, too (`period_fence`), below which its row is read in a later statement.
//!
//! # Time
//!
//! `at` in a lock's statement is `clock_timestamp()` read above the lock in the plan (hence the materialized CTE):
//! the database's clock after the wait, to the microsecond.

pub mod embedded;
pub mod facts;
pub mod migrate;

mod approvals;
mod chain;
mod charges;
mod closing;
mod closing_reads;
mod deliveries;
mod error;
mod events;
mod idempotency;
mod identities;
mod inspection;
mod invitations;
mod jobs;
mod leases;
mod live;
mod mail;
mod mailroom;
mod members;
mod organizations;
mod pool;
mod processing;
mod reads;
mod session;
mod signals;
mod statements;
mod verify;
mod webhooks;

pub use deliveries::PgDeliveries;
pub use events::PgOutbox;
pub use idempotency::PgKeys;
pub use identities::PgIdentities;
pub use jobs::PgJobs;
pub use leases::{PgLeases, PgPulse};
pub use mailroom::PgMailroom;
pub use organizations::{NewOrganization, OrganizationError, create_organization};
pub use pool::{Lent, Pool, Sizes};
pub use reads::PgReads;
pub use session::{PgSession, PgStore};
pub use signals::{Signals, Topic};

use crate::transaction::StoreError;
use sqlx::ConnectOptions;
use sqlx::postgres::PgConnectOptions;
use std::time::Duration;

/// How much longer than `statement_timeout` an answer is waited for. By then the server has spoken, or never will.
const ANSWER_GRACE: Duration = Duration::from_secs(2);
/// The limit for an answer where nobody named one: above the default of `statement_timeout`.
const DEFAULT_ANSWER_LIMIT: Duration = Duration::from_secs(12);
/// How long readiness may take: a balancer asks often, and takes no answer for a no.
const READY_PATIENCE: Duration = Duration::from_secs(2);

/// How the pools behave.
#[derive(Clone, Debug)]
pub struct PoolSettings {
    /// Connections for writes.
    pub write_connections: u32,
    /// Connections for reads, which can't be used up by writers.
    pub read_connections: u32,
    /// How long one lock is waited for.
    pub lock_timeout: Duration,
    /// How long one statement may take.
    pub statement_timeout: Duration,
    /// How long an open transaction may be silent, for the day when this process freezes inside one.
    pub idle_in_transaction_timeout: Duration,
    /// How long a free connection is waited for.
    pub acquire_timeout: Duration,
}

impl PoolSettings {
    /// How long the answer to one statement is waited for, before its connection counts as lost.
    #[must_use]
    pub fn answer_limit(&self) -> Duration {
        self.statement_timeout + ANSWER_GRACE
    }
}

/// The two pools of a process.
#[derive(Clone, Debug)]
pub struct Pools {
    /// For sessions.
    pub write: Pool,
    /// For reads.
    pub read: Pool,
}

/// The less able role that the program works as, where the server let `ringi migrate` make it.
pub const APPLICATION_ROLE: &str = "ringi_app";

/// Opens the pools. With `role`, every connection works as that role from its first moment on.
///
/// # Errors
/// [`StoreError::Unavailable`] when the database can't be reached.
pub async fn connect(
    options: &PgConnectOptions,
    settings: &PoolSettings,
    role: Option<&str>,
) -> Result<Pools, StoreError> {
    let milliseconds = |d: Duration| d.as_millis().to_string();
    let mut options = options.clone().application_name("ringi").statement_cache_capacity(200).options([
        ("lock_timeout", milliseconds(settings.lock_timeout)),
        ("statement_timeout", milliseconds(settings.statement_timeout)),
        ("idle_in_transaction_session_timeout", milliseconds(settings.idle_in_transaction_timeout)),
        // Frees the locks of a statement whose process was killed.
        ("client_connection_check_interval", "500".to_owned()),
        ("timezone", "UTC".to_owned()),
        // Compiling a plan costs more than any of our statements takes.
        ("jit", "off".to_owned()),
    ]);
    // The driver would warn about every statement over a second, and so a second time about each wait for a lock that
    // ends in `busy`. What a slow statement meant is said once, by who answers; PostgreSQL's own log names the rest.
    options = options.disable_statement_logging();
    if let Some(role) = role {
        // By the connect option, since it survives RESET ROLE.
        options = options.options([("role", role)]);
    }
    let read = options
        .clone()
        // The membership is a parameter of the plan: whether all or three rows are seen decides which index serves.
        .options([("default_transaction_read_only", "on"), ("plan_cache_mode", "force_custom_plan")]);
    let patience = settings.acquire_timeout;
    Ok(Pools {
        write: Pool::open(options, settings.write_connections, patience).await?,
        read: Pool::open(read, settings.read_connections, patience).await?,
    })
}

impl Pools {
    /// True when the database answers and its schema is as new as this program.
    pub async fn is_ready(&self) -> bool {
        // Each connection of the pool may have died while idle, which says nothing about the database.
        for _ in 0..=self.read.sizes().most {
            let Ok(mut connection) = self.read.lend().await else { return false };
            let answer = tokio::time::timeout(READY_PATIENCE, migrate::is_current(&mut connection)).await;
            if let Ok(Ok(current)) = answer {
                connection.give_back();
                return current;
            }
            if answer.is_err() {
                return false;
            }
        }
        false
    }

    /// A pool of its own for slow work, beside the one for writes, so that neither waits for the other's connections.
    /// Reads are shared.
    #[must_use]
    pub fn for_work(&self, connections: u32) -> Self {
        Self { write: self.write.another(connections), read: self.read.clone() }
    }

    /// Closes both pools: idle connections now, those in use when their work ends.
    pub fn close(&self) {
        self.write.close();
        self.read.close();
    }
}
