//! Archives read: the directory, the records of members, and what members hold.

use std::borrow::Borrow;
use std::collections::HashSet;
use std::fs::File;
use std::io::{self, BufReader, Read, Take};
use std::sync::Arc;

use anyhow::{Context, Result, anyhow, bail};
use flate2::Crc;
use flate2::bufread::DeflateDecoder;
use rawzip::extra_fields::{ExtraFieldId, ExtraFields};
use rawzip::{CompressionMethod, ErrorKind, ReaderAt, ZipLocator};

use super::{END_BYTES, ENDING, LOCAL, LOCAL_BYTES, MAX_MEMBERS, checksum, number};
use crate::format::npy::{self, Begun, Header};
use crate::source::{Section, Source, read_at, wrong_length};

/// Flags of a member: encrypted, followed by its sizes.
const ENCRYPTED: u64 = 1;
const DESCRIPTOR: u64 = 1 << 3;

/// The bytes read at once: of a header, and of items.
const HEADER_BUFFER: usize = 1 << 9;
const ITEMS_BUFFER: usize = 1 << 16;

/// The directory of an archive: what its members are and where they lie. It holds no file: each function gets the
/// one that the directory was read from.
#[derive(Clone, Debug)]
pub struct Archive {
    pub(super) members: Vec<Member>,
    /// Where members end and the directory begins, in bytes from the beginning of the file.
    end: u64,
}

/// What the directory says of a member.
#[derive(Clone, Debug)]
pub(super) struct Member {
    /// Without its ending.
    pub(super) name: String,
    /// Where its record begins, in bytes from the beginning of the file.
    pub(super) at: u64,
    /// Its bytes in the archive.
    stored: u64,
    /// Its bytes as a `.npy`.
    pub(super) size: u64,
    pub(super) crc: u32,
    method: CompressionMethod,
    encrypted: bool,
}

impl Archive {
    /// Reads the directory of an archive.
    ///
    /// # Errors
    /// A file that is no whole archive, or more than that; a directory that contradicts itself or the file; names that
    /// are not UTF-8, or given twice; more than [`MAX_MEMBERS`] members; of reading.
    pub fn read(file: &File) -> Result<Archive> {
        let len = file.metadata()?.len();
        let mut buffer = vec![0; ITEMS_BUFFER];
        let archive = ZipLocator::new()
            .max_search_space(END_BYTES as u64 + u64::from(u16::MAX))
            .locate_in_reader(Whole { file, len }, &mut buffer, len)
            .map_err(|(_, error)| explain(error))?;
        if archive.end_offset() != len {
            bail!("the ZIP archive ends after {} bytes, the file after {len}", archive.end_offset());
        }
        let (told, end) = (archive.entries_hint(), archive.directory_offset());
        if told > MAX_MEMBERS as u64 {
            bail!("the ZIP archive claims {told} members, at most {MAX_MEMBERS} are read");
        }
        buffer.resize(rawzip::MAX_CENTRAL_DIRECTORY_RECORD_SIZE, 0);
        let mut members = Vec::new();
        let mut others = Vec::new();
        let (mut found, mut first) = (0, end);
        let mut records = archive.entries(&mut buffer);
        while let Some(record) = records.next_entry().map_err(explain)? {
            found += 1;
            if found > told {
                bail!("the directory of the ZIP archive has more than the {told} members that its end tells of");
            }
            let path = record.file_path();
            let raw = path.as_bytes();
            let Ok(full) = std::str::from_utf8(raw) else {
                bail!("the name of member {found} is not UTF-8: \"{}\"", raw.escape_ascii());
            };
            if full.contains('\0') {
                bail!("the name of member {found} holds a NUL: {full:?}");
            }
            let (at, stored, size) =
                (record.local_header_offset(), record.compressed_size_hint(), record.uncompressed_size_hint());
            let least = at.checked_add(LOCAL_BYTES as u64 + raw.len() as u64).and_then(|at| at.checked_add(stored));
            if least.is_none_or(|least| least > end) {
                bail!("member {full:?} of {stored} bytes at byte {at} does not end before the directory at {end}");
            }
            if i64::try_from(size).is_err() {
                bail!("member {full:?} claims {size} bytes, more than a file can have");
            }
            first = first.min(at);
            let flags = record.flags();
            match full.strip_suffix(ENDING) {
                None => others.push((full.to_owned(), at)),
                Some(name) => members.push(Member {
                    name: name.to_owned(),
                    at,
                    stored,
                    size,
                    crc: record.crc32(),
                    method: record.compression_method(),
                    encrypted: flags.is_encrypted() || flags.has_strong_encryption() || flags.is_masked(),
                }),
            }
        }
        if found != told {
            bail!("the directory of the ZIP archive has {found} members, expected {told}");
        }
        // else an archive that is an item of one that was cut off would be read in its place
        if first != 0 {
            bail!("the first member of the ZIP archive is at byte {first}, expected 0");
        }
        // a name that was damaged must not hide a member
        for (name, at) in &others {
            let mut local = vec![0; LOCAL_BYTES + name.len()];
            read_at(file, &mut local, *at)?;
            let begins = number(&local, 0, 4) == u64::from(LOCAL) && number(&local, 26, 2) == name.len() as u64;
            if !begins || !local.ends_with(name.as_bytes()) {
                bail!("the record before member {name:?} and the directory differ in its name");
            }
        }
        let mut names = HashSet::with_capacity(members.len() + others.len());
        let all = members.iter().map(|member| &member.name).chain(others.iter().map(|(name, _)| name));
        if let Some(name) = all.into_iter().find(|name| !names.insert(name.as_str())) {
            bail!("the ZIP archive has two members of the name {name:?}");
        }
        Ok(Archive { members, end })
    }

    /// The names of the members, in the order of the directory and without the ending `.npy`.
    pub fn names(&self) -> impl ExactSizeIterator<Item = &str> {
        self.members.iter().map(|member| member.name.as_str())
    }

    /// The header of a member, and where its items begin, in bytes from the beginning of the file, if it is stored.
    /// (What is deflated has no such place.) No more than the header is inflated.
    ///
    /// # Errors
    /// A member that is encrypted or compressed by another method; one that contradicts the directory or is no `.npy`
    /// of its size; of reading.
    pub fn header(&self, file: &File, n: usize) -> Result<(Header, Option<u64>)> {
        let member = self.member(n)?;
        let (mut content, at) = self.open(member, file, HEADER_BUFFER)?;
        let header = content.header()?;
        let items = (member.method == CompressionMethod::STORE).then_some(at + header.offset as u64);
        Ok((header, items))
    }

    /// The items of a member. What is stored is read once for its checksum, then by position; what is deflated is a
    /// stream that checks size and checksum before it gives its last bytes. `label` is what messages call it.
    ///
    /// # Errors
    /// Those of [`header`](Self::header); of what is stored, another checksum than the directory has.
    pub fn source(&self, file: &Arc<File>, n: usize, label: String) -> Result<Source> {
        let member = self.member(n)?;
        let file = Arc::clone(file);
        if member.method == CompressionMethod::STORE {
            let (mut content, at) = self.open(member, &*file, HEADER_BUFFER)?;
            let Header { dtype, shape, fortran_order, offset, .. } = content.header()?;
            same_crc(checksum(&file, at, member.size)?.sum(), member.crc).map_err(|message| anyhow!(message))?;
            return Ok(Source::file(dtype, shape, fortran_order, file, at + offset as u64, label));
        }
        let Header { dtype, shape, fortran_order, bytes, .. } = self.open(member, &*file, HEADER_BUFFER)?.0.header()?;
        let (archive, member) = (Archive { members: Vec::new(), end: self.end }, member.clone());
        let open = move || {
            let (mut content, _) = archive.open(&member, Arc::clone(&file), ITEMS_BUFFER)?;
            content.header()?;
            Ok(content)
        };
        let items = Late { open: Box::new(open), content: None, ended: false };
        Ok(Source::stream(dtype, shape, fortran_order, Box::new(items), bytes as u64, label))
    }

    fn member(&self, n: usize) -> Result<&Member> {
        self.members.get(n).ok_or_else(|| anyhow!("member {n} of {}", self.members.len()))
    }

    /// Holds the record before a member against the directory. What the member holds, and where that begins, in bytes
    /// from the beginning of the file.
    fn open<F: Borrow<File>>(&self, member: &Member, file: F, buffer: usize) -> Result<(Content<F>, u64)> {
        if !matches!(member.method, CompressionMethod::STORE | CompressionMethod::DEFLATE) {
            bail!("compressed by method {}, expected stored or deflated", member.method);
        }
        if member.encrypted {
            bail!("encrypted, which is not read");
        }
        let mut reader =
            BufReader::with_capacity(buffer, Section::new(file, member.at, self.end.saturating_sub(member.at)));
        let (record, name, extra) = record(&mut reader, member.at)?;
        let flags = number(&record, 6, 2);
        let (mut stored, mut size) = (number(&record, 18, 4), number(&record, 22, 4));
        if let Some((_, field)) = ExtraFields::new(&extra).find(|(id, _)| *id == ExtraFieldId::ZIP64) {
            let mut wide = field.chunks_exact(8).map(|chunk| number(chunk, 0, 8));
            for narrow in [&mut size, &mut stored].into_iter().filter(|size| **size == u64::from(u32::MAX)) {
                *narrow = wide.next().unwrap_or(*narrow);
            }
        }
        // of what was written to a pipe, the sizes and the checksum come behind it only
        let behind = flags & DESCRIPTOR != 0;
        let agrees = |found, expected| found == expected || behind && found == 0;
        let checks = [
            ("name", name.strip_suffix(ENDING.as_bytes()) == Some(member.name.as_bytes())),
            ("encryption", flags & ENCRYPTED == 0),
            ("method", number(&record, 8, 2) == u64::from(member.method.as_u16())),
            ("size", agrees(size, member.size) && agrees(stored, member.stored)),
            ("checksum", agrees(number(&record, 14, 4), u64::from(member.crc))),
        ];
        if let Some((what, _)) = checks.iter().find(|(_, same)| !same) {
            bail!("the record before the member and the directory differ in its {what}");
        }
        let at = member.at + (LOCAL_BYTES + name.len() + extra.len()) as u64;
        if at.checked_add(member.stored).is_none_or(|end| end > self.end) {
            bail!("{} bytes at byte {at} do not end before the directory at {}", member.stored, self.end);
        }
        let data = reader.take(member.stored);
        let data = match member.method {
            CompressionMethod::STORE if member.stored != member.size => {
                bail!("stored in {} bytes, expected its size, {}", member.stored, member.size)
            }
            CompressionMethod::STORE => Data::Stored(data),
            _ => Data::Deflated(DeflateDecoder::new(data)),
        };
        let (stored, size, crc) = (member.stored, member.size, member.crc);
        Ok((Content { data, stored, size, crc, left: size, found: Crc::new(), failed: None }, at))
    }
}

/// What a member holds, read from front to back. With its last bytes come size and checksum, or an error.
struct Content<F: Borrow<File>> {
    data: Data<F>,
    stored: u64,
    size: u64,
    crc: u32,
    /// The bytes still to come.
    left: u64,
    /// The checksum of those that came.
    found: Crc,
    failed: Option<String>,
}

enum Data<F: Borrow<File>> {
    Stored(Take<BufReader<Section<F>>>),
    Deflated(DeflateDecoder<Take<BufReader<Section<F>>>>),
}

/// Items that are inflated from when the first is read until the last has been: of many members that are open none
/// takes memory before its turn or after it.
struct Late {
    open: Box<dyn Fn() -> Result<Content<Arc<File>>> + Send>,
    content: Option<Content<Arc<File>>>,
    ended: bool,
}

impl Read for Late {
    fn read(&mut self, out: &mut [u8]) -> io::Result<usize> {
        if self.ended || out.is_empty() {
            return Ok(0);
        }
        if self.content.is_none() {
            self.content = Some((self.open)().map_err(|error| io::Error::other(format!("{error:#}")))?);
        }
        let read = self.content.as_mut().map_or(Ok(0), |content| content.read(out))?;
        if read == 0 {
            (self.content, self.ended) = (None, true);
        }
        Ok(read)
    }
}

impl<F: Borrow<File>> Content<F> {
    /// Reads the header of the `.npy`, and nothing after it.
    fn header(&mut self) -> Result<Header> {
        let mut begin = Vec::new();
        let mut needs = npy::MAGIC.len();
        loop {
            let missing = needs.saturating_sub(begin.len());
            self.take(missing as u64).read_to_end(&mut begin)?;
            if !npy::MAGIC.starts_with(begin.get(..npy::MAGIC.len()).unwrap_or(&begin)) {
                bail!("no .npy file: does not begin with \\x93NUMPY");
            }
            if begin.len() < needs {
                bail!("ends after {} bytes, inside its header of {needs}", begin.len());
            }
            match npy::read_header(&begin).map_err(|message| anyhow!(message))? {
                Begun::Needs(bytes) => needs = bytes,
                Begun::Header(header) => {
                    let found = self.size.saturating_sub(header.offset as u64);
                    if found != header.bytes as u64 {
                        bail!(wrong_length(found, header.bytes as u64, &header.dtype, &header.shape));
                    }
                    return Ok(header);
                }
            }
        }
    }

    /// Reads on, by whatever method.
    fn next(&mut self, out: &mut [u8]) -> Result<usize, String> {
        let limit = usize::try_from(self.left).unwrap_or(usize::MAX);
        let out_len = out.len().min(limit);
        let out = &mut out[..out_len];
        if out.is_empty() {
            return Ok(0);
        }
        let done = self.size - self.left;
        let read = self.data.read(out).map_err(|error| match error.kind() {
            // the words of flate2 for bytes that no compressor writes
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

    /// What must be so when all bytes have come.
    fn end(&mut self) -> Result<(), String> {
        if self.data.read(&mut [0]).map_err(|error| error.to_string())? > 0 {
            return Err(format!("inflates to more than {} bytes", self.size));
        }
        if let Data::Deflated(decoder) = &self.data
            && decoder.total_in() != self.stored
        {
            return Err(format!("its deflated data ends after {} bytes, expected {}", decoder.total_in(), self.stored));
        }
        same_crc(self.found.sum(), self.crc)
    }
}

impl<F: Borrow<File>> Read for Content<F> {
    fn read(&mut self, out: &mut [u8]) -> io::Result<usize> {
        if self.failed.is_none() {
            match self.next(out) {
                Ok(read) => return Ok(read),
                Err(message) => self.failed = Some(message),
            }
        }
        Err(io::Error::other(self.failed.clone().unwrap_or_default()))
    }
}

impl<F: Borrow<File>> Read for Data<F> {
    fn read(&mut self, out: &mut [u8]) -> io::Result<usize> {
        match self {
            Data::Stored(data) => data.read(out),
            Data::Deflated(data) => data.read(out),
        }
    }
}

/// A file as the reader of directories wants it.
struct Whole<'a> {
    file: &'a File,
    len: u64,
}

impl ReaderAt for Whole<'_> {
    fn read_at(&self, out: &mut [u8], at: u64) -> io::Result<usize> {
        Section::new(self.file, at, self.len.saturating_sub(at)).read(out)
    }
}

/// The record before a member: what all have, then its name and its extra fields.
type Record = ([u8; LOCAL_BYTES], Vec<u8>, Vec<u8>);

/// Reads the record before a member, which lies at byte `at`.
fn record(reader: &mut impl Read, at: u64) -> Result<Record> {
    let mut record = [0; LOCAL_BYTES];
    let place = || format!("the record of a member at byte {at}");
    reader.read_exact(&mut record).with_context(place)?;
    if number(&record, 0, 4) != u64::from(LOCAL) {
        bail!("no record of a member lies at byte {at}, where the directory has one");
    }
    let mut name = vec![0; number(&record, 26, 2) as usize];
    let mut extra = vec![0; number(&record, 28, 2) as usize];
    reader.read_exact(&mut name).and_then(|()| reader.read_exact(&mut extra)).with_context(place)?;
    Ok((record, name, extra))
}

/// What is wrong with a directory, in words for a user.
fn explain(error: rawzip::Error) -> anyhow::Error {
    match error.into_kind() {
        ErrorKind::MissingEndOfCentralDirectory => anyhow!("the ZIP archive has no end: it is cut off, or none"),
        ErrorKind::InvalidEndOfCentralDirectory => anyhow!("the directory of the ZIP archive begins after its end"),
        ErrorKind::Eof => anyhow!("the directory of the ZIP archive is cut off"),
        ErrorKind::InvalidSignature { expected, actual } => {
            anyhow!("a record of the ZIP archive's directory begins with 0x{actual:08x}, expected 0x{expected:08x}")
        }
        ErrorKind::IO(error) if error.kind() == io::ErrorKind::UnexpectedEof => {
            anyhow!("the directory of the ZIP archive is cut off")
        }
        ErrorKind::IO(error) => error.into(),
        other => anyhow!("the ZIP archive cannot be read: {other}"),
    }
}

fn same_crc(found: u32, expected: u32) -> Result<(), String> {
    if found == expected { Ok(()) } else { Err(format!("damaged: CRC-32 {found:08x}, expected {expected:08x}")) }
}
