//! The lock files. All are `flock` locks, which the kernel drops with the last copy of the descriptor,
//! whatever killed the process; nothing has to be cleaned up after a kill -9.

use std::fs::{File, OpenOptions, TryLockError};
use std::io;
use std::os::unix::fs::OpenOptionsExt;
use std::path::Path;

/// Opens a lock file, and creates it if needed. The descriptor is not inherited by programs started later.
pub(super) fn open(path: &Path) -> io::Result<File> {
    OpenOptions::new().read(true).write(true).create(true).truncate(false).mode(0o600).open(path)
}

/// Tries to take the lock alone; false when someone else has it.
pub(super) fn try_alone(file: &File) -> io::Result<bool> {
    taken(file.try_lock())
}

/// Tries to take the lock together with others; false when someone has it alone.
pub(super) fn try_together(file: &File) -> io::Result<bool> {
    taken(file.try_lock_shared())
}

/// Whether some process holds this lock alone. Looks with a shared lock of a moment, so that two who look
/// don't see each other.
pub(super) fn is_held_alone(path: &Path) -> io::Result<bool> {
    Ok(!try_together(&open(path)?)?)
}

fn taken(result: Result<(), TryLockError>) -> io::Result<bool> {
    match result {
        Ok(()) => Ok(true),
        Err(TryLockError::WouldBlock) => Ok(false),
        Err(TryLockError::Error(error)) => Err(error),
    }
}
