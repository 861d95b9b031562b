//! CSV and TSV after RFC 4180: lines are rows, cells are items. The text names no dtype, so cells are [`Values`].

#[cfg(test)]
mod tests;

use std::io::{self, Write};
use std::mem;

use csv::{QuoteStyle, Terminator, WriterBuilder};

use crate::container::content::Content;
use crate::container::file_options::LayoutRequest;
use crate::container::interface::{
    Confidence, Layout, ReadableFile, ReadsBack, TextOptions, TextReader, WholeTensor, WriteWhole, Writer,
};
use crate::untyped::cells::{BYTE_ORDER_MARK, Cells, Dialect, TableOptions, holds};
use crate::untyped::{Unparsed, Values, cannot_hold};
use tensorop_kernels::error::{Advice, Error, ErrorKind, Result, Subject, bail};
use tensorop_kernels::item::dtype::{DType, Kind};
use tensorop_kernels::item::encoding::{code_points, unpadded};
use tensorop_kernels::item::meta::Meta;
use tensorop_kernels::item::print::ItemWriter;
use tensorop_kernels::memory;

/// Any text may be CSV, so its name or the user decides. UTF-16 and binary files contain NUL bytes.
pub(crate) fn sure(begin: &[u8], _: Option<u64>) -> Confidence {
    if begin.contains(&0) { Confidence::No } else { Confidence::Possible }
}

pub(crate) fn open(mut content: Content, dialect: Dialect) -> Result<ReadableFile> {
    let table = mem::take(&mut content.table);
    Ok(ReadableFile::from_text(CsvReader { text: content.read()?, dialect, table }))
}

#[derive(Debug)]
struct CsvReader {
    text: Vec<u8>,
    dialect: Dialect,
    table: TableOptions,
}

impl TextReader for CsvReader {
    fn values(&self, subject: Subject) -> Result<Values<'_>> {
        let cells = Cells::read(&self.text, self.dialect, &self.table, subject)?;
        Ok(Values::of(subject, Unparsed::Cells(cells)))
    }
}

#[derive(Debug)]
pub(crate) struct CsvWriter(pub Dialect);

impl Writer for CsvWriter {
    fn check(&self, dtype: &DType) -> Result<()> {
        if holds(dtype) {
            return Ok(());
        }
        let refused = Error::new(Subject::Output, cannot_hold(self.0.name, dtype));
        Err(dtype.advise(refused.advising(Advice::WriteNpy)))
    }

    fn reads_back(&self, meta: &Meta) -> ReadsBack {
        // Cells have no dtype. Bools and numbers are recognised by their text, but strings may look like them.
        if matches!(meta.dtype.kind(), Kind::Bytes(_) | Kind::Str(_) | Kind::Datetime(_) | Kind::Timedelta(_)) {
            return ReadsBack::ByItems;
        }
        let shape = match meta.shape[..] {
            [] => vec![1],
            [rows, 1] => vec![rows],
            _ => meta.shape.clone(),
        };
        ReadsBack::of(meta, Meta::c_order(meta.dtype.clone(), shape))
    }

    fn layout(&self, tensors: &[(&str, &Meta)], _: &LayoutRequest<'_>) -> Result<Layout> {
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
        let tensor = tensor.items;
        let mut items = ItemWriter::new(tensor.dtype());
        let refuse = |why: String| {
            let message = format!("{} cannot hold {why}", self.0.name);
            Error::from_kind(ErrorKind::Unsupported, message).advising(Advice::WriteNpy)
        };
        let columns = if let [_, columns] = tensor.shape() { *columns } else { 1 };
        let size = tensor.dtype().itemsize();
        // Items of zero bytes are empty strings.
        let item = |n: usize| &tensor.bytes()[n * size..][..size];
        if tensor.items() > 0 && cell(&mut items, tensor.dtype(), item(0)).map_err(refuse)?.starts_with(BYTE_ORDER_MARK)
        {
            // A reader removes the first byte order mark.
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

/// The conversion of `csv::Error` loses the kind, which would hide a broken pipe.
fn cause(error: csv::Error) -> io::Error {
    match error.into_kind() {
        csv::ErrorKind::Io(error) => error,
        other => io::Error::other(format!("{other:?}")),
    }
}

/// The text is in the buffer of `writer`.
fn cell<'t>(writer: &'t mut ItemWriter<'_>, dtype: &DType, item: &[u8]) -> Result<&'t [u8], String> {
    writer.out.clear();
    match dtype.kind() {
        Kind::Bytes(_) => push_string(unpadded(item, 1).iter().map(|&byte| byte.into()), &mut writer.out)?,
        Kind::Str(_) => push_string(code_points(item, dtype.is_big_endian()), &mut writer.out)?,
        kind => {
            writer.item(item).map_err(|error| error.to_string())?;
            let four_digits = writer.out.len() == 4 && writer.out.iter().all(u8::is_ascii_digit);
            if four_digits && matches!(kind, Kind::Datetime(_)) {
                // Without a sign four digits would be a year.
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

fn push_string(points: impl Iterator<Item = u32>, out: &mut Vec<u8>) -> Result<(), String> {
    for point in points {
        let c = char::from_u32(point).filter(|&c| c != '\0').ok_or_else(|| format!("U+{point:04X}"))?;
        memory::extend(out, c.encode_utf8(&mut [0; 4]).as_bytes())?;
    }
    Ok(())
}
