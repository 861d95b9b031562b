//! Files and objects that another file names. They must be in the same folder, because the author of the name may be malicious.

use std::fs::File;
use std::path::{Component, Path, PathBuf};
use std::sync::{Arc, OnceLock};

use super::read_at::{Identity, ReadAt};
use super::requests::{RequestOptions, as_address};
use super::targets::target::refuse_hashed;
use tensorop_kernels::error::{Context, Error, ErrorKind, Result, ensure};
use tensorop_kernels::parallel::made_once;
#[cfg(feature = "remote")]
use tensorop_remote::{Address, Client};

pub(crate) fn is_plain_name(location: &str) -> bool {
    let mut parts = Path::new(location).components();
    let one = matches!((parts.next(), parts.next()), (Some(Component::Normal(name)), None) if name == location);
    // A colon marks a drive or a stream on Windows.
    one && !location.contains(['/', '\\', '\0']) && !(cfg!(windows) && location.contains(':'))
}

pub(crate) fn join(folder: &Path, name: &str) -> PathBuf {
    match as_address(folder) {
        Some(address) => format!("{address}/{name}").into(),
        None => folder.join(name),
    }
}

pub(crate) fn open_beside(path: &Path, requests: RequestOptions) -> Result<Arc<dyn ReadAt>> {
    if let Some(address) = as_address(path) {
        return object(address, requests);
    }
    // Opening a pipe may block for ever. Links are followed, because download caches link the files of a model
    // elsewhere.
    ensure!(std::fs::metadata(path)?.is_file(), "expected a regular file");
    Ok(Arc::new(File::open(path)?))
}

/// Opens a file for changes in place, and locks it. The lock on `own`, the file that names it, exists already.
pub(crate) fn lock_beside(path: &Path, own: Identity) -> Result<File> {
    refuse_hashed(path)?;
    let file = File::options().read(true).write(true).open(path)?;
    ensure!(file.metadata()?.is_file(), "expected a regular file");
    ensure!(file.identity()? != own, "expected another file than this one");
    file.lock()?;
    Ok(file)
}

/// The items of a file in one beside it, which is opened when they are wanted.
#[derive(Debug)]
pub(crate) struct FileBeside {
    /// `None` if the first file is in no folder.
    path: Option<PathBuf>,
    requests: RequestOptions,
    opened: OnceLock<Arc<dyn ReadAt>>,
}

impl FileBeside {
    pub(crate) fn new(path: Option<PathBuf>, requests: RequestOptions) -> Self {
        Self { path, requests, opened: OnceLock::new() }
    }

    pub(crate) fn open(&self) -> Result<&Arc<dyn ReadAt>> {
        let path = self.path.as_ref().context("the items are in another file, and there is no folder to find it in")?;
        made_once(&self.opened, || open_beside(path, self.requests).with_context(|| name_of(path)))
    }

    /// Opens the file for changes in place, and locks it. `own` is the file that names it.
    pub(crate) fn lock(&self, own: Identity) -> Result<()> {
        let Some(path) = self.path.as_deref().filter(|path| as_address(path).is_none()) else { return Ok(()) };
        let file = lock_beside(path, own).with_context(|| name_of(path))?;
        // nobody has opened it before
        _ = self.opened.set(Arc::new(file));
        Ok(())
    }
}

fn name_of(path: &Path) -> String {
    path.file_name().unwrap_or_default().to_string_lossy().into_owned()
}

/// Most headers fit in the first request.
#[cfg(feature = "remote")]
pub(crate) const FIRST_BYTES: u64 = 1 << 16;

#[cfg(feature = "remote")]
pub(crate) fn object(address: &str, requests: RequestOptions) -> Result<Arc<dyn ReadAt>> {
    use super::remote_store::RemoteObject;
    use super::requests::Part;
    let client = Client::shared(requests)?;
    let found = RemoteObject::open(&client, Address::parse(address)?, Part::First(FIRST_BYTES))?;
    found.map(|object| Arc::new(object) as Arc<dyn ReadAt>).ok_or_else(not_found)
}

#[cfg(feature = "remote")]
pub(crate) fn not_found() -> Error {
    Error::from_kind(ErrorKind::Io(std::io::ErrorKind::NotFound), "404 Not Found")
}

#[cfg(not(feature = "remote"))]
pub(crate) fn object(_: &str, _: RequestOptions) -> Result<Arc<dyn ReadAt>> {
    Err(no_network())
}

#[cfg(not(feature = "remote"))]
pub(crate) fn no_network() -> Error {
    Error::from_kind(ErrorKind::Unsupported, "this build has no network: the feature remote is off")
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
