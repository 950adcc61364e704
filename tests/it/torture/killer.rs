//! Processes, and kill -9 at random moments.

use super::people::World;
use super::random::Random;
use crate::ringi::{Folder, Serving, command, run};
use rustix::process::{Pid, Signal, kill_process};
use serde_json::Value;
use sqlx::postgres::PgConnectOptions;
use sqlx::{ConnectOptions as _, PgConnection};
use std::io::{BufRead as _, BufReader};
use std::path::PathBuf;
use std::time::{Duration, Instant};
use uuid::Uuid;

/// How long anything may take before the test fails, restarts and recovery included.
const PATIENCE: Duration = Duration::from_mins(1);

/// What is killed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Victim {
    Ringi,
    Postmaster,
    Backend,
}

pub(super) const VICTIMS: [Victim; 3] = [Victim::Ringi, Victim::Postmaster, Victim::Backend];

/// One `ringi` and its private database server.
pub(super) struct System {
    folder: Folder,
    pub(super) secret: String,
    port: String,
    server: Option<Serving>,
    pub(super) options: PgConnectOptions,
    data: PathBuf,
    begun: Instant,
    /// What all its processes had to say.
    pub(super) log: String,
}

impl System {
    pub(super) async fn start(secret: &str) -> Self {
        let (folder, port) = (Folder::in_memory("torture"), free_port());
        // Its place is not chosen by us: the program says where its PostgreSQL is.
        let options = address_of_postgres(&folder);
        let mut system = Self {
            folder,
            secret: secret.to_owned(),
            port,
            server: None,
            options,
            data: PathBuf::new(),
            begun: Instant::now(),
            log: String::new(),
        };
        system.start_server().await;
        let mut db = system.connect().await;
        let data: String = sqlx::query_scalar("SHOW data_directory").fetch_one(&mut db).await.unwrap();
        system.data = data.into();
        system
    }

    fn settings(&self) -> Vec<(&'static str, String)> {
        vec![
            ("RINGI__DATABASE__EMBEDDED_DIR", self.folder.0.join("pg").to_string_lossy().into_owned()),
            ("RINGI__AUTH__HS256_SECRET", self.secret.clone()),
            ("PORT", self.port.clone()),
        ]
    }

    async fn start_server(&mut self) {
        let mut command = command(&["serve"], &[]);
        command.envs(self.settings());
        let server = tokio::task::spawn_blocking(move || Serving::start(command)).await.unwrap();
        self.server = Some(server);
    }

    pub(super) fn address(&self) -> &str {
        &self.server.as_ref().unwrap().address
    }

    /// A connection past the program, however long the restart takes.
    pub(super) async fn connect(&self) -> PgConnection {
        let since = Instant::now();
        loop {
            match self.options.clone().database("ringi").connect().await {
                Ok(connection) => return connection,
                Err(error) => assert!(since.elapsed() < PATIENCE, "the database does not come back: {error}"),
            }
            tokio::time::sleep(Duration::from_millis(20)).await;
        }
    }

    /// An organization made by the command line, and its first administrator.
    pub(super) fn organization(&self, admin: Uuid) -> Uuid {
        let settings = self.settings();
        let settings: Vec<_> = settings.iter().map(|(name, value)| (*name, value.as_str())).collect();
        create_organization(&settings, admin)
    }

    /// Kills as many of each as the plan says, whenever so many more calls have been answered.
    pub(super) async fn kill_all(&mut self, world: &World, kills: usize, writes: usize, random: &mut Random) {
        let mut victims: Vec<Victim> = VICTIMS.iter().flat_map(|victim| std::iter::repeat_n(*victim, kills)).collect();
        random.shuffle(&mut victims);
        let gap = writes / (victims.len() + 1);
        let mut answered = world.answered.subscribe();
        for victim in victims {
            let target = *answered.borrow() + 1 + random.below(gap * 2);
            let reached = answered.wait_for(|answered| *answered >= target);
            tokio::time::timeout(PATIENCE, reached).await.expect("people are no longer answered").unwrap();
            // Not a wait for something, but the moment that this kill is about.
            tokio::time::sleep(Duration::from_micros(random.next() % 20_000)).await;
            self.kill(victim, random).await;
        }
        let target = writes.max(*answered.borrow() + gap);
        let reached = answered.wait_for(|answered| *answered >= target);
        tokio::time::timeout(PATIENCE, reached).await.expect("people are no longer answered").unwrap();
    }

    async fn kill(&mut self, victim: Victim, random: &mut Random) {
        println!("{:8.2?} kill -9 {victim:?}", self.begun.elapsed());
        match victim {
            Victim::Ringi => {
                let server = self.server.take().unwrap();
                self.log.push_str(&server.stderr());
                server.kill();
                self.start_server().await;
            }
            Victim::Postmaster => {
                let since = Instant::now();
                loop {
                    let text = std::fs::read_to_string(self.data.join("postmaster.pid")).unwrap_or_default();
                    let pid = text.lines().next().and_then(|line| line.trim().parse().ok()).and_then(Pid::from_raw);
                    // It may just be on its way up from an earlier kill.
                    if pid.is_some_and(|pid| kill_process(pid, Signal::KILL).is_ok()) {
                        return;
                    }
                    assert!(since.elapsed() < PATIENCE, "no postmaster to kill");
                    tokio::time::sleep(Duration::from_millis(20)).await;
                }
            }
            Victim::Backend => {
                let since = Instant::now();
                loop {
                    let mut db = self.connect().await;
                    // Those at work first.
                    let pids: Vec<i32> = sqlx::query_scalar(
                        "SELECT pid FROM pg_stat_activity WHERE application_name = 'ringi'
                         ORDER BY state = 'idle', query_start DESC LIMIT 4",
                    )
                    .fetch_all(&mut db)
                    .await
                    .unwrap_or_default();
                    let pid = random.pick(&pids).and_then(|pid| Pid::from_raw(*pid));
                    if pid.is_some_and(|pid| kill_process(pid, Signal::KILL).is_ok()) {
                        return;
                    }
                    assert!(since.elapsed() < PATIENCE, "no backend to kill");
                    tokio::time::sleep(Duration::from_millis(20)).await;
                }
            }
        }
    }

    /// Stops what runs, as a service manager does.
    pub(super) async fn stop(mut self) {
        let server = self.server.take().unwrap();
        let said = tokio::task::spawn_blocking(move || server.stop()).await.unwrap();
        assert_eq!(said.code, 0, "{said:?}");
    }
}

pub(super) fn create_organization(settings: &[(&str, &str)], admin: Uuid) -> Uuid {
    let id = admin.to_string();
    let arguments = ["org", "create", "--name", "Torture", "--admin-name", "Dara", "--admin-id", &id];
    let made: Value = serde_json::from_str(&run(&arguments, settings).success()).unwrap();
    made["id"].as_str().unwrap().parse().unwrap()
}

pub(super) fn token(secret: &str, user: Uuid) -> String {
    let settings = [("RINGI__AUTH__HS256_SECRET", secret)];
    run(&["token", "--user", &user.to_string()], &settings).success().trim().to_owned()
}

/// A port below those that outgoing connections use: while the server is down, none of them may take it.
fn free_port() -> String {
    let first = 20_000 + u16::try_from(std::process::id() % 1_000).unwrap() * 10;
    let free = (first..first + 10).find(|port| std::net::TcpListener::bind(("127.0.0.1", *port)).is_ok());
    free.expect("a free port").to_string()
}

/// What `ringi postgres` says.
fn address_of_postgres(folder: &Folder) -> PgConnectOptions {
    let dir = folder.0.join("pg");
    let mut postgres = command(&["postgres", "--dir", dir.to_str().unwrap()], &[]).spawn().unwrap();
    let mut line = String::new();
    BufReader::new(postgres.stdout.take().unwrap()).read_line(&mut line).unwrap();
    kill_process(Pid::from_child(&postgres), Signal::TERM).unwrap();
    assert!(postgres.wait().unwrap().success());
    line.trim().parse().unwrap()
}
