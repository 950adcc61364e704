//! Reads of requests: plain queries over `visible_request`, which joins membership and visibility. No row locks.

use super::approvals::request;
use super::error::{corrupt, is_lost_connection, store_error};
use super::pool::{Lent, Pool};
use crate::approvals::store::{ApprovalReads, Standing};
use crate::approvals::view::{
    Counts, DECIDERS_SHOWN, HistoryPage, ListQuery, Page, Place, RequestView, VersionView, View, WaitingFor,
};
use crate::domain::content::Content;
use crate::domain::history::{Hash, RequestEntry};
use crate::domain::ids::{OrganizationId, RequestId, UserId, Version};
use crate::domain::member::Member;
use crate::domain::request::{Action, LastChange, Request, Status};
use crate::transaction::{StoreError, Viewer};
use sqlx::{PgConnection, query};
use std::time::{Duration, Instant};
use uuid::Uuid;

/// Up to so many requests are looked at one by one, wherever they are in an organization's list.
const FEW: i64 = 1_000;

/// Reads on the pool of their own.
#[derive(Clone, Debug)]
pub struct PgReads {
    pool: Pool,
    patience: Duration,
    answer_limit: Duration,
}

impl PgReads {
    /// Reads on `pool`, looking for a living connection no longer than `patience`, and waiting no longer than
    /// `answer_limit` for an answer.
    #[must_use]
    pub const fn new(pool: Pool, patience: Duration, answer_limit: Duration) -> Self {
        Self { pool, patience, answer_limit }
    }

    pub(super) fn begin(&self) -> Reading<'_> {
        Reading { reads: self, since: Instant::now() }
    }
}

/// One read, under way: see [`reading`].
pub(super) struct Reading<'a> {
    reads: &'a PgReads,
    since: Instant,
}

impl Reading<'_> {
    pub(super) async fn connection(&self) -> Result<Lent, StoreError> {
        self.reads.pool.lend().await
    }

    pub(super) const fn answer_limit(&self) -> Duration {
        self.reads.answer_limit
    }

    /// What became of an attempt: its rows, or nothing where it met a dead connection and may be made again.
    pub(super) fn outcome<T>(&self, result: Result<T, sqlx::Error>, connection: Lent) -> Result<Option<T>, StoreError> {
        match result {
            Ok(rows) => {
                connection.give_back();
                Ok(Some(rows))
            }
            Err(error) if is_lost_connection(&error) && self.since.elapsed() < self.reads.patience => Ok(None),
            Err(error) => {
                // A no of the server's is an answer, too, and there is no transaction that it could leave open.
                if error.as_database_error().is_some() && !is_lost_connection(&error) {
                    connection.give_back();
                }
                Err(store_error(error))
            }
        }
    }
}

/// Reads on a pooled connection. Those that died while idle are dropped, and the read is made again on another one:
/// looking twice changes nothing.
macro_rules! reading {
    ($reads:expr, $connection:ident => $read:expr) => {{
        let reading = $reads.begin();
        loop {
            let mut pooled = reading.connection().await?;
            let $connection = &mut *pooled;
            let result = $crate::pg::error::within(reading.answer_limit(), $read).await;
            if let Some(rows) = reading.outcome(result, pooled)? {
                break rows;
            }
        }
    }};
}
pub(super) use reading;

/// Those of an organization who may decide: all of them counted, the first named (one more than is shown, in case an
/// applicant is among them), and which of the applicants that were asked about are deciders themselves.
#[derive(Clone, Debug, Default)]
pub(super) struct Deciders {
    count: i64,
    first: Vec<(UserId, String)>,
    applicants: Vec<Uuid>,
}

impl Deciders {
    /// Those who could decide on a request of `applicant`, who was asked about.
    fn besides(&self, applicant: UserId) -> WaitingFor {
        WaitingFor {
            count: self.count - i64::from(self.applicants.contains(&applicant.0)),
            members: self.first.iter().filter(|(id, _)| *id != applicant).take(DECIDERS_SHOWN).cloned().collect(),
        }
    }
}

/// The deciders of an organization, for requests of these applicants. One statement, so that count and names are of
/// one moment.
async fn deciders(
    connection: &mut PgConnection,
    organization: OrganizationId,
    applicants: &[Uuid],
) -> Result<Deciders, sqlx::Error> {
    let rows = query!(
        r#"SELECT m.user_id, m.display_name, count(*) OVER () AS "count!",
                  ARRAY(SELECT a.user_id FROM organization_member a
                        WHERE a.organization_id = $1 AND a.user_id = ANY ($2) AND a.is_active AND a.can_approve) AS "applicants!"
           FROM organization_member m
           WHERE m.organization_id = $1 AND m.is_active AND m.can_approve
           ORDER BY m.display_name, m.user_id
           LIMIT 21"#,
        organization.0,
        applicants,
    )
    .fetch_all(connection)
    .await?;
    let (count, applicants) = rows.first().map_or((0, Vec::new()), |row| (row.count, row.applicants.clone()));
    let first = rows.into_iter().map(|row| (UserId(row.user_id), row.display_name)).collect();
    Ok(Deciders { count, first, applicants })
}

/// Those who could decide on a request of `applicant`.
pub(super) async fn waiting_for(
    connection: &mut PgConnection,
    organization: OrganizationId,
    applicant: UserId,
) -> Result<WaitingFor, sqlx::Error> {
    Ok(deciders(connection, organization, &[applicant.0]).await?.besides(applicant))
}

/// Builds the viewer's [`Member`] and a [`RequestView`] from a row of `visible_request`.
macro_rules! view {
    ($viewer:expr, $row:expr, $deciders:expr) => {{
        let row = $row;
        let member = Member {
            organization_id: $viewer.organization_id,
            user_id: $viewer.user_id,
            display_name: row.viewer_name,
            is_active: true,
            can_approve: row.viewer_can_approve,
            is_admin: row.viewer_is_admin,
            version: row.viewer_version,
            created_at: row.viewer_since,
        };
        let applicant_name = row.applicant_name;
        let request = request!($viewer.organization_id, row);
        let waiting_for = (request.status == Status::Pending).then(|| $deciders.besides(request.applicant_id));
        RequestView::new(request, applicant_name, &member, waiting_for)
    }};
}

impl PgReads {
    /// The few requests that a list can show at all, if they are few: those that a member without an overview wrote or
    /// acted on, those that are open, those whose contents have all the characters that are looked for. The shortest of
    /// these lists counts; where all are long, a walk in the list's own order soon has a page together.
    ///
    /// It says where to look, and no more: what is there is judged by [`Self::views`].
    async fn few(
        connection: &mut PgConnection,
        viewer: Viewer,
        list: &ListQuery,
    ) -> Result<Option<Vec<Uuid>>, sqlx::Error> {
        let row = query!(
            r#"SELECT CASE WHEN NOT (m.can_approve OR m.is_admin) THEN
                        ARRAY(SELECT DISTINCT h.request_id FROM approval_history h
                              WHERE h.organization_id = $1 AND h.actor_id = $2 LIMIT $5) END AS own,
                      CASE WHEN $3::bool THEN
                        ARRAY(SELECT o.request_id FROM open_request o
                              WHERE o.organization_id = $1 ORDER BY o.request_id LIMIT $5) END AS open,
                      CASE WHEN $4::text IS NOT NULL THEN
                        ARRAY(SELECT c.request_id FROM approval_version c
                              WHERE c.organization_id = $1
                                AND search_grams(c.organization_id, c.title || E'\n' || c.description, false)
                                    @> search_grams($1, $4, true)
                              LIMIT $5) END AS found
               FROM organization_member m
               WHERE m.organization_id = $1 AND m.user_id = $2"#,
            viewer.organization_id.0,
            viewer.user_id.0,
            list.view == View::Inbox,
            list.text,
            FEW + 1,
        )
        .fetch_optional(connection)
        .await?;
        let Some(row) = row else { return Ok(None) };
        let lists = [row.own, row.open, row.found].into_iter().flatten();
        let is_few = |ids: &Vec<Uuid>| i64::try_from(ids.len()).is_ok_and(|n| n <= FEW);
        Ok(lists.filter(is_few).min_by_key(Vec::len))
    }

    /// One request or a page of them, by the one statement that every view of a request comes from. The plan is made
    /// anew with the values (`force_custom_plan`), so that the conditions that do not apply cost nothing. The search
    /// names the organization itself: as a subquery without it, it would be run once over everybody's contents.
    async fn views(
        &self,
        viewer: Viewer,
        id: Option<RequestId>,
        list: &ListQuery,
        after: Option<Place>,
        limit: i64,
    ) -> Result<Vec<RequestView>, StoreError> {
        let (rows, all) = reading!(self, connection => async {
            let few = match id {
                Some(id) => Some(vec![id.0]),
                None => Self::few(connection, viewer, list).await?,
            };
            let rows = query!(
            r#"SELECT v.id AS "id!", v.applicant_id AS "applicant_id!", v.title AS "title!",
                      v.description AS "description!", v.amount, v.currency, v.status AS "status!",
                      v.version AS "version!", v.content_version AS "content_version!",
                      v.content_hash AS "content_hash!", v.decision_reason, v.created_at AS "created_at!",
                      v.updated_at AS "updated_at!", v.submitted_at, v.decided_at, v.last_action AS "last_action!",
                      v.last_actor_id AS "last_actor_id!", v.last_actor_name AS "last_actor_name!",
                      v.chain_hash AS "chain_hash!", v.viewer_name AS "viewer_name!",
                      v.viewer_can_approve AS "viewer_can_approve!", v.viewer_is_admin AS "viewer_is_admin!",
                      v.viewer_version AS "viewer_version!", v.viewer_since AS "viewer_since!",
                      v.applicant_name AS "applicant_name!"
               FROM visible_request v
               WHERE v.organization_id = $1 AND v.viewer_id = $2
                 AND ($3 <> 'mine' OR v.applicant_id = $2)
                 AND ($3 <> 'inbox' OR v.can_decide)
                 AND ($4::text IS NULL OR v.status = $4)
                 AND ($5::uuid IS NULL OR v.applicant_id = $5)
                 AND ($6::timestamptz IS NULL OR v.updated_at >= $6)
                 AND ($7::text IS NULL OR EXISTS (
                       SELECT FROM approval_version c
                       WHERE c.organization_id = $1 AND c.request_id = v.id
                         AND c.version = v.content_version AND (c.title ILIKE $7 OR c.description ILIKE $7)))
                 AND ($8::timestamptz IS NULL OR (v.created_at, v.id) < ($8, $9::uuid))
                 AND ($10::uuid[] IS NULL OR v.id = ANY ($10))
               ORDER BY v.created_at DESC, v.id DESC
               LIMIT $11"#,
            viewer.organization_id.0,
            viewer.user_id.0,
            list.view.as_str(),
            list.status.map(Status::as_str),
            list.applicant_id.map(|id| id.0),
            list.updated_since,
            list.text.as_deref().map(contains_pattern),
            after.map(|place| place.created_at),
            after.map(|place| place.id),
            few.as_deref(),
            limit,
        )
            .fetch_all(&mut *connection)
            .await?;
            let pending = rows.iter().filter(|row| row.status == Status::Pending.as_str());
            let applicants: Vec<_> = pending.map(|row| row.applicant_id).collect();
            let all = if applicants.is_empty() {
                Deciders::default()
            } else {
                deciders(connection, viewer.organization_id, &applicants).await?
            };
            Ok((rows, all))
        });
        rows.into_iter().map(|row| Ok(view!(viewer, row, all))).collect()
    }
}

impl ApprovalReads for PgReads {
    async fn is_active_member(&self, viewer: Viewer) -> Result<bool, StoreError> {
        let row = reading!(self, connection => query!(
            r#"SELECT EXISTS (SELECT FROM organization_member
                              WHERE organization_id = $1 AND user_id = $2 AND is_active) AS "active!""#,
            viewer.organization_id.0,
            viewer.user_id.0,
        ).fetch_one(connection));
        Ok(row.active)
    }

    async fn request(&self, viewer: Viewer, id: RequestId) -> Result<Option<RequestView>, StoreError> {
        Ok(self.views(viewer, Some(id), &ListQuery::default(), None, 1).await?.pop())
    }

    async fn list(
        &self,
        viewer: Viewer,
        list: &ListQuery,
        after: Option<Place>,
        limit: u16,
    ) -> Result<Page<RequestView, Place>, StoreError> {
        let views = self.views(viewer, None, list, after, i64::from(limit) + 1).await?;
        Ok(Page::cut(views, usize::from(limit), |view| Place {
            created_at: view.request.created_at,
            id: view.request.id.0,
        }))
    }

    async fn counts(&self, viewer: Viewer) -> Result<Counts, StoreError> {
        // One statement, so one moment. Nobody walks through all that ever was: the open ones are few; of the final ones
        // the history says how many there are (who has an overview sees all that were ever submitted), and of a member
        // without an overview those are looked at that he wrote or acted on.
        let rows = reading!(self, connection => query!(
            r#"WITH viewer AS MATERIALIZED (
                 SELECT can_approve OR is_admin AS has_overview FROM organization_member
                 WHERE organization_id = $1 AND user_id = $2 AND is_active
               ), counted AS (
                 SELECT v.status, count(*) AS seen, count(*) FILTER (WHERE v.applicant_id = $2) AS mine,
                        count(*) FILTER (WHERE v.can_decide) AS inbox
                 FROM open_request o
                 JOIN visible_request v ON v.organization_id = o.organization_id AND v.id = o.request_id
                 WHERE o.organization_id = $1 AND v.organization_id = $1 AND v.viewer_id = $2
                 GROUP BY v.status
                 UNION ALL
                 SELECT h.to_status, count(*), 0, 0
                 FROM approval_history h
                 WHERE h.organization_id = $1 AND h.to_status IN ('approved', 'rejected', 'withdrawn')
                   AND h.from_status <> 'draft' AND (SELECT has_overview FROM viewer)
                 GROUP BY h.to_status
                 UNION ALL
                 SELECT v.status, count(*) FILTER (WHERE v.submitted_at IS NULL AND (SELECT has_overview FROM viewer)),
                        count(*), 0
                 FROM visible_request v
                 WHERE v.organization_id = $1 AND v.viewer_id = $2 AND v.applicant_id = $2
                   AND v.status IN ('approved', 'rejected', 'withdrawn')
                 GROUP BY v.status
                 UNION ALL
                 SELECT v.status, count(*), 0, 0
                 FROM visible_request v
                 WHERE v.organization_id = $1 AND v.viewer_id = $2
                   AND v.id IN (SELECT h.request_id FROM approval_history h
                                WHERE h.organization_id = $1 AND h.actor_id = $2)
                   AND v.status IN ('approved', 'rejected', 'withdrawn') AND NOT (SELECT has_overview FROM viewer)
                 GROUP BY v.status
               )
               SELECT status AS "status!", sum(seen)::bigint AS "seen!", sum(mine)::bigint AS "mine!",
                      sum(inbox)::bigint AS "inbox!"
               FROM counted GROUP BY status"#,
            viewer.organization_id.0,
            viewer.user_id.0,
        ).fetch_all(connection));
        let of = |status: Status| rows.iter().find(|row| row.status == status.as_str());
        Ok(Counts {
            mine: Status::ALL.iter().map(|s| (*s, of(*s).map_or(0, |row| row.mine))).collect(),
            inbox: rows.iter().map(|row| row.inbox).sum(),
            all: Status::ALL.iter().map(|s| (*s, of(*s).map_or(0, |row| row.seen))).collect(),
        })
    }

    async fn history(
        &self,
        viewer: Viewer,
        id: RequestId,
        after: Version,
        limit: u16,
    ) -> Result<HistoryPage, StoreError> {
        let rows = reading!(self, connection => query!(
            "SELECT h.version, h.actor_id, h.actor_name, h.action, h.from_status, h.to_status, h.reason,
                    h.content_hash, h.occurred_at
             FROM visible_request v
             JOIN approval_history h ON h.organization_id = v.organization_id AND h.request_id = v.id
             WHERE v.organization_id = $1 AND v.viewer_id = $2 AND v.id = $3 AND h.version > $4
             ORDER BY h.version
             LIMIT $5",
            viewer.organization_id.0,
            viewer.user_id.0,
            id.0,
            after,
            i64::from(limit) + 1,
        ).fetch_all(connection));
        let entries = rows
            .into_iter()
            .map(|row| {
                Ok(RequestEntry {
                    organization_id: viewer.organization_id,
                    request_id: id,
                    version: row.version,
                    actor_id: UserId(row.actor_id),
                    actor_name: row.actor_name,
                    action: Action::parse(&row.action).ok_or_else(|| corrupt("action"))?,
                    from_status: match row.from_status {
                        Some(status) => Some(Status::parse(&status).ok_or_else(|| corrupt("from_status"))?),
                        None => None,
                    },
                    to_status: Status::parse(&row.to_status).ok_or_else(|| corrupt("to_status"))?,
                    reason: row.reason,
                    content_hash: Hash::from_bytes(&row.content_hash).ok_or_else(|| corrupt("content_hash"))?,
                    occurred_at: row.occurred_at,
                })
            })
            .collect::<Result<Vec<_>, StoreError>>()?;
        Ok(Page::cut(entries, usize::from(limit), |entry| entry.version))
    }

    async fn standing(&self, of: Viewer, id: RequestId) -> Result<Option<Standing>, StoreError> {
        let row = reading!(self, connection => query!(
            r#"SELECT display_name, is_active, can_approve, is_admin, version, created_at,
                      EXISTS (SELECT FROM approval_history h
                              WHERE h.organization_id = m.organization_id AND h.actor_id = m.user_id
                                AND h.request_id = $3) AS "has_acted!"
               FROM organization_member m WHERE organization_id = $1 AND user_id = $2"#,
            of.organization_id.0,
            of.user_id.0,
            id.0,
        ).fetch_optional(connection));
        Ok(row.map(|row| Standing {
            member: Member {
                organization_id: of.organization_id,
                user_id: of.user_id,
                display_name: row.display_name,
                is_active: row.is_active,
                can_approve: row.can_approve,
                is_admin: row.is_admin,
                version: row.version,
                created_at: row.created_at,
            },
            has_acted: row.has_acted,
        }))
    }

    async fn version(
        &self,
        viewer: Viewer,
        id: RequestId,
        version: Version,
    ) -> Result<Option<VersionView>, StoreError> {
        // The content as it stood: that of the last version, up to this one, that wrote a content.
        let row = reading!(self, connection => query!(
            "SELECT c.title, c.description, c.amount, c.currency, c.content_hash, h.actor_id, h.actor_name, h.occurred_at
             FROM visible_request v
             JOIN approval_history h ON h.organization_id = v.organization_id AND h.request_id = v.id
             JOIN approval_version c ON c.organization_id = v.organization_id AND c.request_id = v.id
             WHERE v.organization_id = $1 AND v.viewer_id = $2 AND v.id = $3 AND h.version = $4 AND c.version <= $4
             ORDER BY c.version DESC
             LIMIT 1",
            viewer.organization_id.0,
            viewer.user_id.0,
            id.0,
            version,
        ).fetch_optional(connection));
        row.map(|row| {
            Ok(VersionView {
                version,
                content: Content {
                    title: row.title,
                    description: row.description,
                    amount: row.amount,
                    currency: row.currency,
                },
                content_hash: Hash::from_bytes(&row.content_hash).ok_or_else(|| corrupt("content_hash"))?,
                actor_id: UserId(row.actor_id),
                actor_name: row.actor_name,
                created_at: row.occurred_at,
            })
        })
        .transpose()
    }
}

/// A pattern that finds `text` literally: `%`, `_` and the escape itself are characters.
fn contains_pattern(text: &str) -> String {
    let mut pattern = String::with_capacity(text.len() + 2);
    pattern.push('%');
    for c in text.chars() {
        if matches!(c, '%' | '_' | '\\') {
            pattern.push('\\');
        }
        pattern.push(c);
    }
    pattern.push('%');
    pattern
}
