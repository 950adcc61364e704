//! Who may see and decide is said twice: in SQL for the reads, in Rust for the writes. Here the two are compared, over
//! every role, every relation to a request, and every way that a request can have come.

use crate::harness::{App, PATIENCE, Person, id_of};
use ringi::approvals::store::{ApprovalSession, ApprovalStore};
use ringi::domain::ids::{OrganizationId, RequestId, UserId};
use ringi::domain::request::{Action, allowed_actions};
use ringi::pg::PgStore;
use ringi::transaction::Session;
use serde_json::{Value, json};
use std::collections::HashMap;
use uuid::Uuid;

/// One request for each way to each status, with and without an act of `actor`.
async fn requests(applicant: &Person, actor: &Person, other: &Person) -> Vec<(&'static str, Uuid)> {
    let mut all = vec![("draft", id_of(&applicant.create("draft").await))];
    let draft = applicant.create("draft").await;
    let draft = applicant.edit(&draft, "edited").await.expect_status(200).body;
    all.push(("edited draft", id_of(&draft)));
    let draft = applicant.create("draft").await;
    all.push(("withdrawn draft", id_of(&applicant.act(&draft, "withdraw", None).await.expect_status(200).body)));
    let pending = applicant.submitted("pending").await;
    all.push(("pending", id_of(&pending)));
    let pending = applicant.submitted("pending").await;
    all.push(("withdrawn", id_of(&applicant.act(&pending, "withdraw", None).await.expect_status(200).body)));
    for by in [actor, other] {
        for (way, action) in [("approved", "approve"), ("rejected", "reject"), ("returned", "send-back")] {
            let pending = applicant.submitted(way).await;
            all.push((way, id_of(&by.act(&pending, action, Some("so")).await.expect_status(200).body)));
        }
        for (way, last) in [("again pending", "submit"), ("returned and withdrawn", "withdraw")] {
            let pending = applicant.submitted(way).await;
            let returned = by.act(&pending, "send-back", Some("so")).await.expect_status(200).body;
            all.push((way, id_of(&applicant.act(&returned, last, None).await.expect_status(200).body)));
        }
    }
    all
}

/// What the view says: which requests are visible, and which of them he could decide.
async fn by_sql(app: &App, viewer: &Person) -> HashMap<Uuid, bool> {
    let sql = "SELECT id, can_decide FROM visible_request WHERE organization_id = $1 AND viewer_id = $2";
    let query = sqlx::query_as(sql).bind(app.organization).bind(viewer.id);
    query.fetch_all(&mut *app.pools.read.lend().await.unwrap()).await.unwrap().into_iter().collect()
}

/// What the domain says of one request: whether he may see it and what he could do.
async fn by_rust(store: &PgStore, viewer: &Person, id: Uuid) -> (bool, Vec<Action>) {
    let mut session = ApprovalStore::open(store).await.unwrap();
    let (organization, user) = (OrganizationId(viewer.organization), UserId(viewer.id));
    let member = session.lock_member(organization, user).await.unwrap().unwrap();
    let request = session.lock_request(&member, RequestId(id)).await.unwrap().unwrap().request;
    let has_acted = session.has_acted(&member, &request).await.unwrap();
    let sees = member.is_active && member.may_see(&request, has_acted);
    let allowed = if sees { allowed_actions(&member, &request) } else { Vec::new() };
    session.rollback().await;
    (sees, allowed)
}

fn ids(page: &Value) -> Vec<Uuid> {
    let mut ids: Vec<_> = page["items"].as_array().unwrap().iter().map(id_of).collect();
    ids.sort();
    ids
}

#[tokio::test(flavor = "multi_thread")]
async fn sql_and_rust_agree_on_who_sees_and_who_decides() {
    let app = App::start().await;
    let [applicant, actor, other, stranger] = [
        app.applicant().await,
        app.member("Ann Actor", true, false).await,
        app.member("Otto Other", true, false).await,
        app.member("Sam Stranger", false, false).await,
    ];
    let requests = requests(&applicant, &actor, &other).await;
    let store = PgStore::new(app.pools.write.clone(), PATIENCE);
    let mut seen_at_all = 0;
    for roles in 0..8 {
        let (active, approves, administers) = (roles & 1 == 0, roles & 2 != 0, roles & 4 != 0);
        for viewer in [&applicant, &actor, &stranger] {
            let rights = json!({"is_active": active, "can_approve": approves, "is_admin": administers});
            app.admin.change_member(viewer.id, rights.clone()).await.expect_status(200);
            let visible = by_sql(&app, viewer).await;
            let mut inbox = Vec::new();
            for (way, id) in &requests {
                let case = format!("{} with {rights}: {way}", viewer.name);
                let (sees, allowed) = by_rust(&store, viewer, *id).await;
                let decides = allowed.contains(&Action::Approve);
                assert_eq!(visible.get(id).copied(), sees.then_some(decides), "{case}");
                // And over HTTP it is the same.
                let answer = viewer.read(&format!("requests/{id}")).await;
                if sees {
                    let allowed: Vec<_> = allowed.iter().map(|action| action.as_str()).collect();
                    assert_eq!(answer.expect_status(200).body["allowed_actions"], json!(allowed), "{case}");
                } else {
                    let (status, code) = if active { (404, "not_found") } else { (403, "not_a_member") };
                    answer.expect_problem(status, code);
                }
                seen_at_all += i32::from(sees);
                if decides {
                    inbox.push(*id);
                }
            }
            if active {
                inbox.sort();
                let page = viewer.read("requests?view=inbox&limit=200").await.expect_status(200).body;
                assert_eq!(ids(&page), inbox);
                let mut all: Vec<_> = visible.keys().copied().collect();
                all.sort();
                let page = viewer.read("requests?limit=200").await.expect_status(200).body;
                assert_eq!(ids(&page), all);
                let counts = viewer.read("requests/counts").await.expect_status(200).body;
                assert_eq!(counts["inbox"]["pending"], inbox.len());
                let counted: i64 = counts["all"].as_object().unwrap().values().map(|n| n.as_i64().unwrap()).sum();
                assert_eq!(usize::try_from(counted).unwrap(), all.len());
            }
        }
    }
    assert!(seen_at_all > 100, "{seen_at_all} of {} cases seen: that compares nothing", 24 * requests.len());
    app.check_invariants().await;
    app.stop().await;
}
