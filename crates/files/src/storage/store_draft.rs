//! Stores that are being made.

use std::fmt::Debug;
use std::io::{self, Read, Write};

use super::read_at::{ReadAt, Section};
use super::stage::{Stage, remove_file};

/// A store in the making. Its [seals](Self::seal), which come last, let readers recognize it.
pub trait StoreDraft: Debug + Send + Sync {
    /// Sets the value of a key, whole or not at all.
    fn put(&self, key: &str, bytes: &[u8]) -> io::Result<()>;

    /// Copies a value of `bytes` bytes, in the kernel where possible. `from` must be newly opened.
    fn put_from(&self, key: &str, from: &dyn ReadAt, bytes: usize) -> io::Result<()>;

    fn size(&self, key: &str) -> io::Result<Option<u64>>;

    fn remove(&self, key: &str) -> io::Result<()>;

    /// Sets a value that lets readers recognize the store, unless it has that size. Stores may delay seals, and write
    /// the first one last.
    fn seal(&self, key: &str, bytes: &[u8]) -> io::Result<()>;

    /// Returns whether a key has or will get a [seal](Self::seal) of `bytes` bytes.
    fn is_sealed(&self, key: &str, bytes: u64) -> io::Result<bool>;

    /// Begins a folder for intermediate files.
    fn between(&self) -> io::Result<Stage>;
}

impl StoreDraft for Stage {
    fn put(&self, key: &str, bytes: &[u8]) -> io::Result<()> {
        self.put_with(key, |file| file.write_all(bytes))
    }

    fn put_from(&self, key: &str, from: &dyn ReadAt, bytes: usize) -> io::Result<()> {
        self.put_with(key, |file| {
            let bytes = bytes as u64;
            let copied = match from.as_file() {
                // The file has no other reader, so its cursor is at the beginning.
                Some(from) => io::copy(&mut from.take(bytes), file)?,
                None => io::copy(&mut Section::new(from, 0, bytes), file)?,
            };
            if copied == bytes { Ok(()) } else { Err(io::ErrorKind::UnexpectedEof.into()) }
        })
    }

    fn size(&self, key: &str) -> io::Result<Option<u64>> {
        Ok(self.size_of(key))
    }

    fn remove(&self, key: &str) -> io::Result<()> {
        remove_file(&self.store().join(key))
    }

    // The folder gets its name as a whole, so its files may appear in any order.
    fn seal(&self, key: &str, bytes: &[u8]) -> io::Result<()> {
        if self.is_sealed(key, bytes.len() as u64)? { Ok(()) } else { self.put(key, bytes) }
    }

    fn is_sealed(&self, key: &str, bytes: u64) -> io::Result<bool> {
        Ok(self.size_of(key) == Some(bytes))
    }

    fn between(&self) -> io::Result<Stage> {
        self.within_itself()
    }
}
