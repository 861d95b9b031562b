//! All items of some tensors shown, a window at a time: what comparisons and statistics are made of.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Mutex, PoisonError};

use super::job::Progress;
use crate::error::{Context, Result};
use crate::layout::view::View;
use crate::layout::window::Windows;
use crate::memory::resize;
use crate::ops::fill::Limits;
use crate::ops::selection::must_settle;
use crate::ops::window_size::{ACROSS_WINDOWS, WINDOW};
use crate::parallel::share;
use crate::storage::conversion::Conversion;
use crate::storage::source::Source;

/// Whether two tensors of one dtype and shape, stored in one order, are the same bytes. They are read as they are stored,
/// and no further than to the first window in which they differ, so that it costs little to ask.
///
/// # Errors
/// Of reading, among them a tensor that changes meanwhile.
pub fn same_bytes(a: &Source, b: &Source, limits: Limits, progress: Progress<'_>) -> Result<bool> {
    let stored = |source: &Source| -> View { source.meta().as_stored().view() };
    let (one, other) = (stored(a), stored(b));
    let bytes = a.bytes().saturating_add(b.bytes());
    let itemsize = a.dtype().itemsize().max(1);
    let windows = match a.bytes() {
        0 => return Ok(true),
        _ => Windows::new(&one.shape(), (limits.window.unwrap_or(WINDOW) / itemsize).max(1)),
    };
    let same = AtomicBool::new(true);
    let begin = || (Vec::new(), Vec::new(), Vec::new());
    share(limits.threads.for_bytes(bytes), windows.count(), begin, |number, (x, y, scratch)| -> Result<bool> {
        let window = windows.get(number);
        for (source, view, items) in [(a, &one, &mut *x), (b, &other, &mut *y)] {
            resize(items, window.items() * itemsize, source.label())?;
            source.read(&view.part(&window.ranges), items, scratch)?;
        }
        progress(x.len() + y.len());
        if x != y {
            same.store(false, Ordering::Relaxed);
        }
        Ok(x == y)
    })?;
    let same = same.into_inner();
    if same {
        a.finish()?;
        b.finish()?;
    }
    Ok(same)
}

/// Shows all items of tensors of one shape, a window at a time: `each` gets its thread's state (of which `begin`
/// makes one a thread), the number of the window's first item in C order, and for each tensor the items of the
/// window, in C order and little-endian. False from `each` ends the scan early. The states are returned in no order.
/// Of tensors without items, or with items of no bytes, there is no window.
///
/// # Errors
/// Of reading, among them a tensor that changes meanwhile; of several errors of `each` that of the first window.
///
/// # Panics
/// If the shapes differ.
pub fn scan<S: Send, const N: usize>(
    sources: [&mut Source; N],
    limits: Limits,
    progress: Progress<'_>,
    begin: impl Fn() -> S + Sync,
    each: impl Fn(&mut S, usize, [&[u8]; N]) -> Result<bool> + Sync,
) -> Result<Vec<S>> {
    scan_some(sources, limits, progress, |_| true, begin, each)
}

/// The same of some windows, which `wanted` tells by the number of their first item; no others are read. The windows of
/// the same tensors under the same limits are the same each time.
///
/// # Errors
/// Those of [`scan`].
///
/// # Panics
/// If the shapes differ.
pub fn scan_some<S: Send, const N: usize>(
    mut sources: [&mut Source; N],
    limits: Limits,
    progress: Progress<'_>,
    wanted: impl Fn(usize) -> bool + Sync,
    begin: impl Fn() -> S + Sync,
    each: impl Fn(&mut S, usize, [&[u8]; N]) -> Result<bool> + Sync,
) -> Result<Vec<S>> {
    settle(&mut sources, limits)?;
    let parts = sources.map(|source| (&*source, source.view()));
    scan_parts(parts, limits, progress, wanted, begin, each)
}

/// Makes of tensors of one shape what can be read in windows of that shape: compiled once, as [`scan_windows`] is.
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

/// Shows the items of parts of tensors, as [`scan_some`] does, in the order in which views of their storage have them: that
/// may be another order of the axes than the tensor's own. What can be read only once must be viewed from front to back.
///
/// # Errors
/// Those of [`scan`].
///
/// # Panics
/// If the views have different shapes.
pub fn scan_parts<S: Send, const N: usize>(
    parts: [(&Source, View); N],
    limits: Limits,
    progress: Progress<'_>,
    wanted: impl Fn(usize) -> bool + Sync,
    begin: impl Fn() -> S + Sync,
    each: impl Fn(&mut S, usize, [&[u8]; N]) -> Result<bool> + Sync,
) -> Result<Vec<S>> {
    let states = Mutex::new(Vec::new());
    let each = &each;
    let visit = || -> Visit<'_> {
        let mut kept = Kept { state: Some(begin()), all: &states };
        Box::new(move |start, items| match &mut kept.state {
            Some(state) => each(state, start, std::array::from_fn(|i| items[i].as_slice())),
            // it is there until the closure goes
            None => Ok(false),
        })
    };
    scan_windows(&parts, limits, progress, &wanted, &visit)?;
    Ok(states.into_inner().unwrap_or_else(PoisonError::into_inner))
}

/// Sees a window, as a thread does: the number of its first item, and the items of each tensor.
type Visit<'a> = Box<dyn FnMut(usize, &[Vec<u8>]) -> Result<bool> + Send + 'a>;

/// The state of a thread, put to those of all threads when the thread is done.
struct Kept<'a, S> {
    state: Option<S>,
    all: &'a Mutex<Vec<S>>,
}

impl<S> Drop for Kept<'_, S> {
    fn drop(&mut self) {
        self.all.lock().unwrap_or_else(PoisonError::into_inner).extend(self.state.take());
    }
}

/// What [`scan_parts`] does, whatever is done with the windows: compiled once, and not for each type of item that a
/// comparison or statistics are compiled for.
fn scan_windows<'a>(
    parts: &[(&Source, View)],
    limits: Limits,
    progress: Progress<'_>,
    wanted: &(dyn Fn(usize) -> bool + Sync),
    visit: &(dyn Fn() -> Visit<'a> + Sync),
) -> Result<()> {
    let Some(shape) = parts.first().map(|(_, view)| view.shape()) else { return Ok(()) };
    let (mut once, mut fortran, mut bytes, mut widest) = (false, false, 0, 1);
    let mut conversions = Vec::with_capacity(parts.len());
    for (source, view) in parts {
        assert_eq!(view.shape(), shape, "parts of one shape");
        let itemsize = source.dtype().itemsize();
        once |= source.is_stream();
        fortran |= !view.is_forward();
        bytes = view.items().saturating_mul(itemsize).saturating_add(bytes);
        widest = widest.max(itemsize);
        let native = source.dtype().native();
        conversions.push(Conversion::new(source.dtype(), &native).context("a dtype of no kind")?);
    }
    let threads = if once { 1 } else { limits.threads.for_bytes(bytes) };
    let window = if fortran { ACROSS_WINDOWS / threads / parts.len() } else { WINDOW };
    // items of no bytes can be more than anybody could be shown
    let windows = match shape.contains(&0) || bytes == 0 {
        true => Windows::new(&[0], 1),
        false => {
            let items = (limits.window.unwrap_or(window) / widest).max(1);
            // of chunks whole rows: each chunk is read for one window
            let grid = parts.iter().find_map(|(source, view)| {
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
        for (((source, view), conversion), items) in parts.iter().zip(&conversions).zip(items.iter_mut()) {
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
        parts.iter().try_for_each(|(source, _)| source.finish())?;
    }
    Ok(())
}
