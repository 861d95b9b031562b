//! The items of a job, read into memory or packed several to a byte.

use std::ops::Range;

use crate::engine::job::{Job, Progress};
use crate::engine::plan::{Plan, SinkKind};
use crate::engine::sink::Take;
use crate::error::{Context, Result};
use crate::format::packed::Packer;
use crate::item::meta::Meta;
use crate::item::tensor::Tensor;
use crate::layout::shape::bytes_of;
use crate::layout::window::ItemRuns;
use crate::memory;

/// Reads the output of a job into memory: all of it, or only some `places` of each axis.
///
/// # Errors
/// The operands cannot be read; there is too little memory.
pub fn items_at(job: &mut Job, places: Option<&[Vec<Range<usize>>]>, label: &str) -> Result<Tensor> {
    let plan = match places {
        None => job.plan(SinkKind::Stream),
        Some(places) => job.plan(SinkKind::Runs(&ItemRuns::new(&job.meta().shape, places))),
    };
    job.begin(&plan)?;
    items_of(job, &plan, job.meta(), label, &|_| {})
}

/// Reads the output of a job into memory. `meta` has the dtype and shape in the file. `place` is the name of the file
/// in messages.
pub(super) fn items_of(job: &Job, plan: &Plan, meta: &Meta, place: &str, progress: Progress<'_>) -> Result<Tensor> {
    let shape = plan.steps.runs().map_or_else(|| meta.shape.clone(), ItemRuns::shape);
    let size = bytes_of(&shape, meta.dtype.itemsize()).unwrap_or(usize::MAX);
    let mut bytes = memory::with_capacity(size).with_context(|| place.to_owned())?;
    job.stream(plan, progress, &mut |items| {
        bytes.extend_from_slice(items);
        Ok(())
    })?;
    Tensor::new(meta.dtype.clone(), shape, bytes).with_context(|| place.to_owned())
}

pub(super) fn pack(job: &Job, plan: &Plan, bits: u32, put: &mut Take<'_>, progress: Progress<'_>) -> Result<()> {
    let (mut packer, mut bytes) = (Packer::new(bits), Vec::new());
    job.stream(plan, progress, &mut |window| {
        bytes.clear();
        packer.push(window, &mut bytes);
        put(&bytes)
    })?;
    bytes.clear();
    packer.finish(&mut bytes);
    put(&bytes)
}
