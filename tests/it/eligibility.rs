//! What `allowed_actions` and the eligibility call say is what a POST does: over every status, every kind of member
//! and every action.

use crate::harness::{Answer, App, Person, id_of, version_of};
use serde_json::{Value, json};

const STATUSES: [&str; 7] = ["draft", "pending", "approved", "rejected", "returned", "withdrawn", "withdrawn draft"];
const ACTIONS: [&str; 6] = ["edit", "submit", "approve", "reject", "send_back", "withdraw"];

/// A request of `applicant` that stands where the name says.
async fn standing(applicant: &Person, approver: &Person, status: &str) -> Value {
    let draft = applicant.create(status).await;
    let withdraw =
        |request: Value| async move { applicant.act(&request, "withdraw", None).await.expect_status(200).body };
    match status {
        "draft" => return draft,
        "withdrawn draft" => return withdraw(draft).await,
        _ => {}
    }
    let pending = applicant.act(&draft, "submit", None).await.expect_status(200).body;
    match status {
        "pending" => pending,
        "withdrawn" => withdraw(pending).await,
        "approved" => approver.approve(&pending).await.expect_status(200).body,
        "rejected" => approver.act(&pending, "reject", Some("no")).await.expect_status(200).body,
        _ => approver.act(&pending, "send-back", Some("more")).await.expect_status(200).body,
    }
}

async fn try_action(person: &Person, request: &Value, action: &str) -> Answer {
    match action {
        "edit" => person.edit(request, "another title").await,
        "reject" | "send_back" => person.act(request, &action.replace('_', "-"), Some("because")).await,
        _ => person.act(request, action, None).await,
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn an_action_is_said_to_be_possible_exactly_when_a_post_succeeds() {
    let app = App::start().await;
    let approver = app.approver().await;
    let applicant = app.member("Applicant who approves", true, false).await;
    let plain = app.member("Plain", false, false).await;
    let admin = app.member("Admin", false, true).await;
    let second = app.member("Second approver", true, false).await;
    let mut tried = (0, 0);
    for status in STATUSES {
        for person in [&applicant, &second, &plain, &admin] {
            for action in ACTIONS {
                let request = standing(&applicant, &approver, status).await;
                let path = format!("requests/{}/eligibility", id_of(&request));
                let told = person.read(&path).await;
                let shown = person.get(&request).await;
                assert_eq!(told.status, shown.status, "who sees the request may ask, and nobody else");
                let done = try_action(person, &request, action).await;
                let what = format!("{} tries {action} on {status}: {} {}", person.name, told.text, done.text);
                if told.status != 200 {
                    done.expect_problem(404, "not_found");
                    continue;
                }
                let actions = told.body["actions"].as_array().unwrap();
                let entry = actions.iter().find(|entry| entry["action"] == action).unwrap();
                let allowed = shown.body["allowed_actions"].as_array().unwrap().contains(&json!(action));
                assert_eq!(entry["possible"], done.status.is_success(), "{what}");
                assert_eq!(allowed, done.status.is_success(), "{what}");
                if done.status.is_success() {
                    tried.0 += 1;
                    assert_eq!((&entry["code"], &entry["detail"]), (&json!(null), &json!(null)), "{what}");
                } else {
                    tried.1 += 1;
                    assert_eq!(
                        (&entry["code"], &entry["detail"]),
                        (&done.body["code"], &done.body["detail"]),
                        "{what}"
                    );
                }
            }
        }
    }
    assert!(tried.0 >= 10 && tried.1 >= 80, "the table was walked: {tried:?}");
    app.check_invariants().await;
    app.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn an_administrator_asks_for_anybody_and_others_only_for_themselves() {
    let app = App::start().await;
    let (applicant, approver, gone) = (app.applicant().await, app.approver().await, app.applicant().await);
    app.admin.change_member(gone.id, json!({"is_active": false})).await.expect_status(200);
    let pending = applicant.submitted("Chairs").await;
    let path = |of: &Person| format!("requests/{}/eligibility?user_id={}", id_of(&pending), of.id);

    let told = app.admin.read(&path(&approver)).await.expect_status(200).body;
    assert_eq!(told["user_id"], json!(approver.id));
    assert_eq!((told["version"].as_i64(), &told["status"]), (Some(version_of(&pending)), &json!("pending")));
    assert_eq!(told["actions"][2], json!({"action": "approve", "possible": true, "code": null, "detail": null}));

    let told = app.admin.read(&path(&gone)).await.expect_status(200).body;
    assert!(told["actions"].as_array().unwrap().iter().all(|entry| entry["code"] == "not_a_member"));
    let own = app.admin.read(&path(&applicant)).await.expect_status(200).body;
    assert_eq!(own["actions"][2]["code"], "self_approval_forbidden");

    applicant.read(&path(&applicant)).await.expect_status(200);
    applicant.read(&path(&approver)).await.expect_problem(403, "forbidden");
    app.admin.read(&path(&app.outsider())).await.expect_problem(404, "not_found");
    gone.read(&path(&gone)).await.expect_problem(403, "not_a_member");
    applicant
        .read(&format!("requests/{}/eligibility?user=x", id_of(&pending)))
        .await
        .expect_problem(400, "invalid_query");
    app.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn nobody_decides_on_what_he_wrote_whatever_rights_he_gets_later() {
    let app = App::start().await;
    let applicant = app.applicant().await;
    let pending = applicant.submitted("Chairs").await;
    applicant.approve(&pending).await.expect_problem(403, "self_approval_forbidden");
    app.admin.change_member(applicant.id, json!({"can_approve": true, "is_admin": true})).await.expect_status(200);
    for action in ["approve", "reject", "send-back"] {
        applicant.act(&pending, action, Some("mine")).await.expect_problem(403, "self_approval_forbidden");
    }
    assert_eq!(app.status(&pending).await, ("pending".to_owned(), 2));
    app.check_invariants().await;
    app.stop().await;
}
