//! An organization with more requests than are looked at one by one: its lists, counts and searches are the same as those
//! of a small one.

use crate::harness::{App, Person, id_of};
use serde_json::{Value, json};
use std::collections::BTreeSet;
use uuid::Uuid;

/// More than `FEW` of `pg/reads.rs`, of each kind.
const MANY: usize = 1_100;

async fn page(person: &Person, query: &str) -> Vec<Value> {
    let answer = person.read(&format!("requests?{query}")).await.expect_status(200).body;
    answer["items"].as_array().unwrap().clone()
}

async fn titles(person: &Person, query: &str) -> Vec<String> {
    page(person, query).await.iter().map(|item| item["title"].as_str().unwrap().to_owned()).collect()
}

/// All of them, page by page.
async fn walk(person: &Person, query: &str) -> BTreeSet<Uuid> {
    let (mut ids, mut cursor) = (BTreeSet::new(), String::new());
    loop {
        let answer = person.read(&format!("requests?limit=200&{query}{cursor}")).await.expect_status(200).body;
        for item in answer["items"].as_array().unwrap() {
            assert!(ids.insert(id_of(item)), "{query}: twice {item}");
        }
        let Some(next) = answer["next_cursor"].as_str() else { return ids };
        cursor = format!("&cursor={next}");
    }
}

async fn counts(person: &Person) -> Value {
    person.read("requests/counts").await.expect_status(200).body
}

#[tokio::test(flavor = "multi_thread")]
async fn lists_counts_and_searches_of_many_are_whole() {
    let app = App::start().await;
    let (applicant, approver) = (app.applicant().await, app.approver().await);
    let decided = include_str!("bulk_history.sql")
        .replace("{organization}", &app.organization.to_string())
        .replace("{applicant}", &applicant.id.to_string())
        .replace("{approver}", &approver.id.to_string())
        .replace("{requests}", &MANY.to_string());
    app.execute(&decided).await;
    // As many that are still pending, later than all of those.
    app.execute(
        "INSERT INTO approval_request (organization_id, id, applicant_id, title, description, status, version,
           content_version, content_hash, created_at, updated_at, submitted_at, last_action, last_actor_id, last_actor_name,
           chain_hash)
         SELECT organization_id, gen_random_uuid(), applicant_id, replace(title, 'Bulk', 'Open'), '稀少 why', 'pending', 2, 1,
           content_hash, created_at + interval '1 day', updated_at + interval '1 day', submitted_at, 'submit', applicant_id,
           'Aiko Applicant', chain_hash
         FROM approval_request;
         INSERT INTO approval_version (organization_id, request_id, version, title, description, content_hash)
         SELECT organization_id, id, 1, title, description, content_hash FROM approval_request WHERE status = 'pending';
         INSERT INTO approval_history SELECT r.organization_id, r.id, v, r.applicant_id, 'Aiko Applicant',
           CASE v WHEN 1 THEN 'create' ELSE 'submit' END, CASE v WHEN 2 THEN 'draft' END,
           CASE v WHEN 1 THEN 'draft' ELSE 'pending' END, NULL, content_hash, updated_at, 1, chain_hash
         FROM approval_request r, generate_series(1, 2) v WHERE r.status = 'pending'; ANALYZE;"
    )
    .await;

    // The applicant has no overview, and wrote more than are looked at one by one; the approver sees all.
    for person in [&applicant, &approver] {
        assert_eq!(titles(person, "limit=2").await, ["Open 1100", "Open 1099"]);
        assert_eq!(walk(person, "view=all").await.len(), 2 * MANY);
        assert_eq!(walk(person, "status=approved").await.len(), MANY);
        for (text, first, all) in [
            ("open", "Open 1100", MANY),
            ("bulk", "Bulk 1100", MANY),
            ("w", "Open 1100", 2 * MANY),
            ("bulk%20100", "Bulk 1009", 11),
            ("110", "Open 1100", 4),
            ("%E7%A8%80%E5%B0%91", "Open 1100", MANY),
            ("%E7%A8%80", "Open 1100", MANY),
        ] {
            assert_eq!(titles(person, &format!("q={text}&limit=1")).await, [first], "{text}");
            assert_eq!(walk(person, &format!("q={text}")).await.len(), all, "{text}");
        }
        assert_eq!(titles(person, "q=%E7%A8%80bulk").await, Vec::<String>::new());
    }
    let inbox = walk(&approver, "view=inbox").await;
    assert_eq!(inbox.len(), MANY);
    let own = counts(&applicant).await;
    assert_eq!(
        own["mine"],
        json!({"draft": 0, "pending": MANY, "approved": MANY, "rejected": 0, "returned": 0, "withdrawn": 0})
    );
    assert_eq!(own["all"], own["mine"]);
    assert_eq!(own["inbox"], json!({"pending": 0}));
    let seen = counts(&approver).await;
    assert_eq!(seen["all"], own["all"]);
    assert_eq!(seen["inbox"], json!({"pending": MANY}));
    assert_eq!(seen["mine"]["approved"], 0);

    // Until few are left: a decision takes its request from the inbox, and from nowhere else.
    let newest = page(&approver, "view=inbox&limit=1").await.remove(0);
    app.execute(
        "DELETE FROM open_request o USING approval_request r
         WHERE r.id = o.request_id AND r.title <> 'Open 1100' AND r.title <> 'Open 1099'",
    )
    .await;
    assert_eq!(titles(&approver, "view=inbox").await, ["Open 1100", "Open 1099"]);
    let rejected = json!({"version": 2, "reason": "No."});
    approver.post(&format!("requests/{}/reject", id_of(&newest)), rejected).await.expect_status(200);
    assert_eq!(titles(&approver, "view=inbox").await, ["Open 1099"]);
    let seen = counts(&approver).await;
    assert_eq!((&seen["all"]["rejected"], &seen["all"]["approved"]), (&json!(1), &json!(MANY)));
    app.stop().await;
}
