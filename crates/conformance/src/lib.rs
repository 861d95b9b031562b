//! Tests of operators as data: cases with inputs and expected outputs.
//!
//! A [`Case`](case::Case) is read by [`find`] or comes from the program's own vectors. `operators` links it, by
//! one call (`movement`) or several (`compositions`, `blocks`); `specified` lists all operators of ONNX and
//! OpenVINO by version; [`judge`] compares outputs, also those of another runtime ([`results`]); [`export`] writes cases.

#![forbid(unsafe_code)]

mod arguments;
mod blocks;
#[doc(hidden)]
pub mod case;
mod compositions;
pub mod export;
#[doc(hidden)]
pub mod find;
#[doc(hidden)]
pub mod judge;
mod movement;
mod operators;
pub mod results;
mod specified;

use tensorop_files::{diff, engine, format, report, storage};
use tensorop_kernels::{error, item, layout, memory, ops};
