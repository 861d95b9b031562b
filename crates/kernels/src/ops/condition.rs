//! Conditions on single items.

use std::convert::Infallible;
use std::fmt;
use std::str::FromStr;

use crate::error::{Error, Subject};

/// A condition on an item; `V` is the type of its value: an item, or text on a command line.
///
/// A NaN (either part of a complex number, or `NaT`) satisfies no comparison, not even `!=`.
///
/// ```
/// use tensorop_kernels::Condition;
/// assert_eq!("<=0.5".parse(), Ok(Condition::AtMost("0.5".to_owned())));
/// assert_eq!("nan".parse::<Condition<String>>(), Ok(Condition::Nan));
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Condition<V> {
    /// A NaN.
    Nan,
    /// An infinity, or a complex number with an infinite part.
    Inf,
    /// Neither a NaN nor infinite.
    Finite,
    /// Equal to the value; -0 equals 0.
    Equal(V),
    /// A number other than the value.
    NotEqual(V),
    /// Less than the value.
    Less(V),
    /// At most the value.
    AtMost(V),
    /// Greater than the value.
    Greater(V),
    /// At least the value.
    AtLeast(V),
}

type MakeCondition = fn(String) -> Condition<String>;

/// Longer signs first: `<` is a prefix of `<=`.
const SIGNS: [(&str, MakeCondition); 6] = [
    ("==", Condition::Equal),
    ("!=", Condition::NotEqual),
    ("<=", Condition::AtMost),
    (">=", Condition::AtLeast),
    ("<", Condition::Less),
    (">", Condition::Greater),
];

impl<V> Condition<V> {
    /// The value that items are compared with.
    pub fn value(&self) -> Option<&V> {
        match self {
            Self::Nan | Self::Inf | Self::Finite => None,
            Self::Equal(value)
            | Self::NotEqual(value)
            | Self::Less(value)
            | Self::AtMost(value)
            | Self::Greater(value)
            | Self::AtLeast(value) => Some(value),
        }
    }

    /// Converts the value.
    ///
    /// # Errors
    /// `change` fails.
    pub fn try_map<W, E>(&self, change: impl FnOnce(&V) -> Result<W, E>) -> Result<Condition<W>, E> {
        Ok(match self {
            Self::Nan => Condition::Nan,
            Self::Inf => Condition::Inf,
            Self::Finite => Condition::Finite,
            Self::Equal(value) => Condition::Equal(change(value)?),
            Self::NotEqual(value) => Condition::NotEqual(change(value)?),
            Self::Less(value) => Condition::Less(change(value)?),
            Self::AtMost(value) => Condition::AtMost(change(value)?),
            Self::Greater(value) => Condition::Greater(change(value)?),
            Self::AtLeast(value) => Condition::AtLeast(change(value)?),
        })
    }

    pub(super) fn map<W>(&self, change: impl FnOnce(&V) -> W) -> Condition<W> {
        let Ok(changed) = self.try_map(|value| Ok::<_, Infallible>(change(value)));
        changed
    }

    pub(super) fn is_ordered(&self) -> bool {
        matches!(self, Self::Less(_) | Self::AtMost(_) | Self::Greater(_) | Self::AtLeast(_))
    }
}

impl FromStr for Condition<String> {
    type Err = Error;

    /// # Errors
    /// The text is not a condition.
    fn from_str(text: &str) -> Result<Self, Error> {
        let text = text.trim_start();
        // a text value may end in blanks
        if let Some((make, value)) = SIGNS.iter().find_map(|(sign, make)| Some((make, text.strip_prefix(sign)?))) {
            return Ok(make(value.to_owned()));
        }
        let text = text.trim_end();
        match text.to_ascii_lowercase().as_str() {
            "nan" | "nat" => Ok(Self::Nan),
            "inf" => Ok(Self::Inf),
            "finite" => Ok(Self::Finite),
            "-inf" | "+inf" => Err(refused(format!("inf matches both signs, =={text} only one"))),
            _ => Err(refused("expected nan, inf, finite, ==V, !=V, <V, <=V, >V or >=V".to_owned())),
        }
    }
}

impl<V: fmt::Display> fmt::Display for Condition<V> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Nan => f.write_str("nan"),
            Self::Inf => f.write_str("inf"),
            Self::Finite => f.write_str("finite"),
            Self::Equal(value) => write!(f, "=={value}"),
            Self::NotEqual(value) => write!(f, "!={value}"),
            Self::Less(value) => write!(f, "<{value}"),
            Self::AtMost(value) => write!(f, "<={value}"),
            Self::Greater(value) => write!(f, ">{value}"),
            Self::AtLeast(value) => write!(f, ">={value}"),
        }
    }
}

pub(super) fn refused(message: String) -> Error {
    Error::new(Subject::Argument("where"), message)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn texts() {
        let value = |text: &str| text.to_owned();
        let rows = [
            ("nan", Condition::Nan),
            (" NaN ", Condition::Nan),
            ("NaT", Condition::Nan),
            ("Inf", Condition::Inf),
            ("finite", Condition::Finite),
            ("==1", Condition::Equal(value("1"))),
            ("!=-1e3", Condition::NotEqual(value("-1e3"))),
            ("<0", Condition::Less(value("0"))),
            ("<=inf", Condition::AtMost(value("inf"))),
            (" > 5", Condition::Greater(value(" 5"))),
            (">=[1,2]", Condition::AtLeast(value("[1,2]"))),
            ("==", Condition::Equal(value(""))),
            ("===", Condition::Equal(value("="))),
        ];
        for (text, expected) in rows {
            assert_eq!(text.parse().as_ref(), Ok(&expected), "{text}");
            assert_eq!(expected.to_string().parse(), Ok(expected), "{text}");
        }
        let rows = [
            ("-inf", "where: inf matches both signs, ==-inf only one"),
            ("", "where: expected nan, inf, finite, ==V, !=V, <V, <=V, >V or >=V"),
            ("=1", "where: expected nan, inf, finite, ==V, !=V, <V, <=V, >V or >=V"),
            ("1", "where: expected nan, inf, finite, ==V, !=V, <V, <=V, >V or >=V"),
            ("isnan", "where: expected nan, inf, finite, ==V, !=V, <V, <=V, >V or >=V"),
        ];
        for (text, expected) in rows {
            assert_eq!(text.parse::<Condition<String>>().unwrap_err().to_string(), expected, "{text}");
        }
    }
}
