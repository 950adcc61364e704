//! The database server goes away and comes back under a running server, which recovers by itself.

use crate::harness::{PATIENCE, Person, id_of, version_of};
use crate::ringi::{Folder, Serving, run};
use ringi::pg::embedded::{self, EmbeddedConfig};
use rustix::process::{Pid, Signal, kill_process};
use serde_json::{Value, json};
use std::time::Instant;
use uuid::Uuid;

#[tokio::test(flavor = "multi_thread")]
async fn a_server_recovers_by_itself_when_postgresql_is_restarted() {
    let folder = Folder::new("restart");
    let mut config = EmbeddedConfig::new(folder.0.join("pg"));
    config.supervisor = Some(env!("CARGO_BIN_EXE_ringi").into());
    let postgres = embedded::start(config).await.unwrap();
    postgres.ensure_database("ringi").await.unwrap();
    let url = postgres.url("ringi");
    run(&["migrate"], &[("DATABASE_URL", &url)]).success();
    let admin_id = Uuid::new_v4();
    let create = ["org", "create", "--name", "Restart", "--admin-name", "Dara", "--admin-id", &admin_id.to_string()];
    let organization: Value = serde_json::from_str(&run(&create, &[("DATABASE_URL", &url)]).success()).unwrap();
    let server = Serving::on(&url, &[]);
    let http = reqwest::Client::builder().no_proxy().build().unwrap();
    let admin = Person::with_id(&http, &server.address, id_of(&organization), "Dara", admin_id);
    let draft = admin.create("Before").await;

    let supervisor = Stopped::now(parent(postmaster(&postgres.data_dir())));
    kill_process(postmaster(&postgres.data_dir()), Signal::KILL).unwrap();
    // Nobody brings it back while its supervisor is stopped.
    until(&admin, 503).await;
    admin.read("/health/live").await.expect_status(200);
    admin.get(&draft).await.expect_problem(503, "busy");
    let refused = admin.act(&draft, "submit", None).await.expect_problem(503, "busy");
    assert_eq!(refused.header("retry-after"), "1");

    drop(supervisor);
    until(&admin, 200).await;
    assert_eq!(admin.get(&draft).await.expect_status(200).body, draft, "nothing was saved, nothing was lost");
    let pending = admin.act(&draft, "submit", None).await.expect_status(200).body;
    assert_eq!(version_of(&pending), 2);
    // All connections of both pools died; none of them is met by a client.
    for n in 0..24 {
        admin.read("requests").await.expect_status(200);
        admin.post("requests", json!({"title": format!("After {n}")})).await.expect_status(201);
    }

    let said = server.stop();
    assert_eq!(said.code, 0, "{said:?}");
    assert!(
        !said.stderr.contains("\"level\":\"ERROR\""),
        "a database that is away is no fault of ours: {}",
        said.stderr
    );
    postgres.leave_and_wait(PATIENCE).await.unwrap();
}

/// Polls until readiness says so.
async fn until(person: &Person, status: u16) {
    let since = Instant::now();
    while person.read("/health/ready").await.status != status {
        assert!(since.elapsed() < PATIENCE, "readiness does not become {status}");
    }
}

fn postmaster(data: &std::path::Path) -> Pid {
    let text = std::fs::read_to_string(data.join("postmaster.pid")).unwrap();
    Pid::from_raw(text.lines().next().unwrap().trim().parse().unwrap()).unwrap()
}

fn parent(pid: Pid) -> Pid {
    let stat = std::fs::read_to_string(format!("/proc/{}/stat", pid.as_raw_nonzero())).unwrap();
    let after_name = stat.rsplit_once(')').unwrap().1;
    Pid::from_raw(after_name.split_whitespace().nth(1).unwrap().parse().unwrap()).unwrap()
}

/// A process that is stopped (not ended) until this is dropped.
struct Stopped(Pid);

impl Stopped {
    fn now(pid: Pid) -> Self {
        kill_process(pid, Signal::STOP).unwrap();
        Self(pid)
    }
}

impl Drop for Stopped {
    fn drop(&mut self) {
        let _ = kill_process(self.0, Signal::CONT);
    }
}
