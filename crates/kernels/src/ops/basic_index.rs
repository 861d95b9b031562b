//! NumPy's basic indexing, for commands that show tensors.

use std::str::FromStr;

use super::slice::{Singles, SliceArgs, parse};
use crate::error::{Error, Subject};
use crate::layout::axis::{Span, resolve_axis};

/// Slices and single places, `3, ..., ::2`, or by dimension names, `time=3, lat=::2`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct BasicIndex {
    slices: SliceArgs,
    /// Each single place with its number in `slices`.
    places: Vec<(usize, i64)>,
}

/// The places of an index as NumPy has it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ResolvedIndex {
    /// The places along each axis.
    pub spans: Vec<Span>,
    /// The axes that a number was given for, ascending; the result does not have them.
    pub dropped: Vec<usize>,
}

impl FromStr for BasicIndex {
    type Err = Error;

    fn from_str(text: &str) -> Result<Self, Error> {
        let (slices, places) = parse(text, Singles::Taken)?;
        Ok(Self { slices, places })
    }
}

impl BasicIndex {
    /// Resolves the index for a shape and the names of its dims.
    ///
    /// # Errors
    /// The index does not fit.
    pub fn resolve(&self, shape: &[usize], dims: &[Option<String>]) -> Result<ResolvedIndex, Error> {
        self.slices.check_dims(dims)?;
        let slices = self.slices.with_dims_as_axes(dims).taking_scalars();
        let spans = slices.resolve(shape)?;
        let mut dropped = Vec::with_capacity(self.places.len());
        for &(number, place) in &self.places {
            let axis = slices.axis_of(number, shape.len()).expect("the axes were resolved");
            let dim = shape[axis];
            if resolve_axis(place, dim).is_none() {
                let name = dims.get(axis).and_then(Option::as_deref).map_or(String::new(), |name| format!(" ({name})"));
                let range = match dim {
                    0 => "which has no places".to_owned(),
                    _ => format!("expected -{dim} to {}", dim - 1),
                };
                let message = format!("there is no place {place} on axis {axis}{name}, {range} (shape {shape:?})");
                return Err(Error::new(Subject::At, message));
            }
            dropped.push(axis);
        }
        dropped.sort_unstable();
        Ok(ResolvedIndex { spans, dropped })
    }
}

impl ResolvedIndex {
    /// All of a tensor.
    pub fn whole(shape: &[usize]) -> Self {
        Self { spans: shape.iter().map(|&dim| Span::whole(dim)).collect(), dropped: Vec::new() }
    }

    /// The axes of the result.
    pub fn kept(&self) -> Vec<usize> {
        (0..self.spans.len()).filter(|axis| self.dropped.binary_search(axis).is_err()).collect()
    }

    /// The dims of the result.
    pub fn shape(&self) -> Vec<usize> {
        self.kept().into_iter().map(|axis| self.spans[axis].len).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn slices_and_single_places() {
        let dims = ["time", "lat", "lon"].map(|name| Some(name.to_owned()));
        type Row<'a> = (&'a str, [(usize, usize); 3], &'a [usize]);
        let rows: [Row<'_>; 14] = [
            ("", [(0, 4), (0, 5), (0, 6)], &[]),
            ("1", [(1, 1), (0, 5), (0, 6)], &[0]),
            ("-1", [(3, 1), (0, 5), (0, 6)], &[0]),
            ("-4", [(0, 1), (0, 5), (0, 6)], &[0]),
            ("+3,", [(3, 1), (0, 5), (0, 6)], &[0]),
            ("1, ..., ::2", [(1, 1), (0, 5), (0, 3)], &[0]),
            ("..., -2", [(0, 4), (0, 5), (4, 1)], &[2]),
            ("..., 1, 2:4", [(0, 4), (1, 1), (2, 2)], &[1]),
            ("1:2, 3, 0", [(1, 1), (3, 1), (0, 1)], &[1, 2]),
            ("3, 4, 5", [(3, 1), (4, 1), (5, 1)], &[0, 1, 2]),
            ("time=3", [(3, 1), (0, 5), (0, 6)], &[0]),
            ("lon=-1, time=1:3", [(1, 2), (0, 5), (5, 1)], &[2]),
            ("lon=0,lat=4", [(0, 4), (4, 1), (0, 1)], &[1, 2]),
            ("lat=::-1, time=0", [(0, 1), (4, 5), (0, 6)], &[0]),
        ];
        for (text, expected, dropped) in rows {
            let found = text.parse::<BasicIndex>().expect(text).resolve(&[4, 5, 6], &dims).expect(text);
            let spans: Vec<_> = found.spans.iter().map(|span| (span.start, span.len)).collect();
            assert_eq!((&spans[..], &found.dropped[..]), (&expected[..], dropped), "{text}");
        }
    }

    #[test]
    fn refused() {
        let dims = [Some("time".to_owned()), None];
        let rows = [
            ("4", "at: there is no place 4 on axis 0 (time), expected -4 to 3 (shape [4, 0])"),
            ("-5", "at: there is no place -5 on axis 0 (time), expected -4 to 3 (shape [4, 0])"),
            (
                "time=INT_MAX",
                "at: there is no place 9223372036854775807 on axis 0 (time), expected -4 to 3 (shape [4, 0])",
            ),
            ("INT_MIN", "at: there is no place -9223372036854775808 on axis 0 (time), expected -4 to 3 (shape [4, 0])"),
            ("..., 0", "at: there is no place 0 on axis 1, which has no places (shape [4, 0])"),
            ("1, 2, 3", "at: 3 entries for data of rank 2 ([4, 0])"),
            ("lat=3", "at: no dimension is called lat: there are time"),
            ("None", "at: None would add an axis, which is not supported"),
            ("9223372036854775808", "at: 9223372036854775808 is beyond int64"),
            ("time=1, 2", "at: '2' has no name: slices by name and by position do not go together"),
            ("time=1, time=2", "at: time is named twice"),
            ("x", "at: 'x' is not a slice"),
        ];
        for (text, expected) in rows {
            let found = text.parse::<BasicIndex>().and_then(|index| index.resolve(&[4, 0], &dims));
            assert_eq!(found.map_err(|error| error.to_string()), Err(expected.to_owned()), "{text}");
        }
    }
}
