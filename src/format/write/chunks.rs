//! Puts the windows of a tensor into a folder of chunks.

use std::fs::File;
use std::io;

use crate::engine::sink::WindowSink;
use crate::error::{Context, Error, Result};
use crate::format::interface::WriteChunks;
use crate::layout::window::Window;
use crate::ops::fill::StoredWindow;
use crate::storage::platform::{copy_range, is_full};
use crate::storage::read_at::Section;
use crate::storage::stage::Stage;

/// Puts the boxes of one tensor into a folder, each as a file of its own.
pub(super) struct ChunkSink<'a> {
    pub chunks: &'a dyn WriteChunks,
    /// The number of the tensor.
    pub n: usize,
    pub stage: &'a Stage,
    /// What messages say first if a file cannot be written.
    pub failed: String,
    /// Whether other processes may have put some of the boxes.
    pub shared: bool,
}

impl WindowSink for ChunkSink<'_> {
    fn put(&self, window: &Window, items: &[u8]) -> Result<()> {
        let key = self.chunks.key(self.n, window);
        let bytes = self.chunks.pack(self.n, window, items).with_context(|| format!("{}: chunk {key}", self.failed))?;
        self.stage.put(&key, &bytes).with_context(|| self.failed.clone())
    }

    fn has(&self, window: &Window) -> bool {
        self.shared && self.stage.has(&self.chunks.key(self.n, window))
    }

    fn copy(&self, window: &Window, stored: &StoredWindow<'_>) -> Result<bool> {
        let (from, there) = match stored {
            StoredWindow::File { .. } if !self.chunks.holds_as_they_are(self.n, window) => return Ok(false),
            StoredWindow::File { file, at, bytes } => return self.copied(window, file, *at, *bytes),
            StoredWindow::Chunks { chunks, places } => (chunks, places),
        };
        // a box that the end of one tensor cuts off may be whole in the other
        let unit = self.chunks.unit(self.n);
        let whole = window.shape() == unit || window.ranges == there.ranges;
        if !whole || !self.chunks.packs_as(self.n, from.style()) {
            return Ok(false);
        }
        let Some(value) = from.value_of(there)? else { return Ok(false) };
        let Some(file) = value.as_file() else { return Ok(false) };
        let len = usize::try_from(value.size()?)?;
        // an empty file is damaged, which shows when it is read
        if len == 0 { Ok(false) } else { self.copied(window, file, 0, len) }
    }
}

impl ChunkSink<'_> {
    /// Copies bytes of a file to the file of a box, inside the system if it can; returns whether it was copied.
    fn copied(&self, window: &Window, from: &File, at: u64, bytes: usize) -> Result<bool> {
        let put = self.stage.put_with(&self.chunks.key(self.n, window), |file| {
            let copied = match copy_range(from, at, file, 0, bytes) {
                // the system cannot, or the files are on two file systems
                Err(error) if !is_full(&error) => io::copy(&mut Section::new(from, at, bytes as u64), file)?,
                copied => copied? as u64,
            };
            if copied == bytes as u64 { Ok(()) } else { Err(io::ErrorKind::UnexpectedEof.into()) }
        });
        match put {
            Ok(()) => Ok(true),
            Err(error) if is_full(&error) => Err(Error::from(error).within(self.failed.clone())),
            // the window is then read and written, which shows what is wrong
            Err(_) => Ok(false),
        }
    }
}
