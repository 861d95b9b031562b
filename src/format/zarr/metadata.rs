//! The metadata of a store, which is read from `zarr.json` in version 3, and from `.zarray`, `.zattrs` and `.zgroup` in
//! version 2.
//!
//! Both versions become one [`ArrayMetadata`]. Whatever could go wrong later with the numbers in it is refused here:
//! sides of 0, ranks that differ, more than memory could address, chunks that do not fill their shard.

use std::collections::BTreeMap;
use std::sync::Arc;

use serde::Deserialize;
use serde_json::value::RawValue;
use serde_json::{Value, json};

use super::codecs::{self, Chain, Extension};
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

/// The metadata of an array.
#[derive(Debug)]
pub(super) struct ArrayMetadata {
    /// The dtype and the dims of the tensor.
    pub(super) meta: Meta,
    /// The style in which the tensor is stored.
    pub(super) style: Arc<ChunkStyle>,
    /// The codecs that pack its chunks.
    pub(super) chain: Chain,
    /// The layout of shards, if there are shards.
    pub(super) shards: Option<Shards>,
    pub(super) keys: Keys,
    /// The name of the file that this was read from.
    pub(super) file: &'static str,
}

impl ArrayMetadata {
    /// Describes an array whose units are packed by a list of codecs. The sides of a chunk in `style` follow from that
    /// list.
    ///
    /// # Errors
    /// A codec that is not known, or that cannot pack such items; chunks that do not fill their shard.
    pub(super) fn new(meta: Meta, list: &[Value], style: ChunkStyle, keys: Keys) -> Result<Self> {
        // The chain refuses a value that is no extension.
        let is_sharding = |codec: &Extension<'_>| codec.name == "sharding_indexed";
        let sharding = list.iter().filter_map(|codec| Extension::new(codec).ok()).find(is_sharding);
        let (rank, unit) = (meta.shape.len(), &style.unit);
        let Some(sharding) = sharding else {
            let chain = Chain::new(list, &meta.dtype, rank)?;
            let style = Arc::new(ChunkStyle { chunk: unit.clone(), ..style });
            return Ok(Self { meta, style, chain, shards: None, keys, file: V3 });
        };
        let unsupported = |what: &str| Err(Error::of(ErrorKind::Unsupported, format!("codec sharding_indexed {what}")));
        if list.len() != 1 {
            return unsupported("beside other codecs is not read");
        }
        let chunk =
            sides(sharding.get("chunk_shape"), rank, meta.dtype.itemsize()).context("codec sharding_indexed")?;
        let whole = unit.iter().zip(&chunk).all(|(unit, chunk)| unit.is_multiple_of(*chunk));
        ensure!(whole, "codec sharding_indexed: chunks {chunk:?} do not fill shards {unit:?}");
        let inner = sharding.list("codecs")?;
        if inner.iter().filter_map(|codec| Extension::new(codec).ok()).any(|codec| is_sharding(&codec)) {
            return unsupported("in itself is not read");
        }
        let chain = Chain::new(inner, &meta.dtype, rank).context("codec sharding_indexed")?;
        let index = sharding.list("index_codecs")?.iter().map(Extension::new).collect::<Result<Vec<_>>>()?;
        let (has_checksum, bytes) = match index[..] {
            [bytes @ Extension { name: "bytes" | "endian", .. }] => (false, bytes),
            [bytes @ Extension { name: "bytes" | "endian", .. }, Extension { name: "crc32c", .. }] => (true, bytes),
            _ => return unsupported("with other index_codecs than bytes and crc32c is not read"),
        };
        let big_endian = bytes.has_second("endian", ["little", "big"]).context("codec sharding_indexed")?;
        let at_start = sharding.has_second("index_location", ["end", "start"])?;
        let counts: Vec<usize> = unit.iter().zip(&chunk).map(|(unit, chunk)| unit / chunk).collect();
        let is_read = bytes_of(&counts, 16).is_some_and(|bytes| bytes <= MOST_INDEX);
        ensure!(is_read, "codec sharding_indexed: more chunks in a shard than are read");
        let style = Arc::new(ChunkStyle { chunk, ..style });
        let shards = Some(Shards { counts, at_start, has_checksum, big_endian });
        Ok(Self { meta, style, chain, shards, keys, file: V3 })
    }

    /// Returns the key of the unit in which a box lies, from the array's prefix on.
    pub(super) fn key(&self, window: &Window) -> String {
        let place = window.ranges.iter().zip(&self.style.unit).map(|(range, unit)| range.start / unit);
        let first = self.keys.first.map(str::to_owned);
        let names: Vec<String> = first.into_iter().chain(place.map(|at| at.to_string())).collect();
        if names.is_empty() { "0".to_owned() } else { names.join(self.keys.separator) }
    }
}

/// The layout of the chunks in a shard.
#[derive(Debug)]
pub(super) struct Shards {
    /// The number of chunks along each axis.
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

/// The rule by which the key of a unit follows from its place in the grid, as in `c/1/2` or `1.2`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Keys {
    /// The name before the numbers, if there is one.
    first: Option<&'static str>,
    /// The text between the numbers.
    separator: &'static str,
}

impl Keys {
    /// The keys that version 3 has by default.
    pub(super) const V3: Self = Self { first: Some("c"), separator: "/" };
}

/// The kind and the version of what lies at a prefix: an array or a group.
#[derive(Clone, Copy, Debug)]
pub(super) struct Node {
    pub(super) is_group: bool,
    pub(super) is_v2: bool,
}

/// Returns what the metadata at a prefix says that it is, or `None` if there is none.
///
/// # Errors
/// Metadata that is damaged.
pub(super) fn node(store: &dyn ReadableStore, prefix: &str) -> Result<Option<Node>> {
    if let Some(text) = read(store, prefix, V3)? {
        let head = Object::parse(&text).context(V3)?;
        ensure!(head.text("zarr_format") == Some("3"), "{V3}: zarr_format is not 3");
        let is_group = match head.value("node_type").context(V3)?.as_ref().and_then(Value::as_str) {
            Some("array") => false,
            Some("group") => true,
            _ => bail!("{V3}: node_type is neither array nor group"),
        };
        return Ok(Some(Node { is_group, is_v2: false }));
    }
    for (name, is_group) in [(V2_ARRAY, false), (V2_GROUP, true)] {
        if store.open(&join(prefix, name)).context(name)?.is_some() {
            return Ok(Some(Node { is_group, is_v2: true }));
        }
    }
    Ok(None)
}

/// Returns the attributes of a group, as they stand there, or `None` if there are none.
///
/// # Errors
/// Metadata that is damaged; the message names the file.
pub(super) fn group_attributes(store: &dyn ReadableStore, prefix: &str) -> Result<Option<String>> {
    let text = match read(store, prefix, V3)? {
        Some(text) => Object::parse(&text).context(V3)?.text("attributes").map(str::to_owned),
        None => v2_attributes(store, prefix)?,
    };
    Ok(text.filter(|text| text != "{}" && text != "null"))
}

/// Returns the attributes of an array or a group of version 2, as they stand there, or `None` if there are none.
fn v2_attributes(store: &dyn ReadableStore, prefix: &str) -> Result<Option<String>> {
    let text = read(store, prefix, V2_ATTRIBUTES)?;
    let raw = text.as_deref().map(parse::<&RawValue>).transpose().context(V2_ATTRIBUTES)?;
    Ok(raw.map(|raw| raw.get().to_owned()))
}

/// Reads the metadata of an array.
///
/// # Errors
/// Metadata that is damaged or not known; the message names the file.
pub(super) fn array(store: &dyn ReadableStore, prefix: &str) -> Result<ArrayMetadata> {
    if let Some(text) = read(store, prefix, V3)? {
        return v3(&text).context(V3);
    }
    let text = read(store, prefix, V2_ARRAY)?.ok_or_else(|| malformed!("no {V3} or {V2_ARRAY}"))?;
    v2(&text, v2_attributes(store, prefix)?).context(V2_ARRAY)
}

/// Returns the text of that name at a prefix, if there is one.
fn read(store: &dyn ReadableStore, prefix: &str, name: &str) -> Result<Option<Vec<u8>>> {
    store.get(&join(prefix, name), MOST_BYTES).with_context(|| name.to_owned())
}

fn parse<'a, T: Deserialize<'a>>(text: &'a [u8]) -> Result<T> {
    // The message quotes what stands in place of a value, which may be any text.
    serde_json::from_slice(text).map_err(|error| malformed!("{}", error.to_string().replace(char::is_control, " ")))
}

/// An object of JSON, whose values are parsed when they are asked for: a fill value keeps the digits that it is written
/// with, and attributes their text.
pub(super) struct Object<'a>(pub(super) BTreeMap<String, &'a RawValue>);

impl<'a> Object<'a> {
    pub(super) fn parse(text: &'a [u8]) -> Result<Self> {
        parse(text).map(Self)
    }

    fn text(&self, key: &str) -> Option<&'a str> {
        self.0.get(key).map(|raw| raw.get())
    }

    fn value(&self, key: &str) -> Result<Option<Value>> {
        self.text(key).map(|text| parse(text.as_bytes())).transpose()
    }
}

/// Parses the dims of a shape or of a chunk.
fn dims(value: Option<&Value>, what: &str) -> Result<Vec<usize>> {
    let Some(value @ Value::Array(list)) = value else { bail!("no list {what}") };
    ensure!(list.len() <= MAX_RANK, "rank {}, at most {MAX_RANK} is read", list.len());
    let dims = list.iter().map(|dim| usize::try_from(dim.as_u64()?).ok()).collect::<Option<Vec<_>>>();
    dims.ok_or_else(|| malformed!("{what} {}: not all whole numbers that can be counted", shortened(value, 60)))
}

/// Parses the text between the numbers of a key.
fn separator(value: Option<&Value>, default: &'static str, what: &str) -> Result<&'static str> {
    match value.map(Value::as_str) {
        None => Ok(default),
        Some(Some("/")) => Ok("/"),
        Some(Some(".")) => Ok("."),
        Some(_) => bail!("{what} is neither / nor ."),
    }
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

/// The keys of an array's metadata that are understood, with a space between them.
const KNOWN: &str = "zarr_format node_type shape data_type chunk_grid chunk_key_encoding fill_value codecs attributes \
    storage_transformers dimension_names";

fn v3(text: &[u8]) -> Result<ArrayMetadata> {
    let raw = Object::parse(text)?;
    for key in raw.0.keys().filter(|key| !KNOWN.split(' ').any(|known| known == *key)) {
        let optional = raw.value(key)?.is_some_and(|value| value.get("must_understand") == Some(&Value::Bool(false)));
        ensure!(optional, "{key:?} is not known");
    }
    let transformers = raw.value("storage_transformers")?.unwrap_or(Value::Null);
    ensure!(transformers.is_null() || transformers == json!([]), "storage_transformers are not known");
    let dtype = dtypes::from_v3(&raw.value("data_type")?.context("no data_type")?)?;
    let meta = tensor(dtype, dims(raw.value("shape")?.as_ref(), "shape")?)?;
    let grid = raw.value("chunk_grid")?.context("no chunk_grid")?;
    let grid = Extension::new(&grid)?;
    ensure!(grid.name == "regular", "chunk_grid {:?} is not known", grid.name);
    let unit = sides(grid.get("chunk_shape"), meta.shape.len(), meta.dtype.itemsize())?;
    let encoding = raw.value("chunk_key_encoding")?.unwrap_or_else(|| json!("default"));
    let encoding = Extension::new(&encoding)?;
    let (first, usual) = match encoding.name {
        "default" => (Some("c"), "/"),
        "v2" => (None, "."),
        name => bail!("chunk_key_encoding {name:?} is not known"),
    };
    let separator = separator(encoding.get("separator"), usual, "chunk_key_encoding: separator")?;
    let list = raw.value("codecs")?;
    let list = list.as_ref().and_then(Value::as_array).context("no list codecs")?;
    let fill = raw.text("fill_value").context("no fill_value")?;
    let style = ChunkStyle {
        unit,
        chunk: Vec::new(),
        codecs: json!(list).to_string(),
        is_exact: true,
        fill: dtypes::fill_value(fill, &meta.dtype).context("fill_value")?,
        attributes: raw.text("attributes").map(str::to_owned),
        dimension_names: raw.text("dimension_names").filter(|names| *names != "null").map(str::to_owned),
        groups: Arc::default(),
    };
    ArrayMetadata::new(meta, list, style, Keys { first, separator })
}

/// Returns the names of the axes. Version 2 has no place for them, and xarray and others keep them among the
/// attributes, where a list that is none of names means something else.
fn v2_names(attributes: &str, rank: usize) -> Option<String> {
    let attributes = Object::parse(attributes.as_bytes()).ok()?;
    let names: Vec<String> = serde_json::from_str(attributes.text("_ARRAY_DIMENSIONS")?).ok()?;
    (names.len() == rank).then(|| json!(names).to_string())
}

/// The most bytes that the index of a shard may have, which are those of 16 million chunks.
const MOST_INDEX: usize = 1 << 28;

fn v2(text: &[u8], attributes: Option<String>) -> Result<ArrayMetadata> {
    let raw = Object::parse(text)?;
    ensure!(raw.text("zarr_format") == Some("2"), "zarr_format is not 2");
    let dtype = raw.value("dtype")?.context("no dtype")?;
    let Some(descr) = dtype.as_str() else {
        return Err(Error::of(ErrorKind::Unsupported, "structured dtypes of Zarr are not read"));
    };
    let dtype = dtypes::from_v2(descr)?;
    let meta = tensor(dtype, dims(raw.value("shape")?.as_ref(), "shape")?)?;
    let (rank, itemsize) = (meta.shape.len(), meta.dtype.itemsize());
    let unit = sides(raw.value("chunks")?.as_ref(), rank, itemsize)?;
    let filters = raw.value("filters")?.unwrap_or(Value::Null);
    if !filters.is_null() && filters != json!([]) {
        let id = filters.get(0).and_then(|filter| filter.get("id")?.as_str()).unwrap_or("?");
        return Err(Error::of(ErrorKind::Unsupported, format!("filter {id:?} is not known")));
    }
    let mut list = Vec::new();
    let order = raw.value("order")?.unwrap_or_else(|| json!("C"));
    match order.as_str() {
        Some("F") if rank > 1 => {
            let axes: Vec<usize> = (0..rank).rev().collect();
            list.push(json!({"name": "transpose", "configuration": {"order": axes}}));
        }
        Some("C" | "F") => {}
        _ => bail!("order {} is neither C nor F", shortened(&order, 60)),
    }
    // Items stay in the byte order of the dtype, so the codec `bytes` swaps nothing.
    let endian = if dtypes::has_order(&meta.dtype) { json!({"endian": "little"}) } else { json!({}) };
    list.push(json!({"name": "bytes", "configuration": endian}));
    list.extend(codecs::from_v2(&raw.value("compressor")?.unwrap_or(Value::Null), itemsize)?);
    let fill = raw.text("fill_value").filter(|fill| *fill != "null");
    let separators = raw.value("dimension_separator")?.filter(|separator| !separator.is_null());
    let separator = separator(separators.as_ref(), ".", "dimension_separator")?;
    // Version 3 has no codec zlib. Its gzip compresses in the same way.
    let (own, gzip) = (json!(list).to_string(), json!("gzip").to_string());
    let codecs = own.replace(&json!("numcodecs.zlib").to_string(), &gzip);
    let style = ChunkStyle {
        unit,
        chunk: Vec::new(),
        is_exact: codecs == own,
        codecs,
        fill: match fill {
            Some(fill) => dtypes::fill_value(fill, &meta.dtype).context("fill_value")?,
            None => vec![0; itemsize],
        },
        dimension_names: attributes.as_deref().and_then(|attributes| v2_names(attributes, rank)),
        attributes,
        groups: Arc::default(),
    };
    let array = ArrayMetadata::new(meta, &list, style, Keys { first: None, separator })?;
    Ok(ArrayMetadata { file: V2_ARRAY, ..array })
}
