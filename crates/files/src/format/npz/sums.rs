//! Checksums of written bytes, merged from the pieces.

use std::collections::BTreeMap;
use std::sync::Mutex;

use flate2::Crc;

use crate::parallel::locked;

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
