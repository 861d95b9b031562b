//! From tensors to a file or stream in some format: what each becomes, whether the format holds it, where its items go.
//!
//! [`Plan::new`] makes every check and lays the file out, so that whoever writes knows all before anything is begun;
//! [`Plan::write`] then has the jobs produce the items, to their places or, where there are none, from front to back.

use std::collections::HashSet;
use std::fs::File;
use std::io::{self, Seek, Write};
use std::ops::Range;
use std::sync::{Arc, Mutex, PoisonError};

use super::interface::{Extras, Layout, Place, Places, TextOptions, WriteChunks, WriteSequence};
use super::packed::Packer;
use super::table::{Format, containers};
use crate::engine;
use crate::engine::job::{Job, Progress};
use crate::engine::sink::Take;
use crate::error::{Context, Error, ErrorKind, Result, bail, malformed};
use crate::item::dtype::DType;
use crate::item::meta::{Meta, Order};
use crate::item::tensor::Tensor;
use crate::layout::shape::bytes_of;
use crate::layout::window::{Boxes, Window, Windows};
use crate::memory;
use crate::ops::cast::CastFill;
use crate::ops::fill::{Fill, Limits, Patch};
use crate::ops::selection::Selection;
use crate::parallel::Threads;
use crate::storage::chunked::{ChunkStyle, Chunked};
use crate::storage::parts::Parts;
use crate::storage::platform::{copy_range, is_full, reserve, write_at};
use crate::storage::read_at::{Identity, Section};
use crate::storage::signals;
use crate::storage::source::{Container, Source};
use crate::storage::stage::{self, Stage};
use crate::storage::target::{Sink, Target};

/// Items of no bytes (`<U0`, `|V0`) take nothing of a file, but all the more of a text: a header of a few bytes could
/// ask for 2^63 pairs of quotes. More than this, which are some 64 MiB of text, are refused.
const MOST_EMPTY_ITEMS: usize = 1 << 24;

/// A tensor of the output, resolved: where its items come from, what changes in them, and what becomes of them.
#[derive(Debug)]
pub struct Work {
    /// What fills its items.
    pub fill: Box<dyn Fill>,
    /// What that may use.
    pub limits: Limits,
    /// What becomes of the items then.
    pub recast: Recast,
    /// How it is stored, if that is in chunks; `None` if as its data is.
    pub style: Option<Arc<ChunkStyle>>,
}

/// What becomes of the items of an output, and how they are arranged.
#[derive(Clone, Debug, Default)]
pub struct Recast {
    /// The dtype that values are cast to, and whether they may lose by it.
    pub cast: Option<(DType, bool)>,
    /// Whether numbers are written with the highest byte first; `None` leaves it as it is.
    pub big_endian: Option<bool>,
    /// The order of the items. For Fortran order the view has the axes reversed.
    pub order: Order,
}

impl Work {
    /// What an operator gives.
    pub fn new(fill: Box<dyn Fill>, limits: Limits) -> Self {
        Self { fill, limits, recast: Recast::default(), style: None }
    }

    /// A tensor as it is.
    pub fn copy(data: Source, limits: Limits) -> Self {
        Self::new(Box::new(Selection::whole(data)), limits)
    }

    /// Whether the data's own file is changed.
    pub fn is_in_place(&self) -> bool {
        self.fill.as_patch().is_some_and(|patch| patch.base().is_in_place())
    }

    /// What messages call the data.
    pub fn label(&self) -> String {
        self.fill.data().label().to_owned()
    }

    /// What it will be in a format.
    pub fn meta(&self, format: Format) -> Meta {
        let cast = self.recast.cast.as_ref().map(|(dtype, _)| dtype);
        let dtype = cast.unwrap_or(&self.fill.meta().dtype);
        let ordered = match self.recast.big_endian {
            Some(false) => dtype.native(),
            Some(true) => dtype.big_endian(),
            None => dtype.clone(),
        };
        let mut shape = self.fill.meta().shape.clone();
        if self.recast.order == Order::Fortran {
            shape.reverse();
        }
        Meta::new(format.writer().dtype(&ordered), shape).in_order(self.recast.order)
    }

    /// Whether a format can hold it.
    ///
    /// # Errors
    /// A dtype that it cannot hold, which is about [`Subject::Dtype`](crate::error::Subject::Dtype); an order of items
    /// or bytes that it does not have; more items of no bytes than anybody wants printed.
    pub fn check(&self, format: Format) -> Result<()> {
        let meta = self.meta(format);
        let (writer, name) = (format.writer(), format.argument());
        writer.check(&meta.dtype)?;
        if meta.order == Order::Fortran && !writer.has_fortran_order() {
            return Err(Error::of(ErrorKind::Unsupported, format!("{name} is always in C order")));
        }
        if self.recast.big_endian == Some(true) && !writer.has_byte_orders() {
            return Err(Error::of(ErrorKind::Unsupported, format!("{name} is never big-endian")));
        }
        let items = self.fill.meta().items();
        if !format.is_binary() && meta.dtype.itemsize() == 0 && items > MOST_EMPTY_ITEMS {
            let message = format!("{items} items of no bytes are too many to print");
            return Err(Error::of(ErrorKind::Unsupported, message));
        }
        Ok(())
    }
}

/// Gives tensors the names they are written under, `arr_0`, `arr_1`, … to those of a container that have none, and
/// sorts them by these. What holds one tensor needs no name.
///
/// # Errors
/// Several tensors where the format holds one; two of one name.
pub fn named<T>(tensors: Vec<(Option<String>, T)>, format: Format) -> Result<Vec<(String, T)>> {
    if tensors.len() != 1 && !format.is_container() {
        bail!("{} tensors, and only {} hold several", tensors.len(), containers("and"));
    }
    let mut unnamed = 0..;
    let mut named: Vec<_> = tensors
        .into_iter()
        .map(|(name, tensor)| match name {
            Some(name) => (name, tensor),
            None if format.is_container() => (format!("arr_{}", unnamed.next().unwrap_or(0)), tensor),
            None => (String::new(), tensor),
        })
        .collect();
    named.sort_by(|(a, _), (b, _)| a.cmp(b));
    match named.windows(2).find(|pair| pair[0].0 == pair[1].0) {
        Some(twice) => bail!("two tensors are called {:?}", twice[0].0),
        None => Ok(named),
    }
}

/// Refuses to replace a file of several tensors, of which one is an input, by one that has lost some: who asks for that
/// has most likely taken the file for the one tensor. A tensor is not lost if it goes over, under whatever name, if
/// another takes its name, or if it is left out by name, which `left_out` tells.
///
/// # Errors
/// That, and the index of such files; nothing else.
pub fn check_replaced(target: &Target, works: &[(String, Work)], left_out: &dyn Fn(&str) -> bool) -> Result<()> {
    let Some(existing) = target.existing().map(Identity::of) else { return Ok(()) };
    let refuse = |message: String| Err(Error::of(ErrorKind::Unsupported, message).within(target.label()));
    let inputs = || works.iter().flat_map(|(_, work)| work.fill.operands());
    let is_index = |container: &Container| container.index == Some(existing);
    if inputs().filter_map(Source::container).any(is_index) {
        return refuse("is the index of other files, and would be lost: choose another file".to_owned());
    }
    let here = |source: &&Source| source.container().is_some_and(|container| container.file == existing);
    let Some(container) = inputs().find(here).and_then(Source::container) else { return Ok(()) };
    let data = works.iter().map(|(_, work)| work.fill.data());
    let mut stay: HashSet<&str> = data.filter(here).filter_map(Source::member).collect();
    stay.extend(works.iter().map(|(name, _)| name.as_str()));
    let lost = container.names.iter().filter(|name| !stay.contains(name.as_str()) && !left_out(name)).count();
    match lost {
        0 => Ok(()),
        lost => refuse(format!("holds {lost} more tensors, which would be lost: choose another file")),
    }
}

/// Changes the data of a tensor where it lies: only windows in which something changes are read and written. When all
/// checks are made, and before the first byte is changed, `expect` is told of how many bytes `progress` will be.
///
/// # Errors
/// Data that lies in no file; of reading and writing.
pub fn edit(work: Work, share: Option<Share>, expect: &dyn Fn(usize), progress: Progress<'_>) -> Result<()> {
    let label = work.label();
    let job = Job::new(work.fill, work.limits)?;
    let patch = job.fill().as_patch().expect("what changes data where it lies is a patch");
    if patch.base().source().as_chunks().is_some() {
        return edit_chunks(&job, patch, &label, share, expect, progress);
    }
    if share.is_some() {
        return Err(
            Error::of(ErrorKind::Unsupported, "parts of it are changed in place only in a Zarr store").within(label)
        );
    }
    let (file, start) = patch.base().source().as_local_file().ok_or_else(|| malformed!("{label}: no file"))?;
    signals::survive_size_limit();
    job.edit(patch, file, &label, start, expect, progress)
}

/// Rewrites the chunks in which something changes, those of a share of the grid if one is given. All of them are written
/// beside the store first, so that nothing is changed if one of them cannot be read or written; then each takes its name.
fn edit_chunks(
    job: &Job,
    patch: &dyn Patch,
    label: &str,
    share: Option<Share>,
    expect: &dyn Fn(usize),
    progress: Progress<'_>,
) -> Result<()> {
    let chunks = patch.base().source().as_chunks().expect("the data lies in chunks");
    let windows = Windows::boxes(&job.meta().shape, &chunks.style().unit);
    let own = share.map_or(0..windows.count(), |share| share.of(windows.count()));
    let touched: Vec<usize> = patch.touched(&windows)?.into_iter().filter(|number| own.contains(number)).collect();
    let (root, folder) = chunks.folders();
    let stage = std::fs::canonicalize(&root).and_then(|root| Stage::create(&root));
    let stage = stage.with_context(|| format!("{label}: nothing can be written beside it"))?;
    let itemsize = job.meta().dtype.itemsize();
    expect(touched.iter().map(|&number| windows.get(number).items().saturating_mul(itemsize)).sum());
    let written = Mutex::new(Vec::with_capacity(touched.len()));
    let put = |window: &Window, items: &[u8]| -> Result<()> {
        // a chunk of which every item changes is not read, and a folder in its place would refuse it after others have changed
        chunks.file_of(window).with_context(|| label.to_owned())?;
        let (key, bytes) = chunks.packed(window, items).with_context(|| label.to_owned())?;
        let file = stage
            .write(|file| file.write_all(&bytes))
            .with_context(|| format!("{label}: chunk {key}: cannot be written"))?;
        written.lock().unwrap_or_else(PoisonError::into_inner).push((key, file.into_temp_path()));
        Ok(())
    };
    job.each(&windows, &touched, &put, progress)?;
    patch.finish_updates()?;
    let mut written = written.into_inner().unwrap_or_else(PoisonError::into_inner);
    written.sort_by(|(a, _), (b, _)| a.cmp(b));
    let put = |(key, file): (String, _)| stage::take_name(file, &folder, &key);
    written.into_iter().try_for_each(put).with_context(|| format!("{label}: a chunk cannot be put in its place"))
}

/// The bytes of a unit of a file that is made in shares. Processes on several machines write one file only if no two of
/// them write to one page of it, since a client of NFS writes whole pages; and stripes of Lustre are whole MiB.
const UNIT: u64 = 1 << 20;

/// How many units are written before they count as done.
const UNITS_AT_ONCE: usize = 16;

/// A share of work that is cut into units: number `number` of `of`, counted from 1. Shares differ by one unit at most, and
/// of more shares than units those beyond them are empty.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Share {
    /// Which one it is.
    pub number: usize,
    /// How many there are.
    pub of: usize,
}

impl Share {
    /// The units of this share.
    pub fn of(self, units: usize) -> Range<usize> {
        let (each, more) = (units / self.of.max(1), units % self.of.max(1));
        // the first ones have one more
        let end = |number: usize| each * number + number.min(more);
        end(self.number - 1)..end(self.number)
    }
}

/// A tensor about to be written.
#[derive(Debug)]
struct Output {
    name: String,
    /// What it is in the file.
    meta: Meta,
    /// What produces its items as the file has them, but for packing.
    job: Job,
}

/// What is to be written, all checks made: each tensor, and where it goes.
///
/// A plan stands between the checks and the output because of what comes between them: a dry run that only reports it,
/// the creation of the draft, the meter that has to know the bytes of all tensors. And a file of several tensors
/// has a header that says where each begins, so that all are laid out before the first item of any is computed.
#[derive(Debug)]
pub struct Plan {
    format: Format,
    label: String,
    outputs: Vec<Output>,
    layout: Layout,
    /// How many may share what a seal computes.
    threads: Threads,
}

impl Plan {
    /// Lays tensors out that [`Work::check`] has passed, in a file that messages call `label`.
    ///
    /// # Errors
    /// Casts that there are none of; names that the format cannot have; more than a file can have; of reading updates
    /// that are kept in memory.
    pub fn new(works: Vec<(String, Work)>, format: Format, label: &str, extras: &Extras) -> Result<Self> {
        let threads = works.first().map_or(Threads::default(), |(_, work)| work.limits.threads);
        let mut outputs = Vec::with_capacity(works.len());
        let (mut styles, mut same) = (Vec::new(), true);
        for (name, work) in works {
            let (meta, source) = (work.meta(format), work.label());
            let data = work.fill.data();
            let own = || data.as_chunks().map(|chunks| Arc::clone(chunks.style()));
            styles.push(work.style.or_else(own));
            same &= *data.dtype() == meta.dtype;
            let lossy = work.recast.cast.as_ref().is_some_and(|(_, lossy)| *lossy);
            let fill = CastFill::over(work.fill, meta.dtype.clone(), lossy).context(source)?;
            let job = Job::new(fill, work.limits)?;
            outputs.push(Output { name, meta, job });
        }
        let mut extras = extras.clone();
        if format.writer().chunks() {
            extras.styles = styles;
            extras.keeps_fill = same;
        }
        let tensors: Vec<_> = outputs.iter().map(|output| (output.name.as_str(), &output.meta)).collect();
        let layout = format.writer().layout(&tensors, &extras).with_context(|| label.to_owned())?;
        Ok(Self { format, label: label.to_owned(), outputs, layout, threads })
    }

    /// The bytes of all items in memory: what progress is told of.
    pub fn bytes(&self) -> usize {
        self.outputs.iter().map(|output| output.job.meta().bytes()).sum()
    }

    /// Each tensor with its name, and the bytes of its items: in the file, if they have places there.
    pub fn tensors(&self) -> impl Iterator<Item = (&str, &Meta, u64)> {
        self.outputs.iter().enumerate().map(|(n, output)| {
            let bytes = match &self.layout {
                Layout::Places(places) => places.tensors.get(n).map_or(0, |place| place.bytes),
                Layout::Whole(_) | Layout::Sequence(_) | Layout::Chunks(_) => output.job.meta().bytes() as u64,
            };
            (output.name.as_str(), &output.meta, bytes)
        })
    }

    /// To be called in place of [`write`](Self::write): what would be read must be whole.
    ///
    /// # Errors
    /// Those of [`Source::finish`].
    pub fn finish(&self) -> Result<()> {
        self.outputs.iter().try_for_each(|output| output.job.fill().finish())
    }

    /// Writes all to an output that has begun; to finish that is left to the caller. `text` is how text is laid out.
    ///
    /// # Errors
    /// Of reading and writing; an item that a cast cannot make or the format cannot hold; more than there is memory
    /// for, where a tensor is needed whole.
    pub fn write(&self, sink: &mut Sink<'_>, text: &TextOptions, progress: Progress<'_>) -> Result<()> {
        match &self.layout {
            Layout::Places(places) => match sink.as_file() {
                Some(file) => self.place(places, file, progress),
                None if places.seal.is_some() => {
                    // It begins with what is known when all is written (the checksums of an archive's records), and
                    // what has gone into a pipe cannot be written over: so it is made in a file and then copied.
                    self.by_way_of_a_file(sink, &|file| self.place(places, file, progress))
                }
                None => {
                    let written = |error: io::Error| Error::from(error).within(self.failed());
                    self.stream(places, &mut |bytes| sink.write_all(bytes).map_err(written), progress)
                }
            },
            Layout::Sequence(writer) => {
                let write = |file: &File| self.sequence(&**writer, file, progress);
                match sink.as_file() {
                    Some(file) => write(file),
                    None => self.by_way_of_a_file(sink, &write),
                }
            }
            Layout::Chunks(chunks) => match sink.as_folder() {
                Some(stage) => self.put_chunks(&**chunks, stage, None, progress),
                None => Err(Error::of(ErrorKind::Unsupported, "is no folder").within(self.failed())),
            },
            Layout::Whole(writer) => self.outputs.iter().try_for_each(|output| {
                let (meta, place) = (&output.meta, format!("{} as {}", self.label, self.format.argument()));
                let places = writer.places(meta, text);
                let items = items_at(&output.job, meta, places.as_deref(), &place, progress)?;
                writer.write_whole(sink, (&output.name, meta), &items, text).map_err(|error| {
                    // what the system refuses is about writing, all else about the tensor
                    let io = matches!(error.kind(), ErrorKind::Io(_));
                    error.within(if io { self.failed() } else { self.label.clone() })
                })
            }),
        }
    }

    /// Writes the files of a share of all boxes, or of all, to a stage; what is there already is not written again. Of all,
    /// and of a share, the metadata follow.
    fn put_chunks(
        &self,
        chunks: &dyn WriteChunks,
        stage: &Stage,
        share: Option<Share>,
        progress: Progress<'_>,
    ) -> Result<()> {
        let counts: Vec<Windows> = self.cut(chunks);
        let own = share.map_or(0..usize::MAX, |share| share.of(counts.iter().map(Windows::count).sum()));
        let mut first = 0;
        for (n, (output, windows)) in self.outputs.iter().zip(&counts).enumerate() {
            let end = first + windows.count();
            let numbers = own.start.clamp(first, end) - first..own.end.clamp(first, end) - first;
            first = end;
            let sink = ChunkSink { chunks, n, stage, failed: self.failed(), shared: share.is_some() };
            if !numbers.is_empty() || share.is_none() {
                output.job.run(windows, numbers, &sink, progress)?;
            }
        }
        for (key, bytes) in chunks.seal()? {
            if !stage.has(&key) {
                stage.put(&key, &bytes).with_context(|| self.failed())?;
            }
        }
        Ok(())
    }

    /// How many units the output is cut into for shares of it: files of chunks, or MiB of the one file of a tensor behind
    /// its header. `None` if it is cut into none.
    fn units(&self) -> Option<usize> {
        match &self.layout {
            Layout::Chunks(chunks) => Some(self.cut(&**chunks).iter().map(Windows::count).sum()),
            Layout::Places(Places { tensors, seal: None, bytes, .. }) => match &tensors[..] {
                [Place { packed: None, .. }] => usize::try_from(bytes.div_ceil(UNIT)).ok(),
                _ => None,
            },
            Layout::Places(_) | Layout::Whole(_) | Layout::Sequence(_) => None,
        }
    }

    /// Makes a share of the output, as far as it is not there, in a folder that all shares have in common. What is there is
    /// on the disk.
    ///
    /// # Errors
    /// Those of [`write`](Self::write); an output that is not made in shares.
    pub fn write_share(&self, parts: &Parts, share: Share, progress: Progress<'_>) -> Result<()> {
        match &self.layout {
            Layout::Chunks(chunks) => self.put_chunks(&**chunks, &parts.stage(), Some(share), progress),
            Layout::Places(places) => {
                let (Some(units), [output], [place]) = (self.units(), &self.outputs[..], &places.tensors[..]) else {
                    return Err(self.no_shares());
                };
                let failed = || self.failed();
                let file = parts.file(places.bytes).with_context(failed)?;
                let own = share.of(units);
                let mut next = own.start + parts.done_of(share.number).min(own.len());
                while next < own.end {
                    let end = (next + UNITS_AT_ONCE).min(own.end);
                    let bytes = next as u64 * UNIT..(end as u64 * UNIT).min(places.bytes);
                    if bytes.start < place.start {
                        write_at(&file, &places.header, 0).with_context(failed)?;
                    }
                    output.job.write_range((&file, place.start, &self.label), bytes, progress)?;
                    // what is said to be done must not be lost with the machine
                    file.sync_data().with_context(failed)?;
                    next = end;
                    parts.set_done_of(share.number, next - own.start).with_context(failed)?;
                }
                output.job.fill().finish()
            }
            Layout::Whole(_) | Layout::Sequence(_) => Err(self.no_shares()),
        }
    }

    fn no_shares(&self) -> Error {
        Error::of(ErrorKind::Unsupported, format!("{}: a {} is not made in parts", self.label, self.format.argument()))
    }

    /// What a share would write and read: its units, of how many, the bytes of its items, and those that are read of data.
    ///
    /// # Errors
    /// An output that is not made in shares.
    pub fn describe_share(&self, share: Share) -> Result<(Range<usize>, usize, u64, u64)> {
        let units = self.units().ok_or_else(|| self.no_shares())?;
        let own = share.of(units);
        let (mut writes, mut reads) = (0, 0);
        match &self.layout {
            Layout::Chunks(chunks) => {
                let mut first = 0;
                for (output, windows) in self.outputs.iter().zip(self.cut(&**chunks)) {
                    let end = first + windows.count();
                    for number in own.start.clamp(first, end) - first..own.end.clamp(first, end) - first {
                        let window = windows.get(number);
                        writes += (window.items() * output.meta.dtype.itemsize()) as u64;
                        reads += output.job.fill().bytes_read(&window);
                    }
                    first = end;
                }
            }
            Layout::Places(places) => {
                let end = |unit: usize| (unit as u64 * UNIT).min(places.bytes);
                writes = end(own.end) - end(own.start);
                reads = writes;
            }
            Layout::Whole(_) | Layout::Sequence(_) => {}
        }
        Ok((own, units, writes, reads))
    }

    /// The boxes of all tensors.
    fn cut(&self, chunks: &dyn WriteChunks) -> Vec<Windows> {
        let windows = |(n, output): (usize, &Output)| match output.job.meta().bytes() {
            0 => Windows::new(&[0], 1),
            _ => Windows::boxes(&output.job.meta().shape, chunks.unit(n)),
        };
        self.outputs.iter().enumerate().map(windows).collect()
    }

    /// Writes to a file without a name in the folder for temporary files, and then all of it to the sink.
    fn by_way_of_a_file(&self, sink: &mut Sink<'_>, write: &dyn Fn(&File) -> Result<()>) -> Result<()> {
        let failed = || self.failed();
        let mut file = tempfile::tempfile().with_context(failed)?;
        write(&file)?;
        file.rewind().and_then(|()| io::copy(&mut file, sink)).map(drop).with_context(failed)
    }

    /// Writes one tensor after the other to an empty file.
    fn sequence(&self, writer: &dyn WriteSequence, file: &File, progress: Progress<'_>) -> Result<()> {
        writer.write_sequence(file, &mut |n, take| match self.outputs.get(n) {
            Some(Output { job, .. }) => job.stream(progress, take),
            None => Err(malformed!("tensor {n} of {}", self.outputs.len())),
        })
    }

    fn failed(&self) -> String {
        format!("{}: cannot be written", self.label)
    }

    /// Writes all to an empty file.
    fn place(&self, places: &Places, file: &File, progress: Progress<'_>) -> Result<()> {
        let failed = || self.failed();
        if let ([output], [place], None) = (&self.outputs[..], &places.tensors[..], &places.seal)
            && place.packed.is_none()
        {
            // One tensor behind a header is the shape of a file that the engine can begin with a copy of the data's own
            // (shared blocks, or a copy by the system), and then only touch the windows that change. Anything else
            // has its items at places where the input has them not.
            return output.job.write(file, &self.label, &places.header, progress);
        }
        reserve(file, places.bytes).with_context(failed)?;
        write_at(file, &places.header, 0).with_context(failed)?;
        for (Output { job, .. }, place) in self.outputs.iter().zip(&places.tensors) {
            let mut at = place.start;
            let put = &mut |bytes: &[u8]| {
                write_at(file, bytes, at).with_context(failed)?;
                at += bytes.len() as u64;
                Ok(())
            };
            match place.packed {
                None => job.write_items(file, &self.label, place.start, progress)?,
                Some(bits) => pack(job, bits, put, progress)?,
            }
        }
        places.seal.as_ref().map_or(Ok(()), |seal| seal.seal(file, self.threads)).with_context(failed)
    }

    /// Hands all to `put`, from front to back. The places need not be in the order of the tensors: a format may sort by
    /// size or dtype, as safetensors does, while the tensors are sorted by name.
    fn stream(&self, places: &Places, put: &mut Take<'_>, progress: Progress<'_>) -> Result<()> {
        put(&places.header)?;
        let mut by_place: Vec<_> = self.outputs.iter().zip(&places.tensors).collect();
        by_place.sort_by_key(|(_, place)| place.start);
        for (Output { job, .. }, place) in by_place {
            match place.packed {
                None => job.stream(progress, put)?,
                Some(bits) => pack(job, bits, put, progress)?,
            }
        }
        Ok(())
    }
}

/// Puts boxes into a folder, each as a file of its own.
struct ChunkSink<'a> {
    chunks: &'a dyn WriteChunks,
    /// The number of the tensor.
    n: usize,
    stage: &'a Stage,
    failed: String,
    /// Whether others may have put some of them.
    shared: bool,
}

impl engine::sink::Sink for ChunkSink<'_> {
    fn put(&self, window: &Window, items: &[u8]) -> Result<()> {
        let key = self.chunks.key(self.n, window);
        let bytes = self.chunks.pack(self.n, window, items).with_context(|| format!("{}: chunk {key}", self.failed))?;
        self.stage.put(&key, &bytes).with_context(|| self.failed.clone())
    }

    fn has(&self, window: &Window) -> bool {
        self.shared && self.stage.has(&self.chunks.key(self.n, window))
    }

    fn copy(&self, window: &Window, from: &File, at: u64, bytes: usize) -> Result<bool> {
        if !self.chunks.holds_as_they_are(self.n, window) {
            return Ok(false);
        }
        self.copied(window, from, at, bytes)
    }

    fn copy_packed(&self, window: &Window, from: &dyn Chunked, there: &Window) -> Result<bool> {
        // what is cut off by the end of one tensor may not be by that of the other
        let unit = self.chunks.unit(self.n);
        let whole = window.shape() == unit || window.ranges == there.ranges;
        if !whole || !self.chunks.packs_as(self.n, from.style()) {
            return Ok(false);
        }
        let Some(file) = from.file_of(there)? else { return Ok(false) };
        let len = usize::try_from(file.metadata()?.len())?;
        // an empty one is not in order, which shows when it is read
        if len == 0 { Ok(false) } else { self.copied(window, &file, 0, len) }
    }
}

impl ChunkSink<'_> {
    /// Copies bytes of a file to that of a box: in the kernel, where that can be.
    fn copied(&self, window: &Window, from: &File, at: u64, bytes: usize) -> Result<bool> {
        let put = self.stage.put_with(&self.chunks.key(self.n, window), |file| {
            let copied = match copy_range(from, at, file, 0, bytes) {
                // other systems, and files of two file systems
                Err(error) if !is_full(&error) => io::copy(&mut Section::new(from, at, bytes as u64), file)?,
                copied => copied? as u64,
            };
            if copied == bytes as u64 { Ok(()) } else { Err(io::ErrorKind::UnexpectedEof.into()) }
        });
        match put {
            Ok(()) => Ok(true),
            Err(error) if is_full(&error) => Err(Error::from(error).within(self.failed.clone())),
            // what is missing, or the reason, shows when the window is read
            Err(_) => Ok(false),
        }
    }
}

/// The items of a job's output in memory: all, or those at some places of each axis alone, which make a tensor of as
/// many places. `meta` is what the output is where it goes, which messages call `place`.
///
/// # Errors
/// Of reading; not enough memory.
pub fn items_at(
    job: &Job,
    meta: &Meta,
    places: Option<&[Vec<Range<usize>>]>,
    place: &str,
    progress: Progress<'_>,
) -> Result<Tensor> {
    let shape: Vec<usize> = match places {
        None => meta.shape.clone(),
        Some(places) => places.iter().map(|ranges| ranges.iter().map(Range::len).sum()).collect(),
    };
    let size = bytes_of(&shape, meta.dtype.itemsize()).unwrap_or(usize::MAX);
    let mut bytes = memory::of(size).map_err(Error::memory).with_context(|| place.to_owned())?;
    let take = &mut |window: &[u8]| {
        bytes.extend_from_slice(window);
        Ok(())
    };
    match places {
        None => job.stream(progress, take)?,
        Some(places) => job.pick(&Boxes::new(&meta.shape, places), progress, take)?,
    }
    Tensor::new(meta.dtype.clone(), shape, bytes).with_context(|| place.to_owned())
}

/// Hands the items of a job to `put`, several to a byte.
fn pack(job: &Job, bits: u32, put: &mut Take<'_>, progress: Progress<'_>) -> Result<()> {
    let (mut packer, mut bytes) = (Packer::new(bits), Vec::new());
    job.stream(progress, &mut |window| {
        bytes.clear();
        packer.push(window, &mut bytes);
        put(&bytes)
    })?;
    bytes.clear();
    packer.finish(&mut bytes);
    put(&bytes)
}

#[cfg(test)]
mod tests {
    use std::io::Read;
    use std::path::Path;

    use super::*;
    use crate::format::open::OpenOptions;

    fn tensor(dtype: &str, shape: &[usize], bytes: &[u8]) -> Tensor {
        Tensor::new(DType::parse(dtype).expect("a dtype"), shape.to_vec(), bytes.to_vec()).expect("a tensor")
    }

    fn work(dtype: &str, shape: &[usize], bytes: &[u8]) -> Work {
        Work::copy(Source::memory(tensor(dtype, shape, bytes), "data".to_owned()), Limits::default())
    }

    fn plan(works: Vec<(&str, Work)>, format: Format) -> Plan {
        let works = works.into_iter().map(|(name, work)| (name.to_owned(), work)).collect();
        Plan::new(works, format, "out", &Extras::default()).expect("a plan")
    }

    /// What a plan puts in a file, and what it hands out from front to back, which must be the same.
    fn both(plan: &Plan) -> Vec<u8> {
        let Layout::Places(places) = &plan.layout else { panic!("no places") };
        let mut file = tempfile::tempfile().expect("a file");
        plan.place(places, &file, &|_| {}).expect("written");
        let (mut placed, mut streamed) = (Vec::new(), Vec::new());
        file.rewind().and_then(|()| file.read_to_end(&mut placed)).expect("read");
        assert_eq!(placed.len() as u64, places.bytes);
        let put = &mut |bytes: &[u8]| {
            streamed.extend_from_slice(bytes);
            Ok(())
        };
        plan.stream(places, put, &|_| {}).expect("written");
        assert!(places.seal.is_some() || streamed == placed, "{placed:?}, but {streamed:?}");
        placed
    }

    #[test]
    fn names_of_members() {
        let given = |names: &[Option<&str>], format| {
            let tensors = names.iter().enumerate().map(|(n, name)| (name.map(str::to_owned), n)).collect();
            named(tensors, format).map_err(|error| error.to_string())
        };
        let list = |pairs: &[(&str, usize)]| Ok(pairs.iter().map(|(name, n)| ((*name).to_owned(), *n)).collect());
        let refused = |message: &str| Err(message.to_owned());
        type Row<'a> = (&'a [Option<&'a str>], Format, Result<Vec<(String, usize)>, String>);
        let rows: [Row<'_>; 6] = [
            (&[Some("b"), None, Some("a"), None], Format::NPZ, list(&[("a", 2), ("arr_0", 1), ("arr_1", 3), ("b", 0)])),
            (&[None], Format::NPY, list(&[("", 0)])),
            (&[Some("x")], Format::ONNX, list(&[("x", 0)])),
            (&[], Format::SAFETENSORS, list(&[])),
            (&[None, None], Format::NPY, refused(&format!("2 tensors, and only {} hold several", containers("and")))),
            (&[Some("arr_0"), None], Format::NPZ, refused("two tensors are called \"arr_0\"")),
        ];
        for (names, format, expected) in rows {
            assert_eq!(given(names, format), expected, "{names:?} as {format:?}");
        }
    }

    #[test]
    fn what_formats_hold() {
        let ordered = |order, big_endian| Recast { cast: None, big_endian, order };
        let (c, fortran) = (Order::C, Order::Fortran);
        let rows = [
            ("V3", Format::NPY, ordered(fortran, Some(true)), ""),
            ("V3", Format::NPZ, ordered(fortran, Some(true)), ""),
            ("V3", Format::TEXT, ordered(c, None), "output: |V3 cannot be printed as text"),
            ("V3", Format::JSON, ordered(c, None), "output: JSON cannot hold items of dtype |V3"),
            ("V3", Format::ONNX, ordered(c, None), "output: ONNX cannot hold items of dtype |V3"),
            ("V3", Format::SAFETENSORS, ordered(c, None), "output: safetensors cannot hold items of dtype |V3"),
            (">i2", Format::SAFETENSORS, ordered(c, None), ""),
            (">i2", Format::JSON, ordered(c, None), ""),
            (">i2", Format::SAFETENSORS, ordered(c, Some(true)), "safetensors is never big-endian"),
            (">i2", Format::ONNX, ordered(fortran, Some(true)), "pb is always in C order"),
            (">i2", Format::TEXT, ordered(fortran, None), "text is always in C order"),
        ];
        for (dtype, format, recast, expected) in rows {
            let size = DType::parse(dtype).expect("a dtype").itemsize();
            let found = Work { recast: recast.clone(), ..work(dtype, &[1], &vec![0; size]) }.check(format);
            assert_eq!(found.err().map_or(String::new(), |e| e.to_string()), expected, "{dtype} {format:?} {recast:?}");
        }
        let many = Source::item(
            Meta::new(DType::parse("<U0").expect("a dtype"), vec![MOST_EMPTY_ITEMS + 1]),
            Vec::new(),
            "data".to_owned(),
        );
        let many = Work::copy(many, Limits::default());
        assert!(many.check(Format::NPY).is_ok());
        assert!(many.check(Format::TEXT).is_err_and(|error| error.message().ends_with("too many to print")));
    }

    #[test]
    fn places_and_packing() {
        let big = || work(">i2", &[2], &[0, 1, 0, 2]);
        let four = || work("float4_e2m1fn", &[4], &[1, 2, 3, 4]);
        // by the widest alignment, then by name; items of 4 bits two to a byte
        let several = plan(vec![("a", four()), ("b", big()), ("c", work("int8", &[1], &[9]))], Format::SAFETENSORS);
        let file = both(&several);
        assert_eq!(&file[file.len() - 7..], [1, 0, 2, 0, 9, 0x21, 0x43]);
        let bytes: Vec<_> = several.tensors().map(|(name, meta, bytes)| (name, meta.dtype.name(), bytes)).collect();
        let expected =
            [("a", "float4_e2m1fn".to_owned(), 2), ("b", "int16".to_owned(), 4), ("c", "int8".to_owned(), 1)];
        assert_eq!(bytes, expected);
        assert_eq!(several.bytes(), 4 + 4 + 1);
        let three = both(&plan(vec![("", work("int4", &[3], &[1, 2, 15]))], Format::ONNX));
        assert_eq!(&three[three.len() - 2..], [0x21, 0x0f]);
        let npy = both(&plan(vec![("", big())], Format::NPY));
        assert_eq!((npy.len(), &npy[128..]), (132, &[0, 1, 0, 2][..]));
        let none = both(&plan(Vec::new(), Format::SAFETENSORS));
        assert_eq!(none, b"\x08\0\0\0\0\0\0\0{}      ");
    }

    #[test]
    fn archives_are_sealed() {
        let bytes =
            both(&plan(vec![("a", work("int8", &[2], &[1, 2])), ("b", work(">i2", &[1], &[3, 4]))], Format::NPZ));
        let options = OpenOptions { format: Some(Format::NPZ), ..OpenOptions::new("a.npz") };
        let input = options.open_stream(Box::new(io::Cursor::new(bytes))).expect("an archive");
        assert_eq!(input.names(), Some(vec!["a", "b"]));
        // the check sum is looked at here
        assert!((0..2).all(|n| input.source(n).is_ok()));
    }

    fn into(path: &Path, work: Work, format: Format) -> Result<()> {
        let target = Target::resolve(path, "out".to_owned(), false)?;
        let plan = Plan::new(named(vec![(None, work)], format)?, format, target.label(), &Extras::default())?;
        let mut sink = target.create()?;
        plan.write(&mut sink, &TextOptions::default(), &|_| {})?;
        sink.finish()
    }

    #[test]
    fn a_failure_leaves_the_old_file() {
        let folder = tempfile::tempdir().expect("a folder");
        let path = folder.path().join("out");
        // how a folder is replaced has tests of its own
        for format in Format::all().filter(|format| format.is_written() && !format.is_folder()) {
            std::fs::write(&path, "old").expect("written");
            let meta = Meta::new(DType::parse("int8").expect("a dtype"), vec![3]);
            let short = Source::stream(meta, Box::new(&b"ab"[..]), 3, "data".to_owned());
            let refused = into(&path, Work::copy(short, Limits::default()), format).unwrap_err().to_string();
            assert_eq!(refused, "data: 2 bytes of data, expected 3 (int8 [3])", "{format:?}");
            assert_eq!(std::fs::read(&path).expect("a file"), b"old");
            assert_eq!(std::fs::read_dir(folder.path()).expect("a folder").count(), 1);
            into(&path, work("int8", &[3], &[1, 2, 3]), format).expect("written");
            assert_ne!(std::fs::read(&path).expect("a file"), b"old");
        }
    }

    #[test]
    fn containers_are_not_replaced_by_fewer() {
        let folder = tempfile::tempdir().expect("a folder");
        let path = folder.path().join("two.npz");
        let one = tensor("int8", &[1], &[1]);
        crate::write_all(&path, [("a", &one), ("b", &one)]).expect("written");
        let input = OpenOptions::new("two.npz").open(&path).expect("an archive");
        let member = |n: usize| (n.to_string(), Work::copy(input.source(n).expect("a member"), Limits::default()));
        let target = |path: &Path| Target::resolve(path, "out".to_owned(), false).expect("a target");
        let refused = check_replaced(&target(&path), &[member(0)], &|_| false).unwrap_err().to_string();
        assert_eq!(refused, "out: holds 1 more tensors, which would be lost: choose another file");
        assert!(check_replaced(&target(&path), &[member(0), member(1)], &|_| false).is_ok());
        assert!(check_replaced(&target(&folder.path().join("new.npz")), &[member(0)], &|_| false).is_ok());
    }
}
