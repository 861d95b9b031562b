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
use crate::diff::{self, Allowed, Effort, MetricLimits, Options, Reason};

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
    /// How many items of a tensor may fail: a number, or a share in per cent such as 0.1%
    ///
    /// The tensor passes if 100 x mismatches <= P x items, exactly as P is typed.
    #[arg(long, value_name = "N|P%", value_parser = str::parse::<Allowed>, value_hint = ValueHint::Other, allow_hyphen_values = true, help_heading = HEADING)]
    pub allow: Option<Allowed>,
    #[command(flatten)]
    pub limits: LimitOptions,
    /// Show the N mismatches with the largest |ACTUAL - EXPECTED|, NaN and infinite ones before all, instead of the first
    #[arg(long, value_name = "N", value_parser = parse_number::<usize>, value_hint = ValueHint::Other, conflicts_with = "max_mismatch", allow_hyphen_values = true, help_heading = REPORT)]
    pub worst: Option<usize>,
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

/// Limits on metrics: if there is any, items need pass only if a tolerance is given, too.
#[derive(Debug, Args)]
#[command(next_help_heading = "What passes as a whole")]
pub(super) struct LimitOptions {
    /// The least cosine of the angle between the flattened tensors
    ///
    /// If any limit on a metric is given, a tensor passes if all such limits hold, and, only if a tolerance or --allow is
    /// given too, its items pass. An item that is NaN or infinite on either side must be the same on both. A metric that is
    /// undefined (see --json) is within no limit, unless all items are the same.
    #[arg(long, value_name = "X", value_parser = parse_limit, value_hint = ValueHint::Other, allow_hyphen_values = true)]
    pub min_cosine: Option<f64>,
    /// The least signal to noise ratio, 10 log10(sum of EXPECTED^2 / sum of errors^2)
    #[arg(long, value_name = "DB", value_parser = parse_limit, value_hint = ValueHint::Other, allow_hyphen_values = true)]
    pub min_snr: Option<f64>,
    /// The least peak signal to noise ratio, 20 log10(range of EXPECTED / rmse)
    #[arg(long, value_name = "DB", value_parser = parse_limit, value_hint = ValueHint::Other, allow_hyphen_values = true)]
    pub min_psnr: Option<f64>,
    /// The largest root mean square of the errors
    #[arg(long, value_name = "X", value_parser = parse_tolerance, value_hint = ValueHint::Other, allow_hyphen_values = true)]
    pub max_rmse: Option<f64>,
    /// The largest mean of |ACTUAL - EXPECTED|
    #[arg(long, value_name = "X", value_parser = parse_tolerance, value_hint = ValueHint::Other, allow_hyphen_values = true)]
    pub max_mean_abs: Option<f64>,
}

impl LimitOptions {
    fn limits(&self) -> MetricLimits {
        let Self { min_cosine, min_snr, min_psnr, max_rmse, max_mean_abs } = *self;
        MetricLimits { min_cosine, min_snr, min_psnr, max_rmse, max_mean_abs }
    }
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

fn parse_limit(text: &str) -> Result<f64, String> {
    let value = text.parse::<f64>().ok().filter(|value| value.is_finite());
    value.ok_or_else(|| "expected a number".to_owned())
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
            worst: self.worst,
            allowed: self.allow,
            limits: self.limits.limits(),
            nan_differs: self.nan_differs,
            ignore_dtype: self.ignore_dtype,
        };
        let effort = Effort { limits, verdict_only: self.summary && !self.json, quantiles: self.json };
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
