//! Compares the tensors of two sides by name: several small pairs at a time, one thread each, or one large pair by all
//! threads.

use std::num::NonZero;
use std::sync::{Mutex, PoisonError};

use anyhow::Result;

use super::asked::Asked;
use super::sides::Pairs;
use crate::diff::models::{Models, NamedResult};
use crate::diff::{self, Effort, Options, Outline};
use crate::engine::job::Progress;
use crate::error::Error;
use crate::format::collection::Place;
use crate::parallel::{Threads, share};
use crate::storage::source::Source;

/// Pairs of fewer bytes on both sides together are compared by one thread each: to start others for a tensor of a few
/// pages takes longer than to compare it, and a checkpoint has thousands of them.
const SMALL: u64 = 8 << 20;

/// The number of small pairs whose files are open at the same time.
const BATCH: usize = 128;

/// The pairs to compare, and how they are opened and judged.
pub(super) struct Comparing<'a> {
    pub pairs: &'a Pairs,
    pub asked: &'a Asked<'a>,
    /// Returns the tolerances and limits for the tensor of a name.
    pub options: &'a dyn Fn(&str) -> Options,
    pub effort: Effort,
}

/// A pair that is still to be compared, or the result of a pair or of a tensor that has no partner.
enum Entry {
    Open(Box<([Source; 2], Options)>),
    Found(Result<NamedResult, Error>),
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
                        let mut pair = Box::new((sources, (self.options)(name)));
                        let found = compared(&mut pair, self.effort, progress)?;
                        add(models, &mut failed, name, found)?;
                        continue;
                    }
                    Entry::Open(Box::new((sources, (self.options)(name))))
                }
                [expected, actual] => Entry::Found(Ok(self.alone([*expected, *actual])?)),
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
        batch: &mut Vec<(&str, Mutex<Entry>)>,
        models: &mut Models,
        failed: &mut Vec<String>,
        progress: Progress<'_>,
    ) -> Result<()> {
        let bytes = batch.iter().map(|(_, entry)| match &*entry.lock().unwrap_or_else(PoisonError::into_inner) {
            Entry::Open(pair) => pair.0.iter().map(Source::bytes).sum(),
            Entry::Found(_) => 0,
        });
        let threads = self.effort.limits.threads.for_bytes(bytes.sum());
        let mut effort = self.effort;
        effort.limits.threads = Threads::new(NonZero::new(1));
        share(
            threads,
            batch.len(),
            || (),
            |n, ()| -> Result<bool> {
                let mut entry = batch[n].1.lock().unwrap_or_else(PoisonError::into_inner);
                if let Entry::Open(pair) = &mut *entry {
                    let found = compared(pair, effort, progress);
                    // this closes the files of the pair
                    *entry = Entry::Found(found);
                }
                Ok(true)
            },
        )?;
        for (name, entry) in batch.drain(..) {
            if let Entry::Found(found) = entry.into_inner().unwrap_or_else(PoisonError::into_inner) {
                add(models, failed, name, found?)?;
            }
        }
        Ok(())
    }

    /// Describes a tensor that only one side has.
    fn alone(&self, places: [Option<Place>; 2]) -> Result<NamedResult> {
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

fn compared(pair: &mut ([Source; 2], Options), effort: Effort, progress: Progress<'_>) -> Result<NamedResult, Error> {
    let ([expected, actual], options) = pair;
    Ok(NamedResult::Both(Box::new(diff::compare_sources(expected, actual, options, effort, progress)?)))
}

fn add(models: &mut Models, failed: &mut Vec<String>, name: &str, found: NamedResult) -> Result<()> {
    if !found.verdict().passes() {
        failed.push(name.to_owned());
    }
    Ok(models.add(name, &found)?)
}
