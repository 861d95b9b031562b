//! Tensors in files, and the tensor operators of OpenVINO and ONNX, exactly as specified.
//!
//! # Read, change, write
//!
//! ```
//! # #[cfg(feature = "files")] {
//! # let folder = tempfile::tempdir().unwrap();
//! # std::env::set_current_dir(folder.path()).unwrap();
//! # let first = tensorop::Tensor::from(&ndarray::array![[1.0_f32, 2.0], [3.0, 4.0]]);
//! # tensorop::write_all("w.npz", [("conv1", &first)])?;
//! use ndarray::{ArrayD, array};
//! use tensorop::{DType, Tensor, WriteOptions, slice_scatter};
//!
//! // one tensor of an archive; the content tells the format
//! let conv1 = tensorop::read("w.npz:conv1")?;
//! // an ndarray array, if the items are of that type
//! let weights: ArrayD<f32> = conv1.to_array()?;
//! let patched = slice_scatter(&weights, &array![[0.0, 0.5]], &":1".parse()?)?;
//! // the name tells the format; the file is complete or does not exist
//! tensorop::write("patched.npy", &Tensor::from(&patched))?;
//! # assert_eq!(tensorop::read("patched.npy")?.to_array::<f32>()?, array![[0.0, 0.5], [3.0, 4.0]].into_dyn());
//!
//! // a slice of a large file, of which nothing else is read, and a change where it lies
//! let file = tensorop::open("patched.npy")?;
//! println!("{:?}", file.info(None)?.shape);
//! let column = file.read_slice(None, &":, -1:".parse()?)?;
//! tensorop::patch("patched.npy", &":, :1".parse()?, &column)?;
//!
//! let half = WriteOptions::new().cast(DType::parse("float16")?).compress(true);
//! half.write_all("half.npz", [("conv1", &conv1)])?;
//!
//! let found = tensorop::diff::compare(&conv1, &tensorop::read("patched.npy")?, &Default::default())?;
//! assert_eq!(found.mismatches(), Some(3));
//! # }
//! # Ok::<(), tensorop::Error>(())
//! ```
//!
//! Files are `.npy`, `.npz`, `.safetensors` and their indexes, Zarr stores, ONNX `.pb`, JSON, CSV and TSV, and raw
//! bytes whose dtype and shape the path states; ONNX models, OpenVINO IR, GGUF and PyTorch files are only
//! read, and NumPy's printed text is only written.
//!
//! - [`read`], [`read_all`] and [`read_bytes`] read whole tensors into memory as a [`Tensor`] of any dtype.
//! - [`open`] and [`open_bytes`] return an [`Opened`], which describes and reads tensors and slices by name;
//!   [`describe`] describes a whole file.
//! - [`write`](write()), [`write_all`] and [`WriteOptions`] write tensors; [`patch`] changes a slice of a file in
//!   place.
//! - [`diff::compare`] compares two tensors; [`golden`] has assertions for tests.
//!
//! Every error is an [`Error`] with a [kind](error::ErrorKind) and a text that names file and tensor.
//!
//! # The operators
//!
//! [`slice()`] (OpenVINO Slice-8), [`slice_scatter()`] (OpenVINO SliceScatter-15), [`scatter_update()`] (OpenVINO
//! ScatterUpdate-3), [`scatter_nd()`] and [`scatter_nd_reduce()`] (ONNX ScatterND 11 to 18, OpenVINO
//! ScatterNDUpdate-15), [`scatter_elements()`] and [`scatter_elements_reduce()`] (ONNX ScatterElements 11 to 18,
//! OpenVINO ScatterElementsUpdate-12), [`gather()`] and [`gather_or_zero()`] (OpenVINO Gather-8, ONNX Gather-13),
//! [`gather_nd()`] (ONNX GatherND-13, OpenVINO GatherND-8), [`gather_elements()`] (ONNX GatherElements-13, OpenVINO
//! GatherElements-6), [`concat()`] and [`stack()`] (ONNX Concat 4 to 13, OpenVINO Concat-1, ONNX ConcatFromSequence),
//! [`transpose()`] (ONNX Transpose, OpenVINO Transpose-1), [`reshape()`] (Reshape, Squeeze, Unsqueeze and Flatten of
//! ONNX and OpenVINO), [`pad()`] (ONNX Pad 2 to 25, OpenVINO Pad-1 and -12), [`tile()`] (ONNX Tile, OpenVINO Tile-1),
//! [`roll()`] (OpenVINO Roll-7), [`broadcast()`] (ONNX Expand, OpenVINO Broadcast-1 and -3), [`split()`] (ONNX Split,
//! OpenVINO Split-1 and VariadicSplit-1) and [`replace_where()`] (one value for all items that meet a [`Condition`])
//! take and return [`ndarray`] arrays of any layout. [`SliceArgs`] are slices, parsed from NumPy's notation or built
//! axis by axis.
//!
//! # Features
//!
//! | feature | content |
//! | --- | --- |
//! | `cli` (default) | the program `tensorop`; includes `files` |
//! | `files` | files: `read`, `write`, `open`, `diff` and all formats except Zarr |
//! | `remote` | addresses: `http://`, `https://`, `s3://`, `hf://` |
//! | `zarr` (default) | Zarr stores; includes `files` |
//! | `predicates` (default) | `golden`: golden files in tests, `assert_tensor_eq!`; includes `files` |
//!
//! Without features (`default-features = false`), the crate has the operators and [`Tensor`], and depends on 20
//! packages.
//!
//! # How the source is organised
//!
//! Every operator is **resolved, then applied**. Resolving checks everything and returns only numbers in range;
//! applying cannot fail. So all refusals precede the first write, and the same code runs an operator on a whole tensor
//! or on a window, in memory or in a file. Operators that only move items know the item size, not the dtype, and
//! preserve every bit; only reductions compute with numbers.
//!
//! A row may import the rows that its last column names, and their imports; `tests/cli/map.rs` checks every file.
//!
//! | row | content | imports |
//! | --- | --- | --- |
//! | `main.rs` | calls `command` | `command` |
//! | `command/` | (feature `cli`) a file per sub-command, with its arguments and its run; `options/` has shared arguments | all rows below |
//! | `conformance/` | (feature `cli`) operator tests as data: cases, vectors, ONNX's tests, the specifications, outputs of other runtimes, verdicts | `diff` |
//! | `golden.rs` | (feature `predicates`) golden files in tests | `diff` |
//! | `diff/`, `info/` | comparisons and statistics | `format`, `report` |
//! | `picture/` | (feature `cli`) tensors as pictures: heat maps, half blocks, PNG | `engine` |
//! | `format/` | a file or folder per format, and their table `rows.rs`; `located` parses paths; `files`, `opened` (the functions of this page), `collection` and `rewrite` build on `open` and `write/`; `values/` has text without a dtype | `engine` |
//! | `engine/` | plans and their costs; the window loop: jobs, sinks, scans, slabs; quantiles in bounded memory | `ops` |
//! | `ops/` | a file per operator: checks, kernel and windows; `call` has all operators as values; `indexed/` has index tensors, scatters and gathers | `storage` |
//! | `storage/` | bytes by position, values by key; sources of items; attachments (container content beside the tensors); targets and stages for atomic output; parts; `remote/` (feature `remote`) requests; `platform/` system calls | `item` |
//! | `report/` | JSON, JUnit XML, tables and colour for `diff`, `info` and `check` | `item` |
//! | `item/` | dtypes, tensors, and the values, texts and casts of items | `layout` |
//! | `layout/` | axes, views of storage, windows, segments of axes, the copy loop, gathering | `parallel` |
//! | `parallel.rs` | all threads | `memory` |
//! | `memory.rs` | fallible allocation | `error` |
//! | `error.rs` | the error type | |
//!
//! - A **format** is a row of the table in `format/rows.rs` with a `Reader` and a `Writer`. No other code depends on
//!   the format.
//! - An **operator** with its arguments is a [`Call`](ops::call::Call). Linked to its operands it is a
//!   [`Fill`](ops::fill::Fill): it states an [`Access`](ops::access::Access) per operand and fills any window of its
//!   output. The engine names no operator.
//! - A **plan** states preparation, output path, regions and threads, as a pure function of operator, sink and limits.
//!   [`Planners`](engine::cost::Planners) compare all ways to read the operands. A [`Job`](engine::job::Job) executes
//!   the plan; `--explain` prints it.
//! - A **sink** takes windows: a file at an offset, a stream, memory, a folder of chunks. Windows are contiguous in C
//!   order, or boxes of a grid for chunked inputs and outputs.
//! - The [`Selection`](ops::selection::Selection) that an operator reads through decides the storage order.
//!
//! Words in `engine/`, `ops/`, `layout/` and `storage/`:
//!
//! | word | meaning |
//! | --- | --- |
//! | operand | an input tensor of an operator |
//! | source | the origin of items: a file, a server, chunks, memory or a stream |
//! | sink | the receiver of the output's windows |
//! | box | a range of places on each axis of a tensor |
//! | window | a box of the output that is filled and sent to a sink at once |
//! | segment | places of an output axis: a range of data places in either direction, one repeated place, or filled places |
//! | region | the unit of filling: a window, or a run of items that may start and end within rows |
//! | unit | a box stored as one value under one key: a chunk or a shard of chunks |
//! | grain | the smallest readable box: a decoded chunk, or a page of a file |
//! | slab | a box of several windows held in memory, so that its grains are read once |
//! | piece | items or bytes contiguous in storage, read or written by one call |
//! | tile | a box in another storage order, with sides that make both read and written pieces long |
//! | sweep | one pass over an index tensor that keeps the entries for a range of places |
//!
//! CONTRIBUTING.md lists the files to touch for a new operator, format or option.

#![forbid(unsafe_code)]

#[cfg(feature = "cli")]
#[doc(hidden)]
pub mod command;
#[cfg(feature = "cli")]
mod conformance;
#[cfg(feature = "files")]
pub mod diff;
#[cfg(feature = "files")]
#[doc(hidden)]
pub mod engine;
pub mod error;
#[cfg(feature = "files")]
#[doc(hidden)]
pub mod format;
#[cfg(feature = "predicates")]
pub mod golden;
#[cfg(feature = "files")]
#[doc(hidden)]
pub mod info;
#[doc(hidden)]
pub mod item;
#[doc(hidden)]
pub mod layout;
mod memory;
#[doc(hidden)]
pub mod ops;
#[doc(hidden)]
pub mod parallel;
#[cfg(feature = "cli")]
mod picture;
#[cfg(feature = "files")]
mod report;
#[doc(hidden)]
pub mod storage;

pub use error::Error;
#[cfg(feature = "files")]
pub use format::{
    Format,
    files::{WriteOptions, read, read_all, read_bytes, write, write_all},
    opened::{Opened, TensorInfo, describe, open, open_bytes, patch},
};
pub use item::dtype::DType;
pub use item::element::Element;
pub use item::meta::{Meta, Order};
pub use item::tensor::Tensor;
pub use layout::axis::{Span, StepRange};
pub use ops::broadcast::{BroadcastRule, broadcast};
pub use ops::concat::{concat, stack};
pub use ops::condition::Condition;
pub use ops::gather::{gather, gather_or_zero};
pub use ops::gather_elements::gather_elements;
pub use ops::gather_nd::gather_nd;
pub use ops::indexed::Index;
pub use ops::pad::{PadMode, pad};
pub use ops::reduction::{Reducible, Reduction};
pub use ops::replace::replace_where;
pub use ops::reshape::{NewShape, reshape};
pub use ops::roll::roll;
pub use ops::scatter_elements::{scatter_elements, scatter_elements_reduce};
pub use ops::scatter_nd::{scatter_nd, scatter_nd_reduce};
pub use ops::scatter_update::scatter_update;
pub use ops::slice::{SliceArgs, slice};
pub use ops::slice_scatter::slice_scatter;
pub use ops::split::{SplitInto, split};
pub use ops::tile::tile;
pub use ops::transpose::transpose;

/// The parts of a [`DType`]: item kinds, fields of structured dtypes, time units.
pub mod dtype {
    pub use crate::item::dtype::{Field, Kind, Narrow, Struct};
    pub use crate::item::time_unit::{TimeBase, TimeUnit};
}

/// Compiles and runs the Rust examples of README and docs.
#[cfg(all(doctest, feature = "predicates"))]
#[doc = include_str!("../README.md")]
#[doc = include_str!("../docs/golden.md")]
#[doc = include_str!("../docs/library.md")]
pub struct Pages;
