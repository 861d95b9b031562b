//! Outputs that get their names when they are complete.

use std::fs::Metadata;
use std::path::{Path, PathBuf};

#[derive(Debug)]
pub struct NamedTarget {
    pub label: String,
    /// With symbolic links resolved.
    pub path: PathBuf,
    /// The metadata of the file that will be replaced.
    pub existing: Option<Box<Metadata>>,
    /// Whether a file that appears during the run must stay.
    pub(super) no_clobber: bool,
    /// Files whose presence lets a folder be replaced.
    pub(super) marks: &'static [&'static str],
    /// The missing folders on the way to the target.
    pub(super) missing: Vec<PathBuf>,
}

impl NamedTarget {
    /// Returns whether a folder that appeared since the start may be replaced.
    pub(super) fn may_replace_new(&self) -> bool {
        !self.no_clobber && has_mark(&self.path, self.marks)
    }

    pub(super) fn failed(&self) -> String {
        format!("{}: cannot be put in place", self.label)
    }
}

pub(super) fn has_mark(folder: &Path, marks: &[&str]) -> bool {
    marks.iter().any(|mark| folder.join(mark).is_file())
}
