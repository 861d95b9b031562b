//! Values that options of several groups take.

use crate::DType;

/// A number of things.
pub fn parse_number<N: std::str::FromStr>(text: &str) -> Result<N, String> {
    text.parse().map_err(|_| "expected a whole number, 0 or more".to_owned())
}

pub fn parse_dtype(text: &str) -> Result<DType, String> {
    DType::parse(text).map_err(|error| error.message().to_owned())
}
