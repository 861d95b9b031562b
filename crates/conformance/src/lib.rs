//! Tests of operators as data: cases, and the operators of ONNX and OpenVINO that make their outputs.
//!
//! A [`Case`](case::Case) is one of the [cases that are built in](case::packed_cases), or is made of a file.
//! [`operators`] links it, by one call (`movement`) or several (`compositions`, `blocks`), and [`specified`] lists all
//! operators of ONNX and OpenVINO by version. The program's `check` reads the files and compares outputs, also those of
//! another runtime.

#![forbid(unsafe_code)]

#[doc(hidden)]
pub mod arguments;
mod blocks;
#[doc(hidden)]
pub mod case;
mod compositions;
mod movement;
#[doc(hidden)]
pub mod operators;
#[doc(hidden)]
pub mod specified;

use tensorop_files::internal::storage;
use tensorop_files::{error, item, layout, memory, ops};
