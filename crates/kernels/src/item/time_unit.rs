//! Units of time.

use std::fmt;

/// A number of named units, or NumPy's generic unit.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct TimeUnit {
    /// At least 1.
    pub count: u32,
    /// `None` is the generic unit.
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

pub(super) const DAY: i128 = 86_400;

/// Attoseconds per second.
pub(super) const SECOND: i128 = 10_i128.pow(18);

/// Unit, code, plural and length. Years and months have no fixed number of seconds, so their length is in months; all
/// others are in attoseconds.
const NAMED_UNITS: &[(TimeBase, &str, &str, i128)] = &[
    (TimeBase::Year, "Y", "years", 12),
    (TimeBase::Month, "M", "months", 1),
    (TimeBase::Week, "W", "weeks", 7 * DAY * SECOND),
    (TimeBase::Day, "D", "days", DAY * SECOND),
    (TimeBase::Hour, "h", "hours", 3600 * SECOND),
    (TimeBase::Minute, "m", "minutes", 60 * SECOND),
    (TimeBase::Second, "s", "seconds", SECOND),
    (TimeBase::Millisecond, "ms", "milliseconds", 10_i128.pow(15)),
    (TimeBase::Microsecond, "us", "microseconds", 10_i128.pow(12)),
    (TimeBase::Nanosecond, "ns", "nanoseconds", 10_i128.pow(9)),
    (TimeBase::Picosecond, "ps", "picoseconds", 10_i128.pow(6)),
    (TimeBase::Femtosecond, "fs", "femtoseconds", 10_i128.pow(3)),
    (TimeBase::Attosecond, "as", "attoseconds", 1),
];

impl TimeBase {
    pub(super) fn named(self) -> (&'static str, &'static str, i128) {
        let row = NAMED_UNITS.iter().find(|(named, ..)| *named == self);
        let (_, code, plural, length) = row.expect("each named unit is listed");
        (code, plural, *length)
    }

    /// Whether the length counts months.
    pub(super) fn is_of_months(self) -> bool {
        self <= Self::Month
    }
}

impl TimeUnit {
    /// Parses `[ns]` or `[25s]`; empty text is the generic unit.
    pub(super) fn parse(text: &str) -> Option<Self> {
        if ["", "[generic]"].contains(&text) {
            return Some(Self { count: 1, base: None });
        }
        let inner = text.strip_prefix('[')?.strip_suffix(']')?;
        let unit = inner.trim_start_matches(|c: char| c.is_ascii_digit());
        let digits = &inner[..inner.len() - unit.len()];
        let count =
            if digits.is_empty() { 1 } else { digits.parse().ok().filter(|&n| n > 0 && n <= i32::MAX as u32)? };
        let unit = if unit == "μs" { "us" } else { unit };
        let (base, ..) = NAMED_UNITS.iter().find(|(_, code, ..)| *code == unit)?;
        Some(Self { count, base: Some(*base) })
    }

    #[doc(hidden)]
    pub fn plural(self) -> &'static str {
        self.base.map_or("generic time units", |base| base.named().1)
    }
}

impl fmt::Display for TimeUnit {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Some((code, ..)) = self.base.map(TimeBase::named) else { return Ok(()) };
        if self.count == 1 { write!(f, "[{code}]") } else { write!(f, "[{}{code}]", self.count) }
    }
}
