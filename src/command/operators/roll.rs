//! The sub-command `roll`.

use anyhow::Result;
use clap::{Args, ValueHint};

use super::operation::Operation;
use crate::command::operands::list_options::number_or_list;
use crate::command::options::{DATA, IndexList, Operand, OperatorOptions, data_help};
use crate::command::process::io::{Io, Outcome};
use crate::ops::call::Call;

/// Move the places of axes on, the last ones to the beginning (OpenVINO Roll-7)
///
/// Each place of an axis moves on by the number of --shift for it, back if that is negative. What leaves the axis at one end
/// comes in at the other. An axis that --axes names twice adds its shifts.
///
/// Shape of the output: that of DATA.
#[derive(Args)]
#[command(override_usage = "tensorop roll [OPTIONS] --shift <I> <DATA>", after_long_help = EXAMPLES)]
pub(crate) struct Roll {
    /// The tensor whose places move
    #[arg(value_name = "DATA", value_parser = DATA.parser(), allow_negative_numbers = true, value_hint = ValueHint::FilePath, long_help = data_help("The tensor to roll."))]
    pub data: Operand,
    /// The number of places to move each of --axes by, or one number for all, such as 1,-2 or a file
    #[arg(long, value_name = "I", value_parser = IndexList::parser(), value_hint = ValueHint::FilePath, help_heading = HEADING)]
    pub shift: IndexList,
    /// The axes that move, such as 0,-1 or a file [default: DATA as one axis, in C order]
    #[arg(long, value_name = "I", value_parser = IndexList::parser(), value_hint = ValueHint::FilePath, help_heading = HEADING)]
    pub axes: Option<IndexList>,
    #[command(flatten)]
    pub options: OperatorOptions,
}

const HEADING: &str = "Roll";

const EXAMPLES: &str = "\
Examples:
  tensorop roll image.npy --shift 10,-5 --axes 0,1 -o moved.npy   # np.roll(image, (10, -5), (0, 1))
  tensorop roll spectrum.npy --shift 512 --axes -1                # np.fft.fftshift of 1024 bins
  tensorop roll '[[1,2,3],[4,5,6]]' --shift 1";

impl Roll {
    pub(crate) fn run(&self, io: &Io) -> Result<Outcome> {
        let operation = Operation::begin(io, &self.data, None, &self.options)?;
        let list = |list, option| number_or_list(&operation.reader, list, option);
        let shift = list(&self.shift, "--shift")?;
        let axes = self.axes.as_ref().map(|axes| list(axes, "--axes")).transpose()?;
        operation.open()?.run("roll (OpenVINO Roll-7)", &Call::Roll { shift, axes })
    }
}
