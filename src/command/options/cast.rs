//! The option `--cast`.

use std::fmt;

use anyhow::{Result, bail};

use super::members::meant;
use super::values::{ByName, asked_dtype};
use crate::DType;
use crate::item::dtype::Kind;

/// A dtype, for all tensors of its class or for names that match a pattern.
pub(crate) type CastArg = ByName<DType>;

pub(crate) fn parse_cast(text: &str) -> Result<CastArg, String> {
    CastArg::parse(text, asked_dtype)
}

impl fmt::Display for CastArg {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.glob.iter().try_for_each(|glob| write!(f, "{}=", glob.text()))?;
        f.write_str(&self.value.name())
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum DTypeClass {
    Integer,
    Float,
    Complex,
}

const MAX_LISTED: usize = 5;

impl DTypeClass {
    fn name(self) -> &'static str {
        match self {
            Self::Integer => "integers",
            Self::Float => "floats",
            Self::Complex => "complex numbers",
        }
    }
}

/// `None` for bool, strings, dates and bytes, which a cast without a pattern leaves unchanged.
fn class(dtype: &DType) -> Option<DTypeClass> {
    match dtype.kind() {
        Kind::Int8 | Kind::Int16 | Kind::Int32 | Kind::Int64 => Some(DTypeClass::Integer),
        Kind::UInt8 | Kind::UInt16 | Kind::UInt32 | Kind::UInt64 => Some(DTypeClass::Integer),
        Kind::Narrow(narrow) => Some(if narrow.is_integer() { DTypeClass::Integer } else { DTypeClass::Float }),
        Kind::Float16 | Kind::BFloat16 | Kind::Float32 | Kind::Float64 | Kind::LongDouble(_) => Some(DTypeClass::Float),
        Kind::Complex64 | Kind::Complex128 | Kind::ComplexLongDouble(_) => Some(DTypeClass::Complex),
        Kind::Bool | Kind::Bytes(_) | Kind::Str(_) | Kind::Void(_) | Kind::Struct(_) => None,
        Kind::Datetime(_) | Kind::Timedelta(_) => None,
    }
}

/// A tensor that already has the dtype counts, so that a script can run again.
pub(crate) fn check(casts: &[CastArg], tensors: &[(&str, &DType)], alone: bool) -> Result<()> {
    for cast in casts {
        match &cast.glob {
            Some(glob) if !tensors.iter().any(|(name, _)| glob.matches(name)) => {
                let names: Vec<_> = tensors.iter().map(|(name, _)| *name).collect();
                bail!("--cast {cast}: {} matches no tensor{}", glob.text(), meant(glob.text(), &names))
            }
            None if !alone => check_class(cast, tensors)?,
            Some(_) | None => {}
        }
        let is_decisive = |(name, dtype): &(&str, &DType)| {
            decisive(casts, name, dtype, alone).is_some_and(|found| std::ptr::eq(found, cast))
        };
        if !tensors.is_empty() && !tensors.iter().any(is_decisive) {
            bail!("--cast {cast}: casts no tensor: other values of --cast decide all that it matches");
        }
    }
    Ok(())
}

fn check_class(cast: &CastArg, tensors: &[(&str, &DType)]) -> Result<()> {
    let Some(own) = class(&cast.value) else {
        bail!("--cast {cast}: with several tensors, name some: --cast 'GLOB={cast}'");
    };
    if tensors.iter().any(|(_, dtype)| class(dtype) == Some(own)) {
        return Ok(());
    }
    let mut dtypes: Vec<_> = tensors.iter().map(|(_, dtype)| dtype.native().name()).collect();
    dtypes.sort();
    dtypes.dedup();
    let (class, dtypes) = (own.name(), listed(&dtypes));
    bail!(
        "--cast {cast}: converts {class} of several tensors, and these are {dtypes}: --cast 'GLOB={cast}' names others"
    )
}

fn listed(dtypes: &[String]) -> String {
    let more = dtypes.len().saturating_sub(MAX_LISTED);
    let mut words: Vec<_> = dtypes.iter().take(MAX_LISTED).cloned().collect();
    words.extend((more > 0).then(|| format!("{more} more")));
    match words.split_last() {
        Some((last, [])) => last.clone(),
        Some((last, first)) => format!("{} and {last}", first.join(", ")),
        None => "none".to_owned(),
    }
}

pub(crate) fn target<'a>(casts: &'a [CastArg], name: &str, dtype: &DType, alone: bool) -> Option<&'a DType> {
    decisive(casts, name, dtype, alone).map(|cast| &cast.value)
}

/// The last matching pattern decides, then the last plain dtype, which among several tensors is for those of its class.
fn decisive<'a>(casts: &'a [CastArg], name: &str, dtype: &DType, alone: bool) -> Option<&'a CastArg> {
    let matching = casts.iter().rev().find(|cast| cast.glob.as_ref().is_some_and(|glob| glob.matches(name)));
    let of_class = |cast: &&CastArg| {
        cast.glob.is_none() && (alone || class(&cast.value).is_some() && class(&cast.value) == class(dtype))
    };
    matching.or_else(|| casts.iter().rev().find(of_class))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn targets_of_casts() {
        let dtype = |name: &str| DType::parse(name).expect("a dtype");
        // values of --cast, name and dtype of a tensor, whether it is alone, the result
        let rows: &[(&[&str], &str, &str, bool, &str)] = &[
            (&["bfloat16"], "w", "float32", false, "bfloat16"),
            (&["bfloat16"], "w", "float8_e4m3fn", false, "bfloat16"),
            (&["bfloat16"], "ids", "int64", false, ""),
            (&["bfloat16"], "ids", "int64", true, "bfloat16"),
            (&["bfloat16"], "m", "bool", false, ""),
            (&["int32"], "m", "bool", false, ""),
            (&["int32"], "q", "int4", false, "int32"),
            (&["int32"], "w", "float32", false, ""),
            (&["complex64"], "z", "complex128", false, "complex64"),
            (&["complex64"], "w", "float32", false, ""),
            (&["bfloat16", "int32"], "ids", "int64", false, "int32"),
            (&["bfloat16", "float16"], "w", "float32", false, "float16"),
            (&["*=float16", "w*=float64"], "w1", "int8", false, "float64"),
            (&["w*=float64", "*=float16"], "w1", "bool", false, "float16"),
            (&["w*=float64", "bfloat16"], "w1", "float32", false, "float64"),
            (&["w*=float64", "bfloat16"], "v", "float32", false, "bfloat16"),
            (&["=i4"], "v", "int64", false, "int32"),
            (&["a=b=i4"], "a=b", "bool", false, "int32"),
        ];
        for (texts, name, from, alone, expected) in rows {
            let casts: Vec<_> = texts.iter().map(|text| parse_cast(text).expect("a cast")).collect();
            let found = target(&casts, name, &dtype(from), *alone).map(DType::name).unwrap_or_default();
            assert_eq!(found, *expected, "{texts:?} of {name} {from}");
        }
        assert!(parse_cast("a=").is_err() && parse_cast("a=floaty").is_err());
    }
}
