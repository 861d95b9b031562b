//! The sub-command `slice`.

use anyhow::Result;
use clap::{Args, ValueHint};

use super::destination::Destination;
use super::io::{Io, Outcome};
use super::options::{OperandArg, OperatorOptions, SliceOptions, data_help};
use super::sources::{DATA, OperandReader, explained};
use crate::ops::selection::Selection;

/// Take a slice of a tensor (OpenVINO Slice-8)
///
/// Takes the places start, start + step, ... before stop on each named axis, as Python's data[start:stop:step]
/// does: negative numbers count from the end, numbers beyond the axis are clamped, a negative step runs backwards.
/// Axes that are not named are taken whole.
///
/// Shape of the output: that of DATA, with the number of places taken on each named axis.
#[derive(Args)]
#[command(override_usage = "tensorop slice [OPTIONS] <DATA> <--start <I> --stop <I>|--at <SLICES>>", after_long_help = EXAMPLES)]
pub(super) struct Slice {
    /// The tensor to be sliced
    #[arg(value_name = "DATA", allow_negative_numbers = true, value_hint = ValueHint::FilePath, long_help = data_help("The tensor to be sliced."))]
    pub data: OperandArg,
    #[command(flatten)]
    pub slices: SliceOptions,
    #[command(flatten)]
    pub options: OperatorOptions,
}

const EXAMPLES: &str = "\
Examples:
  tensorop slice data.npy --start 0,1 --stop 2,4 --step 1,2
  tensorop slice data.npy --start -1 --stop INT_MIN --step -1 --axes -1     # reverse the last axis
  tensorop slice data.npy --at '..., 1:3' -o part.npy
  tensorop slice '[[0,1,2],[3,4,5]]' --at ':, ::2' --dtype float32 --to json

Only the bytes that the slice needs are read from a .npy file.";

impl Slice {
    /// Resolves the slice and writes the places of DATA that it names.
    pub(super) fn run(&self, io: &Io) -> Result<Outcome> {
        let OperatorOptions { input, output, run } = &self.options;
        let destination = Destination::of(io, output, run.quiet)?;
        let reader = OperandReader::new(io, input, &run.threads)?;
        let slices = reader.slices(&self.slices)?;
        let operand = DATA.of(&self.data);
        let data = reader.source(&operand)?;
        let spans = slices.resolve(data.shape()).map_err(|error| explained([&operand], error))?;
        let mut report = destination.report("slice (OpenVINO Slice-8)");
        report.source(&data);
        report.spans(&spans, data.shape());
        destination.put(Box::new(Selection::slice(data, &spans)), reader.limits, report)
    }
}
