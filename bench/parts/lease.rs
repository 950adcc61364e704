//! Slow work: what a heartbeat costs, how soon it starts, how much of it is done in a second beside libraries for jobs,
//! and how soon a dead holder is replaced.

use super::{request_path, token};
use crate::Options;
use crate::cluster::Cluster;
use crate::data;
use crate::http::{Connection, post};
use crate::jobs::Library;
use crate::load::{Latencies, median, number};
use crate::outside::Outside;
use crate::serve::{self, Server};
use crate::summary::Summary;
use ringi::domain::ids::OrganizationId;
use ringi::domain::lease::{Target, TargetKind, Ticket};
use ringi::lease::Pulse;
use ringi::pg::PgPulse;
use sqlx::Row;
use std::time::{Duration, Instant, SystemTime};

const COPY: &str = "bench_lease";
const PATIENCE: Duration = Duration::from_secs(120);
/// A job is done by one of two processes.
const WORKERS: usize = 2;

pub async fn run(options: &Options, cluster: &Cluster, summary: &mut Summary) -> Result<(), String> {
    beat(options, cluster, summary).await?;
    start(options, cluster, summary).await?;
    takeover(options, cluster, summary).await?;
    throughput(options, cluster, summary).await?;
    cluster.drop_copy(COPY).await
}

fn said(error: impl std::fmt::Display) -> String {
    error.to_string()
}

/// 10,000 leases, one statement.
async fn beat(options: &Options, cluster: &Cluster, summary: &mut Summary) -> Result<(), String> {
    let held: usize = if options.smoke { 500 } else { 10_000 };
    cluster.copy("jobs", COPY).await?;
    let mut connection = cluster.connect(COPY).await?;
    let rows = sqlx::query(
        "INSERT INTO job_lease (organization_id, kind, target_id, lease_token, fence, holder, takeovers, acquired_at, updated_at)
         SELECT lpad(to_hex(n % 100), 32, '0')::uuid, 'job', gen_random_uuid()::text, gen_random_uuid(),
                nextval('lease_fence'), 'bench', 0, clock_timestamp(), clock_timestamp()
         FROM generate_series(1, $1) n RETURNING organization_id, target_id, lease_token",
    )
    .bind(i32::try_from(held).unwrap_or(0))
    .fetch_all(&mut connection)
    .await
    .map_err(said)?;
    let tickets: Vec<Ticket> = rows
        .iter()
        .map(|row| Ticket {
            target: Target::of(OrganizationId(row.get(0)), TargetKind::Job, row.get::<String, _>(1)),
            token: row.get(2),
        })
        .collect();
    let mut pulse = PgPulse::new(cluster.options(COPY), Duration::from_secs(30));
    let mut took = Vec::new();
    for round in 0..15 {
        let begun = Instant::now();
        let beat = pulse.beat(&tickets).await.map_err(said)?;
        if beat.fresh.len() != held || !beat.gone.is_empty() {
            return Err(format!("{} of {held} leases beat", beat.fresh.len()));
        }
        // The first ones connect and prepare.
        if round >= 3 {
            took.push(begun.elapsed().as_secs_f64() * 1_000.0);
        }
        tokio::time::sleep(Duration::from_millis(50)).await;
    }
    summary.set("lease.beat_10k_ms", median(took), "one heartbeat of 10,000 leases, one statement")
}

fn connector(outside: &Outside) -> Vec<(&'static str, String)> {
    vec![("RINGI__PROCESSING__CONNECTOR_URL", outside.url.clone()), ("RINGI__HTTP__DRAIN_MS", "0".to_owned())]
}

async fn ringi(cluster: &Cluster, role: &str, settings: &[(&str, String)]) -> Result<Server, String> {
    let url = cluster.postgres.url(COPY);
    serve::ringi_with(cluster, &url, 8, &["serve", "--role", role], settings).await
}

/// From the decision (its time is read before its commit) to the first byte of the outside call, one at a time.
async fn start(options: &Options, cluster: &Cluster, summary: &mut Summary) -> Result<(), String> {
    cluster.copy("jobs", COPY).await?;
    let outside = Outside::start(false).await?;
    let server = ringi(cluster, "all", &connector(&outside)).await?;
    let mut connection = Connection::open(&server.address).await.map_err(said)?;
    let calls: u64 = if options.smoke { 20 } else { 300 };
    for k in 0..calls {
        let approver = token(data::approver(options.jobs.organization_of(k)));
        let path = format!("{}/approve", request_path(options.jobs, k));
        let status = connection.call(&post(&path, &approver, "", r#"{"version":2}"#)).await.map_err(said)?.status;
        if status != 200 {
            return Err(format!("an approval was answered {status}"));
        }
        tokio::time::sleep(Duration::from_millis(20)).await;
    }
    outside.until(usize::try_from(calls).unwrap_or(0), PATIENCE).await?;
    server.stop().await;
    let mut took = Vec::new();
    for call in outside.calls().iter().skip(10) {
        let at = call.body.get("approved_at").and_then(|at| at.as_str()).unwrap_or_default();
        let at: ringi::domain::Instant = at.parse().map_err(|error| format!("approved_at {at:?}: {error}"))?;
        took.push(call.time.duration_since(SystemTime::from(at)).unwrap_or_default());
    }
    let latencies = Latencies::of(took.into_iter());
    summary.set("lease.start_p50_ms", latencies.ms(0.5), "from an approval to the first byte of the outside call")?;
    summary.set("lease.start_p99_ms", latencies.ms(0.99), "under 50")
}

/// A holder is killed: how long until another asks, less the timeout.
async fn takeover(options: &Options, cluster: &Cluster, summary: &mut Summary) -> Result<(), String> {
    let timeout = Duration::from_secs(2);
    let mut worst = f64::MIN;
    for round in 0..if options.smoke { 1 } else { 5 } {
        cluster.copy("jobs", COPY).await?;
        let outside = Outside::start(true).await?;
        let mut settings = connector(&outside);
        settings.push(("RINGI__PROCESSING__HEARTBEAT_INTERVAL_MS", "500".to_owned()));
        settings.push(("RINGI__PROCESSING__LEASE_TIMEOUT_MS", "2000".to_owned()));
        settings.push(("RINGI__PROCESSING__SAVE_TIMEOUT_MS", "1000".to_owned()));
        let first = ringi(cluster, "worker", &settings).await?;
        approved(cluster, 1).await?;
        outside.until(1, PATIENCE).await?;
        let second = ringi(cluster, "worker", &settings).await?;
        // Somewhere between two heartbeats.
        tokio::time::sleep(Duration::from_millis(100 + 130 * round)).await;
        first.kill().await;
        let killed = Instant::now();
        while outside.calls().len() < 2 {
            if killed.elapsed() > PATIENCE {
                return Err("nobody took over".to_owned());
            }
            tokio::time::sleep(Duration::from_millis(2)).await;
        }
        let after = outside.calls().get(1).map_or(f64::NAN, |call| call.at.duration_since(killed).as_secs_f64());
        worst = worst.max(after - timeout.as_secs_f64());
        second.kill().await;
    }
    summary.set(
        "lease.takeover_excess_s",
        worst,
        "from kill -9 to the takeover, less the timeout, the worst: 1 or less",
    )
}

/// So many requests stand approved, with a job each, as approvals would have left them.
async fn approved(cluster: &Cluster, jobs: u64) -> Result<(), String> {
    cluster
        .execute(
            COPY,
            &format!(
                "SET session_replication_role = replica;
                 WITH chosen AS (
                   UPDATE approval_request SET status = 'approved', version = 3, decided_at = updated_at,
                                               last_action = 'approve'
                   WHERE id IN (SELECT id FROM approval_request ORDER BY id LIMIT {jobs})
                   RETURNING organization_id, id
                 )
                 INSERT INTO job (organization_id, request_id, state, next_try_at, started_at)
                 SELECT organization_id, id, 'waiting', clock_timestamp(), clock_timestamp() FROM chosen"
            ),
        )
        .await?;
    cluster.execute(COPY, "VACUUM ANALYZE job, approval_request").await?;
    cluster.execute("postgres", "CHECKPOINT").await
}

/// Jobs per second, of this and of the others, in turn.
async fn throughput(options: &Options, cluster: &Cluster, summary: &mut Summary) -> Result<(), String> {
    let jobs = options.jobs.requests;
    let mut libraries = Vec::new();
    for library in Library::ALL {
        if options.smoke && !options.peers {
            continue;
        }
        match library.install(cluster).await {
            Ok(()) => libraries.push(library),
            Err(sentence) => println!("  {} can't be installed, so it is not compared: {sentence}", library.name()),
        }
    }
    let (mut ours, mut ratios) = (Vec::new(), Vec::new());
    let mut theirs: Vec<Vec<f64>> = libraries.iter().map(|_| Vec::new()).collect();
    for round in 1..=options.pairs {
        let own = own_rate(cluster, jobs, options.time).await.map_err(|sentence| format!("ringi: {sentence}"))?;
        println!("  round {round}: {:<14} {own:>8.0} jobs/s", "ringi");
        let mut best: f64 = 0.0;
        for (library, rates) in libraries.iter().zip(&mut theirs) {
            let rate = rate_of(*library, cluster, jobs, options.time)
                .await
                .map_err(|sentence| format!("{}: {sentence}", library.name()))?;
            println!("  round {round}: {:<14} {rate:>8.0} jobs/s", library.name());
            best = best.max(rate);
            rates.push(rate);
        }
        ours.push(own);
        ratios.push(own / best);
    }
    summary.set("lease.jobs_per_second", median(ours), "two workers; lease, fence, history and event for each")?;
    for (library, rates) in libraries.iter().zip(theirs) {
        summary.set(&format!("lease.{}_per_second", library.name()), median(rates), "")?;
    }
    if libraries.is_empty() {
        summary.unset("lease.jobs_ratio_best_peer");
        return Ok(());
    }
    summary.set("lease.jobs_ratio_best_peer", median(ratios), "to the fastest of them: 1.0 or more")
}

async fn own_rate(cluster: &Cluster, jobs: u64, time: Duration) -> Result<f64, String> {
    cluster.copy("jobs", COPY).await?;
    approved(cluster, jobs).await?;
    let outside = Outside::start(false).await?;
    let mut workers = Vec::new();
    for _ in 0..WORKERS {
        workers.push(ringi(cluster, "worker", &connector(&outside)).await?);
    }
    let rate = rate(cluster, &outside, jobs, time, "SELECT count(*) FROM job_result").await;
    for worker in workers {
        worker.stop().await;
    }
    rate
}

async fn rate_of(library: Library, cluster: &Cluster, jobs: u64, time: Duration) -> Result<f64, String> {
    cluster.drop_copy(COPY).await?;
    cluster.postgres.ensure_database(COPY).await.map_err(said)?;
    library.set_up(cluster, COPY, jobs).await?;
    cluster.execute(COPY, "VACUUM ANALYZE").await?;
    cluster.execute("postgres", "CHECKPOINT").await?;
    let outside = Outside::start(false).await?;
    let mut workers = Vec::new();
    for _ in 0..WORKERS {
        workers.push(library.work(cluster, COPY, &outside.url)?);
    }
    let rate = rate(cluster, &outside, jobs, time, "SELECT count(*) FROM peer_result").await;
    for mut worker in workers {
        drop(worker.kill().await);
    }
    rate
}

/// Of the calls after the first tenth, which warms up. In the end every job must have its one result; who is too slow for
/// that within `time` is stopped there.
async fn rate(cluster: &Cluster, outside: &Outside, jobs: u64, time: Duration, results: &str) -> Result<f64, String> {
    let all = usize::try_from(jobs).unwrap_or(0);
    outside.until(all / 10, PATIENCE).await?;
    let slow = outside.until(all, time).await.is_err();
    let done = Instant::now();
    while !slow && cluster.show(COPY, results).await? != jobs.to_string() {
        if done.elapsed() > Duration::from_secs(10) {
            return Err(format!("{} of {jobs} results", cluster.show(COPY, results).await?));
        }
        tokio::time::sleep(Duration::from_millis(10)).await;
    }
    let calls = outside.calls();
    let (Some(first), Some(last)) = (calls.get(all / 10), calls.last()) else { return Err("no calls".to_owned()) };
    Ok(number(calls.len() - 1 - all / 10) / last.at.duration_since(first.at).as_secs_f64())
}
