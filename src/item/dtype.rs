//! Element types: what an item is and in which order its bytes are.

use super::datetime::NAT;
use std::sync::Arc;

use crate::error::{Advice, Error, Subject};
use crate::item::python;
use crate::item::time_unit::TimeUnit;
use crate::layout::shape::bytes_of;

/// A kind of item, without its byte order.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Kind {
    /// One byte, 0 or 1.
    Bool,
    /// Signed integer of 8 bits.
    Int8,
    /// Signed integer of 16 bits.
    Int16,
    /// Signed integer of 32 bits.
    Int32,
    /// Signed integer of 64 bits.
    Int64,
    /// Unsigned integer of 8 bits.
    UInt8,
    /// Unsigned integer of 16 bits.
    UInt16,
    /// Unsigned integer of 32 bits.
    UInt32,
    /// Unsigned integer of 64 bits.
    UInt64,
    /// A type of 8 bits or fewer that holds one item a byte, as ml_dtypes stores it.
    Narrow(Narrow),
    /// IEEE 754 binary16.
    Float16,
    /// The upper half of a binary32; `<V2` in a `.npy`, as ml_dtypes stores it.
    BFloat16,
    /// IEEE 754 binary32.
    Float32,
    /// IEEE 754 binary64.
    Float64,
    /// C's `long double` in that many bytes (12 or 16); opaque here.
    LongDouble(usize),
    /// Two [`Kind::Float32`].
    Complex64,
    /// Two [`Kind::Float64`].
    Complex128,
    /// Two long doubles, in that many bytes (24 or 32); opaque here.
    ComplexLongDouble(usize),
    /// Bytes, padded with NUL to that many (`S`).
    Bytes(usize),
    /// Code points of 4 bytes each, padded with U+0000 to that many (`U`).
    Str(usize),
    /// That many raw bytes (`V`).
    Void(usize),
    /// Named fields.
    Struct(Arc<Struct>),
    /// Ticks of an int64 since 1970, `i64::MIN` being "not a time".
    Datetime(TimeUnit),
    /// A difference of [`Kind::Datetime`]s.
    Timedelta(TimeUnit),
}

/// The types of ml_dtypes that take 8 bits or fewer.
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

/// The fields of a structured dtype. Bytes of an item that no field covers are padding.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Struct {
    /// The fields, by offset.
    pub fields: Vec<Field>,
    /// Bytes of one item, padding included.
    pub itemsize: usize,
}

/// One field of a [`Struct`].
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Field {
    /// Its name.
    pub name: String,
    /// Its title, a second name that NumPy allows.
    pub title: Option<String>,
    /// The dtype of its items.
    pub dtype: DType,
    /// The dims of a sub-array, those of the sub-arrays in it, and so on; none for a single item.
    pub shapes: Vec<Vec<usize>>,
    /// Where it begins, in bytes from the item's own beginning.
    pub offset: usize,
}

impl Field {
    /// Returns the number of its items.
    pub fn items(&self) -> usize {
        self.shapes.iter().flatten().product()
    }

    /// Returns the bytes of the whole field.
    pub fn size(&self) -> usize {
        self.items() * self.dtype.itemsize()
    }
}

/// The type of an item: its kind and its byte order.
///
/// ```
/// use tensorop::DType;
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
    /// Returns the little-endian dtype of a kind. Fields keep their own byte order.
    fn from(kind: Kind) -> Self {
        Self { kind, big: false }
    }
}

impl DType {
    /// Creates a structured dtype.
    ///
    /// # Errors
    /// A name or title occurs twice; an item has more bytes than [`bytes_of`] allows.
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

    /// Returns the kind of item.
    pub fn kind(&self) -> &Kind {
        &self.kind
    }

    /// Returns whether the numbers in an item are big-endian. It is false if bytes have no order, and for a structured
    /// dtype, whose fields have their own.
    pub fn is_big_endian(&self) -> bool {
        self.big
    }

    /// Returns the bytes of the item that fills places without a value: 0, `False`, an empty string, or "not a time".
    pub fn default_item(&self) -> Vec<u8> {
        match (&self.kind, self.big) {
            (Kind::Datetime(_) | Kind::Timedelta(_), false) => NAT.to_le_bytes().to_vec(),
            (Kind::Datetime(_) | Kind::Timedelta(_), true) => NAT.to_be_bytes().to_vec(),
            _ => vec![0; self.itemsize()],
        }
    }

    /// Returns whether items are raw bytes of the size of a number, which may be numbers of a type that NumPy does not
    /// know.
    pub(crate) fn is_ambiguous(&self) -> bool {
        matches!(self.kind, Kind::Void(1 | 2 | 4 | 8 | 16))
    }

    /// Adds to a refusal of items of this dtype that it may be said what they are, if their dtype does not say it.
    pub(crate) fn advise(&self, refused: Error) -> Error {
        let bytes = self.itemsize();
        match refused.advice() {
            _ if !self.is_ambiguous() => refused,
            None => refused.advising(Advice::NameItems(bytes)),
            Some(Advice::WriteNpy) => refused.advising(Advice::WriteOrName(bytes)),
            Some(_) => refused,
        }
    }

    /// Returns whether items are integers; bool and the narrow types are not.
    pub fn is_integer(&self) -> bool {
        use Kind::{Int8, Int16, Int32, Int64, UInt8, UInt16, UInt32, UInt64};
        matches!(self.kind, Int8 | Int16 | Int32 | Int64 | UInt8 | UInt16 | UInt32 | UInt64)
    }
}
