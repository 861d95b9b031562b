//! Index tensors read into the numbers of an operator, and tensors of integers into lists.

use std::ops::Range;

use crate::error::{Error, Result};
use crate::item::dtype::Kind;
use crate::layout::window::Windows;
use crate::ops::fill::Limits;
use crate::ops::indexed::{Index, Numbers, TakeIndices, take_bytes};
use crate::parallel::on_threads;
use crate::storage::conversion::Conversion;
use crate::storage::source::Source;

/// The bytes of a tensor that are read at once: what stays in a core's first caches beside what is made of it.
const BYTES: usize = 1 << 17;

/// Hands all numbers of an index tensor to `numbers`: parts of it to several threads, if it is long.
///
/// # Errors
/// A number that names no place: of several the first of a part. Of reading; not enough memory.
pub fn take_all(indices: &Source, mut numbers: Numbers, limits: Limits) -> Result<Numbers> {
    let rows = indices.shape().first().copied().unwrap_or(1);
    let row = indices.shape().get(1..).unwrap_or_default().iter().product::<usize>();
    // a part begins where a tuple does: with a place of the first axis, if there is another
    let tuples_in_row = if numbers.width() == 0 { 0 } else { row / numbers.width() };
    let threads = if indices.is_stream() { 1 } else { limits.threads.for_bytes(indices.bytes()).min(rows) };
    if threads <= 1 || tuples_in_row == 0 {
        numbers.reserve(rows * tuples_in_row)?;
        each_window(indices, 0..rows, |_, kind, bytes| take_bytes(&mut numbers, kind, bytes))?;
        return Ok(numbers);
    }
    let part = |number: usize| number * rows / threads;
    let whole = &numbers;
    let parts = on_threads(threads, |number| -> Result<_> {
        let (first, last) = (part(number), part(number + 1));
        let mut numbers = whole.part(first * tuples_in_row);
        numbers.reserve((last - first) * tuples_in_row)?;
        each_window(indices, first..last, |_, kind, bytes| take_bytes(&mut numbers, kind, bytes))?;
        Ok(numbers)
    });
    for part in parts {
        numbers.join(part?);
    }
    Ok(numbers)
}

/// All integers of a tensor, in C order.
///
/// # Errors
/// One beyond int64; of reading.
pub fn all_integers(tensor: &Source) -> Result<Vec<i64>> {
    /// Takes what fits int64.
    struct List(Vec<i64>);
    impl TakeIndices for List {
        fn take<I: Index>(&mut self, numbers: impl IntoIterator<Item = I>) -> Result<()> {
            for number in numbers {
                self.0.push(number.to_i64().ok_or_else(|| Error::beyond_int64(&number))?);
            }
            Ok(())
        }
    }
    let mut list = List(Vec::new());
    each_window(tensor, 0..tensor.shape().first().copied().unwrap_or(1), |_, kind, bytes| {
        take_bytes(&mut list, kind, bytes)
    })?;
    Ok(list.0)
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
    let Some(conversion) = Conversion::new(tensor.dtype(), &native) else { return Ok(()) };
    let mut ranges: Vec<_> = tensor.shape().iter().map(|&dim| 0..dim).collect();
    if let Some(first) = ranges.first_mut() {
        *first = rows;
    }
    let view = tensor.view().part(&ranges);
    let (mut items, mut scratch) = (Vec::new(), Vec::new());
    for window in Windows::new(&view.shape(), BYTES / native.itemsize().max(1)).iter() {
        let view = view.part(&window.ranges);
        items.resize(view.items() * native.itemsize(), 0);
        conversion.read(tensor, &view, &mut items, &mut scratch)?;
        take(window.start, native.kind(), &items)?;
    }
    tensor.finish()
}
