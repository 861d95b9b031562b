//! Stored items that are read as others: the bytes are those of the file, and what is read of them is something else.

use std::io::Read;
use std::mem;
use std::sync::{Arc, Mutex, OnceLock};

use super::{Source, Storage, Stream};
use crate::error::Result;
use crate::item::meta::Meta;
use crate::parallel::UNPOISONED;
use crate::storage::chunked::Chunked;
use crate::storage::read_at::{MemoryBytes, ReadAt};

/// How stored bytes are read as items that they do not hold as they are. There is a method for each kind of storage, which
/// gives what stands between that and whoever reads items.
pub trait ByteReading {
    /// Reads bytes by position, of which the first item begins at byte `start`. In what is returned it begins at byte 0.
    fn convert_bytes(&self, bytes: Arc<dyn ReadAt>, start: u64) -> Arc<dyn ReadAt>;

    /// Reads bytes that come once.
    fn convert_stream(&self, reader: Box<dyn Read + Send>) -> Box<dyn Read + Send>;

    /// Reads chunks.
    fn convert_chunks(&self, chunks: Arc<dyn Chunked>) -> Arc<dyn Chunked>;
}

impl Source {
    /// Takes the stored items for those of `meta`, which `reading` makes of them, and of which none was read before.
    ///
    /// # Errors
    /// The system does not tell the version of the bytes.
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
            Storage::Item(_) => unreachable!("what stands at every place comes from an option, and has its dtype"),
        };
        self.near = OnceLock::new();
        self.meta = meta;
        Ok(())
    }
}
