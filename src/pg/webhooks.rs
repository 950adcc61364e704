//! The statements of webhooks' administration, and the reads of endpoints and of their logs.

use super::error::{corrupt, within};
use super::reads::{PgReads, reading};
use super::session::{PgSession, PgStore};
use crate::domain::history::{ChainHead, Kind};
use crate::domain::ids::{EndpointId, OrganizationId};
use crate::domain::member::Member;
use crate::domain::webhook::{Delivery, DeliveryResult, Endpoint, EndpointState, Progress, SealedSecrets, Stream};
use crate::members::store::MemberReads as _;
use crate::transaction::idempotency::Kept;
use crate::transaction::{Guarded, Locked, StoreError, Viewer};
use crate::webhooks::store::{
    EndpointEntry, EndpointPlace, LoggedDelivery, WebhookReads, WebhookSession, WebhookStore,
};
use sqlx::query;
use std::time::{Duration, Instant};

/// Builds an [`Endpoint`] from a row with its columns.
macro_rules! endpoint {
    ($organization:expr, $row:expr) => {
        Endpoint {
            organization_id: $organization,
            id: EndpointId($row.id),
            url: $row.url,
            event_types: $row.event_types,
            state: EndpointState::parse(&$row.state).ok_or_else(|| corrupt("webhook_endpoint.state"))?,
            secrets: SealedSecrets { current: $row.secret, old: $row.old_secret.zip($row.old_secret_until) },
            version: $row.version,
            created_at: $row.created_at,
            updated_at: $row.updated_at,
            progress: Progress {
                position: $row.position,
                attempts: $row.attempts,
                failures: $row.failures,
                failing_since: $row.failing_since,
                next_attempt_at: $row.next_attempt_at,
                last_attempt_at: $row.last_attempt_at,
                last_status: $row.last_status.and_then(|status| u16::try_from(status).ok()),
                last_error: $row.last_error,
            },
        }
    };
}

/// A status as the database keeps it.
pub(super) fn stored_status(status: Option<u16>) -> Option<i16> {
    status.and_then(|status| i16::try_from(status).ok())
}

pub(super) use endpoint;

impl WebhookStore for PgStore {
    type Session = PgSession;

    async fn open(&self) -> Result<PgSession, StoreError> {
        self.begin().await
    }
}

impl WebhookSession for PgSession {
    async fn lock_organization(&mut self, organization: OrganizationId) -> Result<(), StoreError> {
        self.take_organization(organization).await
    }

    async fn share_actor(&mut self, viewer: Viewer) -> Result<Option<Locked<Member>>, StoreError> {
        self.share_member(viewer.organization_id, viewer.user_id).await
    }

    async fn count_endpoints(&mut self, organization: OrganizationId) -> Result<(i64, Stream), StoreError> {
        let row = within(
            self.answer_limit,
            query!(
                r#"SELECT (SELECT count(*) FROM webhook_endpoint WHERE organization_id = $1) AS "existing!",
                          coalesce((SELECT trimmed FROM event_stream WHERE organization_id = $1), 0) AS "trimmed!",
                          coalesce((SELECT last_position FROM event_stream WHERE organization_id = $1), 0) AS "last!""#,
                organization.0,
            )
            .fetch_one(self.connection()?),
        )
        .await;
        let row = self.note(row)?;
        Ok((row.existing, Stream { trimmed: row.trimmed, last: row.last }))
    }

    async fn lock_endpoint(
        &mut self,
        organization: OrganizationId,
        id: EndpointId,
    ) -> Result<(Option<Locked<Endpoint>>, Stream), StoreError> {
        let asked = Instant::now();
        let row = within(
            self.answer_limit,
            query!(
                r#"WITH locked AS MATERIALIZED (
                     SELECT id, url, event_types, state, secret, old_secret, old_secret_until, version, created_at,
                            updated_at, position, attempts, failures, failing_since, next_attempt_at, last_attempt_at,
                            last_status, last_error
                     FROM webhook_endpoint WHERE organization_id = $1 AND id = $2
                     FOR UPDATE
                   )
                   SELECT locked.*, clock_timestamp() AS "at!" FROM locked"#,
                organization.0,
                id.0,
            )
            .fetch_optional(self.connection()?),
        )
        .await;
        let Some(row) = self.note_lock("webhook", asked, row)? else { return Ok((None, Stream::default())) };
        let at = row.at;
        let endpoint = endpoint!(organization, row);
        let (_, stream) = self.count_endpoints(organization).await?;
        Ok((Some(Locked::taken(endpoint, at)), stream))
    }

    async fn lock_endpoint_chain(
        &mut self,
        organization: OrganizationId,
        id: EndpointId,
    ) -> Result<ChainHead, StoreError> {
        self.lock_head(organization, Kind::Webhook, &id.to_string()).await
    }

    async fn insert_endpoint(&mut self, endpoint: &Endpoint) -> Result<(), StoreError> {
        let done = within(
            self.answer_limit,
            query!(
                "INSERT INTO webhook_endpoint
                   (organization_id, id, url, event_types, state, secret, version, created_at, updated_at, position)
                 VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $8, $9)",
                endpoint.organization_id.0,
                endpoint.id.0,
                endpoint.url,
                &endpoint.event_types,
                endpoint.state.as_str(),
                endpoint.secrets.current,
                endpoint.version,
                endpoint.created_at,
                endpoint.progress.position,
            )
            .execute(self.connection()?),
        )
        .await;
        self.note(done)?;
        Ok(())
    }

    async fn update_endpoint(&mut self, before: &Locked<Endpoint>, after: &Endpoint) -> Result<Guarded, StoreError> {
        self.write_endpoint(before, after).await
    }

    async fn delete_endpoint(&mut self, endpoint: &Locked<Endpoint>) -> Result<(), StoreError> {
        let done = within(
            self.answer_limit,
            query!(
                "DELETE FROM webhook_endpoint WHERE organization_id = $1 AND id = $2",
                endpoint.organization_id.0,
                endpoint.id.0,
            )
            .execute(self.connection()?),
        )
        .await;
        self.note(done)?;
        Ok(())
    }

    async fn append_endpoint(&mut self, entry: &EndpointEntry, kept: Option<Kept<'_>>) -> Result<(), StoreError> {
        self.append(&entry.entry, entry.entry_hash, Some(&entry.event), kept).await
    }
}

impl PgSession {
    /// An endpoint as it will stand, guarded by its version.
    pub(super) async fn write_endpoint(
        &mut self,
        before: &Locked<Endpoint>,
        after: &Endpoint,
    ) -> Result<Guarded, StoreError> {
        let progress = &after.progress;
        let (old, until) = after.secrets.old.clone().unzip();
        let done = within(
            self.answer_limit,
            query!(
                "UPDATE webhook_endpoint
                 SET url = $4, event_types = $5, state = $6, secret = $7, old_secret = $8, old_secret_until = $9,
                     version = $10, updated_at = $11, position = $12, attempts = $13, failures = $14,
                     failing_since = $15, next_attempt_at = $16, last_attempt_at = $17, last_status = $18,
                     last_error = $19
                 WHERE organization_id = $1 AND id = $2 AND version = $3",
                after.organization_id.0,
                after.id.0,
                before.version,
                after.url,
                &after.event_types,
                after.state.as_str(),
                after.secrets.current,
                old,
                until,
                after.version,
                after.updated_at,
                progress.position,
                progress.attempts,
                progress.failures,
                progress.failing_since,
                progress.next_attempt_at,
                progress.last_attempt_at,
                stored_status(progress.last_status),
                progress.last_error,
            )
            .execute(self.connection()?),
        )
        .await;
        Ok(if self.note(done)?.rows_affected() == 1 { Guarded::Applied } else { Guarded::Stale })
    }
}

impl WebhookReads for PgReads {
    async fn administrator(&self, viewer: Viewer) -> Result<Option<Member>, StoreError> {
        self.membership(viewer).await
    }

    async fn endpoints(
        &self,
        viewer: Viewer,
        id: Option<EndpointId>,
        after: Option<EndpointPlace>,
        limit: i64,
    ) -> Result<Vec<(Endpoint, Stream)>, StoreError> {
        let rows = reading!(self, connection => query!(
            r#"SELECT e.id, e.url, e.event_types, e.state, e.secret, e.old_secret, e.old_secret_until, e.version,
                      e.created_at, e.updated_at, e.position, e.attempts, e.failures, e.failing_since,
                      e.next_attempt_at, e.last_attempt_at, e.last_status, e.last_error,
                      coalesce(s.trimmed, 0) AS "trimmed!", coalesce(s.last_position, 0) AS "last!"
               FROM organization_member me
               JOIN webhook_endpoint e ON e.organization_id = me.organization_id
               LEFT JOIN event_stream s ON s.organization_id = me.organization_id
               WHERE me.organization_id = $1 AND me.user_id = $2 AND me.is_active AND me.is_admin
                 AND ($3::uuid IS NULL OR e.id = $3)
                 AND ($4::timestamptz IS NULL OR (e.created_at, e.id) > ($4, $5::uuid))
               ORDER BY e.created_at, e.id
               LIMIT $6"#,
            viewer.organization_id.0,
            viewer.user_id.0,
            id.map(|id| id.0),
            after.map(|place| place.0),
            after.map(|place| place.1),
            limit,
        ).fetch_all(connection));
        rows.into_iter()
            .map(|row| {
                let stream = Stream { trimmed: row.trimmed, last: row.last };
                Ok((endpoint!(viewer.organization_id, row), stream))
            })
            .collect()
    }

    async fn deliveries(
        &self,
        viewer: Viewer,
        id: EndpointId,
        before: Option<i64>,
        limit: i64,
    ) -> Result<Vec<LoggedDelivery>, StoreError> {
        let rows = reading!(self, connection => query!(
            "SELECT d.number, d.position, d.event_id, d.event_type, d.result, d.status, d.duration_ms, d.answer, d.error,
                    d.attempted_at
             FROM organization_member me JOIN webhook_delivery d ON d.organization_id = me.organization_id
             WHERE me.organization_id = $1 AND me.user_id = $2 AND me.is_active AND me.is_admin
               AND d.endpoint_id = $3 AND ($4::bigint IS NULL OR d.number < $4)
             ORDER BY d.number DESC
             LIMIT $5",
            viewer.organization_id.0,
            viewer.user_id.0,
            id.0,
            before,
            limit,
        ).fetch_all(connection));
        rows.into_iter()
            .map(|row| {
                let delivery = Delivery {
                    position: row.position,
                    event_id: row.event_id,
                    event_type: row.event_type,
                    result: DeliveryResult::parse(&row.result).ok_or_else(|| corrupt("webhook_delivery.result"))?,
                    status: row.status.and_then(|status| u16::try_from(status).ok()),
                    took: Duration::from_millis(u64::try_from(row.duration_ms).unwrap_or_default()),
                    answer: row.answer,
                    error: row.error,
                    attempted_at: row.attempted_at,
                    not_before: None,
                };
                Ok(LoggedDelivery { number: row.number, delivery })
            })
            .collect()
    }
}
