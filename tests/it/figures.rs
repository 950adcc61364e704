//! What an operator watches: the figures of `/metrics` move when the thing that they count happens.

use crate::harness::{App, id_of};
use crate::wire::with_token;

/// The value of a line, 0 where there is none. Figures belong to the process, so other tests move them, too.
async fn figure(app: &App, line: &str) -> f64 {
    let text = app.http.get(format!("{}/metrics", app.address)).send().await.unwrap().text().await.unwrap();
    let found = text.lines().find_map(|found| found.strip_prefix(line).and_then(|rest| rest.strip_prefix(' ')));
    found.map_or(0.0, |value| value.parse().unwrap())
}

#[tokio::test(flavor = "multi_thread")]
async fn figures_move_when_what_they_count_happens() {
    let app = App::start().await;
    let (applicant, approver) = (app.applicant().await, app.approver().await);
    let pending = applicant.submitted("Chairs").await;
    let approve = "/api/v1/organizations/{org}/requests/{id}/approve";
    let lines = [
        format!("ringi_http_requests_total{{route=\"{approve}\",method=\"POST\",status=\"200\"}}"),
        format!("ringi_http_requests_total{{route=\"{approve}\",method=\"POST\",status=\"409\"}}"),
        format!("ringi_http_request_duration_seconds_count{{route=\"{approve}\"}}"),
        "ringi_problems_total{code=\"request_changed\"}".to_owned(),
        "ringi_problems_total{code=\"unauthenticated\"}".to_owned(),
        "ringi_token_refusals_total{reason=\"malformed\"}".to_owned(),
        "ringi_lock_wait_seconds_count{lock=\"both\"}".to_owned(),
        "ringi_lock_wait_seconds_count{lock=\"member\"}".to_owned(),
    ];
    let mut before = Vec::new();
    for line in &lines {
        before.push(figure(&app, line).await);
    }
    let waited = "ringi_lock_wait_seconds_bucket{lock=\"both\",le=\"10\"}";
    let held = app.hold(&format!("SELECT FROM approval_request WHERE id = '{}' FOR UPDATE", id_of(&pending))).await;
    let deciding = tokio::spawn({
        let (approver, pending) = (approver.clone(), pending.clone());
        async move { approver.approve(&pending).await }
    });
    app.until_waiting(1).await;
    let waits_before = figure(&app, waited).await;
    held.release().await;
    deciding.await.unwrap().expect_status(200);
    assert!(figure(&app, waited).await > waits_before, "the wait is counted when it ends");
    approver.approve(&pending).await.expect_problem(409, "request_changed");
    with_token(&approver, "x").get(&pending).await.expect_problem(401, "unauthenticated");
    applicant.create("More chairs").await;

    for (line, before) in lines.iter().zip(before) {
        assert!(figure(&app, line).await > before, "{line} did not move from {before}");
    }
    let pools = figure(&app, "ringi_pool_connections{pool=\"write\",state=\"idle\"}").await
        + figure(&app, "ringi_pool_connections{pool=\"write\",state=\"used\"}").await;
    assert!(pools >= 1.0, "the pool is watched: {pools}");
    app.stop().await;
}
