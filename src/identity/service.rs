//! The use case, with a memory in front of the store.

use super::store::IdentityStore;
use crate::domain::identity::Identity;
use crate::domain::ids::UserId;
use crate::transaction::StoreError;
use std::collections::HashMap;
use std::sync::{Arc, PoisonError, RwLock};

/// How many identities each of the two generations remembers: some 10 MB at the most.
const GENERATION: usize = 20_000;

/// Finds users by identity.
#[derive(Clone, Debug)]
pub struct Identities<S> {
    store: S,
    memory: Arc<RwLock<Memory>>,
}

impl<S: IdentityStore> Identities<S> {
    /// On `store`, remembering nobody yet.
    #[must_use]
    pub fn new(store: S) -> Self {
        Self { store, memory: Arc::new(RwLock::new(Memory::new(GENERATION))) }
    }

    /// The user, where this process has met him before: no database, no task, no allocation.
    #[must_use]
    pub fn known(&self, identity: &Identity) -> Option<UserId> {
        self.memory.read().unwrap_or_else(PoisonError::into_inner).get(identity)
    }

    /// The user of this identity, made now if it was never seen before. Two processes at once give it one id.
    ///
    /// # Errors
    /// [`StoreError`].
    pub async fn user(&self, identity: &Identity) -> Result<UserId, StoreError> {
        let user = match self.store.find(identity).await? {
            Some(user) => user,
            None => self.store.add(identity, UserId::new()).await?,
        };
        self.memory.write().unwrap_or_else(PoisonError::into_inner).keep(identity.clone(), user);
        Ok(user)
    }
}

/// A bounded memory of what never changes, so that forgetting costs one read and staleness is impossible. Two
/// generations: when the young one is full it becomes the old one, and whoever was met in neither since is forgotten.
/// That is all of an LRU that this needs, without a dependency and without a write lock on a hit.
#[derive(Debug)]
struct Memory {
    young: HashMap<Identity, UserId>,
    old: HashMap<Identity, UserId>,
    generation: usize,
}

impl Memory {
    fn new(generation: usize) -> Self {
        Self { young: HashMap::new(), old: HashMap::new(), generation }
    }

    fn get(&self, identity: &Identity) -> Option<UserId> {
        self.young.get(identity).or_else(|| self.old.get(identity)).copied()
    }

    fn keep(&mut self, identity: Identity, user: UserId) {
        if self.young.len() >= self.generation {
            self.old = std::mem::take(&mut self.young);
        }
        self.young.insert(identity, user);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use uuid::Uuid;

    #[test]
    fn the_memory_is_bounded_and_keeps_the_last_ones() {
        let issuer: Arc<str> = "https://id.example".into();
        let identity = |n: u128| Identity::new(&issuer, n.to_string()).expect("a subject");
        let mut memory = Memory::new(10);
        for n in 0..1_000 {
            memory.keep(identity(n), UserId(Uuid::from_u128(n)));
            assert!(memory.young.len() + memory.old.len() <= 20);
        }
        for n in 990..1_000 {
            assert_eq!(memory.get(&identity(n)), Some(UserId(Uuid::from_u128(n))));
        }
        assert_eq!(memory.get(&identity(0)), None);
    }

    #[test]
    fn one_subject_of_two_issuers_is_two_people() {
        let of = |issuer: &str| Identity::new(&issuer.into(), "7".to_owned()).expect("a subject");
        let mut memory = Memory::new(10);
        memory.keep(of("https://a.example"), UserId(Uuid::from_u128(1)));
        assert_eq!(memory.get(&of("https://b.example")), None);
    }
}
