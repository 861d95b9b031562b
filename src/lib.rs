//! Tensors in files, and the tensor operators of OpenVINO and ONNX, exactly as specified.
//!
//! # Read, change, write
//!
//! ```
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
//! take and return [`ndarray`] arrays of any layout. [`SliceArgs`] are slices, parsed from NumPy's notation, built axis
//! by axis, or taken from ndarray's `s![…]`.
//!
//! Functions that end in `_into`, such as [`slice_into`], fill an array of the caller of any layout. Those that end in
//! `_in_place`, such as [`slice_scatter_in_place`], change the caller's data and touch only the items that are named.
//! [`kernel`] has all operators on bytes with a dtype of run time, for runtimes with nodes, buffers and threads of their
//! own: shapes are inferred without data, tensors may have strides, and constants are resolved once. Results beyond
//! memory are errors ([`ErrorKind::Memory`](error::ErrorKind::Memory)).
//!
//! # Features
//!
//! | feature | content |
//! | --- | --- |
//! | `cli` (default) | the program `tensorop` |
//! | `remote` | addresses: `http://`, `https://`, `s3://`, `hf://` |
//! | `zarr` (default) | Zarr stores |
//! | `predicates` (default) | `golden`: golden files in tests, `assert_tensor_eq!` |
//!
//! Without features (`default-features = false`), this is the library [`tensorop_files`]. The operators alone, on arrays and
//! on bytes, are the library [`tensorop_kernels`], which depends on 20 packages.
//!
//! # How the source is organised
//!
//! The repository has five crates. Each has its own map on its front page; an arrow is "depends on".
//!
//! | crate | content | depends on |
//! | --- | --- | --- |
//! | `tensorop` | the program: `src/command/` has a file per sub-command, `src/picture/` tensors as pictures; and this page | all |
//! | `crates/files` | sources and targets, operators on them, plans and the window loop, formats, comparison, statistics, golden files | kernels, remote |
//! | `crates/conformance` | operator tests as data: cases, vectors, and the operators of ONNX and OpenVINO that make their outputs | files |
//! | `crates/remote` | requests: their options and events, and with the feature `remote` the client for the web, buckets, Hugging Face | kernels |
//! | `crates/kernels` | errors, memory, threads, layout, items, operators in memory | |
//!
//! Within a crate a row of its map may import the rows that its last column names, and their imports; `tests/cli/map.rs` checks
//! every file. Here `main.rs` calls `command`, which imports `picture`.
//!
//! CONTRIBUTING.md lists the files to touch for a new operator, format or option.

#![forbid(unsafe_code)]

#[cfg(feature = "cli")]
#[doc(hidden)]
pub mod command;
#[cfg(feature = "cli")]
pub(crate) mod picture;

#[doc(hidden)]
pub use tensorop_files::internal;
#[cfg(feature = "cli")]
use tensorop_files::internal::{
    container, findings, formats, info, library, narrow, opening, operators, plans, quantized, renamed, report,
    reports, storage, untyped, writing,
};
pub use tensorop_files::{
    Format, Opened, TensorInfo, WriteOptions, describe, diff, open, open_bytes, patch, read, read_all, read_bytes,
    write, write_all,
};
#[cfg(feature = "predicates")]
pub use tensorop_files::{assert_tensor_eq, golden};
pub use tensorop_kernels::*;

/// Compiles and runs the Rust examples of README and docs.
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
#[doc = include_str!("../docs/golden.md")]
#[doc = include_str!("../docs/library.md")]
pub struct Pages;
