//! Servers as processes: the product, and what it is compared with.

use crate::cluster::{Cluster, SESSION};
use crate::http::{Connection, get};
use std::fs::OpenOptions;
use std::net::TcpListener;
use std::path::Path;
use std::process::Stdio;
use std::time::{Duration, Instant};
use tokio::process::{Child, Command};

pub const SECRET: &str = "a secret for the bench, thirty-two bytes";

/// A program that answers on a port.
pub struct Server {
    pub address: String,
    /// From its start to the first 200 of /health/ready.
    pub ready: Duration,
    child: Child,
}

impl Server {
    async fn start(what: &str, mut command: Command, address: String) -> Result<Self, String> {
        let start = Instant::now();
        let child = command
            .stdin(Stdio::null())
            .kill_on_drop(true)
            .spawn()
            .map_err(|error| format!("{what} can't be started: {error}"))?;
        let mut server = Self { address, ready: Duration::ZERO, child };
        let request = get("/health/ready", None);
        loop {
            if let Ok(mut connection) = Connection::open(&server.address).await
                && let Ok(response) = connection.call(&request).await
                && response.status == 200
            {
                server.ready = start.elapsed();
                return Ok(server);
            }
            if let Ok(Some(status)) = server.child.try_wait() {
                return Err(format!("{what} ended: {status}"));
            }
            if start.elapsed() > Duration::from_secs(60) {
                return Err(format!("{what} is not ready after a minute"));
            }
            tokio::time::sleep(Duration::from_millis(1)).await;
        }
    }

    /// Resident memory, in MiB.
    pub fn rss_mib(&self) -> Option<f64> {
        let status = std::fs::read_to_string(format!("/proc/{}/status", self.child.id()?)).ok()?;
        let line = status.lines().find(|line| line.starts_with("VmRSS:"))?;
        let kib: f64 = line.split_whitespace().nth(1)?.parse().ok()?;
        Some(kib / 1024.0)
    }

    /// kill -9.
    pub async fn kill(mut self) {
        drop(self.child.kill().await);
    }

    /// Asks it to stop, and waits.
    pub async fn stop(mut self) {
        let pid = self.child.id().and_then(|id| i32::try_from(id).ok()).and_then(rustix::process::Pid::from_raw);
        if let Some(pid) = pid {
            let _ = rustix::process::kill_process(pid, rustix::process::Signal::TERM);
        }
        if tokio::time::timeout(Duration::from_secs(15), self.child.wait()).await.is_err() {
            drop(self.child.kill().await);
        }
    }
}

/// A port that is free now.
fn free_address() -> Result<String, String> {
    let address = TcpListener::bind("127.0.0.1:0").and_then(|listener| listener.local_addr());
    address.map(|address| address.to_string()).map_err(|error| error.to_string())
}

pub fn log(cluster: &Cluster, name: &str) -> Result<Stdio, String> {
    let path = cluster.dir.join(name);
    let file = OpenOptions::new().create(true).append(true).open(&path);
    file.map(Stdio::from).map_err(|error| format!("{}: {error}", path.display()))
}

/// `ringi serve` on a database, with all settings as they come but for these connections.
pub async fn ringi(cluster: &Cluster, database: &str, writers: usize) -> Result<Server, String> {
    ringi_at(cluster, &cluster.postgres.url(database), writers).await
}

pub async fn ringi_at(cluster: &Cluster, url: &str, writers: usize) -> Result<Server, String> {
    ringi_with(cluster, url, writers, &["serve"], &[]).await
}

/// The same with other arguments and settings.
pub async fn ringi_with(
    cluster: &Cluster,
    url: &str,
    writers: usize,
    arguments: &[&str],
    settings: &[(&str, String)],
) -> Result<Server, String> {
    let address = free_address()?;
    let mut command = Command::new(env!("CARGO_BIN_EXE_ringi"));
    command
        .args(arguments)
        .env_clear()
        // A .env of the checkout must not decide.
        .current_dir("/")
        .env("DATABASE_URL", url)
        .env("RINGI__HTTP__LISTEN", &address)
        .env("RINGI__AUTH__HS256_SECRET", SECRET)
        .env("RINGI__DATABASE__MAX_CONNECTIONS", writers.to_string())
        // A bench is nobody's usual caller.
        .env("RINGI__LIMITS__USER_PER_S", "0")
        .env("RINGI__LIMITS__ORGANIZATION_PER_S", "0")
        .env("RINGI__LIMITS__ADDRESS_PER_S", "0")
        .env("RINGI__LOG__FORMAT", "json")
        .env("RINGI__LOG__FILTER", "warn")
        .envs(settings.iter().map(|(name, value)| (*name, value.as_str())))
        .stdout(Stdio::null())
        .stderr(log(cluster, "ringi.log")?);
    Server::start("ringi", command, address).await
}

/// A peer: see `bench/peers`.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Peer {
    Django,
    Fastify,
    /// graphile-worker and pg-boss.
    NodeJobs,
    /// `PgQueuer` and Procrastinate.
    PythonJobs,
}

impl Peer {
    pub const fn name(self) -> &'static str {
        match self {
            Self::Django => "django",
            Self::Fastify => "fastify",
            Self::NodeJobs => "node-jobs",
            Self::PythonJobs => "python-jobs",
        }
    }

    const fn is_python(self) -> bool {
        matches!(self, Self::Django | Self::PythonJobs)
    }

    pub fn source(self) -> std::path::PathBuf {
        Path::new(env!("CARGO_MANIFEST_DIR")).join("bench/peers").join(self.name())
    }

    /// Installs it, unless what is there is what is pinned. The error says why it can't be had.
    pub async fn install(self, cluster: &Cluster) -> Result<(), String> {
        let (source, dir) = (self.source(), self.dir(cluster));
        let pins = if self.is_python() { "requirements.txt" } else { "package-lock.json" };
        let io = |error: std::io::Error| format!("{}: {error}", dir.display());
        let stamp = dir.join("installed");
        let wanted = std::fs::read(source.join(pins)).map_err(io)?;
        if std::fs::read(&stamp).is_ok_and(|found| found == wanted) {
            return Ok(());
        }
        std::fs::create_dir_all(&dir).map_err(io)?;
        println!("  installing {} ...", self.name());
        if self.is_python() {
            run(Command::new("python3").args(["-m", "venv"]).arg(dir.join("venv"))).await?;
            let pip = dir.join("venv/bin/pip");
            run(Command::new(pip).args(["install", "--quiet", "--requirement"]).arg(source.join(pins))).await?;
        } else {
            for file in ["package.json", pins] {
                std::fs::copy(source.join(file), dir.join(file)).map_err(io)?;
            }
            let arguments = ["ci", "--no-audit", "--no-fund", "--silent"];
            run(Command::new("npm").args(arguments).current_dir(&dir)).await?;
        }
        std::fs::write(&stamp, wanted).map_err(io)
    }

    /// Where it is installed.
    pub fn dir(self, cluster: &Cluster) -> std::path::PathBuf {
        cluster.dir.join("peers").join(self.name())
    }

    pub async fn start(self, cluster: &Cluster, database: &str) -> Result<Server, String> {
        let address = free_address()?;
        let dir = self.dir(cluster);
        let mut command = if self.is_python() {
            let mut command = Command::new(dir.join("venv/bin/gunicorn"));
            command
                .args(["--workers", "2", "--worker-class", "gthread", "--threads", "8", "--keep-alive", "75"])
                .args(["--log-level", "warning", "--bind", &address, "--chdir"])
                .arg(self.source())
                .arg("peer:application");
            command
        } else {
            // Modules are looked for beside the script.
            std::fs::copy(self.source().join("peer.js"), dir.join("peer.js")).map_err(|error| error.to_string())?;
            let mut command = Command::new("node");
            command.arg(dir.join("peer.js"));
            command
        };
        command
            .env("NODE_ENV", "production")
            .env("PYTHONDONTWRITEBYTECODE", "1")
            .env("PEER_DATABASE", database)
            .env("PEER_SOCKET_DIR", cluster.postgres.socket_dir())
            .env("PEER_USER", "ringi")
            .env("PEER_OPTIONS", SESSION)
            .env("PEER_SECRET", SECRET)
            .env("PEER_PORT", address.rsplit(':').next().unwrap_or_default())
            .stdout(Stdio::null())
            .stderr(log(cluster, "peers.log")?);
        Server::start(self.name(), command, address).await
    }
}

pub async fn run(command: &mut Command) -> Result<(), String> {
    let name = command.as_std().get_program().to_string_lossy().into_owned();
    let output = command.stdin(Stdio::null()).output().await.map_err(|error| format!("{name}: {error}"))?;
    if output.status.success() {
        return Ok(());
    }
    let said = String::from_utf8_lossy(&output.stderr);
    Err(format!("{name}: {}: {}", output.status, said.lines().last().unwrap_or_default()))
}
