//! Explanations of how the tensors of an output are made.

use super::output::{OutputKind, OutputTensor};
use super::plan::LaidOut;
use crate::engine::explain::Explanation;
use crate::engine::job::Job;
use crate::engine::plan::Route;
use crate::error::Result;
use crate::format::interface::TextOptions;

impl LaidOut {
    /// Explains how each tensor is made, and returns each explanation with the name of the tensor.
    pub fn explain(&self, to: OutputKind, text: &TextOptions) -> Vec<(String, Explanation)> {
        let route = self.route(to);
        let explained = |n: usize| {
            let mut explanation = self.with_sink(n, to, text, |sink| self.outputs[n].job.planners().explain(sink));
            if route == Route::TemporaryFile {
                explanation.plan.route = Route::TemporaryFile;
            }
            (self.outputs[n].name.clone(), explanation)
        };
        (0..self.outputs.len()).map(explained).collect()
    }
}

/// Explains a change in place.
///
/// # Errors
/// The indices cannot be read.
pub fn explain_edit(tensor: OutputTensor) -> Result<Explanation> {
    Job::new(tensor.fill, tensor.limits).planners().explain_edit()
}
