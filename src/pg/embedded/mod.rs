//! A PostgreSQL of its own: started when no other is configured, shared by all Ringi processes that use the same
//! folder, stopped after the last of them.
//!
//! # The mechanism
//!
//! Three locks (`flock`) in the private folder say all there is to say; the kernel drops them with the last
//! process that has them, so no kill -9 leaves anything that lies.
//!
//! * `users.lock`, **together**: every process that uses the server, for as long as it does.
//! * `supervisor.lock`, **alone**: the one supervisor, for its life. It is this executable with the hidden
//!   command [`SUPERVISOR_COMMAND`], in a process group of its own, so that Ctrl-C reaches the users and not
//!   the server they still have to drain to.
//! * `server.lock`, **alone**: the supervisor takes it before anything is done to the files and lets `initdb` and
//!   `postgres` inherit it, so it is free only when the last process of the last server is gone.
//!
//! A user takes `users.lock`, and then repeats until the server is ready or time is up: does the server answer,
//! under the name that the supervisor in office gave it? Else, is there no supervisor? Then start one. The
//! supervisor takes its two locks, makes the cluster if there is none, and runs the server until it gets
//! `users.lock` alone, that is, until nobody is left; then it stops the server and ends.
//!
//! # Why nothing can go wrong in between
//!
//! * *Two users start at once*: both may start a supervisor; the one that doesn't get `supervisor.lock` ends, and
//!   both users wait for the same server.
//! * *A user comes while the last one leaves*: either it gets `users.lock` first, then the supervisor doesn't and
//!   goes on; or the supervisor does, and then keeps it until it has stopped the server and ended: the newcomer
//!   waits, finds no supervisor, and starts one. It can't meet a server that is about to be stopped.
//! * *All users are killed*, at any moment: the supervisor gets `users.lock`. It looks for that in every wait, also
//!   during `initdb`.
//! * *The supervisor is killed*: its child gets a signal from the kernel (`setpriv --pdeathsig`), which `postgres`
//!   takes as the order to stop. A next supervisor waits for `server.lock`. A user who asks just then may get an
//!   answer from the old server, but the name is wrong or no supervisor is there, so it waits on. If the supervisor
//!   died before the child asked for that signal, the child sees a wrong parent and doesn't become a server.
//!   Users who are connected see their connections end; [`EmbeddedPg::ensure_running`] brings the server back.
//! * *The server is killed*: the supervisor waits until the children of the old one are gone, too, by giving up
//!   its copy of `server.lock` and taking it anew (nobody else may try: that takes `supervisor.lock`), and starts
//!   it again, a bounded number of times.
//! * *A cluster half made*: `initdb` works in `data.new`, which becomes `data` by one rename after all is on disk.
//!   A `data.new` that is found is removed; `server.lock` proves that nobody works in it any more.
//! * *A stale `postmaster.pid`*, even with a number that now belongs to another process: `server.lock` proves that
//!   it is stale, so it is removed. Only a server started by hand doesn't hold that lock; it is recognized by its
//!   working folder, and refused. PostgreSQL's own check for shared memory in use stays as a second belt.
//!
//! # Who may connect
//!
//! Authentication is `trust`; the way in is a socket in a folder with mode 0700, and there is no TCP. So: the user
//! who runs the server, and root.
//!
//! # Root
//!
//! PostgreSQL refuses to run as root. For root the server runs as an unprivileged user, who owns the data and the
//! socket; the folder itself and the locks stay root's. If that user can't enter the folder (a checkout in root's
//! home), the private folder is `/var/lib/ringi-<hash of the path>` instead, with a warning in the log.
//!
//! # Limits
//!
//! Linux only (elsewhere set `DATABASE_URL`). The folder must be on a local file system. A service manager that
//! signals all processes of a service at once also stops the server at once: for systemd set `KillMode=mixed`.
//! When the first process of a container ends, the kernel kills the rest: let it end with
//! [`EmbeddedPg::leave_and_wait`], or the next start has to recover. Settings are those of the process that
//! started the server; whoever joins uses them as they are.

mod bring_up;
mod error;
mod layout;
mod locks;
mod programs;
mod server;
mod supervisor;
mod user;

use std::path::PathBuf;
use std::time::Duration;

pub use error::EmbeddedError;
pub use supervisor::supervise;
pub use user::{EmbeddedPg, Left, start};

/// The hidden sub-command whose body is [`supervise`].
pub const SUPERVISOR_COMMAND: &str = "postgres-supervisor";

/// The one role of a new cluster, a superuser.
const SUPERUSER: &str = "ringi";

/// How to run the private server.
#[derive(Debug, Clone)]
pub struct EmbeddedConfig {
    /// The private folder. Made if needed; it must belong to the user of this process.
    pub dir: PathBuf,
    /// The folder of `initdb` and `postgres`; `None`: look for it.
    pub bin_dir: Option<PathBuf>,
    /// Who runs the server when this process is root; `None`: `postgres`. No effect otherwise.
    pub run_as: Option<String>,
    /// Whether a confirmed commit survives a crash of the machine. False only for tests.
    pub durable: bool,
    /// How long [`start`] and [`EmbeddedPg::ensure_running`] may take, with `initdb` and recovery.
    pub start_timeout: Duration,
    /// An executable that passes what follows [`SUPERVISOR_COMMAND`] to [`supervise`]; `None`: this one.
    pub supervisor: Option<PathBuf>,
    /// The server's limit of connections.
    pub max_connections: u32,
    /// More settings of the server, name and value. The ones that the mechanism rests on (socket, log, name) win.
    pub extra_settings: Vec<(String, String)>,
}

impl EmbeddedConfig {
    /// A durable server in this folder, with all else as usual.
    pub fn new(dir: impl Into<PathBuf>) -> Self {
        Self {
            dir: dir.into(),
            bin_dir: None,
            run_as: None,
            durable: true,
            start_timeout: Duration::from_mins(1),
            supervisor: None,
            max_connections: 100,
            extra_settings: Vec::new(),
        }
    }
}
