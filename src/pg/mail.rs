//! A person's wishes about mail.

use super::error::{corrupt, within};
use super::reads::{PgReads, reading};
use super::session::{PgSession, PgStore};
use crate::domain::Instant;
use crate::domain::ids::{OrganizationId, UserId};
use crate::domain::mail::{Asked, COUNTED_OVER, Language, LinkKey, MailKind, Subscription};
use crate::domain::member::Member;
use crate::mail::store::{MailReads, MailSession, MailStore};
use crate::transaction::{Locked, StoreError, Viewer};
use sqlx::query;

/// A person's wishes from the columns of their row.
pub(super) fn subscription(
    address: Option<String>,
    language: &str,
    off: &[String],
    confirmed_at: Option<Instant>,
    refused_at: Option<Instant>,
) -> Result<Subscription, StoreError> {
    let language = Language::parse(language).ok_or_else(|| corrupt("mail_address.language"))?;
    let off: Option<Vec<MailKind>> = off.iter().map(|kind| MailKind::parse(kind)).collect();
    let off = off.ok_or_else(|| corrupt("mail_address.off"))?;
    Ok(Subscription { address, language, off, confirmed_at, refused_at })
}

pub(super) fn link_key(bytes: &[u8]) -> Result<LinkKey, StoreError> {
    bytes.try_into().map(LinkKey).map_err(|_| corrupt("mail_address.link_key"))
}

impl PgSession {
    /// Deletes all that is known of a person's mail.
    pub(super) async fn delete_mail_of(
        &mut self,
        organization: OrganizationId,
        user: UserId,
    ) -> Result<(), StoreError> {
        let done = within(
            self.answer_limit,
            query!("DELETE FROM mail_address WHERE organization_id = $1 AND user_id = $2", organization.0, user.0)
                .execute(self.connection()?),
        )
        .await;
        self.note(done)?;
        let done = within(
            self.answer_limit,
            query!(
                "WITH asked AS (DELETE FROM mail_confirmation WHERE organization_id = $1 AND user_id = $2)
                 DELETE FROM mail_message WHERE organization_id = $1 AND user_id = $2",
                organization.0,
                user.0,
            )
            .execute(self.connection()?),
        )
        .await;
        self.note(done)?;
        Ok(())
    }
}

impl MailStore for PgStore {
    type Session = PgSession;

    async fn open(&self) -> Result<PgSession, StoreError> {
        self.begin().await
    }
}

impl MailSession for PgSession {
    async fn lock_reader(&mut self, who: Viewer) -> Result<Option<Locked<Member>>, StoreError> {
        self.share_member(who.organization_id, who.user_id).await
    }

    async fn lock_subscription(&mut self, who: Viewer) -> Result<Locked<(Subscription, LinkKey)>, StoreError> {
        let none = Subscription::none();
        let made = within(
            self.answer_limit,
            query!(
                "INSERT INTO mail_address (organization_id, user_id, language, link_key)
                 VALUES ($1, $2, $3, sha256(uuid_send(gen_random_uuid()) || uuid_send(gen_random_uuid())))
                 ON CONFLICT (organization_id, user_id) DO NOTHING",
                who.organization_id.0,
                who.user_id.0,
                none.language.as_str(),
            )
            .execute(self.connection()?),
        )
        .await;
        self.note(made)?;
        let asked = std::time::Instant::now();
        let row = within(
            self.answer_limit,
            query!(
                r#"WITH locked AS MATERIALIZED (
                     SELECT address, language, off, confirmed_at, refused_at, link_key
                     FROM mail_address WHERE organization_id = $1 AND user_id = $2
                     FOR UPDATE
                   )
                   SELECT locked.*, clock_timestamp() AS "at!" FROM locked"#,
                who.organization_id.0,
                who.user_id.0,
            )
            .fetch_one(self.connection()?),
        )
        .await;
        let row = self.note_lock("mail_address", asked, row)?;
        let found = subscription(row.address, &row.language, &row.off, row.confirmed_at, row.refused_at)?;
        Ok(Locked::taken((found, link_key(&row.link_key)?), row.at))
    }

    async fn asked(&mut self, who: Viewer, address: &str) -> Result<(Asked, Asked), StoreError> {
        let address = address.to_ascii_lowercase();
        // Two people who name one mailbox at once count one after the other: a statement sees what was committed before
        // it began, so the lock has one of its own.
        let locked = within(
            self.answer_limit,
            query!("SELECT pg_advisory_xact_lock(hashtextextended('ringi/mail/' || $1, 0))::text AS locked", address)
                .fetch_one(self.connection()?),
        )
        .await;
        self.note(locked)?;
        let row = within(
            self.answer_limit,
            query!(
                r#"SELECT (SELECT count(*) FROM mail_confirmation
                           WHERE organization_id = $1 AND user_id = $2 AND asked_at > since) AS "by_person!",
                          (SELECT min(asked_at) FROM mail_confirmation
                           WHERE organization_id = $1 AND user_id = $2 AND asked_at > since) AS person_oldest,
                          (SELECT count(*) FROM mail_confirmation
                           WHERE address = $3 AND asked_at > since) AS "to_address!",
                          (SELECT min(asked_at) FROM mail_confirmation
                           WHERE address = $3 AND asked_at > since) AS address_oldest
                   FROM (SELECT clock_timestamp() - make_interval(secs => $4::float8) AS since) AS hour"#,
                who.organization_id.0,
                who.user_id.0,
                address,
                COUNTED_OVER.as_secs_f64(),
            )
            .fetch_one(self.connection()?),
        )
        .await;
        let row = self.note(row)?;
        let by_person = Asked { count: row.by_person, oldest: row.person_oldest };
        Ok((by_person, Asked { count: row.to_address, oldest: row.address_oldest }))
    }

    async fn save_subscription(&mut self, who: Viewer, after: &Subscription, moved: bool) -> Result<(), StoreError> {
        let off: Vec<String> = after.off.iter().map(|kind| kind.as_str().to_owned()).collect();
        let done = within(
            self.answer_limit,
            query!(
                "UPDATE mail_address SET address = $3, language = $4, off = $5, confirmed_at = $6, refused_at = $7,
                   link_key = CASE WHEN $8 THEN sha256(uuid_send(gen_random_uuid()) || uuid_send(gen_random_uuid()))
                                   ELSE link_key END
                 WHERE organization_id = $1 AND user_id = $2",
                who.organization_id.0,
                who.user_id.0,
                after.address,
                after.language.as_str(),
                &off,
                after.confirmed_at,
                after.refused_at,
                moved,
            )
            .execute(self.connection()?),
        )
        .await;
        self.note(done)?;
        Ok(())
    }

    async fn post_confirmation(&mut self, who: Viewer, address: &str) -> Result<(), StoreError> {
        // One that is still to be sent would ask the same.
        let done = within(
            self.answer_limit,
            query!(
                "WITH forgotten AS (
                   DELETE FROM mail_confirmation
                   WHERE organization_id = $1 AND user_id = $2
                     AND asked_at <= clock_timestamp() - make_interval(secs => $4::float8)
                 ), superseded AS (
                   DELETE FROM mail_message
                   WHERE organization_id = $1 AND user_id = $2 AND kind = 'confirmation' AND attempts = 0
                 ), counted AS (
                   INSERT INTO mail_confirmation (organization_id, id, user_id, address, asked_at)
                   VALUES ($1, gen_random_uuid(), $2, $3, clock_timestamp())
                 )
                 INSERT INTO mail_message (organization_id, id, user_id, kind, first_position, last_position, created_at,
                                           due_at)
                 VALUES ($1, gen_random_uuid(), $2, 'confirmation', 0, 0, clock_timestamp(), clock_timestamp())",
                who.organization_id.0,
                who.user_id.0,
                address.to_ascii_lowercase(),
                COUNTED_OVER.as_secs_f64(),
            )
            .execute(self.connection()?),
        )
        .await;
        self.note(done)?;
        Ok(())
    }
}

impl MailReads for PgReads {
    async fn subscription(&self, who: Viewer) -> Result<Option<Subscription>, StoreError> {
        let row = reading!(self, connection => query!(
            r#"SELECT a.address AS "address?", a.language AS "language?", a.off AS "off?", a.confirmed_at AS "confirmed_at?",
                      a.refused_at AS "refused_at?"
               FROM organization_member m
               LEFT JOIN mail_address a ON a.organization_id = m.organization_id AND a.user_id = m.user_id
               WHERE m.organization_id = $1 AND m.user_id = $2 AND m.is_active"#,
            who.organization_id.0,
            who.user_id.0,
        ).fetch_optional(connection));
        let Some(row) = row else { return Ok(None) };
        let (Some(language), Some(off)) = (row.language, row.off) else { return Ok(Some(Subscription::none())) };
        subscription(row.address, &language, &off, row.confirmed_at, row.refused_at).map(Some)
    }

    async fn behind_link(&self, who: Viewer) -> Result<Option<(Subscription, LinkKey, Instant)>, StoreError> {
        let row = reading!(self, connection => query!(
            r#"SELECT address, language, off, confirmed_at, refused_at, link_key, clock_timestamp() AS "at!"
               FROM mail_address WHERE organization_id = $1 AND user_id = $2"#,
            who.organization_id.0,
            who.user_id.0,
        ).fetch_optional(connection));
        let Some(row) = row else { return Ok(None) };
        let found = subscription(row.address, &row.language, &row.off, row.confirmed_at, row.refused_at)?;
        Ok(Some((found, link_key(&row.link_key)?, row.at)))
    }
}
