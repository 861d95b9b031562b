//! How index tensors are read: from front to back, a window at a time, in parts by several threads.

use std::ops::Range;

use super::resolve::{Index, TupleResolver};
use crate::error::{Error, Result, Subject};
use crate::item::dtype::Kind;
use crate::layout::window::Windows;
use crate::memory;
use crate::ops::fill::Limits;
use crate::parallel::on_threads;
use crate::storage::conversion::Conversion;
use crate::storage::source::Source;

/// The bytes of a tensor that are read at once: what stays in a core's first caches beside what is made of it.
const BYTES: usize = 1 << 16;

/// Collects the places of index tuples as they are resolved.
pub(super) trait Collect: Send {
    /// Takes the places of the tuples from number `first` on.
    ///
    /// # Errors
    /// Of reading the payload of the tuples; not enough memory.
    fn take(&mut self, first: usize, places: &[u64]) -> Result<()>;
}

/// Resolves all tuples of an index tensor in one pass. A long one is cut into parts, which go to several threads:
/// `begin(part, tuples)` makes the collector for a part of so many tuples. The collectors are returned in the order of the
/// parts.
///
/// # Errors
/// The first number of a part that is out of range. Of reading; those of `begin` and [`Collect::take`].
pub(super) fn collect<C: Collect>(
    indices: &Source,
    resolver: &TupleResolver,
    limits: Limits,
    begin: impl Fn(usize, usize) -> Result<C> + Sync,
) -> Result<Vec<C>> {
    // a tensor without axes is one row of one number
    let (rows, row) = match indices.shape().split_first() {
        Some((&rows, rest)) => (rows, rest.iter().product::<usize>()),
        None => (1, 1),
    };
    let width = resolver.width();
    if width == 0 || rows == 0 || row == 0 {
        return Ok(vec![begin(0, 0)?]);
    }
    let tuples = |rows: usize| rows * row / width;
    // A part begins where a tuple does, with a place of the first axis: unless that is the axis of the only tuple.
    let threads = match row % width {
        0 if !indices.is_stream() => limits.threads.for_bytes(indices.bytes()).min(rows).max(1),
        _ => 1,
    };
    let begins = |part: usize| part * rows / threads;
    let parts = on_threads(threads, |part| -> Result<C> {
        let rows = begins(part)..begins(part + 1);
        let mut collector = begin(part, tuples(rows.len()))?;
        collect_rows(indices, resolver, rows.clone(), tuples(rows.start), &mut collector)?;
        Ok(collector)
    });
    parts.into_iter().collect()
}

/// Hands a collector the places of the tuples in some rows, the first of which is tuple number `tuple`.
fn collect_rows(
    indices: &Source,
    resolver: &TupleResolver,
    rows: Range<usize>,
    mut tuple: usize,
    collector: &mut dyn Collect,
) -> Result<()> {
    let mut places = Vec::new();
    each_window_of_rows(indices, rows, &mut |_, kind, bytes| {
        resolver.resolve(kind, bytes, tuple, &mut places)?;
        collector.take(tuple, &places)?;
        tuple += places.len();
        Ok(())
    })
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

/// Evaluates an expression with the words of little-endian bytes and with what makes a number of a word, for an integer kind.
macro_rules! with_integers {
    ($kind:expr, $bytes:expr, |$words:ident, $read:ident| $body:expr) => {
        crate::item::element::match_kind!($kind, {
            bool T => Err($crate::ops::indexed::read::no_integers()),
            integer T => {
                let $words = <T as $crate::item::element::Element>::chunks($bytes);
                let $read = <T as $crate::item::element::Element>::from_little;
                $body
            },
            float T => Err($crate::ops::indexed::read::no_integers()),
            complex T => Err($crate::ops::indexed::read::no_integers()),
            Kind::Narrow(_)
            | Kind::LongDouble(_)
            | Kind::ComplexLongDouble(_)
            | Kind::Bytes(_)
            | Kind::Str(_)
            | Kind::Void(_)
            | Kind::Struct(_)
            | Kind::Datetime(_)
            | Kind::Timedelta(_) => Err($crate::ops::indexed::read::no_integers()),
        })
    };
}
pub(super) use with_integers;

/// Returns the error for an index tensor of any other kind.
pub(super) fn no_integers() -> Error {
    Error::new(Subject::Indices, "not integers")
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
