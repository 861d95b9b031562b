//! The layout of an output, and how it is written.

use std::fs::File;
use std::io::Write;
use std::ops::Range;
use std::sync::Arc;

use super::output::{OutputKind, OutputTensor, items_of, pack, style_along};
use super::requested_sides::{self, RuledTensor};
use crate::container::chunk_sides::TensorSides;
use crate::container::file_options::{FileOptions, Inherited, LayoutRequest, NamedCopy, ResolvedChunks};
use crate::container::interface::{ItemsPlace, Layout, Places, TextOptions, WholeTensor};
use crate::opening::table::Format;
use crate::operators::access::Access;
use crate::operators::cast::{CastFill, CastRule};
use crate::plans::job::{Job, Progress, spool};
use crate::plans::plan::{Before, Plan, SinkKind};
use crate::plans::sink::{FileSink, Take};
use crate::storage::chunked::ChunkStyle;
use crate::storage::platform::{clone_file, reserve};
use crate::storage::targets::stream::{SMALL_WRITE, WriteBehind};
use crate::storage::targets::target::{OpenOutput, Target};
use tensorop_kernels::error::{Context, ErrorKind, Result, unsupported};
use tensorop_kernels::item::dtype::DType;
use tensorop_kernels::item::encoding::Conversion;
use tensorop_kernels::item::meta::Meta;
use tensorop_kernels::layout::window::ItemRuns;
use tensorop_kernels::parallel::Threads;

/// A tensor of an output with the job that fills it.
#[derive(Debug)]
pub(crate) struct TensorJob {
    pub name: String,
    /// The dtype, shape and order in the file.
    pub meta: Meta,
    /// The job that fills the items as the file has them, before they are packed.
    pub job: Job,
    /// The plan of the job, once the output has begun.
    pub plan: Option<Plan>,
}

impl TensorJob {
    pub(crate) fn begun(&self) -> &Plan {
        self.plan.as_ref().expect("all tensors are begun before one is written")
    }
}

/// Checked tensors, and the place of each in the output.
///
/// The layout is separate from writing: a dry run only reports it, a progress bar needs the bytes of all tensors, and
/// the header of a container needs the place of every tensor before the first item is computed.
#[derive(Debug)]
pub struct LaidOut {
    pub(crate) format: Format,
    pub(crate) label: String,
    pub(crate) outputs: Vec<TensorJob>,
    pub(crate) layout: Layout,
    /// The threads that copy arrays unread.
    pub(crate) threads: Threads,
}

impl LaidOut {
    /// Lays out tensors that [`Output::prepare`](super::Output::prepare) has checked. No operand is read before the
    /// output is [begun](Self::begin).
    pub(crate) fn prepare(
        tensors: Vec<OutputTensor>,
        format: Format,
        label: &str,
        options: &FileOptions,
        inherited: &Inherited,
    ) -> Result<Self> {
        let threads = tensors.first().map_or(Threads::default(), |tensor| tensor.limits.threads);
        let mut outputs = Vec::with_capacity(tensors.len());
        let (mut styles, mut names) = (Vec::new(), Vec::new());
        for tensor in tensors {
            let (meta, source) = (tensor.meta(format), tensor.label());
            let data = tensor.fill.data();
            let own = || {
                let style = data.as_chunks()?.style();
                match tensor.fill.reads(0).first().and_then(Access::axes) {
                    None => Some(Arc::clone(style)),
                    Some(axes) => style_along(style, &axes, &tensor.fill.meta().shape).map(Arc::new),
                }
            };
            let style = tensor.style.or_else(own);
            styles.push(style.map(|style| with_fill_in(style, data.dtype(), &meta.dtype)));
            names.push(tensor.old_name.or_else(|| tensor.name.clone()).unwrap_or_default());
            let (rule, order) = (tensor.recast.rule, tensor.recast.order);
            let fill = CastFill::over(tensor.fill, meta.dtype.clone(), CastRule { order, ..rule }).context(source)?;
            let job = Job::new(fill, tensor.limits);
            outputs.push(TensorJob { name: tensor.name.unwrap_or_default(), meta, job, plan: None });
        }
        let mut resolved = ResolvedChunks::default();
        if format.can().chunks {
            let all = names.iter().zip(&outputs).zip(&styles);
            let ruled = all.map(|((name, output), style)| {
                let shape = &*output.meta.shape;
                RuledTensor { name, shape, dims: dims(options, style.as_deref(), shape.len()) }
            });
            let ruled: Vec<_> = ruled.collect();
            let chunks =
                requested_sides::resolved(&options.chunks, "chunks", &ruled).with_context(|| label.to_owned())?;
            let shards =
                requested_sides::resolved(&options.shards, "shards", &ruled).with_context(|| label.to_owned())?;
            let sides = chunks.into_iter().zip(shards).map(|(chunks, shards)| TensorSides { chunks, shards });
            resolved = ResolvedChunks { sides: sides.collect(), styles };
        }
        let tensors: Vec<_> = outputs.iter().map(|output| (output.name.as_str(), &output.meta)).collect();
        let request = LayoutRequest { options, inherited, chunks: &resolved };
        let layout = format.writer().layout(&tensors, &request).with_context(|| label.to_owned())?;
        Ok(Self { format, label: label.to_owned(), outputs, layout, threads })
    }

    /// The sides of the chunks of tensor `n`, and of its shards if it has any; `None` without chunks.
    pub fn sides(&self, n: usize) -> Option<(&[usize], Option<&[usize]>)> {
        let Layout::Chunks(chunks) = &self.layout else { return None };
        let ChunkStyle { chunk, unit, .. } = chunks.style(n);
        Some((chunk, Some(&**unit).filter(|unit| unit != chunk)))
    }

    /// The arrays that are copied unread.
    pub fn copies(&self) -> &[NamedCopy] {
        if let Layout::Chunks(chunks) = &self.layout { chunks.copies() } else { &[] }
    }

    pub fn format(&self) -> Format {
        self.format
    }

    /// Whether the file is one tensor that is written from front to back, such as text.
    pub fn is_whole(&self) -> bool {
        matches!(self.layout, Layout::Whole(_))
    }

    /// The bytes of all items in memory, which progress adds up to.
    pub fn bytes(&self) -> usize {
        self.outputs.iter().map(|output| output.job.meta().bytes()).sum()
    }

    /// The name of each tensor, its dtype and shape in the file, and the bytes of its items. These are the bytes in the
    /// file if the layout tells them, and else the bytes in memory.
    pub fn tensors(&self) -> impl Iterator<Item = (&str, &Meta, u64)> {
        self.outputs.iter().enumerate().map(|(n, output)| {
            let bytes = self.layout.bytes(n).unwrap_or_else(|| output.job.meta().bytes() as u64);
            (output.name.as_str(), &output.meta, bytes)
        })
    }

    /// Checks that no operand is too long or too short. A dry run calls this, because it does not
    /// [`write`](Self::write) and so does not read the operands to their ends.
    ///
    /// # Errors
    /// An operand is longer or shorter than its header says.
    pub fn finish(&self) -> Result<()> {
        self.outputs.iter().try_for_each(|output| output.job.fill().finish())
    }

    /// Writes the output to `target`, with the default options for text.
    ///
    /// # Errors
    /// The file cannot be made or written, or an operand cannot be read.
    pub fn write_file(&mut self, target: &Target) -> Result<()> {
        let mut sink = target.create()?;
        self.write(&mut sink, &TextOptions::default(), &|_| {})?;
        sink.finish()
    }

    /// Writes the output to a sink, which the caller finishes. `text` has the options for formats of text.
    ///
    /// # Errors
    /// An operand cannot be read, the sink cannot be written; an item cannot be cast, or the format cannot hold it;
    /// there is too little memory for a tensor that is needed as a whole.
    pub fn write(&mut self, sink: &mut OpenOutput<'_>, text: &TextOptions, progress: Progress<'_>) -> Result<()> {
        let to = if sink.as_file().is_some() { OutputKind::File } else { OutputKind::Stream };
        // Errors about copied operands have a size already.
        self.begin(to, text)?;
        self.write_begun(sink, text, progress).map_err(|error| error.needing(|| self.need()))
    }

    fn write_begun(&self, sink: &mut OpenOutput<'_>, text: &TextOptions, progress: Progress<'_>) -> Result<()> {
        match (&self.layout, sink.as_file(), sink.as_store()) {
            (Layout::Places(_) | Layout::Sequence(_), Some(file), _) => self.write_by_position(file, progress),
            (Layout::Chunks(chunks), _, Some(store)) => self.put_chunks(&**chunks, store, None, progress),
            (Layout::Places(_) | Layout::Sequence(_) | Layout::Chunks(_) | Layout::Whole(_), _, _) => {
                self.stream_to(sink, text, progress)
            }
        }
    }

    /// The memory that the output needs, for an error about too little memory.
    pub(crate) fn need(&self) -> String {
        match &self.layout {
            Layout::Places(places) => format!("all of it needs {} bytes", places.bytes),
            Layout::Sequence(_) | Layout::Chunks(_) => {
                format!("its items are {} bytes before they are packed", self.bytes())
            }
            Layout::Whole(_) => format!("its items are {} bytes in memory", self.bytes()),
        }
    }

    /// Whether a stream gets the output from a temporary file: some bytes depend on later ones (the checksums of an
    /// archive precede its items), and a pipe cannot be written twice.
    pub(crate) fn is_spooled(&self, to: OutputKind) -> bool {
        let is_sealed = match &self.layout {
            Layout::Places(places) => places.seal.is_some(),
            Layout::Sequence(_) => true,
            Layout::Chunks(_) | Layout::Whole(_) => false,
        };
        is_sealed && to == OutputKind::Stream
    }

    /// Calls `run` with the kind of sink that tensor `n` is planned for.
    pub(crate) fn with_sink<T>(
        &self,
        n: usize,
        to: OutputKind,
        text: &TextOptions,
        run: impl FnOnce(SinkKind<'_>) -> T,
    ) -> T {
        let meta = &self.outputs[n].meta;
        let is_by_position = to != OutputKind::Stream || self.is_spooled(to);
        match &self.layout {
            Layout::Places(places) if is_by_position && !self.is_streamed(places, n) => {
                let is_alone = to == OutputKind::File && places.tensors.len() == 1 && places.seal.is_none();
                run(SinkKind::File { base: Some(places.tensors[n].start), is_alone })
            }
            Layout::Chunks(chunks) => {
                let boxes = self.boxes_of(&**chunks, n);
                run(if to == OutputKind::Part { SinkKind::Share(&boxes) } else { SinkKind::Store(&boxes) })
            }
            Layout::Whole(writer) if let Some(places) = writer.places(meta, text) => {
                run(SinkKind::Runs(&ItemRuns::new(&meta.shape, &places)))
            }
            Layout::Places(_) | Layout::Sequence(_) | Layout::Whole(_) => run(SinkKind::Stream),
        }
    }

    /// Plans all tensors and makes them ready for their first window. This makes the copies of operands that the plans
    /// need, for example of a stream whose items are needed in another order.
    ///
    /// # Errors
    /// An operand cannot be read; a copy of it cannot be kept.
    pub fn begin(&mut self, to: OutputKind, text: &TextOptions) -> Result<()> {
        for n in 0..self.outputs.len() {
            let plan = self.with_sink(n, to, text, |sink| self.outputs[n].job.plan(sink));
            self.outputs[n].job.begin(&plan)?;
            self.outputs[n].plan = Some(plan);
        }
        Ok(())
    }

    /// Writes the output to a stream, from front to back.
    ///
    /// # Errors
    /// An operand cannot be read, the stream cannot be written; the format is a folder.
    pub fn write_to(&mut self, out: &mut (dyn Write + Send), text: &TextOptions, progress: Progress<'_>) -> Result<()> {
        self.begin(OutputKind::Stream, text)?;
        self.stream_to(out, text, progress)
    }

    fn stream_to(&self, out: &mut (dyn Write + Send), text: &TextOptions, progress: Progress<'_>) -> Result<()> {
        let mut take = |bytes: &[u8]| out.write_all(bytes).with_context(|| self.failed());
        match &self.layout {
            Layout::Chunks(_) => Err(unsupported!("is not a folder").within(self.failed())),
            _ if self.is_spooled(OutputKind::Stream) => {
                spool(&self.failed(), |file| self.write_by_position(file, progress), &mut take)
            }
            Layout::Places(places) => self.stream(places, &mut take, progress),
            Layout::Sequence(_) => unreachable!("a sequence is spooled"),
            Layout::Whole(writer) => self.outputs.iter().try_for_each(|output| {
                let (meta, place) = (&output.meta, format!("{} as {}", self.label, self.format.argument()));
                let items = items_of(&output.job, output.begun(), meta, &place, progress)?;
                let whole = WholeTensor { name: &output.name, shape: &meta.shape, items: &items };
                writer.write_whole(out, whole, text).map_err(|error| {
                    // An error of the system concerns the output. Any other error concerns the tensor.
                    let io = matches!(error.kind(), ErrorKind::Io(_));
                    error.within(if io { self.failed() } else { self.label.clone() })
                })
            }),
        }
    }

    fn write_by_position(&self, file: &File, progress: Progress<'_>) -> Result<()> {
        match &self.layout {
            Layout::Places(places) => self.place(places, file, progress),
            Layout::Sequence(writer) => writer.write_sequence(file, &mut |n, take| {
                let output = &self.outputs[n];
                output.job.stream(output.begun(), progress, take)
            }),
            Layout::Chunks(_) | Layout::Whole(_) => unreachable!("this layout is not written by position"),
        }
    }

    pub(crate) fn failed(&self) -> String {
        format!("{}: cannot be written", self.label)
    }

    /// Writes all bytes of an output to their places in `file`.
    pub(crate) fn place(&self, places: &Places, file: &File, progress: Progress<'_>) -> Result<()> {
        let failed = || self.failed();
        if let [output @ TensorJob { job, .. }] = &self.outputs[..]
            && output.begun().before.contains(&Before::Clone)
            && let Some(patch) = job.fill().as_patch()
            && let Some((data, start)) = patch.base().source.as_local_file()
            && clone_file(data, file)
        {
            let sink = FileSink::new(file, start, job.meta(), &self.label);
            // The header of the data's file may be spelled differently.
            sink.put_bytes(&places.header, 0)?;
            return job.edit(&job.planners().plan_edit(None::<fn(usize) -> Range<usize>>)?, patch, &sink, progress);
        }
        let mut seal = places.seal.as_ref().map(|seal| seal.begin());
        reserve(file, places.bytes).with_context(failed)?;
        let mut behind = WriteBehind::new(file);
        behind.put(&places.header, 0).with_context(failed)?;
        for (n, (output @ TensorJob { job, .. }, place)) in self.outputs.iter().zip(&places.tensors).enumerate() {
            let mut items = Vec::new();
            if !self.is_streamed(places, n) {
                let sink = FileSink::new(file, place.start, job.meta(), &self.label);
                job.run_all(output.begun(), &sink.sealed_by(seal.as_deref()), progress)?;
            } else if place.bytes <= SMALL_WRITE as u64 {
                let take = &mut |bytes: &[u8]| {
                    items.extend_from_slice(bytes);
                    Ok(())
                };
                stream_items(output, place, take, progress)?;
                seal.iter().for_each(|seal| seal.add(&items, place.start));
            } else {
                let mut at = place.start;
                let put = &mut |bytes: &[u8]| {
                    behind.put(bytes, at).with_context(failed)?;
                    at += bytes.len() as u64;
                    Ok(())
                };
                stream_items(output, place, put, progress)?;
            }
            if let Some(seal) = &mut seal {
                let before = seal.before_items(n);
                behind.put(&before, place.start - before.len() as u64).with_context(failed)?;
            }
            behind.put(&items, place.start).with_context(failed)?;
        }
        if let Some(seal) = &seal {
            let end = seal.end().with_context(failed)?;
            behind.put(&end, places.bytes - end.len() as u64).with_context(failed)?;
        }
        behind.flush().with_context(failed)
    }

    /// Whether the items of a tensor go from front to back to their place in a file: those that share bytes, and those of
    /// small tensors among others, which share writes.
    fn is_streamed(&self, places: &Places, n: usize) -> bool {
        let place = &places.tensors[n];
        place.packed.is_some() || places.tensors.len() > 1 && place.bytes <= SMALL_WRITE as u64
    }

    /// Passes all bytes to `put`, from front to back. The places of the tensors can be in another order than the
    /// tensors: safetensors sorts places by dtype.
    pub(crate) fn stream(&self, places: &Places, put: &mut Take<'_>, progress: Progress<'_>) -> Result<()> {
        // The header is passed on with the first items, so that nothing is written if the items cannot be read.
        let mut header = Some(&places.header[..]);
        let put: &mut Take<'_> = &mut |bytes| {
            header.take().map_or(Ok(()), &mut *put)?;
            put(bytes)
        };
        let mut by_place: Vec<_> = self.outputs.iter().zip(&places.tensors).collect();
        by_place.sort_by_key(|(_, place)| place.start);
        for (output, place) in by_place {
            stream_items(output, place, put, progress)?;
        }
        // Without items, this passes on the header.
        put(&[])
    }
}

/// Passes the bytes of a tensor's items to `put`, from front to back.
fn stream_items(output: &TensorJob, place: &ItemsPlace, put: &mut Take<'_>, progress: Progress<'_>) -> Result<()> {
    match place.packed {
        None => output.job.stream(output.begun(), progress, put),
        Some(bits) => pack(&output.job, output.begun(), bits, put, progress),
    }
}

/// Returns the names of the dimensions of a tensor: those of the options, or else those of the data. Returns none if
/// their number is not `rank`.
/// Returns `style` with the fill value of dtype `from` in the byte order of `to`, and without one if the dtype is another.
fn with_fill_in(style: Arc<ChunkStyle>, from: &DType, to: &DType) -> Arc<ChunkStyle> {
    if from == to {
        return style;
    }
    let mut fill = if from.same_kind(to) { style.fill.clone() } else { Vec::new() };
    if !fill.is_empty() {
        Conversion::new(from, to).expect("dtypes of one kind").swap(&mut fill);
    }
    Arc::new(ChunkStyle { fill, ..(*style).clone() })
}

fn dims(options: &FileOptions, style: Option<&ChunkStyle>, rank: usize) -> Vec<Option<String>> {
    let asked = options.dimension_names.as_ref().map(|names| names.iter().cloned().map(Some).collect());
    let own = || serde_json::from_str(style?.dimension_names.as_deref()?).ok();
    asked.or_else(own).filter(|dims: &Vec<_>| dims.len() == rank).unwrap_or_default()
}
