//! Writes stores in version 3.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use serde_json::{Value, json};

use super::dtypes::{fill_text, has_order, is_held, to_v3};
use super::metadata::{ArrayMetadata, CONSOLIDATED, Keys, METADATA, Object, V3};
use super::sharding::{SHARDING, ShardWriter};
use crate::container::chunk_sides::{AskedSides, TensorSides, WHOLE_AXIS};
use crate::container::file_options::{ChunkCodec, FileOptions, LayoutRequest, NamedCopy, ResolvedChunks};
use crate::container::interface::{Layout, WriteChunks, Writer};
use crate::storage::chunked::{ChunkStyle, Stays};
use crate::storage::key_store::join;
use crate::storage::source::{fill, is_filled};
use crate::storage::targets::stage::is_unfinished;
use crate::untyped::python_json;
use tensorop_kernels::error::{Advice, Context, Error, Result, Subject, bail, ensure};
use tensorop_kernels::item::dtype::DType;
use tensorop_kernels::item::meta::Meta;
use tensorop_kernels::layout::axis::{bytes_of, coordinates};
use tensorop_kernels::layout::copy::copy_bytes;
use tensorop_kernels::layout::view::View;
use tensorop_kernels::layout::window::{Window, Windows};
use tensorop_kernels::memory;

/// Bytes: worth a file, and few enough for each thread to hold two chunks.
const CHUNK: usize = 1 << 24;

impl ArrayMetadata {
    /// `None` if no chunk is stored: chunks of fill values are stored only if `stays` says so. The tensor's end may
    /// clip `window`.
    pub(crate) fn pack(&self, window: &Window, items: &[u8], stays: &Stays<'_>) -> Result<Option<Vec<u8>>> {
        let Some(shards) = &self.shards else { return self.pack_chunk(window, window, items, stays) };
        let mut writer = ShardWriter::new(shards);
        for number in 0..shards.count() {
            let at = coordinates(number, &shards.counts);
            let range = |axis: usize| {
                let (side, dim) = (self.style.chunk[axis], self.meta.shape[axis]);
                let start = window.ranges[axis].start.saturating_add(at[axis] * side).min(dim);
                start..start.saturating_add(side).min(dim)
            };
            let chunk = Window::new((0..at.len()).map(range).collect(), &self.meta.shape);
            let packed = match chunk.items() == 0 && !self.meta.shape.is_empty() {
                true => None,
                false => self.pack_chunk(&chunk, window, items, stays)?,
            };
            writer.push(packed.as_deref())?;
        }
        Ok(if writer.is_empty() { None } else { Some(writer.finish()) })
    }

    /// `items` are those of `around`; places beyond the tensor get the fill value.
    fn pack_chunk(&self, chunk: &Window, around: &Window, items: &[u8], stays: &Stays<'_>) -> Result<Option<Vec<u8>>> {
        let sides = &self.style.chunk;
        let packed = |items: &[u8]| match is_filled(items, &self.style.fill) && !stays(chunk) {
            true => Ok(None),
            false => self.chain.pack(items, sides).map(Some),
        };
        if chunk == around && chunk.shape() == *sides {
            return packed(items);
        }
        let itemsize = self.meta.dtype.itemsize();
        let mut full = memory::zeros(sides.iter().product::<usize>() * itemsize)?;
        if chunk.shape() != *sides {
            fill(&mut full, &self.style.fill);
        }
        let both = chunk.ranges.iter().zip(&around.ranges);
        let inside: Vec<_> = both.map(|(own, all)| own.start - all.start..own.end - all.start).collect();
        let place: Vec<_> = chunk.ranges.iter().map(|range| 0..range.len()).collect();
        let (from, to) = (View::c_order(&around.shape()).part(&inside), View::c_order(sides).part(&place));
        copy_bytes(items, &from, &mut full, &to, itemsize);
        packed(&full)
    }
}

#[derive(Debug)]
pub(crate) struct ZarrWriter;

impl Writer for ZarrWriter {
    fn check(&self, dtype: &DType) -> Result<()> {
        if is_held(dtype) && dtype.itemsize() > 0 {
            return Ok(());
        }
        let message = format!("Zarr cannot hold items of dtype {}", dtype.name());
        Err(Error::new(Subject::Dtype, message).advising(Advice::WriteNpy))
    }

    fn layout(&self, tensors: &[(&str, &Meta)], request: &LayoutRequest<'_>) -> Result<Layout> {
        let LayoutRequest { options, inherited, chunks } = *request;
        let mut names = tensors.iter().map(|(name, _)| *name).chain(inherited.copies.iter().map(|copy| &*copy.name));
        let is_single = tensors.len() + inherited.copies.len() == 1;
        let is_group = !is_single || (options.is_group || inherited.is_group) && !names.all(str::is_empty);
        let named = |name: &str| {
            let name = if is_group { name } else { "" };
            // the group itself has the empty name
            let is_reserved = |part: &str| {
                part.bytes().all(|byte| byte == b'.') || part.starts_with("__") || METADATA.contains(&part)
            };
            let plain = |part: &str| !is_reserved(part) && !is_unfinished(part);
            ensure!(
                !is_group || name.split('/').all(plain) && !name.contains(['\0', '\\', ':']),
                "{name:?} cannot be the name of an array in a group"
            );
            Ok(name.to_owned())
        };
        let mut arrays = Vec::with_capacity(tensors.len());
        for (n, &(name, meta)) in tensors.iter().enumerate() {
            let name = named(name)?;
            let which = if tensors.len() > 1 { format!(" for {name:?}") } else { String::new() };
            let array = ArrayMetadata::planned(meta, options, (chunks, n), &which)?;
            arrays.push(NamedArray { name, array });
        }
        let copied = |copy: &NamedCopy| Ok(NamedCopy { name: named(&copy.name)?, array: copy.array.clone() });
        let copies = inherited.copies.iter().map(copied).collect::<Result<Vec<_>>>()?;
        // an array cannot be inside another
        let names = || arrays.iter().map(|array| &*array.name).chain(copies.iter().map(|copy| &*copy.name));
        for name in names() {
            let is_inside = |other: &&str| other.strip_prefix(name).is_some_and(|rest| rest.starts_with('/'));
            if let Some(other) = names().find(is_inside) {
                bail!("{other:?} would be inside the array {name:?}");
            }
        }
        let stores_empty = options.stores_empty;
        Ok(Layout::Chunks(Box::new(StoreWriter { arrays, copies, is_group, stores_empty })))
    }
}

#[derive(Debug)]
struct StoreWriter {
    arrays: Vec<NamedArray>,
    copies: Vec<NamedCopy>,
    is_group: bool,
    stores_empty: bool,
}

#[derive(Debug)]
struct NamedArray {
    name: String,
    array: ArrayMetadata,
}

impl ArrayMetadata {
    /// Plans tensor `n` as an array: the options come first, then the chunks of its data. Messages call the array `which`.
    fn planned(
        meta: &Meta,
        options: &FileOptions,
        (resolved, n): (&ResolvedChunks, usize),
        which: &str,
    ) -> Result<Self> {
        let (rank, itemsize) = (meta.shape.len(), meta.dtype.itemsize());
        // an array of another rank loses its chunks alone
        let any_rank = resolved.styles.get(n).and_then(Option::as_deref);
        let style = any_rank.filter(|style| style.chunk.len() == rank);
        let shape = &meta.shape;
        let refuse = |name: &'static str, message: String| Err(Error::new(Subject::Argument(name), message));
        if let Some(names) = options.dimension_names.as_ref().filter(|names| names.len() != rank) {
            return refuse("dims", format!("{}{which}, expected {rank} names (shape {shape:?})", names.join(",")));
        }
        let TensorSides { chunks, shards } = &resolved.sides.get(n).cloned().unwrap_or_default();
        let asks = chunks.is_some() || shards.is_some() || options.codec.is_some();
        let own_shard = style.filter(|style| style.chunk != style.unit).map(|style| &style.unit);
        let chunk = match (chunks, style) {
            (None, Some(style)) => style.chunk.clone(),
            (None, None) => {
                let shard = shards.as_ref().map(|shards| with_asked(shards, shape, default_chunk(meta)));
                shard.unwrap_or_else(|| default_chunk(meta))
            }
            (Some(chunks), style) => {
                let own = style.map_or_else(|| default_chunk(meta), |style| style.chunk.clone());
                with_asked(chunks, shape, own)
            }
        };
        let shard = match shards {
            None => own_shard.filter(|_| chunks.is_none()).cloned(),
            Some(shards) => {
                let own = own_shard.unwrap_or(&chunk).clone();
                let ends = with_asked(shards, shape, own).into_iter().zip(shards).zip(&chunk);
                // a shard side that is not a chosen number is rounded up to whole chunks
                let ends = ends.map(|((side, &asked), &chunk)| match asked.filter(|&side| side != WHOLE_AXIS) {
                    Some(side) => side,
                    None => side.checked_next_multiple_of(chunk).unwrap_or(side),
                });
                Some(ends.collect::<Vec<_>>())
            }
        };
        let is_whole = |shard: &&Vec<usize>| shard.iter().zip(&chunk).all(|(shard, side)| shard.is_multiple_of(*side));
        if let Some(shard) = shard.as_ref().filter(|shard| !is_whole(shard)) {
            return refuse("shards", format!("{shard:?}{which} are not whole chunks of {chunk:?}"));
        }
        let unit = shard.as_ref().unwrap_or(&chunk).clone();
        ensure!(bytes_of(&unit, itemsize).is_some(), "chunks of {unit:?} are more than memory can address");
        let codecs = style.map(|style| serde_json::from_str(&style.codecs).expect("it is the text of a list"));
        let list = codec_list(meta, codecs, shard.map(|_| &*chunk), options.codec.as_deref(), asks)?;
        let fill = any_rank.map(|style| &style.fill).filter(|fill| fill.len() == itemsize);
        let style = ChunkStyle {
            unit,
            chunk,
            codecs: json!(list).to_string(),
            is_exact: true,
            fill: fill.cloned().unwrap_or_else(|| vec![0; itemsize]),
            attributes: any_rank.and_then(|style| style.attributes.clone()),
            dimension_names: match &options.dimension_names {
                Some(names) => Some(json!(names).to_string()),
                None => style.and_then(|style| style.dimension_names.clone()),
            },
            groups: any_rank.map(|style| Arc::clone(&style.groups)).unwrap_or_default(),
            is_consolidated: any_rank.is_some_and(|style| style.is_consolidated),
        };
        Self::new(meta.clone(), &list, style, Keys::V3)
    }

    /// As zarr-python lays it out.
    fn text(&self) -> String {
        let Self { meta, style, .. } = self;
        let mut value = json!({
            "shape": meta.shape,
            "data_type": to_v3(&meta.dtype),
            "chunk_grid": {"name": "regular", "configuration": {"chunk_shape": style.unit}},
            "chunk_key_encoding": {"name": "default", "configuration": {"separator": "/"}},
            "fill_value": null,
            "codecs": serde_json::from_str::<Value>(&style.codecs).expect("it is the text of a list"),
            "attributes": null,
            "zarr_format": 3,
            "node_type": "array",
            "storage_transformers": [],
        });
        let names = style.dimension_names.as_deref();
        if names.is_some() {
            value["dimension_names"] = Value::Null;
        }
        let fill = fill_text(&style.fill, &meta.dtype);
        let text = put_raw(&format!("{value:#}"), "fill_value", &fill);
        let text = put_raw(&text, "dimension_names", names.unwrap_or_default());
        put_raw(&text, "attributes", style.attributes.as_deref().unwrap_or("{}"))
    }
}

/// Keeps the data's codecs, or replaces all except `transpose` by the chosen `codec`. `sharded` has the chunk sides
/// in a shard. Sharding among other codecs stays unless the user `asks` for a change.
fn codec_list(
    meta: &Meta,
    kept: Option<Vec<Value>>,
    sharded: Option<&[usize]>,
    codec: Option<&str>,
    asks: bool,
) -> Result<Vec<Value>> {
    let itemsize = meta.dtype.itemsize();
    let usual =
        || vec![json!({"name": "bytes"}), json!({"name": "zstd", "configuration": {"level": 0, "checksum": false}})];
    let mut list = kept.unwrap_or_else(usual);
    let sharding = match &list[..] {
        [one] if one["name"] == SHARDING => one["configuration"].clone(),
        _ => Value::Null,
    };
    if let Value::Array(inner) = &sharding["codecs"] {
        list.clone_from(inner);
    }
    if asks {
        list = without_sharding(list);
    }
    if let Some(codec) = codec {
        list.retain(|codec| codec["name"] == "transpose");
        list.push(json!({"name": "bytes"}));
        list.extend(asked(codec, itemsize)?);
    }
    fit(&mut list, &meta.dtype);
    let Some(chunk) = sharded else { return Ok(list) };
    let index = json!([{"name": "bytes", "configuration": {"endian": "little"}}, {"name": "crc32c"}]);
    let kept = |key: &str, usual: Value| sharding.get(key).cloned().unwrap_or(usual);
    Ok(vec![json!({"name": SHARDING, "configuration": {
        "chunk_shape": chunk, "codecs": list,
        "index_codecs": kept("index_codecs", index), "index_location": kept("index_location", json!("end"))
    }})])
}

fn without_sharding(list: Vec<Value>) -> Vec<Value> {
    let inner = |codec: Value| match &codec["configuration"]["codecs"] {
        Value::Array(inner) if codec["name"] == SHARDING => without_sharding(inner.clone()),
        _ => vec![codec],
    };
    list.into_iter().flat_map(inner).collect()
}

fn fit(list: &mut [Value], dtype: &DType) {
    for codec in list {
        match codec["name"].as_str() {
            // items are little-endian in memory; `bytes` swaps them for big-endian data
            Some("bytes" | "endian") => {
                let endian = codec["configuration"]["endian"].as_str().unwrap_or("little").to_owned();
                *codec = match has_order(dtype) {
                    true => json!({"name": "bytes", "configuration": {"endian": endian}}),
                    false => json!({"name": "bytes"}),
                };
            }
            Some("blosc") => codec["configuration"]["typesize"] = json!(dtype.itemsize().clamp(1, 255)),
            Some(SHARDING) => {
                if let Value::Array(inner) = &mut codec["configuration"]["codecs"] {
                    fit(inner, dtype);
                }
            }
            Some(_) | None => {}
        }
    }
}

/// Inserts unparsed text for a null, so that numbers keep their digits.
fn put_raw(text: &str, key: &str, raw: &str) -> String {
    text.replacen(&format!("\n  \"{key}\": null"), &format!("\n  \"{key}\": {raw}"), 1)
}

fn with_asked(asked: &AskedSides, shape: &[usize], own: Vec<usize>) -> Vec<usize> {
    let all = own.into_iter().zip(asked).zip(shape);
    let side = |((own, &asked), &dim): ((usize, &Option<usize>), &usize)| match asked {
        Some(WHOLE_AXIS) => dim.max(1),
        Some(side) => side,
        None => own,
    };
    all.map(side).collect()
}

/// Whole rows of about [`CHUNK`] bytes.
fn default_chunk(meta: &Meta) -> Vec<usize> {
    let items = (CHUNK / meta.dtype.itemsize().max(1)).max(1);
    let whole: Vec<usize> = meta.shape.iter().map(|&dim| dim.max(1)).collect();
    let first = Windows::new(&whole, items);
    let mut sides = if first.count() == 0 { whole } else { first.get(0).shape() };
    // cut into pieces of about equal length
    if let Some(axis) = (0..sides.len()).find(|&axis| sides[axis] < meta.shape[axis] && sides[axis] > 1) {
        let count = meta.shape[axis].div_ceil(sides[axis]);
        sides[axis] = meta.shape[axis].div_ceil(count);
    }
    sides
}

fn asked(codec: &str, itemsize: usize) -> Result<Option<Value>> {
    let codec = codec.parse().map_err(|error| Error::new(Subject::Argument("codec"), format!("{codec:?}: {error}")))?;
    Ok(match codec {
        ChunkCodec::None => None,
        ChunkCodec::Gzip { level } => Some(json!({"name": "gzip", "configuration": {"level": level}})),
        ChunkCodec::Zstd { level } => {
            Some(json!({"name": "zstd", "configuration": {"level": level, "checksum": false}}))
        }
        ChunkCodec::Blosc { compressor, level } => Some(json!({"name": "blosc", "configuration": {
            "typesize": itemsize.clamp(1, 255), "cname": compressor, "clevel": level,
            "shuffle": if itemsize == 1 { "bitshuffle" } else { "shuffle" }, "blocksize": 0
        }})),
    })
}

impl StoreWriter {
    /// `metadata` adds a consolidated list. Attributes come from the input groups of that path; the first array's
    /// win.
    fn group_text(&self, path: &str, metadata: Option<&BTreeMap<String, String>>) -> Result<String> {
        let mut value = json!({"attributes": null, "zarr_format": 3, "node_type": "group"});
        let groups = self.arrays.iter().map(|array| &array.array.style.groups);
        let groups = groups.chain(self.copies.iter().map(|copy| &copy.array.groups));
        let mut all: Vec<&String> = groups.filter_map(|groups| groups.get(path)).collect();
        all.dedup();
        let attributes = match &all[..] {
            [] => "{}".to_owned(),
            [one] => (*one).clone(),
            several => {
                let mut merged = BTreeMap::new();
                for text in several.iter().rev() {
                    merged.extend(
                        Object::parse(text.as_bytes()).with_context(|| format!("attributes of group {path:?}"))?.0,
                    );
                }
                python_json::object_text(&merged)
            }
        };
        let mut list = String::new();
        if let Some(metadata) = metadata {
            value[CONSOLIDATED] = Value::Null;
            list = consolidated(metadata);
        }
        // keys are sorted: the first null of a name is the group's own
        let text = put_raw(&format!("{value:#}"), CONSOLIDATED, &list);
        Ok(put_raw(&text, "attributes", &attributes))
    }
}

/// As zarr-python writes it.
fn consolidated(metadata: &BTreeMap<String, String>) -> String {
    let entry = |(path, text): (&String, &String)| {
        format!("\n      {}: {}", Value::from(path.as_str()), text.replace('\n', "\n      "))
    };
    let entries: Vec<String> = metadata.iter().map(entry).collect();
    let end = if entries.is_empty() { "" } else { "\n    " };
    let entries = entries.join(",");
    format!(
        "{{\n    \"kind\": \"inline\",\n    \"metadata\": {{{entries}{end}}},\n    \"must_understand\": false\n  }}"
    )
}

impl WriteChunks for StoreWriter {
    fn style(&self, n: usize) -> &ChunkStyle {
        &self.arrays[n].array.style
    }

    fn key(&self, n: usize, window: &Window) -> String {
        join(&self.arrays[n].name, &self.arrays[n].array.key(window))
    }

    fn pack(&self, n: usize, window: &Window, items: &[u8], stays: &Stays<'_>) -> Result<Option<Vec<u8>>> {
        self.arrays[n].array.pack(window, items, &|chunk| self.stores_empty || stays(chunk))
    }

    fn stores_empty(&self) -> bool {
        self.stores_empty
    }

    fn holds_as_they_are(&self, n: usize, window: &Window) -> bool {
        let array = &self.arrays[n].array;
        array.shards.is_none() && array.chain.is_plain() && window.shape() == array.style.unit
    }

    fn copies(&self) -> &[NamedCopy] {
        &self.copies
    }

    fn seal(&self) -> Result<Vec<(String, Vec<u8>)>> {
        let mut files = Vec::new();
        let is_consolidated = self.arrays.iter().any(|array| array.array.style.is_consolidated)
            || self.copies.iter().any(|copy| copy.array.is_consolidated);
        let mut metadata = BTreeMap::new();
        for NamedCopy { name, array } in &self.copies {
            files.push((join(name, V3), array.metadata.clone()));
            let text = python_json::without_mark(&array.metadata);
            metadata.insert(name.clone(), String::from_utf8_lossy(text).into_owned());
        }
        for array in &self.arrays {
            let text = array.array.text();
            files.push((join(&array.name, V3), text.clone().into_bytes()));
            metadata.insert(array.name.clone(), text);
        }
        if self.is_group {
            // groups follow their members, so that they are complete when their metadata appears
            let mut groups = BTreeSet::from([""]);
            let names = self.arrays.iter().map(|array| &array.name).chain(self.copies.iter().map(|copy| &copy.name));
            for name in names {
                groups.extend(name.match_indices('/').map(|(end, _)| &name[..end]));
            }
            for group in groups.into_iter().rev() {
                let text = self.group_text(group, Some(&metadata).filter(|_| is_consolidated && group.is_empty()))?;
                files.push((join(group, V3), text.into_bytes()));
                if is_consolidated {
                    metadata.insert(group.to_owned(), self.group_text(group, Some(&BTreeMap::new()))?);
                }
            }
        }
        Ok(files)
    }
}
