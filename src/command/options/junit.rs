//! The option that writes a report as JUnit XML.

use std::fs::{self, File};
use std::io::{BufWriter, Read as _, Write as _};
use std::path::{Path, PathBuf};

use anyhow::{Context, Result, bail};
use clap::{Args, ValueHint};

use super::operands::Operand;
use super::values::parse_path;
use crate::report::junit::JunitReport;
use crate::storage::target::Target;

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
    /// Returns the file that the report goes to, and an empty report, if there is to be one. `operands` are compared.
    ///
    /// # Errors
    /// Nothing can be written there; the file is one that is not a report, or is in a folder or store that is compared.
    pub(crate) fn begin(&self, operands: &[&Operand]) -> Result<Option<(Target, JunitReport)>> {
        let Some(path) = &self.junit else { return Ok(None) };
        if path == Path::new("-") {
            bail!("--junit: standard output has the report: name a file");
        }
        let target = Target::resolve(path, format!("--junit {}", path.display()), false)?;
        if matches!(target, Target::Stdout(_)) {
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
        // a run may take long, so an error of the file comes before it
        target.probe()?;
        Ok(Some((target, JunitReport::new())))
    }
}

/// The first bytes of a report.
const BEGINNING: &[u8] = b"<?xml";

/// Checks that a file holds nothing but a report. There may be no such file.
fn check_replaceable(path: &Path, label: &str) -> Result<()> {
    if !path.is_file() {
        return Ok(());
    }
    let mut beginning = Vec::new();
    let file = File::open(path).with_context(|| label.to_owned())?;
    file.take(BEGINNING.len() as u64).read_to_end(&mut beginning).with_context(|| label.to_owned())?;
    if !beginning.is_empty() && beginning != BEGINNING {
        bail!("{label}: is there and is not an XML report (it does not begin with <?xml), and is not replaced");
    }
    Ok(())
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
