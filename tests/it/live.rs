//! Open pages hear of what happens: what their user may see at that moment, in order, and nothing else.

use crate::events::{relay, stray_of, until_relayed};
use crate::harness::{Answer, App, PATIENCE, Person, id_of, settings};
use crate::key_server::until;
use crate::wire::{connect, head, with_token};
use reqwest::Method;
use ringi::config::Settings;
use ringi::domain::ids::UserId;
use ringi::tokens::sign;
use serde_json::{Value, json};
use std::time::{Duration, Instant};
use tokio::io::AsyncWriteExt as _;
use tokio::time::timeout;

/// One block of a stream.
#[derive(Clone, Debug, Default, PartialEq)]
struct Block {
    id: Option<i64>,
    event: String,
    data: Value,
    retry: bool,
}

impl Block {
    /// The type and what it is about.
    fn what(&self) -> (String, String) {
        let data = &self.data["data"];
        let about = ["request_id", "user_id", "period"].iter().find_map(|name| data[name].as_str());
        (self.event.clone(), about.unwrap_or_default().to_owned())
    }
}

/// Somebody who listens.
struct Ear {
    response: reqwest::Response,
    text: String,
    last: Option<i64>,
}

impl Ear {
    async fn opened(person: &Person, last: Option<&str>) -> Answer {
        let request = person.request(Method::GET, "events");
        Answer::of(if let Some(last) = last { request.header("Last-Event-ID", last) } else { request }).await
    }

    async fn open(person: &Person, last: Option<i64>) -> Self {
        let mut request = person.request(Method::GET, "events").header("Accept", "text/event-stream");
        if let Some(last) = last {
            request = request.header("Last-Event-ID", last.to_string());
        }
        let response = request.send().await.unwrap();
        assert_eq!(response.status(), 200);
        let header = |name: &str| response.headers()[name].to_str().unwrap().to_owned();
        assert_eq!(header("content-type"), "text/event-stream");
        assert_eq!((header("x-accel-buffering"), header("cache-control")), ("no".to_owned(), "no-store".to_owned()));
        let mut ear = Self { response, text: String::new(), last: None };
        let first = ear.block().await.expect("it listens");
        assert!(first.retry && first.event.is_empty(), "{first:?}");
        assert!(last.is_none_or(|last| first.id.unwrap() >= last));
        ear
    }

    /// The next block, comments too; `None`: it has ended.
    async fn block(&mut self) -> Option<Block> {
        while !self.text.contains("\n\n") {
            let chunk = timeout(PATIENCE, self.response.chunk()).await.expect("nothing is heard").ok()??;
            self.text.push_str(std::str::from_utf8(&chunk).unwrap());
        }
        let text = std::mem::take(&mut self.text);
        let (block, rest) = text.split_once("\n\n").unwrap();
        let mut found = Block::default();
        for line in block.lines() {
            match line.split_once(": ") {
                Some(("id", id)) => found.id = Some(id.parse().unwrap()),
                Some(("event", event)) => event.clone_into(&mut found.event),
                Some(("data", data)) => found.data = serde_json::from_str(data).unwrap(),
                Some(("retry", _)) => found.retry = true,
                _ => assert_eq!(line, ":", "what is no field is a comment"),
            }
        }
        rest.clone_into(&mut self.text);
        if let Some(id) = found.id {
            assert!(self.last.is_none_or(|last| id > last), "{id} after {:?}", self.last);
            self.last = Some(id);
        }
        Some(found)
    }

    /// The next event; `None`: the stream has ended.
    async fn next(&mut self) -> Option<Block> {
        loop {
            let block = self.block().await?;
            if !block.event.is_empty() {
                return Some(block);
            }
        }
    }

    /// Everything up to the closing of this month, which everybody hears of.
    async fn until_closed(&mut self, period: &str) -> Vec<(String, String)> {
        let mut heard = Vec::new();
        loop {
            let what = self.next().await.expect("it goes on").what();
            if what == ("closing.close".to_owned(), period.to_owned()) {
                return heard;
            }
            heard.push(what);
        }
    }
}

/// Everybody hears of it: whoever hears it has heard all that came before.
async fn close(app: &App, period: &str) {
    app.execute(&stray_of(app, "closing.close", period, 1, &json!({"period": period}))).await;
}

fn what(event: &str, about: impl ToString) -> (String, String) {
    (event.to_owned(), about.to_string())
}

fn quick() -> Settings {
    let mut settings = settings();
    settings.events.poll_interval = Duration::from_millis(100);
    settings
}

#[tokio::test(flavor = "multi_thread")]
async fn everybody_hears_what_he_may_see_at_that_moment() {
    let app = App::with(quick()).await;
    let aiko = app.applicant().await;
    let (ben, chie) = (app.approver().await, app.member("Chie", true, false).await);
    let otto = app.member("Otto", false, false).await;
    let people = [&aiko, &ben, &chie, &otto, &app.admin];
    until_relayed(&app).await;
    let mut ears = Vec::new();
    for person in people {
        ears.push(Ear::open(person, None).await);
    }
    let mut heard_until = async |period: &'static str| {
        close(&app, period).await;
        let mut all = Vec::new();
        for ear in &mut ears {
            all.push(ear.until_closed(period).await);
        }
        all
    };

    // A draft is for its applicant alone.
    let draft = aiko.create("A desk").await;
    let id = id_of(&draft);
    assert_eq!(heard_until("2001-01").await, [vec![what("request.create", id)], vec![], vec![], vec![], vec![]]);
    let pending = aiko.act(&draft, "submit", None).await.expect_status(200).body;
    let submitted = vec![what("request.submit", id)];
    assert_eq!(
        heard_until("2001-02").await,
        [submitted.clone(), submitted.clone(), submitted.clone(), vec![], submitted.clone()]
    );

    // Ben, who has acted on nothing, loses his right, and Chie after she has sent it back.
    app.admin.change_member(ben.id, json!({"can_approve": false})).await.expect_status(200);
    let returned = chie.act(&pending, "send-back", Some("Which one?")).await.expect_status(200).body;
    app.admin.change_member(chie.id, json!({"can_approve": false})).await.expect_status(200);
    aiko.act(&returned, "submit", None).await.expect_status(200);
    let (of_ben, of_chie) = (what("member.change", ben.id), what("member.change", chie.id));
    let (back, again) = (what("request.send_back", id), what("request.submit", id));
    let all = heard_until("2001-03").await;
    assert_eq!(all[0], [back.clone(), again.clone()]);
    assert_eq!(all[1], std::slice::from_ref(&of_ben), "of himself");
    assert_eq!(all[2], [back.clone(), of_chie.clone(), again.clone()], "who has acted on it");
    assert_eq!(all[3], []);
    assert_eq!(all[4], [of_ben, back, of_chie, again]);
    app.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn what_is_told_is_the_event_as_it_stands_in_the_log() {
    let app = App::with(quick()).await;
    let (aiko, ben) = (app.applicant().await, app.approver().await);
    let mut ear = Ear::open(&aiko, None).await;
    let pending = aiko.submitted("A desk").await;
    ben.approve(&pending).await.expect_status(200);
    ear.next().await.unwrap();
    ear.next().await.unwrap();
    let approved = ear.next().await.unwrap();
    let history = aiko.history(&pending).await.pop().unwrap();
    let position = app.count("SELECT position FROM event_log WHERE event_type = 'request.approve'").await;
    assert_eq!((approved.id, approved.event.as_str()), (Some(position), "request.approve"));
    let expected = json!({"type": "request.approve", "timestamp": history["occurred_at"], "data": {
        "organization_id": app.organization, "request_id": pending["id"], "seq": 3, "version": 3, "action": "approve",
        "status": "approved", "actor_id": ben.id, "content_hash": pending["content_hash"],
        "occurred_at": history["occurred_at"]}});
    assert_eq!(approved.data, expected);
    app.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn another_process_than_that_of_the_decision_tells_of_it_at_once() {
    // Nobody looks by himself: what is heard was rung for.
    let never = Duration::from_hours(1);
    let mut settings = settings();
    settings.events.poll_interval = never;
    let app = App::answering(settings).await;
    let process = relay(&app, &[("RINGI__EVENTS__POLL_INTERVAL_MS", "3600000")]);
    let here = crate::ringi::Serving::on(
        &app.database.url(),
        &[("RINGI__EVENTS__POLL_INTERVAL_MS", "3600000"), ("RINGI__EVENTS__HEARTBEAT_INTERVAL_MS", "250")],
    );
    let there = Person::with_id(&app.http, &here.address, app.organization, "Dara", app.admin.id);
    until("the relay is at work", async || app.count("SELECT count(*) FROM job_lease WHERE kind = 'relay'").await == 1)
        .await;
    let mut ear = Ear::open(&there, None).await;
    let aiko = app.applicant().await;
    let request = aiko.submitted("A desk").await;
    // What has been relayed before it listened is not heard; of what comes now, all.
    loop {
        let next = ear.next().await.unwrap();
        if next.what() == what("request.submit", id_of(&request)) {
            break;
        }
        assert!(next.event.starts_with("member."), "{next:?}");
    }
    drop((process, here));
    app.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_stream_ends_with_the_membership_and_with_the_token() {
    let mut settings = quick();
    settings.auth.leeway = Duration::ZERO;
    let app = App::with(settings).await;
    let (aiko, ben) = (app.applicant().await, app.approver().await);
    until_relayed(&app).await;
    let lifetime = Duration::from_secs(3);
    let short = sign(crate::harness::SECRET.as_bytes(), UserId(ben.id), lifetime).unwrap();
    let signed = Instant::now();
    let mut of_ben = Ear::open(&with_token(&ben, short.clone()), None).await;
    let mut of_aiko = Ear::open(&aiko, None).await;
    app.admin.change_member(aiko.id, json!({"is_active": false})).await.expect_status(200);
    assert_eq!(of_aiko.next().await, None, "not even of this: she is no member");
    Ear::opened(&aiko, None).await.expect_problem(403, "not_a_member");

    assert_eq!(of_ben.next().await, None);
    assert!(signed.elapsed() > Duration::from_secs(2), "it lasted as long as the token");
    until("it is over", async || Ear::opened(&with_token(&ben, short.clone()), None).await.status == 401).await;
    let outsider = app.outsider();
    Ear::opened(&outsider, None).await.expect_problem(403, "not_a_member");
    Ear::opened(&with_token(&ben, "x"), None).await.expect_problem(401, "unauthenticated");
    app.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn who_comes_again_hears_what_he_missed() {
    let mut settings = quick();
    settings.events.catch_up = 5;
    let app = App::with(settings).await;
    let aiko = app.applicant().await;
    until_relayed(&app).await;
    let mut ear = Ear::open(&aiko, None).await;
    let first = aiko.create("1").await;
    let at = ear.next().await.unwrap().id.unwrap();
    drop(ear);
    let mut missed = Vec::new();
    for n in 2..=6 {
        missed.push(what("request.create", id_of(&aiko.create(&n.to_string()).await)));
    }
    until_relayed(&app).await;
    let mut ear = Ear::open(&aiko, Some(at)).await;
    for missed in &missed {
        assert_eq!(ear.next().await.unwrap().what(), *missed);
    }
    let live = aiko.create("7").await;
    assert_eq!(ear.next().await.unwrap().what(), what("request.create", id_of(&live)));
    let last = ear.last.unwrap();

    // Too much was missed; it has been cleaned away; it has not been yet; there is no number so large.
    app.execute("UPDATE event_stream SET trimmed = 2").await;
    for from in ["1", &(last - 6).to_string(), &(last + 1).to_string(), "99999999999999999999999999"] {
        let request = aiko.request(Method::GET, "events").header("Last-Event-ID", from);
        let mut ear = Ear { response: request.send().await.unwrap(), text: String::new(), last: None };
        let begun = ear.block().await.unwrap();
        assert_eq!(begun.id, Some(last), "{from}");
        ear.last = None;
        let resync = ear.next().await.unwrap();
        assert_eq!((resync.event.as_str(), resync.id), ("resync", Some(last)), "{from}");
        assert_eq!(resync.data, json!({"type": "resync", "data": {"position": last}}));
        let next = aiko.create("Next").await;
        assert_eq!(ear.next().await.unwrap().what(), what("request.create", id_of(&next)), "and it goes on");
        let forgotten = app.count("SELECT last_position FROM event_stream").await;
        app.execute(&format!(
            "DELETE FROM event_log WHERE position > {last}; UPDATE event_stream SET last_position = {last} WHERE last_position = {forgotten}"
        ))
        .await;
    }
    for garbage in ["x", "-1", "1.5", " 1 2", "+1", "0x10", first["id"].as_str().unwrap()] {
        Ear::opened(&aiko, Some(garbage)).await.expect_problem(400, "invalid_query");
    }
    let twice = aiko.request(Method::GET, "events").header("Last-Event-ID", "1").header("Last-Event-ID", "2");
    Answer::of(twice).await.expect_problem(400, "invalid_query");
    let json = aiko.request(Method::GET, "events").header("Accept", "application/json");
    Answer::of(json).await.expect_problem(406, "not_acceptable");
    aiko.read("events?from=1").await.expect_problem(400, "invalid_query");
    app.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn an_id_of_another_organization_shows_nothing_of_it() {
    let app = App::with(quick()).await;
    let aiko = app.applicant().await;
    let other = uuid::Uuid::new_v4();
    app.create_organization(other, app.admin.id).await;
    let elsewhere = app.admin.in_organization(other);
    let body = json!({"user_id": uuid::Uuid::new_v4(), "display_name": "M", "is_active": true, "can_approve": false,
                      "is_admin": false});
    for _ in 0..4 {
        let mut body = body.clone();
        body["user_id"] = json!(uuid::Uuid::new_v4());
        elsewhere.post("members", body).await.expect_status(201);
    }
    until_relayed(&app).await;
    // 5 there, 2 here: it has not been yet.
    let mut here = Ear::open(&app.admin, None).await;
    let request = aiko.request(Method::GET, "events").header("Last-Event-ID", "5");
    let mut ear = Ear { response: request.send().await.unwrap(), text: String::new(), last: None };
    ear.block().await.unwrap();
    ear.last = None;
    assert_eq!(ear.next().await.unwrap().event, "resync");
    elsewhere.post("members", body).await.expect_status(201);
    let created = aiko.create("A desk").await;
    assert_eq!(ear.next().await.unwrap().what(), what("request.create", id_of(&created)));
    close(&app, "2001-01").await;
    assert_eq!(here.until_closed("2001-01").await, [], "nothing of the other organization, nothing of a draft");
    app.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn who_reads_nothing_is_let_go_and_the_others_go_on() {
    let mut settings = quick();
    settings.events.listener_queue = 20;
    settings.events.catch_up = 10;
    // Long enough for his queue to be full before, also on a slow machine.
    settings.http.unread_timeout = Duration::from_secs(8);
    let app = App::with(settings).await;
    let aiko = app.applicant().await;
    until_relayed(&app).await;
    let mut reading = Ear::open(&aiko, None).await;
    let mut stuck = connect(&app).await;
    stuck.write_all(head(&aiko, "GET", "events", "").as_bytes()).await.unwrap();
    let listeners = "ringi_event_listeners_let_go_total{reason=\"slow\"}";
    let let_go = async || {
        let text = app.http.get(format!("{}/metrics", app.address)).send().await.unwrap().text().await.unwrap();
        text.lines().find_map(|line| line.strip_prefix(listeners)?.trim().parse::<f64>().ok()).unwrap_or(0.0)
    };
    let before = let_go().await;
    // More than the network takes without a reader.
    let large = json!({"period": "2001-01", "padding": "x".repeat(100_000)});
    let mut n = 0;
    while let_go().await <= before {
        assert!(n < 400, "40 MB were sent to nobody");
        for _ in 0..5 {
            n += 1;
            app.execute(&stray_of(&app, "closing.close", &format!("month {n}"), 1, &large)).await;
        }
        for _ in 0..5 {
            let next = reading.next().await.expect("who reads goes on");
            assert_eq!(next.event, "closing.close");
        }
    }
    // His connection is closed, too: his place is free.
    until("he is hung up on", async || closed(&stuck)).await;
    let created = aiko.create("Still here").await;
    assert_eq!(reading.next().await.unwrap().what(), what("request.create", id_of(&created)));
    app.stop().await;
}

/// Whether the server has given a connection up, which its client does not read.
fn closed(stream: &tokio::net::TcpStream) -> bool {
    let port = stream.local_addr().unwrap().port();
    let table = std::fs::read_to_string("/proc/net/tcp").unwrap();
    let here = format!(":{port:04X}");
    // The server's side: its remote address is the client's.
    !table.lines().any(|line| line.split_whitespace().nth(2).is_some_and(|remote| remote.ends_with(&here)))
}

#[tokio::test(flavor = "multi_thread")]
async fn a_silent_stream_gives_signs_of_life() {
    let mut settings = quick();
    settings.events.sign_of_life = Duration::from_millis(100);
    let app = App::with(settings).await;
    let aiko = app.applicant().await;
    until_relayed(&app).await;
    let mut ear = Ear::open(&aiko, None).await;
    for _ in 0..3 {
        assert_eq!(ear.block().await.unwrap(), Block::default(), "a comment");
    }
    let created = aiko.create("A desk").await;
    assert_eq!(ear.next().await.unwrap().what(), what("request.create", id_of(&created)));
    app.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn as_many_listen_as_may() {
    let mut settings = quick();
    settings.events.max_listeners = 3;
    settings.events.max_listeners_per_user = 2;
    let app = App::with(settings).await;
    let (aiko, ben) = (app.applicant().await, app.approver().await);
    let first = Ear::open(&aiko, None).await;
    let _second = Ear::open(&aiko, None).await;
    let refused = Ear::opened(&aiko, None).await.expect_problem(429, "rate_limited");
    assert_eq!(refused.header("retry-after"), "5");
    let _third = Ear::open(&ben, None).await;
    let refused = Ear::opened(&app.admin, None).await.expect_problem(503, "busy");
    assert_eq!(refused.header("retry-after"), "5");
    drop(first);
    // Its end is seen when something is sent to it.
    until("a place is free", async || {
        aiko.create("x").await;
        let request = app.admin.request(Method::GET, "events").send().await.unwrap();
        request.status() == 200
    })
    .await;
    app.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_stop_lets_everybody_go_at_once() {
    let mut settings = quick();
    settings.http.shutdown_grace = PATIENCE;
    let app = App::with(settings).await;
    let aiko = app.applicant().await;
    let mut ear = Ear::open(&aiko, None).await;
    let begun = Instant::now();
    let ending = tokio::spawn(async move { while ear.next().await.is_some() {} });
    app.stop().await;
    timeout(PATIENCE, ending).await.unwrap().unwrap();
    assert!(begun.elapsed() < PATIENCE / 2, "{:?}", begun.elapsed());
}
