//! The names that outputs are to get, and what has them meanwhile.

use std::fs::Metadata;
use std::path::{Path, PathBuf};

/// A file or a folder that takes its name only when it is whole.
#[derive(Debug)]
pub struct NamedTarget {
    /// What messages call it.
    pub label: String,
    /// Its path after symbolic links.
    pub path: PathBuf,
    /// The metadata of what is there now.
    pub existing: Option<Box<Metadata>>,
    /// Whether a file that appears meanwhile must stay.
    pub(super) no_clobber: bool,
    /// The names of files of which each makes a folder one that may be replaced.
    pub(super) marks: &'static [&'static str],
    /// The folders on the way to it that are not there yet.
    pub(super) missing: Vec<PathBuf>,
}

impl NamedTarget {
    /// Returns whether a folder that has the name by now may be replaced, although there was none before.
    pub(super) fn may_replace_new(&self) -> bool {
        !self.no_clobber && has_mark(&self.path, self.marks)
    }

    /// Returns the message of an output that cannot take its name.
    pub(super) fn failed(&self) -> String {
        format!("{}: cannot be put in place", self.label)
    }
}

/// Returns whether a folder has a file of one of these names.
pub(super) fn has_mark(folder: &Path, marks: &[&str]) -> bool {
    marks.iter().any(|mark| folder.join(mark).is_file())
}
