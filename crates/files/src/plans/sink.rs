//! Sinks of windows.

use std::fmt::Debug;
use std::fs::File;
use std::ops::Range;
use std::sync::Mutex;

use crate::operators::access::StoredWindow;
use crate::operators::fill::Region;
use crate::storage::platform::{read_at, write_at};
use crate::storage::read_at::{PackedFile, Packing};
use tensorop_kernels::error::{Context, Result};
use tensorop_kernels::item::meta::Meta;
use tensorop_kernels::layout::window::Window;
use tensorop_kernels::parallel::locked;

/// Takes the regions of an output in any order, from several threads.
pub trait WindowSink: Sync {
    /// Only files take runs.
    fn put(&self, region: &Region, items: &[u8]) -> Result<()>;

    /// Returns whether a window can be skipped: the sink has it, or has taken its packed chunks from `stored`.
    fn has(&self, _window: &Window, _stored: &GetStored<'_>) -> Result<bool> {
        Ok(false)
    }
}

impl<F: Fn(&Region, &[u8]) -> Result<()> + Sync> WindowSink for F {
    fn put(&self, region: &Region, items: &[u8]) -> Result<()> {
        self(region, items)
    }
}

/// Returns the packed chunks of a window, if they can be reused.
pub type GetStored<'a> = dyn Fn() -> Result<Option<StoredWindow<'a>>> + 'a;

/// Receives the written items of all tensors of a file, and makes the bytes that depend on them.
pub trait BegunSeal: Debug + Sync {
    /// Called once for each written range, in any order and from several threads.
    fn add(&self, bytes: &[u8], at: u64);

    /// Returns the bytes directly before the items of tensor `n`, after these have been written.
    fn before_items(&mut self, n: usize) -> Vec<u8>;

    /// Returns the last bytes of the file, after the call of [`before_items`](Self::before_items) for each tensor.
    ///
    /// # Errors
    /// There is not enough memory.
    fn end(&self) -> Result<Vec<u8>>;
}

/// A file with the items of an output in C order.
#[derive(Debug)]
pub struct FileSink<'a> {
    file: &'a File,
    /// The offset of the first item.
    base: u64,
    itemsize: usize,
    shape: Vec<usize>,
    label: &'a str,
    /// The packing of the items, and a lock, because two windows may share a byte.
    packing: Option<(Packing, Mutex<()>)>,
    within: Range<u64>,
    seal: Option<&'a dyn BegunSeal>,
}

impl<'a> FileSink<'a> {
    pub fn new(file: &'a File, base: u64, meta: &Meta, label: &'a str) -> Self {
        let itemsize = meta.dtype.itemsize();
        Self { file, base, itemsize, shape: meta.shape.clone(), label, packing: None, within: 0..u64::MAX, seal: None }
    }

    pub fn packed(to: PackedFile<'a>, meta: &Meta, label: &'a str) -> Self {
        Self { packing: Some((to.packing, Mutex::default())), ..Self::new(to.file, to.start, meta, label) }
    }

    /// Writes only these bytes of the file.
    #[must_use]
    pub fn within(self, bytes: Range<u64>) -> Self {
        Self { within: bytes, ..self }
    }

    #[must_use]
    pub fn sealed_by(self, seal: Option<&'a dyn BegunSeal>) -> Self {
        Self { seal, ..self }
    }

    /// The range of items with bytes within this sink.
    pub fn items_within(&self, items: usize) -> Range<usize> {
        let (itemsize, end) = (self.itemsize.max(1) as u64, self.position(items));
        let Range { start, end } = self.within.start.clamp(self.base, end)..self.within.end.clamp(self.base, end);
        ((start - self.base) / itemsize) as usize..(end - self.base).div_ceil(itemsize) as usize
    }

    /// The offset of the first item; `None` for packed items.
    pub fn base(&self) -> Option<u64> {
        self.packing.is_none().then_some(self.base)
    }

    /// The offset of an item.
    pub fn position(&self, item: usize) -> u64 {
        self.base + (item * self.itemsize) as u64
    }

    /// Writes consecutive items. Other items in the same bytes stay unchanged.
    pub fn put_items(&self, items: &[u8], first: usize) -> Result<()> {
        let (bits, lock) = match &self.packing {
            None => return self.put_bytes(items, self.position(first)),
            Some((Packing::SwappedWords, _)) => {
                let mut words = items.to_vec();
                words.as_chunks_mut::<2>().0.iter_mut().for_each(|word| word.reverse());
                return self.put_bytes(&words, self.position(first));
            }
            Some((Packing::Bits(bits), lock)) => (bits, lock),
        };
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

    /// Writes bytes at offset `at`, limited to the range of [`within`](Self::within).
    pub fn put_bytes(&self, bytes: &[u8], at: u64) -> Result<()> {
        let [start, end] = [self.within.start, self.within.end].map(|byte| byte.clamp(at, at + bytes.len() as u64));
        let own = &bytes[(start - at) as usize..(end - at) as usize];
        write_at(self.file, own, start).with_context(|| failed(self.label))?;
        if let Some(seal) = self.seal {
            seal.add(own, start);
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

/// Takes items from front to back.
pub type Take<'a> = dyn FnMut(&[u8]) -> Result<()> + Send + 'a;

pub fn failed(label: &str) -> String {
    format!("{label}: cannot be written")
}
