//! The units that a part has made. A file that was lost or truncated since is made again, and is never taken for a unit
//! of fill values.

use std::fmt::Write as _;
use std::ops::Range;
use std::sync::Mutex;

use super::parts::Ledger;
use tensorop_kernels::error::Result;
use tensorop_kernels::parallel::locked;

/// The state of a finished unit.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum MadeUnit {
    File(u64),
    /// Not stored, because it holds only the fill value.
    Empty,
}

/// The known units of one part, by their numbers in the whole output.
#[derive(Debug)]
pub struct MadeUnits<'a> {
    ledger: &'a Ledger,
    part: usize,
    first: usize,
    found: Mutex<FoundUnits>,
}

#[derive(Debug, Default)]
struct FoundUnits {
    units: Vec<Option<MadeUnit>>,
    /// The number of empty units, now and at the last update of the record.
    empty: usize,
    noted: usize,
}

impl<'a> MadeUnits<'a> {
    /// Reads the list of a part, which a killed process may have written.
    pub fn of(ledger: &'a Ledger, part: usize, own: Range<usize>) -> Self {
        let units = parsed(&ledger.made(part), &own).unwrap_or_else(|| vec![None; own.len()]);
        let empty = units.iter().filter(|unit| **unit == Some(MadeUnit::Empty)).count();
        Self { ledger, part, first: own.start, found: Mutex::new(FoundUnits { units, empty, noted: empty }) }
    }

    /// `None` if the state is unknown.
    pub fn get(&self, number: usize) -> Option<MadeUnit> {
        locked(&self.found).units[number - self.first]
    }

    /// Adds a unit. Files need no record. Empty units are recorded when their number has doubled, so a killed part
    /// repeats at most half.
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

    pub fn text(&self) -> String {
        listed(&locked(&self.found).units, self.first)
    }
}

/// The list has a line `FIRST LAST BYTES` for each run of files of one size, and `FIRST LAST -` for each run of empty
/// units.
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
