//! The metadata of a store: `zarr.json` in version 3; `.zarray`, `.zattrs` and `.zgroup` in version 2. Invalid
//! numbers fail here: sides of 0, unequal ranks, sizes beyond memory, chunks that do not fill their shard.

use std::collections::BTreeMap;
use std::sync::Arc;

use serde_json::{Value, json};

use super::codecs::{self, Chain};
use super::dtypes;
use super::sharding::{Extension, SHARDING, Shards, dims, shortened, sides};
use crate::storage::chunked::ChunkStyle;
use crate::storage::key_store::{KeyStore, join};
use crate::untyped::python_json::{self, one_line};
use tensorop_kernels::error::{Context, Error, ErrorKind, Result, bail, ensure, malformed};
use tensorop_kernels::item::dtype::DType;
use tensorop_kernels::item::meta::Meta;
use tensorop_kernels::layout::window::Window;

pub(crate) const V3: &str = "zarr.json";

pub(crate) const V2_ARRAY: &str = ".zarray";
pub(crate) const V2_GROUP: &str = ".zgroup";

/// A field of a group in version 3, a key in version 2.
pub(crate) const CONSOLIDATED: &str = "consolidated_metadata";
pub(crate) const V2_CONSOLIDATED: &str = ".zmetadata";

pub(crate) const V2_ATTRIBUTES: &str = ".zattrs";

/// The files of metadata in a folder of a store. No array has such a name.
pub(super) const METADATA: &[&str] = &[V3, V2_ARRAY, V2_GROUP, V2_ATTRIBUTES, V2_CONSOLIDATED];

const MAX_BYTES: u64 = 1 << 26;

#[derive(Debug)]
pub(crate) struct ArrayMetadata {
    pub(crate) meta: Meta,
    pub(crate) style: Arc<ChunkStyle>,
    pub(crate) chain: Chain,
    pub(crate) shards: Option<Shards>,
    pub(crate) keys: Keys,
    /// In the spelling of version 3.
    pub(crate) codecs: Vec<Value>,
    /// Otherwise chunks that are not stored are undefined.
    pub(crate) has_fill: bool,
    pub(crate) file: &'static str,
}

impl ArrayMetadata {
    /// `list` determines `style.chunk`.
    pub(crate) fn new(meta: Meta, list: &[Value], style: ChunkStyle, keys: Keys) -> Result<Self> {
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

    /// `key` is relative to the array, and may be beyond the tensor's end.
    pub(crate) fn is_key(&self, key: &str) -> bool {
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

    /// Whether units are beside the metadata, not in subfolders.
    pub(crate) fn has_chunks_beside(&self) -> bool {
        let parts = self.meta.shape.len() + usize::from(self.keys.first.is_some());
        self.keys.separator == "." || parts <= 1
    }

    /// The unit's key, relative to the array.
    pub(crate) fn key(&self, window: &Window) -> String {
        let place = window.ranges.iter().zip(&self.style.unit).map(|(range, unit)| range.start / unit);
        let first = self.keys.first.map(str::to_owned);
        let names: Vec<String> = first.into_iter().chain(place.map(|at| at.to_string())).collect();
        if names.is_empty() { "0".to_owned() } else { names.join(self.keys.separator) }
    }
}

/// The rule for keys such as `c/1/2` or `1.2`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Keys {
    first: Option<&'static str>,
    separator: &'static str,
}

impl Keys {
    pub(crate) const V3: Self = Self { first: Some("c"), separator: "/" };
}

#[derive(Clone, Debug)]
pub(crate) struct StoreNode {
    pub(crate) is_group: bool,
    pub(crate) is_v2: bool,
    /// As written.
    pub(crate) attributes: Option<String>,
}

pub(crate) fn node(store: &dyn KeyStore, prefix: &str) -> Result<Option<StoreNode>> {
    if let Some(text) = read(store, prefix, V3)? {
        let head = Object::parse(&text).context(V3)?;
        ensure!(head.text("zarr_format") == Some("3"), "{V3}: zarr_format is not 3");
        let is_group = match head.value("node_type").context(V3)?.as_ref().and_then(Value::as_str) {
            Some("array") => false,
            Some("group") => true,
            _ => bail!("{V3}: node_type is neither array nor group"),
        };
        let attributes = head.text("attributes").filter(|text| is_group && is_any(text)).map(str::to_owned);
        return Ok(Some(StoreNode { is_group, is_v2: false, attributes }));
    }
    for (name, is_group) in [(V2_ARRAY, false), (V2_GROUP, true)] {
        if store.open(&join(prefix, name)).context(name)?.is_some() {
            let attributes = if is_group { group_attributes_of_v2(store, prefix)? } else { None };
            return Ok(Some(StoreNode { is_group, is_v2: true, attributes }));
        }
    }
    Ok(None)
}

fn is_any(text: &str) -> bool {
    text != "{}" && text != "null"
}

pub(crate) fn group_attributes_of_v2(store: &dyn KeyStore, prefix: &str) -> Result<Option<String>> {
    Ok(v2_attributes(store, prefix)?.filter(|text| is_any(text)))
}

fn v2_attributes(store: &dyn KeyStore, prefix: &str) -> Result<Option<String>> {
    let text = read(store, prefix, V2_ATTRIBUTES)?;
    let value = |text| python_json::value(text_of(text)?).map(str::to_owned).map_err(damaged);
    text.as_deref().map(value).transpose().context(V2_ATTRIBUTES)
}

pub(crate) fn array(store: &dyn KeyStore, prefix: &str) -> Result<ArrayMetadata> {
    if let Some(text) = read(store, prefix, V3)? {
        return v3(&text).context(V3);
    }
    let text = read(store, prefix, V2_ARRAY)?.ok_or_else(|| malformed!("no {V3} or {V2_ARRAY}"))?;
    v2(&text, v2_attributes(store, prefix)?).context(V2_ARRAY)
}

pub(crate) struct UnreadMetadata {
    pub(crate) text: Vec<u8>,
    pub(crate) dims: Vec<Option<String>>,
}

/// Ignores dtype and codecs.
pub(crate) fn unread(store: &dyn KeyStore, prefix: &str) -> Result<Option<UnreadMetadata>> {
    let Some(text) = read(store, prefix, V3)? else { return Ok(None) };
    let head = Object::parse(&text).context(V3)?;
    let is_array = head.text("zarr_format") == Some("3") && head.value("node_type")? == Some(json!("array"));
    let names = head.text("dimension_names").and_then(|names| serde_json::from_str(names).ok());
    let dims = names.unwrap_or_default();
    Ok(if is_array { Some(UnreadMetadata { text, dims }) } else { None })
}

fn read(store: &dyn KeyStore, prefix: &str, name: &str) -> Result<Option<Vec<u8>>> {
    store.get(&join(prefix, name), MAX_BYTES).with_context(|| name.to_owned())
}

fn damaged(error: serde_json::Error) -> Error {
    malformed!("{}", one_line(&error))
}

fn text_of(bytes: &[u8]) -> Result<&str> {
    str::from_utf8(python_json::without_mark(bytes)).map_err(|_| malformed!("is not UTF-8"))
}

/// Values are parsed on demand, so that fill values keep their digits.
pub(crate) struct Object<'a>(pub(crate) BTreeMap<String, &'a str>);

impl<'a> Object<'a> {
    pub(crate) fn parse(text: &'a [u8]) -> Result<Self> {
        python_json::object(text_of(text)?).map(Self).map_err(damaged)
    }

    fn text(&self, key: &str) -> Option<&'a str> {
        self.0.get(key).copied()
    }

    fn value(&self, key: &str) -> Result<Option<Value>> {
        self.text(key).map(|text| serde_json::from_str(&python_json::quoted(text)).map_err(damaged)).transpose()
    }
}

fn separator(value: Option<&Value>, default: &'static str, what: &str) -> Result<&'static str> {
    match value.map(Value::as_str) {
        None => Ok(default),
        Some(Some("/")) => Ok("/"),
        Some(Some(".")) => Ok("."),
        Some(_) => bail!("{what} is neither / nor ."),
    }
}

fn tensor(dtype: DType, shape: Vec<usize>) -> Result<Meta> {
    let meta = Meta::c_order(dtype, shape);
    ensure!(meta.is_addressable(), "shape {:?} of {} is more than memory can address", meta.shape, meta.dtype.name());
    Ok(meta)
}

fn unknown(what: &str) -> Error {
    Error::from_kind(ErrorKind::Unsupported, format!("{what} is not known"))
}

fn known(is_known: bool, what: impl Fn() -> String) -> Result<()> {
    if is_known { Ok(()) } else { Err(unknown(&what())) }
}

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
    let list = list.as_ref().and_then(Value::as_array).context("codecs is not a list")?;
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

/// For axis names in version 2, by a convention of xarray.
const V2_DIMENSIONS: &str = "_ARRAY_DIMENSIONS";

/// Moves axis names out of the attributes, their only place in version 2. Another value stays.
fn v2_names(attributes: String, rank: usize) -> Result<(Option<String>, Option<String>)> {
    let Ok(mut others) = Object::parse(attributes.as_bytes()) else { return Ok((None, Some(attributes))) };
    let names = others.text(V2_DIMENSIONS).and_then(|names| serde_json::from_str::<Vec<String>>(names).ok());
    let Some(names) = names.filter(|names| names.len() == rank) else { return Ok((None, Some(attributes))) };
    others.0.remove(V2_DIMENSIONS);
    Ok((Some(json!(names).to_string()), Some(python_json::object_text(&others.0))))
}

pub(crate) fn is_consolidated(store: &dyn KeyStore) -> Result<bool> {
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
    // Items keep the byte order of the dtype, so the codec `bytes` swaps nothing.
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
    // Version 3 has no zlib; gzip compresses in the same way.
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
