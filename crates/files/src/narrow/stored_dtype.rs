//! Dtypes as people type them, and as bytes hold them: packed or not. Views and `--dtype` reinterpret bytes only here.

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
            None => Ok(dtype(text)?.into()),
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

/// The names of a dtype elsewhere: in other programming languages, then in safetensors and ONNX (capitals). A NumPy
/// name that means something else to most people is in [`SLIPS`]. The likelier of similar names is the first.
const NEIGHBOURS: &[(&str, &str)] = &[
    ("bool", "BOOL"),
    ("int8", "I8 INT8"),
    ("int16", "i16 I16 INT16"),
    ("int32", "i32 I32 INT32"),
    ("int64", "i64 I64 INT64"),
    ("uint8", "UINT8"),
    ("uint16", "u16 UINT16"),
    ("uint32", "u32 UINT32"),
    ("uint64", "u64 UINT64"),
    ("bfloat16", "bf16 BF16 BFLOAT16"),
    ("float16", "fp16 F16 FLOAT16 FP16"),
    ("float32", "fp32 f32 F32 FLOAT FP32"),
    ("float64", "fp64 f64 F64 DOUBLE FP64"),
    ("complex64", "C64 COMPLEX64"),
    ("complex128", "COMPLEX128"),
    ("str", "STRING"),
    ("int4", "INT4"),
    ("uint4", "UINT4"),
    ("int2", "INT2"),
    ("uint2", "UINT2"),
    ("float4_e2m1fn", "F4 FLOAT4E2M1"),
    ("float6_e2m3fn", "F6_E2M3 FLOAT6E2M3"),
    ("float6_e3m2fn", "F6_E3M2 FLOAT6E3M2"),
    ("float8_e4m3fn", "F8_E4M3 FLOAT8E4M3FN"),
    ("float8_e5m2", "F8_E5M2 FLOAT8E5M2"),
    ("float8_e4m3fnuz", "F8_E4M3FNUZ FLOAT8E4M3FNUZ"),
    ("float8_e5m2fnuz", "F8_E5M2FNUZ FLOAT8E5M2FNUZ"),
    ("float8_e8m0fnu", "F8_E8M0 FLOAT8E8M0"),
];

/// Codes that count bytes in NumPy and bits elsewhere: code, both meanings, and the names to type instead. Both
/// readings are common, and the wrong one often passes every check, so both are refused. With a byte order (`<f8`) a
/// code is NumPy's.
const SLIPS: &[(&str, &str, &str, &str)] = &[
    ("f8", "float64", "float8", "float64, <f8 or float8_e4m3fn"),
    ("i8", "int64", "int8", "int64, <i8 or int8"),
    ("u8", "uint64", "uint8", "uint64, <u8 or uint8"),
    ("f16", "float128", "float16", "float128, <f16 or float16"),
    ("U8", "a string of 8 characters", "uint8", "<U8 or uint8"),
];

fn neighbours() -> impl Iterator<Item = (&'static str, &'static str)> {
    NEIGHBOURS.iter().flat_map(|(name, others)| others.split(' ').map(move |other| (other, *name)))
}

const ALIKE: usize = 3;

/// Whether a name means two dtypes and is refused.
pub fn is_slip(text: &str) -> bool {
    SLIPS.iter().any(|(code, ..)| *code == text)
}

/// Parses a typed dtype: the names of [`DType::parse`], then those of safetensors, ONNX and programming languages
/// (`BF16`, `FLOAT`, `f32`). Headers of files use [`DType::parse`], because an unknown name is damage there.
///
/// # Errors
/// The name is unknown or, like `f8`, means two dtypes; the error suggests others.
pub fn dtype(text: &str) -> Result<DType, Error> {
    if let Some((code, numpy, elsewhere, say)) = SLIPS.iter().find(|(code, ..)| *code == text) {
        let message = format!("{code}: {numpy} in NumPy, {elsewhere} elsewhere: say {say}");
        return Err(Error::new(Subject::Dtype, message));
    }
    DType::parse(text).or_else(|refused| {
        if let Some((_, name)) = neighbours().find(|(neighbour, _)| *neighbour == text) {
            return DType::parse(name);
        }
        match suggestions(text).as_slice() {
            [] => Err(refused),
            [names @ .., last] => {
                let list =
                    if names.is_empty() { (*last).to_owned() } else { format!("{} or {last}", names.join(", ")) };
                let message = format!("{}; did you mean {list}?", refused.message());
                Err(Error::new(Subject::Dtype, message))
            }
        }
    })
}

fn suggestions(text: &str) -> Vec<&'static str> {
    const LEAST: f64 = 0.8;
    let lower = text.to_lowercase();
    let (likely, others) = (NEIGHBOURS.iter().map(|(name, _)| *name), neighbours().map(|(neighbour, _)| neighbour));
    let mut begin: Vec<&str> = Vec::new();
    for name in likely.chain(DType::names()).chain(others).filter(|name| !lower.is_empty() && name.starts_with(&lower))
    {
        if begin.len() < ALIKE && !begin.contains(&name) {
            begin.push(name);
        }
    }
    if !begin.is_empty() {
        return begin;
    }
    let mut alike: Vec<_> = DType::names().map(|name| (strsim::jaro_winkler(&lower, name), name)).collect();
    alike.retain(|(score, _)| *score >= LEAST);
    alike.sort_by(|a, b| b.0.total_cmp(&a.0));
    alike.into_iter().take(ALIKE).map(|(_, name)| name).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn neighbours_mean_known_dtypes() {
        for (neighbour, name) in neighbours() {
            assert!(DType::parse(neighbour).is_err(), "{neighbour} is NumPy's");
            assert_eq!(dtype(neighbour), DType::parse(name), "{neighbour}");
        }
        let numpys = [("<i8", "int64"), ("=f16", "float128"), (">U8", ">U8"), ("f4", "float32"), ("u4", "uint32")];
        for (typed, name) in [("U16", "<U16"), ("<f8", "float64"), ("|u1", "uint8")].into_iter().chain(numpys) {
            assert_eq!(dtype(typed).map(|dtype| dtype.name()).as_deref(), Ok(name));
        }
    }

    #[test]
    fn slips() {
        for (code, _, _, say) in SLIPS {
            assert!(DType::parse(code).is_ok(), "{code} is not a NumPy code");
            assert_eq!(dtype(code).map_err(|error| error.message().ends_with(say)), Err(true));
            for name in say.split(", ").flat_map(|names| names.split(" or ")) {
                assert!(dtype(name).is_ok(), "{code}: {name}");
            }
        }
        let refused = dtype("f8").map_err(|error| error.message().to_owned());
        let expected = "f8: float64 in NumPy, float8 elsewhere: say float64, <f8 or float8_e4m3fn";
        assert_eq!(refused, Err(expected.to_owned()));
    }

    #[test]
    fn what_was_meant() {
        let eight = "float8_e4m3fn, float8_e5m2 or float8_e4m3fnuz";
        let rows = [
            ("float8", format!("unknown dtype 'float8'; did you mean {eight}?")),
            ("bfloat", "unknown dtype 'bfloat'; did you mean bfloat16?".to_owned()),
            ("Float32", "unknown dtype 'Float32'; did you mean float32?".to_owned()),
            ("flaot32", "unknown dtype 'flaot32'; did you mean float32".to_owned()),
            ("int33", "unknown dtype 'int33'; did you mean int32".to_owned()),
            ("quux", "unknown dtype 'quux'".to_owned()),
            ("", "unknown dtype ''".to_owned()),
        ];
        for (typed, expected) in rows {
            let refused = dtype(typed).unwrap_err();
            assert!(refused.message().starts_with(&expected), "{}", refused.message());
        }
        assert!(dtype("O").unwrap_err().message().contains("pickled"));
    }
}
