//! A month's closing while people work: the product's run against what everybody writes first.
//!
//! The same load for every arm, at a fixed rate through HTTP: approvals, corrections of the month's charges, and imports.
//! (A) one transaction around all rows, row by row; (B) one transaction a charge; (C) the product's run; and (L), the limit,
//! one INSERT ... SELECT of the same rows while nobody works.

use super::{organization_path, request_path, token};
use crate::Options;
use crate::cluster::Cluster;
use crate::data::{self, ADMIN, ORGANIZATION, Shape};
use crate::http::{Connection, get, post, put};
use crate::load::{self, Calls, Run, number};
use crate::serve::{self, Server};
use crate::summary::Summary;
use ringi::domain::ids::UserId;
use serde_json::Value;
use sqlx::{AssertSqlSafe, Connection as _, PgConnection};
use std::collections::BTreeSet;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};
use uuid::Uuid;

const COPY: &str = "bench_closing";
const CHARGE: u64 = 0xF0_0000_0000;
const NEW_CHARGE: u64 = 0xF8_0000_0000;
const PERIOD: &str = "2024-10";
/// Calls a second: approvals, corrections, and imports, in turn.
const RATE: f64 = 120.0;
const CONNECTIONS: usize = 48;
/// How often the statement is looked at.
const LOOK: Duration = Duration::from_millis(50);

/// What an arm gave.
#[derive(Default)]
struct Found {
    timeouts: f64,
    deadlocks: f64,
    http_5xx: usize,
    p50: f64,
    p99: f64,
    /// Before the run.
    calm_p99: f64,
    rows: u64,
    seconds: f64,
    totals: BTreeSet<String>,
    mismatches: f64,
}

impl Found {
    fn rate(&self) -> f64 {
        f64::from(u32::try_from(self.rows).unwrap_or(u32::MAX)) / self.seconds
    }
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Arm {
    OneTransaction,
    OneEach,
    Ringi,
}

pub async fn run(options: &Options, cluster: &Cluster, summary: &mut Summary) -> Result<(), String> {
    let charges: u64 = if options.smoke { 2_000 } else { 200_000 };
    let limit = limit(options, cluster, charges).await?;
    println!("  L, one INSERT ... SELECT, nobody works: {limit:.0} rows/s");
    println!(
        "  {:<34} {:>8} {:>9} {:>5} {:>8} {:>8} {:>9} {:>7} {:>7} {:>10}",
        "", "timeouts", "deadlocks", "5xx", "p50 ms", "p99 ms", "rows/s", "of L", "totals", "mismatches"
    );
    let mut all = Vec::new();
    for (arm, name) in [
        (Arm::OneTransaction, "A, one transaction around all rows"),
        (Arm::OneEach, "B, one transaction a charge"),
        (Arm::Ringi, "C, the product's run"),
    ] {
        let found = measure(arm, options, cluster, charges).await.map_err(|sentence| format!("{name}: {sentence}"))?;
        println!(
            "  {name:<34} {:>8} {:>9} {:>5} {:>8.2} {:>8.2} {:>9.0} {:>7.2} {:>7} {:>10}",
            found.timeouts,
            found.deadlocks,
            found.http_5xx,
            found.p50,
            found.p99,
            found.rate(),
            found.rate() / limit,
            found.totals.len(),
            found.mismatches
        );
        all.push(found);
    }
    let [naive, each, ringi] = all.as_slice() else { return Err("three arms".to_owned()) };
    summary.set(
        "closing.timeouts_one_tx",
        naive.timeouts,
        "of the first design: below 20, this run counts for nothing",
    )?;
    summary.set("closing.timeouts", ringi.timeouts, "seen by people during the product's run: 0")?;
    summary.set("closing.deadlocks", ringi.deadlocks, "0")?;
    summary.set("closing.http_5xx", number(ringi.http_5xx), "0")?;
    summary.set(
        "closing.totals_seen",
        number(ringi.totals.len()),
        "the month's total, as upcoming and as closed: 2 states",
    )?;
    summary.set("closing.mismatches", ringi.mismatches, "rows that differ from their charge: 0")?;
    summary.set(
        "closing.p99_ratio",
        ringi.p99 / ringi.calm_p99,
        "of people's calls, to that without a run: 1.5 or less",
    )?;
    summary.set("closing.rate_share_of_limit", ringi.rate() / limit, "rows a second, under load, to L: 0.5 or more")?;
    summary.set("closing.per_second", ringi.rate(), "rows confirmed a second, under load")?;
    summary.set("closing.one_each_share_of_limit", each.rate() / limit, "of one transaction a charge")?;

    let (few, many) = if options.smoke { (500, 2_000) } else { (10_000, 1_000_000) };
    let (small, _) = alone(cluster, few).await?;
    let (large, seconds) = alone(cluster, many).await?;
    summary.set("closing.rss_growth_mib", large - small, "resident, from 10,000 to 1,000,000 charges: 20 or less")?;
    let rate = f64::from(u32::try_from(many).unwrap_or(0)) / seconds;
    summary.set(
        "closing.alone_per_second",
        rate,
        "rows a second of 1,000,000, proof and flip included, nobody works",
    )?;
    cluster.drop_copy(COPY).await
}

fn organization() -> Uuid {
    data::id(ORGANIZATION, 0)
}

fn admin() -> UserId {
    UserId(data::id(ADMIN, 0))
}

/// A fresh copy with a month of charges in it.
async fn fresh(cluster: &Cluster, charges: u64) -> Result<(), String> {
    cluster.copy("pending", COPY).await?;
    let sql = format!(
        "SET session_replication_role = replica;
         INSERT INTO charge (organization_id, id, period, occurred_at, amount, currency, description, created_by, created_at)
         SELECT '{}', lpad(to_hex({CHARGE} + n), 32, '0')::uuid, '{PERIOD}-01',
                '{PERIOD}-02Z'::timestamptz + (n * 7919 % 2000000) * interval '1 second', 1000 + n % 90000,
                (ARRAY['JPY', 'USD', 'EUR'])[1 + n % 3], 'Taxi ' || n, '{}', now()
         FROM generate_series(0, {charges} - 1) n",
        organization(),
        admin(),
    );
    cluster.execute(COPY, &sql).await?;
    cluster.execute(COPY, "VACUUM ANALYZE charge").await?;
    cluster.execute("postgres", "CHECKPOINT").await
}

/// Where charges are confirmed, the month is closing.
fn begun() -> String {
    format!(
        "INSERT INTO billing_period (organization_id, period, status, started_at)
         VALUES ('{}', '{PERIOD}-01', 'closing', now())",
        organization()
    )
}

const COPIED: &str = "INSERT INTO confirmed_charge (organization_id, charge_id, period, occurred_at, amount, currency,
                                                    description, reverses, request_id)
     SELECT organization_id, id, period, occurred_at, amount, currency, description, reverses, request_id FROM charge";

async fn limit(options: &Options, cluster: &Cluster, charges: u64) -> Result<f64, String> {
    let mut rates = Vec::new();
    for _ in 0..options.pairs.min(2) {
        fresh(cluster, charges).await?;
        cluster.execute(COPY, &begun()).await?;
        let start = Instant::now();
        let sql = format!("{COPIED} WHERE organization_id = '{}' AND period = '{PERIOD}-01'", organization());
        cluster.execute(COPY, &sql).await?;
        rates.push(f64::from(u32::try_from(charges).unwrap_or(0)) / start.elapsed().as_secs_f64());
    }
    Ok(load::median(rates))
}

/// The `n`th call: an approval, two corrections of charges that nobody has corrected, and an import.
fn people(shape: Shape, charges: u64) -> Calls {
    let approvers: Vec<_> = (0..shape.organizations).map(|organization| token(data::approver(organization))).collect();
    let admin = token(admin());
    let organization = organization_path(0);
    Arc::new(move |n| {
        let n = u64::try_from(n).ok()?;
        let (turn, round) = (n % 4, n / 4);
        Some(match turn {
            0 => {
                let approver = approvers.get(usize::try_from(shape.organization_of(round)).ok()?)?;
                post(&format!("{}/approve", request_path(shape, round)), approver, "", r#"{"version":2}"#)
            }
            1 | 2 => {
                // All over the month, each once.
                let k = (round * 2 + turn - 1) * 6_151 % charges;
                let path = format!("{organization}/charges/{}", data::id(CHARGE, k));
                let body = format!(
                    r#"{{"occurred_at":"{PERIOD}-05T00:00:00Z","amount":{},"currency":"JPY","description":"corrected","version":1}}"#,
                    2_000 + round
                );
                put(&path, &admin, &body)
            }
            _ => {
                let id = data::id(NEW_CHARGE, round);
                let body =
                    format!(r#"{{"id":"{id}","occurred_at":"{PERIOD}-06T00:00:00Z","amount":700,"currency":"JPY"}}"#);
                post(&format!("{organization}/charges"), &admin, "", &body)
            }
        })
    })
}

async fn measure(arm: Arm, options: &Options, cluster: &Cluster, charges: u64) -> Result<Found, String> {
    fresh(cluster, charges).await?;
    let settings = [("RINGI__DATABASE__LOCK_TIMEOUT_MS", "2000".to_owned())];
    let url = cluster.postgres.url(COPY);
    let server = serve::ringi_with(cluster, &url, options.clients, &["serve"], &settings).await?;
    let calls = people(options.pending, charges);
    let warm = load::open(&server.address, CONNECTIONS, RATE, 3 * options.warm_up, 0, &calls).await?;
    let calm = load::open(&server.address, CONNECTIONS, RATE, options.time, warm.next, &calls).await?;
    let before = busy(&server).await?;
    let watching = Watching::start(&server).await?;

    let done = Arc::new(AtomicBool::new(false));
    let load = tokio::spawn(storm(server.address.clone(), calls, calm.next, Arc::clone(&done)));
    let begun = Instant::now();
    let rows = match arm {
        Arm::OneTransaction => one_transaction(cluster, charges).await?,
        Arm::OneEach => one_each(cluster, options.time).await?,
        Arm::Ringi => close(&server).await?,
    };
    let seconds = begun.elapsed().as_secs_f64();
    done.store(true, Ordering::Relaxed);
    let storm = load.await.map_err(|error| error.to_string())??;
    let totals = watching.end().await?;
    let after = busy(&server).await?;
    server.stop().await;

    let all = load::Latencies::of(storm.samples.iter().map(|sample| sample.took));
    let calm = load::Latencies::of(calm.samples.iter().map(|sample| sample.took));
    let mismatches = cluster
        .show(
            COPY,
            "SELECT count(*) FROM confirmed_charge f JOIN charge c
               ON c.organization_id = f.organization_id AND c.id = f.charge_id
             WHERE (c.period, c.amount, c.currency, c.occurred_at) <> (f.period, f.amount, f.currency, f.occurred_at)",
        )
        .await?;
    Ok(Found {
        timeouts: after.0 - before.0,
        deadlocks: after.1 - before.1,
        http_5xx: storm.samples.iter().filter(|sample| sample.status >= 500 || sample.status == 0).count(),
        p50: all.ms(0.5),
        p99: all.ms(0.99),
        calm_p99: calm.ms(0.99),
        rows,
        seconds,
        totals,
        mismatches: mismatches.parse().unwrap_or(f64::NAN),
    })
}

/// The load for as long as the run goes on, second by second.
async fn storm(address: String, calls: Calls, first: usize, done: Arc<AtomicBool>) -> Result<Run, String> {
    let mut all = Run { next: first, ..Run::default() };
    while !done.load(Ordering::Relaxed) {
        let part = load::open(&address, CONNECTIONS, RATE, Duration::from_secs(1), all.next, &calls).await?;
        all.samples.extend(part.samples);
        all.next = part.next;
    }
    Ok(all)
}

/// The first design that everybody writes: each row locked, copied, and the next one, all in one transaction.
async fn one_transaction(cluster: &Cluster, charges: u64) -> Result<u64, String> {
    let mut db = cluster.connect(COPY).await?;
    execute(&mut db, "BEGIN").await?;
    // People see an open month until it is over: nothing tells them that a run is going on.
    execute(&mut db, &begun()).await?;
    let mut rows = 0;
    for n in 0..charges {
        rows += copy_one(&mut db, data::id(CHARGE, n)).await?;
    }
    execute(&mut db, "COMMIT").await?;
    db.close().await.map_err(|error| error.to_string())?;
    Ok(rows)
}

/// One transaction a charge, for some time: the whole month would take minutes.
async fn one_each(cluster: &Cluster, time: Duration) -> Result<u64, String> {
    cluster.execute(COPY, &begun()).await?;
    let mut db = cluster.connect(COPY).await?;
    let (start, mut rows) = (Instant::now(), 0);
    while start.elapsed() < time {
        execute(&mut db, "BEGIN").await?;
        let done = copy_one(&mut db, data::id(CHARGE, rows)).await?;
        execute(&mut db, "COMMIT").await?;
        if done == 0 {
            break;
        }
        rows += done;
    }
    db.close().await.map_err(|error| error.to_string())?;
    Ok(rows)
}

async fn copy_one(db: &mut PgConnection, id: Uuid) -> Result<u64, String> {
    let locked = sqlx::query("SELECT FROM charge WHERE organization_id = $1 AND id = $2 FOR UPDATE");
    locked.bind(organization()).bind(id).execute(&mut *db).await.map_err(|error| error.to_string())?;
    let copied = sqlx::query(AssertSqlSafe(format!("{COPIED} WHERE organization_id = $1 AND id = $2")));
    let done = copied.bind(organization()).bind(id).execute(db).await.map_err(|error| error.to_string())?;
    Ok(done.rows_affected())
}

async fn execute(db: &mut PgConnection, sql: &str) -> Result<(), String> {
    let done = sqlx::raw_sql(AssertSqlSafe(sql.to_owned())).execute(db).await;
    done.map(drop).map_err(|error| error.to_string())
}

/// Starts the closing, and waits for its end. Says how many charges it confirmed.
async fn close(server: &Server) -> Result<u64, String> {
    let mut connection = Connection::open(&server.address).await.map_err(|error| error.to_string())?;
    let path = format!("{}/closings/{PERIOD}", organization_path(0));
    let admin = token(admin());
    let status = connection.call(&post(&path, &admin, "", "{}")).await.map_err(|error| error.to_string())?.status;
    if status != 202 {
        return Err(format!("the start was answered {status}"));
    }
    loop {
        let response = connection.call(&get(&path, Some(&admin))).await.map_err(|error| error.to_string())?;
        let view: Value = serde_json::from_slice(response.body).map_err(|error| error.to_string())?;
        match view["state"].as_str() {
            Some("closed") => return view["confirmed"].as_u64().ok_or_else(|| view.to_string()),
            Some("running") => tokio::time::sleep(Duration::from_millis(20)).await,
            _ => return Err(view.to_string()),
        }
    }
}

/// Lock timeouts and deadlocks that people were told of.
async fn busy(server: &Server) -> Result<(f64, f64), String> {
    let mut connection = Connection::open(&server.address).await.map_err(|error| error.to_string())?;
    let response = connection.call(&get("/metrics", None)).await.map_err(|error| error.to_string())?;
    let text = String::from_utf8_lossy(response.body).into_owned();
    let of = |reason: &str| {
        let line = text.lines().find(|line| line.starts_with("ringi_busy_total") && line.contains(reason));
        line.and_then(|line| line.rsplit(' ').next()?.parse().ok()).unwrap_or(0.0)
    };
    Ok((of("\"lock_timeout\""), of("\"deadlock\"")))
}

/// Somebody who looks at the statement all the time.
struct Watching {
    done: Arc<AtomicBool>,
    seen: tokio::task::JoinHandle<Result<BTreeSet<String>, String>>,
}

impl Watching {
    async fn start(server: &Server) -> Result<Self, String> {
        let mut connection = Connection::open(&server.address).await.map_err(|error| error.to_string())?;
        let done = Arc::new(AtomicBool::new(false));
        let over = Arc::clone(&done);
        let seen = tokio::spawn(async move {
            let member = token(data::plain_member(0));
            let (statements, closing) = (
                get(&format!("{}/statements", organization_path(0)), Some(&member)),
                get(&format!("{}/closings/{PERIOD}", organization_path(0)), Some(&token(admin()))),
            );
            let (mut seen, mut begun) = (BTreeSet::new(), false);
            while !over.load(Ordering::Relaxed) {
                if !begun {
                    // From the instant on in which the month is closing, its total stays as it is.
                    let response = connection.call(&closing).await.map_err(|error| error.to_string())?;
                    let view: Value = serde_json::from_slice(response.body).map_err(|error| error.to_string())?;
                    begun = view["state"] != "open";
                }
                if begun {
                    let response = connection.call(&statements).await.map_err(|error| error.to_string())?;
                    seen.insert(total(response.body)?);
                }
                tokio::time::sleep(LOOK).await;
            }
            let response = connection.call(&statements).await.map_err(|error| error.to_string())?;
            seen.insert(total(response.body)?);
            Ok(seen)
        });
        Ok(Self { done, seen })
    }

    async fn end(self) -> Result<BTreeSet<String>, String> {
        self.done.store(true, Ordering::Relaxed);
        self.seen.await.map_err(|error| error.to_string())?
    }
}

/// The month's state and totals, as one text.
fn total(body: &[u8]) -> Result<String, String> {
    let page: Value = serde_json::from_slice(body).map_err(|error| error.to_string())?;
    let of = |list: &str| {
        let months = page[list].as_array().cloned().unwrap_or_default();
        months.into_iter().find(|month| month["period"] == PERIOD).map(|month| format!("{list}: {}", month["totals"]))
    };
    Ok(of("months").or_else(|| of("upcoming")).unwrap_or_default())
}

/// A run without load: the most memory that the process had, in MiB, and how long it took.
async fn alone(cluster: &Cluster, charges: u64) -> Result<(f64, f64), String> {
    fresh(cluster, charges).await?;
    let server = serve::ringi(cluster, COPY, 8).await?;
    let begun = Instant::now();
    let mut most: f64 = 0.0;
    {
        let closing = close(&server);
        tokio::pin!(closing);
        loop {
            tokio::select! {
                closed = &mut closing => {
                    closed?;
                    break;
                }
                () = tokio::time::sleep(LOOK) => {
                    most = most.max(server.rss_mib().ok_or("the process says nothing about its memory")?);
                }
            }
        }
    }
    let seconds = begun.elapsed().as_secs_f64();
    most = most.max(server.rss_mib().unwrap_or(0.0));
    server.stop().await;
    Ok((most, seconds))
}
