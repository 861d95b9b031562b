//! The options for slices: `--at` in NumPy's notation, or lists for `--start`, `--stop`, `--step` and `--axes`.

use std::ffi::OsString;
use std::path::PathBuf;
use std::str::FromStr;

use clap::builder::{OsStringValueParser, TypedValueParser};
use clap::{ArgGroup, Args, ValueHint};

use crate::error::Error;
use crate::layout::axis::BeyondInt64;
use crate::ops::slice::{SliceArgs, integer};

/// A list of integers: `0,1`, `[0,1]`, or the path of a tensor.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum IndexList {
    List(Vec<i64>),
    File(PathBuf),
}

impl IndexList {
    pub(crate) fn parser() -> impl TypedValueParser<Value = Self> {
        OsStringValueParser::new().try_map(|text| Self::parse(text, BeyondInt64::Refused))
    }

    /// Clamps integers beyond int64.
    fn clamping_parser() -> impl TypedValueParser<Value = Self> {
        OsStringValueParser::new().try_map(|text| Self::parse(text, BeyondInt64::Clamped))
    }

    pub(super) fn parse(text: OsString, beyond: BeyondInt64) -> Result<Self, String> {
        let Some(typed) = text.to_str() else { return Ok(Self::File(text.into())) };
        let trimmed = typed.trim();
        let inner = trimmed.strip_prefix('[').and_then(|t| t.strip_suffix(']'));
        let list = inner.unwrap_or(trimmed).trim();
        if list.is_empty() {
            return Ok(Self::List(Vec::new()));
        }
        let numbers: Option<Vec<_>> = list.split(',').map(|item| integer(item.trim(), beyond)).collect();
        match numbers {
            Some(numbers) => numbers.into_iter().collect::<Result<_, _>>().map(Self::List),
            None if trimmed.starts_with('[') => {
                Err("not a list of integers (write ./[... for a file of that name)".to_owned())
            }
            None if trimmed == "-" => Err("standard input holds operands only".to_owned()),
            None => Ok(Self::File(text.into())),
        }
    }
}

/// Slices in NumPy's notation, such as `1:8:2, ..., ::-1`, or a basic index.
#[derive(Clone)]
pub(crate) struct At<T = SliceArgs> {
    pub text: String,
    pub args: T,
}

impl<T: FromStr<Err = Error>> FromStr for At<T> {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        // probably an unset shell variable
        if text.trim().is_empty() {
            return Err("no slices: `:` takes every axis whole".to_owned());
        }
        let args = text.parse().map_err(|error: Error| error.message().to_owned())?;
        Ok(Self { text: text.split_whitespace().collect::<Vec<_>>().join(" "), args })
    }
}

/// The options that name slices of a tensor.
#[derive(Args)]
#[command(next_help_heading = "Slice", group = ArgGroup::new("range").args(["start", "at"]).multiple(true).required(true))]
pub(crate) struct SliceOptions {
    /// The first place on each axis: 0,1 or [0,1] or a file
    ///
    /// A list of integers such as 0,1 or [0,-1], or the path of a 1-D integer tensor. Integers of any size are clamped to the
    /// axis; INT_MAX and INT_MIN are the extremes of int64. An empty value (--start=) is the empty list.
    #[arg(long, value_name = "I", value_parser = IndexList::clamping_parser(), requires = "stop", value_hint = ValueHint::FilePath)]
    pub start: Option<IndexList>,
    /// The place before which to stop on each axis, like --start
    ///
    /// INT_MAX is the end of any axis. With a negative step, INT_MIN includes the first place.
    #[arg(long, value_name = "I", value_parser = IndexList::clamping_parser(), requires = "start", value_hint = ValueHint::FilePath)]
    pub stop: Option<IndexList>,
    /// The step from one place to the next on each axis, like --start [default: 1 for each]
    #[arg(long, value_name = "I", value_parser = IndexList::clamping_parser(), requires = "start", value_hint = ValueHint::FilePath)]
    pub step: Option<IndexList>,
    /// The axes of --start, --stop and --step, in the same notation [default: 0,1,..]
    #[arg(long, value_name = "I", value_parser = IndexList::parser(), requires = "start", value_hint = ValueHint::FilePath)]
    pub axes: Option<IndexList>,
    /// Slices in NumPy's notation, such as '1:8:2, ..., ::-1'
    ///
    /// Basic slices of NumPy, one for each axis; axes that are not named are taken whole. A single integer would drop its
    /// axis and is refused: write 3:4 for 3, and `-1:` for -1.
    ///
    /// If the dimensions have names, as in Zarr stores, they can be used: time=2:4,lat=::2. Given a group of several
    /// tensors, `slice` then slices all tensors that have one of the dimensions, and copies the others.
    #[arg(long, value_name = "SLICES", conflicts_with_all = ["start", "stop", "step", "axes"])]
    pub at: Option<At>,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lists_and_files() {
        let list = |numbers: &[i64]| Ok(IndexList::List(numbers.to_vec()));
        let rows = [
            ("0,1", list(&[0, 1])),
            ("-1,-2", list(&[-1, -2])),
            ("[0, 1]", list(&[0, 1])),
            ("[]", list(&[])),
            ("", list(&[])),
            ("+1,[", Ok(IndexList::File("+1,[".into()))),
            ("+1,-2", list(&[1, -2])),
            ("[+0]", list(&[0])),
            ("+-1", Ok(IndexList::File("+-1".into()))),
            ("INT_MAX", list(&[i64::MAX])),
            ("[INT_MIN,-9223372036854775808]", list(&[i64::MIN, i64::MIN])),
            ("9223372036854775808", Err("9223372036854775808 is beyond int64".to_owned())),
            ("[1.5]", Err("not a list of integers (write ./[... for a file of that name)".to_owned())),
            ("-", Err("standard input holds operands only".to_owned())),
            ("starts.npy", Ok(IndexList::File("starts.npy".into()))),
            ("./1", Ok(IndexList::File("./1".into()))),
            ("1,", Ok(IndexList::File("1,".into()))),
        ];
        for (text, expected) in rows {
            assert_eq!(IndexList::parse(text.into(), BeyondInt64::Refused), expected, "{text}");
        }
        for (text, number) in [("18446744073709551616", i64::MAX), ("[-9223372036854775809]", i64::MIN)] {
            assert_eq!(IndexList::parse(text.into(), BeyondInt64::Clamped), list(&[number]), "{text}");
        }
    }
}
