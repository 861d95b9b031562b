//! How the tensors of an output are made, told before they are.

use super::plan::{Plan, Planned};
use crate::engine::explain::Explanation;
use crate::engine::plan::Takes;
use crate::format::interface::Layout;

impl Plan {
    /// Tells how each tensor is made, with its name. `in_order` says that the output is no file that can be written in any order.
    pub fn explain(&self, in_order: bool) -> Vec<(&str, Explanation)> {
        let windows = match &self.layout {
            Layout::Chunks(chunks) => self.boxes(&**chunks),
            Layout::Places(_) | Layout::Sequence(_) | Layout::Whole(_) => Vec::new(),
        };
        let all = self.outputs.iter().enumerate().map(|(n, Planned { name, job, .. })| {
            let planner = job.planner();
            let explanation = match &self.layout {
                Layout::Places(places) if !in_order && places.tensors[n].packed.is_none() => {
                    planner.explain(Takes::File { base: Some(places.tensors[n].start) })
                }
                Layout::Chunks(_) => planner.explain(Takes::Windows(&windows[n])),
                Layout::Places(_) | Layout::Sequence(_) | Layout::Whole(_) => planner.explain(Takes::Stream),
            };
            (name.as_str(), explanation)
        });
        all.collect()
    }
}
