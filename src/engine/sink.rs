//! Where windows go when they are filled: a file, a stream, or what else implements [`WindowSink`].

use std::fs::File;
use std::sync::Mutex;

use crate::error::{Context, Result};
use crate::item::meta::Meta;
use crate::layout::window::Window;
use crate::ops::access::StoredWindow;
use crate::parallel::locked;
use crate::storage::platform::{read_at, write_at};
use crate::storage::read_at::PackedFile;

/// Takes the windows of an output. What it does with them, and in which order it wants them, is its own affair.
pub trait WindowSink: Sync {
    /// Takes the items of a window.
    ///
    /// # Errors
    /// Of writing.
    fn put(&self, window: &Window, items: &[u8]) -> Result<()>;

    /// Returns whether windows must come one after the other, from the first to the last. Such a sink takes all of them, and
    /// copies none.
    fn in_order(&self) -> bool {
        false
    }

    /// Returns whether the sink has a window already, which need not be filled then.
    fn has(&self, _window: &Window) -> bool {
        false
    }

    /// Returns whether it may take windows packed as they are stored, so that [`copy`](Self::copy) is worth asking.
    fn copies(&self) -> bool {
        false
    }

    /// Takes the items of a window packed as they are stored. Returns false if it cannot: the window must be put instead.
    ///
    /// # Errors
    /// Of reading chunks and writing them; a full disk.
    fn copy(&self, _window: &Window, _stored: &StoredWindow<'_>) -> Result<bool> {
        Ok(false)
    }
}

/// A file in which the items of an output lie one after the other in C order.
#[derive(Debug)]
pub struct FileSink<'a> {
    file: &'a File,
    /// Where the first item lies, in bytes.
    base: u64,
    itemsize: usize,
    shape: Vec<usize>,
    label: &'a str,
    /// How items share bytes, if they do.
    packing: Option<Packing>,
}

/// Returns whether an item begins at each multiple of so many bytes of a file, if the first begins at byte `base`.
pub fn begins_items_at(base: u64, itemsize: usize, block: usize) -> bool {
    let (block, itemsize) = (block as u64, itemsize as u64);
    block.is_multiple_of(itemsize) && base.is_multiple_of(itemsize)
}

/// How items share the bytes of a file.
#[derive(Debug)]
struct Packing {
    bits: u32,
    /// Is held while bytes are read, changed and written: two windows may meet in a byte.
    lock: Mutex<()>,
}

impl<'a> FileSink<'a> {
    /// Begins with the items of an output at byte `base` of a file, which messages call `label`.
    pub fn new(file: &'a File, base: u64, meta: &Meta, label: &'a str) -> Self {
        let itemsize = meta.dtype.itemsize();
        Self { file, base, itemsize, shape: meta.shape.clone(), label, packing: None }
    }

    /// Begins with the items of an output that share the bytes of a file, which messages call `label`.
    pub fn packed(to: PackedFile<'a>, meta: &Meta, label: &'a str) -> Self {
        let packing = Packing { bits: to.bits, lock: Mutex::new(()) };
        Self { packing: Some(packing), ..Self::new(to.file, to.start, meta, label) }
    }

    /// Returns whether an item begins at each multiple of so many bytes of the file, as far as there are items.
    pub fn begins_items_at(&self, block: usize) -> bool {
        self.packing.is_none() && begins_items_at(self.base, self.itemsize, block)
    }

    /// Returns where an item lies in the file, in bytes.
    pub fn position(&self, item: usize) -> u64 {
        self.base + (item * self.itemsize) as u64
    }

    /// Writes items that follow each other, from item number `first` on. Other items, and their bits, stay as they are.
    ///
    /// # Errors
    /// Of writing, and of reading bytes that other items share.
    pub fn put_items(&self, items: &[u8], first: usize) -> Result<()> {
        let Some(Packing { bits, lock }) = &self.packing else { return self.put_bytes(items, self.position(first)) };
        let (each, mask) = (8 / *bits as usize, u8::MAX >> (8 - bits));
        let begin = first / each;
        let mut bytes = vec![0; (first + items.len()).div_ceil(each) - begin];
        let at = self.base + begin as u64;
        let held = locked(lock);
        read_at(self.file, &mut bytes, at).with_context(|| failed(self.label))?;
        for (place, item) in (first..).zip(items) {
            let (byte, shift) = (&mut bytes[place / each - begin], (place % each) as u32 * bits);
            *byte = *byte & !(mask << shift) | (item & mask) << shift;
        }
        self.put_bytes(&bytes, at)?;
        drop(held);
        Ok(())
    }

    /// Writes the items of a box of a tensor of that shape, which counts items as the output does.
    ///
    /// # Errors
    /// Those of [`put_items`](Self::put_items).
    pub fn put_box(&self, window: &Window, shape: &[usize], items: &[u8]) -> Result<()> {
        window.split(shape, items).try_for_each(|(piece, run)| self.put_items(run, piece.start))
    }

    /// Writes bytes from byte `at` of the file on.
    ///
    /// # Errors
    /// Of writing.
    pub fn put_bytes(&self, bytes: &[u8], at: u64) -> Result<()> {
        write_at(self.file, bytes, at).with_context(|| failed(self.label))
    }
}

impl WindowSink for FileSink<'_> {
    fn put(&self, window: &Window, items: &[u8]) -> Result<()> {
        self.put_box(window, &self.shape, items)
    }
}

/// Takes items as they come.
pub type Take<'a> = dyn FnMut(&[u8]) -> Result<()> + Send + 'a;

/// A sink that wants items from front to back: a pipe, a packer, a buffer.
pub struct StreamSink<'a>(pub Mutex<&'a mut Take<'a>>);

impl WindowSink for StreamSink<'_> {
    fn put(&self, _: &Window, items: &[u8]) -> Result<()> {
        locked(&self.0)(items)
    }

    fn in_order(&self) -> bool {
        true
    }
}

/// Returns the message for an output that could not be written.
pub fn failed(label: &str) -> String {
    format!("{label}: cannot be written")
}
