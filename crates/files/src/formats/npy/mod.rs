//! NumPy's `.npy` headers, written byte for byte as by `numpy.save`. Only tests use the crate ndarray-npy, which
//! cannot read windows or many dtypes, and parses nested brackets in exponential time.

pub(crate) mod literal;
pub mod npy_file;

use std::borrow::Cow;
use std::io::Read;

use self::literal::{Literal, LiteralEntry};
use crate::container::file_options::LayoutRequest;
use crate::container::interface::{ItemsPlace, Layout, Places, ReadsBack, Writer};
use crate::storage::source::wrong_length;
use tensorop_kernels::error::{Error, Result, bail, ensure, malformed};
use tensorop_kernels::item::dtype::{DType, Field, Kind};
use tensorop_kernels::item::meta::{Meta, Order};
use tensorop_kernels::item::python;
use tensorop_kernels::layout::axis::{MAX_RANK, bytes_of};

/// The first bytes of every `.npy` file.
pub const MAGIC: &[u8] = b"\x93NUMPY";

/// The longest header in bytes, enough for some ten thousand fields.
pub const MAX_HEADER: usize = 1 << 20;

/// The header of a `.npy`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Header {
    pub meta: Meta,
    /// The byte where the items begin.
    pub offset: usize,
    pub bytes: usize,
}

/// The result of [`read_header`].
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Begun {
    Header(Header),
    /// The bytes that the header needs.
    Needs(usize),
}

/// Reads the header from a file's first bytes, which begin with [`MAGIC`].
///
/// # Errors
/// The header is malformed or too long.
pub fn read_header(begin: &[u8]) -> Result<Begun> {
    let Some(&[major, minor]) = begin.get(6..8) else { return Ok(Begun::Needs(8)) };
    ensure!(matches!((major, minor), (1..=3, 0)), "npy version {major}.{minor}, expected 1.0, 2.0 or 3.0");
    let prefix = if major == 1 { 10 } else { 12 };
    let Some(digits) = begin.get(8..prefix) else { return Ok(Begun::Needs(prefix)) };
    let len = digits.iter().rev().fold(0, |len, &byte| len << 8 | usize::from(byte));
    ensure!(len <= MAX_HEADER, "the header claims {len} bytes, expected at most {MAX_HEADER}");
    let Some(header) = begin.get(prefix..prefix + len) else { return Ok(Begun::Needs(prefix + len)) };
    let text: Cow<'_, str> = match std::str::from_utf8(header) {
        Ok(text) if major == 3 || text.is_ascii() => text.into(),
        Err(_) if major == 3 => bail!("the header is not UTF-8"),
        Ok(_) | Err(_) => header.iter().map(|&byte| char::from(byte)).collect(),
    };
    // NumPy accepts long integers only in the versions of Python 2
    parse(&text, major < 3, prefix + len).map(Begun::Header)
}

fn parse(text: &str, has_longs: bool, offset: usize) -> Result<Header> {
    let meta = meta(text, has_longs)?;
    let Meta { dtype, shape, .. } = &meta;
    ensure!(shape.len() <= MAX_RANK, "rank {}, expected at most {MAX_RANK}", shape.len());
    let bytes = bytes_of(shape, dtype.itemsize())
        .ok_or_else(|| malformed!("shape {shape:?} of {} is more than memory can address", dtype.name()))?;
    Ok(Header { meta, offset, bytes })
}

fn meta(text: &str, has_longs: bool) -> Result<Meta> {
    let (mut descr, mut fortran_order, mut shape) = (None, None, None);
    let entries = literal::dictionary(text, has_longs)?;
    ensure!(entries.len() <= 3, "the header has more than its three keys");
    for LiteralEntry { key, value } in entries {
        let Literal::Text(key) = key else { bail!("the header has a key that is not a string") };
        match (&key[..], value) {
            ("descr", value) => descr = Some(value),
            ("fortran_order", Literal::Bool(value)) => fortran_order = Some(value),
            ("fortran_order", value) => {
                bail!("the header's fortran_order is {}, expected True or False", short(&value))
            }
            ("shape", value) => {
                let is_tuple = matches!(value, Literal::Tuple(_));
                let found = dims(&value).filter(|_| is_tuple);
                let refused =
                    || malformed!("the header's shape is {}, expected a tuple of dims such as (2, 3)", short(&value));
                shape = Some(found.ok_or_else(refused)?);
            }
            _ => bail!("the header has a key other than descr, fortran_order and shape"),
        }
    }
    let missing = |key: &str| malformed!("the header has no {key:?}");
    let descr = descr.ok_or_else(|| missing("descr"))?;
    let order = if fortran_order.ok_or_else(|| missing("fortran_order"))? { Order::Fortran } else { Order::C };
    let shape = shape.ok_or_else(|| missing("shape"))?;
    Ok(Meta::c_order(dtype(&descr)?, shape).in_order(order))
}

fn short(value: &Literal) -> String {
    const SHOWN: usize = 60;
    let text = value.to_string();
    match text.char_indices().nth(SHOWN) {
        Some((end, _)) => format!("{}...", &text[..end]),
        None => text,
    }
}

fn dictionary(Meta { dtype, shape, .. }: &Meta, order: Order) -> String {
    let fortran_order = if order == Order::Fortran { "True" } else { "False" };
    let (descr, tuple) = (dtype.descr(), python::tuple(shape));
    format!("{{'descr': {descr}, 'fortran_order': {fortran_order}, 'shape': {tuple}, }}")
}

fn about_header(error: Error) -> Error {
    malformed!("{}", error.message())
}

/// Bytes, several times the longest dtype without fields.
const MAX_DESCR: usize = 256;

fn dtype(descr: &Literal) -> Result<DType> {
    match descr {
        Literal::Text(text) if text.len() > MAX_DESCR => {
            bail!("the header's \"descr\" has {} characters, more than any dtype has", text.chars().count())
        }
        Literal::Text(text) => DType::parse(text).map_err(about_header),
        Literal::List(fields) => structured(fields),
        _ => bail!("the header's \"descr\" is neither a string nor a list of fields"),
    }
}

/// NumPy leaves no gaps; void without a name is padding.
fn structured(list: &[Literal]) -> Result<DType> {
    let mut fields = Vec::with_capacity(list.len());
    let mut offset = 0_usize;
    for item in list {
        let refused = || malformed!("a field of the header's \"descr\" is not (name, descr) or (name, descr, shape)");
        let Literal::Tuple(members) = item else { return Err(refused()) };
        ensure!((2..=3).contains(&members.len()), "{}", refused().message());
        let (title, name) = match &members[0] {
            Literal::Text(name) => (None, name.clone()),
            Literal::Tuple(names) => match &names[..] {
                [Literal::Text(title), Literal::Text(name)] => (Some(title.clone()), name.clone()),
                _ => return Err(refused()),
            },
            _ => return Err(refused()),
        };
        let mut shapes = Vec::new();
        if let Some(outer) = members.get(2) {
            shapes.push(dims(outer).ok_or_else(refused)?);
        }
        let mut descr = &members[1];
        while let Literal::Tuple(pair) = descr {
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

/// A sub-array may have a single number.
fn dims(shape: &Literal) -> Option<Vec<usize>> {
    let number = |dim: &Literal| if let Literal::Number(number) = *dim { Some(number) } else { None };
    match shape {
        Literal::Tuple(dims) => dims.iter().map(number).collect(),
        one => Some(vec![number(one)?]),
    }
}

/// Returns the header that `numpy.save` writes, byte for byte.
pub fn write_header(meta: &Meta) -> Vec<u8> {
    /// Room for a dim to grow without moving items: more digits than int64 has.
    const GROWTH_DIGITS: usize = 21;
    const ALIGN: usize = 64;
    // an array with one long axis, or without items, is in both orders
    let Meta { shape, order, .. } = meta;
    let fortran_order =
        *order == Order::Fortran && !shape.contains(&0) && shape.iter().filter(|&&dim| dim != 1).count() > 1;
    let mut text = dictionary(meta, if fortran_order { Order::Fortran } else { Order::C });
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

/// The last padding character during an append: see [`Append`](super::npy::npy_file::Append).
pub(crate) const GROWING: u8 = b'\t';

pub(crate) fn is_growing(header: &[u8]) -> bool {
    header.ends_with(&[GROWING, b'\n'])
}

/// Returns a header as long as `old` for another shape and order; `None` if it does not fit.
///
/// # Errors
/// `old` is not a complete header.
pub fn header_in_place(old: &[u8], shape: &[usize], order: Order) -> Result<Option<Vec<u8>>> {
    ensure!(old.starts_with(MAGIC), "not a .npy file: does not begin with \\x93NUMPY");
    let Begun::Header(Header { meta, offset, .. }) = read_header(old)? else { bail!("ends inside its header") };
    let (prefix, is_latin1) = (if old[6] == 1 { 10 } else { 12 }, old[6] < 3);
    let text = dictionary(&Meta::c_order(meta.dtype, shape.to_vec()), order);
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

pub(crate) fn read_on(stream: &mut impl Read, begin: &mut Vec<u8>) -> Result<Header> {
    let mut needs = MAGIC.len();
    loop {
        let missing = needs.saturating_sub(begin.len());
        stream.by_ref().take(missing as u64).read_to_end(begin)?;
        ensure!(
            MAGIC.starts_with(begin.get(..MAGIC.len()).unwrap_or(begin)),
            "not a .npy file: does not begin with \\x93NUMPY"
        );
        ensure!(begin.len() >= needs, "ends after {} bytes, inside its header of {needs}", begin.len());
        match read_header(begin)? {
            Begun::Header(header) => return Ok(header),
            Begun::Needs(bytes) => needs = bytes,
        }
    }
}

pub(crate) fn check_len(header: &Header, len: u64) -> Result<()> {
    let found = len - header.offset as u64;
    ensure!(found == header.bytes as u64, "{}", wrong_length(found, header.bytes as u64, &header.meta));
    Ok(())
}

#[derive(Debug)]
pub(crate) struct NpyWriter;

/// NumPy saves dtypes that it has no name for as void; a comparison restores a dtype if only one has the item size.
pub(crate) fn reads_back(meta: &Meta) -> ReadsBack {
    match dtype(&Literal::Text(meta.dtype.descr().trim_matches('\'').to_owned())) {
        Ok(found) if found != meta.dtype && DType::names_of_size(found.itemsize()).count() > 1 => {
            ReadsBack::of(meta, Meta::c_order(found, meta.shape.clone()))
        }
        Ok(_) | Err(_) => ReadsBack::Same,
    }
}

impl Writer for NpyWriter {
    fn reads_back(&self, meta: &Meta) -> ReadsBack {
        reads_back(meta)
    }

    fn layout(&self, tensors: &[(&str, &Meta)], _: &LayoutRequest<'_>) -> Result<Layout> {
        let [(_, meta)] = tensors else { bail!("{} tensors, and a .npy holds one", tensors.len()) };
        let header = write_header(meta);
        let place = ItemsPlace::bytewise(header.len() as u64, meta);
        Ok(Layout::Places(Places::new(header, vec![place])))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn headers_are_read_back() {
        for dtype in ["<f4", ">i8", "|u1", "|V2", "<M8[ns]", "|S5", "<U3", "|b1"] {
            for shape in [vec![], vec![3], vec![3, 0, usize::MAX], vec![1; MAX_RANK]] {
                for order in [Order::C, Order::Fortran] {
                    let written = Meta::c_order(DType::parse(dtype).unwrap(), shape.clone()).in_order(order);
                    let text = dictionary(&written, order);
                    assert_eq!(meta(&format!("{text}   \t\n"), true).expect(&text), written, "{text}");
                }
            }
        }
    }

    #[test]
    fn other_headers() {
        let float = |shape: &[usize]| Some(Meta::c_order(DType::parse("<f4").unwrap(), shape.to_vec()));
        let rows = [
            ("{'descr': '<f4', 'fortran_order': False, 'shape': (3L,)}", float(&[3]), ""),
            ("{\"shape\": (3, 4), 'fortran_order':False,'descr':'\\x3cf4',}", float(&[3, 4]), ""),
            (
                "{'descr': '<f4', 'fortran_order': False, 'shape': (3), }",
                None,
                "the header's shape is 3, expected a tuple of dims such as (2, 3)",
            ),
            (
                "{'descr': '<f4', 'fortran_order': False, 'shape': 3, }",
                None,
                "the header's shape is 3, expected a tuple of dims such as (2, 3)",
            ),
            (
                "{'descr': '<f4', 'fortran_order': False, 'shape': (-3,), }",
                None,
                "the header's shape is (-3,), expected",
            ),
            ("{'descr': '<f4', 'fortran_order': False, 'shape': [3L], }", None, "the header's shape is [3], expected"),
            ("{'descr': '<f4', 'fortran_order': False, 'shape': None, }", None, "the header's shape is None, expected"),
            (
                "{'descr': '<f4', 'fortran_order': False, 'shape': (2,, 3), }",
                None,
                "the header is not a Python dictionary at ', 3), }'",
            ),
            (
                "{'descr': '<f4', 'fortran_order': False",
                None,
                "the header is not a Python dictionary: it ends too early",
            ),
            (
                "{'descr': '<f4', 'fortran_order': 0, 'shape': (3,), }",
                None,
                "the header's fortran_order is 0, expected True or False",
            ),
            ("{'descr': '<f4', 'shape': (3,), }", None, "the header has no \"fortran_order\""),
            ("{'descr': '<f4', 'shape': (3,), 'shape': (3,)}", None, "the header has no \"fortran_order\""),
            (
                "{'descr': '<f4', 'order': 1, 'shape': (3,)}",
                None,
                "the header has a key other than descr, fortran_order and shape",
            ),
            (
                "{'descr': '<f4', 'fortran_order': False, 'shape': (), 'shape': ()}",
                None,
                "the header has more than its three keys",
            ),
            ("{1: '<f4'}", None, "the header has a key that is not a string"),
            (
                "{'descr': 4, 'fortran_order': False, 'shape': ()}",
                None,
                "the header's \"descr\" is neither a string nor a list",
            ),
            (
                "{'descr': [('a',)], 'fortran_order': False, 'shape': ()}",
                None,
                "a field of the header's \"descr\" is not",
            ),
        ];
        let mut failures = Vec::new();
        for (text, expected, message) in rows {
            let agrees = match (meta(text, true), &expected) {
                (Ok(found), Some(expected)) => found == *expected,
                (Err(error), None) => error.message().contains(message),
                _ => false,
            };
            if !agrees {
                failures.push(format!("{text}: {:?}", meta(text, true)));
            }
        }
        assert!(failures.is_empty(), "{failures:#?}");
    }
}
