//! The set of the windows that an edit touches.

use std::collections::BTreeMap;

use crate::error::Result;
use crate::memory;

/// The bits of a page of [`WindowSet`].
const PAGE: usize = 1 << 12;

/// A set of window numbers: a bit for each, since updates may come back to a window any number of times. A page of bits is
/// made when the first of its windows is touched, as a store may have a grid of 2^40 chunks of which an edit changes ten.
#[derive(Default)]
pub(super) struct WindowSet(BTreeMap<usize, Box<[u64; PAGE / 64]>>);

impl WindowSet {
    /// Adds a number.
    pub(super) fn add(&mut self, number: usize) {
        let page = self.0.entry(number / PAGE).or_insert_with(|| Box::new([0; PAGE / 64]));
        page[number % PAGE / 64] |= 1 << (number % 64);
    }

    /// Returns the numbers in ascending order.
    ///
    /// # Errors
    /// Not enough memory.
    pub(super) fn in_order(&self) -> Result<Vec<usize>> {
        let mut numbers = Vec::new();
        for (page, bits) in &self.0 {
            for (at, &word) in bits.iter().enumerate().filter(|(_, word)| **word != 0) {
                for bit in (0..64).filter(|bit| word >> bit & 1 == 1) {
                    memory::push(&mut numbers, page * PAGE + at * 64 + bit)?;
                }
            }
        }
        Ok(numbers)
    }
}
