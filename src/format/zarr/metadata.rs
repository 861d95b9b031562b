//! The metadata of a store, which is read from `zarr.json` in version 3, and from `.zarray`, `.zattrs` and `.zgroup` in
//! version 2.
//!
//! Both versions become one [`ArrayMetadata`]. Whatever could go wrong later with the numbers in it is refused here: sides of
//! 0, ranks that differ, more than memory could address, chunks that do not fill their shard.

use std::sync::Arc;

use serde::Deserialize;
use serde_json::value::RawValue;
use serde_json::{Map, Value, json};

use super::codecs::{self, Chain, named};
use super::dtypes::{self, shortened};
use crate::error::{Context, Error, ErrorKind, Result, bail, ensure, malformed};
use crate::item::dtype::DType;
use crate::item::meta::Meta;
use crate::layout::shape::{MAX_RANK, bytes_of};
use crate::layout::window::Window;
use crate::storage::chunked::ChunkStyle;
use crate::storage::key_store::{ReadableStore, join};

/// The key of the metadata of an array or a group in version 3.
pub(super) const V3: &str = "zarr.json";

/// The keys of the metadata of an array and of a group in version 2.
pub(super) const V2_ARRAY: &str = ".zarray";
pub(super) const V2_GROUP: &str = ".zgroup";

/// The key of the attributes of either in version 2.
const V2_ATTRIBUTES: &str = ".zattrs";

/// The most bytes of metadata that are read.
const MOST_BYTES: u64 = 1 << 26;

/// What the metadata says of an array.
#[derive(Debug)]
pub(super) struct ArrayMetadata {
    /// The dtype and the dims of the tensor.
    pub(super) meta: Meta,
    /// How the tensor is stored.
    pub(super) style: Arc<ChunkStyle>,
    /// What packs its chunks.
    pub(super) chain: Chain,
    /// How shards are laid out, if there are shards.
    pub(super) shards: Option<Shards>,
    pub(super) keys: Keys,
    /// The name of the file that this was read from.
    pub(super) file: &'static str,
}

impl ArrayMetadata {
    /// Returns the key of the unit in which a box lies, from the array's prefix on.
    pub(super) fn key(&self, window: &Window) -> String {
        let place = window.ranges.iter().zip(&self.style.unit).map(|(range, unit)| range.start / unit);
        self.keys.of(&place.collect::<Vec<_>>())
    }
}

/// How chunks lie in a shard.
#[derive(Debug)]
pub(super) struct Shards {
    /// How many chunks there are along each axis.
    pub(super) counts: Vec<usize>,
    /// Whether the index stands before the chunks.
    pub(super) at_start: bool,
    /// Whether a check sum follows the index.
    pub(super) has_checksum: bool,
    /// Whether the numbers of the index have their highest byte first.
    pub(super) big_endian: bool,
}

impl Shards {
    /// Returns the size of the index in bytes.
    pub(super) fn index_bytes(&self) -> usize {
        self.counts.iter().product::<usize>() * 16 + if self.has_checksum { 4 } else { 0 }
    }
}

/// How the key of a unit follows from its place in the grid.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Keys {
    /// Keys such as `c/1/2`, with this character between the numbers.
    Default(char),
    /// Keys such as `1.2`, with this character between the numbers.
    V2(char),
}

impl Keys {
    /// Returns the key of the unit at a place of the grid, from the array's prefix on.
    fn of(self, at: &[usize]) -> String {
        let numbers =
            |separator: char| at.iter().map(usize::to_string).collect::<Vec<_>>().join(&separator.to_string());
        match self {
            Self::Default(_) if at.is_empty() => "c".to_owned(),
            Self::Default(separator) => format!("c{separator}{}", numbers(separator)),
            Self::V2(_) if at.is_empty() => "0".to_owned(),
            Self::V2(separator) => numbers(separator),
        }
    }
}

/// What a prefix is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Node {
    Array,
    Group,
}

/// Returns what the metadata at a prefix says that it is, or `None` if there is none.
///
/// # Errors
/// Metadata that is not in order.
pub(super) fn node(store: &dyn ReadableStore, prefix: &str) -> Result<Option<Node>> {
    if let Some(text) = read(store, prefix, V3)? {
        #[derive(Deserialize)]
        struct NodeHead {
            zarr_format: Option<u64>,
            node_type: Option<String>,
        }
        let head: NodeHead = parse(&text).context(V3)?;
        ensure!(head.zarr_format == Some(3), "{V3}: zarr_format is not 3");
        return match head.node_type.as_deref() {
            Some("array") => Ok(Some(Node::Array)),
            Some("group") => Ok(Some(Node::Group)),
            _ => bail!("{V3}: node_type is neither array nor group"),
        };
    }
    let is_there = |name: &str| Ok::<_, Error>(store.open(&join(prefix, name)).context(name)?.is_some());
    Ok(match (is_there(V2_ARRAY)?, is_there(V2_GROUP)?) {
        (true, _) => Some(Node::Array),
        (false, true) => Some(Node::Group),
        (false, false) => None,
    })
}

/// Returns the attributes of a group, as they stand there, or `None` if there are none.
///
/// # Errors
/// What is not in order; the file is named.
pub(super) fn group_attributes(store: &dyn ReadableStore, prefix: &str) -> Result<Option<String>> {
    #[derive(Deserialize)]
    struct GroupHead<'a> {
        #[serde(borrow)]
        attributes: Option<&'a RawValue>,
    }
    let text = match read(store, prefix, V3)? {
        Some(text) => parse::<GroupHead<'_>>(&text).context(V3)?.attributes.map(|raw| raw.get().to_owned()),
        None => {
            let text = read(store, prefix, V2_ATTRIBUTES)?;
            let raw = text.as_deref().map(parse::<&RawValue>).transpose().context(V2_ATTRIBUTES)?;
            raw.map(|raw| raw.get().to_owned())
        }
    };
    Ok(text.filter(|text| text != "{}" && text != "null"))
}

/// Reads the metadata of an array.
///
/// # Errors
/// What is not in order, or not known; the file is named.
pub(super) fn array(store: &dyn ReadableStore, prefix: &str) -> Result<ArrayMetadata> {
    if let Some(text) = read(store, prefix, V3)? {
        return v3(&text).context(V3);
    }
    let text = read(store, prefix, V2_ARRAY)?.ok_or_else(|| malformed!("no {V3} or {V2_ARRAY}"))?;
    let attributes = read(store, prefix, V2_ATTRIBUTES)?;
    v2(&text, attributes.as_deref()).context(V2_ARRAY)
}

/// Returns the text of that name at a prefix, if there is one.
fn read(store: &dyn ReadableStore, prefix: &str, name: &str) -> Result<Option<Vec<u8>>> {
    store.get(&join(prefix, name), MOST_BYTES).with_context(|| name.to_owned())
}

fn parse<'a, T: Deserialize<'a>>(text: &'a [u8]) -> Result<T> {
    // what stands in place of a value is quoted as it is
    serde_json::from_slice(text).map_err(|error| malformed!("{}", error.to_string().replace(char::is_control, " ")))
}

/// Parses the dims of a shape or of a chunk.
fn dims(value: Option<&Value>, what: &str) -> Result<Vec<usize>> {
    let list = value.and_then(Value::as_array).ok_or_else(|| malformed!("no list {what}"))?;
    ensure!(list.len() <= MAX_RANK, "rank {}, at most {MAX_RANK} is read", list.len());
    let dim = |value: &Value| value.as_u64().and_then(|dim| usize::try_from(dim).ok());
    let dims = list.iter().map(dim).collect::<Option<Vec<_>>>();
    let shown = value.map(|value| shortened(value, 60)).unwrap_or_default();
    dims.ok_or_else(|| malformed!("{what} {shown}: not all whole numbers that can be counted"))
}

/// Parses the sides of the chunks of a tensor of that rank.
fn sides(value: Option<&Value>, rank: usize, itemsize: usize) -> Result<Vec<usize>> {
    let sides = dims(value, "chunk_shape")?;
    ensure!(sides.len() == rank, "chunk_shape {sides:?}, expected {rank} axes");
    ensure!(!sides.contains(&0), "chunk_shape {sides:?}: a side of 0");
    ensure!(bytes_of(&sides, itemsize.max(1)).is_some(), "chunk_shape {sides:?} is more than memory can address");
    Ok(sides)
}

fn tensor(dtype: DType, shape: Vec<usize>) -> Result<Meta> {
    let meta = Meta::new(dtype, shape);
    ensure!(meta.is_addressable(), "shape {:?} of {} is more than memory can address", meta.shape, meta.dtype.name());
    Ok(meta)
}

/// The keys of an array's metadata that are understood.
const KNOWN: [&str; 11] = [
    "zarr_format",
    "node_type",
    "shape",
    "data_type",
    "chunk_grid",
    "chunk_key_encoding",
    "fill_value",
    "codecs",
    "attributes",
    "storage_transformers",
    "dimension_names",
];

fn v3(text: &[u8]) -> Result<ArrayMetadata> {
    let raw: std::collections::BTreeMap<String, &RawValue> = parse(text)?;
    let value = |key: &str| raw.get(key).map(|value| parse::<Value>(value.get().as_bytes())).transpose();
    for key in raw.keys().filter(|key| !KNOWN.contains(&key.as_str())) {
        let optional = value(key)?.is_some_and(|value| value.get("must_understand") == Some(&Value::Bool(false)));
        ensure!(optional, "{key:?} is not known");
    }
    let transformers = value("storage_transformers")?;
    let none = transformers.as_ref().is_none_or(|list| list.as_array().is_some_and(Vec::is_empty) || list.is_null());
    ensure!(none, "storage_transformers are not known");
    let dtype = dtypes::from_v3(&value("data_type")?.ok_or_else(|| malformed!("no data_type"))?)?;
    let meta = tensor(dtype, dims(value("shape")?.as_ref(), "shape")?)?;
    let (rank, itemsize) = (meta.shape.len(), meta.dtype.itemsize());
    let grid = value("chunk_grid")?.ok_or_else(|| malformed!("no chunk_grid"))?;
    let (name, grid) = named(&grid)?;
    ensure!(name == "regular", "chunk_grid {name:?} is not known");
    let unit = sides(grid.get("chunk_shape"), rank, itemsize)?;
    let keys = match value("chunk_key_encoding")? {
        None => Keys::Default('/'),
        Some(encoding) => {
            let (name, encoding) = named(&encoding)?;
            let separator = match (encoding.get("separator").map(Value::as_str), name) {
                (None, "default") | (Some(Some("/")), _) => '/',
                (None, _) | (Some(Some(".")), _) => '.',
                _ => bail!("chunk_key_encoding: separator is neither / nor ."),
            };
            match name {
                "default" => Keys::Default(separator),
                "v2" => Keys::V2(separator),
                _ => bail!("chunk_key_encoding {name:?} is not known"),
            }
        }
    };
    let list =
        value("codecs")?.and_then(|codecs| codecs.as_array().cloned()).ok_or_else(|| malformed!("no list codecs"))?;
    let (chunk, chain, shards) = packing(&list, &meta, &unit)?;
    let fill = raw.get("fill_value").ok_or_else(|| malformed!("no fill_value"))?;
    let fill = dtypes::fill_value(fill.get(), &meta.dtype).context("fill_value")?;
    let text = |key: &str| raw.get(key).map(|raw| raw.get().to_owned());
    let style = ChunkStyle {
        unit,
        chunk,
        codecs: Value::Array(list).to_string(),
        is_exact: true,
        fill,
        attributes: text("attributes"),
        dimension_names: text("dimension_names").filter(|names| names != "null"),
        groups: Arc::default(),
    };
    Ok(ArrayMetadata { meta, style: style.into(), chain, shards, keys, file: V3 })
}

/// Returns the names of the axes. Version 2 has no place for them, and xarray and others keep them among the attributes.
fn v2_names(attributes: &str, rank: usize) -> Option<String> {
    #[derive(Deserialize)]
    struct Names {
        #[serde(rename = "_ARRAY_DIMENSIONS")]
        names: Vec<String>,
    }
    let Names { names } = serde_json::from_str(attributes).ok()?;
    (names.len() == rank).then(|| json!(names).to_string())
}

/// Parses a list of codecs into the sides of a chunk, what packs it, and how chunks lie in shards if there are any.
pub(super) fn packing(list: &[Value], meta: &Meta, unit: &[usize]) -> Result<(Vec<usize>, Chain, Option<Shards>)> {
    let (rank, itemsize) = (unit.len(), meta.dtype.itemsize());
    let Some(at) = list.iter().position(|codec| named(codec).is_ok_and(|(name, _)| name == "sharding_indexed")) else {
        return Ok((unit.to_vec(), Chain::new(list, &meta.dtype, rank)?, None));
    };
    let unsupported = |what: &str| Err(Error::of(ErrorKind::Unsupported, format!("codec sharding_indexed {what}")));
    if list.len() != 1 {
        return unsupported("beside other codecs is not read");
    }
    let (_, configuration) = named(&list[at])?;
    let chunk = sides(configuration.get("chunk_shape"), rank, itemsize).context("codec sharding_indexed")?;
    let whole = unit.iter().zip(&chunk).all(|(unit, chunk)| unit.is_multiple_of(*chunk));
    ensure!(whole, "codec sharding_indexed: chunks {chunk:?} do not fill shards {unit:?}");
    let inner = list_of(configuration, "codecs")?;
    if inner.iter().any(|codec| named(codec).is_ok_and(|(name, _)| name == "sharding_indexed")) {
        return unsupported("in itself is not read");
    }
    let chain = Chain::new(&inner, &meta.dtype, rank).context("codec sharding_indexed")?;
    let index = list_of(configuration, "index_codecs")?;
    let names = index.iter().map(named).collect::<Result<Vec<_>>>()?;
    let (has_checksum, bytes) = match &names[..] {
        [("bytes" | "endian", bytes)] => (false, bytes),
        [("bytes" | "endian", bytes), ("crc32c", _)] => (true, bytes),
        _ => return unsupported("with other index_codecs than bytes and crc32c is not read"),
    };
    let big_endian = bytes.get("endian").and_then(Value::as_str) == Some("big");
    let at_start = match configuration.get("index_location").map(Value::as_str) {
        None | Some(Some("end")) => false,
        Some(Some("start")) => true,
        Some(_) => bail!("codec sharding_indexed: index_location is neither start nor end"),
    };
    let counts: Vec<usize> = unit.iter().zip(&chunk).map(|(unit, chunk)| unit / chunk).collect();
    let count = bytes_of(&counts, 16).filter(|&bytes| bytes <= MOST_INDEX);
    ensure!(count.is_some(), "codec sharding_indexed: more chunks in a shard than are read");
    Ok((chunk, chain, Some(Shards { counts, at_start, has_checksum, big_endian })))
}

/// The most bytes that the index of a shard may have, which are those of 16 million chunks.
const MOST_INDEX: usize = 1 << 28;

fn list_of(configuration: &Map<String, Value>, key: &str) -> Result<Vec<Value>> {
    let list = configuration.get(key).and_then(Value::as_array);
    list.cloned().ok_or_else(|| malformed!("codec sharding_indexed: no list {key}"))
}

fn v2(text: &[u8], attributes: Option<&[u8]>) -> Result<ArrayMetadata> {
    let raw: std::collections::BTreeMap<String, &RawValue> = parse(text)?;
    let value = |key: &str| raw.get(key).map(|value| parse::<Value>(value.get().as_bytes())).transpose();
    ensure!(value("zarr_format")?.and_then(|version| version.as_u64()) == Some(2), "zarr_format is not 2");
    let dtype = value("dtype")?.ok_or_else(|| malformed!("no dtype"))?;
    let Some(descr) = dtype.as_str() else {
        return Err(Error::of(ErrorKind::Unsupported, "structured dtypes of Zarr are not read"));
    };
    let dtype = dtypes::from_v2(descr)?;
    let meta = tensor(dtype, dims(value("shape")?.as_ref(), "shape")?)?;
    let rank = meta.shape.len();
    let chunk = sides(value("chunks")?.as_ref(), rank, meta.dtype.itemsize())?;
    if let Some(filters) = value("filters")?.and_then(|filters| filters.as_array().cloned())
        && let Some(first) = filters.first()
    {
        let id = first.get("id").and_then(Value::as_str).unwrap_or("?");
        return Err(Error::of(ErrorKind::Unsupported, format!("filter {id:?} is not known")));
    }
    let mut list = Vec::new();
    match value("order")?.as_ref().and_then(Value::as_str) {
        Some("F") if rank > 1 => {
            let order: Vec<usize> = (0..rank).rev().collect();
            list.push(json!({"name": "transpose", "configuration": {"order": order}}));
        }
        None | Some("C" | "F") => {}
        Some(other) => bail!("order {other:?} is neither C nor F"),
    }
    let endian = if dtypes::has_order(&meta.dtype) { json!({"endian": "little"}) } else { json!({}) };
    list.push(json!({"name": "bytes", "configuration": endian}));
    let compressor = value("compressor")?.unwrap_or(Value::Null);
    list.extend(codecs::from_v2(&compressor, meta.dtype.itemsize())?);
    // items are taken as they lie, in the byte order of the dtype
    let chain = Chain::new(&list, &meta.dtype.native(), rank)?;
    // version 3 has no zlib, and deflates as gzip
    let mut as_v3 = list.clone();
    as_v3.iter_mut().filter(|codec| codec["name"] == "numcodecs.zlib").for_each(|codec| codec["name"] = json!("gzip"));
    let fill = match raw.get("fill_value") {
        Some(fill) if fill.get() != "null" => dtypes::fill_value(fill.get(), &meta.dtype).context("fill_value")?,
        _ => vec![0; meta.dtype.itemsize()],
    };
    let separator = match value("dimension_separator")?.as_ref().map(Value::as_str) {
        None | Some(Some(".") | None) => '.',
        Some(Some("/")) => '/',
        Some(Some(_)) => bail!("dimension_separator is neither / nor ."),
    };
    let attributes = attributes.map(parse::<&RawValue>).transpose().context(V2_ATTRIBUTES)?;
    let style = ChunkStyle {
        unit: chunk.clone(),
        chunk,
        is_exact: as_v3 == list,
        codecs: Value::Array(as_v3).to_string(),
        fill,
        attributes: attributes.map(|raw| raw.get().to_owned()),
        dimension_names: attributes.and_then(|raw| v2_names(raw.get(), rank)),
        groups: Arc::default(),
    };
    Ok(ArrayMetadata { meta, style: style.into(), chain, shards: None, keys: Keys::V2(separator), file: V2_ARRAY })
}
