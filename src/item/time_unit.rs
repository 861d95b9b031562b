//! Units of time: the length of one tick of a date, or of a difference of dates.

use std::fmt;

/// A unit of time: a number of named units, or the generic unit.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct TimeUnit {
    /// How many named units one tick has; at least 1.
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
    /// Parses the brackets of a dtype's name, such as `[ns]` or `[25s]`; an empty text is the generic unit.
    pub(super) fn parse(text: &str) -> Option<Self> {
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
