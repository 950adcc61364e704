//! The rows of the table that one person can walk into alone: who may do what, and what a refusal leaves behind.

use crate::at_once::{names_the_winner, rows_of};
use crate::harness::{Answer, App, id_of, version_of};
use reqwest::Method;
use serde_json::json;
use uuid::Uuid;

#[tokio::test(flavor = "multi_thread")]
async fn an_applicant_saves_a_draft() {
    let app = App::start().await;
    let applicant = app.applicant().await;
    let draft = applicant.create("first").await;
    let saved = applicant.edit(&draft, "second").await.expect_status(200).body;
    assert_eq!((&saved["title"], version_of(&saved)), (&json!("second"), 2));
    assert_eq!(rows_of(&app, &draft).await, (2, 2));
    app.check_invariants().await;
    app.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn another_member_reads_that_draft() {
    let app = App::start().await;
    let (applicant, approver) = (app.applicant().await, app.approver().await);
    let draft = applicant.create("not yet").await;
    for other in [&approver, &app.admin] {
        other.get(&draft).await.expect_problem(404, "not_found");
        other.read(&format!("requests/{}/history", id_of(&draft))).await.expect_problem(404, "not_found");
        other.read(&format!("requests/{}/versions/1", id_of(&draft))).await.expect_problem(404, "not_found");
        assert_eq!(other.read("requests").await.expect_status(200).body["items"], json!([]));
        other.approve(&draft).await.expect_problem(404, "not_found");
    }
    app.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn an_approver_approves_his_own_request() {
    let app = App::start().await;
    let ben = app.approver().await;
    let (draft, pending) = (ben.create("my draft").await, ben.submitted("my own").await);
    let before = app.everything().await;
    for (action, reason) in [("approve", None), ("reject", Some("no")), ("send-back", Some("hm"))] {
        ben.act(&pending, action, reason).await.expect_problem(403, "self_approval_forbidden");
        let told = ben.act(&draft, action, reason).await.expect_problem(409, "invalid_transition");
        names_the_winner(&told, &ben, "create", "draft", 1);
    }
    assert_eq!(app.everything().await, before, "no history row, nothing at all");
    app.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn an_id_of_another_organization_on_every_verb() {
    let app = App::start().await;
    let (applicant, approver) = (app.applicant().await, app.approver().await);
    let pending = applicant.submitted("ours").await;
    let elsewhere = Uuid::new_v4();
    app.create_organization(elsewhere, approver.id).await;
    let stranger = approver.in_organization(elsewhere);
    let before = app.everything().await;

    let content = json!({"version": 2, "title": "t", "description": "", "amount": null, "currency": null});
    let plain = json!({"version": 2});
    let reason = json!({"version": 2, "reason": "because"});
    for (method, path, body) in [
        (Method::GET, "", None),
        (Method::GET, "/history", None),
        (Method::GET, "/versions/1", None),
        (Method::PUT, "", Some(&content)),
        (Method::POST, "/submit", Some(&plain)),
        (Method::POST, "/approve", Some(&reason)),
        (Method::POST, "/reject", Some(&reason)),
        (Method::POST, "/send-back", Some(&reason)),
        (Method::POST, "/withdraw", Some(&plain)),
    ] {
        let ask = async |id: Uuid| {
            let call = stranger.request(method.clone(), &format!("requests/{id}{path}")).header("X-Request-Id", "same");
            let call = if let Some(body) = body { call.json(body) } else { call };
            Answer::of(call).await.expect_problem(404, "not_found")
        };
        let (theirs, nobodys) = (ask(id_of(&pending)).await, ask(Uuid::new_v4()).await);
        assert_eq!(theirs.text, nobodys.text, "{method} {path}");
        // But for the time, and for a list that each thread of the server writes in an order of its own.
        let comparable = |answer: &Answer| {
            let mut headers = answer.headers.clone();
            headers.remove("date");
            headers.remove("access-control-expose-headers");
            headers
        };
        assert_eq!(comparable(&theirs), comparable(&nobodys), "{method} {path}");
    }
    assert_eq!(app.everything().await, before);
    app.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn an_old_version() {
    let app = App::start().await;
    let (applicant, approver) = (app.applicant().await, app.approver().await);
    let draft = applicant.create("as it was").await;
    let pending = applicant.act(&draft, "submit", None).await.expect_status(200).body;
    let returned = approver.act(&pending, "send-back", Some("why?")).await.expect_status(200).body;
    let before = app.everything().await;
    for stale in [&draft, &pending, &json!({"id": draft["id"], "version": 4, "description": ""})] {
        let told = applicant.edit(stale, "too late").await.expect_problem(409, "request_changed");
        names_the_winner(&told, &approver, "send_back", "returned", 3);
        applicant.act(stale, "submit", None).await.expect_problem(409, "request_changed");
        applicant.act(stale, "withdraw", None).await.expect_problem(409, "request_changed");
        // The version comes before status, right and input.
        approver.act(stale, "reject", None).await.expect_problem(409, "request_changed");
    }
    assert_eq!(app.everything().await, before, "content and history unchanged");
    assert_eq!(version_of(&returned), 3);
    app.stop().await;
}
