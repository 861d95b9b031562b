//! NumPy's `.npz`: a ZIP archive of `.npy` files, stored or deflated.
//!
//! The directory at the end is authoritative, and the records of members must agree with it. A file that begins like a
//! `.npy` is a tensor under any name. A file whose beginning cannot be read is listed as an unreadable tensor. Other
//! files are attachments; folders are ignored. Overlapping members are harmless in reading.

mod deflate;
mod front;
mod member;
mod read;
mod records;
mod sums;
pub(super) mod table;
#[cfg(test)]
mod tests;
mod write;

pub use self::read::Archive;
pub use self::records::{MAX_MEMBERS, is_npz};
pub use self::sums::WrittenSums;
pub use self::write::ArchiveWriter;
