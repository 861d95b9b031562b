//! Changes the dims in the header of a `.npy` in place, within its padding: `numpy.save` keeps some 20 blanks for a
//! growing dim.
//!
//! A killed process must not leave half a header. One call writes only the bytes that differ, within one page, since
//! systems kill a process only between the pages of a write. After a loss of power a disk sector (512 bytes or more,
//! where nearly all headers end) is old or new. A reader without the lock may see a mixture.

use std::fs::File;
use std::ops::Range;

use super::npy::{GROWING, header_in_place};
use crate::error::{Context, Error, ErrorKind, Result};
use crate::item::meta::Order;
use crate::storage::platform::{read_at, write_at};
use crate::storage::source::Source;

/// The smallest page of any system.
const PAGE: usize = 1 << 12;

/// A checked, unwritten change of a header.
#[derive(Debug)]
pub struct HeaderEdit<'a> {
    file: &'a File,
    label: &'a str,
    at: Range<usize>,
    bytes: Vec<u8>,
    len: usize,
}

impl<'a> HeaderEdit<'a> {
    /// Prepares another shape and order for an open and locked `.npy`.
    ///
    /// # Errors
    /// The file is not a local `.npy`, or its dims have no room or span pages ([`ErrorKind::Unsupported`]).
    pub fn prepare(source: &'a Source, shape: &[usize], order: Order) -> Result<Self> {
        Self::of(source, shape, order, false)
    }

    /// Prepares the same during an append.
    ///
    /// # Errors
    /// The header cannot change, or reading fails.
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
            return refuse("only the header of a local file can be changed".to_owned());
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

    /// Returns the length of the header.
    pub fn header_bytes(&self) -> usize {
        self.len
    }

    /// Returns how many bytes change.
    pub fn changed_bytes(&self) -> usize {
        self.at.len()
    }

    /// Writes the header without a sync.
    ///
    /// # Errors
    /// Writing fails; the old header stays.
    pub fn write(&self) -> Result<()> {
        if self.bytes.is_empty() {
            return Ok(());
        }
        write_at(self.file, &self.bytes, self.at.start as u64)
            .with_context(|| format!("{}: cannot be written", self.label))
    }
}
