//! The pass criteria of a comparison, and its report as JUnit XML.

use std::fs::{self, File};
use std::io::{BufWriter, Read as _, Write as _};
use std::path::{Path, PathBuf};

use anyhow::{Context, Result, bail};
use clap::{Args, ValueHint};

use super::members::meant;
use super::operands::Operand;
use super::values::{ByName, parse_number, parse_path, parse_tolerance};
use crate::container::glob::Glob;
use crate::diff::{Allowed, Options};
use crate::report::junit::JunitReport;
use crate::storage::targets::target::Target;

/// The tolerances, and what else decides whether items pass.
#[derive(Args)]
#[command(next_help_heading = "Pass criteria")]
pub(crate) struct PassOptions {
    /// The largest absolute error that passes; or GLOB=A
    ///
    /// GLOB=A is for tensors with matching names. Can be given several times: the last one that matches the name of a tensor decides.
    #[arg(long, value_name = "A", value_parser = parse_tolerances, value_hint = ValueHint::Other)]
    pub atol: Vec<ByName<f64>>,
    /// The largest error relative to EXPECTED that passes; with --atol their sum; or GLOB=R
    #[arg(long, value_name = "R", value_parser = parse_tolerances, value_hint = ValueHint::Other)]
    pub rtol: Vec<ByName<f64>>,
    /// The most steps between representable values that pass (0: +0 equals -0); or GLOB=N
    ///
    /// Steps are counted in the dtype of the items: neighbouring values are 1 apart. For integers and dates it is their
    /// difference, and for complex numbers the larger number of both parts.
    #[arg(long, value_name = "N", value_parser = parse_steps, value_hint = ValueHint::Other)]
    pub ulp: Vec<ByName<u64>>,
    /// Treat NaNs of different bits as different
    #[arg(long)]
    pub nan_differs: bool,
    /// Compare values, whatever the dtypes
    ///
    /// Integers are compared with integers and with floats exactly, other numbers as float64 or complex128, strings as text,
    /// and dates of different units as times. Dtypes without a common meaning (strings and numbers, structured dtypes) still
    /// differ.
    #[arg(long)]
    pub ignore_dtype: bool,
    /// Count different metadata as a difference: attributes, fill values, dimension names, metadata of files
    ///
    /// These are compared: attributes, fill values and dimension names of Zarr arrays, the attributes of their groups, and
    /// the metadata of .safetensors files. Metadata that the format of one side cannot hold is not compared. Without this
    /// option the report names the metadata that differ, and the status does not depend on them. --accept writes no metadata,
    /// so the two options exclude each other.
    #[arg(long, conflicts_with = "accept")]
    pub metadata: bool,
    /// The number of items of a tensor that may fail, or their share in per cent such as 0.1%
    ///
    /// The tensor passes if 100 x mismatches <= P x items, exactly as P is typed.
    #[arg(long, value_name = "N|P%", value_parser = str::parse::<Allowed>, value_hint = ValueHint::Other)]
    pub allow: Option<Allowed>,
    #[command(flatten)]
    limits: LimitOptions,
}

/// Limits on metrics: if there is any, items need pass only if a tolerance is given, too.
#[derive(Args)]
#[command(next_help_heading = "Pass criteria for whole tensors")]
pub(crate) struct LimitOptions {
    /// The least cosine of the angle between the flattened tensors, from -1 to 1; or GLOB=X
    ///
    /// This and the next four options judge a tensor as a whole: it passes if all given limits hold. Single items may then
    /// differ by any amount, unless --atol, --rtol, --ulp or --allow limits them, too. Items that are NaN or infinite on one
    /// side must always be the same on the other. GLOB=X is for the tensors whose names match, as in --atol GLOB=A; it has no
    /// effect on other tensors.
    ///
    /// A metric that is undefined (null in --json) passes no limit, unless all items are the same.
    #[arg(long, value_name = "X", value_parser = parse_cosine, value_hint = ValueHint::Other)]
    pub min_cosine: Vec<ByName<f64>>,
    /// The least signal to noise ratio, 10 log10(sum of EXPECTED^2 / sum of errors^2); or GLOB=DB
    #[arg(long, value_name = "DB", value_parser = parse_limit, value_hint = ValueHint::Other)]
    pub min_snr: Vec<ByName<f64>>,
    /// The least peak signal to noise ratio, 20 log10(range of EXPECTED / rmse); or GLOB=DB
    #[arg(long, value_name = "DB", value_parser = parse_limit, value_hint = ValueHint::Other)]
    pub min_psnr: Vec<ByName<f64>>,
    /// The largest root mean square of the errors; or GLOB=X
    #[arg(long, value_name = "X", value_parser = parse_tolerances, value_hint = ValueHint::Other)]
    pub max_rmse: Vec<ByName<f64>>,
    /// The largest mean of |ACTUAL - EXPECTED|; or GLOB=X
    #[arg(long, value_name = "X", value_parser = parse_tolerances, value_hint = ValueHint::Other)]
    pub max_mean_abs: Vec<ByName<f64>>,
}

pub(crate) fn parse_tolerances(text: &str) -> Result<ByName<f64>, String> {
    ByName::parse(text, parse_tolerance)
}

pub(crate) fn parse_steps(text: &str) -> Result<ByName<u64>, String> {
    ByName::parse(text, parse_number)
}

fn parse_limit(text: &str) -> Result<ByName<f64>, String> {
    ByName::parse(text, |text| {
        let value = text.parse::<f64>().ok().filter(|value| value.is_finite());
        value.ok_or_else(|| "expected a number".to_owned())
    })
}

/// Below -1 every tensor would pass, and above 1 none.
fn parse_cosine(text: &str) -> Result<ByName<f64>, String> {
    ByName::parse(text, |text| {
        let value = text.parse::<f64>().ok().filter(|value| (-1.0..=1.0).contains(value));
        value.ok_or_else(|| "expected a number from -1 to 1".to_owned())
    })
}

impl PassOptions {
    pub(crate) fn options(&self, name: &str) -> Options {
        let LimitOptions { min_cosine, min_snr, min_psnr, max_rmse, max_mean_abs } = &self.limits;
        let mut options = Options::default();
        options.atol = ByName::last(&self.atol, name).copied();
        options.rtol = ByName::last(&self.rtol, name).copied();
        options.ulp = ByName::last(&self.ulp, name).copied();
        options.allowed = self.allow;
        options.limits.min_cosine = ByName::last(min_cosine, name).copied();
        options.limits.min_snr = ByName::last(min_snr, name).copied();
        options.limits.min_psnr = ByName::last(min_psnr, name).copied();
        options.limits.max_rmse = ByName::last(max_rmse, name).copied();
        options.limits.max_mean_abs = ByName::last(max_mean_abs, name).copied();
        options.nan_differs = self.nan_differs;
        options.ignore_dtype = self.ignore_dtype;
        options.metadata = self.metadata;
        options
    }

    pub(crate) fn check_globs(&self, names: &[&str]) -> Result<()> {
        let limits = &self.limits;
        let all = ByName::globs("--atol", &self.atol)
            .chain(ByName::globs("--rtol", &self.rtol))
            .chain(ByName::globs("--ulp", &self.ulp))
            .chain(ByName::globs("--min-cosine", &limits.min_cosine))
            .chain(ByName::globs("--min-snr", &limits.min_snr))
            .chain(ByName::globs("--min-psnr", &limits.min_psnr))
            .chain(ByName::globs("--max-rmse", &limits.max_rmse))
            .chain(ByName::globs("--max-mean-abs", &limits.max_mean_abs));
        check_patterns(all, names)
    }
}

/// A tensor without a name has the empty name.
pub(super) fn check_patterns<'a>(
    mut all: impl Iterator<Item = (&'static str, &'a Glob)>,
    names: &[&str],
) -> Result<()> {
    match all.find(|(_, glob)| !names.iter().any(|name| glob.matches(name))) {
        Some((option, glob)) if *names == [""] => {
            bail!("{option} {}: the compared tensors have no names: give the value alone", glob.text())
        }
        Some((option, glob)) => bail!("{option} {}: matches no tensor{}", glob.text(), meant(glob.text(), names)),
        None => Ok(()),
    }
}

/// The file of a report as JUnit XML.
#[derive(Args)]
pub(crate) struct JunitOptions {
    /// Also write the report to FILE as JUnit XML, which CI services show
    ///
    /// The file is complete or not written at all. A file that is there is replaced only if it is empty or XML, beginning with
    /// <?xml. Times are 0.
    #[arg(long, value_name = "FILE", value_parser = parse_path(), value_hint = ValueHint::FilePath, help_heading = "Report")]
    pub junit: Option<PathBuf>,
}

impl JunitOptions {
    pub(crate) fn begin(&self, operands: &[&Operand]) -> Result<Option<(Target, JunitReport)>> {
        let Some(path) = &self.junit else { return Ok(None) };
        let target = Target::resolve(path, format!("--junit {}", path.display()), false)?;
        if path == Path::new("-") || matches!(target, Target::Stdout(_)) {
            bail!("--junit: standard output has the report: name a file");
        }
        if let Some(real) = target.canonical()? {
            check_replaceable(&real, target.label())?;
            let has = |operand: &&&Operand| {
                let folder = operand.located.file().and_then(|file| fs::canonicalize(file).ok());
                folder.is_some_and(|folder| real.starts_with(folder))
            };
            if let Some(operand) = operands.iter().find(has) {
                bail!("{}: is in {}, which is compared: name a file elsewhere", target.label(), operand.label);
            }
        }
        // errors of the file come before a long run
        target.probe()?;
        Ok(Some((target, JunitReport::default())))
    }
}

const BEGINNING: &[u8] = b"<?xml";

fn check_replaceable(path: &Path, label: &str) -> Result<()> {
    if !path.is_file() {
        return Ok(());
    }
    let mut beginning = Vec::new();
    let file = File::open(path).with_context(|| label.to_owned())?;
    file.take(BEGINNING.len() as u64).read_to_end(&mut beginning).with_context(|| label.to_owned())?;
    if !beginning.is_empty() && beginning != BEGINNING {
        bail!("{label}: exists and is not an XML report (it does not begin with <?xml), and is not replaced");
    }
    Ok(())
}

pub(crate) fn write_junit(target: Option<Target>, report: Option<JunitReport>, suite: &str) -> Result<()> {
    let (Some(target), Some(report)) = (target, report) else { return Ok(()) };
    let mut out = target.create()?;
    let mut buffered = BufWriter::new(&mut out);
    let written = report.write(suite, &mut buffered).and_then(|()| buffered.flush());
    drop(buffered);
    written.with_context(|| target.label().to_owned())?;
    Ok(out.finish()?)
}
