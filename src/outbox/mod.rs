//! From the outbox to whoever is to be told: committed events are put in order, once, by one process at a time.
//!
//! A change leaves its event in the outbox, in its own transaction. Which of two changes is committed first nobody knows
//! beforehand, so an event's time or key is no watermark: who reads after one would miss those that come late. The
//! [`Relay`] therefore takes what has been committed, numbers it for each organization (`position`: 1, 2, 3 and so on,
//! without gaps; of one subject in the order of `seq`) and puts it into the log. Everybody else goes by the position.
//!
//! Any number of processes may run a relay; the one that holds the lease works. Each of its transactions holds the
//! lease's row, so one that has been replaced writes nothing. For as long as it is the relay, the process runs its
//! [`Consumer`]s, too: whoever sends events on from here, and the [`Cleaner`], which keeps the log from growing for ever.

mod cleaner;
mod relay;
pub mod store;

pub use cleaner::Cleaner;
pub use relay::{Relay, RelaySettings};

use crate::domain::lease::Ticket;
use std::future::Future;
use std::pin::Pin;
use std::time::Duration;
use tokio::sync::watch;
use tokio_util::sync::CancellationToken;

/// The time for which a process is the relay, as its consumers see it.
#[derive(Clone, Debug)]
pub struct Term {
    /// The right to it. Every transaction holds it ([`crate::lease::Hold::Shared`]) before it writes, or writes nothing.
    pub ticket: Ticket,
    /// Cancelled when the term ends: come to an end, and save how far it went. Where the lease was lost there is nothing
    /// to be saved, and the consumer is dropped besides.
    pub over: CancellationToken,
    /// Changes whenever events have been numbered. There may be none of interest, and some may have come before.
    pub news: watch::Receiver<u64>,
}

impl Term {
    /// Waits for the next event, the end of the term, or `most`, whichever comes first.
    pub async fn until_news(&mut self, most: Duration) {
        let over = self.over.clone();
        tokio::select! {
            () = over.cancelled() => {}
            // An error would say that nobody numbers any more: the term is at its end.
            _ = self.news.changed() => {}
            () = tokio::time::sleep(most) => {}
        }
    }
}

/// Somebody who is told of events, in the process that is the relay.
pub trait Consumer: Send + Sync + 'static {
    /// Works until [`Term::over`], going on where the last term ended. Whoever returns or panics before that is run
    /// again after a pause.
    fn run(&self, term: Term) -> Pin<Box<dyn Future<Output = ()> + Send + '_>>;
}
