//! Bytes that are read by position: [`ReadAt`], which every reader of a format and every [`Source`](super::source::Source)
//! reads from.
//!
//! A reader asks for bytes at a place and does not know what holds them. Here that is a [local file](File) or
//! [memory](MemoryBytes); whoever adds another kind (an object behind an address) implements the same methods and
//! changes no reader. The methods take `&self` and block, so that several threads read at once, each a place of its own:
//! that is how one reader has several requests under way. Nothing is mapped into memory: of a mapped file that becomes
//! shorter meanwhile the next access ends the process with a signal, where a read returns an error that names the file.

use std::fmt::Debug;
use std::fs::{File, Metadata};
use std::io::{self, BufReader, Read};
use std::ops::Deref;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex};
use std::time::SystemTime;

use super::calls::CallCounter;
use super::platform;
use crate::layout::gather::GapRun;
use crate::memory::Buffer;
use crate::parallel::{Threads, locked, share};

/// Bytes of a fixed number that can be read in any order, by several threads at once.
pub trait ReadAt: Debug + Send + Sync {
    /// Returns the number of bytes.
    ///
    /// # Errors
    /// The system does not tell the size.
    fn size(&self) -> io::Result<u64>;

    /// Fills all of `out` with the bytes from byte `at` on.
    ///
    /// # Errors
    /// An end before the last byte of `out` is of the kind [`UnexpectedEof`](io::ErrorKind::UnexpectedEof); others are
    /// the system's.
    fn read_at(&self, out: &mut [u8], at: u64) -> io::Result<()>;

    /// Returns the version that the bytes have now.
    ///
    /// # Errors
    /// The system does not tell the version.
    fn stamp(&self) -> io::Result<Stamp>;

    /// Returns what tells these bytes from all others, by whatever name they were opened.
    ///
    /// # Errors
    /// The system does not tell the identity.
    fn identity(&self) -> io::Result<Identity>;

    /// Returns the open local file that the bytes are, if they are one. Only what needs a descriptor asks for it: copies
    /// by the kernel, locks, writing in place. `None` does not mean that reads are slow or come in one order only.
    fn as_file(&self) -> Option<&File> {
        None
    }

    /// Returns the open local file that the bytes lie in packed, if each of them is an item of fewer bits there. Only what
    /// writes in place asks for it.
    fn as_packed_file(&self) -> Option<PackedFile<'_>> {
        None
    }

    /// Returns whether each read is a request to a server, which costs far more than a call of the system. Whoever reads from
    /// front to back then reads [`READ_AHEAD`] bytes at once, and nobody reads what is not wanted.
    fn costs_requests(&self) -> bool {
        false
    }

    /// Returns how many of some gaps between wanted bytes, from the first on, may be read in vain where that spares requests,
    /// and counts their bytes, since only a limited number of bytes is read in vain.
    fn spare(&self, _gaps: GapRun) -> usize {
        0
    }

    /// Returns what counts these reads, if anything does.
    fn counter(&self) -> Option<&Arc<CallCounter>> {
        None
    }
}

/// The part of some bytes that is wanted first, when their number is not known.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Part {
    /// This many bytes at the beginning.
    First(u64),
    /// This many bytes at the end.
    Last(u64),
}

/// The bytes that are read at once where each read costs a request and the bytes are wanted from front to back. At 20 ms for
/// a request and 100 MB in a second, a request costs as much as two MiB.
pub const READ_AHEAD: usize = 1 << 21;

/// The most bytes that all threads together ask servers for at once: with more than 64 threads each asks for less than
/// [`READ_AHEAD`].
const MAX_AHEAD: usize = 1 << 27;

/// The fewest bytes that are worth a request of their own so that each thread has one.
pub const MIN_REQUEST: usize = 1 << 14;

/// Returns how many of `bytes` bytes, which `threads` threads ask a server for, are asked for at once. They lie there in runs of
/// `run` bytes, each of which is a request of its own.
pub fn request_window(bytes: usize, threads: usize, run: usize) -> usize {
    let most = READ_AHEAD.min(MAX_AHEAD / threads).max(MIN_REQUEST);
    bytes.div_ceil(threads).clamp(MIN_REQUEST.min(run.max(1)), most)
}

/// An open local file in which several items share a byte, the first of them in its low bits.
#[derive(Clone, Copy, Debug)]
pub struct PackedFile<'a> {
    pub file: &'a File,
    /// The byte at which the items begin.
    pub start: u64,
    /// The bits of an item, which divide a byte.
    pub bits: u32,
}

/// The version of some bytes. Two stamps of the same bytes differ if these have changed in between.
///
/// Items are read window by window while another program may write the file, and an output of half the old and half the
/// new would look like any other. A lock would not help, since no other program takes it. So a stamp is taken when bytes
/// are opened and compared when all items have been read, before the output takes its name.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Stamp {
    /// The size and the time of the last change of a file. A change within the resolution of the system's clock that
    /// leaves the size is missed. A file system without such times gives `None`.
    Modified(u64, Option<SystemTime>),
    /// A number that is raised with each change.
    Revision(u64),
    /// What a server says of the version of an object: a number that stands for its size and its entity tag.
    Tag([u64; 2]),
}

impl Stamp {
    /// Returns the stamp of a file with that metadata.
    pub fn from_metadata(metadata: &Metadata) -> Self {
        Self::Modified(metadata.len(), metadata.modified().ok())
    }
}

/// The identity of a file, a folder or an object, which differs from all others. It stays the same while the content
/// changes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Identity {
    /// The system's number of a local file or folder.
    Local([u64; 2]),
    /// The number of an object in the memory of this process.
    Memory(u64),
    /// A number that stands for the address of an object on a server.
    Remote([u64; 2]),
}

impl Identity {
    /// Returns the identity of a local file or folder with that metadata.
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

/// A local file that is opened for every read, since a process may only have some files open at the same time.
#[derive(Debug)]
pub struct ReopenedFile {
    path: PathBuf,
    identity: Identity,
}

impl ReopenedFile {
    /// Takes the file of that identity, which was found at `path`.
    pub fn new(path: &Path, identity: Identity) -> Self {
        Self { path: path.to_owned(), identity }
    }

    /// Opens the file.
    ///
    /// # Errors
    /// The system's; another file has its name now.
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
    /// Takes bytes as an object of their own: two of the same bytes have two identities.
    pub fn new(bytes: impl Into<Buffer>) -> Self {
        Self::shared(Arc::new(bytes.into()))
    }

    /// Takes bytes that others may read, too, as an object of their own.
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

/// A part of some bytes, read from front to back. `B` is a pointer to them: a reference or an `Arc`. Where reads cost requests,
/// as much is read ahead as is worth a request for each thread, but nothing behind the part.
#[derive(Debug)]
pub struct Section<B>(BufReader<Unbuffered<B>>);

impl<B: Deref<Target: ReadAt>> Section<B> {
    /// Reads `size` bytes from byte `at` on.
    pub fn new(bytes: B, at: u64, size: u64) -> Self {
        Self::ahead(Unbuffered { bytes, at, left: size, threads: 1 })
    }

    /// Lets several threads ask for what is read ahead where reads cost requests, each for as much as is worth one. Nothing has
    /// been read before.
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

/// A part of some bytes, each read of which asks for as many as are wanted.
#[derive(Debug)]
struct Unbuffered<B> {
    bytes: B,
    at: u64,
    left: u64,
    /// How many threads ask at once.
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
