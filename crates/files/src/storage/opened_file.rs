//! A local file that is only read: [`OpenedFile`].

use std::fs::{File, Metadata};
use std::io;
use std::sync::{Mutex, TryLockError};

use super::platform;
use super::read_at::{Identity, ReadAt, Stamp};

/// The maximum bytes of a read that is served from those read ahead.
const SMALL: usize = 1 << 12;

/// The maximum bytes of the gap before it, such as the header of the next tensor.
const GAP: u64 = 1 << 8;

/// The maximum bytes of a read ahead. Reads ahead double while callers use most of their bytes.
const AHEAD: usize = 1 << 16;

/// A local file that this process does not change. Its version is that of the opening for all its tensors, and small reads
/// that follow each other, as those of a model's many small tensors do, share a system call.
#[derive(Debug)]
pub struct OpenedFile {
    file: File,
    size: u64,
    identity: Identity,
    opened: Stamp,
    ahead: Mutex<Ahead>,
}

#[derive(Debug, Default)]
struct Ahead {
    start: u64,
    bytes: Vec<u8>,
    /// The bytes that callers used.
    wanted: usize,
    /// Where the last small read ended.
    end: u64,
}

impl OpenedFile {
    /// `metadata` are the file's own, as it was opened.
    pub fn new(file: File, metadata: &Metadata) -> Self {
        let (identity, opened) = (Identity::from_metadata(metadata), Stamp::from_metadata(metadata));
        Self { file, size: metadata.len(), identity, opened, ahead: Mutex::default() }
    }
}

impl Ahead {
    /// Reads small pieces. `size` is that of the file.
    fn read(&mut self, file: &File, size: u64, out: &mut [u8], at: u64) -> io::Result<()> {
        let follows = at.checked_sub(self.end).is_some_and(|gap| gap <= GAP);
        let end = at + out.len() as u64;
        self.end = end;
        if self.held(out.len(), at).is_none() && follows && end <= size {
            // Two threads at different places would discard each other's bytes.
            let was_wanted = 4 * self.wanted >= 3 * self.bytes.len();
            let ahead = if was_wanted { (2 * self.bytes.len()).clamp(2 * SMALL, AHEAD) } else { out.len() };
            self.start = at;
            self.bytes.resize((size - at).min(ahead as u64) as usize, 0);
            self.wanted = 0;
            if let Err(error) = platform::read_at(file, &mut self.bytes, at) {
                self.bytes.clear();
                return Err(error);
            }
        }
        match self.held(out.len(), at) {
            Some(held) => {
                out.copy_from_slice(held);
                self.wanted += out.len();
            }
            None => platform::read_at(file, out, at)?,
        }
        Ok(())
    }

    fn held(&self, len: usize, at: u64) -> Option<&[u8]> {
        let from = usize::try_from(at.checked_sub(self.start)?).ok()?;
        self.bytes.get(from..)?.get(..len)
    }
}

impl ReadAt for OpenedFile {
    fn size(&self) -> io::Result<u64> {
        Ok(self.size)
    }

    fn read_at(&self, out: &mut [u8], at: u64) -> io::Result<()> {
        if out.len() > SMALL {
            return platform::read_at(&self.file, out, at);
        }
        match self.ahead.try_lock() {
            Ok(mut ahead) => ahead.read(&self.file, self.size, out, at),
            // another thread reads ahead
            Err(TryLockError::WouldBlock) => platform::read_at(&self.file, out, at),
            Err(TryLockError::Poisoned(_)) => unreachable!("nothing panics while it reads ahead"),
        }
    }

    fn first_stamp(&self) -> io::Result<Stamp> {
        Ok(self.opened)
    }

    fn stamp(&self) -> io::Result<Stamp> {
        self.file.stamp()
    }

    fn identity(&self) -> io::Result<Identity> {
        Ok(self.identity)
    }

    fn as_file(&self) -> Option<&File> {
        Some(&self.file)
    }
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::*;

    /// Numbers that look random.
    struct Mixed(u64);

    impl Mixed {
        fn below(&mut self, end: usize) -> usize {
            self.0 = self.0.wrapping_mul(0x5851_f42d_4c95_7f2d).wrapping_add(0x1405_7b7e_f767_814f);
            (self.0 >> 33) as usize % end
        }
    }

    fn opened(path: &std::path::Path) -> OpenedFile {
        let file = File::open(path).unwrap();
        let metadata = file.metadata().unwrap();
        OpenedFile::new(file, &metadata)
    }

    #[test]
    fn reads_give_the_bytes_of_the_file() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("x");
        let mut random = Mixed(7);
        for size in [0, 1, 300, AHEAD - 1, AHEAD, 3 * AHEAD + 17] {
            let bytes: Vec<u8> = (0..size).map(|_| random.below(256) as u8).collect();
            fs::write(&path, &bytes).unwrap();
            let file = opened(&path);
            assert_eq!(file.size().unwrap(), size as u64);
            let mut at = 0;
            for _ in 0..3000 {
                // most reads follow each other, with gaps
                at = match random.below(8) {
                    0 => random.below(size + 10),
                    1 => at + random.below(2 * SMALL),
                    _ => at + random.below(9),
                };
                let len = if random.below(9) == 0 { random.below(3 * SMALL) } else { random.below(400) };
                let mut out = vec![0; len];
                match file.read_at(&mut out, at as u64) {
                    Ok(()) => assert!(len == 0 || out == bytes[at..at + len], "{size} {at} {len}"),
                    Err(error) => {
                        assert!(at + len > size, "{size} {at} {len}: {error}");
                        assert_eq!(error.kind(), io::ErrorKind::UnexpectedEof, "{size} {at} {len}");
                    }
                }
                at = if at > size { 0 } else { at + len };
            }
        }
    }

    #[test]
    fn a_change_shows_in_the_stamp_and_a_cut_in_the_read() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("x");
        fs::write(&path, [1; 1000]).unwrap();
        let file = opened(&path);
        assert_eq!(file.stamp().unwrap(), file.first_stamp().unwrap());
        let first = file.first_stamp().unwrap();
        file.read_at(&mut [0; 10], 0).unwrap();
        File::options().write(true).open(&path).unwrap().set_len(500).unwrap();
        assert_ne!(file.stamp().unwrap(), first);
        assert_eq!(file.first_stamp().unwrap(), first);
        // The bytes read ahead are old, and the stamp shows it.
        file.read_at(&mut [0; 10], 10).unwrap();
        let again = opened(&path);
        File::options().write(true).open(&path).unwrap().set_len(100).unwrap();
        let error = again.read_at(&mut [0; 10], 95).unwrap_err();
        assert_eq!(error.to_string(), "the file became shorter while it was read");
    }
}
