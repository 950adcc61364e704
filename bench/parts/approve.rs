//! Approvals per second, against the same statements and the textbook's on the bare socket, and against what a team
//! would write instead.

use super::{approvals, request_path, token};
use crate::Options;
use crate::cluster::Cluster;
use crate::data;
use crate::http::{Connection, post};
use crate::load::{self, median};
use crate::pgbench;
use crate::serve::{self, Peer, Server};
use crate::statements::{self, Script};
use crate::summary::Summary;
use crate::trips::Wire;
use std::time::Duration;

const COPY: &str = "bench_approve";

/// Who approves.
enum Arm {
    Ringi,
    Script(Script),
    Peer(Peer),
}

impl Arm {
    const fn name(&self) -> &'static str {
        match self {
            Self::Ringi => "ringi",
            Self::Script(script) => script.name,
            Self::Peer(peer) => peer.name(),
        }
    }
}

pub async fn run(options: &Options, cluster: &Cluster, summary: &mut Summary) -> Result<(), String> {
    round_trips(options, cluster, summary).await?;

    let mut arms = vec![Arm::Ringi];
    if pgbench::program().is_some() {
        let same = statements::capture(cluster, options.pending).await?;
        println!("  the product sends {} statements for an approval", same.statements);
        arms.push(Arm::Script(same));
        arms.push(Arm::Script(statements::textbook(options.pending)));
    } else {
        println!("  there is no pgbench: nothing to compare with on the bare socket");
    }
    for peer in [Peer::Django, Peer::Fastify] {
        if (options.smoke && !options.peers) || !options.compares(peer.name()) {
            continue;
        }
        match peer.install(cluster).await {
            Ok(()) => arms.push(Arm::Peer(peer)),
            Err(sentence) => println!("  {} can't be installed, so it is not compared: {sentence}", peer.name()),
        }
    }

    arms.retain(|arm| options.compares(arm.name()));
    // A, B, C, A, B, C: what drifts meets all of them.
    let mut rates: Vec<Vec<f64>> = arms.iter().map(|_| Vec::new()).collect();
    for round in 1..=options.pairs {
        for (arm, rates) in arms.iter().zip(&mut rates) {
            let rate =
                measure(arm, options, cluster).await.map_err(|sentence| format!("{}: {sentence}", arm.name()))?;
            println!("  round {round}: {:<10} {rate:>8.0} approvals/s", arm.name());
            rates.push(rate);
        }
    }
    let ringi = rates.first().cloned().unwrap_or_default();
    summary.set("approve.per_second", median(ringi.clone()), "over HTTP with a token each")?;
    for (arm, rates) in arms.iter().zip(&rates).skip(1) {
        let note = match arm.name() {
            "same_sql" => "to pgbench with the product's own statements: 0.95 or more",
            "textbook" => "to pgbench with the textbook's seven: 1.2 or more",
            "django" => "to Django REST framework: 10 or more",
            _ => "to Fastify with pg: 4 or more",
        };
        let ratios = ringi.iter().zip(rates).map(|(ours, theirs)| ours / theirs).collect();
        summary.set(&format!("approve.ratio_{}", arm.name()), median(ratios), note)?;
        summary.set(&format!("approve.{}_per_second", arm.name()), median(rates.clone()), "")?;
    }
    for peer in [Peer::Django, Peer::Fastify].into_iter().filter(|peer| options.compares(peer.name())) {
        if !arms.iter().any(|arm| arm.name() == peer.name()) {
            summary.unset(&format!("approve.ratio_{}", peer.name()));
            summary.unset(&format!("approve.{}_per_second", peer.name()));
        }
    }
    cluster.drop_copy(COPY).await
}

/// One arm on a fresh copy: a second to warm up, then the time that counts.
async fn measure(arm: &Arm, options: &Options, cluster: &Cluster) -> Result<f64, String> {
    cluster.copy("pending", COPY).await?;
    let warm_up = options.warm_up;
    let (rate, approved) = match arm {
        Arm::Ringi => over_http(serve::ringi(cluster, COPY, options.clients).await?, options, warm_up).await?,
        Arm::Peer(peer) => over_http(peer.start(cluster, COPY).await?, options, 3 * warm_up).await?,
        Arm::Script(script) => {
            let warm = pgbench::run(cluster, COPY, script, options.clients, warm_up, 0).await?;
            // Clients differ a little in speed: begin well behind the fastest of them.
            let first = warm.transactions * 2 + options.clients * 100;
            let tps = pgbench::run(cluster, COPY, script, options.clients, options.time, first).await?;
            (tps.per_second, warm.transactions + tps.transactions)
        }
    };
    let stored = cluster.show(COPY, "SELECT count(*) FROM approval_request WHERE status = 'approved'").await?;
    // The relay moves them while it runs.
    let count = "SELECT (SELECT count(*) FROM outbox_event WHERE event_type = 'request.approve')
                      + (SELECT count(*) FROM event_log WHERE event_type = 'request.approve')";
    let events = cluster.show(COPY, count).await?;
    if stored != approved.to_string() || events != stored {
        return Err(format!(
            "{approved} approvals were counted, {stored} are stored with {events} events: the run was longer than the \
             data (fewer --seconds), or something is wrong"
        ));
    }
    Ok(rate)
}

async fn over_http(server: Server, options: &Options, warm_up: Duration) -> Result<(f64, usize), String> {
    let calls = approvals(options.pending);
    let warm = load::closed(&server.address, options.clients, warm_up, 0, &calls).await?;
    let run = load::closed(&server.address, options.clients, options.time, warm.next, &calls).await?;
    server.stop().await;
    warm.expect(&[200], "warm-up")?;
    run.expect(&[200], "approvals")?;
    Ok((run.rate(200), warm.count(200) + run.count(200)))
}

/// One approval at a time through a socket that counts.
async fn round_trips(options: &Options, cluster: &Cluster, summary: &mut Summary) -> Result<(), String> {
    cluster.copy("pending", COPY).await?;
    let wire = Wire::start(cluster.postgres.socket_dir()).map_err(|error| error.to_string())?;
    let url = format!("postgres:///{COPY}?host={}&port=5432&user=ringi", wire.dir().display());
    let server = serve::ringi_at(cluster, &url, 1).await?;
    let mut connection = Connection::open(&server.address).await.map_err(|error| error.to_string())?;
    let mut counted = Vec::new();
    for key in [false, true] {
        // The first ones prepare the statements, which happens once for each connection.
        let mut least = u64::MAX;
        for n in 0..5 {
            let k = if key { 5 + n } else { n };
            let header = if key { format!("Idempotency-Key: bench-{k}\r\n") } else { String::new() };
            let approver = token(data::approver(options.pending.organization_of(k)));
            let path = format!("{}/approve", request_path(options.pending, k));
            let before = wire.trips();
            let call = post(&path, &approver, &header, r#"{"version":2}"#);
            let status = connection.call(&call).await.map_err(|error| error.to_string())?.status;
            if status != 200 {
                return Err(format!("an approval through the counting socket was answered {status}"));
            }
            // The pool looks at a connection that comes back, perhaps after the answer.
            tokio::time::sleep(Duration::from_millis(50)).await;
            least = least.min(wire.since(&before));
        }
        counted.push(least);
    }
    server.stop().await;
    let figure = |n: usize| counted.get(n).and_then(|n| u32::try_from(*n).ok()).map_or(f64::NAN, f64::from);
    summary.set("approve.round_trips", figure(0), "on the wire, with the pool's own: 5 or fewer")?;
    summary.set("approve.round_trips_with_key", figure(1), "with an idempotency key: 6 or fewer")
}
