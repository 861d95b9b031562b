//! An output that several processes make, each a share of it.

use std::ops::Range;

use super::plan::{Plan, Planned, parts_of};
use crate::engine::job::Progress;
use crate::engine::sink::FileSink;
use crate::error::{Context, Error, ErrorKind, Result};
use crate::format::interface::{Layout, Places, WriteChunks};
use crate::layout::window::Windows;
use crate::storage::parts::Parts;
use crate::storage::platform::write_at;

/// The bytes of a unit of a file that is made in shares. Processes on several machines may write one file only if no two
/// of them write to the same page, since a client of NFS writes whole pages; and stripes of Lustre are whole MiB.
const UNIT: u64 = 1 << 20;

/// The number of units of a file that are written and synced before they are noted as done.
const UNITS_AT_ONCE: usize = 16;

/// Share number `number` of `of` shares of something that is cut into units, counted from 1. Shares differ by one unit at
/// most; if there are more shares than units, the last ones are empty.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Share {
    /// Its number.
    pub number: usize,
    /// The number of all shares.
    pub of: usize,
}

impl Share {
    /// Returns the units of this share, of `units` in all.
    pub fn of(self, units: usize) -> Range<usize> {
        let (each, more) = (units / self.of, units % self.of);
        // the first shares have one unit more
        let end = |number: usize| each * number + number.min(more);
        end(self.number - 1)..end(self.number)
    }
}

/// An output that is made in shares: its plan, and the units that it is cut into.
pub struct Shares<'a> {
    plan: &'a Plan,
    units: Units<'a>,
}

/// What a unit is.
enum Units<'a> {
    /// A file of a folder of chunks; each tensor has its own windows.
    Chunks { writer: &'a dyn WriteChunks, windows: Vec<Windows> },
    /// A MiB of the one file of a tensor behind its header.
    Bytes { output: &'a Planned, places: &'a Places },
}

/// What a share would read and write.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ShareReport {
    /// The units of the share.
    pub own: Range<usize>,
    /// The number of units of all shares.
    pub units: usize,
    /// The bytes of items that the share writes.
    pub writes: u64,
    /// The bytes of the data that it reads.
    pub reads: u64,
}

impl Plan {
    /// Returns the shares that the output can be made in.
    ///
    /// # Errors
    /// The output is neither a folder of chunks nor one tensor behind a header.
    pub fn shares(&self) -> Result<Shares<'_>> {
        let units = match (&self.layout, &self.outputs[..]) {
            (Layout::Chunks(writer), _) => Units::Chunks { writer: &**writer, windows: self.boxes(&**writer) },
            (Layout::Places(places), [output]) if places.seal.is_none() && places.tensors[0].packed.is_none() => {
                Units::Bytes { output, places }
            }
            (Layout::Places(_) | Layout::Whole(_) | Layout::Sequence(_), _) => {
                let message = format!("{}: a {} is not made in parts", self.label, self.format.argument());
                return Err(Error::of(ErrorKind::Unsupported, message));
            }
        };
        Ok(Shares { plan: self, units })
    }
}

impl Shares<'_> {
    /// Returns the number of units that the output is cut into.
    fn count(&self) -> usize {
        match &self.units {
            Units::Chunks { windows, .. } => windows.iter().map(Windows::count).sum(),
            Units::Bytes { places, .. } => {
                usize::try_from(places.bytes.div_ceil(UNIT)).expect("a tensor in memory has fewer MiB than usize")
            }
        }
    }

    /// Returns what `share` would read and write.
    pub fn describe(&self, share: Share) -> ShareReport {
        let units = self.count();
        let own = share.of(units);
        let (mut writes, mut reads) = (0, 0);
        match &self.units {
            Units::Chunks { windows, .. } => {
                for (output, windows, numbers) in parts_of(&self.plan.outputs, windows, &own) {
                    for number in numbers {
                        let window = windows.get(number);
                        writes += (window.items() * output.meta.dtype.itemsize()) as u64;
                        reads += output.job.fill().bytes_read(&window);
                    }
                }
            }
            Units::Bytes { places, .. } => {
                let end = |unit: usize| (unit as u64 * UNIT).min(places.bytes);
                writes = end(own.end) - end(own.start);
                reads = writes;
            }
        }
        ShareReport { own, units, writes, reads }
    }

    /// Makes those units of `share` that are not there, in the folder that all shares have in common. What counts as done
    /// is on the disk.
    ///
    /// # Errors
    /// Those of [`Plan::write`].
    pub fn write(&self, parts: &Parts, share: Share, progress: Progress<'_>) -> Result<()> {
        let (plan, own) = (self.plan, share.of(self.count()));
        match &self.units {
            Units::Chunks { writer, .. } => plan.put_chunks(*writer, &parts.stage(), Some(&own), progress),
            Units::Bytes { output, places } => {
                let (start, failed) = (places.tensors[0].start, || plan.failed());
                let file = parts.file(places.bytes).with_context(failed)?;
                let mut next = own.start + parts.ledger.units_done(share.number).min(own.len());
                while next < own.end {
                    let end = (next + UNITS_AT_ONCE).min(own.end);
                    let bytes = next as u64 * UNIT..(end as u64 * UNIT).min(places.bytes);
                    if bytes.start < start {
                        write_at(&file, &places.header, 0).with_context(failed)?;
                    }
                    let sink = FileSink::new(&file, start, output.job.meta(), &plan.label);
                    output.job.write_range(&sink, bytes, progress)?;
                    // units that are noted as done must survive a loss of power
                    file.sync_data().with_context(failed)?;
                    next = end;
                    parts.ledger.set_units_done(share.number, next - own.start).with_context(failed)?;
                }
                output.job.fill().finish()
            }
        }
    }
}
