//! Items of one byte. How often each byte occurs tells everything that statistics and histograms need.

use std::cmp::{Ordering, Reverse};

use super::items::{ByteItems, CountedItem};
use super::part::ItemPasses;
use crate::engine::quantiles::Key;
use crate::error::Result;
use crate::item::first::{Numbered, find_first, improve, keep_first};
use crate::layout::numbers::ItemNumbers;

/// How often each byte occurs, and the first smallest item, largest item and NaN.
pub(super) struct ByteCounts {
    /// How often each byte occurs.
    pub(super) seen: [u64; 256],
    /// The smallest finite item (+0 and -0 are the same), and its number in C order.
    pub(super) min: Option<Numbered<u8>>,
    /// The largest finite item, and its number.
    pub(super) max: Option<Numbered<u8>>,
    /// The number of the first NaN.
    pub(super) first_nan: Option<Numbered<()>>,
    /// How often each byte occurs in a block, in four counters that do not wait for one another.
    block: [[u32; 256]; 4],
}

impl ByteCounts {
    fn new() -> Self {
        Self { seen: [0; 256], min: None, max: None, first_nan: None, block: [[0; 256]; 4] }
    }

    /// Counts the bytes of a block, the first of which is seen in place `start`. Each of four neighbours has a counter
    /// of its own: where one byte occurs again and again, a single counter would wait for its own last store each time.
    fn add(&mut self, items: &ByteItems, numbers: &ItemNumbers, start: usize, block: &[u8]) {
        let (fours, rest) = block.as_chunks::<4>();
        let [a, b, c, d] = &mut self.block;
        for &[w, x, y, z] in fours {
            a[usize::from(w)] += 1;
            b[usize::from(x)] += 1;
            c[usize::from(y)] += 1;
            d[usize::from(z)] += 1;
        }
        rest.iter().for_each(|&x| a[usize::from(x)] += 1);
        let counts = a.iter().zip(b.iter()).zip(c.iter()).zip(d.iter());
        let (mut low, mut high, mut nan) = (f64::INFINITY, f64::NEG_INFINITY, false);
        for ((value, (((a, b), c), d)), seen) in items.values.iter().zip(counts).zip(&mut self.seen) {
            let new = a + b + c + d;
            *seen += u64::from(new);
            if new > 0 {
                nan |= value.is_nan();
                low = if value.is_finite() { low.min(*value) } else { low };
                high = if value.is_finite() { high.max(*value) } else { high };
            }
        }
        self.block = [[0; 256]; 4];
        let value = |byte: u8| items.value(byte);
        let ascend = numbers.ascend();
        let find =
            |below, wanted: &dyn Fn(f64) -> bool| find_first(numbers, start, block, below, |byte| wanted(value(byte)));
        if nan {
            improve(
                &mut self.first_nan,
                |()| Ordering::Equal,
                ascend,
                |below| find(below, &f64::is_nan).map(|found| Numbered { value: (), item: found.item }),
            );
        }
        if low <= high {
            let order = |a: f64, b: f64| a.partial_cmp(&b).expect("finite items have an order");
            improve(&mut self.min, |&min| order(low, value(min)), ascend, |below| find(below, &|value| value == low));
            improve(&mut self.max, |&max| order(value(max), high), ascend, |below| find(below, &|value| value == high));
        }
    }

    /// Counts all bytes of a part of a tensor.
    pub(super) fn of(passes: ItemPasses<'_>, items: &ByteItems) -> Result<Self> {
        let threads = passes.scan(Self::new, |counts, start, bytes| {
            // the first item of a value is looked for in the block where it first occurs, which is still in the cache
            const BLOCK: usize = 1 << 17;
            for (i, block) in bytes.chunks(BLOCK).enumerate() {
                counts.add(items, &passes.part.numbers, start + i * BLOCK, block);
            }
        })?;
        let mut all = Self::new();
        let value = |byte: u8| items.value(byte);
        for counted in &threads {
            all.seen.iter_mut().zip(&counted.seen).for_each(|(count, more)| *count += more);
            keep_first(&mut all.min, counted.min, |&byte| Reverse(value(byte).rank()));
            keep_first(&mut all.max, counted.max, |&byte| value(byte).rank());
            keep_first(&mut all.first_nan, counted.first_nan, |()| ());
        }
        Ok(all)
    }

    /// Returns the finite item of a rank, from 1 to the number of finite items, in ascending order.
    pub(super) fn of_rank(&self, items: &ByteItems, rank: u64) -> u8 {
        let mut finite: Vec<u8> = (0..=255).filter(|&item| items.value(item).is_finite()).collect();
        finite.sort_by_key(|&a| items.value(a).to_key());
        let mut before = 0;
        let found = finite.into_iter().find(|&item| {
            before += self.seen[usize::from(item)];
            before >= rank
        });
        found.expect("a rank of a finite item")
    }
}
