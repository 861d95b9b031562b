//! Constants of ZIP records, and checksums.

use std::io::{self, Read};

use flate2::Crc;

use crate::parallel::{Threads, on_threads};
use crate::storage::read_at::{ReadAt, Section};

/// The directory is held in memory, so a claim of 2^64 members must be refused.
pub const MAX_MEMBERS: usize = 1 << 18;

pub(super) const ENDING: &str = ".npy";

pub(super) const LOCAL: u32 = 0x0403_4b50;
pub(super) const END: u32 = 0x0605_4b50;

pub(super) const LOCAL_BYTES: usize = 30;
pub(super) const END_BYTES: usize = 22;

/// Fits in a core's own cache.
pub(super) const CHECK_BUFFER: u64 = 1 << 18;

/// Whether a file begins like a ZIP archive.
pub fn is_npz(begin: &[u8]) -> bool {
    begin.starts_with(&LOCAL.to_le_bytes()) || begin.starts_with(&END.to_le_bytes())
}

pub(super) fn checksum(file: &dyn ReadAt, at: u64, len: u64, threads: Threads) -> io::Result<Crc> {
    let threads = threads.for_bytes(usize::try_from(len).unwrap_or(usize::MAX));
    let stretch = len.div_ceil(threads as u64);
    let sums = on_threads(threads, |n| -> io::Result<Crc> {
        let begin = (stretch * n as u64).min(len);
        let mut reader = Section::new(file, at + begin, stretch.min(len - begin));
        let mut buffer = vec![0; stretch.min(CHECK_BUFFER) as usize];
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
