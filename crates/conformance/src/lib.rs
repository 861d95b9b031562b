//! Tests of operators as data: cases, and the outputs of their operators.
//!
//! A [`Case`](case::Case) is one of the [cases that are built in](case::packed_cases), or is made of a file. Its operator
//! is a node of the kernels, which have the operators of ONNX and OpenVINO by version; [`operators`] runs it on sources.
//! The program's `check` reads the files and compares outputs, also those of another runtime.

#![forbid(unsafe_code)]

#[doc(hidden)]
pub mod case;
#[doc(hidden)]
pub mod operators;

use tensorop_files::internal::storage;
use tensorop_files::{error, item, layout, memory, ops};
