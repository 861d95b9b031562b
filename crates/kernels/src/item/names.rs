//! NumPy's names and descriptions of dtypes.

use std::fmt;

use crate::error::{Error, Subject};
use crate::item::datetime::TimeUnit;
use crate::item::dtype::{DType, Kind, Narrow};
use crate::item::encoding::units;
use crate::item::python;
use crate::layout::axis::bytes_of;

/// Kind, name in NumPy or ml_dtypes, and letter and bytes of the descr.
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
    (Kind::Narrow(Narrow::Float8E5M2), "float8_e5m2", 'V', 1),
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

const DATES: [(&str, &str); 2] = [("datetime64", "<M8"), ("timedelta64", "<m8")];

impl DType {
    /// Parses a name (`float32`, `bfloat16`, `str`) or a NumPy description (`<f4`, `|S5`, `<M8[ns]`). Without a number
    /// `U` and `S` have width 0.
    ///
    /// # Errors
    /// The name is unknown or means object arrays (`O`), which hold pickled Python objects.
    pub fn parse(text: &str) -> Result<Self, Error> {
        let unknown = || Error::new(Subject::Dtype, format!("unknown dtype {}", python::repr_str(text)));
        let name = ALIASES.iter().find(|(alias, _)| *alias == text).map_or(text, |(_, name)| name);
        if let Some((kind, ..)) = NAMED.iter().find(|(_, n, ..)| *n == name) {
            return Ok(kind.clone().into());
        }
        let short = DATES.iter().find_map(|(long, short)| Some(format!("{short}{}", name.strip_prefix(long)?)));
        let name = short.as_deref().unwrap_or(name);
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
            // ml_dtypes writes `<f1`, which NumPy cannot load; files get the void `<V1`
            'f' if plain && size == 1 => Kind::Narrow(Narrow::Float8E5M2),
            _ if !plain || digits.is_empty() => return Err(unknown()),
            _ => {
                let found = NAMED.iter().find(|(_, _, l, s)| *l == letter && *s == size);
                found.map(|(kind, ..)| kind.clone()).ok_or_else(unknown)?
            }
        };
        bytes_of(&[], Self::from(kind.clone()).itemsize()).ok_or_else(unknown)?;
        Ok(Self { big: order == Some('>') && units(&kind).0 > 1, kind })
    }

    /// The names of all numeric kinds, portable ones first.
    pub fn names() -> impl Iterator<Item = &'static str> {
        let wide = |kind: &Kind| matches!(kind, Kind::LongDouble(_) | Kind::ComplexLongDouble(_));
        let usual = NAMED.iter().filter(move |(kind, ..)| !wide(kind));
        usual.chain(NAMED.iter().filter(move |(kind, ..)| wide(kind))).map(|(_, name, ..)| *name)
    }

    /// Dtypes that a void of `bytes` bytes may be, most usual first. If NumPy has no name for some, these alone are
    /// returned, because NumPy would have named the others.
    #[doc(hidden)]
    pub fn names_of_size(bytes: usize) -> impl Iterator<Item = &'static str> {
        const USUAL: [&str; 4] = ["float8_e4m3fn", "float8_e5m2", "float32", "float64"];
        let of_size = move |kind: &Kind| Self::from(kind.clone()).itemsize() == bytes;
        let unnamed = |kind: &Kind| matches!(kind, Kind::BFloat16 | Kind::Narrow(_));
        let any_unnamed = NAMED.iter().any(|(kind, ..)| of_size(kind) && unnamed(kind));
        let fits = move |kind: &Kind| of_size(kind) && (!any_unnamed || unnamed(kind));
        let names = move || NAMED.iter().filter(move |(kind, ..)| fits(kind)).map(|(_, name, ..)| *name);
        let is_usual = |name: &&str| USUAL.contains(name);
        let usual = USUAL.into_iter().filter(move |usual| names().any(|name| name == *usual));
        usual.chain(names().filter(move |name| !is_usual(name)))
    }

    /// The name for [`DType::parse`]: NumPy's, or a description for strings, dates, void and fields.
    pub fn name(&self) -> String {
        match NAMED.iter().find(|(k, ..)| *k == self.kind) {
            Some((_, name, ..)) => (*name).to_owned(),
            None if matches!(self.kind, Kind::Struct(_)) => self.descr(),
            None => self.short(),
        }
    }

    /// The `descr` of a `.npy` header, as Python prints it.
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

    fn short(&self) -> String {
        let order = match &self.kind {
            Kind::BFloat16 | Kind::Narrow(_) => '<',
            kind if units(kind).0 <= 1 => '|',
            _ if self.big => '>',
            _ => '<',
        };
        match &self.kind {
            Kind::Bytes(n) => format!("|S{n}"),
            Kind::Str(n) => format!("{order}U{n}"),
            Kind::Void(n) => format!("|V{n}"),
            Kind::Datetime(unit) => format!("{order}M8{unit}"),
            Kind::Timedelta(unit) => format!("{order}m8{unit}"),
            Kind::LongDouble(n) => format!("{order}f{n}"),
            Kind::ComplexLongDouble(n) => format!("{order}c{n}"),
            kind => {
                let named = NAMED.iter().find(|(named, ..)| named == kind);
                let (_, _, letter, size) = named.expect("all kinds of one size have names");
                format!("{order}{letter}{size}")
            }
        }
    }
}

impl fmt::Display for DType {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.name())?;
        if self.big && !self.name().starts_with('>') { f.write_str(" (big-endian)") } else { Ok(()) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_and_descriptions() {
        let rows = [
            ("bool", "bool", "'|b1'", 1),
            ("|b1", "bool", "'|b1'", 1),
            (">i1", "int8", "'|i1'", 1),
            ("=i4", "int32", "'<i4'", 4),
            ("i4", "int32", "'<i4'", 4),
            (">u8", "uint64", "'>u8'", 8),
            ("half", "float16", "'<f2'", 2),
            ("<f1", "float8_e5m2", "'<V1'", 1),
            ("f1", "float8_e5m2", "'<V1'", 1),
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
}
