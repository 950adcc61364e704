//! How often may be called: by a person, in an organization, and from an address without saying who.
//!
//! A limit is a bucket (GCRA, the crate `governor`): so much at once, so much a second in the long run. The buckets are in
//! memory and those of this process: with several processes, each has its own. They keep one caller from taking the
//! service away from the others; they are no means of counting what somebody used.
//!
//! Who pays, and when:
//! - a person, as soon as his token is proven, so that nobody can use up another's bucket;
//! - an organization, when the answer shows that its member asked: whoever only names it takes nothing from it;
//! - an address, for what is answered to anybody, and for each token that is refused. Health is for balancers, and free.

use super::problem::Problem;
use super::state::State;
use crate::domain::ids::{OrganizationId, UserId};
use actix_web::body::{BoxBody, MessageBody};
use actix_web::dev::{ServiceRequest, ServiceResponse};
use actix_web::http::StatusCode;
use actix_web::http::header::HeaderMap;
use actix_web::middleware::Next;
use actix_web::web::Data;
use actix_web::{Error, HttpMessage, HttpRequest};
use governor::clock::{Clock, DefaultClock};
use governor::nanos::Nanos;
use governor::state::keyed::{HashMapStateStore, ShrinkableKeyedStateStore};
use governor::state::{InMemoryState, NotKeyed, StateStore};
use governor::{Quota, RateLimiter};
use ipnet::IpNet;
use std::collections::HashMap;
use std::hash::Hash;
use std::net::{IpAddr, Ipv6Addr, SocketAddr};
use std::num::NonZeroU32;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

/// The most buckets of one kind, about 10 MB. Whoever comes when there are so many shares one with all who come then.
const MOST_BUCKETS: usize = 100_000;

/// So much a second in the long run, and so much at once.
#[derive(Clone, Copy, Debug)]
pub struct Rate {
    /// Calls a second. 0: no limit.
    pub per_second: u32,
    /// Calls at once.
    pub burst: u32,
}

/// The limits that the settings ask for.
#[derive(Clone, Debug)]
pub struct LimitSettings {
    /// Of each person.
    pub user: Rate,
    /// Of each organization.
    pub organization: Rate,
    /// Of each address, for calls that name nobody.
    pub address: Rate,
    /// Who is believed when he says for whom he asks.
    pub trusted_proxies: Vec<IpNet>,
}

/// The limits, shared by all threads.
#[derive(Clone, Debug)]
pub struct Limits(Arc<Buckets>);

#[derive(Debug)]
struct Buckets {
    user: Option<Meter<UserId>>,
    organization: Option<Meter<OrganizationId>>,
    address: Option<Meter<IpAddr>>,
    trusted_proxies: Vec<IpNet>,
}

/// The organization that a call names, until its answer says whether a member asked.
#[derive(Clone, Copy)]
struct Named(OrganizationId);

impl Limits {
    /// Buckets as the settings ask for, all of them full.
    #[must_use]
    pub fn new(settings: &LimitSettings) -> Self {
        Self(Arc::new(Buckets {
            user: Meter::new(settings.user),
            organization: Meter::new(settings.organization),
            address: Meter::new(settings.address),
            trusted_proxies: settings.trusted_proxies.clone(),
        }))
    }

    /// Forgets whoever has not asked for a while. To be called every few seconds.
    pub fn tidy(&self) {
        if let Some(meter) = &self.0.user {
            meter.tidy();
        }
        if let Some(meter) = &self.0.organization {
            meter.tidy();
        }
        if let Some(meter) = &self.0.address {
            meter.tidy();
        }
    }

    /// A call of a person whose token is proven.
    pub(super) fn user(&self, user: UserId) -> Result<(), Problem> {
        let Some(meter) = &self.0.user else { return Ok(()) };
        meter.take(&user).map_err(|wait| refused("user", wait, "You call too often."))
    }

    /// A call that names an organization. Nothing is taken yet.
    pub(super) fn organization(&self, request: &HttpRequest, organization: OrganizationId) -> Result<(), Problem> {
        let Some(meter) = &self.0.organization else { return Ok(()) };
        let busy = |wait| refused("organization", wait, "Your organization calls too often.");
        meter.is_open(&organization).map_err(busy)?;
        request.extensions_mut().insert(Named(organization));
        Ok(())
    }

    /// A call that proves nobody.
    pub(super) fn nobody(&self, peer: Option<SocketAddr>, headers: &HeaderMap) -> Result<(), Problem> {
        let (Some(meter), Some(peer)) = (&self.0.address, peer) else { return Ok(()) };
        let address = neighbourhood(client_address(peer.ip(), headers, &self.0.trusted_proxies));
        let detail = "There are too many calls without a valid token from your address.";
        meter.take(&address).map_err(|wait| refused("address", wait, detail))
    }

    /// Takes from the organization's bucket what its member was answered.
    fn answered(&self, response: &ServiceResponse<impl MessageBody>) {
        let Some(meter) = &self.0.organization else { return };
        let of_a_member = response.status().is_success()
            || [StatusCode::NOT_MODIFIED, StatusCode::CONFLICT].contains(&response.status());
        let named = response.request().extensions().get::<Named>().copied();
        if let (true, Some(Named(organization))) = (of_a_member, named) {
            meter.count(&organization);
        }
    }
}

/// Around every call. What is answered to anybody costs its address; what is answered to a member, his organization.
pub(super) async fn around(
    request: ServiceRequest,
    next: Next<impl MessageBody + 'static>,
) -> Result<ServiceResponse<BoxBody>, Error> {
    let limits = request.app_data::<Data<State>>().map(|state| state.limits.clone());
    let Some(limits) = limits else { return Ok(next.call(request).await?.map_into_boxed_body()) };
    if is_for_anybody(request.path())
        && let Err(problem) = limits.nobody(request.peer_addr(), request.headers())
    {
        return Ok(request.error_response(problem));
    }
    let response = next.call(request).await?;
    limits.answered(&response);
    Ok(response.map_into_boxed_body())
}

/// Whether a path is answered without a token. Balancers share the address of those whom they serve, and must not be
/// told by another's flood that this process is ill: health is free, and asks the database for all askers at once.
fn is_for_anybody(path: &str) -> bool {
    let asks_who = path.starts_with("/api/v1/") && !path.starts_with("/api/v1/sign-in");
    !asks_who && !path.starts_with("/health/")
}

fn refused(whose: &'static str, wait: Duration, what: &str) -> Problem {
    metrics::counter!("ringi_rate_limited_total", "whose" => whose).increment(1);
    // Whole seconds, and never sooner than it helps.
    let seconds = u32::try_from(wait.as_secs() + u64::from(wait.subsec_nanos() > 0)).unwrap_or(u32::MAX).max(1);
    Problem::rate_limited(seconds, &format!("{what} Wait as long as Retry-After says, and send it again."))
}

/// Who asks, as far as those say whom we believe: the last address that none of them added for a known proxy.
fn client_address(peer: IpAddr, headers: &HeaderMap, trusted: &[IpNet]) -> IpAddr {
    let is_trusted = |address: IpAddr| trusted.iter().any(|net| net.contains(&address));
    let mut address = peer.to_canonical();
    let listed: Vec<&str> =
        headers.get_all("x-forwarded-for").filter_map(|value| value.to_str().ok()).flat_map(|v| v.split(',')).collect();
    for said in listed.into_iter().rev().map(str::trim) {
        if !is_trusted(address) {
            break;
        }
        let read = said.parse().ok().or_else(|| said.parse::<SocketAddr>().ok().map(|with_port| with_port.ip()));
        let Some(before) = read else { break };
        address = IpAddr::to_canonical(&before);
    }
    address
}

/// Whoever has one IPv6 address has at least 2^64 of them.
fn neighbourhood(address: IpAddr) -> IpAddr {
    match address {
        IpAddr::V4(_) => address,
        IpAddr::V6(v6) => IpAddr::V6(Ipv6Addr::from_bits(v6.to_bits() & (u128::MAX << 64))),
    }
}

/// The buckets of one kind.
struct Meter<K: Hash + Eq + Clone> {
    limiter: RateLimiter<K, Store<K>, DefaultClock>,
    /// Who was found with an empty bucket only afterwards, and until when.
    shut: Mutex<HashMap<K, Instant>>,
    /// Whether anybody is there, so that most calls need not look.
    any_shut: AtomicBool,
}

impl<K: Hash + Eq + Clone> std::fmt::Debug for Meter<K> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Meter").field("buckets", &self.limiter.len()).finish_non_exhaustive()
    }
}

impl<K: Hash + Eq + Clone> Meter<K> {
    fn new(rate: Rate) -> Option<Self> {
        let per_second = NonZeroU32::new(rate.per_second)?;
        let quota = Quota::per_second(per_second).allow_burst(NonZeroU32::new(rate.burst)?);
        let limiter = RateLimiter::new(quota, Store::new(MOST_BUCKETS), DefaultClock::default());
        Some(Self { limiter, shut: Mutex::default(), any_shut: AtomicBool::new(false) })
    }

    /// Takes one. `Err`: there is none, and when there will be.
    fn take(&self, key: &K) -> Result<(), Duration> {
        self.limiter.check_key(key).map_err(|not_yet| not_yet.wait_time_from(self.limiter.clock().now()))
    }

    /// Whether there was one left when it was last counted. `Err`: when there will be.
    fn is_open(&self, key: &K) -> Result<(), Duration> {
        if !self.any_shut.load(Ordering::Relaxed) {
            return Ok(());
        }
        let shut = self.shut.lock().unwrap_or_else(PoisonError::into_inner);
        let left = shut.get(key).map(|until| until.saturating_duration_since(Instant::now()));
        left.filter(|left| !left.is_zero()).map_or(Ok(()), Err)
    }

    /// Takes one afterwards; shuts where there is none.
    fn count(&self, key: &K) {
        if let Err(wait) = self.take(key) {
            self.shut.lock().unwrap_or_else(PoisonError::into_inner).insert(key.clone(), Instant::now() + wait);
            self.any_shut.store(true, Ordering::Relaxed);
        }
    }

    fn tidy(&self) {
        self.limiter.retain_recent();
        let now = Instant::now();
        let mut shut = self.shut.lock().unwrap_or_else(PoisonError::into_inner);
        shut.retain(|_, until| *until > now);
        self.any_shut.store(!shut.is_empty(), Ordering::Relaxed);
    }
}

/// Buckets by key, in bounded memory.
struct Store<K> {
    own: HashMapStateStore<K>,
    most: usize,
    /// The bucket of all who came when there were too many.
    crowd: InMemoryState,
}

impl<K> Store<K> {
    fn new(most: usize) -> Self {
        Self { own: HashMapStateStore::default(), most, crowd: InMemoryState::default() }
    }
}

impl<K: Hash + Eq + Clone> StateStore for Store<K> {
    type Key = K;

    fn measure_and_replace<T, F, E>(&self, key: &K, f: F) -> Result<T, E>
    where
        F: Fn(Option<Nanos>) -> Result<(T, Nanos), E>,
    {
        let has_own = {
            let own = self.own.lock();
            own.len() < self.most || own.contains_key(key)
        };
        if has_own {
            self.own.measure_and_replace(key, f)
        } else {
            self.crowd.measure_and_replace(&NotKeyed::NonKey, f)
        }
    }
}

impl<K: Hash + Eq + Clone> ShrinkableKeyedStateStore<K> for Store<K> {
    fn retain_recent(&self, drop_below: Nanos) {
        self.own.retain_recent(drop_below);
    }

    fn len(&self) -> usize {
        ShrinkableKeyedStateStore::len(&self.own)
    }

    fn is_empty(&self) -> bool {
        ShrinkableKeyedStateStore::is_empty(&self.own)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use actix_web::http::header::{HeaderName, HeaderValue};
    use governor::clock::FakeRelativeClock;
    use governor::middleware::NoOpMiddleware;

    fn headers(values: &[&'static str]) -> HeaderMap {
        let mut headers = HeaderMap::new();
        for value in values {
            headers.append(HeaderName::from_static("x-forwarded-for"), HeaderValue::from_static(value));
        }
        headers
    }

    #[test]
    fn only_known_proxies_are_believed_and_only_as_far_as_they_saw() {
        let address = |text: &str| text.parse::<IpAddr>().expect("an address");
        let trusted: Vec<IpNet> = ["10.0.0.0/8", "fd00::/8"].iter().filter_map(|net| net.parse().ok()).collect();
        for (peer, sent, expected) in [
            ("192.0.2.1", &[][..], "192.0.2.1"),
            // Nobody: he can write what he likes.
            ("192.0.2.1", &["198.51.100.1"], "192.0.2.1"),
            ("10.0.0.1", &[], "10.0.0.1"),
            ("10.0.0.1", &["198.51.100.1"], "198.51.100.1"),
            // What the client itself had written stands before what the proxy added.
            ("10.0.0.1", &["203.0.113.9, 198.51.100.1"], "198.51.100.1"),
            ("10.0.0.1", &["203.0.113.9", "198.51.100.1, 10.2.3.4"], "198.51.100.1"),
            ("10.0.0.1", &["nonsense"], "10.0.0.1"),
            ("10.0.0.1", &["198.51.100.1, nonsense, 10.2.3.4"], "10.2.3.4"),
            ("10.0.0.1", &["198.51.100.1:5000"], "198.51.100.1"),
            ("::ffff:10.0.0.1", &["[2001:db8::1]:443"], "2001:db8::1"),
            ("fd00::1", &["::ffff:198.51.100.1"], "198.51.100.1"),
        ] {
            assert_eq!(client_address(address(peer), &headers(sent), &trusted), address(expected), "{peer} {sent:?}");
        }
        assert_eq!(neighbourhood(address("2001:db8:1:2:3:4:5:6")), address("2001:db8:1:2::"));
        assert_eq!(neighbourhood(address("192.0.2.1")), address("192.0.2.1"));
    }

    #[test]
    fn a_bucket_holds_a_burst_and_fills_at_its_rate() {
        let quota = Quota::per_second(NonZeroU32::new(2).expect("2")).allow_burst(NonZeroU32::new(3).expect("3"));
        let clock = FakeRelativeClock::default();
        let limiter: RateLimiter<u32, Store<u32>, FakeRelativeClock, NoOpMiddleware<Nanos>> =
            RateLimiter::new(quota, Store::new(2), clock.clone());
        let take = |key: u32| limiter.check_key(&key).is_ok();
        assert_eq!([(); 4].map(|()| take(1)), [true, true, true, false]);
        clock.advance(Duration::from_millis(500));
        assert_eq!([(); 2].map(|()| take(1)), [true, false]);
        assert!(take(2), "another has his own");

        // Two is the most: the others share one, whoever they are, and the known ones keep theirs.
        assert_eq!([3, 4, 5, 6].map(take), [true, true, true, false]);
        assert!(take(2) && limiter.len() == 2);
        // Who has not asked for as long as a bucket needs to fill is forgotten, and there is room again.
        clock.advance(Duration::from_secs(10));
        limiter.retain_recent();
        assert_eq!(limiter.len(), 0);
        assert!(take(7) && limiter.len() == 1);
    }

    #[test]
    fn what_is_counted_afterwards_shuts_until_there_is_some_again() {
        let meter = Meter::new(Rate { per_second: 20, burst: 2 }).expect("a limit");
        for _ in 0..2 {
            meter.count(&1);
            assert_eq!(meter.is_open(&1), Ok(()));
        }
        meter.count(&1);
        let wait = meter.is_open(&1).expect_err("empty");
        assert!(wait <= Duration::from_millis(50), "{wait:?}");
        assert_eq!(meter.is_open(&2), Ok(()));
        std::thread::sleep(wait);
        assert_eq!(meter.is_open(&1), Ok(()));
        meter.tidy();
        assert!(!meter.any_shut.load(Ordering::Relaxed));
    }

    #[test]
    fn no_rate_is_no_limit() {
        assert!(Meter::<u32>::new(Rate { per_second: 0, burst: 1 }).is_none());
    }
}
