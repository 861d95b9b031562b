//! Files of tensors for users of the library: opened to be described and read in parts, and changed in place.

use std::collections::BTreeMap;
use std::path::Path;
use std::sync::Arc;

use super::collection;
use super::dims::slices_of;
use super::interface::Unchangeable;
use super::located::Located;
#[cfg(feature = "cli")]
use super::onnx::Proto;
use super::open::{Input, OpenOptions};
use super::table::Format;
use super::write::{self, OutputTensor};
use crate::error::{Context, Error, ErrorKind, Result, Subject};
use crate::format::name_filter::NameFilter;
use crate::item::dtype::DType;
use crate::item::meta::Order;
use crate::item::tensor::Tensor;
use crate::layout::window::Window;
use crate::memory;
use crate::ops::call::{Call, Operands};
use crate::ops::fill::{Fill, Limits, Region, Scratch};
use crate::ops::selection::Selection;
use crate::ops::slice::SliceArgs;
use crate::parallel::Threads;
use crate::storage::conversion::Conversion;
use crate::storage::read_at::MemoryBytes;
#[cfg(feature = "cli")]
use crate::storage::read_at::ReadAt;
use crate::storage::source::{Hold, Source};

/// Opens a file, a Zarr store or a folder of files to describe its tensors and to read them one by one, whole or in part.
/// Only headers are read here.
///
/// The tensors of a folder are called by the paths of their files without the endings, such as `sub/bias`, with `:` and the
/// own names of those in containers behind; a folder with one index, or one container, and no other tensor is that model.
///
/// With the feature `remote` a path may also be an address: `https://`, `http://`, `s3://BUCKET/KEY` or
/// `hf://ORG/REPO[@REVISION]/PATH`. Only what is wanted is asked of the server, and credentials come from the variables that
/// other programs read, too.
///
/// The format is recognised by the content, as [`read`](super::files::read) does it. A path such as `weights.npz:conv1`
/// opens the one tensor alone, and `weights.npz:conv*` those whose names match; a path that exists is never divided so.
///
/// ```
/// # let folder = tempfile::tempdir().unwrap();
/// # let path = folder.path().join("w.safetensors");
/// # let w = tensorop::Tensor::from(&ndarray::array![[0_i16, 1, 2], [3, 4, 5]]);
/// # tensorop::write_all(&path, [("conv1", &w), ("bias", &w)])?;
/// let weights = tensorop::open(&path)?;
/// for name in weights.names() {
///     let info = weights.info(name)?;
///     println!("{name}: {} {:?}", info.dtype, info.shape);
/// }
/// let whole = weights.read("conv1")?;
/// let last_column = weights.read_slice("conv1", &":, -1:".parse()?)?;
/// assert_eq!((whole.items(), last_column.to_array::<i16>()?), (6, ndarray::array![[2], [5]].into_dyn()));
/// # Ok::<(), tensorop::Error>(())
/// ```
///
/// # Errors
/// There is no such file, which is [`ErrorKind::Io`]; the content is in no known format, or damaged; the path names a tensor
/// that is not there, which is [`ErrorKind::Member`]. All errors name the file.
pub fn open(path: impl AsRef<Path>) -> Result<Opened> {
    let located = Located::from_path(path.as_ref());
    Opened::new(collection::open(&OpenOptions::new(located.without_secrets()), &located, NameFilter::default())?)
}

/// Opens the bytes of a file that are in memory, as [`open`] does it. Nothing is written to a disk.
///
/// ```
/// # let tensor = tensorop::Tensor::from(&ndarray::array![1_u8, 2]);
/// let bytes = tensorop::WriteOptions::new().format(tensorop::Format::NPY).to_bytes(&tensor)?;
/// assert_eq!(tensorop::open_bytes(bytes)?.read(None)?, tensor);
/// # Ok::<(), tensorop::Error>(())
/// ```
///
/// # Errors
/// Those of [`open`]. Messages call the bytes `bytes`. An index of other files, and an ONNX tensor whose items lie in
/// another file, need a path.
pub fn open_bytes(bytes: impl Into<Vec<u8>>) -> Result<Opened> {
    Opened::new(OpenOptions::new("bytes").open_bytes(Arc::new(MemoryBytes::new(bytes)))?)
}

/// Describes all tensors of a file without reading their items, as `tensorop info` does.
///
/// ```
/// # let folder = tempfile::tempdir().unwrap();
/// # let path = folder.path().join("w.npy");
/// # tensorop::write(&path, &tensorop::Tensor::from(&ndarray::array![[1_f32, 2.0]]))?;
/// for info in tensorop::describe(&path)? {
///     println!("{} {} {:?}: {} bytes at {:?}", info.name, info.dtype, info.shape, info.bytes, info.offset);
/// #   assert_eq!((info.bytes, info.offset), (8, Some(128)));
/// }
/// # Ok::<(), tensorop::Error>(())
/// ```
///
/// # Errors
/// Those of [`open`], and a tensor whose own header is damaged.
pub fn describe(path: impl AsRef<Path>) -> Result<Vec<TensorInfo>> {
    let opened = open(path)?;
    opened.members.iter().map(|(n, name)| opened.describe(*n, name)).collect()
}

/// Puts `updates` into a slice of a tensor in its own file. No other byte changes, and the cost is that of the slice.
///
/// The file is a `.npy`, a `.safetensors` or a Zarr store; of several tensors one is named, as in
/// `weights.safetensors:conv1`. It is locked meanwhile, so that several patches of one file are made one after the other,
/// and every check is made before the first byte changes. If the program is stopped in the middle, a part of the change has
/// been made; of a Zarr store each chunk is replaced at once.
///
/// ```
/// # let folder = tempfile::tempdir().unwrap();
/// # let path = folder.path().join("data.npy");
/// use ndarray::array;
/// use tensorop::Tensor;
/// tensorop::write(&path, &Tensor::from(&array![[1_f32, 2.0], [3.0, 4.0]]))?;
/// tensorop::patch(&path, &":, 1:".parse()?, &Tensor::from(&array![[0_f32], [0.0]]))?;
/// assert_eq!(tensorop::read(&path)?.to_array::<f32>()?, array![[1.0, 0.0], [3.0, 0.0]].into_dyn());
/// # Ok::<(), tensorop::Error>(())
/// ```
///
/// # Errors
/// Those of [`open`]; a name that no dimension has; a format whose items cannot be changed in place ([`ErrorKind::Unsupported`]); `updates` of another
/// shape than the slice ([`Subject::Updates`]), of another dtype than the data ([`Subject::Dtype`], the byte order may be
/// another one), or with a string that is longer than the data's; of reading and writing.
pub fn patch(path: impl AsRef<Path>, slices: &SliceArgs, updates: &Tensor) -> Result<()> {
    let located = Located::from_path(path.as_ref());
    let label = located.without_secrets();
    let place = || label.clone();
    let data = lock(&located, &label)?;
    let call = Call::SliceScatter(slices_of(slices, &data)?);
    let call = call.resolve(&[data.meta()], None, Some(updates.shape())).with_context(place)?;
    if Conversion::new(updates.dtype(), data.dtype()).is_none() {
        let message = format!("updates are {}, expected {}", updates.dtype().name(), data.dtype().name());
        return Err(Error::new(Subject::Dtype, message).within(label));
    }
    let updates = Source::memory(updates.cast(data.dtype()).with_context(place)?, "updates".to_owned());
    let operands = Operands { updates: Some(updates), in_place: true, ..Operands::from(data) };
    let fill = call.link(operands, Limits::default())?;
    write::edit(OutputTensor::new(fill, Limits::default()), None, &|_| {}, &|_| {})
}

/// Opens and locks the one tensor that a path names, so that it can be changed in place.
fn lock(located: &Located, label: &str) -> Result<Source> {
    let refuse = |why: &str| Err(Error::from_kind(ErrorKind::Unsupported, why).within(label));
    let options = OpenOptions { locked: true, ..OpenOptions::new(label) };
    let input = options.open(located)?;
    match input.format().unchangeable() {
        None => {}
        Some(Unchangeable::Text) => return refuse("text is not changed in place"),
        Some(Unchangeable::Message) => return refuse("an ONNX tensor is not changed in place"),
        Some(Unchangeable::CheckSums) => return refuse("an archive with check sums is not changed in place"),
    }
    let input = input.lock_chosen(&options, false)?;
    let source = input.source(input.chosen()?)?;
    if !source.is_changeable() {
        return refuse("items of fewer than 8 bits share bytes, and are not changed in place");
    }
    Ok(source)
}

/// A file of tensors that [`open`] has opened: it knows what the tensors are, and reads them when they are asked for.
///
/// Methods that take a name take `None`, too, which stands for the only tensor. That one may have no name, as in a `.npy`:
/// its name is then the empty text, or the one that ONNX stores with it.
#[derive(Debug)]
pub struct Opened {
    input: Input,
    /// The tensors that the path selects: the number and the name of each.
    members: Vec<(usize, String)>,
}

/// What a file says about one of its tensors, before any item is read.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct TensorInfo {
    /// The name, which is empty where the format has none.
    pub name: String,
    /// The format of the file.
    pub format: Format,
    /// The dtype of the items, with the byte order that they are stored in.
    pub dtype: DType,
    /// The number of places on each axis, outermost axis first.
    pub shape: Vec<usize>,
    /// The order in which the items are stored. [`Opened::read`] returns them in C order.
    pub order: Order,
    /// The bytes that the items take, before any compression.
    pub bytes: u64,
    /// The byte of the file at which the items begin. `None` if they do not lie in the file one after the other.
    pub offset: Option<u64>,
    /// The metadata of the file that the tensor lies in; empty where the format has none.
    pub metadata: Arc<BTreeMap<String, String>>,
}

impl Opened {
    fn new(input: Input) -> Result<Self> {
        let own_name = || input.reader().facts().own_name.unwrap_or_default();
        let name = |n| (n, input.name(n).unwrap_or_else(own_name).to_owned());
        let members = input.select()?.into_iter().map(name).collect();
        Ok(Self { input, members })
    }

    /// Returns the format of the file.
    pub fn format(&self) -> Format {
        self.input.format()
    }

    /// Returns the names of the tensors, in the order of the file.
    pub fn names(&self) -> impl ExactSizeIterator<Item = &str> {
        self.members.iter().map(|(_, name)| name.as_str())
    }

    /// Describes a tensor. Only headers are read, but of plain JSON and CSV the whole text, whose content decides dtype and
    /// shape.
    ///
    /// # Errors
    /// There is no tensor of that name, or several and none is named ([`ErrorKind::Member`]); the tensor's own header is
    /// damaged; of reading.
    pub fn info<'n>(&self, name: impl Into<Option<&'n str>>) -> Result<TensorInfo> {
        let (n, name) = self.member(name.into())?;
        self.describe(n, name)
    }

    /// Reads a tensor, in C order.
    ///
    /// # Errors
    /// Those of [`info`](Self::info); fewer bytes than shape and dtype need; [`ErrorKind::Memory`];
    /// [`ErrorKind::Changed`]. What came from a pipe can be read once.
    pub fn read<'n>(&self, name: impl Into<Option<&'n str>>) -> Result<Tensor> {
        load(self.source(self.member(name.into())?.0)?, Selection::whole)
    }

    /// Reads a slice of a tensor, of a Zarr store also by the names of its dimensions (`"time=2:4".parse()?`). Only the bytes that the slice needs are read, where these have a place in the file: memory
    /// is taken for the slice, for the chunks of a compressed tensor one at a time, and for a text whole.
    ///
    /// # Errors
    /// Those of [`read`](Self::read), and of [`SliceArgs::resolve`]; a name that no dimension has.
    pub fn read_slice<'n>(&self, name: impl Into<Option<&'n str>>, slices: &SliceArgs) -> Result<Tensor> {
        let source = self.source(self.member(name.into())?.0)?;
        let spans = slices_of(slices, &source)?.resolve(source.shape()).with_context(|| source.label().to_owned())?;
        load(source, |source| Selection::slice(source, &spans))
    }

    /// Reads all tensors, each with its name.
    pub(super) fn read_all(&self) -> Result<Vec<(String, Tensor)>> {
        let read = |(n, name): &(usize, String)| Ok((name.clone(), load(self.source(*n)?, Selection::whole)?));
        self.members.iter().map(read).collect()
    }

    /// Returns the number and the name of the tensor of that name, or of the only one.
    fn member(&self, name: Option<&str>) -> Result<(usize, &str)> {
        let found = match (name, &self.members[..]) {
            (Some(name), members) => members.iter().find(|(_, member)| member == name),
            (None, [only]) => Some(only),
            (None, _) => None,
        };
        match found {
            Some((n, name)) => Ok((*n, name)),
            // a tensor that the path has not selected is there all the same
            None => self.input.pick(name).map(|n| (n, self.input.name(n).unwrap_or_default())),
        }
    }

    fn describe(&self, n: usize, name: &str) -> Result<TensorInfo> {
        let found = self.input.describe(n)?;
        let file = self.input.file_of(n)?;
        Ok(TensorInfo {
            name: name.to_owned(),
            format: self.input.format_of(&file),
            dtype: found.meta.dtype,
            shape: found.meta.shape,
            order: found.meta.order,
            bytes: found.bytes,
            offset: found.offset,
            metadata: file.metadata.unwrap_or_default(),
        })
    }

    fn source(&self, n: usize) -> Result<Source> {
        self.input.source_as(n, self.input.label_of(self.input.name(n)))
    }
}

/// Reads a TensorProto that is a part of a file in `folder`, where its external data lies.
///
/// # Errors
/// The message is malformed, see [`Proto::read`]; its external data cannot be read, see [`Proto::source`].
#[cfg(feature = "cli")]
pub(crate) fn read_proto(proto: &[u8], folder: &Path) -> Result<Tensor> {
    let file: Arc<dyn ReadAt> = Arc::new(MemoryBytes::new(proto));
    load(Proto::read(&*file)?.source(&file, Some(folder), String::new())?, Selection::whole)
}

/// Reads the selected items of a source into memory, in C order.
fn load(mut source: Source, select: impl FnOnce(Source) -> Selection) -> Result<Tensor> {
    // A stream is kept first: memory is taken for its items when it is known that they are there.
    source.hold(Hold::Seekable, Threads::default())?;
    let label = source.label().to_owned();
    let selection = select(source);
    let meta = selection.meta();
    let mut bytes = memory::zeros(meta.bytes()).context(&label)?;
    selection.fill(&Region::Box(Window::whole(&meta.shape)), &mut bytes, &mut Scratch::default())?;
    selection.finish()?;
    Tensor::new(meta.dtype.clone(), meta.shape.clone(), bytes).context(label)
}
