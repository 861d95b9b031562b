//! Changes the header of a `.npy` file where it lies: the dims that the file says it has, and nothing else of it.
//!
//! The new header takes exactly the bytes of the old one, whose padding gives it room, so that no item moves. `numpy.save`
//! ends headers at multiples of 64 bytes and keeps some 20 blanks for a first dim that grows.
//!
//! A process that is killed in the middle must not leave a header of which a part is new. So only the bytes that differ
//! are written, all of them by one call, and only if they lie in one page of the file: systems copy what is written page
//! by page, and end a process between two of them, never within one. What differs are the dims, at the end of the text, so
//! that a header of more than a page can be changed, too, unless just its dims lie across two. After a loss of power a
//! disk has the old or the new content of each of its sectors, of 512 bytes or more: a header that ends within the first
//! sector, as nearly all do, is old or new then, too. Who reads the file at the same moment without its lock may see a mixture.

use std::fs::File;
use std::ops::Range;

use super::npy::{GROWING, header_in_place};
use crate::error::{Context, Error, ErrorKind, Result};
use crate::item::meta::Order;
use crate::storage::platform::{read_at, write_at};
use crate::storage::source::Source;

/// The bytes of the smallest page of any system. Larger pages are multiples of it.
const PAGE: usize = 1 << 12;

/// A change of the header of a `.npy` file that has passed every check and is not written yet.
#[derive(Debug)]
pub struct HeaderEdit<'a> {
    file: &'a File,
    label: &'a str,
    /// Where the bytes that differ lie in the file.
    at: Range<usize>,
    /// The new ones of them.
    bytes: Vec<u8>,
    /// The bytes of the whole header.
    len: usize,
}

impl<'a> HeaderEdit<'a> {
    /// Prepares to say that a tensor, which is all of an open and locked `.npy` file, has another shape and order.
    ///
    /// # Errors
    /// The header has no room for that shape, or it cannot be changed at once ([`ErrorKind::Unsupported`]); the file is no
    /// `.npy`, or no local file; of reading.
    pub fn prepare(source: &'a Source, shape: &[usize], order: Order) -> Result<Self> {
        Self::of(source, shape, order, false)
    }

    /// Prepares the same for a file whose header says by then that an append is under way: see
    /// [`npy_append`](super::npy_append).
    ///
    /// # Errors
    /// Those of [`prepare`](Self::prepare).
    pub fn prepare_growing(source: &'a Source, shape: &[usize], order: Order) -> Result<Self> {
        Self::of(source, shape, order, true)
    }

    fn of(source: &'a Source, shape: &[usize], order: Order, growing: bool) -> Result<Self> {
        let label = source.label();
        let refuse = |message: String| Err(Error::from_kind(ErrorKind::Unsupported, message).within(label));
        if source.container().is_some() {
            return refuse(
                "is one of several arrays in its file, and only the header of a single one is changed".to_owned(),
            );
        }
        let Some((file, start)) = source.as_local_file() else {
            return refuse("is no local file, whose header could be changed".to_owned());
        };
        let mut old = vec![0; usize::try_from(start)?];
        read_at(file, &mut old, 0).context(label)?;
        if growing && let [.., last, _] = &mut old[..] {
            *last = GROWING;
        }
        let Some(new) = header_in_place(&old, shape, order).context(label)? else {
            return refuse(format!("its header of {} bytes has no room for shape {shape:?}", old.len()));
        };
        let differs = |(old, new): (&u8, &u8)| old != new;
        let at = match old.iter().zip(&new).position(differs) {
            None => 0..0,
            Some(first) => first..old.iter().zip(&new).rposition(differs).map_or(first, |last| last + 1),
        };
        if at.start / PAGE != at.end.saturating_sub(1) / PAGE {
            return refuse("the dims are on two pages of the file, which cannot be changed at once".to_owned());
        }
        Ok(Self { file, label, bytes: new[at.clone()].to_vec(), at, len: old.len() })
    }

    /// Returns the bytes of the header.
    pub fn header_bytes(&self) -> usize {
        self.len
    }

    /// Returns how many bytes of the file change.
    pub fn changed_bytes(&self) -> usize {
        self.at.len()
    }

    /// Writes the header. It is not synced to the disk.
    ///
    /// # Errors
    /// Of writing; the header is the old one then.
    pub fn write(&self) -> Result<()> {
        if self.bytes.is_empty() {
            return Ok(());
        }
        write_at(self.file, &self.bytes, self.at.start as u64)
            .with_context(|| format!("{}: cannot be written", self.label))
    }
}
