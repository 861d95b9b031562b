//! The interface of operators and plans, and the prices of a machine. A linked operator has passed all checks, so any window may be filled, in any
//! order, on any thread.

use std::borrow::Cow;
use std::fmt::Debug;
use std::ops::Range;

use super::access::{Access, Holding, Picked, StoredWindow};
use super::selection::Selection;
use crate::storage::read_at::READ_AHEAD;
use crate::storage::source::Source;
use tensorop_kernels::error::{Error, Result, Subject};
use tensorop_kernels::item::dtype::DType;
use tensorop_kernels::item::meta::Meta;
use tensorop_kernels::layout::axis::{bytes_of, coordinates};
use tensorop_kernels::layout::gather::GAP;
use tensorop_kernels::layout::window::{Window, Windows, boxes_of_run};
use tensorop_kernels::memory::Buffer;
use tensorop_kernels::parallel::Threads;

/// The maximum number of rows or items of zero bytes (`<U0`, `V0`) that are printed as text, about 64 MiB. They take no
/// room in a file, so the text of a file of a few bytes could be 2^63 pairs of quotes.
pub(crate) const MAX_EMPTY_ITEMS: usize = 1 << 24;

/// Checks the size of an output.
///
/// # Errors
/// Its bytes cannot be counted.
pub(crate) fn check_size(dtype: &DType, shape: &[usize]) -> Result<()> {
    if bytes_of(shape, dtype.itemsize()).is_some() {
        return Ok(());
    }
    let message = format!("more bytes than can be counted ({} {shape:?})", dtype.name());
    Err(Error::new(Subject::Output, message))
}

/// The resources of a run.
#[derive(Clone, Copy, Debug, Default)]
pub struct Limits {
    pub threads: Threads,
    pub machine: Machine,
}

/// The buffers of a thread, reused because touching new memory costs as much as copying.
#[derive(Debug, Default)]
pub struct Scratch {
    pub gathered: Buffer,
    pub items: Buffer,
    pub inner: Option<Box<Scratch>>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Region {
    /// Item numbers in C order; may begin and end within a row.
    Run(Range<usize>),
    Box(Window),
}

impl Region {
    pub fn items(&self) -> usize {
        match self {
            Self::Run(run) => run.len(),
            Self::Box(window) => window.items(),
        }
    }

    /// Returns the box.
    ///
    /// # Panics
    /// The region is a run, which only plans for files have.
    pub fn window(&self) -> &Window {
        match self {
            Self::Run(_) => panic!("a sink of windows is given no runs"),
            Self::Box(window) => window,
        }
    }

    pub fn index_of(&self, item: usize, shape: &[usize]) -> Vec<usize> {
        match self {
            Self::Run(run) => coordinates(run.start + item, shape),
            Self::Box(window) => window.index_of(item),
        }
    }

    /// Cuts a run into boxes.
    pub fn boxes(&self, shape: &[usize]) -> Cow<'_, [Window]> {
        match self {
            Self::Run(run) => Cow::Owned(boxes_of_run(shape, run.start, run.end)),
            Self::Box(window) => Cow::Borrowed(std::slice::from_ref(window)),
        }
    }

    /// Cuts a box into contiguous boxes.
    pub fn pieces(&self, shape: &[usize]) -> Cow<'_, [Window]> {
        match self {
            Self::Box(window) if !window.is_contiguous(shape) => window.pieces(shape).collect(),
            _ => self.boxes(shape),
        }
    }

    /// Cuts a box into one-dimensional windows of item numbers.
    pub fn runs(&self, shape: &[usize]) -> Vec<Window> {
        let of_one_axis = |start, items| Window { start, ..Window::whole(&[items]) };
        match self {
            Self::Run(run) => vec![of_one_axis(run.start, run.len())],
            Self::Box(window) => window.pieces(shape).map(|it| of_one_axis(it.start, it.items())).collect(),
        }
    }
}

/// An operator linked to its sources.
pub trait Fill: Debug + Send + Sync {
    /// Returns the dtype and the shape, always in C order.
    fn meta(&self) -> &Meta;

    /// Returns the `n`-th operand, without index tensors. The first lends its name and its style of storage.
    fn operand(&self, n: usize) -> Option<&Source>;

    /// Returns the alternative ways to read; the planner compares their plans.
    fn ways(&self, _limits: &Limits) -> Vec<usize> {
        vec![0]
    }

    /// Returns the copies to make before the first window, such as a stream read out of order.
    fn holdings(&self, _way: usize, _limits: &Limits) -> Vec<Holding> {
        Vec::new()
    }

    /// Returns the accesses after the [copies](Self::holdings). Views are cloned: avoid calls per window.
    fn reads(&self, way: usize) -> Vec<Access<'_>>;

    /// Estimates the reads that an index tensor causes.
    fn picked(&self, _way: usize, _windows: usize, _sides: &[usize]) -> Picked {
        Picked::default()
    }

    /// Returns the reads that find the places of items, which are the same for all ways: of an index tensor, or of data
    /// that a condition selects.
    fn found(&self) -> Picked {
        Picked::default()
    }

    /// Chooses a way, once, before the first copy.
    fn take(&mut self, _way: usize) {}

    /// Makes a copy. Operands that are lent are copied by the lender.
    fn hold(&mut self, _holding: &Holding, _limits: &Limits) -> Result<()> {
        Ok(())
    }

    /// Overwrites all of `out`. Apart from reading, only a cast can fail.
    fn fill(&self, region: &Region, out: &mut [u8], scratch: &mut Scratch) -> Result<()>;

    /// Returns the minimum bytes of a window, if each costs a pass over an index tensor or many operands.
    fn window_bytes(&self, _way: usize, _threads: usize, _machine: &Machine) -> Option<usize> {
        None
    }

    /// Returns the chunks with exactly the items of a window, which a sink can copy.
    fn stored(&self, _window: &Window) -> Result<Option<StoredWindow<'_>>> {
        Ok(None)
    }

    fn as_patch(&self) -> Option<&dyn Patch> {
        None
    }

    /// Checks, after the last read, that operands were complete and did not change, except data changed in place.
    fn finish(&self) -> Result<()> {
        let is_in_place = self.as_patch().is_some_and(|patch| patch.base().is_in_place());
        (usize::from(is_in_place)..).map_while(|n| self.operand(n)).try_for_each(Source::finish)
    }
}

impl<'a> dyn Fill + 'a {
    pub fn operands(&self) -> impl Iterator<Item = &Source> {
        (0..).map_while(|n| self.operand(n))
    }

    /// Returns the first operand.
    ///
    /// # Panics
    /// The operator has no operands.
    pub fn data(&self) -> &Source {
        self.operand(0).expect("an output of items has an operand")
    }
}

/// A stored tensor, the base, with some items replaced, in place or in a clone of the file.
pub trait Patch: Debug + Sync {
    fn base(&self) -> &Selection;

    fn touched(&self, windows: &Windows, among: Range<usize>) -> Result<Vec<usize>>;

    /// Returns the range of changed items in a window.
    fn extent(&self, window: &Window) -> Result<Range<usize>>;
}

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
    /// Small, since one changed item rewrites a whole window.
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
