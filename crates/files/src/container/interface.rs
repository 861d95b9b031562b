//! The interface of formats: each has a [`Reader`] of an open file, and perhaps a [`Writer`].

use std::fmt::Debug;
use std::fs::File;
use std::io::{Read, Write};
use std::ops::{Deref, Range};
use std::path::PathBuf;
use std::sync::Arc;

use super::content::{Description, IndexFaults, KnownTensor, MemberFile, QuantizedGraph};
use super::file_options::{LayoutRequest, NamedCopy};
use crate::narrow::packed;
use crate::plans::sink::{BegunSeal, Take};
use crate::storage::attachments::Attachments;
use crate::storage::chunked::{ChunkStyle, Stays};
use crate::storage::read_at::Identity;
use crate::storage::source::{Container, Source};
use crate::storage::unread::UnreadArray;
use crate::untyped::{self, Values};
use tensorop_kernels::error::{Error, Result, Subject};
use tensorop_kernels::item::dtype::DType;
use tensorop_kernels::item::meta::Meta;
use tensorop_kernels::item::tensor::Tensor;
use tensorop_kernels::layout::window::Window;

/// How likely a file is in a format, by its first bytes. Of equally likely formats the first in the table is taken.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Confidence {
    /// The file is not in the format.
    No,
    /// Nothing contradicts it.
    Possible,
    /// The file is in the format if it is cut off or damaged.
    Likely,
    /// The file has the marks of the format.
    Certain,
}

impl Confidence {
    /// The confidence in a format whose files all have marks.
    pub(crate) fn certain_if(has_marks: bool) -> Self {
        if has_marks { Self::Certain } else { Self::No }
    }
}

/// The members of an open file or store, with its other facts.
#[derive(Clone, Debug, Default)]
pub struct Members {
    /// `None` for a single tensor without a name.
    pub names: Option<Arc<Vec<String>>>,
    /// The container that the tensors refer to; `None` if the file holds one tensor, or names other files.
    pub container: Option<Arc<Container>>,
    /// The number of the container itself: a Zarr array can contain others. It is meant if no member is named.
    pub itself: Option<usize>,
    /// `None` if the format has no attachments.
    pub attachments: Option<Arc<dyn Attachments>>,
    /// Numbers of the files that hold the members, which are in an index or a folder; empty if all are in one file.
    pub file_numbers: Arc<[usize]>,
    /// The files that this one names, readable or not.
    pub files: Arc<[PathBuf]>,
    /// The name of the only tensor, as in an ONNX TensorProto.
    pub own_name: Option<String>,
    /// Why the file can be patched but not rewritten (a Zarr store of version 2).
    pub unwritten: Option<Error>,
    /// Whether a member is compressed in a format without compression.
    pub is_compressed: bool,
    /// A warning that other programs read less of the file.
    pub caution: Option<&'static str>,
    /// The text of the file; `None` if its dtype does not depend on other operands.
    pub text: Option<Arc<dyn TextReader>>,
    /// The quantised weights of a model.
    pub graph: Option<Arc<QuantizedGraph>>,
    /// Whether tensors are computed from others of the file, or have other names there, so that they cannot be written back.
    pub are_made: bool,
    /// The file, if it holds other bytes than those of the tensor, as beside a view of some.
    pub viewed: Option<Identity>,
    /// Facts that cost a search or depend on other files.
    pub later: Option<Arc<dyn ShownLater>>,
}

impl Members {
    /// Those of a file or store that holds them itself.
    pub fn of(container: Container) -> Self {
        let (names, attachments) = (Some(Arc::clone(&container.names)), container.attachments.clone());
        Self { names, attachments, container: Some(Arc::new(container)), ..Self::default() }
    }

    /// Returns the names; `None` for a single tensor without a name.
    pub fn names(&self) -> Option<&[String]> {
        self.names.as_ref().map(|names| names.as_slice()).or_else(|| self.later.as_ref()?.names())
    }

    /// Returns a number for the file that holds member `n`. Files of an index or a folder have different numbers.
    pub fn file_number(&self, n: usize) -> usize {
        self.file_numbers.get(n).copied().unwrap_or_default()
    }

    /// Returns the file name before the colon in the name of member `n` of a folder.
    pub fn file_stem(&self, n: usize) -> Option<&str> {
        let stem = self.later.as_ref()?.stem(*self.file_numbers.get(n)?)?;
        self.names.as_ref()?[n].strip_prefix(stem).filter(|rest| rest.starts_with(':')).map(|_| stem)
    }

    /// Returns the faults of an index that the shards opened so far show.
    pub fn index_faults(&self) -> IndexFaults {
        self.later.as_ref().map_or_else(IndexFaults::default, |later| later.index_faults())
    }
}

/// Facts that cost a search of a store, or change as other files are opened.
pub trait ShownLater: Debug + Send + Sync {
    /// Returns the names of a Zarr array and its nested arrays.
    fn names(&self) -> Option<&[String]> {
        None
    }

    /// Returns the path of a file in its folder without the ending.
    fn stem(&self, _file: usize) -> Option<&str> {
        None
    }

    /// Returns the faults of an index that the shards opened so far show.
    fn index_faults(&self) -> IndexFaults {
        IndexFaults::default()
    }
}

impl ShownLater for IndexFaults {
    fn index_faults(&self) -> IndexFaults {
        self.clone()
    }
}

/// The stored form of a member that may be unreadable.
#[derive(Default)]
pub struct StoredMember {
    /// The readable part of its entry.
    pub known: KnownTensor,
    /// The stored bytes, readable or not, if they are contiguous.
    pub bytes: Option<Box<dyn Read>>,
    /// The entry without the place of the bytes. Two passed-over members of a format are equal if entries and bytes are.
    /// `None` if the reader knows only some of the bytes.
    pub entry: Option<String>,
    /// Whether the reader does not know its kind. It is listed as not read, and the file has no fault.
    pub is_passed_over: bool,
    /// Returns an array of a store for an unread copy, if it cannot be read because of an unknown dtype, codec or the
    /// like.
    pub unread: Option<Box<dyn FnOnce() -> Result<Option<UnreadArray>>>>,
}

/// An open file or store: its members and their reader.
#[derive(Debug)]
pub struct ReadableFile {
    pub members: Members,
    reader: Box<dyn Reader>,
}

impl ReadableFile {
    pub(crate) fn new(members: Members, reader: impl Reader + 'static) -> Self {
        Self { members, reader: Box::new(reader) }
    }

    pub(crate) fn from_text(text: impl TextReader + 'static) -> Self {
        let text: Arc<dyn TextReader> = Arc::new(text);
        Self::new(Members { text: Some(Arc::clone(&text)), ..Members::default() }, text)
    }

    /// Returns the source of member `n`, which refers to the container.
    ///
    /// # Errors
    /// As in [`Reader::source`].
    pub fn source(&self, n: usize, label: String) -> Result<Source> {
        let source = self.reader.source(n, label)?;
        Ok(match &self.members.container {
            Some(container) => source.one_of(Arc::clone(container), n),
            None => source,
        })
    }

    /// Returns facts about the file that holds member `n`.
    ///
    /// # Errors
    /// As in [`Reader::file_of`].
    pub fn file_of(&self, n: usize) -> Result<MemberFile> {
        let file = self.reader.file_of(n)?;
        let own = || self.members.container.as_ref()?.metadata.clone();
        Ok(MemberFile { metadata: file.metadata.or_else(own), ..file })
    }
}

impl Deref for ReadableFile {
    type Target = dyn Reader;

    fn deref(&self) -> &Self::Target {
        &*self.reader
    }
}

/// Reads the members of an open file or store. It does not know the name of the file, and its errors do not contain it.
///
/// A format must implement [`source`](Self::source), and [`describe`](Self::describe) unless it has to read all items for
/// that. Every other method is for the few formats that differ from its default.
pub trait Reader: Debug + Send + Sync {
    /// Describes member `n` without reading its items. A single tensor is member 0.
    ///
    /// # Errors
    /// The header of the member is malformed.
    fn describe(&self, n: usize) -> Result<Description> {
        Ok(Description::from_source(&self.source(n, String::new())?))
    }

    /// Returns the source of member `n`, which messages call `label`.
    ///
    /// # Errors
    /// The member is malformed, as far as its header shows.
    fn source(&self, n: usize, label: String) -> Result<Source>;

    /// Returns facts about the file that holds member `n`, if it is another one.
    ///
    /// # Errors
    /// It does not exist, cannot be read or has no such member.
    fn file_of(&self, _: usize) -> Result<MemberFile> {
        Ok(MemberFile::default())
    }

    /// Returns the stored form of member `n`.
    fn stored(&self, _: usize) -> StoredMember {
        StoredMember::default()
    }

    /// Returns the source of member `n` with its rows as stored, if they are in another order.
    fn as_stored(&self, _: usize, _label: &dyn Fn() -> String) -> Option<Result<Source>> {
        None
    }

    /// Locks the folder of member `n` while its [`source`](Self::source) exists. A shared lock lets other processes
    /// change other parts. Files were locked when they were opened.
    ///
    /// # Errors
    /// The member is malformed, or locking fails.
    fn lock(&self, _: usize, _shared: bool) -> Result<()> {
        Ok(())
    }
}

/// An open text (JSON, CSV), whose dtype may depend on other operands.
pub trait TextReader: Debug + Send + Sync {
    /// Returns the values of the text. Errors are about `subject`.
    ///
    /// # Errors
    /// The text is malformed, as far as that shows before its items are read.
    fn values(&self, subject: Subject) -> Result<Values<'_>>;

    /// Whether the text is valid JSON but no tensor, such as a model's `config.json`.
    fn is_other(&self) -> bool {
        false
    }
}

impl Reader for Arc<dyn TextReader> {
    fn source(&self, _: usize, label: String) -> Result<Source> {
        // A reader does not know which operand it reads.
        untyped::source(self.values(Subject::Data), label)
    }
}

/// The operands that can be changed in place, for messages and the help.
pub const CHANGEABLE: &str = "a .npy file, a tensor of a .safetensors, .gguf, .onnx or OpenVINO file whose items are stored \
one by one, a Zarr store, or bytes of any file (FILE:DTYPE[DIMS]@OFFSET)";

/// Why the items of a file cannot be changed in place.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Unchangeable {
    /// The file is an archive that other programs check, or a stream.
    Archive,
    /// The file has checksums of the items.
    CheckSums,
    /// The items are a field of a message.
    Message,
    /// The items are text, whose length varies.
    Text,
}

/// The tensor that a reader finds in a written file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ReadsBack {
    /// The same tensor, or an equal one.
    Same,
    /// A tensor of another dtype or shape.
    As(Meta),
    /// The items decide: strings are as wide as the longest, and in a table those that look like numbers are numbers.
    ByItems,
}

impl ReadsBack {
    pub(crate) fn of(written: &Meta, read: Meta) -> Self {
        let is_same = read.dtype.native() == written.dtype.native() && read.shape == written.shape;
        if is_same { Self::Same } else { Self::As(read) }
    }
}

/// Writes tensors in one format.
pub trait Writer: Debug + Send + Sync {
    /// Checks whether the format can hold items of a dtype. By default it holds all.
    ///
    /// # Errors
    /// It cannot; the error is about [`Subject::Dtype`] or [`Subject::Output`].
    fn check(&self, _: &DType) -> Result<()> {
        Ok(())
    }

    /// The tensor that a reader finds in place of a written one. By default it is the same.
    fn reads_back(&self, _: &Meta) -> ReadsBack {
        ReadsBack::Same
    }

    /// Lays out tensors in a file. A tensor without a name has an empty one. A container takes any number of tensors,
    /// every other format one. A writer ignores options that its format has no place for.
    ///
    /// # Errors
    /// [`check`](Self::check) refuses a dtype; the format cannot have a name; a file cannot have so many tensors or
    /// bytes.
    fn layout(&self, tensors: &[(&str, &Meta)], request: &LayoutRequest<'_>) -> Result<Layout>;
}

/// The layout of tensors in a file.
#[derive(Debug)]
pub enum Layout {
    /// By position: the place of every item is known before writing.
    Places(Places),
    /// One tensor in memory, written from front to back: the place of an item depends on the items before it.
    Whole(&'static dyn WriteWhole),
    /// One tensor after the other: the end of a tensor is known when it has been written.
    Sequence(Box<dyn WriteSequence>),
    /// A folder with a file for each box of items.
    Chunks(Box<dyn WriteChunks>),
}

impl Layout {
    /// The bytes of a tensor's items in the file, if they are known before writing.
    pub(crate) fn bytes(&self, tensor: usize) -> Option<u64> {
        match self {
            Self::Places(places) => Some(places.tensors[tensor].bytes),
            Self::Whole(_) | Self::Sequence(_) | Self::Chunks(_) => None,
        }
    }
}

/// The layout of a binary file.
#[derive(Debug)]
pub struct Places {
    /// The first bytes of the file.
    pub header: Vec<u8>,
    /// The places of the items of each tensor.
    pub tensors: Vec<ItemsPlace>,
    /// The length of the file in bytes.
    pub bytes: u64,
    /// Makes the bytes before the items of each tensor and at the end of the file. The items are not packed.
    pub seal: Option<Box<dyn Seal>>,
}

/// The place of a tensor's items in a file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ItemsPlace {
    /// The offset of the first item in the file, in bytes.
    pub start: u64,
    /// The bytes of all items.
    pub bytes: u64,
    /// The bits of an item, if several items share a byte.
    pub packed: Option<u32>,
}

impl ItemsPlace {
    /// Items of whole bytes.
    pub fn bytewise(start: u64, meta: &Meta) -> Self {
        Self { start, bytes: meta.bytes() as u64, packed: None }
    }

    /// Items of fewer than 8 bits share bytes.
    pub fn packed(start: u64, meta: &Meta) -> Self {
        let packed = Some(packed::bits(&meta.dtype)).filter(|bits| *bits < 8);
        Self { start, bytes: packed::bytes_of_items(&meta.dtype, meta.items()), packed }
    }
}

impl Places {
    /// A file that ends with its header or with the last item.
    pub fn new(header: Vec<u8>, tensors: Vec<ItemsPlace>) -> Self {
        let end = tensors.iter().map(|place| place.start + place.bytes).max();
        Self { bytes: end.unwrap_or(header.len() as u64), header, tensors, seal: None }
    }
}

/// A tensor in memory that is written from front to back.
#[derive(Clone, Copy, Debug)]
pub struct WholeTensor<'a> {
    /// Its name, which is empty if it has none.
    pub name: &'a str,
    /// The shape of the whole tensor.
    pub shape: &'a [usize],
    /// Its items, or those at its [`places`](WriteWhole::places).
    pub items: &'a Tensor,
}

/// Writes a tensor in memory from front to back.
pub trait WriteWhole: Debug + Send + Sync {
    /// The places of each axis whose items are written, as ascending ranges; `None` for all. Other items are not read,
    /// so that a short view of a large file is cheap.
    fn places(&self, _meta: &Meta, _options: &TextOptions) -> Option<Vec<Vec<Range<usize>>>> {
        None
    }

    /// Writes a tensor.
    ///
    /// # Errors
    /// The format cannot hold an item; an error of the kind [`Io`](tensorop_kernels::error::ErrorKind::Io) comes from `out`.
    fn write_whole(&self, out: &mut dyn Write, tensor: WholeTensor<'_>, options: &TextOptions) -> Result<()>;
}

/// Writes tensors one after the other: compression decides where the next one begins.
pub trait WriteSequence: Debug + Send + Sync {
    /// Writes tensors to an empty file, which is open for reading and writing. It calls `items` once for each tensor
    /// number, in ascending order, for the items in C order.
    ///
    /// # Errors
    /// Writing fails, or `items` does.
    fn write_sequence(&self, file: &File, items: &mut Items<'_>) -> Result<()>;
}

/// Writes each box of a tensor to a file of its own.
pub trait WriteChunks: Debug + Send + Sync {
    /// The chunk style of tensor `n`. A unit is a file, which may hold several chunks.
    fn style(&self, n: usize) -> &ChunkStyle;

    /// The path in the folder of the file of a box of tensor `n`.
    fn key(&self, n: usize, window: &Window) -> String;

    /// Returns the bytes of the file of a box; `None` if no chunk of the box is stored. Chunks that hold only the fill
    /// value are stored only if `stays` says so.
    ///
    /// # Errors
    /// There is not enough memory.
    fn pack(&self, n: usize, window: &Window, items: &[u8], stays: &Stays<'_>) -> Result<Option<Vec<u8>>>;

    /// Whether chunks that hold only the fill value are stored.
    fn stores_empty(&self) -> bool;

    /// Whether the bytes of that file are the unpacked items.
    fn holds_as_they_are(&self, n: usize, window: &Window) -> bool;

    /// The arrays that are copied unread, with their prefixes in the folder.
    fn copies(&self) -> &[NamedCopy];

    /// Returns the files that are written after all boxes and copies, in order.
    ///
    /// # Errors
    /// The metadata of a tensor cannot be written.
    fn seal(&self) -> Result<Vec<(String, Vec<u8>)>>;
}

/// The options of printed tensors, with the names of `numpy.set_printoptions`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TextOptions {
    /// The number of items above which a tensor is elided; `None` elides none.
    pub threshold: Option<usize>,
    /// The number of items at each end of an elided axis.
    pub edgeitems: usize,
    /// The number of characters in a line.
    pub linewidth: usize,
    /// The maximum number of digits after a float's point (as under `floatmode="maxprec"`); `None` for as many as read
    /// back to the same float. As in NumPy, a tensor of rank 0 ignores it.
    pub precision: Option<usize>,
}

impl TextOptions {
    /// NumPy's default of the threshold.
    pub const NUMPY_THRESHOLD: usize = 1000;
}

impl Default for TextOptions {
    fn default() -> Self {
        Self { threshold: None, edgeitems: 3, linewidth: 75, precision: None }
    }
}

/// A function that passes the items of a tensor, given by its number, to a receiver.
pub type Items<'a> = dyn FnMut(usize, &mut Take<'_>) -> Result<()> + 'a;

/// Makes content that depends on the items, such as their checksums.
pub trait Seal: Debug + Send + Sync {
    /// Begins with a file without items.
    fn begin(&self) -> Box<dyn BegunSeal + '_>;
}
