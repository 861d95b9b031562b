//! Counters of system calls, for `--explain`: a run counts its calls so far and rehearses the rest without reading.

use std::ops::{Add, AddAssign};
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};

/// Numbers of system calls and of transferred bytes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Calls {
    pub reads: u64,
    pub bytes_read: u64,
    pub writes: u64,
    pub bytes_written: u64,
}

impl Calls {
    pub fn read(bytes: usize) -> Self {
        Self { reads: 1, bytes_read: bytes as u64, ..Self::default() }
    }

    pub fn write(bytes: usize) -> Self {
        Self { writes: 1, bytes_written: bytes as u64, ..Self::default() }
    }

    /// Extrapolates from `some` of `all` similar items to all.
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

/// Counts the calls on files.
#[derive(Debug, Default)]
pub struct CallCounter {
    reads: AtomicU64,
    bytes_read: AtomicU64,
    writes: AtomicU64,
    bytes_written: AtomicU64,
    is_rehearsal: AtomicBool,
}

impl CallCounter {
    /// Returns the counts and resets them to 0.
    pub fn take(&self) -> Calls {
        let all = [&self.reads, &self.bytes_read, &self.writes, &self.bytes_written];
        let [reads, bytes_read, writes, bytes_written] = all.map(|count| count.swap(0, Ordering::Relaxed));
        Calls { reads, bytes_read, writes, bytes_written }
    }

    pub fn add(&self, calls: Calls) {
        let Calls { reads, bytes_read, writes, bytes_written } = calls;
        let all = [&self.reads, &self.bytes_read, &self.writes, &self.bytes_written];
        for (own, more) in all.into_iter().zip([reads, bytes_read, writes, bytes_written]) {
            own.fetch_add(more, Ordering::Relaxed);
        }
    }

    /// Returns the result and the calls of `run`, which are not counted.
    pub fn apart<T>(&self, run: impl FnOnce() -> T) -> (T, Calls) {
        let before = self.take();
        let done = run();
        let calls = self.take();
        self.add(before);
        (done, calls)
    }

    /// Returns the calls of `run`, which are not counted. Nothing is read, so that buffers keep their contents.
    pub fn rehearse<E>(&self, run: impl FnOnce() -> Result<(), E>) -> Result<Calls, E> {
        self.is_rehearsal.store(true, Ordering::Relaxed);
        let (done, calls) = self.apart(run);
        self.is_rehearsal.store(false, Ordering::Relaxed);
        done.map(|()| calls)
    }

    /// Returns whether reads are only counted.
    pub fn is_rehearsal(&self) -> bool {
        self.is_rehearsal.load(Ordering::Relaxed)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn calls_of_a_sample_stand_for_all() {
        let calls = Calls { reads: 3, bytes_read: 10, writes: 0, bytes_written: u64::MAX / 4 };
        let expected = Calls { reads: 6, bytes_read: 20, writes: 0, bytes_written: u64::MAX / 4 * 2 };
        assert_eq!(calls.scaled(2, 4), expected);
        assert_eq!(Calls::read(9).scaled(128, 129), Calls::read(9), "to the nearest");
        assert_eq!(calls.scaled(0, 0), Calls::default());
    }
}
