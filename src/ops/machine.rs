//! What was measured about machines, in one value that travels with the limits of a run.
//!
//! Every number was chosen by measuring 1 GiB of float32 on two cores with a page cache that held it. Two needs compete: a
//! window that stays in a core's cache is filled and written without touching memory twice, and a larger one needs fewer calls
//! of the system and fewer visits to what it is gathered from.

use crate::layout::gather::GAP;
use crate::storage::read_at::READ_AHEAD;

/// The least memory that can be asked for: what the program needs without holding anything.
pub const MIN_MEMORY: usize = 1 << 24;

/// How a machine behaves, in bytes: sizes that suit it, and calls as the bytes whose copying takes as long.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Machine {
    /// A window that is filled from front to back. With the scratch memory beside it, it stays in a core's second-level cache:
    /// reading and writing in such pieces took 0.15 to 0.18 s, where `cp` took 0.27 s and one buffer of the whole output 0.5 s
    /// (memory that is touched for the first time costs as much as the copy).
    pub window: usize,
    /// A window that is written to a file by one call of the system. The pages that a call fills are kept in large pieces, which
    /// end where the call does, so that short calls cost more: 96 MiB took 1.2 to 1.4 times as long by windows of 256 KiB, and
    /// windows of 2 MiB gained nothing.
    pub file_window: usize,
    /// A window in which data is changed in place: small, since all of a window is read and written for one item.
    pub edit_window: usize,
    /// A page of a file: the system reads and writes no less, so a sparse edit has windows of one page.
    pub page: usize,
    /// A read takes as long as copying this many bytes beside its own: pieces of 64 bytes to 4 KiB between gaps of 4 KiB took 0.55
    /// to 0.8 of the time if the gaps were read, too.
    pub read: usize,
    /// A write takes as long as copying this many bytes beside its own: a file system keeps a record of each, and finds memory for
    /// its pages, so that 96 MiB took 19 ms by writes of 512 KiB, 37 ms by writes of 16 KiB, and 109 ms by writes of 2 KiB, where
    /// reads of as much took 8, 12 and 36 ms.
    pub write: usize,
    /// Each byte of a chunk that is unpacked takes as long as copying this many: 96 MiB in chunks of zstd took 0.33 s of processor
    /// time where a file took 0.03 s.
    pub unpack: usize,
    /// Each byte that is held in a slab takes as long as copying this many: it is put into memory that is touched for the first
    /// time, and taken from there when all threads are ready. Transpositions of 24 MiB took 1.6 to 2 times as long by slabs as by
    /// the boxes that cost less by this number.
    pub hold: usize,
    /// A request to a server takes as long as copying this many bytes, at 20 ms for each and 100 MB in a second.
    pub request: usize,
    /// A piece of this many bytes or more is worth a read of its own.
    pub short_piece: usize,
    /// The windows of all threads together where data is stored across the order of the output: the items of a window lie in as
    /// many runs as its rows are cut into, each a read of its own, so that a window of 256 KiB would read 64 bytes at a time. 32
    /// MiB made the transposition of 1 GiB 6 times faster; more gained nothing.
    pub across: usize,
    /// The windows of all threads together where each is one sweep through data or updates that come in short pieces: few
    /// windows read them a few times over, where many would pick each piece by a call. 48 MiB stay under a limit of 64 MiB
    /// together with the rest.
    pub swept: usize,
    /// A window of up to twice as many bytes stays near a core until it is written, and what lies together in this many is read at
    /// once. Boxes of chunks are joined until they have as many where they are
    /// not written to chunks, since each of their rows is a call.
    pub slab: usize,
    /// Operands of this many bytes are kept in memory where single items are picked from them. Chunks of more are taken in parts
    /// where they are not written to chunks; the chunk itself is in memory once for all threads then.
    pub kept: usize,
    /// The entries of an index tensor that are in memory at once; others are read again when their windows are filled. 1 GiB is
    /// what some 100 million index tuples take.
    pub entries: usize,
    /// The most memory that all threads together hold at once where items move across a grid or an order of storage, so that what
    /// lies across the windows is read once. A user may give another limit.
    pub memory: usize,
}

impl Default for Machine {
    fn default() -> Self {
        Self {
            window: 1 << 18,
            file_window: 1 << 19,
            edit_window: 1 << 16,
            page: 1 << 12,
            read: GAP,
            write: 8 * GAP,
            unpack: 8,
            hold: 4,
            request: READ_AHEAD,
            short_piece: 1 << 14,
            across: 1 << 25,
            swept: 3 << 24,
            slab: 1 << 20,
            kept: 1 << 24,
            entries: 1 << 30,
            memory: 1 << 28,
        }
    }
}

impl Machine {
    /// Returns a machine on which all windows have this many bytes, and whose other sizes are small accordingly: for tests, which
    /// want boundaries everywhere, and for samples, which are read in small pieces.
    #[must_use]
    pub fn with_windows_of(bytes: usize) -> Self {
        let usual = Self::default();
        let times = |times: usize| bytes.saturating_mul(times);
        Self {
            window: bytes,
            file_window: bytes,
            edit_window: bytes,
            read: (bytes / (usual.window / usual.read)).max(1),
            request: bytes,
            across: bytes,
            swept: bytes,
            // most tensors need several slabs, and most index tensors and operands do not fit
            slab: times(4),
            kept: times(8),
            entries: times(8),
            memory: times(32),
            ..usual
        }
    }
}
