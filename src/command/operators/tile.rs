//! The sub-command `tile`.

use anyhow::Result;
use clap::{Args, ValueHint};

use super::operation::Operation;
use crate::command::operands::list_options::index_list;
use crate::command::options::{DATA, IndexList, Operand, OperatorOptions, data_help};
use crate::command::process::io::{Io, Outcome};
use crate::ops::call::Call;

/// Repeat the axes of a tensor (ONNX Tile 6, 13, OpenVINO Tile-1)
///
/// --repeats has a number for each axis: how often all of its places come one after the other. If it has fewer numbers than
/// DATA has axes, the first axes are not repeated. If it has more, the output has new first axes.
///
/// Shape of the output: that of DATA, each dim times its number.
#[derive(Args)]
#[command(override_usage = "tensorop tile [OPTIONS] --repeats <I> <DATA>", after_long_help = EXAMPLES)]
pub(crate) struct Tile {
    /// The tensor whose axes are repeated
    #[arg(value_name = "DATA", value_parser = DATA.parser(), allow_negative_numbers = true, value_hint = ValueHint::FilePath, long_help = data_help("The tensor to repeat."))]
    pub data: Operand,
    /// The number of repetitions of each axis, 0 or more, such as 2,1 or a file
    #[arg(long, value_name = "I", value_parser = IndexList::parser(), value_hint = ValueHint::FilePath, help_heading = "Tile")]
    pub repeats: IndexList,
    #[command(flatten)]
    pub options: OperatorOptions,
}

const EXAMPLES: &str = "\
Examples:
  tensorop tile block.npy --repeats 4,4 -o board.npy   # np.tile(block, (4, 4))
  tensorop tile row.npy --repeats 1000,1 -o rows.npy   # 1000 rows of a 1-D tensor
  tensorop tile '[[1,2],[3,4]]' --repeats 2";

impl Tile {
    pub(crate) fn run(&self, io: &Io) -> Result<Outcome> {
        let operation = Operation::begin(io, &self.data, None, &self.options)?;
        let repeats = index_list(&operation.reader, &self.repeats, "--repeats")?;
        operation.open()?.run("tile (ONNX Tile, OpenVINO Tile-1)", &Call::Tile { repeats })
    }
}
