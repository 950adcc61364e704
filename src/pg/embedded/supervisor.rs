//! The supervisor: one small process that starts the server, keeps it running while anybody uses it, and stops
//! it after the last one. No threads, since the death signal of its children follows the thread that started
//! them; it looks around every few milliseconds instead of waiting for one event among several.

use std::ffi::OsString;
use std::fs::{self, File};
use std::io::{self, Write as _};
use std::process::{Child, ExitCode, ExitStatus};
use std::time::{Duration, Instant, SystemTime};

use rustix::process::{Pid, Signal, kill_process};

use super::locks;
use super::server::ServerPlan;

/// The exit code of a supervisor that found another one in office.
pub(super) const NOT_NEEDED: u8 = 3;

const LOOK_EVERY: Duration = Duration::from_millis(50);
/// How long a new supervisor tries to get into office: those who only look at the lock have it for a moment.
const OFFICE_PATIENCE: Duration = Duration::from_secs(2);
/// After the fast stop, which includes writing all changed pages.
const STOP_PATIENCE: Duration = Duration::from_secs(30);
/// After the immediate stop.
const QUIT_PATIENCE: Duration = Duration::from_secs(5);
/// A server that dies this often in a row without having run for [`STEADY`] is given up.
const DEATHS_IN_A_ROW: u32 = 5;
const STEADY: Duration = Duration::from_mins(1);
/// The log is set aside when it is larger than this, in bytes.
const LOG_LIMIT: u64 = 16 * 1024 * 1024;
const LOG_LOOK_EVERY: Duration = Duration::from_secs(5);

/// The body of the hidden sub-command [`SUPERVISOR_COMMAND`](super::SUPERVISOR_COMMAND): `args` are what follows
/// it on the command line. Must be called from the main thread, before any other thread exists.
///
/// Returns success when it stopped the server because nobody used it any more.
pub fn supervise(args: impl IntoIterator<Item = OsString>) -> ExitCode {
    let mut args = args.into_iter();
    let plan = match (args.next().and_then(|arg| arg.into_string().ok()), args.next()) {
        (Some(json), None) => serde_json::from_str::<ServerPlan>(&json),
        _ => Err(serde::de::Error::custom("one argument expected")),
    };
    let plan = match plan {
        Ok(plan) => plan,
        Err(error) => {
            say(&format!("this command is for ringi itself, not for people ({error})"));
            return ExitCode::from(2);
        }
    };
    match run(&plan) {
        Ok(End::NobodyLeft) => ExitCode::SUCCESS,
        Ok(End::NotNeeded) => ExitCode::from(NOT_NEEDED),
        Err(error) => {
            say(&error.to_string());
            ExitCode::FAILURE
        }
    }
}

/// Why a supervisor ends without a failure.
enum End {
    NobodyLeft,
    NotNeeded,
}

fn run(plan: &ServerPlan) -> io::Result<End> {
    // Both locks are kept until the process ends.
    let mut office = locks::open(&plan.layout.supervisor_lock())?;
    let users = locks::open(&plan.layout.users_lock())?;
    let since = Instant::now();
    while !locks::try_alone(&office)? {
        if since.elapsed() > OFFICE_PATIENCE {
            return Ok(End::NotNeeded);
        }
        std::thread::sleep(Duration::from_millis(5));
    }
    let name = new_name();
    office.set_len(0)?;
    office.write_all(name.as_bytes())?;
    let result = Supervisor { plan, users, name }.run();
    drop(office);
    result
}

/// A name no other supervisor of this folder has had.
fn new_name() -> String {
    let now = SystemTime::UNIX_EPOCH.elapsed().unwrap_or_default();
    format!("ringi-{}-{:x}", std::process::id(), now.as_micros())
}

struct Supervisor<'a> {
    plan: &'a ServerPlan,
    /// Locked from the moment when the last user was gone until the end of this process.
    users: File,
    name: String,
}

impl Supervisor<'_> {
    fn run(&self) -> io::Result<End> {
        let Some(mut server_lock) = self.wait_for_server_lock()? else {
            return Ok(End::NobodyLeft);
        };
        self.plan.remove_leftovers()?;
        if !self.plan.layout.data().exists() && !self.make_cluster()? {
            return Ok(End::NobodyLeft);
        }
        let mut deaths = 0;
        let mut was_ready = false;
        loop {
            let started = Instant::now();
            let mut server = self.plan.postgres(&self.name).spawn()?;
            let Some(status) = self.watch(&mut server, &mut was_ready)? else {
                stop(&mut server)?;
                return Ok(End::NobodyLeft);
            };
            deaths = if started.elapsed() > STEADY { 1 } else { deaths + 1 };
            say(&format!("the server ended unexpectedly ({status})"));
            // One that ends by itself before it was ever ready will do so again: the log says why.
            if (!was_ready && status.code().is_some()) || deaths > DEATHS_IN_A_ROW {
                return Err(io::Error::other("giving up; see above"));
            }
            // Its children may live for a moment yet; they hold the lock that is closed here.
            drop(server_lock);
            server_lock = match self.wait_for_server_lock()? {
                Some(lock) => lock,
                None => return Ok(End::NobodyLeft),
            };
            self.plan.remove_leftovers()?;
            if !self.pause(Duration::from_millis(100 << deaths))? {
                return Ok(End::NobodyLeft);
            }
            say("starting the server again");
        }
    }

    /// True when nobody uses the server. From then on nobody can begin to, until this process ends.
    fn nobody_left(&self) -> io::Result<bool> {
        locks::try_alone(&self.users)
    }

    /// The lock, once every process of an earlier server is gone; `None` when nobody needs a server any more.
    fn wait_for_server_lock(&self) -> io::Result<Option<File>> {
        let patience = Duration::from_millis(self.plan.patience_ms);
        let since = Instant::now();
        loop {
            if self.nobody_left()? {
                return Ok(None);
            }
            if let Some(lock) = self.plan.try_server_lock()? {
                return Ok(Some(lock));
            }
            if since.elapsed() > patience {
                return Err(io::Error::other(
                    "processes of an earlier server still run on this folder; end them, or try again later",
                ));
            }
            std::thread::sleep(LOOK_EVERY);
        }
    }

    /// Makes the cluster; false when nobody needs it any more.
    fn make_cluster(&self) -> io::Result<bool> {
        self.plan.make_data_new()?;
        let mut initdb = self.plan.initdb().spawn()?;
        let status = loop {
            if let Some(status) = initdb.try_wait()? {
                break status;
            }
            if self.nobody_left()? {
                initdb.kill()?;
                initdb.wait()?;
                return Ok(false);
            }
            std::thread::sleep(LOOK_EVERY);
        };
        if !status.success() {
            return Err(io::Error::other(format!("initdb failed ({status})")));
        }
        self.plan.adopt_data_new()?;
        Ok(true)
    }

    /// Waits until the server has ended (how), or its last user is gone (`None`).
    fn watch(&self, server: &mut Child, was_ready: &mut bool) -> io::Result<Option<ExitStatus>> {
        let mut log_looked_at = Instant::now();
        loop {
            if let Some(status) = server.try_wait()? {
                return Ok(Some(status));
            }
            if self.nobody_left()? {
                return Ok(None);
            }
            *was_ready = *was_ready || self.plan.says_ready();
            if log_looked_at.elapsed() > LOG_LOOK_EVERY {
                log_looked_at = Instant::now();
                if let Err(error) = self.bound_log() {
                    say(&format!("cannot set the log aside: {error}"));
                }
            }
            std::thread::sleep(LOOK_EVERY);
        }
    }

    /// Sets a large log aside. Copied and emptied, not renamed: the server keeps its descriptor, and appends.
    fn bound_log(&self) -> io::Result<()> {
        let log = self.plan.layout.log();
        if fs::metadata(&log)?.len() > LOG_LIMIT {
            fs::copy(&log, self.plan.layout.old_log())?;
            File::options().write(true).open(&log)?.set_len(0)?;
        }
        Ok(())
    }

    /// Waits; false when nobody needs a server any more.
    fn pause(&self, time: Duration) -> io::Result<bool> {
        let since = Instant::now();
        while since.elapsed() < time {
            if self.nobody_left()? {
                return Ok(false);
            }
            std::thread::sleep(LOOK_EVERY);
        }
        Ok(true)
    }
}

/// Stops the server: sessions are ended and all is written; only if that takes too long, harder.
fn stop(server: &mut Child) -> io::Result<()> {
    for (signal, patience) in [(Signal::INT, STOP_PATIENCE), (Signal::QUIT, QUIT_PATIENCE)] {
        // Not reaped yet, so the number is still this child's; an error means that it just ended.
        let _ = kill_process(Pid::from_child(server), signal);
        let since = Instant::now();
        while since.elapsed() < patience {
            if server.try_wait()?.is_some() {
                return Ok(());
            }
            std::thread::sleep(Duration::from_millis(10));
        }
        say("the server is slow to stop; insisting");
    }
    server.kill()?;
    server.wait().map(drop)
}

/// Writes a line to the log, which is this process's standard error.
fn say(text: &str) {
    let _ = writeln!(io::stderr(), "ringi supervisor [{}]: {text}", std::process::id());
}
