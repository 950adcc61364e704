//! One request that everybody decides on at once, with the version of before, and another organization meanwhile.

use super::{approvals_of, request_path, token};
use crate::Options;
use crate::cluster::Cluster;
use crate::data;
use crate::http::post;
use crate::load::{self, Calls, median};
use crate::serve;
use crate::summary::Summary;
use std::sync::Arc;

const COPY: &str = "bench_hot";
const DECIDERS: usize = 64;
/// Approvals of the other organization per second: few, so that they alone are no load.
const OTHER_RATE: f64 = 100.0;

pub async fn run(options: &Options, cluster: &Cluster, summary: &mut Summary) -> Result<(), String> {
    let shape = options.pending;
    // Organization 0 has the hot request, organization 1 the others.
    let others = approvals_of(shape, move |n| Some(n * shape.organizations + 1));
    let approver = token(data::approver(0));
    let decisions: Vec<_> = [("approve", r#"{"version":1}"#), ("reject", r#"{"version":1,"reason":"No."}"#)]
        .map(|(action, body)| post(&format!("{}/{action}", request_path(shape, 0)), &approver, "", body))
        .to_vec();
    let conflicts: Calls = Arc::new(move |n| decisions.get(n % 2).cloned());

    let (mut per_second, mut ratios, mut alone_ms, mut beside_ms) = (vec![], vec![], vec![], vec![]);
    for _ in 0..options.pairs {
        cluster.copy("pending", COPY).await?;
        // As it comes: the shares are those of the product's own number of connections.
        let server = serve::ringi(cluster, COPY, 8).await?;
        let address = &server.address;
        let warm = load::open(address, 16, OTHER_RATE, options.warm_up, 0, &others).await?;
        let alone = load::open(address, 16, OTHER_RATE, options.time / 2, warm.next, &others).await?;
        let (beside, hot) = tokio::join!(
            load::open(address, 16, OTHER_RATE, options.time / 2, alone.next, &others),
            load::closed(address, DECIDERS, options.time / 2, 0, &conflicts),
        );
        server.stop().await;
        let (beside, hot) = (beside?, hot?);
        alone.expect(&[200], "the other organization alone")?;
        beside.expect(&[200], "the other organization meanwhile")?;
        hot.expect(&[409], "decisions on the hot request")?;
        let p99 = |run: &load::Run| run.latencies(200).ms(0.99);
        per_second.push(hot.rate(409));
        ratios.push(p99(&beside) / p99(&alone));
        alone_ms.push(p99(&alone));
        beside_ms.push(p99(&beside));
    }
    summary.set("hot.conflicts_per_s", median(per_second), &format!("409 to {DECIDERS} deciders, no 5xx"))?;
    summary.set("hot.other_org_p99_alone_ms", median(alone_ms), &format!("{OTHER_RATE} approvals/s elsewhere"))?;
    summary.set("hot.other_org_p99_ms", median(beside_ms), "the same meanwhile")?;
    summary.set("hot.other_org_p99_ratio", median(ratios), "2 or less")?;
    cluster.drop_copy(COPY).await
}
