//! Mail when something is wrong: the mail server, a mailbox, or the process in the middle of it.

use crate::harness::{App, Person};
use crate::key_server::until;
use crate::post_office::{PostOffice, address, sending_to, subscribed, until_all_sent, until_sorted, wish, worker};
use ringi::mail::store::Mailroom as _;
use ringi::pg::{PgMailroom, PgReads, PgStore};
use serde_json::{Value, json};
use std::collections::BTreeSet;
use std::path::Path;
use std::process::Command;
use std::time::{Duration, Instant};
use uuid::Uuid;

const DECIDED: &str = "SELECT count(*) FROM mail_message WHERE kind = 'decisions'";

async fn decided(aiko: &Person, ben: &Person, title: &str) {
    let pending = aiko.submitted(title).await;
    ben.approve(&pending).await.expect_status(200);
}

fn subjects(office: &PostOffice, person: &Person) -> Vec<Value> {
    office.to(person).into_iter().map(|mail| mail["subject"].clone()).collect()
}

#[tokio::test(flavor = "multi_thread")]
async fn what_could_not_be_sent_is_sent_when_the_server_is_back() {
    let office = PostOffice::open().await;
    let app = App::with(office.settings()).await;
    let (aiko, ben) = (app.applicant().await, app.approver().await);
    subscribed(&app, &office, &aiko, "en").await;
    let port = office.close();
    for n in 0..20 {
        decided(&aiko, &ben, &format!("Desk {n}")).await;
    }
    until_sorted(&app).await;
    until("it was tried", async || app.count("SELECT count(*) FROM mail_message WHERE attempts > 1").await > 0).await;
    assert_eq!(app.count(DECIDED).await, 20);
    // One at a time asks whether it is back; the rest is left alone.
    let touched = "SELECT count(*) FROM mail_message WHERE attempts > 0";
    assert!(app.count(touched).await < 20 || app.count("SELECT max(attempts)::bigint FROM mail_message").await > 2);
    let office = PostOffice::at(port, &[]).await;
    until_all_sent(&app).await;
    let got: BTreeSet<String> = subjects(&office, &aiko).iter().map(ToString::to_string).collect();
    assert_eq!((got.len(), office.mails().len()), (20, 20), "each once");
    app.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_server_that_hangs_is_left_after_a_while_and_found_again() {
    let office = PostOffice::open().await;
    let mut settings = office.settings();
    settings.mail.timeout = Duration::from_millis(300);
    let app = App::with(settings).await;
    let (aiko, ben) = (app.applicant().await, app.approver().await);
    subscribed(&app, &office, &aiko, "en").await;
    office.mood(json!({"mood": "silent"})).await;
    let before = office.connections();
    decided(&aiko, &ben, "Desk").await;
    until("it was tried twice", async || office.connections() >= before + 2).await;
    assert_eq!(app.count("SELECT count(*) FROM mail_message WHERE kind = 'decisions' AND attempts > 1").await, 1);
    // Meanwhile events are sorted, and calls are answered.
    decided(&aiko, &ben, "Lamp").await;
    until_sorted(&app).await;
    office.mood(json!({"mood": "take"})).await;
    until_all_sent(&app).await;
    let mut got = subjects(&office, &aiko);
    got.sort_by_key(ToString::to_string);
    assert_eq!(got, ["Approved: Desk", "Approved: Lamp", "Confirm your address (Test)"]);
    app.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_mailbox_that_is_refused_keeps_no_other_waiting() {
    let office = PostOffice::open().await;
    let app = App::with(office.settings()).await;
    let (aiko, chie, ben) = (app.applicant().await, app.member("Chie", false, false).await, app.approver().await);
    for person in [&aiko, &chie] {
        subscribed(&app, &office, person, "en").await;
    }
    // For a while: again and again, and the other one gets hers at once.
    office.mood(json!({"mood": "refuse", "at": "rcpt", "code": 450, "to": address(&aiko)})).await;
    decided(&aiko, &ben, "Desk").await;
    until("it was refused twice", async || office.refusals() >= 2).await;
    decided(&chie, &ben, "Lamp").await;
    office.until_mail(&chie, 2).await;
    assert_eq!((office.to(&aiko).len(), app.count(DECIDED).await), (1, 1), "kept");
    assert_eq!(aiko.read("me/mail").await.body["refused_at"], Value::Null);

    // For good: given up, and its person is told where he would look.
    office.mood(json!({"mood": "refuse", "at": "rcpt", "code": 550, "to": address(&aiko)})).await;
    until("it is given up", async || app.count(DECIDED).await == 0).await;
    let now = aiko.read("me/mail").await.body;
    assert!(now["refused_at"].as_str().unwrap().ends_with('Z'), "{now}");
    decided(&chie, &ben, "Shelf").await;
    office.until_mail(&chie, 3).await;

    office.mood(json!({"mood": "take"})).await;
    decided(&aiko, &ben, "Stool").await;
    until_all_sent(&app).await;
    assert_eq!(aiko.read("me/mail").await.body["refused_at"], Value::Null, "it takes mails again");

    // A server that does not take this installation's mails at all says nothing about a mailbox.
    office.mood(json!({"mood": "refuse", "at": "mail", "code": 550})).await;
    let before = office.refusals();
    decided(&chie, &ben, "Chair").await;
    until("it was tried twice", async || office.refusals() >= before + 2).await;
    office.mood(json!({"mood": "take"})).await;
    until_all_sent(&app).await;
    assert_eq!(chie.read("me/mail").await.body["refused_at"], Value::Null);
    assert_eq!(subjects(&office, &chie).last().unwrap(), "Approved: Chair");

    // What is in a mail may be refused, too, and a new address is not the one that was refused.
    office.mood(json!({"mood": "refuse", "at": "data", "code": 554})).await;
    decided(&chie, &ben, "Vase").await;
    until("it is given up", async || chie.read("me/mail").await.body["refused_at"] != Value::Null).await;
    office.mood(json!({"mood": "take"})).await;
    let mut other = wish(&chie, "en");
    other["address"] = json!("chie@example.com");
    assert_eq!(chie.put("me/mail", other).await.expect_status(200).body["refused_at"], Value::Null);
    app.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_relay_that_is_killed_in_the_middle_loses_no_mail() {
    let office = PostOffice::open().await;
    let app = App::answering(office.settings()).await;
    let aiko = app.applicant().await;
    let mut approvers = Vec::new();
    let first = worker(&app, &office.variables());
    for n in 0..6 {
        let person = app.member(&format!("Approver {n}"), true, false).await;
        subscribed(&app, &office, &person, "en").await;
        approvers.push(person);
    }
    office.mood(json!({"mood": "hold"})).await;
    let pending = aiko.submitted("Desk").await;
    // Taken, and the answer is still to come: here a mail can be lost or doubled.
    until("some are in the middle", async || office.mails().iter().filter(|mail| mail["held"] == true).count() >= 4)
        .await;
    first.kill();
    office.mood(json!({"mood": "take"})).await;
    app.execute("UPDATE mail_message SET due_at = now()").await;
    let second = worker(&app, &office.variables());
    until("everything is sent", async || app.count("SELECT count(*) FROM mail_message").await == 0).await;
    let (mut ids, mut doubled) = (BTreeSet::new(), 0);
    for person in &approvers {
        let mails = office.to(person);
        let of_desk: Vec<&Value> =
            mails.iter().filter(|mail| mail["subject"] == "Waits for your decision: Desk").collect();
        assert!((1..=2).contains(&of_desk.len()), "{}: {}", person.name, of_desk.len());
        doubled += of_desk.len() - 1;
        let own: BTreeSet<&str> = of_desk.iter().map(|mail| mail["message_id"].as_str().unwrap()).collect();
        assert_eq!(own.len(), 1, "one mail has one Message-ID, however often it is sent");
        assert!(ids.insert((*own.first().unwrap()).to_owned()), "and no other has it");
    }
    assert!(doubled >= 4, "those in the middle were sent once more: {doubled}");
    let metrics = app.http.get(format!("{}/metrics", second.address)).send().await.unwrap().text().await.unwrap();
    assert!(metrics.contains("ringi_mails_total{kind=\"submissions\",result=\"sent\"} 6"), "{metrics}");
    assert_eq!(pending["status"], "pending");
    second.stop();
    app.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_stop_in_the_middle_waits_for_the_answer() {
    let office = PostOffice::open().await;
    let app = App::answering(office.settings()).await;
    let (aiko, ben) = (app.applicant().await, app.approver().await);
    let process = worker(&app, &office.variables());
    subscribed(&app, &office, &aiko, "en").await;
    office.mood(json!({"mood": "hold"})).await;
    decided(&aiko, &ben, "Desk").await;
    office.until_mail(&aiko, 2).await;
    process.signal(rustix::process::Signal::TERM);
    office.mood(json!({"mood": "take"})).await;
    process.end();
    assert_eq!(app.count(DECIDED).await, 0, "it was noted that it was taken");
    assert_eq!(office.to(&aiko).len(), 2);
    app.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn one_organization_with_many_mails_keeps_no_other_waiting() {
    let app = App::answering(sending_to("smtp://127.0.0.1:1?tls=none")).await;
    let other = Uuid::new_v4();
    for (organization, n, age) in [(app.organization, 5_000, 60), (other, 3, 1)] {
        app.execute(&format!(
            "INSERT INTO mail_message (organization_id, id, user_id, kind, first_position, last_position, created_at, due_at)
             SELECT '{organization}', gen_random_uuid(), gen_random_uuid(), 'decisions', 1, 1, now(),
                    now() - interval '{age} seconds'
             FROM generate_series(1, {n})"
        ))
        .await;
    }
    let reads = PgReads::new(app.pools.write.clone(), Duration::from_secs(5), Duration::from_secs(5));
    let room = PgMailroom::new(reads, PgStore::new(app.pools.write.clone(), Duration::from_secs(5)));
    let (due, waited) = room.due().await.unwrap();
    let turns: Vec<bool> = due.iter().map(|due| due.organization_id.0 == other).collect();
    assert_eq!(turns[..6], [false, true, false, true, false, true]);
    assert_eq!(turns.len(), 11);
    assert!(waited >= Duration::from_secs(60), "{waited:?}");
    app.stop().await;
}

fn make_certificate(arguments: &[&str]) {
    let mut openssl = Command::new("openssl");
    openssl.args(["req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes", "-days", "2"]);
    let made = openssl.args(arguments).output().expect("openssl makes the certificate");
    assert!(made.status.success(), "{}", String::from_utf8_lossy(&made.stderr));
}

/// Encrypted, with a password: by a certificate that this machine was told to trust, and by no other.
#[tokio::test(flavor = "multi_thread")]
async fn a_password_is_sent_to_a_server_that_proves_who_it_is() {
    let folder = crate::ringi::Folder::new("mail-tls");
    let path = |name: &str| folder.0.join(name).to_str().unwrap().to_owned();
    let (authority, certificate, key) = (path("authority.pem"), path("certificate.pem"), path("key.pem"));
    let authority_key = path("authority-key.pem");
    let own = ["-subj", "/CN=A test", "-out", &authority, "-keyout", &authority_key];
    make_certificate(&[&own[..], &["-addext", "basicConstraints=critical,CA:TRUE"]].concat());
    let signed = ["-CA", &authority, "-CAkey", &authority_key, "-subj", "/CN=localhost"];
    let files = ["-addext", "subjectAltName=DNS:localhost", "-out", &certificate, "-keyout", &key];
    make_certificate(&[&signed[..], &files[..], &["-addext", "basicConstraints=critical,CA:FALSE"]].concat());
    let office = PostOffice::at(0, &[Path::new(&certificate), Path::new(&key)]).await;
    let app = App::answering(office.settings()).await;
    let aiko = app.applicant().await;
    let mut variables = office.variables();
    variables[0].1 = format!("smtp://ringi%40kumo.example:let%20me%20in@localhost:{}", office.port);

    let stranger = worker(&app, &variables);
    aiko.put("me/mail", wish(&aiko, "en")).await.expect_status(200);
    let since = Instant::now();
    until("it was tried twice", async || office.connections() >= 2).await;
    assert_eq!(office.mails().len(), 0, "not to who only says so: {:?}", since.elapsed());
    stranger.stop();
    variables.push(("SSL_CERT_FILE", authority.clone()));
    let trusting = worker(&app, &variables);
    let mail = office.until_mail(&aiko, 1).await;
    assert_eq!((&mail["encrypted"], &mail["user"]), (&json!(true), &json!("ringi@kumo.example")));
    let said = trusting.stop();
    for text in [said.stdout, said.stderr] {
        assert!(
            !text.contains("let me in") && !text.contains("let%20me") && !text.contains("@people.example"),
            "{text}"
        );
    }
    app.stop().await;
}
