//! How many bytes a window has, for each way in which an output is produced.
//!
//! Every size here was chosen by measuring 1 GiB of float32 on two cores with a page cache that held it. Two needs
//! compete: a window that stays in a core's cache is filled and written without touching memory twice, and a larger one
//! needs fewer system calls and fewer visits to what it is gathered from.

/// The size of windows that are filled from front to back. With the scratch memory beside it, it stays in a core's second-level
/// cache: reading and writing in such pieces took 0.15 to 0.18 s, where `cp` took 0.27 s and one buffer of the whole
/// output 0.5 s (memory that is touched for the first time costs as much as the copy).
pub const WINDOW: usize = 1 << 18;

/// The size of windows that are written to a file, each by one call of the system. The pages that a call fills are kept in large
/// pieces, which end where the call does, so that short calls cost more: 96 MiB took 1.2 to 1.4 times as long by windows of
/// 256 KiB, and windows of 2 MiB gained nothing.
pub const FILE_WINDOW: usize = 1 << 19;

/// The size of windows in which data is changed in place: small, since all of a window is read and written for one item.
pub const EDIT_WINDOW: usize = 1 << 16;

/// The size of windows for sparse edits, which change less than one byte in [`SPARSE`]: one page, since the system reads and
/// writes no less.
pub const SPARSE_EDIT_WINDOW: usize = 1 << 12;

/// An edit is sparse if it changes less than one byte in so many.
pub const SPARSE: usize = 32;

/// The most windows of an edit that are listed by their numbers: 32 MiB of list.
pub const MOST_SPARSE_WINDOWS: usize = 1 << 22;

/// The size of the windows of all threads together where data is stored across the order of the output: the items of a
/// window lie in as many runs as its rows are cut into, each a read of its own, so that a window of 256 KiB would read 64
/// bytes at a time.
/// 32 MiB made the transposition of 1 GiB 6 times faster; more gained nothing.
pub const ACROSS_WINDOWS: usize = 1 << 25;

/// The size of the windows of all threads together where updates come in pieces that are shorter than [`SHORT_PIECE`] and
/// are not kept in memory: each window is one sweep through the updates, so few windows read them a few times over, where many would
/// pick each piece by a system call. 48 MiB: as much as stays under a limit of 64 MiB together with the rest.
pub const SWEEP_WINDOWS: usize = 3 << 24;

/// A piece of updates of so many bytes or more is worth a read of its own.
pub const SHORT_PIECE: usize = 1 << 14;

/// Boxes of chunks are joined until they have at least so many bytes where they are not written to chunks: each of their
/// rows is a system call.
pub const LEAST_BOX: usize = 1 << 20;

/// Chunks of more bytes are taken in parts where they are not written to chunks: the chunk itself is in memory once for all
/// threads then.
pub const MOST_BOX: usize = 1 << 24;

/// The updates of a window are read at once if they lie together in so many bytes.
pub const SLAB: usize = 1 << 20;

/// The entries of an index tensor take at most so many bytes of memory; those of a larger one that do not fit are read again
/// when their windows are filled. 1 GiB is what some 100 million index tuples take.
pub const ENTRIES: usize = 1 << 30;

/// Updates of at most so many bytes are kept in memory where single items are picked from them.
pub const RESIDENT: usize = 1 << 24;

/// Updates in pieces of so many bytes, a page, are not kept in memory if they are more than a [`SLAB`]: the system reads no
/// less, so each piece is read by itself, and a process that makes a part of an output does not read them all.
pub const KEPT_PIECE: usize = 1 << 12;

/// The memory that all threads together hold at most, unless the user says otherwise, where items move across a grid or an
/// order of storage.
pub const MEMORY: usize = 1 << 28;

/// The least memory that can be asked for: what the program needs without holding anything.
pub const LEAST_MEMORY: usize = 1 << 24;
