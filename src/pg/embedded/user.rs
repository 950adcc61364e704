//! The side of those who use the server: join it, start it, leave it.

use std::fmt::Write as _;
use std::fs::File;
use std::io;
use std::path::{Path, PathBuf};
use std::time::Duration;

use sqlx::postgres::PgConnectOptions;
use sqlx::{AssertSqlSafe, ConnectOptions as _, Connection as _};
use tokio::time::{Instant, sleep};

use super::bring_up::{BringUp, LOOK_EVERY, blocking, connect_options};
use super::layout::{Layout, PORT};
use super::{EmbeddedConfig, EmbeddedError, SUPERUSER, locks};

/// Others are believed to use the server when they were seen this often in a row; those who only look at the
/// lock have it for a moment, too.
const OTHERS_SEEN: u32 = 3;

/// A share in the private server. While it lives, the server runs; dropping it leaves.
#[derive(Debug)]
pub struct EmbeddedPg {
    config: EmbeddedConfig,
    layout: Layout,
    /// Locked together with the other users. Declared for its drop.
    _share: File,
}

/// How leaving ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Left {
    /// This was the last user, and the server is stopped.
    Stopped,
    /// Others still use the server.
    OthersRemain,
    /// The server was still stopping when the time was up.
    StillStopping,
}

/// Joins the private server of this folder, or starts it, and returns when it answers.
///
/// # Errors
/// When the folder or the PostgreSQL programs can't be used, or the server is not ready within
/// [`EmbeddedConfig::start_timeout`]; each error says what to do, and quotes the server's log where that helps.
pub async fn start(config: EmbeddedConfig) -> Result<EmbeddedPg, EmbeddedError> {
    let deadline = Instant::now() + config.start_timeout;
    let (config, layout) = blocking(move || {
        let layout = Layout::prepare(&config)?;
        Ok((config, layout))
    })
    .await?;
    let path = layout.users_lock();
    let share = locks::open(&path).map_err(EmbeddedError::io("open", &path))?;
    while !locks::try_together(&share).map_err(EmbeddedError::io("lock", &path))? {
        if Instant::now() > deadline {
            return Err(EmbeddedError::StillStopping {
                waited: config.start_timeout,
                log: layout.log(),
                dir: layout.dir,
            });
        }
        sleep(LOOK_EVERY).await;
    }
    let server = EmbeddedPg { config, layout, _share: share };
    server.bring_up(deadline).await?;
    Ok(server)
}

impl EmbeddedPg {
    /// How to connect to a database of this server, as its superuser.
    #[must_use]
    pub fn connect_options(&self, database: &str) -> PgConnectOptions {
        connect_options(&self.layout, database)
    }

    /// The same for people and other programs: a URL that `psql` and sqlx understand.
    #[must_use]
    pub fn url(&self, database: &str) -> String {
        format!(
            "postgres:///{}?host={}&port={PORT}&user={SUPERUSER}",
            percent_encoded(database),
            percent_encoded(&self.layout.socket_dir.to_string_lossy()),
        )
    }

    /// The private folder; not the configured one if that was out of reach for the server's user.
    #[must_use]
    pub fn dir(&self) -> &Path {
        &self.layout.dir
    }

    /// PostgreSQL's data folder.
    #[must_use]
    pub fn data_dir(&self) -> PathBuf {
        self.layout.data()
    }

    /// The folder of the socket.
    #[must_use]
    pub fn socket_dir(&self) -> &Path {
        &self.layout.socket_dir
    }

    /// The log of server and supervisor.
    #[must_use]
    pub fn log_file(&self) -> PathBuf {
        self.layout.log()
    }

    /// Creates the database unless it exists; true when it was created. Several may ask at once.
    ///
    /// # Errors
    /// When the server can't be reached or refuses.
    pub async fn ensure_database(&self, name: &str) -> Result<bool, EmbeddedError> {
        let mut connection = self.connect_options("postgres").connect().await?;
        let exists: bool = sqlx::query_scalar("SELECT EXISTS (SELECT FROM pg_database WHERE datname = $1)")
            .bind(name)
            .fetch_one(&mut connection)
            .await?;
        let created = if exists {
            false
        } else {
            let create = format!("CREATE DATABASE \"{}\"", name.replace('"', "\"\""));
            match sqlx::raw_sql(AssertSqlSafe(create)).execute(&mut connection).await {
                Ok(_) => true,
                // Somebody else was faster: duplicate_database, or its unique index.
                Err(sqlx::Error::Database(error)) if matches!(error.code().as_deref(), Some("42P04" | "23505")) => {
                    false
                }
                Err(error) => return Err(error.into()),
            }
        };
        // All is done; an error of the farewell changes nothing.
        let _ = connection.close().await;
        Ok(created)
    }

    /// Makes sure that the server runs, also after its supervisor was killed or gave up. Quick when it does.
    ///
    /// # Errors
    /// As [`start`].
    pub async fn ensure_running(&self) -> Result<(), EmbeddedError> {
        self.bring_up(Instant::now() + self.config.start_timeout).await
    }

    async fn bring_up(&self, deadline: Instant) -> Result<(), EmbeddedError> {
        let (config, layout) = (&self.config, &self.layout);
        BringUp { config, layout }.run(deadline).await
    }

    /// Leaves; if this was the last user, the server is stopped meanwhile. Dropping does the same.
    pub fn leave(self) {
        drop(self);
    }

    /// Leaves, and waits until the server is stopped, unless others use it.
    ///
    /// # Errors
    /// When the lock files can't be read any more.
    pub async fn leave_and_wait(self, patience: Duration) -> Result<Left, EmbeddedError> {
        let layout = self.layout.clone();
        drop(self);
        let (users, supervisor) = (layout.users_lock(), layout.supervisor_lock());
        let deadline = Instant::now() + patience;
        let mut others_seen = 0;
        loop {
            if !locks::is_held_alone(&supervisor).map_err(EmbeddedError::io("lock", &supervisor))? {
                return Ok(Left::Stopped);
            }
            if is_held_together(&users).map_err(EmbeddedError::io("lock", &users))? {
                others_seen += 1;
                if others_seen == OTHERS_SEEN {
                    return Ok(Left::OthersRemain);
                }
            } else {
                others_seen = 0;
            }
            if Instant::now() > deadline {
                return Ok(Left::StillStopping);
            }
            sleep(LOOK_EVERY).await;
        }
    }
}

/// Whether some process holds this lock together with others.
fn is_held_together(path: &Path) -> io::Result<bool> {
    Ok(!locks::try_alone(&locks::open(path)?)? && locks::try_together(&locks::open(path)?)?)
}

fn percent_encoded(text: &str) -> String {
    text.bytes().fold(String::new(), |mut out, byte| {
        if byte.is_ascii_alphanumeric() || b"-._~".contains(&byte) {
            out.push(char::from(byte));
        } else {
            let _ = write!(out, "%{byte:02X}");
        }
        out
    })
}

#[cfg(test)]
mod tests {
    use super::percent_encoded;

    #[test]
    fn encodes_what_a_url_would_split() {
        assert_eq!(percent_encoded("/a b/ü?&"), "%2Fa%20b%2F%C3%BC%3F%26");
    }
}
