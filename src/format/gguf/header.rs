//! The header of a GGUF file (`docs/gguf.md` and `src/gguf.cpp` of ggml), read from front to back. Values that are not
//! kept are passed over without being read.

use std::collections::HashMap;
use std::fmt::Write;

use super::types::{ItemType, Rule};
use crate::error::{Context, Error, ErrorKind, Result, bail, ensure, malformed};
use crate::item::python;
use crate::layout::shape::bytes_of;
use crate::storage::read_at::ReadAt;
use crate::storage::source::Metadata;

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

/// An array of more elements is not kept, but counted.
const MAX_LISTED: u64 = 16;

/// Arrays of arrays: ggml has none.
const MAX_DEPTH: usize = 4;

/// As in ggml.
const MAX_AXES: u32 = 4;

pub(super) const MAGIC: &[u8] = b"GGUF";

const ALIGNMENT: &str = "general.alignment";

const PIECE: u64 = 1 << 16;

/// The header, and the tensors in its order.
#[derive(Debug)]
pub(super) struct Header {
    pub is_big_endian: bool,
    pub metadata: Metadata,
    pub tensors: Vec<StoredTensor>,
}

#[derive(Debug)]
pub(super) struct StoredTensor {
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

impl Header {
    pub(super) fn read(file: &dyn ReadAt) -> Result<Self> {
        let mut bytes =
            HeaderBytes { file, len: file.size()?, at: 0, begin: 0, read: Vec::new(), is_big_endian: false };
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
        let (metadata, numbers) = read_keys(&mut bytes, keys)?;
        let alignment: u64 = numbers.get(ALIGNMENT).copied().unwrap_or(32).into();
        ensure!(alignment.is_power_of_two(), "{ALIGNMENT} is {alignment}, expected a power of two");
        let tensors = (0..tensors).map(|_| read_tensor(&mut bytes)).collect::<Result<Vec<_>>>()?;
        let data = bytes.at.checked_next_multiple_of(alignment).context("a header without an end")?;
        let mut header = Self { is_big_endian: bytes.is_big_endian, metadata, tensors };
        header.place(data, bytes.len, alignment);
        header.rename_repeated();
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
            let end = start.checked_add(tensor.bytes);
            expected = end.and_then(|end| end.checked_next_multiple_of(alignment)).filter(|_| is_known);
            match end.and_then(|end| end.checked_add(data)) {
                Some(end) if end <= file_len => {}
                _ => {
                    tensor.blame(malformed!(
                        "{} bytes ({}) from byte {start} of the data on, which end after the {file_len} bytes of the file",
                        tensor.bytes,
                        tensor.blocks()
                    ));
                }
            }
        }
        self.tensors.iter_mut().for_each(|tensor| tensor.start = tensor.start.saturating_add(data));
    }

    /// A repeated name gets `#2`, `#3`.
    fn rename_repeated(&mut self) {
        let mut seen: HashMap<String, usize> = HashMap::new();
        for tensor in &mut self.tensors {
            let times = seen.entry(tensor.name.clone()).or_default();
            *times += 1;
            if *times > 1 {
                write!(tensor.name, "#{times}").expect("a String takes any text");
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
fn read_keys(bytes: &mut HeaderBytes<'_>, keys: u64) -> Result<(Metadata, Numbers)> {
    let (mut metadata, mut numbers) = (Metadata::new(), HashMap::new());
    for _ in 0..keys {
        let key = bytes.text(MAX_NAME).context("a key")?;
        let quoted = python::repr_str(&key);
        let number = bytes.u32().with_context(|| quoted.clone())?;
        let value = bytes.value(number, 0).with_context(|| quoted.clone())?;
        if let Some(known) = [ALIGNMENT].into_iter().find(|known| *known == key) {
            let value = value.parse().map_err(|_| malformed!("{quoted} is {value}, expected a whole number"))?;
            numbers.insert(known, value);
        }
        ensure!(metadata.insert(key, value).is_none(), "the header has the key {quoted} twice");
    }
    Ok((metadata, numbers))
}

fn read_tensor(bytes: &mut HeaderBytes<'_>) -> Result<StoredTensor> {
    let name = bytes.text(MAX_NAME).context("a tensor")?;
    let quoted = || python::repr_str(&name);
    let axes = bytes.u32()?;
    ensure!(axes <= MAX_AXES, "{}: {axes} axes, expected at most {MAX_AXES}", quoted());
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
        Rule::Unspecified => "has intermediate results of ggml, for which it has no other type",
        Rule::Blocks(blocks) if is_big_endian && blocks.halves.is_none() => {
            "has no order of bytes that is known in a big-endian file"
        }
        Rule::Plain(_) | Rule::Blocks(_) => return None,
    };
    Some(Error::from_kind(ErrorKind::Unsupported, format!("type {} {why}", known.name)))
}

struct HeaderBytes<'a> {
    file: &'a dyn ReadAt,
    len: u64,
    at: u64,
    /// The offset of the bytes that were read.
    begin: u64,
    read: Vec<u8>,
    is_big_endian: bool,
}

impl HeaderBytes<'_> {
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
                if length > MAX_TEXT {
                    self.advance(length)?;
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
        if length <= MAX_LISTED {
            let quoted = |value: String| if number == 8 { python::repr_str(&value) } else { value };
            let values = (0..length).map(|_| self.value(number, depth + 1).map(quoted)).collect::<Result<Vec<_>>>()?;
            return Ok(format!("[{}]", values.join(", ")));
        }
        match (number, bytes) {
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
        Ok(format!("[{length} {what}]"))
    }
}
