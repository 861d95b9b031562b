//! What is said of two tensors as a whole: how far apart they are on the average, and in which sense they are alike.

use super::item::{ComparedItem, ItemClass};
use super::sums::Sums;
use crate::item::exact::{Exact, Scaled};

/// Metrics over all items that are finite on both sides; `None` where one is undefined.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Metrics {
    /// The mean of `|actual - expected|`.
    pub mean_abs: Option<f64>,
    /// The root of the mean of `(actual - expected)^2`.
    pub rmse: Option<f64>,
    /// The cosine of the angle between the flattened tensors: 1 if both are zero, 0 if one is.
    pub cosine: Option<f64>,
    /// The signal to noise ratio in decibels, `10 log10(sum expected^2 / sum (actual - expected)^2)`; infinite without error.
    pub snr_db: Option<f64>,
    /// The peak signal to noise ratio in decibels, `20 log10((max expected - min expected) / rmse)`; infinite without error.
    pub psnr_db: Option<f64>,
    /// The correlation coefficient; `None` where either side is one value.
    pub pearson: Option<f64>,
}

impl Metrics {
    /// Their names, which JSON says, in order.
    pub(super) fn all(&self) -> [(&'static str, Option<f64>); 6] {
        [
            ("mean_abs", self.mean_abs),
            ("rmse", self.rmse),
            ("cosine", self.cosine),
            ("snr_db", self.snr_db),
            ("psnr_db", self.psnr_db),
            ("pearson", self.pearson),
        ]
    }

    /// Of tensors whose items are the same: whether any is finite, and two of those are not the same number.
    pub(super) fn of_equal<T: ComparedItem>(any: bool, varies: bool) -> Self {
        if !any {
            return Self::default();
        }
        let (real, number) = (is_real::<T>(), T::CLASS != ItemClass::Date);
        Self {
            mean_abs: Some(0.0),
            rmse: Some(0.0),
            cosine: number.then_some(1.0),
            snr_db: number.then_some(f64::INFINITY),
            psnr_db: real.then_some(f64::INFINITY),
            pearson: (real && varies).then_some(1.0),
        }
    }

    /// Of the sums of all items. All that could cancel is subtracted before anything is rounded.
    pub(super) fn of_sums<T: ComparedItem>(sums: &Sums<T>) -> Self {
        if sums.count == 0 {
            return Self::default();
        }
        let unit = i64::from(T::UNIT);
        let count = Scaled::from(sums.count as f64);
        let (squared, exact) = (sums.squared_errors.scaled().shifted(-2 * unit), sums.squared_errors.is_zero());
        let mean_square = squared.over(count);
        let rmse = if exact { Scaled::from(0.0) } else { mean_square.sqrt() };
        let signal = sums.expected_squares.scaled().shifted(-2 * unit);
        let decibels = |signal: Option<f64>| match (exact, signal) {
            (true, _) => f64::INFINITY,
            (false, Some(decibels)) => decibels,
            (false, None) => f64::NEG_INFINITY,
        };
        let snr = || decibels((!sums.expected_squares.is_zero()).then(|| 10.0 * signal.over(squared).log10()));
        let psnr = || {
            let range = range(sums.ends[0]);
            decibels((!range.is_zero()).then(|| 20.0 * range.scaled().shifted(-unit).over(rmse).log10()))
        };
        let (real, number) = (is_real::<T>(), T::CLASS != ItemClass::Date);
        Self {
            mean_abs: Some(sums.errors.scaled().shifted(-unit).over(count).value()),
            rmse: Some(rmse.value()),
            cosine: number.then(|| cosine(sums, exact)),
            snr_db: number.then(snr),
            psnr_db: real.then(psnr),
            pearson: if real { pearson(sums, exact) } else { None },
        }
    }
}

/// Whether items are real numbers, of which there is a range and a correlation.
fn is_real<T: ComparedItem>() -> bool {
    match T::CLASS {
        ItemClass::Integer | ItemClass::Float => true,
        ItemClass::Complex | ItemClass::Date => false,
    }
}

/// The difference of the ends, in 2^-[`ComparedItem::UNIT`].
fn range<T: ComparedItem>(ends: Option<(T, T)>) -> Exact {
    let mut range = Exact::default();
    for (item, minus) in ends.into_iter().flat_map(|(low, high)| [(low, true), (high, false)]) {
        let (negative, size, power) = item.exact();
        // the unit is below the last bit of any item
        let shift = usize::try_from(power + T::UNIT).unwrap_or(0);
        range.add(negative != minus, size.into(), shift);
    }
    range
}

fn cosine<T>(sums: &Sums<T>, exact: bool) -> f64 {
    let zeros = [&sums.expected_squares, &sums.actual_squares].map(Exact::is_zero);
    match zeros {
        [true, true] => 1.0,
        [true, false] | [false, true] => 0.0,
        [false, false] if exact => 1.0,
        [false, false] => {
            let sizes = sums.expected_squares.scaled().times(sums.actual_squares.scaled()).sqrt();
            sums.products.scaled().over(sizes).value().clamp(-1.0, 1.0)
        }
    }
}

fn pearson<T: ComparedItem>(sums: &Sums<T>, exact: bool) -> Option<f64> {
    // exactly one value, which a variance that was rounded could not tell
    if sums.ends.iter().any(|ends| ends.is_none_or(|(low, high)| !low.below(high))) {
        return None;
    }
    if exact {
        return Some(1.0);
    }
    let mut count = Exact::default();
    count.add(false, sums.count.into(), 0);
    // count * sum of x y - sum of x * sum of y
    let spread = |products: &Exact, one: &Exact, other: &Exact| {
        let mut spread = products.times(&count);
        spread.subtract(one.times(other));
        spread.scaled()
    };
    let both = spread(&sums.products, &sums.expected, &sums.actual);
    let expected = spread(&sums.expected_squares, &sums.expected, &sums.expected);
    let actual = spread(&sums.actual_squares, &sums.actual, &sums.actual);
    Some(both.over(expected.times(actual).sqrt()).value().clamp(-1.0, 1.0))
}

/// What metrics must be for a tensor to pass.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct MetricLimits {
    /// The least `cosine`.
    pub min_cosine: Option<f64>,
    /// The least `snr_db`.
    pub min_snr: Option<f64>,
    /// The least `psnr_db`.
    pub min_psnr: Option<f64>,
    /// The largest `rmse`.
    pub max_rmse: Option<f64>,
    /// The largest `mean_abs`.
    pub max_mean_abs: Option<f64>,
}

/// A limit that does not hold.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Failure {
    /// The field of [`Metrics`].
    pub metric: &'static str,
    /// What it is.
    pub value: Option<f64>,
    /// The field of [`MetricLimits`].
    pub limit: &'static str,
    /// What that is.
    pub bound: f64,
}

impl MetricLimits {
    /// Whether there is any.
    pub fn any(&self) -> bool {
        *self != Self::default()
    }

    /// Those that do not hold. A metric that is undefined is within no limit.
    pub(super) fn failures(&self, metrics: &Metrics) -> Vec<Failure> {
        let least = [
            ("cosine", metrics.cosine, "min_cosine", self.min_cosine),
            ("snr_db", metrics.snr_db, "min_snr", self.min_snr),
            ("psnr_db", metrics.psnr_db, "min_psnr", self.min_psnr),
        ];
        let most = [
            ("rmse", metrics.rmse, "max_rmse", self.max_rmse),
            ("mean_abs", metrics.mean_abs, "max_mean_abs", self.max_mean_abs),
        ];
        let all = least.into_iter().map(|row| (row, false)).chain(most.into_iter().map(|row| (row, true)));
        let failure = |((metric, value, limit, bound), is_most): ((_, Option<f64>, _, Option<f64>), bool)| {
            let bound = bound?;
            let holds = value.is_some_and(|value| if is_most { value <= bound } else { value >= bound });
            (!holds).then_some(Failure { metric, value, limit, bound })
        };
        all.filter_map(failure).collect()
    }
}

/// How many items of a tensor may fail.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Allowed {
    /// So many.
    Items(usize),
    /// A share of them in per cent, as it is written: `digits * 10^-places`.
    Percent {
        /// The number without its point: no more than 100 * 10^`places`.
        digits: u64,
        /// How many of its digits stand behind the point, at most [`PLACES`](Self::PLACES).
        places: u32,
    },
}

impl Allowed {
    /// The most digits behind the point of a share.
    pub const PLACES: u32 = 16;

    /// Whether so many of so many items may fail: `100 * mismatches <= P * items`, exactly.
    pub fn accepts(self, mismatches: usize, items: usize) -> bool {
        match self {
            Self::Items(most) => mismatches <= most,
            Self::Percent { digits, places } => {
                let hundred = 100 * 10_u128.pow(places.min(Self::PLACES));
                // at most 60 and 64 bits on either side
                mismatches as u128 * hundred <= u128::from(digits) * items as u128
            }
        }
    }
}

/// Reads `N` or `P%`.
impl std::str::FromStr for Allowed {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let expected = || "expected a whole number of items, or a share of them such as 0.1%".to_owned();
        let is_number = |text: &str| !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit());
        let Some(percent) = text.strip_suffix('%') else {
            return Some(text)
                .filter(|text| is_number(text))
                .and_then(|text| text.parse().ok())
                .map(Self::Items)
                .ok_or_else(expected);
        };
        let percent = percent.trim_end();
        let (whole, fraction) = percent.split_once('.').unwrap_or((percent, ""));
        let digits = format!("{whole}{fraction}");
        if !is_number(&digits) {
            return Err(expected());
        }
        let fraction = fraction.trim_end_matches('0');
        let places = fraction.len();
        if places > Self::PLACES as usize {
            return Err(format!("at most {} digits behind the point", Self::PLACES));
        }
        let digits = format!("{}{fraction}", whole.trim_start_matches('0'));
        let digits = if digits.is_empty() { Some(0) } else { digits.parse::<u64>().ok() };
        let places = places as u32;
        match digits.filter(|digits| *digits <= 100 * 10_u64.pow(places)) {
            Some(digits) => Ok(Self::Percent { digits, places }),
            None => Err("expected no more than 100%".to_owned()),
        }
    }
}
