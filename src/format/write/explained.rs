//! How the tensors of an output are made, told before they are.

use super::output::{OutputKind, OutputTensor};
use super::plan::LaidOut;
use crate::engine::explain::Explanation;
use crate::engine::job::Job;
use crate::engine::plan::Route;
use crate::error::Result;
use crate::format::interface::TextOptions;
use crate::storage::calls::CallCounter;

impl LaidOut {
    /// Explains how each tensor is made, with its name. `text` says how text is laid out. If `counter` counts what the operands are
    /// asked for, the calls of the run are counted, and what was asked for until now counts for the first tensor. The output cannot
    /// be written any more then.
    ///
    /// # Errors
    /// Those of [`Job::count`].
    pub fn explain(
        &mut self,
        to: OutputKind,
        text: &TextOptions,
        counter: Option<&CallCounter>,
    ) -> Result<Vec<(String, Explanation)>> {
        let (route, mut all) = (self.route(to), Vec::new());
        for n in 0..self.outputs.len() {
            let mut explanation = self.with_sink(n, to, text, |sink| self.outputs[n].job.planners().explain(sink));
            if route == Route::TemporaryFile {
                explanation.plan.route = Route::TemporaryFile;
            }
            let output = &mut self.outputs[n];
            counter.map_or(Ok(()), |counter| output.job.count(&mut explanation, counter))?;
            all.push((output.name.clone(), explanation));
        }
        Ok(all)
    }
}

/// Explains how the data of a tensor is changed in place. `counter` is as for [`Plan::explain`].
///
/// # Errors
/// Of reading what says which windows change.
pub fn explain_edit(tensor: OutputTensor, counter: Option<&CallCounter>) -> Result<Explanation> {
    let mut job = Job::new(tensor.fill, tensor.limits);
    let mut explanation = job.planners().explain_edit()?;
    counter.map_or(Ok(()), |counter| job.count(&mut explanation, counter))?;
    Ok(explanation)
}
