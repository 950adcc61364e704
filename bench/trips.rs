//! Counts round trips on the wire: stands between a program and PostgreSQL's socket, and counts how often the program
//! asks after it was answered. That is what a network would add, however many messages travel together.

use std::io;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{UnixListener, UnixStream};

/// PostgreSQL's name for its socket.
const SOCKET: &str = ".s.PGSQL.5432";

/// The counter of each connection.
type Counts = Arc<Mutex<Vec<u64>>>;

/// A socket that counts.
pub struct Wire {
    dir: PathBuf,
    counts: Counts,
    accepting: tokio::task::JoinHandle<()>,
}

impl Wire {
    /// Listens in a folder of its own, in front of the server in `server_dir`.
    pub fn start(server_dir: &Path) -> io::Result<Self> {
        static NEXT: std::sync::atomic::AtomicU32 = std::sync::atomic::AtomicU32::new(0);
        let n = NEXT.fetch_add(1, std::sync::atomic::Ordering::Relaxed);
        let dir = std::env::temp_dir().join(format!("ringi-wire-{}-{n}", std::process::id()));
        std::fs::create_dir_all(&dir)?;
        let listener = UnixListener::bind(dir.join(SOCKET))?;
        let server = server_dir.join(SOCKET);
        let counts = Counts::default();
        let accepting = tokio::spawn({
            let counts = Arc::clone(&counts);
            async move {
                while let Ok((client, _)) = listener.accept().await {
                    let Ok(server) = UnixStream::connect(&server).await else { continue };
                    let id = {
                        let mut all = counts.lock().unwrap_or_else(PoisonError::into_inner);
                        all.push(0);
                        all.len() - 1
                    };
                    tokio::spawn(relay(client, server, Arc::clone(&counts), id));
                }
            }
        });
        Ok(Self { dir, counts, accepting })
    }

    /// The folder to connect to in place of the server's.
    pub fn dir(&self) -> &Path {
        &self.dir
    }

    /// The round trips of each connection so far.
    pub fn trips(&self) -> Vec<u64> {
        self.counts.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// The most that any one connection made since `before`.
    pub fn since(&self, before: &[u64]) -> u64 {
        let now = self.trips();
        now.iter().enumerate().map(|(i, n)| n - before.get(i).copied().unwrap_or(0)).max().unwrap_or(0)
    }
}

impl Drop for Wire {
    fn drop(&mut self) {
        self.accepting.abort();
        drop(std::fs::remove_dir_all(&self.dir));
    }
}

async fn relay(client: UnixStream, server: UnixStream, counts: Counts, id: usize) -> io::Result<()> {
    let (mut client, mut server) = (client, server);
    let (mut up, mut down) = (vec![0; 64 * 1024], vec![0; 64 * 1024]);
    let mut answered = true;
    loop {
        tokio::select! {
            read = client.read(&mut up) => {
                let n = read?;
                if n == 0 { return Ok(()) }
                if answered {
                    answered = false;
                    if let Some(count) = counts.lock().unwrap_or_else(PoisonError::into_inner).get_mut(id) {
                        *count += 1;
                    }
                }
                server.write_all(&up[..n]).await?;
            }
            read = server.read(&mut down) => {
                let n = read?;
                if n == 0 { return Ok(()) }
                answered = true;
                client.write_all(&down[..n]).await?;
            }
        }
    }
}
