//! Delivery, in the one process that is the relay: every endpoint at its own pace, each subject of it in order.
//!
//! An endpoint is given a few events at a time. What of them was received moves its position, which is saved together with
//! the log of the attempts under the relay's lease, and guarded by the endpoint's version: what a person did meanwhile
//! wins. So after a crash some events are sent again, with the same id; none is left out.

use super::delivery_store::{DeliverySession, DeliveryStore, Due, Key};
use super::secret::{CannotOpen, Keys, SigningSecret};
use super::sender::{Message, Sender};
use super::service::record;
use super::store::WebhookSession as _;
use super::window::{Lane, Window};
use crate::domain::Instant;
use crate::domain::job::kept_error;
use crate::domain::webhook::{Delivery, DeliveryResult, Endpoint, EndpointPatience, EndpointState, Run, judge};
use crate::lease::{Hold, LeaseSession as _};
use crate::outbox::{Consumer, Term};
use crate::transaction::{Guarded, Session as _, StoreError};
use futures_util::StreamExt as _;
use futures_util::stream;
use reqwest::Url;
use std::collections::HashMap;
use std::future::Future;
use std::pin::Pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;
use tokio::task::{Id, JoinSet};
use tokio::time::{Instant as Clock, sleep};
use tokio_util::sync::CancellationToken;

/// How many positions one look at the log covers.
const WINDOW: i64 = 256;
/// How often it looks when nothing is heard, and shows its figures.
const LOOK: Duration = Duration::from_secs(5);
/// How often old rows of the log are looked for.
const CLEAN: Duration = Duration::from_mins(10);
/// After the database said no.
const AGAIN: Duration = Duration::from_millis(500);

/// How deliveries are made.
#[derive(Clone, Copy, Debug)]
pub struct DeliverySettings {
    /// How many endpoints at once.
    pub endpoints_at_once: usize,
    /// How many subjects of one endpoint at once.
    pub subjects_at_once: usize,
    /// How patiently an endpoint is tried.
    pub patience: EndpointPatience,
    /// How many attempts of an endpoint are kept.
    pub log_rows: i64,
    /// For how long.
    pub log_age: Duration,
}

/// Delivers for as long as its process is the relay.
pub struct Deliveries<S> {
    shared: Arc<Shared<S>>,
}

struct Shared<S> {
    store: S,
    sender: Sender,
    keys: Keys,
    settings: DeliverySettings,
}

impl<S: DeliveryStore> Deliveries<S> {
    /// Delivers what `store` has, by `sender`, signed with what `keys` open.
    #[must_use]
    pub fn new(store: S, sender: Sender, keys: Keys, settings: DeliverySettings) -> Self {
        Self { shared: Arc::new(Shared { store, sender, keys, settings }) }
    }
}

impl<S> std::fmt::Debug for Deliveries<S> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Deliveries").finish_non_exhaustive()
    }
}

impl<S: DeliveryStore> Consumer for Deliveries<S> {
    fn run(&self, term: Term) -> Pin<Box<dyn Future<Output = ()> + Send + '_>> {
        Box::pin(self.dispatch(term))
    }
}

impl<S: DeliveryStore> Deliveries<S> {
    /// Keeps every endpoint busy that has something to be told, one task each.
    async fn dispatch(&self, mut term: Term) {
        let mut tasks = JoinSet::new();
        let mut busy: HashMap<Id, Key> = HashMap::new();
        let (mut shown, mut cleaned): (Option<Clock>, Option<Clock>) = (None, None);
        let mut lost = false;
        while !term.over.is_cancelled() {
            // What is heard from here on was not seen by this look.
            drop(term.news.borrow_and_update());
            if shown.is_none_or(|at| at.elapsed() >= LOOK) {
                shown = Some(Clock::now());
                self.shared.show().await;
            }
            if cleaned.is_none_or(|at| at.elapsed() >= CLEAN) {
                cleaned = Some(Clock::now());
                self.shared.clean(&term).await;
            }
            let room = self.shared.settings.endpoints_at_once.saturating_sub(tasks.len());
            let pause = match self.shared.due(&busy, room).await {
                Ok(Due { endpoints, next }) => {
                    for key in endpoints {
                        let (shared, term) = (Arc::clone(&self.shared), term.clone());
                        let task = tasks.spawn(async move { shared.tell(key, &term).await });
                        busy.insert(task.id(), key);
                    }
                    next.unwrap_or(LOOK).min(LOOK)
                }
                Err(error) => {
                    tracing::warn!(%error, "looking for events to deliver failed and is repeated");
                    AGAIN
                }
            };
            tokio::select! {
                () = term.over.cancelled() => {}
                // An error would say that the term is at its end.
                heard = term.news.changed() => if heard.is_err() { break },
                Some(ended) = tasks.join_next_with_id() => {
                    let mut ended = Some(ended);
                    while let Some(one) = ended {
                        busy.remove(&one.as_ref().map_or_else(tokio::task::JoinError::id, |(id, _)| *id));
                        lost |= matches!(one, Ok((_, Next::Lost)));
                        ended = tasks.try_join_next_with_id();
                    }
                    if lost {
                        break;
                    }
                }
                () = sleep(pause) => {}
            }
        }
        // Each ends what is under way, and saves how far it went.
        while tasks.join_next().await.is_some() {}
        // Nothing can be saved any more, so nothing is sent; the relay learns of it by its heartbeat.
        term.over.cancelled().await;
    }
}

/// How the telling of an endpoint goes on.
enum Next {
    /// There may be more at once.
    More,
    /// There is nothing more, or not now.
    Rest,
    /// The lease is another's: he goes on from what was saved.
    Lost,
}

impl<S: DeliveryStore> Shared<S> {
    async fn due(&self, busy: &HashMap<Id, Key>, room: usize) -> Result<Due, StoreError> {
        if room == 0 {
            return Ok(Due::default());
        }
        let busy: Vec<Key> = busy.values().copied().collect();
        self.store.due(&busy, i64::try_from(room).unwrap_or(i64::MAX)).await
    }

    /// Tells one endpoint until there is nothing more, it fails, or the term is over.
    async fn tell(&self, key: Key, term: &Term) -> Next {
        while !term.over.is_cancelled() {
            match self.tell_some(key, term).await {
                Ok(Next::More) => {}
                Ok(next) => return next,
                Err(error) => {
                    tracing::warn!(%error, webhook = %key.1, "what was delivered could not be saved: it is delivered again");
                    // The place is kept meanwhile, or the dispatcher would begin it anew at once.
                    tokio::select! {
                        () = term.over.cancelled() => {}
                        () = sleep(AGAIN) => {}
                    }
                    return Next::Rest;
                }
            }
        }
        Next::Rest
    }

    async fn tell_some(&self, key: Key, term: &Term) -> Result<Next, StoreError> {
        let Some((endpoint, window, now)) = self.store.window(key, WINDOW).await? else { return Ok(Next::Rest) };
        let is_due = endpoint.progress.next_attempt_at.is_none_or(|at| at <= now);
        if endpoint.state != EndpointState::Enabled || !is_due || window.end <= endpoint.progress.position {
            return Ok(Next::Rest);
        }
        let clock = WallClock { at: now, read: Clock::now() };
        let window = if endpoint.progress.failures > 0 { window.first(&endpoint) } else { window };
        let run = self.send(&endpoint, window, &clock, &term.over).await;
        self.save(&endpoint, run, term).await
    }

    /// Sends a window: its subjects at once, the events of each one after the other, until one of them fails.
    async fn send(&self, endpoint: &Endpoint, window: Window, clock: &WallClock, over: &CancellationToken) -> Run {
        let end = window.end;
        let lanes = window.lanes(endpoint);
        let Some(first) = lanes.first().and_then(|lane| lane.events.first()).cloned() else {
            return Run { position: end, deliveries: Vec::new() };
        };
        let (url, secrets) = match (endpoint.url.parse::<Url>(), self.open(endpoint, clock.now())) {
            (Ok(url), Ok(secrets)) => (url, secrets),
            (url, secrets) => {
                let error = match (secrets, url) {
                    (Err(error), _) => error.to_string(),
                    (_, Err(_)) => "the address in the database can't be read: change it".to_owned(),
                    (Ok(_), Ok(_)) => String::new(),
                };
                tracing::error!(webhook = %endpoint.id, error, "an endpoint can't be told of anything");
                let delivery = not_sent(&first, error, clock.now());
                return Run { position: endpoint.progress.position, deliveries: vec![delivery] };
            }
        };
        let halted = AtomicBool::new(false);
        let to = To { sender: &self.sender, url: &url, secrets: &secrets, clock, over, halted: &halted };
        let told: Vec<Told> = stream::iter(lanes)
            .map(|lane| to.tell(lane))
            .buffer_unordered(self.settings.subjects_at_once)
            .collect()
            .await;
        let undone = told.iter().filter_map(|told| told.undone).min();
        let mut deliveries: Vec<Delivery> = told.into_iter().flat_map(|told| told.deliveries).collect();
        deliveries.sort_by_key(|delivery| delivery.attempted_at);
        Run { position: undone.map_or(end, |position| position - 1), deliveries }
    }

    fn open(&self, endpoint: &Endpoint, now: Instant) -> Result<Vec<SigningSecret>, CannotOpen> {
        let of = (endpoint.organization_id, endpoint.id);
        let mut secrets = vec![self.keys.open(of, &endpoint.secrets.current)?];
        if let Some((old, until)) = &endpoint.secrets.old
            && *until > now
        {
            secrets.push(self.keys.open(of, old)?);
        }
        Ok(secrets)
    }

    /// Saves what came of it, if this process is still the relay and the endpoint is as it was.
    async fn save(&self, seen: &Endpoint, run: Run, term: &Term) -> Result<Next, StoreError> {
        let mut session = self.store.open_save().await?;
        match self.save_in(&mut session, seen, &run, term).await {
            Ok(Saved { next: Next::Lost, .. }) => {
                session.rollback().await;
                metrics::counter!("ringi_webhook_saves_refused_total").increment(1);
                Ok(Next::Lost)
            }
            Ok(saved) if !saved.wrote => {
                session.rollback().await;
                // A person changed it: its new version says where to go on.
                metrics::counter!("ringi_webhook_saves_overruled_total").increment(1);
                Ok(saved.next)
            }
            Ok(saved) => {
                session.commit().await?;
                for delivery in &run.deliveries {
                    metrics::counter!("ringi_webhook_deliveries_total", "result" => delivery.result.as_str())
                        .increment(1);
                    metrics::histogram!("ringi_webhook_delivery_seconds").record(delivery.took.as_secs_f64());
                }
                if let Some(action) = saved.action {
                    tracing::warn!(webhook = %seen.id, organization = %seen.organization_id, action, "a webhook was turned off");
                }
                Ok(saved.next)
            }
            Err(error) => {
                session.rollback().await;
                Err(error)
            }
        }
    }

    async fn save_in(
        &self,
        session: &mut S::Session,
        seen: &Endpoint,
        run: &Run,
        term: &Term,
    ) -> Result<Saved, StoreError> {
        let nothing = |next| Saved { next, wrote: false, action: None };
        if session.hold_lease(&term.ticket, Hold::Shared).await?.is_none() {
            return Ok(nothing(Next::Lost));
        }
        let before = session.lock_endpoint(seen.organization_id, seen.id).await?.0;
        // Deleted, or changed.
        let Some(before) = before.filter(|before| before.version == seen.version) else {
            return Ok(nothing(Next::Rest));
        };
        let verdict = judge(&before, run, &self.settings.patience, before.at(), fastrand::f64());
        if session.update_endpoint(&before, &verdict.after).await? == Guarded::Stale {
            return Ok(nothing(Next::Rest));
        }
        session.log_deliveries(&before, &run.deliveries, self.settings.log_rows).await?;
        if let Some(action) = verdict.action {
            record(session, None, action, Some(&before), Some(&verdict.after), None).await?;
        }
        let failed = run.deliveries.iter().any(|delivery| delivery.result != DeliveryResult::Delivered);
        let next = if failed { Next::Rest } else { Next::More };
        Ok(Saved { next, wrote: true, action: verdict.action })
    }

    /// The figures of an operator.
    async fn show(&self) {
        match self.store.figures().await {
            Ok(figures) => {
                for state in EndpointState::ALL {
                    let of_state = figures.iter().find(|figure| figure.state == *state);
                    let (count, oldest) = of_state.map_or((0, Duration::ZERO), |figure| (figure.count, figure.oldest));
                    let count = f64::from(u32::try_from(count).unwrap_or(u32::MAX));
                    metrics::gauge!("ringi_webhook_endpoints", "state" => state.as_str()).set(count);
                    metrics::gauge!("ringi_webhook_oldest_undelivered_seconds", "state" => state.as_str())
                        .set(oldest.as_secs_f64());
                }
            }
            Err(error) => tracing::debug!(%error, "the figures of webhooks could not be read"),
        }
    }

    /// Deletes rows of the log that have grown old where nothing is delivered any more, in small steps.
    async fn clean(&self, term: &Term) {
        while !term.over.is_cancelled() {
            match self.clean_some(term).await {
                Ok(true) => {}
                Ok(false) => return,
                Err(error) => {
                    tracing::warn!(%error, "old attempts could not be deleted, which is tried again");
                    return;
                }
            }
        }
    }

    async fn clean_some(&self, term: &Term) -> Result<bool, StoreError> {
        let mut session = self.store.open_save().await?;
        let work = async {
            let Some(_held) = session.hold_lease(&term.ticket, Hold::Shared).await? else { return Ok(None) };
            session.forget_deliveries(self.settings.log_age).await.map(Some)
        };
        match work.await {
            Ok(Some(more)) => session.commit().await.map(|()| more),
            other => {
                session.rollback().await;
                other.map(|_| false)
            }
        }
    }
}

struct Saved {
    next: Next,
    wrote: bool,
    action: Option<&'static str>,
}

/// The database's clock, read once and counted on from there.
struct WallClock {
    at: Instant,
    read: Clock,
}

impl WallClock {
    fn now(&self) -> Instant {
        let since = chrono::TimeDelta::from_std(self.read.elapsed()).unwrap_or_default();
        let now = self.at.checked_add_signed(since).unwrap_or(self.at);
        // As the database keeps it.
        Instant::from_timestamp_micros(now.timestamp_micros()).unwrap_or(now)
    }
}

/// Where a window goes.
struct To<'a> {
    sender: &'a Sender,
    url: &'a Url,
    secrets: &'a [SigningSecret],
    clock: &'a WallClock,
    over: &'a CancellationToken,
    /// Something failed: nothing more is begun.
    halted: &'a AtomicBool,
}

/// What came of a lane.
struct Told {
    deliveries: Vec<Delivery>,
    /// The position of the first event that was not received.
    undone: Option<i64>,
}

impl To<'_> {
    async fn tell(&self, lane: Lane) -> Told {
        let mut deliveries = Vec::new();
        for (position, event) in lane.events {
            if self.halted.load(Ordering::Relaxed) || self.over.is_cancelled() {
                return Told { deliveries, undone: Some(position) };
            }
            let message = Message { id: event.id(), body: event.body() };
            let attempted_at = self.clock.now();
            let sent = self.sender.send(self.url, self.secrets, &message, attempted_at.timestamp()).await;
            let received = sent.result == DeliveryResult::Delivered;
            deliveries.push(Delivery {
                position,
                event_id: message.id,
                event_type: event.event_type,
                result: sent.result,
                status: sent.status,
                took: sent.took,
                answer: sent.answer,
                error: sent.error.as_deref().map(kept_error),
                attempted_at,
                not_before: sent.not_before,
            });
            if !received {
                self.halted.store(true, Ordering::Relaxed);
                return Told { deliveries, undone: Some(position) };
            }
        }
        Told { deliveries, undone: None }
    }
}

fn not_sent((position, event): &(i64, crate::domain::event::LoggedEvent), error: String, at: Instant) -> Delivery {
    Delivery {
        position: *position,
        event_id: event.id(),
        event_type: event.event_type.clone(),
        result: DeliveryResult::Failed,
        status: None,
        took: Duration::ZERO,
        answer: None,
        error: Some(error),
        attempted_at: at,
        not_before: None,
    }
}
