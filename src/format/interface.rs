//! What a format is to the rest: a [`Reader`] of what has been opened, and a [`Writer`], each in the format's own file.

use std::fmt::Debug;
use std::fs::File;
use std::io::Write;
use std::ops::Range;
use std::path::PathBuf;
use std::sync::Arc;

use super::content::Description;
use super::packed;
use super::values::Values;
use crate::engine::sink::Take;
use crate::error::{Error, Result, Subject};
use crate::item::dtype::DType;
use crate::item::meta::Meta;
use crate::item::tensor::Tensor;
use crate::layout::window::Window;
use crate::parallel::Threads;
use crate::storage::chunked::ChunkStyle;
use crate::storage::source::{Notes, Source};

/// How sure it is that a file is in a format, by its first bytes. The surest format is taken, and of several the first
/// in the table.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Sure {
    /// It is not.
    No,
    /// Nothing speaks against it.
    Possible,
    /// It is, if it is cut off or damaged.
    Likely,
    /// It has what marks the format.
    Certain,
}

/// What holds tensors in one format, opened: its members, and where the items of each lie. A reader does not know the name
/// of what it reads, and its errors do not say it.
///
/// A format must implement [`describe`](Self::describe), [`source`](Self::source) and
/// [`unchangeable`](Self::unchangeable). A container also implements [`names`](Self::names) and [`name`](Self::name).
/// Every other method is for the few formats that differ from its default.
pub trait Reader: Debug + Send + Sync {
    /// Returns what is known of member `n` without reading its items. Where there is one tensor, `n` is 0.
    ///
    /// # Errors
    /// The member's own header is malformed.
    fn describe(&self, n: usize) -> Result<Description>;

    /// Returns the items of member `n`, which messages call `label`.
    ///
    /// # Errors
    /// The member is malformed, as far as that shows before its items are read.
    fn source(&self, n: usize, label: String) -> Result<Source>;

    /// Returns why items cannot be changed where they lie; `None` if they can.
    fn unchangeable(&self) -> Option<Unchangeable>;

    /// Returns the names of a container's members; `None` if there is one tensor, without a name.
    fn names(&self) -> Option<Vec<&str>> {
        None
    }

    /// Returns the name of member `n`, if it has one. Callers that walk thousands of members use this and not
    /// [`names`](Self::names).
    fn name(&self, _: usize) -> Option<&str> {
        None
    }

    /// Returns the name that a single tensor carries in itself, as an ONNX TensorProto does.
    fn own_name(&self) -> Option<&str> {
        None
    }

    /// Returns the values of a text (JSON, CSV), whose dtype may depend on other operands. Errors are about `subject`.
    fn values(&self, _subject: Subject) -> Option<Result<Values<'_>>> {
        None
    }

    /// Returns whether the content is valid JSON but holds no tensor, such as a model's `config.json`.
    fn is_other(&self) -> bool {
        false
    }

    /// Returns why this file cannot be written anew, if its format has a writer that cannot make files of its kind (a Zarr
    /// store of version 2). Its items can still be changed where they lie.
    fn unwritten(&self) -> Option<Error> {
        None
    }

    /// Returns whether a member is compressed, although its format does not ask for that.
    fn is_compressed(&self) -> bool {
        false
    }

    /// Skips `rows` lines at the beginning of a CSV or TSV, which are headings.
    fn skip_rows(&mut self, _rows: usize) {}

    /// Returns whether items can be read only once, because they come from a stream.
    fn is_once(&self) -> bool {
        false
    }

    /// Returns the metadata of the file that member `n` lies in, if its format has a place for that.
    ///
    /// # Errors
    /// That file is another than this one and cannot be read.
    fn notes(&self, _: usize) -> Result<Option<Arc<Notes>>> {
        Ok(None)
    }

    /// Returns the file that member `n` lies in, if it is another than this one.
    ///
    /// # Errors
    /// That file does not exist or has no such member.
    fn elsewhere(&self, _: usize) -> Result<Option<PathBuf>> {
        Ok(None)
    }

    /// Locks the folder of member `n` for as long as its [`source`](Self::source) exists: exclusively, or, if `together`,
    /// shared with processes that change other parts. Files were locked when they were opened.
    ///
    /// # Errors
    /// The member is malformed, or locking fails.
    fn lock(&self, _: usize, _together: bool) -> Result<()> {
        Ok(())
    }
}

/// Why the items of a file cannot be changed where they lie.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Unchangeable {
    /// Check sums of them stand elsewhere in the file.
    CheckSums,
    /// They are a field of a message.
    Message,
    /// They are text, of no fixed length.
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
    pub notes: bool,
    /// Items can be compressed on request.
    pub compression: bool,
    /// Tensors are cut into chunks.
    pub chunks: bool,
}

impl Capabilities {
    /// What a plain format can do: little-endian items in C order, and nothing beside them.
    pub const NONE: Self =
        Self { byte_orders: false, fortran_order: false, notes: false, compression: false, chunks: false };
}

/// Writes tensors in one format.
pub trait Writer: Debug + Send + Sync {
    /// Checks whether the format can hold items of a dtype.
    ///
    /// # Errors
    /// It cannot; the error is about [`Subject::Dtype`] or [`Subject::Output`].
    fn check(&self, dtype: &DType) -> Result<()>;

    /// Returns a dtype as the format stores it, which is little-endian if the format has no byte orders.
    fn dtype(&self, dtype: &DType) -> DType {
        dtype.clone()
    }

    /// Returns how tensors are laid out in a file. Each comes with its name, which is empty if it has none. A container
    /// takes any number of tensors, every other format one. What the format has no place for in `extras` is left out.
    ///
    /// # Errors
    /// [`check`](Self::check) refuses a dtype; the format cannot have a name; there are more tensors or bytes than a file
    /// can have.
    fn layout(&self, tensors: &[(&str, &Meta)], extras: &Extras) -> Result<Layout>;
}

/// What is asked for of a file beside its tensors.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Extras {
    /// What it says of itself.
    pub notes: Notes,
    /// Whether it is compressed.
    pub compress: bool,
    /// The places of each axis in a chunk, and in a file of chunks.
    pub chunks: Option<Vec<usize>>,
    pub shards: Option<Vec<usize>>,
    /// What packs chunks.
    pub codec: Option<String>,
    /// Whether one tensor that has a name is a member all the same, where it could be all there is.
    pub is_group: bool,
    /// For each tensor how its data is stored, if that is in chunks.
    pub styles: Vec<Option<Arc<ChunkStyle>>>,
    /// Whether the items of chunks that are not there mean the same in the output.
    pub keeps_fill: bool,
}

/// How tensors come into a file.
#[derive(Debug)]
pub enum Layout {
    /// By position: every item has a place that is known beforehand.
    Places(Places),
    /// One tensor from front to back, when all of it is in memory: no item has a place before those before it are
    /// written.
    Whole(&'static dyn WriteWhole),
    /// One tensor after the other: where one ends is known only when it is written.
    Sequence(Box<dyn WriteSequence>),
    /// In a folder: each box of items in a file of its own.
    Chunks(Box<dyn WriteChunks>),
}

/// Where everything goes in a binary file.
#[derive(Debug)]
pub struct Places {
    /// The first bytes of the file.
    pub header: Vec<u8>,
    /// Of each tensor, where its items begin and how they lie there.
    pub tensors: Vec<Place>,
    /// The bytes of the file.
    pub bytes: u64,
    /// What completes a file in which all items are in their places; it may stand before them.
    pub seal: Option<Box<dyn Seal>>,
}

/// Where the items of a tensor go.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Place {
    /// In bytes from the beginning of the file.
    pub start: u64,
    /// The bytes of all items.
    pub bytes: u64,
    /// The bits of an item, if several items share a byte.
    pub packed: Option<u32>,
}

impl Places {
    /// Items that begin at `starts` after a header, each of a number of bytes of its own.
    pub(crate) fn bytewise(header: Vec<u8>, starts: Vec<u64>, tensors: &[(&str, &Meta)]) -> Self {
        let place =
            |(start, (_, meta)): (u64, &(&str, &Meta))| Place { start, bytes: meta.bytes() as u64, packed: None };
        Self::new(header, starts.into_iter().zip(tensors).map(place).collect())
    }

    /// The same in a format that packs items of fewer than 8 bits.
    pub(crate) fn packed(header: Vec<u8>, starts: Vec<u64>, tensors: &[(&str, &Meta)]) -> Self {
        let place = |(start, (_, meta)): (u64, &(&str, &Meta))| {
            let packed = Some(packed::bits(&meta.dtype)).filter(|bits| *bits < 8);
            Place { start, bytes: packed::bytes_of_items(&meta.dtype, meta.items()), packed }
        };
        Self::new(header, starts.into_iter().zip(tensors).map(place).collect())
    }

    fn new(header: Vec<u8>, tensors: Vec<Place>) -> Self {
        let end = tensors.iter().map(|place| place.start + place.bytes).max();
        Self { bytes: end.unwrap_or(header.len() as u64), header, tensors, seal: None }
    }
}

/// How a tensor that is in memory is written from front to back.
pub trait WriteWhole: Debug + Send + Sync {
    /// The places of each axis whose items are written, as ascending ranges; `None` for all. What is left out is not
    /// even read, so that a look at a large file costs what is looked at.
    fn places(&self, _meta: &Meta, _options: &TextOptions) -> Option<Vec<Vec<Range<usize>>>> {
        None
    }

    /// Writes a tensor of that name and those dims, of which `items` are those at its [`places`](Self::places).
    ///
    /// # Errors
    /// Items that the format cannot hold; of the kind [`Io`](crate::error::ErrorKind::Io) those of `out`.
    fn write_whole(
        &self,
        out: &mut dyn Write,
        named: (&str, &Meta),
        items: &Tensor,
        options: &TextOptions,
    ) -> Result<()>;
}

/// How tensors are written of which none has a place before those before it are written, such as what is compressed.
pub trait WriteSequence: Debug + Send + Sync {
    /// Writes them to an empty file, which is open for reading and writing; `items` hands over those of tensor number
    /// `n`, in C order, and is called once for each in their order.
    ///
    /// # Errors
    /// Of `items`, and of writing.
    fn write_sequence(&self, file: &File, items: &mut Items<'_>) -> Result<()>;
}

/// How tensors are written of which each box has a file of its own.
pub trait WriteChunks: Debug + Send + Sync {
    /// The places of each axis of tensor number `n` in a file.
    fn unit(&self, n: usize) -> &[usize];

    /// The file of a box of tensor number `n`, from the folder on.
    fn key(&self, n: usize, window: &Window) -> String;

    /// The bytes of that file, where these are the items of the box.
    ///
    /// # Errors
    /// Not enough memory.
    fn pack(&self, n: usize, window: &Window, items: &[u8]) -> Result<Vec<u8>>;

    /// Whether those bytes are the items as they are.
    fn holds_as_they_are(&self, n: usize, window: &Window) -> bool;

    /// Whether a tensor that is stored so has the same files for the same items.
    fn packs_as(&self, n: usize, style: &ChunkStyle) -> bool;

    /// The files that are written when all boxes are, in that order.
    ///
    /// # Errors
    /// What cannot be said of a tensor.
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

impl Default for TextOptions {
    fn default() -> Self {
        Self { threshold: None, edgeitems: 3, linewidth: 75, precision: None }
    }
}

/// Hands the items of a tensor, which is told by its number, to whoever takes them.
pub type Items<'a> = dyn FnMut(usize, &mut Take<'_>) -> Result<()> + 'a;

/// What is written when all items are, such as their check sums.
pub trait Seal: Debug + Send + Sync {
    /// Completes the file, which is open for reading and writing; `threads` may share the work.
    ///
    /// # Errors
    /// Of reading and writing.
    fn seal(&self, file: &File, threads: Threads) -> Result<()>;
}
