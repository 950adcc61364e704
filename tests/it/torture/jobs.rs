//! What follows the approvals: one result for each, saved by who held it last.

use super::audit::Broken;
use super::people::World;
use super::record::Who;
use reqwest::Method;
use serde_json::json;
use sqlx::{AssertSqlSafe, PgConnection};
use std::time::{Duration, Instant};
use uuid::Uuid;

pub(super) const ONE_RESULT: &str = "one result for each job";
pub(super) const FENCE: &str = "no save under an old fence";

const PATIENCE: Duration = Duration::from_mins(1);

/// Waits until everything that was approved is done. What killed three processes in a row was parked: somebody looks at it,
/// and starts it again.
pub(super) async fn finish(world: &World, people: &[Who], db: &mut PgConnection) {
    let since = Instant::now();
    loop {
        let open: Vec<(Uuid, String, Uuid)> = sqlx::query_as(
            "SELECT j.request_id, j.state, r.applicant_id FROM job j JOIN approval_request r
               ON (r.organization_id, r.id) = (j.organization_id, j.request_id)
             WHERE j.state <> 'succeeded'",
        )
        .fetch_all(&mut *db)
        .await
        .unwrap();
        if open.is_empty() {
            return;
        }
        for (request, _, applicant) in open.iter().filter(|(_, state, _)| state == "failed") {
            let who = people.iter().find(|who| who.id == *applicant).unwrap();
            let path = format!("requests/{request}/processing");
            drop(world.ask(who, Method::POST, &path, Some((&Uuid::new_v4().to_string(), &json!({})))).await);
        }
        assert!(since.elapsed() < PATIENCE, "not done: {open:?}");
        tokio::time::sleep(Duration::from_millis(50)).await;
    }
}

pub(super) async fn check(db: &mut PgConnection) -> Vec<Broken> {
    let mut broken = Vec::new();
    for (rule, sql) in [
        (
            ONE_RESULT,
            "SELECT r.id::text FROM approval_request r LEFT JOIN job j ON (j.organization_id, j.request_id) = (r.organization_id, r.id)
             WHERE (r.status = 'approved') <> (j.request_id IS NOT NULL) AND EXISTS (SELECT FROM job)",
        ),
        (
            ONE_RESULT,
            "SELECT j.request_id::text FROM job j
             LEFT JOIN job_result o ON (o.organization_id, o.request_id) = (j.organization_id, j.request_id)
             WHERE (j.state = 'succeeded') <> (o.request_id IS NOT NULL)
                OR (j.state = 'succeeded') <>
                   (1 = (SELECT count(*) FROM organization_history h
                         WHERE (h.organization_id, h.kind, h.subject_id) = (j.organization_id, 'job', j.request_id::text)
                           AND h.action = 'succeed'))",
        ),
        (
            FENCE,
            "SELECT o.request_id::text || ': ' || o.lease_fence || ', ' || (o.data ->> 'fence') || ' of ' || max(a.fence)
             FROM job_result o JOIN job_attempt a USING (organization_id, request_id)
             GROUP BY o.organization_id, o.request_id
             HAVING o.lease_fence <> max(a.fence) OR (o.data ->> 'fence')::bigint <> o.lease_fence",
        ),
    ] {
        let found: Vec<String> = sqlx::query_scalar(AssertSqlSafe(sql)).fetch_all(&mut *db).await.unwrap();
        broken.extend(found.into_iter().map(|what| Broken::new(rule, what)));
    }
    broken
}
