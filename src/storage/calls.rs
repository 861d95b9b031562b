//! Counters of the calls of the system that files are asked for. A run is explained by what it has asked for until then, and by a
//! rehearsal of the rest, in which nothing is read.
//!
//! Only a run that is explained opens its operands with a counter.

use std::io;
use std::ops::{Add, AddAssign};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};

use super::read_at::{Identity, PackedFile, ReadAt, Stamp};
use crate::layout::gather::GapRun;

/// Calls of the system, and the bytes that they move.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Calls {
    /// How many reads there are.
    pub reads: u64,
    /// The bytes that they read.
    pub bytes_read: u64,
    /// How many writes there are.
    pub writes: u64,
    /// The bytes that they write.
    pub bytes_written: u64,
}

impl Calls {
    /// Returns one read of this many bytes.
    pub fn read(bytes: usize) -> Self {
        Self { reads: 1, bytes_read: bytes as u64, ..Self::default() }
    }

    /// Returns one write of this many bytes.
    pub fn write(bytes: usize) -> Self {
        Self { writes: 1, bytes_written: bytes as u64, ..Self::default() }
    }

    /// Returns about what there is in all if these calls are for `some` of `all` alike things.
    #[must_use]
    pub fn scaled(self, some: usize, all: usize) -> Self {
        let of_all = |count: u64| ((u128::from(count) * all as u128 + some as u128 / 2) / some.max(1) as u128) as u64;
        let Self { reads, bytes_read, writes, bytes_written } = self;
        let [reads, bytes_read, writes, bytes_written] = [reads, bytes_read, writes, bytes_written].map(of_all);
        Self { reads, bytes_read, writes, bytes_written }
    }
}

impl Add for Calls {
    type Output = Self;

    fn add(self, other: Self) -> Self {
        Self {
            reads: self.reads.saturating_add(other.reads),
            bytes_read: self.bytes_read.saturating_add(other.bytes_read),
            writes: self.writes.saturating_add(other.writes),
            bytes_written: self.bytes_written.saturating_add(other.bytes_written),
        }
    }
}

impl AddAssign for Calls {
    fn add_assign(&mut self, other: Self) {
        *self = *self + other;
    }
}

/// Counts what is asked of the files that are opened with it.
#[derive(Debug, Default)]
pub struct CallCounter {
    reads: AtomicU64,
    bytes_read: AtomicU64,
    writes: AtomicU64,
    bytes_written: AtomicU64,
    is_rehearsal: AtomicBool,
}

impl CallCounter {
    /// Returns all calls since they were taken last.
    pub fn take(&self) -> Calls {
        let all = [&self.reads, &self.bytes_read, &self.writes, &self.bytes_written];
        let [reads, bytes_read, writes, bytes_written] = all.map(|count| count.swap(0, Ordering::Relaxed));
        Calls { reads, bytes_read, writes, bytes_written }
    }

    /// Counts calls.
    pub fn add(&self, calls: Calls) {
        let Calls { reads, bytes_read, writes, bytes_written } = calls;
        let all = [&self.reads, &self.bytes_read, &self.writes, &self.bytes_written];
        for (own, more) in all.into_iter().zip([reads, bytes_read, writes, bytes_written]) {
            own.fetch_add(more, Ordering::Relaxed);
        }
    }

    /// Calls `run`, and returns what that returns and asks for, which is not counted.
    pub fn apart<T>(&self, run: impl FnOnce() -> T) -> (T, Calls) {
        let before = self.take();
        let done = run();
        let calls = self.take();
        self.add(before);
        (done, calls)
    }

    /// Calls `run`, and returns what that asks for, which is not counted. Nothing is read meanwhile: what
    /// would be overwritten stays as it is.
    ///
    /// # Errors
    /// Those of `run`.
    pub fn rehearse<E>(&self, run: impl FnOnce() -> Result<(), E>) -> Result<Calls, E> {
        self.is_rehearsal.store(true, Ordering::Relaxed);
        let (done, calls) = self.apart(run);
        self.is_rehearsal.store(false, Ordering::Relaxed);
        done.map(|()| calls)
    }

    /// Returns whether nothing is read, since a run is [rehearsed](Self::rehearse).
    pub fn is_rehearsal(&self) -> bool {
        self.is_rehearsal.load(Ordering::Relaxed)
    }
}

/// Bytes whose reads a counter counts.
#[derive(Debug)]
struct CountedBytes {
    bytes: Arc<dyn ReadAt>,
    counter: Arc<CallCounter>,
}

/// Returns the same bytes, whose reads the counter counts, if there is one.
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

    #[test]
    fn calls_of_a_sample_stand_for_all() {
        let calls = Calls { reads: 3, bytes_read: 10, writes: 0, bytes_written: u64::MAX / 4 };
        let expected = Calls { reads: 6, bytes_read: 20, writes: 0, bytes_written: u64::MAX / 4 * 2 };
        assert_eq!(calls.scaled(2, 4), expected);
        assert_eq!(Calls::read(9).scaled(128, 129), Calls::read(9), "to the nearest");
        assert_eq!(calls.scaled(0, 0), Calls::default());
    }
}
