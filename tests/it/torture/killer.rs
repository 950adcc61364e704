//! Processes, and kill -9 at random moments.

use super::Plan;
use super::people::World;
use super::random::Random;
use crate::outside::{Asked, Mood, Outside};
use crate::proxy::Proxy;
use crate::ringi::{Folder, Serving, command, run};
use rustix::process::{Pid, Signal, kill_process};
use serde_json::Value;
use sqlx::postgres::PgConnectOptions;
use sqlx::{AssertSqlSafe, ConnectOptions as _, PgConnection};
use std::io::{BufRead as _, BufReader};
use std::path::PathBuf;
use std::time::{Duration, Instant};
use uuid::Uuid;

/// How long anything may take before the test fails, restarts and recovery included.
const PATIENCE: Duration = Duration::from_mins(1);

/// What is killed, or worse.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Victim {
    Ringi,
    Postmaster,
    Backend,
    /// The link between a server and the database: cut, frozen, or slow.
    Link,
    /// A server is stopped in the middle of its saves until others have taken over, and then goes on.
    Overtaken,
}

pub(super) const VICTIMS: [Victim; 5] =
    [Victim::Ringi, Victim::Postmaster, Victim::Backend, Victim::Link, Victim::Overtaken];

/// How many servers there are. The first has the database server as its own; the others reach it through a link each.
const SERVERS: usize = 3;

/// How the outside system usually answers.
const USUALLY: Mood = Mood::Slow(Duration::from_millis(20));

/// Several `ringi`, their private database server, and the outside system that they ask.
pub(super) struct System {
    folder: Folder,
    pub(super) secret: String,
    ports: Vec<u16>,
    servers: Vec<Option<Serving>>,
    links: Vec<Proxy>,
    outside: Outside,
    pub(super) options: PgConnectOptions,
    data: PathBuf,
    begun: Instant,
}

impl System {
    pub(super) async fn start(secret: &str) -> Self {
        let folder = Folder::in_memory("torture");
        // Its place is not chosen by us: the program says where its PostgreSQL is.
        let options = address_of_postgres(&folder);
        let mut system = Self {
            folder,
            secret: secret.to_owned(),
            ports: free_ports(),
            servers: Vec::new(),
            links: (1..SERVERS).map(|_| Proxy::before(&options)).collect(),
            outside: Outside::start(USUALLY).await,
            options,
            data: PathBuf::new(),
            begun: Instant::now(),
        };
        for number in 0..SERVERS {
            system.servers.push(None);
            system.start_server(number).await;
        }
        let mut db = system.connect().await;
        let data: String = sqlx::query_scalar("SHOW data_directory").fetch_one(&mut db).await.unwrap();
        system.data = data.into();
        system
    }

    fn settings(&self, number: usize) -> Vec<(&'static str, String)> {
        let mut settings = self.outside.variables();
        settings.extend([
            ("RINGI__AUTH__HS256_SECRET", self.secret.clone()),
            ("RINGI__CLOSING__RESUME_INTERVAL_MS", "300".to_owned()),
            // So that a run is long enough to be killed.
            ("RINGI__CLOSING__CHUNK_MAX_ROWS", "5".to_owned()),
            ("RINGI__EVENTS__HEARTBEAT_INTERVAL_MS", "200".to_owned()),
            ("RINGI__EVENTS__LEASE_TIMEOUT_MS", "1500".to_owned()),
            ("PORT", self.ports[number].to_string()),
        ]);
        settings.push(match number {
            0 => ("RINGI__DATABASE__EMBEDDED_DIR", self.folder.0.join("pg").to_string_lossy().into_owned()),
            _ => ("DATABASE_URL", url_of(self.links[number - 1].options())),
        });
        settings
    }

    async fn start_server(&mut self, number: usize) {
        let since = Instant::now();
        loop {
            let mut command = command(&["serve"], &[]);
            command.envs(self.settings(number));
            match tokio::task::spawn_blocking(move || Serving::try_start(command)).await.unwrap() {
                Ok(server) => {
                    self.servers[number] = Some(server);
                    return;
                }
                // Its database is on its way up, perhaps.
                Err(said) => {
                    assert!(number > 0 && since.elapsed() < PATIENCE, "server {number} does not start: {said:?}");
                }
            }
        }
    }

    pub(super) fn addresses(&self) -> Vec<String> {
        self.servers.iter().flatten().map(|server| server.address.clone()).collect()
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
        let settings = self.settings(0);
        let settings: Vec<_> = settings.iter().map(|(name, value)| (*name, value.as_str())).collect();
        create_organization(&settings, admin)
    }

    /// Kills as many of each as the plan says, whenever so many more calls have been answered, and goes on with that for as
    /// long as it says.
    pub(super) async fn kill_all(&mut self, world: &World, plan: Plan, random: &mut Random) {
        let mut answered = world.answered.subscribe();
        let gap = plan.writes / (VICTIMS.len() * plan.kills + 1);
        loop {
            let mut victims: Vec<Victim> =
                VICTIMS.iter().flat_map(|victim| std::iter::repeat_n(*victim, plan.kills)).collect();
            random.shuffle(&mut victims);
            for victim in victims {
                let target = *answered.borrow() + 1 + random.below(gap * 2);
                let reached = answered.wait_for(|answered| *answered >= target);
                tokio::time::timeout(PATIENCE, reached).await.expect("people are no longer answered").unwrap();
                // Not a wait for something, but the moment that this kill is about.
                tokio::time::sleep(Duration::from_micros(random.next() % 20_000)).await;
                self.kill(victim, random).await;
            }
            if self.begun.elapsed() >= plan.time {
                break;
            }
        }
        let target = plan.writes.max(*answered.borrow() + gap);
        let reached = answered.wait_for(|answered| *answered >= target);
        tokio::time::timeout(PATIENCE, reached).await.expect("people are no longer answered").unwrap();
    }

    async fn kill(&mut self, victim: Victim, random: &mut Random) {
        println!("{:8.2?} kill -9 {victim:?}", self.begun.elapsed());
        match victim {
            Victim::Ringi => {
                let number = random.below(SERVERS);
                self.servers[number].take().unwrap().kill();
                self.start_server(number).await;
            }
            Victim::Link => {
                let link = random.pick(&self.links).unwrap();
                match random.below(3) {
                    0 => link.cut(),
                    1 => {
                        link.freeze();
                        tokio::time::sleep(Duration::from_millis(random.next() % 1_000)).await;
                        if random.percent(50) {
                            link.cut();
                        }
                        link.thaw();
                    }
                    _ => {
                        link.delay(Duration::from_millis(random.next() % 60));
                        tokio::time::sleep(Duration::from_millis(random.next() % 1_000)).await;
                        link.delay(Duration::ZERO);
                    }
                }
            }
            Victim::Overtaken => self.overtake(random).await,
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

    /// A server that has an answer of the outside system in hand is stopped on its way to the database, and goes on when
    /// another has taken the work over and is at it.
    async fn overtake(&mut self, random: &mut Random) {
        let number = 1 + random.below(SERVERS - 1);
        let (server, link) = (self.servers[number].as_ref().unwrap(), &self.links[number - 1]);
        // It is in the middle of a call.
        self.outside.mood(Mood::Held);
        let its = format!(
            "SELECT count(*) FROM job_lease WHERE kind = 'job' AND split_part(holder, '/', 2) = '{}'",
            server.pid().as_raw_nonzero()
        );
        let is_at_work = async || {
            let mut db = self.connect().await;
            let held: i64 = sqlx::query_scalar(AssertSqlSafe(its.as_str())).fetch_one(&mut db).await.unwrap_or(0);
            held > 0
        };
        if within(Duration::from_secs(4), is_at_work).await {
            // The answer comes, and the way to save it is long: connections have to be made anew, slowly.
            link.delay(Duration::from_millis(100));
            link.cut();
            self.outside.mood(USUALLY);
            tokio::time::sleep(Duration::from_millis(60 + random.next() % 250)).await;
            server.signal(Signal::STOP);
            self.outside.mood(Mood::Held);
            let before = self.outside.calls();
            let asked_again = async || {
                let newer = |call: &Asked| before.iter().any(|old| old.key == call.key && old.fence < call.fence);
                self.outside.calls()[before.len()..].iter().any(newer)
            };
            let overtaken = within(Duration::from_secs(4), asked_again).await;
            println!("{:8.2?} server {number} was overtaken: {overtaken}", self.begun.elapsed());
            server.signal(Signal::CONT);
            // Time for what it must not do, while the other is still at it.
            tokio::time::sleep(Duration::from_millis(700)).await;
            link.delay(Duration::ZERO);
        }
        self.outside.mood(USUALLY);
    }

    /// Stops what runs, as a service manager does.
    pub(super) async fn stop(mut self) {
        // The one whose database it is comes last.
        while let Some(server) = self.servers.pop() {
            let said = tokio::task::spawn_blocking(move || server.unwrap().stop()).await.unwrap();
            assert_eq!(said.code, 0, "{said:?}");
        }
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

/// Whether it becomes true in time.
async fn within(patience: Duration, is_so: impl AsyncFn() -> bool) -> bool {
    let since = Instant::now();
    while !is_so().await {
        if since.elapsed() > patience {
            return false;
        }
        tokio::time::sleep(Duration::from_millis(5)).await;
    }
    true
}

/// Ports below those that outgoing connections use: while a server is down, none of them may take its own.
fn free_ports() -> Vec<u16> {
    let first = 20_000 + u16::try_from(std::process::id() % 500).unwrap() * 20;
    let free = (first..first + 20).filter(|port| std::net::TcpListener::bind(("127.0.0.1", *port)).is_ok());
    let ports: Vec<_> = free.take(SERVERS).collect();
    assert_eq!(ports.len(), SERVERS, "free ports");
    ports
}

/// The database `ringi` of the server that these options reach by its socket.
fn url_of(options: &PgConnectOptions) -> String {
    let socket = options.get_socket().expect("a socket").to_str().unwrap().replace('/', "%2F");
    format!("postgres://{}@{socket}:{}/ringi", options.get_username(), options.get_port())
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
