//! Slice, as OpenVINO's [Slice-8](https://docs.openvino.ai/latest/documentation/openvino-ir-format/operation-sets/operation-specs/movement/slice-8.html)
//! specifies it: the places that Python's `data[start:stop:step]` takes on each axis.

use ndarray::{Array, ArrayBase, Data, Dimension};

use super::{check_rank, items};
use crate::error::{Error, Subject};
use crate::layout::axis::{Span, StepRange, resolve_axis};
use crate::layout::view::View;
use crate::layout::walk::copy;

/// The arguments of Slice and SliceScatter: a range for each of some axes. Axes not named are taken whole.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SliceArgs {
    ranges: Vec<StepRange>,
    /// The axis of each range; the first axes if `None`.
    axes: Option<Vec<i64>>,
    /// Whether they were given in NumPy's notation, for the messages.
    notation: bool,
}

impl SliceArgs {
    /// From the lists that the specifications name. `step` defaults to 1 everywhere, `axes` to `0..start.len()`.
    ///
    /// # Errors
    /// Lists of unequal length.
    pub fn new(start: &[i64], stop: &[i64], step: Option<&[i64]>, axes: Option<&[i64]>) -> Result<Self, Error> {
        let lists = [(Subject::Stop, Some(stop)), (Subject::Step, step), (Subject::Axes, axes)];
        for (subject, list) in lists {
            if let Some(list) = list.filter(|list| list.len() != start.len()) {
                let message = format!("{}, expected {} as in start", entries(list.len()), start.len());
                return Err(Error::new(subject, message));
            }
        }
        let range = |i: usize| StepRange { start: Some(start[i]), stop: Some(stop[i]), step: step.map_or(1, |s| s[i]) };
        Ok(Self { ranges: (0..start.len()).map(range).collect(), axes: axes.map(<[i64]>::to_vec), notation: false })
    }

    /// From NumPy's notation: ranges of the first axes, then of the last ones (what `...` divides).
    pub fn from_notation(first: Vec<StepRange>, last: Vec<StepRange>) -> Self {
        let back = -(last.len() as i64);
        let axes = (0..first.len() as i64).chain(back..0).collect();
        Self { ranges: [first, last].concat(), axes: Some(axes), notation: true }
    }

    /// One span for each axis of `shape`.
    ///
    /// # Errors
    /// Rank 0 or beyond the limit; more ranges than axes; an axis outside `[-rank, rank - 1]` or named twice;
    /// a step of 0.
    pub fn resolve(&self, shape: &[usize]) -> Result<Vec<Span>, Error> {
        let rank = check_rank(shape)?;
        let about = |subject| if self.notation { Subject::At } else { subject };
        if self.ranges.len() > rank {
            let message = format!("{} for data of rank {rank} ({shape:?})", entries(self.ranges.len()));
            return Err(Error::new(about(Subject::Start), message));
        }
        let mut spans: Vec<Span> = shape.iter().map(|&dim| Span::whole(dim)).collect();
        let mut named = vec![None; rank];
        for (i, range) in self.ranges.iter().enumerate() {
            let typed = self.axes.as_ref().map_or(i as i64, |axes| axes[i]);
            let axis = resolve_axis(typed, rank).ok_or_else(|| {
                let message =
                    format!("axis {typed} at position {i} is outside [-{rank}, {}] (data {shape:?})", rank - 1);
                Error::new(Subject::Axes, message)
            })?;
            if let Some((earlier, position)) = named[axis].replace((typed, i)) {
                let message =
                    format!("axis {axis} is named twice: {earlier} at position {position}, {typed} at position {i}");
                return Err(Error::new(Subject::Axes, message));
            }
            spans[axis] = range.resolve(shape[axis]).ok_or_else(|| {
                Error::new(about(Subject::Step), format!("step 0 at position {i}: a step cannot be 0"))
            })?;
        }
        Ok(spans)
    }

    /// The ranges as they were given, for messages about a tensor of that rank.
    pub(crate) fn describe(&self, rank: usize) -> String {
        let list = |what: &str, values: Vec<String>| match &values[..] {
            [one] => format!("{what} {one}"),
            _ => format!("{what} [{}]", values.join(", ")),
        };
        // what was left out is where a range begins or ends in its direction
        let number = |given: Option<i64>, default: &str| given.map_or(default.to_owned(), |v| v.to_string());
        let all = |f: &dyn Fn(&StepRange) -> String| self.ranges.iter().map(f).collect::<Vec<_>>();
        let axes = (0..self.ranges.len()).map(|i| {
            let typed = self.axes.as_ref().map_or(i as i64, |axes| axes[i]);
            resolve_axis(typed, rank).expect("the axes were resolved before they are described").to_string()
        });
        let axes: Vec<String> = axes.collect();
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

fn entries(n: usize) -> String {
    if n == 1 { "1 entry".to_owned() } else { format!("{n} entries") }
}

/// The part of `data` that `args` selects; it has `data`'s rank.
///
/// ```
/// use ndarray::array;
/// use tensorop::{SliceArgs, slice};
/// let data = array![[0, 1, 2, 3, 4], [5, 6, 7, 8, 9]];
/// let args = SliceArgs::new(&[0, 1], &[2, 4], Some(&[1, 2]), None)?;
/// assert_eq!(slice(&data, &args)?, array![[1, 3], [6, 8]]);
/// # Ok::<(), tensorop::Error>(())
/// ```
///
/// # Errors
/// Those of [`SliceArgs::resolve`].
pub fn slice<T, S, D>(data: &ArrayBase<S, D>, args: &SliceArgs) -> Result<Array<T, D>, Error>
where
    T: Copy,
    S: Data<Elem = T>,
    D: Dimension,
{
    let spans = args.resolve(data.shape())?;
    let view = View::c_order(data.shape()).select(&spans);
    let source = items(data);
    // every place is overwritten: the first item is only there to begin with
    let mut out = source.first().map_or(Vec::new(), |&first| vec![first; view.items()]);
    copy(&source, &view, &mut out, &View::c_order(&view.shape()));
    let mut dim = data.raw_dim();
    for (axis, span) in spans.iter().enumerate() {
        dim[axis] = span.len;
    }
    Ok(Array::from_shape_vec(dim, out).expect("one item for each selected place"))
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
        // start, stop, step, axes, output: examples 1 to 9 of Slice-8
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
            // beyond the document: Python's rules
            (-11, i64::MIN, -1, None, &[]),
            (9, i64::MAX, -1, None, &[]),
            (9, i32::MIN as i64, -4, None, &[9, 5, 1]),
            (0, i64::MAX, i64::MAX, None, &[0]),
        ];
        let mut failed = Vec::new();
        for (start, stop, step, axes, output) in rows {
            let args = SliceArgs::new(&[*start], &[*stop], Some(&[*step]), *axes).unwrap();
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
        let all = SliceArgs::new(&[0, 0, 0], &[4, 10, 5], Some(&[1, 1, 1]), Some(&[0, 1, 2])).unwrap();
        let last_whole = SliceArgs::new(&[0, 0], &[4, 10], Some(&[1, 1]), Some(&[0, 1])).unwrap();
        let expected = ArrayD::from_shape_fn(IxDyn(&[4, 10, 5]), |i| i[0] * 50 + i[1] * 5 + i[2]);
        assert_eq!(slice(&data, &all).unwrap(), expected);
        assert_eq!(slice(&data, &last_whole).unwrap(), expected);
        let nothing = SliceArgs::new(&[], &[], None, None).unwrap();
        assert_eq!(slice(&data, &nothing).unwrap(), data);
        let transposed = slice(&data.t(), &SliceArgs::new(&[-1], &[0], Some(&[-3]), Some(&[-1])).unwrap()).unwrap();
        assert_eq!(transposed.shape(), [5, 10, 7]);
        assert_eq!(transposed[[4, 9, 6]], data[[1, 9, 4]]);
    }

    #[test]
    fn refused() {
        let some = |start: &[i64], stop: &[i64], step: Option<&[i64]>, axes: Option<&[i64]>| {
            SliceArgs::new(start, stop, step, axes).and_then(|args| args.resolve(&[2, 0])).unwrap_err().to_string()
        };
        let rows = [
            (some(&[0], &[], None, None), "stop: 0 entries, expected 1 as in start"),
            (some(&[0], &[1], Some(&[1, 1]), None), "step: 2 entries, expected 1 as in start"),
            (some(&[0], &[1], None, Some(&[])), "axes: 0 entries, expected 1 as in start"),
            (some(&[0, 0, 0], &[1, 1, 1], None, None), "start: 3 entries for data of rank 2 ([2, 0])"),
            (some(&[0], &[1], None, Some(&[2])), "axes: axis 2 at position 0 is outside [-2, 1] (data [2, 0])"),
            (some(&[0], &[1], None, Some(&[-3])), "axes: axis -3 at position 0 is outside [-2, 1] (data [2, 0])"),
            (
                some(&[0, 0], &[1, 1], None, Some(&[1, -1])),
                "axes: axis 1 is named twice: 1 at position 0, -1 at position 1",
            ),
            (some(&[0, 0], &[1, 1], Some(&[1, 0]), None), "step: step 0 at position 1: a step cannot be 0"),
        ];
        for (got, expected) in rows {
            assert_eq!(got, expected);
        }
        let scalar = SliceArgs::new(&[], &[], None, None).unwrap().resolve(&[]).unwrap_err();
        assert_eq!(scalar.to_string(), "data: rank 0, expected at least 1 axis");
    }
}
