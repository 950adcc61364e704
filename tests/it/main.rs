//! The integration tests: one binary, one PostgreSQL, a database for each test.
#![allow(missing_docs, unreachable_pub, dead_code, reason = "tests")]
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::indexing_slicing,
    clippy::as_conversions,
    clippy::panic,
    clippy::print_stdout,
    clippy::print_stderr,
    clippy::missing_panics_doc,
    clippy::similar_names,
    clippy::format_push_string,
    clippy::duration_suboptimal_units,
    clippy::needless_pass_by_value,
    clippy::disallowed_methods,
    reason = "a test says what is wrong by failing"
)]

mod at_once;
mod auth_http;
mod backup;
mod caching;
mod charge_approvals;
mod charge_walls;
mod charges;
mod closing;
mod closing_online;
mod closing_process;
mod closing_rows;
mod contract;
mod cut;
mod database_walls;
mod deliveries;
mod eligibility;
mod embedded;
mod events;
mod exports;
mod faulty_store;
mod figures;
mod hardening;
mod harness;
mod idempotency;
mod identity;
mod input;
mod inspection;
mod invitations;
mod jwks;
mod key_server;
mod lease;
mod life;
mod limits;
mod lists;
mod live;
mod logs;
mod mail;
mod mail_faults;
mod many;
mod members;
mod migrations;
mod model;
mod outside;
mod page;
mod plans;
mod post_office;
mod pressure;
mod problems;
mod process;
mod processing;
mod processing_faults;
mod proxy;
mod races;
mod rebinding;
mod receiver;
mod restart;
mod retries;
mod ringi;
mod round_trips;
mod rules;
mod torture;
mod upgrade;
mod verify;
mod verify_cli;
mod visibility;
mod webhooks;
mod wire;

#[path = "../../bench/trips.rs"]
mod trips;
