//! Two tensors compared: how many elements differ, how far, and which tolerance they would need.
//!
//! An element passes if its bits are equal, or both are NaN, or a tolerance that is given accepts it. Whatever the
//! tolerances, [`Difference`] says what the largest errors are and what would have been accepted.
//!
//! ```
//! use tensorop::diff::{self, Options};
//! use tensorop::{DType, Tensor};
//!
//! let tensor = |items: [f32; 3]| {
//!     let bytes = items.iter().flat_map(|item| item.to_le_bytes()).collect();
//!     Tensor::new(DType::parse("float32").unwrap(), vec![3], bytes).unwrap()
//! };
//! let found = diff::compare(&tensor([1.0, 2.0, 4.0]), &tensor([1.0, 2.5, 4.0]), &Options::default())?;
//! assert!(!found.equal());
//! assert_eq!(found.verdict(), "different: 1 of 3 items (33.3 %) of float32 [3]");
//! assert_eq!((found.min_atol(), found.min_rtol()), (Some(0.5), Some(0.25)));
//! let tolerant = Options { rtol: Some(0.25), ..Options::default() };
//! assert!(diff::compare(&tensor([1.0, 2.0, 4.0]), &tensor([1.0, 2.5, 4.0]), &tolerant)?.equal());
//! # Ok::<(), tensorop::Error>(())
//! ```

mod difference;
mod distance;
mod item;
mod report;
mod tally;
#[cfg(test)]
mod tests;
mod widen;

use crate::error::{Advice, Context, Error, ErrorKind, Result, bail};

use num_complex::Complex;

pub use self::difference::{Difference, Extreme, Mismatch, Outline, Reason};
use self::distance::Distance;
pub use self::distance::Number;
use self::item::{ComparedItem, ItemClass, Task, read_i128, with_items};
use self::tally::{ItemPairs, Most, Rule, Tally};
use self::widen::{ClassOf, Widen, WidenTo};
use crate::engine::job::Progress;
use crate::engine::scan::{same_bytes, scan};
use crate::item::dtype::{DType, Kind};
use crate::item::element::Element;
use crate::item::meta::Order;
use crate::item::print;
use crate::item::tensor::Tensor;
use crate::layout::shape::coordinates;
use crate::memory;
use crate::ops::fill::Limits;
pub use crate::report::Style;
use crate::storage::source::Source;

/// Items of two dtypes are widened to a common one so many at a time. They stay in a core's cache (16 KiB of
/// complex128 on either side), where a window, widened whole, would be written to memory and read back.
const WIDENED: usize = 1024;

/// When elements pass, and what is told of those that do not.
#[derive(Clone, Debug)]
pub struct Options {
    /// The absolute tolerance: `|actual - expected| <= atol + rtol * |expected|`; 0 where only `rtol` is given.
    pub atol: Option<f64>,
    /// The relative tolerance; 0 where only `atol` is given.
    pub rtol: Option<f64>,
    /// How many steps from value to neighbouring value are accepted.
    pub ulp: Option<u64>,
    /// How many mismatches are told one by one, the first in C order.
    pub shown: usize,
    /// Whether two NaN of other bits differ; those of two dtypes have no bits in common.
    pub nan_differs: bool,
    /// Whether tensors of two dtypes are compared by their values, as integers if both are, else as float64, or as
    /// complex128 if either is complex; strings as text.
    pub ignore_dtype: bool,
}

impl Default for Options {
    /// No tolerance; the first five mismatches are told.
    fn default() -> Self {
        Self { atol: None, rtol: None, ulp: None, shown: 5, nan_differs: false, ignore_dtype: false }
    }
}

/// How much a comparison of sources does at once, and how far it goes. Not for the library's users: what they compare
/// is in memory, and compared to the end.
#[doc(hidden)]
#[derive(Clone, Copy, Debug, Default)]
pub struct Effort {
    /// What the comparison may use.
    pub limits: Limits,
    /// Whether only the verdict is wanted: the first mismatch ends it, and nothing is told of it.
    pub verdict_only: bool,
}

/// Compares two tensors, element by element. Their byte order is no difference.
///
/// # Errors
/// A tolerance below zero; one in steps for tensors of two dtypes; more than there is memory for, which takes a copy
/// of both tensors.
pub fn compare(expected: &Tensor, actual: &Tensor, options: &Options) -> Result<Difference> {
    let source = |tensor: &Tensor, name: &str| {
        let mut bytes = memory::of(tensor.bytes().len()).map_err(|why| Error::memory(why).within(name))?;
        bytes.extend_from_slice(tensor.bytes());
        let copy = Tensor::new(tensor.dtype().clone(), tensor.shape().to_vec(), bytes);
        Ok::<_, Error>(Source::memory(copy.context("a tensor of another length")?, name.to_owned()))
    };
    let (mut expected, mut actual) = (source(expected, "expected")?, source(actual, "actual")?);
    compare_sources(&mut expected, &mut actual, options, Effort::default(), &|_| {})
}

/// Compares two tensors wherever they lie, window by window. Byte order and order (C or Fortran) are no difference.
/// `progress` hears of the bytes that are done.
///
/// # Errors
/// Those of [`compare`], and those of reading.
#[doc(hidden)]
pub fn compare_sources(
    expected: &mut Source,
    actual: &mut Source,
    options: &Options,
    effort: Effort,
    progress: Progress<'_>,
) -> Result<Difference> {
    let refused = |message: String| Error::of(ErrorKind::Argument, message).advising(Advice::ChangeOption);
    for (name, tolerance) in [("atol", options.atol), ("rtol", options.rtol)] {
        if let Some(tolerance) = tolerance.filter(|tolerance| tolerance.is_nan() || *tolerance < 0.0) {
            return Err(refused(format!("{name} {tolerance}, expected a number that is not negative")));
        }
    }
    let (one, other) = (expected.dtype().native(), actual.dtype().native());
    if options.ulp.is_some() && options.ignore_dtype && one != other {
        return Err(refused(format!("ulp needs tensors of one dtype: {} and {}", one.name(), other.name())));
    }
    let outline = |dtype: &DType, source: &Source| Outline { dtype: dtype.name(), shape: source.shape().to_vec() };
    let outlines = (outline(&one, expected), outline(&other, actual));
    let items = expected.shape().iter().product();
    let unknown = |reason| Difference {
        reason: Some(reason),
        expected: outlines.0.clone(),
        actual: outlines.1.clone(),
        items,
        differing: None,
        mismatches: None,
        max_abs: None,
        max_rel: None,
        max_ulp: None,
        min_atol: None,
        min_rtol: None,
        min_ulp: None,
        first: Vec::new(),
        integers: false,
    };
    let Some(common) = Common::new(&one, &other).filter(|_| options.ignore_dtype || one == other) else {
        return Ok(unknown(Reason::Dtype));
    };
    if expected.shape() != actual.shape() {
        return Ok(unknown(Reason::Shape));
    }
    let comparison = Comparison {
        expected,
        actual,
        rule: Rule {
            atol: options.atol.unwrap_or(if options.rtol.is_some() { 0.0 } else { -1.0 }),
            rtol: options.rtol.unwrap_or(0.0),
            ulp: options.ulp,
            nan_differs: options.nan_differs,
            shown: if effort.verdict_only { 0 } else { options.shown },
        },
        effort,
        progress,
        dtypes: [&one, &other],
        start: unknown(Reason::Values),
    };
    match common {
        Common::Same => match with_items(one.kind(), Same(comparison)) {
            Ok(found) => found,
            Err(Same(comparison)) => comparison.opaque(|expected, actual| expected == actual),
        },
        Common::Numbers(ItemClass::Integer, widen) => comparison.numbers(read_i128, Some(widen)),
        Common::Numbers(ItemClass::Complex, widen) => comparison.numbers(Complex::<f64>::read_le, Some(widen)),
        Common::Numbers(ItemClass::Float | ItemClass::Date, widen) => comparison.numbers(f64::read_le, Some(widen)),
        Common::Text(wide) => comparison.opaque(|expected, actual| {
            let points = |bytes, wide| trimmed(code_points(bytes, wide));
            points(expected, wide[0]).eq(points(actual, wide[1]))
        }),
    }
}

/// What the items of two tensors are compared as.
enum Common {
    /// As the numbers or dates they are, or as so many bytes.
    Same,
    /// As numbers of a class, which they become first.
    Numbers(ItemClass, [Widen; 2]),
    /// As code points, of 4 bytes each where they are wide, else of one.
    Text([bool; 2]),
}

impl Common {
    /// `None` if two dtypes have no common meaning.
    fn new(expected: &DType, actual: &DType) -> Option<Self> {
        if expected == actual {
            return Some(Self::Same);
        }
        let classes = [expected, actual].map(|dtype| with_items(dtype.kind(), ClassOf).ok());
        if let [Some(one), Some(other)] = classes {
            let class = match (one, other) {
                (ItemClass::Date, _) | (_, ItemClass::Date) => return None,
                (ItemClass::Integer, ItemClass::Integer) => ItemClass::Integer,
                (ItemClass::Complex, _) | (_, ItemClass::Complex) => ItemClass::Complex,
                (ItemClass::Float, _) | (_, ItemClass::Float) => ItemClass::Float,
            };
            let widen = |dtype: &DType, nan| with_items(dtype.kind(), WidenTo(class, nan)).ok();
            // no NaN of the one has the bits of one of the other
            let other_nan = f64::from_bits(f64::NAN.to_bits() | 1);
            return Some(Self::Numbers(class, [widen(expected, f64::NAN)?, widen(actual, other_nan)?]));
        }
        let wide = |dtype: &DType| {
            let text = matches!(dtype.kind(), Kind::Str(_) | Kind::Bytes(_));
            text.then(|| matches!(dtype.kind(), Kind::Str(_)))
        };
        Some(Self::Text([wide(expected)?, wide(actual)?]))
    }
}

/// The code points of an item of strings.
fn code_points(bytes: &[u8], wide: bool) -> impl DoubleEndedIterator<Item = u32> + Clone {
    let (points, bytes) = if wide { (bytes.as_chunks::<4>().0, &[][..]) } else { (&[][..], bytes) };
    points.iter().map(|&point| u32::from_le_bytes(point)).chain(bytes.iter().map(|&byte| byte.into()))
}

/// Without the NULs at the end.
fn trimmed(points: impl DoubleEndedIterator<Item = u32> + Clone) -> impl Iterator<Item = u32> {
    let len = points.clone().rev().skip_while(|&point| point == 0).count();
    points.take(len)
}

/// Two tensors of one shape, and all that is needed to compare them.
struct Comparison<'a> {
    expected: &'a mut Source,
    actual: &'a mut Source,
    rule: Rule,
    effort: Effort,
    progress: Progress<'a>,
    dtypes: [&'a DType; 2],
    start: Difference,
}

/// Compares items of one dtype.
struct Same<'a>(Comparison<'a>);

impl Task for Same<'_> {
    type Output = Result<Difference>;

    fn run<T: ComparedItem>(self, read: impl Fn(&[u8]) -> T + Copy + Send + Sync + 'static) -> Self::Output {
        self.0.numbers(read, None)
    }
}

impl Comparison<'_> {
    /// Compares numbers, that `widen` makes of the items, if they have to be made.
    fn numbers<T: ComparedItem>(
        mut self,
        read: impl Fn(&[u8]) -> T + Sync,
        widen: Option<[Widen; 2]>,
    ) -> Result<Difference> {
        let steps = widen.is_none();
        let widths = self.dtypes.map(DType::itemsize);
        let tally = self.tally(|tally, rule, window, [expected, actual]| match &widen {
            None => tally.window(rule, window, (window.expected, window.actual), &read),
            Some([one, other]) => {
                for part in window.chunks(WIDENED, widths) {
                    one(part.expected, expected);
                    other(part.actual, actual);
                    tally.window(rule, part, (expected, actual), &read);
                }
            }
        })?;
        let integers = matches!(T::CLASS, ItemClass::Integer | ItemClass::Date);
        Ok(self.finish(tally, integers, steps))
    }

    /// Compares what is no number.
    fn opaque(mut self, same: impl Fn(&[u8], &[u8]) -> bool + Sync) -> Result<Difference> {
        let widths = self.dtypes.map(DType::itemsize);
        let widest = widths[0].max(widths[1]);
        let tally = self.tally::<u64>(|tally, rule, window, _| {
            let longer = window.expected.len().max(window.actual.len());
            if widths[0] != widths[1] || window.expected != window.actual {
                tally.opaque(rule, window, longer / widest.max(1), &same);
            }
        })?;
        let steps = self.dtypes[0] == self.dtypes[1];
        Ok(self.finish(tally, true, steps))
    }

    /// Reads both tensors. `each` gets two buffers that stay.
    fn tally<D: Distance>(
        &mut self,
        each: impl Fn(&mut Tally<D>, &Rule, ItemPairs<'_>, &mut [Vec<u8>; 2]) + Sync,
    ) -> Result<Tally<D>> {
        let mut all = Tally::default();
        if self.dtypes.iter().all(|dtype| dtype.itemsize() == 0) {
            // there may be more of them than can be counted one by one
            self.expected.finish()?;
            self.actual.finish()?;
            return Ok(all);
        }
        let (rule, verdict_only) = (&self.rule, self.effort.verdict_only);
        let equal = self.are_equal_as_stored()?;
        let sources = [&mut *self.expected, &mut *self.actual];
        let begin = || (Tally::default(), [Vec::new(), Vec::new()]);
        let tallies = scan(sources, self.effort.limits, self.progress, begin, |state, start, [expected, actual]| {
            let (tally, buffers) = state;
            each(tally, rule, ItemPairs { start, expected, actual }, buffers);
            if let Some(message) = tally.too_much.take() {
                bail!("mismatches to be told: {message}");
            }
            // of equal tensors all that is left to be known is which items are the first that can be compared
            let known = equal && tally.max_abs.is_some() && tally.max_rel.is_some() && tally.max_ulp.is_some();
            Ok(!known && (!verdict_only || tally.mismatches == 0))
        })?;
        tallies.into_iter().for_each(|(tally, _)| all.merge(tally, rule));
        // what is told of each, as texts
        let texts: usize = all.first.iter().map(|found| 512 + 6 * (found.expected.len() + found.actual.len())).sum();
        match all.too_much.take().or_else(|| memory::of::<u8>(texts).err()) {
            Some(message) => bail!("mismatches to be told: {message}"),
            None => Ok(all),
        }
    }

    /// Whether both tensors are stored in one order that is not C order, and are the same bytes: to see that takes no more
    /// than to read them, where to compare them in C order transposes both.
    fn are_equal_as_stored(&self) -> Result<bool> {
        let metas = [self.expected.meta(), self.actual.meta()];
        let across = metas[0] == metas[1] && metas[0].order == Order::Fortran && !metas[0].view().is_forward();
        let files = self.expected.as_file().is_some() && self.actual.as_file().is_some();
        Ok(across && files && same_bytes(self.expected, self.actual, self.effort.limits, self.progress)?)
    }

    /// What a tally says. `steps` tells whether a distance in steps has a meaning.
    fn finish<D: Distance>(self, tally: Tally<D>, integers: bool, steps: bool) -> Difference {
        let start = self.start;
        if self.effort.verdict_only && tally.mismatches > 0 {
            return start; // how much was seen before it ended is left to chance
        }
        let shape = start.expected.shape.clone();
        let extreme = |item| coordinates(item, &shape);
        // all that differ contribute to the maxima, and all others nothing
        let none = tally.differing == 0;
        let hope = !tally.hopeless;
        let max_abs = tally.max_abs.map(|Most { value, item }| (value, extreme(item)));
        let min_atol = max_abs.as_ref().map_or(0.0, |(value, _)| value.up());
        let max_ulp = tally.max_ulp.filter(|_| steps);
        let first = tally.first.iter().map(|found| Mismatch {
            index: extreme(found.item),
            expected: text(self.dtypes[0], &found.expected),
            actual: text(self.dtypes[1], &found.actual),
            abs: found.errors.map(|errors| errors.abs),
            rel: found.errors.and_then(|errors| errors.rel),
            ulp: found.errors.filter(|_| steps).map(|errors| errors.ulp),
        });
        Difference {
            reason: (tally.mismatches > 0).then_some(Reason::Values),
            differing: Some(tally.differing),
            mismatches: Some(tally.mismatches),
            max_abs: max_abs.map(|(value, index)| Extreme { value: value.number(), index }),
            max_rel: tally.max_rel.map(|Most { value, item }| Extreme { value, index: extreme(item) }),
            max_ulp: max_ulp.map(|Most { value, item }| Extreme { value, index: extreme(item) }),
            min_atol: (none || hope && min_atol.is_finite()).then_some(if none { 0.0 } else { min_atol }),
            min_rtol: (none || hope && tally.rtol.is_finite()).then_some(tally.rtol),
            min_ulp: (steps && (none || hope)).then_some(if none { 0 } else { max_ulp.map_or(0, |most| most.value) }),
            first: first.collect(),
            integers,
            ..start
        }
    }
}

/// An item as tensor JSON has it; as a string of its bytes in hexadecimal digits where that has none.
fn text(dtype: &DType, item: &[u8]) -> String {
    let mut out = Vec::new();
    if print::write_item(&mut out, dtype, item).is_ok() {
        return String::from_utf8_lossy(&out).into_owned();
    }
    let digits: String = item.iter().map(|byte| format!("{byte:02x}")).collect();
    format!("\"{digits}\"")
}
