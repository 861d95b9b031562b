//! Compares the tensors of two sides by name: several small pairs at a time, one thread each, or one large pair by all
//! threads.

use std::num::NonZero;
use std::sync::Mutex;

use anyhow::Result;

use super::asked::Asked;
use super::sides::NamedPairs;
use crate::diff::models::{Models, NamedResult};
use crate::diff::{self, Effort, Options, Outline};
use crate::engine::job::Progress;
use crate::error::Error;
use crate::format::collection::TensorPlace;
use crate::parallel::{Threads, share};
use crate::storage::source::Source;

/// Pairs of fewer bytes on both sides together are compared by one thread each: to start others for a tensor of a few
/// pages takes longer than to compare it, and a checkpoint has thousands of them.
const SMALL: u64 = 8 << 20;

/// The number of small pairs whose files are open at the same time.
const BATCH: usize = 128;

/// The pairs to compare, and how they are opened and judged.
pub(super) struct Comparing<'a> {
    pub pairs: &'a NamedPairs,
    pub asked: &'a Asked<'a>,
    /// Returns the tolerances and limits for the tensor of a name.
    pub options: &'a dyn Fn(&str) -> Options,
    pub effort: Effort,
}

/// A pair that is still to be compared, or the result of a pair or of a tensor that has no partner.
enum PairState {
    Open(Box<OpenPair>),
    Found(Result<NamedResult, Error>),
}

/// Two open tensors, and what passes for them.
struct OpenPair {
    sources: [Source; 2],
    options: Options,
}

impl Comparing<'_> {
    /// Compares all pairs in the order of their names. Returns the names of those that do not pass.
    ///
    /// # Errors
    /// Of opening and reading.
    pub(super) fn compare(&self, models: &mut Models, progress: Progress<'_>) -> Result<Vec<String>> {
        let (mut batch, mut failed) = (Vec::new(), Vec::new());
        for (name, places) in &self.pairs.named {
            let entry = match places {
                [Some(expected), Some(actual)] => {
                    let sources = self.pairs.open([*expected, *actual], self.asked)?;
                    if sources.iter().map(|source| source.bytes() as u64).sum::<u64>() >= SMALL {
                        self.flush(&mut batch, models, &mut failed, progress)?;
                        let mut pair = OpenPair { sources, options: (self.options)(name) };
                        let found = pair.compare(self.effort, progress)?;
                        add(models, &mut failed, name, found)?;
                        continue;
                    }
                    PairState::Open(Box::new(OpenPair { sources, options: (self.options)(name) }))
                }
                [expected, actual] => PairState::Found(Ok(self.alone([*expected, *actual])?)),
            };
            batch.push((name.as_str(), Mutex::new(entry)));
            if batch.len() == BATCH {
                self.flush(&mut batch, models, &mut failed, progress)?;
            }
        }
        self.flush(&mut batch, models, &mut failed, progress)?;
        Ok(failed)
    }

    /// Compares the pairs of a batch, each by one thread.
    fn flush(
        &self,
        batch: &mut Vec<(&str, Mutex<PairState>)>,
        models: &mut Models,
        failed: &mut Vec<String>,
        progress: Progress<'_>,
    ) -> Result<()> {
        let bytes = batch.iter().map(|(_, entry)| match &*entry.lock().expect("no thread panicked") {
            PairState::Open(pair) => pair.sources.iter().map(Source::bytes).sum(),
            PairState::Found(_) => 0,
        });
        let threads = self.effort.limits.threads.for_bytes(bytes.sum());
        let mut effort = self.effort;
        effort.limits.threads = Threads::new(NonZero::new(1));
        share(
            threads,
            batch.len(),
            || (),
            |n, ()| -> Result<bool> {
                let mut entry = batch[n].1.lock().expect("no thread panicked");
                if let PairState::Open(pair) = &mut *entry {
                    let found = pair.compare(effort, progress);
                    // this closes the files of the pair
                    *entry = PairState::Found(found);
                }
                Ok(true)
            },
        )?;
        for (name, entry) in batch.drain(..) {
            if let PairState::Found(found) = entry.into_inner().expect("no thread panicked") {
                add(models, failed, name, found?)?;
            }
        }
        Ok(())
    }

    /// Describes a tensor that only one side has.
    fn alone(&self, places: [Option<TensorPlace>; 2]) -> Result<NamedResult> {
        let outline = |side: usize, place| {
            let source = self.pairs.open_one(side, place, self.asked)?;
            Ok::<_, anyhow::Error>(Outline::new(source.dtype(), source.shape()))
        };
        Ok(match places {
            [Some(expected), _] => NamedResult::Missing(outline(0, expected)?),
            [None, Some(actual)] => NamedResult::Extra(outline(1, actual)?),
            [None, None] => unreachable!("a name comes from a tensor of one of the sides"),
        })
    }
}

impl OpenPair {
    fn compare(&mut self, effort: Effort, progress: Progress<'_>) -> Result<NamedResult, Error> {
        let [expected, actual] = &mut self.sources;
        Ok(NamedResult::Both(Box::new(diff::compare_sources(expected, actual, &self.options, effort, progress)?)))
    }
}

/// Adds a result to the report, and to the failed names if it does not pass.
fn add(models: &mut Models, failed: &mut Vec<String>, name: &str, found: NamedResult) -> Result<()> {
    if !found.verdict().passes() {
        failed.push(name.to_owned());
    }
    Ok(models.add(name, &found)?)
}
