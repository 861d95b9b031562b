//! NumPy's `.npz`: a ZIP archive of `.npy` files, stored or deflated.
//!
//! The directory at the end of the archive is the truth, and what the members say of themselves must agree with it.
//! Members that are no `.npy` are left out, as are folders; members that overlap do no harm, since they are only read.

use std::borrow::Borrow;
use std::collections::HashSet;
use std::fs::File;
use std::io::{self, BufReader, Read, Take};
use std::num::NonZero;
use std::sync::Arc;

use crate::error::{Context, Error, Result, bail, malformed};
use flate2::Crc;
use flate2::bufread::DeflateDecoder;
use rawzip::extra_fields::{ExtraFieldId, ExtraFields};
use rawzip::{CompressionMethod, ErrorKind, ReaderAt, ZipLocator};

use crate::format::npy::{self, Begun, Header};
use crate::storage::platform::{read_at, write_at};
use crate::storage::source::{Section, Source, wrong_length};

/// The most members that an archive is read or written with.
pub const MAX_MEMBERS: usize = 1 << 18;

/// The ending of a member's name, which NumPy hides.
const ENDING: &str = ".npy";

/// What records begin with.
const LOCAL: u32 = 0x0403_4b50;
const CENTRAL: u32 = 0x0201_4b50;
const END: u32 = 0x0605_4b50;
const END_64: u32 = 0x0606_4b50;
const LOCATOR_64: u32 = 0x0706_4b50;

/// The bytes of records without what varies in them.
const LOCAL_BYTES: usize = 30;
const CENTRAL_BYTES: usize = 46;
const END_BYTES: usize = 22;
const END_64_BYTES: usize = 56;
const LOCATOR_64_BYTES: usize = 20;

/// Flags of a member: encrypted, followed by its sizes, named in UTF-8.
const ENCRYPTED: u64 = 1;
const DESCRIPTOR: u64 = 1 << 3;
const UTF_8: u16 = 1 << 11;

/// The version of the format that knows 64-bit sizes, and that of other members.
const VERSION_64: u16 = 45;
const VERSION: u16 = 20;

/// 1980-01-01, the first day that the format knows.
const DATE: u16 = 1 << 5 | 1;

/// The bytes read at once: of a header, and of items.
const HEADER_BUFFER: usize = 1 << 9;
const ITEMS_BUFFER: usize = 1 << 16;

/// The bytes of which a checksum is made at once, those for which a thread is worth its start, and the most threads.
const CHECK_BUFFER: usize = 1 << 18;
const WORTH_A_THREAD: u64 = 1 << 21;
const MOST_THREADS: usize = 8;

/// Whether a file begins as a ZIP archive does, an empty one among them.
pub fn is_npz(begin: &[u8]) -> bool {
    begin.starts_with(&LOCAL.to_le_bytes()) || begin.starts_with(&END.to_le_bytes())
}

/// The directory of an archive: what its members are and where they lie. It holds no file: each function gets the
/// one that the directory was read from.
#[derive(Clone, Debug)]
pub struct Archive {
    members: Vec<Member>,
    /// Where members end and the directory begins, in bytes from the beginning of the file.
    end: u64,
}

/// What the directory says of a member.
#[derive(Clone, Debug)]
struct Member {
    /// Without its ending.
    name: String,
    /// Where its record begins, in bytes from the beginning of the file.
    at: u64,
    /// Its bytes in the archive.
    stored: u64,
    /// Its bytes as a `.npy`.
    size: u64,
    crc: u32,
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
            let Header { meta, offset, .. } = content.header()?;
            same_crc(checksum(&file, at, member.size)?.sum(), member.crc).map_err(|message| malformed!("{message}"))?;
            return Ok(Source::file(meta, file, at + offset as u64, label));
        }
        let Header { meta, bytes, .. } = self.open(member, &*file, HEADER_BUFFER)?.0.header()?;
        let (archive, member) = (Archive { members: Vec::new(), end: self.end }, member.clone());
        let open = move || {
            let (mut content, _) = archive.open(&member, Arc::clone(&file), ITEMS_BUFFER)?;
            content.header()?;
            Ok(content)
        };
        let items = Late { open: Box::new(open), content: None, ended: false };
        Ok(Source::stream(meta, Box::new(items), bytes as u64, label))
    }

    fn member(&self, n: usize) -> Result<&Member> {
        self.members.get(n).ok_or_else(|| malformed!("member {n} of {}", self.members.len()))
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
            match npy::read_header(&begin).map_err(|message| malformed!("{message}"))? {
                Begun::Needs(bytes) => needs = bytes,
                Begun::Header(header) => {
                    let found = self.size.saturating_sub(header.offset as u64);
                    if found != header.bytes as u64 {
                        bail!("{}", wrong_length(found, header.bytes as u64, &header.meta));
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
fn explain(error: rawzip::Error) -> Error {
    match error.into_kind() {
        ErrorKind::MissingEndOfCentralDirectory => malformed!("the ZIP archive has no end: it is cut off, or none"),
        ErrorKind::InvalidEndOfCentralDirectory => malformed!("the directory of the ZIP archive begins after its end"),
        ErrorKind::Eof => malformed!("the directory of the ZIP archive is cut off"),
        ErrorKind::InvalidSignature { expected, actual } => {
            malformed!("a record of the ZIP archive's directory begins with 0x{actual:08x}, expected 0x{expected:08x}")
        }
        ErrorKind::IO(error) if error.kind() == io::ErrorKind::UnexpectedEof => {
            malformed!("the directory of the ZIP archive is cut off")
        }
        ErrorKind::IO(error) => error.into(),
        other => malformed!("the ZIP archive cannot be read: {other}"),
    }
}

/// The little-endian number in up to eight bytes from byte `at` on.
fn number(bytes: &[u8], at: usize, len: usize) -> u64 {
    bytes.iter().skip(at).take(len).rev().fold(0, |number, &byte| number << 8 | u64::from(byte))
}

fn same_crc(found: u32, expected: u32) -> Result<(), String> {
    if found == expected { Ok(()) } else { Err(format!("damaged: CRC-32 {found:08x}, expected {expected:08x}")) }
}

/// The checksum of `len` bytes of a file from byte `at` on, by several threads if there are many.
fn checksum(file: &File, at: u64, len: u64) -> io::Result<Crc> {
    let worth = usize::try_from(len / WORTH_A_THREAD).unwrap_or(usize::MAX).clamp(1, MOST_THREADS);
    let cores = || std::thread::available_parallelism().map_or(1, NonZero::get);
    let threads = if worth == 1 { 1 } else { cores().min(worth) };
    let part = len.div_ceil(threads as u64);
    let of_part = |n: usize| -> io::Result<Crc> {
        let begin = (part * n as u64).min(len);
        let mut reader = Section::new(file, at + begin, part.min(len.saturating_sub(begin)));
        let mut buffer = vec![0; usize::try_from(part).unwrap_or(usize::MAX).min(CHECK_BUFFER)];
        let mut crc = Crc::new();
        loop {
            match reader.read(&mut buffer)? {
                0 => return Ok(crc),
                read => crc.update(&buffer[..read]),
            }
        }
    };
    std::thread::scope(|scope| {
        // where no thread can be had, this one does its part
        let rest: Vec<_> = (1..threads)
            .map(|n| (n, std::thread::Builder::new().spawn_scoped(scope, move || of_part(n)).ok()))
            .collect();
        let mut crc = of_part(0)?;
        for (n, handle) in rest {
            let next = handle.and_then(|handle| handle.join().ok()).unwrap_or_else(|| of_part(n))?;
            crc.combine(&next);
        }
        Ok(crc)
    })
}

/// An archive of stored members that is written by position: first the items of all members, in any order and by
/// whomever, then all that is around them.
#[derive(Clone, Debug)]
pub struct Writer {
    members: Vec<New>,
    /// Where members end and the directory begins, in bytes from the beginning of the file.
    end: u64,
    /// The bytes of the directory without the records of its end.
    directory: u64,
}

/// A member to be written.
#[derive(Clone, Debug)]
struct New {
    /// With its ending.
    name: String,
    /// The header of the `.npy`.
    header: Vec<u8>,
    /// The bytes of its items.
    items: u64,
    /// Where its record begins, in bytes from the beginning of the file.
    at: u64,
}

impl New {
    /// Its bytes as a `.npy`.
    fn size(&self) -> u64 {
        self.header.len() as u64 + self.items
    }

    /// Whether its sizes need 64 bits, all ones in 32 having another meaning.
    fn is_large(&self) -> bool {
        self.size() >= u64::from(u32::MAX)
    }

    /// Whether its place needs 64 bits.
    fn is_far(&self) -> bool {
        self.at >= u64::from(u32::MAX)
    }

    /// The bytes of the record before it.
    fn local_bytes(&self) -> u64 {
        (LOCAL_BYTES + self.name.len()) as u64 + if self.is_large() { 20 } else { 0 }
    }

    /// The bytes of its record in the directory.
    fn central_bytes(&self) -> u64 {
        let wide = 16 * u64::from(self.is_large()) + 8 * u64::from(self.is_far());
        (CENTRAL_BYTES + self.name.len()) as u64 + if wide == 0 { 0 } else { 4 + wide }
    }

    /// Version, flags, method, date, checksum and sizes, which both of its records hold.
    fn common(&self, crc: u32, wide: bool) -> Vec<u8> {
        let flags = if self.name.is_ascii() { 0 } else { UTF_8 };
        let mut out = Vec::with_capacity(CENTRAL_BYTES + self.name.len());
        for short in [if wide { VERSION_64 } else { VERSION }, flags, 0, 0, DATE] {
            out.extend(short.to_le_bytes());
        }
        let size = narrow(self.size());
        for long in [crc, size, size] {
            out.extend(long.to_le_bytes());
        }
        out.extend((self.name.len() as u16).to_le_bytes());
        out
    }

    /// The record before it.
    fn local(&self, crc: u32) -> Vec<u8> {
        let wide: &[u64] = if self.is_large() { &[self.size(); 2] } else { &[] };
        let mut out = LOCAL.to_le_bytes().to_vec();
        out.extend(self.common(crc, self.is_large()));
        let extra = wide_field(wide);
        out.extend((extra.len() as u16).to_le_bytes());
        out.extend(self.name.as_bytes());
        out.extend(extra);
        out
    }

    /// Its record in the directory.
    fn central(&self, crc: u32) -> Vec<u8> {
        /// A regular file that its owner may write and all may read, in the terms of Unix.
        const UNIX: u16 = 3 << 8;
        const MODE: u32 = 0o100_644 << 16;
        let mut wide = if self.is_large() { vec![self.size(); 2] } else { Vec::new() };
        wide.extend(self.is_far().then_some(self.at));
        let mut out = CENTRAL.to_le_bytes().to_vec();
        out.extend((UNIX | if wide.is_empty() { VERSION } else { VERSION_64 }).to_le_bytes());
        out.extend(self.common(crc, !wide.is_empty()));
        let extra = wide_field(&wide);
        // no comment, the first disk, no text
        for short in [extra.len() as u16, 0, 0, 0] {
            out.extend(short.to_le_bytes());
        }
        out.extend(MODE.to_le_bytes());
        out.extend(narrow(self.at).to_le_bytes());
        out.extend(self.name.as_bytes());
        out.extend(extra);
        out
    }
}

/// A number in 32 bits; all ones stand for one that lies elsewhere, in 64.
fn narrow(number: u64) -> u32 {
    u32::try_from(number).unwrap_or(u32::MAX)
}

/// The extra field of numbers that need 64 bits; nothing if there are none.
fn wide_field(numbers: &[u64]) -> Vec<u8> {
    let mut out = Vec::new();
    if !numbers.is_empty() {
        out.extend(ExtraFieldId::ZIP64.as_u16().to_le_bytes());
        out.extend((8 * numbers.len() as u16).to_le_bytes());
        numbers.iter().for_each(|number| out.extend(number.to_le_bytes()));
    }
    out
}

impl Writer {
    /// Lays an archive out. Each member is its name without the ending `.npy`, the header of the `.npy` and the bytes
    /// of its items; they lie in the archive in that order.
    ///
    /// # Errors
    /// A name that is empty, too long, given twice or holds a NUL; more than [`MAX_MEMBERS`] members; more bytes than
    /// a file can have.
    pub fn new(members: Vec<(String, Vec<u8>, u64)>) -> Result<Writer> {
        if members.len() > MAX_MEMBERS {
            bail!("{} members, at most {MAX_MEMBERS} are written", members.len());
        }
        let mut names = HashSet::with_capacity(members.len());
        for (name, ..) in &members {
            if name.is_empty() {
                bail!("the name of a member is empty");
            }
            if name.contains('\0') {
                bail!("the name of member {name:?} holds a NUL");
            }
            if u16::try_from(name.len() + ENDING.len()).is_err() {
                bail!("the name of a member has {} bytes, at most {} fit", name.len(), usize::from(u16::MAX) - 4);
            }
            if !names.insert(name.as_str()) {
                bail!("two members of the name {name:?}");
            }
        }
        let (mut at, mut directory) = (0_u64, 0);
        let mut laid = Vec::with_capacity(members.len());
        for (mut name, header, items) in members {
            let too_large = || malformed!("member {name:?} of {items} bytes ends after more than a file can have");
            // of all members, what is around their items is less than 1 TiB
            let limit = i64::MAX as u64 - (1 << 40);
            let size = items.checked_add(header.len() as u64).filter(|&size| size < limit).ok_or_else(too_large)?;
            let end = at.checked_add(size).filter(|&end| end < limit).ok_or_else(too_large)?;
            name.push_str(ENDING);
            let member = New { name, header, items, at };
            at = end + member.local_bytes();
            directory += member.central_bytes();
            laid.push(member);
        }
        Ok(Writer { members: laid, end: at, directory })
    }

    /// Where the items of member `n` are to be written, in bytes from the beginning of the file.
    ///
    /// # Panics
    /// If there is no member of that number.
    pub fn items_at(&self, n: usize) -> u64 {
        let member = &self.members[n];
        member.at + member.local_bytes() + member.header.len() as u64
    }

    /// The bytes of the whole file when it is finished.
    #[expect(clippy::len_without_is_empty, reason = "no archive has no bytes")]
    pub fn len(&self) -> u64 {
        self.end + self.directory + self.closing().len() as u64
    }

    /// The records that end the archive.
    fn closing(&self) -> Vec<u8> {
        let count = self.members.len() as u64;
        let short_count = u16::try_from(count).unwrap_or(u16::MAX);
        let (bytes, at) = (narrow(self.directory), narrow(self.end));
        let mut out = Vec::with_capacity(END_64_BYTES + LOCATOR_64_BYTES + END_BYTES);
        if short_count == u16::MAX || bytes == u32::MAX || at == u32::MAX {
            // of its own bytes those are not counted that come before what counts them
            out.extend(END_64.to_le_bytes());
            out.extend((END_64_BYTES as u64 - 12).to_le_bytes());
            out.extend([VERSION_64, VERSION_64].map(u16::to_le_bytes).as_flattened());
            // this disk, that of the directory
            out.extend([0; 8]);
            for number in [count, count, self.directory, self.end] {
                out.extend(number.to_le_bytes());
            }
            out.extend(LOCATOR_64.to_le_bytes());
            out.extend([0; 4]);
            out.extend((self.end + self.directory).to_le_bytes());
            out.extend(1_u32.to_le_bytes());
        }
        out.extend(END.to_le_bytes());
        out.extend([0; 4]);
        out.extend([short_count, short_count].map(u16::to_le_bytes).as_flattened());
        out.extend([bytes, at].map(u32::to_le_bytes).as_flattened());
        // no comment
        out.extend([0; 2]);
        out
    }

    /// Completes a file that holds the items of all members: reads them for their checksums and writes what is around
    /// them. The file is open for reading and writing and, as it is left, no longer than [`len`](Self::len).
    ///
    /// # Errors
    /// Of reading, among them items that are missing; of writing.
    pub fn finish(&self, file: &File) -> Result<()> {
        let room =
            usize::try_from(self.directory).map_err(|_| malformed!("a directory of {} bytes", self.directory))?;
        let mut directory = Vec::with_capacity(room);
        for (n, member) in self.members.iter().enumerate() {
            let mut crc = Crc::new();
            crc.update(&member.header);
            crc.combine(&checksum(file, self.items_at(n), member.items)?);
            let mut begin = member.local(crc.sum());
            begin.extend(&member.header);
            write_at(file, &begin, member.at)?;
            directory.extend(member.central(crc.sum()));
        }
        directory.extend(self.closing());
        Ok(write_at(file, &directory, self.end)?)
    }
}

#[cfg(test)]
mod tests {
    use std::io::Write;

    use flate2::Compression;
    use flate2::write::DeflateEncoder;

    use super::*;
    use crate::item::dtype::DType;
    use crate::item::meta::{Meta, Order};
    use crate::layout::view::View;

    /// A file that holds `bytes`, its own position at its end.
    fn file(bytes: &[u8]) -> File {
        let mut file = tempfile::tempfile().expect("a temporary file");
        file.write_all(bytes).expect("written");
        file
    }

    fn all(file: &File) -> Vec<u8> {
        let mut bytes = vec![0; file.metadata().expect("metadata").len() as usize];
        read_at(file, &mut bytes, 0).expect("read");
        bytes
    }

    fn header(descr: &str, shape: &[usize]) -> Vec<u8> {
        npy::write_header(&Meta::new(DType::parse(descr).expect("a dtype"), shape.to_vec()))
    }

    /// The archive that the writer makes of such members.
    fn written(members: &[(&str, Vec<u8>, Vec<u8>)]) -> Result<Vec<u8>> {
        let laid = members.iter().map(|(name, header, items)| (name.to_string(), header.clone(), items.len() as u64));
        let writer = Writer::new(laid.collect())?;
        let file = file(&[]);
        for (n, (_, _, items)) in members.iter().enumerate().rev() {
            write_at(&file, items, writer.items_at(n))?;
        }
        writer.finish(&file)?;
        let bytes = all(&file);
        assert_eq!(bytes.len() as u64, writer.len());
        Ok(bytes)
    }

    fn small() -> Vec<u8> {
        let items: Vec<u8> = (0..24).collect();
        written(&[
            ("b", header("<f4", &[2, 3]), items),
            ("a/é", header("|u1", &[5]), b"PK\x05\x06\0".to_vec()),
            ("none", header("<i8", &[0, 7]), Vec::new()),
            ("one", header("|b1", &[]), vec![1]),
        ])
        .expect("an archive")
    }

    /// The same members, deflated one by one.
    fn deflated(archive: &[u8]) -> Vec<u8> {
        let directory = Archive::read(&file(archive)).expect("an archive");
        let (mut out, mut central) = (Vec::new(), Vec::new());
        for member in &directory.members {
            let new = New { name: member.name.clone() + ENDING, header: Vec::new(), items: 0, at: out.len() as u64 };
            let begin = (member.at + new.local_bytes()) as usize;
            let mut encoder = DeflateEncoder::new(Vec::new(), Compression::default());
            encoder.write_all(&archive[begin..][..member.size as usize]).expect("deflated");
            let data = encoder.finish().expect("deflated");
            let (mut local, mut record) = (new.local(member.crc), new.central(member.crc));
            for (bytes, at) in [(&mut local, 8), (&mut record, 10)] {
                bytes[at] = 8;
                bytes[at + 10..][..4].copy_from_slice(&(data.len() as u32).to_le_bytes());
                bytes[at + 14..][..4].copy_from_slice(&(member.size as u32).to_le_bytes());
            }
            out.extend(local);
            out.extend(data);
            central.extend(record);
        }
        let none = New { name: String::new(), header: Vec::new(), items: 0, at: 0 };
        let members = vec![none; directory.members.len()];
        let (end, bytes) = (out.len() as u64, central.len() as u64);
        out.extend(central);
        out.extend(Writer { members, end, directory: bytes }.closing());
        out
    }

    type Content = Vec<(String, Header, Vec<u8>)>;

    /// All that an archive holds.
    fn read(bytes: &[u8]) -> Result<Content> {
        let file = file(bytes);
        let archive = Archive::read(&file)?;
        let names: Vec<_> = archive.names().map(str::to_owned).collect();
        let read = |(n, name): (usize, String)| {
            let (header, at) = archive.header(&file, n)?;
            let source = archive.source(&Arc::new(file.try_clone()?), n, name.clone())?;
            assert_eq!(source.as_file().map(|(_, at)| at), at);
            assert_eq!(source.meta(), &header.meta);
            let mut items = vec![0; header.bytes];
            source.read(&View::c_order(&header.meta.shape), &mut items, &mut Vec::new())?;
            source.finish()?;
            Ok((name, header, items))
        };
        names.into_iter().enumerate().map(read).collect()
    }

    fn message<T>(result: Result<T>) -> String {
        result.map_or_else(|error| format!("{error:#}"), |_| "no error".to_owned())
    }

    fn check(failed: &[String]) {
        assert!(failed.is_empty(), "{}", failed.join("\n"));
    }

    #[test]
    fn beginnings() {
        let rows: [(&[u8], bool); 6] = [
            (b"PK\x03\x04rest", true),
            (b"PK\x05\x06", true),
            (b"PK\x01\x02", false),
            (b"PK", false),
            (b"", false),
            (b"\x93NUMPY", false),
        ];
        check(
            &rows
                .map(|(begin, expected)| (is_npz(begin) != expected).then(|| format!("{begin:?}")))
                .into_iter()
                .flatten()
                .collect::<Vec<_>>(),
        );
    }

    #[test]
    fn round_trip_stored_and_deflated() {
        let archive = small();
        assert_eq!(archive, small());
        let content = read(&archive).expect("read");
        let names: Vec<_> = content.iter().map(|(name, ..)| name.as_str()).collect();
        assert_eq!(names, ["b", "a/é", "none", "one"]);
        assert_eq!(content[0].2, (0..24).collect::<Vec<u8>>());
        assert_eq!(content[1].2, b"PK\x05\x06\0");
        assert_eq!((&content[2].1.meta.shape[..], content[3].2.as_slice()), (&[0, 7][..], &[1_u8][..]));
        assert_eq!(read(&deflated(&archive)).expect("read"), content);
        let empty = written(&[]).expect("an empty archive");
        assert_eq!(empty.len(), END_BYTES);
        assert!(is_npz(&empty) && read(&empty).expect("read").is_empty());
    }

    #[test]
    fn large_members_by_several_threads_and_reads() {
        let noise = |len: u32| (0..len).map(|i| (i.wrapping_mul(2_654_435_761) >> 24) as u8).collect::<Vec<u8>>();
        let archive =
            |items: &[u8]| written(&[("x", header("|u1", &[items.len()]), items.to_vec())]).expect("an archive");
        let items = noise((4 << 20) + 1);
        let large = archive(&items);
        let mut crc = Crc::new();
        crc.update(&header("|u1", &[items.len()]));
        crc.update(&items);
        assert_eq!(number(&large, 14, 4), u64::from(crc.sum()));
        assert!(read(&large).expect("read")[0].2 == items);
        let items = noise(200_000);
        assert!(read(&deflated(&archive(&items))).expect("read")[0].2 == items);
    }

    #[test]
    fn every_truncation_is_refused() {
        let archives = [small(), deflated(&small())];
        let mut failed = Vec::new();
        for (kind, archive) in archives.iter().enumerate() {
            for len in 0..archive.len() {
                let said = message(read(&archive[..len]));
                if said == "no error" || said.contains('\n') {
                    failed.push(format!("{kind}, {len} bytes: {said}"));
                }
            }
            for more in [&b"\0"[..], b"PK\x05\x06", b"PK\x05\x06                  "] {
                let said = message(read(&[archive, more].concat()));
                if said == "no error" {
                    failed.push(format!("{kind} and {more:?}"));
                }
            }
        }
        check(&failed);
    }

    #[test]
    fn no_flipped_byte_gives_other_data() {
        let stored =
            written(&[("é", header("<u2", &[2, 1]), vec![1, 2, 3, 4]), ("none", header("|u1", &[0]), Vec::new())])
                .expect("an archive");
        let archives = [deflated(&stored), stored];
        let mut failed = Vec::new();
        for (kind, archive) in archives.iter().enumerate() {
            let expected = read(archive).expect("read");
            for at in 0..archive.len() {
                for flip in [0xff, 0x01, 0x08] {
                    let mut bytes = archive.clone();
                    bytes[at] ^= flip;
                    match read(&bytes) {
                        Ok(content) if content != expected => failed.push(format!("{kind}, byte {at} ^ {flip:#x}")),
                        Err(error) if format!("{error:#}").contains('\n') => failed.push(format!("{error:#}")),
                        _ => {}
                    }
                }
            }
        }
        check(&failed);
    }

    #[test]
    fn refused_with_one_line() {
        let stored = small();
        let deflated = deflated(&stored);
        let one = |name: &str| written(&[(name, header("|u1", &[2]), vec![1, 2])]).expect("an archive");
        let directory = |archive: &[u8]| number(archive, archive.len() - 6, 4) as usize;
        let with = |archive: &[u8], changes: &[(usize, &[u8])]| {
            let mut bytes = archive.to_vec();
            for (at, new) in changes {
                bytes[*at..][..new.len()].copy_from_slice(new);
            }
            bytes
        };
        let x = one("x");
        let at = directory(&x);
        let names =
            |new: &[u8]| with(&one("name"), &[(LOCAL_BYTES, new), (directory(&one("name")) + CENTRAL_BYTES, new)]);
        let two =
            written(&[("x", header("|u1", &[1]), vec![1]), ("y", header("|u1", &[1]), vec![2])]).expect("an archive");
        let second = number(&two, directory(&two) + 47 + 4 + 42, 4) as usize;
        let twice =
            |new: &[u8]| with(&two, &[(second + LOCAL_BYTES, new), (directory(&two) + 2 * CENTRAL_BYTES + 5, new)]);
        let wrong_items = written(&[("x", header("<f4", &[2, 3]), vec![0; 23])]).expect("an archive");
        let no_npy = written(&[("x", b"MUMPY".to_vec(), vec![0; 200])]).expect("an archive");
        let short = written(&[("x", b"\x93NUMPY\x01\0\xff\0{".to_vec(), vec![])]).expect("an archive");
        let at_deflated = directory(&deflated);
        let end = x.len() - END_BYTES;
        let rows: Vec<(&str, Vec<u8>, &str)> = vec![
            ("nothing", Vec::new(), "the ZIP archive has no end: it is cut off, or none"),
            ("text", b"PK\x03\x04 and so on".to_vec(), "the ZIP archive has no end: it is cut off, or none"),
            ("a byte more", [&x[..], b"\0"].concat(), "the ZIP archive ends after 238 bytes, the file after 239"),
            ("bytes before", [b"#!", &x[..]].concat(), "the first member of the ZIP archive is at byte 2, expected 0"),
            (
                "count + 1",
                with(&x, &[(end + 8, &[2, 0, 2, 0])]),
                "the directory of the ZIP archive has 1 members, expected 2",
            ),
            (
                "count - 1",
                with(&x, &[(end + 8, &[0, 0, 0, 0])]),
                "the directory of the ZIP archive has more than the 0 members that its end tells of",
            ),
            (
                "directory after its end",
                with(&x, &[(end + 16, &[0xff, 0xff, 0, 0])]),
                "the directory of the ZIP archive begins after its end",
            ),
            ("CP437", names(b"n\x81me"), "the name of member 1 is not UTF-8: \"n\\x81me.npy\""),
            ("NUL", names(b"n\0me"), "the name of member 1 holds a NUL: \"n\\0me.npy\""),
            ("two of a name", twice(b"x"), "the ZIP archive has two members of the name \"x\""),
            ("encrypted", with(&x, &[(at + 8, &[1])]), "encrypted, which is not read"),
            (
                "encrypted by its own record",
                with(&x, &[(6, &[1])]),
                "the record before the member and the directory differ in its encryption",
            ),
            ("method 14", with(&x, &[(at + 10, &[14])]), "compressed by method 14 (LZMA), expected stored or deflated"),
            (
                "method 77",
                with(&x, &[(at + 10, &[77])]),
                "compressed by method 77 (UNKNOWN), expected stored or deflated",
            ),
            (
                "another method",
                with(&x, &[(at + 10, &[8])]),
                "the record before the member and the directory differ in its method",
            ),
            (
                "another name",
                with(&x, &[(30, b"y")]),
                "the record before the member and the directory differ in its name",
            ),
            (
                "another size",
                with(&x, &[(22, &[131])]),
                "the record before the member and the directory differ in its size",
            ),
            (
                "another checksum",
                with(&x, &[(14, &[x[14] ^ 1])]),
                "the record before the member and the directory differ in its checksum",
            ),
            (
                "no record",
                with(&x, &[(2, b"\x01\x02")]),
                "no record of a member lies at byte 0, where the directory has one",
            ),
            (
                "stored in less",
                with(&x, &[(20 + at, &[129]), (18, &[129])]),
                "stored in 129 bytes, expected its size, 130",
            ),
            (
                "too many bytes",
                with(&x, &[(20 + at, &[0, 1]), (18, &[0, 1])]),
                "member \"x.npy\" of 256 bytes at byte 0 does not end before the directory at 165",
            ),
            ("a damaged item", with(&x, &[(at - 1, &[7])]), "damaged: CRC-32 2f0ff6ed, expected 5f650262"),
            ("too few items", wrong_items, "23 bytes of data, expected 24 (float32 [2, 3])"),
            ("no npy", no_npy, "no .npy file: does not begin with \\x93NUMPY"),
            ("short header", short, "ends after 11 bytes, inside its header of 265"),
            (
                "deflated to more",
                with(&deflated, &[(22, &[151]), (at_deflated + 24, &[151])]),
                "23 bytes of data, expected 24 (float32 [2, 3])",
            ),
        ];
        let mut failed = Vec::new();
        for (name, bytes, expected) in rows {
            let said = message(read(&bytes));
            if said != expected {
                failed.push(format!("{name}: {said}, expected {expected}"));
            }
        }
        check(&failed);
    }

    #[test]
    fn other_members_are_left_out() {
        let archive = written(&[
            ("x", header("|u1", &[1]), vec![1]),
            ("folder/", header("|u1", &[1]), vec![2]),
            ("read.me", header("|u1", &[1]), vec![3]),
        ])
        .expect("an archive");
        // the endings of the last two names are changed where they stand
        let mut bytes = archive.clone();
        for (from, to) in [(&b"folder/.npy"[..], &b"folder/.np/"[..]), (b"read.me.npy", b"read.me.txt")] {
            for at in 0..bytes.len() - from.len() {
                if &bytes[at..][..from.len()] == from {
                    bytes[at..][..to.len()].copy_from_slice(to);
                }
            }
        }
        let names: Vec<_> = read(&bytes).expect("read").into_iter().map(|(name, ..)| name).collect();
        assert_eq!(names, ["x"]);
    }

    #[test]
    fn names_the_writer_refuses() {
        let long = "x".repeat(65_532);
        let rows: [(&[&str], &str); 6] = [
            (&[""], "the name of a member is empty"),
            (&["a\0"], "the name of member \"a\\0\" holds a NUL"),
            (&["a", "b", "a"], "two members of the name \"a\""),
            (&[&long], "the name of a member has 65532 bytes, at most 65531 fit"),
            (&[&long[1..]], "no error"),
            (&["a", "a.npy"], "no error"),
        ];
        let mut failed = Vec::new();
        for (names, expected) in rows {
            let said = message(Writer::new(names.iter().map(|name| (name.to_string(), Vec::new(), 0)).collect()));
            if said != expected {
                failed.push(said);
            }
        }
        check(&failed);
        let sizes = |sizes: &[u64]| {
            message(Writer::new(sizes.iter().enumerate().map(|(n, &size)| (n.to_string(), vec![0], size)).collect()))
        };
        assert!(sizes(&[u64::MAX]).contains("more than a file can have"));
        assert!(sizes(&[1 << 62, 1 << 62]).contains("more than a file can have"));
    }

    #[test]
    fn more_than_32_bits() {
        // a hole of 4 GiB takes no room
        let large = (1_u64 << 32) + 5;
        let head = header("|u1", &[large as usize]);
        let members = vec![("hole".to_owned(), head.clone(), large), ("after".to_owned(), header("|u1", &[3]), 3)];
        let writer = Writer::new(members).expect("laid out");
        let local = LOCAL_BYTES as u64 + 8 + 20;
        assert_eq!(writer.items_at(0), local + head.len() as u64);
        assert!(writer.items_at(1) > 1 << 32);
        let record = writer.members[0].local(1);
        assert_eq!(record.len() as u64, local);
        assert_eq!((number(&record, 18, 4), number(&record, 22, 4)), (0xffff_ffff, 0xffff_ffff));
        assert_eq!(number(&record, 42, 8), large + head.len() as u64);
        assert_eq!(writer.members[1].central_bytes(), writer.members[1].central(1).len() as u64);
        assert_eq!(writer.closing().len(), END_64_BYTES + LOCATOR_64_BYTES + END_BYTES);
    }

    #[test]
    fn more_members_than_16_bits_count() {
        let head = header("|u1", &[1]);
        let members: Vec<_> = (0..70_000).map(|n| (n.to_string(), head.clone(), 1)).collect();
        let writer = Writer::new(members).expect("laid out");
        // only the directory is looked at
        let mut bytes: Vec<u8> = writer.members.iter().flat_map(|member| member.central(0)).collect();
        bytes.extend(writer.closing());
        let file = file(&[]);
        write_at(&file, &bytes, writer.end).expect("written");
        let archive = Archive::read(&file).expect("read");
        assert_eq!(archive.names().len(), 70_000);
        assert_eq!(archive.names().last(), Some("69999"));
    }

    #[test]
    fn golden_archives_of_numpy() {
        let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/golden/npz/");
        let read = |name: &str| read(&std::fs::read(format!("{folder}{name}")).expect("a golden file")).expect("read");
        let stored = read("stored.npz");
        assert_eq!(read("deflated.npz"), stored);
        assert_eq!(read("streamed.npz"), stored);
        let shown = |(name, header, items): &(String, Header, Vec<u8>)| {
            let Meta { dtype, shape, order } = &header.meta;
            (name.clone(), dtype.name(), shape.clone(), *order == Order::Fortran, items.clone())
        };
        let found: Vec<_> = stored.iter().map(shown).collect();
        let row = |name: &str, dtype: &str, shape: &[usize], fortran_order, items: Vec<u8>| {
            (name.to_owned(), dtype.to_owned(), shape.to_vec(), fortran_order, items)
        };
        let matrix = (0..12_u8).flat_map(|n| (f32::from(n) / 8.0).to_le_bytes());
        let fortran = (0..20_i16).flat_map(|n| (n % 4 * 5 + n / 4).to_le_bytes());
        let expected = [
            row("matrix", "float32", &[3, 4], false, matrix.collect()),
            row("fortran", "int16", &[4, 5], true, fortran.collect()),
            row("none", "float64", &[0, 3], false, Vec::new()),
            row("one", "complex128", &[], false, [1.5_f64, -2.0].map(f64::to_le_bytes).concat()),
            row("größe/x", "uint8", &[2000], false, (0..2000).map(|n| (n % 7) as u8).collect()),
        ];
        assert_eq!(found, expected);
    }
}
