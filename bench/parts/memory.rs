//! What it takes to be there: memory, time to ready, size.

use super::approvals;
use crate::Options;
use crate::cluster::Cluster;
use crate::load::{self, median};
use crate::serve;
use crate::summary::Summary;

const COPY: &str = "bench_memory";

pub async fn run(options: &Options, cluster: &Cluster, summary: &mut Summary) -> Result<(), String> {
    cluster.copy("pending", COPY).await?;
    let mut ready = Vec::new();
    for _ in 0..options.pairs.max(3) {
        let server = serve::ringi(cluster, COPY, 8).await?;
        ready.push(server.ready.as_secs_f64() * 1000.0);
        server.stop().await;
    }
    summary.set("start.ready_ms", median(ready), "from exec to the first 200 of /health/ready")?;

    let server = serve::ringi(cluster, COPY, 8).await?;
    tokio::time::sleep(options.warm_up).await;
    let idle = server.rss_mib().ok_or("the process says nothing about its memory")?;
    let calls = approvals(options.pending);
    let run = load::closed(&server.address, options.clients, options.time, 0, &calls).await?;
    run.expect(&[200], "approvals")?;
    let after = server.rss_mib().ok_or("the process says nothing about its memory")?;
    server.stop().await;
    summary.set("rss.idle_mib", idle, "resident, a second after the start")?;
    summary.set("rss.after_mib", after, &format!("after {} approvals", run.count(200)))?;

    let binary = std::fs::metadata(env!("CARGO_BIN_EXE_ringi")).map_err(|error| error.to_string())?.len();
    let mib = load::number(usize::try_from(binary).unwrap_or(0)) / 1_048_576.0;
    summary.set("binary.mib", mib, "with the line tables that a backtrace needs")?;
    cluster.drop_copy(COPY).await
}
