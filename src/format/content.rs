//! What a format is given to open ([`Content`]), and what it says of a tensor before reading items ([`Description`]).

use std::fs::File;
use std::io::{self, Read};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use super::values::delimiter::Delimiter;
use crate::error::{Context, Error, Result, bail, ensure};
use crate::item::meta::Meta;
use crate::parallel::Threads;
use crate::storage::calls::CallCounter;
use crate::storage::counted::counted;
use crate::storage::key_store::KeyStore;
use crate::storage::local_store::LocalStore;
use crate::storage::read_at::{ReadAt, ReopenedFile, Section};
use crate::storage::requests::RequestOptions;
use crate::storage::source::{Metadata, Source, fill_from};

/// The number of first bytes that are read to recognise a format. That is a page, which the system reads in one piece
/// anyway, and enough to recognise an ONNX tensor or a JSON text, which have no magic number.
pub(super) const BEGIN: usize = 4096;

/// What a format opens: the first bytes, which have been read already, and what gives all bytes.
pub struct Content {
    /// The first bytes, or all of them if they are few.
    pub begin: Vec<u8>,
    /// What gives all bytes.
    pub opened: ContentSource,
    /// The number of threads that may share what is done before items are read, such as checksums and parsing.
    pub threads: Threads,
    /// How servers are asked for other files, if this one names some and lies behind an address.
    pub requests: RequestOptions,
    /// The number of lines to skip at the beginning of CSV and TSV, which are headings.
    pub skip_rows: usize,
    /// The delimiter of cells in CSV and TSV, if it is not a comma or a tab.
    pub delimiter: Option<Delimiter>,
    /// The text that CSV and TSV have in the place of cells without a value.
    pub missing: Option<String>,
    /// The name of the one member of a folder that is wanted. Where there is no such member, all are listed.
    pub member: Option<String>,
}

/// What the bytes of an operand come from.
pub enum ContentSource {
    /// Bytes that are read by position: a regular file, or what stands for one.
    Bytes {
        /// The bytes, the first of them included.
        bytes: Arc<dyn ReadAt>,
        /// How many they are.
        size: u64,
        /// The folder that the file lies in, if that is known; of an object, what its address is without its name.
        folder: Option<PathBuf>,
    },
    /// A folder of files, or what stands for one, of which nothing has been read.
    Folder(Arc<dyn KeyStore>),
    /// A stream that gives what comes after the first bytes, once.
    Stream(Box<dyn Read + Send>),
}

impl Content {
    /// Takes the first bytes and what gives all bytes, to be read as [`OpenOptions`](super::open::OpenOptions) are by default.
    pub(super) fn new(begin: Vec<u8>, opened: ContentSource, threads: Threads) -> Self {
        let requests = RequestOptions::default();
        Self { begin, opened, threads, requests, skip_rows: 0, delimiter: None, missing: None, member: None }
    }

    /// Takes a folder.
    pub(super) fn from_folder(folder: &Path, threads: Threads) -> Self {
        Self::from_store(Arc::new(LocalStore::new(folder)), threads)
    }

    /// Takes a store.
    pub(super) fn from_store(store: Arc<dyn KeyStore>, threads: Threads) -> Self {
        Self::new(Vec::new(), ContentSource::Folder(store), threads)
    }

    /// Reads the first bytes of an open file. What is no regular file, such as a pipe, becomes a stream.
    ///
    /// # Errors
    /// It is a folder, or cannot be read.
    pub(super) fn from_file(mut file: File, folder: Option<&Path>, threads: Threads) -> Result<Self> {
        let metadata = file.metadata()?;
        ensure!(!metadata.is_dir(), "is a folder, expected a file");
        if !metadata.is_file() {
            return Self::from_stream(Box::new(file), threads);
        }
        let begin = read_begin(&mut file)?;
        // the files of /proc and /sys are regular ones whose size the system does not know
        if begin.len() as u64 != metadata.len().min(BEGIN as u64) {
            return Ok(Self::new(begin, ContentSource::Stream(Box::new(file)), threads));
        }
        let opened =
            ContentSource::Bytes { bytes: Arc::new(file), size: metadata.len(), folder: folder.map(Path::to_owned) };
        Ok(Self::new(begin, opened, threads))
    }

    /// Returns the content with its file, which was found at `path`, no longer open, but opened again for every read.
    ///
    /// # Errors
    /// The system does not tell which file it is.
    pub(super) fn reopening(self, path: &Path) -> io::Result<Self> {
        let opened = match self.opened {
            ContentSource::Bytes { bytes, size, folder } => {
                let bytes = Arc::new(ReopenedFile::new(path, bytes.identity()?));
                ContentSource::Bytes { bytes, size, folder }
            }
            ContentSource::Folder(_) | ContentSource::Stream(_) => self.opened,
        };
        Ok(Self { opened, ..self })
    }

    /// Returns the content with its file, whose reads are counted, if there is a counter.
    pub(super) fn counted(self, counter: Option<&Arc<CallCounter>>) -> Self {
        let opened = match self.opened {
            ContentSource::Bytes { bytes, size, folder } => {
                ContentSource::Bytes { bytes: counted(bytes, counter), size, folder }
            }
            ContentSource::Folder(_) | ContentSource::Stream(_) => self.opened,
        };
        Self { opened, ..self }
    }

    /// Reads the first bytes of what can be read by position. No folder is known of it.
    pub(super) fn from_bytes(bytes: Arc<dyn ReadAt>, threads: Threads) -> Result<Self> {
        let size = bytes.size()?;
        let mut begin = vec![0; size.min(BEGIN as u64) as usize];
        bytes.read_at(&mut begin, 0)?;
        Ok(Self::new(begin, ContentSource::Bytes { bytes, size, folder: None }, threads))
    }

    /// Reads the first bytes of a stream.
    ///
    /// # Errors
    /// Reading fails.
    pub(super) fn from_stream(mut stream: Box<dyn Read + Send>, threads: Threads) -> Result<Self> {
        Ok(Self::new(read_begin(&mut stream)?, ContentSource::Stream(stream), threads))
    }

    /// Returns content of which all is wanted from front to back: what costs a request for each read becomes a stream.
    pub(super) fn in_order(self) -> Self {
        let opened = match self.opened {
            ContentSource::Bytes { bytes, size, .. } if bytes.costs_requests() => {
                let at = self.begin.len() as u64;
                ContentSource::Stream(Box::new(Section::new(bytes, at, size - at).by(self.threads)))
            }
            opened => opened,
        };
        Self { opened, ..self }
    }

    /// Returns all bytes as what can be read by position, and the folder that they lie in. A stream is first written to
    /// a file without a name in the folder for temporary files.
    ///
    /// # Errors
    /// The stream cannot be read, or that file cannot be written.
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

    /// Reads all bytes into memory.
    ///
    /// # Errors
    /// Reading fails.
    pub fn read(self) -> Result<Vec<u8>> {
        let mut bytes = self.begin;
        match self.opened {
            ContentSource::Bytes { bytes: all, size, .. } => {
                let left = size - bytes.len() as u64;
                Section::new(all, bytes.len() as u64, left).by(self.threads).read_to_end(&mut bytes)?
            }
            ContentSource::Folder(_) => bail!("is a folder, expected a file"),
            ContentSource::Stream(mut stream) => stream.read_to_end(&mut bytes)?,
        };
        Ok(bytes)
    }
}

/// What a format says of a tensor before its items are read.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Description {
    /// The dtype, dims and order of the tensor as it is stored.
    pub meta: Meta,
    /// The size in bytes that the items take where they are stored, before any compression. Items of fewer than 8 bits may
    /// share bytes.
    pub bytes: u64,
    /// The byte of the file at which the items begin, or `None` if they do not lie there uncompressed.
    pub offset: Option<u64>,
    /// How it is stored, if that is in chunks.
    pub chunks: Option<ChunkDescription>,
}

impl Description {
    /// Describes a tensor that is not stored in chunks. Its items take `bytes` bytes, from byte `offset` of the file on.
    pub fn new(meta: Meta, bytes: u64, offset: Option<u64>) -> Self {
        Self { meta, bytes, offset, chunks: None }
    }

    /// Describes a tensor by its source alone.
    pub fn from_source(source: &Source) -> Self {
        Self::new(source.meta().clone(), source.bytes() as u64, None)
    }
}

/// What a format says of a file as a whole, beside its tensors.
#[derive(Clone, Debug, Default)]
pub struct FileFacts<'a> {
    /// The name that a single tensor carries in itself, as an ONNX TensorProto does.
    pub own_name: Option<&'a str>,
    /// Why the file cannot be written anew, if its format has a writer that cannot make files of its kind (a Zarr store of
    /// version 2). Its items can still be changed where they lie.
    pub unwritten: Option<Error>,
    /// Whether a member is compressed, although the format does not ask for that.
    pub is_compressed: bool,
    /// A warning about the file, if other programs read less of it than this one.
    pub caution: Option<&'static str>,
    /// The other files that this one stands for, whether they can be read or not.
    pub files: &'a [PathBuf],
}

/// The file that has a tensor.
#[derive(Clone, Debug, Default)]
pub struct MemberFile {
    /// Its path, if it is another file than the one that was opened, which is an index or a folder.
    pub path: Option<PathBuf>,
    /// The name of the tensor there; `None` if it has none, or if the file is the one that was opened.
    pub member: Option<String>,
    /// The name of its format, if a folder of files in several formats was opened.
    pub format: Option<&'static str>,
    /// Its metadata, if its format has a place for that.
    pub metadata: Option<Arc<Metadata>>,
}

/// How a tensor is stored in chunks, as the metadata of its store say it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ChunkDescription {
    /// The number of places of each axis in a chunk.
    pub chunks: Vec<usize>,
    /// The number of places of each axis in a shard, if there are shards.
    pub shards: Option<Vec<usize>>,
    /// What packs a chunk, as JSON.
    pub codecs: String,
    /// What packs a chunk, in a few words for people.
    pub codec_names: String,
    /// The item of chunks that are not stored, as JSON.
    pub fill_value: String,
    /// The names of the axes, of which some may have none.
    pub dimension_names: Option<Vec<Option<String>>>,
    /// What is noted of the tensor, as JSON.
    pub attributes: String,
    /// The version of the store's format.
    pub version: u32,
}

/// Reads the first bytes of an operand, or all of it if it is short.
pub(super) fn read_begin(stream: &mut impl Read) -> io::Result<Vec<u8>> {
    let mut begin = vec![0; BEGIN];
    let filled = fill_from(stream, &mut begin)?;
    begin.truncate(filled);
    Ok(begin)
}
