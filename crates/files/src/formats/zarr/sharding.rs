//! Shards: values of several chunks and an index. A shard that is an array's only codec is read chunk by chunk,
//! through [`Shards`]; others are unpacked whole, by `Sharding` in `codecs`.

use serde_json::{Map, Value};

use tensorop_kernels::error::{Context, Error, ErrorKind, Result, bail, ensure, malformed};
use tensorop_kernels::layout::axis::{MAX_RANK, bytes_of};
use tensorop_kernels::memory;

pub(crate) const SHARDING: &str = "sharding_indexed";

/// Enough for 16 million chunks.
const MAX_INDEX: usize = 1 << 28;

#[derive(Debug)]
pub(crate) struct Shards {
    pub(crate) chunk: Vec<usize>,
    pub(crate) counts: Vec<usize>,
    pub(crate) at_start: bool,
    has_checksum: bool,
    big_endian: bool,
}

/// Offset and size of each chunk; all bits are set if it is not stored.
pub(crate) type ShardIndex = Vec<[u64; 2]>;

impl Shards {
    pub(crate) fn new(codec: Extension<'_>, shard: &[usize], itemsize: usize) -> Result<Self> {
        let chunk = sides(codec.get("chunk_shape"), shard.len(), itemsize)?;
        let whole = shard.iter().zip(&chunk).all(|(shard, chunk)| shard.is_multiple_of(*chunk));
        ensure!(whole, "chunks {chunk:?} do not fill shards {shard:?}");
        let index = codec.list("index_codecs")?.iter().map(Extension::new).collect::<Result<Vec<_>>>()?;
        let (has_checksum, bytes) = match index[..] {
            [bytes @ Extension { name: "bytes" | "endian", .. }] => (false, bytes),
            [bytes @ Extension { name: "bytes" | "endian", .. }, Extension { name: "crc32c", .. }] => (true, bytes),
            _ => {
                let message = "index_codecs other than bytes and crc32c are not read";
                return Err(Error::from_kind(ErrorKind::Unsupported, message));
            }
        };
        let big_endian = bytes.has_second("endian", ["little", "big"])?;
        let at_start = codec.has_second("index_location", ["end", "start"])?;
        let counts: Vec<usize> = shard.iter().zip(&chunk).map(|(shard, chunk)| shard / chunk).collect();
        let is_read = bytes_of(&counts, 16).is_some_and(|bytes| bytes <= MAX_INDEX);
        ensure!(is_read, "too many chunks in a shard");
        Ok(Self { chunk, counts, at_start, has_checksum, big_endian })
    }

    pub(crate) fn index_bytes(&self) -> usize {
        self.count() * 16 + if self.has_checksum { 4 } else { 0 }
    }

    pub(crate) fn count(&self) -> usize {
        self.counts.iter().product()
    }

    pub(crate) fn index_start(&self, len: u64) -> Result<u64> {
        let bytes = self.index_bytes() as u64;
        ensure!(len > 0, "is empty");
        ensure!(len >= bytes, "{len} bytes, expected at least the {bytes} of its index");
        Ok(if self.at_start { 0 } else { len - bytes })
    }

    pub(crate) fn index(&self, packed: &[u8]) -> Result<ShardIndex> {
        let index = if self.has_checksum { without_checksum(packed).context("index")? } else { packed };
        let number = |word: &[u8; 8]| match self.big_endian {
            true => u64::from_be_bytes(*word),
            false => u64::from_le_bytes(*word),
        };
        let numbers: Vec<u64> = index.as_chunks().0.iter().map(number).collect();
        Ok(numbers.as_chunks().0.to_vec())
    }
}

pub(crate) struct ShardWriter<'a> {
    shards: &'a Shards,
    index: Vec<u64>,
    out: Vec<u8>,
}

impl<'a> ShardWriter<'a> {
    pub(crate) fn new(shards: &'a Shards) -> Self {
        let out = vec![0; if shards.at_start { shards.index_bytes() } else { 0 }];
        Self { shards, index: Vec::with_capacity(2 * shards.count()), out }
    }

    /// `None` for a chunk that is not stored.
    pub(crate) fn push(&mut self, packed: Option<&[u8]>) -> Result<()> {
        let Some(packed) = packed else {
            self.index.extend([u64::MAX; 2]);
            return Ok(());
        };
        self.index.extend([self.out.len() as u64, packed.len() as u64]);
        Ok(memory::extend(&mut self.out, packed)?)
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.index.iter().all(|&number| number == u64::MAX)
    }

    pub(crate) fn finish(self) -> Vec<u8> {
        let Self { shards, index, mut out } = self;
        let number = |number: u64| if shards.big_endian { number.to_be_bytes() } else { number.to_le_bytes() };
        let mut packed: Vec<u8> = index.into_iter().flat_map(number).collect();
        if shards.has_checksum {
            packed.extend(crc32c::crc32c(&packed).to_le_bytes());
        }
        match shards.at_start {
            true => out[..packed.len()].copy_from_slice(&packed),
            false => out.extend(packed),
        }
        out
    }
}

pub(crate) fn without_checksum(bytes: &[u8]) -> Result<&[u8]> {
    let (rest, sum) = bytes.split_last_chunk::<4>().ok_or_else(|| malformed!("no check sum"))?;
    ensure!(crc32c::crc32c(rest) == u32::from_le_bytes(*sum), "has a wrong check sum");
    Ok(rest)
}

#[derive(Clone, Copy)]
pub(crate) struct Extension<'a> {
    pub(crate) name: &'a str,
    pub(crate) configuration: Option<&'a Map<String, Value>>,
}

impl<'a> Extension<'a> {
    pub(crate) fn new(value: &'a Value) -> Result<Self> {
        let name = value.as_str().or_else(|| value.get("name")?.as_str());
        let name = name.ok_or_else(|| malformed!("an extension without a name"))?;
        match value.get("configuration") {
            None | Some(Value::Null) => Ok(Self { name, configuration: None }),
            Some(Value::Object(configuration)) => Ok(Self { name, configuration: Some(configuration) }),
            Some(_) => bail!("{name:?}: its configuration is not an object"),
        }
    }

    pub(crate) fn get(self, key: &str) -> Option<&'a Value> {
        self.configuration?.get(key)
    }

    /// Null counts as absent.
    fn field<T>(self, key: &str, kind: &str, read: fn(&'a Value) -> Option<T>) -> Result<Option<T>> {
        let value = self.get(key).filter(|value| !value.is_null());
        let refuse = || malformed!("codec {}: {key} is not of type {kind}", self.name);
        value.map(|value| read(value).ok_or_else(refuse)).transpose()
    }

    pub(crate) fn text(self, key: &str) -> Result<Option<&'a str>> {
        self.field(key, "text", Value::as_str)
    }

    pub(crate) fn integer(self, key: &str, default: i64) -> Result<i64> {
        Ok(self.field(key, "integer", Value::as_i64)?.unwrap_or(default))
    }

    pub(crate) fn flag(self, key: &str) -> Result<bool> {
        Ok(self.field(key, "boolean", Value::as_bool)?.unwrap_or(false))
    }

    pub(crate) fn list(self, key: &str) -> Result<&'a [Value]> {
        let list = self.get(key).and_then(Value::as_array);
        list.map(Vec::as_slice).ok_or_else(|| malformed!("codec {}: {key} is not a list", self.name))
    }

    /// An absent field has the first of the two values.
    pub(crate) fn has_second(self, key: &str, [usual, second]: [&str; 2]) -> Result<bool> {
        match self.get(key).map(Value::as_str) {
            None => Ok(false),
            Some(Some(text)) if text == usual || text == second => Ok(text == second),
            Some(_) => bail!("codec {}: {key} is neither {usual} nor {second}", self.name),
        }
    }
}

pub(crate) fn dims(value: Option<&Value>, what: &str) -> Result<Vec<usize>> {
    let Some(value @ Value::Array(list)) = value else { bail!("{what} is not a list") };
    ensure!(list.len() <= MAX_RANK, "rank {}, expected at most {MAX_RANK}", list.len());
    let dims = list.iter().map(|dim| usize::try_from(dim.as_u64()?).ok()).collect::<Option<Vec<_>>>();
    dims.ok_or_else(|| malformed!("{what} {}, expected whole numbers", shortened(value, 60)))
}

pub(crate) fn sides(value: Option<&Value>, rank: usize, itemsize: usize) -> Result<Vec<usize>> {
    let sides = dims(value, "chunk_shape")?;
    ensure!(sides.len() == rank, "chunk_shape {sides:?}, expected {rank} axes");
    ensure!(!sides.contains(&0), "chunk_shape {sides:?}: a side of 0");
    ensure!(bytes_of(&sides, itemsize.max(1)).is_some(), "chunk_shape {sides:?} is more than memory can address");
    Ok(sides)
}

pub(crate) fn shortened(value: &Value, most: usize) -> String {
    let text = value.to_string();
    if text.chars().count() > most { format!("{}...", text.chars().take(most).collect::<String>()) } else { text }
}
