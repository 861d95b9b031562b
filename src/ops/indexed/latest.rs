//! What several threads need at about the same time and one of them makes.

use std::sync::{Arc, Mutex};

use crate::error::Result;
use crate::parallel::locked;

/// How many are kept: threads that are done with one have begun the next.
pub(super) const KEPT: usize = 2;

/// The latest of some numbered things, the last that was made at the end.
#[derive(Debug)]
pub(super) struct Latest<T>(Mutex<Vec<(usize, Arc<T>)>>);

impl<T> Default for Latest<T> {
    fn default() -> Self {
        Self(Mutex::default())
    }
}

impl<T> Latest<T> {
    /// Returns the thing of that number, which `make` makes now if it is none of the latest.
    ///
    /// # Errors
    /// Those of `make`.
    pub(super) fn get(&self, number: usize, make: impl FnOnce() -> Result<T>) -> Result<Arc<T>> {
        // The lock is kept meanwhile: other threads need this same thing next, so that blocking them is cheaper than making it
        // twice.
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
