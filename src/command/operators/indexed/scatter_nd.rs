//! The sub-command `scatter-nd`.

use anyhow::{Result, bail};
use clap::{Args, ValueHint};

use crate::command::operators::operation::{changed, run_for_each};
use crate::command::options::{
    ChangeOptions, DATA, DuplicateOptions, INDICES, Operand, SCATTER_HEADING, UpdatesOptions, data_help, parse_number,
    parse_words, reductions,
};
use crate::command::process::io::{Io, Outcome};
use crate::ops::call::Call;
use crate::ops::operators::scatter_nd;
use crate::ops::reduction::Reduction;

/// Put or reduce updates at index tuples (ONNX ScatterND 11, 13, 16, 18, OpenVINO ScatterNDUpdate-15)
///
/// Each tuple of k numbers along the last axis of INDICES addresses a block of DATA of shape DATA.shape[k:]. The output is
/// DATA with each block replaced by its update, or reduced with it in the order of the tuples. Negative indices count from
/// the end, and an index out of range is an error. Without a reduction the last of repeated tuples wins.
///
/// Shape of UPDATES: INDICES.shape[:-1] and then DATA.shape[k:]. Shape of the output: that of DATA.
#[derive(Args)]
#[command(override_usage = "tensorop scatter-nd [OPTIONS] <DATA> <INDICES> <UPDATES|--fill <VALUE>>", after_long_help = EXAMPLES)]
pub(crate) struct ScatterNd {
    /// The tensor to begin with
    #[arg(value_name = "DATA", value_parser = DATA.parser(), allow_negative_numbers = true, value_hint = ValueHint::FilePath, long_help = data_help("The tensor to begin with."))]
    pub data: Operand,
    /// The index tuples along the last axis, integers: an operand like DATA
    #[arg(value_name = "INDICES", value_parser = INDICES.parser(), allow_negative_numbers = true, value_hint = ValueHint::FilePath)]
    pub indices: Operand,
    #[command(flatten)]
    pub updates: UpdatesOptions,
    /// How to combine an old item with its update
    #[arg(long, value_name = "REDUCTION", value_parser = parse_words(reductions(&scatter_nd::REDUCTIONS)), default_value = "none", help_heading = SCATTER_HEADING)]
    pub reduction: Reduction,
    /// The ONNX opset, which limits the reductions and element types [default: 18]
    #[arg(long, value_name = "N", value_parser = parse_number::<u64>, help_heading = SCATTER_HEADING)]
    pub opset: Option<u64>,
    #[command(flatten)]
    pub duplicates: DuplicateOptions,
    #[command(flatten)]
    pub options: ChangeOptions,
}

const EXAMPLES: &str = "\
Examples:
  tensorop scatter-nd data.npy indices.npy updates.npy
  tensorop scatter-nd '[1,2,3,4]' '[[3],[0]]' '[9,10]'
  tensorop scatter-nd table.npy rows.npy gradients.npy --reduction add -o table.npy
  tensorop scatter-nd data.npy points.npy --fill 0 --opset 13
  tensorop scatter-nd weights.npy rows.npy steps.npy --reduction sub -o weights.npy

Reductions round once a step in the item's own dtype; integers wrap; for bool add and max are or, mul and min \
are and, sub is exclusive or; NaN on either side of max or min gives NaN. Opset 16 brought add and mul, 18 max and min; \
sub subtracts each update in order from the old item. It comes from OpenVINO (ScatterNDUpdate-15), so it cannot be used with --opset.

At most 1 GiB of INDICES is held in memory (about 100 million tuples); larger INDICES are read in several steps.";

impl ScatterNd {
    pub(crate) fn run(&self, io: &Io) -> Result<Outcome> {
        let reduction = self.reduction;
        self.duplicates.check(reduction)?;
        if self.opset.is_some() && reduction == Reduction::Sub {
            bail!("--opset: not with --reduction sub, which is OpenVINO's (ScatterNDUpdate-15), not ONNX's");
        }
        self.options.check_again(reduction, true)?;
        let operands = (&self.data, Some(&self.indices));
        run_for_each(io, operands, &self.updates, &self.options, &changed, &|change| {
            let (opset, repeats) = (self.opset.unwrap_or(18), self.duplicates.repeats(reduction));
            let opset = (reduction != Reduction::Sub).then_some(opset);
            let specification = match opset {
                Some(opset) => format!("ONNX ScatterND-{}", scatter_nd::version(opset)),
                None => "OpenVINO ScatterNDUpdate-15".to_owned(),
            };
            let call = Call::ScatterNd { opset, reduction, repeats };
            change.open()?.run(&format!("scatter-nd ({specification})"), &call)
        })
    }
}
