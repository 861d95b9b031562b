//! Files of one tensor with contiguous items.

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

#[derive(Debug)]
pub(super) struct PlainReader {
    pub(super) meta: Meta,
    /// Where the items begin in the file.
    pub(super) start: u64,
    /// Bytes of the items in the file.
    pub(super) stored: u64,
    pub(super) items: PlainItems,
    /// Why the file cannot be rewritten.
    pub(super) unwritten: Option<&'static str>,
}

pub(super) enum PlainItems {
    /// Read from this byte.
    Bytes(Arc<dyn ReadAt>, u64),
    /// The first reader takes the stream.
    Stream(Mutex<Option<Box<dyn Read + Send>>>),
}

impl PlainItems {
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
