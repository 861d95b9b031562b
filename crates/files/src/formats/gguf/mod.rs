//! GGUF, the container of llama.cpp: keys with values, then the tensors, most of them in blocks of items that share
//! scales. Blocks are read as float32s.
//!
//! `llama-gguf-split` divides a model into several files. Opening the first, `NAME-00001-of-00003.gguf`, opens all.
//! Each has its own header; keys of the model are in the first.

mod header;
mod kernels;
mod types;

use std::collections::HashSet;
use std::ffi::OsStr;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use self::header::{GgufHeader, StoredTensor, StoredValues};
pub use self::header::{MAX_HEADER, MAX_KEYS, MAX_NAME, MAX_TENSORS};
use self::types::{BlockRule, ItemType};
use crate::container::content::{BlockDescription, Content, Description, IndexFaults, KnownTensor, MemberFile};
use crate::container::interface::{Confidence, Members, ReadableFile, Reader, StoredMember};
use crate::container::member_list::numbered;
use crate::narrow::units::{ByUnits, Origin, SwappedWords, Units, needs_swap};
use crate::storage::read_at::{EncodedBytes, READ_AHEAD, ReadAt, Section};
use crate::storage::sidecar::{join, open_beside};
use crate::storage::source::{Container, FileMetadata, Source};
use tensorop_kernels::error::{ErrorKind, Result};
use tensorop_kernels::item::dtype::{DType, Kind};
use tensorop_kernels::item::meta::Meta;

/// The maximum number of files of a model.
pub const MAX_FILES: u32 = 10_000;

const SCALE: &str = ".scale";

pub(crate) fn sure(begin: &[u8], _: Option<u64>) -> Confidence {
    Confidence::certain_if(begin.starts_with(header::MAGIC))
}

pub(crate) fn open(content: Content) -> Result<ReadableFile> {
    let name = content.path.as_deref().and_then(Path::file_name).and_then(OsStr::to_str).map(str::to_owned);
    let requests = content.requests;
    let (bytes, folder) = content.into_bytes()?;
    let (first, files, tensors) = GgufFile::read(bytes, None)?;
    let others = name.filter(|_| files <= MAX_FILES).and_then(|name| names_of_others(&name, files));
    let (others, folder) = others.zip(folder).unwrap_or_default();
    let paths: Arc<[_]> = others.iter().map(|name| join(&folder, name)).collect();
    let (metadata, container) = (first.container.metadata.clone(), Arc::clone(&first.container));
    let read = |path: &PathBuf| Ok(GgufFile::read(open_beside(path, requests)?, metadata.clone())?.0);
    let is_whole = paths.len() as u32 + 1 == files.max(1);
    let files: Vec<_> = [Ok(first)].into_iter().chain(paths.iter().map(read)).collect();
    let (mut names, mut places) = (Vec::new(), Vec::new());
    for (n, file) in files.iter().enumerate() {
        // a file that cannot be read is listed as one tensor with its name
        let own = file.as_ref().map_or_else(|_| &others[n - 1..n], |file| &file.container.names);
        places.extend((0..own.len()).map(|there| (n, there)));
        names.extend(own.iter().cloned());
    }
    let totals = tensors.filter(|_| is_whole && files.iter().all(Result::is_ok));
    let totals = totals.map(|stated| [stated, names.len() as u64]).filter(|[stated, found]| stated != found);
    let total = totals.map(|totals| (header::TENSORS, totals));
    let members = Members {
        names: Some(numbered(names).into()),
        container: paths.is_empty().then_some(container),
        file_numbers: places.iter().map(|(file, _)| *file).collect(),
        files: Arc::clone(&paths),
        later: Some(Arc::new(IndexFaults { total, ..IndexFaults::default() })),
        ..Members::default()
    };
    Ok(ReadableFile::new(members, GgufReader { files, paths, places }))
}

/// Returns the names of the other files of a model, given the name of the first.
fn names_of_others(name: &str, files: u32) -> Option<Vec<String>> {
    let (stem, extension) = name.rsplit_once('.')?;
    let stem = stem.strip_suffix(&format!("-00001-of-{files:05}"))?;
    Some((2..=files).map(|n| format!("{stem}-{n:05}-of-{files:05}.{extension}")).collect())
}

#[derive(Debug)]
struct GgufFile {
    bytes: Arc<dyn ReadAt>,
    is_big_endian: bool,
    tensors: Vec<StoredTensor>,
    /// The names of tensors that may be factors.
    scales: HashSet<String>,
    container: Arc<Container>,
}

impl GgufFile {
    /// `model` is the metadata of the first file. Also returns the number of files of the model, and that of its tensors
    /// if the header has it.
    fn read(bytes: Arc<dyn ReadAt>, model: Option<Arc<FileMetadata>>) -> Result<(Self, u32, Option<u64>)> {
        let GgufHeader { is_big_endian, metadata, kept, tensors, files, tensors_of_all } = GgufHeader::read(&*bytes)?;
        let names: Vec<_> = tensors.iter().map(|tensor| tensor.name.clone()).collect();
        let scales = names.iter().filter(|name| name.ends_with(SCALE)).cloned().collect();
        let exact = Arc::new(StoredValues(Arc::clone(&bytes)));
        let own = FileMetadata { format: "gguf", shown: metadata.into(), kept: kept.into(), exact };
        let metadata = model.or_else(|| Some(own.into()));
        let container = Container { metadata, ..Container::new(bytes.identity()?, names) }.into();
        Ok((Self { bytes, is_big_endian, tensors, scales, container }, files, tensors_of_all))
    }

    /// The factor of an `nvfp4` tensor `X.weight` is a tensor of its own, which converters call `X.scale` or `X.weight.scale`.
    fn factor(&self, tensor: &StoredTensor, known: &ItemType) -> Option<String> {
        let stem = tensor.name.strip_suffix(".weight").filter(|_| known.name == "nvfp4")?;
        let names = [format!("{stem}{SCALE}"), format!("{}{SCALE}", tensor.name)];
        names.into_iter().find(|name| self.scales.contains(name))
    }

    fn is_swapped(&self, meta: &Meta) -> bool {
        self.is_big_endian && needs_swap(&meta.dtype)
    }

    /// The tensor, its type, and the shape and dtype of its items.
    fn tensor(&self, n: usize) -> Result<(&StoredTensor, &'static ItemType, Meta)> {
        let tensor = &self.tensors[n];
        if let Some(fault) = &tensor.fault {
            return Err(fault.clone());
        }
        let known = ItemType::numbered(tensor.number_of_type)?;
        let dtype = match &known.rule {
            BlockRule::Plain(kind) => DType::from(kind.clone()),
            BlockRule::Blocks(_) | BlockRule::Unspecified => DType::from(Kind::Float32),
        };
        let dtype = if self.is_big_endian && known.items == 1 { dtype.big_endian() } else { dtype };
        Ok((tensor, known, Meta::c_order(dtype, tensor.shape.clone())))
    }
}

#[derive(Debug)]
struct GgufReader {
    /// The first is the file that was opened, which was read.
    files: Vec<Result<GgufFile>>,
    /// Those of the other files.
    paths: Arc<[PathBuf]>,
    /// The file, and the number of the tensor there.
    places: Vec<(usize, usize)>,
}

impl GgufReader {
    fn find(&self, n: usize) -> Result<(&GgufFile, usize)> {
        let (file, there) = self.places[n];
        Ok((self.files[file].as_ref().map_err(Clone::clone)?, there))
    }
}

impl Reader for GgufReader {
    fn file_of(&self, n: usize) -> Result<MemberFile> {
        let (file, there) = self.find(n)?;
        let path = self.places[n].0.checked_sub(1).map(|other| self.paths[other].clone());
        let member = path.is_some().then(|| file.container.names[there].clone());
        Ok(MemberFile { path, member, metadata: file.container.metadata.clone(), ..MemberFile::default() })
    }

    fn describe(&self, n: usize) -> Result<Description> {
        let (file, n) = self.find(n)?;
        let (tensor, known, meta) = file.tensor(n)?;
        let blocks = matches!(known.rule, BlockRule::Blocks(_)).then_some(BlockDescription { name: known.name });
        let offset = Some(tensor.start).filter(|_| !file.is_swapped(&meta));
        let factor = file.factor(tensor, known);
        Ok(Description { blocks, factor, ..Description::new(meta, tensor.bytes, offset) })
    }

    fn stored(&self, n: usize) -> StoredMember {
        let Ok((file, n)) = self.find(n) else { return StoredMember::default() };
        let StoredTensor { shape, start, bytes, number_of_type, .. } = &file.tensors[n];
        let dtype = ItemType::numbered(*number_of_type).ok().map(|known| known.name.to_owned());
        StoredMember {
            known: KnownTensor { dtype, shape: Some(shape.clone()), bytes: Some(*bytes), offset: Some(*start) },
            bytes: Some(Box::new(Section::new(Arc::clone(&file.bytes), *start, *bytes))),
            entry: Some(format!("{number_of_type} {shape:?} {}\n", file.is_big_endian)),
            is_passed_over: file.tensor(n).is_err_and(|error| error.kind() == ErrorKind::Unsupported),
            ..StoredMember::default()
        }
    }

    fn source(&self, n: usize, label: String) -> Result<Source> {
        let (file, n) = self.find(n)?;
        let (tensor, known, meta) = file.tensor(n)?;
        let (bytes, start) = (Arc::clone(&file.bytes), tensor.start);
        let source = match &known.rule {
            BlockRule::Blocks(blocks) => {
                let swapped = if file.is_big_endian { blocks.halves.unwrap_or_default() } else { &[] };
                let (count, decode) = (meta.items() / known.items, blocks.decode);
                let items = BlockItems { bytes, start, blocks: count, item_type: known, decode, swapped };
                Source::stored(meta, Arc::new(ByUnits(items)), 0, label)?
            }
            BlockRule::Plain(_) if file.is_swapped(&meta) => {
                Source::stored(meta, Arc::new(ByUnits(SwappedWords { bytes, start })), 0, label)?
            }
            BlockRule::Plain(_) | BlockRule::Unspecified => Source::stored(meta, bytes, start, label)?,
        };
        Ok(source.one_of(Arc::clone(&file.container), n))
    }
}

/// The bytes of blocks that a thread holds at once, except from servers.
const PIECE: usize = 1 << 16;

#[derive(Debug)]
struct BlockItems {
    pub bytes: Arc<dyn ReadAt>,
    pub start: u64,
    pub blocks: usize,
    pub item_type: &'static ItemType,
    pub decode: fn(&[u8], &mut [u8]),
    /// The places in a block of float16s whose bytes are swapped.
    pub swapped: &'static [usize],
}

impl Units for BlockItems {
    fn origin(&self) -> Origin<'_> {
        Origin::Bytes(&self.bytes)
    }

    fn unit(&self) -> usize {
        self.item_type.items * size_of::<f32>()
    }

    fn size(&self) -> io::Result<u64> {
        Ok((self.blocks * self.unit()) as u64)
    }

    fn compute(&self, out: &mut [u8], first: usize) -> Result<()> {
        let most = if self.bytes.costs_requests() { READ_AHEAD } else { PIECE };
        let (bytes, mut blocks) = (self.item_type.bytes, Vec::new());
        let mut at = self.start + (first * bytes) as u64;
        for items in out.chunks_mut(most / bytes * self.unit()) {
            blocks.resize(items.len() / self.unit() * bytes, 0);
            self.bytes.read_at(&mut blocks, at)?;
            for block in blocks.chunks_exact_mut(bytes).filter(|_| !self.swapped.is_empty()) {
                self.swapped.iter().for_each(|half| block.swap(*half, half + 1));
            }
            (self.decode)(&blocks, items);
            at += blocks.len() as u64;
        }
        Ok(())
    }

    fn as_encoded(&self) -> Option<EncodedBytes<'_>> {
        let ItemType { name, items, bytes, .. } = *self.item_type;
        let rule = self.swapped.is_empty().then_some(name);
        Some(EncodedBytes { bytes: &self.bytes, start: self.start, rule, block: [items, bytes] })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::formats::gguf::types::BlockRule;
    use crate::narrow::units::ByUnits;
    use crate::storage::read_at::MemoryBytes;

    #[test]
    fn names_of_other_files() {
        let two = vec!["m-00002-of-00003.gguf".to_owned(), "m-00003-of-00003.gguf".to_owned()];
        let rows = [
            ("m-00001-of-00003.gguf", 3, Some(two)),
            ("m-00001-of-00003.gguf", 2, None),
            ("m-00002-of-00003.gguf", 3, None),
            ("m.gguf", 3, None),
            ("m-00001-of-00001.gguf", 1, Some(Vec::new())),
        ];
        for (name, files, expected) in rows {
            assert_eq!(names_of_others(name, files), expected, "{name}");
        }
    }

    const Q8_0: u32 = 8;

    #[test]
    fn bytes_from_any_place() {
        let blocks = 3 * PIECE / 34;
        let mut stored: Vec<u8> = (0..1 + blocks * 34).map(|n| (n * 37 + n / 256) as u8).collect();
        // the scales are 1
        stored[1..].chunks_exact_mut(34).for_each(|block| block[..2].copy_from_slice(&[0, 0x3c]));
        let item = |n: usize| f32::from(stored[1 + n / 32 * 34 + 2 + n % 32] as i8).to_le_bytes();
        let all: Vec<u8> = (0..blocks * 32).flat_map(item).collect();
        let item_type = ItemType::numbered(Q8_0).expect("a type");
        let BlockRule::Blocks(rule) = &item_type.rule else { panic!("q8_0 has blocks") };
        let bytes = Arc::new(MemoryBytes::new(stored));
        let view = ByUnits(BlockItems { bytes, start: 1, blocks, item_type, decode: rule.decode, swapped: &[] });
        let end = all.len();
        assert_eq!(view.size().expect("a size"), end as u64);
        for (at, len) in
            [(0, end), (1, 2), (127, 2), (128, 128), (3, 4 * PIECE + 77), (end - 5, 5), (end, 0), (500, 12 * PIECE)]
        {
            let len = len.min(end - at);
            let mut out = vec![9; len];
            view.read_at(&mut out, at as u64).expect("items");
            assert!(out == all[at..][..len], "{len} bytes from {at}");
        }
        assert!(view.read_at(&mut [0; 2], end as u64 - 1).is_err());
        assert!(view.read_at(&mut [0; 2], u64::MAX).is_err());
    }
}
