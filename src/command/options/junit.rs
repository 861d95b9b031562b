//! The option that writes a report as JUnit XML.

use std::io::{BufWriter, Write as _};
use std::path::{Path, PathBuf};

use anyhow::{Context, Result, bail};
use clap::builder::{OsStringValueParser, TypedValueParser};
use clap::{Args, ValueHint};

use crate::report::junit::JunitReport;
use crate::storage::target::Target;

/// The file of a report as JUnit XML.
#[derive(Args)]
pub(crate) struct JunitOptions {
    /// Also write the report to FILE as JUnit XML, which CI services show
    ///
    /// The file is complete or not written at all. Times are 0.
    #[arg(long, value_name = "FILE", value_parser = OsStringValueParser::new().map(PathBuf::from), value_hint = ValueHint::FilePath, help_heading = "Report")]
    pub junit: Option<PathBuf>,
}

impl JunitOptions {
    /// Returns the file that the report goes to, and an empty report, if there is to be one.
    ///
    /// # Errors
    /// Nothing can be written there.
    pub(crate) fn begin(&self) -> Result<Option<(Target, JunitReport)>> {
        let Some(path) = &self.junit else { return Ok(None) };
        if path == Path::new("-") {
            bail!("--junit: standard output has the report: name a file");
        }
        let target = Target::resolve(path, format!("--junit {}", path.display()), false)?;
        if matches!(target, Target::Stdout(_)) {
            bail!("--junit: standard output has the report: name a file");
        }
        // a run may take long, so an error of the file comes before it
        target.probe()?;
        Ok(Some((target, JunitReport::new())))
    }
}

/// Writes a report to its file, if there is one. `suite` is the name of its test suite.
///
/// # Errors
/// Of writing.
pub(crate) fn write_junit(target: Option<Target>, report: Option<JunitReport>, suite: &str) -> Result<()> {
    let (Some(target), Some(report)) = (target, report) else { return Ok(()) };
    let mut out = target.create()?;
    let mut buffered = BufWriter::new(&mut out);
    let written = report.write(suite, &mut buffered).and_then(|()| buffered.flush());
    drop(buffered);
    written.with_context(|| target.label().to_owned())?;
    Ok(out.finish()?)
}
