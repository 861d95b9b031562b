//! The sub-command `gather-elements`.

use anyhow::Result;
use clap::{Args, ValueHint};

use crate::command::operands::list_options::axis;
use crate::command::operators::operation::Operation;
use crate::command::options::{DATA, INDICES, IndexList, Operand, OperatorOptions, data_help};
use crate::command::process::io::{Io, Outcome};
use crate::ops::call::Call;

/// Take items by their indices along an axis (ONNX GatherElements 11, 13, OpenVINO GatherElements-6)
///
/// INDICES has an index for each item of the output: the place of the item on the axis of DATA. On all other axes the item
/// has the place of the index. So with axis 1 the output at [i][j][k] is DATA[i][INDICES[i][j][k]][k]. It is the
/// counterpart of scatter-elements, and NumPy's take_along_axis without broadcasting. Negative indices count from the end,
/// and an index out of range is an error.
///
/// Shape of INDICES: the rank of DATA, and at most its dims on all axes except the given one. Shape of the output: that of
/// INDICES.
#[derive(Args)]
#[command(override_usage = "tensorop gather-elements [OPTIONS] <DATA> <INDICES>", after_long_help = EXAMPLES)]
pub(crate) struct GatherElements {
    /// The tensor to take from
    #[arg(value_name = "DATA", value_parser = DATA.parser(), allow_negative_numbers = true, value_hint = ValueHint::FilePath, long_help = data_help("The tensor to take from."))]
    pub data: Operand,
    /// The place on the axis for each item of the output, integers: an operand like DATA
    #[arg(value_name = "INDICES", value_parser = INDICES.parser(), allow_negative_numbers = true, value_hint = ValueHint::FilePath)]
    pub indices: Operand,
    /// The axis: an integer from -rank to rank - 1 (also [N], or a file with one integer)
    #[arg(long, value_name = "N", value_parser = IndexList::parser(), default_value = "0", help_heading = "Gather")]
    pub axis: IndexList,
    #[command(flatten)]
    pub options: OperatorOptions,
}

const EXAMPLES: &str = "\
Examples:
  tensorop gather-elements data.npy indices.npy --axis 1
  tensorop gather-elements '[[1,2],[3,4]]' '[[0,0],[1,0]]' --axis 1
  tensorop gather-elements logits.npy order.npy --axis -1 -o sorted.npy

INDICES is read twice: first to check its numbers, then window by window with the output. DATA is held in memory, up to 1 GiB and \
16 bytes for each index, unless the items for a window are within 1 MiB, as in short rows of the last axis. Larger DATA is read \
once for every 48 MiB of chosen items and their places.";

impl GatherElements {
    pub(crate) fn run(&self, io: &Io) -> Result<Outcome> {
        let operation = Operation::begin(io, &self.data, Some(&self.indices), &self.options)?;
        let axis = axis(&operation.reader, &self.axis, "--axis")?;
        let title = "gather-elements (ONNX GatherElements-13, OpenVINO GatherElements-6)";
        operation.open()?.run(title, &Call::GatherElements { axis })
    }
}
