//! Tensors in files, and the tensor operators of OpenVINO and ONNX, exactly as these specify them.
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
//! Files are `.npy`, `.npz`, `.safetensors` and indexes of these, Zarr stores, ONNX `.pb`, JSON, CSV and TSV, and bytes
//! without a header whose dtype and shape the path says; what NumPy prints is written only.
//!
//! - [`read`], [`read_all`] and [`read_bytes`] read whole tensors into memory as a [`Tensor`] of any dtype.
//! - [`open`] and [`open_bytes`] give an [`Opened`], which describes tensors and reads them, or slices of them, by name;
//!   [`describe`] describes all of a file.
//! - [`write`](write()), [`write_all`] and, with more choices, [`WriteOptions`] write them; [`patch`] changes a slice of a file
//!   in place.
//! - [`diff::compare`] says how two tensors differ; [`golden`] has assertions for tests.
//!
//! Every error is an [`Error`], whose [kind](error::ErrorKind) can be matched, and whose text names file and tensor.
//!
//! # The operators
//!
//! [`slice()`] (OpenVINO Slice-8), [`slice_scatter()`] (OpenVINO SliceScatter-15), [`scatter_update()`] (OpenVINO
//! ScatterUpdate-3), [`scatter_nd()`] and [`scatter_nd_reduce()`] (ONNX ScatterND 11 to 18, OpenVINO ScatterNDUpdate-15),
//! [`scatter_elements()`] and [`scatter_elements_reduce()`] (ONNX ScatterElements 11 to 18, OpenVINO
//! ScatterElementsUpdate-12), [`gather()`] and [`gather_or_zero()`] (OpenVINO Gather-8, ONNX Gather-13), [`gather_nd()`]
//! (ONNX GatherND-13, OpenVINO GatherND-8), [`gather_elements()`] (ONNX GatherElements-13, OpenVINO GatherElements-6),
//! [`concat()`] and [`stack()`] (ONNX Concat 4 to 13, OpenVINO Concat-1, ONNX ConcatFromSequence), [`transpose()`] (ONNX
//! Transpose, OpenVINO Transpose-1), [`reshape()`] (Reshape, Squeeze, Unsqueeze and Flatten of ONNX and OpenVINO), [`pad()`]
//! (ONNX Pad 2 to 25, OpenVINO Pad-1 and -12), [`tile()`] (ONNX Tile, OpenVINO Tile-1), [`roll()`] (OpenVINO Roll-7),
//! [`broadcast()`] (ONNX Expand, OpenVINO Broadcast-1 and -3) and [`split()`] (ONNX Split, OpenVINO Split-1 and
//! VariadicSplit-1) take and return [`ndarray`] arrays of any layout. So does [`replace_where()`], which puts one value in
//! the place of the items for which a [`Condition`] holds. [`SliceArgs`] are slices, parsed from NumPy's notation or built
//! axis by axis.
//!
//! # Features
//!
//! | feature | what it adds |
//! | --- | --- |
//! | `cli` (default) | the program `tensorop`; it includes `files` |
//! | `files` | files: `read`, `write`, `open`, `diff` and all formats except Zarr |
//! | `remote` | addresses: `http://`, `https://`, `s3://`, `hf://` |
//! | `zarr` (default) | Zarr stores; it includes `files` |
//! | `predicates` (default) | `golden`: golden files in tests, `assert_tensor_eq!`; it includes `files` |
//!
//! Without any of them (`default-features = false`) the operators and [`Tensor`] are left, on 20 packages.
//!
//! # How the source is organised
//!
//! Every operator is **resolved, then applied**. Resolving makes every check and returns only numbers in range; applying
//! cannot fail. So nothing is written before the last refusal, and an operator runs on a whole tensor or on one window of it,
//! from memory or from a file, by the same code. Operators that only move items know their size alone, so they serve every
//! dtype and alter no bit; only reductions know numbers.
//!
//! Each row of this table may import the rows below it that it names, and what those may import; `tests/cli/map.rs` checks
//! every file.
//!
//! | row | content | imports |
//! | --- | --- | --- |
//! | `main.rs` | calls `command` | `command` |
//! | `command/` | (feature `cli`) a file for each sub-command, with its arguments and its run; `options/` has those that several share | all rows below |
//! | `conformance/` | (feature `cli`) tests of operators as data: cases, vectors, ONNX's tests, what ONNX and OpenVINO specify, the outputs of other runtimes, verdicts on all of them | `diff` |
//! | `golden.rs` | (feature `predicates`) golden files in tests | `diff` |
//! | `diff/`, `info/` | comparisons and statistics | `format`, `report` |
//! | `picture/` | (feature `cli`) tensors as pictures: heat maps, half blocks, PNG | `engine` |
//! | `format/` | a file or a folder for each format, and its row in `rows.rs`; `located` says what a path means; `open` and `write/`, on which `files` and `opened` (the functions of this page), `collection` and `rewrite` stand; `values/` has text whose items have no dtype yet | `engine` |
//! | `engine/` | plans of how an output is cut, read and held, and what they cost; the window loop that carries them out: jobs, sinks, scans, slabs of windows that are filled together; quantiles in bounded memory | `ops` |
//! | `ops/` | a file for each operator, with its checks, its kernel and the windows that it fills; `call` has all of them as values, with their arguments; `indexed/` reads index tensors and has the kernels of scatters and gathers | `storage` |
//! | `storage/` | bytes by position and values by key, in files or in memory; sources of items; attachments, which are the content of a container beside its tensors; targets and stages, so that a file or folder is complete or does not exist; parts; `remote/` (feature `remote`) asks servers, and `platform/` has the system calls | `item` |
//! | `report/` | JSON, JUnit XML, tables and colour for `diff`, `info` and `check` | `item` |
//! | `item/` | dtypes, tensors, and the values, texts and casts of items | `layout` |
//! | `layout/` | axes, views of storage, windows, segments of axes, the loop that copies, gathering | `parallel` |
//! | `parallel.rs` | threads, which start nowhere else | `memory` |
//! | `memory.rs` | allocations that return an error where there is no memory | `error` |
//! | `error.rs` | the one type of error | |
//!
//! - A **format** is a row of the table in `format/rows.rs` with a `Reader` and a `Writer`. Nothing else asks which format
//!   something is in.
//! - An **operator** with its arguments is a [`Call`](ops::call::Call), whoever asks for it. Linked to its operands it is a
//!   [`Fill`](ops::fill::Fill): it states how it takes the items of each operand, an
//!   [`Access`](ops::access::Access), and fills any window of its output. The engine knows no operator by name.
//! - A **plan** says what is done before the first window, which way the output goes, which regions are made, and by how many
//!   threads. It is a pure function of what the operator states, of what takes the output, and of the limits:
//!   [`Planners`](engine::cost::Planners) compare the plans for all ways to read the operands. A [`Job`](engine::job::Job) carries
//!   it out, and `--explain` prints it.
//! - A **sink** takes windows: a file at an offset, a stream, memory, a folder of chunks. Windows are contiguous in C order,
//!   or boxes of a grid if the output is stored in chunks or made from them. A job takes a range of windows, so a share of
//!   the work is an argument.
//! - The order of storage is decided once, in the [`Selection`](ops::selection::Selection) that an operator reads through.
//!
//! What words mean in `engine/`, `ops/`, `layout/` and `storage/`:
//!
//! | word | meaning |
//! | --- | --- |
//! | operand | a tensor that an operator takes; its items come from a source |
//! | source | what gives the items of a tensor: a file, a server, chunks, memory or a stream |
//! | sink | what takes the windows of an output |
//! | box | a range of places on each axis of a tensor |
//! | window | a box of the output that is filled and handed to a sink at a time |
//! | segment | some places of an axis of an output: places of an axis of the data in either direction, one of them several times, or places that are filled |
//! | region | what an operator fills at a time: a window, or a run of items that may begin and end within rows |
//! | unit | a box that is stored as one value under one key, such as a chunk, or a shard of many chunks |
//! | grain | the smallest box that can be read: a chunk that is unpacked as a whole, or a page of a file |
//! | slab | a box of several windows that is held in memory as a whole, so that its grains are read once |
//! | piece | items or bytes that lie one after the other in storage, and are read or written by one call |
//! | tile | a box of items that lie in another order in storage, with sides for which pieces are long both where it is read and where it is written |
//! | sweep | one pass over an index tensor, of which only the entries for a range of places are kept |
//!
//! CONTRIBUTING.md lists the files that a new operator, format or option touches.

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

/// What a [`DType`] is made of: the kind of its items, the fields of structured ones, units of time.
pub mod dtype {
    pub use crate::item::dtype::{Field, Kind, Narrow, Struct};
    pub use crate::item::time_unit::{TimeBase, TimeUnit};
}

/// README and the pages on the library and on golden files, so that their Rust examples are compiled and run.
#[cfg(all(doctest, feature = "predicates"))]
#[doc = include_str!("../README.md")]
#[doc = include_str!("../docs/golden.md")]
#[doc = include_str!("../docs/library.md")]
pub struct Pages;
