//! NumPy's `.npz`: a ZIP archive of `.npy` files, stored or deflated.
//!
//! The directory at the end is authoritative, and records must agree with it. A file that begins like a `.npy`, or is
//! unreadable, is a tensor; other files are attachments. Overlapping members are harmless.

mod member;
mod read;
mod records;
pub(crate) mod table;
#[cfg(test)]
mod tests;
mod write;

pub use self::read::Archive;
pub use self::records::{MAX_MEMBERS, WrittenSums, is_npz};
pub use self::write::ArchiveWriter;
