//! Formats as the rest of the program sees them, and their recognition.

use std::borrow::Cow;
use std::fmt::{self, Debug};
use std::fs::File;
use std::hash::{Hash, Hasher};
use std::path::Path;

use super::rows::{self, Holds, Reads, Row, TABLE};
use crate::container::content::{Content, read_begin};
use crate::container::file_options::Capabilities;
use crate::container::foreign;
use crate::container::interface::{Confidence, ReadableFile, Unchangeable, Writer};
use crate::container::names::joined_by;
use tensorop_kernels::error::{Advice, Error, ErrorKind, Result, bail, malformed, unsupported};
use tensorop_kernels::item::dtype::DType;

#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct FormatName {
    pub asked: Option<Format>,
    /// From the file name.
    pub by_name: Option<Format>,
}

/// A format: a row of the table.
#[derive(Clone, Copy)]
pub struct Format(&'static Row);

impl Format {
    /// NumPy's `.npy`.
    pub const NPY: Self = Self(&rows::NPY);

    /// NumPy's `.npz`.
    pub const NPZ: Self = Self(&rows::NPZ);

    /// safetensors.
    pub const SAFETENSORS: Self = Self(&rows::SAFETENSORS);

    /// An ONNX TensorProto.
    pub const ONNX: Self = Self(&rows::ONNX);

    /// The index of several safetensors files.
    pub const INDEX: Self = Self(&rows::INDEX);

    /// JSON.
    pub const JSON: Self = Self(&rows::JSON);

    /// NumPy's printed form.
    pub const TEXT: Self = Self(&rows::TEXT);

    /// Items without a header.
    pub const RAW: Self = Self(&rows::RAW);

    /// Opened by [`collection::open`](super::collection::open) alone; nobody types its name, so the table lacks it.
    pub(crate) const FOLDER: Self = Self(&rows::FOLDER);

    /// Returns all formats.
    pub fn all() -> impl Iterator<Item = Self> {
        TABLE.iter().copied().map(Self)
    }

    /// Returns the format with this name or argument.
    pub fn named(name: &str) -> Option<Self> {
        Self::all().find(|Self(row)| row.name == name || row.argument == name)
    }

    fn by_extension(extension: &str) -> Option<Self> {
        Self::all().find(|format| format.is_written() && format.0.extension == extension)
    }

    /// Returns the format to write a file of this name in, ignoring case.
    ///
    /// # Errors
    /// No written format has the extension.
    pub fn from_name(path: &Path) -> Result<Self> {
        let extension = path.extension().map(|extension| extension.to_ascii_lowercase());
        let format = extension.as_ref().and_then(|extension| extension.to_str()).and_then(Self::by_extension);
        format.ok_or_else(|| {
            if !cfg!(feature = "zarr") && extension.as_ref().is_some_and(|extension| extension == "zarr") {
                return unsupported!("Zarr stores need the feature zarr of tensorop");
            }
            let is_named = |row: &&&Row| extension.as_ref().is_some_and(|extension| extension == row.extension);
            let read = TABLE.iter().find(is_named).and_then(|row| row.reads.as_ref()?.name_in_messages);
            let written = Self::all().filter(|format| format.is_written());
            let all: Vec<_> = written.map(|Self(row)| format!(".{}", row.extension)).collect();
            let all = joined_by(&all, "or");
            match read {
                Some(what) => {
                    unsupported!("{what} can be read, not written: end the name in {all}")
                }
                None => malformed!("the name does not show the format: end it in {all}"),
            }
        })
    }

    /// Returns the format to read a file of this name in, ignoring case, and the name without its longest extension.
    pub fn from_file_name(name: &str) -> Option<(Self, Cow<'_, str>)> {
        if let Some(stem) = crate::formats::index::stem_of_name(name) {
            return Some((Self::INDEX, stem.into()));
        }
        let stem = |Self(row): &Self| {
            let at = name.len().checked_sub(row.extension.len() + 1)?;
            let ending = name.get(at..)?.strip_prefix('.')?;
            (at > 0 && ending.eq_ignore_ascii_case(row.extension)).then(|| &name[..at])
        };
        let read = Self::all().filter(|format| format.is_read());
        let found = read.filter_map(|format| Some((format, stem(&format)?))).min_by_key(|(_, stem)| stem.len());
        found.map(|(format, stem)| (format, stem.into()))
    }

    /// Returns the format of a file in a folder, and the name without its extension. Some extensions leave the format to
    /// the content.
    pub(crate) fn from_name_or_content<'n>(name: &'n str, path: &Path) -> Option<(Self, Cow<'n, str>)> {
        let is_by_name = |Self(row): Self| row.reads.as_ref().is_none_or(|reads| reads.names_by_content.is_empty());
        let named = Self::from_file_name(name).filter(|(format, _)| is_by_name(*format));
        named.or_else(|| Self::from_content(name, path).map(|(format, stem)| (format, stem.into())))
    }

    fn from_content<'n>(name: &'n str, path: &Path) -> Option<(Self, &'n str)> {
        let (stem, extension) = name.rsplit_once('.').filter(|(stem, _)| !stem.is_empty())?;
        let may_be = |reads: &&Reads| reads.names_by_content.iter().any(|name| name.eq_ignore_ascii_case(extension));
        let mut rows = TABLE.iter().filter_map(|row| Some((row, row.reads.as_ref().filter(may_be)?))).peekable();
        rows.peek()?;
        let begin = read_begin(&mut File::open(path).ok()?).ok()?;
        let found = rows.find(|(_, reads)| (reads.sure)(&begin, None) == Confidence::Certain);
        found.map(|(row, _)| (Self(row), stem))
    }

    /// Returns the format to read a path in, by its name.
    pub fn from_path(path: &Path) -> Option<Self> {
        Self::from_file_name(&path.file_name().unwrap_or_default().to_string_lossy()).map(|(format, _)| format)
    }

    /// Returns whether the name is that of a container.
    pub fn names_container(path: &Path) -> bool {
        Self::from_path(path).is_some_and(Self::is_container)
    }

    /// Returns whether the format names other files.
    pub fn names_files(self) -> bool {
        self.0.holds == Holds::Files
    }

    /// Returns the name that `info` prints.
    pub fn name(self) -> &'static str {
        self.0.name
    }

    /// Returns the name to type after `--to`.
    pub fn argument(self) -> &'static str {
        self.0.argument
    }

    /// Returns another name to type.
    pub fn alias(self) -> Option<&'static str> {
        Some(self.0.name).filter(|name| *name != self.0.argument)
    }

    /// Returns help on reading.
    pub fn reading_help(self) -> Option<&'static str> {
        self.0.reads.as_ref().map(|reads| reads.help)
    }

    /// Returns help on writing.
    pub fn writing_help(self) -> Option<&'static str> {
        self.0.writes.as_ref().map(|writes| writes.help)
    }

    /// Returns whether it can be read.
    pub fn is_read(self) -> bool {
        self.0.reads.is_some()
    }

    /// Returns whether it can be written.
    pub fn is_written(self) -> bool {
        self.0.writes.is_some()
    }

    pub(crate) fn is_read_in_order(self) -> bool {
        self.0.reads.as_ref().is_some_and(|reads| reads.in_order)
    }

    /// Whether the first of numbered files is opened with all others.
    pub(crate) fn opens_numbered(self) -> bool {
        self.0.reads.as_ref().is_some_and(|reads| reads.opens_numbered)
    }

    /// Returns whether it is not text.
    pub fn is_binary(self) -> bool {
        self.0.is_binary
    }

    /// Returns whether it holds named tensors.
    pub fn is_container(self) -> bool {
        self.0.holds != Holds::Tensor
    }

    /// Returns the extension without the dot.
    pub fn extension(self) -> &'static str {
        self.0.extension
    }

    /// Returns whether it is a folder.
    pub fn is_folder(self) -> bool {
        self.0.reads.as_ref().is_some_and(|reads| !reads.marks.is_empty())
    }

    /// Returns the format of a folder by its marks.
    pub fn from_folder(folder: &Path) -> Option<Self> {
        let is_there = |mark: &&str| folder.join(mark).symlink_metadata().is_ok();
        Self::all().find(|format| format.all_marks().iter().any(is_there))
    }

    #[doc(hidden)]
    pub fn unchangeable(self) -> Option<Unchangeable> {
        self.0.reads.as_ref()?.unchangeable
    }

    /// The first mark is the one written.
    pub(crate) fn all_marks(self) -> &'static [&'static str] {
        self.0.reads.as_ref().map_or(&[], |reads| reads.marks)
    }

    /// Panics if the format can only be read.
    #[doc(hidden)]
    pub fn writer(self) -> &'static dyn Writer {
        self.0.writes.as_ref().expect("an output is in a format that can be written").writer
    }

    #[doc(hidden)]
    pub fn can(self) -> Capabilities {
        self.0.writes.as_ref().map_or(Capabilities::NONE, |writes| writes.can)
    }

    /// Binary formats without byte orders are little-endian.
    pub(crate) fn stored(self, dtype: DType) -> DType {
        if self.is_binary() && !self.can().byte_orders { dtype.native() } else { dtype }
    }

    #[doc(hidden)]
    pub fn open(self, content: Content) -> Result<ReadableFile> {
        let reads = self.0.reads.as_ref().ok_or_else(|| malformed!("{} is not read", self.name()))?;
        (reads.open)(content)
    }

    /// A format chosen by the user wins. The file name decides where content cannot, and selects the reader that
    /// explains malformed content.
    pub(crate) fn recognise(begin: &[u8], len: Option<u64>, named: FormatName) -> Result<Self> {
        let sure = |format: Self| format.0.reads.as_ref().map_or(Confidence::No, |reads| (reads.sure)(begin, len));
        if begin.is_empty() {
            bail!("empty, expected a tensor");
        }
        // a web page may be read as CSV, but a Git LFS pointer is never a tensor
        if let Some(what) = foreign::stand_in(begin).filter(|_| named.asked.is_none() || foreign::is_pointer(begin)) {
            return Err(Error::from_kind(ErrorKind::Unsupported, what));
        }
        let explained_by = |format: Self| {
            let unless = format.0.reads.as_ref().and_then(|reads| reads.mismatch_message);
            match unless {
                Some(message) if sure(format) == Confidence::No => Err(malformed!("{message}")),
                Some(_) | None => Ok(format),
            }
        };
        if let Some(format) = named.asked {
            return explained_by(format);
        }
        let is_told = |format: &Self| format.0.reads.as_ref().is_some_and(|reads| reads.name_in_messages.is_none());
        if let Some(format) = named.by_name.filter(|format| is_told(format) && sure(*format) > Confidence::No) {
            return Ok(format);
        }
        let by_content =
            TABLE.iter().filter(|row| row.reads.as_ref().is_some_and(|reads| reads.name_in_messages.is_some()));
        // the first row wins, and `max_by_key` returns the last
        let surest =
            by_content.rev().copied().map(Self).map(|format| (sure(format), format)).max_by_key(|(sure, _)| *sure);
        let foreign = || foreign::binary(begin).map(|what| Error::from_kind(ErrorKind::Unsupported, what));
        match surest {
            Some((Confidence::Certain, format)) => return Ok(format),
            Some((sure, format)) if sure > Confidence::No => return foreign().map_or(Ok(format), Err),
            Some(_) | None => {}
        }
        let Some(byte) = begin.iter().find(|byte| !byte.is_ascii_whitespace()) else {
            bail!("empty, expected a tensor");
        };
        if let Some(what) = foreign() {
            return Err(what);
        }
        if let Some(format) = named.by_name.filter(|format| !format.is_folder()) {
            return explained_by(format);
        }
        let rows = TABLE.iter().filter(|row| row.holds != Holds::Files);
        let words: Vec<_> = rows.filter_map(|row| row.reads.as_ref()?.name_in_messages).collect();
        let neither = format!("neither {}: begins with byte 0x{byte:02x}", joined_by(&words, "nor"));
        Err(match foreign::text(&String::from_utf8_lossy(begin)) {
            Some(foreign::TextKind::Rows { delimiter, headings }) if !begin.contains(&0) => {
                malformed!("{neither}; this looks like CSV").advising(Advice::ReadAsCsv { delimiter, headings })
            }
            Some(_) | None => {
                malformed!("{neither}; for items without a header give FILE:DTYPE[DIMS]")
            }
        })
    }
}

pub fn containers(word: &str) -> String {
    let containers = TABLE.iter().filter(|row| row.holds == Holds::Tensors && row.writes.is_some());
    joined_by(&containers.map(|row| format!(".{}", row.extension)).collect::<Vec<_>>(), word)
}

impl PartialEq for Format {
    fn eq(&self, other: &Self) -> bool {
        self.name() == other.name()
    }
}

impl Eq for Format {}

impl Hash for Format {
    fn hash<H: Hasher>(&self, state: &mut H) {
        self.name().hash(state);
    }
}

impl Debug for Format {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

#[cfg(test)]
mod tests {
    use std::collections::HashSet;

    use super::*;

    #[test]
    fn each_row_has_names_of_its_own() {
        let names = |of: fn(&Row) -> &'static str| TABLE.iter().map(|row| of(row)).collect::<HashSet<_>>().len();
        let counts = [names(|row| row.name), names(|row| row.argument), names(|row| row.extension)];
        assert_eq!(counts, [TABLE.len(); 3]);
        for format in Format::all() {
            assert_eq!(Format::named(format.name()), Some(format));
            assert_eq!(Format::named(format.argument()), Some(format));
        }
    }

    #[test]
    fn names_tell_formats() {
        let rows = [
            ("a.npy", Some("npy")),
            ("a.NPZ", Some("npz")),
            ("a.b.safetensors", Some("safetensors")),
            ("a.pb", Some("onnx")),
            ("a.json", Some("json")),
            ("a.txt", Some("text")),
            ("a.CSV", Some("csv")),
            ("a.tsv", Some("tsv")),
            ("a.bin", Some("raw")),
            ("npy", None),
            ("a.onnx", None),
            ("", None),
        ];
        for (name, expected) in rows {
            assert_eq!(Format::from_name(Path::new(name)).ok().map(Format::name), expected, "{name:?}");
        }
        let refused = Format::from_name(Path::new("a.foo")).unwrap_err().to_string();
        assert_eq!(
            refused,
            format!(
                "the name does not show the format: end it in .npy, .npz, .safetensors, .pb, {}.json, .csv, .tsv, .txt or .bin",
                if cfg!(feature = "zarr") { ".zarr, " } else { "" }
            )
        );
        assert_eq!(["onnx", "pb", "text", "txt"].map(|name| Format::named(name).is_some()), [true, true, true, false]);
    }

    #[test]
    fn first_bytes_tell_formats() {
        let safetensors = [&2_u64.to_le_bytes()[..], b"{}"].concat();
        let cut_off = [&9_u64.to_le_bytes()[..], b"{}"].concat();
        type Row<'a> = (&'a [u8], Option<&'a str>, Result<&'a str, &'a str>);
        let rows: [Row<'_>; 13] = [
            (b"\x93NUMPY\x01\0", None, Ok("npy")),
            (b"PK\x03\x04", None, Ok("npz")),
            (&safetensors, None, Ok("safetensors")),
            (&cut_off, None, Ok("safetensors")),
            (b"\x08\x01\x10\x01", None, Ok("onnx")),
            (b" [1]", None, Ok("json")),
            (br#"{"metadata": {}, "weight_map" : {"a": "b.safetensors"}}"#, None, Ok("index")),
            (br#"{"data": ["weight_map"], "shape": [1]}"#, None, Ok("json")),
            (b" \n", None, Err("empty, expected a tensor")),
            (
                b"\x01",
                None,
                Err(
                    "neither .npy, a PyTorch file, .npz, .safetensors, an ONNX tensor, an ONNX model, OpenVINO IR, GGUF nor JSON: begins with byte 0x01; for \
                     items without a header give FILE:DTYPE[DIMS]",
                ),
            ),
            (b"[1]", Some("npz"), Err("not a .npz file: does not begin as a ZIP archive")),
            (b"[1]", Some("onnx"), Ok("onnx")),
            (b"\x01", Some("json"), Ok("json")),
        ];
        for (begin, from, expected) in rows {
            let from = from.and_then(Format::named);
            let found = Format::recognise(begin, Some(begin.len() as u64), FormatName { asked: from, by_name: None });
            let found = found.map(Format::name).map_err(|error| error.message().to_owned());
            assert_eq!(found, expected.map_err(str::to_owned), "{begin:?}");
        }
    }
}
