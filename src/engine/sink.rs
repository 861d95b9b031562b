//! Where windows go when they are filled: a file, a stream, or what else implements [`WindowSink`].

use std::fmt::Debug;
use std::fs::File;
use std::ops::Range;
use std::sync::Mutex;

use crate::error::{Context, Result};
use crate::item::meta::Meta;
use crate::layout::window::Window;
use crate::ops::access::StoredWindow;
use crate::ops::fill::Region;
use crate::parallel::locked;
use crate::storage::platform::{read_at, write_at};
use crate::storage::read_at::PackedFile;

/// Takes the regions of an output in any order, from several threads. What it does with them is its own affair.
pub trait WindowSink: Sync {
    /// Takes the items of a region: of a box, unless it is a file.
    ///
    /// # Errors
    /// Of writing.
    fn put(&self, region: &Region, items: &[u8]) -> Result<()>;

    /// Returns whether a window need not be filled: the sink has it already, or has now taken the chunks that `stored` returns,
    /// packed as they are.
    ///
    /// # Errors
    /// Of reading chunks and writing them; a full disk.
    fn has(&self, _window: &Window, _stored: &GetStored<'_>) -> Result<bool> {
        Ok(false)
    }
}

impl<F: Fn(&Region, &[u8]) -> Result<()> + Sync> WindowSink for F {
    fn put(&self, region: &Region, items: &[u8]) -> Result<()> {
        self(region, items)
    }
}

/// Returns the chunks that hold the items of a window as they are, if there are such.
pub type GetStored<'a> = dyn Fn() -> Result<Option<StoredWindow<'a>>> + 'a;

/// Is shown what is written to a file.
pub trait Written: Debug + Sync {
    /// Takes bytes that have been written from byte `at` of the file on. They come in any order, from several threads, each once.
    fn add(&self, bytes: &[u8], at: u64);
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
    /// The bits of an item, if items share bytes, and a lock that is held while bytes are read, changed and written: two windows
    /// may meet in a byte.
    packing: Option<(u32, Mutex<()>)>,
    /// The bytes of the file that are written.
    within: Range<u64>,
    /// What is shown all bytes that are written.
    written: Option<&'a dyn Written>,
}

impl<'a> FileSink<'a> {
    /// Begins with the items of an output at byte `base` of a file, which messages call `label`.
    pub fn new(file: &'a File, base: u64, meta: &Meta, label: &'a str) -> Self {
        let itemsize = meta.dtype.itemsize();
        Self {
            file,
            base,
            itemsize,
            shape: meta.shape.clone(),
            label,
            packing: None,
            within: 0..u64::MAX,
            written: None,
        }
    }

    /// Begins with the items of an output that share the bytes of a file, which messages call `label`.
    pub fn packed(to: PackedFile<'a>, meta: &Meta, label: &'a str) -> Self {
        Self { packing: Some((to.bits, Mutex::default())), ..Self::new(to.file, to.start, meta, label) }
    }

    /// Writes only these bytes of the file.
    #[must_use]
    pub fn within(self, bytes: Range<u64>) -> Self {
        Self { within: bytes, ..self }
    }

    /// Shows `written`, if there is one, all bytes that are written.
    #[must_use]
    pub fn shown_to(self, written: Option<&'a dyn Written>) -> Self {
        Self { written, ..self }
    }

    /// Returns the range of those of `items` items that have bytes in the range of this sink.
    pub fn items_within(&self, items: usize) -> Range<usize> {
        let (itemsize, end) = (self.itemsize.max(1) as u64, self.position(items));
        let Range { start, end } = self.within.start.clamp(self.base, end)..self.within.end.clamp(self.base, end);
        ((start - self.base) / itemsize) as usize..(end - self.base).div_ceil(itemsize) as usize
    }

    /// Returns where the first item lies, in bytes; `None` if items share bytes.
    pub fn base(&self) -> Option<u64> {
        self.packing.is_none().then_some(self.base)
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
        let Some((bits, lock)) = &self.packing else { return self.put_bytes(items, self.position(first)) };
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

    /// Writes bytes from byte `at` of the file on, as far as they are [within](Self::within) its range.
    ///
    /// # Errors
    /// Of writing.
    pub fn put_bytes(&self, bytes: &[u8], at: u64) -> Result<()> {
        let [start, end] = [self.within.start, self.within.end].map(|byte| byte.clamp(at, at + bytes.len() as u64));
        let own = &bytes[(start - at) as usize..(end - at) as usize];
        write_at(self.file, own, start).with_context(|| failed(self.label))?;
        if let Some(written) = self.written {
            written.add(own, start);
        }
        Ok(())
    }
}

impl WindowSink for FileSink<'_> {
    fn put(&self, region: &Region, items: &[u8]) -> Result<()> {
        match region {
            Region::Run(run) => self.put_items(items, run.start),
            Region::Box(window) => {
                window.split(&self.shape, items).try_for_each(|(piece, run)| self.put_items(run, piece.start))
            }
        }
    }
}

/// Takes items as they come, from front to back: a pipe, a packer, a buffer.
pub type Take<'a> = dyn FnMut(&[u8]) -> Result<()> + Send + 'a;

/// Returns the message for an output that could not be written.
pub fn failed(label: &str) -> String {
    format!("{label}: cannot be written")
}
