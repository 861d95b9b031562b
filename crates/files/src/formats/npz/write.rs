//! Writes archives.
//!
//! rawzip writes only front to back. Stored members have a known offset for every item, so here all threads write items
//! by position.

use std::collections::HashSet;
use std::fs::File;

use flate2::Crc;
use rawzip::CompressionMethod;
use rawzip::extra_fields::ExtraFieldId;
use tensorop_kernels::error::{Result, ensure, malformed};

use super::records::{END, END_BYTES, ENDING, LOCAL, LOCAL_BYTES, MAX_MEMBERS, WrittenSums};
use crate::storage::platform::write_at;
use tensorop_kernels::memory;

const CENTRAL: u32 = 0x0201_4b50;
const END_64: u32 = 0x0606_4b50;
const LOCATOR_64: u32 = 0x0706_4b50;

pub(crate) const CENTRAL_BYTES: usize = 46;
pub(crate) const END_64_BYTES: usize = 56;
pub(crate) const LOCATOR_64_BYTES: usize = 20;

const UTF_8: u16 = 1 << 11;

const VERSION_64: u16 = 45;
const VERSION: u16 = 20;

/// 1980-01-01, the format's first day.
const DATE: u16 = 1 << 5 | 1;

/// The layout of an archive. Items are written in any order by any thread, then everything around them by
/// [`finish`](Self::finish).
#[derive(Clone, Debug)]
pub struct ArchiveWriter {
    pub(crate) members: Vec<NewMember>,
    pub(crate) end: u64,
    /// Without the end records.
    pub(crate) directory: u64,
}

/// Returns the names without a suffix: `a` and `a.npy`, if both exist. NumPy prefers the exact file name, and would
/// take `a.npy` with the tensor `a` for `a.npy`.
fn whole_names<'a>(names: &HashSet<&'a str>) -> HashSet<&'a str> {
    let shorter = |name: &'a str| name.strip_suffix(ENDING).filter(|shorter| names.contains(shorter));
    // a shortest name that has the suffix would be ambiguous
    let has_whole_root = |name: &&'a str| {
        std::iter::successors(Some(*name), |name| shorter(name)).last().is_some_and(|root| !root.ends_with(ENDING))
    };
    let with_shorter = names.iter().filter(|name| shorter(name).is_some()).filter(|name| has_whole_root(name));
    with_shorter.flat_map(|name| [Some(*name), shorter(name)]).flatten().collect()
}

#[derive(Clone, Debug)]
pub(crate) struct NewMember {
    pub(crate) name: String,
    pub(crate) header: Vec<u8>,
    /// In bytes.
    pub(crate) items: u64,
    pub(crate) at: u64,
    pub(crate) deflated: Option<u64>,
}

impl NewMember {
    fn size(&self) -> u64 {
        self.header.len() as u64 + self.items
    }

    fn stored(&self) -> u64 {
        self.deflated.unwrap_or(self.size())
    }

    /// A deflated member may exceed its size a little, which is not known in time.
    fn is_large(&self) -> bool {
        const MORE: u64 = 1 << 24;
        let more = if self.deflated.is_some() { MORE } else { 0 };
        self.size() + more >= u64::from(u32::MAX)
    }

    fn method(&self) -> u16 {
        if self.deflated.is_some() { CompressionMethod::DEFLATE } else { CompressionMethod::STORE }.as_u16()
    }

    pub(crate) fn local_bytes(&self) -> u64 {
        (LOCAL_BYTES + self.name.len()) as u64 + if self.is_large() { 20 } else { 0 }
    }

    fn common(&self, crc: u32, wide: bool) -> Vec<u8> {
        let flags = if self.name.is_ascii() { 0 } else { UTF_8 };
        let mut out = Vec::with_capacity(CENTRAL_BYTES + self.name.len());
        for short in [if wide { VERSION_64 } else { VERSION }, flags, self.method(), 0, DATE] {
            out.extend(short.to_le_bytes());
        }
        let sizes = [self.stored(), self.size()].map(|size| if self.is_large() { u32::MAX } else { narrow(size) });
        for long in [crc, sizes[0], sizes[1]] {
            out.extend(long.to_le_bytes());
        }
        out.extend((self.name.len() as u16).to_le_bytes());
        out
    }

    pub(crate) fn local(&self, crc: u32) -> Vec<u8> {
        let wide: &[u64] = if self.is_large() { &[self.size(), self.stored()] } else { &[] };
        let mut out = LOCAL.to_le_bytes().to_vec();
        out.extend(self.common(crc, self.is_large()));
        let extra = wide_field(wide);
        out.extend((extra.len() as u16).to_le_bytes());
        out.extend(self.name.as_bytes());
        out.extend(extra);
        out
    }

    pub(crate) fn central(&self, crc: u32) -> Vec<u8> {
        /// A regular Unix file, mode 644.
        const UNIX: u16 = 3 << 8;
        const MODE: u32 = 0o100_644 << 16;
        let mut wide = if self.is_large() { vec![self.size(), self.stored()] } else { Vec::new() };
        wide.extend(Some(self.at).filter(|at| *at >= u64::from(u32::MAX)));
        let mut out = CENTRAL.to_le_bytes().to_vec();
        out.extend((UNIX | if wide.is_empty() { VERSION } else { VERSION_64 }).to_le_bytes());
        out.extend(self.common(crc, !wide.is_empty()));
        let extra = wide_field(&wide);
        // no comment, first disk, not a text file
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

/// All ones mean that a 64-bit field has the number.
fn narrow(number: u64) -> u32 {
    u32::try_from(number).unwrap_or(u32::MAX)
}

fn wide_field(numbers: &[u64]) -> Vec<u8> {
    let mut out = Vec::new();
    if !numbers.is_empty() {
        out.extend(ExtraFieldId::ZIP64.as_u16().to_le_bytes());
        out.extend((8 * numbers.len() as u16).to_le_bytes());
        numbers.iter().for_each(|number| out.extend(number.to_le_bytes()));
    }
    out
}

impl ArchiveWriter {
    /// Lays out an archive: names without `.npy`, headers and bytes of items.
    ///
    /// # Errors
    /// A name is invalid or repeated, or there are more than [`MAX_MEMBERS`] members or too many bytes for a file.
    pub fn new(members: Vec<(String, Vec<u8>, u64)>) -> Result<ArchiveWriter> {
        ensure!(members.len() <= MAX_MEMBERS, "{} members, expected at most {MAX_MEMBERS}", members.len());
        let mut names = HashSet::with_capacity(members.len());
        for (name, ..) in &members {
            ensure!(!name.is_empty(), "the name of a member is empty");
            ensure!(!name.contains('\0'), "the name of member {name:?} holds a NUL");
            ensure!(
                u16::try_from(name.len() + ENDING.len()).is_ok(),
                "the name of a member has {} bytes, expected at most {}",
                name.len(),
                usize::from(u16::MAX) - 4
            );
            ensure!(names.insert(name.as_str()), "two members named {name:?}");
        }
        let whole = whole_names(&names);
        let whole: Vec<_> = members.iter().map(|(name, ..)| whole.contains(&**name)).collect();
        let (mut at, mut directory) = (0_u64, 0);
        let mut laid = Vec::with_capacity(members.len());
        for ((mut name, header, items), is_whole) in members.into_iter().zip(whole) {
            let too_large = || malformed!("member {name:?} of {items} bytes ends after more than a file can have");
            // everything around the items takes less than 1 TiB
            let limit = i64::MAX as u64 - (1 << 40);
            let size = items.checked_add(header.len() as u64).filter(|&size| size < limit).ok_or_else(too_large)?;
            let end = at.checked_add(size).filter(|&end| end < limit).ok_or_else(too_large)?;
            if !is_whole {
                name.push_str(ENDING);
            }
            let member = NewMember { name, header, items, at, deflated: None };
            at = end + member.local_bytes();
            directory += member.central(0).len() as u64;
            laid.push(member);
        }
        Ok(ArchiveWriter { members: laid, end: at, directory })
    }

    /// Returns the offset of a member's items.
    pub fn items_at(&self, n: usize) -> u64 {
        let member = &self.members[n];
        member.at + member.local_bytes() + member.header.len() as u64
    }

    /// Returns the file's length.
    #[expect(clippy::len_without_is_empty, reason = "an archive has bytes")]
    pub fn len(&self) -> u64 {
        self.end + self.directory + self.closing().len() as u64
    }

    pub(crate) fn closing(&self) -> Vec<u8> {
        let count = self.members.len() as u64;
        let short_count = u16::try_from(count).unwrap_or(u16::MAX);
        let (bytes, at) = (narrow(self.directory), narrow(self.end));
        let mut out = Vec::with_capacity(END_64_BYTES + LOCATOR_64_BYTES + END_BYTES);
        if short_count == u16::MAX || bytes == u32::MAX || at == u32::MAX {
            // the length excludes the signature and itself
            out.extend(END_64.to_le_bytes());
            out.extend((END_64_BYTES as u64 - 12).to_le_bytes());
            out.extend([VERSION_64, VERSION_64].map(u16::to_le_bytes).as_flattened());
            // this disk and the directory's disk
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

    /// Returns the number of members.
    pub fn count(&self) -> usize {
        self.members.len()
    }

    /// Returns the checksum of a member and the bytes before its items, whose checksum `written` has.
    pub fn before_items(&self, n: usize, written: &WrittenSums) -> (u32, Vec<u8>) {
        let member = &self.members[n];
        let mut crc = Crc::new();
        crc.update(&member.header);
        crc.combine(&written.sum_of(self.items_at(n), member.items));
        let mut begin = member.local(crc.sum());
        begin.extend(&member.header);
        (crc.sum(), begin)
    }

    /// Writes everything around the items, whose checksums `sums` has.
    ///
    /// # Errors
    /// Writing fails, or memory is short.
    pub fn finish(&self, file: &File, sums: &WrittenSums) -> Result<()> {
        let mut checksums = Vec::new();
        for n in 0..self.count() {
            let (checksum, before) = self.before_items(n, sums);
            write_at(file, &before, self.items_at(n) - before.len() as u64)?;
            checksums.push(checksum);
        }
        let end = self.end(&checksums)?;
        Ok(write_at(file, &end, self.len() - end.len() as u64)?)
    }

    /// Returns the directory, with the members' checksums, and the bytes after it.
    ///
    /// # Errors
    /// Memory is short.
    pub fn end(&self, checksums: &[u32]) -> Result<Vec<u8>> {
        let closing = self.closing();
        let mut end = memory::with_capacity(usize::try_from(self.directory)? + closing.len())?;
        self.members.iter().zip(checksums).for_each(|(member, crc)| end.extend(member.central(*crc)));
        end.extend(closing);
        Ok(end)
    }
}
