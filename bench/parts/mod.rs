//! What is measured, a part each.

pub mod approve;
pub mod closing;
pub mod events;
pub mod hot;
pub mod latency;
pub mod lease;
pub mod memory;
pub mod reads;
pub mod webhooks;

use crate::data::{self, ORGANIZATION, REQUEST, Shape};
use crate::http::post;
use crate::load::Calls;
use crate::serve::SECRET;
use ringi::domain::ids::UserId;
use ringi::tokens::sign;
use std::sync::Arc;
use std::time::Duration;

pub fn token(user: UserId) -> String {
    sign(SECRET.as_bytes(), user, Duration::from_secs(8 * 3600)).unwrap_or_default()
}

pub fn organization_path(organization: u64) -> String {
    format!("/api/v1/organizations/{}", data::id(ORGANIZATION, organization))
}

pub fn request_path(shape: Shape, k: u64) -> String {
    format!("{}/requests/{}", organization_path(shape.organization_of(k)), data::id(REQUEST, k))
}

/// The `k`th call approves the `k`th request, by the approver of its organization.
pub fn approvals(shape: Shape) -> Calls {
    approvals_of(shape, Some)
}

/// The same, of the requests that `pick` chooses.
pub fn approvals_of(shape: Shape, pick: impl Fn(u64) -> Option<u64> + Send + Sync + 'static) -> Calls {
    let tokens: Vec<_> = (0..shape.organizations).map(|organization| token(data::approver(organization))).collect();
    Arc::new(move |n| {
        let k = pick(u64::try_from(n).ok()?)?;
        let organization = usize::try_from(shape.organization_of(k)).ok()?;
        let path = format!("{}/approve", request_path(shape, k));
        (k < shape.requests)
            .then(|| post(&path, tokens.get(organization).map_or("", String::as_str), "", r#"{"version":2}"#))
    })
}
