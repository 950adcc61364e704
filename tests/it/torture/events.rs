//! Events in the log, from which programs and people are told of them: all of them, once each, in order.

use super::audit::Broken;
use sqlx::{AssertSqlSafe, PgConnection};
use std::time::{Duration, Instant};

pub(super) const LOGGED: &str = "every event is in the log, once, and in the order of its subject";

const PATIENCE: Duration = Duration::from_mins(1);

/// Waits until some relay has moved everything into the log.
pub(super) async fn finish(db: &mut PgConnection) {
    let since = Instant::now();
    loop {
        let left: i64 = sqlx::query_scalar("SELECT count(*) FROM outbox_event").fetch_one(&mut *db).await.unwrap();
        if left == 0 {
            return;
        }
        assert!(since.elapsed() < PATIENCE, "{left} events are not in the log");
        tokio::time::sleep(Duration::from_millis(50)).await;
    }
}

pub(super) async fn check(db: &mut PgConnection) -> Vec<Broken> {
    let mut broken = Vec::new();
    for sql in [
        "SELECT subject_kind || ' ' || subject_id || ' ' || seq FROM outbox_event",
        // Nothing is old enough to be cleaned away.
        "SELECT organization_id || ' at ' || position FROM (
           SELECT organization_id, position, row_number() OVER (PARTITION BY organization_id ORDER BY position) AS place
           FROM event_log) e
         WHERE position <> place",
        "SELECT subject_id || ' at ' || position FROM (
           SELECT subject_id, seq, position,
                  row_number() OVER (PARTITION BY organization_id, subject_kind, subject_id ORDER BY position) AS place
           FROM event_log WHERE subject_kind = 'request') e
         WHERE seq <> place",
        "SELECT r.id::text FROM approval_request r
         LEFT JOIN event_log e ON (e.organization_id, e.subject_kind, e.subject_id) = (r.organization_id, 'request', r.id::text)
         GROUP BY r.organization_id, r.id
         HAVING count(e.seq) <> r.version",
    ] {
        let found: Vec<String> = sqlx::query_scalar(AssertSqlSafe(sql)).fetch_all(&mut *db).await.unwrap();
        broken.extend(found.into_iter().map(|what| Broken::new(LOGGED, what)));
    }
    broken
}
