//! The set of windows that an edit touches.

use std::collections::BTreeMap;

use crate::error::Result;
use crate::memory;

const PAGE: usize = 1 << 12;

/// A bit per window, because updates may return to a window any number of times. Pages are allocated on first use: an
/// edit may change ten of 2^40 chunks.
#[derive(Default)]
pub(super) struct WindowSet(BTreeMap<usize, Box<[u64; PAGE / 64]>>);

impl WindowSet {
    pub(super) fn add(&mut self, number: usize) {
        let page = self.0.entry(number / PAGE).or_insert_with(|| Box::new([0; PAGE / 64]));
        page[number % PAGE / 64] |= 1 << (number % 64);
    }

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
