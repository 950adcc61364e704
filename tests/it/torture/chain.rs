//! The hash chains, computed again from what SQL says, by what is written about their format and nothing else:
//! SHA-256 over the hash before it and the entry as JSON with sorted keys (RFC 8785).

use super::audit::Broken;
use serde_json::{Value, json};
use sha2::{Digest, Sha256};
use sqlx::PgConnection;
use std::collections::HashMap;

/// Subject, number, all columns of the entry, its hash, and the head of the chain if this is the last entry.
type Row = (String, i64, Value, Vec<u8>, Option<Vec<u8>>);

/// A content of a request, with its hash.
type Content = (String, i64, String, String, Option<i64>, Option<String>, Vec<u8>);

const REQUESTS: &str = r#"
    SELECT h.request_id::text, h.version,
           jsonb_build_object(
             'hash_format', h.hash_format, 'organization_id', h.organization_id, 'request_id', h.request_id,
             'version', h.version, 'actor_id', h.actor_id, 'actor_name', h.actor_name, 'action', h.action,
             'from_status', h.from_status, 'to_status', h.to_status, 'reason', h.reason,
             'content_hash', encode(h.content_hash, 'hex'),
             'occurred_at', to_char(h.occurred_at AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"')),
           h.entry_hash,
           CASE WHEN r.version = h.version THEN r.chain_hash END
    FROM approval_history h JOIN approval_request r
      ON (r.organization_id, r.id) = (h.organization_id, h.request_id)
    ORDER BY 1, 2"#;

const SUBJECTS: &str = r#"
    SELECT h.kind || '/' || h.subject_id, h.seq,
           jsonb_build_object(
             'hash_format', h.hash_format, 'organization_id', h.organization_id, 'kind', h.kind,
             'subject_id', h.subject_id, 'seq', h.seq, 'actor_id', h.actor_id, 'actor_name', h.actor_name,
             'action', h.action, 'reason', h.reason, 'detail', h.detail,
             'occurred_at', to_char(h.occurred_at AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"')),
           h.entry_hash,
           CASE WHEN d.seq = h.seq THEN d.chain_hash END
    FROM organization_history h JOIN history_head d
      ON (d.organization_id, d.kind, d.subject_id) = (h.organization_id, h.kind, h.subject_id)
    ORDER BY 1, 2"#;

const CONTENTS: &str = "
    SELECT request_id::text, version, title, description, amount, currency, content_hash FROM approval_version";

/// Every chain from its first entry to its head, and every content's hash.
pub(super) async fn check(rule: &'static str, db: &mut PgConnection) -> Vec<Broken> {
    let mut broken = Vec::new();
    for sql in [REQUESTS, SUBJECTS] {
        let rows: Vec<Row> = sqlx::query_as(sql).fetch_all(&mut *db).await.unwrap();
        let mut before: HashMap<String, (i64, Vec<u8>)> = HashMap::new();
        for (subject, number, entry, hash, head) in rows {
            let (last, previous) = before.get(&subject).cloned().unwrap_or((0, vec![0; 32]));
            let mut sha = Sha256::new();
            sha.update(&previous);
            // serde_json keeps keys sorted.
            sha.update(entry.to_string());
            let computed = sha.finalize().to_vec();
            if number != last + 1 || computed != hash {
                broken.push(Broken::new(rule, format!("{subject} breaks at entry {number} (after {last}): {entry}")));
            }
            if head.is_some_and(|head| head != hash) {
                broken.push(Broken::new(rule, format!("{subject}: the head is not the hash of its last entry")));
            }
            before.insert(subject, (number, hash));
        }
    }
    let rows: Vec<Content> = sqlx::query_as(CONTENTS).fetch_all(&mut *db).await.unwrap();
    for (request, version, title, description, amount, currency, hash) in rows {
        let content = json!({"title": title, "description": description, "amount": amount, "currency": currency});
        if Sha256::digest(content.to_string()).to_vec() != hash {
            broken.push(Broken::new(rule, format!("{request}: the content of version {version} has another hash")));
        }
    }
    broken
}
