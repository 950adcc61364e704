//! The commands: `initdb` and `postgres`, guarded so that they end with their supervisor.

use std::ffi::OsStr;
use std::fs::{self, File};
use std::io;
use std::path::Path;
use std::process::{Command, Stdio};

use serde::{Deserialize, Serialize};

use super::layout::{self, Layout, PORT, SETPRIV, become_account};
use super::{SUPERUSER, locks, programs};

/// All that a server is made of; travels as JSON to the supervisor.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub(super) struct ServerPlan {
    pub(super) layout: Layout,
    pub(super) bin: std::path::PathBuf,
    pub(super) durable: bool,
    pub(super) max_connections: u32,
    pub(super) extra_settings: Vec<(String, String)>,
    /// How long the supervisor waits for the processes of an earlier server to be gone.
    pub(super) patience_ms: u64,
}

/// The variables that programs started by this module keep; the rest may hold secrets of the application, or
/// settings (`PG...`) meant for another server.
pub(super) const KEPT_ENV: [&str; 3] = ["PATH", "LD_LIBRARY_PATH", "RUST_BACKTRACE"];

/// `setpriv` asks the kernel for a signal at the supervisor's death. If that came before the question, the
/// signal will never come, and the parent is somebody else already: then the shell doesn't start the program.
const UNLESS_ORPHANED: &str = r#"[ "$PPID" = "$1" ] || exit 1; shift; exec "$@""#;

impl ServerPlan {
    /// A program that gets `signal` when the calling thread ends, as the server's user. Its process id stays
    /// that of the child.
    fn guarded(&self, signal: &str, program: &str) -> Command {
        let mut command = Command::new(SETPRIV);
        command.args(["--pdeathsig", signal]);
        if let Some(account) = &self.layout.account {
            become_account(&mut command, account);
        }
        command
            .args(["--", "sh", "-c", UNLESS_ORPHANED, "sh"])
            .arg(std::process::id().to_string())
            .arg(self.bin.join(program))
            .stdin(Stdio::null())
            // The caller's folder may be closed to the server's user, and must not be kept busy.
            .current_dir("/")
            .env_clear()
            .envs(kept_env())
            .env("TZ", "UTC");
        command
    }

    /// Makes a new cluster in `data.new`, which must be an empty folder.
    pub(super) fn initdb(&self) -> Command {
        // KILL, since an interrupted initdb would spend time on cleaning up what the next start removes anyway.
        let mut command = self.guarded("KILL", "initdb");
        command
            .args(["--encoding=UTF8", "--auth=trust", "--data-checksums", "--no-instructions"])
            .arg(format!("--locale={}", programs::locale()))
            .arg(format!("--username={SUPERUSER}"))
            .arg("-D")
            .arg(self.layout.data_new());
        if !self.durable {
            command.arg("--no-sync");
        }
        command
    }

    /// The server. `name` tells this server from any other that ever answered on the socket.
    pub(super) fn postgres(&self, name: &str) -> Command {
        let mut command = self.guarded("INT", "postgres");
        command.arg("-D").arg(self.layout.data());
        let durable = if self.durable { "on" } else { "off" };
        let mut set = |key: &str, value: &str| {
            command.arg("-c").arg(format!("{key}={value}"));
        };
        set("max_connections", &self.max_connections.to_string());
        set("shared_buffers", "128MB");
        set("fsync", durable);
        set("synchronous_commit", durable);
        set("full_page_writes", durable);
        set("client_connection_check_interval", "500ms");
        set("timezone", "UTC");
        set("log_timezone", "UTC");
        for (key, value) in &self.extra_settings {
            set(key, value);
        }
        // Last, since the last one counts: these belong to the mechanism.
        set("listen_addresses", "");
        set("port", &PORT.to_string());
        set("unix_socket_directories", &quoted(&self.layout.socket_dir.to_string_lossy()));
        set("unix_socket_permissions", "0700");
        set("logging_collector", "off");
        set("log_destination", "stderr");
        set("cluster_name", name);
        command
    }

    /// Takes the server's lock so that programs started from now on inherit it: it is free again when the last
    /// process of the server is gone. `None` when an earlier server's processes still have it.
    pub(super) fn try_server_lock(&self) -> io::Result<Option<File>> {
        let lock = locks::open(&self.layout.server_lock())?;
        if !locks::try_alone(&lock)? {
            return Ok(None);
        }
        rustix::io::fcntl_setfd(&lock, rustix::io::FdFlags::empty())?;
        Ok(Some(lock))
    }

    /// Removes what a killed server left. Only with the server's lock, which proves that it is gone; its process
    /// id may long be somebody else's, and PostgreSQL would then refuse to start.
    pub(super) fn remove_leftovers(&self) -> io::Result<()> {
        let data = self.layout.data();
        let pid_file = data.join("postmaster.pid");
        if let Some(pid) = started_by_hand(&pid_file, &data) {
            return Err(io::Error::other(format!(
                "a server that was started by hand runs on {}, process {pid}: stop it first",
                data.display()
            )));
        }
        let socket = self.layout.socket();
        let mut socket_lock = socket.clone().into_os_string();
        socket_lock.push(".lock");
        for path in [pid_file.as_os_str(), socket.as_os_str(), socket_lock.as_os_str()] {
            ignore_missing(fs::remove_file(path))?;
        }
        ignore_missing(fs::remove_dir_all(self.layout.data_new()))
    }

    /// An empty `data.new` for `initdb`.
    pub(super) fn make_data_new(&self) -> io::Result<()> {
        use std::os::unix::fs::DirBuilderExt;
        let new = self.layout.data_new();
        fs::DirBuilder::new().mode(0o700).create(&new)?;
        layout::hand_over(&new, self.layout.account.as_ref())
    }

    /// Makes the finished `data.new` the cluster.
    pub(super) fn adopt_data_new(&self) -> io::Result<()> {
        fs::rename(self.layout.data_new(), self.layout.data())?;
        File::open(&self.layout.dir)?.sync_all()
    }

    /// Whether the running server has written that it takes connections.
    pub(super) fn says_ready(&self) -> bool {
        // The eighth line is the state.
        fs::read_to_string(self.layout.data().join("postmaster.pid"))
            .is_ok_and(|text| text.lines().nth(7).is_some_and(|s| s.trim() == "ready"))
    }
}

/// [`KEPT_ENV`] with this process's values.
pub(super) fn kept_env() -> impl Iterator<Item = (&'static str, std::ffi::OsString)> {
    KEPT_ENV.into_iter().filter_map(|name| Some((name, std::env::var_os(name)?)))
}

/// The process that the file names, if it works in the data folder, as a postmaster does. Such a one doesn't hold
/// the lock, so this module hasn't started it.
fn started_by_hand(pid_file: &Path, data: &Path) -> Option<u32> {
    let text = fs::read_to_string(pid_file).ok()?;
    let pid: u32 = text.lines().next()?.trim().parse().ok()?;
    let works_in = fs::read_link(format!("/proc/{pid}/cwd")).ok()?;
    (works_in == fs::canonicalize(data).ok()?).then_some(pid)
}

fn ignore_missing(result: io::Result<()>) -> io::Result<()> {
    match result {
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(()),
        other => other,
    }
}

/// A folder as an element of a list setting.
fn quoted(folder: &str) -> String {
    format!("\"{}\"", folder.replace('"', "\"\""))
}

/// Whether a program of this name is on the search path.
pub(super) fn is_on_path(program: &str) -> bool {
    let path = std::env::var_os("PATH");
    let path = path.as_deref().unwrap_or(OsStr::new("/usr/bin:/bin"));
    std::env::split_paths(path).any(|dir| dir.join(program).is_file())
}
