//! Scans: passes over all items of one or several tensors, window by window. Comparisons and statistics are made of them.
//!
//! A scan shares its windows out to threads. Each thread has a state of its own, which a visitor updates window by
//! window, and the caller merges the states of all threads at the end. The work is split in two so that little code is
//! compiled for each visitor: `scan_windows` reads, converts and shares out, and is compiled once; [`scan_parts`] adds
//! the typed state.

use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, Ordering};

use super::job::Progress;
use crate::error::Result;
use crate::layout::view::View;
use crate::layout::window::Windows;
use crate::memory::resize;
use crate::ops::fill::Limits;
use crate::ops::selection::must_settle;
use crate::ops::window_size::{ACROSS_WINDOWS, WINDOW};
use crate::parallel::{locked, share, unlocked};
use crate::storage::conversion::Conversion;
use crate::storage::source::Source;

/// Returns whether two tensors of one dtype and shape, stored in one order, consist of the same bytes.
///
/// Both are read in the order in which they are stored, and only up to the first window that differs, so the question
/// costs little.
///
/// # Errors
/// Reading fails, or a tensor changes meanwhile.
pub fn same_bytes(a: &Source, b: &Source, limits: Limits, progress: Progress<'_>) -> Result<bool> {
    let parts = [a, b].map(|source| ScannedPart { source, view: source.meta().as_stored().view() });
    let each = |same: &mut bool, _, [x, y]: [&[u8]; 2]| {
        *same = x == y;
        Ok(*same)
    };
    Ok(scan_parts(parts, limits, progress, |_| true, || true, each)?.into_iter().all(|same| same))
}

/// Shows the items of tensors of one shape to `each`, a window at a time, and returns the states of all threads in no
/// particular order. Only the windows for whose first item `wanted` returns true are read and shown. Scans of the same
/// tensors under the same limits have the same windows.
///
/// `begin` makes the state of a thread. `each` gets that state, the number of the window's first item in C order, and for
/// each tensor the items of the window, in C order and little-endian. If it returns false, the scan ends early. A tensor
/// without items, or with items of no bytes, has no window.
///
/// # Errors
/// Reading fails, or a tensor changes meanwhile. If several calls of `each` fail, the error of the first window is
/// returned.
///
/// # Panics
/// If the shapes differ.
pub fn scan<S: Send, const N: usize>(
    mut sources: [&mut Source; N],
    limits: Limits,
    progress: Progress<'_>,
    wanted: impl Fn(usize) -> bool + Sync,
    begin: impl Fn() -> S + Sync,
    each: impl Fn(&mut S, usize, [&[u8]; N]) -> Result<bool> + Sync,
) -> Result<Vec<S>> {
    settle(&mut sources, limits)?;
    let parts = sources.map(|source| ScannedPart { source, view: source.view() });
    scan_parts(parts, limits, progress, wanted, begin, each)
}

/// Makes tensors of one shape readable in windows of that shape.
fn settle(sources: &mut [&mut Source], limits: Limits) -> Result<()> {
    let shape = sources.first().map(|source| source.shape().to_vec());
    for source in sources {
        assert_eq!(Some(source.shape()), shape.as_deref(), "tensors of one shape");
        if must_settle(source, &source.view()) {
            source.settle()?;
        }
        source.flatten(limits.threads)?;
    }
    Ok(())
}

/// The part of a tensor that a view of its storage selects.
#[derive(Clone, Debug)]
pub struct ScannedPart<'a> {
    /// The tensor.
    pub source: &'a Source,
    /// The items, in the order in which they are scanned.
    pub view: View,
}

/// Scans parts of tensors as [`scan`] scans whole ones, in the order of their views, whose axes may be permuted. What
/// can be read only once must be viewed from front to back.
///
/// # Errors
/// As for [`scan`].
///
/// # Panics
/// If the views have different shapes.
pub fn scan_parts<S: Send, const N: usize>(
    parts: [ScannedPart<'_>; N],
    limits: Limits,
    progress: Progress<'_>,
    wanted: impl Fn(usize) -> bool + Sync,
    begin: impl Fn() -> S + Sync,
    each: impl Fn(&mut S, usize, [&[u8]; N]) -> Result<bool> + Sync,
) -> Result<Vec<S>> {
    let states = Mutex::new(Vec::new());
    let each = &each;
    let visit = || -> Visitor<'_> {
        let mut kept = KeptState { state: Some(begin()), all: &states };
        Box::new(move |start, items| {
            let state = kept.state.as_mut().expect("only dropping takes the state");
            each(state, start, std::array::from_fn(|i| items[i].as_slice()))
        })
    };
    scan_windows(&parts, limits, progress, &wanted, &visit)?;
    Ok(unlocked(states))
}

/// What a thread calls with each of its windows: the number of the first item, and the items of each tensor. False ends
/// the scan.
type Visitor<'a> = Box<dyn FnMut(usize, &[Vec<u8>]) -> Result<bool> + Send + 'a>;

/// The state of a thread, which is handed over to `all` when the thread's [`Visitor`] is dropped.
struct KeptState<'a, S> {
    state: Option<S>,
    all: &'a Mutex<Vec<S>>,
}

impl<S> Drop for KeptState<'_, S> {
    fn drop(&mut self) {
        locked(self.all).extend(self.state.take());
    }
}

/// Reads the windows of [`scan_parts`] and calls a visitor of each thread with them.
fn scan_windows<'a>(
    parts: &[ScannedPart<'_>],
    limits: Limits,
    progress: Progress<'_>,
    wanted: &(dyn Fn(usize) -> bool + Sync),
    visit: &(dyn Fn() -> Visitor<'a> + Sync),
) -> Result<()> {
    let shape = parts.first().expect("a scan has a tensor").view.shape();
    let (mut once, mut fortran, mut bytes, mut widest) = (false, false, 0, 1);
    let mut conversions = Vec::with_capacity(parts.len());
    for ScannedPart { source, view } in parts {
        assert_eq!(view.shape(), shape, "parts of one shape");
        let itemsize = source.dtype().itemsize();
        once |= source.is_stream();
        fortran |= !view.is_forward();
        bytes = view.items().saturating_mul(itemsize).saturating_add(bytes);
        widest = widest.max(itemsize);
        conversions.push(Conversion::to_native(source.dtype()));
    }
    let threads = if once { 1 } else { limits.threads.for_bytes(bytes) };
    let window = if fortran { ACROSS_WINDOWS / threads / parts.len() } else { WINDOW };
    // there may be more items of no bytes than can be counted, so they get no window
    let windows = match shape.contains(&0) || bytes == 0 {
        true => Windows::new(&[0], 1),
        false => {
            let items = (limits.window.unwrap_or(window) / widest).max(1);
            // windows of whole rows of chunks, so that each chunk is read for one window only
            let grid = parts.iter().find_map(|ScannedPart { source, view }| {
                let chunks = source.as_chunks()?;
                (view.is_c_order() && view.shape() == source.shape()).then(|| chunks.grid())
            });
            match grid {
                Some(grid) => Windows::on_grid(&shape, items, grid),
                None => Windows::new(&shape, items),
            }
        }
    };
    let count = windows.count();
    let fresh = || (visit(), vec![Vec::new(); parts.len()], Vec::new());
    let whole = AtomicBool::new(true);
    share(threads, count, fresh, |number, (visit, items, scratch)| -> Result<bool> {
        let window = windows.get(number);
        if !wanted(window.start) {
            return Ok(true);
        }
        for ((ScannedPart { source, view }, conversion), items) in parts.iter().zip(&conversions).zip(items.iter_mut())
        {
            resize(items, window.items() * conversion.itemsize(), source.label())?;
            conversion.read(source, &view.part(&window.ranges), items, scratch)?;
        }
        progress(items.iter().map(Vec::len).sum());
        let go_on = visit(window.start, items)?;
        if !go_on {
            whole.store(false, Ordering::Relaxed);
        }
        Ok(go_on)
    })?;
    if whole.into_inner() {
        parts.iter().try_for_each(|part| part.source.finish())?;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use std::num::NonZero;

    use super::*;
    use crate::item::dtype::DType;
    use crate::item::tensor::Tensor;
    use crate::parallel::Threads;

    fn source(dtype: &str, shape: &[usize], bytes: &[u8]) -> Source {
        let tensor = Tensor::new(DType::parse(dtype).unwrap(), shape.to_vec(), bytes.to_vec()).unwrap();
        Source::memory(tensor, "data".to_owned())
    }

    fn limits(window: usize, threads: usize) -> Limits {
        Limits { window: Some(window), threads: Threads::new(NonZero::new(threads)) }
    }

    /// The windows of a scan in order: the number of the first item, and the items of each tensor.
    fn windows_of<const N: usize>(
        sources: [&mut Source; N],
        limits: Limits,
        wanted: impl Fn(usize) -> bool + Sync,
    ) -> Vec<(usize, Vec<Vec<u8>>)> {
        let each = |seen: &mut Vec<_>, start, items: [&[u8]; N]| {
            seen.push((start, items.map(<[u8]>::to_vec).to_vec()));
            Ok(true)
        };
        let mut seen = scan(sources, limits, &|_| (), wanted, Vec::new, each).unwrap().concat();
        seen.sort();
        seen
    }

    #[test]
    fn windows_are_native_and_in_c_order() {
        // dtype, shape, bytes, window in bytes, the first items of the windows, all items
        type Row = (&'static str, &'static [usize], &'static [u8], usize, &'static [usize], &'static [u8]);
        let rows: [Row; 6] = [
            ("int8", &[5], &[1, 2, 3, 4, 5], 2, &[0, 2, 4], &[1, 2, 3, 4, 5]),
            ("int8", &[2, 2], &[1, 2, 3, 4], 100, &[0], &[1, 2, 3, 4]),
            (">u2", &[2], &[0, 1, 0, 2], 2, &[0, 1], &[1, 0, 2, 0]),
            // a window smaller than an item holds one
            ("int16", &[2], &[1, 0, 2, 0], 1, &[0, 1], &[1, 0, 2, 0]),
            ("int8", &[], &[7], 1, &[0], &[7]),
            ("int8", &[0, 3], &[], 1, &[], &[]),
        ];
        for (dtype, shape, bytes, window, starts, items) in rows {
            for threads in [1, 3] {
                let found = windows_of([&mut source(dtype, shape, bytes)], limits(window, threads), |_| true);
                let (found_starts, found_items): (Vec<_>, Vec<_>) =
                    found.into_iter().map(|(start, items)| (start, items.concat())).unzip();
                assert_eq!(
                    (found_starts.as_slice(), found_items.concat().as_slice()),
                    (starts, items),
                    "{dtype} {shape:?}"
                );
            }
        }
    }

    #[test]
    fn several_tensors_are_shown_together() {
        let (mut one, mut other) = (source("int8", &[3], &[1, 2, 3]), source("int16", &[3], &[4, 0, 5, 0, 6, 0]));
        let found = windows_of([&mut one, &mut other], limits(4, 1), |_| true);
        assert_eq!(found, [(0, vec![vec![1, 2], vec![4, 0, 5, 0]]), (2, vec![vec![3], vec![6, 0]])]);
    }

    #[test]
    fn unwanted_windows_are_left_out() {
        let mut items = source("int8", &[6], &[1, 2, 3, 4, 5, 6]);
        let found = windows_of([&mut items], limits(2, 1), |start| start != 2);
        assert_eq!(found, [(0, vec![vec![1, 2]]), (4, vec![vec![5, 6]])]);
    }

    #[test]
    fn false_and_errors_end_a_scan() {
        let visited = |fails: bool| {
            let each = |seen: &mut usize, start: usize, _: [&[u8]; 1]| {
                *seen += 1;
                match (start, fails) {
                    (2.., true) => Err(crate::error::malformed!("window {start}")),
                    (2.., false) => Ok(false),
                    _ => Ok(true),
                }
            };
            scan([&mut source("int8", &[6], &[0; 6])], limits(1, 1), &|_| (), |_| true, || 0, each)
        };
        assert_eq!(visited(false).unwrap(), [3]);
        assert_eq!(visited(true).unwrap_err().to_string(), "window 2");
    }

    #[test]
    fn equal_bytes_are_equal_tensors() {
        let rows = [(vec![1, 2, 3, 4], true), (vec![1, 2, 3, 5], false), (vec![0, 2, 3, 4], false)];
        for (bytes, same) in rows {
            let [one, other] = [&[1, 2, 3, 4][..], &bytes].map(|bytes| source("int8", &[4], bytes));
            assert_eq!(same_bytes(&one, &other, limits(1, 1), &|_| ()).unwrap(), same, "{bytes:?}");
        }
        let empty = || source("int8", &[0], &[]);
        assert!(same_bytes(&empty(), &empty(), limits(1, 1), &|_| ()).unwrap());
    }
}
