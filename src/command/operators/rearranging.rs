//! The sub-commands that move or repeat places: `transpose`, `roll`, `tile`, `broadcast` and `pad`.

use anyhow::{Result, ensure};
use clap::{Args, ValueHint};

use super::operation::Operation;
use crate::command::operands::list_options::{index_list, number_or_list};
use crate::command::options::{DATA, IndexList, Operand, OperatorOptions, OptionWord, data_help, parse_words, word};
use crate::command::process::io::{Io, Outcome};
use crate::ops::call::Call;
use crate::ops::operators::broadcast::BroadcastRule;
use crate::ops::operators::pad::PadMode;

/// Reorder the axes of a tensor (ONNX Transpose 1 to 25, OpenVINO Transpose-1)
///
/// Axis n of the output is axis AXES[n] of DATA; without --axes the axes are reversed, like NumPy's data.T. The output is in
/// C order, so items move. To keep the axes and only change the storage order, use convert --order F.
///
/// Shape of the output: that of DATA, in the order of the axes.
#[derive(Args)]
#[command(override_usage = "tensorop transpose [OPTIONS] <DATA>", after_long_help = TRANSPOSE_EXAMPLES)]
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

const TRANSPOSE_EXAMPLES: &str = "\
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

/// Move the places of axes on, the last ones to the beginning (OpenVINO Roll-7)
///
/// Each place of an axis moves on by the number of --shift for it, back if that is negative. What leaves the axis at one end
/// comes in at the other. An axis that --axes names twice adds its shifts.
///
/// Shape of the output: that of DATA.
#[derive(Args)]
#[command(override_usage = "tensorop roll [OPTIONS] --shift <I> <DATA>", after_long_help = ROLL_EXAMPLES)]
pub(crate) struct Roll {
    /// The tensor whose places move
    #[arg(value_name = "DATA", value_parser = DATA.parser(), allow_negative_numbers = true, value_hint = ValueHint::FilePath, long_help = data_help("The tensor to roll."))]
    pub data: Operand,
    /// The number of places to move each of --axes by, or one number for all, such as 1,-2 or a file
    #[arg(long, value_name = "I", value_parser = IndexList::parser(), value_hint = ValueHint::FilePath, help_heading = "Roll")]
    pub shift: IndexList,
    /// The axes that move, such as 0,-1 or a file [default: DATA as one axis, in C order]
    #[arg(long, value_name = "I", value_parser = IndexList::parser(), value_hint = ValueHint::FilePath, help_heading = "Roll")]
    pub axes: Option<IndexList>,
    #[command(flatten)]
    pub options: OperatorOptions,
}

const ROLL_EXAMPLES: &str = "\
Examples:
  tensorop roll image.npy --shift 10,-5 --axes 0,1 -o moved.npy   # np.roll(image, (10, -5), (0, 1))
  tensorop roll spectrum.npy --shift 512 --axes -1                # np.fft.fftshift of 1024 bins
  tensorop roll '[[1,2,3],[4,5,6]]' --shift 1";

impl Roll {
    pub(crate) fn run(&self, io: &Io) -> Result<Outcome> {
        let operation = Operation::begin(io, &self.data, None, &self.options)?;
        let list = |list, option| number_or_list(&operation.reader, list, option);
        let shift = list(&self.shift, "--shift")?;
        let axes = self.axes.as_ref().map(|axes| list(axes, "--axes")).transpose()?;
        operation.open()?.run("roll (OpenVINO Roll-7)", &Call::Roll { shift, axes })
    }
}

/// Repeat the axes of a tensor (ONNX Tile 6, 13, OpenVINO Tile-1)
///
/// --repeats has a number for each axis: how often all of its places come one after the other. If it has fewer numbers than
/// DATA has axes, the first axes are not repeated. If it has more, the output has new first axes.
///
/// Shape of the output: that of DATA, each dim times its number.
#[derive(Args)]
#[command(override_usage = "tensorop tile [OPTIONS] --repeats <I> <DATA>", after_long_help = TILE_EXAMPLES)]
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

const TILE_EXAMPLES: &str = "\
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

/// Repeat axes of one place, so that a tensor has another shape (ONNX Expand 8, 13, OpenVINO Broadcast-1, Broadcast-3)
///
/// The last axis of DATA is the last one of the output, and so on; an axis of one place is repeated, and DATA gets new first
/// axes. As in ONNX Expand, a 1 in --shape keeps the dim of DATA, and --shape may have fewer numbers than DATA has axes.
/// With --axes the rules are those of OpenVINO's mode explicit: each axis of DATA becomes the one that --axes names, and
/// --shape is the shape of the output.
///
/// Shape of the output: --shape, where it is 1 the dim of DATA.
#[derive(Args)]
#[command(override_usage = "tensorop broadcast [OPTIONS] --shape <I> <DATA>", after_long_help = BROADCAST_EXAMPLES)]
pub(crate) struct Broadcast {
    /// The tensor that is repeated
    #[arg(value_name = "DATA", value_parser = DATA.parser(), allow_negative_numbers = true, value_hint = ValueHint::FilePath, long_help = data_help("The tensor to broadcast."))]
    pub data: Operand,
    /// The shape to repeat it to, such as 8,1024 or a file
    #[arg(long, value_name = "I", value_parser = IndexList::parser(), value_hint = ValueHint::FilePath, help_heading = "Broadcast")]
    pub shape: IndexList,
    /// The axis of the output that each axis of DATA is, in ascending order, such as 0,2 or a file [default: the last ones]
    #[arg(long, value_name = "I", value_parser = IndexList::parser(), value_hint = ValueHint::FilePath, help_heading = "Broadcast")]
    pub axes: Option<IndexList>,
    #[command(flatten)]
    pub options: OperatorOptions,
}

const BROADCAST_EXAMPLES: &str = "\
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

/// Add places before and behind the axes of a tensor (ONNX Pad 2 to 25, OpenVINO Pad-1, Pad-12)
///
/// --before and --after have a number for each axis of DATA, or of --axes: how many places are added in front of its first
/// place and behind its last one. A negative number takes places away, before any are added.
///
/// Shape of the output: that of DATA, with both numbers added to each dim.
#[derive(Args)]
#[command(override_usage = "tensorop pad [OPTIONS] --before <I> --after <I> <DATA>", after_long_help = PAD_EXAMPLES)]
pub(crate) struct Pad {
    /// The tensor to which places are added
    #[arg(value_name = "DATA", value_parser = DATA.parser(), allow_negative_numbers = true, value_hint = ValueHint::FilePath, long_help = data_help("The tensor to pad."))]
    pub data: Operand,
    /// The number of places to add before each axis, such as 1,1 or a file; negative takes away
    #[arg(long, value_name = "I", value_parser = IndexList::parser(), value_hint = ValueHint::FilePath, help_heading = "Pad")]
    pub before: IndexList,
    /// The number of places to add behind each axis, such as 1,1 or a file; negative takes away
    #[arg(long, value_name = "I", value_parser = IndexList::parser(), value_hint = ValueHint::FilePath, help_heading = "Pad")]
    pub after: IndexList,
    /// The axes of these numbers, such as 0,-1 or a file [default: all]
    #[arg(long, value_name = "I", value_parser = IndexList::parser(), value_hint = ValueHint::FilePath, help_heading = "Pad")]
    pub axes: Option<IndexList>,
    /// The items of the new places
    ///
    /// Modes that mirror or wrap an axis go on doing so if more places are added than it has, like NumPy. Only constant adds
    /// places to an axis of length 0.
    #[arg(long, value_name = "MODE", value_parser = parse_words(modes()), default_value = "constant", help_heading = "Pad")]
    pub mode: PadMode,
    /// The item of new places in mode constant [default: 0, false, an empty string, NaT]
    ///
    /// The value has the dtype of DATA: a number such as -1 (also nan, inf, -inf), true or false, [re, im], a
    /// text or a date.
    #[arg(long, value_name = "VALUE", help_heading = "Pad")]
    pub fill: Option<String>,
    #[command(flatten)]
    pub options: OperatorOptions,
}

fn modes() -> Vec<OptionWord<PadMode>> {
    vec![
        word("constant", "The value of --fill", PadMode::Constant),
        word("edge", "The first or last place of the axis", PadMode::Edge),
        word("reflect", "The axis mirrored, without its first or last place", PadMode::Reflect),
        word("symmetric", "The axis mirrored, with its first or last place", PadMode::Symmetric),
        word("wrap", "The axis from its other end", PadMode::Wrap),
    ]
}

const PAD_EXAMPLES: &str = "\
Examples:
  tensorop pad image.npy --before 1,1 --after 1,1 -o framed.npy        # np.pad(image, 1)
  tensorop pad signal.npy --before 4 --after 4 --axes -1 --mode reflect
  tensorop pad data.npy --before 0,2 --after 0,2 --fill nan
  tensorop pad '[1,2,3,4]' --before -1 --after 0                       # without the first place";

impl Pad {
    pub(crate) fn run(&self, io: &Io) -> Result<Outcome> {
        let (mode, fill) = (self.mode, self.fill.as_deref());
        ensure!(fill.is_none() || mode == PadMode::Constant, "--fill: only --mode constant adds it");
        let mut operation = Operation::begin(io, &self.data, None, &self.options)?;
        operation.fill = fill;
        let list = |list, option| index_list(&operation.reader, list, option);
        let (before, after) = (list(&self.before, "--before")?, list(&self.after, "--after")?);
        let axes = self.axes.as_ref().map(|axes| list(axes, "--axes")).transpose()?;
        operation.open()?.run("pad (ONNX Pad, OpenVINO Pad-12)", &Call::Pad { before, after, axes, mode })
    }
}
