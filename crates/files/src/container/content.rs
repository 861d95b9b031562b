//! The input of a format ([`Content`]), and its description of a tensor ([`Description`]).
//! `LazyContent` is opened at the first read and closed after the last.

use std::fs::File;
use std::io::{self, Read};
use std::mem;
use std::ops::Range;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use crate::storage::key_store::KeyStore;
use crate::storage::local_store::LocalStore;
use crate::storage::read_at::{OpenedFile, ReadAt, ReopenedFile, Section};
use crate::storage::requests::RequestOptions;
use crate::storage::source::{FileMetadata, Source};
use crate::untyped::cells::TableOptions;
use tensorop_kernels::error::{Context, Result, bail, ensure};
use tensorop_kernels::item::meta::Meta;
use tensorop_kernels::memory::fill_from;
use tensorop_kernels::parallel::Threads;

/// The number of first bytes that identify a format. One page takes a single read, and suffices for ONNX and JSON,
/// which have no magic number.
pub(crate) const BEGIN: usize = 4096;

/// The weights that the nodes of a model compute from constants, and the constants that only scale activations.
#[derive(Clone, Debug, Default)]
pub struct QuantizedGraph {
    pub weights: Vec<GraphWeight>,
    pub activations: Vec<usize>,
}

/// A weight that nodes of a model compute: codes, less zero points, times scales. Parts are numbers of members.
#[derive(Clone, Debug, PartialEq)]
pub struct GraphWeight {
    pub name: String,
    pub operator: &'static str,
    pub codes: usize,
    pub scales: Option<usize>,
    pub zeros: Option<usize>,
    /// A factor of all scales.
    pub whole: Option<usize>,
    /// The group of each column.
    pub groups: Option<usize>,
    pub form: GraphForm,
    /// Why it cannot be read.
    pub fault: Option<String>,
}

impl GraphWeight {
    /// The number of the tensor with the codes.
    pub(crate) fn stored_codes(&self) -> usize {
        if let GraphForm::Broadcast { nf4: Some((_, stored)), .. } = self.form { stored } else { self.codes }
    }

    /// The numbers of its tensors.
    pub(crate) fn parts(&self) -> impl Iterator<Item = usize> {
        let shape = if let GraphForm::Broadcast { shape: Some((_, n)), .. } = self.form { Some(n) } else { None };
        [Some(self.stored_codes()), self.scales, self.zeros, self.whole, self.groups, shape].into_iter().flatten()
    }
}

/// Which items of a [`GraphWeight`] share a scale.
#[derive(Clone, Debug, PartialEq)]
pub enum GraphForm {
    /// Those of a place on an axis, or of `block` places; all if there is one scale.
    Axis { axis: i64, block: usize },
    /// Those of a block of a row of packed codes.
    Rows { bits: usize, block: usize, rows: usize, cols: usize },
    /// Those of a block of the last axis, along which codes may be packed.
    LastAxis { bits: usize, block: usize, axis: i64 },
    /// Those along axes on which the scales have length 1. The weight may have another shape, which is a constant,
    /// too. Codes of nf4, which is not a dtype, have a shape and a tensor of bytes, whose number is after those of the members.
    Broadcast { shape: Option<(Vec<usize>, usize)>, nf4: Option<(Vec<usize>, usize)> },
}

/// The input of a format.
pub struct Content {
    /// The first bytes, or all of a short file.
    pub begin: Vec<u8>,
    pub opened: ContentSource,
    /// For checksums and parsing before items are read.
    pub threads: Threads,
    /// For further files on a server.
    pub requests: RequestOptions,
    pub table: TableOptions,
    /// The only wanted member of a folder, if it exists.
    pub member: Option<String>,
    /// The path or address of the file, for another file beside it.
    pub path: Option<PathBuf>,
}

pub enum ContentSource {
    /// Random access.
    Bytes {
        /// Includes the first bytes.
        bytes: Arc<dyn ReadAt>,
        size: u64,
        /// The folder of the file, or the parent of an address.
        folder: Option<PathBuf>,
    },
    Folder(Arc<dyn KeyStore>),
    /// The bytes after the first ones.
    Stream(Box<dyn Read + Send>),
}

impl Content {
    pub(crate) fn new(begin: Vec<u8>, opened: ContentSource, threads: Threads) -> Self {
        let (requests, table) = (RequestOptions::default(), TableOptions::default());
        Self { begin, opened, threads, requests, table, member: None, path: None }
    }

    pub(crate) fn from_folder(folder: &Path, threads: Threads) -> Self {
        Self::from_store(Arc::new(LocalStore::new(folder)), threads)
    }

    pub(crate) fn from_store(store: Arc<dyn KeyStore>, threads: Threads) -> Self {
        Self::new(Vec::new(), ContentSource::Folder(store), threads)
    }

    /// A pipe or a device becomes a stream. With `is_changed` the file may change between reads.
    pub(crate) fn from_file(mut file: File, is_changed: bool, folder: Option<&Path>, threads: Threads) -> Result<Self> {
        let metadata = file.metadata()?;
        ensure!(!metadata.is_dir(), "is a folder, expected a file");
        if !metadata.is_file() {
            return Self::from_stream(Box::new(file), threads);
        }
        let begin = read_begin(&mut file)?;
        // The size of files in /proc and /sys is unknown.
        if begin.len() as u64 != metadata.len().min(BEGIN as u64) {
            return Ok(Self::new(begin, ContentSource::Stream(Box::new(file)), threads));
        }
        let bytes: Arc<dyn ReadAt> =
            if is_changed { Arc::new(file) } else { Arc::new(OpenedFile::new(file, &metadata)) };
        let opened = ContentSource::Bytes { bytes, size: metadata.len(), folder: folder.map(Path::to_owned) };
        Ok(Self::new(begin, opened, threads))
    }

    /// The file at `path` need not stay open.
    pub(crate) fn reopening(self, path: &Path) -> io::Result<Self> {
        let opened = match self.opened {
            ContentSource::Bytes { bytes, size, folder } => {
                let bytes = Arc::new(ReopenedFile::new(path, bytes.identity()?));
                ContentSource::Bytes { bytes, size, folder }
            }
            ContentSource::Folder(_) | ContentSource::Stream(_) => self.opened,
        };
        Ok(Self { opened, ..self })
    }

    pub(crate) fn from_bytes(bytes: Arc<dyn ReadAt>, threads: Threads) -> Result<Self> {
        let size = bytes.size()?;
        let mut begin = vec![0; size.min(BEGIN as u64) as usize];
        bytes.read_at(&mut begin, 0)?;
        Ok(Self::new(begin, ContentSource::Bytes { bytes, size, folder: None }, threads))
    }

    pub(crate) fn from_stream(mut stream: Box<dyn Read + Send>, threads: Threads) -> Result<Self> {
        Ok(Self::new(read_begin(&mut stream)?, ContentSource::Stream(stream), threads))
    }

    pub(crate) fn in_order(self) -> Self {
        let opened = match self.opened {
            ContentSource::Bytes { bytes, size, .. } if bytes.costs_requests() => {
                let at = self.begin.len() as u64;
                ContentSource::Stream(Box::new(Section::new(bytes, at, size - at).by(self.threads)))
            }
            opened => opened,
        };
        Self { opened, ..self }
    }

    /// Returns all bytes and their folder. A stream is first copied to a temporary file.
    ///
    /// # Errors
    /// The stream cannot be read, or the temporary file cannot be written.
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

    pub(crate) fn seekable(self) -> Result<Self> {
        match self.opened {
            ContentSource::Stream(_) => Self::from_bytes(self.into_bytes()?.0, Threads::default()),
            _ => Ok(self),
        }
    }

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

/// A tensor as stored.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Description {
    pub meta: Meta,
    /// Uncompressed. Items of fewer than 8 bits may share bytes.
    pub bytes: u64,
    /// The file offset of uncompressed items.
    pub offset: Option<u64>,
    pub chunks: Option<ChunkDescription>,
    pub blocks: Option<BlockDescription>,
    /// The place of the items if it is not at `offset`.
    pub elsewhere: Option<StoredRange>,
    /// The name of a scale that is still to be multiplied with the items.
    pub factor: Option<String>,
    /// Whether it is a constant of a model.
    pub is_constant: bool,
}

/// The readable part of the entry of an unreadable tensor.
#[derive(Clone, Debug, Default)]
pub struct KnownTensor {
    pub dtype: Option<String>,
    pub shape: Option<Vec<usize>>,
    pub bytes: Option<u64>,
    pub offset: Option<u64>,
}

/// Bytes that several tensors may have.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct StoredRange {
    /// The other file or the compressed one that the offsets are counted in; `None` for the file of the tensor.
    pub holder: Option<Arc<str>>,
    /// All of the tensor's; those of its first item if there are gaps between the items.
    pub bytes: Range<u64>,
}

impl Description {
    /// Describes a tensor without chunks.
    pub fn new(meta: Meta, bytes: u64, offset: Option<u64>) -> Self {
        Self { meta, bytes, offset, chunks: None, blocks: None, elsewhere: None, factor: None, is_constant: false }
    }

    /// The place of the items, if the reader knows it.
    pub fn range(&self) -> Option<StoredRange> {
        let at_offset = || {
            let start = self.offset?;
            Some(StoredRange { holder: None, bytes: start..start.checked_add(self.bytes)? })
        };
        self.elsewhere.clone().or_else(at_offset)
    }

    pub fn from_source(source: &Source) -> Self {
        Self::new(source.meta().clone(), source.bytes() as u64, None)
    }
}

#[derive(Clone, Debug, Default)]
pub struct MemberFile {
    /// `None` for the opened file.
    pub path: Option<PathBuf>,
    /// The name of the tensor in that file.
    pub member: Option<String>,
    /// Set if a folder of several formats was opened.
    pub format: Option<&'static str>,
    pub metadata: Option<Arc<FileMetadata>>,
}

/// Items that are stored in blocks of several, and become float32s by a rule.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct BlockDescription {
    /// The name of the rule.
    pub name: &'static str,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ChunkDescription {
    pub chunks: Vec<usize>,
    /// The shape of a shard.
    pub shards: Option<Vec<usize>>,
    /// The codecs as JSON.
    pub codecs: String,
    pub codec_names: String,
    /// The item of missing chunks, as JSON.
    pub fill_value: String,
    /// Some axes may have no name.
    pub dimension_names: Option<Vec<Option<String>>>,
    pub attributes: String,
    pub version: u32,
}

pub(crate) fn read_begin(stream: &mut impl Read) -> io::Result<Vec<u8>> {
    let mut begin = vec![0; BEGIN];
    let filled = fill_from(stream, &mut begin)?;
    begin.truncate(filled);
    Ok(begin)
}

const MAX_LISTED: usize = 8;

/// Faults that the opened shards reveal.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct IndexFaults {
    /// In the order of the shards.
    pub unlisted: Vec<UnlistedTensor>,
    /// The name of a total of the model, with the stated and the correct value, if they differ.
    pub total: Option<(&'static str, [u64; 2])>,
}

/// A tensor of a shard outside the index.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct UnlistedTensor {
    /// With the stem of the model in a folder of several.
    pub name: String,
    /// The name in the shard.
    pub member: String,
    pub shard: PathBuf,
}

impl IndexFaults {
    /// Returns the names of the unlisted tensors.
    pub fn names(&self) -> Vec<String> {
        self.unlisted.iter().map(|tensor| tensor.name.clone()).collect()
    }

    /// Returns the faults in one line.
    pub fn message(&self) -> Option<String> {
        let unlisted = (!self.unlisted.is_empty()).then(|| {
            let named = |tensor: &UnlistedTensor| {
                let shard = tensor.shard.file_name().unwrap_or_default().to_string_lossy();
                format!("{} ({shard})", tensor.name)
            };
            let listed: Vec<_> = self.unlisted.iter().take(MAX_LISTED).map(named).collect();
            let more = self.unlisted.len() - listed.len();
            let more = if more == 0 { String::new() } else { format!(" and {more} more") };
            format!("not in the index: {}{more}", listed.join(", "))
        });
        let total = self.total.map(|(name, [said, right])| format!("{name} is {said}, expected {right}"));
        let parts: Vec<_> = unlisted.into_iter().chain(total).collect();
        (!parts.is_empty()).then(|| parts.join("; "))
    }
}

type OpenedContent = Box<dyn Read + Send>;

pub(crate) enum LazyContent {
    Closed(Box<dyn FnOnce() -> Result<OpenedContent> + Send>),
    Open(OpenedContent),
    Ended,
}

impl LazyContent {
    pub(crate) fn new(open: impl FnOnce() -> Result<OpenedContent> + Send + 'static) -> Self {
        Self::Closed(Box::new(open))
    }
}

impl Read for LazyContent {
    fn read(&mut self, out: &mut [u8]) -> io::Result<usize> {
        if out.is_empty() {
            return Ok(0);
        }
        let mut content = match mem::replace(self, Self::Ended) {
            Self::Closed(open) => open().map_err(|error| io::Error::other(format!("{error:#}")))?,
            Self::Open(content) => content,
            Self::Ended => return Ok(0),
        };
        let read = content.read(out);
        if !matches!(read, Ok(0)) {
            *self = Self::Open(content);
        }
        read
    }
}
