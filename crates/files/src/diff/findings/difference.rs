//! The result of a comparison, and the verdict on a tensor of several.

use std::fmt;
use std::io::{self, Write};

use super::metadata::DifferingNames;
use super::places::AxisPlaces;
use crate::diff::numbers::distance::Number;
use crate::diff::numbers::sums::Metrics;
use crate::diff::options::{Failure, Options};
use crate::report::{Colour, Style, printable};
use tensorop_kernels::item::dtype::DType;

/// Why two tensors do not pass.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Reason {
    /// The dtypes differ or are not comparable.
    Dtype,
    /// The shapes differ.
    Shape,
    /// Elements fail, or metrics exceed their limits.
    Values,
    /// Only metadata differ, and [`Options::metadata`](crate::diff::Options::metadata) is set.
    Metadata,
}

impl Reason {
    /// The name in JSON.
    pub fn name(self) -> &'static str {
        match self {
            Reason::Dtype => "dtype",
            Reason::Shape => "shape",
            Reason::Values => "values",
            Reason::Metadata => "metadata",
        }
    }
}

/// The dtype and shape of a tensor.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Outline {
    /// The [name](tensorop_kernels::DType::name) of the little-endian dtype.
    pub dtype: String,
    /// The dims.
    pub shape: Vec<usize>,
}

impl Outline {
    /// Returns the outline of a tensor.
    #[doc(hidden)]
    pub fn new(dtype: &DType, shape: &[usize]) -> Self {
        Self { dtype: dtype.native().name(), shape: shape.to_vec() }
    }
}

/// The largest error and its first index in C order.
#[derive(Clone, Debug, PartialEq)]
pub struct Extreme<V> {
    /// The error.
    pub value: V,
    /// The index, one number per axis.
    pub index: Vec<usize>,
}

/// An element that fails.
#[derive(Clone, Debug, PartialEq)]
pub struct Mismatch {
    /// The index, one number per axis.
    pub index: Vec<usize>,
    /// The flat index in C order.
    pub flat: usize,
    /// The expected item as JSON, or a hexadecimal string of bytes JSON cannot express.
    pub expected: String,
    /// The actual item, in the same notation.
    pub actual: String,
    /// The absolute error; `None` if an item is not a finite number.
    pub abs: Option<Number>,
    /// The absolute error divided by the expected magnitude; `None` also if that is zero.
    pub rel: Option<f64>,
    /// The distance in steps between neighbouring values; `None` also for two dtypes.
    pub ulp: Option<u64>,
}

/// The result of [`compare`](crate::diff::compare). `Display` writes [the report](Difference::write_report) without colours.
/// If dtypes or shapes differ, results on items are `None` or empty.
#[derive(Clone, Debug, PartialEq)]
pub struct Difference {
    pub(crate) reason: Option<Reason>,
    pub(crate) expected: Outline,
    pub(crate) actual: Outline,
    pub(crate) items: usize,
    pub(crate) options: Options,
    pub(crate) beside: DifferingNames,
    pub(crate) found: Option<Findings>,
    pub(crate) agreeing_axes: Option<Vec<usize>>,
}

#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Findings {
    pub differing: usize,
    pub mismatches: usize,
    pub nonfinite_mismatches: Option<usize>,
    pub first_nonfinite: Option<Vec<usize>>,
    pub max_abs: Option<Extreme<Number>>,
    pub max_rel: Option<Extreme<f64>>,
    pub max_ulp: Option<Extreme<u64>>,
    pub min_atol: Option<f64>,
    pub min_rtol: Option<f64>,
    pub min_ulp: Option<u64>,
    pub listed: Vec<Mismatch>,
    pub metrics: Metrics,
    pub quantiles: Option<[Option<Number>; 4]>,
    pub axes: Vec<AxisPlaces>,
    pub failures: Vec<Failure>,
    pub integers: bool,
    pub has_non_finite_mismatch: bool,
    pub limits_not_applicable: bool,
}

impl Difference {
    /// Whether the tensors pass.
    pub fn equal(&self) -> bool {
        self.reason.is_none()
    }

    /// Why the tensors differ; `None` if they pass.
    pub fn reason(&self) -> Option<Reason> {
        self.reason
    }

    /// The dtype and shape of the expected tensor.
    pub fn expected(&self) -> &Outline {
        &self.expected
    }

    /// The dtype and shape of the actual tensor.
    pub fn actual(&self) -> &Outline {
        &self.actual
    }

    /// The number of elements of the expected tensor.
    pub fn items(&self) -> usize {
        self.items
    }

    /// The sorted names of differing Zarr attributes, `fill_value` and `dimension_names`, which count only with
    /// [`Options::metadata`](crate::diff::Options::metadata).
    pub fn metadata(&self) -> &[String] {
        &self.beside.metadata
    }

    /// The sorted names of differing content other than tensors, for example JSON in a `.npz`. It counts like metadata.
    pub fn content(&self) -> &[String] {
        &self.beside.content
    }

    /// The [axes](crate::diff::Options::axes) under which tensors of different shapes pass. Searched for up to 6 axes and 1
    /// GiB.
    pub fn agreeing_axes(&self) -> Option<&[usize]> {
        self.agreeing_axes.as_deref()
    }

    /// The first [`Options::shown`](crate::diff::Options::shown) mismatches in C order.
    pub fn first(&self) -> &[Mismatch] {
        if self.options.worst.is_some() { &[] } else { self.listed() }
    }

    /// The [`Options::worst`](crate::diff::Options::worst) mismatches with the largest errors.
    pub fn worst(&self) -> &[Mismatch] {
        if self.options.worst.is_some() { self.listed() } else { &[] }
    }

    pub(crate) fn listed(&self) -> &[Mismatch] {
        self.found.as_ref().map_or(&[], |found| &found.listed)
    }

    /// Where mismatches are on each axis longer than 1.
    pub fn axes(&self) -> &[AxisPlaces] {
        self.found.as_ref().map_or(&[], |found| &found.axes)
    }

    /// The metrics that exceed their limits.
    pub fn failures(&self) -> &[Failure] {
        self.found.as_ref().map_or(&[], |found| &found.failures)
    }
}

macro_rules! findings {
    ($($(#[$doc:meta])+ $name:ident($found:ident) -> $type:ty = $value:expr;)+) => {
        impl Difference {$(
            $(#[$doc])+
            pub fn $name(&self) -> Option<$type> {
                let $found = self.found.as_ref()?;
                $value
            }
        )+}
    };
}

findings! {
    /// The number of elements that differ in bits and are not NaN on both sides.
    differing(found) -> usize = Some(found.differing);
    /// The number of elements that fail.
    mismatches(found) -> usize = Some(found.mismatches);
    /// The number of mismatches with NaN, NaT or infinity; `None` if the elements are not numbers.
    nonfinite_mismatches(found) -> usize = found.nonfinite_mismatches;
    /// The first non-finite mismatch in C order.
    first_nonfinite(found) -> &[usize] = found.first_nonfinite.as_deref();
    /// The largest absolute error of finite elements.
    max_abs(found) -> &Extreme<Number> = found.max_abs.as_ref();
    /// The largest relative error of finite elements, ignoring nonzero values at an expected zero.
    max_rel(found) -> &Extreme<f64> = found.max_rel.as_ref();
    /// The largest distance of finite elements in steps between neighbouring values.
    max_ulp(found) -> &Extreme<u64> = found.max_ulp.as_ref();
    /// The smallest `atol` that alone accepts all elements, if any.
    min_atol(found) -> f64 = found.min_atol;
    /// The smallest `rtol` that alone accepts all elements, if any.
    min_rtol(found) -> f64 = found.min_rtol;
    /// The smallest `ulp` that alone accepts all elements, if any.
    min_ulp(found) -> u64 = found.min_ulp;
    /// The metrics over all elements; `None` if no items were compared.
    metrics(found) -> &Metrics = Some(&found.metrics);
    /// The absolute errors of finite elements at [`QUANTILES`](crate::diff::QUANTILES), without interpolation.
    quantiles(found) -> &[Option<Number>; 4] = found.quantiles.as_ref();
}

impl fmt::Display for Difference {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut report = Vec::new();
        self.write_report(&mut report, Style::plain()).expect("memory takes all that is written");
        f.write_str(String::from_utf8(report).expect("a report is text").trim_end())
    }
}

/// The verdict on a tensor.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum TensorVerdict {
    /// All items are the same.
    Same,
    /// Items differ but pass.
    Within,
    /// The tensor fails.
    Different,
    /// Only the expected side has it.
    Missing,
    /// Only the actual side has it.
    Extra,
    /// One side cannot be read.
    Unreadable,
}

impl TensorVerdict {
    pub(crate) const ALL: [Self; 6] =
        [Self::Same, Self::Within, Self::Different, Self::Missing, Self::Extra, Self::Unreadable];

    /// The name in JSON.
    pub fn name(self) -> &'static str {
        ["same", "within", "different", "missing", "extra", "unreadable"][self as usize]
    }

    /// Whether models with this verdict can be equal.
    pub fn passes(self) -> bool {
        matches!(self, Self::Same | Self::Within)
    }

    pub(crate) fn rank(self) -> usize {
        let worst_first = [Self::Different, Self::Unreadable, Self::Missing, Self::Extra, Self::Within, Self::Same];
        worst_first.iter().position(|verdict| *verdict == self).expect("all verdicts are in the list")
    }
}

/// A tensor on one side only.
#[derive(Clone, Debug, PartialEq)]
pub struct LoneTensor {
    /// The dtype and shape.
    pub outline: Outline,
    /// A tensor with the same bytes that only the other side has.
    pub renamed: Option<String>,
}

/// The result for one tensor name.
#[derive(Clone, Debug)]
pub enum NamedResult {
    /// Both sides have it.
    Both(Box<Difference>),
    /// Only the expected side has it.
    Missing(LoneTensor),
    /// Only the actual side has it.
    Extra(LoneTensor),
    /// Why it cannot be read.
    Unreadable(String),
    /// Why the expected tensor cannot be read, if the actual one may replace it.
    Damaged(String),
    /// A file or member on both sides that is not read, with the same bytes.
    SameBytes,
}

impl NamedResult {
    /// The verdict.
    pub fn verdict(&self) -> TensorVerdict {
        match self {
            NamedResult::Missing(_) => TensorVerdict::Missing,
            NamedResult::Extra(_) => TensorVerdict::Extra,
            NamedResult::Unreadable(_) => TensorVerdict::Unreadable,
            NamedResult::Damaged(_) => TensorVerdict::Different,
            NamedResult::Both(found) if !found.equal() => TensorVerdict::Different,
            NamedResult::Both(found) if found.differing() > Some(0) => TensorVerdict::Within,
            NamedResult::Both(_) | NamedResult::SameBytes => TensorVerdict::Same,
        }
    }
}

/// The first tensor that fails.
#[derive(Clone, Debug)]
pub struct FirstDifferent {
    /// The name.
    pub name: String,
    /// Why it fails.
    pub found: NamedResult,
    /// The number of later tensors.
    pub not_compared: usize,
}

impl FirstDifferent {
    pub(crate) fn write(
        &self,
        out: &mut dyn Write,
        style: Style,
        passed: [(TensorVerdict, usize); 2],
        is_brief: bool,
    ) -> io::Result<()> {
        let passed = passed.map(|(verdict, count)| format!("{count} {}", verdict.name())).join(", ");
        let rest = format!("before it {passed}; after it {} not compared", self.not_compared);
        let (word, text) = self.text(style, is_brief)?;
        let name = printable(&self.name);
        let word = style.paint(Colour::Red, word);
        match is_brief {
            true => writeln!(out, "{word}: {name}: {text}; {rest}"),
            false => writeln!(out, "{word}: {name}: {text}\n\n  {rest}"),
        }
    }

    fn text(&self, style: Style, is_brief: bool) -> io::Result<(&'static str, String)> {
        let lone = |LoneTensor { outline, .. }: &LoneTensor, side: &str| {
            format!("only {side} has it: {} {:?}", printable(&outline.dtype), outline.shape)
        };
        Ok(match &self.found {
            NamedResult::Damaged(why) => ("different", printable(why).into_owned()),
            NamedResult::Unreadable(why) => ("unreadable", printable(why).into_owned()),
            NamedResult::SameBytes => ("same", "both have the same bytes".to_owned()),
            NamedResult::Missing(one) => ("different", lone(one, "EXPECTED")),
            NamedResult::Extra(one) => ("different", lone(one, "ACTUAL")),
            NamedResult::Both(found) => {
                let whole = if is_brief { found.summary(style) } else { found.verdict() };
                let behind = whole.split_once(": ").map_or(&*whole, |(_, behind)| behind).to_owned();
                let mut report = Vec::new();
                if !is_brief {
                    found.write_report(&mut report, style)?;
                }
                let report = String::from_utf8_lossy(&report);
                let details = report.trim_end().split_once('\n').map_or("", |(_, details)| details);
                let details = if details.is_empty() { String::new() } else { format!("\n{details}") };
                ("different", behind + &details)
            }
        })
    }
}
