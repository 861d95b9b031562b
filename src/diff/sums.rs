//! The sums that metrics are made of, gathered in one pass: the same bits whatever the threads and the windows.
//!
//! Items are taken in blocks of a fixed number, which begin at its multiples wherever windows end. Of a block the sums
//! are made in float64, by one thread in one order, and those of all blocks are added exactly, in any order. Within a
//! block items are counted from its first one ("offsets"), so that neither a large mean nor a long integer hides small
//! deviations: what rounding may cost is measured by the spread of one block, and not by the size of its items.
//!
//! Blocks of equal items tell nothing new while all have been equal, and are left out; only if any differ later are
//! they visited in a second pass over the windows that were left out.

use std::collections::BTreeMap;
use std::sync::{Mutex, PoisonError};

use super::item::{ComparedItem, ItemClass};
use crate::item::exact::{self, Exact, power_of_two};
use crate::memory;

/// The items of a block. Their offsets, in float64, stay in a core's nearest cache.
const BLOCK: usize = 512;

/// Sums run side by side so many to a block: a single one would wait for its own last addition each time.
const LANES: usize = 4;

/// What is known of some items that are finite on both sides, exactly but for the rounding within blocks.
#[derive(Clone, Debug)]
pub(super) struct Sums<T> {
    /// How many.
    pub count: u64,
    /// How many of them have no error.
    pub zeros: u64,
    /// The sums of the expected and of the actual items, in 2^-[`ComparedItem::UNIT`].
    pub expected: Exact,
    pub actual: Exact,
    /// Of their squares and of their products, in the square of that.
    pub expected_squares: Exact,
    pub actual_squares: Exact,
    pub products: Exact,
    /// Of the magnitudes of differences, and in the square of the unit of their squares.
    pub errors: Exact,
    pub squared_errors: Exact,
    /// The smallest and the largest of the expected items, and of the actual ones. Of complex items there are none.
    pub ends: [Option<(T, T)>; 2],
}

impl<T> Default for Sums<T> {
    fn default() -> Self {
        Self {
            count: 0,
            zeros: 0,
            expected: Exact::default(),
            actual: Exact::default(),
            expected_squares: Exact::default(),
            actual_squares: Exact::default(),
            products: Exact::default(),
            errors: Exact::default(),
            squared_errors: Exact::default(),
            ends: [None, None],
        }
    }
}

impl<T: ComparedItem> Sums<T> {
    /// Puts what is known of other items to it.
    pub(super) fn merge(&mut self, other: Self) {
        self.count += other.count;
        self.zeros += other.zeros;
        self.expected.merge(other.expected);
        self.actual.merge(other.actual);
        self.expected_squares.merge(other.expected_squares);
        self.actual_squares.merge(other.actual_squares);
        self.products.merge(other.products);
        self.errors.merge(other.errors);
        self.squared_errors.merge(other.squared_errors);
        for (own, other) in self.ends.iter_mut().zip(other.ends) {
            widen(own, other);
        }
    }

    /// Adds what is known of a block: exactly, as the offsets' origins are put back. `pairs` are its items.
    fn add(&mut self, count: usize, origins: [Option<T>; 2], sums: &BlockSums, pairs: impl Iterator<Item = (T, T)>) {
        let (unit, count) = (T::UNIT, count as u64);
        self.count += count;
        let [e, a] = origins.map(|origin| origin.map_or((false, 0, 0), T::exact));
        for (sum, squares, origin, side) in [
            (&mut self.expected, &mut self.expected_squares, e, &sums.expected),
            (&mut self.actual, &mut self.actual_squares, a, &sums.actual),
        ] {
            sum.add_float(side.sum, unit + side.power, 1);
            squares.add_float(side.squares, 2 * (unit + side.power), 1);
            if origin.1 != 0 {
                add_product(sum, origin, (false, count, 0), unit, 1);
                add_product(squares, origin, origin, 2 * unit, count);
                add_product(squares, origin, parts(side.sum, side.power), 2 * unit, 2);
            }
        }
        let origins = origins.map(|origin| origin.map_or(0.0, |origin| origin.parts().0));
        if T::CLASS != ItemClass::Complex && sums.products_cancel(count, origins) {
            pairs.for_each(|(e, a)| add_product(&mut self.products, e.exact(), a.exact(), 2 * unit, 1));
        } else {
            self.products.add_float(sums.products, 2 * unit + sums.expected.power + sums.actual.power, 1);
            add_product(&mut self.products, e, a, 2 * unit, count);
            add_product(&mut self.products, e, parts(sums.actual.sum, sums.actual.power), 2 * unit, 1);
            add_product(&mut self.products, a, parts(sums.expected.sum, sums.expected.power), 2 * unit, 1);
        }
        self.errors.add_float(sums.errors.sum, unit + sums.errors.power, 1);
        self.squared_errors.add_float(sums.errors.squares, 2 * (unit + sums.errors.power), 1);
    }

    /// Takes the items of a block, those of one side as little-endian bytes. Returns whether the errors in `scratch` are
    /// those of all items.
    fn block(&mut self, expected: &[u8], actual: &[u8], scratch: &mut Offsets) -> bool {
        let pairs = || T::items(expected).zip(T::items(actual));
        let Some(origins) = pairs().next() else { return false };
        if T::CLASS == ItemClass::Complex {
            self.parts(pairs(), scratch);
            return false;
        }
        scratch.resize(expected.len() / T::SIZE);
        let Offsets { expected: x, actual: y, errors } = &mut *scratch;
        // one loop for each row of numbers, so that each is vectorised
        x.iter_mut().zip(pairs()).for_each(|(x, (expected, _))| *x = expected.offset(origins.0));
        y.iter_mut().zip(pairs()).for_each(|(y, (_, actual))| *y = actual.offset(origins.1));
        errors.iter_mut().zip(pairs()).for_each(|(error, (expected, actual))| *error = actual.offset(expected));
        let ranges = [range(x), range(y)];
        let sums = scratch.sums();
        let is_one_value = ranges.map(|range| range == (0.0, 0.0));
        // that an item is no date, no sum shows
        let dates = T::CLASS != ItemClass::Date || pairs().all(|(one, other)| one.is_finite() && other.is_finite());
        if dates && sums.is_sound::<T>(is_one_value) {
            self.zeros += zeros(&scratch.errors);
            self.add(scratch.errors.len(), [Some(origins.0), Some(origins.1)], &sums, pairs());
            let sides = [(origins.0, ranges[0], expected), (origins.1, ranges[1], actual)];
            for (ends, (origin, range, items)) in self.ends.iter_mut().zip(sides) {
                // offsets are rounded: where they could tell of a new end, the items do
                if ends.is_none_or(|(low, high)| range.0 <= low.offset(origin) || range.1 >= high.offset(origin)) {
                    let items = || T::items(items);
                    let (low, high) = (items().fold(origin, least), items().fold(origin, most));
                    widen(ends, Some((low, high)));
                }
            }
            return true;
        }
        // NaN, infinities, or numbers whose squares float64 does not have
        let finite = || pairs().filter(|(expected, actual)| expected.is_finite() && actual.is_finite());
        let Some(origins) = finite().next() else { return false };
        let bound = |power: i32| if power > 1000 { 4 } else { 0 };
        let size = |items: &mut dyn Iterator<Item = T>| items.map(|item| exponent(item.parts().0)).max().unwrap_or(0);
        let powers = [bound(size(&mut finite().map(|pair| pair.0))), bound(size(&mut finite().map(|pair| pair.1)))];
        scratch.clear();
        for (expected, actual) in finite() {
            widen(&mut self.ends[0], Some((expected, expected)));
            widen(&mut self.ends[1], Some((actual, actual)));
            // differences of the largest numbers must stay numbers
            let offset = |one: T, other: T, power: i32| match power {
                0 => one.offset(other),
                _ => {
                    one.parts().0 * power_of_two(-i64::from(power)) - other.parts().0 * power_of_two(-i64::from(power))
                }
            };
            scratch.expected.push(offset(expected, origins.0, powers[0]));
            scratch.actual.push(offset(actual, origins.1, powers[1]));
            scratch.errors.push(offset(actual, expected, powers[0].max(powers[1])));
        }
        self.zeros += zeros(&scratch.errors);
        let sums = scratch.scaled([powers[0], powers[1], powers[0].max(powers[1])]);
        self.add(scratch.errors.len(), [Some(origins.0), Some(origins.1)], &sums, finite());
        false
    }

    /// Takes complex items: the sums of squares and products are those of their parts, and of errors there is a modulus.
    fn parts(&mut self, pairs: impl Iterator<Item = (T, T)>, scratch: &mut Offsets) {
        scratch.clear();
        let (mut count, mut largest) = (0, 0.0_f64);
        for (expected, actual) in pairs.filter(|(expected, actual)| expected.is_finite() && actual.is_finite()) {
            count += 1;
            let (e, a) = (expected.parts(), actual.parts());
            scratch.expected.push(e.0);
            scratch.expected.push(e.1);
            scratch.actual.push(a.0);
            scratch.actual.push(a.1);
            largest = [e.0, e.1, a.0, a.1].iter().fold(largest, |most, part| most.max(part.abs()));
        }
        let power = if exponent(largest) > 1000 { 4 } else { 0 };
        let pairs = scratch.expected.iter().zip(&scratch.actual);
        match power {
            0 => scratch.errors.extend(pairs.map(|(e, a)| a - e)),
            _ => scratch.errors.extend(pairs.map(|(e, a)| a * power_of_two(-4) - e * power_of_two(-4))),
        }
        self.zeros += scratch.errors.as_chunks::<2>().0.iter().filter(|parts| **parts == [0.0; 2]).count() as u64;
        let mut sums = scratch.scaled([0, 0, power]);
        // scaled by now, if they had to be
        let modulus = scratch.errors.as_chunks::<2>().0.iter().map(|[re, im]| re.hypot(*im));
        sums.errors.sum = modulus.sum();
        self.add(count, [None, None], &sums, std::iter::empty());
    }
}

/// Widens a range so that it holds another.
fn widen<T: ComparedItem>(ends: &mut Option<(T, T)>, other: Option<(T, T)>) {
    *ends = match (*ends, other) {
        (Some(one), Some(other)) => Some((least(one.0, other.0), most(one.1, other.1))),
        (one, other) => one.or(other),
    };
}

fn least<T: ComparedItem>(one: T, other: T) -> T {
    if other.below(one) { other } else { one }
}

fn most<T: ComparedItem>(one: T, other: T) -> T {
    if one.below(other) { other } else { one }
}

/// Adds the product of two numbers, of which one is so often there, to a sum in 2^-`unit`.
fn add_product(sum: &mut Exact, one: (bool, u64, i32), other: (bool, u64, i32), unit: i32, times: u64) {
    let (negative, product) = (one.0 != other.0, u128::from(one.1) * u128::from(other.1));
    let power = one.2 + other.2 + unit;
    let zeros = if product == 0 { return } else { product.trailing_zeros().min((-power).max(0) as u32) };
    // the halves, so that so many of them are no more than 128 bits
    let (product, power) = (product >> zeros, power + zeros as i32);
    let Ok(shift) = usize::try_from(power) else { return };
    sum.add(negative, u128::from(product as u64) * u128::from(times), shift);
    sum.add(negative, (product >> 64) * u128::from(times), shift + 64);
}

/// A float times a power of 2 as a sign, a whole number and a power of 2.
fn parts(value: f64, power: i32) -> (bool, u64, i32) {
    let (negative, mantissa, own) = exact::parts(value).unwrap_or_default();
    (negative, mantissa, own + power)
}

/// The power of 2 that a finite float is not below; that of the smallest float for 0.
fn exponent(value: f64) -> i32 {
    (value.to_bits() >> 52 & 2047) as i32 - 1023
}

/// The offsets of a block's items from its first, and the differences.
#[derive(Debug, Default)]
struct Offsets {
    expected: Vec<f64>,
    actual: Vec<f64>,
    errors: Vec<f64>,
}

impl Offsets {
    /// Makes room for so many of each; what they were does not matter.
    fn resize(&mut self, items: usize) {
        self.expected.resize(items, 0.0);
        self.actual.resize(items, 0.0);
        self.errors.resize(items, 0.0);
    }

    fn clear(&mut self) {
        self.expected.clear();
        self.actual.clear();
        self.errors.clear();
    }

    fn sums(&self) -> BlockSums {
        let (expected, actual, products) = moments(&self.expected, &self.actual);
        BlockSums { expected, actual, products, errors: magnitudes(&self.errors) }
    }

    /// The same, where numbers are brought into a range whose squares float64 has. `powers` of 2 have been taken out of
    /// them before.
    fn scaled(&mut self, powers: [i32; 3]) -> BlockSums {
        let scale = |items: &mut [f64]| {
            let power = exponent(items.iter().fold(0.0, |most, item| item.abs().max(most)));
            if power.abs() <= 300 || items.iter().all(|item| *item == 0.0) {
                return 0;
            }
            let half = i64::from(-power / 2);
            let (one, other) = (power_of_two(half), power_of_two(-i64::from(power) - half));
            items.iter_mut().for_each(|item| *item = *item * one * other);
            power
        };
        let [e, a, d] = [&mut self.expected, &mut self.actual, &mut self.errors].map(|items| scale(items));
        let mut sums = self.sums();
        (sums.expected.power, sums.actual.power, sums.errors.power) = (e + powers[0], a + powers[1], d + powers[2]);
        sums
    }
}

/// A sum, and that of squares, of numbers in 2^`power`.
#[derive(Clone, Copy, Debug, Default)]
struct Side {
    sum: f64,
    squares: f64,
    power: i32,
}

impl Side {
    /// Whether no square has left the range of float64 in a way that shows.
    fn is_sound(&self, is_zero: bool) -> bool {
        const LEAST: f64 = 1e-270;
        self.sum.is_finite() && self.squares.is_finite() && (self.squares > LEAST || is_zero)
    }
}

/// Of a block the sums of offsets, of their squares and products, and of the differences' magnitudes and squares.
#[derive(Clone, Copy, Debug)]
struct BlockSums {
    expected: Side,
    actual: Side,
    products: f64,
    errors: Side,
}

impl BlockSums {
    /// Whether the sum of products is so small beside what it is put together of, once `origins` are put back, that it may
    /// have lost what counts: of tensors that are nearly orthogonal the cosine still is to be right. (Rounding costs no more
    /// than 2^-44 of all that a block of 512 is put together of, so that 2^-12 of it has 9 digits in the worst case.)
    fn products_cancel(&self, count: u64, [e, a]: [f64; 2]) -> bool {
        let Self { expected, actual, products, errors } = self;
        let sides = (expected.squares * actual.squares).sqrt();
        let terms = [*products, e * actual.sum, a * expected.sum, e * a * count as f64];
        let most = terms.iter().fold(sides, |sum, term| sum + term.abs());
        let is_scaled = [expected, actual, errors].iter().any(|side| side.power != 0);
        is_scaled || terms.iter().sum::<f64>().abs() < most / 4096.0
    }

    /// Whether all items were finite, and no number out of range.
    fn is_sound<T: ComparedItem>(&self, [e, a]: [bool; 2]) -> bool {
        // narrow types have no squares that float64 has not
        let narrow = !T::IS_WIDE;
        self.products.is_finite()
            && self.expected.is_sound(narrow || e)
            && self.actual.is_sound(narrow || a)
            && self.errors.is_sound(narrow || self.errors.sum == 0.0)
    }
}

/// The sums, and the sums of squares of two rows of numbers, and the sum of their products.
fn moments(one: &[f64], other: &[f64]) -> (Side, Side, f64) {
    let mut lanes = [[0.0; LANES]; 5];
    let (ones, rest) = one.as_chunks::<LANES>();
    let (others, other_rest) = other.as_chunks::<LANES>();
    for (x, y) in ones.iter().zip(others) {
        for lane in 0..LANES {
            let (x, y) = (x[lane], y[lane]);
            lanes[0][lane] += x;
            lanes[1][lane] += x * x;
            lanes[2][lane] += y;
            lanes[3][lane] += y * y;
            lanes[4][lane] += x * y;
        }
    }
    for (lane, (x, y)) in rest.iter().zip(other_rest).enumerate() {
        for (sums, value) in lanes.iter_mut().zip([*x, x * x, *y, y * y, x * y]) {
            sums[lane] += value;
        }
    }
    let [x, xx, y, yy, xy] = lanes.map(|lanes| lanes.iter().sum());
    (Side { sum: x, squares: xx, power: 0 }, Side { sum: y, squares: yy, power: 0 }, xy)
}

/// The smallest and the largest of numbers, of which the first is 0; NaN is left out.
fn range(numbers: &[f64]) -> (f64, f64) {
    let (mut low, mut high) = ([0.0_f64; LANES], [0.0_f64; LANES]);
    let (chunks, rest) = numbers.as_chunks::<LANES>();
    for chunk in chunks {
        for lane in 0..LANES {
            low[lane] = if chunk[lane] < low[lane] { chunk[lane] } else { low[lane] };
            high[lane] = if chunk[lane] > high[lane] { chunk[lane] } else { high[lane] };
        }
    }
    let numbers = || rest.iter().copied();
    (low.into_iter().chain(numbers()).fold(0.0, f64::min), high.into_iter().chain(numbers()).fold(0.0, f64::max))
}

/// How many are 0.
fn zeros(numbers: &[f64]) -> u64 {
    // a block has few; a check of overflow would keep the loop from being vectorised
    numbers.iter().fold(0, |zeros: u64, number| zeros.wrapping_add(u64::from(*number == 0.0)))
}

/// The sum of magnitudes, and of squares.
fn magnitudes(numbers: &[f64]) -> Side {
    let (mut sums, mut squares) = ([0.0; LANES], [0.0; LANES]);
    let (chunks, rest) = numbers.as_chunks::<LANES>();
    for chunk in chunks {
        for lane in 0..LANES {
            sums[lane] += chunk[lane].abs();
            squares[lane] += chunk[lane] * chunk[lane];
        }
    }
    for (lane, number) in rest.iter().enumerate() {
        sums[lane] += number.abs();
        squares[lane] += number * number;
    }
    Side { sum: sums.iter().sum(), squares: squares.iter().sum(), power: 0 }
}

/// Pieces of blocks that windows have cut, until the other pieces come.
#[derive(Debug, Default)]
pub(super) struct Cuts(Mutex<BTreeMap<usize, Cut>>);

/// A block of which some items are there.
#[derive(Debug, Default)]
struct Cut {
    items: usize,
    expected: Vec<u8>,
    actual: Vec<u8>,
}

impl Cuts {
    /// Puts a piece to its block, which begins at item `start` and has `items`; the block, if it is complete then.
    fn put(
        &self,
        (start, items): (usize, usize),
        from: usize,
        (expected, actual): (&[u8], &[u8]),
        size: usize,
    ) -> Result<Option<Cut>, String> {
        let mut cuts = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let cut = cuts.entry(start).or_default();
        let at = (from - start) * size;
        for (side, bytes) in [(&mut cut.expected, expected), (&mut cut.actual, actual)] {
            if side.is_empty() {
                *side = memory::zeros(items * size)?;
            }
            side[at..at + bytes.len()].copy_from_slice(bytes);
        }
        cut.items += expected.len() / size;
        Ok(if cut.items == items { cuts.remove(&start) } else { None })
    }
}

/// What a thread has summed, and what it works with.
#[derive(Debug)]
pub(super) struct Summing<T> {
    pub sums: Sums<T>,
    scratch: Offsets,
}

impl<T> Default for Summing<T> {
    fn default() -> Self {
        Self { sums: Sums::default(), scratch: Offsets::default() }
    }
}

impl<T: ComparedItem> Summing<T> {
    /// Takes the items of a window of a tensor of `total`, of which the first has the number `start`: items of one type,
    /// as little-endian bytes. `seen` gets those of each block that is complete, and all their errors where these are
    /// known, in float64.
    ///
    /// # Errors
    /// No memory for a piece of a block.
    pub(super) fn window(
        &mut self,
        (start, total): (usize, usize),
        (expected, actual): (&[u8], &[u8]),
        cuts: &Cuts,
        mut seen: impl FnMut((&[u8], &[u8]), Option<&[f64]>),
    ) -> Result<(), String> {
        let mut block = |expected: &[u8], actual: &[u8]| {
            let is_known = self.sums.block(expected, actual, &mut self.scratch);
            seen((expected, actual), is_known.then_some(self.scratch.errors.as_slice()));
        };
        let end = start + expected.len() / T::SIZE;
        let mut at = start;
        while at < end {
            let begin = at / BLOCK * BLOCK;
            let items = BLOCK.min(total - begin);
            let next = (begin + items).min(end);
            let bytes = (at - start) * T::SIZE..(next - start) * T::SIZE;
            let (expected, actual) = (&expected[bytes.clone()], &actual[bytes]);
            if next - at == items {
                block(expected, actual);
            } else if let Some(whole) = cuts.put((begin, items), at, (expected, actual), T::SIZE)? {
                block(&whole.expected, &whole.actual);
            }
            at = next;
        }
        Ok(())
    }
}

/// Of equal tensors all that metrics ask: whether any item is finite, and whether two of those are not the same number.
#[derive(Clone, Copy, Debug)]
pub(super) struct Variety<T> {
    pub first: Option<T>,
    pub varies: bool,
}

impl<T> Default for Variety<T> {
    fn default() -> Self {
        Self { first: None, varies: false }
    }
}

impl<T: ComparedItem> Variety<T> {
    /// Takes items.
    pub(super) fn see(&mut self, items: &[u8]) {
        for item in T::items(items).filter(|item| item.is_finite()) {
            if self.varies {
                return;
            }
            self.varies = self.first.is_some_and(|first| !first.equals(item));
            self.first.get_or_insert(item);
        }
    }

    pub(super) fn merge(&mut self, other: Self) {
        let differ = |(one, other): (T, T)| !one.equals(other);
        self.varies |= other.varies || self.first.zip(other.first).is_some_and(differ);
        self.first = self.first.or(other.first);
    }
}
