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
use crate::storage::read_at::{Identity, ReadAt, Section};
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
    SafetensorsReader::open(content.into_bytes()?.0, None)
}

#[derive(Debug)]
pub(crate) struct SafetensorsReader {
    file: Arc<dyn ReadAt>,
    index: HeaderIndex,
}

impl SafetensorsReader {
    pub(crate) fn open(file: Arc<dyn ReadAt>, index: Option<Identity>) -> Result<ReadableFile> {
        let header = HeaderIndex::read(&*file)?;
        let names = header.members.iter().map(|member| member.name.clone()).collect();
        let texts = || Arc::clone(&header.metadata);
        let metadata = FileMetadata { format: "safetensors", shown: texts(), kept: texts(), exact: texts() };
        let metadata = Some(metadata.into());
        let members = Members::of(Container { metadata, index, ..Container::new(file.identity()?, names) });
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
mod tests {
    use super::*;
    use crate::storage::read_at::MemoryBytes;
    use crate::storage::source::Hold;
    use tensorop_kernels::parallel::Threads;

    fn stored(json: &str, items: usize) -> Vec<u8> {
        [&(json.len() as u64).to_le_bytes()[..], json.as_bytes(), &vec![0; items]].concat()
    }

    fn read(bytes: &[u8]) -> Result<Vec<Vec<u8>>> {
        let file: Arc<dyn ReadAt> = Arc::new(MemoryBytes::new(bytes));
        let index = HeaderIndex::read(&*file)?;
        let items = |n| {
            let mut source = index.source(&file, n, "x".to_owned())?;
            source.hold(Hold::Seekable, Threads::default())?;
            let mut out = vec![0; source.bytes()];
            source.read(&source.view(), &mut out, &mut Default::default())?;
            Ok(out)
        };
        (0..index.members.len()).map(items).collect()
    }

    #[test]
    fn refusals() {
        let one = |dtype: &str, shape: &str, begin: &str, end: &str| {
            format!(r#"{{"a":{{"dtype":"{dtype}","shape":{shape},"data_offsets":[{begin},{end}]}}}}"#)
        };
        let two = |a: &str, b: &str| {
            let info = |place: &str| format!(r#"{{"dtype":"U8","shape":[2],"data_offsets":{place}}}"#);
            format!(r#"{{"a":{},"b":{}}}"#, info(a), info(b))
        };
        let tensor = r#"{"dtype":"U8","shape":[2],"data_offsets":[0,2]}"#;
        let axes = format!("[{}]", ["1"; 65].join(","));
        let rows: &[(String, usize, &str)] = &[
            (String::new(), 0, "a safetensors header that does not begin with {"),
            ("[]".to_owned(), 0, "a safetensors header that does not begin with {"),
            (" {".to_owned(), 0, "EOF while parsing"),
            ("{} x".to_owned(), 0, "trailing characters"),
            ("{\"a\":".to_owned(), 0, "EOF while parsing"),
            ("{}".to_owned(), 1, "1 bytes of data, expected 0 by the header"),
            (one("U8", "[2]", "0", "2"), 1, "1 bytes of data, expected 2 by the header"),
            (one("U8", "[2]", "0", "2"), 3, "3 bytes of data, expected 2 by the header"),
            (one("U8", "[2]", "0", "3"), 3, "3 bytes of data, expected 2 (uint8 [2])"),
            (one("F32", "[2]", "0", "2"), 2, "2 bytes of data, expected 8 (float32 [2])"),
            (one("U8", "[2]", "1", "3"), 3, "'a' begins at byte 1 of the data, expected 0"),
            (one("U8", "[2]", "2", "0"), 2, "'a': data from byte 2 to byte 0"),
            (one("U8", "[-1]", "0", "2"), 2, "invalid value: integer `-1`"),
            (one("U8", "[2.5]", "0", "2"), 2, "invalid type: floating point"),
            (one("U8", "2", "0", "2"), 2, "invalid type: integer `2`"),
            (one("U8", "[2]", "0", "18446744073709551616"), 2, "invalid type: floating point"),
            (one("X8", "[2]", "0", "2"), 2, "dtype 'X8' is not known"),
            (one("X8", "[2]", "2", "0"), 2, "'a': data from byte 2 to byte 0"),
            (one("X8", "[2]", "0", "2"), 3, "3 bytes of data, expected 2 by the header"),
            (one("U8\",\"dtype\":\"X8", "[2]", "0", "2"), 2, "dtype occurs twice"),
            (r#"{"a":{"dtype":8,"shape":[2],"data_offsets":[0,2]}}"#.to_owned(), 2, "invalid type: integer `8`"),
            (one("U8", "[4294967296,4294967296]", "0", "2"), 2, "is larger than memory can be"),
            (one("U8", "[0,4294967296,4294967296]", "0", "0"), 0, "is larger than memory can be"),
            (one("U8", &axes, "0", "1"), 1, "65 axes, expected at most 64"),
            (one("F4", "[3]", "0", "2"), 2, "3 items of 4 bits (float4_e2m1fn [3]) do not fill their bytes"),
            (one("F6_E2M3", "[2]", "0", "2"), 2, "2 items of 6 bits (float6_e2m3fn [2]) do not fill their bytes"),
            (one("F6_E3M2", "[4]", "0", "3"), 3, "packed in an order that safetensors does not define"),
            (two("[0,2]", "[1,3]"), 3, "'b' begins at byte 1 of the data, expected 2"),
            (two("[0,2]", "[3,5]"), 5, "'b' begins at byte 3 of the data, expected 2"),
            (two("[0,2]", "[0,2]"), 2, "'b' begins at byte 0 of the data, expected 2"),
            (format!(r#"{{"a":{tensor},"a":{tensor}}}"#), 2, "the header names 'a' twice"),
            (format!(r#"{{"a":{tensor},"\u0061":{tensor}}}"#), 2, "the header names 'a' twice"),
            (r#"{"__metadata__":{},"__metadata__":{}}"#.to_owned(), 0, "__metadata__ occurs twice"),
            (r#"{"__metadata__":{"a":1}}"#.to_owned(), 0, "'__metadata__': invalid type: integer `1`"),
            (format!(r#"{{"__metadata__":{tensor}}}"#), 0, "'__metadata__': invalid type: sequence"),
            (r#"{"a":{"dtype":"U8","shape":[2]}}"#.to_owned(), 2, "'a': missing field `data_offsets`"),
            (r#"{"a":{"dtype":"U8","dtype":"U8"}}"#.to_owned(), 2, "'a': dtype occurs twice"),
        ];
        let mut failures = Vec::new();
        for (json, items, expected) in rows {
            match read(&stored(json, *items)) {
                Ok(_) => failures.push(format!("{json}: read")),
                Err(error) => {
                    let message = format!("{error:#}");
                    if !message.contains(expected) || message.contains('\n') {
                        failures.push(format!("{json}: {message}"));
                    }
                }
            }
        }
        let lengths: &[(&[u8], &str)] = &[
            (b"", "0 bytes, expected the 8 of a header's length"),
            (&[2, 0, 0, 0, 0, 0, 0], "7 bytes, expected the 8 of a header's length"),
            (&[2, 0, 0, 0, 0, 0, 0, 0, b'{'], "a header of 2 bytes, and 1 bytes in the file after its length"),
            (&[0, 0, 0, 0, 0, 0, 0, 1, b'{'], "a header of 72057594037927936 bytes, expected at most 100000000"),
        ];
        for (bytes, expected) in lengths {
            let found = read(bytes).map_or_else(|error| format!("{error:#}"), |_| "read".to_owned());
            if found != *expected {
                failures.push(format!("{bytes:?}: {found}"));
            }
        }
        assert!(failures.is_empty(), "{failures:#?}");
    }

    #[test]
    fn valid_files() {
        let rows: &[(&str, usize, &[&str])] = &[
            ("{}", 0, &[]),
            (r#"{"__metadata__":{"a":"b"}}   "#, 0, &[]),
            (r#"{"__metadata__":null}"#, 0, &[]),
            (
                r#"{"b":{"dtype":"U8","shape":[2],"data_offsets":[1,3]},"z":{"dtype":"U8","shape":[0],"data_offsets":[1,1]},
                    "a":{"dtype":"BOOL","shape":[],"data_offsets":[0,1],"more":[1,{"a":2}]}}"#,
                3,
                &["a", "z", "b"],
            ),
        ];
        let mut failures = Vec::new();
        for (json, items, names) in rows {
            match HeaderIndex::read(&MemoryBytes::new(stored(json, *items))) {
                Ok(index) if index.members.iter().map(|member| &*member.name).eq(names.iter().copied()) => {}
                found => failures.push(format!("{json}: {found:?}")),
            }
        }
        assert!(failures.is_empty(), "{failures:#?}");
    }

    #[test]
    fn a_tensor_that_cannot_be_read_stops_no_other() {
        let good = r#""good":{"dtype":"U8","shape":[2],"data_offsets":[0,2]}"#;
        let rows = [
            (r#"{"dtype":"U8","shape":[-1],"data_offsets":[2,4]}"#, "invalid value: integer `-1`, expected usize"),
            (r#"{"dtype":"U8","shape":[3],"data_offsets":[2,4]}"#, "2 bytes of data, expected 3 (uint8 [3])"),
            (r#"{"dtype":"U8","data_offsets":[2,4]}"#, "missing field `shape`"),
            (r#"{"shape":[2],"data_offsets":[2,4]}"#, "missing field `dtype`"),
            (r#"{"dtype":["U8"],"shape":[2],"data_offsets":[2,4]}"#, "invalid type: sequence, expected a string"),
            (r#"{"dtype":"U8","shape":[2],"shape":[1,2],"data_offsets":[2,4]}"#, "shape occurs twice"),
            (r#"{"dtype":"X9","shape":[2],"data_offsets":[2,4]}"#, "dtype 'X9' is not known"),
        ];
        for (bad, why) in rows {
            let file: Arc<dyn ReadAt> = Arc::new(MemoryBytes::new(stored(&format!("{{\"bad\":{bad},{good}}}"), 4)));
            let index = HeaderIndex::read(&*file).expect(bad);
            let found = index.members.iter().map(|member| (&*member.name, member.offset, member.bytes));
            let data = 8 + bad.len() as u64 + good.len() as u64 + 9;
            assert!(found.eq([("good", data, 2), ("bad", data + 2, 2)]), "{bad}: {:?}", index.members);
            assert!(index.source(&file, 0, String::new()).is_ok());
            let error = index.source(&file, 1, String::new()).expect_err(bad).to_string();
            assert!(error.contains(why) && !error.contains('\n'), "{bad}: {error}");
        }
    }

    #[test]
    fn damaged_files() {
        let entry = |name: &str, dtype: &str, shape: &[usize]| {
            (name.to_owned(), Meta::c_order(DType::parse(dtype).unwrap(), shape.to_vec()))
        };
        let members = [entry("a", "float32", &[2]), entry("b", "float4_e2m1fn", &[3, 2]), entry("c", "bool", &[])];
        let (mut bytes, offsets) = write_header(&members, &Metadata::new()).unwrap();
        assert_eq!(offsets.iter().max(), Some(&(bytes.len() as u64 + 11)));
        bytes.extend([7; 8 + 1 + 3]);
        assert_eq!(read(&bytes).unwrap(), [vec![7; 8], vec![7, 0, 7, 0, 7, 0], vec![7]]);
        for end in 0..bytes.len() {
            assert!(read(&bytes[..end]).is_err(), "{end} bytes");
        }
        for at in 0..bytes.len() {
            for flip in (0..8).map(|bit| 1 << bit).chain([0xff]) {
                let mut damaged = bytes.clone();
                damaged[at] ^= flip;
                let _ = read(&damaged);
            }
        }
    }

    #[test]
    fn what_looks_like_one() {
        let begin = |length: u64, next: &str| [&length.to_le_bytes()[..], next.as_bytes()].concat();
        let rows: &[(Vec<u8>, Option<u64>, bool)] = &[
            (begin(2, "{}"), Some(10), true),
            (begin(2, "{"), None, true),
            (begin(2, "{}"), Some(9), false),
            (begin(2, ""), None, false),
            (begin(2, "[]"), None, false),
            (begin(MAX_HEADER, "{"), None, true),
            (begin(MAX_HEADER + 1, "{"), None, false),
            (b"{\"data\": {}}".to_vec(), None, false),
            (Vec::new(), None, false),
        ];
        let wrong = rows.iter().filter(|(begin, len, expected)| is_safetensors(begin, *len) != *expected);
        assert_eq!(wrong.collect::<Vec<_>>(), Vec::<&(Vec<u8>, Option<u64>, bool)>::new());
    }

    #[test]
    fn what_cannot_be_written() {
        let entry = |name: &str, dtype: &str, shape: &[usize]| {
            (name.to_owned(), Meta::c_order(DType::parse(dtype).unwrap(), shape.to_vec()))
        };
        let huge = isize::MAX as usize;
        let rows = [
            (vec![entry("a", "complex128", &[])], "safetensors cannot hold items of dtype complex128"),
            (vec![entry("a", "<U3", &[])], "safetensors cannot hold items of dtype <U3"),
            (vec![entry("a", "int4", &[])], "safetensors cannot hold items of dtype int4"),
            (vec![entry("a", "float6_e2m3fn", &[4])], "safetensors cannot hold items of dtype float6_e2m3fn"),
            (vec![entry("a", "float4_e2m1fn", &[3])], "3 items of 4 bits (float4_e2m1fn [3]) do not fill their bytes"),
            (vec![entry("a", "bool", &[]), entry("a", "int8", &[])], "two tensors named 'a'"),
            (vec![entry("__metadata__", "bool", &[])], "safetensors keeps the name __metadata__ for itself"),
            (vec![entry("a", "bool", &[1; 65])], "65 axes, expected at most 64"),
            (vec![entry("a", "bool", &[huge]), entry("b", "bool", &[huge])], "more bytes than a file can have"),
        ];
        let mut failures = Vec::new();
        for (members, expected) in rows {
            let found = write_header(&members, &Metadata::new())
                .map_or_else(|error| format!("{error:#}"), |_| "written".to_owned());
            if found != expected {
                failures.push(found);
            }
        }
        assert!(failures.is_empty(), "{failures:#?}");
    }
}
