//! Who may look, what he is shown, and that his looking is recorded once.

use super::store::{AccessSession, AccessStore, InspectionReads, VerificationReads};
use super::verify::{Place, Verified, verify};
use super::view::{Access, Filters, Format, Row, RowPlace, Selection, WalkPlace};
use super::{InspectionError, InspectionRefusal};
use crate::domain::Instant;
use crate::domain::history::{Kind, SubjectEntry};
use crate::domain::ids::RequestId;
use crate::transaction::admission::Admission;
use crate::transaction::{End, Session, StoreError, UseCaseError, Viewer, retrying, settle};
use backon::{ExponentialBuilder, Retryable};
use chrono::DateTime;
use std::time::Duration;
use uuid::Uuid;

/// How many stored rows one call of a verification reads at most.
pub const VERIFIED_AT_ONCE: i64 = 10_000;
/// How many rows of an export are read at once.
pub const EXPORTED_AT_ONCE: i64 = 1_000;

/// The use cases, on a store for the trace and one for reads.
#[derive(Clone, Debug)]
pub struct Inspections<S, R> {
    store: S,
    reads: R,
    admission: Admission,
}

/// A page of a walk.
#[derive(Clone, Debug)]
pub struct WalkPage {
    /// In order.
    pub rows: Vec<Row>,
    /// Where the walk goes on.
    pub next: Option<WalkPlace>,
    /// What is to be recorded once the page was handed out. `None`: it has been.
    pub access: Option<Access>,
}

impl<S: AccessStore, R: InspectionReads + VerificationReads> Inspections<S, R> {
    /// The use cases, with `admission` in front of the store's connections.
    #[must_use]
    pub const fn new(store: S, reads: R, admission: Admission) -> Self {
        Self { store, reads, admission }
    }

    /// A page of a walk: from its beginning, or from `place` on. Every page makes sure that the walk is recorded, so
    /// a cursor that somebody made up leads to no row without a trace.
    ///
    /// # Errors
    /// [`InspectionError`].
    pub async fn walk(
        &self,
        viewer: Viewer,
        filters: Filters,
        to: Option<Instant>,
        place: Option<WalkPlace>,
        limit: u16,
    ) -> Result<WalkPage, InspectionError> {
        let (mut access, after, recorded) = match place {
            None => {
                let access = self.begin(viewer, filters, to, Format::Json).await?;
                let after = start(&access.selection);
                (access, after, None)
            }
            Some(WalkPlace { walk, to, after }) => {
                let now = self.inspector(viewer).await?;
                let selection = Selection { filters, to: to.min(now) };
                let access = Access { viewer, walk, format: Format::Json, selection, rows: 0, complete: false };
                let recorded = self.reads.recorded(viewer, walk).await?;
                if recorded.as_ref().is_some_and(|recorded| !access.goes_on(recorded)) {
                    return Err(InspectionRefusal::ForeignCursor.into());
                }
                (access, after, recorded)
            }
        };
        let limit = usize::from(limit);
        let asked = i64::try_from(limit + 1).unwrap_or(i64::MAX);
        let mut rows = self.reads.rows(viewer.organization_id, &access.selection, &after, asked).await?;
        let more = rows.len() > limit;
        rows.truncate(limit);
        let place = |row| WalkPlace { walk: access.walk, to: access.selection.to, after: RowPlace::of(row) };
        let next = if more { rows.last().map(place) } else { None };
        access.rows = u64::try_from(rows.len()).unwrap_or(u64::MAX);
        access.complete = next.is_none();
        Ok(WalkPage { rows, next, access: recorded.is_none().then_some(access) })
    }

    /// Begins a walk or an export: judges the viewer and fixes the end, which is never later than now.
    ///
    /// # Errors
    /// [`InspectionError`].
    #[expect(clippy::disallowed_methods, reason = "the one home of new walks' ids")]
    pub async fn begin(
        &self,
        viewer: Viewer,
        filters: Filters,
        to: Option<Instant>,
        format: Format,
    ) -> Result<Access, InspectionError> {
        let now = self.inspector(viewer).await?;
        let selection = Selection { filters, to: to.map_or(now, |to| to.min(now)) };
        Ok(Access { viewer, walk: Uuid::now_v7(), format, selection, rows: 0, complete: false })
    }

    /// The next rows of an export. The viewer is judged anew each time: who loses the right gets no more.
    ///
    /// # Errors
    /// [`InspectionError`].
    pub async fn export(
        &self,
        viewer: Viewer,
        selection: &Selection,
        after: &RowPlace,
    ) -> Result<Vec<Row>, InspectionError> {
        (|| async {
            self.inspector(viewer).await?;
            Ok(self.reads.rows(viewer.organization_id, selection, after, EXPORTED_AT_ONCE).await?)
        })
        // An hour's export must not break for one moment in which all connections are taken.
        .retry(ExponentialBuilder::default().with_jitter().with_min_delay(Duration::from_millis(50)).with_max_times(3))
        .when(|error| matches!(error, UseCaseError::Store(StoreError::Unavailable(_))))
        .await
    }

    async fn inspector(&self, viewer: Viewer) -> Result<Instant, InspectionError> {
        match self.reads.inspector(viewer).await? {
            Some(inspector) if !inspector.is_active => Err(InspectionError::NotAMember),
            Some(inspector) if inspector.is_admin => Ok(inspector.now),
            Some(_) => Err(InspectionRefusal::Forbidden.into()),
            None => Err(InspectionError::NotAMember),
        }
    }

    /// Verifies a part of the organization's histories. For administrators.
    ///
    /// # Errors
    /// [`InspectionError`].
    pub async fn verify_all(&self, viewer: Viewer, place: Option<Place>) -> Result<Verified, InspectionError> {
        self.inspector(viewer).await?;
        let place = place.unwrap_or(Place::START);
        Ok(verify(&self.reads, viewer.organization_id, None, place, VERIFIED_AT_ONCE).await?)
    }

    /// Verifies a part of one request's history. For whoever may see the request.
    ///
    /// # Errors
    /// [`InspectionError`].
    pub async fn verify_request(
        &self,
        viewer: Viewer,
        id: RequestId,
        place: Option<Place>,
    ) -> Result<Verified, InspectionError> {
        if !self.reads.sees(viewer, id).await? {
            return Err(match self.reads.inspector(viewer).await? {
                Some(member) if member.is_active => InspectionRefusal::NotFound.into(),
                _ => InspectionError::NotAMember,
            });
        }
        let place = place.unwrap_or(Place::START);
        if !place.is_within(id) {
            return Err(InspectionRefusal::ForeignCursor.into());
        }
        Ok(verify(&self.reads, viewer.organization_id, Some(id), place, VERIFIED_AT_ONCE).await?)
    }

    /// Records an access, once: a walk that has its record gets no second one. Nobody waits for this, so it is tried
    /// for a while, and a failure is told to the log in full.
    pub async fn record(&self, access: Access) {
        let recorded = (|| self.try_record(&access))
            .retry(
                ExponentialBuilder::default()
                    .with_jitter()
                    .with_min_delay(Duration::from_millis(100))
                    .with_max_delay(Duration::from_secs(2))
                    .with_max_times(5),
            )
            .when(|error| !matches!(error, UseCaseError::Refused(_) | UseCaseError::Store(StoreError::Internal(_))))
            .await;
        let result = match recorded {
            Ok(()) => "recorded",
            Err(error) => {
                let Viewer { organization_id, user_id } = access.viewer;
                let detail = access.detail();
                tracing::error!(%error, %organization_id, %user_id, %detail, "an access to the history was not recorded");
                "failed"
            }
        };
        metrics::counter!("ringi_history_accesses_total", "result" => result).increment(1);
    }

    async fn try_record(&self, access: &Access) -> Result<(), InspectionError> {
        let _place = self.admission.enter(access.viewer.organization_id, None).await?;
        retrying(|| async {
            let mut session = self.store.open().await?;
            let work = record_in(&mut session, access).await;
            settle(session, work).await
        })
        .await
    }
}

/// Member first, then the head of his chain, as everywhere.
async fn record_in<S: AccessSession + Session>(session: &mut S, access: &Access) -> Result<End<()>, InspectionError> {
    let viewer = access.viewer;
    // He may have been deactivated since: he has looked all the same.
    let member = session.lock_inspector(viewer).await?.ok_or(InspectionError::NotAMember)?;
    let head = session.lock_accesses(viewer).await?;
    if session.is_recorded(viewer, access.walk).await? {
        return Ok(End::Rollback(()));
    }
    let entry = SubjectEntry {
        organization_id: viewer.organization_id,
        kind: Kind::Access,
        subject_id: viewer.user_id.to_string(),
        seq: head.seq + 1,
        actor_id: Some(viewer.user_id),
        actor_name: member.display_name.clone(),
        action: access.action(),
        reason: None,
        detail: access.detail(),
        occurred_at: head.at,
    };
    session.record(&entry, entry.hash(head.hash)).await?;
    Ok(End::Commit(()))
}

/// Where a selection begins.
#[must_use]
pub fn start(selection: &Selection) -> RowPlace {
    RowPlace::before(selection.filters.from.unwrap_or(DateTime::UNIX_EPOCH))
}
