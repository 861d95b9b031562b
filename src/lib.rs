//! Tensor operators exactly as OpenVINO and ONNX specify them: [`slice()`], [`slice_scatter()`],
//! [`scatter_update()`], [`scatter_nd()`], [`scatter_nd_reduce()`] and [`gather_nd()`] on [`ndarray`] arrays, and the
//! pieces that the `tensorop` program is made of: dtypes and casts, files of tensors in several formats ([`open`]), their
//! comparison ([`mod@diff`]) and description ([`info`]), NumPy's text.
//!
//! ```
//! use ndarray::array;
//! use tensorop::{SliceArgs, slice_scatter};
//!
//! let data = array![[1, 2, 3], [4, 5, 6]];
//! let first_row = SliceArgs::new(&[0], &[1], None, None)?;
//! let out = slice_scatter(&data, &array![[7, 8, 9]], &first_row)?;
//! assert_eq!(out, array![[7, 8, 9], [4, 5, 6]]);
//! # Ok::<(), tensorop::Error>(())
//! ```
//!
//! # One idea
//!
//! Every operator is resolved, then applied. Resolving does every check and returns numbers in range only; applying
//! cannot fail. So nothing is written before every refusal is past, and an operator runs on the whole tensor or on
//! one window of it, from memory or from a file, by the same code. Pure movement knows items by their size only, so
//! it serves every dtype and alters no bit; reductions alone know numbers.
//!
//! # Where everything lives
//!
//! | module | what it holds | imports |
//! | --- | --- | --- |
//! | [`axis`] | axes, indices and start/stop/step to numbers in range | |
//! | `room` | memory that may not be there | |
//! | [`error`] | what is refused, and about what | |
//! | [`python`], [`decimal`], [`datetime`] | how Python and NumPy print strings, floats, dates | |
//! | [`dtype`], [`tensor`], [`scalar`] | element types; shape and bytes; text to item | the above |
//! | [`narrow`], [`cast`] | values of types of 8 bits or fewer; items of one dtype to another | the above |
//! | [`window`] | views of storage, windows, the one walk that copies | `axis` |
//! | [`source`] | operands in files or memory, read in parts | `window`, `tensor` |
//! | [`mod@format`] | npy, npz, safetensors, ONNX, JSON, text, one a file | `source`, `scalar` and down |
//! | [`open`] | files recognised by their content, members by their names | `format` and down |
//! | [`ops`] | the operators, one a file, and the reductions | `window`, `dtype` and down |
//! | [`exec`] | the one window loop | `ops`, `source`, `cast` |
//! | [`mod@diff`] | two tensors compared, and the report | `exec`, `format` and down |
//! | [`info`] | what a tensor is, and its statistics | `exec`, `format` and down |
//! | `golden` | with the feature `predicates`: golden files in tests | `diff`, `open` |
//!
//! The program is the hidden module `command`, with the feature `cli`: what the user types, arguments to sources,
//! operator and sink, files that are replaced when they are complete. Imports point down only. Operators never see a
//! path, formats never see an operator.

#![forbid(unsafe_code)]

#[cfg(feature = "cli")]
#[doc(hidden)]
pub mod command;
pub mod diff;
pub mod engine;
pub mod error;
pub mod format;
#[cfg(feature = "predicates")]
pub mod golden;
#[doc(hidden)]
pub mod info;
pub mod item;
pub mod layout;
mod memory;
pub mod ops;
pub mod parallel;
mod report;
pub mod storage;

pub use error::Error;
pub use item::dtype::DType;
pub use item::tensor::Tensor;
pub use ops::gather_nd::gather_nd;
pub use ops::reduction::Reduction;
pub use ops::scatter_nd::{scatter_nd, scatter_nd_reduce};
pub use ops::scatter_update::scatter_update;
pub use ops::slice::{SliceArgs, slice};
pub use ops::slice_scatter::slice_scatter;

/// The README, so that its Rust examples are compiled and run.
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
pub struct Readme;
