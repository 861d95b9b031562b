//! Operands on the command line.

use std::ffi::OsString;
use std::path::PathBuf;

use clap::builder::{OsStringValueParser, TypedValueParser};

/// Where an operand is.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum OperandArg {
    /// On standard input.
    Stdin,
    /// On the command line, as JSON.
    Inline(String),
    /// In a file.
    Path(PathBuf),
}

impl OperandArg {
    /// For clap.
    pub fn parser() -> impl TypedValueParser<Value = Self> {
        OsStringValueParser::new().map(Self::from)
    }
}

impl From<OsString> for OperandArg {
    fn from(text: OsString) -> Self {
        match text.to_str() {
            Some("-") => Self::Stdin,
            Some(inline) if inline.starts_with(['[', '{']) || is_number(inline) => Self::Inline(inline.to_owned()),
            _ => Self::Path(text.into()),
        }
    }
}

/// Whether a text is a JSON number.
fn is_number(text: &str) -> bool {
    fn digits(text: &str) -> Option<&str> {
        let rest = text.trim_start_matches(|c: char| c.is_ascii_digit());
        (rest.len() < text.len()).then_some(rest)
    }
    let whole = text.strip_prefix('-').unwrap_or(text);
    let Some(mut rest) = digits(whole) else { return false };
    if whole.starts_with('0') && whole.len() - rest.len() > 1 {
        return false;
    }
    if let Some(fraction) = rest.strip_prefix('.') {
        let Some(after) = digits(fraction) else { return false };
        rest = after;
    }
    match rest.strip_prefix(['e', 'E']) {
        Some(exponent) => digits(exponent.strip_prefix(['+', '-']).unwrap_or(exponent)) == Some(""),
        None => rest.is_empty(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn kinds() {
        for inline in ["[1]", "{\"a\":1}", "[", "5", "-5", "0", "1.5", "-1e3", "2E+10", "0.5e-3"] {
            assert_eq!(OperandArg::from(OsString::from(inline)), OperandArg::Inline(inline.into()), "{inline}");
        }
        for path in ["data.npy", "./[1].npy", "./5", "05", "1.", ".5", "1e", "5.npy", "+5", "1e3x", "-x", ""] {
            assert_eq!(OperandArg::from(OsString::from(path)), OperandArg::Path(path.into()), "{path}");
        }
        assert_eq!(OperandArg::from(OsString::from("-")), OperandArg::Stdin);
    }
}
