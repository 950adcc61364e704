//! How people sign in at the page: which identity provider, and, at a demo on the person's own machine, as whom.
//!
//! The page is like any other client: it sends tokens of a provider that `auth.issuers` names. What it needs to know to
//! get one is public. The demo's tokens are made here, and only where nobody but the people at this very machine can
//! ask: see [`DemoSignIn`].

use super::body::{Fields, read_object};
use super::problem::{Code, Problem};
use super::state::{State, read};
use crate::domain::ids::UserId;
use crate::domain::text::Violation;
use crate::tokens::sign;
use actix_web::http::header;
use actix_web::web::{Data, Payload};
use actix_web::{HttpRequest, HttpResponse};
use serde::Serialize;
use std::net::{IpAddr, SocketAddr};
use std::time::Duration;
use utoipa::ToSchema;
use uuid::Uuid;

/// How long a token of the demo lasts: a working day.
const DEMO_LIFETIME: Duration = Duration::from_hours(8);

/// The identity provider of the page.
#[derive(Clone, Debug)]
pub struct ProviderSettings {
    /// Exactly its `issuer`; its discovery document is below it.
    pub issuer: String,
    /// The client that the page is registered as, without a secret.
    pub client_id: String,
    /// What is asked for, separated by spaces.
    pub scope: String,
    /// The resource that the token is for (RFC 8707). Empty: none is named.
    pub resource: String,
    /// Other origins that the page may ask, where the provider's calls are not at its issuer's.
    pub origins: Vec<String>,
}

/// Somebody of the demo organization.
#[derive(Clone, Debug)]
pub struct DemoPerson {
    /// The user.
    pub id: UserId,
    /// The name.
    pub name: &'static str,
    /// May decide.
    pub can_approve: bool,
    /// Administers.
    pub is_admin: bool,
}

/// Signing in as somebody of the demo organization, by choosing.
///
/// It is only there where the demo was asked for, the local key signs its tokens, and the address is this machine's
/// own. A call must come from this machine, must name it (another name that leads here would be a page of strangers
/// that rebinds its DNS), must not have come through a proxy, and a browser must send it from this page.
#[derive(Clone)]
pub struct DemoSignIn {
    secret: Vec<u8>,
    people: Vec<DemoPerson>,
}

impl std::fmt::Debug for DemoSignIn {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("DemoSignIn").field("people", &self.people.len()).finish_non_exhaustive()
    }
}

impl DemoSignIn {
    /// Of these people, if `listen` is an address of this machine alone and there is a local key.
    #[must_use]
    pub fn on(listen: SocketAddr, secret: &str, people: Vec<DemoPerson>) -> Option<Self> {
        let local = listen.ip().is_loopback() && !secret.is_empty();
        local.then(|| Self { secret: secret.as_bytes().to_vec(), people })
    }

    /// True for a call that a person at this machine made by himself.
    fn is_for(request: &HttpRequest) -> bool {
        let header = |name: &str| request.headers().get(name).and_then(|value| value.to_str().ok());
        let host = header("host").unwrap_or_default();
        let at_home = request.peer_addr().is_some_and(|peer| peer.ip().is_loopback()) && is_loopback_name(host);
        let forwarded = ["forwarded", "via", "x-forwarded-for", "x-forwarded-host", "x-forwarded-proto", "x-real-ip"];
        let direct = !forwarded.iter().any(|name| request.headers().contains_key(*name));
        let same_page = header("sec-fetch-site").is_none_or(|site| site == "same-origin")
            && header("origin").is_none_or(|origin| origin == format!("http://{host}"));
        at_home && direct && same_page
    }
}

/// `localhost`, or an address of this machine, with or without a port.
fn is_loopback_name(host: &str) -> bool {
    let name = match host.strip_prefix('[') {
        Some(rest) => rest.split(']').next().unwrap_or_default(),
        None => host.split(':').next().unwrap_or_default(),
    };
    name.eq_ignore_ascii_case("localhost") || name.parse::<IpAddr>().is_ok_and(|address| address.is_loopback())
}

/// How people sign in at the page.
#[derive(Clone, Debug)]
pub struct SignIn {
    provider: Option<ProviderSettings>,
    demo: Option<DemoSignIn>,
    policy: String,
}

impl SignIn {
    /// With what there is of them; a token can be pasted in any case.
    #[must_use]
    pub fn new(provider: Option<ProviderSettings>, demo: Option<DemoSignIn>) -> Self {
        let mut connect = vec!["'self'".to_owned()];
        if let Some(provider) = &provider {
            connect.push(origin_of(&provider.issuer).to_owned());
            connect.extend(provider.origins.iter().cloned());
        }
        // Nothing inline, nothing from elsewhere, and no request to anybody but this server and the provider.
        let policy = format!(
            "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; font-src 'self'; \
             manifest-src 'self'; connect-src {}; frame-ancestors 'none'; base-uri 'none'; form-action 'none'; \
             require-trusted-types-for 'script'; trusted-types 'none'",
            connect.join(" ")
        );
        Self { provider, demo, policy }
    }

    /// What the page's document may load and whom it may ask: its Content-Security-Policy.
    pub(super) fn policy(&self) -> &str {
        &self.policy
    }

    fn demo_for(&self, request: &HttpRequest) -> Option<&DemoSignIn> {
        self.demo.as_ref().filter(|_| DemoSignIn::is_for(request))
    }
}

/// The origin of an address: scheme, host and port.
fn origin_of(url: &str) -> &str {
    let from = url.find("://").map_or(0, |at| at + 3);
    let end = url.get(from..).and_then(|rest| rest.find('/')).map_or(url.len(), |at| from + at);
    url.get(..end).unwrap_or(url)
}

/// How people can sign in here.
#[derive(Debug, Serialize, ToSchema)]
#[schema(as = SignIn)]
pub(super) struct SignInDto {
    /// The identity provider of the page, by authorization code with PKCE; null where none is set.
    provider: Option<SignInProviderDto>,
    /// The people to choose from at a demo on this very machine; null everywhere else.
    demo: Option<Vec<SignInPersonDto>>,
}

/// What a page without a secret needs to know of an identity provider.
#[derive(Debug, Serialize, ToSchema)]
#[schema(as = SignInProvider)]
struct SignInProviderDto {
    issuer: String,
    client_id: String,
    /// Separated by spaces.
    scope: String,
    /// The `resource` that is asked for (RFC 8707).
    resource: Option<String>,
}

/// Somebody of the demo organization.
#[derive(Debug, Serialize, ToSchema)]
#[schema(as = SignInPerson)]
struct SignInPersonDto {
    user_id: Uuid,
    display_name: String,
    can_approve: bool,
    is_admin: bool,
}

/// A token of the demo.
#[derive(Debug, Serialize, ToSchema)]
#[schema(as = DemoToken)]
pub(super) struct DemoTokenDto {
    /// For `Authorization: Bearer`.
    token: String,
    /// In seconds.
    expires_in: u64,
}

/// How people can sign in here.
pub(super) async fn ways(request: HttpRequest, state: Data<State>) -> HttpResponse {
    let sign_in = &state.sign_in;
    let person = |person: &DemoPerson| SignInPersonDto {
        user_id: person.id.0,
        display_name: person.name.to_owned(),
        can_approve: person.can_approve,
        is_admin: person.is_admin,
    };
    read(&SignInDto {
        provider: sign_in.provider.as_ref().map(|provider| SignInProviderDto {
            issuer: provider.issuer.clone(),
            client_id: provider.client_id.clone(),
            scope: provider.scope.clone(),
            resource: Some(provider.resource.clone()).filter(|resource| !resource.is_empty()),
        }),
        demo: sign_in.demo_for(&request).map(|demo| demo.people.iter().map(person).collect()),
    })
}

/// A token for somebody of the demo organization.
pub(super) async fn demo(request: HttpRequest, payload: Payload, state: Data<State>) -> Result<HttpResponse, Problem> {
    let demo = state.sign_in.demo_for(&request).ok_or_else(Problem::not_found)?;
    let mut fields = Fields::new(read_object(&request, payload, state.body_limits).await?);
    let user = fields.uuid("user_id");
    fields.finish()?;
    let Some(person) = demo.people.iter().find(|person| person.id.0 == user) else {
        let unknown = Violation::new("user_id", "range", "must be one of the people of the demo");
        return Err(Problem::invalid(Code::ValidationFailed, vec![unknown]));
    };
    let token = sign(&demo.secret, person.id, DEMO_LIFETIME).map_err(|error| {
        tracing::error!(%error, "a token of the demo can't be signed");
        Problem::internal()
    })?;
    let mut response = read(&DemoTokenDto { token, expires_in: DEMO_LIFETIME.as_secs() });
    response.headers_mut().insert(header::CACHE_CONTROL, header::HeaderValue::from_static("no-store"));
    Ok(response)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_this_machines_own_names_are_its_own() {
        for own in ["localhost", "LocalHost:8080", "127.0.0.1", "127.0.0.1:8080", "127.1.2.3", "[::1]:8080"] {
            assert!(is_loopback_name(own), "{own}");
        }
        for other in ["", "example.com", "localhost.example.com", "127.0.0.1.nip.io:80", "10.0.0.1", "[::2]", "0.0.0.0"]
        {
            assert!(!is_loopback_name(other), "{other}");
        }
    }

    #[test]
    fn the_demo_is_for_this_machine_with_a_local_key() {
        let at = |address: &str, secret: &str| DemoSignIn::on(address.parse().unwrap(), secret, Vec::new()).is_some();
        assert!(at("127.0.0.1:8080", "key") && at("[::1]:8080", "key"));
        assert!(!at("127.0.0.1:8080", "") && !at("0.0.0.0:8080", "key") && !at("192.168.1.7:8080", "key"));
    }

    #[test]
    fn the_policy_lets_in_this_server_and_the_provider_alone() {
        let provider = ProviderSettings {
            issuer: "https://id.example:8443/realms/main".to_owned(),
            client_id: "ringi".to_owned(),
            scope: "openid".to_owned(),
            resource: String::new(),
            origins: vec!["https://tokens.example".to_owned()],
        };
        let policy = SignIn::new(Some(provider), None).policy;
        assert!(policy.contains("connect-src 'self' https://id.example:8443 https://tokens.example;"), "{policy}");
        assert!(SignIn::new(None, None).policy.contains("connect-src 'self';"));
        assert!(!policy.contains("unsafe"), "{policy}");
    }
}
