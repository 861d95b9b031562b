//! Tensors in files: formats, plans of what is read and written, comparison, statistics, golden files.
//!
//! # Read, change, write
//!
//! ```
//! # let folder = tempfile::tempdir().unwrap();
//! # std::env::set_current_dir(folder.path()).unwrap();
//! # let first = tensorop_files::Tensor::from(&ndarray::array![[1.0_f32, 2.0], [3.0, 4.0]]);
//! # tensorop_files::write_all("w.npz", [("conv1", &first)])?;
//! use ndarray::{ArrayD, array};
//! use tensorop_files::{DType, Tensor, WriteOptions, slice_scatter};
//!
//! // one tensor of an archive; the content tells the format
//! let conv1 = tensorop_files::read("w.npz:conv1")?;
//! // an ndarray array, if the items are of that type
//! let weights: ArrayD<f32> = conv1.to_array()?;
//! let patched = slice_scatter(&weights, &array![[0.0, 0.5]], &":1".parse()?)?;
//! // the name tells the format; the file is complete or does not exist
//! tensorop_files::write("patched.npy", &Tensor::from(&patched))?;
//! # assert_eq!(tensorop_files::read("patched.npy")?.to_array::<f32>()?, array![[0.0, 0.5], [3.0, 4.0]].into_dyn());
//!
//! // a slice of a large file, of which nothing else is read, and a change where it lies
//! let file = tensorop_files::open("patched.npy")?;
//! println!("{:?}", file.info(None)?.shape);
//! let column = file.read_slice(None, &":, -1:".parse()?)?;
//! tensorop_files::patch("patched.npy", &":, :1".parse()?, &column)?;
//!
//! let half = WriteOptions::new().cast(DType::parse("float16")?).compress(true);
//! half.write_all("half.npz", [("conv1", &conv1)])?;
//!
//! let found = tensorop_files::diff::compare(&conv1, &tensorop_files::read("patched.npy")?, &Default::default())?;
//! assert_eq!(found.mismatches(), Some(3));
//! # Ok::<(), tensorop_files::Error>(())
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
//! All of [`tensorop_kernels`] is here, too.
//!
//! # Features
//!
//! | feature | content |
//! | --- | --- |
//! | `predicates` | `golden`: golden files in tests, `assert_tensor_eq!` |
//! | `remote` | addresses: `http://`, `https://`, `s3://`, `hf://` |
//! | `zarr` | Zarr stores |
//!
//! # How the source is organised
//!
//! A row may import the rows that its last column names, and their imports, and all of [`tensorop_kernels`].
//!
//! | row | content | imports |
//! | --- | --- | --- |
//! | `library/` | the functions of this page, files that are written again, and (feature `predicates`) golden files in tests | `diff`, `writing` |
//! | `writing/` | an output from its request to the finished file, chunks or shares | `opening` |
//! | `info/` | descriptions and statistics | `opening`, `report` |
//! | `opening/` | from a path to an open `Input`: `located`, the table of formats, folders, indexes without a file, dumps, addresses | `formats`, `renamed` |
//! | `formats/` | a file or folder for each format | `container` |
//! | `renamed/` | a GGUF under the names of its checkpoint, and a checkpoint under those of a GGUF | `quantized` |
//! | `quantized/` | weights that several tensors make up | `container` |
//! | `diff/` | comparisons: `numbers/` computes, `findings/` has the result, `reports/` its texts and maps | `plans`, `report`, `untyped` |
//! | `container/` | the interface of formats: `Reader`, `Writer`, members, options; names of tensors: patterns, filters, orders | `narrow`, `plans`, `untyped` |
//! | `plans/` | plans and their costs; the window loop: jobs, sinks, scans, slabs; quantiles in bounded memory | `operators` |
//! | `operators/` | the operators on sources: `call` links a call to its operands; plans are made by `access`, and jobs run `fill`; `indexed/` has index tensors, scatters and gathers | `storage` |
//! | `narrow/` | items of less than a byte, and others that are computed from stored bytes | `storage` |
//! | `untyped/` | items as text without a dtype, of JSON and CSV | `storage` |
//! | `storage/` | bytes by position, values by key; sources of items, chunks, streams; attachments (container content beside the tensors); `targets/`: drafts and stages for atomic output, buckets, parts, signals; `platform/` system calls | |
//! | `report/` | JSON, JUnit XML, tables and colour for `diff`, `info` and `check` | |
//!
//! - A **format** is a row of the table in `opening/rows.rs` with a `Reader` and a `Writer`. No other code depends on
//!   the format.
//! - An operator linked to its operands is a [`Fill`](internal::operators::fill::Fill): it states an
//!   [`Access`](internal::operators::access::Access) per operand and fills any window of its output. Plans name no operator.
//! - A **plan** states preparation, output path, regions and threads, as a pure function of operator, sink and limits.
//!   [`Planners`](internal::plans::cost::Planners) compare all ways to read the operands. A
//!   [`Job`](internal::plans::job::Job) executes the plan; `--explain` prints it.
//! - A **sink** takes windows: a file at an offset, a stream, memory, a folder of chunks. Windows are contiguous in C
//!   order, or boxes of a grid for chunked inputs and outputs.
//! - The [`Selection`](internal::operators::selection::Selection) that an operator reads through decides the storage order.
//!
//! Words in `plans/`, `operators/` and `storage/`, beside those of [`tensorop_kernels`]:
//!
//! | word | meaning |
//! | --- | --- |
//! | source | the origin of items: a file, a server, chunks, memory or a stream |
//! | sink | the receiver of the output's windows |
//! | window | a box of the output that is filled and sent to a sink at once |
//! | region | the unit of filling: a window, or a run of items that may start and end within rows |
//! | unit | a box stored as one value under one key: a chunk or a shard of chunks |
//! | grain | the smallest readable box: a decoded chunk, or a page of a file |
//! | slab | a box of several windows held in memory, so that its grains are read once |
//! | sweep | one pass over an index tensor that keeps the entries for a range of places |

#![forbid(unsafe_code)]
#![allow(
    missing_docs,
    clippy::missing_errors_doc,
    reason = "the public modules ask for docs again; the others are the program's own"
)]

mod container;
#[warn(missing_docs, clippy::missing_errors_doc)]
pub mod diff;
mod formats;
mod info;
#[warn(missing_docs, clippy::missing_errors_doc)]
mod library;
mod narrow;
mod opening;
mod operators;
mod plans;
mod quantized;
mod renamed;
mod report;
mod storage;
mod untyped;
mod writing;

pub use library::files::{WriteOptions, read, read_all, read_bytes, write, write_all};
#[cfg(feature = "predicates")]
pub use library::golden;
pub use library::opened::{Opened, TensorInfo, describe, open, open_bytes, patch};
pub use opening::table::Format;
pub use tensorop_kernels::*;

/// Compares a tensor with a golden file and panics with a report of the differences.
///
/// The golden file is a path or a [`tensor_eq`](crate::golden::tensor_eq) with tolerances; the tensor is any
/// [`Compared`](crate::golden::Compared). Further arguments are a message, as in `assert_eq!`.
///
/// # Panics
/// If the tensors differ, or one cannot be read.
#[cfg(feature = "predicates")]
#[macro_export]
macro_rules! assert_tensor_eq {
    ($golden:expr, $actual:expr $(,)?) => {
        $crate::golden::assert_golden(&$crate::golden::TensorEq::from($golden), &$actual, ::core::option::Option::None)
    };
    ($golden:expr, $actual:expr, $($message:tt)+) => {
        $crate::golden::assert_golden(
            &$crate::golden::TensorEq::from($golden),
            &$actual,
            ::core::option::Option::Some(::core::format_args!($($message)+)),
        )
    };
}

/// The rooms of this crate for the program and its tests. Their interface may change in any version.
#[doc(hidden)]
pub mod internal {
    macro_rules! rooms {
        ($($room:ident)*) => { $(pub mod $room { pub use crate::$room::*; })* };
    }
    rooms!(container formats info library narrow opening operators plans quantized renamed report storage untyped writing);

    pub mod findings {
        pub use crate::diff::findings::*;
    }

    pub mod reports {
        pub use crate::diff::reports::*;
    }
}
