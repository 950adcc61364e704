//! How work begins and ends: detached use cases, and the signals that ask for a stop.

use futures_util::FutureExt;
use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};
use std::future::Future;
use std::time::Duration;
use tokio::runtime::Handle;
use tokio::signal::unix::{SignalKind, signal};
use tokio_util::task::TaskTracker;
use tracing::Instrument;

/// Runs use cases to their end on the main runtime, whatever becomes of the connection that asked.
///
/// actix drops a handler's future when its client hangs up. A transaction must not stop halfway for that, and a
/// pooled connection belongs to the runtime that opened it: so a use case is a task of its own, here, and the handler
/// only waits for it.
#[derive(Clone, Debug)]
pub struct Runner {
    runtime: Handle,
    tasks: TaskTracker,
}

impl Runner {
    /// Runs on the runtime that `runtime` stands for.
    #[must_use]
    pub fn new(runtime: Handle) -> Self {
        Self { runtime, tasks: TaskTracker::new() }
    }

    /// Runs `work` as a task. `None` when it panicked.
    ///
    /// Begins at once, and not an `async fn`: a use case is some kilobytes, which would be copied into the future, too.
    pub fn run<T, F>(&self, work: F) -> impl Future<Output = Option<T>> + use<T, F>
    where
        T: Send + 'static,
        F: Future<Output = T> + Send + 'static,
    {
        let task = self.tasks.spawn_on(work.in_current_span(), &self.runtime);
        task.map(|ended| match ended {
            Ok(value) => Some(value),
            Err(error) => {
                metrics::counter!("ringi_panics_total").increment(1);
                tracing::error!(%error, "a use case did not end");
                None
            }
        })
    }

    /// Runs `work` as a task that nobody waits for, but that a stop of the process lets finish.
    pub fn detach(&self, work: impl Future<Output = ()> + Send + 'static) {
        drop(self.tasks.spawn_on(work.in_current_span(), &self.runtime));
    }

    /// Waits until no use case is under way. False: some still were after `patience`.
    pub async fn drain(&self, patience: Duration) -> bool {
        self.tasks.close();
        tokio::time::timeout(patience, self.tasks.wait()).await.is_ok()
    }
}

/// Raises the number of files that this process may have open as far as it may, which is often more than what it is given
/// at first, and says so when it will not do for as many connections.
pub fn allow_files(connections: usize) {
    use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};
    // The database's connections, files, and what the libraries need.
    let needed = u64::try_from(connections).unwrap_or(u64::MAX).saturating_add(1_000);
    let given = getrlimit(Resource::Nofile);
    let raised = Rlimit { current: given.maximum, ..given };
    let allowed = if setrlimit(Resource::Nofile, raised).is_ok() { given.maximum } else { given.current };
    if allowed.is_some_and(|allowed| allowed < needed) {
        tracing::warn!(
            allowed,
            needed,
            "fewer files may be open than http.max_connections needs: raise the limit (LimitNOFILE= of systemd, ulimit -n), or lower the setting"
        );
    }
}

/// Ends when somebody asks this process to stop: SIGTERM or SIGINT (Ctrl-C). Listens from this call on, so call it
/// before you say that you are ready: whoever reads that may ask for the stop at once.
///
/// # Errors
/// When the signals can't be listened to.
pub fn stop_asked() -> std::io::Result<impl Future<Output = &'static str>> {
    let mut terminate = signal(SignalKind::terminate())?;
    let mut interrupt = signal(SignalKind::interrupt())?;
    Ok(async move {
        tokio::select! {
            _ = terminate.recv() => "SIGTERM",
            _ = interrupt.recv() => "SIGINT",
        }
    })
}

/// Lets this process open as many files as it may: each connection is one, and the usual soft limit of 1,024 is for
/// programs that know no better.
pub fn raise_open_files() {
    let Rlimit { current, maximum } = getrlimit(Resource::Nofile);
    if current != maximum && setrlimit(Resource::Nofile, Rlimit { current: maximum, maximum }).is_err() {
        tracing::warn!(limit = ?current, "the limit of open files stays as it is");
    }
}

/// Waits until whoever started this process with a pipe on its stdin closes it or is gone. For ever where stdin is
/// no pipe: a terminal, a file and `/dev/null` say nothing about anybody's wish.
pub async fn parent_gone() {
    use std::os::unix::fs::FileTypeExt;
    let is_pipe = std::fs::metadata("/dev/stdin").is_ok_and(|meta| meta.file_type().is_fifo());
    if !is_pipe {
        return std::future::pending().await;
    }
    // A thread, since a read of stdin can't be given up; it ends with the process at the latest. What is written
    // there says nothing; the end does, and an error is an end.
    let (ended, end) = tokio::sync::oneshot::channel::<()>();
    std::thread::spawn(move || {
        drop(std::io::copy(&mut std::io::stdin(), &mut std::io::sink()));
        drop(ended);
    });
    drop(end.await);
}
