//! `diff`: two tensors compared.

use std::io::{self, BufWriter, Write};

use anyhow::{Context, Result, anyhow};
use clap::{Args, ValueHint};

use super::meter::Meter;
use super::options::operands::{InputOptions, OperandArg, data_help};
use super::options::run::ThreadOptions;
use super::options::values::parse_number;
use super::sources::Operands;
use super::{Outcome, style};
use crate::diff::{self, Effort, Options, Reason};

/// Compare two tensors: status 0 if they are the same, 1 if they differ
///
/// Two items are the same if their bits are, or both are NaN, or a tolerance that is given accepts them: --atol and
/// --rtol if |ACTUAL - EXPECTED| <= atol + rtol * |EXPECTED|, in float64 (of complex numbers the modulus), or --ulp if
/// no more than so many steps from one representable value to the next lie between them. Infinities are the same only
/// as themselves. Differences of integers, bools and dates are exact. Without a tolerance +0 and -0 differ.
///
/// Another dtype or shape is a difference. Byte order, C or Fortran order and the format of the file are none.
#[derive(Debug, Args)]
#[command(override_usage = "tensorop diff [OPTIONS] <EXPECTED> <ACTUAL>", after_long_help = EXAMPLES)]
pub(super) struct Diff {
    /// The tensor that is right
    #[arg(value_name = "EXPECTED", value_parser = OperandArg::parser(), allow_negative_numbers = true, value_hint = ValueHint::FilePath, long_help = data_help("The tensor that is right."))]
    pub expected: OperandArg,
    /// The tensor to be checked
    #[arg(value_name = "ACTUAL", value_parser = OperandArg::parser(), allow_negative_numbers = true, value_hint = ValueHint::FilePath)]
    pub actual: OperandArg,
    /// The largest absolute error that passes
    #[arg(long, value_name = "A", value_parser = parse_tolerance, value_hint = ValueHint::Other, allow_hyphen_values = true, help_heading = HEADING)]
    pub atol: Option<f64>,
    /// The largest error relative to EXPECTED that passes; with --atol their sum
    #[arg(long, value_name = "R", value_parser = parse_tolerance, value_hint = ValueHint::Other, allow_hyphen_values = true, help_heading = HEADING)]
    pub rtol: Option<f64>,
    /// How many representable values apart still passes (0: +0 equals -0)
    ///
    /// In the format of the items themselves: neighbours are 1 apart. Of integers and dates it is their difference, of
    /// complex numbers the larger of both parts.
    #[arg(long, value_name = "N", value_parser = parse_number::<u64>, value_hint = ValueHint::Other, allow_hyphen_values = true, help_heading = HEADING)]
    pub ulp: Option<u64>,
    /// NaNs of different bits differ
    #[arg(long, help_heading = HEADING)]
    pub nan_differs: bool,
    /// Compare values, whatever the dtypes
    ///
    /// Integers with integers exactly, other numbers as float64 or complex128, strings as text. What has no common
    /// meaning (strings and numbers, structured dtypes) still differs.
    #[arg(long, help_heading = HEADING)]
    pub ignore_dtype: bool,
    /// How many mismatches to show, the first ones
    #[arg(long, value_name = "N", value_parser = parse_number::<usize>, value_hint = ValueHint::Other, default_value_t = 5, allow_hyphen_values = true, help_heading = REPORT)]
    pub max_mismatch: usize,
    /// Print the verdict only, one line (with --json still the object); stops at the first mismatch
    #[arg(short = 'q', long, visible_alias = "quiet", help_heading = REPORT)]
    pub summary: bool,
    /// Print one JSON object
    #[arg(long, help_heading = REPORT)]
    pub json: bool,
    #[command(flatten)]
    pub input: InputOptions,
    #[command(flatten)]
    pub threads: ThreadOptions,
}

const HEADING: &str = "What passes";
const REPORT: &str = "Report";

const EXAMPLES: &str = "\
Examples:
  tensorop diff golden.npy out.npy
  tensorop diff golden.npy out.npy --rtol 1e-5 --atol 1e-8
  tensorop diff test_data_set_0/output_0.pb out.npy --ulp 2
  tensorop diff old.safetensors:head.weight new.safetensors:head.weight --json
  tensorop diff golden_bits.npy out.npy --dtype bfloat16     # bfloat16 that was saved as uint16

The report says how much of what would have passed. With --json: equal, reason (null, dtype, shape, values), expected \
and actual (dtype and shape), items, mismatches, max_abs, max_rel and max_ulp (over all items that are neither NaN nor \
infinite on either side), min_atol, min_rtol and min_ulp (the smallest that alone would have passed), first.

--dtype also says what the bits of an unsigned integer operand are (uint16 as bfloat16, uint8 as float8_e4m3fn).

Exit status: 0 the same, 1 different, 2 anything else.";

fn parse_tolerance(text: &str) -> Result<f64, String> {
    let value = text.parse::<f64>().ok().filter(|value| *value >= 0.0 && value.is_finite());
    value.ok_or_else(|| "expected a number, 0 or more".to_owned())
}

impl Diff {
    /// Compares, and prints the report.
    pub(super) fn run(&self) -> Result<Outcome> {
        let limits = self.threads.limits()?;
        let operands = Operands::pair(&self.expected, &self.actual, &self.input, limits.threads)?;
        let (mut expected, actual) = operands.tensors()?;
        let mut actual = actual.ok_or_else(|| anyhow!("ACTUAL: missing"))?;
        let options = Options {
            atol: self.atol,
            rtol: self.rtol,
            ulp: self.ulp,
            shown: self.max_mismatch,
            nan_differs: self.nan_differs,
            ignore_dtype: self.ignore_dtype,
        };
        let effort = Effort { limits, verdict_only: self.summary && !self.json };
        let meter = Meter::new(Some(expected.bytes().saturating_add(actual.bytes())), self.summary);
        let found = diff::compare_sources(&mut expected, &mut actual, &options, effort, &|bytes| meter.add(bytes))?;
        meter.finish();
        let stdout = io::stdout();
        let style = style(&stdout);
        let mut out = BufWriter::new(stdout.lock());
        let printed = match (self.json, self.summary) {
            (true, _) => found.write_json(&mut out),
            (false, true) => writeln!(out, "{}", found.verdict()),
            (false, false) => found.write_report(&mut out, style).and_then(|()| match found.reason() {
                Some(Reason::Dtype) if !self.ignore_dtype => writeln!(out, "  --ignore-dtype compares the values"),
                _ => Ok(()),
            }),
        };
        printed.and_then(|()| out.flush()).context("standard output")?;
        Ok(if found.equal() { Outcome::Done } else { Outcome::Different })
    }
}
