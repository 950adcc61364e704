//! A real PostgreSQL, a real server, and people who use it.
//!
//! One private cluster serves the test process; each test gets a database of its own, copied from a migrated
//! template, dropped when the test passes, kept and named when it fails.

use chrono::{DateTime, Utc};
use metrics_exporter_prometheus::PrometheusHandle;
use reqwest::{Method, RequestBuilder, StatusCode};
use ringi::app::{Role, Service, UseCases, Work, tokens};
use ringi::config::{Secret, Settings};
use ringi::domain::ids::{OrganizationId, UserId};
use ringi::domain::member::MemberInput;
use ringi::pg::embedded::{self, EmbeddedConfig, EmbeddedPg};
use ringi::pg::{APPLICATION_ROLE, NewOrganization, PgStore, PoolSettings, Pools, create_organization, migrate};
use ringi::tokens::sign;
use serde_json::{Value, json};
use sqlx::postgres::PgConnectOptions;
use sqlx::{AssertSqlSafe, ConnectOptions, Connection, PgConnection, Row};
use std::net::TcpListener;
use std::path::PathBuf;
use std::sync::OnceLock;
use std::time::{Duration, Instant};
use uuid::Uuid;

pub const SECRET: &str = "a secret for tests, thirty-two bytes or more";

/// The events, wherever they are: in the outbox, or in the log by now. A table in parentheses, to be given a name.
pub const EVENTS: &str =
    "(SELECT organization_id, subject_kind, subject_id, seq, event_type, payload, occurred_at FROM outbox_event
  UNION ALL SELECT organization_id, subject_kind, subject_id, seq, event_type, payload, occurred_at FROM event_log)";

/// How long anything that is waited for may take before the test fails.
pub const PATIENCE: Duration = Duration::from_secs(20);

struct Cluster {
    postgres: EmbeddedPg,
    template: String,
}

/// The cluster of this test process, with a migrated template.
fn cluster() -> &'static Cluster {
    static CLUSTER: OnceLock<Cluster> = OnceLock::new();
    CLUSTER.get_or_init(|| {
        // On a thread of its own, since a test's runtime ends with the test.
        std::thread::spawn(|| {
            tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap().block_on(async {
                let mut config = EmbeddedConfig::new(PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join("postgres"));
                config.durable = false;
                config.supervisor = Some(env!("CARGO_BIN_EXE_ringi").into());
                config.max_connections = 400;
                let postgres = embedded::start(config).await.unwrap();
                let template = format!("template_{}", std::process::id());
                drop_leftovers(&postgres).await;
                postgres.ensure_database(&template).await.unwrap();
                let report = migrate::migrate(&postgres.connect_options(&template)).await.unwrap();
                assert!(report.roles, "the harness tests the less able role");
                Cluster { postgres, template }
            })
        })
        .join()
        .unwrap()
    })
}

/// Databases of test processes that are gone; those of failed tests are kept until the next run.
async fn drop_leftovers(postgres: &EmbeddedPg) {
    let mut admin = postgres.connect_options("postgres").connect().await.unwrap();
    let names: Vec<String> = sqlx::query_scalar(
        "SELECT datname FROM pg_database d WHERE (datname LIKE 'test_%' OR datname LIKE 'template_%')
         AND NOT EXISTS (SELECT FROM pg_stat_activity a WHERE a.datname = d.datname)",
    )
    .fetch_all(&mut admin)
    .await
    .unwrap();
    for name in names {
        let pid = name.split('_').nth(1).unwrap_or_default();
        if !std::path::Path::new(&format!("/proc/{pid}")).exists() {
            let _ = sqlx::raw_sql(AssertSqlSafe(format!("DROP DATABASE IF EXISTS {name}"))).execute(&mut admin).await;
        }
    }
}

fn metrics() -> PrometheusHandle {
    static METRICS: OnceLock<PrometheusHandle> = OnceLock::new();
    METRICS.get_or_init(|| ringi::telemetry::metrics().unwrap()).clone()
}

/// A database of a test's own.
pub struct Database {
    pub name: String,
}

impl Database {
    pub async fn new() -> Self {
        static COPYING: tokio::sync::Mutex<()> = tokio::sync::Mutex::const_new(());
        let cluster = tokio::task::spawn_blocking(cluster).await.unwrap();
        let name = format!("test_{}_{}", std::process::id(), Uuid::new_v4().simple());
        let mut admin = cluster.postgres.connect_options("postgres").connect().await.unwrap();
        // One copy at a time: a template that is being copied refuses another copier.
        let _one = COPYING.lock().await;
        let create = format!("CREATE DATABASE {name} TEMPLATE {}", cluster.template);
        sqlx::raw_sql(AssertSqlSafe(create)).execute(&mut admin).await.unwrap();
        Self { name }
    }

    /// An empty database, not migrated.
    pub async fn empty() -> Self {
        let cluster = tokio::task::spawn_blocking(cluster).await.unwrap();
        let name = format!("test_{}_{}", std::process::id(), Uuid::new_v4().simple());
        cluster.postgres.ensure_database(&name).await.unwrap();
        Self { name }
    }

    /// As the superuser.
    pub fn options(&self) -> PgConnectOptions {
        cluster().postgres.connect_options(&self.name)
    }

    /// The URL for another process.
    pub fn url(&self) -> String {
        cluster().postgres.url(&self.name)
    }

    /// The folder of the server's socket.
    pub fn socket_dir() -> PathBuf {
        cluster().postgres.socket_dir().to_owned()
    }

    /// A connection of the superuser's, outside the product.
    pub async fn connect(&self) -> PgConnection {
        self.options().connect().await.unwrap()
    }
}

impl Drop for Database {
    fn drop(&mut self) {
        if std::thread::panicking() {
            eprintln!("kept for you to look at: psql '{}'", self.url());
            return;
        }
        let options = cluster().postgres.connect_options("postgres");
        let drop = format!("DROP DATABASE IF EXISTS {} WITH (FORCE)", self.name);
        let dropped = std::thread::spawn(move || {
            tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap().block_on(async move {
                let mut admin = options.connect().await.unwrap();
                let _ = sqlx::raw_sql(AssertSqlSafe(drop)).execute(&mut admin).await;
            });
        });
        dropped.join().unwrap();
    }
}

/// The settings of the defaults, with short waits.
pub fn settings() -> Settings {
    let mut settings = Settings::defaults();
    settings.database.lock_timeout = Duration::from_millis(2_000);
    settings.database.statement_timeout = Duration::from_secs(8);
    // The machine compiles and tests at the same time: opening connections may take a while.
    settings.database.acquire_timeout = Duration::from_secs(10);
    settings.http.shutdown_grace = Duration::from_secs(5);
    settings.http.drain = Duration::ZERO;
    settings.auth.hs256_secret = Secret::new(SECRET.to_owned());
    // What is right for people is too slow for tests.
    settings.limits.switch_off();
    settings
}

/// A running server on a database of its own, with an organization in it.
pub struct App {
    pub address: String,
    pub organization: Uuid,
    pub admin: Person,
    pub pools: Pools,
    pub use_cases: UseCases,
    pub settings: Settings,
    pub http: reqwest::Client,
    service: Option<Box<Service>>,
    // Dropped last: the server's connections end before the database does.
    pub database: Database,
}

impl App {
    pub async fn start() -> Self {
        Self::with(settings()).await
    }

    pub async fn with(settings: Settings) -> Self {
        let database = Database::new().await;
        let options = database.options();
        Box::pin(Self::start_as(Role::All, settings, database, &options)).await
    }

    /// A server that answers calls and leaves the slow work to others.
    pub async fn answering(settings: Settings) -> Self {
        let database = Database::new().await;
        let options = database.options();
        Box::pin(Self::start_as(Role::Api, settings, database, &options)).await
    }

    /// A server that reaches its database by a way of its own, on which nothing goes but its calls.
    pub async fn reaching(settings: Settings, database: Database, options: &PgConnectOptions) -> Self {
        Box::pin(Self::start_as(Role::Api, settings, database, options)).await
    }

    async fn start_as(role: Role, settings: Settings, database: Database, options: &PgConnectOptions) -> Self {
        let pool_settings = PoolSettings::from(&settings.database);
        let pools = ringi::pg::connect(options, &pool_settings, Some(APPLICATION_ROLE)).await.unwrap();
        // Does nothing where the settings name no connector.
        let work = Work::start(pools.clone(), &settings, role).unwrap();
        let use_cases = work.use_cases(&settings);
        let tokens = tokens(&settings.auth).unwrap();
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let address = format!("http://{}", listener.local_addr().unwrap());
        let service = Service::start(work, false, use_cases.clone(), &settings, tokens, metrics(), listener).unwrap();
        let http = reqwest::Client::builder().no_proxy().build().unwrap();
        let organization = Uuid::new_v4();
        let admin = Person::new(&http, &address, organization, "Dara Admin");
        let app = Self {
            address,
            organization,
            admin,
            pools,
            use_cases,
            settings,
            http,
            service: Some(Box::new(service)),
            database,
        };
        app.create_organization(organization, app.admin.id).await;
        app
    }

    pub async fn create_organization(&self, id: Uuid, admin: Uuid) {
        let new = NewOrganization {
            id: OrganizationId(id),
            name: "Test".to_owned(),
            time_zone: "Asia/Tokyo".to_owned(),
            admin_id: UserId(admin),
            admin: MemberInput {
                display_name: "Dara Admin".to_owned(),
                is_active: true,
                can_approve: false,
                is_admin: true,
            },
        };
        create_organization(&PgStore::new(self.pools.write.clone(), PATIENCE), &new).await.unwrap();
    }

    /// Somebody with a token who is a member of nothing.
    pub fn outsider(&self) -> Person {
        Person::new(&self.http, &self.address, self.organization, "Otto Outsider")
    }

    /// A new member, made by the administrator over HTTP.
    pub async fn member(&self, name: &str, can_approve: bool, is_admin: bool) -> Person {
        let person = Person::new(&self.http, &self.address, self.organization, name);
        let body = json!({"user_id": person.id, "display_name": name, "is_active": true,
                          "can_approve": can_approve, "is_admin": is_admin});
        self.admin.post("members", body).await.expect_status(201);
        person
    }

    pub async fn applicant(&self) -> Person {
        self.member("Aiko Applicant", false, false).await
    }

    pub async fn approver(&self) -> Person {
        self.member("Ben Approver", true, false).await
    }

    /// Everything that is stored of requests, members and their histories, to compare before and after.
    pub async fn everything(&self) -> String {
        let mut db = self.database.connect().await;
        let mut text = String::new();
        for table in [
            "invitation",
            "charge",
            "billing_period",
            "confirmed_charge",
            "blocked_charge",
            "billing_total",
            "approval_request",
            "approval_version",
            "approval_history",
            EVENTS,
            "organization",
            "organization_member",
            "organization_history",
            "history_head",
            "idempotency_key",
            // The relay's own beats all the time.
            "(SELECT * FROM job_lease WHERE kind <> 'relay')",
            "job",
            "job_attempt",
            "job_result",
            "webhook_endpoint",
            "mail_address",
            "mail_confirmation",
            "mail_message",
        ] {
            let rows: Vec<String> =
                sqlx::query_scalar(AssertSqlSafe(format!("SELECT t::text FROM {table} t ORDER BY t::text")))
                    .fetch_all(&mut db)
                    .await
                    .unwrap();
            text.push_str(&format!("{table}: {rows:#?}\n"));
        }
        text
    }

    /// One number from the database.
    pub async fn count(&self, sql: &str) -> i64 {
        let mut db = self.database.connect().await;
        sqlx::query_scalar(AssertSqlSafe(sql.to_owned())).fetch_one(&mut db).await.unwrap()
    }

    /// Runs statements as the superuser.
    pub async fn execute(&self, sql: &str) {
        let mut db = self.database.connect().await;
        sqlx::raw_sql(AssertSqlSafe(sql.to_owned())).execute(&mut db).await.unwrap();
    }

    /// A second connection that runs statements inside a transaction and keeps its locks until it is let go.
    pub async fn hold(&self, sql: &str) -> Held {
        let mut connection = self.database.connect().await;
        sqlx::raw_sql(AssertSqlSafe(format!("BEGIN; {sql}"))).execute(&mut connection).await.unwrap();
        Held { connection }
    }

    /// Returns when exactly this many connections of the product wait for a lock: seen, not slept for. Heartbeats are not
    /// counted: they wait for the steps of their own process, for moments.
    pub async fn until_waiting(&self, connections: i64) {
        until_waiting(&mut self.database.connect().await, connections, "application_name <> 'ringi heartbeat'").await;
    }

    /// Returns when a heartbeat waits for the row of its lease.
    pub async fn until_a_heartbeat_waits(&self) {
        until_waiting(&mut self.database.connect().await, 1, "application_name = 'ringi heartbeat'").await;
    }

    /// A row of `approval_request`, as the columns' text.
    pub async fn status(&self, request: &Value) -> (String, i64) {
        let mut db = self.database.connect().await;
        let row = sqlx::query("SELECT status, version FROM approval_request WHERE id = $1")
            .bind(id_of(request))
            .fetch_one(&mut db)
            .await
            .unwrap();
        (row.get(0), row.get(1))
    }

    /// Checks what must always hold, whatever happened: see `invariants.sql`.
    pub async fn check_invariants(&self) {
        check_invariants(&mut self.database.connect().await).await;
    }

    pub async fn stop(mut self) {
        if let Some(service) = self.service.take() {
            Box::pin((*service).stop()).await;
        }
    }
}

/// Returns when exactly this many connections of those that `whose` is true for wait for a lock.
pub async fn until_waiting(db: &mut PgConnection, connections: i64, whose: &str) {
    let start = Instant::now();
    loop {
        let waiting: i64 = sqlx::query_scalar(AssertSqlSafe(format!(
            "SELECT count(*) FROM pg_stat_activity
             WHERE datname = current_database() AND wait_event_type = 'Lock' AND cardinality(pg_blocking_pids(pid)) > 0
               AND {whose}"
        )))
        .fetch_one(&mut *db)
        .await
        .unwrap();
        if waiting == connections {
            return;
        }
        assert!(start.elapsed() < PATIENCE, "{waiting} connections wait for a lock, not {connections}");
        tokio::task::yield_now().await;
    }
}

/// What must always hold, asked of the database alone. Each statement answers with the rows that break its rule.
#[expect(clippy::too_many_lines, reason = "one list of rules")]
pub async fn check_invariants(db: &mut PgConnection) {
    for (rule, sql) in [
        (
            "as many history rows as versions",
            "SELECT r.id::text FROM approval_request r WHERE r.version <>
               (SELECT count(*) FROM approval_history h WHERE (h.organization_id, h.request_id) = (r.organization_id, r.id))",
        ),
        (
            "the last history row says how the request stands",
            "SELECT r.id::text FROM approval_request r LEFT JOIN approval_history h
               ON (h.organization_id, h.request_id, h.version) = (r.organization_id, r.id, r.version)
             WHERE (h.to_status, h.content_hash, h.entry_hash, h.actor_id, h.action, h.occurred_at) IS DISTINCT FROM
                   (r.status, r.content_hash, r.chain_hash, r.last_actor_id, r.last_action, r.updated_at)",
        ),
        (
            "each row begins where the one before it ended",
            "SELECT h.request_id::text FROM approval_history h JOIN approval_history p
               ON (p.organization_id, p.request_id, p.version) = (h.organization_id, h.request_id, h.version - 1)
             WHERE h.from_status <> p.to_status OR h.occurred_at < p.occurred_at",
        ),
        (
            "only the transitions of the state machine",
            "SELECT request_id::text FROM approval_history WHERE (coalesce(from_status, '-'), action, to_status) NOT IN (
               ('-', 'create', 'draft'), ('draft', 'edit', 'draft'), ('returned', 'edit', 'returned'),
               ('draft', 'submit', 'pending'), ('returned', 'submit', 'pending'), ('pending', 'approve', 'approved'),
               ('pending', 'reject', 'rejected'), ('pending', 'send_back', 'returned'),
               ('draft', 'withdraw', 'withdrawn'), ('returned', 'withdraw', 'withdrawn'),
               ('pending', 'withdraw', 'withdrawn'))",
        ),
        (
            "nobody decides on his own request",
            "SELECT h.request_id::text FROM approval_history h JOIN approval_request r
               ON (r.organization_id, r.id) = (h.organization_id, h.request_id)
             WHERE h.action IN ('approve', 'reject', 'send_back') AND h.actor_id = r.applicant_id",
        ),
        (
            "every history row has its event, and every event its row",
            "SELECT coalesce(h.request_id::text, e.subject_id) FROM approval_history h
               FULL JOIN (SELECT * FROM @events AS all_events WHERE subject_kind = 'request') e
               ON e.organization_id = h.organization_id AND e.subject_id = h.request_id::text AND e.seq = h.version
             WHERE h.request_id IS NULL OR e.subject_id IS NULL OR e.event_type <> 'request.' || h.action",
        ),
        (
            "what is open is in the list of what is open, and nothing else is",
            "SELECT coalesce(r.id, o.request_id)::text
             FROM (SELECT * FROM approval_request WHERE status IN ('draft', 'pending', 'returned')) r
               FULL JOIN open_request o ON (o.organization_id, o.request_id) = (r.organization_id, r.id)
             WHERE r.id IS NULL OR o.request_id IS NULL",
        ),
        (
            "every content has its version",
            "SELECT r.id::text FROM approval_request r LEFT JOIN approval_version v
               ON (v.organization_id, v.request_id, v.version) = (r.organization_id, r.id, r.content_version)
             WHERE (v.title, v.description, v.amount, v.currency, v.content_hash) IS DISTINCT FROM
                   (r.title, r.description, r.amount, r.currency, r.content_hash)",
        ),
        (
            "the members' history says how they stand",
            "SELECT m.user_id::text FROM organization_member m LEFT JOIN history_head d
               ON d.organization_id = m.organization_id AND d.kind = 'member' AND d.subject_id = m.user_id::text
             WHERE d.seq IS DISTINCT FROM m.version",
        ),
        (
            "every organization has an active administrator",
            "SELECT o.id::text FROM organization o WHERE NOT EXISTS (SELECT FROM organization_member m
               WHERE m.organization_id = o.id AND m.is_active AND m.is_admin)",
        ),
        (
            "a key that was committed has its answer",
            "SELECT key FROM idempotency_key WHERE status IS NULL",
        ),
        (
            "positions have no gaps, and no event stands in the log twice",
            "SELECT s.organization_id::text FROM event_stream s LEFT JOIN event_log e USING (organization_id)
             GROUP BY s.organization_id
             HAVING count(*) FILTER (WHERE e.position > s.trimmed) <> s.last_position - s.trimmed
                 OR max(e.position) > s.last_position
                 OR count(DISTINCT (e.subject_kind, e.subject_id, e.seq)) <> count(e.position)",
        ),
        (
            "of one subject, events stand in the log in their order",
            "SELECT subject_id FROM (
               SELECT subject_kind, subject_id, seq, row_number() OVER w AS place, lag(seq) OVER w AS before FROM event_log
               WINDOW w AS (PARTITION BY organization_id, subject_kind, subject_id ORDER BY position)) e
             WHERE before >= seq OR (subject_kind = 'request' AND seq <> place)",
        ),
        (
            "no event is left behind a later one of its subject",
            "SELECT o.subject_id FROM outbox_event o JOIN event_log e USING (organization_id, subject_kind, subject_id)
             WHERE e.seq > o.seq",
        ),
        (
            "private is what happened to a request before it was first submitted",
            "SELECT e.subject_id FROM event_log e WHERE e.private <> (e.subject_kind = 'request' AND NOT EXISTS (
               SELECT FROM approval_history h WHERE h.organization_id = e.organization_id
                 AND h.request_id = CASE e.subject_kind WHEN 'request' THEN e.subject_id::uuid END
                 AND h.version <= e.seq AND h.action = 'submit'))",
        ),
    ] {
        let sql = sql.replace("@events", EVENTS);
        let broken: Vec<Option<String>> = sqlx::query_scalar(AssertSqlSafe(sql)).fetch_all(&mut *db).await.unwrap();
        assert!(broken.is_empty(), "broken: {rule}: {broken:?}");
    }
}

/// Locks held by a second connection, inside an open transaction.
pub struct Held {
    connection: PgConnection,
}

impl Held {
    pub async fn execute(&mut self, sql: &str) {
        sqlx::raw_sql(AssertSqlSafe(sql.to_owned())).execute(&mut self.connection).await.unwrap();
    }

    pub async fn commit(mut self) {
        self.execute("COMMIT").await;
        self.connection.close().await.unwrap();
    }

    pub async fn release(mut self) {
        self.execute("ROLLBACK").await;
        self.connection.close().await.unwrap();
    }
}

pub fn id_of(request: &Value) -> Uuid {
    request["id"].as_str().unwrap().parse().unwrap()
}

pub fn version_of(request: &Value) -> i64 {
    request["version"].as_i64().unwrap()
}

pub fn moment(value: &Value) -> DateTime<Utc> {
    value.as_str().unwrap().parse().unwrap()
}

/// Somebody with a token, in one organization.
#[derive(Clone)]
pub struct Person {
    pub id: Uuid,
    pub name: String,
    pub token: String,
    pub organization: Uuid,
    address: String,
    http: reqwest::Client,
}

impl Person {
    pub fn new(http: &reqwest::Client, address: &str, organization: Uuid, name: &str) -> Self {
        Self::with_id(http, address, organization, name, Uuid::new_v4())
    }

    pub fn with_id(http: &reqwest::Client, address: &str, organization: Uuid, name: &str, id: Uuid) -> Self {
        let token = sign(SECRET.as_bytes(), UserId(id), Duration::from_secs(3600)).unwrap();
        Self { id, name: name.to_owned(), token, organization, address: address.to_owned(), http: http.clone() }
    }

    /// The same person, asking in another organization.
    pub fn in_organization(&self, organization: Uuid) -> Self {
        Self { organization, ..self.clone() }
    }

    /// A call to a path below the organization, or to an absolute path.
    pub fn request(&self, method: Method, path: &str) -> RequestBuilder {
        let url = if path.starts_with('/') {
            format!("{}{path}", self.address)
        } else {
            format!("{}/api/v1/organizations/{}/{path}", self.address, self.organization)
        };
        self.http.request(method, url).bearer_auth(&self.token)
    }

    pub async fn read(&self, path: &str) -> Answer {
        Answer::of(self.request(Method::GET, path)).await
    }

    pub async fn post(&self, path: &str, body: Value) -> Answer {
        Answer::of(self.request(Method::POST, path).json(&body)).await
    }

    pub async fn put(&self, path: &str, body: Value) -> Answer {
        Answer::of(self.request(Method::PUT, path).json(&body)).await
    }

    /// The same, under an idempotency key.
    pub async fn post_with_key(&self, key: &str, path: &str, body: Value) -> Answer {
        Answer::of(self.request(Method::POST, path).header("Idempotency-Key", key).json(&body)).await
    }

    pub async fn create(&self, title: &str) -> Value {
        let body = json!({"title": title, "description": "why", "amount": 12_000, "currency": "JPY"});
        self.post("requests", body).await.expect_status(201).body
    }

    /// A request that was created and submitted.
    pub async fn submitted(&self, title: &str) -> Value {
        let draft = self.create(title).await;
        self.act(&draft, "submit", None).await.expect_status(200).body
    }

    /// An action on the request as this person saw it. `action` is the path's last part.
    pub async fn act(&self, seen: &Value, action: &str, reason: Option<&str>) -> Answer {
        let mut body = json!({"version": version_of(seen)});
        if let Some(reason) = reason {
            body["reason"] = json!(reason);
        }
        self.post(&format!("requests/{}/{action}", id_of(seen)), body).await
    }

    pub async fn approve(&self, seen: &Value) -> Answer {
        self.act(seen, "approve", None).await
    }

    pub async fn edit(&self, seen: &Value, title: &str) -> Answer {
        let body = json!({"version": version_of(seen), "title": title, "description": seen["description"],
                          "amount": seen["amount"], "currency": seen["currency"]});
        self.put(&format!("requests/{}", id_of(seen)), body).await
    }

    pub async fn get(&self, request: &Value) -> Answer {
        self.read(&format!("requests/{}", id_of(request))).await
    }

    pub async fn history(&self, request: &Value) -> Vec<Value> {
        let page = self.read(&format!("requests/{}/history?limit=200", id_of(request))).await.expect_status(200);
        page.body["items"].as_array().unwrap().clone()
    }

    /// A member as an administrator sees him.
    pub async fn member(&self, user: Uuid) -> Value {
        self.read(&format!("members/{user}")).await.expect_status(200).body
    }

    /// Changes some of a member's fields, as an administrator, from how he stands.
    pub async fn change_member(&self, user: Uuid, changes: Value) -> Answer {
        let mut body = self.member(user).await;
        body.as_object_mut().unwrap().remove("user_id");
        for (key, value) in changes.as_object().unwrap() {
            body[key] = value.clone();
        }
        self.put(&format!("members/{user}"), body).await
    }
}

/// What came back.
#[derive(Debug)]
pub struct Answer {
    pub status: StatusCode,
    pub headers: reqwest::header::HeaderMap,
    pub text: String,
    /// Null when it was no JSON.
    pub body: Value,
}

impl Answer {
    pub async fn of(request: RequestBuilder) -> Self {
        Self::from(request.send().await.unwrap()).await
    }

    pub async fn from(response: reqwest::Response) -> Self {
        let (status, headers) = (response.status(), response.headers().clone());
        let text = response.text().await.unwrap();
        let body = serde_json::from_str(&text).unwrap_or(Value::Null);
        Self { status, headers, text, body }
    }

    #[track_caller]
    pub fn expect_status(self, status: u16) -> Self {
        assert_eq!(self.status.as_u16(), status, "{}", self.text);
        self
    }

    /// A problem with this status and code, complete as the contract says.
    #[track_caller]
    pub fn expect_problem(self, status: u16, code: &str) -> Self {
        let got = (self.status.as_u16(), self.body["code"].as_str().unwrap_or_default());
        assert_eq!(got, (status, code), "{}", self.text);
        assert_eq!(self.header("content-type"), "application/problem+json");
        assert_eq!(self.body["status"], status);
        assert_eq!(self.body["request_id"], self.header("x-request-id"));
        for member in ["type", "title", "detail"] {
            assert!(self.body[member].as_str().is_some_and(|text| !text.is_empty()), "{member}: {}", self.text);
        }
        self
    }

    pub fn header(&self, name: &str) -> &str {
        self.headers.get(name).map(|value| value.to_str().unwrap()).unwrap_or_default()
    }
}
