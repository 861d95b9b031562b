//! The one window loop: the output of an operator, produced window by window, shared among threads, written to a
//! stream, to a new file, or to the data's own file.

use std::env;
use std::fs::File;
use std::io;
use std::ops::Range;
use std::sync::atomic::{AtomicBool, Ordering};

use anyhow::{Context, Result, anyhow};

use crate::cast::Cast;
use crate::dtype::DType;
use crate::error::Error;
use crate::ops::indexed::{Run, Scatter};
use crate::ops::reduction::OnBytes;
use crate::ops::slice_scatter::SliceScatter;
use crate::parallel::{Threads, share};
use crate::room;
use crate::source::{Conversion, Source, write_at};
use crate::tensor::coordinates;
use crate::window::{GAP, View, Window, Windows, copy_bytes};

/// The bytes of a window. It stays, with what it is gathered from, in a core's cache.
const WINDOW: usize = 1 << 18;

/// The bytes of a window that is changed where it lies: few, since all of it is read and written for one item.
const EDIT_WINDOW: usize = 1 << 16;

/// The same where less than one byte in `SPARSE` changes: no less is read or written in any case.
const SMALL_WINDOW: usize = 1 << 12;
const SPARSE: usize = 32;
const MOST_SMALL_WINDOWS: usize = 1 << 22;

/// The bytes of all windows at work when data is not stored in C order: the longer the runs, the fewer the reads.
const FORTRAN_WINDOWS: usize = 1 << 25;

/// The updates of a window are read at once if they lie together in so many bytes.
const SLAB: usize = 1 << 20;

/// Updates of so many bytes are kept in memory where single items are picked from them.
const RESIDENT: usize = 1 << 24;

/// The bytes of all windows at work when updates are read in pieces that are shorter than this one is long.
const SWEEP_WINDOWS: usize = 3 << 24;
const SHORT_PIECE: usize = 1 << 14;

/// What is told of every window that is done: its bytes.
pub type Progress<'a> = &'a (dyn Fn(usize) + Sync);

/// An operator with everything it needs: which items of `data` the output begins with, and what changes in them.
#[derive(Debug)]
pub struct Job {
    data: Source,
    view: View,
    shape: Vec<usize>,
    change: Change,
    cast: Option<Cast>,
    dtype: DType,
    threads: usize,
    /// Bytes.
    window: usize,
}

/// How a scatter by indices is carried out: in windows of which size.
#[derive(Clone, Copy, Debug)]
pub struct ScatterWindow(usize);

impl ScatterWindow {
    /// For `data` that takes pieces of `block` items from `updates`, which come `outer` times.
    ///
    /// Windows that fit the cache suit updates in memory, updates that are read together, and long pieces. Short
    /// pieces are better read by few sweeps through the updates, each for a large window, than one by one.
    pub fn new(data: &Source, updates: &Updates, (outer, block): (usize, usize), options: Options) -> Self {
        let piece = block * data.dtype().itemsize();
        let bytes = updates.bytes();
        let kept = updates.source.as_file().is_none() || bytes <= options.room.max(RESIDENT);
        let together = bytes / outer.max(1) <= SLAB;
        let sweep = !kept && !together && piece < SHORT_PIECE;
        let threads = options.threads.for_bytes(data.bytes());
        Self(match (options.in_place, sweep) {
            (true, _) => EDIT_WINDOW,
            (false, false) => WINDOW,
            (false, true) => data.bytes().div_ceil(threads).clamp(WINDOW, SWEEP_WINDOWS / threads),
        })
    }

    /// The items of a window of a tensor of that shape, for the resolver to group its indices by.
    pub fn items(self, shape: &[usize], itemsize: usize) -> usize {
        Windows::new(shape, test_window().unwrap_or(self.0) / itemsize.max(1)).largest()
    }
}

/// How a job is carried out.
#[derive(Clone, Copy, Debug)]
pub struct Options {
    /// Threads at most.
    pub threads: Threads,
    /// Bytes of updates that may be kept in memory (16 MiB in any case).
    pub room: usize,
    /// Whether the data's own file is changed.
    pub in_place: bool,
}

/// What an operator does to its data.
#[derive(Debug)]
pub enum Change {
    /// Nothing: a selection is all.
    None,
    /// A slice of it takes updates.
    Slice(SliceScatter, Updates),
    /// Places of it take updates, or are reduced with them.
    Indexed(Scatter, Updates, Option<OnBytes>, ScatterWindow),
}

impl Change {
    /// From the first to behind the last item of a window that changes, in items of the window.
    fn extent(&self, window: &Window) -> Range<usize> {
        match self {
            Change::None => 0..0,
            Change::Slice(slice, _) => slice.part(window).map_or(0..0, |(_, place)| place.extent()),
            Change::Indexed(scatter, ..) => {
                let (mut start, mut end) = (window.items(), 0);
                scatter.runs(window, |run| (start, end) = (start.min(run.to), end.max(run.to + run.len)));
                start.min(end)..end
            }
        }
    }

    /// Where the updates come from.
    pub fn updates(&self) -> Option<&Source> {
        match self {
            Change::None => None,
            Change::Slice(_, updates) | Change::Indexed(_, updates, ..) => Some(&updates.source),
        }
    }

    /// What [`Source::finish`] says of the updates.
    ///
    /// # Errors
    /// Updates that are not whole, or have changed.
    pub fn finish(&self) -> Result<()> {
        self.updates().map_or(Ok(()), Source::finish)
    }
}

/// The source of updates, and how its items become items of the data.
#[derive(Debug)]
pub struct Updates {
    source: Source,
    view: View,
    conversion: Conversion,
}

impl Updates {
    /// Updates of a dtype that [`Conversion::new`] accepted.
    pub fn new(source: Source, conversion: Conversion) -> Self {
        Self { view: source.view(), source, conversion }
    }

    /// Where they come from.
    pub fn source(&self) -> &Source {
        &self.source
    }

    /// The bytes of all of them, as items of the data.
    fn bytes(&self) -> usize {
        self.view.items().saturating_mul(self.conversion.itemsize())
    }

    /// The updates with their axes in another order.
    #[must_use]
    pub fn with_axes(self, axes: &[usize]) -> Self {
        Self { view: self.view.with_axes(axes), ..self }
    }

    /// Keeps all of them in memory, converted and in C order.
    ///
    /// # Errors
    /// Of reading them.
    pub fn keep(&mut self, dtype: &DType) -> Result<()> {
        if self.source.is_one_item() {
            return Ok(());
        }
        let shape = self.view.shape();
        let mut bytes = room_for(self.view.items() * dtype.itemsize(), self.source.label())?;
        bytes.resize(self.view.items() * dtype.itemsize(), 0);
        self.conversion.read(&self.source, &self.view, &mut bytes, &mut Vec::new())?;
        let tensor = crate::Tensor::new(dtype.clone(), shape, bytes).context("updates of a shape that cannot be")?;
        let source = Source::memory(tensor, self.source.label().to_owned());
        let conversion = Conversion::new(dtype, dtype).context("a dtype of no kind")?;
        *self = Self::new(source, conversion);
        Ok(())
    }

    /// Reads items from item `first` on, where [`in_runs`](Self::in_runs) allows it.
    fn read_run(&self, first: usize, out: &mut [u8], itemsize: usize) -> Result<()> {
        self.source.read_at(out, (first * itemsize) as u64)?;
        self.conversion.swap(out);
        Ok(())
    }

    /// Whether runs of them can be read for themselves.
    fn in_runs(&self) -> bool {
        let as_they_are = self.source.as_bytes().is_none() || self.conversion.is_identity();
        self.source.is_one_item() || as_they_are && self.conversion.keeps_width() && self.view.is_c_order()
    }
}

/// An empty vector with room for so many bytes of what messages call `label`.
///
/// # Errors
/// Not enough memory, which is no reason to be ended by a signal.
pub fn room_for(bytes: usize, label: &str) -> Result<Vec<u8>> {
    room::of(bytes).map_err(|why| anyhow!("{label}: {why}"))
}

/// Makes a buffer so many bytes long; what it held is lost.
///
/// # Errors
/// Those of [`room_for`].
fn make_long(buffer: &mut Vec<u8>, bytes: usize, label: &str) -> Result<()> {
    if bytes > buffer.capacity() {
        *buffer = room_for(bytes, label)?;
    }
    buffer.resize(bytes, 0);
    Ok(())
}

/// Whether a source must be made readable in any order before its items are read as `view` shows them. So must a
/// stream of items that are larger than a window: memory is taken for them when it is known that they are there.
fn must_settle(source: &Source, view: &View) -> bool {
    source.is_stream() && (!view.is_forward() || source.dtype().itemsize() > WINDOW)
}

/// Shows all items of tensors of one shape, a window at a time: `each` gets its thread's state (of which `begin`
/// makes one a thread), the number of the window's first item in C order, and for each tensor the items of the
/// window, in C order and little-endian. False from `each` ends the scan early. The states are returned in no order.
/// Of tensors without items, or with items of no bytes, there is no window.
///
/// # Errors
/// Of reading, among them a tensor that changes meanwhile; of several errors of `each` that of the first window.
///
/// # Panics
/// If the shapes differ.
pub fn scan<S: Send, const N: usize>(
    sources: [&mut Source; N],
    threads: Threads,
    progress: Progress<'_>,
    begin: impl Fn() -> S + Sync,
    each: impl Fn(&mut S, usize, [&[u8]; N]) -> Result<bool> + Sync,
) -> Result<Vec<S>> {
    for source in sources.iter().skip(1) {
        assert_eq!(source.shape(), sources[0].shape(), "tensors of one shape");
    }
    let (mut once, mut fortran, mut bytes, mut widest) = (false, false, 0, 1);
    let (mut conversions, mut settled) = (Vec::with_capacity(N), Vec::with_capacity(N));
    for source in sources {
        if must_settle(source, &source.view()) {
            source.settle()?;
        }
        once |= source.is_stream();
        fortran |= !source.view().is_forward();
        bytes = source.bytes().saturating_add(bytes);
        widest = widest.max(source.dtype().itemsize());
        let native = source.dtype().native();
        conversions.push(Conversion::new(source.dtype(), &native).context("a dtype of no kind")?);
        settled.push(&*source);
    }
    let Some(first) = settled.first() else { return Ok(Vec::new()) };
    let shape = first.shape();
    let threads = if once { 1 } else { threads.for_bytes(bytes) };
    let window = if fortran { FORTRAN_WINDOWS / threads / N.max(1) } else { WINDOW };
    // items of no bytes can be more than anybody could be shown
    let windows = match shape.contains(&0) || bytes == 0 {
        true => Windows::new(&[0], 1),
        false => Windows::new(shape, (test_window().unwrap_or(window) / widest).max(1)),
    };
    let count = windows.count();
    let fresh = || (begin(), vec![Vec::new(); N], Vec::new());
    let whole = AtomicBool::new(true);
    let states = share(threads, count, fresh, |number, (state, items, scratch)| -> Result<_> {
        let window = windows.get(number);
        for ((source, conversion), items) in settled.iter().zip(&conversions).zip(items.iter_mut()) {
            make_long(items, window.items() * conversion.itemsize(), source.label())?;
            conversion.read(source, &source.view().part(&window.ranges), items, scratch)?;
        }
        progress(items.iter().map(Vec::len).sum());
        let go_on = each(state, window.start, std::array::from_fn(|i| items[i].as_slice()))?;
        if !go_on {
            whole.store(false, Ordering::Relaxed);
        }
        Ok(go_on)
    })?;
    if whole.into_inner() {
        settled.iter().try_for_each(|source| source.finish())?;
    }
    Ok(states.into_iter().map(|(state, ..)| state).collect())
}

/// Buffers that a window needs while it is produced, kept for the next.
#[derive(Default)]
struct Scratch {
    window: Vec<u8>,
    gathered: Vec<u8>,
    updates: Vec<u8>,
    cast: Vec<u8>,
}

impl Job {
    /// An output of `view`'s shape: the items of `data` that `view` shows, then changed.
    ///
    /// # Errors
    /// Of reading the updates that are kept in memory.
    pub fn new(mut data: Source, view: View, mut change: Change, options: Options) -> Result<Self> {
        let mut once = data.is_stream();
        if must_settle(&data, &view) {
            data.settle()?;
        }
        let mut window = if options.in_place { EDIT_WINDOW } else { WINDOW };
        match &mut change {
            Change::None => {}
            Change::Slice(slice, updates) => {
                // a file that is changed where it lies must not learn in the middle that updates end early
                if must_settle(&updates.source, &updates.view) || !slice.is_forward() || options.in_place {
                    updates.source.settle()?;
                }
                once |= updates.source.is_stream();
            }
            Change::Indexed(_, updates, _, size) => {
                window = size.0;
                updates.source.settle()?;
                let few = updates.bytes() <= options.room.max(RESIDENT);
                if !updates.in_runs() || updates.source.as_file().is_some() && few {
                    updates.keep(data.dtype())?;
                }
            }
        }
        let bytes = view.items() * data.dtype().itemsize();
        let threads = if once { 1 } else { options.threads.for_bytes(bytes) };
        // data stored across the order of the output: the longer its runs, the fewer the reads
        if data.is_fortran_order() && !view.is_forward() {
            window = window.max(FORTRAN_WINDOWS / threads);
        }
        let window = test_window().unwrap_or(window);
        let (shape, dtype) = (view.shape(), data.dtype().clone());
        Ok(Self { shape, dtype, data, view, change, cast: None, threads, window })
    }

    /// The same output, but its items become items of `dtype`: other values, or another byte order.
    ///
    /// # Errors
    /// What [`Cast::new`] refuses.
    pub fn cast_to(mut self, dtype: DType, lossy: bool) -> Result<Self, Error> {
        let cast = Cast::new(self.data.dtype(), &dtype, lossy)?;
        self.cast = Some(cast).filter(|cast| !cast.is_identity());
        self.dtype = dtype;
        Ok(self)
    }

    /// Where the data comes from.
    pub fn data(&self) -> &Source {
        &self.data
    }

    /// The dtype of the output: that of the data, if it is not cast.
    pub fn dtype(&self) -> &DType {
        &self.dtype
    }

    /// The shape of the output.
    pub fn shape(&self) -> &[usize] {
        &self.shape
    }

    /// The bytes of the output's items.
    pub fn bytes(&self) -> usize {
        self.shape.iter().product::<usize>() * self.dtype().itemsize()
    }

    /// Produces all windows in order and hands each to `take`.
    ///
    /// # Errors
    /// Of reading, and those of `take`.
    pub fn stream(&self, progress: Progress<'_>, mut take: impl FnMut(&[u8]) -> Result<()>) -> Result<()> {
        let mut scratch = Scratch::default();
        for window in self.windows().iter() {
            self.produce(&window, &mut scratch)?;
            take(&scratch.window)?;
            progress(scratch.window.len());
        }
        self.finish(true)
    }

    /// Writes `header` and then the output to an empty `file`, which messages call `name`. Runs that no update touches
    /// are left to the kernel.
    ///
    /// # Errors
    /// Of reading and writing.
    pub fn write(&self, file: &File, name: &str, header: &[u8], progress: Progress<'_>) -> Result<()> {
        let base = header.len() as u64;
        let failed = || format!("{name}: cannot be written");
        if self.cloned_to(file, base) {
            // what the data's file has in its place may say the same in other words
            write_at(file, header, 0).with_context(failed)?;
            self.edit(file, name, base, progress)?;
            return self.finish(true);
        }
        reserve(file, base + self.bytes() as u64).with_context(failed)?;
        write_at(file, header, 0).with_context(failed)?;
        self.write_part(file, name, base, progress)
    }

    /// Writes the output to `file`, which messages call `name`, from byte `base` on, and nothing else.
    ///
    /// # Errors
    /// Of reading and writing; an item that a cast cannot make.
    pub fn write_part(&self, file: &File, name: &str, base: u64, progress: Progress<'_>) -> Result<()> {
        let failed = || format!("{name}: cannot be written");
        let windows = self.windows();
        let kernel_copies = AtomicBool::new(true);
        share(self.threads, windows.count(), Scratch::default, |number, scratch| -> Result<_> {
            let window = windows.get(number);
            let (at, len) = (base + self.position(&window), window.items() * self.dtype().itemsize());
            if !self.copied(&window, file, at, &kernel_copies).with_context(failed)? {
                self.produce(&window, scratch)?;
                write_at(file, &scratch.window, at).with_context(failed)?;
            }
            progress(len);
            Ok(true)
        })?;
        self.finish(true)
    }

    /// Writes the windows that change to `file`, the data's own or its exact copy, whose items begin at byte `base`
    /// and lie in C order of the job's shape.
    ///
    /// # Errors
    /// Of reading and writing.
    pub fn edit(&self, file: &File, name: &str, base: u64, progress: Progress<'_>) -> Result<()> {
        let (windows, touched) = self.to_edit();
        share(self.threads, touched.len(), Scratch::default, |number, scratch| -> Result<_> {
            let window = windows.get(touched[number]);
            self.produce(&window, scratch)?;
            // only what lies between the first and the last change
            let itemsize = self.dtype().itemsize();
            let Range { start, end } = self.change.extent(&window);
            let changed = &scratch.window[start * itemsize..end * itemsize];
            write_at(file, changed, base + self.position(&window) + (start * itemsize) as u64)
                .with_context(|| format!("{name}: cannot be written"))?;
            progress(scratch.window.len());
            Ok(true)
        })?;
        self.finish(false)
    }

    /// To be called when all that was wanted has been read, and what is read must be whole and as it was: the updates,
    /// and with `data` the data.
    ///
    /// # Errors
    /// Those of [`Source::finish`].
    pub fn finish(&self, data: bool) -> Result<()> {
        if data {
            self.data.finish()?;
        }
        self.change.finish()
    }

    fn windows(&self) -> Windows {
        match self.bytes() {
            0 => Windows::new(&[0], 1),
            _ => {
                let widest = self.dtype.itemsize().max(self.data.dtype().itemsize());
                Windows::new(&self.shape, (self.window / widest).max(1))
            }
        }
    }

    /// Where a window begins, in bytes after the header.
    fn position(&self, window: &Window) -> u64 {
        (window.start * self.dtype().itemsize()) as u64
    }

    /// The windows in which something changes: smaller ones than usual where little changes in each.
    fn to_edit(&self) -> (Windows, Vec<usize>) {
        let windows = self.windows();
        let touched = self.touched(&windows);
        let changed = match &self.change {
            Change::None => 0,
            Change::Slice(slice, _) => slice.updates_shape().iter().product(),
            Change::Indexed(scatter, ..) => scatter.updates_shape().iter().product::<usize>(),
        };
        let itemsize = self.dtype().itemsize().max(1);
        let sparse = changed.saturating_mul(itemsize) < touched.len() * (self.window / SPARSE);
        let few = changed.min(touched.len() * (EDIT_WINDOW / SMALL_WINDOW)) <= MOST_SMALL_WINDOWS;
        if !sparse || !few || test_window().is_some() {
            return (windows, touched);
        }
        let windows = Windows::new(&self.shape, SMALL_WINDOW / itemsize);
        let touched = self.touched(&windows);
        (windows, touched)
    }

    /// The windows in which something changes, by their numbers.
    fn touched(&self, windows: &Windows) -> Vec<usize> {
        match &self.change {
            Change::None => Vec::new(),
            Change::Slice(slice, _) => windows.touched_by(slice.spans()),
            Change::Indexed(scatter, ..) => {
                // a bit for each window, since updates may come back to one any number of times
                let mut bits = vec![0_u64; windows.count().div_ceil(64)];
                scatter.places(|first, last| {
                    for number in windows.number_of(first)..=windows.number_of(last) {
                        bits[number / 64] |= 1 << (number % 64);
                    }
                });
                let set = |(at, word): (usize, &u64)| {
                    let word = *word;
                    (0..64).filter(move |bit| word >> bit & 1 == 1).map(move |bit| at * 64 + bit)
                };
                bits.iter().enumerate().filter(|(_, word)| **word != 0).flat_map(set).collect()
            }
        }
    }

    /// Whether `file` is now a clone of the data's file that shares its blocks, in which only changes are missing.
    fn cloned_to(&self, file: &File, base: u64) -> bool {
        let Some((data, start)) = self.data.as_file() else { return false };
        let whole = self.view == View::c_order(self.data.shape()) && self.cast.is_none();
        // a member of a container begins or ends elsewhere than its file
        let alone = || data.metadata().is_ok_and(|file| file.len() == base + self.bytes() as u64);
        whole && start == base && self.window <= WINDOW && alone() && clone_file(data, file)
    }

    /// Whether a window has been copied from the data's file by the kernel, since nothing changes in it.
    fn copied(&self, window: &Window, file: &File, at: u64, possible: &AtomicBool) -> Result<bool> {
        let changes = match &self.change {
            Change::None => false,
            Change::Slice(slice, _) => slice.part(window).is_some(),
            Change::Indexed(scatter, ..) => scatter.touches(window),
        };
        let itemsize = self.dtype().itemsize();
        let run = self.view.part(&window.ranges).as_run();
        let (Some((data, start)), Some(first), false, true) =
            (self.data.as_file(), run, changes || self.cast.is_some(), possible.load(Ordering::Relaxed))
        else {
            return Ok(false);
        };
        let len = window.items() * itemsize;
        let copied = copy_range(data, start + (first * itemsize) as u64, file, at, len);
        match copied {
            Ok(copied) if copied == len => return Ok(true),
            // what is missing, or the reason, shows when the window is read
            Ok(_) => {}
            Err(error) if is_full(&error) => return Err(error.into()),
            Err(_) => possible.store(false, Ordering::Relaxed),
        }
        Ok(false)
    }

    /// Produces one window into the scratch buffer of that name.
    fn produce(&self, window: &Window, scratch: &mut Scratch) -> Result<()> {
        self.produce_data(window, scratch)?;
        let Some(cast) = &self.cast else { return Ok(()) };
        let Scratch { window: out, cast: items, .. } = scratch;
        cast.apply(out, items).map_err(|(item, why)| {
            let at = coordinates(window.start + item, &self.shape);
            anyhow!("{}: {why} at {at:?}", self.data.label())
        })?;
        std::mem::swap(out, items);
        Ok(())
    }

    /// The same before any cast.
    fn produce_data(&self, window: &Window, scratch: &mut Scratch) -> Result<()> {
        let itemsize = self.data.dtype().itemsize();
        let Scratch { window: out, gathered, updates: buffer, .. } = scratch;
        make_long(out, window.items() * itemsize, self.data.label())?;
        let view = self.view.part(&window.ranges);
        match &self.change {
            Change::None => self.data.read(&view, out, gathered),
            Change::Slice(slice, updates) => {
                let Some((part, place)) = slice.part(window) else { return self.data.read(&view, out, gathered) };
                let part = updates.view.part(&part);
                if part.items() < window.items() || self.data.is_stream() {
                    self.data.read(&view, out, gathered)?;
                }
                if let Some(first) = place.as_run() {
                    let out = &mut out[first * itemsize..][..part.items() * itemsize];
                    return updates.conversion.read(&updates.source, &part, out, gathered);
                }
                make_long(buffer, part.items() * itemsize, updates.source.label())?;
                updates.conversion.read(&updates.source, &part, buffer, gathered)?;
                copy_bytes(buffer, &View::c_order(&part.shape()), out, &place, itemsize);
                Ok(())
            }
            Change::Indexed(scatter, updates, combine, _) => {
                self.data.read(&view, out, gathered)?;
                scatter_window(scatter, updates, *combine, window, out, itemsize, buffer)
            }
        }
    }
}

/// Applies the updates of one window to its items.
fn scatter_window(
    scatter: &Scatter,
    updates: &Updates,
    combine: Option<OnBytes>,
    window: &Window,
    out: &mut [u8],
    itemsize: usize,
    buffer: &mut Vec<u8>,
) -> Result<()> {
    let mut put = |Run { to, from, len }: Run, slab: &[u8], first: usize| {
        let old = &mut out[to * itemsize..][..len * itemsize];
        let new = &slab[(from - first) * itemsize..][..len * itemsize];
        match combine {
            None => copy_item(old, new),
            Some(combine) => combine(old, new),
        }
    };
    // where the runs lie: in memory, or in one piece of the updates, or here and there in them
    let (first, items) = scatter.slab(window);
    if let Some(bytes) = updates.source.as_bytes() {
        scatter.runs(window, |run| put(run, bytes, 0));
        return Ok(());
    }
    if items.saturating_mul(itemsize) <= SLAB && !updates.source.is_one_item() {
        make_long(buffer, items * itemsize, updates.source.label())?;
        updates.read_run(first, buffer, itemsize)?;
        scatter.runs(window, |run| put(run, buffer, first));
        return Ok(());
    }
    // runs that are neighbours in the updates are read at once
    let mut pending: Vec<Run> = Vec::new();
    let mut flush = |pending: &mut Vec<Run>| -> Result<()> {
        let (Some(&Run { from: first, .. }), Some(last)) = (pending.first(), pending.last()) else { return Ok(()) };
        make_long(buffer, (last.from + last.len - first) * itemsize, updates.source.label())?;
        updates.read_run(first, buffer, itemsize)?;
        pending.drain(..).for_each(|run| put(run, buffer, first));
        Ok(())
    };
    let mut result = Ok(());
    scatter.runs(window, |run| {
        if result.is_err() {
            return;
        }
        // one item is everywhere
        let run = if updates.source.is_one_item() { Run { from: 0, ..run } } else { run };
        if let (Some(first), Some(last)) = (pending.first(), pending.last()) {
            let end = last.from + last.len;
            let near = run.from >= end
                && (run.from - end) * itemsize <= GAP
                && (run.from + run.len - first.from) * itemsize <= SLAB;
            if !near {
                result = flush(&mut pending);
            }
        }
        pending.push(run);
    });
    result.and_then(|()| flush(&mut pending))
}

/// `copy_from_slice`, without a call for single items of the usual sizes.
#[inline]
fn copy_item(old: &mut [u8], new: &[u8]) {
    fn word<const N: usize>(old: &mut [u8], new: &[u8]) {
        if let ([old], [new]) = (old.as_chunks_mut::<N>().0, new.as_chunks::<N>().0) {
            *old = *new;
        }
    }
    match old.len() {
        1 => word::<1>(old, new),
        2 => word::<2>(old, new),
        4 => word::<4>(old, new),
        8 => word::<8>(old, new),
        16 => word::<16>(old, new),
        _ => old.copy_from_slice(new),
    }
}

/// Such threads, but started for any work where a test asks for small windows: they then share the little it has.
#[must_use]
pub fn tested(threads: Threads) -> Threads {
    if test_window().is_some() { threads.started_for(0) } else { threads }
}

/// The bytes of a window that a test asks for, to have boundaries everywhere.
fn test_window() -> Option<usize> {
    env::var_os("TENSOROP_WINDOW")?.to_str()?.parse().ok()
}

fn is_full(error: &io::Error) -> bool {
    matches!(error.kind(), io::ErrorKind::StorageFull | io::ErrorKind::QuotaExceeded | io::ErrorKind::FileTooLarge)
}

/// Has the file system set the blocks of a large file of so many bytes aside: writing them then takes about half the
/// time, and a full disk shows before anything is computed.
///
/// # Errors
/// A full disk.
#[cfg(target_os = "linux")]
pub fn reserve(file: &File, bytes: u64) -> Result<()> {
    const LARGE: u64 = 1 << 20;
    if bytes < LARGE {
        return Ok(());
    }
    match rustix::fs::fallocate(file, rustix::fs::FallocateFlags::empty(), 0, bytes) {
        Err(error) if is_full(&error.into()) => Err(io::Error::from(error).into()),
        _ => Ok(()),
    }
}

/// Nothing is known that would do it here.
///
/// # Errors
/// None.
#[cfg(not(target_os = "linux"))]
pub fn reserve(_: &File, _: u64) -> Result<()> {
    Ok(())
}

/// Makes `to` share the blocks of `from`, where the file system can.
#[cfg(target_os = "linux")]
fn clone_file(from: &File, to: &File) -> bool {
    rustix::fs::ioctl_ficlone(to, from).is_ok()
}

#[cfg(not(target_os = "linux"))]
fn clone_file(_: &File, _: &File) -> bool {
    false
}

/// Has the kernel copy bytes between files; how many it did before the end of `from`.
#[cfg(target_os = "linux")]
fn copy_range(from: &File, mut start: u64, to: &File, mut at: u64, len: usize) -> io::Result<usize> {
    let mut copied = 0;
    while copied < len {
        match rustix::fs::copy_file_range(from, Some(&mut start), to, Some(&mut at), len - copied) {
            Ok(0) => break,
            Ok(n) => copied += n,
            Err(rustix::io::Errno::INTR) => {}
            Err(error) => return Err(error.into()),
        }
    }
    Ok(copied)
}

#[cfg(not(target_os = "linux"))]
fn copy_range(_: &File, _: u64, _: &File, _: u64, _: usize) -> io::Result<usize> {
    Err(io::ErrorKind::Unsupported.into())
}
