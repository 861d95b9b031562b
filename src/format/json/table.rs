//! JSON in the table of formats.

use std::borrow::Cow;
use std::collections::HashMap;
use std::io::Write;

use serde::de::IgnoredAny;

use super::nest::{check, write};
use super::object::open;
use crate::error::{Result, Subject, bail};
use crate::format::content::Content;
use crate::format::interface::{Extras, Layout, Reader, Sure, TextOptions, WriteWhole, Writer};
use crate::format::values::{self, Values};
use crate::item::dtype::DType;
use crate::item::meta::Meta;
use crate::item::tensor::Tensor;
use crate::parallel::Threads;
use crate::storage::source::Source;

/// Returns how sure it is that a text with these first bytes is JSON: not at all, or possible. The reader explains best
/// what is wrong with a text that is not JSON, also with a word without quotes and with a byte order mark.
pub(in crate::format) fn sure(begin: &[u8], _: Option<u64>) -> Sure {
    match begin.iter().find(|byte| !byte.is_ascii_whitespace()) {
        Some(b'[' | b'{' | b'"' | b'-' | b'0'..=b'9' | b'a'..=b'z' | b'A'..=b'Z' | 0xef | 0xfe | 0xff) => {
            Sure::Possible
        }
        Some(_) | None => Sure::No,
    }
}

/// Reads a text, which is parsed when its items are wanted.
///
/// # Errors
/// Reading fails.
pub(in crate::format) fn open_file(content: Content) -> Result<Box<dyn Reader>> {
    let threads = content.threads;
    Ok(Box::new(JsonReader { text: content.read()?, threads }))
}

/// A text.
#[derive(Debug)]
pub(in crate::format) struct JsonReader {
    /// All of it.
    pub text: Vec<u8>,
    /// The threads that may share the check of its syntax.
    pub threads: Threads,
}

impl Reader for JsonReader {
    fn values(&self, subject: Subject) -> Option<Result<Values<'_>>> {
        Some(open(&self.text, subject, self.threads))
    }

    fn is_other(&self) -> bool {
        let keys = serde_json::from_slice::<HashMap<Cow<'_, str>, IgnoredAny>>(&self.text);
        keys.is_ok_and(|keys| !keys.contains_key("data"))
    }

    fn source(&self, _: usize, label: String) -> Result<Source> {
        // it is not known here which operand this is
        values::source(open(&self.text, Subject::Data, self.threads), label)
    }
}

/// Writes an object, whose items have no known places.
#[derive(Debug)]
pub(in crate::format) struct JsonWriter;

impl Writer for JsonWriter {
    fn check(&self, dtype: &DType) -> Result<()> {
        check(dtype)
    }

    fn layout(&self, tensors: &[(&str, &Meta)], _: &Extras) -> Result<Layout> {
        match tensors {
            [_] => Ok(Layout::Whole(&Self)),
            _ => bail!("{} tensors, and an object holds one", tensors.len()),
        }
    }
}

impl WriteWhole for JsonWriter {
    fn write_whole(&self, out: &mut dyn Write, _: (&str, &Meta), tensor: &Tensor, _: &TextOptions) -> Result<()> {
        Ok(write(out, tensor)?)
    }
}
