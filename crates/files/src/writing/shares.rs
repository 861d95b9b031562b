//! An output that several processes make in shares: its units, the present ones, and the sink that stores
//! them as chunks or shards.

use std::io;
use std::ops::Range;

use super::chunks::{ChunkShare, parts_of};
use super::output::Share;
use super::plan::{LaidOut, TensorJob};
use crate::container::file_options::NamedCopy;
use crate::container::interface::{Layout, Places, WriteChunks};
use crate::plans::job::Progress;
use crate::plans::sink::FileSink;
use crate::storage::platform::write_at;
use crate::storage::targets::parts::{MadeUnit, MadeUnits, Parts};
use tensorop_kernels::error::{Context, Result, unsupported};
use tensorop_kernels::layout::window::Windows;

/// The bytes of a unit of a file that is made in shares. Processes on several machines must write to different pages of
/// the file, because NFS clients write whole pages. A unit has whole pages. It also lies in one stripe of Lustre,
/// because stripes are whole MiB.
const UNIT: u64 = 1 << 20;

/// The number of units of a file that are written and synced before they are noted as done.
const UNITS_AT_ONCE: usize = 16;

/// An output that is cut into units and made in shares.
pub struct Shares<'a> {
    laid_out: &'a LaidOut,
    units: ShareUnits<'a>,
}

enum ShareUnits<'a> {
    /// A unit is a file in a folder of chunks.
    Chunks { writer: &'a dyn WriteChunks, windows: Vec<Windows> },
    /// A unit is a MiB of the only file. The header belongs to the first units.
    Bytes { output: &'a TensorJob, places: &'a Places },
}

/// The bytes that a share reads and writes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ShareReport {
    /// The units of the share.
    pub own: Range<usize>,
    /// The number of units of all shares.
    pub units: usize,
    /// The bytes of items that the share writes.
    pub writes: u64,
    /// The bytes of data that the share reads.
    pub reads: u64,
}

impl LaidOut {
    /// Cuts the output into units.
    ///
    /// # Errors
    /// The output is neither a folder of chunks nor a file of one tensor after a header.
    pub fn shares(&self) -> Result<Shares<'_>> {
        let units = match (&self.layout, &self.outputs[..]) {
            (Layout::Chunks(writer), _) => ShareUnits::Chunks { writer: &**writer, windows: self.boxes(&**writer) },
            (Layout::Places(places), [output]) if places.seal.is_none() && places.tensors[0].packed.is_none() => {
                ShareUnits::Bytes { output, places }
            }
            (Layout::Places(_) | Layout::Whole(_) | Layout::Sequence(_), _) => {
                return Err(unsupported!("{}: a {} cannot be made in parts", self.label, self.format.argument()));
            }
        };
        Ok(Shares { laid_out: self, units })
    }
}

impl Shares<'_> {
    fn count(&self) -> usize {
        match &self.units {
            ShareUnits::Chunks { windows, .. } => windows.iter().map(Windows::count).sum(),
            ShareUnits::Bytes { places, .. } => {
                usize::try_from(places.bytes.div_ceil(UNIT)).expect("a tensor in memory has fewer MiB than usize")
            }
        }
    }

    /// The bytes that `share` reads and writes.
    pub fn describe(&self, share: Share) -> ShareReport {
        let units = self.count();
        let own = share.range(units);
        let (mut writes, mut reads) = (0, 0);
        match &self.units {
            ShareUnits::Chunks { windows, .. } => {
                for (output, windows, numbers) in parts_of(&self.laid_out.outputs, windows, &own) {
                    let planner = output.job.planner();
                    for number in numbers {
                        let window = windows.get(number);
                        writes += (window.items() * output.meta.dtype.itemsize()) as u64;
                        reads += planner.bytes_read(&window);
                    }
                }
            }
            ShareUnits::Bytes { places, .. } => {
                writes = end_of(own.end, places) - end_of(own.start, places);
                reads = writes;
            }
        }
        ShareReport { own, units, writes, reads }
    }

    /// The numbers of the missing shares, of `of` in all. A share is missing if it is not noted as done, or if the
    /// output lacks one of its files in the noted size. A share without units is never missing, except the first, which
    /// makes the metadata.
    ///
    /// # Errors
    /// The metadata of a store cannot be made, or the existing files cannot be listed.
    pub fn missing(&self, parts: &Parts, of: usize) -> Result<Vec<usize>> {
        let mut missing = Vec::new();
        for number in 1..=self.count().clamp(1, of) {
            if !self.is_there(parts, Share { number, of })? {
                missing.push(number);
            }
        }
        Ok(missing)
    }

    /// Returns whether a share is done and still exists as noted. The metadata of a store and the arrays that are
    /// copied unread are checked with the first share.
    fn is_there(&self, parts: &Parts, share: Share) -> Result<bool> {
        if !parts.ledger.is_done(share.number) {
            return Ok(false);
        }
        let (own, failed) = (share.range(self.count()), || format!("{}: cannot be accessed", self.laid_out.label));
        match &self.units {
            ShareUnits::Chunks { writer, windows } => {
                let (store, mut first) = (parts.place.store(), 0);
                let made = MadeUnits::of(&parts.ledger, share.number, own.clone());
                for (n, (_, windows, numbers)) in parts_of(&self.laid_out.outputs, windows, &own).enumerate() {
                    let is_as_made = |number| -> io::Result<bool> {
                        let size = store.size(&writer.key(n, &windows.get(number)))?;
                        Ok(match made.get(first + number) {
                            Some(MadeUnit::File(bytes)) => size == Some(bytes),
                            Some(MadeUnit::Empty) => size.is_none(),
                            None => false,
                        })
                    };
                    for number in numbers {
                        if !is_as_made(number).with_context(failed)? {
                            return Ok(false);
                        }
                    }
                    first += windows.count();
                }
                let is_first = share.number == 1;
                for NamedCopy { name, array } in writer.copies().iter().filter(|_| is_first) {
                    if !array.is_copied(store, name).with_context(failed)? {
                        return Ok(false);
                    }
                }
                let seals = if is_first { writer.seal()? } else { Vec::new() };
                for (key, bytes) in seals {
                    if !store.is_sealed(&key, bytes.len() as u64).with_context(failed)? {
                        return Ok(false);
                    }
                }
                Ok(true)
            }
            ShareUnits::Bytes { places, .. } => {
                let length = parts.place.file_length().unwrap_or_default();
                // In a file that is too long, the last share is missing: making it cuts the file off.
                let is_last = end_of(own.end, places) == places.bytes;
                Ok(length == places.bytes || (length >= end_of(own.end, places) && !is_last))
            }
        }
    }

    /// Makes the missing units of `share` in the place that all shares use, and notes the share as done. A unit is on
    /// the disk before it is noted.
    ///
    /// # Errors
    /// An operand cannot be read, or the output cannot be written.
    pub fn write(&self, parts: &Parts, share: Share, progress: Progress<'_>) -> Result<()> {
        self.make(parts, share, progress).map_err(|error| error.needing(|| self.laid_out.need()))
    }

    fn make(&self, parts: &Parts, share: Share, progress: Progress<'_>) -> Result<()> {
        if self.is_there(parts, share)? {
            return Ok(());
        }
        let (laid_out, own) = (self.laid_out, share.range(self.count()));
        let failed = || laid_out.failed();
        let done = |made: &str| parts.ledger.set_done(share.number, made).with_context(failed);
        match &self.units {
            ShareUnits::Chunks { writer, .. } => {
                let made = MadeUnits::of(&parts.ledger, share.number, own.clone());
                let own = ChunkShare { own: &own, made: &made };
                laid_out.put_chunks(*writer, parts.place.store(), Some(own), progress)?;
                done(&made.text())
            }
            ShareUnits::Bytes { output, places } => {
                let start = places.tensors[0].start;
                // The shares with units that a file of this length has lost.
                let beyond = |length| {
                    let units = |number| Share { number, of: share.of }.range(self.count());
                    let is_beyond = |number: &usize| end_of(units(*number).end, places) > length;
                    (1..=share.of).filter(is_beyond).collect()
                };
                let file = parts.file(places.bytes, beyond).with_context(failed)?;
                let mut next = own.start + parts.ledger.units_done(share.number).min(own.len());
                while next < own.end {
                    let end = (next + UNITS_AT_ONCE).min(own.end);
                    let bytes = next as u64 * UNIT..end_of(end, places);
                    if bytes.start < start {
                        write_at(&file, &places.header, 0).with_context(failed)?;
                    }
                    let meta = output.job.meta();
                    let sink = FileSink::new(&file, start, meta, &laid_out.label).within(bytes);
                    let items = sink.items_within(meta.items());
                    output.job.run_all(&output.job.planner().plan_range(&items)?, &sink, progress)?;
                    // Units that are noted as done must survive a loss of power.
                    file.sync_data().with_context(failed)?;
                    next = end;
                    parts.ledger.set_units_done(share.number, next - own.start).with_context(failed)?;
                }
                output.job.fill().finish()?;
                done("")
            }
        }
    }
}

fn end_of(unit: usize, places: &Places) -> u64 {
    (unit as u64 * UNIT).min(places.bytes)
}
