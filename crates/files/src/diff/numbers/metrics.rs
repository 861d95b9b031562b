//! Metrics of two tensors as a whole.

use super::item::{Ends, ItemClass};
use super::sums::MetricSums;
use crate::diff::options::{Failure, MetricLimits};
use tensorop_kernels::item::exact::{Binary, Exact, Scaled, spread};

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
