//! The use cases on requests. [`Approvals::act`] is the heart of the product.

use super::ApprovalError;
use super::store::{ApprovalReads, ApprovalSession, ApprovalStore, Found, Standing};
use super::view::{Counts, HistoryPage, ListQuery, Page, Place, RequestView, VersionView};
use crate::domain::content::Content;
use crate::domain::ids::{RequestId, UserId, Version};
use crate::domain::member::Member;
use crate::domain::request::{self, Action, Command, Refusal, Request, Status};
use crate::transaction::admission::Admission;
use crate::transaction::idempotency::{Answer, Kept, Reply};
use crate::transaction::{Call, End, Guarded, Locked, Session, Viewer, claim_key, retrying, settle};
use std::ops::ControlFlow;

/// The use cases, on a store for writes and one for reads.
#[derive(Clone, Debug)]
pub struct Approvals<S, R> {
    store: S,
    reads: R,
    admission: Admission,
}

/// What somebody could do to a request now.
#[derive(Debug)]
pub struct Eligibility {
    /// Who.
    pub user_id: UserId,
    /// The request, as it stands.
    pub request: Request,
    /// Each action, with what stands in its way. `None`: a call with the present version and good input succeeds.
    pub obstacles: Vec<(Action, Option<ApprovalError>)>,
}

/// Writes the answer for a view, so that it can be kept under the key before the commit.
pub trait Render: Fn(&RequestView) -> Answer + Send + Sync {}
impl<F: Fn(&RequestView) -> Answer + Send + Sync> Render for F {}

impl<S: ApprovalStore, R: ApprovalReads> Approvals<S, R> {
    /// The use cases, with `admission` in front of the store's connections.
    #[must_use]
    pub const fn new(store: S, reads: R, admission: Admission) -> Self {
        Self { store, reads, admission }
    }

    /// Does something to a request.
    ///
    /// Holds the actor's membership FOR SHARE and the request FOR UPDATE while it judges and writes, so that what was
    /// judged is what is written. Deadlocks are retried as a whole; nothing else is.
    ///
    /// # Errors
    /// [`ApprovalError`]; nothing was changed.
    pub async fn act(
        &self,
        call: &Call,
        id: RequestId,
        seen: Version,
        command: &Command,
        render: &impl Render,
    ) -> Result<Reply, ApprovalError> {
        let _place = self.admission.enter(call.viewer.organization_id, Some(id)).await?;
        retrying(|| async {
            let mut session = self.store.open().await?;
            let work = Self::act_in(&mut session, call, id, seen, command, render).await;
            settle(session, work).await
        })
        .await
    }

    async fn act_in(
        session: &mut S::Session,
        call: &Call,
        id: RequestId,
        seen: Version,
        command: &Command,
        render: &impl Render,
    ) -> Result<End<Reply>, ApprovalError> {
        let (member, Found { request, applicant_name }) = match lock(session, call, id).await? {
            ControlFlow::Continue(both) => both,
            ControlFlow::Break(answer) => return Ok(End::Rollback(Reply::replay(answer))),
        };
        // The one check that needs another row, and only for those who would not see the request otherwise.
        let has_acted = !member.may_see(&request, false) && session.has_acted(&member, &request).await?;

        let decided = request::decide(&member, has_acted, &request, seen, command, request.at())?;

        let after = decided.as_ref().map_or_else(|| (*request).clone(), |change| change.after.clone());
        let waiting_for = match after.status {
            Status::Pending => Some(session.waiting_for(after.organization_id, after.applicant_id).await?),
            _ => None,
        };
        let answer = render(&RequestView::new(after, applicant_name, &member, waiting_for));
        let kept = Kept::of(call.key.as_ref(), &answer);
        match (&decided, kept) {
            (Some(change), kept) => match session.apply(&request, change, kept).await? {
                Guarded::Applied => {}
                Guarded::Stale => return Err(Refusal::Changed(Box::new((*request).clone())).into()),
            },
            (None, Some(kept)) => session.keep_answer(kept).await?,
            (None, None) => return Ok(End::Rollback(Reply::first(answer))),
        }
        Ok(End::Commit(Reply::first(answer)))
    }

    /// Begins a draft.
    ///
    /// # Errors
    /// [`ApprovalError`]; nothing was changed.
    pub async fn create(&self, call: &Call, content: &Content, render: &impl Render) -> Result<Reply, ApprovalError> {
        let _place = self.admission.enter(call.viewer.organization_id, None).await?;
        retrying(|| async {
            let mut session = self.store.open().await?;
            let work = Self::create_in(&mut session, call, content, render).await;
            settle(session, work).await
        })
        .await
    }

    async fn create_in(
        session: &mut S::Session,
        call: &Call,
        content: &Content,
        render: &impl Render,
    ) -> Result<End<Reply>, ApprovalError> {
        let (member, answered) = begin(session, call).await?;
        if let Some(answer) = answered {
            return Ok(End::Rollback(Reply::replay(answer)));
        }
        let change = request::create(&member, RequestId::new(), content.clone(), member.at())?;
        let view = RequestView::new(change.after.clone(), member.display_name.clone(), &member, None);
        let answer = render(&view);
        session.insert(&member, &change, Kept::of(call.key.as_ref(), &answer)).await?;
        Ok(End::Commit(Reply::first(answer)))
    }

    /// One request, with what this viewer could do to it.
    ///
    /// # Errors
    /// [`ApprovalError`].
    pub async fn get(&self, viewer: Viewer, id: RequestId) -> Result<RequestView, ApprovalError> {
        match self.reads.request(viewer, id).await? {
            Some(view) => Ok(view),
            None => Err(self.nothing_for(viewer).await),
        }
    }

    /// A page of requests.
    ///
    /// # Errors
    /// [`ApprovalError`].
    pub async fn list(
        &self,
        viewer: Viewer,
        query: &ListQuery,
        after: Option<Place>,
        limit: u16,
    ) -> Result<Page<RequestView, Place>, ApprovalError> {
        let page = self.reads.list(viewer, query, after, limit).await?;
        if page.items.is_empty() && !self.reads.is_active_member(viewer).await? {
            return Err(ApprovalError::NotAMember);
        }
        Ok(page)
    }

    /// How many requests there are, per view and status.
    ///
    /// # Errors
    /// [`ApprovalError`].
    pub async fn counts(&self, viewer: Viewer) -> Result<Counts, ApprovalError> {
        let counts = self.reads.counts(viewer).await?;
        if counts.all.iter().all(|(_, n)| *n == 0) && !self.reads.is_active_member(viewer).await? {
            return Err(ApprovalError::NotAMember);
        }
        Ok(counts)
    }

    /// A page of a request's history.
    ///
    /// # Errors
    /// [`ApprovalError`].
    pub async fn history(
        &self,
        viewer: Viewer,
        id: RequestId,
        after: Version,
        limit: u16,
    ) -> Result<HistoryPage, ApprovalError> {
        let page = self.reads.history(viewer, id, after, limit).await?;
        if page.items.is_empty() {
            // Past the end of a request that is to be seen, or nothing to be seen at all.
            self.get(viewer, id).await?;
        }
        Ok(page)
    }

    /// The content as it stood at a version.
    ///
    /// # Errors
    /// [`ApprovalError`].
    pub async fn version(&self, viewer: Viewer, id: RequestId, version: Version) -> Result<VersionView, ApprovalError> {
        match self.reads.version(viewer, id, version).await? {
            Some(view) => Ok(view),
            None => Err(self.nothing_for(viewer).await),
        }
    }

    /// Which actions are possible for the viewer (or, when an administrator asks, for any member), and what stands in
    /// the way of each that is not.
    ///
    /// # Errors
    /// [`ApprovalError`]: the request is not to be seen, somebody else than an administrator asks about another, or
    /// that other is no member.
    pub async fn eligibility(
        &self,
        viewer: Viewer,
        id: RequestId,
        of: Option<UserId>,
    ) -> Result<Eligibility, ApprovalError> {
        let request = self.get(viewer, id).await?.request;
        let own = self.reads.standing(viewer, id).await?.ok_or(ApprovalError::NotAMember)?;
        let standing = match of.filter(|of| *of != viewer.user_id) {
            None => own,
            Some(_) if !own.member.is_admin => return Err(Refusal::Forbidden.into()),
            Some(user_id) => {
                let found = self.reads.standing(Viewer { user_id, ..viewer }, id).await?;
                found.ok_or(Refusal::NotFound)?
            }
        };
        let Standing { member, has_acted } = standing;
        let obstacle = |action: Action| -> Option<ApprovalError> {
            if !member.is_active {
                return Some(ApprovalError::NotAMember);
            }
            if !member.may_see(&request, has_acted) {
                return Some(Refusal::NotFound.into());
            }
            request::possible(&member, &request, action).err().map(ApprovalError::from)
        };
        // A request that exists is not created again.
        let actions = Action::ALL.iter().copied().filter(|action| *action != Action::Create);
        let obstacles = actions.map(|action| (action, obstacle(action))).collect();
        Ok(Eligibility { user_id: member.user_id, request, obstacles })
    }

    async fn nothing_for(&self, viewer: Viewer) -> ApprovalError {
        match self.reads.is_active_member(viewer).await {
            Ok(true) => Refusal::NotFound.into(),
            Ok(false) => ApprovalError::NotAMember,
            Err(error) => error.into(),
        }
    }
}

/// Takes the membership, the key and the request, in this order; or breaks off with the answer of the first time.
/// Without a key there is nothing between the first and the last, and one trip takes both.
async fn lock(
    session: &mut impl ApprovalSession,
    call: &Call,
    id: RequestId,
) -> Result<ControlFlow<Answer, (Locked<Member>, Found)>, ApprovalError> {
    let Viewer { organization_id, user_id } = call.viewer;
    if call.key.is_none()
        && let Some(both) = session.lock_both(organization_id, user_id, id).await?
    {
        return Ok(ControlFlow::Continue(both));
    }
    let (member, answered) = begin(session, call).await?;
    if let Some(answer) = answered {
        return Ok(ControlFlow::Break(answer));
    }
    let found = session.lock_request(&member, id).await?.ok_or(Refusal::NotFound)?;
    Ok(ControlFlow::Continue((member, found)))
}

/// The first two locks of every write: membership, then the key. Nothing more is read for who is no member. The
/// second value is the answer of the first time, when this call was answered before.
async fn begin(
    session: &mut impl ApprovalSession,
    call: &Call,
) -> Result<(Locked<Member>, Option<Answer>), ApprovalError> {
    let member = session.lock_member(call.viewer.organization_id, call.viewer.user_id).await?;
    let member = member.filter(|member| member.is_active).ok_or(ApprovalError::NotAMember)?;
    let answered = claim_key(session, call.key.as_ref()).await?;
    Ok((member, answered))
}
