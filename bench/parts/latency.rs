//! Latency at fixed rates below the capacity, and what happens above it.

use super::approvals;
use crate::Options;
use crate::cluster::Cluster;
use crate::load::{self, Run, median};
use crate::serve;
use crate::summary::Summary;
use std::time::Duration;

const COPY: &str = "bench_latency";
/// Connections of the generator below the capacity, and above it, where answers that wait must not hold back others.
const BELOW: usize = 64;
const ABOVE: usize = 1_200;
/// The grain in which recovery is looked for.
const WINDOW: Duration = Duration::from_millis(100);
/// So many good windows in a row are a recovery.
const GOOD_WINDOWS: usize = 5;

pub async fn run(options: &Options, cluster: &Cluster, summary: &mut Summary) -> Result<(), String> {
    let calls = approvals(options.pending);
    let mut capacities = Vec::new();
    for _ in 0..options.pairs {
        cluster.copy("pending", COPY).await?;
        let server = serve::ringi(cluster, COPY, options.clients).await?;
        let warm = load::closed(&server.address, BELOW, options.warm_up, 0, &calls).await?;
        let run = load::closed(&server.address, BELOW, options.time / 2, warm.next, &calls).await?;
        server.stop().await;
        run.expect(&[200], "capacity")?;
        capacities.push(run.rate(200));
    }
    let capacity = median(capacities);
    summary.set("capacity.per_second", capacity, &format!("closed loop, {BELOW} connections"))?;

    let mut at: [(u32, Vec<[f64; 3]>); 3] = [(50, vec![]), (70, vec![]), (90, vec![])];
    let time = options.time.min(Duration::from_secs(8));
    for _ in 0..options.pairs {
        for (percent, found) in &mut at {
            cluster.copy("pending", COPY).await?;
            let server = serve::ringi(cluster, COPY, options.clients).await?;
            let warm = load::closed(&server.address, BELOW, options.warm_up, 0, &calls).await?;
            let rate = capacity * f64::from(*percent) / 100.0;
            let run = load::open(&server.address, BELOW, rate, time, warm.next, &calls).await?;
            server.stop().await;
            run.expect(&[200], "open loop")?;
            let latencies = run.latencies(200);
            found.push([0.5, 0.99, 0.999].map(|share| latencies.ms(share)));
        }
    }
    for (percent, found) in &at {
        for (column, name) in ["p50", "p99", "p999"].iter().enumerate() {
            let value = median(found.iter().map(|row| row[column]).collect());
            summary.set(&format!("approve.{name}_ms_at_{percent}"), value, "open loop, from the intended start")?;
        }
    }
    overload(options, cluster, summary, capacity).await?;
    cluster.drop_copy(COPY).await
}

/// Twice the capacity for a while, then half of it at once.
async fn overload(options: &Options, cluster: &Cluster, summary: &mut Summary, capacity: f64) -> Result<(), String> {
    let calls = approvals(options.pending);
    let (mut refused_ms, mut recovered_ms, mut shares) = (Vec::new(), Vec::new(), Vec::new());
    for _ in 0..options.pairs {
        cluster.copy("pending", COPY).await?;
        let server = serve::ringi(cluster, COPY, options.clients).await?;
        let second = options.warm_up;
        let warm = load::closed(&server.address, BELOW, second, 0, &calls).await?;
        let calm = load::open(&server.address, BELOW, capacity / 2.0, 2 * second, warm.next, &calls).await?;
        let above = if options.smoke { BELOW } else { ABOVE };
        let storm = load::open(&server.address, above, capacity * 2.0, options.time / 2, calm.next, &calls).await?;
        let after = load::open(&server.address, BELOW, capacity / 2.0, 3 * second, storm.next, &calls).await?;
        server.stop().await;
        storm.expect(&[200, 503], "overload")?;
        let refused = storm.latencies(503);
        if refused.len() > 0 {
            refused_ms.push(refused.ms(0.99));
        }
        shares.push(storm.rate(200) / capacity);
        let limit = (2.0 * calm.latencies(200).ms(0.99)).max(20.0);
        recovered_ms.push(recovery(&after, limit));
    }
    summary.set("overload.goodput", median(shares), "of the capacity, at twice its rate")?;
    if refused_ms.is_empty() {
        println!("  overload: no 503 at twice the capacity");
        summary.unset("overload.p99_503_ms");
    } else {
        summary.set("overload.p99_503_ms", median(refused_ms), "to a 503 at twice the capacity: 100 or less")?;
    }
    let note = "until half the capacity is served as before: 1000 or less";
    summary.set("overload.recover_ms", median(recovered_ms), note)
}

/// When the first of some windows in a row began in which all was answered 200 within the limit.
fn recovery(run: &Run, limit_ms: f64) -> f64 {
    let window = |at: Duration| usize::try_from(at.as_millis() / WINDOW.as_millis()).unwrap_or(0);
    let windows = run.samples.last().map_or(0, |last| window(last.at) + 1);
    let mut good = vec![true; windows];
    for sample in &run.samples {
        if sample.status != 200 || sample.took.as_secs_f64() * 1000.0 > limit_ms {
            good[window(sample.at)] = false;
        }
    }
    let start = good.windows(GOOD_WINDOWS).position(|row| row.iter().all(|good| *good)).unwrap_or(windows);
    load::number(start) * WINDOW.as_secs_f64() * 1000.0
}
