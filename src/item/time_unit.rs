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

/// The named units, each with the code in the names of dtypes and the word for several of them.
const TIME_NAMES: &[(TimeBase, &str, &str)] = &[
    (TimeBase::Year, "Y", "years"),
    (TimeBase::Month, "M", "months"),
    (TimeBase::Week, "W", "weeks"),
    (TimeBase::Day, "D", "days"),
    (TimeBase::Hour, "h", "hours"),
    (TimeBase::Minute, "m", "minutes"),
    (TimeBase::Second, "s", "seconds"),
    (TimeBase::Millisecond, "ms", "milliseconds"),
    (TimeBase::Microsecond, "us", "microseconds"),
    (TimeBase::Nanosecond, "ns", "nanoseconds"),
    (TimeBase::Picosecond, "ps", "picoseconds"),
    (TimeBase::Femtosecond, "fs", "femtoseconds"),
    (TimeBase::Attosecond, "as", "attoseconds"),
];

impl TimeUnit {
    /// Parses the brackets of a dtype's name, such as `[ns]` or `[25s]`; an empty text is the generic unit.
    pub(super) fn parse(text: &str) -> Option<Self> {
        if ["", "[generic]"].contains(&text) {
            return Some(Self { count: 1, base: None });
        }
        let inner = text.strip_prefix('[')?.strip_suffix(']')?;
        let unit = inner.trim_start_matches(|c: char| c.is_ascii_digit());
        let digits = &inner[..inner.len() - unit.len()];
        let count =
            if digits.is_empty() { 1 } else { digits.parse().ok().filter(|&n| n > 0 && n <= i32::MAX as u32)? };
        let base = TIME_NAMES.iter().find(|(_, code, _)| *code == if unit == "μs" { "us" } else { unit })?.0;
        Some(Self { count, base: Some(base) })
    }

    /// Returns the code of the named unit and the word for several of it; `None` for the generic unit.
    fn names(self) -> Option<(&'static str, &'static str)> {
        let base = self.base?;
        let (_, code, plural) =
            TIME_NAMES.iter().find(|(named, ..)| *named == base).expect("each named unit is listed");
        Some((code, plural))
    }

    /// Returns the word for several named units, which says so if the unit is generic.
    #[cfg(feature = "files")]
    pub(crate) fn plural(self) -> &'static str {
        self.names().map_or("generic time units", |(_, plural)| plural)
    }
}

impl fmt::Display for TimeUnit {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Some((code, _)) = self.names() else { return Ok(()) };
        if self.count == 1 { write!(f, "[{code}]") } else { write!(f, "[{}{code}]", self.count) }
    }
}
