//! Tests of operators as data: cases with inputs and expected outputs, run here or compared with outputs of another
//! runtime.
//!
//! A [`Case`](case::Case) comes from JSON, from a folder with `case.json`, or from an ONNX backend test ([`find`]);
//! [`vectors`] has the program's own cases. [`operators`] turns a case into the operator that a sub-command would use,
//! by one call ([`movement`]) or several ([`compositions`], [`blocks`]). [`specified`] lists all operators of ONNX and
//! OpenVINO. [`results`] has a runtime's output files, [`judge`] compares, and [`export`] writes cases.

mod arguments;
mod blocks;
pub(crate) mod case;
mod compositions;
pub(crate) mod export;
pub(crate) mod find;
pub(crate) mod judge;
mod movement;
mod operators;
pub(crate) mod results;
mod specified;
pub(crate) mod vectors;
