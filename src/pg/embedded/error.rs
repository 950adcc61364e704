//! What can go wrong with the private server, each with a sentence that says what to do.

use std::path::PathBuf;
use std::time::Duration;

/// Why the private server could not be joined or started.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum EmbeddedError {
    /// A file, a folder or a helper program could not be used.
    #[error("cannot {action} {}: {source}", path.display())]
    Io {
        /// What was tried, as a verb ("create").
        action: &'static str,
        /// On what.
        path: PathBuf,
        /// What the system answered.
        source: std::io::Error,
    },
    /// The folder's path can't be written into a URL or a PostgreSQL setting.
    #[error("the folder {} cannot hold the private PostgreSQL: its path is not valid UTF-8; choose another one", .0.display())]
    PathNotText(PathBuf),
    /// A folder belongs to another user than the one who has to use it.
    #[error(
        "{} belongs to the user {owner}, but the private PostgreSQL would use it as {wanted}. \
         Run as {owner}, choose another folder, or hand it over while nothing runs on it (chown)",
        path.display()
    )]
    WrongOwner {
        /// The folder.
        path: PathBuf,
        /// Whose it is.
        owner: String,
        /// Whose it would have to be.
        wanted: String,
    },
    /// The folder of the socket is open to others, so that `trust` would let them in.
    #[error(
        "the socket folder {} is not safe ({why}): remove it, or make it a folder of the user {wanted} with mode 0700",
        path.display()
    )]
    UnsafeSocketDir {
        /// The folder.
        path: PathBuf,
        /// What is wrong with it.
        why: &'static str,
        /// Whose it would have to be.
        wanted: String,
    },
    /// Started by root, and the unprivileged user of the server does not exist.
    #[error(
        "PostgreSQL refuses to run as root, and there is no user {0:?} to run it as: \
         create that user, or configure another one"
    )]
    NoSuchUser(String),
    /// Started by root, and the unprivileged user can't reach any folder for the data.
    #[error("the user {user:?}, who runs PostgreSQL, cannot enter {}: choose a folder that it can enter", path.display())]
    NotEnterable {
        /// The folder.
        path: PathBuf,
        /// The user of the server.
        user: String,
    },
    /// No usable PostgreSQL programs on this machine.
    #[error(
        "no PostgreSQL server programs (initdb and postgres, version {oldest} or newer) were found{looked}. \
         Install them (Debian, Ubuntu: `apt-get install postgresql`; Fedora, RHEL: `dnf install postgresql-server`; \
         Alpine: `apk add postgresql`), configure the folder that holds them, or set DATABASE_URL to a server that already runs"
    )]
    NoPrograms {
        /// The oldest usable major version.
        oldest: u32,
        /// Where, and which versions were refused.
        looked: String,
    },
    /// `setpriv` is missing, without which nothing would end the server when its supervisor is killed.
    #[error(
        "the program `setpriv` was not found; the private PostgreSQL needs it to end together with its supervisor and to drop root. \
         Install util-linux (Linux), or set DATABASE_URL to a server that already runs"
    )]
    NoSetpriv,
    /// The data were made by another major version than the programs found.
    #[error(
        "the data in {} were made by PostgreSQL {data}, and the programs found are {found}. \
         PostgreSQL cannot read another major version's files: install PostgreSQL {data} (Debian: `apt-get install postgresql-{data}`), \
         or dump the data with version {data} (pg_dumpall), move the folder away, start anew and restore the dump with psql",
        path.display()
    )]
    WrongVersion {
        /// The data folder.
        path: PathBuf,
        /// Its major version.
        data: u32,
        /// What was found instead.
        found: String,
    },
    /// The data folder is not a PostgreSQL cluster.
    #[error("{} exists but is no PostgreSQL cluster (no readable PG_VERSION): move it away or choose another folder", .0.display())]
    NotACluster(PathBuf),
    /// An earlier server is still being stopped, longer than this process may wait.
    #[error("an earlier private PostgreSQL on {} has been stopping for more than {} s; try again, or look at {}", dir.display(), waited.as_secs(), log.display())]
    StillStopping {
        /// The folder of the private server.
        dir: PathBuf,
        /// How long this process waited.
        waited: Duration,
        /// The server's log.
        log: PathBuf,
    },
    /// The supervisor gave up.
    #[error("the private PostgreSQL could not be started ({status}); the last lines of {}:\n{tail}", log.display())]
    Failed {
        /// How the supervisor ended.
        status: String,
        /// The server's log.
        log: PathBuf,
        /// The log's last lines since this start.
        tail: String,
    },
    /// Nothing failed, but the server didn't answer in time.
    #[error("the private PostgreSQL did not answer within {} s ({last}); the last lines of {}:\n{tail}", waited.as_secs(), log.display())]
    NotReady {
        /// How long this process waited.
        waited: Duration,
        /// What the last attempt to connect said.
        last: String,
        /// The server's log.
        log: PathBuf,
        /// The log's last lines since this start.
        tail: String,
    },
    /// The server answered a statement of this module with an error.
    #[error("the private PostgreSQL refused a statement: {0}")]
    Database(#[from] sqlx::Error),
}

impl EmbeddedError {
    /// For `map_err`: names what was tried and on which path.
    pub(super) fn io(action: &'static str, path: impl Into<PathBuf>) -> impl FnOnce(std::io::Error) -> Self {
        let path = path.into();
        move |source| Self::Io { action, path, source }
    }
}
