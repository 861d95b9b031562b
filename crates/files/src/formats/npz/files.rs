//! The files of any ZIP archive, by the rules that `.npz` has for its own: other formats keep their items in one, too.

use std::collections::HashMap;
use std::io::{BufReader, Read};
use std::sync::Arc;

use flate2::bufread::DeflateDecoder;
use rawzip::CompressionMethod;

use super::read::Archive;
use crate::storage::read_at::{ReadAt, Section};
use tensorop_kernels::error::{Result, ensure};
use tensorop_kernels::memory;

/// The files of an archive, which are found by the directory at its end. No checksum is checked.
#[derive(Clone, Debug)]
pub(crate) struct ZipFiles {
    archive: Archive,
    /// The numbers of the files, by their paths.
    numbers: HashMap<String, usize>,
}

/// The place of the bytes of a file.
#[derive(Clone, Copy, Debug)]
pub(crate) struct ZipPlace {
    pub at: u64,
    pub stored: u64,
    /// Inflated.
    pub size: u64,
    pub is_deflated: bool,
}

impl ZipFiles {
    /// Reads the directory.
    ///
    /// # Errors
    /// The archive is malformed, has too many files or cannot be read.
    pub(crate) fn read(file: Arc<dyn ReadAt>) -> Result<Self> {
        let archive = Archive::from_files(file)?;
        let numbers = archive.others.iter().map(|file| file.full_name.clone()).zip(0..).collect();
        Ok(Self { archive, numbers })
    }

    /// Returns the paths of all files, in the order of the directory.
    pub(crate) fn paths(&self) -> impl ExactSizeIterator<Item = &str> {
        self.archive.others.iter().map(|file| &*file.full_name)
    }

    /// Returns the place of the file of a path, if the archive has it.
    ///
    /// # Errors
    /// Its record contradicts the directory, it has a name twice, or is encrypted or compressed by another method.
    pub(crate) fn find(&self, path: &str) -> Result<Option<ZipPlace>> {
        let Some(n) = self.numbers.get(path) else { return Ok(None) };
        let file = &self.archive.others[*n];
        let is_deflated = file.method == CompressionMethod::DEFLATE;
        Ok(Some(ZipPlace { at: self.archive.content_at(file)?, stored: file.stored(), size: file.size(), is_deflated }))
    }
}

impl ZipPlace {
    /// Returns the inflated bytes in order.
    pub(crate) fn open(self, file: &Arc<dyn ReadAt>) -> Box<dyn Read + Send> {
        const BUFFER: usize = 1 << 16;
        let section = Section::new(Arc::clone(file), self.at, self.stored);
        match self.is_deflated {
            true => Box::new(DeflateDecoder::new(BufReader::with_capacity(BUFFER, section)).take(self.size)),
            false => Box::new(section),
        }
    }

    /// Reads all bytes.
    ///
    /// # Errors
    /// There are more than `most`, the directory gives another number, or reading fails.
    pub(crate) fn read(self, file: &Arc<dyn ReadAt>, most: u64) -> Result<Vec<u8>> {
        let size = self.size;
        ensure!(size <= most, "{size} bytes, expected at most {most}");
        let mut bytes = memory::with_capacity(size.min(self.stored.saturating_mul(1 << 10)) as usize)?;
        self.open(file).read_to_end(&mut bytes)?;
        ensure!(bytes.len() as u64 == size, "inflates to {} bytes, expected {size}", bytes.len());
        Ok(bytes)
    }
}
