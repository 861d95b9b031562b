//! Checked shapes of an operator by indices, and the resolution of index tuples to places in range.
//!
//! Numbers are widened to int64 in blocks, so the loop for a tuple length is compiled once. Only a failed block is
//! searched for its first number out of range: a loop with an exit per number took 87 ns per tuple, this one is
//! memory-bound.

use std::fmt;
use std::ops::Range;

use crate::error::{Error, Result, Subject, counted};
use crate::item::dtype::Kind;
use crate::item::meta::Order;
use crate::layout::axis::{BeyondInt64, coordinates, product, resolve_axis};
use crate::layout::numbers::ItemNumbers;

/// The axes of `data` that index tuples address, and the layout of the tuples.
#[derive(Clone, Debug)]
pub struct IndexSpec {
    /// The dims of the data.
    pub data: Vec<usize>,
    /// One number of a tuple addresses each.
    pub axes: Range<usize>,
    /// The leading axes of `data` and `tuples` that are batches; a tuple addresses its own batch. 0 for a scatter.
    pub batch_dims: usize,
    /// The dims of the index tensor without the tuple axis.
    pub tuples: Vec<usize>,
    /// The dims of a scatter's `updates` or a gather's output.
    pub updates: Vec<usize>,
    pub(in crate::ops) has_tuple_axis: bool,
    /// Otherwise, negative numbers are out of range.
    pub(in crate::ops) counts_from_end: bool,
    /// The meaning of a number outside its axis.
    pub out_of_range: OutOfRange,
    /// The index of a number in the index tensor implies the other places. The index tensor has the rank of `data`.
    pub is_implied: bool,
}

/// The meaning of a number outside its axis.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum OutOfRange {
    /// An error.
    #[default]
    Error,
    /// The gathered item has zero bytes; only for gathers by single numbers.
    Zero,
}

impl IndexSpec {
    pub(in crate::ops) fn new(data: &[usize], batch_dims: usize, axes: Range<usize>, tuples: &[usize]) -> Self {
        Self {
            updates: [&data[..axes.start], &tuples[batch_dims..], &data[axes.end..]].concat(),
            data: data.to_vec(),
            axes,
            batch_dims,
            tuples: tuples.to_vec(),
            has_tuple_axis: true,
            counts_from_end: true,
            out_of_range: OutOfRange::Error,
            is_implied: false,
        }
    }

    #[must_use]
    pub(in crate::ops) fn counting(self, from_end: bool) -> Self {
        Self { counts_from_end: from_end, ..self }
    }

    /// The number of index tuples.
    pub fn count(&self) -> usize {
        self.tuples.iter().product()
    }

    pub(in crate::ops) fn counted(&self) -> String {
        let (one, many) = if self.has_tuple_axis { ("index tuple", "index tuples") } else { ("index", "indices") };
        counted(self.count(), one, many)
    }

    /// Whether tuples address single items by numbers for all axes.
    pub fn name_items(&self) -> bool {
        self.is_implied || self.axes == (0..self.data.len())
    }
}

/// A block stays in the first-level cache, and clearing it costs nothing beside filling it.
const BLOCK: usize = 192;

/// An integer type of index tensors.
pub trait Index: Copy + fmt::Display {
    /// Returns the number as int64; `None` if it is out of range.
    fn to_i64(self) -> Option<i64>;

    /// Returns the number as int64, or `i64::MAX`, which is never a valid place.
    #[inline(always)]
    fn saturating_i64(self) -> i64 {
        self.to_i64().unwrap_or(i64::MAX)
    }
}

macro_rules! index {
    ($($type:ty)+) => {$(
        impl Index for $type {
            #[inline(always)]
            fn to_i64(self) -> Option<i64> {
                self.try_into().ok()
            }
        }
    )+};
}

index!(i8 i16 i32 i64 isize u8 u16 u32 u64 usize);

macro_rules! with_integers {
    ($kind:expr, $bytes:expr, |$words:ident, $read:ident| $body:expr) => {
        crate::item::element::match_kind!($kind, {
            bool T => $crate::ops::indexed::no_integers(),
            integer T => {
                let $words = <T as $crate::item::element::Element>::chunks($bytes);
                let $read = <T as $crate::item::element::Element>::from_little;
                $body
            },
            float T => $crate::ops::indexed::no_integers(),
            complex T => $crate::ops::indexed::no_integers(),
            Kind::Narrow(_) | $crate::item::element::not_numbers!() => $crate::ops::indexed::no_integers(),
        })
    };
}
fn no_integers() -> Result<()> {
    Err(Error::new(Subject::Indices, "not integers"))
}

/// Appends integers of any dtype, which are in native byte order.
///
/// # Errors
/// The dtype has other items than integers, or an integer beyond int64 is refused.
pub fn append_integers(kind: &Kind, bytes: &[u8], beyond: BeyondInt64, list: &mut Vec<i64>) -> Result<()> {
    with_integers!(kind, bytes, |words, read| {
        for &word in words {
            let number = read(word);
            list.push(match beyond {
                BeyondInt64::Refused => number.to_i64().ok_or_else(|| Error::beyond_int64(&number))?,
                BeyondInt64::Clamped => number.saturating_i64(),
            });
        }
        Ok(())
    })
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct PlaceAxis {
    dim: u64,
    /// The addend for negative numbers: `dim`, or 0, which leaves them above any dim.
    wrap: u64,
    stride: u64,
}

impl PlaceAxis {
    fn new(dim: usize, stride: usize, negative: bool) -> Self {
        Self { dim: dim as u64, wrap: if negative { dim as u64 } else { 0 }, stride: stride as u64 }
    }

    /// Returns `dim` or more for numbers out of range. Branch-free, because signs are unpredictable.
    #[inline(always)]
    fn place(self, number: i64) -> u64 {
        (number as u64).wrapping_add((number >> 63) as u64 & self.wrap)
    }
}

/// Returns the position of the first number out of range as the error.
fn resolve_tuples(axes: &[PlaceAxis], numbers: &[i64], places: &mut Vec<u64>) -> Result<(), usize> {
    let in_range = match *axes {
        [] => true,
        [a] => tuples([a], numbers, places),
        [a, b] => tuples([a, b], numbers, places),
        [a, b, c] => tuples([a, b, c], numbers, places),
        [a, b, c, d] => tuples([a, b, c, d], numbers, places),
        _ => {
            let mut in_range = true;
            places.extend(numbers.chunks_exact(axes.len()).map(|tuple| {
                let mut place = 0_u64;
                for (n, &number) in tuple.iter().enumerate() {
                    let axis = axes[n];
                    let number = axis.place(number);
                    in_range &= number < axis.dim;
                    place = place.wrapping_add(number.wrapping_mul(axis.stride));
                }
                place
            }));
            in_range
        }
    };
    if in_range {
        return Ok(());
    }
    let is_out = |(n, &number): (usize, &i64)| {
        let axis = axes[n % axes.len()];
        axis.place(number) >= axis.dim
    };
    Err(numbers.iter().enumerate().position(is_out).expect("one of the numbers was found to be out of range"))
}

/// Tuples of `K` numbers. Writes to resized memory: with `push`, the accumulator stayed in memory and a number took
/// four times as long.
fn tuples<const K: usize>(axes: [PlaceAxis; K], numbers: &[i64], places: &mut Vec<u64>) -> bool {
    let (tuples, known) = (numbers.as_chunks::<K>().0, places.len());
    places.resize(known + tuples.len(), 0);
    let mut in_range = true;
    for (tuple, out) in tuples.iter().zip(&mut places[known..]) {
        let mut place = 0_u64;
        for n in 0..K {
            let number = axes[n].place(tuple[n]);
            in_range &= number < axes[n].dim;
            place = place.wrapping_add(number.wrapping_mul(axes[n].stride));
        }
        *out = place;
    }
    in_range
}

#[derive(Clone, Debug)]
struct ImpliedPlaces {
    stride: u64,
    /// The place of each number if its value is 0.
    of_numbers: ItemNumbers,
    /// The implied first axis is the outermost in storage.
    goes_by_rows: bool,
}

impl ImpliedPlaces {
    fn new(data: &[usize], indices: &[usize], axis: usize, order: Order) -> Self {
        let mut strides: Vec<usize> = order.view(data).strides().map(isize::unsigned_abs).collect();
        let stride = std::mem::take(&mut strides[axis]) as u64;
        let of_numbers = ItemNumbers::new(0, indices.iter().copied().zip(strides));
        Self { stride, of_numbers, goes_by_rows: axis > 0 && order == Order::C }
    }

    /// `places` has axis places on entry and complete places on return.
    fn complete(&self, first: usize, places: &mut [u64]) {
        if places.is_empty() {
            return;
        }
        let step = self.of_numbers.step() as u64;
        for (row, implied) in self.of_numbers.runs(first, places.len()) {
            let mut implied = implied as u64;
            for place in &mut places[row] {
                *place = place.wrapping_mul(self.stride).wrapping_add(implied);
                implied = implied.wrapping_add(step);
            }
        }
    }
}

/// The meaning of index numbers for one storage order, with `data` as `[outer, dim, block]` and `updates` as
/// `[outer, count, block]`. In C order, axes before the indexed ones are outer, and later axes form the block. Fortran
/// order swaps them.
#[derive(Clone, Debug)]
pub struct TupleResolver {
    /// The axes and dims that are resolved.
    pub shapes: IndexSpec,
    /// How many parts of the data the same tuples address.
    pub outer: usize,
    /// The items of a block.
    pub block: usize,
    /// The places that a tuple may name.
    pub places: usize,
    axes: Vec<PlaceAxis>,
    implied: Option<ImpliedPlaces>,
    /// The axes of `updates` in this order, if they differ.
    pub updates_axes: Option<Vec<usize>>,
}

impl IndexSpec {
    /// Returns the resolver for data in this storage order.
    pub fn in_order(self, order: Order) -> TupleResolver {
        let Self { data, axes, tuples, updates, is_implied, counts_from_end, .. } = &self;
        let (before, indexed, after) = (&data[..axes.start], &data[axes.clone()], &data[axes.end..]);
        let place_axis = |(&dim, stride)| PlaceAxis::new(dim, stride as usize, *counts_from_end);
        let place_axes = indexed.iter().zip(order.view(indexed).strides()).map(place_axis).collect();
        let (first, last, rank) = (axes.start, axes.start + tuples.len(), updates.len());
        let (outer, block, updates_axes) = match order {
            _ if *is_implied => (&[][..], &[][..], None),
            Order::C => (before, after, None),
            Order::Fortran => {
                (after, before, Some((last..rank).rev().chain(first..last).chain((0..first).rev()).collect()))
            }
        };
        TupleResolver {
            outer: product(outer),
            block: product(block),
            places: product(if *is_implied { data } else { indexed }),
            axes: place_axes,
            implied: is_implied.then(|| ImpliedPlaces::new(data, tuples, axes.start, order)),
            updates_axes,
            shapes: self,
        }
    }
}

impl TupleResolver {
    /// Resolves numbers to places of their axis alone.
    #[must_use]
    pub fn without_implied(self) -> Self {
        Self { implied: None, ..self }
    }

    /// The numbers of a tuple.
    pub fn width(&self) -> usize {
        self.axes.len()
    }

    /// The number of index tuples.
    pub fn count(&self) -> usize {
        self.shapes.count()
    }

    /// The tuples per row of the index tensor, if only they name the same row of the data, in ascending order.
    pub fn row_tuples(&self) -> Option<usize> {
        let goes_by_rows = self.implied.as_ref().is_some_and(|implied| implied.goes_by_rows);
        goes_by_rows.then(|| self.shapes.tuples[1..].iter().product())
    }

    /// Appends the places of tuples from number `first` on. A tuple outside the data yields `places` if this is not an
    /// error.
    ///
    /// # Errors
    /// A number is out of range, or the dtype has other items than integers.
    pub fn append(&self, kind: &Kind, bytes: &[u8], first: usize, places: &mut Vec<u64>) -> Result<()> {
        with_integers!(kind, bytes, |words, read| self.append_places(words, read, first, places))
    }

    pub(in crate::ops) fn append_places<W: Copy, I: Index>(
        &self,
        words: &[W],
        read: impl Fn(W) -> I,
        first: usize,
        places: &mut Vec<u64>,
    ) -> Result<()> {
        let known = places.len();
        let (mut block, width) = ([0_i64; BLOCK], self.width());
        let axes = &self.axes;
        let most = BLOCK / width * width;
        for (number, words) in words.chunks(most).enumerate() {
            let wide = &mut block[..words.len()];
            for n in 0..wide.len() {
                wide[n] = read(words[n]).saturating_i64();
            }
            if let (OutOfRange::Zero, [axis]) = (self.shapes.out_of_range, &axes[..]) {
                places.extend(wide.iter().map(|&number| axis.place(number).min(axis.dim)));
                continue;
            }
            let resolved = resolve_tuples(axes, wide, places);
            resolved.map_err(|bad| self.out_of_range(first * width + number * most + bad, &read(words[bad])))?;
        }
        if let Some(implied) = &self.implied {
            implied.complete(first, &mut places[known..]);
        }
        Ok(())
    }

    /// The error for two tuples that name one place.
    pub fn repeated(&self, position: usize, first: usize) -> Error {
        let at = |position| coordinates(position, &self.shapes.tuples);
        let message = format!("the index at {:?} repeats the one at {:?}", at(position), at(first));
        Error::new(Subject::Indices, message)
    }

    fn out_of_range(&self, number: usize, value: &dyn fmt::Display) -> Error {
        let IndexSpec { data, axes, tuples, has_tuple_axis, counts_from_end, .. } = &self.shapes;
        let component = number % axes.len();
        let mut at = coordinates(number / axes.len(), tuples);
        if *has_tuple_axis {
            at.push(component);
        }
        let axis = axes.start + component;
        let dim = data[axis];
        let range = match dim {
            0 => "there is no place".to_owned(),
            _ if *counts_from_end => format!("expected [-{dim}, {}]", dim - 1),
            _ => format!("expected [0, {}]", dim - 1),
        };
        let text = value.to_string();
        // Suggests the place meant by a negative number.
        let below = text.parse().ok().filter(|below: &i64| !counts_from_end && *below < 0);
        let hint = below.and_then(|below| resolve_axis(below, dim)).map_or_else(String::new, |place| {
            format!("; the specification counts no index from the end: write {place} for that place")
        });
        let message = format!("{text} at {at:?} is out of range: {range} on axis {axis} (data {data:?}){hint}");
        Error::new(Subject::Indices, message)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_of_every_width() {
        let mut places = Vec::new();
        let mut of = |axes: &[(usize, usize)], negative, numbers: &[i64]| {
            let axes: Vec<_> = axes.iter().map(|&(dim, stride)| PlaceAxis::new(dim, stride, negative)).collect();
            places.clear();
            resolve_tuples(&axes, numbers, &mut places).map(|()| places.clone())
        };
        assert_eq!(of(&[(5, 1)], true, &[0, -1, 4, -5]), Ok(vec![0, 4, 4, 0]));
        assert_eq!(of(&[(5, 1)], true, &[0, 5, -6]), Err(1));
        assert_eq!(of(&[(5, 1)], true, &[0, -6]), Err(1));
        assert_eq!(of(&[(5, 1)], false, &[3, -1]), Err(1));
        assert_eq!(of(&[(2, 3), (3, 1)], true, &[1, 2, -2, -3]), Ok(vec![5, 0]));
        assert_eq!(of(&[(2, 3), (3, 1)], true, &[0, 0, 0, 3]), Err(3));
        assert_eq!(of(&[(2, 6), (3, 2), (2, 1)], true, &[1, 2, 1]), Ok(vec![11]));
        let five = [(2, 16), (2, 8), (2, 4), (2, 2), (2, 1)];
        assert_eq!(of(&five, true, &[1, 0, 1, 0, 1, -1, -1, -1, -1, -1]), Ok(vec![21, 31]));
        assert_eq!(of(&five, true, &[1, 0, 1, 0, 2]), Err(4));
        assert_eq!(of(&[], true, &[]), Ok(vec![]));
        assert_eq!(of(&[(2, 1)], true, &[i64::MIN]), Err(0));
        assert_eq!(of(&[(isize::MAX as usize, 1)], true, &[i64::MAX]), Err(0));
    }

    #[test]
    fn numbers_of_every_type_in_several_blocks() {
        let count = 2 * BLOCK / 3 + 5;
        let resolver =
            crate::ops::operators::scatter_nd::check(&[9, 7, 5], &[count, 3], None).unwrap().in_order(Order::C);
        let numbers: Vec<i64> = (0..3 * count as i64).map(|n| n % 9 % [9, 7, 5][n as usize % 3]).collect();
        let expected = |tuple: &[i64]| ((tuple[0] * 7 + tuple[1]) * 5 + tuple[2]) as u64;
        let expected: Vec<u64> = numbers.chunks(3).map(expected).collect();
        let bad = numbers.len() - 2;
        macro_rules! check {
            ($($type:ty, $kind:ident;)+) => {$(
                let mut typed: Vec<$type> = numbers.iter().map(|&n| n as $type).collect();
                let mut places = Vec::new();
                let bytes = |typed: &[$type]| typed.iter().flat_map(|n| n.to_le_bytes()).collect::<Vec<u8>>();
                assert_eq!(resolver.append(&Kind::$kind, &bytes(&typed), 0, &mut places), Ok(()));
                assert_eq!(places, expected, stringify!($type));
                typed[bad] = <$type>::MAX;
                let error = resolver.append(&Kind::$kind, &bytes(&typed), 0, &mut places).unwrap_err();
                let message = format!("{} at [{}, 1] is out of range: expected [-7, 6]", <$type>::MAX, count - 1);
                assert!(error.message().starts_with(&message), "{error}");
            )+};
        }
        check!(i8, Int8; i16, Int16; i32, Int32; i64, Int64; u8, UInt8; u16, UInt16; u32, UInt32; u64, UInt64;);
    }
}
