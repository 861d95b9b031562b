//! Writes a tensor as a JSON object with nested lists.

use std::io::{self, Write};

use crate::container::file_options::LayoutRequest;
use crate::container::interface::{Layout, TextOptions, WholeTensor, WriteWhole, Writer};
use crate::untyped::{cannot_hold, check_text};
use tensorop_kernels::error::Result;
use tensorop_kernels::item::dtype::DType;
use tensorop_kernels::item::meta::Meta;
use tensorop_kernels::item::print::ItemWriter;
use tensorop_kernels::item::tensor::Tensor;

/// More empty lists are written as a flat `[]`.
const MAX_EMPTY_LISTS: usize = 1 << 20;

/// Checks that JSON can hold items of a dtype.
///
/// # Errors
/// The dtype is void, structured or long double.
pub fn check(dtype: &DType) -> Result<()> {
    check_text(dtype, || cannot_hold("JSON", dtype))
}

/// Writes a tensor as one line that reads back to the same bits, except that NaN becomes the quiet NaN.
///
/// # Errors
/// JSON cannot hold the dtype, a code point above U+10FFFF or a split surrogate pair, or writing fails.
pub fn write(out: &mut dyn Write, tensor: &Tensor) -> io::Result<()> {
    check(tensor.dtype()).map_err(|error| io::Error::new(io::ErrorKind::InvalidInput, error.about_file()))?;
    let mut nest = Nest { writer: ItemWriter::new(tensor.dtype()), out };
    let dtype = tensor.dtype().native().name();
    nest.writer.out.extend(format!("{{\"dtype\": \"{dtype}\", \"shape\": {:?}, \"data\": ", tensor.shape()).bytes());
    let mut lists = tensor.shape().iter().take_while(|&&dim| dim != 0);
    let lists = lists.try_fold(1_usize, |n, &dim| n.checked_mul(dim).filter(|&n| n <= MAX_EMPTY_LISTS));
    if tensor.items() == 0 && lists.is_none() {
        nest.writer.out.extend_from_slice(b"[]");
    } else {
        nest.write(tensor.shape(), tensor.bytes())?;
    }
    nest.writer.out.extend_from_slice(b"}\n");
    nest.out.write_all(&nest.writer.out)
}

struct Nest<'a> {
    writer: ItemWriter<'a>,
    out: &'a mut dyn Write,
}

impl Nest<'_> {
    fn write(&mut self, shape: &[usize], bytes: &[u8]) -> io::Result<()> {
        let Some((&dim, inner)) = shape.split_first() else { return self.writer.item(bytes) };
        self.writer.out.push(b'[');
        let len = bytes.len() / dim.max(1);
        for i in 0..dim {
            if i > 0 {
                self.writer.out.extend_from_slice(b", ");
            }
            let part = &bytes[i * len..][..len];
            if inner.is_empty() {
                self.writer.item(part)?
            } else {
                self.write(inner, part)?
            }
            if self.writer.out.len() > 1 << 16 {
                self.out.write_all(&self.writer.out)?;
                self.writer.out.clear();
            }
        }
        self.writer.out.push(b']');
        Ok(())
    }
}

#[derive(Debug)]
pub(crate) struct JsonWriter;

impl Writer for JsonWriter {
    fn check(&self, dtype: &DType) -> Result<()> {
        check(dtype)
    }

    fn layout(&self, _: &[(&str, &Meta)], _: &LayoutRequest<'_>) -> Result<Layout> {
        Ok(Layout::Whole(&Self))
    }
}

impl WriteWhole for JsonWriter {
    fn write_whole(&self, out: &mut dyn Write, tensor: WholeTensor<'_>, _: &TextOptions) -> Result<()> {
        Ok(write(out, tensor.items)?)
    }
}
