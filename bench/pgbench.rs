//! pgbench with a script, as the product's role and session.

use crate::cluster::{Cluster, SESSION};
use crate::statements::Script;
use std::path::PathBuf;
use std::process::Stdio;
use std::time::Duration;
use tokio::process::Command;

/// The program: on the path, or the newest that Debian has.
pub fn program() -> Option<PathBuf> {
    let path = std::env::var_os("PATH").unwrap_or_default();
    let on_path = std::env::split_paths(&path).map(|dir| dir.join("pgbench")).find(|program| program.is_file());
    on_path.or_else(|| {
        let mut found: Vec<_> = std::fs::read_dir("/usr/lib/postgresql").ok()?.flatten().collect();
        found.sort_by_key(std::fs::DirEntry::file_name);
        found.iter().rev().map(|version| version.path().join("bin/pgbench")).find(|program| program.is_file())
    })
}

/// What a run gave.
pub struct Tps {
    pub per_second: f64,
    pub transactions: usize,
}

/// Runs the script with `clients` connections, beginning with the request `first`.
pub async fn run(
    cluster: &Cluster,
    database: &str,
    script: &Script,
    clients: usize,
    time: Duration,
    first: usize,
) -> Result<Tps, String> {
    let program = program().ok_or("there is no pgbench: it comes with PostgreSQL's server or its contrib package")?;
    let file = cluster.dir.join(format!("{}.sql", script.name));
    std::fs::write(&file, &script.text).map_err(|error| error.to_string())?;
    let mut command = Command::new(program);
    command
        .args(["--no-vacuum", "--protocol", "prepared", "--jobs", "2"])
        .args(["--client", &clients.to_string(), "--time", &time.as_secs().max(1).to_string()])
        .arg("--file")
        .arg(&file)
        .args(["-D", "nth=-1", "-D", &format!("clients={clients}"), "-D", &format!("first={first}")]);
    for (name, value) in &script.variables {
        command.arg("-D").arg(format!("{name}={value}"));
    }
    command
        .arg(database)
        .env("PGHOST", cluster.postgres.socket_dir())
        .env("PGPORT", "5432")
        .env("PGUSER", "ringi")
        .env("PGOPTIONS", SESSION)
        .env_remove("PGSSLMODE")
        .stdin(Stdio::null())
        .kill_on_drop(true);
    let output = command.output().await.map_err(|error| format!("pgbench: {error}"))?;
    let (said, problems) = (String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr));
    let field = |name: &str| {
        let line = said.lines().find_map(|line| line.strip_prefix(name))?;
        line.split_whitespace().next()?.split('/').next().map(str::to_owned)
    };
    let per_second = field("tps = ").and_then(|text| text.parse().ok());
    let transactions = field("number of transactions actually processed: ").and_then(|text| text.parse().ok());
    match (output.status.success(), per_second, transactions) {
        (true, Some(per_second), Some(transactions)) => Ok(Tps { per_second, transactions }),
        _ => Err(format!("pgbench: {}: {}", output.status, problems.lines().last().unwrap_or_default())),
    }
}
