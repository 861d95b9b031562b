//! The set of the windows that an edit touches.

use std::collections::HashMap;

use crate::error::Result;
use crate::memory;

/// The bits of a page of [`WindowSet`].
const PAGE: usize = 1 << 12;

/// A set of window numbers: a bit for each, since updates may come back to a window any number of times. Only pages that
/// hold some are there, as a store may have a grid of 2^40 chunks of which an edit changes ten.
#[derive(Default)]
pub(super) struct WindowSet {
    pages: HashMap<usize, Vec<u64>>,
    /// The page that the last number went to, which most often is that of the next.
    last: (usize, Vec<u64>),
}

impl WindowSet {
    /// Adds a number.
    ///
    /// # Errors
    /// Not enough memory.
    pub(super) fn add(&mut self, number: usize) -> Result<()> {
        let page = number / PAGE;
        if self.last.1.is_empty() || self.last.0 != page {
            let (old, bits) = std::mem::take(&mut self.last);
            if !bits.is_empty() {
                self.pages.insert(old, bits);
            }
            let bits = match self.pages.remove(&page) {
                Some(bits) => bits,
                None => {
                    let mut bits = memory::of(PAGE / 64)?;
                    bits.resize(PAGE / 64, 0);
                    bits
                }
            };
            self.last = (page, bits);
        }
        self.last.1[number % PAGE / 64] |= 1 << (number % 64);
        Ok(())
    }

    /// Returns the numbers in ascending order.
    ///
    /// # Errors
    /// Not enough memory.
    pub(super) fn in_order(mut self) -> Result<Vec<usize>> {
        let (page, bits) = std::mem::take(&mut self.last);
        self.pages.insert(page, bits);
        let mut pages: Vec<_> = self.pages.into_iter().collect();
        pages.sort_by_key(|(page, _)| *page);
        let mut numbers = Vec::new();
        for (page, bits) in &pages {
            for (at, &word) in bits.iter().enumerate().filter(|(_, word)| **word != 0) {
                for bit in (0..64).filter(|bit| word >> bit & 1 == 1) {
                    memory::push(&mut numbers, page * PAGE + at * 64 + bit)?;
                }
            }
        }
        Ok(numbers)
    }
}
