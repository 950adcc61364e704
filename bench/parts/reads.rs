//! Lists, inboxes, counts and searches with a million requests, one client, 50 items a page.

use super::{organization_path, token};
use crate::Options;
use crate::cluster::Cluster;
use crate::data::{self, COMMON, RARE};
use crate::http::{Connection, get};
use crate::load::Latencies;
use crate::serve;
use crate::summary::Summary;
use std::time::{Duration, Instant};

pub async fn run(options: &Options, cluster: &Cluster, summary: &mut Summary) -> Result<(), String> {
    let server = serve::ringi(cluster, &cluster.name("reads"), options.clients).await?;
    let mut connection = Connection::open(&server.address).await.map_err(|error| error.to_string())?;
    let mut reads = Reads { options, connection: &mut connection };

    let list = reads.measure("list, first page", "requests", true).await?;
    let deep = reads.walk("list, from page to page").await?;
    let inbox = reads.measure("inbox", "requests?view=inbox", true).await?;
    let counts = reads.measure("counts", "requests/counts", true).await?;
    let mut search = 0_f64;
    for approver in [true, false] {
        for word in COMMON.iter().chain(&RARE) {
            let what = format!("search {word}, {}", if approver { "an approver" } else { "a member with three rows" });
            let p99 = reads.measure(&what, &format!("requests?q={}", encoded(word)), approver).await?;
            search = search.max(p99);
        }
    }
    let plain = reads.measure("list, a member with three rows", "requests", false).await?;
    server.stop().await;
    summary.set("list.p99_ms", list.max(deep).max(plain), "the slowest kind of list: under 20")?;
    summary.set("inbox.p99_ms", inbox, "under 20")?;
    summary.set("counts.p99_ms", counts, "under 20")?;
    summary.set("search.p99_ms", search, "the slowest kind of search: under 20")
}

struct Reads<'a> {
    options: &'a Options,
    connection: &'a mut Connection,
}

impl Reads<'_> {
    /// One read over organizations in turn; the p99 in milliseconds.
    async fn measure(&mut self, what: &str, path: &str, approver: bool) -> Result<f64, String> {
        let organizations = self.options.reads.organizations;
        let requests: Vec<_> = (0..organizations)
            .map(|organization| {
                let user = if approver { data::approver(organization) } else { data::plain_member(organization) };
                get(&format!("{}/{path}", organization_path(organization)), Some(&token(user)))
            })
            .collect();
        let (start, mut took) = (Instant::now(), Vec::new());
        // The first round warms up.
        for n in 0..self.options.reads_each + organizations {
            if start.elapsed() > self.options.time && n > organizations {
                break;
            }
            let index = usize::try_from(n % organizations).unwrap_or(0);
            let one = self.call(&requests[index]).await?.0;
            if n >= organizations {
                took.push(one);
            }
        }
        Ok(report(what, took))
    }

    /// From page to page through one organization.
    async fn walk(&mut self, what: &str) -> Result<f64, String> {
        let approver = token(data::approver(1));
        let (mut cursor, mut took) = (String::new(), Vec::new());
        for _ in 0..self.options.reads_each {
            let (one, body) =
                self.call(&get(&format!("{}/requests{cursor}", organization_path(1)), Some(&approver))).await?;
            took.push(one);
            let page: serde_json::Value = serde_json::from_slice(&body).map_err(|error| error.to_string())?;
            cursor = page["next_cursor"].as_str().map(|next| format!("?cursor={}", encoded(next))).unwrap_or_default();
        }
        Ok(report(what, took))
    }

    async fn call(&mut self, request: &[u8]) -> Result<(Duration, Vec<u8>), String> {
        let start = Instant::now();
        let answer = self.connection.call(request).await.map_err(|error| error.to_string())?;
        let took = start.elapsed();
        if answer.status != 200 {
            return Err(format!("a read was answered {}: {}", answer.status, String::from_utf8_lossy(answer.body)));
        }
        Ok((took, answer.body.to_vec()))
    }
}

fn report(what: &str, took: Vec<Duration>) -> f64 {
    let latencies = Latencies::of(took.into_iter());
    let (p50, p99) = (latencies.ms(0.5), latencies.ms(0.99));
    println!("  {what:<44} p50 {p50:>8.2} ms   p99 {p99:>8.2} ms   of {}", latencies.len());
    p99
}

fn encoded(text: &str) -> String {
    percent_encoding::utf8_percent_encode(text, percent_encoding::NON_ALPHANUMERIC).to_string()
}
