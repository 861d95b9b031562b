//! Folders that an output needs and that are not there yet.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use super::signals;

/// The folders that were missing when an output was begun. Unless they are kept, those that are empty are removed again.
///
/// Several outputs may need one folder, and the last of them that fails finds it empty. So each removes all that were missing,
/// whoever made them.
#[derive(Debug)]
pub struct MadeFolders {
    /// Each after those that it lies in.
    missing: Vec<PathBuf>,
}

/// Returns the folders on the way to `folder` that do not exist, each after those that it lies in.
pub(super) fn missing_folders(folder: &Path) -> Vec<PathBuf> {
    let is_missing = |folder: &&Path| !folder.as_os_str().is_empty() && fs::symlink_metadata(folder).is_err();
    let mut missing: Vec<_> = folder.ancestors().take_while(is_missing).map(Path::to_owned).collect();
    missing.reverse();
    missing
}

impl MadeFolders {
    /// Makes folders that were missing.
    ///
    /// # Errors
    /// A folder cannot be made.
    pub(super) fn make(missing: &[PathBuf]) -> io::Result<Self> {
        let made = Self { missing: missing.to_vec() };
        made.missing.last().map_or(Ok(()), fs::create_dir_all)?;
        Ok(made)
    }

    /// Removes the folders before a signal ends the program, after what is called by then.
    pub(super) fn remove_when_ended(&self) {
        if !self.missing.is_empty() {
            let missing = self.missing.clone();
            signals::call_when_ended(move || remove(&missing));
        }
    }

    /// Keeps the folders, since they hold a complete output.
    pub fn keep(&mut self) {
        self.missing.clear();
    }
}

impl Drop for MadeFolders {
    fn drop(&mut self) {
        remove(&self.missing);
    }
}

/// Removes folders as far as they are empty.
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
