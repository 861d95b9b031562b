//! Element types: what an item is, how many bytes it takes, how it is named and how NumPy describes it.

use std::fmt;
use std::sync::Arc;

use crate::error::{Error, Subject};
use crate::item::python;
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

/// The kinds that have a name of their own: kind, NumPy's (or ml_dtypes') name, letter and bytes of the descr.
const NAMED: &[(Kind, &str, char, usize)] = &[
    (Kind::Bool, "bool", 'b', 1),
    (Kind::Int8, "int8", 'i', 1),
    (Kind::Int16, "int16", 'i', 2),
    (Kind::Int32, "int32", 'i', 4),
    (Kind::Int64, "int64", 'i', 8),
    (Kind::UInt8, "uint8", 'u', 1),
    (Kind::UInt16, "uint16", 'u', 2),
    (Kind::UInt32, "uint32", 'u', 4),
    (Kind::UInt64, "uint64", 'u', 8),
    (Kind::Float16, "float16", 'f', 2),
    (Kind::Float32, "float32", 'f', 4),
    (Kind::Float64, "float64", 'f', 8),
    (Kind::LongDouble(12), "float96", 'f', 12),
    (Kind::LongDouble(16), "float128", 'f', 16),
    (Kind::Complex64, "complex64", 'c', 8),
    (Kind::Complex128, "complex128", 'c', 16),
    (Kind::ComplexLongDouble(24), "complex192", 'c', 24),
    (Kind::ComplexLongDouble(32), "complex256", 'c', 32),
    (Kind::BFloat16, "bfloat16", 'V', 2),
    // Before the other narrow types: the only one whose descr tells which it is.
    (Kind::Narrow(Narrow::Float8E5M2), "float8_e5m2", 'f', 1),
    (Kind::Narrow(Narrow::Float8E3M4), "float8_e3m4", 'V', 1),
    (Kind::Narrow(Narrow::Float8E4M3), "float8_e4m3", 'V', 1),
    (Kind::Narrow(Narrow::Float8E4M3B11FNUZ), "float8_e4m3b11fnuz", 'V', 1),
    (Kind::Narrow(Narrow::Float8E4M3FN), "float8_e4m3fn", 'V', 1),
    (Kind::Narrow(Narrow::Float8E4M3FNUZ), "float8_e4m3fnuz", 'V', 1),
    (Kind::Narrow(Narrow::Float8E5M2FNUZ), "float8_e5m2fnuz", 'V', 1),
    (Kind::Narrow(Narrow::Float8E8M0FNU), "float8_e8m0fnu", 'V', 1),
    (Kind::Narrow(Narrow::Float6E2M3FN), "float6_e2m3fn", 'V', 1),
    (Kind::Narrow(Narrow::Float6E3M2FN), "float6_e3m2fn", 'V', 1),
    (Kind::Narrow(Narrow::Float4E2M1FN), "float4_e2m1fn", 'V', 1),
    (Kind::Narrow(Narrow::Int4), "int4", 'V', 1),
    (Kind::Narrow(Narrow::UInt4), "uint4", 'V', 1),
    (Kind::Narrow(Narrow::Int2), "int2", 'V', 1),
    (Kind::Narrow(Narrow::UInt2), "uint2", 'V', 1),
];

/// Other names that NumPy's users type.
const ALIASES: &[(&str, &str)] = &[
    ("?", "bool"),
    ("half", "float16"),
    ("single", "float32"),
    ("double", "float64"),
    ("float", "float64"),
    ("int", "int64"),
    ("uint", "uint64"),
    ("complex", "complex128"),
    ("longdouble", "float128"),
    ("clongdouble", "complex256"),
    ("str", "U"),
    ("bytes", "S"),
];

/// A unit of time: so many of a named unit, or the generic one.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct TimeUnit {
    /// How many of `base` one tick is; at least 1.
    pub count: u32,
    /// The named unit; `None` is NumPy's generic unit.
    pub base: Option<TimeBase>,
}

/// NumPy's named units of time.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[allow(missing_docs)]
pub enum TimeBase {
    Year,
    Month,
    Week,
    Day,
    Hour,
    Minute,
    Second,
    Millisecond,
    Microsecond,
    Nanosecond,
    Picosecond,
    Femtosecond,
    Attosecond,
}

const TIME_CODES: &[(TimeBase, &str)] = &[
    (TimeBase::Year, "Y"),
    (TimeBase::Month, "M"),
    (TimeBase::Week, "W"),
    (TimeBase::Day, "D"),
    (TimeBase::Hour, "h"),
    (TimeBase::Minute, "m"),
    (TimeBase::Second, "s"),
    (TimeBase::Millisecond, "ms"),
    (TimeBase::Microsecond, "us"),
    (TimeBase::Nanosecond, "ns"),
    (TimeBase::Picosecond, "ps"),
    (TimeBase::Femtosecond, "fs"),
    (TimeBase::Attosecond, "as"),
];

impl TimeUnit {
    /// The text between and with the brackets, such as `[ns]` or `[25s]`, or nothing for the generic unit.
    fn parse(text: &str) -> Option<Self> {
        if text.is_empty() {
            return Some(Self { count: 1, base: None });
        }
        let inner = text.strip_prefix('[')?.strip_suffix(']')?;
        let unit = inner.trim_start_matches(|c: char| c.is_ascii_digit());
        let digits = &inner[..inner.len() - unit.len()];
        if unit == "generic" && digits.is_empty() {
            return Some(Self { count: 1, base: None });
        }
        let count =
            if digits.is_empty() { 1 } else { digits.parse().ok().filter(|&n| n > 0 && n <= i32::MAX as u32)? };
        let base = TIME_CODES.iter().find(|(_, code)| *code == if unit == "μs" { "us" } else { unit })?.0;
        Some(Self { count, base: Some(base) })
    }
}

impl fmt::Display for TimeUnit {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Some(base) = self.base else { return Ok(()) };
        let code = TIME_CODES.iter().find(|(b, _)| *b == base).map_or("", |(_, code)| code);
        if self.count == 1 { write!(f, "[{code}]") } else { write!(f, "[{}{code}]", self.count) }
    }
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
    kind: Kind,
    big: bool,
}

impl From<Kind> for DType {
    /// The little-endian dtype of that kind (fields keep their own byte order).
    fn from(kind: Kind) -> Self {
        Self { kind, big: false }
    }
}

impl DType {
    /// Reads a name (`float32`, `bfloat16`, `str`) or one of NumPy's short descriptions (`<f4`, `|S5`, `<M8[ns]`).
    /// `U` and `S` without a number have the width 0.
    ///
    /// # Errors
    /// An unknown name, and object arrays (`O`), which hold pickled Python objects.
    pub fn parse(text: &str) -> Result<Self, Error> {
        let unknown = || Error::new(Subject::Dtype, format!("unknown dtype {}", python::repr_str(text)));
        let name = ALIASES.iter().find(|(alias, _)| *alias == text).map_or(text, |(_, name)| name);
        if let Some((kind, ..)) = NAMED.iter().find(|(_, n, ..)| *n == name) {
            return Ok(kind.clone().into());
        }
        match name {
            "datetime64" => return Self::parse("<M8"),
            "timedelta64" => return Self::parse("<m8"),
            _ => {}
        }
        if let Some(unit) = name.strip_prefix("datetime64") {
            return TimeUnit::parse(unit).map(|u| Kind::Datetime(u).into()).ok_or_else(unknown);
        }
        if let Some(unit) = name.strip_prefix("timedelta64") {
            return TimeUnit::parse(unit).map(|u| Kind::Timedelta(u).into()).ok_or_else(unknown);
        }
        let order = name.chars().next().filter(|c| "<>|=".contains(*c));
        let rest = &name[order.map_or(0, char::len_utf8)..];
        let letter = rest.chars().next().filter(char::is_ascii_alphabetic).ok_or_else(unknown)?;
        let after = &rest[1..];
        let size_len = after.find(|c: char| !c.is_ascii_digit()).unwrap_or(after.len());
        let (digits, unit) = after.split_at(size_len);
        if letter == 'O' {
            return Err(Error::new(Subject::Dtype, "object arrays hold pickled Python objects, which are not read"));
        }
        let size = if digits.is_empty() { 0 } else { digits.parse::<usize>().map_err(|_| unknown())? };
        let plain = unit.is_empty();
        let kind = match letter {
            'M' if size == 8 => Kind::Datetime(TimeUnit::parse(unit).ok_or_else(unknown)?),
            'm' if size == 8 => Kind::Timedelta(TimeUnit::parse(unit).ok_or_else(unknown)?),
            'S' if plain => Kind::Bytes(size),
            'U' if plain && bytes_of(&[size], 4).is_some() => Kind::Str(size),
            'V' if plain && size == 2 && order == Some('<') => Kind::BFloat16,
            'V' if plain && !digits.is_empty() => Kind::Void(size),
            'V' => return Err(unknown()),
            _ if !plain || digits.is_empty() => return Err(unknown()),
            _ => {
                let found = NAMED.iter().find(|(_, _, l, s)| *l == letter && *s == size);
                found.map(|(kind, ..)| kind.clone()).ok_or_else(unknown)?
            }
        };
        bytes_of(&[], Self::from(kind.clone()).itemsize()).ok_or_else(unknown)?;
        Ok(Self { big: order == Some('>') && unit_size(&kind) > 1, kind })
    }

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
        use Kind::{Int8, Int16, Int32, Int64, UInt8, UInt16, UInt32, UInt64};
        matches!(self.kind, Int8 | Int16 | Int32 | Int64 | UInt8 | UInt16 | UInt32 | UInt64)
    }

    /// The bytes of one item.
    pub fn itemsize(&self) -> usize {
        match &self.kind {
            Kind::LongDouble(n) | Kind::ComplexLongDouble(n) | Kind::Bytes(n) | Kind::Void(n) => *n,
            Kind::Str(n) => 4 * n,
            Kind::Struct(s) => s.itemsize,
            Kind::Datetime(_) | Kind::Timedelta(_) => 8,
            kind => NAMED.iter().find(|(k, ..)| k == kind).map_or(0, |(.., size)| *size),
        }
    }

    /// The same dtype with every number in it little-endian.
    pub fn native(&self) -> Self {
        match &self.kind {
            Kind::Struct(s) => {
                let fields = s.fields.iter().map(|f| Field { dtype: f.dtype.native(), ..f.clone() }).collect();
                Kind::Struct(Arc::new(Struct { fields, itemsize: s.itemsize })).into()
            }
            kind => kind.clone().into(),
        }
    }

    /// The same dtype with every number in it big-endian, where bytes have an order.
    pub fn big_endian(&self) -> Self {
        match &self.kind {
            Kind::Struct(s) => {
                let fields = s.fields.iter().map(|f| Field { dtype: f.dtype.big_endian(), ..f.clone() }).collect();
                Kind::Struct(Arc::new(Struct { fields, itemsize: s.itemsize })).into()
            }
            kind => Self { big: unit_size(kind) > 1, kind: kind.clone() },
        }
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

    /// The name that [`DType::parse`] takes: NumPy's, or NumPy's description for strings, dates, void and fields.
    pub fn name(&self) -> String {
        match NAMED.iter().find(|(k, ..)| *k == self.kind) {
            Some((_, name, ..)) => (*name).to_owned(),
            None if matches!(self.kind, Kind::Struct(_)) => self.descr(),
            None => self.short(),
        }
    }

    /// The `descr` of a `.npy` header: a quoted description, or a list of fields, as Python prints it.
    pub fn descr(&self) -> String {
        let Kind::Struct(s) = &self.kind else { return format!("'{}'", self.short()) };
        let mut parts = Vec::new();
        let mut end = 0;
        let gap = |parts: &mut Vec<String>, from: usize, to: usize| {
            if to > from {
                parts.push(format!("('', '|V{}')", to - from));
            }
        };
        for field in &s.fields {
            gap(&mut parts, end, field.offset);
            end = field.offset + field.size();
            let name = python::repr_str(&field.name);
            let name = match &field.title {
                Some(title) => format!("({}, {name})", python::repr_str(title)),
                None => name,
            };
            let inner = field.shapes.iter().skip(1).rev();
            let descr = inner.fold(field.dtype.descr(), |inner, dims| format!("({inner}, {})", python::tuple(dims)));
            let dims = field.shapes.first().map_or(String::new(), |dims| format!(", {}", python::tuple(dims)));
            parts.push(format!("({name}, {descr}{dims})"));
        }
        gap(&mut parts, end, s.itemsize);
        format!("[{}]", parts.join(", "))
    }

    /// NumPy's short description of a dtype without fields, such as `<f4`.
    fn short(&self) -> String {
        let order = match &self.kind {
            Kind::BFloat16 | Kind::Narrow(_) => '<',
            kind if unit_size(kind) <= 1 => '|',
            _ if self.big => '>',
            _ => '<',
        };
        match &self.kind {
            Kind::Bytes(n) => format!("|S{n}"),
            Kind::Str(n) => format!("{order}U{n}"),
            Kind::Void(n) => format!("|V{n}"),
            Kind::Datetime(unit) => format!("{order}M8{unit}"),
            Kind::Timedelta(unit) => format!("{order}m8{unit}"),
            kind => match NAMED.iter().find(|(k, ..)| k == kind) {
                Some((_, _, letter, size)) => format!("{order}{letter}{size}"),
                None => String::new(),
            },
        }
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

impl fmt::Display for DType {
    /// The [name](DType::name), with the byte order where it is big-endian.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.name())?;
        if self.big && !self.name().starts_with('>') { f.write_str(" (big-endian)") } else { Ok(()) }
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
fn unit_size(kind: &Kind) -> usize {
    match kind {
        Kind::Complex64 => 4,
        Kind::Complex128 => 8,
        Kind::ComplexLongDouble(n) => n / 2,
        Kind::LongDouble(n) => *n,
        Kind::Str(_) => 4,
        Kind::Bytes(_) | Kind::Void(_) | Kind::Struct(_) | Kind::BFloat16 => 1,
        Kind::Datetime(_) | Kind::Timedelta(_) => 8,
        kind => NAMED.iter().find(|(k, ..)| k == kind).map_or(1, |(.., size)| *size),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_and_descriptions() {
        // what is typed, name, descr, bytes
        let rows = [
            ("bool", "bool", "'|b1'", 1),
            ("|b1", "bool", "'|b1'", 1),
            (">i1", "int8", "'|i1'", 1),
            ("=i4", "int32", "'<i4'", 4),
            ("i4", "int32", "'<i4'", 4),
            (">u8", "uint64", "'>u8'", 8),
            ("half", "float16", "'<f2'", 2),
            ("<f1", "float8_e5m2", "'<f1'", 1),
            ("float8_e4m3fn", "float8_e4m3fn", "'<V1'", 1),
            (">f16", "float128", "'>f16'", 16),
            ("complex", "complex128", "'<c16'", 16),
            ("<V2", "bfloat16", "'<V2'", 2),
            ("bfloat16", "bfloat16", "'<V2'", 2),
            ("|V2", "|V2", "'|V2'", 2),
            ("V0", "|V0", "'|V0'", 0),
            ("S5", "|S5", "'|S5'", 5),
            (">U3", ">U3", "'>U3'", 12),
            ("str", "<U0", "'<U0'", 0),
            ("<M8[ns]", "<M8[ns]", "'<M8[ns]'", 8),
            (">m8[25s]", ">m8[25s]", "'>m8[25s]'", 8),
            ("datetime64[D]", "<M8[D]", "'<M8[D]'", 8),
            ("timedelta64", "<m8", "'<m8'", 8),
        ];
        for (typed, name, descr, bytes) in rows {
            let dtype = DType::parse(typed).unwrap();
            assert_eq!(
                (dtype.name().as_str(), dtype.descr().as_str(), dtype.itemsize()),
                (name, descr, bytes),
                "{typed}"
            );
            assert_eq!(DType::parse(&dtype.name()).unwrap(), dtype.clone().kind.into_dtype(dtype.big), "{typed}");
        }
    }

    impl Kind {
        /// A name carries no byte order but for strings and dates.
        fn into_dtype(self, big: bool) -> DType {
            let keeps = matches!(self, Kind::Str(_) | Kind::Datetime(_) | Kind::Timedelta(_));
            DType { big: big && keeps, kind: self }
        }
    }

    #[test]
    fn refused() {
        for text in [
            "",
            "f3",
            "i16",
            "<",
            "M8[q]",
            "M8[0s]",
            "<M4",
            "U99999999999999999999",
            "V",
            "x4",
            "f4x",
            "é",
            "|Ｓ5",
            "O8",
        ] {
            assert!(DType::parse(text).is_err(), "{text}");
        }
        assert!(DType::parse("|O").unwrap_err().message().contains("pickled"));
    }

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
