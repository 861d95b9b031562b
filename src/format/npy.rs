//! NumPy's `.npy`: reads and writes its header. The items follow the header as they are in memory.
//!
//! `ndarray-npy` parses the header. Its grammar takes exponential time for nested brackets, keeps the last of two equal
//! keys and does not know `2L`, so `scan` looks at the characters first. The writer is our own, because the bytes are
//! to be those of `numpy.save`.

use std::io::{self, Read};

use ndarray_npy::npy::header::{Header as RawHeader, Layout as RawLayout, ParseHeaderError, ReadHeaderError};
use py_literal::Value;

use super::content::{Content, ContentSource};
use super::interface::{Extras, Layout, Place, Places, Reader, Writer};
use super::plain::{PlainItems, PlainReader};
use crate::error::{Error, Result, bail, ensure, malformed};
use crate::item::dtype::{DType, Field, Kind};
use crate::item::meta::{Meta, Order};
use crate::item::python;
use crate::layout::shape::{MAX_RANK, bytes_of};
use crate::storage::read_at::Section;
use crate::storage::source::wrong_length;

/// The first bytes of every `.npy` file.
pub const MAGIC: &[u8] = b"\x93NUMPY";

/// The longest header that is read, in bytes. A structured dtype of some ten thousand fields fits.
pub const MAX_HEADER: usize = 1 << 20;

/// How deep brackets may nest in a header that is read. The parser calls itself for each level, and a header of a MiB
/// of brackets would overflow the stack, which ends the process. No dtype of NumPy's prints more than a few.
const MAX_NESTING: usize = 32;

/// The most characters that the parser may read. It reads some values twice, and what is inside them twice as often, so
/// each level of `[` takes twice the time of the one around it (14 s at a depth of 22). Characters are counted as often
/// as they would be read; this many take half a second and 80 MB.
const MAX_READS: usize = 1 << 19;

/// The most digits of a dim.
const MAX_DIGITS: usize = 20;

/// The header of a `.npy`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Header {
    /// The tensor.
    pub meta: Meta,
    /// Where the items begin, in bytes from the beginning of the file.
    pub offset: usize,
    /// The bytes of all items.
    pub bytes: usize,
}

/// What the first bytes of a `.npy` show.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Begun {
    /// The whole header.
    Header(Header),
    /// The header is longer: this many bytes are needed next.
    Needs(usize),
}

/// Reads the header from the first bytes of a file, which begin with [`MAGIC`].
///
/// # Errors
/// The header is damaged, or larger than a header that is read.
pub fn read_header(begin: &[u8]) -> Result<Begun> {
    let Some(&[major, minor]) = begin.get(6..8) else { return Ok(Begun::Needs(8)) };
    ensure!(matches!((major, minor), (1..=3, 0)), "npy version {major}.{minor} is unknown: 1.0, 2.0 and 3.0 are");
    let prefix = if major == 1 { 10 } else { 12 };
    let Some(digits) = begin.get(8..prefix) else { return Ok(Begun::Needs(prefix)) };
    let len = digits.iter().rev().fold(0, |len, &byte| len << 8 | usize::from(byte));
    ensure!(len <= MAX_HEADER, "the header claims {len} bytes, at most {MAX_HEADER} are read");
    let Some(header) = begin.get(prefix..prefix + len) else { return Ok(Begun::Needs(prefix + len)) };
    let text: String = match major {
        3 => std::str::from_utf8(header).map_err(|_| malformed!("the header is not UTF-8"))?.to_owned(),
        _ => header.iter().map(|&byte| char::from(byte)).collect(),
    };
    parse(&text, prefix + len).map(Begun::Header)
}

/// Reads the dictionary of a header.
fn parse(text: &str, offset: usize) -> Result<Header> {
    let meta = match plain(text.trim_ascii()) {
        Some(meta) => meta,
        None => parsed(text)?,
    };
    let Meta { dtype, shape, .. } = &meta;
    ensure!(shape.len() <= MAX_RANK, "rank {}, at most {MAX_RANK} is read", shape.len());
    let bytes = bytes_of(shape, dtype.itemsize())
        .ok_or_else(|| malformed!("shape {shape:?} of {} is more than memory can address", dtype.name()))?;
    Ok(Header { meta, offset, bytes })
}

/// Reads a dictionary that is written as `numpy.save` writes that of a dtype without fields, which nearly all are. The
/// parser takes a hundred times as long, so that to list an archive of thousands of members would take longer than to
/// read their items. What this guesses is written again and compared, so it need not agree with the parser in anything
/// else, which is left to that.
fn plain(text: &str) -> Option<Meta> {
    let (descr, rest) = text.strip_prefix("{'descr': '")?.split_once("', 'fortran_order': ")?;
    let (order, dims) = rest.split_once(", 'shape': (")?;
    let dims = dims.strip_suffix("), }")?.split(',').map(str::trim_start).filter(|dim| !dim.is_empty());
    let shape = dims.map(str::parse).collect::<Result<Vec<usize>, _>>().ok()?;
    let order = if order == "True" { Order::Fortran } else { Order::C };
    let meta = Meta::new(DType::parse(descr).ok()?, shape).in_order(order);
    (dictionary(&meta, order) == text).then_some(meta)
}

/// Returns the dictionary that `numpy.save` writes for a tensor in that order.
fn dictionary(Meta { dtype, shape, .. }: &Meta, order: Order) -> String {
    let fortran_order = if order == Order::Fortran { "True" } else { "False" };
    let (descr, tuple) = (dtype.descr(), python::tuple(shape));
    format!("{{'descr': {descr}, 'fortran_order': {fortran_order}, 'shape': {tuple}, }}")
}

/// Reads a dictionary with the parser.
fn parsed(text: &str) -> Result<Meta> {
    // the parser needs UTF-8 and a line feed at the end, which not every writer puts there; as version 3 every header
    // has both, so that all versions take one way through the parser
    let text = scan(text.trim_ascii())? + "\n";
    let mut raw = b"\x93NUMPY\x03\x00".to_vec();
    raw.extend((text.len() as u32).to_le_bytes());
    raw.extend(text.as_bytes());
    let header = RawHeader::from_reader(&mut raw.as_slice()).map_err(|error| match error {
        ReadHeaderError::Parse(ParseHeaderError::MissingKey(key)) => malformed!("the header has no {key:?}"),
        ReadHeaderError::Parse(ParseHeaderError::UnknownKey(_)) => {
            malformed!("the header has a key beside descr, fortran_order and shape")
        }
        ReadHeaderError::Parse(ParseHeaderError::IllegalValue { key, .. }) => {
            malformed!("the header's {key:?} is not a value it can have")
        }
        _ => malformed!("the header is not a Python dictionary"),
    })?;
    let order = if header.layout == RawLayout::Fortran { Order::Fortran } else { Order::C };
    Ok(Meta::new(dtype(&header.type_descriptor)?, header.shape).in_order(order))
}

/// A bracket that is open.
struct Open {
    kind: char,
    /// Whether a value in it is complete.
    comma: bool,
    /// How many of the values around it, and itself, may be read twice.
    doublings: u32,
}

/// Checks a header before the parser gets it: bounds the parser's time and memory, refuses a key given twice, and drops
/// the `L` that Python 2 put behind long integers.
///
/// One pass over the characters, which knows only quotes and brackets, does this without a second parser that would
/// have to agree with the first.
fn scan(text: &str) -> Result<String> {
    let mut out = String::with_capacity(text.len() + 1);
    let mut open: Vec<Open> = Vec::new();
    let (mut quote, mut escaped) = (None, false);
    let (mut keys, mut reads, mut digits, mut dims) = (0, 0, 0, 0);
    let is = |open: &[Open], kinds: &[char]| open.iter().map(|open| open.kind).eq(kinds.iter().copied());
    for c in text.chars() {
        reads += 1_usize << open.last().map_or(0, |open| open.doublings).min(20);
        digits = if c.is_ascii_digit() && quote.is_none() { digits + 1 } else { 0 };
        match quote {
            Some(_) if escaped => escaped = false,
            Some(_) if c == '\\' => escaped = true,
            Some(q) if c == q => quote = None,
            Some(_) => {}
            None => match c {
                '\'' | '"' => quote = Some(c),
                '(' | '[' | '{' => {
                    ensure!(c != '{' || open.is_empty(), "the header has a dictionary or set in its dictionary");
                    // any value of a list may be the last, and any but the first of a tuple: the parser reads these
                    // twice
                    let doublings = open.last().map_or(0, |outer| {
                        outer.doublings + u32::from(outer.kind == '[' || outer.kind == '(' && outer.comma)
                    });
                    open.push(Open { kind: c, comma: false, doublings });
                }
                ')' | ']' | '}' => drop(open.pop()),
                ':' if is(&open, &['{']) => keys += 1,
                ',' => {
                    dims += usize::from(is(&open, &['{', '(']));
                    open.last_mut().into_iter().for_each(|open| open.comma = true);
                }
                'L' if out.ends_with(|c: char| c.is_ascii_digit()) => continue,
                _ => {}
            },
        }
        ensure!(open.len() <= MAX_NESTING && reads <= MAX_READS, "the header nests too deeply");
        ensure!(
            digits <= MAX_DIGITS && dims <= MAX_RANK,
            "the header has more than {MAX_RANK} dims, or one of more than {MAX_DIGITS} digits"
        );
        out.push(c);
    }
    ensure!(keys <= 3, "the header has more than its three keys");
    Ok(out)
}

/// Returns the error of a dtype as one of the header that has it.
fn about_header(error: Error) -> Error {
    malformed!("{}", error.message())
}

/// Returns the dtype of a `descr`.
fn dtype(descr: &Value) -> Result<DType> {
    match descr {
        Value::String(text) => DType::parse(text).map_err(about_header),
        Value::List(fields) => structured(fields),
        _ => bail!("the header's \"descr\" is neither a string nor a list of fields"),
    }
}

/// Returns the dtype of a list of fields. NumPy lays them out one after the other; void without a name is padding.
fn structured(list: &[Value]) -> Result<DType> {
    let mut fields = Vec::with_capacity(list.len());
    let mut offset = 0_usize;
    for item in list {
        let refused = || malformed!("a field of the header's \"descr\" is not (name, descr) or (name, descr, shape)");
        let members = item.as_tuple().filter(|members| (2..=3).contains(&members.len())).ok_or_else(refused)?;
        let (title, name) = match &members[0] {
            Value::String(name) => (None, name.clone()),
            Value::Tuple(names) => match &names[..] {
                [Value::String(title), Value::String(name)] => (Some(title.clone()), name.clone()),
                _ => return Err(refused()),
            },
            _ => return Err(refused()),
        };
        let mut shapes = Vec::new();
        if let Some(outer) = members.get(2) {
            shapes.push(dims(outer).ok_or_else(refused)?);
        }
        let mut descr = &members[1];
        while let Value::Tuple(pair) = descr {
            let [inner, shape] = &pair[..] else { return Err(refused()) };
            shapes.push(dims(shape).ok_or_else(refused)?);
            descr = inner;
        }
        let inner = dtype(descr)?;
        let size = bytes_of(&shapes.concat(), inner.itemsize());
        let end = size.and_then(|size| offset.checked_add(size)).filter(|&end| isize::try_from(end).is_ok());
        let end = end.ok_or_else(|| malformed!("an item is larger than memory can be"))?;
        let padding = name.is_empty() && title.is_none() && shapes.is_empty() && matches!(inner.kind(), Kind::Void(_));
        if !padding {
            fields.push(Field { name, title, dtype: inner, shapes, offset });
        }
        offset = end;
    }
    DType::structured(fields, offset).map_err(about_header)
}

/// Returns the dims of a sub-array, which are a tuple or one number.
fn dims(value: &Value) -> Option<Vec<usize>> {
    let number = |value: &Value| value.as_integer().and_then(|n| usize::try_from(n).ok());
    match value {
        Value::Tuple(dims) => dims.iter().map(number).collect(),
        one => Some(vec![number(one)?]),
    }
}

/// Returns the header that `numpy.save` writes, byte for byte, so that files of either program can be compared by their
/// bytes. It says Fortran order only if that differs from C order. The header of `ndarray-npy` has other padding, and a
/// whole 64 bytes more if it was aligned already.
pub fn write_header(meta: &Meta) -> Vec<u8> {
    /// Room for the digits of a dim that grows, so that items need not move: more than the largest int64 has.
    const GROWTH_DIGITS: usize = 21;
    const ALIGN: usize = 64;
    // an array with one long axis, or without items, is in both orders
    let Meta { shape, order, .. } = meta;
    let fortran_order =
        *order == Order::Fortran && !shape.contains(&0) && shape.iter().filter(|&&dim| dim != 1).count() > 1;
    let mut text = dictionary(meta, if fortran_order { Order::Fortran } else { Order::C });
    // the file can grow along this axis
    if let Some(grows) = if fortran_order { shape.last() } else { shape.first() } {
        let digits = grows.to_string().len();
        text.push_str(&" ".repeat(GROWTH_DIGITS - digits));
    }
    let latin1: Option<Vec<u8>> = text.chars().map(|c| u8::try_from(u32::from(c)).ok()).collect();
    let padding = |prefix: usize, len: usize| ALIGN - (prefix + len + 1) % ALIGN;
    let (version, body) = match latin1 {
        Some(body) if body.len() + padding(10, body.len()) < usize::from(u16::MAX) => (1, body),
        Some(body) => (2, body),
        None => (3, text.into_bytes()),
    };
    let prefix = if version == 1 { 10 } else { 12 };
    let padding = padding(prefix, body.len());
    let len = body.len() + padding + 1;
    let mut out = Vec::with_capacity(prefix + len);
    out.extend(MAGIC);
    out.extend([version, 0]);
    out.extend(&(len as u32).to_le_bytes()[..prefix - 8]);
    out.extend(body);
    out.extend(std::iter::repeat_n(b' ', padding));
    out.push(b'\n');
    out
}

/// The last character of the padding of a header while an append is under way: see [`npy_append`](super::npy_append).
pub(super) const GROWING: u8 = b'\t';

/// Returns whether a header says that an append is under way, or was stopped.
fn is_growing(header: &[u8]) -> bool {
    header.ends_with(&[GROWING, b'\n'])
}

/// Returns a header in the place of `old`, which is that of a `.npy` file: as long, for items of the same dtype with
/// another shape and in that order. `None` if it has no room there, or its encoding has no room for a name in the dtype.
///
/// # Errors
/// `old` is no header, or not the whole of one.
pub fn header_in_place(old: &[u8], shape: &[usize], order: Order) -> Result<Option<Vec<u8>>> {
    ensure!(old.starts_with(MAGIC), "no .npy file: does not begin with \\x93NUMPY");
    let Begun::Header(Header { meta, offset, .. }) = read_header(old)? else { bail!("ends inside its header") };
    let (prefix, is_latin1) = (if old[6] == 1 { 10 } else { 12 }, old[6] < 3);
    let text = dictionary(&Meta::new(meta.dtype, shape.to_vec()), order);
    let body = match is_latin1 {
        true => text.chars().map(|c| u8::try_from(c).ok()).collect(),
        false => Some(text.into_bytes()),
    };
    let Some(mut body) = body else { return Ok(None) };
    let Some(padding) = (offset - prefix).checked_sub(body.len() + 1) else { return Ok(None) };
    body.extend(std::iter::repeat_n(b' ', padding).chain([b'\n']));
    if is_growing(old) {
        let Some(last) = body.len().checked_sub(2).filter(|_| padding > 0) else { return Ok(None) };
        body[last] = GROWING;
    }
    Ok(Some([&old[..prefix], &body].concat()))
}

/// Opens a `.npy`: reads its header.
///
/// # Errors
/// The header is malformed; the file is longer or shorter than the header says; reading fails.
pub(super) fn open(content: Content) -> Result<Box<dyn Reader>> {
    let Content { mut begin, opened, .. } = content;
    let (header, items) = match opened {
        ContentSource::Bytes { bytes, size, .. } => {
            let mut rest = Section::new(&*bytes, begin.len() as u64, size - begin.len() as u64);
            let header = read_on(&mut rest, &mut begin)?;
            // what an append that was stopped has left behind the items is not part of them
            let whole = header.offset as u64 + header.bytes as u64;
            let is_stopped = is_growing(&begin[..header.offset]);
            check_len(&header, if is_stopped { size.min(whole) } else { size })?;
            (header, PlainItems::Bytes(bytes))
        }
        ContentSource::Folder(_) => bail!("is a folder, expected a file"),
        ContentSource::Stream(mut stream) => {
            let header = read_on(&mut stream, &mut begin)?;
            let items = io::Cursor::new(begin.split_off(header.offset)).chain(stream);
            let whole = if is_growing(&begin) { header.bytes as u64 } else { u64::MAX };
            let items = items.take(whole);
            (header, PlainItems::stream(items))
        }
    };
    let Header { meta, offset, .. } = header;
    Ok(Box::new(PlainReader { meta, start: offset as u64, items, unwritten: None }))
}

/// Reads the header of `stream`, whose first bytes are in `begin` already; appends those that it reads beyond them.
///
/// # Errors
/// The content is no `.npy`; the header is malformed or cut off; reading fails.
pub(super) fn read_on(stream: &mut impl Read, begin: &mut Vec<u8>) -> Result<Header> {
    let mut needs = MAGIC.len();
    loop {
        let missing = needs.saturating_sub(begin.len());
        stream.by_ref().take(missing as u64).read_to_end(begin)?;
        ensure!(
            MAGIC.starts_with(begin.get(..MAGIC.len()).unwrap_or(begin)),
            "no .npy file: does not begin with \\x93NUMPY"
        );
        ensure!(begin.len() >= needs, "ends after {} bytes, inside its header of {needs}", begin.len());
        match read_header(begin)? {
            Begun::Header(header) => return Ok(header),
            Begun::Needs(bytes) => needs = bytes,
        }
    }
}

/// Checks that the items of a file of `len` bytes, of which the header has been read, take as many as the header needs.
///
/// # Errors
/// They take more or fewer.
pub(super) fn check_len(header: &Header, len: u64) -> Result<()> {
    let found = len - header.offset as u64;
    ensure!(found == header.bytes as u64, "{}", wrong_length(found, header.bytes as u64, &header.meta));
    Ok(())
}

/// Writes `.npy`, which holds every dtype.
#[derive(Debug)]
pub(super) struct NpyWriter;

impl Writer for NpyWriter {
    fn check(&self, _: &DType) -> Result<()> {
        Ok(())
    }

    fn layout(&self, tensors: &[(&str, &Meta)], _: &Extras) -> Result<Layout> {
        let [(_, meta)] = tensors else { bail!("{} tensors, and a .npy holds one", tensors.len()) };
        let header = write_header(meta);
        let place = Place::bytewise(header.len() as u64, meta);
        Ok(Layout::Places(Places::new(header, vec![place])))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// What is read without the parser is what the parser reads, and what is written in any other way is left to it.
    #[test]
    fn plain_dictionaries() {
        let plain_ones = [
            "{'descr': '<f4', 'fortran_order': False, 'shape': (), }",
            "{'descr': '>i8', 'fortran_order': True, 'shape': (3,), }",
            "{'descr': '|u1', 'fortran_order': True, 'shape': (3, 0, 18446744073709551615), }",
            "{'descr': '<V2', 'fortran_order': False, 'shape': (2, 3), }",
            "{'descr': '<M8[ns]', 'fortran_order': False, 'shape': (2, 3), }",
            "{'descr': '|S5', 'fortran_order': False, 'shape': (1, 1), }",
        ];
        for text in plain_ones {
            let found = plain(text);
            assert!(found.is_some() || text.contains("V2"), "{text}");
            assert!(found.is_none_or(|found| found == parsed(text).expect(text)), "{text}");
        }
        let others = [
            "",
            "{'descr': '<f4', 'fortran_order': False, 'shape': (3), }",
            "{'descr': '<f4', 'fortran_order': False, 'shape': (3,,), }",
            "{'descr': '<f4', 'fortran_order': False, 'shape': (03,), }",
            "{'descr': '<f4', 'fortran_order': False, 'shape': (3L,), }",
            "{'descr': '<f4', 'fortran_order': False, 'shape': (-3,), }",
            "{'descr': '<f4', 'fortran_order': 0, 'shape': (3,), }",
            "{'descr': 'float32', 'fortran_order': False, 'shape': (3,), }",
            "{'descr': '<f4', 'fortran_order': False, 'shape': (3,)}",
            "{'descr': '|O', 'fortran_order': False, 'shape': (3,), }",
            "{'shape': (3,), 'descr': '<f4', 'fortran_order': False, }",
            "{'descr': [('a', '<f4')], 'fortran_order': False, 'shape': (3,), }",
        ];
        others.iter().for_each(|text| assert_eq!(plain(text), None, "{text}"));
    }
}
