//! SQLSTATE to [`StoreError`]: one table.

use crate::transaction::StoreError;
use sqlx::Error;
use std::future::Future;
use std::time::Duration;

/// What an error of a statement means for its session. Nothing was saved.
pub(super) fn store_error(error: Error) -> StoreError {
    if let Error::Database(database) = &error {
        let code = database.code().unwrap_or_default();
        return match &*code {
            // deadlock_detected, serialization_failure
            "40P01" | "40001" => StoreError::Deadlock,
            // lock_not_available
            "55P03" => StoreError::LockTimeout,
            // query_canceled (statement_timeout), idle_in_transaction_session_timeout, admin_shutdown,
            // crash_shutdown, cannot_connect_now, idle_session_timeout, and the classes of lost connections and of
            // missing resources
            "57014" | "25P03" | "57P01" | "57P02" | "57P03" | "57P05" => StoreError::Unavailable(error.to_string()),
            code if code.starts_with("08") || code.starts_with("53") => StoreError::Unavailable(error.to_string()),
            _ => StoreError::Internal(error.into()),
        };
    }
    if is_lost_connection(&error) || matches!(error, Error::Tls(_)) {
        return StoreError::Unavailable(error.to_string());
    }
    StoreError::Internal(error.into())
}

/// What an error of COMMIT means: if the server itself said no, nothing was saved; if the connection was lost,
/// nobody knows.
pub(super) fn commit_error(error: Error) -> StoreError {
    let shut_down = matches!(&error, Error::Database(database)
        if matches!(database.code().as_deref(), Some("57P01" | "57P02" | "57P03")));
    if shut_down || is_lost_connection(&error) {
        return StoreError::OutcomeUnknown(error.to_string());
    }
    store_error(error)
}

/// Waits for an answer no longer than `limit`. The server ends its statements by itself; but of a network that went
/// silent, or a server that froze, there is no word at all. Such a connection is as good as lost.
pub(super) async fn within<T>(limit: Duration, answer: impl Future<Output = Result<T, Error>>) -> Result<T, Error> {
    match tokio::time::timeout(limit, answer).await {
        Ok(answered) => answered,
        Err(_) => Err(Error::Io(std::io::Error::new(std::io::ErrorKind::TimedOut, "the database is silent"))),
    }
}

/// True when the connection is gone or unusable.
pub(super) fn is_lost_connection(error: &Error) -> bool {
    match error {
        Error::Io(_) | Error::Protocol(_) | Error::WorkerCrashed => true,
        Error::Database(database) => {
            matches!(database.code().as_deref(), Some("57P01" | "57P02" | "57P05" | "25P03" | "08006" | "08003"))
        }
        _ => false,
    }
}

/// A stored value that this program can't have written.
pub(super) fn corrupt(what: &'static str) -> StoreError {
    StoreError::Internal(format!("the database holds an impossible value: {what}").into())
}
