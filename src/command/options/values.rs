//! Parsers of option values.

use std::ffi::OsStr;
use std::path::PathBuf;

use clap::builder::{OsStringValueParser, PossibleValue, PossibleValuesParser, TypedValueParser};
use clap::{Arg, Command, Error};

use crate::DType;
use crate::container::glob::Glob;
use crate::narrow::stored_dtype;
use crate::narrow::stored_dtype::StoredDType;
use crate::opening::table::Format;

pub(crate) fn parse_number<N: std::str::FromStr>(text: &str) -> Result<N, String> {
    text.parse().map_err(|_| "expected a whole number, 0 or more".to_owned())
}

pub(crate) fn parse_tolerance(text: &str) -> Result<f64, String> {
    let value = text.parse::<f64>().ok().filter(|value| *value >= 0.0 && value.is_finite());
    value.ok_or_else(|| "expected a number, 0 or more".to_owned())
}

pub(crate) fn parse_glob(text: &str) -> Result<Glob, String> {
    Ok(Glob::new(text))
}

/// Takes the units of `huggingface_hub`'s shard sizes: KB, MB, GB and TB, in any case.
pub(crate) fn parse_size(text: &str) -> Result<u64, String> {
    in_units(text, &DECIMAL).ok_or_else(|| "expected a size such as 5GB: a number and KB, MB, GB or TB".to_owned())
}

/// Also takes binary units.
pub(crate) fn parse_memory_size(text: &str) -> Result<u64, String> {
    let expected = "expected a size such as 5GB: a number and KB, MB, GB or TB (or KiB, MiB, GiB, TiB)";
    in_units(text, &DECIMAL).or_else(|| in_units(text, &BINARY)).ok_or_else(|| expected.to_owned())
}

const DECIMAL: [(&str, f64); 4] = [("KB", 1e3), ("MB", 1e6), ("GB", 1e9), ("TB", 1e12)];
const BINARY: [(&str, f64); 4] =
    [("KiB", 1024.0), ("MiB", 1_048_576.0), ("GiB", 1_073_741_824.0), ("TiB", 1_099_511_627_776.0)];

fn in_units(text: &str, units: &[(&str, f64)]) -> Option<u64> {
    let text = text.trim();
    let unit_of = |&(unit, bytes): &(&str, f64)| {
        let (number, found) = text.split_at_checked(text.len().checked_sub(unit.len())?)?;
        found.eq_ignore_ascii_case(unit).then_some((number, bytes))
    };
    let (number, unit) = units.iter().find_map(unit_of)?;
    let bytes = number.trim().parse::<f64>().ok()? * unit;
    (1.0..9.2e18).contains(&bytes).then_some(bytes as u64)
}

/// For all tensors, or those whose names match a pattern.
#[derive(Clone)]
pub(crate) struct ByName<T> {
    pub glob: Option<Glob>,
    pub value: T,
}

impl<T> ByName<T> {
    /// A value contains `=` at most at its beginning, as in NumPy's dtype `=i4`.
    pub(crate) fn parse(text: &str, parse: fn(&str) -> Result<T, String>) -> Result<Self, String> {
        match text.rsplit_once('=').filter(|(glob, _)| !glob.is_empty()) {
            Some((glob, value)) => Ok(Self { glob: Some(Glob::new(glob)), value: parse(value)? }),
            None => Ok(Self { glob: None, value: parse(text)? }),
        }
    }

    pub(crate) fn last<'a>(all: &'a [Self], name: &str) -> Option<&'a T> {
        let matches = |one: &&Self| one.glob.as_ref().is_none_or(|glob| glob.matches(name));
        all.iter().rev().find(matches).map(|one| &one.value)
    }

    pub(crate) fn globs<'a>(option: &'static str, all: &'a [Self]) -> impl Iterator<Item = (&'static str, &'a Glob)> {
        all.iter().filter_map(move |one| Some((option, one.glob.as_ref()?)))
    }
}

pub(crate) fn asked_dtype(text: &str) -> Result<DType, String> {
    stored_dtype::dtype(text).map_err(|error| error.message().to_owned())
}

/// Shells complete the names of numeric dtypes and those in `more`.
#[derive(Clone, Copy)]
pub(crate) struct DTypeParser<T> {
    parse: fn(&str) -> Result<T, String>,
    more: fn() -> Vec<&'static str>,
}

impl<T> DTypeParser<T> {
    pub(crate) fn from_values(parse: fn(&str) -> Result<T, String>) -> Self {
        Self { parse, more: Vec::new }
    }
}

pub(crate) type DTypeArg = ByName<StoredDType>;

impl DTypeParser<DTypeArg> {
    pub(crate) fn from_bytes() -> Self {
        Self::from_stored(|text| Ok(ByName { glob: None, value: stored_dtype(text)? }))
    }

    pub(crate) fn from_bytes_by_name() -> Self {
        Self::from_stored(|text| ByName::parse(text, stored_dtype))
    }

    fn from_stored(parse: fn(&str) -> Result<DTypeArg, String>) -> Self {
        Self { parse, more: || StoredDType::packed_names().collect() }
    }
}

fn stored_dtype(text: &str) -> Result<StoredDType, String> {
    StoredDType::asked(text).map_err(|error| error.message().to_owned())
}

impl<T: Clone + Send + Sync + 'static> TypedValueParser for DTypeParser<T> {
    type Value = T;

    fn parse_ref(&self, grammar: &Command, argument: Option<&Arg>, value: &OsStr) -> Result<T, Error> {
        self.parse.parse_ref(grammar, argument, value)
    }

    fn possible_values(&self) -> Option<Box<dyn Iterator<Item = PossibleValue> + '_>> {
        Some(Box::new(DType::names().chain((self.more)()).map(PossibleValue::new)))
    }
}

pub(crate) fn dtype_help(what: &str) -> String {
    let names: Vec<_> = DType::names().collect();
    format!(
        "{what}\n\nDtypes: {}; '<U5', 'S3', '<M8[ns]', '>f4' and others as NumPy writes them; float, half, double, int, \
         str; bf16, fp16, fp32, f32, f64, i32, u32, ...; the names of safetensors (BF16, F8_E4M3) and ONNX (FLOAT, INT64).",
        names.join(", ")
    )
}

#[derive(Clone)]
pub(crate) struct OptionWord<T> {
    word: PossibleValue,
    value: T,
}

pub(crate) fn word<T>(word: &'static str, help: &'static str, value: T) -> OptionWord<T> {
    OptionWord { word: PossibleValue::new(word).help(help), value }
}

pub(crate) fn parse_words<T>(words: Vec<OptionWord<T>>) -> impl TypedValueParser<Value = T>
where
    T: Clone + Send + Sync + 'static,
{
    let parser = PossibleValuesParser::new(words.iter().map(|word| word.word.clone()));
    parser.map(move |typed| {
        let word = words.iter().find(|word| word.word.matches(&typed, true));
        word.expect("one of the words, since no other passes the parser").value.clone()
    })
}

/// `help` returns `None` for formats that the option does not take.
pub(crate) fn parse_format(help: impl Fn(Format) -> Option<&'static str>) -> impl TypedValueParser<Value = Format> {
    let word = |format: Format| {
        let OptionWord { word, value } = word(format.argument(), help(format)?, format);
        Some(OptionWord { word: format.alias().into_iter().fold(word, PossibleValue::alias), value })
    };
    parse_words(Format::all().filter_map(word).collect())
}

/// Accepts empty paths, which clap's own parser refuses.
pub(crate) fn parse_path() -> impl TypedValueParser<Value = PathBuf> {
    OsStringValueParser::new().map(PathBuf::from)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sizes() {
        let rows = [
            ("5GB", 5_000_000_000),
            ("1KB", 1000),
            (" 1.5 mb ", 1_500_000),
            ("2Tb", 2_000_000_000_000),
            ("256MiB", 1 << 28),
            ("0.5 kib", 512),
            ("1gIB", 1 << 30),
            ("3TiB", 3 << 40),
        ];
        for (text, bytes) in rows {
            assert_eq!(parse_memory_size(text), Ok(bytes), "{text}");
            let decimal = !text.to_ascii_lowercase().contains('i');
            assert_eq!(parse_size(text).ok(), decimal.then_some(bytes), "{text}");
        }
        for text in ["", "5", "GB", "iB", "5B", "-1GB", "0KB", "nanGB", "infGB", "é", "1e30TB", "0.0001KB", "5 G"] {
            assert!(parse_memory_size(text).is_err() && parse_size(text).is_err(), "{text}");
        }
    }
}
