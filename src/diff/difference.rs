//! What a comparison finds.

use super::distance::Number;
use super::metrics::{Failure, Metrics};
use super::places::AxisPlaces;
use crate::item::dtype::DType;

/// Why tensors differ.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Reason {
    /// Their dtypes do, or have no common meaning.
    Dtype,
    /// Their shapes do.
    Shape,
    /// At least one element does not pass.
    Values,
}

impl Reason {
    /// The name that JSON says.
    pub fn name(self) -> &'static str {
        match self {
            Reason::Dtype => "dtype",
            Reason::Shape => "shape",
            Reason::Values => "values",
        }
    }
}

/// What is said of one of two tensors.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Outline {
    /// The [name](crate::DType::name), as of a little-endian one.
    pub dtype: String,
    /// The dims.
    pub shape: Vec<usize>,
}

impl Outline {
    /// Of a tensor in any byte order.
    pub(crate) fn new(dtype: &DType, shape: &[usize]) -> Self {
        Self { dtype: dtype.native().name(), shape: shape.to_vec() }
    }
}

/// The largest error, and the index of the first element in C order that has it.
#[derive(Clone, Debug, PartialEq)]
pub struct Extreme<V> {
    /// How large.
    pub value: V,
    /// One place for each axis.
    pub index: Vec<usize>,
}

/// An element that does not pass.
#[derive(Clone, Debug, PartialEq)]
pub struct Mismatch {
    /// One place for each axis.
    pub index: Vec<usize>,
    /// The expected item as JSON; as a JSON string of its bytes in hexadecimal digits, if JSON cannot hold it.
    pub expected: String,
    /// The actual item, likewise.
    pub actual: String,
    /// The absolute difference; `None` where either is NaN or infinite, or no number.
    pub abs: Option<Number>,
    /// That divided by the expected magnitude; `None` also where that is zero.
    pub rel: Option<f64>,
    /// The steps from value to neighbouring value between them; `None` also where their dtypes are not one.
    pub ulp: Option<u64>,
}

/// What is found by [`compare`](super::compare). Of tensors of two dtypes or shapes nothing is known but that.
#[derive(Clone, Debug, PartialEq)]
pub struct Difference {
    pub(super) reason: Option<Reason>,
    pub(super) expected: Outline,
    pub(super) actual: Outline,
    pub(super) items: usize,
    pub(super) differing: Option<usize>,
    pub(super) mismatches: Option<usize>,
    pub(super) max_abs: Option<Extreme<Number>>,
    pub(super) max_rel: Option<Extreme<f64>>,
    pub(super) max_ulp: Option<Extreme<u64>>,
    pub(super) min_atol: Option<f64>,
    pub(super) min_rtol: Option<f64>,
    pub(super) min_ulp: Option<u64>,
    pub(super) first: Vec<Mismatch>,
    pub(super) worst: Option<Vec<Mismatch>>,
    pub(super) metrics: Option<Metrics>,
    pub(super) quantiles: Option<[Option<Number>; 4]>,
    pub(super) axes: Vec<AxisPlaces>,
    pub(super) failures: Vec<Failure>,
    /// Whether errors are integers.
    pub(super) integers: bool,
    /// Whether a number differs that is NaN or infinite on either side, of which no error is told.
    pub(super) hopeless: bool,
    /// Whether limits on metrics do not hold because of such an item, or one that is no number.
    pub(super) unlike: bool,
}

impl Difference {
    /// Whether the tensors pass, under all options.
    pub fn equal(&self) -> bool {
        self.reason.is_none()
    }

    /// Why they differ; `None` if they pass.
    pub fn reason(&self) -> Option<Reason> {
        self.reason
    }

    /// The expected tensor.
    pub fn expected(&self) -> &Outline {
        &self.expected
    }

    /// The actual tensor.
    pub fn actual(&self) -> &Outline {
        &self.actual
    }

    /// The elements of the expected tensor.
    pub fn items(&self) -> usize {
        self.items
    }

    /// Elements of which neither the bits are equal nor both are NaN: all that a tolerance may accept.
    pub fn differing(&self) -> Option<usize> {
        self.differing
    }

    /// Elements that no tolerance accepts.
    pub fn mismatches(&self) -> Option<usize> {
        self.mismatches
    }

    /// The largest absolute error of all elements that are neither NaN nor infinite on either side.
    pub fn max_abs(&self) -> Option<&Extreme<Number>> {
        self.max_abs.as_ref()
    }

    /// The largest relative error of them, but where zero was expected and something else was there.
    pub fn max_rel(&self) -> Option<&Extreme<f64>> {
        self.max_rel.as_ref()
    }

    /// The largest distance of them in steps from value to neighbouring value.
    pub fn max_ulp(&self) -> Option<&Extreme<u64>> {
        self.max_ulp.as_ref()
    }

    /// The smallest absolute tolerance that alone would have accepted all elements; `None` if none would.
    pub fn min_atol(&self) -> Option<f64> {
        self.min_atol
    }

    /// The smallest relative tolerance that alone would have; `None` if none would.
    pub fn min_rtol(&self) -> Option<f64> {
        self.min_rtol
    }

    /// The smallest tolerance in steps that alone would have; `None` if none would.
    pub fn min_ulp(&self) -> Option<u64> {
        self.min_ulp
    }

    /// The first mismatches in C order, as many as [`Options::shown`](super::Options::shown) says.
    pub fn first(&self) -> &[Mismatch] {
        &self.first
    }

    /// The mismatches that are farthest apart, as many as [`Options::worst`](super::Options::worst) says.
    pub fn worst(&self) -> &[Mismatch] {
        self.worst.as_deref().unwrap_or_default()
    }

    /// How alike the tensors are as a whole; `None` if nothing was compared.
    pub fn metrics(&self) -> Option<&Metrics> {
        self.metrics.as_ref()
    }

    /// The errors at [`QUANTILES`](super::QUANTILES) of all elements that are finite on both sides: of each the error
    /// of the element of that rank, `None` if there is no such element.
    pub fn quantiles(&self) -> Option<&[Option<Number>; 4]> {
        self.quantiles.as_ref()
    }

    /// For each axis of more than one place how many of its places hold a mismatch, and which.
    pub fn axes(&self) -> &[AxisPlaces] {
        &self.axes
    }

    /// The limits on metrics that do not hold.
    pub fn failures(&self) -> &[Failure] {
        &self.failures
    }
}
