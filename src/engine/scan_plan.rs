//! Plans of scans: how tensors whose items are only looked at are cut, and by how many threads they are read.
//!
//! As for an output, a [`Plan`] is a pure function of facts and limits, and is tested here without a file. A
//! [scan](super::scan) carries it out: it reads the windows of the plan and shows them.

use super::cut::Cut;
use super::plan::{Plan, Route, Steps};
use crate::layout::view::View;
use crate::layout::window::{Window, Windows};
use crate::ops::fill::Limits;
use crate::parallel::threads_holding;
use crate::storage::read_at::request_window;
use crate::storage::source::Source;

/// The least number of items of a run, where windows are boxes: as many as metrics sum at once, several times, and enough for
/// what each run costs.
const RUN: usize = 2048;

/// The part of a tensor that a view of its storage selects.
#[derive(Clone, Debug)]
pub struct ScannedPart<'a> {
    /// The tensor.
    pub source: &'a Source,
    /// The items, in the order in which they are scanned.
    pub view: View,
    /// Whether all of the tensor will be in memory or in a temporary file before it is scanned, as only an explanation says.
    pub is_kept: bool,
}

impl<'a> ScannedPart<'a> {
    /// Takes a part of a tensor as it lies now.
    pub fn new(source: &'a Source, view: View) -> Self {
        Self { source, view, is_kept: false }
    }

    /// Returns whether the items can be read only once, from front to back.
    fn is_stream(&self) -> bool {
        self.source.is_stream() && !self.is_kept
    }

    /// Returns whether each read is a request to a server.
    fn costs_requests(&self) -> bool {
        self.source.costs_requests() && !self.is_kept
    }

    /// Returns the bytes of its items in a window.
    pub(super) fn bytes_of(&self, window: &Window) -> usize {
        window.items() * self.source.dtype().itemsize()
    }

    /// Returns the number of its bytes.
    fn bytes(&self) -> usize {
        self.view.items().saturating_mul(self.source.dtype().itemsize())
    }

    /// Returns the grid of the chunks in which a tensor lies that is scanned as a whole and in its own order.
    fn grid(&self) -> Option<&[usize]> {
        let is_all = self.view.is_c_order() && self.view.shape() == self.source.shape();
        self.source.as_chunks().filter(|_| is_all && !self.is_kept).map(|chunks| chunks.grid())
    }
}

/// How the windows of a scan are shown.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ShownAs {
    /// One after the other. Several threads read only where they wait for a server.
    InOrder,
    /// In any order, each a run of items that are counted one after the other.
    Runs,
    /// In any order, each a box where that is read in longer pieces.
    Boxes,
}

/// Plans a scan of parts of tensors. No item of no bytes has a window, since there may be more of them than can be counted.
///
/// # Panics
/// If there is no part, or the views have different shapes.
pub fn plan_scan(parts: &[ScannedPart<'_>], limits: Limits, shown: ShownAs) -> Plan {
    let shape = parts.first().expect("a scan has a tensor").view.shape();
    assert!(parts.iter().all(|part| part.view.shape() == shape), "parts of one shape");
    let machine = limits.machine;
    let bytes = parts.iter().fold(0, |all: usize, part| all.saturating_add(part.bytes()));
    let widest = parts.iter().map(|part| part.source.dtype().itemsize()).fold(1, usize::max);
    let is_stream = parts.iter().any(ScannedPart::is_stream);
    let is_remote = parts.iter().any(ScannedPart::costs_requests);
    let is_across = parts.iter().any(|part| !part.view.is_forward());
    // a stream can be read by one thread only
    let most = if is_stream { 1 } else { limits.threads.for_requests(is_remote).for_bytes(bytes) };
    let window = match (is_across, is_remote) {
        (true, _) => (machine.across / most / parts.len()).max(machine.window),
        (false, true) => request_window(bytes / parts.len(), most, usize::MAX).min(machine.request),
        (false, false) => machine.window,
    };
    let items = (window / widest).max(1);
    let cut = Cut::Windows(match parts.iter().find_map(ScannedPart::grid) {
        _ if bytes == 0 => Windows::new(&[0], 1),
        // windows of whole rows of chunks, so that each chunk is read for one window only; of a server each chunk is a request, so
        // that small ones are better shared than joined
        Some(grid) => Windows::on_grid(&shape, if is_remote { 1 } else { items }, grid),
        None if is_across && shown == ShownAs::Boxes => boxes_across(&shape, items),
        None => Windows::new(&shape, items),
    });
    let each = held_by_scan(cut.largest(), widest, parts.len());
    let threads = match shown {
        ShownAs::InOrder if !is_remote => 1,
        _ => threads_holding(most, each, limits.machine.memory),
    };
    let route = if shown == ShownAs::InOrder { Route::Stream } else { Route::Windows };
    Plan { way: 0, before: Vec::new(), route, steps: Steps::Each(cut), threads }
}

/// Returns how many bytes each thread of a scan holds: a window of at most `largest` items of each part as it is stored,
/// and once packed.
pub(super) fn held_by_scan(largest: usize, widest: usize, parts: usize) -> usize {
    largest.saturating_mul(2 * widest * parts)
}

/// Cuts a tensor that is stored across its order into boxes of at most `items` items. The last axes have runs of some thousand
/// items, and the first axes, along which neighbours are stored side by side, have as many places as there is room for.
fn boxes_across(shape: &[usize], items: usize) -> Windows {
    let mut sides = Windows::contiguous(shape, RUN.min(items));
    let mut room = items / sides.iter().product::<usize>().max(1);
    for (side, &dim) in sides.iter_mut().zip(shape) {
        if *side > 1 || room < 2 {
            break;
        }
        *side = dim.min(room);
        room /= *side;
    }
    Windows::boxes(shape, &sides)
}

#[cfg(test)]
mod tests {
    use std::io;
    use std::num::NonZero;
    use std::sync::Arc;

    use super::*;
    use crate::error::Result;
    use crate::item::dtype::DType;
    use crate::item::meta::{Meta, Order};
    use crate::layout::axis::Span;
    use crate::memory::Buffer;
    use crate::ops::machine::Machine;
    use crate::parallel::Threads;
    use crate::storage::chunked::{ChunkStyle, Chunked, PackedUnit};
    use crate::storage::key_store::WritableStore;
    use crate::storage::read_at::{Identity, ReadAt, Stamp};

    /// Bytes, or chunks, of which nothing is ever read.
    #[derive(Debug)]
    struct Unread {
        is_remote: bool,
        style: Arc<ChunkStyle>,
    }

    impl ReadAt for Unread {
        fn size(&self) -> io::Result<u64> {
            unreachable!("a plan needs no items")
        }

        fn read_at(&self, _: &mut [u8], _: u64) -> io::Result<()> {
            unreachable!("a plan needs no items")
        }

        fn stamp(&self) -> io::Result<Stamp> {
            Ok(Stamp::Revision(0))
        }

        fn identity(&self) -> io::Result<Identity> {
            Ok(Identity::Memory(0))
        }

        fn costs_requests(&self) -> bool {
            self.is_remote
        }
    }

    impl Chunked for Unread {
        fn read(&self, _: &[Span], _: &mut [u8], _: &mut Buffer) -> Result<()> {
            unreachable!("a plan needs no items")
        }

        fn finish(&self) -> Result<()> {
            Ok(())
        }

        fn style(&self) -> &Arc<ChunkStyle> {
            &self.style
        }

        fn costs_requests(&self) -> bool {
            self.is_remote
        }

        fn is_unit(&self, _: &Window) -> bool {
            false
        }

        fn value_of(&self, _: &Window) -> Result<Option<Arc<dyn ReadAt>>> {
            Ok(None)
        }

        fn has(&self, _: &Window) -> bool {
            false
        }

        fn packed(&self, _: &Window, _: &[u8], _: bool) -> Result<PackedUnit> {
            unreachable!("nothing is written")
        }

        fn bytes_at(&self, _: &[Span]) -> u64 {
            0
        }

        fn store_identity(&self) -> Result<Identity> {
            Ok(Identity::Memory(0))
        }

        fn edit(&self) -> Result<Box<dyn WritableStore>> {
            unreachable!("nothing is written")
        }
    }

    /// Where the items of a tensor lie.
    #[derive(Clone, Copy, Debug)]
    enum Lies {
        InFile,
        InFortranOrder,
        OnServer,
        InStream,
        InChunks(&'static [usize]),
        InChunksOnServer(&'static [usize]),
    }

    fn source(dtype: &str, shape: &[usize], lies: Lies) -> Source {
        let order = if matches!(lies, Lies::InFortranOrder) { Order::Fortran } else { Order::C };
        let meta = Meta { order, ..Meta::new(DType::parse(dtype).unwrap(), shape.to_vec()) };
        let is_remote = matches!(lies, Lies::OnServer | Lies::InChunksOnServer(_));
        let chunk = match lies {
            Lies::InChunks(sides) | Lies::InChunksOnServer(sides) => sides.to_vec(),
            _ => Vec::new(),
        };
        let style = Arc::new(ChunkStyle {
            unit: chunk.clone(),
            chunk,
            codecs: String::new(),
            is_exact: true,
            fill: Vec::new(),
            attributes: None,
            dimension_names: None,
            groups: Arc::default(),
            is_consolidated: false,
        });
        let (unread, label) = (Arc::new(Unread { is_remote, style }), "data".to_owned());
        match lies {
            Lies::InFile | Lies::InFortranOrder | Lies::OnServer => Source::stored(meta, unread, 0, label).unwrap(),
            Lies::InStream => {
                let bytes = meta.bytes() as u64;
                Source::stream(meta, Box::new(io::empty()), bytes, label)
            }
            Lies::InChunks(_) | Lies::InChunksOnServer(_) => Source::chunks(meta, unread, label),
        }
    }

    #[test]
    fn plans_of_scans() {
        use Lies::{InChunks, InChunksOnServer, InFile, InFortranOrder, InStream, OnServer};
        use ShownAs::{Boxes, InOrder, Runs};
        const SMALL: (&str, &[usize]) = ("float32", &[8, 20]);
        const WIDE: (&str, &[usize]) = ("uint8", &[3, 2500]);
        // Windows of 64 bytes, those of all threads together 16 KiB where the order is crossed, requests of 256 bytes.
        let machine = Machine { across: 1 << 14, request: 256, ..Machine::with_windows_of(64) };
        // dtype and shape, where the tensors lie, threads, how windows are shown; the sides of windows, how many, threads
        type Row = ((&'static str, &'static [usize]), &'static [Lies], usize, ShownAs, &'static [usize], usize, usize);
        let rows: [Row; 18] = [
            (SMALL, &[InFile], 4, Runs, &[1, 16], 16, 4),
            (SMALL, &[InFile], 4, Boxes, &[1, 16], 16, 4),
            (SMALL, &[InFile, InFile], 4, Boxes, &[1, 16], 16, 4),
            (SMALL, &[InFile], 4, InOrder, &[1, 16], 16, 1),
            // no more threads than usual hold more than memory: 16 of 128 bytes each, or 8 of any size
            (SMALL, &[InFile], 20, Runs, &[1, 16], 16, 16),
            (SMALL, &[InFile, InFile], 20, Runs, &[1, 16], 16, 8),
            (SMALL, &[InStream], 4, Runs, &[1, 16], 16, 1),
            (SMALL, &[InFile, InStream], 4, Runs, &[1, 16], 16, 1),
            // large windows where a request costs more than a read, by several threads even in order
            (SMALL, &[OnServer], 4, Runs, &[3, 20], 3, 4),
            (SMALL, &[OnServer], 4, InOrder, &[3, 20], 3, 4),
            // whole rows of chunks, joined where that costs no request
            (SMALL, &[InChunks(&[3, 7])], 4, Runs, &[3, 20], 3, 4),
            (("uint8", &[8, 20]), &[InFile, InChunks(&[1, 7])], 4, Boxes, &[3, 20], 3, 4),
            (("uint8", &[8, 20]), &[InChunksOnServer(&[1, 7])], 4, Boxes, &[1, 7], 24, 4),
            // a share of 16 KiB where the order is crossed
            (WIDE, &[InFortranOrder], 4, Runs, &[1, 2500], 3, 4),
            (WIDE, &[InFortranOrder], 4, Boxes, &[2, 2048], 4, 4),
            (WIDE, &[InFile, InFortranOrder], 4, Boxes, &[1, 2048], 6, 4),
            (WIDE, &[InFortranOrder], 1, Boxes, &[3, 2048], 2, 1),
            (("float32", &[0, 20]), &[InFile], 4, Runs, &[1], 0, 1),
        ];
        for ((dtype, shape), lies, threads, shown, sides, count, expected) in rows {
            let threads = Threads::new(NonZero::new(threads)).started_for(1);
            let limits = Limits { machine, threads };
            let sources: Vec<_> = lies.iter().map(|&lies| source(dtype, shape, lies)).collect();
            let parts: Vec<_> = sources.iter().map(|source| ScannedPart::new(source, source.view())).collect();
            let Plan { before, steps, threads, .. } = plan_scan(&parts, limits, shown);
            let row = format!("{dtype} {shape:?} {lies:?} {shown:?}");
            assert_eq!(before, [], "{row}");
            let Steps::Each(Cut::Windows(windows)) = steps else { panic!("{row}: {steps:?}") };
            assert_eq!((windows.sides(), windows.count(), threads), (sides, count, expected), "{row}");
        }
    }
}
