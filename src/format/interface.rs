//! What a format is to the rest of the program: a [`Reader`] of something that is open, and a [`Writer`], both in the
//! format's own file.

use std::fmt::Debug;
use std::fs::File;
use std::io::{Read, Write};
use std::ops::Range;
use std::sync::Arc;

use super::content::{Description, FileFacts, MemberFile};
use super::index_faults::IndexFaults;
use super::packed;
use super::sides::{SidesRule, TensorSides};
use super::values::delimiter::TableOptions;
use super::values::{self, Values};
use crate::engine::sink::{Take, Written};
use crate::error::{Error, ErrorKind, Result, Subject};
use crate::item::dtype::DType;
use crate::item::meta::Meta;
use crate::item::tensor::Tensor;
use crate::layout::window::Window;
use crate::storage::attachments::Attachments;
use crate::storage::chunked::{ChunkStyle, Stays};
use crate::storage::source::{Container, Metadata, Source};
use crate::storage::unread::UnreadArray;

/// How sure it is, from its first bytes, that a file is in a format. The surest format is taken; of several, the first
/// in the table.
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
    /// Returns how sure it is of a format whose files all have marks, if a file has them or not.
    pub(super) fn certain_if(has_marks: bool) -> Self {
        if has_marks { Self::Certain } else { Self::No }
    }
}

/// What holds tensors in one format, opened: its members, and where the items of each lie. A reader does not know the name
/// of what it reads, and its errors do not say it.
///
/// A format must implement [`source`](Self::source), and [`describe`](Self::describe) unless it has to read all items for
/// that. A container also implements [`names`](Self::names). Every other method is for the few formats that differ from
/// its default.
pub trait Reader: Debug + Send + Sync {
    /// Returns what is known of member `n` without reading its items. Where there is one tensor, `n` is 0.
    ///
    /// # Errors
    /// The member's own header is malformed.
    fn describe(&self, n: usize) -> Result<Description> {
        Ok(Description::from_source(&self.source(n, String::new())?))
    }

    /// Returns the items of member `n`, which messages call `label`.
    ///
    /// # Errors
    /// The member is malformed, as far as that shows before its items are read.
    fn source(&self, n: usize, label: String) -> Result<Source>;

    /// Returns the names of a container's members; `None` if there is one tensor, without a name.
    fn names(&self) -> Option<&[String]> {
        None
    }

    /// Returns the number of the member that the whole is, too: of an array of Zarr in which others lie. It is meant where none
    /// is named.
    fn itself(&self) -> Option<usize> {
        None
    }

    /// Returns what is known of the whole, beside its tensors.
    fn facts(&self) -> FileFacts<'_> {
        FileFacts::default()
    }

    /// Returns the container that this is, as each of its tensors knows it; `None` if it holds one tensor, or names other files.
    fn container(&self) -> Option<&Arc<Container>> {
        None
    }

    /// Returns the content of a container that is not a tensor; `None` if a container of its format has none.
    fn attachments(&self) -> Option<&Arc<dyn Attachments>> {
        self.container()?.attachments.as_ref()
    }

    /// Returns the text that this is; `None` if its dtype does not depend on other operands.
    fn text(&self) -> Option<&dyn TextReader> {
        None
    }

    /// Returns what is known of the file that member `n` lies in.
    ///
    /// # Errors
    /// That file is another than this one, and does not exist, cannot be read or has no such member.
    fn file_of(&self, _: usize) -> Result<MemberFile> {
        Ok(MemberFile::default())
    }

    /// Returns a number for the file that holds member `n`. It differs between the files of an index or a folder.
    fn file_number(&self, _: usize) -> usize {
        0
    }

    /// Returns the bytes of member `n` as they lie in the file, whether it can be read or not, if they have a place of their
    /// own.
    fn raw(&self, _: usize) -> Option<Box<dyn Read>> {
        None
    }

    /// Returns member `n` as it is stored, to be copied unread, if it is an array of a store that cannot be read because a dtype,
    /// a codec or something else of it is not known.
    ///
    /// # Errors
    /// Its values cannot be listed.
    fn unread(&self, _: usize) -> Result<Option<UnreadArray>> {
        Ok(None)
    }

    /// Returns what the name of member `n` begins with, before a colon, if that is the name of its file in a folder.
    fn file_stem(&self, _: usize) -> Option<&str> {
        None
    }

    /// Returns what an index does not say rightly, as far as the shards tell that have been opened.
    fn index_faults(&self) -> IndexFaults {
        IndexFaults::default()
    }

    /// Locks the folder of member `n` for as long as its [`source`](Self::source) exists: exclusively, or, if `together`,
    /// shared with processes that change other parts. Files were locked when they were opened.
    ///
    /// # Errors
    /// The member is malformed, or locking fails.
    fn lock(&self, _: usize, _shared: bool) -> Result<()> {
        Ok(())
    }
}

/// A text that is open (JSON, CSV), whose dtype may depend on other operands.
pub trait TextReader {
    /// Returns the values of the text. Errors are about `subject`.
    ///
    /// # Errors
    /// The text is malformed, as far as that shows before its items are read.
    fn values(&self, subject: Subject) -> Result<Values<'_>>;

    /// Returns whether the text is valid JSON but holds no tensor, such as a model's `config.json`.
    fn is_other(&self) -> bool {
        false
    }
}

impl<T: TextReader + Debug + Send + Sync> Reader for T {
    fn text(&self) -> Option<&dyn TextReader> {
        Some(self)
    }

    fn source(&self, _: usize, label: String) -> Result<Source> {
        // it is not known here which operand this is
        values::source(self.values(Subject::Data), label)
    }
}

/// Why the items of a file cannot be changed where they lie.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Unchangeable {
    /// The file has checksums of them elsewhere.
    CheckSums,
    /// They are a field of a message.
    Message,
    /// They are text, whose length varies.
    Text,
}

/// What a file in a format can hold beside its tensors, and how these may be stored: a constant of the format's row.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Capabilities {
    /// Items may have their highest byte first.
    pub byte_orders: bool,
    /// Items may be in Fortran order.
    pub fortran_order: bool,
    /// A file can hold metadata.
    pub metadata: bool,
    /// Items can be compressed on request.
    pub compression: bool,
    /// Tensors are cut into chunks.
    pub chunks: bool,
    /// Items of fewer than 8 bits share bytes on request.
    pub packing: bool,
}

impl Capabilities {
    /// What a plain format can do: little-endian items in C order, and nothing beside them.
    pub const NONE: Self = Self {
        byte_orders: false,
        fortran_order: false,
        metadata: false,
        compression: false,
        chunks: false,
        packing: false,
    };
}

/// The tensor that a reader finds where a writer of its format has written one.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ReadsBack {
    /// The same tensor, or one that a comparison takes for the same.
    Same,
    /// A tensor of another dtype or shape.
    As(Meta),
    /// Strings of code points, whose width is that of the longest string.
    AsWideAsLongest,
}

impl ReadsBack {
    /// Compares a written tensor with the one that is read.
    pub(super) fn of(written: &Meta, read: Meta) -> Self {
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

    /// Returns the tensor that a reader with these options finds in the place of a written one. By default it is the same.
    fn reads_back(&self, _: &Meta, _: &TableOptions) -> ReadsBack {
        ReadsBack::Same
    }

    /// Returns how tensors are laid out in a file. Each comes with its name, which is empty if it has none. A container takes any
    /// number of tensors, every other format one. A writer ignores the options that its format has no place for.
    ///
    /// # Errors
    /// [`check`](Self::check) refuses a dtype; the format cannot have a name; there are more tensors or bytes than a file
    /// can have.
    fn layout(
        &self,
        tensors: &[(&str, &Meta)],
        options: &FileOptions,
        inherited: &Inherited,
        chunks: &ResolvedChunks,
    ) -> Result<Layout>;
}

/// What a user asks of a file beside its tensors, and of how it stores them.
#[derive(Clone, Debug, Default)]
pub struct FileOptions {
    /// Metadata, which replaces inherited metadata of the same keys.
    pub metadata: Metadata,
    /// Whether inherited metadata is left out.
    pub drops_metadata: bool,
    /// Whether items are compressed.
    pub compress: bool,
    /// Whether items of fewer than 8 bits share bytes.
    pub packed: bool,
    /// The places of axes in a chunk, and in a shard.
    pub chunks: Vec<SidesRule>,
    pub shards: Vec<SidesRule>,
    /// The codec that compresses chunks, as [`ChunkCodec`](super::chunk_codec::ChunkCodec) is written.
    pub codec: Option<String>,
    /// The names of the axes.
    pub dimension_names: Option<Vec<String>>,
    /// Whether chunks are stored that hold only the fill value.
    pub stores_empty: bool,
    /// Whether a single tensor with a name becomes a member of a group instead of the whole store.
    pub is_group: bool,
}

/// What a file takes over from the files of its inputs, beside the tensors.
#[derive(Clone, Debug, Default)]
pub struct Inherited {
    pub metadata: Metadata,
    /// The arrays of stores that are copied unread.
    pub copies: Vec<NamedCopy>,
    /// Whether a single tensor with a name becomes a member of a group, as for [`FileOptions::is_group`].
    pub is_group: bool,
}

/// How the tensors of a store are cut into chunks, resolved from the options and from the chunks of the data.
#[derive(Clone, Debug, Default)]
pub struct ResolvedChunks {
    /// The sides that the options give to each tensor.
    pub sides: Vec<TensorSides>,
    /// How the data of each tensor is stored, if it is stored in chunks.
    pub styles: Vec<Option<Arc<ChunkStyle>>>,
    /// Whether the input and the output have the same dtypes, so that the fill value of missing chunks can stay.
    pub keeps_fill: bool,
}

impl FileOptions {
    /// Returns the metadata of the file.
    pub(super) fn metadata_with(&self, inherited: &Inherited) -> Metadata {
        let mut all = if self.drops_metadata { Metadata::default() } else { inherited.metadata.clone() };
        all.extend(self.metadata.clone());
        all
    }

    /// Checks that a format with these capabilities, called `name` in messages, has a place for every option.
    ///
    /// # Errors
    /// An option has no place; the subject of the error is its argument.
    pub(super) fn check(&self, name: &str, can: Capabilities) -> Result<()> {
        let (no_place, no_chunks) = ("has no place for it, expected a .safetensors", "has no chunks, expected a .zarr");
        let rows = [
            ("metadata", can.metadata || self.metadata.is_empty(), no_place),
            ("compress", can.compression || !self.compress, "is not compressed, expected a .npz"),
            ("packed", can.packing || !self.packed, "stores items in one way only, expected a .bin"),
            ("chunks", can.chunks || self.chunks.is_empty(), no_chunks),
            ("shards", can.chunks || self.shards.is_empty(), no_chunks),
            ("codec", can.chunks || self.codec.is_none(), no_chunks),
            ("dims", can.chunks || self.dimension_names.is_none(), "has no names of axes, expected a .zarr"),
            ("group", can.chunks || !self.is_group, "has no groups, expected a .zarr"),
            ("store-empty", can.chunks || !self.stores_empty, no_chunks),
        ];
        rows.into_iter().find(|(_, fits, _)| !fits).map_or(Ok(()), |(argument, _, refused)| {
            let message = format!("{name} {refused} as output");
            Err(Error::new(Subject::Argument(argument), message).with_kind(ErrorKind::Unsupported))
        })
    }
}

/// An array that is copied unread, and its name in the output.
#[derive(Clone, Debug)]
pub struct NamedCopy {
    pub name: String,
    pub array: UnreadArray,
}

/// How tensors are laid out in a file.
#[derive(Debug)]
pub enum Layout {
    /// By position: the place of every item is known beforehand.
    Places(Places),
    /// One tensor in memory, written from front to back: the place of an item depends on those before it.
    Whole(&'static dyn WriteWhole),
    /// One tensor after the other: the end of one is known only when it has been written.
    Sequence(Box<dyn WriteSequence>),
    /// A folder with a file for each box of items.
    Chunks(Box<dyn WriteChunks>),
}

impl Layout {
    /// Returns the bytes of the items of a tensor in the file, if they are known beforehand.
    pub(super) fn bytes(&self, tensor: usize) -> Option<u64> {
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
    /// For each tensor, where its items lie and how.
    pub tensors: Vec<ItemsPlace>,
    /// The length of the file in bytes.
    pub bytes: u64,
    /// Completes the file when all items are in their places; it may write before them. Items of such a file are not packed.
    pub seal: Option<Box<dyn Seal>>,
}

/// Where the items of a tensor go.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ItemsPlace {
    /// The byte of the file at which they begin.
    pub start: u64,
    /// The bytes of all items.
    pub bytes: u64,
    /// The bits of an item, if several items share a byte.
    pub packed: Option<u32>,
}

impl ItemsPlace {
    /// Returns the place of items that take whole bytes each, from byte `start` on.
    pub(crate) fn bytewise(start: u64, meta: &Meta) -> Self {
        Self { start, bytes: meta.bytes() as u64, packed: None }
    }

    /// Returns the place of items that begin at byte `start`; those of fewer than 8 bits are packed.
    pub(crate) fn packed(start: u64, meta: &Meta) -> Self {
        let packed = Some(packed::bits(&meta.dtype)).filter(|bits| *bits < 8);
        Self { start, bytes: packed::bytes_of_items(&meta.dtype, meta.items()), packed }
    }
}

impl Places {
    /// Lays out a file that ends with a header or with the last item.
    pub(crate) fn new(header: Vec<u8>, tensors: Vec<ItemsPlace>) -> Self {
        let end = tensors.iter().map(|place| place.start + place.bytes).max();
        Self { bytes: end.unwrap_or(header.len() as u64), header, tensors, seal: None }
    }
}

/// A tensor in memory that is written from front to back.
#[derive(Clone, Copy, Debug)]
pub struct WholeTensor<'a> {
    /// Its name, which is empty if it has none.
    pub name: &'a str,
    /// The number of places on each axis of all of it.
    pub shape: &'a [usize],
    /// Its items, or those at its [`places`](WriteWhole::places).
    pub items: &'a Tensor,
}

/// Writes a tensor in memory from front to back.
pub trait WriteWhole: Debug + Send + Sync {
    /// Returns the places of each axis whose items are written, as ascending ranges; `None` for all. Other items are
    /// not read, so that a look at a large file costs no more than what it shows.
    fn places(&self, _meta: &Meta, _options: &TextOptions) -> Option<Vec<Vec<Range<usize>>>> {
        None
    }

    /// Writes a tensor.
    ///
    /// # Errors
    /// The format cannot hold an item; an error of the kind [`Io`](crate::error::ErrorKind::Io) comes from `out`.
    fn write_whole(&self, out: &mut dyn Write, tensor: WholeTensor<'_>, options: &TextOptions) -> Result<()>;
}

/// Writes tensors one after the other, because the place of one depends on the bytes of those before it (compressed
/// data).
pub trait WriteSequence: Debug + Send + Sync {
    /// Writes them to an empty file, which is open for reading and writing. It calls `items` once for each tensor
    /// number, in ascending order, for the items in C order.
    ///
    /// # Errors
    /// Writing fails, or `items` does.
    fn write_sequence(&self, file: &File, items: &mut Items<'_>) -> Result<()>;
}

/// Writes each box of a tensor to a file of its own.
pub trait WriteChunks: Debug + Send + Sync {
    /// Returns how tensor `n` is stored. A unit of it is a file, which may hold several chunks.
    fn style(&self, n: usize) -> &ChunkStyle;

    /// Returns the path of the file of a box of tensor `n` in the folder.
    fn key(&self, n: usize, window: &Window) -> String;

    /// Returns the bytes of the file of a box with these items; `None` if there is none, because no chunk of the box is
    /// stored: those that hold only the fill value are not, unless `stays` says so.
    ///
    /// # Errors
    /// There is not enough memory.
    fn pack(&self, n: usize, window: &Window, items: &[u8], stays: &Stays<'_>) -> Result<Option<Vec<u8>>>;

    /// Returns whether chunks that hold only the fill value are stored as all others are.
    fn stores_empty(&self) -> bool;

    /// Returns whether the bytes of that file are the items as they are.
    fn holds_as_they_are(&self, n: usize, window: &Window) -> bool;

    /// Returns the arrays that are copied unread, by the prefixes that they have in the folder.
    fn copies(&self) -> &[NamedCopy];

    /// Returns the files that are written after all boxes and copies, in their order.
    ///
    /// # Errors
    /// The metadata of a tensor cannot be written.
    fn seal(&self) -> Result<Vec<(String, Vec<u8>)>>;
}

/// How a tensor is printed; the names are those of `numpy.set_printoptions`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TextOptions {
    /// Tensors of more items are elided; `None` elides none.
    pub threshold: Option<usize>,
    /// How many items an elided axis keeps at either end.
    pub edgeitems: usize,
    /// How many characters a line may have.
    pub linewidth: usize,
    /// The most digits after a float's point (as under `floatmode="maxprec"`); `None` for as many as read back to the
    /// same float. As in NumPy, a tensor of rank 0 ignores it.
    pub precision: Option<usize>,
}

#[cfg(feature = "cli")]
impl TextOptions {
    /// The number of items above which NumPy elides the middle of an array, unless it is told another.
    pub(crate) const NUMPY_THRESHOLD: usize = 1000;
}

impl Default for TextOptions {
    fn default() -> Self {
        Self { threshold: None, edgeitems: 3, linewidth: 75, precision: None }
    }
}

/// A function that gives the items of a tensor, by its number, to a receiver.
pub type Items<'a> = dyn FnMut(usize, &mut Take<'_>) -> Result<()> + 'a;

/// Writes what can only be written after all items, such as their checksums.
pub trait Seal: Debug + Send + Sync {
    /// Begins with a file to which no item has been written.
    fn begin(&self) -> Box<dyn BegunSeal + '_>;
}

/// A [`Seal`] that is shown the items of all tensors as they are written.
pub trait BegunSeal: Written {
    /// Completes the file, to which all items have been written.
    ///
    /// # Errors
    /// Writing fails; not enough memory.
    fn finish(&self, file: &File) -> Result<()>;
}
