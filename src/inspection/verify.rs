//! Walks every chain of an organization in steps, each of which is one statement and so sees one moment: people go
//! on working meanwhile.
//!
//! The walk goes through everything that is stored, in this order: the rows of requests' histories with contents and
//! requests beside them, requests without a history, contents without a row, the rows of the other history, and heads
//! without rows. It ends at the first broken row.

use super::store::VerificationReads;
use crate::domain::history::Kind;
use crate::domain::ids::{OrganizationId, RequestId, Version};
use crate::domain::verify::{Break, Carried, RequestChain, SubjectChain, Why};
use crate::transaction::StoreError;
use serde::{Deserialize, Serialize};

/// How many rows one statement reads: with the longest contents a few tens of megabytes.
const STEP: i64 = 1_000;

/// Where a verification goes on. It passes through the hands of whoever asks, who can only mislead himself with a
/// bent one: every row from there on is read and hashed anew.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Place {
    /// In the rows of requests' histories, after this row of this request.
    Entries(Option<(RequestId, Carried)>),
    /// In the requests, after this one.
    Requests(Option<RequestId>),
    /// In the contents, after this one.
    Contents(Option<(RequestId, Version)>),
    /// In the rows of the other history, after this one with this hash.
    Subjects(Option<(String, String, i64, String)>),
    /// In the heads of the other history, after this one.
    Heads(Option<(String, String)>),
}

impl Place {
    /// The beginning.
    pub const START: Self = Self::Entries(None);

    /// True when a walk over this one request alone could be here: a cursor is its sender's word, and who may see one
    /// request must not be led through the rest of the organization by it.
    #[must_use]
    pub fn is_within(&self, request: RequestId) -> bool {
        match self {
            Self::Entries(place) => place.as_ref().is_none_or(|(id, _)| *id == request),
            Self::Requests(place) => place.is_none_or(|id| id == request),
            Self::Contents(place) => place.is_none_or(|(id, _)| id == request),
            Self::Subjects(_) | Self::Heads(_) => false,
        }
    }

    /// False for what no walk of ours has written.
    #[must_use]
    pub fn is_sane(&self) -> bool {
        let sane = |text: &str| text.len() <= 400 && !text.contains('\0');
        match self {
            Self::Subjects(Some((kind, subject, _, _))) | Self::Heads(Some((kind, subject))) => {
                sane(kind) && sane(subject)
            }
            _ => true,
        }
    }
}

/// What a part of the walk has found.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Verified {
    /// How many rows of history were checked in this part.
    pub checked: i64,
    /// The first broken row. The walk ends there.
    pub first_broken: Option<Break>,
    /// Where it goes on. `None`: that was all.
    pub next: Option<Place>,
}

/// One step: how many rows were read, how many of them were rows of history, and where it goes on.
struct Step {
    read: i64,
    checked: i64,
    found: Result<Option<Place>, Break>,
}

/// Checks up to `budget` stored rows from `place` on. `scope`: one request only.
///
/// # Errors
/// [`StoreError`].
pub async fn verify(
    reads: &impl VerificationReads,
    organization: OrganizationId,
    scope: Option<RequestId>,
    place: Place,
    budget: i64,
) -> Result<Verified, StoreError> {
    let (mut place, mut left, mut checked) = (place, budget, 0);
    while left > 0 {
        let step = step(reads, organization, scope, place, left.min(STEP)).await?;
        checked += step.checked;
        // A step that finds the end of its part reads nothing and still costs a statement.
        left -= step.read.max(1);
        match step.found {
            Err(broken) => return Ok(Verified { checked, first_broken: Some(broken), next: None }),
            Ok(None) => return Ok(Verified { checked, first_broken: None, next: None }),
            Ok(Some(next)) => place = next,
        }
    }
    Ok(Verified { checked, first_broken: None, next: Some(place) })
}

async fn step(
    reads: &impl VerificationReads,
    organization: OrganizationId,
    scope: Option<RequestId>,
    place: Place,
    limit: i64,
) -> Result<Step, StoreError> {
    match place {
        Place::Entries(after) => entries(reads, organization, scope, after, limit).await,
        Place::Requests(after) => {
            let rows = reads.requests(organization, scope, after, limit).await?;
            let broken = rows.iter().find(|(_, has_history)| !has_history).map(|(id, _)| missing(*id, 1));
            let next = full(&rows, limit).map_or(Place::Contents(None), |(id, _)| Place::Requests(Some(*id)));
            Ok(Step { read: count(&rows), checked: 0, found: broken.map_or(Ok(Some(next)), Err) })
        }
        Place::Contents(after) => {
            let rows = reads.contents(organization, scope, after, limit).await?;
            let broken = rows
                .iter()
                .find(|(_, _, has_entry)| !has_entry)
                .map(|(id, version, _)| Break { why: Why::ContentUnexpected, ..missing(*id, *version) });
            // One request has no other history.
            let end = scope.is_none().then_some(Place::Subjects(None));
            let next = full(&rows, limit).map_or(end, |(id, version, _)| Some(Place::Contents(Some((*id, *version)))));
            Ok(Step { read: count(&rows), checked: 0, found: broken.map_or(Ok(next), Err) })
        }
        Place::Subjects(after) => subjects(reads, organization, after, limit).await,
        Place::Heads(after) => {
            let after = after.as_ref().map(|(kind, subject)| (&**kind, &**subject));
            let rows = reads.heads(organization, after, limit).await?;
            let broken = rows.iter().find(|(_, _, agrees)| !agrees).map(|(kind, subject, _)| Break {
                kind: kind.clone(),
                subject: subject.clone(),
                version: 1,
                why: Why::EntryMissing,
            });
            let next = full(&rows, limit).map(|(kind, subject, _)| Place::Heads(Some((kind.clone(), subject.clone()))));
            Ok(Step { read: count(&rows), checked: 0, found: broken.map_or(Ok(next), Err) })
        }
    }
}

async fn entries(
    reads: &impl VerificationReads,
    organization: OrganizationId,
    scope: Option<RequestId>,
    after: Option<(RequestId, Carried)>,
    limit: i64,
) -> Result<Step, StoreError> {
    // The last row that was checked is read again: its request may have gone on since.
    let limit = limit + i64::from(after.is_some());
    let from = after.as_ref().map(|(id, carried)| (*id, carried.version()));
    let rows = reads.entries(organization, scope, from, limit).await?;
    let (read, mut checked) = (count(&rows), 0);
    let more = read == limit;
    let mut rows = rows.into_iter();
    let mut chain: Option<RequestChain> = None;
    let found = (|| {
        if let Some((id, carried)) = after {
            let again = rows.next().filter(|row| (row.request_id, row.version) == (id, carried.version()));
            let again = again.ok_or_else(|| missing(id, carried.version()))?;
            chain = Some(RequestChain::resume(organization, again, carried)?);
        }
        for row in rows {
            match &mut chain {
                Some(chain) if chain.request_id() == row.request_id => chain.follow(row)?,
                other => {
                    if let Some(ended) = other.take() {
                        ended.finish()?;
                    }
                    *other = Some(RequestChain::begin(organization, row)?);
                }
            }
            checked += 1;
        }
        match &chain {
            Some(chain) if more => Ok(Some(Place::Entries(Some((chain.request_id(), chain.carried()))))),
            Some(chain) => chain.finish().map(|()| Some(Place::Requests(None))),
            None => Ok(Some(Place::Requests(None))),
        }
    })();
    Ok(Step { read, checked, found })
}

async fn subjects(
    reads: &impl VerificationReads,
    organization: OrganizationId,
    after: Option<(String, String, i64, String)>,
    limit: i64,
) -> Result<Step, StoreError> {
    let limit = limit + i64::from(after.is_some());
    let from = after.as_ref().map(|(kind, subject, seq, _)| (&**kind, &**subject, *seq));
    let rows = reads.subject_entries(organization, from, limit).await?;
    let (read, mut checked) = (count(&rows), 0);
    let more = read == limit;
    let mut rows = rows.into_iter();
    let mut chain: Option<SubjectChain> = None;
    let found = (|| {
        if let Some((kind, subject, seq, hash)) = after {
            let again = rows.next().filter(|row| (&row.kind, &row.subject_id, row.seq) == (&kind, &subject, seq));
            let again = again.ok_or(Break { kind, subject, version: seq, why: Why::EntryMissing })?;
            chain = Some(SubjectChain::resume(organization, again, seq, &hash)?);
        }
        for row in rows {
            match &mut chain {
                Some(chain) if chain.last().0.kind == row.kind && chain.last().0.subject_id == row.subject_id => {
                    chain.follow(row)?;
                }
                other => {
                    if let Some(ended) = other.take() {
                        ended.finish()?;
                    }
                    *other = Some(SubjectChain::begin(organization, row)?);
                }
            }
            checked += 1;
        }
        match &chain {
            Some(chain) if more => {
                let (last, hash) = chain.last();
                let place = (last.kind.clone(), last.subject_id.clone(), last.seq, hash.to_string());
                Ok(Some(Place::Subjects(Some(place))))
            }
            Some(chain) => chain.finish().map(|()| Some(Place::Heads(None))),
            None => Ok(Some(Place::Heads(None))),
        }
    })();
    Ok(Step { read, checked, found })
}

fn missing(id: RequestId, version: Version) -> Break {
    Break { kind: Kind::Request.as_str().to_owned(), subject: id.to_string(), version, why: Why::EntryMissing }
}

fn count<T>(rows: &[T]) -> i64 {
    i64::try_from(rows.len()).unwrap_or(i64::MAX)
}

/// The last row, where there may be more after it.
fn full<T>(rows: &[T], limit: i64) -> Option<&T> {
    if count(rows) == limit { rows.last() } else { None }
}
