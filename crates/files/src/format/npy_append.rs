//! Appends rows to a `.npy` in place, without moving an item. A killed process leaves the old or the new content: a
//! tab replaces a blank of the header's padding, the rows are written and synced, the dims change in one synced write
//! (see [`npy_header`](super::npy_header)), and a blank replaces the tab.
//!
//! The tab marks an unfinished append, whose bytes the next append drops; without it, extra bytes are refused as
//! damage. A sync of the tab alone would add half to the cost of a small append, so a loss of power may leave extra
//! bytes without a tab.

use std::fs::File;

use super::npy::GROWING;
use super::npy_header::HeaderEdit;
use crate::engine::cost::Calls;
use crate::engine::explain::Explanation;
use crate::engine::job::{Job, Progress};
use crate::engine::plan::{Plan, SinkKind};
use crate::engine::sink::{FileSink, failed};
use crate::error::{Context, Error, ErrorKind, Result};
use crate::ops::fill::{Fill, Limits};
use crate::storage::platform::{read_at, write_at};
use crate::storage::signals;
use crate::storage::source::Source;

/// Checked rows for the end of a `.npy`.
#[derive(Debug)]
pub struct Append<'a> {
    label: &'a str,
    file: &'a File,
    start: u64,
    end: u64,
    header: HeaderEdit<'a>,
    rows: Job,
    plan: Plan,
}

impl<'a> Append<'a> {
    /// Prepares to append rows, in the order of storage, to an open and locked `.npy`, which then has `shape`.
    ///
    /// # Errors
    /// The header has no room ([`ErrorKind::Unsupported`]), or reading fails.
    pub fn prepare(data: &'a Source, shape: &[usize], rows: Box<dyn Fill>, limits: Limits) -> Result<Self> {
        let label = data.label();
        let no_room = || Error::from_kind(ErrorKind::Unsupported, "its header has no room").within(label);
        let (file, start) = data.as_local_file().ok_or_else(no_room)?;
        let mut mark = [0];
        read_at(file, &mut mark, start - 2).context(label)?;
        if ![b' ', GROWING].contains(&mark[0]) {
            return Err(no_room());
        }
        let header = HeaderEdit::prepare_growing(data, shape, data.meta().order)?;
        let (end, mut rows) = (start + data.bytes() as u64, Job::new(rows, limits));
        let plan = rows.plan(sink(end));
        rows.begin(&plan)?;
        Ok(Self { label, file, start, end, header, rows, plan })
    }

    /// Returns the bytes of the rows.
    pub fn bytes(&self) -> usize {
        self.rows.meta().bytes()
    }

    /// Returns how many header bytes change.
    pub fn changed_bytes(&self) -> usize {
        self.header.changed_bytes()
    }

    pub fn explain(&self) -> Explanation {
        let mut explanation = self.rows.planners().explain(sink(self.end));
        // two marks, and the header between them
        explanation.cost.calls +=
            Calls { writes: 3, bytes_written: 2 + self.changed_bytes() as u64, ..Calls::default() };
        explanation
    }

    /// Appends the rows and syncs the file.
    ///
    /// # Errors
    /// Reading or writing fails; the file then reads as before.
    pub fn write(&self, progress: Progress<'_>) -> Result<()> {
        signals::survive_size_limit();
        let written = self.mark(GROWING).and_then(|()| self.put(progress));
        if written.is_err() {
            let _ = self.file.set_len(self.end);
        }
        let unmarked = self.mark(b' ');
        written.map_err(|error| error.needing(|| format!("the appended items need {} bytes", self.bytes())))?;
        unmarked
    }

    fn put(&self, progress: Progress<'_>) -> Result<()> {
        let context = || failed(self.label);
        self.file.set_len(self.end).with_context(context)?;
        self.rows.run_all(&self.plan, &FileSink::new(self.file, self.end, self.rows.meta(), self.label), progress)?;
        self.file.sync_data().with_context(context)?;
        self.header.write()?;
        self.file.sync_data().with_context(context)
    }

    fn mark(&self, byte: u8) -> Result<()> {
        write_at(self.file, &[byte], self.start - 2).with_context(|| failed(self.label))
    }
}

fn sink(end: u64) -> SinkKind<'static> {
    SinkKind::File { base: Some(end), is_alone: false }
}
