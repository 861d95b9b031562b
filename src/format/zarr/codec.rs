//! The interface of a codec, which is a link in the chain that packs a chunk.

use std::borrow::Cow;
use std::fmt::Debug;

use crate::error::Result;

/// Packs bytes into bytes, and unpacks them.
pub(super) trait Codec: Debug + Send + Sync {
    /// Unpacks bytes. More than `most` are an error.
    fn unpack(&self, packed: Vec<u8>, most: usize) -> Result<Vec<u8>>;

    /// Packs bytes. They may be borrowed, so that a chunk need not be copied to be packed.
    fn pack(&self, bytes: Cow<'_, [u8]>) -> Result<Vec<u8>>;

    /// Returns the most bytes that so many can become when they are packed.
    fn most_packed(&self, bytes: usize) -> usize {
        // what cannot be made smaller grows by a little for each block, and by a head and an end
        bytes.saturating_add(bytes / 64).saturating_add(1 << 16)
    }
}
