//! Items alone, without a header: read through a view that says what the bytes are, such as `float32[2,5]@0x80`, and
//! written one after the other.

use std::io::{self, Read};

use super::content::{BEGIN, Content, ContentSource};
use super::interface::{Extras, Layout, Place, Places, Reader, Writer};
use super::plain::{PlainItems, PlainReader};
use crate::error::{Result, bail, ensure, malformed};
use crate::item::dtype::DType;
use crate::item::meta::Meta;
use crate::layout::shape::MAX_RANK;
use crate::storage::source::wrong_length;

/// What the bytes of a file are: `DTYPE`, `DTYPE[DIMS]`, either with `@OFFSET` after it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct View {
    dtype: DType,
    /// The dims, of which one may be told by the length of the file (`None`). No dims are one axis of all there is.
    dims: Vec<Option<usize>>,
    /// Where the items begin, in bytes, if that is said.
    offset: Option<u64>,
}

impl View {
    /// Reads a view.
    ///
    /// ```
    /// use tensorop::format::raw::View;
    /// assert!(View::parse(">u2[-1, 4]@0x80").is_ok() && View::parse("<M8[ns]").is_ok());
    /// assert_eq!(View::parse("u2[-1,0]").unwrap_err().to_string(), "[-1,0]: -1 beside a 0 may be any number");
    /// ```
    ///
    /// # Errors
    /// An unknown dtype, or one of no bytes; dims that are no numbers, or more than memory can address; two of -1, or one
    /// beside a 0; an offset that is no number.
    pub fn parse(text: &str) -> Result<Self> {
        let (items, offset) = match text.rsplit_once('@') {
            Some((items, digits)) => (items, Some(offset(digits)?)),
            None => (text, None),
        };
        // dates have brackets of their own
        let (dtype, dims) = match (DType::asked(items.trim()), items.trim().strip_suffix(']')) {
            (Err(_), Some(open)) => match open.rsplit_once('[') {
                Some((name, list)) => (DType::asked(name.trim())?, dims(list)?),
                None => bail!("{items}: a ] without a ["),
            },
            (dtype, _) => (dtype?, vec![None]),
        };
        ensure!(dtype.itemsize() > 0, "dtype {}: items of no bytes, expected a width", dtype.name());
        let view = Self { dtype, dims, offset };
        let what = || format!("{} of {}", shown(&view.dims), view.dtype.name());
        ensure!(view.meta(1).is_addressable(), "{} is more than memory can address", what());
        Ok(view)
    }

    /// Returns whether a text that is no view is most likely meant to be one.
    pub fn is_meant(text: &str) -> bool {
        let dtype = text.split('@').next().unwrap_or_default();
        let is_slip = DType::is_slip(dtype.trim());
        is_slip
            || text.ends_with(']')
            || text.contains("]@")
            || text.contains('@') && text.starts_with(char::is_alphanumeric)
    }

    /// Returns the tensor whose missing dim is `dim`.
    fn meta(&self, dim: usize) -> Meta {
        Meta::new(self.dtype.clone(), self.dims.iter().map(|known| known.unwrap_or(dim)).collect())
    }

    /// Returns the tensor in a file of `len` bytes, and the byte at which it begins.
    fn within(&self, len: u64) -> Result<(Meta, u64)> {
        let start = self.offset.unwrap_or(0);
        let rest =
            len.checked_sub(start).ok_or_else(|| malformed!("has {len} bytes, and items from byte {start} on"))?;
        let one = self.meta(1);
        if self.dims.contains(&None) {
            let each = one.bytes() as u64;
            let what =
                if one.items() == 1 { one.dtype.name() } else { format!("{} {}", one.dtype.name(), shown(&self.dims)) };
            ensure!(rest.is_multiple_of(each), "{rest} bytes of data, expected a multiple of {each} ({what})");
            let meta = self.meta(usize::try_from(rest / each)?);
            ensure!(meta.is_addressable(), "shape {:?} is more than memory can address", meta.shape);
            return Ok((meta, start));
        }
        let expected = one.bytes() as u64;
        // behind an offset there may be other things
        let fits = if self.offset.is_some() { rest >= expected } else { rest == expected };
        if !fits {
            bail!("{}{}", wrong_length(rest, expected, &one), fitting(&one, rest));
        }
        Ok((one, start))
    }
}

/// Returns the end of a message: the shapes of as many bytes that differ from a tensor's in one dim.
fn fitting(meta: &Meta, bytes: u64) -> String {
    let size = meta.dtype.itemsize() as u64;
    let mut shapes = Vec::new();
    for axis in 0..meta.shape.len() {
        let mut shape = meta.shape.clone();
        shape[axis] = 1;
        let others = shape.iter().fold(size, |bytes, &dim| bytes.saturating_mul(dim as u64));
        if bytes > 0 && others > 0 && bytes.is_multiple_of(others) {
            shape[axis] = usize::try_from(bytes / others).unwrap_or(usize::MAX);
            shapes.push(format!("{shape:?}"));
        }
    }
    if shapes.is_empty() { String::new() } else { format!("; {} would fit", shapes.join(" or ")) }
}

/// Parses the dims between brackets.
fn dims(list: &str) -> Result<Vec<Option<usize>>> {
    if list.trim().is_empty() {
        return Ok(Vec::new());
    }
    let mut dims = Vec::new();
    for text in list.split(',') {
        let text = text.trim();
        let digits = Some(text).filter(|text| text.bytes().all(|byte| byte.is_ascii_digit()));
        dims.push(match digits.and_then(|text| text.parse().ok()) {
            Some(dim) => Some(dim),
            None if text == "-1" => None,
            None => bail!("[{list}]: {text:?} is no dim, expected a whole number or one -1"),
        });
        ensure!(dims.len() <= MAX_RANK, "more than {MAX_RANK} axes");
    }
    ensure!(dims.iter().filter(|dim| dim.is_none()).count() <= 1, "[{list}]: only one dim can be -1");
    ensure!(!(dims.contains(&None) && dims.contains(&Some(0))), "[{list}]: -1 beside a 0 may be any number");
    Ok(dims)
}

/// Returns dims as they are typed.
fn shown(dims: &[Option<usize>]) -> String {
    let each: Vec<_> = dims.iter().map(|dim| dim.map_or("-1".to_owned(), |dim| dim.to_string())).collect();
    format!("[{}]", each.join(", "))
}

/// Parses the number after `@`.
fn offset(text: &str) -> Result<u64> {
    let hex = text.strip_prefix("0x").or_else(|| text.strip_prefix("0X"));
    let (digits, radix) = hex.map_or((text, 10), |digits| (digits, 16));
    let number = u64::from_str_radix(digits, radix).ok().filter(|_| !digits.starts_with('+'));
    number.ok_or_else(|| malformed!("@{text}: expected a number of bytes, such as @128 or @0x80"))
}

/// Opens bytes as what a view says that they are.
///
/// # Errors
/// Fewer bytes than the view needs, or more where it needs to be the whole file; failure to read.
pub(super) fn open(content: Content, view: &View) -> Result<Box<dyn Reader>> {
    Ok(Box::new(match content.opened {
        ContentSource::Stream(stream) if !view.dims.contains(&None) => {
            let begin = content.begin;
            if begin.len() < BEGIN {
                // there is no more
                view.within(begin.len() as u64)?;
            }
            let (meta, offset) = (view.meta(1), view.offset.unwrap_or(0));
            let mut items = io::Cursor::new(begin).chain(stream);
            let skipped = io::copy(&mut items.by_ref().take(offset), &mut io::sink())?;
            ensure!(skipped == offset, "has {skipped} bytes, and items from byte {offset} on");
            let items = match view.offset {
                Some(_) => PlainItems::stream(items.take(meta.bytes() as u64)),
                None => PlainItems::stream(items),
            };
            PlainReader { meta, start: offset, items, unwritten: None }
        }
        // how long a stream is shows when it has ended
        opened => {
            let (bytes, _) = Content { opened, ..content }.into_bytes()?;
            let (meta, start) = view.within(bytes.size()?)?;
            PlainReader { meta, start, items: PlainItems::Bytes(bytes), unwritten: Some(UNWRITTEN) }
        }
    }))
}

/// Why a file of bytes without a header is not written anew.
const UNWRITTEN: &str = "of bytes without a header only items are changed: name a file of another format";

/// Writes items alone, whatever they are: the lower bits of a byte where they have fewer than 8.
#[derive(Debug)]
pub(super) struct RawWriter;

impl Writer for RawWriter {
    fn check(&self, _: &DType) -> Result<()> {
        Ok(())
    }

    fn layout(&self, tensors: &[(&str, &Meta)], _: &Extras) -> Result<Layout> {
        let places = tensors.iter().map(|(_, meta)| Place::bytewise(0, meta)).collect();
        Ok(Layout::Places(Places::new(Vec::new(), places)))
    }
}
