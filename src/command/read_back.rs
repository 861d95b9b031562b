//! A note on tensors that change when the output is read back: CSV has no axis of length 1, and strings of ONNX have no
//! width.

use std::path::Path;

use anyhow::Result;

use super::io::{Run, note};
use crate::format::interface::ReadsBack;
use crate::format::located::Located;
use crate::format::open::OpenOptions;
use crate::format::values::delimiter::TableOptions;
use crate::format::write::LaidOut;
use crate::item::meta::Meta;

pub(super) struct ReadBack {
    others: Vec<(Option<String>, Meta, ReadsBack)>,
}

impl ReadBack {
    pub(super) fn of(plan: &LaidOut) -> Self {
        let other = |(name, meta, _): (&str, &Meta, u64)| {
            let back = plan.format().writer().reads_back(meta, &TableOptions::default());
            let name = Some(name.to_owned()).filter(|_| plan.format().is_container());
            (back != ReadsBack::Same).then(|| (name, meta.clone(), back))
        };
        Self { others: plan.tensors().filter_map(other).collect() }
    }

    /// Prints a note if a tensor changes.
    pub(super) fn tell(self, run: Run<'_>, label: &str, path: &Path) -> Result<()> {
        if run.quiet {
            return Ok(());
        }
        let others = self.others.into_iter().filter_map(|(name, meta, back)| {
            let back = match back {
                ReadsBack::Same => return None,
                ReadsBack::As(back) => back,
                // Only the items have a width.
                ReadsBack::AsWideAsLongest => {
                    described(path).filter(|back| back.dtype.native() != meta.dtype.native())?
                }
            };
            // Commands ask for the dtype of void items, whose bits are the same.
            let is_same_dtype = back.dtype.is_ambiguous() || back.dtype.native() == meta.dtype.native();
            if is_same_dtype && back.shape == meta.shape {
                return None;
            }
            let shape = format!("{:?}", back.shape);
            Some((name, if is_same_dtype { shape } else { format!("{} {shape}", back.dtype.name()) }))
        });
        let others: Vec<_> = others.collect();
        let Some((name, back)) = others.first() else { return Ok(()) };
        let name = name.as_ref().map_or_else(String::new, |name| format!(":{name}"));
        let more =
            if others.len() > 1 { format!(", and {} more tensors as others", others.len() - 1) } else { String::new() };
        let line = format!("{label}{name}: reads back as {back}{more}");
        note(&run.io.stderr, &line)
    }
}

fn described(path: &Path) -> Option<Meta> {
    let input = OpenOptions::new("").open(&Located::from_path(path)).ok()?;
    Some(input.describe(0).ok()?.meta)
}
