//! People and their rights: the calls of member administration, what they refuse, and the trail that they leave.

use crate::at_once::changed;
use crate::harness::{Answer, App, EVENTS, Person, id_of, version_of};
use reqwest::Method;
use ringi::domain::history::{Hash, SubjectEntry};
use ringi::domain::ids::{OrganizationId, UserId};
use serde_json::{Value, json};
use sqlx::Row;
use uuid::Uuid;

fn newcomer(id: Uuid, name: &str) -> Value {
    json!({"user_id": id, "display_name": name, "is_active": true, "can_approve": false, "is_admin": false})
}

#[tokio::test(flavor = "multi_thread")]
async fn an_administrator_adds_and_changes_a_member() {
    let app = App::start().await;
    let id = Uuid::new_v4();
    let added = app.admin.post("members", newcomer(id, "Nao New")).await.expect_status(201);
    let path = format!("/api/v1/organizations/{}/members/{id}", app.organization);
    assert_eq!(added.header("location"), path);
    let mut expected = newcomer(id, "Nao New");
    expected["version"] = json!(1);
    assert_eq!(added.body, expected);
    let seen = app.admin.read(&path).await.expect_status(200);
    assert_eq!((&seen.body, seen.header("etag")), (&added.body, added.header("etag")));

    let new = app.admin.change_member(id, json!({"display_name": "Nao Known", "can_approve": true})).await;
    let new = new.expect_status(200).body;
    assert_eq!((&new["display_name"], &new["can_approve"], version_of(&new)), (&json!("Nao Known"), &json!(true), 2));
    assert_eq!(app.admin.member(id).await, new);
    app.check_invariants().await;
    app.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn the_list_comes_in_pages_and_names_everybody_once() {
    let app = App::start().await;
    let mut everybody = vec![json!(app.admin.id)];
    for n in 0..5 {
        everybody.push(json!(app.member(&format!("Member {n}"), false, false).await.id));
    }
    let (mut walked, mut path) = (Vec::new(), "members?limit=2".to_owned());
    loop {
        let page = app.admin.read(&path).await.expect_status(200).body;
        let items = page["items"].as_array().unwrap();
        assert!(items.len() <= 2);
        walked.extend(items.iter().map(|member| member["user_id"].clone()));
        // Whoever comes or changes meanwhile does not disturb the walk.
        if walked.len() == 2 {
            app.admin.change_member(app.admin.id, json!({"display_name": "Zoe Renamed"})).await.expect_status(200);
            everybody.push(json!(app.member("Came Meanwhile", false, false).await.id));
        }
        let Some(cursor) = page["next_cursor"].as_str() else { break };
        path = format!("members?limit=2&cursor={cursor}");
    }
    assert_eq!(walked, everybody);
    app.admin.read("members?limit=0").await.expect_problem(400, "invalid_query");
    app.admin.read("members?cursor=nonsense").await.expect_problem(400, "invalid_query");
    app.admin.read("members?is_active=true").await.expect_problem(400, "invalid_query");
    app.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn what_is_refused_leaves_everything_as_it_was() {
    let app = App::start().await;
    let (ben, nobody) = (app.approver().await, Uuid::new_v4());
    let path = format!("members/{}", ben.id);
    let right = changed(&app.admin, ben.id, json!({"display_name": "Ben Again"})).await;
    app.admin.put(&path, right.clone()).await.expect_status(200);
    let before = app.everything().await;

    let known = app.admin.post("members", newcomer(ben.id, "Ben Twice")).await;
    known.expect_problem(409, "already_a_member");
    // Whose version is old is shown how it stands.
    let told = app.admin.put(&path, right.clone()).await.expect_problem(409, "member_changed");
    assert_eq!(told.body["current"], app.admin.member(ben.id).await);
    let now = changed(&app.admin, ben.id, json!({})).await;
    app.admin.put(&format!("members/{nobody}"), now.clone()).await.expect_problem(404, "not_found");
    app.admin.read(&format!("members/{nobody}")).await.expect_problem(404, "not_found");

    let with = |field: &str, value: Value| {
        let mut body = now.clone();
        body[field] = value;
        body
    };
    for (field, value, code) in [
        ("display_name", json!(""), "validation_failed"),
        ("display_name", json!("\u{200b}"), "validation_failed"),
        ("display_name", json!("two\nlines"), "validation_failed"),
        ("display_name", json!("x".repeat(201)), "validation_failed"),
        ("is_admin", json!("yes"), "validation_failed"),
        ("is_owner", json!(true), "unknown_field"),
        ("version", Value::Null, "version_required"),
    ] {
        app.admin.put(&path, with(field, value)).await.expect_problem(422, code);
    }
    // The version comes before the input.
    let mut both = with("display_name", json!(""));
    both["version"] = json!(1);
    app.admin.put(&path, both).await.expect_problem(409, "member_changed");
    assert_eq!(app.everything().await, before);
    app.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn only_administrators_manage_members() {
    let app = App::start().await;
    let ben = app.approver().await;
    let body = changed(&app.admin, ben.id, json!({"is_admin": true})).await;
    let elsewhere = Uuid::new_v4();
    app.create_organization(elsewhere, ben.id).await;
    let before = app.everything().await;
    let path = format!("members/{}", ben.id);
    let other_admin = app.admin.in_organization(elsewhere);
    for (who, code) in [(&ben, "forbidden"), (&app.outsider(), "not_a_member"), (&other_admin, "not_a_member")] {
        who.read("members").await.expect_problem(403, code);
        who.read(&path).await.expect_problem(403, code);
        who.post("members", newcomer(Uuid::new_v4(), "Nao New")).await.expect_problem(403, code);
        who.put(&path, body.clone()).await.expect_problem(403, code);
        // The right comes before whether there is such a person.
        who.read(&format!("members/{}", Uuid::new_v4())).await.expect_problem(403, code);
        who.put(&format!("members/{}", Uuid::new_v4()), body.clone()).await.expect_problem(403, code);
    }
    assert_eq!(app.everything().await, before);
    app.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn the_last_active_administrator_stays_one() {
    let app = App::start().await;
    let second = app.member("Second Admin", false, true).await;
    app.admin.change_member(second.id, json!({"is_active": false})).await.expect_status(200);
    let before = app.everything().await;
    // A deactivated administrator is none.
    for change in
        [json!({"is_admin": false}), json!({"is_active": false}), json!({"is_admin": false, "is_active": false})]
    {
        app.admin.change_member(app.admin.id, change).await.expect_problem(409, "last_admin");
    }
    assert_eq!(app.everything().await, before);
    app.admin.change_member(app.admin.id, json!({"display_name": "Still Here"})).await.expect_status(200);
    app.admin.change_member(second.id, json!({"is_active": true})).await.expect_status(200);
    app.admin.change_member(app.admin.id, json!({"is_admin": false})).await.expect_status(200);
    app.check_invariants().await;
    app.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_deactivated_person_gets_403_everywhere_and_can_come_back() {
    let app = App::start().await;
    let ben = app.member("Ben Both", true, true).await;
    let (draft, pending) = (ben.create("Ben's draft").await, app.admin.submitted("for Ben").await);
    app.admin.change_member(ben.id, json!({"is_active": false})).await.expect_status(200);
    let before = app.everything().await;

    let mine = format!("requests/{}", id_of(&draft));
    let (theirs, member) = (format!("requests/{}", id_of(&pending)), format!("members/{}", app.admin.id));
    let body = changed(&app.admin, app.admin.id, json!({})).await;
    for path in [&mine, &theirs, &format!("{mine}/history"), &format!("{theirs}/versions/1"), &member]
        .map(String::as_str)
        .iter()
        .chain(&["requests", "requests?view=mine", "requests/counts", "members"])
    {
        ben.read(path).await.expect_problem(403, "not_a_member");
    }
    let content = json!({"title": "t", "description": "", "amount": null, "currency": null});
    ben.post("requests", content).await.expect_problem(403, "not_a_member");
    ben.edit(&draft, "still mine").await.expect_problem(403, "not_a_member");
    for action in ["submit", "withdraw", "approve"] {
        ben.act(&draft, action, None).await.expect_problem(403, "not_a_member");
    }
    for action in ["approve", "reject", "send-back"] {
        ben.act(&pending, action, Some("why")).await.expect_problem(403, "not_a_member");
    }
    ben.post("members", newcomer(Uuid::new_v4(), "Nao")).await.expect_problem(403, "not_a_member");
    ben.put(&member, body).await.expect_problem(403, "not_a_member");
    let me = ben.read("/api/v1/me").await.expect_status(200).body;
    assert_eq!(me["memberships"][0]["is_active"], false, "he may know why");
    assert_eq!(app.admin.get(&pending).await.body["waiting_for"]["count"], 0);
    assert_eq!(app.everything().await, before);

    app.admin.change_member(ben.id, json!({"is_active": true})).await.expect_status(200);
    ben.approve(&pending).await.expect_status(200);
    app.check_invariants().await;
    app.stop().await;
}

/// Under a key as well: who was deactivated is not handed an answer that he got before.
#[tokio::test(flavor = "multi_thread")]
async fn a_deactivated_person_gets_no_replay() {
    let app = App::start().await;
    let ben = app.member("Ben Admin", false, true).await;
    let body = newcomer(Uuid::new_v4(), "Nao New");
    let first = ben.post_with_key("once", "members", body.clone()).await.expect_status(201);
    let again = ben.post_with_key("once", "members", body.clone()).await.expect_status(201);
    assert_eq!((again.header("idempotency-replayed"), &again.text), ("true", &first.text));
    app.admin.change_member(ben.id, json!({"is_active": false})).await.expect_status(200);
    ben.post_with_key("once", "members", body).await.expect_problem(403, "not_a_member");
    app.check_invariants().await;
    app.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn an_identical_put_is_no_new_version() {
    let app = App::start().await;
    let ben = app.approver().await;
    let before = app.everything().await;
    let same = app.admin.change_member(ben.id, json!({})).await.expect_status(200);
    assert_eq!(version_of(&same.body), 1);
    assert_eq!(app.everything().await, before);
    // With a key, the answer is kept and nothing else.
    let body = changed(&app.admin, ben.id, json!({})).await;
    let put =
        || app.admin.request(Method::PUT, &format!("members/{}", ben.id)).header("Idempotency-Key", "same").json(&body);
    let first = Answer::of(put()).await.expect_status(200);
    let again = Answer::of(put()).await.expect_status(200);
    assert_eq!((again.header("idempotency-replayed"), &again.text), ("true", &first.text));
    assert_eq!(app.count("SELECT count(*) FROM organization_history WHERE action = 'change'").await, 0);
    app.check_invariants().await;
    app.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn every_change_has_its_history_row_its_event_and_its_place_in_the_chain() {
    let app = App::start().await;
    let ben = app.approver().await;
    for change in [json!({"can_approve": false}), json!({"display_name": "Ben B."}), json!({"is_active": false})] {
        app.admin.change_member(ben.id, change).await.expect_status(200);
    }
    app.admin.change_member(app.admin.id, json!({"display_name": "Dara D."})).await.expect_status(200);

    let of_ben = chain(&app, &ben).await;
    let told: Vec<_> = of_ben.iter().map(|entry| (entry.action, entry.seq)).collect();
    assert_eq!(told, [("add", 1), ("change", 2), ("change", 3), ("change", 4)]);
    assert!(
        of_ben.iter().all(|entry| entry.actor_id == Some(UserId(app.admin.id)) && entry.actor_name == "Dara Admin")
    );
    assert_eq!(of_ben[0].detail["before"], Value::Null);
    assert_eq!(
        (&of_ben[1].detail["before"]["can_approve"], &of_ben[1].detail["after"]["can_approve"]),
        (&json!(true), &json!(false))
    );
    assert_eq!(of_ben[3].detail["after"], {
        let mut now = app.admin.member(ben.id).await;
        now.as_object_mut().unwrap().remove("user_id");
        now
    });
    let of_admin = chain(&app, &app.admin).await;
    assert_eq!((of_admin[0].actor_id, of_admin[0].actor_name.as_str()), (None, "command line"));
    assert_eq!(of_admin[1].actor_name, "Dara Admin", "the name as of then");

    let events = format!(
        "SELECT count(*) FROM {EVENTS} e JOIN organization_history h
           ON (h.organization_id, h.subject_id, h.seq) = (e.organization_id, e.subject_id, e.seq)
         WHERE e.subject_kind = 'member' AND e.event_type = 'member.' || h.action AND e.occurred_at = h.occurred_at
           AND e.payload ->> 'user_id' = h.subject_id"
    );
    assert_eq!(app.count(&events).await, 6, "an event for each row");
    assert_eq!(app.count("SELECT count(*) FROM organization_history").await, 6);
    assert_eq!(
        app.count(&format!("SELECT count(*) FROM {EVENTS} e WHERE payload::text LIKE '%Dara%'")).await,
        0,
        "and no name"
    );
    app.check_invariants().await;
    app.stop().await;
}

/// A member's entries, whose hashes are computed again from the first to the head.
async fn chain(app: &App, of: &Person) -> Vec<SubjectEntry> {
    let mut db = app.database.connect().await;
    let rows = sqlx::query(
        "SELECT seq, actor_id, actor_name, action, reason, detail, occurred_at, hash_format, entry_hash
         FROM organization_history WHERE organization_id = $1 AND kind = 'member' AND subject_id = $2 ORDER BY seq",
    )
    .bind(app.organization)
    .bind(of.id.to_string())
    .fetch_all(&mut db)
    .await
    .unwrap();
    let mut previous = Hash::START;
    let mut entries = Vec::new();
    for row in rows {
        let entry = SubjectEntry {
            organization_id: OrganizationId(app.organization),
            kind: ringi::domain::history::Kind::Member,
            subject_id: of.id.to_string(),
            seq: row.get("seq"),
            actor_id: row.get::<Option<Uuid>, _>("actor_id").map(UserId),
            actor_name: row.get("actor_name"),
            action: if row.get::<String, _>("action") == "add" { "add" } else { "change" },
            reason: row.get("reason"),
            detail: row.get("detail"),
            occurred_at: row.get("occurred_at"),
        };
        previous = entry.hash(previous);
        assert_eq!(row.get::<Vec<u8>, _>("entry_hash"), previous.0, "entry {}", entry.seq);
        assert_eq!(row.get::<i16, _>("hash_format"), ringi::domain::history::HASH_FORMAT);
        entries.push(entry);
    }
    let head = sqlx::query("SELECT seq, chain_hash FROM history_head WHERE organization_id = $1 AND subject_id = $2")
        .bind(app.organization)
        .bind(of.id.to_string())
        .fetch_one(&mut db)
        .await
        .unwrap();
    let (seq, hash): (i64, Vec<u8>) = (head.get(0), head.get(1));
    assert_eq!((usize::try_from(seq).unwrap(), hash), (entries.len(), previous.0.to_vec()), "the head");
    entries
}
