//! How index tensors are read: from front to back, a window at a time, in parts by several threads.

use std::ops::Range;

use super::resolve::{Index, TupleResolver, with_integers};
use crate::error::{Error, Result};
use crate::item::dtype::Kind;
use crate::layout::window::Windows;
use crate::memory;
use crate::ops::fill::Limits;
use crate::parallel::on_threads;
use crate::storage::conversion::Conversion;
use crate::storage::source::Source;

/// The bytes of a tensor that are read at once: what stays in a core's first caches beside what is made of it.
const BYTES: usize = 1 << 16;

/// Resolves all tuples of an index tensor in one pass, or those at some places of its first axis. A long one is cut into parts, which go to several threads:
/// `begin(part, tuples)` makes what collects a part of so many tuples, and `take(collected, first, places)` adds the places of
/// the tuples from number `first` on to it. What was collected is returned in the order of the parts.
///
/// # Errors
/// The first number of a part that is out of range. Of reading; those of `begin` and `take`.
pub(super) fn collect<C: Send>(
    indices: &Source,
    resolver: &TupleResolver,
    among: Option<&Range<usize>>,
    limits: Limits,
    begin: impl Fn(usize, usize) -> Result<C> + Sync,
    take: impl Fn(&mut C, usize, &[u64]) -> Result<()> + Sync,
) -> Result<Vec<C>> {
    // a tensor without axes is one row of one number
    let (rows, row) = match indices.shape().split_first() {
        Some((&rows, rest)) => (rows, rest.iter().product::<usize>()),
        None => (1, 1),
    };
    let among = among.cloned().unwrap_or(0..rows);
    let rows = among.len();
    let width = resolver.width();
    if width == 0 || rows == 0 || row == 0 {
        return Ok(vec![begin(0, 0)?]);
    }
    let tuples = |rows: usize| rows * row / width;
    // A part begins where a tuple does, with a place of the first axis: unless that is the axis of the only tuple.
    let threads = match row % width {
        0 if !indices.is_stream() => indices.threads(limits.threads).min(rows).max(1),
        _ => 1,
    };
    let begins = |part: usize| among.start + part * rows / threads;
    let parts = on_threads(threads, |part| -> Result<C> {
        let rows = begins(part)..begins(part + 1);
        let (mut collected, mut places) = (begin(part, tuples(rows.len()))?, Vec::new());
        let mut first = tuples(rows.start);
        each_window_of_rows(indices, rows, &mut |_, kind, bytes| {
            resolver.resolve(kind, bytes, first, &mut places)?;
            take(&mut collected, first, &places)?;
            first += places.len();
            Ok(())
        })?;
        Ok(collected)
    });
    parts.into_iter().collect()
}

/// Returns all integers of a tensor, in C order.
///
/// # Errors
/// One beyond int64; of reading.
pub fn all_integers(tensor: &Source) -> Result<Vec<i64>> {
    let mut list = Vec::new();
    each_window(tensor, &mut |_, kind, bytes| {
        with_integers!(kind, bytes, |words, read| {
            for &word in words {
                let number = read(word);
                list.push(number.to_i64().ok_or_else(|| Error::beyond_int64(&number))?);
            }
            Ok(())
        })
    })?;
    Ok(list)
}

/// Takes the items of a window: the number of the first in C order, their kind, and their bytes, which are little-endian.
pub type TakeItems<'a> = dyn FnMut(usize, &Kind, &[u8]) -> Result<()> + 'a;

/// Hands `take` all items of a tensor in C order, a window at a time.
///
/// # Errors
/// Of reading, and those of `take`.
pub fn each_window(tensor: &Source, take: &mut TakeItems<'_>) -> Result<()> {
    let rows = tensor.shape().first().map_or(0..1, |&rows| 0..rows);
    each_window_of_rows(tensor, rows, take)
}

/// Hands `take` the items at some places of a tensor's first axis, if it has one.
fn each_window_of_rows(tensor: &Source, rows: Range<usize>, take: &mut TakeItems<'_>) -> Result<()> {
    let native = tensor.dtype().native();
    let conversion = Conversion::to_native(tensor.dtype());
    let mut ranges: Vec<_> = tensor.shape().iter().map(|&dim| 0..dim).collect();
    if let Some(first) = ranges.first_mut() {
        *first = rows;
    }
    let view = tensor.view().part(&ranges);
    let (mut items, mut scratch) = (Vec::new(), Vec::new());
    for window in Windows::new(&view.shape(), BYTES / native.itemsize().max(1)).iter() {
        let view = view.part(&window.ranges);
        memory::resize(&mut items, view.items() * native.itemsize(), tensor.label())?;
        conversion.read(tensor, &view, &mut items, &mut scratch)?;
        take(window.start, native.kind(), &items)?;
    }
    tensor.finish()
}
