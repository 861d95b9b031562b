//! Files of one tensor whose items lie one after the other: `.npy` files, and bytes without a header.

use std::fmt;
use std::io::Read;
use std::sync::{Arc, Mutex};

use super::content::{Description, FileFacts};
use super::interface::Reader;
use crate::error::{Error, ErrorKind, Result, malformed};
use crate::item::meta::Meta;
use crate::parallel::locked;
use crate::storage::read_at::ReadAt;
use crate::storage::source::Source;

/// Reads such a tensor.
#[derive(Debug)]
pub(super) struct PlainReader {
    pub(super) meta: Meta,
    /// The byte of the file at which the items begin.
    pub(super) start: u64,
    /// The bytes that they take there.
    pub(super) stored: u64,
    pub(super) items: PlainItems,
    /// Why the file cannot be written anew, if it cannot.
    pub(super) unwritten: Option<&'static str>,
}

/// Where the items of such a tensor come from.
pub(super) enum PlainItems {
    /// They are read by position, from this byte on.
    Bytes(Arc<dyn ReadAt>, u64),
    /// They come from a stream, whose next bytes are the items. Whoever reads them first takes it.
    Stream(Mutex<Option<Box<dyn Read + Send>>>),
}

impl PlainItems {
    /// Takes a stream whose next bytes are the items.
    pub(super) fn stream(stream: impl Read + Send + 'static) -> Self {
        Self::Stream(Mutex::new(Some(Box::new(stream))))
    }
}

impl fmt::Debug for PlainItems {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Bytes(bytes, _) => bytes.fmt(f),
            Self::Stream(_) => f.write_str("a stream"),
        }
    }
}

impl Reader for PlainReader {
    fn facts(&self) -> FileFacts<'_> {
        let unwritten = self.unwritten.map(|why| Error::from_kind(ErrorKind::Unsupported, why));
        FileFacts { unwritten, ..FileFacts::default() }
    }

    fn describe(&self, _: usize) -> Result<Description> {
        Ok(Description::new(self.meta.clone(), self.stored, Some(self.start)))
    }

    fn source(&self, _: usize, label: String) -> Result<Source> {
        let meta = self.meta.clone();
        match &self.items {
            PlainItems::Bytes(bytes, at) => Source::stored(meta, Arc::clone(bytes), *at, label),
            PlainItems::Stream(stream) => {
                let stream = locked(stream).take().ok_or_else(|| malformed!("can be read only once"))?;
                let bytes = meta.bytes() as u64;
                Ok(Source::stream(meta, stream, bytes, label))
            }
        }
    }
}
