//! Statistics of one-byte dtypes, from the count of each byte; and hashes.

use std::cmp::{Ordering, Reverse};
use std::io::Read;

use sha2::{Digest, Sha256};

use super::items::{ByteItems, CountedItem};
use super::part::ItemPasses;
use crate::formats::npy::write_header;
use crate::operators::fill::Limits;
use crate::plans::job::Progress;
use crate::plans::quantiles::Key;
use crate::plans::scan::scan_in_order;
use crate::storage::source::Source;
use tensorop_kernels::error::Result;
use tensorop_kernels::item::dtype::Kind;
use tensorop_kernels::item::first::{Numbered, find_first, improve, keep_first};
use tensorop_kernels::item::meta::Meta;
use tensorop_kernels::layout::numbers::ItemNumbers;
use tensorop_kernels::memory::fill_from;

pub(super) struct ByteCounts {
    pub(super) seen: [u64; 256],
    /// +0 and -0 are equal.
    pub(super) min: Option<Numbered<u8>>,
    pub(super) max: Option<Numbered<u8>>,
    pub(super) first_nan: Option<Numbered<()>>,
    block: [[u32; 256]; 4],
}

impl ByteCounts {
    fn new() -> Self {
        Self { seen: [0; 256], min: None, max: None, first_nan: None, block: [[0; 256]; 4] }
    }

    /// Four counters take turns, because a repeated byte would wait for the previous store of a single counter.
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

    pub(super) fn of(passes: ItemPasses<'_>, items: &ByteItems) -> Result<Self> {
        let threads = passes.scan(Self::new, |counts, start, bytes| {
            // The block is still in the cache.
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

    pub(super) fn at_rank(&self, items: &ByteItems, rank: u64) -> u8 {
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

/// The SHA-256 of the `.npy` file that `numpy.save` writes for the tensor in C order and little-endian, equal to the
/// output of `sha256sum`. Types of up to 8 bits that NumPy does not know count as void of one byte. One thread hashes
/// all windows, because common tools cannot verify a tree of hashes.
///
/// # Errors
/// Reading fails, or memory is not available.
pub fn hash(source: &mut Source, limits: Limits, progress: Progress<'_>) -> Result<String> {
    let unnamed = matches!(source.dtype().kind(), Kind::Narrow(_));
    let dtype = if unnamed { Kind::Void(1).into() } else { source.dtype().native() };
    let canonical = Meta::new(dtype, source.shape().to_vec());
    let mut hasher = Sha256::new_with_prefix(write_header(&canonical));
    scan_in_order(source, limits, progress, &mut |items| {
        hasher.update(items);
        Ok(())
    })?;
    let digest = hasher.finalize();
    Ok(digest.iter().map(|byte| format!("{byte:02x}")).collect())
}

/// The length of a stream and its SHA-256.
///
/// # Errors
/// Reading fails.
pub fn hash_bytes(mut stream: impl Read) -> Result<(u64, String)> {
    let (mut hasher, mut buffer, mut bytes) = (Sha256::new(), vec![0; 1 << 16], 0);
    loop {
        let read = fill_from(&mut stream, &mut buffer)?;
        hasher.update(&buffer[..read]);
        bytes += read as u64;
        if read < buffer.len() {
            return Ok((bytes, hasher.finalize().iter().map(|byte| format!("{byte:02x}")).collect()));
        }
    }
}
