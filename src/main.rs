//! The `ringi` program: see [`ringi::cli`].

use std::process::ExitCode;

/// Requests are many small pieces of memory, freed by another thread than took them.
#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

fn main() -> ExitCode {
    // The supervisor of our own PostgreSQL must be a single thread from its first instant on: the server's death
    // signal hangs on the thread that started it.
    let mut arguments = std::env::args_os().skip(1);
    if arguments.next().is_some_and(|first| first == ringi::pg::embedded::SUPERVISOR_COMMAND) {
        return ringi::pg::embedded::supervise(arguments);
    }
    let runtime = tokio::runtime::Builder::new_multi_thread().enable_all().build();
    match runtime {
        Ok(runtime) => runtime.block_on(ringi::cli::run()),
        Err(_) => ExitCode::FAILURE,
    }
}
