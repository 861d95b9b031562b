//! `convert`: from one container, format or dtype to another.

use std::ffi::{OsStr, OsString};
use std::path::Path;

use anyhow::{Result, bail};
use clap::builder::{OsStringValueParser, TypedValueParser};
use clap::{Args, ValueEnum, ValueHint};

use super::Outcome;
use super::dry_run::Report;
use super::emit::emit;
use super::options::operands::{InputOptions, OperandArg, data_help};
use super::options::output::OutputOptions;
use super::options::run::RunOptions;
use super::options::values::parse_dtype;
use super::sources::{self, Reading, as_asked, plain_as};
use crate::DType;
use crate::format::open::{Input, files_before_colons};
use crate::format::write::{Recast, Work};
use crate::item::meta;
use crate::ops::fill::Limits;
use crate::ops::selection::Selection;
use crate::storage::source::Source;

/// Write tensors in another format, dtype or order
///
/// Changes the container; the values only if --cast asks for it, and the reading of the bits only if --dtype does. To a
/// .npz or .safetensors file several tensors can be written: NAME=IN gives one its name, a whole .npz or .safetensors
/// file brings its members with their names (but not the metadata of a .safetensors), others are arr_0, arr_1, ... as
/// they come.
#[derive(Debug, Args)]
#[command(override_usage = "tensorop convert [OPTIONS] [NAME=]<IN>... [-o <OUT>]", after_long_help = EXAMPLES)]
pub(super) struct Convert {
    /// The tensors, each with its name in a container, if it should have one
    #[arg(value_name = "[NAME=]IN", required = true, value_parser = NamedOperand::parser(), allow_negative_numbers = true, value_hint = ValueHint::FilePath, long_help = data_help("The tensors, each as IN or NAME=IN (an IN that exists as a file is taken as it is)."))]
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
  tensorop convert 'dump.bin:float32[16,-1]' -o dump.npy                      # bytes without a header, and back:
  tensorop convert dump.npy -o dump.bin
  tensorop convert table.csv --skip-rows 1 --dtype float32 -o table.npy

--dtype says what the bits of an operand are, of any dtype with items of as many bytes; of plain JSON it is the dtype.";

/// An operand as it was typed, with both ways to read `NAME=IN`. Which one is meant depends on the files that are
/// there, and the command line is read before any file is looked at: the run decides, with [`Self::meant`].
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct NamedOperand {
    /// All of it as an operand.
    whole: OperandArg,
    /// The name before the first `=`, and the operand after it.
    divided: Option<(String, OperandArg)>,
}

impl NamedOperand {
    fn parser() -> impl TypedValueParser<Value = Self> {
        OsStringValueParser::new().map(Self::from)
    }

    /// The operand, and its name in a container if it has one. What exists as a file is never divided, nor is JSON.
    fn meant(&self) -> (Option<&str>, &OperandArg) {
        match (&self.whole, &self.divided) {
            (OperandArg::Path(path), Some((name, operand))) if !exists(path) => (Some(name), operand),
            (whole, _) => (None, whole),
        }
    }
}

impl From<OsString> for NamedOperand {
    fn from(text: OsString) -> Self {
        let divided = divided(&text).map(|(name, operand)| (name, operand.into()));
        Self { whole: text.into(), divided }
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

impl From<Order> for meta::Order {
    fn from(order: Order) -> Self {
        match order {
            Order::C => Self::C,
            Order::F => Self::Fortran,
        }
    }
}

impl Convert {
    /// Writes tensors in another form.
    pub(super) fn run(&self) -> Result<Outcome> {
        let inputs: Vec<_> = self.inputs.iter().map(NamedOperand::meant).collect();
        sources::one_stdin(inputs.iter().map(|(_, operand)| ("IN", *operand)))?;
        allow_open_files(inputs.len());
        let recast = Recast {
            cast: self.cast.clone().map(|dtype| (dtype, self.lossy)),
            big_endian: self.output.big_endian(),
            order: self.order.into(),
        };
        let limits = self.run.limits()?;
        let container = self.output.format()?.is_container();
        let mut report = Report::new("convert");
        let mut works = Vec::new();
        for (name, operand) in &inputs {
            let label = sources::label("IN", operand);
            let (input, member) = sources::open(operand, &label, &self.input, limits.threads)?;
            let members = input.names();
            if let (None, None, true, Some(members)) = (name, &member, container, members) {
                // a whole container goes over with its names
                for (n, member) in members.into_iter().enumerate() {
                    let data = source(&input, n, input.member_label(member), self)?;
                    report.source(&data);
                    works.push((Some(member.to_owned()), work(data, &recast, limits)));
                }
                continue;
            }
            let n = input.pick(member.as_deref())?;
            let data = source(&input, n, label.clone(), self)?;
            report.source(&data);
            let own_name = input.own_name().filter(|_| !container);
            works.push((name.or(own_name).map(str::to_owned), work(data, &recast, limits)));
        }
        if works.is_empty() {
            let empty: Vec<_> = inputs.iter().map(|(_, operand)| sources::label("IN", operand)).collect();
            bail!("{}: no tensors", empty.join(", "));
        }
        emit(works, &self.output, self.run.quiet, report)?;
        Ok(Outcome::Done)
    }
}

/// All inputs are open at once: where that is more than the system lets a program have at first, asks for as many as
/// it may have at all.
#[cfg(target_os = "linux")]
fn allow_open_files(count: usize) {
    use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};
    const USUAL: usize = 512;
    let Rlimit { current, maximum } = getrlimit(Resource::Nofile);
    if count > USUAL && current != maximum {
        // without it, opening says what is wrong
        let _ = setrlimit(Resource::Nofile, Rlimit { current: maximum, maximum });
    }
}

#[cfg(not(target_os = "linux"))]
fn allow_open_files(_: usize) {}

fn work(data: Source, recast: &Recast, limits: Limits) -> Work {
    let selection = match recast.order {
        meta::Order::C => Selection::whole(data),
        meta::Order::Fortran => Selection::reversed(data),
    };
    Work { fill: Box::new(selection), limits, recast: recast.clone() }
}

/// A tensor of an input, read as `--dtype` says.
fn source(input: &Input, n: usize, label: String, args: &Convert) -> Result<Source> {
    let asked = args.input.dtype.as_ref();
    if let Some(plain) = plain_as(input, asked, &label)? {
        return Ok(plain);
    }
    as_asked(input.source_as(n, label)?, asked, Reading::Bits)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_told_from_files() {
        let folder = tempfile::tempdir().expect("a folder");
        let there = folder.path().join("a=b.npz");
        std::fs::write(&there, "").expect("a file");
        let there = there.to_str().expect("a name in Unicode");
        let path = |text: &str| OperandArg::Path(text.into());
        let member = format!("{there}:c");
        let rows = [
            ("a=b.npy", Some("a"), path("b.npy")),
            ("a=b=c", Some("a"), path("b=c")),
            ("a=-", Some("a"), OperandArg::Stdin),
            ("a=[1]", Some("a"), OperandArg::Inline("[1]".to_owned())),
            ("a=", Some("a"), path("")),
            ("=b", None, path("=b")),
            ("b.npy", None, path("b.npy")),
            ("{\"a\":\"=\"}", None, OperandArg::Inline("{\"a\":\"=\"}".to_owned())),
            (there, None, path(there)),
            (&member, None, path(&member)),
        ];
        for (text, name, operand) in rows {
            assert_eq!(NamedOperand::from(OsString::from(text)).meant(), (name, &operand), "{text}");
        }
    }
}
