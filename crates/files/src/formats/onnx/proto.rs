//! Reads a TensorProto.

use std::fmt::Debug;
use std::ops::Range;
use std::path::Path;
use std::sync::Arc;

use super::external::{Elsewhere, ExternalFiles};
use super::message::{Message, undecodable};
use super::types::{DATA_TYPES, DataType, STRING};
use super::wire::{Varints, field};
use crate::narrow::narrow_view;
use crate::narrow::packed::bytes_of_items;
use crate::storage::read_at::ReadAt;
use crate::storage::requests::RequestOptions;
use crate::storage::source::{Source, wrong_length};
use tensorop_kernels::error::{Context, Error, ErrorKind, Result, bail, ensure};
use tensorop_kernels::item::dtype::DType;
use tensorop_kernels::item::meta::Meta;
use tensorop_kernels::item::tensor::Tensor;
use tensorop_kernels::layout::axis::{MAX_RANK, bytes_of};
use tensorop_kernels::memory;

/// A TensorProto in a file.
#[derive(Clone, Debug)]
pub struct Proto {
    pub name: String,
    /// Little-endian; strings are as wide as the longest.
    pub meta: Meta,
    /// Of `raw_data`, or of packed floats.
    pub offset: Option<u64>,
    /// Of stored items, or of decoded typed fields.
    pub bytes: u64,
    items: ProtoItems,
}

#[derive(Clone, Debug)]
enum ProtoItems {
    Raw(u64),
    Typed(Vec<u8>),
    External(Elsewhere),
}

impl Proto {
    /// Reads everything except `raw_data`.
    ///
    /// # Errors
    /// The message is malformed or unsupported, or reading fails.
    pub fn read(file: &dyn ReadAt) -> Result<Self> {
        Self::read_at(file, 0..file.size()?)
    }

    /// Reads the message at `place` of a file.
    pub(crate) fn read_at(file: &dyn ReadAt, place: Range<u64>) -> Result<Self> {
        let message = Message::read(file, place)?;
        let shape = shape(&message)?;
        // a missing field was refused before
        let number = message.int32(field::DATA_TYPE).context("no data_type")?;
        let (meta, items) = if number == STRING {
            ensure!(message.raw.is_none(), "raw_data, expected string_data for STRING");
            ensure!(message.external()?.is_none(), "external data, expected string_data for STRING");
            let (dtype, items) = message.string_items(&shape, bytes_of(&shape, 1).context("too many strings")?)?;
            (Meta::c_order(dtype, shape), ProtoItems::Typed(items))
        } else {
            let data_type = DataType::numbered(number).ok_or_else(|| unknown_data_type(number))?;
            let meta = Meta::c_order(DType::from(data_type.kind.clone()), shape);
            ensure!(meta.is_addressable(), "{}", too_large(&meta.shape));
            let items = ProtoItems::find(&message, data_type, &meta)?;
            (meta, items)
        };
        let stored = bytes_of_items(&meta.dtype, meta.items());
        let (offset, bytes) = match &items {
            ProtoItems::Typed(items) => (None, items.len() as u64),
            ProtoItems::Raw(at) => (Some(*at), stored),
            ProtoItems::External(_) => (None, stored),
        };
        Ok(Self { name: message.name()?.to_owned(), meta, offset, bytes, items })
    }

    /// The same tensor in another file, whose message ends at `to` rather than at `from`.
    pub(crate) fn moved(mut self, from: u64, to: u64) -> Self {
        if let ProtoItems::Raw(at) = &mut self.items {
            *at = *at + to - from;
            self.offset = Some(*at);
        }
        self
    }

    /// Returns the items, which may be in another file in `folder`.
    ///
    /// # Errors
    /// The other file is not a regular file in `folder`, has too few bytes, or cannot be opened.
    pub fn source(&self, file: &Arc<dyn ReadAt>, folder: Option<&Path>, label: String) -> Result<Source> {
        self.source_with(file, &ExternalFiles::new(folder, RequestOptions::default()), label)
    }

    pub(crate) fn source_with(
        &self,
        file: &Arc<dyn ReadAt>,
        external: &ExternalFiles,
        label: String,
    ) -> Result<Source> {
        match &self.items {
            ProtoItems::Typed(items) => {
                let mut copy = memory::with_capacity(items.len())?;
                copy.extend_from_slice(items);
                let tensor = Tensor::new(self.meta.dtype.clone(), self.meta.shape.clone(), copy);
                Ok(Source::with_free_width(tensor.context("other bytes than the dims need")?, label))
            }
            ProtoItems::Raw(at) => narrow_view::stored(self.meta.clone(), file, *at, label),
            ProtoItems::External(elsewhere) => {
                let (file, at) = external.open(elsewhere, self.bytes, &self.meta)?;
                narrow_view::stored(self.meta.clone(), &file, at, label)
            }
        }
    }

    /// The other file with the items.
    pub(crate) fn elsewhere(&self) -> Option<&Elsewhere> {
        if let ProtoItems::External(elsewhere) = &self.items { Some(elsewhere) } else { None }
    }
}

impl ProtoItems {
    fn find(message: &Message, data_type: &DataType, meta: &Meta) -> Result<Self> {
        let typed = message.filled().next();
        match (message.raw, typed, message.external()?) {
            (Some(_), None, Some(_)) => bail!("raw_data, and external data as well"),
            (Some(_), Some(typed), _) => bail!("raw_data, and {typed} as well"),
            (None, Some(typed), Some(_)) => bail!("{typed}, and external data as well"),
            (None, None, Some(elsewhere)) => Ok(Self::External(elsewhere)),
            (Some((at, length)), None, None) => {
                let expected = bytes_of_items(&meta.dtype, meta.items());
                ensure!(length == expected, "{}", wrong_length(length, expected, meta));
                Ok(Self::Raw(at))
            }
            (None, _, None) => match message.floats_at(data_type, meta)? {
                Some(at) => Ok(Self::Raw(at)),
                None => Ok(Self::Typed(message.typed_items(data_type, meta)?)),
            },
        }
    }
}

fn unknown_data_type(number: i32) -> Error {
    let (kind, what) = match number {
        0 => (ErrorKind::Malformed, "the data type 0 (UNDEFINED)".to_owned()),
        _ => (ErrorKind::Unsupported, format!("an unknown data type {number}")),
    };
    let known = DATA_TYPES.len() + 1;
    Error::from_kind(kind, format!("an ONNX tensor of {what}, expected 1 to {known}"))
}

fn shape(message: &Message) -> Result<Vec<usize>> {
    let count = message.count(field::DIMS);
    ensure!(count <= MAX_RANK, "{count} dims, expected at most {MAX_RANK}");
    let dims = message.values(field::DIMS).flat_map(Varints).map(|dim| dim.map(|dim| dim as i64));
    let dims: Vec<i64> = dims.collect::<Result<_, _>>().with_context(|| undecodable(field::DIMS))?;
    if let Some(at) = dims.iter().position(|dim| *dim < 0) {
        bail!("dims {dims:?}: dim {at} is negative");
    }
    let shape: Option<Vec<usize>> = dims.iter().map(|dim| usize::try_from(*dim).ok()).collect();
    shape.filter(|shape| bytes_of(shape, 1).is_some()).with_context(|| too_large(&dims))
}

pub(crate) fn too_large(dims: &impl Debug) -> String {
    format!("dims {dims:?} are larger than memory can be")
}
