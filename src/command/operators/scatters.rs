//! The sub-commands `scatter-update`, `scatter-nd` and `scatter-elements`.

use anyhow::{Result, bail};
use clap::{Args, ValueHint};

use super::operation::{changed, run_for_each};
use crate::command::operands::list_options::axis;
use crate::command::options::{
    ChangeOptions, DATA, DuplicateOptions, INDICES, IndexList, Operand, SCATTER_HEADING, UpdatesOptions, data_help,
    parse_number, parse_words, reductions,
};
use crate::command::process::io::{Io, Outcome};
use crate::ops::call::Call;
use crate::ops::operators::{scatter_elements, scatter_nd};
use crate::ops::reduction::Reduction;

/// Put updates at indices of one axis (OpenVINO ScatterUpdate-3)
///
/// The output is DATA after DATA[..., INDICES[i], ...] = UPDATES[..., i, ...] along the axis. An index below 0 or beyond
/// the axis is an error. If an index is repeated, the last one wins.
///
/// Shape of UPDATES: that of DATA, with the shape of INDICES in place of the axis. Shape of the output: that of DATA.
#[derive(Args)]
#[command(override_usage = "tensorop scatter-update [OPTIONS] <DATA> <INDICES> <UPDATES|--fill <VALUE>> --axis <N>", after_long_help = SCATTER_UPDATE_EXAMPLES)]
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

const SCATTER_UPDATE_EXAMPLES: &str = "\
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

/// Put or reduce updates at index tuples (ONNX ScatterND 11, 13, 16, 18, OpenVINO ScatterNDUpdate-15)
///
/// Each tuple of k numbers along the last axis of INDICES addresses a block of DATA of shape DATA.shape[k:]. The output is
/// DATA with each block replaced by its update, or reduced with it in the order of the tuples. Negative indices count from
/// the end, and an index out of range is an error. Without a reduction the last of repeated tuples wins.
///
/// Shape of UPDATES: INDICES.shape[:-1] and then DATA.shape[k:]. Shape of the output: that of DATA.
#[derive(Args)]
#[command(override_usage = "tensorop scatter-nd [OPTIONS] <DATA> <INDICES> <UPDATES|--fill <VALUE>>", after_long_help = SCATTER_ND_EXAMPLES)]
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

const SCATTER_ND_EXAMPLES: &str = "\
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
#[command(override_usage = "tensorop scatter-elements [OPTIONS] <DATA> <INDICES> <UPDATES|--fill <VALUE>>", after_long_help = SCATTER_ELEMENTS_EXAMPLES)]
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

const SCATTER_ELEMENTS_EXAMPLES: &str = "\
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
