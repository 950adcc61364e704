//! `[limits]`: how often may be called.

use ipnet::IpNet;
use serde::Deserialize;
use std::net::IpAddr;

/// `[limits]`: see `config/default.toml` for each.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
#[expect(missing_docs, reason = "config/default.toml documents each of them")]
pub struct Limits {
    pub user_per_s: u32,
    pub user_burst: u32,
    pub organization_per_s: u32,
    pub organization_burst: u32,
    pub address_per_s: u32,
    pub address_burst: u32,
    #[serde(deserialize_with = "super::list")]
    pub trusted_proxies: Vec<String>,
}

impl Limits {
    /// Switches all of them off.
    pub const fn switch_off(&mut self) {
        self.user_per_s = 0;
        self.organization_per_s = 0;
        self.address_per_s = 0;
    }

    /// The networks of the proxies that are believed.
    ///
    /// # Errors
    /// A sentence, when one of them is no network.
    pub fn proxies(&self) -> Result<Vec<IpNet>, String> {
        let read = |text: &String| {
            text.parse().ok().or_else(|| text.parse::<IpAddr>().ok().map(IpNet::from)).ok_or_else(|| {
                format!("limits.trusted_proxies: {text:?} must be an address or a network, such as 10.0.0.0/8")
            })
        };
        self.trusted_proxies.iter().map(read).collect()
    }

    pub(super) fn check(&self) -> Result<(), String> {
        for (name, per_second, burst) in [
            ("user", self.user_per_s, self.user_burst),
            ("organization", self.organization_per_s, self.organization_burst),
            ("address", self.address_per_s, self.address_burst),
        ] {
            if per_second > 0 && burst == 0 {
                return Err(format!(
                    "limits.{name}_burst must be 1 or more; for no limit at all, set limits.{name}_per_s to 0"
                ));
            }
        }
        self.proxies().map(|_| ())
    }
}
