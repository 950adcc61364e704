//! How people come: by an invitation that works once.

use super::MemberError;
use super::service::{Members, Render, member_entry, rights, with_entry};
use super::store::{Administration, InvitationRow, MemberPlace, MemberReads, MemberSession, MemberStore};
use crate::domain::ids::UserId;
use crate::domain::invitation::{
    Invitation, InvitationInput, InvitationState, InvitationToken, decide_acceptance, decide_invitation,
    decide_revocation,
};
use crate::domain::member::{Member, MemberRefusal};
use crate::transaction::idempotency::{Answer, Kept, KeyedCall, Reply};
use crate::transaction::{Call, End, Guarded, Locked, StoreError, Viewer, claim_key, retrying, settle};
use serde_json::json;
use uuid::Uuid;

/// Writes the answer for an invitation and what became of it. The token is there only for the one who invites, and
/// only the first time.
pub trait RenderInvitation: Fn(&Invitation, InvitationState, Option<&InvitationToken>) -> Answer + Send + Sync {}
impl<F: Fn(&Invitation, InvitationState, Option<&InvitationToken>) -> Answer + Send + Sync> RenderInvitation for F {}

impl<S: MemberStore, R: MemberReads> Members<S, R> {
    /// Offers a membership. For administrators.
    ///
    /// The token is in the first answer and nowhere else: what is kept under an idempotency key is the answer
    /// without it.
    ///
    /// # Errors
    /// [`MemberError`]; nothing was changed.
    pub async fn invite(
        &self,
        call: &Call,
        input: &InvitationInput,
        render: &impl RenderInvitation,
    ) -> Result<Reply, MemberError> {
        let _place = self.admission.enter(call.viewer.organization_id, None).await?;
        retrying(|| async {
            let mut session = self.store.open().await?;
            let work = Self::invite_in(&mut session, call, input, render).await;
            settle(session, work).await
        })
        .await
    }

    async fn invite_in(
        session: &mut S::Session,
        call: &Call,
        input: &InvitationInput,
        render: &impl RenderInvitation,
    ) -> Result<End<Reply>, MemberError> {
        let (actor, answered) = begin(session, call).await?;
        if let Some(answer) = answered {
            return Ok(End::Rollback(Reply::replay(answer)));
        }
        let token = InvitationToken::new(call.viewer.organization_id);
        let invitation = decide_invitation(&actor, token.id, input, actor.at())?;
        session.insert_invitation(&invitation, token.hash()).await?;
        let kept = render(&invitation, InvitationState::Open, None);
        Self::record(session, &actor, "invite", &invitation, Kept::of(call.key.as_ref(), &kept)).await?;
        Ok(End::Commit(Reply::first(render(&invitation, InvitationState::Open, Some(&token)))))
    }

    /// Takes an open invitation back. For administrators.
    ///
    /// # Errors
    /// [`MemberError`]; nothing was changed.
    pub async fn revoke_invitation(
        &self,
        call: &Call,
        id: Uuid,
        render: &impl RenderInvitation,
    ) -> Result<Reply, MemberError> {
        let _place = self.admission.enter(call.viewer.organization_id, None).await?;
        retrying(|| async {
            let mut session = self.store.open().await?;
            let work = Self::revoke_in(&mut session, call, id, render).await;
            settle(session, work).await
        })
        .await
    }

    async fn revoke_in(
        session: &mut S::Session,
        call: &Call,
        id: Uuid,
        render: &impl RenderInvitation,
    ) -> Result<End<Reply>, MemberError> {
        let (actor, answered) = begin(session, call).await?;
        if let Some(answer) = answered {
            return Ok(End::Rollback(Reply::replay(answer)));
        }
        let found = session.lock_invitation(call.viewer.organization_id, id).await?;
        let now = found.as_ref().map_or_else(|| actor.at(), Locked::at);
        let revoked = decide_revocation(&actor, found.as_ref().map(|found| &found.invitation), now)?;
        must_apply(session.close_invitation(&revoked).await?)?;
        let answer = render(&revoked, InvitationState::Revoked, None);
        Self::record(session, &actor, "revoke_invitation", &revoked, Kept::of(call.key.as_ref(), &answer)).await?;
        Ok(End::Commit(Reply::first(answer)))
    }

    /// Makes the caller a member, by an open invitation that he shows the token of.
    ///
    /// # Errors
    /// [`MemberError`]; nothing was changed, and the invitation stays as it was.
    pub async fn accept_invitation(
        &self,
        user: UserId,
        key: Option<KeyedCall>,
        token: &InvitationToken,
        render: &impl Render,
    ) -> Result<Reply, MemberError> {
        let viewer = Viewer { organization_id: token.organization_id, user_id: user };
        let call = Call { viewer, key };
        let _place = self.admission.enter(viewer.organization_id, None).await?;
        retrying(|| async {
            let mut session = self.store.open().await?;
            let work = Self::accept_in(&mut session, &call, token, render).await;
            settle(session, work).await
        })
        .await
    }

    async fn accept_in(
        session: &mut S::Session,
        call: &Call,
        token: &InvitationToken,
        render: &impl Render,
    ) -> Result<End<Reply>, MemberError> {
        let Viewer { organization_id, user_id } = call.viewer;
        let Administration { target: existing, .. } = session.lock_administration(call.viewer, user_id).await?;
        // A key belongs to a member. Who is none yet can't have used one here; his is taken once he is.
        if existing.as_ref().is_some_and(|existing| existing.is_active)
            && let Some(answer) = claim_key(session, call.key.as_ref()).await?
        {
            return Ok(End::Rollback(Reply::replay(answer)));
        }
        let found = session.lock_invitation(organization_id, token.id).await?;
        // Who shows a wrong secret is told the same as where there is no invitation.
        let found = found.filter(|found| found.secret_hash == token.hash());
        let found = found.ok_or(MemberRefusal::NotFound)?;
        let existing = existing.as_deref();
        // We hold the organization's row, so nobody's rights change meanwhile.
        let offerer = Viewer { organization_id, user_id: found.invitation.invited_by };
        let stands = session.is_administrator(offerer).await?;
        let (accepted, member) = decide_acceptance(user_id, existing, &found.invitation, stands, found.at())?;

        let head = session.lock_chain(organization_id, &user_id.to_string()).await?;
        let detail = json!({ "before": null, "after": rights(&member), "invitation_id": accepted.id });
        let change = with_entry(Some(&member), "add", detail, member.clone(), head);
        session.insert_member(&change, None).await?;
        must_apply(session.close_invitation(&accepted).await?)?;
        if claim_key(session, call.key.as_ref()).await?.is_some() {
            return Err(StoreError::Internal("a key was used by somebody who was no member".into()).into());
        }
        let answer = render(&change.after);
        let kept = Kept::of(call.key.as_ref(), &answer);
        Self::record(session, &change.after, "accept_invitation", &accepted, kept).await?;
        Ok(End::Commit(Reply::first(answer)))
    }

    /// A row in the invitation's own history.
    async fn record(
        session: &mut S::Session,
        actor: &Member,
        action: &'static str,
        invitation: &Invitation,
        kept: Option<Kept<'_>>,
    ) -> Result<(), MemberError> {
        let subject = invitation.id.to_string();
        let head = session.lock_chain(invitation.organization_id, &subject).await?;
        let detail = json!({
            "can_approve": invitation.can_approve,
            "is_admin": invitation.is_admin,
            "expires_at": crate::domain::rfc3339(invitation.expires_at),
        });
        let entry = member_entry(Some(actor), action, &subject, detail, invitation.organization_id, head);
        session.append_entry(&entry, entry.hash(head.hash), kept).await?;
        Ok(())
    }

    /// Invitations after a place, newest first, each with what became of it. For administrators.
    ///
    /// # Errors
    /// [`MemberError`].
    pub async fn invitations(
        &self,
        viewer: Viewer,
        after: Option<MemberPlace>,
        limit: i64,
    ) -> Result<Vec<InvitationRow>, MemberError> {
        let found = self.reads.invitations(viewer, None, after, limit).await?;
        if found.is_empty() {
            self.check_administrator(viewer).await?;
        }
        Ok(found)
    }

    /// One invitation. For administrators.
    ///
    /// # Errors
    /// [`MemberError`].
    pub async fn invitation(&self, viewer: Viewer, id: Uuid) -> Result<InvitationRow, MemberError> {
        if let Some(found) = self.reads.invitations(viewer, Some(id), None, 1).await?.pop() {
            return Ok(found);
        }
        self.check_administrator(viewer).await?;
        Err(MemberRefusal::NotFound.into())
    }
}

/// The first two locks: who asks, and the key. The second value is the answer of the first time, when this call was
/// answered before.
async fn begin(session: &mut impl MemberSession, call: &Call) -> Result<(Locked<Member>, Option<Answer>), MemberError> {
    let actor = session.share_actor(call.viewer).await?.filter(|actor| actor.is_active);
    let actor = actor.ok_or(MemberError::NotAMember)?;
    let answered = claim_key(session, call.key.as_ref()).await?;
    Ok((actor, answered))
}

/// The guard of a row that is locked and open: it cannot fail, and if it does, nothing is saved.
fn must_apply(written: Guarded) -> Result<(), StoreError> {
    match written {
        Guarded::Applied => Ok(()),
        Guarded::Stale => Err(StoreError::Internal("a locked open invitation was not open".into())),
    }
}
