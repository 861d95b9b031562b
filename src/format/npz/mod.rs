//! NumPy's `.npz`: a ZIP archive of `.npy` files, stored or deflated.
//!
//! The directory at the end of the archive is the truth, and what the members say of themselves must agree with it.
//! Members that are no `.npy` are left out, as are folders; members that overlap do no harm, since they are only read.

mod read;
#[cfg(test)]
mod tests;
mod write;

use std::fs::File;
use std::io::{self, Read};
use std::num::NonZero;

use flate2::Crc;

pub use self::read::Archive;
pub use self::write::Writer;
use crate::source::Section;

/// The most members that an archive is read or written with.
pub const MAX_MEMBERS: usize = 1 << 18;

/// The ending of a member's name, which NumPy hides.
const ENDING: &str = ".npy";

/// What records begin with.
const LOCAL: u32 = 0x0403_4b50;
const END: u32 = 0x0605_4b50;

/// The bytes of records without what varies in them.
const LOCAL_BYTES: usize = 30;
const END_BYTES: usize = 22;

/// The bytes of which a checksum is made at once, those for which a thread is worth its start, and the most threads.
const CHECK_BUFFER: usize = 1 << 18;
const WORTH_A_THREAD: u64 = 1 << 21;
const MOST_THREADS: usize = 8;

/// Whether a file begins as a ZIP archive does, an empty one among them.
pub fn is_npz(begin: &[u8]) -> bool {
    begin.starts_with(&LOCAL.to_le_bytes()) || begin.starts_with(&END.to_le_bytes())
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
