//! What the use cases on charges and months need of a database.

use super::view::{ChargeQuery, ConfirmedRow, Month, Placement, RowPlace, Statements};
use crate::domain::Instant;
use crate::domain::charge::{Charge, ChargeContent, MonthState, NewCharge};
use crate::domain::event::Event;
use crate::domain::history::{ChainHead, Hash, SubjectEntry};
use crate::domain::ids::{ChargeId, OrganizationId};
use crate::domain::member::Member;
use crate::domain::period::Period;
use crate::transaction::idempotency::Kept;
use crate::transaction::{Guarded, Locked, Session, StoreError, Viewer};
use std::future::Future;

/// Opens sessions. One session is one Read Committed transaction.
pub trait ClosingStore: Clone + Send + Sync + 'static {
    /// See [`ChargeSession`].
    type Session: ChargeSession;

    /// Begins a transaction on a connection of its own.
    ///
    /// # Errors
    /// [`StoreError::Unavailable`] when no connection is to be had in time.
    fn open(&self) -> impl Future<Output = Result<Self::Session, StoreError>> + Send;
}

/// A confirmed charge, for who wants to take it back.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Reversible {
    /// Which.
    pub id: ChargeId,
    /// Its amount.
    pub amount: i64,
    /// Its currency.
    pub currency: String,
    /// Who takes it back already.
    pub reversed_by: Option<ChargeId>,
}

/// What a step of the backfill did.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Backfilled {
    /// It looked, and made so many charges.
    Made(i64),
    /// Others look at all that is left.
    Busy,
    /// Nothing is left.
    Done,
}

/// A charge that was found and locked, with what decides whether it can be corrected.
#[derive(Debug)]
pub struct FoundCharge {
    /// The locked row.
    pub charge: Locked<Charge>,
    /// How far its month is. Stays so until the transaction ends.
    pub month: MonthState,
    /// Where it belongs once it is corrected.
    pub placement: Placement,
}

/// A change of a charge with the row of history that goes with it.
#[derive(Clone, Debug)]
pub struct Correction {
    /// As it will stand.
    pub after: Charge,
    /// It stands in the way of a closing no more.
    pub unblocks: bool,
}

/// One open transaction on charges.
pub trait ChargeSession: Session {
    /// Takes the membership of who asks FOR SHARE. Comes first, always.
    ///
    /// # Errors
    /// [`StoreError`], as everywhere below.
    fn lock_actor(&mut self, viewer: Viewer)
    -> impl Future<Output = Result<Option<Locked<Member>>, StoreError>> + Send;

    /// For each moment, in order, the month that a charge of then goes into. The fences of these months are held, shared,
    /// until the transaction ends: nobody begins to close them meanwhile.
    ///
    /// # Errors
    /// [`StoreError`].
    fn place(
        &mut self,
        organization: OrganizationId,
        moments: &[Instant],
    ) -> impl Future<Output = Result<Vec<Placement>, StoreError>> + Send;

    /// Those of these charges that are confirmed.
    ///
    /// # Errors
    /// [`StoreError`].
    fn reversible(
        &mut self,
        organization: OrganizationId,
        ids: &[ChargeId],
    ) -> impl Future<Output = Result<Vec<Reversible>, StoreError>> + Send;

    /// Writes new charges, in ascending order of their ids. Those whose id is known, or which reverse what somebody
    /// else has reversed, are passed over; the ids that were written come back.
    ///
    /// # Errors
    /// [`StoreError`].
    fn insert_charges(
        &mut self,
        by: &Locked<Member>,
        charges: &[(NewCharge, Placement)],
    ) -> impl Future<Output = Result<Vec<ChargeId>, StoreError>> + Send;

    /// Wants all requests to be looked at again by [`Self::backfill`]: of one organization, or of all.
    ///
    /// # Errors
    /// [`StoreError`].
    fn want_backfill(&mut self, only: Option<OrganizationId>) -> impl Future<Output = Result<(), StoreError>> + Send;

    /// Looks at up to `limit` requests that are still to be looked at, of one organization (of `only`, if it is given), and
    /// makes the charges that approved ones with an amount lack. Passes over what another transaction looks at.
    ///
    /// # Errors
    /// [`StoreError`].
    fn backfill(
        &mut self,
        only: Option<OrganizationId>,
        limit: i64,
    ) -> impl Future<Output = Result<Backfilled, StoreError>> + Send;

    /// Those of these charges that there are.
    ///
    /// # Errors
    /// [`StoreError`].
    fn find_charges(
        &mut self,
        organization: OrganizationId,
        ids: &[ChargeId],
    ) -> impl Future<Output = Result<Vec<Charge>, StoreError>> + Send;

    /// Takes the fences of a charge's month and of the one that it goes into when it occurred at `moment`, and then the
    /// charge FOR UPDATE.
    ///
    /// # Errors
    /// [`StoreError`]; [`StoreError::Deadlock`], to be run again as a whole, when the charge moved meanwhile.
    fn lock_charge(
        &mut self,
        organization: OrganizationId,
        id: ChargeId,
        moment: Instant,
    ) -> impl Future<Output = Result<Option<FoundCharge>, StoreError>> + Send;

    /// Takes the head of the history of a month or a charge.
    ///
    /// # Errors
    /// [`StoreError`].
    fn lock_closing_head(
        &mut self,
        organization: OrganizationId,
        subject: &str,
    ) -> impl Future<Output = Result<ChainHead, StoreError>> + Send;

    /// Writes a locked charge's correction, guarded by its version.
    ///
    /// # Errors
    /// [`StoreError`].
    fn correct_charge(
        &mut self,
        before: &Locked<Charge>,
        correction: &Correction,
    ) -> impl Future<Output = Result<Guarded, StoreError>> + Send;

    /// Writes a row of history under its locked head, its event, and keeps the answer.
    ///
    /// # Errors
    /// [`StoreError`].
    fn append_closing(
        &mut self,
        entry: &SubjectEntry,
        entry_hash: Hash,
        event: Option<&Event>,
        kept: Option<Kept<'_>>,
    ) -> impl Future<Output = Result<(), StoreError>> + Send;
}

/// Reads without locks.
pub trait ClosingReads: Clone + Send + Sync + 'static {
    /// The viewer's own membership, active or not.
    ///
    /// # Errors
    /// [`StoreError`], as everywhere below.
    fn member_of(&self, viewer: Viewer) -> impl Future<Output = Result<Option<Member>, StoreError>> + Send;

    /// The month of now in the organization's time zone. `None`: there is no such organization.
    ///
    /// # Errors
    /// [`StoreError`].
    fn present_month(
        &self,
        organization: OrganizationId,
    ) -> impl Future<Output = Result<Option<Period>, StoreError>> + Send;

    /// Up to `limit` charges before an id, in descending order of their ids.
    ///
    /// # Errors
    /// [`StoreError`].
    fn charges(
        &self,
        organization: OrganizationId,
        query: ChargeQuery,
        before: Option<ChargeId>,
        limit: i64,
    ) -> impl Future<Output = Result<Vec<Charge>, StoreError>> + Send;

    /// One charge.
    ///
    /// # Errors
    /// [`StoreError`].
    fn charge(
        &self,
        organization: OrganizationId,
        id: ChargeId,
    ) -> impl Future<Output = Result<Option<Charge>, StoreError>> + Send;

    /// Every month's totals, as of one moment.
    ///
    /// # Errors
    /// [`StoreError`].
    fn statements(&self, organization: OrganizationId) -> impl Future<Output = Result<Statements, StoreError>> + Send;

    /// A closed month's totals. `None`: it is not closed.
    ///
    /// # Errors
    /// [`StoreError`].
    fn closed_month(
        &self,
        organization: OrganizationId,
        period: Period,
    ) -> impl Future<Output = Result<Option<Month>, StoreError>> + Send;

    /// Up to `limit` confirmed rows of a month after a place, in the order of what happened.
    ///
    /// # Errors
    /// [`StoreError`].
    fn confirmed_rows(
        &self,
        organization: OrganizationId,
        period: Period,
        after: Option<RowPlace>,
        limit: i64,
    ) -> impl Future<Output = Result<Vec<ConfirmedRow>, StoreError>> + Send;
}

/// The content that a correction leaves, told by the store's placement.
#[must_use]
pub fn corrected(charge: &Charge, content: ChargeContent, placement: Placement) -> Charge {
    Charge {
        content,
        period: placement.period,
        late_of: placement.late_of,
        version: charge.version + 1,
        ..charge.clone()
    }
}
