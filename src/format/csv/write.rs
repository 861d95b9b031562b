//! Writes a tensor as CSV or TSV.

use std::io::{self, Write};

use csv::{QuoteStyle, Terminator, WriterBuilder};

use crate::error::{Advice, Error, ErrorKind, Result, Subject, bail};
use crate::format::interface::{Extras, Layout, TextOptions, WriteWhole, Writer};
use crate::format::values::cannot_hold;
use crate::format::values::cells::{BYTE_ORDER_MARK, Dialect, holds};
use crate::item::dtype::{DType, Kind};
use crate::item::encoding::{code_points, unpadded};
use crate::item::meta::Meta;
use crate::item::print::ItemWriter;
use crate::item::tensor::Tensor;
use crate::memory;

/// Writes a line for each row.
#[derive(Debug)]
pub(in crate::format) struct CsvWriter(pub Dialect);

impl Writer for CsvWriter {
    fn check(&self, dtype: &DType) -> Result<()> {
        match holds(dtype) {
            true => Ok(()),
            false => {
                let message = cannot_hold(self.0.name(), dtype);
                Err(Error::new(Subject::Output, message).advising(Advice::WriteNpy))
            }
        }
    }

    fn layout(&self, tensors: &[(&str, &Meta)], _: &Extras) -> Result<Layout> {
        let name = self.0.name();
        let [(_, meta)] = tensors else { bail!("{} tensors, and a {name} holds one", tensors.len()) };
        let refuse = |what| {
            let message = format!("{name} cannot hold {what}: shape {:?}", meta.shape);
            Err(Error::of(ErrorKind::Unsupported, message).advising(Advice::WriteNpy))
        };
        match meta.shape[..] {
            _ if meta.shape.contains(&0) => refuse("a tensor without items".to_owned()),
            [] | [_] | [_, _] => Ok(Layout::Whole(match self.0 {
                Dialect::Csv => &Self(Dialect::Csv),
                Dialect::Tsv => &Self(Dialect::Tsv),
            })),
            _ => refuse("more than 2 axes".to_owned()),
        }
    }
}

impl WriteWhole for CsvWriter {
    fn write_whole(&self, out: &mut dyn Write, _: (&str, &Meta), tensor: &Tensor, _: &TextOptions) -> Result<()> {
        let mut cells = CellWriter { dtype: tensor.dtype(), items: ItemWriter::new(tensor.dtype()) };
        let refuse = |why: String| {
            let message = format!("{} cannot hold {why}", self.0.name());
            Error::of(ErrorKind::Unsupported, message).advising(Advice::WriteNpy)
        };
        let columns = if let [_, columns] = tensor.shape() { *columns } else { 1 };
        let size = tensor.dtype().itemsize();
        // items without bytes are empty strings
        let item = |n: usize| &tensor.bytes()[n * size..][..size];
        if tensor.items() > 0 && cells.cell(item(0)).map_err(refuse)?.starts_with(BYTE_ORDER_MARK) {
            // a reader removes the first byte order mark, and the text has one of its own
            out.write_all(BYTE_ORDER_MARK)?;
        }
        let mut rows = WriterBuilder::new()
            .delimiter(self.0.delimiter())
            .quote_style(QuoteStyle::Necessary)
            .terminator(Terminator::Any(b'\n'))
            .from_writer(out);
        for n in 0..tensor.items() {
            rows.write_field(cells.cell(item(n)).map_err(refuse)?).map_err(io::Error::from)?;
            if (n + 1) % columns == 0 {
                rows.write_record(None::<&[u8]>).map_err(io::Error::from)?;
            }
        }
        Ok(rows.flush()?)
    }
}

/// Turns items into texts.
struct CellWriter<'a> {
    dtype: &'a DType,
    /// Writes the digits, which are those of JSON.
    items: ItemWriter<'a>,
}

impl CellWriter<'_> {
    /// Returns the text of an item.
    ///
    /// # Errors
    /// The message names the part of the item that has no text.
    fn cell(&mut self, item: &[u8]) -> Result<&[u8], String> {
        self.items.out.clear();
        match self.dtype.kind() {
            Kind::Bytes(_) => self.string(unpadded(item, 1).iter().map(|&byte| byte.into()))?,
            Kind::Str(_) => self.string(code_points(item, self.dtype.is_big_endian()))?,
            kind => {
                self.items.item(item).map_err(|error| error.to_string())?;
                let four_digits = self.items.out.len() == 4 && self.items.out.iter().all(u8::is_ascii_digit);
                if four_digits && matches!(kind, Kind::Datetime(_)) {
                    // without a sign they would be read as a year
                    self.items.out.insert(0, b'+');
                }
                let text = &self.items.out[..];
                return Ok(match text.strip_prefix(b"\"").and_then(|text| text.strip_suffix(b"\"")) {
                    Some(b"NaN") => b"nan",
                    Some(b"Infinity") => b"inf",
                    Some(b"-Infinity") => b"-inf",
                    Some(date) => date,
                    None => text,
                });
            }
        }
        Ok(&self.items.out)
    }

    /// Appends a string, whose padding has been taken off.
    fn string(&mut self, points: impl Iterator<Item = u32>) -> Result<(), String> {
        for point in points {
            let c = char::from_u32(point).filter(|&c| c != '\0').ok_or_else(|| format!("U+{point:04X}"))?;
            memory::extend(&mut self.items.out, c.encode_utf8(&mut [0; 4]).as_bytes())?;
        }
        Ok(())
    }
}
