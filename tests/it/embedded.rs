//! The private server: real processes, and a real kill -9 at every stage.

use std::fs;
use std::io::{BufRead as _, BufReader};
use std::os::unix::fs::{MetadataExt as _, PermissionsExt as _, chown};
use std::os::unix::process::CommandExt as _;
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStdin, Command, ExitStatus, Stdio};
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, mpsc};
use std::thread;
use std::time::{Duration, Instant};

use ringi::pg::embedded::{self, EmbeddedConfig, EmbeddedPg, Left};
use rustix::process::{Pid, Signal, kill_process};
use sqlx::postgres::PgConnectOptions;
use sqlx::{ConnectOptions as _, Connection as _, PgConnection};

const RINGI: &str = env!("CARGO_BIN_EXE_ringi");
const PATIENCE: Duration = Duration::from_mins(1);
/// An ordinary user that every system has.
const NOBODY: u32 = 65534;

#[tokio::test]
async fn the_first_start_makes_a_cluster_and_the_end_leaves_no_process() {
    let folder = Folder::new("first");
    let ringi = Ringi::start(&folder.dir);

    let options: PgConnectOptions = ringi.url.parse().unwrap();
    let mut connection = options.connect().await.unwrap();
    let letters: bool = sqlx::query_scalar("SELECT 'é' ~ '^[[:alpha:]]$'").fetch_one(&mut connection).await.unwrap();
    assert!(letters, "a ctype that knows only ASCII makes trigram indexes useless");
    let listens: String =
        sqlx::query_scalar("SELECT current_setting('listen_addresses')").fetch_one(&mut connection).await.unwrap();
    assert_eq!(listens, "", "trust is only right without TCP");
    drop(connection);
    if let Ok(psql) = Command::new("psql").args([&ringi.url, "-Atc", "SELECT current_user"]).output() {
        assert_eq!(String::from_utf8_lossy(&psql.stdout), "ringi\n", "{psql:?}");
    }
    let mode = fs::metadata(folder.dir.join("socket")).unwrap().permissions().mode();
    assert_eq!(mode & 0o777, 0o700);

    assert!(ringi.end().success());
    assert_eq!(folder.processes(), Vec::<String>::new());
}

#[test]
fn a_first_start_killed_at_any_moment_heals() {
    let timed = Folder::new("timed");
    let since = Instant::now();
    let whole = Ringi::start(&timed.dir);
    let takes = since.elapsed();
    whole.end();

    let rounds: u32 = 18;
    let until = Instant::now() + Duration::from_secs(45);
    for round in (0..rounds).take_while(|_| Instant::now() < until) {
        let folder = Folder::new(&format!("killed{round}"));
        let watch = Watch::new(&folder);
        let mut first = Ringi::spawn(Command::new(RINGI), &folder.dir);
        // Not a wait for something, but the moment that this round is about.
        thread::sleep(takes * round / rounds);
        first.kill();
        if round % 3 > 0 {
            folder.supervisor().inspect(|pid| kill(*pid, Signal::KILL));
        }
        if round % 3 > 1 {
            folder.postmasters().iter().for_each(|pid| kill(*pid, Signal::KILL));
        }
        let second = Ringi::start(&folder.dir);
        assert_eq!(folder.postmasters().len(), 1, "round {round}");
        assert!(second.end().success(), "round {round}");
        assert_eq!(folder.processes(), Vec::<String>::new(), "round {round}");
        assert_eq!(watch.most(), 1, "postmasters at once in round {round}");
    }
}

#[test]
fn a_killed_ringi_takes_its_server_along() {
    let folder = Folder::new("alone");
    let mut ringi = Ringi::start(&folder.dir);
    ringi.kill();
    eventually("all processes end", || folder.processes().is_empty());
}

#[tokio::test]
async fn a_killed_server_comes_back_with_its_data() {
    let folder = Folder::new("postmaster");
    let watch = Watch::new(&folder);
    let server = folder.join(|config| config.durable = true).await;
    assert!(server.ensure_database("kept").await.unwrap());
    assert!(!server.ensure_database("kept").await.unwrap());
    let mut connection = server.connect_options("kept").connect().await.unwrap();
    sqlx::raw_sql("CREATE TABLE t AS SELECT 42 AS answer").execute(&mut connection).await.unwrap();

    for _ in 0..2 {
        let before = folder.postmasters();
        kill(before[0], Signal::KILL);
        eventually("another server runs", || {
            let now = folder.postmasters();
            now.len() == 1 && now != before
        });
        server.ensure_running().await.unwrap();
        assert_eq!(number(&server, "kept", "SELECT answer FROM t").await, 42);
    }
    assert_eq!(watch.most(), 1);
    assert_eq!(server.leave_and_wait(PATIENCE).await.unwrap(), Left::Stopped);
    assert_eq!(folder.processes(), Vec::<String>::new());
}

#[tokio::test]
async fn a_killed_supervisor_takes_the_server_along_and_can_be_replaced() {
    let folder = Folder::new("supervisor");
    let server = folder.join(|_| {}).await;
    let before = folder.postmasters();
    kill(folder.supervisor().unwrap(), Signal::KILL);
    eventually("the server ends, too", || folder.postmasters() != before);

    server.ensure_running().await.unwrap();
    assert_eq!(number(&server, "postgres", "SELECT 1").await, 1);
    assert_eq!(server.leave_and_wait(PATIENCE).await.unwrap(), Left::Stopped);
    assert_eq!(folder.processes(), Vec::<String>::new());
}

/// The supervisor dies after it has started a child, but before that child has asked for the death signal.
#[test]
fn a_child_that_is_orphaned_too_early_becomes_no_server() {
    let folder = Folder::new("orphan");
    let (slow, go) = (folder.base.join("setpriv"), folder.base.join("go"));
    let script = format!(
        r#"#!/bin/sh
case "$*" in *"--pdeathsig INT"*) until [ -e "{}" ]; do sleep 0.02; done ;; esac
PATH="${{PATH#*:}}" exec setpriv "$@"
"#,
        go.display()
    );
    fs::write(&slow, script).unwrap();
    fs::set_permissions(&slow, fs::Permissions::from_mode(0o755)).unwrap();
    let mut command = Command::new(RINGI);
    let path = std::env::var("PATH").unwrap();
    command.env("PATH", format!("{}:{path}", folder.base.display()));
    let mut ringi = Ringi::spawn(command, &folder.dir);
    eventually("the server is about to start", || {
        let seen = folder.seen();
        seen.iter().any(|seen| seen.arguments.iter().any(|arg| arg == "INT"))
    });
    ringi.kill();
    folder.supervisor().inspect(|pid| kill(*pid, Signal::KILL));
    eventually("the supervisor is gone", || folder.supervisor().is_none());
    let watch = Watch::new(&folder);
    fs::write(go, "").unwrap();
    eventually("the child ends", || folder.processes().is_empty());
    assert_eq!(watch.most(), 0);
}

/// The old server can't end, its supervisor is gone: the new supervisor must not touch the folder.
#[tokio::test(flavor = "multi_thread")]
async fn no_second_server_while_a_process_of_the_first_lives() {
    let folder = Folder::new("second");
    let server = folder.join(|_| {}).await;
    let old = folder.postmasters();
    let held = Held::checkpointer(old[0]);
    let old_supervisor = folder.supervisor().unwrap();
    kill(old_supervisor, Signal::KILL);
    eventually("the supervisor is gone", || !is_alive(old_supervisor));

    let again = tokio::spawn(async move {
        server.ensure_running().await.unwrap();
        server
    });
    eventually("a new supervisor is in office", || folder.supervisor().is_some_and(|pid| pid != old_supervisor));
    // That something does not happen can only be watched for a while.
    let until = Instant::now() + Duration::from_millis(700);
    while Instant::now() < until {
        assert_eq!(folder.postmasters(), old, "a second server was started");
        tokio::time::sleep(Duration::from_millis(5)).await;
    }
    assert!(!again.is_finished(), "a dying server counted as ready");
    drop(held);
    let server = again.await.unwrap();
    assert_ne!(folder.postmasters(), old);
    assert_eq!(number(&server, "postgres", "SELECT 1").await, 1);
    assert_eq!(server.leave_and_wait(PATIENCE).await.unwrap(), Left::Stopped);
}

/// An old server may answer for a moment while the next supervisor is in office already.
#[tokio::test]
async fn an_answer_under_another_name_is_not_the_server() {
    let folder = Folder::new("name");
    let server = folder.join(|_| {}).await;
    let office = folder.dir.join("supervisor.lock");
    let name = fs::read_to_string(&office).unwrap();
    fs::write(&office, "ringi-another").unwrap();
    let error = folder.refused(|config| config.start_timeout = Duration::from_millis(300)).await;
    assert!(error.contains("an earlier server is about to stop"), "{error}");
    fs::write(&office, name).unwrap();
    server.ensure_running().await.unwrap();
    assert_eq!(server.leave_and_wait(PATIENCE).await.unwrap(), Left::Stopped);
}

/// Killing the postmaster leaves its children for a moment, and here for longer.
#[tokio::test(flavor = "multi_thread")]
async fn a_restart_waits_for_the_children_of_the_killed_server() {
    let folder = Folder::new("children");
    let server = folder.join(|_| {}).await;
    let old = folder.postmasters();
    let held = Held::checkpointer(old[0]);
    kill(old[0], Signal::KILL);
    eventually("the postmaster is gone", || !is_alive(old[0]));
    let until = Instant::now() + Duration::from_millis(700);
    while Instant::now() < until {
        assert_eq!(folder.postmasters(), Vec::<Pid>::new());
        tokio::time::sleep(Duration::from_millis(5)).await;
    }
    let supervisor = folder.supervisor();
    drop(held);
    server.ensure_running().await.unwrap();
    assert_eq!(folder.supervisor(), supervisor, "no new supervisor was needed");
    assert_eq!(folder.postmasters().len(), 1);
    assert_eq!(server.leave_and_wait(PATIENCE).await.unwrap(), Left::Stopped);
}

#[tokio::test(flavor = "multi_thread")]
async fn who_comes_while_the_server_stops_gets_a_new_one() {
    let folder = Folder::new("stopping");
    let server = folder.join(|_| {}).await;
    let old = folder.postmasters();
    let held = Held::checkpointer(old[0]);
    server.leave();
    eventually("the server stops", || folder.log().contains("received fast shutdown request"));
    let users = fs::File::open(folder.dir.join("users.lock")).unwrap();
    assert!(users.try_lock_shared().is_err(), "one could come while the server stops");

    let next = tokio::spawn(embedded::start(folder.config(|_| {})));
    let until = Instant::now() + Duration::from_millis(500);
    while Instant::now() < until {
        assert!(!next.is_finished(), "a stopping server counted as ready");
        tokio::time::sleep(Duration::from_millis(5)).await;
    }
    drop(held);
    let server = next.await.unwrap().unwrap();
    assert_ne!(folder.postmasters(), old);
    assert_eq!(number(&server, "postgres", "SELECT 1").await, 1);
    assert_eq!(server.leave_and_wait(PATIENCE).await.unwrap(), Left::Stopped);
}

#[tokio::test]
async fn two_share_one_server_and_the_last_stops_it() {
    let folder = Folder::new("shared");
    let watch = Watch::new(&folder);
    let (mut one, mut two) =
        (Ringi::spawn(Command::new(RINGI), &folder.dir), Ringi::spawn(Command::new(RINGI), &folder.dir));
    one.wait_for_url();
    two.wait_for_url();
    let server = folder.postmasters();
    assert_eq!(server.len(), 1);

    assert!(one.end().success());
    assert_eq!(folder.postmasters(), server);
    let third = folder.join(|config| config.bin_dir = Some(PathBuf::from("/nonexistent"))).await;
    assert_eq!(number(&third, "postgres", "SELECT 1").await, 1, "joining takes no programs");
    assert_eq!(third.leave_and_wait(PATIENCE).await.unwrap(), Left::OthersRemain);
    assert!(two.end().success());
    assert_eq!(folder.processes(), Vec::<String>::new());
    assert_eq!(watch.most(), 1);
}

#[tokio::test]
async fn ctrl_c_reaches_the_server_only_through_ringi() {
    let folder = Folder::new("ctrlc");
    let mut command = Command::new(RINGI);
    command.process_group(0);
    let ringi = Ringi::start_as(command, &folder.dir);
    let keeper = folder.join(|_| {}).await;
    let server = folder.postmasters();
    rustix::process::kill_process_group(Pid::from_child(&ringi.process), Signal::INT).unwrap();
    assert!(ringi.wait().success());
    assert_eq!(folder.postmasters(), server);
    assert_eq!(number(&keeper, "postgres", "SELECT 1").await, 1);
    assert_eq!(keeper.leave_and_wait(PATIENCE).await.unwrap(), Left::Stopped);
}

#[tokio::test]
async fn a_stale_pid_file_with_the_number_of_a_living_process_is_no_trap() {
    let folder = Folder::new("recycled");
    folder.join(|_| {}).await.leave_and_wait(PATIENCE).await.unwrap();
    // PostgreSQL takes the number for a server's if it belongs to a living process of the same user.
    let owner = fs::metadata(folder.dir.join("data")).unwrap().uid();
    let mut other = Command::new("cat");
    let mut other = other.uid(owner).stdin(Stdio::piped()).stdout(Stdio::null()).spawn().unwrap();
    let number = other.id();
    let data = folder.dir.join("data");
    let text = format!("{number}\n{}\n1700000000\n5432\n", data.display());
    fs::write(data.join("postmaster.pid"), text).unwrap();
    fs::write(folder.dir.join("socket/.s.PGSQL.5432.lock"), format!("{number}\n")).unwrap();
    let server = folder.join(|_| {}).await;
    drop(other.stdin.take());
    other.wait().unwrap();
    assert_eq!(server.leave_and_wait(PATIENCE).await.unwrap(), Left::Stopped);
}

#[tokio::test]
async fn without_programs_the_error_says_what_to_install() {
    let folder = Folder::new("none");
    let error = folder.refused(|config| config.bin_dir = Some("/nonexistent".into())).await;
    assert!(error.contains("apt-get install postgresql"), "{error}");
    assert!(error.contains("/nonexistent"), "{error}");
    assert!(error.contains("DATABASE_URL"), "{error}");
}

#[tokio::test]
async fn data_of_another_version_are_explained() {
    let folder = Folder::new("version");
    folder.join(|_| {}).await.leave_and_wait(PATIENCE).await.unwrap();
    fs::write(folder.dir.join("data/PG_VERSION"), "13\n").unwrap();
    let error = folder.refused(|_| {}).await;
    assert!(error.contains("made by PostgreSQL 13"), "{error}");
    assert!(error.contains("pg_dumpall"), "{error}");
    assert!(error.contains("apt-get install postgresql-13"), "{error}");

    fs::remove_file(folder.dir.join("data/PG_VERSION")).unwrap();
    let error = folder.refused(|_| {}).await;
    assert!(error.contains("no PostgreSQL cluster"), "{error}");
}

#[tokio::test]
async fn a_server_that_cannot_start_is_quoted_at_once() {
    let folder = Folder::new("quoted");
    let error = folder.refused(|config| config.extra_settings.push(("no_such_setting".into(), "1".into()))).await;
    assert!(error.contains("unrecognized configuration parameter \"no_such_setting\""), "{error}");
    assert_eq!(folder.log().matches("ended unexpectedly").count(), 1, "tried again in vain");
    let server = folder.join(|_| {}).await;
    assert_eq!(server.leave_and_wait(PATIENCE).await.unwrap(), Left::Stopped);
}

#[tokio::test]
async fn a_path_with_odd_letters_works() {
    let folder = Folder::new("é, \"odd\" & %41");
    let server = folder.join(|_| {}).await;
    assert!(server.socket_dir().starts_with(&folder.dir));
    let options: PgConnectOptions = server.url("postgres").parse().unwrap();
    options.connect().await.unwrap().close().await.unwrap();
    assert_eq!(server.leave_and_wait(PATIENCE).await.unwrap(), Left::Stopped);
}

#[tokio::test]
async fn a_path_too_long_for_a_socket_works() {
    let folder = Folder::new(&format!("long{}", "x".repeat(120)));
    let server = folder.join(|_| {}).await;
    let socket_dir = server.socket_dir().to_path_buf();
    assert!(!socket_dir.starts_with(&folder.dir));
    let options: PgConnectOptions = server.url("postgres").parse().unwrap();
    options.connect().await.unwrap().close().await.unwrap();
    assert_eq!(server.leave_and_wait(PATIENCE).await.unwrap(), Left::Stopped);

    // Whoever may make folders there could else read along.
    fs::set_permissions(&socket_dir, fs::Permissions::from_mode(0o755)).unwrap();
    let error = folder.refused(|_| {}).await;
    assert!(error.contains("is not safe"), "{error}");
    fs::remove_dir_all(socket_dir).unwrap();
}

#[tokio::test]
async fn an_ordinary_user_has_a_server_of_its_own_and_others_are_told() {
    if !rustix::process::geteuid().is_root() {
        return; // Every other test runs as an ordinary user then.
    }
    let folder = Folder::new("ordinary");
    chown(&folder.base, Some(NOBODY), Some(NOBODY)).unwrap();
    // The build's folder may be closed to that user.
    let copy = folder.base.join("ringi");
    fs::copy(RINGI, &copy).unwrap();
    let as_nobody = || {
        let mut command = Command::new("setpriv");
        command.args(["--reuid=65534", "--regid=65534", "--clear-groups"]).arg(&copy);
        command.current_dir("/");
        command
    };
    assert!(Ringi::start_as(as_nobody(), &folder.dir).end().success());
    assert_eq!(folder.processes(), Vec::<String>::new());

    let error = folder.refused(|_| {}).await;
    assert!(error.contains("belongs to the user nobody"), "{error}");

    let of_root = Folder::new("of-root");
    of_root.join(|_| {}).await.leave_and_wait(PATIENCE).await.unwrap();
    let output = as_nobody().args(["postgres", "--dir"]).arg(&of_root.dir).output().unwrap();
    let error = String::from_utf8_lossy(&output.stderr);
    assert!(!output.status.success());
    assert!(error.contains("belongs to the user root"), "{error}");
}

#[tokio::test]
async fn a_folder_closed_to_the_servers_user_is_replaced() {
    if !rustix::process::geteuid().is_root() {
        return;
    }
    let folder = Folder::new("closed");
    fs::set_permissions(&folder.base, fs::Permissions::from_mode(0o700)).unwrap();
    let server = folder.join(|_| {}).await;
    let used = server.dir().to_path_buf();
    assert!(used.starts_with("/var/lib"), "{}", used.display());
    assert_eq!(number(&server, "postgres", "SELECT 1").await, 1);
    let again = folder.join(|_| {}).await;
    assert_eq!(again.dir(), used);
    again.leave();
    assert_eq!(server.leave_and_wait(PATIENCE).await.unwrap(), Left::Stopped);
    fs::remove_dir_all(used).unwrap();
}

/// A process `ringi postgres`; killed when dropped.
struct Ringi {
    process: Child,
    stdin: Option<ChildStdin>,
    first_line: mpsc::Receiver<String>,
    url: String,
}

impl Ringi {
    fn spawn(mut command: Command, dir: &Path) -> Self {
        let mut process = command
            .args(["postgres", "--dir"])
            .arg(dir)
            .env("RINGI__DATABASE__EMBEDDED_DURABLE", "false")
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            .spawn()
            .unwrap();
        let (line, first_line) = mpsc::channel();
        let stdout = process.stdout.take().unwrap();
        thread::spawn(move || {
            for text in BufReader::new(stdout).lines().map_while(Result::ok) {
                let _ = line.send(text);
            }
        });
        let stdin = process.stdin.take();
        Self { process, stdin, first_line, url: String::new() }
    }

    fn start(dir: &Path) -> Self {
        Self::start_as(Command::new(RINGI), dir)
    }

    fn start_as(command: Command, dir: &Path) -> Self {
        let mut ringi = Self::spawn(command, dir);
        ringi.wait_for_url();
        ringi
    }

    fn wait_for_url(&mut self) {
        self.url = self.first_line.recv_timeout(PATIENCE).expect("no URL: ringi ended or hangs");
        assert!(self.url.starts_with("postgres:///"), "{}", self.url);
    }

    fn kill(&mut self) {
        self.process.kill().unwrap();
        self.process.wait().unwrap();
    }

    fn end(mut self) -> ExitStatus {
        self.stdin = None;
        self.wait()
    }

    fn wait(mut self) -> ExitStatus {
        let mut status = None;
        eventually("ringi ends", || {
            status = self.process.try_wait().unwrap();
            status.is_some()
        });
        status.unwrap()
    }
}

impl Drop for Ringi {
    fn drop(&mut self) {
        let _ = self.process.kill();
        let _ = self.process.wait();
    }
}

/// A folder for one test; removed when dropped, with the processes that a failed test left.
struct Folder {
    base: PathBuf,
    dir: PathBuf,
}

impl Folder {
    fn new(name: &str) -> Self {
        let base = std::env::temp_dir().join(format!("ringi-it-{}-{name}", std::process::id()));
        fs::create_dir(&base).unwrap();
        fs::set_permissions(&base, fs::Permissions::from_mode(0o755)).unwrap();
        let dir = base.join("pg");
        Self { base, dir }
    }

    fn config(&self, change: impl FnOnce(&mut EmbeddedConfig)) -> EmbeddedConfig {
        let mut config = EmbeddedConfig::new(&self.dir);
        config.durable = false;
        config.supervisor = Some(RINGI.into());
        change(&mut config);
        config
    }

    /// Joins or starts the server from this process.
    async fn join(&self, change: impl FnOnce(&mut EmbeddedConfig)) -> EmbeddedPg {
        embedded::start(self.config(change)).await.unwrap_or_else(|error| panic!("{error}"))
    }

    async fn refused(&self, change: impl FnOnce(&mut EmbeddedConfig)) -> String {
        embedded::start(self.config(change)).await.expect_err("started").to_string()
    }

    fn log(&self) -> String {
        fs::read_to_string(self.dir.join("log/server.log")).unwrap_or_default()
    }

    /// The supervisor in office, if it lives.
    fn supervisor(&self) -> Option<Pid> {
        let name = fs::read_to_string(self.dir.join("supervisor.lock")).ok()?;
        let pid = Pid::from_raw(name.split('-').nth(1)?.parse().ok()?)?;
        is_alive(pid).then_some(pid)
    }

    fn seen(&self) -> Vec<Seen> {
        let dir = self.dir.to_str().unwrap();
        let mut all = all_processes();
        all.retain(|seen| seen.arguments.iter().any(|arg| arg.contains(dir)) || seen.works_in.starts_with(&self.dir));
        all
    }

    /// All that belongs to this folder, for messages.
    fn processes(&self) -> Vec<String> {
        let seen = self.seen().into_iter();
        seen.map(|seen| format!("{} {:?}", seen.pid.as_raw_nonzero(), seen.arguments)).collect()
    }

    /// The postmasters on this folder's data. A child looks like its parent for a moment, so children don't count.
    fn postmasters(&self) -> Vec<Pid> {
        let data = self.dir.join("data");
        let mut seen = self.seen();
        seen.retain(|seen| {
            let mut arguments = seen.arguments.iter();
            arguments.next().is_some_and(|program| program.ends_with("/postgres"))
                && arguments.any(|arg| Path::new(arg) == data)
        });
        let pids: Vec<Pid> = seen.iter().map(|seen| seen.pid).collect();
        seen.iter().filter(|seen| !pids.contains(&seen.parent)).map(|seen| seen.pid).collect()
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        let until = Instant::now() + Duration::from_secs(20);
        loop {
            let left = self.seen();
            if left.is_empty() || Instant::now() > until {
                break;
            }
            if thread::panicking() {
                left.iter()
                    .filter(|seen| seen.pid.as_raw_nonzero().get().unsigned_abs() != std::process::id())
                    .for_each(|seen| kill(seen.pid, Signal::KILL));
            }
            thread::sleep(Duration::from_millis(20));
        }
        let _ = fs::remove_dir_all(&self.base);
    }
}

/// Counts the postmasters on a folder all the time.
struct Watch {
    most: Arc<AtomicUsize>,
    stop: Arc<AtomicBool>,
    thread: Option<thread::JoinHandle<()>>,
}

impl Watch {
    fn new(folder: &Folder) -> Self {
        let folder = std::mem::ManuallyDrop::new(Folder { base: folder.base.clone(), dir: folder.dir.clone() });
        let (most, stop) = (Arc::new(AtomicUsize::new(0)), Arc::new(AtomicBool::new(false)));
        let thread = thread::spawn({
            let (most, stop) = (Arc::clone(&most), Arc::clone(&stop));
            move || {
                while !stop.load(Ordering::Relaxed) {
                    most.fetch_max(folder.postmasters().len(), Ordering::Relaxed);
                    thread::sleep(Duration::from_millis(3));
                }
            }
        });
        Self { most, stop, thread: Some(thread) }
    }

    fn most(&self) -> usize {
        self.most.load(Ordering::Relaxed)
    }
}

impl Drop for Watch {
    fn drop(&mut self) {
        self.stop.store(true, Ordering::Relaxed);
        let _ = self.thread.take().map(thread::JoinHandle::join);
    }
}

/// A process that is stopped (not ended) until this is dropped.
struct Held(Pid);

impl Held {
    /// The process that a server can't end without.
    fn checkpointer(postmaster: Pid) -> Self {
        let mut found = None;
        eventually("the checkpointer runs", || {
            found = all_processes().into_iter().find(|seen| {
                seen.parent == postmaster && seen.arguments.iter().any(|arg| arg.contains("checkpointer"))
            });
            found.is_some()
        });
        let pid = found.unwrap().pid;
        kill(pid, Signal::STOP);
        Self(pid)
    }
}

impl Drop for Held {
    fn drop(&mut self) {
        kill(self.0, Signal::CONT);
    }
}

/// A living process (not a zombie).
struct Seen {
    pid: Pid,
    parent: Pid,
    arguments: Vec<String>,
    works_in: PathBuf,
}

fn all_processes() -> Vec<Seen> {
    let entries = fs::read_dir("/proc").unwrap().flatten();
    entries.filter_map(|entry| look_at(entry.file_name().to_str()?.parse().ok()?)).collect()
}

fn look_at(pid: i32) -> Option<Seen> {
    let stat = fs::read_to_string(format!("/proc/{pid}/stat")).ok()?;
    let mut after_name = stat.rsplit_once(')')?.1.split_whitespace();
    if matches!(after_name.next()?, "Z" | "X") {
        return None;
    }
    let parent = Pid::from_raw(after_name.next()?.parse().ok()?)?;
    let line = fs::read(format!("/proc/{pid}/cmdline")).ok()?;
    let arguments = line.split(|byte| *byte == 0).map(|arg| String::from_utf8_lossy(arg).into_owned()).collect();
    let works_in = fs::read_link(format!("/proc/{pid}/cwd")).unwrap_or_default();
    Some(Seen { pid: Pid::from_raw(pid)?, parent, arguments, works_in })
}

fn is_alive(pid: Pid) -> bool {
    look_at(pid.as_raw_nonzero().get()).is_some()
}

fn kill(pid: Pid, signal: Signal) {
    // It may have ended by itself.
    let _ = kill_process(pid, signal);
}

fn eventually(what: &str, mut holds: impl FnMut() -> bool) {
    let until = Instant::now() + PATIENCE;
    while !holds() {
        assert!(Instant::now() < until, "not in time: {what}");
        thread::sleep(Duration::from_millis(10));
    }
}

async fn number(server: &EmbeddedPg, database: &str, question: &'static str) -> i32 {
    let mut connection: PgConnection = server.connect_options(database).connect().await.unwrap();
    sqlx::query_scalar(question).fetch_one(&mut connection).await.unwrap()
}
