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
    clippy::disallowed_methods,
    reason = "a test says what is wrong by failing"
)]

mod harness;

mod life;
