//! Invitations: once, in time, by whoever was given one; and a name that goes.

use crate::harness::{App, Person, version_of};
use crate::wire::refused;
use serde_json::{Value, json};
use uuid::Uuid;

const ACCEPT: &str = "/api/v1/invitations/accept";

fn offer(name: &str) -> Value {
    json!({"display_name": name, "can_approve": true, "is_admin": false})
}

async fn invite(app: &App, name: &str) -> Value {
    app.admin.post("invitations", offer(name)).await.expect_status(201).body
}

fn token(invitation: &Value) -> Value {
    json!({"token": invitation["token"]})
}

async fn subject_actions(app: &App, subject: &str) -> Vec<(String, String)> {
    let page = app.admin.read("history?kind=member&limit=200").await.expect_status(200).body;
    let mut rows = page["items"].as_array().unwrap().clone();
    rows.retain(|row| row["subject_id"] == subject);
    let text = |row: &Value, name: &str| row[name].as_str().unwrap().to_owned();
    let mut found: Vec<_> = rows.iter().map(|row| (text(row, "action"), text(row, "actor_name"))).collect();
    found.sort();
    found
}

#[tokio::test(flavor = "multi_thread")]
async fn who_is_invited_becomes_a_member_once_and_the_history_says_how() {
    let app = App::start().await;
    let invitation = invite(&app, "Emi Invited").await;
    assert_eq!((&invitation["state"], invitation["token"].as_str().unwrap().len()), (&json!("open"), 128));
    assert_eq!(invitation["link"], json!(format!("/invitation#{}", invitation["token"].as_str().unwrap())));

    let emi = app.outsider();
    emi.read("requests").await.expect_problem(403, "not_a_member");
    let joined = emi.post(ACCEPT, token(&invitation)).await.expect_status(201);
    assert_eq!(joined.header("location"), format!("/api/v1/organizations/{}/members/{}", app.organization, emi.id));
    assert_eq!(
        joined.body,
        json!({"user_id": emi.id, "display_name": "Emi Invited", "is_active": true, "can_approve": true,
               "is_admin": false, "version": 1})
    );
    emi.read("requests").await.expect_status(200);

    // Used by somebody else, it is used; by the same person, he is a member already.
    let late = app.outsider();
    refused(&app, "used", late.post(ACCEPT, token(&invitation)), (409, "invitation_not_open")).await;
    refused(&app, "twice", emi.post(ACCEPT, token(&invitation)), (409, "already_a_member")).await;

    let listed = app.admin.read("invitations").await.expect_status(200).body;
    let row = &listed["items"][0];
    assert_eq!((&row["state"], &row["accepted_by"], &row["token"]), (&json!("accepted"), &json!(emi.id), &json!(null)));
    assert_eq!(*row, app.admin.read(&format!("invitations/{}", row["id"].as_str().unwrap())).await.body);

    let own = subject_actions(&app, &emi.id.to_string()).await;
    assert_eq!(own, [("add".to_owned(), "Emi Invited".to_owned())]);
    let of_invitation = subject_actions(&app, invitation["id"].as_str().unwrap()).await;
    assert_eq!(
        of_invitation,
        [("accept_invitation".to_owned(), "Emi Invited".to_owned()), ("invite".to_owned(), "Dara Admin".to_owned())]
    );
    let whole = app.admin.read("history/verify").await.expect_status(200).body;
    assert_eq!(whole["whole"], json!(true), "{whole}");
    app.check_invariants().await;
    app.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_secret_is_shown_once_and_stored_nowhere() {
    let app = App::start().await;
    let first = app.admin.post_with_key("once", "invitations", offer("Emi")).await.expect_status(201);
    let again = app.admin.post_with_key("once", "invitations", offer("Emi")).await.expect_status(201);
    assert_eq!(again.header("idempotency-replayed"), "true");
    assert_eq!((&again.body["token"], &again.body["link"]), (&json!(null), &json!(null)));
    assert_eq!(again.body["id"], first.body["id"]);
    let secret = &first.body["token"].as_str().unwrap()[64..];
    assert!(!app.everything().await.contains(secret));
    assert_eq!(app.count("SELECT count(*) FROM invitation").await, 1);
    app.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn an_invitation_that_is_late_revoked_or_made_up_lets_nobody_in() {
    let app = App::start().await;
    let (late, revoked, open) = (invite(&app, "Late").await, invite(&app, "Revoked").await, invite(&app, "Open").await);
    // The clock is the database's: the row is made to have ended, as the superuser, whom the guard does not stop then.
    app.execute(&format!(
        "ALTER TABLE invitation DISABLE TRIGGER invitation_guard;
         UPDATE invitation SET created_at = created_at - interval '8 days', expires_at = expires_at - interval '8 days'
         WHERE id = '{}';
         ALTER TABLE invitation ENABLE TRIGGER invitation_guard",
        late["id"].as_str().unwrap()
    ))
    .await;
    let path = format!("invitations/{}/revoke", revoked["id"].as_str().unwrap());
    let told = app.admin.post(&path, json!({})).await.expect_status(200).body;
    assert_eq!(told["state"], json!("revoked"));
    refused(&app, "revoked twice", app.admin.post(&path, json!({})), (409, "invitation_not_open")).await;

    let emi = app.outsider();
    for (what, invitation) in [("late", &late), ("revoked", &revoked)] {
        let closed = refused(&app, what, emi.post(ACCEPT, token(invitation)), (409, "invitation_not_open")).await;
        assert!(closed.body["detail"].as_str().unwrap().contains(if what == "late" { "expired" } else { "revoked" }));
    }
    let text = open["token"].as_str().unwrap();
    let wrong_secret = format!("{}{}", &text[..64], "0".repeat(64));
    let elsewhere = format!("{}{}", Uuid::new_v4().simple(), &text[32..]);
    for made_up in ["", "x", &wrong_secret, &elsewhere, &text[1..], &format!("{text}00")] {
        refused(&app, made_up, emi.post(ACCEPT, json!({"token": made_up})), (404, "not_found")).await;
    }
    refused(&app, "no token", emi.post(ACCEPT, json!({})), (422, "validation_failed")).await;
    refused(&app, "more", emi.post(ACCEPT, json!({"token": text, "x": 1})), (422, "unknown_field")).await;

    // A member already, active or not, does not use it up.
    let member = app.applicant().await;
    refused(&app, "member", member.post(ACCEPT, token(&open)), (409, "already_a_member")).await;
    app.admin.change_member(member.id, json!({"is_active": false})).await.expect_status(200);
    refused(&app, "deactivated", member.post(ACCEPT, token(&open)), (409, "already_a_member")).await;
    emi.post(ACCEPT, token(&open)).await.expect_status(201);
    app.check_invariants().await;
    app.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn two_who_accept_at_once_are_one_member() {
    let app = App::start().await;
    let invitation = invite(&app, "Emi").await;
    let held = app.hold(&format!("SELECT FROM organization WHERE id = '{}' FOR UPDATE", app.organization)).await;
    let people: Vec<Person> = (0..4).map(|_| app.outsider()).collect();
    let accepting: Vec<_> = people
        .iter()
        .map(|person| {
            let (person, body) = (person.clone(), token(&invitation));
            tokio::spawn(async move { person.post_with_key("mine", ACCEPT, body).await })
        })
        .collect();
    app.until_waiting(4).await;
    held.release().await;
    let mut statuses = Vec::new();
    for accepted in accepting {
        statuses.push(accepted.await.unwrap().status.as_u16());
    }
    statuses.sort_unstable();
    assert_eq!(statuses, [201, 409, 409, 409]);
    let mut replays = 0;
    for person in &people {
        let again = person.post_with_key("mine", ACCEPT, token(&invitation)).await;
        replays += usize::from(again.status == 201 && again.header("idempotency-replayed") == "true");
    }
    assert_eq!(replays, 1, "the one who came in is told so again under his key");
    assert_eq!(app.count("SELECT count(*) FROM organization_member").await, 2);
    app.check_invariants().await;
    app.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn only_administrators_invite_list_and_revoke() {
    let app = App::start().await;
    let (member, outsider) = (app.applicant().await, app.outsider());
    let invitation = invite(&app, "Emi").await;
    let one = format!("invitations/{}", invitation["id"].as_str().unwrap());
    let revoke = format!("{one}/revoke");
    for (person, status, code) in [(&member, 403, "forbidden"), (&outsider, 403, "not_a_member")] {
        refused(&app, code, person.post("invitations", offer("x")), (status, code)).await;
        refused(&app, code, person.post(&revoke, json!({})), (status, code)).await;
        refused(&app, code, person.read("invitations"), (status, code)).await;
        refused(&app, code, person.read(&one), (status, code)).await;
    }
    refused(&app, "unknown", app.admin.read(&format!("invitations/{}", Uuid::new_v4())), (404, "not_found")).await;
    for (what, body, code) in [
        ("no name", json!({"can_approve": true, "is_admin": false}), "validation_failed"),
        ("blank", json!({"display_name": "\u{200b}", "can_approve": true, "is_admin": false}), "validation_failed"),
        (
            "too long",
            json!({"display_name": "x", "can_approve": true, "is_admin": false, "valid_hours": 721}),
            "validation_failed",
        ),
        (
            "too short",
            json!({"display_name": "x", "can_approve": true, "is_admin": false, "valid_hours": 0}),
            "validation_failed",
        ),
        ("more", json!({"display_name": "x", "can_approve": true, "is_admin": false, "x": 1}), "unknown_field"),
    ] {
        refused(&app, what, app.admin.post("invitations", body), (422, code)).await;
    }
    app.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_name_is_replaced_and_what_was_written_stays() {
    let app = App::start().await;
    let (applicant, approver) = (app.applicant().await, app.approver().await);
    let pending = applicant.submitted("Chairs").await;
    approver.approve(&pending).await.expect_status(200);
    let before = app.admin.member(approver.id).await;
    let path = format!("members/{}/pseudonymize", approver.id);

    refused(&app, "not an administrator", applicant.post(&path, json!({"version": 1})), (403, "forbidden")).await;
    refused(&app, "stale", app.admin.post(&path, json!({"version": 9})), (409, "member_changed")).await;
    let own = format!("members/{}/pseudonymize", app.admin.id);
    refused(&app, "last admin", app.admin.post(&own, json!({"version": 1})), (409, "last_admin")).await;

    let gone = app.admin.post(&path, json!({"version": version_of(&before)})).await.expect_status(200).body;
    let simple = approver.id.simple().to_string();
    assert_eq!(gone["display_name"], json!(format!("Former member {}", &simple[24..])));
    assert_eq!((&gone["is_active"], &gone["can_approve"], &gone["version"]), (&json!(false), &json!(false), &json!(2)));
    approver.read("requests").await.expect_problem(403, "not_a_member");

    let history = applicant.history(&pending).await;
    assert_eq!(history[2]["actor_name"], json!("Ben Approver"), "who decided is said as of then");
    let rows: Vec<String> = {
        let mut db = app.database.connect().await;
        sqlx::query_scalar("SELECT detail::text FROM organization_history WHERE action = 'pseudonymize'")
            .fetch_all(&mut db)
            .await
            .unwrap()
    };
    assert!(rows.len() == 1 && !rows[0].contains("Ben"), "{rows:?}");
    assert_eq!(app.admin.read("history/verify").await.body["whole"], json!(true));
    app.check_invariants().await;
    app.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn what_an_administrator_offered_ends_with_his_own_right_to() {
    let app = App::start().await;
    let boss = app.member("Boss", false, true).await;
    let offer = json!({"display_name": "Back door", "can_approve": true, "is_admin": true, "valid_hours": 720});
    let invitation = boss.post("invitations", offer).await.expect_status(201).body;
    app.admin.change_member(boss.id, json!({"is_active": false})).await.expect_status(200);

    let second = app.outsider();
    let closed =
        refused(&app, "back door", second.post(ACCEPT, token(&invitation)), (409, "invitation_not_open")).await;
    assert!(closed.body["detail"].as_str().unwrap().contains("withdrawn"));
    let listed = app.admin.read("invitations").await.expect_status(200).body;
    assert_eq!(listed["items"][0]["state"], json!("withdrawn"));

    app.admin.change_member(boss.id, json!({"is_active": true})).await.expect_status(200);
    second.post(ACCEPT, token(&invitation)).await.expect_status(201);
    app.stop().await;
}
