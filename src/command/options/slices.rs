//! Which places of which axes: `--start`, `--stop`, `--step` and `--axes`, or `--at`.

use clap::{ArgGroup, Args, ValueHint};

use super::at;
use super::index_list::IndexList;
use crate::ops::slice::SliceArgs;

#[derive(Debug, Args)]
#[command(next_help_heading = "Slice", group = ArgGroup::new("range").args(["start", "at"]).required(true))]
pub(crate) struct SliceOptions {
    /// The first place on each axis: 0,1 or [0,1] or a file
    ///
    /// A list of integers such as 0,1 or [0,-1], or the path of a 1-D integer tensor. INT_MAX and INT_MIN are the
    /// extremes of int64. An empty value (--start=) is the empty list.
    #[arg(long, value_name = "I", value_parser = IndexList::parser(), allow_hyphen_values = true, requires = "stop", value_hint = ValueHint::FilePath)]
    pub start: Option<IndexList>,
    /// The place before which to stop on each axis, as --start
    ///
    /// INT_MAX is the end of any axis; INT_MIN takes its begin in, too, when the step is negative.
    #[arg(long, value_name = "I", value_parser = IndexList::parser(), allow_hyphen_values = true, requires = "start", value_hint = ValueHint::FilePath)]
    pub stop: Option<IndexList>,
    /// From one place to the next on each axis, as --start [default: 1 for each]
    #[arg(long, value_name = "I", value_parser = IndexList::parser(), allow_hyphen_values = true, requires = "start", value_hint = ValueHint::FilePath)]
    pub step: Option<IndexList>,
    /// The axes that start, stop and step are for, as --start [default: 0,1,..]
    #[arg(long, value_name = "I", value_parser = IndexList::parser(), allow_hyphen_values = true, requires = "start", value_hint = ValueHint::FilePath)]
    pub axes: Option<IndexList>,
    /// Slices in NumPy's notation, such as '1:8:2, ..., ::-1'
    ///
    /// Basic slices of NumPy, one an axis; axes not named are taken whole. An integer alone would drop its axis and
    /// is refused: write 3:4 for 3, and `-1:` for -1.
    #[arg(long, value_name = "SLICES", value_parser = at::parse, value_hint = ValueHint::Other, allow_hyphen_values = true, conflicts_with_all = ["start", "stop", "step", "axes"])]
    pub at: Option<SliceArgs>,
}
