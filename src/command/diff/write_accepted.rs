//! The end of `diff`: writes tensors of ACTUAL to EXPECTED, reports how to accept them, or keeps them for a look.

use anyhow::Result;

use super::accept::{Accepting, Changes, Opening, one};
use super::acceptance::{is_absent, is_damaged, is_file};
use super::{Diff, JUNIT_SUITE, print};
use crate::command::messages::message;
use crate::command::operands::member::Member;
use crate::command::operands::operand_reader::OperandReader;
use crate::command::options::{EXPECTED, write_junit};
use crate::command::process::io::{Io, Outcome, Run, note};
use crate::diff;
use crate::library::rewrite::{self, KeptFiles, NamedSource, remove_kept};
use crate::reports::models::{NamedResult, add_to_junit};

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
        // a packed dtype would read bytes of one item each as several
        let says_dtype = !self.input.dtype.is_empty() && !self.input.dtype.iter().any(|one| one.value.is_packed());
        let accepting = Accepting { limits, reading, says_dtype, is_written, open };
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
