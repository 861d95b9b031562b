//! Where windows go when they are filled.

use std::fs::File;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Mutex, PoisonError};

use crate::error::{Context, Error, Result};
use crate::item::meta::Meta;
use crate::layout::window::Window;
use crate::storage::chunked::Chunked;
use crate::storage::platform::{copy_range, is_full, write_at};

/// Takes the windows of an output: what it does with them, and in which order it wants them, is its own affair.
pub trait Sink: Sync {
    /// Takes the items of a window.
    ///
    /// # Errors
    /// Of writing.
    fn put(&self, window: &Window, items: &[u8]) -> Result<()>;

    /// Whether windows must come one after the other, from the first to the last.
    fn in_order(&self) -> bool {
        false
    }

    /// Whether it has a window already, which need not be filled then.
    fn has(&self, _window: &Window) -> bool {
        false
    }

    /// Takes the items of a window as they lie in `from`, `bytes` bytes from byte `at` on, without them passing through the program.
    /// False if it cannot: the window must be put instead.
    ///
    /// # Errors
    /// A full disk.
    fn copy(&self, _window: &Window, _from: &File, _at: u64, _bytes: usize) -> Result<bool> {
        Ok(false)
    }

    /// Takes a window as it is packed in `from`, whose items it shows at the same places as `there`. False if it cannot: the
    /// window must be put instead.
    ///
    /// # Errors
    /// Of reading and writing.
    fn copy_packed(&self, _window: &Window, _from: &dyn Chunked, _there: &Window) -> Result<bool> {
        Ok(false)
    }
}

/// A file in which items lie one after the other in C order.
#[derive(Debug)]
pub struct FileSink<'a> {
    file: &'a File,
    /// Where the first item lies, in bytes.
    base: u64,
    itemsize: usize,
    shape: Vec<usize>,
    label: &'a str,
    /// Whether the kernel has copied between these files, or has not been asked yet.
    kernel_copies: AtomicBool,
}

impl<'a> FileSink<'a> {
    /// Items of such a tensor from byte `base` of a file on, which messages call `label`.
    pub fn new(file: &'a File, base: u64, meta: &Meta, label: &'a str) -> Self {
        let itemsize = meta.dtype.itemsize();
        Self { file, base, itemsize, shape: meta.shape.clone(), label, kernel_copies: AtomicBool::new(true) }
    }

    /// Writes some items of a window, the first of which is number `first` of it.
    ///
    /// # Errors
    /// Of writing.
    pub fn put_from(&self, window: &Window, first: usize, items: &[u8]) -> Result<()> {
        let at = self.base + ((window.start + first) * self.itemsize) as u64;
        write_at(self.file, items, at).with_context(|| failed(self.label))
    }
}

impl Sink for FileSink<'_> {
    fn put(&self, window: &Window, items: &[u8]) -> Result<()> {
        let mut rest = items;
        for piece in window.pieces(&self.shape) {
            let (run, after) = rest.split_at(piece.items() * self.itemsize);
            self.put_from(&piece, 0, run)?;
            rest = after;
        }
        Ok(())
    }

    fn copy(&self, window: &Window, from: &File, at: u64, bytes: usize) -> Result<bool> {
        if !self.kernel_copies.load(Ordering::Relaxed) || !window.is_contiguous(&self.shape) {
            return Ok(false);
        }
        let to = self.base + (window.start * self.itemsize) as u64;
        match copy_range(from, at, self.file, to, bytes) {
            Ok(copied) if copied == bytes => return Ok(true),
            // what is missing, or the reason, shows when the window is read
            Ok(_) => {}
            Err(error) if is_full(&error) => return Err(Error::from(error).within(failed(self.label))),
            Err(_) => self.kernel_copies.store(false, Ordering::Relaxed),
        }
        Ok(false)
    }
}

/// What takes items as they come.
pub type Take<'a> = dyn FnMut(&[u8]) -> Result<()> + Send + 'a;

/// A sink that wants items from front to back: a pipe, a packer, a buffer.
pub struct StreamSink<'a>(Mutex<&'a mut Take<'a>>);

impl<'a> StreamSink<'a> {
    /// Hands all items to `take`.
    pub fn new(take: &'a mut Take<'a>) -> Self {
        Self(Mutex::new(take))
    }
}

impl Sink for StreamSink<'_> {
    fn put(&self, _: &Window, items: &[u8]) -> Result<()> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)(items)
    }

    fn in_order(&self) -> bool {
        true
    }
}

/// What is said of an output that could not be written.
pub fn failed(label: &str) -> String {
    format!("{label}: cannot be written")
}
