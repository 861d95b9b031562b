//! The metrics, and their sums from one pass, with the same bits for any threads and windows.
//!
//! One thread sums a block of 512 items in float64 in a fixed order ([`lanes`](super::lanes)); block sums are added
//! exactly, in any order. Items are summed as offsets from the first item of a block, so that rounding depends on their
//! spread instead of their size.
//!
//! **The error.** Let u = 2^-53. An offset is rounded by u, a product of two by 3u, and each of the 128 additions of a
//! lane, and the last 3, add at most u of the sum of magnitudes. So a sum of products has an error below 2^8 u < 2^-44
//! of the sum of the magnitudes of its terms (by Cauchy's inequality at most the root of the product of the sums of
//! squares). Sums of squares and magnitudes do not cancel: they have 13 digits. If a sum of products, with the origins
//! added back, is below 2^-12 of its terms, which leaves fewer than 32 bits (9 digits), the products are added exactly.
//!
//! **The range.** Blocks with NaN or infinity sum their finite pairs; blocks whose squares exceed float64 are scaled by
//! a power of 2. Equal blocks are skipped until a block differs; a second pass then sums them.

use std::collections::HashMap;
use std::sync::Mutex;

use super::item::{Ends, ItemClass, RealItem};
use super::kernel::{BLOCK, PairKernel, Rows};
use super::lanes::{BlockSums, Offsets, RowSums, exponent};
use crate::diff::options::{Failure, MetricLimits};
use tensorop_kernels::item::exact::{Binary, Exact, Scaled, SumOfSquares, power_of_two, spread};
use tensorop_kernels::memory::{self, OutOfMemory};
use tensorop_kernels::parallel::locked;

/// Sums over finite pairs, exact except within blocks.
#[derive(Clone, Debug, Default)]
pub(crate) struct MetricSums {
    /// Set only for equal tensors.
    pub any_finite: bool,
    pub count: u64,
    pub zeros: u64,
    pub sides: [SumOfSquares; 2],
    pub products: Exact,
    pub errors: SumOfSquares,
    /// `None` for complex items.
    pub ends: [Option<Ends>; 2],
}

#[derive(Debug, Default)]
pub(crate) struct BlockScratch {
    offsets: Offsets,
    finite: [Vec<u8>; 2],
}

pub(crate) enum BlockErrors<'a> {
    Zeros,
    Bits(&'a [u64]),
    /// Some pairs are not finite or were scaled.
    Unknown,
}

impl MetricSums {
    pub(crate) fn merge(&mut self, other: Self) {
        self.any_finite |= other.any_finite;
        self.count += other.count;
        self.zeros += other.zeros;
        self.products.merge(other.products);
        self.errors.merge(other.errors);
        self.sides.iter_mut().zip(other.sides).for_each(|(own, other)| own.merge(other));
        for (own, other) in self.ends.iter_mut().zip(other.ends) {
            other.into_iter().for_each(|other| widen(own, other));
        }
    }

    pub(crate) fn look_at_equal(&mut self, kernel: &dyn PairKernel, rows: Rows<'_>, scratch: &mut BlockScratch) {
        kernel.keep_finite(rows, &mut scratch.finite);
        let items = &scratch.finite[0];
        self.any_finite |= !items.is_empty();
        if kernel.class() != ItemClass::Complex && !items.is_empty() {
            widen(&mut self.ends[0], kernel.ends(items));
        }
    }

    /// Whether two finite values differ. Not for complex items.
    pub(crate) fn vary(&self) -> bool {
        self.ends[0].is_some_and(|ends| ends.low != ends.high)
    }

    pub(crate) fn is_enough_of_equal(&self, class: ItemClass) -> bool {
        self.any_finite && (!class.is_real() || self.vary())
    }

    pub(crate) fn block<'s>(
        &mut self,
        kernel: &dyn PairKernel,
        rows: Rows<'_>,
        scratch: &'s mut BlockScratch,
    ) -> BlockErrors<'s> {
        let BlockScratch { offsets, finite } = scratch;
        // A sum does not show that a date is NaT.
        let may_be_finite = match kernel.class() {
            ItemClass::Complex => false,
            ItemClass::Date => kernel.are_finite(rows),
            ItemClass::Integer | ItemClass::Float => true,
        };
        if may_be_finite && self.real(kernel, rows, offsets) {
            return if rows.are_one() { BlockErrors::Zeros } else { BlockErrors::Bits(&offsets.errors) };
        }
        kernel.keep_finite(rows, finite);
        let rows = Rows { expected: &finite[0], actual: &finite[1] };
        if kernel.class() == ItemClass::Complex {
            self.complex(kernel, rows, offsets);
        } else if !rows.expected.is_empty() && !self.real(kernel, rows, offsets) {
            self.scaled(kernel, rows, offsets);
        }
        BlockErrors::Unknown
    }

    /// Adds nothing and returns false if an item is not finite or a square is out of range.
    fn real(&mut self, kernel: &dyn PairKernel, rows: Rows<'_>, offsets: &mut Offsets) -> bool {
        let (summands, origins) = kernel.summands(rows, offsets);
        let sums = summands.sums();
        if !sums.are_finite() {
            return false;
        }
        let ranges = summands.ranges();
        let is_one_value = ranges.map(|range| range == (0.0, 0.0));
        if kernel.class().is_wide() && !sums.are_in_range(is_one_value) {
            return false;
        }
        self.zeros += summands.zeros();
        self.add(kernel, rows, origins, &sums);
        for (side, items) in [rows.expected, rows.actual].into_iter().enumerate() {
            let (origin, (low, high)) = (origins[side], ranges[side]);
            // Offsets are rounded, so items decide whether the range grows.
            let is_within = |ends: Ends| low > ends.low.offset(origin) && high < ends.high.offset(origin);
            if !self.ends[side].is_some_and(is_within) {
                widen(&mut self.ends[side], kernel.ends(items));
            }
        }
        true
    }

    fn scaled(&mut self, kernel: &dyn PairKernel, rows: Rows<'_>, offsets: &mut Offsets) {
        assert_eq!(kernel.class(), ItemClass::Float, "squares of other items are in range");
        let (origins, powers) = kernel.scaled_summands(rows, offsets);
        for (ends, items) in self.ends.iter_mut().zip([rows.expected, rows.actual]) {
            widen(ends, kernel.ends(items));
        }
        self.zeros += offsets.summands().zeros();
        let sums = offsets.scaled_sums(powers);
        self.add(kernel, rows, origins, &sums);
    }

    fn add(&mut self, kernel: &dyn PairKernel, rows: Rows<'_>, origins: [RealItem; 2], sums: &BlockSums) {
        let count = (rows.expected.len() / kernel.size()) as u64;
        let [e, a] = origins.map(Binary::from);
        let [e_sum, a_sum] = [sums.expected, sums.actual].map(RowSums::exact_sum);
        for (side, origin, row, row_sum) in [(0, e, sums.expected, e_sum), (1, a, sums.actual, a_sum)] {
            let SumOfSquares { sum, squares } = &mut self.sides[side];
            sum.add(row_sum);
            sum.add_times(origin, count);
            squares.add(row.exact_squares());
            squares.add_product_times(origin, origin, count);
            squares.add_product_times(origin, row_sum, 2);
        }
        if kernel.class() != ItemClass::Complex && sums.products_cancel(count, origins.map(RealItem::near)) {
            kernel.add_products(rows, &mut self.products);
        } else {
            self.products.add(Binary::from(sums.products).shifted(sums.expected.power + sums.actual.power));
            self.products.add_product_times(e, a, count);
            self.products.add_product(e, a_sum);
            self.products.add_product(a, e_sum);
        }
        self.count += count;
        self.errors.sum.add(sums.errors.exact_sum());
        self.errors.squares.add(sums.errors.exact_squares());
    }

    /// Sums the squares and products of the parts; an error is a modulus.
    fn complex(&mut self, kernel: &dyn PairKernel, rows: Rows<'_>, offsets: &mut Offsets) {
        let sides = [rows.expected, rows.actual].map(|items| items.as_chunks().0);
        let parts = |side: usize| sides[side].iter().map(|part| f64::from_le_bytes(*part));
        let largest = parts(0).chain(parts(1)).fold(0.0_f64, |most, part| most.max(part.abs()));
        let power = if exponent(largest) > 1000 { 4 } else { 0 };
        let scale = power_of_two(-i64::from(power));
        offsets.resize(sides[0].len());
        offsets.expected.copy_from_slice(sides[0]);
        offsets.actual.copy_from_slice(sides[1]);
        let differences = parts(1).zip(parts(0)).map(|(actual, expected)| actual * scale - expected * scale);
        offsets.errors.iter_mut().zip(differences).for_each(|(error, parts)| *error = parts.abs().to_bits());
        // Both parts of a zero difference are 0.
        self.zeros += offsets.errors.as_chunks::<2>().0.iter().filter(|parts| **parts == [0; 2]).count() as u64;
        let mut sums = offsets.scaled_sums([0, 0, power]);
        // `scaled_sums` may have scaled the parts.
        let errors = offsets.errors.as_chunks::<2>().0.iter();
        sums.errors.sum = errors.map(|parts| f64::from_bits(parts[0]).hypot(f64::from_bits(parts[1]))).sum();
        self.add(kernel, rows, [RealItem::Float(0.0); 2], &sums);
    }
}

fn widen(ends: &mut Option<Ends>, other: Ends) {
    *ends = Some(match *ends {
        None => other,
        Some(ends) => Ends {
            low: if other.low < ends.low { other.low } else { ends.low },
            high: if other.high > ends.high { other.high } else { ends.high },
        },
    });
}

/// Blocks that one window began and another completes.
#[derive(Debug, Default)]
pub(crate) struct PartialBlocks(Mutex<HashMap<usize, PartialBlock>>);

#[derive(Debug, Default)]
pub(crate) struct PartialBlock {
    items: usize,
    expected: Vec<u8>,
    actual: Vec<u8>,
}

pub(crate) struct BlockSummer<'a> {
    pub kernel: &'static dyn PairKernel,
    pub total: usize,
    pub partial: &'a PartialBlocks,
}

impl BlockSummer<'_> {
    /// Returns a complete block; `kept` holds blocks from several windows.
    pub(crate) fn whole<'a>(
        &self,
        start: usize,
        rows: Rows<'a>,
        kept: &'a mut PartialBlock,
    ) -> Result<Option<Rows<'a>>, OutOfMemory> {
        let (size, first) = (self.kernel.size(), start / BLOCK * BLOCK);
        let (items, whole) = (rows.expected.len() / size, BLOCK.min(self.total - first));
        if items == whole {
            return Ok(Some(rows));
        }
        let mut blocks = locked(&self.partial.0);
        let block = blocks.entry(first).or_default();
        let at = (start - first) * size;
        for (side, bytes) in [(&mut block.expected, rows.expected), (&mut block.actual, rows.actual)] {
            if side.is_empty() {
                *side = memory::zeros(whole * size)?;
            }
            side[at..at + bytes.len()].copy_from_slice(bytes);
        }
        block.items += items;
        if block.items < whole {
            return Ok(None);
        }
        *kept = blocks.remove(&first).unwrap_or_default();
        Ok(Some(Rows { expected: &kept.expected, actual: &kept.actual }.joined()))
    }
}

/// Metrics over all pairs of finite items; `None` if undefined.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Metrics {
    /// The mean of `|actual - expected|`.
    pub mean_abs: Option<f64>,
    /// The root of the mean of `(actual - expected)^2`.
    pub rmse: Option<f64>,
    /// The cosine of the angle between the flattened tensors: 1 if both are zero, 0 if one is.
    pub cosine: Option<f64>,
    /// The signal-to-noise ratio in dB, `10 log10(sum expected^2 / sum (actual - expected)^2)`.
    pub snr_db: Option<f64>,
    /// The peak signal-to-noise ratio in dB, `20 log10((max expected - min expected) / rmse)`.
    pub psnr_db: Option<f64>,
    /// The correlation coefficient; `None` if a side is constant.
    pub pearson: Option<f64>,
}

impl Metrics {
    pub(crate) fn all(&self) -> [(&'static str, Option<f64>); 6] {
        [
            ("mean_abs", self.mean_abs),
            ("rmse", self.rmse),
            ("cosine", self.cosine),
            ("snr_db", self.snr_db),
            ("psnr_db", self.psnr_db),
            ("pearson", self.pearson),
        ]
    }

    /// Metrics of equal tensors. `sums` may cover only the first items.
    pub(crate) fn for_equal_items(class: ItemClass, sums: &MetricSums) -> Self {
        if !sums.any_finite && sums.count == 0 {
            return Self::default();
        }
        let (real, number) = (class.is_real(), class != ItemClass::Date);
        Self {
            mean_abs: Some(0.0),
            rmse: Some(0.0),
            cosine: number.then_some(1.0),
            snr_db: number.then_some(f64::INFINITY),
            psnr_db: real.then_some(f64::INFINITY),
            pearson: (real && sums.vary()).then_some(1.0),
        }
    }

    /// An undefined metric fails every limit.
    pub(crate) fn failures(&self, limits: &MetricLimits) -> Vec<Failure> {
        let rows = [
            ("cosine", self.cosine, "min_cosine", limits.min_cosine),
            ("snr_db", self.snr_db, "min_snr", limits.min_snr),
            ("psnr_db", self.psnr_db, "min_psnr", limits.min_psnr),
            ("rmse", self.rmse, "max_rmse", limits.max_rmse),
            ("mean_abs", self.mean_abs, "max_mean_abs", limits.max_mean_abs),
        ];
        let failure = |(metric, value, limit, bound): (_, Option<f64>, &'static str, Option<f64>)| {
            let bound = bound?;
            let is_least = limit.starts_with("min");
            let holds = value.is_some_and(|value| if is_least { value >= bound } else { value <= bound });
            (!holds).then_some(Failure { metric, value, limit, bound })
        };
        rows.into_iter().filter_map(failure).collect()
    }

    /// Subtracts exactly, before any rounding, so that cancellation costs no digits.
    pub(crate) fn from_sums(class: ItemClass, sums: &MetricSums) -> Self {
        if sums.count == 0 {
            return Self::default();
        }
        let count = Scaled::from(sums.count as f64);
        let (squared, is_exact) = (sums.errors.squares.scaled(), sums.errors.squares.is_zero());
        let rmse = if is_exact { Scaled::from(0.0) } else { squared.over(count).sqrt() };
        // The ratio is infinite without an error, and minus infinity without a signal.
        let decibels = |has_signal: bool, ratio: &dyn Fn() -> f64| match (is_exact, has_signal) {
            (true, _) => f64::INFINITY,
            (false, true) => ratio(),
            (false, false) => f64::NEG_INFINITY,
        };
        let signal = &sums.sides[0].squares;
        let snr = || decibels(!signal.is_zero(), &|| 10.0 * signal.scaled().over(squared).log10());
        let psnr = || {
            let range = range(sums.ends[0]);
            decibels(!range.is_zero(), &|| 20.0 * range.scaled().over(rmse).log10())
        };
        let (real, number) = (class.is_real(), class != ItemClass::Date);
        Self {
            mean_abs: Some(sums.errors.sum.scaled().over(count).value()),
            rmse: Some(rmse.value()),
            cosine: number.then(|| cosine(sums, is_exact)),
            snr_db: number.then(snr),
            psnr_db: real.then(psnr),
            pearson: if real { pearson(sums, is_exact) } else { None },
        }
    }
}

fn range(ends: Option<Ends>) -> Exact {
    let mut range = Exact::default();
    if let Some(Ends { low, high }) = ends {
        let low = Binary::from(low);
        range.add(high);
        range.add(Binary { negative: !low.negative, ..low });
    }
    range
}

fn cosine(sums: &MetricSums, is_exact: bool) -> f64 {
    let squares = sums.sides.each_ref().map(|side| &side.squares);
    match squares.map(Exact::is_zero) {
        [true, true] => 1.0,
        [true, false] | [false, true] => 0.0,
        [false, false] if is_exact => 1.0,
        [false, false] => {
            let [expected, actual] = squares.map(Exact::scaled);
            sums.products.scaled().over(expected.times(actual).sqrt()).value().clamp(-1.0, 1.0)
        }
    }
}

fn pearson(sums: &MetricSums, is_exact: bool) -> Option<f64> {
    // The range is exact; a rounded variance would not show that all items are equal.
    if sums.ends.iter().any(|ends| ends.is_none_or(|ends| ends.low == ends.high)) {
        return None;
    }
    if is_exact {
        return Some(1.0);
    }
    let [expected, actual] = &sums.sides;
    let both = spread(sums.count, &sums.products, &expected.sum, &actual.sum);
    let [e, a] = [expected, actual].map(|side| spread(sums.count, &side.squares, &side.sum, &side.sum));
    Some(both.over(e.times(a).sqrt()).value().clamp(-1.0, 1.0))
}
