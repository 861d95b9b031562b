//! Constants of ZIP records, and checksums.

use std::collections::BTreeMap;
use std::io::{self, Read};
use std::sync::Mutex;

use flate2::Crc;

use crate::storage::read_at::{ReadAt, Section};
use tensorop_kernels::parallel::{Threads, locked, on_threads};

/// The directory is held in memory, so a claim of 2^64 members must be refused.
pub const MAX_MEMBERS: usize = 1 << 18;

pub(crate) const ENDING: &str = ".npy";

pub(crate) const LOCAL: u32 = 0x0403_4b50;
pub(crate) const END: u32 = 0x0605_4b50;

pub(crate) const LOCAL_BYTES: usize = 30;
pub(crate) const END_BYTES: usize = 22;

/// Fits in a core's own cache.
pub(crate) const CHECK_BUFFER: u64 = 1 << 18;

/// Whether a file begins like a ZIP archive.
pub fn is_npz(begin: &[u8]) -> bool {
    begin.starts_with(&LOCAL.to_le_bytes()) || begin.starts_with(&END.to_le_bytes())
}

pub(crate) fn checksum(file: &dyn ReadAt, at: u64, len: u64, threads: Threads) -> io::Result<Crc> {
    let threads = threads.for_bytes(usize::try_from(len).unwrap_or(usize::MAX));
    let stretch = len.div_ceil(threads as u64);
    let sums = on_threads(threads, |n| -> io::Result<Crc> {
        let begin = (stretch * n as u64).min(len);
        let mut reader = Section::new(file, at + begin, stretch.min(len - begin));
        let mut buffer = vec![0; stretch.min(CHECK_BUFFER) as usize];
        let mut crc = Crc::new();
        loop {
            match reader.read(&mut buffer)? {
                0 => return Ok(crc),
                read => crc.update(&buffer[..read]),
            }
        }
    });
    let mut crc = Crc::new();
    for sum in sums {
        crc.combine(&sum?);
    }
    Ok(crc)
}

/// Checksums of a file's bytes. Adjacent pieces are merged at once, so there are about as many as threads.
#[derive(Debug, Default)]
pub struct WrittenSums {
    /// By offset.
    runs: Mutex<BTreeMap<u64, SummedRun>>,
}

#[derive(Debug)]
struct SummedRun {
    end: u64,
    crc: Crc,
}

impl WrittenSums {
    /// Adds bytes written at `at`.
    pub fn add(&self, bytes: &[u8], at: u64) {
        if bytes.is_empty() {
            return;
        }
        let mut crc = Crc::new();
        crc.update(bytes);
        let mut run = SummedRun { end: at + bytes.len() as u64, crc };
        let mut runs = locked(&self.runs);
        if let Some(next) = runs.remove(&run.end) {
            run.crc.combine(&next.crc);
            run.end = next.end;
        }
        match runs.range_mut(..at).next_back() {
            Some((_, before)) if before.end == at => {
                before.crc.combine(&run.crc);
                before.end = run.end;
            }
            _ => _ = runs.insert(at, run),
        }
    }

    /// Returns the checksum of exactly one written run, or panics.
    pub fn sum_of(&self, at: u64, len: u64) -> Crc {
        let mut sum = Crc::new();
        if len > 0 {
            let runs = locked(&self.runs);
            let run = runs.get(&at).filter(|run| run.end == at + len);
            sum.combine(&run.expect("each item is written once").crc);
        }
        sum
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pieces_in_any_order() {
        let bytes: Vec<u8> = (0..1000_u32).map(|n| (n.wrapping_mul(2_654_435_761) >> 11) as u8).collect();
        let mut whole = Crc::new();
        whole.update(&bytes);
        for piece in [1, 7, 250, 999, 1000, 4000] {
            let pieces: Vec<_> = bytes.chunks(piece).enumerate().map(|(n, bytes)| (n * piece, bytes)).collect();
            let step = [389, 401].into_iter().find(|step| pieces.len() % step != 0).expect("two primes");
            let count = pieces.len();
            type Order<'a> = &'a dyn Fn(usize) -> usize;
            for order in [&|n| n, &|n| count - 1 - n, &|n| n * step % count] as [Order<'_>; 3] {
                let sums = WrittenSums::default();
                sums.add(&bytes, 5000);
                sums.add(&[], 100);
                for n in 0..count {
                    sums.add(pieces[order(n)].1, 100 + pieces[order(n)].0 as u64);
                }
                assert_eq!(sums.sum_of(100, 1000).sum(), whole.sum(), "pieces of {piece}");
                assert_eq!(locked(&sums.runs).len(), 2, "pieces of {piece}");
                assert_eq!(sums.sum_of(70, 0).sum(), Crc::new().sum());
            }
        }
    }

    #[test]
    #[should_panic(expected = "each item is written once")]
    fn bytes_that_were_not_written() {
        let sums = WrittenSums::default();
        sums.add(&[1, 2], 10);
        sums.add(&[4], 13);
        sums.sum_of(10, 4);
    }
}
