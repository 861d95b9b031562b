//! The sub-command `scatter-elements`.

use anyhow::{Result, bail};
use clap::{Args, ValueHint};

use crate::command::operands::list_options::axis;
use crate::command::operators::operation::{changed, run_for_each};
use crate::command::options::{
    ChangeOptions, DATA, DuplicateOptions, INDICES, IndexList, Operand, SCATTER_HEADING, UpdatesOptions, data_help,
    parse_number, parse_words, reductions,
};
use crate::command::process::io::{Io, Outcome};
use crate::ops::call::Call;
use crate::ops::operators::scatter_elements;
use crate::ops::reduction::Reduction;

/// Put or reduce updates at indices along an axis (ONNX ScatterElements 11 to 18, OpenVINO ScatterElementsUpdate-12)
///
/// INDICES has an index for each item of UPDATES: the place of the item on the axis. On all other axes the item keeps its
/// place. So with axis 1, DATA[i][INDICES[i][j][k]][k] becomes UPDATES[i][j][k], or is reduced with it in the order of
/// INDICES. Negative indices count from the end, and an index out of range is an error. Without a reduction the last of
/// several updates for one place wins.
///
/// Shape of INDICES: the rank of DATA, and at most its dims on all axes except the given one. Shape of UPDATES: that of
/// INDICES. Shape of the output: that of DATA.
#[derive(Args)]
#[command(override_usage = "tensorop scatter-elements [OPTIONS] <DATA> <INDICES> <UPDATES|--fill <VALUE>>", after_long_help = EXAMPLES)]
pub(crate) struct ScatterElements {
    /// The tensor to begin with
    #[arg(value_name = "DATA", value_parser = DATA.parser(), allow_negative_numbers = true, value_hint = ValueHint::FilePath, long_help = data_help("The tensor to begin with."))]
    pub data: Operand,
    /// The place on the axis for each update: integers, as DATA
    #[arg(value_name = "INDICES", value_parser = INDICES.parser(), allow_negative_numbers = true, value_hint = ValueHint::FilePath)]
    pub indices: Operand,
    #[command(flatten)]
    pub updates: UpdatesOptions,
    /// The axis: an integer from -rank to rank - 1 (also [N], or a file with one integer)
    #[arg(long, value_name = "N", value_parser = IndexList::parser(), default_value = "0", help_heading = SCATTER_HEADING)]
    pub axis: IndexList,
    /// How to combine an old item with its updates
    #[arg(long, value_name = "REDUCTION", value_parser = parse_words(reductions(&scatter_elements::REDUCTIONS)), default_value = "none", help_heading = SCATTER_HEADING)]
    pub reduction: Reduction,
    /// Leave the old items of DATA out of the reduction (OpenVINO's use_init_val=false)
    ///
    /// Items without an update stay as they are. Without a reduction this changes nothing.
    #[arg(long, conflicts_with = "opset", help_heading = SCATTER_HEADING)]
    pub no_initial: bool,
    /// The ONNX opset, which limits the reductions and element types [default: any]
    #[arg(long, value_name = "N", value_parser = parse_number::<u64>, help_heading = SCATTER_HEADING)]
    pub opset: Option<u64>,
    #[command(flatten)]
    pub duplicates: DuplicateOptions,
    #[command(flatten)]
    pub options: ChangeOptions,
}

const EXAMPLES: &str = "\
Examples:
  tensorop scatter-elements data.npy indices.npy updates.npy --axis 1
  tensorop scatter-elements '[[1,2,3,4,5]]' '[[1,3]]' '[[11,21]]' --axis 1
  tensorop scatter-elements zeros.npy picked.npy gradients.npy --axis -1 --reduction add -o gradient.npy
  tensorop scatter-elements mask.npy top_k.npy --fill 1 --axis -1 -i

Reductions round once a step in the item's own dtype; integers wrap; for bool add and max are or, mul and min \
are and; NaN on either side of max or min gives NaN. The mean of integers is exact and divided toward zero; floats are \
summed as add does and divided once. Opset 16 brought add and mul, 18 max and min; mean and --no-initial are OpenVINO's \
alone. Opsets 9 and 10 have the operator as Scatter.

At most 1 GiB of INDICES is held in memory (about 100 million indices); larger INDICES are read in several steps. If DATA is in C \
order and the axis is not the first, at most 64 MiB are held, and the rest is read twice.";

impl ScatterElements {
    pub(crate) fn run(&self, io: &Io) -> Result<Outcome> {
        let (reduction, has_initial) = (self.reduction, !self.no_initial);
        self.duplicates.check(reduction)?;
        self.options.check_again(reduction, has_initial)?;
        if let (Some(_), Reduction::Mean) = (self.opset, reduction) {
            bail!("--opset: cannot be used with --reduction mean, which only OpenVINO has");
        }
        let operands = (&self.data, Some(&self.indices));
        run_for_each(io, operands, &self.updates, &self.options, &changed, &|change| {
            let axis = axis(&change.reader, &self.axis, "--axis")?;
            let (opset, repeats) = (self.opset, self.duplicates.repeats(reduction));
            let call = Call::ScatterElements { axis, opset, reduction, has_initial, repeats, counts_from_end: true };
            change.open()?.run(&self.title(), &call)
        })
    }

    fn title(&self) -> String {
        let specification = match self.opset.map(scatter_elements::version) {
            Some(9) => "ONNX Scatter-9".to_owned(),
            Some(version) => format!("ONNX ScatterElements-{version}"),
            None if self.reduction == Reduction::Mean || self.no_initial => {
                "OpenVINO ScatterElementsUpdate-12".to_owned()
            }
            None => "ONNX ScatterElements-18, OpenVINO ScatterElementsUpdate-12".to_owned(),
        };
        format!("scatter-elements ({specification})")
    }
}
