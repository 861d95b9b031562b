//! NumPy's `.npz`: a ZIP archive of `.npy` files, stored or deflated.
//!
//! The directory at the end of the archive is the truth, and what the members say of themselves must agree with it.
//! A file that begins as a `.npy` does is a tensor, also without that ending. A file whose beginning cannot be read may be one,
//! and is listed as a tensor that cannot be read. The other files are attachments, and folders are left out. Members that overlap do no harm, since they are only read.

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
