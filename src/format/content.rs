//! What is handed to a format to be opened, and what it says of a tensor then.

use std::fs::File;
use std::io::{self, Read};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use crate::error::{Context, Result, bail, ensure};
use crate::item::meta::Meta;
use crate::parallel::Threads;
use crate::storage::key_store::KeyStore;
use crate::storage::local_store::LocalStore;
use crate::storage::read_at::{ReadAt, Section};
use crate::storage::source::fill_from;

/// How many bytes of a file are read to see what it is: a page, which is read in one piece anyway, and in which an ONNX
/// tensor or the beginning of a JSON text can be told by more than its first bytes.
pub(super) const BEGIN: usize = 4096;

/// What a format opens: the first bytes, which have been read, and where all of them are.
pub struct Content {
    /// The first bytes.
    pub begin: Vec<u8>,
    /// What they are the first bytes of.
    pub opened: ContentSource,
    /// How many threads may share what is read before items are asked for: checksums, the syntax of a text.
    pub threads: Threads,
}

/// Where bytes come from.
pub enum ContentSource {
    /// Bytes that are read by position: a regular file, or what stands for one.
    Bytes {
        /// The bytes, the first of them included.
        bytes: Arc<dyn ReadAt>,
        /// How many they are.
        size: u64,
        /// The folder that the file lies in, if that is known.
        folder: Option<PathBuf>,
    },
    /// A folder of files, or what stands for one, of which nothing has been read.
    Folder(Arc<dyn KeyStore>),
    /// What comes after the first bytes, once.
    Stream(Box<dyn Read + Send>),
}

impl Content {
    /// A folder.
    pub(super) fn of_folder(folder: &Path, threads: Threads) -> Self {
        Self { begin: Vec::new(), opened: ContentSource::Folder(Arc::new(LocalStore::new(folder))), threads }
    }

    /// A file, or what it leads to, read up to behind its first bytes.
    pub(super) fn of_file(mut file: File, folder: Option<&Path>, threads: Threads) -> Result<Self> {
        let metadata = file.metadata()?;
        ensure!(!metadata.is_dir(), "is a folder, expected a file");
        if !metadata.is_file() {
            return Self::of_stream(Box::new(file), threads);
        }
        let begin = read_begin(&mut file)?;
        // the files of /proc and /sys are regular ones whose size the system does not know
        if begin.len() as u64 != metadata.len().min(BEGIN as u64) {
            return Ok(Self { begin, opened: ContentSource::Stream(Box::new(file)), threads });
        }
        let opened =
            ContentSource::Bytes { bytes: Arc::new(file), size: metadata.len(), folder: folder.map(Path::to_owned) };
        Ok(Self { begin, opened, threads })
    }

    /// Bytes that can be read by position, of which no folder is known.
    pub(super) fn of_bytes(bytes: Arc<dyn ReadAt>, threads: Threads) -> Result<Self> {
        let size = bytes.size()?;
        let begin = read_begin(&mut Section::new(Arc::clone(&bytes), 0, size))?;
        Ok(Self { begin, opened: ContentSource::Bytes { bytes, size, folder: None }, threads })
    }

    pub(super) fn of_stream(mut stream: Box<dyn Read + Send>, threads: Threads) -> Result<Self> {
        Ok(Self { begin: read_begin(&mut stream)?, opened: ContentSource::Stream(stream), threads })
    }

    /// Returns all bytes as what can be read by position, and the folder that they lie in. A stream is first written to
    /// a file without a name in the folder for temporary files.
    ///
    /// # Errors
    /// Those of reading the stream, and of writing that file.
    pub fn into_bytes(self) -> Result<(Arc<dyn ReadAt>, Option<PathBuf>)> {
        match self.opened {
            ContentSource::Bytes { bytes, folder, .. } => Ok((bytes, folder)),
            ContentSource::Folder(_) => bail!("is a folder, expected a file"),
            ContentSource::Stream(stream) => {
                let kept = || format!("cannot be kept in {}", std::env::temp_dir().display());
                let mut file = tempfile::tempfile().with_context(kept)?;
                io::copy(&mut self.begin.chain(stream), &mut file).with_context(kept)?;
                Ok((Arc::new(file), None))
            }
        }
    }

    /// All bytes.
    ///
    /// # Errors
    /// Of reading.
    pub fn read(self) -> Result<Vec<u8>> {
        let mut bytes = self.begin;
        match self.opened {
            ContentSource::Bytes { bytes: all, size, .. } => {
                let left = size - bytes.len() as u64;
                Section::new(all, bytes.len() as u64, left).read_to_end(&mut bytes)?
            }
            ContentSource::Folder(_) => bail!("is a folder, expected a file"),
            ContentSource::Stream(mut stream) => stream.read_to_end(&mut bytes)?,
        };
        Ok(bytes)
    }
}

/// What is known of a tensor before its items are read.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Description {
    /// The tensor, as it is stored.
    pub meta: Meta,
    /// The bytes that the items take where they are stored, before any compression; two or more items may share one.
    pub bytes: u64,
    /// Where the items begin in the file, in bytes; `None` where they do not lie there as they are.
    pub offset: Option<u64>,
}

/// The first bytes of an operand, all of it if it is short.
pub(super) fn read_begin(stream: &mut impl Read) -> io::Result<Vec<u8>> {
    let mut begin = vec![0; BEGIN];
    let filled = fill_from(stream, &mut begin)?;
    begin.truncate(filled);
    Ok(begin)
}
