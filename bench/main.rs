//! `make bench`: how fast Ringi is, on a PostgreSQL of the bench's own. See `docs/benchmarks.md`.
//!
//! `cargo test` runs it without `--bench`: small, without fsync, without the peers; then it shows that the bench works,
//! and its figures mean nothing.
#![allow(missing_docs, unreachable_pub, reason = "a program")]
#![allow(
    clippy::print_stdout,
    clippy::print_stderr,
    clippy::indexing_slicing,
    clippy::as_conversions,
    clippy::missing_errors_doc,
    clippy::duration_suboptimal_units,
    clippy::struct_field_names,
    reason = "a program for the terminal"
)]

mod cluster;
mod data;
mod http;
mod jobs;
mod load;
mod outside;
mod parts;
mod pgbench;
mod serve;
mod statements;
mod summary;
mod trips;

use cluster::Cluster;
use data::Shape;
use std::path::Path;
use std::process::ExitCode;
use std::time::Duration;
use summary::Summary;

const PARTS: [&str; 9] = ["approve", "latency", "hot", "reads", "memory", "lease", "closing", "events", "webhooks"];

const USAGE: &str =
    "parts: approve latency hot reads memory lease closing events webhooks (all of them when none is named)
  --seconds N   how long each measurement takes (10)
  --pairs N     how many interleaved rounds (3)
  --arms A,B    with approve: only these of ringi same_sql textbook django fastify
  --clients N   connections of the generator, of pgbench and of the product (16)
  --smoke       small and without fsync: shows that the bench works, measures nothing
  --peers       with --smoke: try the peers, too, which needs the network once";

/// What was asked for.
#[derive(Clone)]
pub struct Options {
    pub smoke: bool,
    pub peers: bool,
    pub time: Duration,
    pub warm_up: Duration,
    /// Reads of each kind, as far as the time allows.
    pub reads_each: u64,
    pub pairs: usize,
    pub clients: usize,
    pub pending: Shape,
    pub reads: Shape,
    /// Requests whose jobs are done.
    pub jobs: Shape,
    parts: Vec<String>,
    /// Those that take part in comparisons; empty: all.
    arms: Vec<String>,
}

impl Options {
    /// `Ok(None)`: nothing to do, as when cargo's own arguments ask for other tests.
    fn parse(arguments: impl Iterator<Item = String>) -> Result<Option<Self>, String> {
        let mut options = Self {
            smoke: true,
            peers: false,
            time: Duration::from_secs(10),
            warm_up: Duration::from_secs(1),
            reads_each: 500,
            pairs: 3,
            clients: 16,
            pending: Shape { organizations: 100, requests: 100_000, all_pending: true },
            reads: Shape { organizations: 100, requests: 1_000_000, all_pending: false },
            jobs: Shape { organizations: 100, requests: 8_000, all_pending: true },
            parts: Vec::new(),
            arms: Vec::new(),
        };
        let (mut smoke, mut unknown) = (false, Vec::new());
        let mut arguments = arguments;
        while let Some(argument) = arguments.next() {
            if argument == "--arms" {
                let names = arguments.next().ok_or_else(|| format!("--arms needs names\n{USAGE}"))?;
                options.arms = names.split(',').map(str::to_owned).collect();
                continue;
            }
            let mut value = || {
                let value = arguments.next().and_then(|text| text.parse::<usize>().ok()).filter(|n| *n > 0);
                value.ok_or_else(|| format!("{argument} needs a number\n{USAGE}"))
            };
            match argument.as_str() {
                "--bench" => options.smoke = false,
                "--smoke" => smoke = true,
                "--peers" => options.peers = true,
                "--seconds" => options.time = Duration::from_secs(u64::try_from(value()?).unwrap_or(10)),
                "--pairs" => options.pairs = value()?,
                "--clients" => options.clients = value()?,
                "all" => {}
                part if PARTS.contains(&part) => options.parts.push(part.to_owned()),
                _ => unknown.push(argument),
            }
        }
        if !options.smoke && !unknown.is_empty() {
            return Err(format!("{} is not known\n{USAGE}", unknown.join(" ")));
        }
        options.smoke |= smoke;
        // `cargo test NAME` and `cargo test -- --list` pass their arguments to every test program.
        if unknown.iter().any(|argument| argument == "--list" || !argument.starts_with('-')) {
            return Ok(None);
        }
        if options.smoke {
            options.time = Duration::from_millis(300);
            options.warm_up = Duration::from_millis(100);
            options.reads_each = 3;
            options.pairs = 1;
            options.clients = 4;
            options.pending = Shape { organizations: 4, requests: 8_000, all_pending: true };
            options.jobs = Shape { organizations: 4, requests: 400, all_pending: true };
            options.reads = Shape { organizations: 4, requests: 2_000, all_pending: false };
        }
        Ok(Some(options))
    }

    /// True when this arm takes part.
    #[must_use]
    pub fn compares(&self, arm: &str) -> bool {
        self.arms.is_empty() || self.arms.iter().any(|wanted| wanted == arm)
    }

    fn wants(&self, part: &str) -> bool {
        self.parts.is_empty() || self.parts.iter().any(|wanted| wanted == part)
    }
}

fn main() -> ExitCode {
    let done = Options::parse(std::env::args().skip(1)).and_then(|options| {
        let Some(options) = options else { return Ok(()) };
        // One thread: the generator shares the cores with what it measures.
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build();
        runtime.map_err(|error| error.to_string())?.block_on(bench(&options))
    });
    match done {
        Ok(()) => ExitCode::SUCCESS,
        Err(sentence) => {
            eprintln!("bench: {sentence}");
            ExitCode::FAILURE
        }
    }
}

async fn bench(options: &Options) -> Result<(), String> {
    statements::self_test()?;
    let target = Path::new(env!("CARGO_TARGET_TMPDIR")).parent().ok_or("no target folder")?;
    let dir = target.join(if options.smoke { "bench/smoke" } else { "bench" });
    let cluster = Cluster::start(&dir, !options.smoke).await?;
    let mut summary = Summary::open(&dir)?;
    let done = measure(options, &cluster, &mut summary).await;
    cluster.stop().await;
    done
}

async fn measure(options: &Options, cluster: &Cluster, summary: &mut Summary) -> Result<(), String> {
    let cores = std::thread::available_parallelism().map_or(1, std::num::NonZero::get);
    println!("PostgreSQL: {}", cluster.settings().await?);
    println!(
        "Machine: {cores} cores, shared by generator, product and PostgreSQL. Generator: its own HTTP/1.1 keep-alive \
         client, one thread."
    );
    println!("Each measurement: {:?}, {} round(s), {} connections.", options.time, options.pairs, options.clients);
    if options.smoke {
        println!("A smoke run: the figures mean nothing.");
    }
    if PARTS.iter().any(|part| !matches!(*part, "reads" | "lease" | "webhooks") && options.wants(part)) {
        data::make(cluster, "pending", options.pending).await?;
    }
    if options.wants("lease") || options.wants("webhooks") {
        data::make(cluster, "jobs", options.jobs).await?;
    }
    if options.wants("reads") {
        data::make(cluster, "reads", options.reads).await?;
    }
    for part in PARTS.iter().filter(|part| options.wants(part)) {
        let start = std::time::Instant::now();
        println!("\n== {part}");
        match *part {
            "approve" => parts::approve::run(options, cluster, summary).await,
            "latency" => parts::latency::run(options, cluster, summary).await,
            "hot" => parts::hot::run(options, cluster, summary).await,
            "lease" => parts::lease::run(options, cluster, summary).await,
            "reads" => parts::reads::run(options, cluster, summary).await,
            "closing" => parts::closing::run(options, cluster, summary).await,
            "events" => parts::events::run(options, cluster, summary).await,
            "webhooks" => parts::webhooks::run(options, cluster, summary).await,
            _ => parts::memory::run(options, cluster, summary).await,
        }
        .map_err(|sentence| format!("{part}: {sentence}"))?;
        println!("== {part}: {:.0?}", start.elapsed());
    }
    Ok(())
}
