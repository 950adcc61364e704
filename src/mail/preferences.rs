//! What people do about their own mail.

use super::store::{MailReads, MailSession, MailStore};
use crate::domain::mail::{self, Language, MailRefusal, MailWish, Purpose, SentLink, Subscription};
use crate::domain::member::Member;
use crate::transaction::admission::Admission;
use crate::transaction::idempotency::{Answer, Kept, Reply};
use crate::transaction::{
    Call, End, Locked, Session as _, StoreError, UseCaseError, Viewer, claim_key, retrying, settle,
};

/// Why a use case on mail did not do what it was asked.
pub type MailError = UseCaseError<MailRefusal>;

/// Writes the answer for how it stands, so that it can be kept under the key before the commit.
pub trait Render: Fn(&Subscription) -> Answer + Send + Sync {}
impl<F: Fn(&Subscription) -> Answer + Send + Sync> Render for F {}

/// The use cases.
#[derive(Clone, Debug)]
pub struct MailPreferences<S, R> {
    store: S,
    reads: R,
    admission: Admission,
    /// `None` where this installation sends no mail.
    confirmations_per_hour: Option<u32>,
}

/// What a person asks for.
enum Ask<'a> {
    /// All of this.
    Wish(&'a MailWish),
    /// The mail that asks to confirm, once more.
    Again,
}

/// What a link would do, or did.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Followed {
    /// What.
    pub purpose: Purpose,
    /// What its person reads.
    pub language: Language,
}

impl<S: MailStore, R: MailReads> MailPreferences<S, R> {
    /// The use cases, with `admission` in front of the store's connections. Each person may ask for so many
    /// confirmations an hour; `None` where this installation sends no mail.
    #[must_use]
    pub const fn new(store: S, reads: R, admission: Admission, confirmations_per_hour: Option<u32>) -> Self {
        Self { store, reads, admission, confirmations_per_hour }
    }

    /// Whether this installation sends mail.
    #[must_use]
    pub const fn is_on(&self) -> bool {
        self.confirmations_per_hour.is_some()
    }

    /// A person's own wishes.
    ///
    /// # Errors
    /// [`MailError`].
    pub async fn get(&self, who: Viewer) -> Result<Subscription, MailError> {
        self.reads.subscription(who).await?.ok_or(MailError::NotAMember)
    }

    /// Sets a person's own wishes. A new address is asked to confirm.
    ///
    /// # Errors
    /// [`MailError`]; nothing was changed.
    pub async fn set(&self, call: &Call, wish: &MailWish, render: &impl Render) -> Result<Reply, MailError> {
        self.write(call, &Ask::Wish(wish), render).await
    }

    /// Has the address asked once more.
    ///
    /// # Errors
    /// [`MailError`]; nothing was changed.
    pub async fn ask_again(&self, call: &Call, render: &impl Render) -> Result<Reply, MailError> {
        self.write(call, &Ask::Again, render).await
    }

    async fn write(&self, call: &Call, ask: &Ask<'_>, render: &impl Render) -> Result<Reply, MailError> {
        let _place = self.admission.enter(call.viewer.organization_id, None).await?;
        retrying(|| async {
            let mut session = self.store.open().await?;
            let work = self.write_in(&mut session, call, ask, render).await;
            settle(session, work).await
        })
        .await
    }

    async fn write_in(
        &self,
        session: &mut S::Session,
        call: &Call,
        ask: &Ask<'_>,
        render: &impl Render,
    ) -> Result<End<Reply>, MailError> {
        let who = call.viewer;
        active(session.lock_reader(who).await?)?;
        if let Some(answer) = claim_key(session, call.key.as_ref()).await? {
            return Ok(End::Rollback(Reply::replay(answer)));
        }
        let limit = self.confirmations_per_hour.ok_or(MailRefusal::NotConfigured)?;
        let found = session.lock_subscription(who).await?;
        let (current, _) = &*found;
        let (after, moved) = match ask {
            Ask::Wish(wish) => {
                let wished = mail::wish(current, wish)?;
                (wished.after, wished.moved)
            }
            Ask::Again if current.address.is_some() && current.confirmed_at.is_none() => (current.clone(), false),
            Ask::Again => return Err(MailRefusal::NothingToConfirm.into()),
        };
        let asks = moved || matches!(ask, Ask::Again);
        if let Some(address) = after.address.as_deref().filter(|_| asks) {
            let (by_person, to_address) = session.asked(who, address).await?;
            mail::may_ask(by_person, to_address, limit, found.at())?;
            session.post_confirmation(who, address).await?;
        }
        session.save_subscription(who, &after, moved).await?;
        let answer = render(&after);
        if let Some(kept) = Kept::of(call.key.as_ref(), &answer) {
            session.keep_answer(kept).await?;
        }
        Ok(End::Commit(Reply::first(answer)))
    }

    /// What a link would do. `None`: nothing (any more). Looking changes nothing: programs that look at what stands in
    /// mails follow every link.
    ///
    /// # Errors
    /// [`StoreError`].
    pub async fn look(&self, sent: &SentLink) -> Result<Option<Followed>, StoreError> {
        let found = self.reads.behind_link(whose(sent)).await?;
        Ok(found.and_then(|(subscription, key, now)| {
            Some(Followed { purpose: sent.proven(&key, now)?, language: subscription.language })
        }))
    }

    /// Does what a link is for. `None`: it works no more.
    ///
    /// # Errors
    /// [`MailError`]; nothing was changed.
    pub async fn follow(&self, sent: &SentLink) -> Result<Option<Followed>, MailError> {
        // Looked at first: nobody without a link of ours takes a lock, or has a row made.
        if self.look(sent).await?.is_none() {
            return Ok(None);
        }
        let _place = self.admission.enter(sent.link.organization_id, None).await?;
        retrying(|| async {
            let mut session = self.store.open().await?;
            let work = Self::follow_in(&mut session, sent).await;
            settle(session, work).await
        })
        .await
    }

    async fn follow_in(session: &mut S::Session, sent: &SentLink) -> Result<End<Option<Followed>>, MailError> {
        let who = whose(sent);
        let member = session.lock_reader(who).await?;
        let found = session.lock_subscription(who).await?;
        let (current, key) = &*found;
        let Some(purpose) = sent.proven(key, found.at()) else { return Ok(End::Rollback(None)) };
        let followed = Some(Followed { purpose, language: current.language });
        // Who left may still say no, but not yes.
        if matches!(purpose, Purpose::Confirm(_)) && active(member).is_err() {
            return Ok(End::Rollback(None));
        }
        let after = mail::follow(current, purpose, found.at());
        if after == *current {
            return Ok(End::Rollback(followed));
        }
        session.save_subscription(who, &after, false).await?;
        Ok(End::Commit(followed))
    }
}

/// Whose mail a link is about, as it says.
#[must_use]
pub const fn whose(sent: &SentLink) -> Viewer {
    Viewer { organization_id: sent.link.organization_id, user_id: sent.link.user_id }
}

fn active(member: Option<Locked<Member>>) -> Result<Locked<Member>, MailError> {
    member.filter(|member| member.is_active).ok_or(MailError::NotAMember)
}

impl From<MailRefusal> for MailError {
    fn from(refusal: MailRefusal) -> Self {
        Self::Refused(refusal)
    }
}
