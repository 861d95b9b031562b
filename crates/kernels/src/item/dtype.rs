//! Element types.

use super::datetime::NAT;
use std::sync::Arc;

use crate::error::{Advice, Error, Subject};
use crate::item::datetime::TimeUnit;
use crate::item::python;
use crate::layout::axis::bytes_of;

/// A kind of item, without byte order. A match on it may be exhaustive: a new kind comes with a new minor version.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
#[allow(missing_docs)] // the names are the documentation
pub enum Kind {
    Bool,
    Int8,
    Int16,
    Int32,
    Int64,
    UInt8,
    UInt16,
    UInt32,
    UInt64,
    /// One item a byte, as ml_dtypes stores it.
    Narrow(Narrow),
    Float16,
    /// The upper half of a binary32; `<V2` in a `.npy`, as ml_dtypes stores it.
    BFloat16,
    Float32,
    Float64,
    /// C's `long double` in 12 or 16 bytes; opaque.
    LongDouble(usize),
    Complex64,
    Complex128,
    /// Two long doubles, in 24 or 32 bytes; opaque.
    ComplexLongDouble(usize),
    /// Padded with NUL (`S`).
    Bytes(usize),
    /// Code points of 4 bytes, padded with U+0000 (`U`).
    Str(usize),
    /// Raw bytes (`V`).
    Void(usize),
    /// Items with named fields.
    Struct(Arc<Struct>),
    /// int64 ticks since 1970; `i64::MIN` is "not a time".
    Datetime(TimeUnit),
    /// int64 ticks; `i64::MIN` is "not a time".
    Timedelta(TimeUnit),
}

/// ml_dtypes types of at most 8 bits.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[allow(missing_docs)] // the names are the documentation
pub enum Narrow {
    Float8E3M4,
    Float8E4M3,
    Float8E4M3B11FNUZ,
    Float8E4M3FN,
    Float8E4M3FNUZ,
    Float8E5M2,
    Float8E5M2FNUZ,
    Float8E8M0FNU,
    Float6E2M3FN,
    Float6E3M2FN,
    Float4E2M1FN,
    Int4,
    UInt4,
    Int2,
    UInt2,
}

/// Fields of a structured dtype. Uncovered bytes are padding.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Struct {
    /// By offset.
    pub fields: Vec<Field>,
    /// The bytes of an item.
    pub itemsize: usize,
}

/// A field of a [`Struct`].
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Field {
    /// The name of the field.
    pub name: String,
    /// A second name in NumPy.
    pub title: Option<String>,
    /// The dtype of its items.
    pub dtype: DType,
    /// The dims of the sub-array, then of the sub-arrays in it.
    pub shapes: Vec<Vec<usize>>,
    /// In bytes.
    pub offset: usize,
}

impl Field {
    /// Returns the number of items.
    pub fn items(&self) -> usize {
        self.shapes.iter().flatten().product()
    }

    /// Returns the bytes.
    pub fn size(&self) -> usize {
        self.items() * self.dtype.itemsize()
    }
}

/// The type of an item: its kind and byte order.
///
/// ```
/// use tensorop_kernels::DType;
/// let big = DType::parse(">f4").unwrap();
/// assert_eq!((big.name().as_str(), big.descr().as_str(), big.itemsize()), ("float32", "'>f4'", 4));
/// assert_eq!(big.native(), DType::parse("float32").unwrap());
/// ```
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct DType {
    pub(super) kind: Kind,
    pub(super) big: bool,
}

impl From<Kind> for DType {
    fn from(kind: Kind) -> Self {
        Self { kind, big: false }
    }
}

impl DType {
    /// Creates a structured dtype.
    ///
    /// # Errors
    /// A name or title occurs twice, or an item exceeds [`bytes_of`].
    pub fn structured(fields: Vec<Field>, itemsize: usize) -> Result<Self, Error> {
        let mut names = std::collections::HashSet::new();
        for field in &fields {
            for name in std::iter::once(&field.name).chain(&field.title) {
                if !names.insert(name) {
                    let message = format!("field {} occurs more than once", python::repr_str(name));
                    return Err(Error::new(Subject::Dtype, message));
                }
            }
        }
        bytes_of(&[], itemsize).ok_or_else(|| Error::new(Subject::Dtype, "an item is larger than memory can be"))?;
        Ok(Kind::Struct(Arc::new(Struct { fields, itemsize })).into())
    }

    /// The kind of item.
    pub fn kind(&self) -> &Kind {
        &self.kind
    }

    /// Whether numbers are big-endian. It is false for a structured dtype, whose fields have their own order.
    pub fn is_big_endian(&self) -> bool {
        self.big
    }

    /// The item for places without a value: 0, `False`, an empty string, or "not a time".
    pub fn default_item(&self) -> Vec<u8> {
        match (&self.kind, self.big) {
            (Kind::Datetime(_) | Kind::Timedelta(_), false) => NAT.to_le_bytes().to_vec(),
            (Kind::Datetime(_) | Kind::Timedelta(_), true) => NAT.to_be_bytes().to_vec(),
            _ => vec![0; self.itemsize()],
        }
    }

    /// Raw bytes may be numbers of a type that NumPy does not know.
    #[doc(hidden)]
    pub fn is_ambiguous(&self) -> bool {
        matches!(self.kind, Kind::Void(1 | 2 | 4 | 8 | 16))
    }

    #[doc(hidden)]
    pub fn advise(&self, refused: Error) -> Error {
        let bytes = self.itemsize();
        match refused.advice() {
            _ if !self.is_ambiguous() => refused,
            None => refused.advising(Advice::NameItems(bytes)),
            Some(Advice::WriteNpy) => refused.advising(Advice::WriteOrName(bytes)),
            Some(_) => refused,
        }
    }

    /// Whether items are integers, without bool and narrow types.
    pub fn is_integer(&self) -> bool {
        use Kind::{Int8, Int16, Int32, Int64, UInt8, UInt16, UInt32, UInt64};
        matches!(self.kind, Int8 | Int16 | Int32 | Int64 | UInt8 | UInt16 | UInt32 | UInt64)
    }
}
