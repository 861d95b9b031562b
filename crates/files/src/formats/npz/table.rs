//! `.npz` in the table of formats: its reader, its compressed outputs, and archives of any files.

use std::collections::HashMap;
use std::fs::File;
use std::io::{self, BufReader, Read, Seek, SeekFrom, Write};
use std::sync::Arc;

use flate2::bufread::DeflateDecoder;
use flate2::write::DeflateEncoder;
use flate2::{Compression, Crc};
use rawzip::CompressionMethod;

use super::read::Archive;
use super::records::WrittenSums;
use super::write::ArchiveWriter;
use crate::container::content::{Content, Description, LazyContent};
use crate::container::file_options::LayoutRequest;
use crate::container::interface::{
    Items, ItemsPlace, Layout, Members, Places, ReadableFile, Reader, ReadsBack, Seal, StoredMember, WriteSequence,
    Writer,
};
use crate::formats::npy;
use crate::plans::sink::BegunSeal;
use crate::storage::attachments::Attachments;
use crate::storage::platform::write_at;
use crate::storage::read_at::{ReadAt, Section};
use crate::storage::source::{Container, Source};
use tensorop_kernels::error::{Result, ensure, malformed};
use tensorop_kernels::item::meta::Meta;
use tensorop_kernels::memory;
use tensorop_kernels::parallel::Threads;

pub(crate) fn open(content: Content) -> Result<ReadableFile> {
    let threads = content.threads;
    let file = content.into_bytes()?.0;
    let archive = Arc::new(Archive::read(Arc::clone(&file))?);
    let names = archive.others.iter().map(|other| other.full_name.clone()).collect();
    let others = OtherMembers { archive: Arc::clone(&archive), names, threads };
    let container = Container {
        attachments: Some(Arc::new(others)),
        ..Container::new(file.identity()?, archive.names().map(str::to_owned).collect())
    };
    let members = Members { is_compressed: archive.is_deflated(), ..Members::of(container) };
    Ok(ReadableFile::new(members, NpzReader { archive, threads }))
}

#[derive(Debug)]
struct OtherMembers {
    archive: Arc<Archive>,
    names: Vec<String>,
    threads: Threads,
}

impl Attachments for OtherMembers {
    fn names(&self) -> Result<&[String]> {
        Ok(&self.names)
    }

    fn open(&self, n: usize) -> Result<Box<dyn Read + '_>> {
        Ok(Box::new(self.archive.open_other(n, self.threads)?))
    }

    fn open_stored(&self, n: usize) -> Result<Option<Box<dyn Read + '_>>> {
        Ok(Some(Box::new(self.archive.open_stored(n, self.threads)?)))
    }
}

#[derive(Debug)]
struct NpzReader {
    archive: Arc<Archive>,
    threads: Threads,
}

impl Reader for NpzReader {
    fn stored(&self, n: usize) -> StoredMember {
        let archive = Arc::clone(&self.archive);
        // a search of all members finds the end
        let bytes = LazyContent::new(move || Ok(Box::new(archive.raw(n))));
        StoredMember { bytes: Some(Box::new(bytes)), ..StoredMember::default() }
    }

    fn describe(&self, n: usize) -> Result<Description> {
        let (header, offset) = self.archive.header(n)?;
        Ok(Description::new(header.meta, header.bytes as u64, offset))
    }

    fn source(&self, n: usize, label: String) -> Result<Source> {
        self.archive.source(n, label, self.threads)
    }
}

#[derive(Debug)]
pub(crate) struct NpzWriter;

impl Writer for NpzWriter {
    fn reads_back(&self, meta: &Meta) -> ReadsBack {
        npy::reads_back(meta)
    }

    fn layout(&self, tensors: &[(&str, &Meta)], request: &LayoutRequest<'_>) -> Result<Layout> {
        let member = |(name, meta): &(&str, &Meta)| ((*name).to_owned(), npy::write_header(meta), meta.bytes() as u64);
        let writer = ArchiveWriter::new(tensors.iter().map(member).collect())?;
        if request.options.compress {
            return Ok(Layout::Sequence(Box::new(writer)));
        }
        let place = |(n, (_, meta)): (usize, &(&str, &Meta))| ItemsPlace::bytewise(writer.items_at(n), meta);
        // items determine everything around them, so the layout has no header
        let places = Places::new(Vec::new(), tensors.iter().enumerate().map(place).collect());
        Ok(Layout::Places(Places { bytes: writer.len(), seal: Some(Box::new(writer)), ..places }))
    }
}

impl Seal for ArchiveWriter {
    fn begin(&self) -> Box<dyn BegunSeal + '_> {
        let checksums = vec![0; self.count()];
        Box::new(Sealing { archive: self, sums: WrittenSums::default(), checksums })
    }
}

#[derive(Debug)]
struct Sealing<'a> {
    archive: &'a ArchiveWriter,
    /// Of the items.
    sums: WrittenSums,
    /// Of the members.
    checksums: Vec<u32>,
}

impl BegunSeal for Sealing<'_> {
    fn add(&self, bytes: &[u8], at: u64) {
        self.sums.add(bytes, at);
    }

    fn before_items(&mut self, n: usize) -> Vec<u8> {
        let (checksum, bytes) = self.archive.before_items(n, &self.sums);
        self.checksums[n] = checksum;
        bytes
    }

    fn end(&self) -> Result<Vec<u8>> {
        self.archive.end(&self.checksums)
    }
}

impl WriteSequence for ArchiveWriter {
    fn write_sequence(&self, file: &File, items: &mut Items<'_>) -> Result<()> {
        write(self.clone(), file, items)
    }
}

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

/// The files of an archive, which are found by the directory at its end. No checksum is checked.
#[derive(Clone, Debug)]
pub(crate) struct ZipFiles {
    archive: Archive,
    /// The numbers of the files, by their paths.
    numbers: HashMap<String, usize>,
}

/// The place of the bytes of a file.
#[derive(Clone, Copy, Debug)]
pub(crate) struct ZipPlace {
    pub at: u64,
    pub stored: u64,
    /// Inflated.
    pub size: u64,
    pub is_deflated: bool,
}

impl ZipFiles {
    /// Reads the directory.
    ///
    /// # Errors
    /// The archive is malformed, has too many files or cannot be read.
    pub(crate) fn read(file: Arc<dyn ReadAt>) -> Result<Self> {
        let archive = Archive::from_files(file)?;
        let numbers = archive.others.iter().map(|file| file.full_name.clone()).zip(0..).collect();
        Ok(Self { archive, numbers })
    }

    /// Returns the paths of all files, in the order of the directory.
    pub(crate) fn paths(&self) -> impl ExactSizeIterator<Item = &str> {
        self.archive.others.iter().map(|file| &*file.full_name)
    }

    /// Returns the place of the file of a path, if the archive has it.
    ///
    /// # Errors
    /// Its record contradicts the directory, it has a name twice, or is encrypted or compressed by another method.
    pub(crate) fn find(&self, path: &str) -> Result<Option<ZipPlace>> {
        let Some(n) = self.numbers.get(path) else { return Ok(None) };
        let file = &self.archive.others[*n];
        let is_deflated = file.method == CompressionMethod::DEFLATE;
        Ok(Some(ZipPlace { at: self.archive.content_at(file)?, stored: file.stored(), size: file.size(), is_deflated }))
    }
}

impl ZipPlace {
    /// Returns the inflated bytes in order.
    pub(crate) fn open(self, file: &Arc<dyn ReadAt>) -> Box<dyn Read + Send> {
        const BUFFER: usize = 1 << 16;
        let section = Section::new(Arc::clone(file), self.at, self.stored);
        match self.is_deflated {
            true => Box::new(DeflateDecoder::new(BufReader::with_capacity(BUFFER, section)).take(self.size)),
            false => Box::new(section),
        }
    }

    /// Reads all bytes.
    ///
    /// # Errors
    /// There are more than `most`, the directory gives another number, or reading fails.
    pub(crate) fn read(self, file: &Arc<dyn ReadAt>, most: u64) -> Result<Vec<u8>> {
        let size = self.size;
        ensure!(size <= most, "{size} bytes, expected at most {most}");
        let mut bytes = memory::with_capacity(size.min(self.stored.saturating_mul(1 << 10)) as usize)?;
        self.open(file).read_to_end(&mut bytes)?;
        ensure!(bytes.len() as u64 == size, "inflates to {} bytes, expected {size}", bytes.len());
        Ok(bytes)
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
            let meta = tensorop_kernels::item::meta::Meta::c_order(
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
