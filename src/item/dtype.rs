//! Element types: what an item is, how many bytes it takes and in which order they are.

use std::sync::Arc;

use crate::error::{Error, Subject};
use crate::item::element::{Element, match_kind};
use crate::item::python;
use crate::item::time_unit::TimeUnit;
use crate::layout::shape::bytes_of;

/// A kind of item, without its byte order.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
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
    /// The number of its items.
    pub fn items(&self) -> usize {
        self.shapes.iter().flatten().product()
    }

    /// The bytes of the whole field.
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
    /// The little-endian dtype of that kind (fields keep their own byte order).
    fn from(kind: Kind) -> Self {
        Self { kind, big: false }
    }
}

impl DType {
    /// A structured dtype.
    ///
    /// # Errors
    /// A name or title that occurs twice; more bytes than [`bytes_of`] allows.
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

    /// What an item is.
    pub fn kind(&self) -> &Kind {
        &self.kind
    }

    /// Whether the numbers in an item are big-endian. Always false where bytes have no order, and for a
    /// structured dtype, whose fields know.
    pub fn is_big_endian(&self) -> bool {
        self.big
    }

    /// Whether items are integers (bool and the narrow types are none).
    pub fn is_integer(&self) -> bool {
        match_kind!(&self.kind, {
            bool T => false,
            integer T => true,
            float T => false,
            complex T => false,
            Kind::Narrow(_) | Kind::LongDouble(_) | Kind::ComplexLongDouble(_) => false,
            Kind::Bytes(_) | Kind::Str(_) | Kind::Void(_) | Kind::Struct(_) => false,
            Kind::Datetime(_) | Kind::Timedelta(_) => false,
        })
    }

    /// The bytes of one item.
    pub fn itemsize(&self) -> usize {
        match_kind!(&self.kind, {
            number T => <T as Element>::SIZE,
            Kind::Narrow(_) => 1,
            Kind::LongDouble(n) | Kind::ComplexLongDouble(n) | Kind::Bytes(n) | Kind::Void(n) => *n,
            Kind::Str(n) => 4 * n,
            Kind::Struct(s) => s.itemsize,
            Kind::Datetime(_) | Kind::Timedelta(_) => 8,
        })
    }

    /// The same dtype with every number in it little-endian.
    pub fn native(&self) -> Self {
        let Kind::Struct(s) = &self.kind else { return self.kind.clone().into() };
        let fields = s.fields.iter().map(|f| Field { dtype: f.dtype.native(), ..f.clone() }).collect();
        Kind::Struct(Arc::new(Struct { fields, itemsize: s.itemsize })).into()
    }

    /// The same dtype with every number in it big-endian, where bytes have an order.
    pub fn big_endian(&self) -> Self {
        let Kind::Struct(s) = &self.kind else {
            return Self { big: unit_size(&self.kind) > 1, kind: self.kind.clone() };
        };
        let fields = s.fields.iter().map(|f| Field { dtype: f.dtype.big_endian(), ..f.clone() }).collect();
        Kind::Struct(Arc::new(Struct { fields, itemsize: s.itemsize })).into()
    }

    /// This dtype as it is read from the bits of items of `stored`, which are as long: in that byte order. `None` if
    /// the bytes of the two are arranged in units of different length.
    pub fn read_from(&self, stored: &Self) -> Option<Self> {
        if !stored.big {
            return Some(self.native());
        }
        let fits = unit_size(&self.kind) == unit_size(&stored.kind) && !matches!(self.kind, Kind::BFloat16);
        fits.then(|| Self { big: true, kind: self.kind.clone() })
    }

    /// Whether items of both are the same kind, whatever their byte order.
    pub fn same_kind(&self, other: &Self) -> bool {
        self == other || self.native() == other.native()
    }

    /// What turns an item of this dtype into one of `to`, a dtype of the [same kind](Self::same_kind).
    pub(crate) fn swaps_to(&self, to: &Self) -> Vec<Swap> {
        match (&self.kind, &to.kind) {
            (Kind::Struct(a), Kind::Struct(b)) => {
                let fields = a.fields.iter().zip(&b.fields);
                let swaps = fields.flat_map(|(a, b)| {
                    let inner = a.dtype.swaps_to(&b.dtype);
                    let count = a.items();
                    let repeat = Swap::Repeat { offset: a.offset, count, stride: a.dtype.itemsize(), inner };
                    matches!(&repeat, Swap::Repeat { inner, .. } if !inner.is_empty()).then_some(repeat)
                });
                swaps.collect()
            }
            _ if self.big == to.big => Vec::new(),
            (kind, _) => {
                let width = unit_size(kind);
                vec![Swap::Units { width, count: self.itemsize() / width }]
            }
        }
    }
}

/// A step of turning the bytes of one item into another byte order.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Swap {
    /// `count` units of `width` bytes, from the beginning on, are each reversed.
    Units { width: usize, count: usize },
    /// `inner` is done `count` times, the first at `offset`, then every `stride` bytes.
    Repeat { offset: usize, count: usize, stride: usize, inner: Vec<Swap> },
}

impl Swap {
    /// Does it to one item.
    pub(crate) fn apply(&self, item: &mut [u8]) {
        match self {
            Swap::Units { width: 2, count } => reverse_words::<2>(&mut item[..2 * count]),
            Swap::Units { width: 4, count } => reverse_words::<4>(&mut item[..4 * count]),
            Swap::Units { width: 8, count } => reverse_words::<8>(&mut item[..8 * count]),
            Swap::Units { width, count } => item[..width * count].chunks_exact_mut(*width).for_each(<[u8]>::reverse),
            Swap::Repeat { offset, count, stride, inner } => {
                for chunk in item[*offset..][..count * stride].chunks_exact_mut(*stride) {
                    inner.iter().for_each(|swap| swap.apply(chunk));
                }
            }
        }
    }

    /// Does all of `swaps` to each item of `items`.
    pub(crate) fn apply_all(swaps: &[Swap], items: &mut [u8], itemsize: usize) {
        match swaps {
            [] => {}
            [Swap::Units { width, .. }] => Swap::Units { width: *width, count: items.len() / width }.apply(items),
            _ => items.chunks_exact_mut(itemsize).for_each(|item| swaps.iter().for_each(|swap| swap.apply(item))),
        }
    }
}

fn reverse_words<const N: usize>(bytes: &mut [u8]) {
    bytes.as_chunks_mut::<N>().0.iter_mut().for_each(|word| word.reverse());
}

/// The bytes of the units that a byte order arranges.
pub(super) fn unit_size(kind: &Kind) -> usize {
    // NumPy stores it as raw bytes (`<V2`), which have no other order
    if *kind == Kind::BFloat16 {
        return 1;
    }
    match_kind!(kind, {
        number T => <<T as Element>::Part as Element>::SIZE,
        Kind::ComplexLongDouble(n) => n / 2,
        Kind::LongDouble(n) => *n,
        Kind::Str(_) => 4,
        Kind::Narrow(_) | Kind::Bytes(_) | Kind::Void(_) | Kind::Struct(_) => 1,
        Kind::Datetime(_) | Kind::Timedelta(_) => 8,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn swaps() {
        let pair = |a: &str, b: &str, item: &[u8]| {
            let (a, b) = (DType::parse(a).unwrap(), DType::parse(b).unwrap());
            let mut item = item.to_vec();
            Swap::apply_all(&a.swaps_to(&b), &mut item, a.itemsize());
            item
        };
        assert_eq!(pair("<i4", ">i4", &[1, 2, 3, 4, 5, 6, 7, 8]), [4, 3, 2, 1, 8, 7, 6, 5]);
        assert_eq!(pair("<c8", ">c8", &[1, 2, 3, 4, 5, 6, 7, 8]), [4, 3, 2, 1, 8, 7, 6, 5]);
        assert_eq!(pair("<U2", ">U2", &[1, 0, 0, 0, 2, 0, 0, 0]), [0, 0, 0, 1, 0, 0, 0, 2]);
        assert_eq!(pair("|S2", "|S2", &[1, 2]), [1, 2]);
        let field = |descr: &str, shape: &[usize], offset| Field {
            name: format!("f{offset}"),
            title: None,
            dtype: DType::parse(descr).unwrap(),
            shapes: if shape.is_empty() { vec![] } else { vec![shape.to_vec()] },
            offset,
        };
        let a = DType::structured(vec![field("<i2", &[2], 1), field("|S1", &[], 5)], 7).unwrap();
        let b = DType::structured(vec![field(">i2", &[2], 1), field("|S1", &[], 5)], 7).unwrap();
        assert!(a != b && a.same_kind(&b));
        let mut items = [0, 1, 2, 3, 4, 5, 6, 10, 11, 12, 13, 14, 15, 16];
        Swap::apply_all(&a.swaps_to(&b), &mut items, 7);
        assert_eq!(items, [0, 2, 1, 4, 3, 5, 6, 10, 12, 11, 14, 13, 15, 16]);
        assert_eq!(b.descr(), "[('', '|V1'), ('f1', '>i2', (2,)), ('f5', '|S1'), ('', '|V1')]");
    }
}
