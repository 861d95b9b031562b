//! Stores that are being made.

use std::fmt::Debug;
use std::io::{self, Read, Write};

use super::read_at::{ReadAt, Section};
use super::stage::{Stage, remove_file};

/// A store that one or several processes are making. Readers recognize it by its [seals](Self::seal), which it gets
/// last.
pub trait StoreDraft: Debug + Send + Sync {
    /// Sets the value of a key, whole or not at all.
    ///
    /// # Errors
    /// Writing fails.
    fn put(&self, key: &str, bytes: &[u8]) -> io::Result<()>;

    /// Copies a value of `bytes` bytes from another store, in the kernel where possible. `from` must be newly opened.
    ///
    /// # Errors
    /// Reading or writing fails.
    fn put_from(&self, key: &str, from: &dyn ReadAt, bytes: usize) -> io::Result<()>;

    /// Returns the size of a value in bytes; `None` if the key has no value.
    fn size(&self, key: &str) -> io::Result<Option<u64>>;

    /// Removes the value of a key, if it has one.
    fn remove(&self, key: &str) -> io::Result<()>;

    /// Sets the value by which readers recognize the store, unless it has that size already. Stores may delay it until
    /// they are complete, and write the seal that was set first last.
    ///
    /// # Errors
    /// Writing fails.
    fn seal(&self, key: &str, bytes: &[u8]) -> io::Result<()>;

    /// Returns whether a key has or will get a [seal](Self::seal) of `bytes` bytes.
    fn is_sealed(&self, key: &str, bytes: u64) -> io::Result<bool>;

    /// Begins a folder for intermediate files. It is removed when dropped, or with the folder of the store.
    ///
    /// # Errors
    /// A folder cannot be created.
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
