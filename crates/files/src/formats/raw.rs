//! Items without a header, read through a view such as `float32[2,5]@0x80`.

use std::io::{self, Read};

use super::npy::npy_file::{PlainItems, PlainReader};
use crate::container::content::{BEGIN, Content, ContentSource};
use crate::container::file_options::LayoutRequest;
use crate::container::interface::{ItemsPlace, Layout, Members, Places, ReadableFile, Writer};
use crate::narrow::packed::bytes_of_items;
use crate::narrow::stored_dtype::StoredDType;
use crate::narrow::{narrow_view, stored_dtype};
use crate::storage::source::wrong_length;
use tensorop_kernels::error::{Error, ErrorKind, Result, Subject, bail, ensure, malformed};
use tensorop_kernels::item::meta::{Meta, Order};
use tensorop_kernels::layout::axis::MAX_RANK;

/// A view of raw bytes: `DTYPE[DIMS]@OFFSET`, where dims and offset are optional.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RawView {
    stored: StoredDType,
    /// `None`, the default without dims, follows from the file length.
    dims: Vec<Option<usize>>,
    offset: Option<u64>,
    order: Order,
}

impl RawView {
    /// Parses a view.
    ///
    /// ```
    /// use tensorop_files::internal::formats::raw::RawView;
    /// assert!(RawView::parse(">u2[-1, 4]@0x80").is_ok() && RawView::parse("<M8[ns]").is_ok());
    /// assert_eq!(RawView::parse("u2[-1,0]").unwrap_err().to_string(), "[-1, 0]: -1 beside a 0 may be any number");
    /// ```
    ///
    /// # Errors
    /// The dtype, a dim or the offset is invalid, or -1 is ambiguous.
    pub fn parse(text: &str) -> Result<Self> {
        let (items, offset) = match text.rsplit_once('@') {
            Some((items, digits)) => (items, Some(offset(digits)?)),
            None => (text, None),
        };
        // dates have brackets, too
        let (stored, dims) = match (StoredDType::asked(items.trim()), items.trim().strip_suffix(']')) {
            (Err(_), Some(open)) => match open.rsplit_once('[') {
                Some((name, list)) => (StoredDType::asked(name.trim())?, dims(list)?),
                None => bail!("{items}: a ] without a ["),
            },
            (stored, _) => (stored?, vec![None]),
        };
        Self::new(stored, dims, offset, Order::C)
    }

    pub(crate) fn new(
        stored: StoredDType,
        dims: Vec<Option<usize>>,
        offset: Option<u64>,
        order: Order,
    ) -> Result<Self> {
        let (dtype, list) = (stored.dtype(), || dims_text(&dims));
        ensure!(dtype.itemsize() > 0, "dtype {}: items of no bytes, expected a width", dtype.name());
        ensure!(dims.len() <= MAX_RANK, "more than {MAX_RANK} axes");
        ensure!(dims.iter().filter(|dim| dim.is_none()).count() <= 1, "{}: only one dim can be -1", list());
        ensure!(!(dims.contains(&None) && dims.contains(&Some(0))), "{}: -1 beside a 0 may be any number", list());
        let view = Self { stored, dims, offset, order };
        let what = || format!("{} of {}", dims_text(&view.dims), view.stored.dtype().name());
        ensure!(view.meta(1).is_addressable(), "{} is more than memory can address", what());
        Ok(view)
    }

    /// Returns whether an invalid view was probably intended as one.
    pub fn is_meant(text: &str) -> bool {
        let dtype = text.split('@').next().unwrap_or_default();
        let is_slip = stored_dtype::is_slip(dtype.trim());
        is_slip
            || text.ends_with(']')
            || text.contains("]@")
            || text.contains('@') && text.starts_with(char::is_alphanumeric)
    }

    fn meta(&self, dim: usize) -> Meta {
        let shape = self.dims.iter().map(|known| known.unwrap_or(dim)).collect();
        Meta::c_order(self.stored.dtype().clone(), shape).in_order(self.order)
    }

    fn within(&self, len: u64) -> Result<(Meta, u64)> {
        let start = self.offset.unwrap_or(0);
        let rest =
            len.checked_sub(start).ok_or_else(|| malformed!("has {len} bytes, and items from byte {start} on"))?;
        let one = self.meta(1);
        if self.dims.contains(&None) && self.stored.is_packed() {
            // the largest dim whose items end in the last byte
            let most = rest.saturating_mul(self.stored.each() as u64) / one.items() as u64;
            let meta = self.meta(usize::try_from(most)?);
            let what = || format!("{} {}", self.stored.name(), dims_text(&self.dims));
            ensure!(meta.is_addressable(), "shape {:?} is more than memory can address", meta.shape);
            ensure!(self.bytes(&meta) == rest, "{rest} bytes of data are not a whole number of items of {}", what());
            return Ok((meta, start));
        }
        if self.dims.contains(&None) {
            let each = one.bytes() as u64;
            let what = if one.items() == 1 {
                one.dtype.name()
            } else {
                format!("{} {}", one.dtype.name(), dims_text(&self.dims))
            };
            ensure!(rest.is_multiple_of(each), "{rest} bytes of data, expected a multiple of {each} ({what})");
            let meta = self.meta(usize::try_from(rest / each)?);
            ensure!(meta.is_addressable(), "shape {:?} is more than memory can address", meta.shape);
            return Ok((meta, start));
        }
        let expected = self.bytes(&one);
        // other data may follow after an offset
        let fits = if self.offset.is_some() { rest >= expected } else { rest == expected };
        if !fits {
            bail!("{}{}", wrong_length(rest, expected, &one), self.fitting(&one, rest));
        }
        Ok((one, start))
    }

    fn bytes(&self, meta: &Meta) -> u64 {
        if self.stored.is_packed() { bytes_of_items(&meta.dtype, meta.items()) } else { meta.bytes() as u64 }
    }

    /// Suggests shapes that differ in one dim.
    fn fitting(&self, meta: &Meta, bytes: u64) -> String {
        let size = meta.dtype.itemsize() as u64;
        let mut shapes = Vec::new();
        for axis in 0..meta.shape.len() {
            let mut shape = meta.shape.clone();
            shape[axis] = 1;
            let others = shape.iter().fold(size, |bytes, &dim| bytes.saturating_mul(dim as u64));
            if bytes == 0 || others == 0 {
                continue;
            }
            let dim = bytes.saturating_mul(self.stored.each() as u64) / others;
            shape[axis] = usize::try_from(dim).unwrap_or(usize::MAX);
            let would_fit = Meta::c_order(meta.dtype.clone(), shape);
            if would_fit.is_addressable() && self.bytes(&would_fit) == bytes {
                shapes.push(format!("{:?}", would_fit.shape));
            }
        }
        if shapes.is_empty() { String::new() } else { format!("; {} would fit", shapes.join(" or ")) }
    }
}

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
            None => bail!("[{list}]: {text:?} is not a dim, expected a whole number or one -1"),
        });
    }
    Ok(dims)
}

fn dims_text(dims: &[Option<usize>]) -> String {
    let each: Vec<_> = dims.iter().map(|dim| dim.map_or("-1".to_owned(), |dim| dim.to_string())).collect();
    format!("[{}]", each.join(", "))
}

fn offset(text: &str) -> Result<u64> {
    let hex = text.strip_prefix("0x").or_else(|| text.strip_prefix("0X"));
    let (digits, radix) = hex.map_or((text, 10), |digits| (digits, 16));
    let number = u64::from_str_radix(digits, radix).ok().filter(|_| !digits.starts_with('+'));
    number.ok_or_else(|| malformed!("@{text}: expected a number of bytes, such as @128 or @0x80"))
}

pub(crate) fn open(content: Content, view: &RawView, is_edited: bool) -> Result<ReadableFile> {
    let is_packed = view.stored.is_packed();
    // edits in place keep all bits of other items
    if let Some(narrow) = view.stored.narrow().filter(|_| is_packed || !is_edited) {
        let (bytes, _) = content.into_bytes()?;
        let (meta, start) = view.within(bytes.size()?)?;
        let items = narrow_view::open(narrow, meta.items(), bytes, start, is_packed)?;
        let (stored, items) = (view.bytes(&meta), PlainItems::Bytes(items, 0));
        return Ok(ReadableFile::new(of_items_alone(), PlainReader { meta, start, stored, items }));
    }
    Ok(match content.opened {
        ContentSource::Stream(stream) if !view.dims.contains(&None) => {
            let begin = content.begin;
            if begin.len() < BEGIN {
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
            let reader = PlainReader { stored: meta.bytes() as u64, meta, start: offset, items };
            ReadableFile::new(Members::default(), reader)
        }
        opened => {
            let (bytes, _) = Content { opened, ..content }.into_bytes()?;
            let (meta, start) = view.within(bytes.size()?)?;
            let stored = meta.bytes() as u64;
            let viewed = if stored == bytes.size()? { None } else { Some(bytes.identity()?) };
            let (members, items) = (Members { viewed, ..of_items_alone() }, PlainItems::Bytes(bytes, start));
            ReadableFile::new(members, PlainReader { meta, start, stored, items })
        }
    })
}

fn of_items_alone() -> Members {
    let why = "bytes without a header: only items can be changed; name a file of another format";
    Members { unwritten: Some(Error::from_kind(ErrorKind::Unsupported, why)), ..Members::default() }
}

#[derive(Debug)]
pub(crate) struct RawWriter;

impl Writer for RawWriter {
    fn layout(&self, tensors: &[(&str, &Meta)], request: &LayoutRequest<'_>) -> Result<Layout> {
        let alone = tensors.iter().find(|(_, meta)| !StoredDType::is_packable(&meta.dtype));
        if let Some((_, meta)) = alone.filter(|_| request.options.packed) {
            let names: Vec<_> = StoredDType::packable_names().collect();
            let message = format!("items of {} do not share bytes, expected {}", meta.dtype.name(), names.join(", "));
            return Err(Error::new(Subject::Argument("packed"), message));
        }
        let place = if request.options.packed { ItemsPlace::packed } else { ItemsPlace::bytewise };
        let places = tensors.iter().map(|(_, meta)| place(0, meta)).collect();
        Ok(Layout::Places(Places::new(Vec::new(), places)))
    }
}
