//! PyTorch's files: a ZIP archive with a pickle and a file for each storage, also TorchScript's, or the older stream
//! of pickles and storages (`torch/serialization.py`).

mod legacy;
mod objects;
mod pickle;
mod tensors;
#[cfg(test)]
mod tests;
mod walk;

use std::io::{self, Read};
use std::sync::Arc;

use self::objects::{StridedTensor, unsupported};
use self::pickle::Pickle;
use self::tensors::StridedItems;
use self::walk::Found;
use super::npz::table::{ZipFiles, ZipPlace};
use super::npz::{self, is_npz};
use crate::container::content::{Content, Description, LazyContent, StoredRange};
use crate::container::foreign::{self, DISTRIBUTED};
use crate::container::interface::{Confidence, Members, ReadableFile, Reader, StoredMember};
use crate::narrow::units::{ByUnits, SwappedWords};
use crate::storage::read_at::{ReadAt, Section};
use crate::storage::source::{Container, Source};
use tensorop_kernels::error::{Context, ErrorKind, Result, bail, ensure};
use tensorop_kernels::item::meta::{Meta, Order};

/// The limit on the bytes of a pickle, which is held in memory. A tensor takes some 200.
pub(crate) const MAX_PICKLE: u64 = 1 << 26;

/// The key of the list of classes.
const CLASSES: &str = "classes passed over";

pub(crate) fn sure(begin: &[u8], _: Option<u64>) -> Confidence {
    Confidence::certain_if(legacy::is_legacy(begin) || npz::is_npz(begin) && names_torch(begin))
}

pub(crate) fn open(content: Content) -> Result<ReadableFile> {
    let ending = content.path.as_ref().and_then(|path| path.extension());
    // its archives follow one another, and the last one would be read
    ensure!(ending.is_none_or(|ending| ending != "distcp"), "{DISTRIBUTED}");
    let is_zip = npz::is_npz(&content.begin);
    let file = content.into_bytes()?.0;
    let mut found = Found::default();
    let storages = match is_zip {
        true => Storages::Files(read_zip(&file, &mut found)?),
        false => Storages::Places(legacy::read(&*file, &mut found)?),
    };
    let Found { tensors, mut facts, classes, .. } = found;
    let (names, tensors) = tensors.into_parts();
    classes.iter().for_each(|class| facts.add(CLASSES, class));
    let metadata = Some(facts.into_metadata("pytorch"));
    let members = Members::of(Container { metadata, ..Container::new(file.identity()?, names) });
    Ok(ReadableFile::new(members, TorchReader { file, storages, tensors }))
}

#[derive(Debug)]
enum Storages {
    Files(ZipFiles),
    Places(legacy::Places),
}

#[derive(Debug)]
struct TorchReader {
    file: Arc<dyn ReadAt>,
    storages: Storages,
    tensors: Vec<Result<StridedTensor>>,
}

/// A tensor as it is read.
struct Placed<'a> {
    tensor: &'a StridedTensor,
    meta: Meta,
    storage: ZipPlace,
    /// The offset of the tensor in the file, in memory, or in the inflated storage.
    start: u64,
    is_strided: bool,
}

impl TorchReader {
    fn placed(&self, n: usize) -> Result<Placed<'_>> {
        let tensor = self.tensors[n].as_ref().map_err(Clone::clone)?;
        let name = &tensor.storage;
        let size = tensor.storage_bytes;
        let storage = match (&tensor.held, &self.storages) {
            (Some(_), _) => Some(ZipPlace { at: 0, stored: size, size, is_deflated: false }),
            (None, Storages::Files(files)) => files.find(name).with_context(|| name.clone())?,
            (None, Storages::Places(places)) => places.get(name).cloned().transpose()?,
        };
        let storage = storage.with_context(|| format!("its storage {name:?} is missing"))?;
        ensure!(storage.size >= size, "its storage {name:?} has {} bytes, expected {size}", storage.size);
        let (view, shape) = (&tensor.view, tensor.view.shape());
        let reversed: Vec<_> = (0..shape.len()).rev().collect();
        let is_negated = !tensor.mask.is_empty();
        let is_fortran = !view.is_c_order() && !is_negated && view.with_axes(&reversed).is_c_order();
        let is_strided = is_negated || !view.is_c_order() && !is_fortran;
        if storage.is_deflated && (is_strided || tensor.is_swapped) {
            let why = match (is_negated, is_strided) {
                (true, _) => "conjugated or negated",
                (false, true) => "its items are not contiguous",
                (false, false) => "has big-endian items of bfloat16",
            };
            return Err(unsupported(format!("it is deflated and {why}, which is not read")));
        }
        let meta =
            Meta::c_order(tensor.dtype.clone(), shape).in_order(if is_fortran { Order::Fortran } else { Order::C });
        let start = tensor.start + if storage.is_deflated { 0 } else { storage.at };
        Ok(Placed { tensor, meta, storage, start, is_strided })
    }
}

impl Reader for TorchReader {
    fn describe(&self, n: usize) -> Result<Description> {
        let Placed { tensor, meta, storage, start, is_strided } = self.placed(n)?;
        let bytes = meta.bytes() as u64;
        // no other tensor has these items
        if tensor.held.is_some() || !tensor.mask.is_empty() {
            return Ok(Description::new(meta, bytes, None));
        }
        let own = if is_strided { meta.dtype.itemsize() as u64 } else { bytes };
        let holder = storage.is_deflated.then(|| tensor.storage.as_str().into());
        let elsewhere = StoredRange { holder, bytes: start..start + own };
        Ok(match storage.is_deflated || is_strided || tensor.is_swapped {
            true => Description { elsewhere: Some(elsewhere), ..Description::new(meta, bytes, None) },
            false => Description::new(meta, bytes, Some(start)),
        })
    }

    fn stored(&self, n: usize) -> StoredMember {
        let found = self.describe(n);
        let is_passed_over = found.as_ref().is_err_and(|error| error.kind() == ErrorKind::Unsupported);
        let place = found.ok().and_then(|found| Some((found.offset?, found.bytes)));
        let bytes = place.map(|(start, bytes)| Box::new(Section::new(Arc::clone(&self.file), start, bytes)) as _);
        StoredMember { bytes, is_passed_over, ..StoredMember::default() }
    }

    fn source(&self, n: usize, label: String) -> Result<Source> {
        let Placed { tensor, meta, storage, start, is_strided } = self.placed(n)?;
        if storage.is_deflated {
            let (file, bytes) = (Arc::clone(&self.file), meta.bytes() as u64);
            let items = LazyContent::new(move || {
                let mut content = storage.open(&file);
                io::copy(&mut content.by_ref().take(start), &mut io::sink())?;
                Ok(Box::new(content.take(bytes)))
            });
            Ok(Source::stream(meta, Box::new(items), bytes, label))
        } else {
            let (mut bytes, mut start) = (Arc::clone(tensor.held.as_ref().unwrap_or(&self.file)), start);
            if tensor.is_swapped {
                (bytes, start) = (Arc::new(ByUnits(SwappedWords { bytes, start })), 0);
            }
            if is_strided {
                let (view, mask, itemsize) = (tensor.view.clone(), tensor.mask.clone(), meta.dtype.itemsize());
                (bytes, start) = (Arc::new(ByUnits(StridedItems { bytes, start, view, itemsize, mask })), 0);
            }
            Source::stored(meta, bytes, start, label)
        }
    }
}

/// Files beside the storages; one of them is the first of an archive.
const FILES: [&str; 8] = [
    "data.pkl",
    "constants.pkl",
    "version",
    "byteorder",
    ".format_version",
    ".storage_alignment",
    "serialization_id",
    EXPORTED,
];

/// The file of a `.pt2`, which may have the others, too.
const EXPORTED: &str = "archive_format";

/// Returns whether a ZIP archive that begins so has the files of PyTorch.
fn names_torch(begin: &[u8]) -> bool {
    let mut rest = begin;
    while is_npz(rest) {
        let Some((record, after)) = rest.split_at_checked(30) else { return false };
        let number = |at: usize| usize::from(u16::from_le_bytes([record[at], record[at + 1]]));
        let (stored, name, extra) = (number(18) | number(20) << 16, number(26), number(28));
        let Some(name) = after.get(..name).and_then(|name| std::str::from_utf8(name).ok()) else { return false };
        if let Some((folder, file)) = name.rsplit_once('/').filter(|(_, file)| !file.is_empty()) {
            let is_key = file.bytes().all(|byte| byte.is_ascii_digit());
            return FILES.contains(&file) || is_key && (folder.ends_with("/data") || folder.ends_with("/constants"));
        }
        // the entry of a folder, as zip writes it
        let Some(next) = after.get(name.len() + extra + stored..).filter(|_| name.ends_with('/')) else { return false };
        rest = next;
    }
    false
}

/// Adds the tensors to `found`, and returns the files of the archive: `NAME/data.pkl`, a file `NAME/data/KEY` for each
/// storage, `NAME/byteorder`; of TorchScript also `NAME/constants.pkl` with `NAME/constants/KEY`.
fn read_zip(file: &Arc<dyn ReadAt>, found: &mut Found) -> Result<ZipFiles> {
    let files = ZipFiles::read(Arc::clone(file))?;
    let pickles = files.paths().filter(|path| path.rsplit('/').next() == Some("data.pkl"));
    let Some(root) = pickles.min_by_key(|path| path.len()).and_then(|path| path.strip_suffix("data.pkl")) else {
        ensure!(!files.paths().any(|path| path.ends_with(EXPORTED)), "{}", foreign::EXPORTED);
        bail!("a ZIP archive without data.pkl, which PyTorch needs");
    };
    let content = |name: &str| match files.find(&format!("{root}{name}"))? {
        Some(place) => place.read(file, MAX_PICKLE).map(Some),
        None => Ok(None),
    };
    // files without it were written by versions that knew no other order
    found.is_big_endian = match content("byteorder").context("byteorder")?.as_deref().map(<[u8]>::trim_ascii) {
        None | Some(b"little") => false,
        Some(b"big") => true,
        Some(_) => bail!("byteorder is neither little nor big"),
    };
    for (name, prefix) in [("data", ""), ("constants", "constants")] {
        let pickle = format!("{name}.pkl");
        let mut add = || match content(&pickle)? {
            Some(bytes) => found.add(&Pickle::read(bytes)?, prefix, &format!("{root}{name}/")),
            None => Ok(()),
        };
        add().with_context(|| pickle.clone())?;
    }
    Ok(files)
}
