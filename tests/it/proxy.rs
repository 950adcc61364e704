//! The link between Ringi and its database, with a hand on it: it can be cut, frozen, slowed down, and cut at the very
//! moment of a COMMIT.

use sqlx::postgres::PgConnectOptions;
use std::fs;
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::{UnixListener, UnixStream};
use tokio::sync::watch;

/// What is to happen to the next COMMIT that comes by.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Fault {
    /// It is never delivered: the connection is cut first.
    BeforeCommit,
    /// The database does it, and its answer is never delivered.
    AfterCommit,
}

#[derive(Clone, Copy, Debug, Default)]
struct Link {
    /// Counts the cuts: who sees it change lets go of both ends.
    cuts: usize,
    frozen: bool,
    /// Before each delivery of an answer.
    delay: Duration,
}

struct Shared {
    server: PathBuf,
    link: watch::Sender<Link>,
    fault: Mutex<Option<Fault>>,
    connections: AtomicUsize,
}

/// A Unix socket that leads to the server's.
pub struct Proxy {
    dir: PathBuf,
    options: PgConnectOptions,
    shared: Arc<Shared>,
    accepting: tokio::task::JoinHandle<()>,
}

impl Proxy {
    /// In front of the server that these options reach by its Unix socket.
    pub fn before(options: &PgConnectOptions) -> Self {
        static COUNT: AtomicUsize = AtomicUsize::new(0);
        let count = COUNT.fetch_add(1, Ordering::Relaxed);
        // Not below the target folder: a socket's path is at most 107 bytes long.
        let dir = std::env::temp_dir().join(format!("ringi-proxy-{}-{count}", std::process::id()));
        fs::create_dir(&dir).unwrap();
        fs::set_permissions(&dir, fs::Permissions::from_mode(0o700)).unwrap();
        let file = format!(".s.PGSQL.{}", options.get_port());
        let server = options.get_socket().expect("a server on a Unix socket").join(&file);
        let shared = Arc::new(Shared {
            server,
            link: watch::channel(Link::default()).0,
            fault: Mutex::new(None),
            connections: AtomicUsize::new(0),
        });
        let listener = UnixListener::bind(dir.join(&file)).unwrap();
        let accepting = tokio::spawn({
            let shared = Arc::clone(&shared);
            async move {
                while let Ok((client, _)) = listener.accept().await {
                    tokio::spawn(Arc::clone(&shared).carry(client));
                }
            }
        });
        Self { options: options.clone().socket(&dir), dir, shared, accepting }
    }

    /// The same database, by way of this proxy.
    pub fn options(&self) -> &PgConnectOptions {
        &self.options
    }

    /// How many connections it carries.
    pub fn connections(&self) -> usize {
        self.shared.connections.load(Ordering::SeqCst)
    }

    /// Cuts all connections that there are; new ones are let through.
    pub fn cut(&self) {
        self.shared.link.send_modify(|link| link.cuts += 1);
    }

    /// From now on nothing comes through, and nothing is cut.
    pub fn freeze(&self) {
        self.shared.link.send_modify(|link| link.frozen = true);
    }

    pub fn thaw(&self) {
        self.shared.link.send_modify(|link| link.frozen = false);
    }

    /// Each answer comes this much later.
    pub fn delay(&self, by: Duration) {
        self.shared.link.send_modify(|link| link.delay = by);
    }

    /// Waits for the next COMMIT with this fault.
    pub fn arm(&self, fault: Fault) {
        *self.shared.fault.lock().unwrap() = Some(fault);
    }

    /// Whether the armed fault is still to come.
    pub fn is_armed(&self) -> bool {
        self.shared.fault.lock().unwrap().is_some()
    }
}

impl Drop for Proxy {
    fn drop(&mut self) {
        self.accepting.abort();
        let _ = fs::remove_dir_all(&self.dir);
    }
}

impl Shared {
    async fn carry(self: Arc<Self>, client: UnixStream) {
        self.connections.fetch_add(1, Ordering::SeqCst);
        let server = connect(&self.server).await;
        if let Ok(server) = server {
            // An error is an end that went away: so does the other.
            let _ = self.between(client, server).await;
        }
        self.connections.fetch_sub(1, Ordering::SeqCst);
    }

    async fn between(&self, mut client: UnixStream, mut server: UnixStream) -> std::io::Result<()> {
        let mut link = self.link.subscribe();
        let cuts = link.borrow().cuts;
        let (mut question, mut reply) = (vec![0; 65_536], vec![0; 65_536]);
        loop {
            let now = *link.borrow_and_update();
            if now.cuts != cuts {
                return Ok(());
            }
            tokio::select! {
                biased;
                changed = link.changed() => changed.map_err(std::io::Error::other)?,
                read = client.read(&mut question), if !now.frozen => {
                    let message = &question[..read?];
                    if message.is_empty() {
                        return Ok(());
                    }
                    match self.fault_of(message) {
                        None => server.write_all(message).await?,
                        Some(Fault::BeforeCommit) => return Ok(()),
                        Some(Fault::AfterCommit) => {
                            server.write_all(message).await?;
                            // Its answer says that it is done.
                            return server.read(&mut reply).await.map(drop);
                        }
                    }
                }
                read = server.read(&mut reply), if !now.frozen => {
                    let message = &reply[..read?];
                    if message.is_empty() {
                        return Ok(());
                    }
                    tokio::time::sleep(now.delay).await;
                    client.write_all(message).await?;
                }
            }
        }
    }

    /// The armed fault, once, if this message is the one that it waits for.
    fn fault_of(&self, message: &[u8]) -> Option<Fault> {
        // A simple query: its type, its length, and the text with a zero after it.
        let is_commit = message.first() == Some(&b'Q') && message.ends_with(b"COMMIT\0");
        if is_commit { self.fault.lock().unwrap().take() } else { None }
    }
}

async fn connect(server: &Path) -> std::io::Result<UnixStream> {
    UnixStream::connect(server).await
}
