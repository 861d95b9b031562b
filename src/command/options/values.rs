//! Values that options of several groups take.

use clap::builder::{PossibleValue, PossibleValuesParser, TypedValueParser};

use crate::DType;
use crate::format::Format;

/// A number of things.
pub(crate) fn parse_number<N: std::str::FromStr>(text: &str) -> Result<N, String> {
    text.parse().map_err(|_| "expected a whole number, 0 or more".to_owned())
}

pub(crate) fn parse_dtype(text: &str) -> Result<DType, String> {
    DType::parse(text).map_err(|error| error.message().to_owned())
}

/// One of the formats that `help` has a line for.
pub(crate) fn parse_format(help: impl Fn(Format) -> Option<&'static str>) -> impl TypedValueParser<Value = Format> {
    let value = |format: Format| {
        let value = PossibleValue::new(format.argument()).help(help(format)?);
        Some(format.alias().into_iter().fold(value, PossibleValue::alias))
    };
    let values: Vec<_> = Format::all().filter_map(value).collect();
    PossibleValuesParser::new(values).try_map(|name| Format::named(&name).ok_or_else(|| format!("{name} is no format")))
}
