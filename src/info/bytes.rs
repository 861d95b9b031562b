//! Items of one byte: how often each byte occurs says all that statistics and histograms ask.

use crate::engine::job::Progress;
use crate::engine::scan::scan;
use crate::error::Result;
use crate::item::dtype::Narrow;
use crate::ops::fill::Limits;
use crate::storage::source::Source;

/// What a byte stands for.
#[derive(Clone, Copy, Debug)]
pub(super) enum Byte {
    Bool,
    Signed,
    Unsigned,
    Narrow(Narrow),
}

impl Byte {
    /// The number, which float64 holds exactly.
    pub(super) fn value(self, byte: u8) -> f64 {
        match self {
            Byte::Bool => f64::from(u8::from(byte != 0)),
            Byte::Signed => f64::from(byte as i8),
            Byte::Unsigned => f64::from(byte),
            Byte::Narrow(narrow) => narrow.value(byte),
        }
    }

    /// Whether it holds integers.
    pub(super) fn is_integer(self) -> bool {
        !matches!(self, Byte::Narrow(narrow) if !narrow.is_integer())
    }
}

/// How often each byte occurs, and where first.
pub(super) struct Counts {
    /// Number of occurrences, and number of the first item.
    pub(super) seen: [(u64, usize); 256],
    /// Occurrences in a block, by four counters that do not wait for one another.
    block: [[u32; 256]; 4],
}

impl Counts {
    fn new() -> Self {
        Self { seen: [(0, usize::MAX); 256], block: [[0; 256]; 4] }
    }

    /// Counts the bytes of a block, the first of which has that number. Each of four neighbours has a counter of its
    /// own: where one byte occurs again and again, a single counter would wait for its own last store each time.
    fn add(&mut self, first: usize, block: &[u8]) {
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
        for ((byte, (((a, b), c), d)), (seen, at)) in (0..=255_u8).zip(counts).zip(&mut self.seen) {
            let new = a + b + c + d;
            if new > 0 && *seen == 0 {
                *at = block.iter().position(|&x| x == byte).map_or(usize::MAX, |i| first + i);
            }
            *seen += u64::from(new);
        }
        self.block = [[0; 256]; 4];
    }

    /// Counts all bytes of a tensor.
    pub(super) fn of(source: &mut Source, limits: Limits, progress: Progress<'_>) -> Result<Self> {
        let threads = scan([source], limits, progress, Self::new, |counts, first, [bytes]| {
            // the first place of a value is searched in the block it first occurs in, which the cache still holds then
            const BLOCK: usize = 1 << 17;
            bytes.chunks(BLOCK).enumerate().for_each(|(i, block)| counts.add(first + i * BLOCK, block));
            Ok(true)
        })?;
        let mut all = Self::new();
        for counted in &threads {
            for ((count, at), (more, first)) in all.seen.iter_mut().zip(&counted.seen) {
                *count += more;
                *at = (*at).min(*first);
            }
        }
        Ok(all)
    }
}
