//! **Ringi** (稟議): an approval-workflow backend whose decisions hold when two people decide at once.
//!
//! # The map
//!
//! | where | what | knows |
//! |---|---|---|
//! | [`domain`] | the rules: state machine, visibility, content, hash chain | nothing but plain values |
//! | [`transaction`] | what use cases share: locked values, retries, admission, idempotency | `domain` |
//! | [`lease`] | the right to do slow work: one holder, a heartbeat, a save that only the holder can make | `domain`, `transaction` |
//! | [`outbox`] | events, put in order once, and those who are told of them | `domain`, `transaction`, `lease` |
//! | [`live`] | what open pages hear, as it happens | `domain`, `transaction` |
//! | [`approvals`] | the use cases on requests; the write transaction on one screen | `domain`, `transaction` |
//! | [`members`] | people and their rights | `domain`, `transaction` |
//! | [`closing`] | charges, months, statements, and the run that closes a month | `domain`, `transaction` |
//! | [`identity`] | from a provider's subject to a user | `domain`, `transaction` |
//! | [`inspection`] | the history for auditors: list, export, the trace of who looked, verification, checkpoints | `domain`, `transaction` |
//! | [`outbound`] | what all calls to outside systems have in common | `domain`, `reqwest` |
//! | [`processing`] | what follows an approval: jobs, the worker, the way to the outside system | `domain`, `transaction`, `lease`, `outbound`, `reqwest` |
//! | [`webhooks`] | the addresses of programs that are told of events, and the telling | `domain`, `transaction`, `lease`, `outbox`, `outbound`, `reqwest` |
//! | [`mail`] | mail to people: their wishes about it, and the post that sends it | `domain`, `transaction`, `lease`, `outbox`, `lettre` |
//! | [`pg`] | all the SQL; the lock order, written down once | all of the above, `sqlx` |
//! | [`tokens`] | who signed a token and what it proves; the keys of identity providers | `domain`, `outbound`, `jsonwebtoken`, `reqwest` |
//! | [`http`] | all the HTTP; the route table on one screen | all of the above but `pg`, `actix-web` |
//! | [`app`] | puts the parts together | everything |
//!
//! Where to look first: the state machine is [`domain::request::transition`], the order of checks
//! [`domain::request::decide`], the lock order the head of [`pg`], the write transaction
//! [`approvals::service::Approvals::act`], the routes [`http::routes`], the error codes [`http::problem`],
//! what a verification checks [`domain::verify`].
//!
//! A test holds the directions: no SQL outside `pg`, no HTTP outside `http`, nothing async in `domain`, and no use
//! case imports another.

pub mod app;
pub mod approvals;
pub mod cli;
pub mod closing;
pub mod config;
pub mod demo;
pub mod doctor;
pub mod domain;
pub mod http;
pub mod identity;
pub mod inspection;
pub mod lease;
pub mod lifecycle;
pub mod live;
pub mod mail;
pub mod members;
pub mod outbound;
pub mod outbox;
pub mod pg;
pub mod processing;
pub mod telemetry;
pub mod tokens;
pub mod transaction;
pub mod webhooks;
