//! Whole files of tensors: read into memory, and written from it.

use std::path::Path;

use super::interface::{Extras, TextOptions};
use super::open::OpenOptions;
use super::table::Format;
use super::write::{Plan, Work, named};
use crate::error::{Context, Error, Result};
use crate::item::tensor::Tensor;
use crate::memory;
use crate::ops::fill::Limits;
use crate::storage::source::Source;
use crate::storage::target::Target;

/// Reads a tensor from a file in whatever format, told by its content: `.npy`, ONNX `.pb`, JSON, or the one tensor of a
/// `.npz` or `.safetensors`. Of several, one is named after a colon, as in `weights.npz:conv1`; a path that exists is
/// never divided so.
///
/// The tensor is in C order, in the byte order of the file. Plain JSON is of a dtype by its content: int64, uint64,
/// float64, bool or str. For most types of ml_dtypes NumPy's files have no name: they come as void, `V1`, and
/// [`Tensor::new`] makes of the same bytes what they are.
///
/// ```
/// # let folder = tempfile::tempdir().unwrap();
/// # let path = folder.path().join("row.json");
/// std::fs::write(&path, "[[1, 2, 3]]").unwrap();
/// let row = tensorop::read(&path)?;
/// assert_eq!((row.shape(), &row.dtype().name()[..]), (&[1, 3][..], "int64"));
/// # Ok::<(), tensorop::Error>(())
/// ```
///
/// # Errors
/// No such file, which is of the kind [`Io`](crate::error::ErrorKind::Io); content in no known format, or not in order;
/// no tensor of that name, or several and none was named; more than there is memory for. All name the file, and the
/// tensor in it.
pub fn read(path: impl AsRef<Path>) -> Result<Tensor> {
    let path = path.as_ref();
    let input = OpenOptions::new(path.display().to_string()).open(path)?;
    whole(input.source(input.chosen()?)?)
}

/// Reads all tensors of a file, each with its name, in the order in which the file has them; of `FILE:NAME` only that
/// one. The one tensor of a format without names has the name that it carries itself in ONNX, else an empty one.
///
/// ```
/// # let folder = tempfile::tempdir().unwrap();
/// # let path = folder.path().join("both.safetensors");
/// let one = tensorop::Tensor::new(tensorop::DType::parse("int8").unwrap(), vec![2], vec![1, 2]).unwrap();
/// tensorop::write_all(&path, [("a", &one), ("b", &one)])?;
/// let names: Vec<String> = tensorop::read_all(&path)?.into_iter().map(|(name, _)| name).collect();
/// assert_eq!(names, ["a", "b"]);
/// # Ok::<(), tensorop::Error>(())
/// ```
///
/// # Errors
/// Those of [`read`]; a file without tensors is none.
pub fn read_all(path: impl AsRef<Path>) -> Result<Vec<(String, Tensor)>> {
    let path = path.as_ref();
    let input = OpenOptions::new(path.display().to_string()).open(path)?;
    let Some(names) = input.names() else {
        let n = input.chosen()?;
        return Ok(vec![(input.own_name().unwrap_or_default().to_owned(), whole(input.source(n)?)?)]);
    };
    let numbers = match input.member() {
        None => 0..names.len(),
        Some(name) => {
            let n = input.pick(Some(name))?;
            n..n + 1
        }
    };
    let read = |n: usize| {
        let name = names.get(n).copied().unwrap_or_default();
        Ok((name.to_owned(), whole(input.source_as(n, input.label_of(Some(name)))?)?))
    };
    numbers.map(read).collect()
}

/// Writes a tensor to a file in the format that the name tells: `.npy`, `.npz`, `.safetensors`, `.pb`, `.json` or
/// `.txt`, which is what NumPy prints. In a `.npz` or `.safetensors` it is called `arr_0`.
///
/// The file appears, or is replaced, when it is complete, and one that is replaced is on the disk before. For the time
/// of the call the items are in memory a second time.
///
/// ```
/// use tensorop::{DType, Tensor};
/// # let folder = tempfile::tempdir().unwrap();
/// # let path = folder.path().join("data.npy");
/// let data = Tensor::new(DType::parse("<i2").unwrap(), vec![2], vec![1, 0, 2, 0]).unwrap();
/// tensorop::write(&path, &data)?;
/// assert_eq!(tensorop::read(&path)?, data);
/// # Ok::<(), tensorop::Error>(())
/// ```
///
/// # Errors
/// A name that does not tell the format; a dtype or item that the format cannot hold; a folder that is not there; of
/// writing. All name the file, which is then as it was.
pub fn write(path: impl AsRef<Path>, tensor: &Tensor) -> Result<()> {
    write_named(path.as_ref(), vec![(None, tensor)])
}

/// Writes tensors to a `.npz` or `.safetensors` file by their names, as [`write()`] does; in any other format it is one
/// tensor, and of these only ONNX writes its name.
///
/// # Errors
/// Those of [`write()`]; several tensors where the format holds one; names that are equal, or that the format cannot
/// have.
pub fn write_all<'a, N: Into<String>>(
    path: impl AsRef<Path>,
    tensors: impl IntoIterator<Item = (N, &'a Tensor)>,
) -> Result<()> {
    let tensors = tensors.into_iter().map(|(name, tensor)| (Some(name.into()), tensor)).collect();
    write_named(path.as_ref(), tensors)
}

/// Where a file of that format is written, or a folder.
///
/// # Errors
/// Those of [`Target::resolve`] and [`Target::resolve_folder`].
pub(crate) fn target(path: &Path, label: String, format: Format) -> Result<Target> {
    match format.is_folder() {
        true => Target::resolve_folder(path, label, false, &|path| format.may_replace(path)),
        false => Target::resolve(path, label, false),
    }
}

fn write_named(path: &Path, tensors: Vec<(Option<String>, &Tensor)>) -> Result<()> {
    let label = path.display().to_string();
    let place = || label.clone();
    let format = Format::of_name(path).with_context(place)?;
    let target = target(path, label.clone(), format)?;
    let mut works = Vec::with_capacity(tensors.len());
    for (name, tensor) in named(tensors, format).with_context(place)? {
        let data = Source::memory(tensor.try_clone().with_context(place)?, label.clone());
        let work = Work::copy(data, Limits::default());
        work.check(format).with_context(|| if format.is_container() { format!("{label}:{name}") } else { place() })?;
        works.push((name, work));
    }
    let plan = Plan::prepare(works, format, &label, &Extras::default())?;
    let mut sink = target.create()?;
    plan.write(&mut sink, &TextOptions::default(), &|_| {})?;
    sink.finish()
}

/// All items of a source, in C order.
fn whole(mut source: Source) -> Result<Tensor> {
    // memory is taken for them when it is known that they are there
    source.settle()?;
    let label = source.label().to_owned();
    let mut bytes = memory::zeros(source.bytes()).map_err(Error::memory).with_context(|| label.clone())?;
    source.read(&source.view(), &mut bytes, &mut Vec::new())?;
    source.finish()?;
    Tensor::new(source.dtype().clone(), source.shape().to_vec(), bytes).context(label)
}
