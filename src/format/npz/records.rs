//! What the reader and the writer of archives share: the numbers of ZIP records, and check sums.

use std::io::{self, Read};

use flate2::Crc;

use crate::parallel::{Threads, on_threads};
use crate::storage::read_at::{ReadAt, Section};

/// The most members that an archive is read or written with. The directory is held in memory,
/// and a file that claims 2^64 of them must not take all there is.
pub const MAX_MEMBERS: usize = 1 << 18;

/// The ending of a member's name, which NumPy hides.
pub(super) const ENDING: &str = ".npy";

/// What records begin with.
pub(super) const LOCAL: u32 = 0x0403_4b50;
pub(super) const END: u32 = 0x0605_4b50;

/// The bytes of records without what varies in them.
pub(super) const LOCAL_BYTES: usize = 30;
pub(super) const END_BYTES: usize = 22;

/// The bytes of which a checksum is made at once: they stay in a core's own cache from the read to the sum.
pub(super) const CHECK_BUFFER: usize = 1 << 18;

/// Whether a file begins as a ZIP archive does, an empty one among them.
pub fn is_npz(begin: &[u8]) -> bool {
    begin.starts_with(&LOCAL.to_le_bytes()) || begin.starts_with(&END.to_le_bytes())
}

/// The checksum of `len` bytes of a file from byte `at` on, by several threads if there are many: each makes that of a
/// stretch, and those are combined in order.
pub(super) fn checksum(file: &dyn ReadAt, at: u64, len: u64, threads: Threads) -> io::Result<Crc> {
    let threads = threads.for_bytes(usize::try_from(len).unwrap_or(usize::MAX));
    let stretch = len.div_ceil(threads as u64);
    let sums = on_threads(threads, |n| -> io::Result<Crc> {
        let begin = (stretch * n as u64).min(len);
        let mut reader = Section::new(file, at + begin, stretch.min(len - begin));
        let mut buffer = vec![0; usize::try_from(stretch).unwrap_or(usize::MAX).min(CHECK_BUFFER)];
        let mut crc = Crc::new();
        loop {
            match reader.read(&mut buffer)? {
                0 => return Ok(crc),
                read => crc.update(&buffer[..read]),
            }
        }
    });
    let mut crc = Crc::new();
    for sum in sums {
        crc.combine(&sum?);
    }
    Ok(crc)
}
