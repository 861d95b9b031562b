//! PyTorch's files: a ZIP archive with a pickle and a file for each storage, also TorchScript's, or the older stream
//! of pickles and storages (`torch/serialization.py`).

mod dtypes;
mod legacy;
mod objects;
mod pickle;
mod strided;
#[cfg(test)]
mod tests;
mod walk;
mod zipped;

use std::io::Read;
use std::sync::Arc;

use self::legacy::LegacyStorages;
use self::objects::{StridedTensor, unsupported};
use self::strided::StridedItems;
use self::walk::Found;
use self::zipped::{InflatedItems, ZippedStorages};
use super::content::{Content, Description, MemberFile, StoredRange};
use super::interface::{Confidence, Reader};
use super::npz;
use super::repeated_names::numbered;
use super::swapped::{SwappedWords, needs_swap};
use crate::error::{ErrorKind, Result, ensure};
use crate::item::meta::{Meta, Order};
use crate::storage::read_at::{ReadAt, Section};
use crate::storage::source::{Container, Metadata, Source};

/// The limit on the bytes of a pickle, which is held in memory. A tensor takes some 200.
pub(super) const MAX_PICKLE: u64 = 1 << 26;

/// The key of the list of classes.
const CLASSES: &str = "classes passed over";

pub(super) fn sure(begin: &[u8], _: Option<u64>) -> Confidence {
    Confidence::certain_if(legacy::is_legacy(begin) || npz::is_npz(begin) && zipped::names_torch(begin))
}

pub(super) fn open(content: Content) -> Result<Box<dyn Reader>> {
    let is_zip = npz::is_npz(&content.begin);
    let file = content.into_bytes()?.0;
    let mut found = Found::default();
    let storages = match is_zip {
        true => Storages::Zipped(ZippedStorages::read(Arc::clone(&file), &mut found)?),
        false => Storages::Legacy(LegacyStorages::read(&file, &mut found)?),
    };
    let Found { names, tensors, facts, classes, .. } = found;
    let mut said = facts.clone();
    if !classes.is_empty() {
        said.insert(CLASSES.to_owned(), classes.into_iter().collect::<Vec<_>>().join(", "));
    }
    let (metadata, said) = (Arc::new(facts), Arc::new(said));
    let container =
        Container { metadata: Some(Arc::clone(&metadata)), ..Container::new(file.identity()?, numbered(names)) };
    Ok(Box::new(TorchReader { file, storages, tensors, metadata, said, container: container.into() }))
}

/// Where the bytes of a storage lie.
#[derive(Clone, Copy, Debug)]
struct StoragePlace {
    at: u64,
    /// Inflated.
    bytes: u64,
    deflated: Option<npz::files::ZipPlace>,
}

#[derive(Debug)]
enum Storages {
    Zipped(ZippedStorages),
    Legacy(LegacyStorages),
}

impl Storages {
    fn place(&self, tensor: &StridedTensor) -> Result<StoragePlace> {
        let place = match self {
            Self::Zipped(storages) => storages.place(&tensor.storage)?,
            Self::Legacy(storages) => storages.place(&tensor.storage)?,
        };
        let (found, expected) = (place.bytes, tensor.storage_bytes);
        ensure!(found >= expected, "its storage {:?} has {found} bytes, expected {expected}", tensor.storage);
        Ok(place)
    }

    fn is_big_endian(&self) -> bool {
        matches!(self, Self::Zipped(storages) if storages.is_big_endian)
    }
}

#[derive(Debug)]
struct TorchReader {
    file: Arc<dyn ReadAt>,
    storages: Storages,
    tensors: Vec<Result<StridedTensor>>,
    metadata: Arc<Metadata>,
    said: Arc<Metadata>,
    container: Arc<Container>,
}

impl TorchReader {
    fn is_swapped(&self, tensor: &StridedTensor) -> bool {
        self.storages.is_big_endian() && needs_swap(&tensor.meta.dtype)
    }

    fn tensor(&self, n: usize) -> Result<(&StridedTensor, StoragePlace, Meta, Layout)> {
        let tensor = self.tensors[n].as_ref().map_err(Clone::clone)?;
        let place = self.storages.place(tensor)?;
        let Meta { dtype, shape, .. } = tensor.meta.clone();
        let dtype = if self.storages.is_big_endian() { dtype.big_endian() } else { dtype };
        let reversed: Vec<_> = (0..shape.len()).rev().collect();
        let layout = match &tensor.view {
            _ if shape.contains(&0) => Layout::Run(Order::C),
            view if view.is_c_order() => Layout::Run(Order::C),
            view if view.with_axes(&reversed).is_c_order() => Layout::Run(Order::Fortran),
            _ => Layout::Strided,
        };
        if place.deflated.is_some() && layout == Layout::Strided {
            return Err(unsupported("it is deflated and its items are not contiguous, which is not read"));
        }
        if place.deflated.is_some() && self.is_swapped(tensor) {
            return Err(unsupported("it is deflated and has big-endian items of bfloat16, which is not read"));
        }
        let order = if let Layout::Run(order) = layout { order } else { Order::C };
        Ok((tensor, place, Meta::new(dtype, shape).in_order(order), layout))
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Layout {
    Run(Order),
    Strided,
}

impl Reader for TorchReader {
    fn container(&self) -> Option<&Arc<Container>> {
        Some(&self.container)
    }

    fn names(&self) -> Option<&[String]> {
        Some(&self.container.names)
    }

    fn file_of(&self, _: usize) -> Result<MemberFile> {
        let (metadata, said) = (Some(Arc::clone(&self.metadata)), Some(Arc::clone(&self.said)));
        Ok(MemberFile { metadata, said, ..MemberFile::default() })
    }

    fn describe(&self, n: usize) -> Result<Description> {
        let (tensor, place, meta, layout) = self.tensor(n)?;
        let bytes = meta.bytes() as u64;
        let at = |holder, start: u64, own: u64| Some(StoredRange { holder, bytes: start..start + own });
        let (offset, elsewhere) = match (place.deflated, layout) {
            (None, Layout::Run(_)) if self.is_swapped(tensor) => (None, at(None, place.at + tensor.start, bytes)),
            (None, Layout::Run(_)) => (Some(place.at + tensor.start), None),
            (None, Layout::Strided) => (None, at(None, place.at + tensor.start, meta.dtype.itemsize() as u64)),
            (Some(_), _) => (None, at(Some(tensor.storage.as_str().into()), tensor.start, bytes)),
        };
        Ok(Description { elsewhere, ..Description::new(meta, bytes, offset) })
    }

    fn is_passed_over(&self, n: usize) -> bool {
        self.tensor(n).is_err_and(|error| error.kind() == ErrorKind::Unsupported)
    }

    fn raw(&self, n: usize) -> Option<Box<dyn Read>> {
        let found = self.describe(n).ok()?;
        Some(Box::new(Section::new(Arc::clone(&self.file), found.offset?, found.bytes)))
    }

    fn source(&self, n: usize, label: String) -> Result<Source> {
        let (tensor, place, meta, layout) = self.tensor(n)?;
        let (bytes, start): (Arc<dyn ReadAt>, _) = match self.is_swapped(tensor) {
            true => (Arc::new(SwappedWords { bytes: Arc::clone(&self.file), start: place.at }), tensor.start),
            false => (Arc::clone(&self.file), place.at + tensor.start),
        };
        let source = match (place.deflated, layout) {
            (Some(place), _) => {
                let bytes = meta.bytes() as u64;
                let items = InflatedItems::new(&self.file, place, tensor.start, bytes);
                Source::stream(meta, Box::new(items), bytes, label)
            }
            (None, Layout::Run(_)) => Source::stored(meta, bytes, start, label)?,
            (None, Layout::Strided) => {
                let itemsize = meta.dtype.itemsize();
                let items = StridedItems { bytes, start, view: tensor.view.clone(), itemsize };
                Source::stored(meta, Arc::new(items), 0, label)?
            }
        };
        Ok(source.one_of(Arc::clone(&self.container), n))
    }
}
