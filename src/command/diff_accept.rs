//! The end of `diff`: writes tensors of ACTUAL to EXPECTED, or reports how to accept them.

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
    /// Accepts ACTUAL where EXPECTED does not exist.
    pub(super) fn new_one(&self, run: Run<'_>, acceptance: Acceptance, found: &Member) -> Result<Outcome> {
        let (expected, asked) = (&self.expected, self.asked(run.io));
        let mut source = found.source(asked.of(found.name()))?;
        asked.finish()?;
        let changes = Changes::for_file(&expected.located, None, &mut source, None, run.limits)?;
        print(run.io, &mut |out| match (self.json, self.summary) {
            (true, _) => diff::write_json_of_new(out, &source),
            (false, true) => Ok(()),
            (false, false) => writeln!(out, "different: {} does not exist", expected.label),
        })?;
        self.accept_one(run, acceptance, changes, source)
    }

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

    pub(super) fn end(&self, io: &Io, acceptance: Acceptance, is_equal: bool) -> Result<Outcome> {
        let has_report = !is_equal && !self.json && !self.summary;
        if let Some(hint) = acceptance.hint().filter(|_| has_report) {
            print(io, &mut |out| writeln!(out, "  {hint}"))?;
        }
        Ok(Outcome::from_verdict(is_equal))
    }
}
