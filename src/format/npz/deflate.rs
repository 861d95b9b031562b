//! Archives written deflated: member after member, since where one begins depends on all bytes before it.
//!
//! The items go through the deflater as they are produced, so memory does not grow with them; the record before a member
//! is written when its checksum and sizes are known, into the room that was left for it.

use std::fs::File;
use std::io::{self, Write};

use flate2::write::DeflateEncoder;
use flate2::{Compression, Crc};

use super::write::Writer;
use crate::error::{Result, malformed};
use crate::format::Items;
use crate::storage::platform::write_at;

/// zlib's default level, which NumPy's `savez_compressed` has, too.
const LEVEL: u32 = 6;

/// The bytes that are deflated at once. What comes out depends on where its input was parted, and windows are of
/// other sizes with other numbers of threads: so it is always parted in the same way.
const CHUNK: usize = 1 << 18;

/// Writes the members to an empty file, the items as `items` hands them over.
pub(super) fn write(mut archive: Writer, file: &File, items: &mut Items<'_>) -> Result<()> {
    let (mut at, mut directory) = (0, Vec::new());
    for (n, member) in archive.members.iter_mut().enumerate() {
        member.at = at;
        member.deflated = Some(0);
        let begin = at + member.local_bytes();
        let mut chunks = Chunks::new(Appender { file, at: begin });
        chunks.take(&member.header)?;
        items(n, &mut |bytes| Ok(chunks.take(bytes)?))?;
        let (end, crc) = chunks.finish()?;
        member.deflated = Some(end - begin);
        write_at(file, &member.local(crc), member.at)?;
        directory.extend(member.central(crc));
        at = end;
    }
    archive.end = at;
    archive.directory = directory.len() as u64;
    // that end is what readers look for, and more than a file can have was refused for the sizes before compression
    at.checked_add(archive.directory).ok_or_else(|| malformed!("more bytes than a file can have"))?;
    directory.extend(archive.closing());
    Ok(write_at(file, &directory, at)?)
}

/// Deflates what comes in pieces of whatever sizes, in chunks of one size.
struct Chunks<'a> {
    encoder: DeflateEncoder<Appender<'a>>,
    chunk: Vec<u8>,
    crc: Crc,
}

impl<'a> Chunks<'a> {
    fn new(out: Appender<'a>) -> Self {
        let encoder = DeflateEncoder::new(out, Compression::new(LEVEL));
        Self { encoder, chunk: Vec::with_capacity(CHUNK), crc: Crc::new() }
    }

    fn take(&mut self, mut bytes: &[u8]) -> io::Result<()> {
        self.crc.update(bytes);
        while !bytes.is_empty() {
            let (now, rest) = bytes.split_at(bytes.len().min(CHUNK - self.chunk.len()));
            self.chunk.extend_from_slice(now);
            bytes = rest;
            if self.chunk.len() == CHUNK {
                self.encoder.write_all(&self.chunk)?;
                self.chunk.clear();
            }
        }
        Ok(())
    }

    /// Where the deflated bytes end in the file, and the checksum of what was deflated.
    fn finish(mut self) -> io::Result<(u64, u32)> {
        self.encoder.write_all(&self.chunk)?;
        Ok((self.encoder.finish()?.at, self.crc.sum()))
    }
}

/// Writes to a file by position, from front to back.
struct Appender<'a> {
    file: &'a File,
    at: u64,
}

impl Write for Appender<'_> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        write_at(self.file, bytes, self.at)?;
        self.at += bytes.len() as u64;
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}
