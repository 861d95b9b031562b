//! Conversions of stored bytes to items while they are read.

use std::io::Read;
use std::mem;
use std::sync::{Arc, Mutex, OnceLock};

use super::{Source, Storage, Stream};
use crate::error::Result;
use crate::item::meta::Meta;
use crate::parallel::UNPOISONED;
use crate::storage::chunked::Chunked;
use crate::storage::read_at::{MemoryBytes, ReadAt};

/// Converts each kind of storage while it is read.
pub trait ByteReading {
    /// The first item is at `start`; in the result it is at 0.
    fn convert_bytes(&self, bytes: Arc<dyn ReadAt>, start: u64) -> Arc<dyn ReadAt>;

    fn convert_stream(&self, reader: Box<dyn Read + Send>) -> Box<dyn Read + Send>;

    fn convert_chunks(&self, chunks: Arc<dyn Chunked>) -> Arc<dyn Chunked>;
}

impl Source {
    /// Reads the items through `reading`. Must precede the first read.
    pub fn read_through(&mut self, meta: Meta, reading: &dyn ByteReading) -> Result<()> {
        let bytes = meta.bytes() as u64;
        self.store = match mem::replace(&mut self.store, Storage::Item(Vec::new())) {
            Storage::Bytes { bytes, start, stamp } => {
                Storage::Bytes { bytes: reading.convert_bytes(bytes, start), start: 0, stamp }
            }
            Storage::Stream(stream) => {
                let reader = reading.convert_stream(stream.into_inner().expect(UNPOISONED).reader);
                Storage::Stream(Mutex::new(Stream { reader, at: 0, bytes }))
            }
            Storage::Chunks(chunks) => Storage::Chunks(reading.convert_chunks(chunks)),
            Storage::Memory(items) => {
                Storage::stored(reading.convert_bytes(Arc::new(MemoryBytes::shared(items)), 0), 0)?
            }
            Storage::Item(_) => unreachable!("a fill value comes from an option, and has its dtype"),
        };
        self.near = OnceLock::new();
        self.meta = meta;
        Ok(())
    }
}
