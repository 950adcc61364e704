//! What is asked of the operating system for each connection.

use actix_web::dev::Extensions;
use actix_web::rt::net::TcpStream;
use std::any::Any;
use std::time::Duration;

/// Ends connections whose client takes nothing of what is there for it.
///
/// actix has no deadline for writing: an answer waits in memory for as long as its client leaves the window shut. The
/// operating system knows when something was last acknowledged, also while we are not looking, and ends the connection
/// (`TCP_USER_TIMEOUT`, RFC 5482). Idle connections have nothing unacknowledged and stay.
pub(super) fn end_unread(after: Duration) -> impl Fn(&dyn Any, &mut Extensions) + Send + Sync + 'static {
    let milliseconds = u32::try_from(after.as_millis()).unwrap_or(u32::MAX);
    move |connection, _| {
        let Some(stream) = connection.downcast_ref::<TcpStream>() else { return };
        if let Err(error) = rustix::net::sockopt::set_tcp_user_timeout(stream, milliseconds) {
            tracing::debug!(%error, "a connection without a limit for reading nothing");
        }
    }
}
