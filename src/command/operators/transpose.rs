//! The sub-command `transpose`.

use anyhow::Result;
use clap::{Args, ValueHint};

use super::operation::Operation;
use crate::command::operands::list_options::index_list;
use crate::command::options::{DATA, IndexList, Operand, OperatorOptions, data_help};
use crate::command::process::io::{Io, Outcome};
use crate::ops::call::Call;

/// Reorder the axes of a tensor (ONNX Transpose 1 to 25, OpenVINO Transpose-1)
///
/// Axis n of the output is axis AXES[n] of DATA; without --axes the axes are reversed, like NumPy's data.T. The output is in
/// C order, so items move. To keep the axes and only change the storage order, use convert --order F.
///
/// Shape of the output: that of DATA, in the order of the axes.
#[derive(Args)]
#[command(override_usage = "tensorop transpose [OPTIONS] <DATA>", after_long_help = EXAMPLES)]
pub(crate) struct Transpose {
    /// The tensor whose axes are reordered
    #[arg(value_name = "DATA", value_parser = DATA.parser(), allow_negative_numbers = true, value_hint = ValueHint::FilePath, long_help = data_help("The tensor to transpose."))]
    pub data: Operand,
    /// The axes of DATA in the order of the output, such as 0,3,1,2 or a file [default: reversed]
    ///
    /// A list of integers such as 0,3,1,2 or [0,-1,1,2], or the path of a 1-D integer tensor, which names each axis of DATA
    /// once. Negative axes count from the end. As in Transpose-1, an empty list reverses the axes.
    #[arg(long, value_name = "I", value_parser = IndexList::parser(), value_hint = ValueHint::FilePath, help_heading = "Transpose")]
    pub axes: Option<IndexList>,
    #[command(flatten)]
    pub options: OperatorOptions,
}

const EXAMPLES: &str = "\
Examples:
  tensorop transpose matrix.npy -o columns.npy               # matrix.T
  tensorop transpose nhwc.npy --axes 0,3,1,2 -o nchw.npy
  tensorop transpose weights.safetensors:fc.weight --to npy | tensorop show -
  tensorop transpose '[[1,2,3],[4,5,6]]'

Of a Zarr store the chunks and the names of the dimensions go along with their axes.

Where rows become columns, 32 MiB of the output are held at a time, of all threads together.";

impl Transpose {
    pub(crate) fn run(&self, io: &Io) -> Result<Outcome> {
        let operation = Operation::begin(io, &self.data, None, &self.options)?;
        let list = |list| index_list(&operation.reader, list, "--axes");
        let axes = self.axes.as_ref().map(list).transpose()?;
        operation.open()?.run("transpose (ONNX Transpose, OpenVINO Transpose-1)", &Call::Transpose { axes })
    }
}
