//! `tensorop info`.

use clap::{Args, ValueHint};

use super::operand::OperandArg;
use super::{InputOptions, ThreadOptions};

/// Say what files hold: format, dtype, shape, order, byte order, bytes, where the data begins
///
/// Only headers are read, whatever the size of the file; of a .npz or .safetensors file without a member's name all
/// members are listed. --stats reads the items, too.
#[derive(Debug, Args)]
#[command(override_usage = "tensorop info [OPTIONS] <FILE>...", after_long_help = EXAMPLES)]
pub struct Info {
    /// The tensors
    #[arg(value_name = "FILE", required = true, value_parser = OperandArg::parser(), allow_negative_numbers = true, value_hint = ValueHint::FilePath, long_help = super::data_help("The tensors."))]
    pub files: Vec<OperandArg>,
    /// Smallest and largest item, mean, standard deviation, how many NaN, infinite and zero, a histogram
    ///
    /// Over the finite items; the standard deviation is the population's. The same bytes for any number of threads.
    #[arg(long)]
    pub stats: bool,
    /// Print a JSON array with one object for each tensor
    #[arg(long, conflicts_with = "members")]
    pub json: bool,
    /// Print only the names of the members, one a line
    #[arg(long, conflicts_with = "stats")]
    pub members: bool,
    #[command(flatten)]
    pub input: InputOptions,
    #[command(flatten)]
    pub threads: ThreadOptions,
}

const EXAMPLES: &str = "\
Examples:
  tensorop info data.npy
  tensorop info model.safetensors | grep bias
  tensorop info model.safetensors:head.bias --stats
  tensorop info *.npy --json | jq '.[].shape'

With --json each object has file, member, format (npy, npz, safetensors, onnx, json), dtype (as --dtype takes it; fields as NumPy's descr), shape, \
order (C or F), byte_order (little, big, or null), items, bytes (as stored, before compression), offset (where the \
items begin in the file, or null), and with --stats also stats: min and max with their index, mean, std, nan, inf, zero.";
