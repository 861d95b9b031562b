//! The sub-command `broadcast`.

use anyhow::Result;
use clap::{Args, ValueHint};

use super::operation::Operation;
use crate::command::operands::list_options::index_list;
use crate::command::options::{DATA, IndexList, Operand, OperatorOptions, data_help};
use crate::command::process::io::{Io, Outcome};
use crate::ops::call::Call;
use crate::ops::operators::broadcast::BroadcastRule;

/// Repeat axes of one place, so that a tensor has another shape (ONNX Expand 8, 13, OpenVINO Broadcast-1, Broadcast-3)
///
/// The last axis of DATA is the last one of the output, and so on; an axis of one place is repeated, and DATA gets new first
/// axes. As in ONNX Expand, a 1 in --shape keeps the dim of DATA, and --shape may have fewer numbers than DATA has axes.
/// With --axes the rules are those of OpenVINO's mode explicit: each axis of DATA becomes the one that --axes names, and
/// --shape is the shape of the output.
///
/// Shape of the output: --shape, where it is 1 the dim of DATA.
#[derive(Args)]
#[command(override_usage = "tensorop broadcast [OPTIONS] --shape <I> <DATA>", after_long_help = EXAMPLES)]
pub(crate) struct Broadcast {
    /// The tensor that is repeated
    #[arg(value_name = "DATA", value_parser = DATA.parser(), allow_negative_numbers = true, value_hint = ValueHint::FilePath, long_help = data_help("The tensor to broadcast."))]
    pub data: Operand,
    /// The shape to repeat it to, such as 8,1024 or a file
    #[arg(long, value_name = "I", value_parser = IndexList::parser(), value_hint = ValueHint::FilePath, help_heading = HEADING)]
    pub shape: IndexList,
    /// The axis of the output that each axis of DATA is, in ascending order, such as 0,2 or a file [default: the last ones]
    #[arg(long, value_name = "I", value_parser = IndexList::parser(), value_hint = ValueHint::FilePath, help_heading = HEADING)]
    pub axes: Option<IndexList>,
    #[command(flatten)]
    pub options: OperatorOptions,
}

const HEADING: &str = "Broadcast";

const EXAMPLES: &str = "\
Examples:
  tensorop broadcast bias.npy --shape 128,1024 -o rows.npy        # np.broadcast_to(bias, (128, 1024))
  tensorop broadcast column.npy --shape 1,1024 -o matrix.npy      # the rows of column.npy stay
  tensorop broadcast channels.npy --shape 8,3,32,32 --axes 1      # 3 channels as axis 1
  tensorop broadcast '[[1],[2]]' --shape 2,3";

impl Broadcast {
    pub(crate) fn run(&self, io: &Io) -> Result<Outcome> {
        let operation = Operation::begin(io, &self.data, None, &self.options)?;
        let list = |list, option| index_list(&operation.reader, list, option);
        let shape = list(&self.shape, "--shape")?;
        let (title, rule) = match &self.axes {
            Some(axes) => ("broadcast (OpenVINO Broadcast-3, explicit)", BroadcastRule::Axes(list(axes, "--axes")?)),
            None => ("broadcast (ONNX Expand, OpenVINO Broadcast-3)", BroadcastRule::Bidirectional),
        };
        operation.open()?.run(title, &Call::Broadcast { shape, rule })
    }
}
