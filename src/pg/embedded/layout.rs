//! Where the files are, whose they are, and which user runs the server.

use std::fs::{self, DirBuilder, Metadata, Permissions};
use std::io;
use std::os::unix::fs::{DirBuilderExt, MetadataExt, PermissionsExt, chown, lchown};
use std::path::{Path, PathBuf};
use std::process::Command;

use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};

use super::{EmbeddedConfig, EmbeddedError, locks};

/// The user who runs the server when root may not.
const DEFAULT_ACCOUNT: &str = "postgres";
/// The port is only part of the socket's name: nothing listens on TCP.
pub(super) const PORT: u16 = 5432;
/// Longest path of a socket, in bytes.
const SOCKET_PATH_LIMIT: usize = 107;
/// Base of the socket folder when the path of the private folder is too long. Not `TMPDIR`: two processes with
/// different environments would look for one server in two places.
const SHORT_BASE: &str = "/tmp";
/// Base of the private folder when root runs Ringi in a folder that the server's user can't enter.
const ROOT_BASE: &str = "/var/lib";

/// The unprivileged user who runs the server for root.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub(super) struct Account {
    pub(super) name: String,
    pub(super) uid: u32,
    pub(super) gid: u32,
}

/// The paths of one private server.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub(super) struct Layout {
    pub(super) dir: PathBuf,
    pub(super) socket_dir: PathBuf,
    /// `None`: the server runs as the user of this process.
    pub(super) account: Option<Account>,
}

impl Layout {
    /// Makes the folders and lock files sure, and checks whose they are. Idempotent, and safe to run at once
    /// from several processes.
    pub(super) fn prepare(config: &EmbeddedConfig) -> Result<Self, EmbeddedError> {
        let me = rustix::process::geteuid();
        let account =
            if me.is_root() { Some(find_account(config.run_as.as_deref().unwrap_or(DEFAULT_ACCOUNT))?) } else { None };
        let dir = private_dir(&config.dir, me.as_raw(), account.as_ref())?;
        let server_uid = account.as_ref().map_or(me.as_raw(), |account| account.uid);

        let data = dir.join("data");
        if let Ok(found) = fs::metadata(&data) {
            check_owner(&data, &found, server_uid)?;
        }
        let inside = dir.join("socket");
        let socket_dir = if socket_file(&inside).as_os_str().len() <= SOCKET_PATH_LIMIT {
            inside
        } else {
            Path::new(SHORT_BASE).join(format!("ringi-{}", short_hash(&dir)))
        };
        make_socket_dir(&socket_dir, me.as_raw(), server_uid, account.as_ref())?;

        let layout = Self { dir, socket_dir, account };
        make_dir(&layout.log_dir(), 0o700)?;
        for lock in [layout.users_lock(), layout.supervisor_lock(), layout.server_lock()] {
            locks::open(&lock).map_err(EmbeddedError::io("open", lock))?;
        }
        Ok(layout)
    }

    /// Held together by every process that uses the server.
    pub(super) fn users_lock(&self) -> PathBuf {
        self.dir.join("users.lock")
    }

    /// Held alone by the one supervisor; contains the name it gave its server.
    pub(super) fn supervisor_lock(&self) -> PathBuf {
        self.dir.join("supervisor.lock")
    }

    /// Held alone, through inheritance, by the processes of the one server.
    pub(super) fn server_lock(&self) -> PathBuf {
        self.dir.join("server.lock")
    }

    /// The cluster; exists only when it is whole.
    pub(super) fn data(&self) -> PathBuf {
        self.dir.join("data")
    }

    /// A cluster that `initdb` is making.
    pub(super) fn data_new(&self) -> PathBuf {
        self.dir.join("data.new")
    }

    fn log_dir(&self) -> PathBuf {
        self.dir.join("log")
    }

    /// What the supervisor, `initdb` and the server have to say.
    pub(super) fn log(&self) -> PathBuf {
        self.log_dir().join("server.log")
    }

    /// The log before the current one.
    pub(super) fn old_log(&self) -> PathBuf {
        self.log_dir().join("server.log.1")
    }

    /// The server's socket.
    pub(super) fn socket(&self) -> PathBuf {
        socket_file(&self.socket_dir)
    }
}

fn socket_file(dir: &Path) -> PathBuf {
    dir.join(format!(".s.PGSQL.{PORT}"))
}

/// The private folder: the wanted one, or for root one below [`ROOT_BASE`] when the server's user can't enter
/// the wanted one.
fn private_dir(wanted: &Path, me: u32, account: Option<&Account>) -> Result<PathBuf, EmbeddedError> {
    let dir = own_dir(wanted, me, account)?;
    let Some(account) = account else {
        return Ok(dir);
    };
    if can_enter(account, &dir)? {
        return Ok(dir);
    }
    let elsewhere = Path::new(ROOT_BASE).join(format!("ringi-{}", short_hash(&dir)));
    let elsewhere = own_dir(&elsewhere, me, Some(account))?;
    if !can_enter(account, &elsewhere)? {
        return Err(EmbeddedError::NotEnterable { path: elsewhere, user: account.name.clone() });
    }
    tracing::warn!(
        wanted = %dir.display(),
        used = %elsewhere.display(),
        user = %account.name,
        "the user who runs PostgreSQL cannot enter the configured folder; its data live elsewhere"
    );
    Ok(elsewhere)
}

/// Makes a folder of this process's user and returns its canonical path. For root everybody may pass through
/// (not list) it, since the server's user has to; everything inside has its own, narrower mode. Root never
/// works in a folder of somebody else, who could lead it astray with links.
fn own_dir(path: &Path, me: u32, account: Option<&Account>) -> Result<PathBuf, EmbeddedError> {
    make_dir(path, if account.is_some() { 0o711 } else { 0o700 })?;
    let dir = fs::canonicalize(path).map_err(EmbeddedError::io("resolve", path))?;
    if dir.to_str().is_none() {
        return Err(EmbeddedError::PathNotText(dir));
    }
    let found = fs::metadata(&dir).map_err(EmbeddedError::io("look at", &dir))?;
    check_owner(&dir, &found, me)?;
    Ok(dir)
}

fn make_dir(path: &Path, mode: u32) -> Result<(), EmbeddedError> {
    if path.is_dir() {
        return Ok(());
    }
    if let Some(parent) = path.parent() {
        fs::create_dir_all(parent).map_err(EmbeddedError::io("create", parent))?;
    }
    match DirBuilder::new().mode(mode).create(path) {
        // Once more, since the process's umask may have taken something away.
        Ok(()) => {
            fs::set_permissions(path, Permissions::from_mode(mode)).map_err(EmbeddedError::io("set the mode of", path))
        }
        Err(error) if error.kind() == io::ErrorKind::AlreadyExists => Ok(()),
        Err(error) => Err(EmbeddedError::io("create", path)(error)),
    }
}

/// Makes sure of a folder that only the server's user (and root) can enter: whoever reaches the socket is let in.
fn make_socket_dir(path: &Path, me: u32, server_uid: u32, account: Option<&Account>) -> Result<(), EmbeddedError> {
    match DirBuilder::new().mode(0o700).create(path) {
        Ok(()) => {}
        Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {}
        Err(error) => return Err(EmbeddedError::io("create", path)(error)),
    }
    // Not following links: the base may be a folder where everybody can make them.
    let found = fs::symlink_metadata(path).map_err(EmbeddedError::io("look at", path))?;
    let why = if !found.is_dir() {
        "it is not a folder"
    } else if found.mode() & 0o077 != 0 {
        "others can enter it"
    } else if found.uid() == server_uid {
        return Ok(());
    } else if let (Some(account), true) = (account, found.uid() == me) {
        // Just made by root, here or in another process that comes to this line as well.
        return lchown(path, Some(account.uid), Some(account.gid))
            .map_err(EmbeddedError::io("change the owner of", path));
    } else {
        "it belongs to somebody else"
    };
    Err(EmbeddedError::UnsafeSocketDir { path: path.to_path_buf(), why, wanted: user_name(server_uid) })
}

/// Gives a new folder to the server's user.
pub(super) fn hand_over(path: &Path, account: Option<&Account>) -> io::Result<()> {
    account.map_or(Ok(()), |account| chown(path, Some(account.uid), Some(account.gid)))
}

fn check_owner(path: &Path, found: &Metadata, wanted: u32) -> Result<(), EmbeddedError> {
    if found.uid() == wanted {
        return Ok(());
    }
    Err(EmbeddedError::WrongOwner {
        path: path.to_path_buf(),
        owner: user_name(found.uid()),
        wanted: user_name(wanted),
    })
}

fn find_account(name: &str) -> Result<Account, EmbeddedError> {
    let number = |what: &str| {
        let output = Command::new("id").args([what, "--", name]).output().ok()?;
        let text = String::from_utf8_lossy(&output.stdout);
        text.trim().parse::<u32>().ok()
    };
    match (number("-u"), number("-g")) {
        (Some(uid), Some(gid)) if uid != 0 => Ok(Account { name: name.to_owned(), uid, gid }),
        _ => Err(EmbeddedError::NoSuchUser(name.to_owned())),
    }
}

/// For messages.
fn user_name(uid: u32) -> String {
    let uid = uid.to_string();
    match Command::new("id").args(["-nu", "--", &uid]).output() {
        Ok(output) if output.status.success() => String::from_utf8_lossy(&output.stdout).trim().to_owned(),
        _ => format!("with the number {uid}"),
    }
}

/// Whether that user can pass through every folder of the path. Tried, not computed: access lists and security
/// modules have a say, too.
fn can_enter(account: &Account, dir: &Path) -> Result<bool, EmbeddedError> {
    let mut command = Command::new(SETPRIV);
    become_account(&mut command, account);
    command.args(["--", "test", "-x"]).arg(dir);
    let status = command.current_dir("/").status();
    status.map(|status| status.success()).map_err(|error| match error.kind() {
        io::ErrorKind::NotFound => EmbeddedError::NoSetpriv,
        _ => EmbeddedError::io("run", SETPRIV)(error),
    })
}

/// From util-linux.
pub(super) const SETPRIV: &str = "setpriv";

/// The arguments with which `setpriv` becomes that user, for good.
pub(super) fn become_account(command: &mut Command, account: &Account) {
    command.args(["--reuid", &account.name]).args(["--regid", &account.gid.to_string()]).arg("--init-groups");
}

/// Names a path in 16 letters.
fn short_hash(path: &Path) -> String {
    let digest = Sha256::digest(path.as_os_str().as_encoded_bytes());
    hex::encode(digest.get(..8).unwrap_or_default())
}
