//! Shares values among threads that need them soon after each other.

use std::sync::{Arc, Mutex};

use crate::error::Result;
use crate::parallel::locked;

/// Threads that have finished one value have begun the next.
pub(super) const KEPT: usize = 2;

#[derive(Debug)]
pub(super) struct Latest<T>(Mutex<Vec<(usize, Arc<T>)>>);

impl<T> Default for Latest<T> {
    fn default() -> Self {
        Self(Mutex::default())
    }
}

impl<T> Latest<T> {
    pub(super) fn get(&self, number: usize, make: impl FnOnce() -> Result<T>) -> Result<Arc<T>> {
        // Holds the lock during `make`: blocking other threads costs less than making the value twice.
        let mut kept = locked(&self.0);
        if let Some((_, found)) = kept.iter().find(|(n, _)| *n == number) {
            return Ok(Arc::clone(found));
        }
        if kept.len() == KEPT {
            kept.remove(0);
        }
        let made = Arc::new(make()?);
        kept.push((number, Arc::clone(&made)));
        Ok(made)
    }
}
