//! Text in the table of formats.

use std::io::Write;
use std::ops::Range;

use super::items::{check, write_shown};
use super::page::shown;
use crate::error::{Result, bail};
use crate::format::interface::{Extras, Layout, TextOptions, WriteWhole, Writer};
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
    fn places(&self, meta: &Meta, options: &TextOptions) -> Option<Vec<Vec<Range<usize>>>> {
        shown(&meta.shape, options)
    }

    fn write_whole(
        &self,
        out: &mut dyn Write,
        (_, meta): (&str, &Meta),
        items: &Tensor,
        options: &TextOptions,
    ) -> Result<()> {
        Ok(write_shown(out, items, &meta.shape, options)?)
    }
}
