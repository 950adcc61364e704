//! `ringi close`: a month, from the command line or from cron.

use super::progress::{Progress, shows_bar};
use super::{say, warn};
use crate::app::{AppError, Closer, ClosingWork, Db, Pools, UseCases, leases};
use crate::closing::closer::{Asked, Begun};
use crate::closing::run::{Actor, Ended};
use crate::closing::view::{BLOCKED_SHOWN, ClosingView, Progress as Figures};
use crate::config::Settings;
use crate::domain::charge::ClosingState;
use crate::domain::ids::OrganizationId;
use crate::domain::period::Period;
use crate::inspection::store::VerificationReads;
use crate::lifecycle::stop_asked;
use crate::pg::{PgReads, PoolSettings};
use crate::transaction::StoreError;
use backon::{ExponentialBuilder, Retryable as _};
use clap::Args;
use serde_json::{Value, json};
use std::process::ExitCode;
use std::time::Duration;
use tokio::sync::watch;
use tokio_util::sync::CancellationToken;
use uuid::Uuid;

/// How long the heartbeat may take to end.
const ENDING: Duration = Duration::from_secs(1);
/// How often a month is gone on with by the same command, and looked at, before somebody else is to.
const TRIES: usize = 5;
/// How many organizations are read at once.
const ORGANIZATIONS: i64 = 1_000;

#[derive(Debug, Args)]
pub(super) struct Close {
    /// The organization.
    #[arg(long, requires = "period", required_unless_present = "all")]
    org: Option<Uuid>,
    /// The month, such as 2026-10.
    #[arg(long, requires = "org", value_parser = period)]
    period: Option<Period>,
    /// The last month of every organization, each by its own clocks.
    #[arg(long, conflicts_with_all = ["org", "period"])]
    all: bool,
    /// One JSON object a line.
    #[arg(long)]
    json: bool,
}

impl Close {
    /// Whether a person watches a bar.
    pub(super) fn shows_bar(&self) -> bool {
        shows_bar(self.json)
    }
}

fn period(text: &str) -> Result<Period, String> {
    Period::parse(text).ok_or_else(|| "write a month such as 2026-10, from 1970-01 to 2199-12".to_owned())
}

/// How closing a month ended, from good to bad.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Outcome {
    Closed,
    SomebodyElse,
    Blocked,
    NotDone,
    Unusable,
}

impl Outcome {
    fn code(self) -> ExitCode {
        ExitCode::from(match self {
            Self::Closed => 0,
            Self::NotDone => 1,
            Self::Unusable => 2,
            Self::Blocked => 3,
            Self::SomebodyElse => 4,
        })
    }
}

pub(super) async fn run(wanted: Close, settings: &Settings) -> Result<ExitCode, AppError> {
    let db = Db::open(&settings.database).await?;
    let done = async {
        db.prepare(false, &settings.database).await?;
        let pools = db.pools(&settings.database).await?;
        let done = run_on(&pools, &wanted, settings).await;
        pools.close();
        done
    }
    .await;
    db.leave().await;
    Ok(done?.code())
}

async fn run_on(pools: &Pools, wanted: &Close, settings: &Settings) -> Result<Outcome, AppError> {
    let admission = UseCases::new(pools, &settings.database).admission;
    let leases = leases(pools, settings)?;
    let work = ClosingWork::start(pools, &leases, settings, &admission, None);
    let asked = stop_asked().map_err(|error| AppError::Io("signals".to_owned(), error))?;
    let watching = tokio::spawn({
        let stop = work.stopping().clone();
        async move {
            asked.await;
            // The step under way ends, and the lease is given back: whoever comes next need not wait.
            stop.cancel();
        }
    });
    let closer = work.closer();
    let done = if let (Some(org), Some(period)) = (wanted.org, wanted.period) {
        close(closer, OrganizationId(org), period, wanted.json).await
    } else {
        let limit = PoolSettings::from(&settings.database).answer_limit();
        let reads = PgReads::new(pools.read.clone(), settings.database.acquire_timeout, limit);
        close_all(closer, &reads, work.stopping(), wanted.json).await
    };
    watching.abort();
    work.finish();
    leases.stop(ENDING).await;
    done
}

/// The last month of every organization. One that is not done keeps no other from it.
async fn close_all(
    closer: &Closer,
    reads: &PgReads,
    stop: &CancellationToken,
    as_json: bool,
) -> Result<Outcome, AppError> {
    let (mut worst, mut after) = (Outcome::Closed, None);
    loop {
        let organizations = reads.organizations(after, ORGANIZATIONS).await?;
        let Some(last) = organizations.last() else { return Ok(worst) };
        after = Some(*last);
        for organization in organizations {
            if stop.is_cancelled() {
                return Ok(Outcome::NotDone);
            }
            let done = async {
                let Some(period) = closer.last_month(organization).await? else { return Ok(Outcome::Closed) };
                close(closer, organization, period, as_json).await
            };
            let outcome = done.await.unwrap_or_else(|error: AppError| {
                warn(&format!("{organization}: {error}"));
                Outcome::NotDone
            });
            worst = worst.max(outcome);
        }
    }
}

async fn close(
    closer: &Closer,
    organization: OrganizationId,
    period: Period,
    as_json: bool,
) -> Result<Outcome, AppError> {
    let mut tries = TRIES;
    let view = loop {
        tries -= 1;
        match closer.ask(organization, period, Actor::command_line()).await? {
            Asked::Unknown => {
                warn(&format!("there is no organization {organization}"));
                return Ok(Outcome::Unusable);
            }
            Asked::Begun(begun) => match watched(closer, begun, organization, period, as_json).await? {
                Ended::Stopped => {
                    warn(&format!("{period}: interrupted; what was confirmed stays, so run it again"));
                    return Ok(Outcome::NotDone);
                }
                // Who took over is told of below.
                Ended::Lost | Ended::Closed | Ended::Blocked(_) => {}
            },
            Asked::Closed | Asked::Busy | Asked::NotOver => {}
        }
        let Some(view) = patiently(|| closer.view(organization, period)).await? else {
            return Ok(Outcome::Unusable);
        };
        // This process was silent for too long, and nobody has taken over: then it goes on itself.
        let is_nobodys = view.state == ClosingState::Running && view.holder.is_none();
        if !is_nobodys || tries == 0 {
            break view;
        }
    };
    let month = patiently(|| closer.closed_month(organization, period)).await?;
    let totals = month.map(|month| month.totals).unwrap_or_default();
    if as_json {
        let totals: Vec<Value> =
            totals.iter().map(|t| json!({"currency": t.currency, "total": t.total, "count": t.count})).collect();
        say(&line(organization, &view, &totals).to_string());
    } else {
        let totals: Vec<String> = totals.iter().map(|t| format!("{} {} ({})", t.currency, t.total, t.count)).collect();
        say(&sentence(organization, &view, &totals.join(", ")));
    }
    Ok(match view.state {
        ClosingState::Closed => Outcome::Closed,
        ClosingState::Blocked => Outcome::Blocked,
        ClosingState::Running => Outcome::SomebodyElse,
        ClosingState::Open => Outcome::NotDone,
    })
}

/// Looks again when the database was away: a connection may have died while this process was frozen.
async fn patiently<T, F>(look: impl Fn() -> F) -> Result<T, StoreError>
where
    F: Future<Output = Result<T, StoreError>>,
{
    look.retry(ExponentialBuilder::default().with_max_times(TRIES)).when(StoreError::passes).await
}

/// Runs it, and shows how far it is.
async fn watched(
    closer: &Closer,
    begun: Begun,
    organization: OrganizationId,
    period: Period,
    as_json: bool,
) -> Result<Ended, AppError> {
    let figures = watch::Sender::new(Figures::default());
    let mut seen = figures.subscribe();
    let progress = Progress::new(format!("{organization}, {period}"), 0, as_json);
    let run = closer.run(begun, figures);
    tokio::pin!(run);
    let ended = loop {
        tokio::select! {
            ended = &mut run => break ended,
            Ok(()) = seen.changed() => {
                let now = *seen.borrow_and_update();
                progress.of(now.total);
                progress.at(now.confirmed + now.blocked);
                if now.blocked > 0 {
                    progress.note(format!("({} blocked)", now.blocked));
                }
            }
        }
    };
    match ended {
        Ok(Ended::Closed | Ended::Blocked(_)) => progress.stay(),
        _ => progress.end(),
    }
    Ok(ended?)
}

fn line(organization: OrganizationId, view: &ClosingView, totals: &[Value]) -> Value {
    let blocked: Vec<Value> = view
        .blocked
        .iter()
        .map(|row| json!({"charge_id": row.charge_id, "code": row.code, "detail": row.detail}))
        .collect();
    json!({
        "organization_id": organization, "period": view.period.to_string(), "state": view.state.as_str(),
        "total": view.total, "confirmed": view.confirmed, "blocked": blocked, "blocked_count": view.blocked_count,
        "holder": view.holder, "totals": totals,
    })
}

fn sentence(organization: OrganizationId, view: &ClosingView, totals: &str) -> String {
    let ClosingView { period, total, confirmed, .. } = view;
    let what = format!("{organization}, {period}");
    match view.state {
        ClosingState::Closed if totals.is_empty() => format!("{what}: closed, without any charge"),
        ClosingState::Closed => format!("{what}: closed. {totals}"),
        ClosingState::Open => format!("{what}: not over yet in the organization's time zone"),
        ClosingState::Running => {
            let holder = view.holder.as_deref().unwrap_or("nobody, and whoever starts it goes on");
            format!("{what}: somebody else is at it ({holder}), {confirmed} of {total} rows done")
        }
        ClosingState::Blocked => {
            let rows = view.blocked.iter().map(|row| format!("\n  {}  {}: {}", row.charge_id, row.code, row.detail));
            let more = view.blocked_count - BLOCKED_SHOWN;
            let more = if more > 0 { format!("\n  and {more} more") } else { String::new() };
            format!(
                "{what}: blocked by {} of {total} rows; the others are confirmed, and show when these are, too.{}{more}\n\
                 Correct each (PUT .../charges/ID) or move it into the next month (POST .../closings/{period}/exclude), \
                 and run it again.",
                view.blocked_count,
                rows.collect::<String>(),
            )
        }
    }
}
