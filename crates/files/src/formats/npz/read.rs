//! Reads archives.
//!
//! The record before a member repeats the directory, and programs disagree on which to believe. If the two differ, the
//! archive is refused.

use std::collections::{HashMap, HashSet};
use std::io::{self, Read};
use std::mem;
use std::sync::{Arc, Mutex, OnceLock};

use rawzip::{CompressionMethod, ErrorKind, ReaderAt, ZipArchive, ZipLocator};

use super::member::{ArchiveMember, HEADER_BUFFER, MemberContent, same_crc};
use super::records::{END_BYTES, ENDING, LOCAL_BYTES, MAX_MEMBERS, checksum};
use crate::container::content::LazyContent;
use crate::container::foreign::{EXPORTED, KERAS, PYTORCH, ZIPPED_STORE};
use crate::formats::npy::{self, Header};
use crate::storage::read_at::{Identity, ReadAt, Section, Stamp};
use crate::storage::source::Source;
use tensorop_kernels::error::{Error, ErrorKind as FileError, Result, bail, ensure, malformed};
use tensorop_kernels::parallel::{Threads, locked, made_once};

/// Makes the cost of system calls negligible.
const ITEMS_BUFFER: usize = 1 << 16;

/// An archive with its directory.
#[derive(Clone, Debug)]
pub struct Archive {
    /// Tensors, and unreadable files.
    pub(crate) members: Vec<ArchiveMember>,
    pub(crate) others: Vec<ArchiveMember>,
    begun: Vec<OnceLock<BegunMember>>,
    zip: ZipArchive<FileFront>,
}

#[derive(Clone, Debug)]
struct BegunMember {
    at: u64,
    header: Header,
}

impl Archive {
    /// Reads the directory, and takes no file for a tensor.
    ///
    /// # Errors
    /// The archive is malformed, has more than [`MAX_MEMBERS`] members or cannot be read.
    pub(crate) fn from_files(file: Arc<dyn ReadAt>) -> Result<Archive> {
        let len = file.size()?;
        let mut buffer = vec![0; ITEMS_BUFFER];
        let front = FileFront::new(file, len);
        // a server sends the end and most directories at once
        if front.file.costs_requests() {
            front.keep(len.saturating_sub(DIRECTORY), len)?;
        }
        let mut zip = ZipLocator::new()
            .max_search_space(END_BYTES as u64 + u64::from(u16::MAX))
            .locate_in_reader(front, &mut buffer, len)
            .map_err(|(_, error)| explain(error))?;
        ensure!(zip.end_offset() == len, "the ZIP archive ends after {} bytes, the file after {len}", zip.end_offset());
        let (told, end) = (zip.entries_hint(), zip.directory_offset());
        ensure!(told <= MAX_MEMBERS as u64, "the ZIP archive claims {told} members, expected at most {MAX_MEMBERS}");
        buffer.resize(rawzip::MAX_CENTRAL_DIRECTORY_RECORD_SIZE, 0);
        let mut entries = Vec::new();
        let (mut found, mut first) = (0, end);
        let mut records = zip.entries(&mut buffer);
        while let Some(record) = records.next_entry().map_err(explain)? {
            found += 1;
            ensure!(
                found <= told,
                "the directory of the ZIP archive has more than the {told} members that its end claims"
            );
            let path = record.file_path();
            let raw = path.as_bytes();
            let Ok(full) = std::str::from_utf8(raw) else {
                bail!("the name of member {found} is not UTF-8: \"{}\"", raw.escape_ascii());
            };
            ensure!(!full.contains('\0'), "the name of member {found} holds a NUL: {full:?}");
            let (at, stored) = (record.local_header_offset(), record.compressed_size_hint());
            let size = record.uncompressed_size_hint();
            let least = at.checked_add(LOCAL_BYTES as u64 + raw.len() as u64).and_then(|at| at.checked_add(stored));
            ensure!(
                least.is_some_and(|least| least <= end),
                "member {full:?} of {stored} bytes at byte {at} does not end before the directory at {end}"
            );
            ensure!(i64::try_from(size).is_ok(), "member {full:?} claims {size} bytes, more than a file can have");
            first = first.min(at);
            let flags = record.flags();
            let member = ArchiveMember {
                full_name: full.to_owned(),
                name_bytes: full.len(),
                at,
                found: record.wayfinder(),
                crc: record.crc32(),
                method: record.compression_method(),
                encrypted: flags.is_encrypted() || flags.has_strong_encryption() || flags.is_masked(),
                is_repeated: false,
            };
            // the entry of a folder has no content
            if !full.ends_with('/') || size > 0 {
                entries.push(member);
            }
        }
        ensure!(found == told, "the directory of the ZIP archive has {found} members, expected {told}");
        // otherwise an archive nested in a truncated one would be read in its place
        ensure!(first == 0, "the first member of the ZIP archive is at byte {first}, expected 0");
        zip.get_mut().len = end;
        Ok(Archive { members: Vec::new(), others: unrepeated(entries), begun: Vec::new(), zip })
    }

    /// Reads the directory, and tells tensors from other files.
    ///
    /// # Errors
    /// The archive is malformed, has more than [`MAX_MEMBERS`] members or cannot be read.
    pub fn read(file: Arc<dyn ReadAt>) -> Result<Archive> {
        let mut archive = Self::from_files(file)?;
        let entries = mem::take(&mut archive.others);
        let found = entries.len();
        if !entries.iter().any(|entry| entry.full_name.ends_with(ENDING))
            && let Some(what) = known_archive(entries.iter().map(|entry| &*entry.full_name))
        {
            bail!("{what}");
        }
        for entry in entries {
            if entry.full_name.ends_with(ENDING) || archive.may_be_tensor(&entry)? {
                archive.members.push(entry);
            } else {
                archive.others.push(entry);
            }
        }
        if archive.members.is_empty() && found > 0 {
            bail!("a ZIP archive without .npy members, which holds no tensors");
        }
        Ok(archive.with_names())
    }

    fn with_names(mut self) -> Self {
        let files = self.members.iter().chain(&self.others);
        let names: HashSet<_> = files.map(|member| &*member.full_name).collect();
        // NumPy drops the suffix unless a file `a` exists; then `a.npy` keeps it, and so does `a.npy.npy` beside these
        // two.
        let is_taken = |name: &str| {
            let mut name = name;
            loop {
                match name.strip_suffix(ENDING) {
                    _ if !names.contains(name) => return false,
                    None => return true,
                    Some(shorter) => name = shorter,
                }
            }
        };
        let bytes = |member: &ArchiveMember| {
            let stripped = member.full_name.strip_suffix(ENDING).filter(|name| !is_taken(name));
            stripped.map_or(member.full_name.len(), str::len)
        };
        let bytes: Vec<_> = self.members.iter().map(bytes).collect();
        self.members.iter_mut().zip(bytes).for_each(|(member, bytes)| member.name_bytes = bytes);
        self.begun = vec![OnceLock::new(); self.members.len()];
        self
    }

    /// Opening an unreadable file as a tensor gives the reason.
    fn may_be_tensor(&self, member: &ArchiveMember) -> Result<bool> {
        let front = self.zip.get_ref();
        front.look_ahead(member.at)?;
        let at = match self.content_at(member).map_err(|error| (error.kind(), error)) {
            Err((FileError::Io(kind), error)) if kind != io::ErrorKind::UnexpectedEof => return Err(error),
            Err(_) => return Ok(true),
            Ok(at) => at,
        };
        if member.size() < npy::MAGIC.len() as u64 {
            return Ok(false);
        }
        let mut begin = [0; npy::MAGIC.len()];
        let front: Arc<dyn ReadAt> = Arc::new(front.clone());
        let section = Section::new(front, at, member.stored());
        let read = MemberContent::new(section, member, HEADER_BUFFER).read_exact(&mut begin);
        Ok(read.is_err() || begin == npy::MAGIC)
    }

    pub(crate) fn open_other(&self, n: usize, threads: Threads) -> Result<impl Read> {
        let member = &self.others[n];
        let section = Section::new(Arc::clone(self.file()), self.content_at(member)?, member.stored());
        Ok(MemberContent::new(section.by(threads), member, ITEMS_BUFFER))
    }

    /// Preceded by method, size and checksum.
    pub(crate) fn open_stored(&self, n: usize, threads: Threads) -> Result<impl Read> {
        let member = &self.others[n];
        let section = Section::new(Arc::clone(self.file()), self.content_at(member)?, member.stored());
        let (method, size, crc) = (member.method.as_u16(), member.size(), member.crc);
        let front = [&method.to_le_bytes()[..], &size.to_le_bytes(), &crc.to_le_bytes()].concat();
        Ok(io::Cursor::new(front).chain(section.by(threads)))
    }

    /// Returns tensor names in directory order.
    pub fn names(&self) -> impl ExactSizeIterator<Item = &str> {
        self.members.iter().map(ArchiveMember::name)
    }

    /// Returns all bytes up to the next record.
    pub(crate) fn raw(&self, n: usize) -> Section<Arc<dyn ReadAt>> {
        let at = self.members[n].at;
        let all = self.members.iter().chain(&self.others);
        let next = all.map(|other| other.at).filter(|other| *other > at).min();
        Section::new(Arc::clone(self.file()), at, next.unwrap_or(self.zip.directory_offset()) - at)
    }

    /// Whether any member is deflated.
    pub fn is_deflated(&self) -> bool {
        self.members.iter().any(|member| member.method == CompressionMethod::DEFLATE)
    }

    /// Returns the header, and the offset of stored items.
    ///
    /// # Errors
    /// The member is malformed, unsupported or unreadable.
    pub fn header(&self, n: usize) -> Result<(Header, Option<u64>)> {
        let BegunMember { at, header } = self.begin(n)?;
        let is_stored = self.members[n].method == CompressionMethod::STORE;
        Ok((header.clone(), is_stored.then_some(at + header.offset as u64)))
    }

    fn begin(&self, n: usize) -> Result<&BegunMember> {
        made_once(&self.begun[n], || {
            let (member, front) = (&self.members[n], self.zip.get_ref());
            front.look_ahead(member.at)?;
            let at = self.content_at(member)?;
            let front: Arc<dyn ReadAt> = Arc::new(front.clone());
            let section = Section::new(front, at, member.stored());
            Ok(BegunMember { at, header: member.header(section)? })
        })
    }

    /// Returns the items.
    ///
    /// A stored member is read once for its checksum and then by position, because windows are read in any order and an
    /// output cannot be undone after a mismatch. A deflated stream checks itself before its last bytes.
    ///
    /// # Errors
    /// The member is malformed, unsupported or unreadable.
    pub fn source(&self, n: usize, label: String, threads: Threads) -> Result<Source> {
        let (member, file) = (&self.members[n], self.file());
        let BegunMember { at, header } = self.begin(n)?;
        let (at, Header { meta, offset, bytes }) = (*at, header.clone());
        // a server sends the content once, and it is checked as it arrives
        if member.method == CompressionMethod::STORE && !file.costs_requests() {
            let found = checksum(&**file, at, member.size(), threads)?.sum();
            same_crc(found, member.crc).map_err(|message| malformed!("{message}"))?;
            return Source::stored(meta, Arc::clone(file), at + offset as u64, label);
        }
        let (file, member) = (Arc::clone(file), member.clone());
        let items = LazyContent::new(move || {
            let section = Section::new(Arc::clone(&file), at, member.stored()).by(threads);
            let mut content = MemberContent::new(section, &member, ITEMS_BUFFER);
            content.header()?;
            Ok(Box::new(content))
        });
        Ok(Source::stream(meta, Box::new(items), bytes as u64, label))
    }

    fn file(&self) -> &Arc<dyn ReadAt> {
        self.zip.get_ref().file()
    }

    pub(crate) fn content_at(&self, member: &ArchiveMember) -> Result<u64> {
        ensure!(!member.is_repeated, "the ZIP archive has several members named {:?}", member.full_name);
        ensure!(
            matches!(member.method, CompressionMethod::STORE | CompressionMethod::DEFLATE),
            "compressed by method {}, expected stored or deflated",
            member.method
        );
        ensure!(!member.encrypted, "encrypted, which is not read");
        let failed = |error: rawzip::Error| match error.into_kind() {
            ErrorKind::IO(error) => Error::from(error).within(format!("the record of a member at byte {}", member.at)),
            other => malformed!("the record of a member at byte {}: {other}", member.at),
        };
        let entry = match self.zip.get_entry(member.found) {
            Err(error) if matches!(error.kind(), ErrorKind::InvalidSignature { .. }) => {
                bail!("no member record at byte {}, where the directory has one", member.at)
            }
            entry => entry.map_err(failed)?,
        };
        let (at, end) = (entry.compressed_data_range().0, self.zip.directory_offset());
        // the name and the extra fields have at most 64 KiB each
        let mut buffer = vec![0; (at - member.at) as usize - LOCAL_BYTES];
        let local = entry.local_header(&mut buffer).map_err(failed)?;
        // an archive written to a pipe has sizes and checksum after the member
        let behind = local.flags().has_data_descriptor();
        let agrees = |found, expected| found == expected || behind && found == 0;
        let (stored, size) = (local.compressed_size_hint(), local.uncompressed_size_hint());
        let name = local.file_path();
        let checks = [
            ("name", name.as_bytes() == member.full_name.as_bytes()),
            ("encryption", !local.flags().is_encrypted()),
            ("method", local.compression_method() == member.method),
            ("size", agrees(size, member.size()) && agrees(stored, member.stored())),
            ("checksum", agrees(u64::from(local.crc32()), u64::from(member.crc))),
        ];
        if let Some((what, _)) = checks.iter().find(|(_, same)| !same) {
            bail!("the record before the member and the directory differ in its {what}");
        }
        ensure!(
            at.checked_add(member.stored()).is_some_and(|content_end| content_end <= end),
            "{} bytes at byte {at} do not end before the directory at {end}",
            member.stored()
        );
        ensure!(
            member.method != CompressionMethod::STORE || member.stored() == member.size(),
            "stored in {} bytes, expected its size, {}",
            member.stored(),
            member.size()
        );
        Ok(at)
    }
}

fn known_archive<'a>(names: impl Iterator<Item = &'a str> + Clone) -> Option<&'static str> {
    let has = |file: &str| names.clone().any(|name| name.rsplit('/').next() == Some(file));
    match () {
        () if has("data.pkl") => Some(PYTORCH),
        () if has("model.weights.h5") => Some(KERAS),
        () if has("serialized_exported_program.json") => Some(EXPORTED),
        () if ["zarr.json", ".zarray", ".zgroup"].into_iter().any(has) => Some(ZIPPED_STORE),
        () => None,
    }
}

/// Programs disagree on which of several members with one name to read.
fn unrepeated(mut entries: Vec<ArchiveMember>) -> Vec<ArchiveMember> {
    let mut names = HashSet::with_capacity(entries.len());
    let twice = entries.iter().filter(|entry| !names.insert(&*entry.full_name));
    let mut twice: HashMap<_, _> = twice.map(|entry| (entry.full_name.clone(), false)).collect();
    if !twice.is_empty() {
        entries.retain_mut(|entry| match twice.get_mut(&entry.full_name) {
            Some(is_seen) => {
                entry.is_repeated = true;
                !mem::replace(is_seen, true)
            }
            None => true,
        });
    }
    entries
}

fn explain(error: rawzip::Error) -> Error {
    match error.into_kind() {
        ErrorKind::MissingEndOfCentralDirectory => malformed!("the ZIP archive has no end: cut off, or not a ZIP"),
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

const AHEAD: u64 = 1 << 12;

/// The bytes of the first request for the end of an archive.
const DIRECTORY: u64 = 1 << 14;

/// The bytes that rawzip may read: the whole file for the directory, then those before the directory.
#[derive(Clone, Debug)]
struct FileFront {
    file: Arc<dyn ReadAt>,
    len: u64,
    ahead: Arc<Mutex<(u64, Vec<u8>)>>,
}

impl FileFront {
    fn new(file: Arc<dyn ReadAt>, len: u64) -> Self {
        Self { file, len, ahead: Arc::default() }
    }

    fn file(&self) -> &Arc<dyn ReadAt> {
        &self.file
    }

    /// Member checksums are computed from bytes read anew, which reveals a file that changes meanwhile.
    fn look_ahead(&self, at: u64) -> io::Result<()> {
        let end = |bytes: u64| at.saturating_add(bytes).min(self.len);
        let (begin, kept) = {
            let ahead = locked(&self.ahead);
            (ahead.0, ahead.1.len() as u64)
        };
        if at < begin || end(AHEAD / 4) > begin + kept { self.keep(at, end(AHEAD)) } else { Ok(()) }
    }

    fn keep(&self, at: u64, end: u64) -> io::Result<()> {
        let mut bytes = vec![0; end.saturating_sub(at) as usize];
        self.file.read_at(&mut bytes, at)?;
        *locked(&self.ahead) = (at, bytes);
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

    fn first_stamp(&self) -> io::Result<Stamp> {
        self.file.first_stamp()
    }

    fn identity(&self) -> io::Result<Identity> {
        self.file.identity()
    }
}
