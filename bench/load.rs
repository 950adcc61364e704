//! Load: closed (each connection asks again when it has its answer) and open (calls begin at fixed times, whatever
//! becomes of those before). A closed loop slows down with the server and so hides its stalls; latency is measured open,
//! from the instant when a call should have begun.

use crate::http::Connection;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::{Duration, Instant};
use tokio::sync::Semaphore;

/// The request of the `n`th call; `None` when there is nothing left to ask for.
pub type Calls = Arc<dyn Fn(usize) -> Option<Vec<u8>> + Send + Sync>;

/// One answered call.
#[derive(Clone, Copy)]
pub struct Sample {
    /// When it should have begun, since the start of the run.
    pub at: Duration,
    /// From then to the whole answer.
    pub took: Duration,
    /// 0: no answer.
    pub status: u16,
}

/// What a run gave.
#[derive(Default)]
pub struct Run {
    pub samples: Vec<Sample>,
    pub elapsed: Duration,
    /// The first call that was not made.
    pub next: usize,
}

impl Run {
    pub fn count(&self, status: u16) -> usize {
        self.samples.iter().filter(|sample| sample.status == status).count()
    }

    /// Answers with this status per second.
    pub fn rate(&self, status: u16) -> f64 {
        number(self.count(status)) / self.elapsed.as_secs_f64()
    }

    /// Fails unless every answer has one of these statuses.
    pub fn expect(&self, statuses: &[u16], what: &str) -> Result<(), String> {
        let wrong = self.samples.iter().filter(|sample| !statuses.contains(&sample.status)).count();
        match self.samples.iter().find(|sample| !statuses.contains(&sample.status)) {
            Some(sample) => Err(format!(
                "{what}: {wrong} of {} answers are not {statuses:?}; the first of them: {}",
                self.samples.len(),
                sample.status
            )),
            None => Ok(()),
        }
    }

    /// The latencies of answers with this status, sorted.
    pub fn latencies(&self, status: u16) -> Latencies {
        Latencies::of(self.samples.iter().filter(|sample| sample.status == status).map(|sample| sample.took))
    }
}

/// Sorted latencies: exact, since a run has few enough of them.
pub struct Latencies(Vec<Duration>);

impl Latencies {
    pub fn of(all: impl Iterator<Item = Duration>) -> Self {
        let mut all: Vec<_> = all.collect();
        all.sort_unstable();
        Self(all)
    }

    pub const fn len(&self) -> usize {
        self.0.len()
    }

    /// The smallest latency that this share of calls does not exceed, in milliseconds. 0 when there were none.
    pub fn ms(&self, share: f64) -> f64 {
        #[allow(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "a share of a length")]
        let rank = (number(self.0.len()) * share).ceil() as usize;
        self.0.get(rank.max(1) - 1).map_or(0.0, |took| took.as_secs_f64() * 1000.0)
    }
}

#[allow(clippy::cast_precision_loss, reason = "counts of calls")]
pub fn number(n: usize) -> f64 {
    n as f64
}

/// The middle one (the lower of two).
pub fn median(mut values: Vec<f64>) -> f64 {
    values.sort_by(f64::total_cmp);
    values.get(values.len().saturating_sub(1) / 2).copied().unwrap_or(f64::NAN)
}

async fn connections(address: &str, n: usize) -> Result<Vec<Connection>, String> {
    let mut all = Vec::with_capacity(n);
    // Side by side, or the first ones would be silent for so long that the server gives them up; not all at once, for
    // the listener's queue is finite.
    while all.len() < n {
        let some = (0..(n - all.len()).min(128)).map(|_| Connection::open(address));
        for opened in futures_util::future::join_all(some).await {
            all.push(opened.map_err(|error| format!("can't connect to {address}: {error}"))?);
        }
    }
    Ok(all)
}

/// One call; a connection that fails is opened anew.
async fn call(connection: &mut Connection, address: &str, request: &[u8]) -> u16 {
    if let Ok(response) = connection.call(request).await {
        return response.status;
    }
    if let Ok(fresh) = Connection::open(address).await {
        *connection = fresh;
    }
    0
}

/// A closed loop. Connection `c` of `n` makes the calls `first + c`, `first + c + n` and so on.
pub async fn closed(address: &str, n: usize, time: Duration, first: usize, calls: &Calls) -> Result<Run, String> {
    let start = Instant::now();
    let mut tasks = Vec::new();
    for (c, mut connection) in connections(address, n).await?.into_iter().enumerate() {
        let (address, calls) = (address.to_owned(), Arc::clone(calls));
        tasks.push(tokio::spawn(async move {
            let (mut samples, mut index) = (Vec::new(), first + c);
            while start.elapsed() < time
                && let Some(request) = calls(index)
            {
                let at = start.elapsed();
                let status = call(&mut connection, &address, &request).await;
                samples.push(Sample { at, took: start.elapsed().saturating_sub(at), status });
                index += n;
            }
            (samples, index)
        }));
    }
    let mut run = Run::default();
    for task in tasks {
        let (samples, index) = task.await.map_err(|error| error.to_string())?;
        run.samples.extend(samples);
        // Rounded up to a whole round, since some connections were faster.
        run.next = run.next.max(index + n);
    }
    run.elapsed = start.elapsed();
    Ok(run)
}

/// An open loop: `rate` calls a second for `time`, on at most `n` connections.
pub async fn open(
    address: &str,
    n: usize,
    rate: f64,
    time: Duration,
    first: usize,
    calls: &Calls,
) -> Result<Run, String> {
    let connections = connections(address, n).await?;
    #[allow(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "a count of calls")]
    let total = (rate * time.as_secs_f64()) as usize;
    let due = move |i: usize| Duration::from_secs_f64(number(i) / rate);
    let gate = Arc::new(Semaphore::new(0));
    let start = Instant::now();
    // A thread of its own: the runtime's timer has a grain of a millisecond.
    let clock = std::thread::spawn({
        let gate = Arc::clone(&gate);
        move || {
            for i in 0..total {
                std::thread::sleep(due(i).saturating_sub(start.elapsed()));
                gate.add_permits(1);
            }
            gate.close();
        }
    });
    let taken = Arc::new(AtomicUsize::new(0));
    let mut tasks = Vec::new();
    for mut connection in connections {
        let (address, calls) = (address.to_owned(), Arc::clone(calls));
        let (gate, taken) = (Arc::clone(&gate), Arc::clone(&taken));
        tasks.push(tokio::spawn(async move {
            let mut samples = Vec::new();
            loop {
                match gate.acquire().await {
                    Ok(permit) => permit.forget(),
                    // Closed: what is still due is late, and is made all the same.
                    Err(_) if taken.load(Ordering::Relaxed) < total => {}
                    Err(_) => break,
                }
                let i = taken.fetch_add(1, Ordering::Relaxed);
                if i >= total {
                    break;
                }
                let Some(request) = calls(first + i) else { break };
                let status = call(&mut connection, &address, &request).await;
                samples.push(Sample { at: due(i), took: start.elapsed().saturating_sub(due(i)), status });
            }
            samples
        }));
    }
    let mut run = Run { next: first + total, ..Run::default() };
    for task in tasks {
        run.samples.extend(task.await.map_err(|error| error.to_string())?);
    }
    run.elapsed = start.elapsed();
    if run.samples.len() < total {
        return Err(format!("there are requests for {} of {total} calls only: fewer --seconds", run.samples.len()));
    }
    clock.join().map_err(|_| "the clock's thread panicked".to_owned())?;
    run.samples.sort_unstable_by_key(|sample| sample.at);
    Ok(run)
}
