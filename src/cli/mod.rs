//! What the user types. Text becomes domain types here, so that bad text fails as usage.

pub mod at;
pub mod convert;
pub mod diff;
pub mod index_list;
pub mod info;
pub mod operand;

use std::ffi::OsString;
use std::num::NonZero;
use std::path::{Path, PathBuf};

use clap::builder::{OsStringValueParser, TypedValueParser};
use clap::error::ErrorKind;
use clap::{ArgGroup, Args, CommandFactory, Parser, Subcommand, ValueEnum, ValueHint};
use tensorop::exec::{self, Options};
use tensorop::format::Format;
use tensorop::open::files_before_colons;
use tensorop::ops::slice::SliceArgs;
use tensorop::parallel::Threads;
use tensorop::{DType, Reduction};

use index_list::IndexList;
use operand::OperandArg;

const HEADING_INPUT: &str = "Input";
const HEADING_SLICE: &str = "Slice";
const HEADING_OUTPUT: &str = "Output";
const HEADING_TEXT: &str = "Text output";
const HEADING_RUN: &str = "Run";

const OPERANDS_HELP: &str = "An operand is a path (.npy, .npz, .safetensors, an ONNX TensorProto or JSON, told by its \
content), `-` for standard input (one operand of a command), or an inline JSON value: an argument that begins with [ \
or {, or is a number. A file of such a name is given as ./[... A member of a .npz or .safetensors file is named after \
a colon, as in weights.npz:conv1; a file with one member needs no name, and a path that exists is never divided. Standard input is read in bounded memory; where it is needed in another order than it \
comes (a negative step, Fortran order) and is long, through a file without a name in $TMPDIR.";

/// Tensor operators on files, exactly as OpenVINO and ONNX specify them; tensors compared, described and converted.
///
/// Reads tensors (.npy, .npz, .safetensors, ONNX .pb, JSON) and index arguments, computes the operator's result, and
/// prints it or writes it to a file. Any dtype that a .npy file can hold is moved without a bit being altered. What is
/// not said here is as in NumPy.
#[derive(Debug, Parser)]
#[command(version, name = "tensorop", after_help = EXIT_HELP, after_long_help = LONG_HELP)]
pub struct Cli {
    #[command(subcommand)]
    pub command: Command,
}

const EXIT_HELP: &str =
    "Exit status: 0 success, 1 diff found a difference, 2 anything else. Errors are one line on standard error.";

const LONG_HELP: &str = "\
Examples:
  tensorop slice data.npy --at '0:2, ::-1'
  tensorop slice-scatter data.npy row.npy --start 0 --stop 1 -o patched.npy
  tensorop scatter-update data.npy '[0,2]' updates.npy --axis 1
  tensorop scatter-nd table.npy rows.npy gradients.npy --reduction add -o table.npy
  tensorop slice big.npy --at :1 --to npy | tensorop slice-scatter - --fill 0 --at ':, :4'
  tensorop slice-scatter model.safetensors:head.bias --fill 0 --at : --in-place
  tensorop diff golden.npy out.npy --rtol 1e-5
  tensorop info model.safetensors --stats
  tensorop convert test_data_set_0/input_0.pb -o input.npy

Exit status: 0 success, 1 diff found a difference, 2 anything else. Errors are one line on standard error. No file is then written or \
replaced; on standard output an error may come after a part of the output. A closed pipe ends the program quietly with status 0. NO_COLOR is honoured.";

#[derive(Debug, Subcommand)]
pub enum Command {
    Slice(Slice),
    SliceScatter(SliceScatter),
    ScatterUpdate(ScatterUpdate),
    ScatterNd(ScatterNd),
    Diff(diff::Diff),
    Info(info::Info),
    Convert(convert::Convert),
    Completions(Completions),
    Man(Man),
}

/// Take a slice of a tensor (OpenVINO Slice-8)
///
/// Takes the places start, start + step, ... before stop on each named axis, as Python's data[start:stop:step]
/// does: negative numbers count from the end, numbers beyond the axis are clamped, a negative step runs backwards.
/// Axes that are not named are taken whole.
///
/// Shape of the output: that of DATA, with the number of places taken on each named axis.
#[derive(Debug, Args)]
#[command(override_usage = "tensorop slice [OPTIONS] <DATA> <--start <I> --stop <I>|--at <SLICES>>", after_long_help = SLICE_EXAMPLES)]
pub struct Slice {
    /// The tensor to be sliced
    #[arg(value_name = "DATA", value_parser = OperandArg::parser(), allow_negative_numbers = true, value_hint = ValueHint::FilePath, long_help = data_help("The tensor to be sliced."))]
    pub data: OperandArg,
    #[command(flatten)]
    pub slices: SliceOptions,
    #[command(flatten)]
    pub input: InputOptions,
    #[command(flatten)]
    pub output: OutputOptions,
    #[command(flatten)]
    pub run: RunOptions,
}

const SLICE_EXAMPLES: &str = "\
Examples:
  tensorop slice data.npy --start 0,1 --stop 2,4 --step 1,2
  tensorop slice data.npy --start -1 --stop INT_MIN --step -1 --axes -1     # reverse the last axis
  tensorop slice data.npy --at '..., 1:3' -o part.npy
  tensorop slice '[[0,1,2],[3,4,5]]' --at ':, ::2' --dtype float32 --to json

Only the bytes that the slice needs are read from a .npy file.";

/// Put updates into a slice of a tensor (OpenVINO SliceScatter-15)
///
/// The output is DATA, but the places that `slice` would take hold UPDATES. Nothing broadcasts; --fill puts one
/// value into all places.
///
/// Shape of UPDATES: that of the slice. Shape of the output: that of DATA.
#[derive(Debug, Args)]
#[command(override_usage = "tensorop slice-scatter [OPTIONS] <DATA> <UPDATES|--fill <VALUE>> <--start <I> --stop <I>|--at <SLICES>>", after_long_help = SLICE_SCATTER_EXAMPLES)]
pub struct SliceScatter {
    /// The tensor to begin with
    #[arg(value_name = "DATA", value_parser = OperandArg::parser(), allow_negative_numbers = true, value_hint = ValueHint::FilePath, long_help = data_help("The tensor to begin with."))]
    pub data: OperandArg,
    #[command(flatten)]
    pub updates: UpdatesOptions,
    #[command(flatten)]
    pub slices: SliceOptions,
    #[command(flatten)]
    pub input: InputOptions,
    #[command(flatten)]
    pub output: OutputOptions,
    #[command(flatten)]
    pub edit: EditOptions,
    #[command(flatten)]
    pub run: RunOptions,
}

const SLICE_SCATTER_EXAMPLES: &str = "\
Examples:
  tensorop slice-scatter data.npy row.npy --start 0 --stop 1 --step 1
  tensorop slice-scatter data.npy even.npy --at '..., ::2' -o data.npy
  tensorop slice-scatter data.npy --fill NaN --at '2:4' -o masked.npy";

/// Put updates at indices of one axis (OpenVINO ScatterUpdate-3)
///
/// The output is DATA with, on the axis, DATA[..., INDICES[i], ...] = UPDATES[..., i, ...]. An index below 0 or beyond
/// the axis is an error. Of repeated indices the last one wins.
///
/// Shape of UPDATES: that of DATA with the shape of INDICES in the place of the axis. Shape of the output: that of
/// DATA.
#[derive(Debug, Args)]
#[command(override_usage = "tensorop scatter-update [OPTIONS] <DATA> <INDICES> <UPDATES|--fill <VALUE>> --axis <N>", after_long_help = SCATTER_UPDATE_EXAMPLES)]
pub struct ScatterUpdate {
    /// The tensor to begin with
    #[arg(value_name = "DATA", value_parser = OperandArg::parser(), allow_negative_numbers = true, value_hint = ValueHint::FilePath, long_help = data_help("The tensor to begin with."))]
    pub data: OperandArg,
    /// Integers of any rank, places of the axis: an operand as DATA
    #[arg(value_name = "INDICES", value_parser = OperandArg::parser(), allow_negative_numbers = true, value_hint = ValueHint::FilePath)]
    pub indices: OperandArg,
    #[command(flatten)]
    pub updates: UpdatesOptions,
    /// The axis: an integer from -rank to rank - 1 (also [N], or a file with one integer)
    #[arg(long, value_name = "N", value_hint = ValueHint::Other, value_parser = IndexList::parser(), allow_hyphen_values = true, help_heading = "Scatter")]
    pub axis: IndexList,
    #[command(flatten)]
    pub duplicates: DuplicateOptions,
    #[command(flatten)]
    pub input: InputOptions,
    #[command(flatten)]
    pub output: OutputOptions,
    #[command(flatten)]
    pub edit: EditOptions,
    #[command(flatten)]
    pub run: RunOptions,
}

const SCATTER_UPDATE_EXAMPLES: &str = "\
Examples:
  tensorop scatter-update data.npy indices.npy updates.npy --axis 1
  tensorop scatter-update data.npy '[0,2]' '[[1,1],[1,1],[1,2]]' --axis 1 -o out.npy
  tensorop scatter-update table.npy stale.npy --fill 0 --axis 0 -o table.npy";

/// Put or reduce updates at index tuples (ONNX ScatterND 11, 13, 16, 18)
///
/// Each tuple of k numbers along the last axis of INDICES addresses a block of DATA of shape DATA.shape[k:]. The
/// output is DATA, but each block holds its update, or is reduced with it in the order of the tuples. Negative
/// indices count from the end, an index out of range is an error. Without a reduction the last of repeated tuples
/// wins.
///
/// Shape of UPDATES: INDICES.shape[:-1] and then DATA.shape[k:]. Shape of the output: that of DATA.
#[derive(Debug, Args)]
#[command(override_usage = "tensorop scatter-nd [OPTIONS] <DATA> <INDICES> <UPDATES|--fill <VALUE>>", after_long_help = SCATTER_ND_EXAMPLES)]
pub struct ScatterNd {
    /// The tensor to begin with
    #[arg(value_name = "DATA", value_parser = OperandArg::parser(), allow_negative_numbers = true, value_hint = ValueHint::FilePath, long_help = data_help("The tensor to begin with."))]
    pub data: OperandArg,
    /// Integers, index tuples along the last axis: an operand as DATA
    #[arg(value_name = "INDICES", value_parser = OperandArg::parser(), allow_negative_numbers = true, value_hint = ValueHint::FilePath)]
    pub indices: OperandArg,
    #[command(flatten)]
    pub updates: UpdatesOptions,
    /// What to do with an old item and its update
    #[arg(
        long,
        value_enum,
        value_name = "REDUCTION",
        default_value = "none",
        allow_hyphen_values = true,
        help_heading = "Scatter"
    )]
    pub reduction: ReductionArg,
    /// The ONNX opset that decides which reductions and element types are legal
    #[arg(long, value_name = "N", value_parser = parse_number::<u64>, value_hint = ValueHint::Other, default_value_t = 18, allow_hyphen_values = true, help_heading = "Scatter")]
    pub opset: u64,
    #[command(flatten)]
    pub duplicates: DuplicateOptions,
    #[command(flatten)]
    pub input: InputOptions,
    #[command(flatten)]
    pub output: OutputOptions,
    #[command(flatten)]
    pub edit: EditOptions,
    #[command(flatten)]
    pub run: RunOptions,
}

const SCATTER_ND_EXAMPLES: &str = "\
Examples:
  tensorop scatter-nd data.npy indices.npy updates.npy
  tensorop scatter-nd '[1,2,3,4]' '[[3],[0]]' '[9,10]'
  tensorop scatter-nd table.npy rows.npy gradients.npy --reduction add -o table.npy
  tensorop scatter-nd data.npy points.npy --fill 0 --opset 13

Reductions round once a step in the item's own dtype; integers wrap; for bool add and max are or, mul and min \
are and; NaN on either side of max or min gives NaN. Opset 16 brought add and mul, 18 max and min.";

const COMPLETIONS_EXAMPLES: &str = "\
Examples:
  tensorop completions bash > ~/.local/share/bash-completion/completions/tensorop
  tensorop completions zsh > ~/.zfunc/_tensorop        # in a folder of $fpath
  tensorop completions fish > ~/.config/fish/completions/tensorop.fish
  tensorop completions powershell >> $PROFILE
  tensorop completions elvish >> ~/.config/elvish/rc.elv";

/// Print a completion script for a shell
#[derive(Debug, Args)]
#[command(
    after_long_help = COMPLETIONS_EXAMPLES
)]
pub struct Completions {
    /// The shell
    #[arg(value_enum)]
    pub shell: clap_complete::Shell,
}

/// Write the man pages
///
/// One page for the program and one for each sub-command, tensorop.1, tensorop-slice.1, ... Without FOLDER the page
/// of the program is printed.
#[derive(Debug, Args)]
#[command(after_long_help = MAN_EXAMPLES)]
pub struct Man {
    /// Where to write them: a folder, which is made if it is missing
    #[arg(value_name = "FOLDER", value_parser = OsStringValueParser::new().map(PathBuf::from), value_hint = ValueHint::DirPath)]
    pub folder: Option<PathBuf>,
}

const MAN_EXAMPLES: &str = "\
Examples:
  tensorop man ~/.local/share/man/man1
  tensorop man | man -l -";

fn data_help(first: &str) -> String {
    format!("{first}\n\n{OPERANDS_HELP}")
}

#[derive(Debug, Args)]
#[command(group = ArgGroup::new("new").args(["updates", "fill"]).required(true))]
pub struct UpdatesOptions {
    /// The new items, of DATA's dtype: an operand as DATA
    #[arg(value_name = "UPDATES", value_parser = OperandArg::parser(), allow_negative_numbers = true, value_hint = ValueHint::FilePath)]
    pub updates: Option<OperandArg>,
    /// One value for every place addressed, instead of UPDATES
    ///
    /// The value is of DATA's dtype: a number such as -1 (also NaN, Infinity, -Infinity), true or false, [re, im], a
    /// text or a date.
    #[arg(long, value_name = "VALUE", value_hint = ValueHint::Other, allow_hyphen_values = true, conflicts_with = "updates", help_heading = "Updates")]
    pub fill: Option<String>,
}

#[derive(Debug, Args)]
#[command(next_help_heading = HEADING_SLICE, group = ArgGroup::new("range").args(["start", "at"]).required(true))]
pub struct SliceOptions {
    /// The first place on each axis: 0,1 or [0,1] or a file
    ///
    /// A list of integers such as 0,1 or [0,-1], or the path of a 1-D integer tensor. INT_MAX and INT_MIN are the
    /// extremes of int64. An empty value (--start=) is the empty list.
    #[arg(long, value_name = "I", value_parser = IndexList::parser(), allow_hyphen_values = true, requires = "stop", value_hint = ValueHint::FilePath)]
    pub start: Option<IndexList>,
    /// The place before which to stop on each axis, as --start
    ///
    /// INT_MAX is the end of any axis; INT_MIN takes its begin in, too, when the step is negative.
    #[arg(long, value_name = "I", value_parser = IndexList::parser(), allow_hyphen_values = true, requires = "start", value_hint = ValueHint::FilePath)]
    pub stop: Option<IndexList>,
    /// From one place to the next on each axis, as --start [default: 1 for each]
    #[arg(long, value_name = "I", value_parser = IndexList::parser(), allow_hyphen_values = true, requires = "start", value_hint = ValueHint::FilePath)]
    pub step: Option<IndexList>,
    /// The axes that start, stop and step are for, as --start [default: 0,1,..]
    #[arg(long, value_name = "I", value_parser = IndexList::parser(), allow_hyphen_values = true, requires = "start", value_hint = ValueHint::FilePath)]
    pub axes: Option<IndexList>,
    /// Slices in NumPy's notation, such as '1:8:2, ..., ::-1'
    ///
    /// Basic slices of NumPy, one an axis; axes not named are taken whole. An integer alone would drop its axis and
    /// is refused: write 3:4 for 3, and `-1:` for -1.
    #[arg(long, value_name = "SLICES", value_parser = at::parse, value_hint = ValueHint::Other, allow_hyphen_values = true, conflicts_with_all = ["start", "stop", "step", "axes"])]
    pub at: Option<SliceArgs>,
}

#[derive(Debug, Args)]
pub struct DuplicateOptions {
    /// What to do about an index that occurs twice [default: last]
    ///
    /// With a reduction repeated indices are what it is for, and the option is a usage error.
    #[arg(long, value_enum, value_name = "WHAT", allow_hyphen_values = true, help_heading = "Scatter")]
    pub on_duplicate: Option<OnDuplicate>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum OnDuplicate {
    /// The last one in index order wins
    Last,
    /// Refuse, naming the earliest position that repeats one, and the one it repeats
    Error,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum ReductionArg {
    /// The update replaces the item
    None,
    /// Their sum
    Add,
    /// Their product
    Mul,
    /// The larger
    Max,
    /// The smaller
    Min,
}

impl From<ReductionArg> for Reduction {
    fn from(arg: ReductionArg) -> Self {
        match arg {
            ReductionArg::None => Reduction::None,
            ReductionArg::Add => Reduction::Add,
            ReductionArg::Mul => Reduction::Mul,
            ReductionArg::Max => Reduction::Max,
            ReductionArg::Min => Reduction::Min,
        }
    }
}

#[derive(Debug, Args)]
#[command(next_help_heading = HEADING_INPUT)]
pub struct InputOptions {
    /// The dtype of plain JSON, or what an ambiguous void is (bfloat16, ...)
    ///
    /// A NumPy name (float32), a bfloat16, float8 or int4 of ml_dtypes, or a description ('<U5', '<M8[ns]'). Plain JSON
    /// without it takes the dtype of the other operand, else int64, uint64, float64, bool or str by its content. INDICES
    /// of an operator are always integers. In diff and info it also says what unsigned integers hold, in convert what
    /// any bits are.
    #[arg(long, value_name = "DTYPE", value_parser = parse_dtype, value_hint = ValueHint::Other, allow_hyphen_values = true)]
    pub dtype: Option<DType>,
    /// The format of every operand that is not inline [default: by its content]
    #[arg(long, value_enum, value_name = "FORMAT", allow_hyphen_values = true)]
    pub from: Option<InputFormat>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum InputFormat {
    /// NumPy's .npy
    Npy,
    /// NumPy's .npz, a ZIP archive of .npy
    Npz,
    /// safetensors
    Safetensors,
    /// An ONNX TensorProto
    #[value(alias = "onnx")]
    Pb,
    /// JSON, also that of KServe's version 2 protocol
    Json,
}

impl From<InputFormat> for Format {
    fn from(format: InputFormat) -> Self {
        match format {
            InputFormat::Npy => Format::Npy,
            InputFormat::Npz => Format::Npz,
            InputFormat::Safetensors => Format::Safetensors,
            InputFormat::Pb => Format::Onnx,
            InputFormat::Json => Format::Json,
        }
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum OutputFormat {
    /// NumPy's .npy, byte for byte as numpy.save
    Npy,
    /// NumPy's .npz, not compressed, with fixed times
    Npz,
    /// safetensors
    Safetensors,
    /// An ONNX TensorProto with raw data
    #[value(alias = "onnx")]
    Pb,
    /// One JSON object that reads back to the same bits
    Json,
    /// What NumPy prints
    Text,
}

impl OutputFormat {
    /// The name that `--to` takes.
    pub fn name(self) -> &'static str {
        ["npy", "npz", "safetensors", "pb", "json", "text"][self as usize]
    }

    /// Whether it is not meant to be read by people.
    pub fn is_binary(self) -> bool {
        !matches!(self, Self::Json | Self::Text)
    }

    /// Whether it holds any number of tensors, by their names.
    pub fn is_container(self) -> bool {
        matches!(self, Self::Npz | Self::Safetensors)
    }
}

#[derive(Debug, Args)]
#[command(next_help_heading = HEADING_OUTPUT)]
pub struct OutputOptions {
    /// Where to write [default: text on standard output]
    ///
    /// The format follows the name (.npy, .npz, .safetensors, .pb, .json, .txt) or --to. In a .npz or .safetensors
    /// file an operator's output is called arr_0. A file of several tensors, one of which is an input, is not replaced by
    /// fewer. A file appears, or is replaced, only when it is complete, and may be one of the inputs. A file that is
    /// replaced is the old or the whole new one even after a loss of power, since the new one is synced to the disk
    /// first; a new file is not synced. `-` is standard output. What is no regular file (a device, a pipe) is written
    /// as it comes.
    #[arg(short, long, value_name = "FILE", value_parser = OsStringValueParser::new().map(PathBuf::from), allow_hyphen_values = true, value_hint = ValueHint::FilePath)]
    pub output: Option<PathBuf>,
    /// The format of the output [default: by the name of FILE, else text]
    #[arg(long, value_enum, value_name = "FORMAT", allow_hyphen_values = true)]
    pub to: Option<OutputFormat>,
    /// Refuse to replace a file
    #[arg(long, requires = "output")]
    pub no_clobber: bool,
    /// Make every check, print what would be done, write nothing
    #[arg(long)]
    pub dry_run: bool,
    /// Print ... for the middle of arrays of more than N items [default: 1000 on a terminal, else never]
    #[arg(long, value_name = "N", value_parser = parse_number::<usize>, value_hint = ValueHint::Other, allow_hyphen_values = true, help_heading = HEADING_TEXT)]
    pub threshold: Option<usize>,
    /// Items at each end of an axis that stay when it is elided
    #[arg(long, value_name = "N", value_parser = parse_number::<usize>, value_hint = ValueHint::Other, default_value_t = 3, allow_hyphen_values = true, help_heading = HEADING_TEXT)]
    pub edgeitems: usize,
    /// Characters in a line
    #[arg(long, value_name = "N", value_parser = parse_number::<usize>, value_hint = ValueHint::Other, default_value_t = 75, allow_hyphen_values = true, help_heading = HEADING_TEXT)]
    pub linewidth: usize,
    /// At most N digits after the point [default: as many as tell the value]
    #[arg(long, value_name = "N", value_parser = parse_number::<usize>, value_hint = ValueHint::Other, allow_hyphen_values = true, help_heading = HEADING_TEXT)]
    pub precision: Option<usize>,
}

impl OutputOptions {
    /// The format that `--to` or the name of the output tells.
    ///
    /// # Errors
    /// A name that does not tell it.
    pub fn format(&self) -> anyhow::Result<OutputFormat> {
        if let Some(path) = self.output.as_deref().filter(|path| !path.exists()) {
            let container = |file: &Path| file.extension().is_some_and(|e| e == "npz" || e == "safetensors");
            if files_before_colons(path).any(|(file, _)| container(&file)) {
                let name = path.display();
                anyhow::bail!("output {name}: a tensor in a file is no output: name a file (or use --in-place)");
            }
        }
        let name = self.output.as_deref().filter(|name| *name != Path::new("-"));
        let extension = name.map(|name| name.extension().map(|e| e.to_ascii_lowercase()).unwrap_or_default());
        match (self.to, extension.as_ref().map(|e| e.to_str())) {
            (Some(format), _) => Ok(format),
            (None, None) => Ok(OutputFormat::Text),
            (None, Some(Some("npy"))) => Ok(OutputFormat::Npy),
            (None, Some(Some("npz"))) => Ok(OutputFormat::Npz),
            (None, Some(Some("safetensors"))) => Ok(OutputFormat::Safetensors),
            (None, Some(Some("pb"))) => Ok(OutputFormat::Pb),
            (None, Some(Some("json"))) => Ok(OutputFormat::Json),
            (None, Some(Some("txt"))) => Ok(OutputFormat::Text),
            (None, Some(_)) => {
                let name = name.unwrap_or(Path::new("")).display();
                anyhow::bail!(
                    "output {name}: the name does not tell the format: end it in .npy, .npz, .safetensors, .pb, .json or \
                     .txt, or give --to"
                )
            }
        }
    }
}

#[derive(Debug, Args)]
pub struct EditOptions {
    /// Change DATA, a .npy file or a tensor of a .safetensors file, where it lies, instead of writing an output
    ///
    /// Costs what is changed, not what the file holds. Every check is made before the first byte is written, and the
    /// file is locked meanwhile, so that several such edits of one file are done one after the other. UPDATES and
    /// INDICES may be DATA itself: they count as read before. Not atomic: if the machine or the program is stopped
    /// in the middle, a part of the changes has been made; and nothing is synced to the disk. To be safe from that, use
    /// -o with the name of a .npy file itself.
    #[arg(short, long, conflicts_with_all = ["output", "to", "no_clobber"], help_heading = HEADING_OUTPUT)]
    pub in_place: bool,
}

#[derive(Debug, Args)]
#[command(next_help_heading = HEADING_RUN)]
pub struct RunOptions {
    #[command(flatten)]
    pub threads: ThreadOptions,
    /// Show no progress (else shown on a terminal if it takes more than a second)
    #[arg(short, long)]
    pub quiet: bool,
}

impl RunOptions {
    /// How a job is to be carried out.
    pub fn options(&self, in_place: bool) -> anyhow::Result<Options> {
        Ok(Options { threads: self.threads.threads()?, room: 0, in_place })
    }
}

#[derive(Debug, Args)]
#[command(next_help_heading = HEADING_RUN)]
pub struct ThreadOptions {
    /// Threads at most [default: $TENSOROP_THREADS, else all cores up to 8]
    ///
    /// The output is the same for any number.
    #[arg(long, value_name = "N", value_parser = parse_threads, value_hint = ValueHint::Other, allow_hyphen_values = true)]
    pub threads: Option<NonZero<usize>>,
}

impl ThreadOptions {
    /// What was asked for, here or in the environment.
    pub fn threads(&self) -> anyhow::Result<Threads> {
        let asked = match (self.threads, std::env::var_os("TENSOROP_THREADS").filter(|text| !text.is_empty())) {
            (Some(threads), _) => threads,
            (None, None) => return Ok(exec::tested(Threads::default())),
            (None, Some(text)) => {
                let number = parse_threads(&text.to_string_lossy());
                number.map_err(|message| anyhow::anyhow!("TENSOROP_THREADS: {}: {message}", text.display()))?
            }
        };
        Ok(exec::tested(Threads::new(Some(asked))))
    }
}

fn parse_threads(text: &str) -> Result<NonZero<usize>, String> {
    text.parse().map_err(|_| "expected a whole number, 1 or more".to_owned())
}

/// A number of things.
fn parse_number<N: std::str::FromStr>(text: &str) -> Result<N, String> {
    text.parse().map_err(|_| "expected a whole number, 0 or more".to_owned())
}

fn parse_dtype(text: &str) -> Result<DType, String> {
    DType::parse(text).map_err(|error| error.message().to_owned())
}

/// What the user asked for, or the text that ends the program.
pub fn parse(args: impl IntoIterator<Item = OsString>) -> Result<Cli, Ended> {
    Cli::try_parse_from(args).map_err(|error| match error.kind() {
        _ if !error.use_stderr() => Ended::Help(error),
        ErrorKind::DisplayHelpOnMissingArgumentOrSubcommand => Ended::Usage(no_sub_command()),
        _ => Ended::Usage(in_short(&error.render().to_string())),
    })
}

fn no_sub_command() -> String {
    let grammar = grammar();
    let names: Vec<&str> = grammar.get_subcommands().map(clap::Command::get_name).collect();
    let names = names.join(", ");
    format!(
        "error: a sub-command is missing: one of {names}\nUsage: tensorop <COMMAND>\nFor more information, try '--help'.\n"
    )
}

/// Why there is nothing to do.
pub enum Ended {
    /// Help or the version was asked for.
    Help(clap::Error),
    /// The command line is wrong: the message.
    Usage(String),
}

/// A usage error in at most three lines: what is wrong, the usage, the way to the help.
fn in_short(message: &str) -> String {
    const LONGEST: usize = 400;
    let paragraphs = message.split("\n\n").map(|p| p.split_whitespace().collect::<Vec<_>>().join(" "));
    let (mut what, mut ways) = (Vec::new(), Vec::new());
    for paragraph in paragraphs.filter(|p| !p.is_empty()) {
        let is_way = paragraph.starts_with("Usage:") || paragraph.starts_with("For more");
        if is_way { ways.push(paragraph) } else { what.push(paragraph) }
    }
    let mut first = what.join("; ");
    if let Some((end, _)) = first.char_indices().nth(LONGEST) {
        first.truncate(end);
        first.push_str("...");
    }
    std::iter::once(first).chain(ways).map(|line| line + "\n").collect()
}

/// The command line's grammar, for completions.
pub fn grammar() -> clap::Command {
    Cli::command()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_grammar_is_sound() {
        grammar().debug_assert();
    }
}
