//! The sub-command `gather-nd`.

use anyhow::Result;
use clap::{Args, ValueHint};

use crate::command::operators::operation::Operation;
use crate::command::options::{DATA, INDICES, Operand, OperatorOptions, data_help, parse_number};
use crate::command::process::io::{Io, Outcome};
use crate::ops::call::Call;

/// Take blocks by their index tuples (ONNX GatherND 11, 12, 13, OpenVINO GatherND-8)
///
/// Each tuple of k numbers along the last axis of INDICES addresses a block of DATA of shape DATA.shape[B+k:]. The output
/// has these blocks in the order of the tuples. It is the counterpart of scatter-nd. With --batch-dims B the first B axes
/// of DATA and INDICES are the same, and a tuple addresses a block of its own batch. Negative indices count from the end,
/// and an index out of range is an error.
///
/// Shape of the output: INDICES.shape[:-1] and then DATA.shape[B+k:].
#[derive(Args)]
#[command(override_usage = "tensorop gather-nd [OPTIONS] <DATA> <INDICES>", after_long_help = EXAMPLES)]
pub(crate) struct GatherNd {
    /// The tensor to take from
    #[arg(value_name = "DATA", value_parser = DATA.parser(), allow_negative_numbers = true, value_hint = ValueHint::FilePath, long_help = data_help("The tensor to take from."))]
    pub data: Operand,
    /// The index tuples along the last axis, integers: an operand like DATA
    #[arg(value_name = "INDICES", value_parser = INDICES.parser(), allow_negative_numbers = true, value_hint = ValueHint::FilePath)]
    pub indices: Operand,
    /// The number of leading axes that are batches, the same in DATA and INDICES
    #[arg(long, value_name = "B", value_parser = parse_number::<i64>, default_value_t = 0, help_heading = "Gather")]
    pub batch_dims: i64,
    #[command(flatten)]
    pub options: OperatorOptions,
}

const EXAMPLES: &str = "\
Examples:
  tensorop gather-nd data.npy indices.npy
  tensorop gather-nd '[[0,1],[2,3]]' '[[0,0],[1,1]]'
  tensorop gather-nd table.npy rows.npy -o embeddings.npy
  tensorop gather-nd logits.npy labels.npy --batch-dims 1 -o picked.npy

From a large .npy file only the chosen blocks are read, and the items between blocks that are close together.

At most 1 GiB of INDICES is held in memory (about 100 million tuples); larger INDICES are read in several steps.";

impl GatherNd {
    pub(crate) fn run(&self, io: &Io) -> Result<Outcome> {
        let operation = Operation::begin(io, &self.data, Some(&self.indices), &self.options)?;
        let call = Call::GatherNd { batch_dims: self.batch_dims };
        operation.open()?.run("gather-nd (ONNX GatherND-13, OpenVINO GatherND-8)", &call)
    }
}
