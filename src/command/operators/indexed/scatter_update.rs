//! The sub-command `scatter-update`.

use anyhow::Result;
use clap::{Args, ValueHint};

use crate::command::operands::list_options::axis;
use crate::command::operators::operation::{changed, run_for_each};
use crate::command::options::{
    ChangeOptions, DATA, DuplicateOptions, INDICES, IndexList, Operand, SCATTER_HEADING, UpdatesOptions, data_help,
};
use crate::command::process::io::{Io, Outcome};
use crate::ops::call::Call;
use crate::ops::reduction::Reduction;

/// Put updates at indices of one axis (OpenVINO ScatterUpdate-3)
///
/// The output is DATA after DATA[..., INDICES[i], ...] = UPDATES[..., i, ...] along the axis. An index below 0 or beyond
/// the axis is an error. If an index is repeated, the last one wins.
///
/// Shape of UPDATES: that of DATA, with the shape of INDICES in place of the axis. Shape of the output: that of DATA.
#[derive(Args)]
#[command(override_usage = "tensorop scatter-update [OPTIONS] <DATA> <INDICES> <UPDATES|--fill <VALUE>> --axis <N>", after_long_help = EXAMPLES)]
pub(crate) struct ScatterUpdate {
    /// The tensor to begin with
    #[arg(value_name = "DATA", value_parser = DATA.parser(), allow_negative_numbers = true, value_hint = ValueHint::FilePath, long_help = data_help("The tensor to begin with."))]
    pub data: Operand,
    /// The places of the axis, integers of any rank: an operand like DATA
    #[arg(value_name = "INDICES", value_parser = INDICES.parser(), allow_negative_numbers = true, value_hint = ValueHint::FilePath)]
    pub indices: Operand,
    #[command(flatten)]
    pub updates: UpdatesOptions,
    /// The axis: an integer from -rank to rank - 1 (also [N], or a file with one integer)
    #[arg(long, value_name = "N", value_parser = IndexList::parser(), help_heading = SCATTER_HEADING)]
    pub axis: IndexList,
    #[command(flatten)]
    pub duplicates: DuplicateOptions,
    #[command(flatten)]
    pub options: ChangeOptions,
}

const EXAMPLES: &str = "\
Examples:
  tensorop scatter-update data.npy indices.npy updates.npy --axis 1
  tensorop scatter-update data.npy '[0,2]' '[[1,1],[1,1],[1,2]]' --axis 1 -o out.npy
  tensorop scatter-update table.npy stale.npy --fill 0 --axis 0 -o table.npy

At most 1 GiB of INDICES is held in memory (about 100 million tuples); the rest of larger INDICES is read again.";

impl ScatterUpdate {
    pub(crate) fn run(&self, io: &Io) -> Result<Outcome> {
        let operands = (&self.data, Some(&self.indices));
        run_for_each(io, operands, &self.updates, &self.options, &changed, &|change| {
            let axis = axis(&change.reader, &self.axis, "--axis")?;
            let repeats = self.duplicates.repeats(Reduction::None);
            change.open()?.run("scatter-update (OpenVINO ScatterUpdate-3)", &Call::ScatterUpdate { axis, repeats })
        })
    }
}
