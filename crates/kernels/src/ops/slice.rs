//! Slice: OpenVINO
//! [Slice-8](https://docs.openvino.ai/latest/documentation/openvino-ir-format/operation-sets/operation-specs/movement/slice-8.html).

use std::str::FromStr;

use ndarray::{Array, ArrayBase, ArrayViewMut, Data, Dimension};

use super::arrays::{check_rank, named_axes};
use super::kernels::{Items, Output, Strided};
use crate::error::{Error, Result, Subject, counted};
use crate::item::tensor::Tensor;
use crate::layout::axis::{BeyondInt64, Clamping, Span, StepRange, resolve_axis};
use crate::layout::copy::copy_bytes;
use crate::layout::view::View;
use crate::memory;

/// A range for each of some axes; other axes are taken whole.
///
/// As in Python's `data[start:stop:step]`, negative numbers count from the end, numbers beyond the axis are clamped,
/// and negative steps run backwards.
///
/// ```
/// use tensorop_kernels::{SliceArgs, StepRange};
/// // from NumPy's notation
/// let parsed: SliceArgs = "1:8:2, ..., ::-1".parse()?;
/// // axis by axis
/// let built = SliceArgs::default().axis(0, StepRange::from(1..8).by(2)).axis(-1, StepRange::from(..).by(-1));
/// assert_eq!(parsed, built);
/// // from the lists that the operators' specifications name: start, stop, and optionally steps and axes
/// let listed = SliceArgs::new(&[1, -1], &[8, i64::MIN])?.with_steps(&[2, -1])?.with_axes(&[0, -1])?;
/// assert_eq!(listed.resolve(&[10, 4, 3])?, built.resolve(&[10, 4, 3])?);
/// # Ok::<(), tensorop_kernels::Error>(())
/// ```
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct SliceArgs {
    ranges: Vec<StepRange>,
    axes: Vec<i64>,
    /// Dimension names in place of `axes`.
    names: Vec<String>,
    is_listed: bool,
    clamping: Clamping,
    takes_scalars: bool,
}

/// The first two axes that have this name.
pub fn twice(name: &str, dims: &[Option<String>]) -> Option<[usize; 2]> {
    let mut found = dims.iter().enumerate().filter(|(_, dim)| dim.as_deref() == Some(name)).map(|(axis, _)| axis);
    Some([found.next()?, found.next()?])
}

impl SliceArgs {
    /// Slices the first axes from lists of starts and stops.
    ///
    /// # Errors
    /// The lists differ in length ([`Subject::Stop`]).
    pub fn new(start: &[i64], stop: &[i64]) -> Result<Self> {
        check_length(Subject::Stop, stop, start.len())?;
        let range = |(&start, &stop)| StepRange { start: Some(start), stop: Some(stop), step: 1 };
        let ranges: Vec<StepRange> = start.iter().zip(stop).map(range).collect();
        Ok(Self { axes: (0..ranges.len() as i64).collect(), ranges, is_listed: true, ..Self::default() })
    }

    /// Sets the steps; [`resolve`](Self::resolve) refuses a step of 0.
    ///
    /// # Errors
    /// There is not one step per range ([`Subject::Step`]).
    pub fn with_steps(mut self, steps: &[i64]) -> Result<Self> {
        check_length(Subject::Step, steps, self.ranges.len())?;
        self.ranges.iter_mut().zip(steps).for_each(|(range, &step)| range.step = step);
        Ok(self)
    }

    /// Sets the axes; negative ones count from the end.
    ///
    /// # Errors
    /// There is not one axis per range ([`Subject::Axes`]).
    pub fn with_axes(self, axes: &[i64]) -> Result<Self> {
        check_length(Subject::Axes, axes, self.ranges.len())?;
        Ok(Self { axes: axes.to_vec(), ..self })
    }

    /// Adds the range of an axis: `1..8`, `2..`, `..-1`, or a [`StepRange`] with a step. A negative axis counts from
    /// the end.
    #[must_use]
    pub fn axis(mut self, axis: i64, range: impl Into<StepRange>) -> Self {
        self.ranges.push(range.into());
        self.axes.push(axis);
        self
    }

    #[doc(hidden)]
    pub fn clamped_as_onnx(self) -> Self {
        Self { clamping: Clamping::Onnx, ..self }
    }

    /// Starts, ends, axes and steps as ONNX has them.
    pub(super) fn lists(&self) -> Vec<(&'static str, Vec<i64>)> {
        let is_back = |range: &StepRange| range.step < 0;
        let of = |number: fn(&StepRange) -> Option<i64>, forward: i64, back: i64| {
            let end = |range: &StepRange| number(range).unwrap_or(if is_back(range) { back } else { forward });
            self.ranges.iter().map(end).collect::<Vec<_>>()
        };
        let (starts, ends) = (of(|range| range.start, 0, i64::MAX), of(|range| range.stop, i64::MAX, i64::MIN));
        let steps = self.ranges.iter().map(|range| range.step).collect::<Vec<_>>();
        let lists = [("starts", starts), ("ends", ends), ("axes", self.axes.clone()), ("steps", steps)];
        lists.into_iter().filter(|(name, list)| *name != "steps" || list.iter().any(|&step| step != 1)).collect()
    }

    #[must_use]
    #[doc(hidden)]
    pub fn taking_scalars(self) -> Self {
        Self { takes_scalars: true, ..self }
    }

    /// Returns whether ranges have dimension names, as in `time=2:4`.
    pub fn is_by_names(&self) -> bool {
        !self.names.is_empty()
    }

    /// Checks that each name is one of these dimensions.
    ///
    /// # Errors
    /// A name is unknown or ambiguous.
    pub fn check_dims(&self, dims: &[Option<String>]) -> Result<()> {
        self.check_single(dims)?;
        let dims: Vec<&str> = dims.iter().flatten().map(String::as_str).collect();
        let Some(name) = self.names.iter().find(|name| !dims.contains(&name.as_str())) else { return Ok(()) };
        let message = if dims.is_empty() {
            "its dimensions have no names: slice by position, as in 2:4, ::2".to_owned()
        } else {
            format!("no dimension is called {name}: there are {}", dims.join(", "))
        };
        Err(Error::new(Subject::At, message))
    }

    /// Checks that no name is ambiguous.
    ///
    /// # Errors
    /// A name is ambiguous.
    pub fn check_single(&self, dims: &[Option<String>]) -> Result<()> {
        let twice = self.names.iter().find_map(|name| Some((name, twice(name, dims)?)));
        twice.map_or(Ok(()), |(name, [one, other])| {
            let message = format!("axes {one} and {other} are both called {name}: slice by position, as in 2:4, ::2");
            Err(Error::new(Subject::At, message))
        })
    }

    /// Replaces dimension names by axes.
    #[must_use]
    pub fn with_dims_as_axes(&self, dims: &[Option<String>]) -> Self {
        if !self.is_by_names() {
            return self.clone();
        }
        let at = |name: &String| dims.iter().position(|dim| dim.as_ref() == Some(name));
        let found = self.names.iter().zip(&self.ranges).filter_map(|(name, range)| Some((at(name)?, *range)));
        found.fold(Self::default(), |args, (axis, range)| args.axis(axis as i64, range))
    }

    /// Returns whether no ranges are set.
    pub fn is_empty(&self) -> bool {
        self.ranges.is_empty()
    }

    /// Returns one span per axis of a tensor of `shape`.
    ///
    /// # Errors
    /// The rank is 0 or above 64, an axis does not fit or is repeated, or a step is 0.
    pub fn resolve(&self, shape: &[usize]) -> Result<Vec<Span>> {
        if self.takes_scalars && shape.is_empty() && self.is_empty() {
            return Ok(Vec::new());
        }
        let rank = check_rank(shape)?;
        let about = |subject| if self.is_listed { subject } else { Subject::At };
        if let Some(name) = self.names.first() {
            let message = format!("axis {name} is given by name, but the dimensions of the data have no names");
            return Err(Error::new(Subject::At, message));
        }
        if self.ranges.len() > rank {
            let message =
                format!("{} for data of rank {rank} ({shape:?})", counted(self.ranges.len(), "entry", "entries"));
            return Err(Error::new(about(Subject::Start), message));
        }
        let mut spans: Vec<Span> = shape.iter().map(|&dim| Span::whole(dim)).collect();
        let axes = named_axes(&self.axes, rank, shape, Subject::Axes)?;
        for (i, (range, axis)) in self.ranges.iter().zip(axes).enumerate() {
            spans[axis] = range.resolve_by(shape[axis], self.clamping).ok_or_else(|| {
                Error::new(about(Subject::Step), format!("step 0 at position {i}: a step cannot be 0"))
            })?;
        }
        Ok(spans)
    }

    pub(super) fn axis_of(&self, number: usize, rank: usize) -> Option<usize> {
        resolve_axis(*self.axes.get(number)?, rank)
    }

    #[doc(hidden)]
    pub fn describe(&self, rank: usize) -> String {
        if self.is_empty() {
            return "no slice".to_owned();
        }
        let list = |what: &str, values: Vec<String>| match &values[..] {
            [one] => format!("{what} {one}"),
            _ => format!("{what} [{}]", values.join(", ")),
        };
        // an omitted bound is an end of the axis
        let number = |given: Option<i64>, default: &str| given.map_or(default.to_owned(), |v| v.to_string());
        let all = |f: &dyn Fn(&StepRange) -> String| self.ranges.iter().map(f).collect::<Vec<_>>();
        let axis = |&typed: &i64| {
            resolve_axis(typed, rank).expect("the axes were resolved before they are described").to_string()
        };
        let axes: Vec<String> = self.axes.iter().map(axis).collect();
        let plural = if axes.len() == 1 { "axis" } else { "axes" };
        format!(
            "{}, {}, {} on {}",
            list("start", all(&|r| number(r.start, if r.step < 0 { "end" } else { "0" }))),
            list("stop", all(&|r| number(r.stop, if r.step < 0 { "begin" } else { "end" }))),
            list("step", all(&|r| r.step.to_string())),
            list(plural, axes)
        )
    }
}

/// Parses NumPy's notation, `1:8:2, ..., ::-1`. `INT_MAX` and `INT_MIN` are the limits of int64.
impl FromStr for SliceArgs {
    type Err = Error;

    /// # Errors
    /// The text is not a list of slices ([`Subject::At`]).
    fn from_str(text: &str) -> Result<Self> {
        parse(text, Singles::Refused).map(|(slices, _)| slices)
    }
}

#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Singles {
    Refused,
    Taken,
}

pub(super) fn parse(text: &str, singles: Singles) -> Result<(SliceArgs, Vec<(usize, i64)>)> {
    let refuse = |message: String| Error::new(Subject::At, message);
    if text.trim_start().starts_with(['[', '(']) {
        return Err(refuse("slices are written without brackets: 1:8:2, ..., ::-1".to_owned()));
    }
    let items: Vec<&str> = text.split(',').map(str::trim).collect();
    // as in a Python tuple, a trailing comma is allowed
    let items = match &items[..] {
        [""] => &[],
        [some @ .., ""] => some,
        all => all,
    };
    let mut parser = SliceParser { singles, ranges: Vec::with_capacity(items.len()), places: Vec::new() };
    let (axes, names) = if items.iter().any(|item| item.contains('=')) {
        (Vec::new(), parser.by_names(items).map_err(refuse)?)
    } else {
        let is_ellipsis = |item: &&str| matches!(*item, "..." | "…");
        let first = items.iter().position(is_ellipsis).unwrap_or(items.len());
        let last = items.get(first + 1..).unwrap_or_default();
        if last.iter().any(is_ellipsis) {
            return Err(refuse("'...' may occur only once".to_owned()));
        }
        items[..first].iter().chain(last).try_for_each(|item| parser.push(item)).map_err(refuse)?;
        ((0..first as i64).chain(-(last.len() as i64)..0).collect(), Vec::new())
    };
    Ok((SliceArgs { ranges: parser.ranges, axes, names, ..SliceArgs::default() }, parser.places))
}

struct SliceParser {
    singles: Singles,
    ranges: Vec<StepRange>,
    places: Vec<(usize, i64)>,
}

impl SliceParser {
    fn by_names(&mut self, items: &[&str]) -> Result<Vec<String>, String> {
        let mut names: Vec<String> = Vec::with_capacity(items.len());
        for item in items {
            let Some((name, slice)) = item.split_once('=').map(|(name, slice)| (name.trim(), slice.trim())) else {
                return Err(format!("'{item}' has no name: slices by name and by position do not go together"));
            };
            if name.is_empty() {
                return Err(format!("'{item}': the name of a dimension is missing before '='"));
            }
            if names.iter().any(|other| other == name) {
                return Err(format!("{name} is named twice"));
            }
            self.push(slice).map_err(|message| format!("{name}: {message}"))?;
            names.push(name.to_owned());
        }
        Ok(names)
    }

    fn push(&mut self, item: &str) -> Result<(), String> {
        let range = match integer(item, BeyondInt64::Refused) {
            Some(Ok(place)) if self.singles == Singles::Taken => {
                self.places.push((self.ranges.len(), place));
                let stop = place.checked_add(1).filter(|stop| *stop != 0);
                StepRange { start: Some(place), stop, step: 1 }
            }
            _ => range(item)?,
        };
        self.ranges.push(range);
        Ok(())
    }
}

fn range(item: &str) -> Result<StepRange, String> {
    let parts: Vec<&str> = item.split(':').map(str::trim).collect();
    let number = |part: &str| {
        let value = || integer(part, BeyondInt64::Clamped).ok_or_else(|| format!("'{part}' is not an integer"))?;
        (!part.is_empty()).then(value).transpose()
    };
    match &parts[..] {
        [""] => Err("a slice is missing between two commas".to_owned()),
        [one] => match integer(one, BeyondInt64::Refused) {
            Some(Ok(-1)) => Err("an integer alone would drop its axis: for -1 use -1:".to_owned()),
            Some(Ok(i64::MAX)) => Err(format!("an integer alone would drop its axis: for {one} use {one}:")),
            Some(Ok(i)) => Err(format!("an integer alone would drop its axis: for {i} use {i}:{}", i + 1)),
            Some(Err(error)) => Err(error),
            None if ["None", "newaxis", "np.newaxis"].contains(one) => {
                Err(format!("{one} would add an axis, which is not supported"))
            }
            None => Err(format!("'{one}' is not a slice")),
        },
        [start, stop] => Ok(StepRange { start: number(start)?, stop: number(stop)?, step: 1 }),
        [start, stop, step] => {
            Ok(StepRange { start: number(start)?, stop: number(stop)?, step: number(step)?.unwrap_or(1) })
        }
        _ => Err(format!("'{item}' has more than two colons")),
    }
}

/// Reads an integer as specifications write it; `None` if it is missing.
pub fn integer(text: &str, beyond: BeyondInt64) -> Option<Result<i64, String>> {
    match text {
        "INT_MAX" => return Some(Ok(i64::MAX)),
        "INT_MIN" => return Some(Ok(i64::MIN)),
        _ => {}
    }
    let digits = text.strip_prefix(['-', '+']).unwrap_or(text);
    let is_integer = !digits.is_empty() && digits.bytes().all(|b| b.is_ascii_digit());
    is_integer.then(|| match (text.parse(), beyond) {
        (Ok(number), _) => Ok(number),
        (Err(_), BeyondInt64::Refused) => Err(format!("{text} is beyond int64")),
        (Err(_), BeyondInt64::Clamped) => Ok(if text.starts_with('-') { i64::MIN } else { i64::MAX }),
    })
}

fn check_length(subject: Subject, list: &[i64], starts: usize) -> Result<()> {
    if list.len() == starts {
        return Ok(());
    }
    Err(Error::new(subject, format!("{}, expected {starts} as in start", counted(list.len(), "entry", "entries"))))
}

/// Copies a slice of `data`, of the same rank (OpenVINO Slice-8).
///
/// ```
/// use ndarray::array;
/// use tensorop_kernels::slice;
/// let data = array![[0, 1, 2, 3, 4], [5, 6, 7, 8, 9]];
/// assert_eq!(slice(&data, &":, 1:4:2".parse()?)?, array![[1, 3], [6, 8]]);
/// # Ok::<(), tensorop_kernels::Error>(())
/// ```
///
/// # Errors
/// The slice does not fit.
pub fn slice<T: Copy, D: Dimension>(data: &ArrayBase<impl Data<Elem = T>, D>, args: &SliceArgs) -> Result<Array<T, D>> {
    let spans = args.resolve(data.shape())?;
    Output::view(Strided::of(data).select(&spans), Items::single()).to_array()
}

/// Copies a slice of `data` to `out`, as [`slice`](crate::slice()) returns it (OpenVINO Slice-8).
///
/// `out` has the shape of the slice and any layout.
///
/// ```
/// use ndarray::{Array2, array, s};
/// use tensorop_kernels::slice_into;
/// let data = array![[0, 1, 2, 3, 4], [5, 6, 7, 8, 9]];
/// // two columns of a larger array
/// let mut out = Array2::zeros((2, 3));
/// slice_into(&data, &":, 1:4:2".parse()?, out.slice_mut(s![.., 1..]))?;
/// assert_eq!(out, array![[0, 1, 3], [0, 6, 8]]);
/// # Ok::<(), tensorop_kernels::Error>(())
/// ```
///
/// # Errors
/// The slice does not fit, or `out` has another shape ([`Subject::Output`]).
pub fn slice_into<T: Copy, D: Dimension>(
    data: &ArrayBase<impl Data<Elem = T>, D>,
    args: &SliceArgs,
    out: ArrayViewMut<'_, T, D>,
) -> Result<()> {
    let spans = args.resolve(data.shape())?;
    Output::view(Strided::of(data).select(&spans), Items::single()).to_view(out)
}

impl Tensor {
    /// Copies a slice of a tensor of any dtype.
    ///
    /// ```
    /// use tensorop_kernels::{DType, Tensor};
    /// let tensor = Tensor::new(DType::parse("S2")?, vec![3], b"aabbcc".to_vec())?;
    /// assert_eq!(tensor.slice(&"::-2".parse()?)?.bytes(), b"ccaa");
    /// # Ok::<(), tensorop_kernels::Error>(())
    /// ```
    ///
    /// # Errors
    /// The slice does not fit, or memory runs out.
    pub fn slice(&self, args: &SliceArgs) -> Result<Self> {
        self.viewed(&View::c_order(self.shape()).select(&args.resolve(self.shape())?))
    }

    pub(super) fn viewed(&self, view: &View) -> Result<Self> {
        let (shape, itemsize) = (view.shape(), self.dtype().itemsize());
        let mut bytes = memory::zeros(view.items() * itemsize)?;
        copy_bytes(self.bytes(), view, &mut bytes, &View::c_order(&shape), itemsize);
        Self::new(self.dtype().clone(), shape, bytes)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use ndarray::{ArrayD, IxDyn};

    fn ten() -> ArrayD<i32> {
        ArrayD::from_shape_fn(IxDyn(&[10]), |i| i[0] as i32)
    }

    #[test]
    fn the_specifications_examples() {
        // Slice-8's examples
        type Row<'a> = (i64, i64, i64, Option<&'a [i64]>, &'a [i32]);
        let rows: &[Row] = &[
            (1, 8, 1, Some(&[0]), &[1, 2, 3, 4, 5, 6, 7]),
            (1, 8, 1, None, &[1, 2, 3, 4, 5, 6, 7]),
            (1, 8, 2, Some(&[0]), &[1, 3, 5, 7]),
            (-100, 100, 1, Some(&[0]), &[0, 1, 2, 3, 4, 5, 6, 7, 8, 9]),
            (9, -11, -1, Some(&[0]), &[9, 8, 7, 6, 5, 4, 3, 2, 1, 0]),
            (9, 0, -1, Some(&[0]), &[9, 8, 7, 6, 5, 4, 3, 2, 1]),
            (9, -10, -1, Some(&[0]), &[9, 8, 7, 6, 5, 4, 3, 2, 1]),
            (9, -11, -2, Some(&[0]), &[9, 7, 5, 3, 1]),
            (100, -100, -1, Some(&[0]), &[9, 8, 7, 6, 5, 4, 3, 2, 1, 0]),
            (-11, i64::MIN, -1, None, &[]),
            (9, i64::MAX, -1, None, &[]),
            (9, i32::MIN as i64, -4, None, &[9, 5, 1]),
            (0, i64::MAX, i64::MAX, None, &[0]),
        ];
        let mut failed = Vec::new();
        for (start, stop, step, axes, output) in rows {
            let args = SliceArgs::new(&[*start], &[*stop]).and_then(|args| args.with_steps(&[*step])).unwrap();
            let args = axes.map_or(Ok(args.clone()), |axes| args.with_axes(axes)).unwrap();
            let got = slice(&ten(), &args).unwrap();
            if got.as_slice() != Some(output) {
                failed.push(format!("{args:?}: {got}"));
            }
        }
        assert!(failed.is_empty(), "{failed:#?}");
    }

    #[test]
    fn more_axes() {
        let data = ArrayD::from_shape_fn(IxDyn(&[20, 10, 5]), |i| i[0] * 50 + i[1] * 5 + i[2]);
        let all = SliceArgs::new(&[0, 0, 0], &[4, 10, 5]).and_then(|args| args.with_axes(&[0, 1, 2])).unwrap();
        let last_whole = SliceArgs::new(&[0, 0], &[4, 10]).and_then(|args| args.with_steps(&[1, 1])).unwrap();
        let expected = ArrayD::from_shape_fn(IxDyn(&[4, 10, 5]), |i| i[0] * 50 + i[1] * 5 + i[2]);
        assert_eq!(slice(&data, &all).unwrap(), expected);
        assert_eq!(slice(&data, &last_whole).unwrap(), expected);
        assert_eq!(slice(&data, &SliceArgs::default()).unwrap(), data);
        let every_third = SliceArgs::default().axis(-1, StepRange::from(-1..0).by(-3));
        let transposed = slice(&data.t(), &every_third).unwrap();
        assert_eq!(transposed.shape(), [5, 10, 7]);
        assert_eq!(transposed[[4, 9, 6]], data[[1, 9, 4]]);
    }

    #[test]
    fn refused() {
        let message = |args: Result<SliceArgs>| {
            args.and_then(|args| args.resolve(&[2, 0]))
                .map_or_else(|error| error.to_string(), |spans| format!("{spans:?}"))
        };
        let lists = |start: &[i64], stop: &[i64]| SliceArgs::new(start, stop);
        let one = || lists(&[0], &[1]).unwrap();
        let two = || lists(&[0, 0], &[1, 1]).unwrap();
        let rows = [
            (lists(&[0], &[]), "stop: 0 entries, expected 1 as in start"),
            (one().with_steps(&[1, 1]), "step: 2 entries, expected 1 as in start"),
            (one().with_axes(&[]), "axes: 0 entries, expected 1 as in start"),
            (lists(&[0, 0, 0], &[1, 1, 1]), "start: 3 entries for data of rank 2 ([2, 0])"),
            ("0:1,0:1,0:1".parse(), "at: 3 entries for data of rank 2 ([2, 0])"),
            (one().with_axes(&[2]), "axes: axis 2 at position 0, expected one of [-2, 1] (data [2, 0])"),
            (one().with_axes(&[-3]), "axes: axis -3 at position 0, expected one of [-2, 1] (data [2, 0])"),
            (two().with_axes(&[1, -1]), "axes: axis 1 is named twice: 1 at position 0, -1 at position 1 (data [2, 0])"),
            (two().with_steps(&[1, 0]), "step: step 0 at position 1: a step cannot be 0"),
            (
                Ok(SliceArgs::default().axis(1, StepRange::from(..).by(0))),
                "at: step 0 at position 0: a step cannot be 0",
            ),
        ];
        for (args, expected) in rows {
            assert_eq!(message(args), expected);
        }
        let scalar = SliceArgs::default().resolve(&[]).unwrap_err();
        assert_eq!(scalar.to_string(), "data: rank 0, expected at least 1 axis");
    }

    #[test]
    fn notation() {
        let all = SliceArgs::default;
        let rows = [
            ("", all()),
            (":", all().axis(0, ..)),
            ("1:8:2, ..., ::-1", all().axis(0, StepRange::from(1..8).by(2)).axis(-1, StepRange::from(..).by(-1))),
            ("-3:4", all().axis(0, -3..4)),
            (" 0 : INT_MAX : 3 ,", all().axis(0, StepRange::from(0..i64::MAX).by(3))),
            ("...", all()),
            ("…,5:INT_MIN:-1", all().axis(-1, StepRange { start: Some(5), stop: Some(i64::MIN), step: -1 })),
            ("::,1:,:2", all().axis(0, ..).axis(1, 1..).axis(2, ..2)),
            ("1:2:", all().axis(0, 1..2)),
            ("+1:+8:+2", all().axis(0, StepRange::from(1..8).by(2))),
        ];
        for (text, expected) in rows {
            assert_eq!(text.parse(), Ok(expected), "{text}");
        }
    }

    #[test]
    fn what_is_no_notation() {
        let rows = [
            ("3", "an integer alone would drop its axis: for 3 use 3:4"),
            ("0:1,-1", "an integer alone would drop its axis: for -1 use -1:"),
            ("-3", "an integer alone would drop its axis: for -3 use -3:-2"),
            ("1:2:3:4", "'1:2:3:4' has more than two colons"),
            ("a:2", "'a' is not an integer"),
            ("1.5:2", "'1.5' is not an integer"),
            ("None", "None would add an axis, which is not supported"),
            ("...,...", "'...' may occur only once"),
            (":,,:", "a slice is missing between two commas"),
            (",", "a slice is missing between two commas"),
            ("9223372036854775808", "9223372036854775808 is beyond int64"),
            ("x", "'x' is not a slice"),
            ("[0:1]", "slices are written without brackets: 1:8:2, ..., ::-1"),
            ("INT_MAX", "an integer alone would drop its axis: for INT_MAX use INT_MAX:"),
        ];
        for (text, message) in rows {
            let refused = text.parse::<SliceArgs>().unwrap_err();
            assert_eq!((refused.subject(), refused.message()), (Subject::At, message), "{text}");
        }
    }

    #[test]
    fn tensors_of_any_dtype() {
        for (dtype, itemsize) in [("int8", 1), ("<i2", 2), ("S3", 3), ("complex128", 16), ("S0", 0)] {
            let item = |n: u8| vec![n; itemsize];
            let tensor = |shape: &[usize], items: &[u8]| {
                let bytes = items.iter().copied().flat_map(item).collect();
                Tensor::new(crate::DType::parse(dtype).unwrap(), shape.to_vec(), bytes).unwrap()
            };
            let data = tensor(&[2, 3], &[0, 1, 2, 3, 4, 5]);
            let args = "::-1, 1:".parse().unwrap();
            assert_eq!(data.slice(&args).unwrap(), tensor(&[2, 2], &[4, 5, 1, 2]), "{dtype}");
        }
    }
}
