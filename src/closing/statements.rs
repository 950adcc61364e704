//! Statements: a month shows whole, as closed, or not at all, as upcoming.

use super::ClosingError;
use super::charges::{Closings, member};
use super::store::{ClosingReads, ClosingStore};
use super::view::{ConfirmedRow, Month, RowPlace, Statements};
use crate::domain::charge::ClosingRefusal;
use crate::domain::period::Period;
use crate::transaction::Viewer;

impl<S: ClosingStore, R: ClosingReads> Closings<S, R> {
    /// Every month's totals, as of one moment. For members.
    ///
    /// # Errors
    /// [`ClosingError`].
    pub async fn statements(&self, viewer: Viewer) -> Result<Statements, ClosingError> {
        member(&self.reads, viewer).await?;
        Ok(self.reads.statements(viewer.organization_id).await?)
    }

    /// A closed month's totals. For members.
    ///
    /// # Errors
    /// [`ClosingError`]; not found unless it is closed.
    pub async fn statement(&self, viewer: Viewer, period: Period) -> Result<Month, ClosingError> {
        member(&self.reads, viewer).await?;
        let month = self.reads.closed_month(viewer.organization_id, period).await?;
        month.ok_or_else(|| ClosingRefusal::NotFound.into())
    }

    /// Up to `limit` rows of a closed month after a place. It never changes, so a walk needs no snapshot. For members,
    /// judged anew at every page.
    ///
    /// # Errors
    /// [`ClosingError`]; not found unless the month is closed.
    pub async fn statement_rows(
        &self,
        viewer: Viewer,
        period: Period,
        after: Option<RowPlace>,
        limit: i64,
    ) -> Result<Vec<ConfirmedRow>, ClosingError> {
        self.statement(viewer, period).await?;
        Ok(self.reads.confirmed_rows(viewer.organization_id, period, after, limit).await?)
    }
}
