//! Reads records and headers a page at a time.

use std::io::{self, Read};
use std::sync::{Arc, Mutex};

use rawzip::ReaderAt;

use crate::parallel::locked;
use crate::storage::read_at::{Identity, ReadAt, Section, Stamp};

const AHEAD: u64 = 1 << 12;

/// The bytes that rawzip may read: the whole file for the directory, then those before the directory.
#[derive(Clone, Debug)]
pub(super) struct FileFront {
    file: Arc<dyn ReadAt>,
    len: u64,
    ahead: Arc<Mutex<(u64, Vec<u8>)>>,
}

impl FileFront {
    pub(super) fn new(file: Arc<dyn ReadAt>, len: u64) -> Self {
        Self { file, len, ahead: Arc::default() }
    }

    pub(super) fn end_at(&mut self, len: u64) {
        self.len = len;
    }

    pub(super) fn file(&self) -> &Arc<dyn ReadAt> {
        &self.file
    }

    /// Member checksums are computed from bytes read anew, which reveals a file that changes meanwhile.
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
