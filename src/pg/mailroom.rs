//! The post's own rows: from events to mails, and what is due. Every write holds the relay's lease first.

use super::error::{corrupt, within};
use super::mail::{link_key, subscription};
use super::reads::{PgReads, reading};
use super::session::{PgSession, PgStore};
use crate::domain::Instant;
use crate::domain::ids::{OrganizationId, RequestId, UserId};
use crate::domain::lease::Ticket;
use crate::domain::mail::{CONFIRM_WITHIN, MailKind, NEWS};
use crate::domain::request::Action;
use crate::lease::{Hold, LeaseSession};
use crate::mail::letter::{Content, Letter, NAMED, Waiting};
use crate::mail::store::{Attempt, Begun, Due, Gathering, Mailroom};
use crate::transaction::{Session, StoreError};
use chrono::TimeDelta;
use sqlx::{query, query_scalar};
use std::time::Duration;
use uuid::Uuid;

/// How many events are sorted in one transaction.
const SORTED: i64 = 1_000;
/// How many organizations are looked into at once, and how many mails of each.
const ORGANIZATIONS: i64 = 64;
const OF_EACH: i64 = 8;

/// The post's rows, on PostgreSQL.
#[derive(Clone, Debug)]
pub struct PgMailroom {
    on: PgReads,
    store: PgStore,
}

impl PgMailroom {
    /// Looks on `on`; works with `store`, whose transactions have short limits.
    #[must_use]
    pub const fn new(on: PgReads, store: PgStore) -> Self {
        Self { on, store }
    }

    /// A transaction under the lease. `None`: it is another's.
    async fn hold(&self, ticket: &Ticket) -> Result<Option<PgSession>, StoreError> {
        let mut session = self.store.begin().await?;
        match session.hold_lease(ticket, Hold::Shared).await {
            Ok(Some(_)) => Ok(Some(session)),
            Ok(None) => {
                session.rollback().await;
                Ok(None)
            }
            Err(error) => {
                session.rollback().await;
                Err(error)
            }
        }
    }
}

/// Ends a session as its work went.
async fn settled<T>(session: PgSession, done: Result<T, StoreError>) -> Result<T, StoreError> {
    match done {
        Ok(value) => session.commit().await.map(|()| value),
        Err(error) => {
            session.rollback().await;
            Err(error)
        }
    }
}

/// The row of [`PgSession::next_mail`].
struct Posted {
    user_id: Uuid,
    kind: MailKind,
    first_position: i64,
    last_position: i64,
    created_at: Instant,
    attempts: i32,
}

/// Events of one kind of mail, a column at a time.
#[derive(Default)]
struct Events {
    positions: Vec<i64>,
    subjects: Vec<Uuid>,
}

impl PgSession {
    async fn pass_over_the_past(&mut self) -> Result<(), StoreError> {
        let on = within(
            self.answer_limit,
            query_scalar!(
                "INSERT INTO mail_cursor (organization_id, position, moved_at) VALUES ($1, 0, clock_timestamp())
                 ON CONFLICT (organization_id) DO NOTHING RETURNING moved_at",
                Uuid::nil(),
            )
            .fetch_optional(self.connection()?),
        )
        .await;
        if self.note(on)?.is_none() {
            return Ok(());
        }
        let done = within(
            self.answer_limit,
            query!(
                "INSERT INTO mail_cursor (organization_id, position, moved_at)
                 SELECT organization_id, last_position, clock_timestamp() FROM event_stream ORDER BY organization_id
                 ON CONFLICT (organization_id) DO UPDATE SET position = excluded.position, moved_at = excluded.moved_at"
            )
            .execute(self.connection()?),
        )
        .await;
        self.note(done)?;
        Ok(())
    }

    async fn forget_that_mail_was_on(&mut self) -> Result<(), StoreError> {
        let done = within(
            self.answer_limit,
            query!("DELETE FROM mail_cursor WHERE organization_id = $1", Uuid::nil()).execute(self.connection()?),
        )
        .await;
        self.note(done)?;
        Ok(())
    }

    async fn sort_events(&mut self, organization: OrganizationId, gathering: Gathering) -> Result<bool, StoreError> {
        let rows = within(
            self.answer_limit,
            query!(
                r#"SELECT e.position, e.subject_id, e.event_type,
                          NOT e.private AND e.occurred_at >= clock_timestamp() - make_interval(secs => $3::float8)
                            AND e.occurred_at >= (SELECT moved_at FROM mail_cursor WHERE organization_id = $4) AS "news!"
                   FROM event_log e
                   WHERE e.organization_id = $1
                     AND e.position > coalesce((SELECT position FROM mail_cursor WHERE organization_id = $1), 0)
                   ORDER BY e.position
                   LIMIT $2"#,
                organization.0,
                SORTED,
                NEWS.as_secs_f64(),
                Uuid::nil(),
            )
            .fetch_all(self.connection()?),
        )
        .await;
        let rows = self.note(rows)?;
        let Some(last) = rows.last().map(|row| row.position) else { return Ok(false) };
        let (mut decisions, mut submissions) = (Events::default(), Events::default());
        let (mut closings, mut jobs) = (Vec::new(), Vec::new());
        for row in rows.iter().filter(|row| row.news) {
            let subject = || row.subject_id.parse::<Uuid>().map_err(|_| corrupt("event_log.subject_id"));
            match MailKind::of_event(&row.event_type) {
                Some(MailKind::Decisions) => {
                    decisions.positions.push(row.position);
                    decisions.subjects.push(subject()?);
                }
                Some(MailKind::Submissions) => {
                    submissions.positions.push(row.position);
                    submissions.subjects.push(subject()?);
                }
                Some(MailKind::Closings) => closings.push(row.position),
                Some(MailKind::Jobs) => jobs.push(row.position),
                Some(MailKind::Confirmation) | None => {}
            }
        }
        if !decisions.positions.is_empty() {
            self.post_to_applicants(organization, &decisions).await?;
        }
        if !submissions.positions.is_empty() {
            self.post_to_deciders(organization, &submissions, gathering).await?;
        }
        for (kind, positions) in [(MailKind::Closings, closings), (MailKind::Jobs, jobs)] {
            if !positions.is_empty() {
                self.post_to_administrators(organization, kind, &positions).await?;
            }
        }
        let moved = within(
            self.answer_limit,
            query!(
                "INSERT INTO mail_cursor (organization_id, position, moved_at) VALUES ($1, $2, clock_timestamp())
                 ON CONFLICT (organization_id) DO UPDATE SET position = excluded.position, moved_at = excluded.moved_at",
                organization.0,
                last,
            )
            .execute(self.connection()?),
        )
        .await;
        self.note(moved)?;
        Ok(i64::try_from(rows.len()).is_ok_and(|read| read == SORTED))
    }

    async fn post_to_applicants(&mut self, organization: OrganizationId, events: &Events) -> Result<(), StoreError> {
        let done = within(
            self.answer_limit,
            query!(
                "INSERT INTO mail_message (organization_id, id, user_id, kind, first_position, last_position, created_at,
                                           due_at)
                 SELECT $1, gen_random_uuid(), a.user_id, 'decisions', e.position, e.position, clock_timestamp(),
                        clock_timestamp()
                 FROM unnest($2::bigint[], $3::uuid[]) AS e (position, request_id)
                 JOIN approval_request r ON r.organization_id = $1 AND r.id = e.request_id
                 JOIN organization_member m ON m.organization_id = $1 AND m.user_id = r.applicant_id AND m.is_active
                 JOIN mail_address a ON a.organization_id = $1 AND a.user_id = m.user_id
                 WHERE a.confirmed_at IS NOT NULL AND NOT 'decisions' = ANY (a.off)",
                organization.0,
                &events.positions,
                &events.subjects,
            )
            .execute(self.connection()?),
        )
        .await;
        self.note(done)?;
        Ok(())
    }

    async fn post_to_deciders(
        &mut self,
        organization: OrganizationId,
        events: &Events,
        gathering: Gathering,
    ) -> Result<(), StoreError> {
        // One digest each, which grows until it is begun.
        let done = within(
            self.answer_limit,
            query!(
                "INSERT INTO mail_message (organization_id, id, user_id, kind, first_position, last_position, created_at,
                                           due_at)
                 SELECT $1, gen_random_uuid(), a.user_id, 'submissions', min(e.position), max(e.position),
                        clock_timestamp(), clock_timestamp() + make_interval(secs => $4::float8)
                 FROM unnest($2::bigint[], $3::uuid[]) AS e (position, request_id)
                 JOIN approval_request r ON r.organization_id = $1 AND r.id = e.request_id
                 JOIN organization_member m
                   ON m.organization_id = $1 AND m.user_id <> r.applicant_id AND m.is_active AND m.can_approve
                 JOIN mail_address a ON a.organization_id = $1 AND a.user_id = m.user_id
                 WHERE a.confirmed_at IS NOT NULL AND NOT 'submissions' = ANY (a.off)
                 GROUP BY a.user_id
                 ORDER BY a.user_id
                 ON CONFLICT (organization_id, user_id) WHERE kind = 'submissions' AND attempts = 0 DO UPDATE SET
                   last_position = excluded.last_position,
                   due_at = least(excluded.due_at, mail_message.created_at + make_interval(secs => $5::float8))",
                organization.0,
                &events.positions,
                &events.subjects,
                gathering.quiet.as_secs_f64(),
                gathering.longest.as_secs_f64(),
            )
            .execute(self.connection()?),
        )
        .await;
        self.note(done)?;
        Ok(())
    }

    async fn post_to_administrators(
        &mut self,
        organization: OrganizationId,
        kind: MailKind,
        positions: &[i64],
    ) -> Result<(), StoreError> {
        let done = within(
            self.answer_limit,
            query!(
                "INSERT INTO mail_message (organization_id, id, user_id, kind, first_position, last_position, created_at,
                                           due_at)
                 SELECT $1, gen_random_uuid(), a.user_id, $3, e.position, e.position, clock_timestamp(), clock_timestamp()
                 FROM unnest($2::bigint[]) AS e (position)
                 CROSS JOIN organization_member m
                 JOIN mail_address a ON a.organization_id = $1 AND a.user_id = m.user_id
                 WHERE m.organization_id = $1 AND m.is_active AND m.is_admin
                   AND a.confirmed_at IS NOT NULL AND NOT $3 = ANY (a.off)",
                organization.0,
                positions,
                kind.as_str(),
            )
            .execute(self.connection()?),
        )
        .await;
        self.note(done)?;
        Ok(())
    }

    /// Begins an attempt: until `patience` has passed nobody else finds the mail due.
    async fn next_mail(&mut self, due: Due, patience: Duration) -> Result<Option<Posted>, StoreError> {
        let row = within(
            self.answer_limit,
            query!(
                "WITH due AS MATERIALIZED (
                   SELECT id FROM mail_message
                   WHERE organization_id = $1 AND id = $2 AND due_at <= clock_timestamp()
                   FOR UPDATE
                 )
                 UPDATE mail_message m
                 SET attempts = attempts + 1, due_at = clock_timestamp() + make_interval(secs => $3::float8)
                 FROM due
                 WHERE m.organization_id = $1 AND m.id = due.id
                 RETURNING m.user_id, m.kind, m.first_position, m.last_position, m.created_at, m.attempts",
                due.organization_id.0,
                due.id,
                patience.as_secs_f64(),
            )
            .fetch_optional(self.connection()?),
        )
        .await;
        let Some(row) = self.note(row)? else { return Ok(None) };
        Ok(Some(Posted {
            user_id: row.user_id,
            kind: MailKind::parse(&row.kind).ok_or_else(|| corrupt("mail_message.kind"))?,
            first_position: row.first_position,
            last_position: row.last_position,
            created_at: row.created_at,
            attempts: row.attempts,
        }))
    }

    async fn letter(&mut self, due: Due, posted: &Posted) -> Result<Option<Letter>, StoreError> {
        let row = within(
            self.answer_limit,
            query!(
                r#"SELECT o.name, m.display_name, m.is_admin, a.address, a.language, a.off, a.confirmed_at, a.refused_at,
                          a.link_key,
                          $3::timestamptz >= clock_timestamp() - make_interval(secs => $4::float8)
                            -- A question is no news: it may have been asked before the first relay began.
                            AND ($6 OR $3 >= (SELECT moved_at FROM mail_cursor WHERE organization_id = $5)) AS "news!"
                   FROM organization_member m
                   JOIN organization o ON o.id = m.organization_id
                   JOIN mail_address a ON a.organization_id = m.organization_id AND a.user_id = m.user_id
                   WHERE m.organization_id = $1 AND m.user_id = $2 AND m.is_active"#,
                due.organization_id.0,
                posted.user_id,
                posted.created_at,
                NEWS.as_secs_f64(),
                Uuid::nil(),
                posted.kind == MailKind::Confirmation,
            )
            .fetch_optional(self.connection()?),
        )
        .await;
        let Some(row) = self.note(row)?.filter(|row| row.news) else { return Ok(None) };
        let wishes = subscription(row.address, &row.language, &row.off, row.confirmed_at, row.refused_at)?;
        let wanted = match posted.kind {
            MailKind::Confirmation => wishes.confirmed_at.is_none(),
            kind => wishes.wants(kind),
        };
        let Some(address) = wishes.address.filter(|_| wanted) else { return Ok(None) };
        let Some(content) = self.content(due.organization_id, posted, row.is_admin).await? else { return Ok(None) };
        Ok(Some(Letter {
            id: due.id,
            organization_id: due.organization_id,
            organization_name: row.name,
            receiver: UserId(posted.user_id),
            receiver_name: row.display_name,
            address,
            language: wishes.language,
            key: link_key(&row.link_key)?,
            attempts: u32::try_from(posted.attempts).unwrap_or(1),
            content,
        }))
    }

    /// What the receiver may read of it now. `None`: nothing.
    async fn content(
        &mut self,
        organization: OrganizationId,
        posted: &Posted,
        is_admin: bool,
    ) -> Result<Option<Content>, StoreError> {
        match posted.kind {
            MailKind::Confirmation => {
                let within = TimeDelta::from_std(CONFIRM_WITHIN).unwrap_or_default();
                Ok(Some(Content::Confirmation { until: (posted.created_at + within).timestamp() }))
            }
            MailKind::Decisions => self.decision(organization, posted).await,
            MailKind::Submissions => self.submissions(organization, posted).await,
            MailKind::Closings if is_admin => self.closing(organization, posted).await,
            MailKind::Jobs if is_admin => self.job(organization, posted).await,
            MailKind::Closings | MailKind::Jobs => Ok(None),
        }
    }

    async fn decision(&mut self, organization: OrganizationId, posted: &Posted) -> Result<Option<Content>, StoreError> {
        let row = within(
            self.answer_limit,
            query!(
                r#"SELECT v.id AS "id!", v.title AS "title!", h.action, h.actor_name, h.reason
                   FROM event_log e
                   JOIN visible_request v
                     ON v.organization_id = $1 AND v.viewer_id = $3 AND v.id = e.subject_id::uuid
                   JOIN approval_history h
                     ON h.organization_id = $1 AND h.request_id = v.id AND h.version = e.seq
                   WHERE e.organization_id = $1 AND e.position = $2 AND e.subject_kind = 'request'
                     AND v.applicant_id = $3"#,
                organization.0,
                posted.first_position,
                posted.user_id,
            )
            .fetch_optional(self.connection()?),
        )
        .await;
        let Some(row) = self.note(row)? else { return Ok(None) };
        let action = Action::parse(&row.action).ok_or_else(|| corrupt("approval_history.action"))?;
        Ok(Some(Content::Decision {
            request_id: RequestId(row.id),
            title: row.title,
            action,
            actor_name: row.actor_name,
            reason: row.reason,
        }))
    }

    async fn submissions(
        &mut self,
        organization: OrganizationId,
        posted: &Posted,
    ) -> Result<Option<Content>, StoreError> {
        let rows = within(
            self.answer_limit,
            query!(
                r#"SELECT v.id AS "id!", v.title AS "title!", v.applicant_name AS "applicant_name!", v.amount, v.currency,
                          count(*) OVER () AS "count!"
                   FROM (SELECT subject_id::uuid AS request_id, min(position) AS position
                         FROM event_log
                         WHERE organization_id = $1 AND position BETWEEN $2 AND $3 AND subject_kind = 'request'
                           AND event_type = 'request.submit'
                         GROUP BY subject_id) AS e
                   JOIN visible_request v
                     ON v.organization_id = $1 AND v.viewer_id = $4 AND v.id = e.request_id AND v.can_decide
                   ORDER BY e.position
                   LIMIT $5"#,
                organization.0,
                posted.first_position,
                posted.last_position,
                posted.user_id,
                i64::try_from(NAMED).unwrap_or(i64::MAX),
            )
            .fetch_all(self.connection()?),
        )
        .await;
        let rows = self.note(rows)?;
        let Some(count) = rows.first().map(|row| row.count) else { return Ok(None) };
        let named = rows.into_iter().map(|row| Waiting {
            request_id: RequestId(row.id),
            title: row.title,
            applicant_name: row.applicant_name,
            amount: row.amount,
            currency: row.currency,
        });
        Ok(Some(Content::Submissions { count: u64::try_from(count).unwrap_or_default(), named: named.collect() }))
    }

    async fn closing(&mut self, organization: OrganizationId, posted: &Posted) -> Result<Option<Content>, StoreError> {
        let row = within(
            self.answer_limit,
            query!(
                r#"SELECT e.subject_id, e.event_type,
                          (SELECT count(*) FROM blocked_charge b
                           WHERE b.organization_id = $1 AND b.period = (e.subject_id || '-01')::date) AS "blocked!"
                   FROM event_log e
                   WHERE e.organization_id = $1 AND e.position = $2 AND e.subject_kind = 'closing'"#,
                organization.0,
                posted.first_position,
            )
            .fetch_optional(self.connection()?),
        )
        .await;
        let Some(row) = self.note(row)? else { return Ok(None) };
        let stopped = row.event_type == "closing.block";
        // Somebody was faster: there is nothing in the way any more.
        if stopped && row.blocked == 0 {
            return Ok(None);
        }
        Ok(Some(Content::Closing { period: row.subject_id, blocked: stopped.then_some(row.blocked) }))
    }

    async fn job(&mut self, organization: OrganizationId, posted: &Posted) -> Result<Option<Content>, StoreError> {
        let row = within(
            self.answer_limit,
            query!(
                r#"SELECT v.id AS "id!", v.title AS "title!"
                   FROM event_log e
                   JOIN visible_request v
                     ON v.organization_id = $1 AND v.viewer_id = $3 AND v.id = e.subject_id::uuid
                   JOIN job j ON j.organization_id = $1 AND j.request_id = v.id AND j.state = 'failed'
                   WHERE e.organization_id = $1 AND e.position = $2 AND e.subject_kind = 'job'"#,
                organization.0,
                posted.first_position,
                posted.user_id,
            )
            .fetch_optional(self.connection()?),
        )
        .await;
        let row = self.note(row)?;
        Ok(row.map(|row| Content::Job { request_id: RequestId(row.id), title: row.title }))
    }

    async fn remove_mail(&mut self, due: Due) -> Result<(), StoreError> {
        let done = within(
            self.answer_limit,
            query!("DELETE FROM mail_message WHERE organization_id = $1 AND id = $2", due.organization_id.0, due.id)
                .execute(self.connection()?),
        )
        .await;
        self.note(done)?;
        Ok(())
    }

    async fn begin_mail(&mut self, due: Due, patience: Duration) -> Result<Begun, StoreError> {
        let Some(posted) = self.next_mail(due, patience).await? else { return Ok(Begun::Elsewhere) };
        if let Some(letter) = self.letter(due, &posted).await? {
            return Ok(Begun::Letter(Box::new(letter)));
        }
        self.remove_mail(due).await?;
        Ok(Begun::Dropped(posted.kind))
    }

    async fn end_mail(&mut self, due: Due, receiver: UserId, attempt: &Attempt) -> Result<(), StoreError> {
        // The address first, as whoever changes it takes the two.
        let pause = match attempt {
            Attempt::Sent => {
                let done = within(
                    self.answer_limit,
                    query!(
                        "UPDATE mail_address SET refused_at = NULL
                         WHERE organization_id = $1 AND user_id = $2 AND refused_at IS NOT NULL",
                        due.organization_id.0,
                        receiver.0,
                    )
                    .execute(self.connection()?),
                )
                .await;
                self.note(done)?;
                return self.remove_mail(due).await;
            }
            Attempt::Refused => {
                let done = within(
                    self.answer_limit,
                    query!(
                        "UPDATE mail_address SET refused_at = clock_timestamp()
                         WHERE organization_id = $1 AND user_id = $2",
                        due.organization_id.0,
                        receiver.0,
                    )
                    .execute(self.connection()?),
                )
                .await;
                self.note(done)?;
                return self.remove_mail(due).await;
            }
            Attempt::Later(pause) => *pause,
        };
        let done = within(
            self.answer_limit,
            query!(
                "UPDATE mail_message SET due_at = clock_timestamp() + make_interval(secs => $3::float8)
                 WHERE organization_id = $1 AND id = $2",
                due.organization_id.0,
                due.id,
                pause.as_secs_f64(),
            )
            .execute(self.connection()?),
        )
        .await;
        self.note(done)?;
        Ok(())
    }
}

impl Mailroom for PgMailroom {
    async fn switch_on(&self, ticket: &Ticket) -> Result<bool, StoreError> {
        let Some(mut session) = self.hold(ticket).await? else { return Ok(false) };
        let done = session.pass_over_the_past().await;
        settled(session, done).await.map(|()| true)
    }

    async fn switch_off(&self, ticket: &Ticket) -> Result<bool, StoreError> {
        let Some(mut session) = self.hold(ticket).await? else { return Ok(false) };
        let done = session.forget_that_mail_was_on().await;
        settled(session, done).await.map(|()| true)
    }

    async fn behind(&self, limit: i64) -> Result<Vec<OrganizationId>, StoreError> {
        let found = reading!(self.on, connection => query_scalar!(
            "SELECT s.organization_id FROM event_stream s
             LEFT JOIN mail_cursor c ON c.organization_id = s.organization_id
             WHERE s.last_position > coalesce(c.position, 0)
             ORDER BY c.moved_at NULLS FIRST
             LIMIT $1",
            limit,
        ).fetch_all(connection));
        Ok(found.into_iter().map(OrganizationId).collect())
    }

    async fn sort(
        &self,
        ticket: &Ticket,
        organization: OrganizationId,
        gathering: Gathering,
    ) -> Result<Option<bool>, StoreError> {
        let Some(mut session) = self.hold(ticket).await? else { return Ok(None) };
        let done = session.sort_events(organization, gathering).await;
        settled(session, done).await.map(Some)
    }

    async fn due(&self) -> Result<(Vec<Due>, Duration), StoreError> {
        // The n-th mail of each organization before the n+1st of any.
        let rows = reading!(self.on, connection => query!(
            r#"SELECT o.organization_id, m.id AS "id!",
                      extract(epoch FROM clock_timestamp() - min(m.due_at) OVER ())::float8 AS "waited!"
               FROM (SELECT organization_id, min(due_at) AS first_due FROM mail_message
                     WHERE due_at <= clock_timestamp()
                     GROUP BY organization_id
                     ORDER BY first_due
                     LIMIT $1) AS o
               CROSS JOIN LATERAL (
                 SELECT id, due_at, row_number() OVER (ORDER BY due_at) AS place FROM mail_message
                 WHERE organization_id = o.organization_id AND due_at <= clock_timestamp()
                 ORDER BY due_at
                 LIMIT $2
               ) AS m
               ORDER BY m.place, o.first_due"#,
            ORGANIZATIONS,
            OF_EACH,
        ).fetch_all(connection));
        let waited = rows.first().map_or(0.0, |row| row.waited);
        let due = rows.iter().map(|row| Due { organization_id: OrganizationId(row.organization_id), id: row.id });
        Ok((due.collect(), Duration::try_from_secs_f64(waited).unwrap_or_default()))
    }

    async fn begin(&self, ticket: &Ticket, due: Due, patience: Duration) -> Result<Begun, StoreError> {
        let Some(mut session) = self.hold(ticket).await? else { return Ok(Begun::Lost) };
        let done = session.begin_mail(due, patience).await;
        settled(session, done).await
    }

    async fn end(&self, ticket: &Ticket, due: Due, receiver: UserId, attempt: &Attempt) -> Result<bool, StoreError> {
        let Some(mut session) = self.hold(ticket).await? else { return Ok(false) };
        let done = session.end_mail(due, receiver, attempt).await;
        settled(session, done).await.map(|()| true)
    }
}
