//! Decides whether `diff` accepts tensors that do not pass, and ends it: writes tensors of ACTUAL to EXPECTED, reports how to
//! accept them, or keeps them for a look.

use anyhow::{Result, anyhow};
use clap::Args;

use super::accept::{Accepting, Changes, Opening, one};
use super::{Diff, JUNIT_SUITE, print};
use crate::command::messages::message;
use crate::command::operands::member::Member;
use crate::command::operands::operand_reader::OperandReader;
use crate::command::options::{EXPECTED, write_junit};
use crate::command::process::io::{Io, Outcome, Run, note};
use crate::diff;
use crate::error::{Error, ErrorKind};
use crate::formats::raw::RawView;
use crate::library::rewrite::{self, KeptFiles, NamedSource, UPDATE_GOLDEN, remove_kept};
use crate::opening::input::{Input, OpenOptions};
use crate::opening::located::{Located, Place};
use crate::reports::models::{NamedResult, add_to_junit};

/// The options that let tensors of ACTUAL become those of EXPECTED.
#[derive(Args)]
#[command(next_help_heading = "Golden files")]
pub(crate) struct AcceptOptions {
    /// If ACTUAL does not pass, write EXPECTED again with the tensors of ACTUAL
    ///
    /// This keeps EXPECTED's format, and with --ignore-dtype also its dtype; values that do not fit are an error. The order
    /// is C. Each file is written completely or not at all, and a line reports it; the status is then 0. The report on one
    /// tensor is its line of -q (with --worst N the whole report), and with -q only the lines of files are printed. An EXPECTED
    /// that is empty or damaged is replaced. A text that the same command would not find equal is not written, as CSV of strings
    /// that look like numbers, unless --dtype str reads them.
    ///
    /// Bytes without a header (FILE:DTYPE[DIMS]) and Zarr stores of version 2 are changed in place, which is not atomic.
    /// They accept only items of the same dtype and shape. Tensors that only ACTUAL has are added (in a folder as files of
    /// ACTUAL's format), and a missing EXPECTED is made. Tensors that only EXPECTED has are named and kept.
    #[arg(long, conflicts_with = "junit")]
    pub accept: bool,
    /// Compare with a golden file, in a test: TENSOROP_UPDATE_GOLDEN=1 in the environment then does the same as --accept
    ///
    /// The values 1, true and yes accept ACTUAL, in any case; 0, false, no and an empty value do not; any other value is an
    /// error. Without --golden the variable has no effect. Standard input, JSON and an address are only compared. A golden
    /// file that is empty or damaged is different.
    ///
    /// If TENSOROP_KEEP_ACTUAL names a folder, a check that fails leaves ACTUAL there as NAME.actual.npy, or as
    /// NAME.actual.npz if it is several tensors, for the golden file NAME. A check that passes removes it.
    #[arg(long)]
    pub golden: bool,
    /// With --accept: report the files that would be written, and write nothing
    ///
    /// All checks are made. The status is that of --accept: 0 if ACTUAL can be accepted.
    #[arg(id = "accept_dry_run", long = "dry-run", requires = "accept")]
    pub dry_run: bool,
}

impl AcceptOptions {
    /// Whether ACTUAL is accepted.
    pub(crate) fn accepts(&self, io: &Io, expected: &Located) -> Result<bool> {
        let updates = self.golden && rewrite::updates_golden(io.environment.update_golden.as_deref())?;
        Ok(self.accept || updates && is_file(expected))
    }

    /// Appends how to make a missing EXPECTED to its error, if a file can be made.
    pub(crate) fn offer_to_make(&self, [expected, actual]: [&Located; 2], error: anyhow::Error) -> anyhow::Error {
        let is_folder =
            |located: &Located| located.is_whole() && matches!(located.place, Place::Folder(_) | Place::Store(..));
        let how = if self.golden { format!("{UPDATE_GOLDEN}=1") } else { "--accept".to_owned() };
        match is_absent(expected) && (is_folder(actual) || rewrite::new_format(expected.output().0).is_ok()) {
            true => anyhow!("{}; {how} makes it", message(&error)),
            false => error,
        }
    }

    pub(crate) fn hint(&self, expected: &Located) -> Option<String> {
        (self.golden && is_file(expected)).then(|| format!("{UPDATE_GOLDEN}=1 accepts ACTUAL"))
    }
}

pub(crate) fn is_absent(located: &Located) -> bool {
    match (&located.place, &located.suffix) {
        (Place::Absent(_), _) => true,
        (Place::File(file) | Place::Store(file, _), Some(name))
            if !name.contains(['*', '?', '{']) && !RawView::is_meant(name) =>
        {
            let has = |input: Input| input.names().is_none_or(|names| names.contains(name));
            OpenOptions::default().open(&Located::from_path(file)).is_ok_and(|input| !has(input))
        }
        // addresses are never made, and a tensor of a folder is made through its file
        _ => false,
    }
}

pub(crate) fn is_file(expected: &Located) -> bool {
    !matches!(expected.place, Place::Stdin | Place::Json(_) | Place::Object(_))
}

/// Whether the content of EXPECTED is at fault: a golden file that is empty, cut, or has other values than its text promises.
pub(crate) fn is_damaged(error: &anyhow::Error) -> bool {
    let kind = error.downcast_ref::<Error>().map(Error::kind);
    matches!(kind, Some(ErrorKind::Malformed | ErrorKind::Argument)) && message(error).starts_with(EXPECTED.name)
}

/// Opens the tensors of a check that failed.
pub(crate) type Failed<'a> = &'a dyn Fn() -> Result<Vec<NamedSource>>;

impl Diff {
    /// Where a golden check leaves the actual tensors that do not pass.
    pub(crate) fn kept(&self, io: &Io) -> Option<KeptFiles> {
        let folder = io.environment.keep_actual.as_deref().filter(|_| self.accepting.golden && !self.explain);
        rewrite::files_to_keep(folder, &self.expected.located)
    }

    /// Whether EXPECTED may be replaced, by this run or another one.
    pub(crate) fn is_golden(&self) -> bool {
        (self.accepting.golden || self.accepting.accept) && !self.explain && is_file(&self.expected.located)
    }

    /// Returns why EXPECTED differs, if it is damaged. If it cannot be read for another reason, that is the error.
    pub(crate) fn damage(&self, run: Run<'_>, fault: anyhow::Error, actual: Failed<'_>) -> Result<String> {
        if is_damaged(&fault) {
            return Ok(message(&fault));
        }
        self.end(run, false, actual)?;
        Err(fault)
    }

    /// Ends a comparison with an EXPECTED that does not exist or is damaged, as `why` says.
    pub(crate) fn new_one(&self, run: Run<'_>, accepts: bool, found: &Member, why: String) -> Result<Outcome> {
        let (io, expected, asked) = (run.io, &self.expected, self.asked(run.io));
        let open = || found.source(asked.of(found.name()));
        let (mut actual, is_absent) = (open()?, is_absent(&expected.located));
        if is_absent {
            asked.finish()?;
        }
        let mut changes = || Changes::for_file(&expected.located, None, &mut actual, None, run.limits);
        let changes = accepts.then(&mut changes).transpose()?;
        let is_silent = self.json || self.summary && accepts;
        if is_silent && !is_absent {
            note(&io.stderr, &why)?;
        }
        print(io, &mut |out| match self.json {
            true => diff::write_json_of_new(out, &actual),
            false if is_silent => Ok(()),
            false => writeln!(out, "different: {why}"),
        })?;
        let (junit, mut report) = self.junit.begin(&[&self.expected, &self.actual])?.unzip();
        if let Some(report) = &mut report {
            add_to_junit(report, &expected.label, &NamedResult::Damaged(why))?;
        }
        write_junit(junit, report, JUNIT_SUITE)?;
        let name = actual.member().map_or_else(String::new, |name| self.members.renamed(name));
        match changes {
            Some(changes) => self.accept(run, changes, &|_| Ok((open()?, self.options(&name)))),
            None => self.end(run, false, &|| one(open()?)),
        }
    }

    pub(crate) fn accept(&self, run: Run<'_>, changes: Changes, open: Opening<'_>) -> Result<Outcome> {
        let (limits, is_written) = (run.limits, !self.accepting.dry_run);
        let reading = OperandReader::new(run.io, &self.input, &self.threads)?.open_options(EXPECTED.name);
        let accepting = Accepting { limits, reading, says_dtype: !self.input.dtype.is_empty(), is_written, open };
        let lines = changes.write(run, &accepting)?;
        self.kept(run.io).filter(|_| is_written).inspect(remove_kept);
        self.tell(run.io, &lines)
    }

    pub(crate) fn end(&self, run: Run<'_>, is_equal: bool, actual: Failed<'_>) -> Result<Outcome> {
        let mut lines = Vec::new();
        if !is_equal && !self.keywords && !is_absent(&self.expected.located) {
            lines.extend(self.accepting.hint(&self.expected.located));
        }
        match self.kept(run.io) {
            Some(kept) if is_equal => remove_kept(&kept),
            Some(kept) => {
                let written = actual().and_then(|tensors| Ok(rewrite::keep(&kept, tensors, run.limits)?));
                // A tensor that cannot be kept must not hide the difference.
                lines.push(written.unwrap_or_else(|error| format!("ACTUAL is not kept: {}", message(&error))));
            }
            None => {}
        }
        if !self.json && !self.summary {
            print(run.io, &mut |out| lines.iter().try_for_each(|line| writeln!(out, "  {line}")))?;
        }
        Ok(Outcome::from_verdict(is_equal))
    }
}
