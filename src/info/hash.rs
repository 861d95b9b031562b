//! The hash of a tensor: that of its canonical `.npy`.

use std::num::NonZero;

use sha2::{Digest, Sha256};

use crate::engine::job::Progress;
use crate::engine::scan::scan;
use crate::error::{Context, Result};
use crate::format::npy::write_header;
use crate::item::dtype::Kind;
use crate::item::meta::Meta;
use crate::ops::fill::Limits;
use crate::parallel::Threads;
use crate::storage::source::Source;

/// SHA-256, in lower-case hexadecimal digits, of the `.npy` that `numpy.save` writes for the tensor in C order and with
/// little-endian items: equal for equal tensors, whatever they are stored in and how, and what `sha256sum` says of such a
/// file.
///
/// Types of 8 bits or fewer for which NumPy has no name count as void of a byte, which they are read back as.
///
/// The items go through as a scan shows them, and none are held: of what lies in Fortran order, tiles. A hash of hashes
/// could be shared by threads, but nobody could check it with the tools that there are.
///
/// # Errors
/// Of reading; not enough memory.
pub fn hash(source: &mut Source, limits: Limits, progress: Progress<'_>) -> Result<String> {
    let unnamed = matches!(source.dtype().kind(), Kind::Narrow(_));
    let dtype = if unnamed { Kind::Void(1).into() } else { source.dtype().native() };
    let canonical = Meta::new(dtype, source.shape().to_vec());
    let begin = || Sha256::new_with_prefix(write_header(&canonical));
    // one thread sees the windows one after the other
    let limits = Limits { threads: Threads::new(NonZero::new(1)), ..limits };
    let hashers = scan([source], limits, progress, begin, |hasher, _, [items]| {
        hasher.update(items);
        Ok(true)
    })?;
    let digest = hashers.into_iter().next().context("no hash")?.finalize();
    Ok(digest.iter().map(|byte| format!("{byte:02x}")).collect())
}
