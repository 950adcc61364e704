//! The life of a request, from draft to decision, and its history.

use crate::harness::{App, version_of};
use serde_json::json;

#[tokio::test(flavor = "multi_thread")]
async fn a_request_lives_from_draft_to_decision_and_the_history_tells_it() {
    let app = App::start().await;
    let (applicant, approver) = (app.applicant().await, app.approver().await);

    let draft = applicant.create("出張費").await;
    assert_eq!((&draft["status"], version_of(&draft)), (&json!("draft"), 1));
    assert_eq!(draft["allowed_actions"], json!(["edit", "submit", "withdraw"]));
    approver.get(&draft).await.expect_problem(404, "not_found");

    let edited = applicant.edit(&draft, "出張費 (大阪)").await.expect_status(200).body;
    let pending = applicant.act(&edited, "submit", None).await.expect_status(200).body;
    assert_eq!(pending["waiting_for"]["count"], 1);
    assert_eq!(pending["waiting_for"]["members"][0]["display_name"], "Ben Approver");

    let seen = approver.get(&pending).await.expect_status(200).body;
    assert_eq!(seen["allowed_actions"], json!(["approve", "reject", "send_back"]));
    let returned = approver.act(&seen, "send-back", Some("Which hotel?")).await.expect_status(200).body;
    assert_eq!((&returned["status"], &returned["decision_reason"]), (&json!("returned"), &json!("Which hotel?")));

    let again = applicant.act(&returned, "submit", None).await.expect_status(200).body;
    assert_eq!(again["decision_reason"], json!(null), "a submit clears the last decision's reason");
    let approved = approver.approve(&again).await.expect_status(200).body;
    assert_eq!((&approved["status"], version_of(&approved)), (&json!("approved"), 6));
    assert_eq!(approved, approver.get(&approved).await.body, "the answer is what GET shows");

    let history = applicant.history(&approved).await;
    let told: Vec<_> = history.iter().map(|row| row["action"].as_str().unwrap()).collect();
    assert_eq!(told, ["create", "edit", "submit", "send_back", "submit", "approve"]);
    assert_eq!(history[5]["content_hash"], edited["content_hash"], "the decision names the content that was judged");
    app.check_invariants().await;
    app.stop().await;
}
