//! Threads that share work. Only the signal handler starts threads elsewhere, so a limit of 1 starts none. If the
//! system refuses threads, the calling thread does all work.

use std::convert::Infallible;
use std::num::NonZero;
use std::panic::resume_unwind;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Condvar, Mutex, MutexGuard, OnceLock};
use std::thread::{self, Builder, Scope, ScopedJoinHandle};

const WORTH_A_THREAD: usize = 1 << 20;

/// Tensors of fewer bytes are the work of one thread: starting threads takes longer than a few pages of items, and a
/// checkpoint has thousands of small tensors.
pub const SMALL_TENSOR: usize = 8 << 20;

/// The bytes of items that take as long as a tensor takes beside its items, some 20 microseconds.
const TENSOR: usize = 1 << 16;

/// The most small tensors of a batch, which a thread works on without waiting for others.
const BATCH: usize = 32;

/// The least batches for each thread, so that none waits long for the last.
const BATCHES: usize = 4;

/// The default maximum. Copies wait for memory and disks: a reversed slice of 256 MiB took 0.4 s of processor time with
/// 2 threads on two cores, 0.6 s with 8 and 0.9 s with 64, in the same wall-clock time. Servers and chunk decoding gain
/// from more.
pub const USUAL_THREADS: usize = 8;

/// Linux numbers threads up to 2^22.
const MAX_NUMBERED: usize = 1 << 22;

/// The panic of a thread spreads to the thread that shares the work.
pub const UNPOISONED: &str = "a thread that panics ends the program";

/// Locks a mutex.
pub fn locked<T: ?Sized>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().expect(UNPOISONED)
}

/// Initializes an empty slot. If several threads race, one value is kept.
///
/// # Errors
/// `make` fails.
pub fn made_once<T, E>(slot: &OnceLock<T>, make: impl FnOnce() -> Result<T, E>) -> Result<&T, E> {
    if let Some(made) = slot.get() {
        return Ok(made);
    }
    let made = make()?;
    Ok(slot.get_or_init(|| made))
}

/// The content of a mutex.
pub fn unlocked<T>(mutex: Mutex<T>) -> T {
    mutex.into_inner().expect(UNPOISONED)
}

/// A limit on the number of threads.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Threads {
    limit: Option<NonZero<usize>>,
    /// The bytes that justify starting a thread; 0 for any amount.
    worth_a_thread: usize,
}

const ONE_THREAD: Threads = Threads::new(NonZero::new(1));

impl Default for Threads {
    fn default() -> Self {
        Self::new(None)
    }
}

impl Threads {
    /// At most so many threads; `None` is as many as the machine has, up to 8.
    #[must_use]
    pub const fn new(most: Option<NonZero<usize>>) -> Self {
        Self { limit: most, worth_a_thread: WORTH_A_THREAD }
    }

    /// Starts a thread for every `bytes` bytes instead of every mebibyte: tests have little work to share.
    #[must_use]
    pub const fn started_for(self, bytes: usize) -> Self {
        Self { worth_a_thread: bytes, ..self }
    }

    /// Starts threads for any amount of work if it waits for a server.
    #[must_use]
    pub const fn for_requests(self, asks: bool) -> Self {
        if asks { self.started_for(0) } else { self }
    }

    /// Returns the number of threads for `bytes` bytes, at least 1.
    pub fn for_bytes(self, bytes: usize) -> usize {
        let worth = bytes.checked_div(self.worth_a_thread).unwrap_or(MAX_NUMBERED).min(MAX_NUMBERED);
        match self.limit {
            _ if worth <= 1 => 1,
            Some(threads) => threads.get().min(worth),
            None => thread::available_parallelism().map_or(1, NonZero::get).min(USUAL_THREADS).min(worth),
        }
    }
}

/// Returns how many threads may hold `each` bytes: up to [`USUAL_THREADS`] in any case, more if they fit `memory`
/// together.
pub fn threads_holding(threads: usize, each: usize, memory: usize) -> usize {
    threads.min((memory / each.max(1)).max(USUAL_THREADS))
}

fn start<'scope, T: Send + 'scope>(
    scope: &'scope Scope<'scope, '_>,
    work: impl FnOnce() -> T + Send + 'scope,
) -> Option<ScopedJoinHandle<'scope, T>> {
    started::count();
    Builder::new().spawn_scoped(scope, work).ok()
}

/// A `dyn Fn`, to be compiled once.
fn on_each(threads: usize, work: &(dyn Fn() + Sync)) {
    if threads <= 1 {
        return work();
    }
    thread::scope(|scope| {
        (1..threads).for_each(|_| drop(start(scope, work)));
        work();
    });
}

/// Calls `each(0..count)` in ascending order on up to `threads` threads, with a state per thread. `Ok(false)` or an
/// error ends the work. The states come back in arbitrary order.
///
/// # Errors
/// The error with the lowest number, independent of timing.
pub fn share<S: Send, E: Send>(
    threads: usize,
    count: usize,
    begin: impl Fn() -> S + Sync,
    each: impl Fn(usize, &mut S) -> Result<bool, E> + Sync,
) -> Result<Vec<S>, E> {
    let threads = threads.min(count);
    let next = AtomicUsize::new(0);
    let failed: Mutex<Option<(usize, E)>> = Mutex::new(None);
    let states = Mutex::new(Vec::new());
    let work = || {
        let mut state = begin();
        loop {
            let number = next.fetch_add(1, Ordering::Relaxed);
            if number >= count {
                break;
            }
            let done = each(number, &mut state);
            if !matches!(done, Ok(true)) {
                next.store(count, Ordering::Relaxed);
            }
            if let Err(error) = done {
                let mut failed = locked(&failed);
                if failed.as_ref().is_none_or(|(first, _)| number < *first) {
                    *failed = Some((number, error));
                }
                break;
            }
        }
        locked(&states).push(state);
    };
    on_each(threads, &work);
    match unlocked(failed) {
        Some((_, error)) => Err(error),
        None => Ok(unlocked(states)),
    }
}

/// Calls `make(0..count)` on up to `threads` threads, and `take` with each number and its state in strictly ascending
/// order. Other threads make the next numbers during `take`. A thread waits for its turn, so memory holds one result
/// per thread.
///
/// # Errors
/// The error with the lowest number; `take` has received all earlier numbers.
pub fn share_in_order<S: Send, E: Send>(
    threads: usize,
    count: usize,
    begin: impl Fn() -> S + Sync,
    make: impl Fn(usize, &mut S) -> Result<(), E> + Sync,
    take: impl FnMut(usize, &mut S) -> Result<bool, E> + Send,
) -> Result<(), E> {
    // The next number; `None` once the work has ended.
    let turn = Mutex::new((Some(0), take));
    let is_next = Condvar::new();
    let each = |number, state: &mut S| {
        let _ending = EndOfTurns { turn: &turn, is_next: &is_next };
        let made = make(number, state);
        let mut held = locked(&turn);
        while held.0.is_some_and(|next| next < number) {
            held = is_next.wait(held).expect(UNPOISONED);
        }
        if held.0.is_none() {
            return Ok(false);
        }
        let done = made.and_then(|()| (held.1)(number, state));
        held.0 = if matches!(done, Ok(true)) { Some(number + 1) } else { None };
        is_next.notify_all();
        done
    };
    share(threads, count, begin, each).map(drop)
}

/// Returns the threads that [`share_by_size`] gives to one of several tensors.
pub fn threads_among_others(threads: Threads, bytes: usize) -> Threads {
    if bytes < SMALL_TENSOR { ONE_THREAD } else { threads }
}

/// Calls `make` with the number of each tensor and its threads, and `take` with the results in ascending order. Small
/// tensors that follow each other are made several at a time, by one thread each; others alone, by all threads. `bytes`
/// are the tensors'.
///
/// # Errors
/// The error with the lowest number; `take` has received all results of earlier batches.
pub fn share_by_size<T: Send, E: Send>(
    threads: Threads,
    bytes: &[usize],
    make: impl Fn(usize, Threads) -> Result<T, E> + Sync,
    mut take: impl FnMut(usize, T) -> Result<(), E> + Send,
) -> Result<(), E> {
    let mut begin = 0;
    while begin < bytes.len() {
        let end = begin + bytes[begin..].iter().take_while(|bytes| **bytes < SMALL_TENSOR).count();
        if end <= begin + 1 {
            take(begin, make(begin, threads)?)?;
            begin += 1;
            continue;
        }
        let workers = threads.for_bytes(bytes[begin..end].iter().map(|bytes| TENSOR + bytes).sum());
        let batch = (end - begin).div_ceil(workers * BATCHES).min(BATCH);
        let numbers = |n: usize| begin + n * batch..end.min(begin + (n + 1) * batch);
        share_in_order(
            workers,
            (end - begin).div_ceil(batch),
            Vec::new,
            |n, made| {
                *made = numbers(n).map(|n| make(n, ONE_THREAD)).collect::<Result<_, E>>()?;
                Ok(())
            },
            |n, made| {
                numbers(n).zip(made.drain(..)).try_for_each(|(n, made)| take(n, made))?;
                Ok(true)
            },
        )?;
        begin = end;
    }
    Ok(())
}

/// Ends the work if a thread panics; the others would wait forever.
struct EndOfTurns<'a, F> {
    turn: &'a Mutex<(Option<usize>, F)>,
    is_next: &'a Condvar,
}

impl<F> Drop for EndOfTurns<'_, F> {
    fn drop(&mut self) {
        if thread::panicking() {
            if let Ok(mut turn) = self.turn.lock() {
                turn.0 = None;
            }
            self.is_next.notify_all();
        }
    }
}

/// Calls `work(0..count)` on up to `count` threads and returns the results in order.
pub fn on_threads<T: Send>(count: usize, work: impl Fn(usize) -> T + Sync) -> Vec<T> {
    let Ok(done) = share(count, count, Vec::new, |n, done: &mut Vec<(usize, T)>| {
        done.push((n, work(n)));
        Ok::<_, Infallible>(true)
    });
    // A sort would be compiled for each `T`: with those of walks, that was a seventh of this crate's code.
    let mut found = Vec::new();
    found.resize_with(count, || None);
    for (n, result) in done.into_iter().flatten() {
        found[n] = Some(result);
    }
    found.into_iter().map(|result| result.expect("`share` has called each number")).collect()
}

/// Blocks this thread for a time.
pub fn wait(time: std::time::Duration) {
    std::thread::sleep(time);
}

/// Calls `there` on a new thread during `here`, or before it if no thread is available.
pub fn beside<A: Send, B>(threads: usize, there: impl Fn() -> A + Sync, here: impl FnOnce() -> B) -> (A, B) {
    thread::scope(|scope| match (threads > 1).then(|| start(scope, &there)).flatten() {
        None => (there(), here()),
        Some(thread) => {
            let here = here();
            (thread.join().unwrap_or_else(|panic| resume_unwind(panic)), here)
        }
    })
}

#[doc(hidden)]
pub use started::by as threads_started_by;

/// Counts the threads that each thread starts, for tests of this package and of others.
mod started {
    use std::cell::Cell;

    thread_local! {
        static COUNT: Cell<usize> = const { Cell::new(0) };
    }

    pub(super) fn count() {
        COUNT.set(COUNT.get() + 1);
    }

    /// Returns how many threads this one started during `work`.
    pub fn by<T>(work: impl FnOnce() -> T) -> (usize, T) {
        let before = COUNT.get();
        let done = work();
        (COUNT.get() - before, done)
    }
}

#[cfg(test)]
mod tests {

    use super::*;

    fn at_most(threads: usize) -> Threads {
        Threads::new(NonZero::new(threads))
    }

    #[test]
    fn as_many_as_are_worth_it() {
        let cores = thread::available_parallelism().map_or(1, NonZero::get);
        for (threads, bytes, expected) in [
            (at_most(4), 0, 1),
            (at_most(4), (2 << 20) - 1, 1),
            (at_most(4), 2 << 20, 2),
            (at_most(4), 1 << 30, 4),
            (at_most(64), 1 << 30, 64),
            (at_most(100), 16 << 20, 16),
            (at_most(1), 1 << 30, 1),
            (at_most(3).started_for(0), 0, 3),
            (at_most(100).started_for(0), 1, 100),
            (at_most(usize::MAX).started_for(0), 1, MAX_NUMBERED),
            (at_most(1).started_for(0), 1 << 30, 1),
            (Threads::default(), 1 << 20, 1),
            (Threads::default(), 1 << 30, cores.min(USUAL_THREADS)),
            (Threads::default().started_for(0), 1, cores.min(USUAL_THREADS)),
        ] {
            assert_eq!(threads.for_bytes(bytes), expected, "{threads:?} {bytes}");
        }
    }

    #[test]
    fn more_threads_than_usual_hold_no_more_than_memory() {
        let rows = [
            ((64, 1 << 20, 1 << 28), 64),
            ((300, 1 << 20, 1 << 28), 256),
            ((64, 1 << 25, 1 << 28), 8),
            ((64, 1 << 30, 1 << 28), 8),
            ((64, 0, 1 << 28), 64),
            ((3, 1 << 30, 1 << 28), 3),
            ((1, 1, 0), 1),
        ];
        for ((threads, each, memory), expected) in rows {
            assert_eq!(threads_holding(threads, each, memory), expected, "{threads} {each} {memory}");
        }
    }

    #[test]
    fn one_thread_starts_none() {
        for (threads, expected) in [(1, 0), (2, 1), (5, 4)] {
            let shared = threads_started_by(|| {
                share(
                    threads,
                    9,
                    || 0,
                    |n, sum| -> Result<_, ()> {
                        *sum += n;
                        Ok(true)
                    },
                )
            });
            let (count, sums) = shared;
            assert_eq!((count, sums.map(|sums| sums.iter().sum::<usize>())), (expected, Ok(36)));
            let squares = (0..threads).map(|n| n * n).collect::<Vec<_>>();
            assert_eq!(threads_started_by(|| on_threads(threads, |n| n * n)), (expected, squares));
            assert_eq!(threads_started_by(|| beside(threads, || 'a', || 'b')), (expected.min(1), ('a', 'b')));
        }
    }

    #[test]
    fn small_ones_together_and_large_ones_alone() {
        let sizes = |count: usize, large: &[usize]| -> Vec<usize> {
            (0..count).map(|n| if large.contains(&n) { SMALL_TENSOR } else { n }).collect()
        };
        for threads in [1, 2, 5] {
            for (count, large) in [(0, &[][..]), (1, &[]), (1, &[0]), (7, &[]), (300, &[0, 1, 150, 299]), (500, &[250])]
            {
                let bytes = sizes(count, large);
                let mut taken = Vec::new();
                let all = at_most(threads).started_for(0);
                let is_small = |n: usize| bytes.get(n).is_some_and(|bytes| *bytes < SMALL_TENSOR);
                let make = |n: usize, own: Threads| {
                    let is_among = is_small(n) && (is_small(n + 1) || n > 0 && is_small(n - 1));
                    assert_eq!(own, if is_among { ONE_THREAD } else { all }, "{n}");
                    Ok::<_, ()>(n * n)
                };
                let done = share_by_size(all, &bytes, make, |n, square| {
                    taken.push((n, square));
                    Ok(())
                });
                assert_eq!((done, taken), (Ok(()), (0..count).map(|n| (n, n * n)).collect()), "{threads} {count}");
            }
            let bytes = sizes(300, &[200]);
            for bad in [0, 31, 100, 200, 299] {
                let make = |n: usize, _| if n >= bad { Err(n) } else { Ok(n) };
                let mut next = 0;
                let done = share_by_size(at_most(threads).started_for(0), &bytes, make, |n, _| {
                    assert_eq!(n, next);
                    next += 1;
                    Ok(())
                });
                assert_eq!(done, Err(bad), "{threads}");
                assert!(next <= bad && next + BATCH > bad, "{next} {bad}");
            }
        }
    }

    #[test]
    fn the_error_of_the_lowest_number() {
        for threads in [1, 2, 4] {
            let failed = share(threads, 100, || (), |n, ()| if n % 10 == 3 { Err(n) } else { Ok(true) });
            assert_eq!(failed, Err(3), "{threads}");
        }
    }

    #[test]
    fn numbers_are_taken_in_order_while_others_are_made() {
        for threads in [1, 2, 5] {
            // `take` ends the work; `make` fails; `take` fails
            for (ends, unmade, untaken) in [(99, 99, 99), (30, 99, 99), (99, 20, 40), (99, 40, 20), (99, 0, 99)] {
                let (at_once, most) = (AtomicUsize::new(0), AtomicUsize::new(0));
                let mut taken = Vec::new();
                let make = |n, made: &mut usize| {
                    most.fetch_max(at_once.fetch_add(1, Ordering::Relaxed) + 1, Ordering::Relaxed);
                    thread::sleep(std::time::Duration::from_micros([0, 300, 50][n % 3]));
                    *made = n;
                    at_once.fetch_sub(1, Ordering::Relaxed);
                    if n % 50 == unmade { Err(n) } else { Ok(()) }
                };
                let take = |n, made: &mut usize| {
                    taken.push((n, *made));
                    if n == untaken { Err(n) } else { Ok(n < ends) }
                };
                let done = share_in_order(threads, 60, || 0, make, take);
                let failed = unmade.min(untaken).min(60);
                let expected = if failed < 60 { Err(failed) } else { Ok(()) };
                let count = (ends + 1).min(60).min(failed + usize::from(untaken < unmade));
                assert_eq!((done, taken), (expected, (0..count).map(|n| (n, n)).collect()), "{threads} {ends}");
                assert!(most.into_inner() <= threads);
            }
        }
    }

    #[test]
    fn no_thread_waits_for_one_that_has_panicked() {
        let made = std::panic::catch_unwind(|| {
            let make = |n, (): &mut ()| if n == 3 { panic!("as a test wants it") } else { Ok::<_, ()>(()) };
            share_in_order(4, 20, || (), make, |_, ()| Ok(true))
        });
        assert!(made.is_err());
    }
}
