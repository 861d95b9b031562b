//! The header of a GGUF file (`docs/gguf.md` and `src/gguf.cpp` of ggml), read from front to back. Values that are not
//! kept are passed over without being read.

use std::collections::{BTreeMap, HashMap};
use std::mem;
use std::sync::Arc;

use sha2::{Digest, Sha256};

use super::types::{BlockRule, ItemType};
use crate::container::member_list::numbered;
use crate::storage::read_at::ReadAt;
use crate::storage::source::{ExactValues, Metadata};
use tensorop_kernels::error::{Context, Error, ErrorKind, Result, bail, ensure, malformed};
use tensorop_kernels::item::python;
use tensorop_kernels::layout::axis::{MAX_RANK, bytes_of};

/// The longest header in bytes.
pub const MAX_HEADER: u64 = 1 << 30;

/// The maximum number of tensors of a file.
pub const MAX_TENSORS: u64 = 1 << 20;

/// The maximum number of keys of a file.
pub const MAX_KEYS: u64 = 1 << 16;

/// The longest key or name of a tensor in bytes.
pub const MAX_NAME: u64 = (1 << 16) - 1;

/// A longer text is not kept, but counted.
const MAX_TEXT: u64 = 1 << 16;

/// Most arrays of more elements are not kept, but counted.
const MAX_LISTED: u64 = 16;

/// An array of a number for each layer, which is kept.
const OF_LAYERS: &str = ".attention.head_count";

/// The maximum number of layers.
const MAX_LAYERS: u64 = 1 << 12;

/// Arrays of arrays: ggml has none.
const MAX_DEPTH: usize = 4;

pub(crate) const MAGIC: &[u8] = b"GGUF";

const FILES: &str = "split.count";

pub(crate) const TENSORS: &str = "split.tensors.count";

const ALIGNMENT: &str = "general.alignment";

/// Where the tensors are, which says nothing of the model.
const OF_LAYOUT: [&str; 4] = [ALIGNMENT, FILES, TENSORS, "split.no"];

const PIECE: u64 = 1 << 16;

/// The header, and the tensors in its order.
#[derive(Debug)]
pub(crate) struct GgufHeader {
    pub is_big_endian: bool,
    pub metadata: Metadata,
    /// The metadata without the values that are replaced by their lengths.
    pub kept: Metadata,
    pub tensors: Vec<StoredTensor>,
    /// The number of files of the model.
    pub files: u32,
    /// The number of tensors of all files, if the header has it.
    pub tensors_of_all: Option<u64>,
}

#[derive(Debug)]
pub(crate) struct StoredTensor {
    pub name: String,
    pub number_of_type: u32,
    /// The last axis is the innermost.
    pub shape: Vec<usize>,
    /// The offset in the file.
    pub start: u64,
    /// The bytes of its blocks; those up to the next tensor if the type is unknown.
    pub bytes: u64,
    /// Why it cannot be read.
    pub fault: Option<Error>,
}

impl GgufHeader {
    pub(crate) fn read(file: &dyn ReadAt) -> Result<Self> {
        let (mut bytes, tensors, keys) = HeaderBytes::begin(file)?;
        let (metadata, kept, numbers) = read_keys(&mut bytes, keys)?;
        let alignment: u64 = numbers.get(ALIGNMENT).copied().unwrap_or(32).into();
        ensure!(alignment.is_power_of_two(), "{ALIGNMENT} is {alignment}, expected a power of two");
        let tensors = (0..tensors).map(|_| read_tensor(&mut bytes)).collect::<Result<Vec<_>>>()?;
        let data = bytes.at.checked_next_multiple_of(alignment).context("a header without an end")?;
        let files = numbers.get(FILES).copied().unwrap_or(1);
        let tensors_of_all = metadata.get(TENSORS).and_then(|count| count.parse().ok());
        let mut header = Self { is_big_endian: bytes.is_big_endian, metadata, kept, tensors, files, tensors_of_all };
        header.place(data, bytes.len, alignment);
        let names = numbered(header.tensors.iter_mut().map(|tensor| mem::take(&mut tensor.name)).collect());
        header.tensors.iter_mut().zip(names).for_each(|(tensor, name)| tensor.name = name);
        Ok(header)
    }

    /// Each tensor begins where the one before it ends, at the next multiple of the alignment. If one does not, its
    /// predecessor has another size than its type and shape tell.
    fn place(&mut self, data: u64, file_len: u64, alignment: u64) {
        let mut expected = Some(0);
        for n in 0..self.tensors.len() {
            let start = self.tensors[n].start;
            if expected.is_some_and(|expected| expected != start) {
                let before = n.checked_sub(1).map(|before| &mut self.tensors[before]);
                match before.filter(|before| before.start <= start) {
                    Some(before) => before.blame(malformed!(
                        "{} bytes up to the next tensor, expected {} ({})",
                        start - before.start,
                        before.bytes.next_multiple_of(alignment),
                        before.blocks()
                    )),
                    None => {
                        let expected = expected.unwrap_or_default();
                        self.tensors[n].blame(malformed!("begins at byte {start} of the data, expected {expected}"));
                    }
                }
            }
            let next = self.tensors.get(n + 1).map(|next| next.start);
            let tensor = &mut self.tensors[n];
            let is_known = ItemType::numbered(tensor.number_of_type).is_ok();
            if !is_known {
                let end = next.unwrap_or(file_len.saturating_sub(data));
                tensor.bytes = end.saturating_sub(start);
            }
            let end = start.checked_add(tensor.bytes).and_then(|end| end.checked_next_multiple_of(alignment));
            expected = end.filter(|_| is_known);
        }
        // a wrong size is the better reason
        for tensor in &mut self.tensors {
            let (start, bytes) = (tensor.start, tensor.bytes);
            tensor.start = start.saturating_add(data);
            if tensor.start.saturating_add(bytes) > file_len {
                tensor.blame(malformed!(
                    "{bytes} bytes ({}) from byte {start} of the data on, which end after the {file_len} bytes of the file",
                    tensor.blocks()
                ));
            }
        }
    }
}

impl StoredTensor {
    /// Damage counts more than a type that is not read.
    fn blame(&mut self, damage: Error) {
        match &self.fault {
            Some(fault) if fault.kind() == ErrorKind::Malformed => {}
            Some(_) | None => self.fault = Some(damage),
        }
    }

    fn blocks(&self) -> String {
        let name = ItemType::numbered(self.number_of_type).map_or("unknown type", |known| known.name);
        format!("{name} {:?}", self.shape)
    }
}

type Numbers = HashMap<&'static str, u32>;

/// Also returns the numbers of the keys that affect reading.
fn read_keys(bytes: &mut HeaderBytes<'_>, keys: u64) -> Result<(Metadata, Metadata, Numbers)> {
    let (mut metadata, mut kept, mut numbers) = (Metadata::new(), Metadata::new(), HashMap::new());
    for _ in 0..keys {
        let key = bytes.text(MAX_NAME).context("a key")?;
        let quoted = python::repr_str(&key);
        bytes.listed = if key.contains(OF_LAYERS) { MAX_LAYERS } else { MAX_LISTED };
        let number = bytes.u32().with_context(|| quoted.clone())?;
        let value = bytes.value(number, 0).with_context(|| quoted.clone())?;
        if let Some(known) = [ALIGNMENT, FILES].into_iter().find(|known| *known == key) {
            let value = value.parse().map_err(|_| malformed!("{quoted} is {value}, expected a whole number"))?;
            numbers.insert(known, value);
        }
        if !mem::take(&mut bytes.elides) {
            kept.insert(key.clone(), value.clone());
        }
        ensure!(metadata.insert(key, value).is_none(), "the header has the key {quoted} twice");
    }
    Ok((metadata, kept, numbers))
}

fn read_tensor(bytes: &mut HeaderBytes<'_>) -> Result<StoredTensor> {
    let name = bytes.text(MAX_NAME).context("a tensor")?;
    let quoted = || python::repr_str(&name);
    let axes = bytes.u32()?;
    ensure!(axes as usize <= MAX_RANK, "{}: {axes} axes, expected at most {MAX_RANK}", quoted());
    let shape: Result<Vec<usize>> = (0..axes)
        .map(|_| {
            let dim = bytes.u64()?;
            let dim = usize::try_from(dim).ok().filter(|_| i64::try_from(dim).is_ok());
            dim.ok_or_else(|| malformed!("{}: an axis longer than any", quoted()))
        })
        .collect();
    let mut shape = shape?;
    shape.reverse();
    let (number_of_type, start) = (bytes.u32()?, bytes.u64()?);
    let (size, fault) = match ItemType::numbered(number_of_type) {
        Ok(known) => match size(known, &shape) {
            Ok(size) => (size, unreadable(known, bytes.is_big_endian)),
            Err(fault) => (0, Some(fault)),
        },
        Err(unknown) => (0, Some(unknown)),
    };
    Ok(StoredTensor { name, number_of_type, shape, start, bytes: size, fault })
}

fn size(known: &ItemType, shape: &[usize]) -> Result<u64> {
    let row = shape.last().copied().unwrap_or(1);
    if !row.is_multiple_of(known.items) {
        bail!("rows of {row} items, expected a multiple of {}, the items of a block of {}", known.items, known.name);
    }
    // items are read as float32s, so these count too
    let itemsize = if known.items == 1 { known.bytes } else { size_of::<f32>() };
    let bytes = bytes_of(shape, itemsize).ok_or_else(|| malformed!("shape {shape:?} is larger than memory can be"))?;
    Ok((bytes / itemsize / known.items * known.bytes) as u64)
}

fn unreadable(known: &ItemType, is_big_endian: bool) -> Option<Error> {
    let why = match &known.rule {
        BlockRule::Unspecified => "has intermediate results of ggml, for which it has no other type",
        BlockRule::Blocks(blocks) if is_big_endian && blocks.halves.is_none() => {
            "has no order of bytes that is known in a big-endian file"
        }
        BlockRule::Plain(_) | BlockRule::Blocks(_) => return None,
    };
    Some(Error::from_kind(ErrorKind::Unsupported, format!("type {} {why}", known.name)))
}

/// The values of a file, which are read again when they are compared.
#[derive(Debug)]
pub(crate) struct StoredValues(pub Arc<dyn ReadAt>);

impl ExactValues for StoredValues {
    fn values(&self) -> Result<BTreeMap<String, Vec<u8>>> {
        let (mut bytes, _, keys) = HeaderBytes::begin(&*self.0)?;
        let mut values = BTreeMap::new();
        for _ in 0..keys {
            let key = bytes.text(MAX_NAME)?;
            bytes.hash = Some(Sha256::new());
            let number = bytes.u32()?;
            bytes.value(number, 0)?;
            let hash = bytes.hash.take().expect("a hash for each value").finalize();
            values.extend((!OF_LAYOUT.contains(&&*key)).then(|| (key, hash.to_vec())));
        }
        Ok(values)
    }
}

struct HeaderBytes<'a> {
    file: &'a dyn ReadAt,
    len: u64,
    at: u64,
    /// The offset of `read` in the file.
    begin: u64,
    read: Vec<u8>,
    is_big_endian: bool,
    /// An array of more elements is replaced by its length.
    listed: u64,
    /// Whether a value was replaced by its length.
    elides: bool,
    /// A hash of all bytes in little-endian order. With it long values are read, too.
    hash: Option<Sha256>,
}

impl<'a> HeaderBytes<'a> {
    /// Also returns the numbers of tensors and keys.
    fn begin(file: &'a dyn ReadAt) -> Result<(Self, u64, u64)> {
        let (len, read) = (file.size()?, Vec::new());
        let mut bytes = Self {
            file,
            len,
            at: 0,
            begin: 0,
            read,
            is_big_endian: false,
            listed: MAX_LISTED,
            elides: false,
            hash: None,
        };
        ensure!(bytes.array::<4>()? == MAGIC, "does not begin with GGUF");
        let version = bytes.u32()?;
        // the small number is in the lower half in the byte order of the file
        bytes.is_big_endian = version & 0xffff == 0;
        let version = if bytes.is_big_endian { version.swap_bytes() } else { version };
        if !(2..=3).contains(&version) {
            let message = format!("version {version} of GGUF is not read, only 2 and 3");
            return Err(Error::from_kind(ErrorKind::Unsupported, message));
        }
        let (tensors, keys) = (bytes.u64()?, bytes.u64()?);
        ensure!(tensors <= MAX_TENSORS, "{tensors} tensors, expected at most {MAX_TENSORS}");
        ensure!(keys <= MAX_KEYS, "{keys} keys, expected at most {MAX_KEYS}");
        Ok((bytes, tensors, keys))
    }

    fn advance(&mut self, bytes: u64) -> Result<u64> {
        let at = self.at;
        let end = at.checked_add(bytes).filter(|end| *end <= self.len);
        self.at = end.ok_or_else(|| malformed!("the header goes beyond the {} bytes of the file", self.len))?;
        ensure!(self.at <= MAX_HEADER, "a header of more than {MAX_HEADER} bytes");
        Ok(at)
    }

    /// At most [`PIECE`] bytes.
    fn take(&mut self, bytes: u64) -> Result<&[u8]> {
        let at = self.advance(bytes)?;
        if at < self.begin || self.at > self.begin + self.read.len() as u64 {
            let piece = PIECE.min(self.len - at);
            self.read.resize(piece as usize, 0);
            self.file.read_at(&mut self.read, at)?;
            self.begin = at;
        }
        Ok(&self.read[(at - self.begin) as usize..][..bytes as usize])
    }

    fn array<const N: usize>(&mut self) -> Result<[u8; N]> {
        let bytes = self.take(N as u64)?;
        let mut array: [u8; N] = bytes.try_into().expect("as many bytes as were taken");
        if self.is_big_endian {
            array.reverse();
        }
        self.hash.iter_mut().for_each(|hash| hash.update(array));
        Ok(array)
    }

    fn u32(&mut self) -> Result<u32> {
        self.array().map(u32::from_le_bytes)
    }

    fn u64(&mut self) -> Result<u64> {
        self.array().map(u64::from_le_bytes)
    }

    fn text(&mut self, most: u64) -> Result<String> {
        let length = self.u64()?;
        ensure!(length <= most, "a name of {length} bytes, expected at most {most}");
        Ok(String::from_utf8_lossy(self.take(length)?).into_owned())
    }

    /// Returns a value as text. `number` is that of its type.
    fn value(&mut self, number: u32, depth: usize) -> Result<String> {
        Ok(match number {
            0 => self.array::<1>()?[0].to_string(),
            1 => self.array().map(i8::from_le_bytes)?.to_string(),
            2 => self.array().map(u16::from_le_bytes)?.to_string(),
            3 => self.array().map(i16::from_le_bytes)?.to_string(),
            4 => self.u32()?.to_string(),
            5 => self.array().map(i32::from_le_bytes)?.to_string(),
            6 => self.array().map(f32::from_le_bytes)?.to_string(),
            7 => (self.array::<1>()? != [0]).to_string(),
            8 => {
                let length = self.u64()?;
                if let Some(mut hash) = self.hash.take() {
                    for at in (0..length).step_by(PIECE as usize) {
                        hash.update(self.take(PIECE.min(length - at))?);
                    }
                    self.hash = Some(hash);
                    return Ok(String::new());
                }
                if length > MAX_TEXT {
                    self.advance(length)?;
                    self.elides = true;
                    return Ok(format!("[{length} bytes]"));
                }
                String::from_utf8_lossy(self.take(length)?).into_owned()
            }
            9 => self.list(depth)?,
            10 => self.u64()?.to_string(),
            11 => self.array().map(i64::from_le_bytes)?.to_string(),
            12 => self.array().map(f64::from_le_bytes)?.to_string(),
            _ => bail!("a value of type {number}, which is not known"),
        })
    }

    fn list(&mut self, depth: usize) -> Result<String> {
        ensure!(depth < MAX_DEPTH, "arrays nested more than {MAX_DEPTH} deep");
        let (number, length) = (self.u32()?, self.u64()?);
        let (what, bytes) = match number {
            0 => ("uint8", Some(1)),
            1 => ("int8", Some(1)),
            2 => ("uint16", Some(2)),
            3 => ("int16", Some(2)),
            4 => ("uint32", Some(4)),
            5 => ("int32", Some(4)),
            6 => ("float32", Some(4)),
            7 => ("bool", Some(1)),
            8 => ("strings", None),
            9 => ("arrays", None),
            10 => ("uint64", Some(8)),
            11 => ("int64", Some(8)),
            12 => ("float64", Some(8)),
            _ => bail!("an array of values of type {number}, which is not known"),
        };
        let listed = if bytes.is_some() { self.listed } else { MAX_LISTED };
        if length <= listed {
            let quoted = |value: String| if number == 8 { python::repr_str(&value) } else { value };
            let values = (0..length).map(|_| self.value(number, depth + 1).map(quoted)).collect::<Result<Vec<_>>>()?;
            return Ok(format!("[{}]", values.join(", ")));
        }
        match (number, bytes) {
            _ if self.hash.is_some() => {
                for _ in 0..length {
                    self.value(number, depth + 1)?;
                }
            }
            (_, Some(bytes)) => {
                self.advance(length.checked_mul(bytes).context("an array longer than any file")?)?;
            }
            (8, None) => {
                for _ in 0..length {
                    let bytes = self.u64()?;
                    self.advance(bytes)?;
                }
            }
            (_, None) => {
                for _ in 0..length {
                    self.list(depth + 1)?;
                }
            }
        }
        self.elides = true;
        Ok(format!("[{length} {what}]"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::storage::read_at::MemoryBytes;

    #[derive(Clone, Default)]
    struct Bytes(Vec<u8>);

    impl Bytes {
        fn u32(mut self, number: u32) -> Self {
            self.0.extend(number.to_le_bytes());
            self
        }

        fn u64(mut self, number: u64) -> Self {
            self.0.extend(number.to_le_bytes());
            self
        }

        fn text(self, text: &str) -> Self {
            let mut out = self.u64(text.len() as u64);
            out.0.extend(text.as_bytes());
            out
        }

        fn start(tensors: u64, keys: u64) -> Self {
            Self(MAGIC.to_vec()).u32(3).u64(tensors).u64(keys)
        }

        /// `dims` has the innermost first.
        fn tensor(self, name: &str, dims: &[u64], number: u32, offset: u64) -> Self {
            let out = self.text(name).u32(dims.len() as u32);
            dims.iter().fold(out, |out, dim| out.u64(*dim)).u32(number).u64(offset)
        }

        fn data(mut self, bytes: usize) -> Self {
            let end = self.0.len().next_multiple_of(32) + bytes;
            self.0.resize(end, 0);
            self
        }

        fn read(&self) -> Result<GgufHeader> {
            GgufHeader::read(&MemoryBytes::new(self.0.clone()))
        }
    }

    const F32: u32 = 0;
    const Q4_0: u32 = 2;
    const Q4_K: u32 = 12;
    /// A type of another program than ggml.
    const UNKNOWN: u32 = 156;

    #[test]
    fn values_as_text() {
        let list = |number: u32, length: u64| Bytes::default().u32(9).u32(number).u64(length);
        let words = |count: u64| (0..count).fold(list(8, count), |out, _| out.text("a"));
        let mut half = Bytes::default().u32(6);
        half.0.extend(0.5_f32.to_le_bytes());
        let rows = [
            (Bytes::default().u32(4).u32(7), "7"),
            (Bytes::default().u32(11).u64(u64::MAX), "-1"),
            (half, "0.5"),
            (Bytes::default().u32(8).text("a b"), "a b"),
            (Bytes::default().u32(8).text(&"a".repeat(1 << 17)), "[131072 bytes]"),
            (list(4, 2).u32(1).u32(2), "[1, 2]"),
            (list(4, 0), "[]"),
            (list(10, 17).data(17 * 8), "[17 uint64]"),
            (words(2), "['a', 'a']"),
            (words(17), "[17 strings]"),
            (list(9, 2).u32(4).u64(1).u32(5).u32(4).u64(0), "[[5], []]"),
        ];
        let mut failures = Vec::new();
        for (value, expected) in rows {
            let mut file = Bytes::start(0, 1).text("k");
            file.0.extend(value.0);
            match file.data(0).read() {
                Ok(header) if header.metadata["k"] == expected => {}
                other => failures.push(format!("{expected}: {other:?}")),
            }
        }
        assert!(failures.is_empty(), "{failures:#?}");
    }

    #[test]
    fn shapes_and_places() {
        let file = Bytes::start(3, 0)
            .tensor("a", &[64, 2], Q4_0, 0)
            .tensor("b", &[3], F32, 96)
            .tensor("a", &[], F32, 128)
            .data(132);
        let header = file.read().expect("a header");
        let data = file.0.len() as u64 - 132;
        let found: Vec<_> = header.tensors.iter().map(|t| (&*t.name, &*t.shape, t.start - data, t.bytes)).collect();
        assert_eq!(found, [("a", &[2, 64][..], 0, 72), ("b", &[3], 96, 12), ("a#2", &[], 128, 4)]);
        assert!(header.tensors.iter().all(|tensor| tensor.fault.is_none()));
    }

    /// The faults of tensors `a` and `b`.
    #[test]
    fn tensors_of_a_wrong_size() {
        let two = |a: (&[u64], u32), b: u64, bytes: usize| {
            Bytes::start(2, 0).tensor("a", a.0, a.1, 0).tensor("b", &[8], F32, b).data(bytes)
        };
        let rows: &[(Bytes, [&str; 2])] = &[
            (two((&[256, 2], Q4_K), 288, 320), ["", ""]),
            (two((&[256, 2], Q4_K), 160, 192), ["160 bytes up to the next tensor, expected 288 (q4_K [2, 256])", ""]),
            (two((&[256, 2], Q4_K), 320, 352), ["320 bytes up to the next tensor, expected 288 (q4_K [2, 256])", ""]),
            (two((&[256, 2], UNKNOWN), 320, 352), ["type 156 is not known", ""]),
            (two((&[256], 4), 320, 352), ["type 4 (q4_2), which ggml has removed, is not read", ""]),
            (two((&[32], 9), 64, 96), ["type q8_1 has intermediate results of ggml", ""]),
            (two((&[8], F32), 32, 60), ["", "32 bytes (float32 [8]) from byte 32 of the data on, which end after"]),
            (two((&[33], Q4_0), 32, 64), ["rows of 33 items, expected a multiple of 32", ""]),
            (two((&[1 << 40, 1 << 40], F32), 32, 64), ["is larger than memory can be", ""]),
            (two((&[0, 1 << 62, 4], F32), 0, 32), ["is larger than memory can be", ""]),
            (two((&[8], F32), u64::MAX, 64), ["bytes up to the next tensor", "which end after"]),
        ];
        let mut failures = Vec::new();
        for (file, expected) in rows {
            let header = file.read().expect("a header");
            for (tensor, expected) in header.tensors.iter().zip(expected) {
                let found = tensor.fault.as_ref().map(ToString::to_string).unwrap_or_default();
                if found.is_empty() != expected.is_empty() || !found.contains(&expected.replace("float32", "f32")) {
                    failures.push(format!("{}: {found:?}, expected {expected:?}", tensor.name));
                }
            }
        }
        let backwards = Bytes::start(2, 0).tensor("a", &[8], F32, 32).tensor("b", &[8], F32, 0).data(64).read();
        let faults = backwards.expect("a header").tensors.into_iter().map(|tensor| tensor.fault.is_some());
        assert_eq!(faults.collect::<Vec<_>>(), [true, true]);
        assert!(failures.is_empty(), "{failures:#?}");
    }

    #[test]
    fn malformed_headers() {
        let key = |number: u32| Bytes::start(0, 1).text("k").u32(number);
        let alignment = |value: u32| Bytes::start(0, 1).text(ALIGNMENT).u32(4).u32(value).data(0);
        let nested = (0..9).fold(key(9), |out, _| out.u32(9).u64(1)).data(0);
        let rows: &[(Bytes, &str)] = &[
            (Bytes(b"GGUF\x01\0\0\0".to_vec()).data(64), "version 1 of GGUF is not read, only 2 and 3"),
            (Bytes(b"GGUF\x04\0\0\0".to_vec()).data(64), "version 4 of GGUF is not read, only 2 and 3"),
            (Bytes(b"GGUF\x03\0".to_vec()), "the header goes beyond the 6 bytes of the file"),
            (Bytes::start(u64::MAX, 0), "tensors, expected at most"),
            (Bytes::start(0, u64::MAX), "keys, expected at most"),
            (Bytes::start(1000, 0), "the header goes beyond the 24 bytes of the file"),
            (key(13), "'k': a value of type 13, which is not known"),
            (key(8).u64(1 << 40), "the header goes beyond"),
            (key(9).u32(8).u64(u64::MAX), "the header goes beyond"),
            (key(9).u32(10).u64(u64::MAX), "an array longer than any file"),
            (key(9).u32(99).u64(1), "an array of values of type 99, which is not known"),
            (nested, "arrays nested more than 4 deep"),
            (key(4).u32(1).text("k"), ""),
            (Bytes::start(0, 2).text("k").u32(4).u32(1).text("k").u32(4).u32(1), "the header has the key 'k' twice"),
            (alignment(24), "general.alignment is 24, expected a power of two"),
            (alignment(0), "general.alignment is 0, expected a power of two"),
            (Bytes::start(1, 0).tensor("a", &[1; 65], F32, 0), "'a': 65 axes, expected at most 64"),
            (Bytes::start(1, 0).tensor("a", &[u64::MAX], F32, 0), "'a': an axis longer than any"),
            (Bytes::start(1, 0).text(&"n".repeat(1 << 16)), "a tensor: a name of 65536 bytes, expected at most 65535"),
        ];
        let mut failures = Vec::new();
        for (file, expected) in rows {
            let found = file.read().map(drop).map_or_else(|error| error.to_string(), |()| String::new());
            if found.is_empty() != expected.is_empty() || !found.contains(expected) {
                failures.push(format!("{found:?}, expected {expected:?}"));
            }
        }
        assert!(failures.is_empty(), "{failures:#?}");
    }

    /// Every header that is cut off is an error or has faults, and none is a panic.
    #[test]
    fn cut_and_changed_headers() {
        let file = Bytes::start(2, 2)
            .text("general.alignment")
            .u32(4)
            .u32(32)
            .text("k")
            .u32(9)
            .u32(8)
            .u64(1)
            .text("v")
            .tensor("a", &[64, 2], Q4_0, 0)
            .tensor("b", &[3], F32, 96)
            .data(108);
        assert!(file.read().is_ok());
        for end in 0..file.0.len() {
            let is_faulty = Bytes(file.0[..end].to_vec())
                .read()
                .is_ok_and(|header| header.tensors.iter().all(|t| t.fault.is_none()));
            assert!(!is_faulty, "cut at {end}");
        }
        for at in 0..file.0.len() {
            for byte in [0, 1, 0x7f, 0x80, 0xff] {
                let mut changed = file.clone();
                changed.0[at] = byte;
                let _ = changed.read();
            }
        }
    }
}
