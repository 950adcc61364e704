//! Mail in this process: what people do about their own, and the post.

use super::MailPreferences;
use crate::config::Settings;
use crate::mail::post::Post;
use crate::pg::{PgMailroom, PgReads, PgStore, PoolSettings, Pools};
use crate::transaction::admission::Admission;
use std::time::Duration;

/// The use cases on mail, on the connections of people's calls.
pub(super) fn preferences(pools: &Pools, settings: &Settings, admission: &Admission) -> MailPreferences {
    let database = &settings.database;
    let limit = PoolSettings::from(database).answer_limit();
    let store = PgStore::new(pools.write.clone(), database.acquire_timeout).answered_within(limit);
    let reads = PgReads::new(pools.read.clone(), database.acquire_timeout, limit);
    let mail = &settings.mail;
    MailPreferences::new(store, reads, admission.clone(), mail.is_on().then_some(mail.confirmations_per_hour))
}

/// The post, on connections that may be used for slow work. Where mail is off it only says so.
///
/// # Errors
/// A sentence, when the settings can't be used.
pub(super) fn post(pools: &Pools, settings: &Settings) -> Result<Post<PgMailroom>, String> {
    let database = &settings.database;
    let limit = PoolSettings::from(database).answer_limit();
    let save_timeout = settings.processing.save_timeout;
    // Who freezes in a step keeps whoever takes over waiting for no longer than a save may take.
    let store = PgStore::new(pools.write.clone(), database.acquire_timeout)
        .answered_within(save_timeout + Duration::from_secs(1))
        .saving_within(save_timeout);
    let room = PgMailroom::new(PgReads::new(pools.write.clone(), database.acquire_timeout, limit), store);
    Ok(Post::new(room, settings.mail.sending()?))
}
