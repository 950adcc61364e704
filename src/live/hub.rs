//! The hub: one task that reads for all listeners, and a queue for each of them.

use super::store::{Extent, LiveReads};
use super::{LiveError, LiveRefusal};
use crate::domain::event::{About, LoggedEvent, Position};
use crate::domain::ids::{OrganizationId, RequestId, UserId};
use crate::domain::member::Member;
use crate::transaction::{StoreError, UseCaseError, Viewer};
use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;
use tokio::sync::{Notify, mpsc};
use tokio::time::{Instant, sleep};
use tokio_util::sync::CancellationToken;

/// How many events of an organization are read at once, at most: fewer than a queue has room for.
const AT_ONCE: usize = 500;
/// How soon a look that failed is repeated.
const AGAIN: Duration = Duration::from_millis(200);
/// How often memberships are looked at where nothing happens.
const MEMBERSHIPS_EVERY: Duration = Duration::from_secs(15);

/// Bounds on listening.
#[derive(Clone, Copy, Debug)]
pub struct HubSettings {
    /// How often it looks for events when nobody rings.
    pub poll_interval: Duration,
    /// Listeners of the process.
    pub max_listeners: usize,
    /// Listeners of one user.
    pub max_listeners_per_user: usize,
    /// How many events wait for a listener before he is let go.
    pub queue: usize,
    /// How many events somebody who comes again may have missed; more are not sent one by one.
    pub catch_up: u32,
    /// After how much silence somebody who listens is given a sign of life.
    pub sign_of_life: Duration,
}

/// What a listener hears.
#[derive(Clone, Debug)]
pub enum Heard {
    /// Something happened. Made once for all listeners.
    Event(Arc<Told>),
    /// What was missed is not sent: look at everything anew. The position is the newest one.
    Resync(Position),
}

/// An event, ready to be sent.
#[derive(Debug)]
pub struct Told {
    /// Its place.
    pub position: Position,
    /// Such as `request.approve`.
    pub event_type: String,
    /// See [`LoggedEvent::body`].
    pub body: String,
}

/// Reads for all listeners of a process. Cheap to clone.
#[derive(Clone, Debug)]
pub struct Hub<R> {
    reads: R,
    shared: Arc<Shared>,
}

#[derive(Debug)]
struct Shared {
    settings: HubSettings,
    ears: Mutex<Ears>,
    /// Rung when there may be something new, or somebody new.
    bell: Arc<Notify>,
    closed: CancellationToken,
}

#[derive(Debug, Default)]
struct Ears {
    /// Numbers them.
    next: u64,
    of: BTreeMap<OrganizationId, HashMap<u64, Ear>>,
    users: HashMap<UserId, usize>,
    count: usize,
}

#[derive(Debug)]
struct Ear {
    user: UserId,
    /// Everything up to here was handed over, or is not for him.
    at: Position,
    queue: mpsc::Sender<Heard>,
}

/// Somebody who listens. Dropping it ends that.
#[derive(Debug)]
pub struct Listener {
    organization: OrganizationId,
    user: UserId,
    number: u64,
    queue: mpsc::Receiver<Heard>,
    from: Position,
    shared: Arc<Shared>,
}

impl Listener {
    /// The position from which he hears everything that he may.
    #[must_use]
    pub const fn from(&self) -> Position {
        self.from
    }

    /// The next of what he hears. `None`: he is to come again, if he may.
    pub async fn next(&mut self) -> Option<Heard> {
        self.queue.recv().await
    }
}

impl Drop for Listener {
    fn drop(&mut self) {
        let mut ears = self.shared.ears();
        ears.remove(self.organization, self.number);
        ears.forget(self.user);
    }
}

impl Shared {
    fn ears(&self) -> MutexGuard<'_, Ears> {
        // Who listens stays right whatever panicked while looking.
        self.ears.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Ears {
    fn remove(&mut self, organization: OrganizationId, number: u64) {
        if let Some(ears) = self.of.get_mut(&organization) {
            ears.remove(&number);
            if ears.is_empty() {
                self.of.remove(&organization);
            }
        }
    }

    /// A place is free again when its connection has ended, not before.
    fn forget(&mut self, user: UserId) {
        if let Some(listens) = self.users.get_mut(&user) {
            *listens -= 1;
            if *listens == 0 {
                self.users.remove(&user);
            }
        }
        self.count = self.count.saturating_sub(1);
        self.show();
    }

    fn show(&self) {
        metrics::gauge!("ringi_event_listeners").set(f64::from(u32::try_from(self.count).unwrap_or(u32::MAX)));
    }
}

impl<R: LiveReads> Hub<R> {
    /// A hub whose `bell` is rung when events have been numbered. Nobody hears anything before [`Self::run`].
    #[must_use]
    pub fn new(reads: R, settings: HubSettings, bell: Arc<Notify>) -> Self {
        let (ears, closed) = (Mutex::default(), CancellationToken::new());
        Self { reads, shared: Arc::new(Shared { settings, ears, bell, closed }) }
    }

    /// Begins to listen: from now on, or from after `after` on. Who missed too much, or what has been cleaned away, or says
    /// what has not been yet, is told to look at everything anew.
    ///
    /// # Errors
    /// [`UseCaseError::NotAMember`], [`LiveRefusal`], or the store's.
    pub async fn listen(&self, viewer: Viewer, after: Option<Position>) -> Result<Listener, LiveError> {
        let Some(Extent { last, trimmed }) = self.reads.extent(viewer).await? else {
            return Err(UseCaseError::NotAMember);
        };
        let catch_up = Position::from(self.shared.settings.catch_up);
        let known = after.filter(|after| (trimmed..=last).contains(after) && last - after <= catch_up);
        let listener = self.shared.enter(viewer, known.unwrap_or(last), after.is_some() && known.is_none())?;
        self.shared.bell.notify_one();
        Ok(listener)
    }

    /// After how much silence somebody who listens is given a sign of life.
    #[must_use]
    pub fn sign_of_life(&self) -> Duration {
        self.shared.settings.sign_of_life
    }

    /// Everybody is let go, and nobody may listen any more.
    pub fn close(&self) {
        self.shared.closed.cancel();
        self.shared.ears().of.clear();
    }

    /// Hands out what is new until the hub is closed.
    pub async fn run(self) {
        let mut looked = Instant::now();
        loop {
            let memberships = looked.elapsed() >= MEMBERSHIPS_EVERY;
            let pause = match self.look(memberships).await {
                Ok(more) => {
                    if memberships {
                        looked = Instant::now();
                    }
                    if more { Duration::ZERO } else { self.shared.settings.poll_interval }
                }
                Err(error) => {
                    tracing::warn!(%error, "events could not be read for those who listen, which is tried again");
                    AGAIN
                }
            };
            tokio::select! {
                () = self.shared.closed.cancelled() => return,
                () = self.shared.bell.notified() => {}
                () = sleep(pause) => {}
            }
        }
    }

    /// Hands out what is new. True: there may be more.
    async fn look(&self, memberships: bool) -> Result<bool, StoreError> {
        let heard = self.shared.heard();
        if heard.is_empty() {
            return Ok(false);
        }
        let mut of_organizations: BTreeMap<OrganizationId, Vec<LoggedEvent>> = BTreeMap::new();
        if memberships {
            of_organizations.extend(heard.iter().map(|(organization, _)| (*organization, Vec::new())));
        }
        let at_once = (self.shared.settings.queue / 2).clamp(1, AT_ONCE);
        for event in self.reads.after(&heard, i64::try_from(at_once).unwrap_or(i64::MAX)).await? {
            of_organizations.entry(event.organization_id).or_default().push(event);
        }
        let mut more = false;
        for (organization, events) in of_organizations {
            more |= events.len() >= at_once;
            let since = heard.iter().find(|(heard, _)| *heard == organization).map_or(0, |(_, since)| *since);
            self.tell(organization, since, &events).await?;
        }
        Ok(more)
    }

    /// Hands out these events of an organization, which are all that came after `since`.
    async fn tell(
        &self,
        organization: OrganizationId,
        since: Position,
        events: &[LoggedEvent],
    ) -> Result<(), StoreError> {
        let users = self.shared.users(organization);
        // After the events: whoever lost his right before something happened does not hear of it.
        let members: HashMap<UserId, Member> =
            self.reads.active(organization, &users).await?.into_iter().map(|member| (member.user_id, member)).collect();
        let requests: BTreeSet<RequestId> = events.iter().filter_map(LoggedEvent::request_id).collect();
        let about = if requests.is_empty() {
            HashMap::new()
        } else {
            // Of the others it is known without a look.
            let some: Vec<UserId> =
                members.values().filter(|member| !member.sees_all_submitted()).map(|member| member.user_id).collect();
            self.reads.about(organization, &requests.into_iter().collect::<Vec<_>>(), &some).await?
        };
        self.shared.hand_out(organization, since, events, &Rights { asked: users, members, about });
        Ok(())
    }
}

/// What decides who hears of what.
struct Rights {
    /// Whose rights were asked for, in order.
    asked: Vec<UserId>,
    /// Those of them who are active members.
    members: HashMap<UserId, Member>,
    about: HashMap<RequestId, About>,
}

impl Shared {
    fn enter(self: &Arc<Self>, viewer: Viewer, from: Position, resync: bool) -> Result<Listener, LiveRefusal> {
        let (queue, heard) = mpsc::channel(self.settings.queue);
        let mut ears = self.ears();
        // Looked at under the lock: who enters after the closing would listen for ever.
        if self.closed.is_cancelled() || ears.count >= self.settings.max_listeners {
            return Err(LiveRefusal::TooMany);
        }
        let listens = ears.users.entry(viewer.user_id).or_default();
        if *listens >= self.settings.max_listeners_per_user {
            return Err(LiveRefusal::TooManyOfTheUser);
        }
        *listens += 1;
        ears.count += 1;
        ears.next += 1;
        ears.show();
        let (number, organization, user) = (ears.next, viewer.organization_id, viewer.user_id);
        if resync {
            // The queue is empty, and has room.
            drop(queue.try_send(Heard::Resync(from)));
        }
        ears.of.entry(organization).or_default().insert(number, Ear { user, at: from, queue });
        drop(ears);
        Ok(Listener { organization, user, number, queue: heard, from, shared: Arc::clone(self) })
    }

    /// The organizations that somebody listens to, and what all of their listeners have heard.
    fn heard(&self) -> Vec<(OrganizationId, Position)> {
        let ears = self.ears();
        let least = |ears: &HashMap<u64, Ear>| ears.values().map(|ear| ear.at).min();
        ears.of.iter().filter_map(|(organization, ears)| Some((*organization, least(ears)?))).collect()
    }

    fn users(&self, organization: OrganizationId) -> Vec<UserId> {
        let ears = self.ears();
        let users = ears.of.get(&organization).into_iter().flat_map(HashMap::values).map(|ear| ear.user);
        users.collect::<BTreeSet<_>>().into_iter().collect()
    }

    /// Gives each listener what is new to him and for him. Who came after it was read, or after his rights were asked for,
    /// waits for the next look, which his coming has rung for.
    fn hand_out(&self, organization: OrganizationId, since: Position, events: &[LoggedEvent], rights: &Rights) {
        let told: Vec<(&LoggedEvent, Arc<Told>)> = events
            .iter()
            .map(|event| {
                let (event_type, body) = (event.event_type.clone(), event.body());
                (event, Arc::new(Told { position: event.position, event_type, body }))
            })
            .collect();
        let mut ears = self.ears();
        let Some(here) = ears.of.get_mut(&organization) else { return };
        here.retain(|_, ear| {
            if ear.at < since || rights.asked.binary_search(&ear.user).is_err() {
                return true;
            }
            let Some(member) = rights.members.get(&ear.user) else {
                metrics::counter!("ringi_event_listeners_let_go_total", "reason" => "membership").increment(1);
                return false;
            };
            for (event, told) in told.iter().filter(|(event, _)| event.position > ear.at) {
                let about = event.request_id().and_then(|request| rights.about.get(&request));
                if event.is_for(member, about) && ear.queue.try_send(Heard::Event(Arc::clone(told))).is_err() {
                    metrics::counter!("ringi_event_listeners_let_go_total", "reason" => "slow").increment(1);
                    return false;
                }
            }
            ear.at = ear.at.max(events.last().map_or(0, |event| event.position));
            true
        });
        if here.is_empty() {
            ears.of.remove(&organization);
        }
    }
}
