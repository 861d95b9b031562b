//! How `diff` ends: tensors of ACTUAL become those of EXPECTED, or the report says how they could.

use std::cell::RefCell;

use anyhow::Result;

use super::accept::Changes;
use super::acceptance::Acceptance;
use super::diff::{Diff, print};
use super::io::{Io, Outcome, Run};
use super::member::Member;
use crate::diff;
use crate::format::collection::TensorPlace;
use crate::storage::source::Source;

impl Diff {
    /// Accepts a tensor where nothing was expected so far.
    pub(super) fn new_one(&self, run: Run<'_>, acceptance: Acceptance, found: &Member) -> Result<Outcome> {
        let (expected, asked) = (&self.expected, self.asked());
        let mut source = found.source(asked.of(found.name()))?;
        asked.finish()?;
        let changes = Changes::for_file(&expected.located, None, &mut source, None, run.limits)?;
        print(run.io, &mut |out| match (self.json, self.summary) {
            (true, _) => diff::write_json_of_new(out, &source),
            (false, true) => Ok(()),
            (false, false) => writeln!(out, "different: {} is not there", expected.label),
        })?;
        self.accept_one(run, acceptance, changes, source)
    }

    /// Writes a tensor of ACTUAL to EXPECTED.
    pub(super) fn accept_one(
        &self,
        run: Run<'_>,
        acceptance: Acceptance,
        changes: Changes,
        actual: Source,
    ) -> Result<Outcome> {
        let actual = RefCell::new(Some(actual));
        self.accept(run, acceptance, changes, &|_| Ok(actual.take().expect("one file is opened once")))
    }

    /// Writes tensors of ACTUAL to EXPECTED, or reports the files that would be written.
    pub(super) fn accept(
        &self,
        run: Run<'_>,
        acceptance: Acceptance,
        changes: Changes,
        open: &dyn Fn(Option<TensorPlace>) -> Result<Source>,
    ) -> Result<Outcome> {
        let (is_written, again) = (acceptance == Acceptance::Written, self.input.again());
        self.tell(
            run.io,
            &if is_written { changes.write(run, &again, open) } else { changes.report(run, &again, open) }?,
        )
    }

    /// Ends a comparison that accepts nothing. A report on a golden file that differs says how to accept ACTUAL.
    pub(super) fn end(&self, io: &Io, acceptance: Acceptance, is_equal: bool) -> Result<Outcome> {
        let has_report = !is_equal && !self.json && !self.summary;
        if let Some(hint) = acceptance.hint().filter(|_| has_report) {
            print(io, &mut |out| writeln!(out, "  {hint}"))?;
        }
        Ok(Outcome::from_verdict(is_equal))
    }
}
