//! The units of a part that are done though no file says so, because they hold only the fill value and are not stored.

use std::collections::BTreeSet;
use std::sync::Mutex;

use super::parts::Ledger;
use crate::error::Result;
use crate::parallel::locked;

/// The units of one part that are known to be empty, by their numbers among those of all parts.
#[derive(Debug)]
pub struct EmptyUnits<'a> {
    ledger: &'a Ledger,
    part: usize,
    found: Mutex<FoundUnits>,
}

#[derive(Debug, Default)]
struct FoundUnits {
    numbers: BTreeSet<usize>,
    /// How many of them the record has.
    noted: usize,
}

impl<'a> EmptyUnits<'a> {
    /// Begins with the units that the record has of a part, which another process may have noted before it was killed.
    pub fn of(ledger: &'a Ledger, part: usize) -> Self {
        let numbers = parsed(&ledger.empty_units(part)).unwrap_or_default();
        let noted = numbers.len();
        Self { ledger, part, found: Mutex::new(FoundUnits { numbers, noted }) }
    }

    /// Returns whether a unit is known to be empty.
    pub fn has(&self, number: usize) -> bool {
        locked(&self.found).numbers.contains(&number)
    }

    /// Adds a unit. All are noted in the record each time their number has doubled, so that a part that is killed does at
    /// most half of them again.
    ///
    /// # Errors
    /// The note cannot be written.
    pub fn add(&self, number: usize) -> Result<()> {
        let mut found = locked(&self.found);
        found.numbers.insert(number);
        if found.numbers.len() >= 2 * found.noted.max(1) {
            self.ledger.set_empty_units(self.part, &listed(&found.numbers))?;
            found.noted = found.numbers.len();
        }
        Ok(())
    }

    /// Returns all of them as the record has them.
    pub fn text(&self) -> String {
        listed(&locked(&self.found).numbers)
    }
}

/// Returns numbers as a text, with a line `FIRST LAST` for each run of them.
fn listed(numbers: &BTreeSet<usize>) -> String {
    let (mut out, mut run): (String, Option<[usize; 2]>) = (String::new(), None);
    for &number in numbers {
        run = match run {
            Some([first, last]) if last + 1 == number => Some([first, number]),
            done => {
                done.into_iter().for_each(|[first, last]| out.push_str(&format!("{first} {last}\n")));
                Some([number; 2])
            }
        };
    }
    run.into_iter().for_each(|[first, last]| out.push_str(&format!("{first} {last}\n")));
    out
}

/// Returns the numbers of such a text; `None` if it is damaged.
pub fn parsed(text: &str) -> Option<BTreeSet<usize>> {
    let mut numbers = BTreeSet::new();
    for line in text.lines() {
        let (first, last) = line.split_once(' ')?;
        numbers.extend(first.parse::<usize>().ok()?..=last.parse().ok()?);
    }
    Some(numbers)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn runs_of_numbers() {
        for (numbers, expected) in [(&[][..], ""), (&[3], "3 3\n"), (&[1, 2, 3, 7, 9, 10], "1 3\n7 7\n9 10\n")] {
            let numbers: BTreeSet<usize> = numbers.iter().copied().collect();
            assert_eq!((listed(&numbers).as_str(), parsed(expected)), (expected, Some(numbers)));
        }
        assert_eq!([parsed("1"), parsed("a b")], [None, None]);
    }
}
