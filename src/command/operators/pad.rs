//! The sub-command `pad`.

use anyhow::{Result, ensure};
use clap::{Args, ValueHint};

use super::operation::Operation;
use crate::command::operands::list_options::index_list;
use crate::command::options::{DATA, IndexList, Operand, OperatorOptions, OptionWord, data_help, parse_words, word};
use crate::command::process::io::{Io, Outcome};
use crate::ops::call::Call;
use crate::ops::operators::pad::PadMode;

/// Add places before and behind the axes of a tensor (ONNX Pad 2 to 25, OpenVINO Pad-1, Pad-12)
///
/// --before and --after have a number for each axis of DATA, or of --axes: how many places are added in front of its first
/// place and behind its last one. A negative number takes places away, before any are added.
///
/// Shape of the output: that of DATA, with both numbers added to each dim.
#[derive(Args)]
#[command(override_usage = "tensorop pad [OPTIONS] --before <I> --after <I> <DATA>", after_long_help = EXAMPLES)]
pub(crate) struct Pad {
    /// The tensor to which places are added
    #[arg(value_name = "DATA", value_parser = DATA.parser(), allow_negative_numbers = true, value_hint = ValueHint::FilePath, long_help = data_help("The tensor to pad."))]
    pub data: Operand,
    /// The number of places to add before each axis, such as 1,1 or a file; negative takes away
    #[arg(long, value_name = "I", value_parser = IndexList::parser(), value_hint = ValueHint::FilePath, help_heading = HEADING)]
    pub before: IndexList,
    /// The number of places to add behind each axis, such as 1,1 or a file; negative takes away
    #[arg(long, value_name = "I", value_parser = IndexList::parser(), value_hint = ValueHint::FilePath, help_heading = HEADING)]
    pub after: IndexList,
    /// The axes of these numbers, such as 0,-1 or a file [default: all]
    #[arg(long, value_name = "I", value_parser = IndexList::parser(), value_hint = ValueHint::FilePath, help_heading = HEADING)]
    pub axes: Option<IndexList>,
    /// The items of the new places
    ///
    /// Modes that mirror or wrap an axis go on doing so if more places are added than it has, like NumPy. Only constant adds
    /// places to an axis of length 0.
    #[arg(long, value_name = "MODE", value_parser = parse_words(modes()), default_value = "constant", help_heading = HEADING)]
    pub mode: PadMode,
    /// The item of new places in mode constant [default: 0, false, an empty string, NaT]
    ///
    /// The value has the dtype of DATA: a number such as -1 (also nan, inf, -inf), true or false, [re, im], a
    /// text or a date.
    #[arg(long, value_name = "VALUE", help_heading = HEADING)]
    pub fill: Option<String>,
    #[command(flatten)]
    pub options: OperatorOptions,
}

const HEADING: &str = "Pad";

fn modes() -> Vec<OptionWord<PadMode>> {
    vec![
        word("constant", "The value of --fill", PadMode::Constant),
        word("edge", "The first or last place of the axis", PadMode::Edge),
        word("reflect", "The axis mirrored, without its first or last place", PadMode::Reflect),
        word("symmetric", "The axis mirrored, with its first or last place", PadMode::Symmetric),
        word("wrap", "The axis from its other end", PadMode::Wrap),
    ]
}

const EXAMPLES: &str = "\
Examples:
  tensorop pad image.npy --before 1,1 --after 1,1 -o framed.npy        # np.pad(image, 1)
  tensorop pad signal.npy --before 4 --after 4 --axes -1 --mode reflect
  tensorop pad data.npy --before 0,2 --after 0,2 --fill nan
  tensorop pad '[1,2,3,4]' --before -1 --after 0                       # without the first place";

impl Pad {
    pub(crate) fn run(&self, io: &Io) -> Result<Outcome> {
        let (mode, fill) = (self.mode, self.fill.as_deref());
        ensure!(fill.is_none() || mode == PadMode::Constant, "--fill: only --mode constant adds it");
        let operation = Operation::begin(io, &self.data, None, &self.options)?.filled_with(fill);
        let list = |list, option| index_list(&operation.reader, list, option);
        let (before, after) = (list(&self.before, "--before")?, list(&self.after, "--after")?);
        let axes = self.axes.as_ref().map(|axes| list(axes, "--axes")).transpose()?;
        operation.open()?.run("pad (ONNX Pad, OpenVINO Pad-12)", &Call::Pad { before, after, axes, mode })
    }
}
