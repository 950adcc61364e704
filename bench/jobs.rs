//! Libraries that teams use for jobs in PostgreSQL, each doing a job of the same effect as Ringi's: one HTTP call, one
//! result row. See `bench/peers`.

use crate::cluster::Cluster;
use crate::serve::{self, Peer};
use std::process::Stdio;
use tokio::process::{Child, Command};

#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Library {
    Graphile,
    PgBoss,
    PgQueuer,
    Procrastinate,
}

impl Library {
    pub const ALL: [Self; 4] = [Self::Graphile, Self::PgBoss, Self::PgQueuer, Self::Procrastinate];

    pub const fn name(self) -> &'static str {
        match self {
            Self::Graphile => "graphile",
            Self::PgBoss => "pgboss",
            Self::PgQueuer => "pgqueuer",
            Self::Procrastinate => "procrastinate",
        }
    }

    const fn peer(self) -> Peer {
        match self {
            Self::Graphile | Self::PgBoss => Peer::NodeJobs,
            Self::PgQueuer | Self::Procrastinate => Peer::PythonJobs,
        }
    }

    pub async fn install(self, cluster: &Cluster) -> Result<(), String> {
        self.peer().install(cluster).await
    }

    fn command(
        self,
        cluster: &Cluster,
        database: &str,
        step: &str,
        jobs: u64,
        target: &str,
    ) -> Result<Command, String> {
        let (peer, dir) = (self.peer(), self.peer().dir(cluster));
        let mut command = if peer == Peer::PythonJobs {
            let mut command = Command::new(dir.join("venv/bin/python"));
            command.arg(peer.source().join("peer.py"));
            command
        } else {
            // Modules are looked for beside the script.
            std::fs::copy(peer.source().join("peer.js"), dir.join("peer.js")).map_err(|error| error.to_string())?;
            let mut command = Command::new("node");
            command.arg(dir.join("peer.js"));
            command
        };
        command
            .args([self.name(), step])
            .env("NODE_ENV", "production")
            .env("PYTHONDONTWRITEBYTECODE", "1")
            .env("PEER_DATABASE", database)
            .env("PEER_SOCKET_DIR", cluster.postgres.socket_dir())
            .env("PEER_USER", "ringi")
            .env("PEER_TARGET", target)
            .env("PEER_JOBS", jobs.to_string())
            .stdout(Stdio::null())
            .kill_on_drop(true);
        Ok(command)
    }

    /// Makes the tables and so many jobs.
    pub async fn set_up(self, cluster: &Cluster, database: &str, jobs: u64) -> Result<(), String> {
        serve::run(&mut self.command(cluster, database, "setup", jobs, "")?).await
    }

    /// A process that does them. It ends when it is dropped.
    pub fn work(self, cluster: &Cluster, database: &str, target: &str) -> Result<Child, String> {
        let mut command = self.command(cluster, database, "work", 0, target)?;
        command.stdin(Stdio::null()).stderr(serve::log(cluster, "peers.log")?);
        command.spawn().map_err(|error| format!("{}: {error}", self.name()))
    }
}
