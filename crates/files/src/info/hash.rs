//! The hash of a tensor: the hash of its canonical `.npy` file.

use std::io::Read;

use sha2::{Digest, Sha256};

use crate::engine::job::Progress;
use crate::engine::scan::scan_in_order;
use crate::error::Result;
use crate::format::npy::write_header;
use crate::item::dtype::Kind;
use crate::item::meta::Meta;
use crate::ops::fill::Limits;
use crate::storage::source::{Source, fill_from};

/// The SHA-256 of the `.npy` file that `numpy.save` writes for the tensor in C order and little-endian, equal to the
/// output of `sha256sum`. Types of up to 8 bits that NumPy does not know count as void of one byte. One thread hashes
/// all windows, because common tools cannot verify a tree of hashes.
///
/// # Errors
/// Reading fails, or memory is not available.
pub fn hash(source: &mut Source, limits: Limits, progress: Progress<'_>) -> Result<String> {
    let unnamed = matches!(source.dtype().kind(), Kind::Narrow(_));
    let dtype = if unnamed { Kind::Void(1).into() } else { source.dtype().native() };
    let canonical = Meta::new(dtype, source.shape().to_vec());
    let mut hasher = Sha256::new_with_prefix(write_header(&canonical));
    scan_in_order(source, limits, progress, &mut |items| {
        hasher.update(items);
        Ok(())
    })?;
    let digest = hasher.finalize();
    Ok(digest.iter().map(|byte| format!("{byte:02x}")).collect())
}

/// The length of a stream and its SHA-256.
///
/// # Errors
/// Reading fails.
pub fn hash_bytes(mut stream: impl Read) -> Result<(u64, String)> {
    let (mut hasher, mut buffer, mut bytes) = (Sha256::new(), vec![0; 1 << 16], 0);
    loop {
        let read = fill_from(&mut stream, &mut buffer)?;
        hasher.update(&buffer[..read]);
        bytes += read as u64;
        if read < buffer.len() {
            return Ok((bytes, hasher.finalize().iter().map(|byte| format!("{byte:02x}")).collect()));
        }
    }
}
