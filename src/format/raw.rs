//! Items alone, without a header: read through a view that says what the bytes are, such as `float32[2,5]@0x80`, and
//! written one after the other.

use std::io::{self, Read};
use std::sync::{Arc, Mutex};

use super::content::{BEGIN, Content, ContentSource, Description};
use super::interface::{Extras, Layout, Places, Reader, Unchangeable, Writer};
use crate::error::{Error, ErrorKind, Result, bail, ensure, malformed};
use crate::item::dtype::DType;
use crate::item::meta::Meta;
use crate::layout::shape::MAX_RANK;
use crate::storage::read_at::ReadAt;
use crate::storage::source::{Source, wrong_length};

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
        let known: Vec<usize> = dims.iter().map(|dim| dim.unwrap_or(1)).collect();
        let meta = Meta::new(dtype, known);
        ensure!(meta.is_addressable(), "{} of {} is more than memory can address", shown(&dims), meta.dtype.name());
        Ok(Self { dtype: meta.dtype, dims, offset })
    }

    /// Whether a text that is no view is most likely meant to be one.
    pub fn is_meant(text: &str) -> bool {
        text.ends_with(']') || text.contains("]@") || text.contains('@') && text.starts_with(char::is_alphanumeric)
    }

    /// Whether the length of the file is needed to know the dims.
    fn is_open(&self) -> bool {
        self.dims.contains(&None)
    }

    /// The tensor, if it is `dim` that is not given.
    fn meta(&self, dim: usize) -> Meta {
        Meta::new(self.dtype.clone(), self.dims.iter().map(|known| known.unwrap_or(dim)).collect())
    }

    /// The tensor in a file of so many bytes, and where it begins.
    fn within(&self, len: u64) -> Result<(Meta, u64)> {
        let start = self.offset.unwrap_or(0);
        let rest =
            len.checked_sub(start).ok_or_else(|| malformed!("has {len} bytes, and items from byte {start} on"))?;
        let one = self.meta(1);
        if self.is_open() {
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

/// The shapes that would fit if one dim alone is wrong, for the end of a message.
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

/// The dims between brackets.
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

/// Dims as they are typed.
fn shown(dims: &[Option<usize>]) -> String {
    let each: Vec<_> = dims.iter().map(|dim| dim.map_or("-1".to_owned(), |dim| dim.to_string())).collect();
    format!("[{}]", each.join(", "))
}

/// The number after `@`.
fn offset(text: &str) -> Result<u64> {
    let number = match text.strip_prefix("0x").or_else(|| text.strip_prefix("0X")) {
        Some(digits) => Some(digits)
            .filter(|digits| !digits.starts_with('+'))
            .and_then(|digits| u64::from_str_radix(digits, 16).ok()),
        None => Some(text).filter(|digits| !digits.starts_with('+')).and_then(|digits| digits.parse().ok()),
    };
    number.ok_or_else(|| malformed!("@{text}: expected a number of bytes, such as @128 or @0x80"))
}

/// Opens bytes as what a view says that they are.
///
/// # Errors
/// Fewer bytes than the view needs, or more where it needs to be the whole file; of reading.
pub(super) fn open(content: Content, view: &View) -> Result<Box<dyn Reader>> {
    let Content { begin, opened, threads } = content;
    Ok(match opened {
        ContentSource::Bytes { bytes, size, .. } => bytes_as(bytes, size, view)?,
        ContentSource::Folder(_) => bail!("is a folder, expected a file"),
        ContentSource::Stream(stream) if view.is_open() => {
            // how long it is shows when it has ended
            let (bytes, _) = Content { begin, opened: ContentSource::Stream(stream), threads }.into_bytes()?;
            let size = bytes.size()?;
            bytes_as(bytes, size, view)?
        }
        ContentSource::Stream(stream) => {
            if begin.len() < BEGIN {
                // there is no more
                view.within(begin.len() as u64)?;
            }
            let (meta, offset) = (view.meta(1), view.offset.unwrap_or(0));
            let mut items: Box<dyn Read + Send> = Box::new(io::Cursor::new(begin).chain(stream));
            let skipped = io::copy(&mut items.by_ref().take(offset), &mut io::sink())?;
            ensure!(skipped == offset, "has {skipped} bytes, and items from byte {offset} on");
            if view.offset.is_some() {
                items = Box::new(items.take(meta.bytes() as u64));
            }
            Box::new(RawStream { meta, offset, items: Mutex::new(Some(Items(items))) })
        }
    })
}

fn bytes_as(bytes: Arc<dyn ReadAt>, size: u64, view: &View) -> Result<Box<dyn Reader>> {
    let (meta, start) = view.within(size)?;
    Ok(Box::new(RawFile { bytes, meta, start }))
}

/// A file whose items are read by position.
#[derive(Debug)]
struct RawFile {
    bytes: Arc<dyn ReadAt>,
    meta: Meta,
    start: u64,
}

impl Reader for RawFile {
    fn unwritten(&self) -> Option<Error> {
        let message = "of bytes without a header only items are changed: name a file of another format";
        Some(Error::of(ErrorKind::Unsupported, message))
    }

    fn unchangeable(&self) -> Option<Unchangeable> {
        None
    }

    fn describe(&self, _: usize) -> Result<Description> {
        Ok(Description { bytes: self.meta.bytes() as u64, meta: self.meta.clone(), offset: Some(self.start) })
    }

    fn source(&self, _: usize, label: String) -> Result<Source> {
        Source::stored(self.meta.clone(), Arc::clone(&self.bytes), self.start, label)
    }
}

/// Bytes that come once.
#[derive(Debug)]
struct RawStream {
    meta: Meta,
    offset: u64,
    items: Mutex<Option<Items>>,
}

/// The rest of a stream.
struct Items(Box<dyn Read + Send>);

impl std::fmt::Debug for Items {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Items")
    }
}

impl Reader for RawStream {
    fn is_once(&self) -> bool {
        true
    }

    fn unchangeable(&self) -> Option<Unchangeable> {
        None
    }

    fn describe(&self, _: usize) -> Result<Description> {
        Ok(Description { bytes: self.meta.bytes() as u64, meta: self.meta.clone(), offset: Some(self.offset) })
    }

    fn source(&self, _: usize, label: String) -> Result<Source> {
        let items = self.items.lock().ok().and_then(|mut items| items.take());
        let Items(items) = items.ok_or_else(|| malformed!("can be read only once"))?;
        let bytes = self.meta.bytes() as u64;
        Ok(Source::stream(self.meta.clone(), items, bytes, label))
    }
}

/// Writes items alone, whatever they are: the lower bits of a byte where they have fewer than 8.
#[derive(Debug)]
pub(super) struct RawWriter;

impl Writer for RawWriter {
    fn check(&self, _: &DType) -> Result<()> {
        Ok(())
    }

    fn layout(&self, tensors: &[(&str, &Meta)], _: &Extras) -> Result<Layout> {
        match tensors {
            [_] => Ok(Layout::Places(Places::bytewise(Vec::new(), vec![0], tensors))),
            _ => bail!("{} tensors, and bytes without a header are one", tensors.len()),
        }
    }
}
