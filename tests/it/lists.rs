//! Who sees what: lists, counts, single requests, histories and versions agree with each other and with the rules.

use crate::harness::{Answer, App, Person, id_of, moment, version_of};
use crate::wire::{refused, without_ids};
use chrono::{Duration, SecondsFormat};
use futures_util::FutureExt;
use percent_encoding::{NON_ALPHANUMERIC, percent_encode};
use reqwest::Method;
use serde_json::{Value, json};
use std::collections::{BTreeMap, BTreeSet};
use uuid::Uuid;

const STATUSES: [&str; 6] = ["draft", "pending", "approved", "rejected", "returned", "withdrawn"];

async fn act(person: &Person, request: &Value, action: &str) -> Value {
    let reason = matches!(action, "reject" | "send-back").then_some("because");
    person.act(request, action, reason).await.expect_status(200).body
}

/// All pages of a list.
async fn walk(person: &Person, query: &str) -> Vec<Value> {
    let (mut items, mut cursor) = (Vec::new(), String::new());
    loop {
        let page = person.read(&format!("requests?{query}{cursor}")).await.expect_status(200).body;
        items.extend(page["items"].as_array().unwrap().clone());
        let Some(next) = page["next_cursor"].as_str() else { return items };
        cursor = format!("&cursor={next}");
    }
}

async fn titles(person: &Person, query: &str) -> Vec<String> {
    walk(person, query).await.iter().map(|item| item["title"].as_str().unwrap().to_owned()).collect()
}

fn ids(requests: &[Value]) -> BTreeSet<Uuid> {
    requests.iter().map(id_of).collect()
}

/// One request in every place of its life, written by `author` and decided by `approver`.
async fn one_of_each(author: &Person, approver: &Person) -> BTreeMap<&'static str, Value> {
    let mut all = BTreeMap::new();
    all.insert("draft", author.create("draft").await);
    let withdrawn = author.create("withdrawn as a draft").await;
    all.insert("withdrawn draft", act(author, &withdrawn, "withdraw").await);
    all.insert("pending", author.submitted("pending").await);
    for (name, action) in [("approved", "approve"), ("rejected", "reject"), ("returned", "send-back")] {
        let pending = author.submitted(name).await;
        all.insert(name, act(approver, &pending, action).await);
    }
    let withdrawn = author.submitted("withdrawn after a submit").await;
    all.insert("withdrawn", act(author, &withdrawn, "withdraw").await);
    let returned = author.submitted("returned, then withdrawn").await;
    let returned = act(approver, &returned, "send-back").await;
    all.insert("withdrawn returned", act(author, &returned, "withdraw").await);
    all
}

#[tokio::test(flavor = "multi_thread")]
async fn everybody_sees_what_is_theirs_to_see_and_the_views_agree() {
    let app = App::start().await;
    let (applicant, approver) = (app.applicant().await, app.approver().await);
    let second = app.member("Chie Approver", true, false).await;
    let plain = app.member("Emi Plain", false, false).await;
    let (of_applicant, of_second) = (one_of_each(&applicant, &approver).await, one_of_each(&second, &approver).await);
    let all = |requests: &BTreeMap<&str, Value>| requests.values().map(id_of).collect::<BTreeSet<_>>();
    let submitted = |requests: &BTreeMap<&str, Value>| {
        let names = requests.iter().filter(|(name, _)| !matches!(**name, "draft" | "withdrawn draft"));
        names.map(|(_, request)| id_of(request)).collect::<BTreeSet<_>>()
    };
    let none = BTreeSet::new();
    let inbox =
        |requests: &[&BTreeMap<&str, Value>]| requests.iter().map(|r| id_of(&r["pending"])).collect::<BTreeSet<_>>();

    for (person, mine, inbox, seen) in [
        (&applicant, all(&of_applicant), none.clone(), all(&of_applicant)),
        (&second, all(&of_second), inbox(&[&of_applicant]), &all(&of_second) | &submitted(&of_applicant)),
        (
            &approver,
            none.clone(),
            inbox(&[&of_applicant, &of_second]),
            &submitted(&of_second) | &submitted(&of_applicant),
        ),
        (&app.admin, none.clone(), none.clone(), &submitted(&of_second) | &submitted(&of_applicant)),
        (&plain, none.clone(), none.clone(), none.clone()),
    ] {
        let name = &person.name;
        assert_eq!(ids(&walk(person, "view=mine&limit=3").await), mine, "mine of {name}");
        assert_eq!(ids(&walk(person, "view=inbox&limit=1").await), inbox, "inbox of {name}");
        let list = walk(person, "view=all&limit=4").await;
        assert_eq!(ids(&list), seen, "all of {name}");
        assert_eq!(list, walk(person, "").await, "`all` is what is meant when nothing is said");

        // The list, the single request and what a POST would accept are one and the same.
        for item in &list {
            assert_eq!(person.get(item).await.expect_status(200).body, *item);
            let decides = item["allowed_actions"].as_array().unwrap().contains(&json!("approve"));
            assert_eq!(decides, inbox.contains(&id_of(item)), "{name}: {item}");
            person.read(&format!("requests/{}/versions/1", id_of(item))).await.expect_status(200);
            assert_eq!(i64::try_from(person.history(item).await.len()).unwrap(), version_of(item));
        }
        for request in of_applicant.values().chain(of_second.values()).filter(|r| !seen.contains(&id_of(r))) {
            is_hidden_from(&app, person, request).await;
        }
        counts_are_those_of_the_lists(person).await;
    }
    app.check_invariants().await;
    app.stop().await;
}

async fn is_hidden_from(app: &App, person: &Person, request: &Value) {
    let path = format!("requests/{}", id_of(request));
    for path in [path.clone(), format!("{path}/history"), format!("{path}/versions/1"), format!("{path}/versions/0")] {
        refused(app, &path, person.read(&path), (404, "not_found")).await;
    }
    for action in ["submit", "approve", "withdraw"] {
        refused(app, action, person.act(request, action, None), (404, "not_found")).await;
    }
}

async fn counts_are_those_of_the_lists(person: &Person) {
    let counts = person.read("requests/counts").await.expect_status(200).body;
    let members: Vec<_> = counts.as_object().unwrap().keys().collect();
    assert_eq!(members, ["all", "inbox", "mine"]);
    for view in ["mine", "inbox", "all"] {
        for status in STATUSES {
            let listed = walk(person, &format!("view={view}&status={status}&limit=2")).await;
            assert!(listed.iter().all(|item| item["status"] == status));
            let counted = &counts[view][status];
            if view == "inbox" && status != "pending" {
                assert_eq!((listed.len(), counted), (0, &Value::Null), "the inbox holds nothing but pending ones");
            } else {
                assert_eq!(counted, listed.len(), "{view} {status} of {}", person.name);
            }
        }
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn who_lost_the_right_sees_only_what_he_has_acted_on() {
    let app = App::start().await;
    let (applicant, approver) = (app.applicant().await, app.approver().await);
    let acted = applicant.submitted("acted on").await;
    let acted = act(&approver, &acted, "send-back").await;
    let acted = applicant.act(&acted, "submit", None).await.expect_status(200).body;
    let untouched = applicant.submitted("untouched").await;
    assert_eq!(titles(&approver, "view=inbox").await, ["untouched", "acted on"]);

    app.admin.change_member(approver.id, json!({"can_approve": false})).await.expect_status(200);
    assert_eq!(titles(&approver, "view=all").await, ["acted on"]);
    assert_eq!(titles(&approver, "view=inbox").await, Vec::<String>::new());
    counts_are_those_of_the_lists(&approver).await;
    assert_eq!(approver.get(&acted).await.expect_status(200).body["allowed_actions"], json!([]));
    refused(&app, "acted on", approver.approve(&acted), (403, "forbidden")).await;
    is_hidden_from(&app, &approver, &untouched).await;

    // What the others are told of who could decide follows.
    assert_eq!(applicant.get(&untouched).await.body["waiting_for"], json!({"count": 0, "members": []}));
    app.admin.change_member(approver.id, json!({"can_approve": true})).await.expect_status(200);
    let waiting = json!({"count": 1, "members": [{"user_id": approver.id, "display_name": approver.name}]});
    assert_eq!(applicant.get(&untouched).await.body["waiting_for"], waiting);
    assert_eq!(titles(&approver, "view=inbox").await, ["untouched", "acted on"]);
    app.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn q_is_looked_for_to_the_letter_but_not_to_the_case() {
    let app = App::start().await;
    let applicant = app.applicant().await;
    for (title, description) in [
        ("100% cotton", ""),
        ("1000 cottons", ""),
        ("snake_case", ""),
        ("snakeXcase", ""),
        (r"C:\temp", ""),
        ("C:temp", "ÄRGER"),
        ("出張費 (大阪)", "新幹線で行く"),
        ("plain", "The Description"),
        ("'; DROP TABLE approval_request; --", ""),
    ] {
        let body = json!({"title": title, "description": description});
        applicant.post("requests", body).await.expect_status(201);
    }
    for (q, found) in [
        ("100%", &["100% cotton"][..]),
        ("%", &["100% cotton"]),
        ("%%", &[]),
        ("_", &["'; DROP TABLE approval_request; --", "snake_case"]),
        ("E_C", &["snake_case"]),
        ("\\", &[r"C:\temp"]),
        (r"\t", &[r"C:\temp"]),
        (r"\%", &[]),
        ("COTTON", &["1000 cottons", "100% cotton"]),
        ("the desc", &["plain"]),
        ("ärger", &["C:temp"]),
        ("張", &["出張費 (大阪)"]),
        ("出張", &["出張費 (大阪)"]),
        ("新幹線", &["出張費 (大阪)"]),
        ("'", &["'; DROP TABLE approval_request; --"]),
        ("nothing like this", &[]),
        (" ", &["'; DROP TABLE approval_request; --", "plain", "出張費 (大阪)", "1000 cottons", "100% cotton"]),
    ] {
        let answer = applicant.read(&format!("requests?q={}", percent_encode(q.as_bytes(), NON_ALPHANUMERIC))).await;
        let answer = answer.expect_status(200).body;
        let titles: Vec<_> = answer["items"].as_array().unwrap().iter().map(|i| i["title"].as_str().unwrap()).collect();
        assert_eq!(titles, found, "{q}");
    }
    assert_eq!(titles(&applicant, "q=the+desc").await, ["plain"], "a plus is a space, as forms write it");
    assert_eq!(titles(&applicant, "q=%EF%BC%85").await, Vec::<String>::new());

    // Only the present content is searched, and only where one may look.
    let plain = walk(&applicant, "q=plain").await.remove(0);
    applicant.edit(&plain, "fancy").await.expect_status(200);
    assert_eq!(titles(&applicant, "q=plain").await, Vec::<String>::new());
    assert_eq!(titles(&applicant, "q=fancy").await, ["fancy"]);
    assert_eq!(titles(&app.approver().await, "q=cotton").await, Vec::<String>::new());
    app.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn filters_narrow_and_combine() {
    let app = App::start().await;
    let (applicant, approver) = (app.applicant().await, app.approver().await);
    let other = app.member("Bunta Applicant", false, false).await;
    let first = applicant.submitted("first").await;
    let second = other.submitted("second").await;
    let third = act(&approver, &applicant.submitted("third").await, "approve").await;

    let of = |person: &Person| format!("applicant_id={}", person.id);
    assert_eq!(titles(&approver, &of(&applicant)).await, ["third", "first"]);
    assert_eq!(titles(&approver, &of(&other)).await, ["second"]);
    assert_eq!(titles(&other, &of(&applicant)).await, Vec::<String>::new());
    assert_eq!(titles(&approver, &format!("applicant_id={}", Uuid::new_v4())).await, Vec::<String>::new());
    assert_eq!(titles(&approver, &format!("view=inbox&{}", of(&applicant))).await, ["first"]);
    assert_eq!(titles(&approver, &format!("status=approved&q=IR&{}", of(&applicant))).await, ["third"]);
    assert_eq!(titles(&approver, "status=pending&view=all&q=s").await, ["second", "first"]);

    for seen in [&first, &second, &third] {
        let at = moment(&seen["updated_at"]);
        let since = |at: chrono::DateTime<chrono::Utc>| {
            format!("updated_since={}", at.to_rfc3339_opts(SecondsFormat::Micros, true))
        };
        let title = seen["title"].as_str().unwrap().to_owned();
        assert!(titles(&approver, &since(at)).await.contains(&title), "the instant itself is included");
        assert!(!titles(&approver, &since(at + Duration::microseconds(1))).await.contains(&title));
    }
    let since = third["updated_at"].as_str().unwrap();
    assert_eq!(titles(&approver, &format!("updated_since={since}")).await, ["third"]);
    app.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_walk_meets_every_row_once_whatever_is_written_meanwhile() {
    let app = App::start().await;
    let (applicant, approver) = (app.applicant().await, app.approver().await);
    let mut there = Vec::new();
    for n in 0..14 {
        there.push(applicant.submitted(&format!("row {n}")).await);
    }
    let (stop, stopped) = tokio::sync::oneshot::channel::<()>();
    let meanwhile = {
        let applicant = applicant.clone();
        tokio::spawn(async move {
            let mut stopped = std::pin::pin!(stopped);
            let mut made = 0;
            loop {
                let draft = applicant.create("meanwhile").await;
                applicant.act(&draft, "withdraw", None).await.expect_status(200);
                made += 1;
                if stopped.as_mut().now_or_never().is_some() {
                    return made;
                }
            }
        })
    };
    let mut met = Vec::new();
    let mut cursor = String::new();
    // Rows that were met, rows that are about to be met, and new ones are written between any two pages.
    let mut decided = [13, 0, 12, 1, 11, 2, 10, 3].into_iter();
    loop {
        let page = approver.read(&format!("requests?limit=3{cursor}")).await.expect_status(200).body;
        let items = page["items"].as_array().unwrap();
        assert!(items.len() <= 3);
        met.extend(items.iter().map(|item| (id_of(item), moment(&item["created_at"]))));
        for n in decided.by_ref().take(2) {
            act(&approver, &there[n], ["approve", "reject", "send-back"][n % 3]).await;
            applicant.submitted("new").await;
        }
        let Some(next) = page["next_cursor"].as_str() else { break };
        cursor = format!("&cursor={next}");
    }
    stop.send(()).unwrap();
    assert!(meanwhile.await.unwrap() > 0);
    let once: BTreeSet<_> = met.iter().map(|(id, _)| *id).collect();
    assert_eq!(once.len(), met.len(), "a row was met twice");
    assert!(ids(&there).is_subset(&once), "a row was lost");
    assert!(met.iter().rev().is_sorted_by_key(|(id, at)| (*at, *id)), "newest first");
    app.check_invariants().await;
    app.stop().await;
}

/// created, edited, submitted, sent back, edited, submitted, approved
async fn long_life(app: &App) -> (Person, Person, Value) {
    let (applicant, approver) = (app.applicant().await, app.approver().await);
    let request = applicant.create("first words").await;
    let request = applicant.edit(&request, "second words").await.expect_status(200).body;
    let request = act(&applicant, &request, "submit").await;
    let request = act(&approver, &request, "send-back").await;
    let request = applicant.edit(&request, "third words").await.expect_status(200).body;
    let request = act(&applicant, &request, "submit").await;
    app.admin.change_member(approver.id, json!({"display_name": "Ben Renamed"})).await.expect_status(200);
    let request = act(&approver, &request, "approve").await;
    (applicant, approver, request)
}

#[tokio::test(flavor = "multi_thread")]
async fn the_history_comes_in_pages_oldest_first() {
    let app = App::start().await;
    let (applicant, approver, request) = long_life(&app).await;
    let path = format!("requests/{}/history", id_of(&request));
    let whole = applicant.history(&request).await;
    let told: Vec<_> =
        whole.iter().map(|row| (row["version"].as_i64().unwrap(), row["action"].as_str().unwrap())).collect();
    let expected = ["create", "edit", "submit", "send_back", "edit", "submit", "approve"];
    assert_eq!(told, (1..).zip(expected).collect::<Vec<_>>());
    for limit in [1, 2, 3, 6, 7, 8] {
        let (mut rows, mut cursor) = (Vec::new(), String::new());
        loop {
            let page = approver.read(&format!("{path}?limit={limit}{cursor}")).await.expect_status(200).body;
            rows.extend(page["items"].as_array().unwrap().clone());
            let Some(next) = page["next_cursor"].as_str() else { break };
            cursor = format!("&cursor={next}");
        }
        assert_eq!(rows, whole, "in pages of {limit}");
    }
    let row = &whole[3];
    let members: Vec<_> = row.as_object().unwrap().keys().map(String::as_str).collect();
    assert_eq!(
        members,
        [
            "action",
            "actor_id",
            "actor_name",
            "content_hash",
            "from_status",
            "occurred_at",
            "reason",
            "request_id",
            "to_status",
            "version"
        ]
    );
    assert_eq!(
        (&row["from_status"], &row["to_status"], &row["reason"]),
        (&json!("pending"), &json!("returned"), &json!("because"))
    );
    assert_eq!(
        (&row["actor_name"], &whole[6]["actor_name"]),
        (&json!("Ben Approver"), &json!("Ben Renamed")),
        "as of then"
    );
    assert_eq!(whole[0]["from_status"], Value::Null);

    // A cursor is this history's and no other's.
    let first = applicant.read(&format!("{path}?limit=1")).await.body;
    let other = applicant.create("other").await;
    let foreign = format!("requests/{}/history?cursor={}", id_of(&other), first["next_cursor"].as_str().unwrap());
    refused(&app, "foreign cursor", applicant.read(&foreign), (400, "invalid_query")).await;
    app.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn every_version_tells_the_content_as_it_stood() {
    let app = App::start().await;
    let (applicant, approver, request) = long_life(&app).await;
    let path = format!("requests/{}/versions", id_of(&request));
    let history = applicant.history(&request).await;
    let words = ["first", "second", "second", "second", "third", "third", "third"];
    for (row, words) in history.iter().zip(words) {
        let version = row["version"].as_i64().unwrap();
        let told = approver.read(&format!("{path}/{version}")).await.expect_status(200).body;
        let expected = json!({
            "version": version, "title": format!("{words} words"), "description": "why", "amount": 12_000, "currency": "JPY",
            "content_hash": row["content_hash"], "actor_id": row["actor_id"], "actor_name": row["actor_name"],
            "created_at": row["occurred_at"],
        });
        assert_eq!(told, expected);
    }
    let hashes: BTreeSet<_> = history.iter().map(|row| row["content_hash"].as_str().unwrap()).collect();
    assert_eq!(hashes.len(), 3);
    for beyond in ["0", "8", "9223372036854775807", "9223372036854775808", "99999999999999999999999999"] {
        refused(&app, beyond, applicant.read(&format!("{path}/{beyond}")), (404, "not_found")).await;
    }
    app.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn an_id_of_another_organization_is_as_unknown_as_a_random_one() {
    let app = App::start().await;
    let (approver, elsewhere) = (app.member("Ben Approver", true, true).await, Uuid::new_v4());
    let theirs_admin = app.outsider().in_organization(elsewhere);
    app.create_organization(elsewhere, theirs_admin.id).await;
    let theirs = theirs_admin.submitted("theirs").await;
    // Even to somebody who decides there.
    let body = json!({"user_id": approver.id, "display_name": "Ben", "is_active": true, "can_approve": true, "is_admin": true});
    theirs_admin.post("members", body).await.expect_status(201);
    approver.in_organization(elsewhere).get(&theirs).await.expect_status(200);

    let content = json!({"version": 2, "title": "x", "description": "", "amount": null, "currency": null});
    let member = json!({"display_name": "X", "is_active": true, "can_approve": true, "is_admin": true, "version": 1});
    let decision = json!({"version": 2, "reason": "because"});
    let version = json!({"version": 2});
    for (method, kind, rest, body) in [
        (Method::GET, "requests", "", Value::Null),
        (Method::HEAD, "requests", "", Value::Null),
        (Method::PUT, "requests", "", content),
        (Method::POST, "requests", "/submit", version.clone()),
        (Method::POST, "requests", "/approve", decision.clone()),
        (Method::POST, "requests", "/reject", decision.clone()),
        (Method::POST, "requests", "/send-back", decision.clone()),
        (Method::POST, "requests", "/withdraw", version),
        (Method::GET, "requests", "/history", Value::Null),
        (Method::GET, "requests", "/versions/1", Value::Null),
        (Method::GET, "members", "", Value::Null),
        (Method::PUT, "members", "", member),
    ] {
        let real = if kind == "requests" { id_of(&theirs) } else { theirs_admin.id };
        let mut told = Vec::new();
        for id in [real, Uuid::new_v4()] {
            let request = approver.request(method.clone(), &format!("{kind}/{id}{rest}"));
            let request = if body.is_null() { request } else { request.json(&body) };
            let before = app.everything().await;
            let answer = Answer::of(request).await.expect_status(404);
            assert_eq!(app.everything().await, before);
            let mut headers: Vec<_> = answer.headers.iter().map(|(name, value)| format!("{name}: {value:?}")).collect();
            headers.retain(|header| !header.starts_with("date:") && !header.starts_with("x-request-id:"));
            headers.sort();
            told.push((without_ids(&answer, &[id.to_string()]), headers));
        }
        assert_eq!(told[0], told[1], "{method} {kind}{rest}");
    }
    // Nor do lists, counts or filters tell of them.
    assert_eq!(titles(&approver, &format!("applicant_id={}", theirs_admin.id)).await, Vec::<String>::new());
    assert_eq!(approver.read("requests/counts").await.body["all"]["pending"], 0);
    let names = approver.read("members").await.body;
    assert!(!names.to_string().contains(&theirs_admin.id.to_string()));
    app.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn members_are_listed_in_pages_to_administrators() {
    let app = App::start().await;
    let mut added = vec![app.admin.id];
    for n in 0..6 {
        added.push(app.member(&format!("Member {n}"), n % 2 == 0, false).await.id);
    }
    app.admin.change_member(added[2], json!({"is_active": false})).await.expect_status(200);
    for limit in [1, 3, 7, 200] {
        let (mut met, mut cursor) = (Vec::new(), String::new());
        loop {
            let page = app.admin.read(&format!("members?limit={limit}{cursor}")).await.expect_status(200).body;
            met.extend(page["items"].as_array().unwrap().clone());
            let Some(next) = page["next_cursor"].as_str() else { break };
            cursor = format!("&cursor={next}");
        }
        let met_ids: Vec<Uuid> =
            met.iter().map(|member| member["user_id"].as_str().unwrap().parse().unwrap()).collect();
        assert_eq!(met_ids, added, "in pages of {limit}, deactivated ones included");
        for member in &met {
            assert_eq!(app.admin.member(member["user_id"].as_str().unwrap().parse().unwrap()).await, *member);
        }
    }
    let approver = app.approver().await;
    refused(&app, "no administrator", approver.read("members"), (403, "forbidden")).await;
    refused(&app, "himself", approver.read(&format!("members/{}", approver.id)), (403, "forbidden")).await;
    app.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn me_tells_who_one_is_everywhere() {
    let app = App::start().await;
    let approver = app.approver().await;
    let elsewhere = Uuid::new_v4();
    app.create_organization(elsewhere, approver.id).await;
    let me = approver.read("/api/v1/me").await.expect_status(200).body;
    assert_eq!(me["user_id"], json!(approver.id));
    let memberships: BTreeMap<_, _> =
        me["memberships"].as_array().unwrap().iter().map(|m| (m["organization_id"].as_str().unwrap(), m)).collect();
    let here = json!({"organization_id": app.organization, "organization_name": "Test", "time_zone": "Asia/Tokyo",
                      "display_name": "Ben Approver", "is_active": true, "can_approve": true, "is_admin": false});
    assert_eq!(memberships.len(), 2);
    assert_eq!(memberships[app.organization.to_string().as_str()], &here);
    assert_eq!(memberships[elsewhere.to_string().as_str()]["is_admin"], true);
    app.stop().await;
}
