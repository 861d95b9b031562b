//! Items that are not stored as their bytes: several in a byte, or computed from blocks of stored bytes.

pub(crate) mod narrow_bytes;
pub(crate) mod narrow_view;
pub mod packed;
pub mod stored_dtype;
pub(crate) mod units;
