//! Files that another file names. They must be in the same folder, because the author of the name may be malicious.

use std::path::{Component, Path};
use std::{fs::File, path::PathBuf, sync::Arc};

use crate::error::{Result, ensure};
use crate::storage::links::refuse_hashed;
use crate::storage::read_at::{Identity, ReadAt};
use crate::storage::requests::{RequestOptions, as_address};

pub(super) fn is_plain_name(location: &str) -> bool {
    let mut parts = Path::new(location).components();
    let one = matches!((parts.next(), parts.next()), (Some(Component::Normal(name)), None) if name == location);
    // A colon marks a drive or a stream on Windows.
    one && !location.contains(['/', '\\', '\0']) && !(cfg!(windows) && location.contains(':'))
}

pub(super) fn join(folder: &Path, name: &str) -> PathBuf {
    match as_address(folder) {
        Some(address) => format!("{address}/{name}").into(),
        None => folder.join(name),
    }
}

pub(super) fn open_beside(path: &Path, requests: RequestOptions) -> Result<Arc<dyn ReadAt>> {
    if let Some(address) = as_address(path) {
        return super::objects::object(address, requests);
    }
    // Opening a pipe may block for ever. Links are followed, because download caches link the files of a model
    // elsewhere.
    ensure!(std::fs::metadata(path)?.is_file(), "expected a regular file");
    Ok(Arc::new(File::open(path)?))
}

/// Opens a file for changes in place, and locks it. The lock on `own`, the file that names it, exists already.
pub(super) fn lock_beside(path: &Path, own: Identity) -> Result<File> {
    refuse_hashed(path)?;
    let file = File::options().read(true).write(true).open(path)?;
    ensure!(file.metadata()?.is_file(), "expected a regular file");
    ensure!(file.identity()? != own, "expected another file than this one");
    file.lock()?;
    Ok(file)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_stay_in_the_folder() {
        for (name, plain) in [
            ("a.bin", true),
            ("..a", true),
            ("", false),
            (".", false),
            ("..", false),
            ("a/", false),
            ("./a", false),
            ("a/b", false),
            ("../a", false),
            ("/a", false),
            ("a\\b", false),
            ("a\0", false),
        ] {
            assert_eq!(is_plain_name(name), plain, "{name:?}");
        }
    }
}
