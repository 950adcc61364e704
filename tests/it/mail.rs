//! Mail to people: who is told what, in which words, and who is not. The mail server and the reader of the mails are
//! programs of their own: see `post_office`.

use crate::closing::{close, planted};
use crate::harness::{Answer, App, Person, id_of};
use crate::key_server::until;
use crate::outside::{Mood, Outside, until_state};
use crate::post_office::{
    PUBLIC, PostOffice, address, let_digests_go, link, sending_to, subscribed, until_all_sent, until_sorted, wish,
    worker,
};
use reqwest::Method;
use serde_json::{Value, json};
use std::collections::BTreeMap;
use std::time::Duration;
use uuid::Uuid;

/// The subjects of everything that was sent but for confirmations, by receiver, in order.
fn told(office: &PostOffice, people: &[&Person]) -> BTreeMap<String, Vec<String>> {
    let mut told = BTreeMap::new();
    for person in people {
        let mails =
            office.to(person).into_iter().filter(|mail| mail["text"].as_str().unwrap().contains("/unsubscribe?"));
        let mut subjects: Vec<String> = mails.map(|mail| mail["subject"].as_str().unwrap().to_owned()).collect();
        subjects.sort();
        told.insert(person.name.clone(), subjects);
    }
    told
}

fn expected(of: &[(&Person, &[&str])]) -> BTreeMap<String, Vec<String>> {
    of.iter()
        .map(|(person, subjects)| {
            let mut subjects: Vec<String> = subjects.iter().map(|subject| (*subject).to_owned()).collect();
            subjects.sort();
            (person.name.clone(), subjects)
        })
        .collect()
}

#[tokio::test(flavor = "multi_thread")]
async fn each_kind_reaches_whom_it_is_for_in_his_language() {
    let office = PostOffice::open().await;
    let outside = Outside::start(Mood::Says(400, "", "no")).await;
    let mut settings = office.settings();
    settings.processing = outside.settings().processing;
    let app = App::with(settings).await;
    let aiko = app.applicant().await;
    let (ben, chie) = (app.approver().await, app.member("Chie Approver", true, false).await);
    let dara = app.admin.clone();
    for (person, language) in [(&aiko, "en"), (&ben, "ja"), (&chie, "en"), (&dara, "ja")] {
        subscribed(&app, &office, person, language).await;
    }

    // An approver's own request waits for the other one, not for himself.
    let own = ben.submitted("Lamp").await;
    let first = aiko.submitted("Desk").await;
    let_digests_go(&app).await;
    until_all_sent(&app).await;
    assert_eq!(
        told(&office, &[&aiko, &ben, &chie, &dara]),
        expected(&[
            (&aiko, &[]),
            (&ben, &["承認待ち: Desk"]),
            (&chie, &["2 requests wait for your decision"]),
            (&dara, &[])
        ])
    );

    chie.approve(&first).await.expect_status(200);
    chie.act(&own, "reject", Some("Too bright.\nAnd <late>.")).await.expect_status(200);
    let second = aiko.submitted("Chair").await;
    let returned = ben.act(&second, "send-back", Some("Which one?")).await.expect_status(200).body;
    // What was decided meanwhile waits for nobody any more.
    until_state(&aiko, &first, "failed").await;
    let spent = planted(&app, "2026-09", 500, "JPY", None).await;
    assert_eq!(close(&dara, "2026-09").await["state"], "closed");
    // It takes back what it names in part.
    planted(&app, "2026-10", -499, "JPY", Some(spent)).await;
    assert_eq!(close(&dara, "2026-10").await["state"], "blocked");
    until_all_sent(&app).await;
    assert_eq!(
        told(&office, &[&aiko, &ben, &chie, &dara]),
        expected(&[
            (&aiko, &["Approved: Desk", "Sent back: Chair"]),
            (&ben, &["承認待ち: Desk", "却下: Lamp"]),
            (&chie, &["2 requests wait for your decision"]),
            (&dara, &["2026-09 の月次締めが完了", "2026-10 の月次締めが停止", "承認後の処理が失敗: Desk"]),
        ])
    );

    let mail = office.to(&ben).into_iter().find(|mail| mail["subject"] == "却下: Lamp").unwrap();
    assert_eq!(mail["from"], json!([{"name": "稟議", "address": "ringi@kumo.example"}]));
    assert_eq!(mail["to"], json!([{"name": "Ben Approver", "address": address(&ben)}]));
    assert_eq!(mail["envelope"], json!({"from": "ringi@kumo.example", "to": [address(&ben)]}));
    let (text, html) = (mail["text"].as_str().unwrap(), mail["html"].as_str().unwrap());
    assert!(text.contains("Ben Approver 様") && text.contains("> Too bright.\n> And <late>."), "{text}");
    assert!(html.contains("Too bright.\nAnd &lt;late&gt;.") && html.contains("<html lang=\"ja\">"), "{html}");
    let page = format!("{PUBLIC}/o/{}/mine/{}", app.organization, id_of(&own));
    assert!(text.contains(&page) && html.contains(&format!("href=\"{page}\"")), "{text}");
    assert!(mail["message_id"].as_str().unwrap().ends_with("@kumo.example>"), "{mail}");
    assert_eq!(mail["lines"]["auto-submitted"], "Auto-Submitted: auto-generated");
    let blocked = office.to(&dara).into_iter().find(|mail| mail["subject"] == "2026-10 の月次締めが停止").unwrap();
    assert!(blocked["text"].as_str().unwrap().contains(&format!("/o/{}/months/2026-10", app.organization)));
    assert_eq!(returned["status"], "returned");
    app.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_burst_of_submissions_is_one_digest() {
    let office = PostOffice::open().await;
    let app = App::with(office.settings()).await;
    let (aiko, ben) = (app.applicant().await, app.approver().await);
    subscribed(&app, &office, &ben, "en").await;
    for n in 0..25 {
        aiko.submitted(&format!("Desk {n}")).await;
    }
    until_sorted(&app).await;
    assert_eq!(app.count("SELECT count(*) FROM mail_message WHERE due_at > now() + interval '50 minutes'").await, 1);
    assert_eq!(told(&office, &[&ben])[&ben.name], [""; 0], "it waits for more");
    until_all_sent(&app).await;
    assert_eq!(told(&office, &[&ben])[&ben.name], ["25 requests wait for your decision"]);
    let text = office.to(&ben).pop().unwrap()["text"].as_str().unwrap().to_owned();
    let named = (0..25).filter(|n| text.contains(&format!("Desk {n} (Aiko Applicant, JPY 12,000)"))).count();
    assert_eq!(named, 20);
    assert!(text.contains("And 5 more.") && text.contains(&format!("/o/{}/inbox", app.organization)), "{text}");

    // What comes later is in the next one alone.
    aiko.submitted("Lamp").await;
    until_all_sent(&app).await;
    assert_eq!(office.to(&ben).pop().unwrap()["subject"], "Waits for your decision: Lamp");
    app.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_digest_does_not_wait_for_ever() {
    let office = PostOffice::open().await;
    let mut settings = office.settings();
    settings.mail.longest_wait = Duration::from_secs(3600);
    let app = App::with(settings).await;
    let (aiko, ben) = (app.applicant().await, app.approver().await);
    subscribed(&app, &office, &ben, "en").await;
    aiko.submitted("Desk").await;
    until_sorted(&app).await;
    // As if the first had been submitted an hour ago; the second would make it wait for another.
    app.execute(
        "UPDATE mail_message SET created_at = created_at - interval '61 minutes';
         UPDATE mail_cursor SET moved_at = moved_at - interval '61 minutes'",
    )
    .await;
    aiko.submitted("Lamp").await;
    office.until_mail(&ben, 2).await;
    assert_eq!(told(&office, &[&ben])[&ben.name], ["2 requests wait for your decision"]);
    app.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn who_lost_a_right_meanwhile_is_told_nothing() {
    let office = PostOffice::open().await;
    let app = App::with(office.settings()).await;
    let (aiko, ben, chie) = (app.applicant().await, app.approver().await, app.member("Chie", true, false).await);
    let eri = app.member("Eri Admin", false, true).await;
    for person in [&aiko, &ben, &chie, &eri] {
        subscribed(&app, &office, person, "en").await;
    }
    let secret = aiko.submitted("Secret acquisition").await;
    let kept = aiko.submitted("Desk").await;
    until_sorted(&app).await;
    // Posted, and not yet sent: the right is gone, a member is, and one request is decided.
    app.admin.change_member(ben.id, json!({"can_approve": false})).await.expect_status(200);
    chie.act(&secret, "send-back", Some("Not by mail.")).await.expect_status(200);
    office.mood(json!({"mood": "refuse", "at": "mail", "code": 451})).await;
    until("the server is away", async || office.refusals() > 0).await;
    app.admin.change_member(aiko.id, json!({"is_active": false})).await.expect_status(200);
    app.admin.change_member(eri.id, json!({"is_admin": false})).await.expect_status(200);
    planted(&app, "2026-09", 500, "JPY", None).await;
    close(&app.admin, "2026-09").await;
    let_digests_go(&app).await;
    office.mood(json!({"mood": "take"})).await;
    until_all_sent(&app).await;
    assert_eq!(
        told(&office, &[&aiko, &ben, &chie, &eri]),
        expected(&[(&aiko, &[]), (&ben, &[]), (&chie, &["Waits for your decision: Desk"]), (&eri, &[])])
    );
    let leaked = office.mails().iter().filter(|mail| mail.to_string().contains("Secret acquisition")).count();
    assert_eq!(leaked, 0);
    assert_eq!(kept["status"], "pending");
    app.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn one_click_switches_a_kind_off_and_the_preferences_switch_it_on() {
    let office = PostOffice::open().await;
    let app = App::with(office.settings()).await;
    let (aiko, ben) = (app.applicant().await, app.approver().await);
    subscribed(&app, &office, &aiko, "en").await;
    let decide = async |title: &str| {
        let pending = aiko.submitted(title).await;
        ben.approve(&pending).await.expect_status(200);
        until_all_sent(&app).await;
    };
    decide("Desk").await;
    let mail = office.to(&aiko).pop().unwrap();
    // Exactly as a mail program reads it from the head (RFC 8058).
    assert_eq!(mail["lines"]["list-unsubscribe-post"], "List-Unsubscribe-Post: List-Unsubscribe=One-Click");
    let head = mail["lines"]["list-unsubscribe"].as_str().unwrap().replace("\r\n", "");
    let url = head.split_once('<').unwrap().1.split_once('>').unwrap().0.replace(' ', "");
    let path = url.strip_prefix(PUBLIC).unwrap().to_owned();
    assert_eq!(path, link(&mail, "unsubscribe"));
    let here = format!("{}{path}", app.address);

    // Programs that look at mails follow its links: that does nothing.
    let looked = Answer::of(app.http.get(&here)).await.expect_status(200);
    assert!(looked.text.contains("<form method=\"post\">") && looked.text.contains("decisions on your requests"));
    let policy = looked.header("content-security-policy");
    assert!(policy.contains("default-src 'none'") && policy.contains("form-action 'self'"), "{policy}");
    assert!(!policy.contains("unsafe") && !looked.text.contains("<script"), "{policy}");
    assert_eq!(looked.header("referrer-policy"), "no-referrer");
    assert_eq!(aiko.read("me/mail").await.body["decisions"], true);

    let one_click = app.http.post(&here).header("content-type", "application/x-www-form-urlencoded");
    Answer::of(one_click.body("List-Unsubscribe=One-Click")).await.expect_status(200);
    let now = aiko.read("me/mail").await.body;
    assert_eq!(
        (&now["decisions"], &now["submissions"], &now["confirmed"]),
        (&json!(false), &json!(true), &json!(true))
    );
    Answer::of(app.http.post(&here)).await.expect_status(200);
    let sent = office.to(&aiko).len();
    decide("Lamp").await;
    assert_eq!(office.to(&aiko).len(), sent, "nothing more of these");

    aiko.put("me/mail", wish(&aiko, "ja")).await.expect_status(200);
    decide("Chair").await;
    assert_eq!(office.to(&aiko).pop().unwrap()["subject"], "承認: Chair");
    // Also for what was posted before: off is off.
    let pending = aiko.submitted("Shelf").await;
    office.mood(json!({"mood": "refuse", "at": "mail", "code": 451})).await;
    let before = office.refusals();
    ben.approve(&pending).await.expect_status(200);
    until("it was tried", async || office.refusals() > before).await;
    Answer::of(app.http.post(&here)).await.expect_status(200);
    office.mood(json!({"mood": "take"})).await;
    until_all_sent(&app).await;
    assert_eq!(office.to(&aiko).pop().unwrap()["subject"], "承認: Chair");
    app.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn an_address_gets_nothing_before_it_said_yes_and_only_its_own_link_does() {
    let office = PostOffice::open().await;
    let app = App::with(office.settings()).await;
    let (aiko, ben) = (app.applicant().await, app.approver().await);
    let none = json!({"enabled": true, "address": null, "confirmed": false, "language": "en", "decisions": true,
                      "submissions": true, "closings": true, "jobs": true, "refused_at": null});
    assert_eq!(aiko.read("me/mail").await.expect_status(200).body, none);
    let asked = aiko.put("me/mail", wish(&aiko, "ja")).await.expect_status(200).body;
    assert_eq!((&asked["address"], &asked["confirmed"]), (&json!(address(&aiko)), &json!(false)));
    let question = office.until_mail(&aiko, 1).await;
    assert_eq!(question["subject"], "メールアドレスの確認（Test）");
    assert!(!question.to_string().contains("Aiko"), "nothing that a person chose: {question}");
    assert_eq!(question["lines"]["list-unsubscribe"], Value::Null);
    let pending = aiko.submitted("Desk").await;
    ben.approve(&pending).await.expect_status(200);
    until_all_sent(&app).await;
    assert_eq!(office.to(&aiko).len(), 1, "nothing but the question");

    let first = format!("{}{}", app.address, link(&question, "confirm"));
    let page = Answer::of(app.http.get(&first)).await.expect_status(200);
    assert!(page.text.contains("<html lang=\"ja\">") && page.text.contains("受け取る"), "{}", page.text);
    assert_eq!(aiko.read("me/mail").await.body["confirmed"], false, "looking says nothing");
    for bent in [
        format!("{first}A"),
        first[..first.len() - 1].to_owned(),
        first.replace("confirm", "unsubscribe"),
        format!("{}/mail/confirm", app.address),
    ] {
        for method in [Method::GET, Method::POST] {
            let dead = Answer::of(app.http.request(method, &bent)).await.expect_status(404);
            assert!(dead.text.contains("This link does not work"), "{}", dead.text);
        }
    }
    // Another address: the link that went to the first one opens nothing.
    let mut other = wish(&aiko, "ja");
    other["address"] = json!(format!("x{}", address(&aiko)));
    aiko.put("me/mail", other).await.expect_status(200);
    Answer::of(app.http.post(&first)).await.expect_status(404);
    aiko.put("me/mail", wish(&aiko, "ja")).await.expect_status(200);
    let again = office.until_mail(&aiko, 2).await;
    Answer::of(app.http.post(&first)).await.expect_status(404);
    let second = format!("{}{}", app.address, link(&again, "confirm"));
    Answer::of(app.http.post(&second)).await.expect_status(200);
    Answer::of(app.http.post(&second)).await.expect_status(200);
    assert_eq!(aiko.read("me/mail").await.body["confirmed"], true);
    aiko.post("me/mail/confirmation", json!({})).await.expect_problem(409, "invalid_transition");

    // Who is no member any more says yes to nothing, and may say no.
    let late = app.member("Late", false, false).await;
    late.put("me/mail", wish(&late, "en")).await.expect_status(200);
    let question = office.until_mail(&late, 1).await;
    app.admin.change_member(late.id, json!({"is_active": false})).await.expect_status(200);
    let yes = app.http.post(format!("{}{}", app.address, link(&question, "confirm")));
    Answer::of(yes).await.expect_status(404);
    late.read("me/mail").await.expect_problem(403, "not_a_member");
    app.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn nobodys_mailbox_is_flooded_with_questions() {
    let office = PostOffice::open().await;
    let mut settings = office.settings();
    settings.mail.confirmations_per_hour = 3;
    let app = App::with(settings).await;
    let (aiko, ben) = (app.applicant().await, app.approver().await);
    let mut victim = wish(&aiko, "en");
    victim["address"] = json!("Victim@example.com");
    aiko.put("me/mail", victim.clone()).await.expect_status(200);
    for _ in 0..2 {
        aiko.post("me/mail/confirmation", json!({})).await.expect_status(200);
    }
    let full = aiko.post("me/mail/confirmation", json!({})).await.expect_problem(429, "rate_limited");
    let seconds: u32 = full.header("retry-after").parse().unwrap();
    assert!((3_500..=3_600).contains(&seconds), "{seconds}");
    // Neither by another address of his own nor, spelled otherwise, by another person.
    aiko.put("me/mail", wish(&aiko, "en")).await.expect_problem(429, "rate_limited");
    victim["address"] = json!("vICTIM@example.com");
    ben.put("me/mail", victim.clone()).await.expect_problem(429, "rate_limited");
    assert_eq!(ben.read("me/mail").await.body["address"], Value::Null, "nothing was changed");
    // What asks nobody is no question.
    victim["address"] = json!("Victim@example.com");
    victim["language"] = json!("ja");
    assert_eq!(aiko.put("me/mail", victim).await.expect_status(200).body["language"], "ja");
    until_all_sent(&app).await;
    let questions = office.mails().len();
    assert!((1..=3).contains(&questions), "{questions}");
    app.execute("UPDATE mail_confirmation SET asked_at = asked_at - interval '61 minutes'").await;
    aiko.post("me/mail/confirmation", json!({})).await.expect_status(200);
    assert_eq!(app.count("SELECT count(*) FROM mail_confirmation").await, 1, "older ones are forgotten");

    // Two at once: one waits for the other, and counts it.
    let eri = app.member("Eri", false, false).await;
    app.execute(&format!(
        "INSERT INTO mail_confirmation SELECT '{}', gen_random_uuid(), '{}', 'shared@example.com', now()
         FROM generate_series(1, 2)",
        app.organization, app.admin.id
    ))
    .await;
    let held = app.hold("SELECT pg_advisory_xact_lock(hashtextextended('ringi/mail/shared@example.com', 0))").await;
    let mut shared = wish(&eri, "en");
    shared["address"] = json!("shared@example.com");
    let ask = |person: Person| {
        let shared = shared.clone();
        tokio::spawn(async move { person.put("me/mail", shared).await.status.as_u16() })
    };
    let both = [ask(eri.clone()), ask(ben.clone())];
    app.until_waiting(2).await;
    held.release().await;
    let mut statuses = Vec::new();
    for one in both {
        statuses.push(one.await.unwrap());
    }
    statuses.sort_unstable();
    assert_eq!(statuses, [200, 429]);
    app.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn what_people_write_is_neither_markup_nor_a_line_of_the_head() {
    let office = PostOffice::open().await;
    let app = App::with(office.settings()).await;
    let (aiko, ben) = (app.applicant().await, app.approver().await);
    subscribed(&app, &office, &aiko, "en").await;
    subscribed(&app, &office, &ben, "en").await;
    let pending = aiko.submitted("<img src=x> & \"co\"").await;
    // Older data, past every check of the API.
    app.execute(
        "UPDATE organization_member SET display_name = E'Evil\\r\\nBcc: all@example.com\\r\\n\\r\\n<b>boo</b>'
         WHERE display_name IN ('Ben Approver', 'Aiko Applicant')",
    )
    .await;
    until_all_sent(&app).await;
    ben.approve(&pending).await.expect_status(200);
    until_all_sent(&app).await;
    for person in [&aiko, &ben] {
        let mail = office.to(person).pop().unwrap();
        assert_eq!(mail["envelope"]["to"], json!([address(person)]));
        let heads: Vec<&str> = mail["heads"].as_array().unwrap().iter().map(|head| head.as_str().unwrap()).collect();
        assert!(!heads.contains(&"bcc") && heads.len() == 10, "{heads:?}");
        assert!(mail["subject"].as_str().unwrap().contains("<img src=x> & \"co\""), "{mail}");
        let html = mail["html"].as_str().unwrap();
        assert!(!html.contains("<img") && !html.contains("<b>"), "{html}");
        assert!(html.contains("&lt;img src=x&gt; &amp; &quot;co&quot;"), "{html}");
        let text = mail["text"].as_str().unwrap();
        assert!(!text.lines().any(|line| line.starts_with("Bcc")), "{text}");
        assert_eq!(mail["attachments"], 0);
    }
    app.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn addresses_that_are_none_are_refused() {
    let office = PostOffice::open().await;
    let app = App::with(office.settings()).await;
    let aiko = app.applicant().await;
    for bad in
        ["", "a", "a@b\r\nBcc: c@d.example", "a b@c.example", "Aiko <a@b.example>", "\"a\"@b.example", "稟@b.example"]
    {
        let mut body = wish(&aiko, "en");
        body["address"] = json!(bad);
        let problem = aiko.put("me/mail", body).await.expect_problem(422, "validation_failed");
        assert_eq!(problem.body["errors"][0]["pointer"], "/address");
        assert!(bad.len() < 4 || !problem.text.contains(bad), "not echoed: {}", problem.text);
    }
    for (field, value) in
        [("language", json!("fr")), ("language", Value::Null), ("decisions", json!(1)), ("address", json!(1))]
    {
        let mut body = wish(&aiko, "en");
        body[field] = value;
        aiko.put("me/mail", body).await.expect_problem(422, "validation_failed");
    }
    let mut body = wish(&aiko, "en");
    body.as_object_mut().unwrap().remove("address");
    aiko.put("me/mail", body).await.expect_problem(422, "validation_failed");
    let mut body = wish(&aiko, "en");
    body["off"] = json!([]);
    aiko.put("me/mail", body).await.expect_problem(422, "unknown_field");
    assert_eq!(app.count("SELECT count(*) FROM mail_message").await, 0);
    // The same call under a key asks once.
    let call = || aiko.request(Method::PUT, "me/mail").header("Idempotency-Key", "k").json(&wish(&aiko, "en"));
    Answer::of(call()).await.expect_status(200);
    assert_eq!(Answer::of(call()).await.expect_status(200).header("idempotency-replayed"), "true");
    assert_eq!(app.count("SELECT count(*) FROM mail_confirmation").await, 1);
    let mut nowhere = wish(&aiko, "en");
    nowhere["address"] = Value::Null;
    assert_eq!(aiko.put("me/mail", nowhere).await.expect_status(200).body["address"], Value::Null);
    app.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn without_a_mail_server_nothing_is_sent_and_the_past_is_never_mailed() {
    let office = PostOffice::open().await;
    let app = App::answering(office.settings()).await;
    let (aiko, ben) = (app.applicant().await, app.approver().await);
    let decide = async |title: &str| {
        let pending = aiko.submitted(title).await;
        ben.approve(&pending).await.expect_status(200);
    };
    let first = worker(&app, &office.variables());
    subscribed(&app, &office, &aiko, "en").await;
    first.stop();
    let mails = office.mails().len();

    // Nobody is the relay; then one whose settings say no mail.
    decide("Before it was off").await;
    let off = worker(&app, &[]);
    let numbered = "SELECT count(*) FROM outbox_event";
    until("it is numbered", async || app.count(numbered).await == 0).await;
    until("it is noted", async || {
        app.count(&format!("SELECT count(*) FROM mail_cursor WHERE organization_id = '{}'", Uuid::nil())).await == 0
    })
    .await;
    decide("While it was off").await;
    until("it is numbered", async || app.count(numbered).await == 0).await;
    off.stop();
    assert_eq!(app.count("SELECT count(*) FROM mail_message").await, 0);

    let on = worker(&app, &office.variables());
    until_sorted(&app).await;
    decide("Since it is on").await;
    until_all_sent(&app).await;
    assert_eq!(told(&office, &[&aiko])[&aiko.name], ["Approved: Since it is on"]);

    // News of the day before, which nobody had numbered.
    let old = aiko.submitted("Yesterday's").await;
    app.execute(&format!(
        "INSERT INTO outbox_event (organization_id, subject_kind, subject_id, seq, event_type, payload, occurred_at)
         VALUES ('{}', 'request', '{}', 1000, 'request.approve', '{{}}', now() - interval '25 hours')",
        app.organization,
        id_of(&old)
    ))
    .await;
    until_all_sent(&app).await;
    assert_eq!(office.mails().len(), mails + 1);
    on.stop();
    app.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn without_a_mail_server_the_calls_say_so() {
    let app = App::start().await;
    let aiko = app.applicant().await;
    assert_eq!(aiko.read("me/mail").await.expect_status(200).body["enabled"], false);
    aiko.put("me/mail", wish(&aiko, "ja")).await.expect_problem(409, "mail_not_configured");
    aiko.post("me/mail/confirmation", json!({})).await.expect_problem(409, "mail_not_configured");
    app.outsider().read("me/mail").await.expect_problem(403, "not_a_member");
    app.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_name_that_is_forgotten_takes_its_address_along() {
    let office = PostOffice::open().await;
    let app = App::with(office.settings()).await;
    let ben = app.approver().await;
    subscribed(&app, &office, &ben, "en").await;
    let version = app.admin.member(ben.id).await["version"].clone();
    app.admin.post(&format!("members/{}/pseudonymize", ben.id), json!({"version": version})).await.expect_status(200);
    for table in ["mail_address", "mail_confirmation", "mail_message"] {
        assert_eq!(app.count(&format!("SELECT count(*) FROM {table}")).await, 0, "{table}");
    }
    app.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_server_that_can_not_encrypt_is_told_nothing() {
    let office = PostOffice::open().await;
    let app = App::with(sending_to(&format!("smtp://127.0.0.1:{}", office.port))).await;
    let aiko = app.applicant().await;
    aiko.put("me/mail", wish(&aiko, "en")).await.expect_status(200);
    until("it was tried", async || office.connections() > 1).await;
    assert_eq!(office.mails().len(), 0);
    assert_eq!(app.count("SELECT count(*) FROM mail_message WHERE attempts > 0").await, 1);
    app.stop().await;
}
