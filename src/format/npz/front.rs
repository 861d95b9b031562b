//! The beginning of an archive as its reader sees it: the bytes that records and headers lie in are read a page at a time.

use std::io::{self, Read};
use std::sync::{Arc, Mutex};

use rawzip::ReaderAt;

use crate::parallel::locked;
use crate::storage::read_at::{Identity, ReadAt, Section, Stamp};

/// The bytes read at once where the records and headers of members are wanted, which lie close together in archives of small
/// members: a page, which the system reads in one piece anyway.
const AHEAD: u64 = 1 << 12;

/// The bytes that rawzip may read: the whole file while it looks for the directory, then those before the directory. Some of
/// them are kept, so that each record and header does not cost several calls of the system.
#[derive(Clone, Debug)]
pub(super) struct FileFront {
    file: Arc<dyn ReadAt>,
    len: u64,
    /// The bytes that are kept, and where they begin.
    ahead: Arc<Mutex<(u64, Vec<u8>)>>,
}

impl FileFront {
    /// Takes the first `len` bytes of a file.
    pub(super) fn new(file: Arc<dyn ReadAt>, len: u64) -> Self {
        Self { file, len, ahead: Arc::default() }
    }

    /// Leaves out the bytes from byte `len` on.
    pub(super) fn end_at(&mut self, len: u64) {
        self.len = len;
    }

    /// Returns the whole file.
    pub(super) fn file(&self) -> &Arc<dyn ReadAt> {
        &self.file
    }

    /// Keeps the bytes from byte `at` on, unless enough of them for a record and a header are kept already. The checksum of a
    /// member is that of bytes that are read anew, so a file that changes meanwhile is found out.
    pub(super) fn look_ahead(&self, at: u64) -> io::Result<()> {
        let end = |bytes: u64| at.saturating_add(bytes).min(self.len);
        let mut ahead = locked(&self.ahead);
        let (begin, kept) = (ahead.0, ahead.1.len() as u64);
        if at < begin || end(AHEAD / 4) > begin + kept {
            let mut bytes = vec![0; end(AHEAD).saturating_sub(at) as usize];
            self.file.read_at(&mut bytes, at)?;
            *ahead = (at, bytes);
        }
        Ok(())
    }

    /// Fills `out` with the bytes from byte `at` on, if all of them are kept.
    fn take_kept(&self, out: &mut [u8], at: u64) -> bool {
        let ahead = locked(&self.ahead);
        let from = at.checked_sub(ahead.0).and_then(|from| usize::try_from(from).ok());
        let kept = from.and_then(|from| ahead.1.get(from..)?.get(..out.len()));
        kept.map(|kept| out.copy_from_slice(kept)).is_some()
    }
}

impl ReaderAt for FileFront {
    fn read_at(&self, out: &mut [u8], at: u64) -> io::Result<usize> {
        Section::new(self, at, self.len.saturating_sub(at)).read(out)
    }
}

impl ReadAt for FileFront {
    fn size(&self) -> io::Result<u64> {
        Ok(self.len)
    }

    fn read_at(&self, out: &mut [u8], at: u64) -> io::Result<()> {
        if self.take_kept(out, at) { Ok(()) } else { self.file.read_at(out, at) }
    }

    fn stamp(&self) -> io::Result<Stamp> {
        self.file.stamp()
    }

    fn identity(&self) -> io::Result<Identity> {
        self.file.identity()
    }
}
