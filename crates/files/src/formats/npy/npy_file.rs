//! Opens `.npy` files, changes their dims and appends rows to them. Several calls of `numpy.save` on one file make a container with members `0`, `1` and so on.

use std::fmt;
use std::fs::File;
use std::io::{self, Read};
use std::ops::Range;
use std::sync::{Arc, Mutex};

use super::{GROWING, Header, MAGIC, check_len, header_in_place, is_growing, read_on};
use crate::container::content::{BEGIN, Content, ContentSource, Description};
use crate::container::interface::{Members, ReadableFile, Reader};
use crate::operators::fill::{Fill, Limits};
use crate::plans::cost::Calls;
use crate::plans::explain::Explanation;
use crate::plans::job::{Job, Progress};
use crate::plans::plan::{Plan, SinkKind};
use crate::plans::sink::{FileSink, failed};
use crate::storage::platform::{read_at, write_at};
use crate::storage::read_at::{ReadAt, Section};
use crate::storage::source::{Container, Source, wrong_length};
use crate::storage::targets::signals;
use tensorop_kernels::error::{Context, Error, ErrorKind, Result, bail, ensure, malformed};
use tensorop_kernels::item::meta::{Meta, Order};
use tensorop_kernels::parallel::locked;

const MAX_ARRAYS: usize = 1 << 18;

const UNWRITTEN: &str = "several arrays in one .npy can be read, not written";

pub(crate) fn open(content: Content) -> Result<ReadableFile> {
    let Content { mut begin, opened, threads, .. } = content;
    let (header, items) = match opened {
        ContentSource::Bytes { bytes, size, .. } => {
            let mut rest = Section::new(&*bytes, begin.len() as u64, size - begin.len() as u64);
            let header = read_on(&mut rest, &mut begin)?;
            // bytes left by a stopped append are not part of the array
            let end = header.offset as u64 + header.bytes as u64;
            let is_stopped = is_growing(&begin[..header.offset]);
            // unreadable bytes are not an array, and make the file too long for this one
            if !is_stopped && end < size && begins_at(&*bytes, end, size).unwrap_or(false) {
                return NpyArrays::open(bytes, size);
            }
            check_len(&header, if is_stopped { size.min(end) } else { size })?;
            let start = header.offset as u64;
            (header, PlainItems::Bytes(bytes, start))
        }
        ContentSource::Folder(_) => bail!("is a folder, expected a file"),
        ContentSource::Stream(mut stream) => {
            let header = read_on(&mut stream, &mut begin)?;
            let is_stopped = is_growing(&begin[..header.offset]);
            let next = begin.get(header.offset.saturating_add(header.bytes)..).unwrap_or_default();
            if !is_stopped && next.starts_with(MAGIC) {
                let (bytes, _) = Content::new(begin, ContentSource::Stream(stream), threads).into_bytes()?;
                let size = bytes.size()?;
                return NpyArrays::open(bytes, size);
            }
            let whole = if is_stopped { header.bytes as u64 } else { u64::MAX };
            let items = io::Cursor::new(begin.split_off(header.offset)).chain(stream);
            (header, PlainItems::stream(items.take(whole)))
        }
    };
    let Header { meta, offset, bytes } = header;
    let reader = PlainReader { meta, start: offset as u64, stored: bytes as u64, items };
    Ok(ReadableFile::new(Members::default(), reader))
}

fn begins_at(file: &dyn ReadAt, at: u64, size: u64) -> io::Result<bool> {
    let mut begin = [0; MAGIC.len()];
    let fits = size - at >= MAGIC.len() as u64;
    if fits {
        file.read_at(&mut begin, at)?;
    }
    Ok(fits && begin == MAGIC)
}

#[derive(Debug)]
struct NpyArrays {
    file: Arc<dyn ReadAt>,
    /// The position after an unreadable array is unknown, so it is the last.
    arrays: Vec<Result<NpyArray>>,
}

#[derive(Clone, Debug)]
struct NpyArray {
    header: Header,
    start: u64,
}

impl NpyArrays {
    fn open(file: Arc<dyn ReadAt>, size: u64) -> Result<ReadableFile> {
        let (mut arrays, mut at) = (Vec::new(), 0);
        while at < size {
            ensure!(arrays.len() < MAX_ARRAYS, "more than {MAX_ARRAYS} arrays in one .npy");
            let array = NpyArray::read(&*file, at, size);
            let end = array.as_ref().map_or(size, |array| array.start + array.header.bytes as u64);
            arrays.push(array);
            at = end;
        }
        let names = (0..arrays.len()).map(|n| n.to_string()).collect();
        let container = Container { unwritten: Some(UNWRITTEN), ..Container::new(file.identity()?, names) };
        let caution = "holds several arrays, one after the other, and numpy.load reads only the first";
        let members = Members { caution: Some(caution), ..Members::of(container) };
        Ok(ReadableFile::new(members, Self { file, arrays }))
    }

    fn array(&self, n: usize) -> Result<&NpyArray> {
        self.arrays[n].as_ref().map_err(Clone::clone)
    }
}

impl NpyArray {
    fn read(file: &dyn ReadAt, at: u64, size: u64) -> Result<Self> {
        let left = size - at;
        let mut begin = vec![0; left.min(BEGIN as u64) as usize];
        file.read_at(&mut begin, at)?;
        let read = begin.len() as u64;
        let header = read_on(&mut Section::new(file, at + read, left - read), &mut begin)?;
        let found = left - header.offset as u64;
        ensure!(found >= header.bytes as u64, "{}", wrong_length(found, header.bytes as u64, &header.meta));
        Ok(Self { start: at + header.offset as u64, header })
    }
}

impl Reader for NpyArrays {
    fn describe(&self, n: usize) -> Result<Description> {
        let NpyArray { header, start } = self.array(n)?;
        Ok(Description::new(header.meta.clone(), header.bytes as u64, Some(*start)))
    }

    fn source(&self, n: usize, label: String) -> Result<Source> {
        let NpyArray { header, start } = self.array(n)?;
        Source::stored(header.meta.clone(), Arc::clone(&self.file), *start, label)
    }
}

#[derive(Debug)]
pub(crate) struct PlainReader {
    pub(crate) meta: Meta,
    /// Where the items begin in the file.
    pub(crate) start: u64,
    /// Bytes of the items in the file.
    pub(crate) stored: u64,
    pub(crate) items: PlainItems,
}

pub(crate) enum PlainItems {
    /// Read from this byte.
    Bytes(Arc<dyn ReadAt>, u64),
    /// The first reader takes the stream.
    Stream(Mutex<Option<Box<dyn Read + Send>>>),
}

impl PlainItems {
    pub(crate) fn stream(stream: impl Read + Send + 'static) -> Self {
        Self::Stream(Mutex::new(Some(Box::new(stream))))
    }
}

impl fmt::Debug for PlainItems {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Bytes(bytes, _) => bytes.fmt(f),
            Self::Stream(_) => f.write_str("a stream"),
        }
    }
}

impl Reader for PlainReader {
    fn describe(&self, _: usize) -> Result<Description> {
        Ok(Description::new(self.meta.clone(), self.stored, Some(self.start)))
    }

    fn source(&self, _: usize, label: String) -> Result<Source> {
        let meta = self.meta.clone();
        match &self.items {
            PlainItems::Bytes(bytes, at) => Source::stored(meta, Arc::clone(bytes), *at, label),
            PlainItems::Stream(stream) => {
                let stream = locked(stream).take().ok_or_else(|| malformed!("can be read only once"))?;
                let bytes = meta.bytes() as u64;
                Ok(Source::stream(meta, stream, bytes, label))
            }
        }
    }
}

/// Checked rows for the end of a `.npy`, which are appended in place, without moving an item.
///
/// A killed process leaves the old or the new content: a tab replaces a blank of the header's padding, the rows are
/// written and synced, the dims change in one synced write (see [`HeaderEdit`]), and a blank replaces
/// the tab.
///
/// The tab marks an unfinished append, whose bytes the next append drops; without it, extra bytes are refused as
/// damage. A sync of the tab alone would add half to the cost of a small append, so a loss of power may leave extra
/// bytes without a tab.
#[derive(Debug)]
pub struct Append<'a> {
    label: &'a str,
    file: &'a File,
    start: u64,
    end: u64,
    header: HeaderEdit<'a>,
    rows: Job,
    plan: Plan,
}

impl<'a> Append<'a> {
    /// Prepares to append rows, in the order of storage, to an open and locked `.npy`, which then has `shape`.
    ///
    /// # Errors
    /// The header has no room ([`ErrorKind::Unsupported`]), or reading fails.
    pub fn prepare(data: &'a Source, shape: &[usize], rows: Box<dyn Fill>, limits: Limits) -> Result<Self> {
        let label = data.label();
        let no_room = || Error::from_kind(ErrorKind::Unsupported, "its header has no room").within(label);
        let (file, start) = data.as_local_file().ok_or_else(no_room)?;
        let mut mark = [0];
        read_at(file, &mut mark, start - 2).context(label)?;
        if ![b' ', GROWING].contains(&mark[0]) {
            return Err(no_room());
        }
        let header = HeaderEdit::prepare_growing(data, shape, data.meta().order)?;
        let (end, mut rows) = (start + data.bytes() as u64, Job::new(rows, limits));
        let plan = rows.plan(sink(end));
        rows.begin(&plan)?;
        Ok(Self { label, file, start, end, header, rows, plan })
    }

    /// Returns the bytes of the rows.
    pub fn bytes(&self) -> usize {
        self.rows.meta().bytes()
    }

    /// Returns how many header bytes change.
    pub fn changed_bytes(&self) -> usize {
        self.header.changed_bytes()
    }

    pub fn explain(&self) -> Explanation {
        let mut explanation = self.rows.planners().explain(sink(self.end));
        // two marks, and the header between them
        explanation.cost.calls +=
            Calls { writes: 3, bytes_written: 2 + self.changed_bytes() as u64, ..Calls::default() };
        explanation
    }

    /// Appends the rows and syncs the file.
    ///
    /// # Errors
    /// Reading or writing fails; the file then reads as before.
    pub fn write(&self, progress: Progress<'_>) -> Result<()> {
        signals::survive_size_limit();
        let written = self.mark(GROWING).and_then(|()| self.put(progress));
        if written.is_err() {
            let _ = self.file.set_len(self.end);
        }
        let unmarked = self.mark(b' ');
        written.map_err(|error| error.needing(|| format!("the appended items need {} bytes", self.bytes())))?;
        unmarked
    }

    fn put(&self, progress: Progress<'_>) -> Result<()> {
        let context = || failed(self.label);
        self.file.set_len(self.end).with_context(context)?;
        self.rows.run_all(&self.plan, &FileSink::new(self.file, self.end, self.rows.meta(), self.label), progress)?;
        self.file.sync_data().with_context(context)?;
        self.header.write()?;
        self.file.sync_data().with_context(context)
    }

    fn mark(&self, byte: u8) -> Result<()> {
        write_at(self.file, &[byte], self.start - 2).with_context(|| failed(self.label))
    }
}

fn sink(end: u64) -> SinkKind<'static> {
    SinkKind::File { base: Some(end), is_alone: false }
}

/// The smallest page of any system.
const PAGE: usize = 1 << 12;

/// A checked, unwritten change of the dims in a header, in place, within its padding: `numpy.save` keeps some 20 blanks
/// for a growing dim.
///
/// A killed process must not leave half a header. One call writes only the bytes that differ, within one page, since
/// systems kill a process only between the pages of a write. After a loss of power a disk sector (512 bytes or more,
/// where nearly all headers end) is old or new. A reader without the lock may see a mixture.
#[derive(Debug)]
pub struct HeaderEdit<'a> {
    file: &'a File,
    label: &'a str,
    at: Range<usize>,
    bytes: Vec<u8>,
    len: usize,
}

impl<'a> HeaderEdit<'a> {
    /// Prepares another shape and order for an open and locked `.npy`.
    ///
    /// # Errors
    /// The file is not a local `.npy`, or its dims have no room or span pages ([`ErrorKind::Unsupported`]).
    pub fn prepare(source: &'a Source, shape: &[usize], order: Order) -> Result<Self> {
        Self::of(source, shape, order, false)
    }

    /// Prepares the same during an append.
    ///
    /// # Errors
    /// The header cannot change, or reading fails.
    pub fn prepare_growing(source: &'a Source, shape: &[usize], order: Order) -> Result<Self> {
        Self::of(source, shape, order, true)
    }

    fn of(source: &'a Source, shape: &[usize], order: Order, growing: bool) -> Result<Self> {
        let label = source.label();
        let refuse = |message: String| Err(Error::from_kind(ErrorKind::Unsupported, message).within(label));
        if source.container().is_some() {
            return refuse(
                "is one of several arrays in its file, and only the header of a single one is changed".to_owned(),
            );
        }
        let Some((file, start)) = source.as_local_file() else {
            return refuse("only the header of a local file can be changed".to_owned());
        };
        let mut old = vec![0; usize::try_from(start)?];
        read_at(file, &mut old, 0).context(label)?;
        if growing && let [.., last, _] = &mut old[..] {
            *last = GROWING;
        }
        let Some(new) = header_in_place(&old, shape, order).context(label)? else {
            return refuse(format!("its header of {} bytes has no room for shape {shape:?}", old.len()));
        };
        let differs = |(old, new): (&u8, &u8)| old != new;
        let at = match old.iter().zip(&new).position(differs) {
            None => 0..0,
            Some(first) => first..old.iter().zip(&new).rposition(differs).map_or(first, |last| last + 1),
        };
        if at.start / PAGE != at.end.saturating_sub(1) / PAGE {
            return refuse("the dims are on two pages of the file, which cannot be changed at once".to_owned());
        }
        Ok(Self { file, label, bytes: new[at.clone()].to_vec(), at, len: old.len() })
    }

    /// Returns the length of the header.
    pub fn header_bytes(&self) -> usize {
        self.len
    }

    /// Returns how many bytes change.
    pub fn changed_bytes(&self) -> usize {
        self.at.len()
    }

    /// Writes the header without a sync.
    ///
    /// # Errors
    /// Writing fails; the old header stays.
    pub fn write(&self) -> Result<()> {
        if self.bytes.is_empty() {
            return Ok(());
        }
        write_at(self.file, &self.bytes, self.at.start as u64)
            .with_context(|| format!("{}: cannot be written", self.label))
    }
}
