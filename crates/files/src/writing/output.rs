//! A tensor of an output before it is laid out, its items, and changes of a tensor in place.

use std::ops::Range;
use std::sync::{Arc, Mutex};

use serde_json::Value;

use crate::narrow::packed::Packer;
use crate::opening::table::Format;
use crate::operators::arranged::reshaped;
use crate::operators::cast::CastRule;
use crate::operators::fill::{Fill, Limits, MAX_EMPTY_ITEMS, Patch, Region, check_size};
use crate::operators::selection::Selection;
use crate::plans::job::{Job, Progress};
use crate::plans::plan::{Plan, SinkKind};
use crate::plans::sink::{FileSink, Take};
use crate::storage::chunked::{ChunkStyle, PackedUnit};
use crate::storage::key_store::Commit;
use crate::storage::source::Source;
use crate::storage::targets::signals;
use tensorop_kernels::error::{Context, Error, ErrorKind, Result, malformed, unsupported};
use tensorop_kernels::item::dtype::DType;
use tensorop_kernels::item::meta::{Meta, Order};
use tensorop_kernels::item::tensor::Tensor;
use tensorop_kernels::layout::axis::bytes_of;
use tensorop_kernels::layout::window::ItemRuns;
use tensorop_kernels::memory;

/// A tensor of an output: the operator that fills it, and how it is stored.
#[derive(Debug)]
pub struct OutputTensor {
    /// The name in the output; `None` in a format without names, and until [`Output::prepare`](super::Output::prepare)
    /// names the tensor.
    pub name: Option<String>,
    /// The name that patterns of options match; `None` if they match the name in the output.
    pub old_name: Option<String>,
    /// The operator that fills the items.
    pub fill: Box<dyn Fill>,
    /// The dims of the output if they differ from the operator's. The items are the same in C order.
    pub dims: Option<Vec<usize>>,
    /// The threads and memory that the tensor may use.
    pub limits: Limits,
    /// The dtype and order of the stored items.
    pub recast: Recast,
    /// The chunks that a store cuts the tensor into; `None` for the chunks of its data.
    pub style: Option<Arc<ChunkStyle>>,
    /// Whether a change in place stores a missing chunk even if the chunk holds only the fill value.
    pub stores_empty: bool,
}

/// How the items of an output are cast and arranged.
#[derive(Clone, Debug, Default)]
pub struct Recast {
    /// The dtype of the values; `None` keeps it.
    pub cast: Option<DType>,
    /// The losses that the cast may make.
    pub rule: CastRule,
    /// Whether numbers are written with the highest byte first; `None` keeps the byte order.
    pub big_endian: Option<bool>,
    /// The order of the items. In Fortran order, the operator has the axes of the output reversed.
    pub order: Order,
}

impl OutputTensor {
    /// The output of an operator.
    pub fn new(fill: Box<dyn Fill>, limits: Limits) -> Self {
        Self {
            name: None,
            old_name: None,
            fill,
            dims: None,
            limits,
            recast: Recast::default(),
            style: None,
            stores_empty: false,
        }
    }

    /// An unaltered copy of a tensor.
    pub fn copy(data: Source, limits: Limits) -> Self {
        Self::new(Box::new(Selection::whole(data)), limits)
    }

    /// A tensor with other dims. In a format without chunks, the dims change only the header, because the items keep
    /// their C order. In a format with chunks, the operator reshapes the items, because chunks are boxes of the new
    /// dims.
    pub fn reshaped(data: Source, dims: Vec<usize>, format: Format, limits: Limits) -> Self {
        if format.can().chunks {
            return Self::new(reshaped(data, dims), limits);
        }
        Self { dims: Some(dims), ..Self::copy(data, limits) }
    }

    /// The name of the data in messages.
    pub fn label(&self) -> String {
        self.fill.data().label().to_owned()
    }

    /// The dtype, shape and order of the tensor in a file of `format`.
    pub fn meta(&self, format: Format) -> Meta {
        let dtype = self.recast.cast.as_ref().unwrap_or(&self.fill.meta().dtype);
        let ordered = match self.recast.big_endian {
            Some(false) => dtype.native(),
            Some(true) => dtype.big_endian(),
            None => dtype.clone(),
        };
        let mut shape = self.dims.as_ref().unwrap_or(&self.fill.meta().shape).clone();
        if self.recast.order == Order::Fortran {
            shape.reverse();
        }
        Meta::c_order(format.stored(ordered), shape).in_order(self.recast.order)
    }

    pub(crate) fn check(&self, format: Format) -> Result<()> {
        let refuse = |message: String| Err(Error::from_kind(ErrorKind::Unsupported, message));
        let (meta, name) = (self.meta(format), format.argument());
        format.writer().check(&meta.dtype).map_err(|error| error.with_kind(ErrorKind::Unsupported))?;
        if meta.order == Order::Fortran && !format.can().fortran_order {
            return refuse(format!("{name} is always in C order"));
        }
        if self.recast.big_endian == Some(true) && !format.can().byte_orders {
            return refuse(format!("{name} is never big-endian"));
        }
        check_size(&meta.dtype, &meta.shape)?;
        let items = self.fill.meta().items();
        if !format.is_binary() && meta.dtype.itemsize() == 0 && items > MAX_EMPTY_ITEMS {
            return refuse(format!("{items} items of no bytes are too many to print"));
        }
        Ok(())
    }
}

/// Returns `style` for a tensor with the same items but other axes. Sides and dimension names follow their axes. `axes`
/// has the old axis of each new axis. `None` if a new axis longer than 1 has no old axis. Also `None` if axes come or
/// go and a codec transposes, because such a codec lists the axes.
pub(crate) fn style_along(style: &ChunkStyle, axes: &[Option<usize>], shape: &[usize]) -> Option<ChunkStyle> {
    let has_counterpart = |(axis, &dim): (&Option<usize>, &usize)| axis.is_some() || dim == 1;
    let same_rank = axes.len() == style.chunk.len() && axes.iter().all(Option::is_some);
    if !axes.iter().zip(shape).all(has_counterpart) || !same_rank && style.codecs.contains("\"transpose\"") {
        return None;
    }
    let sides = |sides: &[usize]| axes.iter().map(|axis| axis.map_or(1, |axis| sides[axis])).collect();
    let names = style.dimension_names.as_deref().and_then(|names| serde_json::from_str::<Vec<Value>>(names).ok());
    let name = |names: &[Value], axis: Option<usize>| axis.and_then(|axis| names.get(axis).cloned());
    let moved = |names: Vec<Value>| axes.iter().map(|&axis| name(&names, axis).unwrap_or_default()).collect::<Value>();
    Some(ChunkStyle {
        unit: sides(&style.unit),
        chunk: sides(&style.chunk),
        dimension_names: names.map(|names| moved(names).to_string()),
        ..style.clone()
    })
}

/// The kind of an output, as far as plans depend on it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum OutputKind {
    /// A folder, or a file that can be written in any order.
    File,
    /// Standard output or a device, which takes bytes in order.
    Stream,
    /// A file or folder of which this process makes a part.
    Part,
}

/// One of `of` shares of an output, counted from 1. The sizes of two shares differ by at most one unit. If there are
/// more shares than units, the last shares are empty.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Share {
    /// The number of this share.
    pub number: usize,
    /// The number of all shares.
    pub of: usize,
}

impl Share {
    /// The units of this share, of `units` in all.
    pub fn range(self, units: usize) -> Range<usize> {
        let (each, more) = (units / self.of, units % self.of);
        // The first shares have one unit more.
        let end = |number: usize| each * number + number.min(more);
        end(self.number - 1)..end(self.number)
    }
}

/// Changes the data of a tensor in place; its operator must be a [`Patch`]. Only windows that change are read and
/// written. With a `share` of a store in chunks, only the windows of the share are. `expect` is called once, before the
/// first window is made, with the total that `progress` will add up to.
///
/// # Errors
/// A share of data that is not stored in chunks; data in no local file; the data cannot be read or written.
pub fn edit(tensor: OutputTensor, share: Option<Share>, expect: &dyn Fn(usize), progress: Progress<'_>) -> Result<()> {
    let label = tensor.label();
    let stores_empty = tensor.stores_empty;
    let (job, plan) = begun_edit(tensor, share)?;
    let patch = job.fill().as_patch().expect(IS_PATCH);
    if patch.base().source.as_chunks().is_some() {
        return edit_chunks(&job, &plan, patch, (&label, stores_empty), expect, progress);
    }
    if share.is_some() {
        return Err(unsupported!("parts of it are changed in place only in a Zarr store").within(label));
    }
    let source = &patch.base().source;
    let bytewise = source.as_local_file().map(|(file, start)| FileSink::new(file, start, job.meta(), &label));
    let packed = || source.as_packed_file().map(|packed| FileSink::packed(packed, job.meta(), &label));
    let sink = bytewise.or_else(packed).ok_or_else(|| malformed!("{label}: not a file"))?;
    signals::survive_size_limit();
    expect(plan.steps.items().saturating_mul(job.meta().dtype.itemsize()));
    job.edit(&plan, patch, &sink, progress)
}

/// Reads everything that [`edit`] reads, and changes nothing. So several tensors can be checked before the first
/// changes.
///
/// # Errors
/// The data cannot be read.
pub fn check_edit(tensor: OutputTensor) -> Result<()> {
    let label = tensor.label();
    let (job, plan) = begun_edit(tensor, None)?;
    let patch = job.fill().as_patch().expect(IS_PATCH);
    // The job does not read a chunk if all of its items change, so each chunk is opened here.
    let put = |region: &Region, _: &[u8]| match patch.base().source.as_chunks() {
        Some(chunks) => chunks.value_of(region.window()).map(drop).with_context(|| label.clone()),
        None => Ok(()),
    };
    job.run_all(&plan, &put, &|_| {})
}

const IS_PATCH: &str = "an operator that changes data in place is a patch";

/// Plans an edit of the data, or of a share of its chunks.
fn begun_edit(tensor: OutputTensor, share: Option<Share>) -> Result<(Job, Plan)> {
    let mut job = Job::new(tensor.fill, tensor.limits);
    let plan = job.planners().plan_edit(share.map(|share| move |windows| share.range(windows)))?;
    job.begin(&plan)?;
    Ok((job, plan))
}

/// Writes the chunks of an edit beside the store, and then moves each into place. So nothing changes if one of them
/// cannot be read or written.
fn edit_chunks(
    job: &Job,
    plan: &Plan,
    patch: &dyn Patch,
    (label, stores_empty): (&str, bool),
    expect: &dyn Fn(usize),
    progress: Progress<'_>,
) -> Result<()> {
    let chunks = patch.base().source.as_chunks().expect("the data is in chunks");
    let store = chunks.edit().with_context(|| format!("{label}: nothing can be written beside it"))?;
    expect(plan.steps.items().saturating_mul(job.meta().dtype.itemsize()));
    let written = Mutex::new(Vec::with_capacity(plan.steps.count()));
    let put = |region: &Region, items: &[u8]| -> Result<()> {
        let window = region.window();
        // The job does not read a chunk if all of its items change, so each chunk is opened here: a folder in its place
        // must be refused before other chunks change.
        chunks.value_of(window).with_context(|| label.to_owned())?;
        let PackedUnit { key, bytes } = chunks.packed(window, items, stores_empty).with_context(|| label.to_owned())?;
        // The chunk is not stored and still holds only the fill value, so nothing changes.
        let Some(bytes) = bytes else { return Ok(()) };
        let value = store.prepare(&key, &bytes);
        let value = value.with_context(|| format!("{label}: chunk {key}: cannot be written"))?;
        written.lock().expect("no thread panicked").push((key, value));
        Ok(())
    };
    job.run_all(plan, &put, progress)?;
    let mut written = written.into_inner().expect("no thread panicked");
    written.sort_by(|(a, _), (b, _)| a.cmp(b));
    let commit = |(_, commit): (_, Commit)| commit();
    written.into_iter().try_for_each(commit).with_context(|| format!("{label}: a chunk cannot be put in its place"))
}

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
pub(crate) fn items_of(job: &Job, plan: &Plan, meta: &Meta, place: &str, progress: Progress<'_>) -> Result<Tensor> {
    let shape = plan.steps.runs().map_or_else(|| meta.shape.clone(), ItemRuns::shape);
    let size = bytes_of(&shape, meta.dtype.itemsize()).unwrap_or(usize::MAX);
    let mut bytes = memory::with_capacity(size).with_context(|| place.to_owned())?;
    job.stream(plan, progress, &mut |items| {
        bytes.extend_from_slice(items);
        Ok(())
    })?;
    Tensor::new(meta.dtype.clone(), shape, bytes).with_context(|| place.to_owned())
}

pub(crate) fn pack(job: &Job, plan: &Plan, bits: u32, put: &mut Take<'_>, progress: Progress<'_>) -> Result<()> {
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
