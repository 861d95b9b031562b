//! `diff`: two tensors compared.

use std::io::{self, BufWriter, Write};

use anyhow::{Context, Result, anyhow};
use tensorop::diff::{self, Effort, Options};

use super::meter::Meter;
use super::operands::Operands;
use super::{Outcome, style};
use crate::cli::diff::Diff;

/// Compares, and prints the report.
pub fn diff(args: &Diff) -> Result<Outcome> {
    let operands = Operands::pair(&args.expected, &args.actual, &args.input)?;
    let (mut expected, actual) = operands.tensors()?;
    let mut actual = actual.ok_or_else(|| anyhow!("ACTUAL: missing"))?;
    let options = Options {
        atol: args.atol,
        rtol: args.rtol,
        ulp: args.ulp,
        shown: args.max_mismatch,
        nan_differs: args.nan_differs,
        ignore_dtype: args.ignore_dtype,
    };
    let effort = Effort { threads: args.threads.threads()?, verdict_only: args.summary && !args.json };
    let meter = Meter::new(Some(expected.bytes().saturating_add(actual.bytes())), args.summary);
    let found = diff::compare_sources(&mut expected, &mut actual, &options, effort, &|bytes| meter.add(bytes))?;
    meter.finish();
    let stdout = io::stdout();
    let style = style(&stdout);
    let mut out = BufWriter::new(stdout.lock());
    let printed = match (args.json, args.summary) {
        (true, _) => found.write_json(&mut out),
        (false, true) => writeln!(out, "{}", found.verdict()),
        (false, false) => found.write_report(&mut out, style),
    };
    printed.and_then(|()| out.flush()).context("standard output")?;
    Ok(if found.equal() { Outcome::Done } else { Outcome::Different })
}
