//! Dtypes as bytes hold them: packed or not. Views and `--dtype` reinterpret bytes only here.

use super::dtype_names;
use super::narrow_bytes::NarrowBytes;
use crate::storage::source::{Hold, Source};
use tensorop_kernels::error::{Error, Result, Subject};
use tensorop_kernels::item::dtype::{DType, Kind, Narrow};
use tensorop_kernels::item::meta::{Meta, Order};
use tensorop_kernels::parallel::Threads;

/// A dtype, and how many items share a byte.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct StoredDType {
    dtype: DType,
    each: usize,
}

/// The first item has the low bits.
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
    /// Parses a packed name such as `int4x2`, or any of [`DType::asked`].
    ///
    /// ```
    /// use tensorop_files::internal::narrow::stored_dtype::StoredDType;
    /// let packed = StoredDType::asked("int4x2").unwrap();
    /// assert_eq!((packed.dtype().name().as_str(), packed.each()), ("int4", 2));
    /// assert_eq!(StoredDType::asked("int4").unwrap().each(), 1);
    /// ```
    ///
    /// # Errors
    /// The name is unknown.
    pub fn asked(text: &str) -> Result<Self> {
        match PACKED.iter().find(|(name, ..)| *name == text) {
            Some((_, name, each)) => Ok(Self { dtype: DType::parse(name)?, each: *each }),
            None => Ok(dtype_names::dtype(text)?.into()),
        }
    }

    /// Returns the names of packed dtypes.
    pub fn packed_names() -> impl Iterator<Item = &'static str> {
        PACKED.iter().map(|(packed, ..)| *packed)
    }

    pub(crate) fn packable_names() -> impl Iterator<Item = &'static str> {
        PACKED.iter().map(|(_, name, _)| *name)
    }

    pub(crate) fn is_packable(dtype: &DType) -> bool {
        let name = dtype.name();
        Self::packable_names().any(|known| known == name)
    }

    /// Returns the dtype of the items.
    pub fn dtype(&self) -> &DType {
        &self.dtype
    }

    /// Returns the items a byte, or 1.
    pub fn each(&self) -> usize {
        self.each
    }

    /// Returns whether items share bytes.
    pub fn is_packed(&self) -> bool {
        self.each > 1
    }

    pub(crate) fn narrow(&self) -> Option<Narrow> {
        match self.dtype.kind() {
            Kind::Narrow(narrow) if narrow.bits() < 8 => Some(*narrow),
            _ => None,
        }
    }

    /// Returns the name that [`asked`](Self::asked) parses.
    pub fn name(&self) -> String {
        let name = self.dtype.name();
        let packed = PACKED.iter().find(|(_, known, _)| self.is_packed() && *known == name);
        packed.map_or(name, |(packed, ..)| (*packed).to_owned())
    }

    /// Returns the dtype in the byte order of `stored`; `None` if only `stored` has one.
    pub fn read_from(&self, stored: &DType) -> Option<Self> {
        Some(Self { dtype: self.dtype.read_from(stored)?, ..*self })
    }

    /// Returns the reinterpreted tensor; packed items lengthen its last axis.
    ///
    /// # Errors
    /// Packed items have no axis or exceed memory.
    pub fn meta(&self, stored: &Meta) -> Result<Meta> {
        let mut meta = Meta { dtype: self.dtype.clone(), ..stored.clone() };
        if !self.is_packed() {
            return Ok(meta);
        }
        let Self { each, .. } = self;
        let refuse = |why: String| Error::new(Subject::Dtype, format!("{} is {each} items a byte, {why}", self.name()));
        let last = meta.shape.last_mut();
        let last = last.ok_or_else(|| refuse("along the last axis, and shape [] has none".to_owned()))?;
        *last = last.saturating_mul(*each);
        match meta.is_addressable() {
            true => Ok(meta),
            false => Err(refuse(format!("and shape {:?} is more than memory can address", meta.shape))),
        }
    }

    /// Reinterprets a source's items, of the same size or packed. Extra bits beside a narrow item fail the read; with
    /// `is_edited`, items with a byte each keep them, and [`hold_to_rule`] checks them.
    ///
    /// # Errors
    /// Packed items have no axis or exceed memory, or a stream cannot be kept.
    pub fn give(&self, source: &mut Source, is_edited: bool) -> Result<()> {
        let is_kept = source.dtype().same_kind(&self.dtype) || is_edited && !self.is_packed();
        let Some(narrow) = self.narrow().filter(|_| !is_kept) else {
            source.reinterpret(self.dtype.clone());
            return Ok(());
        };
        let (meta, stored) = (self.meta(source.meta())?, source.meta().clone());
        if self.is_packed() && stored.order == Order::Fortran {
            // the items of a byte are a column apart
            source.hold(Hold::Seekable, Threads::default())?;
        }
        source.read_through(meta, &NarrowBytes { narrow, each: self.each, stored, keeps: false })
    }
}

/// Makes reads fail on extra bits beside narrow items, but keep valid bytes unchanged.
///
/// # Errors
/// The version of the file cannot be read.
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
