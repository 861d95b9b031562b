//! What a part has made, unit by unit, so that what is there can be compared with it: a file that was lost or cut since
//! then is made again, and is never taken for one that holds only the fill value.

use std::fmt::Write as _;
use std::ops::Range;
use std::sync::Mutex;

use super::parts::Ledger;
use crate::error::Result;
use crate::parallel::locked;

/// What became of a unit.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum MadeUnit {
    /// It is a file of this many bytes.
    File(u64),
    /// It is done and not stored, because it holds only the fill value.
    Empty,
}

/// What is known of the units of one part, by their numbers among those of all parts.
#[derive(Debug)]
pub struct MadeUnits<'a> {
    ledger: &'a Ledger,
    part: usize,
    /// The number of the first unit of the part.
    first: usize,
    found: Mutex<FoundUnits>,
}

#[derive(Debug, Default)]
struct FoundUnits {
    units: Vec<Option<MadeUnit>>,
    /// How many of them are empty, and of how many the record has that.
    empty: usize,
    noted: usize,
}

impl<'a> MadeUnits<'a> {
    /// Begins with what the record has of a part, which another process may have noted before it was killed.
    pub fn of(ledger: &'a Ledger, part: usize, own: Range<usize>) -> Self {
        let units = parsed(&ledger.made(part), &own).unwrap_or_else(|| vec![None; own.len()]);
        let empty = units.iter().filter(|unit| **unit == Some(MadeUnit::Empty)).count();
        Self { ledger, part, first: own.start, found: Mutex::new(FoundUnits { units, empty, noted: empty }) }
    }

    /// Returns what became of a unit; `None` if that is not known.
    pub fn get(&self, number: usize) -> Option<MadeUnit> {
        locked(&self.found).units[number - self.first]
    }

    /// Adds a unit. A file says by itself that it is there; of empty units all are noted each time their number has
    /// doubled, so that a part that is killed does at most half of them again.
    ///
    /// # Errors
    /// The note cannot be written.
    pub fn add(&self, number: usize, unit: MadeUnit) -> Result<()> {
        let mut found = locked(&self.found);
        let before = found.units[number - self.first].replace(unit);
        if unit == MadeUnit::Empty && before != Some(unit) {
            found.empty += 1;
            if found.empty >= 2 * found.noted.max(1) {
                self.ledger.set_made(self.part, &listed(&found.units, self.first))?;
                found.noted = found.empty;
            }
        }
        Ok(())
    }

    /// Returns all of them as the record has them.
    pub fn text(&self) -> String {
        listed(&locked(&self.found).units, self.first)
    }
}

/// Returns units as a text, with a line `FIRST LAST BYTES` for each run of files of one size, and `FIRST LAST -` for each of
/// empty ones.
fn listed(units: &[Option<MadeUnit>], first: usize) -> String {
    let (mut out, mut first) = (String::new(), first);
    for run in units.chunk_by(|a, b| a == b) {
        let last = first + run.len() - 1;
        let written = match run[0] {
            Some(MadeUnit::File(bytes)) => writeln!(out, "{first} {last} {bytes}"),
            Some(MadeUnit::Empty) => writeln!(out, "{first} {last} -"),
            None => Ok(()),
        };
        written.expect("a String takes any text");
        first += run.len();
    }
    out
}

/// Returns the units of such a text; `None` if it is damaged.
fn parsed(text: &str, own: &Range<usize>) -> Option<Vec<Option<MadeUnit>>> {
    let mut units = vec![None; own.len()];
    for line in text.lines() {
        let (first, rest) = line.split_once(' ')?;
        let (last, unit) = rest.split_once(' ')?;
        let [first, last] = [first, last].map(|number| number.parse::<usize>().ok()?.checked_sub(own.start));
        let unit = if unit == "-" { MadeUnit::Empty } else { MadeUnit::File(unit.parse().ok()?) };
        units.get_mut(first?..=last?)?.fill(Some(unit));
    }
    Some(units)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn runs_of_units() {
        let [file, empty] = [Some(MadeUnit::File(7)), Some(MadeUnit::Empty)];
        let rows = [
            (vec![], ""),
            (vec![None, None], ""),
            (vec![file, file, empty], "10 11 7\n12 12 -\n"),
            (vec![None, empty, empty, None, file], "11 12 -\n14 14 7\n"),
        ];
        for (units, expected) in rows {
            let own = 10..10 + units.len();
            assert_eq!((listed(&units, 10).as_str(), parsed(expected, &own)), (expected, Some(units)));
        }
        for damaged in ["1", "1 2", "10 11 x\n", "9 10 -\n", "10 13 -\n", "12 10 5\n", "10 18446744073709551615 -\n"] {
            assert_eq!(parsed(damaged, &(10..13)), None, "{damaged}");
        }
    }
}
