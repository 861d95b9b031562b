//! Explanations of how the tensors of an output are made.

use super::output::{OutputKind, OutputTensor};
use super::plan::LaidOut;
use crate::engine::explain::Explanation;
use crate::engine::job::Job;
use crate::engine::plan::Route;
use crate::error::Result;
use crate::format::interface::TextOptions;
use crate::storage::calls::CallCounter;

impl LaidOut {
    /// Explains how each tensor is made, and returns each explanation with the name of the tensor. With a `counter` of
    /// the operands' reads, a rehearsal counts the calls of each tensor, as far as they are known without reading.
    /// Calls that were counted before belong to the first tensor. The output cannot be written after a rehearsal.
    ///
    /// # Errors
    /// An operand cannot be read.
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

/// Explains a change in place. `counter` is as for [`LaidOut::explain`].
///
/// # Errors
/// The indices cannot be read.
pub fn explain_edit(tensor: OutputTensor, counter: Option<&CallCounter>) -> Result<Explanation> {
    let mut job = Job::new(tensor.fill, tensor.limits);
    let mut explanation = job.planners().explain_edit()?;
    counter.map_or(Ok(()), |counter| job.count(&mut explanation, counter))?;
    Ok(explanation)
}
