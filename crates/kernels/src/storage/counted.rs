//! Bytes whose reads are counted, or only counted in a rehearsal.

use std::io;
use std::sync::Arc;

use super::calls::{CallCounter, Calls};
use super::read_at::{Identity, PackedFile, ReadAt, Stamp};
use crate::layout::gather::GapRun;

#[derive(Debug)]
struct CountedBytes {
    bytes: Arc<dyn ReadAt>,
    counter: Arc<CallCounter>,
}

/// Counts the reads of `bytes`, if there is a counter.
pub fn counted(bytes: Arc<dyn ReadAt>, counter: Option<&Arc<CallCounter>>) -> Arc<dyn ReadAt> {
    match counter {
        Some(counter) => Arc::new(CountedBytes { bytes, counter: Arc::clone(counter) }),
        None => bytes,
    }
}

impl ReadAt for CountedBytes {
    fn size(&self) -> io::Result<u64> {
        self.bytes.size()
    }

    fn read_at(&self, out: &mut [u8], at: u64) -> io::Result<()> {
        self.counter.add(Calls::read(out.len()));
        if self.counter.is_rehearsal() {
            return Ok(());
        }
        self.bytes.read_at(out, at)
    }

    fn stamp(&self) -> io::Result<Stamp> {
        self.bytes.stamp()
    }

    fn identity(&self) -> io::Result<Identity> {
        self.bytes.identity()
    }

    fn as_file(&self) -> Option<&std::fs::File> {
        self.bytes.as_file()
    }

    fn as_packed_file(&self) -> Option<PackedFile<'_>> {
        self.bytes.as_packed_file()
    }

    fn costs_requests(&self) -> bool {
        self.bytes.costs_requests()
    }

    fn spare(&self, gaps: GapRun) -> usize {
        self.bytes.spare(gaps)
    }

    fn counter(&self) -> Option<&Arc<CallCounter>> {
        Some(&self.counter)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::storage::read_at::MemoryBytes;

    #[test]
    fn counts_and_rehearses() {
        let counter = Arc::new(CallCounter::default());
        let bytes = counted(Arc::new(MemoryBytes::new(vec![7; 9])), Some(&counter));
        let mut out = [1; 4];
        bytes.read_at(&mut out, 5).unwrap();
        assert_eq!((out, counter.take()), ([7; 4], Calls::read(4)));
        let rehearsed = counter.rehearse(|| {
            counter.add(Calls::write(3));
            bytes.read_at(&mut out, 0)
        });
        assert_eq!((out, rehearsed.unwrap()), ([7; 4], Calls::read(4) + Calls::write(3)));
        assert!(counter.rehearse(|| bytes.read_at(&mut [0; 100], 0)).is_ok(), "nothing is read, so nothing ends early");
        assert!(bytes.read_at(&mut [0; 100], 0).is_err() && !counter.is_rehearsal());
    }
}
