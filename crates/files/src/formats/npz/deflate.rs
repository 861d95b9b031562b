//! Writes deflated archives member by member, because an offset depends on all bytes before it. The record before a
//! member is written when its checksum and sizes are known.

use std::fs::File;
use std::io::{self, Seek, SeekFrom, Write};

use flate2::write::DeflateEncoder;
use flate2::{Compression, Crc};

use super::write::ArchiveWriter;
use crate::container::interface::Items;
use crate::storage::platform::write_at;
use tensorop_kernels::error::{Result, malformed};

/// Also the level of NumPy's `savez_compressed`.
const LEVEL: u32 = 6;

/// The compressed bytes depend on how the input is divided, and windows on the number of threads, so the division is
/// fixed.
const CHUNK: usize = 1 << 18;

pub(crate) fn write(mut archive: ArchiveWriter, file: &File, items: &mut Items<'_>) -> Result<()> {
    let (mut at, mut directory) = (0, Vec::new());
    for (n, member) in archive.members.iter_mut().enumerate() {
        member.at = at;
        member.deflated = Some(0);
        let begin = at + member.local_bytes();
        let mut out = file;
        out.seek(SeekFrom::Start(begin))?;
        let mut chunks = Chunks::new(out);
        chunks.take(&member.header)?;
        items(n, &mut |bytes| Ok(chunks.take(bytes)?))?;
        let (deflated, crc) = chunks.finish()?;
        member.deflated = Some(deflated);
        write_at(file, &member.local(crc), member.at)?;
        directory.extend(member.central(crc));
        at = begin + deflated;
    }
    archive.end = at;
    archive.directory = directory.len() as u64;
    // compressed bytes may exceed the input
    at.checked_add(archive.directory).ok_or_else(|| malformed!("more bytes than a file can have"))?;
    directory.extend(archive.closing());
    Ok(write_at(file, &directory, at)?)
}

struct Chunks<'a> {
    encoder: DeflateEncoder<&'a File>,
    chunk: Vec<u8>,
    crc: Crc,
}

impl<'a> Chunks<'a> {
    fn new(out: &'a File) -> Self {
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

    fn finish(mut self) -> io::Result<(u64, u32)> {
        self.encoder.write_all(&self.chunk)?;
        self.encoder.try_finish()?;
        Ok((self.encoder.total_out(), self.crc.sum()))
    }
}

#[cfg(test)]
mod tests {
    use std::io::Read;
    use std::sync::Arc;

    use super::*;
    use crate::formats::npz::Archive;
    use crate::storage::source::Hold;
    use tensorop_kernels::parallel::Threads;

    fn archive(items: &[u8], piece: usize) -> Vec<u8> {
        let members = ["a", "b"].map(|name| {
            let meta = tensorop_kernels::item::meta::Meta::new(
                tensorop_kernels::DType::parse("uint8").expect("a dtype"),
                vec![items.len()],
            );
            (name.to_owned(), crate::formats::npy::write_header(&meta), items.len() as u64)
        });
        let archive = ArchiveWriter::new(members.to_vec()).expect("an archive");
        let mut file = tempfile::tempfile().expect("a file");
        write(archive, &file, &mut |_, take| items.chunks(piece).try_for_each(&mut *take)).expect("written");
        let read = Archive::read(Arc::new(file.try_clone().expect("the file again"))).expect("an archive");
        for n in 0..2 {
            let mut source = read.source(n, "x".to_owned(), Threads::default()).expect("a member");
            let mut found = vec![0; items.len()];
            source.hold(Hold::Seekable, Threads::default()).expect("the checksum");
            source.read(&source.view(), &mut found, &mut Default::default()).expect("items");
            assert!(found == items);
        }
        let mut bytes = Vec::new();
        file.rewind().expect("the beginning");
        file.read_to_end(&mut bytes).expect("the file");
        bytes
    }

    #[test]
    fn pieces_do_not_show() {
        let items: Vec<u8> = (0..2 * CHUNK as u32 + 7).map(|n| (n.wrapping_mul(n) >> 13) as u8 % 11).collect();
        let whole = archive(&items, items.len());
        assert!(whole.len() < items.len());
        for piece in [1000, 4096, CHUNK - 1, CHUNK] {
            assert!(archive(&items, piece) == whole, "{piece}");
        }
        assert_eq!(archive(&[], 1), archive(&[], 2));
    }
}
