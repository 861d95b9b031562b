//! The options of a comparison.

use crate::operators::fill::Limits;
use crate::report::bare;
use crate::report::json::float;
use tensorop_kernels::error::{Error, ErrorKind};

/// When elements pass, and which of those that fail are listed. The default has no tolerance and lists the first five.
///
/// ```
/// use tensorop_files::diff::Options;
///
/// let options = Options::default().with_rtol(1e-5).with_worst(3);
/// assert_eq!((options.rtol, options.worst, options.shown), (Some(1e-5), Some(3), 5));
/// ```
#[non_exhaustive]
#[derive(Clone, Debug, PartialEq)]
pub struct Options {
    /// The absolute tolerance: an element passes if `|actual - expected| <= atol + rtol * |expected|`. Defaults to 0
    /// with `rtol`.
    pub atol: Option<f64>,
    /// The relative tolerance. Defaults to 0 with `atol`.
    pub rtol: Option<f64>,
    /// The tolerance in steps between neighbouring values.
    pub ulp: Option<u64>,
    /// The number of first mismatches in C order to list.
    pub shown: usize,
    /// The number of largest mismatches to list instead; NaN and infinity come first.
    pub worst: Option<usize>,
    /// How many elements may fail; `None` for none.
    pub allowed: Option<Allowed>,
    /// Limits on metrics. They replace the test of elements unless a tolerance or `allowed` is set, but non-finite
    /// elements must be the same.
    pub limits: MetricLimits,
    /// Whether NaNs with different bits differ. NaNs of two dtypes always have different bits.
    pub nan_differs: bool,
    /// Whether to compare two dtypes by value: numbers exactly, or as complex128 if one is complex; strings as text;
    /// dates in the longest unit that divides both units.
    pub ignore_dtype: bool,
    /// Whether differing metadata count.
    pub metadata: bool,
    /// For each expected axis the actual axis, negative numbers from the last. An empty list reverses the axes, as in
    /// [`transpose`](tensorop_kernels::transpose()).
    pub axes: Option<Vec<i64>>,
}

impl Default for Options {
    fn default() -> Self {
        Self {
            atol: None,
            rtol: None,
            ulp: None,
            shown: 5,
            worst: None,
            allowed: None,
            limits: MetricLimits::default(),
            nan_differs: false,
            ignore_dtype: false,
            metadata: false,
            axes: None,
        }
    }
}

impl Options {
    pub(super) fn tolerances(&self) -> impl Iterator<Item = (&'static str, String)> {
        let number = |value: f64| bare(&float(value)).to_owned();
        let [atol, rtol] = [self.atol, self.rtol].map(|value| value.map(number));
        let ulp = self.ulp.map(|steps| steps.to_string());
        [("atol", atol), ("rtol", rtol), ("ulp", ulp)].into_iter().filter_map(|(name, value)| Some((name, value?)))
    }

    /// Without a tolerance or `allowed`, metric limits alone decide.
    pub(super) fn asks_items(&self) -> bool {
        !self.limits.any() || self.tolerances().next().is_some() || self.allowed.is_some()
    }

    pub(super) fn allows(&self, mismatches: usize, items: usize) -> bool {
        self.allowed.map_or(mismatches == 0, |allowed| allowed.accepts(mismatches, items))
    }
}

macro_rules! setters {
    ($type:ty { $($(#[$doc:meta])+ $name:ident: $field:ident = $value:expr, $given:ty;)+ }) => {
        impl $type {$(
            $(#[$doc])+
            #[must_use]
            pub fn $name(self, $field: $given) -> Self {
                Self { $field: $value, ..self }
            }
        )+}
    };
}

setters! { Options {
    /// Sets the absolute tolerance.
    with_atol: atol = Some(atol), f64;
    /// Sets the relative tolerance.
    with_rtol: rtol = Some(rtol), f64;
    /// Sets the tolerance in steps between neighbouring values.
    with_ulp: ulp = Some(ulp), u64;
    /// Sets the number of first mismatches to list.
    with_shown: shown = shown, usize;
    /// Sets the number of largest mismatches to list instead.
    with_worst: worst = Some(worst), usize;
    /// Sets how many elements may fail.
    with_allowed: allowed = Some(allowed), Allowed;
    /// Sets limits on metrics.
    with_limits: limits = limits, MetricLimits;
    /// Sets whether NaNs with different bits differ.
    with_nan_differs: nan_differs = nan_differs, bool;
    /// Sets whether to compare two dtypes by value.
    with_ignore_dtype: ignore_dtype = ignore_dtype, bool;
    /// Sets whether differing metadata count.
    with_metadata: metadata = metadata, bool;
    /// Sets the order of the actual axes.
    with_axes: axes = Some(axes), Vec<i64>;
} }

setters! { MetricLimits {
    /// Sets the smallest cosine.
    with_min_cosine: min_cosine = Some(min_cosine), f64;
    /// Sets the smallest SNR, in dB.
    with_min_snr: min_snr = Some(min_snr), f64;
    /// Sets the smallest peak SNR, in dB.
    with_min_psnr: min_psnr = Some(min_psnr), f64;
    /// Sets the largest RMSE.
    with_max_rmse: max_rmse = Some(max_rmse), f64;
    /// Sets the largest mean error.
    with_max_mean_abs: max_mean_abs = Some(max_mean_abs), f64;
} }

/// The resources and optional results of a comparison.
#[doc(hidden)]
#[derive(Clone, Copy, Debug, Default)]
pub struct Effort {
    pub limits: Limits,
    /// Whether to find error quantiles.
    pub quantiles: bool,
    /// Whether to compare the metadata of the files.
    pub of_files: bool,
    /// Whether to search agreeing axes of permuted shapes.
    pub permutations: bool,
}

/// Limits on metrics.
#[non_exhaustive]
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct MetricLimits {
    /// The smallest `cosine`.
    pub min_cosine: Option<f64>,
    /// The smallest `snr_db`.
    pub min_snr: Option<f64>,
    /// The smallest `psnr_db`.
    pub min_psnr: Option<f64>,
    /// The largest `rmse`.
    pub max_rmse: Option<f64>,
    /// The largest `mean_abs`.
    pub max_mean_abs: Option<f64>,
}

/// A metric that exceeds its limit.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Failure {
    /// The field of [`Metrics`](super::Metrics).
    pub metric: &'static str,
    /// The value; `None` if undefined.
    pub value: Option<f64>,
    /// The field of [`MetricLimits`].
    pub limit: &'static str,
    /// The value of the limit.
    pub bound: f64,
}

impl MetricLimits {
    /// Whether a limit is set.
    pub fn any(&self) -> bool {
        *self != Self::default()
    }
}

/// How many items of a tensor may fail.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Allowed {
    /// A number of items.
    Items(usize),
    /// A percentage of the items, `digits * 10^-places`.
    Percent {
        /// The number without its decimal point, at most 100 * 10^`places`.
        digits: u64,
        /// The number of decimal places, at most [`PLACES`](Self::PLACES).
        places: u32,
    },
}

impl Allowed {
    /// The largest number of decimal places.
    pub const PLACES: u32 = 16;

    /// Whether `mismatches` of `items` items may fail: `100 * mismatches <= P * items`, exactly.
    pub fn accepts(self, mismatches: usize, items: usize) -> bool {
        match self {
            Self::Items(most) => mismatches <= most,
            Self::Percent { digits, places } => {
                let hundred = 100 * 10_u128.pow(places.min(Self::PLACES));
                mismatches as u128 * hundred <= u128::from(digits) * items as u128
            }
        }
    }
}

/// Writes the notation that `FromStr` parses.
impl std::fmt::Display for Allowed {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match *self {
            Self::Items(most) => write!(f, "{most}"),
            Self::Percent { digits, places: 0 } => write!(f, "{digits}%"),
            Self::Percent { digits, places } => {
                let (one, places) = (10_u64.pow(places.min(Self::PLACES)), places as usize);
                write!(f, "{}.{:0places$}%", digits / one, digits % one)
            }
        }
    }
}

/// Parses `N` or `P%`.
impl std::str::FromStr for Allowed {
    type Err = Error;

    fn from_str(text: &str) -> Result<Self, Error> {
        let refuse = |message: &str| Error::from_kind(ErrorKind::Argument, message);
        let expected = || refuse("expected a whole number of items, or a share of them such as 0.1%");
        let is_number = |text: &str| !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit());
        let Some(percent) = text.strip_suffix('%') else {
            let items = if is_number(text) { text.parse().ok() } else { None };
            return items.map(Self::Items).ok_or_else(expected);
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
            return Err(refuse(&format!("at most {} digits after the point", Self::PLACES)));
        }
        let digits = format!("{}{fraction}", whole.trim_start_matches('0'));
        let digits = if digits.is_empty() { Some(0) } else { digits.parse::<u64>().ok() };
        let places = places as u32;
        match digits.filter(|digits| *digits <= 100 * 10_u64.pow(places)) {
            Some(digits) => Ok(Self::Percent { digits, places }),
            None => Err(refuse("expected no more than 100%")),
        }
    }
}
