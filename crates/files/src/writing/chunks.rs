//! Outputs of chunks: the boxes of their tensors, shares of the boxes, and the sink that stores them.

use std::ops::Range;
use std::sync::atomic::{AtomicUsize, Ordering};

use super::plan::{LaidOut, TensorJob};
use crate::container::chunk_sides::TensorSides;
use crate::container::file_options::{FileOptions, Inherited, LayoutRequest, NamedCopy, ResolvedChunks};
use crate::container::interface::{Layout, WriteChunks};
use crate::opening::input::OpenOptions;
use crate::opening::located::Located;
use crate::operators::access::{Access, StoredWindow};
use crate::operators::fill::Region;
use crate::operators::selection::Selection;
use crate::plans::job::{Job, Progress};
use crate::plans::plan::{Plan, Route, SinkKind};
use crate::plans::sink::{GetStored, WindowSink};
use crate::storage::chunked::ChunkStyle;
use crate::storage::platform::is_full;
use crate::storage::read_at::ReadAt;
use crate::storage::targets::draft::StoreDraft;
use crate::storage::targets::parts::{MadeUnit, MadeUnits};
use crate::storage::targets::stage::{Stage, remove};
use tensorop_kernels::error::{Context, Error, Result};
use tensorop_kernels::layout::window::{Window, Windows};

/// Stores each box of one tensor as one value of a store: a chunk, or a shard of several chunks.
pub(crate) struct ChunkSink<'a> {
    pub chunks: &'a dyn WriteChunks,
    /// The number of the tensor among the tensors of the output.
    pub n: usize,
    pub store: &'a dyn StoreDraft,
    /// The beginning of an error message.
    pub failed: String,
    /// How the operator accesses its data.
    pub data: Option<Access<'a>>,
    /// The boxes that another process may have made before, if the output is made in shares.
    pub made: Option<MadeBoxes<'a>>,
}

pub(crate) struct MadeBoxes<'a> {
    pub windows: &'a Windows,
    /// The number of the tensor's first box among the boxes of all tensors.
    pub first: usize,
    pub units: &'a MadeUnits<'a>,
}

impl MadeBoxes<'_> {
    fn number(&self, window: &Window) -> usize {
        self.first + self.windows.number_of(window.start)
    }
}

impl WindowSink for ChunkSink<'_> {
    fn put(&self, region: &Region, items: &[u8]) -> Result<()> {
        let window = region.window();
        let key = self.chunks.key(self.n, window);
        let packed = self.chunks.pack(self.n, window, items, &|chunk| self.is_in_data(chunk));
        match packed.with_context(|| format!("{}: chunk {key}", self.failed))? {
            Some(bytes) => {
                self.store.put(&key, &bytes).with_context(|| self.failed.clone())?;
                self.note(window, MadeUnit::File(bytes.len() as u64))
            }
            None => self.leave_out(window),
        }
    }

    fn has(&self, window: &Window, stored: &GetStored<'_>) -> Result<bool> {
        if self.is_made(window) {
            return Ok(true);
        }
        let Some(StoredWindow { chunks: from, places: there }) = stored()? else { return Ok(false) };
        // The end of the output may cut off a box that is whole in the data. Such a box is not copied.
        let own = self.chunks.style(self.n);
        let whole = window.shape() == own.unit || window.ranges == there.ranges;
        if !whole || !has_same_files(own, from.style()) {
            return Ok(false);
        }
        let Some(value) = from.value_of(&there)? else {
            let is_empty = !self.chunks.stores_empty() && from.is_unit(&there);
            return if is_empty { self.leave_out(window).map(|()| true) } else { Ok(false) };
        };
        let len = usize::try_from(value.size()?)?;
        // An empty file is damaged. It is not copied, because reading the window reports the damage.
        if len == 0 { Ok(false) } else { self.copied(window, &*value, len) }
    }
}

fn has_same_files(own: &ChunkStyle, stored: &ChunkStyle) -> bool {
    let same = (&own.unit, &own.chunk, &own.codecs) == (&stored.unit, &stored.chunk, &stored.codecs);
    same && stored.is_exact && own.fill == stored.fill
}

impl ChunkSink<'_> {
    fn is_made(&self, window: &Window) -> bool {
        let Some(made) = &self.made else { return false };
        let number = made.number(window);
        // A box whose size is unknown is made again.
        let Ok(size) = self.store.size(&self.chunks.key(self.n, window)) else { return false };
        match (made.units.get(number), size) {
            (Some(MadeUnit::Empty), size) => size.is_none(),
            (Some(MadeUnit::File(bytes)), size) => size == Some(bytes),
            // Another process made the file and did not note it, for example because it was killed. Files are never
            // half written.
            (None, Some(bytes)) => made.units.add(number, MadeUnit::File(bytes)).is_ok(),
            (None, None) => false,
        }
    }

    /// Notes that no file is stored for a box. In a share, also removes a file that an earlier run has stored.
    fn leave_out(&self, window: &Window) -> Result<()> {
        if self.made.is_some() {
            self.store.remove(&self.chunks.key(self.n, window)).with_context(|| self.failed.clone())?;
        }
        self.note(window, MadeUnit::Empty)
    }

    /// Returns whether the data stores this chunk, too. Such a chunk is stored even if it holds only the fill value.
    fn is_in_data(&self, chunk: &Window) -> bool {
        let stored = self.data.as_ref().and_then(|data| data.stored(chunk));
        stored.is_some_and(|StoredWindow { chunks, places }| chunks.has(&places))
    }

    fn note(&self, window: &Window, unit: MadeUnit) -> Result<()> {
        let add = |made: &MadeBoxes<'_>| made.units.add(made.number(window), unit);
        self.made.as_ref().map_or(Ok(()), add).with_context(|| self.failed.clone())
    }

    /// Copies the stored bytes of a box; returns whether that worked.
    fn copied(&self, window: &Window, from: &dyn ReadAt, bytes: usize) -> Result<bool> {
        let put = self.store.put_from(&self.chunks.key(self.n, window), from, bytes);
        match put {
            Ok(()) => self.note(window, MadeUnit::File(bytes as u64)).map(|()| true),
            Err(error) if is_full(&error) => Err(Error::from(error).within(self.failed.clone())),
            // The window is then read and written, which reports the cause.
            Err(_) => Ok(false),
        }
    }
}

impl LaidOut {
    /// Stores all boxes, or those of `share`, and then the metadata. In a share, boxes that were made before stay.
    pub(crate) fn put_chunks(
        &self,
        chunks: &dyn WriteChunks,
        store: &dyn StoreDraft,
        share: Option<ChunkShare<'_>>,
        progress: Progress<'_>,
    ) -> Result<()> {
        let windows = self.boxes(chunks);
        let all = 0..windows.iter().map(Windows::count).sum();
        let (own, mut first) = (share.map_or(&all, |share| share.own), 0);
        for (n, (output, windows, numbers)) in parts_of(&self.outputs, &windows, own).enumerate() {
            let made = share.map(|share| MadeBoxes { windows, first, units: share.made });
            first += windows.count();
            let data = output.job.data_access();
            let sink = ChunkSink { chunks, n, store, failed: self.failed(), data, made };
            let plan = output.begun();
            if let Route::Between(grid) = &plan.route {
                // Each item is written twice, so each time counts half.
                let passed = AtomicUsize::new(0);
                let half = |more: usize| {
                    let before = passed.fetch_add(more, Ordering::Relaxed);
                    progress((before + more) / 2 - before / 2);
                };
                let is_packed = !chunks.holds_as_they_are(n, &windows.get(0));
                let between = store.between().with_context(|| self.failed())?;
                let mut job = self.put_between(output, plan, grid.clone(), is_packed, &between, &half)?;
                let plan = job.plan(SinkKind::Windows(windows));
                job.begin(&plan)?;
                job.run(&plan, numbers, &sink, &half)?;
                remove(between.path());
            } else if !numbers.is_empty() || share.is_none() {
                output.job.run(plan, numbers, &sink, progress)?;
            }
        }
        // Of several shares, the first copies the arrays.
        if own.start == 0 {
            for NamedCopy { name, array } in chunks.copies() {
                array.copy(store, name, self.threads).with_context(|| format!("{}: {name:?}", self.failed()))?;
            }
        }
        for (key, bytes) in chunks.seal()? {
            store.seal(&key, &bytes).with_context(|| self.failed())?;
        }
        Ok(())
    }

    /// Writes a tensor to a temporary store in chunks of `grid`, and returns the job that reads it there. Without the
    /// store, each chunk of the data would be read for many chunks of the output. `grid` is chosen so that the data and
    /// the store are each read few times.
    fn put_between(
        &self,
        output: &TensorJob,
        plan: &Plan,
        grid: Vec<usize>,
        is_packed: bool,
        stage: &Stage,
        progress: Progress<'_>,
    ) -> Result<Job> {
        let meta = output.job.meta();
        let codec = (!is_packed).then(|| "none".to_owned());
        let chunks = Some(grid.into_iter().map(Some).collect());
        let options = FileOptions { codec, ..FileOptions::default() };
        let sides = vec![TensorSides { chunks, shards: None }];
        let resolved = ResolvedChunks { sides, ..ResolvedChunks::default() };
        let request = LayoutRequest { options: &options, inherited: &Inherited::default(), chunks: &resolved };
        let Layout::Chunks(chunks) = self.format.writer().layout(&[("", meta)], &request)? else {
            unreachable!("only a store in chunks has one between");
        };
        let sink = ChunkSink {
            chunks: &*chunks,
            n: 0,
            store: stage,
            failed: self.failed(),
            data: output.job.data_access(),
            made: None,
        };
        output.job.run_all(plan, &sink, progress)?;
        for (key, bytes) in chunks.seal()? {
            stage.seal(&key, &bytes).with_context(|| self.failed())?;
        }
        let input = OpenOptions::new(self.label.clone()).open(&Located::from_path(stage.store()))?;
        let mut source = input.source(input.chosen()?)?;
        source.reinterpret(meta.dtype.clone());
        Ok(Job::new(Box::new(Selection::whole(source)), output.job.limits()))
    }

    pub(crate) fn boxes(&self, chunks: &dyn WriteChunks) -> Vec<Windows> {
        (0..self.outputs.len()).map(|n| self.boxes_of(chunks, n)).collect()
    }

    pub(crate) fn boxes_of(&self, chunks: &dyn WriteChunks, n: usize) -> Windows {
        let meta = self.outputs[n].job.meta();
        match meta.bytes() {
            0 => Windows::new(&[0], 1),
            _ => Windows::boxes(&meta.shape, &chunks.style(n).unit),
        }
    }
}

/// Divides the range `own` of windows among the tensors. `own` counts the windows of all tensors in one sequence; each
/// returned range counts the windows of its tensor alone.
pub(crate) fn parts_of<'a>(
    outputs: &'a [TensorJob],
    windows: &'a [Windows],
    own: &Range<usize>,
) -> impl Iterator<Item = (&'a TensorJob, &'a Windows, Range<usize>)> {
    let own = own.clone();
    outputs.iter().zip(windows).scan(0, move |first, (output, windows)| {
        let (start, end) = (*first, *first + windows.count());
        *first = end;
        Some((output, windows, own.start.clamp(start, end) - start..own.end.clamp(start, end) - start))
    })
}

/// The boxes of a share. Their numbers count the boxes of all tensors in one sequence.
#[derive(Clone, Copy)]
pub(crate) struct ChunkShare<'a> {
    pub own: &'a Range<usize>,
    pub made: &'a MadeUnits<'a>,
}
