//! Costs of machines, measured with 1 GiB of float32 on two cores and a warm page cache. Small windows stay in cache;
//! large ones need fewer system calls.

use crate::storage::read_at::READ_AHEAD;
use tensorop_kernels::layout::gather::GAP;

/// The minimum limit: the program's own need.
pub const MIN_MEMORY: usize = 1 << 24;

/// Sizes in bytes; a cost is the bytes that take as long to copy.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Machine {
    /// Filled from front to back, in second-level cache: 0.15 to 0.18 s, where `cp` took 0.27 s, and a single buffer
    /// 0.5 s.
    pub window: usize,
    /// Written by one system call: 96 MiB took 1.2 to 1.4 times as long by 256 KiB; 2 MiB gained nothing.
    pub file_window: usize,
    /// Small, since all of it is rewritten for one item.
    pub edit_window: usize,
    /// The window of sparse edits.
    pub page: usize,
    /// Per read: pieces of 64 bytes to 4 KiB took 0.55 to 0.8 of the time if gaps of 4 KiB were read too.
    pub read: usize,
    /// Per write: 96 MiB took 19 ms by 512 KiB, 37 ms by 16 KiB and 109 ms by 2 KiB, but reads 8, 12 and 36 ms.
    pub write: usize,
    /// Per unpacked byte: 96 MiB of zstd took 0.33 s of processor time, a file 0.03 s.
    pub unpack: usize,
    /// Per byte in a slab: transpositions of 24 MiB took 1.6 to 2 times as long as by boxes of equal estimate.
    pub hold: usize,
    /// Per request: 20 ms at 100 MB/s.
    pub request: usize,
    /// The smallest piece worth its own read.
    pub short_piece: usize,
    /// All windows, if data is stored across the output's order: 32 MiB transposed 1 GiB 6 times faster than 256 KiB;
    /// more gained nothing.
    pub across: usize,
    /// All windows, if each sweeps through scattered pieces; fits a limit of 64 MiB.
    pub swept: usize,
    /// Twice this stays in cache; boxes of chunks are joined to this.
    pub slab: usize,
    /// The largest operand kept for single items, and the largest chunk taken whole.
    pub kept: usize,
    /// Index entries in memory, about 100 million tuples; others are read per window.
    pub entries: usize,
    /// All threads, if items move across a grid or an order.
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
    /// For tests and samples.
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
            // so that most tensors need several slabs
            slab: times(4),
            kept: times(8),
            entries: times(8),
            memory: times(32),
            ..usual
        }
    }
}
