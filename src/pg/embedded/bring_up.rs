//! Bringing the server up: ask whether it answers, start a supervisor where there is none, ask again.

use std::fs::{self, File, OpenOptions};
use std::io::{self, Read as _, Seek as _, SeekFrom};
use std::os::unix::fs::OpenOptionsExt;
use std::path::{Path, PathBuf};
use std::process::{ExitStatus, Stdio};
use std::time::Duration;

use sqlx::postgres::{PgConnectOptions, PgSslMode};
use sqlx::{ConnectOptions as _, Connection as _};
use tokio::process::{Child, Command};
use tokio::time::{Instant, sleep, timeout};

use super::layout::{Layout, PORT, SETPRIV};
use super::server::{ServerPlan, is_on_path, kept_env};
use super::supervisor::NOT_NEEDED;
use super::{EmbeddedConfig, EmbeddedError, SUPERUSER, SUPERVISOR_COMMAND, locks, programs};

pub(super) const LOOK_EVERY: Duration = Duration::from_millis(25);
/// For one attempt to connect and ask.
const ANSWER_PATIENCE: Duration = Duration::from_secs(5);
/// Supervisors that were killed, or found another one that then ended, before the server was ready.
const SUPERVISORS_AT_MOST: u32 = 10;
/// How much of the log an error quotes, in lines and bytes.
const TAIL_LINES: usize = 15;
const TAIL_BYTES: u64 = 8 * 1024;

/// What is needed to bring the server up. The caller has its share of `users.lock`.
pub(super) struct BringUp<'a> {
    pub(super) config: &'a EmbeddedConfig,
    pub(super) layout: &'a Layout,
}

impl BringUp<'_> {
    /// Waits until the server answers, and starts a supervisor whenever there is none.
    pub(super) async fn run(&self, deadline: Instant) -> Result<(), EmbeddedError> {
        let log_start = fs::metadata(self.layout.log()).map_or(0, |log| log.len());
        let mut plan = None;
        let mut own: Option<Child> = None;
        let mut started = 0;
        loop {
            let not_yet = match self.answers().await {
                Ok(()) => return Ok(()),
                Err(why) => why,
            };
            if let Some(child) = &mut own {
                let status = child.try_wait().map_err(EmbeddedError::io("wait for", SUPERVISOR_COMMAND))?;
                if let Some(status) = status {
                    own = None;
                    // Killed, or not needed at that moment: look again. Else it has failed, and has said why.
                    if failed(status) {
                        return Err(self.failure(status.to_string(), log_start));
                    }
                }
            }
            if own.is_none() && !self.is_supervised()? {
                if started == SUPERVISORS_AT_MOST {
                    let status = format!("{started} supervisors in a row were killed");
                    return Err(self.failure(status, log_start));
                }
                started += 1;
                let plan = match &mut plan {
                    Some(plan) => plan,
                    None => plan.insert(self.plan().await?),
                };
                own = Some(self.spawn_supervisor(plan)?);
            }
            if Instant::now() > deadline {
                return Err(EmbeddedError::NotReady {
                    waited: self.config.start_timeout,
                    last: not_yet,
                    log: self.layout.log(),
                    tail: self.log_tail(log_start),
                });
            }
            sleep(LOOK_EVERY).await;
        }
    }

    /// Whether the server of the supervisor in office answers; else why not.
    async fn answers(&self) -> Result<(), String> {
        if !self.layout.socket().exists() {
            return Err("there is no socket yet".to_owned());
        }
        let name = timeout(ANSWER_PATIENCE, server_name(self.layout))
            .await
            .map_err(|_| "no answer to a question".to_owned())?
            .map_err(|error| error.to_string())?;
        // In this order: a supervisor that ended in between is noticed.
        let office = self.layout.supervisor_lock();
        if !self.is_supervised().map_err(|error| error.to_string())? {
            return Err("a server without a supervisor is about to stop".to_owned());
        }
        match fs::read_to_string(office) {
            Ok(expected) if expected == name => Ok(()),
            Ok(_) => Err("an earlier server is about to stop".to_owned()),
            Err(error) => Err(error.to_string()),
        }
    }

    fn is_supervised(&self) -> Result<bool, EmbeddedError> {
        let office = self.layout.supervisor_lock();
        locks::is_held_alone(&office).map_err(EmbeddedError::io("lock", office))
    }

    /// What to run. Only asked for when a server has to be started: to join one takes no programs.
    async fn plan(&self) -> Result<ServerPlan, EmbeddedError> {
        let (config, layout) = (self.config.clone(), self.layout.clone());
        blocking(move || {
            let programs = programs::choose(config.bin_dir.as_deref(), &layout.data())?;
            if !is_on_path(SETPRIV) {
                return Err(EmbeddedError::NoSetpriv);
            }
            tracing::info!(
                dir = %layout.dir.display(),
                programs = %programs.bin.display(),
                version = programs.major,
                "starting the private PostgreSQL"
            );
            Ok(ServerPlan {
                layout,
                bin: programs.bin,
                durable: config.durable,
                max_connections: config.max_connections,
                extra_settings: config.extra_settings,
                patience_ms: u64::try_from(config.start_timeout.as_millis()).unwrap_or(u64::MAX),
            })
        })
        .await
    }

    fn spawn_supervisor(&self, plan: &ServerPlan) -> Result<Child, EmbeddedError> {
        let executable = match &self.config.supervisor {
            Some(path) => std::path::absolute(path),
            // A rebuild replaces the file of a running program; what runs is still there.
            None => std::env::current_exe().map(|path| {
                let replaced = !path.exists();
                if replaced { PathBuf::from("/proc/self/exe") } else { path }
            }),
        }
        .map_err(EmbeddedError::io("find", SUPERVISOR_COMMAND))?;
        let json = serde_json::to_string(plan)
            .map_err(io::Error::other)
            .map_err(EmbeddedError::io("describe", &self.layout.dir))?;
        let path = self.layout.log();
        let log = OpenOptions::new()
            .append(true)
            .create(true)
            .mode(0o600)
            .open(&path)
            .map_err(EmbeddedError::io("open", &path))?;
        let log_too = log.try_clone().map_err(EmbeddedError::io("open", path))?;
        // A dropped child is reaped by the runtime; it is not killed.
        Command::new(&executable)
            .arg(SUPERVISOR_COMMAND)
            .arg(json)
            .stdin(Stdio::null())
            .stdout(log_too)
            .stderr(log)
            .process_group(0)
            .current_dir("/")
            .env_clear()
            .envs(kept_env())
            .spawn()
            .map_err(EmbeddedError::io("run", executable))
    }

    fn failure(&self, status: String, log_start: u64) -> EmbeddedError {
        EmbeddedError::Failed { status, log: self.layout.log(), tail: self.log_tail(log_start) }
    }

    fn log_tail(&self, log_start: u64) -> String {
        tail(&self.layout.log(), log_start).unwrap_or_else(|error| format!("({error})"))
    }
}

fn failed(status: ExitStatus) -> bool {
    !matches!(status.code(), None | Some(0)) && status.code() != Some(i32::from(NOT_NEEDED))
}

/// How to connect, with every part given, so that variables meant for another server (`PGPORT`, `PGSSLMODE`) have
/// no effect.
pub(super) fn connect_options(layout: &Layout, database: &str) -> PgConnectOptions {
    PgConnectOptions::new_without_pgpass()
        .socket(&layout.socket_dir)
        .port(PORT)
        .username(SUPERUSER)
        .database(database)
        .ssl_mode(PgSslMode::Disable)
}

async fn server_name(layout: &Layout) -> Result<String, sqlx::Error> {
    let mut connection = connect_options(layout, "postgres").connect().await?;
    let name = sqlx::query_scalar("SELECT current_setting('cluster_name')").fetch_one(&mut connection).await?;
    let _ = connection.close().await;
    Ok(name)
}

/// The last lines of a file from this offset on (from the start if it is shorter now).
fn tail(path: &Path, from: u64) -> io::Result<String> {
    let mut file = File::open(path)?;
    let length = file.metadata()?.len();
    let from = if from > length { 0 } else { from };
    file.seek(SeekFrom::Start(from.max(length.saturating_sub(TAIL_BYTES))))?;
    let mut bytes = Vec::new();
    file.read_to_end(&mut bytes)?;
    let text = String::from_utf8_lossy(&bytes);
    let lines: Vec<&str> = text.lines().collect();
    let first = lines.len().saturating_sub(TAIL_LINES);
    Ok(lines.get(first..).unwrap_or_default().join("\n"))
}

/// Runs what may block away from the runtime.
pub(super) async fn blocking<T: Send + 'static>(
    work: impl FnOnce() -> Result<T, EmbeddedError> + Send + 'static,
) -> Result<T, EmbeddedError> {
    tokio::task::spawn_blocking(work)
        .await
        .map_err(io::Error::other)
        .map_err(EmbeddedError::io("prepare", "the private PostgreSQL"))?
}
