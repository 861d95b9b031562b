//! What passes a comparison, what it lists, and what it may use.

use crate::error::{Error, ErrorKind};
use crate::ops::fill::Limits;
use crate::report::bare;
use crate::report::json::float;

/// When elements pass, and which of those that fail are listed. The default has no tolerance and lists the first five.
///
/// ```
/// use tensorop::diff::Options;
///
/// let options = Options::default().with_rtol(1e-5).with_worst(3);
/// assert_eq!((options.rtol, options.worst, options.shown), (Some(1e-5), Some(3), 5));
/// ```
#[non_exhaustive]
#[derive(Clone, Debug, PartialEq)]
pub struct Options {
    /// The absolute tolerance: an element passes if `|actual - expected| <= atol + rtol * |expected|`. It is 0 if only
    /// `rtol` is given.
    pub atol: Option<f64>,
    /// The relative tolerance. It is 0 if only `atol` is given.
    pub rtol: Option<f64>,
    /// An element passes if at most this many steps, from value to neighbouring value, are between its two values.
    pub ulp: Option<u64>,
    /// How many of the first mismatches in C order are listed.
    pub shown: usize,
    /// How many of the mismatches with the largest errors are listed instead, those of NaN and infinity before all others.
    pub worst: Option<usize>,
    /// How many elements may fail; `None` if none may.
    pub allowed: Option<Allowed>,
    /// Limits on metrics. If there is any, elements need to pass only if a tolerance or `allowed` is given, too; but an
    /// element that is not finite on either side must be the same on both.
    pub limits: MetricLimits,
    /// Whether two NaN with different bits differ. NaN of two dtypes always have different bits.
    pub nan_differs: bool,
    /// Whether tensors of two dtypes are compared by their values: integers and floats of any width exactly; as
    /// complex128 if either is complex; strings as text; dates and their differences as times, in the longest unit that
    /// divides both units.
    pub ignore_dtype: bool,
    /// Whether metadata that differ are a difference.
    pub metadata: bool,
    /// The order in which the axes of the actual tensor are compared: axis `n` of the expected one is compared with axis
    /// `axes[n]`, counted from the last one if it is negative. An empty list reverses the axes, as in
    /// [`transpose`](crate::transpose()).
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
    /// Returns the tolerances that are given: their fields, and their values as users type them.
    pub(super) fn tolerances(&self) -> impl Iterator<Item = (&'static str, String)> {
        let number = |value: f64| bare(&float(value)).to_owned();
        let [atol, rtol] = [self.atol, self.rtol].map(|value| value.map(number));
        let ulp = self.ulp.map(|steps| steps.to_string());
        [("atol", atol), ("rtol", rtol), ("ulp", ulp)].into_iter().filter_map(|(name, value)| Some((name, value?)))
    }

    /// Returns whether all items must pass, except those allowed to fail.
    pub(super) fn asks_items(&self) -> bool {
        !self.limits.any() || self.tolerances().next().is_some() || self.allowed.is_some()
    }

    /// Returns whether `mismatches` of `items` items may fail.
    pub(super) fn allows(&self, mismatches: usize, items: usize) -> bool {
        self.allowed.map_or(mismatches == 0, |allowed| allowed.accepts(mismatches, items))
    }
}

/// Gives a type of options a method for each row, which returns the options with one of them set.
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
    /// Sets the tolerance in steps from value to neighbouring value.
    with_ulp: ulp = Some(ulp), u64;
    /// Sets how many of the first mismatches are listed.
    with_shown: shown = shown, usize;
    /// Sets how many of the largest mismatches are listed instead of the first.
    with_worst: worst = Some(worst), usize;
    /// Sets how many elements may fail.
    with_allowed: allowed = Some(allowed), Allowed;
    /// Sets limits on metrics.
    with_limits: limits = limits, MetricLimits;
    /// Sets whether two NaN with different bits differ.
    with_nan_differs: nan_differs = nan_differs, bool;
    /// Sets whether tensors of two dtypes are compared by their values.
    with_ignore_dtype: ignore_dtype = ignore_dtype, bool;
    /// Sets whether metadata that differ are a difference.
    with_metadata: metadata = metadata, bool;
    /// Sets the order in which the axes of the actual tensor are compared.
    with_axes: axes = Some(axes), Vec<i64>;
} }

setters! { MetricLimits {
    /// Sets the least cosine.
    with_min_cosine: min_cosine = Some(min_cosine), f64;
    /// Sets the least signal to noise ratio, in decibels.
    with_min_snr: min_snr = Some(min_snr), f64;
    /// Sets the least peak signal to noise ratio, in decibels.
    with_min_psnr: min_psnr = Some(min_psnr), f64;
    /// Sets the largest root of the mean squared error.
    with_max_rmse: max_rmse = Some(max_rmse), f64;
    /// Sets the largest mean error.
    with_max_mean_abs: max_mean_abs = Some(max_mean_abs), f64;
} }

/// What a comparison of sources may use, and what it finds out. Comparisons of tensors in memory find out everything.
#[doc(hidden)]
#[derive(Clone, Copy, Debug, Default)]
pub struct Effort {
    /// The memory and the threads that the comparison may use.
    pub limits: Limits,
    /// Whether to find the quantiles of errors, for which tensors may be read again.
    pub quantiles: bool,
    /// Whether the metadata of the files of both tensors belong to them, as where there is only one pair.
    pub of_files: bool,
    /// Whether to find the axes under which tensors agree whose shapes are permutations of one another, for which both are
    /// read.
    pub permutations: bool,
}

/// Limits on metrics within which a tensor passes.
#[non_exhaustive]
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

/// A metric outside its limit.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Failure {
    /// The field of [`Metrics`](super::Metrics).
    pub metric: &'static str,
    /// The metric's value.
    pub value: Option<f64>,
    /// The field of [`MetricLimits`].
    pub limit: &'static str,
    /// The value of the limit.
    pub bound: f64,
}

impl MetricLimits {
    /// Returns whether there is any limit.
    pub fn any(&self) -> bool {
        *self != Self::default()
    }
}

/// How many items of a tensor may fail.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Allowed {
    /// A number of items.
    Items(usize),
    /// A share of the items in per cent, `digits * 10^-places`.
    Percent {
        /// The number without its point: no more than 100 * 10^`places`.
        digits: u64,
        /// How many of the digits stand behind the point, at most [`PLACES`](Self::PLACES).
        places: u32,
    },
}

impl Allowed {
    /// The most digits behind the point of a share.
    pub const PLACES: u32 = 16;

    /// Returns whether `mismatches` of `items` items may fail: `100 * mismatches <= P * items`, exactly.
    pub fn accepts(self, mismatches: usize, items: usize) -> bool {
        match self {
            Self::Items(most) => mismatches <= most,
            Self::Percent { digits, places } => {
                let hundred = 100 * 10_u128.pow(places.min(Self::PLACES));
                // factors of at most 64 and 60 bits on either side
                mismatches as u128 * hundred <= u128::from(digits) * items as u128
            }
        }
    }
}

/// Writes what is read again.
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

/// Reads `N` or `P%`.
impl std::str::FromStr for Allowed {
    type Err = Error;

    /// # Errors
    /// The text is neither; a share above 100 %, or one with more than 16 decimal places.
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
            return Err(refuse(&format!("at most {} digits behind the point", Self::PLACES)));
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
