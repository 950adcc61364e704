//! Log lines and metrics.

use crate::config::{Log, LogFormat};
use metrics_exporter_prometheus::{Matcher, PrometheusBuilder, PrometheusHandle};
use std::io::IsTerminal;
use tracing_subscriber::EnvFilter;

/// Begins logging to stderr, which leaves stdout to what a command answers.
///
/// # Errors
/// A sentence, when the filter can't be read.
pub fn log(settings: &Log) -> Result<(), String> {
    let filter = EnvFilter::try_new(&settings.filter)
        .map_err(|error| format!("log.filter: {error}; write a level or `ringi=debug,sqlx=warn`"))?;
    let builder = tracing_subscriber::fmt().with_env_filter(filter).with_writer(std::io::stderr);
    let pretty = match settings.format {
        LogFormat::Pretty => true,
        LogFormat::Json => false,
        LogFormat::Auto => std::io::stderr().is_terminal(),
    };
    let begun = if pretty {
        builder.with_ansi(std::io::stderr().is_terminal()).try_init()
    } else {
        builder.json().with_current_span(true).with_span_list(false).flatten_event(true).try_init()
    };
    // Somebody else's subscriber, as in a test, is as good.
    drop(begun);
    Ok(())
}

/// Begins counting, and names what is counted.
///
/// # Errors
/// When another recorder counts already.
pub fn metrics() -> Result<PrometheusHandle, metrics_exporter_prometheus::BuildError> {
    let buckets = [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0];
    let handle = PrometheusBuilder::new()
        .set_buckets_for_metric(Matcher::Suffix("_seconds".to_owned()), &buckets)?
        .install_recorder()?;
    metrics::describe_counter!("ringi_http_requests_total", "Requests by route, method and status");
    metrics::describe_histogram!("ringi_http_request_duration_seconds", "Time to an answer by route, in seconds");
    metrics::describe_counter!("ringi_problems_total", "Problem answers by code");
    metrics::describe_counter!("ringi_rate_limited_total", "429 by whose limit: user, organization, address");
    metrics::describe_counter!("ringi_answers_broken_off_total", "Answers whose client took too long for them");
    metrics::describe_counter!(
        "ringi_idempotency_keys_forgotten_total",
        "Kept answers forgotten after retention.idempotency_keys_h"
    );
    metrics::describe_counter!("ringi_busy_total", "503 busy by reason: queue, lock_timeout, deadlock, unavailable");
    metrics::describe_histogram!(
        "ringi_lock_wait_seconds",
        "Time until a lock was held, by what: member, request, both of them in one statement, period, charge, lease"
    );
    metrics::describe_counter!("ringi_exports_refused_total", "429 since an organization's exports are under way");
    metrics::describe_counter!("ringi_exports_broken_total", "Exports that were broken off");
    metrics::describe_counter!("ringi_history_accesses_total", "Looks at the history by result of recording them");
    metrics::describe_counter!("ringi_outcome_unknown_total", "Connections lost during COMMIT");
    metrics::describe_counter!("ringi_transaction_retries_total", "Transactions run again after a deadlock");
    metrics::describe_counter!("ringi_token_refusals_total", "Refused tokens by reason");
    metrics::describe_counter!(
        "ringi_jwks_refreshes_total",
        "Fetches of an issuer's keys by result: ok, unreachable, status, too_large, malformed, no_usable_key"
    );
    metrics::describe_gauge!("ringi_jwks_keys", "Usable keys by issuer");
    metrics::describe_gauge!("ringi_jwks_waiting", "Requests that wait for an issuer's keys");
    metrics::describe_counter!("ringi_panics_total", "Panics that became an internal error");
    metrics::describe_gauge!("ringi_pool_connections", "Database connections by pool and state");
    metrics::describe_gauge!("ringi_writes_present", "Writes inside or waiting");
    metrics::describe_counter!(
        "ringi_closings_total",
        "Runs that closed a month by result: closed, blocked, stopped, lost, failed"
    );
    metrics::describe_counter!("ringi_closing_retries_total", "Steps of closings that were tried again");
    metrics::describe_histogram!("ringi_closing_step_seconds", "Time for which a step of a closing held its locks");
    metrics::describe_gauge!("ringi_leases_held", "Leases that this process holds");
    metrics::describe_counter!("ringi_lease_beats_late_total", "Heartbeats sent later than one and a half intervals");
    metrics::describe_counter!("ringi_lease_beats_failed_total", "Heartbeats that the database did not answer");
    metrics::describe_counter!("ringi_lease_takeovers_total", "Leases taken from a silent holder, by kind");
    metrics::describe_counter!("ringi_leases_lost_total", "Leases lost by reason: taken, silence");
    metrics::describe_counter!("ringi_lease_saves_refused_total", "Saves refused, the lease being another's, by kind");
    metrics::describe_gauge!("ringi_jobs", "Jobs by state: waiting, running, failed");
    metrics::describe_gauge!("ringi_jobs_oldest_seconds", "For how long the oldest job is in its state, by state");
    metrics::describe_counter!(
        "ringi_jobs_attempts_total",
        "Attempts by outcome: succeeded, failed (tried again), refused (not tried again), stopped, lost"
    );
    metrics::describe_gauge!("ringi_relaying", "1 where this process relays events, else 0");
    metrics::describe_gauge!("ringi_events_oldest_seconds", "For how long the oldest event waits to be relayed");
    metrics::describe_counter!("ringi_events_numbered_total", "Events relayed from the outbox to the log");
    metrics::describe_histogram!(
        "ringi_event_waited_seconds",
        "Time from a change to its event's place in the log: of the oldest event of each step"
    );
    metrics::describe_gauge!("ringi_event_listeners", "Those who listen to this process");
    metrics::describe_counter!("ringi_event_listeners_refused_total", "Refused listeners by reason: user, process");
    metrics::describe_counter!("ringi_event_listeners_let_go_total", "Listeners let go by reason: slow, membership");
    metrics::describe_histogram!("ringi_job_call_seconds", "Time that the outside system took, in seconds");
    metrics::describe_counter!(
        "ringi_mails_total",
        "Attempts to send a mail, by kind and result: sent, later (tried again), refused (not tried again), dropped (wanted no more)"
    );
    metrics::describe_gauge!(
        "ringi_mail_oldest_due_seconds",
        "For how long the oldest mail that is due waits to be sent"
    );
    metrics::describe_counter!(
        "ringi_webhook_deliveries_total",
        "Attempts to deliver to a webhook by result: delivered, failed, throttled, gone"
    );
    metrics::describe_histogram!("ringi_webhook_delivery_seconds", "Time that a webhook's receiver took, in seconds");
    metrics::describe_gauge!("ringi_webhook_endpoints", "Webhooks by state: enabled, failing, disabled");
    metrics::describe_gauge!(
        "ringi_webhook_oldest_undelivered_seconds",
        "For how long the oldest event waits that a webhook has not been told, by the webhook's state"
    );
    metrics::describe_counter!(
        "ringi_webhook_saves_refused_total",
        "Deliveries not noted, since the relay was another's"
    );
    metrics::describe_counter!(
        "ringi_webhook_saves_overruled_total",
        "Deliveries not noted, since a person changed the webhook meanwhile"
    );
    Ok(handle)
}
