//! Reads a TensorProto: the tensor, and where its items are.

use std::path::Path;
use std::sync::Arc;

use super::external::Elsewhere;
use super::message::{DATA_TYPES, Message, STRING, too_large};
use super::scan::Scan;
use crate::error::{Context, Result, bail, ensure, malformed};
use crate::format::packed::{self, bytes_of_items};
use crate::item::dtype::DType;
use crate::item::meta::Meta;
use crate::item::tensor::Tensor;
use crate::layout::shape::{MAX_RANK, bytes_of};
use crate::memory;
use crate::storage::read_at::ReadAt;
use crate::storage::source::{Source, wrong_length};

/// A TensorProto in a file.
#[derive(Clone, Debug)]
pub struct Proto {
    /// The name, which may be empty.
    pub name: String,
    /// The tensor: items are little-endian, strings as wide as the longest.
    pub meta: Meta,
    /// The byte of the file at which its items begin, if they are in `raw_data`.
    pub offset: Option<u64>,
    /// The bytes that its items take: in `raw_data` or the other file as they are there, in typed fields as they are in
    /// memory.
    pub bytes: u64,
    items: Items,
}

/// Where the items are.
#[derive(Clone, Debug)]
enum Items {
    /// In `raw_data`, from this byte of the file on.
    Raw(u64),
    /// In a typed field, and now in memory.
    Typed(Vec<u8>),
    /// In another file.
    External(Elsewhere),
}

impl Proto {
    /// Reads the whole message without `raw_data`. The file's own position is neither used nor moved.
    ///
    /// # Errors
    /// The file is not a protobuf message, or one of another kind than TensorProto; the data type is unknown; dims are
    /// negative, too many or too large; items are in two fields, in a field that is not the data type's, or not as many
    /// as the dims need; the data type cannot hold an item; it is one of several segments of a tensor; reading fails.
    pub fn read(file: &dyn ReadAt) -> Result<Self> {
        let scan = Scan::of(file)?;
        let message = scan.message(file)?;
        let number = message.data_type.unwrap_or_default();
        let shape = shape(&message.dims)?;
        if number == STRING {
            return Self::strings(message, shape, scan.raw.is_some());
        }
        let found = DATA_TYPES.iter().find(|(known, ..)| *known == number);
        let Some((_, type_name, kind)) = found else {
            let undefined = if number == 0 { " (UNDEFINED)" } else { "" };
            bail!("data_type {number}{undefined}, expected one of ONNX's, 1 to {}", DATA_TYPES.len() + 1);
        };
        let dtype = DType::from(kind.clone());
        let whole = bytes_of(&shape, dtype.itemsize()).ok_or_else(|| too_large(&shape))?;
        let stored = bytes_of_items(&dtype, whole / dtype.itemsize().max(1));
        let typed = message.filled();
        let external = message.external()?;
        let mut bytes = stored;
        let items = match (scan.raw, typed.first(), external) {
            (Some(_), None, Some(_)) => bail!("raw_data, and external data as well"),
            (Some(_), Some(typed), _) => bail!("raw_data, and {typed} as well"),
            (None, Some(typed), Some(_)) => bail!("{typed}, and external data as well"),
            (None, None, Some(elsewhere)) => Items::External(elsewhere),
            (Some((at, length)), None, None) => {
                ensure!(length == stored, "{}", wrong_length(length, stored, &Meta::new(dtype.clone(), shape.clone())));
                Items::Raw(at)
            }
            (None, _, None) => {
                bytes = whole as u64;
                Items::Typed(message.typed_items(type_name, &dtype, &shape)?)
            }
        };
        let offset = if let Items::Raw(at) = items { Some(at) } else { None };
        Ok(Self { name: message.name, meta: Meta::new(dtype, shape), offset, bytes, items })
    }

    fn strings(message: Message, shape: Vec<usize>, raw: bool) -> Result<Self> {
        ensure!(!raw, "raw_data, expected string_data for STRING");
        ensure!(message.external()?.is_none(), "external data, expected string_data for STRING");
        let (dtype, items) = message.string_items(&shape)?;
        let bytes = items.len() as u64;
        let items = Items::Typed(items);
        Ok(Self { name: message.name, meta: Meta::new(dtype, shape), offset: None, bytes, items })
    }

    /// Returns the items: in `file`, which must be the one that was read, in memory, or in another file of `folder`,
    /// the one that `file` lies in, if that is known. Items that share bytes come as a stream. Messages call it
    /// `label`.
    ///
    /// # Errors
    /// For items in another file: the folder is not known, the location is not the plain name of a regular file in it,
    /// that file does not have the bytes that the dims need (its checksum is not checked), or it cannot be opened.
    pub fn source(&self, file: &Arc<dyn ReadAt>, folder: Option<&Path>, label: String) -> Result<Source> {
        match &self.items {
            Items::Typed(items) => {
                let mut copy = memory::of(items.len())?;
                copy.extend_from_slice(items);
                let tensor = Tensor::new(self.meta.dtype.clone(), self.meta.shape.clone(), copy);
                Ok(Source::memory(tensor.context("other bytes than the dims need")?, label))
            }
            Items::Raw(at) => packed::source(self.meta.clone(), file, *at, label),
            Items::External(elsewhere) => {
                let (file, at) = elsewhere.open(folder, self.bytes, &self.meta)?;
                packed::source(self.meta.clone(), &(Arc::new(file) as Arc<dyn ReadAt>), at, label)
            }
        }
    }
}

/// Returns the shape for the dims of a message, if memory could have room for it.
fn shape(dims: &[i64]) -> Result<Vec<usize>> {
    ensure!(dims.len() <= MAX_RANK, "{} dims, expected at most {MAX_RANK}", dims.len());
    if let Some(at) = dims.iter().position(|dim| *dim < 0) {
        bail!("dims {dims:?}: dim {at} is negative");
    }
    let shape: Option<Vec<usize>> = dims.iter().map(|dim| usize::try_from(*dim).ok()).collect();
    let shape = shape.filter(|shape| bytes_of(shape, 1).is_some());
    shape.ok_or_else(|| malformed!("dims {dims:?} are larger than memory can be"))
}
