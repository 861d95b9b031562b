//! What every codec is to a chain of them.

use std::borrow::Cow;
use std::fmt::Debug;

use crate::error::Result;

/// A step from bytes to bytes.
pub(super) trait Codec: Debug + Send + Sync {
    /// The bytes that were packed, `most` at most.
    fn unpack(&self, packed: Vec<u8>, most: usize) -> Result<Vec<u8>>;

    /// Packs bytes, which may be those of somebody else: a chunk is not held twice only to be packed.
    fn pack(&self, bytes: Cow<'_, [u8]>) -> Result<Vec<u8>>;

    /// The bytes that so many can become when they are packed.
    fn most_packed(&self, bytes: usize) -> usize {
        // what cannot be made smaller grows by a little for each block, and by a head and an end
        bytes.saturating_add(bytes / 64).saturating_add(1 << 16)
    }
}
