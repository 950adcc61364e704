//! Webhooks: how soon a program learns of a decision, and how many events a second it can be told.

use super::{organization_path, request_path, token};
use crate::Options;
use crate::cluster::Cluster;
use crate::data;
use crate::http::{Connection, post};
use crate::load::{Latencies, median, number};
use crate::outside::{Asked, Outside};
use crate::serve::{self, Server};
use crate::summary::Summary;
use ringi::domain::ids::UserId;
use std::time::{Duration, SystemTime};

const COPY: &str = "bench_webhooks";
const PATIENCE: Duration = Duration::from_secs(120);
/// The organization whose decisions are delivered; there are as many of others.
const TOLD: u64 = 0;

pub async fn run(options: &Options, cluster: &Cluster, summary: &mut Summary) -> Result<(), String> {
    latency(options, cluster, summary).await?;
    throughput(options, cluster, summary).await?;
    cluster.drop_copy(COPY).await
}

async fn ringi(cluster: &Cluster, role: &str) -> Result<Server, String> {
    let settings = [
        ("RINGI__WEBHOOKS__SECRET_KEY", "ab".repeat(32)),
        ("RINGI__WEBHOOKS__ALLOW_PRIVATE", "127.0.0.0/8".to_owned()),
        ("RINGI__HTTP__DRAIN_MS", "0".to_owned()),
    ];
    serve::ringi_with(cluster, &cluster.postgres.url(COPY), 8, &["serve", "--role", role], &settings).await
}

async fn call(connection: &mut Connection, path: &str, user: UserId, body: &str, expected: u16) -> Result<(), String> {
    let request = post(path, &token(user), "", body);
    let status = connection.call(&request).await.map_err(|error| error.to_string())?.status;
    if status == expected { Ok(()) } else { Err(format!("{path} was answered {status}")) }
}

/// An endpoint for the decisions of the organization.
async fn named(connection: &mut Connection, outside: &Outside) -> Result<(), String> {
    let body = format!(r#"{{"url": "{}", "event_types": ["request.approve"]}}"#, outside.url);
    let admin = UserId(data::id(data::ADMIN, TOLD));
    call(connection, &format!("{}/webhooks", organization_path(TOLD)), admin, &body, 201).await
}

/// The requests of the organization.
fn requests(options: &Options) -> impl Iterator<Item = u64> {
    let shape = options.jobs;
    (0..shape.requests).filter(move |k| shape.organization_of(*k) == TOLD)
}

async fn approve(options: &Options, connection: &mut Connection, k: u64) -> Result<(), String> {
    let path = format!("{}/approve", request_path(options.jobs, k));
    call(connection, &path, data::approver(TOLD), r#"{"version":2}"#, 200).await
}

/// From the decision (its time is read before its commit) to the first byte of the delivery, one at a time.
async fn latency(options: &Options, cluster: &Cluster, summary: &mut Summary) -> Result<(), String> {
    cluster.copy("jobs", COPY).await?;
    let outside = Outside::start(false).await?;
    let server = ringi(cluster, "all").await?;
    let mut connection = Connection::open(&server.address).await.map_err(|error| error.to_string())?;
    named(&mut connection, &outside).await?;
    let chosen: Vec<u64> = requests(options).take(if options.smoke { 20 } else { 80 }).collect();
    for k in &chosen {
        approve(options, &mut connection, *k).await?;
        tokio::time::sleep(Duration::from_millis(50)).await;
    }
    outside.until(chosen.len(), PATIENCE).await?;
    server.stop().await;
    let since = |call: &Asked| {
        let at = call.body.get("timestamp").and_then(|at| at.as_str()).unwrap_or_default();
        let at: ringi::domain::Instant = at.parse().map_err(|error| format!("timestamp {at:?}: {error}"))?;
        Ok::<_, String>(call.time.duration_since(SystemTime::from(at)).unwrap_or_default())
    };
    // The first ones connect.
    let took: Result<Vec<Duration>, String> = outside.calls().iter().skip(5).map(since).collect();
    let latencies = Latencies::of(took?.into_iter());
    summary.set("events.webhook_p50_ms", latencies.ms(0.5), "from a decision to the first byte of its delivery")?;
    summary.set("events.webhook_p99_ms", latencies.ms(0.99), "200 or less")
}

/// A backlog of one organization, numbered and delivered by a process that begins with it.
async fn throughput(options: &Options, cluster: &Cluster, summary: &mut Summary) -> Result<(), String> {
    let events: u64 = if options.smoke { 200 } else { 20_000 };
    let mut rates = Vec::new();
    for _ in 0..options.pairs {
        cluster.copy("jobs", COPY).await?;
        let outside = Outside::start(false).await?;
        let api = ringi(cluster, "api").await?;
        let mut connection = Connection::open(&api.address).await.map_err(|error| error.to_string())?;
        named(&mut connection, &outside).await?;
        cluster
            .execute(
                COPY,
                &format!(
                    "INSERT INTO outbox_event
                       (organization_id, subject_kind, subject_id, seq, event_type, payload, occurred_at)
                     SELECT '{}', 'request', gen_random_uuid()::text, 3, 'request.approve',
                            jsonb_build_object('action', 'approve', 'status', 'approved', 'seq', 3), clock_timestamp()
                     FROM generate_series(1, {events})",
                    data::id(data::ORGANIZATION, TOLD)
                ),
            )
            .await?;
        let worker = ringi(cluster, "worker").await?;
        let begun = tokio::time::Instant::now();
        outside.until(usize::try_from(events).unwrap_or(0), PATIENCE).await?;
        let took = begun.elapsed();
        worker.stop().await;
        api.stop().await;
        rates.push(number(usize::try_from(events).unwrap_or(0)) / took.as_secs_f64());
    }
    summary.set(
        "events.webhook_per_second",
        median(rates),
        "numbered and delivered to one receiver that answers at once",
    )
}
