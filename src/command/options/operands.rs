//! Operands on the command line, and the options that say how to read them.

use std::ffi::OsString;
use std::path::PathBuf;

use clap::builder::{OsStringValueParser, TypedValueParser};
use clap::{Args, ValueHint};

use super::values::{DTypeParser, dtype_help, parse_format, parse_number};
use crate::DType;
use crate::format::Format;

const OPERANDS_HELP: &str = "An operand is a path (.npy, .npz, .safetensors, an ONNX TensorProto or JSON, told by its \
content; .csv and .tsv, told by the name), `-` for standard input (one operand of a command), or an inline JSON value: an \
argument that begins with [ or {, or is a number. A file of such a name is given as ./[... A member of a .npz or \
.safetensors file, or of the .safetensors.index.json of several, is named after a colon, as in weights.npz:conv1; a file \
with one member needs no name, and a path that exists is never divided. A Zarr store is a folder (with zarr.json, .zarray \
or .zgroup), and DIR:PATH an array in a group.

Bytes without a header are given with what they are, FILE:DTYPE[DIMS]@OFFSET, as in dump.bin:float32[16,3,-1] or \
'fw.img:>u2[4]@0x80': items in C order from byte OFFSET on (default 0). One dim may be -1, the rest of the file; without \
[DIMS] there is one axis. -:float32[2,5] is standard input.

Standard input is read in bounded memory; where it is needed in another order than it comes (a negative step, Fortran \
order) and is long, through a file without a name in $TMPDIR.";

/// What is put before an operand that begins with `-:`, which clap would take for an option. No argument holds it.
pub(crate) const SHELTER: char = '\0';

/// An argument as clap may see it: standard input with what its bytes are is no option.
pub(crate) fn sheltered(arg: OsString) -> OsString {
    match arg.to_str() {
        Some(text) if text.starts_with("-:") => format!("{SHELTER}{text}").into(),
        _ => arg,
    }
}

/// The long help of the first operand, which explains operands.
pub(crate) fn data_help(first: &str) -> String {
    format!("{first}\n\n{OPERANDS_HELP}")
}

/// Where an operand is.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum OperandArg {
    /// On standard input.
    Stdin,
    /// On standard input, as bytes without a header: what they are.
    StdinAs(String),
    /// On the command line, as JSON.
    Inline(String),
    /// In a file.
    Path(PathBuf),
}

impl OperandArg {
    /// For clap.
    pub(crate) fn parser() -> impl TypedValueParser<Value = Self> {
        OsStringValueParser::new().map(Self::from)
    }

    /// Whether it is on standard input.
    pub(crate) fn is_stdin(&self) -> bool {
        matches!(self, Self::Stdin | Self::StdinAs(_))
    }
}

impl From<OsString> for OperandArg {
    fn from(text: OsString) -> Self {
        match text.to_str() {
            Some("-") => Self::Stdin,
            Some(text) if text.trim_start_matches(SHELTER).starts_with("-:") => {
                Self::StdinAs(text.trim_start_matches(SHELTER).trim_start_matches("-:").to_owned())
            }
            Some(inline) if inline.starts_with(['[', '{']) || is_number(inline) => Self::Inline(inline.to_owned()),
            _ => Self::Path(text.into()),
        }
    }
}

/// Whether a text is a JSON number.
fn is_number(text: &str) -> bool {
    fn digits(text: &str) -> Option<&str> {
        let rest = text.trim_start_matches(|c: char| c.is_ascii_digit());
        (rest.len() < text.len()).then_some(rest)
    }
    let whole = text.strip_prefix('-').unwrap_or(text);
    let Some(mut rest) = digits(whole) else { return false };
    if whole.starts_with('0') && whole.len() - rest.len() > 1 {
        return false;
    }
    if let Some(fraction) = rest.strip_prefix('.') {
        let Some(after) = digits(fraction) else { return false };
        rest = after;
    }
    match rest.strip_prefix(['e', 'E']) {
        Some(exponent) => digits(exponent.strip_prefix(['+', '-']).unwrap_or(exponent)) == Some(""),
        None => rest.is_empty(),
    }
}

const DTYPE_HELP: &str = "The dtype of plain JSON or CSV, or what an ambiguous void is

Operands that have a dtype of their own keep it; it is an error only if there is no other operand. Plain JSON or CSV without \
it takes the dtype of the other operand, else int64, uint64, float64, bool or str by its content. INDICES of an operator \
are always integers. In diff, info and convert it also says what unsigned integers hold, and in convert of a single \
tensor what any bits are.";

#[derive(Debug, Args)]
#[command(next_help_heading = "Input")]
pub(crate) struct InputOptions {
    /// The dtype of plain JSON or CSV, or what an ambiguous void is (bfloat16, ...)
    #[arg(long, value_name = "DTYPE", value_parser = DTypeParser, hide_possible_values = true, allow_hyphen_values = true, long_help = dtype_help(DTYPE_HELP))]
    pub dtype: Option<DType>,
    /// The format of every operand that is not inline [default: by its content, or .csv, .tsv]
    #[arg(long, value_name = "FORMAT", value_parser = parse_format(Format::reading_help), allow_hyphen_values = true)]
    pub from: Option<Format>,
    /// Lines at the beginning of CSV and TSV to leave out, such as headings
    #[arg(long, value_name = "N", value_parser = parse_number::<usize>, value_hint = ValueHint::Other, default_value_t = 0, hide_default_value = true, allow_hyphen_values = true)]
    pub skip_rows: usize,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn kinds() {
        for inline in ["[1]", "{\"a\":1}", "[", "5", "-5", "0", "1.5", "-1e3", "2E+10", "0.5e-3"] {
            assert_eq!(OperandArg::from(OsString::from(inline)), OperandArg::Inline(inline.into()), "{inline}");
        }
        for path in ["data.npy", "./[1].npy", "./5", "05", "1.", ".5", "1e", "5.npy", "+5", "1e3x", "-x", ""] {
            assert_eq!(OperandArg::from(OsString::from(path)), OperandArg::Path(path.into()), "{path}");
        }
        assert_eq!(OperandArg::from(OsString::from("-")), OperandArg::Stdin);
        let viewed = OperandArg::from(sheltered("-:>u2[-1]".into()));
        assert_eq!((viewed.is_stdin(), viewed), (true, OperandArg::StdinAs(">u2[-1]".into())));
    }
}
