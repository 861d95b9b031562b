//! Stores that are written, in version 3: the key of each unit, how its items are packed, and the metadata.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use serde_json::{Value, json};

use super::dtypes::{fill_text, has_order, is_held, to_v3};
use super::metadata::{ArrayMetadata, Keys, Object, V3};
use crate::error::{Advice, Context, Error, Result, Subject, bail, ensure};
use crate::format::interface::{Extras, Layout, WriteChunks, Writer};
use crate::item::dtype::DType;
use crate::item::meta::Meta;
use crate::layout::shape::{bytes_of, coordinates};
use crate::layout::view::View;
use crate::layout::walk::copy_bytes;
use crate::layout::window::{Window, Windows};
use crate::memory;
use crate::storage::chunked::ChunkStyle;
use crate::storage::key_store::join;
use crate::storage::source::fill;

/// The bytes of a chunk whose size the user did not choose. That is enough for a file of its own to be worth it, and
/// little enough for each thread to hold two.
const CHUNK: usize = 1 << 24;

impl ArrayMetadata {
    /// Returns the bytes of the unit that holds a box. The box is the unit, as far as it lies in the tensor.
    pub(super) fn pack(&self, window: &Window, items: &[u8]) -> Result<Vec<u8>> {
        let Some(shards) = &self.shards else { return self.pack_chunk(window, window, items) };
        let count: usize = shards.counts.iter().product();
        let mut index = vec![u64::MAX; 2 * count];
        let mut out = vec![0; if shards.at_start { shards.index_bytes() } else { 0 }];
        for number in 0..count {
            let at = coordinates(number, &shards.counts);
            let range = |axis: usize| {
                let (side, dim) = (self.style.chunk[axis], self.meta.shape[axis]);
                let start = window.ranges[axis].start.saturating_add(at[axis] * side).min(dim);
                start..start.saturating_add(side).min(dim)
            };
            let chunk = Window::new((0..at.len()).map(range).collect(), &self.meta.shape);
            // A chunk that lies wholly beyond the end of the tensor is not stored.
            if chunk.items() == 0 && !self.meta.shape.is_empty() {
                continue;
            }
            let packed = self.pack_chunk(&chunk, window, items)?;
            index[2 * number..][..2].copy_from_slice(&[out.len() as u64, packed.len() as u64]);
            memory::extend(&mut out, &packed)?;
        }
        let number = |number: u64| if shards.big_endian { number.to_be_bytes() } else { number.to_le_bytes() };
        let mut packed: Vec<u8> = index.into_iter().flat_map(number).collect();
        if shards.has_checksum {
            packed.extend(crc32c::crc32c(&packed).to_le_bytes());
        }
        match shards.at_start {
            true => out[..packed.len()].copy_from_slice(&packed),
            false => out.extend(packed),
        }
        Ok(out)
    }

    /// Packs a chunk whose items are taken from those of a box around it. Where the chunk goes beyond the tensor they
    /// are the fill value.
    fn pack_chunk(&self, chunk: &Window, around: &Window, items: &[u8]) -> Result<Vec<u8>> {
        let sides = &self.style.chunk;
        if chunk == around && chunk.shape() == *sides {
            return self.chain.pack(items, sides);
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
        self.chain.pack(&full, sides)
    }
}

/// Writes stores of Zarr.
#[derive(Debug)]
pub(in crate::format) struct ZarrWriter;

impl Writer for ZarrWriter {
    fn check(&self, dtype: &DType) -> Result<()> {
        if is_held(dtype) && dtype.itemsize() > 0 {
            return Ok(());
        }
        let message = format!("Zarr cannot hold items of dtype {}", dtype.name());
        Err(Error::new(Subject::Dtype, message).advising(Advice::WriteNpy))
    }

    fn dtype(&self, dtype: &DType) -> DType {
        dtype.native()
    }

    fn layout(&self, tensors: &[(&str, &Meta)], extras: &Extras) -> Result<Layout> {
        let is_group = tensors.len() != 1 || extras.is_group && !tensors[0].0.is_empty();
        let mut arrays = Vec::with_capacity(tensors.len());
        for (n, &(name, meta)) in tensors.iter().enumerate() {
            let name = if is_group { name } else { "" };
            let plain = |part: &str| !part.is_empty() && !part.starts_with('.') && !part.starts_with("__");
            ensure!(
                name.is_empty() || name.split('/').all(plain) && !name.contains(['\0', '\\', ':']),
                "{name:?} cannot be the name of an array in a group"
            );
            let style = extras.styles.get(n).and_then(Option::as_deref);
            arrays.push(NamedArray { name: name.to_owned(), array: ArrayMetadata::planned(meta, style, extras)? });
        }
        // An array cannot lie in another array.
        for NamedArray { name, .. } in &arrays {
            let inside = |other: &&NamedArray| other.name.strip_prefix(name).is_some_and(|rest| rest.starts_with('/'));
            if let Some(other) = arrays.iter().find(inside) {
                bail!("{:?} would lie in the array {name:?}", other.name);
            }
        }
        Ok(Layout::Chunks(Box::new(StoreWriter { arrays, is_group })))
    }
}

/// Writes one store: an array or a group.
#[derive(Debug)]
struct StoreWriter {
    arrays: Vec<NamedArray>,
    is_group: bool,
}

/// An array that is written, and its prefix in the store.
#[derive(Debug)]
struct NamedArray {
    name: String,
    array: ArrayMetadata,
}

impl ArrayMetadata {
    /// Plans an array as `extras` asks for, and else as its data is stored in `style`.
    fn planned(meta: &Meta, style: Option<&ChunkStyle>, extras: &Extras) -> Result<Self> {
        let (rank, itemsize) = (meta.shape.len(), meta.dtype.itemsize());
        let style = style.filter(|style| style.chunk.len() == rank);
        let option = |name: &'static str, message: String| Err(Error::new(Subject::Argument(name), message));
        for (name, sides) in [("chunks", &extras.chunks), ("shards", &extras.shards)] {
            if let Some(sides) = sides.as_ref().filter(|sides| sides.len() != rank || sides.contains(&0)) {
                let shape = &meta.shape;
                return option(name, format!("{sides:?}, expected {rank} numbers of 1 or more (shape {shape:?})"));
            }
        }
        let kept_shards = style.filter(|style| style.chunk != style.unit && extras.chunks.is_none());
        let shard = extras.shards.as_ref().or(kept_shards.map(|style| &style.unit));
        let chunk = extras.chunks.as_ref().or(style.map(|style| &style.chunk)).cloned();
        let chunk = chunk.unwrap_or_else(|| default_chunk(meta, shard));
        let is_whole = |shard: &&Vec<usize>| shard.iter().zip(&chunk).all(|(shard, side)| shard.is_multiple_of(*side));
        if let Some(shard) = shard.filter(|shard| !is_whole(shard)) {
            return option("shards", format!("{shard:?} are no whole chunks of {chunk:?}"));
        }
        let unit = shard.unwrap_or(&chunk).clone();
        ensure!(bytes_of(&unit, itemsize).is_some(), "chunks of {unit:?} are more than memory can address");
        let codecs = style.map(|style| serde_json::from_str(&style.codecs).expect("it is the text of a list"));
        let list = codec_list(meta, codecs, shard.map(|_| &*chunk), extras.codec.as_deref())?;
        let fill = style.map(|style| &style.fill).filter(|fill| fill.len() == itemsize && extras.keeps_fill);
        let style = ChunkStyle {
            unit,
            chunk,
            codecs: json!(list).to_string(),
            is_exact: true,
            fill: fill.cloned().unwrap_or_else(|| vec![0; itemsize]),
            attributes: style.and_then(|style| style.attributes.clone()),
            dimension_names: style.and_then(|style| style.dimension_names.clone()),
            groups: style.map(|style| Arc::clone(&style.groups)).unwrap_or_default(),
        };
        Self::new(meta.clone(), &list, style, Keys::V3)
    }

    /// Returns the text of the array's metadata, laid out as zarr-python lays it out.
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

/// Returns the list of codecs of an array: those that `kept` has from the data, or, if the user asked for another
/// `codec`, this one behind the order of axes that the data has. The chunks lie in shards if their sides are given in
/// `sharded`.
fn codec_list(
    meta: &Meta,
    kept: Option<Vec<Value>>,
    sharded: Option<&[usize]>,
    codec: Option<&str>,
) -> Result<Vec<Value>> {
    let itemsize = meta.dtype.itemsize();
    let usual =
        || vec![json!({"name": "bytes"}), json!({"name": "zstd", "configuration": {"level": 0, "checksum": false}})];
    let mut list = kept.unwrap_or_else(usual);
    let is_sharding = |codec: &&Value| codec["name"] == "sharding_indexed";
    let sharding = list.iter().find(is_sharding).map_or(Value::Null, |codec| codec["configuration"].clone());
    if let Value::Array(inner) = &sharding["codecs"] {
        list.clone_from(inner);
    }
    if let Some(codec) = codec {
        list.retain(|codec| codec["name"] == "transpose");
        list.push(json!({"name": "bytes"}));
        list.extend(asked(codec, itemsize)?);
    }
    for codec in &mut list {
        match codec["name"].as_str() {
            // Items are little-endian in memory, and the codec `bytes` swaps them if the data has the other byte order.
            Some("bytes" | "endian") => {
                let endian = codec["configuration"]["endian"].as_str().unwrap_or("little").to_owned();
                *codec = match has_order(&meta.dtype) {
                    true => json!({"name": "bytes", "configuration": {"endian": endian}}),
                    false => json!({"name": "bytes"}),
                };
            }
            Some("blosc") => codec["configuration"]["typesize"] = json!(itemsize.clamp(1, 255)),
            Some(_) | None => {}
        }
    }
    let Some(chunk) = sharded else { return Ok(list) };
    let index = json!([{"name": "bytes", "configuration": {"endian": "little"}}, {"name": "crc32c"}]);
    let kept = |key: &str, usual: Value| sharding.get(key).cloned().unwrap_or(usual);
    Ok(vec![json!({"name": "sharding_indexed", "configuration": {
        "chunk_shape": chunk, "codecs": list,
        "index_codecs": kept("index_codecs", index), "index_location": kept("index_location", json!("end"))
    }})])
}

/// Puts a text in the place of the null that a key of an object has. The text is not parsed, so that its numbers stay
/// as they are.
fn put_raw(text: &str, key: &str, raw: &str) -> String {
    text.replacen(&format!("\n  \"{key}\": null"), &format!("\n  \"{key}\": {raw}"), 1)
}

/// Returns the sides of a chunk if the user gave none: the sides of the shard if there is one, else whole rows of the
/// tensor, of about [`CHUNK`] bytes.
fn default_chunk(meta: &Meta, shard: Option<&Vec<usize>>) -> Vec<usize> {
    if let Some(shard) = shard {
        return shard.clone();
    }
    let items = (CHUNK / meta.dtype.itemsize().max(1)).max(1);
    let whole: Vec<usize> = meta.shape.iter().map(|&dim| dim.max(1)).collect();
    let first = Windows::new(&whole, items);
    let mut sides = if first.count() == 0 { whole } else { first.get(0).shape() };
    // An axis that is cut into pieces is cut into pieces of about one length.
    if let Some(axis) = (0..sides.len()).find(|&axis| sides[axis] < meta.shape[axis] && sides[axis] > 1) {
        let count = meta.shape[axis].div_ceil(sides[axis]);
        sides[axis] = meta.shape[axis].div_ceil(count);
    }
    sides
}

/// Parses the codec that the user chose: `none`, `gzip`, `zstd` or `blosc`; a level may follow the second and the third
/// after a colon.
///
/// # Errors
/// Any other text.
fn asked(codec: &str, itemsize: usize) -> Result<Option<Value>> {
    let (name, level) = codec.split_once(':').map_or((codec, None), |(name, level)| (name, Some(level)));
    let refuse =
        || Error::new(Subject::Argument("codec"), format!("{codec:?} is none of none, gzip[:L], zstd[:L], blosc"));
    let level = level.map(str::parse::<i64>).transpose().map_err(|_| refuse())?;
    Ok(match (name, level) {
        ("none", None) => None,
        ("gzip", level) if level.is_none_or(|level| (0..=9).contains(&level)) => {
            Some(json!({"name": "gzip", "configuration": {"level": level.unwrap_or(5)}}))
        }
        ("zstd", level) if level.is_none_or(|level| (-131_072..=22).contains(&level)) => {
            Some(json!({"name": "zstd", "configuration": {"level": level.unwrap_or(0), "checksum": false}}))
        }
        ("blosc", None) => Some(json!({"name": "blosc", "configuration": {
            "typesize": itemsize.clamp(1, 255), "cname": "zstd", "clevel": 5,
            "shuffle": if itemsize == 1 { "bitshuffle" } else { "shuffle" }, "blocksize": 0
        }})),
        _ => return Err(refuse()),
    })
}

impl StoreWriter {
    /// Returns the text of a group's metadata. The group gets the attributes of the groups of that path that its arrays
    /// come from; of two attributes of one name it gets the first array's.
    fn group_text(&self, path: &str) -> Result<String> {
        let value = json!({"attributes": null, "zarr_format": 3, "node_type": "group"});
        let mut all: Vec<&String> = self.arrays.iter().filter_map(|array| array.array.style.groups.get(path)).collect();
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
                serde_json::to_string(&merged).expect("texts by names are written")
            }
        };
        Ok(put_raw(&format!("{value:#}"), "attributes", &attributes))
    }
}

impl WriteChunks for StoreWriter {
    fn unit(&self, n: usize) -> &[usize] {
        &self.arrays[n].array.style.unit
    }

    fn key(&self, n: usize, window: &Window) -> String {
        join(&self.arrays[n].name, &self.arrays[n].array.key(window))
    }

    fn pack(&self, n: usize, window: &Window, items: &[u8]) -> Result<Vec<u8>> {
        self.arrays[n].array.pack(window, items)
    }

    fn holds_as_they_are(&self, n: usize, window: &Window) -> bool {
        let array = &self.arrays[n].array;
        array.shards.is_none() && array.chain.is_plain() && window.shape() == array.style.unit
    }

    fn packs_as(&self, n: usize, style: &ChunkStyle) -> bool {
        let own = &self.arrays[n].array.style;
        let same = (&own.unit, &own.chunk, &own.codecs) == (&style.unit, &style.chunk, &style.codecs);
        same && style.is_exact && own.fill == style.fill
    }

    fn seal(&self) -> Result<Vec<(String, Vec<u8>)>> {
        let mut files = Vec::new();
        for array in &self.arrays {
            files.push((join(&array.name, V3), array.array.text().into_bytes()));
        }
        if self.is_group {
            // Groups come after what lies in them, so that each is complete when its metadata appears.
            let mut groups = BTreeSet::from([""]);
            for array in &self.arrays {
                groups.extend(array.name.match_indices('/').map(|(end, _)| &array.name[..end]));
            }
            for group in groups.into_iter().rev() {
                files.push((join(group, V3), self.group_text(group)?.into_bytes()));
            }
        }
        Ok(files)
    }
}
