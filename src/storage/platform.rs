//! The system calls that differ between systems, and what stands in for them where there are none.

use std::fs::{File, Metadata};
use std::io;

/// Whether two files are one, by whatever path.
#[cfg(unix)]
pub fn same_file(a: &Metadata, b: &Metadata) -> bool {
    use std::os::unix::fs::MetadataExt;
    (a.dev(), a.ino()) == (b.dev(), b.ino())
}

/// Whether two files are one: not known here, and taken for granted where it would matter.
#[cfg(not(unix))]
pub fn same_file(_: &Metadata, _: &Metadata) -> bool {
    true
}

/// Fills `bytes` from byte `at` of a file on, whatever the file's own position is.
///
/// # Errors
/// Of reading, among them an end before the last byte.
#[cfg(unix)]
pub fn read_at(file: &File, bytes: &mut [u8], at: u64) -> io::Result<()> {
    std::os::unix::fs::FileExt::read_exact_at(file, bytes, at).map_err(explain_end)
}

/// Fills `bytes` from byte `at` of a file on.
///
/// # Errors
/// Of reading, among them an end before the last byte.
#[cfg(windows)]
pub fn read_at(file: &File, mut bytes: &mut [u8], mut at: u64) -> io::Result<()> {
    while !bytes.is_empty() {
        match std::os::windows::fs::FileExt::seek_read(file, bytes, at)? {
            0 => return Err(explain_end(io::ErrorKind::UnexpectedEof.into())),
            n => {
                bytes = &mut bytes[n..];
                at += n as u64;
            }
        }
    }
    Ok(())
}

/// Writes all of `bytes` to a file, from byte `at` on.
///
/// # Errors
/// Of writing.
#[cfg(unix)]
pub fn write_at(file: &File, bytes: &[u8], at: u64) -> io::Result<()> {
    std::os::unix::fs::FileExt::write_all_at(file, bytes, at)
}

/// Writes all of `bytes` to a file, from byte `at` on.
///
/// # Errors
/// Of writing.
#[cfg(windows)]
pub fn write_at(file: &File, mut bytes: &[u8], mut at: u64) -> io::Result<()> {
    while !bytes.is_empty() {
        let written = std::os::windows::fs::FileExt::seek_write(file, bytes, at)?;
        bytes = &bytes[written..];
        at += written as u64;
    }
    Ok(())
}

fn explain_end(error: io::Error) -> io::Error {
    match error.kind() {
        io::ErrorKind::UnexpectedEof => io::Error::new(error.kind(), "the file became shorter while it was read"),
        _ => error,
    }
}

/// Whether there is no more room where a file lies.
pub fn is_full(error: &io::Error) -> bool {
    matches!(error.kind(), io::ErrorKind::StorageFull | io::ErrorKind::QuotaExceeded | io::ErrorKind::FileTooLarge)
}

/// Has the file system set the blocks of a large file of so many bytes aside: writing them then takes about half the
/// time, and a full disk shows before anything is computed.
///
/// # Errors
/// A full disk.
#[cfg(target_os = "linux")]
pub fn reserve(file: &File, bytes: u64) -> io::Result<()> {
    const LARGE: u64 = 1 << 20;
    if bytes < LARGE {
        return Ok(());
    }
    match rustix::fs::fallocate(file, rustix::fs::FallocateFlags::empty(), 0, bytes) {
        Err(error) if is_full(&error.into()) => Err(error.into()),
        _ => Ok(()),
    }
}

/// Nothing is known that would do it here.
///
/// # Errors
/// None.
#[cfg(not(target_os = "linux"))]
pub fn reserve(_: &File, _: u64) -> io::Result<()> {
    Ok(())
}

/// Makes `to` share the blocks of `from`, where the file system can.
#[cfg(target_os = "linux")]
pub fn clone_file(from: &File, to: &File) -> bool {
    rustix::fs::ioctl_ficlone(to, from).is_ok()
}

#[cfg(not(target_os = "linux"))]
pub fn clone_file(_: &File, _: &File) -> bool {
    false
}

/// Has the kernel copy bytes between files; how many it did before the end of `from`.
#[cfg(target_os = "linux")]
pub fn copy_range(from: &File, mut start: u64, to: &File, mut at: u64, len: usize) -> io::Result<usize> {
    let mut copied = 0;
    while copied < len {
        match rustix::fs::copy_file_range(from, Some(&mut start), to, Some(&mut at), len - copied) {
            Ok(0) => break,
            Ok(n) => copied += n,
            Err(rustix::io::Errno::INTR) => {}
            Err(error) => return Err(error.into()),
        }
    }
    Ok(copied)
}

#[cfg(not(target_os = "linux"))]
pub fn copy_range(_: &File, _: u64, _: &File, _: u64, _: usize) -> io::Result<usize> {
    Err(io::ErrorKind::Unsupported.into())
}
