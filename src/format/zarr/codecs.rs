//! The chain of codecs that packs the items of a chunk into bytes.
//!
//! The chain is kept as it stands in the metadata, so that an output can be stored as its data is. Nothing here trusts a
//! chunk: what is unpacked grows as it comes and is refused beyond the bytes that the chunk must have.

use std::borrow::Cow;

use serde_json::{Map, Value, json};

use super::codec::Codec;
use crate::error::{Error, ErrorKind, Result, bail, ensure, malformed};
use crate::item::dtype::{DType, Kind};
use crate::layout::view::View;
use crate::layout::walk::copy_bytes;
use crate::memory;
use crate::storage::conversion::Conversion;

/// The most bytes that a chunk is unpacked to, since a few bytes could ask for any memory.
const MOST_UNPACKED: usize = 1 << 32;

/// Turns the items of a chunk, in C order, into its bytes and back.
#[derive(Debug)]
pub(super) struct Chain {
    /// The axes of a chunk in the order in which they are stored, if that is not their own order.
    order: Option<Vec<usize>>,
    /// The conversion of stored items to items of the tensor, and back, if their byte order differs.
    swap: Option<Conversion>,
    itemsize: usize,
    codecs: Vec<Codec>,
}

impl Chain {
    /// Reads the list of codecs of v3 metadata, for items of `dtype`, which is little-endian. Axes are `rank`.
    ///
    /// # Errors
    /// A codec that is not known, or has another configuration than it can have.
    pub(super) fn new(list: &[Value], dtype: &DType, rank: usize) -> Result<Self> {
        let itemsize = dtype.itemsize();
        let mut it = Self { order: None, swap: None, itemsize, codecs: Vec::new() };
        let mut has_bytes = false;
        for value in list {
            let (name, configuration) = named(value)?;
            match name {
                "transpose" if !has_bytes => {
                    let order = configuration.get("order");
                    let order = match order.and_then(Value::as_str) {
                        Some("C") => Some((0..rank).collect()),
                        Some("F") => Some((0..rank).rev().collect()),
                        _ => order.and_then(|order| serde_json::from_value::<Vec<usize>>(order.clone()).ok()),
                    };
                    let order = order.filter(|order| is_permutation(order, rank));
                    let order = order.ok_or_else(|| malformed!("codec transpose: no order of {rank} axes"))?;
                    let before = it.order.take().unwrap_or_else(|| (0..rank).collect());
                    it.order = Some(order.iter().map(|&axis| before[axis]).collect());
                }
                "bytes" | "endian" if !has_bytes => {
                    has_bytes = true;
                    match configuration.get("endian").map(|endian| endian.as_str()) {
                        None | Some(Some("little")) => {}
                        Some(Some("big")) => it.swap = swapped(dtype),
                        Some(_) => bail!("codec bytes: endian is neither little nor big"),
                    }
                }
                "transpose" | "bytes" | "endian" => bail!("codec {name}: not in its place"),
                _ if !has_bytes => bail!("codec {name}: before the codec bytes, or not known"),
                _ => it.codecs.push(Codec::new(name, configuration, itemsize)?),
            }
        }
        ensure!(has_bytes, "no codec bytes");
        it.order = it.order.filter(|order| !order.is_sorted());
        Ok(it)
    }

    /// Returns whether items are stored as they are, but for the order of axes.
    pub(super) fn is_bare(&self) -> bool {
        self.codecs.is_empty() && self.swap.is_none()
    }

    /// Returns whether items are stored as they are, in C order.
    pub(super) fn is_plain(&self) -> bool {
        self.is_bare() && self.order.is_none()
    }

    /// Returns the view of the items of an unpacked chunk of that shape.
    pub(super) fn view(&self, shape: &[usize]) -> View {
        let Some(order) = &self.order else { return View::c_order(shape) };
        let stored: Vec<usize> = order.iter().map(|&axis| shape[axis]).collect();
        let mut back = vec![0; order.len()];
        order.iter().enumerate().for_each(|(at, &axis)| back[axis] = at);
        View::c_order(&stored).with_axes(&back)
    }

    /// Returns the most bytes that a chunk of so many bytes of items can have when it is packed.
    pub(super) fn most_packed(&self, bytes: usize) -> usize {
        self.codecs.iter().fold(bytes, |bytes, codec| codec.most_packed(bytes))
    }

    /// Unpacks a chunk of `bytes` bytes of items, which lie then as [`view`](Self::view) says.
    ///
    /// # Errors
    /// Bytes that were not packed by this chain, or unpack to another size.
    pub(super) fn unpack(&self, packed: Vec<u8>, bytes: usize) -> Result<Vec<u8>> {
        ensure!(
            bytes <= MOST_UNPACKED || self.codecs.is_empty(),
            "a chunk of {bytes} bytes, at most {MOST_UNPACKED} are unpacked"
        );
        let mut most = vec![bytes];
        for codec in &self.codecs {
            most.push(codec.most_packed(most[most.len() - 1]));
        }
        let mut items = packed;
        for (codec, &most) in self.codecs.iter().zip(&most).rev() {
            items = codec.unpack(items, most)?;
        }
        ensure!(items.len() == bytes, "{} bytes, expected {bytes}", items.len());
        if let Some(swap) = &self.swap {
            swap.swap(&mut items);
        }
        Ok(items)
    }

    /// Packs the items of a chunk of that shape.
    ///
    /// # Errors
    /// Not enough memory.
    pub(super) fn pack(&self, items: &[u8], shape: &[usize]) -> Result<Vec<u8>> {
        let mut bytes = Cow::Borrowed(items);
        if self.order.is_some() || self.swap.is_some() || self.codecs.is_empty() {
            let mut own = memory::zeros(items.len())?;
            match &self.order {
                None => own.copy_from_slice(items),
                Some(_) => copy_bytes(items, &View::c_order(shape), &mut own, &self.view(shape), self.itemsize),
            }
            if let Some(swap) = &self.swap {
                swap.swap(&mut own);
            }
            bytes = Cow::Owned(own);
        }
        for codec in &self.codecs {
            bytes = Cow::Owned(codec.pack(bytes)?);
        }
        Ok(bytes.into_owned())
    }
}

/// Returns the conversion of big-endian items to a little-endian dtype, if the bytes of its items have an order. Those of
/// bfloat16 have one in a store, as an integer's do, though not in a `.npy`.
pub(super) fn swapped(dtype: &DType) -> Option<Conversion> {
    let ordered = if matches!(dtype.kind(), Kind::BFloat16) { Kind::UInt16.into() } else { dtype.clone() };
    Conversion::new(&ordered.big_endian(), &ordered).filter(|swap| !swap.is_identity())
}

fn is_permutation(order: &[usize], rank: usize) -> bool {
    let mut sorted = order.to_vec();
    sorted.sort_unstable();
    sorted.into_iter().eq(0..rank)
}

/// Returns the name of an extension, and its configuration.
pub(super) fn named(value: &Value) -> Result<(&str, &Map<String, Value>)> {
    static EMPTY: std::sync::LazyLock<Map<String, Value>> = std::sync::LazyLock::new(Map::new);
    if let Some(name) = value.as_str() {
        return Ok((name, &EMPTY));
    }
    let name = value.get("name").and_then(Value::as_str).ok_or_else(|| malformed!("an extension without a name"))?;
    match value.get("configuration") {
        None | Some(Value::Null) => Ok((name, &EMPTY)),
        Some(Value::Object(configuration)) => Ok((name, configuration)),
        Some(_) => bail!("{name:?}: its configuration is no object"),
    }
}

/// Returns the compressor of version 2 as a codec of version 3.
///
/// # Errors
/// A compressor that version 3 has no name for.
pub(super) fn from_v2(compressor: &Value, itemsize: usize) -> Result<Option<Value>> {
    if compressor.is_null() {
        return Ok(None);
    }
    let id = compressor.get("id").and_then(Value::as_str).ok_or_else(|| malformed!("a compressor without an id"))?;
    let number = |key: &str, default: i64| compressor.get(key).and_then(Value::as_i64).unwrap_or(default);
    Ok(Some(match id {
        "zlib" => json!({"name": "numcodecs.zlib", "configuration": {"level": number("level", 1)}}),
        "gzip" => json!({"name": "gzip", "configuration": {"level": number("level", 1)}}),
        "zstd" => {
            let checksum = compressor.get("checksum").and_then(Value::as_bool).unwrap_or(false);
            json!({"name": "zstd", "configuration": {"level": number("level", 0), "checksum": checksum}})
        }
        "blosc" => {
            // of one byte there is nothing to shuffle but bits
            let shuffle = match number("shuffle", 1) {
                -1 if itemsize == 1 => "bitshuffle",
                1 | -1 => "shuffle",
                2 => "bitshuffle",
                _ => "noshuffle",
            };
            let cname = compressor.get("cname").and_then(Value::as_str).unwrap_or("lz4");
            json!({"name": "blosc", "configuration": {
                "cname": cname, "clevel": number("clevel", 5), "shuffle": shuffle,
                "typesize": itemsize.clamp(1, 255), "blocksize": number("blocksize", 0)
            }})
        }
        _ => return Err(Error::of(ErrorKind::Unsupported, format!("compressor {id:?} is not known"))),
    }))
}
