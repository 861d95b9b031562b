//! Writes a tensor as CSV or TSV.

use std::io::{self, Write};

use csv::{QuoteStyle, Terminator, WriterBuilder};

use crate::error::{Advice, Error, ErrorKind, Result, Subject, bail};
use crate::format::interface::{FileOptions, Layout, ReadsBack, TextOptions, WholeTensor, WriteWhole, Writer};
use crate::format::values::cannot_hold;
use crate::format::values::cells::{BYTE_ORDER_MARK, Dialect, holds};
use crate::format::values::delimiter::{Delimiter, TableOptions};
use crate::item::dtype::{DType, Kind};
use crate::item::encoding::{code_points, unpadded};
use crate::item::meta::Meta;
use crate::item::print::ItemWriter;
use crate::memory;

/// Writes a line for each row.
#[derive(Debug)]
pub(in crate::format) struct CsvWriter(pub Dialect);

impl Writer for CsvWriter {
    fn check(&self, dtype: &DType) -> Result<()> {
        if holds(dtype) {
            return Ok(());
        }
        let refused = Error::new(Subject::Output, cannot_hold(self.0.name, dtype));
        Err(dtype.advise(refused.advising(Advice::WriteNpy)))
    }

    fn reads_back(&self, meta: &Meta, how: &TableOptions) -> ReadsBack {
        let mut shape = match meta.shape[..] {
            [] => vec![1],
            [rows, 1] => vec![rows],
            _ => meta.shape.clone(),
        };
        // a row is one cell for who looks for another delimiter in it
        let own = Delimiter::One(self.0.delimiter);
        if how.delimiter.is_some_and(|delimiter| delimiter != own) {
            shape.truncate(1);
        }
        shape[0] = shape[0].saturating_sub(how.skip_rows);
        ReadsBack::of(meta, Meta::new(meta.dtype.clone(), shape))
    }

    fn layout(&self, tensors: &[(&str, &Meta)], _: &FileOptions) -> Result<Layout> {
        let name = self.0.name;
        let [(_, meta)] = tensors else { bail!("{} tensors, and a {name} holds one", tensors.len()) };
        let what = match meta.shape[..] {
            _ if meta.shape.contains(&0) => "a tensor without items",
            [] | [_] | [_, _] if self.0 == Dialect::CSV => return Ok(Layout::Whole(&Self(Dialect::CSV))),
            [] | [_] | [_, _] => return Ok(Layout::Whole(&Self(Dialect::TSV))),
            _ => "more than 2 axes",
        };
        let message = format!("{name} cannot hold {what}: shape {:?}", meta.shape);
        Err(Error::from_kind(ErrorKind::Unsupported, message).advising(Advice::WriteNpy))
    }
}

impl WriteWhole for CsvWriter {
    fn write_whole(&self, out: &mut dyn Write, tensor: WholeTensor<'_>, _: &TextOptions) -> Result<()> {
        // digits are those of JSON
        let tensor = tensor.items;
        let mut items = ItemWriter::new(tensor.dtype());
        let refuse = |why: String| {
            let message = format!("{} cannot hold {why}", self.0.name);
            Error::from_kind(ErrorKind::Unsupported, message).advising(Advice::WriteNpy)
        };
        let columns = if let [_, columns] = tensor.shape() { *columns } else { 1 };
        let size = tensor.dtype().itemsize();
        // items without bytes are empty strings
        let item = |n: usize| &tensor.bytes()[n * size..][..size];
        if tensor.items() > 0 && cell(&mut items, tensor.dtype(), item(0)).map_err(refuse)?.starts_with(BYTE_ORDER_MARK)
        {
            // a reader removes the first byte order mark, and the text has one of its own
            out.write_all(BYTE_ORDER_MARK)?;
        }
        let mut rows = WriterBuilder::new()
            .delimiter(self.0.delimiter)
            .quote_style(QuoteStyle::Necessary)
            .terminator(Terminator::Any(b'\n'))
            .from_writer(out);
        for n in 0..tensor.items() {
            let cell = cell(&mut items, tensor.dtype(), item(n)).map_err(refuse)?;
            rows.write_field(cell).map_err(cause)?;
            if (n + 1) % columns == 0 {
                rows.write_record(None::<&[u8]>).map_err(cause)?;
            }
        }
        Ok(rows.flush()?)
    }
}

/// Returns what failed in the stream that a row goes to. As csv converts it, the error would lose its kind, and with it that
/// a reader has gone.
fn cause(error: csv::Error) -> io::Error {
    match error.into_kind() {
        csv::ErrorKind::Io(error) => error,
        other => io::Error::other(format!("{other:?}")),
    }
}

/// Returns the text of an item, which is made in the buffer of `writer`.
///
/// # Errors
/// The message names the part of the item that has no text.
fn cell<'t>(writer: &'t mut ItemWriter<'_>, dtype: &DType, item: &[u8]) -> Result<&'t [u8], String> {
    writer.out.clear();
    match dtype.kind() {
        Kind::Bytes(_) => push_string(unpadded(item, 1).iter().map(|&byte| byte.into()), &mut writer.out)?,
        Kind::Str(_) => push_string(code_points(item, dtype.is_big_endian()), &mut writer.out)?,
        kind => {
            writer.item(item).map_err(|error| error.to_string())?;
            let four_digits = writer.out.len() == 4 && writer.out.iter().all(u8::is_ascii_digit);
            if four_digits && matches!(kind, Kind::Datetime(_)) {
                // without a sign they would be read as a year
                writer.out.insert(0, b'+');
            }
            let text = &writer.out[..];
            return Ok(match text.strip_prefix(b"\"").and_then(|text| text.strip_suffix(b"\"")) {
                Some(b"NaN") => b"nan",
                Some(b"Infinity") => b"inf",
                Some(b"-Infinity") => b"-inf",
                Some(date) => date,
                None => text,
            });
        }
    }
    Ok(&writer.out)
}

/// Appends a string, whose padding has been taken off.
fn push_string(points: impl Iterator<Item = u32>, out: &mut Vec<u8>) -> Result<(), String> {
    for point in points {
        let c = char::from_u32(point).filter(|&c| c != '\0').ok_or_else(|| format!("U+{point:04X}"))?;
        memory::extend(out, c.encode_utf8(&mut [0; 4]).as_bytes())?;
    }
    Ok(())
}
