//! The option `--junit`.

use std::fs::{self, File};
use std::io::{BufWriter, Read as _, Write as _};
use std::path::{Path, PathBuf};

use anyhow::{Context, Result, bail};
use clap::{Args, ValueHint};

use super::operands::Operand;
use super::values::parse_path;
use crate::report::junit::JunitReport;
use crate::storage::targets::target::Target;

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
