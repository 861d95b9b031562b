//! Files of tensors for users of the library.

use std::collections::BTreeMap;
use std::path::Path;
use std::sync::Arc;

use crate::container::glob::Glob;
use crate::container::interface::Unchangeable;
use crate::container::names::{NameFilter, alike, list};
use crate::formats::onnx::Proto;
use crate::narrow::packed;
use crate::opening::collection;
use crate::opening::input::{Input, OpenOptions};
use crate::opening::located::{Located, slices_of};
use crate::opening::table::{Format, containers};
use crate::operators::call::Operands;
use crate::operators::fill::{Fill, Limits, Region, Scratch};
use crate::operators::selection::Selection;
use crate::storage::read_at::{MemoryBytes, ReadAt};
use crate::storage::source::{Hold, Source};
use crate::writing::{self, OutputTensor};
use tensorop_kernels::error::{Context, Error, ErrorKind, Result, Subject};
use tensorop_kernels::item::dtype::DType;
use tensorop_kernels::item::encoding::Conversion;
use tensorop_kernels::item::meta::Order;
use tensorop_kernels::item::tensor::Tensor;
use tensorop_kernels::layout::window::Window;
use tensorop_kernels::memory;
use tensorop_kernels::ops::call::Call;
use tensorop_kernels::ops::slice::SliceArgs;
use tensorop_kernels::parallel::Threads;

/// Opens a file, a Zarr store or a folder of files. Only headers are read.
///
/// The content decides the format. `weights.npz:conv1` opens one tensor, and `weights.npz:conv*` all matching ones;
/// an existing path is never split. Tensors of a folder are named by file, such as `sub/bias` or `sub/weights:conv1`;
/// if one index or container has them all, the folder is that model.
///
/// With the feature `remote`, a path may be an address: `https://`, `http://`, `s3://BUCKET/KEY` or
/// `hf://ORG/REPO[@REVISION]/PATH`. Credentials come from the usual environment variables.
///
/// ```
/// # let folder = tempfile::tempdir().unwrap();
/// # let path = folder.path().join("w.safetensors");
/// # let w = tensorop_files::Tensor::from(&ndarray::array![[0_i16, 1, 2], [3, 4, 5]]);
/// # tensorop_files::write_all(&path, [("conv1", &w), ("bias", &w)])?;
/// let weights = tensorop_files::open(&path)?;
/// for name in weights.names() {
///     let info = weights.info(name)?;
///     println!("{name}: {} {:?}", info.dtype, info.shape);
/// }
/// let whole = weights.read("conv1")?;
/// let last_column = weights.read_slice("conv1", &":, -1:".parse()?)?;
/// assert_eq!((whole.items(), last_column.to_array::<i16>()?), (6, ndarray::array![[2], [5]].into_dyn()));
/// # Ok::<(), tensorop_files::Error>(())
/// ```
///
/// # Errors
/// The file is missing ([`ErrorKind::Io`]), malformed or in an unknown format, or lacks the named tensor
/// ([`ErrorKind::Member`]). All errors name the file.
pub fn open(path: impl AsRef<Path>) -> Result<Opened> {
    let located = Located::from_path(path.as_ref());
    let options = OpenOptions { may_change: true, ..OpenOptions::new(located.without_secrets()) };
    Opened::new(collection::open(&options, &located, NameFilter::default())?)
}

/// Opens the bytes of a file in memory, as [`open`] does, without writing to disk.
///
/// ```
/// # let tensor = tensorop_files::Tensor::from(&ndarray::array![1_u8, 2]);
/// let bytes = tensorop_files::WriteOptions::new().format(tensorop_files::Format::NPY).to_bytes(&tensor)?;
/// assert_eq!(tensorop_files::open_bytes(bytes)?.read(None)?, tensor);
/// # Ok::<(), tensorop_files::Error>(())
/// ```
///
/// # Errors
/// The content is malformed or in an unknown format, or refers to other files.
pub fn open_bytes(bytes: impl Into<Vec<u8>>) -> Result<Opened> {
    Opened::new(OpenOptions::new("bytes").open_bytes(Arc::new(MemoryBytes::new(bytes)))?)
}

/// Describes all tensors of a file without reading items.
///
/// ```
/// # let folder = tempfile::tempdir().unwrap();
/// # let path = folder.path().join("w.npy");
/// # tensorop_files::write(&path, &tensorop_files::Tensor::from(&ndarray::array![[1_f32, 2.0]]))?;
/// for info in tensorop_files::describe(&path)? {
///     println!("{} {} {:?}: {} bytes at {:?}", info.name, info.dtype, info.shape, info.bytes, info.offset);
/// #   assert_eq!((info.bytes, info.offset), (8, Some(128)));
/// }
/// # Ok::<(), tensorop_files::Error>(())
/// ```
///
/// # Errors
/// The file cannot be opened, or a header is malformed.
pub fn describe(path: impl AsRef<Path>) -> Result<Vec<TensorInfo>> {
    let opened = open(path)?;
    opened.members.iter().map(|(n, name)| opened.describe(*n, name)).collect()
}

/// Writes `updates` to a slice of a tensor in place, at the cost of the slice.
///
/// The file is a `.npy`, a `.safetensors`, a Zarr store, or a model that can be changed in place;
/// `weights.safetensors:conv1` names one of several tensors.
/// All checks precede the first write, and concurrent patches take turns. A killed program may leave a part of the
/// change; a Zarr store replaces whole chunks.
///
/// ```
/// # let folder = tempfile::tempdir().unwrap();
/// # let path = folder.path().join("data.npy");
/// use ndarray::array;
/// use tensorop_files::Tensor;
/// tensorop_files::write(&path, &Tensor::from(&array![[1_f32, 2.0], [3.0, 4.0]]))?;
/// tensorop_files::patch(&path, &":, 1:".parse()?, &Tensor::from(&array![[0_f32], [0.0]]))?;
/// assert_eq!(tensorop_files::read(&path)?.to_array::<f32>()?, array![[1.0, 0.0], [3.0, 0.0]].into_dyn());
/// # Ok::<(), tensorop_files::Error>(())
/// ```
///
/// # Errors
/// The file cannot be read, written or changed in place ([`ErrorKind::Unsupported`]), a dimension is unknown, or
/// `updates` have the wrong shape ([`Subject::Updates`]), the wrong dtype ([`Subject::Dtype`]; the byte order may
/// differ) or too long a string.
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
    let fill = operands.link_resolved(call, Limits::default())?;
    writing::edit(OutputTensor::new(fill, Limits::default()), None, &|_| {}, &|_| {})
}

fn lock(located: &Located, label: &str) -> Result<Source> {
    let refuse = |why: &str| Err(Error::from_kind(ErrorKind::Unsupported, why).within(label));
    let options = OpenOptions { locked: true, ..OpenOptions::new(label) };
    let input = options.open(located)?;
    match input.unchangeable(input.chosen().ok()) {
        None => {}
        Some(Unchangeable::Text) => return refuse("text is not changed in place"),
        Some(Unchangeable::Message) => return refuse("an ONNX tensor is not changed in place"),
        Some(Unchangeable::Archive) => return refuse("a PyTorch file is not changed in place"),
        Some(Unchangeable::CheckSums) => return refuse("an archive with check sums is not changed in place"),
    }
    let input = input.lock_chosen(&options, false)?;
    let source = input.source(input.chosen()?)?;
    if let Some(blocks) = input.describe(input.chosen()?)?.blocks {
        return refuse(&format!("items of {} are not changed in place: their blocks share scales", blocks.name));
    }
    if !source.is_changeable() {
        return refuse(&format!("{} are not changed in place", packed::unchangeable_items(&source)));
    }
    Ok(source)
}

/// An open file of tensors, read on demand. `None` names the only tensor. A tensor without a name has the empty name,
/// or the one that ONNX stores.
#[derive(Debug)]
pub struct Opened {
    input: Input,
    members: Vec<(usize, String)>,
}

/// A tensor as its header describes it.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct TensorInfo {
    /// Empty if the format has no names.
    pub name: String,
    /// The format of the file.
    pub format: Format,
    /// With the stored byte order.
    pub dtype: DType,
    /// Outermost axis first.
    pub shape: Vec<usize>,
    /// The stored order; [`Opened::read`] returns C order.
    pub order: Order,
    /// The name of the rule that makes float32s of blocks, such as `q4_K`; `None` if items are stored one by one.
    pub blocks: Option<&'static str>,
    /// Uncompressed bytes of the items.
    pub bytes: u64,
    /// The byte of the file where the items begin; `None` if they are not contiguous.
    pub offset: Option<u64>,
    /// The metadata of the file, and what it says of itself beside.
    pub metadata: Arc<BTreeMap<String, String>>,
}

impl Opened {
    fn new(input: Input) -> Result<Self> {
        let own_name = || input.members().own_name.as_deref().unwrap_or_default();
        let name = |n| (n, input.name(n).unwrap_or_else(own_name).to_owned());
        let members = input.select()?.into_iter().map(name).collect();
        Ok(Self { input, members })
    }

    /// Returns the format of the file.
    pub fn format(&self) -> Format {
        self.input.format()
    }

    /// Returns the names of the tensors in file order.
    pub fn names(&self) -> impl ExactSizeIterator<Item = &str> {
        self.members.iter().map(|(_, name)| name.as_str())
    }

    /// Describes a tensor; plain JSON and CSV are read whole.
    ///
    /// # Errors
    /// The name is unknown or required ([`ErrorKind::Member`]), or the header is malformed or unreadable.
    pub fn info<'n>(&self, name: impl Into<Option<&'n str>>) -> Result<TensorInfo> {
        let (n, name) = self.member(name.into())?;
        self.describe(n, name)
    }

    /// Reads a tensor in C order. A pipe can be read once.
    ///
    /// # Errors
    /// The name is unknown ([`ErrorKind::Member`]), the file is malformed, unreadable or changed
    /// ([`ErrorKind::Changed`]), or memory is short ([`ErrorKind::Memory`]).
    pub fn read<'n>(&self, name: impl Into<Option<&'n str>>) -> Result<Tensor> {
        load(self.source(self.member(name.into())?.0)?, Selection::whole)
    }

    /// Reads a slice of a tensor, in a Zarr store also by dimension names (`"time=2:4".parse()?`). Only the needed
    /// bytes are read, except from text.
    ///
    /// # Errors
    /// The slice does not fit the tensor, or reading fails.
    pub fn read_slice<'n>(&self, name: impl Into<Option<&'n str>>, slices: &SliceArgs) -> Result<Tensor> {
        let source = self.source(self.member(name.into())?.0)?;
        let spans = slices_of(slices, &source)?.resolve(source.shape()).with_context(|| source.label().to_owned())?;
        load(source, |source| Selection::slice(source, &spans))
    }

    pub(crate) fn read_all(&self) -> Result<Vec<(String, Tensor)>> {
        let read = |(n, name): &(usize, String)| Ok((name.clone(), load(self.source(*n)?, Selection::whole)?));
        self.members.iter().map(read).collect()
    }

    fn member(&self, name: Option<&str>) -> Result<(usize, &str)> {
        let found = match (name, &self.members[..]) {
            (Some(name), members) => members.iter().find(|(_, member)| member == name),
            (None, [only]) => Some(only),
            (None, _) => None,
        };
        match found {
            Some((n, name)) => Ok((*n, name)),
            // the selection of the path does not limit names
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
            blocks: found.blocks.map(|blocks| blocks.name),
            bytes: found.bytes,
            offset: found.offset,
            metadata: file.metadata.map(|metadata| Arc::clone(&metadata.shown)).unwrap_or_default(),
        })
    }

    fn source(&self, n: usize) -> Result<Source> {
        self.input.source_as(n, self.input.label_of(self.input.name(n)))
    }
}

/// `folder` holds the external data.
#[doc(hidden)]
pub fn read_proto(proto: &[u8], folder: &Path) -> Result<Tensor> {
    let file: Arc<dyn ReadAt> = Arc::new(MemoryBytes::new(proto));
    load(Proto::read(&*file)?.source(&file, Some(folder), String::new())?, Selection::whole)
}

fn load(mut source: Source, select: impl FnOnce(Source) -> Selection) -> Result<Tensor> {
    // Streams are kept first: memory is allocated only for items that exist.
    source.hold(Hold::Seekable, Threads::default())?;
    let label = source.label().to_owned();
    let selection = select(source);
    let meta = selection.meta();
    let mut bytes = memory::zeros(meta.bytes()).context(&label)?;
    selection.fill(&Region::Box(Window::whole(&meta.shape)), &mut bytes, &mut Scratch::default())?;
    selection.finish()?;
    Tensor::new(meta.dtype.clone(), meta.shape.clone(), bytes).context(label)
}

impl Input {
    /// Returns the number of the [member](Self::member) in the path, or of the only one.
    ///
    /// # Errors
    /// The member does not exist, or the path names none of several.
    pub fn chosen(&self) -> Result<usize> {
        self.pick(self.member())
    }

    /// Returns the number of the member called `name`, or of the only one.
    ///
    /// # Errors
    /// The member does not exist, or `name` is missing and there are several.
    pub fn pick(&self, name: Option<&str>) -> Result<usize> {
        let refuse = |message: String| Err(Error::from_kind(ErrorKind::Member, message).within(self.label()));
        if let (None, Some(n)) = (name, self.members().itself) {
            return Ok(n);
        }
        let Some(names) = self.names() else {
            return match name {
                None => Ok(0),
                Some(name) => {
                    let (format, expected) = (self.format().name(), containers("or"));
                    refuse(format!("its format ({format}) has no members, expected a {expected} before :{name}"))
                }
            };
        };
        match (name, names.len()) {
            (None, 1) => Ok(0),
            (_, 0) => refuse("holds no tensors".to_owned()),
            (None, count) => refuse(format!("holds {count} tensors: name one after a colon: {}", list(names))),
            (Some(name), _) => names.iter().position(|n| *n == name).map_or_else(
                || match &alike(name, names)[..] {
                    [] => refuse(format!("has no tensor {name:?}, but {}", list(names))),
                    near => refuse(format!("has no tensor {name:?}; did you mean {}?", near.join(" or "))),
                },
                Ok,
            ),
        }
    }

    /// Returns the [member](Self::member) of the path as a glob, unless a tensor has this name.
    pub fn glob(&self) -> Option<Glob> {
        let names = self.names()?;
        self.member().filter(|name| !names.iter().any(|other| other == name)).map(Glob::new).filter(Glob::is_pattern)
    }

    /// Returns the numbers of all members, or of the selected ones.
    ///
    /// # Errors
    /// The path matches no member.
    pub fn select(&self) -> Result<Vec<usize>> {
        let name = self.member();
        let Some(names) = self.names() else { return Ok(vec![self.chosen()?]) };
        let glob = self.glob();
        let found: Vec<_> = match (name, &glob) {
            (None, _) => (0..names.len()).collect(),
            (Some(_), Some(glob)) => (0..names.len()).filter(|&n| glob.matches(&names[n])).collect(),
            (Some(_), None) => vec![self.chosen()?],
        };
        if let Some(glob) = glob.filter(|_| found.is_empty()) {
            let message = match names {
                [] => "holds no tensors".to_owned(),
                names => format!("has no tensor that {:?} matches, but {}", glob.text(), list(names)),
            };
            return Err(Error::from_kind(ErrorKind::Member, message).within(self.label()));
        }
        Ok(found)
    }
}
