//! Opens JSON: a tensor, a request or a response.

use super::body::BodyReader;
use super::read::JsonReader;
use crate::error::Result;
use crate::format::content::{Content, ContentSource};
use crate::format::interface::Reader;
use crate::parallel::Threads;
use crate::storage::read_at::{Identity, MemoryBytes, ReadAt};

pub(in crate::format) fn open_file(content: Content) -> Result<Box<dyn Reader>> {
    let threads = content.threads;
    let file = match &content.opened {
        ContentSource::Bytes { bytes, .. } => Some(bytes.identity()?),
        ContentSource::Folder(_) | ContentSource::Stream(_) => None,
    };
    of_text(content.read()?, file, threads)
}

pub(in crate::format) fn open_text(text: Vec<u8>, threads: Threads) -> Result<Box<dyn Reader>> {
    of_text(text, None, threads)
}

fn of_text(text: Vec<u8>, file: Option<Identity>, threads: Threads) -> Result<Box<dyn Reader>> {
    let in_memory = || MemoryBytes::new(Vec::new()).identity();
    let file = file.map_or_else(in_memory, Ok)?;
    match BodyReader::read(&text, file, threads)? {
        Some(body) => Ok(Box::new(body)),
        None => Ok(Box::new(JsonReader { text, threads })),
    }
}
