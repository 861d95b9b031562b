//! Reads and writes whole files of tensors.

use std::io::Write;
use std::path::Path;

use super::opened::{open, open_bytes};
use crate::container::chunk_sides::SidesRule;
use crate::container::file_options::{FileOptions, Inherited};
use crate::container::interface::TextOptions;
use crate::formats::index;
use crate::opening::located::{divide_address, path_without_secrets};
use crate::opening::remote::target_at;
use crate::opening::table::Format;
use crate::operators::fill::Limits;
use crate::operators::selection::Selection;
use crate::storage::requests::RequestOptions;
use crate::storage::source::Source;
use crate::storage::targets::target::Target;
use crate::writing::{LaidOut, Output, OutputTensor, Recast};
use tensorop_kernels::error::{Context, Error, ErrorKind, Result};
use tensorop_kernels::item::dtype::DType;
use tensorop_kernels::item::meta::Order;
use tensorop_kernels::item::tensor::Tensor;

/// Reads a tensor from a file: its only tensor, or the one named after a colon, as in `weights.npz:conv1`. A path that exists
/// is never divided at a colon.
///
/// The content decides the format, except of CSV and TSV, which need the ending of the name. Bytes without a header need
/// their dtype and dims in the path: `dump.bin:float32[16,-1]`. The tensor is in C order, in the byte order of the file. Plain
/// JSON and CSV get a dtype by their content: int64, uint64, float64, bool or str. NumPy's files have no name for most types of
/// ml_dtypes: such items are read as void, `V1` or `V2`, and [`Tensor::view_as`] gives them their dtype.
///
/// ```
/// # let folder = tempfile::tempdir().unwrap();
/// # let path = folder.path().join("row.json");
/// std::fs::write(&path, "[[1, 2, 3]]").unwrap();
/// let row = tensorop_files::read(&path)?;
/// assert_eq!((row.shape(), &row.dtype().name()[..]), (&[1, 3][..], "int64"));
/// # Ok::<(), tensorop_files::Error>(())
/// ```
///
/// # Errors
/// There is no such file ([`ErrorKind::Io`]); the content is in no known format, or damaged ([`ErrorKind::Malformed`]); there
/// is no tensor of that name, or several and none is named ([`ErrorKind::Member`]); [`ErrorKind::Memory`]. All errors name
/// the file, and the tensor in it.
pub fn read(path: impl AsRef<Path>) -> Result<Tensor> {
    open(path)?.read(None)
}

/// Reads all tensors of a file with their names, in the order of the file. `FILE:NAME` reads one of them, and `FILE:conv*`
/// those whose names match. A tensor of a format without names has an empty name, or the name that ONNX stores with it.
///
/// ```
/// # let folder = tempfile::tempdir().unwrap();
/// # let path = folder.path().join("both.safetensors");
/// # let one = tensorop_files::Tensor::from(&ndarray::array![1_i8, 2]);
/// tensorop_files::write_all(&path, [("a", &one), ("b", &one)])?;
/// let names: Vec<String> = tensorop_files::read_all(&path)?.into_iter().map(|(name, _)| name).collect();
/// assert_eq!(names, ["a", "b"]);
/// # Ok::<(), tensorop_files::Error>(())
/// ```
///
/// # Errors
/// As for [`read`]. A file without tensors is not an error.
pub fn read_all(path: impl AsRef<Path>) -> Result<Vec<(String, Tensor)>> {
    open(path)?.read_all()
}

/// Reads the only tensor of a file whose bytes are in memory. [`open_bytes`] reads one of several.
///
/// ```
/// assert_eq!(tensorop_files::read_bytes(b"[[1, 2, 3]]")?.shape(), [1, 3]);
/// # Ok::<(), tensorop_files::Error>(())
/// ```
///
/// # Errors
/// As for [`read`]. Messages call the bytes `bytes`.
pub fn read_bytes(bytes: &[u8]) -> Result<Tensor> {
    open_bytes(bytes)?.read(None)
}

/// Writes a tensor to a file in the format of the ending of its name: `.npy`, `.npz`, `.safetensors`, `.zarr`, `.pb`, `.json`,
/// `.csv`, `.tsv`, `.bin` (the items alone) or `.txt` (NumPy's text). In a format with names the tensor is called `arr_0`; [`write_all`] can give another name. [`WriteOptions`] has more choices.
///
/// The file appears, or is replaced, when it is complete, and the new file is on the disk before it replaces an old one.
/// During the call the items are in memory a second time.
///
/// ```
/// use tensorop_files::{DType, Tensor};
/// # let folder = tempfile::tempdir().unwrap();
/// # let path = folder.path().join("data.npy");
/// let data = Tensor::new(DType::parse("<i2")?, vec![2], vec![1, 0, 2, 0])?;
/// tensorop_files::write(&path, &data)?;
/// assert_eq!(tensorop_files::read(&path)?, data);
/// # Ok::<(), tensorop_files::Error>(())
/// ```
///
/// # Errors
/// The name has no ending of a format; the format cannot hold the dtype ([`ErrorKind::Unsupported`]) or an item; the folder
/// does not exist, or the file cannot be written ([`ErrorKind::Io`]). All errors name the file, which then stays as it was.
pub fn write(path: impl AsRef<Path>, tensor: &Tensor) -> Result<()> {
    WriteOptions::new().write(path, tensor)
}

/// Writes named tensors to a file, as [`write()`] does. A format without names holds one tensor; of these formats only
/// ONNX stores its name.
///
/// # Errors
/// As for [`write()`]; the format holds one tensor and there are several; two names are equal, or the format cannot
/// have one of them.
pub fn write_all<'a, N: Into<String>>(
    path: impl AsRef<Path>,
    tensors: impl IntoIterator<Item = (N, &'a Tensor)>,
) -> Result<()> {
    WriteOptions::new().write_all(path, tensors)
}

/// Options of writing: each method sets one, and the last ones write.
///
/// ```
/// # let folder = tempfile::tempdir().unwrap();
/// # let path = folder.path().join("half.npz");
/// use tensorop_files::{DType, Tensor, WriteOptions};
/// let data = Tensor::from(&ndarray::array![0.5_f32, 1.5]);
/// WriteOptions::new().cast(DType::parse("float16")?).compress(true).write(&path, &data)?;
/// assert_eq!(tensorop_files::read(&path)?.dtype().name(), "float16");
///
/// let labelled = WriteOptions::new().metadata("format", "pt");
/// # let path = folder.path().join("w.safetensors");
/// labelled.write_all(&path, [("weight", &data)])?;
/// assert_eq!(tensorop_files::open(&path)?.info(None)?.metadata["format"], "pt");
/// # Ok::<(), tensorop_files::Error>(())
/// ```
#[derive(Clone, Debug, Default)]
pub struct WriteOptions {
    format: Option<Format>,
    recast: Recast,
    file: FileOptions,
}

impl WriteOptions {
    /// Returns the defaults: the name of the file gives the format, and tensors are written unchanged.
    pub fn new() -> Self {
        Self::default()
    }

    /// Sets the format, for any name of the file.
    #[must_use]
    pub fn format(self, format: Format) -> Self {
        Self { format: Some(format), ..self }
    }

    /// Casts the values to another dtype, as [`Tensor::cast`] does. An inexact cast is an error of writing.
    #[must_use]
    pub fn cast(mut self, dtype: DType) -> Self {
        (self.recast.cast, self.recast.rule.lossy) = (Some(dtype), false);
        self
    }

    /// Casts the values to another dtype, as [`Tensor::cast_lossy`] does.
    #[must_use]
    pub fn cast_lossy(mut self, dtype: DType) -> Self {
        (self.recast.cast, self.recast.rule.lossy) = (Some(dtype), true);
        self
    }

    /// Sets the byte order of numbers, which is that of the tensor's dtype by default. Only `.npy` and `.npz` can be
    /// big-endian.
    #[must_use]
    pub fn big_endian(mut self, big_endian: bool) -> Self {
        self.file.big_endian = Some(big_endian);
        self
    }

    /// Sets the order of the items. Only `.npy` and `.npz` can have Fortran order.
    #[must_use]
    pub fn order(mut self, order: Order) -> Self {
        self.recast.order = order;
        self
    }

    /// Adds a text to the metadata of the file. Only `.safetensors` has metadata.
    #[must_use]
    pub fn metadata(mut self, key: impl Into<String>, value: impl Into<String>) -> Self {
        self.file.metadata.insert(key.into(), value.into());
        self
    }

    /// Sets whether a `.npz` is compressed; it is not by default.
    #[must_use]
    pub fn compress(mut self, compress: bool) -> Self {
        self.file.compress = compress;
        self
    }

    /// Sets the length of a Zarr chunk along each axis.
    #[must_use]
    pub fn chunks(mut self, sides: impl Into<Vec<usize>>) -> Self {
        self.file.chunks = vec![SidesRule::by_axis(sides.into())];
        self
    }

    /// Sets the length of a Zarr shard (a file of several chunks) along each axis.
    #[must_use]
    pub fn shards(mut self, sides: impl Into<Vec<usize>>) -> Self {
        self.file.shards = vec![SidesRule::by_axis(sides.into())];
        self
    }

    /// Sets the codec of Zarr chunks: `none`, `gzip`, `zstd` (the default) or `blosc`, with a level as in `zstd:9` and
    /// `blosc:lz4:3`.
    #[must_use]
    pub fn codec(mut self, codec: impl Into<String>) -> Self {
        self.file.codec = Some(codec.into());
        self
    }

    /// Sets whether a Zarr array stores chunks that hold only the fill value; it does not by default.
    #[must_use]
    pub fn store_empty(mut self, store_empty: bool) -> Self {
        self.file.stores_empty = store_empty;
        self
    }

    /// Names the axes of a Zarr array, one name for each axis.
    #[must_use]
    pub fn dims<N: Into<String>>(mut self, names: impl IntoIterator<Item = N>) -> Self {
        self.file.dimension_names = Some(names.into_iter().map(Into::into).collect());
        self
    }

    /// Sets whether items of 2, 4 or 6 bits share the bytes of a `.bin`, the first item in the low bits; by default
    /// each has its own byte.
    #[must_use]
    pub fn packed(mut self, packed: bool) -> Self {
        self.file.packed = packed;
        self
    }

    /// Writes one tensor to a file, as [`write()`] does.
    ///
    /// # Errors
    /// As for [`write()`]; the format has no place for an option ([`ErrorKind::Unsupported`]); a cast cannot make an
    /// item.
    pub fn write(&self, path: impl AsRef<Path>, tensor: &Tensor) -> Result<()> {
        self.write_file(path.as_ref(), vec![(None, tensor)])
    }

    /// Writes named tensors to a file, as [`write_all`] does.
    ///
    /// # Errors
    /// As for [`write_all`] and [`WriteOptions::write`].
    pub fn write_all<'a, N: Into<String>>(
        &self,
        path: impl AsRef<Path>,
        tensors: impl IntoIterator<Item = (N, &'a Tensor)>,
    ) -> Result<()> {
        self.write_file(path.as_ref(), with_names(tensors))
    }

    /// Writes named tensors to a stream of bytes, in the chosen [`format`](Self::format). A `.npz` is first made in a nameless
    /// temporary file.
    ///
    /// ```
    /// use tensorop_files::{Format, Tensor, WriteOptions};
    /// let data = Tensor::from(&ndarray::array![1_u8, 2]);
    /// let mut bytes = Vec::new();
    /// WriteOptions::new().format(Format::SAFETENSORS).write_to(&mut bytes, [("a", &data), ("b", &data)])?;
    /// assert_eq!(tensorop_files::open_bytes(bytes)?.read("b")?, data);
    /// # Ok::<(), tensorop_files::Error>(())
    /// ```
    ///
    /// # Errors
    /// As for [`WriteOptions::write`], with the output called `output`; no format was chosen, or Zarr, which is a folder
    /// ([`ErrorKind::Unsupported`]). A part may have been written then.
    pub fn write_to<'a, N: Into<String>>(
        &self,
        out: &mut (impl Write + Send),
        tensors: impl IntoIterator<Item = (N, &'a Tensor)>,
    ) -> Result<()> {
        self.write_stream(out, with_names(tensors))
    }

    /// Returns the bytes of a file with one tensor, in the chosen [`format`](Self::format).
    ///
    /// # Errors
    /// As for [`write_to`](Self::write_to).
    pub fn to_bytes(&self, tensor: &Tensor) -> Result<Vec<u8>> {
        let mut bytes = Vec::new();
        self.write_stream(&mut bytes, vec![(None, tensor)])?;
        Ok(bytes)
    }

    fn write_file(&self, path: &Path, tensors: Vec<(Option<String>, &Tensor)>) -> Result<()> {
        let label = path_without_secrets(path);
        if self.format.is_none() && index::stem(path).is_some() {
            let message = "an index of shards is written by the program alone: end the name in .safetensors";
            return Err(Error::from_kind(ErrorKind::Unsupported, message).within(label));
        }
        let format = self.format.map_or_else(|| Format::from_name(path), Ok).with_context(|| label.clone())?;
        let target = target(path, label.clone(), format, false, RequestOptions::default())?;
        let target = target.in_existing_folder()?;
        self.prepare(tensors, format, &label)?.write_file(&target)
    }

    fn write_stream(&self, out: &mut (dyn Write + Send), tensors: Vec<(Option<String>, &Tensor)>) -> Result<()> {
        const LABEL: &str = "output";
        let refuse = || Error::from_kind(ErrorKind::Unsupported, "a format must be chosen").within(LABEL);
        let mut plan = self.prepare(tensors, self.format.ok_or_else(refuse)?, LABEL)?;
        plan.write_to(out, &TextOptions::default(), &|_| {})
    }

    fn prepare(&self, tensors: Vec<(Option<String>, &Tensor)>, format: Format, label: &str) -> Result<LaidOut> {
        let mut outputs = Vec::with_capacity(tensors.len());
        for (name, tensor) in tensors {
            let data = Source::memory(tensor.try_clone().with_context(|| label.to_owned())?, label.to_owned());
            let selection = Selection::in_order(data, self.recast.order);
            let output = OutputTensor::new(Box::new(selection), Limits::default());
            outputs.push(OutputTensor { name, recast: self.recast.clone(), ..output });
        }
        let output = Output { format, label, options: &self.file, replaced: None, keeps_order: false };
        output.prepare(outputs, Inherited::default())
    }
}

fn with_names<'a, N: Into<String>>(
    tensors: impl IntoIterator<Item = (N, &'a Tensor)>,
) -> Vec<(Option<String>, &'a Tensor)> {
    tensors.into_iter().map(|(name, tensor)| (Some(name.into()), tensor)).collect()
}

/// Resolves the place of a file or folder. With `no_clobber` nothing may exist there.
#[doc(hidden)]
pub fn target(
    path: &Path,
    label: String,
    format: Format,
    no_clobber: bool,
    requests: RequestOptions,
) -> Result<Target> {
    // Without this check, the output would go to a folder called `s3:`.
    if let Some((address, after)) = divide_address(path) {
        if !format.is_folder() || after.is_some() {
            let message = "only a Zarr store can be written to an address";
            return Err(Error::from_kind(ErrorKind::Unsupported, message).within(label));
        }
        return target_at(&address, label, format, no_clobber, requests);
    }
    match format.is_folder() {
        true => Target::resolve_folder(path, label, no_clobber, format.all_marks()),
        false => Target::resolve(path, label, no_clobber),
    }
}
