//! Which addresses may be spoken to: http and https on the public network, and private ones that the settings name.
//!
//! An administrator of an organization is no administrator of the machines around this program. So an address is looked
//! at when it is named, and every connection goes only to addresses that were looked at for this very connection: a name
//! that was public at first can't lead inside later (DNS rebinding).

use crate::domain::text::Violation;
use crate::domain::webhook::URL_MAX;
use ipnet::{IpNet, Ipv4Net, Ipv6Net};
use reqwest::Url;
use reqwest::dns::{Addrs, Name, Resolve, Resolving};
use std::future::Future;
use std::io;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr};
use std::pin::Pin;
use std::sync::Arc;
use std::time::Duration;

/// How long a name may take when an address is named.
const LOOKUP_TIMEOUT: Duration = Duration::from_secs(5);

/// Looks names up.
pub trait Names: Send + Sync {
    /// All addresses of a name.
    fn look_up<'a>(&'a self, name: &'a str) -> Pin<Box<dyn Future<Output = io::Result<Vec<IpAddr>>> + Send + 'a>>;
}

/// The names that the system knows.
#[derive(Clone, Copy, Debug)]
pub struct SystemNames;

impl Names for SystemNames {
    fn look_up<'a>(&'a self, name: &'a str) -> Pin<Box<dyn Future<Output = io::Result<Vec<IpAddr>>> + Send + 'a>> {
        Box::pin(async move { Ok(tokio::net::lookup_host((name, 0)).await?.map(|found| found.ip()).collect()) })
    }
}

/// Says which addresses may be spoken to, and is the only one who looks names up for the deliveries.
#[derive(Clone)]
pub struct Guard {
    names: Arc<dyn Names>,
    /// Private networks that may be reached.
    allowed: Arc<[IpNet]>,
}

impl std::fmt::Debug for Guard {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Guard").field("allowed", &self.allowed).finish_non_exhaustive()
    }
}

/// Why an address may not be spoken to.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Closed {
    /// The name can't be looked up.
    #[error("the name of the address is not known: check it for a slip")]
    Unknown,
    /// It is, or one of its addresses is, on a private network.
    #[error(
        "the address is, or leads to, a private network: whoever runs this installation can permit it in webhooks.allow_private"
    )]
    Private,
}

impl Closed {
    /// As a mistake in the member `url`.
    #[must_use]
    pub fn violation(self) -> Violation {
        let code = match self {
            Self::Unknown => "name_unknown",
            Self::Private => "address_private",
        };
        Violation::new("url", code, self.to_string())
    }
}

impl Guard {
    /// With `allowed` private networks.
    #[must_use]
    pub fn new(names: Arc<dyn Names>, allowed: Vec<IpNet>) -> Self {
        Self { names, allowed: allowed.into() }
    }

    /// Reads an address: absolute, http or https, without a password or a fragment.
    ///
    /// # Errors
    /// What is wrong, without repeating it.
    pub fn read(text: &str) -> Result<Url, Violation> {
        let wrong = |detail: &str| Violation::new("url", "url_invalid", detail);
        if text.chars().count() > URL_MAX {
            return Err(Violation::new("url", "length", format!("must have 1 to {URL_MAX} characters")));
        }
        if text.is_empty() || text.chars().any(|c| c.is_whitespace() || c.is_control()) {
            return Err(wrong("must be an address such as https://erp.example/ringi, without spaces"));
        }
        let url: Url =
            text.parse().map_err(|_| wrong("can't be read: write an address such as https://erp.example/ringi"))?;
        if !matches!(url.scheme(), "http" | "https") || !url.has_host() {
            return Err(wrong("must be an address of https or http"));
        }
        if !url.username().is_empty() || url.password().is_some() {
            return Err(wrong("must not hold a name or password: the signature says who sends"));
        }
        if url.fragment().is_some() {
            return Err(wrong("must not hold a fragment: it is never sent"));
        }
        if url.as_str().chars().count() > URL_MAX {
            return Err(Violation::new(
                "url",
                "length",
                format!("must have at most {URL_MAX} characters when encoded"),
            ));
        }
        Ok(url)
    }

    /// Looks at where an address leads now.
    ///
    /// # Errors
    /// [`Closed`].
    pub async fn check(&self, url: &Url) -> Result<(), Closed> {
        if let Some(address) = literal(url) {
            return if self.permits(address) { Ok(()) } else { Err(Closed::Private) };
        }
        let name = url.host_str().ok_or(Closed::Unknown)?;
        let found = tokio::time::timeout(LOOKUP_TIMEOUT, self.look_up(name)).await;
        found.unwrap_or(Err(Closed::Unknown)).map(drop)
    }

    /// A literal address is not looked up by anybody, so it is judged before the call.
    ///
    /// # Errors
    /// [`Closed::Private`].
    pub fn check_literal(&self, url: &Url) -> Result<(), Closed> {
        match literal(url) {
            Some(address) if !self.permits(address) => Err(Closed::Private),
            _ => Ok(()),
        }
    }

    /// All addresses of a name, if each of them may be spoken to.
    async fn look_up(&self, name: &str) -> Result<Vec<IpAddr>, Closed> {
        let found = self.names.look_up(name).await.map_err(|_| Closed::Unknown)?;
        if found.is_empty() {
            return Err(Closed::Unknown);
        }
        if found.iter().all(|address| self.permits(*address)) { Ok(found) } else { Err(Closed::Private) }
    }

    fn permits(&self, address: IpAddr) -> bool {
        let address = address.to_canonical();
        is_public(address) || self.allowed.iter().any(|network| network.contains(&address))
    }
}

impl Resolve for Guard {
    fn resolve(&self, name: Name) -> Resolving {
        let guard = self.clone();
        Box::pin(async move {
            let found = guard.look_up(name.as_str()).await?;
            // The port is the address's own: 0 is replaced by it.
            let found: Addrs = Box::new(found.into_iter().map(|address| SocketAddr::new(address, 0)));
            Ok(found)
        })
    }
}

fn literal(url: &Url) -> Option<IpAddr> {
    let host = url.host_str()?;
    host.trim_start_matches('[').trim_end_matches(']').parse().ok()
}

const fn v4(a: u8, b: u8, c: u8, d: u8, length: u8) -> Ipv4Net {
    Ipv4Net::new_assert(Ipv4Addr::new(a, b, c, d), length)
}

/// What is not the public network (IANA's registry of special-purpose addresses, and multicast).
const SPECIAL_V4: &[Ipv4Net] = &[
    v4(0, 0, 0, 0, 8),
    v4(10, 0, 0, 0, 8),
    v4(100, 64, 0, 0, 10),
    v4(127, 0, 0, 0, 8),
    // Link-local, and where clouds answer with their machines' credentials.
    v4(169, 254, 0, 0, 16),
    v4(172, 16, 0, 0, 12),
    v4(192, 0, 0, 0, 24),
    v4(192, 0, 2, 0, 24),
    v4(192, 88, 99, 0, 24),
    v4(192, 168, 0, 0, 16),
    v4(198, 18, 0, 0, 15),
    v4(198, 51, 100, 0, 24),
    v4(203, 0, 113, 0, 24),
    v4(224, 0, 0, 0, 4),
    v4(240, 0, 0, 0, 4),
];

const fn v6(a: u16, b: u16, length: u8) -> Ipv6Net {
    Ipv6Net::new_assert(Ipv6Addr::new(a, b, 0, 0, 0, 0, 0, 0), length)
}

/// Of IPv6 only this was ever given out ...
const GLOBAL_V6: Ipv6Net = v6(0x2000, 0, 3);
/// ... less what of it is special: protocol assignments with Teredo, documentation, and 6to4, which holds an IPv4 address.
const SPECIAL_V6: &[Ipv6Net] = &[v6(0x2001, 0, 23), v6(0x2001, 0x0db8, 32), v6(0x2002, 0, 16), v6(0x3fff, 0, 20)];
/// Where a network without IPv4 keeps the whole of it (NAT64).
const NAT64: Ipv6Net = v6(0x64, 0xff9b, 96);

/// Whether an address, in its canonical form, is on the public network.
fn is_public(address: IpAddr) -> bool {
    match address {
        IpAddr::V4(address) => !SPECIAL_V4.iter().any(|network| network.contains(&address)),
        IpAddr::V6(address) if NAT64.contains(&address) => {
            let [.., a, b, c, d] = address.octets();
            is_public(IpAddr::V4(Ipv4Addr::new(a, b, c, d)))
        }
        IpAddr::V6(address) => {
            GLOBAL_V6.contains(&address) && !SPECIAL_V6.iter().any(|network| network.contains(&address))
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    struct Fixed(Vec<IpAddr>);

    impl Names for Fixed {
        fn look_up<'a>(&'a self, _: &'a str) -> Pin<Box<dyn Future<Output = io::Result<Vec<IpAddr>>> + Send + 'a>> {
            Box::pin(async { Ok(self.0.clone()) })
        }
    }

    fn guard(addresses: &[&str], allowed: &[&str]) -> Guard {
        let addresses = addresses.iter().map(|address| address.parse().expect("an address")).collect();
        let allowed = allowed.iter().map(|network| network.parse().expect("a network")).collect();
        Guard::new(Arc::new(Fixed(addresses)), allowed)
    }

    #[test]
    fn addresses_are_of_http_and_hold_no_secret_of_their_own() {
        for good in ["https://erp.example/in?a=b", "http://192.0.2.1:8080", "https://例え.jp/"] {
            assert!(Guard::read(good).is_ok(), "{good}");
        }
        let long = format!("https://erp.example/{}", "x".repeat(2_000));
        for bad in [
            "",
            "erp.example",
            "/in",
            "ftp://erp.example/",
            "file:///etc/passwd",
            "gopher://erp.example",
            "https://",
            "https://a@erp.example/",
            "https://a:b@erp.example/",
            "https://erp.example/#x",
            "https://erp.example/a b",
            " https://erp.example/",
            "https://erp.example/\n",
            "https://[::1",
            &long,
        ] {
            assert!(Guard::read(bad).is_err(), "{bad}");
        }
    }

    #[test]
    fn only_the_public_network_is_public() {
        for public in ["8.8.8.8", "93.184.216.34", "2606:4700::1111", "64:ff9b::808:808", "172.32.0.1", "100.128.0.1"] {
            assert!(guard(&[], &[]).permits(public.parse().expect("an address")), "{public}");
        }
        for private in [
            "0.0.0.0",
            "10.1.2.3",
            "100.64.0.1",
            "127.0.0.1",
            "127.255.255.254",
            "169.254.169.254",
            "172.16.0.1",
            "172.31.255.255",
            "192.0.0.1",
            "192.168.1.1",
            "198.19.0.1",
            "224.0.0.1",
            "255.255.255.255",
            "240.0.0.1",
            "::",
            "::1",
            "::ffff:127.0.0.1",
            "::ffff:169.254.169.254",
            "::127.0.0.1",
            "fc00::1",
            "fd00:ec2::254",
            "fe80::1",
            "fec0::1",
            "ff02::1",
            "2001:db8::1",
            "2002:7f00:1::",
            "2001::1",
            "64:ff9b::7f00:1",
            "64:ff9b:1::1",
            "100::1",
            "3fff::1",
        ] {
            assert!(!guard(&[], &[]).permits(private.parse().expect("an address")), "{private}");
        }
    }

    #[tokio::test]
    async fn one_private_address_of_a_name_closes_it_and_the_settings_open_what_they_name() {
        let url = |text: &str| Guard::read(text).expect("an address");
        let name = url("https://erp.example/");
        assert_eq!(guard(&["8.8.8.8"], &[]).check(&name).await, Ok(()));
        assert_eq!(guard(&["8.8.8.8", "10.0.0.1"], &[]).check(&name).await, Err(Closed::Private));
        assert_eq!(guard(&["8.8.8.8", "10.0.0.1"], &["10.0.0.0/24"]).check(&name).await, Ok(()));
        assert_eq!(guard(&["10.0.1.1"], &["10.0.0.0/24"]).check(&name).await, Err(Closed::Private));
        assert_eq!(guard(&["::ffff:10.0.0.1"], &["10.0.0.0/24"]).check(&name).await, Ok(()));
        assert_eq!(guard(&[], &[]).check(&name).await, Err(Closed::Unknown));
        // However it is written, it is the same address.
        for loopback in [
            "http://127.1/",
            "http://0x7f000001/",
            "http://2130706433/",
            "http://017700000001/",
            "http://[::1]/",
            "http://[::ffff:7f00:1]/",
        ] {
            assert_eq!(guard(&["8.8.8.8"], &[]).check(&url(loopback)).await, Err(Closed::Private), "{loopback}");
            assert_eq!(guard(&["8.8.8.8"], &[]).check_literal(&url(loopback)), Err(Closed::Private), "{loopback}");
        }
        assert_eq!(guard(&["8.8.8.8"], &["127.0.0.0/8"]).check(&url("http://127.1/")).await, Ok(()));
    }
}
