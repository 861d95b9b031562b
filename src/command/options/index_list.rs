//! Lists of integers on the command line: `0,1`, `[0,1]`, or the path of a tensor.

use std::ffi::OsString;
use std::path::PathBuf;

use clap::builder::{OsStringValueParser, TypedValueParser};

use crate::ops::slice::integer;

/// A list of integers, or the file that holds it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum IndexList {
    /// The integers.
    List(Vec<i64>),
    /// The path of a tensor of them.
    File(PathBuf),
}

impl IndexList {
    /// Returns clap's parser of such an argument.
    pub(crate) fn parser() -> impl TypedValueParser<Value = Self> {
        OsStringValueParser::new().try_map(Self::parse)
    }

    fn parse(text: OsString) -> Result<Self, String> {
        let Some(typed) = text.to_str() else { return Ok(Self::File(text.into())) };
        let trimmed = typed.trim();
        let inner = trimmed.strip_prefix('[').and_then(|t| t.strip_suffix(']'));
        let list = inner.unwrap_or(trimmed).trim();
        if list.is_empty() {
            return Ok(Self::List(Vec::new()));
        }
        let numbers: Option<Vec<_>> = list.split(',').map(|item| integer(item.trim())).collect();
        match numbers {
            Some(numbers) => numbers.into_iter().collect::<Result<_, _>>().map(Self::List),
            None if trimmed.starts_with('[') => {
                Err("not a list of integers (a file of such a name is given as ./[...)".to_owned())
            }
            None if trimmed == "-" => Err("standard input holds operands only".to_owned()),
            None => Ok(Self::File(text.into())),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lists_and_files() {
        let list = |numbers: &[i64]| Ok(IndexList::List(numbers.to_vec()));
        let rows = [
            ("0,1", list(&[0, 1])),
            ("-1,-2", list(&[-1, -2])),
            ("[0, 1]", list(&[0, 1])),
            ("[]", list(&[])),
            ("", list(&[])),
            ("INT_MAX", list(&[i64::MAX])),
            ("[INT_MIN,-9223372036854775808]", list(&[i64::MIN, i64::MIN])),
            ("9223372036854775808", Err("9223372036854775808 is beyond int64".to_owned())),
            ("[1.5]", Err("not a list of integers (a file of such a name is given as ./[...)".to_owned())),
            ("-", Err("standard input holds operands only".to_owned())),
            ("starts.npy", Ok(IndexList::File("starts.npy".into()))),
            ("./1", Ok(IndexList::File("./1".into()))),
            ("1,", Ok(IndexList::File("1,".into()))),
        ];
        for (text, expected) in rows {
            assert_eq!(IndexList::parse(text.into()), expected, "{text}");
        }
    }
}
