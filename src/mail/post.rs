//! The post: turns events into mails, and sends what is due. Runs in the one process that is the relay.
//!
//! Two loops side by side, so that a mail server that hangs keeps nobody's events from being sorted. Sending goes a few
//! mails at a time through the organizations, so that one with thousands keeps no other waiting. While the server is
//! away, one mail at a time asks whether it is back; the others are not touched, and digests go on growing.
//!
//! A mail is sent at least once: a process that dies between the server's yes and the note of it sends the mail again,
//! under the same Message-ID.

use super::compose::Writer;
use super::smtp::{Failure, Line, MailServer, Sender};
use super::store::{Attempt, Begun, Due, Gathering, Mailroom};
use crate::domain::backoff::Backoff;
use crate::outbox::{Consumer, Term};
use crate::transaction::StoreError;
use futures_util::future::join_all;
use std::collections::VecDeque;
use std::future::Future;
use std::pin::Pin;
use std::sync::Mutex;
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::Duration;
use tokio::sync::Notify;
use tokio::time::sleep;

/// How many organizations are sorted before it is looked again who is behind.
const BEHIND: i64 = 100;
/// After a failure of the database.
const PAUSE: Duration = Duration::from_secs(1);
/// News within this time is one piece of news.
const BURST: Duration = Duration::from_millis(20);
/// How often the note that a mail was sent is tried to be written, with a pause that doubles.
const NOTES: u32 = 6;

/// What sending needs.
#[derive(Clone, Debug)]
pub struct Sending {
    /// Who takes the mails.
    pub server: MailServer,
    /// Who they are from.
    pub sender: Sender,
    /// How they are written.
    pub writer: Writer,
    /// How long digests wait for more.
    pub gathering: Gathering,
    /// The pauses after failures: of one mail, and of the server.
    pub backoff: Backoff,
    /// How many mails are on their way at once.
    pub lanes: u32,
    /// How often it is looked for mails that are due when nobody says so.
    pub sweep: Duration,
}

/// The post.
#[derive(Debug)]
pub struct Post<M> {
    room: M,
    /// `None`: mail is off, which is noted, so that what happens meanwhile is never mailed.
    sending: Option<Sending>,
    /// Rings when there may be something to send.
    bell: Notify,
}

impl<M: Mailroom> Consumer for Post<M> {
    fn run(&self, term: Term) -> Pin<Box<dyn Future<Output = ()> + Send + '_>> {
        Box::pin(self.work(term))
    }
}

impl<M: Mailroom> Post<M> {
    /// A post that sends, or, with `None`, one that only says that mail is off.
    #[must_use]
    pub fn new(room: M, sending: Option<Sending>) -> Self {
        Self { room, sending, bell: Notify::new() }
    }

    async fn work(&self, term: Term) {
        while !term.over.is_cancelled() {
            let noted = match self.sending {
                Some(_) => self.room.switch_on(&term.ticket).await,
                None => self.room.switch_off(&term.ticket).await,
            };
            match (noted, &self.sending) {
                (Ok(true), Some(sending)) => {
                    tokio::join!(self.sort(term.clone(), sending), self.send(&term, sending));
                    return;
                }
                (Ok(_), _) => return term.over.cancelled().await,
                (Err(error), _) => self.failed(&term, &error).await,
            }
        }
    }

    async fn failed(&self, term: &Term, error: &StoreError) {
        tracing::warn!(%error, "mail: the database does not answer");
        tokio::select! {
            () = term.over.cancelled() => {}
            () = sleep(PAUSE) => {}
        }
    }

    async fn sort(&self, mut term: Term, sending: &Sending) {
        while !term.over.is_cancelled() {
            match self.sort_all(&term, sending).await {
                Ok(()) => {
                    self.bell.notify_one();
                    term.until_news(sending.sweep).await;
                    sleep(BURST).await;
                }
                Err(error) => self.failed(&term, &error).await,
            }
        }
    }

    async fn sort_all(&self, term: &Term, sending: &Sending) -> Result<(), StoreError> {
        loop {
            let behind = self.room.behind(BEHIND).await?;
            for organization in &behind {
                if term.over.is_cancelled() {
                    return Ok(());
                }
                // One part of each in turn: who has many events keeps no other waiting.
                if self.room.sort(&term.ticket, *organization, sending.gathering).await?.is_none() {
                    return Ok(());
                }
            }
            if behind.is_empty() {
                return Ok(());
            }
        }
    }

    async fn send(&self, term: &Term, sending: &Sending) {
        let round = Round { term, sending, room: &self.room, down: AtomicU32::new(0), queue: Mutex::default() };
        while !term.over.is_cancelled() {
            let due = match self.room.due().await {
                Ok((due, waited)) => {
                    metrics::gauge!("ringi_mail_oldest_due_seconds").set(waited.as_secs_f64());
                    due
                }
                Err(error) => {
                    self.failed(term, &error).await;
                    continue;
                }
            };
            let pause = if due.is_empty() { Some(sending.sweep) } else { round.send(due).await };
            if let Some(pause) = pause {
                tokio::select! {
                    () = term.over.cancelled() => {}
                    // News is no reason to ask again a server that is away.
                    () = self.bell.notified(), if round.down.load(Ordering::Relaxed) == 0 => {}
                    () = sleep(pause) => {}
                }
            }
        }
    }
}

/// What is sent between two looks at what is due.
struct Round<'a, M> {
    term: &'a Term,
    sending: &'a Sending,
    room: &'a M,
    /// How often in a row the server failed.
    down: AtomicU32,
    queue: Mutex<VecDeque<Due>>,
}

impl<M: Mailroom> Round<'_, M> {
    /// Sends what is due; `Some`: how long the server wants to be left alone.
    async fn send(&self, due: Vec<Due>) -> Option<Duration> {
        let lanes = if self.down.load(Ordering::Relaxed) == 0 { self.sending.lanes } else { 1 };
        if let Ok(mut queue) = self.queue.lock() {
            *queue = due.into();
        }
        join_all((0..lanes).map(|_| self.lane())).await;
        let failures = self.down.load(Ordering::Relaxed);
        (failures > 0).then(|| self.sending.backoff.pause(failures, fastrand::f64()))
    }

    async fn lane(&self) {
        let mut line = None;
        while let Some(due) = self.next() {
            let before = self.down.load(Ordering::Relaxed);
            self.deliver(due, &mut line, before).await;
            if self.down.load(Ordering::Relaxed) > before {
                break;
            }
        }
        self.sending.server.hang_up(line).await;
    }

    fn next(&self) -> Option<Due> {
        if self.term.over.is_cancelled() {
            return None;
        }
        self.queue.lock().ok()?.pop_front()
    }

    /// `before`: how often in a row the server had failed when this one began.
    async fn deliver(&self, due: Due, line: &mut Line, before: u32) {
        let Sending { server, sender, writer, backoff, .. } = self.sending;
        // Connecting, talking, and the note of it; then it counts as lost, and is sent again.
        let lost_after = server.timeout * 3 + Duration::from_secs(10);
        let letter = match self.room.begin(&self.term.ticket, due, lost_after).await {
            Ok(Begun::Letter(letter)) => letter,
            Ok(Begun::Dropped(kind)) => return count(kind.as_str(), "dropped"),
            Ok(Begun::Elsewhere | Begun::Lost) => return,
            Err(error) => return tracing::warn!(%error, "mail: the database does not answer"),
        };
        let kind = letter.content.kind().as_str();
        let sent = match sender.message(&letter, &writer.write(&letter)) {
            Ok(message) => server.send(line, &message).await,
            Err(sentence) => Err(Failure::Refused(sentence)),
        };
        let (organization_id, id, attempts) = (letter.organization_id, letter.id, letter.attempts);
        // The address and the words stay out of the log.
        let (attempt, result) = match sent {
            Ok(()) => {
                self.down.store(0, Ordering::Relaxed);
                (Attempt::Sent, "sent")
            }
            Err(Failure::Refused(error)) => {
                tracing::warn!(%organization_id, %id, kind, error, "a mail was refused for good");
                (Attempt::Refused, "refused")
            }
            Err(failure) => {
                let (Failure::Server(error) | Failure::Later(error) | Failure::Refused(error)) = &failure;
                let server = matches!(failure, Failure::Server(_));
                if server {
                    // Of those that fail side by side, one counts.
                    self.down.fetch_max(before + 1, Ordering::Relaxed);
                }
                tracing::warn!(%organization_id, %id, kind, attempts, server, error, "a mail was not taken, and is tried again");
                (Attempt::Later(backoff.pause(attempts, fastrand::f64())), "later")
            }
        };
        count(kind, result);
        self.note(due, letter.receiver, &attempt).await;
    }

    /// Writes what became of an attempt. What can't be written is an attempt that counts as lost: so it is tried for a
    /// while.
    async fn note(&self, due: Due, receiver: crate::domain::ids::UserId, attempt: &Attempt) {
        for n in 0..NOTES {
            match self.room.end(&self.term.ticket, due, receiver, attempt).await {
                Ok(_) => return,
                Err(error) => tracing::warn!(%error, "mail: what was sent could not be noted yet"),
            }
            tokio::select! {
                () = self.term.over.cancelled() => {}
                () = sleep(Duration::from_millis(100 << n)) => {}
            }
        }
    }
}

fn count(kind: &'static str, result: &'static str) {
    metrics::counter!("ringi_mails_total", "kind" => kind, "result" => result).increment(1);
}
