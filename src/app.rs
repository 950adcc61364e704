//! The composition root: the one place that knows all concrete types together.

mod closings;
mod hooks;
mod mail;
mod relaying;
mod retention;
mod work;

pub use closings::ClosingWork;
pub use hooks::Hooks;
pub use retention::forget_old_keys;
pub use work::{Role, Work, leases};

use crate::config::{self, Database, Settings};
use crate::http::{
    self, DemoPerson, DemoSignIn, Health, LimitSettings, Limits, ProviderSettings, Rate, ServerSettings, SignIn, State,
};
use crate::inspection::exports::Exports;
use crate::lifecycle::{Runner, raise_open_files, stop_asked};
use crate::live::HubSettings;
use crate::pg::embedded::{self, EmbeddedConfig, EmbeddedPg, Left};
use crate::pg::{self, PgIdentities, PgLeases, PgReads, PgStore, PoolSettings, Signals, Topic, migrate};
use crate::tokens::{FetchSettings, Times, Tokens};
use crate::transaction::admission::Admission;
use metrics_exporter_prometheus::PrometheusHandle;
use sqlx::ConnectOptions;
use sqlx::postgres::PgConnectOptions;
use std::net::TcpListener;
use std::time::Duration;

/// The use cases on requests, on PostgreSQL.
pub type Approvals = crate::approvals::service::Approvals<PgStore, PgReads>;
/// The use cases on members, on PostgreSQL.
pub type Members = crate::members::service::Members<PgStore, PgReads>;
/// What people do about a request's processing, on PostgreSQL.
pub type Processing = crate::processing::service::Processing<PgStore, PgReads>;
/// What people do about their own mail, on PostgreSQL.
pub type MailPreferences = crate::mail::preferences::MailPreferences<PgStore, PgReads>;
/// Who is who, on PostgreSQL.
pub type Identities = crate::identity::Identities<PgIdentities>;
/// The use cases of inspectors, on PostgreSQL.
pub type Inspections = crate::inspection::service::Inspections<PgStore, PgReads>;
/// The right to do slow work, on PostgreSQL.
pub type Leases = crate::lease::Leases<PgLeases>;
/// The use cases on charges and months, on PostgreSQL.
pub type Closings = crate::closing::charges::Closings<PgStore, PgReads>;
/// Those who listen to what happens, on PostgreSQL.
pub type Hub = crate::live::Hub<PgReads>;
/// The closings of this process, on PostgreSQL.
pub type Closer = crate::closing::closer::Closer<PgStore, PgReads, PgLeases>;
/// The use cases on webhooks, on PostgreSQL.
pub type Webhooks = crate::webhooks::service::Webhooks<PgStore, PgReads>;
pub use crate::pg::Pools;

/// The name of the database in a PostgreSQL of our own.
const EMBEDDED_DATABASE: &str = "ringi";
/// Connections that read for those who listen: others who look can't keep events from them.
const LISTENING_CONNECTIONS: u32 = 2;

/// What goes wrong above the use cases. Each sentence says what to do.
#[derive(Debug, thiserror::Error)]
pub enum AppError {
    /// The settings.
    #[error(transparent)]
    Settings(#[from] crate::config::SettingsError),
    /// The PostgreSQL of our own.
    #[error(transparent)]
    Embedded(#[from] embedded::EmbeddedError),
    /// The migrations.
    #[error("migrations: {0}")]
    Migrate(#[from] sqlx::migrate::MigrateError),
    /// The configured database.
    #[error("database: {0}")]
    Database(#[from] sqlx::Error),
    /// The configured database, behind the use cases.
    #[error("database: {0}")]
    Store(#[from] crate::transaction::StoreError),
    /// Anything else, said in full.
    #[error("{0}")]
    Other(String),
    /// The operating system.
    #[error("{0}: {1}")]
    Io(String, std::io::Error),
}

/// The database that the settings name, or the one of our own, running.
#[derive(Debug)]
pub struct Db {
    /// How to connect, as the login.
    pub options: PgConnectOptions,
    /// Our own, where there is no other.
    pub embedded: Option<EmbeddedPg>,
}

impl Db {
    /// Finds or starts the database.
    ///
    /// # Errors
    /// [`AppError`].
    pub async fn open(settings: &Database) -> Result<Self, AppError> {
        let url = settings.url.reveal();
        if !url.is_empty() {
            let unreadable = |why: &dyn std::fmt::Display| {
                AppError::Other(format!(
                    "DATABASE_URL can't be read ({why}): write postgres://user:password@host/database"
                ))
            };
            // The parser takes any scheme, and would look for a host of another kind of database.
            if !["postgres://", "postgresql://"].iter().any(|scheme| url.starts_with(scheme)) {
                return Err(unreadable(&"it begins with another scheme"));
            }
            // The error of the parser names no part of the URL, which may hold a password.
            let options: PgConnectOptions = url.parse().map_err(|error| unreadable(&error))?;
            return Ok(Self { options, embedded: None });
        }
        let mut config = EmbeddedConfig::new(&settings.embedded_dir);
        let set = |text: &str| (!text.is_empty()).then(|| text.to_owned());
        config.bin_dir = set(&settings.embedded_bin_dir).map(Into::into);
        config.run_as = set(&settings.embedded_user);
        config.durable = settings.embedded_durable;
        let embedded = embedded::start(config).await?;
        embedded.ensure_database(EMBEDDED_DATABASE).await?;
        Ok(Self { options: embedded.connect_options(EMBEDDED_DATABASE), embedded: Some(embedded) })
    }

    /// Makes the schema as new as this program: always in a PostgreSQL of our own, elsewhere only if `migrate`.
    ///
    /// # Errors
    /// [`AppError::Other`] when the schema is behind and may not be changed here.
    pub async fn prepare(&self, migrate: bool, settings: &Database) -> Result<(), AppError> {
        if migrate || self.embedded.is_some() {
            let report = self.migrate(settings).await?;
            if report.applied > 0 {
                tracing::info!(applied = report.applied, roles = report.roles, "migrated");
            }
            return Ok(());
        }
        let mut connection = self.options.connect().await?;
        match migrate::missing(&mut connection).await? {
            0 => Ok(()),
            n => Err(AppError::Other(format!(
                "the database lacks {n} migration(s): run `ringi migrate`, or start with `ringi serve --migrate`"
            ))),
        }
    }

    /// Applies the migrations that are missing, and then makes what older rows lack.
    ///
    /// # Errors
    /// [`AppError`]; applied migrations stay.
    pub async fn migrate(&self, settings: &Database) -> Result<migrate::Report, AppError> {
        let report = migrate::migrate(&self.options).await?;
        // Also when there was nothing to apply: the last time may have been interrupted. What is done is not looked at again.
        if !report.owes_charges {
            return Ok(report);
        }
        let pools = self.pools(settings).await?;
        let made = UseCases::new(&pools, settings).closings.backfill(None).await;
        pools.close();
        match made {
            Ok(0) => {}
            Ok(made) => tracing::info!(made, "charges of requests that were approved before"),
            // No fault of the migrations, and the servers go on with it.
            Err(error) => tracing::warn!(%error, "charges of older approvals are still to be made"),
        }
        Ok(report)
    }

    /// Opens the pools, as the less able role where there is one.
    ///
    /// # Errors
    /// When the database can't be reached.
    pub async fn pools(&self, settings: &Database) -> Result<Pools, AppError> {
        let mut connection = self.options.connect().await?;
        let role = migrate::application_role(&mut connection).await?;
        if role.is_none() {
            tracing::warn!("working as the login itself: only triggers keep history from being changed");
        }
        Ok(pg::connect(&self.options, &PoolSettings::from(settings), role).await?)
    }

    /// Leaves the database; a PostgreSQL of our own is stopped by the last who leaves.
    pub async fn leave(self) {
        let Some(embedded) = self.embedded else { return };
        match embedded.leave_and_wait(Duration::from_secs(20)).await {
            Ok(Left::Stopped | Left::OthersRemain) => {}
            Ok(Left::StillStopping) => tracing::warn!("PostgreSQL is still stopping"),
            Err(error) => tracing::warn!(%error, "leaving PostgreSQL"),
        }
    }
}

impl From<&Database> for PoolSettings {
    fn from(settings: &Database) -> Self {
        Self {
            write_connections: settings.max_connections,
            read_connections: settings.read_connections,
            lock_timeout: settings.lock_timeout,
            statement_timeout: settings.statement_timeout,
            idle_in_transaction_timeout: settings.idle_in_transaction_timeout,
            acquire_timeout: settings.acquire_timeout,
        }
    }
}

/// The use cases on open pools.
#[derive(Clone, Debug)]
pub struct UseCases {
    /// On requests.
    pub approvals: Approvals,
    /// On members.
    pub members: Members,
    /// Who is who.
    pub identities: Identities,
    /// Of inspectors.
    pub inspections: Inspections,
    /// On charges and months.
    pub closings: Closings,
    /// On what follows an approval.
    pub processing: Processing,
    /// On webhooks.
    pub webhooks: Webhooks,
    /// The queue in front of the write connections.
    pub admission: Admission,
    /// The queue in front of the read connections.
    pub looking: Admission,
}

impl UseCases {
    /// Builds the use cases, with one queue in front of the connections that they share. No approval starts a job.
    #[must_use]
    pub fn new(pools: &Pools, settings: &Database) -> Self {
        Self::build(pools, settings, None, false, Duration::MAX)
    }

    /// With `signals`, whoever waits for something is woken; where `connected`, each approval starts a job.
    /// `lease_timeout`: after how much silence nobody counts as being at it.
    fn build(
        pools: &Pools,
        settings: &Database,
        signals: Option<Signals>,
        connected: bool,
        lease_timeout: Duration,
    ) -> Self {
        let size = |n: u32| usize::try_from(n).unwrap_or(usize::MAX);
        let admission =
            Admission::new(size(settings.max_connections), size(settings.max_queued_writes), settings.queue_timeout);
        let looking =
            Admission::new(size(settings.read_connections), size(settings.max_queued_writes), settings.queue_timeout);
        let limit = PoolSettings::from(settings).answer_limit();
        let store = PgStore::new(pools.write.clone(), settings.acquire_timeout)
            .answered_within(limit)
            .waking(signals)
            .starting_jobs(connected);
        let reads = PgReads::new(pools.read.clone(), settings.acquire_timeout, limit);
        let adding = PgReads::new(pools.write.clone(), settings.acquire_timeout, limit);
        Self {
            approvals: Approvals::new(store.clone(), reads.clone(), admission.clone()),
            members: Members::new(store.clone(), reads.clone(), admission.clone()),
            inspections: Inspections::new(store.clone(), reads.clone(), admission.clone()),
            closings: Closings::new(store.clone(), reads.clone(), admission.clone()),
            webhooks: Webhooks::new(store.clone(), reads.clone(), admission.clone()),
            processing: Processing::new(store, reads.clone(), admission.clone(), connected, lease_timeout),
            identities: Identities::new(PgIdentities::new(reads, adding)),
            admission,
            looking,
        }
    }
}

/// The check of tokens that the settings ask for.
///
/// # Errors
/// When nobody could sign in, a key is unfit, or the self-test fails.
pub fn tokens(settings: &config::Auth) -> Result<Tokens, AppError> {
    let times = Times { leeway: settings.leeway, max_lifetime: settings.max_token_lifetime };
    let fetching = FetchSettings {
        refresh: settings.jwks_refresh,
        cooldown: settings.jwks_cooldown,
        connect_timeout: settings.jwks_connect_timeout,
        timeout: settings.jwks_timeout,
    };
    let secret = settings.hs256_secret.reveal();
    let secret = (!secret.is_empty()).then_some(secret.as_bytes());
    let issuers = config::read_issuers(&settings.issuers).map_err(AppError::Other)?;
    Tokens::new(times, secret, issuers, fetching).map_err(AppError::Other)
}

/// The limits that the settings ask for.
fn limits(settings: &config::Limits) -> Result<Limits, AppError> {
    let rate = |per_second, burst| Rate { per_second, burst };
    Ok(Limits::new(&LimitSettings {
        user: rate(settings.user_per_s, settings.user_burst),
        organization: rate(settings.organization_per_s, settings.organization_burst),
        address: rate(settings.address_per_s, settings.address_burst),
        trusted_proxies: settings.proxies().map_err(AppError::Other)?,
    }))
}

/// How people sign in at the page. As somebody of the demo only where it was asked for.
fn sign_in(settings: &Settings, listener: &TcpListener, demo: bool) -> Result<SignIn, AppError> {
    let page = &settings.page;
    let provider = (!page.issuer.is_empty()).then(|| ProviderSettings {
        issuer: page.issuer.clone(),
        client_id: page.client_id.clone(),
        scope: page.scope.clone(),
        resource: page.resource.clone(),
        origins: page.origins.clone(),
    });
    let person = |person: &crate::demo::Person| DemoPerson {
        id: person.id,
        name: person.name,
        can_approve: person.can_approve,
        is_admin: person.is_admin,
    };
    let address = listener.local_addr().map_err(|error| AppError::Io("listener".to_owned(), error))?;
    let people = || crate::demo::PEOPLE.iter().map(person).collect();
    let secret = settings.auth.hs256_secret.reveal();
    let demo = if demo { DemoSignIn::on(address, secret, people()) } else { None };
    Ok(SignIn::new(provider, demo))
}

/// What `ringi serve` was asked for besides the settings.
#[derive(Clone, Copy, Debug, Default)]
pub struct ServeOptions {
    /// Migrate a configured database first.
    pub migrate: bool,
    /// Load the demo organization first.
    pub demo: bool,
    /// What the process does.
    pub role: Role,
}

/// Serves until somebody asks for a stop. `ready` is told the address.
///
/// # Errors
/// [`AppError`] when it can't begin.
pub async fn serve(
    settings: &Settings,
    options: ServeOptions,
    metrics: PrometheusHandle,
    ready: impl FnOnce(std::net::SocketAddr),
) -> Result<(), AppError> {
    let tokens = tokens(&settings.auth)?;
    raise_open_files();
    crate::lifecycle::allow_files(settings.http.max_connections);
    // Before the database: a port in use is told at once.
    let address = settings.listen_address()?;
    let listener = TcpListener::bind(address).map_err(|error| {
        AppError::Io(
            format!("can't listen on {address}: choose another address with RINGI__HTTP__LISTEN or PORT"),
            error,
        )
    })?;
    let address = listener.local_addr().map_err(|error| AppError::Io("listener".to_owned(), error))?;

    let db = Db::open(&settings.database).await?;
    let served = serve_on(&db, settings, options, tokens, metrics, listener, || ready(address)).await;
    db.leave().await;
    served
}

async fn serve_on(
    db: &Db,
    settings: &Settings,
    options: ServeOptions,
    tokens: Tokens,
    metrics: PrometheusHandle,
    listener: TcpListener,
    ready: impl FnOnce(),
) -> Result<(), AppError> {
    db.prepare(options.migrate, &settings.database).await?;
    let pools = db.pools(&settings.database).await?;
    if options.demo {
        // Its approvals are of the past: they start nothing.
        let use_cases = UseCases::new(&pools, &settings.database);
        crate::demo::load(&PgStore::new(pools.write.clone(), settings.database.acquire_timeout), &use_cases).await?;
    }
    let work = Work::start(pools, settings, options.role)?;
    let use_cases = work.use_cases(settings);
    let service = Service::start(work, options.demo, use_cases, settings, tokens, metrics, listener)?;
    let embedded_watch = async {
        match &db.embedded {
            Some(embedded) => keep_running(embedded).await,
            None => std::future::pending().await,
        }
    };
    let stop = stop_asked().map_err(|error| AppError::Io("signals".to_owned(), error))?;
    ready();
    tokio::select! {
        signal = stop => {
            tracing::info!(signal, "stopping: finishing what is under way");
        }
        () = embedded_watch => {}
    }
    service.stop().await;
    tracing::info!("stopped");
    Ok(())
}

/// A running service on open pools.
#[derive(Debug)]
pub struct Service {
    pools: Pools,
    health: Health,
    hub: Hub,
    closing: ClosingWork,
    runner: Runner,
    server: actix_web::dev::ServerHandle,
    serving: tokio::task::JoinHandle<std::io::Result<()>>,
    gauges: tokio::task::JoinHandle<()>,
    /// The fetching of providers' keys, which ends when this is dropped.
    fetching: tokio::task::JoinSet<()>,
    work: Work,
    grace: Duration,
    drain: Duration,
}

impl Service {
    /// Begins to serve on `listener`: everything, or only health and metrics where the role of `work` answers no calls.
    /// Use cases run on the runtime that this is called on. With `demo`, people may choose who they are.
    ///
    /// # Errors
    /// When the listener can't be used.
    pub fn start(
        work: Work,
        demo: bool,
        use_cases: UseCases,
        settings: &Settings,
        tokens: Tokens,
        metrics: PrometheusHandle,
        listener: TcpListener,
    ) -> Result<Self, AppError> {
        let pools = work.pools().clone();
        let runner = Runner::new(tokio::runtime::Handle::current());
        let fetching = tokens.keep_keys_fresh();
        let health = Health::new(pools.clone());
        let closing = ClosingWork::start(&pools, work.leases(), settings, &use_cases.admission, Some(work.signals()));
        if work.role().works() {
            closing.go_on(&runner, settings.closing.resume_interval);
            retention::forget_every_so_often(&runner, &pools, settings, closing.stopping().clone());
        }
        let hub = hub(&work, settings);
        if work.role().answers() {
            runner.detach(hub.clone().run());
        }
        let limits = limits(&settings.limits)?;
        let state = State {
            approvals: use_cases.approvals,
            members: use_cases.members,
            identities: use_cases.identities,
            tokens,
            sign_in: sign_in(settings, &listener, demo)?,
            inspections: use_cases.inspections,
            closings: use_cases.closings,
            processing: use_cases.processing,
            webhooks: use_cases.webhooks,
            mail: mail::preferences(&pools, settings, &use_cases.admission),
            closer: closing.closer().clone(),
            hub: hub.clone(),
            exports: Exports::default(),
            looking: use_cases.looking,
            runner: runner.clone(),
            body_limits: http::BodyLimits { bytes: settings.http.body_limit_bytes, time: settings.http.body_timeout },
            answer_timeout: settings.http.answer_timeout,
            limits: limits.clone(),
            health: health.clone(),
            metrics: metrics.clone(),
        };
        let cores = std::thread::available_parallelism().map_or(2, std::num::NonZero::get);
        let server_settings = ServerSettings {
            allowed_origins: settings.http.allowed_origins.clone(),
            workers: if settings.http.workers == 0 { cores.min(4) } else { settings.http.workers },
            head_timeout: settings.http.head_timeout,
            keep_alive: settings.http.keep_alive,
            max_connections: settings.http.max_connections,
            unread_timeout: settings.http.unread_timeout,
            shutdown_grace: settings.http.shutdown_grace,
            routes: if work.role().answers() { http::routes } else { http::worker_routes },
        };
        let server =
            http::serve(listener, state, &server_settings).map_err(|error| AppError::Io("http".to_owned(), error))?;
        for stopped in work.stopped() {
            let health = health.clone();
            tokio::spawn(async move {
                stopped.cancelled().await;
                health.stop();
            });
        }
        Ok(Self {
            health,
            hub,
            closing,
            runner,
            server: server.handle(),
            serving: tokio::spawn(server),
            gauges: tokio::spawn(gauges(pools.clone(), use_cases.admission, limits, metrics)),
            fetching,
            work,
            grace: settings.http.shutdown_grace,
            drain: settings.http.drain,
            pools,
        })
    }

    /// Stops in order: no job is taken any more, readiness says no, balancers get the time to see it, the listener
    /// closes, use cases end. Meanwhile jobs under way end or are given back while their heartbeat goes on; the
    /// heartbeat ends after both. Then other processes are told of what was given back, and the connections close. All within the
    /// grace time.
    pub async fn stop(mut self) {
        let deadline = tokio::time::Instant::now() + self.grace;
        self.work.close();
        self.health.stop();
        // Who listens comes again, to another process; else the server would wait for them.
        self.hub.close();
        self.closing.close();
        let answering = async {
            tokio::time::sleep(self.drain.min(self.grace)).await;
            self.server.stop(true).await;
            drop(self.serving.await);
            let left = deadline.saturating_duration_since(tokio::time::Instant::now()).max(Duration::from_secs(1));
            if !self.runner.drain(left).await {
                tracing::warn!("some use cases outlived the grace time; the database rolls them back");
            }
        };
        // Boxed, since each of them would be part of every future that stops a service.
        tokio::join!(Box::pin(answering), Box::pin(self.work.finish(deadline)));
        self.work.end().await;
        self.gauges.abort();
        drop(self.fetching);
        self.closing.finish();
        // A use case that hangs keeps its connection: the process ends, and the database rolls it back.
        self.pools.close();
    }
}

/// Those who listen at this process, with connections of their own.
fn hub(work: &Work, settings: &Settings) -> Hub {
    let (database, events) = (&settings.database, &settings.events);
    let pool = work.pools().for_work(LISTENING_CONNECTIONS).write;
    let reads = PgReads::new(pool, database.acquire_timeout, PoolSettings::from(database).answer_limit());
    let hub_settings = HubSettings {
        poll_interval: events.poll_interval,
        max_listeners: events.max_listeners,
        max_listeners_per_user: events.max_listeners_per_user,
        queue: events.listener_queue,
        catch_up: events.catch_up,
        sign_of_life: events.sign_of_life,
    };
    Hub::new(reads, hub_settings, work.signals().bell(Topic::Events))
}

/// Brings a PostgreSQL of our own back after its supervisor was killed.
async fn keep_running(embedded: &EmbeddedPg) {
    let mut every = tokio::time::interval(Duration::from_secs(2));
    every.set_missed_tick_behavior(tokio::time::MissedTickBehavior::Delay);
    loop {
        every.tick().await;
        if let Err(error) = embedded.ensure_running().await {
            tracing::error!(%error, "the private PostgreSQL does not come back");
        }
    }
}

async fn gauges(pools: Pools, admission: Admission, limits: Limits, metrics: PrometheusHandle) {
    let mut every = tokio::time::interval(Duration::from_secs(1));
    loop {
        every.tick().await;
        // Else the samples of histograms pile up where nobody scrapes.
        metrics.run_upkeep();
        limits.tidy();
        for (name, pool) in [("write", &pools.write), ("read", &pools.read)] {
            let sizes = pool.sizes();
            let gauge = |state, n: usize| {
                let n = u32::try_from(n).unwrap_or(u32::MAX);
                metrics::gauge!("ringi_pool_connections", "pool" => name, "state" => state).set(f64::from(n));
            };
            gauge("idle", sizes.idle);
            gauge("used", sizes.open.saturating_sub(sizes.idle));
        }
        let present = u32::try_from(admission.present()).unwrap_or(u32::MAX);
        metrics::gauge!("ringi_writes_present").set(f64::from(present));
    }
}
