//! What administrators do about endpoints.

use super::WebhookError;
use super::address::{Closed, Guard, SystemNames};
use super::secret::{Keys, SigningSecret};
use super::store::{EndpointEntry, EndpointPlace, LoggedDelivery, WebhookReads, WebhookSession, WebhookStore};
use crate::domain::ids::{EndpointId, Version};
use crate::domain::member::Member;
use crate::domain::text::Violation;
use crate::domain::webhook::{
    self, Endpoint, EndpointInput, OVERLAP_HOURS_MAX, Stream, WebhookRefusal, Wish, decide, decide_new,
};
use crate::transaction::admission::Admission;
use crate::transaction::idempotency::{Answer, Kept, Reply};
use crate::transaction::{Call, End, Guarded, Locked, Session as _, StoreError, Viewer, claim_key, retrying, settle};
use std::sync::Arc;

/// The use cases, on a store for writes and one for reads.
#[derive(Clone, Debug)]
pub struct Webhooks<S, R> {
    store: S,
    reads: R,
    admission: Admission,
    guard: Guard,
    /// `None`: there is no key to seal secrets with, so nobody is told of anything.
    keys: Option<Keys>,
}

/// Writes the answer for an endpoint. The secret is there only in the first answer to the one who made it.
pub trait Render: Fn(&Endpoint, Stream, Option<&SigningSecret>) -> Answer + Send + Sync {}
impl<F: Fn(&Endpoint, Stream, Option<&SigningSecret>) -> Answer + Send + Sync> Render for F {}

/// What a person wants of an endpoint that is there.
#[derive(Clone, Debug)]
pub enum Change {
    /// Another address or other events.
    Content(EndpointInput),
    /// Go on, or try again now.
    Enable,
    /// Send nothing any more.
    Disable,
    /// Send again, or skip: from this position on.
    Replay(i64),
    /// A new secret; the present one signs, too, for so many hours.
    RotateSecret(i64),
}

impl<S: WebhookStore, R: WebhookReads> Webhooks<S, R> {
    /// The use cases, with `admission` in front of the store's connections. Without keys, nobody can be told of anything.
    #[must_use]
    pub fn new(store: S, reads: R, admission: Admission) -> Self {
        Self { store, reads, admission, guard: Guard::new(Arc::new(SystemNames), Vec::new()), keys: None }
    }

    /// The same, looking at addresses by `guard` and sealing secrets with `keys`.
    #[must_use]
    pub fn configured(self, guard: Guard, keys: Option<Keys>) -> Self {
        Self { guard, keys, ..self }
    }

    /// Makes an endpoint. For administrators.
    ///
    /// The secret is in the first answer and nowhere else: what is kept under an idempotency key is the answer without
    /// it.
    ///
    /// # Errors
    /// [`WebhookError`]; nothing was changed.
    pub async fn add(&self, call: &Call, input: &EndpointInput, render: &impl Render) -> Result<Reply, WebhookError> {
        let (input, found) = self.look_at(call.viewer, input).await?;
        let _place = self.admission.enter(call.viewer.organization_id, None).await?;
        retrying(|| async {
            let mut session = self.store.open().await?;
            let work = self.add_in(&mut session, call, &input, &found, render).await;
            settle(session, work).await
        })
        .await
    }

    async fn add_in(
        &self,
        session: &mut S::Session,
        call: &Call,
        input: &EndpointInput,
        found: &[Violation],
        render: &impl Render,
    ) -> Result<End<Reply>, WebhookError> {
        let organization = call.viewer.organization_id;
        session.lock_organization(organization).await?;
        let actor = active(session.share_actor(call.viewer).await?)?;
        if let Some(answer) = claim_key(session, call.key.as_ref()).await? {
            return Ok(End::Rollback(Reply::replay(answer)));
        }
        let (existing, stream) = session.count_endpoints(organization).await?;
        let id = EndpointId::new();
        let (secret, sealed) = self.new_secret(&actor, id)?;
        let made = decide_new(&actor, id, existing, input, found, sealed, (stream, actor.at()))?;
        session.insert_endpoint(&made).await?;
        let kept = render(&made, stream, None);
        let kept = Kept::of(call.key.as_ref(), &kept);
        record(session, Some(&actor), "add", None, Some(&made), kept).await?;
        Ok(End::Commit(Reply::first(render(&made, stream, Some(&secret)))))
    }

    /// Changes an endpoint that its author saw in this version. For administrators.
    ///
    /// # Errors
    /// [`WebhookError`]; nothing was changed.
    pub async fn change(
        &self,
        call: &Call,
        id: EndpointId,
        seen: Version,
        change: &Change,
        render: &impl Render,
    ) -> Result<Reply, WebhookError> {
        let (input, found) = match change {
            Change::Content(input) => {
                let (input, found) = self.look_at(call.viewer, input).await?;
                (Some(input), found)
            }
            _ => (None, Vec::new()),
        };
        let _place = self.admission.enter(call.viewer.organization_id, None).await?;
        retrying(|| async {
            let mut session = self.store.open().await?;
            let wanted = (change, input.as_ref(), &found[..]);
            let work = self.change_in(&mut session, call, (id, seen), wanted, render).await;
            settle(session, work).await
        })
        .await
    }

    async fn change_in(
        &self,
        session: &mut S::Session,
        call: &Call,
        (id, seen): (EndpointId, Version),
        (change, input, found): (&Change, Option<&EndpointInput>, &[Violation]),
        render: &impl Render,
    ) -> Result<End<Reply>, WebhookError> {
        let organization = call.viewer.organization_id;
        let actor = active(session.share_actor(call.viewer).await?)?;
        if let Some(answer) = claim_key(session, call.key.as_ref()).await? {
            return Ok(End::Rollback(Reply::replay(answer)));
        }
        let (before, stream) = session.lock_endpoint(organization, id).await?;
        webhook::seen(&actor, before.as_deref(), seen, stream)?;
        let before = before.ok_or(WebhookRefusal::NotFound)?;
        let mut secret = None;
        let wish = match (change, input) {
            (Change::Content(input), looked_at) => Wish::Change(looked_at.unwrap_or(input)),
            (Change::Enable, _) => Wish::Enable,
            (Change::Disable, _) => Wish::Disable,
            (Change::Replay(from), _) => Wish::Replay(*from),
            (Change::RotateSecret(hours), _) => {
                if !(0..=OVERLAP_HOURS_MAX).contains(hours) {
                    let detail = format!("must be from 0 to {OVERLAP_HOURS_MAX} hours");
                    return Err(WebhookRefusal::Invalid(vec![Violation::new("overlap_hours", "range", detail)]).into());
                }
                let (new, sealed) = self.new_secret(&actor, id)?;
                secret = Some(new);
                Wish::Rotate(*hours, sealed)
            }
        };
        // Nothing could be sent, and who wants something sent is told so.
        if self.keys.is_none() && !matches!(change, Change::Disable) {
            return Err(WebhookRefusal::NotConfigured.into());
        }
        let action = wish.action();
        let Some(after) = decide(&before, wish, found, stream, before.at())? else {
            let answer = render(&before, stream, None);
            let Some(kept) = Kept::of(call.key.as_ref(), &answer) else {
                return Ok(End::Rollback(Reply::first(answer)));
            };
            session.keep_answer(kept).await?;
            return Ok(End::Commit(Reply::first(answer)));
        };
        if session.update_endpoint(&before, &after).await? == Guarded::Stale {
            return Err(WebhookRefusal::Changed(Box::new(((*before).clone(), stream))).into());
        }
        let kept = render(&after, stream, None);
        let kept = Kept::of(call.key.as_ref(), &kept);
        record(session, Some(&actor), action, Some(&before), Some(&after), kept).await?;
        Ok(End::Commit(Reply::first(render(&after, stream, secret.as_ref()))))
    }

    /// Deletes an endpoint with its secrets and its log; its history stays. For administrators.
    ///
    /// # Errors
    /// [`WebhookError`]; nothing was changed.
    pub async fn delete(&self, viewer: Viewer, id: EndpointId, seen: Version) -> Result<(), WebhookError> {
        let _place = self.admission.enter(viewer.organization_id, None).await?;
        retrying(|| async {
            let mut session = self.store.open().await?;
            let work = Self::delete_in(&mut session, viewer, id, seen).await;
            settle(session, work).await
        })
        .await
    }

    async fn delete_in(
        session: &mut S::Session,
        viewer: Viewer,
        id: EndpointId,
        seen: Version,
    ) -> Result<End<()>, WebhookError> {
        let actor = active(session.share_actor(viewer).await?)?;
        let (endpoint, stream) = session.lock_endpoint(viewer.organization_id, id).await?;
        webhook::seen(&actor, endpoint.as_deref(), seen, stream)?;
        let endpoint = endpoint.ok_or(WebhookRefusal::NotFound)?;
        session.delete_endpoint(&endpoint).await?;
        record(session, Some(&actor), "delete", Some(&endpoint), None, None).await?;
        Ok(End::Commit(()))
    }

    /// Endpoints after a place, oldest first. For administrators.
    ///
    /// # Errors
    /// [`WebhookError`].
    pub async fn list(
        &self,
        viewer: Viewer,
        after: Option<EndpointPlace>,
        limit: i64,
    ) -> Result<Vec<(Endpoint, Stream)>, WebhookError> {
        let found = self.reads.endpoints(viewer, None, after, limit).await?;
        if found.is_empty() {
            self.check_administrator(viewer).await?;
        }
        Ok(found)
    }

    /// One endpoint. For administrators.
    ///
    /// # Errors
    /// [`WebhookError`].
    pub async fn get(&self, viewer: Viewer, id: EndpointId) -> Result<(Endpoint, Stream), WebhookError> {
        if let Some(found) = self.reads.endpoints(viewer, Some(id), None, 1).await?.pop() {
            return Ok(found);
        }
        self.check_administrator(viewer).await?;
        Err(WebhookRefusal::NotFound.into())
    }

    /// An endpoint's attempts before a number, newest first. For administrators.
    ///
    /// # Errors
    /// [`WebhookError`].
    pub async fn deliveries(
        &self,
        viewer: Viewer,
        id: EndpointId,
        before: Option<i64>,
        limit: i64,
    ) -> Result<Vec<LoggedDelivery>, WebhookError> {
        let found = self.reads.deliveries(viewer, id, before, limit).await?;
        if found.is_empty() {
            self.get(viewer, id).await?;
        }
        Ok(found)
    }

    async fn check_administrator(&self, viewer: Viewer) -> Result<(), WebhookError> {
        match self.reads.administrator(viewer).await? {
            Some(member) if member.is_active && member.is_admin => Ok(()),
            Some(member) if member.is_active => Err(WebhookRefusal::Forbidden.into()),
            _ => Err(WebhookError::NotAMember),
        }
    }

    /// Reads an address and looks where it leads: before the transaction, since a name may take seconds, and only for
    /// an administrator, since others have no business in making this program look names up. What is wrong is told when
    /// everything that comes before it has been judged.
    async fn look_at(
        &self,
        viewer: Viewer,
        input: &EndpointInput,
    ) -> Result<(EndpointInput, Vec<Violation>), WebhookError> {
        self.check_administrator(viewer).await?;
        let url = match Guard::read(&input.url) {
            Ok(url) => url,
            Err(violation) => return Ok((input.clone(), vec![violation])),
        };
        let found = self.guard.check(&url).await.err().map(Closed::violation);
        Ok((EndpointInput { url: url.into(), ..input.clone() }, found.into_iter().collect()))
    }

    fn new_secret(&self, actor: &Member, id: EndpointId) -> Result<(SigningSecret, Vec<u8>), WebhookError> {
        // The right comes first: what is not configured is none of anybody else's business.
        if !actor.is_admin {
            return Err(WebhookRefusal::Forbidden.into());
        }
        let keys = self.keys.as_ref().ok_or(WebhookRefusal::NotConfigured)?;
        let random = |error| WebhookError::Store(StoreError::Internal(Box::new(error)));
        let secret = SigningSecret::new().map_err(random)?;
        let sealed = keys.seal((actor.organization_id, id), &secret).map_err(random)?;
        Ok((secret, sealed))
    }
}

fn active(actor: Option<Locked<Member>>) -> Result<Locked<Member>, WebhookError> {
    actor.filter(|actor| actor.is_active).ok_or(WebhookError::NotAMember)
}

/// The row of history, its event, and the kept answer.
pub(super) async fn record(
    session: &mut impl WebhookSession,
    actor: Option<&Member>,
    action: &'static str,
    before: Option<&Endpoint>,
    after: Option<&Endpoint>,
    kept: Option<Kept<'_>>,
) -> Result<(), StoreError> {
    let Some(endpoint) = after.or(before) else { return Ok(()) };
    let head = session.lock_endpoint_chain(endpoint.organization_id, endpoint.id).await?;
    match EndpointEntry::of(actor, action, before, after, head) {
        Some(entry) => session.append_endpoint(&entry, kept).await,
        None => Ok(()),
    }
}
