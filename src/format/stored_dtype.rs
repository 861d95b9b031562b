//! Dtypes as bytes hold them: an item in its bytes, or several items in one, the first in its low bits.
//!
//! Here alone bytes whose dtype does not say what they are become items of another dtype, by a view or by `--dtype`.

use super::narrow_bytes::NarrowBytes;
use crate::error::{Error, Result, Subject};
use crate::item::dtype::{DType, Kind, Narrow};
use crate::item::meta::{Meta, Order};
use crate::parallel::Threads;
use crate::storage::source::{Hold, Source};

/// A dtype, and how many of its items a byte holds.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct StoredDType {
    dtype: DType,
    /// 1, or more of those that share bytes.
    each: usize,
}

/// The names of dtypes whose items share bytes, each followed by how many do: the first has the low bits.
const PACKED: [(&str, &str, usize); 5] = [
    ("int4x2", "int4", 2),
    ("uint4x2", "uint4", 2),
    ("int2x4", "int2", 4),
    ("uint2x4", "uint2", 4),
    ("float4_e2m1fnx2", "float4_e2m1fn", 2),
];

impl From<DType> for StoredDType {
    fn from(dtype: DType) -> Self {
        Self { dtype, each: 1 }
    }
}

impl StoredDType {
    /// Parses what a person typed: a name of a dtype whose items share bytes, such as `int4x2`, or whatever
    /// [`DType::asked`] takes.
    ///
    /// ```
    /// use tensorop::format::stored_dtype::StoredDType;
    /// let packed = StoredDType::asked("int4x2").unwrap();
    /// assert_eq!((packed.dtype().name().as_str(), packed.each()), ("int4", 2));
    /// assert_eq!(StoredDType::asked("int4").unwrap().each(), 1);
    /// ```
    ///
    /// # Errors
    /// Those of [`DType::asked`].
    pub fn asked(text: &str) -> Result<Self> {
        match PACKED.iter().find(|(name, ..)| *name == text) {
            Some((_, name, each)) => Ok(Self { dtype: DType::parse(name)?, each: *each }),
            None => Ok(DType::asked(text)?.into()),
        }
    }

    /// Returns the names of dtypes whose items share bytes.
    pub fn packed_names() -> impl Iterator<Item = &'static str> {
        PACKED.iter().map(|(packed, ..)| *packed)
    }

    /// Returns the names of the dtypes of their items.
    pub(super) fn packable_names() -> impl Iterator<Item = &'static str> {
        PACKED.iter().map(|(_, name, _)| *name)
    }

    /// Returns whether items of a dtype can share bytes.
    pub(super) fn is_packable(dtype: &DType) -> bool {
        let name = dtype.name();
        Self::packable_names().any(|known| known == name)
    }

    /// Returns the dtype of the items.
    pub fn dtype(&self) -> &DType {
        &self.dtype
    }

    /// Returns how many items a byte holds where they share bytes, else 1.
    pub fn each(&self) -> usize {
        self.each
    }

    /// Returns whether several items share a byte.
    pub fn is_packed(&self) -> bool {
        self.each > 1
    }

    /// Returns the dtype if its items have fewer bits than a byte.
    pub(super) fn narrow(&self) -> Option<Narrow> {
        match self.dtype.kind() {
            Kind::Narrow(narrow) if narrow.bits() < 8 => Some(*narrow),
            _ => None,
        }
    }

    /// Returns the name that [`asked`](Self::asked) takes.
    pub fn name(&self) -> String {
        let name = self.dtype.name();
        let packed = PACKED.iter().find(|(_, known, _)| self.is_packed() && *known == name);
        packed.map_or(name, |(packed, ..)| (*packed).to_owned())
    }

    /// Returns it with the byte order of stored items that are read so; `None` if it has none and they have.
    pub fn read_from(&self, stored: &DType) -> Option<Self> {
        Some(Self { dtype: self.dtype.read_from(stored)?, ..*self })
    }

    /// Returns the tensor that one of stored items becomes if it is read so: where items share bytes, its last axis is longer.
    ///
    /// # Errors
    /// Items that share bytes in a tensor without axes; more of them than memory can address. Both are about the dtype.
    pub fn meta(&self, stored: &Meta) -> Result<Meta> {
        let mut meta = Meta { dtype: self.dtype.clone(), ..stored.clone() };
        if !self.is_packed() {
            return Ok(meta);
        }
        let Self { each, .. } = self;
        let refuse = |why: String| Error::new(Subject::Dtype, format!("{} is {each} items a byte, {why}", self.name()));
        let last = meta.shape.last_mut();
        let last = last.ok_or_else(|| refuse("which lie along the last axis, and shape [] has none".to_owned()))?;
        *last = last.saturating_mul(*each);
        match meta.is_addressable() {
            true => Ok(meta),
            false => Err(refuse(format!("and shape {:?} is more than memory can address", meta.shape))),
        }
    }

    /// Reads the stored items of a source so, whose size is that of an item, or one byte where items share bytes. Of items of
    /// fewer than 8 bits no bit is dropped: a byte that holds more is an error when it is read.
    ///
    /// If `is_edited`, items are changed where they lie. Those with a byte of their own are then taken as they are, so that
    /// the ones that do not change keep all their bits; [`hold_to_rule`] is for whoever looks at their values.
    ///
    /// # Errors
    /// Those of [`meta`](Self::meta); of a stream that must be read as a whole.
    pub fn give(&self, source: &mut Source, is_edited: bool) -> Result<()> {
        let is_kept = source.dtype().same_kind(&self.dtype) || is_edited && !self.is_packed();
        let Some(narrow) = self.narrow().filter(|_| !is_kept) else {
            source.reinterpret(self.dtype.clone());
            return Ok(());
        };
        let (meta, stored) = (self.meta(source.meta())?, source.meta().clone());
        if self.is_packed() && stored.order == Order::Fortran {
            // the items of a byte lie a column apart
            source.hold(Hold::Seekable, Threads::default())?;
        }
        source.read_through(meta, &NarrowBytes { narrow, each: self.each, stored, keeps: false })
    }
}

/// Holds items that have a byte each, and are changed where they lie, to the rule that a byte holds no more bits than its item
/// has. No bit of them is changed by that, so that those that are written back stay as they are.
///
/// # Errors
/// Of asking for the version of the bytes.
pub fn hold_to_rule(source: &mut Source) -> Result<()> {
    let is_bytewise = source.as_local_file().is_some() || source.as_chunks().is_some();
    match StoredDType::from(source.dtype().clone()).narrow().filter(|_| is_bytewise) {
        None => Ok(()),
        Some(narrow) => {
            let stored = source.meta().clone();
            source.read_through(stored.clone(), &NarrowBytes { narrow, each: 1, stored, keeps: true })
        }
    }
}
