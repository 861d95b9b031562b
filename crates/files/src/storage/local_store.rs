//! A folder as a store.

use std::fs::{self, File};
use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use super::key_store::{KeyStore, Lock, WritableStore};
use super::read_at::{Identity, ReadAt, Stamp};
use super::targets::stage::{self, Stage};
use tensorop_kernels::error::{Result, bail};

/// A folder whose files are values.
#[derive(Debug)]
pub struct LocalStore {
    folder: PathBuf,
}

impl LocalStore {
    /// Does not check that the folder exists.
    pub fn new(folder: &Path) -> Self {
        Self { folder: folder.to_owned() }
    }

    fn path(&self, key: &str) -> PathBuf {
        if key.is_empty() { self.folder.clone() } else { self.folder.join(key) }
    }

    fn list(&self, prefix: &str, folders: bool) -> Result<Vec<String>> {
        let mut names = Vec::new();
        for entry in fs::read_dir(self.path(prefix))? {
            let entry = entry?;
            // The type comes with the name, so only links cost a system call each.
            let found = entry.file_type()?;
            let is_link = found.is_symlink();
            let is_folder = if is_link { entry.path().is_dir() } else { found.is_dir() };
            // A folder may hold very many files, so their names are not copied.
            if folders && !is_folder {
                continue;
            }
            match entry.file_name().into_string() {
                Ok(name) if is_folder == folders => {
                    if !(is_link && is_folder && self.leads_back(prefix, &entry.path())) {
                        names.push(name);
                    }
                }
                Ok(_) => {}
                Err(name) if !folders => names.push(name.to_string_lossy().into_owned()),
                Err(_) => {}
            }
        }
        Ok(names)
    }

    /// Returns whether a link leads to a folder around it, also around other links of the prefix.
    fn leads_back(&self, prefix: &str, link: &Path) -> bool {
        let Ok(end) = fs::canonicalize(link) else { return false };
        let ends = prefix.match_indices('/').map(|(end, _)| end).chain([prefix.len()]);
        let around = ends.map(|end| self.path(&prefix[..end])).chain([self.folder.clone()]);
        around.into_iter().any(|folder| fs::canonicalize(folder).is_ok_and(|folder| folder.starts_with(&end)))
    }
}

fn if_there<T>(found: io::Result<T>) -> io::Result<Option<T>> {
    match found {
        Err(error) if matches!(error.kind(), io::ErrorKind::NotFound | io::ErrorKind::NotADirectory) => Ok(None),
        found => found.map(Some),
    }
}

impl KeyStore for LocalStore {
    fn open(&self, key: &str) -> Result<Option<Arc<dyn ReadAt>>> {
        let path = self.path(key);
        // Only regular files are opened, because opening a pipe would wait for its writer.
        match fs::metadata(&path) {
            Ok(found) if found.is_dir() => bail!("is a folder, expected a file"),
            Ok(found) if !found.is_file() => bail!("is not a regular file"),
            Ok(_) => {}
            // Links to files that tools like git-annex have not fetched are not absent values.
            Err(error) if error.kind() == io::ErrorKind::NotFound => match fs::symlink_metadata(&path) {
                Ok(_) => bail!("is a link to a missing file"),
                Err(_) => return Ok(None),
            },
            Err(error) => return Err(error.into()),
        }
        Ok(if_there(File::open(&path))?.map(|file| Arc::new(file) as Arc<dyn ReadAt>))
    }

    fn size(&self, key: &str) -> Result<Option<u64>> {
        Ok(if_there(fs::metadata(self.path(key)))?.map(|found| found.len()))
    }

    fn stamp(&self, key: &str) -> Result<Option<Stamp>> {
        Ok(if_there(fs::metadata(self.path(key)))?.map(|found| Stamp::from_metadata(&found)))
    }

    fn prefixes(&self, prefix: &str) -> Result<Vec<String>> {
        self.list(prefix, true)
    }

    fn names(&self, prefix: &str) -> Result<Vec<String>> {
        self.list(prefix, false)
    }

    fn folder(&self) -> Option<PathBuf> {
        fs::canonicalize(&self.folder).ok()
    }

    fn identity(&self) -> Result<Identity> {
        Ok(Identity::from_metadata(&fs::metadata(&self.folder)?))
    }

    fn lock(&self, key: &str, shared: bool) -> Result<Lock> {
        Ok(Arc::new(stage::lock(&self.path(key), shared)?))
    }

    fn edit(&self, prefix: &str) -> Result<Box<dyn WritableStore>> {
        // The stage is beside the real folder even if the store is named by a link.
        let stage = Stage::create(&fs::canonicalize(&self.folder)?)?;
        Ok(Box::new(stage.into_writer(self.path(prefix))))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::storage::tests::MemoryStore;

    fn both(check: impl Fn(&str, &dyn KeyStore, &dyn WritableStore)) {
        let folder = tempfile::tempdir().unwrap();
        let root = folder.path().join("root");
        fs::create_dir(&root).unwrap();
        let (local, memory) = (LocalStore::new(&root), MemoryStore::default());
        check("a folder", &local, &*local.edit("").unwrap());
        check("memory", &memory, &memory);
        assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 1);
    }

    #[test]
    fn values_of_both_stores() {
        both(|name, store, writer| {
            assert!(store.open("a").unwrap().is_none(), "{name}");
            assert_eq!((store.size("a").unwrap(), store.stamp("a").unwrap()), (None, None), "{name}");
            writer.put("a", b"one").unwrap();
            writer.put("b/c/0/1", b"two").unwrap();
            writer.put("b/d/0", b"").unwrap();
            let value = store.open("b/c/0/1").unwrap().unwrap();
            let mut part = [0; 2];
            value.read_at(&mut part, 1).unwrap();
            assert_eq!((&part, value.size().unwrap()), (b"wo", 3), "{name}");
            assert!(value.read_at(&mut part, 2).is_err(), "{name}");
            assert_eq!(store.get("a", 3).unwrap().as_deref(), Some(&b"one"[..]), "{name}");
            assert_eq!(store.get("a", 2).unwrap_err().to_string(), "3 bytes, expected at most 2", "{name}");
            assert_eq!(store.size("a").unwrap(), Some(3), "{name}");
            let mut values = store.names("").unwrap();
            values.sort();
            assert_eq!((values, store.names("b").unwrap()), (vec!["a".to_owned()], vec![]), "{name}");
            let mut names = store.prefixes("b").unwrap();
            names.sort();
            assert_eq!((store.prefixes("").unwrap(), names), (vec!["b".to_owned()], vec!["c".into(), "d".into()]));
            assert_eq!(store.open("b").unwrap_err().to_string(), "is a folder, expected a file", "{name}");
        });
    }

    #[test]
    fn writes_of_both_stores() {
        both(|name, store, writer| {
            let get = |key| store.get(key, 9).unwrap().map(|bytes| String::from_utf8(bytes).unwrap());
            assert!(writer.put_if_absent("a", b"one").unwrap(), "{name}");
            assert!(!writer.put_if_absent("a", b"two").unwrap(), "{name}");
            assert_eq!(get("a").as_deref(), Some("one"), "{name}");
            let before = store.stamp("a").unwrap().unwrap();
            let value = writer.prepare("a", b"three").unwrap();
            assert_eq!(get("a").as_deref(), Some("one"), "{name}");
            let old = store.open("a").unwrap().unwrap();
            value().unwrap();
            assert_eq!((get("a").as_deref(), old.size().unwrap()), (Some("three"), 3), "{name}");
            assert_ne!(store.stamp("a").unwrap(), Some(before), "{name}");
            drop(writer.prepare("never", b"x").unwrap());
            assert_eq!(get("never"), None, "{name}");
            writer.remove("a").unwrap();
            writer.remove("a").unwrap();
            assert_eq!(get("a"), None, "{name}");
            assert!(store.lock("a", false).is_err(), "{name}");
            assert_eq!(store.identity().unwrap(), store.identity().unwrap(), "{name}");
        });
    }

    #[cfg(unix)]
    #[test]
    fn what_is_no_value() {
        let folder = tempfile::tempdir().unwrap();
        let store = LocalStore::new(folder.path());
        std::os::unix::fs::symlink("nowhere", folder.path().join("link")).unwrap();
        let message = |key| store.open(key).unwrap_err().to_string();
        assert_eq!(message("link"), "is a link to a missing file");
        assert_eq!(message(""), "is a folder, expected a file");
        std::os::unix::net::UnixListener::bind(folder.path().join("socket")).unwrap();
        assert_eq!(message("socket"), "is not a regular file");
    }
}
