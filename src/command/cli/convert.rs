//! `tensorop convert`.

use std::ffi::{OsStr, OsString};
use std::path::Path;

use crate::DType;
use crate::open::files_before_colons;
use clap::builder::{OsStringValueParser, TypedValueParser};
use clap::{Args, ValueEnum, ValueHint};

use super::operand::OperandArg;
use super::{InputOptions, OutputOptions, RunOptions, parse_dtype};

/// Write tensors in another format, dtype or order
///
/// Changes the container; the values only if --cast asks for it, and the reading of the bits only if --dtype does. To a
/// .npz or .safetensors file several tensors can be written: NAME=IN gives one its name, a whole .npz or .safetensors
/// file brings its members with their names (but not the metadata of a .safetensors), others are arr_0, arr_1, ... as
/// they come.
#[derive(Debug, Args)]
#[command(override_usage = "tensorop convert [OPTIONS] [NAME=]<IN>... [-o <OUT>]", after_long_help = EXAMPLES)]
pub struct Convert {
    /// The tensors, each with its name in a container, if it should have one
    #[arg(value_name = "[NAME=]IN", required = true, value_parser = NamedOperand::parser(), allow_negative_numbers = true, value_hint = ValueHint::FilePath, long_help = super::data_help("The tensors, each as IN or NAME=IN (an IN that exists as a file is taken as it is)."))]
    pub inputs: Vec<NamedOperand>,
    /// Convert the values to this dtype
    ///
    /// To floats and complex numbers each value is rounded once, to nearest, ties to even. To integers and bool the
    /// value must be exact; else the first one that is not is an error.
    #[arg(long, value_name = "DTYPE", value_parser = parse_dtype, value_hint = ValueHint::Other, allow_hyphen_values = true, help_heading = HEADING)]
    pub cast: Option<DType>,
    /// With --cast: truncate fractions and take the nearest integer the dtype has (0 for NaN); drop imaginary parts
    #[arg(long, requires = "cast", help_heading = HEADING)]
    pub lossy: bool,
    /// The byte order of a .npy or .npz [default: as it is]
    #[arg(long, value_enum, value_name = "ORDER", allow_hyphen_values = true, help_heading = HEADING)]
    pub byte_order: Option<ByteOrder>,
    /// The order of the items in a .npy or .npz
    #[arg(
        long,
        value_enum,
        value_name = "ORDER",
        default_value = "C",
        ignore_case = true,
        allow_hyphen_values = true,
        help_heading = HEADING
    )]
    pub order: Order,
    #[command(flatten)]
    pub input: InputOptions,
    #[command(flatten)]
    pub output: OutputOptions,
    #[command(flatten)]
    pub run: RunOptions,
}

const HEADING: &str = "Conversion";

const EXAMPLES: &str = "\
Examples:
  tensorop convert weights.npz:conv1 -o conv1.npy
  tensorop convert weights.npz -o weights.safetensors
  tensorop convert a=first.npy b=second.npy -o both.npz
  tensorop convert test_data_set_0/input_0.pb -o input.npy
  tensorop convert model.safetensors:head --cast float32 -o head.npy
  tensorop convert golden_bits.npy --dtype bfloat16 -o golden.safetensors     # uint16 that holds bfloat16
  tensorop convert data.npy --byte-order big --order F -o other.npy

--dtype says what the bits of an operand are, of any dtype with items of as many bytes; of plain JSON it is the dtype.";

/// An operand with its name in a container.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NamedOperand {
    /// What is before the `=`.
    pub name: Option<String>,
    /// The operand.
    pub operand: OperandArg,
}

impl NamedOperand {
    fn parser() -> impl TypedValueParser<Value = Self> {
        OsStringValueParser::new().map(Self::from)
    }
}

impl From<OsString> for NamedOperand {
    fn from(text: OsString) -> Self {
        match (OperandArg::from(text.clone()), divided(&text)) {
            (OperandArg::Path(path), Some((name, operand))) if !exists(&path) => {
                Self { name: Some(name), operand: operand.into() }
            }
            (operand, _) => Self { name: None, operand },
        }
    }
}

/// What is before and after the first `=`, if there is a name before it. The path after it need not be Unicode.
#[cfg(unix)]
fn divided(text: &OsStr) -> Option<(String, OsString)> {
    use std::os::unix::ffi::OsStrExt;
    let bytes = text.as_bytes();
    let (name, operand) = bytes.split_at_checked(bytes.iter().position(|byte| *byte == b'=').filter(|at| *at > 0)?)?;
    Some((str::from_utf8(name).ok()?.to_owned(), OsStr::from_bytes(operand.get(1..)?).to_owned()))
}

/// What is before and after the first `=`, if there is a name before it; here of a text that is Unicode.
#[cfg(not(unix))]
fn divided(text: &OsStr) -> Option<(String, OsString)> {
    let (name, operand) = text.to_str()?.split_once('=').filter(|(name, _)| !name.is_empty())?;
    Some((name.to_owned(), operand.into()))
}

/// Whether a path, or the part of it before a colon, is there.
fn exists(path: &Path) -> bool {
    path.exists() || files_before_colons(path).next().is_some()
}

/// The byte order of the output.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum ByteOrder {
    /// The lowest byte first
    Little,
    /// The highest byte first
    Big,
}

/// The order of the items.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum Order {
    /// The last axis runs fastest
    #[value(name = "C")]
    C,
    /// The first axis runs fastest
    #[value(name = "F")]
    F,
}
