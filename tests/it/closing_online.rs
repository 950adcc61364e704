//! People work on while a month closes: nobody waits for it, and nothing of theirs is lost or half in it.

use crate::charges::{charge, correct};
use crate::closing::{bulk, check_closings, ended, start};
use crate::harness::{Answer, App, settings};
use serde_json::json;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;
use uuid::Uuid;

#[tokio::test(flavor = "multi_thread")]
async fn people_work_on_while_a_month_closes() {
    let mut settings = settings();
    settings.database.lock_timeout = Duration::from_secs(2);
    settings.closing.chunk_max_rows = 100;
    let app = App::with(settings).await;
    bulk(&app, "2024-10", 4_000).await;
    let (applicant, approver) = (app.applicant().await, app.approver().await);
    let done = Arc::new(AtomicBool::new(false));
    let mut people = Vec::new();
    let work_until = |done: &Arc<AtomicBool>| {
        let done = Arc::clone(done);
        move || !done.load(Ordering::Relaxed)
    };
    for n in 0..2 {
        let (admin, goes_on) = (app.admin.clone(), work_until(&done));
        people.push(tokio::spawn(async move {
            let mut answers: Vec<(u16, String)> = Vec::new();
            let mut note = |answer: &Answer| answers.push((answer.status.as_u16(), answer.body["code"].to_string()));
            let page = admin.read(&format!("charges?period=2024-10&limit={}", 100 + n)).await.body;
            for charge in page["items"].as_array().unwrap().iter().cycle() {
                if !goes_on() {
                    break;
                }
                note(&correct(&admin, charge["id"].as_str().unwrap().parse().unwrap(), json!({"amount": 5})).await);
            }
            answers
        }));
    }
    {
        let (admin, goes_on) = (app.admin.clone(), work_until(&done));
        people.push(tokio::spawn(async move {
            let mut answers = Vec::new();
            while goes_on() {
                let rows: Vec<_> = (0..20).map(|_| charge(Uuid::new_v4(), "2024-10-20T00:00:00Z", 1)).collect();
                let answer = admin.post("charges", json!(rows)).await;
                answers.push((answer.status.as_u16(), answer.body["code"].to_string()));
            }
            answers
        }));
    }
    {
        let goes_on = work_until(&done);
        people.push(tokio::spawn(async move {
            let mut answers = Vec::new();
            while goes_on() {
                let pending = applicant.submitted("Taxi").await;
                let answer = approver.approve(&pending).await;
                answers.push((answer.status.as_u16(), answer.body["code"].to_string()));
            }
            answers
        }));
    }
    start(&app.admin, "2024-10").await.expect_status(202);
    ended(&app.admin, "2024-10").await;
    done.store(true, Ordering::Relaxed);
    let mut told = std::collections::BTreeMap::new();
    for person in people {
        for answer in person.await.unwrap() {
            *told.entry(answer).or_insert(0) += 1;
        }
    }
    println!("{told:?}");
    let expected = |status: u16, code: &str| {
        matches!((status, code), (200 | 201, _) | (409, "\"period_closed\"" | "\"charge_changed\""))
    };
    assert!(told.keys().all(|(status, code)| expected(*status, code)), "{told:?}");
    check_closings(&app).await;
    app.stop().await;
}
