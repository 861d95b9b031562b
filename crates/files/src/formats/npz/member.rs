//! A member of an archive and its content.

use std::io::{self, BufReader, Read};
use std::sync::Arc;

use flate2::Crc;
use flate2::bufread::DeflateDecoder;
use rawzip::{CompressionMethod, ZipArchiveEntryWayfinder};

use crate::formats::npy::{self, Header};
use crate::storage::read_at::{ReadAt, Section};
use tensorop_kernels::error::Result;

/// Most headers have 128 bytes.
pub(crate) const HEADER_BUFFER: usize = 1 << 9;

#[derive(Clone, Debug)]
pub(crate) struct ArchiveMember {
    pub(crate) full_name: String,
    /// Without the suffix, unless another file has that name.
    pub(crate) name_bytes: usize,
    pub(crate) at: u64,
    pub(crate) crc: u32,
    pub(crate) method: CompressionMethod,
    pub(crate) encrypted: bool,
    pub(crate) is_repeated: bool,
    pub(crate) found: ZipArchiveEntryWayfinder,
}

impl ArchiveMember {
    pub(crate) fn name(&self) -> &str {
        &self.full_name[..self.name_bytes]
    }

    pub(crate) fn stored(&self) -> u64 {
        self.found.compressed_size_hint()
    }

    pub(crate) fn size(&self) -> u64 {
        self.found.uncompressed_size_hint()
    }

    /// Reads the header of a tensor. `content` is as stored.
    pub(crate) fn header(&self, content: Section<Arc<dyn ReadAt>>) -> Result<Header> {
        if self.method != CompressionMethod::STORE {
            return MemberContent::new(content, self, HEADER_BUFFER).header();
        }
        // the checksum of a stored member is checked before its items are read, in large pieces
        let header = npy::read_on(&mut BufReader::with_capacity(HEADER_BUFFER, content), &mut Vec::new())?;
        npy::check_len(&header, self.size())?;
        Ok(header)
    }
}

/// Checks size and checksum with the last bytes.
///
/// rawzip's verifying reader reports a wrong checksum only at a read after the last byte, which a reader of a known
/// number of bytes never makes.
#[derive(Debug)]
pub(crate) struct MemberContent {
    data: Compressed,
    stored: u64,
    size: u64,
    crc: u32,
    left: u64,
    found: Crc,
    failed: Option<String>,
}

#[derive(Debug)]
enum Compressed {
    Stored(BufReader<Section<Arc<dyn ReadAt>>>),
    Deflated(DeflateDecoder<BufReader<Section<Arc<dyn ReadAt>>>>),
}

impl MemberContent {
    pub(crate) fn new(section: Section<Arc<dyn ReadAt>>, member: &ArchiveMember, buffer: usize) -> Self {
        let (stored, size, crc) = (member.stored(), member.size(), member.crc);
        let data = BufReader::with_capacity(buffer, section);
        let data = match member.method {
            CompressionMethod::DEFLATE => Compressed::Deflated(DeflateDecoder::new(data)),
            _ => Compressed::Stored(data),
        };
        Self { data, stored, size, crc, left: size, found: Crc::new(), failed: None }
    }

    pub(crate) fn header(&mut self) -> Result<Header> {
        let header = npy::read_on(self, &mut Vec::new())?;
        npy::check_len(&header, self.size)?;
        Ok(header)
    }

    fn next(&mut self, out: &mut [u8]) -> Result<usize, String> {
        let most = self.left.min(out.len() as u64) as usize;
        let out = &mut out[..most];
        if out.is_empty() {
            return Ok(0);
        }
        let done = self.size - self.left;
        let read = self.data.read(out).map_err(|error| match error.kind() {
            // flate2 uses this kind for corrupt data
            io::ErrorKind::InvalidInput => format!("its deflated data is corrupt after {done} bytes"),
            _ => error.to_string(),
        })?;
        if read == 0 {
            return Err(format!("inflates to {done} bytes, expected {}", self.size));
        }
        self.found.update(&out[..read]);
        self.left -= read as u64;
        if self.left == 0 {
            self.end()?;
        }
        Ok(read)
    }

    fn end(&mut self) -> Result<(), String> {
        if self.data.read(&mut [0]).map_err(|error| error.to_string())? > 0 {
            return Err(format!("inflates to more than {} bytes", self.size));
        }
        if let Compressed::Deflated(decoder) = &self.data
            && decoder.total_in() != self.stored
        {
            return Err(format!("its deflated data ends after {} bytes, expected {}", decoder.total_in(), self.stored));
        }
        same_crc(self.found.sum(), self.crc)
    }
}

impl Read for MemberContent {
    fn read(&mut self, out: &mut [u8]) -> io::Result<usize> {
        if let Some(message) = &self.failed {
            return Err(io::Error::other(message.clone()));
        }
        self.next(out).map_err(|message| io::Error::other(self.failed.insert(message).clone()))
    }
}

impl Read for Compressed {
    fn read(&mut self, out: &mut [u8]) -> io::Result<usize> {
        match self {
            Compressed::Stored(data) => data.read(out),
            Compressed::Deflated(data) => data.read(out),
        }
    }
}

pub(crate) fn same_crc(found: u32, expected: u32) -> Result<(), String> {
    if found == expected { Ok(()) } else { Err(format!("damaged: CRC-32 {found:08x}, expected {expected:08x}")) }
}
