//! Index tensors read: from front to back, a window at a time, parts of them by several threads.

use std::ops::Range;

use super::{Index, Numbers};
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

/// What takes the places of index tuples as they are resolved.
pub(super) trait Collect: Send {
    /// Takes the places of the tuples from number `first` on.
    ///
    /// # Errors
    /// Of reading what belongs to them; not enough memory.
    fn take(&mut self, first: usize, places: &[u64]) -> Result<()>;
}

/// Resolves all tuples of an index tensor. Parts of a long one go to several threads: `begin` gives each, by
/// the number of its part, what it collects the places of so many tuples in, and these are returned in the order of the parts.
///
/// # Errors
/// A number that names no place: of several the first of a part. Of reading; those of `begin` and [`Collect::take`].
pub(super) fn collect<C: Collect>(
    indices: &Source,
    numbers: &Numbers,
    limits: Limits,
    begin: impl Fn(usize, usize) -> Result<C> + Sync,
) -> Result<Vec<C>> {
    // a tensor without axes is one row of one number
    let (rows, row) = match indices.shape().split_first() {
        Some((&rows, rest)) => (rows, rest.iter().product::<usize>()),
        None => (1, 1),
    };
    let width = numbers.width();
    if width == 0 || rows == 0 || row == 0 {
        return Ok(vec![begin(0, 0)?]);
    }
    let tuples = |rows: usize| rows * row / width;
    // A part begins where a tuple does, with a place of the first axis: unless that is the axis of the only tuple.
    let threads = match row % width {
        0 if !indices.is_stream() => limits.threads.for_bytes(indices.bytes()).min(rows).max(1),
        _ => 1,
    };
    let part = |number: usize| number * rows / threads;
    let parts = on_threads(threads, |number| -> Result<C> {
        let rows = part(number)..part(number + 1);
        let mut collected = begin(number, tuples(rows.len()))?;
        let (mut places, mut tuple) = (Vec::new(), tuples(rows.start));
        each_window(indices, rows, |_, kind, bytes| {
            numbers.resolve(kind, bytes, tuple, &mut places)?;
            collected.take(tuple, &places)?;
            tuple += places.len();
            Ok(())
        })?;
        Ok(collected)
    });
    parts.into_iter().collect()
}

/// All integers of a tensor, in C order.
///
/// # Errors
/// One beyond int64; of reading.
pub fn all_integers(tensor: &Source) -> Result<Vec<i64>> {
    let mut list = Vec::new();
    each_window(tensor, 0..tensor.shape().first().copied().unwrap_or(1), |_, kind, bytes| {
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

/// Calls a closure with the words of little-endian bytes and with what makes a number of a word, for an integer kind.
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

/// What is said of an index tensor that holds anything else.
pub(super) fn no_integers() -> Error {
    Error::new(Subject::Indices, "not integers")
}

/// Hands `take` the items at some places of a tensor's first axis in C order and little-endian, a window at a time,
/// with the number of the first.
///
/// # Errors
/// Of reading, and those of `take`.
pub fn each_window(
    tensor: &Source,
    rows: Range<usize>,
    mut take: impl FnMut(usize, &Kind, &[u8]) -> Result<()>,
) -> Result<()> {
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
        let bytes = view.items() * native.itemsize();
        if bytes > items.capacity() {
            items = memory::of(bytes).map_err(|why| Error::memory(why).within(tensor.label()))?;
        }
        items.resize(bytes, 0);
        conversion.read(tensor, &view, &mut items, &mut scratch)?;
        take(window.start, native.kind(), &items)?;
    }
    tensor.finish()
}
