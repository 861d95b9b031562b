//! The tests that are known to fail, which `check --expect` reads.

use std::collections::{BTreeSet, HashSet};
use std::path::Path;

use crate::error::{Context, Result, malformed};

/// The tests that are known to fail.
pub(super) struct KnownFailures {
    /// The file that lists them.
    file: String,
    ids: BTreeSet<String>,
}

impl KnownFailures {
    /// Reads a file of ids, one on each line.
    ///
    /// # Errors
    /// The file cannot be read, or is not UTF-8.
    pub(super) fn read(path: &Path) -> Result<Self> {
        let file = path.display().to_string();
        let place = || format!("--expect {file}");
        let text = String::from_utf8(std::fs::read(path).with_context(place)?);
        let text = text.map_err(|error| malformed!("not UTF-8: {error}")).with_context(place)?;
        let ids = text.trim_start_matches('\u{feff}').lines().map(id_of).filter(|id| !id.is_empty());
        Ok(Self { ids: ids.map(str::to_owned).collect(), file: file.clone() })
    }

    /// Returns the path of the file.
    pub(super) fn file(&self) -> &str {
        &self.file
    }

    /// Returns whether a test is known to fail.
    pub(super) fn has(&self, id: &str) -> bool {
        self.ids.contains(id)
    }

    /// Returns the ids that no test has, each with a message.
    pub(super) fn without_tests<'a>(
        &'a self,
        tests: &'a HashSet<String>,
    ) -> impl Iterator<Item = (&'a str, String)> + 'a {
        let unknown = self.ids.iter().filter(|id| !tests.contains(*id));
        unknown.map(|id| (id.as_str(), format!("{} lists this id, and no test has it", self.file)))
    }
}

/// Returns the id in a line without blanks around it and without a comment, which begins at a `#` after a blank or at the
/// beginning of the line. Within an id, a `#` comes before the name of an entry.
fn id_of(line: &str) -> &str {
    let is_comment = |&(at, _): &(usize, &str)| line[..at].chars().next_back().is_none_or(char::is_whitespace);
    let end = line.match_indices('#').find(is_comment).map_or(line.len(), |(at, _)| at);
    line[..end].trim()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ids_and_comments() {
        for (line, id) in [
            ("cases#right", "cases#right"),
            ("  slice/a/0 \r", "slice/a/0"),
            ("a b  # a note", "a b"),
            ("a\t#b", "a"),
            ("# a", ""),
            ("   ", ""),
        ] {
            assert_eq!(id_of(line), id, "{line:?}");
        }
    }
}
