//! From a provider's subject to a user: an id is made at first sight and never changes.

pub mod service;
pub mod store;

pub use service::Identities;
