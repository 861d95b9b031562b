//! Operands, and the options for reading them, also as dumps.

use std::ffi::{OsStr, OsString};
use std::time::Duration;

use anyhow::{Result, bail};
use clap::builder::{OsStringValueParser, PossibleValue, PossibleValuesParser, StringValueParser, TypedValueParser};
use clap::{Arg, ArgAction, Args, Command, ValueHint};

use super::values::{DTypeArg, DTypeParser, dtype_help, parse_format, parse_number};
use crate::error::Subject;
use crate::opening::located::{Located, Place};
use crate::opening::table::Format;
use crate::quantized::{AskedLayout, LAYOUTS};
use crate::renamed::NameStyle;
use crate::untyped::cells::Delimiter;

const OPERANDS_HELP: &str = "An operand is a path, `-` for standard input (one operand of a command), or an inline JSON value: an \
argument that begins with [ or {, or is a number. Write ./[... for a file with such a name. The content of a file decides whether \
it is .npy, .npz, .safetensors, an ONNX TensorProto or JSON; the name decides for .csv and .tsv. FILE:NAME is a member of a .npz or \
.safetensors file, or of the .safetensors.index.json of several, as in weights.npz:conv1. A file with one member needs no name, \
and a colon in a path that exists has no such meaning. A Zarr store is a folder (with zarr.json, .zarray or .zgroup), and DIR:PATH \
is an array in a group. An operand may also be an address (https://, http://, s3://BUCKET/KEY or \
hf://ORG/REPO[@REVISION]/PATH), with the same after a colon; only the needed bytes are requested.

FILE:DTYPE[DIMS]@OFFSET reads bytes without a header, as in dump.bin:float32[16,3,-1] or 'fw.img:>u2[4]@0x80': items in C order \
from byte OFFSET on (default 0). One dim may be -1, the rest of the file; without [DIMS] there is one axis. -:float32[2,5] is \
standard input. 'FOLDER/GLOB:DTYPE[DIMS]' is a folder of all files whose paths match, as in 'dumps/*.bin:float32[1,8,6,5]'. int4x2, uint4x2 and float4_e2m1fnx2 have two items in each byte, int2x4 and uint2x4 four, the low bits first.

Standard input is read in bounded memory. If it is long and needed in another order (a negative step, Fortran order), it goes \
through an unnamed file in $TMPDIR.";

/// The prefix for arguments that begin with `-:`, which clap would take for options. No argument can contain it.
pub(crate) const SHELTER: char = '\0';

pub(crate) fn sheltered(arg: OsString) -> OsString {
    let is_begun = |places: &&str| places.starts_with(|c: char| c.is_ascii_digit());
    match arg.to_str() {
        Some(text) if text.starts_with("-:") => format!("{SHELTER}{text}").into(),
        // clap knows a negative number by its first digit
        Some(text) if let Some(places) = text.strip_prefix("-.").filter(is_begun) => format!("-0.{places}").into(),
        _ => arg,
    }
}

fn unsheltered(arg: OsString) -> OsString {
    let typed = arg.to_str().and_then(|text| text.strip_prefix(SHELTER)).map(OsString::from);
    typed.unwrap_or(arg)
}

pub(crate) fn data_help(first: &str) -> String {
    format!("{first}\n\n{OPERANDS_HELP}")
}

#[derive(Clone, Copy)]
pub(crate) struct OperandRole {
    pub name: &'static str,
    pub subject: Subject,
}

pub(crate) const DATA: OperandRole = OperandRole { name: "DATA", subject: Subject::Data };
pub(crate) const INDICES: OperandRole = OperandRole { name: "INDICES", subject: Subject::Indices };
pub(crate) const UPDATES: OperandRole = OperandRole { name: "UPDATES", subject: Subject::Updates };
pub(crate) const EXPECTED: OperandRole = OperandRole { name: "EXPECTED", subject: Subject::Operand(0) };
pub(crate) const ACTUAL: OperandRole = OperandRole { name: "ACTUAL", subject: Subject::Operand(1) };
pub(crate) const FILE: OperandRole = OperandRole { name: "FILE", subject: Subject::Data };
pub(crate) const IN: OperandRole = OperandRole { name: "IN", subject: Subject::Data };

/// It is located while the command line is parsed, and opened by the run.
#[derive(Clone)]
pub(crate) struct Operand {
    pub located: Located,
    /// The name in messages: role and origin.
    pub label: String,
    pub name: Option<String>,
    pub role: OperandRole,
}

impl OperandRole {
    pub(crate) fn unlabelled(self, label: &str) -> &str {
        label.strip_prefix(self.name).map_or(label, str::trim_start)
    }

    pub(crate) fn parser(self) -> impl TypedValueParser<Value = Operand> {
        OsStringValueParser::new().map(move |typed| self.at(None, Located::from_argument(&unsheltered(typed))))
    }

    /// Accepts `IN` or `NAME=IN`.
    pub(crate) fn named_parser(self) -> impl TypedValueParser<Value = Operand> {
        OsStringValueParser::new().map(move |typed| {
            let (name, located) = Located::from_named_argument(&unsheltered(typed));
            self.at(name, located)
        })
    }

    fn at(self, name: Option<String>, located: Located) -> Operand {
        let (role, text) = (self.name, located.without_secrets());
        let label = match (&located.place, &located.suffix) {
            (Place::Stdin, None) => format!("{role} (standard input)"),
            (Place::Stdin, Some(view)) => format!("{role} (standard input):{view}"),
            (Place::Json(_), _) if text.chars().count() > 40 => {
                format!("{role} {}...", text.chars().take(40).collect::<String>())
            }
            _ => format!("{role} {text}"),
        };
        Operand { located, label, name, role: self }
    }
}

impl Operand {
    pub(crate) fn file(&self, member: Option<&str>) -> String {
        let text = self.located.without_secrets();
        let file = member.and_then(|name| text.strip_suffix(name)?.strip_suffix(':'));
        file.unwrap_or(&text).to_owned()
    }
}

pub(crate) fn check_stdin<'a>(operands: impl IntoIterator<Item = &'a Operand>) -> Result<()> {
    match operands.into_iter().filter(|operand| operand.located.is_stdin()).nth(1) {
        Some(second) => bail!("{}: standard input can be one operand only", second.role.name),
        None => Ok(()),
    }
}

const DTYPE_HELP: &str = "The dtype of operands without their own: JSON, CSV, void items

JSON without a dtype and CSV get this dtype. Without the option they get the dtype of the other operand, or int64, uint64, \
float64, bool or str according to their content. INDICES of an operator are always integers.

Void items, in which NumPy saves bfloat16 and float8, are read as items of this dtype if it has the same size. diff, info, \
show and convert also read unsigned integers as this dtype, if none of several tensors has such void items, and convert of a \
single tensor reads any items as this dtype. That changes no bit; convert --cast converts values.

An item of one byte that is read as an item of fewer bits must have zeros above these bits, or copies of the sign for int4 and \
int2; any other byte is an error, since bits of it would be lost. int4x2, uint4x2 and float4_e2m1fnx2 read two items from each \
byte, and int2x4 and uint2x4 four, the low bits first. Every command reads uint8 items and void items of one byte like this, and \
the last axis becomes two or four times as long.

Operands of other dtypes stay as they are. If the option applies to no operand, that is an error.";

const DTYPE_BY_NAME_HELP: &str = "

GLOB=DTYPE is for the tensors whose names match, also for unsigned integers beside void items. Can be given several times, and the \
last match decides. A pattern that matches nothing is an error.";

/// The options of every command that reads tensors.
#[derive(Args)]
#[command(next_help_heading = "Input")]
pub(crate) struct InputOptions {
    /// The dtype of operands without their own: JSON, CSV, void items
    #[arg(long, value_name = "DTYPE", action = ArgAction::Set, value_parser = DTypeParser::from_bytes(), hide_possible_values = true, long_help = dtype_help(DTYPE_HELP))]
    pub dtype: Vec<DTypeArg>,
    /// The format of standard input or, if no operand is -, of every file [default: by content, or .csv, .tsv]
    #[arg(long, value_name = "FORMAT", value_parser = parse_format(Format::reading_help))]
    pub from: Option<Format>,
    /// The number of lines to skip at the beginning of CSV and TSV, such as headings
    #[arg(long, value_name = "N", value_parser = parse_number::<usize>, default_value_t = 0, hide_default_value = true)]
    pub skip_rows: usize,
    /// The character between cells in CSV and TSV inputs, such as ';'; ' ' is any number of blanks, and '\t' a tab
    ///
    /// Without the option that is a comma, or a tab in TSV, which are always written.
    #[arg(long, value_name = "C", value_parser = parse_delimiter, value_hint = ValueHint::Other)]
    pub delimiter: Option<Delimiter>,
    /// Read empty cells, NA, N/A, null and nan of CSV and TSV as this value, such as nan or 0
    #[arg(long, value_name = "VALUE")]
    pub missing: Option<String>,
    /// Read the weights of a quantised checkpoint as float32 numbers, by the layout that its config.json states
    ///
    /// The tensors that make up a weight (codes, scales, zero points, shapes) become one tensor under the name that it has in the
    /// unquantised checkpoint, also if they lie in several files; other tensors stay as they are. The layout is found in
    /// config.json, hf_quant_config.json, quantize_config.json or quant_config.json beside the tensors, or in the metadata of the
    /// header, and never guessed; bitsandbytes, ComfyUI, HQQ and torchao state it in names that they alone write. Without all
    /// these, give LAYOUT with its numbers: gptq,bits=4,group_size=128. LAYOUT is one of fp8-block, nvfp4 (of modelopt), nvfp4-ct (of
    /// compressed-tensors), mxfp4, pack-quantized, int-quantized, float-quantized, mlx, gptq, gptq-v2, awq, deepseek-fp4, fbgemm-fp8,
    /// bnb-nf4, bnb-fp4, bnb-int8, comfy, mxfp4-ct, mxfp6, mxfp8, metal, bitnet, gemma, w4a16-awq, hqq and torchao.
    ///
    /// In ONNX models and OpenVINO IR the nodes that dequantise constants (DequantizeLinear, MatMulNBits, GatherBlockQuantized;
    /// Convert, Subtract, Multiply, Reshape) are the layout.
    ///
    /// A layout that is stated and not read is an error, and so is a weight that lacks a part, or a tensor of codes that no
    /// weight has, unless the config excludes it. Scales of activations (input_scale, k_scale) are left alone and counted in a
    /// line; --only '*.input_scale' takes them. It is an error if no operand has a quantised weight.
    #[arg(long, value_name = "LAYOUT[,KEY=N]", num_args = 0..=1, require_equals = true, default_missing_value = STATED, hide_possible_values = true, value_parser = LayoutParser)]
    pub dequantize: Option<AskedLayout>,
    /// Read a GGUF under the names of the checkpoint that it was made from (hf), or a checkpoint under those of its GGUF (gguf)
    ///
    /// With hf, tensors of a GGUF have the names, shapes and rows of the checkpoint: rows of queries and keys are in the order of
    /// Hugging Face, experts are one tensor each, and norms lose the 1 that the converter added. With gguf, tensors of a checkpoint
    /// become those of its GGUF, by the architecture and the numbers in config.json. Other files stay unchanged; it is an
    /// error if all do. Numbers that are computed (a norm minus 1) are rounded to float32, and tensors outside the table of names
    /// keep theirs: a line counts either.
    #[arg(id = "names_of", long = "names", value_name = "WHOSE", value_parser = name_styles())]
    pub names: Option<NameStyle>,
    /// Name skipped files of folders, scales of activations and tensors that keep their names, which lines otherwise count
    #[arg(short, long)]
    pub verbose: bool,
    #[command(flatten)]
    pub address: AddressOptions,
}

/// The value of an option without a value.
const STATED: &str = "";

/// Parses the name of a layout, and perhaps the numbers that it needs.
#[derive(Clone)]
struct LayoutParser;

impl LayoutParser {
    fn names() -> PossibleValuesParser {
        let stated = PossibleValue::new(STATED).hide(true);
        PossibleValuesParser::new(LAYOUTS.into_iter().map(PossibleValue::new).chain([stated]))
    }
}

impl TypedValueParser for LayoutParser {
    type Value = AskedLayout;

    fn parse_ref(&self, command: &Command, arg: Option<&Arg>, value: &OsStr) -> Result<AskedLayout, clap::Error> {
        let text = value.to_string_lossy();
        let (name, numbers) = text.split_once(',').unwrap_or((&text, ""));
        let name = Self::names().parse_ref(command, arg, name.as_ref())?;
        let Some(layout) = LAYOUTS.into_iter().find(|layout| *layout == name) else { return Ok(AskedLayout::stated()) };
        let parser = StringValueParser::new().try_map(move |numbers| AskedLayout::named(layout, &numbers));
        parser.parse_ref(command, arg, numbers.as_ref())
    }

    fn possible_values(&self) -> Option<Box<dyn Iterator<Item = PossibleValue> + '_>> {
        let names: Vec<_> = Self::names().possible_values()?.collect();
        Some(Box::new(names.into_iter()))
    }
}

fn name_styles() -> impl TypedValueParser<Value = NameStyle> {
    PossibleValuesParser::new(NameStyle::ALL.map(|(name, _)| name)).map(|name| {
        let style = NameStyle::ALL.into_iter().find(|(known, _)| *known == name);
        style.expect("one of the possible values").1
    })
}

impl InputOptions {
    /// Whether a file may get other members, whose names patterns must match.
    pub(crate) fn makes_members(&self) -> bool {
        self.dequantize.is_some() || self.names.is_some()
    }

    pub(crate) fn dtype_by_name(dtype: Arg) -> Arg {
        let help = dtype_help(&[DTYPE_HELP, DTYPE_BY_NAME_HELP].concat());
        let dtype = dtype.action(ArgAction::Append).value_name("[GLOB=]DTYPE");
        dtype.value_parser(DTypeParser::from_bytes_by_name()).long_help(help)
    }
}

/// The options for requests to servers.
#[derive(Args, Clone, Debug, Default)]
#[command(next_help_heading = "Operands by address")]
pub(crate) struct AddressOptions {
    /// Seconds that a server may take for its next byte [default: 30, or TENSOROP_TIMEOUT]
    ///
    /// A request that takes longer is repeated, and so is one that is refused for the moment (429, 5xx) or broken off. There
    /// are up to five repetitions, after pauses of 3.1 seconds in all, or after the time in Retry-After, if that is not longer
    /// than the time-out or than 30 seconds. So a server that sends no byte ends the run after six time-outs and these
    /// pauses: after 183 seconds by default. As long as bytes arrive, however slowly, the program waits for them.
    #[arg(long, value_name = "SECONDS", value_parser = parse_timeout, value_hint = ValueHint::Other)]
    pub timeout: Option<Duration>,
    /// Request objects of s3:// without credentials, even if some are set
    ///
    /// A public bucket refuses requests signed with a key that it does not know. Credentials are AWS_ACCESS_KEY_ID,
    /// AWS_SECRET_ACCESS_KEY and AWS_SESSION_TOKEN, or those of the profile (AWS_PROFILE) in ~/.aws/credentials. AWS_REGION
    /// and AWS_ENDPOINT_URL_S3 give the region and the server of buckets. hf:// uses HF_TOKEN and HF_ENDPOINT.
    #[arg(long)]
    pub no_sign_request: bool,
}

fn parse_delimiter(text: &str) -> std::result::Result<Delimiter, String> {
    text.parse().map_err(|error: crate::Error| error.message().to_owned())
}

pub(crate) fn parse_timeout(text: &str) -> std::result::Result<Duration, String> {
    let seconds = text.parse::<f64>().ok().filter(|seconds| (0.001..=86_400.0).contains(seconds));
    seconds.map(Duration::from_secs_f64).ok_or_else(|| "expected seconds, from 0.001 to 86400".to_owned())
}

#[cfg(test)]
mod tests {
    use clap::{Arg, Command};

    use super::*;

    #[test]
    fn standard_input_of_raw_bytes_is_sheltered() {
        let parsed = |arg: Arg| {
            let matches = Command::new("").arg(arg).get_matches_from(["".into(), sheltered("-:>u2[-1]".into())]);
            matches.get_one::<Operand>("DATA").expect("an operand").clone()
        };
        for arg in [Arg::new("DATA").value_parser(DATA.parser()), Arg::new("DATA").value_parser(IN.named_parser())] {
            let Operand { located, name, .. } = parsed(arg);
            assert!(located.is_stdin() && name.is_none());
            assert_eq!(
                (located.suffix.as_deref(), located.without_secrets()),
                (Some(">u2[-1]"), "-:>u2[-1]".to_owned())
            );
        }
    }
}
