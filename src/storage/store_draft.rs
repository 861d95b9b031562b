//! Stores that are being made: [`StoreDraft`].

use std::fmt::Debug;
use std::io::{self, Read, Write};

use super::read_at::{ReadAt, Section};
use super::stage::{Stage, remove_file};

/// A store that is being made, by one process or by several. Nobody takes it for a store before it has its
/// [seals](Self::seal).
pub trait StoreDraft: Debug + Send + Sync {
    /// Gives a key a value. It is there as a whole or not at all.
    ///
    /// # Errors
    /// Writing fails.
    fn put(&self, key: &str, bytes: &[u8]) -> io::Result<()>;

    /// Gives a key the value of another store, which was opened for this and has `bytes` bytes. They do not pass through the
    /// program where the system can copy them.
    ///
    /// # Errors
    /// Reading or writing fails.
    fn put_from(&self, key: &str, from: &dyn ReadAt, bytes: usize) -> io::Result<()>;

    /// Returns the bytes of a value; `None` if the key has none.
    ///
    /// # Errors
    /// That cannot be found out.
    fn size(&self, key: &str) -> io::Result<Option<u64>>;

    /// Takes the value of a key away, if it has one.
    ///
    /// # Errors
    /// The value cannot be removed.
    fn remove(&self, key: &str) -> io::Result<()>;

    /// Gives a key a value by which readers know the store, unless it has one of that size. The key may get it only when the
    /// store is whole; of several such keys the last one that was given first.
    ///
    /// # Errors
    /// Writing fails.
    fn seal(&self, key: &str, bytes: &[u8]) -> io::Result<()>;

    /// Returns whether a key has, or is to get, a [seal](Self::seal) of `bytes` bytes.
    ///
    /// # Errors
    /// That cannot be found out.
    fn is_sealed(&self, key: &str, bytes: u64) -> io::Result<bool>;

    /// Begins a folder for what is written on the way to the store. It goes when it is dropped, or with the store's own.
    ///
    /// # Errors
    /// Folders cannot be made.
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
                // nobody else reads from it, so that it stands at its beginning
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

    // the folder takes its name as a whole, so that its files may come in any order
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
