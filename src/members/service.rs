//! Member administration: who may do what, and that somebody always may.

use super::MemberError;
use super::store::{
    Administration, ChainHead, MemberChange, MemberPlace, MemberReads, MemberSession, MemberStore, Membership,
};
use crate::domain::event::Event;
use crate::domain::history::{Kind, SubjectEntry};
use crate::domain::ids::{OrganizationId, UserId, Version};
use crate::domain::member::{
    Member, MemberInput, MemberRefusal, decide_member_change, decide_new_member, decide_pseudonym,
};
use crate::transaction::admission::Admission;
use crate::transaction::idempotency::{Answer, Kept, Reply};
use crate::transaction::{Call, End, Guarded, Locked, Session, StoreError, Viewer, claim_key, retrying, settle};
use serde_json::{Value, json};

/// The use cases, on a store for writes and one for reads.
#[derive(Clone, Debug)]
pub struct Members<S, R> {
    pub(super) store: S,
    pub(super) reads: R,
    pub(super) admission: Admission,
}

/// Writes the answer for a member, so that it can be kept under the key before the commit.
pub trait Render: Fn(&Member) -> Answer + Send + Sync {}
impl<F: Fn(&Member) -> Answer + Send + Sync> Render for F {}

impl<S: MemberStore, R: MemberReads> Members<S, R> {
    /// The use cases, with `admission` in front of the store's connections.
    #[must_use]
    pub const fn new(store: S, reads: R, admission: Admission) -> Self {
        Self { store, reads, admission }
    }

    /// Adds somebody to the organization. For administrators.
    ///
    /// # Errors
    /// [`MemberError`]; nothing was changed.
    pub async fn add(
        &self,
        call: &Call,
        target: UserId,
        input: &MemberInput,
        render: &impl Render,
    ) -> Result<Reply, MemberError> {
        self.administer(call, target, Wish::Add(input), render).await
    }

    /// Changes a member's name or rights, or deactivates him. For administrators; the last one stays one.
    ///
    /// # Errors
    /// [`MemberError`]; nothing was changed.
    pub async fn change(
        &self,
        call: &Call,
        target: UserId,
        seen: Version,
        input: &MemberInput,
        render: &impl Render,
    ) -> Result<Reply, MemberError> {
        self.administer(call, target, Wish::Change(seen, input), render).await
    }

    /// Replaces a member's name by a pseudonym and ends the membership, for somebody who asks to be forgotten. Rows
    /// of history that were written already stay as they are. For administrators.
    ///
    /// # Errors
    /// [`MemberError`]; nothing was changed.
    pub async fn pseudonymize(
        &self,
        call: &Call,
        target: UserId,
        seen: Version,
        render: &impl Render,
    ) -> Result<Reply, MemberError> {
        self.administer(call, target, Wish::Pseudonymize(seen), render).await
    }

    async fn administer(
        &self,
        call: &Call,
        target: UserId,
        wish: Wish<'_>,
        render: &impl Render,
    ) -> Result<Reply, MemberError> {
        let _place = self.admission.enter(call.viewer.organization_id, None).await?;
        retrying(|| async {
            let mut session = self.store.open().await?;
            let work = Self::administer_in(&mut session, call, target, wish, render).await;
            settle(session, work).await
        })
        .await
    }

    async fn administer_in(
        session: &mut S::Session,
        call: &Call,
        target_id: UserId,
        wish: Wish<'_>,
        render: &impl Render,
    ) -> Result<End<Reply>, MemberError> {
        let Administration { actor, target, other_admins } =
            session.lock_administration(call.viewer, target_id).await?;
        let actor = actor.filter(|actor| actor.is_active).ok_or(MemberError::NotAMember)?;
        if let Some(answer) = claim_key(session, call.key.as_ref()).await? {
            return Ok(End::Rollback(Reply::replay(answer)));
        }
        let target = target.as_ref();
        let standing = target.map(|target| &**target);
        let decided = match wish {
            Wish::Add(input) => Some(decide_new_member(&actor, target_id, standing, input, actor.at())?),
            Wish::Change(seen, input) => decide_member_change(&actor, standing, seen, input, other_admins)?,
            Wish::Pseudonymize(seen) => decide_pseudonym(&actor, target_id, standing, seen, other_admins)?,
        };
        let Some(after) = decided else {
            // Only a change of an existing member can be one that changes nothing.
            let answer = render(target.ok_or(MemberRefusal::NotFound)?);
            let Some(kept) = Kept::of(call.key.as_ref(), &answer) else {
                return Ok(End::Rollback(Reply::first(answer)));
            };
            session.keep_answer(kept).await?;
            return Ok(End::Commit(Reply::first(answer)));
        };
        let head = session.lock_chain(call.viewer.organization_id, &target_id.to_string()).await?;
        let change = match wish {
            // Its row must not say the name once more that it takes away.
            Wish::Pseudonymize(_) => {
                let detail = json!({ "version": after.version });
                // Who does it to himself is named by the pseudonym already.
                let own = after.user_id == actor.user_id;
                let named = if own { after.clone() } else { (*actor).clone() };
                with_entry(Some(&named), "pseudonymize", detail, after, head)
            }
            Wish::Add(_) | Wish::Change(..) => member_change(Some(&actor), standing, after, head),
        };
        let answer = render(&change.after);
        let kept = Kept::of(call.key.as_ref(), &answer);
        match target {
            None => session.insert_member(&change, kept).await?,
            Some(before) => stale_is_refused(before, session.update_member(before, &change, kept).await?)?,
        }
        if matches!(wish, Wish::Pseudonymize(_)) {
            session.forget_mail(call.viewer.organization_id, target_id).await?;
        }
        Ok(End::Commit(Reply::first(answer)))
    }

    /// Everything that a person is a member of.
    ///
    /// # Errors
    /// [`StoreError`].
    pub async fn memberships(&self, user: UserId) -> Result<Vec<Membership>, StoreError> {
        self.reads.memberships(user).await
    }

    /// One member, for administrators.
    ///
    /// # Errors
    /// [`MemberError`].
    pub async fn get(&self, viewer: Viewer, user: UserId) -> Result<Member, MemberError> {
        if let Some(member) = self.reads.member(viewer, user).await? {
            return Ok(member);
        }
        self.check_administrator(viewer).await?;
        Err(MemberRefusal::NotFound.into())
    }

    /// Members after a place, for administrators.
    ///
    /// # Errors
    /// [`MemberError`].
    pub async fn list(
        &self,
        viewer: Viewer,
        after: Option<MemberPlace>,
        limit: i64,
    ) -> Result<Vec<Member>, MemberError> {
        let members = self.reads.members(viewer, after, limit).await?;
        if members.is_empty() {
            self.check_administrator(viewer).await?;
        }
        Ok(members)
    }

    pub(super) async fn check_administrator(&self, viewer: Viewer) -> Result<(), MemberError> {
        match self.reads.membership(viewer).await? {
            Some(member) if member.is_active && member.is_admin => Ok(()),
            Some(member) if member.is_active => Err(MemberRefusal::Forbidden.into()),
            _ => Err(MemberError::NotAMember),
        }
    }
}

#[derive(Clone, Copy)]
enum Wish<'a> {
    Add(&'a MemberInput),
    Change(Version, &'a MemberInput),
    Pseudonymize(Version),
}

fn stale_is_refused(before: &Locked<Member>, written: Guarded) -> Result<(), MemberRefusal> {
    match written {
        Guarded::Applied => Ok(()),
        Guarded::Stale => Err(MemberRefusal::Changed(Box::new((**before).clone()))),
    }
}

/// What the history says of a member's rights.
pub(super) fn rights(member: &Member) -> Value {
    json!({
        "display_name": member.display_name,
        "is_active": member.is_active,
        "can_approve": member.can_approve,
        "is_admin": member.is_admin,
        "version": member.version,
    })
}

/// A row of a member's or an invitation's history. `actor` is `None` for the command line.
pub(super) fn member_entry(
    actor: Option<&Member>,
    action: &'static str,
    subject_id: &str,
    detail: Value,
    organization_id: OrganizationId,
    head: ChainHead,
) -> SubjectEntry {
    SubjectEntry {
        organization_id,
        kind: Kind::Member,
        subject_id: subject_id.to_owned(),
        seq: head.seq + 1,
        actor_id: actor.map(|actor| actor.user_id),
        actor_name: actor.map_or_else(|| "command line".to_owned(), |actor| actor.display_name.clone()),
        action,
        reason: None,
        detail,
        occurred_at: head.at,
    }
}

/// A member's change with its history row and event. `actor` is `None` for the command line.
#[must_use]
pub fn member_change(actor: Option<&Member>, before: Option<&Member>, after: Member, head: ChainHead) -> MemberChange {
    let action = if before.is_none() { "add" } else { "change" };
    let detail = json!({ "before": before.map(rights), "after": rights(&after) });
    with_entry(actor, action, detail, after, head)
}

/// A member's change with its history row, which says `detail`, and its event.
pub(super) fn with_entry(
    actor: Option<&Member>,
    action: &'static str,
    detail: Value,
    after: Member,
    head: ChainHead,
) -> MemberChange {
    let entry = member_entry(actor, action, &after.user_id.to_string(), detail, after.organization_id, head);
    let entry_hash = entry.hash(head.hash);
    let event = Event::of_member(&entry);
    MemberChange { after, entry, entry_hash, event }
}
