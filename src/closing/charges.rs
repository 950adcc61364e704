//! Charges: imported, corrected, listed. Each lands in its month while that is open, behind the month's fence.

use super::ClosingError;
use super::store::{
    Backfilled, ChargeSession, ClosingReads, ClosingStore, Correction, FoundCharge, Reversible, corrected,
};
use super::view::{ChargeQuery, Placement, RowOutcome, RowResult};
use crate::domain::Instant;
use crate::domain::charge::{
    Charge, ChargeContent, ClosingRefusal, MonthState, NewCharge, RowFault, decide_correction,
};
use crate::domain::history::{Kind, SubjectEntry};
use crate::domain::ids::{ChargeId, OrganizationId, Version};
use crate::domain::member::Member;
use crate::domain::period::Period;
use crate::domain::rfc3339;
use crate::domain::text::Violation;
use crate::transaction::admission::Admission;
use crate::transaction::idempotency::{Answer, Kept, Reply};
use crate::transaction::{Call, End, Guarded, Locked, Viewer, claim_key, retrying, settle};
use serde_json::{Value, json};
use std::collections::{HashMap, HashSet};
use std::time::Duration;

/// How many requests are looked at in one transaction.
const LOOKED_AT_ONCE: i64 = 500;
/// How long who waits for others' steps waits between two looks.
const BACKFILL_PAUSE: Duration = Duration::from_millis(50);

/// The use cases, on a store for writes and one for reads.
#[derive(Clone, Debug)]
pub struct Closings<S, R> {
    pub(super) store: S,
    pub(super) reads: R,
    pub(super) admission: Admission,
}

/// A row of an import: the id that it names, and what it asks for, unless it can't be read.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ImportRow {
    /// `None`: there is none that could be read.
    pub id: Option<ChargeId>,
    /// The charge.
    pub charge: Result<NewCharge, RowFault>,
}

/// Writes the answer for an import, so that it can be kept under the key before the commit.
pub trait RenderRows: Fn(&[RowResult]) -> Answer + Send + Sync {}
impl<F: Fn(&[RowResult]) -> Answer + Send + Sync> RenderRows for F {}

/// The same for one charge.
pub trait RenderCharge: Fn(&Charge) -> Answer + Send + Sync {}
impl<F: Fn(&Charge) -> Answer + Send + Sync> RenderCharge for F {}

impl<S: ClosingStore, R: ClosingReads> Closings<S, R> {
    /// The use cases, with `admission` in front of the store's connections.
    #[must_use]
    pub const fn new(store: S, reads: R, admission: Admission) -> Self {
        Self { store, reads, admission }
    }

    /// Imports charges in one transaction. A row that is refused keeps no other from being written. For administrators.
    ///
    /// # Errors
    /// [`ClosingError`]; nothing was changed.
    pub async fn import(
        &self,
        call: &Call,
        rows: &[ImportRow],
        render: &impl RenderRows,
    ) -> Result<Reply, ClosingError> {
        let _place = self.admission.enter(call.viewer.organization_id, None).await?;
        retrying(|| async {
            let mut session = self.store.open().await?;
            let work = import_in(&mut session, call, rows, render).await;
            settle(session, work).await
        })
        .await
    }

    /// Corrects a charge of an open month, or a blocked one. For administrators.
    ///
    /// # Errors
    /// [`ClosingError`]; nothing was changed.
    pub async fn correct(
        &self,
        call: &Call,
        id: ChargeId,
        seen: Version,
        content: &ChargeContent,
        render: &impl RenderCharge,
    ) -> Result<Reply, ClosingError> {
        let _place = self.admission.enter(call.viewer.organization_id, None).await?;
        retrying(|| async {
            let mut session = self.store.open().await?;
            let work = correct_in(&mut session, call, id, seen, content, render).await;
            settle(session, work).await
        })
        .await
    }

    /// Up to `limit` charges before an id, newest ids first. For administrators.
    ///
    /// # Errors
    /// [`ClosingError`].
    pub async fn charges(
        &self,
        viewer: Viewer,
        query: ChargeQuery,
        before: Option<ChargeId>,
        limit: i64,
    ) -> Result<Vec<Charge>, ClosingError> {
        administrator(&self.reads, viewer).await?;
        Ok(self.reads.charges(viewer.organization_id, query, before, limit).await?)
    }

    /// One charge. For administrators.
    ///
    /// # Errors
    /// [`ClosingError`].
    pub async fn charge(&self, viewer: Viewer, id: ChargeId) -> Result<Charge, ClosingError> {
        administrator(&self.reads, viewer).await?;
        let found = self.reads.charge(viewer.organization_id, id).await?;
        found.ok_or_else(|| ClosingRefusal::NotFound.into())
    }

    /// Makes charges that requests of older approvals lack, in one short step: of one organization, or of any.
    ///
    /// # Errors
    /// [`ClosingError`]; nothing was made.
    pub async fn backfill_step(&self, only: Option<OrganizationId>) -> Result<Backfilled, ClosingError> {
        retrying(|| async {
            let mut session = self.store.open().await?;
            let work = session.backfill(only, LOOKED_AT_ONCE).await;
            settle(session, work.map(End::Commit).map_err(ClosingError::from)).await
        })
        .await
    }

    /// The same, step by step until nothing is left. Says how many charges it made.
    ///
    /// # Errors
    /// [`ClosingError`]; what was made stays, and the rest is still to be made.
    pub async fn backfill(&self, only: Option<OrganizationId>) -> Result<i64, ClosingError> {
        let mut all = 0;
        loop {
            match self.backfill_step(only).await? {
                Backfilled::Made(made) => all += made,
                Backfilled::Busy => tokio::time::sleep(BACKFILL_PAUSE).await,
                Backfilled::Done => return Ok(all),
            }
        }
    }

    /// The same after looking again at every request, also those that were looked at before: for rows that came past the
    /// database's triggers.
    ///
    /// # Errors
    /// [`ClosingError`].
    pub async fn backfill_again(&self, only: Option<OrganizationId>) -> Result<i64, ClosingError> {
        retrying(|| async {
            let mut session = self.store.open().await?;
            let work = session.want_backfill(only).await;
            settle(session, work.map(End::Commit).map_err(ClosingError::from)).await
        })
        .await?;
        self.backfill(only).await
    }

    /// The month of now in the organization's time zone. `None`: there is no such organization.
    ///
    /// # Errors
    /// [`ClosingError`].
    pub async fn present_month(&self, organization: OrganizationId) -> Result<Option<Period>, ClosingError> {
        Ok(self.reads.present_month(organization).await?)
    }
}

/// Who looks, as an active member.
pub(super) async fn member(reads: &impl ClosingReads, viewer: Viewer) -> Result<Member, ClosingError> {
    let member = reads.member_of(viewer).await?;
    member.filter(|member| member.is_active).ok_or(ClosingError::NotAMember)
}

/// Refuses who may not look as an administrator.
pub(super) async fn administrator(reads: &impl ClosingReads, viewer: Viewer) -> Result<(), ClosingError> {
    if member(reads, viewer).await?.is_admin { Ok(()) } else { Err(ClosingRefusal::Forbidden.into()) }
}

/// The first two locks of every write here: the membership, which must be an administrator's, and the key. The second
/// value is the answer of the first time.
pub(super) async fn begin(
    session: &mut impl ChargeSession,
    call: &Call,
) -> Result<(Locked<Member>, Option<Answer>), ClosingError> {
    let member = session.lock_actor(call.viewer).await?;
    let member = member.filter(|member| member.is_active).ok_or(ClosingError::NotAMember)?;
    let answered = claim_key(session, call.key.as_ref()).await?;
    if answered.is_none() && !member.is_admin {
        return Err(ClosingRefusal::Forbidden.into());
    }
    Ok((member, answered))
}

async fn import_in<S: ChargeSession>(
    session: &mut S,
    call: &Call,
    rows: &[ImportRow],
    render: &impl RenderRows,
) -> Result<End<Reply>, ClosingError> {
    let (member, answered) = begin(session, call).await?;
    if let Some(answer) = answered {
        return Ok(End::Rollback(Reply::replay(answer)));
    }
    let organization = member.organization_id;
    let mut wanted = wanted(rows, member.at());
    let mut results = refuse_bad_reversals(session, organization, &mut wanted).await?;

    // Ascending, so that two imports of the same ids can't wait for each other.
    wanted.sort_by_key(|charge| charge.id);
    let moments: Vec<Instant> = wanted.iter().map(|charge| charge.content.occurred_at).collect();
    let placements = session.place(organization, &moments).await?;
    let placed: Vec<_> = wanted.into_iter().cloned().zip(placements).collect();
    let created: HashSet<ChargeId> = session.insert_charges(&member, &placed).await?.into_iter().collect();

    let rest: Vec<ChargeId> = placed.iter().map(|(charge, _)| charge.id).filter(|id| !created.contains(id)).collect();
    let known = if rest.is_empty() { Vec::new() } else { session.find_charges(organization, &rest).await? };
    let known: HashMap<ChargeId, Charge> = known.into_iter().map(|charge| (charge.id, charge)).collect();
    for (charge, placement) in &placed {
        let outcome = match known.get(&charge.id) {
            _ if created.contains(&charge.id) => RowOutcome::Created(*placement),
            Some(found) if found.content == charge.content && found.reverses == charge.reverses => {
                RowOutcome::Exists(Placement::of(found))
            }
            Some(_) => RowOutcome::Refused(RowFault::ChargeConflict),
            // Neither written nor there: somebody else has just reversed the same charge.
            None => RowOutcome::Refused(RowFault::ReversalInvalid),
        };
        results.insert(charge.id, outcome);
    }

    let answer = render(&told(rows, member.at(), &results));
    let kept = Kept::of(call.key.as_ref(), &answer);
    if let Some(kept) = kept {
        session.keep_answer(kept).await?;
    } else if created.is_empty() {
        return Ok(End::Rollback(Reply::first(answer)));
    }
    Ok(End::Commit(Reply::first(answer)))
}

/// The charges that can be tried: readable, within the rules, and each id once.
fn wanted(rows: &[ImportRow], now: Instant) -> Vec<&NewCharge> {
    let mut seen = HashSet::new();
    let readable = rows.iter().filter_map(|row| row.charge.as_ref().ok());
    readable.filter(|charge| charge.check(now).is_ok() && seen.insert(charge.id)).collect()
}

/// Takes out what reverses something that can't be reversed like that.
async fn refuse_bad_reversals(
    session: &mut impl ChargeSession,
    organization: OrganizationId,
    wanted: &mut Vec<&NewCharge>,
) -> Result<HashMap<ChargeId, RowOutcome>, ClosingError> {
    let targets: Vec<ChargeId> = wanted.iter().filter_map(|charge| charge.reverses).collect();
    if targets.is_empty() {
        return Ok(HashMap::new());
    }
    let found = session.reversible(organization, &targets).await?;
    let found: HashMap<ChargeId, Reversible> = found.into_iter().map(|target| (target.id, target)).collect();
    let (mut refused, mut taken) = (HashMap::new(), HashSet::new());
    wanted.retain(|charge| {
        let Some(target) = charge.reverses else { return true };
        let possible = found.get(&target).is_some_and(|target| {
            target.reversed_by.is_none_or(|by| by == charge.id)
                && charge.reverses_exactly(target.amount, &target.currency)
                // Of two in one import, the first.
                && taken.insert(target.id)
        });
        if !possible {
            refused.insert(charge.id, RowOutcome::Refused(RowFault::ReversalInvalid));
        }
        possible
    });
    Ok(refused)
}

/// The answer to each row, in the rows' order. Where an id stands twice, the later row is as a later call would be.
fn told(rows: &[ImportRow], now: Instant, results: &HashMap<ChargeId, RowOutcome>) -> Vec<RowResult> {
    let mut first: HashMap<ChargeId, &NewCharge> = HashMap::new();
    let mut told = Vec::with_capacity(rows.len());
    for row in rows {
        let charge = row.charge.as_ref().map_err(|fault| *fault);
        let charge = charge.and_then(|charge| charge.check(now).map(|()| charge));
        let outcome = match charge {
            Err(fault) => RowOutcome::Refused(fault),
            Ok(charge) => match (first.insert(charge.id, charge), results.get(&charge.id)) {
                (Some(earlier), _) if earlier != charge => {
                    first.insert(charge.id, earlier);
                    RowOutcome::Refused(RowFault::ChargeConflict)
                }
                (Some(_), Some(RowOutcome::Created(placement))) => RowOutcome::Exists(*placement),
                (_, result) => result.copied().unwrap_or(RowOutcome::Refused(RowFault::IdInvalid)),
            },
        };
        told.push(RowResult { id: row.id, outcome });
    }
    told
}

async fn correct_in<S: ChargeSession>(
    session: &mut S,
    call: &Call,
    id: ChargeId,
    seen: Version,
    content: &ChargeContent,
    render: &impl RenderCharge,
) -> Result<End<Reply>, ClosingError> {
    let (member, answered) = begin(session, call).await?;
    if let Some(answer) = answered {
        return Ok(End::Rollback(Reply::replay(answer)));
    }
    let organization = member.organization_id;
    let Some(FoundCharge { charge, month, placement }) =
        session.lock_charge(organization, id, content.placed_at()).await?
    else {
        return Err(ClosingRefusal::NotFound.into());
    };
    let Some(content) = decide_correction(&member, Some(&charge), month, seen, content, charge.at())? else {
        let answer = render(&charge);
        let Some(kept) = Kept::of(call.key.as_ref(), &answer) else {
            return Ok(End::Rollback(Reply::first(answer)));
        };
        session.keep_answer(kept).await?;
        return Ok(End::Commit(Reply::first(answer)));
    };
    let after = corrected(&charge, content, placement);
    check_reversal(session, &after).await?;

    let unblocks = matches!(month, MonthState::Closing { blocked: true });
    let correction = Correction { after, unblocks };
    match session.correct_charge(&charge, &correction).await? {
        Guarded::Applied => {}
        Guarded::Stale => return Err(ClosingRefusal::Changed(Box::new((*charge).clone())).into()),
    }
    let subject = id.to_string();
    let head = session.lock_closing_head(organization, &subject).await?;
    let entry = SubjectEntry {
        organization_id: organization,
        kind: Kind::Closing,
        subject_id: subject,
        seq: head.seq + 1,
        actor_id: Some(member.user_id),
        actor_name: member.display_name.clone(),
        action: "correct",
        reason: None,
        detail: json!({"before": said(&charge), "after": said(&correction.after)}),
        occurred_at: head.at,
    };
    let answer = render(&correction.after);
    let kept = Kept::of(call.key.as_ref(), &answer);
    session.append_closing(&entry, entry.hash(head.hash), None, kept).await?;
    Ok(End::Commit(Reply::first(answer)))
}

/// A reversal stays exactly the opposite of what it takes back.
async fn check_reversal(session: &mut impl ChargeSession, after: &Charge) -> Result<(), ClosingError> {
    let Some(target) = after.reverses else { return Ok(()) };
    let found = session.reversible(after.organization_id, &[target]).await?;
    let (field, wrong) = match found.first() {
        None => ("amount", "what this charge reverses is not confirmed: exclude it from the month instead"),
        Some(target) if target.currency != after.content.currency => {
            ("currency", "must be the currency of what this charge reverses")
        }
        Some(target) if target.amount.checked_neg() != Some(after.content.amount) => {
            ("amount", "must be exactly the opposite of what this charge reverses")
        }
        Some(_) => return Ok(()),
    };
    let violation = Violation::new(field, RowFault::ReversalInvalid.as_str(), wrong);
    Err(ClosingRefusal::Invalid(vec![violation]).into())
}

/// What the history says of a charge.
fn said(charge: &Charge) -> Value {
    json!({
        "occurred_at": rfc3339(charge.content.occurred_at),
        "amount": charge.content.amount,
        "currency": charge.content.currency,
        "description": charge.content.description,
        "period": charge.period.to_string(),
        "version": charge.version,
    })
}
