//! Dates in the headers of answers.

use std::time::{Duration, SystemTime};

use crate::item::datetime;
use crate::item::time_unit::{TimeBase, TimeUnit};

/// The names of the months, as all servers write them.
const MONTHS: [&str; 12] = ["Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"];

/// Parses a date as servers write it, such as `Sun, 06 Nov 1994 08:49:37 GMT` (IMF-fixdate of RFC 9110). The two forms that
/// were in use before 1994 are not read. The day of the week is not compared with the date.
pub(super) fn parse(text: &str) -> Option<SystemTime> {
    const SECONDS: TimeUnit = TimeUnit { count: 1, base: Some(TimeBase::Second) };
    let (_, date) = text.split_once(", ")?;
    let [day, month, year, time, "GMT"] = date.split(' ').collect::<Vec<_>>()[..] else { return None };
    let month = MONTHS.iter().position(|name| *name == month)? + 1;
    if (day.len(), year.len(), time.len()) != (2, 4, 8) {
        return None;
    }
    let since_1970 = datetime::parse(&format!("{year}-{month:02}-{day}T{time}"), SECONDS)?;
    Some(SystemTime::UNIX_EPOCH + Duration::from_secs(since_1970.try_into().ok()?))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn dates() {
        let rows = [
            ("Sun, 06 Nov 1994 08:49:37 GMT", Some(784_111_777)),
            ("Thu, 01 Jan 1970 00:00:00 GMT", Some(0)),
            ("Thu, 29 Feb 2024 23:59:59 GMT", Some(1_709_251_199)),
            ("Fri, 31 Dec 9999 23:59:59 GMT", Some(253_402_300_799)),
            ("Wed, 31 Dec 1969 23:59:59 GMT", None),
            ("Sun, 29 Feb 2026 00:00:00 GMT", None),
            ("Sun, 06 Nov 1994 24:00:00 GMT", None),
            ("Sun, 06 Nov 1994 08:49:37 CET", None),
            ("Sun, 06 Nov 1994 08:49:37", None),
            ("Sun, 06 nov 1994 08:49:37 GMT", None),
            ("Sun, 6 Nov 1994 08:49:37 GMT", None),
            ("Sun, 06 Nov 94 08:49:37 GMT", None),
            ("Sun, 06 Nov -994 08:49:37 GMT", None),
            ("Sun, 06 Nov 1994 08:49 GMT", None),
            ("Sun, 06 Nov 1994 08:49:37 GMT ", None),
            ("Sunday, 06-Nov-94 08:49:37 GMT", None),
            ("Sun Nov  6 08:49:37 1994", None),
            ("120", None),
            ("", None),
        ];
        for (text, seconds) in rows {
            let expected = seconds.map(|seconds| SystemTime::UNIX_EPOCH + Duration::from_secs(seconds));
            assert_eq!(parse(text), expected, "{text}");
        }
    }
}
