//! The result of a comparison.

use std::fmt;

use super::distance::Number;
use super::metadata::DifferingNames;
use super::metrics::Metrics;
use super::options::{Failure, Options};
use super::places::AxisPlaces;
use crate::item::dtype::DType;
use crate::report::Style;

/// The reason why two tensors do not pass.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Reason {
    /// Their dtypes differ, or have no common meaning.
    Dtype,
    /// Their shapes differ.
    Shape,
    /// Elements fail, or metrics are outside their limits.
    Values,
    /// Only what describes them differs, and that [counts](super::Options::metadata).
    Metadata,
}

impl Reason {
    /// Returns the name that JSON uses.
    pub fn name(self) -> &'static str {
        match self {
            Reason::Dtype => "dtype",
            Reason::Shape => "shape",
            Reason::Values => "values",
            Reason::Metadata => "metadata",
        }
    }
}

/// The dtype and the shape of one of two tensors.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Outline {
    /// The [name](crate::DType::name) of the little-endian dtype.
    pub dtype: String,
    /// The dims.
    pub shape: Vec<usize>,
}

impl Outline {
    /// Takes the dtype in any byte order.
    pub(crate) fn new(dtype: &DType, shape: &[usize]) -> Self {
        Self { dtype: dtype.native().name(), shape: shape.to_vec() }
    }
}

/// The largest error, and the index of the first element in C order that has it.
#[derive(Clone, Debug, PartialEq)]
pub struct Extreme<V> {
    /// The error.
    pub value: V,
    /// The index, one place for each axis.
    pub index: Vec<usize>,
}

/// An element that fails.
#[derive(Clone, Debug, PartialEq)]
pub struct Mismatch {
    /// The index, one place for each axis.
    pub index: Vec<usize>,
    /// The number of the element in C order, counted from 0.
    pub flat: usize,
    /// The expected item as JSON, or as a JSON string of hexadecimal digits of its bytes if JSON cannot hold it.
    pub expected: String,
    /// The actual item, likewise.
    pub actual: String,
    /// The absolute difference; `None` if either item is NaN, infinite or no number.
    pub abs: Option<Number>,
    /// The absolute difference divided by the expected magnitude; `None` also if that is zero.
    pub rel: Option<f64>,
    /// The steps between the items, from value to neighbouring value; `None` also for tensors of two dtypes.
    pub ulp: Option<u64>,
}

/// The result of [`compare`](super::compare). Its `Display` is the report of [`write_report`](Difference::write_report)
/// without colours.
///
/// If the dtypes or the shapes differ, nothing else is known, and what depends on the items is `None` or empty.
#[derive(Clone, Debug, PartialEq)]
pub struct Difference {
    /// `None` if the tensors pass.
    pub(super) reason: Option<Reason>,
    pub(super) expected: Outline,
    pub(super) actual: Outline,
    pub(super) items: usize,
    pub(super) options: Options,
    /// The names of metadata and attachments that differ.
    pub(super) beside: DifferingNames,
    /// What is known of the items, if they were compared.
    pub(super) found: Option<Findings>,
    pub(super) agreeing_axes: Option<Vec<usize>>,
}

/// What is known of the items of two tensors.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Findings {
    pub differing: usize,
    pub mismatches: usize,
    /// `None` if the items are no numbers.
    pub nonfinite_mismatches: Option<usize>,
    pub first_nonfinite: Option<Vec<usize>>,
    pub max_abs: Option<Extreme<Number>>,
    pub max_rel: Option<Extreme<f64>>,
    pub max_ulp: Option<Extreme<u64>>,
    pub min_atol: Option<f64>,
    pub min_rtol: Option<f64>,
    pub min_ulp: Option<u64>,
    /// The first mismatches, or the largest.
    pub listed: Vec<Mismatch>,
    pub metrics: Metrics,
    pub quantiles: Option<[Option<Number>; 4]>,
    pub axes: Vec<AxisPlaces>,
    pub failures: Vec<Failure>,
    /// Whether errors are integers.
    pub integers: bool,
    /// Whether some pair of numbers differs by NaN or infinity, which no error shows.
    pub has_non_finite_mismatch: bool,
    /// Whether metric limits fail because an item that is not finite, or no number, differs.
    pub limits_not_applicable: bool,
}

impl Difference {
    /// Returns whether the tensors pass, under all options.
    pub fn equal(&self) -> bool {
        self.reason.is_none()
    }

    /// Returns why the tensors differ, or `None` if they pass.
    pub fn reason(&self) -> Option<Reason> {
        self.reason
    }

    /// Returns the dtype and the shape of the expected tensor.
    pub fn expected(&self) -> &Outline {
        &self.expected
    }

    /// Returns the dtype and the shape of the actual tensor.
    pub fn actual(&self) -> &Outline {
        &self.actual
    }

    /// Returns the number of elements of the expected tensor.
    pub fn items(&self) -> usize {
        self.items
    }

    /// Returns the names of what describes the tensors and differs, in alphabetical order: of two tensors of Zarr stores the
    /// keys of their attributes, `fill_value` and `dimension_names`. It is a difference only with
    /// [`Options::metadata`](super::Options::metadata).
    pub fn metadata(&self) -> &[String] {
        &self.beside.metadata
    }

    /// Returns the names of content that is not a tensor and differs between the containers of the tensors, such as a JSON
    /// file in a `.npz`, in alphabetical order. It is a difference where metadata are one.
    pub fn content(&self) -> &[String] {
        &self.beside.content
    }

    /// Returns the axes of the actual tensor under which the tensors pass although their shapes differ, as
    /// [`Options::axes`](super::Options::axes) takes them, if that was found. Shapes of more than 6 axes and tensors of more
    /// than 1 GiB are not searched.
    pub fn agreeing_axes(&self) -> Option<&[usize]> {
        self.agreeing_axes.as_deref()
    }

    /// Returns the first mismatches in C order, as many as [`Options::shown`](super::Options::shown) says.
    pub fn first(&self) -> &[Mismatch] {
        if self.options.worst.is_some() { &[] } else { self.listed() }
    }

    /// Returns the mismatches that are farthest apart, as many as [`Options::worst`](super::Options::worst) says.
    pub fn worst(&self) -> &[Mismatch] {
        if self.options.worst.is_some() { self.listed() } else { &[] }
    }

    pub(super) fn listed(&self) -> &[Mismatch] {
        self.found.as_ref().map_or(&[], |found| &found.listed)
    }

    /// Returns for each axis of more than one place how many of its places hold a mismatch, and which.
    pub fn axes(&self) -> &[AxisPlaces] {
        self.found.as_ref().map_or(&[], |found| &found.axes)
    }

    /// Returns the metrics that are outside their limits.
    pub fn failures(&self) -> &[Failure] {
        self.found.as_ref().map_or(&[], |found| &found.failures)
    }
}

/// Gives a difference a method for each row, which returns what was found, or `None` if nothing was compared.
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
    /// Returns how many elements differ in bits and are not NaN on both sides. Tolerances concern only these elements.
    differing(found) -> usize = Some(found.differing);
    /// Returns how many elements no tolerance accepts.
    mismatches(found) -> usize = Some(found.mismatches);
    /// Returns how many of these are NaN, NaT or infinite on either side, or `None` if the elements are no numbers. A complex
    /// number is not finite if either of its parts is not.
    nonfinite_mismatches(found) -> usize = found.nonfinite_mismatches;
    /// Returns the index of the first of these in C order, in whatever order the tensors are stored.
    first_nonfinite(found) -> &[usize] = found.first_nonfinite.as_deref();
    /// Returns the largest absolute error of the elements that are neither NaN nor infinite on either side.
    max_abs(found) -> &Extreme<Number> = found.max_abs.as_ref();
    /// Returns the largest relative error of these elements, except those where zero was expected and something else found.
    max_rel(found) -> &Extreme<f64> = found.max_rel.as_ref();
    /// Returns the largest distance of these elements in steps from value to neighbouring value.
    max_ulp(found) -> &Extreme<u64> = found.max_ulp.as_ref();
    /// Returns the smallest absolute tolerance that alone accepts all elements, or `None` if none does.
    min_atol(found) -> f64 = found.min_atol;
    /// Returns the smallest relative tolerance that alone accepts all elements, or `None` if none does.
    min_rtol(found) -> f64 = found.min_rtol;
    /// Returns the smallest tolerance in steps that alone accepts all elements, or `None` if none does.
    min_ulp(found) -> u64 = found.min_ulp;
    /// Returns how alike the tensors are as a whole, or `None` if nothing was compared.
    metrics(found) -> &Metrics = Some(&found.metrics);
    /// Returns the errors at [`QUANTILES`](super::QUANTILES) of all elements that are finite on both sides: each is the
    /// error of the element of that rank, or `None` if there is none.
    quantiles(found) -> &[Option<Number>; 4] = found.quantiles.as_ref();
}

impl fmt::Display for Difference {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut report = Vec::new();
        self.write_report(&mut report, Style::plain()).expect("memory takes all that is written");
        f.write_str(String::from_utf8(report).expect("a report is text").trim_end())
    }
}
