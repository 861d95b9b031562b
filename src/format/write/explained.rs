//! How the tensors of an output are made, told before they are.

use super::output::{OutputKind, OutputTensor};
use super::plan::Plan;
use crate::engine::explain::Explanation;
use crate::engine::job::Job;
use crate::engine::plan::Route;
use crate::error::Result;
use crate::format::interface::TextOptions;

impl Plan {
    /// Explains how each tensor is made, with its name. `text` says how text is laid out.
    pub fn explain(&self, to: OutputKind, text: &TextOptions) -> Vec<(&str, Explanation)> {
        let route = self.route(to);
        let all = self.outputs.iter().enumerate().map(|(n, output)| {
            let mut explanation = self.with_sink(n, to, text, |sink| output.job.planners().explain(sink));
            if route == Route::TemporaryFile {
                explanation.plan.route = Route::TemporaryFile;
            }
            (output.name.as_str(), explanation)
        });
        all.collect()
    }
}

/// Explains how the data of a tensor is changed in place.
///
/// # Errors
/// Of reading what says which windows change.
pub fn explain_edit(tensor: OutputTensor) -> Result<Explanation> {
    let job = Job::new(tensor.fill, tensor.limits);
    job.planners().explain_edit()
}
