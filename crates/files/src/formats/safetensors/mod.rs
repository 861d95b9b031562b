//! safetensors: a JSON header, then little-endian items in C order. The `safetensors` crate checks that the data has
//! no holes or overlaps; the parser here also finds duplicate names in one pass.

pub(crate) mod entries;

use std::collections::HashSet;
use std::sync::Arc;

use safetensors::Dtype;
use safetensors::tensor::{self, TensorInfo};
use tensorop_kernels::error::{Advice, Context, Error, Result, Subject, bail, ensure, malformed};

pub use self::entries::MAX_MEMBERS;
use self::entries::{Entries, Entry, METADATA, read_entries};
use crate::container::content::{Content, Description, KnownTensor};
use crate::container::file_options::LayoutRequest;
use crate::container::interface::{
    Confidence, ItemsPlace, Layout, Members, Places, ReadableFile, Reader, StoredMember, Writer,
};
use crate::narrow::packed::{self, bits, bytes_of_items};
use crate::storage::read_at::{ReadAt, Section};
use crate::storage::source::{Container, FileMetadata, Metadata, Source, wrong_length};
use crate::untyped::python_json::one_line;
use tensorop_kernels::item::dtype::{DType, Kind, Narrow};
use tensorop_kernels::item::meta::Meta;
use tensorop_kernels::item::python;
use tensorop_kernels::layout::axis::{MAX_RANK, bytes_of};
use tensorop_kernels::memory;

/// The format's limit on the header, in bytes.
pub const MAX_HEADER: u64 = 100_000_000;

/// The header length, before the JSON.
const PREFIX: u64 = 8;

const DTYPES: &[(Dtype, Kind)] = &[
    (Dtype::BOOL, Kind::Bool),
    (Dtype::F4, Kind::Narrow(Narrow::Float4E2M1FN)),
    (Dtype::F6_E2M3, Kind::Narrow(Narrow::Float6E2M3FN)),
    (Dtype::F6_E3M2, Kind::Narrow(Narrow::Float6E3M2FN)),
    (Dtype::U8, Kind::UInt8),
    (Dtype::I8, Kind::Int8),
    (Dtype::F8_E5M2, Kind::Narrow(Narrow::Float8E5M2)),
    (Dtype::F8_E4M3, Kind::Narrow(Narrow::Float8E4M3FN)),
    (Dtype::F8_E8M0, Kind::Narrow(Narrow::Float8E8M0FNU)),
    (Dtype::F8_E4M3FNUZ, Kind::Narrow(Narrow::Float8E4M3FNUZ)),
    (Dtype::F8_E5M2FNUZ, Kind::Narrow(Narrow::Float8E5M2FNUZ)),
    (Dtype::I16, Kind::Int16),
    (Dtype::U16, Kind::UInt16),
    (Dtype::F16, Kind::Float16),
    (Dtype::BF16, Kind::BFloat16),
    (Dtype::I32, Kind::Int32),
    (Dtype::U32, Kind::UInt32),
    (Dtype::F32, Kind::Float32),
    (Dtype::C64, Kind::Complex64),
    (Dtype::F64, Kind::Float64),
    (Dtype::I64, Kind::Int64),
    (Dtype::U64, Kind::UInt64),
];

/// Returns whether a file begins with a possible header length and a brace.
pub fn is_safetensors(begin: &[u8], file_len: Option<u64>) -> bool {
    let Some((length, rest)) = begin.split_first_chunk() else { return false };
    let length = u64::from_le_bytes(*length);
    let after_prefix = file_len.map_or(u64::MAX, |bytes| bytes.saturating_sub(PREFIX));
    begins_with_brace(rest) && length <= MAX_HEADER.min(after_prefix)
}

/// The crate accepts blanks before the brace.
fn begins_with_brace(header: &[u8]) -> bool {
    header.trim_ascii_start().starts_with(b"{")
}

/// One tensor of a file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct HeaderMember {
    pub name: String,
    /// The tensor, or why its entry is unreadable: other tensors stay readable.
    pub meta: Result<Meta, String>,
    /// Where the items begin in the file.
    pub offset: u64,
    pub bytes: u64,
}

/// The header of a file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct HeaderIndex {
    /// By offset.
    pub members: Vec<HeaderMember>,
    pub metadata: Arc<Metadata>,
}

impl HeaderMember {
    /// Returns the tensor.
    ///
    /// # Errors
    /// Its entry is unreadable.
    pub fn meta(&self) -> Result<&Meta> {
        self.meta.as_ref().map_err(|why| malformed!("{why}"))
    }
}

impl HeaderIndex {
    /// Reads and checks the header.
    ///
    /// # Errors
    /// The header is malformed, unreadable or too long, or does not fit the data.
    pub fn read(file: &dyn ReadAt) -> Result<Self> {
        let file_len = file.size()?;
        let after_prefix = file_len.checked_sub(PREFIX);
        let after_prefix =
            after_prefix.ok_or_else(|| malformed!("{file_len} bytes, expected the {PREFIX} of a header's length"))?;
        let mut length = [0; PREFIX as usize];
        file.read_at(&mut length, 0)?;
        let length = u64::from_le_bytes(length);
        ensure!(length <= MAX_HEADER, "a header of {length} bytes, expected at most {MAX_HEADER}");
        ensure!(
            length <= after_prefix,
            "a header of {length} bytes, and {after_prefix} bytes in the file after its length"
        );
        let mut text = memory::zeros(usize::try_from(length)?)?;
        file.read_at(&mut text, PREFIX)?;
        Self::parse(&text, after_prefix - length)
    }

    fn parse(text: &[u8], data_len: u64) -> Result<Self> {
        ensure!(begins_with_brace(text), "a safetensors header that does not begin with {{");
        let text_len = text.len() as u64;
        let text = std::str::from_utf8(text).map_err(|error| malformed!("header: {error}"))?;
        // Fails early if memory is short: some hundred bytes for each tensor, or a few for each byte of a short
        // header.
        let entries = text.len().min(MAX_MEMBERS * 60).saturating_mul(12);
        drop(memory::with_capacity::<u8>(text.len().saturating_mul(4).saturating_add(entries))?);
        let Entries { mut entries, metadata } =
            read_entries(text).map_err(|error| malformed!("header: {}", one_line(&error)))?;
        entries.sort_by_key(|(_, entry)| entry.info.data_offsets);
        let mut names = HashSet::with_capacity(entries.len());
        let mut end = 0;
        let mut members = Vec::with_capacity(entries.len());
        for (name, entry) in &mut entries {
            let name: &str = name;
            let quoted = || python::repr_str(name);
            ensure!(names.insert(name), "the header names {} twice", quoted());
            let member = member(name, entry, PREFIX + text_len).with_context(quoted)?;
            let (begin, next) = entry.info.data_offsets;
            ensure!(begin == end, "{} begins at byte {begin} of the data, expected {end}", quoted());
            end = next;
            if let Err(why) = &member.meta {
                *entry = Entry::unreadable(entry.info.data_offsets, why.clone());
            }
            members.push(member);
        }
        drop(names);
        // the crate makes the final check
        let entries = entries.into_iter().map(|(name, entry)| (name, entry.info));
        let checked = tensor::Metadata::new(None, entries.collect()).map_err(|error| malformed!("{error}"))?;
        let expected = checked.data_len() as u64;
        ensure!(data_len == expected, "{data_len} bytes of data, expected {expected} by the header");
        Ok(Self { members, metadata: metadata.into() })
    }

    /// Returns the items of tensor `n`, unpacked by a stream if necessary.
    ///
    /// # Errors
    /// The items have 6 bits, whose order is unspecified, or reading fails.
    ///
    /// # Panics
    /// `n` is out of range.
    pub fn source(&self, file: &Arc<dyn ReadAt>, n: usize, label: String) -> Result<Source> {
        let member = &self.members[n];
        let (meta, offset) = (member.meta()?, member.offset);
        if bits(&meta.dtype) < 8 && !stores(&meta.dtype) {
            bail!("items of dtype {} are packed in an order that safetensors does not define", meta.dtype.name());
        }
        packed::source(meta.clone(), file, offset, label)
    }
}

/// The data begins at byte `data` of the file.
fn member(name: &str, entry: &Entry, data: u64) -> Result<HeaderMember> {
    let (begin, end) = entry.info.data_offsets;
    let offset = data.checked_add(begin as u64).context("begins beyond the end of any file")?;
    let bytes = end.checked_sub(begin).ok_or_else(|| malformed!("data from byte {begin} to byte {end}"))? as u64;
    let meta = match &entry.unreadable {
        Some(why) => Err(why.clone()),
        None => meta(&entry.info, bytes).map_err(|error| error.message().to_owned()),
    };
    Ok(HeaderMember { name: name.to_owned(), meta, offset, bytes })
}

fn meta(TensorInfo { dtype, shape, .. }: &TensorInfo, bytes: u64) -> Result<Meta> {
    let kind = DTYPES.iter().find(|(known, _)| known == dtype).map(|(_, kind)| kind.clone());
    let dtype = DType::from(kind.ok_or_else(|| malformed!("dtype {dtype} is not known"))?);
    ensure!(shape.len() <= MAX_RANK, "{} axes, expected at most {MAX_RANK}", shape.len());
    let expected = bytes_of_shape(&dtype, shape)?;
    let meta = Meta::c_order(dtype, shape.clone());
    ensure!(bytes == expected, "{}", wrong_length(bytes, expected, &meta));
    Ok(meta)
}

/// Tensors share no byte, so packed items must fill their bytes.
pub(crate) fn bytes_of_shape(dtype: &DType, shape: &[usize]) -> Result<u64> {
    let items = bytes_of(shape, dtype.itemsize())
        .ok_or_else(|| malformed!("shape {shape:?} is larger than memory can be"))?
        / dtype.itemsize().max(1);
    // 8 items fill their bytes for every item size
    if !((items % 8) * bits(dtype) as usize).is_multiple_of(8) {
        bail!("{items} items of {} bits ({} {shape:?}) do not fill their bytes", bits(dtype), dtype.name());
    }
    Ok(bytes_of_items(dtype, items))
}

/// Checks that safetensors can hold a dtype.
///
/// # Errors
/// The format lacks the dtype or the order of its bits.
pub fn check(dtype: &DType) -> Result<(), Error> {
    if stores(dtype) {
        return Ok(());
    }
    let message = format!("safetensors cannot hold items of dtype {}", dtype.name());
    Err(dtype.advise(Error::new(Subject::Output, message).advising(Advice::WriteNpy)))
}

fn stores(dtype: &DType) -> bool {
    bits(dtype) != 6 && format_dtype(dtype).is_some()
}

fn format_dtype(dtype: &DType) -> Option<Dtype> {
    DTYPES.iter().find(|(_, kind)| kind == dtype.kind()).map(|(known, _)| *known)
}

/// Returns the header bytes, and where the items of each of `members` begin.
///
/// Header and order (widest alignment first, then by name) equal those of Python's `safetensors.numpy.save_file`, but
/// `metadata` is sorted.
///
/// # Errors
/// A dtype fails [`check`], a name is reserved or duplicate, 4-bit items are odd in number, or rank, header or file
/// is too large.
pub fn write_header(members: &[(String, Meta)], metadata: &Metadata) -> Result<(Vec<u8>, Vec<u64>)> {
    let mut sorted = Vec::with_capacity(members.len());
    for (n, (name, Meta { dtype, shape, .. })) in members.iter().enumerate() {
        check(dtype).map_err(Error::about_file)?;
        let format_dtype = format_dtype(dtype).expect("`check` refuses dtypes that the format lacks");
        ensure!(name != METADATA, "safetensors keeps the name {METADATA} for itself");
        ensure!(shape.len() <= MAX_RANK, "{} axes, expected at most {MAX_RANK}", shape.len());
        sorted.push((format_dtype, name, n, bytes_of_shape(dtype, shape)?, shape));
    }
    sorted.sort_by(|a, b| b.0.cmp(&a.0).then_with(|| a.1.cmp(b.1)));
    let mut names = HashSet::with_capacity(sorted.len());
    let mut entries = Vec::with_capacity(sorted.len());
    let mut offsets = vec![0; sorted.len()];
    let mut end = 0_usize;
    for (dtype, name, n, bytes, shape) in sorted {
        ensure!(names.insert(name), "two tensors named {}", python::repr_str(name));
        let begin = end;
        let fits = usize::try_from(bytes).ok().and_then(|bytes| begin.checked_add(bytes));
        end = fits.filter(|end| i64::try_from(*end).is_ok()).context("more bytes than a file can have")?;
        offsets[n] = begin as u64;
        entries.push((name.clone(), TensorInfo { dtype, shape: shape.clone(), data_offsets: (begin, end) }));
    }
    let json = tensor::Metadata::new(None, entries).map_err(|error| malformed!("{error}"))?;
    let mut json = serde_json::to_vec(&json).map_err(|error| malformed!("{error}"))?;
    if !metadata.is_empty() {
        let metadata = serde_json::to_string(metadata).map_err(|error| malformed!("{error}"))?;
        // the crate's order is random, but equal commands must write equal bytes
        let comma = if json == b"{}" { "" } else { "," };
        json.splice(1..1, format!("\"{METADATA}\":{metadata}{comma}").into_bytes());
    }
    json.resize(json.len().next_multiple_of(PREFIX as usize), b' ');
    let length = json.len() as u64;
    ensure!(length <= MAX_HEADER, "a header of {length} bytes, expected at most {MAX_HEADER}");
    offsets.iter_mut().for_each(|offset| *offset += PREFIX + length);
    let mut out = length.to_le_bytes().to_vec();
    out.extend(json);
    Ok((out, offsets))
}

pub(crate) fn sure(begin: &[u8], len: Option<u64>) -> Confidence {
    if is_safetensors(begin, len) {
        return Confidence::Certain;
    }
    // The reader explains truncation best. Most lengths contain a NUL byte, unlike text.
    match begin.split_at_checked(PREFIX as usize) {
        Some((length, header)) if length.contains(&0) && begins_with_brace(header) => Confidence::Likely,
        Some(_) | None => Confidence::No,
    }
}

pub(crate) fn open(content: Content) -> Result<ReadableFile> {
    SafetensorsReader::open(content.into_bytes()?.0)
}

#[derive(Debug)]
pub(crate) struct SafetensorsReader {
    file: Arc<dyn ReadAt>,
    index: HeaderIndex,
}

impl SafetensorsReader {
    pub(crate) fn open(file: Arc<dyn ReadAt>) -> Result<ReadableFile> {
        let header = HeaderIndex::read(&*file)?;
        let names = header.members.iter().map(|member| member.name.clone()).collect();
        let texts = || Arc::clone(&header.metadata);
        let metadata = FileMetadata { format: "safetensors", shown: texts(), kept: texts(), exact: texts() };
        let metadata = Some(metadata.into());
        let members = Members::of(Container { metadata, ..Container::new(file.identity()?, names) });
        Ok(ReadableFile::new(members, Self { file, index: header }))
    }
}

impl Reader for SafetensorsReader {
    fn describe(&self, n: usize) -> Result<Description> {
        let member = &self.index.members[n];
        Ok(Description::new(member.meta()?.clone(), member.bytes, Some(member.offset)))
    }

    fn stored(&self, n: usize) -> StoredMember {
        let HeaderMember { offset, bytes, .. } = self.index.members[n];
        StoredMember {
            known: KnownTensor { bytes: Some(bytes), offset: Some(offset), ..KnownTensor::default() },
            bytes: Some(Box::new(Section::new(Arc::clone(&self.file), offset, bytes))),
            ..StoredMember::default()
        }
    }

    fn source(&self, n: usize, label: String) -> Result<Source> {
        self.index.source(&self.file, n, label)
    }
}

#[derive(Debug)]
pub(crate) struct SafetensorsWriter;

impl Writer for SafetensorsWriter {
    fn check(&self, dtype: &DType) -> Result<()> {
        check(dtype)
    }

    fn layout(&self, tensors: &[(&str, &Meta)], request: &LayoutRequest<'_>) -> Result<Layout> {
        let member = |(name, meta): &(&str, &Meta)| ((*name).to_owned(), (*meta).clone());
        let (header, starts) = write_header(
            &tensors.iter().map(member).collect::<Vec<_>>(),
            &request.options.metadata_with(request.inherited),
        )?;
        let place = |(start, (_, meta)): (u64, &(&str, &Meta))| ItemsPlace::packed(start, meta);
        Ok(Layout::Places(Places::new(header, starts.into_iter().zip(tensors).map(place).collect())))
    }
}

#[cfg(test)]
mod tests;
