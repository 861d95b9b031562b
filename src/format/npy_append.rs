//! Makes a `.npy` file longer where it lies: rows behind its items, and then a header that counts them.
//!
//! What is there is never moved or read, so that the cost is that of the rows. A process that is stopped in the middle must
//! leave a file that reads as before or as after, so the order of the steps matters:
//!
//! 1. One blank in the padding of the header becomes a tab. To every reader of `.npy` both are white space; to this program
//!    the tab says that bytes behind the items are those of an append under way. It refuses such bytes in any other file,
//!    since a file that is longer than its header says is most likely damaged.
//! 2. The rows are written behind the items, and put on the disk.
//! 3. The dims in the header are changed at once (see [`npy_header`](super::npy_header)), and put on the disk. From here on the
//!    file reads as after.
//! 4. The tab becomes a blank again.
//!
//! An append that finds a tab drops what the one before it has left. The tab of step 1 reaches the disk together with the
//! rows, since to wait for it alone would make half as much of a small append again. After a loss of power in between a file
//! may thus be longer without it, which this program then refuses and others read as before.

use std::fs::File;

use super::npy::GROWING;
use super::npy_header::HeaderEdit;
use crate::engine::explain::Explanation;
use crate::engine::job::{Job, Progress};
use crate::engine::plan::{Plan, SinkKind};
use crate::engine::sink::{FileSink, failed};
use crate::error::{Context, Error, ErrorKind, Result};
use crate::ops::fill::{Fill, Limits};
use crate::storage::calls::{CallCounter, Calls};
use crate::storage::platform::{read_at, write_at};
use crate::storage::signals;
use crate::storage::source::Source;

/// Rows that are about to be appended to a `.npy` file, all of whose checks have passed.
#[derive(Debug)]
pub struct Append<'a> {
    label: &'a str,
    file: &'a File,
    /// Where the items begin and end, in bytes of the file.
    start: u64,
    end: u64,
    header: HeaderEdit<'a>,
    rows: Job,
    /// How the rows are made.
    plan: Plan,
}

impl<'a> Append<'a> {
    /// Prepares to append rows to a tensor, which is all of an open and locked `.npy` file, so that it has another shape. The
    /// rows come in the order of storage of the file.
    ///
    /// # Errors
    /// The header has no room for that shape ([`ErrorKind::Unsupported`]); those of [`HeaderEdit::prepare`]; of reading.
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

    /// Returns the bytes that are appended.
    pub fn bytes(&self) -> usize {
        self.rows.meta().bytes()
    }

    /// Returns how many bytes of the header change.
    pub fn changed_bytes(&self) -> usize {
        self.header.changed_bytes()
    }

    /// Explains how the rows are made and written. If `counter` counts what the operands are asked for, the calls of the run are
    /// counted.
    ///
    /// # Errors
    /// Those of [`Job::count`].
    pub fn explain(&mut self, counter: Option<&CallCounter>) -> Result<Explanation> {
        let mut explanation = self.rows.planners().explain(sink(self.end));
        counter.map_or(Ok(()), |counter| self.rows.count(&mut explanation, counter))?;
        // two marks, and the header between them
        explanation.cost.calls += Calls::write(1) + Calls::write(self.changed_bytes()) + Calls::write(1);
        Ok(explanation)
    }

    /// Appends the rows, and puts them on the disk.
    ///
    /// # Errors
    /// Of reading rows and of writing; the file is as it was before then.
    pub fn write(&self, progress: Progress<'_>) -> Result<()> {
        signals::survive_size_limit();
        let written = self.mark(GROWING).and_then(|()| self.put(progress));
        if written.is_err() {
            // what fails now is as if the process had been stopped: the file reads as before
            let _ = self.file.set_len(self.end);
        }
        let unmarked = self.mark(b' ');
        written.map_err(|error| error.needing(|| format!("the appended items need {} bytes", self.bytes())))?;
        unmarked
    }

    /// Writes the rows and then the header.
    fn put(&self, progress: Progress<'_>) -> Result<()> {
        let context = || failed(self.label);
        self.file.set_len(self.end).with_context(context)?;
        self.rows.run_all(&self.plan, &FileSink::new(self.file, self.end, self.rows.meta(), self.label), progress)?;
        self.file.sync_data().with_context(context)?;
        self.header.write()?;
        self.file.sync_data().with_context(context)
    }

    /// Writes the byte of the header that says whether an append is under way.
    fn mark(&self, byte: u8) -> Result<()> {
        write_at(self.file, &[byte], self.start - 2).with_context(|| failed(self.label))
    }
}

/// Returns what rows are written to that are appended at byte `end` of a file.
fn sink(end: u64) -> SinkKind<'static> {
    SinkKind::File { base: Some(end), is_alone: false }
}
