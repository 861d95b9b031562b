//! Systems of the Unix family of which nothing more is known, such as macOS; and Linux without the feature `formats`.

#[cfg(feature = "files")]
pub use super::portable::{allow_open_files, mark, marked, marked_with};
pub use super::portable::{
    clone_file, copy_range, exchange, is_writable, link, remove_stale, reserve, sync_all_of, unnamed,
};
pub use super::unix::{copy_mode, file_number, open_folder, read_at, write_at};
#[cfg(feature = "files")]
pub use super::unix::{open_any, open_to_lock, tempfile_in};
