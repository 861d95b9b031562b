//! The table of formats: one row each, with its names, how it is recognised, and the [`Reader`] and [`Writer`] that its
//! own file implements. To add a format is to add a file and a row.

use std::fmt::{self, Debug};
use std::hash::{Hash, Hasher};
use std::path::Path;

use super::content::Content;
use super::interface::{Reader, Sure, Writer};
use super::values::cells::Dialect;
#[cfg(feature = "zarr")]
use super::zarr;
use super::{csv, foreign, index, json, npy, npz, onnx, raw, safetensors, text};
use crate::error::{Error, ErrorKind, Result, malformed};

/// All formats, in the order in which they are listed and recognised.
static TABLE: &[&Row] = &[
    &NPY,
    &NPZ,
    &SAFETENSORS,
    &INDEX,
    &ONNX,
    #[cfg(feature = "zarr")]
    &ZARR,
    &JSON,
    &CSV,
    &TSV,
    &TEXT,
    &RAW,
];

static NPY: Row = Row {
    name: "npy",
    argument: "npy",
    alias: None,
    extension: "npy",
    is_binary: true,
    is_container: false,
    reads: Some(Reads {
        help: "NumPy's .npy",
        words: Some(".npy"),
        sure: npy::sure,
        marks: &[],
        unless: Some("no .npy file: does not begin with \\x93NUMPY"),
        open: npy::open,
    }),
    writes: Some(Writes { help: "NumPy's .npy, byte for byte as numpy.save", writer: &npy::NpyWriter }),
};

static NPZ: Row = Row {
    name: "npz",
    argument: "npz",
    alias: None,
    extension: "npz",
    is_binary: true,
    is_container: true,
    reads: Some(Reads {
        help: "NumPy's .npz, a ZIP archive of .npy",
        words: Some(".npz"),
        sure: npz::table::sure,
        marks: &[],
        unless: Some("no .npz file: does not begin as a ZIP archive"),
        open: npz::table::open,
    }),
    writes: Some(Writes { help: "NumPy's .npz, not compressed, with fixed times", writer: &npz::table::NpzWriter }),
};

static SAFETENSORS: Row = Row {
    name: "safetensors",
    argument: "safetensors",
    alias: None,
    extension: "safetensors",
    is_binary: true,
    is_container: true,
    reads: Some(Reads {
        help: "safetensors",
        words: Some(".safetensors"),
        sure: safetensors::sure,
        marks: &[],
        unless: Some("no .safetensors file: does not begin with a length and {"),
        open: safetensors::open,
    }),
    writes: Some(Writes { help: "safetensors", writer: &safetensors::SafetensorsWriter }),
};

static INDEX: Row = Row {
    name: "index",
    argument: "index",
    alias: None,
    extension: "safetensors.index.json",
    is_binary: false,
    is_container: true,
    reads: Some(Reads {
        help: "The index of safetensors in several files, as Hugging Face writes it",
        words: Some("an index of .safetensors"),
        sure: index::sure,
        marks: &[],
        // nobody knows where in the text it shows
        unless: None,
        open: index::open,
    }),
    writes: None,
};

static ONNX: Row = Row {
    name: "onnx",
    argument: "pb",
    alias: Some("onnx"),
    extension: "pb",
    is_binary: true,
    is_container: false,
    // what else it is than a TensorProto shows when it is read
    reads: Some(Reads {
        help: "An ONNX TensorProto",
        words: Some("an ONNX tensor"),
        sure: onnx::sure,
        marks: &[],
        unless: None,
        open: onnx::open,
    }),
    writes: Some(Writes { help: "An ONNX TensorProto with raw data", writer: &onnx::OnnxWriter }),
};

#[cfg(feature = "zarr")]
static ZARR: Row = Row {
    name: "zarr",
    argument: "zarr",
    alias: None,
    extension: "zarr",
    is_binary: true,
    is_container: true,
    reads: Some(Reads {
        help: "A Zarr store of version 3 or 2: a folder",
        words: None,
        sure: |_, _| Sure::No,
        marks: zarr::MARKS,
        unless: Some("no Zarr store: is a file, expected a folder with zarr.json or .zarray"),
        open: zarr::open,
    }),
    writes: Some(Writes { help: "A Zarr store of version 3: a folder of chunks", writer: &zarr::ZarrWriter }),
};

static JSON: Row = Row {
    name: "json",
    argument: "json",
    alias: None,
    extension: "json",
    is_binary: false,
    is_container: false,
    reads: Some(Reads {
        help: "JSON, also that of KServe's version 2 protocol",
        words: Some("JSON"),
        sure: json::sure,
        marks: &[],
        unless: None,
        open: json::open_file,
    }),
    writes: Some(Writes { help: "One JSON object that reads back to the same bits", writer: &json::JsonWriter }),
};

static TEXT: Row = Row {
    name: "text",
    argument: "text",
    alias: None,
    extension: "txt",
    is_binary: false,
    is_container: false,
    reads: None,
    writes: Some(Writes { help: "What NumPy prints", writer: &text::TextWriter }),
};

static CSV: Row = Row {
    name: "csv",
    argument: "csv",
    alias: None,
    extension: "csv",
    is_binary: false,
    is_container: false,
    reads: Some(Reads {
        help: "Cells between commas, a row a line",
        words: None,
        sure: csv::sure,
        marks: &[],
        unless: Some("no CSV: holds a NUL byte"),
        open: csv::open_csv,
    }),
    writes: Some(Writes { help: "Cells between commas, a row a line", writer: &csv::CsvWriter(Dialect::Csv) }),
};

static TSV: Row = Row {
    name: "tsv",
    argument: "tsv",
    alias: None,
    extension: "tsv",
    is_binary: false,
    is_container: false,
    reads: Some(Reads {
        help: "Cells between tabs",
        words: None,
        sure: csv::sure,
        marks: &[],
        unless: Some("no TSV: holds a NUL byte"),
        open: csv::open_tsv,
    }),
    writes: Some(Writes { help: "Cells between tabs", writer: &csv::CsvWriter(Dialect::Tsv) }),
};

static RAW: Row = Row {
    name: "raw",
    argument: "raw",
    alias: None,
    extension: "bin",
    is_binary: true,
    is_container: false,
    // only what an operand itself says of it tells what the bytes are
    reads: None,
    writes: Some(Writes { help: "The items alone, in C order", writer: &raw::RawWriter }),
};

/// What there is to know of a format.
#[derive(Debug)]
struct Row {
    /// The name that is told, such as by `info`.
    name: &'static str,
    /// The name that is asked for, such as by `--to`, and another that will do.
    argument: &'static str,
    alias: Option<&'static str>,
    /// What names of files end in.
    extension: &'static str,
    /// Whether it is not meant to be read by people.
    is_binary: bool,
    /// Whether it holds any number of tensors, by their names.
    is_container: bool,
    reads: Option<Reads>,
    writes: Option<Writes>,
}

/// How a format is read.
#[derive(Debug)]
struct Reads {
    /// One line of help.
    help: &'static str,
    /// What a list of formats calls it; `None` of one that any text may be in, so that content never tells it.
    words: Option<&'static str>,
    /// How sure it is that a file that begins so, and has so many bytes if that is known, is in this format.
    sure: fn(&[u8], Option<u64>) -> Sure,
    /// The names of files of which one makes a folder one in this format; none where it is a file.
    marks: &'static [&'static str],
    /// What is said of a file that is not, although it was said to be. Without, reading it will tell more.
    unless: Option<&'static str>,
    open: fn(Content) -> Result<Box<dyn Reader>>,
}

/// How a format is written.
#[derive(Debug)]
struct Writes {
    /// One line of help.
    help: &'static str,
    writer: &'static dyn Writer,
}

/// A format: a row of the table.
#[derive(Clone, Copy)]
pub struct Format(&'static Row);

impl Format {
    /// NumPy's `.npy`.
    pub const NPY: Self = Self(&NPY);

    /// NumPy's `.npz`: a ZIP archive of `.npy` files.
    pub const NPZ: Self = Self(&NPZ);

    /// safetensors.
    pub const SAFETENSORS: Self = Self(&SAFETENSORS);

    /// An ONNX TensorProto, `.pb`.
    pub const ONNX: Self = Self(&ONNX);

    /// The index of safetensors in several files, which is only read.
    pub const INDEX: Self = Self(&INDEX);

    /// JSON.
    pub const JSON: Self = Self(&JSON);

    /// What NumPy prints, which is only written.
    pub const TEXT: Self = Self(&TEXT);

    /// Items without a header, which are read where an operand says what they are.
    pub const RAW: Self = Self(&RAW);

    /// All formats, in the order in which they are listed.
    pub fn all() -> impl Iterator<Item = Self> {
        TABLE.iter().copied().map(Self)
    }

    /// The format of that name, or that is asked for by it.
    pub fn named(name: &str) -> Option<Self> {
        Self::all().find(|Self(row)| row.name == name || row.argument == name || row.alias == Some(name))
    }

    /// The format that is written to files whose names end so, in lower-case letters and without the dot.
    pub fn by_extension(extension: &str) -> Option<Self> {
        Self::all().find(|format| format.is_written() && format.0.extension == extension)
    }

    /// The format that the name of a file tells, in letters of whatever case.
    ///
    /// # Errors
    /// A name that does not tell it.
    pub fn of_name(path: &Path) -> Result<Self> {
        let extension = path.extension().map(|extension| extension.to_ascii_lowercase());
        let format = extension.as_ref().and_then(|extension| extension.to_str()).and_then(Self::by_extension);
        format.ok_or_else(|| {
            if !cfg!(feature = "zarr") && extension.is_some_and(|extension| extension == "zarr") {
                return Error::of(ErrorKind::Unsupported, "Zarr stores need the feature zarr of tensorop");
            }
            let written = Self::all().filter(|format| format.is_written());
            let all: Vec<_> = written.map(|Self(row)| format!(".{}", row.extension)).collect();
            malformed!("the name does not tell the format: end it in {}", listed(&all, "or"))
        })
    }

    /// The format that is read from files whose names end so, in letters of whatever case, and the name without its
    /// ending. Of two endings that fit the longer one is meant.
    pub fn of_file_name(name: &str) -> Option<(Self, &str)> {
        let stem = |Self(row): &Self| {
            let at = name.len().checked_sub(row.extension.len() + 1)?;
            let ending = name.get(at..)?.strip_prefix('.')?;
            (at > 0 && ending.eq_ignore_ascii_case(row.extension)).then(|| &name[..at])
        };
        let read = Self::all().filter(|format| format.is_read());
        read.filter_map(|format| Some((format, stem(&format)?))).min_by_key(|(_, stem)| stem.len())
    }

    /// Whether it names other files, in which its tensors lie.
    pub fn names_files(self) -> bool {
        self.is_container() && !self.is_written()
    }

    /// The format that the name of a file tells, where content cannot.
    pub(super) fn told_by_name(path: &Path) -> Option<Self> {
        Self::of_name(path).ok().filter(|Self(row)| row.reads.as_ref().is_some_and(|reads| reads.words.is_none()))
    }

    /// The name that `info` prints.
    pub fn name(self) -> &'static str {
        self.0.name
    }

    /// The name that it is asked for by.
    pub fn argument(self) -> &'static str {
        self.0.argument
    }

    /// Another name that it is asked for by.
    pub fn alias(self) -> Option<&'static str> {
        self.0.alias
    }

    /// One line of help on reading it; `None` if it is only written.
    pub fn reading_help(self) -> Option<&'static str> {
        self.0.reads.as_ref().map(|reads| reads.help)
    }

    /// One line of help on writing it; `None` if it is only read.
    pub fn writing_help(self) -> Option<&'static str> {
        self.0.writes.as_ref().map(|writes| writes.help)
    }

    /// Whether it is read.
    pub fn is_read(self) -> bool {
        self.0.reads.is_some()
    }

    /// Whether it is written.
    pub fn is_written(self) -> bool {
        self.0.writes.is_some()
    }

    /// Whether it is not meant to be read by people.
    pub fn is_binary(self) -> bool {
        self.0.is_binary
    }

    /// Whether it holds any number of tensors, by their names.
    pub fn is_container(self) -> bool {
        self.0.is_container
    }

    /// What names of files end in, without the dot.
    pub fn extension(self) -> &'static str {
        self.0.extension
    }

    /// Whether it is a folder.
    pub fn is_folder(self) -> bool {
        self.0.reads.as_ref().is_some_and(|reads| !reads.marks.is_empty())
    }

    /// The format of a folder; `None` of one that is in none. What marks it may be no file: who opens it is told so.
    pub fn of_folder(folder: &Path) -> Option<Self> {
        Self::all().find(|format| format.marks(folder, |mark| mark.symlink_metadata().is_ok()))
    }

    /// Returns the error that a folder is in no format, or in one that this build was made without.
    pub(super) fn no_folder(folder: &Path) -> Error {
        let is_zarr = ["zarr.json", ".zarray", ".zgroup"].iter().any(|mark| folder.join(mark).is_file());
        match cfg!(feature = "zarr") || !is_zarr {
            true => malformed!("is a folder, expected a file"),
            false => Error::of(ErrorKind::Unsupported, "is a Zarr store, which needs the feature zarr of tensorop"),
        }
    }

    /// Whether a folder is in this format, so that another may take its place.
    pub fn may_replace(self, folder: &Path) -> bool {
        self.marks(folder, Path::is_file)
    }

    fn marks(self, folder: &Path, is_mark: impl Fn(&Path) -> bool) -> bool {
        self.0.reads.as_ref().is_some_and(|reads| reads.marks.iter().any(|mark| is_mark(&folder.join(mark))))
    }

    /// How it is written; what is only read refuses everything.
    pub(crate) fn writer(self) -> &'static dyn Writer {
        self.0.writes.as_ref().map_or(&index::OnlyRead, |writes| writes.writer)
    }

    /// Opens what is in this format.
    ///
    /// # Errors
    /// What is not in order; a format that is only written; of reading.
    pub(crate) fn open(self, content: Content) -> Result<Box<dyn Reader>> {
        let reads = self.0.reads.as_ref().ok_or_else(|| malformed!("{} is not read", self.name()))?;
        (reads.open)(content)
    }

    /// The format that the first bytes of a file of `len` bytes tell, if its length is known. Another one is taken if
    /// `from` says so, or the name of the file (`named`), unless the content is not in it.
    ///
    /// # Errors
    /// One line: content in no format, or not in the one that it should be in.
    pub(crate) fn recognise(
        begin: &[u8],
        len: Option<u64>,
        (from, named): (Option<Self>, Option<Self>),
    ) -> Result<Self, String> {
        let sure = |format: Self| format.0.reads.as_ref().map_or(Sure::No, |reads| (reads.sure)(begin, len));
        if let Some(format) = from {
            let unless = format.0.reads.as_ref().and_then(|reads| reads.unless);
            return match unless {
                Some(message) if sure(format) == Sure::No => Err(message.to_owned()),
                Some(_) | None => Ok(format),
            };
        }
        if let Some(format) = named.filter(|format| sure(*format) > Sure::No) {
            return Ok(format);
        }
        let by_content = TABLE.iter().filter(|row| row.reads.as_ref().is_some_and(|reads| reads.words.is_some()));
        // of several the last is the greatest: in the table backwards, the first
        let surest =
            by_content.rev().copied().map(Self).map(|format| (sure(format), format)).max_by_key(|(sure, _)| *sure);
        let foreign = || foreign::binary(begin).map(str::to_owned);
        match surest {
            Some((Sure::Certain, format)) => return Ok(format),
            Some((sure, format)) if sure > Sure::No => return foreign().map_or(Ok(format), Err),
            Some(_) | None => {}
        }
        let Some(byte) = begin.iter().find(|byte| !byte.is_ascii_whitespace()) else {
            return Err("empty, expected a tensor".to_owned());
        };
        if let Some(what) = foreign() {
            return Err(what);
        }
        // an index is JSON, and what does not begin as JSON is none
        let rows = TABLE.iter().filter(|row| row.name != INDEX.name);
        let words: Vec<_> = rows.filter_map(|row| row.reads.as_ref()?.words).collect();
        let cure = match foreign::text(&String::from_utf8_lossy(begin)) {
            Some(foreign::Text::Rows) if !begin.contains(&0) => "this looks like CSV: try --from csv (or tsv)",
            Some(_) | None => "if these are items without a header, say what they are: FILE:DTYPE[DIMS]",
        };
        Err(format!("neither {}: begins with byte 0x{byte:02x}; {cure}", listed(&words, "nor")))
    }
}

/// The endings of names of containers that are written, as `.npz or .safetensors`.
pub(crate) fn containers(word: &str) -> String {
    let containers = TABLE.iter().filter(|row| row.is_container && row.writes.is_some());
    listed(&containers.map(|row| format!(".{}", row.extension)).collect::<Vec<_>>(), word)
}

/// Words with commas between them, but `word` before the last.
pub(super) fn listed(words: &[impl AsRef<str>], word: &str) -> String {
    let mut out = String::new();
    for (n, each) in words.iter().enumerate() {
        let last = n + 1 == words.len();
        if n > 0 {
            out += &if last { format!(" {word} ") } else { ", ".to_owned() };
        }
        out += each.as_ref();
    }
    out
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
            assert_eq!(Format::of_name(Path::new(name)).ok().map(Format::name), expected, "{name:?}");
        }
        let refused = Format::of_name(Path::new("a.foo")).unwrap_err().to_string();
        assert_eq!(
            refused,
            format!(
                "the name does not tell the format: end it in .npy, .npz, .safetensors, .pb, {}.json, .csv, .tsv, .txt or .bin",
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
                    "neither .npy, .npz, .safetensors, an ONNX tensor nor JSON: begins with byte 0x01; if these are items \
                     without a header, say what they are: FILE:DTYPE[DIMS]",
                ),
            ),
            (b"[1]", Some("npz"), Err("no .npz file: does not begin as a ZIP archive")),
            (b"[1]", Some("onnx"), Ok("onnx")),
            (b"\x01", Some("json"), Ok("json")),
        ];
        for (begin, from, expected) in rows {
            let from = from.and_then(Format::named);
            let found = Format::recognise(begin, Some(begin.len() as u64), (from, None)).map(Format::name);
            assert_eq!(found, expected.map_err(str::to_owned), "{begin:?}");
        }
    }
}
