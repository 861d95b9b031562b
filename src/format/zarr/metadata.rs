//! The metadata of a store, which is read from `zarr.json` in version 3, and from `.zarray`, `.zattrs` and `.zgroup` in
//! version 2.
//!
//! Both versions become one [`ArrayMetadata`]. Whatever could go wrong later with the numbers in it is refused here:
//! sides of 0, ranks that differ, more than memory could address, chunks that do not fill their shard.

use std::collections::BTreeMap;
use std::sync::Arc;

use serde_json::{Value, json};

use super::codecs::{self, Chain};
use super::dtypes;
use super::extension::{Extension, dims, shortened, sides};
use super::sharding::{SHARDING, Shards};
use crate::error::{Context, Error, ErrorKind, Result, bail, ensure, malformed};
use crate::format::json_object::one_line;
use crate::format::python_json;
use crate::item::dtype::DType;
use crate::item::meta::Meta;
use crate::layout::window::Window;
use crate::storage::chunked::ChunkStyle;
use crate::storage::key_store::{KeyStore, join};

/// The key of the metadata of an array or a group in version 3.
pub(super) const V3: &str = "zarr.json";

/// The keys of the metadata of an array and of a group in version 2.
pub(super) const V2_ARRAY: &str = ".zarray";
pub(super) const V2_GROUP: &str = ".zgroup";

/// The name under which the metadata of a group list all metadata in it, in version 3, and the key of such a list in
/// version 2.
pub(super) const CONSOLIDATED: &str = "consolidated_metadata";
pub(super) const V2_CONSOLIDATED: &str = ".zmetadata";

/// The key of the attributes of either in version 2.
pub(super) const V2_ATTRIBUTES: &str = ".zattrs";

/// The most bytes of metadata that are read.
const MAX_BYTES: u64 = 1 << 26;

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
    /// What packs a chunk, as version 3 spells it, or would.
    pub(super) codecs: Vec<Value>,
    /// Whether there is a fill value. If there is none, what a chunk that is not stored holds is not defined.
    pub(super) has_fill: bool,
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
        let unit = &style.unit;
        let (shards, chunk, chunks) = match list {
            [one] if Extension::new(one)?.name == SHARDING => {
                let sharding = Extension::new(one)?;
                let within = || format!("codec {SHARDING}");
                let shards = Shards::new(sharding, unit, meta.dtype.itemsize()).with_context(within)?;
                let chunk = shards.chunk.clone();
                (Some(shards), chunk, sharding.list("codecs").with_context(within)?)
            }
            _ => (None, unit.clone(), list),
        };
        let chain = Chain::new(chunks, &meta.dtype, &chunk, &style.fill);
        let chain = if shards.is_some() { chain.with_context(|| format!("codec {SHARDING}"))? } else { chain? };
        let codecs = chunks.to_vec();
        let style = Arc::new(ChunkStyle { chunk, ..style });
        Ok(Self { meta, style, chain, shards, keys, codecs, file: V3, has_fill: true })
    }

    /// Returns whether a key, counted from the array's prefix on, is that of a unit, also of one beyond the end of the tensor.
    pub(super) fn is_key(&self, key: &str) -> bool {
        let mut parts = key.split(self.keys.separator);
        let is_number = |part: &str| !part.is_empty() && part.bytes().all(|byte| byte.is_ascii_digit());
        match (self.keys.first, self.meta.shape.len()) {
            (None, 0) => key == "0",
            (first, rank) => {
                first.is_none_or(|first| parts.next() == Some(first))
                    && parts.clone().count() == rank
                    && parts.all(is_number)
            }
        }
    }

    /// Returns whether units lie in the folder of the metadata itself, and not in folders in it.
    pub(super) fn has_chunks_beside(&self) -> bool {
        let parts = self.meta.shape.len() + usize::from(self.keys.first.is_some());
        self.keys.separator == "." || parts <= 1
    }

    /// Returns the key of the unit in which a box lies, from the array's prefix on.
    pub(super) fn key(&self, window: &Window) -> String {
        let place = window.ranges.iter().zip(&self.style.unit).map(|(range, unit)| range.start / unit);
        let first = self.keys.first.map(str::to_owned);
        let names: Vec<String> = first.into_iter().chain(place.map(|at| at.to_string())).collect();
        if names.is_empty() { "0".to_owned() } else { names.join(self.keys.separator) }
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

/// What lies at a prefix, as its metadata say it: an array or a group.
#[derive(Clone, Debug)]
pub(super) struct Node {
    pub(super) is_group: bool,
    pub(super) is_v2: bool,
    /// The attributes of a group, as they stand there, if it has any.
    pub(super) attributes: Option<String>,
}

/// Returns what the metadata at a prefix says that it is, or `None` if there is none.
///
/// # Errors
/// Metadata that is damaged; the message names the file.
pub(super) fn node(store: &dyn KeyStore, prefix: &str) -> Result<Option<Node>> {
    if let Some(text) = read(store, prefix, V3)? {
        let head = Object::parse(&text).context(V3)?;
        ensure!(head.text("zarr_format") == Some("3"), "{V3}: zarr_format is not 3");
        let is_group = match head.value("node_type").context(V3)?.as_ref().and_then(Value::as_str) {
            Some("array") => false,
            Some("group") => true,
            _ => bail!("{V3}: node_type is neither array nor group"),
        };
        let attributes = head.text("attributes").filter(|text| is_group && is_any(text)).map(str::to_owned);
        return Ok(Some(Node { is_group, is_v2: false, attributes }));
    }
    for (name, is_group) in [(V2_ARRAY, false), (V2_GROUP, true)] {
        if store.open(&join(prefix, name)).context(name)?.is_some() {
            let attributes = if is_group { group_attributes_of_v2(store, prefix)? } else { None };
            return Ok(Some(Node { is_group, is_v2: true, attributes }));
        }
    }
    Ok(None)
}

/// Returns whether there are any attributes in their text.
fn is_any(text: &str) -> bool {
    text != "{}" && text != "null"
}

/// Returns the attributes of a group of version 2, as they stand there, or `None` if there are none.
///
/// # Errors
/// Metadata that is damaged; the message names the file.
pub(super) fn group_attributes_of_v2(store: &dyn KeyStore, prefix: &str) -> Result<Option<String>> {
    Ok(v2_attributes(store, prefix)?.filter(|text| is_any(text)))
}

/// Returns the attributes of an array or a group of version 2, as they stand there, or `None` if there are none.
fn v2_attributes(store: &dyn KeyStore, prefix: &str) -> Result<Option<String>> {
    let text = read(store, prefix, V2_ATTRIBUTES)?;
    let value = |text| python_json::value(text_of(text)?).map(str::to_owned).map_err(damaged);
    text.as_deref().map(value).transpose().context(V2_ATTRIBUTES)
}

/// Reads the metadata of an array.
///
/// # Errors
/// Metadata that is damaged or not known; the message names the file.
pub(super) fn array(store: &dyn KeyStore, prefix: &str) -> Result<ArrayMetadata> {
    if let Some(text) = read(store, prefix, V3)? {
        return v3(&text).context(V3);
    }
    let text = read(store, prefix, V2_ARRAY)?.ok_or_else(|| malformed!("no {V3} or {V2_ARRAY}"))?;
    v2(&text, v2_attributes(store, prefix)?).context(V2_ARRAY)
}

/// The metadata of an array of version 3 of which something is not known.
pub(super) struct UnreadMetadata {
    pub(super) text: Vec<u8>,
    /// The names of the dimensions, of which some may have none.
    pub(super) dims: Vec<Option<String>>,
}

/// Returns the metadata of an array of version 3 without a look at what packs its items; `None` of what is none.
///
/// # Errors
/// The metadata cannot be read.
pub(super) fn unread(store: &dyn KeyStore, prefix: &str) -> Result<Option<UnreadMetadata>> {
    let Some(text) = read(store, prefix, V3)? else { return Ok(None) };
    let head = Object::parse(&text).context(V3)?;
    let is_array = head.text("zarr_format") == Some("3") && head.value("node_type")? == Some(json!("array"));
    let names = head.text("dimension_names").and_then(|names| serde_json::from_str(names).ok());
    let dims = names.unwrap_or_default();
    Ok(if is_array { Some(UnreadMetadata { text, dims }) } else { None })
}

/// Returns the text of that name at a prefix, if there is one.
fn read(store: &dyn KeyStore, prefix: &str, name: &str) -> Result<Option<Vec<u8>>> {
    store.get(&join(prefix, name), MAX_BYTES).with_context(|| name.to_owned())
}

/// Returns the error of a text that is not the JSON that was expected.
fn damaged(error: serde_json::Error) -> Error {
    malformed!("{}", one_line(&error))
}

/// Returns metadata as text, without a byte order mark.
fn text_of(bytes: &[u8]) -> Result<&str> {
    str::from_utf8(python_json::without_mark(bytes)).map_err(|_| malformed!("is not UTF-8"))
}

/// An object of JSON, whose values are parsed when they are asked for: a fill value keeps the digits that it is written
/// with, and attributes their text.
pub(super) struct Object<'a>(pub(super) BTreeMap<String, &'a str>);

impl<'a> Object<'a> {
    pub(super) fn parse(text: &'a [u8]) -> Result<Self> {
        python_json::object(text_of(text)?).map(Self).map_err(damaged)
    }

    fn text(&self, key: &str) -> Option<&'a str> {
        self.0.get(key).copied()
    }

    fn value(&self, key: &str) -> Result<Option<Value>> {
        self.text(key).map(|text| serde_json::from_str(&python_json::quoted(text)).map_err(damaged)).transpose()
    }
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

fn tensor(dtype: DType, shape: Vec<usize>) -> Result<Meta> {
    let meta = Meta::new(dtype, shape);
    ensure!(meta.is_addressable(), "shape {:?} of {} is more than memory can address", meta.shape, meta.dtype.name());
    Ok(meta)
}

/// Returns the error that something is not known, although it may be in order.
fn unknown(what: &str) -> Error {
    Error::from_kind(ErrorKind::Unsupported, format!("{what} is not known"))
}

/// Checks that something is known.
///
/// # Errors
/// It is not; the message calls it `what`.
fn known(is_known: bool, what: impl Fn() -> String) -> Result<()> {
    if is_known { Ok(()) } else { Err(unknown(&what())) }
}

/// The keys of an array's metadata that are understood, with a space between them.
const KNOWN: &str = "zarr_format node_type shape data_type chunk_grid chunk_key_encoding fill_value codecs attributes \
    storage_transformers dimension_names";

fn v3(text: &[u8]) -> Result<ArrayMetadata> {
    let raw = Object::parse(text)?;
    for key in raw.0.keys().filter(|key| !KNOWN.split(' ').any(|known| known == *key)) {
        let optional = raw.value(key)?.is_some_and(|value| value.get("must_understand") == Some(&Value::Bool(false)));
        known(optional, || format!("{key:?}"))?;
    }
    let transformers = raw.value("storage_transformers")?.unwrap_or(Value::Null);
    known(transformers.is_null() || transformers == json!([]), || "a storage transformer".to_owned())?;
    let dtype = dtypes::from_v3(&raw.value("data_type")?.context("no data_type")?)?;
    let meta = tensor(dtype, dims(raw.value("shape")?.as_ref(), "shape")?)?;
    let grid = raw.value("chunk_grid")?.context("no chunk_grid")?;
    let grid = Extension::new(&grid)?;
    known(grid.name == "regular", || format!("chunk_grid {:?}", grid.name))?;
    let unit = sides(grid.get("chunk_shape"), meta.shape.len(), meta.dtype.itemsize())?;
    let encoding = raw.value("chunk_key_encoding")?.unwrap_or_else(|| json!("default"));
    let encoding = Extension::new(&encoding)?;
    let (first, usual) = match encoding.name {
        "default" => (Some("c"), "/"),
        "v2" => (None, "."),
        name => return Err(unknown(&format!("chunk_key_encoding {name:?}"))),
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
        is_consolidated: false,
    };
    ArrayMetadata::new(meta, list, style, Keys { first, separator })
}

/// The attribute that has the names of the axes in version 2, by a convention of xarray and others.
const V2_DIMENSIONS: &str = "_ARRAY_DIMENSIONS";

/// Takes the names of the axes from the attributes, and returns both. Version 2 has no other place for them. A list that
/// is none of names means something else, and stays.
fn v2_names(attributes: String, rank: usize) -> Result<(Option<String>, Option<String>)> {
    let Ok(mut others) = Object::parse(attributes.as_bytes()) else { return Ok((None, Some(attributes))) };
    let names = others.text(V2_DIMENSIONS).and_then(|names| serde_json::from_str::<Vec<String>>(names).ok());
    let Some(names) = names.filter(|names| names.len() == rank) else { return Ok((None, Some(attributes))) };
    others.0.remove(V2_DIMENSIONS);
    Ok((Some(json!(names).to_string()), Some(python_json::object_text(&others.0))))
}

/// Returns whether a group has a list of all metadata in it.
///
/// # Errors
/// Metadata that is damaged; the message names the file.
pub(super) fn is_consolidated(store: &dyn KeyStore) -> Result<bool> {
    match read(store, "", V3)? {
        Some(text) => Ok(Object::parse(&text).context(V3)?.text(CONSOLIDATED).is_some_and(|list| list != "null")),
        None => Ok(store.open(V2_CONSOLIDATED).context(V2_CONSOLIDATED)?.is_some()),
    }
}

fn v2(text: &[u8], attributes: Option<String>) -> Result<ArrayMetadata> {
    let raw = Object::parse(text)?;
    ensure!(raw.text("zarr_format") == Some("2"), "zarr_format is not 2");
    let dtype = raw.value("dtype")?.context("no dtype")?;
    let Some(descr) = dtype.as_str() else {
        return Err(Error::from_kind(ErrorKind::Unsupported, "structured dtypes of Zarr are not read"));
    };
    let dtype = dtypes::from_v2(descr)?;
    let meta = tensor(dtype, dims(raw.value("shape")?.as_ref(), "shape")?)?;
    let (rank, itemsize) = (meta.shape.len(), meta.dtype.itemsize());
    let unit = sides(raw.value("chunks")?.as_ref(), rank, itemsize)?;
    let filters = raw.value("filters")?.unwrap_or(Value::Null);
    if !filters.is_null() && filters != json!([]) {
        let id = filters.get(0).and_then(|filter| filter.get("id")?.as_str()).unwrap_or("?");
        return Err(Error::from_kind(ErrorKind::Unsupported, format!("filter {id:?} is not known")));
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
    let (dimension_names, attributes) = match attributes {
        Some(attributes) => v2_names(attributes, rank)?,
        None => (None, None),
    };
    // Version 3 has no codec zlib. Its gzip compresses in the same way.
    let (own, gzip) = (json!(list).to_string(), json!("gzip").to_string());
    let codecs = own.replace(&json!("numcodecs.zlib").to_string(), &gzip);
    let style = ChunkStyle {
        unit,
        chunk: Vec::new(),
        is_exact: codecs == own,
        codecs,
        fill: dtypes::fill_value_of_v2(fill, &meta.dtype).context("fill_value")?,
        dimension_names,
        attributes,
        groups: Arc::default(),
        is_consolidated: false,
    };
    let array = ArrayMetadata::new(meta, &list, style, Keys { first: None, separator })?;
    Ok(ArrayMetadata { file: V2_ARRAY, has_fill: fill.is_some(), ..array })
}
