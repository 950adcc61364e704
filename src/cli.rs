//! The command line. Answers go to stdout, problems to stderr with what to do next; exit codes are 0, 1 (failed) and
//! 2 (wrong usage), and what a command's help names.

mod close;
mod history;
mod progress;

use crate::app::{AppError, Db, Role, ServeOptions, UseCases, serve};
use crate::config::Settings;
use crate::domain::ids::{OrganizationId, UserId};
use crate::domain::member::MemberInput;
use crate::pg::{NewOrganization, PgStore, create_organization, migrate};
use crate::{demo, doctor, http, lifecycle, telemetry, tokens};
use clap::{Args, Parser, Subcommand};
use serde_json::json;
use sqlx::ConnectOptions;
use std::io::Write;
use std::process::ExitCode;
use std::time::Duration;
use uuid::Uuid;

/// Ringi (稟議): an approval workflow that holds when two people decide at once.
#[derive(Debug, Parser)]
#[command(
    name = "ringi",
    version,
    after_help = "Settings: config/default.toml lists all, RINGI__SECTION__KEY sets one."
)]
struct Cli {
    #[command(subcommand)]
    command: Command,
}

#[derive(Debug, Subcommand)]
enum Command {
    /// Serve the API. Without `DATABASE_URL`, on a PostgreSQL of its own.
    #[command(after_help = "Example: RINGI__AUTH__HS256_SECRET=$(openssl rand -hex 32) ringi serve --demo")]
    Serve {
        /// Migrate a configured database first; one of our own always is.
        #[arg(long)]
        migrate: bool,
        /// Load the demo organization first.
        #[arg(long)]
        demo: bool,
        /// What this process does: answer calls, do the slow work (then only health and metrics are served), or both.
        #[arg(long, value_enum, default_value_t)]
        role: Role,
    },
    /// Make the schema as new as this program, and roles and grants sure.
    #[command(after_help = "Example: DATABASE_URL=postgres://owner@db/ringi ringi migrate")]
    Migrate {
        /// Only look: exit 0 when nothing is missing, else 1.
        #[arg(long)]
        check: bool,
    },
    /// Load the demo organization: people, requests in every status, and charges of two months. Twice is the same as once.
    #[command(after_help = "Example: ringi demo\nExample: ringi demo --connector --delay 30s")]
    Demo {
        /// One JSON object a line.
        #[arg(long)]
        json: bool,
        /// In place of that, be a slow outside system until Ctrl-C: what `processing.connector_url` can name.
        #[arg(long)]
        connector: bool,
        /// Where the slow outside system listens.
        #[arg(long, default_value = "127.0.0.1:8090", requires = "connector")]
        listen: std::net::SocketAddr,
        /// How long it takes for each order: a number with s, m or h.
        #[arg(long, default_value = "30s", value_parser = duration, requires = "connector")]
        delay: Duration,
    },
    /// Organizations.
    #[command(subcommand)]
    Org(Org),
    /// Sign a token with the local key.
    #[command(after_help = "Example: ringi token --user 0197c0de-0000-7000-8000-000000000101 --ttl 8h")]
    Token {
        /// The user's id.
        #[arg(long)]
        user: Uuid,
        /// How long it is valid: a number with s, m or h.
        #[arg(long, default_value = "8h", value_parser = duration)]
        ttl: Duration,
    },
    /// Print the OpenAPI document.
    #[command(after_help = "Example: ringi openapi > openapi.json")]
    Openapi,
    /// Check settings, keys, database and clock, and say how to mend what is wrong. Exit 1 when something fails.
    #[command(after_help = "Example: ringi doctor")]
    Doctor {
        /// One JSON object a line.
        #[arg(long)]
        json: bool,
    },
    /// Close a month: confirm its charges while everybody works on, and make it show in one instant.
    #[command(
        after_help = "Exit codes: 0 closed, 1 not over yet or interrupted, 2 unusable arguments, 3 blocked by rows that can't be confirmed, 4 somebody else is at it; with --all the worst of 1, 3 and 4 in this order.\nExample: ringi close --org 0197c0de-0000-7000-8000-000000000001 --period 2026-10\nFrom cron, on the first of each month: ringi close --all"
    )]
    Close(close::Close),
    /// Charges.
    #[command(subcommand)]
    Charges(Charges),
    /// Prove that nobody bent the history.
    #[command(subcommand)]
    History(history::History),
    /// Run the PostgreSQL of its own until Ctrl-C, and print its address.
    #[command(after_help = "Example: psql \"$(ringi postgres | head -n 1)\"")]
    Postgres {
        /// Its folder; else `database.embedded_dir`.
        #[arg(long)]
        dir: Option<String>,
    },
}

#[derive(Debug, Subcommand)]
enum Charges {
    /// Make the charges that approved requests lack. `ringi migrate` does it once; run it again after older programs have
    /// worked beside newer ones. Twice is the same as once.
    #[command(after_help = "Example: ringi charges backfill")]
    Backfill {
        /// One organization; all of them when left out.
        #[arg(long)]
        org: Option<Uuid>,
    },
}

#[derive(Debug, Subcommand)]
enum Org {
    /// Make an organization with its first administrator, and print it as JSON.
    #[command(
        after_help = "Example: ringi org create --name 'Kumo Trading' --admin-id 0197c0de-0000-7000-8000-000000000104 --admin-name Dara --time-zone Asia/Tokyo"
    )]
    Create(CreateOrg),
}

#[derive(Debug, Args)]
struct CreateOrg {
    /// The organization's name, 1 to 200 characters.
    #[arg(long)]
    name: String,
    /// The first administrator's user id: the `sub` of the local key's tokens. Who signs in at an identity provider
    /// finds his in the answer of GET /api/v1/me.
    #[arg(long)]
    admin_id: Uuid,
    /// The first administrator's name, 1 to 200 characters.
    #[arg(long)]
    admin_name: String,
    /// The organization's id; a new one when left out.
    #[arg(long)]
    id: Option<Uuid>,
    /// An IANA time zone, which says when months begin.
    #[arg(long, default_value = "UTC")]
    time_zone: String,
}

fn duration(text: &str) -> Result<Duration, String> {
    let wrong = || "write a number with s, m or h, such as 8h".to_owned();
    let (number, seconds) = match text.split_at_checked(text.len().saturating_sub(1)) {
        Some((number, "s")) => (number, 1),
        Some((number, "m")) => (number, 60),
        Some((number, "h")) => (number, 3600),
        _ => return Err(wrong()),
    };
    let number: u64 = number.parse().map_err(|_| wrong())?;
    number.checked_mul(seconds).filter(|s| *s > 0).map(Duration::from_secs).ok_or_else(wrong)
}

/// Runs the command that the arguments name.
pub async fn run() -> ExitCode {
    let cli = Cli::parse();
    // In development; what the environment says already stays. A missing file is fine.
    if let Err(error) = dotenvy::dotenv()
        && !error.not_found()
    {
        return fail(&format!(".env can't be read: {error}"));
    }
    let mut settings = match Settings::load() {
        Ok(settings) => settings,
        Err(error) => return fail(&error.to_string()),
    };
    // The bar says what the log would, whose lines would tear it apart; warnings still come.
    let has_bar = matches!(&cli.command, Command::Close(wanted) if wanted.shows_bar());
    if has_bar && settings.log.filter == Settings::defaults().log.filter {
        "warn".clone_into(&mut settings.log.filter);
    }
    if let Err(sentence) = telemetry::log(&settings.log) {
        return fail(&sentence);
    }
    match Box::pin(command(cli.command, settings)).await {
        Ok(code) => code,
        Err(error) => fail(&error.to_string()),
    }
}

async fn command(command: Command, mut settings: Settings) -> Result<ExitCode, AppError> {
    match command {
        Command::Serve { migrate, demo, role } => {
            let metrics = telemetry::metrics().map_err(|error| AppError::Other(error.to_string()))?;
            serve(&settings, ServeOptions { migrate, demo, role }, metrics, |address| {
                say(&format!("Ringi is ready: open http://{address}/ (stop with Ctrl-C)"));
                if demo {
                    say(&demo_people(false));
                }
            })
            .await?;
        }
        Command::Migrate { check } => return migrations(&settings, check).await,
        Command::Demo { connector: true, listen, delay, .. } => stand_in(listen, delay).await?,
        Command::Demo { json, .. } => {
            let db = Db::open(&settings.database).await?;
            let loaded = load_demo(&db, &settings).await;
            db.leave().await;
            loaded?;
            say(&demo_people(json));
        }
        Command::Org(Org::Create(new)) => {
            let db = Db::open(&settings.database).await?;
            let made = create_org(&db, &settings, new).await;
            db.leave().await;
            say(&made?);
        }
        Command::Token { user, ttl } => {
            let secret = settings.auth.hs256_secret.reveal();
            if secret.is_empty() {
                return Err(AppError::Other(
                    "there is no local key to sign with: set RINGI__AUTH__HS256_SECRET as `ringi serve` has it"
                        .to_owned(),
                ));
            }
            if ttl > settings.auth.max_token_lifetime {
                return Err(AppError::Other(format!(
                    "--ttl: the server accepts at most {} s (auth.max_token_lifetime_s)",
                    settings.auth.max_token_lifetime.as_secs()
                )));
            }
            let token = tokens::sign(secret.as_bytes(), UserId(user), ttl);
            say(&token.map_err(|error| AppError::Other(format!("can't sign: {error}")))?);
        }
        Command::Openapi => say(http::openapi::json()),
        Command::Doctor { json } => return Ok(doctor(&settings, json).await),
        Command::Charges(Charges::Backfill { org }) => {
            let db = Db::open(&settings.database).await?;
            let made = backfill(&db, &settings, org.map(OrganizationId)).await;
            db.leave().await;
            say(&format!("{} charge(s) made", made?));
        }
        Command::Close(wanted) => return close::run(wanted, &settings).await,
        Command::History(history) => return history::run(history, &settings).await,
        Command::Postgres { dir } => {
            if let Some(dir) = dir {
                settings.database.embedded_dir = dir;
            }
            settings.database.url = crate::config::Secret::default();
            let db = Db::open(&settings.database).await?;
            let stop = lifecycle::stop_asked().map_err(|error| AppError::Io("signals".to_owned(), error))?;
            if let Some(embedded) = &db.embedded {
                say(&embedded.url("ringi"));
            }
            tokio::select! {
                _ = stop => {}
                () = lifecycle::parent_gone() => {}
            }
            db.leave().await;
        }
    }
    Ok(ExitCode::SUCCESS)
}

async fn doctor(settings: &Settings, as_json: bool) -> ExitCode {
    let findings = doctor::examine(settings).await;
    for finding in &findings {
        let verdict = finding.verdict.as_str();
        say(&if as_json {
            json!({"subject": finding.subject, "verdict": verdict, "detail": finding.sentence}).to_string()
        } else {
            format!("{verdict:<8} {:<13} {}", finding.subject, finding.sentence)
        });
    }
    let failed = findings.iter().any(|finding| finding.verdict == doctor::Verdict::Failure);
    if failed { ExitCode::FAILURE } else { ExitCode::SUCCESS }
}

/// Is an outside system until somebody asks for a stop.
async fn stand_in(listen: std::net::SocketAddr, delay: Duration) -> Result<(), AppError> {
    let listener = std::net::TcpListener::bind(listen).map_err(|error| {
        AppError::Io(format!("can't listen on {listen}: choose another address with --listen"), error)
    })?;
    let address = listener.local_addr().map_err(|error| AppError::Io("listener".to_owned(), error))?;
    let server = http::stand_in::serve(listener, delay).map_err(|error| AppError::Io("http".to_owned(), error))?;
    say(&format!(
        "A slow outside system listens: RINGI__PROCESSING__CONNECTOR_URL=http://{address}/ (stop with Ctrl-C)"
    ));
    server.await.map_err(|error| AppError::Io("http".to_owned(), error))
}

async fn migrations(settings: &Settings, check: bool) -> Result<ExitCode, AppError> {
    let db = Db::open(&settings.database).await?;
    let done = async {
        if check {
            let mut connection = db.options.connect().await?;
            let missing = migrate::missing(&mut connection).await?;
            say(&format!("{missing} migration(s) missing"));
            return Ok(if missing == 0 { ExitCode::SUCCESS } else { ExitCode::FAILURE });
        }
        let report = db.migrate(&settings.database).await?;
        say(&format!("{} migration(s) applied, {} known", report.applied, report.known));
        if !report.roles {
            say(
                "Only triggers keep history from being changed: this login may not make the roles ringi_owner and ringi_app \
                 (CREATEROLE), or the tables belong to another role (REASSIGN OWNED BY that role TO ringi_owner, then \
                 migrate again).",
            );
        }
        Ok(ExitCode::SUCCESS)
    }
    .await;
    db.leave().await;
    done
}

async fn load_demo(db: &Db, settings: &Settings) -> Result<(), AppError> {
    db.prepare(false, &settings.database).await?;
    let pools = db.pools(&settings.database).await?;
    let store = PgStore::new(pools.write.clone(), settings.database.acquire_timeout);
    let loaded = demo::load(&store, &UseCases::new(&pools, &settings.database)).await;
    pools.close();
    loaded
}

async fn backfill(db: &Db, settings: &Settings, only: Option<OrganizationId>) -> Result<i64, AppError> {
    db.prepare(false, &settings.database).await?;
    let pools = db.pools(&settings.database).await?;
    let made = UseCases::new(&pools, &settings.database).closings.backfill_again(only).await;
    pools.close();
    made.map_err(|error| AppError::Other(format!("charges: {error}")))
}

fn demo_people(as_json: bool) -> String {
    let organization = demo::ORGANIZATION;
    if as_json {
        let lines: Vec<_> = demo::PEOPLE
            .iter()
            .map(|person| {
                json!({"organization_id": organization, "user_id": person.id, "display_name": person.name,
                       "can_approve": person.can_approve, "is_admin": person.is_admin})
                .to_string()
            })
            .collect();
        return lines.join("\n");
    }
    let mut lines = vec![format!("The demo organization is {organization}. Its people:")];
    for person in demo::PEOPLE {
        let role = match (person.can_approve, person.is_admin) {
            (true, _) => "approves",
            (_, true) => "administers",
            _ => "applies",
        };
        lines.push(format!("  {}  {role:<11}  {}", person.id, person.name));
    }
    lines.push("`ringi token --user ID` signs a token for one of them.".to_owned());
    lines.join("\n")
}

#[expect(clippy::disallowed_methods, reason = "the one home of new organization ids")]
async fn create_org(db: &Db, settings: &Settings, new: CreateOrg) -> Result<String, AppError> {
    db.prepare(false, &settings.database).await?;
    let pools = db.pools(&settings.database).await?;
    let store = PgStore::new(pools.write.clone(), settings.database.acquire_timeout);
    let organization = NewOrganization {
        id: OrganizationId(new.id.unwrap_or_else(Uuid::now_v7)),
        name: new.name,
        time_zone: new.time_zone,
        admin_id: UserId(new.admin_id),
        admin: MemberInput { display_name: new.admin_name, is_active: true, can_approve: false, is_admin: true },
    };
    let made = create_organization(&store, &organization).await;
    pools.close();
    made.map_err(|error| AppError::Other(format!("org create: {error}")))?;
    Ok(json!({
        "id": organization.id,
        "name": organization.name,
        "time_zone": organization.time_zone,
        "admin": {"user_id": organization.admin_id, "display_name": organization.admin.display_name},
    })
    .to_string())
}

fn say(text: &str) {
    // A reader that has seen enough is no fault.
    drop(writeln!(std::io::stdout(), "{text}"));
}

#[expect(clippy::print_stderr, reason = "a problem, told to the person at the terminal")]
fn warn(sentence: &str) {
    eprintln!("ringi: {sentence}");
}

fn fail(sentence: &str) -> ExitCode {
    warn(sentence);
    ExitCode::FAILURE
}
