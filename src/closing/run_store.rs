//! What the run that closes a month needs of a database.

use super::store::ChargeSession;
use super::view::{BlockedRow, ClosingView, Progress};
use crate::domain::Instant;
use crate::domain::ids::{ChargeId, OrganizationId, Version};
use crate::domain::lease::Ticket;
use crate::domain::period::Period;
use crate::lease::LeaseSession;
use crate::transaction::{Locked, StoreError};
use std::collections::BTreeMap;
use std::future::Future;
use std::time::Duration;
use uuid::Uuid;

/// Opens the transactions of a run. Those of its own wait for a lock only for a moment, and are tried again: it never stands
/// long behind somebody who holds a row, with what it holds itself, and with those who queue behind it.
pub trait RunStore: Clone + Send + Sync + 'static {
    /// See [`RunSession`].
    type Session: RunSession;

    /// Begins a step: short, and lost without harm when the database stops, since it is then done again.
    ///
    /// # Errors
    /// [`StoreError::Unavailable`] when no connection is to be had in time.
    fn open_step(&self) -> impl Future<Output = Result<Self::Session, StoreError>> + Send;

    /// Begins a transaction of a run that must last, such as a month's start and its end.
    ///
    /// # Errors
    /// [`StoreError::Unavailable`] when no connection is to be had in time.
    fn open_lasting(&self) -> impl Future<Output = Result<Self::Session, StoreError>> + Send;

    /// Begins the transaction of a person's call, which waits for locks as long as every call does.
    ///
    /// # Errors
    /// [`StoreError::Unavailable`] when no connection is to be had in time.
    fn open_call(&self) -> impl Future<Output = Result<Self::Session, StoreError>> + Send;
}

/// Part of a month's charges, in the order of their keys.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Window {
    /// Whose.
    pub organization_id: OrganizationId,
    /// Of which month.
    pub period: Period,
    /// The first key.
    pub from: Uuid,
    /// The last key.
    pub to: Uuid,
    /// How many charges at most.
    pub limit: i64,
}

/// What became of a step.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Copied {
    /// It was done.
    Done {
        /// How many charges are confirmed now that were not.
        confirmed: i64,
        /// The key of the last charge that was looked at. `None`: there was none left.
        last: Option<Uuid>,
    },
    /// The database refuses one of the rows, and so the step. The session can only be rolled back.
    Refused(RowRefusal),
}

/// Why the database refuses a row.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RowRefusal {
    /// See [`BlockedRow::code`].
    pub code: String,
    /// See [`BlockedRow::detail`].
    pub detail: String,
}

/// How a month's row stands.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PeriodRow {
    /// Nothing can be confirmed in it any more.
    pub is_closed: bool,
    /// Its last run ended with blocked rows, and no other has begun.
    pub is_blocked: bool,
    /// Grows with every repair and exclusion.
    pub generation: i64,
}

/// Sum and number of charges by currency.
pub type Sums = BTreeMap<String, (i128, i64)>;

/// What one look of the proof has seen.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Seen<P> {
    /// Sum and number by currency.
    pub sums: Sums,
    /// Rows without their counterpart on the other side.
    pub alone: i64,
    /// Rows that differ from their counterpart.
    pub differing: i64,
    /// The place of the last row. `None`: there was none.
    pub last: Option<P>,
}

/// One transaction of a run.
pub trait RunSession: ChargeSession + LeaseSession {
    /// Takes the month's fence alone, for the rest of the transaction, so that all who write into it have ended, and the
    /// month's row. True: nobody had begun to close it, and it is begun now.
    ///
    /// # Errors
    /// [`StoreError`], as everywhere below.
    fn begin_period(
        &mut self,
        organization: OrganizationId,
        period: Period,
    ) -> impl Future<Output = Result<(bool, Locked<PeriodRow>), StoreError>> + Send;

    /// Takes the month's row. `None`: nobody has begun to close it.
    ///
    /// # Errors
    /// [`StoreError`].
    fn lock_period(
        &mut self,
        organization: OrganizationId,
        period: Period,
    ) -> impl Future<Output = Result<Option<Locked<PeriodRow>>, StoreError>> + Send;

    /// How many charges the month has, and how many of them are confirmed.
    ///
    /// # Errors
    /// [`StoreError`].
    fn survey(
        &mut self,
        organization: OrganizationId,
        period: Period,
    ) -> impl Future<Output = Result<(i64, i64), StoreError>> + Send;

    /// Confirms those charges of a window that are not confirmed yet, all or none.
    ///
    /// # Errors
    /// [`StoreError`].
    fn copy(
        &mut self,
        held: &Locked<Ticket>,
        window: &Window,
    ) -> impl Future<Output = Result<Copied, StoreError>> + Send;

    /// The first charge of a window, with its version.
    ///
    /// # Errors
    /// [`StoreError`].
    fn first(&mut self, window: &Window) -> impl Future<Output = Result<Option<(Uuid, Version)>, StoreError>> + Send;

    /// Records a charge of the month as blocked, if it is still in this version. True: it was.
    ///
    /// # Errors
    /// [`StoreError`].
    fn block(
        &mut self,
        held: &Locked<Ticket>,
        period: Period,
        charge: (Uuid, Version),
        refusal: &RowRefusal,
    ) -> impl Future<Output = Result<bool, StoreError>> + Send;

    /// Writes how far the run is, if the lease is still held.
    ///
    /// # Errors
    /// [`StoreError`].
    fn note_progress(
        &mut self,
        ticket: &Ticket,
        period: Period,
        progress: &Progress,
    ) -> impl Future<Output = Result<(), StoreError>> + Send;

    /// How many rows of the month are blocked.
    ///
    /// # Errors
    /// [`StoreError`].
    fn blocked(
        &mut self,
        organization: OrganizationId,
        period: Period,
    ) -> impl Future<Output = Result<i64, StoreError>> + Send;

    /// The proof's look at a part of the month's charges, each with its confirmed row.
    ///
    /// # Errors
    /// [`StoreError`].
    fn prove_charges(&mut self, window: &Window) -> impl Future<Output = Result<Seen<Uuid>, StoreError>> + Send;

    /// The proof's look at a part of the month's confirmed rows after a place, each with its charge.
    ///
    /// # Errors
    /// [`StoreError`].
    fn prove_confirmed(
        &mut self,
        organization: OrganizationId,
        period: Period,
        after: (Instant, Uuid),
        limit: i64,
    ) -> impl Future<Output = Result<Seen<(Instant, Uuid)>, StoreError>> + Send;

    /// Closes the locked month with these totals.
    ///
    /// # Errors
    /// [`StoreError`].
    fn close_period(
        &mut self,
        organization: OrganizationId,
        period: Period,
        sums: &Sums,
        at: Instant,
    ) -> impl Future<Output = Result<(), StoreError>> + Send;

    /// Notes that a run ended with blocked rows (`Some`: when, and with which figures), or that a new one has begun.
    ///
    /// # Errors
    /// [`StoreError`].
    fn mark_blocked(
        &mut self,
        organization: OrganizationId,
        period: Period,
        end: Option<(Instant, Progress)>,
    ) -> impl Future<Output = Result<(), StoreError>> + Send;

    /// Takes the fences up to the next open month, the month's row, and a charge, and moves that into the open month if
    /// it is blocked in this one. `None`: it is not.
    ///
    /// # Errors
    /// [`StoreError`].
    fn exclude(
        &mut self,
        organization: OrganizationId,
        period: Period,
        id: ChargeId,
    ) -> impl Future<Output = Result<Option<Period>, StoreError>> + Send;
}

/// Reads of closings, without locks.
pub trait RunReads: Clone + Send + Sync + 'static {
    /// How far a month is. `timeout`: after how much silence a holder counts as gone. `None`: there is no such
    /// organization.
    ///
    /// # Errors
    /// [`StoreError`], as everywhere below.
    fn closing(
        &self,
        organization: OrganizationId,
        period: Period,
        timeout: Duration,
    ) -> impl Future<Output = Result<Option<ClosingView>, StoreError>> + Send;

    /// Blocked rows of a month, the first by id.
    ///
    /// # Errors
    /// [`StoreError`].
    fn blocked_rows(
        &self,
        organization: OrganizationId,
        period: Period,
        limit: i64,
    ) -> impl Future<Output = Result<Vec<BlockedRow>, StoreError>> + Send;

    /// Months whose run was interrupted: begun, neither closed nor blocked, and nobody is at it.
    ///
    /// # Errors
    /// [`StoreError`].
    fn interrupted(
        &self,
        timeout: Duration,
        limit: i64,
    ) -> impl Future<Output = Result<Vec<(OrganizationId, Period)>, StoreError>> + Send;
}
