//! Folders that are created for an output.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use super::signals;

/// The folders that an output found missing. Empty ones are removed on drop, unless they are kept. Of several outputs
/// that share a folder, only the last to fail finds it empty, so each removes all that it found missing.
#[derive(Debug)]
pub struct MadeFolders {
    /// Outer folders first.
    missing: Vec<PathBuf>,
}

/// Returns the missing ancestors of `folder` and itself, outer ones first.
pub(super) fn missing_folders(folder: &Path) -> Vec<PathBuf> {
    let is_missing = |folder: &&Path| !folder.as_os_str().is_empty() && fs::symlink_metadata(folder).is_err();
    let mut missing: Vec<_> = folder.ancestors().take_while(is_missing).map(Path::to_owned).collect();
    missing.reverse();
    missing
}

impl MadeFolders {
    pub(super) fn make(missing: &[PathBuf]) -> io::Result<Self> {
        let made = Self { missing: missing.to_vec() };
        made.missing.last().map_or(Ok(()), fs::create_dir_all)?;
        Ok(made)
    }

    /// The removal runs after callbacks that were registered earlier.
    pub(super) fn remove_when_ended(&self) {
        if !self.missing.is_empty() {
            let missing = self.missing.clone();
            signals::call_when_ended(move || remove(&missing));
        }
    }

    /// Keeps the folders, which hold a complete output.
    pub fn keep(&mut self) {
        self.missing.clear();
    }
}

impl Drop for MadeFolders {
    fn drop(&mut self) {
        remove(&self.missing);
    }
}

fn remove(folders: &[PathBuf]) {
    folders.iter().rev().for_each(|folder| drop(fs::remove_dir(folder)));
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_what_was_missing_and_is_empty_goes() {
        let folder = tempfile::tempdir().expect("a folder");
        let deep = folder.path().join("a/b/c");
        let missing = missing_folders(&deep);
        assert_eq!(missing, ["a", "a/b", "a/b/c"].map(|name| folder.path().join(name)));
        drop(MadeFolders::make(&missing).expect("made"));
        assert!(folder.path().exists() && !folder.path().join("a").exists());
        let made = MadeFolders::make(&missing).expect("made");
        fs::write(folder.path().join("a/file"), "").expect("written");
        drop(made);
        assert!(folder.path().join("a/file").exists() && !folder.path().join("a/b").exists());
        let mut made = MadeFolders::make(&missing).expect("made");
        made.keep();
        drop(made);
        assert!(deep.exists() && missing_folders(&deep).is_empty());
    }
}
