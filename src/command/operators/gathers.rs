//! The sub-commands `gather`, `gather-elements` and `gather-nd`.

use anyhow::Result;
use clap::{Args, ValueHint};

use super::operation::Operation;
use crate::command::operands::list_options::axis;
use crate::command::options::{
    DATA, INDICES, IndexList, Operand, OperatorOptions, OptionWord, data_help, parse_number, parse_words, word,
};
use crate::command::process::io::{Io, Outcome};
use crate::ops::call::Call;
use crate::ops::indexed::OutOfRange;

/// Take places of one axis by their indices (OpenVINO Gather-1, -7, -8, ONNX Gather 1, 11, 13)
///
/// The output has the places of one axis of DATA that INDICES name, in the order of INDICES, like NumPy's take. A single
/// index (of rank 0) drops the axis. With --batch-dims B the first B axes of DATA and INDICES are the same, and each batch
/// has its own indices; a negative B counts from the rank of INDICES. Negative indices count from the end. An index out of
/// range is an error, as in ONNX; with --out-of-range zero it gives zeros, as in Gather-8.
///
/// Shape of the output: DATA.shape[:axis], then INDICES.shape[B:], then DATA.shape[axis+1:].
#[derive(Args)]
#[command(override_usage = "tensorop gather [OPTIONS] <DATA> <INDICES>", after_long_help = GATHER_EXAMPLES)]
pub(crate) struct Gather {
    /// The tensor to take from
    #[arg(value_name = "DATA", value_parser = DATA.parser(), allow_negative_numbers = true, value_hint = ValueHint::FilePath, long_help = data_help("The tensor to take from."))]
    pub data: Operand,
    /// The places of the axis, integers of any rank: an operand like DATA
    #[arg(value_name = "INDICES", value_parser = INDICES.parser(), allow_negative_numbers = true, value_hint = ValueHint::FilePath)]
    pub indices: Operand,
    /// The axis: an integer from -rank to rank - 1 (also [N], or a file with one integer)
    #[arg(long, value_name = "N", value_parser = IndexList::parser(), default_value = "0", help_heading = "Gather")]
    pub axis: IndexList,
    /// The number of leading axes that are batches, the same in DATA and INDICES; if negative, it counts from INDICES' rank
    #[arg(long, value_name = "B", value_parser = parse_number::<i64>, default_value_t = 0, help_heading = "Gather")]
    pub batch_dims: i64,
    /// The result of an index beyond the axis
    #[arg(long, value_name = "WHAT", value_parser = parse_words(meanings()), default_value = "error", help_heading = "Gather")]
    pub out_of_range: OutOfRange,
    #[command(flatten)]
    pub options: OperatorOptions,
}

fn meanings() -> Vec<OptionWord<OutOfRange>> {
    vec![
        word("error", "An error that names the first one, as in ONNX", OutOfRange::Error),
        word("zero", "Zeros: bytes of zero in any dtype, as in OpenVINO's Gather-8", OutOfRange::Zero),
    ]
}

const GATHER_EXAMPLES: &str = "\
Examples:
  tensorop gather data.npy indices.npy --axis 1
  tensorop gather table.npy '[3,0,3]' -o embeddings.npy
  tensorop gather data.npy 3
  tensorop gather frames.npy order.npy --axis 1 --batch-dims 1 -o sorted.npy
  tensorop gather '[1,2,3,4,5]' '[3,10,-20]' --out-of-range zero

From a large .npy file only the chosen places are read, and the items between places that are close together.

At most 1 GiB of INDICES is held in memory (about 100 million indices); larger INDICES are read in several steps.";

impl Gather {
    pub(crate) fn run(&self, io: &Io) -> Result<Outcome> {
        let operation = Operation::begin(io, &self.data, Some(&self.indices), &self.options)?;
        let axis = axis(&operation.reader, &self.axis, "--axis")?;
        let Self { batch_dims, out_of_range, .. } = *self;
        let call = Call::Gather { axis, batch_dims, out_of_range, counts_from_end: true };
        operation.open()?.run("gather (OpenVINO Gather-8, ONNX Gather-13)", &call)
    }
}

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
#[command(override_usage = "tensorop gather-elements [OPTIONS] <DATA> <INDICES>", after_long_help = GATHER_ELEMENTS_EXAMPLES)]
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

const GATHER_ELEMENTS_EXAMPLES: &str = "\
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

/// Take blocks by their index tuples (ONNX GatherND 11, 12, 13, OpenVINO GatherND-8)
///
/// Each tuple of k numbers along the last axis of INDICES addresses a block of DATA of shape DATA.shape[B+k:]. The output
/// has these blocks in the order of the tuples. It is the counterpart of scatter-nd. With --batch-dims B the first B axes
/// of DATA and INDICES are the same, and a tuple addresses a block of its own batch. Negative indices count from the end,
/// and an index out of range is an error.
///
/// Shape of the output: INDICES.shape[:-1] and then DATA.shape[B+k:].
#[derive(Args)]
#[command(override_usage = "tensorop gather-nd [OPTIONS] <DATA> <INDICES>", after_long_help = GATHER_ND_EXAMPLES)]
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

const GATHER_ND_EXAMPLES: &str = "\
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
