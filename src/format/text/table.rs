//! Text in the table of formats.

use std::io::Write;

use super::{TextOptions, check, write};
use crate::error::{Result, bail};
use crate::format::{Extras, Layout, WriteWhole, Writer};
use crate::item::dtype::DType;
use crate::item::meta::Meta;
use crate::item::tensor::Tensor;

/// Writes what NumPy prints, where the width of a column depends on every item.
#[derive(Debug)]
pub(in crate::format) struct TextWriter;

impl Writer for TextWriter {
    fn check(&self, dtype: &DType) -> Result<()> {
        check(dtype)
    }

    fn layout(&self, tensors: &[(&str, &Meta)], _: &Extras) -> Result<Layout> {
        match tensors {
            [_] => Ok(Layout::Whole(&Self)),
            _ => bail!("{} tensors, and one is printed", tensors.len()),
        }
    }
}

impl WriteWhole for TextWriter {
    fn write_whole(&self, out: &mut dyn Write, _: &str, tensor: &Tensor, options: &TextOptions) -> Result<()> {
        Ok(write(out, tensor, options)?)
    }
}
