//! The table of formats. A new format is a file, with a reader and a [`Writer`], and a row.

use crate::container::content::Content;
use crate::container::file_options::Capabilities;
use crate::container::interface::{Confidence, ReadableFile, Unchangeable, Writer};
use crate::formats::npy::{self, npy_file};
use crate::formats::{csv, gguf, index, json, npz, onnx, openvino, raw, safetensors, text, torch};
use crate::untyped::cells::Dialect;
use tensorop_kernels::error::{Result, malformed};

/// Listed and recognised in this order.
pub(crate) static TABLE: &[&Row] = &[
    &NPY,
    &TORCH,
    &NPZ,
    &SAFETENSORS,
    &INDEX,
    &ONNX,
    &ONNX_MODEL,
    &OPENVINO,
    #[cfg(feature = "zarr")]
    &ZARR,
    &GGUF,
    &JSON,
    &CSV,
    &TSV,
    &TEXT,
    &RAW,
];

pub(crate) static NPY: Row = Row {
    reads: Some(Reads {
        help: "NumPy's .npy",
        name_in_messages: Some(".npy"),
        sure: |begin, _| Confidence::certain_if(begin.starts_with(npy::MAGIC)),
        mismatch_message: Some("not a .npy file: does not begin with \\x93NUMPY"),
        open: npy_file::open,
        ..READS
    }),
    writes: Some(Writes {
        help: "NumPy's .npy, byte for byte as numpy.save",
        writer: &npy::NpyWriter,
        can: Capabilities { byte_orders: true, fortran_order: true, ..Capabilities::NONE },
    }),
    ..row("npy")
};

pub(crate) static NPZ: Row = Row {
    holds: Holds::Tensors,
    reads: Some(Reads {
        help: "NumPy's .npz, a ZIP archive of .npy",
        name_in_messages: Some(".npz"),
        sure: |begin, _| Confidence::certain_if(npz::is_npz(begin)),
        mismatch_message: Some("not a .npz file: does not begin as a ZIP archive"),
        unchangeable: Some(Unchangeable::CheckSums),
        open: npz::table::open,
        ..READS
    }),
    writes: Some(Writes {
        help: "NumPy's .npz, not compressed, with fixed times",
        writer: &npz::table::NpzWriter,
        can: Capabilities { byte_orders: true, fortran_order: true, compression: true, ..Capabilities::NONE },
    }),
    ..row("npz")
};

/// Before `.npz`, which is a ZIP archive, too.
pub(crate) static TORCH: Row = Row {
    holds: Holds::Tensors,
    extension: "pt",
    reads: Some(Reads {
        help: "A PyTorch file, of which nothing is run",
        name_in_messages: Some("a PyTorch file"),
        sure: torch::sure,
        names_by_content: &["pt", "pth", "ckpt", "bin"],
        unchangeable: Some(Unchangeable::Archive),
        open: torch::open,
        ..READS
    }),
    ..row("pytorch")
};

pub(crate) static SAFETENSORS: Row = Row {
    holds: Holds::Tensors,
    reads: Some(Reads {
        help: "Hugging Face's .safetensors",
        name_in_messages: Some(".safetensors"),
        sure: safetensors::sure,
        mismatch_message: Some("not a .safetensors file: does not begin with a length and {"),
        open: safetensors::open,
        ..READS
    }),
    writes: Some(Writes {
        help: "Hugging Face's .safetensors",
        writer: &safetensors::SafetensorsWriter,
        can: Capabilities { metadata: true, ..Capabilities::NONE },
    }),
    ..row("safetensors")
};

pub(crate) static INDEX: Row = Row {
    extension: "safetensors.index.json",
    is_binary: false,
    holds: Holds::Files,
    reads: Some(Reads {
        help: "The index of safetensors or PyTorch files, as Hugging Face writes it",
        name_in_messages: Some("an index of .safetensors"),
        sure: index::sure,
        open: index::open,
        ..READS
    }),
    ..row("index")
};

pub(crate) static ONNX: Row = Row {
    name: "onnx",
    reads: Some(Reads {
        help: "An ONNX TensorProto",
        name_in_messages: Some("an ONNX tensor"),
        sure: onnx::sure,
        unchangeable: Some(Unchangeable::Message),
        in_order: true,
        open: onnx::open,
        ..READS
    }),
    writes: Some(Writes {
        help: "An ONNX TensorProto with raw data",
        writer: &onnx::OnnxWriter,
        can: Capabilities::NONE,
    }),
    ..row("pb")
};

pub(crate) static ONNX_MODEL: Row = Row {
    extension: "onnx",
    holds: Holds::Tensors,
    reads: Some(Reads {
        help: "An ONNX model: initializers and constants",
        name_in_messages: Some("an ONNX model"),
        sure: onnx::container::sure,
        open: onnx::container::open,
        ..READS
    }),
    ..row("onnx-model")
};

pub(crate) static OPENVINO: Row = Row {
    extension: "xml",
    holds: Holds::Tensors,
    reads: Some(Reads {
        help: "OpenVINO IR: the constants of a .xml and its .bin",
        name_in_messages: Some("OpenVINO IR"),
        sure: openvino::sure,
        open: openvino::open,
        ..READS
    }),
    ..row("openvino")
};

#[cfg(feature = "zarr")]
pub(crate) static ZARR: Row = Row {
    holds: Holds::Tensors,
    reads: Some(Reads {
        help: "A Zarr store of version 3 or 2: a folder",
        marks: crate::formats::zarr::MARKS,
        mismatch_message: Some("not a Zarr store: is a file, expected a folder with zarr.json or .zarray"),
        open: crate::formats::zarr::open,
        ..READS
    }),
    writes: Some(Writes {
        help: "A Zarr store of version 3: a folder of chunks",
        writer: &crate::formats::zarr::ZarrWriter,
        can: Capabilities { chunks: true, ..Capabilities::NONE },
    }),
    ..row("zarr")
};

pub(crate) static GGUF: Row = Row {
    holds: Holds::Tensors,
    reads: Some(Reads {
        help: "A GGUF model, its blocks as float32",
        name_in_messages: Some("GGUF"),
        sure: gguf::sure,
        mismatch_message: Some("not a .gguf file: does not begin with GGUF"),
        opens_numbered: true,
        open: gguf::open,
        ..READS
    }),
    ..row("gguf")
};

pub(crate) static JSON: Row = Row {
    is_binary: false,
    reads: Some(Reads {
        help: "JSON, also that of KServe's version 2 protocol",
        name_in_messages: Some("JSON"),
        sure: json::sure,
        unchangeable: Some(Unchangeable::Text),
        in_order: true,
        open: json::open_file,
        ..READS
    }),
    writes: Some(Writes {
        help: "One JSON object that reads back to the same bits, except NaN",
        writer: &json::JsonWriter,
        can: Capabilities::NONE,
    }),
    ..row("json")
};

pub(crate) static TEXT: Row = Row {
    extension: "txt",
    is_binary: false,
    writes: Some(Writes { help: "What NumPy prints", writer: &text::TextWriter, can: Capabilities::NONE }),
    ..row("text")
};

pub(crate) static CSV: Row = Row {
    is_binary: false,
    reads: Some(Reads {
        help: "Cells between commas, a row a line",
        sure: csv::sure,
        mismatch_message: Some("not CSV: holds a NUL byte"),
        unchangeable: Some(Unchangeable::Text),
        in_order: true,
        open: |content| csv::open(content, Dialect::CSV),
        ..READS
    }),
    writes: Some(Writes {
        help: "Cells between commas, a row a line",
        writer: &csv::CsvWriter(Dialect::CSV),
        can: Capabilities::NONE,
    }),
    ..row("csv")
};

pub(crate) static TSV: Row = Row {
    is_binary: false,
    reads: Some(Reads {
        help: "Cells between tabs",
        sure: csv::sure,
        mismatch_message: Some("not TSV: holds a NUL byte"),
        unchangeable: Some(Unchangeable::Text),
        in_order: true,
        open: |content| csv::open(content, Dialect::TSV),
        ..READS
    }),
    writes: Some(Writes { help: "Cells between tabs", writer: &csv::CsvWriter(Dialect::TSV), can: Capabilities::NONE }),
    ..row("tsv")
};

/// Only a view opens raw bytes, through [`raw::open`].
pub(crate) static RAW: Row = Row {
    extension: "bin",
    writes: Some(Writes {
        help: "The items alone, in C order",
        writer: &raw::RawWriter,
        can: Capabilities { byte_orders: true, packing: true, ..Capabilities::NONE },
    }),
    ..row("raw")
};

pub(crate) static FOLDER: Row = Row { holds: Holds::Files, ..row("folder") };

/// A binary file of one tensor.
const fn row(name: &'static str) -> Row {
    Row { name, argument: name, extension: name, is_binary: true, holds: Holds::Tensor, reads: None, writes: None }
}

/// The reader explains a malformed file.
const READS: Reads = Reads {
    help: "",
    name_in_messages: None,
    sure: |_, _| Confidence::No,
    marks: &[],
    names_by_content: &[],
    mismatch_message: None,
    unchangeable: None,
    in_order: false,
    opens_numbered: false,
    open: |_| Err(malformed!("the row of a format has no reader")),
};

#[derive(Debug)]
pub(crate) struct Row {
    /// Printed by `info`.
    pub name: &'static str,
    /// Accepted after `--to`, as is `name`.
    pub argument: &'static str,
    pub extension: &'static str,
    pub is_binary: bool,
    pub holds: Holds,
    /// `None` if only written.
    pub reads: Option<Reads>,
    /// `None` if only read.
    pub writes: Option<Writes>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Holds {
    Tensor,
    Tensors,
    Files,
}

#[derive(Debug)]
pub(crate) struct Reads {
    pub help: &'static str,
    /// `None` for text that content cannot identify.
    pub name_in_messages: Option<&'static str>,
    /// Rates a file's first bytes and optional length.
    pub sure: fn(&[u8], Option<u64>) -> Confidence,
    /// File names that mark a folder as this format.
    pub marks: &'static [&'static str],
    /// Extensions of files in a folder that are in this format only if their content is.
    pub names_by_content: &'static [&'static str],
    /// The error for a forced format that [`sure`](Self::sure) rejects; `None` if the reader's error is better.
    pub mismatch_message: Option<&'static str>,
    pub unchangeable: Option<Unchangeable>,
    /// Whether any use reads the whole file in order.
    pub in_order: bool,
    /// Whether the first of numbered files is opened with all others.
    pub opens_numbered: bool,
    pub open: fn(Content) -> Result<ReadableFile>,
}

#[derive(Debug)]
pub(crate) struct Writes {
    pub help: &'static str,
    pub writer: &'static dyn Writer,
    pub can: Capabilities,
}
