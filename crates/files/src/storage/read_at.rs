//! Bytes by position: [`ReadAt`], which all format readers and [`Source`](super::source::Source) use.
//!
//! The methods take `&self` and block; several threads have several requests in flight. Files are not memory-mapped: a
//! mapped file that is truncated kills the process, while a read returns an error that names the file.

use std::fmt::Debug;
use std::fs::{File, Metadata};
use std::io::{self, BufReader, Read};
use std::ops::Deref;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, TryLockError};
use std::time::SystemTime;

use super::platform;
use tensorop_kernels::layout::gather::GapRun;
use tensorop_kernels::memory::Buffer;
use tensorop_kernels::parallel::{Threads, locked, share};

/// Bytes of a fixed size that several threads may read.
pub trait ReadAt: Debug + Send + Sync {
    fn size(&self) -> io::Result<u64>;

    /// Fills `out`, or fails with [`UnexpectedEof`](io::ErrorKind::UnexpectedEof).
    fn read_at(&self, out: &mut [u8], at: u64) -> io::Result<()>;

    fn stamp(&self) -> io::Result<Stamp>;

    /// The version at the opening if it is known, for comparison with a later [`stamp`](Self::stamp).
    fn first_stamp(&self) -> io::Result<Stamp> {
        self.stamp()
    }

    /// The versions at the opening of all files that the bytes come from.
    fn stamps(&self) -> io::Result<Vec<Stamp>> {
        Ok(vec![self.first_stamp()?])
    }

    /// The identity is the same under every name of the file.
    fn identity(&self) -> io::Result<Identity>;

    /// The local file, for kernel copies, locks and writing in place. Reads may be fast and random without one.
    fn as_file(&self) -> Option<&File> {
        None
    }

    /// The local file of packed items, for writing in place.
    fn as_packed_file(&self) -> Option<PackedFile<'_>> {
        None
    }

    /// The bytes from which these are computed: from equal ones come equal ones.
    fn as_encoded(&self) -> Option<EncodedBytes<'_>> {
        None
    }

    /// Returns whether each read is a request to a server. Then sequential readers read [`READ_AHEAD`] bytes at once,
    /// and others avoid needless bytes.
    fn costs_requests(&self) -> bool {
        false
    }

    /// Returns how many requests a read costs, if reads are requests.
    fn requests(&self, _at: u64, _bytes: usize) -> u64 {
        1
    }

    /// Returns how many gaps, from the first on, may be read to save requests, within a limit.
    fn spare(&self, _gaps: GapRun) -> usize {
        0
    }
}

/// The bytes of a sequential read from a server. At 20 ms per request and 100 MB/s, a request costs as much as 2 MiB.
pub const READ_AHEAD: usize = 1 << 21;

/// The maximum bytes of all requests at once, which 64 threads reach.
const MAX_AHEAD: usize = 1 << 27;

/// The minimum bytes of a request that occupies another thread.
pub const MIN_REQUEST: usize = 1 << 14;

/// Returns the bytes per request when `threads` threads download `bytes` bytes that are stored in runs of `run` bytes.
pub fn request_window(bytes: usize, threads: usize, run: usize) -> usize {
    let most = READ_AHEAD.min(MAX_AHEAD / threads).max(MIN_REQUEST);
    bytes.div_ceil(threads).clamp(MIN_REQUEST.min(run.max(1)), most)
}

/// A file of packed items.
#[derive(Clone, Copy, Debug)]
pub struct PackedFile<'a> {
    pub file: &'a File,
    pub start: u64,
    pub packing: Packing,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Packing {
    /// Items of so many bits, a divisor of 8, share a byte, the first in the low bits.
    Bits(u32),
    /// Words of 2 bytes in the other byte order.
    SwappedWords,
}

/// Stored bytes, and the rule that computes others from them.
#[derive(Clone, Debug)]
pub struct EncodedBytes<'a> {
    pub bytes: &'a Arc<dyn ReadAt>,
    /// The place of the first block.
    pub start: u64,
    /// The name of the rule; `None` if it is only that of some files, whose bytes are in another order.
    pub rule: Option<&'static str>,
    /// The items and the bytes of a block.
    pub block: [usize; 2],
}

/// The version of some bytes.
///
/// Other programs may write a file during a run and take no locks, so stamps of the opening and of the end are compared
/// before the output gets its name.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Stamp {
    /// Size and modification time; the time is `None` on some file systems. A change within the clock's resolution that
    /// keeps the size is missed.
    Modified(u64, Option<SystemTime>),
    Revision(u64),
    /// A hash of the size and the entity tag.
    Tag([u64; 2]),
}

impl Stamp {
    pub fn from_metadata(metadata: &Metadata) -> Self {
        Self::Modified(metadata.len(), metadata.modified().ok())
    }
}

/// The identity of a file, a folder or an object, which does not change with the content.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Identity {
    Local([u64; 2]),
    Memory(u64),
    Remote([u64; 2]),
}

impl Identity {
    pub fn from_metadata(metadata: &Metadata) -> Self {
        Self::Local(platform::file_number(metadata))
    }
}

impl ReadAt for File {
    fn size(&self) -> io::Result<u64> {
        Ok(self.metadata()?.len())
    }

    fn read_at(&self, out: &mut [u8], at: u64) -> io::Result<()> {
        platform::read_at(self, out, at)
    }

    fn stamp(&self) -> io::Result<Stamp> {
        Ok(Stamp::from_metadata(&self.metadata()?))
    }

    fn identity(&self) -> io::Result<Identity> {
        Ok(Identity::from_metadata(&self.metadata()?))
    }

    fn as_file(&self) -> Option<&File> {
        Some(self)
    }
}

/// A local file that is opened for every read, because a process may open only some files at once.
#[derive(Debug)]
pub struct ReopenedFile {
    path: PathBuf,
    identity: Identity,
}

impl ReopenedFile {
    pub fn new(path: &Path, identity: Identity) -> Self {
        Self { path: path.to_owned(), identity }
    }

    fn open(&self) -> io::Result<File> {
        let file = File::open(&self.path)?;
        let is_same = file.identity()? == self.identity;
        if is_same { Ok(file) } else { Err(io::Error::other("the file was replaced while it was read")) }
    }
}

impl ReadAt for ReopenedFile {
    fn size(&self) -> io::Result<u64> {
        self.open()?.size()
    }

    fn read_at(&self, out: &mut [u8], at: u64) -> io::Result<()> {
        platform::read_at(&self.open()?, out, at)
    }

    fn stamp(&self) -> io::Result<Stamp> {
        self.open()?.stamp()
    }

    fn identity(&self) -> io::Result<Identity> {
        Ok(self.identity)
    }
}

/// Bytes in memory, which do not change.
#[derive(Debug)]
pub struct MemoryBytes {
    bytes: Arc<Buffer>,
    number: u64,
}

impl MemoryBytes {
    /// Takes bytes with an identity of their own.
    pub fn new(bytes: impl Into<Buffer>) -> Self {
        Self::shared(Arc::new(bytes.into()))
    }

    pub fn shared(bytes: Arc<Buffer>) -> Self {
        static NEXT: AtomicU64 = AtomicU64::new(0);
        Self { bytes, number: NEXT.fetch_add(1, Ordering::Relaxed) }
    }
}

impl ReadAt for MemoryBytes {
    fn size(&self) -> io::Result<u64> {
        Ok(self.bytes.len() as u64)
    }

    fn read_at(&self, out: &mut [u8], at: u64) -> io::Result<()> {
        let rest = usize::try_from(at).ok().and_then(|at| self.bytes.get(at..));
        let bytes = rest.and_then(|rest| rest.get(..out.len())).ok_or(io::ErrorKind::UnexpectedEof)?;
        out.copy_from_slice(bytes);
        Ok(())
    }

    fn stamp(&self) -> io::Result<Stamp> {
        Ok(Stamp::Revision(0))
    }

    fn identity(&self) -> io::Result<Identity> {
        Ok(Identity::Memory(self.number))
    }
}

/// A part of some bytes, read from front to back. `B` is a reference or an `Arc`. If reads cost requests, it reads
/// ahead, one request per thread.
#[derive(Debug)]
pub struct Section<B>(BufReader<Unbuffered<B>>);

impl<B: Deref<Target: ReadAt>> Section<B> {
    pub fn new(bytes: B, at: u64, size: u64) -> Self {
        Self::ahead(Unbuffered { bytes, at, left: size, threads: 1 })
    }

    /// Lets several threads read ahead. Must precede the first read.
    #[must_use]
    pub fn by(self, threads: Threads) -> Self {
        let part = self.0.into_inner();
        let asks = part.bytes.costs_requests();
        let threads = if asks { threads.for_requests(true).for_bytes(READ_AHEAD) } else { 1 };
        Self::ahead(Unbuffered { threads, ..part })
    }

    fn ahead(part: Unbuffered<B>) -> Self {
        let most = READ_AHEAD.saturating_mul(part.threads).min(MAX_AHEAD);
        let most = usize::try_from(part.left).map_or(most, |left| left.min(most));
        Self(BufReader::with_capacity(if part.bytes.costs_requests() { most } else { 0 }, part))
    }
}

impl<B: Deref<Target: ReadAt>> Read for Section<B> {
    fn read(&mut self, out: &mut [u8]) -> io::Result<usize> {
        self.0.read(out)
    }
}

#[derive(Debug)]
struct Unbuffered<B> {
    bytes: B,
    at: u64,
    left: u64,
    threads: usize,
}

impl<B: Deref<Target: ReadAt>> Read for Unbuffered<B> {
    fn read(&mut self, out: &mut [u8]) -> io::Result<usize> {
        let count = usize::try_from(self.left).map_or(out.len(), |left| left.min(out.len()));
        let (out, bytes, at) = (&mut out[..count], &*self.bytes, self.at);
        if self.threads == 1 {
            bytes.read_at(out, at)?;
        } else {
            let part = request_window(count, self.threads, usize::MAX);
            let parts: Vec<_> = out.chunks_mut(part).map(Mutex::new).collect();
            let read =
                |n: usize, (): &mut ()| bytes.read_at(&mut locked(&parts[n]), at + (n * part) as u64).map(|()| true);
            share(self.threads, parts.len(), || (), read)?;
        }
        self.at += count as u64;
        self.left -= count as u64;
        Ok(count)
    }
}

/// The maximum bytes of a read that is served from those read ahead.
const SMALL_READ: usize = 1 << 12;

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
            let ahead = if was_wanted { (2 * self.bytes.len()).clamp(2 * SMALL_READ, AHEAD) } else { out.len() };
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
        if out.len() > SMALL_READ {
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
                    1 => at + random.below(2 * SMALL_READ),
                    _ => at + random.below(9),
                };
                let len = if random.below(9) == 0 { random.below(3 * SMALL_READ) } else { random.below(400) };
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
