//! GGUF, the container of llama.cpp: keys with values, then the tensors, most of them in blocks of items that share
//! scales. Blocks are read as float32s.

mod block_view;
mod grid_kernels;
mod grids;
mod header;
mod kernels;
mod parts;
mod types;

use std::collections::HashSet;
use std::ffi::OsStr;
use std::io::{Cursor, Read};
use std::path::Path;
use std::sync::Arc;

use self::block_view::BlockItems;
use self::header::{Header, StoredTensor};
pub use self::header::{MAX_HEADER, MAX_KEYS, MAX_NAME, MAX_TENSORS};
pub use self::parts::MAX_FILES;
use self::parts::PartsReader;
use self::types::{ItemType, Rule};
use super::content::{BlockDescription, Content, Description, MemberFile};
use super::interface::{Confidence, Reader};
use super::swapped::{SwappedWords, needs_swap};
use super::units::ByUnits;
use crate::error::{ErrorKind, Result};
use crate::item::dtype::{DType, Kind};
use crate::item::meta::Meta;
use crate::storage::read_at::{ReadAt, Section};
use crate::storage::source::{Container, Metadata, Source};

const SCALE: &str = ".scale";

pub(super) fn sure(begin: &[u8], _: Option<u64>) -> Confidence {
    Confidence::certain_if(begin.starts_with(header::MAGIC))
}

pub(super) fn open(content: Content) -> Result<Box<dyn Reader>> {
    let name = content.path.as_deref().and_then(Path::file_name).and_then(OsStr::to_str).map(str::to_owned);
    let requests = content.requests;
    let (file, folder) = content.into_bytes()?;
    let first = GgufReader::read(file)?;
    let others = name.filter(|_| (2..=MAX_FILES).contains(&first.files));
    let others = others.and_then(|name| parts::others(&name, first.files));
    Ok(match others.zip(folder) {
        Some((others, folder)) => Box::new(PartsReader::new(first, &folder, &others, requests)),
        None => Box::new(first),
    })
}

#[derive(Debug)]
struct GgufReader {
    file: Arc<dyn ReadAt>,
    is_big_endian: bool,
    tensors: Vec<StoredTensor>,
    metadata: Arc<Metadata>,
    kept: Arc<Metadata>,
    /// The names of tensors that may be factors.
    scales: HashSet<String>,
    container: Arc<Container>,
    /// The number of files of the model.
    files: u32,
}

impl GgufReader {
    fn read(file: Arc<dyn ReadAt>) -> Result<Self> {
        let Header { is_big_endian, metadata, kept, tensors, files } = Header::read(&*file)?;
        let names: Vec<_> = tensors.iter().map(|tensor| tensor.name.clone()).collect();
        let scales = names.iter().filter(|name| name.ends_with(SCALE)).cloned().collect();
        let container = Container::new(file.identity()?, names).into();
        let (metadata, kept) = (metadata.into(), kept.into());
        Ok(Self { file, is_big_endian, tensors, metadata, kept, scales, container, files })
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

    /// The tensor as it is read, and its type.
    fn tensor(&self, n: usize) -> Result<(&StoredTensor, &'static ItemType, Meta)> {
        let tensor = &self.tensors[n];
        if let Some(fault) = &tensor.fault {
            return Err(fault.clone());
        }
        let known = ItemType::numbered(tensor.number_of_type)?;
        let dtype = match &known.rule {
            Rule::Plain(kind) => DType::from(kind.clone()),
            Rule::Blocks(_) | Rule::Unspecified => DType::from(Kind::Float32),
        };
        let dtype = if self.is_big_endian && known.items == 1 { dtype.big_endian() } else { dtype };
        Ok((tensor, known, Meta::new(dtype, tensor.shape.clone())))
    }
}

impl Reader for GgufReader {
    fn container(&self) -> Option<&Arc<Container>> {
        Some(&self.container)
    }

    fn names(&self) -> Option<&[String]> {
        Some(&self.container.names)
    }

    fn file_of(&self, _: usize) -> Result<MemberFile> {
        let (metadata, said) = (Some(Arc::clone(&self.kept)), Some(Arc::clone(&self.metadata)));
        Ok(MemberFile { metadata, said, ..MemberFile::default() })
    }

    fn describe(&self, n: usize) -> Result<Description> {
        let (tensor, known, meta) = self.tensor(n)?;
        let blocks = matches!(known.rule, Rule::Blocks(_)).then_some(BlockDescription { name: known.name });
        let offset = Some(tensor.start).filter(|_| !self.is_swapped(&meta));
        let factor = self.factor(tensor, known);
        Ok(Description { blocks, factor, ..Description::new(meta, tensor.bytes, offset) })
    }

    fn is_passed_over(&self, n: usize) -> bool {
        self.tensor(n).is_err_and(|error| error.kind() == ErrorKind::Unsupported)
    }

    fn raw(&self, n: usize) -> Option<Box<dyn Read>> {
        let StoredTensor { start, bytes, .. } = self.tensors[n];
        Some(Box::new(Section::new(Arc::clone(&self.file), start, bytes)))
    }

    fn whole(&self, n: usize) -> Option<Box<dyn Read>> {
        let StoredTensor { number_of_type, shape, .. } = &self.tensors[n];
        let said = format!("{number_of_type} {shape:?} {}\n", self.is_big_endian);
        Some(Box::new(Cursor::new(said).chain(self.raw(n)?)))
    }

    fn source(&self, n: usize, label: String) -> Result<Source> {
        let (tensor, known, meta) = self.tensor(n)?;
        let bytes = Arc::clone(&self.file);
        let source = match &known.rule {
            Rule::Blocks(blocks) => {
                let swapped = if self.is_big_endian { blocks.halves.unwrap_or_default() } else { &[] };
                let items = BlockItems {
                    bytes,
                    start: tensor.start,
                    blocks: meta.items() / known.items,
                    item_type: known,
                    decode: blocks.decode,
                    swapped,
                };
                Source::stored(meta, Arc::new(ByUnits(items)), 0, label)?
            }
            Rule::Plain(_) if self.is_swapped(&meta) => {
                Source::stored(meta, Arc::new(ByUnits(SwappedWords { bytes, start: tensor.start })), 0, label)?
            }
            Rule::Plain(_) | Rule::Unspecified => Source::stored(meta, bytes, tensor.start, label)?,
        };
        Ok(source.one_of(Arc::clone(&self.container), n))
    }

    fn blocks(&self, n: usize, label: String) -> Result<Option<Source>> {
        let (tensor, known, mut meta) = self.tensor(n)?;
        if !matches!(known.rule, Rule::Blocks(_)) {
            return Ok(None);
        }
        if let Some(row) = meta.shape.last_mut() {
            *row = *row / known.items * known.bytes;
        }
        meta.dtype = DType::from(Kind::UInt8);
        let source = Source::stored(meta, Arc::clone(&self.file), tensor.start, label)?;
        Ok(Some(source.one_of(Arc::clone(&self.container), n)))
    }
}
