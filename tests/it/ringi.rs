//! The program itself, as a process: what a user starts, reads and stops.

use crate::harness::{PATIENCE, SECRET};
use rustix::process::{Pid, Signal, kill_process};
use std::fs;
use std::io::{BufRead as _, BufReader, Read as _};
use std::path::PathBuf;
use std::process::{Child, Command, ExitStatus, Stdio};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, mpsc};
use std::time::{Duration, Instant};

/// A folder of a test's own; removed when dropped.
pub struct Folder(pub PathBuf);

impl Folder {
    pub fn new(name: &str) -> Self {
        static COUNT: AtomicUsize = AtomicUsize::new(0);
        let count = COUNT.fetch_add(1, Ordering::Relaxed);
        let dir = PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join(format!("{name}-{}-{count}", std::process::id()));
        fs::create_dir_all(&dir).unwrap();
        Self(dir)
    }

    /// In memory where there is room for a cluster. What a killed process has written is still there, as on a disk; but
    /// each recovery begins with an fsync of every file, which takes a busy disk seconds.
    pub fn in_memory(name: &str) -> Self {
        let df = Command::new("df").args(["--output=avail", "--block-size=1M", "/dev/shm"]).output();
        let free = df.ok().and_then(|df| String::from_utf8(df.stdout).ok()?.lines().nth(1)?.trim().parse::<u32>().ok());
        if free.is_none_or(|megabytes| megabytes < 2_000) {
            return Self::new(name);
        }
        // Those of failed tests are kept until the next run.
        let prefix = format!("ringi-{name}-");
        for entry in fs::read_dir("/dev/shm").unwrap().flatten() {
            let kept = entry.file_name();
            let of = kept.to_str().and_then(|kept| kept.strip_prefix(&prefix));
            if of.is_some_and(|pid| !std::path::Path::new("/proc").join(pid).exists()) {
                let _ = fs::remove_dir_all(entry.path());
            }
        }
        let dir = PathBuf::from(format!("/dev/shm/{prefix}{}", std::process::id()));
        fs::create_dir_all(&dir).unwrap();
        Self(dir)
    }

    pub fn write(&self, name: &str, text: &str) -> PathBuf {
        let path = self.0.join(name);
        fs::write(&path, text).unwrap();
        path
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        if std::thread::panicking() {
            eprintln!("kept for you to look at: {}", self.0.display());
        } else {
            let _ = fs::remove_dir_all(&self.0);
        }
    }
}

/// What is right for people is too slow for tests.
const UNLIMITED: [(&str, &str); 3] = [
    ("RINGI__LIMITS__USER_PER_S", "0"),
    ("RINGI__LIMITS__ORGANIZATION_PER_S", "0"),
    ("RINGI__LIMITS__ADDRESS_PER_S", "0"),
];

/// `ringi` with these arguments and settings, and nothing of this process's environment.
pub fn command(arguments: &[&str], settings: &[(&str, &str)]) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_ringi"));
    command.args(arguments).env_clear().envs(UNLIMITED).envs(settings.iter().copied());
    if let Some(path) = std::env::var_os("PATH") {
        command.env("PATH", path);
    }
    // No `.env` of the checkout is read from here.
    command.current_dir("/");
    command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped());
    command
}

/// What a command said, and how it ended.
#[derive(Debug)]
pub struct Said {
    pub code: i32,
    pub stdout: String,
    pub stderr: String,
}

impl Said {
    /// It succeeded, and said this.
    #[track_caller]
    pub fn success(self) -> String {
        assert_eq!(self.code, 0, "{self:?}");
        self.stdout
    }

    /// It refused with this code, on stderr alone, in words that contain these.
    #[track_caller]
    pub fn refused(self, code: i32, words: &[&str]) -> String {
        assert_eq!(self.code, code, "{self:?}");
        assert_eq!(self.stdout, "", "answers go to stdout, problems do not");
        for word in words {
            assert!(self.stderr.contains(word), "{word:?} is missing in {:?}", self.stderr);
        }
        assert!(!self.stderr.contains("panicked"), "{}", self.stderr);
        self.stderr
    }
}

/// Runs a command to its end.
pub fn run(arguments: &[&str], settings: &[(&str, &str)]) -> Said {
    run_command(command(arguments, settings))
}

pub fn run_command(mut command: Command) -> Said {
    said(command.spawn().unwrap())
}

/// What a command that runs already says, to its end.
pub fn said(mut child: Child) -> Said {
    let reading = |mut from: Box<dyn std::io::Read + Send>| {
        std::thread::spawn(move || {
            let mut text = String::new();
            from.read_to_string(&mut text).unwrap();
            text
        })
    };
    let stdout = reading(Box::new(child.stdout.take().unwrap()));
    let stderr = reading(Box::new(child.stderr.take().unwrap()));
    let status = wait(&mut child, Duration::from_mins(1)).unwrap_or_else(|| {
        child.kill().unwrap();
        child.wait().unwrap()
    });
    Said { code: status.code().unwrap_or(-1), stdout: stdout.join().unwrap(), stderr: stderr.join().unwrap() }
}

fn wait(child: &mut Child, patience: Duration) -> Option<ExitStatus> {
    let since = Instant::now();
    loop {
        if let Some(status) = child.try_wait().unwrap() {
            return Some(status);
        }
        if since.elapsed() > patience {
            return None;
        }
        std::thread::sleep(Duration::from_millis(5));
    }
}

/// A running `ringi serve`; killed when dropped.
pub struct Serving {
    child: Child,
    pub address: String,
    stdout: Arc<Mutex<String>>,
    stderr: Arc<Mutex<String>>,
}

impl Serving {
    /// Starts it and waits until it says that it is ready. `Err`: what it said instead.
    pub fn try_start(mut command: Command) -> Result<Self, Said> {
        let mut child = command.spawn().unwrap();
        let (stdout, stderr) = (Arc::new(Mutex::new(String::new())), Arc::new(Mutex::new(String::new())));
        let (told, first) = mpsc::channel();
        let collect = |from: Box<dyn std::io::Read + Send>, into: &Arc<Mutex<String>>| {
            let (into, told) = (Arc::clone(into), told.clone());
            std::thread::spawn(move || {
                for line in BufReader::new(from).lines().map_while(Result::ok) {
                    let mut text = into.lock().unwrap();
                    text.push_str(&line);
                    text.push('\n');
                    if let Some(rest) = line.strip_prefix("Ringi is ready: open ") {
                        let _ = told.send(rest.split('/').take(3).collect::<Vec<_>>().join("/"));
                    }
                }
            })
        };
        let readers = [
            collect(Box::new(child.stdout.take().unwrap()), &stdout),
            collect(Box::new(child.stderr.take().unwrap()), &stderr),
        ];
        drop(told);
        // An end of both streams is an end of the program.
        let Ok(address) = first.recv_timeout(Duration::from_mins(1)) else {
            let _ = child.kill();
            let code = child.wait().unwrap().code().unwrap_or(-1);
            for reader in readers {
                reader.join().unwrap();
            }
            let text = |of: &Mutex<String>| of.lock().unwrap().clone();
            return Err(Said { code, stdout: text(&stdout), stderr: text(&stderr) });
        };
        Ok(Self { child, address, stdout, stderr })
    }

    #[track_caller]
    pub fn start(command: Command) -> Self {
        Self::try_start(command).unwrap_or_else(|said| panic!("it does not serve: {said:?}"))
    }

    /// On this database, on any free port, with the tests' secret.
    #[track_caller]
    pub fn on(url: &str, settings: &[(&str, &str)]) -> Self {
        let mut command = command(&["serve"], &[("RINGI__AUTH__HS256_SECRET", SECRET)]);
        command.env("DATABASE_URL", url).env("PORT", "0").envs(settings.iter().copied());
        Self::start(command)
    }

    pub fn pid(&self) -> Pid {
        Pid::from_child(&self.child)
    }

    pub fn signal(&self, signal: Signal) {
        kill_process(self.pid(), signal).unwrap();
    }

    /// kill -9, reaped.
    pub fn kill(mut self) {
        self.child.kill().unwrap();
        self.child.wait().unwrap();
    }

    /// Whether it has ended.
    pub fn has_ended(&mut self) -> bool {
        self.child.try_wait().unwrap().is_some()
    }

    /// Waits for its end, which somebody has asked for.
    pub fn end(mut self) -> Said {
        let status = wait(&mut self.child, PATIENCE).expect("it does not end");
        Said { code: status.code().unwrap_or(-1), stdout: self.stdout(), stderr: self.stderr() }
    }

    /// Asks for its end as a service manager does, and waits for it.
    pub fn stop(self) -> Said {
        self.signal(Signal::TERM);
        self.end()
    }

    pub fn stdout(&self) -> String {
        self.stdout.lock().unwrap().clone()
    }

    pub fn stderr(&self) -> String {
        self.stderr.lock().unwrap().clone()
    }
}

impl Drop for Serving {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}
